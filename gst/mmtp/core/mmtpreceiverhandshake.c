/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver's side of the handshake (docs/wire-mmtp.md, section 4). It
 * stores nothing about a host that has not shown that it receives at its
 * address. Such a host is sent no more bytes than came from there, and the
 * answers to each network are limited.
 */

#include "mmtpreceiverprivate.h"

#include <string.h>

/* docs/wire-mmtp.md, "Take-over": a session is over if its host does not answer
 * this many QUERYs, sent at this distance, in DOUBT_TIME or in two round trips,
 * whichever is longer.
 */
#define DOUBT_TIME MMTP_SECOND
#define DOUBT_ROUND_TRIPS 2
#define UNKNOWN_ROUND_TRIP MMTP_SECOND
#define DOUBTS 3
#define DOUBT_DISTANCE (100 * MMTP_MSECOND)
/* There is no doubt about a session from which a message has arrived in this
 * time or in two keep-alive periods, whichever is shorter. */
#define DOUBTLESS_TIME (500 * MMTP_MSECOND)
#define DOUBTLESS_PERIODS 2
#define OPEN_SIGNED_SIZE 92     /* bytes 0 to 91 of OPEN */
#define ACCEPT_SIGNED_SIZE 52   /* bytes 0 to 51 of ACCEPT */

static MmtpRefusal
refuse (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message, const guint8 * nonce, MmtpRefuseReason reason)
{
  MmtpMessage answer = {.type = MMTP_REFUSE,.channel = message->channel,
    .number = message->number
  };

  if (mmtp_answer_limits_take (&self->limits, self->paths.now, address, FALSE,
          self->session.alive)) {
    memcpy (answer.refuse.nonce, nonce, MMTP_NONCE_SIZE);
    answer.refuse.reason = reason;
    mmtp_receiver_output_add_bare (&self->output, &answer, address);
  }
  return reason == MMTP_REFUSE_VERSION ? MMTP_REFUSED_VERSION :
      MMTP_REFUSED_SESSION;
}

static MmtpRefusal
answer_init (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message, const guint8 * bytes, gsize size)
{
  MmtpMessage answer = {.type = MMTP_COOKIE,.channel = message->channel };
  gboolean is_sealed = mmtp_key_verify_seal (&self->key, bytes, size);

  if (!mmtp_answer_limits_take (&self->limits, self->paths.now, address,
          is_sealed, self->session.alive))
    return MMTP_VALID;
  memcpy (answer.init.nonce, message->init.nonce, MMTP_NONCE_SIZE);
  mmtp_cookie_make (self->cookie_secret, self->paths.now / MMTP_SECOND,
      address->bytes, address->size, message->init.nonce, answer.init.cookie);
  mmtp_receiver_output_add_bare (&self->output, &answer, address);
  return MMTP_VALID;
}

/* Sends ACCEPT. All ACCEPTs of a session are equal except for number and time.
 */
static void
accept (MmtpReceiver * self)
{
  MmtpReceiverSession *session = &self->session;
  MmtpReceiverPath *path = self->paths.all[session->opener];
  MmtpMessage answer = {.type = MMTP_ACCEPT,.channel = path->id };
  guint8 bytes[MMTP_HEADER_SIZE + 128];

  memcpy (answer.accept.nonce, session->nonce_s, MMTP_NONCE_SIZE);
  memcpy (answer.accept.nonce_r, session->nonce_r, MMTP_NONCE_SIZE);
  answer.accept.token = session->token_r;
  answer.accept.min_delay = self->config.min_delay / 1000;
  answer.accept.has_key = self->key.is_set;
  answer.number = path->next_number++ & G_MAXUINT16;
  answer.sent = mmtp_to_ticks (self->paths.now);
  if (mmtp_packet_write (&answer, bytes, sizeof (bytes)) == 0)
    return;
  mmtp_key_sign (&self->key, bytes, ACCEPT_SIGNED_SIZE, answer.accept.mac);
  mmtp_receiver_output_add_bare (&self->output, &answer,
      &session->opener_address);
}

