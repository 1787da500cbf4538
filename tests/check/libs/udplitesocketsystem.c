/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks how UDP-Lite sockets deal with the operating system: with its errors,
 * with multicast groups, and with sockets that the application made. Also
 * checks which backend is selected if a backend is not available. Cases that
 * this system does not support are reported as skipped.
 */

#define _GNU_SOURCE             /* unshare */

#include "udplitesockets.h"

#ifdef __linux__
#include <stddef.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tundevices.h"
#endif

/* --- errors --------------------------------------------------------------- */

/* Sends a batch of three packets with udplite_socket_send (). The second packet
 * is too long to be sent. The function must send and count the first packet,
 * and report an error. */
GST_START_TEST (packet_too_long_to_send_is_an_error)
{
  gsize size = 66000;
  guint8 *data = g_malloc0 (size);
  struct sockaddr_storage address;
  UdpliteOutput outputs[3];
  socklen_t address_size;
  GError *error = NULL;
  GPtrArray *packets;
  UdpliteFixture fixture;
  guint i;

  if (!udplite_fixture_open_alike (&fixture,
          "packet_too_long_to_send_is_an_error", __i__))
    goto out;
  address_size = udplite_test_address (&address, fixture.ipv6, fixture.port);
  for (i = 0; i < 3; i++)
    udplite_test_output (&outputs[i], &address, address_size, data,
        i == 1 ? size : 100, 12);
  fail_unless_equals_int (udplite_socket_send (fixture.sender, outputs, 3,
          &error), 1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE);
  fail_unless (strstr (error->message,
          fixture.ipv6 ? "::1" : "127.0.0.1") != NULL, "%s", error->message);
  fail_unless (strstr (error->message, "6600") != NULL, "%s", error->message);
  g_clear_error (&error);
  fail_unless_equals_int (udplite_socket_send (fixture.sender, outputs + 2, 1,
          &error), 1);
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, 2);
  g_ptr_array_unref (packets);
  udplite_fixture_close (&fixture);
out:
  g_free (data);
}

GST_END_TEST;

GST_START_TEST (address_of_the_other_family_is_an_error)
{
  struct sockaddr_storage address;
  UdpliteOutput output;
  socklen_t size;
  GError *error = NULL;
  UdpliteFixture fixture;

  if (!udplite_fixture_open_alike (&fixture,
          "address_of_the_other_family_is_an_error", __i__))
    return;
  size = udplite_test_address (&address, !fixture.ipv6, fixture.port);
  udplite_test_output (&output, &address, size, "x", 1, G_MAXUINT);
  fail_unless_equals_int (udplite_socket_send (fixture.sender, &output, 1,
          &error), 0);
  fail_unless (error != NULL);
  g_clear_error (&error);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

GST_START_TEST (port_in_use_is_an_error_even_if_any_backend_will_do)
{
  static const UdpliteBackend others[] = {
    UDPLITE_BACKEND_KERNEL, UDPLITE_BACKEND_RAW, UDPLITE_BACKEND_AUTO
  };
  const gchar *test = "port_in_use_is_an_error_even_if_any_backend_will_do";
  UdpliteSocket *holder = udplite_test_open (test, UDPLITE_BACKEND_KERNEL,
      __i__);
  UdpliteSocket *raw = udplite_test_open (test, UDPLITE_BACKEND_RAW, __i__);
  GInetSocketAddress *address;
  GError *error = NULL;
  guint i;

  for (i = 0; holder && raw && i < G_N_ELEMENTS (others); i++) {
    address = udplite_test_loopback (__i__, udplite_socket_get_port (i == 0
            ? raw : holder));
    fail_unless (udplite_socket_new (others[i], address, FALSE, NULL,
            &error) == NULL);
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE);
    g_clear_error (&error);
    g_object_unref (address);
  }
  g_clear_pointer (&holder, udplite_socket_free);
  g_clear_pointer (&raw, udplite_socket_free);
}

GST_END_TEST;

/* --- sockets of the application ------------------------------------------- */

