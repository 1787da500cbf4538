/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Backends, packets and counters of a UDP-Lite socket (udplitesocket.h). The
 * socket and its backends share these types.
 */

#pragma once

#include "datagramsocket.h"
#include "udplite.h"

typedef enum
{
  /* use the first of the backends below (kernel, raw, udp) that works on this
   * system */
  UDPLITE_BACKEND_AUTO,
  /* the kernel's UDP-Lite: Linux before 7.1, FreeBSD */
  UDPLITE_BACKEND_KERNEL,
  /* a raw socket for IP protocol 136, which needs CAP_NET_RAW */
  UDPLITE_BACKEND_RAW,
  /* UDP-Lite carried in UDP; the peer must also use this backend */
  UDPLITE_BACKEND_UDP
} UdpliteBackend;

typedef struct _UdpliteSocket UdpliteSocket;

/* A packet to send. */
typedef struct
{
  DatagramPath path;            /* path to the receiver */
  /* number of leading bytes of the payload that the checksum has to cover;
   * G_MAXUINT means all bytes */
  guint coverage;
  DatagramPart vectors[DATAGRAM_MAX_PARTS];
  guint n_vectors;
} UdpliteOutput;

/* Memory that the caller provides for a received datagram. The datagram is one
 * packet. With GRO, it may also be several packets that the kernel has merged.
 */
typedef struct
{
  guint8 *data;
  /* Size of the memory in bytes. It must be at least the maximum payload size
   * plus the size of the headers that are received before the payload. With the
   * udp backend, this is a UDP-Lite header of 8 bytes. With the raw backend, it
   * is an IPv4 header of up to 60 bytes and a UDP-Lite header. With GRO, the
   * size must also be at least DATAGRAM_MERGED_SIZE. A longer datagram is
   * truncated and discarded. */
  gsize capacity;
} UdpliteMemory;

/* A packet that was received and accepted */
typedef struct
{
  /* payload of the packet, in the memory that the caller passed to the receive
   * call */
  const guint8 *data;
  gsize size;
  /* Number of leading bytes of the payload that the checksum covered; G_MAXUINT
   * if the backend does not know this number */
  guint covered;
  /* path on which the packet arrived; its remote end is the sender */
  DatagramPath path;
} UdplitePacket;

/* Counters of discarded packets. They never decrease. */
typedef struct
{
  /* Numbers of discarded packets, one number for each reason. The index is the
   * reason, a UdpliteVerdict. With the kernel backend, all these numbers are 0,
   * because the kernel does not report the packets that it discards. */
  guint64 refused[UDPLITE_LAST];
  guint64 truncated;            /* datagrams longer than `capacity` */
  /* Number of received packets that are not UDP-Lite packets for this socket.
   * Only the raw backend counts such packets. They are malformed IP packets
   * and, on systems without a socket filter, packets for other ports. */
  guint64 foreign;
} UdpliteSocketStats;
