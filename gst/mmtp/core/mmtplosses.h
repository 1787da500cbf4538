/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detects the lost messages of a path from the numbers of those that arrive.
 * If messages on the path overtake each other, a missing number is waited
 * for before it counts as lost. The latest lost ranges are kept for as long as
 * a retransmission may be in time.
 */

#pragma once

#include "mmtppacket.h"

#define MMTP_LOSSES_PENDING 4
#define MMTP_LOSSES_KEPT 64

typedef struct
{
  /* first channel number and number of messages */
  guint64 first, count;
  guint64 found;                /* time at which the gap was found, in ns */
  guint64 order;                /* value of n_raised when the gap was found */
  /* A retransmission is too late from this time on, in ns. */
  guint64 repair_until;
  guint reported;               /* number of reports with this range */
  guint64 report;               /* number of the last report with this range */
} MmtpLossRange;

typedef struct
{
  gboolean any;
  guint64 highest;
  /* number of messages that were the highest when they arrived */
  guint64 n_raised;
  /* how many of these since a message was overtaken */
  guint64 n_orderly;
  guint64 lost;                 /* never decreases */
  /* missing, not yet lost; oldest first */
  MmtpLossRange pending[MMTP_LOSSES_PENDING];
  guint n_pending;
  MmtpLossRange ranges[MMTP_LOSSES_KEPT];       /* lost; oldest first */
  guint n_ranges;
  guint64 n_reports;
  /* lost ranges that no report has contained yet */
  guint n_unreported;
} MmtpLosses;

void mmtp_losses_init (MmtpLosses * losses);
/* Adds message `number`, which must not have been added before. `tolerance` is
 * the time in ns by which messages may overtake each other. From `repair_until`
 * (ns) on, a retransmission of the messages missing before this one would be
 * too late. */
void mmtp_losses_add (MmtpLosses * losses, guint64 now, guint64 number,
    guint64 tolerance, guint64 repair_until);
/* Declares messages lost that have been missing for longer than `tolerance`
 * (ns). */
void mmtp_losses_timeout (MmtpLosses * losses, guint64 now,
    guint64 tolerance);
/* Returns MMTP_NEVER if no missing message is being waited for. */
guint64 mmtp_losses_next_wakeup (const MmtpLosses * losses,
    guint64 tolerance);
/* Writes at most `room` lost ranges for a report, those reported least often
 * first, and returns their number. `surely` is TRUE if the report goes on the
 * fastest path. Ranges in a report on another path still count as not
 * reported. */
guint mmtp_losses_report (MmtpLosses * losses, guint64 now, gboolean surely,
    MmtpRange * ranges, guint room);
