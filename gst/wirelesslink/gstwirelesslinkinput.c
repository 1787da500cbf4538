/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input of the link: adds flows to the core (the model of the link), checks
 * whether there is room for a packet, and passes packets to the core. If the
 * queue drops whole video frames, the core also receives a description of each
 * video packet. */

#include "gstwirelesslinkprivate.h"

#define GST_CAT_DEFAULT gst_wireless_link_debug

void
gst_wireless_link_announce_flow (GstWirelessLink * self,
    GstWirelessLinkFlow * flow)
{
  if (!self->link)
    return;
  for (; self->n_announced <= flow->number; self->n_announced++)
    link_add_flow (self->link, self->n_announced % LINK_MAX_STATIONS);
  g_array_set_size (self->dropped_output, self->n_announced);
  link_set_station (self->link, flow->number, flow->station);
}

static guint32
get_size (GstBuffer * buffer)
{
  return MIN (gst_buffer_get_size (buffer), G_MAXUINT32);
}

/* If the packet belongs to a video frame and the queue discipline works on
 * frames, returns a description of the packet. Otherwise returns NULL. */
static const VideoPacket *
describe_video (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstBuffer * buffer, VideoPacket * packet)
{
  if (!self->knows_frames || !wireless_link_video_parse (flow->video, buffer,
          flow->n_buffers, packet))
    return NULL;
  return packet;
}

void
gst_wireless_link_put (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstWirelessLinkPacket * packet, guint64 now)
{
  VideoPacket video;

  GST_LOG_OBJECT (self, "flow %u: packet of %u bytes enters at %"
      GST_TIME_FORMAT, flow->number, get_size (packet->buffer),
      GST_TIME_ARGS (now));
  self->in_flight++;
  self->last_fate = MAX (self->last_fate, now);
  link_input_video (self->link, now, flow->number, get_size (packet->buffer),
      describe_video (self, flow, packet->buffer, &video), packet);
  flow->n_buffers++;
}

void
gst_wireless_link_end_flow (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  guint64 now = self->link_time;

  if (self->running_mode == GST_WIRELESS_LINK_MODE_REALTIME)
    now = wireless_link_clock_get_time (&self->clock);
  if (self->link && self->knows_frames)
    link_end_flow (self->link, now, flow->number);
}

gboolean
gst_wireless_link_lets_in (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstBuffer * buffer)
{
  VideoPacket packet;

  return !self->blocking || link_has_room_for_video (self->link, flow->number,
      get_size (buffer), describe_video (self, flow, buffer, &packet));
}

/* Returns whether `object` is EOS or a query. Before such an object enters the
 * link, the queue has to drop incomplete video frames. Otherwise there would be
 * a deadlock:
 *
 * - The object waits until all packets before it have left the link.
 * - The queue keeps the packets of an incomplete frame until the rest of the
 *   frame arrives.
 * - The rest can arrive only after the object has left the link. */
static gboolean
is_end (GstMiniObject * object)
{
  return GST_IS_QUERY (object) || (GST_IS_EVENT (object)
      && GST_EVENT_TYPE (object) == GST_EVENT_EOS);
}

void
gst_wireless_link_put_object (GstWirelessLink * self,
    GstWirelessLinkFlow * flow, GstMiniObject * object)
{
  if (is_end (object))
    gst_wireless_link_end_flow (self, flow);
  gst_wireless_link_flow_add_barrier (flow, object);
}
