/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rate control of a path with a configured rate: the token bucket of Magalhães
 * and Kravets (2001, section 4.4). Tokens are generated at slightly less than
 * the configured rate, so that a queue does not grow. The number of bytes in
 * flight is limited to the configured rate times the maximum time until a
 * message is acknowledged. A queue therefore stays bounded even if the
 * configured rate is too high. */

#include "mmtpratecontrol.h"

#define SECOND 1e9
#define MILLISECOND 1e6
/* Pacing rate divided by the configured rate. KEEPALIVEs may use 1 % of the
 * configured rate, and REPORTs may use 2 % (see mmtpcontrol.c). The receiver
 * sends the REPORTs, but on a half-duplex medium both directions share the
 * configured rate. Therefore both percentages are subtracted. */
#define KNOWN_SHARE 0.97
/* The delay of a path varies even without a queue. This variation is called the
 * spread of the delay. In addition to the spread, a queue may delay the packets
 * by up to TARGET (ns). */
#define TARGET (100 * MILLISECOND)
/* With each report, the spread of the delay decreases by this fraction of its
 * value. */
#define SPREAD_DECAY (1.0 / 256)

typedef struct
{
  gdouble rate;                 /* in bytes per ns */
  gdouble round_trip, period;   /* in ns */
  gdouble spread;               /* in ns */
  guint packet;
} Token;

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
}

static void
get_limits (gconstpointer control, MmtpRateLimits * limits)
{
  const Token *self = control;
  gdouble time = self->round_trip + self->period + 2 * self->spread + TARGET;

  limits->window = self->rate * time + 2 * self->packet;
  limits->pacing_rate = self->rate * KNOWN_SHARE * 8 * SECOND;
  limits->delivery_rate = limits->peak_rate = limits->pacing_rate;
}

static void
init (gpointer control, guint64 now, guint packet, guint64 round_trip,
    guint64 rate, gboolean is_minimum)
{
  Token *self = control;

  self->packet = packet;
  self->rate = rate / 8 / SECOND;
  self->round_trip = round_trip;
  self->period = 50 * MILLISECOND;
}

const MmtpRateControlClass mmtp_token_control = {
  "token", sizeof (Token), init, NULL, feedback, get_limits
};
