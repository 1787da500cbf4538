/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks that DatagramSocket delivers the same packets in the same order with
 * and without GSO and GRO. The kernel may refuse GSO, or may send only some of
 * the messages of a call. To simulate this, the test replaces sendmsg () and
 * sendmmsg () with functions of its own. These functions also count the
 * messages.
 */

#define _GNU_SOURCE             /* sendmmsg */

#include "datagramsockets.h"

#include <errno.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/syscall.h>

#include "gso.h"
#include "skipped.h"

#define SIZE 1000
#define MAX_PACKETS DATAGRAM_BATCH

/* The test's sendmsg () can refuse GSO (generic segmentation offload). In this
 * case, sendmsg () fails with the errno `gso_errno` for each message whose
 * packets are larger than `max_segment` bytes. If `gso_errno` is 0, sendmsg ()
 * refuses no message for this reason. */
static gint gso_errno;
static gsize max_segment;
/* `room` is the number of messages that the test's sendmsg () will still send.
 * As soon as it is 0, each call fails with `full_errno`. */
static gint room = G_MAXINT, full_errno = EAGAIN;
static guint n_messages, n_merged;

static gsize
get_segment_size (const struct msghdr *message)
{
  struct msghdr *header = (struct msghdr *) message;
  struct cmsghdr *control;
  guint16 size;

  for (control = CMSG_FIRSTHDR (header); control;
      control = CMSG_NXTHDR (header, control)) {
    if (control->cmsg_level != IPPROTO_UDP || control->cmsg_type != UDP_SEGMENT)
      continue;
    memcpy (&size, CMSG_DATA (control), sizeof (size));
    return size;
  }
  return 0;
}

/* Replaces sendmsg () of the C library. The function counts the messages, and
 * can simulate a kernel that refuses them. */
ssize_t
sendmsg (int fd, const struct msghdr *message, int flags)
{
  const gsize segment = get_segment_size (message);
  ssize_t result;

  if (room == 0 || (gso_errno && segment > max_segment)) {
    errno = room == 0 ? full_errno : gso_errno;
    return -1;
  }
  result = syscall (SYS_sendmsg, fd, message, flags);
  if (result >= 0) {
    room--;
    n_messages++;
    n_merged += segment > 0;
  }
  return result;
}

int
sendmmsg (int fd, struct mmsghdr *messages, unsigned int n, int flags)
{
  guint i;

  for (i = 0; i < n; i++) {
    if (sendmsg (fd, &messages[i].msg_hdr, flags) < 0)
      return i > 0 ? (int) i : -1;
  }
  return n;
}

/* --- packets and sockets --------------------------------------------------- */

static guint8 bytes[MAX_PACKETS][SIZE];
static Datagram packets[MAX_PACKETS];

static void
set_up (void)
{
  guint i, k;

  gso_errno = max_segment = n_messages = n_merged = 0;
  room = G_MAXINT;
  full_errno = EAGAIN;
  for (i = 0; i < MAX_PACKETS; i++) {
    for (k = 0; k < SIZE; k++)
      bytes[i][k] = i + 7 * k;
    datagram_init (&packets[i], bytes[i], SIZE);
  }
}

static DatagramSocket *
open_sender (gint ipv6, guint16 port)
{
  GSocketAddress *remote =
      datagram_test_address (datagram_test_loopback (ipv6), port);
  DatagramSocketOptions options;
  GError *error = NULL;
  DatagramSocket *socket;

  datagram_socket_options_init (&options);
  options.gso = TRUE;
  socket = datagram_socket_new_connected (remote, NULL, &options, &error);
  g_assert_no_error (error);
  g_object_unref (remote);
  return socket;
}

static DatagramSocket *
open_listener (gint ipv6, gboolean gro)
{
  GSocketAddress *local =
      datagram_test_address (datagram_test_loopback (ipv6), 0);
  DatagramSocketOptions options;
  GError *error = NULL;
  DatagramSocket *socket;

  datagram_socket_options_init (&options);
  options.gso = TRUE;
  options.gro = gro;
  options.receive_buffer_size = 4 << 20;
  socket = datagram_socket_new_listener (local, &options, &error);
  g_assert_no_error (error);
  g_object_unref (local);
  return socket;
}

