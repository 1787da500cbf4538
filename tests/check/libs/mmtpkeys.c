/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks MMTP's keys, cookies, trailers and replay window against
 * docs/wire-mmtp.md. The expected results were computed with Python. Some
 * comments below contain the Python expressions, which use these definitions.
 * `h` is HMAC-SHA-256, and the nonces are the random numbers of the two
 * endpoints.
 *
 *   def h (key, *parts):
 *     return hmac.new (key, b"".join (parts), "sha256").digest ()
 *   nonce_s = bytes (range (0x10, 0x20)); nonce_r = bytes (range (0x30, 0x40))
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "mmtpkeys.h"

#define KEY "correct horse"
#define NUMBER G_GUINT64_CONSTANT (0x0102030405060708)
#define TOKEN G_GUINT64_CONSTANT (0xa1a2a3a4a5a6a7a8)
#define NOW G_GUINT64_CONSTANT (0x0102030405)   /* s */

static void
fill (guint8 * bytes, guint8 first, gsize size)
{
  gsize i;

  for (i = 0; i < size; i++)
    bytes[i] = first + i;
}

static void
make_nonces (guint8 nonce_s[MMTP_NONCE_SIZE], guint8 nonce_r[MMTP_NONCE_SIZE])
{
  fill (nonce_s, 0x10, MMTP_NONCE_SIZE);
  fill (nonce_r, 0x30, MMTP_NONCE_SIZE);
}

static void
init_key (MmtpKey * key, gconstpointer bytes, gsize size)
{
  GBytes *application = g_bytes_new (bytes, size);

  mmtp_key_init (key, application);
  g_bytes_unref (application);
}

static void
assert_bytes (const guint8 * bytes, const gchar * hexadecimal)
{
  gsize i;

  for (i = 0; i < strlen (hexadecimal) / 2; i++)
    fail_unless (bytes[i] ==
        (g_ascii_xdigit_value (hexadecimal[2 * i]) << 4 |
            g_ascii_xdigit_value (hexadecimal[2 * i + 1])),
        "byte %zu is %02x", i, bytes[i]);
}

/* --- the key of the application ------------------------------------------- */

/* The handshake key is the HMAC-SHA-256 of the text "mmtp1 handshake", with the
 * application's key as the key of the HMAC. The test uses two application keys:
 * the text "correct horse", and the 200 bytes 0 to 199, which are longer than a
 * block of SHA-256 (64 bytes). */
GST_START_TEST (the_handshake_key_is_derived)
{
  guint8 bytes[200];
  MmtpKey key;

  init_key (&key, KEY, strlen (KEY));
  fail_unless (key.is_set);
  assert_bytes (key.handshake,
      "5896e8da09ccc9a28895907b09e90fc03a434cb80517371e5343f9efc172a0c6");
  mmtp_key_clear (&key);
  fail_if (key.is_set);

  fill (bytes, 0, sizeof (bytes));
  init_key (&key, bytes, sizeof (bytes));
  assert_bytes (key.handshake,
      "af1fb84ca6cf0b014c11ce7e6289892ce0bf061415c475b5122ed7daa4b54eec");
  mmtp_key_clear (&key);
}

GST_END_TEST;

/* The MAC of a handshake message is the first 16 bytes of an HMAC-SHA-256 with
 * the handshake key. Here the message consists of the bytes 0 to 91. The
 * expected MAC was computed with this Python expression, in which h (key, ...)
 * is HMAC-SHA-256:
 *   h (h (b"correct horse", b"mmtp1 handshake"), bytes (range (92)))[:16] */
GST_START_TEST (a_handshake_is_signed)
{
  guint8 bytes[92], mac[MMTP_MAC_SIZE];
  guint bit;
  MmtpKey key;

  init_key (&key, KEY, strlen (KEY));
  fill (bytes, 0, sizeof (bytes));
  mmtp_key_sign (&key, bytes, sizeof (bytes), mac);
  assert_bytes (mac, "07b2fc1b122b281948d2a2cf83f7aa4e");
  fail_unless (mmtp_key_verify (&key, bytes, sizeof (bytes), mac));
  fail_if (mmtp_key_verify (&key, bytes, sizeof (bytes) - 1, mac));
  for (bit = 0; bit < sizeof (bytes) * 8; bit++) {
    bytes[bit / 8] ^= 1 << bit % 8;
    fail_if (mmtp_key_verify (&key, bytes, sizeof (bytes), mac));
    bytes[bit / 8] ^= 1 << bit % 8;
  }
  for (bit = 0; bit < sizeof (mac) * 8; bit++) {
    mac[bit / 8] ^= 1 << bit % 8;
    fail_if (mmtp_key_verify (&key, bytes, sizeof (bytes), mac));
    mac[bit / 8] ^= 1 << bit % 8;
  }
  mmtp_key_clear (&key);
}

