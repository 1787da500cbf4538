/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events and queries that the elements of this project send to each other, and
 * helpers for events that an element holds back. */

#pragma once

#include <gst/gst.h>

/* --- events between a queue and a sink
 * ----------------------------------------- */

/* Upstream event: the sink now sends to a new receiver, which has none of the
 * previous frames. Frames that refer to previous frames are therefore useless
 * to this receiver. The event is sent in the streaming thread before the sink
 * accepts the next buffer.
 */
GstEvent *gst_wireless_event_new_restart (void);
gboolean gst_wireless_event_is_restart (GstEvent * event);

/* Upstream event for the encoder: requests a key frame with all headers as the
 * next frame. */
GstEvent *gst_wireless_event_new_key_unit_request (void);

/* Downstream event that overtakes queued buffers. It announces that EOS will
 * follow after these buffers. When the event arrives, the sink sets the
 * deadline for the end of the stream. */
GstEvent *gst_wireless_event_new_ending (void);
gboolean gst_wireless_event_is_ending (GstEvent * event);

/* --- events that are held back until the caps are known ------------------- */

/* Removes the events that a flush discards: SEGMENT, and all events that are
 * not sticky. Other sticky events stay in the queue. The queue owns its events
 * (GstEvent). */
void gst_held_events_flush (GQueue * events);

/* A query that a sink sends upstream. The elements that answer the query drop
 * whole frames as soon as downstream is full, as ifdqueue does. A source
 * upstream of such an element therefore never has to wait for the network. */
GstQuery *gst_wireless_query_new_drops_when_full (void);
gboolean gst_wireless_query_is_drops_when_full (GstQuery * query);
