/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens and closes the sockets of udplitesink and sets their options. The
 * functions are documented in gstudplitesinksockets.h. */

#include "gstudplitesinksockets.h"

#include <net/if.h>
#include <netinet/in.h>

#include "gstwirelessgso.h"

#define GST_CAT_DEFAULT gst_udplite_sink_debug

static const GSocketFamily families[] = {
  [GST_UDPLITE_FAMILY_V4] = G_SOCKET_FAMILY_IPV4,
  [GST_UDPLITE_FAMILY_V6] = G_SOCKET_FAMILY_IPV6,
};

void
gst_udplite_sink_sockets_init (GstUdpliteSinkSockets * self,
    GstElement * element)
{
  self->element = element;
}

GstUdpliteFamily
gst_udplite_sink_sockets_get_family (const DatagramPath * path)
{
  return path->address_size == 16 ? GST_UDPLITE_FAMILY_V6 :
      GST_UDPLITE_FAMILY_V4;
}

/* --- options -------------------------------------------------------------- */

/* Logs the reason `error` why the option `name` could not be set, and frees it.
 */
static void
log_refusal (GstUdpliteSinkSockets * self, const gchar * name, GError ** error)
{
  GST_WARNING_OBJECT (self->element, "%s: %s", name, (*error)->message);
  g_clear_error (error);
}

static void
warn_of_interface (GstElement * element, gpointer name)
{
  GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
      ("There is no network interface \"%s\" for multicast-iface: the routing "
          "table chooses the interface instead. Set one of the interfaces that "
          "\"ip link\" lists.", (const gchar *) name), (NULL));
}

/* The caller holds the lock of the element, and no message may be posted with
 * this lock held. Another thread therefore posts the warning. */
guint
gst_udplite_sink_sockets_get_multicast_index (GstUdpliteSinkSockets * self)
{
  const gchar *name = self->options.multicast_iface;
  guint index = name ? if_nametoindex (name) : 0;

  if (name && index == 0)
    gst_element_call_async (self->element, warn_of_interface, g_strdup (name),
        g_free);
  return index;
}

static void
set_unicast_options (GstUdpliteSinkSockets * self, DatagramSocket * socket)
{
  const GstUdpliteSinkOptions *options = &self->options;
  GError *error = NULL;

  if (options->buffer_size > 0
      && !datagram_socket_set_send_buffer_size (socket, options->buffer_size,
          &error))
    log_refusal (self, "buffer-size", &error);
  if (!datagram_socket_set_ttl (socket, options->ttl, &error))
    log_refusal (self, "ttl", &error);
  if (options->qos_dscp >= 0
      && !datagram_socket_set_dscp (socket, options->qos_dscp, &error))
    log_refusal (self, "qos-dscp", &error);
}

static void
set_multicast_options (GstUdpliteSinkSockets * self, UdpliteSocket * udplite,
    GstUdpliteFamily family)
{
  const GstUdpliteSinkOptions *options = &self->options;
  const gboolean is_v4 = family == GST_UDPLITE_FAMILY_V4;
  const gint level = is_v4 ? IPPROTO_IP : IPPROTO_IPV6;
  GSocket *socket = udplite_socket_get_socket (udplite);
  GError *error = NULL;

  if (!g_socket_set_option (socket, SOL_SOCKET, SO_BROADCAST, TRUE, &error))
    log_refusal (self, "broadcast", &error);
  if (!g_socket_set_option (socket, level, is_v4 ? IP_MULTICAST_TTL :
          IPV6_MULTICAST_HOPS, options->ttl_mc, &error))
    log_refusal (self, "ttl-mc", &error);
  if (!g_socket_set_option (socket, level, is_v4 ? IP_MULTICAST_LOOP :
          IPV6_MULTICAST_LOOP, options->loop, &error))
    log_refusal (self, "loop", &error);
  if (!udplite_socket_set_multicast_interface (udplite,
          gst_udplite_sink_sockets_get_multicast_index (self), &error))
    log_refusal (self, "multicast-iface", &error);
}

static void
set_options (GstUdpliteSinkSockets * self, GstUdpliteFamily family)
{
  UdpliteSocket *socket = self->opened[family];

  set_unicast_options (self, udplite_socket_get_datagram_socket (socket));
  set_multicast_options (self, socket, family);
  udplite_socket_options_changed (socket);
}

