/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes how many packets of a periodic stream an ideal scheduler delivers in
 * time over known paths. Tests compare MMTP with this number. The computation
 * shares no code with MMTP.
 *
 * A path transmits one packet after the other. The transmission of a packet
 * takes `seconds`. The packet arrives `delay` after the end of its
 * transmission. It is in time if it arrives within `limit` after its
 * generation.
 *
 * Each possible transmission on a path is called a slot. A packet can use a
 * slot that begins at the time t under two conditions:
 * - The packet must be generated at t or earlier. At the time t, the slot
 *   expires: packets that are generated later cannot use the slot.
 * - A packet in this slot arrives at t + seconds + delay. To be in time, the
 *   packet must be generated at t + seconds + delay - limit or later.
 *
 * The result is the maximum number of packets that can be assigned to slots,
 * one packet to each slot. A greedy algorithm finds this maximum exactly
 * (Glover 1967). It takes the packets in the order of their generation. If
 * several slots can carry a packet, the algorithm assigns the packet to the
 * slot that expires first. On each path, later slots carry later packets. Later
 * packets also have later deadlines, because `limit` is the same for all
 * packets. The algorithm is therefore equivalent to "earliest deadline first".
 *
 * The first slot of the first path begins when packet 0 is generated. The first
 * slot of the second path begins when packet 1 is generated, and so on. The
 * result therefore depends on the order of the paths. It is computed for the
 * given order and for the reverse order, and the larger result counts. */

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
  /* A slot is one possible transmission on a path. The transmission begins at
   * the time `to`. A packet that is generated after `to` does not exist yet at
   * that time. A packet that is generated before the time `from` would arrive
   * too late. The slot can therefore carry any packet that is generated between
   * `from` and `to`. The times are in seconds. */
  gdouble from, to;
} MmtpOptimumSlot;

/* Returns how many of `n` packets can arrive within `limit` seconds after their
 * generation. One packet is generated every `period` seconds. */
guint mmtp_optimum_count (const MmtpOptimumPath * paths,
    guint n_paths, guint n, gdouble period, gdouble limit);

#endif /* __MMTPOPTIMUM_H__ */
