/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the sender's side of JOIN, CHALLENGE and RESPONSE. The expected
 * times follow from docs/wire-mmtp.md, section 3, JOIN. The test acts as the
 * receiver. */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "mmtpjoins.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define START (10000 * MS)
#define OVERHEAD 28

typedef struct
{
  MmtpPaths paths;
  MmtpEntropy entropy;
  MmtpJoins joins;
  MmtpPath *path;
  guint n_joins, n_responses;
} Fixture;

static void
fixture_init (Fixture * fixture)
{
  static const guint8 bytes[MMTP_ENTROPY_SIZE] = "any bytes";
  const MmtpPathConfig config = { "a", 1372, OVERHEAD, 0, 0 };

  memset (fixture, 0, sizeof (*fixture));
  fixture->paths.now = START;
  mmtp_entropy_init (&fixture->entropy, bytes);
  fixture->path = mmtp_path_new (0, "a");
  mmtp_path_open (fixture->path, START, &config);
  mmtp_joins_init (&fixture->joins, &fixture->paths, &fixture->entropy);
  mmtp_joins_begin (&fixture->joins, fixture->path);
}

/* Advances the time to `ms` ms after START, and counts the messages that are
 * sent. */
static void
run (Fixture * fixture, guint64 ms)
{
  for (; fixture->paths.now <= START + ms * MS; fixture->paths.now += MS) {
    MmtpMessage message = { 0 };

    if (!mmtp_joins_poll (&fixture->joins, fixture->path, &message))
      continue;
    fixture->n_joins += message.type == MMTP_JOIN;
    fixture->n_responses += message.type == MMTP_RESPONSE;
    mmtp_path_sent (fixture->path, fixture->paths.now, 80, MMTP_NO_STREAM,
        FALSE);
  }
}

/* The CHALLENGE that answers the last JOIN arrives. */
static void
take_challenge (Fixture * fixture)
{
  const MmtpJoinState *state = &fixture->joins.all[0];
  const MmtpChallenge challenge = { state->nonce + state->n_sent - 1, 5 };

  fail_unless_equals_int (mmtp_joins_take_challenge (&fixture->joins,
          fixture->path, &challenge), MMTP_VALID);
}

/* The receiver answers the first JOIN, which is sent at 0 ms, with a CHALLENGE.
 * The CHALLENGE arrives after a round trip of 100 ms. The sender then sends a
 * RESPONSE, but all RESPONSEs are lost. The RESPONSE must be repeated every 150
 * ms, and must be sent four times in all. Meanwhile, the JOIN must be repeated:
 * at 400 ms, which is 300 ms after the CHALLENGE, and at 800 ms. */
GST_START_TEST (response_is_repeated_three_times)
{
  Fixture fixture;

  fixture_init (&fixture);
  run (&fixture, 100);
  fail_unless_equals_int (fixture.n_joins, 1);
  take_challenge (&fixture);
  run (&fixture, 249);
  fail_unless_equals_int (fixture.n_responses, 1);
  run (&fixture, 252);
  fail_unless_equals_int (fixture.n_responses, 2);
  run (&fixture, 390);
  fail_unless_equals_int (fixture.n_joins, 1);
  run (&fixture, 5000);
  fail_unless_equals_int (fixture.n_responses, 4);
  fail_unless (fixture.n_joins >= 3);
  mmtp_path_free (fixture.path);
}

GST_END_TEST;

/* A report about the JOIN does not show that the RESPONSE has arrived. The
 * RESPONSE has to be repeated until a report about it arrives. */
GST_START_TEST (report_about_a_join_does_not_confirm_a_response)
{
  Fixture fixture;

  fixture_init (&fixture);
  run (&fixture, 100);
  take_challenge (&fixture);
  mmtp_path_settle (fixture.path, fixture.paths.now, 0);
  mmtp_joins_confirm (&fixture.joins, fixture.path);
  run (&fixture, 110);
  fail_unless_equals_int (fixture.n_responses, 1);
  mmtp_joins_confirm (&fixture.joins, fixture.path);
  run (&fixture, 260);
  fail_unless_equals_int (fixture.n_responses, 2);

  mmtp_path_settle (fixture.path, fixture.paths.now, 2);
  mmtp_joins_confirm (&fixture.joins, fixture.path);
  fail_unless (mmtp_joins_next_wakeup (&fixture.joins, fixture.path) ==
      MMTP_NEVER);
  run (&fixture, 5000);
  fail_unless_equals_int (fixture.n_responses, 2);
  fail_unless_equals_int (fixture.n_joins, 1);
  mmtp_path_free (fixture.path);
}

GST_END_TEST;

/* A removed path sends neither a JOIN nor a RESPONSE. It refuses a CHALLENGE
 * that arrives late. */
GST_START_TEST (removed_path_sends_nothing)
{
  MmtpChallenge challenge = { 0, 5 };
  Fixture fixture;

  fixture_init (&fixture);
  run (&fixture, 100);
  challenge.nonce = fixture.joins.all[0].nonce;
  take_challenge (&fixture);
  mmtp_joins_stop (&fixture.joins, fixture.path);
  fail_unless_equals_int (mmtp_joins_take_challenge (&fixture.joins,
          fixture.path, &challenge), MMTP_REFUSED_SESSION);
  run (&fixture, 5000);
  fail_unless_equals_int (fixture.n_responses, 0);
  fail_unless_equals_int (fixture.n_joins, 1);
  mmtp_path_free (fixture.path);
}

GST_END_TEST;

static Suite *
mmtpjoins_suite (void)
{
  Suite *s = suite_create ("mmtpjoins");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, response_is_repeated_three_times);
  tcase_add_test (tc, report_about_a_join_does_not_confirm_a_response);
  tcase_add_test (tc, removed_path_sends_nothing);
  return s;
}

GST_CHECK_MAIN (mmtpjoins);
