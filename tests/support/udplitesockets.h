/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for tests of UDP-Lite sockets on the loopback interface. They send
 * and collect packets. They also inject packets that our own sockets would
 * never send.
 *
 * No helper waits for a fixed time. Instead it sends a special packet and reads
 * until that packet arrives: all packets sent earlier have then arrived.
 */

#ifndef __UDPLITESOCKETS_H__
#define __UDPLITESOCKETS_H__

#include <gst/check/gstcheck.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <netinet/udp.h>

#include "skipped.h"
#include "udplitesocket.h"

#define UDPLITE_TEST_ROOM 2048
#define UDPLITE_TEST_END "the end of this test"

/* A pair of backends whose packets have the same format. The receiver must
 * accept the packets of the sender. */
typedef struct
{
  UdpliteBackend sender, receiver;
} UdpliteTestBackends;

#define N_UDPLITE_TEST_COMBINATIONS 5
#define N_UDPLITE_TEST_BACKENDS 3
extern const UdpliteTestBackends
    udplite_test_combinations[N_UDPLITE_TEST_COMBINATIONS];
extern const UdpliteBackend udplite_test_backends[N_UDPLITE_TEST_BACKENDS];

/* A packet that was received. */
typedef struct
{
  guint8 data[UDPLITE_TEST_ROOM];
  gsize size;
  guint covered;
  DatagramPath from;
} UdpliteTestPacket;

const gchar *udplite_test_family_name (gboolean ipv6);
GInetSocketAddress *udplite_test_loopback (gboolean ipv6, guint16 port);
socklen_t udplite_test_address (struct sockaddr_storage *native, gboolean ipv6,
    guint16 port);
/* Returns whether the system allows this kind of socket. To find out, the
 * function opens such a socket itself. If it fails, errno gives the reason. */
gboolean udplite_test_is_possible (UdpliteBackend backend, gboolean ipv6);
/* Opens a socket of this backend. Returns NULL, and reports the test as
 * skipped, if the system has no such socket or does not permit it. */
UdpliteSocket *udplite_test_open (const gchar * test, UdpliteBackend backend,
    gboolean ipv6);
void udplite_test_output (UdpliteOutput * output,
    const struct sockaddr_storage *address, socklen_t size, gconstpointer data,
    gsize data_size, guint coverage);
void udplite_test_send (UdpliteSocket * socket, gboolean ipv6, guint16 port,
    gconstpointer data, gsize size, guint coverage);
/* Sends the end packet and returns the packets that arrived before it. */
GPtrArray *udplite_test_collect (UdpliteSocket * receiver,
    UdpliteSocket * sender, gboolean ipv6);
/* Returns a socket for packets that the backend itself would not send. For the
 * UDP backend, the kernel writes the UDP header and leaves the checksum out.
 * For other backends, the kernel writes only the IP header. Returns -1 if the
 * system does not permit such a socket. */
gint udplite_test_injector_open (const gchar * test, UdpliteBackend backend,
    gboolean ipv6);
void udplite_test_inject (gint fd, UdpliteBackend backend, gboolean ipv6,
    guint16 port, const guint8 * packet, gsize size);
/* Writes a packet that is correct for this backend. Both its source address and
 * its destination address are the loopback address. */
void udplite_test_write (guint8 * packet, gsize size, UdpliteBackend backend,
    gboolean ipv6, guint16 port, guint coverage);

/* Numbers of iterations of the loop tests. Some loop tests try each combination
 * of backends (N_COMBINATIONS). Other loop tests try each backend (N_BACKENDS).
 * Each combination or backend is tried with IPv4 and with IPv6. */
#define N_COMBINATIONS (N_UDPLITE_TEST_COMBINATIONS * 2)
#define N_BACKENDS (N_UDPLITE_TEST_BACKENDS * 2)

/* The two sockets of a test; both are NULL if they are not available. */
typedef struct
{
  gboolean ipv6;
  UdpliteBackend backend;       /* Backend of the receiver. */
  UdpliteSocket *sender, *receiver;
  guint16 port;                 /* Port of the receiver. */
} UdpliteFixture;

gboolean udplite_fixture_open_backends (UdpliteFixture * fixture,
    const gchar * test, UdpliteBackend sender, UdpliteBackend receiver,
    gboolean ipv6);
/* Opens the sockets for the combination `i` (0 to N_COMBINATIONS - 1). A
 * combination consists of the sender's backend, the receiver's backend and the
 * IP version (IPv4 or IPv6). */
gboolean udplite_fixture_open (UdpliteFixture * fixture, const gchar * test,
    guint i);
gboolean udplite_fixture_open_alike (UdpliteFixture * fixture,
    const gchar * test, guint i);
void udplite_fixture_close (UdpliteFixture * fixture);
GPtrArray *udplite_fixture_collect (UdpliteFixture * fixture);
void udplite_test_fill (guint8 * data, gsize size, guint seed);
void udplite_test_assert_packet (const UdpliteFixture * fixture,
    const UdpliteTestPacket * packet, guint seed, gsize size, guint coverage);
void udplite_test_assert_from (const UdpliteFixture * fixture,
    const UdpliteTestPacket * packet);
/* Returns the number of packets that the socket refused. Packets of other
 * programs on this machine are not counted. */
guint64 udplite_test_refused (UdpliteSocket * socket);

#endif /* __UDPLITESOCKETS_H__ */