/* Returns a UDP-Lite socket of the kernel that is connected to `port`. If the
 * kernel does not support UDP-Lite, reports `test` as skipped and returns
 * NULL. */
static GSocket *
foreign_new (const gchar * test, gboolean ipv6, guint16 port)
{
  gint fd = socket (ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC,
      UDPLITE_PROTOCOL);
  struct sockaddr_storage address;
  socklen_t size;
  GSocket *foreign;

  if (fd < 0) {
    say_skipped (test, "with %s the kernel has no UDP-Lite: %s",
        udplite_test_family_name (ipv6), g_strerror (errno));
    return NULL;
  }
  size = udplite_test_address (&address, ipv6, port);
  fail_unless (port == 0
      || connect (fd, (struct sockaddr *) &address, size) == 0);
  foreign = g_socket_new_from_fd (fd, NULL);
  fail_unless (foreign != NULL);
  return foreign;
}

GST_START_TEST (socket_of_others_is_used_as_it_is)
{
  const gchar *test = "socket_of_others_is_used_as_it_is";
  GSocket *foreign = foreign_new (test, __i__, 0);
  UdpliteSocket *receiver = udplite_test_open (test, UDPLITE_BACKEND_RAW,
      __i__);
  gint coverage = 20;
  GPtrArray *packets;
  GError *error = NULL;
  UdpliteSocket *self;

  if (!foreign || !receiver)
    goto out;
  setsockopt (g_socket_get_fd (foreign), 136, 10, &coverage, sizeof (coverage));
  self = udplite_socket_new_from_socket (foreign, FALSE, &error);
  g_assert_no_error (error);
  fail_unless_equals_int (udplite_socket_get_backend (self),
      UDPLITE_BACKEND_KERNEL);
  fail_unless (udplite_socket_get_socket (self) == foreign);
  fail_unless_equals_int (udplite_socket_get_port (self), 0);
  udplite_test_send (self, __i__, udplite_socket_get_port (receiver),
      "what is covered whole", 22, G_MAXUINT);
  fail_unless (udplite_socket_get_port (self) != 0);
  udplite_test_send (self, __i__, udplite_socket_get_port (receiver),
      "what is covered partly", 23, 12);
  packets = udplite_test_collect (receiver, self, __i__);
  fail_unless_equals_int (packets->len, 2);
  fail_unless_equals_int (((UdpliteTestPacket *) packets->pdata[0])->covered,
      22);
  fail_unless_equals_int (((UdpliteTestPacket *) packets->pdata[1])->covered,
      12);
  g_ptr_array_unref (packets);

  udplite_socket_free (self);
  fail_if (g_socket_is_closed (foreign));
  self = udplite_socket_new_from_socket (foreign, TRUE, &error);
  udplite_socket_free (self);
  fail_unless (g_socket_is_closed (foreign));
out:
  g_clear_object (&foreign);
  g_clear_pointer (&receiver, udplite_socket_free);
}

GST_END_TEST;

/* Two UDP-Lite senders share one socket, but have different checksum coverages.
 * Each packet must have the coverage of its own sender.
 */
GST_START_TEST (two_may_send_by_one_socket)
{
  const gchar *test = "two_may_send_by_one_socket";
  static const guint coverages[2] = { 12, G_MAXUINT };
  GSocket *foreign = foreign_new (test, __i__, 0);
  UdpliteSocket *receiver = udplite_test_open (test, UDPLITE_BACKEND_RAW,
      __i__);
  UdpliteSocket *senders[2];
  GPtrArray *packets;
  guint i;

  if (!foreign || !receiver)
    goto out;
  for (i = 0; i < 2; i++)
    senders[i] = udplite_socket_new_from_socket (foreign, FALSE, NULL);
  for (i = 0; i < 6; i++)
    udplite_test_send (senders[i % 2], __i__,
        udplite_socket_get_port (receiver),
        "each as it wants", 17, coverages[i % 2]);
  packets = udplite_test_collect (receiver, senders[0], __i__);
  fail_unless_equals_int (packets->len, 6);
  for (i = 0; i < 6; i++)
    fail_unless_equals_int (((UdpliteTestPacket *) packets->pdata[i])->covered,
        i % 2 ? 17 : 12);
  g_ptr_array_unref (packets);
  udplite_socket_free (senders[0]);
  udplite_socket_free (senders[1]);
out:
  g_clear_object (&foreign);
  g_clear_pointer (&receiver, udplite_socket_free);
}

