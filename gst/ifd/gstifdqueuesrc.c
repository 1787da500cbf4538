/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements the output of ifdqueue, which runs in the task of the src pad. The
 * task pushes frames, events and queries one after the other. While downstream
 * blocks a push, the task waits. This file also handles events and queries from
 * downstream. */

#include "gstifdqueueprivate.h"

#include "gstwirelessevents.h"
#include "tspictures.h"

#define GST_CAT_DEFAULT gst_ifd_queue_debug

/* In unqueued mode, upstream's streaming thread pushes the frames. If no
 * further frame has arrived from upstream for MAX_HOLD_TIME (in us), the task
 * of the src pad pushes the frames that are left in the queue. */
#define MAX_HOLD_TIME 20000
/* Minimum time in ns between two requests for a key frame. The element mmtpsink
 * uses the same time. Requests must not be more frequent, because key frames
 * are large. */
#define KEY_UNIT_INTERVAL (1 * GST_SECOND)
/* If the next key frame is expected within this time (in ns) anyway, no key
 * frame is requested. */
#define KEY_UNIT_NEAR (500 * GST_MSECOND)

/* --- requests for a key frame --------------------------------------------- */

void
gst_ifd_queue_reset_key_units (GstIfdQueue * self)
{
  self->key_unit_asked_at = self->i_frame_at = GST_CLOCK_TIME_NONE;
  self->i_frame_interval = 0;
}

void
gst_ifd_queue_note_i_frame (GstIfdQueue * self)
{
  const GstClockTime now = gst_ifd_queue_now (self), last = self->i_frame_at;

  /* A request for a key frame changes the time of the next I-frame. If a key
   * frame was requested between two I-frames, the interval between them is
   * therefore ignored. */
  if (GST_CLOCK_TIME_IS_VALID (last) && last < now
      && (!GST_CLOCK_TIME_IS_VALID (self->key_unit_asked_at)
          || self->key_unit_asked_at < last))
    self->i_frame_interval = now - last;
  self->i_frame_at = now;
}

/* Returns whether `frame` is a P-frame of the base layer, the lowest layer.
 * Later frames of the base layer refer to such a P-frame. If `frame` does not
 * have the flag IFD_FRAME_SLOTS, it is unknown which frames refer to it. Each
 * frame of a GOP is then assumed to refer to all P-frames before it, so each
 * P-frame counts as a frame of the base layer. */
static gboolean
is_base (const IfdFrame * frame)
{
  return frame->type == IFD_FRAME_P && (!(frame->flags & IFD_FRAME_SLOTS)
      || (frame->layer <= 0 && frame->depth == 0));
}

/* Returns whether the drop of a frame shows that a key frame is needed. `event`
 * describes the drop. A key frame is needed if the dropped frame belongs to the
 * base layer and was dropped only because it refers to an earlier dropped
 * frame. The drop of the earlier frame alone does not yet show the need,
 * because an I-frame may follow directly. */
static gboolean
needs_key_unit (const IfdEvent * event)
{
  return event->reason == IFD_DROP_DISTURBED && is_base (&event->frame);
}

/* Called when a key frame is needed. Returns whether to request it from
 * upstream now. No request is necessary if the last request was less than
 * KEY_UNIT_INTERVAL ago, or if the next key frame is expected within
 * KEY_UNIT_NEAR. If the function returns TRUE, it records the time of the
 * request. The caller holds the lock. */
static gboolean
take_key_unit_request (GstIfdQueue * self)
{
  const GstClockTime now = gst_ifd_queue_now (self);
  const GstClockTime next = self->i_frame_at + self->i_frame_interval;

  if (GST_CLOCK_TIME_IS_VALID (self->key_unit_asked_at)
      && now - self->key_unit_asked_at < KEY_UNIT_INTERVAL)
    return FALSE;
  if (self->i_frame_interval > 0 && now < next && next - now < KEY_UNIT_NEAR)
    return FALSE;
  self->key_unit_asked_at = now;
  return TRUE;
}

/* --- the queue, for both threads ------------------------------------------ */

void
gst_ifd_queue_set_flow (GstIfdQueue * self, GstFlowReturn flow)
{
  self->flow = flow;
  gst_ifd_queue_unwait (self);
}

