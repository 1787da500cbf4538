/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the packets that a raw socket receives. These functions support
 * protocols whose header begins with the source port and the destination port,
 * as the UDP header does. On systems without socket filters, the socket
 * receives all packets of its protocol, and the reader has to check the ports.
 */

#pragma once

#include <gio/gio.h>

/* Offset of the destination port in the transport header, in bytes */
#define RAW_SOCKET_DESTINATION_OFFSET 2

/* Makes the socket `fd` discard all packets that arrive from now on. Returns
 * FALSE with `error` set if this fails. */
gboolean raw_socket_filter_everything (gint fd, GError ** error);
/* Discards all packets from now on, and also the packets that are already in
 * the receive buffer. The receive buffer may already contain packets for other
 * ports: a raw socket receives all packets of its protocol as soon as it is
 * opened, before its port is known. */
gboolean raw_socket_become_deaf (gint fd, GError ** error);
/* Removes the filter that discards packets from the socket `fd`, so that the
 * socket accepts all packets again. Returns FALSE with `error` set if this
 * fails. */
gboolean raw_socket_accept_everything (gint fd, GError ** error);
/* Accepts only packets for this destination port, which is in host byte order.
 */
gboolean raw_socket_filter_port (gint fd, gboolean ipv6, guint16 port,
    GError ** error);
