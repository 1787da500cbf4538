/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Backend that implements UDP-Lite in user space on a raw socket. It is for
 * systems whose kernel has no UDP-Lite, and for receivers that need to know the
 * coverage of each packet. This backend has to know the addresses in the IP
 * header, because the checksum covers them. Most IPv4 headers are written by
 * this backend (see udpliteipv4header.h), and all other IP headers are written
 * by the kernel.
 */

#include "udplitesocketbackend.h"
#include "udpliteipv4header.h"
#include "udpliteroutes.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "rawsocket.h"
#include "socketmessages.h"
#include "wire.h"

struct _UdpliteRaw
{
  /* A UDP-Lite socket of the kernel that reserves the local port. While this
   * socket exists, the kernel does not answer the peers with the ICMP message
   * "port unreachable". NULL if the kernel has no UDP-Lite. */
  DatagramSocket *holder;

  /* The following fields are used by the sending thread only. */
  UdpliteRoutes *routes;        /* looks up source addresses */
  UdpliteIpv4Header header;
  /* monotonic time in us of the last check for changed socket options or
   * routes; 0 = check before the next packet is sent */
  gint64 checked;
  /* TRUE if stop_receiving () must be called before the next packet is sent.
   * stop_receiving () keeps the kernel from passing packets to the socket. It
   * is called only if the caller does not receive from the socket. */
  gboolean must_stop_receiving;
  /* Address to which an IPv4 socket was bound in stop_receiving (). If a packet
   * has no control message, the kernel uses this address as the source address.
   */
  guint8 bound[4];
};

/* --- life cycle ----------------------------------------------------------- */

/* Disables the kernel's checksum for raw IPv6 sockets, because this checksum
 * would cover the whole packet. */
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
  udplite_ipv4_header_init (&self->raw->header, self->fd);
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

/* Reserves the local port with a UDP-Lite socket of the kernel. If the kernel
 * has no UDP-Lite, the port from `address` is used without a reservation. If
 * that port is 0, a random port is chosen, which is probably not in use. */
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

/* Binds the raw socket to the local address and port. The kernel ignores the
 * port of a raw socket, so DatagramSocket installs a socket filter that accepts
 * only packets to this port. */
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

static void
raw_stop_receiving (UdpliteSocket * self)
{
  self->raw->must_stop_receiving = !self->ipv6 && self->raw->holder;
}

static void
raw_options_changed (UdpliteSocket * self)
{
  self->raw->checked = 0;
}

/* --- sending -------------------------------------------------------------- */

static struct sockaddr_in
get_native (const guint8 * address)
{
  struct sockaddr_in native = {.sin_family = AF_INET };

  memcpy (&native.sin_addr, address, sizeof (native.sin_addr));
  return native;
}

/* This raw socket is only used for sending. Nevertheless, it receives a copy of
 * each UDP-Lite packet that arrives at this host. The filter of the socket
 * discards the copy. If this host sends packets over the loopback interface,
 * more than a tenth of the sending time is spent on these copies.
 *
 * A connected raw socket receives only packets from its peer. To receive
 * nothing, the raw socket is therefore connected to a loopback address from
 * which nothing is sent. Each packet is nevertheless sent to its own
 * destination, from the source address that is set for it.
 *
 * Two kinds of raw sockets are not connected:
 * - A raw socket on a kernel without UDP-Lite. This raw socket must receive the
 *   ICMP messages about the path MTU. On a kernel with UDP-Lite, the raw socket
 *   need not receive them. On such a kernel, a UDP-Lite socket of the kernel,
 *   `holder`, reserves the port. The kernel usually passes the ICMP messages to
 *   `holder`.
 * - An IPv6 raw socket, because IPv6 has no unused loopback address.
 *
 * Before the raw socket is connected, it is bound to the source address of the
 * first packet. Packets with this source address then need no control message
 * that sets the address. Each packet with another source address needs such a
 * message, which costs 30 to 80 ns. */
static void
stop_receiving (UdpliteSocket * self, const UdpliteRoute * route)
{
  static const guint8 nobody[] = { 127, 255, 255, 254 };
  struct sockaddr_in source = get_native (route->path.local);
  struct sockaddr_in peer = get_native (nobody);

  self->raw->must_stop_receiving = FALSE;
  /* Failures of bind and connect are ignored, because the socket can send even
   * if they fail. Sending then only takes more time. */
  if (source.sin_addr.s_addr != 0
      && bind (self->fd, (struct sockaddr *) &source, sizeof (source)) == 0)
    memcpy (self->raw->bound, route->path.local, sizeof (self->raw->bound));
  if (connect (self->fd, (struct sockaddr *) &peer, sizeof (peer)) < 0)
    return;
}

/* Sets the source address of `datagram` to the address in `route`, because the
 * checksum was computed with this address. Otherwise, the kernel might use
 * another source address if the routes have changed in the meantime. */
static void
set_local (UdpliteSocket * self, Datagram * datagram,
    const UdpliteRoute * route)
{
  datagram->path.scope = route->path.scope;
  memcpy (datagram->path.local, route->path.local,
      sizeof (datagram->path.local));
  if (!self->ipv6 && memcmp (route->path.local, self->raw->bound,
          sizeof (self->raw->bound)) == 0)
    memset (datagram->path.local, 0, sizeof (self->raw->bound));
}

/* Prepares a packet for sending: writes its headers to `headers`, and makes
 * `datagram` refer to the headers and to the payload of `output`. `headers` has
 * room for an IPv4 header and a UDP-Lite header. Returns FALSE with `error` set
 * if the packet cannot be sent. */
