/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A datagram socket: UDP, UDP-Lite of the kernel, or raw IP. It never blocks,
 * and it sends and receives in batches. Each received packet has the time at
 * which the kernel received it and the address to which it was sent, so that an
 * answer leaves from that address. The class knows no protocol above these.
 *
 *   socket = datagram_socket_new_connected (remote, local, &options, &error);
 *   n = datagram_socket_send (socket, datagrams, n_datagrams, &error);
 *   poll datagram_socket_get_socket (socket), then
 *   n = datagram_socket_receive (socket, datagrams, DATAGRAM_BATCH, &error);
 *
 * One thread may send while another one receives, unless it is connected.
 */

#ifndef __DATAGRAM_SOCKET_H__
#define __DATAGRAM_SOCKET_H__

#include <gio/gio.h>

#include "datagrampath.h"

G_BEGIN_DECLS

#define DATAGRAM_BATCH 64       /* packets per system call */
#define DATAGRAM_MAX_PARTS 16   /* per packet, beside `bytes` */

typedef struct _DatagramSocket DatagramSocket;

typedef struct
{
  gint protocol;                /* of IP; default: UDP */
  gboolean is_raw;              /* default: FALSE. TRUE needs CAP_NET_RAW. */
  const gchar *interface;       /* name; NULL: any */
  gint receive_buffer_size;     /* bytes; 0: the system's default */
  gint send_buffer_size;        /* bytes; 0: the system's default */
  gint ttl;                     /* 0: the system's default */
  gint dscp;                    /* -1: the system's default */
  gboolean may_fragment;        /* FALSE: path MTU discovery. Default: TRUE */
  gboolean reuse;               /* others may listen on the same port. */
} DatagramSocketOptions;

typedef struct
{
  gconstpointer data;
  gsize size;
} DatagramPart;

typedef struct
{
  guint8 *bytes;                /* the caller's memory. Received packets have no
                                 * IP header. */
  gsize size;                   /* sending: of the first part; receiving: of the
                                 * memory, then of the packet */
  const DatagramPart *parts;    /* sending: the rest of the packet */
  guint n_parts;                /* DATAGRAM_MAX_PARTS at most */
  gboolean is_truncated;        /* received: the packet was longer */
  DatagramPath path;            /* sending, if connected: ignored */
  guint64 time;                 /* received: ns of g_get_monotonic_time() */
} Datagram;

GST_WIRELESS_API
void datagram_init (Datagram * datagram, guint8 * bytes, gsize size);
/* Of all parts of a packet that is to be sent */
GST_WIRELESS_API
gsize datagram_get_size (const Datagram * datagram);
GST_WIRELESS_API
void datagram_copy_bytes (const Datagram * datagram, guint8 * to);

GST_WIRELESS_API
void datagram_socket_options_init (DatagramSocketOptions * options);

/* A socket that exchanges packets with `remote` only. `local` may be NULL. Of a
 * raw socket `remote` has no port; a port of `local` is that to which all
 * packets that it receives are addressed, in the transport header. Errors say
 * what could not be had, for example "No interface named wlan1". */
GST_WIRELESS_API
DatagramSocket *datagram_socket_new_connected (GSocketAddress * remote,
    GSocketAddress * local, const DatagramSocketOptions * options,
    GError ** error);
/* A socket that listens. An IPv6 one receives from IPv4 hosts, too. */
GST_WIRELESS_API
DatagramSocket *datagram_socket_new_listener (GSocketAddress * local,
    const DatagramSocketOptions * options, GError ** error);
GST_WIRELESS_API
void datagram_socket_free (DatagramSocket * socket);

/* The GSocket, owned by the DatagramSocket, for polling and properties */
GST_WIRELESS_API
GSocket *datagram_socket_get_socket (DatagramSocket * socket);
/* Both ends of a connected socket; otherwise the local one */
GST_WIRELESS_API
const DatagramPath *datagram_socket_get_path (DatagramSocket * socket);
/* The path MTU as far as the kernel knows it, or `mtu` (0: no limit) if that is
 * less; in bytes. A connected socket ignores `path`. */
GST_WIRELESS_API
guint datagram_socket_get_mtu (DatagramSocket * socket,
    const DatagramPath * path, guint mtu);
/* Bytes of the IP and UDP headers, and those that they leave for a payload */
GST_WIRELESS_API
guint datagram_socket_get_overhead (DatagramSocket * socket);
GST_WIRELESS_API
guint datagram_socket_get_max_payload (DatagramSocket * socket, guint mtu);

/* Sends the first of `n` packets, DATAGRAM_BATCH at most, and returns how many
 * were sent. 0: the socket has no room now. -1: the first packet failed; a
 * packet can fail because the path, the interface or the address is gone, or
 * with G_IO_ERROR_MESSAGE_TOO_LARGE because the path MTU is less. */
GST_WIRELESS_API
gint datagram_socket_send (DatagramSocket * socket,
    const Datagram * datagrams, guint n, GError ** error);
/* Receives at most `n` packets and DATAGRAM_BATCH, and returns how many. 0:
 * there is none now. -1: an ICMP error came back to a connected socket, for
 * example G_IO_ERROR_CONNECTION_REFUSED. The same error is reported once, until
 * a packet is received (G_IO_ERROR_MESSAGE_TOO_LARGE: each time); it does not
 * prevent packets from being sent. */
GST_WIRELESS_API
gint datagram_socket_receive (DatagramSocket * socket, Datagram * datagrams,
    guint n, GError ** error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DatagramSocket, datagram_socket_free)

G_END_DECLS

#endif /* __DATAGRAM_SOCKET_H__ */
