/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Congestion control by delivery rate. What may be in flight is what the path
 * delivers in a round trip, until the report of it comes, and in the time for
 * which a queue may stand:
 *
 *   window = delivery rate *
 *       (round trip + half of the report period + queue target)
 *       + the bursts in which the path delivers
 *
 * and at least what the path delivers in the round trip and a whole report
 * period, so that it is not idle until the report comes.
 *
 * The delivery rate is a windowed maximum as BBR has it (draft-ietf-ccwg-bbr),
 * and it falls only while there is evidence of a queue. The target shrinks with
 * the square root of the rate, as Swift's does (Kumar et al., SIGCOMM 2020,
 * section 3.5), so that flows that share a queue converge to equal rates. Rates
 * and bursts are measured by mmtpdeliveryrate.h. What overflowing queues lose
 * bounds the window as it bounds CUBIC's (RFC 9438; mmtplossbound.h).
 *
 * Constants without another source were chosen by the arena
 * (tests/benchmarks/mmtparena.c).
 */

#include "mmtpdeliveryrate.h"
#include "mmtplossbound.h"

#include <math.h>

#define SECOND 1e9
#define MILLISECOND 1e6

/* --- delivery rate
 * Samples that are remembered; reports come each 50 ms, and may come each
 * 5 ms. */
#define SAMPLES 64
/* A rate is measured over at least this: schedulers of mobile networks and
 * aggregation deliver batches each few ms. */
#define SPAN (50 * MILLISECOND)
/* The maximum of so long is the rate; BBR takes two cycles of some round trips
 * each. */
#define FILTER (300 * MILLISECOND)
#define FILTER_ROUND_TRIPS 2
/* What the application is told is the mean of so long. */
#define MEAN_SPAN (250 * MILLISECOND)
/* Less than this part of the window in flight says nothing of the path. */
#define USED_PART 3
/* What the path could do is forgotten by 1/e in this time: longer than the gaps
 * of mobile networks, shorter than most changes of capacity last. */
#define PEAK_MEMORY (3 * SECOND)
/* After a gap the path is believed to carry so much of that. */
#define PEAK_SHARE 0.25

/* --- queue
 * Target of a path of 4 Mbit/s, its bounds, and its part of D0 at most */
#define TARGET (80 * MILLISECOND)
#define TARGET_RATE 4e6
#define MIN_TARGET (10 * MILLISECOND)
#define MAX_TARGET (150 * MILLISECOND)
#define DEADLINE_PART 8
/* A queue is what no message of so long was spared, which is three reports:
 * jitter lets some messages through at once. Copa's standing round trip is the
 * same (NSDI 2018, section 2.1). */
#define STANDING_TIME (150 * MILLISECOND)
/* A path that is not known to be congested is trusted with so much of its rate
 * during a gap, and on a path of more than TARGET_RATE with less, as the target
 * shrinks; the trust falls with this power of the share of the reports
 * that told of a queue, of the last sixteen or so. */
#define TRUST (250 * MILLISECOND)
#define DISTRUST 3
#define CONGESTION_REPORTS 16
/* What the delay is above its base while the path is not busy follows in about
 * so many reports: what has been low was no queue. */
#define USUAL_RISE 128
#define USUAL_FALL 8
/* ... and is no more than this part of D0. */
#define USUAL_PART 3
/* Where the window is used up and no queue stands for a round, the path carries
 * more than was seen; by so much at once, and in all. */
#define GAIN_STEP 1.1
#define MAX_GAIN 3
#define GAIN_ROUND SECOND
#define GAIN_ROUND_TRIPS 2

/* --- start
 * A first guess of the rate that is confirmed up to this factor ends the
 * start. */
#define GUESS_RATIO 1.3
/* So do rounds in a row in which the rate grew by less (draft-ietf-ccwg-bbr,
 * section 4.3.1.2, which takes three of them). */
#define START_GROWTH 1.25
#define START_ROUNDS 2
/* The delay ends it only when so much was in flight: what single messages of
 * control had to wait was no queue of ours. */
#define START_PACKETS 3

/* --- competition
 * A queue of so many times our own for so long is somebody else's. */
#define STANDING 1.25
/* A path that delivers less than this part of what it did has no queue of its
 * own beyond its target. */
#define SMALL_SHARE 0.4
#define COMPETITION_TIME (2 * SECOND)
#define COMPETITION_ROUND_TRIPS 10

/* A window is at least so many packets. */
#define MIN_PACKETS 2
/* After a gap the link is caught up with quickly: BBR's gain of the start */
#define PACING_GAIN 2

