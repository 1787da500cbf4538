/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtphandshake.h: the sender's side of the handshake. */

#include "mmtphandshake.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND G_GUINT64_CONSTANT (1000000)
/* An INIT or OPEN message that gets no answer is repeated. An INIT is repeated
 * after HANDSHAKE_WAIT. An OPEN is repeated after 1.5 times the round trip of
 * the INIT, but not earlier than HANDSHAKE_WAIT. Each further interval is twice
 * as long as the previous one, up to MAX_WAIT (docs/wire-mmtp.md, section 4).
 */
#define HANDSHAKE_WAIT (250 * MILLISECOND)
#define MAX_WAIT (2 * SECOND)
/* Maximum number of OPEN messages that are sent with the same cookie. If none
 * of them is answered, the handshake begins again with an INIT. */
#define OPEN_TRIES 5
/* Number of refused INIT or OPEN messages after which the sender gives up its
 * attempt to begin a session (docs/wire-mmtp.md, section 4). */
#define REFUSALS 3
/* Maximum number of COOKIEs that are accepted as answers to one INIT
 * (docs/wire-mmtp.md, section 4). */
#define COOKIES_OF_TRY 16
/* Time in ns after which the measurement of the round trip of OPEN and ACCEPT
 * begins again. An ACCEPT does not say which OPEN it answers, so the round trip
 * is usually measured from the first OPEN (docs/wire-mmtp.md, section 4). If a
 * later OPEN is sent more than OPEN_ANSWER_TIME after the first OPEN, the round
 * trip is measured from this later OPEN instead.
 *
 * OPEN_ANSWER_TIME is 6 s. On a path with a short round trip, all OPENs with
 * the same cookie are sent within this time. OPEN_ANSWER_TIME limits only the
 * measurement: an ACCEPT that arrives later is valid, too. */
#define OPEN_ANSWER_TIME (6 * SECOND)
/* A REFUSE message with the reason 2 (busy) does not end the attempt to begin a
 * session immediately. The attempt can end only when BUSY_TIME (ns) has passed
 * since the first REFUSE (docs/wire-mmtp.md, section 4). The receiver may need
 * that long to detect that this sender's previous session is dead. */
#define BUSY_TIME (1500 * MILLISECOND)
/* Size in bytes of the first OPEN message, including padding. QUIC also pads
 * its first packet (RFC 9000, section 14.1). Before the OPEN, the sender sends
 * an INIT message, which is short. The transmission of the padding takes time,
 * so the round trip of the OPEN is longer than that of the INIT. From the
 * difference, the sender makes a first estimate of the path's rate (variable
 * packet size probing: Bellovin 1992, Jacobson's pathchar 1997). A repeated
 * OPEN is not padded, because the padding could occupy a slow path for a
 * second. */
#define OPEN_SIZE 1200
#define SHORT_OPEN_SIZE 116     /* size without padding */
/* Upper limit in bit/s for the first estimate of a path's rate, if this
 * estimate is uncertain. The limit is the rate of ten packets of 1500 bytes in
 * 100 ms. Ten packets are the initial window of RFC 6928, and 100 ms is an
 * assumed round trip. */
#define USUAL_BEGINNING 1200000
/* Number of bytes by which an ACCEPT message is longer than a COOKIE message.
 * It is needed to compare the round trip of OPEN and ACCEPT with the round trip
 * of INIT and COOKIE. */
#define ACCEPT_MORE 13
/* The round trip of an OPEN message is longer than the round trip of an INIT
 * message, because OPEN has more bytes. The first estimate of a path's rate is
 * computed from this difference. If the difference is below MIN_DIFFERENCE
 * (ns), it is mere noise, and MIN_DIFFERENCE is used instead. */
