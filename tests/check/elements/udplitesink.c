/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of udplitesink over real sockets on loopback. The packets are received
 * by UDP-Lite sockets of the kernel. A raw socket shows the headers of the
 * packets.
 */

#define _GNU_SOURCE             /* unshare */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gio/gio.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "gstframeinfometa.h"
#include "tundevices.h"
#include "overwritingpool.h"
#include "skipped.h"

#define UDPLITE 136             /* RFC 3828 section 5 */
#define HEADER 8
#define IP_HEADER 20
#define SIZE 100                /* payload size of a packet, in bytes */

/* --- receivers ------------------------------------------------------------ */

typedef struct
{
  gint fd;
  guint16 port;
} Receiver;

/* Opens a UDP-Lite socket that receives packets. If the system does not support
 * such a socket, prints that the test is skipped and returns FALSE. */
static gboolean
receiver_init (Receiver * self, gint family, gint type)
{
  struct sockaddr_storage address = { 0, };
  struct sockaddr_in *v4 = (struct sockaddr_in *) &address;
  struct sockaddr_in6 *v6 = (struct sockaddr_in6 *) &address;
  socklen_t size = family == AF_INET ? sizeof (*v4) : sizeof (*v6);
  const struct timeval forever = { 60, 0 };

  self->fd = socket (family, type | SOCK_CLOEXEC, UDPLITE);
  if (self->fd < 0) {
    say_skipped ("udplitesink", "no UDP-Lite socket: %s", g_strerror (errno));
    return FALSE;
  }
  setsockopt (self->fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof (forever));
  address.ss_family = family;
  if (family == AF_INET)
    v4->sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  else
    v6->sin6_addr = in6addr_loopback;
  if (type == SOCK_RAW)
    return TRUE;
  fail_unless (bind (self->fd, (struct sockaddr *) &address, size) == 0);
  fail_unless (getsockname (self->fd, (struct sockaddr *) &address, &size)
      == 0);
  self->port = ntohs (family == AF_INET ? v4->sin_port : v6->sin6_port);
  return TRUE;
}

static void
receiver_clear (Receiver * self)
{
  close (self->fd);
}

/* Receives a packet. Checks that it has `size` bytes, and that these bytes have
 * the values `fill`, `fill` + 1 and so on. */
static void
receive (Receiver * self, guint fill, gssize size)
{
  guint8 data[65536];
  gssize got = recv (self->fd, data, sizeof (data), 0);
  gssize i;

  fail_unless_equals_int (got, size);
  for (i = 0; i < size; i++)
    fail_unless_equals_int (data[i], (guint8) (fill + i));
}

static void
receive_nothing (Receiver * self)
{
  guint8 byte;

  fail_unless (recv (self->fd, &byte, 1, MSG_DONTWAIT) < 0);
  fail_unless (errno == EAGAIN || errno == EWOULDBLOCK);
}

/* Receives packets until one has the destination port `port`. Returns the value
 * of the field Checksum Coverage in its UDP-Lite header. */
static guint
receive_coverage (Receiver * raw, guint16 port)
{
  guint8 data[65536];
  gssize got;

  do {
    got = recv (raw->fd, data, sizeof (data), 0);
    fail_unless (got >= IP_HEADER + HEADER, "%s", g_strerror (errno));
  } while (GST_READ_UINT16_BE (data + IP_HEADER + 2) != port);
  return GST_READ_UINT16_BE (data + IP_HEADER + 4);
}

/* --- the sender ----------------------------------------------------------- */

static GstHarness *
sink_new (const gchar * host, guint16 port, const gchar * caps)
{
  GstHarness *harness = gst_harness_new ("udplitesink");

  gst_harness_set (harness, "udplitesink", "sync", FALSE, "async", FALSE,
      "host", host, "port", (gint) port, NULL);
  gst_harness_set_src_caps_str (harness, caps);
  return harness;
}

/* Creates a harness with a udplitesink. The arguments are names and values of
 * properties, which are set before the sink starts. */
static GstHarness *
failing_sink_new (const gchar * first_property, ...)
{
  GstElement *sink = gst_element_factory_make ("udplitesink", NULL);
  GstHarness *harness;
  va_list arguments;

  g_object_set (sink, "sync", FALSE, "async", FALSE, "auto-reconnect", FALSE,
      NULL);
  va_start (arguments, first_property);
  g_object_set_valist (G_OBJECT (sink), first_property, arguments);
  va_end (arguments);
  harness = gst_harness_new_with_element (sink, "sink", NULL);
  gst_object_unref (sink);
  gst_harness_set_src_caps_str (harness, "application/x-test");
  return harness;
}

