/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtppath.h: a path of the sender, with its messages in
 * flight, reports, and limits. */

#include "mmtppath.h"
#include "mmtpinitialwindow.h"
#include "mmtptrain.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* The token bucket discards tokens that have been unused for longer than a
 * limit (section 4.4 of the MMTP paper). The limit is usually TOKEN_LAG (in
 * ns). On a path that may send bursts, the limit can be longer; the function
 * get_burst_time () returns it.
 *
 * If a timer fires late by at most TOKEN_LAG, the tokens wait no longer than
 * the limit. No token is then discarded, so the sending rate does not decrease.
 */
#define TOKEN_LAG MILLISECOND
/* While the application sends less than the path can carry, the pacing rate of
 * the path is multiplied by this factor. The slow start of Linux uses the same
 * factor (tcp_pacing_ss_ratio). */
#define LIMITED_GAIN 2
/* The transmission time of the first large message gives the first estimate of
 * the rate of a path that has joined. A time below MIN_FIRST_TIME (ns) is mere
 * noise, and MIN_FIRST_TIME is used instead. It is longer than MIN_DIFFERENCE
 * of the handshake, because a one-way delay is measured only once. */
#define MIN_FIRST_TIME MILLISECOND
/* Round-trip time that is assumed while the round-trip time of a path is
 * unknown. It equals the initial timeout of RFC 6298, which is 1 s. */
#define UNKNOWN_ROUND_TRIP SECOND
#define REPORT_PERIOD (50 * MILLISECOND)
/* The stored interval between reports follows the measured intervals. A
 * measured interval that is longer than the stored one replaces it. Otherwise,
 * the stored interval decreases by at most 1/INTERVAL_MEMORY in each report. */
#define INTERVAL_MEMORY 16
/* The scheduler uses the safe delay of a path, which is the expected delay plus
 * a margin. The margin is at most 1/MAX_MARGIN of the initial delay (D0), the
 * latency of the session. With a larger margin, it could happen that no packet
 * is expected in time. The path would then carry nothing. */
#define MAX_MARGIN 8
#define JITTERS 2
/* A packet is marginal (`is_marginal`) if it is expected to arrive in time, but
 * only shortly before its deadline. The spare time of a packet is the time that
 * is left until its deadline, minus the safe delay of the path. The packet is
 * marginal if its spare time is less than the sum of two times:
 * - 1/MARGINAL_PART of the initial delay (D0, the latency of the session)
 * - `lateness.time`, which is added to the expected delay because many packets
 *   were late (mmtplateness.h) */
#define MARGINAL_PART 4
/* If a message arrives more than MAX_LATENESS after its deadline, the cause is
 * assumed to be a gap, a period in which the path delivered nothing. If a
 * message misses its deadline by less, it is only late. */
#define MAX_LATENESS (25 * MILLISECOND)
/* The safe delay of a path is the delay within which the scheduler expects a
 * message to arrive. `high_delay` is a delay that hardly any message exceeds.
 *
 * If the rate of the path is configured, the safe delay is `high_delay` plus a
 * margin. This sum is limited to MAX_SAFE_EIGHTHS/8 of the initial delay (D0,
 * the latency of the session): the margin is reduced until the sum equals the
 * limit. If `high_delay` alone exceeds the limit, the safe delay is
 * `high_delay` without a margin.
 *
 * If the rate is not configured, this limit does not apply. */
#define MAX_SAFE_EIGHTHS 7
/* A message is overdue if it has not arrived at its expected time, and no later
 * message has arrived. On a working path, a message may be overdue for some
 * time. The maximum of this time is STALL_TIME (ns) plus a multiple of the
 * jitter. If a message is overdue for longer than this maximum, the path has
 * stalled.
 *
 * STALL_TIME covers two delays that also occur without a stall: reports arrive
 * only every 50 ms, and schedulers of mobile networks pause for 20 to 60 ms. */
#define STALL_TIME (100 * MILLISECOND)
#define STALL_JITTERS 4
#define STALL_DEADLINE_PART 4
/* The path is in doubt, which means that it may have stalled, if a message is
 * overdue for DOUBT_TIME (ns) plus a multiple of the jitter. DOUBT_TIME is
 * shorter than the time after which the path counts as stalled. Doubt about a
 * path matters only if there is another path. */
#define DOUBT_TIME (30 * MILLISECOND)
#define DOUBT_JITTERS 2
/* The reported queueing delay of a path is limited to the time that the path
 * needs for the bytes in flight and this number of additional packets. */
#define QUEUE_PACKETS 3
/* Maximum queueing delay in ns that is taken from a report. A report could
 * contain any 32-bit number, and sums of such times might overflow. */
#define MAX_QUEUED (60 * SECOND)
/* A path is very slow if a usual packet takes more than 1/SLOW_PART of the
 * initial delay (D0). */
#define SLOW_PART 8

MmtpPath *
mmtp_path_new (guint id, const gchar * name)
{
  MmtpPath *path = g_new0 (MmtpPath, 1);

  path->id = id;
  path->name = g_strdup (name);
  path->state = MMTP_PATH_GONE;
  return path;
}

void
mmtp_path_free (MmtpPath * path)
{
  g_clear_pointer (&path->control, mmtp_rate_control_free);
  g_free (path->name);
  mmtp_sent_log_clear (&path->sent);
  g_free (path);
}