#define MIN_DIFFERENCE (MILLISECOND / 5)
/* The handshake measures two round trips on a path: that of the INIT and that
 * of the OPEN. Usually, the round trip of the OPEN is the longer one, because
 * the OPEN has padding. If the round trip of the INIT is the longer one, the
 * reason may be jitter, or an INIT or COOKIE that was lost. A loss is assumed
 * if the round trip of the INIT exceeds that of the OPEN by more than
 * MAX_JITTER (ns).
 *
 * Not every lost INIT is recognized in this way. If the first INIT is lost, the
 * sender sends the next INIT after HANDSHAKE_WAIT. The round trip of the INIT
 * is measured from the first INIT, so it is too long by HANDSHAKE_WAIT.
 * However, a slow path needs much time for the padding, so the round trip of
 * the OPEN may be long, too. The difference of the two round trips may then be
 * less than MAX_JITTER. */
#define MAX_JITTER (HANDSHAKE_WAIT / 2)
#define OPEN_SIGNED 92          /* bytes of OPEN that its MAC covers */
#define ACCEPT_SIGNED 52        /* bytes of ACCEPT that its MAC covers */
/* Maximum initial delay (D0, the latency of the session) in ns that an OPEN may
 * request (docs/wire-mmtp.md, section 4). */
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

/* Begins an attempt to get a COOKIE, which a sender requests with INITs. This
 * happens at the start of the handshake, and when the last cookie is no longer
 * useful. The first INIT may be sent immediately. */
