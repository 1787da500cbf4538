/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtppadding.h: sends padding on each path for a short time
 * now and then. Such a time is called an episode.
 *
 * If the comment on a constant in this file names no source, its value was
 * chosen with the test tests/check/libs/bitratesteps.c. */

#include "mmtppadding.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND (SECOND / 1000)

/* Minimum pause in ns between two episodes of padding on a path. For
 * comparison, libwebrtc probes an application-limited path every 5 s
 * (ProbeController). */
#define REST (2 * SECOND)
#define MAX_EPISODE (2 * SECOND)
/* Minimum duration in ns of a round of padding. The rate of the path is
 * measured in each round, and a measurement takes 50 ms. */
#define MIN_ROUND (100 * MILLISECOND)
/* Padding is sent in rounds. If the measured rate of the path grows by less
 * than this factor in a round, the path counts as full, and the padding ends.
 */
#define GROWTH 1.1
/* A path counts as full if its minimum queueing delay, according to the
 * reports, is longer than MAX_QUEUE (ns) plus the jitter of the path. */
#define MAX_QUEUE (15 * MILLISECOND)
/* Padding is sent in short episodes with pauses between them. The maximum rate
 * limits only the mean rate of the padding, which is computed over an episode
 * together with the preceding pause. During an episode, the rate of the padding
 * may be several times the maximum rate.
 *
 * A token bucket limits the padding. It fills during the pauses, and holds at
 * most the bits that the maximum rate allows in ALLOWANCE_TIME. */
#define ALLOWANCE_TIME SECOND

void
mmtp_padding_init (MmtpPadding * self, const MmtpPaths * paths,
    const MmtpSendQueue * queue, const MmtpPolicy * policy, guint64 max_rate)
{
  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->queue = queue;
  self->policy = policy;
  self->max_rate = max_rate;
}

void
mmtp_padding_set_max_rate (MmtpPadding * self, guint64 max_rate)
{
  guint i;

  self->max_rate = max_rate;
  for (i = 0; max_rate == 0 && i < MMTP_MAX_PATHS; i++)
    self->all[i].is_active = FALSE;
}

/* --- the bound ------------------------------------------------------------ */

static guint64
get_bits (const MmtpPath * path, gsize size)
{
  return 8 * (guint64) (size + path->overhead);
}

/* Increases `allowance`, the number of bits that may be sent as padding, by the
 * number of bits that the maximum rate allows for the time since the last call.
 */
static void
fill_allowance (MmtpPadding * self)
{
  const guint64 now = self->paths->now;
  const guint64 passed = MIN (now - self->allowance_time, ALLOWANCE_TIME);

  self->allowance = MIN (self->max_rate, self->allowance +
      passed * self->max_rate / SECOND);
  self->allowance_time = now;
}

/* --- episodes ------------------------------------------------------------- */

/* Returns whether padding may be sent on the path. A path whose rate is
 * configured needs no padding. Padding is also useless on a path that carries
 * no packets of the stream, because nobody uses the estimate of its rate. */
static gboolean
may_pad (const MmtpPadding * self, const MmtpPath * path)
{
  return self->paths->is_ready && mmtp_path_may_carry ((MmtpPath *) path) &&
      path->configured_rate == 0 && path->limits.delivery_rate > 0 &&
      !path->is_stalled && mmtp_fading_get (&path->data_bytes,
      self->paths->now, MMTP_SHARE_PERIOD) >= path->max_size;
}

static guint64
get_round (const MmtpPath * path)
{
  return MAX (MIN_ROUND, path->stats.round_trip + path->report_interval);
}

static void
begin_round (const MmtpPadding * self, MmtpPaddingPath * padding,
    const MmtpPath * path)
{
  padding->round_end = self->paths->now + get_round (path);
  padding->round_rate = path->limits.delivery_rate;
}

