/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rate control of a path with a configured rate: the token bucket of Magalhães
 * and Kravets (2001, section 4.4). Tokens are generated at slightly less than
 * the configured rate, so that a queue does not grow. The number of bytes in
 * flight is limited to the configured rate times the maximum time until a
 * message is acknowledged. A queue therefore stays bounded even if the
 * configured rate is too high.
 *
 * If a standing queue forms nevertheless, the pacing rate is reduced until the
 * queue has drained. */

#include "mmtpratecontrol.h"

#define SECOND 1e9
#define MILLISECOND 1e6
/* With a configured rate, the pacing rate of the stream is this fraction of the
 * configured rate. The remaining 3 % are left to control messages: KEEPALIVEs
 * may use 1 % of the configured rate, and REPORTs may use 2 % (see
 * mmtpcontrol.c). REPORTs travel in the opposite direction, from the receiver
 * to the sender. They are counted because on a half-duplex medium both
 * directions share the rate. */
#define KNOWN_SHARE 0.97
/* A queue counts as a standing queue if it delays every packet by more than
 * STANDING (ns). On the fluctuating links of the MMTP paper, the delay rises
 * even without a queue, but by less than STANDING.
 *
 * The sender paces the stream at 97 % of the configured rate (KNOWN_SHARE). The
 * other 3 % are left for KEEPALIVEs and REPORTs. On a half-duplex medium, these
 * messages may need more than 3 %, for example because of gaps between the two
 * directions. A queue would then form and grow without limit. While there is a
 * standing queue, the sender therefore paces only at DRAIN_SHARE of the
 * configured rate. It does so until the queue delays a packet by less than half
 * of STANDING. */
#define STANDING (200 * MILLISECOND)
#define DRAIN_SHARE 0.85
/* While a standing queue drains, the sender paces at a reduced rate. A
 * reduction lasts at most DRAIN_TIME (ns). The next reduction may begin
 * DRAIN_TIME + DRAIN_PAUSE (ns) after the beginning of this one, and not
 * earlier. These limits are needed because the delay may have grown for another
 * reason than a queue. Such a delay does not decrease at a reduced rate.
 * Without the limits, the sender would keep the reduced rate forever. */
#define DRAIN_TIME (5 * SECOND)
#define DRAIN_PAUSE (10 * SECOND)
/* A standing queue is a queue that does not empty. Its delay is measured as the
 * minimum queueing delay in two periods of QUEUE_PERIOD (ns): the present and
 * the previous period. Without a standing queue, the delay of a path may rise
 * for a moment, but it falls again within a period. */
#define QUEUE_PERIOD (1000 * MILLISECOND)
/* The delay of a path varies even without a queue. This variation is called the
 * spread of the delay. TARGET is the queueing delay (ns) that the congestion
 * window permits in addition to the spread. */
#define TARGET (100 * MILLISECOND)
/* The spread of the delay is how much the delay varies without a queue. With
 * each report, the stored spread decreases by this fraction of its value, so
 * that old variations are forgotten. */
#define SPREAD_DECAY (1.0 / 256)

typedef struct
{
  gdouble rate;                 /* in bytes per ns */
  gdouble round_trip, period;   /* in ns */
  gdouble spread;               /* in ns */
  guint packet;
  /* `queue` and `previous_queue` are the minimum queueing delays in ns of the
   * present and of the previous period of QUEUE_PERIOD. `queue_begin` is the
   * time in ns at which the present period began. */
  gdouble queue, previous_queue;
  guint64 queue_begin;
  gboolean is_draining;         /* The pacing rate is reduced. */
  /* time in ns at which the pacing rate was last reduced so that a queue
   * drains; 0 if never */
  gdouble drain_begin;
} Token;

/* Determines whether the path has a queue that has to be drained. The measured
 * queueing delay includes the time that the path needs to transmit a packet.
 * This time is subtracted, because it is not due to a queue. */
static void
follow_queue (Token * self, const MmtpRateSample * sample)
{
  gdouble queue = sample->queue_delay - self->packet / self->rate;
  gdouble min;

  if (sample->now - self->queue_begin >= QUEUE_PERIOD) {
    self->previous_queue = self->queue;
    self->queue = queue;
    self->queue_begin = sample->now;
  }
  self->queue = MIN (self->queue, queue);
  min = MIN (self->queue, self->previous_queue);
  if (self->is_draining) {
    self->is_draining = min >= STANDING / 2
        && sample->now < self->drain_begin + DRAIN_TIME;
  } else if (min > STANDING && (self->drain_begin == 0
          || sample->now >= self->drain_begin + DRAIN_TIME + DRAIN_PAUSE)) {
    self->is_draining = TRUE;
    self->drain_begin = sample->now;
  }
}

static void
feedback (gpointer control, const MmtpRateSample * sample)
{
  Token *self = control;

  if (sample->base_round_trip)
    self->round_trip = sample->base_round_trip;
  self->period = sample->report_period;
  if (sample->acked == 0)
    return;
  self->spread -= self->spread * SPREAD_DECAY;
  self->spread = MAX (self->spread, sample->high_queue_delay -
      sample->queue_delay);
  follow_queue (self, sample);
}

static void
get_limits (gconstpointer control, MmtpRateLimits * limits)
{
  const Token *self = control;
  gdouble time = self->round_trip + self->period + 2 * self->spread + TARGET;

  limits->window = self->rate * time + 2 * self->packet;
  limits->pacing_rate = self->rate * 8 * SECOND *
      (self->is_draining ? DRAIN_SHARE : KNOWN_SHARE);
  limits->delivery_rate = limits->peak_rate = limits->pacing_rate;
}

static void
init (gpointer control, guint64 now, const MmtpRateControlStart * start)
{
  Token *self = control;

  self->packet = start->packet;
  self->rate = start->rate / 8 / SECOND;
  self->round_trip = start->round_trip;
  self->period = 50 * MILLISECOND;
}

const MmtpRateControlClass mmtp_token_control = {
  "token", sizeof (Token), init, NULL, feedback, get_limits
};
