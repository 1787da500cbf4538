/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Congestion control by delivery rate. The congestion window is:
 *
 *   window = delivery rate *
 *       (round trip + half of the report period + queue target)
 *       + size of the largest burst
 *
 * Half of the report period is the mean time that the sender waits for a
 * report. The queue target is the queueing delay that is tolerated. A burst is
 * the data that the path delivers after a pause without deliveries.
 *
 * The window is at least the number of bytes that the path delivers in the
 * round trip and a whole report period. With a smaller window the path would be
 * idle until the next report arrives.
 *
 * The delivery rate is the maximum of recent samples, as in BBR
 * (draft-ietf-ccwg-bbr). It decreases only while there is evidence of a queue.
 * The queue target is inversely proportional to the square root of the rate, as
 * in Swift (Kumar et al., SIGCOMM 2020, section 3.5). This makes flows that
 * share a queue converge to equal rates.
 *
 * The module mmtpdeliveryrate.h measures rates and bursts. When a queue
 * overflows and packets are lost, the module mmtplossbound.h limits the window
 * similarly to CUBIC (RFC 9438). On some paths, the delay is long even without a
 * queue; the module mmtpusualdelay.h learns this delay.
 *
 * Constants without a source were tuned with the arena, a simulation of network
 * links (tests/benchmarks/mmtparena.c).
 */

#include "mmtpdeliveryrate.h"
#include "mmtpinitialwindow.h"
#include "mmtplossbound.h"
#include "mmtpusualdelay.h"

#include <math.h>

#define SECOND 1e9
#define MILLISECOND 1e6

/* --- delivery rate -------------------------------------------------------- */

/* Number of samples that a filter stores. Each report adds one sample. Reports
 * normally arrive every 50 ms, and at least 5 ms apart. */
#define SAMPLES 64
/* Minimum time over which a rate is measured. Mobile networks deliver packets
 * in batches, and so do links with frame aggregation. A batch arrives every few
 * ms. A measurement over a shorter time would show the rate of single batches.
 */
#define SPAN (50 * MILLISECOND)
/* The delivery rate is the maximum of the samples of the last FILTER ns, or of
 * the last FILTER_ROUND_TRIPS round trips if they take longer. BBR uses the
 * maximum of its last two cycles, and a cycle takes several round trips. */
#define FILTER (300 * MILLISECOND)
#define FILTER_ROUND_TRIPS 2
/* While a path that is slower than FILTER_RATE (bit/s) has a queue, FILTER is
 * replaced by a shorter time. This time is proportional to the rate, and at
 * least MIN_FILTER (ns). The slower a path is, the fewer packets it delivers in
 * SPAN. On a mobile network, their number varies at random, so the maximum of
 * many samples is much higher than the mean rate. A window that is computed from
 * this maximum keeps the queue long. In an overload, data that wait in a long
 * queue are often late, and the sender cannot call them back. */
#define FILTER_RATE 8e6
#define MIN_FILTER (100 * MILLISECOND)
/* A path has a queue in this sense if the queueing delay exceeds the threshold of
 * get_guard() by more than the product of this factor and the jitter. */
#define QUEUE_JITTERS 2
/* Time in ns over which the delivery rate is averaged for the application. */
#define MEAN_SPAN (250 * MILLISECOND)
/* If less than 1/USED_PART of the window is in flight, the delivery rate shows
 * how little the application sends, and nothing about the path. */
#define USED_PART 3
/* The peak rate is the maximum of the recent delivery rates. It decays to 1/e
 * in the time PEAK_MEMORY (ns). This time is longer than the gaps in which a
 * mobile network delivers nothing. It is shorter than the time for which the
 * capacity usually stays at a new value after a change. */
#define PEAK_MEMORY (3 * SECOND)
/* Share of the peak rate, which is the maximum of the recent delivery rates.
 * The window is computed from the measured rate or from this share of the peak
 * rate, whichever is higher. Reason: after a gap in which the path delivered
 * nothing, the measured rate may be too low. */
