/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The feedback time of a path: the time from the sending of a message until the
 * sender knows that the message has arrived, if no queue delays the message.
 * The bytes of a message count as in flight for this time.
 *
 * The feedback time is shorter than the round trip of the path if the reports
 * about this path arrive on another path with a shorter delay. The congestion
 * window is computed from the feedback time. If it were computed from the round
 * trip, it would be too large, and the excess bytes would wait in a queue of
 * the path.
 *
 * Times are in ns. An MmtpFeedbackTime must be filled with zeros before its
 * first use. */

#pragma once

#include <glib.h>

typedef struct
{
  gdouble mean;                 /* 0 if unknown */
  gdouble deviation;            /* mean deviation from `mean` */
} MmtpFeedbackTime;

/* Adds a measured time. `delay` is a time by which the report came later than
 * the receiver was asked to send it. Bytes then count as in flight for longer,
 * so this time is added to all measured times but the first. */
void mmtp_feedback_time_add (MmtpFeedbackTime * feedback, guint64 time,
    guint64 delay);
/* Returns the feedback time with a margin, but at most `round_trip`. Returns
 * `round_trip` if nothing has been measured. */
guint64 mmtp_feedback_time_get (const MmtpFeedbackTime * feedback,
    guint64 round_trip);
