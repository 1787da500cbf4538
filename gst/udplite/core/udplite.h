/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* UDP-Lite packets (RFC 3828): header, partial checksum, and the checks of
 * received packets. The code handles bytes only and uses no sockets.
 */

#pragma once

#include "datagram.h"

#define UDPLITE_PROTOCOL 136    /* IP protocol number, RFC 3828 section 5 */
#define UDPLITE_HEADER_SIZE 8

/* Addresses of the pseudo-header in network byte order. An IPv4 address uses
 * the first four bytes. If UDP-Lite is carried in UDP, all bytes are zero,
 * because a NAT may rewrite the addresses. */
typedef struct
{
  gboolean ipv6;
  guint8 source[16];
  guint8 destination[16];
} UdpliteAddresses;

typedef struct
{
  guint16 source_port, destination_port;
  /* Number of covered bytes, including the header. A coverage field of 0 means
   * that the whole packet is covered; in this case, the number is the size of
   * the packet. */
  guint coverage;
} UdpliteHeader;

/* Reasons for dropping a packet, in the order of the checks. */
typedef enum
{
  UDPLITE_VALID,
  UDPLITE_TOO_SHORT,            /* shorter than the header */
  UDPLITE_COVERAGE_TOO_SMALL,   /* from 1 to 7 (RFC 3828 section 3.1) */
  UDPLITE_COVERAGE_TOO_LARGE,   /* The coverage exceeds the packet. */
  UDPLITE_NO_CHECKSUM,          /* the checksum is 0, RFC 3828 section 3.1 */
  /* The coverage is below the receiver's minimum. */
  UDPLITE_BELOW_MINIMUM,
  UDPLITE_BAD_CHECKSUM,
  UDPLITE_LAST
} UdpliteVerdict;

/* Returns the name of a verdict, which is the result of checking a packet, such
 * as "too-short". The statistics use this name. */
const gchar *udplite_verdict_get_name (UdpliteVerdict verdict);

/* Returns the value that is written to the coverage field, so that the checksum
 * covers at least `coverage` bytes of a packet of `size` bytes. Both numbers
 * include the UDP-Lite header. If `coverage` is 0 or is not less than `size`,
 * the result is 0, which means that the whole packet is covered. A coverage
 * from 1 to 7 is increased to 8, the minimum. */
guint udplite_get_wire_coverage (guint coverage, gsize size);

/* Writes the header of a packet with the given payload. `coverage` has the same
 * meaning as in udplite_get_wire_coverage (). */
void udplite_write_header (guint8 * header, const UdpliteAddresses * addresses,
    guint16 source_port, guint16 destination_port, guint coverage,
    const DatagramPart * payload, guint n_vectors);

/* Parses and checks a packet, which consists of a header and a payload.
 * `min_coverage` is the minimum number of covered bytes, including the header;
 * 0 means any number. A packet that is covered completely is accepted even if
 * it is shorter than the minimum. `header` is also filled in if the packet is
 * refused, unless the packet is too short for a header. */
UdpliteVerdict udplite_parse (const guint8 * packet, gsize size,
    const UdpliteAddresses * addresses, guint min_coverage,
    UdpliteHeader * header);

/* Finds the UDP-Lite packet in an IPv4 packet that was received from a raw
 * socket. Returns FALSE if the packet is not IPv4, is truncated, is a fragment,
 * or has another protocol. */
gboolean udplite_parse_ipv4 (const guint8 * packet, gsize size,
    UdpliteAddresses * addresses, gsize * offset, gsize * length);
