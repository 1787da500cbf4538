/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A bad link, or a radio medium that several stations share: packets go in at
 * one time and come out at another, or not, or damaged. A core: no I/O, times
 * are the caller's, all randomness comes from the seed. The same configuration
 * and arrivals give the same fates and times on every machine.
 *
 *   link = link_new (&config, &error);
 *   flow = link_add_flow (link, station);
 *   link_input (link, now, flow, size, user);
 *   while (link_poll_output (link, &packet)) ...   what left up to now
 *   while (link_poll_event (link, &event)) ...     what became of the others
 *   wait until link_next_wakeup (link), then link_timeout (link, now)
 *
 * Times are ns since the link began and never go back; an earlier one counts
 * as the latest seen. A packet leaves with the model's own time, never with
 * that of the call in which it is found.
 */

#pragma once

#include "linkconfig.h"
#include "linkpacket.h"
#include "linkreport.h"
#include "videopacket.h"

/* Copies the configuration. NULL with LINK_ERROR where it can't hold. */
Link *link_new (const LinkConfig * config, GError ** error);
/* user_free is called for each packet that is still in the link; may be NULL */
void link_free (Link * link, GDestroyNotify user_free);

/* A flow through the transmitter of this station, 0 to LINK_MAX_STATIONS - 1;
 * returns its number, from 0. Flows can be added at any time. */
guint link_add_flow (Link * link, guint station);
void link_set_station (Link * link, guint flow, guint station);

/* LINK_MODEL_PIPE: transmissions that begin at `from` or later take this rate
 * (bit/s) and delay (ns) instead of those of the configuration, in the direction
 * of this station. Steps are added in the order of their times, before these
 * have come. */
void link_add_step (Link * link, guint64 from, guint station, guint64 rate,
    guint64 delay);
/* LINK_MODEL_PIPE: packets of more than `above` bytes are lost that are in
 * transmission or on their way to the receiver at any time from `from` up to,
 * without, `to`. What waits in the queue stays. Cuts are added before they
 * begin, in any order. */
void link_add_cut (Link * link, guint64 from, guint64 to, guint32 above);

/* A packet arrives. It always ends in an output or in a fate event. */
void link_input (Link * link, guint64 now, guint flow, guint32 size,
    gpointer user);
/* The same of a packet of which it is known what it is of a frame */
void link_input_video (Link * link, guint64 now, guint flow, guint32 size,
    const VideoPacket * video, gpointer user);
/* Whether the queue of this flow's station would take one more packet now */
gboolean link_has_room (Link * link, guint flow, guint32 size);
gboolean link_has_room_for_video (Link * link, guint flow, guint32 size,
    const VideoPacket * video);
/* Nothing more comes of this flow, for now: what waits in the queue for the rest
 * of its frame is given up. */
void link_end_flow (Link * link, guint64 now, guint flow);
/* Time passes. */
void link_timeout (Link * link, guint64 now);
/* The next packet that left up to the last time told, in the order of
 * departures; FALSE when there is none. The caller owns user of copy 0. */
gboolean link_poll_output (Link * link, LinkPacket * packet);
gboolean link_poll_event (Link * link, LinkEvent * event);
/* When something may happen next: LINK_NEVER while all is at rest */
guint64 link_next_wakeup (Link * link);

void link_get_flow_stats (Link * link, guint flow, LinkFlowStats * stats);
void link_get_stats (Link * link, LinkStats * stats);
/* What LINK_QUEUE_IFD chose, of all streams, without lateness; FALSE with other
 * queues */
gboolean link_get_ifd_stats (Link * link, IfdStats * stats);
/* Packets and bytes that wait in the queue of a station */
void link_get_queue (Link * link, guint station, guint * packets,
    guint64 * bytes);
/* The chance that what is sent now gets through whole at the first attempt (a
 * packet of 1500 bytes, where bit errors are told), 0 to 1; 0 without a call */
gdouble link_get_quality (Link * link, guint station);
