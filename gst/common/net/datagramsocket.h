/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A datagram socket: UDP, the kernel's UDP-Lite, or raw IP. The socket never
 * blocks, and it sends and receives in batches. Each received packet has the
 * time at which the kernel received it, and the address to which it was sent.
 * An answer can be sent from this address. The class does not depend on the
 * protocol whose packets it sends and receives.
 *
 * Sending:
 *
 *   socket = datagram_socket_new_connected (remote, local, &options, &error);
 *   n = datagram_socket_send (socket, datagrams, n_datagrams, &error);
 *
 * Receiving, after poll has reported that datagram_socket_get_socket (socket)
 * is readable:
 *
 *   n = datagram_socket_receive (socket, datagrams, DATAGRAM_BATCH, &error);
 *
 * If the socket is not connected, one thread may send while another thread
 * receives.
 */

#pragma once

#include <gio/gio.h>

#include "datagram.h"

#define DATAGRAM_BATCH 64       /* maximum number of packets per system call */
/* Maximum size in bytes of a received datagram if the kernel merges several
 * packets into one datagram (GRO)
 */
#define DATAGRAM_MERGED_SIZE 65535

typedef struct _DatagramSocket DatagramSocket;

typedef struct
{
  gint protocol;                /* IP protocol number; default: UDP */
  gboolean is_raw;              /* default: FALSE. TRUE needs CAP_NET_RAW. */
  const gchar *interface;       /* name of the interface; NULL: any */
  gint receive_buffer_size;     /* in bytes; 0: the system's default */
  gint send_buffer_size;        /* in bytes; 0: the system's default */
  gint ttl;                     /* 0: the system's default */
  gint dscp;                    /* -1: the system's default */
  /* Whether the network may fragment the packets. TRUE (initial value) allows
   * it, FALSE forbids it and enables path MTU discovery, and -1 keeps the
   * setting of the system. */
  gint may_fragment;
  /* TRUE = other sockets may listen on the same port */
  gboolean reuse;
  /* If TRUE, received packets have neither `time` nor path.local. Receiving
   * then uses less CPU time. */
  gboolean no_details;
  /* If TRUE, consecutive packets of equal size are sent as one message, which
   * the kernel or the network device splits (GSO). For UDP sockets only.
   * Ignored in two cases: if the system does not support GSO, and while the
   * socket sends no UDP checksum. */
  gboolean gso;
  /* If TRUE, the kernel merges packets that arrive together into one datagram
   * (GRO). Datagram.segment_size then is the size of each packet. For UDP
   * sockets only; ignored if the system does not support GRO. */
  gboolean gro;
  /* Raw sockets only. If TRUE, received IPv4 packets keep their IP header. For
   * received IPv6 packets, path.local is always the destination address, even
   * if this is a multicast group. */
  gboolean keep_header;
} DatagramSocketOptions;

void datagram_socket_options_init (DatagramSocketOptions * options);

/* Opens a socket that exchanges packets with `remote` only. `local` may be
 * NULL. For a raw socket, the port of `remote` is ignored. If `local` has a
 * port, the raw socket receives only packets that have this destination port in
 * their transport header. The error says what failed, for example "there is no
 * network interface". */
DatagramSocket *datagram_socket_new_connected (GSocketAddress * remote,
    GSocketAddress * local, const DatagramSocketOptions * options,
    GError ** error);
/* Opens a socket that listens on `local`. An IPv6 socket also receives packets
 * from IPv4 hosts. */
DatagramSocket *datagram_socket_new_listener (GSocketAddress * local,
    const DatagramSocketOptions * options, GError ** error);
/* Opens a socket that is bound neither to an address nor to options->interface;
 * datagram_socket_bind binds it. An IPv6 socket receives from IPv6 hosts only.
 */
DatagramSocket *datagram_socket_new (GSocketFamily family,
    const DatagramSocketOptions * options, GError ** error);
gboolean datagram_socket_bind (DatagramSocket * socket,
    GSocketAddress * local, GError ** error);
/* Wraps a socket of the application. datagram_socket_free closes it only if
 * `close_it` is TRUE. Received packets have neither `time` nor path.local. */
DatagramSocket *datagram_socket_new_from_socket (GSocket * socket,
    gboolean close_it);
void datagram_socket_free (DatagramSocket * socket);

/* Returns the GSocket, for polling and properties. The GSocket belongs to the
 * DatagramSocket. */
GSocket *datagram_socket_get_socket (DatagramSocket * socket);
/* Returns both endpoints of a connected socket, or only the local endpoint of
 * an unconnected socket. */
const DatagramPath *datagram_socket_get_path (DatagramSocket * socket);
/* Returns the smaller one of `mtu` and the path MTU that the kernel knows, in
 * bytes. If `mtu` is 0, returns the path MTU. `path` says whose path MTU is
 * returned; a connected socket has only one path and ignores this argument.
 */
