/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many frames of a stream could have been decoded in time by a sender that
 * knows beforehand when its links deliver, and how much: what the arena holds
 * every transport to.
 *
 * The links' opportunities to deliver are known (arenapaths.h finds them out by
 * saturating the links). Frames are sent in coding order, each at the earliest
 * opportunities behind its due time. When a frame would be late, a frame leaves
 * the busy period together with all frames that refer to it: the one that frees
 * the most bytes for each picture that is lost. In the end each frame that was
 * given up gets a second chance. arena_possible_count_all () is exact and tells
 * how far from the optimum that is.
 */

#ifndef __ARENA_POSSIBLE_H__
#define __ARENA_POSSIBLE_H__

#include "arenaclip.h"

G_BEGIN_DECLS

/* Bytes that a link can take between two times and delivers at a third. Where
 * it takes them all at once, `begin` equals `end`. ns since the link began */
typedef struct
{
  guint64 begin, end;
  guint64 arrival;
  guint32 bytes;
} ArenaOpportunity;

/* Opportunities of one or more links, in the order of their arrivals */
typedef struct
{
  GArray *opportunities;        /* of ArenaOpportunity */
  guint64 *bytes;               /* sum of all opportunities before each */
} ArenaSupply;

/* Takes the array, in any order */
ArenaSupply *arena_supply_new (GArray * opportunities);
void arena_supply_free (ArenaSupply * supply);
/* The longest time (ns) between two times in which nothing arrives */
guint64 arena_supply_get_max_gap (const ArenaSupply * supply, guint64 from,
    guint64 to);

typedef struct
{
  guint64 origin;               /* ns: when the first frame is due */
  guint64 deadline;             /* ns from due time to the arrival of the last
                                 * byte, at most */
  guint overhead;               /* bytes of headers with each packet */
} ArenaPossibleConfig;

/* The greedy one: a lower bound of the optimum that is close to it. Without the
 * second chances it is `first_choice`, which may be NULL. */
guint arena_possible_count (const GArray * frames, const ArenaSupply * supply,
    const ArenaPossibleConfig * config, guint * first_choice);
/* The optimum by trying all sets of frames; not more than 20 frames */
guint arena_possible_count_all (const GArray * frames,
    const ArenaSupply * supply, const ArenaPossibleConfig * config);

/* Compares both on random instances of up to 12 frames. Returns the mean share
 * (0 to 1) of the optimum that the greedy one reaches, and the worst share in
 * `worst`. A `worst` above 1 means that the greedy one breaks a rule. */
gdouble arena_possible_check (guint n_instances, guint64 seed,
    gdouble * worst);

G_END_DECLS

#endif /* __ARENA_POSSIBLE_H__ */
