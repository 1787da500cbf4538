/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver of an MMTP session. It consists of the parts in the list below.
 * This file owns one instance of each part and passes results from one part to
 * another. It also checks the messages, and creates the events that concern the
 * session and its paths. Each part has a header of its own and does not depend
 * on this file.
 *
 *   MmtpReceiverPaths      the paths, and the time
 *   MmtpReceiverOutput     queue of the messages to the sender
 *   MmtpReports            REPORTs, and QUERYs for missing KEEPALIVEs
 *   MmtpReceiverJoins      joining of paths, and their addresses
 *   MmtpLiveness           session timeout and take-over
 *   MmtpReceiverHandshake  start of the session
 *   MmtpReceiverStream     order, deadlines, caps and end of the stream
 *   MmtpInitialDelay       initial delay (D0, the latency) and its limits
 *   MmtpClock              the sender's clock */

#include "mmtpreceiver.h"

#include <string.h>

#include "mmtpreceiverhandshake.h"
#include "mmtpreceiverjoins.h"
#include "mmtpreceiverstream.h"

/* Default of `max_delay`, which limits the initial delay (D0, the latency of
 * the session). If a sender requests a longer delay, D0 is set to `max_delay`.
 */
#define DEFAULT_MAX_DELAY (60 * MMTP_SECOND)
/* default of the session timeout (docs/wire-mmtp.md, section 4) */
#define DEFAULT_SESSION_TIMEOUT (10 * MMTP_SECOND)
/* Default of the maximum number of bytes that the receiver holds. 64 MiB are
 * about 5 s of a stream of 100 Mbit/s. */
#define DEFAULT_MAX_BYTES (64 * 1024 * 1024)
/* Maximum number of events in the queue. A single call of a function of this
 * module creates fewer events than this. */
#define MAX_EVENTS 1024

typedef struct
{
  /* Key or token with which the receiver verifies that a message comes from the
   * sender */
  MmtpDirection theirs;

  guint64 period;               /* keep-alive period, in ns */
  MmtpInitialDelay initial_delay;
  MmtpClock clock;
  MmtpReceiverStream stream;

  /* sending time in ns of the newest KEEPALIVE that has arrived on any path */
  gint64 keepalive_sent;
  /* Id of the path on which the skew of the sender's clock is measured with
   * one-way delays; -1 if there is no such path yet. */
  gint skew_path;
} MmtpReceiverSession;

struct _MmtpReceiver
{
  MmtpReceiverConfig config;
  MmtpKey key;
  /* secret from which the receiver derives nonces, tokens and challenges */
  guint8 secret[MMTP_KEY_SIZE];
  MmtpReceiverPaths paths;
  MmtpReceiverOutput output;
  MmtpReports reports;
  MmtpReceiverJoins joins;
  MmtpLiveness liveness;
  /* the handshake; its field `phase` says whether a session is alive, silent or
   * ended */
  MmtpReceiverHandshake handshake;
  MmtpReceiverSession session;
  /* Memory block that contains the datagram that is being processed. A buffer
   * for the application can refer to a part of this block. If `block` is NULL,
   * there is no such block, and the bytes of the datagram must be copied. */
  DatagramBlock *block;
  /* Queue of MmtpReceiverEvents for the application. The application gets all
   * of them before it gets the next buffer. */
  GQueue events;
  /* Totals of all sessions. The counters of the current session's stream are
   * not included while the session lasts. They are added here when the session
   * ends. */
  MmtpReceiverStats stats;
};

void
mmtp_receiver_config_init (MmtpReceiverConfig * config)
{
  memset (config, 0, sizeof (*config));
  config->max_delay = DEFAULT_MAX_DELAY;
  config->session_timeout = DEFAULT_SESSION_TIMEOUT;
  config->max_bytes = DEFAULT_MAX_BYTES;
}

/* --- events --------------------------------------------------------------- */

/* Adds an event to the queue. Returns the event, whose other fields the caller
 * may set, or NULL if the queue is full. */
