/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bitratekeyframes.h"

#include <string.h>

#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* INTERVAL is the minimum time from one request for a key frame to the next, if
 * the requested key frame was not lost. It is long because key frames are
 * large.
 *
 * RETRY_INTERVAL is the minimum time from one request to the next, if the
 * requested key frame was lost. Each further lost key frame doubles this
 * minimum, up to INTERVAL. The reason is that more key frames do not help if
 * all frames are late. */
#define INTERVAL (1000 * MILLISECOND)
#define RETRY_INTERVAL (200 * MILLISECOND)
/* Maximum time from the request for a key frame to the moment at which the
 * encoder's key frame reaches the sink. Until then, another request is useless.
 */
#define COMING_TIME (250 * MILLISECOND)
/* Minimum time from a request for a key frame until the receiver can report the
 * loss of this key frame. The encoder needs some time to make the key frame.
 * After that, the key frame and the report about it need a round trip. A loss
 * that is reported earlier is the loss of another frame. A loss that is
 * reported later may be the loss of the requested key frame. If the round-trip
 * time is known and longer than REPORT_TIME, the round-trip time is used
 * instead. */
#define REPORT_TIME (60 * MILLISECOND)
/* The estimated rate is stable if it has not fallen for STEADY_TIME. Only a
 * stable rate is used to predict whether the data at the sender will be late. A
 * fall counts only if the new estimate is less than STEADY_SHARE of the
 * previous estimate. */
#define STEADY_TIME (60 * MILLISECOND)
#define STEADY_SHARE 0.95
/* Safety margin in ns. A frame must arrive before its display time, which is
 * the capture time plus the latency. A frame already counts as late if it is
 * expected to arrive less than MARGIN before its display time. */
#define MARGIN (40 * MILLISECOND)
/* Assumed size of a key frame: the amount of data that the encoder produces in
 * KEY_FRAME_TIME ns at its bitrate. */
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

/* Returns the time in ns that it takes to send `bytes` bytes at the estimated
 * rate. */
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
  self->round_trip = report->round_trip == BITRATE_UNKNOWN ? 0
      : report->round_trip;
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
bitrate_key_frames_note_loss (BitrateKeyFrames * self, BitrateLoss loss)
{
  self->is_wanted = TRUE;
  self->is_key_frame_lost |= loss == BITRATE_LOSS_KEY_FRAME;
  self->is_network_loss |= loss == BITRATE_LOSS_NETWORK;
}

/* A frame was lost, and a key frame was already requested. Returns whether this
 * key frame will follow the lost frame in the stream, and so repairs the loss.
 * If it does, no other request is necessary. */
static gboolean
helps_request (const BitrateKeyFrames * self, guint64 now)
{
  if (self->is_key_frame_lost)
    return FALSE;
  if (self->is_network_loss)
    return now < self->asked_at + MAX (REPORT_TIME, self->round_trip);
  return bitrate_key_frames_is_coming (self, now);
}

gboolean
bitrate_key_frames_poll (BitrateKeyFrames * self, guint64 now)
{
  guint64 interval = self->is_key_frame_lost ? self->retry_interval : INTERVAL;

  if (!self->is_wanted)
    return FALSE;
  if (self->asked_at > 0 && now < self->asked_at + interval) {
    if (helps_request (self, now))
      self->is_wanted = self->is_network_loss = FALSE;
    return FALSE;
  }
  if (self->is_key_frame_lost && now < self->asked_at + INTERVAL)
    self->retry_interval = MIN (2 * self->retry_interval, INTERVAL);
  else if (!self->is_key_frame_lost)
    self->retry_interval = RETRY_INTERVAL;
  self->asked_at = now;
  self->is_wanted = self->is_key_frame_lost = self->is_network_loss = FALSE;
  self->requested++;
  return TRUE;
}

gboolean
bitrate_key_frames_is_coming (const BitrateKeyFrames * self, guint64 now)
{
  return self->asked_at > 0 && now < self->asked_at + COMING_TIME;
}
