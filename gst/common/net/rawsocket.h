/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which packets a raw socket gets, for protocols whose header begins with two
 * ports, source and destination, as UDP's. Where a system has no filters it gets
 * all, and who reads them has to look.
 */

#pragma once

#include <gio/gio.h>

/* Bytes before the destination's port */
#define RAW_SOCKET_DESTINATION_OFFSET 2

/* Nothing, from now on */
gboolean raw_socket_filter_everything (gint fd, GError ** error);
/* ... and what came before is away: a raw socket gets all that comes for its
 * protocol from the first moment on, when nothing is for us yet. */
gboolean raw_socket_become_deaf (gint fd, GError ** error);
/* All that comes, from now on */
gboolean raw_socket_accept_everything (gint fd, GError ** error);
/* What is for this port, in host byte order */
gboolean raw_socket_filter_port (gint fd, gboolean ipv6, guint16 port,
    GError ** error);
