/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver's side of INIT, COOKIE, OPEN, ACCEPT and REFUSE. */

#include "mmtpreceiverhandshake.h"

#include <string.h>

#define OPEN_SIGNED_SIZE 92     /* bytes 0 to 91 of OPEN */
#define ACCEPT_SIGNED_SIZE 52   /* bytes 0 to 51 of ACCEPT */

void
mmtp_receiver_handshake_init (MmtpReceiverHandshake * self,
    const MmtpReceiverPaths * paths, MmtpReceiverOutput * output,
    MmtpLiveness * liveness, const MmtpKey * key,
    const guint8 cookie_secret[MMTP_KEY_SIZE],
    const guint8 secret[MMTP_KEY_SIZE])
{
  guint8 unknown_hosts[MMTP_KEY_SIZE], sealed[MMTP_KEY_SIZE];

  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->output = output;
  self->liveness = liveness;
  self->key = key;
  self->secret = secret;
  memcpy (self->cookie_secret, cookie_secret, MMTP_KEY_SIZE);
  mmtp_secret_derive (secret, "limiter of unknown hosts", NULL, 0,
      unknown_hosts);
  mmtp_secret_derive (secret, "limiter of sealed INITs", NULL, 0, sealed);
  mmtp_answer_limits_init (&self->limits, unknown_hosts, sealed);
}

void
mmtp_receiver_handshake_clear (MmtpReceiverHandshake * self)
{
  mmtp_answer_limits_clear (&self->limits);
}

/* --- answers -------------------------------------------------------------- */

static MmtpRefusal
refuse (MmtpReceiverHandshake * self, const MmtpAddress * address,
    const MmtpMessage * message, const guint8 * nonce, MmtpRefuseReason reason)
{
  MmtpMessage answer = {.type = MMTP_REFUSE,.channel = message->channel,
    .number = message->number
  };

  if (mmtp_answer_limits_take (&self->limits, self->paths->now, address, FALSE,
          self->phase == MMTP_RECEIVER_ALIVE)) {
    memcpy (answer.refuse.nonce, nonce, MMTP_NONCE_SIZE);
    answer.refuse.reason = reason;
    mmtp_receiver_output_add_bare (self->output, &answer, address);
  }
  return reason == MMTP_REFUSE_VERSION ? MMTP_REFUSED_VERSION :
      MMTP_REFUSED_SESSION;
}

static MmtpRefusal
answer_init (MmtpReceiverHandshake * self, const MmtpAddress * address,
    const MmtpMessage * message, const guint8 * bytes, gsize size)
{
  MmtpMessage answer = {.type = MMTP_COOKIE,.channel = message->channel };
  gboolean is_sealed = mmtp_key_verify_seal (self->key, bytes, size);

  if (!mmtp_answer_limits_take (&self->limits, self->paths->now, address,
          is_sealed, self->phase == MMTP_RECEIVER_ALIVE))
    return MMTP_VALID;
  memcpy (answer.init.nonce, message->init.nonce, MMTP_NONCE_SIZE);
  mmtp_cookie_make (self->cookie_secret, self->paths->now / MMTP_SECOND,
      address->bytes, address->size, message->init.nonce, answer.init.cookie);
  mmtp_receiver_output_add_bare (self->output, &answer, address);
  return MMTP_VALID;
}

static gboolean
is_of_session (const MmtpReceiverHandshake * self, const MmtpOpen * open)
{
  return self->phase != MMTP_RECEIVER_IDLE
      && memcmp (self->nonce_s, open->nonce, MMTP_NONCE_SIZE) == 0;
}

static gboolean
has_cookie (MmtpReceiverHandshake * self, const MmtpAddress * address,
    const MmtpOpen * open)
{
  return mmtp_cookie_check (self->cookie_secret, self->paths->now / MMTP_SECOND,
      address->bytes, address->size, open->nonce, open->cookie);
}

static gboolean
is_from_opener (const MmtpReceiverHandshake * self,
    const MmtpAddress * address, const MmtpMessage * message)
{
  return message->channel == self->opener
      && mmtp_address_is_equal (address, &self->opener_address);
}

