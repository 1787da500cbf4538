/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model of a bad link, or of a radio medium that several stations share.
 * Packets enter the link at one time and leave it at another, or are lost or
 * damaged. The model does no I/O: the caller supplies the times, and all
 * randomness comes from the seed. The same configuration and the same arriving
 * packets give the same losses, damage and departure times on every machine.
 *
 *   link = link_new (&config, &error);
 *   flow = link_add_flow (link, station);
 *   link_input_video (link, now, flow, size, video, user);
 *   while (link_poll_output (link, &packet)) ...   packets that left until now
 *   while (link_poll_event (link, &event)) ...     fates and other events
 *   wait until link_next_wakeup (link), then link_timeout (link, now)
 *
 * Times are in ns since the start of the link. The time of the link never
 * decreases: if `now` is less than in an earlier call, the link uses the
 * greatest `now` of all earlier calls. The departure time of a packet is
 * computed by the model; it does not depend on the time of the call that
 * returns the packet.
 */

#pragma once

#include "linkconfig.h"
#include "linkpacket.h"
#include "linkreport.h"
#include "videopacket.h"

/* Creates a link with a copy of the configuration. Returns NULL with an error
 * of the domain LINK_ERROR if the configuration is invalid. */
Link *link_new (const LinkConfig * config, GError ** error);
/* Frees the link. If `user_free` is not NULL, it is called for each packet that
 * is still in the link, except for duplicates. Its argument is the pointer
 * `user` that the caller has passed with the packet. */
void link_free (Link * link, GDestroyNotify user_free);

/* Adds a flow of packets, which the station `station` sends. Stations have the
 * numbers 0 to LINK_MAX_STATIONS - 1. Returns the number of the flow; the first
 * flow has the number 0. Flows can be added at any time. */
guint link_add_flow (Link * link, guint station);
void link_set_station (Link * link, guint flow, guint station);

/* Adds a step, which is a change of the rate and the delay at a given time.
 * Only the model LINK_MODEL_PIPE, a link with a rate and a delay per direction,
 * has steps. The step applies in the direction in which `station` sends, to
 * transmissions that begin at the time `from` or later. `rate` is in bit/s, and
 * `delay` is in ns. They replace the rate and the delay of the configuration.
 * Steps must be added in the order of their times. Each step must be added
 * before the time of the link reaches `from`. */
void link_add_step (Link * link, guint64 from, guint station, guint64 rate,
    guint64 delay);
/* Adds a cut, which is an interruption of the link. Only the model
 * LINK_MODEL_PIPE, a link with a rate and a delay per direction, has cuts. The
 * cut lasts from `from` (included) to `to` (excluded). Packets of more than
 * `above` bytes are lost if, during this time, they are in transmission or on
 * their way to the receiver. Packets in the queue are not lost. A cut must be
 * added before the link has reached the time `from`. Several cuts may be added
 * in any order. */
void link_add_cut (Link * link, guint64 from, guint64 to, guint32 above);

/* A packet of `size` bytes of the flow `flow` arrives at the time `now`. Later,
 * either link_poll_output () returns the packet, or link_poll_event () returns
 * an event of the type LINK_EVENT_FATE that says why it was lost. `user` is
 * returned with the packet or the event. `video` describes the contents of a
 * packet of a video stream, for example the type of its frame. It is NULL for
 * other packets. */
void link_input_video (Link * link, guint64 now, guint flow, guint32 size,
    const VideoPacket * video, gpointer user);
/* Returns whether the queue of this flow's station would accept a packet of
 * this size now. `video` is the same as in link_input_video (). */
gboolean link_has_room_for_video (Link * link, guint flow, guint32 size,
    const VideoPacket * video);
/* Tells the link that the flow `flow` has ended or pauses. In the queue,
 * packets of a video frame may wait for other packets of the frame that have
 * not arrived yet. The link drops the waiting packets of such frames of the
 * flow. */
void link_end_flow (Link * link, guint64 now, guint flow);
/* Advances the link to `now`. */
void link_timeout (Link * link, guint64 now);
/* If a packet has left the link, stores it in `packet` and returns TRUE.
 * Otherwise returns FALSE. The packets are returned one by one, in the order of
 * departure. A packet is returned only if it has left by the current time of
 * the link, which is the greatest `now` that the caller has passed to any
 * function. If the packet is an original, its field `copy` is 0, and its
 * pointer `user` belongs to the caller again. A duplicate shares the pointer of
 * its original. */
gboolean link_poll_output (Link * link, LinkPacket * packet);
gboolean link_poll_event (Link * link, LinkEvent * event);
/* Returns the time of the next event in the link. LINK_NEVER = no event will
 * occur until a new packet arrives. */
guint64 link_next_wakeup (Link * link);

void link_get_flow_stats (Link * link, guint flow, LinkFlowStats * stats);
void link_get_stats (Link * link, LinkStats * stats);
/* Stores the statistics of the queues in `stats` and returns TRUE, if the
 * queues use the discipline I-Frame Delay (LINK_QUEUE_IFD). Otherwise returns
 * FALSE. Each counter is the sum over all video streams. The fields about
 * lateness are percentiles, which cannot be summed, so they are not filled in.
 */
gboolean link_get_ifd_stats (Link * link, IfdStats * stats);
/* Sets `packets` and `bytes` to the numbers of packets and bytes that wait in
 * the queue of `station`. */
void link_get_queue (Link * link, guint station, guint * packets,
    guint64 * bytes);
/* Returns the quality of the link for `station`: the probability, 0 to 1, with
 * which a packet of this station arrives undamaged at the first attempt if it
 * is sent now. The probability of bit errors depends on the size of the packet;
 * a size of 1500 bytes is assumed. On a dial-up link the result is 0 while
 * there is no phone call. */
gdouble link_get_quality (Link * link, guint station);
