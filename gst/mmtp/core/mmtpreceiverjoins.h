/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver's side of the messages JOIN, CHALLENGE and RESPONSE
 * (docs/wire-mmtp.md, section 3). With these messages, the sender adds a path
 * to the session, or changes the address of a path. The receiver uses a new
 * address only after the sender has shown that it receives messages there.
 */

#pragma once

#include "mmtpanswerlimits.h"
#include "mmtpreports.h"

/* Number of keep-alive periods without a message after which a path counts as
 * silent. */
#define MMTP_SILENT_PERIODS 2

typedef struct
{
  /* Time in ns at which the last message arrived from the path's address; 0 if
   * none has arrived. The types JOIN, RESPONSE and OPEN do not count. */
  guint64 heard;
  /* A second address of the path. The receiver has validated it, and the sender
   * may be moving to it. It becomes the path's address when no more messages
   * arrive from the present address. */
  MmtpAddress next_address;
  gboolean has_next_address;
  /* `number` is the channel number (the sequence number on the path) of the
   * last JOIN that was accepted. `nonce` is the random number in this JOIN. */
  guint64 number, nonce;
  /* Time in ns at which the last JOIN was accepted on this path; 0 if there was
   * none. A JOIN is the message with which the sender adds a path. */
  guint64 time;
} MmtpReceiverJoinState;

typedef struct
{
  const MmtpReceiverPaths *paths;
  MmtpReceiverOutput *output;
  MmtpReports *reports;
  MmtpAnswerLimits *limits;
  const MmtpKey *key;
  const guint8 *secret;         /* for challenges, MMTP_KEY_SIZE bytes */
  guint8 nonce_r[MMTP_NONCE_SIZE];      /* nonce of the session */
  guint64 period;               /* keep-alive period, in ns */
  MmtpReceiverJoinState all[MMTP_MAX_PATHS];    /* indexed by the path's id */
} MmtpReceiverJoins;

/* Initializes `self`, which stores only the pointers. The memory of all
 * arguments must therefore stay valid as long as `self` is used. */
void mmtp_receiver_joins_init (MmtpReceiverJoins * self,
    const MmtpReceiverPaths * paths, MmtpReceiverOutput * output,
    MmtpReports * reports, MmtpAnswerLimits * limits, const MmtpKey * key,
    const guint8 secret[MMTP_KEY_SIZE]);
void mmtp_receiver_joins_begin_session (MmtpReceiverJoins * self,
    const guint8 nonce_r[MMTP_NONCE_SIZE], guint64 period);
/* Records that the path has joined the session with the address `address`, or
 * that its address has changed to `address`. The caller has validated this
 * address. */
void mmtp_receiver_joins_join (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address);
/* Answers a JOIN with a CHALLENGE. */
void mmtp_receiver_joins_take_join (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address,
    const MmtpJoin * join);
/* Call this function for a message that is refused as a replay, because a
 * message with its channel number was accepted before. If the message repeats
 * the last JOIN, the function may send a CHALLENGE to `address`. It does so
 * only if a key is set, and only within a second after the JOIN was accepted.
 *
 * The reason is an attack. An attacker may copy the sender's JOIN and send the
 * copy from another address. If the copy arrives first, the receiver accepts it
 * and refuses the sender's own JOIN as a replay. The sender needs a CHALLENGE
 * nevertheless, because it validates its address by answering the CHALLENGE
 * with a RESPONSE. Without the CHALLENGE, it would have to wait until it sends
 * the next JOIN. */
void mmtp_receiver_joins_note_replay (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address,
    const MmtpMessage * message, guint64 number);
/* Returns MMTP_VALID if the receiver accepts the message from `address`, and
 * MMTP_REFUSED_ADDRESS otherwise.
 *
 * A JOIN is accepted from every address. A RESPONSE is accepted if its
 * challenge belongs to `address`. All other messages are accepted only from the
 * address of the path.
 *
 * A path may also have a second validated address, because the sender may be
 * moving to it. If the message comes from there, and messages no longer arrive
 * from the first address, this function makes the second address the address of
 * the path. It then accepts the message. */
MmtpRefusal mmtp_receiver_joins_check_address (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address,
    const MmtpMessage * message);
/* Handles a valid message that arrived from `address`. The message may have any
 * type except JOIN. Call this function after
 * mmtp_receiver_joins_check_address() has accepted the message.
 *
 * A RESPONSE shows that the sender receives messages at `address`. There are
 * two cases:
 * - If messages still arrive from another address of the path, `address`
 *   becomes the second address of the path.
 * - Otherwise `address` becomes the address of the path. The path joins the
 *   session if it had not joined before.
 *
 * For a message of another type, the function only records the time at which
 * the message arrived. */
void mmtp_receiver_joins_note_message (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address, MmtpType type);
