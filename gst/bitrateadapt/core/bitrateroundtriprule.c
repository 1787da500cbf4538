/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rule that derives the bitrate from the round-trip time and the send buffer of
 * a transport. It is for transports that retransmit and do not estimate the
 * capacity of the network, such as SRT and RIST. The rule is that of belacoder,
 * which has used it for SRT over bonded mobile modems since 2020
 * (https://github.com/BELABOX/belacoder, `update_bitrate`, commit 898d9ce).
 * This file is an independent implementation. It was written from the following
 * description of the rule, in which "buffer" means the number of packets in the
 * send buffer.
 *
 * The round-trip time and the number of packets in the send buffer are measured
 * every 20 ms. For both values the rule computes a slow average and a peak. The
 * peak is the largest increase between two measurements; it decays slowly. The
 * round-trip time also has a minimum, which increases slowly.
 *
 * The rule checks the following four conditions in their order. It stops at the
 * first condition that is true, and changes the bitrate as written after this
 * condition. If no condition is true, the bitrate does not change.
 *
 *   severe: The round-trip time is at least a third of the latency, or the
 *           buffer is more than four times the sum of its average and peak.
 *           Decrease the bitrate to its minimum immediately.
 *   heavy:  The round-trip time is more than a fifth of the latency. Or the
 *           buffer is more than twice its average and more than its average
 *           plus three peaks. Or the buffer is more than the number of packets
 *           that are sent within half of the latency. Decrease the bitrate by
 *           100 kbit/s and a tenth of the bitrate, every 250 ms.
 *   light:  The round-trip time is more than 115 % of its average and more than
 *           its average plus four peaks. Or the buffer is more than its average
 *           plus two and a half peaks. Decrease the bitrate by 100 kbit/s,
 *           every 200 ms.
 *   free:   The round-trip time is near its minimum and does not increase.
 *           Increase the bitrate by 30 kbit/s and a thirtieth of the bitrate,
 *           every 500 ms.
 *
 * `srtsink` and `ristsink` do not report the number of packets in their send
 * buffers. If a report lacks this number, the conditions on the buffer are
 * ignored.
 */

#include "bitraterule.h"

#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* Minimum interval between two reports that the rule uses. Reports that arrive
 * earlier are ignored, because the weights of the averages (SLOW_WEIGHT and
 * GROWTH_WEIGHT) are chosen for this interval. */
#define REPORT_INTERVAL (20 * MILLISECOND)
#define SLOW_WEIGHT 0.01
#define GROWTH_WEIGHT 0.2
#define PEAK_DECAY 0.99
#define MINIMUM_RISE 1.001
/* Initial values in ms:
 *
 * - FIRST_MINIMUM is the initial value of the minimum round-trip time.
 * - FIRST_ROUND_TRIP takes the place of the previous round-trip time when the
 *   first report arrives.
 *
 * Limits in ms per report. Each limit is compared with the average growth of
 * the round-trip time:
 *
 * - MAX_GROWTH_OF_MINIMUM: The stored minimum round-trip time is lowered only
 *   if the round-trip time grows by less than this limit.
 * - MAX_GROWTH_OF_RISE: The bitrate is increased only if the round-trip time
 *   grows by less than this limit. */
#define FIRST_MINIMUM 200.0
#define FIRST_ROUND_TRIP 300.0
#define MAX_GROWTH_OF_MINIMUM 1.0
#define MAX_GROWTH_OF_RISE 0.01
/* Round-trip time in ms that SRT reports as long as it has not measured any. */
#define UNMEASURED_ROUND_TRIP 100.0
/* Latency in ms that is assumed if the latency is unknown. It is the default of
 * belacoder; the default of SRT is lower. */
#define USUAL_LATENCY 2000.0

#define INCREASE 30000.0
#define INCREASE_PART 30.0
#define INCREASE_INTERVAL (500 * MILLISECOND)
#define DECREASE 100000.0
#define DECREASE_PART 10.0
#define LIGHT_INTERVAL (200 * MILLISECOND)
#define HEAVY_INTERVAL (250 * MILLISECOND)

/* judge_buffer () judges from the send buffer how congested the network is. Its
 * results are FREE (not congested), LIGHT, HEAVY and SEVERE. A send buffer
 * counts as small if it contains at most SMALL_BUFFER packets. With a small
 * buffer, the function never returns LIGHT, but usually FREE. It still returns
 * HEAVY if the buffer contains more packets than can be sent within half of the
 * latency, and SEVERE if the buffer has grown suddenly. */
#define SMALL_BUFFER 50.0
#define PACKET_BYTES 1316.0
#define SEND_RATE_WEIGHT 0.03

typedef enum
{
  FREE,
  STEADY,
  LIGHT,
  HEAVY,
  SEVERE
} Congestion;

typedef struct
{
  gdouble average, peak, last;
} Signal;

typedef struct
{
  Signal buffer;                /* packets */
  Signal round_trip;            /* ms */
  gdouble min_round_trip;       /* ms */
  /* average growth of the round-trip time in ms per report */
  gdouble growth;
  gdouble send_rate;            /* bit/s, average */
  guint64 measure_at, increase_at, decrease_at;
} RoundTripRule;

static void
init (gpointer rule, const BitrateLimits * limits)
{
  RoundTripRule *self = rule;

  self->min_round_trip = FIRST_MINIMUM;
  self->round_trip.last = FIRST_ROUND_TRIP;
}

static void
measure (Signal * signal, gdouble value)
{
  signal->average += (value - signal->average) * SLOW_WEIGHT;
  signal->peak = MAX (signal->peak * PEAK_DECAY, value - signal->last);
  signal->last = value;
}

static void
measure_round_trip (RoundTripRule * self, gdouble value)
{
  self->growth += (value - self->round_trip.last - self->growth) *
      GROWTH_WEIGHT;
  if (self->round_trip.average == 0)
    self->round_trip.average = value;
  measure (&self->round_trip, value);
  self->min_round_trip *= MINIMUM_RISE;
  if (value < self->min_round_trip && value != UNMEASURED_ROUND_TRIP
      && self->growth < MAX_GROWTH_OF_MINIMUM)
    self->min_round_trip = value;
}

static void
measure_buffer (RoundTripRule * self, const BitrateReport * report)
{
  if (report->queued_packets != BITRATE_UNKNOWN)
    measure (&self->buffer, report->queued_packets);
  if (report->send_rate != BITRATE_UNKNOWN)
    self->send_rate += (report->send_rate - self->send_rate) * SEND_RATE_WEIGHT;
}

/* Returns the number of packets that are sent during half of the latency at the
 * average send rate. `latency` is the latency in ms. Returns G_MAXDOUBLE if the
 * send rate is unknown. */
static gdouble
get_max_heavy_buffer (const RoundTripRule * self, gdouble latency)
{
  if (self->send_rate <= 0)
    return G_MAXDOUBLE;
  return self->send_rate / 8 * latency / 2 / 1000 / PACKET_BYTES;
}

static Congestion
judge_buffer (const RoundTripRule * self, gdouble latency)
{
  const Signal *buffer = &self->buffer;
  gdouble heavy = buffer->average + MAX (3 * buffer->peak, buffer->average);

  heavy = MIN (MAX (heavy, SMALL_BUFFER), get_max_heavy_buffer (self, latency));
  if (buffer->last > 4 * (buffer->average + buffer->peak))
    return SEVERE;
  if (buffer->last > heavy)
    return HEAVY;
  if (buffer->last > MAX (SMALL_BUFFER, buffer->average + 2.5 * buffer->peak))
    return LIGHT;
  return FREE;
}

static Congestion
judge_round_trip (const RoundTripRule * self, gdouble latency)
{
  const Signal *round_trip = &self->round_trip;

  if (round_trip->last >= latency / 3)
    return SEVERE;
  if (round_trip->last > latency / 5)
    return HEAVY;
  if (round_trip->last > round_trip->average + MAX (4 * round_trip->peak,
          0.15 * round_trip->average))
    return LIGHT;
  if (round_trip->last < self->min_round_trip + MAX (1, 2 * round_trip->peak)
      && self->growth < MAX_GROWTH_OF_RISE)
    return FREE;
  return STEADY;
}

static gdouble
feedback (gpointer rule, const BitrateLimits * limits,
    const BitrateReport * report, gdouble bitrate)
{
  RoundTripRule *self = rule;
  gdouble latency = limits->latency ? limits->latency / (gdouble) MILLISECOND
      : USUAL_LATENCY;
  guint64 now = report->now;
  Congestion congestion;

  if (report->round_trip == BITRATE_UNKNOWN || report->round_trip == 0
      || now < self->measure_at)
    return bitrate;
  self->measure_at = now + REPORT_INTERVAL;
  measure_buffer (self, report);
  measure_round_trip (self, report->round_trip / (gdouble) MILLISECOND);
  congestion = MAX (judge_round_trip (self, latency), judge_buffer (self,
          latency));

  if (congestion == SEVERE) {
    self->decrease_at = now + LIGHT_INTERVAL;
    return limits->min_bitrate;
  }
  if (congestion == HEAVY && now > self->decrease_at) {
    self->decrease_at = now + HEAVY_INTERVAL;
    return bitrate - DECREASE - bitrate / DECREASE_PART;
  }
  if (congestion == LIGHT && now > self->decrease_at) {
    self->decrease_at = now + LIGHT_INTERVAL;
    return bitrate - DECREASE;
  }
  if (congestion == FREE && now > self->increase_at) {
    self->increase_at = now + INCREASE_INTERVAL;
    return bitrate + INCREASE + bitrate / INCREASE_PART;
  }
  return bitrate;
}

const BitrateRule bitrate_round_trip_rule = {
  "round-trip",
  "The round trip time grows when the network is full (belacoder)",
  sizeof (RoundTripRule), init, feedback
};