static void
begin_init (MmtpHandshake * self)
{
  guint i;

  for (i = 0; i < MMTP_MAX_PATHS; i++)
    self->asked[i].inits = self->asked[i].cookies = self->asked[i].unanswered =
        0;
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

/* Writes an INIT, the request for a COOKIE. No session exists yet, so an INIT
 * has neither a channel number nor the trailer of a session. If the application
 * has set a key, the trailer of the INIT is a seal: a MAC with a key that is
 * derived from the application's key. */
static gsize
write_init (MmtpHandshake * self, MmtpPath * path, guint8 * bytes, gsize room,
    guint * id)
{
  MmtpAsked *asked = &self->asked[path->id];
  MmtpMessage message = { MMTP_INIT };
  gsize size;

  message.channel = path->id;
  message.sent = mmtp_to_ticks (self->paths->now);
  memcpy (message.init.nonce, self->nonce_s, MMTP_NONCE_SIZE);
  size = mmtp_packet_write (&message, bytes, room);
  mmtp_key_seal (self->key, bytes, size);
  path->stats.packets++;
  path->stats.bytes += size;
  asked->is_open = TRUE;
  if (asked->inits < MMTP_KEPT_INITS)
    asked->init_sent[asked->inits] = self->paths->now;
  asked->inits++;
  self->cookies_left = COOKIES_OF_TRY;
  self->last_init = self->paths->now;
  *id = path->id;
  return size;
}

/* INITs are sent in rounds, until a COOKIE arrives. In the first round, one
 * INIT is sent on the first path. Each later round uses one path more than the
 * round before it. This function writes the next INIT of the current round and
 * returns its size. It returns 0 if all INITs of this round were written. */
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

/* Returns whether the sender may send one more OPEN with the cookie that it
 * has. The cookie is valid only for the path on which the COOKIE message
 * arrived, so this path must be able to send.
 *
 * If several different COOKIEs have arrived, an attacker may have sent one of
 * them to make the sender use a wrong cookie. In this case, the sender does not
 * repeat the OPEN. It soon sends another INIT instead, so that the receiver
 * sends the right COOKIE again. */
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

/* Returns whether the sender should answer `cookie` with an OPEN.
 *
 * A cookie is valid only for one address, that of the host whose INIT the
 * receiver has answered. An attacker who sees an INIT can send a copy of this
 * INIT from another address. The receiver then makes a COOKIE for that address,
 * and the attacker can pass this COOKIE on to the sender. The seal of this
 * COOKIE is valid. But if the sender uses it in an OPEN, the receiver does not
 * accept the OPEN, because it comes from a different address.
 *
 * If the sender has a key, it therefore does not rely on the first COOKIE. It
 * tries every COOKIE that differs from the previous one, because the right
 * COOKIE may come later. `cookies_left` limits the number of tries per INIT.
 * Without a key there is no protection against such an attacker, so the sender
 * uses only the first COOKIE. */
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

/* Counts a COOKIE that has arrived on `path`, and stores its arrival time. */
static void
note_cookie (MmtpHandshake * self, const MmtpPath * path)
{
  MmtpAsked *asked = &self->asked[path->id];

  if (asked->cookies < MMTP_KEPT_INITS)
    asked->cookie_times[asked->cookies] = self->paths->now;
  asked->cookies++;
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
  note_cookie (self, path);
  if (!may_take_cookie (self, cookie))
    return MMTP_REFUSED_SESSION;
  self->cookies_left--;
  self->is_contested |= self->phase == MMTP_PHASE_OPEN;
  memcpy (self->cookie, cookie->cookie, MMTP_COOKIE_SIZE);
  self->init_round_trip = self->paths->now - self->asked[path->id].init_sent[0];
  self->path = path->id;
  self->phase = MMTP_PHASE_OPEN;
  self->tries = 0;
  self->wait = CLAMP (self->init_round_trip + self->init_round_trip / 2,
      HANDSHAKE_WAIT, MAX_WAIT);
  self->at = self->paths->now;
  return MMTP_VALID;
}

/* Returns TRUE if the ACCEPT that arrives now probably answers a repeated OPEN.
 * Returns FALSE if it probably answers the first OPEN.
 *
 * The function examines the time that has passed since the last OPEN was sent.
 * It compares this time with the round trip of the INIT, which is the time from
 * the INIT to its COOKIE. There are two cases:
 * - The ACCEPT answers the last OPEN, which is a repeated OPEN without padding.
 *   The examined time is then the round trip of this OPEN. The OPEN and its
 *   ACCEPT together have about 1.4 times as many bytes on the network as INIT
 *   and COOKIE together. The round trip of this OPEN should therefore be at
 *   least as long as that of the INIT, and at most 1.4 times as long.
 * - The ACCEPT answers the first OPEN, which has padding, so its answer may be
 *   slow. The ACCEPT may then arrive at any time after the last OPEN. The
 *   examined time is usually not within the range of the first case.
 *
 * The function therefore returns TRUE if the examined time is 1 to 1.5 round
 * trips of the INIT. The limit is 1.5 instead of 1.4, because delays fluctuate.
 */
static gboolean
is_answer_to_last (const MmtpHandshake * self, const MmtpAsked * asked)
{
  guint64 round_trip = self->paths->now - asked->last_open_sent;

  return self->tries > 1 && !self->is_contested
      && round_trip >= self->init_round_trip
      && 2 * round_trip < 3 * self->init_round_trip;
}

/* Called after the ACCEPT has arrived. Returns TRUE if it is uncertain which
 * INIT the first COOKIE answered, or which OPEN the ACCEPT answered. The
 * measured round trip is then ambiguous, as in TCP after a retransmission (RFC
 * 6298, section 3, Karn's algorithm).
 *
 * On a path with a long round trip, several INITs are sent before the first
 * COOKIE arrives. The receiver sends one COOKIE for each INIT that it receives.
 * The function compares the number of COOKIEs that have arrived before the
 * ACCEPT with the number of INITs that were sent. If the numbers are equal,
 * every INIT was answered, so the first COOKIE answered the first INIT. If the
 * numbers differ, the function returns TRUE.
 *
 * find_answered_init () may have found that the first INITs were lost. The
 * number of INITs then does not include these INITs, and the first COOKIE
 * answered the first INIT that is counted. */
static gboolean
is_ambiguous (const MmtpHandshake * self, const MmtpAsked * asked)
{
  return asked->cookies != asked->inits - asked->unanswered
      || self->is_contested || self->tries > 2;
}

/* Finds the INIT that the first COOKIE answered, and corrects the round trip of
 * the INIT. Called when the ACCEPT arrives. Before, the round trip was measured
 * from the first INIT, which may have been lost.
 *
 * The function examines the INITs in the order in which they were sent. For
 * each INIT, it computes the answer time: the time from the sending of this
 * INIT to the arrival of the first COOKIE. It compares the answer time with the
 * round trip of the OPEN. The OPEN is longer than an INIT, so the round trip of
 * the OPEN is usually longer, too. Jitter can make it shorter, but hardly by
 * MAX_JITTER. If the answer time exceeds the round trip of the OPEN by more
 * than MAX_JITTER, the first COOKIE did not answer this INIT. This INIT or the
 * answer to it was lost, and the next INIT is examined.
 *
 * The examination ends at the first INIT that does not seem to be lost. If this
 * INIT is not the very first INIT, the round trip is corrected under two
 * conditions:
 * - The number of COOKIEs that have arrived equals the number of INITs that
 *   were sent from this INIT on, including this INIT. Each of these INITs was
 *   then answered.
 * - The answer time of this INIT is shorter than the round trip of the OPEN.
 *
 * Otherwise the round trip is not corrected. If it was uncertain which INIT was
 * answered (see is_ambiguous ()), this stays uncertain. */
static void
find_answered_init (MmtpHandshake * self, MmtpAsked * asked)
{
  const guint64 open_round_trip = self->paths->now - asked->open_sent;
  const guint n = MIN (asked->inits, MMTP_KEPT_INITS);
  guint i = 0;

  if (self->is_contested || asked->cookies == 0)
    return;
  while (i < n && asked->cookie_times[0] - asked->init_sent[i] >
      open_round_trip + MAX_JITTER)
    i++;
  if (i == 0 || i == n || asked->cookies != asked->inits - i ||
      asked->cookie_times[0] - asked->init_sent[i] >= open_round_trip)
    return;
  asked->unanswered = i;
  self->init_round_trip = asked->cookie_times[0] - asked->init_sent[i];
}

/* Returns the jitter of the path in ns, as far as the handshake shows it. This
 * is the longest round trip of an INIT minus the shortest round trip, either of
 * an INIT or of the OPEN. All INITs have the same size, and the OPEN is longer.
 * Without jitter, all INITs have the same round trip, and that of the OPEN is
 * longer. The result is then 0. On a narrow half-duplex link, the OPEN may
 * delay the COOKIE of a later INIT, which looks like jitter.
 *
 * The result is valid only if is_ambiguous () returns FALSE: only then is it
 * certain which COOKIE answered which INIT. */
static guint64
get_jitter (const MmtpAsked * asked, guint64 open_round_trip)
{
  const guint n = MIN (asked->cookies, MMTP_KEPT_INITS - asked->unanswered);
  guint64 min = open_round_trip, max = 0;
  guint i;

  for (i = 0; i < n; i++) {
    guint64 round_trip = asked->cookie_times[i] -
        asked->init_sent[i + asked->unanswered];

    min = MIN (min, round_trip);
    max = MAX (max, round_trip);
  }
  return max - MIN (max, min);
}

/* Returns whether an OPEN was sent on more than one path. */
static gboolean
are_several_opened (const MmtpHandshake * self)
{
  guint n = 0, i;

  for (i = 0; i < MMTP_MAX_PATHS; i++)
    n += self->asked[i].open_sent != MMTP_NEVER;
  return n > 1;
}

/* Makes a first estimate of the path's rate. Called when the ACCEPT arrives. Two
 * round trips were measured: that of INIT and COOKIE, and that of OPEN and
 * ACCEPT. OPEN and ACCEPT together have more bytes than INIT and COOKIE
 * together, because the first OPEN contains padding. The round trip of OPEN and
 * ACCEPT is therefore longer. The estimated rate is the number of additional
 * bits divided by the additional time.
 *
 * The rate is 0 if it cannot be estimated:
 * - The ACCEPT answers a repeated OPEN. A repeated OPEN has no padding.
 * - The additional time is mostly jitter (MMTP_JITTER_FACTOR). `is_minimum` is
 *   then TRUE.
 * - It is uncertain which INIT or OPEN was answered, and the round trip of the
 *   OPEN does not seem to be the longer one.
 * If it is uncertain which INIT or OPEN was answered, the rate is at most
 * USUAL_BEGINNING. */
void
mmtp_handshake_guess_rate (const MmtpHandshake * self, const MmtpPath * path,
    MmtpFirstRate * first)
{
  const MmtpAsked *asked = &self->asked[path->id];
  const gboolean is_uncertain = is_ambiguous (self, asked);
  const guint64 round_trip = self->paths->now - asked->open_sent;
  guint64 more, bytes;

  memset (first, 0, sizeof (*first));
  if (self->init_round_trip == 0 || is_answer_to_last (self, asked)
      || (is_uncertain && round_trip <= self->init_round_trip))
    return;
  more = round_trip - MIN (round_trip, self->init_round_trip);
  if (!is_uncertain
      && more <= MMTP_JITTER_FACTOR * get_jitter (asked, round_trip)) {
    first->is_minimum = TRUE;
    return;
  }
  bytes = MIN (OPEN_SIZE, path->max_size) - MMTP_INIT_SIZE + ACCEPT_MORE;
  more = MAX (more, MIN_DIFFERENCE);
  first->rate = bytes * 8 * SECOND / more;
  first->is_minimum = is_uncertain && first->rate > USUAL_BEGINNING;
  if (first->is_minimum)
    first->rate = USUAL_BEGINNING;
  /* Transits count from the first OPEN of the session. It may have been an OPEN
   * on another path, so transits cannot be compared with `more`. */
  if (!are_several_opened (self))
    first->time = more;
}

/* The handshake has measured a round trip. This function adds the round trip to
 * `path`. It also sets the first estimate of the clock offset, which is used
 * until reports give a better estimate.
 *
 * The transit of a message is its arrival time on the receiver's clock, minus
 * its sending time on the sender's clock, minus a constant. The receiver
 * chooses this constant so that the transit of the OPEN is 0
 * (docs/wire-mmtp.md, section 6).
 *
 * The sender computes the one-way delay of any message as follows: delay =
 * transit - offset, where `offset` is the clock offset. The transit of the OPEN
 * is 0. The clock offset is therefore computed from the one-way delay of the
 * OPEN: offset = -delay.
 *
 * The one-way delay of the OPEN is the round trip of OPEN and ACCEPT, minus the
 * one-way delay of the ACCEPT. The delay of the ACCEPT is not known. The ACCEPT
 * is short, so its delay is assumed to be half of a short round trip. Two round
 * trips were measured: that of INIT and COOKIE, and that of OPEN and ACCEPT.
 * The function takes half of the shorter one. */
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
  find_answered_init (self, &self->asked[path->id]);
  note_round_trip (self, path);
  return MMTP_VALID;
}

/* Called when a REFUSE arrives on `path`. Returns whether the REFUSE answers an
 * INIT or OPEN. This is the case if an INIT or OPEN was sent on this path after
 * the previous REFUSE had arrived. If the same INIT or OPEN is refused several
 * times, only the first REFUSE therefore counts. */
static gboolean
is_answer_to_question (MmtpHandshake * self, const MmtpPath * path)
{
  gboolean asked = self->asked[path->id].is_open;

  self->asked[path->id].is_open = FALSE;
  return asked;
}

/* Called when a REFUSE with a valid seal (a MAC) arrives. Returns whether it
 * answers an OPEN that was not refused yet. The REFUSE contains the channel
 * number of the OPEN that it answers, so a replayed REFUSE does not count as
 * the answer to a later OPEN. */
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
 * - The sender sends another INIT to request a new COOKIE, but not earlier than
 *   HANDSHAKE_WAIT after the previous INIT.
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

/* Counts a REFUSE. Returns whether the REFUSEs so far end the attempt to begin
 * a session. A busy receiver may soon be free again, so REFUSEs with the reason
 * "busy" end the attempt only after BUSY_TIME (docs/wire-mmtp.md, section 4).
 */
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
