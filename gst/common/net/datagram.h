/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet as a socket takes and gives it, and the two ends of its path. */

#pragma once

#include <glib.h>

/* The two ends of a datagram: IP addresses, and ports where its transport is
 * UDP or UDP-Lite.
 *
 * A path whose bytes were all zero before it was filled in can be compared and
 * hashed byte by byte. The bytes before `remote_port` identify the remote host.
 */
typedef struct
{
  guint8 remote[16];            /* network byte order; IPv4: 4 bytes, zeros */
  guint32 scope;                /* interface index; 0: not link-local */
  guint8 address_size;          /* 4 or 16 */
  guint16 remote_port;          /* host byte order; 0: raw IP */
  guint8 local[16];             /* as `remote`; all zeros: not known */
  guint16 local_port;           /* host byte order; 0: raw IP, or not known */
} DatagramPath;

gboolean datagram_path_equal (const DatagramPath * a, const DatagramPath * b);
/* FALSE: the datagram is the payload of IP itself. */
gboolean datagram_path_has_ports (const DatagramPath * path);
/* TRUE: an IPv4 address on an IPv6 socket (RFC 4291 section 2.5.5.2) */
gboolean datagram_path_is_mapped (const DatagramPath * path);
/* The remote end as "host" or "host:port", for logs and statistics. Free the
 * text with g_free(). */
gchar *datagram_path_to_string (const DatagramPath * path);

#define DATAGRAM_MAX_PARTS 16   /* per packet, beside `bytes` */

typedef struct
{
  gconstpointer data;
  gsize size;
} DatagramPart;

typedef struct
{
  guint8 *bytes;                /* the caller's memory. Received packets have no
                                 * IP header. */
  gsize size;                   /* sending: of the first part; receiving: of the
                                 * memory, then of the packet */
  const DatagramPart *parts;    /* sending: the rest of the packet */
  guint n_parts;                /* DATAGRAM_MAX_PARTS at most */
  gboolean is_truncated;        /* received: the packet was longer */
  DatagramPath path;            /* sending, if connected: ignored */
  guint64 time;                 /* received: ns of g_get_monotonic_time() */
} Datagram;

void datagram_init (Datagram * datagram, guint8 * bytes, gsize size);
/* Of all parts of a packet that is to be sent */
gsize datagram_get_size (const Datagram * datagram);
void datagram_copy_bytes (const Datagram * datagram, guint8 * to);