#define PEAK_SHARE 0.25

/* --- queue ---------------------------------------------------------------- */

/* The queue target is the queueing delay that is tolerated. On a path with the
 * rate r, the queue target is TARGET * sqrt (TARGET_RATE / r). On a path of
 * TARGET_RATE (4 Mbit/s), it is therefore TARGET.
 *
 * The result is limited. The upper limit is MAX_TARGET or 1/DEADLINE_PART of
 * the initial delay (D0, the latency of the session), whichever is less. The
 * lower limit is MIN_TARGET. If the upper limit is below MIN_TARGET, the queue
 * target is MIN_TARGET. */
#define TARGET (60 * MILLISECOND)
#define TARGET_RATE 4e6
#define MIN_TARGET (10 * MILLISECOND)
#define MAX_TARGET (150 * MILLISECOND)
#define DEADLINE_PART 8
/* A report shows a queue only if all delays that were measured in the last
 * STANDING_TIME (ns) are long. The reason is that a queue delays every message,
 * whereas jitter delays only some messages. The minimum of these delays
 * therefore counts as the queueing delay. The receiver normally sends three
 * reports in STANDING_TIME. Copa uses the minimum round trip of a recent period
 * for the same purpose (the standing round trip, NSDI 2018, section 2.1). */
#define STANDING_TIME (150 * MILLISECOND)
/* The reserve is the number of bytes that may be in flight beyond the window
 * while nothing arrives over the path. It is the product of the rate of the
 * path and a time. This time depends on the state of the path:
 *
 * - If the path has no queue, and its rate is at most TARGET_RATE, the time is
 *   TRUST.
 * - If the rate is higher, the time is shorter. It is inversely proportional to
 *   the square root of the rate.
 * - If recent reports of the receiver have shown a queue, the time is shorter
 *   too. About the last sixteen reports (CONGESTION_REPORTS) count. The time is
 *   multiplied by the share of these reports that showed no queue.
 *
 * An earlier version multiplied it by the third power of this share, and had no
 * reserve after a queue had overflowed. On mobile links and on links with
 * jitter, fewer frames were then in time. */
#define TRUST (250 * MILLISECOND)
#define CONGESTION_REPORTS 16
/* A silence is a time in which no report arrives. Its cause may be the path or
 * the return path. After the silence, the reports show the cause. If the path
 * lost no message and delayed none for long, only the return path was
 * interrupted. The same is then likely for the next silence. A delay is long if
 * it exceeds the sum of SILENT_QUEUE (ns), the jitter, and the threshold that
 * get_guard () returns.
 *
 * A silence counts if it is longer than MIN_SILENCE (ns) and longer than
 * SILENT_PERIODS report periods. If its cause was the return path, the time TRUST
 * is replaced by SILENCE_FACTOR times the silence, if this is longer, but by at
 * most MAX_TRUST. This lasts until a report shows a loss or a long delay. The
 * factor for recent queues still applies. */
#define MIN_SILENCE (300 * MILLISECOND)
#define SILENT_PERIODS 3
#define SILENT_QUEUE (100 * MILLISECOND)
#define SILENCE_FACTOR 2
#define MAX_TRUST (2 * SECOND)
/* The usual delay (mmtpusualdelay.h) is what the path adds to its base delay
 * although it has no queue. It is at most 1/USUAL_PART of D0, the latency of the
 * session. */
#define USUAL_PART 3
/* A round shows that there was no queue in the round before if the delivery
 * rate has grown by more than the factor LEARN_GROWTH. In the start phase, the
 * factor is LEARN_START_GROWTH. A smaller growth may be a fluctuation of the
 * capacity. */
#define LEARN_GROWTH 1.3
#define LEARN_START_GROWTH 1.5
/* The window is multiplied by a gain. If the window is fully used during a
 * round and no lasting queue builds up, the path can carry a higher rate than
 * the measured rate. The gain is then multiplied by GAIN_STEP. The maximum gain
 * is MAX_GAIN.
 *
 * A round lasts for GAIN_ROUND ns, or for GAIN_ROUND_TRIPS round trips if these
 * take longer. */
