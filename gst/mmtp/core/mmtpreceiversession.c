/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of a session that has begun: docs/wire-mmtp.md sections 2 and 3.
 * Nothing moves before trailer, number, body and address have been checked. */

#include "mmtpreceiverprivate.h"

#include <string.h>

/* Between keep-alives; what is longer was an outage. */
#define MOST_KEEPALIVE_GAP (2 * MMTP_SECOND)
/* A sender changes D0 once in a second (DELAY_PERIOD), or when its application
 * says so. What is more is applied by a later KEEPALIVE, which repeats D0. */
#define DELAY_CHANGES_PERIOD MMTP_SECOND
#define MAX_DELAY_CHANGES 4
/* Keep-alive periods without a message that make a channel silent */
#define SILENT_PERIODS 2
/* A JOIN that arrives so long after a copy of it is a replay. */
#define MAX_JOIN_COPY_TIME MMTP_SECOND
/* Of the end, on each channel at once: docs/wire-mmtp.md, section 3 */
#define END_ACKS 3

/* --- begin and end of a session ------------------------------------------ */

static void
keep_counters (MmtpReceiver * self)
{
  const MmtpReorderStats *stats =
      mmtp_reorder_get_stats (self->session.reorder);

  self->stats.packets += stats->packets;
  self->stats.late += stats->late;
  self->stats.duplicates += stats->duplicates;
  self->stats.missing += stats->missing;
  self->stats.incomplete += stats->incomplete;
  self->stats.no_room += stats->no_room;
}

static void
clear_channel (MmtpReceiverChannel * channel)
{
  MmtpReceiverChannel old = *channel;

  memset (channel, 0, sizeof (*channel));
  channel->id = old.id;
  channel->duplicates = old.duplicates;
  channel->past = old.past;
  channel->past.received += old.arrivals.received;
  channel->past.bytes += old.arrivals.bytes;
  channel->past.lost += old.arrivals.losses.lost;
  channel->past.late += old.arrivals.late;
}

void
mmtp_receiver_clear_session (MmtpReceiver * self)
{
  MmtpReceiverSession *session = &self->session;
  guint i;

  if (session->exists) {
    keep_counters (self);
    mmtp_reorder_free (session->reorder);
    mmtp_store_free (session->store);
    mmtp_direction_clear (&session->theirs);
    mmtp_direction_clear (&session->ours);
  }
  for (i = 0; i < MMTP_CAPS_VERSIONS; i++)
    g_free (session->caps[i]);
  for (i = 0; i < self->n_ids; i++)
    clear_channel (self->channels[self->ids[i]]);
  memset (session, 0, sizeof (*session));
}

static void
draw_session (MmtpReceiver * self)
{
  MmtpReceiverSession *session = &self->session;
  guint8 drawn[MMTP_KEY_SIZE];

  mmtp_receiver_draw (self, "session", &self->stats.sessions,
      sizeof (self->stats.sessions), drawn);
  memcpy (session->nonce_r, drawn, MMTP_NONCE_SIZE);
  memcpy (&session->token_r, drawn + MMTP_NONCE_SIZE,
      sizeof (session->token_r));
  /* No OPEN before this one comes back once the session is over. */
  mmtp_receiver_draw (self, "cookies", &self->stats.sessions,
      sizeof (self->stats.sessions), self->cookie_secret);
}

/* Each change costs work, and a message to the application. */
static gboolean
may_change_delay (MmtpReceiver * self)
{
  MmtpReceiverSession *session = &self->session;

  if (!session->exists)
    return TRUE;
  if (self->now >= session->delay_changes_from + DELAY_CHANGES_PERIOD) {
    session->delay_changes_from = self->now;
    session->n_delay_changes = 0;
  }
  return session->n_delay_changes++ < MAX_DELAY_CHANGES;
}

static void
set_initial_delay (MmtpReceiver * self, guint32 wanted)
{
  guint64 wanted_delay = wanted * G_GUINT64_CONSTANT (1000);
  guint64 delay = MAX (wanted_delay, self->config.least_delay);
  gint64 shift;

  self->session.wanted_delay = wanted_delay;
  delay = MIN (delay, self->config.max_delay);
  if (delay == self->session.initial_delay || !may_change_delay (self))
    return;
  shift = (gint64) (delay - self->session.initial_delay);
  self->session.initial_delay = delay;
  if (!self->session.exists)
    return;
  mmtp_reorder_shift_deadlines (self->session.reorder, self->now, shift);
  mmtp_receiver_push_event (self, MMTP_EVENT_INITIAL_DELAY, 0);
}

