/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The communication framework of the paper's section 4.1: which interfaces lead
 * to the receiver, as they come and go. By rtnetlink, with libmnl; where that
 * is missing it knows none, and says so.
 */

#pragma once

#include <gio/gio.h>

typedef struct _MmtpInterfaces MmtpInterfaces;

typedef struct
{
  gchar *name;
  guint mtu;                    /* bytes */
  GPtrArray *addresses;         /* of GInetAddress: its own */
} MmtpInterface;

/* The interfaces that are up, running, have an address, and have a route to
 * `remote`; NULL: with or without any route. G_IO_ERROR_NOT_SUPPORTED without
 * libmnl. */
MmtpInterfaces *mmtp_interfaces_new (GSocketAddress * remote,
    GError ** error);
void mmtp_interfaces_free (MmtpInterfaces * interfaces);
/* Readable when something may have changed */
gint mmtp_interfaces_get_fd (MmtpInterfaces * interfaces);
/* Reads what came, without waiting. TRUE: the list is another one. */
gboolean mmtp_interfaces_update (MmtpInterfaces * interfaces);
/* Of MmtpInterface, the MmtpInterfaces', until the next update */
const GPtrArray *mmtp_interfaces_get (MmtpInterfaces * interfaces);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MmtpInterfaces, mmtp_interfaces_free)
