/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of TunMerge (tunmerge.h): which UDP packets may be merged into one, and
 * the header of the merged packet. */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "ippackets.h"
#include "tunmerge.h"

#define DF 0x4000
#define MAX_SIZE 70000

static const IpPacket ip4 = { 4, 0, 64, 7, DF, 1000, 2000, 1400, 'a' };
static const IpPacket ip6 = { 6, 0, 64, 0, 0, 1000, 2000, 1400, 'a' };

static const IpPacket *const versions[] = { &ip4, &ip6 };

static gboolean
begin (TunMerge * merge, const IpPacket * packet)
{
  guint8 data[MAX_SIZE];

  ip_packet_write (packet, data);
  return tun_merge_begin (merge, data, ip_packet_size (packet));
}

static gboolean
add (TunMerge * merge, const IpPacket * packet)
{
  guint8 data[MAX_SIZE];

  ip_packet_write (packet, data);
  return tun_merge_add (merge, data, ip_packet_size (packet));
}

/* --- the merged packet ---------------------------------------------------- */

static void
check_header (const TunMerge * merge, const guint8 * header)
{
  guint length = 8 + merge->payload_size;
  gsize ip_size = merge->header_size - 8;
  const guint8 *udp = header + ip_size;

  fail_unless_equals_int (udp[4] << 8 | udp[5], length);
  fail_unless_equals_int (udp[6] << 8 | udp[7],
      ip_packet_sum_pseudo_header (header));
  if (ip_size == 20) {
    fail_unless_equals_int (header[2] << 8 | header[3], 20 + length);
    fail_unless_equals_int (ip_packet_sum (header, 20, 0), 0xffff);
  } else {
    fail_unless_equals_int (header[4] << 8 | header[5], length);
  }
}

GST_START_TEST (packets_of_a_stream_are_merged)
{
  IpPacket packet = *versions[__i__];
  guint8 header[TUN_MERGE_MAX_HEADER], first[MAX_SIZE];
  TunMerge merge;
  guint i;

  ip_packet_write (&packet, first);
  fail_unless (begin (&merge, &packet));
  for (i = 1; i < 10; i++) {
    packet.fill++;
    packet.id++;
    fail_unless (add (&merge, &packet));
  }
  fail_unless_equals_int (merge.n, 10);
  fail_unless_equals_int (merge.header_size, ip_packet_header_size (&packet));
  fail_unless_equals_int (merge.segment_size, 1400);
  fail_unless_equals_int (merge.payload_size, 14000);
  tun_merge_write_header (&merge, header);
  check_header (&merge, header);
  /* The merged packet must have the IPv4 identification of the first packet
   * that was merged. */
  fail_unless (memcmp (header + 6, first + 6, 4) == 0);
  if (packet.version == 4)
    fail_unless (memcmp (header + 4, first + 4, 2) == 0);
}

GST_END_TEST;

GST_START_TEST (last_packet_may_be_shorter)
{
  IpPacket packet = *versions[__i__];
  TunMerge merge;

  fail_unless (begin (&merge, &packet));
  packet.payload = 1401;
  fail_if (add (&merge, &packet));
  packet.payload = 1399;
  fail_unless (add (&merge, &packet));
  fail_if (add (&merge, &packet));
  packet.payload = 1400;
  fail_if (add (&merge, &packet));
  fail_unless_equals_int (merge.n, 2);
  fail_unless_equals_int (merge.payload_size, 2799);
}

GST_END_TEST;

/* Maximum number of packets with a payload of `payload` bytes that can be
 * merged into one packet. */
static const struct
{
  gsize payload;
  guint packets;
} limits[] = {
  {1, TUN_MERGE_MAX_PACKETS},
  {1000, TUN_MERGE_MAX_PACKETS},
  {1472, 44},
  {9000, 7},
  {40000, 1},
};

GST_START_TEST (merged_packet_fits_the_length_of_ip)
{
  IpPacket packet = *versions[__i__ % 2];
  guint n;
  TunMerge merge;

  packet.payload = limits[__i__ / 2].payload;
  fail_unless (begin (&merge, &packet));
  for (n = 1; add (&merge, &packet); n++)
    continue;
  fail_unless_equals_int (n, limits[__i__ / 2].packets);
}

GST_END_TEST;

/* --- packets that are not merged ------------------------------------------ */

GST_START_TEST (other_streams_are_not_merged)
{
  const IpPacket *first = versions[__i__];
  IpPacket packet;
  TunMerge merge;

  fail_unless (begin (&merge, first));
#define REFUSE(member, value) \
  packet = *first; \
  packet.member = value; \
  fail_if (add (&merge, &packet));
  REFUSE (traffic_class, 1);
  REFUSE (ttl, 63);
  REFUSE (source_port, 1001);
  REFUSE (port, 2001);
  REFUSE (version, first->version == 4 ? 6 : 4);
#undef REFUSE
  fail_unless (add (&merge, first));
  fail_unless_equals_int (merge.n, 2);
}

