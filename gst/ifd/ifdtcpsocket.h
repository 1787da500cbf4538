/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options and statistics of TCP sockets. GIO does not provide these options and
 * statistics, and they differ between operating systems. If an operating system
 * does not have them, the functions do nothing and the statistics are 0. */

#pragma once

#include <gio/gio.h>

typedef struct
{
  guint64 rtt;                  /* smoothed round-trip time in ns */
  /* minimum round-trip time of the last 5 minutes, in ns */
  guint64 min_rtt;
  /* number of segments retransmitted on this connection */
  guint64 retransmissions;
  guint64 delivery_rate;        /* acknowledged bytes per second */
  /* number of bytes in the send buffer of the socket that the kernel has not
   * sent yet */
  guint64 unsent;
  /* Number of bytes that the receiver has not acknowledged, including the
   * unsent bytes. The end of the stream (FIN) counts as one byte. */
  guint64 unacknowledged;
} IfdTcpFigures;

typedef struct
{
  guint notsent_lowat;          /* in bytes; 0: the system's default */
  gint dscp;                    /* -1: the system's default */
  gint ttl;                     /* 0: the system's default */
  /* size of the send buffer in bytes; 0 means that the kernel adapts the size
   */
  gint buffer_size;
  guint64 timeout;              /* in ns; 0: the system's default */
} IfdTcpOptions;

void ifd_tcp_socket_set_options (GSocket * socket,
    const IfdTcpOptions * options);
/* Sets the maximum number of unsent bytes in the kernel. When this number is
 * reached, the socket is reported as not writable. If `lowat` is 0, nothing is
 * changed. */
void ifd_tcp_socket_set_notsent_lowat (GSocket * socket, guint lowat);
/* After a call of this function, closing the socket aborts the connection with
 * a reset (RST) instead of ending it normally. The kernel then discards the
 * unsent data. The RST tells the receiver that the connection was aborted. */
void ifd_tcp_socket_set_reset (GSocket * socket);
/* Sets `unsent` and `unacknowledged` to the numbers of bytes that IfdTcpFigures
 * describes. This takes less time than ifd_tcp_socket_get_figures (). */
void ifd_tcp_socket_get_queue (GSocket * socket, guint64 * unsent,
    guint64 * unacknowledged);
void ifd_tcp_socket_get_figures (GSocket * socket, IfdTcpFigures * figures);
/* Returns how many bytes may still be written until the kernel holds `lowat`
 * unsent bytes. There is no limit if `lowat` is 0, or if the operating system
 * does not report the number of unsent bytes. In these two cases the function
 * returns G_MAXSSIZE. */
gsize ifd_tcp_socket_get_room (GSocket * socket, guint lowat);
/* If the operating system reports acknowledgements, returns TRUE, and sets
 * `all` to TRUE or FALSE: whether the receiver has acknowledged all data.
 * Otherwise returns FALSE and does not set `all`. */
gboolean ifd_tcp_socket_is_acknowledged (GSocket * socket, gboolean * all);
