/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks whether the packets that are sent through UDP-Lite sockets conform to
 * RFC 3828. A backend is an implementation of UDP-Lite. Tests with two
 * backends, a sending and a receiving one, use all pairs of backends whose
 * packets have the same format. The receiver must then accept the packets of
 * the sender. The sockets are real sockets of the loopback interface. Cases
 * that the kernel or missing privileges do not allow are reported as skipped.
 */

#include "udplitesockets.h"

/* --- accepted packets ----------------------------------------------------- */

/* Packets are sent with different coverages, which are the numbers of bytes
 * that the checksum protects: 0, a part of the packet, the whole packet, or
 * more bytes than the packet has. Every packet must arrive completely. */
GST_START_TEST (every_coverage_arrives_whole)
{
  static const guint coverages[] = { 0, 1, 2, 3, 11, 12, 13, 99, 299, 300, 301,
    70000, G_MAXUINT, 0, 299, G_MAXUINT, G_MAXUINT, 12
  };
  UdpliteFixture fixture;
  GPtrArray *packets;
  guint8 data[300];
  guint i;

  if (!udplite_fixture_open (&fixture, "every_coverage_arrives_whole", __i__))
    return;
  for (i = 0; i < G_N_ELEMENTS (coverages); i++) {
    udplite_test_fill (data, sizeof (data), i);
    udplite_test_send (fixture.sender, fixture.ipv6, fixture.port, data,
        sizeof (data), coverages[i]);
  }
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, G_N_ELEMENTS (coverages));
  for (i = 0; i < packets->len; i++) {
    udplite_test_assert_packet (&fixture, packets->pdata[i], i, sizeof (data),
        coverages[i]);
    udplite_test_assert_from (&fixture, packets->pdata[i]);
  }
  fail_unless_equals_uint64 (udplite_test_refused (fixture.receiver), 0);
  g_ptr_array_unref (packets);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

/* The packets of a batch have different sizes and checksum coverages. Each
 * packet consists of several parts. The batch is too long for one system call.
 * All packets must arrive in order. */
GST_START_TEST (batch_keeps_order_and_parts)
{
  enum
  { N = 2 * DATAGRAM_BATCH + 3 };
  UdpliteOutput *outputs = g_new (UdpliteOutput, N);
  guint8 *data = g_malloc (N * UDPLITE_TEST_ROOM);
  struct sockaddr_storage address;
  socklen_t address_size;
  GError *error = NULL;
  GPtrArray *packets;
  UdpliteFixture fixture;
  guint i, j;

  if (!udplite_fixture_open (&fixture, "batch_keeps_order_and_parts", __i__))
    goto out;
  address_size = udplite_test_address (&address, fixture.ipv6, fixture.port);
  for (i = 0; i < N; i++) {
    guint8 *bytes = data + i * UDPLITE_TEST_ROOM;
    gsize part = (i + 1) / DATAGRAM_MAX_PARTS;

    udplite_test_fill (bytes, i + 1, i);
    udplite_test_output (&outputs[i], &address, address_size, bytes, i + 1,
        i % 3 == 0 ? i / 2 : 12);
    /* Divides the packet into parts. All parts but the last have the same size,
     * which may be odd or 0. The last part holds the remaining bytes. */
    outputs[i].n_vectors = DATAGRAM_MAX_PARTS;
    for (j = 0; j < DATAGRAM_MAX_PARTS; j++) {
      outputs[i].vectors[j].data = bytes + j * part;
      outputs[i].vectors[j].size = part;
    }
    outputs[i].vectors[j - 1].size = i + 1 - (j - 1) * part;
  }
  fail_unless_equals_int (udplite_socket_send (fixture.sender, outputs, N,
          &error), N);
  g_assert_no_error (error);
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, N);
  for (i = 0; i < N; i++)
    udplite_test_assert_packet (&fixture, packets->pdata[i], i, i + 1,
        i % 3 == 0 ? i / 2 : 12);
  g_ptr_array_unref (packets);
  udplite_fixture_close (&fixture);
