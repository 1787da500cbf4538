/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how DatagramSocket deals with network interfaces, routes and routing
 * rules. The tests run in a network namespace of their own. If the system does
 * not permit a test to create a namespace, the test is reported as skipped.
 */

#define _GNU_SOURCE             /* unshare */

#include "datagramsockets.h"

#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "networknamespace.h"
#include "skipped.h"

static gboolean
make_devices (const gchar * test)
{
  if (!netns_make (test))
    return FALSE;
  netns_must ("ip link set wlan0 up");
  netns_must ("ip link set usb0 up");
  netns_must ("ip address add 192.0.2.1/24 dev wlan0");
  netns_must ("ip address add 198.51.100.1/24 dev usb0");
  netns_must ("ip route add 203.0.113.0/24 via 192.0.2.9 dev wlan0");
  netns_must ("ip neighbour add 192.0.2.9 lladdr 02:00:00:00:00:01 dev wlan0");
  netns_must ("ip neighbour add 203.0.113.1 lladdr 02:00:00:00:00:02 dev usb0");
  netns_must
      ("ip neighbour add 198.51.100.9 lladdr 02:00:00:00:00:03 dev usb0");
  return TRUE;
}

/* Opens a socket that captures the IPv4 packets that arrive at `device`, which
 * is the far end of a virtual cable (a pair of devices). */
