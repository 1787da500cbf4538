/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the code that reads and writes UDP-Lite packets. If the bytes are read
 * as a packet, they must be refused, or be parsed without access beyond their
 * end. A written packet must be valid. After a bit that the checksum covers has
 * been changed, the packet must be invalid.
 *
 * Input: one byte that selects the action (0 parse, 1 parse IPv4, 2 write,
 * 3 coverage), then four bytes of settings for the action. The other bytes are
 * the packet, the payload (for "write") or the RTP packet (for "coverage").
 */

#include "fuzz.h"
#include "udplite.h"
#include "udplitecoverage.h"

#define MAX_PIECES 8

typedef enum
{
  PARSE,
  PARSE_IPV4,
  WRITE,
  COVERAGE,
  ACTION_LAST
} Action;

static UdpliteAddresses
make_addresses (guint choice)
{
  UdpliteAddresses addresses = { choice & 1, };

  memset (addresses.source, choice, sizeof (addresses.source));
  memset (addresses.destination, ~choice, sizeof (addresses.destination));
  return addresses;
}

static UdpliteVerdict
check_parse (const guint8 * packet, gsize size,
    const UdpliteAddresses * addresses, guint minimum)
{
  UdpliteHeader header = { 0, };
  UdpliteVerdict verdict = udplite_parse (packet, size, addresses, minimum,
      &header);

  fuzz_check (udplite_verdict_get_name (verdict) != NULL);
  fuzz_check ((verdict == UDPLITE_TOO_SHORT) == (size < UDPLITE_HEADER_SIZE));
  fuzz_check ((verdict == UDPLITE_TOO_SHORT) == (header.coverage == 0));
  fuzz_check ((verdict == UDPLITE_COVERAGE_TOO_LARGE) ==
      (header.coverage > size));
  if (verdict == UDPLITE_VALID || verdict == UDPLITE_BAD_CHECKSUM) {
    fuzz_check (header.coverage >= UDPLITE_HEADER_SIZE);
    fuzz_check (header.coverage >= minimum || header.coverage == size);
  }
  return verdict;
}

static void
parse (const guint8 * packet, gsize size, guint choices)
{
  UdpliteAddresses addresses = make_addresses (choices >> 16);

  check_parse (packet, size, &addresses, choices & 0xffff);
}

static void
parse_ipv4 (const guint8 * packet, gsize size, guint minimum)
{
  UdpliteAddresses addresses;
  gsize offset, length;

  memset (&addresses, 0xa5, sizeof (addresses));
  if (!udplite_parse_ipv4 (packet, size, &addresses, &offset, &length)) {
    fuzz_check (addresses.source[0] == 0xa5);
    return;
  }
  fuzz_check (!addresses.ipv6);
  fuzz_check (offset >= 20 && offset <= 60);
  fuzz_check (offset <= size && length <= size - offset);
  check_parse (packet + offset, length, &addresses, minimum);
}

/* Divides the payload into at most MAX_PIECES pieces, and returns the number of
 * pieces. Each piece has `step` bytes, except the last piece, which contains
 * the rest of the payload. */
static guint
cut (DatagramPart * pieces, const guint8 * payload, gsize size, gsize step)
{
  guint n;

  for (n = 0; n + 1 < MAX_PIECES && size > step; n++) {
    pieces[n].data = payload;
    pieces[n].size = step;
    payload += step;
    size -= step;
  }
  pieces[n].data = payload;
  pieces[n].size = size;
  return n + 1;
}

/* Inverts one bit of a valid packet. The packet must become invalid if the
 * checksum covers this bit, and must stay valid otherwise. Bits of the coverage
 * field are not checked: they change which bytes are summed, so the checksum
 * may be valid by chance. */
static void
check_damage (guint8 * packet, gsize size, gsize covered,
    const UdpliteAddresses * addresses, gsize bit)
{
  gsize place = bit / 8 % size;
  UdpliteVerdict verdict;

  packet[place] ^= 1 << bit % 8;
  verdict = check_parse (packet, size, addresses, 0);
  if (place != 4 && place != 5)
    fuzz_check ((verdict == UDPLITE_VALID) == (place >= covered));
  packet[place] ^= 1 << bit % 8;
}

static void
write_packet (const guint8 * payload, gsize payload_size, guint choices)
{
  UdpliteAddresses addresses = make_addresses (choices >> 8);
  gsize size = UDPLITE_HEADER_SIZE + payload_size;
  guint8 *packet = g_malloc (size);
  guint coverage = choices >> 16, wire_coverage;
  DatagramPart pieces[MAX_PIECES];
  guint n_pieces = cut (pieces, payload, payload_size, choices & 0xff);

  udplite_write_header (packet, &addresses, 5004, 5006, coverage, pieces,
      n_pieces);
  memcpy (packet + UDPLITE_HEADER_SIZE, payload, payload_size);
  fuzz_check (check_parse (packet, size, &addresses, coverage) ==
      UDPLITE_VALID);
  wire_coverage = packet[4] << 8 | packet[5];
  fuzz_check (wire_coverage == udplite_get_wire_coverage (coverage, size));
  check_damage (packet, size, wire_coverage ? wire_coverage : size, &addresses,
      (gsize) choices * 7919);
  g_free (packet);
}

static void
check_coverage (const guint8 * packet, gsize size, guint choices)
{
  UdpliteFormat format = (choices >> 24) % (UDPLITE_FORMAT_RTP_H263_1998 + 1);
  guint mark = choices & 0xffff;
  guint all = udplite_coverage_of_payload (format, packet, size,
      UDPLITE_COVERAGE_ALL);
  guint marked = udplite_coverage_of_payload (format, packet, size, mark);
  guint min = udplite_coverage_of_payload (format, packet, size, 0);

  fuzz_check (all == UDPLITE_COVERAGE_ALL || all <= size);
  fuzz_check (marked == UDPLITE_COVERAGE_ALL || marked <= size);
  fuzz_check (min <= all && min <= marked && mark <= marked);
  if (format != UDPLITE_FORMAT_UNKNOWN)
    fuzz_check (min >= 12);
  if (format <= UDPLITE_FORMAT_RTP)
    fuzz_check (all == UDPLITE_COVERAGE_ALL);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  Action action = fuzz_take_u8 (&input) % ACTION_LAST;
  guint choices = fuzz_take_u32 (&input);
  gsize length = input.size;
  guint8 *bytes = fuzz_take_copy (&input, length);

  if (action == PARSE)
    parse (bytes, length, choices);
  else if (action == PARSE_IPV4)
    parse_ipv4 (bytes, length, choices & 0xffff);
  else if (action == WRITE)
    write_packet (bytes, length, choices);
  else
    check_coverage (bytes, length, choices);
  g_free (bytes);
  return 0;
}
