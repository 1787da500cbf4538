/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A UDP-Lite socket of one address family. It uses one of three backends,
 * depending on the system: the kernel's UDP-Lite, a raw socket, or UDP that
 * carries UDP-Lite. It sends and receives packets in batches. The functions are
 * not thread safe, with one exception: one thread may send while another thread
 * receives.
 */

#pragma once

#include "udplitesockettypes.h"

/* Opens a socket and binds it to `address`, which also determines the address
 * family. The port 0 means any port. `reuse` has the same meaning as in
 * g_socket_bind ().
 *
 * With UDPLITE_BACKEND_AUTO, this function selects the first backend that the
 * system supports and permits. It also stores a text in `tried`, no matter
 * whether it succeeds or fails. The text contains a reason for each backend
 * that failed. If the first backend works, the text is "". The caller frees the
 * text with g_free (). With any other `backend`, NULL is stored in `tried`. A
 * caller that does not need the text passes NULL instead of `tried`.
 *
 * A port that is in use is an error even with UDPLITE_BACKEND_AUTO. In this
 * case no other backend is tried.
 *
 * Returns NULL with `error` set on failure. */
UdpliteSocket *udplite_socket_new (UdpliteBackend backend,
    GInetSocketAddress * address, gboolean reuse, gchar ** tried,
    GError ** error);
/* Returns a UdpliteSocket that uses the application's socket `socket`. Returns
 * NULL with `error` set if `socket` is not a UDP-Lite socket.
 * udplite_socket_free () closes `socket` only if `close_it` is TRUE. */
UdpliteSocket *udplite_socket_new_from_socket (GSocket * socket,
    gboolean close_it, GError ** error);
void udplite_socket_free (UdpliteSocket * self);

UdpliteBackend udplite_socket_get_backend (const UdpliteSocket * self);
/* Returns the name of the backend: "kernel", "raw", "udp" or "auto". */
const gchar *udplite_backend_get_name (UdpliteBackend backend);
/* Returns the GSocket, which can be used for polling and for setting socket
 * options (transfer none). If the raw backend is in use, this is the raw
 * socket. GSocket's functions cannot join multicast groups on a raw socket. */
GSocket *udplite_socket_get_socket (UdpliteSocket * self);
/* Returns the datagram socket, with which the caller can set the options that
 * all datagram sockets have, such as the size of the buffers (transfer none).
 */
DatagramSocket *udplite_socket_get_datagram_socket (UdpliteSocket * self);
/* Returns the local port. Returns 0 if the socket belongs to the application
 * and is not bound yet. */
guint16 udplite_socket_get_port (const UdpliteSocket * self);

/* Sets the network interface for packets to multicast groups. The `index` 0
 * means the interface that the routes select. Use this function instead of a
 * socket option, because this function also stores the index for the raw
 * backend. Call this function only from the sending thread. */
gboolean udplite_socket_set_multicast_interface (UdpliteSocket * self,
    guint index, GError ** error);
/* Joins or leaves the multicast group `group`. `source` restricts the
 * membership to packets of one sender; NULL = all senders. `index` is the index
 * of the network interface; 0 = any. */
gboolean udplite_socket_set_membership (UdpliteSocket * self, gboolean join,
    GInetAddress * group, GInetAddress * source, guint index, GError ** error);

/* Sets the minimum coverage: how many bytes of a received packet, including the
 * UDP-Lite header, the checksum must cover. Packets that are covered completely
 * are always accepted. With 0, only packets that are covered completely are
 * accepted, as in Linux. With a negative number, all packets are accepted. Any
 * thread may call this function. */
gboolean udplite_socket_set_min_coverage (UdpliteSocket * self,
    gint min_coverage, GError ** error);

/* Tells the backend that the socket will only send from now on. The kernel then
 * does not waste time on packets that arrive for this socket. Call this
 * function at most once, and before the first packet is sent. */
void udplite_socket_stop_receiving (UdpliteSocket * self);
/* Tells the backend that the caller has changed options of the socket, such as
 * the TTL, with functions of its DatagramSocket or GSocket. Without this call,
 * the raw backend may use the previous values for up to 10 ms. No thread may
 * send packets during this call. */
void udplite_socket_options_changed (UdpliteSocket * self);
/* Sets whether several packets may be passed to the kernel as one message
 * (GSO). If `uses_gso` is TRUE, consecutive packets form one message if they
 * have the same size and the UDP-Lite checksum covers them completely. Packets
 * in such a message have a UDP checksum; all other packets have none. If
 * `uses_gso` is FALSE, which is the initial value, no packet has a UDP
 * checksum. Only the udp backend uses this setting. Only the sending thread may
 * call this function. */
void udplite_socket_set_gso (UdpliteSocket * self, gboolean uses_gso);
/* Reports once that the system has refused GSO. The first call after the
 * refusal returns FALSE with `error` set; all other calls return TRUE. After a
 * refusal, the packets are sent one by one. */
gboolean udplite_socket_check_gso (UdpliteSocket * self, GError ** error);
/* Lets the kernel merge received packets (GRO), if the backend is udp and the
 * system supports it. Returns whether packets may be merged. */
gboolean udplite_socket_enable_gro (UdpliteSocket * self);

/* Sends up to `n` packets, in batches of DATAGRAM_BATCH per system call. The
 * kernel backend begins a new batch when the coverage changes. The udp backend
 * begins a new batch when the UDP checksum is switched on or off.
 *
 * Returns the number of packets that were sent. If this number is less than `n`
 * and `error` is not set, the send buffer of the socket is full. If `error` is
 * set, it says why the next packet could not be sent. An ICMP error that an
 * earlier packet caused is not reported here. */
guint udplite_socket_send (UdpliteSocket * self, const UdpliteOutput * outputs,
    guint n, GError ** error);

/* Receives up to MIN (n, DATAGRAM_BATCH) datagrams. The call is non-blocking.
 * Returns the accepted packets, and stores their number in `n_packets`. With
 * GRO, one datagram may contain many packets, so `n_packets` may be much larger
 * than `n`. `n_packets` is set to 0 if no packet is waiting, or if `error` is
 * set. The returned array belongs to `self`, and is valid until the next call.
 * An ICMP error that an earlier packet caused is not reported here. */
const UdplitePacket *udplite_socket_receive (UdpliteSocket * self,
    const UdpliteMemory * memories, guint n, guint * n_packets,
    GError ** error);
/* Copies the counters to `stats`. Any thread may call this function. */
void udplite_socket_get_stats (UdpliteSocket * self,
    UdpliteSocketStats * stats);
