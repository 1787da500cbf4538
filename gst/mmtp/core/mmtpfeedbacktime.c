/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpfeedbacktime.h: the mean feedback time of a path. */

#include "mmtpfeedbacktime.h"
#include "mmtppacket.h"

/* approximate number of reports over which the feedback time is averaged */
#define REPORTS 8
/* number of mean deviations that are added to the mean feedback time, as in the
 * retransmission timeout of TCP (RFC 6298, section 2.3) */
#define DEVIATIONS 4

void
mmtp_feedback_time_add (MmtpFeedbackTime * feedback, guint64 time,
    guint64 delay)
{
  const gdouble whole = (gdouble) time + delay;

  if (feedback->mean <= 0) {
    feedback->mean = time;
    return;
  }
  feedback->deviation += (ABS (whole - feedback->mean) -
      feedback->deviation) / REPORTS;
  feedback->mean += (whole - feedback->mean) / REPORTS;
}

guint64
mmtp_feedback_time_get (const MmtpFeedbackTime * feedback, guint64 round_trip)
{
  const gdouble time = feedback->mean + DEVIATIONS * feedback->deviation;

  if (feedback->mean <= 0)
    return round_trip;
  return MIN (round_trip, (guint64) MAX (time, MMTP_TICK_TIME));
}
