/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of IP addresses and prefixes, as the property allowed-senders of the
 * sources has it: "192.0.2.7, 198.51.100.0/24, 2001:db8::/32".
 */

#pragma once

#include <gio/gio.h>

typedef struct _AddressList AddressList;

/* NULL with an error that says which part of the text is wrong. A text without
 * any address is wrong, too. */
AddressList *address_list_new (const gchar * text, GError ** error);
void address_list_free (AddressList * list);
/* `address`: 4 bytes of IPv4 or 16 of IPv6 in network order. An IPv4 address that
 * is mapped into IPv6 is an IPv4 address. */
gboolean address_list_contains (const AddressList * list,
    const guint8 * address, gsize size);
