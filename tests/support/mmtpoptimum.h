/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes how many packets of a periodic stream an ideal scheduler delivers in
 * time over known paths. MMTP is compared with this number. The computation
 * shares no code with MMTP.
 *
 * A path on which a packet takes `seconds` can begin one transmission every
 * `seconds`. A transmission that begins at t can carry a packet that was
 * generated between t + seconds + delay - limit and t. The maximum number of
 * packets is then a matching of points to intervals, for which the greedy
 * algorithm is exact: each packet, in order of generation, is assigned the
 * possible transmission that expires first (Glover 1967). A later transmission
 * carries later packets, so this is the rule earliest deadline first. Each path
 * begins with one of the first packets. The paths are tried in different
 * orders, and the order that delivers more packets counts.
 */

#ifndef __MMTPOPTIMUM_H__
#define __MMTPOPTIMUM_H__

#include <glib.h>

typedef struct
{
  /* Time in seconds that the transmission of one packet takes on the path. */
  gdouble seconds;
  gdouble delay;                /* Seconds of delay after transmission. */
} MmtpOptimumPath;

typedef struct
{
  /* Range of generation times of the packets that the slot can carry. */
  gdouble from, to;
} MmtpOptimumSlot;

/* Returns how many of n packets arrive within `limit` seconds if one packet is
 * generated every `period` seconds. */
guint mmtp_optimum_count (const MmtpOptimumPath * paths,
    guint n_paths, guint n, gdouble period, gdouble limit);

#endif /* __MMTPOPTIMUM_H__ */
