/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The radio blocks of a GSM channel: which of them are hit. Block number k of a
 * direction begins at k * block_time; whether it is hit follows from seed, or
 * from a recorded trace, and from nothing that is sent.
 */

#pragma once

#include "linkmodel.h"

typedef struct
{
  Link *link;
  guint64 block_time;           /* ns */
  LinkOnOff state[2];           /* of each direction */
  GByteArray *trace[2];         /* of 0 and 1, instead; or NULL */
  gboolean used[2];             /* its quality is told */
  guint64 change;               /* ns: when a quality changes next */
} LinkRadioBlocks;

/* FALSE with LINK_ERROR when a trace can't be read; clear it then as well */
gboolean link_radio_blocks_init (LinkRadioBlocks * radio, Link * link,
    GError ** error);
void link_radio_blocks_clear (LinkRadioBlocks * radio);
/* The block is sent: TRUE when it is hit. Fast where numbers mostly grow */
gboolean link_radio_blocks_send (LinkRadioBlocks * radio, guint direction,
    guint64 block);
/* The first block that begins at this time or later */
guint64 link_radio_blocks_at (const LinkRadioBlocks * radio, guint64 time);

/* From now on, changes of its quality are events. */
void link_radio_blocks_use (LinkRadioBlocks * radio, guint direction);
/* At radio->change */
void link_radio_blocks_tell (LinkRadioBlocks * radio);
/* 1, or 0 while blocks are hit */
gdouble link_radio_blocks_quality (LinkRadioBlocks * radio, guint direction);
