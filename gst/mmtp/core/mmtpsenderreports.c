/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the receiver reports, and what follows from it: delays, D0, rates,
 * losses that are repaired, paths that fall silent and come back. Sections
 * 4.3, 4.5 and 4.6 of the paper, 3 and 6 of docs/wire-mmtp.md. */

#include "mmtpsenderprivate.h"

/* A path that has stalled for so long is silent; gaps of mobile networks, which
 * pass by themselves, are shorter. */
#define SILENT_TIME MMTP_SECOND
/* When no report comes at all, the return path may have stalled instead. */
#define MUTE_TIME (3 * MMTP_SECOND)
/* Another path is the fastest when it is better by an eighth, and 1 ms: the
 * clocks' offset hangs on it. */
#define FASTER(new, old) ((new) + (old) / 8 + MMTP_MILLISECOND < (old))
/* A path that was too slow for D0 comes back when it is faster by a
 * tenth. */
#define BACK_PERCENT 90
/* The application is told of a rate that differs by more than such a part, of
 * one that is too slow, and of a longer D0, no more often than this. */
#define RATE_PERIOD (200 * MMTP_MILLISECOND)
#define RATE_PERCENT 2
#define TOO_SLOW_PERIOD MMTP_SECOND
#define DELAY_PERIOD MMTP_SECOND
/* JOIN on a path that is silent: its address may have changed. The longest
 * time between JOINs, docs/wire-mmtp.md section 3 */
#define REJOIN_WAIT (2 * MMTP_SECOND)
/* on one of which the receiver has never reported anything */
#define UNCONFIRMED_REJOIN_WAIT (200 * MMTP_MILLISECOND)

/* --- delays, docs/wire-mmtp.md section 6 --------------------------------- */

/* --- D0 [4.3] ------------------------------------------------------------ */

/* What a path needs as D0: where its rate is configured, so that nearly every
 * packet is in time; elsewhere the base delay and a typical deviation, because
 * what is beyond that is a queue. */
static guint64
get_wanted_delay (const MmtpPath * path)
{
  if (path->configured_rate)
    return path->high_delay;
  return path->delay + MAX (2 * path->delays.jitter, 0);
}

/* What the paths demand that it can contain */
static guint64
get_needed_delay (MmtpSender * sender)
{
  guint64 needed = 0;
  guint i;

  for (i = 0; i < sender->paths.n; i++) {
    const MmtpPath *path = sender->paths.all[i];

    if ((path->state == MMTP_PATH_ACTIVE ||
            path->state == MMTP_PATH_CONTROL) &&
        path->delay != MMTP_NEVER && get_wanted_delay (path) <=
        sender->config.max_delay)
      needed = MAX (needed, get_wanted_delay (path));
  }
  sender->stats.least_delay = needed;
  return needed;
}

static void
set_initial_delay (MmtpSender * sender, guint64 delay)
{
  MmtpSenderEvent event = { MMTP_EVENT_DELAY };
  guint i;

  if (delay == mmtp_send_queue_get_delay (sender->queue))
    return;
  mmtp_send_queue_set_delay (sender->queue, delay);
  sender->delay_time = sender->paths.now;
  event.delay = delay;
  mmtp_sender_tell (sender, &event);
  for (i = 0; i < sender->paths.n; i++)
    if (sender->paths.all[i]->joined)
      mmtp_control_hasten (&sender->control, sender->paths.all[i]);
}

/* Raised as it must be; lowered only when the application says so, since what
 * has been sent counts on it. */