void
mmtp_path_open (MmtpPath * path, guint64 now, const MmtpPathConfig * config)
{
  path->max_size = config->max_size;
  path->overhead = config->overhead;
  path->configured_rate = config->rate;
  path->state = MMTP_PATH_OPENING;
  path->blocked = FALSE;
  path->sent.unreported = path->limited_until = path->sent.next;
  path->sent.in_flight = 0;
  path->token = now;
  path->data_size = config->max_size;
  path->report_period = path->report_interval = REPORT_PERIOD;
  memset (&path->feedback, 0, sizeof (path->feedback));
  path->has_other_paths = FALSE;
  path->report_time = path->progress_time = 0;
  path->arrival = path->arrival_sent = 0;
  path->is_stalled = FALSE;
  path->gap = 0;
  mmtp_drain_clear (&path->drain);
  path->round_trip = 0;
  mmtp_large_losses_clear (&path->large_losses);
  mmtp_path_delay_clear (&path->delays);
  mmtp_path_delay_clear (&path->load_delays);
  mmtp_path_delay_clear (&path->long_round_trips);
  mmtp_bottleneck_clear (&path->bottleneck);
  memset (&path->lateness, 0, sizeof (path->lateness));
  mmtp_recent_clear (&path->round_trips);
  g_clear_pointer (&path->control, mmtp_rate_control_free);
  memset (&path->limits, 0, sizeof (path->limits));
  /* The configured delay is used until the delay has been measured (section 4.6
   * of the MMTP paper). */
  path->delay = path->high_delay = config->delay ? config->delay : MMTP_NEVER;
}

static guint
get_packet_size (const MmtpPath * path)
{
  return path->max_size + path->overhead;
}

/* Returns the pacing rate of the path. While the application sends less than
 * the path can carry, the sender cannot measure the rate of the path, and the
 * usual pacing rate may be too low. If another path fails during this time,
 * this path must also send the packets of the failed path. At the usual pacing
 * rate, these additional packets would have to wait until the rate has been
 * measured. The function therefore returns a higher pacing rate during this
 * time. */
static guint64
get_pacing_rate (const MmtpPath * path)
{
  return path->limits.pacing_rate *
      (path->limits.is_app_limited ? LIMITED_GAIN : 1);
}

/* The burst (`burst` of the limits) is the number of bytes that may be sent at
 * once after a pause. Each byte that is sent takes a token from the token
 * bucket, so the bucket must keep tokens during the pause.
 *
 * The bucket may be empty when the last packet of the burst is sent. This
 * packet takes its tokens in advance, and the next packet waits until they are
 * produced. The bucket therefore needs tokens only for `burst` minus the size
 * of one packet.
 *
 * This function returns the time in ns in which the pacing rate produces tokens
 * for `burst` minus the size of one packet. The bucket keeps unused tokens for
 * this time, or for TOKEN_LAG if TOKEN_LAG is longer. */
static guint64
get_burst_time (const MmtpPath * path)
{
  return mmtp_rate_get_time (get_pacing_rate (path), path->limits.burst -
      MIN (path->limits.burst, get_packet_size (path)));
}

/* Fills in the properties of the path with which its rate control starts.
 * `rate` is an estimate of the rate in bit/s, or 0. */
static void
fill_start (const MmtpPath * path, MmtpRateControlStart * start, guint64 rate,
    gboolean is_minimum)
{
  start->packet = get_packet_size (path);
  start->round_trip = path->stats.round_trip;
  start->rate = rate;
  start->is_minimum = is_minimum;
  start->has_other_paths = path->has_other_paths;
}

void
mmtp_path_start (MmtpPath * path, guint64 now,
    const MmtpRateControlClass * klass, const MmtpFirstRate * first)
{
  const MmtpFirstRate configured = { path->configured_rate };
  MmtpRateControlStart start;

  path->progress_time = now;
  if (path->control)
    return;
  /* Without a configured rate, `configured` has the rate 0: unknown. */
  if (path->configured_rate || !first)
    first = &configured;
  fill_start (path, &start, first->rate, first->is_minimum);
  path->began_unknown = start.rate == 0;
  mmtp_first_rate_check_begin (&path->first_rate, first);
  path->control = mmtp_rate_control_new (path->configured_rate ?
      &mmtp_token_control : klass, now, &start);
  mmtp_rate_control_get_limits (path->control, &path->limits);
  path->token = now - MIN (now, get_burst_time (path));
}

/* --- sending ------------------------------------------------------------- */

static guint64
get_base_round_trip (const MmtpPath * path)
{
  return path->stats.round_trip ? path->stats.round_trip : UNKNOWN_ROUND_TRIP;
}

static guint64
get_base_feedback_time (const MmtpPath * path)
{
  const guint64 round_trip = get_base_round_trip (path);

  return path->has_other_paths ?
      mmtp_feedback_time_get (&path->feedback, round_trip) : round_trip;
}

guint64
mmtp_path_get_rate (const MmtpPath * path)
{
  guint64 round, by_window;

  if (path->limits.delivery_rate && !path->limits.is_app_limited)
    return path->limits.delivery_rate;
  round = get_base_feedback_time (path) + path->report_interval;
  by_window = path->limits.window * 8000 / MAX (round / 1000000, 1);
  return MAX (MAX (path->limits.delivery_rate, by_window), 1);
}

guint64
mmtp_path_get_peak_rate (const MmtpPath * path)
{
  return MAX (mmtp_path_get_rate (path), path->limits.peak_rate);
}

guint64
mmtp_path_get_cost (const MmtpPath * path, gsize size)
{
  return mmtp_rate_get_time (mmtp_path_get_rate (path), size + path->overhead);
}

/* Returns the time in ns that the bottleneck of the path needs to transmit a
 * byte; 0 if it is unknown or the path has not been started yet.
 *
 * While the application sends less than the path carries, the rate of the path
 * is unknown. The result is then derived from the transmission times of single
 * large messages. Otherwise, the result is derived from the highest recent
 * rate. */
