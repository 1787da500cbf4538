/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for tests of the elements dccpthinsink and dccpthinsrc on the
 * loopback interface. They use the general functions of loopback.h. Some tests
 * also use a relay, which forwards all packets between the two elements and can
 * drop packets. */

#ifndef __DCCPLOOPBACK_H__
#define __DCCPLOOPBACK_H__

#include "loopback.h"

#include <gio/gio.h>

#include "skipped.h"

/* --- combinations --------------------------------------------------------- */

/* Number of iterations of a loop test, which tries each combination of two
 * settings. In the iteration `__i__`, bit 0 says whether the sink listens and
 * the source connects, or the other way round. Bit 1 says whether the elements
 * use raw sockets. */
#define WAYS 4

/* Values of the property `mode` of the two elements. A caller connects to the
 * other element, and a listener waits for the caller. An element begins to
 * connect or to wait as soon as it is created. */
#define CONNECT 0
#define LISTEN 1

gboolean dccp_loopback_sink_listens (gint way);
/* `way` is a combination of settings for the sink and the source. It may need
 * raw sockets, which not every system permits. Returns TRUE if the combination
 * can be tested. Otherwise reports the check with the name `check` as skipped,
 * and returns FALSE. */
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
/* Makes a dccpthinsrc that listens on a free port of 127.0.0.1.
 * loopback_port_of () returns this port. */
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
  /* The two sockets of the relay. It exchanges packets with the sending element
   * on `front`, and with the receiving element on `back`. */
  GSocket *front, *back;
  GSocketAddress *sender;
  GThread *thread;
  gint stopping;                /* atomic, all */
  /* If TRUE, the relay drops all packets. It is accessed atomically. */
  gint cut;
  /* Number of packets that the relay still has to drop. It is accessed
   * atomically. The relay drops and counts only packets that have at least
   * `size_to_lose` bytes. */
  gint n_to_lose;
  gint size_to_lose;
} LossyRelay;

GSocket *lossy_relay_socket_new (void);
void lossy_relay_clear (LossyRelay * relay);
/* Starts the relay and the two elements of `fixture`. All packets between the
 * elements pass through the relay. `timeout` is the time in ns after which the
 * receiving element considers a silent sender lost. */
void dccp_loopback_fixture_init_relay (LoopbackFixture * fixture,
    LossyRelay * relay, guint64 timeout);

#endif /* __DCCPLOOPBACK_H__ */
