/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the sender's part of the handshake: when it repeats an INIT (the
 * request for a cookie) or an OPEN (the request for a session), and how it
 * makes its first estimate of the path's rate. It computes this estimate from
 * the round trips of the handshake. The test acts as the receiver. Times are in
 * ms.
 */

#include <gst/check/gstcheck.h>

#include "mmtphandshake.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define START (10000 * MS)
#define MAX_SIZE 1472
#define OPEN_SIZE 1200
#define SHORT_OPEN_SIZE 116
/* Maximum of the sender's first estimate of the rate, in bit/s, if the sender
 * does not know which of several INITs or OPENs was answered. */
#define CAUTIOUS_RATE 1200000

typedef struct
{
  MmtpPaths paths;
  MmtpPath *path;
  MmtpKey key;
  MmtpEntropy entropy;
  MmtpHandshake handshake;
} Fixture;

static void
fixture_init (Fixture * fixture)
{
  static const guint8 entropy[MMTP_ENTROPY_SIZE] = "sixty-four bytes";
  MmtpPathConfig config = { "a", MAX_SIZE, 28, 0, 0 };

  memset (fixture, 0, sizeof (*fixture));
  mmtp_paths_init (&fixture->paths);
  fixture->paths.now = START;
  fixture->path = mmtp_paths_add (&fixture->paths, "a");
  mmtp_path_open (fixture->path, START, &config);
  mmtp_key_init (&fixture->key, NULL);
  mmtp_entropy_init (&fixture->entropy, entropy);
  mmtp_handshake_init (&fixture->handshake, &fixture->paths, &fixture->key,
      &fixture->entropy);
  mmtp_handshake_add_path (&fixture->handshake, fixture->path);
  fixture->handshake.request.keepalive_period = 100 * MS;
  mmtp_handshake_begin (&fixture->handshake);
}

static void
fixture_clear (Fixture * fixture)
{
  mmtp_paths_clear (&fixture->paths);
  mmtp_key_clear (&fixture->key);
}

/* Checks that the sender sends its next message at `time` and not earlier. The
 * message must have the type `type` (INIT or OPEN) and `size` bytes. */
static void
expect (Fixture * fixture, guint64 time, MmtpType type, gsize size)
{
  MmtpMessage message = { 0 };
  guint8 bytes[MAX_SIZE];
  guint path;

  fixture->paths.now = START + time * MS - 1;
  fail_unless_equals_uint64 (mmtp_handshake_write (&fixture->handshake, bytes,
          sizeof (bytes), &path), 0);
  fixture->paths.now = START + time * MS;
  fail_unless_equals_uint64 (mmtp_handshake_write (&fixture->handshake, bytes,
          sizeof (bytes), &path), size);
  fail_unless_equals_int (mmtp_packet_parse_header (&message, bytes, size,
          MMTP_SENDER), MMTP_VALID);
  fail_unless_equals_int (message.type, type);
  /* The call above has written the last message that is due. After an INIT, the
   * test must call mmtp_handshake_write () once more. This further call writes
   * no message. It only makes the handshake wait for an answer. */
  mmtp_handshake_write (&fixture->handshake, bytes, sizeof (bytes), &path);
}

static void
expect_init (Fixture * fixture, guint64 time)
{
  expect (fixture, time, MMTP_INIT, MMTP_INIT_SIZE);
}

static MmtpRefusal
answer (Fixture * fixture, guint64 time, MmtpMessage * message, guint8 * nonce)
{
  guint8 bytes[MAX_SIZE];
  gsize size;

  memcpy (nonce, fixture->handshake.nonce_s, MMTP_NONCE_SIZE);
  fixture->paths.now = START + time * MS;
  size = mmtp_packet_write (message, bytes, sizeof (bytes));
  return mmtp_handshake_input (&fixture->handshake, fixture->path, message,
      bytes, size);
}

/* The sender gets the message COOKIE at `time`, and must answer it immediately
 * with the message OPEN. */
