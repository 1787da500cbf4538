/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the packets that a raw socket receives. These functions support
 * protocols whose header begins with the source port and the destination port,
 * as the UDP header does. On systems without socket filters, the functions do
 * nothing. The socket then receives all packets of its protocol, and the reader
 * has to check the ports.
 */

#pragma once

#include <gio/gio.h>

/* Offset of the destination port in the transport header, in bytes */
#define RAW_SOCKET_DESTINATION_OFFSET 2

/* Installs a filter so that the socket `fd` discards all packets that arrive
 * from now on. Returns FALSE with `error` set if this fails. */
gboolean raw_socket_filter_everything (gint fd, GError ** error);
/* Makes the socket `fd` discard all packets that arrive from now on, and also
 * those that are already in its receive buffer. The receive buffer may already
 * contain packets for other ports: a raw socket receives all packets of its
 * protocol as soon as it is opened, before its port is known. */
gboolean raw_socket_discard_everything (gint fd, GError ** error);
/* Removes the filter of the socket `fd`, so that the socket accepts all packets
 * again. Returns FALSE with `error` set if this fails. */
gboolean raw_socket_accept_everything (gint fd, GError ** error);
/* Makes the socket `fd` accept only packets whose destination port is `port`,
 * in host byte order. Returns FALSE with `error` set if this fails.
 */
gboolean raw_socket_filter_port (gint fd, gboolean ipv6, guint16 port,
    GError ** error);
