/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a DCCP packet came from or goes to: addresses, and UDP ports where it is
 * carried in UDP (RFC 6773). The DCCP ports are in the packet itself; both
 * together are the 6-tuple by which RFC 6773 section 3.8 tells connections apart.
 */

#ifndef __DCCP_PATH_H__
#define __DCCP_PATH_H__

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint8 address_size;          /* 4 or 16 */
  guint8 local[16], remote[16]; /* network order; behind IPv4 zeros */
  guint32 scope;                /* interface of a link-local remote, or 0 */
  guint16 local_udp, remote_udp;        /* 0 both: IP protocol 33 itself */
} DccpPath;

gboolean dccp_path_equal (const DccpPath * a, const DccpPath * b);
/* TRUE: in UDP, whose checksum is all that counts (RFC 6773 section 3.3) */
gboolean dccp_path_is_encapsulated (const DccpPath * path);

G_END_DECLS

#endif /* __DCCP_PATH_H__ */