static MmtpReceiverEvent *
push_event (MmtpReceiver * self, MmtpReceiverEventType type, guint path)
{
  MmtpReceiverEvent *event;

  if (self->events.length >= MAX_EVENTS)
    return NULL;
  event = g_new0 (MmtpReceiverEvent, 1);
  event->type = type;
  event->path = path;
  event->delay = self->session.initial_delay.delay;
  event->wanted_delay = self->session.initial_delay.wanted;
  g_queue_push_tail (&self->events, event);
  return event;
}

/* --- begin and end of a session ------------------------------------------- */

/* Adds the counters of the present session's stream to `stats`. */
static void
add_stream_counters (const MmtpReceiverStream * stream,
    MmtpReceiverStats * stats)
{
  const MmtpReorderStats *reorder = mmtp_reorder_get_stats (stream->reorder);

  stats->buffers += stream->buffers;
  stats->bytes += stream->bytes;
  stats->recovered += stream->recovered;
  stats->packets += reorder->packets;
  stats->late += reorder->late;
  stats->duplicates += reorder->duplicates;
  stats->missing += reorder->missing;
  stats->incomplete += reorder->incomplete;
  stats->no_room += reorder->no_room;
}

static void
clear_session (MmtpReceiver * self)
{
  MmtpReceiverSession *session = &self->session;

  if (self->handshake.phase != MMTP_RECEIVER_IDLE) {
    add_stream_counters (&session->stream, &self->stats);
    mmtp_receiver_stream_clear (&session->stream);
    mmtp_direction_clear (&session->theirs);
    mmtp_direction_clear (&self->output.ours);
  }
  mmtp_receiver_paths_reset (&self->paths);
  memset (session, 0, sizeof (*session));
  self->handshake.phase = MMTP_RECEIVER_IDLE;
}

static void
change_initial_delay (MmtpReceiver * self, guint32 wanted)
{
  MmtpReceiverSession *session = &self->session;
  gint64 change = mmtp_initial_delay_request (&session->initial_delay,
      self->paths.now, wanted);

  if (change == 0)
    return;
  mmtp_receiver_stream_shift_deadlines (&session->stream, change);
  push_event (self, MMTP_EVENT_INITIAL_DELAY, 0);
}

static MmtpReceiverPath *
add_path (MmtpReceiver * self, guint8 id, guint64 number)
{
  self->stats.n_paths = MAX (self->stats.n_paths, id + 1u);
  return mmtp_receiver_paths_add (&self->paths, id, number,
      MMTP_SILENT_PERIODS * self->session.period);
}

static void
join (MmtpReceiver * self, MmtpReceiverPath * path, const MmtpAddress * address)
{
  const gboolean joined = path->joined;

  mmtp_receiver_joins_join (&self->joins, path, address);
  if (!joined)
    push_event (self, MMTP_EVENT_JOINED, path->id);
}

static void
leave (MmtpReceiver * self, MmtpReceiverPath * path)
{
  if (!path->joined)
    return;
  path->joined = FALSE;
  push_event (self, MMTP_EVENT_LEFT, path->id);
}

static void
push_session_event (MmtpReceiver * self, const MmtpOpen * open,
    gboolean was_alive)
{
  MmtpReceiverEvent *event;

  g_queue_clear_full (&self->events, g_free);
  if (was_alive)
    push_event (self, MMTP_EVENT_SILENT, 0);
  event = push_event (self, MMTP_EVENT_SESSION, 0);
  event->bit_rate = open->bit_rate;
  if (open->frame_period > 0)
    event->frame_rate = G_GUINT64_CONSTANT (1000000000) / open->frame_period;
}

/* Joins the path on which `message`, the OPEN of the session, has arrived from
 * `address`. The handshake has already validated this address. */
static void
join_opener (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message)
{
  MmtpReceiverPath *path = add_path (self, message->channel, message->number);

  path->max_size = message->open.max_size;
  mmtp_reports_set_path (&self->reports, path);
  join (self, path, address);
}