static gint
open_tap (const gchar * device)
{
  gint fd = socket (AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_ll address = {.sll_family = AF_PACKET,
    .sll_protocol = g_htons (ETH_P_IP),
    .sll_ifindex = if_nametoindex (device)
  };

  fail_unless (fd >= 0);
  fail_unless (bind (fd, (struct sockaddr *) &address, sizeof (address)) == 0);
  return fd;
}

/* Returns whether the capture socket `tap` has received a packet that ends with
 * `text`. */
static gboolean
hears (gint tap, const gchar * text)
{
  gsize length = strlen (text);
  guint8 room[ROOM];
  gssize size;

  while ((size = recv (tap, room, sizeof (room), 0)) >= 0) {
    if (size >= length && memcmp (room + size - length, text, length) == 0)
      return TRUE;
  }
  return FALSE;
}

static void
expect_at (gint tap, const gchar * text)
{
  struct pollfd wait = {.fd = tap,.events = POLLIN };

  do {
    fail_unless_equals_int (poll (&wait, 1, 30000), 1);
  } while (!hears (tap, text));
}

static DatagramSocket *
connect_by (const gchar * remote, const gchar * interface, const gchar * local)
{
  GError *error = NULL;
  DatagramSocket *connected =
      datagram_test_try_connect (remote, 5004, interface, local, &error);

  g_assert_no_error (error);
  return connected;
}

/* The only route to the destination is over wlan0. A socket that is bound to
 * usb0 must nevertheless send over usb0. Linux permits this: it treats every
 * address as directly reachable over the interface to which a socket is bound.
 */
GST_START_TEST (connected_socket_sends_by_its_interface)
{
  DatagramSocket *by_route, *by_a, *by_b;
  gint tap_a, tap_b;

  if (!make_devices ("connected_socket_sends_by_its_interface"))
    return;
  tap_a = open_tap ("wlan0x");
  tap_b = open_tap ("usb0x");
  by_route = connect_by ("203.0.113.1", NULL, NULL);
  by_a = connect_by ("203.0.113.1", "wlan0", NULL);
  by_b = connect_by ("203.0.113.1", "usb0", NULL);
  datagram_test_send (by_route, "by the route", NULL);
  expect_at (tap_a, "by the route");
  datagram_test_send (by_a, "by wlan0", NULL);
  expect_at (tap_a, "by wlan0");
  datagram_test_send (by_b, "by usb0", NULL);
  expect_at (tap_b, "by usb0");
  fail_if (hears (tap_a, "by usb0"));

  fail_unless_equals_int (datagram_socket_get_max_payload (by_a, 0), 1500 - 28);
  fail_unless_equals_int (datagram_socket_get_max_payload (by_b, 0), 1280 - 28);
  fail_unless_equals_int (datagram_socket_get_max_payload (by_b, 1500),
      1280 - 28);
  /* The device now has an MTU of 68 bytes, the minimum of RFC 791. Without the
   * headers, 40 bytes of payload must be left. If the caller limits the MTU to
   * 20 bytes, the headers alone are larger than the MTU, so no payload must be
   * left. */
  netns_must ("ip link set usb0 mtu 68");
  fail_unless_equals_int (datagram_socket_get_max_payload (by_b, 0), 68 - 28);
  fail_unless_equals_int (datagram_socket_get_max_payload (by_b, 20), 0);
  close (tap_a);
  close (tap_b);
  datagram_socket_free (by_route);
  datagram_socket_free (by_a);
  datagram_socket_free (by_b);
}

GST_END_TEST;

/* A routing rule sends packets with a certain source address over a certain
 * interface, as docs/mmtpsink.md recommends. A connected socket with this
 * source address must send over this interface. */
GST_START_TEST (connected_socket_follows_the_rules_of_its_address)
{
  DatagramSocket *connected;
  gint tap_a, tap_b;

  if (!make_devices ("connected_socket_follows_the_rules_of_its_address"))
    return;
  tap_a = open_tap ("wlan0x");
  tap_b = open_tap ("usb0x");
  connected = connect_by ("203.0.113.1", NULL, "198.51.100.1");
  datagram_test_send (connected, "without a rule", NULL);
  expect_at (tap_a, "without a rule");
  datagram_socket_free (connected);

  netns_must ("ip route add default via 198.51.100.9 dev usb0 table 102");
  netns_must ("ip rule add from 198.51.100.1 lookup 102");
  connected = connect_by ("203.0.113.1", NULL, "198.51.100.1");
  datagram_test_send (connected, "with a rule", NULL);
  expect_at (tap_b, "with a rule");
  fail_if (hears (tap_a, "with a rule"));
  datagram_socket_free (connected);

  /* The destination address is no longer a neighbour at the far end of usb0.
   * The socket is bound to usb0, so it must use the route over the gateway
   * 198.51.100.9. */
  netns_must ("ip neighbour delete 203.0.113.1 dev usb0");
  connected = connect_by ("203.0.113.1", "usb0", NULL);
  datagram_test_send (connected, "by its interface", NULL);
  expect_at (tap_b, "by its interface");
  datagram_socket_free (connected);
  close (tap_a);
  close (tap_b);
}

GST_END_TEST;

GST_START_TEST (listener_of_an_interface_hears_nothing_else)
{
  GSocketAddress *local = datagram_test_address ("0.0.0.0", 5004);
  DatagramSocketOptions options;
  DatagramSocket *listener, *connected;
  GError *error = NULL;
  Datagram datagram;

  datagram_socket_options_init (&options);
  if (make_devices ("listener_of_an_interface_hears_nothing_else")) {
    options.interface = "wlan0";
    listener = datagram_socket_new_listener (local, &options, &error);
    g_assert_no_error (error);
    connected = datagram_test_connect ("127.0.0.1", 5004, NULL);
    datagram_test_send (connected, "by lo", NULL);
    datagram_test_expect_error (connected, G_IO_ERROR_CONNECTION_REFUSED, NULL);
    datagram_test_expect_nothing (listener);
    datagram_socket_free (listener);
    options.interface = "lo";
    listener = datagram_socket_new_listener (local, &options, &error);
    g_assert_no_error (error);
    datagram_test_send (connected, "by lo", NULL);
    datagram_test_expect (listener, "by lo", &datagram);
    datagram_socket_free (listener);
    datagram_socket_free (connected);
  }
  g_object_unref (local);
}

GST_END_TEST;

static void
expect_gone (DatagramSocket * connected, const gchar * message)
{
  Datagram datagram = {.bytes = (guint8 *) "x",.size = 1 };
  GError *error = NULL;

  fail_unless_equals_int (datagram_socket_send (connected, &datagram, 1,
          &error), -1);
  fail_unless (error != NULL);
  fail_if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK));
  fail_if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED));
  fail_unless (g_str_has_prefix (error->message, message), "%s",
      error->message);
  g_error_free (error);
}

