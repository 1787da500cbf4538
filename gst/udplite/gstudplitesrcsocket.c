/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From udplitesrc's properties to a socket, and its end. */

#include "gstudplitesrcprivate.h"

#include <string.h>

#include <sys/socket.h>

#ifdef __linux__
#include <linux/sock_diag.h>
#endif

#include "gstudplitemulticast.h"
#include "socketmessages.h"

/* Room for whatever an IP packet can carry (RFC 791 and RFC 8200: 65,535 bytes
 * at most), and something more, so that the rooms' first bytes, which are the
 * ones in use, don't share a few lines of the cache. Pages that nothing was
 * written to cost nothing. */
#define ROOM_SIZE (65536 + 1536)

/* --- open ---------------------------------------------------------------- */

static gboolean
open_own (GstUdpliteSrc * self, const GstUdpliteSrcSettings * settings,
    GError ** error)
{
  GSocketAddress *found = gst_network_src_find_address (GST_NETWORK_SRC (self),
      settings->address, settings->port, error);
  GInetSocketAddress *address;
  gchar *tried = NULL;

  if (!found)
    return FALSE;
  address = G_INET_SOCKET_ADDRESS (found);
  self->udplite = udplite_socket_new (settings->backend, address,
      settings->reuse, &tried, error);
  if (tried && *tried)
    GST_INFO_OBJECT (self, "backends: %s", tried);
  g_free (tried);
  if (self->udplite && gst_udplite_is_multicast (address))
    self->group = g_object_ref (address);
  g_object_unref (address);
  return self->udplite != NULL;
}

static gboolean
open_foreign (GstUdpliteSrc * self, GSocket * socket, GError ** error)
{
  GSocketAddress *address;

  /* close-socket counts as it is at the end */
  self->udplite = udplite_socket_new_from_socket (socket, FALSE, error);
  if (!self->udplite)
    return FALSE;
  self->foreign = g_object_ref (socket);
  address = g_socket_get_local_address (socket, NULL);
  if (G_IS_INET_SOCKET_ADDRESS (address)
      && gst_udplite_is_multicast (G_INET_SOCKET_ADDRESS (address)))
    self->group = g_object_ref (G_INET_SOCKET_ADDRESS (address));
  g_clear_object (&address);
  return TRUE;
}

static void
set_buffer_size (GstUdpliteSrc * self, GSocket * socket, gint size)
{
  gint got = 0;

  if (size == 0)
    return;
  g_socket_set_option (socket, SOL_SOCKET, SO_RCVBUF, size, NULL);
  g_socket_get_option (socket, SOL_SOCKET, SO_RCVBUF, &got, NULL);
  /* Linux answers twice of what it was asked for (socket(7)). */
  if (got < size)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, (NULL),
        ("The kernel gives %d bytes of buffer instead of the %d bytes of "
            "buffer-size. Raise the limit with \"sysctl "
            "net.core.rmem_max=%d\".", got, size, size));
}

static gboolean
configure (GstUdpliteSrc * self, const GstUdpliteSrcSettings * settings,
    GError ** error)
{
  GSocket *socket = udplite_socket_get_socket (self->udplite);

  set_buffer_size (self, socket, settings->buffer_size);
  g_socket_set_multicast_loopback (socket, settings->loop);
  if (settings->min_coverage >= 0
      && !udplite_socket_set_min_coverage (self->udplite,
          settings->min_coverage, error))
    return FALSE;

  if (!settings->auto_multicast)
    g_clear_object (&self->group);
  if (!self->group)
    return TRUE;
  self->group_interfaces = g_strdup (settings->multicast_iface);
  self->group_sources = g_strdup (settings->multicast_source);
  return gst_udplite_set_membership (self->udplite, TRUE, self->group,
      self->group_interfaces, self->group_sources, error);
}

static void
make_rooms (GstUdpliteSrc * self)
{
  guint i;

  self->rooms = g_malloc (DATAGRAM_BATCH * ROOM_SIZE);
  for (i = 0; i < DATAGRAM_BATCH; i++) {
    self->inputs[i].data = self->rooms + i * ROOM_SIZE;
    self->inputs[i].capacity = ROOM_SIZE;
  }
}

/* Drops of this socket, ever; 0 where the kernel doesn't tell. In backend
 * kernel it also counts here what it refused. */
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

