/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of socketmessages.h. If the system has system calls for
 * several messages (sendmmsg, recvmmsg), the code uses them. Otherwise it uses
 * the system calls for a single message (sendmsg, recvmsg). If an error occurs,
 * the code determines which message the error belongs to.
 */

#define _GNU_SOURCE             /* sendmmsg, recvmmsg */

#include "socketmessages.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Maximum number of consecutive errors of a system call that are regarded as
 * ICMP errors about earlier packets. A socket stores only the last ICMP error.
 * However, while this error is processed, another ICMP message may arrive and
 * cause the next error, so several consecutive errors are possible. */
#define MAX_EARLIER_ERRORS 3

/* Returns whether the error of a system call may come from an ICMP message
 * about an earlier packet (ip(7), ipv6(7), icmp_err_convert in the Linux
 * kernel). The same errno can also belong to the message that is being sent,
 * for example if a route is missing. */
static gboolean
may_be_earlier (gint error_number)
{
  switch (error_number) {
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETUNREACH:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EPROTO:
    case EOPNOTSUPP:
    case EMSGSIZE:
    case EACCES:
    case ETIMEDOUT:
#ifdef ENONET
    case ENONET:
#endif
      return TRUE;
    default:
      return FALSE;
  }
}

static gboolean
is_no_room (gint error_number)
{
  return error_number == EAGAIN || error_number == EWOULDBLOCK ||
      error_number == ENOBUFS;
}

#ifdef HAVE_MMSG

G_STATIC_ASSERT (sizeof (SocketMessage) == sizeof (struct mmsghdr));
G_STATIC_ASSERT (G_STRUCT_OFFSET (SocketMessage, msg_len) ==
    G_STRUCT_OFFSET (struct mmsghdr, msg_len));

#define send_many(fd, messages, n) \
    sendmmsg (fd, (struct mmsghdr *) (messages), n, MSG_DONTWAIT)

static gint
receive_some (gint fd, SocketMessage * messages, guint n)
{
  return recvmmsg (fd, (struct mmsghdr *) messages, n, MSG_DONTWAIT, NULL);
}

#else

static gint
send_many (gint fd, SocketMessage * messages, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    if (sendmsg (fd, &messages[i].msg_hdr, MSG_DONTWAIT) < 0)
      return i > 0 ? i : -1;
  }
  return n;
}

static gint
receive_some (gint fd, SocketMessage * messages, guint n)
{
  gssize size;
  guint i;

  for (i = 0; i < n; i++) {
    size = recvmsg (fd, &messages[i].msg_hdr, MSG_DONTWAIT);
    if (size < 0)
      return i > 0 ? i : -1;
    messages[i].msg_len = size;
  }
  return n;
}

#endif

/* Called when a system call has failed with `error_number`. Returns whether the
 * call has to be repeated.
 *
 * The error may come from an ICMP message about an earlier packet. It is then
 * stored in `errors->earlier`, and the call is repeated up to
 * MAX_EARLIER_ERRORS times. If the call still fails after that, the error is
 * regarded as an error of the message that is being sent. It is then stored in
 * `errors->own` instead.
 *
 * ECONNREFUSED always belongs to an earlier message, so it is never stored in
 * `errors->own`. */
static gboolean
try_again (gint error_number, guint * tries, SocketErrors * errors)
{
  if (error_number == EINTR)
    return TRUE;
  if (is_no_room (error_number))
    return FALSE;
  if (may_be_earlier (error_number) && (*tries)++ < MAX_EARLIER_ERRORS) {
    errors->earlier = error_number;
    return TRUE;
  }
  if (error_number == ECONNREFUSED)
    return FALSE;
  errors->own = error_number;
  if (errors->earlier == error_number)
    errors->earlier = 0;
  return FALSE;
}

