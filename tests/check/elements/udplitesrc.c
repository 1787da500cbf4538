/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of udplitesrc over real sockets on loopback. The element opens its
 * socket in the change to READY. Packets that are sent in READY wait in the
 * socket, and the element reads them as one batch when it starts to play. If
 * the system does not support or permit the type of socket that a test needs,
 * the test reports that it is skipped.
 */

#define _GNU_SOURCE             /* unshare */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/net/gstnetaddressmeta.h>

#include "gstcoveragemeta.h"
#include "tundevices.h"
#include "udplitesockets.h"

#define LARGEST_PACKET 60000
/* Number of packets that are sent before the element reads any of them. The
 * receive buffer of each tested socket has room for so many packets. */
#define IN_FLIGHT 40

/* --- the element ---------------------------------------------------------- */

/* The element udplitesrc, and a socket that sends packets to it */
typedef struct
{
  GstHarness *harness;
  GstElement *element;          /* in the harness */
  GstBus *bus;
  UdpliteBackend backend;
  gboolean ipv6;
  UdpliteSocket *sender;
  gint port;                    /* of the element */
  gint lists;                   /* that the element pushed */
} Fixture;

static GstPadProbeReturn
on_list (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  g_atomic_int_inc (&((Fixture *) data)->lists);
  return GST_PAD_PROBE_OK;
}

static void
fixture_init_element (Fixture * fixture)
{
  GstPad *pad;

  memset (fixture, 0, sizeof (*fixture));
  fixture->element = gst_element_factory_make ("udplitesrc", NULL);
  fail_unless (fixture->element != NULL);
  fixture->harness =
      gst_harness_new_with_element (fixture->element, NULL, "src");
  gst_object_unref (fixture->element);
  fixture->bus = gst_bus_new ();
  gst_element_set_bus (fixture->element, fixture->bus);
  pad = gst_element_get_static_pad (fixture->element, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER_LIST, on_list, fixture,
      NULL);
  gst_object_unref (pad);
}

/* Prepares a test of udplitesrc with one backend (a way to send and receive
 * UDP-Lite) over IPv4 or IPv6. The index of the backend is `i` / 2. The
 * remainder `i` % 2 is 0 for IPv4 and 1 for IPv6. Returns FALSE if `test` is
 * skipped. */
static gboolean
fixture_init (Fixture * fixture, const gchar * test, gint i)
{
  UdpliteSocket *sender = udplite_test_open (test, udplite_test_backends[i / 2],
      i % 2);

  if (!sender)
    return FALSE;
  fixture_init_element (fixture);
  fixture->backend = udplite_test_backends[i / 2];
  fixture->ipv6 = i % 2;
  fixture->sender = sender;
  g_object_set (fixture->element, "address",
      fixture->ipv6 ? "::1" : "127.0.0.1", "port", 0, "backend",
      fixture->backend, NULL);
  return TRUE;
}

