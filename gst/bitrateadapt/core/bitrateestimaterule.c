/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows the estimate of a transport that measures the capacity of the path.
 *
 * Decreases are immediate: if the bitrate exceeds the estimate minus the
 * headroom, the bitrate is reduced at once. While data waits at the sender, the
 * bitrate is reduced further, so that the queue drains.
 *
 * The estimate of a mobile link is often too high: the capacity falls within a
 * few ms, but the estimate falls only after some reports from the receiver. Two
 * other measurements therefore also decrease the bitrate. The first one is the
 * queueing delay: if packets wait in the queues of the network, the bitrate is
 * decreased below the rate that is delivered, as in Google Congestion Control
 * (draft-ietf-rmcat-gcc-02, section 5.5). The second one is the age of the
 * backlog (bitratebacklog.h). If the network delivers nothing, no reports
 * arrive and the estimate does not change, but the age of the backlog grows.
 *
 * After such a decrease, the queues of the network become empty again. If they
 * have drained fast, the bitrate returns at once to a value near the bitrate
 * before the decrease.
 *
 * Other increases are slow: each step increases the bitrate by at most 15 %.
 * While the encoder makes no frames, the bitrate does not increase, because the
 * estimate then says nothing about a higher bitrate.
 *
 * Sometimes the estimate is only a lower bound of the capacity. Such an
 * estimate does not decrease the bitrate, except after drops (see DROP_TIME)
 * and while the queue at the sender needs more than MAX_QUEUE to drain.
 * The bitrate may also rise above this estimate, because the path can show a
 * higher capacity only if more data is sent.
 *
 * Near the bitrate at which the path was last full, the steps are small. At
 * higher bitrates the steps become larger, like those of CUBIC around its last
 * maximum (RFC 9438 section 4.2).
 *
 * The constants were chosen with the simulations in
 * tests/check/libs/bitratesteps.c and tests/benchmarks/bitratelinks.c.
 */

#include "bitratebacklog.h"

#define MILLISECOND 1e6

/* STEP_INTERVAL is the minimum time between two increases of the bitrate.
 * HOLD_TIME is the time after a decrease in which the bitrate is not increased.
 */
#define STEP_INTERVAL (200 * MILLISECOND)
#define HOLD_TIME (300 * MILLISECOND)
/* Let F be the rate at which the path was last full. The bitrate increases in
 * small steps near F, and in larger steps elsewhere. In one step, a bitrate
 * between CAREFUL_FROM * F and CAREFUL_TO * F is multiplied by 1 +
 * CAREFUL_STEP. Any other bitrate is multiplied by 1 + STEP. */
#define CAREFUL_STEP 0.03
#define STEP 0.15
#define CAREFUL_FROM 0.85
#define CAREFUL_TO 1.08
/* If an estimate is only a lower bound, the bitrate may be up to MAX_EXCESS
 * times this estimate. For example, a static picture needs few bits, so the
 * estimate is much lower than the capacity. The next scene may need a bitrate
 * above the estimate. */
#define MAX_EXCESS 1.5
/* A queue at the sender that drains within this time is normal. Such a queue
 * contains a key frame, or some packets that are being paced. */
#define MAX_QUEUE (40 * MILLISECOND)
/* The standing queue at the sender is the minimum amount of data that waited
 * there during QUEUE_TIME. This time is longer than a frame period at 25 frames
 * per second. At lower frame rates, QUEUE_FRAMES frame periods are used
 * instead. */
#define QUEUE_TIME (60 * MILLISECOND)
#define QUEUE_FRAMES 1.5
/* A standing queue is data that waits at the sender all the time. The bitrate
 * is decreased so that such a queue drains within DRAIN_TIME. Meanwhile the
 * encoder still gets at least MIN_SHARE times the bitrate that it would get
 * without the queue. */
#define DRAIN_TIME (200 * MILLISECOND)
#define MIN_SHARE 0.3

/* A queueing delay in the network of up to MAX_NETWORK_QUEUE is normal. This
 * limit is high because a mobile link can send a packet only every few ms. A
 * limit of 20 ms would be too low: it would halve the bitrate on a recorded
 * mobile link.
 *
 * A standing queue is a queue that was never empty in the last 100 ms. Its
 * delay is normal up to MAX_STANDING_QUEUE. RFC 8289 (section 4.3) recommends
 * that the delay of a standing queue is at most 10 % of the round-trip time.
 * The limit is computed for a round-trip time of 100 ms. */