guint
socket_messages_send (gint fd, SocketMessage * messages, guint n,
    SocketErrors * errors)
{
  guint sent = 0, tries = 0;
  gint result;

  errors->own = errors->earlier = 0;
  while (sent < n) {
    /* For a single message, sendmsg is cheaper than sendmmsg. */
    if (n - sent == 1)
      result = sendmsg (fd, &messages[sent].msg_hdr, MSG_DONTWAIT) < 0 ? -1 : 1;
    else
      result = send_many (fd, messages + sent, n - sent);
    if (result > 0) {
      sent += result;
      tries = 0;
    } else if (!try_again (errno, &tries, errors)) {
      return sent;
    }
  }
  return sent;
}

guint
socket_messages_receive (gint fd, SocketMessage * messages, guint n,
    SocketErrors * errors)
{
  guint tries = 0;
  gint result;

  errors->own = errors->earlier = 0;
  do {
    result = receive_some (fd, messages, n);
    if (result >= 0)
      return result;
  } while (try_again (errno, &tries, errors));
  /* If receiving fails with an error that an ICMP message can cause, the error
   * belongs to a message that was sent earlier. The receive call itself then
   * has no error. */
  if (may_be_earlier (errors->own))
    errors->own = 0;
  return 0;
}

/* Converts an errno to an error code of GLib. EADDRNOTAVAIL means that an
 * address of this host no longer exists, and not that a peer refused. Newer
 * versions of GLib nevertheless convert it to G_IO_ERROR_CONNECTION_REFUSED. */
static gint
get_io_error (gint error_number)
{
  if (error_number == EADDRNOTAVAIL)
    return G_IO_ERROR_FAILED;
  return g_io_error_from_errno (error_number);
}

gboolean
socket_set_error (GError ** error, gint error_number, const gchar * format, ...)
{
  va_list arguments;
  gchar *what;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, G_IO_ERROR, get_io_error (error_number),
      "%s: %s", what, g_strerror (error_number));
  g_free (what);
  return FALSE;
}

gchar *
socket_error_describe (const GError * error, const gchar * peer)
{
  gchar *again = g_strconcat (peer, " returned ", NULL);
  gchar *text;

  if (g_str_has_prefix (error->message, again))
    text = g_strconcat ("the peer", error->message + strlen (peer), NULL);
  else
    text = g_strdup (error->message);
  g_free (again);
  return text;
}

gboolean
socket_check_host (const gchar * host, GError ** error)
{
  const gchar *colon = strchr (host, ':');
  guint64 port;

  /* A host with a port, such as example.org:5000, has exactly one colon. An
   * IPv6 address has at least two colons. */
  if (!colon || strchr (colon + 1, ':')
      || !g_ascii_string_to_unsigned (colon + 1, 10, 0, G_MAXUINT16, &port,
          NULL))
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "the host \"%s\" contains a port. Set host=%.*s and port=%u", host,
      (gint) (colon - host), host, (guint) port);
  return FALSE;
}

const gchar *
socket_error_get_advice (const GError * error)
{
  static const struct
  {
    gint code;
    const gchar *advice;
  } table[] = {
    {G_IO_ERROR_CONNECTION_REFUSED,
        " Start the peer first, or check the host and the port."},
    {G_IO_ERROR_TIMED_OUT, " Check that the peer runs, and that no firewall "
          "drops the packets."},
    {G_IO_ERROR_HOST_UNREACHABLE, " \"ip route get\" with the address of the "
          "peer shows the route."},
    {G_IO_ERROR_NETWORK_UNREACHABLE, " Check the network connection: \"ip "
          "route\" shows the routes."},
    {G_IO_ERROR_ADDRESS_IN_USE, " Stop the program that uses this port, or "
          "choose another port."},
  };
  guint i;

  if (error->domain == G_RESOLVER_ERROR)
    return error->code == G_RESOLVER_ERROR_NOT_FOUND ?
        " Check the name, or set an IP address." :
        " Check that a name server can be reached, or set an IP address.";
  for (i = 0; i < G_N_ELEMENTS (table); i++) {
    if (g_error_matches (error, G_IO_ERROR, table[i].code))
      return table[i].advice;
  }
  return "";
}
