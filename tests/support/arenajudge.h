/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The figures of a run: how many frames could be decoded in time, how late they
 * were, and what that cost. docs/mmtp.md explains the columns.
 */

#ifndef __ARENA_JUDGE_H__
#define __ARENA_JUDGE_H__

#include "arenasimulation.h"

G_BEGIN_DECLS

/* Shares are 0 to 1, delays are ms. A delay is INFINITY where so many frames
 * never arrived. */
typedef struct
{
  gdouble decodable;            /* share of the frames, in time */
  gdouble p50, p95, p99;        /* delay of frames */
  gdouble worst_second;         /* least decodable share in a second */
  gdouble sent_per_played;      /* forward bytes with all headers, by bytes of
                                 * frames that could be decoded in time */
  gdouble orphans;              /* frames that were sent, in part or whole,
                                 * though a reference was never sent whole */
  gdouble vain;                 /* 0 to 1: bytes sent of frames that could not
                                 * be decoded in time, by bytes sent of all */
  gdouble feedback;             /* bytes back, by bytes forward */
  gdouble queueing_mean, queueing_p95;  /* one-way delay above the least */
} ArenaFigures;

void arena_judge (const GArray * frames, const ArenaSessionRecord * record,
    guint64 deadline, ArenaFigures * figures);

/* From `from` on, the time (ns) after which the estimated rate is below (or
 * above) a limit for the first time; ARENA_NEVER */
guint64 arena_judge_time_below (const ArenaSessionRecord * record,
    guint64 from, gdouble limit);
guint64 arena_judge_time_above (const ArenaSessionRecord * record,
    guint64 from, gdouble limit);
/* Share of the samples between two times whose estimated rate differs from
 * `rate` by no more than `tolerance` (0 to 1) */
gdouble arena_judge_share_within (const ArenaSessionRecord * record,
    guint64 from, guint64 to, gdouble rate, gdouble tolerance);
/* Median of the estimated rates between two times */
gdouble arena_judge_median_rate (const ArenaSessionRecord * record,
    guint64 from, guint64 to);
/* Jain, Chiu and Hawe 1984, of two */
gdouble arena_judge_fairness (gdouble a, gdouble b);

/* The value below which the share `p` of n values is; sorts them */
gdouble arena_percentile (gdouble * values, guint n, gdouble p);

G_END_DECLS

#endif /* __ARENA_JUDGE_H__ */
