/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* To which of a host's addresses a packet came, and from which one goes: IP_PKTINFO
 * of ip(7), and RFC 3542 section 6. Without it an answer leaves from the address
 * that the routes choose. Where the system has neither, nothing is said.
 */

#ifndef __SOCKET_PKTINFO_H__
#define __SOCKET_PKTINFO_H__

#include <glib.h>

#include <sys/socket.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

/* From now on packets say to whom they came. FALSE: they don't, errno says why */
GST_WIRELESS_API
gboolean socket_pktinfo_enable (gint fd, gint family);
/* The packet is to leave from this address, in network order, and interface (0:
 * as the routes choose); all zeros: from any. `control`: room for it. */
GST_WIRELESS_API
void socket_pktinfo_write (struct msghdr *message, gpointer control,
    gint family, const guint8 address[16], guint interface);
/* FALSE: it says nothing of this, or names a group */
GST_WIRELESS_API
gboolean socket_pktinfo_read (const struct cmsghdr *control, gint family,
    guint8 address[16], guint * interface);

G_END_DECLS

#endif /* __SOCKET_PKTINFO_H__ */
