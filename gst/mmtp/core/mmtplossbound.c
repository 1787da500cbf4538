/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CUBIC's window, and which losses it minds; see the header. */

#include "mmtplossbound.h"

#include <math.h>
#include <string.h>

#define SECOND 1e9
#define MILLISECOND 1e6

/* RFC 9438, sections 4.6 and 5 */
#define BETA 0.7
#define C 0.4
#define MIN_PACKETS 2
/* The longest queue of so long is a full one (BBR and Copa look at 10 s,
 * too). */
#define QUEUE_MEMORY (10 * SECOND)
/* "Spike" (Cen, Cosman and Voelker 2003, section III.A): a loss is congestion
 * while the delay is above half of what it is at most. */
#define HIGH_QUEUE 0.5
/* What is sent while less than this part of what fills the path is in flight
 * waits in no queue of ours: its delay is jitter, and its loss is the radio's.
 * With half of it random losses with jitter cost less, but TCP on a queue of half
 * a bandwidth-delay product gets a sixth of what it should. */
#define FILLED_PART 0.2
/* A queue that is shorter than this, or than some packets, overflows
 * nowhere. */
#define MIN_QUEUE (3 * MILLISECOND)
#define MIN_QUEUE_PACKETS 1.5
/* Losses at random come as often while the queue is short. More than so many
 * times as many, and it is the queue. */
#define RATIO 2
/* Messages that an average of losses goes back */
#define LOSS_MEMORY 1000.0
/* Losses are random when so many came while the queue was shorter than usual,
 * and so many while less was in flight than usual, ... */
#define RANDOM_LOSSES 3
/* ... and no more than so many times as many come while more is in flight. A
 * queue that is always full loses more, the more is in flight. */
#define IN_FLIGHT_RATIO 1.5
/* No radio that is of use loses more than this. */
#define MAX_RANDOM_LOSS 0.15
/* Losses at random that are expected and these many more are still random. */
#define MIN_EXCESS 1
/* Messages while the queue was short that say what is lost then, and a part of
 * them that is as good as none */
#define MIN_KNOWN 200
#define NO_LOSS 0.001
/* Before that is known a single loss is taken for the radio's: a queue that
 * overflows loses several at once. */
#define MIN_BURST 2

void
mmtp_loss_bound_init (MmtpLossBound * bound, guint packet)
{
  memset (bound, 0, sizeof (*bound));
  bound->packet = packet;
}

static void
note_queue (MmtpLossBound * bound, const MmtpRateSample * sample)
{
  gdouble queue = sample->high_queue_delay;

  if (queue >= bound->max_queue ||
      sample->now > bound->max_queue_time + QUEUE_MEMORY) {
    bound->max_queue = queue;
    bound->max_queue_time = sample->now;
  }
}

static gboolean
is_queue_long (const MmtpLossBound * bound, const MmtpRateSample * sample,
    gdouble packet_time)
{
  return sample->high_queue_delay >= MAX (HIGH_QUEUE * bound->max_queue,
      MAX (MIN_QUEUE, MIN_QUEUE_PACKETS * packet_time));
}

static void
average (gdouble * part, gdouble * n, guint lost, guint all)
{
  if (all == 0)
    return;
  *n = MIN (*n + all, LOSS_MEMORY);
  *part += (lost - *part * all) / *n;
  *part = CLAMP (*part, 0, 1);
}

static gboolean
is_random (const MmtpLossBound * bound)
{
  return bound->loss_many < MAX_RANDOM_LOSS &&
      bound->loss_low * bound->n_low >= RANDOM_LOSSES &&
      bound->loss_low * RATIO >= bound->loss_high &&
      bound->loss_few * bound->n_few >= RANDOM_LOSSES &&
      bound->loss_few * IN_FLIGHT_RATIO >= bound->loss_many;
}

/* Whether more was lost than a radio loses at random */
static gboolean
is_congestive (const MmtpLossBound * bound, const MmtpRateSample * sample)
{
  guint all = sample->n_acked + sample->n_lost;
  gdouble low = bound->n_low >= MIN_KNOWN ? bound->loss_low : 0;

  if (is_random (bound))
    return FALSE;
  if (low > MAX_RANDOM_LOSS)
    return TRUE;
  if (bound->n_low < MIN_KNOWN && sample->n_lost < MIN_BURST)
    return FALSE;
  if (low < NO_LOSS)
    return TRUE;
  return low * RATIO < bound->loss_high &&
      sample->n_lost > RATIO * low * all + MIN_EXCESS;
}