static gdouble
get_byte_time (const MmtpPath * path)
{
  if (!path->control)
    return 0;
  if (path->limits.is_app_limited)
    return mmtp_bottleneck_get_byte_time (&path->bottleneck);
  return 8.0 * SECOND / mmtp_path_get_peak_rate (path);
}

/* Returns the transmission time in ns of a message of `size` bytes and its IP
 * and UDP headers. */
static guint64
get_packet_time (const MmtpPath * path, guint64 size)
{
  return get_byte_time (path) * (size + path->overhead);
}

static void
take_token (MmtpPath * path, guint64 now, guint64 size)
{
  const guint64 lag = MAX (TOKEN_LAG, get_burst_time (path));

  path->token = MAX (path->token, now - MIN (now, lag)) +
      mmtp_rate_get_time (get_pacing_rate (path), size);
}

void
mmtp_path_sent (MmtpPath * path, guint64 now, gsize size,
    guint64 stream_number, gboolean is_load)
{
  guint64 whole = size + path->overhead;
  MmtpSent *sent;

  sent = mmtp_sent_log_begin (&path->sent, now, whole);
  sent->stream_number = stream_number;
  sent->is_load = is_load && size * 2 >= path->data_size;
  sent->is_app_limited = path->sent.unreported < path->limited_until;
  sent->is_missed = FALSE;
  sent->is_marginal = FALSE;
  sent->time_left = MMTP_NEVER;
  sent->expected = path->delay == MMTP_NEVER ? MMTP_NEVER :
      now + mmtp_path_get_expected_delay (path, now);
  mmtp_bottleneck_sent (&path->bottleneck, now,
      (guint64) (get_byte_time (path) * whole));
  mmtp_sent_log_commit (&path->sent);
  take_token (path, now, whole);
  if (path->control)
    mmtp_rate_control_sent (path->control, now, whole, path->sent.in_flight);
  path->stats.packets++;
  path->stats.bytes += size;
  if (is_load)
    mmtp_first_rate_check_end (&path->first_rate);
  if (stream_number == MMTP_NO_STREAM)
    return;
  path->stats.data_packets++;
  path->began_unknown = FALSE;
  mmtp_fading_add (&path->data_bytes, now, MMTP_SHARE_PERIOD, size);
  path->data_size = (path->data_size * 15 + size) / 16;
  path->large_size = MAX (size, (path->large_size * 15 + size) / 16);
}

void
mmtp_path_note_slack (MmtpPath * path, guint64 time_left, guint64 delay)
{
  MmtpSent *sent = mmtp_sent_log_get (&path->sent, path->sent.next - 1);

  sent->time_left = time_left;
  /* The packet is marginal if it is sent shortly before its deadline. A packet
   * that is expected to be late anyway does not count as marginal, because its
   * lateness says nothing about errors of the expected delay. */
  sent->is_marginal = (sent->expected == MMTP_NEVER
      || sent->expected <= sent->time + time_left) && time_left < delay +
      path->deadline / MARGINAL_PART + (guint64) path->lateness.time;
}

/* Called when the application has no more data to send. The delivery rate then
 * shows how little the application sends, not what the path can carry. Further
 * messages are therefore marked with is_app_limited, until all messages in
 * flight have been reported (see draft-ietf-ccwg-bbr, section 4.1.2.4). */
void
mmtp_path_note_idle (MmtpPath * path)
{
  path->limited_until = path->sent.next + 1;
}

gboolean
mmtp_path_has_window (const MmtpPath * path, gsize size, gboolean is_alone)
{
  guint64 window = path->limits.window;

  if (path->drain.window)
    window = MIN (window, path->drain.window);
  else if (is_alone)
    window += path->limits.reserve;
  return path->sent.in_flight == 0 ||
      path->sent.in_flight + size + path->overhead <= window;
}

guint64
mmtp_path_get_overdue (const MmtpPath * path)
{
  return path->report_time + path->report_interval / 2 * 3;
}

/* Records that the message `number` is missing. Only large messages are counted
 * as lost, because a path may deliver all short control messages but no large
 * messages. Before the stream begins, most messages are control messages, which
 * are not counted. */
void
mmtp_path_note_missed (MmtpPath * path, guint64 number)
{
  MmtpSent *sent = mmtp_sent_log_get (&path->sent, number);

  if (!sent)
    return;
  if (sent->is_load && !sent->is_missed)
    mmtp_large_losses_add_lost (&path->large_losses);
  sent->is_missed = TRUE;
}

/* --- reports ------------------------------------------------------------- */

gboolean
mmtp_path_is_possible (const MmtpPath * path, const MmtpRecord * record)
{
  guint64 highest, received, bytes;

  if (record->received == 0)
    return TRUE;
  highest = mmtp_unwrap (record->highest, 32, path->sent.unreported);
  received = mmtp_unwrap (record->received, 32, path->stats.reported);
  if (highest >= path->sent.next || received > path->sent.next)
    return FALSE;
  bytes = mmtp_unwrap (record->bytes, 32, path->reported_bytes);
  return bytes <= path->stats.bytes;
}

/* Updates a counter from a report, and returns by how much the counter has
 * grown. The report contains only `low`, the low 32 bits of the new value. If
 * reports arrive on several paths, an older report may arrive after a newer
 * one. The counter must never decrease, so an older value does not change
 * it. */
static guint64
count_up (guint64 * counter, guint32 low)
{
  guint64 value = MAX (mmtp_unwrap (low, 32, *counter), *counter);
  guint64 more = value - *counter;

  *counter = value;
  return more;
}

/* Visits the messages up to `highest` that no earlier report covered.
 * `unreported` is the number of the first message that no report has covered
 * yet. `unreported` never decreases, so each message is visited only once in a
 * session. For one REPORT, the number of visited messages is at most the number
 * of messages in the ring, which stores the sent messages. */
