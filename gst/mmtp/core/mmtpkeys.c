/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Authentication in an MMTP session. All MACs are HMAC-SHA-256 (RFC 2104, FIPS
 * 180-4). The MACs of the handshake are computed with GLib. The MACs of all
 * other messages are computed with mmtphmac.h, which is faster. Secret values
 * are compared in constant time. */

#include "mmtpkeys.h"

#include <string.h>

#include "wire.h"

/* Size in bytes of the time at the beginning of a cookie (docs/wire-mmtp.md,
 * section 4). */
#define COOKIE_TIME_SIZE 8
/* time in s for which a cookie is valid (docs/wire-mmtp.md, section 4) */
#define COOKIE_LIFETIME 10

/* strings that are used to derive the keys (docs/wire-mmtp.md, section 5) */
#define HANDSHAKE_LABEL "mmtp1 handshake"
#define SESSION_LABEL "mmtp1 session"
#define SENDER_LABEL "sender"
#define RECEIVER_LABEL "receiver"

static GHmac *
new_hmac (const guint8 * key, gsize size)
{
  return g_hmac_new (G_CHECKSUM_SHA256, key, size);
}

static void
add (GHmac * hmac, gconstpointer bytes, gsize size)
{
  if (size > 0)
    g_hmac_update (hmac, bytes, size);
}

/* Stores the HMAC in `digest`, and frees `hmac`. */
static void
finish (GHmac * hmac, guint8 digest[MMTP_KEY_SIZE])
{
  gsize size = MMTP_KEY_SIZE;

  g_hmac_get_digest (hmac, digest, &size);
  g_hmac_unref (hmac);
}

/* --- the key of the application ------------------------------------------- */

static GHmac *
new_application_hmac (GBytes * key)
{
  gsize size;
  const guint8 *bytes = g_bytes_get_data (key, &size);

  return new_hmac (bytes, size);
}

void
mmtp_key_init (MmtpKey * key, GBytes * application_key)
{
  GHmac *hmac;

  memset (key, 0, sizeof (*key));
  if (!application_key)
    return;
  g_return_if_fail (g_bytes_get_size (application_key) > 0);
  key->is_set = TRUE;
  key->key = g_bytes_ref (application_key);
  hmac = new_application_hmac (key->key);
  add (hmac, HANDSHAKE_LABEL, strlen (HANDSHAKE_LABEL));
  finish (hmac, key->handshake);
}

void
mmtp_key_clear (MmtpKey * key)
{
  g_clear_pointer (&key->key, g_bytes_unref);
  memset (key, 0, sizeof (*key));
}

void
mmtp_key_sign (const MmtpKey * key, const guint8 * bytes, gsize size,
    guint8 mac[MMTP_MAC_SIZE])
{
  guint8 digest[MMTP_KEY_SIZE] = { 0, };

  if (key->is_set) {
    GHmac *hmac = new_hmac (key->handshake, MMTP_KEY_SIZE);

    add (hmac, bytes, size);
    finish (hmac, digest);
  }
  memcpy (mac, digest, MMTP_MAC_SIZE);
}

gboolean
mmtp_key_verify (const MmtpKey * key, const guint8 * bytes, gsize size,
    const guint8 mac[MMTP_MAC_SIZE])
{
  guint8 expected[MMTP_MAC_SIZE];

  mmtp_key_sign (key, bytes, size, expected);
  return wire_is_same (mac, expected, MMTP_MAC_SIZE);
}

void
mmtp_key_seal (const MmtpKey * key, guint8 * bytes, gsize size)
{
  guint8 mac[MMTP_MAC_SIZE];

  g_return_if_fail (size >= MMTP_MIN_MESSAGE);

  if (!key->is_set)
    return;
  size -= MMTP_TRAILER_SIZE;
  mmtp_key_sign (key, bytes, size, mac);
  memcpy (bytes + size, mac, MMTP_TRAILER_SIZE);
}

