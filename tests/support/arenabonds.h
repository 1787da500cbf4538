/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bonds of two to four paths for the arena. Some are drawn at random, others are
 * the cases in which users saw a bad path spoil the good ones. Each can be run
 * with any subset of its paths, and a path is the same in each subset.
 */

#ifndef __ARENA_BONDS_H__
#define __ARENA_BONDS_H__

#include "arenagroups.h"

G_BEGIN_DECLS

/* Free each scenario with arena_scenario_clear () and g_free (). The recordings
 * and clips are those of the groups, which must live longer. */

/* A bond that depends on the seed alone, and on the recordings that there are */
ArenaScenario *arena_bond_draw (const ArenaGroups * groups, guint64 seed);
/* A GPtrArray of ArenaScenario: the cases of users, and all pairs of
 * recordings */
GPtrArray *arena_bonds_get_cases (const ArenaGroups * groups);

/* The scenario with the paths whose bits are set in `subset`. It borrows the
 * texts of the other one, so nothing of it needs to be freed. */
void arena_bond_get_subset (const ArenaScenario * scenario, guint subset,
    ArenaScenario * part);

G_END_DECLS

#endif /* __ARENA_BONDS_H__ */
