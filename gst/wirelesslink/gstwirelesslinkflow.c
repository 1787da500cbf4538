/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packets, events and queries that wait between a sink pad and its src pad.
 * Packets that are inside the core, the model of the link, are not among them.
 *
 * A serialized event or query is a barrier between the packets. The packets
 * between two barriers form an epoch. A barrier is output when the fate of all
 * packets before it is known. If a packet that follows the barrier has already
 * left the core, this packet waits until the barrier has been output. */

#include "gstwirelesslinkprivate.h"

#define GST_CAT_DEFAULT gst_wireless_link_debug

/* --- packets -------------------------------------------------------------- */

GstWirelessLinkPacket *
gst_wireless_link_packet_new (GstWirelessLinkFlow * flow, GstBuffer * buffer,
    gint64 arrival, gboolean in_list)
{
  GstWirelessLinkPacket *packet = g_slice_new (GstWirelessLinkPacket);

  packet->buffer = buffer;
  packet->epoch = g_queue_peek_tail (&flow->epochs);
  packet->generation = flow->generation;
  packet->arrival = arrival;
  packet->in_list = in_list;
  packet->epoch->in_flight++;
  return packet;
}

void
gst_wireless_link_packet_free (gpointer data)
{
  GstWirelessLinkPacket *packet = data;

  gst_clear_buffer (&packet->buffer);
  g_slice_free (GstWirelessLinkPacket, packet);
}

/* Releases `object`, unless it is a query. A query belongs to the thread that
 * has sent it. */
static void
release_object (GstMiniObject * object)
{
  if (!GST_IS_QUERY (object))
    gst_mini_object_unref (object);
}

void
gst_wireless_link_item_free (GstWirelessLinkItem * item)
{
  release_object (item->object);
}

/* --- epochs --------------------------------------------------------------- */

static void
add_epoch (GstWirelessLinkFlow * flow, gdouble rate)
{
  GstWirelessLinkEpoch *epoch = g_slice_new0 (GstWirelessLinkEpoch);

  epoch->rate = rate;
  g_queue_push_tail (&flow->epochs, epoch);
}

static void
free_epoch (GstWirelessLinkEpoch * epoch)
{
  GstWirelessLinkItem *item;

  while ((item = g_queue_pop_head (&epoch->early))) {
    gst_wireless_link_item_free (item);
    g_slice_free (GstWirelessLinkItem, item);
  }
  if (epoch->barrier)
    release_object (epoch->barrier);
  g_slice_free (GstWirelessLinkEpoch, epoch);
}

/* --- output --------------------------------------------------------------- */

gboolean
gst_wireless_link_flow_is_full (GstWirelessLinkFlow * flow)
{
  return g_atomic_int_get (&flow->n_output) >=
      (gint) flow->element->max_output_packets;
}

/* Returns whether `item`, which is a packet, an event or a query, is to be
 * output. If pushing to the src pad has failed, nothing more is output. There
 * is one exception: if the push failed because the pad is not linked, events
 * are still output, because the pad may be linked later. */
static gboolean
is_wanted (GstWirelessLinkFlow * flow, const GstWirelessLinkItem * item)
{
  if (flow->result == GST_FLOW_OK)
    return TRUE;
  return flow->result == GST_FLOW_NOT_LINKED && GST_IS_EVENT (item->object);
}

static gboolean
makes_overflow (GstWirelessLinkFlow * flow, const GstWirelessLinkItem * item)
{
  return GST_IS_BUFFER (item->object)
      && flow->element->running_mode == GST_WIRELESS_LINK_MODE_REALTIME
      && gst_wireless_link_flow_is_full (flow);
}

static void
refuse_query (GstWirelessLinkFlow * flow)
{
  flow->query = NULL;
  flow->query_answer = FALSE;
  g_cond_broadcast (&flow->query_cond);
}