static gboolean
is_of_session (const MmtpReceiverSession * session, const MmtpOpen * open)
{
  return session->exists
      && memcmp (session->nonce_s, open->nonce, MMTP_NONCE_SIZE) == 0;
}

static gboolean
has_cookie (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpOpen * open)
{
  return mmtp_cookie_check (self->cookie_secret, self->paths.now / MMTP_SECOND,
      address->bytes, address->size, open->nonce, open->cookie);
}

static gboolean
is_from_opener (const MmtpReceiverSession * session,
    const MmtpAddress * address, const MmtpMessage * message)
{
  return message->channel == session->opener
      && mmtp_address_is_equal (address, &session->opener_address);
}

/* An on-path attacker can make the sender use a COOKIE for another address and
 * send a copy of that OPEN from there before the sender's own arrives. If a key
 * proves that it is the same sender, the sender may therefore open the session
 * from its own address, until it has received the ACCEPT. Cookies from before
 * this session, of which the attacker has copies, are not valid any more. */
static gboolean
may_move_opener (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message)
{
  return self->key.is_set && !self->session.confirmed
      && has_cookie (self, address, &message->open);
}

static gboolean
is_new (MmtpReceiver * self, const MmtpMessage * message, guint64 * number)
{
  const MmtpReceiverPath *path = self->paths.all[message->channel];

  if (!path || !path->known)
    return TRUE;
  *number = mmtp_unwrap (message->number, 16, path->replay.highest);
  return mmtp_replay_check (&path->replay, *number);
}

/* The OPEN is repeated because ACCEPT was lost or too slow. */
static MmtpRefusal
accept_again (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message, gsize size)
{
  MmtpReceiverSession *session = &self->session;
  const gboolean moves = !is_from_opener (session, address, message);
  guint64 number = message->number;
  MmtpReceiverPath *path;

  if (!session->alive || (moves && !may_move_opener (self, address, message)))
    return MMTP_REFUSED_SESSION;
  if (!is_new (self, message, &number))
    return MMTP_REFUSED_REPLAY;
  if (moves)
    mmtp_receiver_move_opener (self, address, message);
  path = self->paths.all[session->opener];
  if (mmtp_replay_check (&path->replay, number))
    mmtp_replay_accept (&path->replay, number);
  mmtp_receiver_note_message (self, path, number, message, size);
  accept (self);
  return MMTP_VALID;
}

/* --- take-over ------------------------------------------------------------ */

static gboolean
is_same_host (const MmtpAddress * a, const MmtpAddress * b)
{
  return a->host_size > 0 && a->host_size == b->host_size
      && memcmp (a->bytes, b->bytes, a->host_size) == 0;
}

static gboolean
is_host_of_session (MmtpReceiver * self, const MmtpAddress * address)
{
  const MmtpReceiverPath *path;
  guint i;

  for (i = 0; i < self->paths.n; i++) {
    path = mmtp_receiver_paths_nth (&self->paths, i);
    if (path->joined && is_same_host (&path->address, address))
      return TRUE;
  }
  return FALSE;
}

/* Returns the time in ns in which an answer would have arrived on any path. */
static guint64
get_doubt_time (MmtpReceiver * self)
{
  const MmtpReceiverPath *path;
  guint64 time = DOUBT_TIME, round_trip;
  guint i;

  for (i = 0; i < self->paths.n; i++) {
    path = mmtp_receiver_paths_nth (&self->paths, i);
    round_trip = path->round_trip ? path->round_trip : UNKNOWN_ROUND_TRIP;
    if (path->joined)
      time = MAX (time, DOUBT_ROUND_TRIPS * round_trip);
  }
  return time;
}

static gboolean
is_doubtful (MmtpReceiver * self)
{
  return self->paths.now - self->session.last_valid >= MIN (DOUBTLESS_TIME,
      DOUBTLESS_PERIODS * self->session.period);
}

