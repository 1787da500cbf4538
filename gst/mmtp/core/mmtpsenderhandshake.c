/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a session begins and how paths join it: docs/wire-mmtp.md sections 3
 * (JOIN, CHALLENGE, RESPONSE) and 4. */

#include "mmtpsenderprivate.h"

#include <string.h>

/* docs/wire-mmtp.md section 4: "after 250 ms, doubled up to 2 s" */
#define HANDSHAKE_WAIT (250 * MMTP_MILLISECOND)
/* and of JOIN: "every 200 ms, then with doubled time up to 2 s" */
#define JOIN_WAIT (200 * MMTP_MILLISECOND)
#define MOST_WAIT (2 * MMTP_SECOND)
/* OPENs without an answer until it begins again with INIT */
#define OPEN_TRIES 5
/* "after it has asked three times" */
#define REFUSALS 3
/* "Of one try of INIT the sender takes at most 16 COOKIEs" */
#define COOKIES_OF_TRY 16
/* All tries of OPEN with one cookie take less than this. An answer that comes
 * later is to a later OPEN. */
#define OPEN_ANSWER_TIME (6 * MMTP_SECOND)
/* "and of reason 2 for 1.5 s": our own last session may have to be found
 * dead. */
#define BUSY_TIME (1500 * MMTP_MILLISECOND)
/* OPEN is padded, as QUIC pads its first packet (RFC 9000, section 14.1): its
 * round trip is longer than that of the short INIT by as much as the path
 * takes for the difference, which is a first guess of the path's rate
 * (variable packet size probing: Bellovin 1992, Jacobson's pathchar 1997). */
#define OPEN_SIZE 1200
#define SHORT_OPEN_SIZE 116     /* without padding */
/* Ten packets in 100 ms: RFC 6928's beginning on a path of that round trip */
#define USUAL_BEGINNING 1200000
#define ACCEPT_MORE 13          /* bytes that ACCEPT is longer than COOKIE */
/* What is less than this is noise. */
#define LEAST_DIFFERENCE (MMTP_MILLISECOND / 5)
#define OPEN_SIGNED 92          /* bytes of OPEN below its MAC */
#define ACCEPT_SIGNED 52        /* bytes of ACCEPT below its MAC */
/* OPEN: "D0 that the sender wants, us, at most 60 s" */
#define MOST_INITIAL_DELAY (60 * MMTP_SECOND)

/* --- session ------------------------------------------------------------- */

/* The next INIT may go at once. */
static void
begin_init (MmtpSender * sender)
{
  sender->phase = MMTP_PHASE_INIT;
  sender->handshake_tries = 0;
  sender->handshake_next = 0;
  sender->handshake_wait = HANDSHAKE_WAIT;
  sender->handshake_at = sender->paths.now;
}

void
mmtp_sender_begin_handshake (MmtpSender * sender)
{
  mmtp_sender_draw (sender, sender->nonce_s, MMTP_NONCE_SIZE);
  mmtp_sender_draw (sender, (guint8 *) & sender->token_s,
      sizeof (sender->token_s));
  begin_init (sender);
}

/* A new path, or a new address, need not wait for those that didn't
 * answer. */
void
mmtp_sender_hasten_handshake (MmtpSender * sender)
{
  sender->handshake_wait = HANDSHAKE_WAIT;
  sender->handshake_at = sender->paths.now;
}

static void
wait_for_answer (MmtpSender * sender)
{
  sender->handshake_at = sender->paths.now + sender->handshake_wait;
  sender->handshake_wait = MIN (sender->handshake_wait * 2, MOST_WAIT);
  sender->handshake_tries++;
}

