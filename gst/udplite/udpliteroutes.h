/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the source address that the kernel uses for packets to a given
 * destination, and caches it. The raw backend needs this address before the
 * kernel chooses it, because the checksum that the backend computes in user
 * space covers the address. The path MTU is cached as well.
 */

#pragma once

#include "datagramsocket.h"
#include "udplite.h"

typedef struct
{
  /* IP source and destination addresses of the packets. The UDP-Lite checksum
   * covers these addresses. */
  UdpliteAddresses addresses;
  /* Addresses and ports of the packets. `path.local` is the source address that
   * the kernel has chosen for them. If the socket is bound to an address,
   * `path.local` is not set, because the kernel then uses the bound address as
   * the source address. */
  DatagramPath path;
  /* Path MTU in bytes. It is set only if user space may write the IPv4 header
   * of the packets (see udpliteipv4header.h). If only the kernel may write the
   * IP header, `mtu` is 0. */
  guint mtu;
} UdpliteRoute;

typedef struct _UdpliteRoutes UdpliteRoutes;

/* Creates an empty cache. `bound` is the local address of the socket. All
 * packets have this address as their source address, except if `bound` is the
 * unspecified address or a multicast group. */
UdpliteRoutes *udplite_routes_new (GInetAddress * bound);
void udplite_routes_free (UdpliteRoutes * self);

/* Empties the cache in three cases:
 * - The kernel has reported that something changed.
 * - One second has passed since the cache was last emptied. This is necessary
 *   because not every change of a route is reported.
 * - The cache has become too large.
 *
 * `now` is the monotonic time in us. */
void udplite_routes_expire (UdpliteRoutes * self, gint64 now);
void udplite_routes_clear (UdpliteRoutes * self);

/* Returns the route that packets from `socket` take to the remote address in
 * `to`. Returns NULL with `error` set if there is no route. The result is valid
 * until the next call. */
const UdpliteRoute *udplite_routes_find (UdpliteRoutes * self,
    const DatagramPath * to, DatagramSocket * socket, GError ** error);