static gboolean
kernel_has_gso (const gchar * test)
{
  DatagramSocket *listener = open_listener (0, TRUE);
  gboolean has_gro = datagram_socket_has_gro (listener);

  datagram_socket_free (listener);
  if (!has_gro)
    say_skipped (test, "the kernel has no GRO for UDP");
  return has_gro;
}

static guint
send_packets (DatagramSocket * socket, guint first, guint n)
{
  GError *error = NULL;
  gint sent = datagram_socket_send (socket, packets + first, n, &error);

  g_assert_no_error (error);
  return sent;
}

/* Checks that the next packet that the listener receives is `packets[i]`. */
static void
expect_packet (DatagramSocket * listener, guint i)
{
  guint8 memory[2 * SIZE];
  GError *error = NULL;
  Datagram datagram;

  datagram_init (&datagram, memory, sizeof (memory));
  datagram_test_wait (listener);
  fail_unless_equals_int (datagram_socket_receive (listener, &datagram, 1,
          &error), 1);
  g_assert_no_error (error);
  fail_unless_equals_int (datagram.size, packets[i].size);
  fail_unless_equals_int (datagram.segment_size, packets[i].size);
  fail_unless (memcmp (memory, bytes[i], packets[i].size) == 0);
}

static void
expect_packets (DatagramSocket * listener, guint first, guint n)
{
  guint i;

  for (i = first; i < first + n; i++)
    expect_packet (listener, i);
  datagram_test_expect_nothing (listener);
}

/* --- sending --------------------------------------------------------------- */

/* A run consists of packets of equal size, and possibly one smaller packet at
 * its end. The sender must send each run as one message with GSO. The 64
 * packets of this test form three runs, so the sender must send three messages.
 * A message has room for 65 packets of 1000 bytes, so no run has to be divided.
 *
 * The receiver has no GRO, so the kernel must deliver each packet separately.
 */
GST_START_TEST (run_is_one_message_and_arrives_as_packets)
{
  DatagramSocket *listener = open_listener (__i__, FALSE);
  DatagramSocket *sender = open_sender (__i__,
      datagram_test_get_port (listener));

  set_up ();
  if (kernel_has_gso ("run_is_one_message_and_arrives_as_packets")) {
    packets[20].size = 999;     /* ends the first run */
    packets[21].size = 500;     /* begins the second run */
    packets[22].size = packets[23].size = 500;
    packets[63].size = 1;       /* ends the last run */
    fail_unless_equals_int (send_packets (sender, 0, 64), 64);
    fail_unless_equals_int (n_messages, 3);
    fail_unless_equals_int (n_merged, 3);
    expect_packets (listener, 0, 64);
    fail_unless (datagram_socket_check_gso (sender, NULL));
  }
  datagram_socket_free (sender);
  datagram_socket_free (listener);
}

GST_END_TEST;