static void
update_initial_delay (MmtpSender * sender)
{
  guint64 delay = MAX (get_needed_delay (sender), sender->receiver_delay);

  delay = MIN (delay, sender->config.max_delay);
  if (delay <= mmtp_send_queue_get_delay (sender->queue))
    return;
  if (sender->paths.is_ready && sender->paths.now < sender->delay_time +
      DELAY_PERIOD)
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

static void
tell_rate (MmtpSender * sender, MmtpSenderEventType type, guint64 rate,
    gboolean is_app_limited, guint64 requested)
{
  MmtpSenderEvent event = { type };

  event.rate = rate;
  event.is_app_limited = is_app_limited;
  event.requested = requested;
  event.delay = mmtp_send_queue_get_delay (sender->queue);
  mmtp_sender_tell (sender, &event);
}

static void
check_rate (MmtpSender * sender)
{
  gboolean is_app_limited;
  guint64 rate =
      mmtp_paths_get_estimated_rate (&sender->paths, &is_app_limited);
  guint64 requested = sender->config.bit_rate ? sender->config.bit_rate :
      mmtp_send_queue_get_bit_rate (sender->queue);
  guint64 change = ABS ((gint64) rate - (gint64) sender->told_rate);

  if (change * 100 > sender->told_rate * RATE_PERCENT &&
      sender->paths.now >= sender->told_rate_time + RATE_PERIOD) {
    sender->told_rate = rate;
    sender->told_rate_time = sender->paths.now;
    tell_rate (sender, MMTP_EVENT_RATE, rate, is_app_limited, requested);
  }
  if (requested > rate && !is_app_limited &&
      sender->paths.now >= sender->too_slow_time + TOO_SLOW_PERIOD) {
    sender->too_slow_time = sender->paths.now;
    tell_rate (sender, MMTP_EVENT_TOO_SLOW, rate, is_app_limited, requested);
  }
}

/* The stream begins with the first path; nothing is measured before. */
static void
check_ready (MmtpSender * sender)
{
  gboolean is_app_limited;

  if (sender->paths.is_ready)
    return;
  sender->paths.is_ready = sender->stats.ready = TRUE;
  sender->told_rate =
      mmtp_paths_get_estimated_rate (&sender->paths, &is_app_limited);
  sender->told_rate_time = sender->paths.now;
  tell_rate (sender, MMTP_EVENT_READY, sender->told_rate, TRUE,
      sender->config.bit_rate);
}

void
mmtp_sender_start_path (MmtpSender * sender, MmtpPath * path, guint64 rate)
{
  path->deadline = mmtp_send_queue_get_delay (sender->queue);
  mmtp_path_start (path, sender->paths.now,
      mmtp_rate_control_find (sender->config.rate_control), rate);
  mmtp_control_hasten (&sender->control, path);
  mmtp_sender_set_state (sender, path, MMTP_PATH_ACTIVE);
  check_ready (sender);
}

/* --- states -------------------------------------------------------------- */

/* Too slow for D0, or not any more */
static void
sort_by_delay (MmtpSender * sender, MmtpPath * path)
{
  guint64 limit = sender->config.max_delay;
  guint64 delay = path->delay;

  if (delay == MMTP_NEVER)
    return;
  if (path->state == MMTP_PATH_ACTIVE && delay > limit)
    mmtp_sender_set_state (sender, path, MMTP_PATH_CONTROL);
  else if (path->state == MMTP_PATH_CONTROL &&
      delay <= limit / 100 * BACK_PERCENT)
    mmtp_sender_set_state (sender, path, MMTP_PATH_ACTIVE);
}

static void
fall_silent (MmtpSender * sender, MmtpPath * path)
{
  path->stats.silences++;
  mmtp_path_restart_judging (path);
  mmtp_sender_set_state (sender, path, MMTP_PATH_SILENT);
  mmtp_paths_find_fastest (&sender->paths);
  mmtp_retransmission_requeue_path (&sender->retransmission, path);
  mmtp_control_probe (&sender->control, path);
  mmtp_joins_renew (&sender->joins, path, sender->paths.now + (path->confirmed ?
          REJOIN_WAIT : UNCONFIRMED_REJOIN_WAIT));
}

static gboolean
is_watched (const MmtpPath * path)
{
  MmtpPathState state = path->state;

  return state == MMTP_PATH_ACTIVE || state == MMTP_PATH_CONTROL;
}

/* When it counts as silent unless a report says that something has arrived: by
 * then the oldest message, with all that was in flight before it, should have
 * been reported, and a second more has passed. Without any report it is
 * longer, but not for a path that has just joined, of which nobody knows
 * whether anything arrives at all. */
static guint64
get_overdue (const MmtpSender * sender, const MmtpPath * path)
{
  gboolean may_be_mute = path->confirmed && !path->is_stalled;
  const MmtpSent *oldest = mmtp_path_get_sent (path,
      mmtp_path_get_oldest (path));

  if (!is_watched (path) || !oldest)
    return MMTP_NEVER;
  return MAX (oldest->time, path->progress_time) +
      (may_be_mute ? MUTE_TIME : SILENT_TIME) +
      path->stats.round_trip + 2 * path->report_period +
      mmtp_path_get_cost (path, oldest->in_flight);
}

static void
check_silence (MmtpSender * sender, MmtpPath * path)
{
  if (sender->paths.now >= get_overdue (sender, path) ||
      (is_watched (path) && !mmtp_path_delivers (path)))
    fall_silent (sender, path);
}

/* [4.6] "If only one path is available and keep-alive messages are not being
 * received, the protocol will signal that the link may be broken." */
static void
check_broken (MmtpSender * sender)
{
  gboolean silent = FALSE;
  guint i;

  for (i = 0; i < sender->paths.n; i++) {
    MmtpPathState state = sender->paths.all[i]->state;

    silent |= state == MMTP_PATH_SILENT;
    if (state == MMTP_PATH_ACTIVE || state == MMTP_PATH_CONTROL) {
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
  if (sender->paths.now < sender->heard + sender->config.session_timeout)
    return;
  sender->handshake.phase = MMTP_PHASE_OVER;
  mmtp_sender_tell_simply (sender, MMTP_EVENT_LOST);
}

void
mmtp_sender_check_paths (MmtpSender * sender)
{
  guint i;

  if (sender->handshake.phase != MMTP_PHASE_SESSION)
    return;
  for (i = 0; i < sender->paths.n; i++) {
    check_silence (sender, sender->paths.all[i]);
    if (sender->paths.n > 1)
      mmtp_retransmission_rescue (&sender->retransmission,
          sender->paths.all[i]);
  }
  check_broken (sender);
  check_session (sender);
}

/* --- liveness [4.6] ------------------------------------------------------ */

guint64
mmtp_sender_get_liveness_wakeup (const MmtpSender * sender)
{
  guint64 wakeup = sender->heard + sender->config.session_timeout;
  guint i;

  for (i = 0; i < sender->paths.n; i++)
    wakeup = MIN (wakeup, get_overdue (sender, sender->paths.all[i]));
  return wakeup;
}

/* --- REPORT -------------------------------------------------------------- */

static gboolean
is_possible (const MmtpSender * sender, const MmtpReport * report)
{
  guint i;

  for (i = 0; i < report->n_records; i++)
    if (report->records[i].channel >= sender->paths.n ||
        !mmtp_path_is_possible (sender->paths.all[report->records[i].
                channel], &report->records[i]))
      return FALSE;
  return report->echo_channel < sender->paths.n;
}

/* A report that took the path back on which the message came that it
 * answers: both ways are known to be this path's. */
static void
take_echo (MmtpSender * sender, MmtpPath * path, const MmtpReport * report)
{
  guint64 ticks = sender->paths.now / MMTP_TICK_TIME, sent, age;

  if (report->echo_channel != path->id || report->hold ==
      MMTP_TICKS_MASK)
    return;
  sent = mmtp_unwrap (report->echo, MMTP_TICKS_BITS, ticks);
  age = ticks - MIN (sent, ticks);
  if (age < report->hold)
    return;
  mmtp_path_add_round_trip (path, sender->paths.now,
      (age - report->hold) * MMTP_TICK_TIME);
}

/* More has arrived on it. One that was silent carries data again when a message
 * of a packet's size was among that, and none was lost: small ones prove
 * nothing. */
static void
note_progress (MmtpSender * sender, MmtpPath * path, gboolean is_whole)
{
  mmtp_joins_confirm (&sender->joins, path);
  if (path->state == MMTP_PATH_SILENT && is_whole)
    mmtp_sender_set_state (sender, path, MMTP_PATH_ACTIVE);
}

static void
take_record (MmtpSender * sender, const MmtpRecord * record, guint32 reported)
{
  MmtpPath *path = sender->paths.all[record->channel];
  guint64 lost, came, first, judged;

  if (!path->joined)
    return;
  lost = path->stats.lost;
  came = path->stats.reported;
  first = path->unreported;
  judged = path->judged;
  path->deadline = mmtp_send_queue_get_delay (sender->queue);
  if (mmtp_path_report (path, sender->paths.now, record, reported))
    note_progress (sender, path, path->judged != judged &&
        path->stats.reported - came >= path->unreported - first);
  if (path->stats.lost > lost)
    mmtp_repairer_note_loss (&sender->repairer, path);
  mmtp_control_check_period (&sender->control, path);
  mmtp_retransmission_take_losses (&sender->retransmission, path, record);
  mmtp_path_forget_sent (path, sender->paths.now -
      MIN (sender->paths.now, mmtp_send_queue_get_delay (sender->queue)));
}

static void
take_own_record (MmtpSender * sender, MmtpPath * path,
    const MmtpReport * report, guint32 reported)
{
  guint i;

  for (i = 0; i < report->n_records; i++)
    if (report->records[i].channel == path->id)
      take_record (sender, &report->records[i], reported);
}

static void
take_records (MmtpSender * sender, const MmtpReport * report,
    guint32 reported)
{
  guint i;

  for (i = 0; i < report->n_records; i++)
    take_record (sender, &report->records[i], reported);
  mmtp_send_queue_settle (sender->queue, report->next);
  mmtp_paths_update_delays (&sender->paths);
  for (i = 0; i < sender->paths.n; i++)
    sort_by_delay (sender, sender->paths.all[i]);
  mmtp_sender_check_paths (sender);
  update_initial_delay (sender);
  if (sender->paths.is_ready)
    check_rate (sender);
}

MmtpRefusal
mmtp_sender_take_report (MmtpSender * sender, MmtpPath * path,
    const MmtpMessage * message)
{
  const MmtpReport *report = &message->report;

  if (!is_possible (sender, report))
    return MMTP_REFUSED_MALFORMED;
  mmtp_control_note_report (&sender->control, path, message->sent);
  mmtp_retransmission_begin_report (&sender->retransmission);
  take_echo (sender, path, report);
  if (report->number <= sender->report) {
    take_own_record (sender, path, report, message->sent);
    return MMTP_VALID;
  }
  sender->report = report->number;
  mmtp_control_put_off_query (&sender->control, path);
  take_records (sender, report, message->sent);
  return MMTP_VALID;
}
