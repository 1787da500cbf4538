/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for tests of UDP-Lite sockets on the loopback interface. They send
 * and collect packets. They also inject packets that our own sockets would
 * never send.
 *
 * No helper waits for a fixed time. Instead it sends a special packet at the
 * end, the end packet, and reads until this packet arrives. All packets that
 * were sent before the end packet have then arrived, too.
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

/* Two backends (implementations of UDP-Lite) whose packets have the same
 * format, so that the receiver must accept the packets of the sender. */
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
/* Returns whether the system allows sockets of this backend (implementation of
 * UDP-Lite). To find out, the function opens such a socket without using our
 * own code. If it fails, errno gives the reason. */
gboolean udplite_test_is_possible (UdpliteBackend backend, gboolean ipv6);
/* Opens a socket of this backend (implementation of UDP-Lite). If the system
 * has no such socket or does not permit it, the function reports the test as
 * skipped and returns NULL. */
UdpliteSocket *udplite_test_open (const gchar * test, UdpliteBackend backend,
    gboolean ipv6);
void udplite_test_output (UdpliteOutput * output,
    const struct sockaddr_storage *address, socklen_t size, gconstpointer data,
    gsize data_size, guint coverage);
void udplite_test_send (UdpliteSocket * socket, gboolean ipv6, guint16 port,
    gconstpointer data, gsize size, guint coverage);
/* Sends the end packet (UDPLITE_TEST_END), and waits until it arrives. Returns
 * the packets that arrived before it. */
GPtrArray *udplite_test_collect (UdpliteSocket * receiver,
    UdpliteSocket * sender, gboolean ipv6);
/* Returns a socket with which a test sends packets that the sockets of the
 * backend would never send. With the UDP backend, the kernel adds the UDP
 * header, but without a checksum. With other backends, the kernel adds only the
 * IP header. If the system does not permit such a socket, the function reports
 * the test as skipped and returns -1. */
gint udplite_test_injector_open (const gchar * test, UdpliteBackend backend,
    gboolean ipv6);
void udplite_test_inject (gint fd, UdpliteBackend backend, gboolean ipv6,
    guint16 port, const guint8 * packet, gsize size);
/* Writes a packet in the format of the backend `backend` (an implementation of
 * UDP-Lite), with a correct header. Its source and destination addresses are
 * the loopback address. */
void udplite_test_write (guint8 * packet, gsize size, UdpliteBackend backend,
    gboolean ipv6, guint16 port, guint coverage);

/* Numbers of iterations of loop tests. A backend is an implementation of
 * UDP-Lite. The array udplite_test_combinations lists pairs of a backend for
 * the sender and a backend for the receiver. A test with N_COMBINATIONS
 * iterations tries each of these pairs. The array udplite_test_backends lists
 * single backends. A test with N_BACKENDS iterations tries each of these
 * backends. Both kinds of tests use IPv4 and IPv6. */
#define N_COMBINATIONS (N_UDPLITE_TEST_COMBINATIONS * 2)
#define N_BACKENDS (N_UDPLITE_TEST_BACKENDS * 2)

/* The two sockets of a test. They are valid only if the function that opened
 * them returned TRUE. It returns FALSE if the system does not allow such
 * sockets. */
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
/* Opens the sockets for the iteration `i` of a loop test (0 to
 * N_COMBINATIONS - 1). Each iteration has another combination of the sender's
 * backend, the receiver's backend and the IP version. */
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
/* Returns the number of packets that the socket has received and refused, for
 * any reason. Packets of other programs on this machine, which the raw backend
 * counts as `foreign`, are not included. */
guint64 udplite_test_refused (UdpliteSocket * socket);

#endif /* __UDPLITESOCKETS_H__ */
