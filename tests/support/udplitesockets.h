/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sockets of UDP-Lite on the loopback interface, what came through them, and
 * packets that no backend would send. Nothing waits for a time: a packet that
 * is told from all others ends what came before it.
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

/* Who has to understand whom */
typedef struct
{
  UdpliteBackend sender, receiver;
} UdpliteTestBackends;

#define N_UDPLITE_TEST_COMBINATIONS 5
#define N_UDPLITE_TEST_BACKENDS 3
extern const UdpliteTestBackends
    udplite_test_combinations[N_UDPLITE_TEST_COMBINATIONS];
extern const UdpliteBackend udplite_test_backends[N_UDPLITE_TEST_BACKENDS];

/* What came */
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
/* What the system says without our help. errno: why not */
gboolean udplite_test_is_possible (UdpliteBackend backend, gboolean ipv6);
/* NULL, which is printed: this system has no such socket, or doesn't let us. */
UdpliteSocket *udplite_test_open (const gchar * test, UdpliteBackend backend,
    gboolean ipv6);
void udplite_test_output (UdpliteOutput * output,
    const struct sockaddr_storage *address, socklen_t size, gconstpointer data,
    gsize data_size, guint coverage);
void udplite_test_send (UdpliteSocket * socket, gboolean ipv6, guint16 port,
    gconstpointer data, gsize size, guint coverage);
/* Sends the end, and collects what came before it. */
GPtrArray *udplite_test_collect (UdpliteSocket * receiver,
    UdpliteSocket * sender, gboolean ipv6);
/* A socket that sends what it is given behind the header of IP, or of UDP
 * without a checksum. -1: we may not. */
gint udplite_test_injector_open (const gchar * test, UdpliteBackend backend,
    gboolean ipv6);
void udplite_test_inject (gint fd, UdpliteBackend backend, gboolean ipv6,
    guint16 port, const guint8 * packet, gsize size);
/* A packet as it has to be, of the loopback address to itself */
void udplite_test_write (guint8 * packet, gsize size, UdpliteBackend backend,
    gboolean ipv6, guint16 port, guint coverage);

/* Each of them by both families */
#define N_COMBINATIONS (N_UDPLITE_TEST_COMBINATIONS * 2)
#define N_BACKENDS (N_UDPLITE_TEST_BACKENDS * 2)

/* The two sockets of a test, or NULL both */
typedef struct
{
  gboolean ipv6;
  UdpliteBackend backend;       /* the receiver's */
  UdpliteSocket *sender, *receiver;
  guint16 port;                 /* the receiver's */
} UdpliteFixture;

gboolean udplite_fixture_open_backends (UdpliteFixture * fixture,
    const gchar * test, UdpliteBackend sender, UdpliteBackend receiver,
    gboolean ipv6);
/* One after the other by both families */
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
/* But for other programs' packets, which are none of a test's business */
guint64 udplite_test_refused (UdpliteSocket * socket);

#endif /* __UDPLITESOCKETS_H__ */
