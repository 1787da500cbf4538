/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths of the arena: each one is a link of wirelesslink's core in either
 * direction, or one half-duplex link for both. Delivery traces are kept as
 * times and written as text, from any offset and only as long as a run takes.
 */

#ifndef __ARENA_PATHS_H__
#define __ARENA_PATHS_H__

#include "arenapossible.h"
#include "link.h"

G_BEGIN_DECLS

/* Times of opportunities to deliver 1500 bytes, as mahimahi records them */
typedef struct
{
  gchar *name;
  GArray *times;                /* of guint32, ms */
  guint32 period;               /* ms: it repeats */
} ArenaTrace;

ArenaTrace *arena_trace_new (const gchar * name);
ArenaTrace *arena_trace_load (const gchar * path, GError ** error);
void arena_trace_free (ArenaTrace * trace);
void arena_trace_add (ArenaTrace * trace, guint32 time);
/* Opportunities from `from` to `to` (ms) at a constant rate in bit/s */
void arena_trace_add_rate (ArenaTrace * trace, guint32 from, guint32 to,
    guint64 rate);
/* `batch` opportunities at once each `interval` ms, up to `to` ms */
void arena_trace_add_batches (ArenaTrace * trace, guint32 to, guint32 interval,
    guint batch);
/* The text of `length` ms of it from `offset` (ms) on */
gchar *arena_trace_get_text (const ArenaTrace * trace, guint32 offset,
    guint32 length);

typedef enum
{
  ARENA_FORWARD,
  ARENA_BACK,
  ARENA_N_DIRECTIONS
} ArenaDirection;

typedef struct
{
  /* of a half-duplex path only the first is used, for both directions */
  LinkConfig config[ARENA_N_DIRECTIONS];
  const ArenaTrace *trace[ARENA_N_DIRECTIONS];  /* NULL: as configured */
  gboolean rotates;             /* each run begins elsewhere in the traces */
  gboolean one_link;            /* one medium for both directions */
  guint station[ARENA_N_DIRECTIONS];    /* of one_link: who sends */
  guint64 known_rate;           /* bit/s that the sender is told; 0: nothing */
} ArenaPath;

/* Both directions without a limit but drop-tail queues of 1000 packets */
void arena_path_init (ArenaPath * path, guint64 rate, guint64 delay);

/* A path in one run */
typedef struct
{
  Link *links[ARENA_N_DIRECTIONS];      /* the same link twice for one_link */
  guint station[ARENA_N_DIRECTIONS];
} ArenaLinks;

/* Run `number` of `n` decides the seed, and where the traces begin. `length` is
 * the time (ns) that the run takes at most. An invalid configuration ends the
 * program: scenarios are written by us. */
void arena_links_open (ArenaLinks * links, const ArenaPath * path,
    guint number, guint n, guint64 length);
void arena_links_close (ArenaLinks * links, GDestroyNotify user_free);

/* What the forward direction of all these paths delivers in that run while
 * packets always wait */
ArenaSupply *arena_paths_get_supply (const ArenaPath * paths, guint n_paths,
    guint number, guint n, guint64 length);

G_END_DECLS

#endif /* __ARENA_PATHS_H__ */