static GstBuffer *
make_packet (guint fill, guint size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  GstMapInfo map;
  guint i;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (i = 0; i < size; i++)
    map.data[i] = fill + i;
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static void
push (GstHarness * harness, GstBuffer * buffer)
{
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
}

static void
push_list (GstHarness * harness, guint n)
{
  GstBufferList *list = gst_buffer_list_new ();
  guint i;

  for (i = 0; i < n; i++)
    gst_buffer_list_add (list, make_packet (i, SIZE));
  fail_unless_equals_int (gst_pad_push_list (harness->srcpad, list),
      GST_FLOW_OK);
}

static guint64
stat_of (GstHarness * harness, const gchar * name)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;

  gst_harness_get (harness, "udplitesink", "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

/* --- packets -------------------------------------------------------------- */

static const gint both_families[] = { AF_INET, AF_INET6 };

GST_START_TEST (packets_arrive)
{
  gint family = both_families[__i__];
  GstHarness *harness;
  Receiver receiver;
  guint i;

  if (!receiver_init (&receiver, family, SOCK_DGRAM))
    return;
  harness = sink_new (family == AF_INET ? "127.0.0.1" : "::1", receiver.port,
      "application/x-test");
  for (i = 0; i < 3; i++)
    push (harness, make_packet (i, SIZE + i));
  for (i = 0; i < 3; i++)
    receive (&receiver, i, SIZE + i);
  push_list (harness, 130);
  for (i = 0; i < 130; i++)
    receive (&receiver, i, SIZE);
  fail_unless_equals_uint64 (stat_of (harness, "packets-sent"), 133);
  fail_unless_equals_uint64 (stat_of (harness, "bytes-sent"), 133 * SIZE + 3);
  gst_harness_teardown (harness);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (packet_of_many_memories)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstHarness *harness;
  Receiver receiver;
  guint i;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM)) {
    gst_buffer_unref (buffer);
    return;
  }
  harness = sink_new ("127.0.0.1", receiver.port, "application/x-test");
  for (i = 0; i < 2 + 8 * (guint) __i__; i++)
    buffer = gst_buffer_append (buffer, make_packet (10 * i, 10));
  push (harness, buffer);
  receive (&receiver, 0, 10 * i);
  gst_harness_teardown (harness);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (pools_may_have_their_buffers_back)
{
  GstBufferPool *pool;
  GstHarness *harness;
  Receiver receiver;
  guint i;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM))
    return;
  pool = pooled_new (SIZE);
  harness = sink_new ("127.0.0.1", receiver.port, "application/x-test");
  for (i = 0; i < 20; i++) {
    GstBuffer *packet = make_packet (i, SIZE);

    pooled_push (harness, pool, packet);
    gst_buffer_unref (packet);
  }
  for (i = 0; i < 20; i++)
    receive (&receiver, i, SIZE);
  gst_harness_teardown (harness);
  pooled_free (pool);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (packet_that_is_too_large_is_dropped)
{
  GstHarness *harness;
  Receiver receiver;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM))
    return;
  harness = sink_new ("127.0.0.1", receiver.port, "application/x-test");
  push (harness, make_packet (0, 70000));
  push (harness, make_packet (1, SIZE));
  receive (&receiver, 1, SIZE);
  fail_unless_equals_uint64 (stat_of (harness, "send-errors"), 1);
  gst_harness_teardown (harness);
  receiver_clear (&receiver);
}

GST_END_TEST;

/* --- coverage ------------------------------------------------------------- */

static const struct
{
  const gchar *mode;
  guint coverage;
  const gchar *caps;
  guint mark;                   /* G_MAXUINT: none */
  guint wire_coverage;
} coverages[] = {
  {"full", 20, "application/x-test", G_MAXUINT, 0},
  {"fixed", 0, "application/x-test", G_MAXUINT, 0},
  {"fixed", 1, "application/x-test", G_MAXUINT, 8},
  {"fixed", 8, "application/x-test", G_MAXUINT, 8},
  {"fixed", 20, "application/x-test", G_MAXUINT, 20},
  {"fixed", 107, "application/x-test", G_MAXUINT, 107},
  {"fixed", 108, "application/x-test", G_MAXUINT, 0},
  {"fixed", 65535, "application/x-test", G_MAXUINT, 0},
  {"headers", 20, "application/x-test", G_MAXUINT, 0},
  {"headers", 0, "application/x-test", 30, 38},
  {"headers", 0, "application/x-rtp, media=video, payload=96, "
        "encoding-name=H263, clock-rate=90000", G_MAXUINT, 8 + 12 + 4},
  {"headers", 0, "application/x-rtp, media=video, payload=32, "
        "clock-rate=90000", 6, 8 + 12 + 6},
  {"headers", 0, "application/x-rtp, media=video, payload=96, "
        "encoding-name=X, clock-rate=90000", G_MAXUINT, 0},
  {"headers", 0, "application/x-srtp, payload=32", 6, 0},
  {"headers", 0, "application/x-dtls", 6, 0},
};

/* Returns an RTP packet with H.263 video (mode A of RFC 2190). The packet is
 * not the first one of its picture. */
static GstBuffer *
make_rtp_packet (void)
{
  static const guint8 head[] = { 0x80, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3,
    0x00, 0x00, 0x00, 0x00, 0x12, 0x34, 0x56
  };
  GstBuffer *buffer = make_packet (0, SIZE);

  gst_buffer_fill (buffer, 0, head, sizeof (head));
  return buffer;
}

