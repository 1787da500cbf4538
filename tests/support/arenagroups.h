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
  /* Array of ArenaTrace. It contains the recorded traces, sorted by name, and
   * after them the generated traces. */
  GPtrArray *traces;
  /* Number of recorded traces, which are the first elements of `traces`. */
  guint n_recorded;
  /* Two clips, of 6 Mbit/s and of 3 Mbit/s. Each clip is an array of
   * ArenaFrame. */
  GArray *clips[2];
  /* Message that names the skipped groups of scenarios and the reason; NULL if
   * no group was skipped. */
  gchar *skipped;
} ArenaGroups;

/* `data` is the directory of the clip files. `recordings` is the directory of
 * recorded traces; if it is NULL, the groups that need them are skipped.
 * Returns NULL with `error` set on failure. */
ArenaGroups *arena_groups_new (const gchar * data, const gchar * recordings,
    GError ** error);
void arena_groups_free (ArenaGroups * groups);

G_END_DECLS

#endif /* __ARENA_GROUPS_H__ */