void
mmtp_path_settle (MmtpPath * path, guint64 now, guint64 highest)
{
  guint64 number;

  for (number = mmtp_sent_log_get_oldest (&path->sent); number <= highest;
      number++) {
    const MmtpSent *sent = mmtp_sent_log_get (&path->sent, number);

    path->stats.report_steps++;
    if (sent->is_load)
      mmtp_large_losses_add_judged (&path->large_losses);
    if (sent->is_marginal)
      mmtp_lateness_add_marginal (&path->lateness);
    path->sent.in_flight -= MIN (path->sent.in_flight, sent->size);
  }
  path->sent.unreported = highest + 1;
  path->progress_time = now;
}

/* Converts `ticks`, a time that the receiver has written into a report, to ns.
 * The time is in units of 10 us on the receiver's clock. The report contains
 * only the low 24 bits of it, so `ticks` wraps around. The result contains the
 * missing high bits, so it does not wrap around. The zero point of the result
 * is arbitrary. */
static guint64
unwrap_ticks (const MmtpPath * path, guint32 ticks)
{
  guint64 near = path->arrival ? path->arrival / MMTP_TICK_TIME :
      G_GUINT64_CONSTANT (1) << MMTP_TICKS_BITS;

  return mmtp_unwrap (ticks, MMTP_TICKS_BITS, near) * MMTP_TICK_TIME;
}

/* A pause in the arrivals counts as a stall if it is longer than STALL_TIME
 * plus the result of this function. The result is the part of a pause that may
 * be due to jitter, in ns.
 *
 * The result has an upper limit. The measured jitter becomes high when the
 * delay of the path jumps. Without the limit, a stall would then be detected
 * too late to compensate for it. */
static guint64
get_stall_jitter (const MmtpPath * path)
{
  gint64 jitter = STALL_JITTERS * MAX (path->delays.jitter, 0);

  return MIN (jitter, (gint64) path->deadline / STALL_DEADLINE_PART);
}

/* Returns how overdue the message `sent` was when the receiver wrote its latest
 * report, in ns. This is the time of the report minus the expected arrival of
 * `sent`. The expected arrival is the sum of three times:
 * - the arrival time of the newest message that has arrived
 * - the time from the sending of that message to the sending of `sent`
 * - the transmission time of `sent`
 *
 * The arrival times and the time of the report come from the receiver's clock.
 * Therefore the result does not change if the report itself is delayed on its
 * way back to the sender. */
static guint64
get_gap (const MmtpPath * path, const MmtpSent * sent)
{
  const guint64 expected = path->arrival + sent->time - MIN (sent->time,
      path->arrival_sent) + mmtp_rate_get_time (mmtp_path_get_rate (path),
      sent->size);

  return path->reported - MIN (path->reported, expected);
}

static void
check_stall (MmtpPath * path, guint32 reported)
{
  const MmtpSent *next = mmtp_sent_log_get (&path->sent,
      mmtp_sent_log_get_oldest (&path->sent));

  path->is_stalled = FALSE;
  path->gap = 0;
  if (!next || path->arrival == 0)
    return;
  path->reported = unwrap_ticks (path, reported);
  path->gap = get_gap (path, next);
  path->is_stalled = path->gap > STALL_TIME + get_stall_jitter (path);
}

static guint64
get_doubt_time (const MmtpPath * path)
{
  return DOUBT_TIME + DOUBT_JITTERS * MAX (path->delays.jitter, 0);
}

gboolean
mmtp_path_is_overdue (const MmtpPath * path)
{
  return !path->configured_rate && path->gap > get_doubt_time (path);
}

guint64
mmtp_path_get_latest_delay (const MmtpPath * path)
{
  if (!path->delays.is_known || path->delay == MMTP_NEVER)
    return 0;
  return path->delay + MAX (path->delays.latest -
      mmtp_path_delay_get_base (&path->delays), 0);
}

/* Returns the time by which a report about the message `sent` should have
 * arrived. */
static guint64
get_report_limit (const MmtpPath * path, const MmtpSent * sent)
{
  return sent->expected + path->stats.round_trip / 2 +
      path->report_interval / 2 * 3 + get_doubt_time (path);
}

gboolean
mmtp_path_is_missing (const MmtpPath * path, const MmtpSent * sent, guint64 now)
{
  if (path->configured_rate || path->arrival == 0)
    return FALSE;
  return get_gap (path, sent) > get_doubt_time (path) ||
      (sent->expected != MMTP_NEVER && now > get_report_limit (path, sent));
}

gboolean
mmtp_path_is_in_doubt (const MmtpPath * path, guint64 now)
{
  const MmtpSent *oldest = mmtp_sent_log_get (&path->sent,
      mmtp_sent_log_get_oldest (&path->sent));

  return oldest && mmtp_path_is_missing (path, oldest, now);
}

/* Begins or ends draining (mmtpdrain.h). When draining ends, the minimum delay
 * and the minimum round trip replace the base delay and the stored minimum of
 * the round trip. The offset of the clocks is computed from both minima, so
 * both must have been measured during the same time. */
static void
follow_drain (MmtpPath * path, guint64 now, const MmtpSent * newest)
{
  MmtpDrainState state = { now, &path->sent, newest };

  if (path->configured_rate)
    return;
  state.rate = mmtp_path_get_rate (path);
  state.packet = get_packet_size (path);
  state.feedback_time = get_base_feedback_time (path);
  state.report_interval = path->report_interval;
  state.base_round_trip = mmtp_path_delay_get_base (&path->long_round_trips);
  if (!mmtp_drain_follow (&path->drain, &state))
    return;
  mmtp_path_delay_rebase (&path->delays, path->delays.min);
  mmtp_path_delay_clear (&path->load_delays);
  if (path->drain.min_round_trip != G_MAXINT64)
    mmtp_path_delay_rebase (&path->long_round_trips,
        path->drain.min_round_trip);
}

