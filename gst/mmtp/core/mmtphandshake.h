/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender's side of the handshake (docs/wire-mmtp.md, section 4). This
 * module writes INIT and OPEN, on one path after another, and processes COOKIE,
 * ACCEPT and REFUSE. The field `phase` is the state of the handshake and its
 * outcome. Times are in ns.
 */

#pragma once

#include "mmtppaths.h"

typedef enum
{
  MMTP_PHASE_IDLE,              /* no path yet */
  MMTP_PHASE_INIT,
  MMTP_PHASE_OPEN,
  MMTP_PHASE_SESSION,           /* the receiver has accepted */
  /* The receiver has refused the session, or the sender has ended it, or the
   * session has timed out because nothing arrived from the receiver. */
  MMTP_PHASE_OVER
} MmtpPhase;

/* Session parameters that an OPEN message contains. */
typedef struct
{
  /* bitrate of the stream in bit/s; 0 if not known in advance */
  guint64 bit_rate;
  /* frame period of the stream in us; 0 if not known in advance */
  guint32 frame_period;
  guint64 keepalive_period;
  guint64 initial_delay;        /* initial delay (D0), in ns */
} MmtpRequest;

/* State of the INITs and OPENs that were sent on one path. */
typedef struct
{
  /* Sending time of the first OPEN; MMTP_NEVER if no OPEN was sent. An OPEN
   * that is sent more than 6 s after the first one counts as a first OPEN
   * again. */
  guint64 open_sent;
  guint64 last_open_sent;       /* sending time of the last OPEN */
  /* TRUE if an INIT or OPEN was sent on this path and no REFUSE has answered it
   * yet */
  gboolean is_open;
  /* These fields are about the current attempt: the time of its first INIT, the
   * number of its INITs, and the number of COOKIEs that have arrived in answer
   * to these INITs. */
  guint64 init_sent;
  guint inits, cookies;
  /* Channel number of the first OPEN that no REFUSE has answered. A REFUSE that
   * answers an earlier OPEN is ignored as a replay. */
  guint64 unrefused;
} MmtpAsked;

typedef struct
{
  MmtpPaths *paths;
  const MmtpKey *key;
  MmtpEntropy *entropy;
  /* Parameters that the next OPEN will contain. The sender keeps them up to
   * date. */
  MmtpRequest request;
  MmtpPhase phase;
  guint8 nonce_s[MMTP_NONCE_SIZE];
  guint8 cookie[MMTP_COOKIE_SIZE];
  /* token that the receiver has to put into its messages */
  guint64 token_s;
  /* path on which the COOKIE arrived; the cookie is valid for this path only */
  guint path;
  /* index of the path on which the next INIT of the current attempt is sent */
  guint next;
  guint tries, refusals;
  guint64 refused_at;           /* time of the first refusal */
  guint64 at, wait;
  /* Number of further COOKIEs that the sender accepts as answers to the last
   * INIT. Each INIT resets it. */
  guint cookies_left;
  gboolean is_contested;        /* Several different COOKIEs arrived. */
  /* Reason in the last REFUSE that had no valid seal, or MMTP_REFUSE_KEY if the
   * seal of a COOKIE was invalid; 0 if there was no such message. A seal is a
   * MAC with the application's key. */
  MmtpRefuseReason unverified;
  guint unverified_version;
  guint64 last_init;
  /* time in ns from the INIT to its COOKIE; 0 if unknown */
  guint64 init_round_trip;
  MmtpAsked asked[MMTP_MAX_PATHS];      /* indexed by the path's id */
} MmtpHandshake;

void mmtp_handshake_init (MmtpHandshake * self, MmtpPaths * paths,
    const MmtpKey * key, MmtpEntropy * entropy);
void mmtp_handshake_add_path (MmtpHandshake * self, const MmtpPath * path);
void mmtp_handshake_remove_path (MmtpHandshake * self, const MmtpPath * path);
/* Begins the handshake. At least one path must exist. */
void mmtp_handshake_begin (MmtpHandshake * self);
/* Schedules the next message to be sent immediately. Call this function if a
 * path is new or has a new address. Without this call, nothing is sent on this
 * path until the next retry. */
void mmtp_handshake_hasten (MmtpHandshake * self);
/* Writes the INIT or OPEN that is due now. Returns its size and sets `path`.
 * Returns 0 if no message is due. The next message is due at the time
 * `self->at`. */
gsize mmtp_handshake_write (MmtpHandshake * self, guint8 * bytes, gsize room,
    guint * path);
/* Processes a COOKIE, ACCEPT or REFUSE that arrived on `path`. */
MmtpRefusal mmtp_handshake_input (MmtpHandshake * self, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes, gsize size);
/* Returns a first estimate of the rate of `path`, the path on which the ACCEPT
 * arrived, in bit/s; 0 if the rate is unknown. If the estimate is uncertain, it
 * is limited to a low value, and `is_minimum` is set to TRUE: the actual rate
 * may be higher. */
guint64 mmtp_handshake_guess_rate (const MmtpHandshake * self,
    const MmtpPath * path, gboolean * is_minimum);
