/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet that is sent or received through a datagram socket, and the two
 * endpoints of its path. */

#pragma once

#include "datagramblock.h"

/* The two endpoints of a datagram: IP addresses, and ports if the transport is
 * UDP or UDP-Lite.
 *
 * Two such structs can be compared and hashed as bytes, if each was filled with
 * zeros before its fields were set. The bytes before `remote_port` identify the
 * remote host. */
typedef struct
{
  /* Remote address in network byte order. An IPv4 address has 4 bytes, and the
   * rest is zero. */
  guint8 remote[16];
  /* Index of the network interface if the remote or the local address is
   * link-local; otherwise 0 */
  guint32 scope;
  guint8 address_size;          /* 4 or 16 */
  guint16 remote_port;          /* host byte order; 0 for raw IP */
  /* local address in network byte order, stored like `remote`: an IPv4 address
   * in the first 4 bytes; all zeros if unknown */
  guint8 local[16];
  /* local port in host byte order; 0 for raw IP, or if unknown */
  guint16 local_port;
} DatagramPath;

gboolean datagram_path_equal (const DatagramPath * a, const DatagramPath * b);
/* Returns whether the transport has ports. Returns FALSE for raw IP, where the
 * bytes of the datagram directly follow the IP header. */
gboolean datagram_path_has_ports (const DatagramPath * path);
/* Returns TRUE if the remote address is an IPv4-mapped IPv6 address, which an
 * IPv6 socket uses for an IPv4 host (RFC 4291 section 2.5.5.2). */
gboolean datagram_path_is_mapped (const DatagramPath * path);
/* Returns the remote endpoint as "host" or "host:port", for logs and
 * statistics. The caller frees the text with g_free(). */
gchar *datagram_path_to_string (const DatagramPath * path);

#define DATAGRAM_MAX_PARTS 16   /* parts in addition to `bytes` */

/* A run is a sequence of packets that are passed to the kernel as one message.
 * The kernel splits the message into the packets again (GSO). A run has these
 * limits:
 *
 * - DATAGRAM_MAX_SEGMENTS: number of packets (UDP_MAX_SEGMENTS of Linux before
 *   6.9)
 * - DATAGRAM_MAX_RUN_SIZE: total size in bytes (the payload of the largest IPv4
 *   packet)
 * - DATAGRAM_MAX_RUN_PARTS: total number of parts (UIO_MAXIOV) */
#define DATAGRAM_MAX_SEGMENTS 64
#define DATAGRAM_MAX_RUN_SIZE 65507
#define DATAGRAM_MAX_RUN_PARTS 1024

typedef struct
{
  gconstpointer data;
  gsize size;
} DatagramPart;

typedef struct
{
  /* Memory that belongs to the caller. When sending, it contains the packet or
   * its first part. When receiving, the packet is stored here, without its IP
   * header. */
  guint8 *bytes;
  /* When sending: size in bytes of the data at `bytes`, without the further
   * parts in `parts`. When receiving: the caller sets this field to the size of
   * the memory at `bytes`, and the receiving function replaces it by the size
   * of the received packet. */
  gsize size;
  /* Array of the further parts of a packet to send. They are sent after the
   * data at `bytes`. Not used when receiving. */
  const DatagramPart *parts;
  /* number of elements of `parts`, at most DATAGRAM_MAX_PARTS */
  guint n_parts;
  /* Memory block of a pool that contains the `bytes` of a received packet. The
   * caller can keep the bytes without copying them, by making a slice (a
   * reference to a part of this block). NULL if the bytes are not in such a
   * block. The caller then has to copy bytes that it wants to keep, because
   * their memory is used again for the next packets. */
  DatagramBlock *block;
  /* Size in bytes of each received packet, if the kernel has merged several
   * packets into the data at `bytes`. Only the last of these packets may be
   * shorter. If the kernel has merged nothing, this field equals `size`. */
  gsize segment_size;
  /* TRUE if a received packet was truncated because it did not fit into `bytes`
   */
  gboolean is_truncated;
  /* Remote and local endpoint of the packet. Not used when sending on a
   * connected socket, because such a socket has fixed endpoints. */
  DatagramPath path;
  /* arrival time of a received packet, in ns of g_get_monotonic_time() */
  guint64 time;
} Datagram;

void datagram_init (Datagram * datagram, guint8 * bytes, gsize size);
/* Returns the total size of a packet to send, in bytes: the data in `bytes` and
 * all elements of `parts`. */
gsize datagram_get_size (const Datagram * datagram);
void datagram_copy_bytes (const Datagram * datagram, guint8 * to);

/* A run is a sequence of packets that are sent as one message, which the kernel
 * splits into the packets again (UDP_SEGMENT in udp(7)). All packets of a run
 * have the same destination and the same size; only the last packet may be
 * shorter. A packet that is empty or larger than `max_segment` bytes is a run
 * of its own.
 *
 * Returns how many of the `n` packets, counted from the first one, form a run.
 * If `is_connected` is TRUE, all packets go to the same destination, and their
 * field `path` is ignored. */
guint datagram_get_run (const Datagram * datagrams, guint n,
    gsize max_segment, gboolean is_connected);

/* datagram_count_segments returns the number of packets that the kernel merged
 * into a received datagram, which is at least 1. datagram_get_segment returns
 * packet number `index` of these packets. */
guint datagram_count_segments (const Datagram * datagram);
void datagram_get_segment (const Datagram * datagram, guint index,
    Datagram * segment);