/* Estimates the rate of the path in bit/s from the messages that `record`
 * reports for the first time. A record is the part of a report about one path.
 * The rate can be estimated only if these messages form a packet train, which
 * means that they were sent faster than the path can deliver them. If they form
 * no packet train, the function returns 0.
 *
 * `newest` is the newest of these messages. `n_acked` is the number of these
 * messages that have arrived, and `acked` is the number of their bytes. The
 * function has to be called before the messages are removed from the log of
 * sent messages. */
static guint64
get_train_rate (const MmtpPath * path, const MmtpRecord * record,
    const MmtpSent * newest, guint64 acked, guint n_acked)
{
  const MmtpSent *first = mmtp_sent_log_get (&path->sent,
      mmtp_sent_log_get_oldest (&path->sent));
  MmtpTrain train = { n_acked };

  if (!first || !newest || newest->time < first->time ||
      (record->flags & MMTP_RECORD_UNMEASURED))
    return 0;
  train.bytes = acked - MIN (acked, first->size);
  train.sent_time = newest->time - first->time;
  train.spread = ((gint64) record->transit - record->min_transit) *
      (gint64) MMTP_TICK_TIME;
  return mmtp_train_get_rate (&train);
}

static void
follow (MmtpPath * path, guint64 now, const MmtpSent * newest,
    guint64 acked, guint n_acked, guint n_lost, guint64 train_rate)
{
  MmtpRateSample sample = { now };

  sample.arrival = path->arrival;
  sample.sent = path->arrival_sent;
  sample.delivered = path->delivered;
  sample.acked = acked;
  sample.n_acked = n_acked;
  sample.n_lost = n_lost;
  sample.train_rate = train_rate;
  sample.in_flight = path->sent.in_flight;
  sample.deadline = path->deadline;
  sample.packet_time = mmtp_rate_get_time (path->limits.peak_rate,
      get_packet_size (path));
  sample.round_trip = path->round_trip;
  if (path->stats.round_trip)
    sample.base_round_trip = get_base_feedback_time (path);
  sample.report_period = path->report_interval;
  if (newest) {
    sample.sent_in_flight = newest->in_flight;
    sample.is_app_limited = newest->is_app_limited;
  }
  if (path->delays.is_known) {
    gint64 base = mmtp_path_delay_get_base (&path->delays);

    sample.queue_delay = path->delays.min - base;
    sample.high_queue_delay = path->delays.high - base;
    sample.noise = path->delays.jitter;
  }
  if (path->control) {
    mmtp_rate_control_feedback (path->control, &sample);
    mmtp_rate_control_get_limits (path->control, &path->limits);
  }
}

static void
restart_control (MmtpPath * path, guint64 now,
    const MmtpRateControlStart * start)
{
  mmtp_rate_control_restart (path->control, now, start);
  mmtp_rate_control_get_limits (path->control, &path->limits);
}

/* The rate of a path that joins a session is unknown at first. The first large
 * message gives an estimate: it took the time `time` ns longer than a short
 * message. The rate control begins again with this estimate, unless the path
 * has already carried packets of the stream. The time may contain jitter, so
 * the estimate is usually too low, and it does not end the start phase. */
static void
take_first_rate (MmtpPath * path, guint64 now, guint64 time, guint64 size)
{
  MmtpRateControlStart start;

  if (!path->began_unknown || !path->has_other_paths || !path->control)
    return;
  path->began_unknown = FALSE;
  fill_start (path, &start, size * 8 * SECOND / MAX (time, MIN_FIRST_TIME),
      TRUE);
  restart_control (path, now, &start);
}

/* Checks the first estimate of the rate (mmtpfirstrate.h). `latest` is the
 * delay in ns of the message `newest`, minus that of the OPEN. If the estimate
 * was jitter, the rate control begins again with the window of a path whose
 * rate is unknown because of jitter. If the estimate gives a larger window, the
 * estimate remains, but only as a minimum of the rate. */
static void
check_first_rate (MmtpPath * path, guint64 now, const MmtpSent * newest,
    gint64 latest)
{
  const gint64 base = mmtp_path_delay_get_base (&path->delays);
  MmtpRateControlStart start;

  if (!path->control ||
      !mmtp_first_rate_check_add (&path->first_rate, newest, latest, base))
    return;
  fill_start (path, &start, 0, TRUE);
  if (mmtp_get_initial_window (&start) <= path->limits.window)
    fill_start (path, &start, path->first_rate.estimate.rate, TRUE);
  restart_control (path, now, &start);
}

/* `latest` is the one-way delay in ns of `newest`, the newest message that has
 * reached the receiver. `was_known` says whether earlier messages had been
 * measured. */
static void
measure_byte_time (MmtpPath * path, guint64 now, const MmtpSent * newest,
    gint64 latest, gboolean was_known)
{
  gint64 base = mmtp_path_delay_get_base (&path->delays);
  gint64 queued = CLAMP (latest - base, 0, MAX_QUEUED);

  mmtp_bottleneck_set_base (&path->bottleneck, base,
      path->data_size + path->overhead);
  if (newest->is_load) {
    if (was_known && !mmtp_bottleneck_is_measured (&path->bottleneck))
      take_first_rate (path, now, queued, newest->size);
    mmtp_bottleneck_measure (&path->bottleneck, now, queued, newest->size);
  }
  path->stats.prediction_steps += mmtp_bottleneck_correct (&path->bottleneck,
      &path->sent, newest, queued, get_byte_time (path));
}

