/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pads of the element wirelesslink. A packet that enters a sink pad is
 * given to the medium, which is the emulated link that all pads share. A packet
 * that has left the medium is pushed by the task of its src pad, so that a
 * blocked src pad does not delay other flows. */

#include "gstwirelesslinkprivate.h"

#define GST_CAT_DEFAULT gst_wireless_link_debug

struct _GstWirelessLinkPad
{
  GstPad parent;

  GstWirelessLinkFlow *flow;    /* set once */
  /* The reference to the element is weak, because an application may keep a
   * released pad longer than the element lives. */
  GWeakRef element;
};

G_DEFINE_TYPE (GstWirelessLinkPad, gst_wireless_link_pad, GST_TYPE_PAD);

GstWirelessLinkFlow *
gst_wireless_link_pad_get_flow (GstPad * pad)
{
  return GST_WIRELESS_LINK_PAD (pad)->flow;
}

static GstPad *
get_srcpad (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  GstPad *srcpad;

  gst_wireless_link_lock (self);
  srcpad = flow->srcpad ? gst_object_ref (flow->srcpad) : NULL;
  gst_wireless_link_unlock (self);
  return srcpad;
}

/* --- input of packets ----------------------------------------------------- */

/* With mode=realtime: puts `buffer`, which arrived at the link time `now` in
 * ns, into the link. With blocking=true, the function first waits until the
 * queue of the link has room. Takes ownership of the buffer. The caller holds
 * the lock. */
static void
enter_realtime (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstBuffer * buffer, gboolean in_list, guint64 now)
{
  if (self->blocking) {
    gst_wireless_link_wait_for_room (self, flow, buffer);
    now = wireless_link_clock_get_time (&self->clock);
  }
  if (flow->result != GST_FLOW_OK || self->flushing) {
    gst_buffer_unref (buffer);
    return;
  }
  gst_wireless_link_put (self, flow, gst_wireless_link_packet_new (flow, buffer,
          0, in_list), now);
}

/* Determines the arrival time of a buffer in link time. A buffer without a
 * timestamp arrives together with the buffer before it. Returns FALSE if no
 * buffer of this flow has had a timestamp yet. */
static gboolean
find_arrival (GstWirelessLinkFlow * flow, GstBuffer * buffer, gint64 * arrival)
{
  GstClockTime stamp = GST_BUFFER_DTS_OR_PTS (buffer);
  guint64 time;
  gint sign = 0;

  if (GST_CLOCK_TIME_IS_VALID (stamp)
      && flow->segment.format == GST_FORMAT_TIME)
    sign = gst_segment_to_running_time_full (&flow->segment, GST_FORMAT_TIME,
        stamp, &time);
  if (sign != 0) {
    flow->last_arrival = sign * (gint64) time + (gint64) flow->time_offset;
    flow->timestamped = TRUE;
  }
  *arrival = flow->last_arrival;
  return flow->timestamped;
}

/* mode=timestamp: adds `buffer` to the input of the flow. The arrival time at
 * the link is computed from the timestamp of the buffer. Takes ownership of the
 * buffer. The caller holds the lock. Returns GST_FLOW_ERROR if no buffer of
 * this flow has had a timestamp yet. */
static GstFlowReturn
enter_timestamp (GstWirelessLinkFlow * flow, GstBuffer * buffer,
    gboolean in_list)
{
  GstWirelessLinkItem item;

  if (!find_arrival (flow, buffer, &item.time)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  item.object = GST_MINI_OBJECT_CAST (buffer);
  item.in_list = in_list;
  gst_queue_array_push_tail_struct (flow->input, &item);
  return GST_FLOW_OK;
}

/* Waits while the input queue of the flow is full. With mode=timestamp, the
 * packets of all flows enter the link in the order of their arrival times. A
 * packet may therefore have to wait until earlier packets of other flows have
 * arrived. During this time, the queue of its own flow fills. The caller holds
 * the lock. */
static void
wait_for_others (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  while (gst_queue_array_get_length (flow->input) >= self->max_output_packets
      && flow->result == GST_FLOW_OK && !self->flushing)
    g_cond_wait (&flow->input_cond, &self->lock);
}

static GstFlowReturn
enter (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstBuffer * buffer,
    gboolean in_list, guint64 now)
{
  if (self->running_mode == GST_WIRELESS_LINK_MODE_TIMESTAMP)
    return enter_timestamp (flow, buffer, in_list);
  enter_realtime (self, flow, buffer, in_list, now);
  return GST_FLOW_OK;
}

/* Takes ownership of the list. */
static GstFlowReturn
enter_list (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstBufferList * list, guint64 now)
{
  GstFlowReturn result = GST_FLOW_OK;
  guint i, n = gst_buffer_list_length (list);

  for (i = 0; i < n && result == GST_FLOW_OK; i++)
    result = enter (self, flow, gst_buffer_ref (gst_buffer_list_get (list, i)),
        TRUE, now);
  gst_buffer_list_unref (list);
  return result;
}

static GstFlowReturn
advance (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  if (self->flushing)
    return GST_FLOW_FLUSHING;
  if (self->running_mode == GST_WIRELESS_LINK_MODE_TIMESTAMP) {
    gst_wireless_link_merge (self);
    wait_for_others (self, flow);
  } else {
    gst_wireless_link_distribute (self);
  }
  return self->flushing ? GST_FLOW_FLUSHING : flow->result;
}

static GstFlowReturn
begin_chain (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  if (!self->link || self->flushing)
    return GST_FLOW_FLUSHING;
  return flow->result;
}

static GstFlowReturn
post_no_timestamp_error (GstWirelessLink * self)
{
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("A packet arrived without a timestamp, but mode=timestamp needs "
          "timestamps. Put an element upstream that sets timestamps, or set "
          "another mode."),
      ("No buffer of this flow had a DTS or PTS in a segment of time yet."));
  return GST_FLOW_ERROR;
}

