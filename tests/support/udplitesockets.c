/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "udplitesockets.h"

#include "datagramaddress.h"

#define IPV4_MAX_HEADER_SIZE 60 /* 15 words of 4 bytes (RFC 791) */

const gchar *
udplite_test_family_name (gboolean ipv6)
{
  return ipv6 ? "IPv6" : "IPv4";
}

GInetSocketAddress *
udplite_test_loopback (gboolean ipv6, guint16 port)
{
  GInetAddress *address = g_inet_address_new_loopback (ipv6 ?
      G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4);
  GSocketAddress *result = g_inet_socket_address_new (address, port);

  g_object_unref (address);
  return G_INET_SOCKET_ADDRESS (result);
}

socklen_t
udplite_test_address (struct sockaddr_storage *native, gboolean ipv6,
    guint16 port)
{
  GSocketAddress *address = G_SOCKET_ADDRESS (udplite_test_loopback (ipv6,
          port));
  socklen_t size = g_socket_address_get_native_size (address);

  fail_unless (g_socket_address_to_native (address, native, sizeof (*native),
          NULL));
  g_object_unref (address);
  return size;
}

gboolean
udplite_test_is_possible (UdpliteBackend backend, gboolean ipv6)
{
  struct sockaddr_storage address;
  socklen_t size = udplite_test_address (&address, ipv6, 0);
  gint fd = socket (ipv6 ? AF_INET6 : AF_INET,
      backend == UDPLITE_BACKEND_RAW ? SOCK_RAW : SOCK_DGRAM,
      backend == UDPLITE_BACKEND_UDP ? 0 : UDPLITE_PROTOCOL);
  gint error_number;
  gboolean possible;

  if (fd < 0)
    return FALSE;
  possible = bind (fd, (struct sockaddr *) &address, size) == 0;
  error_number = errno;
  close (fd);
  errno = error_number;
  return possible;
}

UdpliteSocket *
udplite_test_open (const gchar * test, UdpliteBackend backend, gboolean ipv6)
{
  GInetSocketAddress *address;
  GError *error = NULL;
  UdpliteSocket *socket;

  if (!udplite_test_is_possible (backend, ipv6)) {
    say_skipped (test, "with backend %s and %s: %s",
        udplite_backend_get_name (backend), udplite_test_family_name (ipv6),
        g_strerror (errno));
    return NULL;
  }
  address = udplite_test_loopback (ipv6, 0);
  socket = udplite_socket_new (backend, address, FALSE, NULL, &error);
  g_assert_no_error (error);
  g_object_unref (address);
  return socket;
}

static void
udplite_test_set_remote (DatagramPath * path,
    const struct sockaddr_storage *address, socklen_t size)
{
  GSocketAddress *remote =
      g_socket_address_new_from_native ((gpointer) address, size);

  memset (path, 0, sizeof (*path));
  datagram_path_set_remote (path, remote);
  g_object_unref (remote);
}

void
udplite_test_output (UdpliteOutput * output,
    const struct sockaddr_storage *address,
    socklen_t size, gconstpointer data, gsize data_size, guint coverage)
{
  memset (output, 0, sizeof (*output));
  udplite_test_set_remote (&output->path, address, size);
  output->vectors[0].data = data;
  output->vectors[0].size = data_size;
  output->n_vectors = 1;
  output->coverage = coverage;
}

void
udplite_test_send (UdpliteSocket * socket, gboolean ipv6, guint16 port,
    gconstpointer data, gsize size, guint coverage)
{
  struct sockaddr_storage address;
  socklen_t address_size = udplite_test_address (&address, ipv6, port);
  UdpliteOutput output;
  GError *error = NULL;

  udplite_test_output (&output, &address, address_size, data, size, coverage);
  fail_unless_equals_int (udplite_socket_send (socket, &output, 1, &error), 1);
  g_assert_no_error (error);
}

/* Checks where the socket has stored the received packets. The caller provides
 * the memory `room`, which consists of parts of UDPLITE_TEST_ROOM bytes. Each
 * packet must lie inside one part, and must begin after the end of the previous
 * packet. Both rules must hold even if the socket has refused a packet that
 * arrived between two received packets. */
static void
udplite_test_check_rooms (const UdplitePacket * packets, guint n,
    const guint8 * room)
{
  const guint8 *free_from = room;
  guint i;

  for (i = 0; i < n; i++) {
    const guint8 *end = packets[i].data + packets[i].size;

    fail_unless (packets[i].data >= free_from);
    fail_unless (end <= room + DATAGRAM_BATCH * UDPLITE_TEST_ROOM);
    if (packets[i].size > 0)
      fail_unless_equals_int ((packets[i].data - room) / UDPLITE_TEST_ROOM,
          (end - 1 - room) / UDPLITE_TEST_ROOM);
    free_from = end;
  }
}