gboolean
mmtp_key_verify_seal (const MmtpKey * key, const guint8 * bytes, gsize size)
{
  guint8 mac[MMTP_MAC_SIZE];

  if (!key->is_set || size < MMTP_MIN_MESSAGE)
    return FALSE;
  size -= MMTP_TRAILER_SIZE;
  mmtp_key_sign (key, bytes, size, mac);
  return wire_is_same (bytes + size, mac, MMTP_TRAILER_SIZE);
}

/* --- cookies -------------------------------------------------------------- */

/* Computes the cookie for `address` and `nonce` at the time `now`. The cookie
 * consists of the time and an HMAC. The input of the HMAC is the time, then the
 * address, then the nonce. Only the address has a variable length, so different
 * times, addresses or nonces never give the same sequence of bytes. */
void
mmtp_cookie_make (const guint8 secret[MMTP_KEY_SIZE], guint64 now,
    const guint8 * address, gsize address_size,
    const guint8 nonce[MMTP_NONCE_SIZE], guint8 cookie[MMTP_COOKIE_SIZE])
{
  GHmac *hmac = new_hmac (secret, MMTP_KEY_SIZE);
  guint8 digest[MMTP_KEY_SIZE];

  wire_write (cookie, 8, now);
  add (hmac, cookie, COOKIE_TIME_SIZE);
  add (hmac, address, address_size);
  add (hmac, nonce, MMTP_NONCE_SIZE);
  finish (hmac, digest);
  memcpy (cookie + COOKIE_TIME_SIZE, digest,
      MMTP_COOKIE_SIZE - COOKIE_TIME_SIZE);
}

gboolean
mmtp_cookie_check (const guint8 secret[MMTP_KEY_SIZE], guint64 now,
    const guint8 * address, gsize address_size,
    const guint8 nonce[MMTP_NONCE_SIZE], const guint8 cookie[MMTP_COOKIE_SIZE])
{
  const guint64 made = wire_read (cookie, 8);
  guint8 expected[MMTP_COOKIE_SIZE];

  if (made > now || now - made > COOKIE_LIFETIME)
    return FALSE;
  mmtp_cookie_make (secret, made, address, address_size, nonce, expected);
  return wire_is_same (cookie, expected, MMTP_COOKIE_SIZE);
}

/* --- one direction of a session ------------------------------------------- */

void
mmtp_direction_init (MmtpDirection * direction, const MmtpKey * key,
    const guint8 nonce_s[MMTP_NONCE_SIZE],
    const guint8 nonce_r[MMTP_NONCE_SIZE], MmtpRole from, guint64 token)
{
  const gchar *label = from == MMTP_SENDER ? SENDER_LABEL : RECEIVER_LABEL;
  guint8 derived[MMTP_KEY_SIZE];
  GHmac *hmac;

  direction->token = token;
  direction->hmac = NULL;
  if (!key->is_set)
    return;

  hmac = new_application_hmac (key->key);
  add (hmac, SESSION_LABEL, strlen (SESSION_LABEL));
  add (hmac, nonce_s, MMTP_NONCE_SIZE);
  add (hmac, nonce_r, MMTP_NONCE_SIZE);
  finish (hmac, derived);

  hmac = new_hmac (derived, MMTP_KEY_SIZE);
  add (hmac, label, strlen (label));
  finish (hmac, derived);
  direction->hmac = mmtp_hmac_new (derived, MMTP_KEY_SIZE);
}

void
mmtp_direction_clear (MmtpDirection * direction)
{
  g_clear_pointer (&direction->hmac, mmtp_hmac_free);
  memset (direction, 0, sizeof (*direction));
}

static void
make_trailer (const MmtpDirection * direction, guint64 number,
    const guint8 * bytes, gsize size, guint8 trailer[MMTP_TRAILER_SIZE])
{
  guint8 digest[MMTP_HMAC_SIZE];

  if (!direction->hmac) {
    wire_write (trailer, 8, direction->token);
    return;
  }
  mmtp_hmac_compute (direction->hmac, number, bytes, size, digest);
  memcpy (trailer, digest, MMTP_TRAILER_SIZE);
}

