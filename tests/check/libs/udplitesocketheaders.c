/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the IPv4 headers that the raw backend writes (IP_HDRINCL). They must
 * be equal to those that the kernel writes. Each test sends the same packets
 * twice, once with headers of the kernel and once with headers of the backend,
 * and compares captures of the packets. The test replaces setsockopt and
 * getsockopt, in order to refuse IP_HDRINCL and to report a wrong path MTU.
 */

#define _GNU_SOURCE             /* unshare */

#include "udplitesockets.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <sys/syscall.h>

#include "networknamespace.h"
#include "tundevices.h"
#include "wire.h"

#define PORT 5004
#define DEVICE "headers0"
#define MTU 1500
#define HEADERS (20 + 8)        /* IPv4 and UDP-Lite */
#define MAX_SIZE 4000
#define MAX_CAPTURED 64
/* Maximum time in us after which the backend must notice a change of an
 * address, a route or an option. It is longer than the period of the kernel's
 * timer. */
#define TICK 20000

/* how packets are sent */
typedef enum
{
  BY_KERNEL,                    /* the kernel writes all IP headers */
  /* the backend is permitted to write IP headers (with IP_HDRINCL) */
  BY_BACKEND,
  N_WAYS
} Way;

static Way way;
static guint n_included;        /* how often IP_HDRINCL was switched on */
static gint wrong_mtu;          /* 0 = the kernel tells the path MTU */

/* These two functions replace setsockopt and getsockopt of the C library, so
 * that the test can refuse the option IP_HDRINCL and report a wrong path
 * MTU. */
int
setsockopt (int fd, int level, int option, const void *value, socklen_t size)
{
  if (level == IPPROTO_IP && option == IP_HDRINCL && *(const gint *) value) {
    if (way == BY_KERNEL) {
      errno = ENOPROTOOPT;
      return -1;
    }
    n_included++;
  }
  return syscall (SYS_setsockopt, fd, level, option, value, size);
}

int
getsockopt (int fd, int level, int option, void *value, socklen_t * size)
{
  if (level == IPPROTO_IP && option == IP_MTU && wrong_mtu > 0) {
    *(gint *) value = wrong_mtu;
    return 0;
  }
  return syscall (SYS_getsockopt, fd, level, option, value, size);
}

/* --- captures ------------------------------------------------------------- */

typedef struct
{
  guint8 bytes[MAX_SIZE];
  gsize size;
} Packet;

typedef struct
{
  Packet packets[MAX_CAPTURED];
  guint n;
} Capture;

static Capture captures[N_WAYS];

static gint
open_capture (void)
{
  struct sockaddr_ll address = {.sll_family = AF_PACKET,
    .sll_protocol = g_htons (ETH_P_ALL)
  };
  gint fd = socket (AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
      g_htons (ETH_P_ALL));

  address.sll_ifindex = if_nametoindex (DEVICE);
  fail_unless (bind (fd, (struct sockaddr *) &address, sizeof (address)) == 0);
  return fd;
}

static void
read_capture (gint fd, Capture * capture)
{
  gssize size;

  capture->n = 0;
  do {
    Packet *packet = &capture->packets[capture->n];

    fail_unless (capture->n < MAX_CAPTURED);
    size = recv (fd, packet->bytes, sizeof (packet->bytes), 0);
    packet->size = MAX (size, 0);
    /* The capture also contains packets with which the IPv6 stack of the kernel
     * announces the host. Only packets of UDP-Lite are kept. */
    if (size >= HEADERS && packet->bytes[9] == UDPLITE_PROTOCOL)
      capture->n++;
  } while (size >= 0);
  close (fd);
}

static guint16
get_field (const Packet * packet, gsize offset)
{
  return wire_read (packet->bytes + offset, 2);
}

static guint16
get_id (const Packet * packet)
{
  return get_field (packet, 4);
}

/* Verifies the checksum of the IP header, and then sets the identification and
 * the checksum to 0. The test compares headers that the backend has written
 * with headers that the kernel has written. The identifications may differ, and
 * therefore also the checksums, which cover them. All other fields must be
 * equal. */
static void
clear_id (Packet * packet)
{
  fail_unless_equals_int (wire_fold_sum (wire_sum (packet->bytes,
              sizeof (struct iphdr))), 0xffff);
  memset (packet->bytes + 4, 0, 2);
  memset (packet->bytes + 10, 0, 2);
}

