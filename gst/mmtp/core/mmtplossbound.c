/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CUBIC's window, and which losses reduce it. */

#include "mmtplossbound.h"

#include <math.h>
#include <string.h>

#define SECOND 1e9
#define MILLISECOND 1e6

/* RFC 9438, sections 4.6 and 5. */
#define BETA 0.7
#define C 0.4
#define MIN_PACKETS 2
/* The maximum queueing delay of this period counts as that of a full queue. BBR
 * and Copa use 10 s as well. */
#define QUEUE_MEMORY (10 * SECOND)
/* From "Spike" (Cen, Cosman and Voelker 2003, section III.A): a loss means
 * congestion while the queueing delay is above half of its maximum. */
#define HIGH_QUEUE 0.5
/* While fewer bytes are in flight than this part of what fills the path, none
 * of our packets waits in a queue: a long delay is jitter then, and a loss is
 * the radio's. With 0.5 instead, random losses with jitter would cost less
 * rate, but TCP on a queue of half a bandwidth-delay product would get only a
 * sixth of its share. */
#define FILLED_PART 0.2
/* No queue overflows while it is shorter than this time, or than this many
 * packets. */
#define MIN_QUEUE (3 * MILLISECOND)
#define MIN_QUEUE_PACKETS 1.5
/* Random losses are as frequent with a short queue as with a long one. If
 * losses with a long queue are more than this many times as frequent, they are
 * due to the queue. */
#define RATIO 2
/* number of messages in an average of losses */
#define LOSS_MEMORY 1000.0
/* Losses are random if at least this many messages were lost while the queue
 * was shorter than usual, and as many while less than usual was in flight, ...
 */
#define RANDOM_LOSSES 3
/* ... and if losses are at most this many times as frequent while more is in
 * flight. A queue that is always full loses more packets the more is in flight.
 */
#define IN_FLIGHT_RATIO 1.5
/* A usable radio link does not lose more than this share. */
#define MAX_RANDOM_LOSS 0.15
/* Losses beyond the expected number of random losses that still count as
 * random. */
#define MIN_EXCESS 1
/* Minimum number of messages with a short queue before their loss rate is
 * trusted, and the loss rate below which there are practically no random
 * losses. */
#define MIN_KNOWN 200
#define NO_LOSS 0.001
/* Before that loss rate is known, a single loss counts as the radio's, because
 * a queue that overflows loses several packets at once. */
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

/* Returns whether more messages were lost than a radio loses at random. */
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

/* RFC 9438, sections 4.2 to 4.5. The growth depends on time, not on the number
 * of acknowledgements, because reports are less frequent than those. */
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

/* Averages the losses separately for reports above and below the mean queueing
 * delay, and above and below the mean bytes in flight. Comparing with means
 * gives both kinds of reports on every path, even where jitter makes each
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

/* The losses turned out to be random: the reduced window grows as in slow
 * start, by half in a round trip, until the limit is no longer needed. */
static void
release (MmtpLossBound * bound, const MmtpRateSample * sample, gdouble window,
    gdouble round_trip)
{
  bound->window *= 1 + (sample->now - bound->reported_at) / round_trip / 2;
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
  bound->reported_at = sample->now;
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
