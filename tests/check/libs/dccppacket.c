/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the parser and the writer of DCCP packets. For one packet of each
 * type, the expected bytes were written by hand, according to the diagrams in
 * RFC 4340 section 5. All fields of such a packet have different values, so
 * that a mix-up of two fields is noticed. Other tests compare checksums with
 * those that tshark accepted. Further tests pass packets to the parser that are
 * too short, too long or otherwise invalid by the RFC.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "dccppacket.h"

/* Parts of the packets in hexadecimal. Data Offset and the checksum are 0 here;
 * complete() sets them later. */
#define GENERIC "138c1389" "00" "50" "0000"
#define SEQUENCE "00" "010203040506"
#define ACKNOWLEDGEMENT "0000" "111213141516"
#define SERVICE "52545056"
#define SERVICE_VALUE 0x52545056
#define OPTIONS "29060a0b0c0d" "02"
#define SEQUENCE_VALUE G_GUINT64_CONSTANT (0x010203040506)
#define ACKNOWLEDGEMENT_VALUE G_GUINT64_CONSTANT (0x111213141516)
#define PAYLOAD_SIZE 33

typedef struct
{
  const gchar *name;
  /* bytes of the header without options, in hexadecimal */
  const gchar *bytes;
  gsize header_size;
  DccpPacket packet;
} Vector;

#define COMMON(type, extended) 5004, 5001, type, extended, 5, 0

static const Vector vectors[] = {
  {"request", GENERIC "01" SEQUENCE SERVICE, 20,
      {COMMON (DCCP_REQUEST, TRUE), SEQUENCE_VALUE, 0, SERVICE_VALUE}},
  {"response", GENERIC "03" SEQUENCE ACKNOWLEDGEMENT SERVICE, 28,
        {COMMON (DCCP_RESPONSE, TRUE), SEQUENCE_VALUE, ACKNOWLEDGEMENT_VALUE,
          SERVICE_VALUE}},
  {"data", GENERIC "05" SEQUENCE, 16,
      {COMMON (DCCP_DATA, TRUE), SEQUENCE_VALUE}},
  {"data-short", GENERIC "04" "040506", 12,
      {COMMON (DCCP_DATA, FALSE), 0x040506}},
  {"ack", GENERIC "07" SEQUENCE ACKNOWLEDGEMENT, 24,
      {COMMON (DCCP_ACK, TRUE), SEQUENCE_VALUE, ACKNOWLEDGEMENT_VALUE}},
  {"ack-short", GENERIC "06" "040506" "00" "141516", 16,
      {COMMON (DCCP_ACK, FALSE), 0x040506, 0x141516}},
  {"data-ack", GENERIC "09" SEQUENCE ACKNOWLEDGEMENT, 24,
      {COMMON (DCCP_DATA_ACK, TRUE), SEQUENCE_VALUE, ACKNOWLEDGEMENT_VALUE}},
  {"data-ack-short", GENERIC "08" "040506" "00" "141516", 16,
      {COMMON (DCCP_DATA_ACK, FALSE), 0x040506, 0x141516}},
  {"close-req", GENERIC "0b" SEQUENCE ACKNOWLEDGEMENT, 24,
      {COMMON (DCCP_CLOSE_REQ, TRUE), SEQUENCE_VALUE, ACKNOWLEDGEMENT_VALUE}},
  {"close", GENERIC "0d" SEQUENCE ACKNOWLEDGEMENT, 24,
      {COMMON (DCCP_CLOSE, TRUE), SEQUENCE_VALUE, ACKNOWLEDGEMENT_VALUE}},
  {"reset", GENERIC "0f" SEQUENCE ACKNOWLEDGEMENT "05" "212223", 28,
        {COMMON (DCCP_RESET, TRUE), SEQUENCE_VALUE, ACKNOWLEDGEMENT_VALUE, 0,
          DCCP_RESET_OPTION_ERROR, {0x21, 0x22, 0x23}}},
  {"sync", GENERIC "11" SEQUENCE ACKNOWLEDGEMENT, 24,
      {COMMON (DCCP_SYNC, TRUE), SEQUENCE_VALUE, ACKNOWLEDGEMENT_VALUE}},
  {"sync-ack", GENERIC "13" SEQUENCE ACKNOWLEDGEMENT, 24,
      {COMMON (DCCP_SYNC_ACK, TRUE), SEQUENCE_VALUE, ACKNOWLEDGEMENT_VALUE}},
  {"listen", GENERIC "15" "00" "000000000000" SERVICE, 20,
      {COMMON (DCCP_LISTEN, TRUE), 0, 0, SERVICE_VALUE}},
};

