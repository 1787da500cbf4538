/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* UDP-Lite of our own on a raw socket, for systems whose kernel has none, and
 * for the receiver who wants to know what was covered. The kernel makes the IP
 * header; ours needs its addresses, which the checksum covers.
 */

#define _GNU_SOURCE             /* sendmmsg, struct in6_pktinfo */

#include "udplitesocketprivate.h"
#include "udpliteroutes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "rawsocket.h"
#include "socketpktinfo.h"

/* RFC 6335 section 6: the ports that are nobody's */
#define FIRST_DYNAMIC_PORT 49152
#define LAST_DYNAMIC_PORT 65535

/* Room for the address that the kernel shall send from, or has received by */
typedef union
{
  struct cmsghdr header;
  guint8 bytes[CMSG_SPACE (sizeof (struct in6_pktinfo))];
} RawControl;

struct _UdpliteRaw
{
  /* A UDP-Lite socket of the kernel, which keeps our port ours, and the kernel
   * from telling our peers that nobody is there. NULL: it has none */
  GSocket *holder;
  UdpliteRoutes *routes;        /* the sender's */
};

/* --- life cycle ----------------------------------------------------------- */

static gboolean
set_up (UdpliteSocket * self, gint fd, GError ** error)
{
#ifdef IPV6_CHECKSUM
  gint no = -1;

  /* It would be one of all the packet. */
  if (self->ipv6 && setsockopt (fd, IPPROTO_IPV6, IPV6_CHECKSUM, &no,
          sizeof (no)) < 0)
    return socket_set_error (error, errno, "No checksum of our own");
#endif
  if (self->ipv6 && !socket_pktinfo_enable (fd, AF_INET6))
    return socket_set_error (error, errno, "No destination addresses");
  return TRUE;
}

static gboolean
raw_create (UdpliteSocket * self, gint family, GError ** error)
{
  gint fd = udplite_socket_open (family, SOCK_RAW, UDPLITE_PROTOCOL, error);

  if (fd < 0)
    return FALSE;
  if (!raw_socket_become_deaf (fd, error) || !set_up (self, fd, error)) {
    close (fd);
    return FALSE;
  }
  if (!udplite_socket_wrap (self, fd, error))
    return FALSE;
  self->raw = g_new0 (UdpliteRaw, 1);
  return TRUE;
}

static void
raw_free (UdpliteSocket * self)
{
  if (!self->raw)
    return;
  g_clear_pointer (&self->raw->routes, udplite_routes_free);
  g_clear_object (&self->raw->holder);
  g_clear_pointer (&self->raw, g_free);
}

static GSocket *
make_holder (UdpliteSocket * self, gint fd, GInetSocketAddress * address,
    gboolean reuse, GError ** error)
{
  UdpliteSocket as_kernel = {.ipv6 = self->ipv6 };
  gint least = 0;

  if (!udplite_socket_wrap (&as_kernel, fd, error))
    return NULL;
  setsockopt (fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof (least));
  if (raw_socket_filter_everything (fd, error)
      && udplite_socket_bind (&as_kernel, address, reuse, error)) {
    self->port = as_kernel.port;
    return as_kernel.socket;
  }
  g_object_unref (as_kernel.socket);
  return NULL;
}

/* Where the kernel has no UDP-Lite, nobody keeps ports: they are agreed upon,
 * or hopefully nobody else's. */
static gboolean
take_port (UdpliteSocket * self, GInetSocketAddress * address, gboolean reuse,
    GError ** error)
{
  gint fd = udplite_socket_open (self->ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM,
      UDPLITE_PROTOCOL, NULL);

  if (fd >= 0) {
    self->raw->holder = make_holder (self, fd, address, reuse, error);
    return self->raw->holder != NULL;
  }
  self->port = g_inet_socket_address_get_port (address);
  if (self->port == 0)
    self->port = g_random_int_range (FIRST_DYNAMIC_PORT, LAST_DYNAMIC_PORT + 1);
  return TRUE;
}

/* The port of a raw socket's address is none to the kernel. */
static gboolean
bind_address (UdpliteSocket * self, GInetSocketAddress * address,
    GError ** error)
{
  struct sockaddr_storage native;
  gssize size = g_socket_address_get_native_size (G_SOCKET_ADDRESS (address));

  if (!g_socket_address_to_native (G_SOCKET_ADDRESS (address), &native,
          sizeof (native), error))
    return FALSE;
  udplite_address_set_port (&native, 0);
  if (bind (self->fd, (struct sockaddr *) &native, size) == 0)
    return TRUE;
  return socket_set_error (error, errno, "Could not bind the raw socket");
}

static gboolean
raw_bind (UdpliteSocket * self, GInetSocketAddress * address, gboolean reuse,
    GError ** error)
{
  if (!take_port (self, address, reuse, error))
    return FALSE;
  if (!bind_address (self, address, error)
      || !raw_socket_filter_port (self->fd, self->ipv6, self->port, error))
    return FALSE;
  self->raw->routes =
      udplite_routes_new (g_inet_socket_address_get_address (address));
  return TRUE;
}

static gsize
raw_get_overhead (const UdpliteSocket * self)
{
  return (self->ipv6 ? 0 : IPV4_MAX_HEADER_SIZE) + UDPLITE_HEADER_SIZE;
}

/* --- sending -------------------------------------------------------------- */

/* One packet, in parts that have to stay until it is sent */
typedef struct
{
  struct sockaddr_storage address;
  struct iovec vectors[UDPLITE_MAX_IO_VECTORS];
  guint8 header[UDPLITE_HEADER_SIZE];
  RawControl control;
} RawOutput;