MmtpReceiverChannel *
mmtp_receiver_make_channel (MmtpReceiver * self, guint8 id, guint64 number)
{
  MmtpReceiverChannel *channel = self->channels[id];

  if (!channel) {
    channel = self->channels[id] = g_new0 (MmtpReceiverChannel, 1);
    channel->id = id;
    self->ids[self->n_ids++] = id;
    self->stats.n_channels = MAX (self->stats.n_channels, id + 1u);
  }
  if (channel->known)
    return channel;
  channel->known = TRUE;
  channel->longest = MMTP_JOIN_SIZE * 2;
  mmtp_arrivals_init (&channel->arrivals, self->now,
      SILENT_PERIODS * self->session.period);
  mmtp_replay_accept (&channel->replay, number);
  return channel;
}

/* The address of the channel still brings messages, whose MAC proves that they
 * are the sender's. An on-path attacker that is faster than the path can pass for
 * a sender that has moved: the channel does not follow it meanwhile. */
static gboolean
is_address_alive (MmtpReceiver * self, const MmtpReceiverChannel * channel)
{
  const guint64 gap = MAX (self->session.period, channel->keepalive_gap);

  return self->key.is_set && channel->joined && channel->address_heard > 0
      && self->now - channel->address_heard < SILENT_PERIODS * gap;
}

static void
join (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpAddress * address)
{
  gboolean joined = channel->joined;

  channel->has_next_address = FALSE;
  if (!joined || !mmtp_address_is_equal (&channel->address, address)) {
    mmtp_arrivals_begin_path (&channel->arrivals, self->now);
    channel->address_heard = 0;
  }
  channel->joined = TRUE;
  channel->address = *address;
  channel->keepalive_time = self->now;
  mmtp_receiver_remember (self, address);
  mmtp_receiver_begin_reports (self, channel);
  if (!joined)
    mmtp_receiver_push_event (self, MMTP_EVENT_JOINED, channel->id);
}

/* RESPONSE has validated the address. */
static void
take_response (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpAddress * address)
{
  if (mmtp_address_is_equal (&channel->address, address)
      || !is_address_alive (self, channel)) {
    join (self, channel, address);
    return;
  }
  channel->next_address = *address;
  channel->has_next_address = TRUE;
}

static void
leave (MmtpReceiver * self, MmtpReceiverChannel * channel)
{
  if (!channel->joined)
    return;
  channel->joined = FALSE;
  mmtp_receiver_push_event (self, MMTP_EVENT_LEFT, channel->id);
}

static void
push_session_event (MmtpReceiver * self, const MmtpOpen * open,
    gboolean was_alive)
{
  MmtpReceiverEvent *event;

  g_queue_clear_full (&self->events, g_free);
  if (was_alive)
    mmtp_receiver_push_event (self, MMTP_EVENT_SILENT, 0);
  mmtp_receiver_push_event (self, MMTP_EVENT_SESSION, 0);
  event = g_queue_peek_tail (&self->events);
  event->bit_rate = open->bit_rate;
  if (open->frame_period > 0)
    event->frame_rate = G_GUINT64_CONSTANT (1000000000) / open->frame_period;
}

void
mmtp_receiver_begin_session (MmtpReceiver * self,
    const MmtpAddress * address, const MmtpMessage * message)
{
  const MmtpOpen *open = &message->open;
  MmtpReceiverSession *session = &self->session;
  gboolean was_alive = session->alive;
  MmtpReceiverChannel *channel;

  mmtp_receiver_clear_session (self);
  memcpy (session->nonce_s, open->nonce, MMTP_NONCE_SIZE);
  draw_session (self);
  self->stats.sessions++;
  mmtp_direction_init (&session->theirs, &self->key, session->nonce_s,
      session->nonce_r, MMTP_SENDER, session->token_r);
  mmtp_direction_init (&session->ours, &self->key, session->nonce_s,
      session->nonce_r, MMTP_RECEIVER, open->token);
  session->period = self->config.keepalive_period ?
      self->config.keepalive_period : open->keepalive_period * MMTP_MSECOND;
  session->reorder = mmtp_reorder_new (self->config.max_bytes);
  session->store = mmtp_store_new ();
  mmtp_clock_init (&session->clock, self->now, open->now);
  session->last_valid = session->last_report = self->now;
  session->keepalive_sent = G_MININT64;
  session->skew_channel = -1;
  session->opener = session->fastest = message->channel;
  session->reporter = message->channel;
  session->opener_address = *address;
  set_initial_delay (self, open->initial_delay);
  session->exists = session->alive = TRUE;
  push_session_event (self, open, was_alive);
  channel = mmtp_receiver_make_channel (self, message->channel,
      message->number);
  channel->longest = open->longest;
  join (self, channel, address);
}

