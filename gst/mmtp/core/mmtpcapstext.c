/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks that caps received as text contain only the types that mmtpcapstext.h
 * allows. The grammar is that of the text that gst_caps_to_string() writes:
 *
 *   caps   = name *("," field "=" value)
 *   value  = ["(" type ")"] (scalar / "{" values "}" / "<" values ">")
 *
 * A scalar outside of a list must have a type. A scalar in a list may have no
 * type. The scalar then gets its type from a list. If the list that contains
 * the scalar has a type, the scalar has this type. Otherwise, the list around
 * that list is examined next, and so on outwards. The first list with a type
 * gives its type to the scalar. */

#include "mmtpcapstext.h"

#include "mmtppacket.h"

#include <string.h>

#define MAX_FIELDS 256
#define MAX_DEPTH 4             /* maximum nesting of lists */

typedef struct
{
  const gchar *at, *end;
} Text;

typedef gboolean (*Check) (Text * text);

static gchar
peek (const Text * text)
{
  return text->at < text->end ? *text->at : '\0';
}

static gboolean
take (Text * text, gchar c)
{
  if (peek (text) != c || text->at == text->end)
    return FALSE;
  text->at++;
  return TRUE;
}

static void
skip_space (Text * text)
{
  while (peek (text) == ' ')
    text->at++;
}

static gsize
take_digits (Text * text, gboolean hex)
{
  const gchar *start = text->at;

  while (hex ? g_ascii_isxdigit (peek (text)) : g_ascii_isdigit (peek (text)))
    text->at++;
  return text->at - start;
}

/* Skips a name in the text: a letter that is followed by letters, digits and
 * characters of `signs`. Returns FALSE if there is no name. */
static gboolean
take_name (Text * text, const gchar * signs)
{
  gchar c;

  if (!g_ascii_isalpha (peek (text)))
    return FALSE;
  while ((c = peek (text)) && (g_ascii_isalnum (c) || strchr (signs, c)))
    text->at++;
  return TRUE;
}

/* --- scalars -------------------------------------------------------------- */

static gboolean
check_integer (Text * text)
{
  if (!take (text, '-'))
    take (text, '+');
  return take_digits (text, FALSE) > 0;
}

static gboolean
check_double (Text * text)
{
  gsize n;

  if (!take (text, '-'))
    take (text, '+');
  n = take_digits (text, FALSE);
  if (take (text, '.'))
    n += take_digits (text, FALSE);
  if (n == 0)
    return FALSE;
  return !(take (text, 'e') || take (text, 'E')) || check_integer (text);
}

static gboolean
check_fraction (Text * text)
{
  return check_integer (text) && take (text, '/') && check_integer (text);
}

static gboolean
check_bitmask (Text * text)
{
  return take (text, '0') && take (text, 'x') && take_digits (text, TRUE) > 0;
}

static gboolean
check_boolean (Text * text)
{
  const gchar *start = text->at;
  gsize size;

  take_name (text, "");
  size = text->at - start;
  return (size == 4 && g_ascii_strncasecmp (start, "true", 4) == 0)
      || (size == 5 && g_ascii_strncasecmp (start, "false", 5) == 0);
}

/* Accepts the bytes of a GstBuffer as hexadecimal digits. An empty buffer is
 * rejected, because GStreamer writes an empty buffer as a text without any
 * digits, and cannot parse this text itself. */
static gboolean
check_buffer (Text * text)
{
  gsize n = take_digits (text, TRUE);

  return n > 0 && n % 2 == 0;
}

static gboolean
check_quoted (Text * text)
{
  while (text->at < text->end && *text->at != '"')
    text->at += *text->at == '\\' ? 2 : 1;
  if (text->at >= text->end)
    return FALSE;
  text->at++;
  return TRUE;
}

/* Returns whether a valid string comes next in `text`, and skips this string. A
 * string without quotes consists of the characters that GST_ASCII_IS_STRING
 * accepts. A quoted string may contain backslash escapes. */
