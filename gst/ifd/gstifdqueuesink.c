/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input side of ifdqueue. It runs in upstream's streaming thread or, in
 * pull mode, in the task of the sink pad. It splits buffers into frames, waits
 * until each frame is due, and then puts the frame into the queue. Events and
 * queries are put into the same queue, so that their order is kept.
 */

#include "gstifdqueueprivate.h"

#include "gstwirelessevents.h"

#define GST_CAT_DEFAULT gst_ifd_queue_debug

/* Number of bytes per read in pull mode. With smaller buffers, for example of
 * 4096 bytes, handling the buffers would cost as much CPU time as processing
 * the video in them. */
#define READ_SIZE (64 * 1024)

/* Maximum number of items in the queue that are not frames: events, queries,
 * and data that are never dropped. Further items of this kind have to wait.
 * Otherwise a large number of them could fill the memory while downstream
 * blocks. */
#define MAX_OBJECTS 1000

static void gst_ifd_queue_read (gpointer pad);

/* --- enqueuing ------------------------------------------------------------ */

static gboolean
is_sticky (GstMiniObject * object)
{
  return GST_IS_EVENT (object) && GST_EVENT_IS_STICKY (object);
}

/* Waits while the queue contains MAX_OBJECTS items that are not frames, such as
 * events and queries. The wait also ends when `flow` is no longer GST_FLOW_OK,
 * for example because downstream has refused a frame. Returns `flow`. The
 * caller holds the lock, which is released while waiting. */
static GstFlowReturn
wait_for_object_room (GstIfdQueue * self)
{
  while (self->flow == GST_FLOW_OK
      && ifd_line_count_objects (self->line) >= MAX_OBJECTS)
    g_cond_wait (&self->changed, &self->lock);
  return self->flow;
}

/* Puts an event or a query into the queue. Takes ownership of `object`, unless
 * it is a query. While `flow` is not GST_FLOW_OK, for example after downstream
 * has refused a frame, only sticky events are put into the queue, because they
 * also apply to later frames. Other objects are then refused. */
static GstFlowReturn
enqueue_object (GstIfdQueue * self, GstMiniObject * object)
{
  GstFlowReturn flow;

  g_mutex_lock (&self->lock);
  flow = wait_for_object_room (self);
  if (flow == GST_FLOW_OK || is_sticky (object)) {
    ifd_line_push (self->line, g_steal_pointer (&object));
    g_cond_broadcast (&self->changed);
    if (flow != GST_FLOW_FLUSHING)
      flow = GST_FLOW_OK;
  }
  g_mutex_unlock (&self->lock);

  if (object && !GST_IS_QUERY (object))
    gst_mini_object_unref (object);
  return flow;
}

static gboolean
enqueue_event (GstIfdQueue * self, GstEvent * event)
{
  return enqueue_object (self, GST_MINI_OBJECT_CAST (event)) == GST_FLOW_OK;
}

static void
enqueue_held_events (GstIfdQueue * self)
{
  GstEvent *event;

  self->have_caps = TRUE;
  while ((event = g_queue_pop_head (&self->held_events)))
    enqueue_event (self, event);
}

/* Puts a serialized event into the queue. The CAPS event must come before the
 * segment and all later events. For MPEG video, the caps are unknown until the
 * first frame arrives. Until then, the events that are passed to this function
 * are held back. (STREAM_START, which precedes CAPS, is not passed to it.) */
static gboolean
send_event (GstIfdQueue * self, GstEvent * event)
{
  if (self->have_caps)
    return enqueue_event (self, event);
  g_queue_push_tail (&self->held_events, event);
  return TRUE;
}

/* Updates the fields `frame_duration` and `raw`, which depend on the caps. If
 * `caps` is not NULL, also takes ownership of `caps`, and puts a CAPS event
 * into the queue, followed by all events that have waited for the caps. */
