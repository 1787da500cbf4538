/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sockets that carry DCCP: UDP (RFC 6773), or raw with IP protocol 33, IPv4 and
 * IPv6; never blocking, many packets in a system call. Where the kernel has DCCP
 * of its own, it may answer raw packets too; docs/dccpthinsink.md says what then.
 * No protocol here.
 */

#ifndef __DCCP_SOCKET_H__
#define __DCCP_SOCKET_H__

#include <gio/gio.h>

#include "dccppath.h"

G_BEGIN_DECLS

#define DCCP_SOCKET_BATCH 64    /* packets of a system call */

typedef struct _DccpSocket DccpSocket;

typedef enum
{
  DCCP_ENCAPSULATION_UDP,
  DCCP_ENCAPSULATION_RAW
} DccpEncapsulation;

typedef struct
{
  guint8 *bytes;                /* receiving: the caller's room; a packet
                                 * without IP header */
  gsize size;                   /* receiving: room, then bytes of the packet */
  const guint8 *header;         /* sending: goes before bytes, may be NULL */
  gsize header_size;
  DccpPath path;                /* whereto or wherefrom, and our own side of it */
  guint64 time;                 /* received: ns of g_get_monotonic_time's clock */
} DccpDatagram;

/* A client's: only what comes from `remote` is received. `local` may be NULL. An
 * error says what could not be had, and CAP_NET_RAW by name. */
DccpSocket *dccp_socket_new_client (DccpEncapsulation encapsulation,
    GSocketAddress * remote, GSocketAddress * local, GError ** error);
/* A server's; for raw the port in `local` is not looked at */
DccpSocket *dccp_socket_new_listener (DccpEncapsulation encapsulation,
    GSocketAddress * local, gint buffer_size, gboolean reuse, GError ** error);
void dccp_socket_free (DccpSocket * socket);

/* The GSocket below, the DccpSocket's: for polling and properties */
GSocket *dccp_socket_get_socket (DccpSocket * socket);
/* A client's way */
void dccp_socket_get_path (DccpSocket * socket, DccpPath * path);
/* Bytes of an IP packet that the path takes, as far as is known */
guint dccp_socket_get_mtu (DccpSocket * socket, guint mtu);

/* How many of the first of `n` went; -1 with an error when the first one can't:
 * G_IO_ERROR_WOULD_BLOCK: later; G_IO_ERROR_MESSAGE_TOO_LARGE; ... */
gint dccp_socket_send (DccpSocket * socket, DccpDatagram * datagrams, guint n,
    GError ** error);
/* How many came; -1: G_IO_ERROR_WOULD_BLOCK: nothing is there; others say what
 * ICMP brought back. */
gint dccp_socket_receive (DccpSocket * socket, DccpDatagram * datagrams,
    guint n, GError ** error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DccpSocket, dccp_socket_free)

G_END_DECLS

#endif /* __DCCP_SOCKET_H__ */
