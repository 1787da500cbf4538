/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens sockets, and knows the ends of a path and what it takes. */

#include "dccpsocketprivate.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <net/if.h>

#include "dccppacket.h"
#include "rawsocket.h"
#include "socketmessages.h"
#include "socketoptions.h"
#include "socketpktinfo.h"

/* Ethernet's, where the system doesn't say */
#define DEFAULT_MTU 1500
/* RFC 863: any port does, nothing is sent */
#define DISCARD_PORT 9

void
dccp_socket_options_init (DccpSocketOptions * options)
{
  memset (options, 0, sizeof (*options));
  options->dscp = -1;
}

/* --- addresses ------------------------------------------------------------ */

socklen_t
dccp_native_set_remote (DccpNativeAddress * native, const DccpPath * path,
    gint family)
{
  memset (native, 0, sizeof (*native));
  native->any.sa_family = family;
  if (family == AF_INET) {
    native->ipv4.sin_port = g_htons (path->remote_udp);
    memcpy (&native->ipv4.sin_addr, path->remote, 4);
    return sizeof (native->ipv4);
  }
  native->ipv6.sin6_port = g_htons (path->remote_udp);
  native->ipv6.sin6_scope_id = path->scope;
  memcpy (&native->ipv6.sin6_addr, path->remote, 16);
  return sizeof (native->ipv6);
}

void
dccp_path_set_remote (DccpPath * path, const DccpNativeAddress * native,
    gboolean is_raw)
{
  if (native->any.sa_family == AF_INET) {
    path->address_size = 4;
    memcpy (path->remote, &native->ipv4.sin_addr, 4);
    path->remote_udp = is_raw ? 0 : g_ntohs (native->ipv4.sin_port);
    return;
  }
  path->address_size = 16;
  memcpy (path->remote, &native->ipv6.sin6_addr, 16);
  path->remote_udp = is_raw ? 0 : g_ntohs (native->ipv6.sin6_port);
  path->scope = native->ipv6.sin6_scope_id;
}

static void
set_local (DccpPath * path, const DccpNativeAddress * native)
{
  if (native->any.sa_family == AF_INET)
    memcpy (path->local, &native->ipv4.sin_addr, 4);
  else
    memcpy (path->local, &native->ipv6.sin6_addr, 16);
}

/* RFC 4291 section 2.5.5.2: IPv4 on a socket of IPv6 */
static gboolean
is_mapped (const DccpPath * path)
{
  static const guint8 prefix[12] = {[10] = 0xff,[11] = 0xff };

  return path->address_size == 16
      && memcmp (path->remote, prefix, sizeof (prefix)) == 0;
}

gchar *
dccp_path_to_string (const DccpPath * path)
{
  gchar address[INET6_ADDRSTRLEN] = "?", interface[IF_NAMESIZE];
  gboolean ipv6 = path->address_size == 16 && !is_mapped (path);
  const gchar *before = "", *after = "";
  gchar *text, *with_port;

  inet_ntop (ipv6 ? AF_INET6 : AF_INET, path->remote
      + (is_mapped (path) ? 12 : 0), address, sizeof (address));
  if (ipv6 && path->scope && if_indextoname (path->scope, interface))
    text = g_strdup_printf ("%s%%%s", address, interface);
  else
    text = g_strdup (address);
  if (!dccp_path_is_encapsulated (path))
    return text;
  if (ipv6) {
    before = "[";
    after = "]";
  }
  with_port = g_strdup_printf ("%s%s%s:%u", before, text, after,
      path->remote_udp);
  g_free (text);
  return with_port;
}

static gboolean
to_native (GSocketAddress * address, gboolean is_raw,
    DccpNativeAddress * native, socklen_t * size, GError ** error)
{
  if (!g_socket_address_to_native (address, native, sizeof (*native), error))
    return FALSE;
  *size = g_socket_address_get_native_size (address);
  /* of a raw socket it is none to the kernel, or the protocol (ipv6(7)) */
  if (is_raw && native->any.sa_family == AF_INET)
    native->ipv4.sin_port = 0;
  else if (is_raw)
    native->ipv6.sin6_port = 0;
  return TRUE;
}

/* --- options -------------------------------------------------------------- */