static void
ask_whether_alive (MmtpReceiver * self)
{
  MmtpReceiverSession *session = &self->session;
  MmtpMessage message = {.type = MMTP_QUERY };
  guint i;

  if (session->n_queries == 0)
    session->first_query = self->paths.now;
  else if (self->paths.now - session->last_query < DOUBT_DISTANCE)
    return;
  session->last_query = self->paths.now;
  session->n_queries++;
  for (i = 0; i < self->paths.n; i++) {
    MmtpReceiverPath *path = mmtp_receiver_paths_nth (&self->paths, i);

    message.query.channel = path->id;
    if (path->joined)
      mmtp_receiver_output_add (&self->output, path, &message, &path->address);
  }
}

/* A sender that was killed and starts again has shown with its cookie that it
 * receives at its host's address. So the way from there works, and the old
 * session is silent for another reason. A valid message of the old session ends
 * the doubt. */
static gboolean
may_take_over (MmtpReceiver * self, const MmtpAddress * address)
{
  MmtpReceiverSession *session = &self->session;

  if (!is_doubtful (self) || !is_host_of_session (self, address))
    return FALSE;
  ask_whether_alive (self);
  return session->n_queries >= DOUBTS
      && self->paths.now - session->first_query >= get_doubt_time (self);
}

/* --- OPEN ----------------------------------------------------------------- */

/* Only a sender that has the key and receives at its address gets here, so the
 * application can be told. */
static void
tell_over (MmtpReceiver * self)
{
  if (!self->told_over)
    mmtp_receiver_push_event (self, MMTP_EVENT_OVER, 0);
  self->told_over = TRUE;
}

static MmtpRefusal
answer_open (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message, const guint8 * bytes, gsize size)
{
  const MmtpOpen *open = &message->open;
  gboolean own = is_of_session (&self->session, open);

  if (!own && !has_cookie (self, address, open))
    return refuse (self, address, message, open->nonce, MMTP_REFUSE_COOKIE);
  if (open->has_key != self->key.is_set
      || !mmtp_key_verify (&self->key, bytes, OPEN_SIGNED_SIZE, open->mac))
    return refuse (self, address, message, open->nonce, MMTP_REFUSE_KEY);
  if (own)
    return accept_again (self, address, message, size);
  if (self->ends && self->session.ended) {
    tell_over (self);
    return refuse (self, address, message, open->nonce, MMTP_REFUSE_OVER);
  }
  if (self->session.alive && !may_take_over (self, address))
    return refuse (self, address, message, open->nonce, MMTP_REFUSE_BUSY);
  mmtp_receiver_begin_session (self, address, message);
  mmtp_receiver_note_message (self, self->paths.all[message->channel],
      message->number, message, size);
  accept (self);
  return MMTP_VALID;
}

/* Anybody can send an INIT of another version, so the application is told once
 * only. */
static void
tell_version (MmtpReceiver * self, guint version)
{
  MmtpReceiverEvent *event;

  if (self->told_versions & 1u << version)
    return;
  self->told_versions |= 1u << version;
  mmtp_receiver_push_event (self, MMTP_EVENT_OTHER_VERSION, 0);
  event = g_queue_peek_tail (&self->events);
  if (event->type == MMTP_EVENT_OTHER_VERSION)
    event->version = version;
}

static MmtpRefusal
refuse_version (MmtpReceiver * self, const MmtpAddress * address,
    const MmtpMessage * message)
{
  tell_version (self, message->version);
  return refuse (self, address, message, message->init.nonce,
      MMTP_REFUSE_VERSION);
}

MmtpRefusal
mmtp_receiver_handshake (MmtpReceiver * self, const MmtpAddress * address,
    MmtpMessage * message, const guint8 * bytes, gsize size)
{
  MmtpRefusal refusal = mmtp_packet_parse_body (message, bytes, size);

  if (refusal != MMTP_VALID)
    return refusal;
  if (message->version != MMTP_VERSION)
    return refuse_version (self, address, message);
  if (message->type == MMTP_INIT)
    return answer_init (self, address, message, bytes, size);
  return answer_open (self, address, message, bytes, size);
}