/* Returns the maximum total size in bytes of the headers that a socket of this
 * backend receives before the payload of a packet. */
static gsize
get_max_headers (UdpliteBackend backend)
{
  switch (backend) {
    case UDPLITE_BACKEND_RAW:
      return IPV4_MAX_HEADER_SIZE + UDPLITE_HEADER_SIZE;
    case UDPLITE_BACKEND_UDP:
      return UDPLITE_HEADER_SIZE;
    default:
      return 0;
  }
}

GPtrArray *
udplite_test_collect (UdpliteSocket * receiver, UdpliteSocket * sender,
    gboolean ipv6)
{
  GPtrArray *packets = g_ptr_array_new_with_free_func (g_free);
  UdpliteMemory memories[DATAGRAM_BATCH];
  const UdplitePacket *received;
  guint8 *room = g_malloc (DATAGRAM_BATCH * UDPLITE_TEST_ROOM);
  GError *error = NULL;
  gboolean ended = FALSE;
  guint i, n;

  udplite_test_send (sender, ipv6, udplite_socket_get_port (receiver),
      UDPLITE_TEST_END, sizeof (UDPLITE_TEST_END), G_MAXUINT);
  for (i = 0; i < DATAGRAM_BATCH; i++) {
    memories[i].data = room + i * UDPLITE_TEST_ROOM;
    memories[i].capacity = UDPLITE_TEST_ROOM;
  }
  while (!ended) {
    fail_unless (g_socket_condition_wait (udplite_socket_get_socket (receiver),
            G_IO_IN, NULL, NULL));
    received = udplite_socket_receive (receiver, memories, DATAGRAM_BATCH, &n,
        &error);
    g_assert_no_error (error);
    udplite_test_check_rooms (received, n, room);
    for (i = 0; i < n && !ended; i++) {
      UdpliteTestPacket *packet;

      fail_unless ((received[i].data - room) % UDPLITE_TEST_ROOM <=
          get_max_headers (udplite_socket_get_backend (receiver)));
      ended = received[i].size == sizeof (UDPLITE_TEST_END)
          && memcmp (received[i].data, UDPLITE_TEST_END,
          sizeof (UDPLITE_TEST_END)) == 0;
      if (ended)
        break;
      packet = g_new0 (UdpliteTestPacket, 1);
      memcpy (packet->data, received[i].data, received[i].size);
      packet->size = received[i].size;
      packet->covered = received[i].covered;
      packet->from = received[i].path;
      g_ptr_array_add (packets, packet);
    }
  }
  g_free (room);
  return packets;
}

gint
udplite_test_injector_open (const gchar * test, UdpliteBackend backend,
    gboolean ipv6)
{
  gint family = ipv6 ? AF_INET6 : AF_INET, yes = TRUE, fd;

  if (backend == UDPLITE_BACKEND_UDP) {
    fd = socket (family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ipv6)
      setsockopt (fd, IPPROTO_UDP, 101, &yes, sizeof (yes));
    else
      setsockopt (fd, SOL_SOCKET, SO_NO_CHECK, &yes, sizeof (yes));
  } else {
    fd = socket (family, SOCK_RAW | SOCK_CLOEXEC, UDPLITE_PROTOCOL);
  }
  if (fd < 0)
    say_skipped (test, "with backend %s and %s packets cannot be injected: %s",
        udplite_backend_get_name (backend),
        udplite_test_family_name (ipv6), g_strerror (errno));
  return fd;
}

void
udplite_test_inject (gint fd, UdpliteBackend backend, gboolean ipv6,
    guint16 port, const guint8 * packet, gsize size)
{
  struct sockaddr_storage address;
  socklen_t address_size = udplite_test_address (&address, ipv6,
      backend == UDPLITE_BACKEND_UDP ? port : 0);

  fail_unless_equals_int (sendto (fd, packet, size, 0,
          (struct sockaddr *) &address, address_size), size);
}

void
udplite_test_write (guint8 * packet, gsize size, UdpliteBackend backend,
    gboolean ipv6, guint16 port, guint coverage)
{
  UdpliteAddresses addresses = {.ipv6 = ipv6 };
  DatagramPart payload = { packet + UDPLITE_HEADER_SIZE,
    size - UDPLITE_HEADER_SIZE
  };
  guint i;

  for (i = UDPLITE_HEADER_SIZE; i < size; i++)
    packet[i] = i * 7;
  if (backend != UDPLITE_BACKEND_UDP && ipv6) {
    addresses.source[15] = addresses.destination[15] = 1;
  } else if (backend != UDPLITE_BACKEND_UDP) {
    addresses.source[0] = addresses.destination[0] = 127;
    addresses.source[3] = addresses.destination[3] = 1;
  }
  udplite_write_header (packet, &addresses, 40000, port, coverage, &payload, 1);
}

