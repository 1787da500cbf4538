/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtphandshake.h: the sender's side of the handshake. */

#include "mmtphandshake.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND G_GUINT64_CONSTANT (1000000)
/* Interval after which an INIT or OPEN is repeated: HANDSHAKE_WAIT at first,
 * and then doubled up to MAX_WAIT. docs/wire-mmtp.md, section 4: "after 250 ms,
 * doubled up to 2 s". */
#define HANDSHAKE_WAIT (250 * MILLISECOND)
#define MAX_WAIT (2 * SECOND)
/* Number of OPENs without an answer after which the handshake begins again with
 * an INIT.
 */
#define OPEN_TRIES 5
/* Number of refused INITs or OPENs after which the sender gives up
 * (docs/wire-mmtp.md, section 4). */
#define REFUSALS 3
/* Maximum number of COOKIEs that are accepted as answers to one INIT
 * (docs/wire-mmtp.md, section 4). */
#define COOKIES_OF_TRY 16
/* The round trip of OPEN and ACCEPT is measured from the first OPEN
 * (docs/wire-mmtp.md, section 4). On paths with a short round trip, an OPEN is
 * repeated with the same cookie for less than 6 s. An OPEN that is sent more
 * than 6 s after the first OPEN counts as a first OPEN again. An ACCEPT is
 * valid even if it arrives after a longer time. */
#define OPEN_ANSWER_TIME (6 * SECOND)
/* A REFUSE with the reason 2 (busy) does not end the attempt immediately.
 * docs/wire-mmtp.md, section 4: such REFUSEs end the attempt only if they
 * arrive for at least 1.5 s. The receiver may need that time to detect that
 * this sender's previous session is dead. */
#define BUSY_TIME (1500 * MILLISECOND)
/* Size of an OPEN in bytes. OPEN is padded, as QUIC pads its first packet (RFC
 * 9000, section 14.1). The round trip of OPEN is therefore longer than that of
 * the short INIT by the transmission time of the padding. The difference gives
 * a first estimate of the path's rate (variable packet size probing: Bellovin
 * 1992, Jacobson's pathchar 1997). A repeated OPEN is not padded, because the
 * padding could occupy a slow path for a second. */
#define OPEN_SIZE 1200
#define SHORT_OPEN_SIZE 116     /* size without padding */
/* Upper limit of the first estimate of a path's rate, in bit/s. It applies only
 * if the estimate is uncertain. It is the rate of ten packets in 100 ms. Ten
 * packets are the initial window of RFC 6928, and 100 ms is an assumed round
 * trip. */
#define USUAL_BEGINNING 1200000
/* Number of bytes by which ACCEPT is longer than COOKIE. */
#define ACCEPT_MORE 13
/* The rate of a path is estimated from the difference between the round trips
 * of OPEN and INIT, because OPEN is longer. A difference below this value (ns)
 * is mere noise, and this value is used instead. */
#define MIN_DIFFERENCE (MILLISECOND / 5)
#define OPEN_SIGNED 92          /* bytes of OPEN that its MAC covers */
#define ACCEPT_SIGNED 52        /* bytes of ACCEPT that its MAC covers */
/* Maximum initial delay (D0) that an OPEN may request (docs/wire-mmtp.md). */
#define MAX_INITIAL_DELAY (60 * SECOND)

void
mmtp_handshake_init (MmtpHandshake * self, MmtpPaths * paths,
    const MmtpKey * key, MmtpEntropy * entropy)
{
  guint i;

  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->key = key;
  self->entropy = entropy;
  self->at = MMTP_NEVER;
  for (i = 0; i < MMTP_MAX_PATHS; i++)
    self->asked[i].open_sent = MMTP_NEVER;
}

void
mmtp_handshake_add_path (MmtpHandshake * self, const MmtpPath * path)
{
  self->asked[path->id].open_sent = MMTP_NEVER;
  self->asked[path->id].unrefused = path->sent.next;
}

void
mmtp_handshake_remove_path (MmtpHandshake * self, const MmtpPath * path)
{
  self->asked[path->id].open_sent = MMTP_NEVER;
}

/* --- session -------------------------------------------------------------- */

/* Begins an attempt to get a COOKIE, at the start of the handshake or when the
 * last cookie is no longer useful. The first INIT may be sent immediately. */