GST_START_TEST (way_that_has_gone_is_an_error)
{
  DatagramSocket *by_interface, *by_address, *by_route;

  if (!make_devices ("way_that_has_gone_is_an_error"))
    return;
  by_interface = connect_by ("203.0.113.1", "wlan0", NULL);
  by_address = connect_by ("198.51.100.9", NULL, "198.51.100.1");
  by_route = connect_by ("203.0.113.1", NULL, NULL);
  datagram_test_send (by_interface, "x", NULL);
  datagram_test_send (by_address, "x", NULL);
  datagram_test_send (by_route, "x", NULL);

  netns_must ("ip link set wlan0 down");
  expect_gone (by_interface,
      "could not send a packet of 1 bytes to 203.0.113.1:5004 from 192.0.2.1 "
      "by wlan0: ");
  expect_gone (by_route,
      "could not send a packet of 1 bytes to 203.0.113.1:5004: ");
  datagram_test_send (by_address, "x", NULL);
  netns_must ("ip link set wlan0 up");
  datagram_test_send (by_interface, "x", NULL);
  netns_must ("ip link delete wlan0");
  expect_gone (by_interface,
      "could not send a packet of 1 bytes to 203.0.113.1:5004 from 192.0.2.1 "
      "by wlan0: ");

  netns_must ("ip address delete 198.51.100.1/24 dev usb0");
  expect_gone (by_address,
      "could not send a packet of 1 bytes to 198.51.100.9:5004 from "
      "198.51.100.1: ");
  datagram_test_expect_connect_error ("203.0.113.1", NULL, NULL,
      G_IO_ERROR_NETWORK_UNREACHABLE,
      "there is no route to 203.0.113.1:5004: ");
  datagram_socket_free (by_interface);
  datagram_socket_free (by_address);
  datagram_socket_free (by_route);
}

GST_END_TEST;

GST_START_TEST (full_device_says_later)
{
  const gchar *test = "full_device_says_later";
  static guint8 bytes[1400];
  Datagram datagram = {.bytes = bytes,.size = sizeof (bytes) };
  GError *error = NULL;
  DatagramSocket *connected;
  guint sent = 0;
  gint result;

  if (!make_devices (test))
    return;
  if (!netns_run ("tc qdisc add dev wlan0 root tbf rate 8kbit burst 2000"
          " limit 100mb")) {
    say_skipped (test, "no token buckets");
    return;
  }
  connected = connect_by ("203.0.113.1", "wlan0", NULL);
  while ((result = datagram_socket_send (connected, &datagram, 1, &error)) == 1)
    sent++;
  fail_unless_equals_int (result, 0);
  g_assert_no_error (error);
  fail_unless (sent > 10);
  datagram_test_expect_nothing (connected);

  netns_must ("tc qdisc delete dev wlan0 root");
  g_socket_condition_timed_wait (datagram_socket_get_socket (connected),
      G_IO_OUT, 30 * G_USEC_PER_SEC, NULL, &error);
  g_assert_no_error (error);
  fail_unless_equals_int (datagram_socket_send (connected, &datagram, 1,
          &error), 1);
  datagram_socket_free (connected);
}

GST_END_TEST;

/* Sends `text` again and again until it arrives. The kernel needs some time
 * until it can use a new address, and it loses packets that are sent before. */
static void
send_until (DatagramSocket * from, const gchar * text,
    const DatagramPath * path, DatagramSocket * to, Datagram * datagram)
{
  do
    datagram_test_send (from, text, path);
  while (!g_socket_condition_timed_wait (datagram_socket_get_socket (to),
          G_IO_IN, 10 * 1000, NULL, NULL));
  datagram_test_expect (to, text, datagram);
}

/* An IPv6 link-local address is valid only on one interface. Both addresses of
 * a path, the local and the remote one, must therefore contain the interface.
 */
GST_START_TEST (link_local_addresses_have_their_interface)
{
  DatagramSocket *listener, *connected;
  Datagram datagram, answer;
  gchar *from;

  if (!make_devices ("link_local_addresses_have_their_interface"))
    return;
  netns_must ("ip address add fe80::1/64 dev wlan0 nodad");
  netns_must ("ip address add fe80::2/64 dev wlan0 nodad");
  listener = datagram_test_listener ("::", 5004);
  connected = connect_by ("fe80::1%wlan0", NULL, "fe80::2%wlan0");
  send_until (connected, "x", NULL, listener, &datagram);
  from = g_strdup_printf ("[fe80::2%%wlan0]:%u",
      datagram_test_get_port (connected));
  datagram_test_assert_remote (&datagram, from);
  send_until (listener, "y", &datagram.path, connected, &answer);
  g_free (from);
  datagram_socket_free (connected);
  datagram_socket_free (listener);
}

GST_END_TEST;

/* As "ethtool -K DEVICE tx off" */
static void
disable_checksum_offload (const gchar * device)
{
  struct ethtool_value value = {.cmd = ETHTOOL_STXCSUM };
  struct ifreq request = { 0 };
  gint fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  g_strlcpy (request.ifr_name, device, sizeof (request.ifr_name));
  request.ifr_data = (gpointer) & value;
  fail_unless (ioctl (fd, SIOCETHTOOL, &request) == 0);
  close (fd);
}

