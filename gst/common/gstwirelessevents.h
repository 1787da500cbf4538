/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events and queries that the elements of this project send to each other, and
 * helpers for events that an element holds back until it knows its caps. */

#pragma once

#include <gst/gst.h>

/* --- events between a queue and a sink
 * ----------------------------------------- */

/* Upstream event: the sink now sends to a new receiver, which has none of the
 * previous frames. This receiver cannot decode frames that refer to previous
 * frames, so elements upstream can drop such frames. The event is sent in the
 * streaming thread before the sink accepts the next buffer. */
GstEvent *gst_wireless_event_new_restart (void);
gboolean gst_wireless_event_is_restart (GstEvent * event);

/* Upstream event for the encoder: requests a key frame with all headers as the
 * next frame. */
GstEvent *gst_wireless_event_new_key_unit_request (void);

/* Downstream event that overtakes the buffers in the queues of the pipeline. It
 * announces that EOS will follow after these buffers. A sink that gets this
 * event sets the deadline for the end of the stream, after which it drops
 * buffers instead of waiting for the network. */
GstEvent *gst_wireless_event_new_ending (void);
gboolean gst_wireless_event_is_ending (GstEvent * event);

/* --- events that an element holds back until it knows its caps ------------ */

/* Removes from the queue `events` those events that a flush discards: SEGMENT,
 * and all events that are not sticky. The other events stay in the queue.
 * `events` contains events (GstEvent) that an element holds back until it knows
 * its caps. The queue owns these events. The element calls this function during
 * a flush. */
void gst_held_events_flush (GQueue * events);

/* Query with which a sink asks whether an element upstream, such as ifdqueue,
 * drops whole frames as soon as downstream is full. Only an element that does
 * so answers the query. If there is an answer, the sink knows that a source
 * upstream of this element never has to wait for the network, even if the sink
 * blocks. */
GstQuery *gst_wireless_query_new_drops_when_full (void);
gboolean gst_wireless_query_is_drops_when_full (GstQuery * query);
