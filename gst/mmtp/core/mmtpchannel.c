/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is in flight on a path, what its reports say, and what its congestion
 * control makes of it; see the header. */

#include "mmtpchannel.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* Ranges of losses tell 16 bits of a number: twice as many as this. */
#define MAX_RING 32768
/* What it begins with, a power of two; it grows when it is full. */
#define LEAST_RING 64
/* A token bucket of the depth of a millisecond: a timer that is late by so much
 * costs no rate ("new tokens are not generated until old tokens are used",
 * section 4.4 of the paper). */
#define TOKEN_LAG MILLISECOND
/* While the application limits a path its pacing rate is so many times higher,
 * as in the slow start of Linux (tcp_pacing_ss_ratio). */
#define LIMITED_GAIN 2
/* Before anything is known of a path: RFC 6298's first time-out is 1 s */
#define UNKNOWN_ROUND_TRIP SECOND
#define REPORT_PERIOD (50 * MILLISECOND)
/* Reports after which a longer interval between them is forgotten */
#define INTERVAL_MEMORY 16
/* The margin of the safe delay may take no more than this of D0: a path that
 * carries nothing is of no use to anybody. */
#define MOST_MARGIN 8
#define JITTERS 2
/* A packet is expected shortly before its deadline where less than this part of
 * D0 is left. */
#define MARGINAL_PART 4
/* A larger share of late packets calls for more time, a smaller one for less;
 * ns of the mean, and ns of time for each ns that passes. */
#define MANY_LATE 0.1
#define FEW_LATE 0.02
#define LATE_MEMORY (500. * MILLISECOND)
#define LATENESS_RISE 0.5
#define LATENESS_FALL 0.01
#define MAX_LATENESS_STEP (100 * MILLISECOND)
/* What is later than this was held up on its way. */
#define MAX_LATENESS (25 * MILLISECOND)
/* Part of what D0 leaves for the queue */
#define LATENESS_PART 3
/* Where a rate was configured nearly all of D0 may be spread of the delay. */
#define MOST_SAFE_EIGHTHS 7
/* A gap: nothing arrives for so long although something should have. Reports
 * come each 50 ms; schedulers of mobile networks pause for 20 to 60 ms. */
#define STALL_TIME (100 * MILLISECOND)
#define STALL_JITTERS 4
#define STALL_DEADLINE_PART 4
/* Before that a path is in doubt, where there is another one. */
#define DOUBT_TIME (30 * MILLISECOND)
#define DOUBT_JITTERS 2
/* A path of whose packets so many are lost does not deliver. At 10 % of loss
 * six of eight are lost once in forty thousand times. */
#define MISSED_PERCENT 75
#define LEAST_JUDGED 8
/* What is judged, and missed, is halved then. */
#define MOST_JUDGED 32
/* A path that is always busy is drained so often: each 10 s (BBR: 5 s), on slow
 * paths, where it costs more, each 100 round trips less that. */
#define DRAIN_PERIOD (10 * SECOND)
#define DRAIN_ROUNDS 100
#define DRAIN_PART 2
/* So many packets more may be queued than what is known to be in flight. */
#define QUEUE_PACKETS 3
#define MOST_DRAIN (400 * MILLISECOND)

MmtpChannel *
mmtp_channel_new (guint id, const gchar * name)
{
  MmtpChannel *channel = g_new0 (MmtpChannel, 1);

  channel->id = id;
  channel->name = g_strdup (name);
  channel->state = MMTP_CHANNEL_GONE;
  return channel;
}

void
mmtp_channel_free (MmtpChannel * channel)
{
  g_clear_pointer (&channel->control, mmtp_rate_control_free);
  g_free (channel->name);
  g_free (channel->ring);
  g_free (channel);
}

void
mmtp_channel_restart_judging (MmtpChannel * channel)
{
  channel->judged = channel->missed = 0;
}

