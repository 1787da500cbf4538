/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Backend that implements UDP-Lite in user space on a raw socket. It is for
 * systems whose kernel has no UDP-Lite, and for receivers that need to know the
 * coverage of each packet. The kernel writes the IP header, but this backend
 * has to know the addresses in the IP header, because the checksum covers them.
 */

#include "udplitesocketbackend.h"
#include "udpliteroutes.h"

#include <errno.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "rawsocket.h"
#include "socketmessages.h"
#include "wire.h"

#define IPV4_MAX_HEADER_SIZE 60 /* 15 words of 4 bytes (RFC 791) */
#define UNUSED_LOOPBACK_ADDRESS 0x7ffffffe      /* 127.255.255.254 */

struct _UdpliteRaw
{
  /* A kernel UDP-Lite socket that reserves the local port. While it exists, the
   * kernel does not answer the peers with ICMP port unreachable. NULL if the
   * kernel has no UDP-Lite. */
  DatagramSocket *holder;
  /* used by the sending thread only; looks up source addresses */
  UdpliteRoutes *routes;
};

/* --- life cycle ----------------------------------------------------------- */

/* Disables the kernel's checksum for raw IPv6 sockets, because it would cover
 * the whole packet. */
static gboolean
disable_checksum (UdpliteSocket * self, GError ** error)
{
#ifdef IPV6_CHECKSUM
  gint no = -1;

  if (self->ipv6 && setsockopt (self->fd, IPPROTO_IPV6, IPV6_CHECKSUM, &no,
          sizeof (no)) < 0)
    return socket_set_error (error, errno,
        "could not disable the checksum of the kernel");
#endif
  return TRUE;
}

static gboolean
raw_create (UdpliteSocket * self, GSocketFamily family, GError ** error)
{
  if (!udplite_socket_take (self, udplite_socket_open (family,
              UDPLITE_PROTOCOL, TRUE, error))
      || !disable_checksum (self, error))
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
  g_clear_pointer (&self->raw->holder, datagram_socket_free);
  g_clear_pointer (&self->raw, g_free);
}

static gboolean
bind_holder (UdpliteSocket * self, GInetSocketAddress * address,
    gboolean reuse, GError ** error)
{
  UdpliteSocket as_kernel = { NULL };
  gint min_size = 0;

  udplite_socket_take (&as_kernel, self->raw->holder);
  setsockopt (as_kernel.fd, SOL_SOCKET, SO_RCVBUF, &min_size,
      sizeof (min_size));
  if (!raw_socket_filter_everything (as_kernel.fd, error)
      || !udplite_socket_bind (&as_kernel, address, reuse, error))
    return FALSE;
  self->port = as_kernel.port;
  return TRUE;
}

/* Reserves the local port. If the kernel has no UDP-Lite, it cannot reserve the
 * port. The port is then the one that the caller has given or, if the caller
 * gave 0, a random one that is probably not in use. */
static gboolean
take_port (UdpliteSocket * self, GInetSocketAddress * address, gboolean reuse,
    GError ** error)
{
  self->raw->holder = udplite_socket_open (self->ipv6 ? G_SOCKET_FAMILY_IPV6 :
      G_SOCKET_FAMILY_IPV4, UDPLITE_PROTOCOL, FALSE, NULL);
  if (self->raw->holder)
    return bind_holder (self, address, reuse, error);
  self->port = g_inet_socket_address_get_port (address);
  if (self->port == 0)
    self->port = datagram_socket_draw_port ();
  return TRUE;
}

/* Binds the raw socket to an address with the local port. DatagramSocket then
 * filters the packets for this port. */
static gboolean
bind_to_port (UdpliteSocket * self, GInetSocketAddress * address,
    GError ** error)
{
  guint scope = self->ipv6 ? g_inet_socket_address_get_scope_id (address) : 0;
  GSocketAddress *with_port = g_object_new (G_TYPE_INET_SOCKET_ADDRESS,
      "address", g_inet_socket_address_get_address (address),
      "port", self->port, "scope-id", scope, NULL);
  gboolean done = datagram_socket_bind (self->socket, with_port, error);

  g_object_unref (with_port);
  return done;
}

static gboolean
raw_bind (UdpliteSocket * self, GInetSocketAddress * address, gboolean reuse,
    GError ** error)
{
  if (!take_port (self, address, reuse, error)
      || !bind_to_port (self, address, error))
    return FALSE;
  self->raw->routes =
      udplite_routes_new (g_inet_socket_address_get_address (address));
  return TRUE;
}