void
gst_ifd_queue_unlock_and_post (GstIfdQueue * self)
{
  gboolean post = self->post_messages, ask = FALSE;
  GQueue drops = G_QUEUE_INIT;
  IfdLineDrop drop, *next;

  while (ifd_line_poll_drop (self->line, &drop)) {
    ask |= needs_key_unit (&drop.event);
    g_queue_push_tail (&drops, g_memdup2 (&drop, sizeof (drop)));
  }
  ask = ask && take_key_unit_request (self);
  g_mutex_unlock (&self->lock);

  while ((next = g_queue_pop_head (&drops))) {
    if (post)
      gst_element_post_message (GST_ELEMENT_CAST (self),
          gst_ifd_queue_new_drop_message (self, next));
    gst_ifd_queue_item_clear (&next->item);
    g_free (next);
  }
  if (!ask)
    return;
  GST_DEBUG_OBJECT (self,
      "asks upstream for a key frame: a reference frame was "
      "dropped, and the next frames refer to it");
  gst_pad_push_event (self->sinkpad,
      gst_wireless_event_new_key_unit_request ());
}

void
gst_ifd_queue_flush_line (GstIfdQueue * self, gboolean keep_sticky)
{
  GQueue items = G_QUEUE_INIT;
  IfdLineItem item, *next;

  while (ifd_line_flush (self->line, &item))
    g_queue_push_tail (&items, g_memdup2 (&item, sizeof (item)));
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);

  while ((next = g_queue_pop_head (&items))) {
    if (keep_sticky && GST_IS_EVENT (next->object)
        && GST_EVENT_IS_STICKY (next->object)
        && GST_EVENT_TYPE (next->object) != GST_EVENT_SEGMENT
        && GST_EVENT_TYPE (next->object) != GST_EVENT_EOS)
      gst_pad_store_sticky_event (self->srcpad, GST_EVENT_CAST (next->object));
    gst_ifd_queue_item_clear (next);
    g_free (next);
  }
  g_mutex_lock (&self->lock);
}

/* --- pushing, one thread at a time --------------------------------------- */

/* Stops pushing. The caller holds the lock. If a push has failed, `flow` is the
 * result of this push. If EOS was pushed, `flow` is GST_FLOW_EOS. The function
 * stores this value in self->flow. No thread pushes until self->flow is
 * GST_FLOW_OK again, and the task of the src pad pauses itself. */
static void
stop_pushing (GstIfdQueue * self, GstFlowReturn flow)
{
  GST_DEBUG_OBJECT (self, "stops pushing: %s", gst_flow_get_name (flow));
  if (self->flow == GST_FLOW_OK)
    gst_ifd_queue_set_flow (self, flow);
}

/* Adapts the continuity counters of the packets with the PID `pid` in a buffer
 * of a transport stream. Dropped pictures would otherwise leave gaps in these
 * counters. */
