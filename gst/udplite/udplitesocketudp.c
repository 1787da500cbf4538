/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* UDP-Lite in UDP, for hosts and networks that have no other. The checksum of
 * UDP would refuse what UDP-Lite lets pass, so it is none; IPv6 allows that for
 * tunnels, RFC 6935 and 6936. A NAT may rewrite addresses and ports of UDP: the
 * pseudo-header has none, and the ports inside are not looked at.
 */

#define _GNU_SOURCE             /* sendmmsg */

#include "udplitesocketprivate.h"

#include <errno.h>
#include <unistd.h>

#include <netinet/udp.h>

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
  return done || socket_set_error (error, errno, "No UDP without checksum");
#else
  return socket_set_error (error, ENOTSUP, "No UDP without checksum");
#endif
}

static gboolean
udp_create (UdpliteSocket * self, gint family, GError ** error)
{
  gint fd = udplite_socket_open (family, SOCK_DGRAM, IPPROTO_UDP, error);

  if (fd < 0)
    return FALSE;
  if (!disable_checksum (fd, self->ipv6, error)) {
    close (fd);
    return FALSE;
  }
  return udplite_socket_wrap (self, fd, error);
}

static gsize
udp_get_overhead (const UdpliteSocket * self)
{
  return UDPLITE_HEADER_SIZE;
}

static guint
udp_send (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
    GError ** error)
{
  UdpliteAddresses addresses = {.ipv6 = self->ipv6 };
  SocketMessage messages[UDPLITE_MAX_BATCH];
  struct iovec vectors[UDPLITE_MAX_BATCH][UDPLITE_MAX_IO_VECTORS];
  guint8 headers[UDPLITE_MAX_BATCH][UDPLITE_HEADER_SIZE];
  guint i;

  for (i = 0; i < n; i++) {
    udplite_write_header (headers[i], &addresses, self->port,
        udplite_address_get_port (outputs[i].address),
        udplite_output_get_coverage (&outputs[i]), outputs[i].vectors,
        outputs[i].n_vectors);
    udplite_message_from_output (&messages[i], vectors[i], &outputs[i],
        headers[i]);
  }
  return udplite_messages_send (self->fd, messages, n, error);
}

static gboolean
accept_packet (UdpliteSocket * self, UdpliteInput * input,
    const SocketMessage * message, UdpliteSocketStats * stats)
{
  UdpliteAddresses addresses = {.ipv6 = self->ipv6 };

  input->address_size = message->msg_hdr.msg_namelen;
  if (udplite_message_is_truncated (message)) {
    stats->truncated++;
    return FALSE;
  }
  return udplite_socket_check (self, input, 0, message->msg_len, &addresses,
      stats);
}

static guint
udp_receive (UdpliteSocket * self, UdpliteInput * inputs,
    gboolean * accepted, guint n, UdpliteSocketStats * stats, GError ** error)
{
  SocketMessage messages[UDPLITE_MAX_BATCH];
  struct iovec vectors[UDPLITE_MAX_BATCH];
  guint i, came;

  for (i = 0; i < n; i++)
    udplite_message_from_input (&messages[i], &vectors[i], &inputs[i]);
  came = udplite_messages_receive (self->fd, messages, n, error);
  for (i = 0; i < came; i++)
    accepted[i] = accept_packet (self, &inputs[i], &messages[i], stats);
  return came;
}

const UdpliteSocketBackend udplite_socket_backend_udp = {
  .backend = UDPLITE_BACKEND_UDP,
  .name = "udp",
  .create = udp_create,
  .bind = udplite_socket_bind,
  .get_overhead = udp_get_overhead,
  .send = udp_send,
  .receive = udp_receive,
};
