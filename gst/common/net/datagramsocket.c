/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens datagram sockets. A connected socket sends from the given interface or
 * address, even if the routing table prefers another interface or address. A
 * raw socket receives no packets until it is completely set up.
 */

#define _GNU_SOURCE             /* struct ip_mreqn, SO_RCVBUFFORCE */

#include "datagramsocketprivate.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <ifaddrs.h>
#include <net/if.h>

#include "gso.h"
#include "rawsocket.h"
#include "socketmessages.h"

#define UDP_HEADER_SIZE 8       /* RFC 768 */
/* Maximum payload in bytes of a UDP datagram over IPv4. The total length field
 * of IPv4 has 16 bits, and the IP and UDP headers take 28 bytes. */
#define UDP_MAX_PAYLOAD 65507
#define IPV6_HEADER_SIZE 40     /* RFC 8200, without extensions */
/* MTU that is used if the system does not know the path MTU: the default of
 * Ethernet */
#define DEFAULT_MTU 1500
/* Port to which a probe is connected. A probe is a socket that serves only to
 * query the routing table and never sends a packet. The port is that of the
 * discard service (RFC 863). */
#define PROBE_PORT 9
/* Range of the dynamic ports, which are not assigned to any service (RFC 6335
 * section 6) */
#define FIRST_DYNAMIC_PORT 49152
#define LAST_DYNAMIC_PORT 65535
/* IPV6_MULTICAST is the first byte of every IPv6 multicast address (RFC 4291
 * section 2.7). The first byte of every IPv4 multicast address has the same
 * first four bits as IPV4_MULTICAST (RFC 1112 section 4). */
#define IPV6_MULTICAST 0xff
#define IPV4_MULTICAST 0xe0

#ifndef SO_RCVBUFFORCE
#define SO_RCVBUFFORCE SO_RCVBUF
#define SO_SNDBUFFORCE SO_SNDBUF
#endif

void
datagram_socket_options_init (DatagramSocketOptions * options)
{
  memset (options, 0, sizeof (*options));
  options->protocol = IPPROTO_UDP;
  options->dscp = -1;
  options->may_fragment = TRUE;
}

/* --- addresses ------------------------------------------------------------ */

gboolean
datagram_is_link_local (const guint8 address[16], gsize size)
{
  return size == 16 && address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

GList *
datagram_look_up (const gchar * host, GCancellable * cancellable,
    GError ** error)
{
  GResolver *resolver;
  GList *found;

  if (!socket_check_host (host, error))
    return NULL;
  resolver = g_resolver_get_default ();
  found = g_resolver_lookup_by_name (resolver, host, cancellable, error);
  g_object_unref (resolver);
  return found;
}

GList *
datagram_resolve (const gchar * host, guint16 port, GCancellable * cancellable,
    GError ** error)
{
  GSocketAddress *address = g_inet_socket_address_new_from_string (host, port);
  GList *found, *walk, *addresses = NULL;

  if (address)
    return g_list_prepend (NULL, address);
  found = datagram_look_up (host, cancellable, error);
  for (walk = found; walk; walk = walk->next)
    addresses = g_list_append (addresses,
        g_inet_socket_address_new (walk->data, port));
  g_resolver_free_addresses (found);
  return addresses;
}

/* Converts an address to the form that the kernel uses. For a raw socket, the
 * port is set to 0, because the kernel would interpret a port in its address as
 * a protocol number (ipv6(7)). */
static gboolean
to_native (DatagramSocket * self, GSocketAddress * address,
    DatagramNative * native, socklen_t * size, GError ** error)
{
  if (!g_socket_address_to_native (address, native, sizeof (*native), error))
    return FALSE;
  *size = g_socket_address_get_native_size (address);
  if (self->is_raw)
    native->ipv4.sin_port = 0;
  return TRUE;
}

static gchar *
describe_address (GSocketAddress * address)
{
  return g_socket_connectable_to_string (G_SOCKET_CONNECTABLE (address));
}

static gboolean
is_any (GSocketAddress * address)
{
  GInetSocketAddress *inet = G_INET_SOCKET_ADDRESS (address);

  return g_inet_socket_address_get_port (inet) == 0 &&
      g_inet_address_get_is_any (g_inet_socket_address_get_address (inet));
}

static gchar *
describe_ends (GSocketAddress * remote, GSocketAddress * local,
    const gchar * interface)
{
  gchar *to = describe_address (remote);
  gchar *from = local && !is_any (local) ? describe_address (local) : NULL;
  gchar *description = g_strconcat (to, from ? " from " : "", from ? from : "",
      interface ? " by " : "", interface, NULL);

  g_free (to);
  g_free (from);
  return description;
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
      "%s can't reach %s: one is an IPv4 address and the other one an IPv6 "
      "address. Set two of the same kind", from, to);
  g_free (to);
  g_free (from);
  return FALSE;
}