void
mmtp_channel_open (MmtpChannel * channel, guint64 now,
    const MmtpChannelConfig * config)
{
  channel->longest = config->longest;
  channel->overhead = config->overhead;
  channel->configured_rate = config->rate;
  channel->state = MMTP_CHANNEL_OPENING;
  channel->blocked = FALSE;
  channel->unreported = channel->limited_until = channel->next;
  channel->in_flight = 0;
  channel->token = now;
  channel->data_size = config->longest;
  channel->report_period = channel->report_interval = REPORT_PERIOD;
  channel->report_time = channel->progress_time = 0;
  channel->arrival = channel->arrival_sent = 0;
  channel->is_stalled = FALSE;
  channel->gap = 0;
  channel->busy_since = channel->drain_window = 0;
  channel->round_trip = 0;
  mmtp_channel_restart_judging (channel);
  mmtp_path_delay_clear (&channel->delays);
  mmtp_path_delay_clear (&channel->load_delays);
  mmtp_recent_clear (&channel->byte_times);
  channel->busy_until = 0;
  channel->lateness = channel->late_share = 0;
  channel->marginal = 0;
  mmtp_recent_clear (&channel->round_trips);
  g_clear_pointer (&channel->control, mmtp_rate_control_free);
  memset (&channel->limits, 0, sizeof (channel->limits));
  /* [4.6] What the framework knows, until it is measured */
  channel->delay = channel->high_delay = config->delay ?
      config->delay : MMTP_NEVER;
}

static guint
get_packet_size (const MmtpChannel * channel)
{
  return channel->longest + channel->overhead;
}

void
mmtp_channel_start (MmtpChannel * channel, guint64 now,
    const MmtpRateControlClass * klass, guint64 rate)
{
  channel->progress_time = now;
  if (channel->control)
    return;
  if (channel->configured_rate)
    channel->control = mmtp_rate_control_new (&mmtp_token_control, now,
        get_packet_size (channel), channel->stats.round_trip,
        channel->configured_rate);
  else
    channel->control = mmtp_rate_control_new (klass, now,
        get_packet_size (channel), channel->stats.round_trip, rate);
  mmtp_rate_control_get_limits (channel->control, &channel->limits);
  channel->token = now;
}

/* --- sending ------------------------------------------------------------- */

static guint64
get_base_round_trip (const MmtpChannel * channel)
{
  return channel->stats.round_trip ? channel->stats.round_trip :
      UNKNOWN_ROUND_TRIP;
}

guint64
mmtp_channel_get_rate (const MmtpChannel * channel)
{
  guint64 round = get_base_round_trip (channel) + channel->report_interval;

  guint64 by_window = channel->limits.window * 8000 /
      MAX (round / 1000000, 1);

  if (channel->limits.delivery_rate && !channel->limits.is_app_limited)
    return channel->limits.delivery_rate;
  return MAX (MAX (channel->limits.delivery_rate, by_window), 1);
}

guint64
mmtp_channel_get_peak_rate (const MmtpChannel * channel)
{
  return MAX (mmtp_channel_get_rate (channel), channel->limits.peak_rate);
}

static guint64
get_time (guint64 rate, guint64 bytes)
{
  return rate ? bytes * 8 * (SECOND / 1000) / MAX (rate / 1000, 1) : 0;
}

guint64
mmtp_channel_get_cost (const MmtpChannel * channel, gsize size)
{
  return get_time (mmtp_channel_get_rate (channel), size + channel->overhead);
}

static void
grow_ring (MmtpChannel * channel)
{
  guint size = channel->ring_size ? channel->ring_size * 2 : LEAST_RING;
  MmtpSent *ring = g_new (MmtpSent, size);
  guint64 number;

  for (number = channel->kept; number < channel->next; number++)
    ring[number & (size - 1)] = channel->ring[number &
        (channel->ring_size - 1)];
  g_free (channel->ring);
  channel->ring = ring;
  channel->ring_size = size;
}

/* What is forgotten unreported is not in flight any more. */
static void
make_room (MmtpChannel * channel)
{
  if (channel->next - channel->kept < channel->ring_size)
    return;
  if (channel->ring_size < MAX_RING) {
    grow_ring (channel);
    return;
  }
  if (channel->unreported == channel->kept) {
    channel->in_flight -= mmtp_channel_get_sent (channel, channel->kept)->size;
    channel->unreported++;
  }
  channel->kept++;
}

/* While the application limits the path nobody knows what it carries: what
 * another path carried before it failed must not wait until that has been
 * found out. */
static guint64
get_pacing_rate (const MmtpChannel * channel)
{
  return channel->limits.pacing_rate *
      (channel->limits.is_app_limited ? LIMITED_GAIN : 1);
}

