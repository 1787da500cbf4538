/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds IP packets with UDP, for tests of elements that carry IP. */

#pragma once

#include <glib.h>

#define IP_PACKET_MAX_HEADER (40 + 8)

typedef struct
{
  guint version;                /* 4 or 6 */
  guint8 traffic_class, ttl;
  /* These header fields exist only in IPv4. `fragment` contains the flags and
   * the fragment offset. */
  guint16 id, fragment;
  guint16 source_port, port;
  /* Size of the payload in bytes. Each byte of the payload has the value
   * `fill`. */
  gsize payload;
  guint8 fill;
} IpPacket;

/* Returns the size of the IP header and the UDP header together, in bytes. */
gsize ip_packet_header_size (const IpPacket * packet);
/* Returns the size of the packet in bytes, with its headers and its payload. */
gsize ip_packet_size (const IpPacket * packet);
/* Writes the packet to `data`, with correct checksums. The source is 10.9.0.1
 * and the destination 10.9.0.2. For IPv6, they are fd00::1 and fd00::2. */
void ip_packet_write (const IpPacket * packet, guint8 * data);
/* Adds the 16-bit words of the data to `sum`, in ones' complement, and returns
 * the result. If the data contain a correct checksum, the result is 0xffff. */
guint16 ip_packet_sum (const guint8 * data, gsize size, guint32 sum);
/* Returns the ones' complement sum of the pseudo header of a UDP packet. This
 * pseudo header contains the length that the UDP header of the packet contains.
 */
guint16 ip_packet_sum_pseudo_header (const guint8 * packet);
