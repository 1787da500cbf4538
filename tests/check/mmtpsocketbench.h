/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of MMTP's sockets share: to open them, and to send and expect
 * packets of text.
 */

#ifndef __MMTP_SOCKET_BENCH_H__
#define __MMTP_SOCKET_BENCH_H__

#include <gst/check/gstcheck.h>

#include <string.h>

#include "mmtpsocket.h"

#define ROOM 2048
#define FAMILIES 2              /* __i__: 0 is IPv4, 1 IPv6 */

static inline const gchar *
bench_loopback (gint ipv6)
{
  return ipv6 ? "::1" : "127.0.0.1";
}

static inline GSocketAddress *
bench_address (const gchar * text, guint16 port)
{
  GSocketAddress *address = g_inet_socket_address_new_from_string (text, port);

  fail_unless (address != NULL, "%s", text);
  return address;
}

static inline MmtpSocket *
bench_listener (const gchar * text, guint16 port)
{
  GSocketAddress *local = bench_address (text, port);
  GError *error = NULL;
  MmtpSocket *socket = mmtp_socket_new_listener (local, NULL, 0, FALSE, &error);

  g_assert_no_error (error);
  g_object_unref (local);
  return socket;
}

static inline MmtpSocket *
bench_try_channel (const gchar * remote, guint16 port, const gchar * interface,
    const gchar * local, GError ** error)
{
  GSocketAddress *to = bench_address (remote, port);
  GSocketAddress *from = local ? bench_address (local, 0) : NULL;
  MmtpSocket *socket = mmtp_socket_new_channel (to, interface, from, error);

  g_object_unref (to);
  g_clear_object (&from);
  return socket;
}

static inline MmtpSocket *
bench_channel (const gchar * remote, guint16 port, const gchar * local)
{
  GError *error = NULL;
  MmtpSocket *socket = bench_try_channel (remote, port, NULL, local, &error);

  g_assert_no_error (error);
  return socket;
}

static inline GInetSocketAddress *
bench_get_local (MmtpSocket * socket)
{
  GError *error = NULL;
  GSocketAddress *address = g_socket_get_local_address (mmtp_socket_get_socket
      (socket), &error);

  g_assert_no_error (error);
  return G_INET_SOCKET_ADDRESS (address);
}

static inline guint16
bench_get_port (MmtpSocket * socket)
{
  GInetSocketAddress *address = bench_get_local (socket);
  guint16 port = g_inet_socket_address_get_port (address);

  g_object_unref (address);
  return port;
}

/* One packet of this text, on a channel or (address) as an answer */
static inline void
bench_send (MmtpSocket * socket, const gchar * text,
    const MmtpAddress * address)
{
  MmtpDatagram datagram = {.bytes = (guint8 *) text,.size = strlen (text) };
  GError *error = NULL;

  if (address)
    datagram.address = *address;
  fail_unless_equals_int (mmtp_socket_send (socket, &datagram, 1, &error), 1);
  g_assert_no_error (error);
}

static inline void
bench_wait (MmtpSocket * socket)
{
  GError *error = NULL;

  g_socket_condition_timed_wait (mmtp_socket_get_socket (socket), G_IO_IN,
      30 * G_USEC_PER_SEC, NULL, &error);
  g_assert_no_error (error);
}

/* The packet that comes has to be this text. */
static inline void
bench_expect (MmtpSocket * socket, const gchar * text, MmtpDatagram * datagram)
{
  static guint8 room[ROOM];
  GError *error = NULL;

  bench_wait (socket);
  memset (datagram, 0, sizeof (*datagram));
  datagram->bytes = room;
  datagram->size = sizeof (room);
  fail_unless_equals_int (mmtp_socket_receive (socket, datagram, 1, &error), 1);
  g_assert_no_error (error);
  fail_unless_equals_int (datagram->size, strlen (text));
  fail_unless (memcmp (room, text, datagram->size) == 0);
}

static inline void
bench_expect_error (MmtpSocket * socket, gint code, const gchar * message)
{
  guint8 room[ROOM];
  MmtpDatagram datagram = {.bytes = room,.size = sizeof (room) };
  GError *error = NULL;

  fail_unless_equals_int (mmtp_socket_receive (socket, &datagram, 1, &error),
      -1);
  g_assert_error (error, G_IO_ERROR, code);
  if (message)
    fail_unless (strstr (error->message, message) != NULL, "\"%s\" in \"%s\"",
        message, error->message);
  g_error_free (error);
}

static inline void
bench_expect_nothing (MmtpSocket * socket)
{
  bench_expect_error (socket, G_IO_ERROR_WOULD_BLOCK, NULL);
}

static inline void
bench_assert_address (const MmtpAddress * address, const gchar * text)
{
  gchar *found = mmtp_address_to_string (address);

  fail_unless_equals_string (found, text);
  g_free (found);
}

static inline void
bench_expect_no_channel (const gchar * remote, const gchar * interface,
    const gchar * local, gint code, const gchar * message)
{
  GError *error = NULL;
  MmtpSocket *socket =
      bench_try_channel (remote, 5004, interface, local, &error);

  fail_unless (socket == NULL);
  g_assert_error (error, G_IO_ERROR, code);
  fail_unless (g_str_has_prefix (error->message, message),
      "\"%s\" begins with \"%s\"", error->message, message);
  g_error_free (error);
}

#endif /* __MMTP_SOCKET_BENCH_H__ */