GST_END_TEST;

/* IPv4: if the flag "don't fragment" is not set, a packet may be merged only if
 * its identification is that of the previous packet plus 1. */
GST_START_TEST (identification_has_to_count_up)
{
  IpPacket packet = ip4;
  TunMerge merge;

  packet.fragment = 0;
  packet.id = 0xffff;
  fail_unless (begin (&merge, &packet));
  fail_if (add (&merge, &packet));
  packet.id = 0;
  fail_unless (add (&merge, &packet));
  packet.fragment = DF;
  packet.id = 1;
  fail_if (add (&merge, &packet));
  packet.fragment = 0;
  packet.id = 2;
  fail_if (add (&merge, &packet));
  packet.id = 1;
  fail_unless (add (&merge, &packet));
}

GST_END_TEST;

GST_START_TEST (fragments_are_not_merged)
{
  static const guint16 fragments[] = { 0x2000, 0x0001, 0x8000 };
  IpPacket packet = ip4;
  TunMerge merge;

  packet.fragment = fragments[__i__];
  fail_if (begin (&merge, &packet));
}

GST_END_TEST;

/* Inverts each bit of a packet in turn. A packet with such an error must not be
 * merged with others. It is passed to the kernel by itself, and the kernel
 * drops it. */
GST_START_TEST (damaged_packets_are_not_merged)
{
  const IpPacket *packet = versions[__i__];
  gsize size = ip_packet_size (packet), bit;
  guint8 data[MAX_SIZE];
  TunMerge merge, other;
  guint refused = 0;

  fail_unless (begin (&merge, packet));
  ip_packet_write (packet, data);
  for (bit = 0; bit < 8 * size; bit++) {
    data[bit / 8] ^= 1 << bit % 8;
    fail_if (tun_merge_add (&merge, data, size));
    refused += !tun_merge_begin (&other, data, size);
    data[bit / 8] ^= 1 << bit % 8;
  }
  /* IPv6 has three fields that no checksum covers: the traffic class (8 bits),
   * the flow label (20 bits) and the hop limit (8 bits). Errors in these 36
   * bits cannot be detected. */
  fail_unless_equals_int (refused, 8 * size - (packet->version == 6 ? 36 : 0));
  fail_unless (tun_merge_add (&merge, data, size));
}

GST_END_TEST;

GST_START_TEST (packets_without_checksum_are_not_merged)
{
  const IpPacket *packet = versions[__i__];
  gsize size = ip_packet_size (packet);
  guint8 data[MAX_SIZE];
  TunMerge merge;

  ip_packet_write (packet, data);
  memset (data + ip_packet_header_size (packet) - 2, 0, 2);
  fail_if (tun_merge_begin (&merge, data, size));
}

GST_END_TEST;

GST_START_TEST (lengths_have_to_match)
{
  const IpPacket *packet = versions[__i__];
  gsize full = ip_packet_size (packet), size;
  guint8 data[MAX_SIZE] = { 0 };
  TunMerge merge, other;

  fail_unless (begin (&merge, packet));
  ip_packet_write (packet, data);
  for (size = 0; size <= full + 2; size++) {
    if (size == full)
      continue;
    fail_if (tun_merge_begin (&other, data, size));
    fail_if (tun_merge_add (&merge, data, size));
  }
}

GST_END_TEST;

GST_START_TEST (packets_without_payload_are_not_merged)
{
  IpPacket packet = *versions[__i__];
  TunMerge merge;

  packet.payload = 0;
  fail_if (begin (&merge, &packet));
  fail_unless (begin (&merge, versions[__i__]));
  fail_if (add (&merge, &packet));
}

GST_END_TEST;

static Suite *
tunmerge_suite (void)
{
  Suite *suite = suite_create ("tunmerge");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, packets_of_a_stream_are_merged, 0, 2);
  tcase_add_loop_test (tc, last_packet_may_be_shorter, 0, 2);
  tcase_add_loop_test (tc, merged_packet_fits_the_length_of_ip, 0,
      2 * G_N_ELEMENTS (limits));
  tcase_add_loop_test (tc, other_streams_are_not_merged, 0, 2);
  tcase_add_test (tc, identification_has_to_count_up);
  tcase_add_loop_test (tc, fragments_are_not_merged, 0, 3);
  tcase_add_loop_test (tc, damaged_packets_are_not_merged, 0, 2);
  tcase_add_loop_test (tc, packets_without_checksum_are_not_merged, 0, 2);
  tcase_add_loop_test (tc, lengths_have_to_match, 0, 2);
  tcase_add_loop_test (tc, packets_without_payload_are_not_merged, 0, 2);
  return suite;
}

GST_CHECK_MAIN (tunmerge);