static void
begin_session (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message)
{
  const MmtpOpen *open = &message->open;
  const MmtpReceiverHandshake *handshake = &self->handshake;
  const gboolean was_alive = handshake->phase == MMTP_RECEIVER_ALIVE;
  MmtpReceiverSession *session = &self->session;

  clear_session (self);
  mmtp_receiver_handshake_begin (&self->handshake, address, message,
      self->stats.sessions++);
  mmtp_direction_init (&session->theirs, &self->key, handshake->nonce_s,
      handshake->nonce_r, MMTP_SENDER, handshake->token_r);
  mmtp_direction_init (&self->output.ours, &self->key, handshake->nonce_s,
      handshake->nonce_r, MMTP_RECEIVER, open->token);
  session->period = self->config.keepalive_period ?
      self->config.keepalive_period : open->keepalive_period * MMTP_MSECOND;
  mmtp_initial_delay_init (&session->initial_delay, self->config.min_delay,
      self->config.max_delay, open->initial_delay);
  mmtp_clock_init (&session->clock, self->paths.now, open->now);
  mmtp_receiver_stream_init (&session->stream, &self->paths, &self->output,
      &session->clock, &session->initial_delay, self->config.max_bytes,
      self->config.max_lateness);
  session->keepalive_sent = G_MININT64;
  session->skew_path = -1;
  mmtp_liveness_begin_session (&self->liveness, session->period);
  mmtp_reports_begin_session (&self->reports, session->stream.reorder,
      session->period);
  mmtp_receiver_joins_begin_session (&self->joins, handshake->nonce_r,
      session->period);
  self->handshake.phase = MMTP_RECEIVER_ALIVE;
  push_session_event (self, open, was_alive);
  join_opener (self, address, message);
}

static void
move_opener (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message)
{
  mmtp_receiver_handshake_set_opener (&self->handshake, address, message);
  join_opener (self, address, message);
}

MmtpReceiver *
mmtp_receiver_new (const MmtpReceiverConfig * config,
    const guint8 entropy[MMTP_ENTROPY_SIZE])
{
  MmtpReceiver *self = g_new0 (MmtpReceiver, 1);

  self->config = *config;
  if (config->key)
    g_bytes_ref (config->key);
  mmtp_key_init (&self->key, config->key);
  memcpy (self->secret, entropy + MMTP_KEY_SIZE, MMTP_KEY_SIZE);
  mmtp_receiver_output_init (&self->output, &self->paths, &self->key);
  mmtp_reports_init (&self->reports, &self->paths, &self->output);
  mmtp_liveness_init (&self->liveness, &self->paths, &self->output,
      config->session_timeout);
  mmtp_receiver_handshake_init (&self->handshake, &self->paths, &self->output,
      &self->liveness, &self->key, entropy, self->secret);
  self->handshake.min_delay = config->min_delay;
  mmtp_receiver_joins_init (&self->joins, &self->paths, &self->output,
      &self->reports, &self->handshake.limits, &self->key, self->secret);
  g_queue_init (&self->events);
  return self;
}

void
mmtp_receiver_free (MmtpReceiver * self)
{
  clear_session (self);
  mmtp_receiver_paths_clear (&self->paths);
  mmtp_receiver_output_clear (&self->output);
  g_queue_clear_full (&self->events, g_free);
  mmtp_receiver_handshake_clear (&self->handshake);
  mmtp_key_clear (&self->key);
  if (self->config.key)
    g_bytes_unref (self->config.key);
  g_free (self);
}

void
mmtp_receiver_set_ends (MmtpReceiver * self, gboolean ends)
{
  self->handshake.ends = ends;
}

gsize
mmtp_receiver_poll_output (MmtpReceiver * self, guint64 now,
    MmtpAddress * address, guint8 * bytes, gsize room)
{
  self->paths.now = MAX (self->paths.now, now);
  return mmtp_receiver_output_poll (&self->output, address, bytes, room);
}

/* --- effects of every message --------------------------------------------- */

static void
note_message (MmtpReceiver * self, MmtpReceiverPath * path, guint64 number,
    const MmtpMessage * message, gsize size)
{
  MmtpReceiverSession *session = &self->session;
  MmtpArrival arrival = {
    .number = number,
    .sent = mmtp_clock_unwrap_sent (&session->clock, self->paths.now,
        message->sent),
    .size = size,
    .is_load = message->type == MMTP_DATA || message->type == MMTP_PROBE ||
        message->type == MMTP_REPAIR,
    .repair_until = mmtp_receiver_stream_get_latest_deadline (&session->stream)
  };

  mmtp_liveness_note_message (&self->liveness);
  path->echo = message->sent;
  path->echo_time = self->paths.now;
  path->latest_sent = arrival.sent;
  mmtp_clock_add_transit (&session->clock,
      (gint64) self->paths.now - arrival.sent);
  mmtp_reports_note_gap (&self->reports, path);
  mmtp_arrivals_add (&path->arrivals, self->paths.now, &arrival);
}