static gboolean
check_string (Text * text)
{
  const gchar *start = text->at;
  gchar c;

  if (take (text, '"'))
    return check_quoted (text);
  while ((c = peek (text)) && (g_ascii_isalnum (c) || strchr ("_-+/:.", c)))
    text->at++;
  return text->at > start;
}

/* Names of the types of caps fields. The list contains each type twice: with
 * the name that GStreamer writes, such as "int", and with the name of the
 * GType, such as "gint".
 */
static const struct
{
  const gchar *name;
  Check check;
} types[] = {
  {"int", check_integer},
  {"gint", check_integer},
  {"gint64", check_integer},
  {"int64", check_integer},
  {"uint", check_integer},
  {"guint", check_integer},
  {"guint64", check_integer},
  {"uint64", check_integer},
  {"boolean", check_boolean},
  {"gboolean", check_boolean},
  {"double", check_double},
  {"gdouble", check_double},
  {"fraction", check_fraction},
  {"GstFraction", check_fraction},
  {"bitmask", check_bitmask},
  {"GstBitmask", check_bitmask},
  {"string", check_string},
  {"gchararray", check_string},
  {"buffer", check_buffer},
  {"GstBuffer", check_buffer},
};

/* --- fields --------------------------------------------------------------- */

/* Reads the name of a type and the closing parenthesis, for example "int)".
 * Returns the function that checks values of this type. Returns NULL if the
 * type is not one of the plain types in the table `types`. */
static Check
take_type (Text * text)
{
  const gchar *start = text->at;
  gsize i, size;

  if (!take_name (text, ""))
    return NULL;
  size = text->at - start;
  if (!take (text, ')'))
    return NULL;
  for (i = 0; i < G_N_ELEMENTS (types); i++)
    if (strlen (types[i].name) == size
        && memcmp (types[i].name, start, size) == 0)
      return types[i].check;
  return NULL;
}

static gboolean check_value (Text * text, Check type, guint depth);

static gboolean
check_values (Text * text, Check type, guint depth, gchar closing)
{
  if (depth == MAX_DEPTH)
    return FALSE;
  skip_space (text);
  if (take (text, closing))
    return TRUE;
  do {
    skip_space (text);
    if (!check_value (text, type, depth + 1))
      return FALSE;
    skip_space (text);
  } while (take (text, ','));
  return take (text, closing);
}

static gboolean
check_value (Text * text, Check type, guint depth)
{
  if (take (text, '(')) {
    type = take_type (text);
    if (!type)
      return FALSE;
    skip_space (text);
  }
  if (take (text, '{'))
    return check_values (text, type, depth, '}');
  if (take (text, '<'))
    return check_values (text, type, depth, '>');
  return type && type (text);
}

static gboolean
check_field (Text * text)
{
  skip_space (text);
  if (!take_name (text, "_-./+:"))
    return FALSE;
  skip_space (text);
  if (!take (text, '='))
    return FALSE;
  skip_space (text);
  if (!check_value (text, NULL, 0))
    return FALSE;
  skip_space (text);
  return TRUE;
}

/* Reads the media type with which a caps structure begins, such as
 * "video/x-h264". Returns FALSE if the media type is invalid. A valid media
 * type contains a slash, so the special caps ANY, EMPTY and NONE are invalid.
 */
static gboolean
check_media_type (Text * text)
{
  const gchar *start = text->at;

  if (!take_name (text, "/-_.:+"))
    return FALSE;
  return memchr (start, '/', text->at - start) != NULL;
}

static gboolean
is_printable (const gchar * text, gsize size)
{
  gsize i;

  for (i = 0; i < size; i++)
    if (g_ascii_iscntrl (text[i]))
      return FALSE;
  return g_utf8_validate (text, size, NULL);
}

gboolean
mmtp_caps_text_is_plain (const gchar * text, gsize size)
{
  Text rest = { text, text + size };
  guint fields;

  if (size == 0 || size > MMTP_MAX_CAPS || !is_printable (text, size))
    return FALSE;
  if (!check_media_type (&rest))
    return FALSE;
  for (fields = 0; fields < MAX_FIELDS && take (&rest, ','); fields++)
    if (!check_field (&rest))
      return FALSE;
  return rest.at == rest.end;
}