static const DatagramPath ipv4 = {.address_size = 4,
  .local = {192, 0, 2, 1},.remote = {192, 0, 2, 2}
};

static const DatagramPath ipv6 = {.address_size = 16,
  .local = {0x20, 0x01, 0x0d, 0xb8,[15] = 1},
  .remote = {0x20, 0x01, 0x0d, 0xb8,[15] = 2}
};

static const DatagramPath udp = {.address_size = 4,
  .local = {192, 0, 2, 1},.local_port = 7000,
  .remote = {192, 0, 2, 2},.remote_port = DCCP_ENCAPSULATION_PORT
};

static guint8 *
new_bytes (const gchar * hexadecimal, gsize * size)
{
  guint8 *bytes;
  gsize i;

  *size = strlen (hexadecimal) / 2;
  bytes = g_malloc (*size);
  for (i = 0; i < *size; i++)
    bytes[i] = g_ascii_xdigit_value (hexadecimal[2 * i]) << 4
        | g_ascii_xdigit_value (hexadecimal[2 * i + 1]);
  return bytes;
}

/* Returns the one's complement sum (RFC 1071) of the pseudo-header and of the
 * bytes that the checksum covers. It is written as simply as possible, to check
 * the faster code of the writer. */
static guint16
sum_plainly (const DatagramPath * path, const guint8 * bytes, gsize covered,
    gsize size)
{
  guint32 sum = DCCP_PROTOCOL + size;
  gsize i;

  for (i = 0; i < path->address_size; i += 2)
    sum += (path->local[i] << 8 | path->local[i + 1])
        + (path->remote[i] << 8 | path->remote[i + 1]);
  for (i = 0; i < covered; i++)
    sum += bytes[i] << (i % 2 ? 0 : 8);
  while (sum >> 16)
    sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

/* Sets the fields Data Offset and checksum of a packet whose other bytes are
 * complete. The checksum is 0 if `path` carries DCCP inside UDP. */
static void
complete (guint8 * bytes, gsize header_size, gsize covered, gsize size,
    const DatagramPath * path)
{
  guint16 checksum;

  bytes[4] = header_size / 4;
  bytes[6] = bytes[7] = 0;
  if (path->remote_port)
    return;
  checksum = ~sum_plainly (path, bytes, covered, size);
  bytes[6] = checksum >> 8;
  bytes[7] = checksum;
}

/* Returns a packet that consists of the header of `vector`, the options OPTIONS
 * and a payload of `payload_size` bytes. The bytes of the payload have the
 * values 0, 1, 2 and so on. */
static guint8 *
new_packet (const Vector * vector, gsize payload_size,
    const DatagramPath * path, gsize * header_size, gsize * size)
{
  gsize fixed, options_size;
  guint8 *bytes = new_bytes (vector->bytes, &fixed);
  guint8 *options = new_bytes (OPTIONS, &options_size);
  gsize i;

  fail_unless (fixed == vector->header_size, "%s: %zu bytes", vector->name,
      fixed);
  *header_size = fixed + 8;
  *size = *header_size + payload_size;
  bytes = g_realloc (bytes, *size);
  memcpy (bytes + fixed, options, options_size);
  bytes[fixed + 7] = 0;
  for (i = 0; i < payload_size; i++)
    bytes[*header_size + i] = i;
  complete (bytes, *header_size, *size, *size, path);
  g_free (options);
  return bytes;
}

/* Parses a copy of the packet and returns the result. The copy is in a memory
 * block of exactly its size, so AddressSanitizer detects each read beyond its
 * end. */
static DccpRefusal
parse_copy (const guint8 * bytes, gsize size, const DatagramPath * path)
{
  guint8 *copy = size ? g_memdup2 (bytes, size) : g_malloc (1);
  DccpPacket packet;
  DccpRefusal refusal = dccp_packet_parse (&packet, path, copy, size);

  g_free (copy);
  return refusal;
}

static void
assert_refusal (DccpRefusal refusal, DccpRefusal expected, const gchar * name,
    gsize detail)
{
  fail_unless (refusal == expected, "%s (%zu): %s instead of %s", name, detail,
      dccp_refusal_get_name (refusal), dccp_refusal_get_name (expected));
}

static void
assert_bytes (const guint8 * bytes, const guint8 * expected, gsize size,
    const gchar * name)
{
  gsize i;

  for (i = 0; i < size; i++)
    fail_unless (bytes[i] == expected[i], "%s: byte %zu is %02x, not %02x",
        name, i, bytes[i], expected[i]);
}

/* --- every type ----------------------------------------------------------- */

static void
check_written (const Vector * vector, const DatagramPath * path)
{
  gsize header_size, size, options_size, written;
  guint8 *expected = new_packet (vector, PAYLOAD_SIZE, path, &header_size,
      &size);
  guint8 *options = new_bytes (OPTIONS, &options_size);
  DccpPacket packet = vector->packet;
  guint8 bytes[DCCP_MAX_HEADER];

  memset (bytes, 0x5a, sizeof (bytes));
  packet.options = options;
  packet.options_size = options_size;
  packet.payload = expected + header_size;
  packet.payload_size = PAYLOAD_SIZE;
  written = dccp_packet_write (&packet, path, bytes);
  fail_unless (written == header_size, "%s: %zu bytes", vector->name, written);
  assert_bytes (bytes, expected, header_size, vector->name);
  fail_unless (bytes[header_size] == 0x5a);
  g_free (options);
  g_free (expected);
}

GST_START_TEST (every_type_is_written_as_drawn)
{
  check_written (&vectors[__i__], &ipv4);
  check_written (&vectors[__i__], &ipv6);
  check_written (&vectors[__i__], &udp);
}

GST_END_TEST;

static void
check_read (const Vector * vector, const DatagramPath * path)
{
  gsize header_size, size;
  guint8 *bytes = new_packet (vector, PAYLOAD_SIZE, path, &header_size, &size);
  const DccpPacket *expected = &vector->packet;
  DccpPacket packet;

  memset (&packet, 0x5a, sizeof (packet));
  assert_refusal (dccp_packet_parse (&packet, path, bytes, size),
      DCCP_ACCEPTED, vector->name, size);
  fail_unless_equals_int (packet.source, expected->source);
  fail_unless_equals_int (packet.destination, expected->destination);
  fail_unless_equals_int (packet.type, expected->type);
  fail_unless_equals_int (packet.extended, expected->extended);
  fail_unless_equals_int (packet.ccval, 5);
  fail_unless_equals_int (packet.coverage, 0);
  fail_unless_equals_uint64 (packet.sequence, expected->sequence);
  fail_unless_equals_uint64 (packet.acknowledgement, expected->acknowledgement);
  fail_unless_equals_int (packet.service_code, expected->service_code);
  fail_unless_equals_int (packet.reset_code, expected->reset_code);
  fail_unless (!memcmp (packet.reset_data, expected->reset_data, 3));
  fail_unless (packet.options == bytes + vector->header_size);
  fail_unless_equals_uint64 (packet.options_size, 8);
  fail_unless (packet.payload == bytes + header_size);
  fail_unless_equals_uint64 (packet.payload_size, PAYLOAD_SIZE);
  g_free (bytes);
}

GST_START_TEST (every_type_is_read_as_drawn)
{
  check_read (&vectors[__i__], &ipv4);
  check_read (&vectors[__i__], &ipv6);
  check_read (&vectors[__i__], &udp);
}

GST_END_TEST;

GST_START_TEST (truncated_packet_is_refused)
{
  const Vector *vector = &vectors[__i__];
  gsize header_size, size, i;
  guint8 *bytes = new_packet (vector, PAYLOAD_SIZE, &udp, &header_size, &size);

  for (i = 0; i <= size; i++)
    assert_refusal (parse_copy (bytes, i, &udp),
        i < vector->header_size ? DCCP_REFUSED_SHORT :
        i < header_size ? DCCP_REFUSED_OFFSET : DCCP_ACCEPTED, vector->name, i);
  g_free (bytes);
}

GST_END_TEST;

/* Data Offset gives the length of the header with options, in words of 4 bytes.
 * A packet must be refused if this length is shorter than the header without
 * options, or longer than the packet. */
GST_START_TEST (data_offset_lies_between_header_and_end)
{
  const Vector *vector = &vectors[__i__];
  gsize header_size, size, i;
  guint8 *bytes = new_packet (vector, PAYLOAD_SIZE, &udp, &header_size, &size);

  for (i = 0; i < 256; i++) {
    bytes[4] = i;
    assert_refusal (parse_copy (bytes, size, &udp),
        i * 4 < vector->header_size || i * 4 > size ? DCCP_REFUSED_OFFSET :
        DCCP_ACCEPTED, vector->name, i);
  }
  g_free (bytes);
}

GST_END_TEST;

/* In a packet with X = 0, sequence numbers have 24 bits instead of 48. Only the
 * types Data, Ack and DataAck may have X = 0; all other types must then be
 * refused. */
GST_START_TEST (only_some_types_have_short_sequence_numbers)
{
  const Vector *vector = &vectors[__i__];
  gsize header_size, size;
  guint8 *bytes = new_packet (vector, PAYLOAD_SIZE, &udp, &header_size, &size);
  const DccpType type = vector->packet.type;

  bytes[8] &= ~1;
  assert_refusal (parse_copy (bytes, size, &udp),
      type == DCCP_DATA || type == DCCP_ACK || type == DCCP_DATA_ACK ?
      DCCP_ACCEPTED : DCCP_REFUSED_SHORT_SEQUENCE, vector->name, 0);
  g_free (bytes);
}

GST_END_TEST;

GST_START_TEST (reserved_bits_are_ignored)
{
  const Vector *vector = &vectors[__i__];
  const gsize acknowledgement = vector->packet.extended ? 16 : 12;
  gsize header_size, size;
  guint8 *bytes = new_packet (vector, PAYLOAD_SIZE, &udp, &header_size, &size);
  guint8 *plain = g_memdup2 (bytes, size);
  guint8 written[DCCP_MAX_HEADER];
  DccpPacket packet;

  bytes[8] |= 0xe0;
  if (vector->packet.extended)
    bytes[9] = 0xff;
  if (dccp_type_has_acknowledgement (vector->packet.type))
    bytes[acknowledgement] = 0xff;
  assert_refusal (dccp_packet_parse (&packet, &udp, bytes, size),
      DCCP_ACCEPTED, vector->name, 0);
  fail_unless (dccp_packet_write (&packet, &udp, written) == header_size);
  assert_bytes (written, plain, header_size, vector->name);
  g_free (plain);
  g_free (bytes);
}

GST_END_TEST;

GST_START_TEST (reserved_types_are_refused)
{
  gsize header_size, size;
  guint8 *bytes = new_packet (&vectors[0], 100, &udp, &header_size, &size);
  guint type;

  for (type = 0; type < 16; type++) {
    bytes[8] = type << 1 | 1;
    assert_refusal (parse_copy (bytes, size, &udp),
        type > DCCP_LISTEN ? DCCP_REFUSED_TYPE : DCCP_ACCEPTED, "type", type);
    bytes[8] = type << 1;
    assert_refusal (parse_copy (bytes, 11, &udp), DCCP_REFUSED_SHORT, "type",
        type);
  }
  g_free (bytes);
}

GST_END_TEST;

/* --- checksum ------------------------------------------------------------- */

static const guint8 data_header[] = {
  0x13, 0x8c, 0x13, 0x89, 4, 0, 0, 0, 5, 0, 1, 2, 3, 4, 5, 6
};

/* The checksum of DCCP covers the header and a part of the payload (section
 * 9.2). The field CsCov (`coverage`) says which part. After a change of a
 * covered byte, the packet must be refused. After a change of any other byte,
 * it must be accepted. */
static void
check_coverage (const DatagramPath * path, guint8 coverage, gsize payload_size)
{
  const gsize covered = coverage ? (coverage - 1) * 4 : payload_size;
  const gsize size = sizeof (data_header) + payload_size;
  guint8 *bytes = g_malloc (size);
  guint8 written[DCCP_MAX_HEADER];
  DccpPacket packet;
  gsize i;

  memcpy (bytes, data_header, sizeof (data_header));
  for (i = sizeof (data_header); i < size; i++)
    bytes[i] = i * 37;
  bytes[5] = 0xa0 | coverage;
  complete (bytes, sizeof (data_header),
      sizeof (data_header) + MIN (covered, payload_size), size, path);
  if (covered > payload_size) {
    assert_refusal (parse_copy (bytes, size, path), DCCP_REFUSED_COVERAGE,
        "too much", coverage);
    g_free (bytes);
    return;
  }
  assert_refusal (dccp_packet_parse (&packet, path, bytes, size),
      DCCP_ACCEPTED, "coverage", coverage);
  fail_unless_equals_int (packet.coverage, coverage);
  fail_unless_equals_int (dccp_packet_write (&packet, path, written),
      sizeof (data_header));
  assert_bytes (written, bytes, sizeof (data_header), "coverage");
  for (i = 0; i < size; i++) {
    /* Data Offset, coverage and type are not changed. A packet with wrong
     * values of these fields would be refused before its checksum is verified.
     */
    if (i == 4 || i == 5 || i == 8)
      continue;
    bytes[i] ^= 0x10;
    assert_refusal (parse_copy (bytes, size, path),
        i < sizeof (data_header) + covered ? DCCP_REFUSED_CHECKSUM :
        DCCP_ACCEPTED, "flipped byte", i);
    bytes[i] ^= 0x10;
  }
  g_free (bytes);
}

GST_START_TEST (coverage_is_as_its_field_says)
{
  const gsize payload_size[] = { 0, 1, 4, 7, 31, 32, 55, 56, 57, 1331 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (payload_size); i++) {
    check_coverage (&ipv4, __i__, payload_size[i]);
    check_coverage (&ipv6, __i__, payload_size[i]);
  }
}

GST_END_TEST;

/* The expected checksums in this table are from packets whose checksums tshark
 * accepted. The packets have the type Data. They are sent from 192.0.2.1 to
 * 192.0.2.2, and from 2001:db8::1 to 2001:db8::2. The bytes of the payload are
 * 00, 01, 02 and so on. */
GST_START_TEST (checksums_are_those_of_others)
{
  const struct
  {
    const DatagramPath *path;
    guint8 coverage;
    gsize payload_size;
    guint16 checksum;
  } cases[] = {
    {&ipv4, 0, 32, 0x5188},
    {&ipv4, 0, 31, 0x51a8},
    {&ipv4, 1, 32, 0x4288},
    {&ipv4, 2, 32, 0x4083},
    {&ipv4, 9, 32, 0x517f},
    {&ipv6, 0, 32, 0x7a17},
    {&ipv6, 0, 31, 0x7a37},
    {&ipv6, 1, 32, 0x6b17},
    {&ipv6, 2, 32, 0x6912},
    {&ipv6, 9, 32, 0x7a0e},
  };
  const guint i = __i__;
  guint8 payload[32], written[DCCP_MAX_HEADER];
  DccpPacket packet = { 5004, 5001, DCCP_DATA, TRUE, 0, cases[i].coverage,
    SEQUENCE_VALUE
  };
  guint byte;

  for (byte = 0; byte < 32; byte++)
    payload[byte] = byte;
  packet.payload = payload;
  packet.payload_size = cases[i].payload_size;
  fail_unless_equals_int (dccp_packet_write (&packet, cases[i].path, written),
      16);
  fail_unless_equals_int_hex (written[6] << 8 | written[7], cases[i].checksum);
}

GST_END_TEST;

/* With DCCP inside UDP (RFC 6773, section 3.3), the DCCP checksum must be sent
 * as 0, and the receiver must ignore it. With DCCP directly over IP, the
 * receiver must refuse a packet with a wrong checksum. */
GST_START_TEST (checksum_in_udp_is_not_looked_at)
{
  gsize header_size, size;
  guint8 *bytes = new_packet (&vectors[4], PAYLOAD_SIZE, &udp, &header_size,
      &size);

  fail_unless (bytes[6] == 0 && bytes[7] == 0);
  bytes[6] = 0x12;
  assert_refusal (parse_copy (bytes, size, &udp), DCCP_ACCEPTED, "udp", 0);
  assert_refusal (parse_copy (bytes, size, &ipv4), DCCP_REFUSED_CHECKSUM,
      "raw", 0);
  g_free (bytes);
}

GST_END_TEST;

/* The checksum also covers the IP addresses of both ends. The receiver sees the
 * two addresses in exchanged roles: the sender's local address is the
 * receiver's remote address, and the sender's remote address is the receiver's
 * local address. The checksum of the sender must nevertheless be valid at the
 * receiver. If the receiver's remote address is not the address of the sender,
 * the packet must be refused. */
GST_START_TEST (the_other_end_reads_what_was_written)
{
  DatagramPath back = ipv6;
  gsize header_size, size;
  guint8 *bytes = new_packet (&vectors[0], PAYLOAD_SIZE, &ipv6, &header_size,
      &size);

  memcpy (back.local, ipv6.remote, 16);
  memcpy (back.remote, ipv6.local, 16);
  assert_refusal (parse_copy (bytes, size, &back), DCCP_ACCEPTED, "back", 0);
  back.remote[3]++;
  assert_refusal (parse_copy (bytes, size, &back), DCCP_REFUSED_CHECKSUM,
      "another", 0);
  g_free (bytes);
}

GST_END_TEST;

/* The writer is asked to cover 8 bytes of the payload, but the payload has only
 * 7 bytes. It must then write a coverage of 0, which means that the checksum
 * covers the whole packet. */
GST_START_TEST (too_much_coverage_is_written_as_all)
{
  const guint8 payload[7] = { 1, 2, 3, 4, 5, 6, 7 };
  DccpPacket packet = { 5004, 5001, DCCP_DATA, TRUE, 0, 3, 77 };
  guint8 bytes[DCCP_MAX_HEADER + sizeof (payload)];
  const gsize size = 16;

  packet.payload = payload;
  packet.payload_size = sizeof (payload);
  fail_unless (dccp_packet_write (&packet, &ipv4, bytes) == size);
  memcpy (bytes + size, payload, sizeof (payload));
  fail_unless_equals_int (bytes[5], 0);
  assert_refusal (parse_copy (bytes, size + sizeof (payload), &ipv4),
      DCCP_ACCEPTED, "all", 0);
  bytes[size + 6] ^= 1;
  assert_refusal (parse_copy (bytes, size + sizeof (payload), &ipv4),
      DCCP_REFUSED_CHECKSUM, "last", 0);
}

GST_END_TEST;

GST_START_TEST (as_many_options_as_data_offset_can_say)
{
  static const guint8 options[DCCP_MAX_HEADER] = { 0, };
  const Vector *vector = &vectors[__i__];
  DccpPacket packet = vector->packet;
  guint8 bytes[DCCP_MAX_HEADER];

  packet.options = options;
  packet.options_size = DCCP_MAX_HEADER - vector->header_size;
  fail_unless_equals_uint64 (dccp_packet_write (&packet, &ipv4, bytes),
      DCCP_MAX_HEADER);
  fail_unless_equals_int (bytes[4], 255);
  packet.options_size -= 3;     /* padded */
  fail_unless_equals_uint64 (dccp_packet_write (&packet, &ipv4, bytes),
      DCCP_MAX_HEADER);
  packet.options_size += 4;
  fail_unless_equals_uint64 (dccp_packet_write (&packet, &ipv4, bytes), 0);
  packet.options_size = G_MAXSIZE;
  fail_unless_equals_uint64 (dccp_packet_write (&packet, &ipv4, bytes), 0);
}

GST_END_TEST;

/* --- a Linux peer --------------------------------------------------------- */

/* The DCCP bytes of a Request that a Linux kernel with CCID 3 sent. The IP
 * addresses are not known, so the checksum cannot be verified. The packet is
 * therefore parsed as DCCP inside UDP, where the checksum is ignored. The
 * writer must produce the same bytes, with a checksum of 0. */
GST_START_TEST (request_of_linux)
{
  gsize size;
  guint8 *bytes = new_bytes ("84b51389" "0b0068dd" "01000fb2" "860ca872"
      "50455246" "00290608" "74b26220" "06010302" "f8220601" "0302f801"
      "20040200", &size);
  guint8 written[DCCP_MAX_HEADER];
  DccpPacket packet;

  assert_refusal (dccp_packet_parse (&packet, &udp, bytes, size),
      DCCP_ACCEPTED, "linux", 0);
  fail_unless_equals_int (packet.type, DCCP_REQUEST);
  fail_unless_equals_int (packet.source, 0x84b5);
  fail_unless_equals_uint64 (packet.sequence,
      G_GUINT64_CONSTANT (0x0fb2860ca872));
  fail_unless_equals_int_hex (packet.service_code, 0x50455246);
  fail_unless_equals_uint64 (packet.options_size, 24);
  fail_unless_equals_uint64 (packet.payload_size, 0);
  fail_unless_equals_uint64 (dccp_packet_write (&packet, &udp, written), size);
  bytes[6] = bytes[7] = 0;
  assert_bytes (written, bytes, size, "linux");
  g_free (bytes);
}

GST_END_TEST;

/* --- names ---------------------------------------------------------------- */

GST_START_TEST (everything_has_a_name_of_its_own)
{
  guint i, j;

  for (i = 0; i < DCCP_LAST_TYPE; i++)
    for (j = 0; j < i; j++)
      fail_if (g_str_equal (dccp_type_get_name (i), dccp_type_get_name (j)));
  for (i = 0; i < DCCP_LAST_REFUSAL; i++)
    for (j = 0; j < i; j++)
      fail_if (g_str_equal (dccp_refusal_get_name (i),
              dccp_refusal_get_name (j)));
  for (i = 0; i <= DCCP_RESET_ENCAPSULATED_PORT_REUSE; i++)
    for (j = 0; j < i; j++)
      fail_if (g_str_equal (dccp_reset_code_get_name (i),
              dccp_reset_code_get_name (j)));
  fail_unless_equals_string (dccp_reset_code_get_name (200), "unspecified");
  fail_unless_equals_string (dccp_type_get_name (DCCP_LISTEN), "listen");
  fail_unless_equals_string (dccp_refusal_get_name (DCCP_REFUSED_OPTION),
      "option");
  fail_unless_equals_string (dccp_reset_code_get_name
      (DCCP_RESET_ENCAPSULATED_PORT_REUSE), "encapsulated port reuse");
}

GST_END_TEST;

GST_START_TEST (some_types_carry_data)
{
  guint type;

  for (type = 0; type < DCCP_LAST_TYPE; type++)
    fail_unless_equals_int (dccp_type_has_data (type), type <= DCCP_DATA
        || type == DCCP_DATA_ACK);
}

GST_END_TEST;

static Suite *
dccppacket_suite (void)
{
  Suite *s = suite_create ("dccppacket");
  TCase *tc = tcase_create ("general");
  const guint n = G_N_ELEMENTS (vectors);

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, every_type_is_written_as_drawn, 0, n);
  tcase_add_loop_test (tc, every_type_is_read_as_drawn, 0, n);
  tcase_add_loop_test (tc, truncated_packet_is_refused, 0, n);
  tcase_add_loop_test (tc, data_offset_lies_between_header_and_end, 0, n);
  tcase_add_loop_test (tc, only_some_types_have_short_sequence_numbers, 0, n);
  tcase_add_loop_test (tc, reserved_bits_are_ignored, 0, n);
  tcase_add_test (tc, reserved_types_are_refused);
  tcase_add_loop_test (tc, coverage_is_as_its_field_says, 0, 16);
  tcase_add_loop_test (tc, checksums_are_those_of_others, 0, 10);
  tcase_add_test (tc, checksum_in_udp_is_not_looked_at);
  tcase_add_test (tc, the_other_end_reads_what_was_written);
  tcase_add_test (tc, too_much_coverage_is_written_as_all);
  tcase_add_loop_test (tc, as_many_options_as_data_offset_can_say, 0, n);
  tcase_add_test (tc, request_of_linux);
  tcase_add_test (tc, everything_has_a_name_of_its_own);
  tcase_add_test (tc, some_types_carry_data);
  return s;
}

GST_CHECK_MAIN (dccppacket);
