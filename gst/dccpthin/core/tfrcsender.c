/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of tfrcsender.h: the sender of TFRC. Section numbers refer to
 * RFC 5348 unless another RFC is named. Some names are those of RFC 5348: X is
 * the allowed rate, R the round-trip time, s the packet size, p the loss event
 * rate, and tld the time at which X was last doubled. */

#include "tfrcsender.h"

#include <math.h>
#include <string.h>

#include "dccpsequence.h"
#include "tfrcreceiverates.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define NEVER G_MAXUINT64
#define LONG_AGO G_MININT64

/* Default maximum payload size in bytes: the Ethernet MTU of 1500 bytes minus
 * 40 bytes of headers. */
#define DEFAULT_MAX_SEGMENT 1460
/* Default resolution in ns of the timer with which packets are sent (t_gran).
 * RFC 5348 section 8.3 assumes 10 ms. Today's timers are more precise, so the
 * default here is 1 ms. */
#define DEFAULT_GRANULARITY (SECOND / 1000)
/* t_mbi of RFC 5348 in seconds. The allowed rate is always at least one packet
 * in this time (section 4.3). */
#define BACKOFF 64
/* Duration in ns of the no-feedback timer while the round-trip time is unknown
 * (RFC 5348 section 4.2). */
#define FIRST_TIMEOUT (2 * SECOND)
/* Weights of the old value in two moving averages of RFC 5348. The first weight
 * is q, for the round-trip time (section 4.3). The second weight is q2, for the
 * square root of the round-trip time (section 4.5). In the paper by Erixzon
 * (2004), q is 0.8 (equation 4.1). */
#define ROUND_TRIP_FILTER 0.9
#define SQUARE_ROOT_FILTER 0.9
/* Weight of the old value in the mean packet size, which is a moving average.
 * RFC 5348 section 4.1 suggests another average, namely the mean over the last
 * four loss intervals. A sender without losses has no loss intervals, so it
 * could not use that mean. The paper by Erixzon (2004) uses the mean of ten
 * packets. */
#define SEGMENT_FILTER 0.9
/* The mean deviation of the round-trip time is a moving average (RFC 6298
 * section 2.3). This is the weight of its old value. */
#define VARIANCE_FILTER 0.75
/* Minimum and maximum in ns of a measured round-trip time. No RFC specifies a
 * minimum. The minimum replaces a measured time of 0, which occurs if the clock
 * does not advance. It also replaces the very short round-trip time of a
 * loopback interface. The maximum is t_mbi (RFC 5348 section 4.3). */
#define MIN_ROUND_TRIP (SECOND / 1000)
#define MAX_ROUND_TRIP (BACKOFF * SECOND)
/* A sender is data-limited if its application sends less than the allowed rate.
 * If a data-limited sender has lost packets, the receive rate that the receiver
 * reports is multiplied by this factor (RFC 5348 section 4.3). The product then
 * limits the allowed rate. */
#define LIMITED_LOSS 0.85
/* Duration in ns of the moving average limited_share. This average is the share
 * of time in which the sender is data-limited, because its application sends
 * less than the allowed rate. In most streams a frame is sent every 16 to
 * 40 ms. A single large frame can use the whole allowed rate for a short time,
 * which says little about the stream. The average is therefore over many
 * frames. */
#define LIMITED_MEMORY (SECOND / 2)
/* W_init, from RFC 3390 (4.2) */
#define INITIAL_WINDOW 4380
/* The window counter has 4 bits. It increases by 1 after each quarter of a
 * round trip, but by at most 5 from one packet to the next (RFC 4342 section
 * 8.1). */
#define COUNTER_MASK 15
#define QUARTERS 4
#define MAX_QUARTERS 5
/* The send times of the latest packets are stored. SENT_KEPT is the maximum
 * number of these packets, and must be a power of 2. At 80 Mbit/s, 8192 packets
 * of 1220 bytes are sent in one second.
 */
#define SENT_KEPT 8192

/* The minimum round-trip time is determined separately in each period of
 * MIN_PERIOD (ns). The sender takes two minima, the minimum of the present
 * period and the minimum of the previous period, and uses the smaller one. The
 * duration of 10 s is taken from BBR (MinRTTFilterLen in draft-ietf-ccwg-bbr).
 */
#define MIN_PERIOD (10 * SECOND)

