/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packets of UDP-Lite, RFC 3828: header, partial checksum, and what has to
 * be refused. Plain bytes: no sockets.
 */

#pragma once

#include "datagram.h"

#define UDPLITE_PROTOCOL 136    /* in IP, RFC 3828 section 5 */
#define UDPLITE_HEADER_SIZE 8

/* Of the pseudo-header, in network byte order; of IPv4 the first four bytes.
 * All zero where UDP-Lite is carried in UDP: a NAT may rewrite addresses. */
typedef struct
{
  gboolean ipv6;
  guint8 source[16];
  guint8 destination[16];
} UdpliteAddresses;

typedef struct
{
  guint16 source_port, destination_port;
  guint coverage;               /* bytes from the header's first on, as it says;
                                 * never 0: the packet's size, if so */
} UdpliteHeader;

/* Why a packet is dropped, in the order of the checks */
typedef enum
{
  UDPLITE_VALID,
  UDPLITE_TOO_SHORT,            /* no header */
  UDPLITE_COVERAGE_TOO_SMALL,   /* 1 to 7, RFC 3828 section 3.1 */
  UDPLITE_COVERAGE_TOO_LARGE,   /* more than the packet has */
  UDPLITE_NO_CHECKSUM,          /* it is 0, section 3.1 */
  UDPLITE_BELOW_MINIMUM,        /* less is covered than the receiver demands */
  UDPLITE_BAD_CHECKSUM,
  UDPLITE_LAST
} UdpliteVerdict;

/* "too-short", ... as in names of statistics */
const gchar *udplite_verdict_get_name (UdpliteVerdict verdict);

/* Coverage as it may go on the wire: of a packet of `size` bytes, header
 * included, so that `coverage` of them are covered. 0: all; 1 to 7: 8; all of
 * them or more: 0. */
guint udplite_get_wire_coverage (guint coverage, gsize size);

/* Writes the header of a packet with this payload; `coverage` as above. */
void udplite_write_header (guint8 * header, const UdpliteAddresses * addresses,
    guint16 source_port, guint16 destination_port, guint coverage,
    const DatagramPart * payload, guint n_vectors);

/* Reads the packet: header and payload. min_coverage: bytes that must be
 * covered, header included; 0: any number. A receiver that asks for more than
 * the packet has gets it if all is covered. The header is filled in where there
 * is one, whatever the verdict. */
UdpliteVerdict udplite_parse (const guint8 * packet, gsize size,
    const UdpliteAddresses * addresses, guint min_coverage,
    UdpliteHeader * header);

/* Finds the UDP-Lite packet in an IPv4 packet, as a raw socket brings it.
 * FALSE: it is none (cut, not version 4, another protocol, a fragment). */
gboolean udplite_parse_ipv4 (const guint8 * packet, gsize size,
    UdpliteAddresses * addresses, gsize * offset, gsize * length);
