/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines which radio blocks of a GSM channel have errors. Block number k of
 * a direction begins at k * block_time. The errors depend on the seed or on a
 * recorded trace. They do not depend on the contents of the blocks.
 */

#pragma once

#include "linkmodel.h"

typedef struct
{
  Link *link;
  guint64 block_time;           /* ns */
  LinkOnOff state[2];           /* of each direction */
  /* Recorded errors of the radio blocks, by direction. There is one byte for
   * each block: 1 if the block has errors, otherwise 0. If a direction has a
   * recorded trace, the trace is used in place of the random process `state`.
   * NULL = no trace. */
  GByteArray *trace[2];
  /* One flag for each direction. It is TRUE if changes of the channel's quality
   * in this direction are reported. */
  gboolean used[2];
  /* Time in ns of the next change of the channel's quality, in the directions
   * whose changes are reported (`used`); LINK_NEVER if there is none. */
  guint64 change;
} LinkRadioBlocks;

/* Initializes the radio blocks. If a trace is invalid, returns FALSE with an
 * error of the domain LINK_ERROR. In this case, too, link_radio_blocks_clear ()
 * must be called. */
gboolean link_radio_blocks_init (LinkRadioBlocks * radio, Link * link,
    GError ** error);
void link_radio_blocks_clear (LinkRadioBlocks * radio);
/* Returns TRUE if the block with the number `block` has errors. Also counts the
 * block as sent in the statistics of the link. The function is fast if the
 * block numbers mostly increase. */
gboolean link_radio_blocks_send (LinkRadioBlocks * radio, guint direction,
    guint64 block);
/* Returns the number of the first block that begins at `time` or later. */
guint64 link_radio_blocks_at (const LinkRadioBlocks * radio, guint64 time);

/* Switches on the reports for `direction`: link_radio_blocks_tell () then
 * reports each change of the channel's quality in this direction. */
void link_radio_blocks_use (LinkRadioBlocks * radio, guint direction);
/* Must be called at the time radio->change. Reports to the link that the
 * quality has changed, and sets radio->change to the time of the next change.
 * If the function is called too early, it does nothing. */
void link_radio_blocks_tell (LinkRadioBlocks * radio);
/* Returns the quality of the channel in `direction` at the present time: 0 if
 * the current radio block has errors, otherwise 1. */
gdouble link_radio_blocks_quality (LinkRadioBlocks * radio, guint direction);
