/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who may speak in an MMTP session: cookies, handshake and session keys,
 * trailers, and the window against replays; docs/wire-mmtp.md sections 2, 4 and
 * 5. All randomness is given by the caller.
 */

#pragma once

#include "mmtppacket.h"

#define MMTP_KEY_SIZE 32        /* of everything derived */

/* --- the key of the application ------------------------------------------- */

typedef struct
{
  gboolean is_set;
  guint8 handshake[MMTP_KEY_SIZE];
  GBytes *key;                  /* the application's; may be NULL */
} MmtpKey;

/* NULL: no key. What else is given must not be empty. */
void mmtp_key_init (MmtpKey * key, GBytes * application_key);
void mmtp_key_clear (MmtpKey * key);
/* Of OPEN and ACCEPT: over `size` bytes; zeros without a key. Compared in
 * constant time. */
void mmtp_key_sign (const MmtpKey * key, const guint8 * bytes, gsize size,
    guint8 mac[MMTP_MAC_SIZE]);
gboolean mmtp_key_verify (const MmtpKey * key, const guint8 * bytes,
    gsize size, const guint8 mac[MMTP_MAC_SIZE]);
/* The trailer of INIT, COOKIE and REFUSE, the last 8 of `size` bytes. Without a
 * key it stays as it is, and nothing can be verified. */
void mmtp_key_seal (const MmtpKey * key, guint8 * bytes, gsize size);
gboolean mmtp_key_verify_seal (const MmtpKey * key, const guint8 * bytes,
    gsize size);

/* --- cookies, of the receiver --------------------------------------------- */

/* `address`: any bytes that name it; `now`: seconds */
void mmtp_cookie_make (const guint8 secret[MMTP_KEY_SIZE], guint64 now,
    const guint8 * address, gsize address_size,
    const guint8 nonce[MMTP_NONCE_SIZE], guint8 cookie[MMTP_COOKIE_SIZE]);
gboolean mmtp_cookie_check (const guint8 secret[MMTP_KEY_SIZE], guint64 now,
    const guint8 * address, gsize address_size,
    const guint8 nonce[MMTP_NONCE_SIZE],
    const guint8 cookie[MMTP_COOKIE_SIZE]);

/* --- one direction of a session ------------------------------------------- */

typedef struct
{
  guint64 token;                /* without a key */
  GHmac *hmac;                  /* keyed, copied for each message; NULL: none */
} MmtpDirection;

/* `from`: whose messages these are */
void mmtp_direction_init (MmtpDirection * direction, const MmtpKey * key,
    const guint8 nonce_s[MMTP_NONCE_SIZE],
    const guint8 nonce_r[MMTP_NONCE_SIZE], MmtpRole from, guint64 token);
void mmtp_direction_clear (MmtpDirection * direction);
/* Writes the trailer, the last 8 of `size` bytes */
void mmtp_direction_seal (const MmtpDirection * direction, guint64 number,
    guint8 * bytes, gsize size);
gboolean mmtp_direction_verify (const MmtpDirection * direction,
    guint64 number, const guint8 * bytes, gsize size);

/* --- numbers that were used ----------------------------------------------- */

#define MMTP_REPLAY_WINDOW 1024

typedef struct
{
  gboolean any;
  guint64 highest;
  guint64 seen[MMTP_REPLAY_WINDOW / 64];
} MmtpReplay;

/* Whether it is new; changes nothing */
gboolean mmtp_replay_check (const MmtpReplay * replay, guint64 number);
/* After the trailer has been verified */
void mmtp_replay_accept (MmtpReplay * replay, guint64 number);

/* --- random numbers ------------------------------------------------------- */

typedef struct
{
  guint8 seed[MMTP_ENTROPY_SIZE];
  guint64 n_drawn;
} MmtpEntropy;

void mmtp_entropy_init (MmtpEntropy * entropy,
    const guint8 seed[MMTP_ENTROPY_SIZE]);
/* The seed is a key; what is drawn is the MAC of a counter. */
void mmtp_entropy_draw (MmtpEntropy * entropy, gpointer bytes, gsize size);
