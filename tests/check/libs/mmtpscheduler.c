/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the schedulers, which choose the path for a packet. The choices of
 * two schedulers are compared with their specifications:
 * - `mmtp`: section 4.4 of Magalhães and Kravets
 * - `arrival`: the description of this scheduler in mmtpscheduler.h */

#include <gst/check/gstcheck.h>

#include "mmtpscheduler.h"

#define MS G_GUINT64_CONSTANT (1000000)

/* Two candidate paths for a packet, a radio link and an infrared link. Their
 * delays are the minimum delays of RangeLAN and infrared in table 1 of the MMTP
 * paper. */
#define RADIO { TRUE, 0, 176 * MS, 0 }
#define INFRARED { TRUE, 0, 315 * MS, 0 }

static guint
choose_by (MmtpSchedulerType type, const MmtpCandidate * candidates, guint n,
    guint64 now, guint64 deadline, guint * turn)
{
  const MmtpSchedulerClass *scheduler = mmtp_schedulers[type];
  guint chosen = scheduler->choose (turn, candidates, n, now, deadline);

  g_assert (scheduler->state_size <= sizeof (*turn));
  if (chosen != MMTP_NO_CANDIDATE && scheduler->sent)
    scheduler->sent (turn, candidates, n, chosen, 1000);
  return chosen;
}

static guint
choose (const MmtpCandidate * candidates, guint n, guint64 now,
    guint64 deadline)
{
  guint turn = 0;

  return choose_by (MMTP_SCHEDULER_MMTP, candidates, n, now, deadline, &turn);
}

GST_START_TEST (waits_without_a_token)
{
  MmtpCandidate candidates[] = { RADIO, INFRARED };

  candidates[0].token = candidates[1].token = 11 * MS;
  fail_unless_equals_int (choose (candidates, 2, 10 * MS, 1000 * MS),
      MMTP_NO_CANDIDATE);
  fail_unless_equals_int (choose (candidates, 2, 11 * MS, 1000 * MS), 1);
  fail_unless_equals_int (choose (candidates, 0, 11 * MS, 1000 * MS),
      MMTP_NO_CANDIDATE);
}

GST_END_TEST;

GST_START_TEST (takes_the_only_token_when_in_time)
{
  MmtpCandidate candidates[] = { RADIO, INFRARED };

  candidates[0].token = 50 * MS;
  fail_unless_equals_int (choose (candidates, 2, 0, 315 * MS), 1);
  fail_unless_equals_int (choose (candidates, 2, 0, 315 * MS - 1),
      MMTP_NO_CANDIDATE);
}

GST_END_TEST;

GST_START_TEST (prefers_the_maximum_delay_that_is_in_time)
{
  MmtpCandidate candidates[] = { RADIO, INFRARED };

  fail_unless_equals_int (choose (candidates, 2, 0, 1000 * MS), 1);
  fail_unless_equals_int (choose (candidates, 2, 700 * MS, 1000 * MS), 0);
  fail_unless_equals_int (choose (candidates, 2, 824 * MS, 1000 * MS), 0);
  fail_unless_equals_int (choose (candidates, 2, 825 * MS, 1000 * MS),
      MMTP_NO_CANDIDATE);
}

GST_END_TEST;

GST_START_TEST (leaves_out_what_may_not_carry)
{
  MmtpCandidate candidates[] = { RADIO, INFRARED };

  candidates[1].may_carry = FALSE;
  fail_unless_equals_int (choose (candidates, 2, 0, 1000 * MS), 0);
  candidates[0].may_carry = FALSE;
  fail_unless_equals_int (choose (candidates, 2, 0, 1000 * MS),
      MMTP_NO_CANDIDATE);
}

GST_END_TEST;

GST_START_TEST (latest_time_does_not_overflow)
{
  MmtpCandidate candidate = { TRUE, 0, G_MAXUINT64 };

  fail_unless_equals_int (choose (&candidate, 1, 5, 1000 * MS),
      MMTP_NO_CANDIDATE);
  candidate.delay = 10;
  fail_unless_equals_int (choose (&candidate, 1, 5, 9), MMTP_NO_CANDIDATE);
  fail_unless_equals_int (choose (&candidate, 1, G_MAXUINT64 - 10,
          G_MAXUINT64), 0);
}

GST_END_TEST;

