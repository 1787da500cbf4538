/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merges UDP packets. The header documents the functions. */

#include "tunmerge.h"

#include <string.h>

#include "wire.h"

#define PROTOCOL_UDP 17
#define UDP_SIZE 8
#define IP4_SIZE 20             /* without options */
#define IP6_SIZE 40
/* Maximum of the 16-bit length fields of IP and UDP */
#define MAX_LENGTH 65535

/* Offsets in the IPv4 header (RFC 791, section 3.1) */
#define IP4_LENGTH 2
#define IP4_ID 4
#define IP4_FRAGMENT 6
#define IP4_PROTOCOL 9
#define IP4_CHECKSUM 10
#define IP4_ADDRESSES 12
/* The flag "don't fragment" in the 16-bit field of the IPv4 header at the
 * offset IP4_FRAGMENT */
#define IP4_DF 0x4000

/* Offsets in the IPv6 header (RFC 8200, section 3) */
#define IP6_LENGTH 4
#define IP6_NEXT_HEADER 6
#define IP6_ADDRESSES 8

/* Offsets in the UDP header (RFC 768) */
#define UDP_LENGTH 4
#define UDP_CHECKSUM 6

/* --- checksums ------------------------------------------------------------ */

/* Returns the sum of the 16-bit words of UDP's pseudo header (RFC 768; RFC
 * 8200, section 8.1), in the byte order of the machine. */
static guint64
sum_pseudo_header (const guint8 * packet, gsize ip_size, guint length)
{
  gboolean is_ip4 = ip_size == IP4_SIZE;
  const guint8 *addresses = packet + (is_ip4 ? IP4_ADDRESSES : IP6_ADDRESSES);

  return (guint64) g_htons (PROTOCOL_UDP) + g_htons (length)
      + wire_sum (addresses, packet + ip_size - addresses);
}

static gboolean
has_right_checksum (const guint8 * packet, gsize size, gsize ip_size)
{
  const guint8 *udp = packet + ip_size;
  gsize length = size - ip_size;

  /* A UDP checksum of 0 means that the packet has no checksum. */
  return wire_read (udp + UDP_CHECKSUM, 2) != 0
      && wire_fold_sum (sum_pseudo_header (packet, ip_size, length)
      + wire_sum (udp, length)) == G_MAXUINT16;
}

/* --- packets -------------------------------------------------------------- */

static gboolean
is_ip4 (const guint8 * packet, gsize size)
{
  return size > IP4_SIZE + UDP_SIZE && packet[0] == 0x45
      && wire_read (packet + IP4_LENGTH, 2) == size
      && (wire_read (packet + IP4_FRAGMENT, 2) & ~IP4_DF) == 0
      && packet[IP4_PROTOCOL] == PROTOCOL_UDP
      && wire_fold_sum (wire_sum (packet, IP4_SIZE)) == G_MAXUINT16;
}

static gboolean
is_ip6 (const guint8 * packet, gsize size)
{
  return size > IP6_SIZE + UDP_SIZE && packet[0] >> 4 == 6
      && wire_read (packet + IP6_LENGTH, 2) == size - IP6_SIZE
      && packet[IP6_NEXT_HEADER] == PROTOCOL_UDP;
}

/* Returns the size in bytes of the packet's IP header if the packet is an
 * undamaged UDP packet that can be merged with others. Returns 0 if the packet
 * cannot be merged. */
static gsize
check_packet (const guint8 * packet, gsize size)
{
  gsize ip_size;

  if (is_ip4 (packet, size))
    ip_size = IP4_SIZE;
  else if (is_ip6 (packet, size))
    ip_size = IP6_SIZE;
  else
    return 0;
  if (wire_read (packet + ip_size + UDP_LENGTH, 2) != size - ip_size
      || !has_right_checksum (packet, size, ip_size))
    return 0;
  return ip_size;
}

