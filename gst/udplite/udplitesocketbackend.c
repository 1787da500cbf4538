/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the three backends of UdpliteSocket (kernel, raw, udp) share.
 */

#include "udplitesocketbackend.h"

#include <sys/socket.h>

DatagramSocket *
udplite_socket_open (GSocketFamily family, gint protocol, gboolean is_raw,
    GError ** error)
{
  DatagramSocketOptions options;

  datagram_socket_options_init (&options);
  options.protocol = protocol;
  options.is_raw = options.keep_header = is_raw;
  options.may_fragment = -1;
  options.no_details = TRUE;
  /* The option `gso` may be set for every socket. Only the backend "udp" can
   * use GSO; for the sockets of the other backends, the option is ignored. A
   * UDP socket uses GSO only while its UDP checksums are enabled. */
  options.gso = TRUE;
  return datagram_socket_new (family, &options, error);
}

gboolean
udplite_socket_take (UdpliteSocket * self, DatagramSocket * socket)
{
  if (!socket)
    return FALSE;
  self->socket = socket;
  self->fd = g_socket_get_fd (datagram_socket_get_socket (socket));
  return TRUE;
}

/* Binds the socket to `address`. If `reuse` is TRUE, several sockets can share
 * the address. As in g_socket_bind (), the options SO_REUSEADDR and
 * SO_REUSEPORT are set for this purpose. */
gboolean
udplite_socket_bind (UdpliteSocket * self, GInetSocketAddress * address,
    gboolean reuse, GError ** error)
{
  GSocket *socket = datagram_socket_get_socket (self->socket);

  g_socket_set_option (socket, SOL_SOCKET, SO_REUSEADDR, reuse, NULL);
#ifdef SO_REUSEPORT
  g_socket_set_option (socket, SOL_SOCKET, SO_REUSEPORT, reuse, NULL);
#endif
  if (!datagram_socket_bind (self->socket, G_SOCKET_ADDRESS (address), error))
    return FALSE;
  self->port = datagram_socket_get_path (self->socket)->local_port;
  return TRUE;
}

void
udplite_output_get_datagram (const UdpliteOutput * output,
    Datagram * datagram, guint8 * header)
{
  datagram_init (datagram, header, header ? UDPLITE_HEADER_SIZE : 0);
  datagram->parts = output->vectors;
  datagram->n_parts = output->n_vectors;
  datagram->path = output->path;
}

gsize
udplite_output_get_size (const UdpliteOutput * output)
{
  gsize size = UDPLITE_HEADER_SIZE;
  guint i;

  for (i = 0; i < output->n_vectors; i++)
    size += output->vectors[i].size;
  return size;
}

guint
udplite_output_get_coverage (const UdpliteOutput * output)
{
  if (output->coverage > G_MAXUINT16)
    return 0;
  return udplite_get_wire_coverage (UDPLITE_HEADER_SIZE + output->coverage,
      udplite_output_get_size (output));
}

guint
udplite_socket_send_datagrams (UdpliteSocket * self,
    const Datagram * datagrams, guint n, GError ** error)
{
  guint done = 0;
  gint sent;

  while (done < n) {
    sent = datagram_socket_send (self->socket, datagrams + done, n - done,
        error);
    if (sent <= 0)
      break;
    done += sent;
  }
  return done;
}

/* Converts self->min_coverage to the value that udplite_parse () expects: the
 * minimum number of bytes that the checksum must cover. In self->min_coverage,
 * -1 means that any coverage is accepted, and 0 means that the whole packet
 * must be covered. */
static guint
get_min_covered_bytes (UdpliteSocket * self)
{
  gint min_coverage = g_atomic_int_get (&self->min_coverage);

  if (min_coverage < 0)
    return 0;
  return min_coverage == 0 ? G_MAXUINT : min_coverage;
}

gboolean
udplite_socket_check (UdpliteSocket * self, UdplitePacket * packet,
    const guint8 * bytes, gsize size, const UdpliteAddresses * addresses,
    UdpliteSocketStats * stats)
{
  UdpliteHeader header;
  UdpliteVerdict verdict = udplite_parse (bytes, size, addresses,
      get_min_covered_bytes (self), &header);

  if (verdict != UDPLITE_VALID) {
    stats->refused[verdict]++;
    return FALSE;
  }
  packet->data = bytes + UDPLITE_HEADER_SIZE;
  packet->size = size - UDPLITE_HEADER_SIZE;
  packet->covered = header.coverage - UDPLITE_HEADER_SIZE;
  return TRUE;
}
