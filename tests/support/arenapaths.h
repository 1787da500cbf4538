/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths of the benchmark mmtparena, which simulates links with the link
 * model of the element wirelesslink. Each path has one link for each direction,
 * or one half-duplex link for both directions.
 *
 * A delivery trace is an array of the times at which a link delivers a packet.
 * A run uses a section of the trace that is as long as the run, and that may
 * begin at any offset. The section is converted to text, because the link model
 * reads traces as text. */

#ifndef __ARENA_PATHS_H__
#define __ARENA_PATHS_H__

#include "arenapossible.h"
#include "link.h"

G_BEGIN_DECLS

/* A delivery trace in the format of mahimahi (a network emulator). It has the
 * times at which a link can deliver 1500 bytes. */
typedef struct
{
  gchar *name;
  GArray *times;                /* of guint32, ms */
  /* Time in ms after which the trace begins again. */
  guint32 period;
} ArenaTrace;

ArenaTrace *arena_trace_new (const gchar * name);
ArenaTrace *arena_trace_load (const gchar * path, GError ** error);
void arena_trace_free (ArenaTrace * trace);
void arena_trace_add (ArenaTrace * trace, guint32 time);
/* Adds to the trace the deliveries between the times `from` and `to` (in ms):
 * packets of 1500 bytes at the constant rate `rate` (in bit/s). */
void arena_trace_add_rate (ArenaTrace * trace, guint32 from, guint32 to,
    guint64 rate);
/* Adds to the trace the deliveries until the time `to` (in ms): every
 * `interval` ms, the link delivers `batch` packets of 1500 bytes at once. */
void arena_trace_add_batches (ArenaTrace * trace, guint32 to, guint32 interval,
    guint batch);
/* Returns a section of the trace as text, in the format that the link model
 * reads. The section begins at `offset` ms and lasts `length` ms. Free the text
 * with g_free (). */
gchar *arena_trace_get_text (const ArenaTrace * trace, guint32 offset,
    guint32 length);

typedef enum
{
  ARENA_FORWARD,
  ARENA_BACK,
  ARENA_N_DIRECTIONS
} ArenaDirection;

#define ARENA_MAX_STEPS 32

/* A change of the delay of a path, in both directions. */
typedef struct
{
  guint64 time;                 /* ns since the start of the run */
  guint64 delay;                /* new one-way delay in ns */
} ArenaStep;

typedef struct
{
  /* Configuration of the link of each direction. For a half-duplex path, only
   * the first entry is used.
   */
  LinkConfig config[ARENA_N_DIRECTIONS];
  /* Delivery trace of the link, for each direction. If an entry is NULL, the
   * link has no trace. The configuration of the link then determines its rate.
   */
  const ArenaTrace *trace[ARENA_N_DIRECTIONS];
  /* TRUE if each run of a scenario begins at a different position of the
   * delivery traces. */
  gboolean rotates;
  gboolean one_link;            /* Both directions share one medium. */
  /* The number of the station (transmitter) that sends in each direction, if
   * `one_link` is TRUE. If `one_link` is FALSE, the number is 0 for both
   * directions. */
  guint station[ARENA_N_DIRECTIONS];
  /* Rate of the path in bit/s that the sender knows in advance; 0 if the sender
   * does not know it and has to measure it. */
  guint64 known_rate;
  /* Changes of the delay, in the order of their times. They require a path with
   * a constant rate. */
  ArenaStep steps[ARENA_MAX_STEPS];
  guint n_steps;
  /* In the time from `cut_begin` to `cut_end`, the path loses all packets in
   * both directions. Both are in ns since the start of the run, and equal if
   * there is no cut. */
  guint64 cut_begin, cut_end;
  /* Paths with the same number, if it is not 0, go through one bottleneck: they
   * share the links of the first of these paths. */
  guint bottleneck;
} ArenaPath;

/* Initializes a path with the given rate (bit/s) and delay (ns) in both
 * directions, and with drop-tail queues of 1000 packets. */
void arena_path_init (ArenaPath * path, guint64 rate, guint64 delay);

/* The links of a path, which are opened for one run: one link for each
 * direction. */
typedef struct
{
  /* One link for each direction. If the field `one_link` of the path is TRUE,
   * both elements point to the same link. */
  Link *links[ARENA_N_DIRECTIONS];
  guint station[ARENA_N_DIRECTIONS];
  /* TRUE if the links belong to another path, which goes through the same
   * bottleneck. */
  gboolean is_borrowed;
} ArenaLinks;

/* Opens the links of the path paths[index] for run `number` of the `n` runs of
 * a scenario, and stores them in links[index]. The links of paths[0] to
 * paths[index - 1] must be open, because they may share a bottleneck with it.
 * Each run has other seeds for the links. If the field `rotates` of the path is
 * TRUE, each run also begins at another position of the delivery traces.
 * `length` is the maximum duration of the run in ns. All configurations of
 * links are part of the program. If one is invalid, this is a bug, and the
 * program ends. */
void arena_links_open (ArenaLinks * links, const ArenaPath * paths, guint index,
    guint number, guint n, guint64 length);
void arena_links_close (ArenaLinks * links, GDestroyNotify user_free);

/* Returns when the forward links of `paths` can carry data, and how many bytes
 * they can carry at each of these times. The result is for the run `number` of
 * `n` runs. To find the times, the function sends so many packets that the queue
 * of each link is never empty. */
ArenaSupply *arena_paths_get_supply (const ArenaPath * paths, guint n_paths,
    guint number, guint n, guint64 length);

G_END_DECLS

#endif /* __ARENA_PATHS_H__ */
