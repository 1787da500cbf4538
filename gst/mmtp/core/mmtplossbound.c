/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtplossbound.h: computes CUBIC's congestion window, and
 * decides which losses reduce it. */

#include "mmtplossbound.h"

#include <math.h>
#include <string.h>

#define SECOND 1e9
#define MILLISECOND 1e6

/* Constants of CUBIC: RFC 9438, sections 4.6 and 5. */
#define BETA 0.7
#define C 0.4
#define MIN_PACKETS 2
/* The maximum queueing delay in the last QUEUE_MEMORY ns is regarded as the
 * delay of a full queue. BBR and Copa use windows of the same length (10 s). */
#define QUEUE_MEMORY (10 * SECOND)
/* A loss means congestion while the queueing delay is above half of its
 * maximum, as in "Spike" (Cen, Cosman and Voelker 2003, section III.A). */
#define HIGH_QUEUE 0.5
/* If the bytes in flight are less than FILLED_PART times the bandwidth-delay
 * product of the path, none of our packets waits in a queue. In this case, a
 * long delay is due to jitter, and a loss is due to the radio link.
 *
 * The value of FILLED_PART, 0.2, is a compromise. With the higher value 0.5,
 * random losses with jitter would reduce the rate less. However, a competing
 * TCP flow would suffer. For example, suppose that a queue holds half a
 * bandwidth-delay product, and that a TCP flow shares this queue with us. With
 * the value 0.5, the TCP flow would get only a sixth of its fair share. */
#define FILLED_PART 0.2
/* A queue counts as short if its delay is less than MIN_QUEUE, or less than the
 * transmission time of MIN_QUEUE_PACKETS packets. A short queue is assumed not
 * to overflow. */
#define MIN_QUEUE (3 * MILLISECOND)
#define MIN_QUEUE_PACKETS 1.5
/* Random losses are as frequent with a short queue as with a long one. If
 * losses with a long queue are more than RATIO times as frequent as losses with
 * a short queue, the queue causes the losses. */
#define RATIO 2
/* maximum number of messages over which a loss rate is averaged */
#define LOSS_MEMORY 1000.0
/* Minimum number of lost messages from which the sender may conclude that
 * losses are random. Two numbers must each reach this minimum: the messages
 * that were lost while the queueing delay was low (at most its mean), and the
 * messages that were lost while few bytes were in flight (at most the mean).
 * The loss rates must also satisfy RATIO and IN_FLIGHT_RATIO. */
#define RANDOM_LOSSES 3
/* Random losses are about as frequent with many bytes in flight as with few.
 * With a queue that is always full, in contrast, the loss rate grows with the
 * bytes in flight. Two loss rates are therefore measured: loss_many while the
 * bytes in flight are above their mean, and loss_few while they are not. Losses
 * are random only if loss_many is at most IN_FLIGHT_RATIO times loss_few. */
#define IN_FLIGHT_RATIO 1.5
/* Losses are counted separately for ranges of the number of bytes in flight.
 * These ranges are called octaves, because each of them ends at twice its
 * beginning. The first octave ends at 2 * FIRST_OCTAVE bytes. */
#define FIRST_OCTAVE 256
/* Maximum fraction of the messages that a usable radio link loses at random. */
#define MAX_RANDOM_LOSS 0.15
/* With a short queue, all losses are regarded as random. The loss rate with a
 * short queue therefore says how many random losses are expected in a report.
 * Suppose that this loss rate is between NO_LOSS and MAX_RANDOM_LOSS. A report
 * then shows congestion only if it contains more losses than RATIO times the
 * expected number plus MIN_EXCESS. */
#define MIN_EXCESS 1
/* The sender measures the loss rate of the messages that were sent while the
 * queue was short. This loss rate counts as known when it is based on at least
 * MIN_KNOWN messages. If this loss rate is below NO_LOSS, the path is assumed
 * to have no random losses. */
#define MIN_KNOWN 200
#define NO_LOSS 0.001
/* A queue that overflows loses at least MIN_BURST packets in succession, so a
 * single loss is probably not due to a queue. While the queue is short, the
 * sender measures how frequent random losses are. As long as this loss rate is
 * unknown, a single loss is attributed to a radio link. */