/* With mode=realtime, returns the link time in ns at which an object arrives at
 * a sink pad. With mode=timestamp, the arrival times are computed from the
 * timestamps, so reading the clock would only cost time. */
static guint64
get_arrival_time (GstWirelessLink * self)
{
  if (self->running_mode == GST_WIRELESS_LINK_MODE_TIMESTAMP)
    return 0;
  return wireless_link_clock_get_time (&self->clock);
}

/* Handles a buffer or a buffer list that arrives at the sink pad `pad`. Takes
 * ownership of `object`. */
static GstFlowReturn
chain (GstPad * pad, GstObject * parent, GstMiniObject * object)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (parent);
  GstWirelessLinkFlow *flow = gst_wireless_link_pad_get_flow (pad);
  GstFlowReturn result, entered = GST_FLOW_OK;
  guint64 now;

  gst_wireless_link_lock (self);
  /* All packets of a buffer list arrive at the same time, so the clock is read
   * only once. */
  now = get_arrival_time (self);
  result = begin_chain (self, flow);
  if (result != GST_FLOW_OK) {
    gst_mini_object_unref (object);
  } else {
    entered = GST_IS_BUFFER (object) ?
        enter (self, flow, GST_BUFFER_CAST (object), FALSE, now) :
        enter_list (self, flow, GST_BUFFER_LIST_CAST (object), now);
    result = advance (self, flow);
  }
  gst_wireless_link_unlock (self);
  if (entered == GST_FLOW_ERROR)
    return post_no_timestamp_error (self);
  return result;
}

static GstFlowReturn
gst_wireless_link_pad_chain (GstPad * pad, GstObject * parent,
    GstBuffer * buffer)
{
  return chain (pad, parent, GST_MINI_OBJECT_CAST (buffer));
}

static GstFlowReturn
gst_wireless_link_pad_chain_list (GstPad * pad, GstObject * parent,
    GstBufferList * list)
{
  return chain (pad, parent, GST_MINI_OBJECT_CAST (list));
}

/* --- events and queries downstream ---------------------------------------- */

static gboolean
begin_flush (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstPad * srcpad, GstEvent * event)
{
  gboolean pushed;

  gst_wireless_link_lock (self);
  flow->result = GST_FLOW_FLUSHING;
  gst_wireless_link_end_flow (self, flow);
  gst_wireless_link_flow_clear (flow);
  gst_wireless_link_flow_wake (flow);
  if (self->running_mode == GST_WIRELESS_LINK_MODE_TIMESTAMP)
    gst_wireless_link_merge (self);
  gst_wireless_link_unlock (self);
  pushed = gst_pad_push_event (srcpad, event);
  gst_pad_pause_task (srcpad);
  return pushed;
}

static void gst_wireless_link_pad_loop (gpointer user_data);

static gboolean
start_task (GstPad * srcpad)
{
  return gst_pad_start_task (srcpad, gst_wireless_link_pad_loop, srcpad, NULL);
}

static gboolean
end_flush (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstPad * srcpad,
    GstEvent * event)
{
  gboolean active, reset_time, pushed;

  gst_event_parse_flush_stop (event, &reset_time);
  pushed = gst_pad_push_event (srcpad, event);
  gst_wireless_link_lock (self);
  gst_wireless_link_flow_clear (flow);
  gst_segment_init (&flow->segment, GST_FORMAT_UNDEFINED);
  flow->eos = flow->eos_sent = FALSE;
  /* With reset_time, running time starts again at 0 after the flush. Link time
   * continues, so the offset between the two times changes. */
  if (reset_time)
    flow->time_offset = self->link_time;
  flow->heard_until = flow->last_arrival = flow->time_offset;
  active = !self->flushing && GST_PAD_MODE (srcpad) == GST_PAD_MODE_PUSH;
  if (active)
    flow->result = GST_FLOW_OK;
  gst_wireless_link_unlock (self);
  if (active)
    start_task (srcpad);
  return pushed;
}