static GstBuffer *
shift_counters (GstIfdQueue * self, GstBuffer * buffer, guint pid)
{
  GstMapInfo map;

  if (pid == 0 || self->ts_removed % 16 == 0)
    return buffer;
  buffer = gst_buffer_make_writable (buffer);
  if (!gst_buffer_map (buffer, &map, GST_MAP_READWRITE))
    return buffer;
  ts_shift_counters (map.data, map.size, pid, self->ts_removed);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static GstBuffer *
prepare_frame (GstIfdQueue * self, IfdLineItem * item)
{
  GstBuffer *buffer = GST_BUFFER_CAST (g_steal_pointer (&item->object));

  buffer = shift_counters (self, buffer, item->pid);
  /* A transport stream also contains sound. Even if a frame was dropped, the
   * sound continues without a gap, so DISCONT is not set. */
  if (item->pid != 0)
    item->discont = FALSE;
  if (item->discont || item->lacks_sequence)
    buffer = gst_buffer_make_writable (buffer);
  if (item->discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  if (item->lacks_sequence) {
    gst_buffer_prepend_memory (buffer, g_steal_pointer (&item->sequence));
    g_mutex_lock (&self->lock);
    self->sequence_headers_repeated++;
    g_mutex_unlock (&self->lock);
  }
  gst_ifd_queue_item_clear (item);
  return buffer;
}

static void
finish_push (GstIfdQueue * self, GstFlowReturn flow, gboolean is_frame)
{
  gboolean tell;

  g_mutex_lock (&self->lock);
  if (flow != GST_FLOW_OK)
    stop_pushing (self, flow);
  else if (is_frame)
    ifd_line_sent (self->line, gst_ifd_queue_now (self));
  self->passed |= flow == GST_FLOW_OK && is_frame;
  /* If a push on the src pad fails, upstream learns this from the return value
   * when it pushes its next buffer to this element. After EOS, upstream pushes
   * no more buffers, so an error is posted instead. */
  tell = self->eos && (flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS);
  g_mutex_unlock (&self->lock);

  if (!tell)
    return;
  GST_ELEMENT_FLOW_ERROR (self, flow);
  gst_pad_push_event (self->srcpad, gst_event_new_eos ());
}

static void
push_frame (GstIfdQueue * self, IfdLineItem * item)
{
  GstBuffer *second = g_steal_pointer (&item->second);
  GstFlowReturn flow;

  if (second)
    second = shift_counters (self, second, item->pid);

  if (!self->looked_downstream)
    gst_ifd_queue_look_downstream (self);
  self->looked_downstream = TRUE;

  GST_LOG_OBJECT (self, "sends %c-frame %" G_GUINT64_FORMAT " of %u bytes",
      ifd_frame_type_char (item->frame.type), item->frame.number,
      item->frame.size);
  flow = gst_pad_push (self->srcpad, prepare_frame (self, item));
  if (second && flow == GST_FLOW_OK)
    flow = gst_pad_push (self->srcpad, g_steal_pointer (&second));
  gst_clear_buffer (&second);
  finish_push (self, flow, TRUE);
}

/* Pushes data of a transport stream that are not a frame. Such data lie outside
 * of any frame, or they are sent instead of a dropped frame. */
static void
push_data (GstIfdQueue * self, IfdLineItem * item)
{
  GstBuffer *buffer = GST_BUFFER_CAST (g_steal_pointer (&item->object));
  GstFlowReturn flow = GST_FLOW_OK;

  buffer = shift_counters (self, buffer, item->pid);
  self->ts_removed += item->n_removed;
  if (gst_buffer_get_size (buffer) > 0)
    flow = gst_pad_push (self->srcpad, g_steal_pointer (&buffer));
  gst_clear_buffer (&buffer);
  gst_ifd_queue_item_clear (item);
  finish_push (self, flow, FALSE);
}

static void
push_event (GstIfdQueue * self, GstEvent * event)
{
  gboolean is_eos = GST_EVENT_TYPE (event) == GST_EVENT_EOS;

  if (is_eos)
    gst_ifd_queue_post_stats (self);
  gst_pad_push_event (self->srcpad, event);
  if (!is_eos)
    return;
  g_mutex_lock (&self->lock);
  /* Pushing stops after EOS. However, a new stream may have begun while EOS was
   * pushed. In this case, `eos` is FALSE or the queue is not empty, and pushing
   * continues. */
  if (self->eos && ifd_line_is_empty (self->line))
    stop_pushing (self, GST_FLOW_EOS);
  g_mutex_unlock (&self->lock);
}

static void
push_query (GstIfdQueue * self, GstQuery * query)
{
  gboolean result = gst_pad_peer_query (self->srcpad, query);

  g_mutex_lock (&self->lock);
  self->query_running = NULL;
  self->query_done = query;
  self->query_result = result;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Removes the next item of the queue that has to be pushed: a frame, other
 * data, an event or a query. Returns FALSE if no item may be pushed now: the
 * queue is empty, a thread is already pushing, or `flow` is not GST_FLOW_OK.
 * The caller holds the lock. */
static gboolean
pop_item (GstIfdQueue * self, IfdLineItem * item)
{
  if (self->flow != GST_FLOW_OK || self->pushing
      || !ifd_line_pop (self->line, gst_ifd_queue_now (self), item))
    return FALSE;
  self->pushing = TRUE;
  if (GST_IS_QUERY (item->object))
    self->query_running = GST_QUERY_CAST (item->object);
  return TRUE;
}

/* Pushes an item: a frame, other data, an event or a query. The caller holds
 * the lock. The lock is released during the push. */
static void
push_item (GstIfdQueue * self, IfdLineItem * item)
{
  g_mutex_unlock (&self->lock);
  if (item->is_frame)
    push_frame (self, item);
  else if (GST_IS_BUFFER (item->object))
    push_data (self, item);
  else if (GST_IS_EVENT (item->object))
    push_event (self, GST_EVENT_CAST (item->object));
  else
    push_query (self, GST_QUERY_CAST (item->object));
  g_mutex_lock (&self->lock);
  self->pushing = FALSE;
}

/* Pushes the next item of the queue in the calling thread. Returns FALSE if no
 * item may be pushed now: the queue is empty, another thread is already
 * pushing, or `flow` is not GST_FLOW_OK. The caller holds the lock. The lock is
 * released during the push. */
static gboolean
push_next (GstIfdQueue * self)
{
  IfdLineItem item;

  if (!pop_item (self, &item))
    return FALSE;
  push_item (self, &item);
  return TRUE;
}

/* Returns whether upstream has to wait because the queue is full. A live source
 * does not wait: frames are dropped instead. A stored stream has to wait,
 * because its frames are never late, so no frame needs to be dropped. Called
 * with the lock held. */
static gboolean
waits_for_room (GstIfdQueue * self)
{
  return self->flow == GST_FLOW_OK && !self->upstream_is_live
      && !ifd_line_has_room (self->line);
}

void
gst_ifd_queue_wait_for_room (GstIfdQueue * self)
{
  while (waits_for_room (self)) {
    if (!gst_ifd_queue_is_unqueued (self) || !push_next (self))
      g_cond_wait (&self->changed, &self->lock);
  }
}

/* Returns the time in us for which the task of the src pad has to wait before
 * it may push an item; 0 if it may push now. The caller holds the lock.
 *
 * The task has to wait only in unqueued mode. In this mode, upstream's
 * streaming thread pushes the frames itself, which saves a thread switch per
 * frame. The task pushes frames that are left in the queue only when no new
 * frame has arrived for MAX_HOLD_TIME us. The task does not wait if the stream
 * has ended, or if the queue contains an item that is not a frame, such as an
 * event. */
static gint64
get_hold_time (GstIfdQueue * self)
{
  gint64 left;

  if (!gst_ifd_queue_is_unqueued (self) || self->eos
      || ifd_line_is_empty (self->line)
      || ifd_line_count_objects (self->line) > 0)
    return 0;
  left = self->came_at + MAX_HOLD_TIME - g_get_monotonic_time ();
  return MAX (left, 0);
}

/* Waits until the condition variable `changed` is signalled. If `hold_time` is
 * positive, waits for at most `hold_time` us. Called with the lock held. */
static void
wait_for_change (GstIfdQueue * self, gint64 hold_time)
{
  if (hold_time > 0)
    g_cond_wait_until (&self->changed, &self->lock,
        g_get_monotonic_time () + hold_time);
  else
    g_cond_wait (&self->changed, &self->lock);
}

static void
gst_ifd_queue_loop (gpointer pad)
{
  GstIfdQueue *self = GST_IFD_QUEUE (GST_PAD_PARENT (pad));
  gboolean popped = FALSE;
  IfdLineItem item;
  gint64 hold_time;

  g_mutex_lock (&self->lock);
  while (self->flow == GST_FLOW_OK && !popped) {
    hold_time = get_hold_time (self);
    popped = hold_time == 0 && pop_item (self, &item);
    if (!popped)
      wait_for_change (self, hold_time);
  }
  if (popped) {
    /* An item was removed, so the queue may have room for another one. If
     * upstream's streaming thread is waiting for room, it is woken here. */
    g_cond_broadcast (&self->changed);
    push_item (self, &item);
    /* In unqueued mode, upstream's streaming thread may be waiting until no
     * other thread is pushing. The push of this thread has just ended.
     * Upstream's streaming thread is therefore woken here. */
    if (gst_ifd_queue_is_unqueued (self))
      g_cond_broadcast (&self->changed);
  }
  if (self->flow != GST_FLOW_OK)
    gst_pad_pause_task (self->srcpad);
  g_mutex_unlock (&self->lock);
}

void
gst_ifd_queue_start_task (GstIfdQueue * self)
{
  if (!GST_PAD_IS_ACTIVE (self->srcpad)) {
    gst_ifd_queue_set_flow (self, GST_FLOW_FLUSHING);
    return;
  }
  gst_ifd_queue_set_flow (self, GST_FLOW_OK);
  gst_pad_start_task (self->srcpad, gst_ifd_queue_loop, self->srcpad, NULL);
}

/* --- events and queries from downstream ----------------------------------- */

/* Called when the sink downstream has a new receiver. A new receiver needs an
 * I-frame first. All frames before the next I-frame are therefore dropped, and
 * upstream is asked for an I-frame. */
static gboolean
take_restart (GstIfdQueue * self, GstEvent * event)
{
  GST_DEBUG_OBJECT (self, "a new receiver: begins with the next I-frame");
  gst_event_unref (event);
  g_mutex_lock (&self->lock);
  ifd_line_restart (self->line);
  /* The queue may have room for a frame now. If upstream's streaming thread is
   * waiting for room, it is woken here. */
  g_cond_broadcast (&self->changed);
  gst_ifd_queue_unlock_and_post (self);
  gst_pad_push_event (self->sinkpad,
      gst_wireless_event_new_key_unit_request ());
  return TRUE;
}

/* Handles a RECONFIGURE event from downstream. One reason for this event is
 * that the src pad was linked to another element. If the last push returned
 * NOT_LINKED, pushing begins again, with the next I-frame. The new element
 * needs an I-frame because it has received no earlier frames. */
static gboolean
take_reconfigure (GstIfdQueue * self, GstEvent * event)
{
  g_mutex_lock (&self->lock);
  if (self->flow == GST_FLOW_NOT_LINKED) {
    GST_DEBUG_OBJECT (self, "is linked again: begins with the next I-frame");
    ifd_line_sent (self->line, gst_ifd_queue_now (self));
    ifd_line_restart (self->line);
    gst_ifd_queue_start_task (self);
  }
  gst_ifd_queue_unlock_and_post (self);
  return gst_pad_push_event (self->sinkpad, event);
}

/* Returns whether the sink pad is in pull mode. In pull mode, this element
 * itself chooses the position at which it reads from upstream. A seek would
 * change this position, so seeks are refused in pull mode. */
static gboolean
is_reading (GstIfdQueue * self)
{
  return GST_PAD_MODE (self->sinkpad) == GST_PAD_MODE_PULL;
}

static gboolean
gst_ifd_queue_src_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstIfdQueue *self = GST_IFD_QUEUE (parent);

  if (gst_wireless_event_is_restart (event))
    return take_restart (self, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE)
    return take_reconfigure (self, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK && is_reading (self)) {
    gst_event_unref (event);
    return FALSE;
  }
  return gst_pad_event_default (pad, parent, event);
}

static gboolean
gst_ifd_queue_src_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstIfdQueue *self = GST_IFD_QUEUE (parent);
  GstFormat format;

  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return gst_ifd_queue_query_latency (self, query);
  if (gst_wireless_query_is_drops_when_full (query))
    return TRUE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_SEEKING && is_reading (self)) {
    gst_query_parse_seeking (query, &format, NULL, NULL, NULL);
    gst_query_set_seeking (query, format, FALSE, 0, -1);
    return TRUE;
  }
  return gst_pad_query_default (pad, parent, query);
}

/* --- life cycle ---------------------------------------------------------- */

static gboolean
gst_ifd_queue_activate_src (GstPad * pad, GstObject * parent,
    GstPadMode mode, gboolean active)
{
  GstIfdQueue *self = GST_IFD_QUEUE (parent);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  g_mutex_lock (&self->lock);
  if (active) {
    self->looked_downstream = FALSE;
    gst_ifd_queue_start_task (self);
  } else {
    gst_ifd_queue_set_flow (self, GST_FLOW_FLUSHING);
  }
  g_mutex_unlock (&self->lock);
  return active || gst_pad_stop_task (pad);
}

void
gst_ifd_queue_init_src (GstIfdQueue * self)
{
  gst_pad_set_event_function (self->srcpad, gst_ifd_queue_src_event);
  gst_pad_set_query_function (self->srcpad, gst_ifd_queue_src_query);
  gst_pad_set_activatemode_function (self->srcpad, gst_ifd_queue_activate_src);
  gst_pad_use_fixed_caps (self->srcpad);
}