typedef struct
{
  /* The lowest 48 bits are the sequence number of the packet. The bits above
   * them are its CCVal, the value of the window counter that the packet
   * contained. */
  guint64 sequence;
  guint64 time;                 /* ns */
  /* Total number of payload bytes that were sent from the first packet up to
   * this packet. The payload of this packet is included. */
  guint64 total;
} Sent;

struct _TfrcSender
{
  TfrcSenderConfig config;
  /* Present time in ns. It is the greatest time that the caller has passed to
   * any function so far, so it never decreases. */
  guint64 now;

  /* --- sent packets */
  Sent sent[SENT_KEPT];
  gboolean has_sent;            /* a packet was sent */
  guint64 first_sent, last_sent;
  guint64 total;                /* payload bytes sent so far */
  /* Total number of payload bytes from the first packet up to the latest packet
   * that feedback has acknowledged. The payload of this packet is included. */
  guint64 total_acknowledged;
  gdouble mean_size;            /* 0: no data yet */

  /* --- the round trip; seconds, 0: unknown */
  gdouble round_trip;           /* R */
  gdouble square_root;          /* R_sqmean */
  gdouble last_sample;
  gdouble variance;
  /* A period is a time of the length MIN_PERIOD. `min_sample` is the minimum
   * round-trip time in seconds that was measured in the present period.
   * `previous_min` is the minimum round-trip time in seconds of the previous
   * period. `min_period_end` is the time in ns at which the present period
   * ends. */
  gdouble min_sample, previous_min;
  guint64 min_period_end;

  /* --- the rate, bytes per second */
  /* The allowed rate X. Its unit is packets per second until a round-trip time
   * R has been measured, and bytes per second afterwards. */
  gdouble rate;
  gdouble receive_limit;        /* recv_limit */
  TfrcReceiveRates receive_rates;       /* X_recv_set */
  gdouble loss_event_rate;      /* p */
  guint64 last_doubled;         /* tld */
  gdouble drop_rate;            /* X_drop; G_MAXDOUBLE: none */
  /* The limit drop_rate applies at least until this time in ns. The time is set
   * when the receiver reports that it is slow or that it has dropped packets.
   */
  guint64 drop_until;

  /* --- pacing */
  gboolean has_nominal;
  /* Nominal send time of the last data packet in ns: the earliest time at which
   * the pacing allowed this packet. The packet may have been sent later. */
  gint64 nominal;
  guint32 last_size;
  /* TRUE if another packet waited to be sent when the last data packet was sent
   */
  gboolean more;

  /* --- the window counter */
  guint8 counter;
  guint64 counter_time;

  /* --- The following fields say whether the sender was data-limited since the
   * previous feedback. Data-limited means that the application, and not the
   * allowed rate, limits how much is sent (RFC 5348 section 8.2.1). */
  gint64 not_limited_1, not_limited_2;
  gint64 t_new, t_next;
  /* Share of the recent time, from 0 to 1, in which the sender was
   * data-limited. A sender is data-limited while its application sends less
   * than the allowed rate. */
  gdouble limited_share;
  /* Time in ns at which limited_share was last updated. */
  guint64 limited_time;

  /* --- the no-feedback timer */
  guint64 timer;
  gboolean sent_since_timer;

  /* Sequence number that was acknowledged by the latest feedback with a receive
   * rate. */
  guint64 acknowledged;
  guint32 receive_rate;
  guint64 feedbacks, no_feedbacks, slow_receivers, dropped;
};

void
tfrc_sender_config_init (TfrcSenderConfig * config)
{
  memset (config, 0, sizeof (*config));
  config->equation = TFRC_EQUATION_EXACT;
  config->max_segment = DEFAULT_MAX_SEGMENT;
  config->reduce_oscillation = TRUE;
  config->granularity = DEFAULT_GRANULARITY;
}

TfrcSender *
tfrc_sender_new (const TfrcSenderConfig * config)
{
  TfrcSender *sender = g_new0 (TfrcSender, 1);
  guint i;

  sender->config = *config;
  if (sender->config.max_segment == 0)
    sender->config.max_segment = DEFAULT_MAX_SEGMENT;
  for (i = 0; i < SENT_KEPT; i++)
    sender->sent[i].sequence = G_MAXUINT64;
  sender->rate = 1;             /* one packet per second (section 4.2) */
  sender->receive_limit = INFINITY;
  sender->drop_rate = G_MAXDOUBLE;
  tfrc_receive_rates_init (&sender->receive_rates, 0);
  sender->not_limited_1 = sender->not_limited_2 = LONG_AGO;
  sender->limited_share = 1;
  sender->t_new = sender->t_next = LONG_AGO;
  sender->timer = NEVER;
  return sender;
}

