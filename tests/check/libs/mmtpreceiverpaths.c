/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the list of paths at the receiver. The test sets the time itself,
 * and the expected values were computed by hand. */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "mmtpreceiverpaths.h"

#define START (10 * MMTP_SECOND)
#define SILENCE (200 * MMTP_MSECOND)

/* --- sessions ------------------------------------------------------------- */

GST_START_TEST (paths_are_in_the_order_of_their_first_use)
{
  MmtpReceiverPaths paths = {.now = START };
  MmtpReceiverPath *path = mmtp_receiver_paths_add (&paths, 7, 0, SILENCE);

  mmtp_receiver_paths_add (&paths, 2, 0, SILENCE);
  fail_unless (mmtp_receiver_paths_add (&paths, 7, 5, SILENCE) == path);
  fail_unless_equals_int (paths.n, 2);
  fail_unless (mmtp_receiver_paths_nth (&paths, 0) == path);
  fail_unless_equals_int (mmtp_receiver_paths_nth (&paths, 1)->id, 2);
  fail_unless (mmtp_receiver_paths_find (&paths, 7) == path);
  fail_unless (mmtp_receiver_paths_find (&paths, 3) == NULL);
  fail_unless_equals_int (mmtp_receiver_paths_count_joined (&paths), 0);
  path->joined = TRUE;
  fail_unless_equals_int (mmtp_receiver_paths_count_joined (&paths), 1);
  mmtp_receiver_paths_clear (&paths);
  fail_unless_equals_int (paths.n, 0);
}

GST_END_TEST;

/* A path keeps its counters when the session ends, but it does not belong to
 * the next session before a message arrives on it. */
GST_START_TEST (new_session_keeps_only_the_counters)
{
  MmtpReceiverPaths paths = {.now = START };
  MmtpReceiverPath *path = mmtp_receiver_paths_add (&paths, 1, 0, SILENCE);
  guint i;

  for (i = 1; i <= 2; i++) {
    path->arrivals.received = 10;
    path->arrivals.bytes = 1000;
    path->arrivals.losses.lost = 3;
    path->arrivals.late = 2;
    path->duplicates++;
    path->joined = TRUE;
    mmtp_receiver_paths_reset (&paths);
    fail_unless (mmtp_receiver_paths_find (&paths, 1) == NULL);
    fail_if (path->joined);
    fail_unless_equals_uint64 (path->past.received, i * 10);
    fail_unless_equals_uint64 (path->past.bytes, i * 1000);
    fail_unless_equals_uint64 (path->past.lost, i * 3);
    fail_unless_equals_uint64 (path->past.late, i * 2);
    fail_unless_equals_uint64 (path->duplicates, i);
    fail_unless (mmtp_receiver_paths_add (&paths, 1, 0, SILENCE) == path);
    fail_unless_equals_uint64 (path->arrivals.received, 0);
  }
  mmtp_receiver_paths_clear (&paths);
}

GST_END_TEST;

/* --- channel numbers ------------------------------------------------------ */

/* A DATA message contains the low 16 bits of its channel number. The highest
 * number so far is 0x1fff0. */
GST_START_TEST (number_is_nearest_to_the_highest)
{
  static const struct
  {
    guint16 low;
    guint64 number;
  } cases[] = {
    {0xfff0, 0x1fff0}, {0xffef, 0x1ffef}, {0xffff, 0x1ffff}, {0, 0x20000},
    {0x7fef, 0x27fef}, {0x7ff1, 0x17ff1},
  };
  MmtpReceiverPaths paths = {.now = START };
  const MmtpReceiverPath *path = mmtp_receiver_paths_add (&paths, 1, 0x1fff0,
      SILENCE);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const MmtpMessage message = {.type = MMTP_DATA,.number = cases[i].low };

    fail_unless_equals_uint64 (mmtp_receiver_path_get_number (path, &message,
            NULL), cases[i].number);
  }
  mmtp_receiver_paths_clear (&paths);
}

GST_END_TEST;

/* A JOIN and a KEEPALIVE contain the whole number. It needs no path. */
GST_START_TEST (join_contains_the_whole_number)
{
  static const guint8 number[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  static const MmtpType types[] = { MMTP_JOIN, MMTP_KEEPALIVE };
  guint8 bytes[MMTP_HEADER_SIZE + sizeof (number)] = { 0 };
  guint i;

  memcpy (bytes + MMTP_HEADER_SIZE, number, sizeof (number));
  for (i = 0; i < G_N_ELEMENTS (types); i++) {
    const MmtpMessage message = {.type = types[i],.number = 0x708 };

    fail_unless_equals_uint64 (mmtp_receiver_path_get_number (NULL, &message,
            bytes), G_GUINT64_CONSTANT (0x102030405060708));
  }
}

GST_END_TEST;

/* --- KEEPALIVEs ----------------------------------------------------------- */

/* A longer interval counts at once. A shorter one decreases the estimate by an
 * eighth. An outage counts as 2 s. */
GST_START_TEST (keepalive_gap_decreases_slowly)
{
  static const struct
  {
    guint interval, gap;        /* ms */
  } cases[] = {
    {100, 100}, {800, 800}, {100, 700}, {650, 650}, {5000, 2000}, {100, 1750},
  };
  MmtpReceiverPaths paths = {.now = START };
  MmtpReceiverPath *path = mmtp_receiver_paths_add (&paths, 1, 0, SILENCE);
  guint i;

  path->keepalive_time = START;
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    paths.now += cases[i].interval * MMTP_MSECOND;
    mmtp_receiver_paths_note_keepalive (&paths, path);
    fail_unless_equals_uint64 (path->keepalive_gap,
        cases[i].gap * MMTP_MSECOND);
    fail_unless_equals_uint64 (path->keepalive_time, paths.now);
  }
  mmtp_receiver_paths_clear (&paths);
}

GST_END_TEST;

static Suite *
mmtpreceiverpaths_suite (void)
{
  Suite *s = suite_create ("mmtpreceiverpaths");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, paths_are_in_the_order_of_their_first_use);
  tcase_add_test (tc, new_session_keeps_only_the_counters);
  tcase_add_test (tc, number_is_nearest_to_the_highest);
  tcase_add_test (tc, join_contains_the_whole_number);
  tcase_add_test (tc, keepalive_gap_decreases_slowly);
  return s;
}

GST_CHECK_MAIN (mmtpreceiverpaths);