GST_START_TEST (coverage_on_the_wire)
{
  Receiver receiver, raw;
  GstHarness *harness;
  GstBuffer *buffer;
  guint wire_coverage;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM))
    return;
  if (!receiver_init (&raw, AF_INET, SOCK_RAW)) {
    receiver_clear (&receiver);
    return;
  }
  harness = sink_new ("127.0.0.1", receiver.port, coverages[__i__].caps);
  gst_util_set_object_arg (G_OBJECT (harness->element), "coverage-mode",
      coverages[__i__].mode);
  g_object_set (harness->element, "checksum-coverage",
      coverages[__i__].coverage, NULL);
  buffer = make_rtp_packet ();
  if (coverages[__i__].mark != G_MAXUINT)
    gst_buffer_add_frame_info_meta (buffer, 0, 0, coverages[__i__].mark);
  push (harness, buffer);
  wire_coverage = receive_coverage (&raw, receiver.port);
  /* On the wire, the coverage of a whole packet can be written as 0 or as the
   * size of the packet (RFC 3828 section 3.1). The test treats both as 0. */
  if (wire_coverage == HEADER + SIZE)
    wire_coverage = 0;
  fail_unless_equals_int (wire_coverage, coverages[__i__].wire_coverage);
  gst_harness_teardown (harness);
  receiver_clear (&receiver);
  receiver_clear (&raw);
}

GST_END_TEST;

/* In READY, the sink must forget the caps that it had. If a packet then arrives
 * without caps, its type is unknown, so the checksum must cover the whole
 * packet. */
GST_START_TEST (caps_are_forgotten_in_ready)
{
  Receiver receiver, raw;
  GstHarness *harness;
  GstSegment segment;
  GstPad *pad;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM))
    return;
  if (!receiver_init (&raw, AF_INET, SOCK_RAW)) {
    receiver_clear (&receiver);
    return;
  }
  harness = sink_new ("127.0.0.1", receiver.port, "application/x-rtp, "
      "media=video, payload=96, encoding-name=H263, clock-rate=90000");
  push (harness, make_rtp_packet ());
  fail_unless_equals_int (receive_coverage (&raw, receiver.port), 8 + 12 + 4);
  gst_element_set_state (harness->element, GST_STATE_READY);
  gst_harness_play (harness);
  pad = gst_element_get_static_pad (harness->element, "sink");
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_pad_send_event (pad, gst_event_new_stream_start ("other")));
  fail_unless (gst_pad_send_event (pad, gst_event_new_segment (&segment)));
  fail_unless_equals_int (gst_pad_chain (pad, make_rtp_packet ()), GST_FLOW_OK);
  fail_unless_equals_int (receive_coverage (&raw, receiver.port) %
      (HEADER + SIZE), 0);
  gst_object_unref (pad);
  gst_harness_teardown (harness);
  receiver_clear (&receiver);
  receiver_clear (&raw);
}

GST_END_TEST;

/* --- receivers ------------------------------------------------------------ */

GST_START_TEST (receivers_come_and_go)
{
  Receiver one, two;
  GstHarness *harness;
  GstStructure *stats;
  guint64 sent;
  gchar *clients, *expected;

  if (!receiver_init (&one, AF_INET, SOCK_DGRAM))
    return;
  receiver_init (&two, AF_INET, SOCK_DGRAM);
  harness = sink_new ("127.0.0.1", one.port, "application/x-test");
  push (harness, make_packet (1, SIZE));
  receive (&one, 1, SIZE);

  g_signal_emit_by_name (harness->element, "add", "127.0.0.1", (gint) two.port);
  push (harness, make_packet (2, SIZE));
  receive (&one, 2, SIZE);
  receive (&two, 2, SIZE);
  g_object_get (harness->element, "clients", &clients, NULL);
  expected = g_strdup_printf ("127.0.0.1:%u,127.0.0.1:%u", one.port, two.port);
  fail_unless_equals_string (clients, expected);
  g_free (clients);
  g_free (expected);

  /* twice the same */
  g_signal_emit_by_name (harness->element, "add", "127.0.0.1", (gint) two.port);
  push (harness, make_packet (3, SIZE));
  receive (&one, 3, SIZE);
  receive (&two, 3, SIZE);
  receive (&two, 3, SIZE);
  g_object_set (harness->element, "send-duplicates", FALSE, NULL);
  push (harness, make_packet (4, SIZE));
  receive (&two, 4, SIZE);
  receive (&one, 4, SIZE);
  receive_nothing (&two);

  g_signal_emit_by_name (harness->element, "remove", "127.0.0.1",
      (gint) one.port);
  push (harness, make_packet (5, SIZE));
  receive (&two, 5, SIZE);
  receive_nothing (&one);
  g_signal_emit_by_name (harness->element, "get-stats", "127.0.0.1",
      (gint) one.port, &stats);
  fail_unless (gst_structure_get_uint64 (stats, "packets-sent", &sent));
  fail_unless_equals_uint64 (sent, 4);
  gst_structure_free (stats);

  g_signal_emit_by_name (harness->element, "clear");
  push (harness, make_packet (6, SIZE));
  receive_nothing (&two);
  gst_harness_teardown (harness);
  receiver_clear (&one);
  receiver_clear (&two);
}

GST_END_TEST;

static void
check_served (GstHarness * harness, guint64 expected_to_serve,
    guint64 expected_served)
{
  guint64 to_serve, served;

  g_object_get (harness->element, "bytes-to-serve", &to_serve, "bytes-served",
      &served, NULL);
  fail_unless_equals_uint64 (to_serve, expected_to_serve);
  fail_unless_equals_uint64 (served, expected_served);
}

/* The properties bytes-to-serve and bytes-served must have the same meaning as
 * in udpsink. bytes-to-serve counts the bytes of the input. bytes-served is a
 * sum over all receivers: the bytes that were sent to each of them. Receivers
 * that have been removed still count. */
