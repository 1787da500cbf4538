/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the receiver reports, and what follows from it: delays, D0, rates,
 * losses that are repaired, channels that fall silent and come back. Sections
 * 4.3, 4.5 and 4.6 of the paper, 3 and 6 of docs/wire-mmtp.md. */

#include "mmtpsenderprivate.h"

/* A QUERY when no report came for one period and a half */
#define MISSED(period) ((period) * 3 / 2)
/* docs/wire-mmtp.md section 7: "longer than their round trip and two keep-alive
 * periods"; and twice as many where some of the messages are lost */
#define SILENT_PERIODS 2
#define SILENT_PERIODS_LOSSY 4
/* What is longer was an outage: of reports each 100 ms four are lost then. */
#define MOST_REPORT_GAP (500 * MMTP_MILLISECOND)
/* Another channel is the fastest when it is better by an eighth, and 1 ms: the
 * clocks' offset hangs on it. */
#define FASTER(new, old) ((new) + (old) / 8 + MMTP_MILLISECOND < (old))
/* A channel that was too slow for D0 comes back when it is faster by a
 * tenth. */
#define BACK_PERCENT 90
/* Channels may take so long to be joined, or measured, before the stream begins
 * with those that have been: five JOINs, the last after 3 s; and STARTUP_MOST
 * of mmtpchannelrate.c, when the fourth JOIN is answered */
#define READY_WAIT (3500 * MMTP_MILLISECOND)
#define MEASURE_WAIT (7 * MMTP_SECOND)
/* The application is told of a rate that differs by more than such a part, of
 * one that is too slow, and of a longer D0, no more often than this. */
#define RATE_PERIOD (200 * MMTP_MILLISECOND)
#define RATE_PERCENT 2
#define TOO_SLOW_PERIOD MMTP_SECOND
#define DELAY_PERIOD MMTP_SECOND
/* JOIN on a channel that is silent: its address may have changed. The longest
 * time between JOINs, docs/wire-mmtp.md section 3 */
#define REJOIN_WAIT (2 * MMTP_SECOND)

gboolean
mmtp_path_is_usable (const MmtpPath * path)
{
  return path->channel->state == MMTP_CHANNEL_ACTIVE &&
      path->channel->rate && path->channel->high_delay != MMTP_NEVER;
}

/* --- delays, docs/wire-mmtp.md section 6 --------------------------------- */

static gboolean
is_timed (const MmtpPath * path)
{
  const MmtpChannel *channel = path->channel;

  return channel->state != MMTP_CHANNEL_GONE &&
      channel->state != MMTP_CHANNEL_SILENT &&
      mmtp_recent_is_known (&channel->transit) &&
      mmtp_recent_is_known (&channel->round_trip);
}

static void
find_fastest (MmtpSender * sender)
{
  guint best = sender->fastest;
  guint i;

  if (best != MMTP_NO_CHANNEL && !is_timed (sender->paths[best]))
    best = MMTP_NO_CHANNEL;
  for (i = 0; i < sender->n_paths; i++) {
    if (!is_timed (sender->paths[i]))
      continue;
    if (best == MMTP_NO_CHANNEL ||
        FASTER (sender->paths[i]->channel->stats.round_trip,
            sender->paths[best]->channel->stats.round_trip))
      best = i;
  }
  sender->fastest = best;
}

static void
update_delays (MmtpSender * sender)
{
  MmtpChannel *channel;
  guint i;

  find_fastest (sender);
  if (sender->fastest != MMTP_NO_CHANNEL) {
    channel = sender->paths[sender->fastest]->channel;
    sender->offset = mmtp_recent_get (&channel->transit) -
        (gint64) channel->stats.round_trip / 2;
    sender->has_offset = TRUE;
  }
  if (!sender->has_offset)
    return;
  for (i = 0; i < sender->n_paths; i++)
    mmtp_channel_update_delay (sender->paths[i]->channel, sender->offset);
}

/* --- D0 [4.3] ------------------------------------------------------------ */