GST_END_TEST;

GST_START_TEST (socket_of_another_protocol_is_refused)
{
  GSocket *udp = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
      G_SOCKET_PROTOCOL_UDP, NULL);
  GSocket *tcp = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM,
      G_SOCKET_PROTOCOL_TCP, NULL);
  GError *error = NULL;

  fail_unless (udplite_socket_new_from_socket (udp, TRUE, &error) == NULL);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_clear_error (&error);
  fail_unless (udplite_socket_new_from_socket (tcp, TRUE, &error) == NULL);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_clear_error (&error);
  fail_if (g_socket_is_closed (udp));
  g_object_unref (udp);
  g_object_unref (tcp);
}

GST_END_TEST;

/* ms */
#define TIMEOUT 20000
#define SENDS 5

static gint
take_socket_error (GSocket * socket)
{
  gint error_number = 0;

  g_socket_get_option (socket, SOL_SOCKET, SO_ERROR, &error_number, NULL);
  return error_number;
}

/* Returns whether the socket has a pending error. Waits for the error for up to
 * `time` ms, because the kernel may report it late on a loaded machine. */
static gboolean
has_socket_error (GSocket * socket, gint time)
{
  struct pollfd fd = { g_socket_get_fd (socket), 0, 0 };

  return poll (&fd, 1, time) == 1 && (fd.revents & POLLERR);
}

/* Opens a socket and closes it again. Returns the port of this socket, which no
 * socket uses any more. */
static guint16
find_closed_port (gboolean ipv6)
{
  UdpliteSocket *socket = udplite_test_open ("", UDPLITE_BACKEND_KERNEL, ipv6);
  guint16 port = udplite_socket_get_port (socket);

  udplite_socket_free (socket);
  return port;
}

/* A sent packet may be answered by an ICMP error. The kernel then reports this
 * error at the next call for sending or receiving on the same socket. This call
 * must not fail, because the error belongs to an earlier packet. */
GST_START_TEST (refusal_of_a_packet_before_is_ignored)
{
  const gchar *test = "refusal_of_a_packet_before_is_ignored";
  GSocket *foreign = foreign_new (test, __i__, 0);
  UdpliteMemory memory = { NULL };
  GError *error = NULL;
  UdpliteSocket *self;
  guint16 port;
  guint i, n;

  if (!foreign)
    return;
  g_object_unref (foreign);
  port = find_closed_port (__i__);
  foreign = foreign_new (test, __i__, port);

  fail_unless_equals_int (send (g_socket_get_fd (foreign), "x", 1, 0), 1);
  fail_unless (has_socket_error (foreign, TIMEOUT));
  fail_unless_equals_int (take_socket_error (foreign), ECONNREFUSED);

  self = udplite_socket_new_from_socket (foreign, FALSE, &error);
  for (i = 0; i < SENDS; i++)
    udplite_test_send (self, __i__, port, "x", 1, G_MAXUINT);
  /* The sent packets cause errors on the socket, at most one error for each
   * packet. The following loop receives until no error is pending, but at most
   * SENDS + 1 times. Each receive call takes one pending error from the socket.
   * After SENDS + 1 calls, no error may be left. */
  for (i = 0; i == 0 || (i <= SENDS && has_socket_error (foreign, 0)); i++) {
    udplite_socket_receive (self, &memory, 1, &n, &error);
    fail_unless_equals_int (n, 0);
    g_assert_no_error (error);
  }
  fail_if (i > SENDS && has_socket_error (foreign, 0));
  udplite_socket_free (self);
  g_object_unref (foreign);
}

