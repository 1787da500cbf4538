/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detects the lost messages of a path from the numbers of the messages that
 * arrive. Messages on a path may overtake each other. In this case, the
 * receiver waits some time for a missing message before it counts the message
 * as lost. The latest ranges of lost messages are stored until a retransmission
 * would be too late.
 */

#pragma once

#include "mmtppacket.h"

#define MMTP_LOSSES_PENDING 4
#define MMTP_LOSSES_KEPT 64

typedef struct
{
  /* `first` is the channel number (docs/wire-mmtp.md) of the first message in
   * the range. `count` is the number of messages in the range. */
  guint64 first, count;
  guint64 found;                /* time at which the gap was found, in ns */
  /* Order in which the gaps were found: the value of n_raised (see MmtpLosses)
   * when this gap was found. */
  guint64 order;
  /* Time in ns after which a retransmission of these messages is too late. */
  guint64 repair_until;
  /* Number of reports that have contained the range and were sent on the
   * fastest path. Other reports are not counted. */
  guint reported;
  /* number of the last report that contains this range */
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
  /* missing messages that do not count as lost yet; oldest first */
  MmtpLossRange pending[MMTP_LOSSES_PENDING];
  guint n_pending;
  /* lost messages; oldest first */
  MmtpLossRange ranges[MMTP_LOSSES_KEPT];
  guint n_ranges;
  guint64 n_reports;
  /* number of lost ranges that no report on the fastest path has contained yet
   */
  guint n_unreported;
} MmtpLosses;

void mmtp_losses_init (MmtpLosses * losses);
/* Adds message `number`, which must not have been added before. The message may
 * show that messages with lower numbers are missing. After the time
 * `repair_until` (ns), a retransmission of these messages is too late. A
 * message that has been missing for `tolerance` ns counts as lost. */
void mmtp_losses_add (MmtpLosses * losses, guint64 now, guint64 number,
    guint64 tolerance, guint64 repair_until);
/* Counts each message as lost that has been missing for at least `tolerance`
 * ns. */
void mmtp_losses_timeout (MmtpLosses * losses, guint64 now,
    guint64 tolerance);
/* Returns the time at which mmtp_losses_timeout() has to be called. Returns
 * MMTP_NEVER if the receiver does not wait for any missing message. */
guint64 mmtp_losses_next_wakeup (const MmtpLosses * losses,
    guint64 tolerance);
/* Writes up to `room` ranges of lost messages into `ranges`, and returns the
 * number of written ranges. Each range has a counter of the reports that
 * contained it. The ranges with the lowest counters are written first. The
 * caller sets `surely` if it sends the report on the fastest path. If `surely`
 * is FALSE, the counters of the written ranges do not increase. */
guint mmtp_losses_report (MmtpLosses * losses, guint64 now, gboolean surely,
    MmtpRange * ranges, guint room);