/* These two have neither a number nor a trailer. */
static gsize
write_init (MmtpSender * sender, MmtpPath * path, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_INIT };
  gsize size;

  message.channel = path->id;
  message.sent = mmtp_to_ticks (sender->paths.now);
  memcpy (message.init.nonce, sender->nonce_s, MMTP_NONCE_SIZE);
  size = mmtp_packet_write (&message, output->bytes, output->room);
  mmtp_key_seal (&sender->key, output->bytes, size);
  path->stats.packets++;
  path->stats.bytes += size;
  path->asked = TRUE;
  sender->cookies_left = COOKIES_OF_TRY;
  sender->last_init = sender->paths.now;
  if (sender->handshake_tries == 0)
    sender->init_sent = sender->paths.now;
  output->path = path->id;
  return size;
}

/* The first try goes on the first path; each further one on one more. */
static gsize
write_inits (MmtpSender * sender, MmtpOutput * output)
{
  while (sender->handshake_next < sender->paths.n &&
      sender->handshake_next <= sender->handshake_tries) {
    MmtpPath *path = sender->paths.all[sender->handshake_next++];

    if (path->state != MMTP_PATH_GONE && !path->blocked)
      return write_init (sender, path, output);
  }
  sender->handshake_next = 0;
  wait_for_answer (sender);
  return 0;
}

static void
fill_open (MmtpSender * sender, MmtpPath * path, MmtpOpen * open)
{
  memcpy (open->nonce, sender->nonce_s, MMTP_NONCE_SIZE);
  memcpy (open->cookie, sender->cookie, MMTP_COOKIE_SIZE);
  open->token = sender->token_s;
  open->initial_delay =
      MIN (mmtp_send_queue_get_delay (sender->queue),
          MOST_INITIAL_DELAY) / 1000;
  open->bit_rate = sender->config.bit_rate;
  open->frame_period = sender->config.frame_period;
  open->longest = path->longest;
  open->keepalive_period = sender->config.keepalive_period / MMTP_MILLISECOND;
  open->now = sender->paths.now / 1000;
  open->has_key = sender->key.is_set;
  open->size = MIN (sender->is_contested ? SHORT_OPEN_SIZE : OPEN_SIZE,
      path->longest);
}

static gsize
write_open (MmtpSender * sender, MmtpOutput * output)
{
  MmtpPath *path = sender->paths.all[sender->handshake_path];
  MmtpMessage message = { MMTP_OPEN };
  gsize size;

  message.channel = path->id;
  message.number = path->next & 0xffff;
  message.sent = mmtp_to_ticks (sender->paths.now);
  fill_open (sender, path, &message.open);
  mmtp_packet_write (&message, output->bytes, output->room);
  mmtp_key_sign (&sender->key, output->bytes, OPEN_SIGNED, message.open.mac);
  size = mmtp_packet_write (&message, output->bytes, output->room);
  mmtp_path_sent (path, sender->paths.now, size, MMTP_NO_STREAM, FALSE);
  output->path = path->id;
  if (path->open_sent == MMTP_NEVER
      || sender->paths.now - path->open_sent > OPEN_ANSWER_TIME)
    path->open_sent = sender->paths.now;
  path->asked = TRUE;
  wait_for_answer (sender);
  return size;
}

/* The cookie is for the path on which it came. One of several may be of
 * somebody who wants to keep the right one from being used: it is asked for
 * again soon. */
static gboolean
may_open (const MmtpSender * sender)
{
  const MmtpPath *path =
      sender->paths.all[sender->handshake_path];

  return sender->handshake_tries < (sender->is_contested ? 1 : OPEN_TRIES) &&
      !path->blocked && path->state != MMTP_PATH_GONE;
}

gsize
mmtp_sender_write_handshake (MmtpSender * sender, MmtpOutput * output)
{
  if (sender->paths.now < sender->handshake_at)
    return 0;
  if (sender->phase == MMTP_PHASE_OPEN && !may_open (sender))
    begin_init (sender);
  if (sender->phase == MMTP_PHASE_INIT)
    return write_inits (sender, output);
  if (sender->phase == MMTP_PHASE_OPEN)
    return write_open (sender, output);
  return 0;
}