/* mode=timestamp: returns the end of the gap that a GAP event announces, in
 * link time. No packet of the flow arrives before this time. Returns 0 if the
 * event is not a GAP event, or if the end of its gap is not known. */
static gint64
get_gap_end (GstWirelessLinkFlow * flow, GstEvent * event)
{
  GstClockTime end, duration;
  guint64 time;

  if (GST_EVENT_TYPE (event) != GST_EVENT_GAP
      || flow->segment.format != GST_FORMAT_TIME)
    return 0;
  gst_event_parse_gap (event, &end, &duration);
  if (!GST_CLOCK_TIME_IS_VALID (end))
    return 0;
  if (GST_CLOCK_TIME_IS_VALID (duration))
    end += duration;
  if (gst_segment_to_running_time_full (&flow->segment, GST_FORMAT_TIME, end,
          &time) <= 0)
    return 0;
  return time + flow->time_offset;
}

/* The caller holds the lock. */
static void
note_event (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstEvent *
    event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      flow->eos = flow->eos_sent = FALSE;
      self->stats_posted = FALSE;
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &flow->segment);
      break;
    case GST_EVENT_EOS:
      flow->eos = TRUE;
      break;
    default:
      break;
  }
}

/* With mode=timestamp: removes the stop position of a segment. A packet that
 * the link delays may get a timestamp after the stop position, and a sink would
 * then clip the packet. Takes ownership of the event. */
static GstEvent *
open_segment (GstEvent * event)
{
  GstSegment segment;
  GstEvent *opened;

  gst_event_copy_segment (event, &segment);
  if (segment.format != GST_FORMAT_TIME || segment.rate < 0)
    return event;
  segment.stop = GST_CLOCK_TIME_NONE;
  opened = gst_event_new_segment (&segment);
  gst_event_set_seqnum (opened, gst_event_get_seqnum (event));
  gst_event_set_running_time_offset (opened,
      gst_event_get_running_time_offset (event));
  gst_event_unref (event);
  return opened;
}

/* Puts `event` into `flow`, where it keeps its position among the packets.
 * Takes ownership of the event. The caller holds the lock. */
static void
enter_event (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstEvent *
    event)
{
  GstWirelessLinkItem item = { GST_MINI_OBJECT_CAST (event),
    get_gap_end (flow, event), FALSE
  };

  note_event (self, flow, event);
  if (self->running_mode == GST_WIRELESS_LINK_MODE_REALTIME) {
    gst_wireless_link_put_object (self, flow, item.object);
    gst_wireless_link_distribute (self);
    if (flow->eos)
      gst_wireless_link_wake_scheduler (self);
    return;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    item.object = GST_MINI_OBJECT_CAST (open_segment (event));
  gst_queue_array_push_tail_struct (flow->input, &item);
  gst_wireless_link_merge (self);
}

static gboolean
is_failure (GstFlowReturn result)
{
  return result == GST_FLOW_NOT_LINKED || result < GST_FLOW_EOS;
}

/* If the src pad fails, upstream normally gets the error when it pushes the
 * next packet of the flow. After EOS there is no next packet, so an error
 * message is posted here. */
static gboolean
handle_dead_pad (GstWirelessLink * self, GstEvent * event, GstFlowReturn result)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS && is_failure (result))
    GST_ELEMENT_FLOW_ERROR (self, result);
  gst_event_unref (event);
  return result == GST_FLOW_EOS;
}

static gboolean
handle_serialized_event (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstEvent * event)
{
  GstFlowReturn result;
  gboolean taken;

  gst_wireless_link_lock (self);
  result = begin_chain (self, flow);
  taken = result == GST_FLOW_OK || (result == GST_FLOW_NOT_LINKED
      && GST_EVENT_TYPE (event) != GST_EVENT_EOS);
  if (taken)
    enter_event (self, flow, event);
  gst_wireless_link_unlock (self);
  if (taken)
    return TRUE;
  return handle_dead_pad (self, event, result);
}

static gboolean
gst_wireless_link_pad_sink_event (GstPad * pad, GstObject * parent,
    GstEvent * event)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (parent);
  GstWirelessLinkFlow *flow = gst_wireless_link_pad_get_flow (pad);
  GstPad *srcpad;
  gboolean result;

  if (GST_EVENT_IS_SERIALIZED (event)
      && GST_EVENT_TYPE (event) != GST_EVENT_FLUSH_STOP)
    return handle_serialized_event (self, flow, event);
  srcpad = get_srcpad (self, flow);
  if (!srcpad) {
    gst_event_unref (event);
    return FALSE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START)
    result = begin_flush (self, flow, srcpad, event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    result = end_flush (self, flow, srcpad, event);
  else
    result = gst_pad_push_event (srcpad, event);
  gst_object_unref (srcpad);
  return result;
}