GST_START_TEST (served_bytes_are_those_of_all)
{
  GstHarness *harness;
  Receiver receiver;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM))
    return;
  harness = failing_sink_new ("host", "127.0.0.1", "port",
      (gint) receiver.port, NULL);
  check_served (harness, 0, 0);
  push (harness, make_packet (0, SIZE));
  check_served (harness, SIZE, SIZE);
  g_signal_emit_by_name (harness->element, "add", "127.0.0.1",
      (gint) receiver.port);
  push (harness, make_packet (0, SIZE));
  check_served (harness, 2 * SIZE, 3 * SIZE);
  g_signal_emit_by_name (harness->element, "clear");
  push (harness, make_packet (0, SIZE));
  check_served (harness, 3 * SIZE, 3 * SIZE);
  gst_element_set_state (harness->element, GST_STATE_READY);
  gst_harness_play (harness);
  check_served (harness, 0, 0);
  gst_harness_teardown (harness);
  receiver_clear (&receiver);
}

GST_END_TEST;

/* The sink sends to a multicast group. The kernel loops the packets back to the
 * sockets on this host that have joined the group, so the receiver must get
 * them. */
GST_START_TEST (group_gets_it_on_each_backend)
{
  static const gchar *const backends[] = { "kernel", "raw" };
  struct ip_mreqn membership = { {0}, };
  const struct in_addr any = { INADDR_ANY };
  struct sockaddr_in address = { AF_INET };
  GstHarness *harness;
  Receiver receiver;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM))
    return;
  receiver_clear (&receiver);
  receiver.fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, UDPLITE);
  address.sin_addr = any;
  address.sin_port = htons (receiver.port);
  fail_unless (bind (receiver.fd, (struct sockaddr *) &address,
          sizeof (address)) == 0);
  membership.imr_multiaddr.s_addr = inet_addr ("239.255.42.99");
  membership.imr_ifindex = if_nametoindex ("lo");
  fail_unless (setsockopt (receiver.fd, IPPROTO_IP, IP_ADD_MEMBERSHIP,
          &membership, sizeof (membership)) == 0, "%s", g_strerror (errno));

  harness = gst_harness_new ("udplitesink");
  gst_harness_set (harness, "udplitesink", "sync", FALSE, "async", FALSE, NULL);
  gst_util_set_object_arg (G_OBJECT (harness->element), "backend",
      backends[__i__]);
  g_object_set (harness->element, "multicast-iface", "lo", NULL);
  fail_unless (gst_element_set_state (harness->element, GST_STATE_READY)
      == GST_STATE_CHANGE_SUCCESS);
  g_object_set (harness->element, "host", "239.255.42.99", "port",
      (gint) receiver.port, NULL);
  gst_harness_set_src_caps_str (harness, "application/x-test");
  gst_harness_play (harness);
  gst_harness_push (harness, make_packet (7, SIZE));
  if (__i__ == 1 && geteuid () != 0)
    say_skipped (G_STRFUNC, "no raw socket without rights");
  else
    receive (&receiver, 7, SIZE);
  gst_harness_teardown (harness);
  receiver_clear (&receiver);
}

GST_END_TEST;

/* It is static, because the sink may warn again when the test has ended. */
static gint n_warnings;

