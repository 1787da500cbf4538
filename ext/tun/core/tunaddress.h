/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of the property `address`, read before anything is opened: a slip
 * in it is told with the word that is wrong. GLib and the C library only.
 */

#pragma once

#include <glib.h>

#define TUN_ADDRESS_MAX_BYTES 16

typedef struct
{
  gint family;                  /* AF_INET or AF_INET6 */
  guint8 bytes[TUN_ADDRESS_MAX_BYTES];  /* network order: first 4, or all */
  guint prefix;                 /* bits: up to 32, up to 128 */
} TunAddress;

#define TUN_ADDRESS_ERROR (tun_address_error_quark ())
GQuark tun_address_error_quark (void);

/* "10.0.0.1/24,fd00::1/64" as an array of TunAddress; NULL and "" as an empty
 * one. NULL with an error where a part is no address with a prefix length. */
GArray *tun_address_parse (const gchar * text, GError ** error);

gboolean tun_address_has_family (const GArray * addresses, gint family);

/* As it was written; g_free it. */
gchar *tun_address_to_string (const TunAddress * address);

guint tun_address_n_bytes (const TunAddress * address);