/* --- life cycle ----------------------------------------------------------- */

static gint
open_fd (gint family, gint protocol, gboolean is_raw, GError ** error)
{
  gint type = is_raw ? SOCK_RAW : SOCK_DGRAM;
  gint fd;

#ifdef SOCK_CLOEXEC
  type |= SOCK_CLOEXEC;
#endif
  fd = socket (family, type, protocol);
  if (fd >= 0)
    return fd;
  if (is_raw && errno == EPERM)
    socket_set_error (error, errno, "a raw socket needs root or the capability "
        "CAP_NET_RAW");
  else
    socket_set_error (error, errno,
        "could not open a %s socket of %s for the IP protocol %d",
        is_raw ? "raw" : "datagram", family == AF_INET6 ? "IPv6" : "IPv4",
        protocol);
  return -1;
}

/* Sets whether packets may be fragmented on their way. If they may, a packet
 * that exceeds the MTU of a link is fragmented. With IPv4, a router does this;
 * with IPv6, this host does it, because IPv6 routers do not fragment. If
 * packets must not be fragmented, a packet that exceeds the MTU is dropped, and
 * the sender is informed by ICMP. */
static void
set_may_fragment (DatagramSocket * self, gboolean allowed)
{
#if defined (IP_MTU_DISCOVER) && defined (IP_PMTUDISC_DO)
  if (self->family == AF_INET)
    g_socket_set_option (self->socket, IPPROTO_IP, IP_MTU_DISCOVER,
        allowed ? IP_PMTUDISC_DONT : IP_PMTUDISC_DO, NULL);
#endif
#if defined (IPV6_MTU_DISCOVER) && defined (IPV6_PMTUDISC_DO)
  if (self->family == AF_INET6)
    g_socket_set_option (self->socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
        allowed ? IPV6_PMTUDISC_DONT : IPV6_PMTUDISC_DO, NULL);
#endif
}

/* Sets the size of a socket buffer. First tries `force_option`, for example
 * SO_RCVBUFFORCE. With this option, the size may exceed the system's limit, but
 * the option needs CAP_NET_ADMIN. If the option cannot be set, sets `option`,
 * for example SO_RCVBUF, which obeys the limit.
 */
static gboolean
set_buffer_size (GSocket * socket, gint force_option, gint option, gint size,
    GError ** error)
{
  return g_socket_set_option (socket, SOL_SOCKET, force_option, size, NULL)
      || g_socket_set_option (socket, SOL_SOCKET, option, size, error);
}

gboolean
datagram_socket_set_receive_buffer_size (DatagramSocket * self, gint size,
    GError ** error)
{
  return set_buffer_size (self->socket, SO_RCVBUFFORCE, SO_RCVBUF, size, error);
}

gboolean
datagram_socket_set_send_buffer_size (DatagramSocket * self, gint size,
    GError ** error)
{
  return set_buffer_size (self->socket, SO_SNDBUFFORCE, SO_SNDBUF, size, error);
}

