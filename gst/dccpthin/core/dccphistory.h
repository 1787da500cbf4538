/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A yes or no for each of the last sequence numbers: which packets came, which of
 * ours had data, which were reported as dropped. What is older than the history
 * is unknown.
 */

#pragma once

#include "dccpsequence.h"

#define DCCP_HISTORY_SIZE 16384 /* packets: more than may be under way with the
                                 * Sequence Window that is the default */

typedef struct
{
  guint64 greatest;             /* sequence number that was ever set */
  gboolean has_greatest;
  guint64 bits[DCCP_HISTORY_SIZE / 64];
  guint64 steps;                /* words visited, to bound the work of a
                                 * packet */
} DccpHistory;

void dccp_history_clear (DccpHistory * history);
/* FALSE: too old. What is between it and the greatest before becomes no. */
gboolean dccp_history_set (DccpHistory * history, guint64 sequence);
gboolean dccp_history_is_known (const DccpHistory * history, guint64 sequence);
/* FALSE also of what is not known */
gboolean dccp_history_get (const DccpHistory * history, guint64 sequence);
/* How many of `n` numbers from the first on are a yes */
gint64 dccp_history_count (DccpHistory * history, guint64 first, gint64 n);
/* Whether one of `n` numbers from the first on is a yes in both histories */
gboolean dccp_history_have_common (DccpHistory * history,
    const DccpHistory * other, guint64 first, gint64 n);
/* Sets those of `n` numbers from the first on that are a yes in `from` and are
 * not set yet. Returns how many these are; if there is one, the lowest and the
 * highest of them are stored. */
gint64 dccp_history_add_run (DccpHistory * history, const DccpHistory * from,
    guint64 first, gint64 n, guint64 * lowest, guint64 * highest);
