/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A scenario of the arena, which is a benchmark of MMTP. A scenario consists of
 * paths, a stream, competing traffic and a number of runs. Each run begins at
 * another position of the delivery traces, or has another seed.
 *
 * The results of a run are computed for MMTP, for RTP over UDP, and for an
 * ideal sender, which knows in advance when its links can carry data. The
 * scenarios themselves are defined in arenagroups.h. */

#ifndef __ARENA_SCENARIO_H__
#define __ARENA_SCENARIO_H__

#include "arenajudge.h"

G_BEGIN_DECLS

#define ARENA_MAX_EXTRAS 2

/* Each scenario measures the same basic figures. It can also measure an
 * additional figure, which this type names. */
typedef enum
{
  ARENA_ASK_NOTHING,
  /* Measures how fast the sender's estimate of the rate follows the rate of the
   * link: once after the link becomes slower (step down), and once after it
   * becomes faster again (step up). */
  ARENA_ASK_STEPS,
  /* Measures how close the sender's estimate of the rate is to the real rate of
   * the link. */
  ARENA_ASK_ESTIMATE,
  /* An MMTP session and a TCP transfer share the link. Measures the rate of
   * MMTP divided by the rate of TCP. */
  ARENA_ASK_TCP,
  ARENA_ASK_FAIRNESS            /* Fairness between two sessions. */
} ArenaQuestion;

typedef struct
{
  gchar *group, *name;
  guint n_paths;
  ArenaPath paths[ARENA_MAX_PATHS];

  /* The frames of the clip; NULL if the stream is not a clip, but consists of
   * packets of one size. */
  const GArray *clip;
  /* The sizes of the clip's frames are multiplied by this factor. */
  gdouble scale;
  /* TRUE if each run of the scenario begins at another position of the clip. */
  gboolean shifts_clip;
  /* TRUE if no frame refers to another frame. In this case the sender never
   * drops a frame because its reference was dropped. */
  gboolean is_independent;
  guint32 packet_size;
  /* If the stream is a clip, the time in ns between two frames. Otherwise, the
   * time in ns between two packets. */
  guint64 period;
  /* TRUE if the time between two frames is part of the sender's configuration.
   * If it is FALSE, the sender has to measure this time. */
  gboolean tells_period;
  /* TRUE if the stream begins as soon as the session is ready. At that time,
   * only the first path has joined the session. If FALSE, the stream begins at
   * least a second after the session. */
  gboolean begins_at_once;
  guint64 duration, latency, deadline;  /* ns */
  guint n_runs;

  ArenaQuestion question;
  /* The real rate of the link in bit/s, with which the sender's estimate is
   * compared. It is set only if `question` is ARENA_ASK_ESTIMATE or
   * ARENA_ASK_STEPS. For ARENA_ASK_STEPS, it is the rate after the step up. */
  gdouble rate;
  /* Time in ns from the start of the stream until the sender's estimate of the
   * rate is evaluated. Earlier estimates do not count, because the sender needs
   * some time to measure the link. */
  guint64 settling;
  /* Only for ARENA_ASK_STEPS: rate of the link in bit/s between the times
   * step_down and step_up. */
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

/* The results of a run of a scenario. The struct contains only plain data, so
 * it can be passed between processes. A figure that the scenario does not
 * measure is NAN. */
typedef struct
{
  ArenaOutcomeState state;
  /* Share of the frames, from 0 to 1, that an ideal sender delivers in time.
   * The ideal sender knows in advance when its links can carry data. */
  gdouble possible;
  /* Share of the frames, from 0 to 1, that an ideal sender delivers in time
   * before any retry. The ideal sender knows in advance when its links can
   * carry data. It drops frames for which the links have too little capacity.
   * At the end, it tries again to send each dropped frame. These attempts are
   * the retries, and frames that they save are not counted here. */
  gdouble first_choice;
  /* Length in ms of the longest period in which no packet could arrive, over
   * whichever path. */
  gdouble max_gap;
  /* Share of the frames that MMTP delivers in time, divided by the share that
   * an ideal sender delivers in time. The ideal sender knows in advance when
   * its links can carry data. Both senders start their streams at the same
   * time. */
  gdouble share;
  /* Time in ms until the session is ready to send, that is, until the end of
   * the handshake; INFINITY if it never is. */
  gdouble ready;
  /* Median of the rates that the sender estimated during the stream, in bit/s.
   */
  gdouble estimate;
  ArenaFigures mmtp, udp;
  gdouble extras[ARENA_MAX_EXTRAS];
  gdouble seconds;              /* Seconds of CPU time. */
} ArenaOutcome;

/* Sets the values that most scenarios share: 8 runs of 30 s, a latency of MMTP
 * of 450 ms, and a deadline of 500 ms after the due time of each frame. Takes
 * ownership of `name`. */
void arena_scenario_init (ArenaScenario * scenario, const gchar * group,
    gchar * name);
void arena_scenario_clear (ArenaScenario * scenario);
/* Makes `clip` the stream of the scenario, at 25 frames per second. The sizes
 * of its frames are multiplied by `scale`. */
void arena_scenario_set_clip (ArenaScenario * scenario, const GArray * clip,
    gdouble scale);
/* Sets the stream of the scenario to the video of `clip`. All frame sizes of
 * the clip are multiplied by the same factor. The factor is chosen so that the
 * stream needs `rate` bit/s, including all headers of its MMTP packets. */
void arena_scenario_set_clip_rate (ArenaScenario * scenario,
    const GArray * clip, gdouble rate);
/* Sets the stream of the scenario to packets of `size` bytes each. The time
 * between two packets is chosen so that the stream needs `rate` bit/s,
 * including all headers of its MMTP packets. */
void arena_scenario_set_packets (ArenaScenario * scenario, guint32 size,
    gdouble rate);

/* Some scenarios measure one or two additional figures. Returns the name of the
 * figure `extras[extra]` of the scenario; NULL if the scenario has no such
 * figure. */
const gchar *arena_scenario_get_extra_name (const ArenaScenario * scenario,
    guint extra);

/* Executes one run of the scenario. `number` is the number of the run, from 0
 * to scenario->n_runs - 1. */
void arena_scenario_run (const ArenaScenario * scenario, guint number,
    ArenaOutcome * outcome);
/* Executes one run of the scenario, but only with MMTP. `number` is the number
 * of the run, from 0 to scenario->n_runs - 1. The two results with which MMTP
 * is usually compared are not computed. They are the result of RTP over UDP,
 * and that of an ideal sender, which knows in advance when its links can carry
 * data. */
void arena_scenario_run_mmtp (const ArenaScenario * scenario, guint number,
    ArenaOutcome * outcome);

G_END_DECLS

#endif /* __ARENA_SCENARIO_H__ */
