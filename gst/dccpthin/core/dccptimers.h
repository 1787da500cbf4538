/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The timers of a DCCP connection. There are three:
 * - The deadline is the time at which the connection ends if the peer has not
 *   answered.
 * - The retransmission timer repeats a packet that the peer has to answer. It
 *   runs during the handshake and while the connection is being closed.
 * - The probe timer tells when a Sync has to be sent to an open connection on
 *   which no packets arrive. The peer must answer a Sync even if it has no
 *   data. DCCP has no other keep-alive.
 *
 * These timers do not know the packets. The caller asks when a timer expires,
 * and then sends the packet. Times are in ns. Section numbers in this file
 * refer to RFC 4340.
 */

#pragma once

#include "dccptypes.h"

#define DCCP_NEVER G_MAXUINT64
#define DCCP_MILLISECOND G_GUINT64_CONSTANT (1000000)
#define DCCP_SECOND (1000 * DCCP_MILLISECOND)
/* MSL is two minutes (section 3.4). */
#define DCCP_MSL (120 * DCCP_SECOND)
/* Round-trip time in ns that is assumed before the first measurement (section
 * 3.4). */
#define DCCP_DEFAULT_ROUND_TRIP (200 * DCCP_MILLISECOND)
/* maximum time in ns between two retransmissions (sections 8.1.1 and 8.3) */
#define DCCP_MAX_BACKOFF (64 * DCCP_SECOND)

typedef struct
{
  /* Time in ns from which the timeouts of the handshake and of the closing are
   * measured. It is set when the connection is created, when its
   * half-connections begin, and when the closing begins. */
  guint64 began;
  /* Arrival time in ns of the latest valid packet. */
  guint64 heard;
  /* Time in ns at which the retransmission timer expires; DCCP_NEVER if it does
   * not run. */
  guint64 retransmit_at;
  /* Interval in ns between two retransmissions. Each retransmission doubles it.
   */
  guint64 backoff;
  /* Time in ns at which the next Sync is sent, to check whether the peer is
   * still there; DCCP_NEVER if no Sync was sent since the latest valid packet
   * has arrived. */
  guint64 probe_at;
} DccpTimers;

/* Prepares the timers of a new connection. The retransmission timer does not
 * run yet. All fields must be 0. */
void dccp_timers_init (DccpTimers * timers, guint64 now);
/* Called when the half-connections begin, and when the closing begins. */
void dccp_timers_begin (DccpTimers * timers, guint64 now);
/* Called when a valid packet has arrived. */
void dccp_timers_heard (DccpTimers * timers, guint64 now);

/* Returns the deadline in ns of a connection in the state `state`, or
 * DCCP_NEVER. `is_settled` is FALSE as long as the feature negotiation is not
 * complete. */
guint64 dccp_timers_get_deadline (const DccpTimers * timers,
    const DccpEndpointConfig * config, DccpState state, gboolean is_settled);

/* Starts the retransmission timer. It expires after `backoff` ns. */
void dccp_timers_start (DccpTimers * timers, guint64 now, guint64 backoff);
void dccp_timers_stop (DccpTimers * timers);
/* Sets the interval, but does not start the retransmission timer. The next call
 * of dccp_timers_back_off () doubles this interval. */
void dccp_timers_set_backoff (DccpTimers * timers, guint64 backoff);
/* Called when the packet was sent again: doubles the interval, and starts the
 * retransmission timer. */
void dccp_timers_back_off (DccpTimers * timers, guint64 now);

/* Returns the time in ns at which a Sync must be sent on an open connection, or
 * DCCP_NEVER if `idle_timeout` is 0. */
guint64 dccp_timers_get_probe_time (const DccpTimers * timers,
    guint64 idle_timeout);
/* Called when such a Sync is sent. */
void dccp_timers_probed (DccpTimers * timers, guint64 now,
    guint64 idle_timeout);