/* What the channels demand that it can contain */
static guint64
get_needed_delay (MmtpSender * sender)
{
  guint64 needed = 0;
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    const MmtpChannel *channel = sender->paths[i]->channel;

    if ((channel->state == MMTP_CHANNEL_ACTIVE ||
            channel->state == MMTP_CHANNEL_CONTROL) &&
        channel->high_delay <= sender->config.max_delay)
      needed = MAX (needed, channel->high_delay);
  }
  sender->stats.least_delay = needed;
  return needed;
}

static void
set_initial_delay (MmtpSender * sender, guint64 delay)
{
  MmtpSenderEvent event = { MMTP_EVENT_DELAY };
  guint i;

  if (delay == sender->initial_delay)
    return;
  sender->initial_delay = delay;
  sender->delay_time = sender->now;
  event.delay = delay;
  mmtp_sender_tell (sender, &event);
  for (i = 0; i < sender->n_paths; i++)
    if (sender->paths[i]->joined)
      sender->paths[i]->keepalive_at = MIN (sender->paths[i]->keepalive_at,
          sender->now);
}

/* Raised as it must be; lowered only when the application says so, since what
 * has been sent counts on it. */
static void
update_initial_delay (MmtpSender * sender)
{
  guint64 delay = MAX (get_needed_delay (sender), sender->receiver_delay);

  delay = MIN (delay, sender->config.max_delay);
  if (delay <= sender->initial_delay)
    return;
  if (sender->ready && sender->now < sender->delay_time + DELAY_PERIOD)
    return;
  set_initial_delay (sender, delay);
}

void
mmtp_sender_set_delays (MmtpSender * sender, guint64 now, guint64 max_delay,
    guint64 initial_delay)
{
  guint64 wanted = initial_delay ? MIN (initial_delay, max_delay) : max_delay;

  mmtp_sender_advance (sender, now);
  sender->config.max_delay = max_delay;
  sender->config.initial_delay = initial_delay;
  wanted = MAX (wanted, MAX (get_needed_delay (sender),
          sender->receiver_delay));
  set_initial_delay (sender, MIN (wanted, max_delay));
}

/* --- what the application is told ---------------------------------------- */

static guint64
get_payload_rate (const MmtpChannel * channel)
{
  guint payload = channel->data_size > MMTP_DATA_OVERHEAD ?
      channel->data_size - MMTP_DATA_OVERHEAD : 1;

  return channel->rate / 1000 * (payload * 1000 /
      (channel->data_size + channel->overhead));
}

guint64
mmtp_sender_get_estimated_rate (const MmtpSender * sender)
{
  guint64 sum = 0;
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (mmtp_path_is_usable (sender->paths[i]))
      sum += get_payload_rate (sender->paths[i]->channel);
  return sum;
}

static void
tell_rate (MmtpSender * sender, MmtpSenderEventType type, guint64 rate,
    guint64 requested)
{
  MmtpSenderEvent event = { type };

  event.rate = rate;
  event.requested = requested;
  event.delay = sender->initial_delay;
  mmtp_sender_tell (sender, &event);
}

static void
check_rate (MmtpSender * sender)
{
  guint64 rate = mmtp_sender_get_estimated_rate (sender);
  guint64 requested = sender->config.bit_rate ? sender->config.bit_rate :
      sender->measured_rate;
  guint64 change = ABS ((gint64) rate - (gint64) sender->told_rate);

  if (change * 100 > sender->told_rate * RATE_PERCENT &&
      sender->now >= sender->told_rate_time + RATE_PERIOD) {
    sender->told_rate = rate;
    sender->told_rate_time = sender->now;
    tell_rate (sender, MMTP_EVENT_RATE, rate, requested);
  }
  if (requested > rate &&
      sender->now >= sender->too_slow_time + TOO_SLOW_PERIOD) {
    sender->too_slow_time = sender->now;
    tell_rate (sender, MMTP_EVENT_TOO_SLOW, rate, requested);
  }
}