/* Sets an option for IPv4 and, on an IPv6 socket, also for IPv6. An IPv6 socket
 * needs both, because it may also exchange packets with IPv4 hosts. A raw IPv6
 * socket cannot do this and refuses the option for IPv4, so this refusal is no
 * error. An IPv6 socket of the application keeps the application's options for
 * IPv4. */
static gboolean
set_ip_option (DatagramSocket * self, gint ipv4_option, gint ipv6_option,
    gint value, GError ** error)
{
  if (self->family == AF_INET)
    return g_socket_set_option (self->socket, IPPROTO_IP, ipv4_option, value,
        error);
  if (!self->stays_open)
    g_socket_set_option (self->socket, IPPROTO_IP, ipv4_option, value, NULL);
  return g_socket_set_option (self->socket, IPPROTO_IPV6, ipv6_option, value,
      error);
}

gboolean
datagram_socket_set_ttl (DatagramSocket * self, gint ttl, GError ** error)
{
  return set_ip_option (self, IP_TTL, IPV6_UNICAST_HOPS, ttl, error);
}

gboolean
datagram_socket_set_dscp (DatagramSocket * self, gint dscp, GError ** error)
{
  return set_ip_option (self, IP_TOS, IPV6_TCLASS, dscp << 2, error);
}

static void
set_options (DatagramSocket * self, const DatagramSocketOptions * options)
{
  if (options->may_fragment >= 0)
    set_may_fragment (self, options->may_fragment);
  if (options->receive_buffer_size > 0)
    datagram_socket_set_receive_buffer_size (self, options->receive_buffer_size,
        NULL);
  if (options->send_buffer_size > 0)
    datagram_socket_set_send_buffer_size (self, options->send_buffer_size,
        NULL);
  if (options->ttl > 0)
    datagram_socket_set_ttl (self, options->ttl, NULL);
  if (options->dscp >= 0)
    datagram_socket_set_dscp (self, options->dscp, NULL);
  if (options->reuse)
    g_socket_set_option (self->socket, SOL_SOCKET, SO_REUSEADDR, TRUE, NULL);
}

/* Enables GSO and GRO if `options` demand them and the kernel supports them.
 *
 * Linux before 4.18 does not know GSO. It would ignore the control message
 * UDP_SEGMENT and send one huge packet. To detect such a kernel, the function
 * sets the socket option UDP_SEGMENT to 0, its default. Linux before 4.18 does
 * not know this socket option and returns an error. GSO then stays disabled.
 *
 * UDP-Lite sockets are excluded, because they accept the option but cannot send
 * with GSO. */
static void
enable_gso (DatagramSocket * self, const DatagramSocketOptions * options)
{
#ifdef UDP_SEGMENT
  const gint none = 0;

  if (self->is_raw || options->protocol != IPPROTO_UDP)
    return;
  if (options->gso && setsockopt (self->fd, IPPROTO_UDP, UDP_SEGMENT, &none,
          sizeof (none)) == 0)
    self->max_segment = DATAGRAM_MAX_RUN_SIZE;
#endif
  if (options->gro)
    datagram_socket_enable_gro (self);
}

/* Takes ownership of `socket`. */
static DatagramSocket *
wrap (GSocket * socket)
{
  DatagramSocket *self = g_new0 (DatagramSocket, 1);

  self->socket = socket;
  self->fd = g_socket_get_fd (socket);
  self->family = g_socket_get_family (socket) == G_SOCKET_FAMILY_IPV6 ?
      AF_INET6 : AF_INET;
  socket_clock_init (&self->clock);
  return self;
}

