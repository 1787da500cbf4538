/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A datagram socket: UDP, the kernel's UDP-Lite, or raw IP. The socket never
 * blocks, and it sends and receives in batches. With each received packet, the
 * caller gets the time at which the kernel received it, and the address to
 * which it was sent. An answer can be sent from this address. The class works
 * with any protocol above the transport.
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
 * receives. */

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
  /* If TRUE, the fields `time` and path.local of received packets are not set,
   * which saves CPU time. */
  gboolean no_details;
  /* If TRUE, consecutive packets of equal size are passed to the kernel as one
   * message, which the kernel or the network device splits (GSO). For UDP
   * sockets only. Has no effect if the system does not support GSO, or while
   * the socket sends no UDP checksum. */
  gboolean gso;
  /* If TRUE, the kernel merges packets that arrive together into one datagram
   * (GRO). Datagram.segment_size is then the size of each packet. For UDP
   * sockets only. Has no effect if the system does not support GRO. */
  gboolean gro;
  /* TRUE if the caller has to know the address to which a packet was sent. This
   * may be the address of a multicast group. For raw sockets only.
   *
   * With this option, received IPv4 packets keep their IP header, which
   * contains the destination address. The kernel never delivers the header of
   * an IPv6 packet. The destination address of an IPv6 packet is therefore
   * stored in path.local. Without this option, path.local never contains the
   * address of a multicast group. */
  gboolean keep_header;
} DatagramSocketOptions;

void datagram_socket_options_init (DatagramSocketOptions * options);

/* Opens a socket that exchanges packets only with the endpoint `remote`.
 * `local` is the local endpoint, or NULL if the kernel selects it. A raw socket
 * ignores the port of `remote`. If `local` has a port, a raw socket receives
 * only packets with this destination port in their transport header. The text
 * of the error says what failed, for example "there is no network interface".
 */
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
/* Makes a DatagramSocket from a socket of the application. datagram_socket_free
 * closes this socket only if `close_it` is TRUE. The fields `time` and
 * path.local of received packets are not set. */
DatagramSocket *datagram_socket_new_from_socket (GSocket * socket,
    gboolean close_it);
void datagram_socket_free (DatagramSocket * socket);

/* Returns the GSocket, for polling and properties. The GSocket belongs to the
 * DatagramSocket. */
GSocket *datagram_socket_get_socket (DatagramSocket * socket);
/* Returns the local and the remote endpoint of a connected socket. If the
 * socket is not connected, only the local endpoint is set. */
const DatagramPath *datagram_socket_get_path (DatagramSocket * socket);
/* Returns the path MTU in bytes, as the kernel knows it. If `mtu` is not 0 and
 * is smaller than the path MTU, returns `mtu` instead. For an unconnected
 * socket, the path MTU is that of the path `path`. A connected socket has only
 * one path and ignores `path`. */
guint datagram_socket_get_mtu (DatagramSocket * socket,
    const DatagramPath * path, guint mtu);
/* datagram_socket_get_overhead returns the size of the IP and UDP headers in
 * bytes. datagram_socket_get_max_payload returns the maximum payload size of a
 * packet in bytes. This is the result of datagram_socket_get_mtu minus the size
 * of the headers. */
guint datagram_socket_get_overhead (DatagramSocket * socket);
guint datagram_socket_get_max_payload (DatagramSocket * socket, guint mtu);

/* These functions change an option of an open socket, as the field of
 * DatagramSocketOptions with the same name does. They return FALSE with `error`
 * set if the system refuses the value. With CAP_NET_ADMIN, the size of a buffer
 * may exceed the limit of the system; otherwise the kernel reduces it to this
 * limit. */
gboolean datagram_socket_set_receive_buffer_size (DatagramSocket * socket,
    gint size, GError ** error);
gboolean datagram_socket_set_send_buffer_size (DatagramSocket * socket,
    gint size, GError ** error);
gboolean datagram_socket_set_ttl (DatagramSocket * socket, gint ttl,
    GError ** error);
gboolean datagram_socket_set_dscp (DatagramSocket * socket, gint dscp,
    GError ** error);
/* Sets the interface on which the socket sends multicast packets. `index` is
 * the index of the interface; 0 means that the routing table selects the
 * interface. */
gboolean datagram_socket_set_multicast_interface (DatagramSocket * socket,
    guint index, GError ** error);
