/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All scenarios of the arena, in groups of links of one kind. */

#ifndef __ARENA_GROUPS_H__
#define __ARENA_GROUPS_H__

#include "arenascenario.h"

G_BEGIN_DECLS

typedef struct
{
  GPtrArray *scenarios;         /* of ArenaScenario */
  GPtrArray *traces;            /* of ArenaTrace, sorted by name */
  guint n_recorded;             /* of them, the first, that are recordings */
  GArray *clips[2];             /* of ArenaFrame: 6 Mbit/s, 3 Mbit/s */
  gchar *skipped;               /* why groups are missing; NULL: none is */
} ArenaGroups;

/* `data`: the directory of the clips' frames. `recordings`: that of recorded
 * traces; without one the groups that need them are skipped. */
ArenaGroups *arena_groups_new (const gchar * data, const gchar * recordings,
    GError ** error);
void arena_groups_free (ArenaGroups * groups);

G_END_DECLS

#endif /* __ARENA_GROUPS_H__ */
