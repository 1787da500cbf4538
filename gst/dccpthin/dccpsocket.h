/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sockets that carry DCCP: UDP (RFC 6773), or raw with IP protocol 33, IPv4 and
 * IPv6; never blocking, many packets in a system call, none of them cut in pieces
 * on its way. Where the kernel has DCCP of its own, it may answer raw packets too;
 * docs/dcctpthinsink.md says what then. No protocol here.
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
  gint buffer_size;             /* bytes, of the kernel's buffers; 0: its own */
  gint ttl;                     /* of IP; 0: the kernel's own */
  gint dscp;                    /* of IP; -1: none */
  gboolean reuse;               /* others may have a listener's port too */
} DccpSocketOptions;

/* The kernel's own */
void dccp_socket_options_init (DccpSocketOptions * options);

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

/* A client's: only what comes from `remote` is received. `local` may be NULL. Of
 * UDP their ports are UDP's. Raw: `remote` has none, and that of `local` is our
 * own of DCCP: nothing is received but for that; 0: for any. An error says what
 * could not be had, and CAP_NET_RAW by name. */
DccpSocket *dccp_socket_new_client (DccpEncapsulation encapsulation,
    GSocketAddress * remote, GSocketAddress * local,
    const DccpSocketOptions * options, GError ** error);
/* A server's; the port in `local` as above */
DccpSocket *dccp_socket_new_listener (DccpEncapsulation encapsulation,
    GSocketAddress * local, const DccpSocketOptions * options,
    GError ** error);
void dccp_socket_free (DccpSocket * socket);

/* The GSocket below, the DccpSocket's: for polling and properties */
GSocket *dccp_socket_get_socket (DccpSocket * socket);
/* UDP's own; 0: raw */
guint16 dccp_socket_get_udp_port (DccpSocket * socket);
/* A client's way */
void dccp_socket_get_path (DccpSocket * socket, DccpPath * path);
/* Bytes of an IP packet that this path takes as far as is known, but not more
 * than `mtu`; 0: without such a limit */
guint dccp_socket_get_mtu (DccpSocket * socket, const DccpPath * path,
    guint mtu);

/* How many of the first of `n` went, DCCP_SOCKET_BATCH at most; -1 with an error
 * when the first one can't: G_IO_ERROR_WOULD_BLOCK: later;
 * G_IO_ERROR_MESSAGE_TOO_LARGE: dccp_socket_get_mtu knows more; ... */
gint dccp_socket_send (DccpSocket * socket, DccpDatagram * datagrams, guint n,
    GError ** error);
/* How many came; -1: G_IO_ERROR_WOULD_BLOCK: nothing is there; others say what
 * ICMP brought back to a client. Each is told once. */
gint dccp_socket_receive (DccpSocket * socket, DccpDatagram * datagrams,
    guint n, GError ** error);

/* "host" or "host:port" of the other end, for people; free it */
gchar *dccp_path_to_string (const DccpPath * path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DccpSocket, dccp_socket_free)

G_END_DECLS

#endif /* __DCCP_SOCKET_H__ */
