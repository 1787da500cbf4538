/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the list of paths that a user sets in the property `channels`. If the
 * list is wrong, the error says which part is wrong and what is allowed. The
 * parser does not check whether an interface or a host exists. The socket or
 * the resolver reports that later.
 */

#include "mmtppathlist.h"

#include <gio/gio.h>

#include <string.h>

#include "mmtppacket.h"

#define ARROW "->"
#define AUTO "auto"
/* Name of a path whose description in the property `channels` is empty, so that
 * the routing table chooses the interface. */
#define DEFAULT_NAME "default"

/* Maximum length of an interface name: IFNAMSIZ of Linux without the
 * terminating zero. */
#define MAX_INTERFACE_NAME 15

/* Maximum rate of a path in bit/s. At this rate, the path carries 2^32 - 1
 * bytes in one second. This is the maximum of the 32-bit counters of bytes in
 * the message REPORT (docs/wire-mmtp.md, section 3). */
#define MAX_RATE (8 * (guint64) G_MAXUINT32)
/* Maximum delay of a path in ms. It is equal to the highest initial delay that
 * an OPEN message may request in its field D0. If the delay of a path were
 * longer than the initial delay, all packets of the path would arrive too late.
 */
#define MAX_DELAY 60000         /* in ms */
/* Minimum MTU of a path in bytes: the minimum size of an MMTP message, plus 48
 * bytes for the headers of IPv6 and UDP. */
#define MIN_MTU (MMTP_MIN_MESSAGE_SIZE + 48)
#define MAX_MTU 65535

typedef struct
{
  const gchar *name;
  const gchar *unit;
  guint64 min, max;
} Number;

static const Number numbers[] = {
  {"rate", "bits per second", 0, MAX_RATE},
  {"delay", "ms", 0, MAX_DELAY},
  {"mtu", "bytes", MIN_MTU, MAX_MTU},
};

GQuark
mmtp_path_list_error_quark (void)
{
  return g_quark_from_static_string ("mmtp-path-list-error-quark");
}

/* --- life cycle ----------------------------------------------------------- */

void
mmtp_path_spec_free (MmtpPathSpec * spec)
{
  g_free (spec->name);
  g_free (spec->interface);
  g_free (spec->local_address);
  g_free (spec->host);
  g_free (spec);
}

MmtpPathSpec *
mmtp_path_spec_new_interface (const gchar * interface, const gchar * host,
    guint16 port)
{
  MmtpPathSpec *spec = g_new0 (MmtpPathSpec, 1);

  spec->name = g_strdup (interface);
  spec->interface = g_strdup (interface);
  spec->host = g_strdup (host);
  spec->port = port;
  return spec;
}

static MmtpPathList *
paths_new (void)
{
  MmtpPathList *paths = g_new0 (MmtpPathList, 1);

  paths->specs = g_ptr_array_new_with_free_func ((GDestroyNotify)
      mmtp_path_spec_free);
  return paths;
}

void
mmtp_path_list_free (MmtpPathList * paths)
{
  g_ptr_array_unref (paths->specs);
  g_free (paths);
}

/* --- addresses and ports -------------------------------------------------- */

G_GNUC_PRINTF (2, 3)
     static gboolean refuse (GError ** error, const gchar * format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (error)
    *error = g_error_new_valist (MMTP_PATH_LIST_ERROR,
        MMTP_PATH_LIST_ERROR_SYNTAX, format, arguments);
  va_end (arguments);
  return FALSE;
}

/* Returns whether `text` is an IP address. A link-local IPv6 address may have a
 * zone, which names the interface, as in fe80::1%wlan0. */
static gboolean
is_address (const gchar * text, GSocketFamily * family)
{
  const gchar *zone = strchr (text, '%');
  gchar *bare = zone ? g_strndup (text, zone - text) : g_strdup (text);
  GInetAddress *address = g_inet_address_new_from_string (bare);

  g_free (bare);
  if (!address)
    return FALSE;
  *family = g_inet_address_get_family (address);
  g_object_unref (address);
  return !zone || (*family == G_SOCKET_FAMILY_IPV6 && zone[1] != '\0');
}

static gboolean
is_ipv6 (const gchar * text)
{
  GSocketFamily family;

  return is_address (text, &family) && family == G_SOCKET_FAMILY_IPV6;
}

/* Returns whether `text` consists of digits and dots, as an IPv4 address does.
 * The result may be TRUE even if `text` is not a valid address. */
static gboolean
looks_like_ipv4 (const gchar * text)
{
  return strchr (text, '.') && text[strspn (text, "0123456789.")] == '\0';
}

