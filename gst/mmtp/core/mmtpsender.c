/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender's life: configuration, paths that come and go, what comes in
 * and whose turn it is to go out, events and statistics. The parts are in
 * mmtpsender*.c. */

#include "mmtpsenderprivate.h"

#include <string.h>

/* That wait to be polled: what one call may make, and more. The oldest go. */
#define MAX_EVENTS 1024
/* A caller that can wait keeps somewhat more free: what was admitted must be in
 * time also when the delay grows a little. */
#define ROOM_PERCENT 85
/* It goes on when a quarter of the room is free. */
#define ROOM_AGAIN 4

/* 100 ms of keep-alive period find a silent path in less than 300 ms; ten
 * seconds of silence end the session on both sides (docs/wire-mmtp.md 4). */
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

static void
tell_discarded (gpointer user_data, guint8 flags, gsize size,
    MmtpDiscard reason, gboolean is_needed)
{
  MmtpSenderEvent event = { MMTP_EVENT_DISCARDED };

  event.flags = flags;
  event.is_needed = is_needed;
  event.size = size;
  mmtp_sender_tell (user_data, &event);
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
  sender->handshake.wishes.bit_rate = config->bit_rate;
  sender->handshake.wishes.frame_period = config->frame_period;
  sender->handshake.wishes.keepalive_period = config->keepalive_period;
  mmtp_joins_init (&sender->joins, &sender->paths, &sender->entropy);
  g_queue_init (&sender->events);
  sender->queue = mmtp_send_queue_new (config->max_bytes, tell_discarded,
      sender);
  mmtp_send_queue_set_delay (sender->queue, config->initial_delay ?
      MIN (config->initial_delay, config->max_delay) : config->max_delay);
  mmtp_control_init (&sender->control, &sender->paths, sender->queue,
      &sender->joins, config->keepalive_period, config->stored);
  mmtp_policy_init (&sender->policy, &sender->paths, sender->queue,
      config->scheduler);
  mmtp_retransmission_init (&sender->retransmission, &sender->paths,
      sender->queue, &sender->policy, config->retransmit);
  mmtp_repairer_init (&sender->repairer, &sender->paths, sender->queue,
      &sender->policy, config->retransmit);
  return sender;
}

void
mmtp_sender_free (MmtpSender * sender)
{
  mmtp_send_queue_free (sender->queue);
  mmtp_repairer_clear (&sender->repairer);
  mmtp_paths_clear (&sender->paths);
  mmtp_key_clear (&sender->key);
  mmtp_direction_clear (&sender->out);
  mmtp_direction_clear (&sender->in);
  g_queue_clear_full (&sender->events, g_free);
  mmtp_control_clear (&sender->control);
  g_free (sender);
}

void
mmtp_sender_advance (MmtpSender * sender, guint64 now)
{
  sender->paths.now = MAX (sender->paths.now, now);
}

/* --- events -------------------------------------------------------------- */

void
mmtp_sender_tell (MmtpSender * sender, const MmtpSenderEvent * event)
{
  if (sender->events.length >= MAX_EVENTS)
    g_free (g_queue_pop_head (&sender->events));
  g_queue_push_tail (&sender->events, g_memdup2 (event, sizeof (*event)));
}

