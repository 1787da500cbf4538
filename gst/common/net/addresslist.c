/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of addresslist.h. The class GInetAddressMask of GLib parses
 * the text of the list. The prefixes are then stored as bytes, so that looking
 * up the address of a packet needs no allocation. */

#include "addresslist.h"

#include <string.h>

#define IPV4_SIZE 4
#define IPV6_SIZE 16
/* An IPv4-mapped IPv6 address begins with this number of fixed bytes; the IPv4
 * address follows them. */
#define MAPPED_SIZE (IPV6_SIZE - IPV4_SIZE)

typedef struct
{
  guint8 bytes[IPV6_SIZE];
  gsize size;
  guint length;                 /* length of the prefix in bits */
} Mask;

struct _AddressList
{
  GArray *masks;                /* elements are Mask */
};

/* Returns the IPv4 address inside `address` if `address` is an IPv4-mapped IPv6
 * address, and sets `size` to 4. Otherwise returns `address` itself. */
static const guint8 *
unmap (const guint8 * address, gsize * size)
{
  static const guint8 mapped[MAPPED_SIZE] =
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

  if (*size != IPV6_SIZE || memcmp (address, mapped, MAPPED_SIZE) != 0)
    return address;
  *size = IPV4_SIZE;
  return address + MAPPED_SIZE;
}

/* --- parsing ----------------------------------------------------------------
 */

/* Adds a prefix to the list. All IPv4-mapped IPv6 addresses have the prefix
 * ::ffff:0:0/96, and the list treats them as IPv4 addresses. If the prefix to
 * add contains only such addresses, it is therefore stored as an IPv4 prefix.
 */
static void
append_mask (AddressList * list, GInetAddressMask * inet_mask)
{
  GInetAddress *address = g_inet_address_mask_get_address (inet_mask);
  gsize native_size = g_inet_address_get_native_size (address);
  const guint8 *bytes = g_inet_address_to_bytes (address);
  Mask mask = {.size = native_size };

  mask.length = g_inet_address_mask_get_length (inet_mask);
  if (mask.length >= MAPPED_SIZE * 8)
    bytes = unmap (bytes, &mask.size);
  mask.length -= (native_size - mask.size) * 8;
  memcpy (mask.bytes, bytes, mask.size);
  g_array_append_val (list->masks, mask);
}

/* `part` is an address, or a prefix such as "2001:db8::/32". The number after
 * the slash is the length of the prefix in bits. Returns whether this number
 * does not exceed the length of an IPv6 address in bits. Returns TRUE if there
 * is no slash.
 *
 * The length is checked before GInetAddressMask parses `part`. If the length is
 * too large, GInetAddressMask would log a critical warning. */
static gboolean
has_possible_length (const gchar * part)
{
  const gchar *slash = strchr (part, '/');

  return !slash || g_ascii_string_to_unsigned (slash + 1, 10, 0, IPV6_SIZE * 8,
      NULL, NULL);
}

static GInetAddressMask *
parse_mask (const gchar * part, GError ** error)
{
  if (has_possible_length (part))
    return g_inet_address_mask_new_from_string (part, error);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "the length of the prefix is wrong");
  return NULL;
}

static gboolean
read_part (AddressList * list, const gchar * part, GError ** error)
{
  GError *reason = NULL;
  GInetAddressMask *mask = parse_mask (part, &reason);

  if (!mask) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "\"%s\" is neither an IP address nor a prefix such as 192.0.2.0/24 "
        "or 2001:db8::/32 (%s)", part, reason->message);
    g_error_free (reason);
    return FALSE;
  }
  append_mask (list, mask);
  g_object_unref (mask);
  return TRUE;
}

AddressList *
address_list_new (const gchar * text, GError ** error)
{
  AddressList *list = g_new0 (AddressList, 1);
  gchar **parts = g_strsplit (text, ",", -1);
  gboolean is_right = TRUE;
  guint i;

  list->masks = g_array_new (FALSE, FALSE, sizeof (Mask));
  if (!parts[0])
    is_right = read_part (list, "", error);
  for (i = 0; parts[i] && is_right; i++)
    is_right = read_part (list, g_strstrip (parts[i]), error);
  g_strfreev (parts);
  if (!is_right)
    g_clear_pointer (&list, address_list_free);
  return list;
}

void
address_list_free (AddressList * list)
{
  g_array_unref (list->masks);
  g_free (list);
}

/* --- matching ------------------------------------------------------------- */

static gboolean
matches (const Mask * mask, const guint8 * address, gsize size)
{
  const guint whole = mask->length / 8, rest = mask->length % 8;

  if (mask->size != size || memcmp (mask->bytes, address, whole) != 0)
    return FALSE;
  return rest == 0 || (mask->bytes[whole] ^ address[whole]) >> (8 - rest) == 0;
}

gboolean
address_list_contains (const AddressList * list, const guint8 * address,
    gsize size)
{
  guint i;

  address = unmap (address, &size);
  for (i = 0; i < list->masks->len; i++)
    if (matches (&g_array_index (list->masks, Mask, i), address, size))
      return TRUE;
  return FALSE;
}