GST_START_TEST (takes_equal_turns_among_tokens)
{
  MmtpCandidate candidates[] = { RADIO, INFRARED, RADIO };
  guint turn = 0;
  static const guint order[] = { 0, 1, 2, 0 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (order); i++)
    fail_unless_equals_int (choose_by (MMTP_SCHEDULER_EQUAL_TURNS,
            candidates, 3, 0, 0, &turn), order[i]);
  candidates[1].token = 1;
  fail_unless_equals_int (choose_by (MMTP_SCHEDULER_EQUAL_TURNS,
          candidates, 3, 0, 0, &turn), 2);
  candidates[0].token = candidates[2].token = 1;
  fail_unless_equals_int (choose_by (MMTP_SCHEDULER_EQUAL_TURNS,
          candidates, 3, 0, 0, &turn), MMTP_NO_CANDIDATE);
}

GST_END_TEST;

GST_START_TEST (takes_the_lowest_delay_first)
{
  MmtpCandidate candidates[] = { INFRARED, RADIO };
  guint turn = 0;

  fail_unless_equals_int (choose_by (MMTP_SCHEDULER_LOWEST_DELAY,
          candidates, 2, 0, 1000 * MS, &turn), 1);
  candidates[1].token = 1;
  fail_unless_equals_int (choose_by (MMTP_SCHEDULER_LOWEST_DELAY,
          candidates, 2, 0, 1000 * MS, &turn), 0);
}

GST_END_TEST;

static guint
choose_by_arrival (const MmtpCandidate * candidates, guint n, guint64 now,
    guint64 deadline)
{
  guint turn = 0;

  return choose_by (MMTP_SCHEDULER_ARRIVAL, candidates, n, now,
      deadline, &turn);
}

/* Checks that the scheduler `arrival` chooses infrared, the slower path, only if
 * at least `limit` ms are left until the deadline. */
static void
check_limit (gboolean is_configured, guint64 limit)
{
  MmtpCandidate candidates[] = { RADIO, INFRARED };
  const guint64 end = 1000 * MS, left = limit * MS;

  candidates[0].is_configured = candidates[1].is_configured = is_configured;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, end), 1);
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, left), 1);
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, left - MS), 0);
  fail_unless_equals_int (choose_by_arrival (candidates, 2, end - left, end),
      1);
  fail_unless_equals_int (choose_by_arrival (candidates, 2, end - left + MS,
          end), 0);
}

/* The delay of infrared is 315 ms. It may be at most 40 % of the time until the
 * deadline, so at least 787.5 ms must be left. */
GST_START_TEST (arrival_keeps_the_rule_of_the_paper_with_time_to_spare)
{
  check_limit (FALSE, 788);
}

GST_END_TEST;

/* If the rates of the paths are configured, the delay of infrared, 315 ms, may
 * take three quarters of the time until the deadline, so at least 420 ms must be
 * left. */
GST_START_TEST (arrival_trusts_paths_with_configured_rates_more)
{
  check_limit (TRUE, 420);
}

GST_END_TEST;

/* A path is in doubt if a message on it is overdue. The scheduler `arrival`
 * must choose such a path only if no other path is certain to deliver the
 * packet in time. The scheduler `mmtp` uses the rule of the paper, which
 * ignores whether a path is in doubt. */
GST_START_TEST (arrival_does_not_prefer_a_path_in_doubt)
{
  MmtpCandidate candidates[] = { RADIO, INFRARED };

  candidates[1].is_doubtful = TRUE;
  fail_unless_equals_int (choose (candidates, 2, 0, 1000 * MS), 1);
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, 1000 * MS), 0);
  candidates[0].may_carry = FALSE;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, 1000 * MS), 1);
}

GST_END_TEST;

/* The radio, the quickest path, can easily carry the stream alone. The scheduler
 * `arrival` must then choose it although infrared would be in time. It chooses
 * infrared if the radio can send only much later, or if only infrared can carry
 * the stream alone. */
GST_START_TEST (arrival_is_quick_if_the_quickest_path_is_sufficient)
{
  MmtpCandidate candidates[] = { RADIO, INFRARED };

  candidates[0].is_sufficient = TRUE;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, 1000 * MS), 0);
  candidates[0].token = 1000 * MS;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, 1000 * MS), 1);
  candidates[0].is_sufficient = FALSE;
  candidates[1].is_sufficient = TRUE;
  candidates[0].token = 0;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, 1000 * MS), 1);
}

GST_END_TEST;