/* --- INIT and OPEN -------------------------------------------------------- */

static void
take_open (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message, gsize size, const MmtpHandshakeResult * result)
{
  MmtpReceiverPath *path;

  if (result->action == MMTP_OPEN_BEGIN)
    begin_session (self, address, message);
  else if (result->action == MMTP_OPEN_MOVE)
    move_opener (self, address, message);
  path = self->paths.all[message->channel];
  if (mmtp_replay_check (&path->replay, result->number))
    mmtp_replay_accept (&path->replay, result->number);
  note_message (self, path, result->number, message, size);
  mmtp_receiver_handshake_accept (&self->handshake);
}

static void
push_version_event (MmtpReceiver * self, guint version)
{
  MmtpReceiverEvent *event = push_event (self, MMTP_EVENT_OTHER_VERSION, 0);

  if (event)
    event->version = version;
}

static MmtpRefusal
take_handshake (MmtpReceiver * self, const MmtpAddress * address,
    MmtpMessage * message, const guint8 * bytes, gsize size)
{
  MmtpHandshakeResult result;
  MmtpRefusal refusal = mmtp_receiver_handshake_input (&self->handshake,
      address, message, bytes, size, &result);

  if (result.action != MMTP_OPEN_IGNORE)
    take_open (self, address, message, size, &result);
  if (result.is_over)
    push_event (self, MMTP_EVENT_OVER, 0);
  if (result.is_other_version)
    push_version_event (self, message->version);
  return refusal;
}

/* --- LEAVE ---------------------------------------------------------------- */

static MmtpRefusal
take_leave (MmtpReceiver * self, MmtpReceiverPath * path,
    const MmtpLeave * leave_message)
{
  MmtpReceiverPath *leaving = self->paths.all[leave_message->channel];
  MmtpMessage answer = {.type = MMTP_LEAVE };

  if (!leaving || !leaving->known)
    return MMTP_REFUSED_MALFORMED;
  if (leave_message->is_ack)
    return MMTP_VALID;
  answer.leave.channel = leaving->id;
  answer.leave.is_ack = TRUE;
  answer.leave.reason = leave_message->reason;
  answer.leave.highest = leaving->arrivals.losses.highest & G_MAXUINT32;
  mmtp_receiver_output_add (&self->output, path, &answer, &path->address);
  leave (self, leaving);
  return MMTP_VALID;
}

/* --- KEEPALIVE ------------------------------------------------------------ */

static MmtpRefusal
take_keepalive (MmtpReceiver * self, MmtpReceiverPath * path,
    const MmtpKeepalive * keepalive)
{
  MmtpReceiverSession *session = &self->session;
  gint64 sent = path->latest_sent;

  mmtp_receiver_paths_note_keepalive (&self->paths, path);
  path->round_trip = keepalive->round_trip * G_GUINT64_CONSTANT (1000);
  mmtp_reports_set_period (&self->reports, path, keepalive->report_period);
  mmtp_receiver_stream_take_floor (&session->stream, keepalive->floor, sent);
  /* The other values of the KEEPALIVE apply to the whole session, not only to
   * this path. A KEEPALIVE that was sent later may already have arrived on a
   * faster path. The values of the present KEEPALIVE are then outdated, and
   * must not replace the newer values. */
  if (sent < session->keepalive_sent)
    return MMTP_VALID;
  session->keepalive_sent = sent;
  self->reports.fastest = keepalive->fastest;
  change_initial_delay (self, keepalive->initial_delay);
  if (keepalive->has_offset)
    mmtp_clock_set_offset (&session->clock, self->paths.now,
        keepalive->offset * G_GINT64_CONSTANT (1000));
  return MMTP_VALID;
}

/* --- all messages --------------------------------------------------------- */