/* Handles a serialized query.
 *
 * ALLOCATION queries are refused. The link may keep any number of buffers for a
 * long time, so a buffer pool of a downstream element would run out of buffers.
 *
 * Any other query enters the link and keeps its position among the packets,
 * while the calling thread waits for the answer. Meanwhile the calling thread
 * cannot push any packets. If the link needs further packets in order to
 * advance, the query could never be answered, so it is refused. */
static gboolean
ask_serialized (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstQuery * query)
{
  gboolean comes, answer = FALSE;

  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION)
    return FALSE;
  gst_wireless_link_lock (self);
  comes = gst_wireless_link_flow_is_empty (flow)
      || (wireless_link_clock_is_running (&self->clock)
      && self->running_mode == GST_WIRELESS_LINK_MODE_REALTIME);
  if (comes && begin_chain (self, flow) == GST_FLOW_OK) {
    flow->query = query;
    flow->query_asked = FALSE;
    gst_wireless_link_put_object (self, flow, GST_MINI_OBJECT_CAST (query));
    gst_wireless_link_distribute (self);
    while (flow->query == query)
      g_cond_wait (&flow->query_cond, &self->lock);
    answer = flow->query_answer;
  }
  gst_wireless_link_unlock (self);
  return answer;
}

static gboolean
gst_wireless_link_pad_sink_query (GstPad * pad, GstObject * parent,
    GstQuery * query)
{
  if (GST_QUERY_IS_SERIALIZED (query))
    return ask_serialized (GST_WIRELESS_LINK (parent),
        gst_wireless_link_pad_get_flow (pad), query);
  return gst_pad_query_default (pad, parent, query);
}

/* --- output of packets ---------------------------------------------------- */

/* Returns a copy of the link's clock. With the copy, the task of the src pad
 * can measure the lateness of packets without the lock. With mode=timestamp,
 * packets have no lateness, so the copy is a stopped clock. */
static WirelessLinkClock
take_clock (GstWirelessLink * self)
{
  WirelessLinkClock clock = { NULL, };

  if (self->running_mode == GST_WIRELESS_LINK_MODE_TIMESTAMP)
    return clock;
  clock = self->clock;
  if (clock.clock)
    gst_object_ref (clock.clock);
  return clock;
}

static void
note_lateness (GstWirelessLinkFlow * flow, const WirelessLinkClock * clock,
    gint64 departure)
{
  gint64 lateness;

  if (!wireless_link_clock_is_running (clock))
    return;
  lateness = (gint64) wireless_link_clock_get_time (clock) - departure;
  g_array_append_val (flow->lateness, lateness);
}

/* Waits until there are items to push, and moves them to `flow->batch`. Returns
 * FALSE if the src pad has to stop. The caller holds the lock. */
static gboolean
take_batch (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  GstQueueArray *empty = flow->batch;

  while (flow->result == GST_FLOW_OK
      && gst_queue_array_get_length (flow->output) == 0) {
    flow->task_waits = TRUE;
    g_cond_wait (&flow->output_cond, &self->lock);
  }
  flow->task_waits = FALSE;
  if (flow->result != GST_FLOW_OK)
    return FALSE;
  flow->batch = flow->output;
  flow->output = empty;
  return TRUE;
}

static GstFlowReturn
push_list (GstWirelessLinkFlow * flow, GstPad * pad, GstBuffer * first)
{
  GstBufferList *list = gst_buffer_list_new ();
  GstWirelessLinkItem *next;
  GstFlowReturn result;
  gint n = 1;

  gst_buffer_list_add (list, first);
  while ((next = gst_queue_array_peek_head_struct (flow->batch))
      && next->in_list) {
    gst_buffer_list_add (list, GST_BUFFER_CAST (next->object));
    gst_queue_array_pop_head_struct (flow->batch);
    n++;
  }
  result = gst_pad_push_list (pad, list);
  g_atomic_int_add (&flow->n_output, -n);
  return result;
}

static GstFlowReturn
push_buffer (GstWirelessLinkFlow * flow, GstPad * pad,
    const WirelessLinkClock * clock, const GstWirelessLinkItem * item)
{
  GstFlowReturn result;

  note_lateness (flow, clock, item->time);
  if (item->in_list)
    return push_list (flow, pad, GST_BUFFER_CAST (item->object));
  result = gst_pad_push (pad, GST_BUFFER_CAST (item->object));
  g_atomic_int_add (&flow->n_output, -1);
  return result;
}