void
mmtp_receiver_move_opener (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message)
{
  MmtpReceiverSession *session = &self->session;
  MmtpReceiverChannel *channel = mmtp_receiver_make_channel (self,
      message->channel, message->number);

  session->opener = session->fastest = session->reporter = message->channel;
  session->opener_address = *address;
  channel->longest = message->open.longest;
  join (self, channel, address);
}

/* --- what every message says --------------------------------------------- */

void
mmtp_receiver_note_message (MmtpReceiver * self,
    MmtpReceiverChannel * channel, guint64 number,
    const MmtpMessage * message, gsize size)
{
  MmtpReceiverSession *session = &self->session;
  MmtpArrival arrival = {
    .number = number,
    .sent = mmtp_clock_unwrap_sent (&session->clock, self->now, message->sent),
    .size = size,
    .is_load = message->type == MMTP_DATA || message->type == MMTP_PROBE ||
        message->type == MMTP_REPAIR,
    .repair_until = MAX (session->latest_deadline,
        self->now + session->initial_delay)
  };

  session->last_valid = self->now;
  session->doubts = 0;
  channel->echo = message->sent;
  channel->echo_time = self->now;
  channel->latest_sent = arrival.sent;
  mmtp_clock_add_transit (&session->clock, (gint64) self->now - arrival.sent);
  mmtp_receiver_note_gap (self, channel);
  mmtp_arrivals_add (&channel->arrivals, self->now, &arrival);
}

/* --- DATA ---------------------------------------------------------------- */

static MmtpReorderResult
add_data (MmtpReceiver * self, const MmtpData * data, gboolean * is_late)
{
  MmtpReceiverSession *session = &self->session;
  guint64 due, deadline;

  due = mmtp_clock_unwrap_due (&session->clock, self->now, data->due);
  deadline = mmtp_clock_map (&session->clock, self->now, due)
      + session->initial_delay;
  session->latest_deadline = MAX (session->latest_deadline, deadline);
  *is_late = self->now >= deadline;
  return mmtp_reorder_add (session->reorder, self->now, data, due, deadline);
}

static MmtpRefusal
take_data (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpData * data)
{
  gboolean is_late;

  if (self->session.ended)
    return MMTP_VALID;
  if (add_data (self, data, &is_late) == MMTP_REORDER_DUPLICATE)
    channel->duplicates++;
  if (is_late)
    mmtp_arrivals_add_late (&channel->arrivals);
  return MMTP_VALID;
}

/* --- REPAIR -------------------------------------------------------------- */

static MmtpRefusal
take_repair (MmtpReceiver * self, const MmtpRepair * repair)
{
  MmtpReceiverSession *session = &self->session;

  mmtp_store_add_repair (session->store, repair);
  return MMTP_VALID;
}

/* What a message lets us know of others */
static void
recover (MmtpReceiver * self)
{
  MmtpMessage message;
  const guint8 *bytes;
  gboolean is_late;
  gsize size;

  while (mmtp_store_poll (self->session.store, &bytes, &size)) {
    if (mmtp_packet_parse_header (&message, bytes, size, MMTP_SENDER) ||
        mmtp_packet_parse_body (&message, bytes, size))
      continue;
    if (add_data (self, &message.data, &is_late) == MMTP_REORDER_TAKEN)
      self->stats.recovered++;
  }
}

static void
keep_for_repairs (MmtpReceiver * self, const MmtpMessage * message,
    const guint8 * bytes, gsize size)
{
  if (self->session.ended)
    return;
  if (message->type == MMTP_DATA)
    mmtp_store_add (self->session.store, message->data.stream_number, bytes,
        size);
  if (message->type == MMTP_DATA || message->type == MMTP_REPAIR)
    recover (self);
}

/* --- channels come and go ------------------------------------------------ */