void
tfrc_sender_free (TfrcSender * sender)
{
  g_free (sender);
}

/* --- conversions of units, and small functions that all parts of this file use
 */

/* Sets the time of the sender to `now`, and returns it. If `now` is earlier
 * than the time of the sender, this time stays unchanged and is returned. */
static guint64
advance (TfrcSender * sender, guint64 now)
{
  sender->now = MAX (sender->now, now);
  return sender->now;
}

static guint64
to_ns (gdouble seconds)
{
  return seconds * SECOND;
}

static gboolean
has_round_trip (TfrcSender * sender)
{
  return sender->round_trip > 0;
}

/* s */
static gdouble
get_segment_size (TfrcSender * sender)
{
  if (sender->config.segment_size > 0)
    return sender->config.segment_size;
  return sender->mean_size > 0 ? MAX (sender->mean_size, 1)
      : sender->config.max_segment;
}

/* s / t_mbi */
static gdouble
get_min_rate (TfrcSender * sender)
{
  return get_segment_size (sender) / BACKOFF;
}

/* Returns the initial rate in bytes per second: the initial window W_init
 * divided by the round-trip time R (RFC 5348 section 4.2). Section 4.4 uses the
 * same value with the name recover_rate. */
static gdouble
get_initial_rate (TfrcSender * sender)
{
  const gdouble segment = sender->config.max_segment;

  return MIN (4 * segment, MAX (2 * segment, INITIAL_WINDOW))
      / sender->round_trip;
}

/* Returns the allowed rate X in bytes per second. sender->rate contains X. Its
 * unit is packets per second as long as the round-trip time is unknown, and
 * bytes per second afterwards. A value in packets per second is multiplied by
 * the packet size. */
static gdouble
get_allowed_rate (TfrcSender * sender)
{
  return has_round_trip (sender) ? sender->rate
      : sender->rate * get_segment_size (sender);
}

/* Returns the rate in bytes per second at which the sender may send. It is the
 * minimum of two rates. The first one is the allowed rate X. The second one,
 * drop_rate, applies if the receiver has reported that it is slow or has
 * dropped packets (RFC 4342 section 5.2). */
static gdouble
get_rate (TfrcSender * sender)
{
  return MIN (get_allowed_rate (sender), MAX (sender->drop_rate,
          get_min_rate (sender)));
}

/* X_inst (4.5) */
static gdouble
get_instant_rate (TfrcSender * sender)
{
  const gdouble rate = get_rate (sender);
  gdouble instant;

  if (!sender->config.reduce_oscillation || !has_round_trip (sender))
    return rate;
  instant = rate * sender->square_root / sqrt (sender->last_sample);
  return MAX (instant, MIN (rate, get_min_rate (sender)));
}

static gdouble
get_equation_rate (TfrcSender * sender)
{
  return tfrc_equation_rate (sender->config.equation,
      get_segment_size (sender), sender->round_trip, sender->loss_event_rate);
}

static void
restart_timer (TfrcSender * sender)
{
  const gdouble packets = 2 * get_segment_size (sender)
      / get_allowed_rate (sender);

  sender->timer = sender->now + to_ns (MAX (4 * sender->round_trip, packets));
  sender->sent_since_timer = FALSE;
}

/* --- the round trip */

static void
note_min_sample (TfrcSender * sender)
{
  const gdouble sample = sender->last_sample;

  if (sender->now >= sender->min_period_end) {
    sender->previous_min = sender->min_period_end > 0 ? sender->min_sample
        : sample;
    sender->min_sample = sample;
    sender->min_period_end = sender->now + MIN_PERIOD;
  }
  sender->min_sample = MIN (sender->min_sample, sample);
}

static guint64
get_queue_delay (const TfrcSender * sender)
{
  const gdouble min = MIN (sender->min_sample, sender->previous_min);

  return to_ns (MAX (sender->last_sample - min, 0));
}