GST_END_TEST;

/* Checks that the sender gets no error if a raw socket receives its packets.
 * The kernel does not consider raw sockets when it decides whether a port is
 * unreachable. The raw backend must therefore prevent the kernel's ICMP
 * message. */
GST_START_TEST (raw_receiver_is_not_said_to_be_away)
{
  const gchar *test = "raw_receiver_is_not_said_to_be_away";
  UdpliteSocket *receiver = udplite_test_open (test, UDPLITE_BACKEND_RAW,
      __i__);
  GSocket *sender;

  if (!receiver)
    return;
  sender = foreign_new (test, __i__, udplite_socket_get_port (receiver));
  if (sender) {
    fail_unless_equals_int (send (g_socket_get_fd (sender), "x", 1, 0), 1);
    fail_unless_equals_int (take_socket_error (sender), 0);
    g_object_unref (sender);
  }
  udplite_socket_free (receiver);
}

GST_END_TEST;

/* --- multicast groups ----------------------------------------------------- */

static GInetAddress *
get_group (gboolean ipv6)
{
  return g_inet_address_new_from_string (ipv6 ? "ff15::1:2:3" : "239.255.1.2");
}

static UdpliteSocket *
open_any (UdpliteBackend backend, gboolean ipv6)
{
  GInetAddress *any = g_inet_address_new_any (ipv6 ? G_SOCKET_FAMILY_IPV6 :
      G_SOCKET_FAMILY_IPV4);
  GSocketAddress *address = g_inet_socket_address_new (any, 0);
  UdpliteSocket *socket = udplite_socket_new (backend,
      G_INET_SOCKET_ADDRESS (address), FALSE, NULL, NULL);

  g_object_unref (any);
  g_object_unref (address);
  return socket;
}

#ifdef __linux__

/* Returns the index of a network interface that supports multicast, or 0 if
 * there is none. For IPv4, this is the loopback interface. For IPv6, the
 * loopback interface has no multicast groups, so the test makes a TUN device in
 * its own network namespace. */
static guint
find_interface (const gchar * test, gboolean ipv6)
{
  if (!ipv6)
    return if_nametoindex ("lo");
  if (!tun_device_enter (test))
    return 0;
  return tun_device_add (test, "groups", IFF_TUN);
}

/* Sends a batch of four packets. The third packet has a destination without a
 * route, because the network namespace of the test has only a loopback
 * interface. The first call must send the first two packets and report an
 * error. A second call must send the fourth packet. */
GST_START_TEST (destination_without_a_route_is_an_error)
{
  const gchar *test = "destination_without_a_route_is_an_error";
  struct sockaddr_storage here, away;
  UdpliteOutput outputs[4];
  GSocketAddress *address;
  GPtrArray *packets;
  GError *error = NULL;
  socklen_t size;
  UdpliteFixture fixture;
  guint i;

  if (!tun_device_enter (test)
      || !udplite_fixture_open_alike (&fixture, test, __i__))
    return;
  udplite_socket_free (fixture.sender);
  fixture.sender = open_any (fixture.backend, fixture.ipv6);
  size = udplite_test_address (&here, fixture.ipv6, fixture.port);
  address =
      g_inet_socket_address_new_from_string (fixture.ipv6 ? "2001:db8::1" :
      "192.0.2.1", fixture.port);
  g_socket_address_to_native (address, &away, sizeof (away), NULL);
  g_object_unref (address);

  for (i = 0; i < 4; i++)
    udplite_test_output (&outputs[i], i == 2 ? &away : &here, size, &i,
        sizeof (i), 12);
  fail_unless_equals_int (udplite_socket_send (fixture.sender, outputs, 4,
          &error), 2);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE);
  fail_unless (strstr (error->message, fixture.ipv6 ? "2001:db8::1" :
          "192.0.2.1") != NULL, "%s", error->message);
  g_clear_error (&error);
  fail_unless_equals_int (udplite_socket_send (fixture.sender, outputs + 3, 1,
          &error), 1);
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, 3);
  g_ptr_array_unref (packets);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

