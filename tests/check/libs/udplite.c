/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the packets of UDP-Lite against RFC 3828. Known packets are compared
 * byte for byte, and small packets with every coverage are compared with a
 * simple implementation of the checksum.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "udplite.h"

/* Packet size in bytes that is larger than the coverage field can express. */
#define MAX_PACKET 70100
#define SOURCE_PORT 5004
#define DESTINATION_PORT 5006

static const UdpliteAddresses ipv4 = {
  FALSE, {192, 0, 2, 1}, {192, 0, 2, 2}
};

static const UdpliteAddresses ipv6 = {
  TRUE,
  {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
  {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}
};

static const UdpliteAddresses in_udp = { FALSE, };

static const UdpliteAddresses *const families[] = { &ipv4, &ipv6, &in_udp };

/* Fills `data` with pseudo-random bytes. */
static void
fill (guint8 * data, gsize size)
{
  guint32 state = 1;
  gsize i;

  for (i = 0; i < size; i++) {
    state = state * 1664525 + 1013904223;
    data[i] = state >> 24;
  }
}

/* Adds the 16-bit words of `data` to `sum`, one by one, in ones' complement
 * arithmetic (RFC 1071, section 1). Returns the new sum. */
static guint32
add_slowly (guint32 sum, const guint8 * data, gsize size)
{
  gsize i;

  for (i = 0; i < size; i += 2) {
    sum += data[i] * 256 + (i + 1 < size ? data[i + 1] : 0);
    while (sum > 0xffff)
      sum = (sum & 0xffff) + (sum >> 16);
  }
  return sum;
}

/* Returns the checksum of the pseudo-header and the first `covered` bytes of
 * `packet`. The bytes of the checksum field are left out. */
static guint
get_slow_checksum (const UdpliteAddresses * addresses, const guint8 * packet,
    gsize size, gsize covered)
{
  gsize address_size = addresses->ipv6 ? 16 : 4;
  guint8 tail[8] = { size >> 24, size >> 16, size >> 8, size, 0, 0, 0, 136 };
  guint32 sum;

  sum = add_slowly (0, addresses->source, address_size);
  sum = add_slowly (sum, addresses->destination, address_size);
  sum = add_slowly (sum, tail, sizeof (tail));
  sum = add_slowly (sum, packet, 6);
  sum = add_slowly (sum, packet + 8, covered - 8);
  return sum == 0xffff ? 0xffff : 0xffff - sum;
}

/* Writes a UDP-Lite header. The coverage field is `wire_coverage`, but the
 * checksum really covers `covered` bytes. The two numbers may differ, to test
 * wrong packets. */
static void
write_slowly (guint8 * packet, gsize size, guint wire_coverage, gsize covered,
    const UdpliteAddresses * addresses)
{
  guint checksum;

  GST_WRITE_UINT16_BE (packet, SOURCE_PORT);
  GST_WRITE_UINT16_BE (packet + 2, DESTINATION_PORT);
  GST_WRITE_UINT16_BE (packet + 4, wire_coverage);
  checksum = get_slow_checksum (addresses, packet, size, covered);
  GST_WRITE_UINT16_BE (packet + 6, checksum);
}

/* Writes the header of a packet of `size` bytes with the coverage `coverage`.
 * The payload is already in place, directly after the 8 bytes of the header. */
static void
write_header (guint8 * packet, gsize size, guint coverage,
    const UdpliteAddresses * addresses)
{
  DatagramPart payload = { packet + 8, size - 8 };

  udplite_write_header (packet, addresses, SOURCE_PORT, DESTINATION_PORT,
      coverage, &payload, 1);
}

static UdpliteVerdict
parse (const guint8 * packet, gsize size, const UdpliteAddresses * addresses)
{
  UdpliteHeader header;

  return udplite_parse (packet, size, addresses, 0, &header);
}

/* Inverts each bit of `packet` in turn. The packet must be refused if the
 * inverted bit is in the first `covered` bytes, which the checksum covers.
 * Otherwise the packet must be accepted.
 *
 * The coverage field is one of the covered fields. If one of its bits is
 * inverted, the receiver computes the checksum of a different number of bytes.
 * With the payloads of these tests, this checksum is wrong, too. */
static void
check_each_bit (guint8 * packet, gsize size, gsize covered,
    const UdpliteAddresses * addresses)
{
  UdpliteVerdict verdict;
  gsize bit;

  for (bit = 0; bit < size * 8; bit++) {
    packet[bit / 8] ^= 0x80 >> bit % 8;
    verdict = parse (packet, size, addresses);
    fail_unless ((verdict == UDPLITE_VALID) == (bit / 8 >= covered),
        "bit %u of %u bytes, %u covered: %s", (guint) bit, (guint) size,
        (guint) covered, udplite_verdict_get_name (verdict));
    packet[bit / 8] ^= 0x80 >> bit % 8;
  }
}

/* The expected checksums are from packets that were captured on a network. The
 * packets were sent between 192.0.2.1 and 192.0.2.2, and between 2001:db8::1
 * and 2001:db8::2. */
GST_START_TEST (known_packets_are_written_and_read)
{
  static const struct
  {
    const UdpliteAddresses *addresses;
    guint coverage, checksum;
  } known[] = {
    {&ipv4, 0, 0x6330}, {&ipv4, 8, 0x5429}, {&ipv4, 20, 0x35f9},
    {&ipv6, 0, 0x8bbf}, {&ipv6, 8, 0x7cb8}, {&ipv6, 20, 0x5e88}
  };
  /* The whole packet is covered. The coverage field contains the length of the
   * packet, although it could be 0 with the same meaning. Linux sends packets
   * like this. */
  static const guint8 said[] = { 0x13, 0x8c, 0x13, 0x8e, 0, 40, 0x63, 0x08 };
  guint8 packet[40];
  UdpliteHeader header;
  guint i;

  for (i = 0; i < sizeof (packet) - 8; i++)
    packet[8 + i] = i;
  for (i = 0; i < G_N_ELEMENTS (known); i++) {
    write_header (packet, sizeof (packet), known[i].coverage,
        known[i].addresses);
    fail_unless_equals_int_hex (GST_READ_UINT32_BE (packet), 0x138c138e);
    fail_unless_equals_int (GST_READ_UINT16_BE (packet + 4), known[i].coverage);
    fail_unless_equals_int_hex (GST_READ_UINT16_BE (packet + 6),
        known[i].checksum);
    fail_unless_equals_int (udplite_parse (packet, sizeof (packet),
            known[i].addresses, 0, &header), UDPLITE_VALID);
    fail_unless_equals_int (header.source_port, SOURCE_PORT);
    fail_unless_equals_int (header.destination_port, DESTINATION_PORT);
    fail_unless_equals_int (header.coverage,
        known[i].coverage ? known[i].coverage : sizeof (packet));
  }
  memcpy (packet, said, sizeof (said));
  fail_unless_equals_int (udplite_parse (packet, sizeof (packet), &ipv4, 0,
          &header), UDPLITE_VALID);
  fail_unless_equals_int (header.coverage, sizeof (packet));
}

GST_END_TEST;

GST_START_TEST (the_coverage_is_made_fit_for_the_wire)
{
  static const struct
  {
    guint coverage;
    gsize size;
    guint expected;
  } table[] = {
    {0, 100, 0}, {1, 100, 8}, {7, 100, 8}, {8, 100, 8}, {9, 100, 9},
    {99, 100, 99}, {100, 100, 0}, {101, 100, 0}, {G_MAXUINT, 100, 0},
    {1, 8, 0}, {8, 8, 0}, {8, 9, 8},
    {65535, 65535, 0}, {65534, 65535, 65534},
    /* A jumbogram of IPv6 (RFC 3828 section 3.5). */
    {65535, 70000, 65535}, {65536, 70000, 0}, {69999, 70000, 0}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (table); i++)
    fail_unless_equals_int (udplite_get_wire_coverage (table[i].coverage,
            table[i].size), table[i].expected);
}

GST_END_TEST;

static void
check_written (guint8 * packet, gsize size, guint coverage,
    const UdpliteAddresses * addresses)
{
  guint wire_coverage = udplite_get_wire_coverage (coverage, size);
  guint8 expected[8];

  write_slowly (packet, size, wire_coverage,
      wire_coverage ? wire_coverage : size, addresses);
  memcpy (expected, packet, 8);
  memset (packet, 0xee, 8);
  write_header (packet, size, coverage, addresses);
  fail_unless (memcmp (packet, expected, 8) == 0, "%u of %u bytes: "
      "%08x %08x", coverage, (guint) size, GST_READ_UINT32_BE (packet),
      GST_READ_UINT32_BE (packet + 4));
  fail_unless_equals_int (parse (packet, size, addresses), UDPLITE_VALID);
}

GST_START_TEST (every_coverage_of_small_packets_is_written)
{
  guint8 packet[8 + 41];
  guint coverage;
  gsize size;

  fill (packet, sizeof (packet));
  for (size = 8; size <= sizeof (packet); size++)
    for (coverage = 0; coverage <= size + 1; coverage++)
      check_written (packet, size, coverage, families[__i__]);
}

GST_END_TEST;

GST_START_TEST (every_coverage_on_the_wire_is_read_or_refused)
{
  guint8 packet[8 + 41];
  UdpliteVerdict expected;
  UdpliteHeader header;
  guint wire_coverage;
  gsize size;

  fill (packet, sizeof (packet));
  for (size = 8; size <= sizeof (packet); size++) {
    for (wire_coverage = 0; wire_coverage <= size + 1; wire_coverage++) {
      write_slowly (packet, size, wire_coverage,
          wire_coverage == 0 ? size : CLAMP (wire_coverage, 8, size),
          families[__i__]);
      expected =
          wire_coverage > size ? UDPLITE_COVERAGE_TOO_LARGE : wire_coverage > 0
          && wire_coverage < 8 ? UDPLITE_COVERAGE_TOO_SMALL : UDPLITE_VALID;
      fail_unless_equals_int (udplite_parse (packet, size, families[__i__], 0,
              &header), expected);
      fail_unless_equals_int (header.coverage,
          wire_coverage ? wire_coverage : size);
    }
  }
}

GST_END_TEST;

GST_START_TEST (large_packets_are_summed_without_losing_a_carry)
{
  static const gsize sizes[] = { 255, 1480, 1481, 65515, 65535, MAX_PACKET };
  guint8 *packet = g_malloc (MAX_PACKET);
  guint i;

  fill (packet, MAX_PACKET);
  for (i = 0; i < G_N_ELEMENTS (sizes); i++) {
    check_written (packet, sizes[i], 0, &ipv6);
    check_written (packet, sizes[i], sizes[i] / 2 | 1, &ipv6);
  }
  memset (packet, 0xff, MAX_PACKET);
  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    check_written (packet, sizes[i], 0, &ipv6);
  memset (packet, 0, MAX_PACKET);
  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    check_written (packet, sizes[i], 0, &in_udp);
  g_free (packet);
}

GST_END_TEST;

/* Splits the payload of the packet `whole` into three parts, at the offsets
 * `first` and `second`, and puts an empty part after each of the first two. The
 * checksum of this divided payload must be the same as that of the whole
 * payload. */
static void
check_split (const guint8 * whole, const guint8 * payload, gsize size,
    gsize first, gsize second, guint coverage)
{
  DatagramPart vectors[5] = {
    {payload, first}, {NULL, 0}, {payload + first, second - first},
    {payload, 0}, {payload + second, size - second}
  };
  guint8 header[8];

  udplite_write_header (header, &ipv4, SOURCE_PORT, DESTINATION_PORT, coverage,
      vectors, G_N_ELEMENTS (vectors));
  fail_unless (memcmp (header, whole, 8) == 0, "cut at %u and %u, coverage %u",
      (guint) first, (guint) second, coverage);
}

GST_START_TEST (a_payload_in_pieces_is_summed_as_one)
{
  guint8 packet[8 + 37];
  gsize first, second, size = sizeof (packet) - 8;
  guint coverage;

  fill (packet, sizeof (packet));
  for (coverage = 0; coverage < sizeof (packet); coverage++) {
    write_header (packet, sizeof (packet), coverage, &ipv4);
    for (first = 0; first <= size; first++)
      for (second = first; second <= size; second++)
        check_split (packet, packet + 8, size, first, second, coverage);
  }
}

GST_END_TEST;

GST_START_TEST (a_packet_without_payload_is_one)
{
  guint8 packet[8];

  udplite_write_header (packet, &ipv4, SOURCE_PORT, DESTINATION_PORT, 20,
      NULL, 0);
  fail_unless_equals_int (GST_READ_UINT16_BE (packet + 4), 0);
  fail_unless_equals_int (parse (packet, 8, &ipv4), UDPLITE_VALID);
  check_each_bit (packet, 8, 8, &ipv4);
}

GST_END_TEST;

/* A checksum field of 0 would mean that there is no checksum (RFC 3828 section
 * 3.1). A computed checksum of 0 must therefore be sent as 0xffff.
 *
 * To make a packet whose computed checksum is 0, the test first computes the
 * checksum of a packet whose payload begins with two zero bytes. It then
 * replaces these two bytes by the checksum. In the new packet, every bit of the
 * sum is 1, so the checksum, its complement, is 0. */
GST_START_TEST (a_checksum_of_0_is_sent_as_ffff)
{
  guint8 packet[8 + 12];

  fill (packet, sizeof (packet));
  memset (packet + 8, 0, 2);
  write_header (packet, sizeof (packet), 10, families[__i__]);
  memcpy (packet + 8, packet + 6, 2);
  write_header (packet, sizeof (packet), 10, families[__i__]);
  fail_unless_equals_int_hex (GST_READ_UINT16_BE (packet + 6), 0xffff);
  fail_unless_equals_int (parse (packet, sizeof (packet), families[__i__]),
      UDPLITE_VALID);
  check_each_bit (packet, sizeof (packet), 10, families[__i__]);
}

GST_END_TEST;

GST_START_TEST (damage_is_refused_where_covered_and_delivered_where_not)
{
  guint8 packet[8 + 33];
  guint coverage;
  gsize size;

  fill (packet, sizeof (packet));
  for (size = 9; size <= sizeof (packet); size += 8) {
    for (coverage = 8; coverage <= size; coverage++) {
      write_header (packet, size, coverage, families[__i__]);
      check_each_bit (packet, size, coverage, families[__i__]);
    }
  }
}

GST_END_TEST;

/* The checksum covers a pseudo-header with the addresses. If a packet is
 * checked with another address, it must therefore be refused. */
GST_START_TEST (a_packet_for_somebody_else_is_refused)
{
  UdpliteAddresses other;
  guint8 packet[8 + 32];
  gsize i, address_size = families[__i__]->ipv6 ? 16 : 4;

  fill (packet, sizeof (packet));
  write_header (packet, sizeof (packet), 8, families[__i__]);
  for (i = 0; i < address_size; i++) {
    other = *families[__i__];
    other.source[i] ^= 1;
    fail_unless_equals_int (parse (packet, sizeof (packet), &other),
        UDPLITE_BAD_CHECKSUM);
    other = *families[__i__];
    other.destination[i] ^= 1;
    fail_unless_equals_int (parse (packet, sizeof (packet), &other),
        UDPLITE_BAD_CHECKSUM);
  }
  /* The receiver reads the length of the packet from the IP header. The
   * checksum of UDP-Lite always covers this length. If a packet was cut or
   * extended, its checksum is therefore wrong, even if only bytes outside its
   * coverage were removed or added. */
  fail_unless_equals_int (parse (packet, sizeof (packet) - 1,
          families[__i__]), UDPLITE_BAD_CHECKSUM);
}

GST_END_TEST;

GST_START_TEST (short_packet_has_no_header)
{
  guint8 packet[8] = { 0, };
  UdpliteHeader header = { 1, 2, 3 };
  gsize size;

  for (size = 0; size < 8; size++)
    fail_unless_equals_int (udplite_parse (packet, size, &ipv4, 0, &header),
        UDPLITE_TOO_SHORT);
  fail_unless_equals_int (header.coverage, 3);
}

GST_END_TEST;

/* Each row describes a packet with the fault `expected`. The packet may also
 * have faults that udplite_parse () checks later. The function must return
 * `expected`, because this is the fault that it checks first. */
GST_START_TEST (the_first_fault_is_the_verdict)
{
  static const struct
  {
    guint wire_coverage, checksum, minimum;
    UdpliteVerdict expected;
  } table[] = {
    {1, 0, 30, UDPLITE_COVERAGE_TOO_SMALL},
    {7, 0, 30, UDPLITE_COVERAGE_TOO_SMALL},
    {41, 0, 60, UDPLITE_COVERAGE_TOO_LARGE},
    {65535, 0, 60, UDPLITE_COVERAGE_TOO_LARGE},
    {20, 0, 30, UDPLITE_NO_CHECKSUM},
    {0, 0, 30, UDPLITE_NO_CHECKSUM},
    {20, 1, 30, UDPLITE_BELOW_MINIMUM},
    {20, 1, 20, UDPLITE_BAD_CHECKSUM},
    {0, 1, 60, UDPLITE_BAD_CHECKSUM}
  };
  guint8 packet[40];
  UdpliteHeader header;
  guint i;

  fill (packet, sizeof (packet));
  for (i = 0; i < G_N_ELEMENTS (table); i++) {
    GST_WRITE_UINT16_BE (packet + 4, table[i].wire_coverage);
    GST_WRITE_UINT16_BE (packet + 6, table[i].checksum);
    fail_unless_equals_int (udplite_parse (packet, sizeof (packet), &ipv4,
            table[i].minimum, &header), table[i].expected);
    fail_unless_equals_int (header.source_port, GST_READ_UINT16_BE (packet));
    fail_unless_equals_int (header.coverage,
        table[i].wire_coverage ? table[i].wire_coverage : sizeof (packet));
  }
}

GST_END_TEST;

GST_START_TEST (a_receiver_gets_what_is_covered_as_it_demands)
{
  guint8 packet[40];
  UdpliteHeader header;
  guint coverage, minimum, covered;

  fill (packet, sizeof (packet));
  for (coverage = 0; coverage <= sizeof (packet); coverage++) {
    write_header (packet, sizeof (packet), coverage, &ipv4);
    covered = coverage ? MAX (coverage, 8) : sizeof (packet);
    for (minimum = 0; minimum <= sizeof (packet) + 9; minimum++)
      fail_unless_equals_int (udplite_parse (packet, sizeof (packet), &ipv4,
              minimum, &header), covered >= minimum
          || covered == sizeof (packet) ? UDPLITE_VALID :
          UDPLITE_BELOW_MINIMUM);
  }
}

GST_END_TEST;

GST_START_TEST (verdicts_have_names)
{
  static const gchar *const names[] = { "valid", "too-short",
    "coverage-too-small", "coverage-too-large", "no-checksum",
    "below-minimum", "bad-checksum"
  };
  guint i;

  fail_unless_equals_int (G_N_ELEMENTS (names), UDPLITE_LAST);
  for (i = 0; i < UDPLITE_LAST; i++)
    fail_unless_equals_string (udplite_verdict_get_name (i), names[i]);
}

GST_END_TEST;

/* A received IP packet. It consists of an IP header with one word of options, a
 * UDP-Lite packet of 12 bytes, and three bytes of padding that a link added. */
static const guint8 ip_packet[] = {
  0x46, 0, 0, 36, 0, 7, 0x40, 0, 64, 136, 0x12, 0x34,
  192, 0, 2, 1, 192, 0, 2, 2, 1, 1, 1, 0,
  0x13, 0x8c, 0x13, 0x8e, 0, 8, 0, 0, 1, 2, 3, 4,
  0xaa, 0xaa, 0xaa
};

GST_START_TEST (a_packet_is_found_in_ipv4)
{
  guint8 packet[sizeof (ip_packet)];
  UdpliteAddresses addresses;
  gsize offset, length;

  memcpy (packet, ip_packet, sizeof (packet));
  write_header (packet + 24, 12, 8, &ipv4);
  memset (&addresses, 0xee, sizeof (addresses));
  fail_unless (udplite_parse_ipv4 (packet, sizeof (packet), &addresses, &offset,
          &length));
  fail_unless_equals_int (offset, 24);
  fail_unless_equals_int (length, 12);
  fail_unless (memcmp (&addresses, &ipv4, sizeof (ipv4)) == 0);
  fail_unless_equals_int (parse (packet + offset, length, &addresses),
      UDPLITE_VALID);
}

GST_END_TEST;

GST_START_TEST (invalid_or_fragmented_ipv4_packet_is_refused)
{
  static const struct
  {
    const gchar *what;
    guint place, value;
    gboolean found;
  } table[] = {
    {"version 6", 0, 0x66, FALSE}, {"header of 16 bytes", 0, 0x44, FALSE},
    {"header beyond the packet", 0, 0x4f, FALSE},
    {"total below the header", 3, 23, FALSE},
    {"total beyond the packet", 3, 40, FALSE},
    {"total of a large packet", 2, 1, FALSE},
    {"more fragments", 6, 0x20, FALSE}, {"offset", 7, 1, FALSE},
    {"high offset", 6, 0x10, FALSE}, {"UDP", 9, 17, FALSE},
    {"no payload", 3, 24, TRUE}, {"all of the bytes", 3, 39, TRUE},
    {"no option", 0, 0x45, TRUE}, {"may be fragmented", 6, 0, TRUE},
    {"reserved flag", 6, 0x80, TRUE}
  };
  guint8 packet[sizeof (ip_packet)];
  UdpliteAddresses addresses;
  gsize offset, length, size;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (table); i++) {
    memcpy (packet, ip_packet, sizeof (packet));
    packet[table[i].place] = table[i].value;
    fail_unless (udplite_parse_ipv4 (packet, sizeof (packet), &addresses,
            &offset, &length) == table[i].found, "%s", table[i].what);
  }
  for (size = 0; size <= sizeof (packet); size++)
    fail_unless (udplite_parse_ipv4 (ip_packet, size, &addresses, &offset,
            &length) == (size >= 36));
}

