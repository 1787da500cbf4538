/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the TCP writer asks of a socket and GIO doesn't have: options and
 * figures that differ from system to system. Where a system has none of it the
 * functions do nothing, and the figures are 0.
 */

#pragma once

#include <gio/gio.h>

typedef struct
{
  guint64 rtt;                  /* ns, smoothed */
  guint64 retransmissions;      /* segments, of this connection */
  guint64 delivery_rate;        /* bytes/s that the receiver confirms */
  guint64 unsent;               /* bytes that the kernel has not sent yet */
  guint64 unacknowledged;       /* ... that the receiver has not confirmed; those
                                 * are among them, and the end of the stream
                                 * counts as one */
} IfdTcpFigures;

typedef struct
{
  guint notsent_lowat;          /* bytes, 0: the system's own */
  gint dscp;                    /* -1: the system's own */
  gint ttl;                     /* 0: the system's own */
  gint buffer_size;             /* bytes, 0: as the kernel adapts it */
  guint64 timeout;              /* ns, 0: the system's own */
} IfdTcpOptions;

void ifd_tcp_socket_set_options (GSocket * socket,
    const IfdTcpOptions * options);
/* Bytes, 0: as it is. How many may wait unsent before it is full */
void ifd_tcp_socket_set_notsent_lowat (GSocket * socket, guint lowat);
/* Closes it at once; what was not sent is lost, and the receiver sees that. */
void ifd_tcp_socket_set_reset (GSocket * socket);
void ifd_tcp_socket_get_figures (GSocket * socket, IfdTcpFigures * figures);
/* Bytes that may be written before more than `lowat` wait unsent; without limit
 * where lowat is 0 or the system can't tell */
gsize ifd_tcp_socket_get_room (GSocket * socket, guint lowat);
/* FALSE: the system can't tell, `all` is as it was */
gboolean ifd_tcp_socket_is_acknowledged (GSocket * socket, gboolean * all);
