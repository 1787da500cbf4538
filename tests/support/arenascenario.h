/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A scenario of the arena: paths, a stream, competitors, and the number of
 * runs, each from another place in the recordings or with another seed. One run
 * gives the figures of MMTP, of RTP over UDP, and of a sender with perfect
 * foresight. The scenarios themselves are in arenagroups.h.
 */

#ifndef __ARENA_SCENARIO_H__
#define __ARENA_SCENARIO_H__

#include "arenajudge.h"

G_BEGIN_DECLS

#define ARENA_MAX_EXTRAS 2

/* What is asked besides the figures of all scenarios */
typedef enum
{
  ARENA_ASK_NOTHING,
  ARENA_ASK_STEPS,              /* how fast the estimated rate follows */
  ARENA_ASK_ESTIMATE,           /* how near the estimated rate is */
  ARENA_ASK_TCP,                /* the ratio to TCP's rate */
  ARENA_ASK_FAIRNESS            /* of two sessions */
} ArenaQuestion;

typedef struct
{
  gchar *group, *name;
  guint n_paths;
  ArenaPath paths[ARENA_MAX_PATHS];

  const GArray *clip;           /* NULL: packets of one size */
  gdouble scale;                /* of the clip's frames */
  gboolean shifts_clip;         /* each run begins elsewhere in the clip */
  guint32 packet_size;
  guint64 period;               /* ns, of frames or packets */
  gboolean tells_period;        /* to the sender */
  guint64 duration, latency, deadline;  /* ns */
  guint n_runs;

  ArenaQuestion question;
  gdouble rate;                 /* bit/s: of ARENA_ASK_ESTIMATE, and after the
                                 * step up of ARENA_ASK_STEPS */
  guint64 settling;             /* ns of the stream before estimates count */
  gdouble low_rate;             /* bit/s: after the step down */
  guint64 step_down, step_up;   /* ns */
  TcpAlgorithm tcp;             /* of ARENA_ASK_TCP */
} ArenaScenario;

typedef enum
{
  ARENA_OUTCOME_NONE,
  ARENA_OUTCOME_DONE,
  ARENA_OUTCOME_STUCK           /* an end wanted to be called for ever */
} ArenaOutcomeState;

/* Plain data, to be passed between processes. NAN: not asked */
typedef struct
{
  ArenaOutcomeState state;
  gdouble possible;             /* share of the frames, 0 to 1 */
  gdouble first_choice;         /* the same without second chances */
  gdouble max_gap;              /* ms in which nothing could arrive */
  gdouble share;                /* MMTP's part of what was possible when its
                                 * stream began */
  gdouble ready;                /* ms; INFINITY: never */
  gdouble estimate;             /* bit/s: median of the estimated rates */
  ArenaFigures mmtp, udp;
  gdouble extras[ARENA_MAX_EXTRAS];
  gdouble seconds;              /* of CPU time */
} ArenaOutcome;

/* Everything that most scenarios share: 8 runs of 30 s, D0 of 450 ms, in time
 * within 500 ms. Takes the name. */
void arena_scenario_init (ArenaScenario * scenario, const gchar * group,
    gchar * name);
void arena_scenario_clear (ArenaScenario * scenario);
/* `scale` times the clip, 25 frames a second */
void arena_scenario_set_clip (ArenaScenario * scenario, const GArray * clip,
    gdouble scale);
/* The clip, scaled so that it takes `rate` bit/s on the wire of MMTP */
void arena_scenario_set_clip_rate (ArenaScenario * scenario,
    const GArray * clip, gdouble rate);
/* Packets of `size` bytes that take `rate` bit/s on the wire of MMTP */
void arena_scenario_set_packets (ArenaScenario * scenario, guint32 size,
    gdouble rate);

/* The names of a scenario's extras, or NULL */
const gchar *arena_scenario_get_extra_name (const ArenaScenario * scenario,
    guint extra);

/* Run `number` of scenario->n_runs */
void arena_scenario_run (const ArenaScenario * scenario, guint number,
    ArenaOutcome * outcome);
/* The same without the comparison with RTP over UDP and with perfect
 * foresight */
void arena_scenario_run_mmtp (const ArenaScenario * scenario, guint number,
    ArenaOutcome * outcome);

G_END_DECLS

#endif /* __ARENA_SCENARIO_H__ */
