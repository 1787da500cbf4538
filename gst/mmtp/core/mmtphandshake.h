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

/* Parameters of the session that the sender requests in an OPEN message. */
typedef struct
{
  /* bitrate of the stream in bit/s; 0 if not known in advance */
  guint64 bit_rate;
  /* frame period of the stream in us; 0 if not known in advance */
  guint32 frame_period;
  guint64 keepalive_period;
  guint64 initial_delay;        /* initial delay (D0), in ns */
} MmtpRequest;

/* number of INITs on each path whose sending times are stored */
#define MMTP_KEPT_INITS 8

/* State of the INITs and OPENs that were sent on one path. */
typedef struct
{
  /* Sending time of the first OPEN; MMTP_NEVER if no OPEN was sent. If an OPEN
   * is sent more than 6 s after this time, it counts as the first OPEN, and the
   * field is set to its sending time. */
  guint64 open_sent;
  guint64 last_open_sent;       /* sending time of the last OPEN */
  /* TRUE if an INIT or OPEN was sent on this path and no REFUSE has answered it
   * yet */
  gboolean is_open;
  /* State of the search for a COOKIE. The sender sends INITs until a COOKIE
   * answers one of them. `init_sent` contains the sending times of the first
   * INITs, and `cookie_times` the arrival times of the first COOKIEs. `inits`
   * is the number of INITs that were sent, and `cookies` is the number of
   * COOKIEs that have arrived. Both numbers are reset when the sender requests
   * a new COOKIE. */
  guint64 init_sent[MMTP_KEPT_INITS];
  guint64 cookie_times[MMTP_KEPT_INITS];
  guint inits, cookies;
  /* How many INITs were sent before the INIT that the first COOKIE answered, as
   * far as the sender can recognize this. These earlier INITs got no answer,
   * because these INITs or their COOKIEs were lost. The field is 0 until the
   * ACCEPT arrives, and stays 0 if no lost INIT is recognized. */
  guint unanswered;
  /* Each message on the path has a channel number, which increases by 1 from
   * one message to the next. A REFUSE names the channel number of the OPEN that
   * it refuses. If this number is less than `unrefused`, the REFUSE is ignored,
   * because it may be a replay. After a valid REFUSE, `unrefused` is the
   * channel number of the refused OPEN plus 1. */
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
  /* Token that the sender has chosen for this session. Without a key, the
   * receiver puts the token into the trailer of its messages. */
  guint64 token_s;
  /* id of the path on which the COOKIE arrived; the cookie is valid for this
   * path only */
  guint path;
  /* Index of the path on which the next INIT of the current round is sent.
   * INITs are sent in rounds, and in each round on several paths. */
  guint next;
  guint tries, refusals;
  guint64 refused_at;           /* time of the first refusal */
  guint64 at, wait;
  /* Number of further COOKIEs that the sender accepts as answers to the last
   * INIT. When an INIT is sent, this number is set to its maximum. */
  guint cookies_left;
  gboolean is_contested;        /* Several different COOKIEs arrived. */
  /* Reason why the handshake may have failed, for the error message; 0 if there
   * is none. It may be forged, because it comes from a message without a valid
   * seal (a MAC). It is the reason in the last REFUSE without a valid seal, or
   * MMTP_REFUSE_KEY if a COOKIE had an invalid seal. */
  MmtpRefuseReason unverified;
  guint unverified_version;
  guint64 last_init;
  /* Time in ns from an INIT to its COOKIE; 0 if unknown. At first, it is
   * measured from the first INIT on the path. When the ACCEPT arrives, the
   * time is corrected if the sender recognizes that the COOKIE has answered a
   * later INIT. */
  guint64 init_round_trip;
  MmtpAsked asked[MMTP_MAX_PATHS];      /* indexed by the path's id */
} MmtpHandshake;

void mmtp_handshake_init (MmtpHandshake * self, MmtpPaths * paths,
    const MmtpKey * key, MmtpEntropy * entropy);
void mmtp_handshake_add_path (MmtpHandshake * self, const MmtpPath * path);
void mmtp_handshake_remove_path (MmtpHandshake * self, const MmtpPath * path);
/* Begins the handshake. At least one path must exist. */
void mmtp_handshake_begin (MmtpHandshake * self);
/* Makes the next message of the handshake due immediately. Call this function
 * if a path is new or has a new address. Without this call, the sender would
 * use the path only after the current waiting time. */
void mmtp_handshake_hasten (MmtpHandshake * self);
/* Writes the INIT or OPEN that is due now. Returns its size and sets `path`.
 * Returns 0 if no message is due. The next message is due at the time
 * `self->at`. */
gsize mmtp_handshake_write (MmtpHandshake * self, guint8 * bytes, gsize room,
    guint * path);
/* Processes a COOKIE, ACCEPT or REFUSE that arrived on `path`. Returns
 * MMTP_VALID, or the reason why the message is refused. */
MmtpRefusal mmtp_handshake_input (MmtpHandshake * self, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes, gsize size);
/* Makes a first estimate of the path's rate. `path` is the path on which the
 * ACCEPT arrived. */
void mmtp_handshake_guess_rate (const MmtpHandshake * self,
    const MmtpPath * path, MmtpFirstRate * first);