static void
expect_same_captures (void)
{
  guint i;

  fail_unless (captures[BY_KERNEL].n > 0);
  fail_unless_equals_int (captures[BY_BACKEND].n, captures[BY_KERNEL].n);
  for (i = 0; i < captures[BY_KERNEL].n; i++) {
    Packet *expected = &captures[BY_KERNEL].packets[i];
    Packet *packet = &captures[BY_BACKEND].packets[i];

    clear_id (expected);
    clear_id (packet);
    fail_unless_equals_int (packet->size, expected->size);
    fail_unless (memcmp (packet->bytes, expected->bytes, packet->size) == 0,
        "packet %u", i);
  }
}

/* --- packets -------------------------------------------------------------- */

/* Makes a network with a device that has two addresses. PEER is a third address
 * in this network, and no host has this address. Returns FALSE if the test is
 * skipped. */
static gboolean
make_network (const gchar * test)
{
  if (!udplite_test_is_possible (UDPLITE_BACKEND_RAW, FALSE)) {
    say_skipped (test, "a raw socket needs a privilege");
    return FALSE;
  }
  if (!tun_device_enter (test) || !tun_device_add (test, DEVICE, IFF_TUN))
    return FALSE;
  netns_must ("ip address add 10.9.0.1/24 broadcast 10.9.0.255 dev " DEVICE);
  netns_must ("ip address add 10.9.0.3/24 dev " DEVICE);
  netns_must ("ip route add 224.0.0.0/4 dev " DEVICE);
  return TRUE;
}

static UdpliteSocket *
open_sender (const gchar * bind_address)
{
  GSocketAddress *address =
      g_inet_socket_address_new_from_string (bind_address, PORT);
  GError *error = NULL;
  UdpliteSocket *self = udplite_socket_new (UDPLITE_BACKEND_RAW,
      G_INET_SOCKET_ADDRESS (address), FALSE, NULL, &error);
  gint yes = TRUE;

  g_assert_no_error (error);
  g_object_unref (address);
  udplite_socket_stop_receiving (self);
  setsockopt (g_socket_get_fd (udplite_socket_get_socket (self)), SOL_SOCKET,
      SO_BROADCAST, &yes, sizeof (yes));
  return self;
}

static void
set_option (UdpliteSocket * self, gint option, gint value)
{
  gint fd = g_socket_get_fd (udplite_socket_get_socket (self));

  fail_unless (setsockopt (fd, IPPROTO_IP, option, &value, sizeof (value)) ==
      0);
}

static void
set_output (UdpliteOutput * output, const gchar * to, gsize size,
    guint coverage)
{
  static guint8 data[MAX_SIZE];
  struct sockaddr_in address = {.sin_family = AF_INET,
    .sin_port = g_htons (PORT)
  };

  udplite_test_fill (data, sizeof (data), 1);
  inet_pton (AF_INET, to, &address.sin_addr);
  udplite_test_output (output, (struct sockaddr_storage *) &address,
      sizeof (address), data, size, coverage);
}

static void
send_packet (UdpliteSocket * self, const gchar * to, gsize size)
{
  UdpliteOutput output;
  GError *error = NULL;

  set_output (&output, to, size, 20);
  udplite_socket_send (self, &output, 1, &error);
  g_assert_no_error (error);
}

/* Sends a batch of packets and checks that all of them are sent. The sizes of
 * the packets differ: empty, small, as large as possible without fragmentation,
 * fragmented, and small again. The last packet consists of two vectors. */
static void
send_batch (UdpliteSocket * self, const gchar * to)
{
  static const struct
  {
    gsize size;
    guint coverage;
  } packets[] = {
    {0, G_MAXUINT}, {100, 20}, {1316, G_MAXUINT}, {MTU - HEADERS, 12},
    {MTU - HEADERS + 1, 12}, {3500, G_MAXUINT}, {1316, 8}, {99, 50},
  };
  const guint n = G_N_ELEMENTS (packets);
  UdpliteOutput outputs[G_N_ELEMENTS (packets)];
  GError *error = NULL;
  guint i;

  for (i = 0; i < n; i++)
    set_output (&outputs[i], to, packets[i].size, packets[i].coverage);
  outputs[n - 1].vectors[1] = outputs[n - 1].vectors[0];
  outputs[n - 1].vectors[0].size = 33;
  outputs[n - 1].n_vectors = 2;
  fail_unless_equals_int (udplite_socket_send (self, outputs, n, &error), n);
  g_assert_no_error (error);
}

