/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the cellular model, a link with a varying rate and outages. They
 * compare its mean rate, its outages and the gaps between its deliveries with
 * the configuration and with Winstein et al. (2013). Further tests check that
 * the model depends only on the seed and the time. If the environment variable
 * MMTP_TRACES names a directory of recordings in the format of mahimahi, a test
 * prints the same figures for the recordings and for the model (docs/links.md
 * has the table).
 */

#include <gst/check/gstcheck.h>

#include <math.h>
#include <string.h>

#include "linkload.h"
#include "linkwander.h"

#define MS LINK_MS
#define SECOND LINK_SECOND

static LinkConfig
cellular (LinkQuality quality, guint64 seed)
{
  LinkConfig config;

  link_config_init (&config, LINK_PROFILE_CELLULAR, quality);
  config.seed = seed;
  return config;
}

static LinkWander *
create_wander (LinkQuality quality, guint64 seed)
{
  LinkConfig config = cellular (quality, seed);
  LinkWander *wander = link_wander_new (&config.pipe.cellular, 0, seed, 0);

  link_wander_skip_to (wander, 0);
  return wander;
}

GST_START_TEST (seed_and_time_decide_alone)
{
  LinkWander *all = create_wander (LINK_QUALITY_POOR, 1);
  LinkWander *some = create_wander (LINK_QUALITY_POOR, 1);
  LinkWander *late = create_wander (LINK_QUALITY_POOR, 1);
  LinkWander *other = create_wander (LINK_QUALITY_POOR, 2);
  guint64 time, last = 0;
  guint same = 0, n = 0;

  for (time = 0; time < 300 * SECOND; time += 7 * MS) {
    link_wander_skip_to (some, time);
    link_wander_skip_to (other, time);
    while (link_wander_get_time (all) < time) {
      fail_unless (link_wander_get_time (all) >= last);
      last = link_wander_get_time (all);
      link_wander_step (all);
    }
    fail_unless_equals_uint64 (link_wander_get_time (all),
        link_wander_get_time (some));
    same += link_wander_get_time (all) == link_wander_get_time (other);
    n++;
  }
  fail_unless (same < n / 2);
  link_wander_skip_to (late, time);
  link_wander_skip_to (all, time);
  for (n = 0; n < 1000; n++) {
    fail_unless_equals_uint64 (link_wander_get_time (all),
        link_wander_get_time (late));
    fail_unless_equals_uint64 (link_wander_get_time (all) % MS, 0);
    link_wander_step (all);
    link_wander_step (late);
  }
  link_wander_free (all);
  link_wander_free (some);
  link_wander_free (late);
  link_wander_free (other);
}

GST_END_TEST;

static gdouble
get_mean_rate (LinkWander * wander, guint64 seconds)
{
  guint64 n = 0;

  for (; link_wander_get_time (wander) < seconds * SECOND; n++)
    link_wander_step (wander);
  return LINK_WANDER_BYTES * 8.0 * n / seconds;
}

GST_START_TEST (long_runs_keep_the_mean_rate)
{
  const LinkQuality qualities[] = { LINK_QUALITY_IDEAL, LINK_QUALITY_GOOD,
    LINK_QUALITY_POOR
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (qualities); i++) {
    LinkConfig config = cellular (qualities[i], 1);
    LinkWander *wander = create_wander (qualities[i], 1);
    gdouble wanted = config.pipe.cellular.mean_rate[0];
    gdouble rate = get_mean_rate (wander, 10000);

    g_print ("  mean rate: %.0f bit/s, %.0f wanted\n", rate, wanted);
    fail_unless (fabs (rate / wanted - 1) < 0.03);
    link_wander_free (wander);
  }
}

GST_END_TEST;

/* Sets several permitted mean rates, some of them near the limits of the
 * permitted range. Each one is tested with and without random changes of the
 * rate (noise). The model must have the mean rate that was set. */
GST_START_TEST (any_mean_that_is_allowed_is_kept)
{
  const guint64 rates[] = { 1000000, 3000000, 11000000 };
  LinkConfig config;
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (rates); i++) {
    for (j = 0; j < 2; j++) {
      LinkWander *wander;
      gdouble rate;

      link_config_init (&config, LINK_PROFILE_CUSTOM, LINK_QUALITY_IDEAL);
      config.pipe.cellular.mean_rate[0] = rates[i];
      if (j)
        config.pipe.cellular.noise = 0;
      wander = link_wander_new (&config.pipe.cellular, 0, 3, 0);
      link_wander_skip_to (wander, 0);
      rate = get_mean_rate (wander, 5000);
      g_print ("  mean rate: %.0f bit/s, %" G_GUINT64_FORMAT " wanted\n", rate,
          rates[i]);
      fail_unless (fabs (rate / rates[i] - 1) < 0.05);
      link_wander_free (wander);
    }
  }
}

