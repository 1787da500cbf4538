/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of DatagramSocket (datagramsocket.h) over loopback. The tests use it as
 * DCCP does: with UDP sockets and raw sockets, and with IPv4 and IPv6. If raw
 * sockets are not permitted, each test that needs them reports that it is
 * skipped. No test requires that something happens within a certain time.
 */

#include <gst/check/gstcheck.h>

#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "datagramsocket.h"
#include "skipped.h"

#define ROOM 2048
#define PROTOCOL 33             /* DCCP, RFC 4340 section 19.1 */
/* First of three successive DCCP ports that a test uses with raw sockets. The
 * kernel does not reserve DCCP ports for a socket. Other tests may run at the
 * same time, so the port depends on the process ID. */
#define PORT (1024 + 4 * (getpid () % 16000))

/* The loop index __i__ of most tests is a kind of socket: bit 0 selects IPv6,
 * and bit 1 selects a raw socket. */
#define KINDS 4

static gboolean
is_ipv6 (gint kind)
{
  return (kind & 1) != 0;
}

static gboolean
is_raw (gint kind)
{
  return (kind & 2) != 0;
}

static void
options_init (DatagramSocketOptions * options, gint kind)
{
  datagram_socket_options_init (options);
  options->is_raw = is_raw (kind);
  options->protocol = is_raw (kind) ? PROTOCOL : IPPROTO_UDP;
  options->may_fragment = FALSE;
}

static const gchar *
loopback (gint kind)
{
  return is_ipv6 (kind) ? "::1" : "127.0.0.1";
}

static GSocketAddress *
address_new (const gchar * text, guint16 port)
{
  GSocketAddress *address = g_inet_socket_address_new_from_string (text, port);

  fail_unless (address != NULL, "%s", text);
  return address;
}

/* Returns the local UDP port of `socket`, or 0 for a raw socket. */
static guint16
get_port (DatagramSocket * socket)
{
  return datagram_socket_get_path (socket)->local_port;
}

static DatagramSocket *
try_listener (gint kind, const gchar * text, guint16 port,
    const DatagramSocketOptions * options, GError ** error)
{
  GSocketAddress *local = address_new (text, port);
  DatagramSocketOptions defaults;
  DatagramSocket *socket;

  options_init (&defaults, kind);
  socket = datagram_socket_new_listener (local, options ? options : &defaults,
      error);
  g_object_unref (local);
  return socket;
}

static DatagramSocket *
listener_new (gint kind, const gchar * text)
{
  GError *error = NULL;
  DatagramSocket *socket = try_listener (kind, text,
      is_raw (kind) ? PORT : 0, NULL,
      &error);

  g_assert_no_error (error);
  return socket;
}

/* Creates a socket that is connected to the address `text` and the port
 * `to_port`. If `from` is not NULL, the socket is bound to the address `from`
 * and the port `port`. For a raw socket, the ports are DCCP ports. On failure,
 * the function sets `error` and returns NULL. */
static DatagramSocket *
try_client (gint kind, const gchar * text, guint16 to_port,
    const gchar * from, guint16 port, GError ** error)
{
  GSocketAddress *remote = address_new (text, to_port);
  GSocketAddress *local = from ? address_new (from, port) : NULL;
  DatagramSocketOptions options;
  DatagramSocket *socket;

  options_init (&options, kind);
  socket = datagram_socket_new_connected (remote, local, &options, error);
  g_object_unref (remote);
  g_clear_object (&local);
  return socket;
}

static DatagramSocket *
client_new (gint kind, const gchar * text, DatagramSocket * listener)
{
  GError *error = NULL;
  DatagramSocket *socket = try_client (kind, text,
      get_port (listener), is_ipv6 (kind) ? "::" : "0.0.0.0",
      is_raw (kind) ? PORT + 1 : 0, &error);

  g_assert_no_error (error);
  return socket;
}

/* Returns whether sockets of `kind` are permitted. If they are not permitted,
 * prints that `check` is skipped. */