/* Checks that packets to a multicast group arrive. Both sockets are bound to
 * the wildcard address, so the sending socket has to find out which source
 * address its packets have. */
GST_START_TEST (group_is_reached)
{
  const gchar *test = "group_is_reached";
  guint index = find_interface (test, __i__ % 2);
  struct sockaddr_storage native;
  GInetAddress *group;
  GSocketAddress *to;
  UdpliteOutput output;
  GPtrArray *packets;
  GError *error = NULL;
  UdpliteFixture fixture;

  if (index == 0 || !udplite_fixture_open (&fixture, test, __i__))
    return;
  udplite_fixture_close (&fixture);
  fixture.receiver =
      open_any (udplite_test_combinations[__i__ / 2].receiver, fixture.ipv6);
  fixture.sender =
      open_any (udplite_test_combinations[__i__ / 2].sender, fixture.ipv6);
  fixture.port = udplite_socket_get_port (fixture.receiver);
  group = get_group (fixture.ipv6);
  to = g_inet_socket_address_new (group, fixture.port);
  g_socket_address_to_native (to, &native, sizeof (native), NULL);
  if (fixture.ipv6)
    tun_device_wait_for_address (index, (struct sockaddr *) &native,
        g_socket_address_get_native_size (to));

  fail_unless (udplite_socket_set_membership (fixture.receiver, TRUE, group,
          NULL, index, &error));
  fail_unless (udplite_socket_set_multicast_interface (fixture.sender, index,
          &error));
  udplite_test_output (&output, &native, g_socket_address_get_native_size (to),
      "to all of you", 13, 4);
  fail_unless_equals_int (udplite_socket_send (fixture.sender, &output, 1,
          &error), 1);
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, 1);
  g_ptr_array_unref (packets);

  fail_unless (udplite_socket_set_membership (fixture.receiver, FALSE, group,
          NULL, index, &error));
  fail_if (udplite_socket_set_membership (fixture.receiver, FALSE, group, NULL,
          index, &error));
  fail_unless (error != NULL);
  g_clear_error (&error);
  g_object_unref (to);
  g_object_unref (group);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

#endif

/* --- choice of the backend ------------------------------------------------ */

#ifdef __linux__

/* Makes socket(2) fail with `error_number` in this process if the socket type
 * is `type` and the protocol is 136 (UDP-Lite). This simulates a system without
 * UDP-Lite, or a process without the permission to use UDP-Lite. If this is not
 * possible, the function reports `test` as skipped and returns FALSE. */
static gboolean
deny_socket (const gchar * test, gint type, gint error_number)
{
  struct sock_filter code[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 6),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data,
            args[2])),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, UDPLITE_PROTOCOL, 0, 4),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data,
            args[1])),
    BPF_STMT (BPF_ALU | BPF_AND | BPF_K, 0xf),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, type, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { G_N_ELEMENTS (code), code };

  if (G_BYTE_ORDER == G_LITTLE_ENDIAN
      && prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
      && prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
    return TRUE;
  say_skipped (test, "could not forbid sockets: %s", g_strerror (errno));
  return FALSE;
}

static UdpliteBackend
open_auto (gchar ** tried)
{
  GInetSocketAddress *address = udplite_test_loopback (FALSE, 0);
  GError *error = NULL;
  UdpliteSocket *self = udplite_socket_new (UDPLITE_BACKEND_AUTO, address,
      FALSE, tried, &error);
  UdpliteBackend backend;

  g_assert_no_error (error);
  backend = udplite_socket_get_backend (self);
  udplite_socket_free (self);
  g_object_unref (address);
  return backend;
}