/* ns that so many bytes take, as single messages were transmitted; 0: unknown */
static guint64
get_byte_time (const MmtpChannel * channel, guint64 bytes)
{
  return bytes * MAX (mmtp_recent_get (&channel->byte_times), 0) / 1000;
}

/* When the bottleneck has transmitted this message, too. This is at the rate at
 * which single messages pass, so that it is known also while the application
 * limits the path. */
static void
predict (MmtpChannel * channel, guint64 now, MmtpSent * sent)
{
  channel->busy_until = MAX (channel->busy_until, now) +
      get_byte_time (channel, sent->size);
  sent->finish = channel->busy_until;
}

/* The newest message that arrived has `queued` ns of delay beyond that of a
 * short message on an idle path: what follows it is moved by as much as it was
 * off. */
static void
correct_prediction (MmtpChannel * channel, const MmtpSent * newest,
    guint64 queued)
{
  gint64 error = newest->time + queued - newest->finish;

  channel->busy_until = MAX ((gint64) channel->busy_until + error,
      (gint64) (newest->time + queued));
}

static void
take_token (MmtpChannel * channel, guint64 now, guint64 size)
{
  guint64 earliest = now > TOKEN_LAG ? now - TOKEN_LAG : 0;

  channel->token = MAX (channel->token, earliest) +
      get_time (get_pacing_rate (channel), size);
}

void
mmtp_channel_sent (MmtpChannel * channel, guint64 now, gsize size,
    guint64 stream_number, gboolean is_load)
{
  guint64 whole = size + channel->overhead;
  MmtpSent *sent;

  make_room (channel);
  sent = &channel->ring[channel->next & (channel->ring_size - 1)];
  channel->in_flight += whole;
  sent->stream_number = stream_number;
  sent->time = now;
  sent->in_flight = channel->in_flight;
  sent->size = whole;
  sent->is_load = is_load && size * 2 >= channel->data_size;
  sent->is_app_limited = channel->unreported < channel->limited_until;
  sent->is_missed = FALSE;
  sent->is_marginal = FALSE;
  sent->time_left = MMTP_NEVER;
  sent->expected = channel->delay == MMTP_NEVER ? MMTP_NEVER :
      now + mmtp_channel_get_expected_delay (channel, now);
  predict (channel, now, sent);
  channel->next++;
  take_token (channel, now, whole);
  if (channel->control)
    mmtp_rate_control_sent (channel->control, now, whole, channel->in_flight);
  channel->stats.packets++;
  channel->stats.bytes += size;
  if (stream_number == MMTP_NO_STREAM)
    return;
  channel->stats.data_packets++;
  mmtp_fading_add (&channel->data_bytes, now, MMTP_SHARE_PERIOD, size);
  channel->data_size = (channel->data_size * 15 + size) / 16;
  channel->large_size = MAX (size, (channel->large_size * 15 + size) / 16);
}

void
mmtp_channel_note_slack (MmtpChannel * channel, guint64 time_left,
    guint64 delay)
{
  MmtpSent *sent = &channel->ring[(channel->next - 1) &
      (channel->ring_size - 1)];

  sent->time_left = time_left;
  sent->is_marginal = time_left < delay + channel->deadline / MARGINAL_PART +
      (guint64) channel->lateness;
}

/* Delivery rate estimation, draft-ietf-ccwg-bbr, section 4.1.2.4: what is sent
 * until all that is in flight now has been reported says only how little the
 * application had to send. */
void
mmtp_channel_note_idle (MmtpChannel * channel)
{
  channel->limited_until = channel->next + 1;
}

gboolean
mmtp_channel_has_window (const MmtpChannel * channel, gsize size,
    gboolean is_alone)
{
  guint64 window = channel->limits.window;

  if (channel->drain_window)
    window = MIN (window, channel->drain_window);
  else if (is_alone)
    window += channel->limits.reserve;
  return channel->in_flight == 0 ||
      channel->in_flight + size + channel->overhead <= window;
}

guint64
mmtp_channel_get_overdue (const MmtpChannel * channel)
{
  return channel->report_time + channel->report_interval / 2 * 3;
}

const MmtpSent *
mmtp_channel_get_sent (const MmtpChannel * channel, guint64 number)
{
  if (number < channel->kept || number >= channel->next)
    return NULL;
  return &channel->ring[number & (channel->ring_size - 1)];
}