static DatagramSocket *
socket_new (GSocketFamily family, const DatagramSocketOptions * options,
    GError ** error)
{
  gint fd = open_fd (family == G_SOCKET_FAMILY_IPV6 ? AF_INET6 : AF_INET,
      options->protocol, options->is_raw, error);
  GSocket *socket = NULL;
  DatagramSocket *self;

  if (fd < 0)
    return NULL;
  if (!options->is_raw || raw_socket_discard_everything (fd, error))
    socket = g_socket_new_from_fd (fd, error);
  if (!socket) {
    close (fd);
    return NULL;
  }
  g_socket_set_blocking (socket, FALSE);
  self = wrap (socket);
  self->is_raw = options->is_raw;
  self->keeps_header = options->keep_header;
  self->has_details = !options->no_details;
  if (self->has_details)
    socket_clock_ask_for_stamps (fd);
  set_options (self, options);
  enable_gso (self, options);
  return self;
}

DatagramSocket *
datagram_socket_new_from_socket (GSocket * socket, gboolean close_it)
{
  DatagramSocket *self = wrap (g_object_ref (socket));

  self->stays_open = !close_it;
  return self;
}

void
datagram_socket_free (DatagramSocket * self)
{
  if (!self->stays_open)
    g_socket_close (self->socket, NULL);
  g_object_unref (self->socket);
  g_free (self->description);
  g_free (self);
}

/* --- binding -------------------------------------------------------------- */

static gboolean
bind_native (DatagramSocket * self, const struct sockaddr *address,
    const gchar * text, GError ** error)
{
  socklen_t size = address->sa_family == AF_INET6 ?
      sizeof (struct sockaddr_in6) : sizeof (struct sockaddr_in);

  if (bind (self->fd, address, size) == 0)
    return TRUE;
  if (errno == EADDRNOTAVAIL) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
        "%s is not an address of this host: %s. Set one of the addresses that "
        "\"ip address\" lists", text, g_strerror (errno));
    return FALSE;
  }
  if (errno == EACCES)
    return socket_set_error (error, errno, "could not bind to %s, as a port "
        "below 1024 needs root or the capability CAP_NET_BIND_SERVICE", text);
  return socket_set_error (error, errno, "could not bind to %s", text);
}

static gboolean
bind_address (DatagramSocket * self, GSocketAddress * address, GError ** error)
{
  DatagramNative native;
  socklen_t size;
  gchar *text;
  gboolean done;

  if (!to_native (self, address, &native, &size, error))
    return FALSE;
  text = describe_address (address);
  done = bind_native (self, &native.any, text, error);
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
bind_interface_address (DatagramSocket * self, const gchar * interface,
    GError ** error)
{
  struct ifaddrs *addresses = NULL;
  const struct sockaddr *found;
  gboolean done = FALSE;

  if (getifaddrs (&addresses) < 0)
    return socket_set_error (error, errno,
        "could not read the addresses of the interface %s", interface);
  found = find_address (addresses, interface, self->family);
  if (found)
    done = bind_native (self, found, interface, error);
  else
    socket_set_error (error, EADDRNOTAVAIL,
        "the interface %s has no address of %s", interface,
        self->family == AF_INET6 ? "IPv6" : "IPv4");
  freeifaddrs (addresses);
  return done;
}

static gboolean
bind_interface (DatagramSocket * self, const gchar * interface, GError ** error)
{
  if (if_nametoindex (interface) == 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
        "there is no network interface \"%s\". Set one of the interfaces that "
        "\"ip link\" lists", interface);
    return FALSE;
  }
#ifdef SO_BINDTODEVICE
  if (setsockopt (self->fd, SOL_SOCKET, SO_BINDTODEVICE, interface,
          strlen (interface) + 1) == 0)
    return TRUE;
#else
  errno = EPERM;
#endif
  return socket_set_error (error, errno, "could not bind to the interface %s",
      interface);
}

/* Binds the socket to the interface `interface` and to the address `local`;
 * both may be NULL. Before Linux 5.7, binding to an interface needs
 * CAP_NET_RAW. Without that capability, the socket is bound only to `local` or,
 * if `local` is NULL, to an address of the interface. Routing rules can then
 * select the interface by this source address. */
