/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens sockets: a channel's goes out by its interface or from its address
 * whatever the routes prefer, since two channels by one way are one channel; a
 * receiver's knows to which of its addresses it was spoken.
 */

#define _GNU_SOURCE             /* struct ip_mreqn */

#include "mmtpsocketprivate.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include "socketmessages.h"
#include "socketoptions.h"
#include "socketpktinfo.h"

#define UDP_HEADER_SIZE 8       /* RFC 768 */
#define IPV4_HEADER_SIZE 20     /* RFC 791, without options */
#define IPV6_HEADER_SIZE 40     /* RFC 8200, without extensions */

/* Ethernet's, where the system doesn't say */
#define DEFAULT_MTU 1500

/* --- binding -------------------------------------------------------------- */

static gboolean
bind_native (MmtpSocket * self, const struct sockaddr *address,
    const gchar * text, GError ** error)
{
  socklen_t size = address->sa_family == AF_INET6 ?
      sizeof (struct sockaddr_in6) : sizeof (struct sockaddr_in);

  if (bind (self->fd, address, size) == 0)
    return TRUE;
  if (errno == EADDRNOTAVAIL)
    return socket_set_error (error, errno, "%s is no address of this host",
        text);
  return socket_set_error (error, errno, "Could not bind to %s", text);
}

static gchar *
describe_address (GSocketAddress * address)
{
  return g_socket_connectable_to_string (G_SOCKET_CONNECTABLE (address));
}

static gboolean
bind_address (MmtpSocket * self, GSocketAddress * address, GError ** error)
{
  struct sockaddr_storage native;
  gchar *text;
  gboolean done;

  if (!g_socket_address_to_native (address, &native, sizeof (native), error))
    return FALSE;
  text = describe_address (address);
  done = bind_native (self, (struct sockaddr *) &native, text, error);
  g_free (text);
  return done;
}

static const struct sockaddr *
find_address (const struct ifaddrs *addresses, const gchar * interface,
    gint family)
{
  const struct ifaddrs *i;

  for (i = addresses; i; i = i->ifa_next) {
    if (i->ifa_addr && i->ifa_addr->sa_family == family
        && strcmp (i->ifa_name, interface) == 0)
      return i->ifa_addr;
  }
  return NULL;
}

static gboolean
bind_interface_address (MmtpSocket * self, const gchar * interface,
    GError ** error)
{
  struct ifaddrs *addresses = NULL;
  const struct sockaddr *found;
  gboolean done = FALSE;

  if (getifaddrs (&addresses) < 0)
    return socket_set_error (error, errno, "No addresses of interface %s",
        interface);
  found = find_address (addresses, interface, self->family);
  if (found)
    done = bind_native (self, found, interface, error);
  else
    socket_set_error (error, EADDRNOTAVAIL, "Interface %s has no address of %s",
        interface, self->family == AF_INET6 ? "IPv6" : "IPv4");
  freeifaddrs (addresses);
  return done;
}

static gboolean
bind_interface (MmtpSocket * self, const gchar * interface, GError ** error)
{
  if (if_nametoindex (interface) == 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
        "No interface named %s", interface);
    return FALSE;
  }
#ifdef SO_BINDTODEVICE
  if (setsockopt (self->fd, SOL_SOCKET, SO_BINDTODEVICE, interface,
          strlen (interface) + 1) == 0)
    return TRUE;
#else
  errno = EPERM;
#endif
  return socket_set_error (error, errno, "Could not bind to interface %s",
      interface);
}

/* Where a socket may not have an interface, as on Linux before 5.7 without
 * CAP_NET_RAW, its address is the next best: rules of routing may go by
 * that. */
static gboolean
bind_channel (MmtpSocket * self, const gchar * interface,
    GSocketAddress * local, GError ** error)
{
  GError *failure = NULL;

  if (interface && !bind_interface (self, interface, &failure)) {
    if (!g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED)) {
      g_propagate_error (error, failure);
      return FALSE;
    }
    g_error_free (failure);
    if (!local)
      return bind_interface_address (self, interface, error);
  }
  return !local || bind_address (self, local, error);
}

/* --- life cycle ----------------------------------------------------------- */

static MmtpSocket *
socket_new (GSocketAddress * like, GError ** error)
{
  GSocketFamily family = g_socket_address_get_family (like);
  GSocket *socket = g_socket_new (family, G_SOCKET_TYPE_DATAGRAM,
      G_SOCKET_PROTOCOL_UDP, error);
  MmtpSocket *self;

  if (!socket)
    return NULL;
  g_socket_set_blocking (socket, FALSE);
  self = g_new0 (MmtpSocket, 1);
  self->socket = socket;
  self->fd = g_socket_get_fd (socket);
  self->family = family == G_SOCKET_FAMILY_IPV6 ? AF_INET6 : AF_INET;
  socket_clock_init (&self->clock);
  socket_options_set_fragments (self->socket, TRUE);
  socket_clock_ask_for_stamps (self->fd);
  return self;
}