static gboolean
may_have (gint kind, const gchar * check)
{
  GError *error = NULL;
  DatagramSocket *socket;

  if (!is_raw (kind))
    return TRUE;
  socket = try_listener (kind, loopback (kind), PORT, NULL, &error);
  if (socket) {
    datagram_socket_free (socket);
    return TRUE;
  }
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
  fail_unless (strstr (error->message, "CAP_NET_RAW") != NULL);
  say_skipped (check, "raw sockets: %s", error->message);
  g_error_free (error);
  return FALSE;
}

#define NEED(kind) \
  G_STMT_START { if (!may_have (kind, __func__)) return; } G_STMT_END

/* Writes a DCCP packet with a header of 16 bytes, which is the minimum, and
 * with `text` as payload. Only the ports in the header are set, because
 * DatagramSocket reads nothing else of it. */
static gsize
make_packet (guint8 * bytes, guint16 source, guint16 destination,
    const gchar * text)
{
  memset (bytes, 0, 16);
  bytes[0] = source >> 8;
  bytes[1] = source & 0xff;
  bytes[2] = destination >> 8;
  bytes[3] = destination & 0xff;
  memcpy (bytes + 16, text, strlen (text));
  return 16 + strlen (text);
}

static void
send_text (DatagramSocket * socket, const DatagramPath * path, guint16 source,
    guint16 destination, const gchar * text)
{
  guint8 bytes[ROOM];
  Datagram datagram = {.bytes = bytes };
  GError *error = NULL;

  datagram.size = make_packet (bytes, source, destination, text);
  if (path)
    datagram.path = *path;
  fail_unless_equals_int (datagram_socket_send (socket, &datagram, 1,
          &error), 1);
  g_assert_no_error (error);
}

static void
wait_for_input (DatagramSocket * socket)
{
  GError *error = NULL;

  g_socket_condition_timed_wait (datagram_socket_get_socket (socket), G_IO_IN,
      30 * G_USEC_PER_SEC, NULL, &error);
  g_assert_no_error (error);
}

static void
expect_text (DatagramSocket * socket, const gchar * text, Datagram * datagram)
{
  static guint8 room[ROOM];
  GError *error = NULL;

  wait_for_input (socket);
  datagram_init (datagram, room, sizeof (room));
  fail_unless_equals_int (datagram_socket_receive (socket, datagram, 1,
          &error), 1);
  g_assert_no_error (error);
  fail_unless_equals_int (datagram->size, 16 + strlen (text));
  fail_unless (memcmp (room + 16, text, strlen (text)) == 0);
}

static void
expect_error (DatagramSocket * socket, gint code)
{
  guint8 room[ROOM];
  Datagram datagram = {.bytes = room,.size = sizeof (room) };
  GError *error = NULL;

  fail_unless_equals_int (datagram_socket_receive (socket, &datagram, 1,
          &error), -1);
  g_assert_error (error, G_IO_ERROR, code);
  g_error_free (error);
}

static void
expect_nothing (DatagramSocket * socket)
{
  guint8 room[ROOM];
  Datagram datagram = {.bytes = room,.size = sizeof (room) };
  GError *error = NULL;

  fail_unless_equals_int (datagram_socket_receive (socket, &datagram, 1,
          &error), 0);
  g_assert_no_error (error);
}

/* --- packets -------------------------------------------------------------- */