const UdpliteTestBackends udplite_test_combinations[N_UDPLITE_TEST_COMBINATIONS]
    = {
  {UDPLITE_BACKEND_KERNEL, UDPLITE_BACKEND_KERNEL},
  {UDPLITE_BACKEND_KERNEL, UDPLITE_BACKEND_RAW},
  {UDPLITE_BACKEND_RAW, UDPLITE_BACKEND_KERNEL},
  {UDPLITE_BACKEND_RAW, UDPLITE_BACKEND_RAW},
  {UDPLITE_BACKEND_UDP, UDPLITE_BACKEND_UDP}
};

const UdpliteBackend udplite_test_backends[N_UDPLITE_TEST_BACKENDS] = {
  UDPLITE_BACKEND_KERNEL, UDPLITE_BACKEND_RAW, UDPLITE_BACKEND_UDP
};

gboolean
udplite_fixture_open_backends (UdpliteFixture * fixture, const gchar * test,
    UdpliteBackend sender, UdpliteBackend receiver, gboolean ipv6)
{
  memset (fixture, 0, sizeof (*fixture));
  fixture->ipv6 = ipv6;
  fixture->backend = receiver;
  fixture->receiver = udplite_test_open (test, receiver, ipv6);
  if (!fixture->receiver)
    return FALSE;
  fixture->sender = udplite_test_open (test, sender, ipv6);
  if (!fixture->sender) {
    udplite_socket_free (fixture->receiver);
    return FALSE;
  }
  fixture->port = udplite_socket_get_port (fixture->receiver);
  fail_unless (fixture->port != 0);
  return TRUE;
}

gboolean
udplite_fixture_open (UdpliteFixture * fixture, const gchar * test, guint i)
{
  return udplite_fixture_open_backends (fixture, test,
      udplite_test_combinations[i / 2].sender,
      udplite_test_combinations[i / 2].receiver, i % 2);
}

gboolean
udplite_fixture_open_alike (UdpliteFixture * fixture, const gchar * test,
    guint i)
{
  return udplite_fixture_open_backends (fixture, test,
      udplite_test_backends[i / 2], udplite_test_backends[i / 2], i % 2);
}

void
udplite_fixture_close (UdpliteFixture * fixture)
{
  udplite_socket_free (fixture->sender);
  udplite_socket_free (fixture->receiver);
}

GPtrArray *
udplite_fixture_collect (UdpliteFixture * fixture)
{
  return udplite_test_collect (fixture->receiver, fixture->sender,
      fixture->ipv6);
}

void
udplite_test_fill (guint8 * data, gsize size, guint seed)
{
  gsize i;

  for (i = 0; i < size; i++)
    data[i] = seed * 31 + i * 7 + (i >> 8);
}

void
udplite_test_assert_packet (const UdpliteFixture * fixture,
    const UdpliteTestPacket * packet, guint seed, gsize size, guint coverage)
{
  guint8 expected[UDPLITE_TEST_ROOM];

  udplite_test_fill (expected, size, seed);
  fail_unless_equals_int (packet->size, size);
  fail_unless (memcmp (packet->data, expected, size) == 0);
  if (fixture->backend == UDPLITE_BACKEND_KERNEL)
    coverage = G_MAXUINT;
  else
    coverage = MIN (coverage, size);
  fail_unless_equals_uint64 (packet->covered, coverage);
}

void
udplite_test_assert_from (const UdpliteFixture * fixture,
    const UdpliteTestPacket * packet)
{
  struct sockaddr_storage native = { 0 };
  socklen_t size = udplite_test_address (&native, fixture->ipv6,
      udplite_socket_get_port (fixture->sender));
  DatagramPath expected;

  udplite_test_set_remote (&expected, &native, size);
  fail_unless (memcmp (packet->from.remote, expected.remote, 16) == 0);
  fail_unless_equals_int (packet->from.address_size, expected.address_size);
  fail_unless_equals_int (packet->from.remote_port, expected.remote_port);
  fail_unless_equals_int (packet->from.scope, expected.scope);
}

guint64
udplite_test_refused (UdpliteSocket * socket)
{
  UdpliteSocketStats stats;
  guint64 sum;
  guint i;

  udplite_socket_get_stats (socket, &stats);
  sum = stats.truncated;
  for (i = 0; i < UDPLITE_LAST; i++)
    sum += stats.refused[i];
  return sum;
}