guint64
mmtp_channel_get_oldest (const MmtpChannel * channel)
{
  return MAX (channel->unreported, channel->kept);
}

const MmtpSent *
mmtp_channel_find_sent (const MmtpChannel * channel, guint16 low,
    guint64 * number)
{
  *number = mmtp_unwrap (low, 16, channel->unreported);
  return mmtp_channel_get_sent (channel, *number);
}

/* Short messages of control are no measure of whether it delivers; there are
 * more of them than of others before the stream begins. */
void
mmtp_channel_note_missed (MmtpChannel * channel, guint64 number)
{
  MmtpSent *sent;

  if (number < channel->kept || number >= channel->next)
    return;
  sent = &channel->ring[number & (channel->ring_size - 1)];
  if (sent->is_load && !sent->is_missed)
    channel->missed++;
  sent->is_missed = TRUE;
}

void
mmtp_channel_forget_sent (MmtpChannel * channel, guint64 time)
{
  while (channel->kept < channel->unreported) {
    const MmtpSent *sent = mmtp_channel_get_sent (channel, channel->kept);

    if (sent && sent->time >= time)
      return;
    channel->kept++;
  }
}

/* --- reports ------------------------------------------------------------- */

gboolean
mmtp_channel_is_possible (const MmtpChannel * channel,
    const MmtpRecord * record)
{
  guint64 highest, received, bytes;

  if (record->received == 0)
    return TRUE;
  highest = mmtp_unwrap (record->highest, 32, channel->unreported);
  received = mmtp_unwrap (record->received, 32, channel->stats.reported);
  if (highest >= channel->next || received > channel->next)
    return FALSE;
  bytes = mmtp_unwrap (record->bytes, 32, channel->reported_bytes);
  return bytes <= channel->stats.bytes;
}

/* By how much; reports of other channels come late, and counters don't go
 * back. */
static guint64
count_up (guint64 * counter, guint32 low)
{
  guint64 value = MAX (mmtp_unwrap (low, 32, *counter), *counter);
  guint64 more = value - *counter;

  *counter = value;
  return more;
}

/* `unreported` only grows, so each message is visited once in a session. One
 * REPORT visits at most what the ring remembers. */
void
mmtp_channel_settle (MmtpChannel * channel, guint64 now, guint64 highest)
{
  guint64 number;

  for (number = mmtp_channel_get_oldest (channel); number <= highest; number++) {
    const MmtpSent *sent = mmtp_channel_get_sent (channel, number);

    channel->stats.report_steps++;
    channel->judged += sent->is_load;
    channel->marginal += sent->is_marginal;
    channel->in_flight -= MIN (channel->in_flight, sent->size);
  }
  channel->unreported = highest + 1;
  channel->progress_time = now;
}

/* The receiver counts to 24 bits of 10 us; its clock as a number that does not
 * wrap, from an arbitrary zero. */
static guint64
unwrap_ticks (const MmtpChannel * channel, guint32 ticks)
{
  guint64 near = channel->arrival ? channel->arrival / MMTP_TICK_TIME :
      G_GUINT64_CONSTANT (1) << MMTP_TICKS_BITS;

  return mmtp_unwrap (ticks, MMTP_TICKS_BITS, near) * MMTP_TICK_TIME;
}

/* The jitter that is no stall yet. A path whose delay jumps has a large one, and
 * a stall that is noticed too late cannot be mended in time. */
static guint64
get_stall_jitter (const MmtpChannel * channel)
{
  gint64 jitter = STALL_JITTERS * MAX (channel->delays.jitter, 0);

  return MIN (jitter, (gint64) channel->deadline / STALL_DEADLINE_PART);
}

/* For how long a message should have been there when the receiver wrote its
 * latest report, by the receiver's own clock: it should have come as much later
 * than the newest one that arrived as it was sent later. A return path that
 * stalls does not look like this. */
static guint64
get_gap (const MmtpChannel * channel, const MmtpSent * sent)
{
  const guint64 expected = channel->arrival + sent->time - MIN (sent->time,
      channel->arrival_sent) + get_time (mmtp_channel_get_rate (channel),
      sent->size);

  return channel->reported - MIN (channel->reported, expected);
}