#define LOCAL_PORT 5006

static DatagramSocket *
open_with (gboolean gso, gboolean may_fragment, guint16 local_port)
{
  GSocketAddress *remote = datagram_test_address ("203.0.113.1", 5004);
  GSocketAddress *local = datagram_test_address ("192.0.2.1", local_port);
  DatagramSocketOptions options;
  GError *error = NULL;
  DatagramSocket *socket;

  datagram_socket_options_init (&options);
  options.gso = gso;
  options.may_fragment = may_fragment;
  socket = datagram_socket_new_connected (remote,
      local_port ? local : NULL, &options, &error);
  g_assert_no_error (error);
  g_object_unref (remote);
  g_object_unref (local);
  return socket;
}

static DatagramSocket *
open_gso (gboolean may_fragment)
{
  return open_with (TRUE, may_fragment, 0);
}

#define RUN 20
#define IP_HEADER 20            /* bytes of IPv4 */
#define HEADERS (IP_HEADER + 8) /* with UDP */

/* Sends RUN packets of `size` bytes. Each packet ends with the text "packet
 * NN", where NN is its number. The first packet has the number `first`. Returns
 * what datagram_socket_send () returns. */
static gint
send_run (DatagramSocket * socket, gsize size, guint first, GError ** error)
{
  static guint8 bytes[RUN][1400];
  Datagram packets[RUN];
  gchar *text;
  guint i;

  for (i = 0; i < RUN; i++) {
    text = g_strdup_printf ("packet %02u", first + i);
    memcpy (bytes[i] + size - strlen (text), text, strlen (text));
    datagram_init (&packets[i], bytes[i], size);
    g_free (text);
  }
  return datagram_socket_send (socket, packets, RUN, error);
}

/* Checks that the next packets at `tap` are the RUN packets that send_run ()
 * sent with the same `size` and `first`. If the sending device supports GSO,
 * several packets may arrive as one large packet. */
static void
expect_run_at (gint tap, gsize size, guint first)
{
  struct pollfd wait = {.fd = tap,.events = POLLIN };
  const guint last = first + RUN;
  guint8 memory[65536], *packet;
  gssize received;
  gchar *text;

  while (first < last) {
    fail_unless_equals_int (poll (&wait, 1, 30000), 1);
    received = recv (tap, memory, sizeof (memory), 0);
    packet = memory + HEADERS;
    fail_unless (received > HEADERS && (received - HEADERS) % size == 0);
    for (; packet < memory + received; packet += size) {
      text = g_strdup_printf ("packet %02u", first++);
      fail_unless (memcmp (packet + size - strlen (text), text,
              strlen (text)) == 0, "%s", text);
      g_free (text);
    }
  }
}

/* The route of the socket changes from the first device to the second one, and
 * back. The first device has no checksum offload, and therefore no GSO. A
 * kernel before 6.11 refuses a GSO message for this device with EIO. A newer
 * kernel splits the message itself. With each kernel, all packets must arrive
 * at the device of the current route. */
GST_START_TEST (gso_socket_follows_a_route_that_changes)
{
  GError *error = NULL;
  DatagramSocket *socket;
  gint tap_a, tap_b;

  if (!make_devices ("gso_socket_follows_a_route_that_changes"))
    return;
  disable_checksum_offload ("wlan0");
  tap_a = open_tap ("wlan0x");
  tap_b = open_tap ("usb0x");
  socket = open_gso (FALSE);
  fail_unless_equals_int (send_run (socket, 1200, 0, &error), RUN);
  expect_run_at (tap_a, 1200, 0);
  netns_must ("ip route replace 203.0.113.0/24 dev usb0");
  fail_unless_equals_int (send_run (socket, 1200, 20, &error), RUN);
  expect_run_at (tap_b, 1200, 20);
  netns_must ("ip route replace 203.0.113.0/24 via 192.0.2.9 dev wlan0");
  fail_unless_equals_int (send_run (socket, 1200, 40, &error), RUN);
  expect_run_at (tap_a, 1200, 40);
  g_assert_no_error (error);
  close (tap_a);
  close (tap_b);
  datagram_socket_free (socket);
}

GST_END_TEST;

