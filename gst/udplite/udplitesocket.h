/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A UDP-Lite socket of one address family, by whatever the system has: the
 * kernel's own, a raw socket, or UDP around it. Sends and receives in batches.
 * Not thread safe, but one thread may send while another receives.
 */

#pragma once

#include "datagramsocket.h"
#include "udplite.h"

typedef enum
{
  UDPLITE_BACKEND_AUTO,         /* the first of those below that works */
  UDPLITE_BACKEND_KERNEL,       /* the system's: Linux before 7.1, FreeBSD */
  UDPLITE_BACKEND_RAW,          /* protocol 136 on a raw socket: CAP_NET_RAW */
  UDPLITE_BACKEND_UDP           /* UDP-Lite in UDP with checksum 0; its peer
                                 * must do the same */
} UdpliteBackend;

typedef struct _UdpliteSocket UdpliteSocket;

/* One packet to be sent */
typedef struct
{
  DatagramPath path;            /* its remote end */
  guint coverage;               /* of the payload's bytes; G_MAXUINT: all */
  DatagramPart vectors[DATAGRAM_MAX_PARTS];
  guint n_vectors;
} UdpliteOutput;

/* Room for one packet, and what came */
typedef struct
{
  guint8 *data;                 /* room, the caller's */
  gsize capacity;               /* bytes; what is longer is cut and refused. At
                                 * least max_payload + the socket's overhead */
  gpointer user_data;           /* the caller's; stays with data */
  gsize offset, size;           /* of the payload in there */
  guint covered;                /* leading bytes of the payload that were; or
                                 * G_MAXUINT: the backend can't tell */
  DatagramPath path;            /* its remote end is the sender */
} UdpliteInput;

/* What a receiver refused. Never goes back */
typedef struct
{
  guint64 refused[UDPLITE_LAST];        /* by verdict; kernel: not known */
  guint64 truncated;            /* longer than the room */
  guint64 foreign;              /* raw: no packet of ours, that the system's
                                 * own filter let pass */
} UdpliteSocketStats;

/* Opens and binds. `backend`: AUTO takes the first that this system has and
 * lets us have; `tried` (may be NULL, free it) says of each before it why not:
 * "" if the first one did, NULL if not AUTO. It is set in an error, too. A port
 * in use is an error, no reason to try the next. address: to bind to; its
 * family is the socket's, which has no other. A port of 0: any. reuse: as in
 * g_socket_bind(). */
UdpliteSocket *udplite_socket_new (UdpliteBackend backend,
    GInetSocketAddress * address, gboolean reuse, gchar ** tried,
    GError ** error);
/* Around somebody else's UDP-Lite socket: error where it is none. It stays open
 * at the end unless close_it. */
UdpliteSocket *udplite_socket_new_from_socket (GSocket * socket,
    gboolean close_it, GError ** error);
void udplite_socket_free (UdpliteSocket * self);

UdpliteBackend udplite_socket_get_backend (const UdpliteSocket * self);
/* "kernel", "raw", "udp" */
const gchar *udplite_backend_get_name (UdpliteBackend backend);
/* To poll and set options with; the socket's own. In backend raw it is the raw
 * one, with which GSocket joins no groups. */
GSocket *udplite_socket_get_socket (UdpliteSocket * self);
/* 0: somebody else's that is not bound yet */
guint16 udplite_socket_get_port (const UdpliteSocket * self);
/* Bytes before the payload of what is received, at most */
gsize udplite_socket_get_overhead (const UdpliteSocket * self);

/* Groups are sent to by this interface, and not as the routes say; 0: as they
 * do. The sender's call: backend raw has to know, too. */
gboolean udplite_socket_set_multicast_interface (UdpliteSocket * self,
    guint index, GError ** error);
/* Joins or leaves a group; source: of one sender only, or NULL; index: of the
 * interface, 0: any. */
gboolean udplite_socket_set_membership (UdpliteSocket * self, gboolean join,
    GInetAddress * group, GInetAddress * source, guint index, GError ** error);

/* Receives only what has so many bytes covered, header included, or is covered
 * whole; 0: only what is covered whole, as Linux has it; negative: any. Any
 * thread may call it. */
gboolean udplite_socket_set_min_coverage (UdpliteSocket * self,
    gint min_coverage, GError ** error);

/* Sends up to n packets, DATAGRAM_BATCH per system call, or as many as have
 * the same coverage (backend kernel). Returns how many went; fewer, without an
 * error: there is no room now. With an error: the next one failed, those before
 * it went. What ICMP says of earlier packets is no error of this one. */
guint udplite_socket_send (UdpliteSocket * self, const UdpliteOutput * outputs,
    guint n, GError ** error);

/* Receives up to n packets that are there (of the first DATAGRAM_BATCH
 * inputs), without waiting. 0: none, or error. The first inputs are those that
 * came; a refused packet may have changed their order, data and all. Errors
 * that earlier sends brought back by ICMP are none here. */
guint udplite_socket_receive (UdpliteSocket * self, UdpliteInput * inputs,
    guint n, GError ** error);
/* Any thread may call it. */
void udplite_socket_get_stats (UdpliteSocket * self,
    UdpliteSocketStats * stats);
