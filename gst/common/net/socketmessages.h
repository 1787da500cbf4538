/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends and receives many packets with one system call, if the system supports
 * this. If a call fails, the functions also determine which packet the error
 * belongs to. This is not obvious: an ICMP error about an earlier packet is
 * reported by the next system call on the socket, even if this call sends or
 * receives other packets. The system reports each such error only once.
 */

#pragma once

#include <gio/gio.h>

#include <sys/socket.h>

/* A message to send, or a received message. The struct has the same layout as
 * struct mmsghdr of Linux. */
typedef struct
{
  struct msghdr msg_hdr;
  guint msg_len;                /* number of bytes received */
} SocketMessage;

typedef struct
{
  /* errno of the message that could not be sent or received. 0 if no message
   * failed; a socket that is not ready does not count as a failure. */
  gint own;
  /* errno of the last ICMP error that belongs to a message sent earlier; 0 if
   * there was no such error */
  gint earlier;
} SocketErrors;

/* Sends messages until all are sent, the socket is full, or a message fails.
 * Never waits. Returns how many messages were sent. `errors` is set in all
 * cases. */
guint socket_messages_send (gint fd, SocketMessage * messages, guint n,
    SocketErrors * errors);
/* Receives up to `n` messages. Never waits. Returns the number of received
 * messages. `errors` is set in all cases. */
guint socket_messages_receive (gint fd, SocketMessage * messages, guint n,
    SocketErrors * errors);

/* Returns a copy of the message of `error`. The caller frees the copy. The copy
 * becomes part of a text that already contains the address `peer`. If the
 * message begins with the same address, followed by " returned ", the copy
 * begins with "the peer returned " instead, so that the text does not contain
 * the address twice. For example, if `peer` is "127.0.0.1:5", the message
 * "127.0.0.1:5 returned an error" becomes "the peer returned an error". */
gchar *socket_error_describe (const GError * error, const gchar * peer);
/* Checks that `host` contains no port. If `host` has the form host:port,
 * returns FALSE, with an error that says what to do. */
gboolean socket_check_host (const gchar * host, GError ** error);

/* Sets `error` for the errno `error_number`. The message consists of the
 * formatted text and the system's text for this errno. The error codes do not
 * depend on the version of GLib: G_IO_ERROR_CONNECTION_REFUSED always means
 * that the peer refused. Always returns FALSE, so that the caller can return
 * the result. */
gboolean
socket_set_error (GError ** error, gint error_number, const gchar * format, ...)
G_GNUC_PRINTF (3, 4);

/* Returns advice to the user about `error`, or "" if there is none. The advice
 * consists of sentences that are appended to an error message, and begins with
 * a space. */
     const gchar *socket_error_get_advice (const GError * error);