static void
output_item (GstWirelessLinkFlow * flow, const GstWirelessLinkItem * item)
{
  GstWirelessLinkItem copy = *item;

  if (!is_wanted (flow, item)) {
    if (GST_IS_QUERY (item->object))
      refuse_query (flow);
    gst_wireless_link_item_free (&copy);
    return;
  }
  if (makes_overflow (flow, item)) {
    GST_DEBUG_OBJECT (flow->element, "flow %u: dropped a packet: output: "
        "max-output-packets packets already wait for downstream", flow->number);
    g_array_index (flow->element->dropped_output, guint64, flow->number)++;
    gst_wireless_link_item_free (&copy);
    return;
  }
  if (GST_IS_BUFFER (item->object))
    g_atomic_int_inc (&flow->n_output);
  gst_queue_array_push_tail_struct (flow->output, &copy);
  if (flow->task_waits) {
    flow->task_waits = FALSE;
    g_cond_signal (&flow->output_cond);
  }
}

static void
output_object (GstWirelessLinkFlow * flow, GstMiniObject * object)
{
  GstWirelessLinkItem item = { object, 0, FALSE };

  output_item (flow, &item);
}

/* Outputs all barriers that may be output now, and the packets that wait for
 * them. A barrier is a serialized event or query. The packets before a barrier
 * form an epoch.
 *
 * The function looks at the first epoch. If the fate (lost or not lost) of each
 * of its packets is known, it outputs the barrier of the epoch, and then the
 * packets of the next epoch that were waiting for this barrier. It then repeats
 * these steps with the next epoch. */
static void
pass_barriers (GstWirelessLinkFlow * flow)
{
  GstWirelessLinkEpoch *first = g_queue_peek_head (&flow->epochs);

  while (first->in_flight == 0 && first->barrier) {
    GstWirelessLinkItem *item;

    output_object (flow, g_steal_pointer (&first->barrier));
    free_epoch (g_queue_pop_head (&flow->epochs));
    first = g_queue_peek_head (&flow->epochs);
    while ((item = g_queue_pop_head (&first->early))) {
      output_item (flow, item);
      g_slice_free (GstWirelessLinkItem, item);
    }
  }
}

static gdouble
get_rate (GstMiniObject * object, gdouble rate_before)
{
  const GstSegment *segment;

  if (!GST_IS_EVENT (object)
      || GST_EVENT_TYPE (object) != GST_EVENT_SEGMENT)
    return rate_before;
  gst_event_parse_segment (GST_EVENT_CAST (object), &segment);
  return segment->rate;
}

static void
note_object (GstWirelessLinkFlow * flow, GstMiniObject * object)
{
  GstCaps *caps;

  if (!GST_IS_EVENT (object) || GST_EVENT_TYPE (object) != GST_EVENT_CAPS)
    return;
  gst_event_parse_caps (GST_EVENT_CAST (object), &caps);
  flow->video = wireless_link_video_from_caps (caps);
}

void
gst_wireless_link_flow_add_barrier (GstWirelessLinkFlow * flow,
    GstMiniObject * object)
{
  GstWirelessLinkEpoch *last = g_queue_peek_tail (&flow->epochs);
  gdouble rate = get_rate (object, last->rate);

  note_object (flow, object);
  if (last == g_queue_peek_head (&flow->epochs) && last->in_flight == 0) {
    last->rate = rate;
    output_object (flow, object);
    return;
  }
  last->barrier = object;
  add_epoch (flow, rate);
}

void
gst_wireless_link_flow_deliver (GstWirelessLinkFlow * flow,
    GstWirelessLinkEpoch * epoch, const GstWirelessLinkItem * item)
{
  if (epoch == g_queue_peek_head (&flow->epochs))
    output_item (flow, item);
  else
    g_queue_push_tail (&epoch->early, g_slice_dup (GstWirelessLinkItem, item));
}

void
gst_wireless_link_flow_finish (GstWirelessLinkFlow * flow,
    GstWirelessLinkEpoch * epoch)
{
  epoch->in_flight--;
  if (epoch->in_flight == 0 && epoch->barrier)
    pass_barriers (flow);
}

/* Gives up the packets of this flow that are still in the core: they count as
 * lost. The flow gets a new generation number, but these packets keep the old
 * one. If they leave the core later, they are recognized by this number and
 * discarded. */
void
gst_wireless_link_flow_give_up (GstWirelessLinkFlow * flow)
{
  GList *walk;

  flow->generation = flow->element->next_generation++;
  for (walk = flow->epochs.head; walk; walk = walk->next)
    ((GstWirelessLinkEpoch *) walk->data)->in_flight = 0;
  pass_barriers (flow);
}