guint datagram_socket_get_mtu (DatagramSocket * socket,
    const DatagramPath * path, guint mtu);
/* datagram_socket_get_overhead returns the size of the IP and UDP headers in
 * bytes. datagram_socket_get_max_payload returns the maximum payload size of a
 * packet in bytes. This is the result of datagram_socket_get_mtu minus the size
 * of the headers. */
guint datagram_socket_get_overhead (DatagramSocket * socket);
guint datagram_socket_get_max_payload (DatagramSocket * socket, guint mtu);

/* Sets the interface on which multicast packets are sent; 0 means that the
 * routing table decides. */
gboolean datagram_socket_set_multicast_interface (DatagramSocket * socket,
    guint index, GError ** error);
/* Returns the index of the interface on which all packets to `path` are sent,
 * because the socket is bound to it or because it was set for multicast.
 * Returns 0 if the routing table decides. */
guint datagram_socket_get_interface (DatagramSocket * socket,
    const DatagramPath * path);
/* Sets whether packets are sent with a UDP checksum. A new socket sends a UDP
 * checksum. For UDP sockets only. Only the thread that sends may call this
 * function. */
gboolean datagram_socket_set_checksum (DatagramSocket * socket,
    gboolean has_checksum, GError ** error);
/* Accepts packets without a UDP checksum. An IPv4 socket always accepts them. */
gboolean datagram_socket_accept_no_checksum (DatagramSocket * socket,
    GError ** error);
/* Determines the source address that the kernel would use for packets to
 * path->remote, and stores it in path->local. If the address is link-local,
 * path->scope is set to its interface. */
gboolean datagram_socket_find_local (DatagramSocket * socket,
    DatagramPath * path, GError ** error);

void datagram_path_set_remote (DatagramPath * path, GSocketAddress * remote);
GSocketAddress *datagram_path_get_remote (const DatagramPath * path);

/* Resolves a host name. This call may block. Returns the addresses in order of
 * preference, as a list of GInetAddress; NULL on error. */
GList *datagram_look_up (const gchar * host, GCancellable * cancellable,
    GError ** error);
/* Resolves a host name and adds the port to each address. This call may
 * block. Returns a list of GSocketAddress in order of preference; NULL on
 * error. `host` may also be an address with a scope, such as fe80::1%eth0. */
GList *datagram_resolve (const gchar * host, guint16 port,
    GCancellable * cancellable, GError ** error);

/* Returns a random port for a raw socket. The kernel does not assign ports to
 * raw sockets. Another program is unlikely to use the same port. */
guint16 datagram_socket_draw_port (void);

/* Sends packets from the beginning of `datagrams`, at most DATAGRAM_BATCH, and
 * returns how many were sent. Returns 0 if the socket has no room now. Returns
 * -1 if the first packet failed, for example because the path, the interface or
 * the address does not exist any more. The error is
 * G_IO_ERROR_MESSAGE_TOO_LARGE if the packet exceeds the path MTU. */
gint datagram_socket_send (DatagramSocket * socket,
    const Datagram * datagrams, guint n, GError ** error);
/* Returns how many packets from the beginning of `datagrams` can be sent as one
 * message with GSO. Returns 1 if the socket does not use GSO. GSO needs a UDP
 * checksum, but this function does not check whether the socket sends one. */
guint datagram_socket_get_run (DatagramSocket * socket,
    const Datagram * datagrams, guint n);
/* Returns FALSE with `error` if the system or the device has refused GSO. The
 * refusal is reported only once for each socket. The packets that were refused
 * with GSO were then sent one by one.
 *
 * If only the size of the packets was refused, smaller packets are still sent
 * with GSO. Otherwise all later packets are sent one by one. */
gboolean datagram_socket_check_gso (DatagramSocket * socket, GError ** error);
/* Enables GRO, as DatagramSocketOptions.gro does. Returns whether the system
 * supports GRO. */
gboolean datagram_socket_enable_gro (DatagramSocket * socket);
/* Returns TRUE if GRO is enabled. The kernel may then merge several packets
 * into one datagram, so each datagram needs DATAGRAM_MERGED_SIZE bytes of
 * memory. */
gboolean datagram_socket_has_gro (DatagramSocket * socket);
/* Receives up to `n` packets (at most DATAGRAM_BATCH) and returns their number.
 * Returns 0 if there are none now.
 *
 * Returns -1 if a connected socket got an ICMP error, for example
 * G_IO_ERROR_CONNECTION_REFUSED. The same error is reported again only after a
 * packet was received. G_IO_ERROR_MESSAGE_TOO_LARGE is an exception: it is
 * reported each time. After an ICMP error, packets can still be sent. */
gint datagram_socket_receive (DatagramSocket * socket, Datagram * datagrams,
    guint n, GError ** error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DatagramSocket, datagram_socket_free)
