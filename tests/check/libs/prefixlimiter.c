/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks in virtual time how many answers PrefixLimiter allows to the hosts of
 * each address prefix. The limits are the constants in prefixlimiter.h. */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "prefixlimiter.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MS G_GUINT64_CONSTANT (1000000)
#define RATE 20000

static PrefixLimiter *limiter;

static void
setup (void)
{
  const guint8 secret[PREFIX_LIMITER_SECRET_SIZE] = { 7 };

  limiter = prefix_limiter_new (secret);
}

static void
teardown (void)
{
  prefix_limiter_free (limiter);
}

static PrefixLimiterHost
make_host (guint32 number)
{
  PrefixLimiterHost host = { {number >> 24, number >> 16, number >> 8, number},
  4, 3
  };

  return host;
}

static guint
take_many (guint32 number, guint64 now, guint n, guint rate)
{
  const PrefixLimiterHost host = make_host (number);
  guint taken = 0;

  while (n-- > 0)
    taken += prefix_limiter_take (limiter, now, &host, rate);
  return taken;
}

GST_START_TEST (prefix_of_ipv4_is_24_bits_and_of_ipv6_48)
{
  const guint8 ipv4[] = { 192, 0, 2, 1 };
  const guint8 ipv6[16] = { 0x20, 0x01, 0x0d, 0xb8 };
  const guint8 mapped[16] =
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1 };

  assert_equals_int (prefix_limiter_get_prefix_size (ipv4, 4), 3);
  assert_equals_int (prefix_limiter_get_prefix_size (ipv6, 16), 6);
  assert_equals_int (prefix_limiter_get_prefix_size (mapped, 16), 15);
}

GST_END_TEST;

/* All hosts of an address prefix share one budget of answers: 100 answers in
 * one burst, then one answer every 10 ms. */
GST_START_TEST (prefix_has_a_budget)
{
  assert_equals_int (take_many (0x0a000001, SECOND, 150, RATE), 100);
  assert_equals_int (take_many (0x0a0000fe, SECOND, 10, RATE), 0);
  assert_equals_int (take_many (0x0a000002, SECOND + 10 * MS, 10, RATE), 1);
  assert_equals_int (take_many (0x0a000002, SECOND + 60 * MS, 10, RATE), 5);
  assert_equals_int (take_many (0x0a000002, 100 * SECOND, 150, RATE), 100);
}

GST_END_TEST;

GST_START_TEST (flood_of_one_prefix_takes_nothing_of_others)
{
  guint64 now;
  guint i, taken = 0;

  for (i = 0, now = SECOND; i < 100000; i++, now += MS / 10)
    taken += take_many (0x0a000000 | i % 256, now, 1, RATE);
  fail_unless (taken <= 100 + 10 * 100, "%u answers", taken);
  for (i = 0; i < 1000; i++)
    assert_equals_int (take_many (0xc0000000 + i * 256, now, 1, RATE), 1);
}

GST_END_TEST;

/* A flood sends 10,000 requests per second, each from a different prefix. In
 * addition, every 10 ms a request arrives from a prefix that does not belong to
 * the flood. Each of these additional requests must be answered. */
GST_START_TEST (flood_of_random_prefixes_takes_nothing_of_others)
{
  guint32 state = 1;
  guint64 now;
  guint i;

  for (i = 0, now = SECOND; i < 100000; i++, now += MS / 10) {
    state = state * 1664525 + 1013904223;
    take_many (state, now, 1, RATE);
    if (i % 100 == 0)
      assert_equals_int (take_many (0xc0000000 + i * 256, now, 1, RATE), 1);
  }
}

GST_END_TEST;

/* All prefixes together have a budget of 1000 answers per second. A burst of
 * 1000 requests must get only 100 answers, a tenth of the budget. During the
 * next second, 5000 requests must get 1000 answers. */
GST_START_TEST (all_together_have_a_limit)
{
  guint i, taken = 0;

  for (i = 0; i < 1000; i++)
    taken += take_many (i << 8, SECOND, 1, 1000);
  assert_equals_int (taken, 100);
  for (i = 0; i < 5000; i++)
    taken += take_many (i << 8, SECOND + (i + 1) * MS / 5, 1, 1000);
  assert_equals_int (taken, 100 + 1000);
}

GST_END_TEST;

GST_START_TEST (known_host_has_a_reserve)
{
  const PrefixLimiterHost known = make_host (0x0a000005);

  prefix_limiter_remember (limiter, &known);
  assert_equals_int (take_many (0x0a000001, SECOND, 1000, RATE), 100);
  assert_equals_int (take_many (0x0a000005, SECOND, 20, RATE), 10);
  assert_equals_int (take_many (0x0a000005, 2 * SECOND, 1, RATE), 1);
  /* A host that has completed a handshake has a reserve, which is an additional
   * budget of answers. It must get an answer even if the limit for all hosts
   * together is reached. */
  take_many (0x0b000001, 3 * SECOND, 1, 1);
  assert_equals_int (take_many (0x0b000001, 3 * SECOND, 1, 1), 0);
  assert_equals_int (take_many (0x0a000005, 3 * SECOND, 1, 1), 1);
}

GST_END_TEST;

GST_START_TEST (oldest_known_host_makes_room)
{
  PrefixLimiterHost host;
  guint i;

  for (i = 0; i <= PREFIX_LIMITER_HOSTS; i++) {
    host = make_host (i << 8);
    prefix_limiter_remember (limiter, &host);
    /* The limiter limits how many answers are sent to hosts. It stores a
     * limited number of hosts that have completed a handshake. Each of them has
     * a reserve, which is an additional budget of answers. Each iteration
     * stores host `i`, and then stores host 0 again, so that host 1 becomes the
     * oldest host. In the last iteration the limiter is full, so it must remove
     * host 1. After the loop, every host except host 1 must have a reserve. */
    host = make_host (0);
    prefix_limiter_remember (limiter, &host);
  }
  for (i = 0; i <= PREFIX_LIMITER_HOSTS; i++) {
    host = make_host (i << 8);
    assert_equals_int (prefix_limiter_take_reserve (limiter, SECOND, &host),
        i != 1);
  }
}

GST_END_TEST;

static Suite *
prefixlimiter_suite (void)
{
  Suite *suite = suite_create ("prefixlimiter");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, prefix_of_ipv4_is_24_bits_and_of_ipv6_48);
  tcase_add_test (tcase, prefix_has_a_budget);
  tcase_add_test (tcase, flood_of_one_prefix_takes_nothing_of_others);
  tcase_add_test (tcase, flood_of_random_prefixes_takes_nothing_of_others);
  tcase_add_test (tcase, all_together_have_a_limit);
  tcase_add_test (tcase, known_host_has_a_reserve);
  tcase_add_test (tcase, oldest_known_host_makes_room);
  return suite;
}

GST_CHECK_MAIN (prefixlimiter);
