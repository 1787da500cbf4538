/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The upstream event "a new receiver"; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrestartevent.h"

#define STRUCTURE_NAME "application/x-gst-wireless-restart"

GstEvent *
gst_event_new_restart (void)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
      gst_structure_new_empty (STRUCTURE_NAME));
}

gboolean
gst_event_is_restart (GstEvent * event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM
      && gst_event_has_name (event, STRUCTURE_NAME);
}
