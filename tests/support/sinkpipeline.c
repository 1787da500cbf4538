/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sinkpipeline.h"

static gboolean
on_source_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  SinkPipeline *test = gst_pad_get_element_private (pad);

  if (gst_wireless_event_is_restart (event))
    g_atomic_int_inc (&test->restarts);
  gst_event_unref (event);
  return TRUE;
}

gpointer
sink_pipeline_push_all (gpointer data)
{
  SinkPipeline *test = data;
  GstMiniObject *object;

  while (TRUE) {
    GstFlowReturn flow = GST_FLOW_OK;

    object = g_async_queue_pop (test->queue);
    if (object == (gpointer) test)
      return NULL;
    if (GST_IS_EVENT (object))
      gst_pad_push_event (test->src, GST_EVENT_CAST (object));
    else if (GST_IS_BUFFER_LIST (object))
      flow = gst_pad_push_list (test->src, GST_BUFFER_LIST_CAST (object));
    else
      flow = gst_pad_push (test->src, GST_BUFFER_CAST (object));
    g_atomic_int_set (&test->flow, flow);
    g_atomic_int_inc (&test->pushed);
  }
}

void
sink_pipeline_push_start_events (SinkPipeline * test)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (test->src, gst_event_new_stream_start ("test"));
  gst_pad_push_event (test->src, gst_event_new_segment (&segment));
}

SinkPipeline *
sink_pipeline_new (GType type, const gchar * first_property, ...)
{
  SinkPipeline *test = g_new0 (SinkPipeline, 1);
  GstPad *pad;
  va_list arguments;

  test->sink = g_object_new (type, "sync", FALSE, NULL);
  va_start (arguments, first_property);
  g_object_set_valist (G_OBJECT (test->sink), first_property, arguments);
  va_end (arguments);

  test->pipeline = gst_pipeline_new (NULL);
  gst_bin_add (GST_BIN (test->pipeline), test->sink);
  test->bus = gst_element_get_bus (test->pipeline);
  test->src = gst_pad_new ("src", GST_PAD_SRC);
  gst_pad_set_element_private (test->src, test);
  gst_pad_set_event_function (test->src, on_source_event);
  pad = gst_element_get_static_pad (test->sink, "sink");
  gst_pad_link (test->src, pad);
  gst_object_unref (pad);
  gst_pad_set_active (test->src, TRUE);
  test->queue = g_async_queue_new ();
  return test;
}

void
sink_pipeline_set_state (SinkPipeline * test, GstState state)
{
  fail_if (gst_element_set_state (test->pipeline, state)
      == GST_STATE_CHANGE_FAILURE);
}

SinkPipeline *
sink_pipeline_play (SinkPipeline * test)
{
  sink_pipeline_set_state (test, GST_STATE_PLAYING);
  sink_pipeline_push_start_events (test);
  test->thread = g_thread_new ("push", sink_pipeline_push_all, test);
  return test;
}

void
sink_pipeline_free (SinkPipeline * test)
{
  sink_pipeline_set_state (test, GST_STATE_NULL);
  if (test->thread) {
    g_async_queue_push (test->queue, test);
    g_thread_join (test->thread);
  }
  g_async_queue_unref (test->queue);
  gst_pad_set_active (test->src, FALSE);
  gst_object_unref (test->src);
  gst_object_unref (test->bus);
  gst_object_unref (test->pipeline);
  g_free (test);
}

gint
sink_pipeline_pushed (SinkPipeline * test)
{
  return g_atomic_int_get (&test->pushed);
}

guint64
sink_pipeline_stat_of (SinkPipeline * test, const gchar * name)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;

  g_object_get (test->sink, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

gboolean
sink_pipeline_is_in_state (SinkPipeline * test, const gchar * state)
{
  GstStructure *stats;
  gboolean same;

  g_object_get (test->sink, "stats", &stats, NULL);
  same = g_strcmp0 (gst_structure_get_string (stats, "state"), state) == 0;
  gst_structure_free (stats);
  return same;
}

GError *
sink_pipeline_take_error (SinkPipeline * test)
{
  GstMessage *message = gst_bus_timed_pop_filtered (test->bus,
      GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  GError *error;

  gst_message_parse_error (message, &error, NULL);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (test->bus, GST_MESSAGE_ERROR) == NULL);
  return error;
}

void
sink_pipeline_wait_for_warning (SinkPipeline * test)
{
  gst_message_unref (gst_bus_timed_pop_filtered (test->bus,
          GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING));
}

void
sink_pipeline_flush (SinkPipeline * test)
{
  gst_pad_push_event (test->src, gst_event_new_flush_start ());
  WAIT_FOR (g_async_queue_length (test->queue) < 0);
  gst_pad_push_event (test->src, gst_event_new_flush_stop (TRUE));
}

void
sink_pipeline_push_eos (SinkPipeline * test)
{
  g_async_queue_push (test->queue, gst_event_new_eos ());
}

void
sink_pipeline_wait_for_eos (SinkPipeline * test)
{
  gst_message_unref (gst_bus_timed_pop_filtered (test->bus,
          GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS));
}
