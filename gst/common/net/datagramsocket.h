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

#pragma once

#include <gio/gio.h>

#include "datagram.h"

#define DATAGRAM_BATCH 64       /* packets per system call */

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
  gint may_fragment;            /* FALSE: path MTU discovery; -1: the system's
                                 * default. Default: TRUE */
  gboolean reuse;               /* others may listen on the same port. */
  gboolean no_details;          /* received packets have neither `time` nor
                                 * path.local, which costs less. */
  gboolean keep_header;         /* raw: received IPv4 packets keep their header,
                                 * path.local of IPv6 ones may be a group */
} DatagramSocketOptions;

void datagram_socket_options_init (DatagramSocketOptions * options);

/* A socket that exchanges packets with `remote` only. `local` may be NULL. Of a
 * raw socket `remote` has no port; a port of `local` is that to which all
 * packets that it receives are addressed, in the transport header. Errors say
 * what could not be had, for example "No interface named wlan1". */
DatagramSocket *datagram_socket_new_connected (GSocketAddress * remote,
    GSocketAddress * local, const DatagramSocketOptions * options,
    GError ** error);
/* A socket that listens. An IPv6 one receives from IPv4 hosts, too. */
DatagramSocket *datagram_socket_new_listener (GSocketAddress * local,
    const DatagramSocketOptions * options, GError ** error);
/* A socket that is not bound yet, not even to options->interface, and binding
 * it. An IPv6 one receives from IPv6 hosts only. */
DatagramSocket *datagram_socket_new (GSocketFamily family,
    const DatagramSocketOptions * options, GError ** error);
gboolean datagram_socket_bind (DatagramSocket * socket,
    GSocketAddress * local, GError ** error);
/* A socket of the application, which stays open in the end unless close_it. It
 * has no details. */
DatagramSocket *datagram_socket_new_from_socket (GSocket * socket,
    gboolean close_it);
void datagram_socket_free (DatagramSocket * socket);

/* The GSocket, owned by the DatagramSocket, for polling and properties */
GSocket *datagram_socket_get_socket (DatagramSocket * socket);
/* Both ends of a connected socket; otherwise the local one */
const DatagramPath *datagram_socket_get_path (DatagramSocket * socket);
/* The path MTU as far as the kernel knows it, or `mtu` (0: no limit) if that is
 * less; in bytes. A connected socket ignores `path`. */
guint datagram_socket_get_mtu (DatagramSocket * socket,
    const DatagramPath * path, guint mtu);
/* Bytes of the IP and UDP headers, and those that they leave for a payload */
guint datagram_socket_get_overhead (DatagramSocket * socket);
guint datagram_socket_get_max_payload (DatagramSocket * socket, guint mtu);

/* Packets to groups leave by this interface; 0: as the routes say */
gboolean datagram_socket_set_multicast_interface (DatagramSocket * socket,
    guint index, GError ** error);
/* The address that the kernel would send from to path->remote is stored as
 * path->local, and its interface as path->scope if it is link-local. */
gboolean datagram_socket_find_local (DatagramSocket * socket,
    DatagramPath * path, GError ** error);

void datagram_path_set_remote (DatagramPath * path, GSocketAddress * remote);
GSocketAddress *datagram_path_get_remote (const DatagramPath * path);

/* Addresses of a host, in order of preference, of GInetAddress; NULL: error. Looks
 * its name up, and waits. */
GList *datagram_look_up (const gchar * host, GCancellable * cancellable,
    GError ** error);
/* The same with the port, of GSocketAddress. `host` may be an address with its
 * scope, as fe80::1%eth0. */
GList *datagram_resolve (const gchar * host, guint16 port,
    GCancellable * cancellable, GError ** error);

/* A port that is probably nobody else's, for raw sockets: the kernel keeps no
 * ports for them. */
guint16 datagram_socket_draw_port (void);

/* Sends the first of `n` packets, DATAGRAM_BATCH at most, and returns how many
 * were sent. 0: the socket has no room now. -1: the first packet failed; a
 * packet can fail because the path, the interface or the address is gone, or
 * with G_IO_ERROR_MESSAGE_TOO_LARGE because the path MTU is less. */
gint datagram_socket_send (DatagramSocket * socket,
    const Datagram * datagrams, guint n, GError ** error);
/* Receives at most `n` packets and DATAGRAM_BATCH, and returns how many. 0:
 * there is none now. -1: an ICMP error came back to a connected socket, for
 * example G_IO_ERROR_CONNECTION_REFUSED. The same error is reported once, until
 * a packet is received (G_IO_ERROR_MESSAGE_TOO_LARGE: each time); it does not
 * prevent packets from being sent. */
gint datagram_socket_receive (DatagramSocket * socket, Datagram * datagrams,
    guint n, GError ** error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DatagramSocket, datagram_socket_free)