#define GAIN_STEP 1.1
#define MAX_GAIN 3
#define GAIN_ROUND SECOND
#define GAIN_ROUND_TRIPS 2

/* --- start ---------------------------------------------------------------- */

/* On a path with a long round trip, the start phase is fast: the window becomes
 * up to four times as large in a round trip, and not only twice as large. SUSS
 * does the same (Arghavani et al., SIGCOMM 2024). A round trip is long if it
 * takes at least LONG_PERIODS report periods. Several reports then arrive in a
 * round trip, so a queue is noticed early.
 *
 * For each byte that has arrived, the window grows by FAST_GROWTH bytes if the
 * report shows no queue, and by SLOW_GROWTH bytes otherwise. A report shows no
 * queue if its maximum queueing delay does not exceed a threshold. The
 * threshold is the round trip divided by CLEAR_ROUND_TRIPS. If this quotient is
 * less than MIN_CLEAR (ns), the threshold is MIN_CLEAR. If it is more than
 * MAX_CLEAR (ns), the threshold is MAX_CLEAR. HyStart++ ends slow start at the
 * same threshold (RFC 9406, section 4.2). */
#define LONG_PERIODS 2
#define FAST_GROWTH 3
#define SLOW_GROWTH 1.
#define CLEAR_ROUND_TRIPS 8
#define MIN_CLEAR (4 * MILLISECOND)
#define MAX_CLEAR (16 * MILLISECOND)
/* A packet train is a number of packets that are sent at once (mmtptrain.h).
 * The rate of a new path is estimated from packet trains if another path
 * already carries the stream. As long as the rate of the new path is unknown,
 * the bytes of TRAIN_PACKETS full packets may be sent at once. Control messages
 * count, too. Further packets might be lost, because short queues of access
 * links hold four packets.
 *
 * In the start phase (slow start), a train can enlarge the window, which is the
 * number of bytes that may be in flight. The train window is the number of
 * bytes that the path delivers at the estimated rate in a certain time. This
 * time is the sum of the round trip and the report period. The window is raised
 * to the product of TRAIN_SHARE and the train window, unless the window is
 * larger already. Hoe proposed to set the threshold of slow start in this way
 * ("Improving the Start-up Behavior of a Congestion Control Scheme for TCP",
 * SIGCOMM 1996).
 *
 * The estimated rate may be too high. Two rules therefore limit the window in
 * the start phase:
 *
 * - A train raises the window to at most TRAIN_GROWTH times the bytes that were
 *   in flight when the newest reported packet was sent.
 * - When the window has become as large as the train window, it grows by only
 *   LATE_GROWTH bytes for each byte that has arrived, as in Conservative Slow
 *   Start (RFC 9406, section 4.2).
 *
 * If there is only one path, packet trains are not used. The handshake has then
 * estimated the rate of the path, and an error of a packet train would harm the
 * whole stream. */
#define TRAIN_PACKETS 4
#define TRAIN_SHARE 0.7
#define TRAIN_GROWTH 8
#define LATE_GROWTH 0.25
/* The start phase ends if two conditions hold at the same time. The first is
 * that at least 1/USED_PART of the window is in flight. The second is that the
 * measured rate is less than GUESS_RATIO times the first estimate of the rate,
 * which the handshake made. */
#define GUESS_RATIO 1.3
/* The start phase also ends if the rate has hardly grown in START_ROUNDS
 * consecutive rounds: in each of them by less than the factor START_GROWTH.
 * draft-ietf-ccwg-bbr, section 4.3.1.2, uses three rounds. */
#define START_GROWTH 1.25
#define START_ROUNDS 2
/* A long queueing delay ends the start phase only if at least this number of
 * packets is in flight. Single control messages do not build up a queue of
 * their own, so their delay must not end the start phase.
 */
