/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender. This file owns one instance of each part below, passes results
 * between them, and creates the events for the application. Each part has its
 * own header and does not depend on this file.
 *
 *   MmtpSendQueue        waiting packets, and which buffers are dropped
 *   MmtpPaths            the paths, and the rate of all paths together
 *   MmtpPolicy           which packet is sent next, and on which path
 *   MmtpRetransmission   retransmission of lost packets
 *   MmtpRepairer         REPAIR messages, sent before a loss is reported
 *   MmtpHandshake        start of the session
 *   MmtpJoins            joining of further paths
 *   MmtpControl          control messages, such as KEEPALIVE and END
 *   MmtpTransmitter      numbering and sealing of messages
 */

#include "mmtpsender.h"

#include "mmtpcontrol.h"
#include "mmtphandshake.h"
#include "mmtptransmitter.h"

#include <string.h>

#define MMTP_SECOND G_GUINT64_CONSTANT (1000000000)
#define MMTP_MILLISECOND G_GUINT64_CONSTANT (1000000)
/* Maximum number of events in the queue. One call of a function of this module
 * may create an event for each waiting buffer. If the queue is full, the oldest
 * event is dropped. */
#define MAX_EVENTS 65536
/* A caller that can wait for room in the queue should fill the queue only up to
 * this percentage of the bytes that the paths can deliver in time. The rest is
 * a margin: the accepted buffers stay in time even if the delay of the paths
 * grows a little. */
#define ROOM_PERCENT 85
/* A caller that waits for room in the queue may continue when a quarter
 * (1/ROOM_AGAIN) of the queue is free. */
#define ROOM_AGAIN 4
/* If the delay of a path exceeds the maximum of the initial delay (D0), the
 * sender stops sending the stream on the path. It uses the path again when the
 * delay is at most this percentage of the maximum. */
#define BACK_PERCENT 90
/* The application gets several kinds of events. Two events of the same kind
 * have at least this distance in time (ns):
 * - RATE_PERIOD, if the events say that the rate has changed by more than
 *   RATE_PERCENT.
 * - TOO_SLOW_PERIOD, if the events say that the rate is too low for the stream.
 * - DELAY_PERIOD, if the events say that the initial delay (D0) has become
 *   longer. */
#define RATE_PERIOD (200 * MMTP_MILLISECOND)
#define RATE_PERCENT 2
#define TOO_SLOW_PERIOD MMTP_SECOND
#define DELAY_PERIOD MMTP_SECOND
/* A JOIN is sent on a path that has been silent for this time, in ns. The
 * address of a path may have changed without notice. In this case the path
 * stays silent until a JOIN tells the receiver the new address. The time equals
 * the maximum interval at which a JOIN is repeated (docs/wire-mmtp.md, section
 * 3). */
#define REJOIN_WAIT (2 * MMTP_SECOND)
/* Time in ns from the start of the silence of a path until a JOIN is sent on
 * it, if the receiver has never sent a REPORT about the path. In all other
 * cases, the longer time REJOIN_WAIT applies. */
#define UNCONFIRMED_REJOIN_WAIT (200 * MMTP_MILLISECOND)

struct _MmtpSender
{
  MmtpSenderConfig config;
  MmtpKey key;
  MmtpEntropy entropy;

  /* the handshake; its field `phase` is also the phase of the session */
  MmtpHandshake handshake;
  MmtpJoins joins;
  MmtpControl control;
  MmtpDirection in;
  /* time at which the last valid message arrived, in ns */
  guint64 heard;

  MmtpPaths paths;
  MmtpPolicy policy;
  MmtpRetransmission retransmission;
  MmtpRepairer repairer;
  MmtpPadding padding;
  MmtpTransmitter transmitter;
  guint32 report;               /* number of the last REPORT */
  /* TRUE if the application was notified that the only path is silent. */
  gboolean is_broken;

  /* --- stream */
  /* minimum initial delay (D0) that the receiver wants, in ns */
  guint64 receiver_delay;
  MmtpSendQueue *queue;
  /* TRUE if the last call of mmtp_sender_has_room() returned FALSE. */
  gboolean full;
  /* TRUE after late packets have been dropped; FALSE again when the time
   * advances or a buffer is put into the queue */
  gboolean is_expired;

  /* --- events */
  GQueue events;
  guint64 reported_rate, reported_rate_time;
  guint64 too_slow_time;
  /* time at which the initial delay (D0) last changed, in ns */
  guint64 delay_time;

  MmtpSenderStats stats;
};

/* The default keep-alive period is 100 ms. With it, the receiver detects a
 * silent path in less than 300 ms. After ten seconds of silence both sides end
 * the session (docs/wire-mmtp.md, section 4). */
void
mmtp_sender_config_init (MmtpSenderConfig * config)
{
  memset (config, 0, sizeof (*config));
  config->max_delay = MMTP_SECOND;
  config->keepalive_period = 100 * MMTP_MILLISECOND;
  config->session_timeout = 10 * MMTP_SECOND;
  config->max_bytes = 4 * 1024 * 1024;
  config->retransmit = TRUE;
  config->scheduler = MMTP_SCHEDULER_ARRIVAL;
}