/* Adds the one-way delays in `record`, the part of a report about one path, to
 * the delays of the path. Usually, a record has three one-way delays of the
 * messages that have arrived since the previous record: the latest, the minimum
 * and the maximum.
 *
 * If no message has arrived since the previous record, the receiver sets the
 * flag MMTP_RECORD_UNMEASURED. The record then only repeats the latest delay of
 * the previous record. If the sender has received the previous record, it
 * ignores this delay. If the previous record was lost, the sender uses this
 * delay, but the minimum and the maximum of the previous record remain unknown
 * to the sender. An example is a path that has just joined: the first record
 * about its PROBE is sent on another path, which may be interrupted. */
static void
note_delays (MmtpPath * path, guint64 now, const MmtpRecord * record,
    const MmtpSent * newest, guint n)
{
  gint64 tick = MMTP_TICK_TIME, latest = record->transit * tick;
  const gboolean was_known = path->delays.is_known;

  if (!(record->flags & MMTP_RECORD_UNMEASURED)) {
    path->measured_time = now;
    path->delays.jitter = record->jitter * G_GINT64_CONSTANT (1000);
    mmtp_path_delay_add (&path->delays, now, latest,
        record->min_transit * tick, record->high_transit * tick, n);
    if (newest)
      check_first_rate (path, now, newest, latest);
  } else if (n > 0 && newest) {
    mmtp_path_delay_add_latest (&path->delays, now, latest, n);
    /* If it is the first delay, it becomes the base delay. A transmission time
     * that is measured from this base delay would be 0. */
    if (!was_known)
      return;
  } else {
    return;
  }
  if (newest && newest->is_load)
    mmtp_path_delay_add (&path->load_delays, now, latest, latest, latest, 1);
  if (newest)
    measure_byte_time (path, now, newest, latest, was_known);
}

/* Measures the actual interval between two reports about this path. It is often
 * shorter than the requested report period, for two reasons. Reports about this
 * path arrive on this path and also on other paths. In addition, a report is
 * sent early if a loss occurs.
 *
 * If a measured interval is longer than the requested report period, a report
 * was lost or the path had a gap. In this case the requested report period is
 * used instead of the interval. */
static void
note_interval (MmtpPath * path, guint64 now)
{
  guint64 interval = MIN (now - path->report_time, path->report_period);

  if (path->report_time)
    path->report_interval = MAX (interval, path->report_interval -
        path->report_interval / INTERVAL_MEMORY);
  path->report_time = now;
}

/* Returns the delay of the latest message in the record minus the base delay of
 * the path, in ns. */
static gint64
get_queued (const MmtpPath * path, const MmtpRecord * record)
{
  return record->transit * (gint64) MMTP_TICK_TIME -
      mmtp_path_delay_get_base (&path->delays);
}

/* Returns whether the newest message arrived more than MAX_LATENESS after its
 * deadline. So long a delay is assumed to be due to a gap, a period in which
 * the path delivered nothing.
 *
 * The caller, follow_lateness(), corrects the expected delay. A correction does
 * not help against gaps. Therefore follow_lateness() ignores a report about a
 * message that arrived so late. The deadline and the arrival are compared on
 * the sender's clock. */
static gboolean
was_held_up (const MmtpPath * path, const MmtpRecord * record,
    const MmtpSent * newest)
{
  return newest->time_left + MAX_LATENESS <
      path->delay + get_queued (path, record);
}

/* Corrects the expected delay if many packets are late (mmtplateness.h), unless
 * the report does not show whether the delay is wrong. */
static void
follow_lateness (MmtpPath * path, const MmtpRecord * record,
    const MmtpSent * newest, guint64 since, guint late, guint n_acked)
{
  if (n_acked == 0 || !newest || newest->time_left == MMTP_NEVER ||
      path->delay == MMTP_NEVER || was_held_up (path, record, newest))
    return;
  mmtp_lateness_follow (&path->lateness, since, late, n_acked,
      path->deadline - MIN (path->deadline, path->delay));
}

/* Measures the feedback time of the path, using `newest`, the newest message
 * that the report names. The feedback time is the time for which the bytes of a
 * message count as in flight. It is computed in three steps:
 *
 * - The function measures the time from the sending of `newest` until the
 *   arrival of the report.
 * - It subtracts two waiting times: the time that `newest` waited in a queue,
 *   and the time that the receiver waited before it wrote the report.
 * - It compares `since`, the time between the last two reports, with the report
 *   period. If `since` is longer, the reports are less frequent than requested,
 *   because the return path is slow. Bytes then count as in flight for longer.
 *   The function therefore adds `since` minus the report period. */
static void
note_feedback_time (MmtpPath * path, guint64 now, const MmtpRecord * record,
    const MmtpSent * newest, guint64 since, guint32 reported)
{
  gint64 wait, queue, time;

  if (!path->has_other_paths) {
    memset (&path->feedback, 0, sizeof (path->feedback));
    return;
  }
  if (!newest || !path->delays.is_known)
    return;
  wait = unwrap_ticks (path, reported) - path->arrival;
  queue = get_queued (path, record);
  time = now - newest->time - wait - queue;
  if (wait < 0 || queue < 0 || time < 0)
    return;
  mmtp_feedback_time_add (&path->feedback, time,
      since - MIN (since, path->report_period));
}