static MmtpRefusal
take_body (MmtpReceiver * self, MmtpReceiverPath * path,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size)
{
  MmtpReceiverStream *stream = &self->session.stream;

  switch (message->type) {
    case MMTP_DATA:
      message->data.block = self->block;
      mmtp_receiver_stream_take_data (stream, path, &message->data, bytes,
          size);
      return MMTP_VALID;
    case MMTP_JOIN:
      mmtp_receiver_joins_take_join (&self->joins, path, address,
          &message->join);
      return MMTP_VALID;
    case MMTP_KEEPALIVE:
      return take_keepalive (self, path, &message->keepalive);
    case MMTP_QUERY:
      mmtp_reports_answer_query (&self->reports, path, message->query.channel);
      return MMTP_VALID;
    case MMTP_LEAVE:
      return take_leave (self, path, &message->leave);
    case MMTP_CAPS:
      return mmtp_receiver_stream_take_caps (stream, path, &message->caps);
    case MMTP_END:
      mmtp_receiver_stream_take_end (stream, path, &message->end);
      return MMTP_VALID;
    case MMTP_REPAIR:
      mmtp_receiver_stream_take_repair (stream, &message->repair);
      return MMTP_VALID;
    default:
      return MMTP_VALID;
  }
}

/* Checks the trailer (MAC or token), the channel number, the body and the
 * source address of a message, in this order (docs/wire-mmtp.md, section 2).
 * Returns MMTP_VALID, or the reason why the message is refused. */
static MmtpRefusal
check_message (MmtpReceiver * self, MmtpReceiverPath * path,
    const MmtpAddress * address, MmtpMessage * message, guint64 number,
    const guint8 * bytes, gsize size)
{
  MmtpRefusal refusal;

  if (!mmtp_direction_verify (&self->session.theirs, number, bytes, size))
    return MMTP_REFUSED_TRAILER;
  if (path && !mmtp_replay_check (&path->replay, number)) {
    mmtp_receiver_joins_note_replay (&self->joins, path, address, message,
        number);
    return MMTP_REFUSED_REPLAY;
  }
  refusal = mmtp_packet_parse_body (message, bytes, size);
  if (refusal != MMTP_VALID)
    return refusal;
  return path ? mmtp_receiver_joins_check_address (&self->joins, path, address,
      message) : MMTP_VALID;
}

static gboolean
may_send (const MmtpReceiver * self, const MmtpReceiverPath * path,
    const MmtpMessage * message)
{
  if (self->handshake.phase == MMTP_RECEIVER_IDLE)
    return FALSE;
  if (message->type == MMTP_JOIN)
    return TRUE;
  return path && (path->joined || message->type == MMTP_RESPONSE);
}

/* Called when a valid message of the session has arrived. A session becomes
 * silent (MMTP_RECEIVER_SILENT) when the session timeout has passed without a
 * message. If the session was silent, the message ends this state, and the
 * session continues. A silent session can continue as long as no other session
 * has begun. */
static void
come_alive (MmtpReceiver * self)
{
  if (self->handshake.phase != MMTP_RECEIVER_SILENT)
    return;
  self->handshake.phase = MMTP_RECEIVER_ALIVE;
  push_event (self, MMTP_EVENT_BACK, 0);
}

static void
note_address (MmtpReceiver * self, MmtpReceiverPath * path,
    const MmtpAddress * address, MmtpType type)
{
  const gboolean joined = path->joined;

  mmtp_receiver_joins_note_message (&self->joins, path, address, type);
  if (path->joined != joined)
    push_event (self, MMTP_EVENT_JOINED, path->id);
}

static MmtpRefusal
take_session_message (MmtpReceiver * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size)
{
  MmtpReceiverPath *path = mmtp_receiver_paths_find (&self->paths,
      message->channel);
  MmtpRefusal refusal;
  guint64 number;

  if (!may_send (self, path, message))
    return MMTP_REFUSED_CHANNEL;
  number = mmtp_receiver_path_get_number (path, message, bytes);
  refusal = check_message (self, path, address, message, number, bytes, size);
  if (refusal != MMTP_VALID)
    return refusal;
  if (path)
    mmtp_replay_accept (&path->replay, number);
  else
    path = add_path (self, message->channel, number);
  come_alive (self);
  if (message->type != MMTP_JOIN)
    note_address (self, path, address, message->type);
  self->handshake.confirmed = TRUE;
  note_message (self, path, number, message, size);
  refusal = take_body (self, path, address, message, bytes, size);
  if (self->handshake.phase == MMTP_RECEIVER_ALIVE)
    mmtp_reports_send_at_once (&self->reports, path);
  return refusal;
}

