/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the reading of pattern files, which record the fates of packets. A
 * text is either read or refused with a reason. Each entry that was read can be
 * looked up. A pattern that is written and read again has the same entries.
 *
 * Input: the text.
 */

#include "fuzz.h"
#include "linkpattern.h"

/* If the line of a pattern file describes a packet, reads from it the number of
 * the flow and the index of the packet in this flow. Both numbers are decimal.
 * Returns FALSE if the line describes no packet. */
static gboolean
find_key (const gchar * line, guint * flow, guint64 * index)
{
  gchar *end;

  line += strspn (line, " \t");
  if (strncmp (line, "packet", 6))
    return FALSE;
  *flow = g_ascii_strtoull (line + 6, &end, 10);
  *index = g_ascii_strtoull (end, NULL, 10);
  return TRUE;
}

static void
check_entry (const LinkPatternEntry * entry)
{
  guint i;

  fuzz_check (entry != NULL);
  fuzz_check (entry->fate == LINK_FATE_DELIVERED
      || entry->fate == LINK_FATE_DAMAGED || entry->fate == LINK_FATE_AIR
      || entry->fate == LINK_FATE_CHECK);
  fuzz_check ((entry->n_damage > 0) == (entry->damage != NULL));
  for (i = 0; i < entry->n_damage; i++)
    fuzz_check (entry->damage[i].flip != 0);
}

static void
append_entry (GString * text, guint flow, guint64 index,
    const LinkPatternEntry * entry)
{
  LinkPacket packet = { 0, };
  gchar *line;

  packet.flow = flow;
  packet.index = index;
  packet.fate = entry->fate;
  packet.attempts = entry->attempts;
  packet.jitter = entry->jitter;
  packet.copies = entry->copies;
  packet.n_damage = entry->n_damage;
  packet.damage = (LinkDamage *) entry->damage;
  line = link_pattern_format_packet (&packet);
  fuzz_check (line != NULL);
  g_string_append (text, line);
  g_free (line);
}

/* `pattern` was read from the pattern file `text`. This function writes it as a
 * new pattern file, and returns the text of this file. The new file has one
 * entry for each packet in `text`. Sets `n` to the number of these entries. */
static gchar *
write_again (const LinkPattern * pattern, const gchar * text, guint * n)
{
  gchar **lines = g_strsplit (text, "\n", -1);
  gchar *head = link_pattern_format_head (link_pattern_get_seed (pattern));
  GString *written = g_string_new (head);
  guint i;

  *n = 0;
  for (i = 0; lines[i]; i++) {
    const LinkPatternEntry *entry;
    guint64 index;
    guint flow;

    if (!find_key (lines[i], &flow, &index))
      continue;
    entry = link_pattern_lookup (pattern, flow, index);
    check_entry (entry);
    append_entry (written, flow, index, entry);
    (*n)++;
  }
  g_free (head);
  g_strfreev (lines);
  return g_string_free (written, FALSE);
}

static void
check_pattern (const LinkPattern * pattern, const gchar * text)
{
  guint n, n_again;
  gchar *written = write_again (pattern, text, &n), *again;
  GError *error = NULL;
  LinkPattern *copy = link_pattern_parse (written, &error);

  fuzz_check (copy && !error);
  fuzz_check (link_pattern_get_seed (copy) == link_pattern_get_seed (pattern));
  again = write_again (copy, written, &n_again);
  fuzz_check (n == n_again);
  fuzz_check (!strcmp (written, again));
  fuzz_check (!link_pattern_lookup (copy, 65536, 0));
  fuzz_check (!link_pattern_lookup (copy, 0, G_MAXUINT64));
  link_pattern_free (copy);
  g_free (written);
  g_free (again);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  gchar *text = g_strndup ((const gchar *) data, size);
  GError *error = NULL;
  LinkPattern *pattern = link_pattern_parse (text, &error);

  fuzz_check (!pattern == !!error);
  if (pattern) {
    check_pattern (pattern, text);
    link_pattern_free (pattern);
  } else {
    fuzz_check (error->domain == LINK_ERROR && *error->message);
  }
  g_clear_error (&error);
  g_free (text);
  return 0;
}
