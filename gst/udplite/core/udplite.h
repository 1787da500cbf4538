/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* UDP-Lite packets (RFC 3828): header, partial checksum, and the checks of
 * received packets. The code handles bytes only and uses no sockets.
 */

#pragma once

#include "datagram.h"

#define UDPLITE_PROTOCOL 136    /* IP protocol number, RFC 3828 section 5 */
#define UDPLITE_HEADER_SIZE 8

/* IP addresses for the pseudo-header, in network byte order. The checksum
 * includes the pseudo-header. An IPv4 address uses the first four bytes of an
 * array. If UDP-Lite is carried in UDP, all bytes are zero, because a NAT may
 * rewrite the addresses. */
typedef struct
{
  gboolean ipv6;
  guint8 source[16];
  guint8 destination[16];
} UdpliteAddresses;

typedef struct
{
  guint16 source_port, destination_port;
  /* Number of bytes that the checksum covers, including the header. If the
   * coverage field of the packet is 0, which means the whole packet, this
   * number is the size of the packet. */
  guint coverage;
} UdpliteHeader;

/* Result of the checks of a received packet: UDPLITE_VALID, or the reason for
 * dropping the packet. The reasons are in the order of the checks. */
typedef enum
{
  UDPLITE_VALID,
  UDPLITE_TOO_SHORT,            /* shorter than the header */
  UDPLITE_COVERAGE_TOO_SMALL,   /* from 1 to 7 (RFC 3828 section 3.1) */
  UDPLITE_COVERAGE_TOO_LARGE,   /* The coverage exceeds the packet. */
  UDPLITE_NO_CHECKSUM,          /* the checksum is 0, RFC 3828 section 3.1 */
  /* The checksum covers fewer bytes than the receiver's configured minimum. */
  UDPLITE_BELOW_MINIMUM,
  UDPLITE_BAD_CHECKSUM,
  UDPLITE_LAST
} UdpliteVerdict;

/* Returns the name of a verdict, for example "too-short". The statistics use
 * the same names. A verdict is the result of checking a packet. */
const gchar *udplite_verdict_get_name (UdpliteVerdict verdict);

/* Returns the value of the coverage field for a packet of `size` bytes, of
 * which the checksum must cover at least `coverage` bytes. `size`, `coverage`
 * and the result include the UDP-Lite header. A coverage from 1 to 7 is
 * increased to 8, the minimum.
 *
 * The result 0 means that the whole packet is covered. It is returned if
 * `coverage` is 0, is not less than `size`, or is too large for the 16-bit
 * field. */
guint udplite_get_wire_coverage (guint coverage, gsize size);

/* Writes the UDP-Lite header of a packet with the given payload, including the
 * checksum. `coverage` is the minimum number of bytes that the checksum must
 * cover, including the header; 0 means the whole packet. */
void udplite_write_header (guint8 * header, const UdpliteAddresses * addresses,
    guint16 source_port, guint16 destination_port, guint coverage,
    const DatagramPart * payload, guint n_vectors);

/* Parses and checks a packet, which consists of a header and a payload.
 * `min_coverage` is the minimum number of bytes that the checksum must cover,
 * including the header; 0 means any number. A packet that is covered completely
 * is accepted even if it is shorter than the minimum. `header` is filled in,
 * even if the packet is refused, unless the packet is too short for a header.
 */
UdpliteVerdict udplite_parse (const guint8 * packet, gsize size,
    const UdpliteAddresses * addresses, guint min_coverage,
    UdpliteHeader * header);

/* Finds the UDP-Lite packet in an IPv4 packet that was received from a raw
 * socket. Returns FALSE if the IPv4 packet is invalid, truncated or a fragment,
 * or if it does not contain UDP-Lite. */
gboolean udplite_parse_ipv4 (const guint8 * packet, gsize size,
    UdpliteAddresses * addresses, gsize * offset, gsize * length);
