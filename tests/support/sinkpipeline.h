/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network sink in a pipeline of its own, and a thread that pushes to it, so
 * that a test can be the network meanwhile.
 */

#ifndef __NETWORK_BENCH_H__
#define __NETWORK_BENCH_H__

#include <gst/check/gstcheck.h>

#include "gstwirelessevents.h"

/* A sink in a pipeline, a source pad before it, and a thread that pushes */
typedef struct
{
  GstElement *pipeline;
  GstElement *sink;             /* the pipeline's */
  GstPad *src;
  GstBus *bus;
  GThread *thread;
  GAsyncQueue *queue;           /* of GstMiniObject */
  gint pushed;                  /* that came back */
  gint flow;                    /* of the last one */
  gint restarts;                /* events "a new receiver" */
} Bench;

#define WAIT_FOR(condition) \
  G_STMT_START { while (!(condition)) g_usleep (1000); } G_STMT_END

static inline gboolean
on_source_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  Bench *bench = gst_pad_get_element_private (pad);

  if (gst_wireless_event_is_restart (event))
    g_atomic_int_inc (&bench->restarts);
  gst_event_unref (event);
  return TRUE;
}

static inline gpointer
push_all (gpointer data)
{
  Bench *bench = data;
  GstMiniObject *object;

  while (TRUE) {
    GstFlowReturn flow = GST_FLOW_OK;

    object = g_async_queue_pop (bench->queue);
    if (object == (gpointer) bench)
      return NULL;
    if (GST_IS_EVENT (object))
      gst_pad_push_event (bench->src, GST_EVENT_CAST (object));
    else if (GST_IS_BUFFER_LIST (object))
      flow = gst_pad_push_list (bench->src, GST_BUFFER_LIST_CAST (object));
    else
      flow = gst_pad_push (bench->src, GST_BUFFER_CAST (object));
    g_atomic_int_set (&bench->flow, flow);
    g_atomic_int_inc (&bench->pushed);
  }
}

static inline void
push_start_events (Bench * bench)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (bench->src, gst_event_new_stream_start ("test"));
  gst_pad_push_event (bench->src, gst_event_new_segment (&segment));
}

static inline Bench *
bench_new (GType type, const gchar * first_property, ...)
{
  Bench *bench = g_new0 (Bench, 1);
  GstPad *pad;
  va_list arguments;

  bench->sink = g_object_new (type, "sync", FALSE, NULL);
  va_start (arguments, first_property);
  g_object_set_valist (G_OBJECT (bench->sink), first_property, arguments);
  va_end (arguments);

  bench->pipeline = gst_pipeline_new (NULL);
  gst_bin_add (GST_BIN (bench->pipeline), bench->sink);
  bench->bus = gst_element_get_bus (bench->pipeline);
  bench->src = gst_pad_new ("src", GST_PAD_SRC);
  gst_pad_set_element_private (bench->src, bench);
  gst_pad_set_event_function (bench->src, on_source_event);
  pad = gst_element_get_static_pad (bench->sink, "sink");
  gst_pad_link (bench->src, pad);
  gst_object_unref (pad);
  gst_pad_set_active (bench->src, TRUE);
  bench->queue = g_async_queue_new ();
  return bench;
}

static inline void
set_state (Bench * bench, GstState state)
{
  fail_if (gst_element_set_state (bench->pipeline, state)
      == GST_STATE_CHANGE_FAILURE);
}

static inline Bench *
bench_play (Bench * bench)
{
  set_state (bench, GST_STATE_PLAYING);
  push_start_events (bench);
  bench->thread = g_thread_new ("push", push_all, bench);
  return bench;
}

static inline void
bench_free (Bench * bench)
{
  set_state (bench, GST_STATE_NULL);
  if (bench->thread) {
    g_async_queue_push (bench->queue, bench);
    g_thread_join (bench->thread);
  }
  g_async_queue_unref (bench->queue);
  gst_pad_set_active (bench->src, FALSE);
  gst_object_unref (bench->src);
  gst_object_unref (bench->bus);
  gst_object_unref (bench->pipeline);
  g_free (bench);
}

#define DELTA GST_BUFFER_FLAG_DELTA_UNIT
#define MARK GST_BUFFER_FLAG_MARKER
#define NO_PTS -1

static inline gint
pushed (Bench * bench)
{
  return g_atomic_int_get (&bench->pushed);
}

static inline guint64
stat_of (Bench * bench, const gchar * name)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;

  g_object_get (bench->sink, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

static inline gboolean
is_in_state (Bench * bench, const gchar * state)
{
  GstStructure *stats;
  gboolean same;

  g_object_get (bench->sink, "stats", &stats, NULL);
  same = g_strcmp0 (gst_structure_get_string (stats, "state"), state) == 0;
  gst_structure_free (stats);
  return same;
}

/* The one error on the bus, and no other; free it */
static inline GError *
take_error (Bench * bench)
{
  GstMessage *message = gst_bus_timed_pop_filtered (bench->bus,
      GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  GError *error;

  gst_message_parse_error (message, &error, NULL);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bench->bus, GST_MESSAGE_ERROR) == NULL);
  return error;
}

static inline void
wait_for_warning (Bench * bench)
{
  gst_message_unref (gst_bus_timed_pop_filtered (bench->bus,
          GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING));
}

/* As a source flushes: what it was pushing comes back, refused, before the
 * pad is open again; a buffer that is pushed after that, and before the new
 * segment, would be an error of the source.
 */
static inline void
flush (Bench * bench)
{
  gst_pad_push_event (bench->src, gst_event_new_flush_start ());
  WAIT_FOR (g_async_queue_length (bench->queue) < 0);
  gst_pad_push_event (bench->src, gst_event_new_flush_stop (TRUE));
}

static inline void
push_eos (Bench * bench)
{
  g_async_queue_push (bench->queue, gst_event_new_eos ());
}

static inline void
wait_for_eos (Bench * bench)
{
  gst_message_unref (gst_bus_timed_pop_filtered (bench->bus,
          GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS));
}

#endif /* __NETWORK_BENCH_H__ */