/* An IPv6 socket that speaks with IPv4 too has options of both. */
static void
set_options (DccpSocket * self, const DccpSocketOptions * options)
{
  GSocket *socket = self->socket;

  if (options->buffer_size > 0) {
    socket_options_set_receive_buffer (socket, options->buffer_size);
    socket_options_set_send_buffer (socket, options->buffer_size);
  }
  if (options->ttl > 0)
    g_socket_set_option (socket, IPPROTO_IP, IP_TTL, options->ttl, NULL);
  if (options->ttl > 0 && self->family == AF_INET6)
    g_socket_set_option (socket, IPPROTO_IPV6, IPV6_UNICAST_HOPS, options->ttl,
        NULL);
  if (options->dscp >= 0)
    g_socket_set_option (socket, IPPROTO_IP, IP_TOS, options->dscp << 2, NULL);
#ifdef IPV6_TCLASS
  if (options->dscp >= 0 && self->family == AF_INET6)
    g_socket_set_option (socket, IPPROTO_IPV6, IPV6_TCLASS, options->dscp << 2,
        NULL);
#endif
}

/* --- life cycle ----------------------------------------------------------- */

static gint
open_socket (gint family, gboolean is_raw, GError ** error)
{
  gint type = is_raw ? SOCK_RAW : SOCK_DGRAM;
  gint fd;

#ifdef SOCK_CLOEXEC
  type |= SOCK_CLOEXEC;
#endif
  fd = socket (family, type, is_raw ? DCCP_PROTOCOL : IPPROTO_UDP);
  if (fd >= 0)
    return fd;
  if (is_raw && errno == EPERM)
    socket_set_error (error, errno, "A raw socket needs CAP_NET_RAW");
  else
    socket_set_error (error, errno, "No %s socket of %s",
        is_raw ? "raw" : "UDP", family == AF_INET6 ? "IPv6" : "IPv4");
  return -1;
}

/* The socket owns the descriptor, also when this fails. */
static DccpSocket *
wrap (gint fd, gint family, gboolean is_raw, GError ** error)
{
  GSocket *socket = g_socket_new_from_fd (fd, error);
  DccpSocket *self;

  if (!socket) {
    close (fd);
    return NULL;
  }
  g_socket_set_blocking (socket, FALSE);
  self = g_new0 (DccpSocket, 1);
  self->socket = socket;
  self->fd = fd;
  self->family = family;
  self->is_raw = is_raw;
  socket_clock_init (&self->clock);
  socket_clock_ask_for_stamps (fd);
  socket_options_set_fragments (self->socket, FALSE);
  socket_pktinfo_enable (self->fd, self->family);
  return self;
}

static DccpSocket *
socket_new (DccpEncapsulation encapsulation, GSocketAddress * like,
    GError ** error)
{
  gint family = g_socket_address_get_family (like) == G_SOCKET_FAMILY_IPV6 ?
      AF_INET6 : AF_INET;
  gboolean is_raw = encapsulation == DCCP_ENCAPSULATION_RAW;
  gint fd = open_socket (family, is_raw, error);

  if (fd < 0)
    return NULL;
  if (is_raw && !raw_socket_become_deaf (fd, error)) {
    close (fd);
    return NULL;
  }
  return wrap (fd, family, is_raw, error);
}

void
dccp_socket_free (DccpSocket * self)
{
  g_socket_close (self->socket, NULL);
  g_object_unref (self->socket);
  g_free (self->description);
  g_free (self);
}

static gchar *
describe_address (GSocketAddress * address)
{
  return g_socket_connectable_to_string (G_SOCKET_CONNECTABLE (address));
}

static gboolean
bind_address (DccpSocket * self, GSocketAddress * address, GError ** error)
{
  DccpNativeAddress native;
  socklen_t size;
  gchar *text;

  if (!to_native (address, self->is_raw, &native, &size, error))
    return FALSE;
  if (bind (self->fd, &native.any, size) == 0)
    return TRUE;
  text = describe_address (address);
  if (errno == EADDRNOTAVAIL)
    socket_set_error (error, errno, "%s is no address of this host", text);
  else
    socket_set_error (error, errno, "Could not bind to %s", text);
  g_free (text);
  return FALSE;
}

/* Raw: everything, or what is for this port of DCCP */
static gboolean
begin_to_hear (DccpSocket * self, GSocketAddress * local, GError ** error)
{
  if (!self->is_raw)
    return TRUE;
  if (local)
    self->dccp_port =
        g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (local));
  if (self->dccp_port > 0)
    return raw_socket_filter_port (self->fd, self->family == AF_INET6,
        self->dccp_port, error);
  return raw_socket_accept_everything (self->fd, error);
}