GST_END_TEST;

/* The seal of a handshake message is the first 8 bytes of an HMAC-SHA-256 with
 * the handshake key. Here the message consists of the bytes 0 to 23. The
 * expected seal was computed with this Python expression, in which h (key, ...)
 * is HMAC-SHA-256:
 *   h (h (b"correct horse", b"mmtp1 handshake"), bytes (range (24)))[:8] */
GST_START_TEST (a_seal_proves_the_key)
{
  guint8 bytes[24 + MMTP_TRAILER_SIZE];
  MmtpKey key, none;
  guint bit;

  init_key (&key, KEY, strlen (KEY));
  mmtp_key_init (&none, NULL);
  fill (bytes, 0, sizeof (bytes));
  mmtp_key_seal (&none, bytes, sizeof (bytes));
  fail_unless_equals_int (bytes[24], 24);
  mmtp_key_seal (&key, bytes, sizeof (bytes));
  assert_bytes (bytes + 24, "747ad85c90c3b8c8");
  fail_unless (mmtp_key_verify_seal (&key, bytes, sizeof (bytes)));
  fail_if (mmtp_key_verify_seal (&key, bytes, sizeof (bytes) - 1));
  fail_if (mmtp_key_verify_seal (&none, bytes, sizeof (bytes)));
  for (bit = 0; bit < sizeof (bytes) * 8; bit++) {
    bytes[bit / 8] ^= 1 << bit % 8;
    fail_if (mmtp_key_verify_seal (&key, bytes, sizeof (bytes)));
    bytes[bit / 8] ^= 1 << bit % 8;
  }
  memset (bytes + 24, 0, MMTP_TRAILER_SIZE);
  fail_if (mmtp_key_verify_seal (&none, bytes, sizeof (bytes)));
  mmtp_key_clear (&key);
}

GST_END_TEST;

GST_START_TEST (without_a_key_a_handshake_has_zeros)
{
  const guint8 zeros[MMTP_MAC_SIZE] = { 0, };
  guint8 bytes[92] = { 1, }, mac[MMTP_MAC_SIZE];
  MmtpKey none, other;

  mmtp_key_init (&none, NULL);
  init_key (&other, KEY, strlen (KEY));
  fail_if (none.is_set);

  memset (mac, 1, sizeof (mac));
  mmtp_key_sign (&none, bytes, sizeof (bytes), mac);
  fail_unless (memcmp (mac, zeros, sizeof (mac)) == 0);
  fail_unless (mmtp_key_verify (&none, bytes, sizeof (bytes), mac));

  /* A MAC that was made without a key must not be accepted by an endpoint with
   * a key. A MAC that was made with a key must not be accepted by an endpoint
   * without a key. */
  fail_if (mmtp_key_verify (&other, bytes, sizeof (bytes), mac));
  mmtp_key_sign (&other, bytes, sizeof (bytes), mac);
  fail_if (mmtp_key_verify (&none, bytes, sizeof (bytes), mac));
  mmtp_key_clear (&other);
  mmtp_key_clear (&none);
}

GST_END_TEST;

GST_START_TEST (another_key_does_not_verify)
{
  guint8 bytes[92] = { 0, }, mac[MMTP_MAC_SIZE];
  MmtpKey key, other;

  init_key (&key, KEY, strlen (KEY));
  init_key (&other, KEY, strlen (KEY) - 1);
  mmtp_key_sign (&key, bytes, sizeof (bytes), mac);
  fail_if (mmtp_key_verify (&other, bytes, sizeof (bytes), mac));
  mmtp_key_clear (&other);
  mmtp_key_clear (&key);
}

GST_END_TEST;

/* --- cookies -------------------------------------------------------------- */

static const guint8 address[] = { 192, 0, 2, 1, 0x13, 0x8c };

