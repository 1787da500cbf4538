/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* UDP sockets of MMTP: bound to an interface or an address, never blocking,
 * many packets in a system call, each with the kernel's time of arrival; a
 * receiver answers from the address to which it was spoken. No protocol here.
 */

#ifndef __MMTP_SOCKET_H__
#define __MMTP_SOCKET_H__

#include <gio/gio.h>

#include "mmtpreceiver.h"

G_BEGIN_DECLS

#define MMTP_SOCKET_BATCH 64    /* packets of a system call */

typedef struct _MmtpSocket MmtpSocket;

typedef struct
{
  guint8 *bytes;                /* the caller's */
  gsize size;                   /* sending: of the packet; receiving: room, then
                                 * of the packet */
  MmtpAddress address;          /* whereto or wherefrom, and our own side of it;
                                 * not looked at by a connected socket */
  guint64 time;                 /* received: ns of g_get_monotonic_time's clock
                                 * at which the kernel had it */
} MmtpDatagram;

/* A sender's channel, connected to `remote`. `interface`, `local`: may be NULL.
 * An error names what could not be had, as "No interface named wlan1". */
MmtpSocket *mmtp_socket_new_channel (GSocketAddress * remote,
    const gchar * interface, GSocketAddress * local, GError ** error);
/* A receiver's. `buffer_size`: bytes, 0: the system's. */
MmtpSocket *mmtp_socket_new_listener (GSocketAddress * local,
    const gchar * interface, gint buffer_size, gboolean reuse,
    GError ** error);
void mmtp_socket_free (MmtpSocket * socket);

/* The GSocket below, the MmtpSocket's: for polling and properties */
GSocket *mmtp_socket_get_socket (MmtpSocket * socket);
/* Bytes of a UDP payload that go on this channel in one packet now, which may be
 * less than MMTP_MIN_LONGEST; and of IP and UDP before it */
guint mmtp_socket_get_longest (MmtpSocket * socket, guint mtu);
guint mmtp_socket_get_overhead (MmtpSocket * socket);

/* How many of the first of `n` went, MMTP_SOCKET_BATCH at most; -1 with an
 * error when the first one can't go: G_IO_ERROR_WOULD_BLOCK: later; anything
 * else: the way there has gone, or its interface or address. */
gint mmtp_socket_send (MmtpSocket * socket, MmtpDatagram * datagrams, guint n,
    GError ** error);
/* How many came, at most `n` and MMTP_SOCKET_BATCH; what is longer than its
 * room is cut. -1: G_IO_ERROR_WOULD_BLOCK: nothing is there. Other errors say
 * what ICMP brought back, as G_IO_ERROR_CONNECTION_REFUSED: nobody listens
 * there. They are told once, until something comes; what is sent goes out
 * nevertheless. */
gint mmtp_socket_receive (MmtpSocket * socket, MmtpDatagram * datagrams,
    guint n, GError ** error);

/* Of the other side, in network order; size: 4 or 16 bytes */
const guint8 *mmtp_address_get_host (const MmtpAddress * address,
    gsize * size);
/* "host:port", for logs and statistics; free it */
gchar *mmtp_address_to_string (const MmtpAddress * address);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MmtpSocket, mmtp_socket_free)

G_END_DECLS

#endif /* __MMTP_SOCKET_H__ */
