/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bitratekeyframes.h"

#include <string.h>

#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* Between two requests: key frames are large. One that was lost itself is asked for
 * again sooner, but each time it takes twice as long: where all frames are late,
 * key frames are no help. */
#define INTERVAL (1000 * MILLISECOND)
#define RETRY_INTERVAL (200 * MILLISECOND)
/* From a request until the key frame has reached the sender */
#define COMING_TIME (250 * MILLISECOND)
/* An estimate that has not fallen for so long has found its new value. */
#define STEADY_TIME (60 * MILLISECOND)
#define STEADY_SHARE 0.95
/* What arrives so much before the latency is over, is in time. */
#define MARGIN (40 * MILLISECOND)
/* A key frame takes as long as some frames do: ns at the rate of the encoder */
#define KEY_FRAME_TIME (200 * MILLISECOND)

void
bitrate_key_frames_init (BitrateKeyFrames * self)
{
  memset (self, 0, sizeof (*self));
  self->retry_interval = RETRY_INTERVAL;
}

static void
follow_estimate (BitrateKeyFrames * self, const BitrateReport * report)
{
  if (report->estimate < STEADY_SHARE * self->estimate)
    self->fell_at = report->now;
  self->estimate = report->estimate;
}

/* ns that so many bytes take */
static gdouble
get_time (const BitrateReport * report, gdouble bytes)
{
  return bytes * 8e9 / report->estimate;
}

void
bitrate_key_frames_input (BitrateKeyFrames * self,
    const BitrateReport * report, guint64 latency, guint64 bitrate)
{
  gdouble limit = (gdouble) latency - MARGIN, key_frame, in_flight;

  follow_estimate (self, report);
  if (report->estimate == 0 || report->is_lower_bound || latency <= MARGIN
      || report->queued_bytes == BITRATE_UNKNOWN
      || report->in_flight == BITRATE_UNKNOWN
      || report->now < self->fell_at + STEADY_TIME)
    return;
  in_flight = get_time (report, report->in_flight);
  key_frame = KEY_FRAME_TIME * (gdouble) bitrate / report->estimate;
  if (in_flight + get_time (report, report->queued_bytes) > limit
      && in_flight + key_frame < limit)
    self->is_wanted = TRUE;
}

void
bitrate_key_frames_note_loss (BitrateKeyFrames * self, gboolean is_key_frame)
{
  self->is_wanted = TRUE;
  self->is_key_frame_lost |= is_key_frame;
}

gboolean
bitrate_key_frames_poll (BitrateKeyFrames * self, guint64 now)
{
  guint64 interval = self->is_key_frame_lost ? self->retry_interval : INTERVAL;

  if (!self->is_wanted)
    return FALSE;
  if (self->asked_at > 0 && now < self->asked_at + interval) {
    /* The key frame that comes is behind the loss. */
    if (bitrate_key_frames_is_coming (self, now) && !self->is_key_frame_lost)
      self->is_wanted = FALSE;
    return FALSE;
  }
  if (self->is_key_frame_lost && now < self->asked_at + INTERVAL)
    self->retry_interval = MIN (2 * self->retry_interval, INTERVAL);
  else if (!self->is_key_frame_lost)
    self->retry_interval = RETRY_INTERVAL;
  self->asked_at = now;
  self->is_wanted = self->is_key_frame_lost = FALSE;
  self->requested++;
  return TRUE;
}

gboolean
bitrate_key_frames_is_coming (const BitrateKeyFrames * self, guint64 now)
{
  return self->asked_at > 0 && now < self->asked_at + COMING_TIME;
}
