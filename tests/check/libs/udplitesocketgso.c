/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks how the udp backend uses GSO and GRO: which packets are sent as one
 * message, and that only these packets have a UDP checksum. The test replaces
 * the functions of the C library that send messages. The replacements record
 * the messages, and fail if the test has asked for a failure.
 */

#define _GNU_SOURCE             /* sendmmsg */

#include "udplitesockets.h"

#include <sys/syscall.h>

#include "gso.h"

#define SIZE 300
#define MAX_PACKETS 64
#define FULL G_MAXUINT          /* coverage of a packet covered completely */
#define PART 12

typedef struct
{
  guint n_packets;              /* in the message */
  gboolean has_checksum;
} Message;

static Message messages[MAX_PACKETS];
static guint n_messages;
/* The simulated errno of each attempt to send several packets as one message
 * (GSO); 0 means that the kernel really sends the message. */
static gint gso_errno;
/* Number of messages for which the simulated socket still has room. When it is
 * 0, each attempt to send a message fails with the errno `full_errno`. */
static gint room = G_MAXINT, full_errno;

/* --- the functions that send messages ------------------------------------- */

static guint
count_packets (const struct msghdr *message)
{
  struct msghdr *header = (struct msghdr *) message;
  struct cmsghdr *control;
  guint16 segment;
  gsize i, size = 0;

  for (control = CMSG_FIRSTHDR (header); control;
      control = CMSG_NXTHDR (header, control)) {
    if (control->cmsg_level != IPPROTO_UDP || control->cmsg_type != UDP_SEGMENT)
      continue;
    memcpy (&segment, CMSG_DATA (control), sizeof (segment));
    for (i = 0; i < message->msg_iovlen; i++)
      size += message->msg_iov[i].iov_len;
    return (size + segment - 1) / segment;
  }
  return 1;
}