static void
fixture_ready (Fixture * fixture)
{
  fail_unless_equals_int (gst_element_set_state (fixture->element,
          GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  g_object_get (fixture->element, "port", &fixture->port, NULL);
  fail_unless (fixture->port > 0);
}

static void
fixture_clear (Fixture * fixture)
{
  gst_element_set_state (fixture->element, GST_STATE_NULL);
  gst_element_set_bus (fixture->element, NULL);
  gst_object_unref (fixture->bus);
  gst_harness_teardown (fixture->harness);
  g_clear_pointer (&fixture->sender, udplite_socket_free);
}

/* Returns byte `k` of packet `n`. The bytes of different packets differ, so
 * that the test recognizes each packet. */
static guint8
byte_of (guint n, guint k)
{
  return n * 31 + k * 7 + (k >> 8);
}

static void
fixture_send (Fixture * fixture, guint n, gsize size, guint coverage)
{
  guint8 *bytes = g_malloc (size);
  guint i;

  for (i = 0; i < size; i++)
    bytes[i] = byte_of (n, i);
  udplite_test_send (fixture->sender, fixture->ipv6, fixture->port, bytes, size,
      coverage);
  g_free (bytes);
}

/* Pulls the next buffer. It must contain `size` bytes of packet `n`, from byte
 * `offset` on. Its coverage meta must contain `covered`; -1 = it must have no
 * such meta. */
static void
fixture_expect_part (Fixture * fixture, guint n, gsize offset, gsize size,
    gint covered)
{
  GstBuffer *buffer = gst_harness_pull (fixture->harness);
  GstCoverageMeta *meta;
  GstMapInfo map;
  gsize i;

  fail_unless (buffer != NULL);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless_equals_int (map.size, size);
  for (i = 0; i < size && map.data[i] == byte_of (n, offset + i); i++);
  fail_unless_equals_int (i, size);
  gst_buffer_unmap (buffer, &map);
  meta = gst_buffer_get_coverage_meta (buffer);
  fail_unless_equals_int (meta ? (gint) meta->covered : -1, covered);
  gst_buffer_unref (buffer);
}

static void
fixture_expect (Fixture * fixture, guint n, gsize size)
{
  fixture_expect_part (fixture, n, 0, size, -1);
}

static guint64
fixture_count (Fixture * fixture, const gchar * name)
{
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (fixture->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

#define FIXTURE_OR_SKIP(fixture) \
  G_STMT_START { \
    if (!fixture_init (fixture, G_STRFUNC, __i__)) \
      return; \
  } G_STMT_END

/* --- packets -------------------------------------------------------------- */

GST_START_TEST (packets_arrive_whole_and_in_order)
{
  static const guint sizes[] = { 1, 1316, 0, 20, 1492, 1493, 3, 1400 };
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  for (i = 0; i < IN_FLIGHT; i++)
    fixture_send (&fixture, i, sizes[i % G_N_ELEMENTS (sizes)], G_MAXUINT);
  gst_harness_play (fixture.harness);
  for (i = 0; i < IN_FLIGHT; i++)
    fixture_expect (&fixture, i, sizes[i % G_N_ELEMENTS (sizes)]);
  for (; i < 3 * IN_FLIGHT; i++) {
    fixture_send (&fixture, i, sizes[i % G_N_ELEMENTS (sizes)], G_MAXUINT);
    fixture_expect (&fixture, i, sizes[i % G_N_ELEMENTS (sizes)]);
  }
  fail_unless_equals_int (fixture_count (&fixture, "packets"), 3 * IN_FLIGHT);
  fail_unless_equals_int (fixture_count (&fixture, "dropped"), 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (queued_packets_are_pushed_as_buffer_lists)
{
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  for (i = 0; i < IN_FLIGHT; i++)
    fixture_send (&fixture, i, 1000, G_MAXUINT);
  gst_harness_play (fixture.harness);
  for (i = 0; i < IN_FLIGHT; i++)
    fixture_expect (&fixture, i, 1000);
  /* udplitesrc must output three buffer lists: one of 8 packets, one of 16
   * packets, and one of the remaining packets. */
  fail_unless_equals_int (g_atomic_int_get (&fixture.lists), 3);
  fail_unless_equals_int (fixture_count (&fixture, "lists"), 3);
  fail_unless_equals_int (fixture_count (&fixture, "bytes"), IN_FLIGHT * 1000);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (counted_buffers_come_singly)
{
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  g_object_set (fixture.element, "num-buffers", 5, NULL);
  fixture_ready (&fixture);
  for (i = 0; i < IN_FLIGHT; i++)
    fixture_send (&fixture, i, 1000, G_MAXUINT);
  gst_harness_play (fixture.harness);
  for (i = 0; i < 5; i++)
    fixture_expect (&fixture, i, 1000);
  while (fixture_count (&fixture, "packets") < 5);
  fail_unless_equals_int (fixture.lists, 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Sends `n` packets of `size` bytes with GSO. The kernel can then deliver
 * several of them to the receiver as one merged packet. */
static void
fixture_send_run (Fixture * fixture, guint n, gsize size)
{
  UdpliteOutput *outputs = g_new0 (UdpliteOutput, n);
  guint8 *bytes = g_malloc (n * size);
  struct sockaddr_storage address;
  socklen_t address_size =
      udplite_test_address (&address, fixture->ipv6, fixture->port);
  GError *error = NULL;
  guint i, k;

  udplite_socket_set_gso (fixture->sender, TRUE);
  for (i = 0; i < n; i++) {
    for (k = 0; k < size; k++)
      bytes[i * size + k] = byte_of (i, k);
    udplite_test_output (&outputs[i], &address, address_size, bytes + i * size,
        size, G_MAXUINT);
  }
  fail_unless_equals_int (udplite_socket_send (fixture->sender, outputs, n,
          &error), n);
  g_assert_no_error (error);
  g_free (bytes);
  g_free (outputs);
}

/* srtpdec accepts no buffer lists. */
GST_START_TEST (srtp_packets_come_singly)
{
  GstCaps *caps = gst_caps_from_string ("application/x-srtp, payload=96");
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  g_object_set (fixture.element, "caps", caps, NULL);
  gst_caps_unref (caps);
  fixture_ready (&fixture);
  for (i = 0; i < IN_FLIGHT; i++)
    fixture_send (&fixture, i, 1000, G_MAXUINT);
  gst_harness_play (fixture.harness);
  for (i = 0; i < IN_FLIGHT; i++)
    fixture_expect (&fixture, i, 1000);
  fail_unless_equals_int (fixture.lists, 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (merged_packets_leave_as_packets)
{
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  fixture_send_run (&fixture, IN_FLIGHT, 1000);
  gst_harness_play (fixture.harness);
  for (i = 0; i < IN_FLIGHT; i++)
    fixture_expect (&fixture, i, 1000);
  fail_unless_equals_int (fixture_count (&fixture, "packets"), IN_FLIGHT);
  fail_unless_equals_int (fixture_count (&fixture, "bytes"), IN_FLIGHT * 1000);
  fail_unless_equals_int (fixture_count (&fixture, "dropped"), 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (counted_buffers_of_merged_packets_come_singly)
{
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  g_object_set (fixture.element, "num-buffers", 5, NULL);
  fixture_ready (&fixture);
  fixture_send_run (&fixture, IN_FLIGHT, 1000);
  gst_harness_play (fixture.harness);
  for (i = 0; i < 5; i++)
    fixture_expect (&fixture, i, 1000);
  while (fixture_count (&fixture, "packets") < 5);
  fail_unless_equals_int (fixture_count (&fixture, "packets"), 5);
  fail_unless_equals_int (fixture.lists, 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Sends a UDP packet that contains a UDP-Lite packet, as a sender with
 * `backend=udp` does. The UDP checksum of this packet is wrong. If raw sockets
 * are not permitted, prints that `test` is skipped and returns FALSE. */
static gboolean
fixture_send_damaged (Fixture * fixture, const gchar * test)
{
  guint8 packet[8 + UDPLITE_HEADER_SIZE + 1000] = { 0 };
  struct sockaddr_in address = {.sin_family = AF_INET };
  gint fd = socket (AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_UDP);

  if (fd < 0) {
    say_skipped (test, "%s", g_strerror (errno));
    return FALSE;
  }
  udplite_test_write (packet + 8, sizeof (packet) - 8, UDPLITE_BACKEND_UDP,
      FALSE, fixture->port, 0);
  GST_WRITE_UINT16_BE (packet, 40000);
  GST_WRITE_UINT16_BE (packet + 2, fixture->port);
  GST_WRITE_UINT16_BE (packet + 4, sizeof (packet));
  GST_WRITE_UINT16_BE (packet + 6, 1);
  address.sin_addr.s_addr = g_htonl (INADDR_LOOPBACK);
  fail_unless_equals_int (sendto (fd, packet, sizeof (packet), 0,
          (struct sockaddr *) &address, sizeof (address)), sizeof (packet));
  close (fd);
  return TRUE;
}

/* A packet with a wrong UDP checksum is sent to the element. The kernel
 * discards it before the element can check it. The element must therefore count
 * it as dropped, and not as a packet with a bad checksum. */
GST_START_TEST (packet_with_a_wrong_udp_checksum_is_counted_as_dropped)
{
  const gchar *test = "packet_with_a_wrong_udp_checksum_is_counted_as_dropped";
  Fixture fixture;

  fail_unless (fixture_init (&fixture, test, 2 * 2));
  fail_unless_equals_int (fixture.backend, UDPLITE_BACKEND_UDP);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  if (fixture_send_damaged (&fixture, test)) {
    fixture_send (&fixture, 1, 1000, G_MAXUINT);
    fixture_expect (&fixture, 1, 1000);
    fail_unless_equals_int (fixture_count (&fixture, "packets"), 1);
    fail_unless_equals_int (fixture_count (&fixture, "dropped"), 1);
    fail_unless_equals_int (fixture_count (&fixture, "bad-checksum"), 0);
  }
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (large_packets_are_not_lost)
{
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  fixture_send (&fixture, 0, 100, G_MAXUINT);
  fixture_expect (&fixture, 0, 100);
  fixture_send (&fixture, 1, LARGEST_PACKET, G_MAXUINT);
  fixture_send (&fixture, 2, 10, G_MAXUINT);
  fixture_expect (&fixture, 1, LARGEST_PACKET);
  fixture_expect (&fixture, 2, 10);
  fail_unless_equals_int (fixture_count (&fixture, "truncated"), 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (the_sender_is_told)
{
  GstNetAddressMeta *meta;
  GstBuffer *buffer;
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  fixture_send (&fixture, 0, 100, G_MAXUINT);
  buffer = gst_harness_pull (fixture.harness);
  meta = gst_buffer_get_net_address_meta (buffer);
  fail_unless (meta && G_IS_INET_SOCKET_ADDRESS (meta->addr));
  fail_unless_equals_int (g_inet_socket_address_get_port
      (G_INET_SOCKET_ADDRESS (meta->addr)),
      udplite_socket_get_port (fixture.sender));
  gst_buffer_unref (buffer);

  g_object_set (fixture.element, "retrieve-sender-address", FALSE, NULL);
  fixture_send (&fixture, 1, 100, G_MAXUINT);
  buffer = gst_harness_pull (fixture.harness);
  fail_if (gst_buffer_get_net_address_meta (buffer));
  gst_buffer_unref (buffer);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- coverage ------------------------------------------------------------- */

GST_START_TEST (partial_checksum_coverage_is_marked)
{
  Fixture fixture;
  gboolean known;

  FIXTURE_OR_SKIP (&fixture);
  known = fixture.backend != UDPLITE_BACKEND_KERNEL;
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  fixture_send (&fixture, 0, 100, 12);
  fixture_expect_part (&fixture, 0, 0, 100, known ? 12 : -1);
  fixture_send (&fixture, 1, 100, 0);
  fixture_expect_part (&fixture, 1, 0, 100, known ? 0 : -1);
  fixture_send (&fixture, 2, 100, 100);
  fixture_expect (&fixture, 2, 100);
  fixture_send (&fixture, 3, 100, G_MAXUINT);
  fixture_expect (&fixture, 3, 100);
  fail_unless_equals_int (fixture_count (&fixture, "partly-covered"),
      known ? 2 : 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (skipped_bytes_are_not_in_the_mark)
{
  Fixture fixture;
  gboolean known;

  FIXTURE_OR_SKIP (&fixture);
  known = fixture.backend != UDPLITE_BACKEND_KERNEL;
  g_object_set (fixture.element, "skip-first-bytes", 5, NULL);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  fixture_send (&fixture, 0, 4, G_MAXUINT);     /* dropped */
  fixture_send (&fixture, 1, 5, G_MAXUINT);
  fixture_send (&fixture, 2, 100, 12);
  fixture_send (&fixture, 3, 100, 3);
  fixture_send (&fixture, 4, 100, G_MAXUINT);
  fixture_expect_part (&fixture, 1, 5, 0, -1);
  fixture_expect_part (&fixture, 2, 5, 95, known ? 7 : -1);
  fixture_expect_part (&fixture, 3, 5, 95, known ? 0 : -1);
  fixture_expect_part (&fixture, 4, 5, 95, -1);
  fail_unless_equals_int (fixture_count (&fixture, "too-short-to-skip"), 1);
  fixture_clear (&fixture);
}

GST_END_TEST;

static const struct
{
  gint minimum;
  /* The test sends three packets. Their checksums cover 8 bytes, 20 bytes, and
   * all bytes. These numbers include the header of 8 bytes. The array says for
   * each of the packets whether it must arrive if min-coverage is `minimum`. */
  gboolean comes[3];
} minima[] = {
  {-1, {TRUE, TRUE, TRUE}},
  {0, {FALSE, FALSE, TRUE}},
  {8, {TRUE, TRUE, TRUE}},
  {20, {FALSE, TRUE, TRUE}},
  {21, {FALSE, FALSE, TRUE}},
  {65535, {FALSE, FALSE, TRUE}},
};

GST_START_TEST (min_coverage_is_demanded)
{
  static const guint coverages[] = { 0, 12, G_MAXUINT };
  guint i, k, refused;
  Fixture fixture;

  for (i = 0; i < G_N_ELEMENTS (minima); i++) {
    FIXTURE_OR_SKIP (&fixture);
    g_object_set (fixture.element, "min-coverage", minima[i].minimum, NULL);
    fixture_ready (&fixture);
    gst_harness_play (fixture.harness);
    for (k = 0; k < 3; k++)
      fixture_send (&fixture, k, 100, coverages[k]);
    for (k = refused = 0; k < 3; k++) {
      refused += !minima[i].comes[k];
      if (minima[i].comes[k])
        fixture_expect_part (&fixture, k, 0, 100, coverages[k] == G_MAXUINT
            || fixture.backend == UDPLITE_BACKEND_KERNEL ? -1 : coverages[k]);
    }
    fail_unless_equals_int (fixture_count (&fixture,
            fixture.backend == UDPLITE_BACKEND_KERNEL ? "dropped" :
            "below-minimum"), refused);
    fixture_clear (&fixture);
  }
}

GST_END_TEST;

/* --- errors --------------------------------------------------------------- */

GST_START_TEST (refused_packets_are_counted_and_nothing_more)
{
  guint8 good[40], bad[40];
  gboolean counts;
  gint injector;
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  injector =
      udplite_test_injector_open (G_STRFUNC, fixture.backend, fixture.ipv6);
  if (injector < 0) {
    fixture_clear (&fixture);
    return;
  }
  counts = fixture.backend != UDPLITE_BACKEND_KERNEL;
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  udplite_test_write (good, sizeof (good), fixture.backend, fixture.ipv6,
      fixture.port, 20);

  memcpy (bad, good, sizeof (bad));
  bad[10] ^= 1;                 /* covered */
  udplite_test_inject (injector, fixture.backend, fixture.ipv6, fixture.port,
      bad, sizeof (bad));
  memcpy (bad, good, sizeof (bad));
  bad[5] = 7;                   /* coverage */
  udplite_test_inject (injector, fixture.backend, fixture.ipv6, fixture.port,
      bad, sizeof (bad));
  bad[5] = sizeof (bad) + 1;
  udplite_test_inject (injector, fixture.backend, fixture.ipv6, fixture.port,
      bad, sizeof (bad));
  memcpy (bad, good, sizeof (bad));
  bad[6] = bad[7] = 0;          /* checksum */
  udplite_test_inject (injector, fixture.backend, fixture.ipv6, fixture.port,
      bad, sizeof (bad));

  fixture_send (&fixture, 0, 100, G_MAXUINT);
  fixture_expect (&fixture, 0, 100);
  fail_unless_equals_int (fixture_count (&fixture, "packets"), 1);
  fail_unless_equals_int (fixture_count (&fixture, "bad-checksum"), counts);
  fail_unless_equals_int (fixture_count (&fixture, "coverage-too-small"),
      counts);
  fail_unless_equals_int (fixture_count (&fixture, "coverage-too-large"),
      counts);
  fail_unless_equals_int (fixture_count (&fixture, "no-checksum"), counts);
  fail_unless (gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_ERROR) == NULL);
  close (injector);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (damage_outside_the_coverage_is_delivered)
{
  guint8 packet[40];
  GstBuffer *buffer;
  gint injector;
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  injector =
      udplite_test_injector_open (G_STRFUNC, fixture.backend, fixture.ipv6);
  if (injector >= 0) {
    fixture_ready (&fixture);
    gst_harness_play (fixture.harness);
    udplite_test_write (packet, sizeof (packet), fixture.backend, fixture.ipv6,
        fixture.port, 20);
    packet[20] ^= 0xff;
    udplite_test_inject (injector, fixture.backend, fixture.ipv6, fixture.port,
        packet, sizeof (packet));
    buffer = gst_harness_pull (fixture.harness);
    gst_check_buffer_data (buffer, packet + UDPLITE_HEADER_SIZE,
        sizeof (packet) - UDPLITE_HEADER_SIZE);
    gst_buffer_unref (buffer);
    close (injector);
  }
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (packets_dropped_by_the_kernel_are_counted)
{
  const guint sent = 500;
  guint64 counted;
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  g_object_set (fixture.element, "buffer-size", 20000, NULL);
  fixture_ready (&fixture);
  for (i = 0; i < sent; i++)
    fixture_send (&fixture, i, 1400, G_MAXUINT);
  gst_harness_play (fixture.harness);
  gst_harness_set_drop_buffers (fixture.harness, TRUE);
  while (fixture_count (&fixture, "packets") + fixture_count (&fixture,
          "dropped") < sent)
    g_usleep (1000);
  counted =
      fixture_count (&fixture, "packets") + fixture_count (&fixture, "dropped");
  /* A raw socket also receives packets that other tests send at the same time.
   * If its buffer is full, the kernel counts these packets as dropped, too. The
   * sum of received and dropped packets may therefore exceed the number of
   * packets that this test has sent. */
  if (fixture.backend == UDPLITE_BACKEND_RAW)
    fail_unless (counted >= sent);
  else
    fail_unless_equals_uint64 (counted, sent);
  fail_unless (fixture_count (&fixture, "dropped") > 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

static void
expect_failure (Fixture * fixture)
{
  GstMessage *message;

  fail_unless_equals_int (gst_element_set_state (fixture->element,
          GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (fixture->bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);
}

GST_START_TEST (a_port_in_use_is_an_error)
{
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  /* The test is left out for a raw socket. A kernel without UDP-Lite does not
   * reserve the port of a raw socket, so a second socket can use the same port.
   */
  if (fixture.backend != UDPLITE_BACKEND_RAW) {
    g_object_set (fixture.element, "reuse", FALSE, "port",
        udplite_socket_get_port (fixture.sender), NULL);
    expect_failure (&fixture);
    /* The error does not persist. */
    g_object_set (fixture.element, "port", 0, NULL);
    fixture_ready (&fixture);
  }
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (an_address_of_nobody_is_an_error)
{
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  g_object_set (fixture.element, "address", fixture.ipv6 ? "2001:db8::77" :
      "192.0.2.77", NULL);
  expect_failure (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- allowed senders ------------------------------------------------------ */

/* First, many packets arrive from a sender that is not allowed. Then the
 * element is stopped, the sender is allowed, and the element is started again.
 * The next packet must arrive, although many packets were refused before. */
GST_START_TEST (only_allowed_senders_are_heard)
{
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  g_object_set (fixture.element, "allowed-senders", "192.0.2.1,2001:db8::1",
      NULL);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  for (i = 0; i < IN_FLIGHT; i++)
    fixture_send (&fixture, i, 100, G_MAXUINT);
  while (fixture_count (&fixture, "not-allowed") < IN_FLIGHT)
    g_usleep (1000);
  fail_unless_equals_int (fixture_count (&fixture, "packets"), 0);
  gst_element_set_state (fixture.element, GST_STATE_READY);
  g_object_set (fixture.element, "allowed-senders", "127.0.0.0/8,::1", NULL);
  fail_unless (gst_element_set_state (fixture.element, GST_STATE_PLAYING)
      != GST_STATE_CHANGE_FAILURE);
  fixture_send (&fixture, i, 100, G_MAXUINT);
  fixture_expect (&fixture, i, 100);
  fail_unless_equals_int (fixture_count (&fixture, "not-allowed"), 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- waiting and its end -------------------------------------------------- */

GST_START_TEST (a_flush_ends_the_wait)
{
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  fixture_send (&fixture, 0, 100, G_MAXUINT);
  fixture_expect (&fixture, 0, 100);
  fail_unless (gst_element_send_event (fixture.element,
          gst_event_new_flush_start ()));
  fail_unless (gst_element_send_event (fixture.element,
          gst_event_new_flush_stop (TRUE)));
  fixture_send (&fixture, 1, 100, G_MAXUINT);
  fixture_expect (&fixture, 1, 100);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (a_pause_ends_the_wait)
{
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  fixture_send (&fixture, 0, 100, G_MAXUINT);
  fixture_expect (&fixture, 0, 100);
  gst_element_set_state (fixture.element, GST_STATE_PAUSED);
  fixture_send (&fixture, 1, 100, G_MAXUINT);
  gst_element_set_state (fixture.element, GST_STATE_PLAYING);
  fixture_expect (&fixture, 1, 100);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* In the change to PAUSED, GstBaseSrc may call the method unlock of the source.
 * If the change to PLAYING follows at once, GstBaseSrc 1.26 or later may then
 * stop the source for good. udplitesrc must avoid this: after each of many
 * short pauses, it must still output every packet. */
GST_START_TEST (many_short_pauses_end_nothing)
{
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  for (i = 0; i < 50; i++) {
    fixture_send (&fixture, i, 100, G_MAXUINT);
    fixture_expect (&fixture, i, 100);
    gst_element_set_state (fixture.element, GST_STATE_PAUSED);
    gst_element_set_state (fixture.element, GST_STATE_PLAYING);
  }
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (an_eos_ends_the_wait)
{
  Fixture fixture;
  GstEvent *event;
  gboolean ended = FALSE;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  fixture_send (&fixture, 0, 100, G_MAXUINT);
  fixture_expect (&fixture, 0, 100);
  fail_unless (gst_element_send_event (fixture.element, gst_event_new_eos ()));
  while (!ended && (event = gst_harness_pull_event (fixture.harness))) {
    ended = GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
  }
  fail_unless (ended);
  fixture_clear (&fixture);
}

GST_END_TEST;

typedef struct
{
  Fixture *fixture;
  gint stop;
} Flood;

static gpointer
flood (gpointer data)
{
  Flood *self = data;

  while (!g_atomic_int_get (&self->stop))
    fixture_send (self->fixture, 0, 10, G_MAXUINT);
  return NULL;
}

static gboolean
count_message (const gchar * domain, GLogLevelFlags level,
    const gchar * message, gpointer count)
{
  g_atomic_int_inc ((gint *) count);
  return TRUE;
}

/* Stops udplitesrc many times while it receives a flood of packets. If a source
 * returns a buffer list while it is being stopped, GstBaseSrc (1.22) calls
 * unref on NULL, which logs a critical message. udplitesrc therefore checks
 * first whether it is being stopped.
 *
 * GstBaseSrc checks this once more, a moment later. If the stop happens between
 * the two checks, the message is still logged. This is rare: about once in
 * several thousand stops. Without the check in udplitesrc, the message would be
 * logged in more than one of twenty stops. */
GST_START_TEST (it_stops_in_a_flood)
{
  GRegex *regex = g_regex_new ("gst_mini_object_unref: assertion 'mini_object "
      "!= NULL' failed", 0, 0, NULL);
  gint unrefs_of_null = 0;      /* atomic */
  GstCheckLogFilter *filter;
  Flood self = { 0 };
  GThread *thread;
  Fixture fixture;
  guint i;

  filter = gst_check_add_log_filter ("GStreamer", G_LOG_LEVEL_CRITICAL, regex,
      count_message, &unrefs_of_null, NULL);
  FIXTURE_OR_SKIP (&fixture);
  gst_harness_set_drop_buffers (fixture.harness, TRUE);
  fixture_ready (&fixture);
  self.fixture = &fixture;
  thread = g_thread_new ("flood", flood, &self);
  for (i = 0; i < 20; i++) {
    gst_element_set_state (fixture.element, GST_STATE_PLAYING);
    gst_element_get_state (fixture.element, NULL, NULL, GST_CLOCK_TIME_NONE);
    while (g_atomic_int_get (&fixture.lists) < (i + 1) * 10)
      g_thread_yield ();
    gst_element_set_state (fixture.element, i % 2 ? GST_STATE_PAUSED :
        GST_STATE_READY);
  }
  g_atomic_int_set (&self.stop, TRUE);
  g_thread_join (thread);
  fixture_clear (&fixture);
  gst_check_remove_log_filter (filter);
  fail_unless (g_atomic_int_get (&unrefs_of_null) <= 1);
}

GST_END_TEST;

GST_START_TEST (a_timeout_is_told_each_time)
{
  GstMessage *message;
  const GstStructure *structure;
  guint64 timeout;
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  g_object_set (fixture.element, "timeout", 5 * GST_MSECOND, NULL);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  for (i = 0; i < 3; i++) {
    message = gst_bus_timed_pop_filtered (fixture.bus, GST_CLOCK_TIME_NONE,
        GST_MESSAGE_ELEMENT);
    structure = gst_message_get_structure (message);
    fail_unless (gst_structure_has_name (structure, "GstUdpliteSrcTimeout"));
    fail_unless (gst_structure_get_uint64 (structure, "timeout", &timeout));
    fail_unless_equals_uint64 (timeout, 5 * GST_MSECOND);
    gst_message_unref (message);
  }
  fixture_send (&fixture, 0, 100, G_MAXUINT);
  fixture_expect (&fixture, 0, 100);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- the element ---------------------------------------------------------- */

GST_START_TEST (it_announces_its_caps)
{
  GstCaps *caps = gst_caps_from_string ("application/x-rtp, payload=32");
  GstCaps *other = gst_caps_from_string ("video/mpegts");
  GstCaps *current;
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  g_object_set (fixture.element, "caps", caps, NULL);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  fixture_send (&fixture, 0, 100, G_MAXUINT);
  fixture_expect (&fixture, 0, 100);
  current = gst_pad_get_current_caps (fixture.harness->sinkpad);
  fail_unless (gst_caps_is_equal (current, caps));
  gst_caps_unref (current);

  /* The test changes the caps while the source may already be waiting for the
   * next packet. This packet may still get the old caps. The packet after it
   * must have the new caps. */
  g_object_set (fixture.element, "caps", other, NULL);
  fixture_send (&fixture, 1, 100, G_MAXUINT);
  fixture_expect (&fixture, 1, 100);
  fixture_send (&fixture, 2, 100, G_MAXUINT);
  fixture_expect (&fixture, 2, 100);
  current = gst_pad_get_current_caps (fixture.harness->sinkpad);
  fail_unless (gst_caps_is_equal (current, other));
  gst_caps_unref (current);
  gst_caps_unref (caps);
  gst_caps_unref (other);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (it_is_live_and_stamps_what_comes)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean live = FALSE;
  GstBuffer *buffer;
  Fixture fixture;
  guint i;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  for (i = 0; i < 3; i++)
    fixture_send (&fixture, i, 100, G_MAXUINT);
  gst_harness_set_time (fixture.harness, 7 * GST_SECOND);
  gst_harness_play (fixture.harness);
  fail_unless (gst_element_query (fixture.element, query));
  gst_query_parse_latency (query, &live, NULL, NULL);
  fail_unless (live);
  gst_query_unref (query);
  for (i = 0; i < 3; i++) {
    buffer = gst_harness_pull (fixture.harness);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 7 * GST_SECOND);
    fail_unless_equals_uint64 (GST_BUFFER_DTS (buffer), 7 * GST_SECOND);
    gst_buffer_unref (buffer);
  }
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (properties_set_in_ready_take_effect)
{
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  fixture_ready (&fixture);
  /* The element had replaced the port 0 by the port that it uses. The test sets
   * the port to 0 again, so that the element selects any free port once more.
   */
  g_object_set (fixture.element, "port", 0, "min-coverage", 20, NULL);
  gst_harness_play (fixture.harness);
  g_object_get (fixture.element, "port", &fixture.port, NULL);
  fixture_send (&fixture, 0, 100, 0);
  fixture_send (&fixture, 1, 100, G_MAXUINT);
  fixture_expect (&fixture, 1, 100);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (stats_say_what_backend_it_took)
{
  GstStructure *stats;
  GSocket *socket;
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  g_object_get (fixture.element, "used-socket", &socket, NULL);
  fail_unless (socket == NULL);
  fixture_ready (&fixture);
  g_object_get (fixture.element, "stats", &stats, "used-socket", &socket, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"),
      udplite_backend_get_name (fixture.backend));
  fail_unless (G_IS_SOCKET (socket));
  g_object_unref (socket);
  gst_structure_free (stats);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (auto_always_finds_one)
{
  GstStructure *stats;
  Fixture fixture;

  fixture_init_element (&fixture);
  g_object_set (fixture.element, "address", "127.0.0.1", "port", 0, NULL);
  fixture_ready (&fixture);
  g_object_get (fixture.element, "stats", &stats, NULL);
  fail_if (g_str_equal (gst_structure_get_string (stats, "backend"), "auto"));
  gst_structure_free (stats);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (stats_come_as_messages)
{
  GstMessage *message;
  Fixture fixture;

  FIXTURE_OR_SKIP (&fixture);
  g_object_set (fixture.element, "stats-update-interval", 1000, NULL);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  fail_unless (gst_harness_wait_for_clock_id_waits (fixture.harness, 1, 60));
  gst_harness_set_time (fixture.harness, GST_SECOND);
  fail_unless (gst_harness_crank_single_clock_wait (fixture.harness));
  message = gst_bus_timed_pop_filtered (fixture.bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_ELEMENT);
  fail_unless (gst_message_has_name (message,
          "application/x-udplitesrc-stats"));
  gst_message_unref (message);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- a socket of the application ------------------------------------------ */

static GSocket *
make_socket (gint protocol)
{
  GSocketAddress *address = G_SOCKET_ADDRESS (udplite_test_loopback (FALSE, 0));
  gint fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
  GSocket *socket = g_socket_new_from_fd (fd, NULL);

  fail_unless (socket && g_socket_bind (socket, address, FALSE, NULL));
  g_object_unref (address);
  return socket;
}

GST_START_TEST (a_socket_that_is_given_is_used)
{
  gboolean close_it = __i__;
  GSocket *socket;
  Fixture fixture;

  if (!udplite_test_is_possible (UDPLITE_BACKEND_KERNEL, FALSE)) {
    say_skipped (G_STRFUNC, "the kernel has no UDP-Lite");
    return;
  }
  fixture_init_element (&fixture);
  fixture.sender = udplite_test_open (G_STRFUNC, UDPLITE_BACKEND_KERNEL, FALSE);
  socket = make_socket (UDPLITE_PROTOCOL);
  g_object_set (fixture.element, "socket", socket, "close-socket", close_it,
      NULL);
  fixture_ready (&fixture);
  /* The application has given its socket to the element. When buffer-size
   * changes, the element must not close this socket. */
  g_object_set (fixture.element, "buffer-size", 100000, NULL);
  gst_harness_play (fixture.harness);
  fixture_send (&fixture, 0, 100, G_MAXUINT);
  fixture_expect (&fixture, 0, 100);
  gst_element_set_state (fixture.element, GST_STATE_NULL);
  fail_unless_equals_int (g_socket_is_closed (socket), close_it);
  fixture_clear (&fixture);
  g_object_unref (socket);
}

GST_END_TEST;

GST_START_TEST (a_socket_of_another_protocol_is_an_error)
{
  GSocket *socket = make_socket (0);
  Fixture fixture;

  fixture_init_element (&fixture);
  g_object_set (fixture.element, "socket", socket, NULL);
  expect_failure (&fixture);
  fail_if (g_socket_is_closed (socket));
  fixture_clear (&fixture);
  g_object_unref (socket);
}

GST_END_TEST;

/* --- multicast ------------------------------------------------------------ */

GST_START_TEST (it_joins_a_group)
{
  const gchar *sources = __i__ % 2 ? "+127.0.0.1" : NULL;
  GInetAddress *group = g_inet_address_new_from_string ("239.77.68.59");
  GSocketAddress *to;
  UdpliteOutput output;
  struct sockaddr_storage native;
  guint8 byte = byte_of (0, 0);
  Fixture fixture;

  if (!fixture_init (&fixture, G_STRFUNC, __i__ / 2 * 2))
    return;
  g_object_set (fixture.element, "address", "239.77.68.59", "multicast-iface",
      "lo", "multicast-source", sources, NULL);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  fail_unless (udplite_socket_set_multicast_interface (fixture.sender, 1,
          NULL));
  to = g_inet_socket_address_new (group, fixture.port);
  fail_unless (g_socket_address_to_native (to, &native, sizeof (native), NULL));
  udplite_test_output (&output, &native, sizeof (struct sockaddr_in), &byte, 1,
      G_MAXUINT);
  fail_unless_equals_int (udplite_socket_send (fixture.sender, &output, 1,
          NULL), 1);
  fixture_expect (&fixture, 0, 1);
  g_object_unref (to);
  g_object_unref (group);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The element must join a multicast group on one of two links. The zone in the
 * address selects the link: for example "%one" (RFC 4007 section 11). */
GST_START_TEST (it_joins_a_group_of_a_link)
{
  GSocketAddress *any = g_inet_socket_address_new_from_string ("::", 0), *to;
  struct sockaddr_storage native;
  UdpliteOutput output;
  guint8 byte = byte_of (0, 0);
  Fixture fixture;
  guint i;

  if (!tun_device_enter (G_STRFUNC)
      || !tun_device_add (G_STRFUNC, "one", IFF_TUN)
      || !tun_device_add (G_STRFUNC, "two", IFF_TUN)
      || !fixture_init (&fixture, G_STRFUNC, 2 * (__i__ / 2) + 1)) {
    g_object_unref (any);
    return;
  }
  g_clear_pointer (&fixture.sender, udplite_socket_free);
  fixture.sender =
      udplite_socket_new (fixture.backend, G_INET_SOCKET_ADDRESS (any), FALSE,
      NULL, NULL);
  g_object_unref (any);
  for (i = 1; i <= 2; i++) {
    to = g_inet_socket_address_new_from_string (i == 1 ? "ff02::4242%one" :
        "ff02::4242%two", 9);
    g_socket_address_to_native (to, &native, sizeof (native), NULL);
    tun_device_wait_for_address (((struct sockaddr_in6 *) &native)
        ->sin6_scope_id, (struct sockaddr *) &native,
        sizeof (struct sockaddr_in6));
    g_object_unref (to);
  }
  g_object_set (fixture.element, "address", __i__ % 2 ? "ff02::4242%one" :
      "ff02::4242%two", NULL);
  fixture_ready (&fixture);
  gst_harness_play (fixture.harness);
  to = g_inet_socket_address_new_from_string (__i__ % 2 ? "ff02::4242%one" :
      "ff02::4242%two", fixture.port);
  g_socket_address_to_native (to, &native, sizeof (native), NULL);
  udplite_test_output (&output, &native, sizeof (struct sockaddr_in6), &byte, 1,
      G_MAXUINT);
  fail_unless_equals_int (udplite_socket_send (fixture.sender, &output, 1,
          NULL), 1);
  fixture_expect (&fixture, 0, 1);
  g_object_unref (to);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (an_interface_of_nobody_is_an_error)
{
  Fixture fixture;

  fixture_init_element (&fixture);
  g_object_set (fixture.element, "address", "239.77.68.59", "port", 0,
      "multicast-iface", "no-such-iface", NULL);
  expect_failure (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- URIs ----------------------------------------------------------------- */

static const struct
{
  const gchar *uri, *address;
  gint port;
  const gchar *read;
} uris[] = {
  {"udplite://192.0.2.1:1234", "192.0.2.1", 1234, "udplite://192.0.2.1:1234"},
  {"udplite://192.0.2.1", "192.0.2.1", 5004, "udplite://192.0.2.1:5004"},
  {"udplite://:1234", "0.0.0.0", 1234, "udplite://0.0.0.0:1234"},
  {"udplite://@239.0.0.1:1", "239.0.0.1", 1, "udplite://239.0.0.1:1"},
  {"udplite://[2001:db8::1]:80", "2001:db8::1", 80,
      "udplite://[2001:db8::1]:80"},
  {"udplite://[fe80::1%25eth0]:80", "fe80::1%eth0", 80,
      "udplite://[fe80::1%25eth0]:80"},
  {"udplite://name:9?port=10", "name", 10, "udplite://name:10"},
};

GST_START_TEST (a_uri_is_address_and_port)
{
  GstElement *element = gst_element_make_from_uri (GST_URI_SRC,
      uris[__i__].uri, NULL, NULL);
  gchar *address, *uri;
  gint port;

  fail_unless (element != NULL);
  g_object_get (element, "address", &address, "port", &port, "uri", &uri, NULL);
  fail_unless_equals_string (address, uris[__i__].address);
  fail_unless_equals_int (port, uris[__i__].port);
  fail_unless_equals_string (uri, uris[__i__].read);
  g_free (address);
  g_free (uri);
  gst_object_unref (element);
}

GST_END_TEST;

GST_START_TEST (a_uri_has_keys)
{
  GstElement *element = gst_element_make_from_uri (GST_URI_SRC,
      "udplite://:5006?min-coverage=20&backend=udp&loop=false&timeout=7"
      "&multicast-iface=lo&media=video&encoding-name=MPV&payload=32"
      "&clock-rate=90000&auto-multicast=many&skip-first-bytes=-5", NULL, NULL);
  GstCaps *caps, *expected = gst_caps_from_string ("application/x-rtp, "
      "media=video, encoding-name=MPV, payload=32, clock-rate=90000");
  gint min_coverage, skip;
  UdpliteBackend backend;
  gboolean loop, auto_multicast;
  guint64 timeout;
  gchar *interface;

  g_object_get (element, "min-coverage", &min_coverage, "backend", &backend,
      "loop", &loop, "timeout", &timeout, "multicast-iface", &interface,
      "caps", &caps, "auto-multicast", &auto_multicast, "skip-first-bytes",
      &skip, NULL);
  fail_unless_equals_int (min_coverage, 20);
  fail_unless_equals_int (backend, UDPLITE_BACKEND_UDP);
  fail_unless_equals_int (loop, FALSE);
  fail_unless_equals_uint64 (timeout, 7);
  fail_unless_equals_string (interface, "lo");
  fail_unless (gst_caps_is_equal (caps, expected));
  fail_unless_equals_int (auto_multicast, TRUE);
  fail_unless_equals_int (skip, 0);
  gst_caps_unref (caps);
  gst_caps_unref (expected);
  g_free (interface);
  gst_object_unref (element);
}

GST_END_TEST;

GST_START_TEST (a_uri_that_is_none_is_refused)
{
  static const gchar *const bad[] = {
    "udp://127.0.0.1:5004", "nonsense", "udplite://127.0.0.1:65536",
    "udplite://127.0.0.1:abc", "udplite://127.0.0.1:5004?no-such-key=1",
    "udplite://127.0.0.1:5004?name=x",
  };
  GstElement *element = gst_element_factory_make ("udplitesrc", NULL);
  GError *error = NULL;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (bad); i++) {
    fail_if (gst_uri_handler_set_uri (GST_URI_HANDLER (element), bad[i],
            &error), "%s", bad[i]);
    g_clear_error (&error);
  }
  fail_if (g_str_equal (GST_ELEMENT_NAME (element), "x"));
  gst_object_unref (element);
}

GST_END_TEST;

GST_START_TEST (a_uri_comes_before_paused)
{
  GError *error = NULL;
  Fixture fixture;

  fixture_init_element (&fixture);
  g_object_set (fixture.element, "address", "127.0.0.1", "port", 0, NULL);
  gst_harness_play (fixture.harness);
  fail_if (gst_uri_handler_set_uri (GST_URI_HANDLER (fixture.element),
          "udplite://127.0.0.1:5004", &error));
  g_assert_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_STATE);
  g_clear_error (&error);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- comparison with udpsrc ----------------------------------------------- */

/* Returns TRUE if udpsrc has the property `name` and udplitesrc does not have
 * it. Returns FALSE if both elements have it. */
static gboolean
is_only_udp (const gchar * name)
{
  return g_str_equal (name, "socket-timestamp");
}

GST_START_TEST (it_is_as_udpsrc_in_what_they_share)
{
  GstElement *ours = gst_element_factory_make ("udplitesrc", NULL);
  GstElement *theirs = gst_element_factory_make ("udpsrc", NULL);
  GParamSpec **specs, *spec;
  guint i, n;

  if (!theirs) {
    say_skipped (G_STRFUNC, "no udpsrc here");
    gst_object_unref (ours);
    return;
  }
  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (theirs), &n);
  for (i = 0; i < n; i++) {
    const gchar *name = specs[i]->name;

    if (is_only_udp (name))
      continue;
    spec = g_object_class_find_property (G_OBJECT_GET_CLASS (ours), name);
    fail_unless (spec != NULL, "%s", name);
    fail_unless (spec->value_type == specs[i]->value_type, "%s", name);
    if (!g_str_equal (name, "uri") && !g_str_equal (name, "name"))
      fail_unless (g_param_values_cmp (spec,
              g_param_spec_get_default_value (spec),
              g_param_spec_get_default_value (specs[i])) == 0, "%s", name);
  }
  g_free (specs);
  gst_object_unref (theirs);
  gst_object_unref (ours);
}

GST_END_TEST;

static Suite *
udplitesrc_suite (void)
{
  Suite *suite = suite_create ("udplitesrc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
#define EACH(test) tcase_add_loop_test (tc, test, 0, N_BACKENDS)
  EACH (packets_arrive_whole_and_in_order);
  EACH (queued_packets_are_pushed_as_buffer_lists);
  EACH (counted_buffers_come_singly);
  EACH (srtp_packets_come_singly);
  EACH (merged_packets_leave_as_packets);
  EACH (counted_buffers_of_merged_packets_come_singly);
  tcase_add_test (tc, packet_with_a_wrong_udp_checksum_is_counted_as_dropped);
  EACH (large_packets_are_not_lost);
  EACH (the_sender_is_told);
  EACH (partial_checksum_coverage_is_marked);
  EACH (skipped_bytes_are_not_in_the_mark);
  EACH (min_coverage_is_demanded);
  EACH (refused_packets_are_counted_and_nothing_more);
  EACH (damage_outside_the_coverage_is_delivered);
  EACH (packets_dropped_by_the_kernel_are_counted);
  EACH (a_port_in_use_is_an_error);
  EACH (an_address_of_nobody_is_an_error);
  EACH (a_flush_ends_the_wait);
  EACH (a_pause_ends_the_wait);
  EACH (many_short_pauses_end_nothing);
  EACH (an_eos_ends_the_wait);
  EACH (it_stops_in_a_flood);
  EACH (a_timeout_is_told_each_time);
  EACH (it_announces_its_caps);
  EACH (it_is_live_and_stamps_what_comes);
  EACH (properties_set_in_ready_take_effect);
  EACH (stats_say_what_backend_it_took);
  EACH (stats_come_as_messages);
  EACH (it_joins_a_group);
  EACH (it_joins_a_group_of_a_link);
  EACH (only_allowed_senders_are_heard);
#undef EACH
  tcase_add_test (tc, auto_always_finds_one);
  tcase_add_loop_test (tc, a_socket_that_is_given_is_used, 0, 2);
  tcase_add_test (tc, a_socket_of_another_protocol_is_an_error);
  tcase_add_test (tc, an_interface_of_nobody_is_an_error);
  tcase_add_loop_test (tc, a_uri_is_address_and_port, 0, G_N_ELEMENTS (uris));
  tcase_add_test (tc, a_uri_has_keys);
  tcase_add_test (tc, a_uri_that_is_none_is_refused);
  tcase_add_test (tc, a_uri_comes_before_paused);
  tcase_add_test (tc, it_is_as_udpsrc_in_what_they_share);
  return suite;
}

GST_CHECK_MAIN (udplitesrc);