static void
begin_init (MmtpHandshake * self)
{
  guint i;

  for (i = 0; i < MMTP_MAX_PATHS; i++)
    self->asked[i].inits = self->asked[i].cookies = 0;
  self->phase = MMTP_PHASE_INIT;
  self->tries = 0;
  self->next = 0;
  self->wait = HANDSHAKE_WAIT;
  self->at = self->paths->now;
}

void
mmtp_handshake_begin (MmtpHandshake * self)
{
  mmtp_entropy_draw (self->entropy, self->nonce_s, MMTP_NONCE_SIZE);
  mmtp_entropy_draw (self->entropy, &self->token_s, sizeof (self->token_s));
  begin_init (self);
}

void
mmtp_handshake_hasten (MmtpHandshake * self)
{
  self->wait = HANDSHAKE_WAIT;
  self->at = self->paths->now;
}

static void
wait_for_answer (MmtpHandshake * self)
{
  self->at = self->paths->now + self->wait;
  self->wait = MIN (self->wait * 2, MAX_WAIT);
  self->tries++;
}

/* Writes an INIT. No session exists yet, so it has neither a channel number nor
 * the trailer of a session. Its trailer is the seal, a MAC with the
 * application's key. */
static gsize
write_init (MmtpHandshake * self, MmtpPath * path, guint8 * bytes, gsize room,
    guint * id)
{
  MmtpMessage message = { MMTP_INIT };
  gsize size;

  message.channel = path->id;
  message.sent = mmtp_to_ticks (self->paths->now);
  memcpy (message.init.nonce, self->nonce_s, MMTP_NONCE_SIZE);
  size = mmtp_packet_write (&message, bytes, room);
  mmtp_key_seal (self->key, bytes, size);
  path->stats.packets++;
  path->stats.bytes += size;
  self->asked[path->id].is_open = TRUE;
  if (self->asked[path->id].inits++ == 0)
    self->asked[path->id].init_sent = self->paths->now;
  self->cookies_left = COOKIES_OF_TRY;
  self->last_init = self->paths->now;
  *id = path->id;
  return size;
}

/* Writes the next INIT of the current attempt and returns its size. Returns 0
 * if all INITs of this attempt were written. The first attempt sends one INIT
 * on the first path. Each later attempt uses one path more than the attempt
 * before it. */
static gsize
write_inits (MmtpHandshake * self, guint8 * bytes, gsize room, guint * id)
{
  while (self->next < self->paths->n && self->next <= self->tries) {
    MmtpPath *path = self->paths->all[self->next++];

    if (path->state != MMTP_PATH_GONE && !path->blocked)
      return write_init (self, path, bytes, room, id);
  }
  self->next = 0;
  wait_for_answer (self);
  return 0;
}

static void
fill_open (MmtpHandshake * self, MmtpPath * path, MmtpOpen * open)
{
  memcpy (open->nonce, self->nonce_s, MMTP_NONCE_SIZE);
  memcpy (open->cookie, self->cookie, MMTP_COOKIE_SIZE);
  open->token = self->token_s;
  open->initial_delay =
      MIN (self->request.initial_delay, MAX_INITIAL_DELAY) / 1000;
  open->bit_rate = self->request.bit_rate;
  open->frame_period = self->request.frame_period;
  open->max_size = path->max_size;
  open->keepalive_period = self->request.keepalive_period / MILLISECOND;
  open->now = self->paths->now / 1000;
  open->has_key = self->key->is_set;
  open->size = MIN (self->is_contested || self->tries > 0 ?
      SHORT_OPEN_SIZE : OPEN_SIZE, path->max_size);
}

static gsize
write_open (MmtpHandshake * self, guint8 * bytes, gsize room, guint * id)
{
  MmtpPath *path = self->paths->all[self->path];
  MmtpMessage message = { MMTP_OPEN };
  gsize size;

  message.channel = path->id;
  message.number = path->sent.next & 0xffff;
  message.sent = mmtp_to_ticks (self->paths->now);
  fill_open (self, path, &message.open);
  mmtp_packet_write (&message, bytes, room);
  mmtp_key_sign (self->key, bytes, OPEN_SIGNED, message.open.mac);
  size = mmtp_packet_write (&message, bytes, room);
  mmtp_path_sent (path, self->paths->now, size, MMTP_NO_STREAM, FALSE);
  *id = path->id;
  if (self->asked[path->id].open_sent == MMTP_NEVER
      || self->paths->now - self->asked[path->id].open_sent > OPEN_ANSWER_TIME)
    self->asked[path->id].open_sent = self->paths->now;
  self->asked[path->id].last_open_sent = self->paths->now;
  self->asked[path->id].is_open = TRUE;
  wait_for_answer (self);
  return size;
}