static guint64
make_challenge (MmtpReceiver * self, guint8 channel,
    const MmtpAddress * address)
{
  struct
  {
    guint8 nonce[MMTP_NONCE_SIZE];
    MmtpAddress address;
    guint8 channel;
  } seed;
  guint8 drawn[MMTP_KEY_SIZE];
  guint64 challenge;

  memset (&seed, 0, sizeof (seed));
  memcpy (seed.nonce, self->session.nonce_r, MMTP_NONCE_SIZE);
  seed.address.size = address->size;
  memcpy (seed.address.bytes, address->bytes, address->size);
  seed.channel = channel;
  mmtp_receiver_draw (self, "challenge", &seed, sizeof (seed), drawn);
  memcpy (&challenge, drawn, sizeof (challenge));
  return challenge;
}

static void
challenge (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpAddress * address)
{
  MmtpMessage answer = {.type = MMTP_CHALLENGE };

  answer.challenge.nonce = channel->join_nonce;
  answer.challenge.challenge = make_challenge (self, channel->id, address);
  mmtp_receiver_send (self, channel, &answer, address);
}

/* Also where the address is validated: the sender asks until it is answered. */
static MmtpRefusal
take_join (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpAddress * address, const MmtpJoin * join)
{
  channel->longest = join->longest;
  channel->join_number = join->number;
  channel->join_nonce = join->nonce;
  channel->join_time = self->now;
  challenge (self, channel, address);
  return MMTP_VALID;
}

/* A copy of the JOIN came from another address before it. The sender's own is
 * answered as well, because the sender could not show its address otherwise. */
static gboolean
is_last_join (MmtpReceiver * self, const MmtpReceiverChannel * channel,
    const MmtpMessage * message, guint64 number)
{
  return self->key.is_set && message->type == MMTP_JOIN
      && channel->join_time > 0 && number == channel->join_number
      && self->now - channel->join_time < MAX_JOIN_COPY_TIME;
}

static MmtpRefusal
take_leave (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpLeave * leave_message)
{
  MmtpReceiverChannel *leaving = self->channels[leave_message->channel];
  MmtpMessage answer = {.type = MMTP_LEAVE };

  if (!leaving || !leaving->known)
    return MMTP_REFUSED_MALFORMED;
  if (leave_message->is_ack)
    return MMTP_VALID;
  answer.leave.channel = leaving->id;
  answer.leave.is_ack = TRUE;
  answer.leave.reason = leave_message->reason;
  answer.leave.highest = leaving->arrivals.losses.highest & G_MAXUINT32;
  mmtp_receiver_send (self, channel, &answer, &channel->address);
  leave (self, leaving);
  return MMTP_VALID;
}

/* --- the sender's state -------------------------------------------------- */

/* What was sent before the floor was told may still be on a slower channel: it
 * holds when each has brought something younger. */
static gboolean
has_floor_come (const MmtpReceiver * self)
{
  guint i;

  for (i = 0; i < self->n_ids; i++) {
    const MmtpReceiverChannel *channel = self->channels[self->ids[i]];

    if (channel->joined && channel->latest_sent < self->session.floor_sent
        && !mmtp_arrivals_is_silent (&channel->arrivals, self->now))
      return FALSE;
  }
  return TRUE;
}

static void
take_floor (MmtpReceiver * self, guint32 floor, gint64 sent)
{
  MmtpReceiverSession *session = &self->session;

  if (!session->floor_waits) {
    session->floor = floor;
    session->floor_sent = sent;
    session->floor_waits = TRUE;
  }
  if (!has_floor_come (self))
    return;
  mmtp_reorder_set_floor (session->reorder, session->floor);
  session->floor_waits = FALSE;
}

static MmtpRefusal
take_keepalive (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpKeepalive * keepalive)
{
  MmtpReceiverSession *session = &self->session;
  gint64 sent = channel->latest_sent;

  /* A sender spares keep-alives on a slow channel. */
  channel->keepalive_gap = MAX (channel->keepalive_gap / 8 * 7,
      MIN (self->now - channel->keepalive_time, MOST_KEEPALIVE_GAP));
  channel->keepalive_time = self->now;
  channel->round_trip = keepalive->round_trip * G_GUINT64_CONSTANT (1000);
  mmtp_receiver_take_report_period (self, channel, keepalive->report_period);
  take_floor (self, keepalive->floor, sent);
  /* A slow channel brings older news. */
  if (sent < session->keepalive_sent)
    return MMTP_VALID;
  session->keepalive_sent = sent;
  session->fastest = keepalive->fastest;
  set_initial_delay (self, keepalive->initial_delay);
  if (keepalive->has_offset)
    mmtp_clock_set_offset (&session->clock, self->now,
        keepalive->offset * G_GINT64_CONSTANT (1000));
  return MMTP_VALID;
}

