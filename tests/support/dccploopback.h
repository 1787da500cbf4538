/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dcctpthinsink and dcctpthinsrc on the loopback: loopback.h with the two in it,
 * and a network between them that can be told to lose.
 */

#ifndef __DCCPLOOPBACK_H__
#define __DCCPLOOPBACK_H__

#include "loopback.h"

#include <gio/gio.h>

#include "skipped.h"

/* --- which of them -------------------------------------------------------- */

/* __i__: bit 0: the sink listens; bit 1: raw */
#define WAYS 4

/* As the properties' enumerations have them, for elements that begin to connect
 * as soon as they are made */
#define CONNECT 0
#define LISTEN 1

gboolean dccp_loopback_sink_listens (gint way);
/* FALSE: it says that raw sockets are skipped */
gboolean dccp_loopback_may_have (gint way, const gchar * check);

#define NEED(way) \
  G_STMT_START { \
    if (!dccp_loopback_may_have (way, __func__)) \
      return; \
  } G_STMT_END

/* --- one element ---------------------------------------------------------- */

void dccp_loopback_src_init (LoopbackEnd * end, const gchar * first_property,
    ...);
void dccp_loopback_sink_init (LoopbackEnd * end, const gchar * first_property,
    ...);
/* It listens at loopback_port_of () of 127.0.0.1. */
void dccp_loopback_listening_src_init (LoopbackEnd * end);
void dccp_loopback_play_sink (LoopbackEnd * end);

/* --- a sender and its receiver -------------------------------------------- */

void dccp_loopback_fixture_init_way (LoopbackFixture * fixture, gint way);
void dccp_loopback_fixture_init (LoopbackFixture * fixture);
void dccp_loopback_push_eos (LoopbackFixture * fixture);
void dccp_loopback_expect_eos (LoopbackFixture * fixture);
void dccp_loopback_wait_for_stat (LoopbackEnd * end, const gchar * name,
    guint64 min);

/* --- a network that can be told to lose ----------------------------------- */

typedef struct
{
  GSocket *front, *back;        /* to the sender, to the receiver */
  GSocketAddress *sender;
  GThread *thread;
  gint stopping;                /* atomic, all */
  gint cut;                     /* nothing passes */
  gint n_to_lose;               /* of the next packets of at least so many bytes */
  gint size_to_lose;
} LossyRelay;

GSocket *lossy_relay_socket_new (void);
void lossy_relay_clear (LossyRelay * relay);
/* With a network between them; `timeout`: ns, of the receiver's sender */
void dccp_loopback_fixture_init_relay (LoopbackFixture * fixture,
    LossyRelay * relay, guint64 timeout);

#endif /* __DCCPLOOPBACK_H__ */