static void
send_caps (GstIfdQueue * self, GstCaps * caps)
{
  gst_ifd_queue_set_frames (self,
      gst_ifd_queue_input_get_frame_duration (self->input),
      gst_ifd_queue_input_is_raw (self->input));
  if (!caps)
    return;
  enqueue_event (self, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  enqueue_held_events (self);
}

static void
publish_stats (GstIfdQueue * self)
{
  g_mutex_lock (&self->lock);
  gst_ifd_queue_input_get_stats (self->input, &self->input_stats);
  g_mutex_unlock (&self->lock);
}

/* --- frames --------------------------------------------------------------- */

/* Waits until the frame `item` is due, and then puts it into the queue. Takes
 * ownership of the objects of `item`. A frame of two fields is due at the time
 * of its second field. */
static GstFlowReturn
enqueue_frame (GstIfdQueue * self, IfdLineItem * item)
{
  GstClockTime time;
  const gboolean is_paced = gst_ifd_queue_is_paced (self, item, &time);
  GstFlowReturn flow;

  g_mutex_lock (&self->lock);
  if (is_paced) {
    item->frame.due = gst_ifd_queue_wait_until_due (self, time);
  } else {
    gst_ifd_queue_wait_for_room (self);
    item->frame.due = gst_ifd_queue_now (self);
  }
  flow = self->flow;
  if (flow != GST_FLOW_OK) {
    g_mutex_unlock (&self->lock);
    gst_ifd_queue_item_clear (item);
    return flow;
  }
  GST_LOG_OBJECT (self, "received a %c-frame of %u bytes with flags %x, due %"
      GST_TIME_FORMAT, ifd_frame_type_char (item->frame.type), item->frame.size,
      item->frame.flags, GST_TIME_ARGS (item->frame.due));
  if (item->frame.type == IFD_FRAME_I)
    gst_ifd_queue_note_i_frame (self);
  ifd_line_push_frame (self->line, gst_ifd_queue_now (self), item);
  self->came_at = g_get_monotonic_time ();
  if (!gst_ifd_queue_is_unqueued (self))
    g_cond_broadcast (&self->changed);
  gst_ifd_queue_unlock_and_post (self);
  return GST_FLOW_OK;
}

/* Puts `item`, which contains data that are never dropped, into the queue.
 * First waits while the queue contains too many items that are not frames.
 * Takes ownership of the objects of `item`. */
static GstFlowReturn
enqueue_data (GstIfdQueue * self, IfdLineItem * item)
{
  GstFlowReturn flow;

  g_mutex_lock (&self->lock);
  flow = wait_for_object_room (self);
  if (flow == GST_FLOW_OK) {
    ifd_line_push_data (self->line, item);
    g_cond_broadcast (&self->changed);
  }
  g_mutex_unlock (&self->lock);
  if (flow != GST_FLOW_OK)
    gst_ifd_queue_item_clear (item);
  return flow;
}

/* Takes all complete frames from the parser in `input`, and puts them into the
 * queue. If new caps belong to a frame, puts them into the queue before the
 * frame. */
static GstFlowReturn
enqueue_frames (GstIfdQueue * self)
{
  GstFlowReturn flow = GST_FLOW_OK;
  IfdLineItem item;
  GstCaps *caps;

  while (flow == GST_FLOW_OK
      && gst_ifd_queue_input_pull (self->input, &item, &caps)) {
    publish_stats (self);
    if (caps)
      send_caps (self, caps);
    flow = gst_ifd_queue_input_is_data (&item) ? enqueue_data (self, &item) :
        enqueue_frame (self, &item);
  }
  publish_stats (self);
  return flow;
}

static GstFlowReturn
gst_ifd_queue_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstIfdQueue *self = GST_IFD_QUEUE (parent);
  GstFlowReturn flow;

  g_mutex_lock (&self->lock);
  flow = self->eos ? GST_FLOW_EOS : self->flow;
  g_mutex_unlock (&self->lock);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  self->started = TRUE;
  if (!gst_ifd_queue_input_push (self->input, buffer))
    return GST_FLOW_ERROR;
  return enqueue_frames (self);
}

/* --- events --------------------------------------------------------------- */

/* Called when the next bytes do not belong to the current frame, for example
 * because a new stream begins. Completes the current frame and puts it into the
 * queue. */
