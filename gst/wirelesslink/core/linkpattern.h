/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run of a link, recorded: what chance did to the n-th packet of each flow.
 * Replayed, the same happens to the n-th packet again, whatever it carries;
 * queueing and airtime are the model's as ever (after KauNet's data-driven
 * patterns).
 *
 *   wirelesslink-pattern 1
 *   seed 42
 *   packet FLOW INDEX ATTEMPTS FATE JITTER COPIES [overtaken] [OFFSET:FLIP ...]
 *
 * one line each; numbers are decimal, FLIP two hex digits, FATE a word of
 * link_fate_get_name, JITTER ns. What is behind a # is a comment.
 */

#pragma once

#include "linkconfig.h"
#include "linkpacket.h"

typedef struct _LinkPattern LinkPattern;

typedef struct
{
  guint attempts;               /* that it took, the last one included */
  LinkFate fate;                /* DELIVERED, DAMAGED, AIR or CHECK */
  guint64 jitter;               /* ns */
  gboolean overtaken;           /* others may leave before it */
  guint copies;                 /* more than the first */
  guint n_damage;
  const LinkDamage *damage;
} LinkPatternEntry;

LinkPattern *link_pattern_parse (const gchar * text, GError ** error);
void link_pattern_free (LinkPattern * pattern);
guint64 link_pattern_get_seed (const LinkPattern * pattern);
/* NULL where the pattern says nothing of it: chance decides, as without */
const LinkPatternEntry *link_pattern_lookup (const LinkPattern * pattern,
    guint flow, guint64 index);

/* What is written at the head of a file, and for a packet; NULL for a fate that
 * chance had no part in (a full queue) */
gchar *link_pattern_format_head (guint64 seed);
gchar *link_pattern_format_packet (const LinkPacket * packet);