static void
take_sample (TfrcSender * sender, guint64 ns)
{
  const gdouble sample = (gdouble) CLAMP (ns, MIN_ROUND_TRIP,
      MAX_ROUND_TRIP) / SECOND;

  sender->variance = VARIANCE_FILTER * sender->variance +
      (1 - VARIANCE_FILTER) * fabs (sample - sender->round_trip);
  sender->round_trip = ROUND_TRIP_FILTER * sender->round_trip +
      (1 - ROUND_TRIP_FILTER) * sample;
  sender->square_root = SQUARE_ROOT_FILTER * sender->square_root +
      (1 - SQUARE_ROOT_FILTER) * sqrt (sample);
  sender->last_sample = sample;
  note_min_sample (sender);
}

/* Called for the first sample of the round-trip time. Until then, the rate is
 * one packet per second. The first sample raises the rate to one initial window
 * per round trip (RFC 5348 section 4.2). At this time, the rate is not yet
 * limited by the receive rate that the receiver reports. */
static void
take_first_sample (TfrcSender * sender, guint64 ns)
{
  const gdouble sample = (gdouble) CLAMP (ns, MIN_ROUND_TRIP,
      MAX_ROUND_TRIP) / SECOND;

  sender->round_trip = sender->last_sample = sample;
  note_min_sample (sender);
  sender->square_root = sqrt (sample);
  sender->variance = sample / 2;        /* RFC 6298 section 2.2 */
  sender->rate = get_initial_rate (sender);
  sender->last_doubled = sender->now;
  tfrc_receive_rates_init (&sender->receive_rates, sender->now);
  sender->counter_time = sender->now;
  if (sender->timer != NEVER)
    restart_timer (sender);
}

void
tfrc_sender_set_round_trip (TfrcSender * sender, guint64 now,
    guint64 round_trip)
{
  advance (sender, now);
  if (sender->feedbacks == 0)
    take_first_sample (sender, round_trip);
}

/* --- pacing: 4.6 */

static gint64
get_interval (TfrcSender * sender)
{
  const gdouble ns = sender->last_size / get_instant_rate (sender) * SECOND;

  return CLAMP (ns, 1, (gdouble) G_MAXINT32 * SECOND);
}

/* t_delta: 8.3 */
static gint64
get_tolerance (TfrcSender * sender, gint64 interval)
{
  gint64 tolerance = MIN (interval, (gint64) sender->config.granularity);

  if (has_round_trip (sender))
    tolerance = MIN (tolerance, (gint64) to_ns (sender->round_trip));
  return tolerance / 2;
}

/* Returns the nominal send time of the next packet in ns: the time at which the
 * pacing allows this packet. This time is computed from the current rate, so a
 * change of the rate has an immediate effect. After a pause, the sender may
 * send a burst to catch up. The number of packets in this burst is smaller than
 * the number that the rate allows in one round trip. */
static gint64
get_nominal (TfrcSender * sender)
{
  gint64 interval, credit;

  if (!sender->has_nominal)
    return sender->now;
  interval = get_interval (sender);
  credit = (gint64) to_ns (sender->round_trip) - interval
      - get_tolerance (sender, interval);
  return MAX (sender->nominal + interval,
      (gint64) sender->now - MAX (credit, 0));
}

guint64
tfrc_sender_next_send (TfrcSender * sender, guint64 now)
{
  gint64 at;

  now = advance (sender, now);
  if (!sender->has_nominal)
    return now;
  at = get_nominal (sender) - get_tolerance (sender, get_interval (sender));
  return MAX (at, (gint64) now);
}

/* --- sent packets */

static void
remember (TfrcSender * sender, guint64 sequence)
{
  Sent *sent = &sender->sent[sequence % SENT_KEPT];

  sent->sequence = sequence | (guint64) sender->counter << DCCP_SEQUENCE_BITS;
  sent->time = sender->now;
  sent->total = sender->total;
  if (!sender->has_sent)
    sender->first_sent = sequence;
  sender->has_sent = TRUE;
  sender->last_sent = sequence;
}

static const Sent *
find_sent (TfrcSender * sender, guint64 sequence)
{
  const Sent *sent = &sender->sent[sequence % SENT_KEPT];

  return (sent->sequence & DCCP_SEQUENCE_MASK) == sequence
      && sent->sequence != G_MAXUINT64 ? sent : NULL;
}

/* Returns the entry that is stored for the sent packet `sequence`. If this
 * packet is so old that its entry was overwritten, returns the oldest entry
 * that is still stored. That entry belongs to a later packet. A round-trip time
 * that is measured with it is therefore too short, but it is a lower bound. */