GST_START_TEST (gso_socket_obeys_an_mtu_that_shrinks)
{
  DatagramSocket *fragments, *whole;
  GError *error = NULL;
  gchar *text;
  gint tap;
  guint i;

  if (!make_devices ("gso_socket_obeys_an_mtu_that_shrinks"))
    return;
  disable_checksum_offload ("wlan0");
  tap = open_tap ("wlan0x");
  fragments = open_gso (TRUE);
  whole = open_gso (FALSE);
  fail_unless_equals_int (send_run (fragments, 1200, 0, &error), RUN);
  expect_run_at (tap, 1200, 0);
  fail_unless_equals_int (send_run (whole, 1200, 20, &error), RUN);
  expect_run_at (tap, 1200, 20);

  netns_must ("ip link set wlan0 mtu 1000");
  fail_unless_equals_int (send_run (fragments, 1200, 40, &error), RUN);
  for (i = 40; i < 40 + RUN; i++) {
    text = g_strdup_printf ("packet %02u", i);
    expect_at (tap, text);
    g_free (text);
  }
  g_assert_no_error (error);
  fail_unless_equals_int (send_run (whole, 1200, 60, &error), -1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE);
  g_clear_error (&error);
  fail_unless_equals_int (send_run (whole, 972, 60, &error), RUN);
  expect_run_at (tap, 972, 60);
  g_assert_no_error (error);
  close (tap);
  datagram_socket_free (fragments);
  datagram_socket_free (whole);
}

GST_END_TEST;

/* Returns the one's complement sum (RFC 1071) of the `size` bytes at `bytes`,
 * plus `start`. `size` is even. */
static guint16
add_up (const guint8 * bytes, gsize size, guint32 start)
{
  gsize i;

  for (i = 0; i < size; i += 2)
    start += bytes[i] << 8 | bytes[i + 1];
  start = (start & 0xffff) + (start >> 16);
  return (start & 0xffff) + (start >> 16);
}

/* Computes the checksum (RFC 1071) of the `size` bytes at `bytes` and writes it
 * to `sum`. If the checksum field `sum` is one of these bytes, it must contain
 * 0 before the call. */
static void
write_checksum (guint8 * bytes, gsize size, guint8 * sum)
{
  GST_WRITE_UINT16_BE (sum, ~add_up (bytes, size, 0));
}

/* Captures RUN packets. Checks that the checksums of the packets are correct
 * and that their IP identifications are consecutive. Then sets the checksums
 * and the IP identifications to 0, so that two captures can be compared.
 * Returns an array of bytes that contains all packets, one after the other. */
static GByteArray *
capture_run (gint tap, gsize size)
{
  struct pollfd wait = {.fd = tap,.events = POLLIN };
  GByteArray *captured = g_byte_array_new ();
  guint8 packet[ROOM];
  guint16 id = 0;
  gssize received;
  guint i;

  for (i = 0; i < RUN; i++) {
    fail_unless_equals_int (poll (&wait, 1, 30000), 1);
    received = recv (tap, packet, sizeof (packet), 0);
    fail_unless_equals_int (received, HEADERS + size);
    fail_unless_equals_int (add_up (packet, IP_HEADER, 0), 0xffff);
    /* The UDP checksum also covers a pseudo header (RFC 768): the addresses,
     * the protocol and the length. */
    fail_unless_equals_int (add_up (packet + 12, received - 12,
            IPPROTO_UDP + received - IP_HEADER), 0xffff);
    if (i > 0)
      fail_unless_equals_int (GST_READ_UINT16_BE (packet + 4),
          (guint16) (id + 1));
    id = GST_READ_UINT16_BE (packet + 4);
    memset (packet + 4, 0, 2);
    memset (packet + 10, 0, 2);
    memset (packet + IP_HEADER + 6, 0, 2);
    g_byte_array_append (captured, packet, received);
  }
  return captured;
}

/* Captures the same packets twice, sent with and without GSO. The two captures
 * must be equal. The device has no checksum offload, so the kernel splits the
 * GSO messages into packets before the capture. */
GST_START_TEST (captures_are_the_same_with_and_without_gso)
{
  GByteArray *captured[2];
  GError *error = NULL;
  DatagramSocket *socket;
  guint gso;
  gint tap;

  if (!make_devices ("captures_are_the_same_with_and_without_gso"))
    return;
  disable_checksum_offload ("wlan0");
  tap = open_tap ("wlan0x");
  for (gso = 0; gso < 2; gso++) {
    socket = open_with (gso, __i__, LOCAL_PORT);
    fail_unless_equals_int (send_run (socket, 1200, 0, &error), RUN);
    g_assert_no_error (error);
    captured[gso] = capture_run (tap, 1200);
    datagram_socket_free (socket);
  }
  fail_unless_equals_int (captured[0]->len, captured[1]->len);
  fail_unless (memcmp (captured[0]->data, captured[1]->data,
          captured[0]->len) == 0);
  g_byte_array_unref (captured[0]);
  g_byte_array_unref (captured[1]);
  close (tap);
}

