/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The congestion window that a TCP flow would have on the path. It is reduced
 * when a queue on the path overflows, and grows as in CUBIC (RFC 9438). If the
 * loss rate does not depend on the length of the queue, the losses are
 * attributed to a radio link and do not reduce the window. Times are in ns,
 * sizes in bytes. */

#pragma once

#include "mmtpratecontrol.h"

/* Number of octaves. An octave is a range of the number of bytes in flight. The
 * first octave ends at 512 bytes, and each further octave ends at twice the end
 * of the octave before it. */
#define MMTP_LOSS_OCTAVES 24

typedef struct
{
  guint packet;
  /* CUBIC's congestion window in bytes. 0 means that there is no limit, because
   * no queue has overflowed yet or the losses have turned out to be random. */
  gdouble window;
  gdouble max;                  /* window before the last reduction */
  gdouble reduced;              /* time of the last reduction */
  gdouble reno;                 /* window of Reno (RFC 9438, section 4.3) */
  gdouble grown;                /* time of the last growth */
  /* maximum queueing delay in ns of the last 10 s (QUEUE_MEMORY) */
  gdouble max_queue;
  gdouble max_queue_time;
  /* Maximum number of bytes in flight in the present period, which began at
   * flight_began (ns) and lasts for a round trip, and in the period before. */
  gdouble flight, last_flight, flight_began;
  gdouble reported_at;          /* time of the last report */
  /* mean_queue is the mean queueing delay in ns. mean_in_flight is the mean
   * number of bytes in flight. Each REPORT updates both means. */
  gdouble mean_queue, mean_in_flight;
  /* Number of messages from which mean_queue and mean_in_flight were computed.
   * It does not grow beyond LOSS_MEMORY. */
  gdouble n_all;
  /* Loss rates of messages, from 0 to 1. The losses in a report count for
   * loss_high if the report shows a queueing delay above the mean queueing
   * delay, and otherwise for loss_low. */
  gdouble loss_low, loss_high;
  /* Numbers of messages from which loss_low and loss_high were computed.
   * Neither number grows beyond LOSS_MEMORY. */
  gdouble n_low, n_high;
  /* Loss rates of messages, from 0 to 1. loss_few is that of the messages that
   * were sent while the number of bytes in flight was at most its mean.
   * loss_many is that of all other messages. */
  gdouble loss_few, loss_many;
  /* Numbers of messages from which loss_few and loss_many were computed.
   * Neither number grows beyond LOSS_MEMORY. */
  gdouble n_few, n_many;
  /* An octave is a range of the number of bytes in flight whose end is twice
   * its beginning. Both arrays have one element for each octave. It counts the
   * messages that were sent while the number of bytes in flight was in the
   * octave: octave_lost counts the lost messages, and octave_all counts all
   * messages. If an element of octave_all exceeds LOSS_MEMORY, this element and
   * that of octave_lost are scaled down. */
  gdouble octave_lost[MMTP_LOSS_OCTAVES], octave_all[MMTP_LOSS_OCTAVES];
  guint octave;                 /* octave of the last report */
} MmtpLossBound;

void mmtp_loss_bound_init (MmtpLossBound * bound, guint packet);
/* Processes one report:
 *
 * - `window` is the current congestion window in bytes.
 * - `filling` is the bandwidth-delay product of the path in bytes.
 * - `round_trip` is the round trip in ns, without queueing delay.
 * - `is_used` is TRUE if at least half of the window was in flight. The
 *   window grows only then.
 *
 * Returns TRUE if the window was reduced. */
gboolean mmtp_loss_bound_add (MmtpLossBound * bound,
    const MmtpRateSample * sample, gdouble window, gdouble filling, gdouble round_trip,
    gboolean is_used);
/* Sets CUBIC's window to `in_flight` bytes. The caller uses this function when
 * a competing flow keeps the queue full, even if none of our packets has been
 * lost. */
void mmtp_loss_bound_begin (MmtpLossBound * bound, gdouble now,
    gdouble in_flight);