static GstBusSyncReply
read_clients (GstBus * bus, GstMessage * message, gpointer user_data)
{
  gchar *clients = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
    g_object_get (GST_MESSAGE_SRC (message), "clients", &clients, NULL);
    g_free (clients);
    g_atomic_int_inc (&n_warnings);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* An application may answer a message immediately, in the thread that posts it.
 * The element must therefore not hold a lock while it warns of an interface
 * that does not exist. With the lock held, the test would not end. */
GST_START_TEST (warning_is_posted_without_a_lock)
{
  GstElement *sink = gst_element_factory_make ("udplitesink", NULL);
  GstBus *bus = gst_bus_new ();

  g_atomic_int_set (&n_warnings, 0);
  g_object_set (sink, "host", "239.255.42.99", "port", 5004,
      "multicast-iface", "no-such-iface", NULL);
  gst_bus_set_sync_handler (bus, read_clients, NULL, NULL);
  gst_element_set_bus (sink, bus);
  gst_element_set_state (sink, GST_STATE_PAUSED);
  while (g_atomic_int_get (&n_warnings) == 0)
    g_usleep (1000);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_element_set_bus (sink, NULL);
  gst_object_unref (sink);
  gst_object_unref (bus);
}

GST_END_TEST;

#define GROUP_ON_WIRE "ff020000000000000000000000004242"

/* Returns whether a socket of this process has joined a multicast group on a
 * certain interface. The argument has the form "GROUP%INTERFACE". */
static gboolean
has_joined (const gchar * group_and_interface)
{
  gchar **both = g_strsplit (group_and_interface, "%", 2), *text, *line;
  gboolean found;

  line = g_strdup_printf ("%-15s %s", both[1], both[0]);
  fail_unless (g_file_get_contents ("/proc/thread-self/net/igmp6", &text, NULL,
          NULL));
  found = strstr (text, line) != NULL;
  g_free (text);
  g_free (line);
  g_strfreev (both);
  return found;
}

static gboolean
has_joined_one (void)
{
  return has_joined (GROUP_ON_WIRE "%one");
}

static gboolean
has_joined_two (void)
{
  return has_joined (GROUP_ON_WIRE "%two");
}

/* Creates a network namespace with the interfaces `one` and `two`. Also creates
 * a receiver that has joined the multicast group ff02::4242 on `two`. */
static gboolean
group_receiver_init (Receiver * self, const gchar * test)
{
  struct sockaddr_in6 group = {.sin6_family = AF_INET6 };
  struct ipv6_mreq membership;
  guint one, two;

  if (!tun_device_enter (test))
    return FALSE;
  one = tun_device_add (test, "one", IFF_TUN);
  two = tun_device_add (test, "two", IFF_TUN);
  if (one == 0 || two == 0 || !receiver_init (self, AF_INET6, SOCK_DGRAM))
    return FALSE;
  receiver_clear (self);

  inet_pton (AF_INET6, "ff02::4242", &group.sin6_addr);
  group.sin6_port = htons (self->port);
  tun_device_wait_for_address (one, (struct sockaddr *) &group, sizeof (group));
  tun_device_wait_for_address (two, (struct sockaddr *) &group, sizeof (group));
  group.sin6_scope_id = two;
  self->fd = socket (AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, UDPLITE);
  fail_unless (bind (self->fd, (struct sockaddr *) &group, sizeof (group))
      == 0, "%s", g_strerror (errno));
  membership.ipv6mr_multiaddr = group.sin6_addr;
  membership.ipv6mr_interface = two;
  fail_unless (setsockopt (self->fd, IPPROTO_IPV6, IPV6_JOIN_GROUP,
          &membership, sizeof (membership)) == 0);
  return TRUE;
}

static void
receiver_leave (Receiver * self)
{
  struct ipv6_mreq membership;

  inet_pton (AF_INET6, "ff02::4242", &membership.ipv6mr_multiaddr);
  membership.ipv6mr_interface = if_nametoindex ("two");
  fail_unless (setsockopt (self->fd, IPPROTO_IPV6, IPV6_LEAVE_GROUP,
          &membership, sizeof (membership)) == 0);
}

/* The sink sends to an IPv6 multicast group. The interface is selected either
 * by the zone in the address (RFC 4007) or by the property multicast-iface. In
 * both cases the packets must arrive, and the sink must join the group only on
 * this interface. */
GST_START_TEST (group_of_ipv6_gets_it_on_each_backend)
{
  static const gchar *const backends[] = { "kernel", "raw" };
  const gboolean in_address = __i__ / 2;
  GstElement *sink = gst_element_factory_make ("udplitesink", NULL);
  GstHarness *harness;
  Receiver receiver;

  if (!group_receiver_init (&receiver, G_STRFUNC)) {
    gst_object_unref (sink);
    return;
  }
  gst_util_set_object_arg (G_OBJECT (sink), "backend", backends[__i__ % 2]);
  g_object_set (sink, "sync", FALSE, "async", FALSE, "host",
      in_address ? "ff02::4242%two" : "ff02::4242", "port",
      (gint) receiver.port, NULL);
  if (!in_address)
    g_object_set (sink, "multicast-iface", "two", NULL);
  harness = gst_harness_new_with_element (sink, "sink", NULL);
  gst_harness_set_src_caps_str (harness, "application/x-test");
  push (harness, make_packet (7, SIZE));
  receive (&receiver, 7, SIZE);
  /* has_joined_two () considers all sockets of this process, and the receiver
   * is one of them. The receiver leaves the group here, so that only the socket
   * of the sink counts. */
  receiver_leave (&receiver);
  fail_unless (has_joined_two ());
  fail_if (has_joined_one ());
  g_signal_emit_by_name (sink, "clear");
  fail_if (has_joined_two ());
  gst_harness_teardown (harness);
  gst_object_unref (sink);
  receiver_clear (&receiver);
}

GST_END_TEST;

/* The sink has three receivers in the same multicast group. One of them is on
 * the first link. The other two are on the second link and have different
 * ports. The sink must join the group once on each link. It must leave the
 * group on a link when the last receiver on this link is removed. */
GST_START_TEST (group_is_joined_once_for_each_link)
{
  GstHarness *harness;
  GstElement *sink;
  Receiver receiver;

  if (!group_receiver_init (&receiver, G_STRFUNC))
    return;
  receiver_leave (&receiver);
  harness = failing_sink_new ("clients", "[ff02::4242%one]:1,"
      "[ff02::4242%two]:2,[ff02::4242%two]:3", NULL);
  sink = harness->element;
  push (harness, make_packet (0, SIZE));
  fail_unless (has_joined_one () && has_joined_two ());
  g_signal_emit_by_name (sink, "remove", "ff02::4242%two", 2);
  fail_unless (has_joined_one () && has_joined_two ());
  g_signal_emit_by_name (sink, "remove", "ff02::4242%one", 1);
  fail_if (has_joined_one ());
  fail_unless (has_joined_two ());
  g_signal_emit_by_name (sink, "remove", "ff02::4242%two", 3);
  fail_if (has_joined_two ());
  gst_harness_teardown (harness);
  receiver_clear (&receiver);
}

GST_END_TEST;

/* The application gives a socket to the sink, and the sink sends to a multicast
 * group with it. If the sink has joined the group, it must leave the group when
 * it stops. If the application had already joined the group, the socket must
 * stay in the group. */
GST_START_TEST (given_socket_leaves_the_group)
{
  GstHarness *harness;
  GstElement *sink;
  GSocket *given;
  Receiver receiver;
  guint i;

  if (!group_receiver_init (&receiver, G_STRFUNC))
    return;
  given = g_socket_new_from_fd (receiver.fd, NULL);
  if (__i__ == 0)
    receiver_leave (&receiver);
  harness = failing_sink_new ("host", "ff02::4242%two", "port",
      (gint) receiver.port, "socket-v6", given, "close-socket", FALSE, NULL);
  sink = gst_object_ref (harness->element);
  for (i = 0; i < 2; i++) {
    gst_harness_play (harness);
    push (harness, make_packet (0, SIZE));
    fail_unless (has_joined_two ());
    fail_unless (gst_element_set_state (sink, GST_STATE_READY)
        == GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (has_joined_two (), __i__ == 1);
  }
  gst_harness_teardown (harness);
  gst_object_unref (sink);
  g_object_unref (given);
}

GST_END_TEST;

/* The sink has an IPv4 receiver and an IPv6 receiver, so it needs two sockets.
 * All packets must arrive at both receivers. */
GST_START_TEST (receivers_of_both_families)
{
  Receiver v4, v6;
  GstHarness *harness;
  guint i;

  if (!receiver_init (&v4, AF_INET, SOCK_DGRAM))
    return;
  receiver_init (&v6, AF_INET6, SOCK_DGRAM);
  harness = sink_new ("127.0.0.1", v4.port, "application/x-test");
  push (harness, make_packet (0, SIZE));
  receive (&v4, 0, SIZE);
  g_signal_emit_by_name (harness->element, "add", "::1", (gint) v6.port);
  push_list (harness, 70);
  for (i = 0; i < 70; i++) {
    receive (&v4, i, SIZE);
    receive (&v6, i, SIZE);
  }
  gst_harness_teardown (harness);
  receiver_clear (&v4);
  receiver_clear (&v6);
}

GST_END_TEST;

/* The same receiver is added twice, so each packet must be sent twice. The host
 * of the receiver does not answer ARP requests. The packets therefore wait in
 * the kernel until the send buffer is full. Even then, each packet must be sent
 * either twice or not at all. */
GST_START_TEST (no_room_leaves_no_duplicate_out)
{
  struct ifreq request = { 0 };
  struct sockaddr_in *address = (struct sockaddr_in *) &request.ifr_addr;
  GstHarness *harness;
  GstStructure *stats;
  guint64 went = 0, sent;
  gint fd;

  if (!tun_device_enter (G_STRFUNC)
      || tun_device_add (G_STRFUNC, "silent", IFF_TAP) == 0)
    return;
  g_strlcpy (request.ifr_name, "silent", IFNAMSIZ);
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = inet_addr ("192.0.2.1");
  fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  fail_unless (ioctl (fd, SIOCSIFADDR, &request) == 0);
  close (fd);

  harness = failing_sink_new ("host", "192.0.2.2", "port", 9, "blocking",
      FALSE, "buffer-size", 1, NULL);
  g_signal_emit_by_name (harness->element, "add", "192.0.2.2", 9);
  push_list (harness, 20);
  g_signal_emit_by_name (harness->element, "get-stats", "192.0.2.2", 9, &stats);
  gst_structure_get_uint64 (stats, "packets-sent", &went);
  gst_structure_free (stats);
  sent = stat_of (harness, "packets-sent");
  fail_unless (sent > 0 && stat_of (harness, "dropped-full") > 0);
  fail_unless (went / 2 == sent, "%" G_GUINT64_FORMAT " went, %"
      G_GUINT64_FORMAT " counted", went, sent);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* A packet that is too large for every receiver, or for which there is no
 * receiver, cannot be sent. Such packets must be counted as dropped-unsendable,
 * and not as packets-sent. */
GST_START_TEST (packets_without_a_receiver_are_not_sent)
{
  GstHarness *harness;
  Receiver receiver;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM))
    return;
  harness = sink_new ("127.0.0.1", receiver.port, "application/x-test");
  push (harness, make_packet (0, SIZE));
  push (harness, make_packet (1, 70000));
  fail_unless_equals_uint64 (stat_of (harness, "packets-sent"), 1);
  fail_unless_equals_uint64 (stat_of (harness, "dropped-unsendable"), 1);
  g_signal_emit_by_name (harness->element, "clear");
  push_list (harness, 3);
  fail_unless_equals_uint64 (stat_of (harness, "packets-sent"), 1);
  fail_unless_equals_uint64 (stat_of (harness, "bytes-sent"), SIZE);
  fail_unless_equals_uint64 (stat_of (harness, "dropped-unsendable"), 4);
  gst_harness_teardown (harness);
  receiver_clear (&receiver);
}

GST_END_TEST;

/* The application gives a socket to the sink. The property close-socket must
 * have the same meaning as in udpsink. If it is TRUE, the sink closes the
 * socket in the change to NULL. If it is FALSE, the sink never closes the
 * socket. */
GST_START_TEST (given_socket_stays_until_null)
{
  GstHarness *harness;
  GstElement *sink;
  GSocket *given;
  Receiver receiver;
  gint fd;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM))
    return;
  fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, UDPLITE);
  given = g_socket_new_from_fd (fd, NULL);
  harness = failing_sink_new ("host", "127.0.0.1", "port",
      (gint) receiver.port, "socket", given, "close-socket", __i__ == 0, NULL);
  sink = gst_object_ref (harness->element);
  push (harness, make_packet (0, SIZE));
  receive (&receiver, 0, SIZE);
  fail_unless (gst_element_set_state (sink, GST_STATE_READY)
      == GST_STATE_CHANGE_SUCCESS);
  fail_if (g_socket_is_closed (given));
  gst_harness_play (harness);
  push (harness, make_packet (1, SIZE));
  receive (&receiver, 1, SIZE);
  gst_harness_teardown (harness);
  gst_element_set_state (sink, GST_STATE_NULL);
  fail_unless_equals_int (g_socket_is_closed (given), __i__ == 0);
  gst_object_unref (sink);
  g_object_unref (given);
  receiver_clear (&receiver);
}

