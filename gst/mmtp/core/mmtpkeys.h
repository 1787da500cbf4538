/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Authentication in an MMTP session: cookies, handshake and session keys,
 * trailers, and the replay window (docs/wire-mmtp.md, sections 2, 4 and 5). All
 * random numbers are derived from a seed, which the caller provides. */

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

/* Initializes `key` with the key of the application, `application_key`. This
 * key must not be empty. `application_key` is NULL if the application has set
 * no key. If it is not NULL, `key` takes a reference to it. */
void mmtp_key_init (MmtpKey * key, GBytes * application_key);
void mmtp_key_clear (MmtpKey * key);
/* mmtp_key_sign() computes the MAC of an OPEN or ACCEPT over the first `size`
 * bytes of the message. mmtp_key_verify() checks this MAC and takes constant
 * time. Without a key, the MAC is zero. */
void mmtp_key_sign (const MmtpKey * key, const guint8 * bytes, gsize size,
    guint8 mac[MMTP_MAC_SIZE]);
gboolean mmtp_key_verify (const MmtpKey * key, const guint8 * bytes,
    gsize size, const guint8 mac[MMTP_MAC_SIZE]);
/* The seal is the trailer of INIT, COOKIE and REFUSE: the last 8 of the `size`
 * bytes of the message. mmtp_key_seal() writes the seal, and
 * mmtp_key_verify_seal() checks it. Without a key, mmtp_key_seal() does not
 * change the trailer, and mmtp_key_verify_seal() returns FALSE. */
void mmtp_key_seal (const MmtpKey * key, guint8 * bytes, gsize size);
gboolean mmtp_key_verify_seal (const MmtpKey * key, const guint8 * bytes,
    gsize size);

/* --- the receiver's cookies ----------------------------------------------- */

/* mmtp_cookie_make() makes a cookie for a sender's address, and
 * mmtp_cookie_check() checks that a cookie is genuine and not too old.
 * `address` is any byte string that identifies the sender's address. `now` is
 * the present time in seconds. */
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

/* Initializes `direction`, which writes or verifies the trailers of all
 * messages that one endpoint sends in a session. `from` is the role of this
 * endpoint: sender or receiver. */
void mmtp_direction_init (MmtpDirection * direction, const MmtpKey * key,
    const guint8 nonce_s[MMTP_NONCE_SIZE],
    const guint8 nonce_r[MMTP_NONCE_SIZE], MmtpRole from, guint64 token);
void mmtp_direction_clear (MmtpDirection * direction);
/* Writes the trailer of a message. The message has `size` bytes, and the
 * trailer is the last 8 of them. `number` is the channel number of the message.
 */
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

/* Returns whether the replay window allows a message with this `number`.
 * Returns FALSE if such a message was accepted before, or if `number` is below
 * the window. The function does not change the window. */
gboolean mmtp_replay_check (const MmtpReplay * replay, guint64 number);
/* Records in the replay window that the message with this `number` was
 * accepted. Call this function after the trailer of the message has been
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
/* Writes `size` pseudo-random bytes to `bytes`; `size` must be at most
 * MMTP_KEY_SIZE. The bytes are the HMAC of a counter, with the seed as the key.
 */
void mmtp_entropy_draw (MmtpEntropy * entropy, gpointer bytes, gsize size);
/* Derives a key from three inputs: `secret`, the string `purpose`, and the
 * `size` bytes at `more`. Equal inputs give equal keys. */
void mmtp_secret_derive (const guint8 secret[MMTP_KEY_SIZE],
    const gchar * purpose, gconstpointer more, gsize size,
    guint8 derived[MMTP_KEY_SIZE]);