/* Returns whether the cookie may be used for one more OPEN. A cookie is valid
 * only for the path on which its COOKIE arrived.
 *
 * If several COOKIEs have arrived, one of these COOKIEs may come from an
 * attacker who wants to keep the sender from using the right COOKIE. In this
 * case the sender does not repeat the OPEN. It soon sends another INIT instead,
 * so that the receiver sends the right COOKIE again. */
static gboolean
may_open (const MmtpHandshake * self)
{
  const MmtpPath *path = self->paths->all[self->path];

  return self->tries < (self->is_contested ? 1 : OPEN_TRIES) &&
      !path->blocked && path->state != MMTP_PATH_GONE;
}

gsize
mmtp_handshake_write (MmtpHandshake * self, guint8 * bytes, gsize room,
    guint * id)
{
  if (self->paths->now < self->at)
    return 0;
  if (self->phase == MMTP_PHASE_OPEN && !may_open (self))
    begin_init (self);
  if (self->phase == MMTP_PHASE_INIT)
    return write_inits (self, bytes, room, id);
  if (self->phase == MMTP_PHASE_OPEN)
    return write_open (self, bytes, room, id);
  return 0;
}

/* Returns whether to try `cookie`.
 *
 * An attacker who sees an INIT can send a copy of this INIT from another
 * address. The receiver then makes a COOKIE for that address, and the attacker
 * can pass this COOKIE on to the sender. The seal of this COOKIE is valid, but
 * the receiver does not accept the COOKIE from the sender's address.
 *
 * If the sender has a key, it therefore tries every COOKIE that differs from
 * the previous COOKIE. `cookies_left` limits the number of tries per INIT.
 * Without a key there is no protection against such an attacker, so the sender
 * uses only the first COOKIE.
 */
static gboolean
may_take_cookie (const MmtpHandshake * self, const MmtpInit * cookie)
{
  if (self->phase == MMTP_PHASE_INIT)
    return self->cookies_left > 0;
  return self->phase == MMTP_PHASE_OPEN && self->key->is_set
      && self->cookies_left > 0
      && memcmp (self->cookie, cookie->cookie, MMTP_COOKIE_SIZE) != 0;
}

static void
note_unverified (MmtpHandshake * self, MmtpRefuseReason reason, guint version)
{
  self->unverified = reason;
  self->unverified_version = version;
}

static MmtpRefusal
take_cookie (MmtpHandshake * self, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes, gsize size)
{
  const MmtpInit *cookie = &message->init;

  if (self->phase != MMTP_PHASE_INIT && self->phase != MMTP_PHASE_OPEN)
    return MMTP_REFUSED_SESSION;
  if (self->key->is_set && !mmtp_key_verify_seal (self->key, bytes, size)) {
    note_unverified (self, MMTP_REFUSE_KEY, message->version);
    return MMTP_REFUSED_TRAILER;
  }
  self->asked[path->id].cookies++;
  if (!may_take_cookie (self, cookie))
    return MMTP_REFUSED_SESSION;
  self->cookies_left--;
  self->is_contested |= self->phase == MMTP_PHASE_OPEN;
  memcpy (self->cookie, cookie->cookie, MMTP_COOKIE_SIZE);
  self->init_round_trip = self->paths->now - self->asked[path->id].init_sent;
  self->path = path->id;
  self->phase = MMTP_PHASE_OPEN;
  self->tries = 0;
  self->wait = CLAMP (self->init_round_trip + self->init_round_trip / 2,
      HANDSHAKE_WAIT, MAX_WAIT);
  self->at = self->paths->now;
  return MMTP_VALID;
}

