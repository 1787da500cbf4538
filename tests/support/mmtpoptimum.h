/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes how many packets of a periodic stream an ideal scheduler delivers in
 * time over known paths. MMTP is compared with this number. The computation
 * shares no code with MMTP.
 *
 * The transmission of a packet on a path takes `seconds`. After the
 * transmission, the packet arrives with a delay of `delay`. It is in time if
 * it arrives within `limit` after its generation.
 *
 * A path can begin one transmission every `seconds`. Such a transmission is
 * called a slot. A slot that begins at t can carry a packet that was generated
 * between t + seconds + delay - limit and t. Earlier packets would arrive too
 * late, and later packets do not exist yet.
 *
 * The result is the maximum number of packets that can be assigned to slots,
 * one packet to each slot. A greedy algorithm finds this maximum exactly
 * (Glover 1967): each packet, in order of generation, is assigned the slot that
 * expires first. Later slots carry later packets, so this algorithm is
 * equivalent to "earliest deadline first".
 *
 * The first slot of the first path begins when packet 0 is generated, that of
 * the second path when packet 1 is generated, and so on. The result therefore
 * depends on the order of the paths. It is computed in this order and in the
 * reverse order, and the larger result counts.
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
  /* A slot is one transmission on a path. It can carry any packet that is
   * generated between the times `from` and `to`, which are in seconds. */
  gdouble from, to;
} MmtpOptimumSlot;

/* Returns how many of n packets arrive within `limit` seconds if one packet is
 * generated every `period` seconds. */
guint mmtp_optimum_count (const MmtpOptimumPath * paths,
    guint n_paths, guint n, gdouble period, gdouble limit);

#endif /* __MMTPOPTIMUM_H__ */
