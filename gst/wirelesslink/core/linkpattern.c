/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of linkpattern.h: reads and writes patterns, which are the
 * recorded random events of all packets of a run. */

#include "linkpattern.h"

#include <errno.h>
#include <string.h>

/* Maximum number of packets in a file, enough for an hour with 10,000
 * packets/s. */
#define MAX_ENTRIES (1 << 26)
#define MAX_FLOW 65535
#define MAX_COPIES 16
/* Maximum number of transmissions of one packet. This maximum is possible on a
 * GSM link with rlp-n2=255. Such a link transmits each frame once, and then
 * retransmits the frame at most 255 times. */
#define MAX_ATTEMPTS 256

struct _LinkPattern
{
  guint64 seed;
  /* Table of the entries (LinkPatternEntry). The key consists of the number of
   * a flow and the number of a packet in this flow. */
  GHashTable *entries;
  GArray *damage;               /* LinkDamage of all entries */
};

typedef struct
{
  guint64 flow, index;
  guint first_damage;
  LinkPatternEntry entry;
} Line;

static guint
line_hash (gconstpointer key)
{
  const Line *line = key;

  return line->index * 2654435761u ^ line->flow;
}

static gboolean
line_equal (gconstpointer a, gconstpointer b)
{
  const Line *x = a, *y = b;

  return x->flow == y->flow && x->index == y->index;
}

/* The functions whose names begin with take_ parse a line from left to right.
 * Each function parses one part of the line, and then advances the pointer
 * *text to the character after this part. */

static void
skip_blanks (const gchar ** text)
{
  while (**text == ' ' || **text == '\t')
    (*text)++;
}

static gboolean
take_number (const gchar ** text, guint base, guint64 max, guint64 * number)
{
  gchar *end;

  skip_blanks (text);
  if (!g_ascii_isxdigit (**text))
    return FALSE;
  errno = 0;
  *number = g_ascii_strtoull (*text, &end, base);
  if (end == *text || errno == ERANGE || *number > max)
    return FALSE;
  *text = end;
  return TRUE;
}

static gboolean
take_word (const gchar ** text, const gchar * word)
{
  gsize length = strlen (word);

  skip_blanks (text);
  if (strncmp (*text, word, length) || g_ascii_isalnum ((*text)[length]))
    return FALSE;
  *text += length;
  return TRUE;
}

static gboolean
take_fate (const gchar ** text, LinkFate * fate)
{
  static const LinkFate fates[] = { LINK_FATE_DELIVERED, LINK_FATE_DAMAGED,
    LINK_FATE_AIR, LINK_FATE_CHECK
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (fates); i++) {
    if (take_word (text, link_fate_get_name (fates[i]))) {
      *fate = fates[i];
      return TRUE;
    }
  }
  return FALSE;
}

static gboolean
at_end (const gchar ** text)
{
  skip_blanks (text);
  return **text == '\0' || **text == '#';
}

static gboolean
take_damage (LinkPattern * pattern, const gchar ** text, LinkPatternEntry *
    entry)
{
  while (!at_end (text)) {
    LinkDamage damage;
    guint64 offset, flip;

    if (!take_number (text, 10, G_MAXUINT32, &offset) || *(*text)++ != ':'
        || !take_number (text, 16, 255, &flip) || flip == 0)
      return FALSE;
    damage.offset = offset;
    damage.flip = flip;
    g_array_append_val (pattern->damage, damage);
    entry->n_damage++;
  }
  return TRUE;
}

static gboolean
parse_packet (LinkPattern * pattern, const gchar * text)
{
  Line line = { 0, }, *kept;
  guint64 attempts, jitter, copies;

  line.first_damage = pattern->damage->len;
  if (!take_number (&text, 10, MAX_FLOW, &line.flow)
      || !take_number (&text, 10, G_MAXUINT64 - 1, &line.index)
      || !take_number (&text, 10, MAX_ATTEMPTS, &attempts)
      || !take_fate (&text, &line.entry.fate)
      || !take_number (&text, 10, G_MAXINT64 / 2, &jitter)
      || !take_number (&text, 10, MAX_COPIES, &copies))
    return FALSE;
  line.entry.overtaken = take_word (&text, "overtaken");
  if (!take_damage (pattern, &text, &line.entry))
    return FALSE;
  if (g_hash_table_size (pattern->entries) >= MAX_ENTRIES)
    return FALSE;
  line.entry.attempts = attempts;
  line.entry.jitter = jitter;
  line.entry.copies = copies;
  kept = g_slice_dup (Line, &line);
  if (g_hash_table_contains (pattern->entries, kept)) {
    g_slice_free (Line, kept);
    return FALSE;
  }
  g_hash_table_add (pattern->entries, kept);
  return TRUE;
}