/* Returns whether the ACCEPT that arrives now probably answers a repeated OPEN
 * and not the first OPEN.
 *
 * A repeated OPEN has no padding. OPEN and ACCEPT together are then 1.4 times
 * as large as INIT and COOKIE together. The time from a repeated OPEN to its
 * ACCEPT is therefore expected to be 1 to 1.4 times the round trip of the INIT.
 * The function accepts up to 1.5 times, because this time also fluctuates.
 *
 * The ACCEPT may also answer the first OPEN, which was not lost, but only slow
 * because of its padding. The time from the repeated OPEN to the ACCEPT is then
 * usually not 1 to 1.5 times the round trip of the INIT. */
static gboolean
is_answer_to_last (const MmtpHandshake * self, const MmtpAsked * asked)
{
  guint64 round_trip = self->paths->now - asked->last_open_sent;

  return self->tries > 1 && !self->is_contested
      && round_trip >= self->init_round_trip
      && 2 * round_trip < 3 * self->init_round_trip;
}

/* Returns whether the first round trip is ambiguous, as in Karn's problem: it
 * is not known which INIT the first COOKIE answered, or which OPEN the ACCEPT
 * answered.
 *
 * On a path with a long round trip, several INITs are sent before the first
 * COOKIE arrives. If as many COOKIEs have arrived as INITs were sent, the
 * receiver has answered every INIT. The first COOKIE then answered the first
 * INIT. */
static gboolean
is_ambiguous (const MmtpHandshake * self, const MmtpAsked * asked)
{
  return asked->cookies != asked->inits || self->is_contested
      || self->tries > 2;
}

/* Called when the ACCEPT arrives. The rate is computed from the additional time
 * that the padding of OPEN needs. A repeated OPEN has no padding, so the
 * function returns 0 if the ACCEPT answers a repeated OPEN. If it is not known
 * which INIT or OPEN was answered, the function returns at most
 * USUAL_BEGINNING. */
guint64
mmtp_handshake_guess_rate (const MmtpHandshake * self, const MmtpPath * path,
    gboolean * is_minimum)
{
  const MmtpAsked *asked = &self->asked[path->id];
  guint64 round_trip = self->paths->now - asked->open_sent, more, bytes, rate;

  *is_minimum = FALSE;
  if (self->init_round_trip == 0 || round_trip <= self->init_round_trip
      || is_answer_to_last (self, asked))
    return 0;
  more = round_trip - self->init_round_trip;
  bytes = MIN (OPEN_SIZE, path->max_size) - MMTP_INIT_SIZE + ACCEPT_MORE;
  rate = bytes * 8 * SECOND / MAX (more, MIN_DIFFERENCE);
  if (is_ambiguous (self, asked) && rate > USUAL_BEGINNING) {
    rate = USUAL_BEGINNING;
    *is_minimum = TRUE;
  }
  return rate;
}

/* Adds the measured round trip to the path, and sets the first offset of the
 * clocks. This offset is used until reports give a better offset.
 *
 * The transit of a message is its one-way delay plus a constant. The constant
 * is chosen so that the transit of OPEN is 0 (docs/wire-mmtp.md, section 6).
 * The one-way delay of OPEN has two parts: half of the round trip of short
 * messages, and the transmission time of the padding. The first offset is the
 * negative value of this delay. */
static void
note_round_trip (MmtpHandshake * self, MmtpPath * path)
{
  const MmtpAsked *asked = &self->asked[path->id];
  guint64 round_trip = self->paths->now - (is_answer_to_last (self, asked) ?
      asked->last_open_sent : asked->open_sent);
  guint64 min = round_trip;

  if (self->init_round_trip)
    min = MIN (min, self->init_round_trip);
  mmtp_path_add_round_trip (path, self->paths->now, round_trip);
  mmtp_path_add_round_trip (path, self->paths->now, min);
  self->paths->offset = -(gint64) (round_trip - min / 2);
  self->paths->has_offset = TRUE;
}

/* An ACCEPT is valid even if another COOKIE or a REFUSE has arrived after the
 * OPEN was sent. The ACCEPT shows that the receiver has begun the session. */
static MmtpRefusal
take_accept (MmtpHandshake * self, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes)
{
  const MmtpAccept *accept = &message->accept;

  if ((self->phase != MMTP_PHASE_INIT && self->phase != MMTP_PHASE_OPEN)
      || self->asked[path->id].open_sent == MMTP_NEVER)
    return MMTP_REFUSED_SESSION;
  if (accept->has_key != self->key->is_set ||
      !mmtp_key_verify (self->key, bytes, ACCEPT_SIGNED, accept->mac))
    return MMTP_REFUSED_TRAILER;
  mmtp_replay_accept (&path->replay, message->number);
  self->phase = MMTP_PHASE_SESSION;
  self->at = MMTP_NEVER;
  note_round_trip (self, path);
  return MMTP_VALID;
}

