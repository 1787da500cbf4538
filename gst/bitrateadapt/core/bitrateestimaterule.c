/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows the estimate of a transport that measures the capacity of the path.
 *
 * Decreases are immediate: the bitrate never exceeds the estimate less the
 * headroom. While data waits at the sender, the bitrate is lower still, so that
 * the queue drains.
 *
 * Increases are slow: each step increases the bitrate by a small share. An
 * estimate that is only a lower bound never decreases the bitrate. It does not
 * stop the increases either, because the path can show a higher capacity only
 * if more data is sent. Near the bitrate at which the path was last full, the
 * steps are small. Beyond it they become larger, like those of CUBIC around its
 * last maximum (RFC 9438 section 4.2).
 *
 * The constants were chosen with the simulation in
 * tests/check/libs/bitratesteps.c.
 */

#include "bitraterule.h"

#define MILLISECOND 1e6

/* STEP_INTERVAL is the minimum time between two increases of the bitrate.
 * HOLD_TIME is the time after a decrease in which the bitrate is not increased.
 */
#define STEP_INTERVAL (200 * MILLISECOND)
#define HOLD_TIME (600 * MILLISECOND)
/* CAREFUL_STEP and STEP are shares by which one step increases the bitrate.
 * CAREFUL_STEP applies if the bitrate is between CAREFUL_FROM and CAREFUL_TO,
 * which are relative to the estimate at which the path was last full. Otherwise
 * STEP applies. */
#define CAREFUL_STEP 0.03
#define STEP 0.15
#define CAREFUL_FROM 0.85
#define CAREFUL_TO 1.08
/* Maximum bitrate relative to an estimate that is only a lower bound. A static
 * picture needs few bits, so the estimate shows only a small part of the
 * capacity. The next scene may need more than this part. */
#define MAX_EXCESS 1.5
/* A queue that drains within this time is normal. It contains a key frame, or
 * some packets that are being paced. */
#define MAX_QUEUE (40 * MILLISECOND)
/* The standing queue is the minimum amount of data that waited at the sender
 * during this time. */
#define QUEUE_TIME (60 * MILLISECOND)
/* The bitrate is decreased so that a standing queue drains within DRAIN_TIME.
 * While the queue drains, the encoder gets at least the share MIN_SHARE of the
 * bitrate that it would get without the queue. */
#define DRAIN_TIME (200 * MILLISECOND)
#define MIN_SHARE 0.3

#define SAMPLES 32

typedef struct
{
  guint64 time;
  guint64 bytes;
} QueueSample;

typedef struct
{
  QueueSample samples[SAMPLES]; /* ring buffer */
  guint n_samples, next_sample;
  /* estimate when the path was last full; 0 = never */
  gdouble full_rate;
  guint64 step_at;              /* earliest time of the next increase */
} EstimateRule;

static void
add_sample (EstimateRule * self, const BitrateReport * report)
{
  QueueSample *sample = &self->samples[self->next_sample];

  sample->time = report->now;
  sample->bytes = report->queued_bytes;
  self->next_sample = (self->next_sample + 1) % SAMPLES;
  self->n_samples = MIN (self->n_samples + 1, SAMPLES);
}

/* Returns the time in ns that the standing queue needs to drain at the
 * estimated rate.
 */
static gdouble
get_queue_delay (EstimateRule * self, const BitrateReport * report)
{
  guint64 minimum = report->queued_bytes;
  guint i;

  if (report->queued_bytes == BITRATE_UNKNOWN)
    return 0;
  add_sample (self, report);
  for (i = 0; i < self->n_samples; i++)
    if (self->samples[i].time + QUEUE_TIME >= report->now)
      minimum = MIN (minimum, self->samples[i].bytes);
  return minimum * 8e9 / report->estimate;
}

static gdouble
get_ceiling (EstimateRule * self, const BitrateLimits * limits,
    const BitrateReport * report, gdouble bitrate)
{
  gdouble free_rate = (1 - limits->headroom) * report->estimate;
  gdouble queue = get_queue_delay (self, report);

  if (queue > MAX_QUEUE)
    return free_rate * MAX (1 - (queue - MAX_QUEUE) / DRAIN_TIME, MIN_SHARE);
  if (report->is_lower_bound)
    return MAX (bitrate, MAX_EXCESS * report->estimate);
  return free_rate;
}

static gdouble
get_step (const EstimateRule * self, gdouble bitrate)
{
  if (bitrate >= CAREFUL_FROM * self->full_rate
      && bitrate <= CAREFUL_TO * self->full_rate)
    return CAREFUL_STEP;
  return STEP;
}

static gdouble
feedback (gpointer rule, const BitrateLimits * limits,
    const BitrateReport * report, gdouble bitrate)
{
  EstimateRule *self = rule;
  gdouble ceiling;

  if (report->estimate == 0)
    return bitrate;
  ceiling = get_ceiling (self, limits, report, bitrate);
  if (ceiling <= bitrate) {
    if (ceiling < bitrate) {
      self->full_rate = report->estimate;
      self->step_at = report->now + HOLD_TIME;
    }
    return ceiling;
  }
  if (report->now < self->step_at)
    return bitrate;
  self->step_at = report->now + STEP_INTERVAL;
  return MIN (bitrate * (1 + get_step (self, bitrate)), ceiling);
}

const BitrateRule bitrate_estimate_rule = {
  "estimate", "The transport estimates what the network carries",
  sizeof (EstimateRule), NULL, feedback
};