/* Sends the same packets in two ways, and checks that they arrive with the same
 * headers. The first time, the kernel writes all IP headers. The second time,
 * the backend is permitted to write them. Returns whether the backend has
 * written an IP header. */
static gboolean
compare_ways (void (*send) (gconstpointer test), gconstpointer test)
{
  gint fd;

  n_included = 0;
  for (way = BY_KERNEL; way < N_WAYS; way++) {
    fd = open_capture ();
    send (test);
    read_capture (fd, &captures[way]);
  }
  expect_same_captures ();
  return n_included > 0;
}

/* --- the headers ---------------------------------------------------------- */

typedef struct
{
  const gchar *name;
  const gchar *bind_address;
  const gchar *to;
  const gchar *command;         /* of ip(8); NULL = none */
  gint options[2][2];           /* IP options and their values; 0 = none */
  /* TRUE if the backend must write the IP headers of those packets that fit
   * into the MTU */
  gboolean is_included;
} Case;

#define ANY "0.0.0.0"
#define PEER "10.9.0.2"
#define REMOTE "192.0.2.1"
#define ROUTE "ip route add " REMOTE " via " PEER

static const Case cases[] = {
  {"peer", ANY, PEER, NULL, {{0}}, TRUE},
  {"bound", "10.9.0.3", PEER, NULL, {{0}}, TRUE},
  {"broadcast", ANY, "10.9.0.255", NULL, {{0}}, TRUE},
  {"TTL and TOS", ANY, PEER, NULL, {{IP_TTL, 7}, {IP_TOS, 0xb8}}, TRUE},
  {"multicast", ANY, "239.1.2.3", NULL, {{IP_MULTICAST_TTL, 9},
          {IP_MULTICAST_LOOP, 0}}, TRUE},
  {"multicast to the link", ANY, "239.1.2.3", NULL, {{IP_TTL, 9}}, TRUE},
  {"no path MTU discovery", ANY, PEER, NULL,
      {{IP_MTU_DISCOVER, IP_PMTUDISC_DONT}}, FALSE},
  {"MTU of the interface", ANY, PEER, NULL, {{IP_MTU_DISCOVER,
              IP_PMTUDISC_OMIT}}, FALSE},
  {"MTU of a route", ANY, REMOTE, ROUTE " mtu 1200", {{0}}, TRUE},
  {"locked MTU of a route", ANY, REMOTE, ROUTE " mtu lock 1200", {{0}}, FALSE},
  {"TTL of a route", ANY, REMOTE, ROUTE " hoplimit 5", {{0}}, FALSE},
  {"source address of a route", ANY, REMOTE, ROUTE " src 10.9.0.3", {{0}},
      TRUE},
};

static void
send_case (gconstpointer test)
{
  const Case *data = test;
  UdpliteSocket *self = open_sender (data->bind_address);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (data->options); i++) {
    if (data->options[i][0])
      set_option (self, data->options[i][0], data->options[i][1]);
  }
  send_batch (self, data->to);
  udplite_socket_free (self);
}

GST_START_TEST (headers_are_those_of_the_kernel)
{
  const Case *data = &cases[__i__];

  if (!make_network ("headers_are_those_of_the_kernel"))
    return;
  if (data->command)
    netns_must (data->command);
  fail_unless (compare_ways (send_case, data) == data->is_included, "%s",
      data->name);
}

GST_END_TEST;

/* Sends packets to two destinations whose routes have different source
 * addresses. The backend binds its socket to the source address of the first
 * packet. Packets with the other source address need a control message that
 * sets this address. */
static void
send_from_two_addresses (gconstpointer test)
{
  UdpliteSocket *self = open_sender (ANY);

  send_packet (self, REMOTE, 500);
  send_packet (self, PEER, 500);
  send_packet (self, REMOTE, 3000);
  send_packet (self, PEER, 3000);
  udplite_socket_free (self);
}