typedef struct
{
  gdouble time, value;          /* ns; bytes per ns, or ns */
} Sample;

typedef struct
{
  Sample samples[SAMPLES];      /* a ring */
  guint n, next;
} Filter;

typedef struct
{
  guint packet;
  MmtpDeliveryRate delivery;
  Filter rates, queues;
  gdouble rate;                 /* bytes per ns; 0: unknown */
  gdouble peak_rate, peak_time; /* forgotten slowly; ns */
  gdouble mean_rate;            /* of a longer span, for the application */
  gdouble base_round_trip, period, noise, deadline;     /* ns */
  gboolean is_starting;         /* slow start */
  gdouble start_window;         /* bytes */
  gdouble guess;                /* bytes per ns; 0: none */
  gdouble start_rate, start_round;      /* bytes per ns, ns: of the last round */
  guint flat_rounds;            /* of the start, in a row, without growth */
  gdouble congestion;           /* 0 to 1: part of late reports with a queue */
  gdouble usual_queue;          /* ns, of late, while the path was not busy */
  gdouble usual_round_trip;     /* ns, likewise */
  gdouble gain;                 /* of the window, 1 and more */
  gdouble queue;                /* ns, minimum of STANDING_TIME */
  gdouble min_queue;            /* ns, minimum of this round */
  gdouble round_began;
  gdouble standing_since;       /* ns, since when a queue stands */
  gboolean is_competing;
  MmtpLossBound bound;
  gboolean is_app_limited;
  gboolean is_used;             /* much of the window is in flight */
} Delivery;

static void
init (gpointer control, guint64 now, guint packet, guint64 round_trip,
    guint64 rate)
{
  Delivery *self = control;

  self->packet = packet;
  self->is_starting = self->is_app_limited = TRUE;
  self->start_window = mmtp_rate_control_get_initial_window (packet,
      round_trip, rate);
  self->guess = self->peak_rate = rate / 8 / SECOND;
  self->peak_time = now;
  self->gain = 1;
  self->min_queue = G_MAXDOUBLE;
  self->standing_since = self->round_began = now;
  mmtp_loss_bound_init (&self->bound, packet);
  self->base_round_trip = round_trip;
  self->period = SPAN;
  self->deadline = SECOND;
}

/* --- filters over a time -------------------------------------------------- */

static void
filter_add (Filter * filter, gdouble now, gdouble value)
{
  filter->samples[filter->next].time = now;
  filter->samples[filter->next].value = value;
  filter->next = (filter->next + 1) % SAMPLES;
  filter->n = MIN (filter->n + 1, SAMPLES);
}

/* Of the samples that are not older than `since`; at least one is not. */
static gdouble
filter_get_max (const Filter * filter, gdouble since)
{
  gdouble max = -G_MAXDOUBLE;
  guint i;

  for (i = 0; i < filter->n; i++)
    if (filter->samples[i].time >= since)
      max = MAX (max, filter->samples[i].value);
  return max;
}

static gdouble
filter_get_min (const Filter * filter, gdouble since)
{
  gdouble min = G_MAXDOUBLE;
  guint i;

  for (i = 0; i < filter->n; i++)
    if (filter->samples[i].time >= since)
      min = MIN (min, filter->samples[i].value);
  return min;
}

/* --- window, delivery rate ------------------------------------------------ */

static gdouble
get_target (const Delivery * self)
{
  gdouble bits = self->rate * 8 * SECOND;
  gdouble max = MIN (MAX_TARGET, self->deadline / DEADLINE_PART);

  if (bits <= 0)
    return TARGET;
  return MAX (MIN (TARGET * sqrt (TARGET_RATE / bits), max), MIN_TARGET);
}

static gdouble
get_window (const Delivery * self)
{
  gdouble rate = MAX (self->rate, PEAK_SHARE * self->peak_rate);
  gdouble round_trip = MAX (self->base_round_trip, self->usual_round_trip);
  gdouble wait = MAX (self->period, self->period / 2 + get_target (self));
  gdouble window = self->gain * rate * (round_trip + wait) +
      mmtp_delivery_rate_get_extra (&self->delivery) +
      MIN_PACKETS * self->packet;

  if (self->is_starting)
    window = MAX (window, self->start_window);
  return window;
}

/* What is more than this above the base delay is a queue. */
static gdouble
get_guard (const Delivery * self)
{
  return get_target (self) / 2 + self->usual_queue;
}