#define MIN_BURST 2
/* On a path with a long round trip, CUBIC needs many seconds to regain the
 * window that it had before an overflow. If no report has shown a queue for
 * PROBE_PERIODS periods, the path has room, and the window also grows by
 * PROBE_GROWTH of its size in each further period. A period is a round trip with
 * its queueing delay, or MIN_PROBE_PERIOD (ns) if this is longer. BBR also
 * raises its limit for the bytes in flight faster and faster while no queue
 * builds up (draft-cardwell-iccrg-bbr-congestion-control-02,
 * BBRRaiseInflightHiSlope). */
#define PROBE_PERIODS 2
#define PROBE_GROWTH 0.25
#define MIN_PROBE_PERIOD (500 * MILLISECOND)

void
mmtp_loss_bound_init (MmtpLossBound * bound, guint packet)
{
  memset (bound, 0, sizeof (*bound));
  bound->packet = packet;
}

/* Updates the maximum `max` of a quantity over the last `memory` ns, and the
 * time `max_time` at which it was measured. `value` is the present value. */
static void
follow_max (gdouble * max, gdouble * max_time, gdouble value, gdouble now,
    gdouble memory)
{
  if (value < *max && now <= *max_time + memory)
    return;
  *max = value;
  *max_time = now;
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

static void
add_octave (MmtpLossBound * bound, const MmtpRateSample * sample, guint all)
{
  gint octave = log2 (MAX (sample->sent_in_flight, 1) / FIRST_OCTAVE);
  guint i = CLAMP (octave, 0, MMTP_LOSS_OCTAVES - 1);
  gdouble excess;

  bound->octave = i;
  bound->octave_lost[i] += sample->n_lost;
  bound->octave_all[i] += all;
  excess = bound->octave_all[i] / LOSS_MEMORY;
  if (excess <= 1)
    return;
  bound->octave_lost[i] /= excess;
  bound->octave_all[i] /= excess;
}

/* Returns whether the losses with few bytes in flight are about as frequent as
 * the losses with many bytes in flight. The loss rate with few bytes in flight
 * is measured in two ways:
 * - Usually, loss_few is used. It is the loss rate of the messages that were
 *   sent while the number of bytes in flight was at most its mean.
 * - In the start phase, the number of bytes in flight increases all the time
 *   and always exceeds its mean, so loss_few cannot be measured. Therefore, the
 *   losses are also counted in octaves. An octave is a range of the number of
 *   bytes in flight, and the end of the range is twice its beginning. A report
 *   belongs to the octave that contains the number of bytes that were in flight
 *   when the newest message of the report was sent. The messages and losses of
 *   the report are added to the counters of this octave. To measure the loss
 *   rate, the function adds up the counters of all octaves below the octave of
 *   the last report. The loss rate is the sum of the losses divided by the sum
 *   of the messages. */
static gboolean
are_losses_frequent_with_few (const MmtpLossBound * bound)
{
  gdouble lost = 0, all = 0;
  guint i;

  if (bound->loss_few * bound->n_few >= RANDOM_LOSSES &&
      bound->loss_few * IN_FLIGHT_RATIO >= bound->loss_many)
    return TRUE;
  for (i = 0; i < bound->octave; i++) {
    lost += bound->octave_lost[i];
    all += bound->octave_all[i];
  }
  return lost >= RANDOM_LOSSES &&
      lost * IN_FLIGHT_RATIO >= bound->loss_many * all;
}

static gboolean
is_random (const MmtpLossBound * bound)
{
  return bound->loss_many < MAX_RANDOM_LOSS &&
      bound->loss_low * bound->n_low >= RANDOM_LOSSES &&
      bound->loss_low * RATIO >= bound->loss_high &&
      are_losses_frequent_with_few (bound);
}

/* Returns whether the losses in `sample` show congestion, that is, whether they
 * are too frequent for the random losses of a radio link. */
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

/* Reduces the window after an overflow. RFC 9438, section 4.6, multiplies the
 * bytes in flight by BETA. Here, these are the maximum of the last round trip.
 */
static void
reduce (MmtpLossBound * bound, const MmtpRateSample * sample, gdouble window)
{
  gdouble min = MIN_PACKETS * bound->packet;
  gdouble max = MIN (window, MAX (bound->max_in_flight, 2 * min));

  if (bound->window > 0)
    max = MIN (max, bound->window);
  bound->max = max;
  bound->window = bound->reno = MAX (max * BETA, min);
  bound->reduced = bound->grown = sample->now;
}

/* Lets the window grow as RFC 9438 describes in sections 4.2 to 4.5. The growth
 * depends on time and not on the number of acknowledgements, because reports
 * are less frequent than acknowledgements. */
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

/* Updates the averages of four loss rates. Each report updates two of them:
 * - loss_high if its queueing delay is above the mean queueing delay, and
 *   otherwise loss_low;
 * - loss_many if its number of bytes in flight is above the mean number, and
 *   otherwise loss_few.
 *
 * The reports are divided at a mean, because some reports are always above it
 * and others below it. If they were divided at a fixed value, jitter alone
 * could lift all reports above this value, and loss_low would not be measured.
 */
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
  add_octave (bound, sample, all);
  bound->n_all = MIN (bound->n_all + all, LOSS_MEMORY);
  weight = MIN (1, all / bound->n_all);
  bound->mean_queue += (sample->high_queue_delay - bound->mean_queue) * weight;
  bound->mean_in_flight += (sample->sent_in_flight - bound->mean_in_flight) *
      weight;
}