GST_END_TEST;

GST_START_TEST (outages_last_and_come_as_told)
{
  LinkWander *wander = create_wander (LINK_QUALITY_POOR, 1);
  LinkOnOff *outages = link_wander_get_outages (wander);
  guint64 time = 0, out = 0;
  guint n = 0;

  while (time < 40000 * SECOND) {
    guint64 end = link_on_off_end (outages, time);

    if (link_on_off_is_bad (outages, time)) {
      out += end - time;
      n++;
      link_wander_skip_to (wander, time);
      fail_unless (link_wander_get_time (wander) >= end - MS);
    }
    time = end;
  }
  g_print ("  %u outages of %.2f s, %.2f %% of the time\n", n,
      (gdouble) out / n / SECOND, 100.0 * out / time);
  /* The mean duration of an outage is 1 s. The mean time from the end of an
   * outage to the beginning of the next one is 15 s. The link is therefore in
   * an outage for 1/16 of the time. The test measures the mean duration of an
   * outage, and the fraction of the time in which the link is in an outage. The
   * standard error of each of the two results is 3 %. */
  fail_unless (fabs ((gdouble) out / n / SECOND - 1) < 0.08);
  fail_unless (fabs (16.0 * out / time - 1) < 0.1);
  link_wander_free (wander);
}

GST_END_TEST;

GST_START_TEST (ideal_has_no_gap_of_300_ms)
{
  guint64 seed;

  for (seed = 1; seed <= 3; seed++) {
    LinkWander *wander = create_wander (LINK_QUALITY_IDEAL, seed);
    guint64 last = 0;

    while (last < 3600 * SECOND) {
      guint64 time = link_wander_get_time (wander);

      if (time - last >= 300 * MS)
        fail ("gap of %" G_GUINT64_FORMAT " ns", time - last);
      last = time;
      link_wander_step (wander);
    }
    link_wander_free (wander);
  }
}

GST_END_TEST;

/* Simulates a cellular link on which flow 0 always has a packet to send. If
 * `other_sends` is TRUE, flow 1 sends packets in the other direction. Returns a
 * hash of the times at which the packets of flow 0 leave the link. */
static guint64
hash_departures (gboolean other_sends)
{
  LinkConfig config = cellular (LINK_QUALITY_GOOD, 5);
  Link *link = link_load_link_new (&config);
  LinkPacket packet;
  guint64 hash = 0;
  guint i;

  link_add_flow (link, 0);
  link_add_flow (link, 1);
  for (i = 0; i < 20000; i++) {
    if (other_sends && i % 3)
      link_input (link, i * MS, 1, 700, NULL);
    link_input (link, i * MS, 0, 1500, NULL);
    while (link_poll_output (link, &packet)) {
      if (packet.flow == 0)
        hash = (hash ^ packet.departure) * G_GUINT64_CONSTANT (0x100000001b3);
    }
  }
  link_free (link, NULL);
  return hash;
}

GST_START_TEST (the_other_direction_changes_nothing)
{
  fail_unless_equals_uint64 (hash_departures (FALSE), hash_departures (TRUE));
}

GST_END_TEST;

GST_START_TEST (outages_stop_both_directions)
{
  LinkConfig config = cellular (LINK_QUALITY_POOR, 1);
  Link *link = link_load_link_new (&config);
  LinkPacket packet;
  guint64 now;
  guint outages = 0, delivered[2] = { 0, };

  link_add_flow (link, 0);
  link_add_flow (link, 1);
  for (now = 0; now < 300 * SECOND; now += 5 * MS) {
    link_input (link, now, 0, 1000, NULL);
    link_input (link, now, 1, 1000, NULL);
    fail_unless ((link_get_quality (link, 0) == 0) ==
        (link_get_quality (link, 1) == 0));
    outages += link_get_quality (link, 0) == 0;
    while (link_poll_output (link, &packet))
      delivered[packet.flow]++;
  }
  fail_unless (outages > 0);
  fail_unless (delivered[0] != delivered[1]);
  link_free (link, NULL);
}

GST_END_TEST;

/* No packet arrives for eleven days. Then a small packet and a very large
 * packet arrive. The model must skip the eleven days with little computing
 * time.
 */
