/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "datagramsockets.h"

const gchar *
datagram_test_loopback (gint ipv6)
{
  return ipv6 ? "::1" : "127.0.0.1";
}

GSocketAddress *
datagram_test_address (const gchar * text, guint16 port)
{
  GSocketAddress *address = g_inet_socket_address_new_from_string (text, port);

  fail_unless (address != NULL, "%s", text);
  return address;
}

DatagramSocket *
datagram_test_listener (const gchar * text, guint16 port)
{
  GSocketAddress *local = datagram_test_address (text, port);
  GError *error = NULL;
  DatagramSocketOptions options;
  DatagramSocket *socket;

  datagram_socket_options_init (&options);
  socket = datagram_socket_new_listener (local, &options, &error);
  g_assert_no_error (error);
  g_object_unref (local);
  return socket;
}

DatagramSocket *
datagram_test_try_connect (const gchar * remote, guint16 port,
    const gchar * interface, const gchar * local, GError ** error)
{
  GSocketAddress *to = datagram_test_address (remote, port);
  GSocketAddress *from = local ? datagram_test_address (local, 0) : NULL;
  DatagramSocketOptions options;
  DatagramSocket *socket;

  datagram_socket_options_init (&options);
  options.interface = interface;
  socket = datagram_socket_new_connected (to, from, &options, error);
  g_object_unref (to);
  g_clear_object (&from);
  return socket;
}

DatagramSocket *
datagram_test_connect (const gchar * remote, guint16 port, const gchar * local)
{
  GError *error = NULL;
  DatagramSocket *socket =
      datagram_test_try_connect (remote, port, NULL, local, &error);

  g_assert_no_error (error);
  return socket;
}

GInetSocketAddress *
datagram_test_get_local (DatagramSocket * socket)
{
  GError *error = NULL;
  GSocketAddress *address =
      g_socket_get_local_address (datagram_socket_get_socket (socket), &error);

  g_assert_no_error (error);
  return G_INET_SOCKET_ADDRESS (address);
}

guint16
datagram_test_get_port (DatagramSocket * socket)
{
  GInetSocketAddress *address = datagram_test_get_local (socket);
  guint16 port = g_inet_socket_address_get_port (address);

  g_object_unref (address);
  return port;
}

void
datagram_test_send (DatagramSocket * socket, const gchar * text,
    const DatagramPath * path)
{
  Datagram datagram = {.bytes = (guint8 *) text,.size = strlen (text) };
  GError *error = NULL;

  if (path)
    datagram.path = *path;
  fail_unless_equals_int (datagram_socket_send (socket, &datagram, 1, &error),
      1);
  g_assert_no_error (error);
}

void
datagram_test_wait (DatagramSocket * socket)
{
  GError *error = NULL;

  g_socket_condition_timed_wait (datagram_socket_get_socket (socket), G_IO_IN,
      30 * G_USEC_PER_SEC, NULL, &error);
  g_assert_no_error (error);
}

void
datagram_test_expect (DatagramSocket * socket, const gchar * text,
    Datagram * datagram)
{
  static guint8 room[ROOM];
  GError *error = NULL;

  datagram_test_wait (socket);
  datagram_init (datagram, room, sizeof (room));
  fail_unless_equals_int (datagram_socket_receive (socket, datagram, 1,
          &error), 1);
  g_assert_no_error (error);
  fail_unless_equals_int (datagram->size, strlen (text));
  fail_unless (memcmp (room, text, datagram->size) == 0);
}

void
datagram_test_expect_error (DatagramSocket * socket, gint code,
    const gchar * message)
{
  guint8 room[ROOM];
  Datagram datagram = {.bytes = room,.size = sizeof (room) };
  GError *error = NULL;

  fail_unless_equals_int (datagram_socket_receive (socket, &datagram, 1,
          &error), -1);
  g_assert_error (error, G_IO_ERROR, code);
  if (message)
    fail_unless (strstr (error->message, message) != NULL, "\"%s\" in \"%s\"",
        message, error->message);
  g_error_free (error);
}

void
datagram_test_expect_nothing (DatagramSocket * socket)
{
  guint8 room[ROOM];
  Datagram datagram = {.bytes = room,.size = sizeof (room) };
  GError *error = NULL;

  fail_unless_equals_int (datagram_socket_receive (socket, &datagram, 1,
          &error), 0);
  g_assert_no_error (error);
}

void
datagram_test_assert_remote (const Datagram * datagram, const gchar * text)
{
  gchar *found = datagram_path_to_string (&datagram->path);

  fail_unless_equals_string (found, text);
  g_free (found);
}

void
datagram_test_expect_connect_error (const gchar * remote,
    const gchar * interface, const gchar * local, gint code,
    const gchar * message)
{
  GError *error = NULL;
  DatagramSocket *socket =
      datagram_test_try_connect (remote, 5004, interface, local, &error);

  fail_unless (socket == NULL);
  g_assert_error (error, G_IO_ERROR, code);
  fail_unless (g_str_has_prefix (error->message, message),
      "\"%s\" begins with \"%s\"", error->message, message);
  g_error_free (error);
}