GST_START_TEST (each_packet_has_the_source_of_its_route)
{
  const Capture *capture = &captures[BY_BACKEND];

  if (!make_network ("each_packet_has_the_source_of_its_route"))
    return;
  netns_must (ROUTE " src 10.9.0.3");
  fail_unless (compare_ways (send_from_two_addresses, NULL));
  fail_unless_equals_int (capture->packets[0].bytes[15], 3);
  fail_unless_equals_int (capture->packets[1].bytes[15], 1);
}

GST_END_TEST;

/* Routers may fragment a packet although its header forbids it. The fragments
 * can be put together again only if the packet has an identification. Each
 * packet must therefore have one. */
GST_START_TEST (packets_are_numbered)
{
  const Capture *capture = &captures[BY_BACKEND];
  UdpliteSocket *self;
  gint fd;
  guint i;

  if (!make_network ("packets_are_numbered"))
    return;
  way = BY_BACKEND;
  fd = open_capture ();
  self = open_sender (ANY);
  for (i = 0; i < 5; i++)
    send_packet (self, PEER, 500);
  udplite_socket_free (self);
  read_capture (fd, &captures[way]);
  fail_unless_equals_int (n_included, 1);
  fail_unless_equals_int (capture->n, 5);
  for (i = 1; i < 5; i++)
    fail_unless_equals_int ((guint16) (get_id (&capture->packets[i])
            - get_id (&capture->packets[i - 1])), 1);
}

GST_END_TEST;

/* --- changes -------------------------------------------------------------- */

static void
send_with_changed_options (gconstpointer test)
{
  UdpliteSocket *self = open_sender (ANY);

  send_packet (self, PEER, 100);
  set_option (self, IP_TOS, 0x28);
  udplite_socket_options_changed (self);
  send_packet (self, PEER, 100);
  /* The test changes an option of the socket, the TTL, without notifying the
   * UdpliteSocket. After TICK us at the latest, packets must nevertheless be
   * sent with the new value. */
  set_option (self, IP_TTL, 3);
  g_usleep (TICK);
  send_packet (self, PEER, 100);
  set_option (self, IP_MTU_DISCOVER, IP_PMTUDISC_DONT);
  udplite_socket_options_changed (self);
  send_packet (self, PEER, 100);
  udplite_socket_free (self);
}

GST_START_TEST (changed_options_take_effect)
{
  const Capture *capture = &captures[BY_BACKEND];

  if (!make_network ("changed_options_take_effect"))
    return;
  fail_unless (compare_ways (send_with_changed_options, NULL));
  fail_unless_equals_int (capture->packets[0].bytes[1], 0);
  fail_unless_equals_int (capture->packets[1].bytes[1], 0x28);
  fail_unless_equals_int (capture->packets[1].bytes[8], 64);
  fail_unless_equals_int (capture->packets[2].bytes[8], 3);
  fail_unless_equals_int (get_field (&capture->packets[2], 6), IP_DF);
  fail_unless_equals_int (get_field (&capture->packets[3], 6), 0);
}

GST_END_TEST;

/* If the backend writes the IP header, the kernel does not check the source
 * address in it. When the address of the host changes, the backend must
 * therefore notice this and use the new address. */
GST_START_TEST (new_source_address_is_used)
{
  UdpliteSocket *self;
  gint fd;

  if (!make_network ("new_source_address_is_used"))
    return;
  way = BY_BACKEND;
  fd = open_capture ();
  self = open_sender (ANY);
  send_packet (self, PEER, 100);
  netns_must ("ip address flush dev " DEVICE);
  netns_must ("ip address add 10.9.0.77/24 dev " DEVICE);
  g_usleep (TICK);
  send_packet (self, PEER, 100);
  udplite_socket_free (self);
  read_capture (fd, &captures[way]);
  fail_unless_equals_int (n_included, 1);
  fail_unless_equals_int (captures[way].n, 2);
  fail_unless_equals_int (captures[way].packets[0].bytes[15], 1);
  fail_unless_equals_int (captures[way].packets[1].bytes[15], 77);
}

GST_END_TEST;

/* The address to which the socket is bound is removed from the host. Sending
 * must then fail. The test also captures packets: the packet must not leave the
 * host, as it would if the kernel did not check the address. */