gboolean
mmtp_path_report (MmtpPath * path, guint64 now,
    const MmtpRecord * record, guint32 reported)
{
  guint64 highest, n_acked, acked, lost, late, train_rate = 0;
  guint64 since = now - MIN (now, path->report_time);
  const MmtpSent *newest = NULL;

  mmtp_large_losses_begin_report (&path->large_losses, now);
  lost = count_up (&path->stats.lost, record->lost);
  late = count_up (&path->stats.late, record->late);
  path->stats.jitter = record->jitter * (guint64) 1000;
  n_acked = count_up (&path->stats.reported, record->received);
  mmtp_fading_add (&path->came, now, MMTP_LOSS_PERIOD, n_acked);
  mmtp_fading_add (&path->missing, now, MMTP_LOSS_PERIOD, lost);
  note_interval (path, now);
  acked = count_up (&path->reported_bytes, record->bytes) +
      n_acked * path->overhead;
  path->delivered += acked;
  highest = mmtp_unwrap (record->highest, 32, path->sent.unreported);
  if (n_acked > 0 && highest >= path->sent.unreported) {
    newest = mmtp_sent_log_get (&path->sent, highest);
    train_rate = get_train_rate (path, record, newest, acked, n_acked);
    path->arrival = unwrap_ticks (path, record->arrival);
    path->arrival_sent = newest ? newest->time : now;
    mmtp_path_settle (path, now, highest);
  }
  follow_lateness (path, record, newest, since, late, n_acked);
  note_delays (path, now, record, newest, n_acked);
  note_feedback_time (path, now, record, newest, since, reported);
  follow_drain (path, now, newest);
  check_stall (path, reported);
  follow (path, now, newest, acked, n_acked, lost, train_rate);
  return n_acked > 0;
}

void
mmtp_path_note_min_delay (MmtpPath * path, guint64 now,
    const MmtpRecord * record)
{
  if (path->delays.is_known && !(record->flags & MMTP_RECORD_UNMEASURED))
    mmtp_path_delay_add_latest (&path->delays, now,
        record->min_transit * (gint64) MMTP_TICK_TIME, 0);
}

void
mmtp_path_add_round_trip (MmtpPath * path, guint64 now, guint64 round_trip)
{
  path->round_trip = round_trip;
  mmtp_path_delay_add_latest (&path->long_round_trips, now, round_trip, 1);
  mmtp_drain_add_round_trip (&path->drain, round_trip);
  mmtp_recent_add (&path->round_trips, now, round_trip, 1);
  path->stats.round_trip = mmtp_recent_get (&path->round_trips);
}

/* --- delays -------------------------------------------------------------- */

void
mmtp_path_update_delay (MmtpPath * path, guint64 now, gint64 offset)
{
  gint64 base, high;

  if (!path->delays.is_known)
    return;
  base = mmtp_path_delay_get_base (&path->delays) - offset;
  high = mmtp_path_delay_get_high (&path->delays, now) - offset;
  path->delay = MAX (base, 0);
  path->high_delay = MAX (high, 0);
  path->stats.delay = path->delay;
  path->stats.high_delay = path->high_delay;
}

/* Returns the predicted queueing delay in ns of the next packet. The prediction
 * uses the delay of the newest message, which may have been jitter and not a
 * queue. The result is therefore limited to the time that the path needs for
 * the bytes in flight. */
static guint64
get_predicted_queue (const MmtpPath * path, guint64 now)
{
  return MIN (mmtp_bottleneck_get_busy_time (&path->bottleneck, now),
      mmtp_rate_get_time (mmtp_path_get_rate (path), path->sent.in_flight));
}

/* Returns the minimum queueing delay in the last report, minus the time that
 * has passed since that report. The result is limited to the time that the path
 * needs for the bytes in flight and a few more packets. */
static guint64
get_reported_queue (const MmtpPath * path, guint64 now)
{
  const guint64 age = now - MIN (now, path->report_time);
  guint64 queue = 0;

  if (path->delays.is_known)
    queue = MAX (0,
        path->delays.min - mmtp_path_delay_get_base (&path->delays));
  queue -= MIN (queue, age);
  if (queue == 0)
    return 0;
  return MIN (queue, mmtp_rate_get_time (mmtp_path_get_rate (path),
          path->sent.in_flight + QUEUE_PACKETS * get_packet_size (path)));
}

/* Estimates the queueing delay of the next packet. There are two values for it:
 * the predicted delay and the reported delay. Which of them is used depends on
 * the path:
 *
 * - If the application sends less than the path carries, the rate of the path
 *   is unknown, so nothing can be predicted. The result is the reported delay.
 * - If the session has several paths, the result is the longer of the predicted
 *   and the reported delay. If this result is too long, little harm is done,
 *   because another path can carry the packet.
 * - If the path is very slow, the result is also the longer of the two delays.
 *   A single packet takes a large part of the latency of such a session, so too
 *   short an estimate would easily make a packet late.
 * - Otherwise, the result is the predicted delay. The prediction uses the
 *   highest recent rate. On a mobile link, the prediction may therefore be too
 *   short, and a packet may be late. This does less harm than a longer
 *   estimate, which would leave the only link idle. */
static guint64
get_queue (const MmtpPath * path, guint64 now)
{
  guint64 predicted;

  if (path->limits.is_app_limited)
    return get_reported_queue (path, now);
  predicted = get_predicted_queue (path, now);
  if (path->has_other_paths || get_packet_time (path, path->data_size) >
      path->deadline / SLOW_PART)
    return MAX (predicted, get_reported_queue (path, now));
  return predicted;
}

/* Returns how much longer, in ns, the transmission of a packet takes than the
 * transmission of a short message.
 *
 * The time is computed with the highest recent rate. If the application has
 * never used the full rate of the path, this rate is too low and the computed
 * time too long. The time is therefore also measured: it is the base delay of
 * large messages minus the base delay of all messages. The function returns the
 * shorter of the computed and the measured time.
 *
 * Returns 0 if the path has carried only control messages so far. The measured
 * rate of such a path is very low. With that rate, no packet would seem to be
 * in time, and the path would never be used. */
