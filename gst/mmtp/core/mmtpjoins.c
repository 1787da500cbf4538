/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpjoins.h: the sender's side of JOIN, CHALLENGE and
 * RESPONSE. */

#include "mmtpjoins.h"

#define MILLISECOND G_GUINT64_CONSTANT (1000000)
/* A JOIN is repeated until a report about the path arrives. The first interval
 * between two JOINs is JOIN_WAIT. Each further interval is twice as long as the
 * previous one, up to MAX_WAIT (docs/wire-mmtp.md, section 3, JOIN). */
#define JOIN_WAIT (200 * MILLISECOND)
#define MAX_WAIT (2000 * MILLISECOND)
/* A RESPONSE is repeated until a report shows that it has arrived. At most
 * MAX_RESPONSES are sent to the same CHALLENGE. Before the sender repeats a
 * RESPONSE, it waits for a round trip plus RESPONSE_WAIT (ns), because the
 * report about the RESPONSE may take this time. RESPONSE_WAIT is the usual
 * report period. */
#define MAX_RESPONSES 4
#define RESPONSE_WAIT (50 * MILLISECOND)

void
mmtp_joins_init (MmtpJoins * self, const MmtpPaths * paths,
    MmtpEntropy * entropy)
{
  guint i;

  self->paths = paths;
  self->entropy = entropy;
  for (i = 0; i < MMTP_MAX_PATHS; i++) {
    const MmtpJoinState none = {.at = MMTP_NEVER,.respond_at = MMTP_NEVER };

    self->all[i] = none;
  }
}

void
mmtp_joins_renew (MmtpJoins * self, const MmtpPath * path, guint64 at)
{
  MmtpJoinState *join = &self->all[path->id];

  join->at = at;
  join->wait = JOIN_WAIT;
  join->n_sent = 0;
  join->respond_at = MMTP_NEVER;
  mmtp_entropy_draw (self->entropy, &join->nonce, sizeof (join->nonce));
}

void
mmtp_joins_begin (MmtpJoins * self, MmtpPath * path)
{
  path->joined = path->confirmed = FALSE;
  mmtp_joins_renew (self, path, self->paths->now);
}

void
mmtp_joins_stop (MmtpJoins * self, const MmtpPath * path)
{
  MmtpJoinState *join = &self->all[path->id];

  join->at = join->respond_at = MMTP_NEVER;
  /* A CHALLENGE that arrives later is refused. */
  join->n_sent = 0;
}

void
mmtp_joins_confirm (MmtpJoins * self, MmtpPath * path)
{
  MmtpJoinState *join = &self->all[path->id];

  path->confirmed = TRUE;
  /* It is possible that a report covers only messages that are older than the
   * first RESPONSE. The receiver may have sent this report before the address
   * of the path changed. The report therefore does not show that a RESPONSE has
   * arrived. */
  if (join->respond_at != MMTP_NEVER &&
      (join->responses_left == MAX_RESPONSES ||
          path->sent.unreported <= join->response_number))
    return;
  join->at = join->respond_at = MMTP_NEVER;
}

gboolean
mmtp_joins_poll (MmtpJoins * self, const MmtpPath * path, MmtpMessage * message)
{
  MmtpJoinState *join = &self->all[path->id];

  if (self->paths->now >= join->respond_at) {
    if (join->responses_left == MAX_RESPONSES)
      join->response_number = path->sent.next;
    join->responses_left--;
    join->respond_at = join->responses_left > 0 ?
        self->paths->now + join->respond_wait : MMTP_NEVER;
    message->type = MMTP_RESPONSE;
    message->challenge.challenge = join->challenge;
    return TRUE;
  }
  if (self->paths->now < join->at)
    return FALSE;
  join->at = self->paths->now + join->wait;
  join->wait = MIN (join->wait * 2, MAX_WAIT);
  message->type = MMTP_JOIN;
  message->join.number = path->sent.next;
  message->join.nonce = join->nonce + join->n_sent;
  join->sent[join->n_sent++ % MMTP_JOIN_TIMES] = self->paths->now;
  message->join.max_size = path->max_size;
  return TRUE;
}

/* Returns the sending time of the JOIN with the number `nonce`, in ns. Returns
 * MMTP_NEVER if no such JOIN was sent, or too many JOINs were sent after it. */
static guint64
get_time_sent (const MmtpJoinState * join, guint64 nonce)
{
  guint64 index = nonce - join->nonce;

  if (index >= join->n_sent || join->n_sent - index > MMTP_JOIN_TIMES)
    return MMTP_NEVER;
  return join->sent[index % MMTP_JOIN_TIMES];
}

/* Processes a CHALLENGE, the answer to a JOIN. The time from this JOIN to the
 * CHALLENGE is a measurement of the path's round trip.
 *
 * The sender answers the CHALLENGE with a RESPONSE. The RESPONSE may be lost,
 * and only a report about the path shows that it has arrived. The sender
 * therefore repeats the JOIN until such a report arrives. */
MmtpRefusal
mmtp_joins_take_challenge (MmtpJoins * self, MmtpPath * path,
    const MmtpChallenge * challenge)
{
  MmtpJoinState *join = &self->all[path->id];
  guint64 sent = get_time_sent (join, challenge->nonce), round_trip;

  if (sent == MMTP_NEVER)
    return MMTP_REFUSED_SESSION;
  round_trip = self->paths->now - sent;
  join->respond_at = self->paths->now;
  join->respond_wait = round_trip + RESPONSE_WAIT;
  join->responses_left = MAX_RESPONSES;
  join->challenge = challenge->challenge;
  mmtp_path_add_round_trip (path, self->paths->now, round_trip);
  if (!path->joined)
    join->at = self->paths->now + MAX (JOIN_WAIT, 2 * join->respond_wait);
  path->joined = TRUE;
  return MMTP_VALID;
}

guint64
mmtp_joins_next_wakeup (const MmtpJoins * self, const MmtpPath * path)
{
  return MIN (self->all[path->id].at, self->all[path->id].respond_at);
}