GST_END_TEST;

static Suite *
udplite_suite (void)
{
  const gint n = G_N_ELEMENTS (families);
  Suite *s = suite_create ("udplite");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, known_packets_are_written_and_read);
  tcase_add_test (tc, the_coverage_is_made_fit_for_the_wire);
  tcase_add_loop_test (tc, every_coverage_of_small_packets_is_written, 0, n);
  tcase_add_loop_test (tc, every_coverage_on_the_wire_is_read_or_refused, 0, n);
  tcase_add_test (tc, large_packets_are_summed_without_losing_a_carry);
  tcase_add_test (tc, a_payload_in_pieces_is_summed_as_one);
  tcase_add_test (tc, a_packet_without_payload_is_one);
  tcase_add_loop_test (tc, a_checksum_of_0_is_sent_as_ffff, 0, n);
  tcase_add_loop_test (tc,
      damage_is_refused_where_covered_and_delivered_where_not, 0, n);
  tcase_add_loop_test (tc, a_packet_for_somebody_else_is_refused, 0, n);
  tcase_add_test (tc, short_packet_has_no_header);
  tcase_add_test (tc, the_first_fault_is_the_verdict);
  tcase_add_test (tc, a_receiver_gets_what_is_covered_as_it_demands);
  tcase_add_test (tc, verdicts_have_names);
  tcase_add_test (tc, a_packet_is_found_in_ipv4);
  tcase_add_test (tc, invalid_or_fragmented_ipv4_packet_is_refused);
  return s;
}

GST_CHECK_MAIN (udplite);
