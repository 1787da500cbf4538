/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists the network interfaces that lead to the receiver, and detects when this
 * list changes. This module is the communication framework of the MMTP paper
 * (Magalhães and Kravets 2001, section 4.1). It uses rtnetlink through libmnl.
 * In a build without libmnl, mmtp_interfaces_new () returns an error.
 */

#pragma once

#include <gio/gio.h>

typedef struct _MmtpInterfaces MmtpInterfaces;

typedef struct
{
  gchar *name;
  guint mtu;                    /* in bytes */
  GPtrArray *addresses;         /* GInetAddresses of the interface */
} MmtpInterface;

/* Creates the list of the interfaces that are up and running, have an address,
 * and have a route to `remote`. If `remote` is NULL, routes are not checked.
 * Returns NULL and sets `error` on failure. Without libmnl, the error is
 * G_IO_ERROR_NOT_SUPPORTED.
 */
MmtpInterfaces *mmtp_interfaces_new (GSocketAddress * remote,
    GError ** error);
void mmtp_interfaces_free (MmtpInterfaces * interfaces);
/* Returns a file descriptor that becomes readable when the interfaces,
 * addresses or routes may have changed. */
gint mmtp_interfaces_get_fd (MmtpInterfaces * interfaces);
/* Reads the pending notifications of the kernel without blocking, and updates
 * the list of interfaces. Returns TRUE if the list has changed. */
gboolean mmtp_interfaces_update (MmtpInterfaces * interfaces);
/* Returns the list of interfaces (MmtpInterface). The list is owned by
 * `interfaces` and valid until the next update. */
const GPtrArray *mmtp_interfaces_get (MmtpInterfaces * interfaces);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MmtpInterfaces, mmtp_interfaces_free)