GST_END_TEST;

/* The application closes the socket that it has given to the sink. From then
 * on, the sink must not write to the file descriptor, because this number may
 * soon belong to another file. */
GST_START_TEST (closed_socket_is_not_written_to)
{
  GstHarness *harness;
  GSocket *given;
  Receiver receiver;
  gint fd;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM))
    return;
  fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, UDPLITE);
  given = g_socket_new_from_fd (fd, NULL);
  harness = failing_sink_new ("host", "127.0.0.1", "port",
      (gint) receiver.port, "socket", given, NULL);
  push (harness, make_packet (0, SIZE));
  receive (&receiver, 0, SIZE);
  g_socket_close (given, NULL);
  push (harness, make_packet (1, SIZE));
  fail_unless_equals_uint64 (stat_of (harness, "dropped-unsendable"), 1);
  gst_harness_teardown (harness);
  g_object_unref (given);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (clients_are_read_as_a_list)
{
  GstElement *sink = gst_element_factory_make ("udplitesink", NULL);
  gchar *clients;

  g_object_set (sink, "clients", "192.0.2.1:7, [2001:db8::1]:8,nonsense:x",
      NULL);
  g_object_get (sink, "clients", &clients, NULL);
  fail_unless_equals_string (clients, "192.0.2.1:7,[2001:db8::1]:8");
  g_free (clients);
  gst_object_unref (sink);
}

