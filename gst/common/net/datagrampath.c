/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See datagrampath.h. */

#include "datagrampath.h"

#include <string.h>

#include <arpa/inet.h>
#include <net/if.h>

gboolean
datagram_path_equal (const DatagramPath * a, const DatagramPath * b)
{
  return a->address_size == b->address_size
      && a->local_port == b->local_port && a->remote_port == b->remote_port
      && a->scope == b->scope && !memcmp (a->local, b->local, a->address_size)
      && !memcmp (a->remote, b->remote, a->address_size);
}

gboolean
datagram_path_has_ports (const DatagramPath * path)
{
  return path->remote_port != 0;
}

gboolean
datagram_path_is_mapped (const DatagramPath * path)
{
  static const guint8 prefix[12] = {[10] = 0xff,[11] = 0xff };

  return path->address_size == 16
      && memcmp (path->remote, prefix, sizeof (prefix)) == 0;
}

gchar *
datagram_path_to_string (const DatagramPath * path)
{
  gboolean is_mapped = datagram_path_is_mapped (path);
  gboolean is_ipv6 = path->address_size == 16 && !is_mapped;
  gchar host[INET6_ADDRSTRLEN] = "?", interface[IF_NAMESIZE] = "";
  const gchar *separator = "";

  inet_ntop (is_ipv6 ? AF_INET6 : AF_INET, path->remote + (is_mapped ? 12 : 0),
      host, sizeof (host));
  if (is_ipv6 && path->scope > 0 && if_indextoname (path->scope, interface))
    separator = "%";
  if (!datagram_path_has_ports (path))
    return g_strconcat (host, separator, interface, NULL);
  return g_strdup_printf (is_ipv6 ? "[%s%s%s]:%u" : "%s%s%s:%u", host,
      separator, interface, path->remote_port);
}