static gboolean
is_ending (GstWirelessLinkFlow * flow)
{
  return flow->eos_sent || flow->result == GST_FLOW_EOS || !flow->sinkpad
      || !gst_pad_is_linked (flow->sinkpad);
}

/* Records the EOS of `flow`. Returns TRUE if all flows have now ended and the
 * caller has to post the statistics. The caller holds the lock. */
static gboolean
note_eos (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  gboolean last = !self->stats_posted;
  guint i;

  flow->eos_sent = TRUE;
  for (i = 0; i < self->flows->len; i++) {
    GstWirelessLinkFlow *other = g_ptr_array_index (self->flows, i);

    if (other && !is_ending (other))
      last = FALSE;
  }
  if (last) {
    self->stats_posted = TRUE;
    gst_wireless_link_flush_log (self);
  }
  return last;
}

static void
push_event (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstPad * pad,
    GstEvent * event)
{
  gboolean last;

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    gst_wireless_link_lock (self);
    last = note_eos (self, flow);
    gst_wireless_link_unlock (self);
    if (last)
      gst_wireless_link_post_stats (self);
  }
  gst_pad_push_event (pad, event);
}

static void
push_query (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstPad * pad,
    GstQuery * query)
{
  gboolean mine, answer = FALSE;

  gst_wireless_link_lock (self);
  mine = flow->query == query;
  flow->query_asked = mine;
  gst_wireless_link_unlock (self);
  if (!mine)
    return;
  answer = gst_pad_peer_query (pad, query);
  gst_wireless_link_lock (self);
  flow->query = NULL;
  flow->query_asked = FALSE;
  flow->query_answer = answer;
  g_cond_broadcast (&flow->query_cond);
  gst_wireless_link_unlock (self);
}

static GstFlowReturn
push_item (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstPad * pad,
    const WirelessLinkClock * clock, const GstWirelessLinkItem * item)
{
  if (GST_IS_BUFFER (item->object))
    return push_buffer (flow, pad, clock, item);
  if (GST_IS_EVENT (item->object))
    push_event (self, flow, pad, GST_EVENT_CAST (item->object));
  else
    push_query (self, flow, pad, GST_QUERY_CAST (item->object));
  return GST_FLOW_OK;
}

static GstFlowReturn
push_batch (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstPad * pad,
    const WirelessLinkClock * clock)
{
  GstFlowReturn result = GST_FLOW_OK;
  GstWirelessLinkItem *next;

  while (result == GST_FLOW_OK
      && (next = gst_queue_array_pop_head_struct (flow->batch))) {
    GstWirelessLinkItem item = *next;

    result = push_item (self, flow, pad, clock, &item);
  }
  return result;
}

/* Stores a sticky event, which the src pad has not pushed, on the src pad.
 * While the flow is flushing, the pad may already have an event of the same
 * type. The event on the pad is then newer and is not replaced. */
static void
keep_event (GstWirelessLinkFlow * flow, GstPad * pad, GstEvent * event)
{
  GstEvent *kept = NULL;

  if (!GST_EVENT_IS_STICKY (event))
    return;
  if (flow->result == GST_FLOW_FLUSHING)
    kept = gst_pad_get_sticky_event (pad, GST_EVENT_TYPE (event), 0);
  if (!kept)
    gst_pad_store_sticky_event (pad, event);
  else
    gst_event_unref (kept);
}

static void
drop_item (GstWirelessLinkFlow * flow, GstPad * pad, GstWirelessLinkItem * item)
{
  if (GST_IS_EVENT (item->object)) {
    if (flow->result == GST_FLOW_NOT_LINKED
        || flow->result == GST_FLOW_FLUSHING)
      keep_event (flow, pad, GST_EVENT_CAST (item->object));
  } else if (GST_IS_QUERY (item->object) && !flow->query_asked) {
    flow->query = NULL;
    flow->query_answer = FALSE;
    g_cond_broadcast (&flow->query_cond);
  }
  if (GST_IS_BUFFER (item->object))
    g_atomic_int_add (&flow->n_output, -1);
  gst_wireless_link_item_free (item);
}

/* The caller holds the lock. */
static void
drop_all (GstWirelessLinkFlow * flow, GstPad * pad)
{
  GstWirelessLinkItem *item;

  while ((item = gst_queue_array_pop_head_struct (flow->batch)))
    drop_item (flow, pad, item);
  while ((item = gst_queue_array_pop_head_struct (flow->output)))
    drop_item (flow, pad, item);
}

static void
add_lateness (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  guint i;

  for (i = 0; i < flow->lateness->len; i++)
    statistics_histogram_add (self->lateness,
        g_array_index (flow->lateness, gint64, i));
  g_array_set_size (flow->lateness, 0);
}