GST_START_TEST (auto_takes_the_first_that_works)
{
  const gchar *test = "auto_takes_the_first_that_works";
  UdpliteSocket *kernel = udplite_test_open (test, UDPLITE_BACKEND_KERNEL,
      FALSE);
  UdpliteSocket *raw = udplite_test_open (test, UDPLITE_BACKEND_RAW, FALSE);
  gchar *tried;

  if (kernel) {
    fail_unless_equals_int (open_auto (&tried), UDPLITE_BACKEND_KERNEL);
    fail_unless_equals_string (tried, "");
    g_free (tried);
  }
  if (!deny_socket (test, SOCK_DGRAM, EPROTONOSUPPORT))
    goto out;
  if (raw) {
    fail_unless_equals_int (open_auto (&tried), UDPLITE_BACKEND_RAW);
    fail_unless (g_str_has_prefix (tried, "kernel: "), "%s", tried);
    fail_unless (strstr (tried, g_strerror (EPROTONOSUPPORT)) != NULL);
    fail_unless (strstr (tried, "; ") == NULL, "%s", tried);
    g_free (tried);
  }
  if (!deny_socket (test, SOCK_RAW, EPERM))
    goto out;
  fail_unless_equals_int (open_auto (&tried), UDPLITE_BACKEND_UDP);
  fail_unless (strstr (tried, "; raw: ") != NULL, "%s", tried);
  fail_unless (strstr (tried, g_strerror (EPERM)) != NULL, "%s", tried);
  g_free (tried);
out:
  g_clear_pointer (&kernel, udplite_socket_free);
  g_clear_pointer (&raw, udplite_socket_free);
}

GST_END_TEST;

/* Simulates a kernel without UDP-Lite, such as Linux 7.1. The raw backend must
 * still be able to send and receive. */
GST_START_TEST (raw_needs_no_udplite_in_the_kernel)
{
  const gchar *test = "raw_needs_no_udplite_in_the_kernel";
  GPtrArray *packets;
  guint8 data[100];
  UdpliteFixture fixture;

  if (!deny_socket (test, SOCK_DGRAM, EPROTONOSUPPORT))
    return;
  if (!udplite_fixture_open_backends (&fixture, test, UDPLITE_BACKEND_RAW,
          UDPLITE_BACKEND_RAW, __i__))
    return;
  udplite_test_fill (data, sizeof (data), 1);
  udplite_test_send (fixture.sender, fixture.ipv6, fixture.port, data,
      sizeof (data), 12);
  packets = udplite_fixture_collect (&fixture);
  fail_unless_equals_int (packets->len, 1);
  udplite_test_assert_packet (&fixture, packets->pdata[0], 1, sizeof (data),
      12);
  udplite_test_assert_from (&fixture, packets->pdata[0]);
  g_ptr_array_unref (packets);
  udplite_fixture_close (&fixture);
}

GST_END_TEST;

#endif

static Suite *
udplitesocketsystem_suite (void)
{
  Suite *suite = suite_create ("udplitesocketsystem");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, packet_too_long_to_send_is_an_error, 0,
      N_BACKENDS);
  tcase_add_loop_test (tcase, address_of_the_other_family_is_an_error, 0,
      N_BACKENDS);
  tcase_add_loop_test (tcase,
      port_in_use_is_an_error_even_if_any_backend_will_do, 0, 2);
  tcase_add_loop_test (tcase, socket_of_others_is_used_as_it_is, 0, 2);
  tcase_add_loop_test (tcase, two_may_send_by_one_socket, 0, 2);
  tcase_add_test (tcase, socket_of_another_protocol_is_refused);
  tcase_add_loop_test (tcase, refusal_of_a_packet_before_is_ignored, 0, 2);
  tcase_add_loop_test (tcase, raw_receiver_is_not_said_to_be_away, 0, 2);
#ifdef __linux__
  tcase_add_loop_test (tcase, destination_without_a_route_is_an_error, 0,
      N_BACKENDS);
  tcase_add_loop_test (tcase, group_is_reached, 0, N_COMBINATIONS);
  tcase_add_test (tcase, auto_takes_the_first_that_works);
  tcase_add_loop_test (tcase, raw_needs_no_udplite_in_the_kernel, 0, 2);
#endif
  return suite;
}

GST_CHECK_MAIN (udplitesocketsystem);
