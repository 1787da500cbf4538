/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for the tests of DatagramSocket, which is a socket for UDP over IPv4
 * or IPv6. The functions open such sockets, send packets that contain text, and
 * check which packets arrive. */

#ifndef __DATAGRAMSOCKETS_H__
#define __DATAGRAMSOCKETS_H__

#include <gst/check/gstcheck.h>

#include <string.h>

#include "datagramsocket.h"

#define ROOM 2048
#define FAMILIES 2              /* __i__: 0 is IPv4, 1 IPv6 */

const gchar *datagram_test_loopback (gint ipv6);
GSocketAddress *datagram_test_address (const gchar * text, guint16 port);
DatagramSocket *datagram_test_listener (const gchar * text, guint16 port);
DatagramSocket *datagram_test_try_connect (const gchar * remote, guint16 port,
    const gchar * interface, const gchar * local, GError ** error);
DatagramSocket *datagram_test_connect (const gchar * remote, guint16 port,
    const gchar * local);
GInetSocketAddress *datagram_test_get_local (DatagramSocket * socket);
guint16 datagram_test_get_port (DatagramSocket * socket);
/* Sends one packet that contains `text`. If `path` is NULL, the socket must be
 * connected, and the packet goes to its peer. Otherwise the packet goes to the
 * remote address of `path`. */
void datagram_test_send (DatagramSocket * socket, const gchar * text,
    const DatagramPath * path);
void datagram_test_wait (DatagramSocket * socket);
/* Checks that the next packet that arrives at `socket` has the content `text`.
 * Stores this packet in `datagram`. */
void datagram_test_expect (DatagramSocket * socket, const gchar * text,
    Datagram * datagram);
void datagram_test_expect_error (DatagramSocket * socket, gint code,
    const gchar * message);
void datagram_test_expect_nothing (DatagramSocket * socket);
void datagram_test_assert_remote (const Datagram * datagram,
    const gchar * text);
void datagram_test_expect_connect_error (const gchar * remote,
    const gchar * interface, const gchar * local, gint code,
    const gchar * message);

#endif /* __DATAGRAMSOCKETS_H__ */