static gboolean
bind_connected (DatagramSocket * self, const gchar * interface,
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

/* Reads the local endpoint of a socket that is bound or connected. */
static gboolean
read_local_endpoint (DatagramSocket * self, GError ** error)
{
  DatagramNative native;
  socklen_t size = sizeof (native);
  guint32 scope = 0;

  if (getsockname (self->fd, &native.any, &size) < 0)
    return socket_set_error (error, errno, "could not read the local address");
  self->path.address_size =
      datagram_native_read (&native, self->path.local, &self->path.local_port,
      &scope);
  if (self->is_raw)
    self->path.local_port = 0;
  if (self->path.scope == 0)
    self->path.scope = scope;
  return TRUE;
}

/* Starts reception on a raw socket, which discards all packets until then. The
 * kernel ignores the port of a raw socket. If a port was configured for the
 * socket, this function therefore sets a filter that accepts only the packets
 * for this port. If no port was configured, the socket accepts all packets. For
 * sockets that are not raw, the function does nothing. */
static gboolean
start_receiving (DatagramSocket * self, GSocketAddress * local, GError ** error)
{
  if (!self->is_raw)
    return TRUE;
  if (local)
    self->raw_port =
        g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (local));
  if (self->raw_port > 0)
    return raw_socket_filter_port (self->fd, self->family == AF_INET6,
        self->raw_port, error);
  return raw_socket_accept_everything (self->fd, error);
}

/* --- connected ------------------------------------------------------------ */

static gboolean
connect_to (DatagramSocket * self, GSocketAddress * remote, GError ** error)
{
  DatagramNative native;
  socklen_t size;

  if (!to_native (self, remote, &native, &size, error))
    return FALSE;
  if (connect (self->fd, &native.any, size) < 0)
    return socket_set_error (error, errno,
        "there is no route to %s", self->description);
  datagram_path_set_native (&self->path, &native);
  return TRUE;
}

static DatagramSocket *
open_connected (GSocketAddress * remote, GSocketAddress * local,
    const DatagramSocketOptions * options, GError ** error)
{
  DatagramSocket *self = socket_new (g_socket_address_get_family (remote),
      options, error);

  if (!self)
    return NULL;
  self->is_connected = TRUE;
  self->description = describe_ends (remote, local, options->interface);
  if (bind_connected (self, options->interface, local, error)
      && connect_to (self, remote, error) && read_local_endpoint (self, error)
      && start_receiving (self, local, error))
    return self;
  datagram_socket_free (self);
  return NULL;
}

/* Returns the source address that the kernel selects for packets that are sent
 * to `remote` over the interface options->interface. */
static GSocketAddress *
choose_address (GSocketAddress * remote, const DatagramSocketOptions * options,
    GError ** error)
{
  DatagramSocket *probe = open_connected (remote, NULL, options, error);
  GSocketAddress *chosen;
  DatagramNative native;
  socklen_t size = sizeof (native);

  if (!probe)
    return NULL;
  getsockname (probe->fd, &native.any, &size);
  native.ipv4.sin_port = 0;
  chosen = g_socket_address_new_from_native (&native, size);
  datagram_socket_free (probe);
  return chosen;
}

/* Opens a connected socket. If an interface but no local address is given, the
 * socket is opened in two steps:
 *
 * 1. A temporary socket shows which source address the kernel selects.
 * 2. The real socket is bound to this address.
 *
 * The reason is policy routing, which may select a route by the source address.
 * The kernel selects the route before it selects a source address. Rules for a
 * source address therefore apply only if the socket is already bound to the
 * address. */
DatagramSocket *
datagram_socket_new_connected (GSocketAddress * remote,
    GSocketAddress * local, const DatagramSocketOptions * options,
    GError ** error)
{
  GSocketAddress *chosen = NULL;
  DatagramSocket *self;

  if (!check_families (remote, local, error))
    return NULL;
  if (options->interface && !local) {
    chosen = choose_address (remote, options, error);
    if (!chosen)
      return NULL;
  }
  self = open_connected (remote, chosen ? chosen : local, options, error);
  g_clear_object (&chosen);
  return self;
}

