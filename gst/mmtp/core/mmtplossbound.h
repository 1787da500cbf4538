/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The congestion window that a TCP flow would have on the path. It is reduced
 * when a queue on the path overflows, and grows as in CUBIC (RFC 9438), or
 * faster if the path has no queue. If the loss rate does not depend on the
 * length of the queue, the losses are attributed to a radio link and do not
 * reduce the window. Times are in ns, sizes in bytes. */

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
  /* maximum queueing delay in ns, measured in the last 10 s (QUEUE_MEMORY) */
  gdouble max_queue;
  gdouble max_queue_time;
  /* maximum number of bytes in flight in the last round trip, and the time of
   * the report that showed it */
  gdouble max_in_flight, max_in_flight_time;
  gdouble reported_at;          /* time of the last report */
  /* Mean queueing delay in ns, and mean number of bytes in flight. Each REPORT
   * updates both means. */
  gdouble mean_queue, mean_in_flight;
  /* Number of messages on which mean_queue and mean_in_flight are based. It
   * does not grow beyond LOSS_MEMORY. */
  gdouble n_all;
  /* Loss rates of messages, from 0 to 1. loss_high is the loss rate in the
   * reports that show a queueing delay above the mean queueing delay. loss_low
   * is the loss rate in all other reports. */
  gdouble loss_low, loss_high;
  /* n_low is the number of messages on which loss_low is based, and n_high is
   * the number on which loss_high is based. Neither grows beyond LOSS_MEMORY.
   */
  gdouble n_low, n_high;
  /* Loss rates of messages, from 0 to 1. loss_many is the loss rate of messages
   * that were sent while more bytes than the mean number were in flight.
   * loss_few is the loss rate of all other messages. */
  gdouble loss_few, loss_many;
  /* loss_few and loss_many are loss rates of messages that were sent with few
   * and with many bytes in flight. n_few is the number of messages on which
   * loss_few is based, and n_many is the number for loss_many. Neither number
   * grows beyond LOSS_MEMORY. */
  gdouble n_few, n_many;
  /* Number of lost messages and number of all messages, for each octave. An
   * octave is a range of byte counts, and the end of the range is twice its
   * beginning. A message belongs to an octave if the number of bytes in flight
   * was in this range when the message was sent. When a value in octave_all
   * exceeds LOSS_MEMORY, this value and the value in octave_lost for the same
   * octave are scaled down. */
  gdouble octave_lost[MMTP_LOSS_OCTAVES], octave_all[MMTP_LOSS_OCTAVES];
  guint octave;                 /* octave of the last report */
  gdouble queue_time;           /* time of the last report that showed a queue */
} MmtpLossBound;

void mmtp_loss_bound_init (MmtpLossBound * bound, guint packet);
/* Processes one report:
 *
 * - `window` is the current congestion window in bytes.
 * - `filling` is the bandwidth-delay product of the path in bytes.
 * - `round_trip` is the round trip in ns, without queueing delay.
 * - `has_queue` is TRUE if the path has a queue, also if another flow fills it.
 *   If there has been no queue for some time, the window grows faster than that
 *   of CUBIC.
 *
 * The window grows only if at least half of it was in flight in the last round
 * trip. Returns TRUE if the window was reduced. */
gboolean mmtp_loss_bound_add (MmtpLossBound * bound,
    const MmtpRateSample * sample, gdouble window, gdouble filling,
    gdouble round_trip, gboolean has_queue);
/* Raises the window after a reduction in the start phase. The result is the
 * window that the reduction would have set if `in_flight` bytes had been in
 * flight. If the window is larger already, it stays as it is. Call this
 * function only directly after mmtp_loss_bound_add () has returned TRUE, and
 * with at most the congestion window that was passed to it. */
void mmtp_loss_bound_raise (MmtpLossBound * bound, gdouble in_flight);
/* Sets CUBIC's window to `in_flight` bytes. The caller uses this function when
 * a competing flow keeps the queue full. It does so even if none of our packets
 * has been lost. */
void mmtp_loss_bound_begin (MmtpLossBound * bound, gdouble now,
    gdouble in_flight);
