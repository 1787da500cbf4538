/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two ends of a datagram: IP addresses, and ports where its transport is
 * UDP or UDP-Lite.
 *
 * A path whose bytes were all zero before it was filled in can be compared and
 * hashed byte by byte. The bytes before `remote_port` identify the remote host.
 */

#pragma once

#include <glib.h>

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
