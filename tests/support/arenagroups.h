/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All scenarios of the arena, a benchmark that runs MMTP in virtual time over
 * many kinds of links. The scenarios are divided into groups. All links of a
 * group are of one kind. */

#ifndef __ARENA_GROUPS_H__
#define __ARENA_GROUPS_H__

#include "arenascenario.h"

G_BEGIN_DECLS

typedef struct
{
  GPtrArray *scenarios;         /* of ArenaScenario */
  /* Array of ArenaTrace. The recorded traces come first, sorted by name. The
   * traces that the program generates follow them. */
  GPtrArray *traces;
  /* Number of recorded traces, which are the first elements of `traces`. */
  guint n_recorded;
  /* Two video clips. The first one has 6 Mbit/s, and the second one 3 Mbit/s.
   * Each clip is an array of ArenaFrame. */
  GArray *clips[2];
  /* Message for the user that names the scenarios that were left out, and says
   * why; NULL if no scenario was left out. */
  gchar *skipped;
} ArenaGroups;

/* Loads the clips and traces, and makes all scenarios. `data` is the directory
 * of the clip files. `recordings` is the directory of the recorded traces. If
 * it is NULL, the scenarios that need recorded traces are left out. Returns
 * NULL with `error` set on failure. */
ArenaGroups *arena_groups_new (const gchar * data, const gchar * recordings,
    GError ** error);
void arena_groups_free (ArenaGroups * groups);

G_END_DECLS

#endif /* __ARENA_GROUPS_H__ */
