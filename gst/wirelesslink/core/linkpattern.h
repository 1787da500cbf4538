/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recorded pattern: the random events of each packet of a run. Each packet is
 * identified by its flow and by its number in this flow. When a pattern is
 * replayed, the same events happen to the packet with the same flow and number,
 * whatever the packet contains. Queueing and airtime are still computed by the
 * model. The idea comes from the network emulator KauNet, which calls it
 * data-driven patterns.
 *
 *   wirelesslink-pattern 1
 *   seed 42
 *   packet FLOW INDEX ATTEMPTS FATE JITTER COPIES [overtaken] [OFFSET:FLIP ...]
 *
 * There is one line per packet. Numbers are decimal. FATE is one of the names
 * that link_fate_get_name () returns. JITTER is in ns. OFFSET:FLIP describes a
 * damaged byte: FLIP is two hexadecimal digits, with which the byte at OFFSET
 * is XORed. Text after a # is a comment.
 */

#pragma once

#include "linkconfig.h"
#include "linkpacket.h"

typedef struct _LinkPattern LinkPattern;

typedef struct
{
  guint attempts;               /* number of transmissions */
  LinkFate fate;                /* DELIVERED, DAMAGED, AIR or CHECK */
  guint64 jitter;               /* ns */
  /* TRUE if later packets may overtake this packet */
  gboolean overtaken;
  guint copies;                 /* number of duplicates */
  guint n_damage;
  const LinkDamage *damage;
} LinkPatternEntry;

LinkPattern *link_pattern_parse (const gchar * text, GError ** error);
void link_pattern_free (LinkPattern * pattern);
guint64 link_pattern_get_seed (const LinkPattern * pattern);
/* Returns the recorded events of a packet. Returns NULL if none are recorded
 * for this packet; its events are then drawn at random. */
const LinkPatternEntry *link_pattern_lookup (const LinkPattern * pattern,
    guint flow, guint64 index);

/* link_pattern_format_head () returns the beginning of a pattern file.
 * link_pattern_format_packet () returns the line of a packet in this file, or
 * NULL if the fate of the packet was not random, for example because the packet
 * was lost in a full queue. */
gchar *link_pattern_format_head (guint64 seed);
gchar *link_pattern_format_packet (const LinkPacket * packet);
