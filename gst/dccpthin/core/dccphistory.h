/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A DccpHistory stores one bit for each of the latest sequence numbers. It is
 * used for several purposes. Depending on the purpose, a set bit means that a
 * packet has arrived, that we sent a packet with data, or that the peer
 * reported our packet as dropped. For sequence numbers that are too old for the
 * history, nothing is stored.
 */

#pragma once

#include "dccpsequence.h"

/* Number of sequence numbers for which a history stores a bit. It is greater
 * than the default Sequence Window of 10000 packets, and therefore greater than
 * the number of packets that may be in flight. */
#define DCCP_HISTORY_SIZE 16384

typedef struct
{
  /* Greatest sequence number in the history. It is valid only if has_greatest
   * is TRUE. */
  guint64 greatest;
  gboolean has_greatest;
  guint64 bits[DCCP_HISTORY_SIZE / 64];
  /* Number of 64-bit words of `bits` that have been read or written so far.
   * Tests use this counter to check that the work per packet has an upper
   * limit. */
  guint64 steps;
} DccpHistory;

void dccp_history_clear (DccpHistory * history);
/* Sets the bit of the sequence number `sequence`. If `sequence` is greater than
 * the greatest sequence number in the history, the bits of all numbers between
 * the two are cleared. Returns FALSE if `sequence` is too old for the history.
 */
gboolean dccp_history_set (DccpHistory * history, guint64 sequence);
gboolean dccp_history_is_known (const DccpHistory * history, guint64 sequence);
/* Returns TRUE if the bit of the sequence number `sequence` is set. Returns
 * FALSE if the bit is not set, or if the history does not cover this number. */
gboolean dccp_history_get (const DccpHistory * history, guint64 sequence);
/* A history stores one bit for each sequence number. Returns how many bits are
 * set among the bits of the `n` sequence numbers that begin at `first`. */
gint64 dccp_history_count (DccpHistory * history, guint64 first, gint64 n);
/* Checks the `n` sequence numbers that begin at `first`. Returns TRUE if the
 * bit of at least one of them is set in both `history` and `other`. */
gboolean dccp_history_have_common (DccpHistory * history,
    const DccpHistory * other, guint64 first, gint64 n);
/* Considers the `n` sequence numbers that begin at `first`. For each of them
 * whose bit is set in `from`, sets the bit in `history`, too. Bits that are not
 * set in `from` do not change `history`.
 *
 * Returns the number of bits in `history` that were not set before this call
 * and are set now. If there is at least one such bit, `lowest` and `highest`
 * are set to the lowest and the highest sequence number of these bits. */
gint64 dccp_history_add_run (DccpHistory * history, const DccpHistory * from,
    guint64 first, gint64 n, guint64 * lowest, guint64 * highest);