#define START_PACKETS 3

/* --- competition ---------------------------------------------------------- */

/* A competing flow is assumed to fill the queue if the queueing delay stays
 * above a limit for a long time. The long time is COMPETITION_TIME (ns) or
 * COMPETITION_ROUND_TRIPS round trips, whichever is longer. Our own packets can
 * also cause a queueing delay when no other flow shares the queue. The limit is
 * this own queueing delay, multiplied by the factor STANDING. */
#define STANDING 1.25
/* A competing flow is detected if the queueing delay exceeds a limit for a long
 * time. The limit is normally STANDING times the delay that our own packets can
 * cause. If the path delivers less than SMALL_SHARE of its long-term rate, the
 * limit is just that delay, without the factor STANDING. */
#define SMALL_SHARE 0.4
#define COMPETITION_TIME (2 * SECOND)
#define COMPETITION_ROUND_TRIPS 10

/* minimum window in packets */
#define MIN_PACKETS 2
/* Ratio of the pacing rate to the delivery rate. It is greater than 1, so that
 * packets can fill the link quickly after a gap in which nothing was delivered.
 * BBR uses the same factor in its start phase. */
#define PACING_GAIN 2
/* Once losses have set a limit for the window, a window on a path with a long
 * round trip may be less than SPREAD_GAIN times the bandwidth-delay product. Its
 * packets are then spread over the time until the reports about them arrive,
 * which is the round trip plus the report period: the pacing rate is
 * SPREAD_GAIN times the window, divided by this time. RFC 9002, section 7.7,
 * recommends the same factor.
 *
 * With PACING_GAIN, the whole window would be sent in a part of the round trip,
 * and nothing in the rest of it. The queue of the path would then overflow
 * again and again, if it is short, and most of the rate would remain unused. A
 * larger window needs no spreading. Beside TCP, it would even get less than its
 * share. */
#define SPREAD_GAIN 1.25

typedef struct
{
  /* time in ns at which the sample was taken, and its value: either a rate in
   * bytes per ns, or a queueing delay in ns */
  gdouble time, value;
} Sample;

typedef struct
{
  Sample samples[SAMPLES];      /* ring buffer */
  guint n, next;
} Filter;

typedef struct
{
  guint packet;
  MmtpDeliveryRate delivery;
  Filter rates, queues;
  /* delivery rate in bytes per ns; 0 if unknown */
  gdouble rate;
  /* `peak_rate` is the maximum of the recent values of `rate`. It decays with
   * time. `peak_time` is the time in ns up to which the decay was computed. */
  gdouble peak_rate, peak_time;
  /* mean delivery rate in bytes per ns, averaged over the last MEAN_SPAN; this
   * rate is reported to the application */
  gdouble mean_rate;
  gdouble base_round_trip, period, noise, deadline;     /* in ns */
  gboolean is_starting;         /* slow start */
  gdouble start_window;         /* in bytes */
  /* First estimate of the path's rate, made by the handshake or from a PROBE, in
   * bytes per ns. 0 if there is none, or if it is only a lower bound. */
  gdouble guess;
  /* highest rate of the packet trains in the start phase, in bytes per ns; 0 if
   * there was none */
  gdouble train_rate;
  /* TRUE if another path was active when this path started. The rate of this
   * path is then estimated from packet trains. */
  gboolean has_other_paths;
  /* Delivery rate (bytes per ns) and time (ns) at the end of the latest
   * complete round. The start phase consists of rounds, each of which lasts at
   * least one round trip. */
  gdouble start_rate, start_round;
  /* number of consecutive rounds of the start phase in which the rate hardly
   * grew */
  guint flat_rounds;
  /* Share (0 to 1) of the recent reports that showed a queue: a queueing delay
   * above the threshold that get_guard () returns. */
  gdouble congestion;
  MmtpUsualDelay usual;
  /* factor by which the window is multiplied, at least 1 */
  gdouble gain;
  /* TRUE if the queue overflowed since `round_began`, the start of the current
   * round */
  gboolean has_overflowed;
  /* minimum queueing delay in the last STANDING_TIME, in ns */
  gdouble queue;
  /* minimum queueing delay in ns since `round_began`, the start of the current
   * round */
  gdouble min_queue;
  gdouble round_began;
  /* Time in ns of the last report whose queueing delay was so short that our
   * own packets alone could have caused it. Since then, the delay has been
   * longer. */
  gdouble standing_since;
  gboolean is_competing;
  gdouble report_time;          /* time in ns of the last report; 0 if none */
  /* Time in ns that replaces TRUST if it is longer, because the return path was
   * interrupted before; 0 if this is not known. See MIN_SILENCE. */
  gdouble silence_trust;
  MmtpLossBound bound;
  gboolean is_app_limited;
  /* TRUE if at least 1/USED_PART of the window is in flight */
  gboolean is_used;
} Delivery;