GST_START_TEST (lost_bound_address_is_an_error)
{
  UdpliteOutput output;
  UdpliteSocket *self;
  GError *error = NULL;
  gint fd;

  if (!make_network ("lost_bound_address_is_an_error"))
    return;
  way = BY_BACKEND;
  self = open_sender ("10.9.0.3");
  send_packet (self, PEER, 100);
  netns_must ("ip address del 10.9.0.3/24 dev " DEVICE);
  g_usleep (TICK);
  fd = open_capture ();
  set_output (&output, PEER, 100, 8);
  fail_unless_equals_int (udplite_socket_send (self, &output, 1, &error), 0);
  fail_unless (error != NULL);
  g_clear_error (&error);
  udplite_socket_free (self);
  read_capture (fd, &captures[way]);
  fail_unless_equals_int (captures[way].n, 0);
}

GST_END_TEST;

static void
send_with_a_changed_mtu (gconstpointer test)
{
  UdpliteSocket *self = open_sender (ANY);

  send_batch (self, PEER);
  netns_must ("ip link set " DEVICE " mtu 900");
  g_usleep (TICK);
  send_batch (self, PEER);
  netns_must ("ip link set " DEVICE " mtu 1500");
  g_usleep (TICK);
  send_batch (self, PEER);
  udplite_socket_free (self);
}

GST_START_TEST (packets_fit_a_changed_mtu)
{
  if (!make_network ("packets_fit_a_changed_mtu"))
    return;
  fail_unless (compare_ways (send_with_a_changed_mtu, NULL));
}

GST_END_TEST;

static void
send_twice (gconstpointer test)
{
  UdpliteSocket *self = open_sender (ANY);

  send_batch (self, PEER);
  send_batch (self, PEER);
  udplite_socket_free (self);
}

/* The replaced function getsockopt () tells the backend a path MTU of 9000
 * bytes, but the MTU of the device is 1500 bytes. The backend therefore also
 * writes the headers of packets that are too large for the device, and the
 * kernel refuses these packets. The backend must then send them without a
 * header of its own, so that the kernel writes the header. */
GST_START_TEST (refused_packets_are_sent_by_the_kernel)
{
  if (!make_network ("refused_packets_are_sent_by_the_kernel"))
    return;
  wrong_mtu = 9000;
  fail_unless (compare_ways (send_twice, NULL));
}

GST_END_TEST;

static void
send_without_fragments (gconstpointer test)
{
  UdpliteSocket *self = open_sender (ANY);
  UdpliteOutput outputs[3];
  GError *error = NULL;

  set_option (self, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
  set_output (&outputs[0], PEER, MTU - HEADERS, 20);
  set_output (&outputs[1], PEER, MTU - HEADERS + 1, 20);
  set_output (&outputs[2], PEER, 100, 20);
  fail_unless_equals_int (udplite_socket_send (self, outputs, 3, &error), 1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE);
  /* The error message must state the size of the packet that is too large: 1481
   * bytes. This size includes the header of UDP-Lite, but not the header of
   * IP. */
  fail_unless (strstr (error->message, " 1481 bytes ") != NULL, "%s",
      error->message);
  g_clear_error (&error);
  fail_unless_equals_int (udplite_socket_send (self, outputs + 2, 1, &error),
      1);
  g_assert_no_error (error);
  udplite_socket_free (self);
}

GST_START_TEST (too_large_packet_is_an_error)
{
  if (!make_network ("too_large_packet_is_an_error"))
    return;
  wrong_mtu = __i__ ? 9000 : 0;
  fail_unless (compare_ways (send_without_fragments, NULL));
  fail_unless_equals_int (captures[BY_BACKEND].n, 2);
}

GST_END_TEST;

static Suite *
udplitesocketheaders_suite (void)
{
  Suite *suite = suite_create ("udplitesocketheaders");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, headers_are_those_of_the_kernel, 0,
      G_N_ELEMENTS (cases));
  tcase_add_test (tcase, each_packet_has_the_source_of_its_route);
  tcase_add_test (tcase, packets_are_numbered);
  tcase_add_test (tcase, changed_options_take_effect);
  tcase_add_test (tcase, new_source_address_is_used);
  tcase_add_test (tcase, lost_bound_address_is_an_error);
  tcase_add_test (tcase, packets_fit_a_changed_mtu);
  tcase_add_test (tcase, refused_packets_are_sent_by_the_kernel);
  tcase_add_loop_test (tcase, too_large_packet_is_an_error, 0, 2);
  return suite;
}

GST_CHECK_MAIN (udplitesocketheaders);