static void
drain (GstIfdQueue * self)
{
  if (!self->started)
    return;
  gst_ifd_queue_input_drain (self->input);
  enqueue_frames (self);
}

/* Forgets the input so far, because another stream, or another position of the
 * same stream, follows. */
static void
restart (GstIfdQueue * self)
{
  gst_ifd_queue_input_reset (self->input);
  self->started = FALSE;
}

/* Called when a new stream or segment begins, because it may follow an EOS.
 * Sets `eos` to FALSE. If `flow` is GST_FLOW_EOS, also empties the queue and
 * starts the task of the src pad again. */
static void
leave_eos (GstIfdQueue * self)
{
  g_mutex_lock (&self->lock);
  self->eos = FALSE;
  if (self->flow == GST_FLOW_EOS) {
    gst_ifd_queue_flush_line (self, TRUE);
    gst_ifd_queue_start_task (self);
  }
  g_mutex_unlock (&self->lock);
}

static gboolean
take_stream_start (GstIfdQueue * self, GstEvent * event)
{
  if (self->have_stream && self->started) {
    drain (self);
    restart (self);
  }
  self->have_stream = TRUE;
  leave_eos (self);
  return enqueue_event (self, event);
}

/* Returns whether the caps can be used. A transport stream is refused if
 * downstream does not accept it, for example if the sink is for elementary
 * streams only. */
static gboolean
take_format (GstIfdQueue * self, GstCaps * caps)
{
  if (gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/mpegts")
      && !gst_pad_peer_query_accept_caps (self->srcpad, caps))
    return gst_ifd_queue_input_refuse_caps (self->input, caps);
  return gst_ifd_queue_input_set_caps (self->input, caps);
}

static gboolean
take_caps (GstIfdQueue * self, GstEvent * event)
{
  gboolean was_mpeg = gst_ifd_queue_input_is_mpeg (self->input);
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  GST_DEBUG_OBJECT (self, "%" GST_PTR_FORMAT, caps);
  /* Incomplete data of the current frame belong to the previous caps. This
   * frame is therefore completed before the caps change. */
  if (gst_ifd_queue_input_is_pending (self->input))
    drain (self);
  if (!take_format (self, caps)) {
    gst_event_unref (event);
    return FALSE;
  }
  send_caps (self, NULL);
  if (gst_ifd_queue_input_is_mpeg (self->input)) {
    self->have_caps = self->have_caps && was_mpeg;
    gst_event_unref (event);
    return TRUE;
  }
  if (!enqueue_event (self, event))
    return FALSE;
  enqueue_held_events (self);
  return TRUE;
}

static gboolean
take_segment (GstIfdQueue * self, GstEvent * event)
{
  const GstSegment *segment;

  event = gst_ifd_queue_input_convert_segment (self->input, event);
  gst_event_parse_segment (event, &segment);
  /* Incomplete data of the current frame belong to the previous segment. This
   * frame is therefore completed and put into the queue before the segment
   * changes. */
  if (gst_ifd_queue_input_is_pending (self->input)
      && !gst_segment_is_equal (&self->segment, segment))
    drain (self);
  gst_segment_copy_into (segment, &self->segment);
  leave_eos (self);
  return send_event (self, event);
}

/* Handles a GAP event. The event may come before the first frame. It must still
 * be passed on, because it can end the preroll of a sink. The CAPS event must
 * precede the GAP event, so the caps are sent first. */
static gboolean
take_gap (GstIfdQueue * self, GstEvent * event)
{
  GstCaps *caps = NULL;

  if (!self->have_caps)
    caps = gst_ifd_queue_input_make_caps (self->input);
  if (caps)
    send_caps (self, caps);
  return send_event (self, event);
}