/* --- events --------------------------------------------------------------- */

static void
push_event (MmtpSender * sender, const MmtpSenderEvent * event)
{
  if (sender->events.length >= MAX_EVENTS)
    g_free (g_queue_pop_head (&sender->events));
  g_queue_push_tail (&sender->events, g_memdup2 (event, sizeof (*event)));
}

static void
push_plain_event (MmtpSender * sender, MmtpSenderEventType type)
{
  MmtpSenderEvent event = { type };

  push_event (sender, &event);
}

static void
push_discarded (gpointer user_data, const MmtpUnit * unit,
    MmtpDiscard reason, gboolean is_needed)
{
  MmtpSenderEvent event = { MMTP_EVENT_DISCARDED };

  event.reason = reason;
  event.flags = unit->flags;
  event.is_needed = is_needed;
  event.size = unit->size;
  event.pts = unit->pts;
  push_event (user_data, &event);
}

MmtpSender *
mmtp_sender_new (const MmtpSenderConfig * config,
    const guint8 entropy[MMTP_ENTROPY_SIZE])
{
  MmtpSender *sender = g_new0 (MmtpSender, 1);

  sender->config = *config;
  sender->config.key = NULL;
  mmtp_key_init (&sender->key, config->key);
  mmtp_entropy_init (&sender->entropy, entropy);
  mmtp_paths_init (&sender->paths);
  mmtp_handshake_init (&sender->handshake, &sender->paths, &sender->key,
      &sender->entropy);
  sender->handshake.request.bit_rate = config->bit_rate;
  sender->handshake.request.frame_period = config->frame_period;
  sender->handshake.request.keepalive_period = config->keepalive_period;
  mmtp_joins_init (&sender->joins, &sender->paths, &sender->entropy);
  g_queue_init (&sender->events);
  sender->queue = mmtp_send_queue_new (config->max_bytes, push_discarded,
      sender);
  mmtp_send_queue_set_delay (sender->queue, config->initial_delay ?
      MIN (config->initial_delay, config->max_delay) : config->max_delay);
  mmtp_control_init (&sender->control, &sender->paths, sender->queue,
      &sender->joins, config->keepalive_period, config->stored);
  mmtp_policy_init (&sender->policy, &sender->paths, sender->queue,
      config->scheduler);
  mmtp_retransmission_init (&sender->retransmission, &sender->paths,
      sender->queue, &sender->policy, config->retransmit);
  mmtp_transmitter_init (&sender->transmitter, &sender->paths, sender->queue,
      &sender->policy, &sender->retransmission, &sender->repairer,
      &sender->padding);
  mmtp_repairer_init (&sender->repairer, &sender->paths, sender->queue,
      &sender->policy, config->retransmit);
  mmtp_padding_init (&sender->padding, &sender->paths, sender->queue,
      &sender->policy, config->padding_rate);
  sender->repairer.padding = &sender->padding;
  return sender;
}

void
mmtp_sender_free (MmtpSender * sender)
{
  mmtp_send_queue_free (sender->queue);
  mmtp_repairer_clear (&sender->repairer);
  mmtp_policy_clear (&sender->policy);
  mmtp_paths_clear (&sender->paths);
  mmtp_key_clear (&sender->key);
  mmtp_direction_clear (&sender->transmitter.out);
  mmtp_direction_clear (&sender->in);
  g_queue_clear_full (&sender->events, g_free);
  mmtp_control_clear (&sender->control);
  g_free (sender);
}

static void
advance (MmtpSender * sender, guint64 now)
{
  if (now <= sender->paths.now)
    return;
  sender->paths.now = now;
  sender->is_expired = FALSE;
}

gboolean
mmtp_sender_poll_event (MmtpSender * sender, MmtpSenderEvent * event)
{
  MmtpSenderEvent *first = g_queue_pop_head (&sender->events);

  if (!first)
    return FALSE;
  *event = *first;
  g_free (first);
  return TRUE;
}

static void
set_state (MmtpSender * sender, MmtpPath * path, MmtpPathState state)
{
  MmtpSenderEvent event = { MMTP_EVENT_PATH };

  if (path->state == state)
    return;
  path->state = state;
  event.path = path->id;
  event.state = state;
  push_event (sender, &event);
}

/* --- D0 [4.3] ------------------------------------------------------------- */

/* Returns the initial delay (D0) that the paths need, limited to the maximum of
 * D0. */
static guint64
get_needed_delay (MmtpSender * sender)
{
  guint64 needed = mmtp_paths_get_needed_delay (&sender->paths,
      sender->config.max_delay);

  sender->stats.min_delay = needed;
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
  push_event (sender, &event);
  for (i = 0; i < sender->paths.n; i++)
    if (sender->paths.all[i]->joined)
      mmtp_control_hasten (&sender->control, sender->paths.all[i]);
}

/* Raises the initial delay (D0) if necessary. This function never lowers D0,
 * because packets in flight rely on the present D0. Only the application can
 * lower D0. */
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

  advance (sender, now);
  sender->config.max_delay = max_delay;
  sender->config.initial_delay = initial_delay;
  wanted = MAX (wanted, MAX (get_needed_delay (sender),
          sender->receiver_delay));
  set_initial_delay (sender, MIN (wanted, max_delay));
}

