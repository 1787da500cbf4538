/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of DatagramSocket (datagramsocket.h) over loopback. No test requires
 * that something happens within a certain time, because the machine may be
 * busy.
 */

#define _GNU_SOURCE             /* syscall */

#include "datagramaddress.h"
#include "datagramsockets.h"

#include <sys/socket.h>

#ifdef __linux__
#include <time.h>
#include <unistd.h>

#include <sys/syscall.h>
#endif

/* --- packets -------------------------------------------------------------- */

GST_START_TEST (packets_go_both_ways)
{
  DatagramSocket *listener =
      datagram_test_listener (datagram_test_loopback (__i__), 0);
  DatagramSocket *connected =
      datagram_test_connect (datagram_test_loopback (__i__),
      datagram_test_get_port (listener),
      NULL);
  gchar *from = g_strdup_printf (__i__ ? "[::1]:%u" : "127.0.0.1:%u",
      datagram_test_get_port (connected));
  Datagram datagram, answer;
  gint64 before, after;

  datagram_test_expect_nothing (listener);
  before = g_get_monotonic_time () * 1000;
  datagram_test_send (connected, "INIT", NULL);
  datagram_test_expect (listener, "INIT", &datagram);
  after = (g_get_monotonic_time () + 1) * 1000;
  datagram_test_assert_remote (&datagram, from);
  /* `datagram.time` is the arrival time. The kernel measures it with the wall
   * clock, and the socket converts it to the monotonic clock. For this, the
   * socket reads both clocks one after the other, and the monotonic clock has
   * only whole microseconds. The arrival time is therefore slightly inexact,
   * and the test tolerates 20 microseconds. */
  fail_unless (datagram.time >= before - 20000 && datagram.time <= after);

  datagram_test_send (listener, "COOKIE", &datagram.path);
  datagram_test_expect (connected, "COOKIE", &answer);
  fail_unless (answer.time >= datagram.time - 20000);
  datagram_test_expect_nothing (listener);
  datagram_test_expect_nothing (connected);
  g_free (from);
  datagram_socket_free (connected);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* Sends packets until the kernel timestamps them on arrival. Linux begins to do
 * so a moment after the first socket has asked for timestamps. A packet that
 * arrives earlier gets the time at which it is read. This time may be later
 * than the arrival times of the packets after it. */
static void
wait_for_stamps (DatagramSocket * listener, DatagramSocket * connected)
{
  Datagram datagram;
  guint64 read;
  guint i;

  for (i = 0; i < 1000; i++) {
    datagram_test_send (connected, "", NULL);
    datagram_test_wait (listener);
    g_usleep (1000);
    read = g_get_monotonic_time () * 1000;
    datagram_test_expect (listener, "", &datagram);
    if (datagram.time + 500000 < read)
      return;
  }
}

/* The test sends 100 packets. One system call sends or receives at most 64
 * packets, so both the sender and the receiver need several calls. */
GST_START_TEST (many_go_by_one_call)
{
  DatagramSocket *listener =
      datagram_test_listener (datagram_test_loopback (__i__), 0);
  DatagramSocket *connected =
      datagram_test_connect (datagram_test_loopback (__i__),
      datagram_test_get_port (listener),
      NULL);
  guint8 bytes[100], rooms[100][8];
  Datagram out[100], in[100];
  guint64 last = 0;
  guint i, came;

  for (i = 0; i < 100; i++) {
    bytes[i] = i;
    datagram_init (&out[i], &bytes[i], 1);
    datagram_init (&in[i], rooms[i], sizeof (rooms[i]));
  }
  wait_for_stamps (listener, connected);
  fail_unless_equals_int (datagram_socket_send (connected, out, 0, NULL), 0);
  fail_unless_equals_int (datagram_socket_send (connected, out, 100, NULL), 64);
  fail_unless_equals_int (datagram_socket_send (connected, out + 64, 36, NULL),
      36);
  for (came = 0; came < 100;) {
    gint n;

    datagram_test_wait (listener);
    n = datagram_socket_receive (listener, in + came, 100 - came, NULL);
    fail_unless (n > 0 && n <= DATAGRAM_BATCH);
    came += n;
  }
  for (i = 0; i < 100; i++) {
    fail_unless_equals_int (in[i].size, 1);
    fail_unless_equals_int (in[i].bytes[0], i);
    fail_unless (in[i].time >= last);
    last = in[i].time;
  }
  datagram_test_expect_nothing (listener);
  datagram_socket_free (connected);
  datagram_socket_free (listener);
}

GST_END_TEST;

GST_START_TEST (longer_than_its_room_is_cut)
{
  DatagramSocket *listener =
      datagram_test_listener (datagram_test_loopback (__i__), 0);
  DatagramSocket *connected =
      datagram_test_connect (datagram_test_loopback (__i__),
      datagram_test_get_port (listener),
      NULL);
  guint8 room[4];
  Datagram datagram = {.bytes = room,.size = sizeof (room) };

  datagram_test_send (connected, "12345678", NULL);
  datagram_test_wait (listener);
  fail_unless_equals_int (datagram_socket_receive (listener, &datagram, 1,
          NULL), 1);
  fail_unless_equals_int (datagram.size, 4);
  fail_unless (datagram.is_truncated);
  datagram_test_expect_nothing (listener);
  datagram_socket_free (connected);
  datagram_socket_free (listener);
}

GST_END_TEST;

GST_START_TEST (empty_packet_is_a_packet)
{
  DatagramSocket *listener =
      datagram_test_listener (datagram_test_loopback (__i__), 0);
  DatagramSocket *connected =
      datagram_test_connect (datagram_test_loopback (__i__),
      datagram_test_get_port (listener),
      NULL);
  Datagram datagram;

  datagram_test_send (connected, "", NULL);
  datagram_test_expect (listener, "", &datagram);
  datagram_socket_free (connected);
  datagram_socket_free (listener);
}

GST_END_TEST;

GST_START_TEST (message_of_maximum_size_goes_and_a_larger_one_is_an_error)
{
  DatagramSocket *listener =
      datagram_test_listener (datagram_test_loopback (__i__), 0);
  DatagramSocket *connected =
      datagram_test_connect (datagram_test_loopback (__i__),
      datagram_test_get_port (listener),
      NULL);
  Datagram datagram = {.bytes = g_malloc0 (70000) };
  GError *error = NULL;

  datagram.size = 65507;
  fail_unless_equals_int (datagram_socket_send (connected, &datagram, 1,
          &error), 1);
  datagram_test_wait (listener);
  fail_unless_equals_int (datagram_socket_receive (listener, &datagram, 1,
          &error), 1);
  fail_unless_equals_int (datagram.size, 65507);

  datagram.size = 70000;
  fail_unless_equals_int (datagram_socket_send (connected, &datagram, 1,
          &error), -1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE);
  fail_unless (strstr (error->message, "70000 bytes to ") != NULL, "%s",
      error->message);
  fail_unless (strstr (error->message, datagram_test_loopback (__i__)) != NULL,
      "%s", error->message);
  g_error_free (error);
  datagram_test_expect_nothing (connected);
  g_free (datagram.bytes);
  datagram_socket_free (connected);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* --- addresses ------------------------------------------------------------ */

/* A client sends to one of several addresses of the listener. Its socket is
 * connected to this address, so it receives packets only from there. The
 * listener must therefore answer from the address to which the client has sent.
 */
GST_START_TEST (answer_leaves_from_the_address_that_was_spoken_to)
{
  static const gchar *const addresses[] = { "127.0.0.1", "127.0.0.2",
    "127.3.2.1"
  };
  DatagramSocket *listener = datagram_test_listener (__i__ ? "::" : "0.0.0.0",
      0);
  DatagramSocket *connected;
  Datagram datagram, answer;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (addresses); i++) {
    connected = datagram_test_connect (addresses[i],
        datagram_test_get_port (listener), NULL);
    datagram_test_send (connected, "hello", NULL);
    datagram_test_expect (listener, "hello", &datagram);
    datagram_test_send (listener, addresses[i], &datagram.path);
    datagram_test_expect (connected, addresses[i], &answer);
    datagram_socket_free (connected);
  }
  datagram_socket_free (listener);
}

GST_END_TEST;

GST_START_TEST (addresses_are_compared_byte_by_byte)
{
  DatagramSocket *listener = datagram_test_listener ("0.0.0.0", 0);
  DatagramSocket *one =
      datagram_test_connect ("127.0.0.1", datagram_test_get_port (listener),
      NULL);
  DatagramSocket *two =
      datagram_test_connect ("127.0.0.1", datagram_test_get_port (listener),
      NULL);
  DatagramSocket *other =
      datagram_test_connect ("127.0.0.2", datagram_test_get_port (listener),
      NULL);
  Datagram first, again, second, third;

  datagram_test_send (one, "1", NULL);
  datagram_test_expect (listener, "1", &first);
  datagram_test_send (one, "2", NULL);
  datagram_test_expect (listener, "2", &again);
  datagram_test_send (two, "3", NULL);
  datagram_test_expect (listener, "3", &second);
  datagram_test_send (other, "4", NULL);
  datagram_test_expect (listener, "4", &third);
  fail_unless (memcmp (&first.path, &again.path, sizeof (DatagramPath)) == 0);
  fail_if (memcmp (&first.path, &second.path, sizeof (DatagramPath)) == 0);
  /* A path consists of the addresses and ports of both ends. Packet "1" was
   * sent to 127.0.0.1, and packet "4" was sent to 127.0.0.2, so the paths of
   * these two packets must differ. */
  fail_if (memcmp (&first.path, &third.path, sizeof (DatagramPath)) == 0);
  datagram_socket_free (one);
  datagram_socket_free (two);
  datagram_socket_free (other);
  datagram_socket_free (listener);
}

GST_END_TEST;

GST_START_TEST (ipv4_on_a_socket_of_ipv6_is_written_as_ipv4)
{
  DatagramSocket *listener = datagram_test_listener ("::", 0);
  DatagramSocket *connected =
      datagram_test_connect ("127.0.0.1", datagram_test_get_port (listener),
      NULL);
  gchar *from = g_strdup_printf ("127.0.0.1:%u",
      datagram_test_get_port (connected));
  Datagram datagram;

  datagram_test_send (connected, "x", NULL);
  datagram_test_expect (listener, "x", &datagram);
  datagram_test_assert_remote (&datagram, from);
  g_free (from);
  datagram_socket_free (connected);
  datagram_socket_free (listener);
}

GST_END_TEST;

GST_START_TEST (connected_socket_sends_from_its_address)
{
  DatagramSocket *listener = datagram_test_listener ("127.0.0.1", 0);
  DatagramSocket *connected =
      datagram_test_connect ("127.0.0.1", datagram_test_get_port (listener),
      "127.9.9.9");
  gchar *from = g_strdup_printf ("127.9.9.9:%u",
      datagram_test_get_port (connected));
  Datagram datagram;

  datagram_test_send (connected, "x", NULL);
  datagram_test_expect (listener, "x", &datagram);
  datagram_test_assert_remote (&datagram, from);
  g_free (from);
  datagram_socket_free (connected);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* The local address of a socket must be the source address that the kernel
 * chooses for its route. For a route over the loopback device, this is a
 * loopback address. */
GST_START_TEST (local_address_is_that_of_the_route)
{
  GSocketAddress *remote = datagram_test_address (__i__ ? "::1" : "127.3.2.1",
      5004);
  DatagramPath path = {.address_size = 0 };
  DatagramSocketOptions options;
  DatagramSocket *socket;
  GError *error = NULL;

  datagram_socket_options_init (&options);
  socket = datagram_socket_new (g_socket_address_get_family (remote), &options,
      &error);
  g_assert_no_error (error);
  datagram_path_set_remote (&path, remote);
  fail_unless (datagram_socket_find_local (socket, &path, &error));
  g_assert_no_error (error);
  fail_unless_equals_int (path.local[0], __i__ ? 0 : 127);
  fail_unless_equals_int (path.local[__i__ ? 15 : 3], 1);
  fail_unless_equals_int (path.remote_port, 5004);
  datagram_socket_free (socket);
  g_object_unref (remote);
}

GST_END_TEST;

/* --- errors --------------------------------------------------------------- */

GST_START_TEST (error_names_what_could_not_be_had)
{
  GSocketAddress *local = datagram_test_address ("127.0.0.1", 0);
  DatagramSocketOptions options;
  GError *error = NULL;
  DatagramSocket *listener;

  datagram_test_expect_connect_error ("127.0.0.1", "wlan17", NULL,
      G_IO_ERROR_NOT_FOUND, "there is no network interface \"wlan17\"");
  datagram_test_expect_connect_error ("127.0.0.1", NULL, "192.0.2.7",
      G_IO_ERROR_FAILED, "192.0.2.7 is not an address of this host");
  datagram_test_expect_connect_error ("127.0.0.1", NULL, "::1",
      G_IO_ERROR_INVALID_ARGUMENT,
      "::1 can't reach 127.0.0.1:5004: one is an IPv4 address and the other one "
      "an IPv6 address");
  datagram_test_expect_connect_error ("255.255.255.255", NULL, "127.0.0.1",
      G_IO_ERROR_PERMISSION_DENIED,
      "there is no route to 255.255.255.255:5004 from 127.0.0.1: ");

  datagram_socket_options_init (&options);
  options.interface = "wlan17";
  fail_unless (datagram_socket_new_listener (local, &options, &error) == NULL);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_object_unref (local);

  listener = datagram_test_listener ("127.0.0.1", 0);
  local = G_SOCKET_ADDRESS (datagram_test_get_local (listener));
  options.interface = NULL;
  fail_unless (datagram_socket_new_listener (local, &options, &error) == NULL);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE);
  fail_unless (g_str_has_prefix (error->message,
          "could not bind to 127.0.0.1:"), "%s", error->message);
  g_clear_error (&error);
  g_object_unref (local);
  datagram_socket_free (listener);
}

GST_END_TEST;

GST_START_TEST (address_is_shared_only_if_both_want_it)
{
  GSocketAddress *local = datagram_test_address (datagram_test_loopback (__i__),
      0);
  DatagramSocketOptions options;
  DatagramSocket *one, *two;
  GError *error = NULL;

  datagram_socket_options_init (&options);
  options.reuse = TRUE;
  one = datagram_socket_new_listener (local, &options, &error);
  g_assert_no_error (error);
  g_object_unref (local);
  local = G_SOCKET_ADDRESS (datagram_test_get_local (one));
  two = datagram_socket_new_listener (local, &options, &error);
  g_assert_no_error (error);
  options.reuse = FALSE;
  fail_unless (datagram_socket_new_listener (local, &options, &error) == NULL);
  g_clear_error (&error);
  g_object_unref (local);
  datagram_socket_free (one);
  datagram_socket_free (two);
}

GST_END_TEST;

GST_START_TEST (buffer_is_as_big_as_was_said)
{
  GSocketAddress *local = datagram_test_address (datagram_test_loopback (__i__),
      0);
  DatagramSocketOptions options;
  DatagramSocket *socket;
  GError *error = NULL;
  gint size = 0;

  datagram_socket_options_init (&options);
  options.receive_buffer_size = 100000;
  socket = datagram_socket_new_listener (local, &options, &error);
  g_assert_no_error (error);
  fail_unless (g_socket_get_option (datagram_socket_get_socket (socket),
          SOL_SOCKET, SO_RCVBUF, &size, NULL));
  fail_unless (size >= 100000);
  g_object_unref (local);
  datagram_socket_free (socket);
}

GST_END_TEST;

/* Each packet to a closed port causes an ICMP error. The socket must report the
 * first of these errors. It must report no other error until it has received a
 * packet from the peer. When the port is open again, all packets must arrive
 * there. */
GST_START_TEST (refusal_is_told_once_and_loses_nothing)
{
  DatagramSocket *listener =
      datagram_test_listener (datagram_test_loopback (__i__), 0);
  guint16 port = datagram_test_get_port (listener);
  DatagramSocket *connected =
      datagram_test_connect (datagram_test_loopback (__i__), port, NULL);
  const gchar *texts[] = { "1", "2", "3", "4", "5", "6", "7" };
  Datagram datagram;
  guint i;

  datagram_socket_free (listener);
  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    datagram_test_send (connected, texts[i], NULL);
  datagram_test_expect_error (connected, G_IO_ERROR_CONNECTION_REFUSED,
      datagram_test_loopback (__i__));
  datagram_test_send (connected, "8", NULL);
  datagram_test_expect_nothing (connected);

  datagram_test_send (connected, "9", NULL);
  listener = datagram_test_listener (datagram_test_loopback (__i__), port);
  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    datagram_test_send (connected, texts[i], NULL);
  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    datagram_test_expect (listener, texts[i], &datagram);
  datagram_test_send (listener, "yes", &datagram.path);
  datagram_test_expect (connected, "yes", &datagram);
  datagram_test_expect_nothing (connected);

  datagram_socket_free (listener);
  datagram_test_send (connected, "10", NULL);
  datagram_test_expect_error (connected, G_IO_ERROR_CONNECTION_REFUSED, NULL);
  datagram_test_expect_nothing (connected);
  datagram_socket_free (connected);
}

GST_END_TEST;

/* --- sizes ---------------------------------------------------------------- */

/* The loopback device of Linux has an MTU of 65536 bytes. Without the headers
 * of IPv4 and UDP, 65508 bytes are left. The result must nevertheless be 65507
 * bytes, which is the maximum UDP payload. */
GST_START_TEST (maximum_message_size_is_what_mtu_and_headers_leave)
{
  DatagramSocket *connected =
      datagram_test_connect (datagram_test_loopback (__i__), 5004, NULL);
  guint overhead = __i__ ? 48 : 28;

  fail_unless_equals_int (datagram_socket_get_overhead (connected), overhead);
  fail_unless_equals_int (datagram_socket_get_max_payload (connected, 1500),
      1500 - overhead);
  fail_unless_equals_int (datagram_socket_get_max_payload (connected, 0),
      MIN (65536 - overhead, 65507));
  fail_unless_equals_int (datagram_socket_get_max_payload (connected, 65535),
      MIN (65535 - overhead, 65507));
  datagram_socket_free (connected);
}

GST_END_TEST;

/* --- clocks --------------------------------------------------------------- */

#ifdef __linux__

/* number of seconds that the simulated wall clock is ahead of the real one */
static gint64 clock_step;

/* Replaces clock_gettime () of the C library, so that the test can set the wall
 * clock. */
int
clock_gettime (clockid_t id, struct timespec *now)
{
  int result = syscall (SYS_clock_gettime, id, now);

  if (id == CLOCK_REALTIME)
    now->tv_sec += clock_step;
  return result;
}

/* A packet arrives, and the kernel records its arrival time, using the wall
 * clock. Then the wall clock is set. Only after this, the socket reads the
 * packet. The socket converts the arrival time to the monotonic clock. The
 * result must be right although the wall clock was set. */
GST_START_TEST (clock_that_is_set_moves_no_arrival)
{
  DatagramSocket *listener = datagram_test_listener ("127.0.0.1", 0);
  DatagramSocket *connected =
      datagram_test_connect ("127.0.0.1", datagram_test_get_port (listener),
      NULL);
  Datagram datagram;
  gint64 before;

  datagram_test_send (connected, "0", NULL);
  datagram_test_expect (listener, "0", &datagram);
  datagram_test_expect_nothing (listener);
  before = g_get_monotonic_time () * 1000;
  datagram_test_send (connected, "1", NULL);
  clock_step = __i__;
  datagram_test_expect (listener, "1", &datagram);
  fail_unless (datagram.time >= before - 20000);
  fail_unless (datagram.time <= (g_get_monotonic_time () + 1) * 1000);
  clock_step = 0;
  before = g_get_monotonic_time () * 1000;
  datagram_test_send (connected, "2", NULL);
  datagram_test_expect (listener, "2", &datagram);
  fail_unless (datagram.time >= before - 20000);
  fail_unless (datagram.time <= (g_get_monotonic_time () + 1) * 1000);
  datagram_socket_free (connected);
  datagram_socket_free (listener);
}

GST_END_TEST;
#endif

static Suite *
datagramsocket_suite (void)
{
  Suite *suite = suite_create ("datagramsocket");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, packets_go_both_ways, 0, FAMILIES);
  tcase_add_loop_test (tcase, many_go_by_one_call, 0, FAMILIES);
  tcase_add_loop_test (tcase, longer_than_its_room_is_cut, 0, FAMILIES);
  tcase_add_loop_test (tcase, empty_packet_is_a_packet, 0, FAMILIES);
  tcase_add_loop_test (tcase,
      message_of_maximum_size_goes_and_a_larger_one_is_an_error, 0, FAMILIES);
  tcase_add_loop_test (tcase,
      answer_leaves_from_the_address_that_was_spoken_to, 0, 2);
  tcase_add_test (tcase, addresses_are_compared_byte_by_byte);
  tcase_add_test (tcase, ipv4_on_a_socket_of_ipv6_is_written_as_ipv4);
  tcase_add_test (tcase, connected_socket_sends_from_its_address);
  tcase_add_loop_test (tcase, local_address_is_that_of_the_route, 0, FAMILIES);
  tcase_add_test (tcase, error_names_what_could_not_be_had);
  tcase_add_loop_test (tcase, address_is_shared_only_if_both_want_it, 0,
      FAMILIES);
  tcase_add_loop_test (tcase, buffer_is_as_big_as_was_said, 0, FAMILIES);
  tcase_add_loop_test (tcase, refusal_is_told_once_and_loses_nothing, 0,
      FAMILIES);
  tcase_add_loop_test (tcase,
      maximum_message_size_is_what_mtu_and_headers_leave, 0, FAMILIES);
#ifdef __linux__
  tcase_add_loop_test (tcase, clock_that_is_set_moves_no_arrival, -1, 2);
#endif
  return suite;
}

GST_CHECK_MAIN (datagramsocket);
