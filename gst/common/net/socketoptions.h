/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of an IP socket for which systems have names of their own. Where one
 * has none, nothing happens.
 */

#ifndef __SOCKET_OPTIONS_H__
#define __SOCKET_OPTIONS_H__

#include <gio/gio.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

/* A packet that is longer than a link on its way is cut in pieces there, or comes
 * to nothing, and its sender is told (path MTU discovery). */
GST_WIRELESS_API
void socket_options_set_fragments (GSocket * socket, gboolean allowed);
/* Bytes of the kernel's buffers; it may give less, which is what it has. */
GST_WIRELESS_API
void socket_options_set_receive_buffer (GSocket * socket, gint size);
GST_WIRELESS_API
void socket_options_set_send_buffer (GSocket * socket, gint size);
/* What the route to the peer of a connected socket has, and what was learnt about
 * it, bytes. 0: the system doesn't say */
GST_WIRELESS_API
guint socket_options_get_path_mtu (gint fd, gint family);

G_END_DECLS

#endif /* __SOCKET_OPTIONS_H__ */
