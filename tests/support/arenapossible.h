/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes how many frames of a stream an ideal sender delivers so that they
 * can be decoded in time. The ideal sender knows in advance when its links can
 * carry data, and how much. The benchmark mmtparena compares the real
 * transports with this result.
 *
 * An opportunity is a number of bytes that a link can carry at a known time.
 * arenapaths.h determines the opportunities: it keeps the links busy and
 * observes what they deliver.
 *
 * The due time of a frame is the earliest time at which the frame can be sent.
 * The frame is late if too much time passes from its due time to its arrival.
 * The frames are chosen by a greedy algorithm:
 * - It sends the frames in coding order. Each frame uses the earliest
 *   opportunities after its due time.
 * - If a frame would be late, the algorithm drops one frame, together with all
 *   frames that refer to it. It may choose any frame of the current busy
 *   period, which is the time since the links were last idle. It chooses the
 *   frame with the largest ratio of freed bytes to dropped frames.
 * - At the end, it tries once more to send each dropped frame.
 *
 * arena_possible_count_all () finds the optimum instead, by trying all sets of
 * frames. It is slow, and serves to check how far the greedy result is from the
 * optimum. */

#ifndef __ARENA_POSSIBLE_H__
#define __ARENA_POSSIBLE_H__

#include "arenaclip.h"

G_BEGIN_DECLS

/* A transmission opportunity: the link can accept `bytes` bytes between `begin`
 * and `end`, and delivers them at `arrival`. If the link accepts all bytes at
 * the same time, `begin` equals `end`. Times are in ns and count from the start
 * of the link. */
typedef struct
{
  guint64 begin, end;
  guint64 arrival;
  guint32 bytes;
} ArenaOpportunity;

/* The bytes that links can carry, as a list of transmission opportunities. The
 * opportunities are those of one or more links, ordered by `arrival`. */
typedef struct
{
  GArray *opportunities;        /* of ArenaOpportunity */
  /* bytes[i] is the number of bytes in the first i elements of `opportunities`
   * together. */
  guint64 *bytes;
} ArenaSupply;

/* Creates an ArenaSupply from `opportunities`, an array of ArenaOpportunity in
 * any order. Takes ownership of this array. */
ArenaSupply *arena_supply_new (GArray * opportunities);
void arena_supply_free (ArenaSupply * supply);
/* Considers the time from `from` to `to` (ns). Returns the duration in ns of
 * the longest interval in which nothing arrives, even if the links send
 * whenever they can. */
guint64 arena_supply_get_max_gap (const ArenaSupply * supply, guint64 from,
    guint64 to);

typedef struct
{
  /* Time in ns at which the first frame of the stream is due. */
  guint64 origin;
  /* Maximum time in ns from the due time of a frame until the arrival of its
   * last byte. A frame that needs longer is late. */
  guint64 deadline;
  /* Number of header bytes of each packet, without the RTP headers. */
  guint overhead;
} ArenaPossibleConfig;

/* Returns the number of frames that can be decoded in time, as a greedy
 * algorithm finds it. This number is close to the optimum, and never above it.
 *
 * At its end, the algorithm tries once more to send each frame that it has
 * dropped. If `first_choice` is not NULL, it is set to the number of frames
 * before these retries. */
guint arena_possible_count (const GArray * frames, const ArenaSupply * supply,
    const ArenaPossibleConfig * config, guint * first_choice);
/* Returns the maximum number of frames that can be decoded in time. Finds it by
 * trying all sets of frames, so `frames` may have at most 20 elements. */
guint arena_possible_count_all (const GArray * frames,
    const ArenaSupply * supply, const ArenaPossibleConfig * config);

/* Compares the greedy algorithm with the exact algorithm on random instances of
 * up to 12 frames. For each instance, the greedy result is divided by the
 * optimum. Returns the mean of these quotients.
 *
 * No quotient may exceed 1. If all quotients are at most 1, the smallest
 * quotient is stored in `worst`. Otherwise the greedy algorithm has a bug, and
 * the largest quotient is stored in `worst`. */
gdouble arena_possible_check (guint n_instances, guint64 seed,
    gdouble * worst);

G_END_DECLS

#endif /* __ARENA_POSSIBLE_H__ */
