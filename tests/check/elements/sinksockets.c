/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the properties with which a network sink sets the options of its
 * socket. The test looks for the socket among the file descriptors of this
 * process: it is the socket with the local port of the sink. Then the test
 * reads the options of this socket.
 */

#include <gst/check/gstcheck.h>

#include <gio/gio.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "sinkpipeline.h"

#ifndef SO_SNDBUFFORCE
#define SO_SNDBUFFORCE SO_SNDBUF
#endif

#define MAX_DESCRIPTOR 1024
#define TTL 7
#define DSCP 10
#define BUFFER_SIZE 40000
/* More than the usual limit of Linux, which is 212992 bytes
 * (net.core.wmem_max). */
#define LARGE_BUFFER_SIZE (64 * 1024 * 1024)
#define LOCAL_ADDRESS "127.0.0.2"

static const struct
{
  const gchar *line;
  GSocketType type;
} sinks[] = {
#ifdef HAVE_MMTP
  {"mmtpsink channels=\"\"", G_SOCKET_TYPE_DATAGRAM},
#endif
#ifdef HAVE_IFD
  {"ifdsink", G_SOCKET_TYPE_STREAM},
#endif
#ifdef HAVE_UDPLITE
  {"udplitesink backend=udp", G_SOCKET_TYPE_DATAGRAM},
#endif
#ifdef HAVE_DCCPTHIN
  {"dccpthinsink", G_SOCKET_TYPE_DATAGRAM},
#endif
};

static guint16
port_of (GSocket * socket)
{
  GSocketAddress *address = g_socket_get_local_address (socket, NULL);
  guint16 port =
      g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (address));

  g_object_unref (address);
  return port;
}

static GSocket *
bind_socket (GSocketType type, const gchar * text)
{
  GSocketAddress *address = g_inet_socket_address_new_from_string (text, 0);
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV4, type,
      G_SOCKET_PROTOCOL_DEFAULT, NULL);

  fail_unless (g_socket_bind (socket, address, TRUE, NULL));
  if (type == G_SOCKET_TYPE_STREAM)
    fail_unless (g_socket_listen (socket, NULL));
  g_object_unref (address);
  return socket;
}

static guint16
find_free_port (GSocketType type)
{
  GSocket *socket = bind_socket (type, LOCAL_ADDRESS);
  guint16 port = port_of (socket);

  g_socket_close (socket, NULL);
  g_object_unref (socket);
  return port;
}

/* Returns the file descriptor of the socket that has the local port `port`, or
 * -1 if this process has no such socket. */
static gint
find_socket (guint16 port)
{
  struct sockaddr_in address;
  socklen_t size;
  gint fd;

  for (fd = 0; fd < MAX_DESCRIPTOR; fd++) {
    size = sizeof (address);
    if (getsockname (fd, (struct sockaddr *) &address, &size) == 0
        && address.sin_family == AF_INET && ntohs (address.sin_port) == port)
      return fd;
  }
  return -1;
}

static gint
get_option (gint fd, gint level, gint name)
{
  gint value = -1;
  socklen_t size = sizeof (value);

  fail_unless_equals_int (getsockopt (fd, level, name, &value, &size), 0);
  return value;
}

static void
check_socket (gint fd)
{
  struct sockaddr_in address;
  socklen_t size = sizeof (address);

  fail_unless_equals_int (getsockname (fd, (struct sockaddr *) &address,
          &size), 0);
  fail_unless_equals_int (ntohl (address.sin_addr.s_addr), 0x7f000002);
  fail_unless_equals_int (get_option (fd, IPPROTO_IP, IP_TTL), TTL);
  fail_unless_equals_int (get_option (fd, IPPROTO_IP, IP_TOS) >> 2, DSCP);
  /* For the size of a send buffer, getsockopt () returns twice the value that
   * was set, because the kernel adds room for its own data. */
  fail_unless_equals_int (get_option (fd, SOL_SOCKET, SO_SNDBUF),
      2 * BUFFER_SIZE);
}

GST_START_TEST (properties_become_options_of_the_socket)
{
  GSocket *receiver = bind_socket (sinks[__i__].type, "127.0.0.1");
  const guint16 local_port = find_free_port (sinks[__i__].type);
  GError *error = NULL;
  GstElement *sink = gst_parse_launch (sinks[__i__].line, &error);

  g_assert_no_error (error);
  g_object_set (sink, "host", "127.0.0.1", "port", (gint) port_of (receiver),
      "bind-address", LOCAL_ADDRESS, "bind-port", (gint) local_port, "ttl",
      TTL, "qos-dscp", DSCP, "buffer-size", BUFFER_SIZE, NULL);
  gst_element_set_state (sink, GST_STATE_PAUSED);
  WAIT_FOR (find_socket (local_port) >= 0);
  /* The socket may already have its port while the sink has not set the options
   * yet. The test therefore waits for the options. */
  WAIT_FOR (get_option (find_socket (local_port), IPPROTO_IP, IP_TTL) == TTL
      && get_option (find_socket (local_port), IPPROTO_IP, IP_TOS) != 0);
  check_socket (find_socket (local_port));
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_object_unref (sink);
  g_object_unref (receiver);
}

GST_END_TEST;

/* Returns the size of the send buffer that a datagram socket has after this
 * process has asked for `size` bytes with all its privileges. */
static gint
get_possible_buffer_size (gint size)
{
  GSocket *socket = bind_socket (G_SOCKET_TYPE_DATAGRAM, "127.0.0.1");
  gint got;

  if (!g_socket_set_option (socket, SOL_SOCKET, SO_SNDBUFFORCE, size, NULL))
    fail_unless (g_socket_set_option (socket, SOL_SOCKET, SO_SNDBUF, size,
            NULL));
  got = get_option (g_socket_get_fd (socket), SOL_SOCKET, SO_SNDBUF);
  g_object_unref (socket);
  return got;
}

/* With CAP_NET_ADMIN, the property buffer-size is not subject to the limit of
 * the system (net.core.wmem_max). This holds for all sinks that send
 * datagrams. */
GST_START_TEST (privileged_buffer_size_exceeds_the_limit)
{
  const gint expected = get_possible_buffer_size (LARGE_BUFFER_SIZE);
  GSocket *receiver;
  guint16 local_port;
  GstElement *sink;

  if (sinks[__i__].type != G_SOCKET_TYPE_DATAGRAM)
    return;
  receiver = bind_socket (sinks[__i__].type, "127.0.0.1");
  local_port = find_free_port (sinks[__i__].type);
  sink = gst_parse_launch (sinks[__i__].line, NULL);
  g_object_set (sink, "host", "127.0.0.1", "port", (gint) port_of (receiver),
      "bind-address", LOCAL_ADDRESS, "bind-port", (gint) local_port,
      "buffer-size", LARGE_BUFFER_SIZE, NULL);
  gst_element_set_state (sink, GST_STATE_PAUSED);
  WAIT_FOR (find_socket (local_port) >= 0
      && get_option (find_socket (local_port), SOL_SOCKET, SO_SNDBUF) ==
      expected);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_object_unref (sink);
  g_object_unref (receiver);
}

GST_END_TEST;

static Suite *
sinksockets_suite (void)
{
  Suite *suite = suite_create ("sinksockets");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, properties_become_options_of_the_socket, 0,
      G_N_ELEMENTS (sinks));
  tcase_add_loop_test (tcase, privileged_buffer_size_exceeds_the_limit, 0,
      G_N_ELEMENTS (sinks));
  return suite;
}

GST_CHECK_MAIN (sinksockets);