/* --- rate and readiness --------------------------------------------------- */

static void
push_rate (MmtpSender * sender, MmtpSenderEventType type, guint64 rate,
    gboolean is_app_limited, guint64 requested)
{
  MmtpSenderEvent event = { type };

  event.rate = rate;
  event.is_app_limited = is_app_limited;
  event.requested = requested;
  event.delay = mmtp_send_queue_get_delay (sender->queue);
  push_event (sender, &event);
}

static void
check_rate (MmtpSender * sender)
{
  gboolean is_app_limited;
  guint64 rate =
      mmtp_paths_get_estimated_rate (&sender->paths, &is_app_limited);
  guint64 requested = sender->config.bit_rate ? sender->config.bit_rate :
      mmtp_send_queue_get_bit_rate (sender->queue);
  guint64 change = ABS ((gint64) rate - (gint64) sender->reported_rate);

  if (change * 100 > sender->reported_rate * RATE_PERCENT &&
      sender->paths.now >= sender->reported_rate_time + RATE_PERIOD) {
    sender->reported_rate = rate;
    sender->reported_rate_time = sender->paths.now;
    push_rate (sender, MMTP_EVENT_RATE, rate, is_app_limited, requested);
  }
  if (requested > rate && !is_app_limited &&
      sender->paths.now >= sender->too_slow_time + TOO_SLOW_PERIOD) {
    sender->too_slow_time = sender->paths.now;
    push_rate (sender, MMTP_EVENT_TOO_SLOW, rate, is_app_limited, requested);
  }
}

/* Called when a path has joined the session. If it is the first path, the
 * stream may begin, and the function reports MMTP_EVENT_READY. The sender does
 * not wait for measurements of the path. */
static void
check_ready (MmtpSender * sender)
{
  gboolean is_app_limited;

  if (sender->paths.is_ready)
    return;
  sender->paths.is_ready = sender->stats.ready = TRUE;
  sender->reported_rate =
      mmtp_paths_get_estimated_rate (&sender->paths, &is_app_limited);
  sender->reported_rate_time = sender->paths.now;
  push_rate (sender, MMTP_EVENT_READY, sender->reported_rate, TRUE,
      sender->config.bit_rate);
}

static void
start_path (MmtpSender * sender, MmtpPath * path, const MmtpFirstRate * first)
{
  path->deadline = mmtp_send_queue_get_delay (sender->queue);
  path->has_other_paths = mmtp_paths_are_usable (&sender->paths);
  mmtp_path_start (path, sender->paths.now,
      mmtp_rate_control_find (sender->config.rate_control), first);
  mmtp_control_hasten (&sender->control, path);
  set_state (sender, path, MMTP_PATH_ACTIVE);
  check_ready (sender);
}

/* --- states of the paths -------------------------------------------------- */

/* Stops using a path that is too slow for the initial delay (D0), or uses it
 * again when it has become fast enough. */
static void
sort_by_delay (MmtpSender * sender, MmtpPath * path)
{
  guint64 limit = sender->config.max_delay;
  guint64 delay = path->delay;

  if (delay == MMTP_NEVER)
    return;
  if (path->state == MMTP_PATH_ACTIVE && delay > limit)
    set_state (sender, path, MMTP_PATH_CONTROL);
  else if (path->state == MMTP_PATH_CONTROL &&
      delay <= limit / 100 * BACK_PERCENT)
    set_state (sender, path, MMTP_PATH_ACTIVE);
}

static void
fall_silent (MmtpSender * sender, MmtpPath * path)
{
  path->stats.silences++;
  mmtp_large_losses_clear (&path->large_losses);
  set_state (sender, path, MMTP_PATH_SILENT);
  mmtp_paths_find_fastest (&sender->paths);
  mmtp_retransmission_requeue_path (&sender->retransmission, path);
  mmtp_control_probe (&sender->control, path);
  mmtp_joins_renew (&sender->joins, path, sender->paths.now + (path->confirmed ?
          REJOIN_WAIT : UNCONFIRMED_REJOIN_WAIT));
}

static void
check_silence (MmtpSender * sender, MmtpPath * path)
{
  if (sender->paths.now >= mmtp_path_get_silence_time (path) ||
      (mmtp_path_is_watched (path)
          && !mmtp_large_losses_are_few (&path->large_losses)))
    fall_silent (sender, path);
}

/* If the only path is silent, notifies the application. The MMTP paper says in
 * section 4.6: "If only one path is available and keep-alive messages are not
 * being received, the protocol will signal that the link may be broken." */
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
  push_plain_event (sender, MMTP_EVENT_BROKEN);
}

static void
check_session (MmtpSender * sender)
{
  if (sender->paths.now < sender->heard + sender->config.session_timeout)
    return;
  sender->handshake.phase = MMTP_PHASE_OVER;
  push_plain_event (sender, MMTP_EVENT_LOST);
}

static void
check_paths (MmtpSender * sender)
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

static guint64
get_liveness_wakeup (const MmtpSender * sender)
{
  guint64 wakeup = sender->heard + sender->config.session_timeout;
  guint i;

  for (i = 0; i < sender->paths.n; i++)
    wakeup = MIN (wakeup, mmtp_path_get_silence_time (sender->paths.all[i]));
  return wakeup;
}

