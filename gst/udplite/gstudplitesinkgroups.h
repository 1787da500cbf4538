/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The multicast groups to which udplitesink sends. The sink joins the group of
 * each receiver, if the property auto-multicast is TRUE. Several receivers may
 * be in the same group. The sink joins each group only once, and remembers the
 * membership in the field is_joined of one of these receivers.
 *
 * `sockets` are the sockets of the sink, and `clients` is the list of all its
 * receivers. The caller holds the lock that protects both. */

#pragma once

#include "gstudplitesinksockets.h"
#include "udpliteclients.h"

/* Joins the group of the receiver `client`, whose socket must be open. Does
 * nothing if the address of the receiver is a unicast address, or if the sink
 * is a member of the group already. A failure is only logged. */
void gst_udplite_sink_groups_join (GstUdpliteSinkSockets * sockets,
    UdpliteClients * clients, UdpliteClient * client);
/* Called when the receiver `client` is about to be removed. Does nothing if the
 * sink did not join a multicast group on behalf of `client`. Otherwise there
 * are two cases. If another receiver is in the same group, the sink stays in
 * the group on behalf of that receiver. If there is no other receiver in the
 * group, the sink leaves the group. */
void gst_udplite_sink_groups_leave (GstUdpliteSinkSockets * sockets,
    UdpliteClients * clients, UdpliteClient * client);
/* Leaves all groups. Called before the sockets are closed. The groups must be
 * left explicitly, because a socket of the application stays open. */
void gst_udplite_sink_groups_leave_all (GstUdpliteSinkSockets * sockets,
    UdpliteClients * clients);
