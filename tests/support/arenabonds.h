/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bonds for the arena. A bond is a scenario in which one sender uses two to
 * four paths together. Some bonds are drawn at random. The other bonds are
 * cases in which users saw that a bad path harmed the good paths. Each bond can
 * be run with any subset of its paths, and a path behaves the same in each
 * subset.
 */

#ifndef __ARENA_BONDS_H__
#define __ARENA_BONDS_H__

#include "arenagroups.h"

G_BEGIN_DECLS

/* Free a scenario with arena_scenario_clear () and g_free (). The array of
 * arena_bonds_get_cases () frees its scenarios itself. A scenario refers to the
 * recordings and clips of `groups`, so free `groups` only after all its
 * scenarios.
 */

/* Returns a random bond: a scenario with two to four paths. If the `seed` and
 * the recorded traces in `groups` are the same, the bond is always the same. */
ArenaScenario *arena_bond_draw (const ArenaGroups * groups, guint64 seed);
/* Returns a GPtrArray of ArenaScenario: the cases that users reported, and all
 * pairs of recordings. */
GPtrArray *arena_bonds_get_cases (const ArenaGroups * groups);

/* Copies `scenario` to `part`, but only with the paths whose bits are set in
 * `subset`. The strings in `part` still belong to `scenario`, so `part` must
 * not be freed. */
void arena_bond_get_subset (const ArenaScenario * scenario, guint subset,
    ArenaScenario * part);

G_END_DECLS

#endif /* __ARENA_BONDS_H__ */