/* --- REPORT --------------------------------------------------------------- */

static gboolean
is_possible (const MmtpSender * sender, const MmtpReport * report)
{
  guint i;

  for (i = 0; i < report->n_records; i++)
    if (report->records[i].channel >= sender->paths.n ||
        !mmtp_path_is_possible (sender->paths.all[report->records[i].channel],
            &report->records[i]))
      return FALSE;
  return report->echo_channel < sender->paths.n;
}

/* Measures the round-trip time of a path. Each REPORT of the receiver echoes
 * the sending time of a message of the sender. The round-trip time can be
 * computed only if the message was sent on the same path on which the REPORT
 * has arrived. If the paths differ, the measured time belongs to neither of
 * them, and the echo is ignored. */
static void
take_echo (MmtpSender * sender, MmtpPath * path, const MmtpReport * report)
{
  guint64 ticks = sender->paths.now / MMTP_TICK_TIME, sent, age;

  if (report->echo_channel != path->id || report->hold == MMTP_TICKS_MASK)
    return;
  sent = mmtp_unwrap (report->echo, MMTP_TICKS_BITS, ticks);
  age = ticks - MIN (sent, ticks);
  if (age < report->hold)
    return;
  mmtp_path_add_round_trip (path, sender->paths.now,
      (age - report->hold) * MMTP_TICK_TIME);
}

/* Notes that new messages have arrived on the path. `is_whole` is TRUE if at
 * least one of them was as large as a full packet and no message was lost. A
 * silent path becomes active again only if `is_whole` is TRUE, because small
 * messages alone do not show that the path carries full packets. */
static void
note_progress (MmtpSender * sender, MmtpPath * path, gboolean is_whole)
{
  mmtp_joins_confirm (&sender->joins, path);
  if (path->state == MMTP_PATH_SILENT && is_whole)
    set_state (sender, path, MMTP_PATH_ACTIVE);
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
  first = path->sent.unreported;
  judged = path->large_losses.judged;
  path->deadline = mmtp_send_queue_get_delay (sender->queue);
  if (mmtp_path_report (path, sender->paths.now, record, reported))
    note_progress (sender, path, path->large_losses.judged != judged &&
        path->stats.reported - came >= path->sent.unreported - first);
  if (path->stats.lost > lost)
    mmtp_repairer_note_loss (&sender->repairer, path);
  mmtp_control_check_period (&sender->control, path);
  mmtp_retransmission_take_losses (&sender->retransmission, path, record);
  /* If the REPORT covers more messages than arrived or were lost, the receiver
   * does not know yet which of the others were lost. */
  if (path->stats.reported - came + path->stats.lost - lost >=
      path->sent.unreported - first)
    mmtp_retransmission_take_arrivals (&sender->retransmission, path, first);
  mmtp_sent_log_forget (&path->sent, sender->paths.now -
      MIN (sender->paths.now, mmtp_send_queue_get_delay (sender->queue)));
}

/* Processes a REPORT that has arrived on `path` after a newer REPORT. A REPORT
 * consists of records, and each record is about one path. If there is a record
 * about `path`, it is processed completely. The records about the other paths
 * contain counters that are out of date, so these counters are ignored. The
 * minimum delays in the records about the other paths are used: the newer
 * REPORT does not replace them, because its minimum delays may be those of
 * other messages. */
static void
take_late_records (MmtpSender * sender, MmtpPath * path,
    const MmtpReport * report, guint32 reported)
{
  guint i;

  for (i = 0; i < report->n_records; i++) {
    const MmtpRecord *record = &report->records[i];

    if (record->channel == path->id)
      take_record (sender, record, reported);
    else
      mmtp_path_note_min_delay (sender->paths.all[record->channel],
          sender->paths.now, record);
  }
}

static void
take_records (MmtpSender * sender, const MmtpReport * report, guint32 reported)
{
  guint i;

  for (i = 0; i < report->n_records; i++)
    take_record (sender, &report->records[i], reported);
  mmtp_send_queue_settle (sender->queue, report->next);
  mmtp_paths_update_delays (&sender->paths);
  for (i = 0; i < sender->paths.n; i++)
    sort_by_delay (sender, sender->paths.all[i]);
  check_paths (sender);
  update_initial_delay (sender);
  if (sender->paths.is_ready)
    check_rate (sender);
}

static MmtpRefusal
take_report (MmtpSender * sender, MmtpPath * path, const MmtpMessage * message)
{
  const MmtpReport *report = &message->report;

  if (!is_possible (sender, report))
    return MMTP_REFUSED_MALFORMED;
  mmtp_control_note_report (&sender->control, path, message->sent);
  mmtp_retransmission_begin_report (&sender->retransmission);
  take_echo (sender, path, report);
  if (report->number <= sender->report) {
    take_late_records (sender, path, report, message->sent);
    return MMTP_VALID;
  }
  sender->report = report->number;
  mmtp_control_put_off_query (&sender->control, path);
  take_records (sender, report, message->sent);
  return MMTP_VALID;
}