/* Returns the index of the interface on which the socket sends all packets to
 * `path`, if this interface is fixed. It is fixed if the socket is bound to an
 * interface, or if `path` is a multicast path and the interface for multicast
 * was set. Otherwise the routing table selects the interface, and the function
 * returns 0. */
guint datagram_socket_get_interface (DatagramSocket * socket,
    const DatagramPath * path);
/* Sets whether packets are sent with a UDP checksum. A new socket sends a UDP
 * checksum. For UDP sockets only. Only the thread that sends may call this
 * function. */
gboolean datagram_socket_set_checksum (DatagramSocket * socket,
    gboolean has_checksum, GError ** error);
/* Makes an IPv6 socket accept packets without a UDP checksum. An IPv4 socket
 * always accepts such packets. */
gboolean datagram_socket_accept_no_checksum (DatagramSocket * socket,
    GError ** error);
/* Determines the source address that the kernel would use for packets to
 * path->remote, and stores it in path->local. If this source address is
 * link-local, stores the index of its interface in path->scope. */
gboolean datagram_socket_find_local (DatagramSocket * socket,
    DatagramPath * path, GError ** error);

/* Resolves a host name. This call may block. Returns the addresses in order of
 * preference, as a list of GInetAddress; NULL on error. */
GList *datagram_look_up (const gchar * host, GCancellable * cancellable,
    GError ** error);
/* Resolves a host name, and combines each address that was found with the port
 * `port`. This call may block. Returns a list of GSocketAddress in order of
 * preference; NULL on error. `host` may also be an IP address, with a scope if
 * it is link-local, such as fe80::1%eth0. */
GList *datagram_resolve (const gchar * host, guint16 port,
    GCancellable * cancellable, GError ** error);

/* Returns a random port for a raw socket, because the kernel does not assign
 * ports to raw sockets. As the port is random, another program is unlikely to
 * use it. */
guint16 datagram_socket_draw_port (void);

/* Sends packets from the beginning of `datagrams`, at most DATAGRAM_BATCH, and
 * returns how many were sent. Returns 0 if the socket has no room now.
 *
 * Returns -1 with `error` set if the first packet could not be sent, for
 * example because there is no route any more, or because the interface or the
 * address no longer exists. The error is G_IO_ERROR_MESSAGE_TOO_LARGE if the
 * packet exceeds the path MTU. */
gint datagram_socket_send (DatagramSocket * socket,
    const Datagram * datagrams, guint n, GError ** error);
/* Returns how many packets from the beginning of `datagrams` can be passed to
 * the kernel as one message (GSO). Returns 1 if the socket does not use GSO.
 * GSO does not work if the socket sends no UDP checksum, but this function does
 * not check this. */
guint datagram_socket_get_run (DatagramSocket * socket,
    const Datagram * datagrams, guint n);
/* Returns FALSE with `error` set if the system or the network device has
 * refused to send several packets as one message (GSO). The refusal is reported
 * only once for each socket. No packets are lost, because the refused packets
 * were then sent one by one.
 *
 * If GSO was refused only because the packets were too large, it is still used
 * for smaller packets. Otherwise all later packets are sent one by one. */
gboolean datagram_socket_check_gso (DatagramSocket * socket, GError ** error);
/* Enables GRO, as DatagramSocketOptions.gro does. Returns whether the system
 * supports GRO. */
gboolean datagram_socket_enable_gro (DatagramSocket * socket);
/* Returns TRUE if GRO is enabled. The kernel may then merge several packets
 * into one datagram, so each datagram needs DATAGRAM_MERGED_SIZE bytes of
 * memory. */
gboolean datagram_socket_has_gro (DatagramSocket * socket);
/* Receives up to `n` packets (at most DATAGRAM_BATCH) and returns how many were
 * received. Returns 0 if no packet is waiting.
 *
 * Returns -1 with `error` set if a connected socket has received an ICMP error,
 * for example G_IO_ERROR_CONNECTION_REFUSED. If the same ICMP error arrives
 * repeatedly, it is reported only once until a packet is received.
 * G_IO_ERROR_MESSAGE_TOO_LARGE, however, is reported each time. After an ICMP
 * error, packets can still be sent. */
gint datagram_socket_receive (DatagramSocket * socket, Datagram * datagrams,
    guint n, GError ** error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DatagramSocket, datagram_socket_free)