#define MAX_NETWORK_QUEUE (60 * MILLISECOND)
#define MAX_STANDING_QUEUE (10 * MILLISECOND)
/* The age of the backlog is the time since the oldest unconfirmed byte left the
 * encoder. The excess age is this age minus the minimum age in the last few
 * seconds. An excess age of up to MAX_EXCESS_AGE is normal: the age grows until
 * the next report of the receiver arrives, and the time between two reports is
 * up to 50 ms. */
#define MAX_EXCESS_AGE (100 * MILLISECOND)
/* If the encoder produces less than USED_SHARE times its configured bitrate,
 * the rule ignores queues in the network, for two reasons:
 *
 * - The encoder is not limited by its bitrate. A lower bitrate would therefore
 *   not shorten the queues.
 * - The frames are small, so headers are a large part of each packet. The age
 *   of the backlog, which is the time since the oldest unconfirmed byte left
 *   the encoder, is computed from the bytes in flight and the encoder's bytes.
 *   The bytes in flight include headers, but the encoder's bytes do not. The
 *   computed age is therefore too high. */
#define USED_SHARE 0.4
/* If the queueing delay in the network is too high, the bitrate is set to at
 * most BETA times the rate at which the network delivers data (beta in
 * draft-ietf-rmcat-gcc-02, section 5.5). */
#define BETA 0.85

/* An outage of a mobile link often lasts only a few tenths of a second. After
 * the outage, the backlog drains at the rate of the link. The bitrate returns
 * at once to RETURN_SHARE times that rate, but at most to BETA times the
 * bitrate before the outage. RETURN_SHARE is small because the rate is often
 * measured too high: a base station often delivers a burst after an outage. */
#define RETURN_SHARE 0.5

/* If the transport drops packets because they would be late, the bitrate is too
 * high. It is then multiplied by BETA, at most once in each HOLD_TIME. For the
 * time DROP_TIME after the latest drop, two rules apply:
 *
 * - The bitrate does not rise.
 * - The estimate limits the bitrate even if the estimate is only a lower bound
 *   of the capacity.
 *
 * DROP_TIME is longer than the time between two requests for a key frame. If
 * each key frame is too large to be in time, the bitrate therefore falls until
 * the key frames are small enough. */
#define DROP_TIME (1200 * MILLISECOND)

/* Number of stored samples, each with the number of bytes that wait at the
 * sender. The samples must cover the last 1.5 frame periods. At 50 reports per
 * second, 128 samples cover 2.5 s, which is enough even for one frame per
 * second. */
#define SAMPLES 128

typedef struct
{
  guint64 time;
  guint64 bytes;
} QueueSample;

typedef struct
{
  BitrateBacklog backlog;
  QueueSample samples[SAMPLES]; /* ring buffer */
  guint n_samples, next_sample;
  /* Bitrate in bit/s that the encoder had when the queues of the network became
   * too long. When they have drained, the bitrate can return at once to a value
   * near this one. 0 = the queues are not too long at present. */
  gdouble rate_before;
  /* Rate in bit/s that the path carried when it was last full. The path counts
   * as full when the bitrate is decreased. 0 = the bitrate was never decreased.
   */
  gdouble full_rate;
  guint64 dropped;              /* packets in the latest report */
  /* time in ns at which the transport last dropped packets; 0 = never */
  guint64 dropped_at;
  /* earliest time in ns of the next decrease by BETA */
  guint64 cut_at;
  /* earliest time in ns of the next increase of the bitrate */
  guint64 step_at;
} EstimateRule;

static void
add_sample (EstimateRule * self, const BitrateReport * report)
{
  QueueSample *sample = &self->samples[self->next_sample];

  sample->time = report->now;
  sample->bytes = report->queued_bytes;
  self->next_sample = (self->next_sample + 1) % SAMPLES;
  self->n_samples = MIN (self->n_samples + 1, SAMPLES);
}

/* Returns the time in ns that the standing queue needs to drain at the
 * estimated rate. The standing queue is the minimum amount of data that waited
 * at the sender in the last 60 ms or the last 1.5 frame periods, whichever is
 * longer.
 */