static void
note_peak (Delivery * self, gdouble now)
{
  self->peak_rate *= exp ((self->peak_time - now) / PEAK_MEMORY);
  self->peak_rate = MAX (self->peak_rate, self->rate);
  self->peak_time = now;
}

/* It falls only where there is a queue, and much of the window is in flight:
 * while little is, the application delivers little, whoever it is whose queue
 * there is. */
static void
follow_rate (Delivery * self, const MmtpRateSample * sample)
{
  gdouble span = MAX (SPAN, self->base_round_trip);
  gdouble filter = MAX (FILTER, FILTER_ROUND_TRIPS * self->base_round_trip);
  gdouble rate;

  mmtp_delivery_rate_add (&self->delivery, sample, self->packet);
  rate = mmtp_delivery_rate_get (&self->delivery, span);
  if (rate <= 0)
    return;
  self->is_used = USED_PART * sample->sent_in_flight >= get_window (self);
  if (sample->queue_delay <= get_guard (self) + self->noise || !self->is_used)
    rate = MAX (rate, self->rate);
  filter_add (&self->rates, sample->now, rate);
  self->rate = filter_get_max (&self->rates, sample->now - filter);
  note_peak (self, sample->now);
  rate = mmtp_delivery_rate_get (&self->delivery, MAX (MEAN_SPAN, span));
  self->mean_rate = rate > 0 ? rate : self->rate;
}

/* --- competition ---------------------------------------------------------- */

/* What the window leaves standing in a queue of which nobody else is a part */
static gdouble
get_own_queue (const Delivery * self)
{
  return get_target (self) + self->period / 2 + self->noise +
      2 * self->packet / MAX (self->peak_rate, 1e-9);
}

/* A queue that stands although less and less of ours is in flight is somebody
 * else's, who goes on until something is lost. Copa's test is the same (Arun
 * and Balakrishnan, NSDI 2018, section 2.2): the queue is never nearly
 * empty. */
static void
follow_competition (Delivery * self, const MmtpRateSample * sample)
{
  gdouble target = get_target (self), now = sample->now;
  gdouble long_rate = mmtp_delivery_rate_get_long (&self->delivery);
  gdouble own = get_own_queue (self) *
      (self->rate < SMALL_SHARE * long_rate ? 1 : STANDING);
  gdouble competition_time = MAX (COMPETITION_TIME,
      COMPETITION_ROUND_TRIPS * self->base_round_trip);

  if (sample->queue_delay < own)
    self->standing_since = now;
  if (sample->queue_delay < target / 2)
    self->is_competing = FALSE;
  if (self->is_competing || now < self->standing_since + competition_time)
    return;
  self->is_competing = TRUE;
  mmtp_loss_bound_begin (&self->bound, now, sample->in_flight);
}

/* --- the state of the path ------------------------------------------------ */

static void
follow_low (gdouble * usual, gdouble value)
{
  *usual += (value - *usual) / (value < *usual ? USUAL_FALL : USUAL_RISE);
}

/* Delays fluctuate on some paths by more than any queue that matters: what they
 * are above the base as long as the application asks for less than the path
 * carries is no queue. */
static void
follow_usual (Delivery * self, const MmtpRateSample * sample)
{
  gdouble max = self->deadline / USUAL_PART;

  if (!sample->is_app_limited)
    return;
  follow_low (&self->usual_queue, MIN (sample->queue_delay, max));
  if (sample->round_trip)
    follow_low (&self->usual_round_trip, MIN (sample->round_trip,
            self->base_round_trip + 2 * max));
}

/* Where the path was never idle nothing is usual: then it shows in the minimum
 * of a longer time that no queue stands although the window is used up. */
static void
follow_gain (Delivery * self, const MmtpRateSample * sample)
{
  gdouble round = MAX (GAIN_ROUND, GAIN_ROUND_TRIPS * self->base_round_trip);
  gdouble target = get_target (self);

  self->min_queue = MIN (self->min_queue, sample->queue_delay);
  if (self->min_queue > target && self->gain > 1)
    self->gain = MAX (1, self->gain / (1 + (GAIN_STEP - 1) / 4));
  if (sample->now < self->round_began + round)
    return;
  if (sample->is_app_limited || self->min_queue > target / 2)
    self->gain = MAX (1, self->gain / GAIN_STEP);
  else
    self->gain = MIN (MAX_GAIN, self->gain * GAIN_STEP);
  self->min_queue = G_MAXDOUBLE;
  self->round_began = sample->now;
}

