/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender's side of JOIN, CHALLENGE and RESPONSE (docs/wire-mmtp.md, section
 * 3). With these messages, a path joins an existing session. If the address of
 * a path may have changed, the path joins the session again. */

#pragma once

#include "mmtppaths.h"

/* Number of JOINs whose sending times are stored. After the first JOINs, a JOIN
 * is sent every two seconds until one is answered. The times of the last 8
 * JOINs then cover more than ten seconds, so an answer may take more than ten
 * seconds. */
#define MMTP_JOIN_TIMES 8

typedef struct
{
  /* Random number of the first JOIN. Each further JOIN has the next number, so
   * the number in a CHALLENGE shows which JOIN it answers. */
  guint64 nonce;
  /* Number of JOINs that were sent with this nonce. */
  guint n_sent;
  /* Sending times in ns of the last JOINs. The JOIN with the index i (from 0)
   * is at the position i modulo MMTP_JOIN_TIMES. */
  guint64 sent[MMTP_JOIN_TIMES];
  /* time in ns at which the next JOIN is sent; MMTP_NEVER if none is scheduled
   */
  guint64 at;
  /* Interval in ns between the next JOIN and the JOIN after it. It is doubled
   * each time a JOIN is sent, up to a maximum. */
  guint64 wait;
  /* time in ns at which the next RESPONSE is sent; MMTP_NEVER if none is due */
  guint64 respond_at;
  /* interval in ns between two RESPONSEs to the same CHALLENGE */
  guint64 respond_wait;
  /* number of RESPONSEs that may still be sent to the latest CHALLENGE */
  guint responses_left;
  /* channel number of the first RESPONSE to the latest CHALLENGE */
  guint64 response_number;
  guint64 challenge;
} MmtpJoinState;

typedef struct
{
  const MmtpPaths *paths;
  MmtpEntropy *entropy;
  MmtpJoinState all[MMTP_MAX_PATHS]; /* indexed by the path's id */
} MmtpJoins;

void mmtp_joins_init (MmtpJoins * self, const MmtpPaths * paths,
    MmtpEntropy * entropy);
/* Starts joining: `path` counts as not joined, and its first JOIN is due now.
 */
void mmtp_joins_begin (MmtpJoins * self, MmtpPath * path);
/* Schedules a JOIN on `path` at the time `at` (in ns). If the path has already
 * joined the session, it stays joined. */
void mmtp_joins_renew (MmtpJoins * self, const MmtpPath * path, guint64 at);
/* Stops the JOINs and RESPONSEs of `path`, because the path was removed. */
void mmtp_joins_stop (MmtpJoins * self, const MmtpPath * path);
void mmtp_joins_confirm (MmtpJoins * self, MmtpPath * path);
/* Fills in `message` with the JOIN or RESPONSE that is due on `path`. Returns
 * FALSE if none is due. */
gboolean mmtp_joins_poll (MmtpJoins * self, const MmtpPath * path,
    MmtpMessage * message);
/* Processes a CHALLENGE that arrived on `path`. A CHALLENGE is the receiver's
 * answer to a JOIN, the message with which a path joins the session. The
 * CHALLENGE is valid if it contains the nonce of one of the last
 * MMTP_JOIN_TIMES JOINs that were sent on this path. If it is valid, the
 * function schedules a RESPONSE, marks the path as joined, and returns
 * MMTP_VALID. Otherwise it returns MMTP_REFUSED_SESSION. */
MmtpRefusal mmtp_joins_take_challenge (MmtpJoins * self, MmtpPath * path,
    const MmtpChallenge * challenge);
/* Returns the time of the next JOIN or RESPONSE in ns, or MMTP_NEVER. */
guint64 mmtp_joins_next_wakeup (const MmtpJoins * self, const MmtpPath * path);
