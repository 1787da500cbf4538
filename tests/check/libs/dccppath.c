/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which paths are one, and arithmetic on 48-bit numbers. */

#include <gst/check/gstcheck.h>

#include "dccppath.h"
#include "dccpsequence.h"

GST_START_TEST (every_field_makes_another_path)
{
  DccpPath a = { 4, {192, 0, 2, 1}, {192, 0, 2, 2}, 0, 7000, 6511 };
  DccpPath b = a;

  fail_unless (dccp_path_equal (&a, &b));
  b.local[3]++;
  fail_if (dccp_path_equal (&a, &b));
  b = a;
  b.remote[0]++;
  fail_if (dccp_path_equal (&a, &b));
  b = a;
  b.local_udp++;
  fail_if (dccp_path_equal (&a, &b));
  b = a;
  b.remote_udp++;
  fail_if (dccp_path_equal (&a, &b));
  b = a;
  b.scope++;
  fail_if (dccp_path_equal (&a, &b));
  b = a;
  b.address_size = 16;
  fail_if (dccp_path_equal (&a, &b));
}

GST_END_TEST;

GST_START_TEST (numbers_turn_round)
{
  fail_unless_equals_uint64 (dccp_sequence_add (DCCP_SEQUENCE_MASK, 1), 0);
  fail_unless_equals_uint64 (dccp_sequence_add (0, -1), DCCP_SEQUENCE_MASK);
  fail_unless_equals_int64 (dccp_sequence_difference (2, DCCP_SEQUENCE_MASK),
      3);
  fail_unless_equals_int64 (dccp_sequence_difference (DCCP_SEQUENCE_MASK, 2),
      -3);
  fail_unless (dccp_sequence_is_between (1, DCCP_SEQUENCE_MASK, 2));
  fail_if (dccp_sequence_is_between (3, DCCP_SEQUENCE_MASK, 2));
  fail_if (dccp_sequence_is_between (DCCP_SEQUENCE_MASK - 1,
          DCCP_SEQUENCE_MASK, 2));
}

GST_END_TEST;

GST_START_TEST (short_numbers_are_taken_as_the_nearest)
{
  fail_unless_equals_uint64 (dccp_sequence_extend (5, 3), 5);
  fail_unless_equals_uint64 (dccp_sequence_extend (0xffffff, 0x1000001),
      0xffffff);
  fail_unless_equals_uint64 (dccp_sequence_extend (1, 0x1ffffff), 0x2000001);
  fail_unless_equals_uint64 (dccp_sequence_extend (2, DCCP_SEQUENCE_MASK), 2);
  fail_unless_equals_uint64 (dccp_sequence_extend (0xffffff, 0),
      DCCP_SEQUENCE_MASK);
}

GST_END_TEST;

static Suite *
dccppath_suite (void)
{
  Suite *s = suite_create ("dccppath");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, every_field_makes_another_path);
  tcase_add_test (tc, numbers_turn_round);
  tcase_add_test (tc, short_numbers_are_taken_as_the_nearest);
  return s;
}

GST_CHECK_MAIN (dccppath);
