/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how the live sources of this project handle a flush. The tested sources
 * listen for a sender. GstBaseSrc calls a source's function unlock at the
 * beginning of a flush, and its function unlock_stop at the end of the flush.
 * However, it also calls unlock_stop when the pipeline continues after a pause
 * (gstlivesource.h). This may happen while a flush is still going on. The flush
 * must then not end with this call.
 */

#include <gst/base/gstbasesrc.h>
#include <gst/check/gstcheck.h>

#include "skipped.h"

#define ROUNDS 100

static const gchar *const lines[] = {
#ifdef HAVE_DCCPTHIN
  "dccpthinsrc address=127.0.0.1 port=0",
#endif
#ifdef HAVE_MMTP
  "mmtpsrc address=127.0.0.1 port=0",
#endif
#ifdef HAVE_UDPLITE
  "udplitesrc address=127.0.0.1 port=0",
#endif
};

/* Creates the source that the launch line `line` describes, and pauses it. In
 * the state PAUSED, the streaming thread calls no function of the source, so
 * the test itself may call these functions. Returns NULL if `line` is a
 * UDP-Lite source and the system has no UDP-Lite. */
static GstBaseSrc *
make_source (const gchar * line)
{
  GError *error = NULL;
  GstElement *element = gst_parse_launch (line, &error);
  GstStateChangeReturn change;

  g_assert_no_error (error);
  change = gst_element_set_state (element, GST_STATE_PAUSED);
  if (change == GST_STATE_CHANGE_NO_PREROLL)
    return GST_BASE_SRC (element);
  fail_unless (g_str_has_prefix (line, "udplitesrc"), "%s", line);
  say_skipped (line, "as no socket of UDP-Lite can be opened");
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  return NULL;
}

static void
free_source (GstBaseSrc * src)
{
  gst_element_set_state (GST_ELEMENT (src), GST_STATE_NULL);
  gst_object_unref (src);
}

static GstFlowReturn
create (GstBaseSrc * src)
{
  GstBuffer *buffer = NULL;

  return GST_BASE_SRC_GET_CLASS (src)->create (src, G_MAXUINT64, 1000, &buffer);
}

static gpointer
unlock_stop_and_create (gpointer data)
{
  GstBaseSrc *src = data;

  GST_BASE_SRC_GET_CLASS (src)->unlock_stop (src);
  return GINT_TO_POINTER (create (src));
}

static gint n_created = 0;      /* atomic */

static gpointer
create_in_thread (gpointer data)
{
  GstFlowReturn flow = create (data);

  g_atomic_int_inc (&n_created);
  return GINT_TO_POINTER (flow);
}

static gint n_stopped = 0;      /* atomic */

static gpointer
unlock_stop (gpointer data)
{
  GST_BASE_SRC_GET_CLASS (data)->unlock_stop (data);
  g_atomic_int_inc (&n_stopped);
  return NULL;
}

/* Runs `function` in a thread of its own and returns its result. */
static gint
run (GThreadFunc function, GstBaseSrc * src)
{
  return GPOINTER_TO_INT (g_thread_join (g_thread_new ("streaming", function,
              src)));
}

/* An application stops a source directly after the source has started to play.
 * Two threads then call functions of the source in this order: the
 * application's thread calls unlock, because it stops the source. The streaming
 * thread calls unlock_stop and create, because the source has started to play.
 * The function create must not wait for a packet, but must return
 * GST_FLOW_FLUSHING. */
GST_START_TEST (the_unlock_stop_of_a_pause_ends_no_flush)
{
  GstBaseSrc *src = make_source (lines[__i__]);

  if (!src)
    return;
  GST_BASE_SRC_GET_CLASS (src)->unlock (src);
  fail_unless_equals_int (run (unlock_stop_and_create, src), GST_FLOW_FLUSHING);
  fail_unless_equals_int (run (create_in_thread, src), GST_FLOW_FLUSHING);
  GST_BASE_SRC_GET_CLASS (src)->unlock_stop (src);
  free_source (src);
}

GST_END_TEST;

/* An application may send FLUSH_START from one thread and FLUSH_STOP from
 * another. FLUSH_STOP must end the flush, so that the next call of create waits
 * for a packet again. The next flush must end this wait. */
GST_START_TEST (another_thread_may_end_a_flush)
{
  GstBaseSrc *src = make_source (lines[__i__]);
  GThread *stopper, *streaming;

  if (!src)
    return;
  GST_BASE_SRC_GET_CLASS (src)->unlock (src);
  fail_unless_equals_int (run (create_in_thread, src), GST_FLOW_FLUSHING);
  /* The source distinguishes threads by their GThread pointers. The pointer of
   * a joined thread may be used for a new thread. Therefore the thread
   * `stopper` is joined only after the thread `streaming` has been created. */
  stopper = g_thread_new ("stopper", unlock_stop, src);
  while (!g_atomic_int_get (&n_stopped))
    g_usleep (100);
  streaming = g_thread_new ("streaming", create_in_thread, src);
  g_usleep (20000);
  fail_unless_equals_int (g_atomic_int_get (&n_created), 1);
  GST_BASE_SRC_GET_CLASS (src)->unlock (src);
  g_thread_join (stopper);
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (streaming)),
      GST_FLOW_FLUSHING);
  free_source (src);
}

GST_END_TEST;

GST_START_TEST (a_source_may_be_stopped_at_once)
{
  GError *error = NULL;
  GstElement *element = gst_parse_launch (lines[__i__], &error);
  guint i;

  g_assert_no_error (error);
  for (i = 0; i < ROUNDS; i++) {
    gst_element_set_state (element, GST_STATE_PLAYING);
    if (i % 2)
      g_usleep (10 * i);
    gst_element_set_state (element, GST_STATE_NULL);
  }
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
livesources_suite (void)
{
  Suite *suite = suite_create ("livesources");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, the_unlock_stop_of_a_pause_ends_no_flush, 0,
      G_N_ELEMENTS (lines));
  tcase_add_loop_test (tcase, another_thread_may_end_a_flush, 0,
      G_N_ELEMENTS (lines));
  tcase_add_loop_test (tcase, a_source_may_be_stopped_at_once, 0,
      G_N_ELEMENTS (lines));
  return suite;
}

GST_CHECK_MAIN (livesources);
