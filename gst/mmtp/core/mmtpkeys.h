/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Authentication in an MMTP session: cookies, handshake and session keys,
 * trailers, and the replay window (docs/wire-mmtp.md, sections 2, 4 and 5). The
 * caller provides all randomness.
 */

#pragma once

#include "mmtphmac.h"
#include "mmtppacket.h"

#define MMTP_KEY_SIZE 32        /* size of each derived key, in bytes */

/* --- the key of the application ------------------------------------------- */

typedef struct
{
  gboolean is_set;
  guint8 handshake[MMTP_KEY_SIZE];
  GBytes *key;                  /* the application's key; may be NULL */
} MmtpKey;

/* `application_key` may be NULL; otherwise it must not be empty. The MmtpKey
 * takes a reference to it. */
void mmtp_key_init (MmtpKey * key, GBytes * application_key);
void mmtp_key_clear (MmtpKey * key);
/* Computes or verifies the MAC of OPEN and ACCEPT, over the first `size` bytes
 * of the message. Without a key, the MAC is zero. The comparison takes constant
 * time. */
void mmtp_key_sign (const MmtpKey * key, const guint8 * bytes, gsize size,
    guint8 mac[MMTP_MAC_SIZE]);
gboolean mmtp_key_verify (const MmtpKey * key, const guint8 * bytes,
    gsize size, const guint8 mac[MMTP_MAC_SIZE]);
/* Writes or verifies the seal of INIT, COOKIE and REFUSE. The message has
 * `size` bytes, and the seal is the trailer, the last 8 of these bytes. Without
 * a key, the trailer is not changed, and verification returns FALSE. */
void mmtp_key_seal (const MmtpKey * key, guint8 * bytes, gsize size);
gboolean mmtp_key_verify_seal (const MmtpKey * key, const guint8 * bytes,
    gsize size);

/* --- the receiver's cookies ----------------------------------------------- */

/* Makes or checks a cookie for a sender's address. `address` is any byte string
 * that identifies this address. `now` is in seconds. */
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
  guint64 token;                /* used without a key */
  MmtpHmac *hmac;               /* NULL without a key */
} MmtpDirection;

/* Initializes the MAC of one direction of a session. `from` is the role that
 * sends the messages of this direction: sender or receiver. */
void mmtp_direction_init (MmtpDirection * direction, const MmtpKey * key,
    const guint8 nonce_s[MMTP_NONCE_SIZE],
    const guint8 nonce_r[MMTP_NONCE_SIZE], MmtpRole from, guint64 token);
void mmtp_direction_clear (MmtpDirection * direction);
/* Writes the trailer of a message into the last 8 of its `size` bytes. */
void mmtp_direction_seal (const MmtpDirection * direction, guint64 number,
    guint8 * bytes, gsize size);
gboolean mmtp_direction_verify (const MmtpDirection * direction,
    guint64 number, const guint8 * bytes, gsize size);

/* --- replay window -------------------------------------------------------- */

#define MMTP_REPLAY_WINDOW 1024

typedef struct
{
  gboolean any;
  guint64 highest;
  guint64 seen[MMTP_REPLAY_WINDOW / 64];
} MmtpReplay;

/* Returns FALSE if a message with this `number` was accepted before, or if the
 * number is too low for the replay window. Otherwise returns TRUE. Does not
 * change the replay window. */
gboolean mmtp_replay_check (const MmtpReplay * replay, guint64 number);
/* Marks `number` as accepted. Call this function after the trailer has been
 * verified. */
void mmtp_replay_accept (MmtpReplay * replay, guint64 number);

/* --- random numbers ------------------------------------------------------- */

typedef struct
{
  guint8 seed[MMTP_ENTROPY_SIZE];
  guint64 n_drawn;
} MmtpEntropy;

void mmtp_entropy_init (MmtpEntropy * entropy,
    const guint8 seed[MMTP_ENTROPY_SIZE]);
/* Draws `size` pseudo-random bytes; at most MMTP_KEY_SIZE. They are the HMAC of
 * a counter, and the seed is the key of the HMAC. */
void mmtp_entropy_draw (MmtpEntropy * entropy, gpointer bytes, gsize size);
/* Derives a key from `secret`, the string `purpose` and the `size` bytes at
 * `more`. Equal arguments give equal keys. */
void mmtp_secret_derive (const guint8 secret[MMTP_KEY_SIZE],
    const gchar * purpose, gconstpointer more, gsize size,
    guint8 derived[MMTP_KEY_SIZE]);