static gboolean
take_eos (GstIfdQueue * self, GstEvent * event)
{
  GstFlowReturn flow;

  drain (self);
  /* for a stream without any frame */
  enqueue_held_events (self);

  g_mutex_lock (&self->lock);
  flow = self->flow;
  self->eos = TRUE;
  g_mutex_unlock (&self->lock);
  /* After EOS, upstream does not push any more, so it would not see the result
   * of a failed push. An error is posted instead. */
  if (flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS)
    GST_ELEMENT_FLOW_ERROR (self, flow);
  if (flow != GST_FLOW_OK) {
    gst_event_unref (event);
    return FALSE;
  }
  /* The event "ending" announces to the sink that EOS will follow, so that the
   * sink can set a deadline for the end of the stream. This event overtakes the
   * data in the queue. The EOS event stays behind these data, and would reach
   * the sink too late if the sink blocks. */
  gst_pad_push_event (self->srcpad, gst_wireless_event_new_ending ());
  return enqueue_event (self, event);
}

static gboolean
take_flush_start (GstIfdQueue * self, GstEvent * event)
{
  gboolean sent = gst_pad_push_event (self->srcpad, event);

  g_mutex_lock (&self->lock);
  gst_ifd_queue_set_flow (self, GST_FLOW_FLUSHING);
  g_mutex_unlock (&self->lock);
  gst_pad_pause_task (self->srcpad);
  return sent;
}

static gboolean
take_flush_stop (GstIfdQueue * self, GstEvent * event)
{
  gboolean reset_time, sent;

  gst_event_parse_flush_stop (event, &reset_time);
  restart (self);
  gst_held_events_flush (&self->held_events);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  sent = gst_pad_push_event (self->srcpad, event);

  g_mutex_lock (&self->lock);
  gst_ifd_queue_flush_line (self, TRUE);
  self->eos = FALSE;
  if (reset_time)
    self->paused_at = 0;
  gst_ifd_queue_start_task (self);
  g_mutex_unlock (&self->lock);
  if (GST_PAD_MODE (self->sinkpad) == GST_PAD_MODE_PULL)
    gst_pad_start_task (self->sinkpad, gst_ifd_queue_read, self->sinkpad, NULL);
  return sent;
}

static gboolean
take_event (GstIfdQueue * self, GstEvent * event)
{
  GST_LOG_OBJECT (self, "%" GST_PTR_FORMAT, event);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      return take_flush_start (self, event);
    case GST_EVENT_FLUSH_STOP:
      return take_flush_stop (self, event);
    case GST_EVENT_STREAM_START:
      return take_stream_start (self, event);
    case GST_EVENT_CAPS:
      return take_caps (self, event);
    case GST_EVENT_SEGMENT:
      return take_segment (self, event);
    case GST_EVENT_GAP:
      return take_gap (self, event);
    case GST_EVENT_EOS:
      return take_eos (self, event);
    default:
      if (GST_EVENT_IS_SERIALIZED (event))
        return send_event (self, event);
      return gst_pad_event_default (self->sinkpad, GST_OBJECT_CAST (self),
          event);
  }
}

/* Handles an event on the sink pad. If an earlier push has failed, `flow`
 * contains the result of this push, for example GST_FLOW_NOT_LINKED. If the
 * event is then refused, this function returns the value of `flow`. If the
 * function returned GST_FLOW_ERROR instead, upstream would assume that the
 * handling of the event had failed. */
static GstFlowReturn
gst_ifd_queue_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstIfdQueue *self = GST_IFD_QUEUE (parent);
  gboolean is_caps = GST_EVENT_TYPE (event) == GST_EVENT_CAPS;
  GstFlowReturn flow;

  if (take_event (self, event))
    return GST_FLOW_OK;
  g_mutex_lock (&self->lock);
  flow = self->flow;
  g_mutex_unlock (&self->lock);
  if (flow != GST_FLOW_OK)
    return flow;
  return is_caps ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_ERROR;
}

/* --- queries -------------------------------------------------------------- */

/* The caller holds the lock. */
static gboolean
is_query_pending (GstIfdQueue * self, GstQuery * query)
{
  if (self->query_done == query)
    return FALSE;
  /* The thread that has sent the query waits here for the answer. When the wait
   * ends, this thread may free the query. The wait must therefore not end while
   * downstream is still answering the query, because downstream could then
   * write its answer into a freed query. This also holds if `flow` is no longer
   * GST_FLOW_OK. */
  return self->flow == GST_FLOW_OK || self->query_running == query;
}