GST_END_TEST;

GST_START_TEST (host_and_port_are_one_receiver)
{
  GstElement *sink = gst_element_factory_make ("udplitesink", NULL);
  gchar *clients, *uri;

  g_object_set (sink, "host", "192.0.2.1", NULL);
  g_object_set (sink, "port", 7, NULL);
  g_object_get (sink, "clients", &clients, "uri", &uri, NULL);
  fail_unless_equals_string (clients, "192.0.2.1:7");
  fail_unless_equals_string (uri, "udplite://192.0.2.1:7");
  g_free (clients);
  g_free (uri);
  g_object_set (sink, "uri", "udplite://[2001:db8::1]:9?ttl=3&"
      "coverage-mode=full", NULL);
  g_object_get (sink, "clients", &clients, "uri", &uri, NULL);
  fail_unless_equals_string (clients, "[2001:db8::1]:9");
  fail_unless_equals_string (uri, "udplite://[2001:db8::1]:9");
  g_free (clients);
  g_free (uri);
  gst_object_unref (sink);
}

GST_END_TEST;

static gboolean
has_both_families (const gchar * name)
{
  GResolver *resolver = g_resolver_get_default ();
  GList *addresses = g_resolver_lookup_by_name (resolver, name, NULL, NULL);
  GList *walk;
  guint families = 0;

  for (walk = addresses; walk; walk = walk->next)
    families |= g_inet_address_get_family (walk->data)
        == G_SOCKET_FAMILY_IPV6 ? 2 : 1;
  g_resolver_free_addresses (addresses);
  g_object_unref (resolver);
  return families == 3;
}

/* Resolver of this test, which knows only the name two.example.org. It returns
 * an IPv6 address, followed by an IPv4 address. Many systems return the
 * addresses of localhost in this order. */
typedef GResolver TestResolver;
typedef GResolverClass TestResolverClass;

static GType test_resolver_get_type (void);

G_DEFINE_TYPE (TestResolver, test_resolver, G_TYPE_RESOLVER);

static GList *
look_up (GResolver * resolver, const gchar * name, GCancellable * cancellable,
    GError ** error)
{
  GList *found = NULL;

  fail_unless_equals_string (name, "two.example.org");
  found = g_list_append (found, g_inet_address_new_from_string ("::1"));
  return g_list_append (found, g_inet_address_new_from_string ("127.0.0.1"));
}

static void
test_resolver_init (TestResolver * self)
{
}

static void
test_resolver_class_init (TestResolverClass * klass)
{
  klass->lookup_by_name = look_up;
}

/* udplitesrc listens on 0.0.0.0 by default. */
GST_START_TEST (ipv4_address_of_a_name_is_preferred)
{
  GResolver *before = g_resolver_get_default ();
  GResolver *resolver = g_object_new (test_resolver_get_type (), NULL);
  GstHarness *harness;
  Receiver receiver;

  if (!receiver_init (&receiver, AF_INET, SOCK_DGRAM))
    return;
  g_resolver_set_default (resolver);
  /* The host name is set before the sink starts. If the host name were set
   * later, the sink would resolve it in the background. Until the sink knew the
   * address, it would drop all packets. */
  harness = failing_sink_new ("host", "two.example.org", "port",
      (gint) receiver.port, NULL);
  push (harness, make_packet (0, SIZE));
  receive (&receiver, 0, SIZE);
  gst_harness_teardown (harness);
  receiver_clear (&receiver);
  g_resolver_set_default (before);
  g_object_unref (before);
  g_object_unref (resolver);
}