/* Its own side, once it is bound or connected */
static gboolean
learn_local (DccpSocket * self, GError ** error)
{
  DccpNativeAddress native = { 0 };
  socklen_t size = sizeof (native);

  if (getsockname (self->fd, &native.any, &size) < 0)
    return socket_set_error (error, errno, "No address of its own");
  set_local (&self->path, &native);
  if (!self->is_raw)
    self->udp_port = g_ntohs (self->family == AF_INET6 ?
        native.ipv6.sin6_port : native.ipv4.sin_port);
  self->path.local_udp = self->udp_port;
  return TRUE;
}

/* --- a client ------------------------------------------------------------- */

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

static gboolean
connect_to (DccpSocket * self, GSocketAddress * remote, GError ** error)
{
  DccpNativeAddress native;
  socklen_t size;

  if (!to_native (remote, self->is_raw, &native, &size, error))
    return FALSE;
  if (connect (self->fd, &native.any, size) < 0)
    return socket_set_error (error, errno, "No way to %s", self->description);
  dccp_path_set_remote (&self->path, &native, self->is_raw);
  return TRUE;
}

DccpSocket *
dccp_socket_new_client (DccpEncapsulation encapsulation,
    GSocketAddress * remote, GSocketAddress * local,
    const DccpSocketOptions * options, GError ** error)
{
  DccpSocket *self;

  if (!check_families (remote, local, error))
    return NULL;
  self = socket_new (encapsulation, remote, error);
  if (!self)
    return NULL;
  self->is_client = TRUE;
  self->description = describe_address (remote);
  set_options (self, options);
  if ((!local || bind_address (self, local, error))
      && connect_to (self, remote, error) && learn_local (self, error)
      && begin_to_hear (self, local, error))
    return self;
  dccp_socket_free (self);
  return NULL;
}

/* --- a server ------------------------------------------------------------- */

DccpSocket *
dccp_socket_new_listener (DccpEncapsulation encapsulation,
    GSocketAddress * local, const DccpSocketOptions * options, GError ** error)
{
  DccpSocket *self = socket_new (encapsulation, local, error);

  if (!self)
    return NULL;
  self->description = describe_address (local);
  set_options (self, options);
  if (self->family == AF_INET6)
    g_socket_set_option (self->socket, IPPROTO_IPV6, IPV6_V6ONLY, FALSE, NULL);
  if (options->reuse)
    g_socket_set_option (self->socket, SOL_SOCKET, SO_REUSEADDR, TRUE, NULL);
  if (bind_address (self, local, error) && learn_local (self, error)
      && begin_to_hear (self, local, error))
    return self;
  dccp_socket_free (self);
  return NULL;
}

/* --- what it is ----------------------------------------------------------- */

GSocket *
dccp_socket_get_socket (DccpSocket * self)
{
  return self->socket;
}

guint16
dccp_socket_get_udp_port (DccpSocket * self)
{
  return self->udp_port;
}

void
dccp_socket_get_path (DccpSocket * self, DccpPath * path)
{
  *path = self->path;
}

/* The kernel knows it of a socket that has one peer only. */
static guint
ask_for_mtu (const DccpPath * path)
{
  gboolean mapped = is_mapped (path);
  gint family = path->address_size == 16 && !mapped ? AF_INET6 : AF_INET;
  DccpPath plain = *path;
  DccpNativeAddress native;
  socklen_t size;
  guint mtu = 0;
  gint fd = open_socket (family, FALSE, NULL);

  if (fd < 0)
    return 0;
  if (mapped)
    memcpy (plain.remote, path->remote + 12, 4);
  plain.remote_udp = DISCARD_PORT;
  size = dccp_native_set_remote (&native, &plain, family);
  if (connect (fd, &native.any, size) == 0)
    mtu = socket_options_get_path_mtu (fd, family);
  close (fd);
  return mtu;
}

guint
dccp_socket_get_mtu (DccpSocket * self, const DccpPath * path, guint mtu)
{
  guint path_mtu = self->is_client ? socket_options_get_path_mtu (self->fd,
      self->family) : ask_for_mtu (path);

  if (path_mtu == 0)
    path_mtu = DEFAULT_MTU;
  return mtu == 0 ? path_mtu : MIN (mtu, path_mtu);
}
