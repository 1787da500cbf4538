/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of LinkDialUp, the state machine of a telephone call over which packets
 * are sent. They check when the call is dialled, when it is connected, and what
 * ends it. In these tests, each phase of the set-up of a call has a fixed
 * duration.
 */

#include <gst/check/gstcheck.h>

#include "linkdialup.h"

#define SECOND LINK_SECOND
#define SET_UP (1 * SECOND + 2 * SECOND + 4 * SECOND)
#define DETECTION (5 * SECOND)
#define SEED 1

static LinkDialUpConfig
make_config (void)
{
  LinkDialUpConfig config = { TRUE, };

  config.command_min = config.command_max = 1 * SECOND;
  config.connect_min = config.connect_max = 2 * SECOND;
  config.handshake_min = config.handshake_max = 4 * SECOND;
  config.failure_min = config.failure_max = DETECTION;
  return config;
}

static void
expect_change (LinkDialUp * dial_up, LinkCall expected)
{
  LinkCall state;

  fail_unless (link_dial_up_poll_change (dial_up, &state));
  fail_unless_equals_int (state, expected);
  fail_unless_equals_int (link_dial_up_get_state (dial_up), expected);
  fail_if (link_dial_up_poll_change (dial_up, &state));
}

static void
expect_no_change (LinkDialUp * dial_up)
{
  LinkCall state;

  fail_if (link_dial_up_poll_change (dial_up, &state));
}

/* Begins to dial at the time `now`, and advances the time until the call is
 * connected. Returns this time, which is `now` + SET_UP. */
static guint64
make_call (LinkDialUp * dial_up, guint64 now)
{
  link_dial_up_set_used (dial_up, now, TRUE);
  link_dial_up_want (dial_up, now);
  expect_change (dial_up, LINK_CALL_DIALLING);
  fail_unless_equals_uint64 (link_dial_up_next_wakeup (dial_up), now + SET_UP);
  link_dial_up_timeout (dial_up, now + SET_UP);
  expect_change (dial_up, LINK_CALL_CONNECTED);
  return now + SET_UP;
}

GST_START_TEST (a_waiting_packet_dials_once)
{
  LinkDialUpConfig config = make_config ();
  LinkDialUp *dial_up = link_dial_up_new (&config, SEED);
  LinkStats stats = { 0, };

  fail_unless_equals_int (link_dial_up_get_state (dial_up), LINK_CALL_IDLE);
  fail_unless_equals_uint64 (link_dial_up_next_wakeup (dial_up), LINK_NEVER);
  expect_no_change (dial_up);
  link_dial_up_want (dial_up, 3 * SECOND);
  expect_change (dial_up, LINK_CALL_DIALLING);
  link_dial_up_want (dial_up, 4 * SECOND);
  expect_no_change (dial_up);
  link_dial_up_break (dial_up, 4 * SECOND);
  expect_no_change (dial_up);
  link_dial_up_timeout (dial_up, 3 * SECOND + SET_UP);
  expect_change (dial_up, LINK_CALL_CONNECTED);
  fail_unless_equals_uint64 (link_dial_up_next_wakeup (dial_up), LINK_NEVER);

  link_dial_up_get_stats (dial_up, &stats);
  fail_unless_equals_uint64 (stats.calls, 1);
  fail_unless_equals_uint64 (stats.calls_failed, 0);
  fail_unless_equals_uint64 (stats.setup_time, SET_UP);
  link_dial_up_free (dial_up);
}

GST_END_TEST;

GST_START_TEST (a_call_that_fails_is_known_later)
{
  LinkDialUpConfig config = make_config ();
  LinkDialUp *dial_up;
  LinkStats stats = { 0, };

  config.failure = 1;
  dial_up = link_dial_up_new (&config, SEED);
  link_dial_up_want (dial_up, 0);
  expect_change (dial_up, LINK_CALL_DIALLING);
  fail_unless_equals_uint64 (link_dial_up_next_wakeup (dial_up), DETECTION);
  link_dial_up_timeout (dial_up, DETECTION);
  expect_change (dial_up, LINK_CALL_IDLE);

  link_dial_up_get_stats (dial_up, &stats);
  fail_unless_equals_uint64 (stats.calls_failed, 1);
  fail_unless_equals_uint64 (stats.setup_time, 0);
  link_dial_up_free (dial_up);
}

GST_END_TEST;

GST_START_TEST (an_unused_call_is_hung_up)
{
  LinkDialUpConfig config = make_config ();
  LinkDialUp *dial_up;
  LinkStats stats = { 0, };
  guint64 now;

  config.hang_up_after = 10 * SECOND;
  dial_up = link_dial_up_new (&config, SEED);
  now = make_call (dial_up, 0);
  fail_unless_equals_uint64 (link_dial_up_next_wakeup (dial_up), LINK_NEVER);
  link_dial_up_set_used (dial_up, now + SECOND, FALSE);
  fail_unless_equals_uint64 (link_dial_up_next_wakeup (dial_up),
      now + 11 * SECOND);
  link_dial_up_set_used (dial_up, now + 2 * SECOND, TRUE);
  fail_unless_equals_uint64 (link_dial_up_next_wakeup (dial_up), LINK_NEVER);
  link_dial_up_set_used (dial_up, now + 3 * SECOND, FALSE);
  link_dial_up_timeout (dial_up, now + 13 * SECOND);
  expect_change (dial_up, LINK_CALL_IDLE);

  link_dial_up_get_stats (dial_up, &stats);
  fail_unless_equals_uint64 (stats.calls_broken, 0);
  link_dial_up_free (dial_up);
}

GST_END_TEST;

GST_START_TEST (a_broken_call_is_made_again_when_wanted)
{
  LinkDialUpConfig config = make_config ();
  LinkDialUp *dial_up = link_dial_up_new (&config, SEED);
  LinkStats stats = { 0, };
  guint64 now = make_call (dial_up, 0);

  link_dial_up_break (dial_up, now + SECOND);
  expect_change (dial_up, LINK_CALL_IDLE);
  fail_unless_equals_uint64 (link_dial_up_next_wakeup (dial_up), LINK_NEVER);
  make_call (dial_up, now + 2 * SECOND);

  link_dial_up_get_stats (dial_up, &stats);
  fail_unless_equals_uint64 (stats.calls, 2);
  fail_unless_equals_uint64 (stats.calls_broken, 1);
  link_dial_up_free (dial_up);
}

GST_END_TEST;

static Suite *
linkdialup_suite (void)
{
  Suite *s = suite_create ("linkdialup");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, a_waiting_packet_dials_once);
  tcase_add_test (tc, a_call_that_fails_is_known_later);
  tcase_add_test (tc, an_unused_call_is_hung_up);
  tcase_add_test (tc, a_broken_call_is_made_again_when_wanted);
  return s;
}

GST_CHECK_MAIN (linkdialup);