/* --- paths ---------------------------------------------------------------- */

gint
mmtp_sender_add_path (MmtpSender * sender, guint64 now,
    const MmtpPathConfig * config)
{
  MmtpPath *path = mmtp_paths_add (&sender->paths, config->name);

  g_return_val_if_fail (config->max_size >= MMTP_MIN_MESSAGE_SIZE, -1);
  advance (sender, now);
  if (!path)
    return -1;
  mmtp_retransmission_requeue_path (&sender->retransmission, path);
  mmtp_path_open (path, sender->paths.now, config);
  path->joined = path->confirmed = FALSE;
  mmtp_joins_stop (&sender->joins, path);
  mmtp_handshake_add_path (&sender->handshake, path);
  mmtp_control_add_path (&sender->control, path);
  set_state (sender, path, MMTP_PATH_OPENING);
  if (sender->handshake.phase == MMTP_PHASE_IDLE)
    mmtp_handshake_begin (&sender->handshake);
  else if (sender->handshake.phase == MMTP_PHASE_INIT)
    mmtp_handshake_hasten (&sender->handshake);
  else if (sender->handshake.phase == MMTP_PHASE_SESSION)
    mmtp_joins_begin (&sender->joins, path);
  return path->id;
}

void
mmtp_sender_remove_path (MmtpSender * sender, guint64 now, guint id,
    MmtpLeaveReason reason)
{
  MmtpPath *path = mmtp_paths_get (&sender->paths, id);

  advance (sender, now);
  if (!path || path->state == MMTP_PATH_GONE)
    return;
  set_state (sender, path, MMTP_PATH_GONE);
  mmtp_control_remove_path (&sender->control, path, reason);
  path->joined = FALSE;
  mmtp_joins_stop (&sender->joins, path);
  mmtp_handshake_remove_path (&sender->handshake, path);
  mmtp_retransmission_requeue_path (&sender->retransmission, path);
  path->sent.unreported = path->sent.next;
  path->sent.in_flight = 0;
  check_paths (sender);
}

void
mmtp_sender_set_blocked (MmtpSender * sender, guint64 now, guint id,
    gboolean blocked)
{
  MmtpPath *path = mmtp_paths_get (&sender->paths, id);

  advance (sender, now);
  if (path)
    path->blocked = blocked;
}

/* --- buffers -------------------------------------------------------------- */

/* Even the shortest message that a path may allow, MMTP_MIN_MESSAGE_SIZE bytes,
 * has room for payload after all headers. */
G_STATIC_ASSERT (MMTP_MIN_MESSAGE_SIZE > MMTP_DATA_OVERHEAD +
    MMTP_REPAIR_RESERVE + MMTP_MAX_PRELUDE);

gboolean
mmtp_sender_put (MmtpSender * sender, guint64 now, const MmtpBuffer * buffer)
{
  MmtpPutLimits limits;
  guint64 due;

  advance (sender, now);
  sender->is_expired = FALSE;
  if (sender->handshake.phase == MMTP_PHASE_OVER) {
    mmtp_send_queue_refuse (sender->queue, sender->paths.now, buffer,
        MMTP_DISCARD_CONNECTION);
    return FALSE;
  }
  due = buffer->due == G_MAXUINT64 ? sender->paths.now : buffer->due;
  limits.message = mmtp_paths_get_max_message (&sender->paths);
  limits.reserve = mmtp_repairer_get_reserve (&sender->repairer);
  limits.capacity = mmtp_paths_get_put_capacity (&sender->paths,
      due + mmtp_send_queue_get_delay (sender->queue));
  limits.caps_version = mmtp_control_get_caps_version (&sender->control);
  if (!mmtp_send_queue_put (sender->queue, sender->paths.now, buffer, &limits))
    return FALSE;
  mmtp_paths_note_packet (&sender->paths, mmtp_send_packet_get_message_size
      (mmtp_send_queue_get_packet (sender->queue,
              mmtp_send_queue_get_next_number (sender->queue) - 1)));
  return TRUE;
}

gboolean
mmtp_sender_fits (const MmtpSender * sender, gsize size)
{
  return mmtp_send_queue_fits (sender->queue, size);
}

gboolean
mmtp_sender_set_caps (MmtpSender * sender, guint64 now, const gchar * caps)
{
  advance (sender, now);
  return mmtp_control_set_caps (&sender->control, caps);
}

gboolean
mmtp_sender_has_room (MmtpSender * sender, guint64 now)
{
  guint64 room = sender->config.max_bytes;
  guint64 used = mmtp_send_queue_get_bytes (sender->queue);
  guint64 capacity;

  advance (sender, now);
  if (sender->paths.is_ready && mmtp_paths_are_usable (&sender->paths)) {
    capacity = mmtp_paths_get_capacity (&sender->paths,
        sender->paths.now + mmtp_send_queue_get_delay (sender->queue), FALSE,
        ROOM_PERCENT);
    if (capacity < room) {
      room = capacity;
      used = mmtp_send_queue_get_work (sender->queue);
    }
  }
  if (sender->full)
    sender->full = used > room - room / ROOM_AGAIN;
  else
    sender->full = used >= room - room / ROOM_AGAIN / 2;
  return !sender->full;
}