static const Sent *
find_sent_or_oldest (TfrcSender * sender, guint64 sequence)
{
  const Sent *sent = find_sent (sender, sequence);

  return sent ? sent : find_sent (sender,
      dccp_sequence_add (sender->last_sent, 1 - SENT_KEPT));
}

static void
count_quarters (TfrcSender * sender)
{
  guint64 quarters;

  if (!has_round_trip (sender))
    return;
  quarters = (sender->now - sender->counter_time)
      / MAX (to_ns (sender->round_trip / QUARTERS), 1);
  if (quarters == 0)
    return;
  sender->counter = (sender->counter + MIN (quarters, MAX_QUARTERS))
      & COUNTER_MASK;
  sender->counter_time = sender->now;
}

static void
average_size (TfrcSender * sender, guint32 size)
{
  sender->mean_size = sender->mean_size > 0 ?
      SEGMENT_FILTER * sender->mean_size + (1 - SEGMENT_FILTER) * size : size;
}

/* Called after a packet was sent. If the sender is not data-limited at this
 * time, the function stores the present time. A sender is data-limited if its
 * application, and not the allowed rate, limits how much it sends (RFC 5348
 * section 8.2.1).
 *
 * If a sender has to wait before it may send again, the usual reason is that it
 * has used up the allowed rate. It is then not data-limited. However, the
 * application may be slower than the allowed rate. The function assumes this if
 * two conditions are met. First, the packet was sent at least one packet
 * interval later than the allowed rate permitted. Second, no other packet waits
 * now. The sender must nevertheless wait for some time after this packet if the
 * allowed rate is low, for example less than two packets per round trip. This
 * wait does not limit an application that provides one packet every few
 * minutes. */
static void
note_not_limited (TfrcSender * sender, gboolean was_late)
{
  const gint64 now = sender->now;

  if (tfrc_sender_next_send (sender, now) <= (guint64) now)
    return;
  if (was_late && !sender->more)
    return;
  if (sender->not_limited_1 <= sender->t_new)
    sender->not_limited_1 = now;
  else if (sender->not_limited_2 <= sender->t_next)
    sender->not_limited_2 = now;
}

static gboolean
is_late (TfrcSender * sender)
{
  return sender->has_nominal
      && (gint64) sender->now - sender->nominal >= 2 * get_interval (sender);
}

guint8
tfrc_sender_sent (TfrcSender * sender, guint64 now, guint64 sequence,
    guint32 size, gboolean more)
{
  gboolean was_late;

  advance (sender, now);
  sequence &= DCCP_SEQUENCE_MASK;
  was_late = is_late (sender);
  if (!sender->has_nominal)
    sender->counter_time = sender->now;
  sender->nominal = get_nominal (sender);
  sender->has_nominal = TRUE;
  if (size > 0)
    average_size (sender, size);
  /* last_size is the packet size in bytes from which the pacing computes when
   * the next packet may be sent. If a packet size is configured, that size is
   * used. Otherwise it is the payload size of the packet that is sent now. If
   * this packet has no payload, the mean packet size is used. */
  sender->last_size = size > 0 && sender->config.segment_size == 0 ? size
      : get_segment_size (sender);
  sender->more = more;
  count_quarters (sender);
  sender->total += size;
  remember (sender, sequence);
  if (sender->timer == NEVER) {
    restart_timer (sender);
    if (!has_round_trip (sender))
      sender->timer = sender->now + FIRST_TIMEOUT;
  }
  sender->sent_since_timer = TRUE;
  note_not_limited (sender, was_late);
  return sender->counter;
}

void
tfrc_sender_sent_other (TfrcSender * sender, guint64 now, guint64 sequence)
{
  advance (sender, now);
  remember (sender, sequence & DCCP_SEQUENCE_MASK);
}

/* --- feedback: 4.3 */

/* Checks the sequence number that the feedback acknowledges. Returns FALSE in
 * two cases: no packet with this number was sent, or earlier feedback has
 * already acknowledged a packet with a greater number. */
static gboolean
is_credible (TfrcSender * sender, const TfrcFeedback * feedback)
{
  if (!sender->has_sent || feedback->acknowledged > DCCP_SEQUENCE_MASK
      || dccp_sequence_difference (sender->last_sent,
          feedback->acknowledged) < 0
      || dccp_sequence_difference (feedback->acknowledged,
          sender->first_sent) < 0)
    return FALSE;
  return sender->feedbacks == 0
      || dccp_sequence_difference (feedback->acknowledged,
      sender->acknowledged) >= 0;
}