static void
reduce (MmtpLossBound * bound, const MmtpRateSample * sample, gdouble window)
{
  gdouble min = MIN_PACKETS * bound->packet;
  gdouble max = MIN (window, MAX (sample->sent_in_flight, 2 * min));

  if (bound->window > 0)
    max = MIN (max, bound->window);
  bound->max = max;
  bound->window = bound->reno = MAX (max * BETA, min);
  bound->reduced = bound->grown = sample->now;
}

/* RFC 9438, sections 4.2 to 4.5; by time, because reports come more seldom than
 * acknowledgements */
static void
grow (MmtpLossBound * bound, gdouble now, gdouble round_trip)
{
  gdouble max = bound->max / bound->packet;
  gdouble k = cbrt (max * (1 - BETA) / C);
  gdouble age = (now - bound->reduced + round_trip) / SECOND;
  gdouble cubic = (C * (age - k) * (age - k) * (age - k) + max) * bound->packet;

  bound->reno += 3 * (1 - BETA) / (1 + BETA) * bound->packet *
      (now - bound->grown) / round_trip;
  bound->grown = now;
  bound->window = MAX (bound->window, MAX (MIN (cubic, 1.5 * bound->window),
          bound->reno));
}

/* The losses of reports with a queue, or with bytes in flight, above the usual
 * mean, and of the others. All paths have both, also where jitter makes each
 * report look as if there were a queue. */
static void
follow_losses (MmtpLossBound * bound, const MmtpRateSample * sample)
{
  guint all = sample->n_acked + sample->n_lost;
  gdouble weight;

  if (all == 0)
    return;
  if (sample->high_queue_delay > bound->mean_queue)
    average (&bound->loss_high, &bound->n_high, sample->n_lost, all);
  else
    average (&bound->loss_low, &bound->n_low, sample->n_lost, all);
  if (sample->sent_in_flight > bound->mean_in_flight)
    average (&bound->loss_many, &bound->n_many, sample->n_lost, all);
  else
    average (&bound->loss_few, &bound->n_few, sample->n_lost, all);
  bound->n_all = MIN (bound->n_all + all, LOSS_MEMORY);
  weight = MIN (1, all / bound->n_all);
  bound->mean_queue += (sample->high_queue_delay - bound->mean_queue) * weight;
  bound->mean_in_flight += (sample->sent_in_flight - bound->mean_in_flight) *
      weight;
}

/* The losses are the radio's: what was reduced because of them comes back as
 * in slow start, by half in a round trip. */
static void
release (MmtpLossBound * bound, const MmtpRateSample * sample, gdouble window,
    gdouble round_trip)
{
  bound->window *= 1 + (sample->now - bound->told) / round_trip / 2;
  if (bound->window > 1.5 * window)
    bound->window = 0;
}

gboolean
mmtp_loss_bound_add (MmtpLossBound * bound, const MmtpRateSample * sample,
    gdouble window, gdouble filling, gdouble round_trip, gboolean is_used)
{
  gdouble total = MAX (round_trip, MILLISECOND) + MAX (sample->queue_delay, 0)
      + sample->report_period / 2;
  gdouble packet_time = sample->packet_time;
  gboolean is_long;

  note_queue (bound, sample);
  is_long = is_queue_long (bound, sample, packet_time) &&
      sample->sent_in_flight >= FILLED_PART * filling;
  follow_losses (bound, sample);
  if (bound->window > 0 && is_random (bound))
    release (bound, sample, window, total);
  bound->told = sample->now;
  if (is_long && sample->n_lost > 0 && is_congestive (bound, sample) &&
      sample->now > bound->reduced + total) {
    reduce (bound, sample, window);
    return TRUE;
  }
  if (bound->window > 0 && is_used)
    grow (bound, sample->now, total);
  else
    bound->grown = sample->now;
  return FALSE;
}

void
mmtp_loss_bound_begin (MmtpLossBound * bound, gdouble now, gdouble in_flight)
{
  bound->max = bound->window = bound->reno =
      MAX (in_flight, MIN_PACKETS * bound->packet);
  bound->reduced = bound->grown = now;
}
