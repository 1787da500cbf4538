/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bonds for the arena, a benchmark of MMTP. A bond is a scenario in which one
 * sender uses two to four paths together. Some bonds are drawn at random. The
 * other bonds are cases in which users saw that a bad path harmed the good
 * paths. A bond can also be run with only some of its paths. A path behaves in
 * the same way, whichever other paths take part, unless it shares a bottleneck
 * with one of them. */

#ifndef __ARENA_BONDS_H__
#define __ARENA_BONDS_H__

#include "arenagroups.h"

G_BEGIN_DECLS

/* How to free scenarios: free a single scenario with arena_scenario_clear ()
 * and g_free (). arena_bonds_get_cases () returns an array of scenarios. If you
 * free this array, its scenarios are freed automatically. A scenario refers to
 * the recordings and clips of `groups`, so free `groups` only after all its
 * scenarios. */

/* Returns a random bond: a scenario with two to four paths. If the `seed` and
 * the recorded traces in `groups` are the same, the bond is always the same. */
ArenaScenario *arena_bond_draw (const ArenaGroups * groups, guint64 seed);
/* Returns a GPtrArray of ArenaScenario, each of which is a bond: a sender that
 * uses several paths together. There are three kinds of bonds. Some are modelled
 * on reports of users, who saw that a bad path harmed the good paths. Others
 * have two paths with two recorded traces, one bond for each pair of recorded
 * traces. The last kind has three paths with recorded traces, one of which is
 * interrupted for 10 s. */
GPtrArray *arena_bonds_get_cases (const ArenaGroups * groups);

/* Copies `scenario` to `part`, but keeps only some of its paths: path i is kept
 * if bit i of `subset` is set. `part` uses the strings of `scenario`, so do not
 * call arena_scenario_clear () for `part`. */
void arena_bond_get_subset (const ArenaScenario * scenario, guint subset,
    ArenaScenario * part);

G_END_DECLS

#endif /* __ARENA_BONDS_H__ */