static void
check_room (MmtpSender * sender)
{
  if (sender->full && mmtp_sender_has_room (sender, sender->paths.now))
    push_plain_event (sender, MMTP_EVENT_ROOM);
}

void
mmtp_sender_flush (MmtpSender * sender, guint64 now)
{
  advance (sender, now);
  mmtp_send_queue_flush (sender->queue);
  mmtp_repairer_flush (&sender->repairer);
  check_room (sender);
}

void
mmtp_sender_give_up_all (MmtpSender * sender, guint64 now)
{
  advance (sender, now);
  mmtp_send_queue_give_up_all (sender->queue, MMTP_DISCARD_CONNECTION);
}

/* Drops packets that no path can deliver in time, and forgets sent packets
 * whose deadline has passed. */
static void
expire (MmtpSender * sender)
{
  mmtp_send_queue_set_max_lateness (sender->queue,
      mmtp_paths_are_several (&sender->paths) ? 0 :
      sender->config.max_lateness);
  mmtp_send_queue_expire (sender->queue, sender->paths.now +
      mmtp_paths_get_best_delay (&sender->paths));
  mmtp_retransmission_expire (&sender->retransmission);
  mmtp_send_queue_forget_late (sender->queue, sender->paths.now);
  sender->is_expired = TRUE;
}

void
mmtp_sender_set_padding (MmtpSender * sender, guint64 now, guint64 rate)
{
  advance (sender, now);
  mmtp_padding_set_max_rate (&sender->padding, rate);
}

/* --- input ---------------------------------------------------------------- */

static gboolean
is_handshake (MmtpType type)
{
  return type == MMTP_COOKIE || type == MMTP_ACCEPT || type == MMTP_REFUSE;
}

/* Called when the receiver has accepted the OPEN that was sent on `path`. */
static void
enter_session (MmtpSender * sender, MmtpPath * path, const MmtpAccept * accept)
{
  const MmtpHandshake *handshake = &sender->handshake;
  MmtpFirstRate first;
  guint i;

  mmtp_direction_init (&sender->transmitter.out, &sender->key,
      handshake->nonce_s, accept->nonce_r, MMTP_SENDER, accept->token);
  mmtp_direction_init (&sender->in, &sender->key, handshake->nonce_s,
      accept->nonce_r, MMTP_RECEIVER, handshake->token_s);
  sender->heard = sender->paths.now;
  sender->control.query_at = sender->paths.now;
  sender->receiver_delay = accept->min_delay * (guint64) 1000;
  path->joined = TRUE;
  mmtp_handshake_guess_rate (handshake, path, &first);
  start_path (sender, path, &first);
  for (i = 0; i < sender->paths.n; i++)
    if (!sender->paths.all[i]->joined &&
        sender->paths.all[i]->state != MMTP_PATH_GONE)
      mmtp_joins_begin (&sender->joins, sender->paths.all[i]);
}

static MmtpRefusal
take_handshake (MmtpSender * sender, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes, gsize size)
{
  const MmtpPhase phase = sender->handshake.phase;
  MmtpRefusal refusal = mmtp_handshake_input (&sender->handshake, path,
      message, bytes, size);
  MmtpSenderEvent event = { MMTP_EVENT_REFUSED };

  if (sender->handshake.phase == phase)
    return refusal;
  if (sender->handshake.phase == MMTP_PHASE_SESSION) {
    enter_session (sender, path, &message->accept);
  } else if (sender->handshake.phase == MMTP_PHASE_OVER) {
    event.reason = message->refuse.reason;
    event.version = message->version;
    push_event (sender, &event);
  }
  return refusal;
}

static MmtpRefusal
take_challenge (MmtpSender * sender, MmtpPath * path,
    const MmtpChallenge * challenge)
{
  const gboolean joined = path->joined;
  MmtpRefusal refusal = mmtp_joins_take_challenge (&sender->joins, path,
      challenge);

  if (path->joined == joined)
    return refusal;
  start_path (sender, path, NULL);
  return refusal;
}

/* The receiver has removed the path from the session. The path therefore has to
 * join again. */
static void
let_leave (MmtpSender * sender, MmtpPath * path, const MmtpLeave * leave)
{
  guint64 highest = mmtp_unwrap (leave->highest, 32, path->sent.unreported);

  if (highest >= path->sent.unreported && highest < path->sent.next)
    mmtp_path_settle (path, sender->paths.now, highest);
  if (!path->joined)
    return;
  set_state (sender, path, MMTP_PATH_OPENING);
  mmtp_retransmission_requeue_path (&sender->retransmission, path);
  mmtp_joins_begin (&sender->joins, path);
}

static MmtpRefusal
take_leave (MmtpSender * sender, const MmtpLeave * leave)
{
  MmtpPath *path = mmtp_paths_get (&sender->paths, leave->channel);

  if (!path)
    return MMTP_REFUSED_CHANNEL;
  mmtp_control_take_leave (&sender->control, path, leave);
  if (!leave->is_ack)
    let_leave (sender, path, leave);
  return MMTP_VALID;
}

