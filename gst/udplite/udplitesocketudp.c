/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Backend that carries UDP-Lite in UDP, for hosts and networks that do not
 * support UDP-Lite. A NAT may rewrite the addresses and ports of UDP. Therefore
 * the pseudo-header of the UDP-Lite checksum contains zeros instead of
 * addresses, and the ports in the UDP-Lite header are ignored.
 *
 * UDP's own checksum is disabled, because the kernel would discard the damaged
 * packets that UDP-Lite delivers. In IPv6 this is allowed for tunnels (RFC 6935
 * and RFC 6936).
 *
 * GSO (generic segmentation offload) is an exception. With GSO, the kernel
 * sends several packets as one message, but only if it computes a UDP checksum
 * for them. GSO is used only if the UDP-Lite checksum covers each of these
 * packets completely. The UDP checksum then does no harm, because UDP-Lite
 * would also discard a damaged packet.
 */

#include "udplitesocketbackend.h"

#include <errno.h>

#include <netinet/in.h>

#include "socketmessages.h"

static gboolean
udp_create (UdpliteSocket * self, GSocketFamily family, GError ** error)
{
#ifdef __linux__
  return udplite_socket_take (self, udplite_socket_open (family, IPPROTO_UDP,
          FALSE, error))
      && datagram_socket_set_checksum (self->socket, FALSE, error)
      && datagram_socket_accept_no_checksum (self->socket, error);
#else
  return socket_set_error (error, ENOTSUP,
      "could not disable the checksum of UDP");
#endif
}

/* --- sending -------------------------------------------------------------- */

static void
prepare (UdpliteSocket * self, const UdpliteOutput * output,
    Datagram * datagram, guint8 * header)
{
  UdpliteAddresses addresses = {.ipv6 = self->ipv6 };

  udplite_write_header (header, &addresses, self->port,
      output->path.remote_port, udplite_output_get_coverage (output),
      output->vectors, output->n_vectors);
  udplite_output_get_datagram (output, datagram, header);
}

static gboolean
is_covered_completely (const UdpliteOutput * output)
{
  return udplite_output_get_coverage (output) == 0;
}

/* Returns the number of packets at the beginning of `datagrams` that are sent
 * as one message with GSO. The result is 1 if the first packet is sent by
 * itself. */
static guint
get_run (UdpliteSocket * self, const UdpliteOutput * outputs,
    const Datagram * datagrams, guint n)
{
  guint run, covered;

  if (!self->uses_gso || !is_covered_completely (&outputs[0]))
    return 1;
  run = datagram_socket_get_run (self->socket, datagrams, n);
  for (covered = 1; covered < run; covered++) {
    if (!is_covered_completely (&outputs[covered]))
      break;
  }
  return covered;
}

/* Sends the packets in their order. A run is a group of packets that is passed
 * to the kernel as one message (GSO). Runs need a UDP checksum, and single
 * packets are sent without one. A socket option switches the checksum on or off
 * for all packets of a system call, because it can be changed only between two
 * system calls. Therefore one system call sends either consecutive runs or
 * consecutive single packets. */
static guint
udp_send (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
    GError ** error)
{
  Datagram datagrams[DATAGRAM_BATCH];
  guint8 headers[DATAGRAM_BATCH][UDPLITE_HEADER_SIZE];
  guint i, end, run, first = 0;
  gboolean checksum;

  for (i = 0; i < n; i++)
    prepare (self, &outputs[i], &datagrams[i], headers[i]);
  while (first < n) {
    run = get_run (self, outputs + first, datagrams + first, n - first);
    checksum = run > 1;
    end = first;
    do {
      end += run;
      if (end < n)
        run = get_run (self, outputs + end, datagrams + end, n - end);
    } while (end < n && (run > 1) == checksum);
    if (!datagram_socket_set_checksum (self->socket, checksum, error))
      return first;
    first += udplite_socket_send_datagrams (self, datagrams + first,
        end - first, error);
    if (first < end)
      return first;
  }
  return n;
}

/* --- receiving ------------------------------------------------------------ */

static gboolean
udp_accept (UdpliteSocket * self, const Datagram * datagram,
    UdplitePacket * packet, UdpliteSocketStats * stats)
{
  UdpliteAddresses addresses = {.ipv6 = self->ipv6 };

  return udplite_socket_check (self, packet, datagram->bytes, datagram->size,
      &addresses, stats);
}

const UdpliteSocketBackend udplite_socket_backend_udp = {
  .backend = UDPLITE_BACKEND_UDP,
  .name = "udp",
  .create = udp_create,
  .bind = udplite_socket_bind,
  .send = udp_send,
  .accept = udp_accept,
};
