/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The address that packets to a destination leave from, which a checksum of our
 * own has to know before the kernel chooses it.
 */

#pragma once

#include "datagramsocket.h"
#include "udplite.h"

typedef struct
{
  UdpliteAddresses addresses;   /* of the packets */
  DatagramPath path;            /* of the packets; if the socket is bound,
                                 * path.local is not known */
} UdpliteRoute;

typedef struct _UdpliteRoutes UdpliteRoutes;

/* bound: the address of all packets, unless it is any, or a group */
UdpliteRoutes *udplite_routes_new (GInetAddress * bound);
void udplite_routes_free (UdpliteRoutes * self);

/* Forgets what was found too long ago: routes change, and mobile hosts move. */
void udplite_routes_expire (UdpliteRoutes * self);
void udplite_routes_clear (UdpliteRoutes * self);

/* For packets from the socket to the remote end of this path; until the next
 * call. NULL: no way there */
const UdpliteRoute *udplite_routes_find (UdpliteRoutes * self,
    const DatagramPath * to, DatagramSocket * socket, GError ** error);