/* --- timeout -------------------------------------------------------------- */

/* Measures the skew between the clocks of the sender and the receiver with the
 * one-way delays on one path, `reporter`. The caller passes the fastest path,
 * because its one-way delay fluctuates least. */
static void
note_skew (MmtpReceiver * self, const MmtpReceiverPath * reporter)
{
  MmtpReceiverSession *session = &self->session;
  gint64 min;

  if (session->skew_path != reporter->id)
    mmtp_clock_restart_skew (&session->clock);
  session->skew_path = reporter->id;
  if (mmtp_arrivals_get_min_transit (&reporter->arrivals, self->paths.now,
          &min))
    mmtp_clock_add_min (&session->clock, self->paths.now, min);
}

static void
report_timeout (MmtpReceiver * self)
{
  MmtpReceiverPath *reporter = NULL;

  if (self->handshake.phase == MMTP_RECEIVER_ALIVE)
    reporter = mmtp_reports_choose_path (&self->reports);
  if (!reporter)
    return;
  note_skew (self, reporter);
  mmtp_reports_timeout (&self->reports);
}

static void
session_timeout (MmtpReceiver * self)
{
  if (self->handshake.phase == MMTP_RECEIVER_IDLE)
    return;
  mmtp_receiver_stream_timeout (&self->session.stream);
  if (self->handshake.phase == MMTP_RECEIVER_ALIVE
      && mmtp_liveness_get_end (&self->liveness) <= self->paths.now) {
    self->handshake.phase = MMTP_RECEIVER_SILENT;
    push_event (self, MMTP_EVENT_SILENT, 0);
  }
}

/* --- input and timeout ---------------------------------------------------- */

static MmtpRefusal
take_message (MmtpReceiver * self, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  MmtpMessage message;
  MmtpRefusal refusal =
      mmtp_packet_parse_header (&message, bytes, size, MMTP_SENDER);

  if (refusal != MMTP_VALID && refusal != MMTP_REFUSED_VERSION)
    return refusal;
  if (message.type == MMTP_INIT || message.type == MMTP_OPEN)
    return take_handshake (self, address, &message, bytes, size);
  if (refusal != MMTP_VALID)
    return refusal;
  return take_session_message (self, address, &message, bytes, size);
}

void
mmtp_receiver_input (MmtpReceiver * self, guint64 now,
    const MmtpAddress * address, const guint8 * bytes, gsize size)
{
  MmtpRefusal refusal;

  self->paths.now = MAX (self->paths.now, now);
  session_timeout (self);
  refusal = take_message (self, address, bytes, size);
  if (refusal != MMTP_VALID)
    self->stats.refused[refusal]++;
}

void
mmtp_receiver_timeout (MmtpReceiver * self, guint64 now)
{
  self->paths.now = MAX (self->paths.now, now);
  session_timeout (self);
  report_timeout (self);
}

guint64
mmtp_receiver_next_wakeup (MmtpReceiver * self)
{
  guint64 next;

  if (self->handshake.phase == MMTP_RECEIVER_IDLE)
    return MMTP_NEVER;
  next = mmtp_receiver_stream_next_wakeup (&self->session.stream);
  if (self->handshake.phase != MMTP_RECEIVER_ALIVE)
    return next;
  next = MIN (next, mmtp_liveness_get_end (&self->liveness));
  return MIN (next, mmtp_reports_next_wakeup (&self->reports));
}

/* --- events for the application ------------------------------------------- */

static gboolean
pop_event (MmtpReceiver * self, MmtpReceiverEvent * event)
{
  MmtpReceiverEvent *queued = g_queue_pop_head (&self->events);

  if (!queued)
    return FALSE;
  *event = *queued;
  g_free (queued);
  return TRUE;
}

