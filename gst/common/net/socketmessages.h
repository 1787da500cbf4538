/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many packets by one system call, where the system has such. An error that an
 * earlier packet brought back by ICMP is not one of the packet that is sent
 * now, nor of those that are received: the system reports it just once, to
 * whoever asks next.
 */

#pragma once

#include <gio/gio.h>

#include <sys/socket.h>

/* As Linux's struct mmsghdr */
typedef struct
{
  struct msghdr msg_hdr;
  guint msg_len;                /* bytes that came */
} SocketMessage;

typedef struct
{
  gint own;                     /* errno of the next message; 0: none, there is
                                 * no room, or nothing, now */
  gint earlier;                 /* errno that messages before brought back by
                                 * ICMP, the last one; 0: none */
} SocketErrors;

/* Sends them all, unless there is no room, or one fails: says how many went.
 * Never waits. */
guint socket_messages_send (gint fd, SocketMessage * messages, guint n,
    SocketErrors * errors);
/* What is there, without waiting */
guint socket_messages_receive (gint fd, SocketMessage * messages, guint n,
    SocketErrors * errors);

/* Sets an error of this errno and appends the system's text to it. The codes are
 * the same with every version of GLib: G_IO_ERROR_CONNECTION_REFUSED always means
 * that the peer refused. Returns FALSE, which the caller can return. */
gboolean
socket_set_error (GError ** error, gint error_number, const gchar * format, ...)
G_GNUC_PRINTF (3, 4);

/* Returns what a user can do about this error: sentences that an error message
 * appends after a blank, or "" where there is no advice. */
     const gchar *socket_error_get_advice (const GError * error);