static void
init (gpointer control, guint64 now, const MmtpRateControlStart * start)
{
  Delivery *self = control;

  self->packet = start->packet;
  self->is_starting = self->is_app_limited = TRUE;
  self->start_window = mmtp_get_initial_window (start);
  self->peak_rate = start->rate / 8 / SECOND;
  /* The first estimate of the path's rate is start->rate. Usually, `guess` gets
   * the value of this estimate, and the start phase may end when a measured
   * rate confirms `guess`. If start->is_minimum is TRUE, the first estimate is
   * only a lower bound, which no measurement can confirm. In this case `guess`
   * remains 0, so that the first estimate does not end the start phase. */
  if (!start->is_minimum)
    self->guess = self->peak_rate;
  self->has_other_paths = start->has_other_paths;
  self->peak_time = now;
  self->gain = 1;
  self->min_queue = G_MAXDOUBLE;
  self->standing_since = self->round_began = now;
  mmtp_loss_bound_init (&self->bound, start->packet);
  self->base_round_trip = start->round_trip;
  self->period = SPAN;
  self->deadline = SECOND;
}

/* --- filters over time ---------------------------------------------------- */

static void
filter_add (Filter * filter, gdouble now, gdouble value)
{
  filter->samples[filter->next].time = now;
  filter->samples[filter->next].value = value;
  filter->next = (filter->next + 1) % SAMPLES;
  filter->n = MIN (filter->n + 1, SAMPLES);
}

/* Returns the maximum of the samples that are not older than `since`. There
 * must be at least one such sample.
 */
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

/* --- window and delivery rate --------------------------------------------- */

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
  gdouble round_trip =
      MAX (self->base_round_trip, self->usual.round_trip.value);
  gdouble wait = MAX (self->period, self->period / 2 + get_target (self));
  gdouble window = self->gain * rate * (round_trip + wait) +
      mmtp_delivery_rate_get_extra (&self->delivery) +
      MIN_PACKETS * self->packet;

  if (self->is_starting)
    window = MAX (window, self->start_window);
  return window;
}

/* Returns a threshold in ns. It is the sum of the usual delay of the path and
 * half of the queue target, which is the tolerated queueing delay. If the
 * measured delay exceeds the base delay by more than this threshold, the path
 * counts as having a queue. */
static gdouble
get_guard (const Delivery * self)
{
  return get_target (self) / 2 + self->usual.queue.value;
}

/* Returns whether all reports of the last STANDING_TIME have shown a queue. */
static gboolean
has_queue (const Delivery * self)
{
  return self->queue > get_guard (self);
}

static void
note_peak (Delivery * self, gdouble now)
{
  self->peak_rate *= exp ((self->peak_time - now) / PEAK_MEMORY);
  self->peak_rate = MAX (self->peak_rate, self->rate);
  self->peak_time = now;
}

/* Returns the time in ns over which the maximum of the rate is taken if the
 * round trip is short. When the queue has gone, older samples count again, so
 * that the rate recovers at once. */