/* Who sees an INIT may have a COOKIE sent to an address of its own, and bring
 * the sender that one: the receiver made it, and yet it opens nothing. So with a
 * key each COOKIE is tried, while those of one INIT are not too many. Without
 * one the first COOKIE is as good as any. */
static gboolean
may_take_cookie (const MmtpSender * sender, const MmtpInit * cookie)
{
  if (sender->phase == MMTP_PHASE_INIT)
    return sender->cookies_left > 0;
  return sender->phase == MMTP_PHASE_OPEN && sender->key.is_set
      && sender->cookies_left > 0
      && memcmp (sender->cookie, cookie->cookie, MMTP_COOKIE_SIZE) != 0;
}

static void
note_unverified (MmtpSender * sender, MmtpRefuseReason reason, guint version)
{
  sender->unverified = reason;
  sender->unverified_version = version;
}

static MmtpRefusal
take_cookie (MmtpSender * sender, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes, gsize size)
{
  const MmtpInit *cookie = &message->init;

  if (sender->phase != MMTP_PHASE_INIT && sender->phase != MMTP_PHASE_OPEN)
    return MMTP_REFUSED_SESSION;
  if (sender->key.is_set
      && !mmtp_key_verify_seal (&sender->key, bytes, size)) {
    note_unverified (sender, MMTP_REFUSE_KEY, message->version);
    return MMTP_REFUSED_TRAILER;
  }
  if (!may_take_cookie (sender, cookie))
    return MMTP_REFUSED_SESSION;
  sender->cookies_left--;
  sender->is_contested |= sender->phase == MMTP_PHASE_OPEN;
  sender->is_ambiguous = sender->handshake_tries > 1 || sender->is_contested;
  memcpy (sender->cookie, cookie->cookie, MMTP_COOKIE_SIZE);
  sender->init_round_trip = sender->paths.now - sender->init_sent;
  sender->handshake_path = path->id;
  sender->phase = MMTP_PHASE_OPEN;
  sender->handshake_tries = 0;
  sender->handshake_wait = HANDSHAKE_WAIT;
  sender->handshake_at = sender->paths.now;
  return MMTP_VALID;
}

/* 0: unknown. Where a message was sent again nobody knows which one was
 * answered (Karn's problem): then it is no more than the usual beginning. */
static guint64
guess_rate (const MmtpSender * sender, const MmtpPath * path)
{
  guint64 round_trip = sender->paths.now - path->open_sent, more, bytes, rate;

  if (sender->init_round_trip == 0 || round_trip <= sender->init_round_trip)
    return 0;
  more = round_trip - sender->init_round_trip;
  bytes = MIN (OPEN_SIZE, path->longest) - MMTP_INIT_SIZE + ACCEPT_MORE;
  rate = bytes * 8 * MMTP_SECOND / MAX (more, LEAST_DIFFERENCE);
  if (sender->is_ambiguous || sender->handshake_tries > 1)
    rate = MIN (rate, USUAL_BEGINNING);
  return rate;
}

/* The transit of OPEN is 0 by definition (docs/wire-mmtp.md, section 6). It
 * took half of the round trip of the short messages, and longer by what its
 * padding takes: that is what the clocks differ by until reports say more. */
static void
note_handshake (MmtpSender * sender, MmtpPath * path)
{
  guint64 round_trip = sender->paths.now - path->open_sent;
  guint64 least = round_trip;

  if (sender->init_round_trip)
    least = MIN (least, sender->init_round_trip);
  mmtp_path_add_round_trip (path, sender->paths.now, round_trip);
  mmtp_path_add_round_trip (path, sender->paths.now, least);
  sender->paths.offset = -(gint64) (round_trip - least / 2);
  sender->paths.has_offset = TRUE;
}