/* Returns whether an OPEN (the sender's request for the session) is accepted
 * although it comes from another address than the OPEN that began the session.
 *
 * This protects the session against an on-path attacker. Let S be the sender's
 * address, and F a false address. The attacker gives the sender a COOKIE that
 * the receiver has issued for F. The sender answers with an OPEN that contains
 * this COOKIE. The attacker sends a copy of this OPEN from F. If the copy
 * arrives before the sender's own OPEN, the receiver starts the session with F
 * instead of S. The sender later repeats its OPEN from S. If the receiver
 * accepts the repeated OPEN, the session has the correct address again.
 *
 * The repeated OPEN is accepted under three conditions:
 * - The session has a key. The key proves that the same sender wrote the first
 *   OPEN and the repeated OPEN.
 * - No message has shown yet that the sender has received ACCEPT, the answer to
 *   OPEN.
 * - The repeated OPEN contains a cookie that is valid for the address from
 *   which the repeated OPEN comes. A cookie that was issued before the session
 *   began is not accepted, because the attacker may have a copy of it. */
static gboolean
may_move_opener (MmtpReceiverHandshake * self, const MmtpAddress * address,
    const MmtpMessage * message)
{
  return self->key->is_set && !self->confirmed
      && has_cookie (self, address, &message->open);
}

static gboolean
is_new (MmtpReceiverHandshake * self, const MmtpMessage * message,
    guint64 * number)
{
  const MmtpReceiverPath *path = self->paths->all[message->channel];

  if (!path || !path->known)
    return TRUE;
  *number = mmtp_unwrap (message->number, 16, path->replay.highest);
  return mmtp_replay_check (&path->replay, *number);
}

/* Checks an OPEN that repeats the OPEN of the current session. A sender repeats
 * its OPEN, the request for a session, until it receives the answer, ACCEPT.
 * Sets `result->action` if the OPEN is accepted. */
static MmtpRefusal
answer_repeated (MmtpReceiverHandshake * self, const MmtpAddress * address,
    const MmtpMessage * message, MmtpHandshakeResult * result)
{
  const gboolean moves = !is_from_opener (self, address, message);

  if (self->phase != MMTP_RECEIVER_ALIVE
      || (moves && !may_move_opener (self, address, message)))
    return MMTP_REFUSED_SESSION;
  if (!is_new (self, message, &result->number))
    return MMTP_REFUSED_REPLAY;
  result->action = moves ? MMTP_OPEN_MOVE : MMTP_OPEN_REPEAT;
  return MMTP_VALID;
}

/* --- OPEN ----------------------------------------------------------------- */

/* Called when a sender was refused because the application accepts only one
 * stream and this stream has ended. The caller has verified that the sender has
 * the key and that its address is not forged. The application can therefore be
 * notified. It is notified of the first such sender only. */
static void
note_over (MmtpReceiverHandshake * self, MmtpHandshakeResult * result)
{
  result->is_over = !self->has_refused_over;
  self->has_refused_over = TRUE;
}

static MmtpRefusal
answer_open (MmtpReceiverHandshake * self, const MmtpAddress * address,
    const MmtpMessage * message, const guint8 * bytes,
    MmtpHandshakeResult * result)
{
  const MmtpOpen *open = &message->open;
  gboolean own = is_of_session (self, open);

  if (!own && !has_cookie (self, address, open))
    return refuse (self, address, message, open->nonce, MMTP_REFUSE_COOKIE);
  if (open->has_key != self->key->is_set
      || !mmtp_key_verify (self->key, bytes, OPEN_SIGNED_SIZE, open->mac))
    return refuse (self, address, message, open->nonce, MMTP_REFUSE_KEY);
  if (own)
    return answer_repeated (self, address, message, result);
  if (self->ends && self->phase == MMTP_RECEIVER_ENDED) {
    note_over (self, result);
    return refuse (self, address, message, open->nonce, MMTP_REFUSE_OVER);
  }
  if (self->phase == MMTP_RECEIVER_ALIVE
      && !mmtp_liveness_may_take_over (self->liveness, address))
    return refuse (self, address, message, open->nonce, MMTP_REFUSE_BUSY);
  result->action = MMTP_OPEN_BEGIN;
  return MMTP_VALID;
}

