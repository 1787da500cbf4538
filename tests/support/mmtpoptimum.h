/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many packets of a periodic stream an ideal scheduler brings in time over
 * known paths: what MMTP is measured by. It shares nothing with MMTP.
 *
 * A path of `seconds` to a packet can begin one transmission every so many
 * seconds; one that begins at t can carry what was generated between
 * t + seconds + delay - limit and t. Which packets can be carried at most is
 * then a matching of points to intervals, and the greedy one is exact: each
 * packet, in the order of generation, takes of the transmissions that it may
 * take the one that ends its chances first (Glover 1967). A transmission that
 * begins later serves later packets, so that is the earliest deadline first.
 * The paths begin with the first packets, one each, in the order in which
 * that brings more.
 */

#ifndef __MMTPOPTIMUM_H__
#define __MMTPOPTIMUM_H__

#include <glib.h>

typedef struct
{
  gdouble seconds;              /* on the air, of one packet */
  gdouble delay;                /* behind it */
} MmtpOptimumPath;

typedef struct
{
  gdouble from, to;             /* generation of what it can carry */
} MmtpOptimumSlot;

/* n packets, one each `period` seconds, within `limit` seconds */
guint mmtp_optimum_count (const MmtpOptimumPath * paths,
    guint n_paths, guint n, gdouble period, gdouble limit);

#endif /* __MMTPOPTIMUM_H__ */
