/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for tests of dccpthinsink and dccpthinsrc on the loopback interface.
 * They use the functions of loopback.h with these two elements. Between the
 * elements, there is a relay that can drop packets. */

#ifndef __DCCPLOOPBACK_H__
#define __DCCPLOOPBACK_H__

#include "loopback.h"

#include <gio/gio.h>

#include "skipped.h"

/* --- combinations --------------------------------------------------------- */

/* Number of iterations of a loop test. In the iteration `__i__`, the sink
 * listens if bit 0 of `__i__` is set, and the elements use raw sockets if bit 1
 * is set.
 */
#define WAYS 4

/* Values of the property `mode`. A caller connects to the other element, and a
 * listener waits for the caller. The element begins to connect or to wait as
 * soon as a test has created it. */
#define CONNECT 0
#define LISTEN 1

gboolean dccp_loopback_sink_listens (gint way);
/* Returns TRUE if the elements can use raw sockets, or if the combination `way`
 * does not need them. Otherwise reports the check `check` as skipped and
 * returns FALSE. */
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
/* Initializes an element that listens on port loopback_port_of () of 127.0.0.1.
 */
void dccp_loopback_listening_src_init (LoopbackEnd * end);
void dccp_loopback_play_sink (LoopbackEnd * end);

/* --- a sender and its receiver -------------------------------------------- */

void dccp_loopback_fixture_init_way (LoopbackFixture * fixture, gint way);
void dccp_loopback_fixture_init (LoopbackFixture * fixture);
void dccp_loopback_push_eos (LoopbackFixture * fixture);
void dccp_loopback_expect_eos (LoopbackFixture * fixture);
void dccp_loopback_wait_for_stat (LoopbackEnd * end, const gchar * name,
    guint64 min);

/* --- a relay that drops packets ------------------------------------------- */

typedef struct
{
  /* Sockets of the relay. It exchanges packets with the sender on `front`, and
   * with the receiver on `back`. */
  GSocket *front, *back;
  GSocketAddress *sender;
  GThread *thread;
  gint stopping;                /* atomic, all */
  /* If TRUE, the relay drops all packets. The field is accessed atomically. */
  gint cut;
  /* Number of packets that the relay still has to drop, accessed atomically.
   * Only packets of at least `size_to_lose` bytes are dropped and counted.
   */
  gint n_to_lose;
  gint size_to_lose;
} LossyRelay;

GSocket *lossy_relay_socket_new (void);
void lossy_relay_clear (LossyRelay * relay);
/* Starts the relay and the two elements of `fixture`. All packets between the
 * elements pass through the relay. `timeout` is the peer timeout of the
 * receiving element in ns. */
void dccp_loopback_fixture_init_relay (LoopbackFixture * fixture,
    LossyRelay * relay, guint64 timeout);

#endif /* __DCCPLOOPBACK_H__ */