typedef struct
{
  guint8 secret[MMTP_KEY_SIZE];
  guint8 nonce_s[MMTP_NONCE_SIZE];
  guint8 nonce_r[MMTP_NONCE_SIZE];
  guint8 cookie[MMTP_COOKIE_SIZE];
} Cookie;

static void
make_cookie (Cookie * self)
{
  fill (self->secret, 0x80, sizeof (self->secret));
  make_nonces (self->nonce_s, self->nonce_r);
  mmtp_cookie_make (self->secret, NOW, address, sizeof (address),
      self->nonce_s, self->cookie);
}

static gboolean
check_cookie (const Cookie * self, guint64 now)
{
  return mmtp_cookie_check (self->secret, now, address, sizeof (address),
      self->nonce_s, self->cookie);
}

/* A cookie consists of the time in s (8 bytes) and of the first 24 bytes of an
 * HMAC-SHA-256. The HMAC uses the receiver's secret, and covers the time, the
 * sender's address and the sender's nonce. The expected cookie was computed
 * with this Python expression, in which h (key, ...) is HMAC-SHA-256:
 *   (0x0102030405).to_bytes (8, "big") + h (bytes (range (0x80, 0xa0)),
 *     (0x0102030405).to_bytes (8, "big"), bytes ([192, 0, 2, 1, 0x13, 0x8c]),
 *     nonce_s)[:24] */
GST_START_TEST (a_cookie_is_of_time_address_and_nonce)
{
  Cookie cookie;

  make_cookie (&cookie);
  assert_bytes (cookie.cookie, "0000000102030405"
      "ac697fec39d9ae591e5c45d7681ce1666d7b6b5038fb0fe9");
}

GST_END_TEST;

GST_START_TEST (a_cookie_holds_for_ten_seconds)
{
  Cookie cookie;

  make_cookie (&cookie);
  fail_unless (check_cookie (&cookie, NOW));
  fail_unless (check_cookie (&cookie, NOW + 10));
  fail_if (check_cookie (&cookie, NOW + 11));
  fail_if (check_cookie (&cookie, G_MAXUINT64));
  /* A cookie contains the time at which it was made. A cookie from the future
   * must be refused. */
  fail_if (check_cookie (&cookie, NOW - 1));
  fail_if (check_cookie (&cookie, 0));
}

GST_END_TEST;

GST_START_TEST (a_cookie_is_for_nobody_else)
{
  guint8 other[sizeof (address) + 1] = { 0, };
  guint8 secret[MMTP_KEY_SIZE];
  Cookie cookie;
  guint i;

  make_cookie (&cookie);
  for (i = 0; i < sizeof (address) * 8; i++) {
    memcpy (other, address, sizeof (address));
    other[i / 8] ^= 1 << i % 8;
    fail_if (mmtp_cookie_check (cookie.secret, NOW, other, sizeof (address),
            cookie.nonce_s, cookie.cookie));
  }
  memcpy (other, address, sizeof (address));
  fail_if (mmtp_cookie_check (cookie.secret, NOW, other, sizeof (other),
          cookie.nonce_s, cookie.cookie));
  fail_if (mmtp_cookie_check (cookie.secret, NOW, address,
          sizeof (address) - 1, cookie.nonce_s, cookie.cookie));
  fail_if (mmtp_cookie_check (cookie.secret, NOW, NULL, 0, cookie.nonce_s,
          cookie.cookie));
  fail_if (mmtp_cookie_check (cookie.secret, NOW, address, sizeof (address),
          cookie.nonce_r, cookie.cookie));
  fill (secret, 0x81, sizeof (secret));
  fail_if (mmtp_cookie_check (secret, NOW, address, sizeof (address),
          cookie.nonce_s, cookie.cookie));
}

GST_END_TEST;

GST_START_TEST (a_cookie_with_another_bit_is_refused)
{
  Cookie cookie;
  guint bit;

  make_cookie (&cookie);
  for (bit = 0; bit < sizeof (cookie.cookie) * 8; bit++) {
    cookie.cookie[bit / 8] ^= 1 << bit % 8;
    fail_if (check_cookie (&cookie, NOW), "bit %u", bit);
    cookie.cookie[bit / 8] ^= 1 << bit % 8;
  }
  fail_unless (check_cookie (&cookie, NOW));
}

GST_END_TEST;