/* The packet can be sent on two paths, a radio link and an infrared link. Its
 * deadline is at 300 ms, and it would miss the deadline on both paths. The
 * scheduler must choose the path on which the packet arrives first. By
 * infrared, the packet would be sent now (at 0 ms) and arrive at 315 ms.
 *
 * The test has two cases:
 * - The radio can send only at 138 ms. By radio, the packet would arrive at 314
 *   ms, which is earlier than by infrared. The scheduler must wait for the
 *   radio.
 * - The radio can send only at 140 ms. By radio, the packet would arrive at 316
 *   ms, which is later than by infrared. The scheduler must choose infrared. */
GST_START_TEST (arrival_waits_for_the_path_that_is_first)
{
  MmtpCandidate candidates[] = { RADIO, INFRARED };

  candidates[0].token = 138 * MS;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, 300 * MS),
      MMTP_NO_CANDIDATE);
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 138 * MS,
          300 * MS), 0);
  candidates[0].token = 140 * MS;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, 300 * MS), 1);
  /* A packet can be sent at once by infrared, and would then arrive at 315 ms.
   * The other path is a radio link. It is free only at 138 ms, and then needs
   * 176 ms for the packet. By radio, the packet would therefore arrive at 314
   * ms plus the delay by the backlog of the radio.
   * - If the backlog takes 1 ms, the packet arrives at 315 ms by radio, too.
   *   The scheduler must then still wait for the radio.
   * - If the backlog takes 2 ms, infrared is faster, and the scheduler must
   *   choose infrared. */
  candidates[0].token = 138 * MS;
  candidates[0].backlog = 1 * MS;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, 300 * MS),
      MMTP_NO_CANDIDATE);
  candidates[0].backlog = 2 * MS;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, 300 * MS), 1);
  candidates[1].may_carry = FALSE;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 0, 300 * MS),
      MMTP_NO_CANDIDATE);
  candidates[0].may_carry = FALSE;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 140 * MS,
          300 * MS), MMTP_NO_CANDIDATE);
}

GST_END_TEST;

/* The delays are so high that an arrival time can exceed G_MAXUINT64. A path
 * with such an arrival time must not be chosen. (The packet is late on every
 * path, but this does not matter here: the caller handles late packets, and not
 * the scheduler.) */
GST_START_TEST (arrival_time_does_not_overflow)
{
  MmtpCandidate candidates[] = { RADIO, INFRARED };

  candidates[0].delay = candidates[1].delay = G_MAXUINT64;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 10 * MS, 0),
      MMTP_NO_CANDIDATE);
  candidates[1].delay = G_MAXUINT64 - 20 * MS;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 10 * MS, 0), 1);
  candidates[1].token = G_MAXUINT64;
  fail_unless_equals_int (choose_by_arrival (candidates, 2, 10 * MS, 0),
      MMTP_NO_CANDIDATE);
}

GST_END_TEST;

/* The scheduler `equal-turns` uses the paths in turn. It is asked twice for a
 * path, but no packet is sent in between, for example because the packet does
 * not fit into the path. It must then choose the same path again. When a packet
 * has been sent, it must choose the next path. */
GST_START_TEST (turn_ends_when_a_packet_goes)
{
  const MmtpSchedulerClass *scheduler =
      mmtp_schedulers[MMTP_SCHEDULER_EQUAL_TURNS];
  MmtpCandidate candidates[] = { RADIO, INFRARED };
  guint turn = 0;

  fail_unless_equals_int (scheduler->choose (&turn, candidates, 2, 0, 0), 0);
  fail_unless_equals_int (scheduler->choose (&turn, candidates, 2, 0, 0), 0);
  scheduler->sent (&turn, candidates, 2, 0, 1000);
  fail_unless_equals_int (scheduler->choose (&turn, candidates, 2, 0, 0), 1);
}

GST_END_TEST;

/* Returns the number of schedulers. The tests below that use __i__ run once for
 * each scheduler. */
static guint
count_schedulers (void)
{
  guint n = 0;

  while (mmtp_schedulers[n])
    n++;
  return n;
}

GST_START_TEST (nick_is_unique_and_has_a_description)
{
  gint i;

  fail_unless (*mmtp_schedulers[__i__]->description);
  for (i = 0; i < __i__; i++)
    fail_if (g_str_equal (mmtp_schedulers[i]->nick,
            mmtp_schedulers[__i__]->nick));
}