static MmtpRefusal
take_end_ack (MmtpSender * sender, guint32 stream_number)
{
  MmtpRefusal refusal = mmtp_control_take_end_ack (&sender->control,
      stream_number);

  if (!sender->control.has_ended)
    return refusal;
  sender->handshake.phase = MMTP_PHASE_OVER;
  push_plain_event (sender, MMTP_EVENT_ENDED);
  return refusal;
}

static MmtpRefusal
take_body (MmtpSender * sender, MmtpPath * path, const MmtpMessage * message)
{
  switch (message->type) {
    case MMTP_CHALLENGE:
      return take_challenge (sender, path, &message->challenge);
    case MMTP_REPORT:
      return take_report (sender, path, message);
    case MMTP_QUERY:
      return mmtp_control_take_query (&sender->control, &message->query);
    case MMTP_LEAVE:
      return take_leave (sender, &message->leave);
    case MMTP_CAPS_ACK:
      return mmtp_control_take_caps_ack (&sender->control,
          message->caps.version);
    default:
      return take_end_ack (sender, message->end.stream_number);
  }
}

/* The number and the trailer of a message are checked before its other fields
 * (docs/wire-mmtp.md, section 2). */
static MmtpRefusal
take_message (MmtpSender * sender, MmtpPath * path, MmtpMessage * message,
    const guint8 * bytes, gsize size)
{
  guint64 number = mmtp_unwrap (message->number, 16,
      path->replay.highest);
  MmtpRefusal refusal;

  if (!mmtp_direction_verify (&sender->in, number, bytes, size))
    return MMTP_REFUSED_TRAILER;
  if (!mmtp_replay_check (&path->replay, number))
    return MMTP_REFUSED_REPLAY;
  refusal = mmtp_packet_parse_body (message, bytes, size);
  if (refusal != MMTP_VALID)
    return refusal;
  mmtp_replay_accept (&path->replay, number);
  sender->heard = sender->paths.now;
  return take_body (sender, path, message);
}

static MmtpRefusal
take_input (MmtpSender * sender, MmtpPath * path, const guint8 * bytes,
    gsize size)
{
  MmtpMessage message;
  MmtpRefusal refusal = mmtp_packet_parse_header (&message, bytes, size,
      MMTP_RECEIVER);

  if (refusal != MMTP_VALID)
    return refusal;
  if (message.channel != path->id)
    return MMTP_REFUSED_CHANNEL;
  if (!is_handshake (message.type)) {
    /* The receiver sends END-ACK several times. The first END-ACK has ended the
     * session, so all later END-ACKs are ignored. */
    if (sender->control.has_ended && message.type == MMTP_END_ACK)
      return MMTP_VALID;
    if (sender->handshake.phase != MMTP_PHASE_SESSION)
      return MMTP_REFUSED_SESSION;
    return take_message (sender, path, &message, bytes, size);
  }
  refusal = mmtp_packet_parse_body (&message, bytes, size);
  if (refusal != MMTP_VALID)
    return refusal;
  return take_handshake (sender, path, &message, bytes, size);
}

static void
catch_up (MmtpSender * sender)
{
  if (sender->handshake.phase == MMTP_PHASE_OVER)
    return;
  check_paths (sender);
  expire (sender);
  check_room (sender);
}

void
mmtp_sender_input (MmtpSender * sender, guint64 now, guint id,
    const guint8 * bytes, gsize size)
{
  MmtpPath *path = mmtp_paths_get (&sender->paths, id);
  MmtpRefusal refusal;

  advance (sender, now);
  if (!path)
    return;
  refusal = take_input (sender, path, bytes, size);
  if (refusal != MMTP_VALID)
    sender->stats.refused[refusal]++;
  catch_up (sender);
}

void
mmtp_sender_timeout (MmtpSender * sender, guint64 now)
{
  advance (sender, now);
  catch_up (sender);
}

/* --- output --------------------------------------------------------------- */

/* Gets the next control message from `poll` and writes it to `output`. `poll`
 * is mmtp_control_poll() or mmtp_control_poll_probe(). Returns the size of the
 * written message in bytes, or 0 if none was written. */
static gsize
write_control (MmtpSender * sender,
    MmtpPath * (*poll) (MmtpControl * control, MmtpMessage * message),
    MmtpOutput * output)
{
  MmtpMessage message;
  MmtpPath *path = poll (&sender->control, &message);

  return path ?
      mmtp_transmitter_write (&sender->transmitter, path, &message, output,
      MMTP_NO_STREAM) : 0;
}

gsize
mmtp_sender_poll_output (MmtpSender * sender, guint64 now, guint * path,
    guint8 * bytes, gsize room)
{
  MmtpOutput output = { bytes, room, 0 };
  gsize size = 0;

  advance (sender, now);
  if (sender->handshake.phase == MMTP_PHASE_INIT ||
      sender->handshake.phase == MMTP_PHASE_OPEN) {
    sender->handshake.request.initial_delay =
        mmtp_send_queue_get_delay (sender->queue);
    size = mmtp_handshake_write (&sender->handshake, bytes, room, &output.path);
  } else if (sender->handshake.phase == MMTP_PHASE_SESSION) {
    size = write_control (sender, mmtp_control_poll, &output);
    if (size == 0) {
      if (!sender->is_expired)
        expire (sender);
      size = mmtp_transmitter_write_data (&sender->transmitter, &output);
    }
    if (size == 0)
      size = mmtp_transmitter_write_repair (&sender->transmitter, &output);
    if (size == 0)
      size = mmtp_transmitter_write_padding (&sender->transmitter, &output);
    if (size == 0)
      size = write_control (sender, mmtp_control_poll_probe, &output);
  }
  *path = output.path;
  if (size == 0)
    check_room (sender);
  return size;
}