gboolean
mmtp_receiver_poll_event (MmtpReceiver * self, MmtpReceiverEvent * event)
{
  if (pop_event (self, event))
    return TRUE;
  if (self->handshake.phase == MMTP_RECEIVER_IDLE
      || !mmtp_receiver_stream_poll_event (&self->session.stream, event))
    return FALSE;
  if (event->type == MMTP_EVENT_END)
    self->handshake.phase = MMTP_RECEIVER_ENDED;
  return TRUE;
}

/* --- statistics ----------------------------------------------------------- */

void
mmtp_receiver_get_stats (MmtpReceiver * self, MmtpReceiverStats * stats)
{
  const MmtpReceiverSession *session = &self->session;
  const MmtpReorderStats *reorder;

  *stats = self->stats;
  stats->reports = self->reports.n_sent;
  stats->in_session = self->handshake.phase == MMTP_RECEIVER_ALIVE;
  if (self->handshake.phase == MMTP_RECEIVER_IDLE)
    return;
  add_stream_counters (&session->stream, stats);
  reorder = mmtp_reorder_get_stats (session->stream.reorder);
  stats->held_bytes = reorder->held_bytes;
  stats->reorder_steps = reorder->steps;
  stats->initial_delay = session->initial_delay.delay;
  /* The statistics count the skew as positive if the sender's clock runs too
   * fast. In this case, the one-way delays that the receiver measures seem to
   * decrease. Their slope, which is stored in clock.skew, is negative, so its
   * sign is inverted here. */
  stats->skew = -session->clock.skew * 1e9;
}

gboolean
mmtp_receiver_get_path_stats (MmtpReceiver * self, guint id,
    MmtpReceiverPathStats * stats)
{
  const MmtpReceiverPath *path =
      id < MMTP_MAX_PATHS ? self->paths.all[id] : NULL;
  const MmtpArrivals *arrivals;

  memset (stats, 0, sizeof (*stats));
  if (!path)
    return FALSE;
  arrivals = &path->arrivals;
  stats->joined = path->joined;
  stats->received = path->past.received + arrivals->received;
  stats->bytes = path->past.bytes + arrivals->bytes;
  stats->lost = path->past.lost + arrivals->losses.lost;
  stats->late = path->past.late + arrivals->late;
  stats->duplicates = path->duplicates;
  stats->rate = mmtp_arrivals_get_rate (arrivals, self->paths.now) * 8;
  stats->jitter = arrivals->jitter;
  if (!mmtp_arrivals_get_min_transit (arrivals, self->paths.now,
          &stats->transit))
    stats->transit = 0;
  return TRUE;
}

/* --- functions for the driver --------------------------------------------- */

static void
receiver_input (gpointer core, guint64 now, guint path,
    const Datagram * datagram)
{
  MmtpReceiver *self = core;
  MmtpAddress address;

  mmtp_address_set_path (&address, &datagram->path);
  self->block = datagram->block;
  mmtp_receiver_input (self, now, &address, datagram->bytes, datagram->size);
  self->block = NULL;
}

static void
receiver_timeout (gpointer core, guint64 now)
{
  mmtp_receiver_timeout (core, now);
}

static gboolean
receiver_poll_output (gpointer core, guint64 now, guint * path,
    Datagram * datagram, gsize room)
{
  MmtpAddress address;

  datagram->size = mmtp_receiver_poll_output (core, now, &address,
      datagram->bytes, room);
  if (datagram->size == 0)
    return FALSE;
  *path = 0;
  mmtp_address_get_path (&address, &datagram->path);
  return TRUE;
}

static gboolean
receiver_poll_event (gpointer core, gpointer event)
{
  return mmtp_receiver_poll_event (core, event);
}

static guint64
receiver_next_wakeup (gpointer core)
{
  return mmtp_receiver_next_wakeup (core);
}

const DriverVerbs mmtp_receiver_verbs = {
  .event_size = sizeof (MmtpReceiverEvent),
  .input = receiver_input,
  .timeout = receiver_timeout,
  .poll_output = receiver_poll_output,
  .poll_event = receiver_poll_event,
  .next_wakeup = receiver_next_wakeup,
};