/* --- trailers of one direction -------------------------------------------- */

static const guint8 query[16] = { 0x2c, 0, 0, 0, 0, 0, 0, 0xff };

static void
init_direction (MmtpDirection * direction, const gchar * application_key,
    MmtpRole from)
{
  guint8 nonce_s[MMTP_NONCE_SIZE], nonce_r[MMTP_NONCE_SIZE];
  MmtpKey key;

  make_nonces (nonce_s, nonce_r);
  init_key (&key, application_key, strlen (application_key));
  mmtp_direction_init (direction, &key, nonce_s, nonce_r, from, TOKEN);
  mmtp_key_clear (&key);
}

/* In a session with a key, the trailer of a message is the first 8 bytes of an
 * HMAC-SHA-256. The HMAC covers the number of the message and the message
 * itself. Its key is derived from the secret of the session and is different
 * for the two endpoints. The expected trailer of the sender was computed with
 * these Python expressions, in which h (key, ...) is HMAC-SHA-256:
 *   secret = h (b"correct horse", b"mmtp1 session", nonce_s, nonce_r)
 *   h (h (secret, b"sender"), (0x0102030405060708).to_bytes (8, "big"),
 *     bytes ([0x2c, 0, 0, 0, 0, 0, 0, 0xff]))[:8]
 * For the trailer of the receiver, b"receiver" replaces b"sender". */
GST_START_TEST (with_a_key_the_trailer_is_an_hmac)
{
  MmtpDirection sender, receiver;
  guint8 bytes[sizeof (query)];

  init_direction (&sender, KEY, MMTP_SENDER);
  init_direction (&receiver, KEY, MMTP_RECEIVER);
  memcpy (bytes, query, sizeof (query));
  mmtp_direction_seal (&sender, NUMBER, bytes, sizeof (bytes));
  fail_unless (memcmp (bytes, query, 8) == 0);
  assert_bytes (bytes + 8, "12dcc3b74b514a72");
  fail_unless (mmtp_direction_verify (&sender, NUMBER, bytes, sizeof (bytes)));
  fail_if (mmtp_direction_verify (&receiver, NUMBER, bytes, sizeof (bytes)));

  mmtp_direction_seal (&receiver, NUMBER, bytes, sizeof (bytes));
  assert_bytes (bytes + 8, "1787a860fedb9e6e");
  fail_if (mmtp_direction_verify (&sender, NUMBER, bytes, sizeof (bytes)));
  mmtp_direction_clear (&receiver);
  mmtp_direction_clear (&sender);
}

GST_END_TEST;

GST_START_TEST (with_a_key_nothing_may_change)
{
  MmtpDirection direction;
  guint8 bytes[sizeof (query)];
  guint bit;
  gsize size;

  init_direction (&direction, KEY, MMTP_SENDER);
  memcpy (bytes, query, sizeof (query));
  mmtp_direction_seal (&direction, NUMBER, bytes, sizeof (bytes));
  for (bit = 0; bit < sizeof (bytes) * 8; bit++) {
    bytes[bit / 8] ^= 1 << bit % 8;
    fail_if (mmtp_direction_verify (&direction, NUMBER, bytes, sizeof (bytes)));
    bytes[bit / 8] ^= 1 << bit % 8;
  }
  for (bit = 0; bit < 64; bit++)
    fail_if (mmtp_direction_verify (&direction,
            NUMBER ^ (G_GUINT64_CONSTANT (1) << bit), bytes, sizeof (bytes)));
  for (size = 0; size < sizeof (bytes); size++)
    fail_if (mmtp_direction_verify (&direction, NUMBER, bytes, size));
  mmtp_direction_clear (&direction);
}

GST_END_TEST;

GST_START_TEST (every_session_has_its_own_keys)
{
  guint8 nonce_s[MMTP_NONCE_SIZE], nonce_r[MMTP_NONCE_SIZE];
  guint8 bytes[sizeof (query)];
  MmtpDirection direction;
  MmtpKey key;

  init_direction (&direction, KEY, MMTP_SENDER);
  memcpy (bytes, query, sizeof (query));
  mmtp_direction_seal (&direction, NUMBER, bytes, sizeof (bytes));
  mmtp_direction_clear (&direction);

  make_nonces (nonce_s, nonce_r);
  init_key (&key, KEY, strlen (KEY));
  mmtp_direction_init (&direction, &key, nonce_r, nonce_s, MMTP_SENDER, TOKEN);
  fail_if (mmtp_direction_verify (&direction, NUMBER, bytes, sizeof (bytes)));
  mmtp_direction_clear (&direction);
  nonce_r[15] ^= 1;
  mmtp_direction_init (&direction, &key, nonce_s, nonce_r, MMTP_SENDER, TOKEN);
  fail_if (mmtp_direction_verify (&direction, NUMBER, bytes, sizeof (bytes)));
  mmtp_direction_clear (&direction);
  mmtp_key_clear (&key);
}

