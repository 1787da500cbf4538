/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccptimers.h: the deadline, the retransmission timer and
 * the probe timer of a connection. */

#include "dccptimers.h"

/* Timeout in ns of the handshake and of the feature negotiation. It is four
 * times the maximum segment lifetime (MSL, sections 8.1.1, 8.1.3 and 8.1.5). */
#define HANDSHAKE_TIMEOUT (4 * DCCP_MSL)
/* The idle timeout is the time without received packets after which a
 * connection ends. The following two values are divisors of this time. If no
 * packet arrives for idle timeout / PROBE_FIRST, the endpoint sends a Sync,
 * which the peer must answer. The endpoint then repeats the Sync at intervals
 * of idle timeout / PROBE_AGAIN, until a packet arrives. */
#define PROBE_FIRST 2
#define PROBE_AGAIN 8

void
dccp_timers_init (DccpTimers * timers, guint64 now)
{
  timers->began = timers->heard = now;
  timers->retransmit_at = timers->probe_at = DCCP_NEVER;
}

void
dccp_timers_begin (DccpTimers * timers, guint64 now)
{
  timers->began = now;
}

void
dccp_timers_heard (DccpTimers * timers, guint64 now)
{
  timers->heard = now;
  timers->probe_at = DCCP_NEVER;
}

/* --- the deadline --------------------------------------------------------- */

static guint64
after (guint64 time, guint64 duration)
{
  return duration == 0 || duration > DCCP_NEVER - time ? DCCP_NEVER :
      time + duration;
}

guint64
dccp_timers_get_deadline (const DccpTimers * timers,
    const DccpEndpointConfig * config, DccpState state, gboolean is_settled)
{
  guint64 deadline;

  switch (state) {
    case DCCP_STATE_REQUEST:
      return after (timers->began, config->connect_timeout);
    case DCCP_STATE_RESPOND:
      return timers->began + HANDSHAKE_TIMEOUT;
    case DCCP_STATE_CLOSE_REQ:
    case DCCP_STATE_CLOSING:
      return after (timers->began, config->idle_timeout ?
          config->idle_timeout : HANDSHAKE_TIMEOUT);
    default:
      deadline = after (timers->heard, config->idle_timeout);
      if (state == DCCP_STATE_PARTOPEN || !is_settled)
        deadline = MIN (deadline, timers->began + HANDSHAKE_TIMEOUT);
      return deadline;
  }
}

/* --- the retransmission timer --------------------------------------------- */

void
dccp_timers_start (DccpTimers * timers, guint64 now, guint64 backoff)
{
  timers->backoff = backoff;
  timers->retransmit_at = now + backoff;
}

void
dccp_timers_stop (DccpTimers * timers)
{
  timers->retransmit_at = DCCP_NEVER;
}

void
dccp_timers_set_backoff (DccpTimers * timers, guint64 backoff)
{
  timers->backoff = backoff;
}

void
dccp_timers_back_off (DccpTimers * timers, guint64 now)
{
  dccp_timers_start (timers, now, MIN (2 * timers->backoff, DCCP_MAX_BACKOFF));
}

/* --- the probe timer ------------------------------------------------------ */

guint64
dccp_timers_get_probe_time (const DccpTimers * timers, guint64 idle_timeout)
{
  if (timers->probe_at != DCCP_NEVER)
    return timers->probe_at;
  return after (timers->heard, idle_timeout / PROBE_FIRST);
}

void
dccp_timers_probed (DccpTimers * timers, guint64 now, guint64 idle_timeout)
{
  timers->probe_at = now + MAX (idle_timeout / PROBE_AGAIN, DCCP_MILLISECOND);
}