static void
enter_session (MmtpSender * sender, MmtpPath * path, const MmtpAccept * accept)
{
  guint i;

  memcpy (sender->nonce_r, accept->nonce_r, MMTP_NONCE_SIZE);
  mmtp_direction_init (&sender->out, &sender->key, sender->nonce_s,
      sender->nonce_r, MMTP_SENDER, accept->token);
  mmtp_direction_init (&sender->in, &sender->key, sender->nonce_s,
      sender->nonce_r, MMTP_RECEIVER, sender->token_s);
  sender->phase = MMTP_PHASE_SESSION;
  sender->handshake_at = MMTP_NEVER;
  sender->began = sender->heard = sender->paths.now;
  sender->report_time = sender->query_at = sender->paths.now;
  sender->receiver_delay = accept->least_delay * (guint64) 1000;
  note_handshake (sender, path);
  path->joined = TRUE;
  path->keepalive_at = sender->paths.now;
  mmtp_sender_start_path (sender, path, guess_rate (sender, path));
  for (i = 0; i < sender->paths.n; i++)
    if (!sender->paths.all[i]->joined &&
        sender->paths.all[i]->state != MMTP_PATH_GONE)
      mmtp_sender_begin_join (sender, sender->paths.all[i]);
}

/* Also when another COOKIE or a REFUSE came after the OPEN: the receiver is in
 * the session then. */
static MmtpRefusal
take_accept (MmtpSender * sender, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes)
{
  const MmtpAccept *accept = &message->accept;

  if ((sender->phase != MMTP_PHASE_INIT && sender->phase != MMTP_PHASE_OPEN)
      || path->open_sent == MMTP_NEVER)
    return MMTP_REFUSED_SESSION;
  if (accept->has_key != sender->key.is_set ||
      !mmtp_key_verify (&sender->key, bytes, ACCEPT_SIGNED, accept->mac))
    return MMTP_REFUSED_TRAILER;
  mmtp_replay_accept (&path->replay, message->number);
  enter_session (sender, path, accept);
  return MMTP_VALID;
}

/* A question is refused once, however many answers come. */
static gboolean
is_answer_to_question (MmtpPath * path)
{
  gboolean asked = path->asked;

  path->asked = FALSE;
  return asked;
}

/* A sealed REFUSE has the number of its OPEN, so that one that is replayed is
 * not taken for the answer to the next OPEN. */
static gboolean
is_answer_to_open (MmtpPath * path, guint16 low)
{
  guint64 number = mmtp_unwrap (low, 16, path->next);

  if (number < path->unrefused || number >= path->next)
    return FALSE;
  path->unrefused = number + 1;
  return TRUE;
}

/* Anybody who sees the packets can say so, but then it is only asked for a
 * COOKIE again, no sooner than without an answer: the ACCEPT for the last OPEN
 * still counts. */
static MmtpRefusal
take_old_cookie (MmtpSender * sender, MmtpPath * path)
{
  const guint64 last_init = sender->last_init;

  if (sender->phase != MMTP_PHASE_OPEN || !is_answer_to_question (path))
    return MMTP_REFUSED_SESSION;
  begin_init (sender);
  sender->handshake_at = MAX (sender->paths.now, last_init + HANDSHAKE_WAIT);
  return MMTP_VALID;
}

/* Who is busy may not be for long: section 4. */
static gboolean
is_refused (MmtpSender * sender, MmtpRefuseReason reason)
{
  if (sender->handshake_refusals++ == 0)
    sender->refused_at = sender->paths.now;
  return sender->handshake_refusals >= REFUSALS
      && (reason != MMTP_REFUSE_BUSY
      || sender->paths.now - sender->refused_at >= BUSY_TIME);
}

static void
give_up (MmtpSender * sender, const MmtpMessage * message)
{
  MmtpSenderEvent event = { MMTP_EVENT_REFUSED };

  sender->phase = MMTP_PHASE_OVER;
  event.reason = message->refuse.reason;
  event.version = message->version;
  mmtp_sender_tell (sender, &event);
}

