/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins and leaves the multicast groups of the receivers of udplitesink. The
 * functions are documented in gstudplitesinkgroups.h. */

#include "gstudplitesinkgroups.h"

#define GST_CAT_DEFAULT gst_udplite_sink_debug

/* Returns the address of `client` if the address is a multicast group. Returns
 * NULL if it is a unicast address, or if it is not known yet. */
static GInetAddress *
get_group (const UdpliteClient * client)
{
  GInetAddress *address;

  if (client->path.address_size == 0)
    return NULL;
  address = g_inet_address_new_from_bytes (client->path.remote,
      gst_udplite_sink_sockets_get_family (&client->path) ==
      GST_UDPLITE_FAMILY_V6 ? G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4);
  if (!g_inet_address_get_is_multicast (address))
    g_clear_object (&address);
  return address;
}

/* Joins or leaves the multicast group of the receiver `client`. The application
 * may have joined the group on its own socket before. In this case is_joined
 * stays FALSE, so that the sink does not end the application's membership
 * later. */
static void
set_membership (GstUdpliteSinkSockets * sockets, UdpliteClient * client,
    gboolean join)
{
  UdpliteSocket *socket = gst_udplite_sink_sockets_find (sockets,
      &client->path);
  GInetAddress *group = get_group (client);
  guint index = client->path.scope;
  GError *error = NULL;
  gboolean quiet;

  if (!group)
    return;
  /* The scope of a link-local group is the index of its interface (RFC 4007
   * section 11). If the group has no scope, the property multicast-iface
   * selects the interface. */
  if (index == 0)
    index = gst_udplite_sink_sockets_get_multicast_index (sockets);
  client->is_joined = udplite_socket_set_membership (socket, join, group, NULL,
      index, &error) && join;
  quiet = client->is_refused
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE);
  if (error)
    GST_CAT_LEVEL_LOG (GST_CAT_DEFAULT, quiet ? GST_LEVEL_DEBUG :
        GST_LEVEL_WARNING, sockets->element, "%s: %s", client->host,
        error->message);
  client->is_refused = error && join;
  g_clear_error (&error);
  g_object_unref (group);
}

static gboolean
is_same_group (const UdpliteClient * one, const UdpliteClient * other)
{
  GInetAddress *group = get_group (one), *group_of_other = get_group (other);
  gboolean same = group && group_of_other
      && g_inet_address_equal (group, group_of_other)
      && one->path.scope == other->path.scope;

  g_clear_object (&group);
  g_clear_object (&group_of_other);
  return same;
}

/* Returns another receiver in the multicast group of `client`, or NULL if there
 * is none. The sink joins each group only once, and sets is_joined for only one
 * receiver of the group. If `joined` is TRUE, the function returns only a
 * receiver for which is_joined is set. */
static UdpliteClient *
find_neighbour (UdpliteClients * clients, const UdpliteClient * client,
    gboolean joined)
{
  guint i;

  for (i = 0; i < udplite_clients_get_number (clients); i++) {
    UdpliteClient *candidate = udplite_clients_get (clients, i);

    if (candidate != client && (candidate->is_joined || !joined)
        && is_same_group (client, candidate))
      return candidate;
  }
  return NULL;
}

void
gst_udplite_sink_groups_join (GstUdpliteSinkSockets * sockets,
    UdpliteClients * clients, UdpliteClient * client)
{
  if (sockets->options.auto_multicast && !client->is_joined
      && !find_neighbour (clients, client, TRUE))
    set_membership (sockets, client, TRUE);
}

void
gst_udplite_sink_groups_leave (GstUdpliteSinkSockets * sockets,
    UdpliteClients * clients, UdpliteClient * client)
{
  UdpliteClient *neighbour = find_neighbour (clients, client, FALSE);

  if (client->is_joined && neighbour)
    neighbour->is_joined = TRUE;
  else if (client->is_joined)
    set_membership (sockets, client, FALSE);
  client->is_joined = FALSE;
}

void
gst_udplite_sink_groups_leave_all (GstUdpliteSinkSockets * sockets,
    UdpliteClients * clients)
{
  guint i;

  for (i = 0; i < udplite_clients_get_number (clients); i++) {
    UdpliteClient *client = udplite_clients_get (clients, i);

    if (client->is_joined)
      set_membership (sockets, client, FALSE);
  }
}