/* The limit bound->window is meant to avoid losses in a full queue. If the
 * losses turn out to be random, a queue has not caused them, so the limit is no
 * longer needed. This function is then called for each report. It raises the
 * limit step by step, in each round trip by half of its value, similar to slow
 * start. `window` is the congestion window without this limit. When the limit
 * exceeds 1.5 * `window`, the limit is removed. */
static void
release (MmtpLossBound * bound, const MmtpRateSample * sample, gdouble window,
    gdouble round_trip)
{
  bound->window *= 1 + (sample->now - bound->reported_at) / round_trip / 2;
  if (bound->window > 1.5 * window)
    bound->window = 0;
}

static gboolean
is_window_used (const MmtpLossBound * bound)
{
  return 2 * bound->max_in_flight >= bound->window;
}

/* Lets the window grow faster than that of CUBIC if the path has had no queue
 * for some time. See PROBE_PERIODS. After a silence, nobody knows whether there
 * was a queue, so the time begins again. */
static void
probe (MmtpLossBound * bound, gdouble now, gdouble round_trip,
    gboolean has_queue)
{
  const gdouble period = MAX (round_trip, MIN_PROBE_PERIOD);
  const gdouble since = now - bound->reported_at;

  if (has_queue || since > period)
    bound->queue_time = now;
  if (bound->window > 0 && is_window_used (bound) &&
      now > MAX (bound->queue_time, bound->reduced) + PROBE_PERIODS * period)
    bound->window *= 1 + PROBE_GROWTH * since / period;
}

gboolean
mmtp_loss_bound_add (MmtpLossBound * bound, const MmtpRateSample * sample,
    gdouble window, gdouble filling, gdouble round_trip, gboolean has_queue)
{
  gdouble total = MAX (round_trip, MILLISECOND) + MAX (sample->queue_delay, 0)
      + sample->report_period / 2;
  gboolean is_long;

  follow_max (&bound->max_queue, &bound->max_queue_time,
      sample->high_queue_delay, sample->now, QUEUE_MEMORY);
  /* The bytes in flight rise and fall within a round trip, because each report
   * lets a burst of messages go. The burst that made the queue overflow was
   * sent with the maximum in flight. The message that shows the loss may have
   * been sent with far fewer bytes in flight. */
  follow_max (&bound->max_in_flight, &bound->max_in_flight_time,
      sample->sent_in_flight, sample->now, total);
  is_long = is_queue_long (bound, sample, sample->packet_time);
  follow_losses (bound, sample);
  if (bound->window > 0 && is_random (bound))
    release (bound, sample, window, total);
  else
    probe (bound, sample->now, total, has_queue || is_long);
  bound->reported_at = sample->now;
  if (is_long && sample->sent_in_flight >= FILLED_PART * filling &&
      sample->n_lost > 0 && is_congestive (bound, sample) &&
      sample->now > bound->reduced + total) {
    reduce (bound, sample, window);
    return TRUE;
  }
  if (bound->window > 0 && is_window_used (bound))
    grow (bound, sample->now, total);
  else
    bound->grown = sample->now;
  return FALSE;
}

void
mmtp_loss_bound_raise (MmtpLossBound * bound, gdouble in_flight)
{
  bound->max = MAX (bound->max, in_flight);
  bound->window = bound->reno = MAX (bound->window, in_flight * BETA);
}

void
mmtp_loss_bound_begin (MmtpLossBound * bound, gdouble now, gdouble in_flight)
{
  bound->max = bound->window = bound->reno =
      MAX (in_flight, MIN_PACKETS * bound->packet);
  bound->reduced = bound->grown = now;
}
