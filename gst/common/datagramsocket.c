/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See datagramsocket.h. The first half opens sockets, the second one sends and
 * receives.
 */

#define _GNU_SOURCE             /* struct in6_pktinfo */

#include "datagramsocket.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include "rawsocket.h"
#include "socketclock.h"
#include "socketmessages.h"
#include "socketoptions.h"
#include "socketpktinfo.h"

#define UDP_HEADER_SIZE 8       /* RFC 768 */
#define UDP_MAX_PAYLOAD 65507   /* of IPv4, whose total length has 16 bits */
#define IPV4_HEADER_SIZE 20     /* RFC 791, without options */
#define IPV4_WORD 4             /* the unit of its header length */
#define IPV6_HEADER_SIZE 40     /* RFC 8200, without extensions */
/* Ethernet's, where the system doesn't tell the path MTU */
#define DEFAULT_MTU 1500
/* Nothing is sent to the port of a probe: discard, RFC 863 */
#define PROBE_PORT 9

typedef union
{
  struct sockaddr any;
  struct sockaddr_in ipv4;
  struct sockaddr_in6 ipv6;
} NativeAddress;

struct _DatagramSocket
{
  GSocket *socket;
  gint fd;                      /* of the GSocket */
  gint family;                  /* AF_INET or AF_INET6 */
  gboolean is_raw, is_connected;
  gchar *description;           /* of both ends, if connected, for errors */
  DatagramPath path;            /* both ends, or the local one */
  guint16 raw_port;             /* raw: destination of what it receives; 0:
                                 * any */

  /* errno that ICMP brought back to a connected socket. 0: none */
  gint returned;                /* to be reported */
  gint reported;                /* since the last packet was received */

  SocketClock clock;
};

void
datagram_init (Datagram * datagram, guint8 * bytes, gsize size)
{
  memset (datagram, 0, sizeof (*datagram));
  datagram->bytes = bytes;
  datagram->size = size;
}

gsize
datagram_get_size (const Datagram * datagram)
{
  gsize size = datagram->size;
  guint i;

  for (i = 0; i < datagram->n_parts; i++)
    size += datagram->parts[i].size;
  return size;
}

void
datagram_copy_bytes (const Datagram * datagram, guint8 * to)
{
  guint i;

  memcpy (to, datagram->bytes, datagram->size);
  to += datagram->size;
  for (i = 0; i < datagram->n_parts; i++) {
    memcpy (to, datagram->parts[i].data, datagram->parts[i].size);
    to += datagram->parts[i].size;
  }
}

void
datagram_socket_options_init (DatagramSocketOptions * options)
{
  memset (options, 0, sizeof (*options));
  options->protocol = IPPROTO_UDP;
  options->dscp = -1;
  options->may_fragment = TRUE;
}

/* --- addresses ------------------------------------------------------------ */

