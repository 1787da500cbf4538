/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one end of DCCP tells of its connection: that it began, why it is over, who
 * was refused. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdccpthinend.h"

void
gst_dccp_thin_end_queue_message (GstDccpThinEnd * end, GstStructure * structure)
{
  g_queue_push_tail (&end->messages,
      gst_message_new_element (end->element, structure));
}

static void
tell_connection (GstDccpThinEnd * end, const gchar * state,
    const DatagramPath * path)
{
  gchar *address = datagram_path_to_string (path);

  GST_INFO_OBJECT (end->element, "connection with %s: %s", address, state);
  gst_dccp_thin_end_queue_message (end, gst_structure_new ("dccp-connection",
          "state", G_TYPE_STRING, state, "address", G_TYPE_STRING, address,
          NULL));
  g_free (address);
}

static void
take_connection (GstDccpThinEnd * end, const DccpEvent * event)
{
  end->is_connected = TRUE;
  end->peer = event->path;
  tell_connection (end, "connected", &event->path);
}

/* Who listens still waits for the first one who gets through. */
static gboolean
is_waiting (GstDccpThinEnd * end)
{
  return end->settings.mode == GST_DCCP_THIN_MODE_LISTEN
      && !end->is_connected && !end->is_closing;
}

void
gst_dccp_thin_end_take_off (GstDccpThinEnd * end)
{
  if (end->is_connected)
    tell_connection (end, "ended", &end->peer);
  end->is_connected = FALSE;
}

/* The first reason counts. */
static void
take_end (GstDccpThinEnd * end, const DccpEvent * event)
{
  if (is_waiting (end))
    return;
  gst_dccp_thin_end_take_off (end);
  if (end->broken)
    return;
  if (event->type == DCCP_EVENT_UNREACHABLE && end->refusal)
    end->broken = g_error_copy (end->refusal);
  else
    end->broken = gst_dccp_thin_error_of (event);
}

void
gst_dccp_thin_end_take_event (GstDccpThinEnd * end, const DccpEvent * event)
{
  switch (event->type) {
    case DCCP_EVENT_CONNECTED:
      take_connection (end, event);
      break;
    case DCCP_EVENT_CLOSED:
    case DCCP_EVENT_RESET:
    case DCCP_EVENT_ABORTED:
    case DCCP_EVENT_TIMED_OUT:
    case DCCP_EVENT_UNREACHABLE:
      take_end (end, event);
      return;
    case DCCP_EVENT_REFUSED:
      tell_connection (end, "refused", &event->path);
      return;
    default:
      break;
  }
  end->funcs->take_event (end->element, event);
}

void
gst_dccp_thin_end_unlock_and_post (GstDccpThinEnd * end)
{
  GQueue messages = end->messages;
  GstMessage *message;

  g_queue_init (&end->messages);
  g_mutex_unlock (&end->lock);
  while ((message = g_queue_pop_head (&messages)))
    gst_element_post_message (end->element, message);
}