/* When the kernel splits a merged packet, it gives the first part the IPv4
 * identification of the merged packet, and increases the identification by 1
 * from each part to the next. A packet may therefore be merged only if its
 * identification continues this sequence.
 *
 * If a packet has the flag "don't fragment", its identification has no meaning
 * (RFC 6864, section 4.1) and is not compared. */
static gboolean
follows_ip4 (const TunMerge * merge, const guint8 * packet)
{
  const guint8 *first = merge->header;

  return memcmp (packet, first, IP4_LENGTH) == 0
      && memcmp (packet + IP4_FRAGMENT, first + IP4_FRAGMENT,
      IP4_CHECKSUM - IP4_FRAGMENT) == 0
      && memcmp (packet + IP4_ADDRESSES, first + IP4_ADDRESSES,
      IP4_SIZE - IP4_ADDRESSES) == 0
      && (wire_read (packet + IP4_FRAGMENT, 2) == IP4_DF
      || wire_read (packet + IP4_ID, 2) ==
      (guint16) (wire_read (first + IP4_ID, 2) + merge->n));
}

static gboolean
follows_ip6 (const TunMerge * merge, const guint8 * packet)
{
  const guint8 *first = merge->header;

  return memcmp (packet, first, IP6_LENGTH) == 0
      && memcmp (packet + IP6_NEXT_HEADER, first + IP6_NEXT_HEADER,
      IP6_SIZE - IP6_NEXT_HEADER) == 0;
}

/* Returns whether the packet belongs to the same stream as the packets that are
 * already merged. In this case, all fields of its headers are equal to those of
 * the first packet, except lengths, identification and checksums. */
static gboolean
follows (const TunMerge * merge, const guint8 * packet)
{
  gsize ip_size = merge->header_size - UDP_SIZE;

  return memcmp (packet + ip_size, merge->header + ip_size, UDP_LENGTH) == 0
      && (ip_size == IP4_SIZE ? follows_ip4 (merge, packet) :
      follows_ip6 (merge, packet));
}

static gboolean
has_room (const TunMerge * merge, gsize payload)
{
  return merge->n < TUN_MERGE_MAX_PACKETS
      && payload <= merge->segment_size
      && merge->header_size + merge->payload_size + payload <= MAX_LENGTH;
}

gboolean
tun_merge_begin (TunMerge * merge, const guint8 * data, gsize size)
{
  gsize ip_size = check_packet (data, size);

  if (ip_size == 0)
    return FALSE;
  merge->n = 1;
  merge->header_size = ip_size + UDP_SIZE;
  merge->segment_size = merge->payload_size = size - merge->header_size;
  merge->complete = FALSE;
  memcpy (merge->header, data, merge->header_size);
  return TRUE;
}

gboolean
tun_merge_add (TunMerge * merge, const guint8 * data, gsize size)
{
  gsize payload = size - MIN (size, merge->header_size);

  if (merge->complete || payload == 0 || !has_room (merge, payload)
      || !follows (merge, data)
      || check_packet (data, size) != merge->header_size - UDP_SIZE)
    return FALSE;
  merge->n++;
  merge->payload_size += payload;
  merge->complete = payload < merge->segment_size;
  return TRUE;
}

void
tun_merge_write_header (const TunMerge * merge, guint8 * header)
{
  gsize ip_size = merge->header_size - UDP_SIZE;
  guint length = UDP_SIZE + merge->payload_size;
  guint16 sum;

  memcpy (header, merge->header, merge->header_size);
  wire_write (header + ip_size + UDP_LENGTH, 2, length);
  sum = wire_fold_sum (sum_pseudo_header (header, ip_size, length));
  memcpy (header + ip_size + UDP_CHECKSUM, &sum, sizeof (sum));
  if (ip_size == IP6_SIZE) {
    wire_write (header + IP6_LENGTH, 2, length);
    return;
  }
  wire_write (header + IP4_LENGTH, 2, ip_size + length);
  wire_write (header + IP4_CHECKSUM, 2, 0);
  sum = ~wire_fold_sum (wire_sum (header, IP4_SIZE));
  memcpy (header + IP4_CHECKSUM, &sum, sizeof (sum));
}
