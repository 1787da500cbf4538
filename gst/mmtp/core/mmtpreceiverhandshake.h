/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver's side of the handshake (docs/wire-mmtp.md, section 4). A host
 * must first show that it receives at its address. Until then, this module
 * stores nothing about the host, and sends it no more bytes than the host has
 * sent. The number of answers to each network is limited. When this module
 * returns the result MMTP_OPEN_BEGIN, the receiver begins the session.
 */

#pragma once

#include "mmtpanswerlimits.h"
#include "mmtpliveness.h"

typedef enum
{
  MMTP_RECEIVER_IDLE,           /* There was no session yet. */
  /* A session is alive. No other session may begin, unless the sender of this
   * session turns out to be dead (a take-over). */
  MMTP_RECEIVER_ALIVE,
  /* The sender does not respond. It may continue the session later. Until then,
   * another sender may begin a new session. */
  MMTP_RECEIVER_SILENT,
  MMTP_RECEIVER_ENDED           /* The stream has ended. */
} MmtpReceiverPhase;

/* The reaction of the receiver to a valid OPEN. */
typedef enum
{
  MMTP_OPEN_IGNORE,
  MMTP_OPEN_BEGIN,              /* A new session begins. */
  /* The sender has repeated the OPEN with which the current session began, from
   * the same address and on the same path. */
  MMTP_OPEN_REPEAT,
  /* The OPEN of the session was repeated from another address or on another
   * path. That address and path are used from now on. */
  MMTP_OPEN_MOVE
} MmtpOpenAction;

typedef struct
{
  MmtpOpenAction action;
  guint64 number;               /* channel number of the OPEN */
  /* If a sender was refused, these two fields tell the application the reason:
   * - `is_over`: the application accepts only one stream, and this stream has
   *   ended. Only the first refusal for this reason sets `is_over`.
   * - `is_other_version`: the sender uses another protocol version. */
  gboolean is_over, is_other_version;
} MmtpHandshakeResult;

typedef struct
{
  const MmtpReceiverPaths *paths;
  MmtpReceiverOutput *output;
  MmtpLiveness *liveness;
  const MmtpKey *key;
  guint8 cookie_secret[MMTP_KEY_SIZE];
  const guint8 *secret;         /* for nonces and tokens, MMTP_KEY_SIZE bytes */
  guint64 min_delay;            /* minimum D0, in ns */
  /* TRUE if the application accepts only one session; after its end, every
   * other sender is refused */
  gboolean ends;
  MmtpAnswerLimits limits;
  gboolean has_refused_over;    /* `is_over` was set before. */
  /* Bit mask of protocol versions: bit n is set if `is_other_version` was
   * already reported for version n. */
  guint refused_versions;

  /* --- the session */
  /* phase of the session; the receiver keeps this field up to date */
  MmtpReceiverPhase phase;
  guint8 nonce_s[MMTP_NONCE_SIZE], nonce_r[MMTP_NONCE_SIZE];
  guint64 token_r;
  guint8 opener;                /* path on which OPEN arrived */
  MmtpAddress opener_address;
  /* TRUE if a message that arrived after the OPEN has shown that the sender has
   * received ACCEPT */
  gboolean confirmed;
} MmtpReceiverHandshake;

/* Initializes `self`. `cookie_secret` is the first secret for cookies, and its
 * bytes are copied. For all other arguments, only the pointer is stored.
 * `secret` is used for nonces, tokens, rate limits, and all further secrets for
 * cookies. */
void mmtp_receiver_handshake_init (MmtpReceiverHandshake * self,
    const MmtpReceiverPaths * paths, MmtpReceiverOutput * output,
    MmtpLiveness * liveness, const MmtpKey * key,
    const guint8 cookie_secret[MMTP_KEY_SIZE],
    const guint8 secret[MMTP_KEY_SIZE]);
void mmtp_receiver_handshake_clear (MmtpReceiverHandshake * self);
/* Processes an INIT or OPEN, and stores in `result` what the receiver has to
 * do. If `result->action` is not MMTP_OPEN_IGNORE, the receiver has to perform
 * this action, and then has to call mmtp_receiver_handshake_accept(). */
MmtpRefusal mmtp_receiver_handshake_input (MmtpReceiverHandshake * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size, MmtpHandshakeResult * result);
/* Begins the session that the OPEN `message` requests. Chooses a new nonce, a
 * new token and a new secret for cookies. `session` is a number that must be
 * different for each session, so that the chosen values are different as well.
 */
void mmtp_receiver_handshake_begin (MmtpReceiverHandshake * self,
    const MmtpAddress * address, const MmtpMessage * message,
    guint64 session);
/* Sets the address and the path on which the receiver sends ACCEPT, its answer
 * to the sender's OPEN, from now on. Both are those of the OPEN `message`. */
void mmtp_receiver_handshake_set_opener (MmtpReceiverHandshake * self,
    const MmtpAddress * address, const MmtpMessage * message);
/* Sends ACCEPT. */
void mmtp_receiver_handshake_accept (MmtpReceiverHandshake * self);