out:
  g_free (outputs);
  g_free (data);
}

GST_END_TEST;

GST_START_TEST (empty_payload_arrives)
{
  UdpliteFixture fixture;
  GPtrArray *packets;

  if (!udplite_fixture_open (&fixture, "empty_payload_arrives", __i__))
    return;
  udplite_test_send (fixture.sender, fixture.ipv6, fixture.port, "", 0, 0);
  udplite_test_send (fixture.sender, fixture.ipv6, fixture.port, "", 0,
      G_MAXUINT);
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, 2);
  udplite_test_assert_packet (&fixture, packets->pdata[0], 0, 0, 0);
  udplite_test_assert_packet (&fixture, packets->pdata[1], 0, 0, 0);
  g_ptr_array_unref (packets);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

/* A raw socket receives packets for all ports, including the packets that it
 * sent itself. Packets for other ports must be ignored. */
GST_START_TEST (other_ports_stay_apart)
{
  UdpliteFixture fixture, other;
  GPtrArray *packets;

  if (!udplite_fixture_open_alike (&fixture, "other_ports_stay_apart", __i__))
    return;
  fail_unless (udplite_fixture_open_alike (&other, "other_ports_stay_apart",
          __i__));
  fail_unless (fixture.port != other.port);
  udplite_test_send (fixture.sender, fixture.ipv6, other.port, "other", 5,
      G_MAXUINT);
  udplite_test_send (fixture.sender, fixture.ipv6, fixture.port, "ours", 4,
      G_MAXUINT);
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, 1);
  fail_unless_equals_int (((UdpliteTestPacket *) packets->pdata[0])->size, 4);
  g_ptr_array_unref (packets);
  packets = udplite_fixture_collect (&other);
  fail_unless_equals_int (packets->len, 1);
  fail_unless_equals_int (((UdpliteTestPacket *) packets->pdata[0])->size, 5);
  g_ptr_array_unref (packets);
  udplite_fixture_close (&other);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

/* --- refused packets ------------------------------------------------------ */

/* Packets, and how a receiver must treat them (RFC 3828 sections 3.1 and 3.2).
 * Byte 0 of a packet is the first byte of the UDP-Lite header. */
