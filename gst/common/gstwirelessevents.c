/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstwirelessevents.h: events and queries between the
 * elements of this project, and events that an element holds back until it
 * knows its caps. */

#include "gstwirelessevents.h"

/* --- events between a queue and a sink
 * ----------------------------------------- */

#define RESTART_NAME "application/x-gst-wireless-restart"
#define ENDING_NAME "application/x-gst-wireless-ending"

GstEvent *
gst_wireless_event_new_restart (void)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
      gst_structure_new_empty (RESTART_NAME));
}

gboolean
gst_wireless_event_is_restart (GstEvent * event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM
      && gst_event_has_name (event, RESTART_NAME);
}

GstEvent *
gst_wireless_event_new_ending (void)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_OOB,
      gst_structure_new_empty (ENDING_NAME));
}

gboolean
gst_wireless_event_is_ending (GstEvent * event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM_OOB
      && gst_event_has_name (event, ENDING_NAME);
}

/* Creates an event that requests a key frame. The event has the same form as an
 * event from gst_video_event_new_upstream_force_key_unit (). That function is
 * not used here, because it would require the video library. */
GstEvent *
gst_wireless_event_new_key_unit_request (void)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
      gst_structure_new ("GstForceKeyUnit",
          "running-time", GST_TYPE_CLOCK_TIME, GST_CLOCK_TIME_NONE,
          "all-headers", G_TYPE_BOOLEAN, TRUE, "count", G_TYPE_UINT, 0, NULL));
}

/* --- events that an element holds back until it knows its caps ------------ */

void
gst_held_events_flush (GQueue * events)
{
  GList *link = events->head;

  while (link) {
    GList *next = link->next;
    GstEvent *event = link->data;

    if (!GST_EVENT_IS_STICKY (event)
        || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT) {
      gst_event_unref (event);
      g_queue_delete_link (events, link);
    }
    link = next;
  }
}

#define DROPS_WHEN_FULL "GstWirelessDropsWhenFull"

GstQuery *
gst_wireless_query_new_drops_when_full (void)
{
  return gst_query_new_custom (GST_QUERY_CUSTOM,
      gst_structure_new_empty (DROPS_WHEN_FULL));
}

gboolean
gst_wireless_query_is_drops_when_full (GstQuery * query)
{
  const GstStructure *structure = GST_QUERY_TYPE (query) == GST_QUERY_CUSTOM ?
      gst_query_get_structure (query) : NULL;

  return structure && gst_structure_has_name (structure, DROPS_WHEN_FULL);
}
