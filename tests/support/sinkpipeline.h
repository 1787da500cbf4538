/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network sink in its own pipeline, for tests. A separate thread pushes to
 * the sink, so that the test itself can act as the network. */

#ifndef __SINKPIPELINE_H__
#define __SINKPIPELINE_H__

#include <gst/check/gstcheck.h>

#include "gstwirelessevents.h"

/* A pipeline with a sink, a source pad that is linked to it, and a thread that
 * pushes to this pad. */
typedef struct
{
  GstElement *pipeline;
  GstElement *sink;             /* Owned by the pipeline. */
  GstPad *src;
  GstBus *bus;
  GThread *thread;
  GAsyncQueue *queue;           /* of GstMiniObject */
  /* Number of calls of gst_pad_push () that have returned. */
  gint pushed;
  /* Flow return (GstFlowReturn) of the last push to the sink. */
  gint flow;
  gint restarts;                /* events "a new receiver" */
} SinkPipeline;

#define WAIT_FOR(condition) \
  G_STMT_START { while (!(condition)) g_usleep (1000); } G_STMT_END

gpointer sink_pipeline_push_all (gpointer data);
void sink_pipeline_push_start_events (SinkPipeline * test);
SinkPipeline *sink_pipeline_new (GType type, const gchar * first_property, ...);
void sink_pipeline_set_state (SinkPipeline * test, GstState state);
SinkPipeline *sink_pipeline_play (SinkPipeline * test);
void sink_pipeline_free (SinkPipeline * test);

#define DELTA GST_BUFFER_FLAG_DELTA_UNIT
#define MARK GST_BUFFER_FLAG_MARKER
#define NO_PTS -1

gint sink_pipeline_pushed (SinkPipeline * test);
guint64 sink_pipeline_stat_of (SinkPipeline * test, const gchar * name);
gboolean sink_pipeline_is_in_state (SinkPipeline * test, const gchar * state);
/* Returns the error on the bus. There must be exactly one error. The caller
 * frees it. */
GError *sink_pipeline_take_error (SinkPipeline * test);
void sink_pipeline_wait_for_warning (SinkPipeline * test);
/* Flushes the pad as a source does: pushes the events FLUSH_START and
 * FLUSH_STOP. Between the two events, the function waits until the pushing
 * thread has nothing to do. If a push was blocked, it has then returned
 * GST_FLOW_FLUSHING.
 *
 * Without this wait, the thread could push a buffer after the flush and before
 * the new segment. A correct source never does that. */
void sink_pipeline_flush (SinkPipeline * test);
void sink_pipeline_push_eos (SinkPipeline * test);
void sink_pipeline_wait_for_eos (SinkPipeline * test);

#endif /* __SINKPIPELINE_H__ */