static guint64
get_transmission_time (const MmtpPath * path)
{
  const gint64 measured = mmtp_path_delay_get_base (&path->load_delays) -
      mmtp_path_delay_get_base (&path->delays);
  guint64 time;

  if (path->load_delays.is_known ? measured <= 0 : path->limits.is_app_limited)
    return 0;
  time = mmtp_rate_get_time (mmtp_path_get_peak_rate (path),
      path->data_size + path->overhead);
  return path->load_delays.is_known ? MIN (time, (guint64) measured) : time;
}

gboolean
mmtp_path_is_measured (const MmtpPath * path)
{
  return path->configured_rate != 0
      || mmtp_bottleneck_is_measured (&path->bottleneck);
}

/* Returns the expected delay in ns of the next packet. It is the sum of the
 * base delay, the queueing delay and a transmission time.
 *
 * The base delay is the delay of a short message on an idle path. It therefore
 * already contains the transmission time of a short message. There are two
 * cases:
 * - The packet need not wait in a queue. A packet takes longer to transmit than
 *   a short message. Only this difference is added, which
 *   get_transmission_time() returns.
 * - The packet has to wait in a queue. The path transmits other messages during
 *   the queueing delay, and transmits the packet after them. The whole
 *   transmission time of the packet is added. */
guint64
mmtp_path_get_expected_delay (const MmtpPath * path, guint64 now)
{
  guint64 delay = path->delay, queue = get_queue (path, now);

  if (delay == MMTP_NEVER)
    delay = get_base_round_trip (path) / 2;
  return delay + queue + (queue > 0 && !path->limits.is_app_limited ?
      get_packet_time (path, path->data_size) : get_transmission_time (path));
}

/* Returns the safety margin in ns that is added to the expected delay. It is
 * the sum of two times:
 * - the deviation of the delay, but at most 1/MAX_MARGIN of the initial delay
 *   (D0, the latency of the session)
 * - `lateness.time`, which adapts to the number of late packets
 *
 * Without the limit for the deviation, the slowest message of the last few
 * seconds would determine the margin. On a mobile link, the delay of that
 * message does not predict the delay of the next message. */
static guint64
get_margin (const MmtpPath * path)
{
  gint64 margin = MAX (path->delays.spread, JITTERS * path->delays.jitter);

  return CLAMP (margin, 0, (gint64) path->deadline / MAX_MARGIN) +
      (guint64) path->lateness.time;
}

/* Returns the safe delay, which hardly any message exceeds:
 * - If a rate is configured and `high_delay` is known, the result is
 *   `high_delay` plus a margin, which may be 0. At most one packet in 256
 *   should have a longer delay than `high_delay` (section 4.4 of the MMTP
 *   paper).
 * - Otherwise, the result is the expected delay plus a margin. */
guint64
mmtp_path_get_safe_delay (const MmtpPath * path, guint64 now)
{
  guint64 safe, max;

  if (!path->configured_rate || path->high_delay == MMTP_NEVER)
    return mmtp_path_get_expected_delay (path, now) + get_margin (path);
  safe = path->high_delay + (path->high_delay -
      MIN (path->delay, path->high_delay)) / 4;
  max = path->deadline / 8 * MAX_SAFE_EIGHTHS;
  return MIN (safe, MAX (path->high_delay, max));
}

/* Returns the minimum delay in the last three reports, minus the time that has
 * passed since the last report. This time is subtracted because a queue may
 * have become shorter in the meantime. The result is at least the base delay.
 *
 * If the result is above the base delay, either our packets wait in a queue, or
 * the delay of the path itself has grown. In both cases, another path is safer.
 */
static guint64
get_standing_delay (const MmtpPath * path, guint64 now)
{
  gint64 age = now - MIN (now, path->report_time);
  gint64 standing = mmtp_path_delay_get_standing (&path->delays) -
      mmtp_path_delay_get_base (&path->delays) - age;

  return path->delay + MAX (standing, 0);
}

/* Predicts the delay in ns of a packet that is sent after all messages in
 * flight. The prediction is made even if the application sends less than the
 * path carries, although the measured rate of the path may then be too low. */
static guint64
get_predicted_delay (const MmtpPath * path, guint64 now)
{
  return path->delay + mmtp_bottleneck_get_busy_time (&path->bottleneck, now) +
      get_packet_time (path, path->large_size) + get_margin (path);
}

/* Returns TRUE if two conditions are met:
 * - The application sends less than the path carries.
 * - The transmission times of single large packets were measured.
 *
 * While the first condition is met, get_queue () ignores the messages in flight
 * when it estimates the queueing delay. A delay that is computed from the
 * transmission times is then more reliable. */
static gboolean
has_byte_times (const MmtpPath * path)
{
  return path->limits.is_app_limited && mmtp_path_is_measured (path);
}

/* Returns the expected delay of a packet that is sent during a gap, in which
 * nothing arrives. If the gap has lasted for n ns so far, it is expected to
 * last for another n ns. */
static guint64
get_delay_in_gap (const MmtpPath * path)
{
  return path->delay + 2 * path->gap + get_margin (path);
}

guint64
mmtp_path_get_cautious_delay (const MmtpPath * path, guint64 now,
    gboolean is_spare)
{
  guint64 delay = mmtp_path_get_safe_delay (path, now);

  if (!path->delays.is_known || path->delay == MMTP_NEVER ||
      path->configured_rate)
    return delay;
  delay = MAX (delay, get_standing_delay (path, now));
  if (mmtp_path_is_overdue (path))
    delay = MAX (delay, get_delay_in_gap (path));
  return is_spare || has_byte_times (path) ?
      MAX (delay, get_predicted_delay (path, now)) : delay;
}

guint64
mmtp_path_get_best_delay (const MmtpPath * path, guint64 now)
{
  guint64 safe = mmtp_path_get_safe_delay (path, now);

  return path->configured_rate ? safe : MIN (safe, path->delay +
      (guint64) path->lateness.time);
}