GST_END_TEST;

GST_START_TEST (without_a_key_the_trailer_is_the_token)
{
  MmtpDirection direction;
  guint8 bytes[sizeof (query)];
  guint bit;

  init_direction (&direction, "", MMTP_SENDER);
  memcpy (bytes, query, sizeof (query));
  mmtp_direction_seal (&direction, NUMBER, bytes, sizeof (bytes));
  assert_bytes (bytes + 8, "a1a2a3a4a5a6a7a8");
  for (bit = 64; bit < 128; bit++) {
    bytes[bit / 8] ^= 1 << bit % 8;
    fail_if (mmtp_direction_verify (&direction, NUMBER, bytes, sizeof (bytes)));
    bytes[bit / 8] ^= 1 << bit % 8;
  }
  fail_unless (mmtp_direction_verify (&direction, NUMBER, bytes,
          sizeof (bytes)));
  fail_if (mmtp_direction_verify (&direction, NUMBER, bytes,
          sizeof (bytes) - 1));
  mmtp_direction_clear (&direction);
}

GST_END_TEST;

/* --- numbers -------------------------------------------------------------- */

GST_START_TEST (a_number_is_new_once)
{
  MmtpReplay replay = { 0, };

  fail_unless (mmtp_replay_check (&replay, 0));
  mmtp_replay_accept (&replay, 0);
  fail_if (mmtp_replay_check (&replay, 0));
  fail_unless (mmtp_replay_check (&replay, 1));
  fail_unless (mmtp_replay_check (&replay, G_MAXUINT64));
}

GST_END_TEST;

GST_START_TEST (a_number_1023_behind_is_new_and_one_1024_behind_is_not)
{
  MmtpReplay replay = { 0, };

  mmtp_replay_accept (&replay, 5000);
  fail_unless (mmtp_replay_check (&replay, 4999));
  fail_unless (mmtp_replay_check (&replay, 3977));
  fail_if (mmtp_replay_check (&replay, 3976));
  fail_if (mmtp_replay_check (&replay, 0));

  mmtp_replay_accept (&replay, 3977);
  fail_if (mmtp_replay_check (&replay, 3977));
  fail_unless (mmtp_replay_check (&replay, 3978));
  assert_equals_uint64 (replay.highest, 5000);

  /* The replay window has one bit for each of the last 1024 message numbers.
   * The number 5001 uses the same bit as the number 3977, which is now too old
   * for the window. The bit was set for 3977, but must not mark 5001 as a
   * replay. */
  fail_unless (mmtp_replay_check (&replay, 5001));
  mmtp_replay_accept (&replay, 5001);
  fail_if (mmtp_replay_check (&replay, 3977));
  fail_if (mmtp_replay_check (&replay, 5000));
}

GST_END_TEST;

static const guint64 jumps[] = {
  1, 2, 63, 64, 65, 1022, 1023, 1024, 1025, 2047, 2048, 65536,
  G_GUINT64_CONSTANT (1) << 32, G_MAXUINT64 - 3000
};

/* The highest accepted message number jumps from `first` to `last`. The
 * messages with numbers between these two were not received, so their numbers
 * must count as new. The messages up to `first` were received, so their numbers
 * must still count as replayed. */
GST_START_TEST (the_window_jumps)
{
  const guint64 jump = jumps[__i__], first = 3000, last = first + jump;
  MmtpReplay replay = { 0, };
  guint64 number;

  for (number = first - 1023; number <= first; number++)
    mmtp_replay_accept (&replay, number);
  mmtp_replay_accept (&replay, last);
  assert_equals_uint64 (replay.highest, last);
  for (number = last - 1023; number < last; number++)
    fail_unless (mmtp_replay_check (&replay, number) == (number > first),
        "%" G_GUINT64_FORMAT, number);
  fail_if (mmtp_replay_check (&replay, last));
  fail_if (mmtp_replay_check (&replay, last - 1024));
}

