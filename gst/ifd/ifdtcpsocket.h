/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options and statistics of TCP sockets that GIO does not provide and that
 * differ between systems. On a system without them, the functions do nothing
 * and the statistics are 0.
 */

#pragma once

#include <gio/gio.h>

typedef struct
{
  guint64 rtt;                  /* smoothed round-trip time in ns */
  /* number of segments retransmitted on this connection */
  guint64 retransmissions;
  guint64 delivery_rate;        /* acknowledged bytes per second */
  guint64 unsent;               /* bytes that the kernel has not sent yet */
  /* Bytes that the receiver has not acknowledged, including the unsent ones;
   * the end of the stream counts as one byte */
  guint64 unacknowledged;
} IfdTcpFigures;

typedef struct
{
  guint notsent_lowat;          /* in bytes; 0: the system's default */
  gint dscp;                    /* -1: the system's default */
  gint ttl;                     /* 0: the system's default */
  gint buffer_size;             /* in bytes; 0: adapted by the kernel */
  guint64 timeout;              /* in ns; 0: the system's default */
} IfdTcpOptions;

void ifd_tcp_socket_set_options (GSocket * socket,
    const IfdTcpOptions * options);
/* Sets how many bytes may be unsent before the socket counts as full; 0 changes
 * nothing. */
void ifd_tcp_socket_set_notsent_lowat (GSocket * socket, guint lowat);
/* Makes the close reset the connection: unsent data are discarded, and the
 * receiver notices this. */
void ifd_tcp_socket_set_reset (GSocket * socket);
void ifd_tcp_socket_get_figures (GSocket * socket, IfdTcpFigures * figures);
/* Returns how many bytes may be written before more than `lowat` bytes are
 * unsent. There is no limit if `lowat` is 0 or the system does not tell the
 * number of unsent bytes. */
gsize ifd_tcp_socket_get_room (GSocket * socket, guint lowat);
/* Sets `all` to whether all data were acknowledged. Returns FALSE, without
 * setting `all`, if the system does not tell this. */
gboolean ifd_tcp_socket_is_acknowledged (GSocket * socket, gboolean * all);