static socklen_t
native_from_path (NativeAddress * native, const DatagramPath * path,
    gint family)
{
  if (family == AF_INET) {
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

static gsize
read_native (const NativeAddress * native, guint8 address[16], guint16 * port,
    guint32 * scope)
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

static void
set_remote (DatagramSocket * self, DatagramPath * path,
    const NativeAddress * native)
{
  path->address_size =
      read_native (native, path->remote, &path->remote_port, &path->scope);
  if (self->is_raw)
    path->remote_port = 0;
}

/* The kernel takes the port of a raw socket for a protocol number (ipv6(7)). */
static gboolean
to_native (DatagramSocket * self, GSocketAddress * address,
    NativeAddress * native, socklen_t * size, GError ** error)
{
  if (!g_socket_address_to_native (address, native, sizeof (*native), error))
    return FALSE;
  *size = g_socket_address_get_native_size (address);
  /* The port is in the same place for both families. */
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
      "No way from %s to %s: one is IPv4, the other one IPv6", from, to);
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
    socket_set_error (error, errno, "A raw socket needs CAP_NET_RAW");
  else
    socket_set_error (error, errno, "No %s socket of %s for IP protocol %d",
        is_raw ? "raw" : "datagram", family == AF_INET6 ? "IPv6" : "IPv4",
        protocol);
  return -1;
}

/* An IPv6 socket that exchanges packets with IPv4 hosts, too, has the options
 * of both. */
static void
set_options (DatagramSocket * self, const DatagramSocketOptions * options)
{
  GSocket *socket = self->socket;
  gboolean is_ipv6 = self->family == AF_INET6;

  socket_options_set_fragments (socket, options->may_fragment);
  if (options->receive_buffer_size > 0)
    socket_options_set_receive_buffer (socket, options->receive_buffer_size);
  if (options->send_buffer_size > 0)
    socket_options_set_send_buffer (socket, options->send_buffer_size);
  if (options->ttl > 0)
    g_socket_set_option (socket, IPPROTO_IP, IP_TTL, options->ttl, NULL);
  if (options->ttl > 0 && is_ipv6)
    g_socket_set_option (socket, IPPROTO_IPV6, IPV6_UNICAST_HOPS, options->ttl,
        NULL);
  if (options->dscp >= 0)
    g_socket_set_option (socket, IPPROTO_IP, IP_TOS, options->dscp << 2, NULL);
#ifdef IPV6_TCLASS
  if (options->dscp >= 0 && is_ipv6)
    g_socket_set_option (socket, IPPROTO_IPV6, IPV6_TCLASS, options->dscp << 2,
        NULL);
#endif
  if (options->reuse)
    g_socket_set_option (socket, SOL_SOCKET, SO_REUSEADDR, TRUE, NULL);
}

static DatagramSocket *
socket_new (GSocketAddress * like, const DatagramSocketOptions * options,
    GError ** error)
{
  gint family = g_socket_address_get_family (like) == G_SOCKET_FAMILY_IPV6 ?
      AF_INET6 : AF_INET;
  gint fd = open_fd (family, options->protocol, options->is_raw, error);
  GSocket *socket = NULL;
  DatagramSocket *self;

  if (fd < 0)
    return NULL;
  if (!options->is_raw || raw_socket_become_deaf (fd, error))
    socket = g_socket_new_from_fd (fd, error);
  if (!socket) {
    close (fd);
    return NULL;
  }
  g_socket_set_blocking (socket, FALSE);
  self = g_new0 (DatagramSocket, 1);
  self->socket = socket;
  self->fd = fd;
  self->family = family;
  self->is_raw = options->is_raw;
  socket_clock_init (&self->clock);
  socket_clock_ask_for_stamps (fd);
  set_options (self, options);
  return self;
}

void
datagram_socket_free (DatagramSocket * self)
{
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
  if (errno == EADDRNOTAVAIL)
    return socket_set_error (error, errno, "%s is no address of this host",
        text);
  return socket_set_error (error, errno, "Could not bind to %s", text);
}

static gboolean
bind_address (DatagramSocket * self, GSocketAddress * address, GError ** error)
{
  NativeAddress native;
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
bind_interface (DatagramSocket * self, const gchar * interface,
    GError ** error)
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

/* Linux before 5.7 lets only CAP_NET_RAW bind a socket to an interface.
 * Otherwise the address of the interface has to do, since routing rules can
 * select by that. */
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

/* The socket is bound or connected: its local end is known. */
static gboolean
learn_local (DatagramSocket * self, GError ** error)
{
  NativeAddress native;
  socklen_t size = sizeof (native);
  guint32 scope = 0;

  if (getsockname (self->fd, &native.any, &size) < 0)
    return socket_set_error (error, errno, "No address of its own");
  self->path.address_size =
      read_native (&native, self->path.local, &self->path.local_port, &scope);
  if (self->is_raw)
    self->path.local_port = 0;
  if (self->path.scope == 0)
    self->path.scope = scope;
  return TRUE;
}

/* A raw socket receives packets only from now on. */
static gboolean
begin_to_hear (DatagramSocket * self, GSocketAddress * local, GError ** error)
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
  NativeAddress native;
  socklen_t size;

  if (!to_native (self, remote, &native, &size, error))
    return FALSE;
  if (connect (self->fd, &native.any, size) < 0)
    return socket_set_error (error, errno, "No way to %s", self->description);
  set_remote (self, &self->path, &native);
  return TRUE;
}

static DatagramSocket *
open_connected (GSocketAddress * remote, GSocketAddress * local,
    const DatagramSocketOptions * options, GError ** error)
{
  DatagramSocket *self = socket_new (remote, options, error);

  if (!self)
    return NULL;
  self->is_connected = TRUE;
  self->description = describe_ends (remote, local, options->interface);
  if (bind_connected (self, options->interface, local, error)
      && connect_to (self, remote, error) && learn_local (self, error)
      && begin_to_hear (self, local, error))
    return self;
  datagram_socket_free (self);
  return NULL;
}

/* The address that the kernel chooses on this interface */
static GSocketAddress *
choose_address (GSocketAddress * remote, const DatagramSocketOptions * options,
    GError ** error)
{
  DatagramSocket *probe = open_connected (remote, NULL, options, error);
  GSocketAddress *chosen;
  NativeAddress native;
  socklen_t size = sizeof (native);

  if (!probe)
    return NULL;
  getsockname (probe->fd, &native.any, &size);
  /* The port is in the same place for both families. */
  native.ipv4.sin_port = 0;
  chosen = g_socket_address_new_from_native (&native, size);
  datagram_socket_free (probe);
  return chosen;
}

/* Policy routing selects by the source address, and cannot select by one that
 * the kernel has yet to choose. So the address is chosen first. */
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

DatagramSocket *
datagram_socket_new_listener (GSocketAddress * local,
    const DatagramSocketOptions * options, GError ** error)
{
  DatagramSocket *self = socket_new (local, options, error);

  if (!self)
    return NULL;
  socket_pktinfo_enable (self->fd, self->family);
  if (self->family == AF_INET6)
    g_socket_set_option (self->socket, IPPROTO_IPV6, IPV6_V6ONLY, FALSE, NULL);
  if ((!options->interface || bind_interface (self, options->interface, error))
      && bind_address (self, local, error) && learn_local (self, error)
      && begin_to_hear (self, local, error))
    return self;
  datagram_socket_free (self);
  return NULL;
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

/* The kernel tells the path MTU of a connected socket only, so that a connected
 * one has to be opened. */
static guint
probe_mtu (const DatagramPath * path)
{
  gboolean is_mapped = datagram_path_is_mapped (path);
  gint family = path->address_size == 16 && !is_mapped ? AF_INET6 : AF_INET;
  gint fd = open_fd (family, IPPROTO_UDP, FALSE, NULL);
  DatagramPath probe = *path;
  NativeAddress native;
  socklen_t size;
  guint mtu = 0;

  if (fd < 0)
    return 0;
  if (is_mapped)
    memcpy (probe.remote, path->remote + 12, 4);
  probe.remote_port = PROBE_PORT;
  size = native_from_path (&native, &probe, family);
  if (connect (fd, &native.any, size) == 0)
    mtu = socket_options_get_path_mtu (fd, family);
  close (fd);
  return mtu;
}

guint
datagram_socket_get_mtu (DatagramSocket * self, const DatagramPath * path,
    guint mtu)
{
  guint path_mtu = self->is_connected ?
      socket_options_get_path_mtu (self->fd, self->family) : probe_mtu (path);

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

/* --- batches -------------------------------------------------------------- */

/* Room for what the kernel tells about a packet, or is told */
typedef union
{
  struct cmsghdr header;        /* for its alignment */
  guint8 bytes[CMSG_SPACE (sizeof (struct timespec))
      + CMSG_SPACE (sizeof (struct in6_pktinfo))];
} Control;

typedef struct
{
  SocketMessage messages[DATAGRAM_BATCH];
  struct iovec vectors[DATAGRAM_BATCH][DATAGRAM_MAX_PARTS + 1];
  NativeAddress addresses[DATAGRAM_BATCH];
  Control controls[DATAGRAM_BATCH];
  guint8 ip_headers[DATAGRAM_BATCH][IPV4_HEADER_SIZE];
} Batch;

static void
add_vector (struct msghdr *message, gconstpointer data, gsize size)
{
  message->msg_iov[message->msg_iovlen].iov_base = (gpointer) data;
  message->msg_iov[message->msg_iovlen].iov_len = size;
  message->msg_iovlen++;
}

static struct msghdr *
prepare_message (Batch * batch, guint i)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;

  memset (message, 0, sizeof (*message));
  message->msg_iov = batch->vectors[i];
  return message;
}

/* A listener cannot tell whose packet brought an ICMP error back. */
static void
note_returned (DatagramSocket * self, gint error_number)
{
  if (error_number && self->is_connected
      && (error_number != self->reported || error_number == EMSGSIZE))
    self->returned = error_number;
}

/* --- sending -------------------------------------------------------------- */

static void
prepare_output (DatagramSocket * self, Batch * batch, guint i,
    const Datagram * datagram)
{
  struct msghdr *message = prepare_message (batch, i);
  guint part;

  add_vector (message, datagram->bytes, datagram->size);
  for (part = 0; part < datagram->n_parts; part++)
    add_vector (message, datagram->parts[part].data,
        datagram->parts[part].size);
  if (self->is_connected)
    return;
  message->msg_name = &batch->addresses[i];
  message->msg_namelen = native_from_path (&batch->addresses[i],
      &datagram->path, self->family);
  socket_pktinfo_write (message, &batch->controls[i], self->family,
      datagram->path.local, datagram->path.scope);
}

static void
set_send_error (DatagramSocket * self, const Datagram * datagram,
    gint error_number, GError ** error)
{
  gchar *to = self->is_connected ? g_strdup (self->description) :
      datagram_path_to_string (&datagram->path);

  socket_set_error (error, error_number,
      "Could not send a packet of %" G_GSIZE_FORMAT " bytes to %s",
      datagram_get_size (datagram), to);
  g_free (to);
}

gint
datagram_socket_send (DatagramSocket * self, const Datagram * datagrams,
    guint n, GError ** error)
{
  SocketErrors errors;
  Batch batch;
  guint i, sent;

  n = MIN (n, DATAGRAM_BATCH);
  for (i = 0; i < n; i++)
    prepare_output (self, &batch, i, &datagrams[i]);
  sent = socket_messages_send (self->fd, batch.messages, n, &errors);
  note_returned (self, errors.earlier);
  if (sent > 0 || !errors.own)
    return sent;
  set_send_error (self, &datagrams[0], errors.own, error);
  return -1;
}

/* --- receiving ------------------------------------------------------------ */

static gboolean
has_ip_header (DatagramSocket * self)
{
  return self->is_raw && self->family == AF_INET;
}

static void
prepare_input (DatagramSocket * self, Batch * batch, guint i,
    const Datagram * datagram)
{
  struct msghdr *message = prepare_message (batch, i);

  if (has_ip_header (self))
    add_vector (message, batch->ip_headers[i], IPV4_HEADER_SIZE);
  add_vector (message, datagram->bytes, datagram->size);
  message->msg_name = &batch->addresses[i];
  message->msg_namelen = sizeof (batch->addresses[i]);
  message->msg_control = &batch->controls[i];
  message->msg_controllen = sizeof (batch->controls[i]);
}

/* The kernel has checked the header. Its options are removed. */
static gsize
remove_ip_header (const guint8 * header, guint8 * bytes, gsize size)
{
  gsize options = (header[0] & 0xf) * IPV4_WORD;

  if (size < IPV4_HEADER_SIZE)
    return 0;
  size -= IPV4_HEADER_SIZE;
  options -= MIN (options, IPV4_HEADER_SIZE);
  options = MIN (options, size);
  if (options > 0)
    memmove (bytes, bytes + options, size - options);
  return size - options;
}

/* Systems without socket filters deliver the packets of other ports, too. */
static gboolean
is_ours (DatagramSocket * self, const Datagram * datagram)
{
  const guint8 *port = datagram->bytes + RAW_SOCKET_DESTINATION_OFFSET;

  return self->raw_port == 0
      || (datagram->size >= RAW_SOCKET_DESTINATION_OFFSET + 2
      && (port[0] << 8 | port[1]) == self->raw_port);
}

/* A peer whose own address is global may talk to our link-local one: its
 * interface is part of the path, too. */
static void
read_local (const struct cmsghdr *control, gint family, DatagramPath * path)
{
  struct in6_addr local;
  guint interface;

  if (!socket_pktinfo_read (control, family, path->local, &interface)
      || family != AF_INET6 || path->scope > 0)
    return;
  memcpy (&local, path->local, sizeof (local));
  if (IN6_IS_ADDR_LINKLOCAL (&local))
    path->scope = interface;
}

static void
read_path (DatagramSocket * self, const NativeAddress * address,
    struct msghdr *message, DatagramPath * path, guint64 * stamp)
{
  struct cmsghdr *control;

  memset (path, 0, sizeof (*path));
  set_remote (self, path, address);
  path->local_port = self->path.local_port;
  for (control = CMSG_FIRSTHDR (message); control;
      control = CMSG_NXTHDR (message, control)) {
    if (!socket_clock_read_stamp (control, stamp))
      read_local (control, self->family, path);
  }
}

static void
read_input (DatagramSocket * self, Batch * batch, guint i,
    Datagram * datagram, gint64 now)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;
  guint64 stamp = 0;

  read_path (self, &batch->addresses[i], message, &datagram->path, &stamp);
  if (self->is_connected)
    datagram->path = self->path;
  datagram->size = batch->messages[i].msg_len;
  datagram->is_truncated = (message->msg_flags & MSG_TRUNC) != 0;
  datagram->time = socket_clock_get_arrival (&self->clock, stamp, now);
  if (has_ip_header (self))
    datagram->size = remove_ip_header (batch->ip_headers[i], datagram->bytes,
        datagram->size);
  /* Every protocol refuses an empty packet. */
  if (!is_ours (self, datagram))
    datagram->size = 0;
}

static gboolean
set_receive_error (DatagramSocket * self, gint error_number, GError ** error)
{
  if (error_number)
    return socket_set_error (error, error_number, "Could not receive");
  if (!self->returned)
    return TRUE;
  self->reported = self->returned;
  self->returned = 0;
  return socket_set_error (error, self->reported,
      "What was sent to %s came back", self->description);
}

gint
datagram_socket_receive (DatagramSocket * self, Datagram * datagrams,
    guint n, GError ** error)
{
  gint64 before = socket_clock_now (), now;
  SocketErrors errors;
  Batch batch;
  guint i, came;

  n = MIN (n, DATAGRAM_BATCH);
  for (i = 0; i < n; i++)
    prepare_input (self, &batch, i, &datagrams[i]);
  came = socket_messages_receive (self->fd, batch.messages, n, &errors);
  note_returned (self, errors.earlier);
  if (came == 0) {
    socket_clock_set_empty (&self->clock, before);
    return set_receive_error (self, errors.own, error) ? 0 : -1;
  }
  self->reported = 0;
  now = socket_clock_compare (&self->clock);
  for (i = 0; i < came; i++)
    read_input (self, &batch, i, &datagrams[i], now);
  return came;
}
