/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the property stats-update-interval, which sets the period of a timer
 * for statistics, with every element that has it. The timer must run only in
 * PLAYING, no matter in which state the property is set.
 */

#include <gst/check/gstcheck.h>
#include <gst/check/gsttestclock.h>

/* Elements to test: one element of each class that implements the timer. All
 * network elements inherit the timer from GstNetworkSink or GstNetworkSrc. Of
 * these elements, it is enough to test mmtpsink and mmtpsrc. */
static const gchar *const lines[] = {
#ifdef HAVE_BITRATEADAPT
  "bitrateadapt",
#endif
#ifdef HAVE_MPEGSTAT
  "mpegstat",
#endif
#ifdef HAVE_IFD
  "ifdqueue",
  "ifdsink host=127.0.0.1",
#endif
#ifdef HAVE_WIRELESSLINK
  "wirelesslink mode=timestamp",
#endif
#ifdef HAVE_MMTP
  "mmtpsink host=127.0.0.1 async=false",
  "mmtpsrc address=127.0.0.1 port=0",
#endif
};

static GstElement *
play (const gchar * line, GstClock * clock)
{
  GError *error = NULL;
  GstElement *element = gst_parse_launch (line, &error);

  g_assert_no_error (error);
  if (GST_IS_BIN (element))
    gst_child_proxy_set (GST_CHILD_PROXY (element), "writer::async", FALSE,
        NULL);
  gst_element_set_clock (element, clock);
  gst_element_set_state (element, GST_STATE_PLAYING);
  fail_unless (gst_element_get_state (element, NULL, NULL,
          GST_CLOCK_TIME_NONE) != GST_STATE_CHANGE_FAILURE, "%s", line);
  return element;
}

static void
stop (GstElement * element)
{
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}

/* Returns how many timers with the period `interval` wait for the clock. Other
 * waits of the element do not have this period, so they are not counted. */
static guint
count_timers (GstClock * clock, GstClockTime interval)
{
  GList *pending = NULL, *walk;
  guint n = 0;

  gst_test_clock_wait_for_multiple_pending_ids (GST_TEST_CLOCK (clock), 0,
      &pending);
  for (walk = pending; walk; walk = walk->next)
    if (gst_clock_id_get_time (walk->data) == interval)
      n++;
  g_list_free_full (pending, gst_clock_id_unref);
  return n;
}

static void
expect_timers (GstElement * element, GstClock * clock, guint interval,
    guint expected)
{
  g_object_set (element, "stats-update-interval", (guint) interval * 1000,
      NULL);
  fail_unless_equals_int (count_timers (clock, interval * GST_SECOND),
      expected);
}

GST_START_TEST (a_timer_runs_while_it_plays)
{
  GstClock *clock = gst_test_clock_new ();
  GstElement *element = play (lines[__i__], clock);

  expect_timers (element, clock, 1000, 1);
  expect_timers (element, clock, 2000, 1);
  fail_unless_equals_int (count_timers (clock, 1000 * GST_SECOND), 0);
  expect_timers (element, clock, 0, 0);
  fail_unless_equals_int (count_timers (clock, 2000 * GST_SECOND), 0);
  expect_timers (element, clock, 3000, 1);
  gst_element_set_state (element, GST_STATE_PAUSED);
  fail_unless_equals_int (count_timers (clock, 3000 * GST_SECOND), 0);
  expect_timers (element, clock, 4000, 0);
  stop (element);
  gst_object_unref (clock);
}

GST_END_TEST;

/* A thread may set the property while another thread changes the element from
 * PLAYING to PAUSED. At this moment, change_state () has already stopped the
 * timer, but the element still has the state PLAYING. The property must then
 * not start a new timer. */
GST_START_TEST (none_is_left_when_it_is_set_on_the_way_to_paused)
{
  GstClock *clock = gst_test_clock_new ();
  GstElement *element = play (lines[__i__], clock);

  expect_timers (element, clock, 1000, 1);
  GST_STATE_LOCK (element);
  GST_ELEMENT_GET_CLASS (element)->change_state (element,
      GST_STATE_CHANGE_PLAYING_TO_PAUSED);
  fail_unless_equals_int (GST_STATE (element), GST_STATE_PLAYING);
  expect_timers (element, clock, 2000, 0);
  GST_STATE_UNLOCK (element);
  stop (element);
  gst_object_unref (clock);
}

GST_END_TEST;

static Suite *
statsinterval_suite (void)
{
  Suite *suite = suite_create ("statsinterval");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, a_timer_runs_while_it_plays, 0,
      G_N_ELEMENTS (lines));
  tcase_add_loop_test (tcase, none_is_left_when_it_is_set_on_the_way_to_paused,
      0, G_N_ELEMENTS (lines));
  return suite;
}

GST_CHECK_MAIN (statsinterval);