static void
check_stall (MmtpChannel * channel, guint32 reported)
{
  const MmtpSent *next = mmtp_channel_get_sent (channel,
      mmtp_channel_get_oldest (channel));

  channel->is_stalled = FALSE;
  channel->gap = 0;
  if (!next || channel->arrival == 0)
    return;
  channel->reported = unwrap_ticks (channel, reported);
  channel->gap = get_gap (channel, next);
  channel->is_stalled = channel->gap > STALL_TIME + get_stall_jitter (channel);
}

static guint64
get_doubt_time (const MmtpChannel * channel)
{
  return DOUBT_TIME + DOUBT_JITTERS * MAX (channel->delays.jitter, 0);
}

gboolean
mmtp_channel_is_overdue (const MmtpChannel * channel)
{
  return !channel->configured_rate && channel->gap > get_doubt_time (channel);
}

/* When a report of the message should have come at the latest */
static guint64
get_report_limit (const MmtpChannel * channel, const MmtpSent * sent)
{
  return sent->expected + channel->stats.round_trip / 2 +
      channel->report_interval / 2 * 3 + get_doubt_time (channel);
}

gboolean
mmtp_channel_is_missing (const MmtpChannel * channel, const MmtpSent * sent,
    guint64 now)
{
  if (channel->configured_rate || channel->arrival == 0)
    return FALSE;
  return get_gap (channel, sent) > get_doubt_time (channel) ||
      (sent->expected != MMTP_NEVER && now > get_report_limit (channel, sent));
}

gboolean
mmtp_channel_is_in_doubt (const MmtpChannel * channel, guint64 now)
{
  const MmtpSent *oldest = mmtp_channel_get_sent (channel,
      mmtp_channel_get_oldest (channel));

  return oldest && mmtp_channel_is_missing (channel, oldest, now);
}

/* A queue that always stands hides the base delay, and is taken for it in the
 * end: now and then what is in flight is let go to half of what fills the
 * path, as BBR does (draft-ietf-ccwg-bbr, section 4.3.4, ProbeRTT), until a
 * message that was sent then has been reported. */
static void
begin_drain (MmtpChannel * channel, guint64 now)
{
  guint64 window = mmtp_channel_get_rate (channel) / 8 *
      (get_base_round_trip (channel) / 1000) / 1000000 / DRAIN_PART;

  channel->drain_window = MAX (window, 2 * get_packet_size (channel));
  channel->drain_end = now + MAX (MOST_DRAIN, 2 * get_base_round_trip
      (channel) + channel->report_interval);
  channel->drained_from = MMTP_NO_STREAM;
  channel->drain_least = G_MAXINT64;
}

static void
end_drain (MmtpChannel * channel, guint64 now)
{
  if (channel->drain_least != G_MAXINT64) {
    mmtp_path_delay_rebase (&channel->delays, channel->drain_least);
    mmtp_path_delay_clear (&channel->load_delays);
  }
  channel->drain_window = 0;
  channel->busy_since = now;
}

static void
follow_drain (MmtpChannel * channel, guint64 now, const MmtpSent * newest)
{
  guint64 period = MAX (2 * DRAIN_PERIOD, DRAIN_ROUNDS *
      get_base_round_trip (channel)) - DRAIN_PERIOD;

  if (newest && newest->is_app_limited)
    channel->busy_since = 0;
  else if (channel->busy_since == 0)
    channel->busy_since = now;
  if (channel->drain_window == 0) {
    if (channel->busy_since && now >= channel->busy_since + period &&
        !channel->configured_rate)
      begin_drain (channel, now);
    return;
  }
  if (channel->drained_from == MMTP_NO_STREAM) {
    if (channel->in_flight <= channel->drain_window)
      channel->drained_from = channel->next;
  } else if (channel->unreported > channel->drained_from) {
    channel->drain_least = MIN (channel->drain_least, channel->delays.least);
    end_drain (channel, now);
    return;
  }
  if (now >= channel->drain_end)
    end_drain (channel, now);
}

