/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which messages of a channel are lost, from the numbers of those that came. A
 * number that is passed over is given some time first where paths reorder. Of
 * the ranges that are lost the latest are kept, as long as a repair may be in
 * time.
 */

#pragma once

#include "mmtppacket.h"

#define MMTP_LOSSES_PENDING 4
#define MMTP_LOSSES_KEPT 64

typedef struct
{
  guint64 first, count;         /* channel numbers */
  guint64 found;                /* ns */
  guint64 order;                /* n_raised when found */
  guint64 repair_until;         /* ns */
  guint reported;               /* times */
  guint64 report;               /* the last that had it */
} MmtpLossRange;

typedef struct
{
  gboolean any;
  guint64 highest;
  guint64 n_raised;             /* messages that were the highest when they
                                 * came */
  guint64 n_orderly;            /* of these, since one was overtaken */
  guint64 lost;                 /* never goes back */
  MmtpLossRange pending[MMTP_LOSSES_PENDING];   /* oldest first */
  guint n_pending;
  MmtpLossRange ranges[MMTP_LOSSES_KEPT];       /* oldest first */
  guint n_ranges;
  guint64 n_reports;
  guint n_unreported;           /* ranges that no report had yet */
} MmtpLosses;

void mmtp_losses_init (MmtpLosses * losses);
/* `tolerance`: ns that a message may be overtaken by; `repair_until`: ns, when
 * what is missing before this message would be too late. Numbers are new
 * ones. */
void mmtp_losses_add (MmtpLosses * losses, guint64 now, guint64 number,
    guint64 tolerance, guint64 repair_until);
/* Gives up what has been waited for long enough */
void mmtp_losses_timeout (MmtpLosses * losses, guint64 now,
    guint64 tolerance);
/* MMTP_NEVER: nothing is waited for */
guint64 mmtp_losses_next_wakeup (const MmtpLosses * losses,
    guint64 tolerance);
/* At most `room` ranges, those that were reported least come first. `surely`:
 * on the way that is the fastest; what went on others only stays to be told. */
guint mmtp_losses_report (MmtpLosses * losses, guint64 now, gboolean surely,
    MmtpRange * ranges, guint room);
