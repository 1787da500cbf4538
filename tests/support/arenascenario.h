/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A scenario of the arena: paths, a stream, competitors and a number of runs.
 * Each run begins at another position of the delivery traces or has another
 * seed.
 * The results of a run are computed for MMTP, for RTP over UDP, and for a
 * sender with perfect foresight. The scenarios themselves are defined in
 * arenagroups.h. */

#ifndef __ARENA_SCENARIO_H__
#define __ARENA_SCENARIO_H__

#include "arenajudge.h"

G_BEGIN_DECLS

#define ARENA_MAX_EXTRAS 2

/* The additional figure that a scenario measures. The other figures are
 * measured in all scenarios. */
typedef enum
{
  ARENA_ASK_NOTHING,
  /* Measures how fast the estimated rate follows the rate of the link after a
   * step down and after a step up. */
  ARENA_ASK_STEPS,
  /* Measures how close the estimated rate is to the real rate of the link. */
  ARENA_ASK_ESTIMATE,
  /* Measures the ratio of the rate of MMTP to the rate of TCP. */
  ARENA_ASK_TCP,
  ARENA_ASK_FAIRNESS            /* Fairness between two sessions. */
} ArenaQuestion;

typedef struct
{
  gchar *group, *name;
  guint n_paths;
  ArenaPath paths[ARENA_MAX_PATHS];

  /* The frames of the clip. It is NULL if the stream consists of packets of one
   * size instead of frames. */
  const GArray *clip;
  /* The sizes of the clip's frames are multiplied by this factor. */
  gdouble scale;
  /* TRUE if the clip begins at another position in each run */
  gboolean shifts_clip;
  /* TRUE if no frame refers to another frame. In this case the sender never
   * drops a frame because its reference was dropped. */
  gboolean is_independent;
  guint32 packet_size;
  /* Time in ns between two frames, or between two packets if there is no clip.
   */
  guint64 period;
  /* TRUE if the configuration of the sender contains the time between two
   * frames. Otherwise, the sender has to measure this time.
   */
  gboolean tells_period;
  guint64 duration, latency, deadline;  /* ns */
  guint n_runs;

  ArenaQuestion question;
  /* Rate of the link in bit/s, with which the estimated rate is compared. It is
   * set only for ARENA_ASK_ESTIMATE and ARENA_ASK_STEPS. For ARENA_ASK_STEPS,
   * it is the rate after the step up. */
  gdouble rate;
  /* Time in ns from the start of the stream until the estimated rate is
   * evaluated. Earlier estimates are ignored, so that the sender has time to
   * measure the link. */
  guint64 settling;
  /* Rate of the link in bit/s between the times step_down and step_up */
  gdouble low_rate;
  guint64 step_down, step_up;   /* ns */
  TcpAlgorithm tcp;             /* of ARENA_ASK_TCP */
} ArenaScenario;

typedef enum
{
  ARENA_OUTCOME_NONE,
  ARENA_OUTCOME_DONE,
  /* The run was stopped, because an endpoint was in an endless loop: it asked
   * to be called again and again at the same virtual time. */
  ARENA_OUTCOME_STUCK
} ArenaOutcomeState;

/* The results of a scenario: plain data that can be passed between processes. A
 * figure that the scenario does not measure is NAN. */
typedef struct
{
  ArenaOutcomeState state;
  /* Share of the frames that a sender with perfect foresight delivers in time,
   * from 0 to 1. */
  gdouble possible;
  /* Share of the frames, from 0 to 1, that a sender with perfect foresight
   * delivers in time if it does not try again to send the frames that it has
   * dropped.
   */
  gdouble first_choice;
  /* Length in ms of the longest period in which no packet could arrive over any
   * path. */
  gdouble max_gap;
  /* Share of the frames that MMTP delivers in time, divided by the share that a
   * sender with perfect foresight delivers in time. Both senders start their
   * streams at the same time. */
  gdouble share;
  /* Time in ms until the session is ready; INFINITY if it never is. */
  gdouble ready;
  gdouble estimate;             /* Median of the estimated rates, in bit/s. */
  ArenaFigures mmtp, udp;
  gdouble extras[ARENA_MAX_EXTRAS];
  gdouble seconds;              /* Seconds of CPU time. */
} ArenaOutcome;

/* Sets the values that most scenarios share: 8 runs of 30 s, an initial delay
 * (D0) of 450 ms, and a deadline of 500 ms. Takes ownership of `name`. */
void arena_scenario_init (ArenaScenario * scenario, const gchar * group,
    gchar * name);
void arena_scenario_clear (ArenaScenario * scenario);
/* Makes `clip` the stream of the scenario, at 25 frames per second. The sizes
 * of its frames are multiplied by `scale`. */
void arena_scenario_set_clip (ArenaScenario * scenario, const GArray * clip,
    gdouble scale);
/* Makes the clip the stream of the scenario. The sizes of its frames are scaled
 * so that the MMTP packets with all headers need `rate` bit/s. */
void arena_scenario_set_clip_rate (ArenaScenario * scenario,
    const GArray * clip, gdouble rate);
/* Sets the stream to packets of `size` bytes. The time between two packets is
 * chosen so that the MMTP packets with all headers need `rate` bit/s. */
void arena_scenario_set_packets (ArenaScenario * scenario, guint32 size,
    gdouble rate);

/* Returns the name of the additional result `extras[extra]` of the scenario.
 * Returns NULL if the scenario has no such result. */
const gchar *arena_scenario_get_extra_name (const ArenaScenario * scenario,
    guint extra);

/* Executes one run of the scenario. `number` is the number of the run, from 0
 * to scenario->n_runs - 1. */
void arena_scenario_run (const ArenaScenario * scenario, guint number,
    ArenaOutcome * outcome);
/* Executes the run `number` with MMTP only. The results of RTP over UDP and of
 * a sender with perfect foresight are not computed. */
void arena_scenario_run_mmtp (const ArenaScenario * scenario, guint number,
    ArenaOutcome * outcome);

G_END_DECLS

#endif /* __ARENA_SCENARIO_H__ */