static void
take_cookie (Fixture * fixture, guint64 time)
{
  MmtpMessage message = { MMTP_COOKIE };
  guint8 bytes[MAX_SIZE];
  guint path;

  fail_unless_equals_int (answer (fixture, time, &message,
          message.init.nonce), MMTP_VALID);
  fail_unless_equals_uint64 (mmtp_handshake_write (&fixture->handshake, bytes,
          sizeof (bytes), &path), OPEN_SIZE);
}

/* The handshake has accepted a first COOKIE, the answer to an INIT. At `time`
 * another COOKIE arrives, which answers a repeated INIT. The handshake must
 * refuse this second COOKIE, but learns from it that the repeated INIT was not
 * lost. */
static void
take_further_cookie (Fixture * fixture, guint64 time)
{
  MmtpMessage message = { MMTP_COOKIE };

  fail_unless_equals_int (answer (fixture, time, &message,
          message.init.nonce), MMTP_REFUSED_SESSION);
}

static guint64
take_accept (Fixture * fixture, guint64 time, gboolean * is_minimum)
{
  MmtpMessage message = { MMTP_ACCEPT };
  MmtpFirstRate first;

  fail_unless_equals_int (answer (fixture, time, &message,
          message.accept.nonce), MMTP_VALID);
  fail_unless_equals_int (fixture->handshake.phase, MMTP_PHASE_SESSION);
  mmtp_handshake_guess_rate (&fixture->handshake, fixture->path, &first);
  fail_unless ((first.time > 0) == (first.rate > 0));
  *is_minimum = first.is_minimum;
  return first.rate;
}

/* Begins a handshake. The sender sends `n` INITs, and the first COOKIE arrives
 * `cookie` ms after the first of them. */
static void
begin (Fixture * fixture, guint n, guint64 cookie)
{
  static const guint64 times[] = { 0, 250, 750 };
  guint i;

  fixture_init (fixture);
  for (i = 0; i < n; i++)
    expect_init (fixture, times[i]);
  take_cookie (fixture, cookie);
}

/* The OPEN is larger than the INIT, because the OPEN is padded. The round trip
 * of the OPEN (601 ms) is therefore 1 ms longer than that of the INIT (600 ms).
 * From this difference, the sender must compute a rate of 9 to 10 Mbit/s.
 * `is_minimum` must be FALSE: this rate is not only a lower bound. */
