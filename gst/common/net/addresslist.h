/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of IP addresses and prefixes, in the form of the sources' property
 * allowed-senders: "192.0.2.7, 198.51.100.0/24, 2001:db8::/32".
 */

#pragma once

#include <gio/gio.h>

typedef struct _AddressList AddressList;

/* Parses a list. Returns NULL if `text` is invalid or contains no address. The
 * error names the invalid part of the text. */
AddressList *address_list_new (const gchar * text, GError ** error);
void address_list_free (AddressList * list);
/* Returns whether the list contains `address`: 4 bytes of IPv4 or 16 bytes of
 * IPv6, in network byte order. An IPv4-mapped IPv6 address counts as IPv4. */
gboolean address_list_contains (const AddressList * list,
    const guint8 * address, gsize size);
