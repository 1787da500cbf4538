/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bitratebacklog.h"

#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* The bytes in flight include headers, which the bytes of the encoder do not
 * include. This is the share of the encoder's bytes in full packets: about 1260
 * of 1300 bytes. */
#define PAYLOAD_SHARE 0.97
/* A frame is put at once and then drains, so the age varies during a frame
 * period. The minimum of the last AGE_TIME shows what remains of the backlog
 * before the next frame. It is longer than a frame period at 25 frames per
 * second. */
#define AGE_TIME (60 * MILLISECOND)
#define RATE_TIME (200 * MILLISECOND)
/* The normal age consists of the round trip and of the time between two reports
 * of the receiver. Its minimum of the last MIN_PERIOD to 2 * MIN_PERIOD is
 * used. */
#define MIN_PERIOD (5000 * MILLISECOND)

/* Returns the sample that was added `i` samples before the latest one. */
static const BitrateBacklogSample *
get_sample (const BitrateBacklog * backlog, guint64 i)
{
  return &backlog->samples[(backlog->n_samples - 1 - i)
      % BITRATE_BACKLOG_SAMPLES];
}

static guint64
get_n_samples (const BitrateBacklog * backlog)
{
  return MIN (backlog->n_samples, BITRATE_BACKLOG_SAMPLES);
}

/* Returns the time since the byte after the first `drained` bytes was put. At
 * most, returns the time since the oldest sample. */
static guint64
get_age (const BitrateBacklog * backlog, guint64 now, guint64 drained)
{
  guint64 i, oldest = now;

  for (i = 0; i < get_n_samples (backlog); i++) {
    if (get_sample (backlog, i)->put <= drained)
      break;
    oldest = get_sample (backlog, i)->time;
  }
  return now - oldest;
}

static void
note_min (BitrateBacklog * backlog, guint64 now, guint64 age)
{
  if (now >= backlog->period_end) {
    backlog->previous_min = backlog->period_end > 0 ? backlog->present_min
        : age;
    backlog->present_min = age;
    backlog->period_end = now + MIN_PERIOD;
  }
  backlog->present_min = MIN (backlog->present_min, age);
}

/* The age is comparable only after a report of the receiver. An empty backlog
 * has no age, and before the first report the age is that of the stream. */
static gboolean
has_just_drained (const BitrateBacklog * backlog)
{
  return backlog->n_samples > 1
      && get_sample (backlog, 0)->drained > get_sample (backlog, 1)->drained;
}

void
bitrate_backlog_input (BitrateBacklog * backlog, const BitrateReport * report)
{
  BitrateBacklogSample *sample;
  guint64 waiting;

  if (report->put_bytes == BITRATE_UNKNOWN
      || report->queued_bytes == BITRATE_UNKNOWN
      || report->in_flight == BITRATE_UNKNOWN)
    return;
  waiting = report->queued_bytes + PAYLOAD_SHARE * report->in_flight;
  sample = &backlog->samples[backlog->n_samples % BITRATE_BACKLOG_SAMPLES];
  sample->time = report->now;
  sample->put = report->put_bytes;
  sample->drained = report->put_bytes - MIN (report->put_bytes, waiting);
  backlog->n_samples++;
  sample->age = get_age (backlog, report->now, sample->drained);
  if (has_just_drained (backlog) && waiting > 0)
    note_min (backlog, report->now, sample->age);
}

gboolean
bitrate_backlog_is_known (const BitrateBacklog * backlog)
{
  return backlog->n_samples > 0;
}

guint64
bitrate_backlog_get_excess (const BitrateBacklog * backlog)
{
  const BitrateBacklogSample *latest = get_sample (backlog, 0), *sample;
  guint64 i, age = latest->age;

  if (backlog->period_end == 0)
    return 0;
  for (i = 1; i < get_n_samples (backlog); i++) {
    sample = get_sample (backlog, i);
    if (sample->time + AGE_TIME < latest->time)
      break;
    age = MIN (age, sample->age);
  }
  return age - MIN (age, MIN (backlog->present_min, backlog->previous_min));
}

gdouble
bitrate_backlog_get_drain_rate (const BitrateBacklog * backlog)
{
  const BitrateBacklogSample *latest = get_sample (backlog, 0);
  const BitrateBacklogSample *sample = latest;
  guint64 i;

  for (i = 1; i < get_n_samples (backlog); i++) {
    sample = get_sample (backlog, i);
    if (sample->time + RATE_TIME <= latest->time)
      break;
  }
  if (sample->time == latest->time || latest->drained <= sample->drained)
    return 0;
  return (latest->drained - sample->drained) * 8e9
      / (latest->time - sample->time);
}