static gboolean
answer_in_turn (GstIfdQueue * self, GstQuery * query)
{
  gboolean result;

  if (enqueue_object (self, GST_MINI_OBJECT_CAST (query)) != GST_FLOW_OK)
    return FALSE;
  g_mutex_lock (&self->lock);
  while (is_query_pending (self, query))
    g_cond_wait (&self->changed, &self->lock);
  result = self->query_done == query && self->query_result;
  self->query_done = NULL;
  ifd_line_withdraw (self->line, GST_MINI_OBJECT_CAST (query));
  g_mutex_unlock (&self->lock);
  return result;
}

static void
answer_caps (GstIfdQueue * self, GstQuery * query)
{
  GstCaps *downstream = gst_pad_peer_query_caps (self->srcpad, NULL);
  GstCaps *caps, *filter;

  gst_query_parse_caps (query, &filter);
  caps = gst_ifd_queue_input_query_caps (downstream, filter);
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
  gst_caps_unref (downstream);
}

static gboolean
gst_ifd_queue_sink_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstIfdQueue *self = GST_IFD_QUEUE (parent);

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      answer_caps (self, query);
      return TRUE;
    case GST_QUERY_ALLOCATION:
      /* An ALLOCATION query is refused, for two reasons. First, if upstream
       * used the buffer pool of downstream, the pool could run out of buffers
       * while downstream blocks. Upstream would then block too, but the queue
       * must receive all frames in time to choose which of them to drop.
       * Second, the answer would have to wait for downstream. */
      return FALSE;
    default:
      if (GST_QUERY_IS_SERIALIZED (query))
        return answer_in_turn (self, query);
      return gst_pad_query_default (pad, parent, query);
  }
}

/* --- pull mode, in the task of the sink pad ------------------------------- */

/* Called in pull mode, in which upstream sends no events. Creates the events
 * that upstream would send before its data in push mode: STREAM_START and
 * SEGMENT. */
static void
begin_stream (GstIfdQueue * self)
{
  gchar *id = gst_pad_create_stream_id (self->srcpad, GST_ELEMENT_CAST (self),
      NULL);
  GstEvent *event = gst_event_new_stream_start (id);
  GstSegment segment;

  gst_event_set_group_id (event, gst_util_group_id_next ());
  take_stream_start (self, event);
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  take_segment (self, gst_event_new_segment (&segment));
  g_free (id);
}

static GstFlowReturn
read_buffer (GstIfdQueue * self)
{
  GstBuffer *buffer = NULL;
  GstFlowReturn flow = gst_pad_pull_range (self->sinkpad, self->read_bytes,
      READ_SIZE, &buffer);

  if (flow != GST_FLOW_OK)
    return flow;
  self->read_bytes += gst_buffer_get_size (buffer);
  return gst_ifd_queue_chain (self->sinkpad, GST_OBJECT_CAST (self), buffer);
}

static void
gst_ifd_queue_read (gpointer pad)
{
  GstIfdQueue *self = GST_IFD_QUEUE (GST_PAD_PARENT (pad));
  GstFlowReturn flow;

  if (!self->have_stream)
    begin_stream (self);
  flow = read_buffer (self);
  if (flow == GST_FLOW_OK)
    return;
  GST_DEBUG_OBJECT (self, "stops reading: %s", gst_flow_get_name (flow));
  gst_pad_pause_task (pad);
  if (flow != GST_FLOW_FLUSHING)
    take_eos (self, gst_event_new_eos ());
}

/* --- life cycle ---------------------------------------------------------- */

/* Called when the sink pad is activated or deactivated. If `active` is TRUE,
 * sets `flow` to GST_FLOW_OK, so that the threads of both pads may run. If
 * `active` is FALSE, sets `flow` to GST_FLOW_FLUSHING, so that these threads
 * end soon. */
static void
set_sink_active (GstIfdQueue * self, gboolean active)
{
  g_mutex_lock (&self->lock);
  gst_ifd_queue_set_flow (self, active ? GST_FLOW_OK : GST_FLOW_FLUSHING);
  if (active)
    self->eos = FALSE;
  g_mutex_unlock (&self->lock);
}

