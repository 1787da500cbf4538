/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks how the sender estimates the offset between the clocks from the delays
 * of all its paths (mmtp_paths_update_delays ()). The expected offsets were
 * computed by hand from the bounds in RFC 5905, section 11.2.1. Times are in
 * ms.
 */

#include <gst/check/gstcheck.h>

#include "mmtppaths.h"

#define MS ((gint64) 1000000)
#define START ((guint64) (10000 * MS))
#define MAX_PATHS 3

typedef struct
{
  gint64 base, round_trip;
} Measured;

/* Makes a set of `n` paths. Each path has the base delay and the round trip
 * that `measured` contains. Returns the offset that the paths give. */
static gint64
get_offset (const Measured * measured, guint n)
{
  static const gchar *const names[MAX_PATHS] = { "a", "b", "c" };
  MmtpPaths paths;
  gint64 offset;
  guint i;

  mmtp_paths_init (&paths);
  paths.now = START;
  for (i = 0; i < n; i++) {
    MmtpPath *path = mmtp_paths_add (&paths, names[i]);
    const MmtpPathConfig config = { names[i], 1472, 28, 0, 0 };
    gint64 base = measured[i].base * MS;

    mmtp_path_open (path, START, &config);
    path->state = MMTP_PATH_ACTIVE;
    mmtp_path_delay_add (&path->delays, START, base, base, base, 1);
    mmtp_path_add_round_trip (path, START, measured[i].round_trip * MS);
  }
  mmtp_paths_update_delays (&paths);
  fail_unless (paths.has_offset);
  offset = paths.offset / MS;
  mmtp_paths_clear (&paths);
  return offset;
}

/* The offset is the base delay minus half of the round trip. */
GST_START_TEST (single_path_gives_the_offset)
{
  const Measured measured[] = { {150, 200} };
  const Measured negative[] = { {-150, 200} };

  fail_unless_equals_int64 (get_offset (measured, 1), 50);
  fail_unless_equals_int64 (get_offset (negative, 1), -250);
}

GST_END_TEST;

/* The delays of path a give the offset 50, and those of path b 80 or 10. Their
 * round trips are similar, and both offsets are possible on both paths. */
GST_START_TEST (lower_one_of_two_estimates_is_used)
{
  const Measured higher[] = { {150, 200}, {190, 220} };
  const Measured lower[] = { {150, 200}, {130, 240} };

  fail_unless_equals_int64 (get_offset (higher, 2), 50);
  fail_unless_equals_int64 (get_offset (lower, 2), 10);
}

GST_END_TEST;

/* The estimate of path b must be used only if its round trip is at most 1.5
 * times that of path a. The estimate of a slower path may have a large error.
 * The third path is used because its round trip is just short enough. */
GST_START_TEST (estimate_of_a_slow_path_is_not_used)
{
  const Measured measured[] = { {150, 200}, {60, 302}, {160, 300} };

  fail_unless_equals_int64 (get_offset (measured, 2), 50);
  fail_unless_equals_int64 (get_offset (measured, 3), 10);
}

GST_END_TEST;

/* The round trip of path b is long, so its estimate is not used, but its delays
 * limit the offset. The delay of its way to the receiver is at least 0, so the
 * offset is at most the base delay, which is 40. The delay of the way back is
 * at least 0, too. In the second case, the offset is therefore at least the
 * base delay minus the round trip, which is 570 - 500 = 70. */
GST_START_TEST (slow_path_limits_the_offset)
{
  const Measured high[] = { {150, 200}, {40, 500} };
  const Measured low[] = { {150, 200}, {570, 500} };

  fail_unless_equals_int64 (get_offset (high, 2), 40);
  fail_unless_equals_int64 (get_offset (low, 2), 70);
}

GST_END_TEST;

/* According to path a, the offset is at least 130. According to path b, it is
 * at most 100. One of the two measurements must be wrong, for example because
 * the clocks have drifted. Only the fastest path must count. */
GST_START_TEST (contradictory_bounds_leave_the_fastest_path)
{
  const Measured measured[] = { {150, 20}, {100, 24} };

  fail_unless_equals_int64 (get_offset (measured, 2), 140);
}

GST_END_TEST;

static Suite *
mmtppaths_suite (void)
{
  Suite *suite = suite_create ("mmtppaths");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, single_path_gives_the_offset);
  tcase_add_test (tc, lower_one_of_two_estimates_is_used);
  tcase_add_test (tc, estimate_of_a_slow_path_is_not_used);
  tcase_add_test (tc, slow_path_limits_the_offset);
  tcase_add_test (tc, contradictory_bounds_leave_the_fastest_path);
  return suite;
}

GST_CHECK_MAIN (mmtppaths);