static const struct
{
  const gchar *name;
  /* Number of bytes that the checksum covers, beginning with the header of
   * UDP-Lite; 0 for the whole packet. The coverage field contains the same
   * number, unless `wire_coverage` replaces it. */
  guint coverage;
  /* Index of the byte of the packet in which one bit is inverted before
   * sending; -1 for none. */
  gint flip;
  /* Value that the test writes into the coverage field after the checksum was
   * computed, so that the field is wrong; -1 to keep the field. */
  gint wire_coverage;
  gboolean no_checksum;
  UdpliteVerdict verdict;
} damages[] = {
  {"whole, all covered", 0, -1, -1, FALSE, UDPLITE_VALID},
  {"whole, header covered", 8, -1, -1, FALSE, UDPLITE_VALID},
  {"whole, 20 covered", 20, -1, -1, FALSE, UDPLITE_VALID},
  {"all covered, first byte hit", 0, 8, -1, FALSE, UDPLITE_BAD_CHECKSUM},
  {"all covered, last byte hit", 0, 99, -1, FALSE, UDPLITE_BAD_CHECKSUM},
  {"header covered, its port hit", 8, 0, -1, FALSE, UDPLITE_BAD_CHECKSUM},
  {"header covered, checksum hit", 8, 6, -1, FALSE, UDPLITE_BAD_CHECKSUM},
  {"header covered, first byte hit", 8, 8, -1, FALSE, UDPLITE_VALID},
  {"header covered, last byte hit", 8, 99, -1, FALSE, UDPLITE_VALID},
  {"20 covered, the last hit", 20, 19, -1, FALSE, UDPLITE_BAD_CHECKSUM},
  {"20 covered, the next hit", 20, 20, -1, FALSE, UDPLITE_VALID},
  {"odd coverage, the last hit", 21, 20, -1, FALSE, UDPLITE_BAD_CHECKSUM},
  {"odd coverage, the next hit", 21, 21, -1, FALSE, UDPLITE_VALID},
  {"all but one, it is hit", 99, 99, -1, FALSE, UDPLITE_VALID},
  {"coverage 1", 8, -1, 1, FALSE, UDPLITE_COVERAGE_TOO_SMALL},
  {"coverage 2", 8, -1, 2, FALSE, UDPLITE_COVERAGE_TOO_SMALL},
  {"coverage 3", 8, -1, 3, FALSE, UDPLITE_COVERAGE_TOO_SMALL},
  {"coverage 4", 8, -1, 4, FALSE, UDPLITE_COVERAGE_TOO_SMALL},
  {"coverage 5", 8, -1, 5, FALSE, UDPLITE_COVERAGE_TOO_SMALL},
  {"coverage 6", 8, -1, 6, FALSE, UDPLITE_COVERAGE_TOO_SMALL},
  {"coverage 7", 8, -1, 7, FALSE, UDPLITE_COVERAGE_TOO_SMALL},
  {"coverage 101 of 100", 0, -1, 101, FALSE, UDPLITE_COVERAGE_TOO_LARGE},
  {"coverage 65535 of 100", 0, -1, 65535, FALSE, UDPLITE_COVERAGE_TOO_LARGE},
  {"no checksum", 8, -1, -1, TRUE, UDPLITE_NO_CHECKSUM},
  {"no checksum, all covered", 0, -1, -1, TRUE, UDPLITE_NO_CHECKSUM}
};

#define DAMAGED_SIZE 100

static void
make_damaged (guint8 * packet, const UdpliteFixture * fixture, guint i)
{
  udplite_test_write (packet, DAMAGED_SIZE, fixture->backend, fixture->ipv6,
      fixture->port, damages[i].coverage);
  if (damages[i].flip >= 0)
    packet[damages[i].flip] ^= 0x10;
  if (damages[i].wire_coverage >= 0)
    GST_WRITE_UINT16_BE (packet + 4, damages[i].wire_coverage);
  if (damages[i].no_checksum)
    GST_WRITE_UINT16_BE (packet + 6, 0);
}

static void
assert_verdict (const UdpliteFixture * fixture,
    const UdpliteSocketStats * before, guint i)
{
  UdpliteSocketStats after;
  guint verdict;

  if (fixture->backend == UDPLITE_BACKEND_KERNEL)
    return;
  udplite_socket_get_stats (fixture->receiver, &after);
  for (verdict = UDPLITE_VALID + 1; verdict < UDPLITE_LAST; verdict++)
    fail_unless_equals_uint64 (after.refused[verdict] -
        before->refused[verdict], verdict == damages[i].verdict);
  fail_unless_equals_uint64 (after.truncated, 0);
}

