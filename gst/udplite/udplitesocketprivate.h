/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the backends of UdpliteSocket have to do, and what they share. */

#pragma once

#include "udplitesocket.h"

/* As <linux/udp.h> or <netinet/udplite.h> have them, where there are such */
#define UDPLITE_SOCKET_LEVEL UDPLITE_PROTOCOL
#define UDPLITE_SOCKET_SEND_COVERAGE 10
#define UDPLITE_SOCKET_RECEIVE_COVERAGE 11

typedef struct _UdpliteRaw UdpliteRaw;

/* What a socket of the kernel has, of which several UdpliteSockets may be: two
 * sinks may send by one, each with a coverage of its own. */
typedef struct
{
  GMutex lock;                  /* held until what is sent with it was sent */
  guint coverage;               /* 0: all; protected by lock */
} UdpliteKernel;

typedef struct
{
  UdpliteBackend backend;
  const gchar *name;

  /* Makes the socket, if the system has such and lets us. */
  gboolean (*create) (UdpliteSocket * self, GSocketFamily family,
      GError ** error);
  gboolean (*bind) (UdpliteSocket * self, GInetSocketAddress * address,
      gboolean reuse, GError ** error);
  /* The socket is one that was made elsewhere. NULL: it can't be */
  void (*adopt) (UdpliteSocket * self);
  void (*free) (UdpliteSocket * self);  /* or NULL */

  gsize overhead;               /* bytes before the payload of what is received,
                                 * at most */
  /* NULL: user space checks. Only asked for what changes */
  gboolean (*set_min_coverage) (UdpliteSocket * self, gint min_coverage,
      GError ** error);

  /* As the public one, with DATAGRAM_BATCH at most */
  guint (*send) (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
      GError ** error);
  /* Is this packet, which was received whole into the input, to be delivered?
   * If so, the input says where its payload is; if not, stats say why. */
  gboolean (*accept) (UdpliteSocket * self, const Datagram * datagram,
      UdpliteInput * input, UdpliteSocketStats * stats);
} UdpliteSocketBackend;

extern const UdpliteSocketBackend udplite_socket_backend_kernel;
extern const UdpliteSocketBackend udplite_socket_backend_raw;
extern const UdpliteSocketBackend udplite_socket_backend_udp;

struct _UdpliteSocket
{
  /* not changed after the socket was made */
  const UdpliteSocketBackend *backend;
  DatagramSocket *socket;
  gint fd;                      /* the socket's */
  gboolean ipv6;
  guint16 port;                 /* 0: not known when it was made */

  /* the sender's */
  UdpliteKernel *kernel;        /* the GSocket's; NULL: another backend */
  UdpliteRaw *raw;

  gint min_coverage;            /* atomic; negative: any */

  GMutex lock;
  UdpliteSocketStats stats;     /* protected by lock */
};

/* --- udplitesocket.c: for the backends ------------------------------------ */

/* Opens a socket of this protocol, for the backend or to keep a port. */
DatagramSocket *udplite_socket_open (GSocketFamily family, gint protocol,
    gboolean is_raw, GError ** error);
/* From now on the socket belongs to self. FALSE: it is NULL. */
gboolean udplite_socket_take (UdpliteSocket * self, DatagramSocket * socket);
gboolean udplite_socket_bind (UdpliteSocket * self,
    GInetSocketAddress * address, gboolean reuse, GError ** error);

/* The packet of this output. header: 8 bytes before the payload, or NULL */
void udplite_output_get_datagram (const UdpliteOutput * output,
    Datagram * datagram, guint8 * header);
gsize udplite_output_get_size (const UdpliteOutput * output);
/* For udplite_write_header: 0: all */
guint udplite_output_get_coverage (const UdpliteOutput * output);
/* Sends them all, unless there is no room, or one fails: says how many went. */
guint udplite_socket_send_datagrams (UdpliteSocket * self,
    const Datagram * datagrams, guint n, GError ** error);

/* As `accept`, of a packet that user space has to check */
gboolean udplite_socket_check (UdpliteSocket * self, UdpliteInput * input,
    gsize offset, gsize size, const UdpliteAddresses * addresses,
    UdpliteSocketStats * stats);
