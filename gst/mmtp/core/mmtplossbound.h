/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The congestion window that a TCP flow would have on the path: it is reduced
 * when a queue on the path overflows, and grows like CUBIC (RFC 9438). Losses
 * count only if they depend on the length of the queue, because a radio loses
 * packets whatever that length is. Times are in ns, sizes in bytes. */

#pragma once

#include "mmtpratecontrol.h"

typedef struct
{
  guint packet;
  gdouble window;               /* 0 if no queue has overflowed yet */
  gdouble max;                  /* window before the last reduction */
  gdouble reduced;              /* time of the last reduction */
  gdouble reno;                 /* window of Reno, RFC 9438, section 4.3 */
  gdouble grown;                /* time of the last growth */
  gdouble max_queue;            /* maximum queueing delay of late */
  gdouble max_queue_time;
  gdouble reported_at;          /* time of the last report */
  /* usual queueing delay (ns) and bytes in flight at a report */
  gdouble mean_queue, mean_in_flight;
  /* Messages in these two means, up to a limit. */
  gdouble n_all;
  /* Share of messages lost while the queueing delay is below, and above, the
   * mean. */
  gdouble loss_low, loss_high;
  /* Messages in these two averages, up to a limit. */
  gdouble n_low, n_high;
  /* Share of messages lost while fewer, and more, bytes than the mean are in
   * flight. */
  gdouble loss_few, loss_many;
  /* Messages in these two averages, up to a limit. */
  gdouble n_few, n_many;
} MmtpLossBound;

void mmtp_loss_bound_init (MmtpLossBound * bound, guint packet);
/* Processes one report. `window` is the current congestion window in bytes,
 * `filling` the bytes that fill the path without a queue, `round_trip` the
 * round trip without a queue in ns. `is_used` is TRUE if the window was used
 * up, so that it may grow. Returns TRUE if the window was reduced. */
gboolean mmtp_loss_bound_add (MmtpLossBound * bound,
    const MmtpRateSample * sample, gdouble window, gdouble filling, gdouble round_trip,
    gboolean is_used);
/* Starts the window at `in_flight` bytes, because a competing flow keeps the
 * queue full although none of our packets is lost. */
void mmtp_loss_bound_begin (MmtpLossBound * bound, gdouble now,
    gdouble in_flight);
