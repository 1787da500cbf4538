/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how the live sources of this project handle a flush. The tested sources
 * listen for a sender. GstBaseSrc calls a source's function unlock at the
 * beginning of a flush, and its function unlock_stop at the end of the flush.
 * However, it also calls unlock_stop when the pipeline continues after a pause
 * (gstlivesource.h). This may happen while a flush is still going on. The flush
 * must then not end with this call.
 */

#include <gst/base/gstpushsrc.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "gstlivesource.h"
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

/* --- a list that GstBaseSrc drops ----------------------------------------- */

/* A live source whose function create returns lists of two buffers. While
 * create runs for the second time after the start, an application sends EOS.
 * GstBaseSrc then drops what create returns. */
typedef struct
{
  GstPushSrc parent;
  GstLiveFlush flush;
  guint n_created;
} ListSource;

typedef GstPushSrcClass ListSourceClass;

static GType list_source_get_type (void);

G_DEFINE_TYPE (ListSource, list_source, GST_TYPE_PUSH_SRC);

static GstFlowReturn
list_source_create (GstPushSrc * src, GstBuffer ** buffer)
{
  ListSource *self = (ListSource *) src;
  GstBuffer *buffers[2] = { gst_buffer_new (), gst_buffer_new () };
  GstFlowReturn flow;

  gst_live_flush_begin_create (&self->flush);
  GST_BUFFER_PTS (buffers[0]) = self->n_created * GST_SECOND;
  flow = gst_live_list_submit (&self->flush, buffers, 2, buffer);
  if (++self->n_created == 2)
    gst_element_send_event (GST_ELEMENT (src), gst_event_new_eos ());
  return flow;
}

static void
list_source_set_flushing (GstBaseSrc * src, gboolean flushing)
{
}

static GstStateChangeReturn
list_source_change_state (GstElement * element, GstStateChange transition)
{
  ListSource *self = (ListSource *) element;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    self->n_created = 0;
  return gst_live_flush_change_state (&self->flush,
      GST_ELEMENT_CLASS (list_source_parent_class), transition);
}

static void
list_source_init (ListSource * self)
{
  gst_base_src_set_live (GST_BASE_SRC (self), TRUE);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_live_flush_init (&self->flush, GST_BASE_SRC (self),
      list_source_set_flushing);
}

static void
list_source_finalize (GObject * object)
{
  gst_live_flush_clear (&((ListSource *) object)->flush);
  G_OBJECT_CLASS (list_source_parent_class)->finalize (object);
}

static void
list_source_class_init (ListSourceClass * klass)
{
  static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
      GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass),
      &src_template);
  G_OBJECT_CLASS (klass)->finalize = list_source_finalize;
  GST_ELEMENT_CLASS (klass)->change_state = list_source_change_state;
  klass->create = list_source_create;
}

static void
expect_list_and_eos (GstHarness * harness)
{
  GstEvent *event;
  GstBuffer *buffer;
  guint i;

  while ((event = gst_harness_pull_event (harness))
      && GST_EVENT_TYPE (event) != GST_EVENT_EOS)
    gst_event_unref (event);
  fail_unless (event);
  gst_event_unref (event);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 2);
  for (i = 0; i < 2; i++) {
    buffer = gst_harness_pull (harness);
    fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT)
        == (i == 0));
    gst_buffer_unref (buffer);
  }
}

/* The first list arrives, and its first buffer has the flag DISCONT. The second
 * list is dropped, and EOS arrives. GStreamer must print no critical warning,
 * which would end this test. The same happens after a restart. */
GST_START_TEST (a_list_may_be_dropped)
{
  GstElement *source = g_object_new (list_source_get_type (), NULL);
  GstHarness *harness = gst_harness_new_with_element (source, NULL, "src");
  guint i;

  for (i = 0; i < 2; i++) {
    gst_harness_play (harness);
    expect_list_and_eos (harness);
    gst_element_set_state (source, GST_STATE_NULL);
  }
  gst_harness_teardown (harness);
  gst_object_unref (source);
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
  tcase_add_test (tcase, a_list_may_be_dropped);
  return suite;
}

GST_CHECK_MAIN (livesources);
