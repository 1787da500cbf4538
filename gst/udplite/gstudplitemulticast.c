/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins and leaves multicast groups. The functions are documented in
 * gstudplitemulticast.h. */

#include "gstudplitemulticast.h"

#include <errno.h>

#include <net/if.h>

/* Parameters for joining or leaving a multicast group. They are the same for
 * all network interfaces on which the group is joined or left. */
typedef struct
{
  UdpliteSocket *socket;
  gboolean join;
  GInetAddress *group;
  const gchar *sources;
} Membership;

static gboolean
set_source (const Membership * self, const gchar * source, guint index,
    GError ** error)
{
  GInetAddress *address = g_inet_address_new_from_string (source);
  gboolean done;

  if (!address) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%s\" in multicast-source is not an IP address. Set a list such as "
        "+192.0.2.1+192.0.2.2", source);
    return FALSE;
  }
  done = udplite_socket_set_membership (self->socket, self->join, self->group,
      address, index, error);
  g_object_unref (address);
  return done;
}

static gboolean
set_sources (const Membership * self, guint index, GError ** error)
{
  gboolean done = TRUE;
  gchar **sources;
  guint i;

  if (!self->sources || !*self->sources)
    return udplite_socket_set_membership (self->socket, self->join,
        self->group, NULL, index, error);

  sources = g_strsplit (self->sources, "+", -1);
  for (i = 0; sources[i] && done; i++)
    if (*g_strstrip (sources[i]))
      done = set_source (self, sources[i], index, error);
  g_strfreev (sources);
  return done;
}

static gboolean
set_interface (const Membership * self, const gchar * name, GError ** error)
{
  guint index = if_nametoindex (name);

  if (index > 0)
    return set_sources (self, index, error);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
      "there is no network interface \"%s\". Set one of the interfaces that "
      "\"ip link\" lists", name);
  return FALSE;
}

gboolean
gst_udplite_set_membership (UdpliteSocket * socket, gboolean join,
    GInetSocketAddress * group, const gchar * interfaces,
    const gchar * sources, GError ** error)
{
  const Membership self = {
    socket, join, g_inet_socket_address_get_address (group), sources
  };
  gboolean done = TRUE;
  gchar **names;
  guint i;

  /* If no interface is named, an IPv6 group is joined or left on the interface
   * that its scope selects. The scope of a link-local group is the index of its
   * interface (RFC 4007 section 11). */
  if (!interfaces || !*interfaces)
    return set_sources (&self, g_inet_address_get_family (self.group) ==
        G_SOCKET_FAMILY_IPV6 ? g_inet_socket_address_get_scope_id (group) : 0,
        error);

  names = g_strsplit (interfaces, ",", -1);
  for (i = 0; names[i] && done; i++)
    done = set_interface (&self, g_strstrip (names[i]), error);
  g_strfreev (names);
  return done;
}
