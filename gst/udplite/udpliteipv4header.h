/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the IPv4 headers of packets that a raw socket sends with the option
 * IP_HDRINCL. With this option the kernel needs less time per packet, for two
 * reasons. It does not take the lock of the socket, and it computes no checksum
 * of the payload, which a raw socket would not use anyway. The headers are
 * equal to those that the kernel would write for the same socket.
 *
 * With IP_HDRINCL, the kernel does not fragment packets, and ignores some
 * socket options. Therefore user space writes the header only if the packet
 * fits the path MTU, and if the socket sets the bit "don't fragment". The
 * kernel writes the headers of all other packets. On systems other than Linux,
 * the kernel writes all headers.
 *
 * Only the thread that sends may use these functions.
 */

#pragma once

#include "udpliteroutes.h"

#define UDPLITE_IPV4_HEADER_SIZE 20     /* RFC 791, without options */

typedef struct
{
  gint fd;                      /* file descriptor of the raw socket */
  /* Maximum size in bytes of packets whose IPv4 header is written by user
   * space. 0 means that the kernel has to write the headers of all packets. */
  guint max_packet;
  guint8 tos, ttl, multicast_ttl;
  guint16 id;                   /* identification of the next packet */
  gboolean is_included;         /* state of IP_HDRINCL */
  /* TRUE if the system does not support IP_HDRINCL */
  gboolean is_refused;
} UdpliteIpv4Header;

void udplite_ipv4_header_init (UdpliteIpv4Header * self, gint fd);
/* Reads the socket options that determine the IPv4 header, such as the TTL.
 * Must be called before the first packet is sent, and again after socket
 * options have changed. */
void udplite_ipv4_header_read_options (UdpliteIpv4Header * self);
/* Call this function when the kernel has refused a packet whose IPv4 header was
 * written by user space. `size` is the size of the packet in bytes, including
 * this header. From now on, user space writes no headers for packets of this
 * size or more. The next call of udplite_ipv4_header_read_options () removes
 * this limit. */
void udplite_ipv4_header_limit (UdpliteIpv4Header * self, gsize size);

/* Writes to `bytes` the IPv4 header of a packet whose payload has `size` bytes.
 * Returns FALSE if the kernel has to write the header of this packet. */
gboolean udplite_ipv4_header_write (UdpliteIpv4Header * self, guint8 * bytes,
    const UdpliteRoute * route, gsize size);
/* Sets the socket option IP_HDRINCL. If `is_included` is TRUE, the caller
 * writes the IPv4 header of each packet. If `is_included` is FALSE, the kernel
 * writes it. Returns FALSE with errno set on failure. */
gboolean udplite_ipv4_header_set_included (UdpliteIpv4Header * self,
    gboolean is_included);