GST_END_TEST;

/* The sink must resolve the host name again at each start. Here the name has an
 * IPv4 and an IPv6 address, and bind-address selects the family. At the first
 * start, bind-address is an IPv4 address. At the second start, it is an IPv6
 * address, so the sink must send to the IPv6 address of the name. */
GST_START_TEST (name_is_looked_up_at_each_start)
{
  GstHarness *harness;

  if (!has_both_families ("localhost")) {
    say_skipped (G_STRFUNC, "localhost has no IPv4 or no IPv6 address");
    return;
  }
  harness = failing_sink_new ("host", "localhost", "bind-address", "127.0.0.1",
      NULL);
  push (harness, make_packet (0, SIZE));
  gst_element_set_state (harness->element, GST_STATE_READY);
  g_object_set (harness->element, "bind-address", "::1", NULL);
  gst_harness_play (harness);
  push (harness, make_packet (0, SIZE));
  fail_unless_equals_uint64 (stat_of (harness, "packets-sent"), 1);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* --- errors --------------------------------------------------------------- */

static void
check_error (GstHarness * harness, const gchar * words)
{
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error;

  gst_element_set_bus (harness->element, bus);
  fail_unless_equals_int (gst_harness_push (harness, make_packet (0, SIZE)),
      GST_FLOW_ERROR);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_bus (harness->element, NULL);
  gst_object_unref (bus);
}

GST_START_TEST (unknown_name_is_an_error)
{
  GstHarness *harness = failing_sink_new ("host", "name.invalid", NULL);

  check_error (harness, "name.invalid");
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (foreign_address_is_an_error)
{
  GstHarness *harness = failing_sink_new ("host", "127.0.0.1",
      "bind-address", "::1", "auto-reconnect", __i__ == 1, NULL);

  check_error (harness, "bind-address");
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (foreign_socket_is_checked)
{
  GSocket *udp = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
      G_SOCKET_PROTOCOL_UDP, NULL);
  GstHarness *harness = failing_sink_new ("host", "127.0.0.1", "socket", udp,
      NULL);

  check_error (harness, "UDP-Lite");
  gst_harness_teardown (harness);
  g_object_unref (udp);
}

GST_END_TEST;

/* If the socket that the application has given to the sink is closed, the sink
 * must post an error. This happens, for example, with close-socket=true: the
 * sink closes the socket in the change to NULL, and cannot use it at the next
 * start. */
GST_START_TEST (closed_socket_is_an_error)
{
  GSocket *given = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
      G_SOCKET_PROTOCOL_UDP, NULL);
  GstHarness *harness;

  g_socket_close (given, NULL);
  harness = failing_sink_new ("host", "127.0.0.1", "socket", given,
      "auto-reconnect", TRUE, NULL);
  check_error (harness, "closed");
  gst_harness_teardown (harness);
  g_object_unref (given);
}

GST_END_TEST;

static Suite *
udplitesink_suite (void)
{
  Suite *suite = suite_create ("udplitesink");
  TCase *tcase = tcase_create ("udplitesink");

  tcase_add_loop_test (tcase, packets_arrive, 0, G_N_ELEMENTS (both_families));
  tcase_add_loop_test (tcase, packet_of_many_memories, 0, 3);
  tcase_add_test (tcase, pools_may_have_their_buffers_back);
  tcase_add_test (tcase, packet_that_is_too_large_is_dropped);
  tcase_add_loop_test (tcase, coverage_on_the_wire, 0,
      G_N_ELEMENTS (coverages));
  tcase_add_test (tcase, caps_are_forgotten_in_ready);
  tcase_add_test (tcase, receivers_come_and_go);
  tcase_add_test (tcase, served_bytes_are_those_of_all);
  tcase_add_loop_test (tcase, group_gets_it_on_each_backend, 0, 2);
  tcase_add_test (tcase, warning_is_posted_without_a_lock);
  tcase_add_loop_test (tcase, group_of_ipv6_gets_it_on_each_backend, 0, 4);
  tcase_add_test (tcase, group_is_joined_once_for_each_link);
  tcase_add_loop_test (tcase, given_socket_leaves_the_group, 0, 2);
  tcase_add_test (tcase, receivers_of_both_families);
  tcase_add_test (tcase, no_room_leaves_no_duplicate_out);
  tcase_add_test (tcase, packets_without_a_receiver_are_not_sent);
  tcase_add_loop_test (tcase, given_socket_stays_until_null, 0, 2);
  tcase_add_test (tcase, closed_socket_is_not_written_to);
  tcase_add_test (tcase, clients_are_read_as_a_list);
  tcase_add_test (tcase, host_and_port_are_one_receiver);
  tcase_add_test (tcase, ipv4_address_of_a_name_is_preferred);
  tcase_add_test (tcase, name_is_looked_up_at_each_start);
  tcase_add_test (tcase, unknown_name_is_an_error);
  tcase_add_loop_test (tcase, foreign_address_is_an_error, 0, 2);
  tcase_add_test (tcase, foreign_socket_is_checked);
  tcase_add_test (tcase, closed_socket_is_an_error);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (udplitesink);