/* Splits `text` into `host` and `port`. The text may be "host", "host:port",
 * "2001:db8::1", "[2001:db8::1]" or "[2001:db8::1]:port". `port` becomes NULL
 * if the text contains no port. The caller frees `host` and `port`. */
static gboolean
split_port (const gchar * text, gchar ** host, gchar ** port, GError ** error)
{
  const gchar *end = strrchr (text, ']'), *colon = strrchr (text, ':');

  if (text[0] == '[') {
    if (!end || (end[1] != '\0' && end[1] != ':'))
      return refuse (error,
          "the brackets of \"%s\" do not match: write an IPv6 address with a "
          "port as [2001:db8::1]:5004", text);
    *host = g_strndup (text + 1, end - text - 1);
    *port = end[1] == ':' ? g_strdup (end + 2) : NULL;
  } else if (!colon || strchr (text, ':') != colon) {
    *host = g_strdup (text);
    *port = NULL;
  } else {
    *host = g_strndup (text, colon - text);
    *port = g_strdup (colon + 1);
  }

  if ((text[0] == '[' || strchr (*host, ':')) && !is_ipv6 (*host))
    return refuse (error, "\"%s\" in \"%s\" is not an IPv6 address: write an "
        "IPv6 address with a port as [2001:db8::1]:5004", *host, text);
  return TRUE;
}

static gboolean
parse_port (const gchar * text, const gchar * whole, guint min,
    guint16 * port, GError ** error)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (text, 10, min, G_MAXUINT16, &number, NULL))
    return refuse (error, "\"%s\" in \"%s\" is not a port: set a number from "
        "%u to %u", text, whole, min, G_MAXUINT16);
  *port = number;
  return TRUE;
}

/* --- parts of a path ------------------------------------------------------ */

/* Returns whether `text` can be the name of an interface, by the rules of
 * dev_valid_name() in Linux. */
static gboolean
is_interface_name (const gchar * text)
{
  return text[0] != '\0' && strlen (text) <= MAX_INTERFACE_NAME
      && !strpbrk (text, "/:% \t\r\n[]") && !looks_like_ipv4 (text)
      && strcmp (text, AUTO) != 0;
}

static gboolean
take_local (MmtpPathSpec * spec, const gchar * text, gchar * address,
    const gchar * port, GError ** error)
{
  GSocketFamily family;

  if (port && !parse_port (port, text, 0, &spec->local_port, error))
    return FALSE;
  if (is_address (address, &family)) {
    spec->local_address = g_strdup (address);
    return TRUE;
  }
  if (is_interface_name (address)) {
    spec->interface = g_strdup (address);
    return TRUE;
  }
  if (strcmp (address, AUTO) == 0)
    return refuse (error, "\"" AUTO "\" stands for all interfaces and "
        "can't be part of \"%s\" or of a list", text);
  return refuse (error, "\"%s\" is neither an IP address nor the name of an "
      "interface (1 to %d bytes). Write the receiver after ->, as in "
      "wlan0->host:5004", address, MAX_INTERFACE_NAME);
}

static gboolean
parse_local (MmtpPathSpec * spec, const gchar * text, GError ** error)
{
  gchar *address = NULL, *port = NULL;
  gboolean done = text[0] == '\0' || (split_port (text, &address, &port, error)
      && take_local (spec, text, address, port, error));

  g_free (address);
  g_free (port);
  return done;
}

static gboolean
take_remote (MmtpPathSpec * spec, const gchar * text, const gchar * host,
    const gchar * port, GError ** error)
{
  GSocketFamily family;

  if (host[0] == '\0')
    return refuse (error, "the receiver \"%s\" has no host: write host or "
        "host:port", text);
  if (strpbrk (host, "/@>[] \t\r\n") || ((looks_like_ipv4 (host)
              || strchr (host, ':')) && !is_address (host, &family)))
    return refuse (error, "\"%s\" is neither the name of a host nor an address",
        host);
  if (port && !parse_port (port, text, 1, &spec->port, error))
    return FALSE;
  g_free (spec->host);
  spec->host = g_strdup (host);
  return TRUE;
}

static gboolean
parse_remote (MmtpPathSpec * spec, const gchar * text, GError ** error)
{
  gchar *host = NULL, *port = NULL;
  gboolean done = split_port (text, &host, &port, error)
      && take_remote (spec, text, host, port, error);

  g_free (host);
  g_free (port);
  return done;
}

