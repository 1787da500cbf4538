/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joining groups on the interfaces, and for the senders, that properties name. */

#pragma once

#include "udplitesocket.h"

gboolean gst_udplite_is_multicast (GInetSocketAddress * address);

/* Joins or leaves. interfaces: "eth0,eth1", NULL: as the system routes;
 * sources: "+192.0.2.1+192.0.2.2" (RFC 4604), NULL: any */
gboolean gst_udplite_set_membership (UdpliteSocket * socket, gboolean join,
    GInetSocketAddress * group, const gchar * interfaces,
    const gchar * sources, GError ** error);
