/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detects the lost messages of a path from the numbers of the messages that
 * arrive. On some paths, a message may overtake an earlier message, so a
 * missing message may only be late. The receiver therefore waits some time for
 * a missing message before it counts the message as lost. It does not wait if
 * the path has kept the order of the messages for a while.
 *
 * The ranges of lost messages are stored, so that the receiver can report them
 * to the sender. A range is stored until a retransmission would be too late. */

#pragma once

#include "mmtppacket.h"

#define MMTP_LOSSES_PENDING 4
#define MMTP_LOSSES_KEPT 64

typedef struct
{
  /* `first` is the channel number of the first message in the range; the
   * channel number counts the messages that an endpoint sends on a channel.
   * `count` is the number of messages in the range. */
  guint64 first, count;
  /* Time in ns at which it was found that these messages are missing. */
  guint64 found;
  /* Value of n_raised when this gap was found. n_raised (a field of MmtpLosses)
   * counts how often the highest message number has increased. The present
   * n_raised minus this value shows how often the highest message number has
   * increased after the gap was found. */
  guint64 order;
  /* Time in ns after which a retransmission of the messages in this range is
   * too late. */
  guint64 repair_until;
  /* Number of REPORTs that contained this range and were sent on the fastest
   * path. REPORTs that were sent on other paths are not counted. */
  guint reported;
  /* Number of the last REPORT that contained this range, or 0 if there was
   * none. REPORTs are numbered from 1 in the order in which they are written.
   */
  guint64 report;
} MmtpLossRange;

typedef struct
{
  gboolean any;
  guint64 highest;
  /* Number of times that `highest` has increased. `highest` is the highest
   * message number that has arrived. */
  guint64 n_raised;
  /* Number of messages that have arrived in order since the last message that
   * arrived out of order */
  guint64 n_orderly;
  guint64 lost;                 /* never decreases */
  /* Ranges of missing messages that do not count as lost yet, because they may
   * only be late. The oldest range is the first. */
  MmtpLossRange pending[MMTP_LOSSES_PENDING];
  guint n_pending;
  /* lost messages; oldest first */
  MmtpLossRange ranges[MMTP_LOSSES_KEPT];
  guint n_ranges;
  guint64 n_reports;
  /* Number of lost ranges whose field `reported` is 0: they were in no REPORT
   * that was sent on the fastest path. */
  guint n_unreported;
} MmtpLosses;

void mmtp_losses_init (MmtpLosses * losses);
/* Records that the message `number` has arrived for the first time. If `number`
 * is higher than all earlier numbers, the messages between the highest earlier
 * number and `number` are missing. A retransmission of these messages is too
 * late after the time `repair_until` (ns). A message that has been missing for
 * `tolerance` ns counts as lost. */
void mmtp_losses_add (MmtpLosses * losses, guint64 now, guint64 number,
    guint64 tolerance, guint64 repair_until);
/* Looks for messages that have been missing for at least `tolerance` ns. Counts
 * each of them as lost. */
void mmtp_losses_timeout (MmtpLosses * losses, guint64 now,
    guint64 tolerance);
/* Returns the time at which mmtp_losses_timeout() has to be called. Returns
 * MMTP_NEVER if the receiver does not wait for any missing message. */
guint64 mmtp_losses_next_wakeup (const MmtpLosses * losses,
    guint64 tolerance);
/* Writes up to `room` ranges of lost messages into `ranges`, for a REPORT.
 * Returns the number of written ranges. The ranges that were reported least
 * often are written first.
 *
 * If `is_counted` is TRUE, the counter of reports (`reported`) of each written
 * range is increased by 1. The caller sets `is_counted` only for a REPORT on
 * the fastest path, because a REPORT on another path may arrive late or never.
 */
guint mmtp_losses_report (MmtpLosses * losses, guint64 now, gboolean is_counted,
    MmtpRange * ranges, guint room);