static void
acknowledge_end (MmtpReceiver * self, MmtpReceiverChannel * channel)
{
  MmtpMessage answer = {.type = MMTP_END_ACK };

  answer.end.stream_number = self->session.end_number & G_MAXUINT32;
  mmtp_receiver_send (self, channel, &answer, &channel->address);
}

/* Who has been told that all is there goes, and with him what is missing: so he
 * is told when it is, or can't come in time any more. He asks each 100 ms; but
 * the application may be gone by then, so that one END-ACK that is lost would
 * leave him waiting: it goes END_ACKS times on each channel. */
void
mmtp_receiver_acknowledge_end (MmtpReceiver * self)
{
  guint i, n;

  for (n = 0; n < END_ACKS; n++) {
    for (i = 0; i < self->n_ids; i++) {
      if (self->channels[self->ids[i]]->joined)
        acknowledge_end (self, self->channels[self->ids[i]]);
    }
  }
}

static MmtpRefusal
take_end (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpEnd * end)
{
  MmtpReceiverSession *session = &self->session;

  if (!session->end_known) {
    session->end_known = TRUE;
    session->end_number = mmtp_unwrap (end->stream_number, 32,
        mmtp_reorder_get_next (session->reorder));
    session->end_deadline = MAX (session->latest_deadline,
        self->now + session->initial_delay);
  }
  if (session->ended)
    acknowledge_end (self, channel);
  return MMTP_VALID;
}

/* --- all of them --------------------------------------------------------- */

static MmtpRefusal
take_body (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpAddress * address, const MmtpMessage * message)
{
  switch (message->type) {
    case MMTP_DATA:
      return take_data (self, channel, &message->data);
    case MMTP_JOIN:
      return take_join (self, channel, address, &message->join);
    case MMTP_KEEPALIVE:
      return take_keepalive (self, channel, &message->keepalive);
    case MMTP_QUERY:
      mmtp_receiver_answer_query (self, channel, message->query.channel);
      return MMTP_VALID;
    case MMTP_LEAVE:
      return take_leave (self, channel, &message->leave);
    case MMTP_CAPS:
      return mmtp_receiver_take_caps (self, channel, &message->caps);
    case MMTP_END:
      return take_end (self, channel, &message->end);
    case MMTP_REPAIR:
      return take_repair (self, &message->repair);
    default:
      return MMTP_VALID;
  }
}

/* JOIN and KEEPALIVE say the whole number, in their first 8 bytes. */
static guint64
get_number (const MmtpReceiverChannel * channel, const MmtpMessage * message,
    const guint8 * bytes)
{
  guint64 whole;

  if (message->type != MMTP_JOIN && message->type != MMTP_KEEPALIVE)
    return mmtp_unwrap (message->number, 16, channel->replay.highest);
  memcpy (&whole, bytes + MMTP_HEADER_SIZE, sizeof (whole));
  return GUINT64_FROM_BE (whole);
}

static MmtpRefusal
check_response (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpAddress * address, const MmtpMessage * message)
{
  return message->challenge.challenge == make_challenge (self, channel->id,
      address) ? MMTP_VALID : MMTP_REFUSED_ADDRESS;
}

static MmtpRefusal
check_address (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpAddress * address, const MmtpMessage * message)
{
  if (message->type == MMTP_JOIN)
    return MMTP_VALID;
  if (message->type == MMTP_RESPONSE)
    return check_response (self, channel, address, message);
  if (channel->has_next_address
      && mmtp_address_is_equal (address, &channel->next_address)
      && !is_address_alive (self, channel))
    join (self, channel, address);
  return mmtp_address_is_equal (address, &channel->address) ? MMTP_VALID :
      MMTP_REFUSED_ADDRESS;
}