/* What doesn't answer is waited for less long than what is being measured. */
static gboolean
is_waited_for (const MmtpSender * sender, const MmtpPath * path)
{
  guint64 age = sender->now - sender->began;

  return (path->channel->state == MMTP_CHANNEL_OPENING && age < READY_WAIT) ||
      (path->channel->state == MMTP_CHANNEL_PROBING && age < MEASURE_WAIT);
}

static void
check_ready (MmtpSender * sender)
{
  gboolean any = FALSE, waiting = FALSE;
  guint i;

  if (sender->ready)
    return;
  for (i = 0; i < sender->n_paths; i++) {
    any |= mmtp_path_is_usable (sender->paths[i]) ||
        sender->paths[i]->channel->state == MMTP_CHANNEL_CONTROL;
    waiting |= is_waited_for (sender, sender->paths[i]);
  }
  if (!any || waiting)
    return;
  update_initial_delay (sender);
  sender->ready = sender->stats.ready = TRUE;
  sender->told_rate = mmtp_sender_get_estimated_rate (sender);
  sender->told_rate_time = sender->now;
  tell_rate (sender, MMTP_EVENT_READY, sender->told_rate,
      sender->config.bit_rate);
}

/* --- states -------------------------------------------------------------- */

/* Too slow for D0, or not any more */
static void
sort_by_delay (MmtpSender * sender, MmtpPath * path)
{
  const MmtpChannel *channel = path->channel;
  guint64 limit = MIN (sender->config.max_delay, MAX (sender->initial_delay,
          sender->ready ? 0 : sender->config.max_delay));

  if (channel->state == MMTP_CHANNEL_ACTIVE && channel->high_delay > limit)
    mmtp_sender_set_state (sender, path, MMTP_CHANNEL_CONTROL);
  else if (channel->state == MMTP_CHANNEL_CONTROL &&
      channel->high_delay <= limit / 100 * BACK_PERCENT)
    mmtp_sender_set_state (sender, path, MMTP_CHANNEL_ACTIVE);
}

static void
fall_silent (MmtpSender * sender, MmtpPath * path)
{
  mmtp_channel_fall_silent (path->channel, sender->now);
  mmtp_sender_set_state (sender, path, MMTP_CHANNEL_SILENT);
  find_fastest (sender);
  mmtp_sender_requeue_channel (sender, path);
  path->pair_left = 0;
  path->channel->unreported = path->channel->next;
  path->keepalive_at = sender->now;
  mmtp_sender_renew_join (sender, path, sender->now + REJOIN_WAIT);
  mmtp_sender_refit (sender);
}

/* Until the receiver has told of it, joining goes on. */
static gboolean
is_watched (const MmtpPath * path)
{
  MmtpChannelState state = path->channel->state;

  return path->confirmed && (state == MMTP_CHANNEL_ACTIVE ||
      state == MMTP_CHANNEL_CONTROL || state == MMTP_CHANNEL_PROBING);
}

/* A report may take longer on its way back, by as much as packets do there. */
guint64
mmtp_sender_get_return_time (const MmtpSender * sender)
{
  const MmtpChannel *channel;
  guint64 spread = 0;

  if (sender->fastest == MMTP_NO_CHANNEL)
    return MMTP_SECOND;
  channel = sender->paths[sender->fastest]->channel;
  if (channel->high_delay != MMTP_NEVER)
    spread = MIN (channel->high_delay - MIN (channel->delay,
            channel->high_delay), MMTP_SECOND);
  return channel->stats.round_trip / 2 + spread;
}

/* Where messages or reports are lost now and then, two in a row are, too. */
static guint
get_silent_periods (const MmtpSender * sender, const MmtpPath * path)
{
  gboolean lossy = path->channel->is_lossy;

  if (sender->fastest != MMTP_NO_CHANNEL)
    lossy |= sender->paths[sender->fastest]->channel->is_lossy;
  return lossy ? SILENT_PERIODS_LOSSY : SILENT_PERIODS;
}

static guint64
get_overdue (const MmtpSender * sender, const MmtpPath * path)
{
  if (!is_watched (path))
    return MMTP_NEVER;
  return mmtp_channel_get_overdue (path->channel,
      mmtp_sender_get_return_time (sender) + get_silent_periods (sender,
          path) * sender->quiet_gap, mmtp_path_get_keepalive_period (sender,
          path));
}