static gboolean
prepare (UdpliteSocket * self, const UdpliteOutput * output,
    Datagram * datagram, guint8 * headers, GError ** error)
{
  guint8 *header = headers + UDPLITE_IPV4_HEADER_SIZE;
  const UdpliteRoute *route;

  if ((output->path.address_size == 16) != self->ipv6)
    return socket_set_error (error, EAFNOSUPPORT,
        "could not send from a socket for %s", self->ipv6 ? "IPv6" : "IPv4");
  route = udplite_routes_find (self->raw->routes, &output->path, self->socket,
      error);
  if (!route)
    return FALSE;
  if (self->raw->must_stop_receiving)
    stop_receiving (self, route);
  udplite_write_header (header, &route->addresses, self->port,
      output->path.remote_port, udplite_output_get_coverage (output),
      output->vectors, output->n_vectors);
  udplite_output_get_datagram (output, datagram, header);
  set_local (self, datagram, route);
  if (udplite_ipv4_header_write (&self->raw->header, headers, route,
          udplite_output_get_size (output))) {
    datagram->bytes = headers;
    datagram->size += UDPLITE_IPV4_HEADER_SIZE;
  }
  return TRUE;
}

static gboolean
includes_ip_header (const Datagram * datagram)
{
  return datagram->size > UDPLITE_HEADER_SIZE;
}

static void
remove_ip_headers (Datagram * datagrams, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    if (!includes_ip_header (&datagrams[i]))
      continue;
    datagrams[i].bytes += UDPLITE_IPV4_HEADER_SIZE;
    datagrams[i].size -= UDPLITE_IPV4_HEADER_SIZE;
  }
}

/* Returns the number of datagrams in the first run of `datagrams`. In a run,
 * either all datagrams contain an IP header, or none does. A run can therefore
 * be sent with one setting of the socket option IP_HDRINCL. */
static guint
get_run (const Datagram * datagrams, guint n)
{
  guint run;

  for (run = 1; run < n; run++) {
    if (includes_ip_header (&datagrams[run])
        != includes_ip_header (&datagrams[0]))
      break;
  }
  return run;
}

static guint
send_run (UdpliteSocket * self, const Datagram * datagrams, guint n,
    GError ** error)
{
  const gboolean is_included = includes_ip_header (&datagrams[0]);

  if (udplite_ipv4_header_set_included (&self->raw->header, is_included))
    return udplite_socket_send_datagrams (self, datagrams, n, error);
  socket_set_error (error, errno, "could not set the option IP_HDRINCL");
  return 0;
}

/* Sends the datagrams, and returns how many were sent. This backend writes
 * most IPv4 headers itself. The kernel may refuse a packet with such a header,
 * for example because the path MTU has decreased. This packet and all packets
 * after it are then sent without the header, and the kernel writes their
 * headers. An error is returned only if this second attempt fails as well. */
static guint
send_runs (UdpliteSocket * self, Datagram * datagrams, guint n, GError ** error)
{
  GError *failure = NULL;
  guint run, sent, done = 0;

  while (done < n) {
    run = get_run (datagrams + done, n - done);
    sent = send_run (self, datagrams + done, run, &failure);
    done += sent;
    if (failure && includes_ip_header (&datagrams[done])) {
      udplite_ipv4_header_limit (&self->raw->header,
          datagram_get_size (&datagrams[done]));
      remove_ip_headers (datagrams + done, n - done);
      g_clear_error (&failure);
    } else if (failure || sent < run) {
      break;
    }
  }
  if (failure)
    g_propagate_error (error, failure);
  return done;
}

/* Returns the monotonic time in us at the last tick of the system's timer.
 * Reading this time is faster than reading the exact time. The interval of the
 * ticks is 1 to 10 ms, depending on the system. */
static gint64
get_tick (void)
{
#ifdef CLOCK_MONOTONIC_COARSE
  struct timespec tick;

  if (clock_gettime (CLOCK_MONOTONIC_COARSE, &tick) == 0)
    return tick.tv_sec * G_USEC_PER_SEC + tick.tv_nsec / 1000;
#endif
  return g_get_monotonic_time ();
}

/* Reads the socket options again, and removes outdated routes from the cache.
 * This needs several system calls, so it happens at most once in each tick of
 * the system's timer (1 to 10 ms). */
static void
check_for_changes (UdpliteSocket * self)
{
  gint64 now = get_tick ();

  if (now == self->raw->checked)
    return;
  self->raw->checked = now;
  udplite_routes_expire (self->raw->routes, now);
  if (!self->ipv6)
    udplite_ipv4_header_read_options (&self->raw->header);
}

static guint
raw_send (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
    GError ** error)
{
  guint8 headers[DATAGRAM_BATCH][UDPLITE_IPV4_HEADER_SIZE +
      UDPLITE_HEADER_SIZE];
  Datagram datagrams[DATAGRAM_BATCH];
  GError *unroutable = NULL, *failure = NULL;
  guint sent, ready;

  check_for_changes (self);
  for (ready = 0; ready < n; ready++) {
    if (!prepare (self, &outputs[ready], &datagrams[ready], headers[ready],
            &unroutable))
      break;
  }
  sent = send_runs (self, datagrams, ready, &failure);
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
 * received datagram. A raw IPv4 socket receives packets with their IP header.
 * For such a socket, the function returns FALSE if the datagram is not a
 * complete IPv4 packet that contains UDP-Lite. For an IPv6 socket, it always
 * returns TRUE. */
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

/* Returns whether the packet's destination port is the port of this socket. The
 * check is necessary on systems without socket filters, where a raw socket also
 * receives the packets for all other ports. */
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
  .options_changed = raw_options_changed,
  .send = raw_send,
  .accept = raw_accept,
};