GST_START_TEST (a_long_pause_is_cheap)
{
  LinkConfig config = cellular (LINK_QUALITY_POOR, 1);
  Link *link;
  LinkPacket packet;

  config.max_size = 0;
  config.queue.bytes = 0;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  link_input (link, 1000000 * SECOND, 0, 1000, NULL);
  link_input (link, 1000000 * SECOND, 0, 1 << 27, NULL);
  while (link_next_wakeup (link) != LINK_NEVER
      && link_next_wakeup (link) < 1100000 * SECOND)
    link_timeout (link, link_next_wakeup (link));
  fail_unless (link_poll_output (link, &packet));
  fail_unless (link_poll_output (link, &packet));
  link_free (link, NULL);
}

GST_END_TEST;

static void
expect_refusal (const LinkConfig * config, const gchar * message)
{
  GError *error = NULL;

  fail_if (link_config_check (config, &error));
  fail_unless_equals_string (error->message, message);
  g_error_free (error);
}

GST_START_TEST (impossible_rates_are_refused)
{
  LinkConfig config = cellular (LINK_QUALITY_GOOD, 1);

  config.pipe.cellular.mean_rate[1] = 20000000;
  config.pipe.cellular.outage_interval = 0;
  expect_refusal (&config,
      "cellular-rate-down is 20000000: set it to a value from 600000 to "
      "11400000. These limits follow from cellular-min-rate, cellular-max-rate "
      "and the share of the time without outages");
  config = cellular (LINK_QUALITY_GOOD, 1);
  config.pipe.cellular.outage_escape = 0;
  expect_refusal (&config,
      "cellular-outage-escape is 0: set it to a value from 0.001 to 1000");
  config = cellular (LINK_QUALITY_GOOD, 1);
  config.pipe.cellular.min_rate = 13000000;
  expect_refusal (&config,
      "cellular-min-rate is 13000000: set it to a value from 0 to 12000000");
  config = cellular (LINK_QUALITY_GOOD, 1);
  config.pipe.burst = 3000;
  expect_refusal (&config, "burst needs a fixed rate: set burst to 0 with a "
      "delivery trace or with cellular-rate");
}

GST_END_TEST;

/* The comparison with recordings */

typedef struct
{
  GArray *times;                /* of guint64, ms */
  guint64 length;               /* ms */
} Course;

static void
course_init (Course * course)
{
  course->times = g_array_new (FALSE, FALSE, sizeof (guint64));
  course->length = 0;
}

static void
course_clear (Course * course)
{
  g_array_unref (course->times);
}

static void
course_add (Course * course, guint64 time)
{
  g_array_append_val (course->times, time);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return x < y ? -1 : x > y;
}

/* Divides the time of the recording into intervals of `width` ms. Returns an
 * array with the number of deliveries in each interval. An incomplete interval
 * at the end is left out. */
static GArray *
count_bins (const Course * course, guint64 width)
{
  GArray *bins = g_array_new (FALSE, TRUE, sizeof (guint64));
  guint i;

  g_array_set_size (bins, course->length / width);
  for (i = 0; i < course->times->len; i++) {
    guint64 bin = g_array_index (course->times, guint64, i) / width;

    if (bin < bins->len)
      g_array_index (bins, guint64, bin)++;
  }
  return bins;
}

/* Returns an array with the times between successive deliveries, in ms. Several
 * deliveries in the same millisecond count as one. */
static GArray *
find_gaps (const Course * course)
{
  GArray *gaps = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint64 last = 0;
  guint i;

  for (i = 0; i < course->times->len; i++) {
    guint64 time = g_array_index (course->times, guint64, i), gap = time - last;

    if (gap > 0)
      g_array_append_val (gaps, gap);
    last = time;
  }
  return gaps;
}

static gdouble
get_quantile (GArray * sorted, gdouble quantile)
{
  return g_array_index (sorted, guint64, (guint) (quantile *
          (sorted->len - 1)));
}

