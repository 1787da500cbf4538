/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A DccpHistory has one bit for each of the latest sequence numbers. Depending
 * on the history, a set bit means that the packet arrived, that our packet had
 * data, or that our packet was reported as dropped. Nothing is known about
 * numbers that are older than the history.
 */

#pragma once

#include "dccpsequence.h"

/* Number of sequence numbers in the history. It exceeds the number of packets
 * that may be in flight with the default Sequence Window. */
#define DCCP_HISTORY_SIZE 16384

typedef struct
{
  guint64 greatest;             /* greatest sequence number in the history */
  gboolean has_greatest;
  guint64 bits[DCCP_HISTORY_SIZE / 64];
  /* Number of 64-bit words of `bits` that were processed so far. Tests use this
   * counter to check that the work per packet is limited. */
  guint64 steps;
} DccpHistory;

void dccp_history_clear (DccpHistory * history);
/* Sets the bit of the sequence number `sequence`. If `sequence` exceeds the
 * greatest sequence number in the history, the bits between the two numbers are
 * cleared. Returns FALSE if `sequence` is too old for the history. */
gboolean dccp_history_set (DccpHistory * history, guint64 sequence);
gboolean dccp_history_is_known (const DccpHistory * history, guint64 sequence);
/* Returns TRUE if the bit of the sequence number is set. Returns FALSE if the
 * bit is cleared, or if the number is not in the history. */
gboolean dccp_history_get (const DccpHistory * history, guint64 sequence);
/* Returns how many bits are set for the `n` sequence numbers that begin at
 * `first`. */
gint64 dccp_history_count (DccpHistory * history, guint64 first, gint64 n);
/* Returns whether at least one sequence number has its bit set in both
 * histories. The `n` numbers that begin at `first` are checked. */
gboolean dccp_history_have_common (DccpHistory * history,
    const DccpHistory * other, guint64 first, gint64 n);
/* Sets those bits of `history` that are set in `from`, for the `n` sequence
 * numbers that begin at `first`. Bits that are not set in `from` are not
 * copied.
 *
 * Returns how many bits of `history` were not set before and are set now. If
 * there is at least one such bit, `lowest` and `highest` are set to the lowest
 * and the highest of their sequence numbers. */
gint64 dccp_history_add_run (DccpHistory * history, const DccpHistory * from,
    guint64 first, gint64 n, guint64 * lowest, guint64 * highest);