/* Measures the round-trip time with feedback that acknowledges the packet
 * `sent`. The sample (R_sample) is the time since this packet was sent, minus
 * the Elapsed Time. The Elapsed Time is reported in the feedback: it is the
 * time that the receiver waited before it sent the feedback. If it is not
 * shorter than the time since the packet was sent, it is invalid and is not
 * subtracted. */
static void
time_feedback (TfrcSender * sender, const Sent * sent,
    const TfrcFeedback * feedback)
{
  guint64 sample = sender->now - sent->time;

  if (feedback->has_elapsed && feedback->elapsed < sample)
    sample -= feedback->elapsed;
  if (has_round_trip (sender))
    take_sample (sender, sample);
  else
    take_first_sample (sender, sample);
}

/* Called when feedback acknowledges the packet `sent`. About one round trip has
 * passed since this packet was sent, so the window counter must have increased
 * by at least 4 since then (RFC 4342 section 8.1). If it has not, it is
 * increased now. */
static void
raise_counter (TfrcSender * sender, const Sent * sent)
{
  const guint8 counter = sent->sequence >> DCCP_SEQUENCE_BITS;

  if (((sender->counter - counter) & COUNTER_MASK) >= QUARTERS)
    return;
  sender->counter = (counter + QUARTERS) & COUNTER_MASK;
  sender->counter_time = sender->now;
}

/* Returns whether the sender was data-limited in the interval to which this
 * feedback belongs (RFC 5348 section 8.2.1). Data-limited means that the
 * application, and not the allowed rate, limited how much was sent. The
 * interval ends at t_new, the time at which the acknowledged packet was sent.
 * Usually, the interval begins one round trip before t_new. If the t_new of the
 * previous feedback was even earlier, the interval begins at this previous
 * t_new. */
static gboolean
was_data_limited (TfrcSender * sender, gint64 t_new)
{
  const gint64 round_trip = to_ns (sender->round_trip);
  const gint64 t_old = sender->t_new == LONG_AGO ? t_new - round_trip :
      MIN (sender->t_new, t_new - round_trip);
  const gboolean is_limited =
      !(t_old < sender->not_limited_1 && sender->not_limited_1 <= t_new)
      && !(t_old < sender->not_limited_2 && sender->not_limited_2 <= t_new);

  sender->t_new = t_new;
  sender->t_next = sender->now;
  if (sender->not_limited_1 <= t_new && sender->not_limited_2 > t_new)
    sender->not_limited_1 = sender->not_limited_2;
  return is_limited;
}

/* Updates limited_share, a moving average from 0 to 1. It estimates for which
 * share of the recent time the application limited the rate. In the rest of
 * this time, the network limited the rate. If `is_limited` is TRUE, the
 * application has limited the rate since the previous call. If it is FALSE, the
 * network has. */
static void
note_limited (TfrcSender * sender, gboolean is_limited)
{
  const guint64 elapsed = MIN (sender->now - sender->limited_time,
      LIMITED_MEMORY);

  sender->limited_share += ((is_limited ? 1 : 0) - sender->limited_share)
      * elapsed / LIMITED_MEMORY;
  sender->limited_time = sender->now;
}

/* Returns whether the application has recently sent less than the allowed rate.
 * There is an exception: if the loss event rate determines the allowed rate,
 * the result is FALSE. The allowed rate then shows the capacity of the path. */
static gboolean
is_app_limited (TfrcSender * sender)
{
  if (sender->loss_event_rate > 0
      && get_equation_rate (sender) <= sender->receive_limit)
    return FALSE;
  return sender->limited_share >= 0.5;
}

/* Limits the loss event rate p to the range from 0 to 1. If `p` is not a number
 * (NaN), returns 1, which is the highest loss event rate. */
static gdouble
clamp_loss_event_rate (gdouble p)
{
  return p <= 1 ? MAX (p, 0) : 1;
}

static void
limit_by_receive_rate (TfrcSender * sender, gdouble receive_rate,
    gboolean is_limited, gboolean is_loss)
{
  TfrcReceiveRates *rates = &sender->receive_rates;
  gdouble times = 2;

  note_limited (sender, is_limited);
  if (is_limited && is_loss) {
    tfrc_receive_rates_halve (rates);
    tfrc_receive_rates_maximize (rates, sender->now,
        LIMITED_LOSS * receive_rate);
    times = 1;
  } else if (is_limited) {
    tfrc_receive_rates_maximize (rates, sender->now, receive_rate);
  } else {
    tfrc_receive_rates_update (rates, sender->now, receive_rate,
        to_ns (sender->round_trip));
  }
  sender->receive_limit = times * tfrc_receive_rates_get_max (rates);
}