static void
print_course (const gchar * name, const Course * course)
{
  GArray *seconds = count_bins (course, 1000);
  GArray *bins = count_bins (course, 100), *gaps = find_gaps (course);
  gdouble sum = 0, squares = 0, mean, unit = LINK_WANDER_BYTES * 8 / 1e6;
  guint i, empty = 0;

  for (i = 0; i < seconds->len; i++) {
    gdouble n = g_array_index (seconds, guint64, i);

    sum += n;
    squares += n * n;
  }
  for (i = 0; i < bins->len; i++)
    empty += g_array_index (bins, guint64, i) == 0;
  mean = sum / seconds->len;
  g_array_sort (seconds, compare);
  g_array_sort (gaps, compare);
  g_print ("| %s | %u | %.1f | %.1f | %.1f | %.0f | %.0f | %.2f | %.1f |\n",
      name, seconds->len, mean * unit, get_quantile (seconds, 0.1) * unit,
      sqrt (MAX (squares / seconds->len - mean * mean, 0)) * unit,
      get_quantile (gaps, 0.99), get_quantile (gaps, 0.999),
      get_quantile (gaps, 1) / 1000, 100.0 * empty / bins->len);
  g_array_unref (seconds);
  g_array_unref (bins);
  g_array_unref (gaps);
}

static void
print_recording (const gchar * directory, const gchar * name)
{
  gchar *path = g_build_filename (directory, name, NULL), *text, **lines;
  Course course;
  guint i;

  if (g_file_get_contents (path, &text, NULL, NULL)) {
    course_init (&course);
    lines = g_strsplit (text, "\n", 0);
    for (i = 0; lines[i]; i++) {
      if (g_ascii_isdigit (lines[i][0]))
        course_add (&course, g_ascii_strtoull (lines[i], NULL, 10));
    }
    course.length = course.times->len ? g_array_index (course.times, guint64,
        course.times->len - 1) : 0;
    if (course.length >= 1000)
      print_course (name, &course);
    course_clear (&course);
    g_strfreev (lines);
    g_free (text);
  }
  g_free (path);
}

static void
print_model (const gchar * quality_name, LinkQuality quality, guint64 seed)
{
  LinkWander *wander = create_wander (quality, seed);
  gchar *name = g_strdup_printf ("`quality=%s seed=%" G_GUINT64_FORMAT "`",
      quality_name, seed);
  Course course;

  course_init (&course);
  course.length = 600000;
  for (; link_wander_get_time (wander) < 600 * SECOND;
      link_wander_step (wander))
    course_add (&course, link_wander_get_time (wander) / MS);
  print_course (name, &course);
  course_clear (&course);
  link_wander_free (wander);
  g_free (name);
}

static void
print_recordings (const gchar * directory)
{
  GDir *dir = g_dir_open (directory, 0, NULL);
  GSList *names = NULL, *walk;
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    if (g_str_has_suffix (name, ".up") || g_str_has_suffix (name, ".down"))
      names = g_slist_insert_sorted (names, g_strdup (name),
          (GCompareFunc) strcmp);
  }
  for (walk = names; walk; walk = walk->next)
    print_recording (directory, walk->data);
  g_slist_free_full (names, g_free);
  g_clear_pointer (&dir, g_dir_close);
}

/* Prints figures of the recordings in the directory MMTP_TRACES (an environment
 * variable), and then the same figures of the model. Checks nothing, because
 * the model was not fitted to these recordings. If MMTP_TRACES is not set, this
 * test is not run. */
GST_START_TEST (model_beside_recordings)
{
  const gchar *directory = g_getenv ("MMTP_TRACES");
  const gchar *names[] = { "ideal", "good", "poor" };
  guint64 seed;
  guint i;

  g_print ("| | s | mean | 10 %% | deviation | gap 99 %% | 99.9 %% | longest | "
      "empty |\n");
  print_recordings (directory);
  for (i = 0; i < G_N_ELEMENTS (names); i++) {
    for (seed = 1; seed <= 3; seed++)
      print_model (names[i], (LinkQuality) (LINK_QUALITY_IDEAL + i), seed);
  }
}

GST_END_TEST;

static Suite *
linkwander_suite (void)
{
  Suite *s = suite_create ("linkwander");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 600);
  tcase_add_test (tc, seed_and_time_decide_alone);
  tcase_add_test (tc, long_runs_keep_the_mean_rate);
  tcase_add_test (tc, any_mean_that_is_allowed_is_kept);
  tcase_add_test (tc, outages_last_and_come_as_told);
  tcase_add_test (tc, ideal_has_no_gap_of_300_ms);
  tcase_add_test (tc, the_other_direction_changes_nothing);
  tcase_add_test (tc, outages_stop_both_directions);
  tcase_add_test (tc, a_long_pause_is_cheap);
  tcase_add_test (tc, impossible_rates_are_refused);
  if (g_getenv ("MMTP_TRACES"))
    tcase_add_test (tc, model_beside_recordings);
  return s;
}

GST_CHECK_MAIN (linkwander);