GST_START_TEST (damaged_packet_comes_when_rfc_3828_says_so)
{
  const gchar *test = "damaged_packet_comes_when_rfc_3828_says_so";
  guint8 packet[DAMAGED_SIZE];
  UdpliteSocketStats before;
  GPtrArray *packets;
  UdpliteFixture fixture;
  guint i;
  gint fd;

  if (!udplite_fixture_open_alike (&fixture, test, __i__))
    return;
  fd = udplite_test_injector_open (test, fixture.backend, fixture.ipv6);
  for (i = 0; fd >= 0 && i < G_N_ELEMENTS (damages); i++) {
    make_damaged (packet, &fixture, i);
    udplite_socket_get_stats (fixture.receiver, &before);
    udplite_test_inject (fd, fixture.backend, fixture.ipv6, fixture.port,
        packet, sizeof (packet));
    packets = udplite_fixture_collect (&fixture);
    fail_unless (packets->len == (damages[i].verdict == UDPLITE_VALID),
        "%s: %u came", damages[i].name, packets->len);
    if (packets->len == 1)
      fail_unless (memcmp (((UdpliteTestPacket *) packets->pdata[0])->data,
              packet + 8, DAMAGED_SIZE - 8) == 0, "%s", damages[i].name);
    assert_verdict (&fixture, &before, i);
    g_ptr_array_unref (packets);
  }
  if (fd >= 0)
    close (fd);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

/* Invalid packets and valid packets arrive in one batch. The receiver must
 * refuse the invalid packets and return the valid packets in order. */
GST_START_TEST (refused_packets_leave_no_holes)
{
  const gchar *test = "refused_packets_leave_no_holes";
  guint8 packet[DAMAGED_SIZE];
  GPtrArray *packets;
  UdpliteFixture fixture;
  guint i;
  gint fd;

  if (!udplite_fixture_open_alike (&fixture, test, __i__))
    return;
  fd = udplite_test_injector_open (test, fixture.backend, fixture.ipv6);
  for (i = 0; fd >= 0 && i < 40; i++) {
    make_damaged (packet, &fixture, i % 5 == 0 ? 0 : 3);
    udplite_test_inject (fd, fixture.backend, fixture.ipv6, fixture.port,
        packet, sizeof (packet));
    udplite_test_send (fixture.sender, fixture.ipv6, fixture.port, &i,
        sizeof (i), G_MAXUINT);
  }
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, fd >= 0 ? 48 : 0);
  for (i = 0; fd >= 0 && i < 40; i++) {
    UdpliteTestPacket *ours = packets->pdata[i + i / 5 + 1];

    fail_unless_equals_int (ours->size, sizeof (i));
    fail_unless (memcmp (ours->data, &i, sizeof (i)) == 0);
  }
  if (fd >= 0)
    close (fd);
  g_ptr_array_unref (packets);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

GST_START_TEST (packet_without_a_header_is_refused)
{
  const gchar *test = "packet_without_a_header_is_refused";
  guint8 packet[DAMAGED_SIZE];
  UdpliteSocketStats stats;
  GPtrArray *packets;
  UdpliteFixture fixture;
  guint size;
  gint fd;

  if (!udplite_fixture_open_alike (&fixture, test, __i__))
    return;
  fd = udplite_test_injector_open (test, fixture.backend, fixture.ipv6);
  for (size = 0; fd >= 0 && size < UDPLITE_HEADER_SIZE; size++) {
    make_damaged (packet, &fixture, 0);
    udplite_test_inject (fd, fixture.backend, fixture.ipv6, fixture.port,
        packet, size);
  }
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, 0);
  udplite_socket_get_stats (fixture.receiver, &stats);
  /* The packets have 0 to 7 bytes, but the header of UDP-Lite has 8 bytes. The
   * backend udp must count all of these packets as refused. The raw socket can
   * count only the packets of at least 4 bytes, because shorter packets do not
   * contain the destination port. */
  if (fd >= 0 && fixture.backend != UDPLITE_BACKEND_KERNEL)
    fail_unless_equals_uint64 (stats.refused[UDPLITE_TOO_SHORT],
        fixture.backend == UDPLITE_BACKEND_UDP ? 8 : 4);
  if (fd >= 0)
    close (fd);
  g_ptr_array_unref (packets);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

/* Sends packets with each coverage in `coverages`. These coverages count only
 * bytes of the payload, but the receiver's setting `min_coverage` also counts
 * the 8 bytes of the header. `come` is the number of packets that a receiver
 * with this `min_coverage` must accept.
 */
GST_START_TEST (min_coverage_is_held)
{
  static const guint coverages[] = { 0, 4, 12, 13, 40, G_MAXUINT };
  /* RFC 3828 section 3.1: a packet whose checksum covers the whole packet must
   * be accepted with any minimum coverage. */
  static const struct
  {
    gint min_coverage;
    guint come;
  } limits[] = {
    {-1, 6}, {20, 4}, {21, 3}, {48, 2}, {49, 1}, {1000, 1}, {8, 6}, {0, 1},
    {-1, 6}, {-7, 6}, {12, 5}
  };
  UdpliteSocketStats stats;
  guint64 refused = 0;
  GPtrArray *packets;
  GError *error = NULL;
  guint8 data[100];
  UdpliteFixture fixture;
  guint i, j;

  if (!udplite_fixture_open (&fixture, "min_coverage_is_held", __i__))
    return;
  udplite_test_fill (data, sizeof (data), 0);
  for (i = 0; i < G_N_ELEMENTS (limits); i++) {
    fail_unless (udplite_socket_set_min_coverage (fixture.receiver,
            limits[i].min_coverage, &error));
    for (j = 0; j < G_N_ELEMENTS (coverages); j++)
      udplite_test_send (fixture.sender, fixture.ipv6, fixture.port, data,
          sizeof (data), coverages[j]);
    packets = udplite_fixture_collect (&fixture);
    fail_unless (packets->len == limits[i].come, "%d: %u came",
        limits[i].min_coverage, packets->len);
    for (j = 0; j < packets->len; j++)
      udplite_test_assert_packet (&fixture, packets->pdata[j], 0, sizeof (data),
          coverages[G_N_ELEMENTS (coverages) - packets->len + j]);
    refused += G_N_ELEMENTS (coverages) - packets->len;
    g_ptr_array_unref (packets);
  }
  udplite_socket_get_stats (fixture.receiver, &stats);
  fail_unless_equals_uint64 (stats.refused[UDPLITE_BELOW_MINIMUM],
      fixture.backend == UDPLITE_BACKEND_KERNEL ? 0 : refused);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

GST_START_TEST (packet_longer_than_the_room_is_refused)
{
  guint8 data[UDPLITE_TEST_ROOM + 1];
  UdpliteSocketStats stats;
  GPtrArray *packets;
  UdpliteFixture fixture;

  if (!udplite_fixture_open_alike (&fixture,
          "packet_longer_than_the_room_is_refused", __i__))
    return;
  udplite_test_fill (data, sizeof (data), 0);
  udplite_test_send (fixture.sender, fixture.ipv6, fixture.port, data,
      sizeof (data), 12);
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, 0);
  udplite_socket_get_stats (fixture.receiver, &stats);
  fail_unless_equals_uint64 (stats.truncated, 1);
  fail_unless_equals_uint64 (udplite_test_refused (fixture.receiver), 1);
  g_ptr_array_unref (packets);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

static Suite *
udplitesocket_suite (void)
{
  Suite *suite = suite_create ("udplitesocket");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, every_coverage_arrives_whole, 0, N_COMBINATIONS);
  tcase_add_loop_test (tcase, batch_keeps_order_and_parts, 0, N_COMBINATIONS);
  tcase_add_loop_test (tcase, empty_payload_arrives, 0, N_COMBINATIONS);
  tcase_add_loop_test (tcase, other_ports_stay_apart, 0, N_BACKENDS);
  tcase_add_loop_test (tcase, damaged_packet_comes_when_rfc_3828_says_so, 0,
      N_BACKENDS);
  tcase_add_loop_test (tcase, refused_packets_leave_no_holes, 0, N_BACKENDS);
  tcase_add_loop_test (tcase, packet_without_a_header_is_refused, 0,
      N_BACKENDS);
  tcase_add_loop_test (tcase, min_coverage_is_held, 0, N_COMBINATIONS);
  tcase_add_loop_test (tcase, packet_longer_than_the_room_is_refused, 0,
      N_BACKENDS);
  return suite;
}

GST_CHECK_MAIN (udplitesocket);