static gboolean
has_start_queue (const Delivery * self, const MmtpRateSample * sample)
{
  return sample->sent_in_flight >= START_PACKETS * self->packet &&
      self->queue > get_target (self) + 2 * self->noise;
}

static void
follow_start (Delivery * self, const MmtpRateSample * sample)
{
  if (!self->is_starting)
    return;
  if (has_start_queue (self, sample) || (self->is_used && self->rate > 0 &&
          self->rate < GUESS_RATIO * self->guess))
    self->is_starting = FALSE;
  else if (2 * sample->sent_in_flight >= self->start_window)
    self->start_window += sample->acked;
  /* What was only guessed is not known to have been carried. */
  if (!self->is_starting && self->rate > 0)
    self->peak_rate = self->rate;
  if (!self->is_starting || !self->is_used ||
      sample->now < self->start_round + self->base_round_trip + self->period)
    return;
  if (self->start_rate > 0 && self->rate < START_GROWTH * self->start_rate) {
    if (++self->flat_rounds >= START_ROUNDS)
      self->is_starting = FALSE;
  } else {
    self->flat_rounds = 0;
  }
  self->start_rate = self->rate;
  self->start_round = sample->now;
}

static void
follow_queue (Delivery * self, const MmtpRateSample * sample)
{
  filter_add (&self->queues, sample->now, sample->queue_delay);
  self->queue = filter_get_min (&self->queues, sample->now - STANDING_TIME);
}

static void
follow_congestion (Delivery * self, const MmtpRateSample * sample)
{
  gboolean has_queue = self->queue > get_guard (self);

  self->is_app_limited = sample->is_app_limited && !has_queue;
  self->congestion += (has_queue - self->congestion) / CONGESTION_REPORTS;
}

static void
follow_losses (Delivery * self, const MmtpRateSample * sample)
{
  gboolean is_used = 2 * sample->sent_in_flight >= self->bound.window;

  if (mmtp_loss_bound_add (&self->bound, sample, get_window (self),
          self->rate * self->base_round_trip, self->base_round_trip, is_used))
    self->is_starting = FALSE;
}

/* --- operations ----------------------------------------------------------- */

static void
feedback (gpointer control, const MmtpRateSample * sample)
{
  Delivery *self = control;

  if (sample->base_round_trip)
    self->base_round_trip = sample->base_round_trip;
  self->period = sample->report_period;
  self->deadline = sample->deadline;
  self->noise = MAX (sample->noise, 0);
  if (sample->acked == 0)
    return;
  follow_queue (self, sample);
  follow_rate (self, sample);
  follow_usual (self, sample);
  follow_gain (self, sample);
  follow_congestion (self, sample);
  follow_start (self, sample);
  follow_competition (self, sample);
  follow_losses (self, sample);
}

static gdouble
get_bounded_window (const Delivery * self)
{
  gdouble window = get_window (self);

  if (self->is_competing)
    window = MAX (window, self->bound.window);
  else if (self->bound.window > 0)
    window = MIN (window, self->bound.window);
  return MAX (window, MIN_PACKETS * self->packet);
}

/* Bytes per ns */
static gdouble
get_pacing_rate (const Delivery * self, gdouble window)
{
  if (self->rate <= 0)
    return window / MAX (self->base_round_trip, MILLISECOND);
  return MAX (PACING_GAIN * self->rate, window / MAX (self->base_round_trip +
          self->period, 1));
}

/* ns of its rate that the path is trusted with during a gap */
static gdouble
get_trust (const Delivery * self)
{
  gdouble excess = self->rate * 8 * SECOND / TARGET_RATE;

  return TRUST / sqrt (MAX (excess, 1)) * pow (1 - self->congestion, DISTRUST);
}

static void
get_limits (gconstpointer control, MmtpRateLimits * limits)
{
  const Delivery *self = control;
  gboolean is_unknown = self->is_app_limited || !self->is_used;

  limits->window = get_bounded_window (self);
  if (self->bound.window == 0)
    limits->reserve = self->rate * get_trust (self);
  limits->delivery_rate = (is_unknown ? self->rate : self->mean_rate) * 8 *
      SECOND;
  limits->peak_rate = self->peak_rate * 8 * SECOND;
  limits->is_app_limited = self->is_app_limited || self->is_starting;
  limits->pacing_rate = get_pacing_rate (self, limits->window) * 8 * SECOND;
}

const MmtpRateControlClass mmtp_delivery_control = {
  "delivery", sizeof (Delivery), init, NULL, feedback, get_limits
};
