/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the session of a sender begins: docs/wire-mmtp.md section 4. It writes INIT
 * and OPEN on one path after another, and takes COOKIE, ACCEPT and REFUSE. Its
 * phase tells the outcome. Times are ns.
 */

#pragma once

#include "mmtppaths.h"

typedef enum
{
  MMTP_PHASE_IDLE,              /* no path yet */
  MMTP_PHASE_INIT,
  MMTP_PHASE_OPEN,
  MMTP_PHASE_SESSION,           /* the receiver has accepted */
  MMTP_PHASE_OVER               /* refused; or the sender has ended it, or has
                                 * lost the receiver */
} MmtpPhase;

/* What OPEN asks for */
typedef struct
{
  guint64 bit_rate;             /* bits per second, 0: measured */
  guint32 frame_period;         /* us, 0: measured */
  guint64 keepalive_period;
  guint64 initial_delay;        /* D0 */
} MmtpRequest;

/* What was sent on a path */
typedef struct
{
  guint64 open_sent;            /* an OPEN that may be answered; MMTP_NEVER:
                                 * none */
  gboolean is_open;             /* INIT or OPEN, and it was not refused yet */
  guint64 unrefused;            /* number of the first OPEN that has not been
                                 * refused */
} MmtpAsked;

typedef struct
{
  MmtpPaths *paths;
  const MmtpKey *key;
  MmtpEntropy *entropy;
  MmtpRequest request;            /* kept up to date by the sender */
  MmtpPhase phase;
  guint8 nonce_s[MMTP_NONCE_SIZE];
  guint8 cookie[MMTP_COOKIE_SIZE];
  guint64 token_s;              /* that the receiver is to use */
  guint path;                   /* that the cookie is for */
  guint next;                   /* of the INITs of one try, the next path */
  guint tries, refusals;
  guint64 refused_at;           /* for the first time */
  guint64 at, wait;
  guint cookies_left;           /* that this INIT's answers may still bring */
  gboolean is_contested;        /* several COOKIEs came */
  MmtpRefuseReason unverified;  /* the last reason without proof; 0: none */
  guint unverified_version;
  guint64 last_init;
  guint64 init_sent, init_round_trip;   /* 0: unknown */
  gboolean is_ambiguous;        /* an INIT was sent again */
  MmtpAsked asked[MMTP_MAX_PATHS];      /* by the path's id */
} MmtpHandshake;

void mmtp_handshake_init (MmtpHandshake * self, MmtpPaths * paths,
    const MmtpKey * key, MmtpEntropy * entropy);
void mmtp_handshake_add_path (MmtpHandshake * self, const MmtpPath * path);
void mmtp_handshake_remove_path (MmtpHandshake * self, const MmtpPath * path);
/* There is a first path. */
void mmtp_handshake_begin (MmtpHandshake * self);
/* A new path, or a new address, does not wait for those that did not answer. */
void mmtp_handshake_hasten (MmtpHandshake * self);
/* Size of the message that goes now, and its path; 0: none. The next one goes
 * at `at`. */
gsize mmtp_handshake_write (MmtpHandshake * self, guint8 * bytes, gsize room,
    guint * path);
/* COOKIE, ACCEPT or REFUSE */
MmtpRefusal mmtp_handshake_input (MmtpHandshake * self, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes, gsize size);
/* After ACCEPT: a first guess of what the path carries; 0: unknown */
guint64 mmtp_handshake_guess_rate (const MmtpHandshake * self,
    const MmtpPath * path);