static void
follow (MmtpChannel * channel, guint64 now, const MmtpSent * newest,
    guint64 acked, guint n_acked, guint n_lost)
{
  MmtpRateSample sample = { now };

  sample.arrival = channel->arrival;
  sample.sent = channel->arrival_sent;
  sample.delivered = channel->delivered;
  sample.acked = acked;
  sample.n_acked = n_acked;
  sample.n_lost = n_lost;
  sample.in_flight = channel->in_flight;
  sample.deadline = channel->deadline;
  sample.packet_time = get_time (channel->limits.peak_rate,
      get_packet_size (channel));
  sample.round_trip = channel->round_trip;
  sample.base_round_trip = channel->stats.round_trip;
  sample.report_period = channel->report_interval;
  if (newest) {
    sample.sent_in_flight = newest->in_flight;
    sample.is_app_limited = newest->is_app_limited;
  }
  if (channel->delays.is_known) {
    gint64 base = mmtp_path_delay_get_base (&channel->delays);

    sample.queue_delay = channel->delays.least - base;
    sample.high_queue_delay = channel->delays.high - base;
    sample.noise = channel->delays.jitter;
  }
  if (channel->control) {
    mmtp_rate_control_feedback (channel->control, &sample);
    mmtp_rate_control_get_limits (channel->control, &channel->limits);
  }
}

static void
measure_byte_time (MmtpChannel * channel, guint64 now, const MmtpSent * newest)
{
  gint64 base = mmtp_path_delay_get_base (&channel->delays);
  gint64 queued = MAX (channel->delays.latest - base, 0);

  mmtp_recent_shift (&channel->byte_times, (channel->byte_times_base - base) *
      1000 / (gint64) (channel->data_size + channel->overhead));
  channel->byte_times_base = base;
  if (newest->is_load)
    mmtp_recent_add (&channel->byte_times, now, queued * 1000 / newest->size,
        1);
  correct_prediction (channel, newest, queued);
}

static void
note_delays (MmtpChannel * channel, guint64 now, const MmtpRecord * record,
    const MmtpSent * newest, guint n)
{
  gint64 tick = MMTP_TICK_TIME;

  if (record->flags & MMTP_RECORD_UNMEASURED)
    return;
  channel->delays.jitter = record->jitter * G_GINT64_CONSTANT (1000);
  mmtp_path_delay_add (&channel->delays, now, record->transit * tick,
      record->least_transit * tick, record->high_transit * tick, n);
  if (newest && newest->is_load)
    mmtp_path_delay_add (&channel->load_delays, now, channel->delays.latest,
        channel->delays.latest, channel->delays.latest, 1);
  if (newest)
    measure_byte_time (channel, now, newest);
}

/* Only of late: older ones weigh less. */
static void
forget_judged (MmtpChannel * channel)
{
  if (channel->judged < MOST_JUDGED)
    return;
  channel->judged /= 2;
  channel->missed /= 2;
}

/* Reports come on other paths, too, and earlier for a loss: how far apart they
 * really are. What is longer than was asked for is a report that was lost, or a
 * gap. */
static void
note_interval (MmtpChannel * channel, guint64 now)
{
  guint64 interval = MIN (now - channel->report_time, channel->report_period);

  if (channel->report_time)
    channel->report_interval = MAX (interval, channel->report_interval -
        channel->report_interval / INTERVAL_MEMORY);
  channel->report_time = now;
}

/* Whether the newest message came so long after its deadline, by our own clock,
 * that the path must have had a gap: no margin helps against that. */
static gboolean
was_held_up (const MmtpChannel * channel, const MmtpRecord * record,
    const MmtpSent * newest)
{
  gint64 queued = record->transit * (gint64) MMTP_TICK_TIME -
      mmtp_path_delay_get_base (&channel->delays);

  return newest->time_left + MAX_LATENESS < channel->delay + queued;
}

/* What is overloaded sends each packet just before it is too late, and what is
 * predicted wrongly by a few ms, or the receiver's clock, makes all of them
 * late. The receiver counts these: an integral control gives the packets more
 * time while many are late, and takes it back slowly when hardly any are. */
static void
follow_lateness (MmtpChannel * channel, const MmtpRecord * record,
    const MmtpSent * newest, guint64 since, guint late, guint n_acked)
{
  gdouble step = MIN (since, MAX_LATENESS_STEP), share, most;

  if (n_acked == 0 || !newest || newest->time_left == MMTP_NEVER ||
      channel->delay == MMTP_NEVER || was_held_up (channel, record, newest))
    return;
  share = MIN (late, channel->marginal) / (gdouble) MAX (n_acked, late);
  channel->marginal = 0;
  channel->late_share += (share - channel->late_share) *
      MIN (1, step / LATE_MEMORY);
  if (channel->late_share > MANY_LATE)
    channel->lateness += (channel->late_share - MANY_LATE) * step *
        LATENESS_RISE;
  else if (channel->late_share < FEW_LATE)
    channel->lateness -= step * LATENESS_FALL;
  most = (channel->deadline - MIN (channel->deadline, channel->delay)) /
      (gdouble) LATENESS_PART;
  channel->lateness = CLAMP (channel->lateness, 0, most);
}