/* Computes the allowed rate X (end of step 4 in RFC 5348 section 4.3). If
 * packets have been lost, X is computed with the TCP throughput equation. As
 * long as there was no loss, X is doubled, but at most once per round trip. In
 * two cases, X is not doubled:
 * - `may_double` is FALSE.
 * - During the last round trip, the receiver has reported that it is slow or
 *   that it has dropped packets (RFC 4340 section 11.6). */
static void
set_rate (TfrcSender * sender, gboolean may_double)
{
  const guint64 now = sender->now;

  if (sender->loss_event_rate > 0) {
    sender->rate = MAX (MIN (get_equation_rate (sender),
            sender->receive_limit), get_min_rate (sender));
  } else if (may_double && now >= sender->drop_until
      && now - sender->last_doubled >= to_ns (sender->round_trip)) {
    sender->rate = MAX (MIN (2 * sender->rate, sender->receive_limit),
        get_initial_rate (sender));
    sender->last_doubled = now;
  }
}

/* Limits the sending rate if the receiver reports that it is slow or that it
 * has dropped packets. The limit is drop_rate (X_drop).
 *
 * RFC 4342 section 5.2 does not have a separate limit. After dropped packets,
 * it reduces one reported value of the receive rate X_recv. This reduction
 * would have no effect here: the sender stores several values of X_recv, in
 * X_recv_set, and uses only the largest of them.
 *
 * A value of X_recv stays in X_recv_set for at least one round trip. The limit,
 * too, applies for at least one round trip. After that time, the limit is
 * removed by the first feedback that reports neither a slow receiver nor
 * dropped packets. */
static void
obey_receiver (TfrcSender * sender, const TfrcFeedback * feedback)
{
  const gdouble packet = get_segment_size (sender) / sender->round_trip;
  const gdouble received = sender->receive_rate > 0 ? sender->receive_rate
      : get_allowed_rate (sender);
  gdouble limit = G_MAXDOUBLE;

  sender->slow_receivers += feedback->slow_receiver;
  sender->dropped += feedback->dropped;
  if (feedback->dropped > 0)
    limit = MAX (received - feedback->dropped * packet, MIN (received, packet));
  else if (feedback->slow_receiver || feedback->dropped_others)
    limit = received;
  if (limit < G_MAXDOUBLE)
    sender->drop_until = sender->now + to_ns (sender->round_trip);
  else if (sender->now < sender->drop_until)
    return;
  sender->drop_rate = limit;
}

/* Processes feedback that contains a receive rate. A receive rate of 0 is
 * possible in the first feedback, because the receiver has not measured the
 * rate yet. If later feedback contains a receive rate of 0, the allowed rate is
 * not doubled. */
static void
take_feedback (TfrcSender * sender, const TfrcFeedback * feedback,
    gint64 t_new, gboolean is_first_sample)
{
  const gdouble p = clamp_loss_event_rate (feedback->loss_event_rate);
  const gboolean is_loss = feedback->new_loss_event
      || p > sender->loss_event_rate;
  const gboolean is_first = sender->feedbacks == 0;

  sender->feedbacks++;
  sender->acknowledged = feedback->acknowledged;
  sender->loss_event_rate = p;
  if (feedback->receive_rate > 0)
    limit_by_receive_rate (sender, feedback->receive_rate,
        was_data_limited (sender, t_new), is_loss);
  /* A new rate is computed from this feedback, except in one case: this
   * feedback has measured the round-trip time for the first time, and it
   * reports no losses. The first measurement has already set the initial rate
   * (RFC 5348 section 4.2), and this rate is kept. */
  if (!is_first_sample || p > 0)
    set_rate (sender, is_first || feedback->receive_rate > 0);
  /* In RFC 5348 section 4.3, the no-feedback timer is restarted in step 3,
   * before the new rate is computed. Here it is restarted afterwards, because
   * its duration depends on the new rate: the timer must last at least as long
   * as it takes to send two packets at this rate. */
  restart_timer (sender);
}

