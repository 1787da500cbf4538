/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts the endpoints of a DatagramPath to and from socket addresses. This
 * code uses no socket, so that cores may call it. */

#pragma once

#include <gio/gio.h>
#include <netinet/in.h>

#include "datagram.h"

/* A socket address in the format of the socket system calls. The port of an
 * IPv4 address (sin_port) and the port of an IPv6 address (sin6_port) are at
 * the same offset, so the port of both can be set through ipv4.sin_port. */
typedef union
{
  struct sockaddr any;
  struct sockaddr_in ipv4;
  struct sockaddr_in6 ipv6;
} DatagramNative;

/* Stores the address, the port, and the scope of an IPv6 address (an interface)
 * in network, host and host byte order. Returns the size of the address in
 * bytes, 4 or 16. */
gsize datagram_native_read (const DatagramNative * native, guint8 address[16],
    guint16 * port, guint32 * scope);
/* Converts the remote endpoint of `path` to a socket address, stores it in
 * `native`, and returns the size of this address in bytes. */
socklen_t datagram_native_from_path (DatagramNative * native,
    const DatagramPath * path);

/* Returns AF_INET or AF_INET6. */
gint datagram_path_get_family (const DatagramPath * path);
/* These functions set and return the remote endpoint. */
void datagram_path_set_native (DatagramPath * path,
    const DatagramNative * native);
void datagram_path_set_remote (DatagramPath * path, GSocketAddress * remote);
GSocketAddress *datagram_path_get_remote (const DatagramPath * path);
