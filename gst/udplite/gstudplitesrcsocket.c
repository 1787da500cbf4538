/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens and closes the socket of udplitesrc and sets its options. The functions
 * are documented in gstudplitesrcsocket.h. */

#include "gstudplitesrcsocket.h"

#include <sys/socket.h>

#ifdef __linux__
#include <linux/sock_diag.h>
#endif

#include "gstudplitemulticast.h"
#include "socketmessages.h"

GST_DEBUG_CATEGORY_EXTERN (gst_udplite_src_debug);
#define GST_CAT_DEFAULT gst_udplite_src_debug

void
gst_udplite_src_socket_init (GstUdpliteSrcSocket * self, GstNetworkSrc * src)
{
  self->src = src;
}

gboolean
gst_udplite_src_socket_is_current (GstUdpliteSrcSocket * self)
{
  gboolean reopen;

  GST_OBJECT_LOCK (self->src);
  reopen = self->reopen;
  GST_OBJECT_UNLOCK (self->src);
  return self->udplite && !reopen;
}

/* --- options -------------------------------------------------------------- */

/* The caller holds OBJECT_LOCK. */
static void
copy_options (GstUdpliteSrcOptions * to, const GstUdpliteSrcOptions * from)
{
  *to = *from;
  to->address = g_strdup (from->address ? from->address :
      GST_UDPLITE_SRC_DEFAULT_ADDRESS);
  to->multicast_iface = g_strdup (from->multicast_iface);
  to->multicast_source = g_strdup (from->multicast_source);
}

static void
clear_options (GstUdpliteSrcOptions * options)
{
  g_free (options->address);
  g_free (options->multicast_iface);
  g_free (options->multicast_source);
}

static void
set_buffer_size (GstUdpliteSrcSocket * self, gint size)
{
  GSocket *socket = udplite_socket_get_socket (self->udplite);
  gint got = 0;

  if (size == 0)
    return;
  datagram_socket_set_receive_buffer_size (udplite_socket_get_datagram_socket
      (self->udplite), size, NULL);
  g_socket_get_option (socket, SOL_SOCKET, SO_RCVBUF, &got, NULL);
  /* For SO_RCVBUF, Linux returns twice the size that it has set (socket(7)). If
   * even the doubled size is below the requested size, the kernel has limited
   * the size. */
  if (got < size)
    GST_ELEMENT_WARNING (self->src, RESOURCE, SETTINGS, (NULL),
        ("The kernel gives %d bytes of buffer instead of the %d bytes of "
            "buffer-size. Raise the limit with \"sysctl "
            "net.core.rmem_max=%d\".", got, size, size));
}

/* Joins the multicast group `self->group`, unless the property auto-multicast
 * is FALSE. */
static gboolean
join_group (GstUdpliteSrcSocket * self, const GstUdpliteSrcOptions * options,
    GError ** error)
{
  if (!options->auto_multicast)
    g_clear_object (&self->group);
  if (!self->group)
    return TRUE;
  self->group_interfaces = g_strdup (options->multicast_iface);
  self->group_sources = g_strdup (options->multicast_source);
  return gst_udplite_set_membership (self->udplite, TRUE, self->group,
      self->group_interfaces, self->group_sources, error);
}

static gboolean
configure (GstUdpliteSrcSocket * self, const GstUdpliteSrcOptions * options,
    GError ** error)
{
  GSocket *socket = udplite_socket_get_socket (self->udplite);

  udplite_socket_enable_gro (self->udplite);
  set_buffer_size (self, options->buffer_size);
  g_socket_set_multicast_loopback (socket, options->loop);
  if (options->min_coverage >= 0
      && !udplite_socket_set_min_coverage (self->udplite,
          options->min_coverage, error))
    return FALSE;
  return join_group (self, options, error);
}

/* --- opening -------------------------------------------------------------- */

/* Remembers `address`, on which the socket receives, as the group to join if it
 * is a multicast address. */
static void
set_group (GstUdpliteSrcSocket * self, GSocketAddress * address)
{
  GInetSocketAddress *inet;

  if (!G_IS_INET_SOCKET_ADDRESS (address))
    return;
  inet = G_INET_SOCKET_ADDRESS (address);
  if (g_inet_address_get_is_multicast (g_inet_socket_address_get_address
          (inet)))
    self->group = g_object_ref (inet);
}

static gboolean
open_own (GstUdpliteSrcSocket * self, const GstUdpliteSrcOptions * options,
    GError ** error)
{
  GSocketAddress *address = gst_network_src_find_address (self->src,
      options->address, options->port, error);
  gchar *tried = NULL;

  if (!address)
    return FALSE;
  self->udplite = udplite_socket_new (options->backend,
      G_INET_SOCKET_ADDRESS (address), options->reuse, &tried, error);
  if (tried && *tried)
    GST_INFO_OBJECT (self->src, "backends: %s", tried);
  g_free (tried);
  if (self->udplite)
    set_group (self, address);
  g_object_unref (address);
  return self->udplite != NULL;
}

static gboolean
open_given (GstUdpliteSrcSocket * self, GSocket * given, GError ** error)
{
  GSocketAddress *address;

  /* The argument FALSE means that the socket stays open when `udplite` is
   * freed. The element closes the socket later if the property close-socket is
   * TRUE. */
  self->udplite = udplite_socket_new_from_socket (given, FALSE, error);
  if (!self->udplite)
    return FALSE;
  self->foreign = g_object_ref (given);
  address = g_socket_get_local_address (given, NULL);
  set_group (self, address);
  g_clear_object (&address);
  return TRUE;
}