/* The caller holds the lock. */
static void
end_batch (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstPad * pad,
    GstFlowReturn result)
{
  add_lateness (self, flow);
  if (result != GST_FLOW_OK) {
    GST_DEBUG_OBJECT (pad, "downstream returned %s",
        gst_flow_get_name (result));
    if (flow->result == GST_FLOW_OK)
      flow->result = result;
    drop_all (flow, pad);
    gst_wireless_link_flow_wake (flow);
  }
  if (self->running_mode == GST_WIRELESS_LINK_MODE_TIMESTAMP)
    gst_wireless_link_merge (self);
}

static void
gst_wireless_link_pad_loop (gpointer user_data)
{
  GstPad *pad = user_data;
  GstWirelessLinkFlow *flow = gst_wireless_link_pad_get_flow (pad);
  /* The task holds no reference to the element. The element still exists here,
   * because it stops this task before it releases the pad. */
  GstWirelessLink *self = flow->element;
  GstFlowReturn result;
  gboolean post_error;
  WirelessLinkClock clock;

  gst_wireless_link_lock (self);
  if (!take_batch (self, flow)) {
    drop_all (flow, pad);
    /* The lock is held while the task is paused. Otherwise another thread could
     * start the task just before the pause, and the pause would undo this
     * start. */
    gst_pad_pause_task (pad);
    gst_wireless_link_unlock (self);
    return;
  }
  clock = take_clock (self);
  gst_wireless_link_unlock (self);

  result = push_batch (self, flow, pad, &clock);
  gst_clear_object (&clock.clock);

  gst_wireless_link_lock (self);
  /* If the src pad fails, upstream normally gets the error when it pushes the
   * next packet of the flow. After EOS there is no next packet, so an error
   * message is posted.
   */
  post_error = flow->eos && flow->result == GST_FLOW_OK && is_failure (result);
  end_batch (self, flow, pad, result);
  gst_wireless_link_unlock (self);
  if (post_error)
    GST_ELEMENT_FLOW_ERROR (self, result);
}

/* --- events and queries upstream ------------------------------------------ */

/* Called after a RECONFIGURE event, because the src pad may have been linked
 * again. If the task of the src pad has stopped because the pad was not linked,
 * restarts the task. */
static void
restart_task (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstPad * pad)
{
  gboolean again;

  gst_wireless_link_lock (self);
  again = flow->result == GST_FLOW_NOT_LINKED;
  if (again)
    flow->result = GST_FLOW_OK;
  if (again)
    start_task (pad);
  gst_wireless_link_unlock (self);
}

static gboolean
gst_wireless_link_pad_src_event (GstPad * pad, GstObject * parent,
    GstEvent * event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE)
    restart_task (GST_WIRELESS_LINK (parent),
        gst_wireless_link_pad_get_flow (pad), pad);
  return gst_pad_event_default (pad, parent, event);
}

/* Answers a LATENCY query. With mode=realtime, adds the constant part of the
 * link's delay to the latency of the upstream elements. Queues and
 * retransmissions cause further delay, but it is not known in advance and is
 * not included. */
static gboolean
answer_latency (GstWirelessLink * self, GstWirelessLinkFlow * flow, GstPad *
    pad, GstObject * parent, GstQuery * query)
{
  GstClockTime min, max;
  gboolean live;
  guint64 delay;

  if (!gst_pad_query_default (pad, parent, query))
    return FALSE;
  gst_wireless_link_lock (self);
  if (self->running_mode == GST_WIRELESS_LINK_MODE_REALTIME) {
    delay = self->delays[flow->station == 0 ? 0 : 1];
    gst_query_parse_latency (query, &live, &min, &max);
    gst_query_set_latency (query, TRUE, min + delay, GST_CLOCK_TIME_NONE);
  }
  gst_wireless_link_unlock (self);
  return TRUE;
}

static gboolean
gst_wireless_link_pad_src_query (GstPad * pad, GstObject * parent,
    GstQuery * query)
{
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_LATENCY:
      return answer_latency (GST_WIRELESS_LINK (parent),
          gst_wireless_link_pad_get_flow (pad), pad, parent, query);
    case GST_QUERY_SCHEDULING:
      gst_query_add_scheduling_mode (query, GST_PAD_MODE_PUSH);
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

/* --- activation ----------------------------------------------------------- */

static void
stop_flow (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  gst_wireless_link_lock (self);
  flow->result = GST_FLOW_FLUSHING;
  gst_wireless_link_flow_clear (flow);
  gst_wireless_link_flow_wake (flow);
  if (self->running_mode == GST_WIRELESS_LINK_MODE_TIMESTAMP)
    gst_wireless_link_merge (self);
  gst_wireless_link_unlock (self);
}

static gboolean
gst_wireless_link_pad_activate_sink (GstPad * pad, GstObject * parent,
    GstPadMode mode, gboolean active)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (parent);
  GstWirelessLinkFlow *flow = gst_wireless_link_pad_get_flow (pad);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  if (!active) {
    stop_flow (self, flow);
    return TRUE;
  }
  gst_wireless_link_lock (self);
  gst_segment_init (&flow->segment, GST_FORMAT_UNDEFINED);
  flow->video = WIRELESS_LINK_VIDEO_NONE;
  flow->eos = flow->eos_sent = FALSE;
  gst_wireless_link_unlock (self);
  return TRUE;
}

