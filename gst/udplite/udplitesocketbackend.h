/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations that each backend of UdpliteSocket implements, and the
 * functions that the backends share. udplitesocket.c calls the operations; a
 * backend never calls a function of udplitesocket.c.
 */

#pragma once

#include "udplitesockettypes.h"

/* Values from <linux/udp.h> and <netinet/udplite.h>. They are defined here
 * because not every system has these headers.
 */
#define UDPLITE_SOCKET_LEVEL UDPLITE_PROTOCOL
#define UDPLITE_SOCKET_SEND_COVERAGE 10
#define UDPLITE_SOCKET_RECEIVE_COVERAGE 11

typedef struct _UdpliteRaw UdpliteRaw;

/* State of a UDP-Lite socket of the kernel. Several UdpliteSockets may share
 * one kernel socket. For example, two sinks may send through the same GSocket,
 * each with its own coverage. */
typedef struct
{
  /* Lock that a thread holds while it sends packets, so that no other thread
   * changes the coverage of the kernel socket in the meantime. */
  GMutex lock;
  /* Present send coverage of the kernel socket: the number of bytes at the
   * beginning of a packet that the checksum covers. 0 means the whole packet.
   * Protected by `lock`. */
  guint coverage;
} UdpliteKernel;

typedef struct
{
  UdpliteBackend backend;
  const gchar *name;

  /* Creates the socket that the backend needs: a UDP-Lite, raw or UDP socket.
   * Returns FALSE with `error` set if the system does not support such a
   * socket, or does not permit it. */
  gboolean (*create) (UdpliteSocket * self, GSocketFamily family,
      GError ** error);
  gboolean (*bind) (UdpliteSocket * self, GInetSocketAddress * address,
      gboolean reuse, GError ** error);
  /* Prepares a socket that the application created. This function pointer is
   * NULL if the backend cannot use such a socket. */
  void (*adopt) (UdpliteSocket * self);
  void (*free) (UdpliteSocket * self);  /* may be NULL */
  /* Keeps the kernel from passing packets to a socket that only sends. This
   * function pointer may be NULL. */
  void (*stop_receiving) (UdpliteSocket * self);
  /* Function that is called after options of the socket were changed; may be
   * NULL. */
  void (*options_changed) (UdpliteSocket * self);

  /* Passes a new minimum coverage of received packets to the kernel. This
   * function pointer is NULL if the backend checks the coverage in user space.
   */
  gboolean (*set_min_coverage) (UdpliteSocket * self, gint min_coverage,
      GError ** error);

  /* Sends up to `n` packets; `n` is at most DATAGRAM_BATCH. Returns the number
   * of packets that were sent. If this number is less than `n` and `error` is
   * not set, the send buffer of the socket is full. If `error` is set, it says
   * why the next packet could not be sent. */
  guint (*send) (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
      GError ** error);
  /* Checks a received packet that was not truncated. If the packet is valid,
   * fills in `packet` and returns TRUE. The caller has already set the field
   * `path` of `packet`. If the packet is not valid, increments a counter of
   * `stats` and returns FALSE. */
  gboolean (*accept) (UdpliteSocket * self, const Datagram * datagram,
      UdplitePacket * packet, UdpliteSocketStats * stats);
} UdpliteSocketBackend;

extern const UdpliteSocketBackend udplite_socket_backend_kernel;
extern const UdpliteSocketBackend udplite_socket_backend_raw;
extern const UdpliteSocketBackend udplite_socket_backend_udp;

struct _UdpliteSocket
{
  /* The following fields do not change after the socket was created. */
  const UdpliteSocketBackend *backend;
  DatagramSocket *socket;
  gint fd;                      /* file descriptor of `socket` */
  gboolean ipv6;
  /* Local port; 0 if it was not known when the UdpliteSocket was created. */
  guint16 port;

  /* The following fields are used by the sending thread only. */
  /* state of the kernel's UDP-Lite socket; NULL if the backend is not "kernel"
   */
  UdpliteKernel *kernel;
  UdpliteRaw *raw;
  gboolean uses_gso;            /* with the udp backend only */

  /* The following fields are used by the receiving thread only. */
  /* array of the packets (UdplitePacket) that the last receive call returned */
  GArray *packets;
  /* TRUE if a datagram of the last receive call contained several packets,
   * which the kernel had merged (GRO) */
  gboolean merges;

  gint min_coverage;            /* atomic; negative = any */

  GMutex lock;
  UdpliteSocketStats stats;     /* protected by lock */
};

/* --- functions that the backends share ------------------------------------ */

/* Creates a socket for the IP protocol `protocol`. Each backend calls this
 * function for the socket that it uses for packets. The raw backend also calls
 * it for a second socket, which only reserves the local port. */
DatagramSocket *udplite_socket_open (GSocketFamily family, gint protocol,
    gboolean is_raw, GError ** error);
/* Stores `socket` in `self` and takes ownership of it. Returns FALSE if
 * `socket` is NULL. */
gboolean udplite_socket_take (UdpliteSocket * self, DatagramSocket * socket);
gboolean udplite_socket_bind (UdpliteSocket * self,
    GInetSocketAddress * address, gboolean reuse, GError ** error);

/* Fills in `datagram` with the address and the payload of the packet `output`.
 * `header` points to the 8 bytes of the UDP-Lite header, which are sent before
 * the payload. If `header` is NULL, only the payload is sent. */
void udplite_output_get_datagram (const UdpliteOutput * output,
    Datagram * datagram, guint8 * header);
gsize udplite_output_get_size (const UdpliteOutput * output);
/* Returns the coverage that the packet `output` needs, as the value that
 * udplite_write_header () expects: a number of bytes, or 0 for the whole
 * packet. */
guint udplite_output_get_coverage (const UdpliteOutput * output);
/* Sends the `n` packets in `datagrams`. Stops early if the send buffer of the
 * socket is full, or if a packet cannot be sent. Returns the number of packets
 * that were sent. */
guint udplite_socket_send_datagrams (UdpliteSocket * self,
    const Datagram * datagrams, guint n, GError ** error);

/* Checks a UDP-Lite packet in user space. `bytes` is the packet with its
 * UDP-Lite header, and `size` is its size in bytes. Returns TRUE and fills in
 * `packet` if the packet is valid. Otherwise increments a counter of `stats`
 * and returns FALSE. The raw and the udp backend implement their operation
 * `accept` with this function. */
gboolean udplite_socket_check (UdpliteSocket * self, UdplitePacket * packet,
    const guint8 * bytes, gsize size, const UdpliteAddresses * addresses,
    UdpliteSocketStats * stats);