GST_END_TEST;

/* Simulates a gateway with the address 192.0.2.9 at the far end of `device`.
 * The header of a received packet starts at `packet`. The gateway cannot
 * forward this packet, because the packet is too large. It therefore sends the
 * ICMP message "fragmentation needed" (RFC 1191), which contains the MTU `mtu`.
 */
static void
say_too_big (gint tap, const gchar * device, const guint8 * packet, guint mtu)
{
  guint8 bytes[IP_HEADER + 8 + HEADERS] = { 0x45, 0, 0, sizeof (bytes),
    0, 0, 0, 0, 64, IPPROTO_ICMP, 0, 0, 192, 0, 2, 9, 192, 0, 2, 1,
    3, 4, 0, 0, 0, 0, mtu >> 8, mtu & 0xff
  };
  struct sockaddr_ll address = {.sll_family = AF_PACKET,
    .sll_protocol = g_htons (ETH_P_IP),.sll_halen = ETH_ALEN,
    .sll_ifindex = if_nametoindex (device)
  };

  memset (address.sll_addr, 0xff, ETH_ALEN);
  memcpy (bytes + IP_HEADER + 8, packet, HEADERS);
  write_checksum (bytes, IP_HEADER, bytes + 10);
  write_checksum (bytes + IP_HEADER, 8 + HEADERS, bytes + IP_HEADER + 2);
  fail_unless_equals_int (sendto (tap, bytes, sizeof (bytes), 0,
          (struct sockaddr *) &address, sizeof (address)), sizeof (bytes));
}

/* Behind a gateway, the path MTU is only 1000 bytes. Packets of 1200 bytes
 * therefore do not pass the gateway, and it sends an ICMP message. The socket
 * must report this as an error. After that, its maximum payload size must be
 * 972 bytes, and it must refuse larger packets. */
GST_START_TEST (gso_socket_learns_the_path_mtu_by_icmp)
{
  struct pollfd wait = {.events = POLLIN };
  GError *error = NULL;
  guint8 packet[65536];
  DatagramSocket *socket;

  if (!make_devices ("gso_socket_learns_the_path_mtu_by_icmp"))
    return;
  wait.fd = open_tap ("wlan0x");
  socket = open_gso (FALSE);
  fail_unless_equals_int (send_run (socket, 1200, 0, &error), RUN);
  fail_unless_equals_int (poll (&wait, 1, 30000), 1);
  fail_unless (recv (wait.fd, packet, sizeof (packet), 0) > HEADERS);
  fail_if (hears (wait.fd, "another packet"));
  say_too_big (wait.fd, "wlan0x", packet, 1000);
  datagram_test_expect_error (socket, G_IO_ERROR_MESSAGE_TOO_LARGE,
      "203.0.113.1:5004 returned an ICMP error");
  fail_unless_equals_int (datagram_socket_get_max_payload (socket, 0), 972);
  fail_unless_equals_int (send_run (socket, 1200, 20, &error), -1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE);
  g_clear_error (&error);
  fail_unless_equals_int (send_run (socket, 972, 20, &error), RUN);
  expect_run_at (wait.fd, 972, 20);
  g_assert_no_error (error);
  close (wait.fd);
  datagram_socket_free (socket);
}

GST_END_TEST;

static Suite *
datagramsocketsystem_suite (void)
{
  Suite *suite = suite_create ("datagramsocketsystem");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, connected_socket_sends_by_its_interface);
  tcase_add_test (tcase, connected_socket_follows_the_rules_of_its_address);
  tcase_add_test (tcase, listener_of_an_interface_hears_nothing_else);
  tcase_add_test (tcase, way_that_has_gone_is_an_error);
  tcase_add_test (tcase, full_device_says_later);
  tcase_add_test (tcase, link_local_addresses_have_their_interface);
  tcase_add_test (tcase, gso_socket_follows_a_route_that_changes);
  tcase_add_test (tcase, gso_socket_obeys_an_mtu_that_shrinks);
  tcase_add_loop_test (tcase, captures_are_the_same_with_and_without_gso, 0, 2);
  tcase_add_test (tcase, gso_socket_learns_the_path_mtu_by_icmp);
  return suite;
}

GST_CHECK_MAIN (datagramsocketsystem);
