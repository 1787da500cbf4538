/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that ask the kernel about its IPv4 routes by rtnetlink(7). On
 * systems other than Linux, they fail.
 */

#pragma once

#include <glib.h>

/* Opens a socket that receives a notification when an IPv4 address, an IPv4
 * route, a rule of policy routing or a network interface changes. Returns a
 * file descriptor, or -1 if the system does not support this. */
gint udplite_netlink_open (void);
/* Returns whether a notification has arrived on the socket `fd` since the
 * previous call of this function, or since `fd` was opened. Never blocks. */
gboolean udplite_netlink_has_changed (gint fd);

/* Checks the metrics of the IPv4 route from `source` to `destination`. Returns
 * FALSE if a metric sets the TTL or forbids path MTU discovery, or if the route
 * is unknown. Otherwise returns TRUE. The addresses have 4 bytes in network
 * byte order. `interface` is the index of the interface on which the packets
 * have to be sent; 0 = any. */
gboolean udplite_netlink_is_plain_route (const guint8 * source,
    const guint8 * destination, guint interface);