static void
check_silence (MmtpSender * sender, MmtpPath * path)
{
  if (sender->now >= get_overdue (sender, path) ||
      (is_watched (path) && !mmtp_channel_delivers (path->channel)))
    fall_silent (sender, path);
}

static void
finish_probing (MmtpSender * sender, MmtpPath * path)
{
  if (path->channel->state != MMTP_CHANNEL_PROBING ||
      !mmtp_channel_finish_probing (path->channel, sender->now))
    return;
  mmtp_sender_set_state (sender, path, MMTP_CHANNEL_ACTIVE);
  sort_by_delay (sender, path);
}

/* [4.6] "If only one channel is available and keep-alive messages are not being
 * received, the protocol will signal that the link may be broken." */
static void
check_broken (MmtpSender * sender)
{
  gboolean silent = FALSE;
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    MmtpChannelState state = sender->paths[i]->channel->state;

    silent |= state == MMTP_CHANNEL_SILENT;
    if (state == MMTP_CHANNEL_ACTIVE || state == MMTP_CHANNEL_PROBING ||
        state == MMTP_CHANNEL_CONTROL) {
      sender->is_broken = FALSE;
      return;
    }
  }
  if (!silent || sender->is_broken)
    return;
  sender->is_broken = TRUE;
  mmtp_sender_tell_simply (sender, MMTP_EVENT_BROKEN);
}

static void
check_session (MmtpSender * sender)
{
  if (sender->now < sender->heard + sender->config.session_timeout)
    return;
  sender->phase = MMTP_PHASE_OVER;
  mmtp_sender_tell_simply (sender, MMTP_EVENT_LOST);
}

void
mmtp_sender_check_channels (MmtpSender * sender)
{
  guint i;

  if (sender->phase != MMTP_PHASE_SESSION)
    return;
  for (i = 0; i < sender->n_paths; i++) {
    check_silence (sender, sender->paths[i]);
    finish_probing (sender, sender->paths[i]);
  }
  check_broken (sender);
  check_ready (sender);
  check_session (sender);
}

/* --- liveness [4.6] ------------------------------------------------------ */

guint64
mmtp_sender_get_liveness_wakeup (const MmtpSender * sender)
{
  guint64 wakeup = sender->heard + sender->config.session_timeout;
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    wakeup = MIN (wakeup, get_overdue (sender, sender->paths[i]));
  if (!sender->ready && sender->now < sender->began + READY_WAIT)
    wakeup = MIN (wakeup, sender->began + READY_WAIT);
  else if (!sender->ready && sender->now < sender->began + MEASURE_WAIT)
    wakeup = MIN (wakeup, sender->began + MEASURE_WAIT);
  return wakeup;
}

/* --- REPORT -------------------------------------------------------------- */

static gboolean
is_possible (const MmtpSender * sender, const MmtpReport * report)
{
  guint i;

  for (i = 0; i < report->n_records; i++)
    if (report->records[i].channel >= sender->n_paths ||
        !mmtp_channel_is_possible (sender->paths[report->records[i].
                channel]->channel, &report->records[i]))
      return FALSE;
  return report->echo_channel < sender->n_paths;
}

/* A report that took the channel back on which the message came that it
 * answers: both ways are known to be this channel's. */
static void
take_echo (MmtpSender * sender, MmtpPath * path, const MmtpReport * report)
{
  guint64 ticks = sender->now / (MMTP_TICK * 1000), sent, age;

  if (report->echo_channel != path->channel->id || report->hold ==
      (1 << MMTP_TICKS_BITS) - 1)
    return;
  sent = mmtp_unwrap (report->echo, MMTP_TICKS_BITS, ticks);
  age = ticks - MIN (sent, ticks);
  if (age < report->hold)
    return;
  mmtp_channel_add_round_trip (path->channel, sender->now,
      (age - report->hold) * MMTP_TICK * 1000);
}

