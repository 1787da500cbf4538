/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of datagramaddress.h: paths as socket addresses. */

#include "datagramaddress.h"

#include <string.h>

gsize
datagram_native_read (const DatagramNative * native, guint8 address[16],
    guint16 * port, guint32 * scope)
{
  if (native->any.sa_family == AF_INET) {
    *port = g_ntohs (native->ipv4.sin_port);
    memcpy (address, &native->ipv4.sin_addr, 4);
    return 4;
  }
  *port = g_ntohs (native->ipv6.sin6_port);
  *scope = native->ipv6.sin6_scope_id;
  memcpy (address, &native->ipv6.sin6_addr, 16);
  return 16;
}

socklen_t
datagram_native_from_path (DatagramNative * native, const DatagramPath * path)
{
  if (datagram_path_get_family (path) == AF_INET) {
    memset (&native->ipv4, 0, sizeof (native->ipv4));
    native->ipv4.sin_family = AF_INET;
    native->ipv4.sin_port = g_htons (path->remote_port);
    memcpy (&native->ipv4.sin_addr, path->remote, 4);
    return sizeof (native->ipv4);
  }
  memset (&native->ipv6, 0, sizeof (native->ipv6));
  native->ipv6.sin6_family = AF_INET6;
  native->ipv6.sin6_port = g_htons (path->remote_port);
  native->ipv6.sin6_scope_id = path->scope;
  memcpy (&native->ipv6.sin6_addr, path->remote, 16);
  return sizeof (native->ipv6);
}

gint
datagram_path_get_family (const DatagramPath * path)
{
  return path->address_size == 4 ? AF_INET : AF_INET6;
}

void
datagram_path_set_native (DatagramPath * path, const DatagramNative * native)
{
  path->address_size = datagram_native_read (native, path->remote,
      &path->remote_port, &path->scope);
}

void
datagram_path_set_remote (DatagramPath * path, GSocketAddress * remote)
{
  DatagramNative native;

  if (g_socket_address_to_native (remote, &native, sizeof (native), NULL))
    datagram_path_set_native (path, &native);
}

GSocketAddress *
datagram_path_get_remote (const DatagramPath * path)
{
  DatagramNative native;
  socklen_t size = datagram_native_from_path (&native, path);

  return g_socket_address_new_from_native (&native, size);
}