void
gst_udplite_src_update_dropped (GstUdpliteSrc * self)
{
  GSocket *socket;

  GST_OBJECT_LOCK (self);
  socket = gst_network_src_get_used_socket (GST_NETWORK_SRC (self));
  if (socket) {
    /* 32 bits, which go round */
    self->counters.dropped += (guint32) (read_dropped (socket)
        - self->dropped_before - self->counters.dropped);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
publish (GstUdpliteSrc * self)
{
  GSocket *socket = udplite_socket_get_socket (self->udplite);
  gint port = udplite_socket_get_port (self->udplite);
  gboolean new_port;

  GST_OBJECT_LOCK (self);
  gst_network_src_set_used_socket (GST_NETWORK_SRC (self), socket);
  self->backend = udplite_socket_get_backend (self->udplite);
  memset (&self->counters, 0, sizeof (self->counters));
  self->dropped_before = read_dropped (socket);
  new_port = self->settings.port != port;
  self->settings.port = port;
  GST_OBJECT_UNLOCK (self);

  self->last_batch = 0;
  self->more = FALSE;
  memset (&self->reported, 0, sizeof (self->reported));
  self->report_time = GST_CLOCK_TIME_NONE;
  GST_INFO_OBJECT (self, "backend %s, port %d",
      udplite_backend_get_name (self->backend), port);
  if (new_port)
    g_object_notify (G_OBJECT (self), "port");
}

static void
post_failure (GstUdpliteSrc * self, const GstUdpliteSrcSettings * settings,
    GSocket * socket, const GError * error)
{
  if (socket)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Could not use the socket given for UDP-Lite: %s.", error->message),
        (NULL));
  else
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Could not receive UDP-Lite on %s port %d: %s.%s", settings->address,
            settings->port, error->message, socket_error_get_advice (error)),
        ("The backend is %s.", udplite_backend_get_name (settings->backend)));
}

/* With OBJECT_LOCK */
static void
copy_settings (GstUdpliteSrcSettings * to, const GstUdpliteSrcSettings * from)
{
  *to = *from;
  to->address = g_strdup (from->address ? from->address : "0.0.0.0");
  to->multicast_iface = g_strdup (from->multicast_iface);
  to->multicast_source = g_strdup (from->multicast_source);
}

static void
clear_settings (GstUdpliteSrcSettings * settings)
{
  g_free (settings->address);
  g_free (settings->multicast_iface);
  g_free (settings->multicast_source);
}

gboolean
gst_udplite_src_open (GstUdpliteSrc * self)
{
  GstUdpliteSrcSettings settings;
  GError *error = NULL;
  GSocket *socket;
  gboolean opened;

  GST_OBJECT_LOCK (self);
  copy_settings (&settings, &self->settings);
  socket = self->socket ? g_object_ref (self->socket) : NULL;
  self->reopen = FALSE;
  GST_OBJECT_UNLOCK (self);

  opened = socket ? open_foreign (self, socket, &error)
      : open_own (self, &settings, &error);
  if (opened && configure (self, &settings, &error)) {
    make_rooms (self);
    publish (self);
  } else {
    post_failure (self, &settings, socket, error);
    gst_udplite_src_close (self, FALSE);
  }
  g_clear_error (&error);
  g_clear_object (&socket);
  clear_settings (&settings);
  return self->udplite != NULL;
}

/* --- close --------------------------------------------------------------- */

static void
leave_group (GstUdpliteSrc * self)
{
  /* A socket that stays open must not stay in there. */
  if (self->group && self->foreign && !g_socket_is_closed (self->foreign))
    gst_udplite_set_membership (self->udplite, FALSE, self->group,
        self->group_interfaces, self->group_sources, NULL);
  g_clear_object (&self->group);
  g_clear_pointer (&self->group_interfaces, g_free);
  g_clear_pointer (&self->group_sources, g_free);
}

void
gst_udplite_src_close (GstUdpliteSrc * self, gboolean again)
{
  gboolean close_foreign;

  gst_udplite_src_update_dropped (self);
  leave_group (self);

  GST_OBJECT_LOCK (self);
  /* not if it is the next one, too */
  close_foreign = self->settings.close_socket
      && !(again && self->foreign == self->socket);
  gst_network_src_set_used_socket (GST_NETWORK_SRC (self), NULL);
  GST_OBJECT_UNLOCK (self);

  g_clear_pointer (&self->udplite, udplite_socket_free);
  if (self->foreign && close_foreign)
    g_socket_close (self->foreign, NULL);
  g_clear_object (&self->foreign);
  g_clear_object (&self->sender);
  g_clear_pointer (&self->rooms, g_free);
}