static gboolean
parse_number (MmtpPathSpec * spec, const Number * number,
    const gchar * value, GError ** error)
{
  guint64 parsed;

  if (!g_ascii_string_to_unsigned (value, 10, number->min, number->max,
          &parsed, NULL))
    return refuse (error, "\"%s=%s\" is not valid: set a number from %"
        G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " (%s)", number->name, value,
        number->min, number->max, number->unit);
  if (number == &numbers[0])
    spec->rate = parsed;
  else if (number == &numbers[1])
    spec->delay = parsed * G_GUINT64_CONSTANT (1000000);
  else
    spec->mtu = parsed;
  return TRUE;
}

static gboolean
take_option (MmtpPathSpec * spec, const gchar * name, const gchar * value,
    GError ** error)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (numbers); i++) {
    if (strcmp (name, numbers[i].name) == 0)
      return parse_number (spec, &numbers[i], value, error);
  }
  if (strcmp (name, "name") != 0)
    return refuse (error, "\"%s\" is not an option of a channel: the options "
        "are rate, delay, mtu and name", name);
  if (value[0] == '\0')
    return refuse (error, "the name of a channel is empty: set a name, such as "
        "name=field");
  g_free (spec->name);
  spec->name = g_strdup (value);
  return TRUE;
}

static gboolean
parse_option (MmtpPathSpec * spec, const gchar * text, GPtrArray * seen,
    GError ** error)
{
  gchar **parts = g_strsplit (text, "=", 2);
  gboolean done = FALSE;

  if (!parts[0] || !parts[1]) {
    refuse (error,
        "the option \"%s\" is not of the form name=value, such as rate=2000000",
        text);
  } else if (g_ptr_array_find_with_equal_func (seen, g_strstrip (parts[0]),
          g_str_equal, NULL)) {
    refuse (error, "a channel has the option %s twice", parts[0]);
  } else {
    g_ptr_array_add (seen, g_strdup (parts[0]));
    done = take_option (spec, parts[0], g_strstrip (parts[1]), error);
  }
  g_strfreev (parts);
  return done;
}

static gboolean
parse_options (MmtpPathSpec * spec, const gchar * text, GError ** error)
{
  gchar **options = g_strsplit (text, "&", -1);
  GPtrArray *seen = g_ptr_array_new_with_free_func (g_free);
  gboolean done = options[0] != NULL;
  guint i;

  if (!done)
    refuse (error, "no option follows a ?: write an option, such as "
        "?rate=2000000");
  for (i = 0; done && options[i]; i++)
    done = parse_option (spec, options[i], seen, error);
  g_ptr_array_unref (seen);
  g_strfreev (options);
  return done;
}

/* --- lists ---------------------------------------------------------------- */

/* Truncates `text` at the first `separator`. Returns the part of the text after
 * the separator, without white space at its ends. Returns NULL if `text` does
 * not contain `separator`. */
static gchar *
cut (gchar * text, const gchar * separator)
{
  gchar *found = strstr (text, separator);

  if (!found)
    return NULL;
  *found = '\0';
  return g_strstrip (found + strlen (separator));
}

/* Parses one path. Changes `text`. */
static gboolean
parse_path (MmtpPathSpec * spec, gchar * text, GError ** error)
{
  gchar *options = cut (text, "?"), *remote;

  spec->name = g_strdup (*g_strstrip (text) ? text : DEFAULT_NAME);
  remote = cut (text, ARROW);
  return parse_local (spec, g_strstrip (text), error)
      && (!remote || parse_remote (spec, remote, error))
      && (!options || parse_options (spec, options, error));
}

/* Parses one bonding address. The syntax is that of gst_rist_sink_set_bonds()
 * in GStreamer 1.22: host:port[/interface]. The port follows the last colon,
 * even if the host is an IPv6 address without brackets. */
static gboolean
parse_bond (MmtpPathSpec * spec, gchar * text, GError ** error)
{
  gchar *whole = g_strdup (text), *interface = cut (text, "/");
  gchar *colon = strrchr (g_strchomp (text), ':');

  spec->name = whole;
  if (!colon || colon[1] == '\0' || strchr (colon, ']'))
    return refuse (error,
        "\"%s\" has no port: write each bonding address as host:port", whole);
  if (interface && !is_interface_name (interface))
    return refuse (error, "\"%s\" in \"%s\" is not the name of an interface, "
        "which has 1 to %d bytes", interface, whole, MAX_INTERFACE_NAME);
  spec->interface = g_strdup (interface);
  if (text[0] == '[')
    return parse_remote (spec, text, error);
  *colon = '\0';
  return take_remote (spec, whole, text, colon + 1, error);
}

