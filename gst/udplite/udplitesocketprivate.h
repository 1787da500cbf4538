/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the backends of UdpliteSocket have to do, and what they share: system
 * calls in batches, and the verdict about a packet that user space checks.
 */

#ifndef __UDPLITE_SOCKET_PRIVATE_H__
#define __UDPLITE_SOCKET_PRIVATE_H__

#include <netinet/in.h>
#include <sys/uio.h>

#include "socketmessages.h"
#include "udplitesocket.h"

G_BEGIN_DECLS

/* As <linux/udp.h> or <netinet/udplite.h> have them, where there are such */
#define UDPLITE_SOCKET_LEVEL UDPLITE_PROTOCOL
#define UDPLITE_SOCKET_SEND_COVERAGE 10
#define UDPLITE_SOCKET_RECEIVE_COVERAGE 11

/* RFC 791: 15 words of 4 bytes */
#define IPV4_MAX_HEADER_SIZE 60

/* What one packet of a batch needs at most: ours in front */
#define UDPLITE_MAX_IO_VECTORS (UDPLITE_MAX_VECTORS + 1)

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
  gboolean (*create) (UdpliteSocket * self, gint family, GError ** error);
  gboolean (*bind) (UdpliteSocket * self, GInetSocketAddress * address,
      gboolean reuse, GError ** error);
  void (*free) (UdpliteSocket * self);  /* or NULL */

  gsize (*get_overhead) (const UdpliteSocket * self);
  /* NULL: user space checks. Only asked for what changes */
  gboolean (*set_min_coverage) (UdpliteSocket * self, gint min_coverage,
      GError ** error);

  /* As the public ones, with UDPLITE_MAX_BATCH at most */
  guint (*send) (UdpliteSocket * self, const UdpliteOutput * outputs, guint n,
      GError ** error);
  /* Answers how many the system gave. accepted: of each; stats: why not */
  guint (*receive) (UdpliteSocket * self, UdpliteInput * inputs,
      gboolean * accepted, guint n, UdpliteSocketStats * stats,
      GError ** error);
} UdpliteSocketBackend;

extern const UdpliteSocketBackend udplite_socket_backend_kernel;
extern const UdpliteSocketBackend udplite_socket_backend_raw;
extern const UdpliteSocketBackend udplite_socket_backend_udp;

struct _UdpliteSocket
{
  /* not changed after the socket was made */
  const UdpliteSocketBackend *backend;
  GSocket *socket;
  gint fd;                      /* the socket's */
  gboolean ipv6;
  gboolean close_it;
  guint16 port;                 /* 0: not known when it was made */

  /* the sender's */
  UdpliteKernel *kernel;        /* the GSocket's; NULL: another backend */
  UdpliteRaw *raw;
  guint multicast_interface;

  gint min_coverage;            /* atomic; negative: any */

  GMutex lock;
  UdpliteSocketStats stats;     /* protected by lock */
};

/* --- udplitesocket.c: for the backends ------------------------------------ */

gint udplite_socket_open (gint family, gint type, gint protocol,
    GError ** error);
/* The socket's descriptor from now on belongs to self->socket. */
gboolean udplite_socket_wrap (UdpliteSocket * self, gint fd, GError ** error);
gboolean udplite_socket_bind (UdpliteSocket * self,
    GInetSocketAddress * address, gboolean reuse, GError ** error);

/* From now on it is one of the kernel's. */
void udplite_socket_become_kernel (UdpliteSocket * self);

/* As setsockopt() */
gint udplite_set_multicast_interface (gint fd, gboolean ipv6, guint index);

/* Is this packet, which user space has to check, to be delivered? If so, the
 * input says where its payload is; if not, stats say why. */
gboolean udplite_socket_check (UdpliteSocket * self, UdpliteInput * input,
    gsize offset, gsize size, const UdpliteAddresses * addresses,
    UdpliteSocketStats * stats);

/* --- udplitesocketmessages.c ---------------------------------------------- */

/* Sends them all, unless there is no room, or one fails: says how many went. */
guint udplite_messages_send (gint fd, SocketMessage * messages, guint n,
    GError ** error);
/* What is there, without waiting */
guint udplite_messages_receive (gint fd, SocketMessage * messages, guint n,
    GError ** error);

/* The packet of this output. header: 8 bytes before the payload, or NULL */
void udplite_message_from_output (SocketMessage * message,
    struct iovec *vectors, const UdpliteOutput * output, guint8 * header);
/* Where an input wants its packet */
void udplite_message_from_input (SocketMessage * message,
    struct iovec *vector, UdpliteInput * input);
gboolean udplite_message_is_truncated (const SocketMessage * message);

gsize udplite_output_get_size (const UdpliteOutput * output);
/* For udplite_write_header: 0: all */
guint udplite_output_get_coverage (const UdpliteOutput * output);
/* As in an error; without the port */
gchar *udplite_address_describe (const struct sockaddr *address);
/* In host byte order; 0: there is none */
guint16 udplite_address_get_port (const struct sockaddr *address);
void udplite_address_set_port (struct sockaddr_storage *address, guint16 port);

G_END_DECLS

#endif /* __UDPLITE_SOCKET_PRIVATE_H__ */