/* Returns whether a REFUSE answers an INIT or OPEN on this path that is still
 * open. If several REFUSEs arrive for it, only the first one counts. */
static gboolean
is_answer_to_question (MmtpHandshake * self, const MmtpPath * path)
{
  gboolean asked = self->asked[path->id].is_open;

  self->asked[path->id].is_open = FALSE;
  return asked;
}

/* Returns whether a sealed REFUSE answers an OPEN that was not refused yet. The
 * REFUSE has the channel number of the OPEN that it answers, so that a replayed
 * REFUSE does not count as the answer to a later OPEN. */
static gboolean
is_answer_to_open (MmtpHandshake * self, const MmtpPath * path, guint16 low)
{
  guint64 number = mmtp_unwrap (low, 16, path->sent.next);

  if (number < self->asked[path->id].unrefused || number >= path->sent.next)
    return FALSE;
  self->asked[path->id].unrefused = number + 1;
  return TRUE;
}

/* Processes a REFUSE with the reason "cookie too old". An on-path attacker can
 * send such a REFUSE, so its effect is limited:
 * - The handshake sends an INIT to request another COOKIE. The time between
 *   this INIT and the previous INIT is not shorter than usual.
 * - An ACCEPT for the last OPEN remains valid. */
static MmtpRefusal
take_old_cookie (MmtpHandshake * self, MmtpPath * path)
{
  const guint64 last_init = self->last_init;

  if (self->phase != MMTP_PHASE_OPEN || !is_answer_to_question (self, path))
    return MMTP_REFUSED_SESSION;
  begin_init (self);
  self->at = MAX (self->paths->now, last_init + HANDSHAKE_WAIT);
  return MMTP_VALID;
}

/* Counts a REFUSE. Returns whether the REFUSEs so far end the attempt. A busy
 * receiver may soon be free again, so REFUSEs with the reason "busy" end the
 * attempt only after BUSY_TIME (docs/wire-mmtp.md, section 4). */
static gboolean
is_refused (MmtpHandshake * self, MmtpRefuseReason reason)
{
  if (self->refusals++ == 0)
    self->refused_at = self->paths->now;
  return self->refusals >= REFUSALS
      && (reason != MMTP_REFUSE_BUSY
      || self->paths->now - self->refused_at >= BUSY_TIME);
}

static MmtpRefusal
take_refuse (MmtpHandshake * self, MmtpPath * path, const MmtpMessage * message,
    const guint8 * bytes, gsize size)
{
  const MmtpRefuseReason reason = message->refuse.reason;
  gboolean is_answer, is_proven;

  if (self->phase != MMTP_PHASE_INIT && self->phase != MMTP_PHASE_OPEN)
    return MMTP_REFUSED_SESSION;
  if (reason == MMTP_REFUSE_COOKIE)
    return take_old_cookie (self, path);
  is_proven = mmtp_key_verify_seal (self->key, bytes, size);
  if (!is_proven)
    note_unverified (self, reason, message->version);
  if (self->key->is_set && !is_proven)
    return MMTP_REFUSED_TRAILER;
  is_answer = self->key->is_set ?
      is_answer_to_open (self, path, message->number) :
      is_answer_to_question (self, path);
  if (!is_answer)
    return MMTP_REFUSED_REPLAY;
  if (is_refused (self, reason))
    self->phase = MMTP_PHASE_OVER;
  return MMTP_VALID;
}

MmtpRefusal
mmtp_handshake_input (MmtpHandshake * self, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes, gsize size)
{
  /* COOKIE, ACCEPT and REFUSE all begin with the nonce, so that it can be read
   * as `init.nonce` in each of them. */
  if (memcmp (message->init.nonce, self->nonce_s, MMTP_NONCE_SIZE) != 0)
    return MMTP_REFUSED_SESSION;
  if (message->type == MMTP_COOKIE)
    return take_cookie (self, path, message, bytes, size);
  if (message->type == MMTP_ACCEPT)
    return take_accept (self, path, message, bytes);
  return take_refuse (self, path, message, bytes, size);
}