static gboolean
add (MmtpPathList * paths, MmtpPathSpec * spec, GError ** error)
{
  const MmtpPathSpec *other;
  guint i;

  for (i = 0; i < paths->specs->len; i++) {
    other = g_ptr_array_index (paths->specs, i);
    if (strcmp (other->name, spec->name) != 0)
      continue;
    g_set_error (error, MMTP_PATH_LIST_ERROR, MMTP_PATH_LIST_ERROR_TWICE,
        "the channel \"%s\" is in the list twice. If two channels are meant, "
        "give them different names with ?name=", spec->name);
    return FALSE;
  }
  if (paths->specs->len == MMTP_MAX_PATHS) {
    g_set_error (error, MMTP_PATH_LIST_ERROR, MMTP_PATH_LIST_ERROR_TOO_MANY,
        "there are more than %d channels: shorten the list", MMTP_MAX_PATHS);
    return FALSE;
  }
  g_ptr_array_add (paths->specs, spec);
  return TRUE;
}

typedef gboolean (*ParseFunc) (MmtpPathSpec * spec, gchar * text,
    GError ** error);

static gboolean
parse_one (MmtpPathList * paths, ParseFunc parse, gchar * text,
    const gchar * host, guint16 port, GError ** error)
{
  MmtpPathSpec *spec = g_new0 (MmtpPathSpec, 1);

  spec->host = g_strdup (host);
  spec->port = port;
  if (parse (spec, text, error) && add (paths, spec, error))
    return TRUE;
  mmtp_path_spec_free (spec);
  return FALSE;
}

static MmtpPathList *
parse_list (ParseFunc parse, const gchar * list, const gchar * host,
    guint16 port, GError ** error)
{
  MmtpPathList *paths = paths_new ();
  gchar **texts = g_strsplit (list, ",", -1);
  gboolean done = TRUE;
  guint i;

  for (i = 0; done && texts[i]; i++) {
    if (*g_strstrip (texts[i]) == '\0')
      done = refuse (error, "a channel of \"%s\" is empty: remove a comma",
          list);
    else
      done = parse_one (paths, parse, texts[i], host, port, error);
  }
  g_strfreev (texts);
  if (done)
    return paths;
  mmtp_path_list_free (paths);
  return NULL;
}

static MmtpPathList *
parse_alone (const gchar * host, guint16 port)
{
  MmtpPathList *paths = paths_new ();
  gchar text[] = "";

  parse_one (paths, parse_path, text, host, port, NULL);
  return paths;
}

MmtpPathList *
mmtp_path_list_parse (const gchar * text, const gchar * host, guint16 port,
    GError ** error)
{
  gchar *stripped = g_strstrip (g_strdup (text ? text : ""));
  MmtpPathList *paths;

  if (strcmp (stripped, AUTO) == 0) {
    paths = paths_new ();
    paths->is_auto = TRUE;
  } else if (*stripped == '\0') {
    paths = parse_alone (host, port);
  } else {
    paths = parse_list (parse_path, stripped, host, port, error);
  }
  g_free (stripped);
  return paths;
}

MmtpPathList *
mmtp_path_list_parse_bonding (const gchar * text, GError ** error)
{
  if (!text || *text == '\0') {
    refuse (error, "there are no bonding addresses: write host:port, "
        "separated by commas");
    return NULL;
  }
  return parse_list (parse_bond, text, NULL, 0, error);
}

/* `text` is a list in the syntax of the property bonding-addresses. Converts it
 * to the syntax of the property channels. An IPv6 address gets brackets,
 * because a port follows it. */
gchar *
mmtp_path_list_convert_bonding (const gchar * text, GError ** error)
{
  MmtpPathList *paths = mmtp_path_list_parse_bonding (text, error);
  GString *converted = g_string_new (NULL);
  guint i;

  for (i = 0; paths && i < paths->specs->len; i++) {
    const MmtpPathSpec *spec = g_ptr_array_index (paths->specs, i);
    gboolean is_ipv6 = strchr (spec->host, ':') != NULL;

    g_string_append_printf (converted, "%s%s->%s%s%s:%u?name=%s",
        i > 0 ? ", " : "", spec->interface ? spec->interface : "",
        is_ipv6 ? "[" : "", spec->host, is_ipv6 ? "]" : "", spec->port,
        spec->name);
  }
  g_clear_pointer (&paths, mmtp_path_list_free);
  return g_string_free (converted, i == 0);
}