/* --- flow ----------------------------------------------------------------- */

void
gst_wireless_link_flow_init (GstWirelessLinkFlow * flow)
{
  flow->generation = flow->element->next_generation++;
  add_epoch (flow, 1.0);
}

void
gst_wireless_link_flow_free_all (GstWirelessLinkFlow * flow)
{
  GstWirelessLinkEpoch *epoch;
  GstWirelessLinkItem *item;

  while ((epoch = g_queue_pop_head (&flow->epochs)))
    free_epoch (epoch);
  while ((item = gst_queue_array_pop_head_struct (flow->output))) {
    if (GST_IS_BUFFER (item->object))
      g_atomic_int_add (&flow->n_output, -1);
    gst_wireless_link_item_free (item);
  }
  while ((item = gst_queue_array_pop_head_struct (flow->input)))
    gst_wireless_link_item_free (item);
}

/* Called for an object that a flush is going to discard. If the object is a
 * sticky event, it is stored on the src pad, because upstream does not send it
 * again. Segment and EOS are not stored. */
static void
keep_sticky (GstWirelessLinkFlow * flow, GstMiniObject * object)
{
  if (!object || !GST_IS_EVENT (object) || !flow->srcpad
      || !GST_EVENT_IS_STICKY (GST_EVENT_CAST (object))
      || GST_EVENT_TYPE (object) == GST_EVENT_SEGMENT
      || GST_EVENT_TYPE (object) == GST_EVENT_EOS)
    return;
  note_object (flow, object);
  gst_pad_store_sticky_event (flow->srcpad, GST_EVENT_CAST (object));
}

static void
keep_all_sticky (GstWirelessLinkFlow * flow, GstQueueArray * items)
{
  guint i;

  for (i = 0; i < gst_queue_array_get_length (items); i++) {
    GstWirelessLinkItem *item = gst_queue_array_peek_nth_struct (items, i);

    keep_sticky (flow, item->object);
  }
}

/* Called at a flush. Some sticky events may still wait in the flow. This
 * function stores them on the src pad, in the order in which they arrived.
 * Segment and EOS are not stored. */
static void
keep_events (GstWirelessLinkFlow * flow)
{
  GList *walk;

  keep_all_sticky (flow, flow->output);
  for (walk = flow->epochs.head; walk; walk = walk->next)
    keep_sticky (flow, ((GstWirelessLinkEpoch *) walk->data)->barrier);
  keep_all_sticky (flow, flow->input);
}

/* Discards everything that is waiting in the flow, except sticky events.
 * Packets that are already in the core (the emulated link) cannot be discarded
 * yet. The flow gets a new generation number, while these packets keep the old
 * number. When such a packet leaves the core, it is recognized by its old
 * number and discarded.
 *
 * A query that waits in the flow is refused, so that its sender does not wait
 * any longer. The exception is a query that the task of the src pad is sending
 * downstream at this moment, because the task will report the answer. */
void
gst_wireless_link_flow_clear (GstWirelessLinkFlow * flow)
{
  keep_events (flow);
  gst_wireless_link_flow_free_all (flow);
  if (flow->query && !flow->query_asked)
    refuse_query (flow);
  flow->heard_until = flow->time_offset;
  flow->last_arrival = flow->time_offset;
  flow->timestamped = FALSE;
  flow->waits = FALSE;
  gst_wireless_link_flow_init (flow);
}

void
gst_wireless_link_flow_wake (GstWirelessLinkFlow * flow)
{
  flow->task_waits = FALSE;
  g_cond_broadcast (&flow->output_cond);
  g_cond_broadcast (&flow->input_cond);
}

gboolean
gst_wireless_link_flow_is_empty (GstWirelessLinkFlow * flow)
{
  GstWirelessLinkEpoch *first = g_queue_peek_head (&flow->epochs);

  return gst_queue_array_is_empty (flow->input)
      && first->in_flight == 0 && !first->barrier
      && gst_queue_array_is_empty (flow->output)
      && g_atomic_int_get (&flow->n_output) == 0;
}