void
tfrc_sender_feedback (TfrcSender * sender, guint64 now,
    const TfrcFeedback * feedback)
{
  const gboolean is_first_sample = !has_round_trip (sender);
  const Sent *sent;

  advance (sender, now);
  if (!is_credible (sender, feedback))
    return;
  sent = find_sent_or_oldest (sender, feedback->acknowledged);
  if (sent) {
    time_feedback (sender, sent, feedback);
    raise_counter (sender, sent);
    /* total_acknowledged counts the payload bytes from the first packet up to
     * the latest acknowledged packet. It must not decrease. sent->total counts
     * the payload bytes up to the packet that this feedback acknowledges.
     *
     * is_credible () rejects old feedback, but it considers only earlier
     * feedback with a receive rate. If feedback without a receive rate has
     * already acknowledged a later packet, sent->total is less than
     * total_acknowledged. */
    sender->total_acknowledged = MAX (sender->total_acknowledged, sent->total);
  }
  if (!has_round_trip (sender))
    return;
  if (feedback->has_receive_rate)
    sender->receive_rate = feedback->receive_rate;
  obey_receiver (sender, feedback);
  if (feedback->has_receive_rate)
    take_feedback (sender, feedback, sent ? sent->time
        : sender->now - MIN (sender->now, to_ns (sender->round_trip)),
        is_first_sample);
}

/* --- the no-feedback timer: 4.4 */

guint64
tfrc_sender_next_wakeup (TfrcSender * sender)
{
  return sender->timer;
}

/* Limits the rate to `limit` bytes per second, but to no less than the minimum
 * rate. This function is called when the no-feedback timer expires after a
 * loss event. Half of the limit replaces all receive rates that the receiver
 * has reported, because the sender may send at twice the reported rate. (This
 * is the procedure Update_Limits of RFC 5348 section 4.4.) */
static void
update_limits (TfrcSender * sender, gdouble limit)
{
  limit = MAX (limit, get_min_rate (sender));
  tfrc_receive_rates_replace (&sender->receive_rates, sender->now, limit / 2);
  sender->receive_limit = limit;
  set_rate (sender, FALSE);
}

static void
halve_without_loss (TfrcSender * sender)
{
  const gdouble min = has_round_trip (sender) ? get_min_rate (sender)
      : 1.0 / BACKOFF;

  sender->rate = MAX (sender->rate / 2, min);
}

/* When the no-feedback timer expires, the rate is normally halved (RFC 5348
 * section 4.4). Returns TRUE if it must not be halved. This is the case if the
 * sender was idle and its rate is not much greater than its initial rate. */
static gboolean
is_spared (TfrcSender * sender, gdouble receive_rate)
{
  if (sender->sent_since_timer || sender->more)
    return FALSE;
  if (!has_round_trip (sender))
    return TRUE;
  return sender->loss_event_rate > 0 ?
      receive_rate < get_initial_rate (sender) :
      sender->rate < 2 * get_initial_rate (sender);
}

void
tfrc_sender_timeout (TfrcSender * sender, guint64 now)
{
  const gdouble receive_rate =
      tfrc_receive_rates_get_max (&sender->receive_rates);

  if (advance (sender, now) < sender->timer)
    return;
  sender->no_feedbacks++;
  if (!sender->sent_since_timer && !sender->more)
    note_limited (sender, TRUE);
  if (!is_spared (sender, receive_rate)) {
    if (sender->loss_event_rate <= 0)
      halve_without_loss (sender);
    else if (get_equation_rate (sender) > 2 * receive_rate)
      update_limits (sender, receive_rate);
    else
      update_limits (sender, get_equation_rate (sender) / 2);
  }
  restart_timer (sender);
}

void
tfrc_sender_get_state (TfrcSender * sender, TfrcSenderState * state)
{
  state->rate = get_rate (sender);
  state->instant_rate = get_instant_rate (sender);
  state->receive_limit = isinf (sender->receive_limit) ? G_MAXDOUBLE
      : sender->receive_limit;
  state->receive_rate = sender->receive_rate;
  state->loss_event_rate = sender->loss_event_rate;
  state->round_trip = to_ns (sender->round_trip);
  state->round_trip_variance = to_ns (sender->variance);
  state->queue_delay = get_queue_delay (sender);
  state->in_flight = sender->total - sender->total_acknowledged;
  state->segment_size = get_segment_size (sender);
  state->is_app_limited = is_app_limited (sender);
  state->feedbacks = sender->feedbacks;
  state->no_feedbacks = sender->no_feedbacks;
  state->slow_receivers = sender->slow_receivers;
  state->dropped = sender->dropped;
}