/* --- listening ------------------------------------------------------------ */

/* Makes the kernel report the destination address of each received packet
 * (IP_PKTINFO in ip(7), RFC 3542 section 6). An answer can then be sent from
 * this address. Otherwise the kernel would select the source address of the
 * answer by the routing table, and the peer might not accept an answer from
 * another address. */
static gboolean
ask_for_local (DatagramSocket * self, GError ** error)
{
  const gint yes = TRUE;

  errno = ENOPROTOOPT;
#ifdef IP_PKTINFO
  if (self->family == AF_INET && setsockopt (self->fd, IPPROTO_IP, IP_PKTINFO,
          &yes, sizeof (yes)) == 0)
    return TRUE;
#endif
#ifdef IPV6_RECVPKTINFO
  if (self->family == AF_INET6 && setsockopt (self->fd, IPPROTO_IPV6,
          IPV6_RECVPKTINFO, &yes, sizeof (yes)) == 0)
    return TRUE;
#endif
  return socket_set_error (error, errno,
      "could not ask for the destination addresses");
}

DatagramSocket *
datagram_socket_new (GSocketFamily family,
    const DatagramSocketOptions * options, GError ** error)
{
  DatagramSocket *self = socket_new (family, options, error);
  gboolean is_ipv6 = family == G_SOCKET_FAMILY_IPV6;

  if (!self)
    return NULL;
  /* IPV6_V6ONLY restricts an IPv6 socket to IPv6 hosts. A raw socket needs no
   * such option, because it never receives packets of the other IP version. */
  if (is_ipv6 && !self->is_raw)
    g_socket_set_option (self->socket, IPPROTO_IPV6, IPV6_V6ONLY, TRUE, NULL);
  if (!is_ipv6 || !self->keeps_header || ask_for_local (self, error))
    return self;
  datagram_socket_free (self);
  return NULL;
}

gboolean
datagram_socket_bind (DatagramSocket * self, GSocketAddress * local,
    GError ** error)
{
  return bind_address (self, local, error) && read_local_endpoint (self, error)
      && start_receiving (self, local, error);
}

DatagramSocket *
datagram_socket_new_listener (GSocketAddress * local,
    const DatagramSocketOptions * options, GError ** error)
{
  DatagramSocket *self = socket_new (g_socket_address_get_family (local),
      options, error);

  if (!self)
    return NULL;
  ask_for_local (self, NULL);
  if (self->family == AF_INET6)
    g_socket_set_option (self->socket, IPPROTO_IPV6, IPV6_V6ONLY, FALSE, NULL);
  if ((!options->interface || bind_interface (self, options->interface, error))
      && datagram_socket_bind (self, local, error))
    return self;
  datagram_socket_free (self);
  return NULL;
}

guint16
datagram_socket_draw_port (void)
{
  return g_random_int_range (FIRST_DYNAMIC_PORT, LAST_DYNAMIC_PORT + 1);
}

/* --- properties ----------------------------------------------------------- */

GSocket *
datagram_socket_get_socket (DatagramSocket * self)
{
  return self->socket;
}

const DatagramPath *
datagram_socket_get_path (DatagramSocket * self)
{
  return &self->path;
}

gboolean
datagram_socket_has_gro (DatagramSocket * self)
{
  return self->has_gro;
}

gboolean
datagram_socket_enable_gro (DatagramSocket * self)
{
#ifdef UDP_GRO
  const gint yes = TRUE;

  self->has_gro = setsockopt (self->fd, IPPROTO_UDP, UDP_GRO, &yes,
      sizeof (yes)) == 0;
#endif
  return self->has_gro;
}