gboolean
mmtp_channel_report (MmtpChannel * channel, guint64 now,
    const MmtpRecord * record, guint32 reported)
{
  guint64 highest, n_acked, acked, lost, late;
  guint64 since = now - MIN (now, channel->report_time);
  const MmtpSent *newest = NULL;

  forget_judged (channel);
  lost = count_up (&channel->stats.lost, record->lost);
  late = count_up (&channel->stats.late, record->late);
  channel->stats.jitter = record->jitter * (guint64) 1000;
  n_acked = count_up (&channel->stats.reported, record->received);
  mmtp_fading_add (&channel->came, now, MMTP_LOSS_PERIOD, n_acked);
  mmtp_fading_add (&channel->missing, now, MMTP_LOSS_PERIOD, lost);
  note_interval (channel, now);
  acked = count_up (&channel->reported_bytes, record->bytes) +
      n_acked * channel->overhead;
  channel->delivered += acked;
  highest = mmtp_unwrap (record->highest, 32, channel->unreported);
  if (n_acked > 0 && highest >= channel->unreported) {
    newest = mmtp_channel_get_sent (channel, highest);
    channel->arrival = unwrap_ticks (channel, record->arrival);
    channel->arrival_sent = newest ? newest->time : now;
    mmtp_channel_settle (channel, now, highest);
  }
  follow_lateness (channel, record, newest, since, late, n_acked);
  note_delays (channel, now, record, newest, n_acked);
  follow_drain (channel, now, newest);
  check_stall (channel, reported);
  follow (channel, now, newest, acked, n_acked, lost);
  return n_acked > 0;
}

void
mmtp_channel_add_round_trip (MmtpChannel * channel, guint64 now,
    guint64 round_trip)
{
  channel->round_trip = round_trip;
  mmtp_recent_add (&channel->round_trips, now, round_trip, 1);
  channel->stats.round_trip = mmtp_recent_get (&channel->round_trips);
}

/* --- delays -------------------------------------------------------------- */

void
mmtp_channel_update_delay (MmtpChannel * channel, guint64 now, gint64 offset)
{
  gint64 base, high;

  if (!channel->delays.is_known)
    return;
  base = mmtp_path_delay_get_base (&channel->delays) - offset;
  high = mmtp_path_delay_get_high (&channel->delays, now) - offset;
  channel->delay = MAX (base, 0);
  channel->high_delay = MAX (high, 0);
  channel->stats.delay = channel->delay;
  channel->stats.high_delay = channel->high_delay;
}

/* The queue that the last report told of has become shorter since by as much
 * as time has passed. It is no longer than what is in flight takes, give or
 * take a few packets. What is in flight beyond a round trip is a queue, too,
 * which may be longer. This is unknown while the application limits the path:
 * at a rate that was never asked for all that is in flight would seem to be a
 * queue. */
static guint64
get_queue (const MmtpChannel * channel, guint64 now)
{
  guint64 age = now - MIN (now, channel->report_time);
  guint64 told = 0, round, queue;

  if (channel->delays.is_known)
    told = MAX (channel->delays.least -
        mmtp_path_delay_get_base (&channel->delays), 0);
  told -= MIN (told, age);
  told = MIN (told, get_time (mmtp_channel_get_rate (channel),
          channel->in_flight + QUEUE_PACKETS * get_packet_size (channel)));
  if (channel->limits.is_app_limited)
    return told;
  round = get_base_round_trip (channel) + channel->report_interval / 2;
  queue = get_time (mmtp_channel_get_peak_rate (channel), channel->in_flight);
  queue -= MIN (queue, round);
  return MAX (told, queue);
}

/* By how much a packet takes longer than a short message: at the best rate of
 * late, or as it was measured where that is less, because the application
 * never asked for the rate of the path. A path that has not carried a packet yet
 * is believed to take no longer: at the rate of the few messages of control that
 * it has carried no packet would ever seem to be in time, and it would never be
 * used. */