void
mmtp_socket_free (MmtpSocket * self)
{
  g_socket_close (self->socket, NULL);
  g_object_unref (self->socket);
  g_free (self->description);
  g_free (self);
}

static gchar *
describe_channel (GSocketAddress * remote, const gchar * interface,
    GSocketAddress * local)
{
  gchar *to = describe_address (remote);
  gchar *from = local ? describe_address (local) : NULL;
  gchar *description = g_strconcat (to, from ? " from " : "", from ? from : "",
      interface ? " by " : "", interface, NULL);

  g_free (to);
  g_free (from);
  return description;
}

static gboolean
connect_channel (MmtpSocket * self, GSocketAddress * remote, GError ** error)
{
  struct sockaddr_storage native;

  if (!g_socket_address_to_native (remote, &native, sizeof (native), error))
    return FALSE;
  if (connect (self->fd, (struct sockaddr *) &native,
          g_socket_address_get_native_size (remote)) == 0)
    return TRUE;
  return socket_set_error (error, errno, "No way to %s", self->description);
}

static gboolean
check_families (GSocketAddress * remote, GSocketAddress * local,
    GError ** error)
{
  gchar *to, *from;

  if (!local || g_socket_address_get_family (local) ==
      g_socket_address_get_family (remote))
    return TRUE;
  to = describe_address (remote);
  from = describe_address (local);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "No way from %s to %s: one is IPv4, the other one IPv6", from, to);
  g_free (to);
  g_free (from);
  return FALSE;
}

static MmtpSocket *
open_channel (GSocketAddress * remote, const gchar * interface,
    GSocketAddress * local, GError ** error)
{
  MmtpSocket *self = socket_new (remote, error);

  if (!self)
    return NULL;
  self->is_connected = TRUE;
  self->description = describe_channel (remote, interface, local);
  if (bind_channel (self, interface, local, error)
      && connect_channel (self, remote, error))
    return self;
  mmtp_socket_free (self);
  return NULL;
}

/* The one that the kernel takes by this interface */
static GSocketAddress *
choose_address (GSocketAddress * remote, const gchar * interface,
    GError ** error)
{
  MmtpSocket *probe = open_channel (remote, interface, NULL, error);
  struct sockaddr_storage local;
  socklen_t size = sizeof (local);
  GSocketAddress *chosen = NULL;

  if (!probe)
    return NULL;
  if (getsockname (probe->fd, (struct sockaddr *) &local, &size) == 0) {
    /* of both families in the same place */
    ((struct sockaddr_in *) &local)->sin_port = 0;
    chosen = g_socket_address_new_from_native (&local, size);
  } else {
    socket_set_error (error, errno, "No address for %s", probe->description);
  }
  mmtp_socket_free (probe);
  return chosen;
}

/* A rule of policy routing goes by the source address: it says nothing of one
 * that the kernel still has to choose. So that is chosen first. */
MmtpSocket *
mmtp_socket_new_channel (GSocketAddress * remote, const gchar * interface,
    GSocketAddress * local, GError ** error)
{
  GSocketAddress *chosen = NULL;
  MmtpSocket *self;

  if (!check_families (remote, local, error))
    return NULL;
  if (interface && !local) {
    chosen = choose_address (remote, interface, error);
    if (!chosen)
      return NULL;
  }
  self = open_channel (remote, interface, chosen ? chosen : local, error);
  g_clear_object (&chosen);
  return self;
}

MmtpSocket *
mmtp_socket_new_listener (GSocketAddress * local, const gchar * interface,
    gint buffer_size, gboolean reuse, GError ** error)
{
  MmtpSocket *self = socket_new (local, error);

  if (!self)
    return NULL;
  socket_pktinfo_enable (self->fd, self->family);
  if (self->family == AF_INET6)
    g_socket_set_option (self->socket, IPPROTO_IPV6, IPV6_V6ONLY, FALSE, NULL);
  if (buffer_size > 0)
    socket_options_set_receive_buffer (self->socket, buffer_size);
  if (reuse)
    g_socket_set_option (self->socket, SOL_SOCKET, SO_REUSEADDR, TRUE, NULL);
  if ((!interface || bind_interface (self, interface, error))
      && bind_address (self, local, error))
    return self;
  mmtp_socket_free (self);
  return NULL;
}

/* --- what it is ----------------------------------------------------------- */

GSocket *
mmtp_socket_get_socket (MmtpSocket * self)
{
  return self->socket;
}

guint
mmtp_socket_get_overhead (MmtpSocket * self)
{
  return UDP_HEADER_SIZE + (self->family == AF_INET6 ? IPV6_HEADER_SIZE :
      IPV4_HEADER_SIZE);
}

guint
mmtp_socket_get_longest (MmtpSocket * self, guint mtu)
{
  guint overhead = mmtp_socket_get_overhead (self);
  guint path_mtu = socket_options_get_path_mtu (self->fd, self->family);

  if (path_mtu == 0)
    path_mtu = DEFAULT_MTU;
  if (mtu == 0 || mtu > path_mtu)
    mtu = path_mtu;
  return mtu > overhead ? MIN (mtu - overhead, MMTP_MAX_MESSAGE) : 0;
}