static gboolean
has_udp_checksum (gint fd)
{
  gint family, no_checksum = -1;
  socklen_t size = sizeof (family);

  getsockopt (fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  if (family == AF_INET6)
    getsockopt (fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &no_checksum, &size);
  else
    getsockopt (fd, SOL_SOCKET, SO_NO_CHECK, &no_checksum, &size);
  fail_unless (no_checksum >= 0);
  return !no_checksum;
}

/* This function replaces sendmsg of the C library. It records the messages. It
 * simulates the failures that the test requests with `gso_errno` and `room`. */
ssize_t
sendmsg (int fd, const struct msghdr *message, int flags)
{
  const guint n = count_packets (message);
  ssize_t result;

  if (room == 0 || (gso_errno && n > 1)) {
    errno = room == 0 ? full_errno : gso_errno;
    return -1;
  }
  result = syscall (SYS_sendmsg, fd, message, flags);
  if (result >= 0 && n_messages < MAX_PACKETS) {
    room--;
    messages[n_messages].n_packets = n;
    messages[n_messages++].has_checksum = has_udp_checksum (fd);
  }
  return result;
}

int
sendmmsg (int fd, struct mmsghdr *many, unsigned int n, int flags)
{
  guint i;

  for (i = 0; i < n; i++) {
    if (sendmsg (fd, &many[i].msg_hdr, flags) < 0)
      return i > 0 ? (int) i : -1;
  }
  return n;
}

/* --- packets -------------------------------------------------------------- */

typedef struct
{
  UdpliteFixture sockets;
  guint8 bytes[MAX_PACKETS][SIZE];
  UdpliteOutput outputs[MAX_PACKETS];
  guint n;
} Fixture;

/* Returns FALSE if `test` is skipped. */
static gboolean
fixture_open (Fixture * fixture, const gchar * test, gboolean ipv6)
{
  gint none = 0;

  fixture->n = n_messages = 0;
  gso_errno = 0;
  room = G_MAXINT;
  full_errno = EAGAIN;
  if (!udplite_fixture_open_backends (&fixture->sockets, test,
          UDPLITE_BACKEND_UDP, UDPLITE_BACKEND_UDP, ipv6))
    return FALSE;
  if (setsockopt (g_socket_get_fd (udplite_socket_get_socket
              (fixture->sockets.sender)), IPPROTO_UDP, UDP_SEGMENT, &none,
          sizeof (none)) == 0)
    return TRUE;
  say_skipped (test, "the kernel has no GSO for UDP");
  udplite_fixture_close (&fixture->sockets);
  return FALSE;
}

static void
fixture_add (Fixture * fixture, guint n, gsize size, guint coverage)
{
  struct sockaddr_storage address;
  socklen_t address_size = udplite_test_address (&address,
      fixture->sockets.ipv6, fixture->sockets.port);
  guint i;

  for (i = fixture->n; i < fixture->n + n; i++) {
    udplite_test_fill (fixture->bytes[i], size, i);
    udplite_test_output (&fixture->outputs[i], &address, address_size,
        fixture->bytes[i], size, coverage);
  }
  fixture->n += n;
}

static guint
fixture_send (Fixture * fixture, guint first)
{
  GError *error = NULL;
  guint sent = udplite_socket_send (fixture->sockets.sender,
      fixture->outputs + first, fixture->n - first, &error);

  g_assert_no_error (error);
  return sent;
}

/* Checks that all packets arrive exactly once and in order, and that each has
 * the coverage with which it was sent. */
static void
fixture_expect_all (Fixture * fixture)
{
  GPtrArray *packets = udplite_fixture_collect (&fixture->sockets);
  guint i;

  fail_unless_equals_int (packets->len, fixture->n);
  for (i = 0; i < fixture->n; i++)
    udplite_test_assert_packet (&fixture->sockets, packets->pdata[i], i,
        fixture->outputs[i].vectors[0].size, fixture->outputs[i].coverage);
  g_ptr_array_unref (packets);
  fail_unless_equals_uint64 (udplite_test_refused (fixture->sockets.receiver),
      0);
}

static void
fixture_expect_messages (const Message * expected, guint n)
{
  guint i;

  fail_unless_equals_int (n_messages, n);
  for (i = 0; i < n; i++) {
    fail_unless_equals_int (messages[i].n_packets, expected[i].n_packets);
    fail_unless_equals_int (messages[i].has_checksum, expected[i].has_checksum);
  }
}

/* Adds packets to the fixture. Most of them form runs, and each run fits into
 * one GSO message. Between the runs are packets that must be sent singly:
 * packets of another size, and packets whose checksum does not cover the whole
 * packet. */
static void
fixture_add_mixture (Fixture * fixture)
{
  fixture_add (fixture, 10, SIZE, FULL);
  fixture_add (fixture, 1, SIZE - 1, FULL);     /* ends the run */
  fixture_add (fixture, 2, SIZE, PART);
  fixture_add (fixture, 1, SIZE, FULL);
  fixture_add (fixture, 1, SIZE, PART);
  fixture_add (fixture, 1, 100, FULL);
  fixture_add (fixture, 5, SIZE, FULL);
  fixture_add (fixture, 3, 200, FULL);
  fixture_add (fixture, 1, 0, FULL);
}

/* --- sending -------------------------------------------------------------- */

GST_START_TEST (only_runs_have_a_udp_checksum)
{
  static const Message expected[] = {
    {11, TRUE}, {1, FALSE}, {1, FALSE}, {1, FALSE}, {1, FALSE}, {1, FALSE},
    {6, TRUE}, {3, TRUE}
  };
  Fixture fixture;

  if (!fixture_open (&fixture, "only_runs_have_a_udp_checksum", __i__))
    return;
  udplite_socket_set_gso (fixture.sockets.sender, TRUE);
  fixture_add_mixture (&fixture);
  /* A run consists of packets of the same size. Only its last packet may be
   * shorter, so a shorter packet ends the run: the first packet of 200 bytes
   * ends the run of packets of 300 bytes, and the empty packet ends the run of
   * packets of 200 bytes. */
  fail_unless_equals_int (fixture_send (&fixture, 0), fixture.n);
  fixture_expect_messages (expected, G_N_ELEMENTS (expected));
  fixture_expect_all (&fixture);
  fail_unless (udplite_socket_check_gso (fixture.sockets.sender, NULL));
  udplite_fixture_close (&fixture.sockets);
}

GST_END_TEST;

GST_START_TEST (without_gso_no_packet_has_a_udp_checksum)
{
  Fixture fixture;
  guint i;

  if (!fixture_open (&fixture, "without_gso_no_packet_has_a_udp_checksum",
          __i__))
    return;
  fixture_add_mixture (&fixture);
  fail_unless_equals_int (fixture_send (&fixture, 0), fixture.n);
  fail_unless_equals_int (n_messages, fixture.n);
  for (i = 0; i < n_messages; i++)
    fail_if (messages[i].has_checksum);
  fixture_expect_all (&fixture);
  udplite_fixture_close (&fixture.sockets);
}

GST_END_TEST;

/* While the first call sends, the socket has room for only `__i__` messages
 * (the number of the test run). The first call must send these messages. A
 * later call must send the packets of the other messages. */
GST_START_TEST (packets_of_unsent_messages_remain)
{
  Fixture fixture;
  guint i, sent, expected = 0;

  if (!fixture_open (&fixture, "packets_of_unsent_messages_remain", FALSE))
    return;
  udplite_socket_set_gso (fixture.sockets.sender, TRUE);
  fixture_add_mixture (&fixture);
  room = __i__;
  full_errno = __i__ % 2 ? ENOBUFS : EAGAIN;
  sent = fixture_send (&fixture, 0);
  fail_unless_equals_int (n_messages, __i__);
  for (i = 0; i < n_messages; i++)
    expected += messages[i].n_packets;
  fail_unless_equals_int (sent, expected);
  fail_unless_equals_int (fixture_send (&fixture, sent), 0);
  room = G_MAXINT;
  fail_unless_equals_int (fixture_send (&fixture, sent), fixture.n - sent);
  fixture_expect_all (&fixture);
  udplite_fixture_close (&fixture.sockets);
}

GST_END_TEST;

/* If a network device has no checksum offload, sending with GSO fails with EIO.
 * From then on, each packet must be sent as a separate message. */
GST_START_TEST (refused_runs_are_sent_one_by_one_for_good)
{
  Fixture fixture;
  GError *error = NULL;
  guint i;

  if (!fixture_open (&fixture, "refused_runs_are_sent_one_by_one_for_good",
          FALSE))
    return;
  udplite_socket_set_gso (fixture.sockets.sender, TRUE);
  fixture_add (&fixture, 20, SIZE, FULL);
  gso_errno = EIO;
  fail_unless_equals_int (fixture_send (&fixture, 0), 20);
  fail_unless_equals_int (n_messages, 20);
  fail_if (udplite_socket_check_gso (fixture.sockets.sender, &error));
  fail_unless (error != NULL);
  g_clear_error (&error);

  gso_errno = 0;
  fixture_add (&fixture, 20, SIZE, FULL);
  fail_unless_equals_int (fixture_send (&fixture, 20), 20);
  fail_unless_equals_int (n_messages, 40);
  /* These packets are sent without GSO, so they must not have a UDP checksum.
   */
  for (i = 20; i < 40; i++)
    fail_if (messages[i].has_checksum);
  fixture_expect_all (&fixture);
  fail_unless (udplite_socket_check_gso (fixture.sockets.sender, NULL));
  udplite_fixture_close (&fixture.sockets);
}

GST_END_TEST;

/* --- receiving ------------------------------------------------------------ */

/* Receives a single datagram. */
static const UdplitePacket *
receive_one (Fixture * fixture, guint8 * memory, guint * n)
{
  const UdpliteMemory memories = { memory, DATAGRAM_MERGED_SIZE };
  UdpliteSocket *receiver = fixture->sockets.receiver;
  const UdplitePacket *packets;
  GError *error = NULL;

  fail_unless (g_socket_condition_wait (udplite_socket_get_socket (receiver),
          G_IO_IN, NULL, NULL));
  packets = udplite_socket_receive (receiver, &memories, 1, n, &error);
  g_assert_no_error (error);
  return packets;
}

GST_START_TEST (merged_packets_are_split_again)
{
  guint8 *memory = g_malloc (DATAGRAM_MERGED_SIZE);
  const UdplitePacket *packets;
  guint came = 0, i, n, n_calls = 0;
  Fixture fixture;

  if (!fixture_open (&fixture, "merged_packets_are_split_again", __i__))
    goto out;
  udplite_socket_set_gso (fixture.sockets.sender, TRUE);
  fail_unless (udplite_socket_enable_gro (fixture.sockets.receiver));
  fixture_add_mixture (&fixture);
  fail_unless_equals_int (fixture_send (&fixture, 0), fixture.n);
  while (came < fixture.n) {
    packets = receive_one (&fixture, memory, &n);
    n_calls++;
    for (i = 0; i < n; i++, came++) {
      fail_unless_equals_int (packets[i].size,
          fixture.outputs[came].vectors[0].size);
      fail_unless (memcmp (packets[i].data, fixture.bytes[came],
              packets[i].size) == 0);
      fail_unless_equals_int (packets[i].covered, MIN (packets[i].size,
              fixture.outputs[came].coverage));
      fail_unless_equals_int (packets[i].path.remote_port,
          udplite_socket_get_port (fixture.sockets.sender));
    }
  }
  fail_unless_equals_int (n_calls, n_messages);
  udplite_fixture_close (&fixture.sockets);
out:
  g_free (memory);
}

GST_END_TEST;

/* The kernel has merged several packets (GRO). One of them has a wrong UDP-Lite
 * checksum, although its UDP checksum is right. Only this packet must be
 * discarded. */
GST_START_TEST (one_of_the_merged_packets_is_damaged)
{
  const guint size = UDPLITE_HEADER_SIZE + 100, n_sent = 5, damaged = 2;
  guint8 *memory = g_malloc (DATAGRAM_MERGED_SIZE), bytes[5 * 108];
  struct sockaddr_storage address;
  const UdplitePacket *packets;
  UdpliteSocketStats stats;
  gint fd, segment = size;
  socklen_t address_size;
  Fixture fixture;
  guint i, n;

  if (!fixture_open (&fixture, "one_of_the_merged_packets_is_damaged", __i__))
    goto out;
  fail_unless (udplite_socket_enable_gro (fixture.sockets.receiver));
  for (i = 0; i < n_sent; i++)
    udplite_test_write (bytes + i * size, size, UDPLITE_BACKEND_UDP, __i__,
        fixture.sockets.port, 0);
  bytes[damaged * size + 50] ^= 1;
  address_size = udplite_test_address (&address, __i__, fixture.sockets.port);
  fd = socket (__i__ ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
  fail_unless (setsockopt (fd, IPPROTO_UDP, UDP_SEGMENT, &segment,
          sizeof (segment)) == 0);
  fail_unless_equals_int (sendto (fd, bytes, sizeof (bytes), 0,
          (struct sockaddr *) &address, address_size), sizeof (bytes));
  close (fd);

  packets = receive_one (&fixture, memory, &n);
  fail_unless_equals_int (n, n_sent - 1);
  for (i = 0; i < n; i++)
    fail_unless (memcmp (packets[i].data, bytes + UDPLITE_HEADER_SIZE,
            packets[i].size) == 0);
  udplite_socket_get_stats (fixture.sockets.receiver, &stats);
  fail_unless_equals_uint64 (stats.refused[UDPLITE_BAD_CHECKSUM], 1);
  fail_unless_equals_uint64 (udplite_test_refused (fixture.sockets.receiver),
      1);
  udplite_fixture_close (&fixture.sockets);
out:
  g_free (memory);
}

GST_END_TEST;

static Suite *
udplitesocketgso_suite (void)
{
  Suite *suite = suite_create ("udplitesocketgso");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, only_runs_have_a_udp_checksum, 0, 2);
  tcase_add_loop_test (tcase, without_gso_no_packet_has_a_udp_checksum, 0, 2);
  tcase_add_loop_test (tcase, packets_of_unsent_messages_remain, 0, 8);
  tcase_add_test (tcase, refused_runs_are_sent_one_by_one_for_good);
  tcase_add_loop_test (tcase, merged_packets_are_split_again, 0, 2);
  tcase_add_loop_test (tcase, one_of_the_merged_packets_is_damaged, 0, 2);
  return suite;
}

GST_CHECK_MAIN (udplitesocketgso);