void
mmtp_direction_seal (const MmtpDirection * direction, guint64 number,
    guint8 * bytes, gsize size)
{
  g_return_if_fail (size >= MMTP_MIN_MESSAGE);

  size -= MMTP_TRAILER_SIZE;
  make_trailer (direction, number, bytes, size, bytes + size);
}

gboolean
mmtp_direction_verify (const MmtpDirection * direction, guint64 number,
    const guint8 * bytes, gsize size)
{
  guint8 expected[MMTP_TRAILER_SIZE];

  if (size < MMTP_MIN_MESSAGE)
    return FALSE;
  size -= MMTP_TRAILER_SIZE;
  make_trailer (direction, number, bytes, size, expected);
  return wire_is_same (bytes + size, expected, MMTP_TRAILER_SIZE);
}

/* --- replay window -------------------------------------------------------- */

static guint64
get_bit (guint64 number)
{
  return G_GUINT64_CONSTANT (1) << number % 64;
}

static guint
get_word (guint64 number)
{
  return number % MMTP_REPLAY_WINDOW / 64;
}

gboolean
mmtp_replay_check (const MmtpReplay * replay, guint64 number)
{
  if (!replay->any || number > replay->highest)
    return TRUE;
  if (replay->highest - number >= MMTP_REPLAY_WINDOW)
    return FALSE;
  return !(replay->seen[get_word (number)] & get_bit (number));
}

/* Moves the replay window so that `number` becomes the highest number in it.
 * The window covers the last MMTP_REPLAY_WINDOW message numbers. It is stored
 * as a ring of bits, with one bit for each number. Each number that enters the
 * window uses the bit of a number that leaves the window. */
static void
advance (MmtpReplay * replay, guint64 number)
{
  if (!replay->any || number - replay->highest >= MMTP_REPLAY_WINDOW)
    memset (replay->seen, 0, sizeof (replay->seen));
  else
    while (++replay->highest != number)
      replay->seen[get_word (replay->highest)] &= ~get_bit (replay->highest);
  replay->any = TRUE;
  replay->highest = number;
}

void
mmtp_replay_accept (MmtpReplay * replay, guint64 number)
{
  g_return_if_fail (mmtp_replay_check (replay, number));

  if (!replay->any || number > replay->highest)
    advance (replay, number);
  replay->seen[get_word (number)] |= get_bit (number);
}

/* --- random numbers ------------------------------------------------------- */

void
mmtp_entropy_init (MmtpEntropy * entropy, const guint8 seed[MMTP_ENTROPY_SIZE])
{
  memcpy (entropy->seed, seed, MMTP_ENTROPY_SIZE);
  entropy->n_drawn = 0;
}

void
mmtp_entropy_draw (MmtpEntropy * entropy, gpointer bytes, gsize size)
{
  guint8 block[MMTP_KEY_SIZE];
  gsize length = sizeof (block);
  guint64 drawn = entropy->n_drawn++;
  guint64 counter = GUINT64_TO_BE (drawn);
  GHmac *hmac = g_hmac_new (G_CHECKSUM_SHA256, entropy->seed,
      MMTP_ENTROPY_SIZE);

  g_hmac_update (hmac, (const guint8 *) &counter, sizeof (counter));
  g_hmac_get_digest (hmac, block, &length);
  g_hmac_unref (hmac);
  memcpy (bytes, block, MIN (size, sizeof (block)));
}

void
mmtp_secret_derive (const guint8 secret[MMTP_KEY_SIZE], const gchar * purpose,
    gconstpointer more, gsize size, guint8 derived[MMTP_KEY_SIZE])
{
  GHmac *hmac = g_hmac_new (G_CHECKSUM_SHA256, secret, MMTP_KEY_SIZE);
  gsize n = MMTP_KEY_SIZE;

  g_hmac_update (hmac, (const guchar *) purpose, strlen (purpose));
  if (size > 0)
    g_hmac_update (hmac, more, size);
  g_hmac_get_digest (hmac, derived, &n);
  g_hmac_unref (hmac);
}
