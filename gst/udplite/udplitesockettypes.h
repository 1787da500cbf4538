/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Backends, packets and counters of a UDP-Lite socket (udplitesocket.h). The
 * socket and its backends share these types.
 */

#pragma once

#include "datagramsocket.h"
#include "udplite.h"

typedef enum
{
  UDPLITE_BACKEND_AUTO,         /* the first of the backends below that works */
  /* the kernel's UDP-Lite: Linux before 7.1, FreeBSD */
  UDPLITE_BACKEND_KERNEL,
  /* a raw socket for IP protocol 136, needs CAP_NET_RAW */
  UDPLITE_BACKEND_RAW,
  /* UDP-Lite carried in UDP with checksum 0; the peer must use this backend too
   */
  UDPLITE_BACKEND_UDP
} UdpliteBackend;

typedef struct _UdpliteSocket UdpliteSocket;

/* A packet to send. */
typedef struct
{
  DatagramPath path;            /* path to the receiver */
  /* leading bytes of the payload to cover; G_MAXUINT = all */
  guint coverage;
  DatagramPart vectors[DATAGRAM_MAX_PARTS];
  guint n_vectors;
} UdpliteOutput;

/* Memory for one received packet, and the result. */
typedef struct
{
  guint8 *data;                 /* memory, owned by the caller */
  /* Size of the memory in bytes, at least the maximum payload size plus
   * udplite_socket_get_overhead (). A longer packet is truncated and discarded.
   */
  gsize capacity;
  /* pointer of the caller, which stays together with `data` */
  gpointer user_data;
  gsize offset, size;           /* position of the payload in `data` */
  /* Number of leading bytes of the payload that the checksum covered; G_MAXUINT
   * if the backend cannot tell. */
  guint covered;
  /* path from the sender, which is the remote end */
  DatagramPath path;
} UdpliteInput;

/* Counters of discarded packets. They never decrease. */
typedef struct
{
  /* number of refused packets by verdict; always 0 with the backend kernel,
   * which does not report them */
  guint64 refused[UDPLITE_LAST];
  guint64 truncated;            /* longer than `capacity` */
  /* Backend raw: packets that are not for this port, on systems without a
   * socket filter, and malformed IP packets. */
  guint64 foreign;
} UdpliteSocketStats;
