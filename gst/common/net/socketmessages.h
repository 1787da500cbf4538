/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends and receives many packets with one system call, if the system supports
 * it. The functions also determine which packet an error belongs to. This is
 * not obvious: if an ICMP error about an earlier packet has arrived, the system
 * reports it only once, in the next system call on the socket, even if this
 * call sends or receives other packets.
 */

#pragma once

#include <gio/gio.h>

#include <sys/socket.h>

/* A message with the same layout as struct mmsghdr of Linux */
typedef struct
{
  struct msghdr msg_hdr;
  guint msg_len;                /* number of bytes received */
} SocketMessage;

typedef struct
{
  /* errno of the message that could not be sent or received; 0 if there is no
   * such message. If the socket is not ready, the value is 0, too. */
  gint own;
  /* errno of the last ICMP error that an earlier message caused; 0 if there is
   * none */
  gint earlier;
} SocketErrors;

/* Sends messages until all are sent, the socket is full, or a message fails.
 * Never waits. Returns how many messages were sent. */
guint socket_messages_send (gint fd, SocketMessage * messages, guint n,
    SocketErrors * errors);
/* Receives up to `n` messages. Does not block. Returns the number of received
 * messages. */
guint socket_messages_receive (gint fd, SocketMessage * messages, guint n,
    SocketErrors * errors);

/* Returns the message of `error` (transfer full). The caller appends this
 * message to a text that already contains the name `peer`. If `peer` is
 * "127.0.0.1:5", the message "127.0.0.1:5 returned an error" therefore becomes
 * "the peer returned an error". */
gchar *socket_error_describe (const GError * error, const gchar * peer);
/* Returns FALSE, with an error that says what to do, if `host` is of the form
 * host:port. */
gboolean socket_check_host (const gchar * host, GError ** error);

/* Sets an error for `error_number` and appends the system's text to it. The
 * error codes do not depend on the version of GLib:
 * G_IO_ERROR_CONNECTION_REFUSED always means that the peer refused. Returns
 * FALSE, which the caller can return. */
gboolean
socket_set_error (GError ** error, gint error_number, const gchar * format, ...)
G_GNUC_PRINTF (3, 4);

/* Returns advice to the user about this error: sentences that begin with a
 * space and are appended to an error message, or "" if there is no advice. */
     const gchar *socket_error_get_advice (const GError * error);