GST_START_TEST (packets_go_both_ways)
{
  DatagramSocket *listener, *client;
  Datagram datagram, answer;
  gint64 before, after;
  DatagramPath path;

  NEED (__i__);
  listener = listener_new (__i__, loopback (__i__));
  client = client_new (__i__, loopback (__i__), listener);
  expect_nothing (listener);
  before = g_get_monotonic_time () * 1000;
  send_text (client, NULL, PORT + 1, PORT, "Request");
  expect_text (listener, "Request", &datagram);
  after = (g_get_monotonic_time () + 1) * 1000;
  /* `datagram.time` is the arrival time. The kernel measures it with the wall
   * clock, and the socket converts it to the monotonic clock. For this, the
   * socket reads both clocks one after the other, and the monotonic clock has
   * only whole microseconds. The arrival time is therefore slightly inexact,
   * and the test tolerates 20 microseconds. */
  fail_unless (datagram.time >= before - 20000 && datagram.time <= after);

  /* For the listener, the client's address and port must be the remote ones.
   * For the client, the listener's address and port must be the remote ones. */
  path = *datagram_socket_get_path (client);
  fail_unless_equals_int (path.address_size, is_ipv6 (__i__) ? 16 : 4);
  fail_unless_equals_int (datagram.path.address_size, path.address_size);
  fail_unless (memcmp (path.local, datagram.path.remote, 16) == 0);
  fail_unless (memcmp (path.remote, datagram.path.local, 16) == 0);
  fail_unless_equals_int (path.local_port, datagram.path.remote_port);
  fail_unless_equals_int (path.remote_port, datagram.path.local_port);
  fail_unless_equals_int (datagram_path_has_ports (&path), !is_raw (__i__));

  send_text (listener, &datagram.path, PORT, PORT + 1, "Response");
  expect_text (client, "Response", &answer);
  fail_unless (datagram_path_equal (&answer.path, &path));
  fail_unless (answer.time >= datagram.time - 20000);
  expect_nothing (listener);
  expect_nothing (client);
  datagram_socket_free (client);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* Sends packets until the kernel timestamps them on arrival. Linux begins to do
 * so a moment after the first socket has asked for timestamps. A packet that
 * arrives earlier gets the time at which it is read. This time may be later
 * than the arrival times of the packets after it. */
static void
wait_for_stamps (DatagramSocket * listener, DatagramSocket * client)
{
  Datagram datagram;
  guint64 read;
  guint i;

  for (i = 0; i < 1000; i++) {
    send_text (client, NULL, PORT + 1, PORT, "");
    wait_for_input (listener);
    g_usleep (1000);
    read = g_get_monotonic_time () * 1000;
    expect_text (listener, "", &datagram);
    if (datagram.time + 500000 < read)
      return;
  }
}

/* The client sends 100 packets, and each of them has two parts. One call sends
 * at most 64 packets, so the test needs two calls. All packets must arrive, in
 * order. */
GST_START_TEST (many_go_by_one_call)
{
  guint8 headers[100][16], payloads[100], rooms[100][64];
  DatagramPart parts[100];
  Datagram out[100], in[100];
  DatagramSocket *listener, *client;
  guint64 last = 0;
  guint i, came;

  NEED (__i__);
  listener = listener_new (__i__, loopback (__i__));
  client = client_new (__i__, loopback (__i__), listener);
  for (i = 0; i < 100; i++) {
    datagram_init (&out[i], headers[i],
        make_packet (headers[i], PORT + 1, PORT, ""));
    payloads[i] = i;
    parts[i].data = &payloads[i];
    parts[i].size = 1;
    out[i].parts = &parts[i];
    out[i].n_parts = 1;
    datagram_init (&in[i], rooms[i], sizeof (rooms[i]));
  }
  wait_for_stamps (listener, client);
  fail_unless_equals_int (datagram_socket_send (client, out, 0, NULL), 0);
  fail_unless_equals_int (datagram_socket_send (client, out, 100, NULL), 64);
  fail_unless_equals_int (datagram_socket_send (client, out + 64, 36, NULL),
      36);
  for (came = 0; came < 100;) {
    gint n;

    wait_for_input (listener);
    n = datagram_socket_receive (listener, in + came, 100 - came, NULL);
    fail_unless (n > 0 && n <= DATAGRAM_BATCH);
    came += n;
  }
  for (i = 0; i < 100; i++) {
    fail_unless_equals_int (in[i].size, 17);
    fail_unless (memcmp (in[i].bytes, headers[i], 16) == 0);
    fail_unless_equals_int (in[i].bytes[16], i);
    fail_unless (in[i].time >= last);
    last = in[i].time;
  }
  datagram_socket_free (client);
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
  gint kind = __i__ == 2 ? 2 : 0;
  DatagramSocket *listener, *client;
  Datagram datagram, answer;
  guint i;

  NEED (kind);
  /* If __i__ is 1, the listener is an IPv6 socket and the client has an IPv4
   * address. */
  listener = listener_new (kind, __i__ == 1 ? "::" : "0.0.0.0");
  for (i = 0; i < G_N_ELEMENTS (addresses); i++) {
    client = client_new (kind, addresses[i], listener);
    send_text (client, NULL, PORT + 1, PORT, "hello");
    expect_text (listener, "hello", &datagram);
    send_text (listener, &datagram.path, PORT, PORT + 1, addresses[i]);
    expect_text (client, addresses[i], &answer);
    datagram_socket_free (client);
  }
  datagram_socket_free (listener);
}

GST_END_TEST;

/* A raw socket gets the DCCP packets of all programs on the host.
 * DatagramSocket must ignore each packet to another port than its own. */
GST_START_TEST (raw_socket_hears_its_own_port_only)
{
  gint kind = 2 | __i__;
  DatagramSocket *listener, *client;
  Datagram datagram;

  NEED (kind);
  listener = listener_new (kind, loopback (kind));
  client = client_new (kind, loopback (kind), listener);
  send_text (client, NULL, PORT + 1, PORT + 2, "for somebody else");
  send_text (client, NULL, PORT + 1, PORT, "for us");
  expect_text (listener, "for us", &datagram);
  expect_nothing (listener);
  /* The packets went over loopback, so the client's own raw socket got a copy
   * of each packet that the client sent. The client must ignore these copies.
   */
  expect_nothing (client);
  datagram_socket_free (client);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* --- errors --------------------------------------------------------------- */

static void
expect_no_client (const gchar * to, const gchar * from, gint code,
    const gchar * message)
{
  GError *error = NULL;

  fail_unless (try_client (0, to, 5004, from, 0, &error) == NULL);
  g_assert_error (error, G_IO_ERROR, code);
  fail_unless (g_str_has_prefix (error->message, message),
      "\"%s\" begins with \"%s\"", error->message, message);
  g_error_free (error);
}

GST_START_TEST (error_names_what_could_not_be_had)
{
  DatagramSocket *listener = listener_new (0, "127.0.0.1");
  GError *error = NULL;

  expect_no_client ("127.0.0.1", "192.0.2.7", G_IO_ERROR_FAILED,
      "192.0.2.7 is not an address of this host");
  expect_no_client ("127.0.0.1", "::1", G_IO_ERROR_INVALID_ARGUMENT,
      "::1 can't reach 127.0.0.1:5004: ");
  expect_no_client ("255.255.255.255", NULL, G_IO_ERROR_PERMISSION_DENIED,
      "there is no route to 255.255.255.255:5004: ");
  fail_unless (try_listener (0, "127.0.0.1",
          get_port (listener), NULL, &error) == NULL);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE);
  g_error_free (error);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* The client sends two packets to a port on which no socket listens, so the
 * kernel answers with ICMP errors. The client must report an error. Then a
 * socket listens on the port again, and must receive the client's next packet.
 */
GST_START_TEST (refusal_is_told_to_a_client)
{
  DatagramSocket *listener = listener_new (__i__, loopback (__i__));
  guint16 port = get_port (listener);
  DatagramSocket *client = client_new (__i__, loopback (__i__), listener);
  Datagram datagram;
  GError *error = NULL;

  datagram_socket_free (listener);
  send_text (client, NULL, 1, 2, "1");
  send_text (client, NULL, 1, 2, "2");
  expect_error (client, G_IO_ERROR_CONNECTION_REFUSED);
  listener = try_listener (__i__, loopback (__i__), port, NULL, &error);
  g_assert_no_error (error);
  send_text (client, NULL, 1, 2, "3");
  expect_text (listener, "3", &datagram);
  expect_nothing (client);
  datagram_socket_free (client);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* --- payload sizes and path MTU ------------------------------------------- */

GST_START_TEST (mtu_is_that_of_the_path_or_less)
{
  DatagramSocket *listener, *client;
  Datagram datagram;
  guint of_client;
  DatagramPath path;

  NEED (__i__);
  listener = listener_new (__i__, loopback (__i__));
  client = client_new (__i__, loopback (__i__), listener);
  path = *datagram_socket_get_path (client);
  of_client = datagram_socket_get_mtu (client, &path, 0);
  fail_unless (of_client >= 1280);
  fail_unless_equals_int (datagram_socket_get_mtu (client, &path, 1000), 1000);
  fail_unless_equals_int (datagram_socket_get_mtu (client, &path, 1 << 20),
      of_client);

  send_text (client, NULL, PORT + 1, PORT, "x");
  expect_text (listener, "x", &datagram);
  fail_unless_equals_int (datagram_socket_get_mtu (listener, &datagram.path, 0),
      of_client);
  fail_unless_equals_int (datagram_socket_get_mtu (listener, &datagram.path,
          600), 600);
  datagram_socket_free (client);
  datagram_socket_free (listener);
}

GST_END_TEST;

GST_START_TEST (packet_longer_than_the_path_takes_is_an_error)
{
  DatagramSocket *listener, *client;
  Datagram datagram = { NULL };
  GError *error = NULL;

  NEED (__i__);
  listener = listener_new (__i__, loopback (__i__));
  client = client_new (__i__, loopback (__i__), listener);
  datagram.size = 70000;
  datagram.bytes = g_malloc0 (datagram.size);
  datagram.path = *datagram_socket_get_path (client);
  fail_unless_equals_int (datagram_socket_send (client, &datagram, 1,
          &error), -1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE);
  fail_unless (strstr (error->message, "70000 bytes") != NULL, "%s",
      error->message);
  g_error_free (error);
  g_free (datagram.bytes);
  datagram_socket_free (client);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* --- options -------------------------------------------------------------- */

static gint
get_option (DatagramSocket * socket, gint level, gint option)
{
  gint value = -1;

  fail_unless (g_socket_get_option (datagram_socket_get_socket (socket), level,
          option, &value, NULL));
  return value;
}

GST_START_TEST (options_are_the_sockets)
{
  DatagramSocketOptions options;
  GError *error = NULL;
  DatagramSocket *socket;

  NEED (__i__);
  options_init (&options, __i__);
  options.receive_buffer_size = options.send_buffer_size = 100000;
  options.ttl = 7;
  options.dscp = 46;
  options.reuse = TRUE;
  socket = try_listener (__i__, loopback (__i__), 0, &options, &error);
  g_assert_no_error (error);
  fail_unless (get_option (socket, SOL_SOCKET, SO_RCVBUF) >= 100000);
  fail_unless (get_option (socket, SOL_SOCKET, SO_SNDBUF) >= 100000);
  fail_unless_equals_int (get_option (socket, SOL_SOCKET, SO_REUSEADDR), 1);
  if (is_ipv6 (__i__)) {
    fail_unless_equals_int (get_option (socket, IPPROTO_IPV6,
            IPV6_UNICAST_HOPS), 7);
    fail_unless_equals_int (get_option (socket, IPPROTO_IPV6, IPV6_TCLASS),
        46 << 2);
  } else {
    fail_unless_equals_int (get_option (socket, IPPROTO_IP, IP_TTL), 7);
    fail_unless_equals_int (get_option (socket, IPPROTO_IP, IP_TOS), 46 << 2);
  }
  datagram_socket_free (socket);
}

GST_END_TEST;

static Suite *
datagramsocketraw_suite (void)
{
  Suite *suite = suite_create ("datagramsocketraw");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, packets_go_both_ways, 0, KINDS);
  tcase_add_loop_test (tcase, many_go_by_one_call, 0, KINDS);
  tcase_add_loop_test (tcase, answer_leaves_from_the_address_that_was_spoken_to,
      0, 3);
  tcase_add_loop_test (tcase, raw_socket_hears_its_own_port_only, 0, 2);
  tcase_add_test (tcase, error_names_what_could_not_be_had);
  tcase_add_loop_test (tcase, refusal_is_told_to_a_client, 0, 2);
  tcase_add_loop_test (tcase, mtu_is_that_of_the_path_or_less, 0, KINDS);
  tcase_add_loop_test (tcase, packet_longer_than_the_path_takes_is_an_error, 0,
      KINDS);
  tcase_add_loop_test (tcase, options_are_the_sockets, 0, KINDS);
  return suite;
}

GST_CHECK_MAIN (datagramsocketraw);
