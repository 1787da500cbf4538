/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Backend that carries UDP-Lite in UDP, for hosts and networks that do not
 * support UDP-Lite. UDP's own checksum is disabled, because it would discard
 * the damaged packets that UDP-Lite delivers. In IPv6 this is allowed for
 * tunnels (RFC 6935 and RFC 6936). A NAT may rewrite the addresses and ports of
 * UDP. Therefore the pseudo-header contains zeros instead of addresses, and the
 * ports in the UDP-Lite header are ignored.
 */

#include "udplitesocketbackend.h"

#include <errno.h>

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "socketmessages.h"

#ifdef __linux__
#ifndef UDP_NO_CHECK6_TX
#define UDP_NO_CHECK6_TX 101
#endif
#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif
#endif

static gboolean
disable_checksum (gint fd, gboolean ipv6, GError ** error)
{
#ifdef __linux__
  gint yes = TRUE;
  gboolean done;

  if (ipv6)
    done = setsockopt (fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &yes,
        sizeof (yes)) == 0 && setsockopt (fd, IPPROTO_UDP, UDP_NO_CHECK6_RX,
        &yes, sizeof (yes)) == 0;
  else
    done = setsockopt (fd, SOL_SOCKET, SO_NO_CHECK, &yes, sizeof (yes)) == 0;
  return done || socket_set_error (error, errno,
      "could not disable the checksum of UDP");
#else
  return socket_set_error (error, ENOTSUP,
      "could not disable the checksum of UDP");
#endif
}

static gboolean
udp_create (UdpliteSocket * self, GSocketFamily family, GError ** error)
{
  return udplite_socket_take (self, udplite_socket_open (family, IPPROTO_UDP,
          FALSE, error)) && disable_checksum (self->fd, self->ipv6, error);
}

static guint
udp_send (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
    GError ** error)
{
  UdpliteAddresses addresses = {.ipv6 = self->ipv6 };
  Datagram datagrams[DATAGRAM_BATCH];
  guint8 headers[DATAGRAM_BATCH][UDPLITE_HEADER_SIZE];
  guint i;

  for (i = 0; i < n; i++) {
    udplite_write_header (headers[i], &addresses, self->port,
        outputs[i].path.remote_port, udplite_output_get_coverage (&outputs[i]),
        outputs[i].vectors, outputs[i].n_vectors);
    udplite_output_get_datagram (&outputs[i], &datagrams[i], headers[i]);
  }
  return udplite_socket_send_datagrams (self, datagrams, n, error);
}

static gboolean
udp_accept (UdpliteSocket * self, const Datagram * datagram,
    UdpliteInput * input, UdpliteSocketStats * stats)
{
  UdpliteAddresses addresses = {.ipv6 = self->ipv6 };

  return udplite_socket_check (self, input, 0, datagram->size, &addresses,
      stats);
}

const UdpliteSocketBackend udplite_socket_backend_udp = {
  .backend = UDPLITE_BACKEND_UDP,
  .name = "udp",
  .create = udp_create,
  .bind = udplite_socket_bind,
  .overhead = UDPLITE_HEADER_SIZE,
  .send = udp_send,
  .accept = udp_accept,
};