static gboolean
gst_wireless_link_pad_activate_src (GstPad * pad, GstObject * parent,
    GstPadMode mode, gboolean active)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (parent);
  GstWirelessLinkFlow *flow = gst_wireless_link_pad_get_flow (pad);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  if (!active) {
    stop_flow (self, flow);
    return gst_pad_stop_task (pad);
  }
  gst_wireless_link_lock (self);
  flow->result = GST_FLOW_OK;
  gst_wireless_link_unlock (self);
  return start_task (pad);
}

static GstIterator *
gst_wireless_link_pad_iterate_links (GstPad * pad, GstObject * parent)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (parent);
  GstWirelessLinkFlow *flow = gst_wireless_link_pad_get_flow (pad);
  GstIterator *iterator = NULL;
  GValue value = G_VALUE_INIT;
  GstPad *other;

  gst_wireless_link_lock (self);
  other = GST_PAD_IS_SINK (pad) ? flow->srcpad : flow->sinkpad;
  if (other) {
    g_value_init (&value, GST_TYPE_PAD);
    g_value_set_object (&value, other);
  }
  gst_wireless_link_unlock (self);
  if (other) {
    iterator = gst_iterator_new_single (GST_TYPE_PAD, &value);
    g_value_unset (&value);
  }
  return iterator;
}

/* --- flow ----------------------------------------------------------------- */

static GstPad *
create_pad (GstWirelessLinkFlow * flow, GstPadTemplate * template,
    const gchar * prefix)
{
  gchar *name = g_strdup_printf ("%s_%u", prefix, flow->number);
  GstPad *pad = g_object_new (GST_TYPE_WIRELESS_LINK_PAD, "name", name,
      "direction", template->direction, "template", template, NULL);

  GST_WIRELESS_LINK_PAD (pad)->flow = gst_wireless_link_flow_ref (flow);
  g_weak_ref_set (&GST_WIRELESS_LINK_PAD (pad)->element, flow->element);
  gst_pad_set_iterate_internal_links_function (pad,
      gst_wireless_link_pad_iterate_links);
  GST_OBJECT_FLAG_SET (pad, GST_PAD_FLAG_PROXY_CAPS);
  g_free (name);
  return gst_object_ref_sink (pad);
}

static void
create_sinkpad (GstWirelessLinkFlow * flow, GstPadTemplate * template)
{
  flow->sinkpad = create_pad (flow, template, "sink");
  gst_pad_set_chain_function (flow->sinkpad, gst_wireless_link_pad_chain);
  gst_pad_set_chain_list_function (flow->sinkpad,
      gst_wireless_link_pad_chain_list);
  gst_pad_set_event_function (flow->sinkpad, gst_wireless_link_pad_sink_event);
  gst_pad_set_query_function (flow->sinkpad, gst_wireless_link_pad_sink_query);
  gst_pad_set_activatemode_function (flow->sinkpad,
      gst_wireless_link_pad_activate_sink);
}

static void
create_srcpad (GstWirelessLinkFlow * flow, GstPadTemplate * template)
{
  flow->srcpad = create_pad (flow, template, "src");
  gst_pad_set_event_function (flow->srcpad, gst_wireless_link_pad_src_event);
  gst_pad_set_query_function (flow->srcpad, gst_wireless_link_pad_src_query);
  gst_pad_set_activatemode_function (flow->srcpad,
      gst_wireless_link_pad_activate_src);
}

GstWirelessLinkFlow *
gst_wireless_link_flow_new (GstWirelessLink * self, guint number,
    GstPadTemplate * sink, GstPadTemplate * src)
{
  GstWirelessLinkFlow *flow = g_new0 (GstWirelessLinkFlow, 1);

  flow->refs = 1;
  flow->element = self;
  flow->number = number;
  flow->station = number % LINK_MAX_STATIONS;
  flow->result = GST_FLOW_FLUSHING;
  flow->input = gst_queue_array_new_for_struct (sizeof (GstWirelessLinkItem),
      16);
  flow->output = gst_queue_array_new_for_struct (sizeof (GstWirelessLinkItem),
      16);
  flow->batch = gst_queue_array_new_for_struct (sizeof (GstWirelessLinkItem),
      16);
  flow->lateness = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_cond_init (&flow->input_cond);
  g_cond_init (&flow->output_cond);
  g_cond_init (&flow->query_cond);
  gst_segment_init (&flow->segment, GST_FORMAT_UNDEFINED);
  gst_wireless_link_lock (self);
  gst_wireless_link_flow_init (flow);
  gst_wireless_link_unlock (self);
  create_sinkpad (flow, sink);
  create_srcpad (flow, src);
  return flow;
}