static gdouble
get_queue_delay (EstimateRule * self, const BitrateReport * report)
{
  guint64 minimum = report->queued_bytes;
  gdouble time = QUEUE_TIME;
  guint i;

  if (report->queued_bytes == BITRATE_UNKNOWN)
    return 0;
  if (bitrate_backlog_is_known (&self->backlog))
    time = MAX (time, QUEUE_FRAMES
        * bitrate_backlog_get_frame_period (&self->backlog));
  add_sample (self, report);
  for (i = 0; i < self->n_samples; i++)
    if (self->samples[i].time + time >= report->now)
      minimum = MIN (minimum, self->samples[i].bytes);
  return minimum * 8e9 / report->estimate;
}

/* A queue that is too long drains only if the encoder gets less than the
 * available bitrate. This function returns the fraction of the available
 * bitrate that the encoder gets until the queue has drained. The fraction is
 * between MIN_SHARE and 1. `excess` is the part of the queueing delay, in ns,
 * that is above the normal queueing delay. If `excess` is larger, the fraction
 * is smaller. */
static gdouble
get_share (gdouble excess)
{
  return MAX (1 - excess / DRAIN_TIME, MIN_SHARE);
}

/* Returns the part of the measured queueing delay, in ns, that the stream
 * itself causes: the last packet of a frame waits behind the other packets of
 * the same frame. The transmission of a frame takes at most the whole frame
 * period, and usually half of it.
 *
 * dccpthinsink measures the delay of one packet in each round trip. This packet
 * often is the last packet of a frame, so the function returns half of the
 * frame period for dccpthinsink. mmtpsink measures the delay of each packet and
 * reports the minimum. The packet with the minimum delay did not wait behind
 * other packets of its frame, so the function returns 0 for mmtpsink. */
static gdouble
get_frame_delay (EstimateRule * self, const BitrateReport * report)
{
  if (report->round_trip == BITRATE_UNKNOWN)
    return 0;
  return bitrate_backlog_get_frame_period (&self->backlog) / 2;
}

/* Returns the maximum bitrate in bit/s that the present queues in the network
 * allow, or G_MAXDOUBLE if they are not too long. */
static gdouble
get_network_ceiling (EstimateRule * self, const BitrateReport * report,
    gdouble bitrate)
{
  gdouble excess, standing, age, frame_delay;

  bitrate_backlog_input (&self->backlog, report);
  if (!bitrate_backlog_is_known (&self->backlog)) {
    self->rate_before = 0;
    return G_MAXDOUBLE;
  }
  /* While the encoder outputs nothing, the length of the queues in the network
   * is unknown. If these queues were too long at the last measurement, the
   * bitrate must not increase. */
  if (bitrate_backlog_is_idle (&self->backlog))
    return self->rate_before > 0 ? bitrate : G_MAXDOUBLE;
  if (bitrate_backlog_get_put_rate (&self->backlog) < USED_SHARE * bitrate)
    return G_MAXDOUBLE;
  excess = bitrate_backlog_get_queue_excess (&self->backlog, report);
  standing = bitrate_backlog_get_standing_excess (&self->backlog, report);
  age = bitrate_backlog_get_excess (&self->backlog);
  frame_delay = get_frame_delay (self, report);
  excess = MAX (excess - MAX_NETWORK_QUEUE, standing - MAX_STANDING_QUEUE);
  excess = MAX (excess - frame_delay, age - MAX_EXCESS_AGE);
  if (excess <= 0)
    return G_MAXDOUBLE;
  return BETA * get_share (excess)
      * bitrate_backlog_get_drain_rate (&self->backlog);
}

static gboolean
has_dropped (const EstimateRule * self, const BitrateReport * report)
{
  return self->dropped_at > 0 && report->now < self->dropped_at + DROP_TIME;
}

/* Limits the bitrate if the transport has dropped packets because they were
 * late. If it has dropped packets since the last report, returns a maximum
 * bitrate below `bitrate`, in bit/s. Returns G_MAXDOUBLE (no limit) if it has
 * dropped none, or if this function has already reduced the bitrate in the last
 * HOLD_TIME. */
