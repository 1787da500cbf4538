/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver's side of the handshake, by which a sender begins a session
 * (docs/wire-mmtp.md, section 4). First, a host must show that it receives
 * messages at its address. Until then, this module stores nothing about the
 * host, and sends it no more bytes than the host has sent. The number of
 * answers to each network is limited.
 *
 * This module does not begin the session itself. It returns the result
 * MMTP_OPEN_BEGIN, and the receiver then begins the session.
 */

#pragma once

#include "mmtpanswerlimits.h"
#include "mmtpliveness.h"

typedef enum
{
  MMTP_RECEIVER_IDLE,           /* There was no session yet. */
  /* A session is alive. Another sender cannot begin a session, unless the
   * receiver finds out that the present sender is dead. The other sender then
   * takes over. */
  MMTP_RECEIVER_ALIVE,
  /* The sender of the session does not respond. The session continues if the
   * sender responds again, as long as no other sender has begun a session. */
  MMTP_RECEIVER_SILENT,
  MMTP_RECEIVER_ENDED           /* The stream has ended. */
} MmtpReceiverPhase;

/* Actions of the receiver after a message of the handshake. The actions other
 * than MMTP_OPEN_IGNORE are for a valid OPEN, which asks for a session. */
typedef enum
{
  MMTP_OPEN_IGNORE,
  MMTP_OPEN_BEGIN,              /* A new session begins. */
  /* The OPEN repeats the one with which the current session began. It came from
   * the same address and on the same path. */
  MMTP_OPEN_REPEAT,
  /* The OPEN repeats an earlier OPEN, with which the current session began. The
   * repeated OPEN came from another address or on another path than the earlier
   * OPEN. The receiver uses the new address and the new path from now on. */
  MMTP_OPEN_MOVE
} MmtpOpenAction;

typedef struct
{
  MmtpOpenAction action;
  guint64 number;               /* channel number of the OPEN */
  /* If a sender was refused, these two fields tell the application why:
   * - `is_over` is TRUE if the application accepts only one stream and this
   *   stream has ended. It is set only for the first sender that is refused for
   *   this reason.
   * - `is_other_version` is TRUE if the sender uses another protocol version.
   *   It is set only once for each version. */
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
  /* TRUE if the application accepts only one session. After the end of this
   * session, the receiver refuses every sender. */
  gboolean ends;
  MmtpAnswerLimits limits;
  gboolean has_refused_over;    /* `is_over` was set before. */
  /* Bit mask of protocol versions. Bit n is set if a sender with the protocol
   * version n was already refused, so that the application is told only once
   * for each version. */
  guint refused_versions;

  /* --- the session */
  /* Phase of the session. The owner of this struct, MmtpReceiver, updates it.
   */
  MmtpReceiverPhase phase;
  guint8 nonce_s[MMTP_NONCE_SIZE], nonce_r[MMTP_NONCE_SIZE];
  guint64 token_r;
  guint8 opener;                /* path on which OPEN arrived */
  MmtpAddress opener_address;
  /* TRUE if the sender has certainly received ACCEPT, because it has sent
   * another message of the session after its OPEN */
  gboolean confirmed;
} MmtpReceiverHandshake;

/* Initializes `self`. `cookie_secret` is the first secret with which cookies
 * are made; its bytes are copied. All later cookie secrets, the nonces, the
 * tokens and the secrets of the rate limits are derived from `secret`. Apart
 * from `cookie_secret`, no argument is copied: the memory of `secret` and of
 * the other objects must stay valid. */
void mmtp_receiver_handshake_init (MmtpReceiverHandshake * self,
    const MmtpReceiverPaths * paths, MmtpReceiverOutput * output,
    MmtpLiveness * liveness, const MmtpKey * key,
    const guint8 cookie_secret[MMTP_KEY_SIZE],
    const guint8 secret[MMTP_KEY_SIZE]);
void mmtp_receiver_handshake_clear (MmtpReceiverHandshake * self);
/* Processes an INIT or OPEN. Stores in `result` what the caller has to do next.
 * If `result->action` is not MMTP_OPEN_IGNORE, the caller has to perform this
 * action and then call mmtp_receiver_handshake_accept(). */
MmtpRefusal mmtp_receiver_handshake_input (MmtpReceiverHandshake * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size, MmtpHandshakeResult * result);
/* Begins the session that `message`, an OPEN, asks for. Chooses a new nonce, a
 * new token and a new secret for cookies. These values are derived from the
 * number `session`. The caller must pass a different number for each session,
 * so that the values are different as well. */
void mmtp_receiver_handshake_begin (MmtpReceiverHandshake * self,
    const MmtpAddress * address, const MmtpMessage * message,
    guint64 session);
/* Stores the address and the path of an OPEN. From now on, the receiver sends
 * ACCEPT, its answer to the OPEN, to this address and on this path. */
void mmtp_receiver_handshake_set_opener (MmtpReceiverHandshake * self,
    const MmtpAddress * address, const MmtpMessage * message);
/* Sends ACCEPT. */
void mmtp_receiver_handshake_accept (MmtpReceiverHandshake * self);
