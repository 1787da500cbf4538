/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The window that a TCP flow would have in our place: reduced when a queue on
 * the path overflows, and grown as CUBIC grows (RFC 9438). Losses count only
 * where they are a matter of the queue: losses of a radio come whatever its
 * length. All times are ns, sizes bytes.
 * */

#pragma once

#include "mmtpratecontrol.h"

typedef struct
{
  guint packet;
  gdouble window;               /* 0: nothing has overflowed yet */
  gdouble max;                  /* before it was reduced last */
  gdouble reduced;              /* when that was */
  gdouble reno;                 /* RFC 9438, section 4.3 */
  gdouble grown;                /* when it was grown last */
  gdouble max_queue;            /* longest of late */
  gdouble max_queue_time;
  gdouble told;                 /* when the last report came */
  gdouble mean_queue, mean_in_flight;   /* ns and bytes, of the usual report */
  gdouble n_all;                /* messages that these rest on, at most */
  gdouble loss_low, loss_high;  /* part that is lost while the queue is shorter
                                 * than that, and longer */
  gdouble n_low, n_high;        /* messages that these rest on, at most */
  gdouble loss_few, loss_many;  /* part that is lost while less is in flight
                                 * than that, and more */
  gdouble n_few, n_many;        /* messages that these rest on, at most */
} MmtpLossBound;

void mmtp_loss_bound_init (MmtpLossBound * bound, guint packet);
/* `window`: bytes that are allowed now; `filling`: bytes that fill the path
 * without a queue; `round_trip`: ns, without a queue; `is_used`: the window was
 * used up, so that it may grow. TRUE: it was reduced */
gboolean mmtp_loss_bound_add (MmtpLossBound * bound,
    const MmtpRateSample * sample, gdouble window, gdouble filling, gdouble round_trip,
    gboolean is_used);
/* Somebody else keeps the queue full without losses of ours: begin at what is
 * in flight. */
void mmtp_loss_bound_begin (MmtpLossBound * bound, gdouble now,
    gdouble in_flight);