/* Returns whether the peer is a source element that can be read in pull mode at
 * any position. Other elements are not read in pull mode, even if they offer
 * it. Such an element may send caps that describe the stream, but it sends them
 * only in push mode. */
static gboolean
is_readable_source (GstPad * pad)
{
  GstElement *element = gst_ifd_queue_get_peer_element (pad);
  GstQuery *query = gst_query_new_scheduling ();
  gboolean readable = element
      && GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE)
      && gst_pad_peer_query (pad, query)
      && gst_query_has_scheduling_mode_with_flags (query, GST_PAD_MODE_PULL,
      GST_SCHEDULING_FLAG_SEEKABLE);

  gst_query_unref (query);
  gst_clear_object (&element);
  return readable;
}

/* Activates the sink pad. Chooses pull mode if the unqueued mode is allowed, if
 * sync=false, and if upstream is a source that can be read. In pull mode, a
 * single thread both reads from upstream and pushes downstream. In all other
 * cases chooses push mode. */
static gboolean
gst_ifd_queue_choose_mode (GstPad * pad, GstObject * parent)
{
  GstIfdQueue *self = GST_IFD_QUEUE (parent);
  gboolean may_read;

  g_mutex_lock (&self->lock);
  may_read = self->may_be_unqueued && !self->paces;
  g_mutex_unlock (&self->lock);
  return gst_pad_activate_mode (pad, may_read && is_readable_source (pad) ?
      GST_PAD_MODE_PULL : GST_PAD_MODE_PUSH, TRUE);
}

static gboolean
gst_ifd_queue_activate_sink (GstPad * pad, GstObject * parent,
    GstPadMode mode, gboolean active)
{
  GstIfdQueue *self = GST_IFD_QUEUE (parent);

  set_sink_active (self, active);
  if (active)
    return mode == GST_PAD_MODE_PUSH
        || gst_pad_start_task (pad, gst_ifd_queue_read, pad, NULL);
  if (mode == GST_PAD_MODE_PULL)
    gst_pad_stop_task (pad);
  /* A streaming thread of upstream holds the stream lock of the pad for as long
   * as it is inside this element. While this function holds the stream lock, no
   * such thread is therefore inside the element. */
  GST_PAD_STREAM_LOCK (pad);
  g_mutex_lock (&self->lock);
  gst_ifd_queue_flush_line (self, FALSE);
  g_mutex_unlock (&self->lock);
  GST_PAD_STREAM_UNLOCK (pad);
  return TRUE;
}

void
gst_ifd_queue_start_sink (GstIfdQueue * self)
{
  guint max_frame_size;

  g_mutex_lock (&self->lock);
  max_frame_size = self->max_frame_size;
  gst_ifd_queue_reset_key_units (self);
  g_mutex_unlock (&self->lock);
  self->input = gst_ifd_queue_input_new (GST_ELEMENT_CAST (self),
      max_frame_size);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  self->have_stream = self->started = self->have_caps = FALSE;
  self->read_bytes = 0;
  send_caps (self, NULL);
}

void
gst_ifd_queue_stop_sink (GstIfdQueue * self)
{
  g_clear_pointer (&self->input, gst_ifd_queue_input_free);
  g_queue_clear_full (&self->held_events, (GDestroyNotify) gst_event_unref);
  g_queue_init (&self->held_events);
}

void
gst_ifd_queue_init_sink (GstIfdQueue * self)
{
  g_queue_init (&self->held_events);
  gst_pad_set_chain_function (self->sinkpad, gst_ifd_queue_chain);
  gst_pad_set_event_full_function (self->sinkpad, gst_ifd_queue_sink_event);
  gst_pad_set_query_function (self->sinkpad, gst_ifd_queue_sink_query);
  gst_pad_set_activate_function (self->sinkpad, gst_ifd_queue_choose_mode);
  gst_pad_set_activatemode_function (self->sinkpad,
      gst_ifd_queue_activate_sink);
  GST_PAD_SET_ACCEPT_INTERSECT (self->sinkpad);
  GST_PAD_SET_ACCEPT_TEMPLATE (self->sinkpad);
}
