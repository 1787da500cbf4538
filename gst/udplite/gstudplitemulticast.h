/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins and leaves multicast groups. The caller selects the network interfaces
 * on which this is done, and the senders whose packets are accepted. Both come
 * from properties of the element. */

#pragma once

#include "udplitesocket.h"

/* Joins the multicast group `group` if `join` is TRUE; otherwise leaves it.
 * `interfaces` is a list of interface names such as "eth0,eth1". NULL means the
 * interface that the routes of the system select.
 *
 * `sources` is a list of sender addresses, each preceded by a plus sign, such
 * as "+192.0.2.1+192.0.2.2". Only packets from these senders are received
 * (source-specific multicast, RFC 4604). NULL means all senders.
 *
 * Returns FALSE with `error` set on failure. */
gboolean gst_udplite_set_membership (UdpliteSocket * socket, gboolean join,
    GInetSocketAddress * group, const gchar * interfaces,
    const gchar * sources, GError ** error);
