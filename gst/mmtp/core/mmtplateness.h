/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Corrects the expected delay of a path if many of its packets are late.
 *
 * A sender under overload sends each packet just before the packet would be too
 * late. A small error then makes all packets late: the predicted delay may be
 * wrong by a few ms, or the receiver's clock may have a small error. An
 * integral controller therefore follows the number of late packets that the
 * receiver reports. It increases the correction while many packets are late,
 * and slowly decreases it when hardly any packet is late.
 *
 * Times are in ns. An MmtpLateness must be filled with zeros before its first
 * use. */

#pragma once

#include <glib.h>

typedef struct
{
  /* the correction: a time that is added to the expected delay */
  gdouble time;
  /* Moving average of the share of late packets among the reported packets. A
   * wrong expected delay can make a packet late only if the packet was sent
   * shortly before its deadline. The average therefore counts at most
   * `marginal` packets as late. If more packets are late, some of them are late
   * for another reason. */
  gdouble share;
  /* Number of reported packets that were sent shortly before their deadline.
   * The count begins again at each update of `share`. */
  guint marginal;
} MmtpLateness;

/* Counts a reported packet that was sent shortly before its deadline. It is
 * counted before mmtp_lateness_follow() processes the report. */
void mmtp_lateness_add_marginal (MmtpLateness * lateness);
/* Processes a report in which `n_acked` packets have arrived, `late` of them
 * after their deadline. `since` is the time since the previous report. `room`
 * is the time between the base delay of the path and the latency of the
 * session; the correction is at most a part of it. */
void mmtp_lateness_follow (MmtpLateness * lateness, guint64 since, guint late,
    guint n_acked, guint64 room);