static gdouble
get_drop_ceiling (EstimateRule * self, const BitrateReport * report,
    gdouble bitrate)
{
  const gboolean is_new = report->dropped > self->dropped;

  self->dropped = report->dropped;
  if (!is_new)
    return G_MAXDOUBLE;
  self->dropped_at = report->now;
  if (report->now < self->cut_at)
    return G_MAXDOUBLE;
  self->cut_at = report->now + HOLD_TIME;
  return BETA * bitrate;
}

static gdouble
get_ceiling (EstimateRule * self, const BitrateLimits * limits,
    const BitrateReport * report, gdouble bitrate)
{
  gdouble free_rate = (1 - limits->headroom) * report->estimate;
  gdouble queue = get_queue_delay (self, report);

  if (queue > MAX_QUEUE)
    return free_rate * get_share (queue - MAX_QUEUE);
  if (report->is_lower_bound && !has_dropped (self, report))
    return MAX (bitrate, bitrate_backlog_is_padded (&self->backlog,
            report->now) ? free_rate : MAX_EXCESS * report->estimate);
  return free_rate;
}

/* Returns a bitrate to which the encoder may return at once, in bit/s. Such a
 * bitrate exists only if the queues of the network were too long and have now
 * drained. Otherwise returns 0. */
static gdouble
get_return_rate (EstimateRule * self, gdouble network_ceiling, gdouble bitrate)
{
  gdouble rate;

  if (network_ceiling < bitrate && self->rate_before == 0)
    self->rate_before = bitrate;
  if (self->rate_before == 0 || network_ceiling < G_MAXDOUBLE)
    return 0;
  rate = MIN (BETA * self->rate_before,
      RETURN_SHARE * bitrate_backlog_get_drain_rate (&self->backlog));
  self->rate_before = 0;
  return rate;
}

static gdouble
get_step (const EstimateRule * self, gdouble bitrate)
{
  if (bitrate >= CAREFUL_FROM * self->full_rate
      && bitrate <= CAREFUL_TO * self->full_rate)
    return CAREFUL_STEP;
  return STEP;
}

/* Returns the rate in bit/s at which the path is full. For mmtpsink, this is
 * the rate that the transport has estimated. dccpthinsink reports the rate that
 * its congestion control, TFRC, allows. This rate may be twice the rate that
 * the path carries (RFC 5348 section 4.3). For dccpthinsink, if the queues of
 * the network are too long, the result is therefore limited to the rate at
 * which data are delivered. */
static gdouble
get_full_rate (EstimateRule * self, const BitrateReport * report,
    gdouble network_ceiling)
{
  if (network_ceiling == G_MAXDOUBLE || report->round_trip == BITRATE_UNKNOWN)
    return report->estimate;
  return MIN (report->estimate,
      bitrate_backlog_get_drain_rate (&self->backlog));
}

static gdouble
feedback (gpointer rule, const BitrateLimits * limits,
    const BitrateReport * report, gdouble bitrate)
{
  EstimateRule *self = rule;
  gdouble ceiling, network_ceiling, drop_ceiling, return_rate;

  network_ceiling = get_network_ceiling (self, report, bitrate);
  drop_ceiling = get_drop_ceiling (self, report, bitrate);
  if (report->estimate == 0)
    return bitrate;
  ceiling = MIN (get_ceiling (self, limits, report, bitrate), network_ceiling);
  ceiling = MIN (ceiling, drop_ceiling);
  return_rate = get_return_rate (self, network_ceiling, bitrate);
  if (MIN (return_rate, ceiling) > bitrate) {
    self->step_at = report->now + HOLD_TIME;
    return MIN (return_rate, ceiling);
  }
  if (ceiling <= bitrate) {
    if (ceiling < bitrate) {
      self->full_rate = get_full_rate (self, report, network_ceiling);
      self->step_at = report->now + HOLD_TIME;
    }
    return ceiling;
  }
  if (report->now < self->step_at || has_dropped (self, report)
      || bitrate_backlog_is_idle (&self->backlog))
    return bitrate;
  self->step_at = report->now + STEP_INTERVAL;
  return MIN (bitrate * (1 + get_step (self, bitrate)), ceiling);
}

const BitrateRule bitrate_estimate_rule = {
  "estimate", "The transport estimates what the network carries",
  sizeof (EstimateRule), NULL, feedback
};