static void
post_failure (GstUdpliteSrcSocket * self, const GstUdpliteSrcOptions * options,
    GSocket * given, const GError * error)
{
  if (given)
    GST_ELEMENT_ERROR (self->src, RESOURCE, SETTINGS,
        ("Could not use the socket given for UDP-Lite: %s.", error->message),
        (NULL));
  else
    GST_ELEMENT_ERROR (self->src, RESOURCE, OPEN_READ,
        ("Could not receive UDP-Lite on %s port %d: %s.%s", options->address,
            options->port, error->message, socket_error_get_advice (error)),
        ("The backend is %s.", udplite_backend_get_name (options->backend)));
}

gboolean
gst_udplite_src_socket_open (GstUdpliteSrcSocket * self)
{
  GstUdpliteSrcOptions options;
  GError *error = NULL;
  gboolean opened;
  GSocket *given;

  GST_OBJECT_LOCK (self->src);
  copy_options (&options, &self->options);
  given = self->given ? g_object_ref (self->given) : NULL;
  self->reopen = FALSE;
  GST_OBJECT_UNLOCK (self->src);

  opened = given ? open_given (self, given, &error)
      : open_own (self, &options, &error);
  if (!opened || !configure (self, &options, &error)) {
    post_failure (self, &options, given, error);
    gst_udplite_src_socket_close (self, FALSE);
  }
  g_clear_error (&error);
  g_clear_object (&given);
  clear_options (&options);
  return self->udplite != NULL;
}

/* --- dropped packets ------------------------------------------------------ */

/* Returns the number of packets that this socket has dropped since its
 * creation, or 0 if the kernel does not report this number. With the kernel
 * backend, the number includes the packets that the kernel discarded because of
 * their checksum or coverage. If the kernel has merged several packets (GRO)
 * and drops them together, they count as one. */
static guint64
read_dropped (GSocket * socket)
{
#ifdef SO_MEMINFO
  guint32 info[SK_MEMINFO_VARS] = { 0 };
  socklen_t size = sizeof (info);

  if (getsockopt (g_socket_get_fd (socket), SOL_SOCKET, SO_MEMINFO, info,
          &size) == 0)
    return info[SK_MEMINFO_DROPS];
#endif
  return 0;
}

guint64
gst_udplite_src_socket_get_dropped (GstUdpliteSrcSocket * self)
{
  guint64 dropped;
  GSocket *socket;

  GST_OBJECT_LOCK (self->src);
  socket = gst_network_src_get_used_socket (self->src);
  if (socket) {
    /* The kernel's counter of dropped packets has 32 bits and wraps around. The
     * number of new drops (the counter minus its value at the last call) is
     * therefore computed modulo 2^32. */
    self->dropped += (guint32) (read_dropped (socket) - self->dropped_before
        - self->dropped);
  }
  dropped = self->dropped;
  GST_OBJECT_UNLOCK (self->src);
  return dropped;
}

void
gst_udplite_src_socket_publish (GstUdpliteSrcSocket * self)
{
  GSocket *socket = udplite_socket_get_socket (self->udplite);
  gint port = udplite_socket_get_port (self->udplite);
  gboolean new_port;

  GST_OBJECT_LOCK (self->src);
  self->backend = udplite_socket_get_backend (self->udplite);
  self->dropped = 0;
  self->dropped_before = read_dropped (socket);
  new_port = self->options.port != port;
  self->options.port = port;
  GST_OBJECT_UNLOCK (self->src);
  /* gst_udplite_src_socket_get_dropped () reads the counter of the used socket,
   * so the socket is set only after the values for this function. */
  gst_network_src_set_used_socket (self->src, socket);

  GST_INFO_OBJECT (self->src, "backend %s, port %d",
      udplite_backend_get_name (self->backend), port);
  if (new_port)
    g_object_notify (G_OBJECT (self->src), "port");
}

/* --- closing -------------------------------------------------------------- */

static void
leave_group (GstUdpliteSrcSocket * self)
{
  /* A socket that belongs to the application stays open after this element has
   * stopped. Therefore the element must leave the multicast group explicitly.
   */
  if (self->group && self->foreign && !g_socket_is_closed (self->foreign))
    gst_udplite_set_membership (self->udplite, FALSE, self->group,
        self->group_interfaces, self->group_sources, NULL);
  g_clear_object (&self->group);
  g_clear_pointer (&self->group_interfaces, g_free);
  g_clear_pointer (&self->group_sources, g_free);
}

void
gst_udplite_src_socket_close (GstUdpliteSrcSocket * self, gboolean again)
{
  gboolean close_foreign;

  /* Updates the number of dropped packets for the last time. */
  gst_udplite_src_socket_get_dropped (self);
  leave_group (self);
  gst_network_src_set_used_socket (self->src, NULL);

  GST_OBJECT_LOCK (self->src);
  /* If this element will continue to use the socket of the application, the
   * socket must stay open, even if the property close-socket is TRUE. */
  close_foreign = self->close_given && !(again && self->foreign == self->given);
  GST_OBJECT_UNLOCK (self->src);

  g_clear_pointer (&self->udplite, udplite_socket_free);
  if (self->foreign && close_foreign)
    g_socket_close (self->foreign, NULL);
  g_clear_object (&self->foreign);
}