GST_END_TEST;

/* A replay window must refuse a message number in two cases: the number was
 * accepted before, or it is too old for the window. It must accept all other
 * numbers. The test compares the decisions of the window with a list of all
 * accepted numbers. */
GST_START_TEST (the_window_is_a_list_of_numbers)
{
  enum
  { RANGE = 20000 };
  gboolean *seen = g_new0 (gboolean, RANGE);
  MmtpReplay replay = { 0, };
  guint64 highest = 0, number;
  guint32 state = 1;
  guint i;

  for (i = 0; i < 60000; i++) {
    state = state * 1664525 + 1013904223;
    number = (i / 4 + (state >> 16) % 1500) % RANGE;
    if (mmtp_replay_check (&replay, number)) {
      fail_if (seen[number] || number + 1023 < highest);
      mmtp_replay_accept (&replay, number);
      seen[number] = TRUE;
      highest = MAX (highest, number);
    } else
      fail_unless (seen[number] || number + 1023 < highest);
  }
  g_free (seen);
}

GST_END_TEST;

/* Several libraries can compute the HMAC-SHA-256 of a message. Whichever
 * library MMTP was built with, the result must equal the HMAC of GLib. SHA-256
 * processes blocks of 64 bytes. The test therefore uses messages of all sizes
 * from 8 to 308 bytes, and keys that are shorter and longer than a block. */
GST_START_TEST (the_hmac_is_that_of_glib)
{
  guint8 bytes[8 + 300], key[100], digest[MMTP_HMAC_SIZE];
  MmtpHmac *hmac;
  gchar *expected;
  GString *text;
  gsize key_size, size;
  guint i;

  fill (bytes, 7, sizeof (bytes));
  fill (bytes, 1, 8);           /* NUMBER */
  fill (key, 3, sizeof (key));
  for (key_size = 16; key_size <= sizeof (key); key_size += 28) {
    hmac = mmtp_hmac_new (key, key_size);
    for (size = 0; size <= 300; size++) {
      mmtp_hmac_compute (hmac, NUMBER, bytes + 8, size, digest);
      text = g_string_new (NULL);
      for (i = 0; i < sizeof (digest); i++)
        g_string_append_printf (text, "%02x", digest[i]);
      expected = g_compute_hmac_for_data (G_CHECKSUM_SHA256, key, key_size,
          bytes, 8 + size);
      assert_equals_string (text->str, expected);
      g_free (expected);
      g_string_free (text, TRUE);
    }
    mmtp_hmac_free (hmac);
  }
}

GST_END_TEST;

static Suite *
mmtpkeys_suite (void)
{
  Suite *suite = suite_create ("mmtpkeys");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, the_handshake_key_is_derived);
  tcase_add_test (tcase, a_handshake_is_signed);
  tcase_add_test (tcase, a_seal_proves_the_key);
  tcase_add_test (tcase, without_a_key_a_handshake_has_zeros);
  tcase_add_test (tcase, another_key_does_not_verify);
  tcase_add_test (tcase, a_cookie_is_of_time_address_and_nonce);
  tcase_add_test (tcase, a_cookie_holds_for_ten_seconds);
  tcase_add_test (tcase, a_cookie_is_for_nobody_else);
  tcase_add_test (tcase, a_cookie_with_another_bit_is_refused);
  tcase_add_test (tcase, with_a_key_the_trailer_is_an_hmac);
  tcase_add_test (tcase, with_a_key_nothing_may_change);
  tcase_add_test (tcase, every_session_has_its_own_keys);
  tcase_add_test (tcase, without_a_key_the_trailer_is_the_token);
  tcase_add_test (tcase, a_number_is_new_once);
  tcase_add_test (tcase,
      a_number_1023_behind_is_new_and_one_1024_behind_is_not);
  tcase_add_loop_test (tcase, the_window_jumps, 0, G_N_ELEMENTS (jumps));
  tcase_add_test (tcase, the_window_is_a_list_of_numbers);
  tcase_add_test (tcase, the_hmac_is_that_of_glib);
  return suite;
}

GST_CHECK_MAIN (mmtpkeys);
