/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows the estimate of a transport that measures what the path carries.
 *
 * Down at once: the rate is never above the estimate less the headroom. While
 * data waits at the sender the rate is lower still, so that they drain.
 *
 * Up with care: the rate grows by a small part at each step. An estimate that is
 * only a lower bound never lowers the rate. It does not stop the growth either,
 * because the path can only show that it carries more when more is sent. Near the
 * rate at which the path was last found to be full the steps are small; beyond it
 * they grow, as CUBIC's do around its last maximum (RFC 9438, section 4.2).
 *
 * The constants were chosen by the simulation of tests/check/libs/bitratesteps.c.
 */

#include "bitraterule.h"

#define MILLISECOND 1e6

/* Between two steps up, and after the rate fell */
#define STEP_INTERVAL (200 * MILLISECOND)
#define HOLD_TIME (600 * MILLISECOND)
/* The part by which a step raises the rate: near the last maximum, and beyond */
#define CAREFUL_STEP 0.03
#define STEP 0.15
#define CAREFUL_FROM 0.85
#define CAREFUL_TO 1.08
/* A lower bound is exceeded by no more than this: a static picture needs little,
 * and says little of the path to which the next scene would be sent. */
#define MAX_EXCESS 1.5
/* Data that wait for less than this is a key frame, or a few packets that the
 * pacing holds back. */
#define MAX_QUEUE (40 * MILLISECOND)
/* What waits at the sender is what no report of this time was spared. */
#define QUEUE_TIME (60 * MILLISECOND)
/* It is to drain within this time, and the encoder keeps at least this part. */
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
  QueueSample samples[SAMPLES]; /* a ring */
  guint n_samples, next_sample;
  gdouble full_rate;            /* estimate when the path was last full; 0: never */
  guint64 step_at;              /* time of the next step up */
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

/* ns that the standing queue takes at the estimated rate */
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
