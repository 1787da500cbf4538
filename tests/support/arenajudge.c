/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of arenajudge.h: computes the figures of a run of the
 * benchmark mmtparena, such as the share of frames that could be decoded in
 * time. */

#include "arenajudge.h"

#include <math.h>
#include <stdlib.h>

static gint
compare_doubles (gconstpointer a, gconstpointer b)
{
  gdouble first = *(const gdouble *) a, second = *(const gdouble *) b;

  return first < second ? -1 : first > second;
}

gdouble
arena_percentile (gdouble * values, guint n, gdouble p)
{
  guint rank;

  if (n == 0)
    return NAN;
  qsort (values, n, sizeof *values, compare_doubles);
  rank = ceil (p * n);
  return values[CLAMP (rank, 1, n) - 1];
}

gdouble
arena_median (gdouble * values, guint n)
{
  if (n == 0)
    return NAN;
  qsort (values, n, sizeof *values, compare_doubles);
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* --- frames --------------------------------------------------------------- */

static void
judge_delays (const GArray * frames, const ArenaSessionRecord * record,
    ArenaFigures * figures)
{
  gdouble *delays = g_new (gdouble, frames->len);
  guint i;

  for (i = 0; i < frames->len; i++) {
    guint64 due = record->origin + g_array_index (frames, ArenaFrame, i).due;

    delays[i] = record->arrived[i] == ARENA_NEVER ? INFINITY :
        (record->arrived[i] - due) / 1e6;
  }
  figures->p50 = arena_percentile (delays, frames->len, 0.5);
  figures->p95 = arena_percentile (delays, frames->len, 0.95);
  figures->p99 = arena_percentile (delays, frames->len, 0.99);
  g_free (delays);
}

/* Returns the minimum share of decodable frames over all windows of one second.
 * Each window begins with a frame and lies within the stream. If the stream is
 * shorter than a second, the only window is the whole stream. */
static gdouble
get_worst_second (const GArray * frames, const gboolean * decodable)
{
  guint first = 0, i, good = 0;
  gdouble worst = 1;

  for (i = 0; i < frames->len; i++) {
    guint64 due = g_array_index (frames, ArenaFrame, i).due;

    good += decodable[i];
    while (g_array_index (frames, ArenaFrame, first).due + LINK_SECOND <= due)
      good -= decodable[first++];
    /* The window contains the frames `first` to `i`. While `first` is 0, the
     * window may be shorter than a second, so it is not evaluated. There is one
     * exception: if the whole stream is shorter than a second, the window is
     * evaluated at the last frame. */
    if (first > 0 || i + 1 == frames->len)
      worst = MIN (worst, (gdouble) good / (i + 1 - first));
  }
  return worst;
}

static void
judge_frames (const GArray * frames, const ArenaSessionRecord * record,
    guint64 deadline, ArenaFigures * figures)
{
  gboolean *in_time = g_new0 (gboolean, frames->len);
  gboolean *decodable = g_new0 (gboolean, frames->len);
  guint64 played = 0, sent = 0, vain = 0;
  guint i;

  for (i = 0; i < frames->len; i++) {
    guint64 due = record->origin + g_array_index (frames, ArenaFrame, i).due;

    in_time[i] = record->arrived[i] != ARENA_NEVER
        && record->arrived[i] <= due + deadline;
  }
  figures->decodable =
      (gdouble) arena_frames_decode (frames, in_time, decodable) / frames->len;
  for (i = 0; i < frames->len; i++) {
    sent += record->sent_bytes[i];
    if (!decodable[i])
      vain += record->sent_bytes[i];
    else
      played += g_array_index (frames, ArenaFrame, i).size;
  }
  figures->vain = sent ? (gdouble) vain / sent : NAN;
  figures->worst_second = get_worst_second (frames, decodable);
  figures->sent_per_played = played ?
      (gdouble) record->forward_bytes / played : INFINITY;
  g_free (in_time);
  g_free (decodable);
}

static gboolean
is_orphan (const GArray * frames, const ArenaSessionRecord * record,
    guint number)
{
  const ArenaFrame *frame = &g_array_index (frames, ArenaFrame, number);
  guint i;

  if (record->sent_bytes[number] == 0)
    return FALSE;
  for (i = 0; i < frame->n_references; i++)
    if (record->unsent[frame->references[i]] > 0)
      return TRUE;
  return FALSE;
}

static void
count_orphans (const GArray * frames, const ArenaSessionRecord * record,
    ArenaFigures * figures)
{
  guint i;

  figures->orphans = 0;
  for (i = 0; i < frames->len; i++)
    figures->orphans += is_orphan (frames, record, i);
}

/* Appends the queueing delay of each packet of a path to `queueing`, in ms. The
 * queueing delay is the packet's one-way delay minus the minimum one-way delay
 * of all packets on this path. */
static void
add_queueing (const GArray * delays, GArray * queueing)
{
  guint32 min = G_MAXUINT32;
  guint i;

  for (i = 0; i < delays->len; i++)
    min = MIN (min, g_array_index (delays, guint32, i));
  for (i = 0; i < delays->len; i++) {
    gdouble waited = (g_array_index (delays, guint32, i) - min) / 1e3;

    g_array_append_val (queueing, waited);
  }
}

static void
judge_queueing (const ArenaSessionRecord * record, ArenaFigures * figures)
{
  GArray *queueing = g_array_new (FALSE, FALSE, sizeof (gdouble));
  gdouble sum = 0;
  guint i;

  for (i = 0; i < ARENA_MAX_PATHS; i++) {
    if (record->delays[i])
      add_queueing (record->delays[i], queueing);
  }
  for (i = 0; i < queueing->len; i++)
    sum += g_array_index (queueing, gdouble, i);
  figures->queueing_mean = queueing->len ? sum / queueing->len : NAN;
  figures->queueing_p95 =
      arena_percentile ((gdouble *) queueing->data, queueing->len, 0.95);
  g_array_unref (queueing);
}

void
arena_judge (const GArray * frames, const ArenaSessionRecord * record,
    guint64 deadline, ArenaFigures * figures)
{
  judge_delays (frames, record, figures);
  judge_frames (frames, record, deadline, figures);
  count_orphans (frames, record, figures);
  judge_queueing (record, figures);
  figures->feedback = record->forward_bytes ?
      (gdouble) record->back_bytes / record->forward_bytes : NAN;
}

/* --- estimated rates ------------------------------------------------------ */

static guint64
find_crossing (const ArenaSessionRecord * record, guint64 from, gdouble limit,
    gboolean below)
{
  guint i;

  for (i = 0; i < record->samples->len; i++) {
    const ArenaSample *sample = &g_array_index (record->samples, ArenaSample,
        i);

    if (sample->time >= from && (below ? sample->estimated_rate <= limit :
            sample->estimated_rate >= limit))
      return sample->time - from;
  }
  return ARENA_NEVER;
}

guint64
arena_judge_time_below (const ArenaSessionRecord * record, guint64 from,
    gdouble limit)
{
  return find_crossing (record, from, limit, TRUE);
}

guint64
arena_judge_time_above (const ArenaSessionRecord * record, guint64 from,
    gdouble limit)
{
  return find_crossing (record, from, limit, FALSE);
}

/* Returns the sender's estimates of the rate, in bit/s, that were sampled
 * between the times `from` and `to` (ns). Free the array with g_array_unref ().
 */
static GArray *
get_rates (const ArenaSessionRecord * record, guint64 from, guint64 to)
{
  GArray *rates = g_array_new (FALSE, FALSE, sizeof (gdouble));
  guint i;

  for (i = 0; i < record->samples->len; i++) {
    const ArenaSample *sample = &g_array_index (record->samples, ArenaSample,
        i);
    gdouble rate = sample->estimated_rate;

    if (sample->time >= from && sample->time < to)
      g_array_append_val (rates, rate);
  }
  return rates;
}

gdouble
arena_judge_share_within (const ArenaSessionRecord * record, guint64 from,
    guint64 to, gdouble rate, gdouble tolerance)
{
  GArray *rates = get_rates (record, from, to);
  guint i, within = 0, n = rates->len;

  for (i = 0; i < n; i++)
    within += fabs (g_array_index (rates, gdouble, i) / rate - 1) <= tolerance;
  g_array_unref (rates);
  return n ? (gdouble) within / n : NAN;
}

gdouble
arena_judge_median_rate (const ArenaSessionRecord * record, guint64 from,
    guint64 to)
{
  GArray *rates = get_rates (record, from, to);
  gdouble median = arena_percentile ((gdouble *) rates->data, rates->len, 0.5);

  g_array_unref (rates);
  return median;
}

/* --- fairness ------------------------------------------------------------- */

gdouble
arena_judge_fairness (gdouble a, gdouble b)
{
  return a + b > 0 ? (a + b) * (a + b) / (2 * (a * a + b * b)) : NAN;
}