static gboolean
prepare (UdpliteSocket * self, SocketMessage * message, RawOutput * raw,
    const UdpliteOutput * output, GError ** error)
{
  const UdpliteRoute *route;

  if (output->address->sa_family != (self->ipv6 ? AF_INET6 : AF_INET))
    return socket_set_error (error, EAFNOSUPPORT,
        "Could not send by a socket of %s", self->ipv6 ? "IPv6" : "IPv4");
  route = udplite_routes_find (self->raw->routes, output->address,
      output->address_size, self->fd, self->multicast_interface, error);
  if (!route)
    return FALSE;
  udplite_write_header (raw->header, &route->addresses, self->port,
      udplite_address_get_port (output->address),
      udplite_output_get_coverage (output), output->vectors, output->n_vectors);
  udplite_message_from_output (message, raw->vectors, output, raw->header);
  /* of IPv6 the port must be 0, or the protocol (ipv6(7)) */
  memcpy (&raw->address, output->address, output->address_size);
  udplite_address_set_port (&raw->address, 0);
  message->msg_hdr.msg_name = &raw->address;
  /* The kernel takes the address that we have in the checksum, even if the routes
   * changed since we asked. */
  if (route->say_source)
    socket_pktinfo_write (&message->msg_hdr, &raw->control,
        output->address->sa_family, route->addresses.source,
        route->source_interface);
  return TRUE;
}

static guint
raw_send (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
    GError ** error)
{
  SocketMessage messages[UDPLITE_MAX_BATCH];
  RawOutput raw[UDPLITE_MAX_BATCH];
  GError *unroutable = NULL, *failure = NULL;
  guint sent, ready;

  udplite_routes_expire (self->raw->routes);
  for (ready = 0; ready < n; ready++) {
    if (!prepare (self, &messages[ready], &raw[ready], &outputs[ready],
            &unroutable))
      break;
  }
  sent = udplite_messages_send (self->fd, messages, ready, &failure);
  if (failure)
    udplite_routes_clear (self->raw->routes);
  if (!failure && sent == ready && unroutable)
    failure = g_steal_pointer (&unroutable);
  g_clear_error (&unroutable);
  if (failure)
    g_propagate_error (error, failure);
  return sent;
}

/* --- receiving ------------------------------------------------------------ */

static gboolean
find_destination (struct msghdr *message, guint8 * destination)
{
  struct cmsghdr *header;
  struct in6_pktinfo info;

  for (header = CMSG_FIRSTHDR (message); header;
      header = CMSG_NXTHDR (message, header)) {
    if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
      memcpy (&info, CMSG_DATA (header), sizeof (info));
      memcpy (destination, &info.ipi6_addr, 16);
      return TRUE;
    }
  }
  return FALSE;
}

/* Where UDP-Lite begins, and between whom it is */
static gboolean
find_packet (UdpliteSocket * self, const UdpliteInput * input,
    SocketMessage * message, UdpliteAddresses * addresses, gsize * offset,
    gsize * size)
{
  const struct sockaddr_in6 *ipv6 =
      (const struct sockaddr_in6 *) &input->address;

  if (!self->ipv6)
    return udplite_parse_ipv4 (input->data, message->msg_len, addresses,
        offset, size);
  addresses->ipv6 = TRUE;
  *offset = 0;
  *size = message->msg_len;
  memcpy (addresses->source, &ipv6->sin6_addr, 16);
  return find_destination (&message->msg_hdr, addresses->destination);
}

static guint16
read_uint16 (const guint8 * bytes)
{
  return bytes[0] << 8 | bytes[1];
}

/* Where the system has filters, this was one. */
static gboolean
is_ours (UdpliteSocket * self, const guint8 * packet, gsize size)
{
  return size >= RAW_SOCKET_DESTINATION_OFFSET + 2
      && read_uint16 (packet + RAW_SOCKET_DESTINATION_OFFSET) == self->port;
}

static gboolean
accept_packet (UdpliteSocket * self, UdpliteInput * input,
    SocketMessage * message, UdpliteSocketStats * stats)
{
  UdpliteAddresses addresses = { 0 };
  gsize offset, size;

  input->address_size = message->msg_hdr.msg_namelen;
  if (udplite_message_is_truncated (message)) {
    stats->truncated++;
    return FALSE;
  }
  if (!find_packet (self, input, message, &addresses, &offset, &size)
      || !is_ours (self, input->data + offset, size)) {
    stats->foreign++;
    return FALSE;
  }
  /* The kernel, which knows of no ports, has none to tell. */
  udplite_address_set_port (&input->address,
      read_uint16 (input->data + offset));
  return udplite_socket_check (self, input, offset, size, &addresses, stats);
}

static guint
raw_receive (UdpliteSocket * self, UdpliteInput * inputs, gboolean * accepted,
    guint n, UdpliteSocketStats * stats, GError ** error)
{
  SocketMessage messages[UDPLITE_MAX_BATCH];
  struct iovec vectors[UDPLITE_MAX_BATCH];
  RawControl controls[UDPLITE_MAX_BATCH];
  guint i, came;

  for (i = 0; i < n; i++) {
    udplite_message_from_input (&messages[i], &vectors[i], &inputs[i]);
    if (self->ipv6) {
      messages[i].msg_hdr.msg_control = &controls[i];
      messages[i].msg_hdr.msg_controllen = sizeof (controls[i]);
    }
  }
  came = udplite_messages_receive (self->fd, messages, n, error);
  for (i = 0; i < came; i++)
    accepted[i] = accept_packet (self, &inputs[i], &messages[i], stats);
  return came;
}

const UdpliteSocketBackend udplite_socket_backend_raw = {
  .backend = UDPLITE_BACKEND_RAW,
  .name = "raw",
  .create = raw_create,
  .bind = raw_bind,
  .free = raw_free,
  .get_overhead = raw_get_overhead,
  .send = raw_send,
  .receive = raw_receive,
};