GstWirelessLinkFlow *
gst_wireless_link_flow_ref (GstWirelessLinkFlow * flow)
{
  g_atomic_int_inc (&flow->refs);
  return flow;
}

void
gst_wireless_link_flow_unref (GstWirelessLinkFlow * flow)
{
  if (!g_atomic_int_dec_and_test (&flow->refs))
    return;
  gst_wireless_link_flow_free_all (flow);
  gst_queue_array_free (flow->input);
  gst_queue_array_free (flow->output);
  gst_queue_array_free (flow->batch);
  g_array_unref (flow->lateness);
  g_cond_clear (&flow->input_cond);
  g_cond_clear (&flow->output_cond);
  g_cond_clear (&flow->query_cond);
  g_free (flow);
}

/* --- class ---------------------------------------------------------------- */

/* Returns the element with its lock held and with a reference, or NULL if the
 * pad was released. Call unlock_element () afterwards. */
static GstWirelessLink *
lock_element (GstWirelessLinkPad * pad)
{
  GstWirelessLink *self = g_weak_ref_get (&pad->element);

  if (!self)
    return NULL;
  gst_wireless_link_lock (self);
  if (pad->flow->sinkpad)
    return self;
  gst_wireless_link_unlock (self);
  gst_object_unref (self);
  return NULL;
}

/* Releases the lock and the reference that lock_element () has taken. If `self`
 * is NULL, does nothing. */
static void
unlock_element (GstWirelessLink * self)
{
  if (!self)
    return;
  gst_wireless_link_unlock (self);
  gst_object_unref (self);
}

static void
set_station (gpointer object, const GValue * value, GParamSpec * pspec)
{
  GstWirelessLinkFlow *flow = GST_WIRELESS_LINK_PAD (object)->flow;
  GstWirelessLink *self = lock_element (object);

  flow->station = g_value_get_uint (value);
  if (self)
    gst_wireless_link_announce_flow (self, flow);
  unlock_element (self);
}

static void
get_station (gpointer object, GValue * value, GParamSpec * pspec)
{
  GstWirelessLink *self = lock_element (object);

  g_value_set_uint (value, GST_WIRELESS_LINK_PAD (object)->flow->station);
  unlock_element (self);
}

static void
get_quality (gpointer object, GValue * value, GParamSpec * pspec)
{
  GstWirelessLink *self = lock_element (object);

  g_value_set_double (value, self ? gst_wireless_link_get_quality (self,
          GST_WIRELESS_LINK_PAD (object)->flow->station) : 1);
  unlock_element (self);
}

static const GstWirelessProperty properties[] = {
  /**
   * GstWirelessLinkPad:station:
   *
   * The station whose transmitter the flow uses. The default is the number of
   * the flow modulo 16. If the property is changed, only packets that enter the
   * link afterwards use the new station.
   */
  PROPERTY_COMPUTED ("station", "Station",
      "Number of the station whose transmitter and queue the flow uses; 0 is "
      "the mobile host",
      PROPERTY_PLAYING, G_TYPE_UINT,
      .maximum = LINK_MAX_STATIONS - 1,
      .set = set_station,
      .get = get_station),

  /**
   * GstWirelessLinkPad:channel-quality:
   *
   * The probability that a packet arrives undamaged at the first attempt, if
   * the station of this pad sends the packet now.
   */
  PROPERTY_COMPUTED ("channel-quality", "Channel quality",
      "Probability that a packet of this station sent now arrives undamaged "
      "at the first attempt (0 to 1)", PROPERTY_READABLE, G_TYPE_DOUBLE,
      .double_maximum = 1,
      .double_initial = 1,
      .get = get_quality),
};

static void
gst_wireless_link_pad_finalize (GObject * object)
{
  GstWirelessLinkPad *pad = GST_WIRELESS_LINK_PAD (object);

  g_weak_ref_clear (&pad->element);
  gst_wireless_link_flow_unref (pad->flow);
  G_OBJECT_CLASS (gst_wireless_link_pad_parent_class)->finalize (object);
}

static void
gst_wireless_link_pad_init (GstWirelessLinkPad * pad)
{
  g_weak_ref_init (&pad->element, NULL);
}

static void
gst_wireless_link_pad_class_init (GstWirelessLinkPadClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = gst_wireless_link_pad_finalize;
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);
}
