/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events that wait for caps; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstheldevents.h"

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
