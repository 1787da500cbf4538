/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way into the link: its flows, what their packets are of frames where the
 * queue wants to know, and who waits for room.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstwirelesslinkprivate.h"

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

/* NULL: what it is makes no difference to the queue. */
static const VideoPacket *
look_at (GstWirelessLink * self, GstWirelessLinkFlow * flow,
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

  self->in_flight++;
  self->last_fate = MAX (self->last_fate, now);
  link_input_video (self->link, now, flow->number, get_size (packet->buffer),
      look_at (self, flow, packet->buffer, &video), packet);
  flow->n_buffers++;
}

void
gst_wireless_link_end_flow (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  guint64 now = self->link_time;

  if (self->running_mode == GST_WIRELESS_LINK_MODE_REALTIME)
    now = gst_wireless_link_get_time (self);
  if (self->link && self->knows_frames)
    link_end_flow (self->link, now, flow->number);
}

gboolean
gst_wireless_link_lets_in (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstBuffer * buffer)
{
  VideoPacket packet;

  return !self->blocking || link_has_room_for_video (self->link, flow->number,
      get_size (buffer), look_at (self, flow, buffer, &packet));
}

void
gst_wireless_link_wait_for_room (GstWirelessLink * self,
    GstWirelessLinkFlow * flow, GstBuffer * buffer)
{
  while (!self->flushing && flow->result == GST_FLOW_OK) {
    link_timeout (self->link, gst_wireless_link_get_time (self));
    gst_wireless_link_distribute (self);
    if (gst_wireless_link_lets_in (self, flow, buffer))
      return;
    g_cond_wait (&flow->input_cond, &self->lock);
  }
}
