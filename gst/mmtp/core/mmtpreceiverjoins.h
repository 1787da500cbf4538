/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver's side of JOIN, CHALLENGE and RESPONSE (docs/wire-mmtp.md,
 * section 3), and the address of each path. An address is used only after the
 * sender has shown that it receives messages at this address.
 */

#pragma once

#include "mmtpanswerlimits.h"
#include "mmtpreports.h"

/* A path is silent if no message has arrived on it for this number of
 * keep-alive periods.
 */
#define MMTP_SILENT_PERIODS 2

typedef struct
{
  /* Time in ns at which a message other than JOIN, RESPONSE and OPEN last
   * arrived from the path's address; 0 if never. */
  guint64 heard;
  /* A second validated address of the path, because the sender may be moving to
   * another address. It becomes the path's address when no more messages arrive
   * from the present address. */
  MmtpAddress next_address;
  gboolean has_next_address;
  /* channel number (the sequence number on the path) and random nonce of the
   * last JOIN that was accepted */
  guint64 number, nonce;
  /* Time in ns at which the last JOIN arrived on this path; 0 if none has
   * arrived. A JOIN is the message with which the sender adds a path. */
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

/* `self` keeps all pointers. */
void mmtp_receiver_joins_init (MmtpReceiverJoins * self,
    const MmtpReceiverPaths * paths, MmtpReceiverOutput * output,
    MmtpReports * reports, MmtpAnswerLimits * limits, const MmtpKey * key,
    const guint8 secret[MMTP_KEY_SIZE]);
void mmtp_receiver_joins_begin_session (MmtpReceiverJoins * self,
    const guint8 nonce_r[MMTP_NONCE_SIZE], guint64 period);
/* Records that the path has joined with the validated address `address`, or
 * that `address` has become the address of the path. */
void mmtp_receiver_joins_join (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address);
/* Answers a JOIN with a CHALLENGE. */
void mmtp_receiver_joins_take_join (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address,
    const MmtpJoin * join);
/* Call this function for a message that is refused as a replay. If a key is set
 * and the message is a replay of the last JOIN, the function sends a CHALLENGE
 * to `address`, but only within a second after that JOIN.
 *
 * An attacker may have copied the sender's JOIN and sent the copy from another
 * address. If the copy arrives first, the sender's own JOIN counts as a replay.
 * The sender needs the CHALLENGE to send the RESPONSE that validates its
 * address. Without an answer, it would have to wait until it repeats the JOIN.
 */
void mmtp_receiver_joins_note_replay (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address,
    const MmtpMessage * message, guint64 number);
/* Returns MMTP_VALID if the receiver accepts the message from `address`, and
 * MMTP_REFUSED_ADDRESS otherwise.
 *
 * A path has one address from which the receiver accepts messages. It may also
 * have a second address, which has been validated as well, because the sender
 * may be moving to another address. If the message comes from the second
 * address, and messages no longer arrive from the first one, this function
 * makes the second address the address of the path and accepts the message. */
MmtpRefusal mmtp_receiver_joins_check_address (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address,
    const MmtpMessage * message);
/* Handles a valid message of any type except JOIN. `address` is the source
 * address of the message. The sender has shown with a RESPONSE that it receives
 * messages at this address.
 *
 * If the message itself is a RESPONSE, there are two cases:
 * - If messages still arrive from another address of the path, `address`
 *   becomes the second address of the path.
 * - Otherwise `address` becomes the address of the path, and the path joins the
 *   session if it had not joined before. */
void mmtp_receiver_joins_note_message (MmtpReceiverJoins * self,
    MmtpReceiverPath * path, const MmtpAddress * address, MmtpType type);
