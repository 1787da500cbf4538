/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds paths to a session at the receiver, and changes the addresses of paths.
 */

#include "mmtpreceiverjoins.h"

#include <string.h>

/* With a JOIN, the sender asks to add a path to the session. A later JOIN with
 * the same channel number as an accepted JOIN counts as a replay. A replay is
 * usually not answered.
 *
 * However, an attacker may copy a JOIN of the sender and deliver the copy
 * first. The receiver then accepts the copy. When the sender's own JOIN
 * arrives, it counts as a replay, although the sender needs an answer. If a key
 * is set, the receiver therefore answers a replay with a CHALLENGE, provided
 * that the replay arrives less than MAX_JOIN_COPY_TIME (ns) after the accepted
 * JOIN. */
#define MAX_JOIN_COPY_TIME MMTP_SECOND

void
mmtp_receiver_joins_init (MmtpReceiverJoins * self,
    const MmtpReceiverPaths * paths, MmtpReceiverOutput * output,
    MmtpReports * reports, MmtpAnswerLimits * limits, const MmtpKey * key,
    const guint8 secret[MMTP_KEY_SIZE])
{
  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->output = output;
  self->reports = reports;
  self->limits = limits;
  self->key = key;
  self->secret = secret;
}

void
mmtp_receiver_joins_begin_session (MmtpReceiverJoins * self,
    const guint8 nonce_r[MMTP_NONCE_SIZE], guint64 period)
{
  memcpy (self->nonce_r, nonce_r, MMTP_NONCE_SIZE);
  self->period = period;
  memset (self->all, 0, sizeof (self->all));
}

/* --- challenges ----------------------------------------------------------- */

static guint64
make_challenge (MmtpReceiverJoins * self, guint8 path,
    const MmtpAddress * address)
{
  struct
  {
    guint8 nonce[MMTP_NONCE_SIZE];
    MmtpAddress address;
    guint8 path;
  } seed;
  guint8 derived[MMTP_KEY_SIZE];
  guint64 challenge;

  memset (&seed, 0, sizeof (seed));
  memcpy (seed.nonce, self->nonce_r, MMTP_NONCE_SIZE);
  seed.address.size = address->size;
  memcpy (seed.address.bytes, address->bytes, address->size);
  seed.path = path;
  mmtp_secret_derive (self->secret, "challenge", &seed, sizeof (seed), derived);
  memcpy (&challenge, derived, sizeof (challenge));
  return challenge;
}

static void
challenge (MmtpReceiverJoins * self, MmtpReceiverPath * path,
    const MmtpAddress * address)
{
  MmtpMessage answer = {.type = MMTP_CHALLENGE };

  answer.challenge.nonce = self->all[path->id].nonce;
  answer.challenge.challenge = make_challenge (self, path->id, address);
  mmtp_receiver_output_add (self->output, path, &answer, address);
}

/* Processes a JOIN, the message with which the sender adds a path, and answers
 * it with a CHALLENGE. The receiver answers even if the source address was
 * validated before, because the sender repeats the JOIN until a CHALLENGE
 * arrives. */
void
mmtp_receiver_joins_take_join (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address, const MmtpJoin * join)
{
  MmtpReceiverJoinState *state = &self->all[path->id];

  path->max_size = join->max_size;
  state->number = join->number;
  state->nonce = join->nonce;
  state->time = self->paths->now;
  challenge (self, path, address);
}

void
mmtp_receiver_joins_note_replay (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address,
    const MmtpMessage * message, guint64 number)
{
  const MmtpReceiverJoinState *state = &self->all[path->id];

  if (self->key->is_set && message->type == MMTP_JOIN && state->time > 0
      && number == state->number
      && self->paths->now - state->time < MAX_JOIN_COPY_TIME)
    challenge (self, path, address);
}

/* --- addresses ------------------------------------------------------------ */

/* Returns whether messages still arrive from the path's current address. As
 * long as they do, the path does not change to another address.
 *
 * This rule protects the path against an on-path attacker. The attacker could
 * copy messages of the sender and send the copies from another address. If the
 * copies arrived first, the sender would seem to have moved to that address.
 *
 * Without a key, the result is always FALSE, because only a MAC proves that
 * messages come from the sender. */
static gboolean
is_address_alive (MmtpReceiverJoins * self, const MmtpReceiverPath * path)
{
  const MmtpReceiverJoinState *state = &self->all[path->id];
  const guint64 gap = MAX (self->period, path->keepalive_gap);

  return self->key->is_set && path->joined && state->heard > 0
      && self->paths->now - state->heard < MMTP_SILENT_PERIODS * gap;
}

void
mmtp_receiver_joins_join (MmtpReceiverJoins * self, MmtpReceiverPath * path,
    const MmtpAddress * address)
{
  MmtpReceiverJoinState *state = &self->all[path->id];

  state->has_next_address = FALSE;
  if (!path->joined || !mmtp_address_is_equal (&path->address, address)) {
    mmtp_arrivals_begin_path (&path->arrivals, self->paths->now);
    mmtp_reports_begin_path (self->reports, path);
    state->heard = 0;
  }
  path->joined = TRUE;
  path->address = *address;
  path->keepalive_time = self->paths->now;
  mmtp_answer_limits_remember (self->limits, address);
}

MmtpRefusal
mmtp_receiver_joins_check_address (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address,
    const MmtpMessage * message)
{
  const MmtpReceiverJoinState *state = &self->all[path->id];

  if (message->type == MMTP_JOIN)
    return MMTP_VALID;
  if (message->type == MMTP_RESPONSE)
    return message->challenge.challenge == make_challenge (self, path->id,
        address) ? MMTP_VALID : MMTP_REFUSED_ADDRESS;
  if (state->has_next_address
      && mmtp_address_is_equal (address, &state->next_address)
      && !is_address_alive (self, path))
    mmtp_receiver_joins_join (self, path, address);
  return mmtp_address_is_equal (address, &path->address) ? MMTP_VALID :
      MMTP_REFUSED_ADDRESS;
}

void
mmtp_receiver_joins_note_message (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address, MmtpType type)
{
  MmtpReceiverJoinState *state = &self->all[path->id];

  if (type != MMTP_RESPONSE) {
    state->heard = self->paths->now;
  } else if (mmtp_address_is_equal (&path->address, address)
      || !is_address_alive (self, path)) {
    mmtp_receiver_joins_join (self, path, address);
  } else {
    state->next_address = *address;
    state->has_next_address = TRUE;
  }
}