/* Refuses an INIT (the first message of a handshake) of another protocol
 * version. Anybody can send such INITs. The application is therefore notified
 * only once per version. */
static MmtpRefusal
refuse_version (MmtpReceiverHandshake * self, const MmtpAddress * address,
    const MmtpMessage * message, MmtpHandshakeResult * result)
{
  result->is_other_version = !(self->refused_versions & 1u << message->version);
  self->refused_versions |= 1u << message->version;
  return refuse (self, address, message, message->init.nonce,
      MMTP_REFUSE_VERSION);
}

MmtpRefusal
mmtp_receiver_handshake_input (MmtpReceiverHandshake * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size, MmtpHandshakeResult * result)
{
  MmtpRefusal refusal = mmtp_packet_parse_body (message, bytes, size);

  memset (result, 0, sizeof (*result));
  result->number = message->number;
  if (refusal != MMTP_VALID)
    return refusal;
  if (message->version != MMTP_VERSION)
    return refuse_version (self, address, message, result);
  if (message->type == MMTP_INIT)
    return answer_init (self, address, message, bytes, size);
  return answer_open (self, address, message, bytes, result);
}

/* --- the session ---------------------------------------------------------- */

void
mmtp_receiver_handshake_begin (MmtpReceiverHandshake * self,
    const MmtpAddress * address, const MmtpMessage * message, guint64 session)
{
  guint8 derived[MMTP_KEY_SIZE];

  memcpy (self->nonce_s, message->open.nonce, MMTP_NONCE_SIZE);
  mmtp_secret_derive (self->secret, "session", &session, sizeof (session),
      derived);
  memcpy (self->nonce_r, derived, MMTP_NONCE_SIZE);
  memcpy (&self->token_r, derived + MMTP_NONCE_SIZE, sizeof (self->token_r));
  /* A new secret for cookies is derived here. Cookies that were made with the
   * previous secret become invalid. An attacker may have copied an earlier
   * OPEN, which contains such a cookie. The attacker cannot begin another
   * session later with this OPEN, because its cookie is invalid. */
  mmtp_secret_derive (self->secret, "cookies", &session, sizeof (session),
      self->cookie_secret);
  self->confirmed = FALSE;
  mmtp_receiver_handshake_set_opener (self, address, message);
}

void
mmtp_receiver_handshake_set_opener (MmtpReceiverHandshake * self,
    const MmtpAddress * address, const MmtpMessage * message)
{
  self->opener = message->channel;
  self->opener_address = *address;
}

/* Sends ACCEPT, the answer to the sender's OPEN. If the sender repeats the
 * OPEN, ACCEPT is sent again. All ACCEPTs of a session are equal except for
 * their number and their sending time. */
void
mmtp_receiver_handshake_accept (MmtpReceiverHandshake * self)
{
  MmtpReceiverPath *path = self->paths->all[self->opener];
  MmtpMessage answer = {.type = MMTP_ACCEPT,.channel = path->id };
  guint8 bytes[MMTP_HEADER_SIZE + 128];

  memcpy (answer.accept.nonce, self->nonce_s, MMTP_NONCE_SIZE);
  memcpy (answer.accept.nonce_r, self->nonce_r, MMTP_NONCE_SIZE);
  answer.accept.token = self->token_r;
  answer.accept.min_delay = self->min_delay / 1000;
  answer.accept.has_key = self->key->is_set;
  answer.number = path->next_number++ & G_MAXUINT16;
  answer.sent = mmtp_to_ticks (self->paths->now);
  if (mmtp_packet_write (&answer, bytes, sizeof (bytes)) == 0)
    return;
  mmtp_key_sign (self->key, bytes, ACCEPT_SIGNED_SIZE, answer.accept.mac);
  mmtp_receiver_output_add_bare (self->output, &answer, &self->opener_address);
}