GST_START_TEST (empty_packets_are_sent)
{
  DatagramSocket *listener = open_listener (__i__, FALSE);
  DatagramSocket *sender = open_sender (__i__,
      datagram_test_get_port (listener));

  set_up ();
  packets[0].size = packets[3].size = packets[4].size = 0;
  fail_unless_equals_int (send_packets (sender, 0, 8), 8);
  expect_packets (listener, 0, 8);
  datagram_socket_free (sender);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* A socket that is not connected sends packets to two peers. The field `path`
 * of each packet contains its destination. Packets to different peers must not
 * be in one message, so each peer must receive only its own packets. */
GST_START_TEST (run_ends_where_the_destination_changes)
{
  DatagramSocket *sender = open_listener (__i__, FALSE);
  DatagramSocket *a = open_listener (__i__, FALSE);
  DatagramSocket *b = open_listener (__i__, FALSE);
  DatagramPath to_a = *datagram_socket_get_path (a), to_b;
  guint i;

  set_up ();
  memcpy (to_a.remote, to_a.local, sizeof (to_a.remote));
  to_b = to_a;
  to_a.remote_port = datagram_test_get_port (a);
  to_b.remote_port = datagram_test_get_port (b);
  for (i = 0; i < 30; i++)
    packets[i].path = i < 10 || i >= 25 ? to_a : to_b;
  fail_unless_equals_int (send_packets (sender, 0, 30), 30);
  for (i = 0; i < 10; i++)
    expect_packet (a, i);
  expect_packets (a, 25, 5);
  expect_packets (b, 10, 15);
  datagram_socket_free (a);
  datagram_socket_free (b);
  datagram_socket_free (sender);
}

GST_END_TEST;

static const gint refusals[] = {
  EINVAL, EIO, EOPNOTSUPP, ENOPROTOOPT
};

GST_START_TEST (refused_packets_are_sent_one_by_one_for_good)
{
  DatagramSocket *listener = open_listener (0, FALSE);
  DatagramSocket *sender = open_sender (0, datagram_test_get_port (listener));
  GError *error = NULL;

  set_up ();
  if (kernel_has_gso ("refused_packets_are_sent_one_by_one_for_good")) {
    gso_errno = refusals[__i__];
    /* The test replaces sendmsg () with a function that refuses GSO. GSO sends
     * several packets in one message. All packets of a GSO message must have
     * the same size, except the last one, which may be smaller. In this test,
     * packet 0 is smaller than the packets after it. The socket therefore sends
     * packet 0 alone, without GSO, and this call succeeds. The next call sends
     * the other packets with GSO and fails. */
    packets[0].size = 10;
    fail_unless_equals_int (send_packets (sender, 0, 40), 40);
    fail_unless_equals_int (n_messages, 40);
    expect_packets (listener, 0, 40);
    fail_if (datagram_socket_check_gso (sender, &error));
    fail_unless (strstr (error->message, "without GSO") != NULL);
    g_clear_error (&error);

    /* The test's sendmsg () now accepts GSO. The socket must nevertheless not
     * try GSO again, and must not report the earlier error a second time. */
    gso_errno = 0;
    fail_unless_equals_int (send_packets (sender, 1, 40), 40);
    fail_unless_equals_int (n_merged, 0);
    expect_packets (listener, 1, 40);
    fail_unless (datagram_socket_check_gso (sender, &error));
  }
  datagram_socket_free (sender);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* The socket has already sent packets with GSO. Then its route moves to a
 * device that does not support GSO, so sendmsg () fails in the middle of a
 * batch. The socket must send the rest of the batch without GSO. */
GST_START_TEST (running_socket_falls_back_when_its_route_moves)
{
  DatagramSocket *listener = open_listener (0, FALSE);
  DatagramSocket *sender = open_sender (0, datagram_test_get_port (listener));
  guint i;

  set_up ();
  if (kernel_has_gso ("running_socket_falls_back_when_its_route_moves")) {
    fail_unless_equals_int (send_packets (sender, 0, 40), 40);
    fail_unless_equals_int (n_messages, 1);
    expect_packets (listener, 0, 40);
    fail_unless (datagram_socket_check_gso (sender, NULL));

    /* The first 10 packets are half as large as the other 30, so the two groups
     * are separate messages. The test's sendmsg () accepts the first message,
     * because its packets are not larger than `max_segment`. It refuses the
     * second message, so the socket must send these 30 packets one by one. */
    for (i = 0; i < 10; i++)
      packets[i].size = SIZE / 2;
    gso_errno = refusals[__i__];
    max_segment = SIZE / 2;
    fail_unless_equals_int (send_packets (sender, 0, 40), 40);
    fail_unless_equals_int (n_messages, 1 + 1 + 30);
    expect_packets (listener, 0, 40);
    fail_if (datagram_socket_check_gso (sender, NULL));
    gso_errno = 0;
    fail_unless_equals_int (send_packets (sender, 0, 40), 40);
    fail_unless_equals_int (n_messages, 1 + 1 + 30 + 40);
    expect_packets (listener, 0, 40);
    fail_unless (datagram_socket_check_gso (sender, NULL));
  }
  datagram_socket_free (sender);
  datagram_socket_free (listener);
}

GST_END_TEST;

GST_START_TEST (packets_above_the_mtu_are_sent_one_by_one)
{
  DatagramSocket *listener = open_listener (0, FALSE);
  DatagramSocket *sender = open_sender (0, datagram_test_get_port (listener));
  guint i;

  set_up ();
  if (kernel_has_gso ("packets_above_the_mtu_are_sent_one_by_one")) {
    gso_errno = EMSGSIZE;
    max_segment = 800;
    fail_unless_equals_int (send_packets (sender, 0, 40), 40);
    fail_unless_equals_int (n_merged, 0);
    expect_packets (listener, 0, 40);
    fail_if (datagram_socket_check_gso (sender, NULL));

    for (i = 0; i < 30; i++)
      packets[i].size = 800;
    fail_unless_equals_int (send_packets (sender, 0, 40), 40);
    fail_unless_equals_int (n_merged, 1);
    fail_unless_equals_int (n_messages, 40 + 1 + 10);
    expect_packets (listener, 0, 40);

    /* A further refusal is not reported. */
    max_segment = 700;
    fail_unless_equals_int (send_packets (sender, 0, 30), 30);
    fail_unless_equals_int (n_merged, 1);
    expect_packets (listener, 0, 30);
    fail_unless (datagram_socket_check_gso (sender, NULL));
  }
  datagram_socket_free (sender);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* The socket sends 60 packets in six messages. At first, the kernel has room
 * only for __i__ of these messages. Only the packets of these messages may
 * count as sent. When the kernel has room again, the socket must send the other
 * packets. */
GST_START_TEST (packets_of_unsent_messages_remain)
{
  DatagramSocket *listener = open_listener (0, FALSE);
  DatagramSocket *sender = open_sender (0, datagram_test_get_port (listener));
  guint i, sent;

  set_up ();
  if (kernel_has_gso ("packets_of_unsent_messages_remain")) {
    for (i = 9; i < 60; i += 10)
      packets[i].size = SIZE / 2;
    room = __i__;
    full_errno = __i__ % 2 ? ENOBUFS : EAGAIN;
    sent = send_packets (sender, 0, 60);
    fail_unless_equals_int (sent, 10 * __i__);
    fail_unless_equals_int (send_packets (sender, sent, 60 - sent), 0);
    room = G_MAXINT;
    fail_unless_equals_int (send_packets (sender, sent, 60 - sent), 60 - sent);
    expect_packets (listener, 0, 60);
    fail_unless (datagram_socket_check_gso (sender, NULL));
  }
  datagram_socket_free (sender);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* The test's sendmsg () refuses a message of 20 packets, so the socket sends
 * the packets one by one. The kernel has room for only 7 of them. When it has
 * room again, a second call of send_packets () must send the other 13 packets.
 */
GST_START_TEST (packets_without_room_after_a_refusal_remain)
{
  DatagramSocket *listener = open_listener (0, FALSE);
  DatagramSocket *sender = open_sender (0, datagram_test_get_port (listener));

  set_up ();
  if (kernel_has_gso ("packets_without_room_after_a_refusal_remain")) {
    gso_errno = EIO;
    room = 7;
    fail_unless_equals_int (send_packets (sender, 0, 20), 7);
    room = G_MAXINT;
    fail_unless_equals_int (send_packets (sender, 7, 13), 13);
    expect_packets (listener, 0, 20);
  }
  datagram_socket_free (sender);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* Sockets of UDP-Lite and raw sockets must send without GSO. With GSO, they
 * would fail, or would send all packets of a message as one huge packet. */
GST_START_TEST (other_sockets_send_one_by_one)
{
  const gchar *test = "other_sockets_send_one_by_one";
  GSocketAddress *remote = datagram_test_address ("127.0.0.1", 5004);
  DatagramSocketOptions options;
  DatagramSocket *socket;
  GError *error = NULL;

  set_up ();
  datagram_socket_options_init (&options);
  options.protocol = 136;       /* UDP-Lite */
  options.is_raw = __i__;
  options.gso = options.gro = TRUE;
  socket = datagram_socket_new_connected (remote, NULL, &options, &error);
  if (socket) {
    fail_if (datagram_socket_has_gro (socket));
    datagram_socket_send (socket, packets, 20, NULL);
    fail_unless (n_messages > 0);
    fail_unless_equals_int (n_merged, 0);
    fail_unless (datagram_socket_check_gso (socket, NULL));
    datagram_socket_free (socket);
  } else {
    say_skipped (test, "%s", error->message);
    g_error_free (error);
  }
  g_object_unref (remote);
}

GST_END_TEST;

/* --- receiving ------------------------------------------------------------- */

/* The listener receives with GRO, so the kernel merges the packets of each GSO
 * message into one datagram. The packets of this test form three messages, and
 * must arrive as three datagrams. When the test splits the datagrams, it must
 * get the packets that were sent. */
GST_START_TEST (merged_packets_are_split_again)
{
  DatagramSocket *listener = open_listener (__i__, TRUE);
  DatagramSocket *sender = open_sender (__i__,
      datagram_test_get_port (listener));
  guint8 *memory = g_malloc (DATAGRAM_MERGED_SIZE);
  guint i, k, n, came = 0, n_datagrams = 0;
  Datagram datagram, segment;

  set_up ();
  if (kernel_has_gso ("merged_packets_are_split_again")) {
    packets[30].size = 20;
    packets[40].size = 1;
    fail_unless_equals_int (send_packets (sender, 0, 60), 60);
    while (came < 60) {
      datagram_init (&datagram, memory, DATAGRAM_MERGED_SIZE);
      datagram_test_wait (listener);
      fail_unless_equals_int (datagram_socket_receive (listener, &datagram, 1,
              NULL), 1);
      fail_if (datagram.is_truncated);
      n_datagrams++;
      n = datagram_count_segments (&datagram);
      for (k = 0; k < n; k++) {
        i = came++;
        datagram_get_segment (&datagram, k, &segment);
        fail_unless_equals_int (segment.size, packets[i].size);
        fail_unless (memcmp (segment.bytes, bytes[i], segment.size) == 0);
        fail_unless_equals_int (segment.path.remote_port,
            datagram_test_get_port (sender));
        fail_unless (segment.time > 0);
      }
    }
    fail_unless_equals_int (n_datagrams, 3);
    datagram_test_expect_nothing (listener);
  }
  g_free (memory);
  datagram_socket_free (sender);
  datagram_socket_free (listener);
}

GST_END_TEST;

static Suite *
datagramsocketgso_suite (void)
{
  Suite *suite = suite_create ("datagramsocketgso");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, run_is_one_message_and_arrives_as_packets, 0,
      FAMILIES);
  tcase_add_loop_test (tcase, empty_packets_are_sent, 0, FAMILIES);
  tcase_add_loop_test (tcase, run_ends_where_the_destination_changes, 0,
      FAMILIES);
  tcase_add_loop_test (tcase, refused_packets_are_sent_one_by_one_for_good, 0,
      G_N_ELEMENTS (refusals));
  tcase_add_loop_test (tcase, running_socket_falls_back_when_its_route_moves,
      0, G_N_ELEMENTS (refusals));
  tcase_add_test (tcase, packets_above_the_mtu_are_sent_one_by_one);
  tcase_add_loop_test (tcase, packets_of_unsent_messages_remain, 0, 6);
  tcase_add_test (tcase, packets_without_room_after_a_refusal_remain);
  tcase_add_loop_test (tcase, other_sockets_send_one_by_one, 0, 2);
  tcase_add_loop_test (tcase, merged_packets_are_split_again, 0, FAMILIES);
  return suite;
}

GST_CHECK_MAIN (datagramsocketgso);