guint64
mmtp_sender_next_wakeup (MmtpSender * sender)
{
  guint64 wakeup;

  if (sender->handshake.phase == MMTP_PHASE_OVER)
    return MMTP_NEVER;
  wakeup = mmtp_transmitter_next_wakeup (&sender->transmitter);
  if (sender->handshake.phase != MMTP_PHASE_SESSION)
    return MIN (wakeup, sender->handshake.at);
  wakeup = MIN (wakeup, mmtp_control_next_wakeup (&sender->control));
  return MIN (wakeup, get_liveness_wakeup (sender));
}

void
mmtp_sender_end (MmtpSender * sender, guint64 now)
{
  advance (sender, now);
  mmtp_control_end (&sender->control);
}

/* --- statistics ----------------------------------------------------------- */

void
mmtp_sender_get_stats (MmtpSender * sender, MmtpSenderStats * stats)
{
  MmtpSendQueueStats queued;

  *stats = sender->stats;
  mmtp_send_queue_get_stats (sender->queue, &queued);
  stats->buffers = queued.buffers;
  stats->bytes = queued.bytes;
  stats->packets = queued.packets;
  stats->sent_buffers = queued.sent_buffers;
  stats->discarded_buffers = queued.discarded[MMTP_DISCARD_LATE];
  stats->discarded_room = queued.discarded[MMTP_DISCARD_ROOM];
  stats->discarded_broken = queued.discarded[MMTP_DISCARD_BROKEN];
  stats->discarded_connection = queued.discarded[MMTP_DISCARD_CONNECTION];
  stats->discarded_keys = queued.discarded_keys;
  stats->discarded_droppable = queued.discarded_droppable;
  stats->report_steps = queued.report_steps;
  stats->retransmitted = sender->transmitter.retransmitted;
  stats->repairs = sender->transmitter.repairs;
  stats->padding = sender->padding.messages;
  stats->padding_bytes = sender->padding.bytes;
  stats->unrepaired = sender->retransmission.unrepaired;
  stats->loss_lookups = sender->retransmission.loss_lookups;
  stats->queued_bytes = mmtp_send_queue_get_bytes (sender->queue);
  stats->estimated_rate = mmtp_paths_get_estimated_rate (&sender->paths,
      &stats->is_app_limited);
  stats->initial_delay = mmtp_send_queue_get_delay (sender->queue);
  stats->n_paths = sender->paths.n;
}

gboolean
mmtp_sender_get_path_stats (MmtpSender * sender, guint id,
    MmtpSenderPathStats * stats)
{
  MmtpPath *path = mmtp_paths_get (&sender->paths, id);

  if (!path)
    return FALSE;
  *stats = path->stats;
  stats->name = path->name;
  stats->state = path->state;
  stats->rate = path->limits.delivery_rate;
  stats->window = path->limits.window;
  stats->in_flight = path->sent.in_flight;
  stats->queue_delay = MAX (path->delays.min
      - mmtp_path_delay_get_base (&path->delays), 0);
  mmtp_policy_fill_use (&sender->policy, path, stats);
  return TRUE;
}

MmtpRefuseReason
mmtp_sender_get_unverified_refusal (const MmtpSender * sender, guint * version)
{
  *version = sender->handshake.unverified_version;
  return sender->handshake.unverified;
}

/* --- functions for the driver --------------------------------------------- */

static void
sender_input (gpointer core, guint64 now, guint path, const Datagram * datagram)
{
  mmtp_sender_input (core, now, path, datagram->bytes, datagram->size);
}

static void
sender_timeout (gpointer core, guint64 now)
{
  mmtp_sender_timeout (core, now);
}

static gboolean
sender_poll_output (gpointer core, guint64 now, guint * path,
    Datagram * datagram, gsize room)
{
  datagram->size = mmtp_sender_poll_output (core, now, path, datagram->bytes,
      room);
  return datagram->size > 0;
}

static gboolean
sender_poll_event (gpointer core, gpointer event)
{
  return mmtp_sender_poll_event (core, event);
}

static guint64
sender_next_wakeup (gpointer core)
{
  return mmtp_sender_next_wakeup (core);
}

static void
sender_set_blocked (gpointer core, guint64 now, guint path, gboolean is_blocked)
{
  mmtp_sender_set_blocked (core, now, path, is_blocked);
}

const DriverVerbs mmtp_sender_verbs = {
  .event_size = sizeof (MmtpSenderEvent),
  .input = sender_input,
  .timeout = sender_timeout,
  .poll_output = sender_poll_output,
  .poll_event = sender_poll_event,
  .next_wakeup = sender_next_wakeup,
  .set_blocked = sender_set_blocked,
};