void
mmtp_sender_tell_simply (MmtpSender * sender, MmtpSenderEventType type)
{
  MmtpSenderEvent event = { type };

  mmtp_sender_tell (sender, &event);
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

void
mmtp_sender_set_state (MmtpSender * sender, MmtpPath * path,
    MmtpPathState state)
{
  MmtpSenderEvent event = { MMTP_EVENT_PATH };

  if (path->state == state)
    return;
  path->state = state;
  event.path = path->id;
  event.state = state;
  mmtp_sender_tell (sender, &event);
}

/* --- paths ------------------------------------------------------------ */

gint
mmtp_sender_add_path (MmtpSender * sender, guint64 now,
    const MmtpPathConfig * config)
{
  MmtpPath *path = mmtp_paths_add (&sender->paths, config->name);

  g_return_val_if_fail (config->longest >= MMTP_MIN_LONGEST, -1);
  mmtp_sender_advance (sender, now);
  if (!path)
    return -1;
  mmtp_retransmission_requeue_path (&sender->retransmission, path);
  mmtp_path_open (path, sender->paths.now, config);
  path->joined = path->confirmed = FALSE;
  mmtp_joins_stop (&sender->joins, path);
  mmtp_handshake_add_path (&sender->handshake, path);
  mmtp_control_add_path (&sender->control, path);
  mmtp_sender_set_state (sender, path, MMTP_PATH_OPENING);
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

  mmtp_sender_advance (sender, now);
  if (!path || path->state == MMTP_PATH_GONE)
    return;
  mmtp_sender_set_state (sender, path, MMTP_PATH_GONE);
  mmtp_control_remove_path (&sender->control, path, reason);
  path->joined = FALSE;
  mmtp_joins_stop (&sender->joins, path);
  mmtp_handshake_remove_path (&sender->handshake, path);
  mmtp_retransmission_requeue_path (&sender->retransmission, path);
  path->unreported = path->next;
  path->in_flight = 0;
  mmtp_sender_check_paths (sender);
}

void
mmtp_sender_set_blocked (MmtpSender * sender, guint64 now, guint id,
    gboolean blocked)
{
  MmtpPath *path = mmtp_paths_get (&sender->paths, id);

  mmtp_sender_advance (sender, now);
  if (path)
    path->blocked = blocked;
}

/* --- buffers come -------------------------------------------------------- */

/* Every path's longest message has room for payload behind all headers. */
G_STATIC_ASSERT (MMTP_MIN_LONGEST > MMTP_DATA_OVERHEAD + MMTP_REPAIR_RESERVE +
    MMTP_MAX_PRELUDE);

gboolean
mmtp_sender_put (MmtpSender * sender, guint64 now, const MmtpBuffer * buffer)
{
  MmtpPutLimits limits;
  guint64 due;

  mmtp_sender_advance (sender, now);
  if (sender->handshake.phase == MMTP_PHASE_OVER)
    return FALSE;
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
  mmtp_sender_advance (sender, now);
  return mmtp_control_set_caps (&sender->control, caps);
}

gboolean
mmtp_sender_has_room (MmtpSender * sender, guint64 now)
{
  guint64 room = sender->config.max_bytes;
  guint64 used = mmtp_send_queue_get_bytes (sender->queue);
  guint64 capacity;

  mmtp_sender_advance (sender, now);
  if (sender->paths.is_ready &&
      mmtp_paths_get_min_delay (&sender->paths) != MMTP_NEVER) {
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

void
mmtp_sender_check_room (MmtpSender * sender)
{
  if (sender->full && mmtp_sender_has_room (sender, sender->paths.now))
    mmtp_sender_tell_simply (sender, MMTP_EVENT_ROOM);
}

void
mmtp_sender_flush (MmtpSender * sender, guint64 now)
{
  mmtp_sender_advance (sender, now);
  mmtp_send_queue_flush (sender->queue);
  mmtp_repairer_flush (&sender->repairer);
  mmtp_sender_check_room (sender);
}

/* Gives up what no path can bring, and forgets what is too late anyhow */
static void
expire (MmtpSender * sender)
{
  mmtp_send_queue_expire (sender->queue, sender->paths.now +
      mmtp_paths_get_best_delay (&sender->paths));
  mmtp_retransmission_expire (&sender->retransmission);
  mmtp_send_queue_forget_late (sender->queue, sender->paths.now);
}

/* --- what comes in ------------------------------------------------------- */

static gboolean
is_handshake (MmtpType type)
{
  return type == MMTP_COOKIE || type == MMTP_ACCEPT || type == MMTP_REFUSE;
}

/* The receiver has accepted the OPEN of that path. */
static void
enter_session (MmtpSender * sender, MmtpPath * path, const MmtpAccept * accept)
{
  const MmtpHandshake *handshake = &sender->handshake;
  guint i;

  mmtp_direction_init (&sender->out, &sender->key, handshake->nonce_s,
      accept->nonce_r, MMTP_SENDER, accept->token);
  mmtp_direction_init (&sender->in, &sender->key, handshake->nonce_s,
      accept->nonce_r, MMTP_RECEIVER, handshake->token_s);
  sender->heard = sender->paths.now;
  sender->control.query_at = sender->paths.now;
  sender->receiver_delay = accept->least_delay * (guint64) 1000;
  path->joined = TRUE;
  mmtp_sender_start_path (sender, path, mmtp_handshake_guess_rate (handshake,
          path));
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
    mmtp_sender_tell (sender, &event);
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
  mmtp_sender_start_path (sender, path, 0);
  return refusal;
}

/* The receiver's side of a path goes away: it has to join anew. */
static void
let_leave (MmtpSender * sender, MmtpPath * path, const MmtpLeave * leave)
{
  guint64 highest = mmtp_unwrap (leave->highest, 32, path->unreported);

  if (highest >= path->unreported && highest < path->next)
    mmtp_path_settle (path, sender->paths.now, highest);
  if (!path->joined)
    return;
  mmtp_sender_set_state (sender, path, MMTP_PATH_OPENING);
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
  mmtp_sender_tell_simply (sender, MMTP_EVENT_ENDED);
  return refusal;
}

static MmtpRefusal
take_body (MmtpSender * sender, MmtpPath * path, const MmtpMessage * message)
{
  switch (message->type) {
    case MMTP_CHALLENGE:
      return take_challenge (sender, path, &message->challenge);
    case MMTP_REPORT:
      return mmtp_sender_take_report (sender, path, message);
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

/* Number and trailer before anything else: docs/wire-mmtp.md section 2 */
static MmtpRefusal
take_message (MmtpSender * sender, MmtpPath * path, MmtpMessage * message,
    const guint8 * bytes, gsize size)
{
  guint64 number =
      mmtp_unwrap (message->number, 16,
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
    /* The end is acknowledged more than once, and over with the first time. */
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
  mmtp_sender_check_paths (sender);
  expire (sender);
  mmtp_sender_check_room (sender);
}

void
mmtp_sender_input (MmtpSender * sender, guint64 now, guint id,
    const guint8 * bytes, gsize size)
{
  MmtpPath *path = mmtp_paths_get (&sender->paths, id);
  MmtpRefusal refusal;

  mmtp_sender_advance (sender, now);
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
  mmtp_sender_advance (sender, now);
  catch_up (sender);
}

/* --- what goes out ------------------------------------------------------- */

gsize
mmtp_sender_write (MmtpSender * sender, MmtpPath * path,
    MmtpMessage * message, MmtpOutput * output, guint64 stream_number)
{
  gsize size;

  message->channel = path->id;
  message->number = path->next & 0xffff;
  message->sent = mmtp_to_ticks (sender->paths.now);
  message->trailer = 0;
  size = mmtp_packet_write (message, output->bytes, output->room);
  if (size == 0)
    return 0;
  mmtp_direction_seal (&sender->out, path->next, output->bytes, size);
  mmtp_path_sent (path, sender->paths.now, size, stream_number,
      message->type == MMTP_DATA || message->type == MMTP_PROBE);
  output->path = path->id;
  return size;
}

static gsize
write_control (MmtpSender * sender, MmtpOutput * output)
{
  MmtpMessage message;
  MmtpPath *path = mmtp_control_poll (&sender->control, &message);

  return path ? mmtp_sender_write (sender, path, &message, output,
      MMTP_NO_STREAM) : 0;
}

static gsize
write_probe (MmtpSender * sender, MmtpOutput * output)
{
  MmtpMessage message;
  MmtpPath *path = mmtp_control_poll_probe (&sender->control, &message);

  return path ? mmtp_sender_write (sender, path, &message, output,
      MMTP_NO_STREAM) : 0;
}

gsize
mmtp_sender_poll_output (MmtpSender * sender, guint64 now, guint * path,
    guint8 * bytes, gsize room)
{
  MmtpOutput output = { bytes, room, 0 };
  gsize size = 0;

  mmtp_sender_advance (sender, now);
  if (sender->handshake.phase == MMTP_PHASE_INIT ||
      sender->handshake.phase == MMTP_PHASE_OPEN) {
    sender->handshake.wishes.initial_delay =
        mmtp_send_queue_get_delay (sender->queue);
    size = mmtp_handshake_write (&sender->handshake, &output);
  } else if (sender->handshake.phase == MMTP_PHASE_SESSION) {
    size = write_control (sender, &output);
    if (size == 0) {
      expire (sender);
      size = mmtp_sender_write_data (sender, &output);
    }
    if (size == 0)
      size = mmtp_sender_write_repair (sender, &output);
    if (size == 0)
      size = write_probe (sender, &output);
  }
  *path = output.path;
  if (size == 0)
    mmtp_sender_check_room (sender);
  return size;
}

guint64
mmtp_sender_next_wakeup (MmtpSender * sender)
{
  guint64 wakeup;

  if (sender->handshake.phase == MMTP_PHASE_OVER)
    return MMTP_NEVER;
  wakeup = mmtp_sender_get_data_wakeup (sender);
  if (sender->handshake.phase != MMTP_PHASE_SESSION)
    return MIN (wakeup, sender->handshake.at);
  wakeup = MIN (wakeup, mmtp_control_get_wakeup (&sender->control));
  return MIN (wakeup, mmtp_sender_get_liveness_wakeup (sender));
}

void
mmtp_sender_end (MmtpSender * sender, guint64 now)
{
  mmtp_sender_advance (sender, now);
  mmtp_control_end (&sender->control);
}

/* --- statistics ---------------------------------------------------------- */

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
  stats->discarded_keys = queued.discarded_keys;
  stats->discarded_droppable = queued.discarded_droppable;
  stats->report_steps = queued.report_steps;
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
  stats->in_flight = path->in_flight;
  mmtp_policy_fill_use (&sender->policy, path, stats);
  return TRUE;
}

MmtpRefuseReason
mmtp_sender_get_unverified_refusal (const MmtpSender * sender, guint * version)
{
  *version = sender->handshake.unverified_version;
  return sender->handshake.unverified;
}

/* --- for the driver -------------------------------------------------------- */

static void
sender_input (gpointer core, guint64 now, guint path,
    const Datagram * datagram)
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
sender_set_blocked (gpointer core, guint64 now, guint path,
    gboolean is_blocked)
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