static gdouble
get_filter (const Delivery * self)
{
  if (self->queue <= get_guard (self) + QUEUE_JITTERS * self->noise)
    return FILTER;
  return CLAMP (FILTER * self->rate * 8 * SECOND / FILTER_RATE, MIN_FILTER,
      FILTER);
}

/* Updates the delivery rate. The rate decreases only if there is a queue and a
 * large part of the window is in flight. With few bytes in flight, the measured
 * rate only shows how little the application sends, and the queue may belong to
 * another flow. */
static void
follow_rate (Delivery * self, const MmtpRateSample * sample)
{
  gdouble span = MAX (SPAN, self->base_round_trip);
  gdouble filter = MAX (get_filter (self),
      FILTER_ROUND_TRIPS * self->base_round_trip);
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

/* Returns the queueing delay in ns that our own window causes if no other flow
 * shares the queue. */
static gdouble
get_own_queue (const Delivery * self)
{
  return get_target (self) + self->period / 2 + self->noise +
      2 * self->packet / MAX (self->peak_rate, 1e-9);
}

/* Detects a competing flow in the queue. While there is a queue, our window
 * becomes smaller. If the queue nevertheless remains, the queue belongs to
 * another flow, which keeps filling the queue until a packet is lost. Copa
 * detects competing flows in a similar way (Arun and Balakrishnan, NSDI 2018,
 * section 2.2). Copa assumes a competing flow if the queue has never been
 * nearly empty in a recent period. */
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

/* Returns whether the round trip is so long that several reports arrive in it.
 */
static gboolean
has_long_round_trip (const Delivery * self)
{
  return self->base_round_trip >= LONG_PERIODS * self->period;
}

/* Returns the duration of a round after the start phase, in ns. The gain and the
 * usual delay are updated once in each round. */
static gdouble
get_round (const Delivery * self)
{
  return MAX (GAIN_ROUND, GAIN_ROUND_TRIPS * self->base_round_trip);
}

/* Updates the usual delay of the path. In the start phase, nothing is learned
 * from a growing rate if the round trip is short. A round then lasts for only a
 * few reports, and on a mobile network its rate depends on chance. */
static void
follow_usual (Delivery * self, const MmtpRateSample * sample)
{
  MmtpUsualDelayRound round = { self->base_round_trip,
    self->deadline / USUAL_PART, get_round (self), LEARN_GROWTH,
    self->bound.window > 0
  };

  if (self->is_starting) {
    round.round = self->base_round_trip + self->period;
    round.growth = has_long_round_trip (self) ? LEARN_START_GROWTH : 0;
  }
  mmtp_usual_delay_add (&self->usual, sample, &round);
}

/* Adapts the gain, the factor by which the window is multiplied. The gain is
 * needed if the application never pauses, which means that it has always sent
 * as much as the window allows. The usual delay, which the path has without a
 * queue, is then known only if the rate has grown much. As long as it is
 * unknown, get_guard () returns a threshold that may be too low, and delay
 * without a queue may count as a queue. The measured rate may then fall below
 * the rate that the path can carry.
 *
 * At the end of each round, the function checks whether the path can carry a
 * higher rate. This is the case if the window was used up for the round and no
 * queue remains. The gain then increases. A round is a period of GAIN_ROUND or
 * GAIN_ROUND_TRIPS round trips, whichever is longer. A queue remains if the
 * minimum queueing delay of the round is above a threshold.
 *
 * If the queue overflowed in the round, the window was reduced. An empty queue
 * is then only the result of this reduction, so the gain does not increase.
 *
 * Even if there is no queue, jitter may have delayed all messages of a round.
 * The measured jitter, `noise`, is therefore added to the threshold for the
 * minimum queueing delay. */
static void
follow_gain (Delivery * self, const MmtpRateSample * sample)
{
  gdouble target = get_target (self);

  self->min_queue = MIN (self->min_queue, sample->queue_delay);
  if (self->min_queue > target + self->usual.queue.value && self->gain > 1)
    self->gain = MAX (1, self->gain / (1 + (GAIN_STEP - 1) / 4));
  if (sample->now < self->round_began + get_round (self))
    return;
  if (sample->is_app_limited || self->has_overflowed ||
      self->min_queue > get_guard (self) + self->noise)
    self->gain = MAX (1, self->gain / GAIN_STEP);
  else
    self->gain = MIN (MAX_GAIN, self->gain * GAIN_STEP);
  self->min_queue = G_MAXDOUBLE;
  self->has_overflowed = FALSE;
  self->round_began = sample->now;
}

static gboolean
has_start_queue (const Delivery * self, const MmtpRateSample * sample)
{
  return sample->sent_in_flight >= START_PACKETS * self->packet &&
      self->queue >
      get_target (self) + 2 * self->noise + self->usual.queue.value;
}

/* Returns a window in bytes: the rate of the packet train, multiplied by the
 * sum of the round trip and the report period. This sum is about the time from
 * the sending of a message to the arrival of the report about it. */
static gdouble
get_train_window (const Delivery * self)
{
  return self->train_rate * (self->base_round_trip + self->period);
}

/* Packet trains show how many bytes the path can deliver. If the window of the
 * start phase is too small for these bytes, the function enlarges the window.
 * If the handshake has estimated the rate of the path, all packet trains are
 * ignored. */
static void
follow_train (Delivery * self, const MmtpRateSample * sample)
{
  if (!self->is_starting || !self->has_other_paths || self->guess > 0)
    return;
  self->train_rate = MAX (self->train_rate, sample->train_rate / 8 / SECOND);
  self->start_window = MAX (self->start_window,
      MIN (TRAIN_SHARE * get_train_window (self),
          TRAIN_GROWTH * (gdouble) sample->sent_in_flight));
}

/* Returns by how many bytes the window of the start phase grows for each byte
 * that has arrived. */
static gdouble
get_start_growth (const Delivery * self, const MmtpRateSample * sample)
{
  gdouble limit = CLAMP (self->base_round_trip / CLEAR_ROUND_TRIPS, MIN_CLEAR,
      MAX_CLEAR);

  if (self->train_rate > 0)
    return self->start_window < get_train_window (self) ? SLOW_GROWTH :
        LATE_GROWTH;
  return has_long_round_trip (self) && sample->high_queue_delay <= limit ?
      FAST_GROWTH : SLOW_GROWTH;
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
    self->start_window += sample->acked * get_start_growth (self, sample);
  /* When the start phase ends, the measured rate replaces the peak rate. The
   * peak rate may still be the first estimate of the rate, which no measurement
   * has confirmed. */
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
  const gboolean is_congested = has_queue (self);

  self->is_app_limited = sample->is_app_limited && !is_congested;
  self->congestion += (is_congested - self->congestion) / CONGESTION_REPORTS;
}

/* Learns from a silence, a time without reports, whether the return path was
 * its cause. See MIN_SILENCE. */
static void
follow_silence (Delivery * self, const MmtpRateSample * sample)
{
  gdouble silence = sample->now - self->report_time;
  gdouble max = get_guard (self) + self->noise + SILENT_QUEUE;

  if (sample->n_lost > 0 || sample->high_queue_delay > max)
    self->silence_trust = 0;
  else if (self->report_time > 0 && sample->acked > 0 &&
      silence > MAX (MIN_SILENCE, SILENT_PERIODS * self->period))
    self->silence_trust = MIN (MAX (self->silence_trust,
            SILENCE_FACTOR * silence), MAX_TRUST);
  self->report_time = sample->now;
}

/* Returns how many bytes are in flight if the path is fully used and has its
 * present queue; 0 if this is unknown. The rate of the path is measured over
 * the shortest time that is at least SPAN. In the start phase, the rate grows to
 * several times its value in a round trip, so the mean rate of the last round
 * trip would be too low. */
static gdouble
get_full_in_flight (const Delivery * self, const MmtpRateSample * sample)
{
  return mmtp_delivery_rate_get (&self->delivery, SPAN) *
      (self->base_round_trip + MAX (sample->queue_delay, 0) + self->period / 2);
}

/* If a queue has overflowed, the losses limit the window to a part of the bytes
 * that were in flight in the last round trip, according to the reported
 * messages. In the start phase of a path with a long round trip, this number of
 * bytes is much less than the bandwidth-delay product, because the window has
 * since become several times as large. The limit is then derived from the rate
 * at which the path has delivered in the last SPAN before the report. */
static void
follow_losses (Delivery * self, const MmtpRateSample * sample)
{
  const gdouble window = get_window (self);

  if (!mmtp_loss_bound_add (&self->bound, sample, window,
          self->rate * self->base_round_trip, self->base_round_trip,
          self->is_competing || has_queue (self)))
    return;
  if (self->is_starting && !self->is_competing && has_long_round_trip (self))
    mmtp_loss_bound_raise (&self->bound,
        MIN (window, get_full_in_flight (self, sample)));
  self->is_starting = FALSE;
  self->has_overflowed = TRUE;
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
  follow_silence (self, sample);
  if (sample->acked == 0)
    return;
  follow_queue (self, sample);
  follow_rate (self, sample);
  follow_usual (self, sample);
  follow_gain (self, sample);
  follow_congestion (self, sample);
  follow_train (self, sample);
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

/* Returns whether the packets of the window have to be spread over the round
 * trip. See SPREAD_GAIN. */
static gboolean
has_small_window (const Delivery * self, gdouble window)
{
  return self->bound.window > 0 && !self->is_competing &&
      has_long_round_trip (self) &&
      window < SPREAD_GAIN * self->rate * self->base_round_trip;
}

/* Returns the pacing rate in bytes per ns. In the fast start phase, the packets
 * of a window are spread over a round trip. Otherwise bursts would make the
 * queue overflow while the path still has capacity to spare. */
static gdouble
get_pacing_rate (const Delivery * self, gdouble window)
{
  const gdouble rate = window / MAX (self->base_round_trip + self->period, 1);

  if (self->rate <= 0 || (self->is_starting && has_long_round_trip (self)))
    return window / MAX (self->base_round_trip, MILLISECOND);
  if (has_small_window (self, window))
    return SPREAD_GAIN * rate;
  return MAX (PACING_GAIN * self->rate, rate);
}

/* The reserve is the number of bytes that may be in flight beyond the window
 * while nothing arrives over the path. It is the product of the rate of the
 * path and a time. Returns this time in ns. */
static gdouble
get_trust (const Delivery * self)
{
  gdouble excess = self->rate * 8 * SECOND / TARGET_RATE;

  return MAX (TRUST / sqrt (MAX (excess, 1)), self->silence_trust) *
      (1 - self->congestion);
}

static void
get_limits (gconstpointer control, MmtpRateLimits * limits)
{
  const Delivery *self = control;
  gboolean is_unknown = self->is_app_limited || !self->is_used;

  limits->window = get_bounded_window (self);
  limits->reserve = self->rate * get_trust (self);
  limits->delivery_rate = (is_unknown ? self->rate : self->mean_rate) * 8 *
      SECOND;
  limits->peak_rate = self->peak_rate * 8 * SECOND;
  limits->is_app_limited = self->is_app_limited || self->is_starting;
  limits->has_queue_losses = self->bound.window > 0;
  if (self->has_other_paths && self->rate <= 0)
    limits->burst = TRAIN_PACKETS * self->packet;
  limits->pacing_rate = get_pacing_rate (self, limits->window) * 8 * SECOND;
}

const MmtpRateControlClass mmtp_delivery_control = {
  "delivery", sizeof (Delivery), init, NULL, feedback, get_limits
};