/* A raw socket receives a copy of each UDP-Lite packet that arrives at this
 * host, and its filter then discards the copy. If the packets are sent over the
 * loopback interface, these copies take more than a tenth of the time of
 * sending.
 *
 * A connected raw socket receives only packets from its peer. The socket is
 * therefore connected to a loopback address from which nothing is sent. Each
 * packet is nevertheless sent to its own destination, from the source address
 * that is set for it.
 *
 * Without `holder` the socket is not connected. It must then receive the ICMP
 * messages about the path MTU, which otherwise the holder receives. IPv6 has no
 * unused loopback address, so an IPv6 socket is not connected either. */
static void
raw_stop_receiving (UdpliteSocket * self)
{
  struct sockaddr_in nobody = {.sin_family = AF_INET };

  if (self->ipv6 || !self->raw->holder)
    return;
  nobody.sin_addr.s_addr = g_htonl (UNUSED_LOOPBACK_ADDRESS);
  /* The socket works even if connect () fails. */
  if (connect (self->fd, (struct sockaddr *) &nobody, sizeof (nobody)) < 0)
    return;
}

/* --- sending -------------------------------------------------------------- */

static gboolean
prepare (UdpliteSocket * self, const UdpliteOutput * output,
    Datagram * datagram, guint8 * header, GError ** error)
{
  const UdpliteRoute *route;

  if ((output->path.address_size == 16) != self->ipv6)
    return socket_set_error (error, EAFNOSUPPORT,
        "could not send from a socket for %s", self->ipv6 ? "IPv6" : "IPv4");
  route = udplite_routes_find (self->raw->routes, &output->path, self->socket,
      error);
  if (!route)
    return FALSE;
  udplite_write_header (header, &route->addresses, self->port,
      output->path.remote_port, udplite_output_get_coverage (output),
      output->vectors, output->n_vectors);
  udplite_output_get_datagram (output, datagram, header);
  /* The packet must have the source address that is in the checksum. Setting
   * the path makes the kernel use this address, even if the routes have changed
   * since the address was looked up. */
  datagram->path = route->path;
  datagram->path.remote_port = output->path.remote_port;
  return TRUE;
}

static guint
raw_send (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
    GError ** error)
{
  guint8 headers[DATAGRAM_BATCH][UDPLITE_HEADER_SIZE];
  Datagram datagrams[DATAGRAM_BATCH];
  GError *unroutable = NULL, *failure = NULL;
  guint sent, ready;

  udplite_routes_expire (self->raw->routes);
  for (ready = 0; ready < n; ready++) {
    if (!prepare (self, &outputs[ready], &datagrams[ready], headers[ready],
            &unroutable))
      break;
  }
  sent = udplite_socket_send_datagrams (self, datagrams, ready, &failure);
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

/* Finds the beginning, the size and the addresses of the UDP-Lite packet in a
 * received datagram. Returns FALSE if the datagram is not a complete IPv4
 * packet that contains UDP-Lite. */
static gboolean
find_packet (UdpliteSocket * self, const Datagram * datagram,
    UdpliteAddresses * addresses, gsize * offset, gsize * size)
{
  if (!self->ipv6)
    return udplite_parse_ipv4 (datagram->bytes, datagram->size, addresses,
        offset, size);
  addresses->ipv6 = TRUE;
  *offset = 0;
  *size = datagram->size;
  memcpy (addresses->source, datagram->path.remote, 16);
  memcpy (addresses->destination, datagram->path.local, 16);
  return TRUE;
}

/* Checks the destination port. This is necessary on systems that have no socket
 * filter. */
static gboolean
is_ours (UdpliteSocket * self, const guint8 * packet, gsize size)
{
  return size >= RAW_SOCKET_DESTINATION_OFFSET + 2
      && wire_read (packet + RAW_SOCKET_DESTINATION_OFFSET, 2) == self->port;
}

static gboolean
raw_accept (UdpliteSocket * self, const Datagram * datagram,
    UdplitePacket * packet, UdpliteSocketStats * stats)
{
  UdpliteAddresses addresses = { 0 };
  gsize offset, size;

  if (!find_packet (self, datagram, &addresses, &offset, &size)
      || !is_ours (self, datagram->bytes + offset, size)) {
    stats->foreign++;
    return FALSE;
  }
  /* The port of the sender is read from the UDP-Lite header, because the kernel
   * does not know the ports of a raw packet. */
  packet->path.remote_port = wire_read (datagram->bytes + offset, 2);
  return udplite_socket_check (self, packet, datagram->bytes + offset, size,
      &addresses, stats);
}

const UdpliteSocketBackend udplite_socket_backend_raw = {
  .backend = UDPLITE_BACKEND_RAW,
  .name = "raw",
  .create = raw_create,
  .bind = raw_bind,
  .free = raw_free,
  .stop_receiving = raw_stop_receiving,
  .overhead = IPV4_MAX_HEADER_SIZE + UDPLITE_HEADER_SIZE,
  .send = raw_send,
  .accept = raw_accept,
};