static gint
select_multicast_interface (gint fd, gint family, guint index)
{
  struct ip_mreqn of_ipv4 = {.imr_ifindex = index };
  gint of_ipv6 = index;

  if (family == AF_INET6)
    return setsockopt (fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &of_ipv6,
        sizeof (of_ipv6));
  return setsockopt (fd, IPPROTO_IP, IP_MULTICAST_IF, &of_ipv4,
      sizeof (of_ipv4));
}

gboolean
datagram_socket_set_multicast_interface (DatagramSocket * self, guint index,
    GError ** error)
{
  if (select_multicast_interface (self->fd, self->family, index) < 0)
    return socket_set_error (error, errno,
        "could not send multicast by the interface %u", index);
  self->multicast_interface = index;
  return TRUE;
}

static gboolean
is_multicast (const DatagramPath * path)
{
  return path->address_size == 16 ? path->remote[0] == IPV6_MULTICAST :
      (path->remote[0] & 0xf0) == IPV4_MULTICAST;
}

guint
datagram_socket_get_interface (DatagramSocket * self, const DatagramPath * path)
{
#ifdef SO_BINDTODEVICE
  gchar device[IFNAMSIZ] = "";
  socklen_t size = sizeof (device);

  if (getsockopt (self->fd, SOL_SOCKET, SO_BINDTODEVICE, device, &size) == 0
      && size > 1)
    return if_nametoindex (device);
#endif
  return is_multicast (path) ? self->multicast_interface : 0;
}

/* --- checksum of UDP ------------------------------------------------------ */

static gboolean
set_no_checksum (DatagramSocket * self, gint level, gint option, gint value,
    GError ** error)
{
  if (setsockopt (self->fd, level, option, &value, sizeof (value)) == 0)
    return TRUE;
  return socket_set_error (error, errno, "could not %s the checksum of UDP",
      value ? "disable" : "enable");
}

/* Sets whether sent packets have a UDP checksum. The option SO_NO_CHECK
 * disables the checksum for IPv4 only, and UDP_NO_CHECK6_TX disables it for
 * IPv6 only. */
gboolean
datagram_socket_set_checksum (DatagramSocket * self, gboolean has_checksum,
    GError ** error)
{
#ifdef UDP_NO_CHECK6_TX
  if (self->no_checksum == !has_checksum)
    return TRUE;
  if (self->family == AF_INET ?
      !set_no_checksum (self, SOL_SOCKET, SO_NO_CHECK, !has_checksum, error) :
      !set_no_checksum (self, IPPROTO_UDP, UDP_NO_CHECK6_TX, !has_checksum,
          error))
    return FALSE;
  self->no_checksum = !has_checksum;
  return TRUE;
#else
  return has_checksum
      || socket_set_error (error, ENOTSUP, "could not disable the checksum of "
      "UDP");
#endif
}

gboolean
datagram_socket_accept_no_checksum (DatagramSocket * self, GError ** error)
{
#ifdef UDP_NO_CHECK6_RX
  return self->family == AF_INET || set_no_checksum (self, IPPROTO_UDP,
      UDP_NO_CHECK6_RX, TRUE, error);
#else
  return TRUE;
#endif
}

/* --- questions to the routing table --------------------------------------- */

/* `probe` is a socket that is used only to query the routing table. This
 * function sets its options so that the kernel selects the same route for
 * `probe` as for the packets of `self`. */
static void
send_like (DatagramSocket * self, gint probe, gint family)
{
  gint yes = TRUE;

  setsockopt (probe, SOL_SOCKET, SO_BROADCAST, &yes, sizeof (yes));
#ifdef SO_BINDTODEVICE
  {
    gchar device[IFNAMSIZ] = "";
    socklen_t size = sizeof (device);

    if (getsockopt (self->fd, SOL_SOCKET, SO_BINDTODEVICE, device, &size) == 0
        && size > 1)
      setsockopt (probe, SOL_SOCKET, SO_BINDTODEVICE, device, size);
  }
#endif
  if (self->multicast_interface > 0)
    select_multicast_interface (probe, family, self->multicast_interface);
}

