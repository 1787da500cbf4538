/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the figures of a run of the arena (a benchmark of MMTP): the share
 * of frames that could be decoded in time, how late the frames were, and how
 * many bytes were sent for them. The tables in docs/mmtp.md have a column for
 * each figure, and the page explains the columns. */

#ifndef __ARENA_JUDGE_H__
#define __ARENA_JUDGE_H__

#include "arenasimulation.h"

G_BEGIN_DECLS

/* The figures of one run. Each field that is described as a share has a value
 * from 0 to 1. Delays are in ms. If a frame never arrived, its delay counts as
 * INFINITY, so a percentile of the delays can be INFINITY, too. */
typedef struct
{
  /* Share of the frames that could be decoded in time. */
  gdouble decodable;
  /* 50th, 95th and 99th percentile of the delay of a frame, which is the time
   * from its due time to its arrival, in ms. */
  gdouble p50, p95, p99;
  /* Share of decodable frames in the worst second of the stream. This is the
   * second in which the share is lowest. */
  gdouble worst_second;
  /* Number of bytes that the sender sent to the receiver, with all headers,
   * divided by the number of bytes of the frames that could be decoded in time.
   */
  gdouble sent_per_played;
  /* Number of frames that were sent, completely or in part, although one of
   * their reference frames was never sent completely. */
  gdouble orphans;
  /* The bytes that were sent for frames that could not be decoded in time, as a
   * share (0 to 1) of all bytes that were sent for frames. */
  gdouble vain;
  /* Number of bytes that the receiver sent to the sender, such as reports and
   * acknowledgements, divided by the number of bytes that the sender sent to
   * the receiver. */
  gdouble feedback;
  /* Mean and 95th percentile of the queueing delay of a packet, in ms. The
   * queueing delay is the packet's one-way delay minus the minimum one-way
   * delay of all packets on the same path. */
  gdouble queueing_mean, queueing_p95;
} ArenaFigures;

void arena_judge (const GArray * frames, const ArenaSessionRecord * record,
    guint64 deadline, ArenaFigures * figures);

/* Looks for the sender's first estimate of the rate that was made at the time
 * `from` or later and that is at most `limit` bit/s. Returns how long after
 * `from` this estimate was made, in ns. Returns ARENA_NEVER if there is no such
 * estimate. */
guint64 arena_judge_time_below (const ArenaSessionRecord * record,
    guint64 from, gdouble limit);
/* Looks for the sender's first estimate of the rate that was made at the time
 * `from` or later and that is at least `limit` bit/s. Returns how long after
 * `from` this estimate was made, in ns. Returns ARENA_NEVER if there is no such
 * estimate. */
guint64 arena_judge_time_above (const ArenaSessionRecord * record,
    guint64 from, gdouble limit);
/* Considers the sender's estimates of the rate that were sampled between the
 * times `from` and `to` (ns). Returns the share of these estimates that differ
 * from `rate` (bit/s) by at most `rate` * `tolerance`. `tolerance` and the
 * result are from 0 to 1. */
gdouble arena_judge_share_within (const ArenaSessionRecord * record,
    guint64 from, guint64 to, gdouble rate, gdouble tolerance);
/* Returns the median of the sender's estimates of the rate, in bit/s, that were
 * sampled between the times `from` and `to` (ns). */
gdouble arena_judge_median_rate (const ArenaSessionRecord * record,
    guint64 from, guint64 to);
/* Returns Jain's fairness index of two rates (Jain, Chiu and Hawe 1984). */
gdouble arena_judge_fairness (gdouble a, gdouble b);

/* Returns the percentile `p` (0 to 1) of the `n` elements of `values`. Sorts
 * `values`. */
gdouble arena_percentile (gdouble * values, guint n, gdouble p);
/* Returns the median of the `n` elements of `values`, and sorts them. If `n` is
 * even, it is the mean of the two elements in the middle. */
gdouble arena_median (gdouble * values, guint n);

G_END_DECLS

#endif /* __ARENA_JUDGE_H__ */
