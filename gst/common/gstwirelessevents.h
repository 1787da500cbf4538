/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events between our elements, and events that one of them holds back. */

#pragma once

#include <gst/gst.h>

/* --- between a queue and a sink ------------------------------------------- */

/* Upstream: the receiver is a new one, which has nothing of what was sent so
 * far: what refers to it is of no use to that one. Sent from the thread that
 * renders, before the next buffer is taken. */
GstEvent *gst_wireless_event_new_restart (void);
gboolean gst_wireless_event_is_restart (GstEvent * event);

/* Upstream, to the encoder: the next frame is to be a key frame, with all
 * headers */
GstEvent *gst_wireless_event_new_key_unit_request (void);

/* Downstream, past what still waits: EOS stands behind that. How long the end
 * may take counts from here. */
GstEvent *gst_wireless_event_new_ending (void);
gboolean gst_wireless_event_is_ending (GstEvent * event);

/* --- held back until caps are known --------------------------------------- */

/* A flush takes all but what is said of the stream as a whole. events: a queue
 * of GstEvent, owned */
void gst_held_events_flush (GQueue * events);

/* A query that goes upstream. An element answers it that drops whole frames as soon
 * as downstream is full, as ifdqueue does, so that a source upstream of it never
 * waits for the network. */
GstQuery *gst_wireless_query_new_drops_when_full (void);
gboolean gst_wireless_query_is_drops_when_full (GstQuery * query);
