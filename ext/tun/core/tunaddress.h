/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the text of the property `address` before a device is opened. An error
 * names the invalid part of the text. The code uses GLib and the C library
 * only.
 */

#pragma once

#include <glib.h>

#define TUN_ADDRESS_MAX_BYTES 16

typedef struct
{
  gint family;                  /* AF_INET or AF_INET6 */
  /* address in network byte order; an IPv4 address uses the first 4 bytes */
  guint8 bytes[TUN_ADDRESS_MAX_BYTES];
  /* prefix length in bits, at most 32 (IPv4) or 128 (IPv6) */
  guint prefix;
} TunAddress;

#define TUN_ADDRESS_ERROR (tun_address_error_quark ())
GQuark tun_address_error_quark (void);

/* Parses a list such as "10.0.0.1/24,fd00::1/64" and returns an array of
 * TunAddress. The array is empty for NULL and "". Returns NULL with `error` set
 * if a part is not an address with a prefix length. */
GArray *tun_address_parse (const gchar * text, GError ** error);

gboolean tun_address_has_family (const GArray * addresses, gint family);

/* Returns the address with its prefix length as a text. The caller frees the
 * text with g_free ().
 */
gchar *tun_address_to_string (const TunAddress * address);

guint tun_address_n_bytes (const TunAddress * address);