static guint64
get_transmission_time (const MmtpChannel * channel)
{
  guint64 time = get_time (mmtp_channel_get_peak_rate (channel),
      channel->data_size + channel->overhead);
  gint64 measured = mmtp_path_delay_get_base (&channel->load_delays) -
      mmtp_path_delay_get_base (&channel->delays);

  if (!channel->load_delays.is_known)
    return channel->limits.is_app_limited ? 0 : time;
  return MIN (time, (guint64) MAX (measured, 0));
}

gboolean
mmtp_channel_is_measured (const MmtpChannel * channel)
{
  return channel->configured_rate != 0 ||
      mmtp_recent_is_known (&channel->byte_times);
}

guint64
mmtp_channel_get_expected_delay (const MmtpChannel * channel, guint64 now)
{
  guint64 delay = channel->delay;

  if (delay == MMTP_NEVER)
    delay = get_base_round_trip (channel) / 2;
  return delay + get_transmission_time (channel) + get_queue (channel, now);
}

/* What the delay deviates by, as far as D0 can bear it: on a mobile link the
 * slowest message of some seconds says nothing of the next one. */
static guint64
get_margin (const MmtpChannel * channel)
{
  gint64 margin = MAX (channel->delays.spread, JITTERS *
      channel->delays.jitter);

  return CLAMP (margin, 0, (gint64) channel->deadline / MOST_MARGIN) +
      (guint64) channel->lateness;
}

/* Where a rate was configured: one packet of 256 may take longer than the high
 * delay [4.4]. */
guint64
mmtp_channel_get_safe_delay (const MmtpChannel * channel, guint64 now)
{
  guint64 safe, most;

  if (!channel->configured_rate || channel->high_delay == MMTP_NEVER)
    return mmtp_channel_get_expected_delay (channel, now) +
        get_margin (channel);
  safe = channel->high_delay + (channel->high_delay -
      MIN (channel->delay, channel->high_delay)) / 4;
  most = channel->deadline / 8 * MOST_SAFE_EIGHTHS;
  return MIN (safe, MAX (channel->high_delay, most));
}

/* What no message of the last three reports was spared may be no queue of ours
 * but a path whose delay has grown. Until the time that it takes has passed, or
 * a report says otherwise, a message is safer on another path. */
static guint64
get_standing_delay (const MmtpChannel * channel, guint64 now)
{
  gint64 age = now - MIN (now, channel->report_time);
  gint64 standing = mmtp_path_delay_get_standing (&channel->delays) -
      mmtp_path_delay_get_base (&channel->delays) - age;

  return channel->delay + MAX (standing, 0);
}

/* Behind all that was sent, at the rate at which single messages pass */
static guint64
get_predicted_delay (const MmtpChannel * channel, guint64 now)
{
  guint64 queue = channel->busy_until - MIN (now, channel->busy_until);

  return channel->delay + queue + get_byte_time (channel,
      channel->large_size + channel->overhead) + get_margin (channel);
}

/* A gap is expected to last as long again as it has lasted. */
static guint64
get_delay_in_gap (const MmtpChannel * channel)
{
  return channel->delay + 2 * channel->gap + get_margin (channel);
}

guint64
mmtp_channel_get_cautious_delay (const MmtpChannel * channel, guint64 now,
    gboolean is_spare)
{
  guint64 delay = mmtp_channel_get_safe_delay (channel, now);

  if (!channel->delays.is_known || channel->delay == MMTP_NEVER ||
      channel->configured_rate)
    return delay;
  delay = MAX (delay, get_standing_delay (channel, now));
  if (mmtp_channel_is_overdue (channel))
    delay = MAX (delay, get_delay_in_gap (channel));
  return is_spare ? MAX (delay, get_predicted_delay (channel, now)) : delay;
}

guint64
mmtp_channel_get_best_delay (const MmtpChannel * channel, guint64 now)
{
  guint64 safe = mmtp_channel_get_safe_delay (channel, now);

  return channel->configured_rate ? safe : MIN (safe, channel->delay +
      (guint64) channel->lateness);
}

/* --- liveness ------------------------------------------------------------ */

/* A path may pass the small messages of control, which measure beautifully, but
 * nothing of a packet's size. */
gboolean
mmtp_channel_delivers (const MmtpChannel * channel)
{
  return channel->judged < LEAST_JUDGED ||
      channel->missed * 100 < channel->judged * MISSED_PERCENT;
}