static MmtpRefusal
take_refuse (MmtpSender * sender, MmtpPath * path, const MmtpMessage * message,
    const guint8 * bytes, gsize size)
{
  const MmtpRefuseReason reason = message->refuse.reason;
  gboolean is_answer, is_proven;

  if (sender->phase != MMTP_PHASE_INIT && sender->phase != MMTP_PHASE_OPEN)
    return MMTP_REFUSED_SESSION;
  if (reason == MMTP_REFUSE_COOKIE)
    return take_old_cookie (sender, path);
  is_proven = mmtp_key_verify_seal (&sender->key, bytes, size);
  if (!is_proven)
    note_unverified (sender, reason, message->version);
  if (sender->key.is_set && !is_proven)
    return MMTP_REFUSED_TRAILER;
  is_answer = sender->key.is_set ? is_answer_to_open (path, message->number) :
      is_answer_to_question (path);
  if (!is_answer)
    return MMTP_REFUSED_REPLAY;
  if (is_refused (sender, reason))
    give_up (sender, message);
  return MMTP_VALID;
}

MmtpRefuseReason
mmtp_sender_get_unverified_refusal (const MmtpSender * sender, guint * version)
{
  *version = sender->unverified_version;
  return sender->unverified;
}

MmtpRefusal
mmtp_sender_take_handshake (MmtpSender * sender, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes, gsize size)
{
  /* The nonce stands first in all of them. */
  if (memcmp (message->init.nonce, sender->nonce_s, MMTP_NONCE_SIZE) != 0)
    return MMTP_REFUSED_SESSION;
  if (message->type == MMTP_COOKIE)
    return take_cookie (sender, path, message, bytes, size);
  if (message->type == MMTP_ACCEPT)
    return take_accept (sender, path, message, bytes);
  return take_refuse (sender, path, message, bytes, size);
}

/* --- paths ------------------------------------------------------------ */

/* A new JOIN, at a time */
void
mmtp_sender_renew_join (MmtpSender * sender, MmtpPath * path, guint64 at)
{
  path->join_at = at;
  path->join_wait = JOIN_WAIT;
  path->join_sent = MMTP_NEVER;
  mmtp_sender_draw (sender, (guint8 *) & path->nonce, sizeof (path->nonce));
}

void
mmtp_sender_begin_join (MmtpSender * sender, MmtpPath * path)
{
  path->joined = path->confirmed = FALSE;
  mmtp_sender_renew_join (sender, path, sender->paths.now);
}

static gsize
write_response (MmtpSender * sender, MmtpPath * path, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_RESPONSE };

  path->respond = FALSE;
  message.challenge.challenge = path->challenge;
  return mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
}

/* JOIN or RESPONSE */
gsize
mmtp_sender_write_join (MmtpSender * sender, MmtpPath * path,
    MmtpOutput * output)
{
  MmtpMessage message = { MMTP_JOIN };

  if (path->respond)
    return write_response (sender, path, output);
  if (sender->paths.now < path->join_at)
    return 0;
  path->join_at = sender->paths.now + path->join_wait;
  path->join_wait = MIN (path->join_wait * 2, MOST_WAIT);
  if (path->join_sent == MMTP_NEVER)
    path->join_sent = sender->paths.now;
  message.join.number = path->next;
  message.join.nonce = path->nonce;
  message.join.longest = path->longest;
  return mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
}

/* The answer proves the round trip; that the receiver takes the RESPONSE shows
 * in its reports, and until then the JOIN is repeated. */
MmtpRefusal
mmtp_sender_take_challenge (MmtpSender * sender, MmtpPath * path,
    const MmtpChallenge * challenge)
{
  if (challenge->nonce != path->nonce)
    return MMTP_REFUSED_SESSION;
  path->respond = TRUE;
  path->challenge = challenge->challenge;
  mmtp_path_add_round_trip (path, sender->paths.now,
      sender->paths.now - path->join_sent);
  if (path->joined)
    return MMTP_VALID;
  path->joined = TRUE;
  path->join_at = sender->paths.now + MAX (JOIN_WAIT, 2 * (sender->paths.now -
          path->join_sent));
  path->keepalive_at = sender->paths.now;
  mmtp_sender_start_path (sender, path, 0);
  return MMTP_VALID;
}