/* In the order of the wire page, section 2 */
static MmtpRefusal
check_message (MmtpReceiver * self, MmtpReceiverChannel * channel,
    const MmtpAddress * address, MmtpMessage * message, guint64 number,
    const guint8 * bytes, gsize size)
{
  MmtpRefusal refusal;

  if (!mmtp_direction_verify (&self->session.theirs, number, bytes, size))
    return MMTP_REFUSED_TRAILER;
  if (channel && !mmtp_replay_check (&channel->replay, number)) {
    if (is_last_join (self, channel, message, number))
      challenge (self, channel, address);
    return MMTP_REFUSED_REPLAY;
  }
  refusal = mmtp_packet_parse_body (message, bytes, size);
  if (refusal != MMTP_VALID)
    return refusal;
  return channel ? check_address (self, channel, address, message) : MMTP_VALID;
}

static MmtpReceiverChannel *
find_channel (MmtpReceiver * self, const MmtpMessage * message)
{
  MmtpReceiverChannel *channel = self->channels[message->channel];

  return channel && channel->known ? channel : NULL;
}

static gboolean
may_speak (const MmtpReceiver * self, const MmtpReceiverChannel * channel,
    const MmtpMessage * message)
{
  if (!self->session.exists)
    return FALSE;
  if (message->type == MMTP_JOIN)
    return TRUE;
  return channel && (channel->joined || message->type == MMTP_RESPONSE);
}

/* Until another one begins who was silent for too long may go on. */
static void
come_alive (MmtpReceiver * self)
{
  MmtpReceiverSession *session = &self->session;

  if (session->alive || session->ended)
    return;
  session->alive = TRUE;
  mmtp_receiver_push_event (self, MMTP_EVENT_BACK, 0);
}

MmtpRefusal
mmtp_receiver_session_input (MmtpReceiver * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size)
{
  MmtpReceiverChannel *channel = find_channel (self, message);
  MmtpReceiverSession *session = &self->session;
  MmtpRefusal refusal;
  guint64 number;

  if (!may_speak (self, channel, message))
    return MMTP_REFUSED_CHANNEL;
  number = get_number (channel, message, bytes);
  refusal = check_message (self, channel, address, message, number, bytes,
      size);
  if (refusal != MMTP_VALID)
    return refusal;
  if (channel)
    mmtp_replay_accept (&channel->replay, number);
  else
    channel = mmtp_receiver_make_channel (self, message->channel, number);
  come_alive (self);
  if (message->type == MMTP_RESPONSE)
    take_response (self, channel, address);
  else if (message->type != MMTP_JOIN)
    channel->address_heard = self->now;
  session->confirmed = TRUE;
  mmtp_receiver_note_message (self, channel, number, message, size);
  refusal = take_body (self, channel, address, message);
  keep_for_repairs (self, message, bytes, size);
  mmtp_receiver_report_at_once (self, channel);
  return refusal;
}

/* --- time ---------------------------------------------------------------- */

static guint64
get_caps_deadline (MmtpReceiver * self)
{
  const MmtpReorderedBuffer *buffer = mmtp_reorder_peek (self->session.reorder);

  return buffer && buffer->caps_version != 0
      && !mmtp_receiver_find_caps (self, buffer->caps_version) ?
      mmtp_reorder_get_output_deadline (self->session.reorder) : MMTP_NEVER;
}

static gboolean
is_end_open (const MmtpReceiverSession * session)
{
  return session->end_known && !session->ended
      && mmtp_reorder_get_next (session->reorder) < session->end_number;
}

void
mmtp_receiver_session_timeout (MmtpReceiver * self)
{
  MmtpReceiverSession *session = &self->session;

  if (!session->exists)
    return;
  mmtp_reorder_timeout (session->reorder, self->now);
  if (is_end_open (session) && session->end_deadline <= self->now)
    mmtp_reorder_set_floor (session->reorder,
        session->end_number & G_MAXUINT32);
  if (session->alive
      && session->last_valid + self->config.session_timeout <= self->now) {
    session->alive = FALSE;
    mmtp_receiver_push_event (self, MMTP_EVENT_SILENT, 0);
  }
}

guint64
mmtp_receiver_session_next_wakeup (MmtpReceiver * self)
{
  MmtpReceiverSession *session = &self->session;
  guint64 next;

  if (!session->exists)
    return MMTP_NEVER;
  next = MIN (mmtp_reorder_next_wakeup (session->reorder),
      get_caps_deadline (self));
  if (is_end_open (session))
    next = MIN (next, session->end_deadline);
  if (session->alive)
    next = MIN (next, session->last_valid + self->config.session_timeout);
  return next;
}