void
gst_udplite_sink_sockets_apply_options (GstUdpliteSinkSockets * self)
{
  guint i;

  for (i = 0; i < GST_UDPLITE_FAMILY_LAST; i++) {
    if (self->opened[i])
      set_options (self, i);
  }
}

/* --- opening and closing -------------------------------------------------- */

static GInetSocketAddress *
get_bind_address (const GstUdpliteSinkOptions * options,
    GstUdpliteFamily family, GError ** error)
{
  GInetAddress *address;
  GSocketAddress *whole;

  if (options->bind_address)
    address = g_inet_address_new_from_string (options->bind_address);
  else
    address = g_inet_address_new_any (families[family]);
  if (!address) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "bind-address \"%s\" is not an IP address. Set an address of this "
        "host, or leave the property unset", options->bind_address);
    return NULL;
  }
  if (g_inet_address_get_family (address) != families[family]) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "bind-address \"%s\" is not of the address family of the receiver, "
        "IPv%u. Set an address of this host from this family, or leave the "
        "property unset", options->bind_address,
        family == GST_UDPLITE_FAMILY_V4 ? 4 : 6);
    g_object_unref (address);
    return NULL;
  }
  whole = g_inet_socket_address_new (address, options->bind_port);
  g_object_unref (address);
  return G_INET_SOCKET_ADDRESS (whole);
}

/* Opens a socket of `family`, or uses the socket of the application. Stores in
 * `tried` why the backends that come first could not be used, or NULL. The
 * caller frees this text. */
static UdpliteSocket *
create_socket (GstUdpliteSinkSockets * self, GstUdpliteFamily family,
    gchar ** tried, GError ** error)
{
  GInetSocketAddress *address;
  UdpliteSocket *socket;

  if (self->given[family])
    return udplite_socket_new_from_socket (self->given[family], FALSE, error);
  address = get_bind_address (&self->options, family, error);
  if (!address)
    return NULL;
  socket = udplite_socket_new (self->options.backend, address, TRUE, tried,
      error);
  g_object_unref (address);
  return socket;
}

gboolean
gst_udplite_sink_sockets_open (GstUdpliteSinkSockets * self,
    GstUdpliteFamily family, GError ** error)
{
  UdpliteSocket *socket;
  gchar *tried = NULL;

  if (self->opened[family])
    return TRUE;
  socket = create_socket (self, family, &tried, error);
  if (!socket) {
    g_free (tried);
    return FALSE;
  }
  GST_INFO_OBJECT (self->element, "backend %s%s%s", udplite_backend_get_name
      (udplite_socket_get_backend (socket)), tried ? "; " : "",
      tried ? tried : "");
  g_free (tried);
  udplite_socket_stop_receiving (socket);
  udplite_socket_set_gso (socket, self->options.gso == GST_WIRELESS_GSO_AUTO);
  self->opened[family] = socket;
  set_options (self, family);
  return TRUE;
}

void
gst_udplite_sink_sockets_close (GstUdpliteSinkSockets * self)
{
  guint i;

  for (i = 0; i < GST_UDPLITE_FAMILY_LAST; i++)
    g_clear_pointer (&self->opened[i], udplite_socket_free);
}

void
gst_udplite_sink_sockets_close_given (GstUdpliteSinkSockets * self)
{
  guint i;

  for (i = 0; i < GST_UDPLITE_FAMILY_LAST; i++) {
    if (self->given[i] && self->close_given)
      g_socket_close (self->given[i], NULL);
  }
}

/* --- open sockets --------------------------------------------------------- */

UdpliteSocket *
gst_udplite_sink_sockets_find (GstUdpliteSinkSockets * self,
    const DatagramPath * path)
{
  return self->opened[gst_udplite_sink_sockets_get_family (path)];
}

GSocket *
gst_udplite_sink_sockets_get_socket (GstUdpliteSinkSockets * self,
    GstUdpliteFamily family)
{
  UdpliteSocket *socket = self->opened[family];

  return socket ? udplite_socket_get_socket (socket) : NULL;
}

const gchar *
gst_udplite_sink_sockets_get_backend_name (const GstUdpliteSinkSockets * self)
{
  guint i;

  for (i = 0; i < GST_UDPLITE_FAMILY_LAST; i++) {
    if (self->opened[i])
      return udplite_backend_get_name (udplite_socket_get_backend
          (self->opened[i]));
  }
  return "";
}
