/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads lists of IP addresses with prefix lengths; see tunaddress.h. */

#include "tunaddress.h"

#include <string.h>

#include <arpa/inet.h>
#include <sys/socket.h>

/* G_DEFINE_QUARK could define this function as well. However, gst-indent would
 * put spaces into the argument of this macro. The macro makes the name of the
 * quark from its argument, so this name would contain spaces. */
GQuark
tun_address_error_quark (void)
{
  return g_quark_from_static_string ("tun-address-error-quark");
}

guint
tun_address_n_bytes (const TunAddress * address)
{
  return address->family == AF_INET ? 4 : 16;
}

static gboolean
tun_address_parse_bytes (const gchar * text, TunAddress * address)
{
  address->family = strchr (text, ':') ? AF_INET6 : AF_INET;
  return inet_pton (address->family, text, address->bytes) == 1;
}

static gboolean
tun_address_parse_prefix (const gchar * text, TunAddress * address,
    GError ** error)
{
  guint64 prefix;

  if (!g_ascii_string_to_unsigned (text, 10, 0,
          tun_address_n_bytes (address) * 8, &prefix, error))
    return FALSE;
  address->prefix = prefix;
  return TRUE;
}

static gboolean
tun_address_parse_one (const gchar * text, TunAddress * address,
    GError ** error)
{
  gchar **parts = g_strsplit (text, "/", 2);
  GError *reason = NULL;

  if (!parts[0] || !tun_address_parse_bytes (parts[0], address))
    g_set_error (error, TUN_ADDRESS_ERROR, 0,
        "\"%s\" is not an IPv4 or IPv6 address", parts[0] ? parts[0] : "");
  else if (!parts[1])
    g_set_error (error, TUN_ADDRESS_ERROR, 0,
        "\"%s\" has no prefix length, as in %s/%u", text, text,
        address->family == AF_INET ? 24 : 64);
  else if (!tun_address_parse_prefix (parts[1], address, &reason))
    g_set_error (error, TUN_ADDRESS_ERROR, 0,
        "\"%s\" has no prefix length from 0 to %u: %s", text,
        tun_address_n_bytes (address) * 8, reason->message);
  else {
    g_strfreev (parts);
    return TRUE;
  }
  g_clear_error (&reason);
  g_strfreev (parts);
  return FALSE;
}

GArray *
tun_address_parse (const gchar * text, GError ** error)
{
  GArray *addresses = g_array_new (FALSE, FALSE, sizeof (TunAddress));
  gchar **words = g_strsplit (text ? text : "", ",", -1);
  TunAddress address;
  guint i;

  for (i = 0; words[i]; i++) {
    memset (&address, 0, sizeof (address));
    if (!tun_address_parse_one (g_strstrip (words[i]), &address, error)) {
      g_array_unref (addresses);
      addresses = NULL;
      break;
    }
    g_array_append_val (addresses, address);
  }
  g_strfreev (words);
  return addresses;
}

gboolean
tun_address_has_family (const GArray * addresses, gint family)
{
  guint i;

  for (i = 0; i < addresses->len; i++) {
    if (g_array_index (addresses, TunAddress, i).family == family)
      return TRUE;
  }
  return FALSE;
}

gchar *
tun_address_to_string (const TunAddress * address)
{
  gchar text[INET6_ADDRSTRLEN];

  if (!inet_ntop (address->family, address->bytes, text, sizeof (text)))
    return g_strdup ("?");
  return g_strdup_printf ("%s/%u", text, address->prefix);
}
