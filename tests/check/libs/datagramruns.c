/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run is a group of packets that are sent as one message. The kernel or the
 * network device splits this message into the packets again (GSO). The tests
 * group packets of random sizes into runs. They also split received packets
 * that the kernel has merged. */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "datagram.h"

#define ROUNDS 5000
#define MAX_PACKETS 200

static Datagram packets[MAX_PACKETS];
static DatagramPart parts[DATAGRAM_MAX_PARTS];

/* Makes a packet of `size` bytes. In addition, the packet has `n_parts` parts,
 * each with 0 bytes, because their contents do not matter. A run is a group of
 * packets that are sent as one message. The parts are needed to test the limit
 * for the number of parts in a run. */
static void
make_packet (GRand * rand, Datagram * packet, gsize size, guint n_parts)
{
  datagram_init (packet, NULL, size);
  packet->parts = parts;
  packet->n_parts = n_parts;
  packet->path.address_size = 4;
  packet->path.remote_port = g_rand_int_range (rand, 0, 20) == 0 ? 2 : 1;
}

static void
make_packets (GRand * rand, guint n, gsize max_size, guint n_parts)
{
  gsize size = g_rand_int_range (rand, 0, max_size + 1);
  guint i;

  for (i = 0; i < n; i++) {
    if (g_rand_int_range (rand, 0, 8) == 0)
      size = g_rand_int_range (rand, 0, max_size + 1);
    make_packet (rand, &packets[i], size, n_parts);
  }
}

static gboolean
is_same_path (guint a, guint b)
{
  return datagram_path_equal (&packets[a].path, &packets[b].path);
}

/* Returns whether the `n` packets from `packets[first]` on may form a run. A
 * run is sent as one message. The kernel must be able to split the message into
 * exactly these packets. */
static gboolean
is_run (guint first, guint n, gsize max_segment, gboolean is_connected)
{
  const gsize segment = packets[first].size;
  gsize total = 0, vectors = 0;
  guint i;

  if (n == 1)
    return TRUE;
  if (n > DATAGRAM_MAX_SEGMENTS || segment > max_segment)
    return FALSE;
  for (i = first; i < first + n; i++) {
    if (packets[i].size == 0 || packets[i].size > segment
        || (packets[i].size < segment && i < first + n - 1)
        || (!is_connected && !is_same_path (first, i)))
      return FALSE;
    total += packets[i].size;
    vectors += packets[i].n_parts + 1;
  }
  return total <= DATAGRAM_MAX_RUN_SIZE && vectors <= DATAGRAM_MAX_RUN_PARTS;
}

/* datagram_get_run () groups packets into runs, each of which is sent as one
 * message. Each run must be valid. It must also be as long as possible: with
 * one more packet, it must be invalid. */
GST_START_TEST (runs_are_valid_and_maximal)
{
  static const gsize max_sizes[] = { 3, 1400, 9000, 65507 };
  GRand *rand = g_rand_new_with_seed (26);
  gboolean is_connected;
  gsize max_segment;
  guint round, n, first, run;

  for (round = 0; round < ROUNDS; round++) {
    n = g_rand_int_range (rand, 1, MAX_PACKETS + 1);
    make_packets (rand, n, max_sizes[g_rand_int_range (rand, 0,
                G_N_ELEMENTS (max_sizes))], g_rand_int_range (rand, 0,
            2) * DATAGRAM_MAX_PARTS);
    is_connected = g_rand_boolean (rand);
    max_segment = g_rand_boolean (rand) ? DATAGRAM_MAX_RUN_SIZE :
        g_rand_int_range (rand, 0, 1500);
    for (first = 0; first < n; first += run) {
      run = datagram_get_run (packets + first, n - first, max_segment,
          is_connected);
      fail_unless (run > 0 && first + run <= n);
      fail_unless (is_run (first, run, max_segment, is_connected));
      fail_if (first + run < n
          && is_run (first, run + 1, max_segment, is_connected));
    }
  }
  g_rand_free (rand);
}

GST_END_TEST;

GST_START_TEST (size_of_a_packet_includes_its_parts)
{
  guint i;

  for (i = 0; i < 3; i++) {
    datagram_init (&packets[i], NULL, i == 1 ? 100 : 40);
    packets[i].parts = parts;
    packets[i].n_parts = i == 1 ? 0 : 1;
  }
  parts[0].size = 60;
  fail_unless_equals_int (datagram_get_run (packets, 3, 100, TRUE), 3);
  fail_unless_equals_int (datagram_get_run (packets, 3, 99, TRUE), 1);
  parts[0].size = 59;
  fail_unless_equals_int (datagram_get_run (packets, 3, 100, TRUE), 1);
  fail_unless_equals_int (datagram_get_run (packets + 1, 2, 100, TRUE), 2);
  parts[0].size = 0;
}

GST_END_TEST;

GST_START_TEST (segments_contain_all_bytes_once)
{
  static guint8 bytes[3000];
  Datagram merged, segment;
  gsize size, segment_size;
  guint i, n;

  for (size = 0; size < sizeof (bytes); size += 1 + size / 7) {
    for (segment_size = MIN (1, size); segment_size <= size;
        segment_size += 1 + segment_size / 3) {
      gsize seen = 0;

      datagram_init (&merged, bytes, size);
      merged.segment_size = segment_size;
      merged.time = 26;
      n = datagram_count_segments (&merged);
      for (i = 0; i < n; i++) {
        datagram_get_segment (&merged, i, &segment);
        fail_unless (segment.bytes == bytes + seen);
        fail_unless (segment.size == segment_size || i == n - 1);
        fail_unless (segment.size > 0 || size == 0);
        fail_unless_equals_uint64 (segment.time, 26);
        fail_unless_equals_int (datagram_count_segments (&segment), 1);
        seen += segment.size;
      }
      fail_unless_equals_int (seen, size);
    }
  }
}

GST_END_TEST;

static Suite *
datagramruns_suite (void)
{
  Suite *suite = suite_create ("datagramruns");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, runs_are_valid_and_maximal);
  tcase_add_test (tcase, size_of_a_packet_includes_its_parts);
  tcase_add_test (tcase, segments_contain_all_bytes_once);
  return suite;
}

GST_CHECK_MAIN (datagramruns);