GST_END_TEST;

GST_START_TEST (table_has_the_schedulers_that_the_code_names)
{
  fail_unless (count_schedulers () > MMTP_SCHEDULER_ARRIVAL);
}

GST_END_TEST;

GST_START_TEST (waits_without_paths)
{
  const MmtpSchedulerClass *scheduler = mmtp_schedulers[__i__];
  gpointer state = g_malloc0 (scheduler->state_size);

  fail_unless_equals_int (scheduler->choose (state, NULL, 0, 0, 1000 * MS),
      MMTP_NO_CANDIDATE);
  g_free (state);
}

GST_END_TEST;

/* Tests every scheduler with random paths. The number of paths grows during the
 * test, and in each step one random path gets new properties. The scheduler
 * must choose only a path whose `may_carry` is TRUE and whose `token`, the
 * earliest time for the next packet, has come. */
GST_START_TEST (chooses_only_what_may_carry_and_has_a_token)
{
  const MmtpSchedulerClass *scheduler = mmtp_schedulers[__i__];
  gpointer state = g_malloc0 (scheduler->state_size);
  GRand *random = g_rand_new_with_seed (1);
  MmtpCandidate candidates[MMTP_MAX_PATHS] = { {FALSE} };
  guint round, n_sent = 0;

  for (round = 0; round < 20000; round++) {
    guint64 now = round * MS;
    guint n = 1 + round * MMTP_MAX_PATHS / 20000;
    MmtpCandidate *changed = &candidates[g_rand_int_range (random, 0, n)];
    guint chosen;

    changed->may_carry = g_rand_boolean (random);
    changed->token = now - MIN (now, 5 * MS) + g_rand_int_range (random, 0,
        10 * MS);
    changed->delay = g_rand_int_range (random, 0, 1000 * MS);
    changed->backlog = changed->token > now ? 10 * MS : 0;
    changed->is_doubtful = g_rand_boolean (random);
    changed->rate = g_rand_int_range (random, 1, 10000000);
    chosen = scheduler->choose (state, candidates, n, now, now + 500 * MS);
    if (chosen == MMTP_NO_CANDIDATE)
      continue;
    fail_unless (chosen < n);
    fail_unless (candidates[chosen].may_carry);
    fail_unless (candidates[chosen].token <= now);
    n_sent++;
    if (scheduler->sent)
      scheduler->sent (state, candidates, n, chosen, 1000);
  }
  fail_unless (n_sent > 1000);
  g_rand_free (random);
  g_free (state);
}

GST_END_TEST;

static Suite *
mmtpscheduler_suite (void)
{
  Suite *s = suite_create ("mmtpscheduler");
  TCase *tc = tcase_create ("general");
  TCase *each = tcase_create ("each scheduler");
  guint n = count_schedulers ();

  suite_add_tcase (s, tc);
  tcase_add_test (tc, waits_without_a_token);
  tcase_add_test (tc, takes_the_only_token_when_in_time);
  tcase_add_test (tc, prefers_the_maximum_delay_that_is_in_time);
  tcase_add_test (tc, leaves_out_what_may_not_carry);
  tcase_add_test (tc, latest_time_does_not_overflow);
  tcase_add_test (tc, takes_equal_turns_among_tokens);
  tcase_add_test (tc, takes_the_lowest_delay_first);
  tcase_add_test (tc, arrival_keeps_the_rule_of_the_paper_with_time_to_spare);
  tcase_add_test (tc, arrival_trusts_paths_with_configured_rates_more);
  tcase_add_test (tc, arrival_does_not_prefer_a_path_in_doubt);
  tcase_add_test (tc, arrival_is_quick_if_the_quickest_path_is_sufficient);
  tcase_add_test (tc, arrival_waits_for_the_path_that_is_first);
  tcase_add_test (tc, arrival_time_does_not_overflow);
  tcase_add_test (tc, turn_ends_when_a_packet_goes);
  tcase_add_test (tc, table_has_the_schedulers_that_the_code_names);
  suite_add_tcase (s, each);
  tcase_add_loop_test (each, nick_is_unique_and_has_a_description, 0, n);
  tcase_add_loop_test (each, waits_without_paths, 0, n);
  tcase_add_loop_test (each, chooses_only_what_may_carry_and_has_a_token, 0, n);
  return s;
}

GST_CHECK_MAIN (mmtpscheduler);