static gboolean
parse_line (LinkPattern * pattern, const gchar * line, gboolean * started)
{
  guint64 version;

  if (at_end (&line))
    return TRUE;
  if (!*started) {
    *started = TRUE;
    return take_word (&line, "wirelesslink-pattern")
        && take_number (&line, 10, 1, &version) && version == 1
        && at_end (&line);
  }
  if (take_word (&line, "seed"))
    return take_number (&line, 10, G_MAXUINT64, &pattern->seed)
        && at_end (&line);
  return take_word (&line, "packet") && parse_packet (pattern, line);
}

static void
line_free (gpointer line)
{
  g_slice_free (Line, line);
}

/* Sets the field `damage` of an entry to the address of the entry's elements in
 * the array `pattern->damage`. This array must be complete, because a later
 * reallocation would make the address invalid. */
static void
resolve (gpointer key, gpointer value, gpointer user_data)
{
  LinkPattern *pattern = user_data;
  Line *line = key;

  if (line->entry.n_damage)
    line->entry.damage = &g_array_index (pattern->damage, LinkDamage,
        line->first_damage);
}

LinkPattern *
link_pattern_parse (const gchar * text, GError ** error)
{
  LinkPattern *pattern = g_new0 (LinkPattern, 1);
  gboolean started = FALSE;
  guint number = 0;

  pattern->entries = g_hash_table_new_full (line_hash, line_equal, line_free,
      NULL);
  pattern->damage = g_array_new (FALSE, FALSE, sizeof (LinkDamage));
  while (*text) {
    gsize length = strcspn (text, "\n");
    gchar *line = g_strndup (text, length);
    gboolean right;

    number++;
    g_strchomp (line);
    right = parse_line (pattern, line, &started);
    if (!right)
      g_set_error (error, LINK_ERROR, LINK_ERROR_SYNTAX,
          "line %u of the pattern is malformed: \"%.60s\". Set a file that was "
          "written with record-pattern, or correct the line as "
          "docs/wirelesslink.md describes", number, line);
    g_free (line);
    if (!right) {
      link_pattern_free (pattern);
      return NULL;
    }
    text += length + (text[length] == '\n');
  }
  if (!started) {
    g_set_error (error, LINK_ERROR, LINK_ERROR_EMPTY,
        "the pattern is empty: set a file that was written with "
        "record-pattern");
    link_pattern_free (pattern);
    return NULL;
  }
  g_hash_table_foreach (pattern->entries, resolve, pattern);
  return pattern;
}

void
link_pattern_free (LinkPattern * pattern)
{
  g_hash_table_unref (pattern->entries);
  g_array_unref (pattern->damage);
  g_free (pattern);
}

guint64
link_pattern_get_seed (const LinkPattern * pattern)
{
  return pattern->seed;
}

const LinkPatternEntry *
link_pattern_lookup (const LinkPattern * pattern, guint flow, guint64 index)
{
  Line key, *line;

  key.flow = flow;
  key.index = index;
  line = g_hash_table_lookup (pattern->entries, &key);
  return line ? &line->entry : NULL;
}

gchar *
link_pattern_format_head (guint64 seed)
{
  return g_strdup_printf ("wirelesslink-pattern 1\nseed %" G_GUINT64_FORMAT
      "\n", seed);
}

gchar *
link_pattern_format_packet (const LinkPacket * packet)
{
  GString *line;
  guint i;

  if (packet->fate != LINK_FATE_DELIVERED && packet->fate != LINK_FATE_DAMAGED
      && packet->fate != LINK_FATE_AIR && packet->fate != LINK_FATE_CHECK)
    return NULL;
  line = g_string_new (NULL);
  g_string_printf (line, "packet %u %" G_GUINT64_FORMAT " %u %s %"
      G_GUINT64_FORMAT " %u%s", packet->flow, packet->index, packet->attempts,
      link_fate_get_name (packet->fate), packet->jitter, packet->copies,
      packet->overtaken ? " overtaken" : "");
  for (i = 0; i < packet->n_damage; i++)
    g_string_append_printf (line, " %u:%02x", packet->damage[i].offset,
        packet->damage[i].flip);
  g_string_append_c (line, '\n');
  return g_string_free (line, FALSE);
}
