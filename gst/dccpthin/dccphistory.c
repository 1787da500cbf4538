/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A ring of bits, indexed by the lowest bits of sequence numbers; 2^48 is a whole
 * number of rings. */

#include "dccphistory.h"

#include <string.h>

void
dccp_history_clear (DccpHistory * history)
{
  memset (history, 0, sizeof (*history));
}

static guint64 *
find (DccpHistory * history, guint64 sequence)
{
  return &history->bits[sequence % DCCP_HISTORY_SIZE / 64];
}

static guint64
mask (guint64 sequence)
{
  return G_GUINT64_CONSTANT (1) << (sequence % 64);
}

static void
advance (DccpHistory * history, guint64 sequence)
{
  gint64 n = history->has_greatest ?
      dccp_sequence_difference (sequence, history->greatest) :
      DCCP_HISTORY_SIZE;
  gint64 i;

  if (n >= DCCP_HISTORY_SIZE)
    memset (history->bits, 0, sizeof (history->bits));
  else
    for (i = 0; i < n; i++)
      *find (history, sequence - i) &= ~mask (sequence - i);
  if (n > 0)
    history->greatest = sequence;
  history->has_greatest = TRUE;
}

gboolean
dccp_history_set (DccpHistory * history, guint64 sequence)
{
  advance (history, sequence);
  if (!dccp_history_is_known (history, sequence))
    return FALSE;
  *find (history, sequence) |= mask (sequence);
  return TRUE;
}

gboolean
dccp_history_is_known (const DccpHistory * history, guint64 sequence)
{
  gint64 age = dccp_sequence_difference (history->greatest, sequence);

  return history->has_greatest && age >= 0 && age < DCCP_HISTORY_SIZE;
}

gboolean
dccp_history_get (const DccpHistory * history, guint64 sequence)
{
  return dccp_history_is_known (history, sequence)
      && (*find ((DccpHistory *) history, sequence) & mask (sequence)) != 0;
}