static void
begin_episode (MmtpPadding * self, MmtpPaddingPath * padding,
    const MmtpPath * path)
{
  padding->is_active = TRUE;
  padding->begin = padding->next_send = self->paths->now;
  begin_round (self, padding, path);
  /* An episode of padding consists of rounds. The first round lasts longer than
   * the later rounds, by a round trip and a report interval. The reports that
   * arrive in this additional time do not cover any padding yet, because the
   * padding has just begun. */
  padding->round_end += path->stats.round_trip + path->report_interval;
}

static gboolean
has_queue (const MmtpPath * path)
{
  const gint64 queue = path->delays.min -
      mmtp_path_delay_get_base (&path->delays);

  return path->delays.is_known &&
      queue > (gint64) MAX_QUEUE + MAX (path->delays.jitter, 0);
}

static gboolean
is_over (const MmtpPadding * self, const MmtpPaddingPath * padding,
    const MmtpPath * path)
{
  const guint64 now = self->paths->now;

  return !may_pad (self, path) || has_queue (path) ||
      now >= padding->begin + MAX_EPISODE ||
      self->allowance < get_bits (path, path->max_size) ||
      (now >= padding->round_end &&
      path->limits.delivery_rate < GROWTH * padding->round_rate);
}

/* Begins or ends an episode. */
static void
follow (MmtpPadding * self, MmtpPaddingPath * padding, const MmtpPath * path)
{
  const guint64 now = self->paths->now;

  if (!padding->is_active) {
    if (now >= padding->next_begin && path->limits.is_app_limited &&
        may_pad (self, path) && !has_queue (path) &&
        2 * self->allowance >= self->max_rate)
      begin_episode (self, padding, path);
  } else if (is_over (self, padding, path)) {
    padding->is_active = FALSE;
    padding->next_begin = now + REST;
  } else if (now >= padding->round_end) {
    begin_round (self, padding, path);
  }
}

/* --- output --------------------------------------------------------------- */

MmtpPath *
mmtp_padding_poll (MmtpPadding * self)
{
  guint i;

  if (self->max_rate == 0)
    return NULL;
  fill_allowance (self);
  for (i = 0; i < self->paths->n; i++) {
    MmtpPath *path = self->paths->all[i];
    MmtpPaddingPath *padding = &self->all[path->id];

    follow (self, padding, path);
    if (padding->is_active && self->paths->now >= padding->next_send &&
        self->paths->now >= path->token &&
        mmtp_send_queue_is_empty (self->queue) &&
        mmtp_policy_has_room (self->policy, path))
      return path;
  }
  return NULL;
}

/* Called after a padding message was sent, to set the sending time of the next
 * one. The rate of the padding is the estimated rate of the path. The stream is
 * sent in addition, at up to the same rate. Together, they can have up to twice
 * the estimated rate, so each measurement can double the estimate. */
void
mmtp_padding_note_sent (MmtpPadding * self, const MmtpPath * path, gsize size)
{
  MmtpPaddingPath *padding = &self->all[path->id];
  const guint64 bits = get_bits (path, size);

  self->messages++;
  self->bytes += size + path->overhead;
  self->allowance -= MIN (self->allowance, bits);
  padding->next_send = self->paths->now +
      bits * SECOND / MAX (path->limits.delivery_rate, 1);
}

gboolean
mmtp_padding_is_active (const MmtpPadding * self, const MmtpPath * path)
{
  return self->all[path->id].is_active;
}

/* Returns the time at which the sender has to wake up to send the next padding
 * message. Returns MMTP_NEVER if no episode of padding is active. No wakeup is
 * needed to begin an episode, because reports and frames wake the sender often.
 */
guint64
mmtp_padding_next_wakeup (const MmtpPadding * self)
{
  guint64 wakeup = MMTP_NEVER;
  guint i;

  for (i = 0; self->max_rate > 0 && i < self->paths->n; i++) {
    const MmtpPath *path = self->paths->all[i];
    const MmtpPaddingPath *padding = &self->all[path->id];

    if (padding->is_active && mmtp_send_queue_is_empty (self->queue) &&
        mmtp_policy_has_room (self->policy, path))
      wakeup = MIN (wakeup, MAX (padding->next_send, path->token));
  }
  return wakeup == MMTP_NEVER ? wakeup : MAX (wakeup, self->paths->now);
}