/* Opens a probe: a UDP socket that is connected to the remote host of `path`
 * and sends nothing. The kernel reports the properties of a route, such as the
 * path MTU, only for a connected socket. The probe is used to read them.
 * Returns the file descriptor of the probe, or -1 with `error` set. */
static gint
open_probe (DatagramSocket * self, const DatagramPath * path, GError ** error)
{
  DatagramPath to = *path;
  DatagramNative native;
  socklen_t size;
  gchar *text;
  gint fd;

  if (datagram_path_is_mapped (path)) {
    memcpy (to.remote, path->remote + 12, 4);
    to.address_size = 4;
  }
  to.remote_port = PROBE_PORT;
  fd = open_fd (datagram_path_get_family (&to), IPPROTO_UDP, FALSE, error);
  if (fd < 0)
    return -1;
  send_like (self, fd, datagram_path_get_family (&to));
  size = datagram_native_from_path (&native, &to);
  if (connect (fd, &native.any, size) == 0)
    return fd;
  text = datagram_path_to_string (path);
  socket_set_error (error, errno, "there is no route to %s", text);
  g_free (text);
  close (fd);
  return -1;
}

gboolean
datagram_socket_find_local (DatagramSocket * self, DatagramPath * path,
    GError ** error)
{
  gint fd = open_probe (self, path, error);
  DatagramNative native;
  socklen_t size = sizeof (native);
  guint32 scope = 0;
  guint16 port;
  gboolean done;

  if (fd < 0)
    return FALSE;
  done = getsockname (fd, &native.any, &size) == 0;
  close (fd);
  if (!done)
    return socket_set_error (error, errno, "could not read the local address");
  datagram_native_read (&native, path->local, &port, &scope);
  /* A packet that is sent from a link-local address needs the interface of this
   * address (RFC 3542 section 6.2). */
  if (path->scope == 0
      && datagram_is_link_local (path->local, path->address_size))
    path->scope = scope > 0 || path->remote[0] != IPV6_MULTICAST ? scope :
        self->multicast_interface;
  return TRUE;
}

static guint
read_mtu (gint fd, gint family)
{
  gint mtu = 0;
  socklen_t size = sizeof (mtu);

#ifdef IP_MTU
  if (family == AF_INET
      && getsockopt (fd, IPPROTO_IP, IP_MTU, &mtu, &size) == 0)
    return mtu;
#endif
#ifdef IPV6_MTU
  if (family == AF_INET6
      && getsockopt (fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &size) == 0)
    return mtu;
#endif
  return 0;
}

static guint
probe_mtu (DatagramSocket * self, const DatagramPath * path)
{
  gint fd = open_probe (self, path, NULL);
  guint mtu;

  if (fd < 0)
    return 0;
  mtu = read_mtu (fd, datagram_path_is_mapped (path) ? AF_INET :
      datagram_path_get_family (path));
  close (fd);
  return mtu;
}

guint
datagram_socket_get_mtu (DatagramSocket * self, const DatagramPath * path,
    guint mtu)
{
  guint path_mtu = self->is_connected ? read_mtu (self->fd, self->family) :
      probe_mtu (self, path);

  if (path_mtu == 0)
    path_mtu = DEFAULT_MTU;
  return mtu == 0 ? path_mtu : MIN (mtu, path_mtu);
}

guint
datagram_socket_get_overhead (DatagramSocket * self)
{
  return UDP_HEADER_SIZE + (self->family == AF_INET6 ? IPV6_HEADER_SIZE :
      IPV4_HEADER_SIZE);
}

guint
datagram_socket_get_max_payload (DatagramSocket * self, guint mtu)
{
  guint overhead = datagram_socket_get_overhead (self);

  mtu = datagram_socket_get_mtu (self, &self->path, mtu);
  return mtu > overhead ? MIN (mtu - overhead, UDP_MAX_PAYLOAD) : 0;
}