static void
confirm (MmtpSender * sender, MmtpPath * path)
{
  if (path->confirmed)
    return;
  path->confirmed = TRUE;
  path->join_at = MMTP_NEVER;
}

/* What was sent since it fell silent comes: it is measured again. */
static void
return_to_probing (MmtpSender * sender, MmtpPath * path)
{
  if (path->channel->state != MMTP_CHANNEL_SILENT)
    return;
  path->join_at = MMTP_NEVER;
  mmtp_channel_begin_probing (path->channel, sender->now);
  mmtp_sender_set_state (sender, path, MMTP_CHANNEL_PROBING);
}

static void
take_record (MmtpSender * sender, const MmtpRecord * record)
{
  MmtpPath *path = sender->paths[record->channel];
  guint64 lost;

  if (!path->joined)
    return;
  lost = path->channel->stats.lost;
  path->channel->deadline = sender->initial_delay;
  if (mmtp_channel_report (path->channel, sender->now, record)) {
    confirm (sender, path);
    return_to_probing (sender, path);
  }
  if (path->channel->stats.lost > lost)
    path->loss_time = sender->now;
  mmtp_sender_take_losses (sender, path->channel, record);
  mmtp_channel_forget_sent (path->channel, sender->now -
      MIN (sender->now, sender->initial_delay));
}

static void
take_own_record (MmtpSender * sender, MmtpPath * path,
    const MmtpReport * report)
{
  guint i;

  for (i = 0; i < report->n_records; i++)
    if (report->records[i].channel == path->channel->id)
      take_record (sender, &report->records[i]);
}

static void
take_records (MmtpSender * sender, const MmtpReport * report)
{
  guint i;

  for (i = 0; i < report->n_records; i++)
    take_record (sender, &report->records[i]);
  mmtp_sender_settle (sender, mmtp_unwrap (report->next, 32,
          sender->reported_next));
  update_delays (sender);
  for (i = 0; i < sender->n_paths; i++)
    sort_by_delay (sender, sender->paths[i]);
  mmtp_sender_check_channels (sender);
  update_initial_delay (sender);
  if (sender->ready)
    check_rate (sender);
  mmtp_sender_refit (sender);
}

/* On a slow channel the receiver spares reports. One that came early, for a
 * loss, says nothing of when the next one would be missed: `quiet_gap` is
 * forgotten by time, an eighth of it in as long as it is. */
static void
note_report_gap (MmtpSender * sender)
{
  guint64 gap = MIN (sender->now - sender->report_time, MOST_REPORT_GAP);
  guint64 rest = sender->quiet_gap - MIN (gap, sender->quiet_gap) / 8;

  sender->report_gap = MAX (MAX (gap, sender->report_gap / 8 * 7),
      sender->config.keepalive_period);
  sender->quiet_gap = MAX (MAX (gap, rest), sender->config.keepalive_period);
  sender->report_time = sender->now;
}

MmtpRefusal
mmtp_sender_take_report (MmtpSender * sender, MmtpPath * path,
    const MmtpMessage * message)
{
  const MmtpReport *report = &message->report;

  if (!is_possible (sender, report))
    return MMTP_REFUSED_MALFORMED;
  path->last_report_sent = message->sent;
  path->last_report_time = sender->now;
  take_echo (sender, path, report);
  if (report->number <= sender->report) {
    take_own_record (sender, path, report);
    return MMTP_VALID;
  }
  sender->report = report->number;
  note_report_gap (sender);
  sender->query_at = sender->now + MISSED (sender->report_gap);
  take_records (sender, report);
  return MMTP_VALID;
}

/* --- DECREASE [4.5.1] ---------------------------------------------------- */

MmtpRefusal
mmtp_sender_take_decrease (MmtpSender * sender, const MmtpDecrease * decrease)
{
  if (decrease->channel >= sender->n_paths)
    return MMTP_REFUSED_CHANNEL;
  if (!mmtp_channel_decrease (sender->paths[decrease->channel]->channel,
          sender->now, decrease))
    return MMTP_REFUSED_MALFORMED;
  mmtp_sender_refit (sender);
  return MMTP_VALID;
}