GST_START_TEST (long_round_trip_gives_a_certain_estimate)
{
  gboolean is_minimum;
  Fixture fixture;
  guint64 rate;

  begin (&fixture, 2, 600);
  fail_unless_equals_uint64 (fixture.handshake.at, START + 1500 * MS);
  take_further_cookie (&fixture, 850);
  rate = take_accept (&fixture, 1201, &is_minimum);
  fail_unless (rate > 9000000);
  fail_unless (rate < 10000000);
  fail_if (is_minimum);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Two INITs were sent, and only one COOKIE has arrived. This COOKIE may answer
 * the first INIT or the second one, so the sender does not know the round trip.
 * Its estimate of the rate must be only CAUTIOUS_RATE. */
GST_START_TEST (missing_cookie_gives_a_cautious_estimate)
{
  gboolean is_minimum;
  Fixture fixture;

  begin (&fixture, 2, 600);
  fail_unless_equals_uint64 (take_accept (&fixture, 1201, &is_minimum),
      CAUTIOUS_RATE);
  fail_unless (is_minimum);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The sender sends three INITs, at 0, 250 and 750 ms. The first INIT is lost.
 * The COOKIE that answers the second INIT arrives at 850 ms, 600 ms after this
 * INIT.
 *
 * The sender does not know which INIT this COOKIE answers. If the COOKIE
 * answered the first INIT, the round trip would be 850 ms. But the OPEN has a
 * round trip of only 601 ms. From the difference between these two round trips,
 * the sender must conclude that the first INIT was lost. It must then estimate
 * the rate. It must also not compare the COOKIEs with the first two INITs, which
 * would show a jitter of 350 ms. */
GST_START_TEST (lost_init_is_recognized)
{
  gboolean is_minimum;
  Fixture fixture;
  guint64 rate;

  begin (&fixture, 3, 850);
  take_further_cookie (&fixture, 1350);
  rate = take_accept (&fixture, 1451, &is_minimum);
  fail_unless (rate > 9000000);
  fail_unless (rate < 10000000);
  fail_if (is_minimum);
  fail_unless (fixture.paths.offset == -301 * (gint64) MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The path has jitter. The sender sends a first INIT at 0 ms and a second INIT
 * at 250 ms. The COOKIE that answers the first INIT arrives at 265 ms, so the
 * round trip of the first INIT is 265 ms. Then the sender sends the OPEN.
 * Because of jitter, the round trip of the OPEN is only 255 ms.
 *
 * An OPEN is longer than an INIT, so its round trip should not be shorter. If
 * the time from the first INIT to the COOKIE is much longer than the round trip
 * of the OPEN, the sender concludes that the first INIT was lost, and that the
 * COOKIE answers the second INIT. Here this time is only 10 ms longer. The
 * sender must not conclude that the first INIT was lost. */
GST_START_TEST (jitter_is_not_mistaken_for_a_lost_init)
{
  gboolean is_minimum;
  Fixture fixture;

  begin (&fixture, 2, 265);
  fail_unless_equals_uint64 (take_accept (&fixture, 520, &is_minimum), 0);
  fail_unless_equals_uint64 (fixture.path->stats.round_trip, 255 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Three INITs are sent, but only one COOKIE arrives. The first INIT was lost.
 * The other two INITs were answered, but one of these two answers was lost. The
 * sender cannot know whether the COOKIE that arrived is the answer to the
 * second or to the third INIT. It must therefore not estimate the rate. */
GST_START_TEST (two_lost_messages_give_no_estimate)
{
  gboolean is_minimum;
  Fixture fixture;

  begin (&fixture, 3, 850);
  fail_unless_equals_uint64 (take_accept (&fixture, 1451, &is_minimum), 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (lost_open_does_not_count_as_delay)
{
  MmtpSenderPathStats *stats;
  gboolean is_minimum;
  Fixture fixture;

  begin (&fixture, 2, 600);
  take_further_cookie (&fixture, 850);
  expect (&fixture, 1500, MMTP_OPEN, SHORT_OPEN_SIZE);
  fail_unless_equals_uint64 (take_accept (&fixture, 2101, &is_minimum), 0);
  stats = &fixture.path->stats;
  fail_unless_equals_uint64 (stats->round_trip, 600 * MS);
  fail_unless (fixture.paths.offset == -301 * (gint64) MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Begins a handshake on a link of 10 kbit/s with a delay of 100 ms. The COOKIE
 * that answers the second INIT arrives at `cookie` ms. The ACCEPT does not
 * arrive within 1.5 times the round trip of the INIT, so the sender repeats the
 * OPEN. The ACCEPT then arrives so soon that it cannot be an answer to the
 * second OPEN. The sender must estimate the rate of the link from the first
 * OPEN. */
static void
check_slow_path (guint64 cookie)
{
  gboolean is_minimum;
  Fixture fixture;
  guint64 rate;

  begin (&fixture, 2, 350);
  take_further_cookie (&fixture, cookie);
  expect (&fixture, 350 + 525, MMTP_OPEN, SHORT_OPEN_SIZE);
  rate = take_accept (&fixture, 350 + 1266, &is_minimum);
  fail_unless (rate > 9000);
  fail_unless (rate < 11000);
  fail_if (is_minimum);
  fixture_clear (&fixture);
}

GST_START_TEST (slow_path_gives_an_estimate_despite_a_repeated_open)
{
  check_slow_path (600);
}

GST_END_TEST;

/* On a link of 30 kbit/s with a delay of 10 ms, the round trip of the INIT is
 * 69 ms. The sender sends the OPEN, and sends a second OPEN 250 ms later. The
 * ACCEPT arrives 125 ms after the second OPEN. If the ACCEPT answered the
 * second OPEN, it would arrive after at most 1.5 times the round trip of the
 * INIT. But 125 ms are 1.8 times this round trip. The sender must recognize
 * that the ACCEPT answers the first OPEN. */
GST_START_TEST (answer_to_the_first_open_is_recognized)
{
  gboolean is_minimum;
  Fixture fixture;
  guint64 rate;

  begin (&fixture, 1, 69);
  expect (&fixture, 69 + 250, MMTP_OPEN, SHORT_OPEN_SIZE);
  rate = take_accept (&fixture, 69 + 375, &is_minimum);
  fail_unless (rate > 28000);
  fail_unless (rate < 32000);
  fail_if (is_minimum);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Sends two INITs, whose round trips are 600 ms and 600 ms plus `jitter`. The
 * round trip of the OPEN is 600 ms plus `more`. Checks whether the sender finds
 * that it cannot estimate the rate because of jitter. */
static void
check_jitter (guint64 jitter, guint64 more, gboolean has_jitter)
{
  gboolean is_minimum;
  Fixture fixture;
  guint64 rate;

  begin (&fixture, 2, 600);
  take_further_cookie (&fixture, 850 + jitter);
  rate = take_accept (&fixture, 1200 + more, &is_minimum);
  fail_unless_equals_int (rate == 0, has_jitter);
  fail_unless_equals_int (is_minimum, has_jitter);
  fixture_clear (&fixture);
}

/* The difference between the round trips of OPEN and INIT must be more than four
 * times the jitter. */
GST_START_TEST (jitter_between_inits_prevents_an_estimate)
{
  check_jitter (10, 0, TRUE);
  check_jitter (10, 1, TRUE);
  check_jitter (10, 40, TRUE);
  check_jitter (10, 41, FALSE);
  check_jitter (0, 1, FALSE);
}

GST_END_TEST;

/* The OPEN is longer than the INIT, but its round trip is 20 ms shorter. The
 * path therefore has a jitter of at least 20 ms. */
GST_START_TEST (fast_open_prevents_an_estimate)
{
  gboolean is_minimum;
  Fixture fixture;

  begin (&fixture, 1, 100);
  fail_unless_equals_uint64 (take_accept (&fixture, 180, &is_minimum), 0);
  fail_unless (is_minimum);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The round trip of the OPEN is 916 ms longer than that of the INIT. A jitter of
 * 50 ms must not prevent an estimate. */
GST_START_TEST (little_jitter_leaves_the_estimate_certain)
{
  check_slow_path (650);
}

GST_END_TEST;

static Suite *
mmtphandshake_suite (void)
{
  Suite *suite = suite_create ("mmtphandshake");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, long_round_trip_gives_a_certain_estimate);
  tcase_add_test (tc, missing_cookie_gives_a_cautious_estimate);
  tcase_add_test (tc, lost_init_is_recognized);
  tcase_add_test (tc, jitter_is_not_mistaken_for_a_lost_init);
  tcase_add_test (tc, two_lost_messages_give_no_estimate);
  tcase_add_test (tc, lost_open_does_not_count_as_delay);
  tcase_add_test (tc, slow_path_gives_an_estimate_despite_a_repeated_open);
  tcase_add_test (tc, answer_to_the_first_open_is_recognized);
  tcase_add_test (tc, jitter_between_inits_prevents_an_estimate);
  tcase_add_test (tc, fast_open_prevents_an_estimate);
  tcase_add_test (tc, little_jitter_leaves_the_estimate_certain);
  return suite;
}

GST_CHECK_MAIN (mmtphandshake);
