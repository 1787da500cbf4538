/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccphistory.h. The bits are in a ring. The index of a bit
 * is the sequence number modulo the size of the ring. When the sequence numbers
 * wrap around at 2^48, the index continues without a jump, because 2^48 is a
 * multiple of the ring's size. */

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

/* The history stores one bit for each sequence number, in words of 64 bits.
 * Returns a mask for the word that contains the bit of `sequence`. The mask
 * selects the bits of `n` consecutive sequence numbers, beginning with
 * `sequence`. If the word ends earlier, the mask selects fewer bits. `size` is
 * set to the number of selected bits. */
static guint64
mask_run (guint64 sequence, gint64 n, gint64 * size)
{
  *size = MIN (64 - (gint64) (sequence % 64), n);
  return G_MAXUINT64 >> (64 - *size) << sequence % 64;
}

/* Clears the bits of the `n` sequence numbers that begin at `first`. If a
 * packet has a far greater sequence number than the previous packet, the bits
 * of nearly the whole history have to be cleared. To save time, each step
 * therefore clears up to 64 bits, a whole word, and not only one bit. */
static void
clear_run (DccpHistory * history, guint64 first, gint64 n)
{
  gint64 size;

  for (; n > 0; n -= size, first = dccp_sequence_add (first, size)) {
    *find (history, first) &= ~mask_run (first, n, &size);
    history->steps++;
  }
}

static void
advance (DccpHistory * history, guint64 sequence)
{
  gint64 n = history->has_greatest ?
      dccp_sequence_difference (sequence, history->greatest) :
      DCCP_HISTORY_SIZE;

  if (n >= DCCP_HISTORY_SIZE)
    memset (history->bits, 0, sizeof (history->bits));
  else if (n > 0)
    clear_run (history, dccp_sequence_add (sequence, 1 - n), n);
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

/* Shortens a range of sequence numbers to those for which the history stores a
 * bit. The range has `n` numbers and begins at `first`. Both values are
 * changed. */
static void
clip (const DccpHistory * history, guint64 * first, gint64 * n)
{
  const guint64 oldest = dccp_sequence_add (history->greatest,
      1 - DCCP_HISTORY_SIZE);
  const gint64 older = MAX (dccp_sequence_difference (oldest, *first), 0);

  *first = dccp_sequence_add (*first, older);
  *n = MIN (*n - older,
      dccp_sequence_difference (history->greatest, *first) + 1);
  if (!history->has_greatest)
    *n = 0;
}

gint64
dccp_history_count (DccpHistory * history, guint64 first, gint64 n)
{
  gint64 size, count = 0;

  clip (history, &first, &n);
  for (; n > 0; n -= size, first = dccp_sequence_add (first, size)) {
    count += __builtin_popcountll (*find (history, first)
        & mask_run (first, n, &size));
    history->steps++;
  }
  return count;
}

gboolean
dccp_history_have_common (DccpHistory * history, const DccpHistory * other,
    guint64 first, gint64 n)
{
  gint64 size;

  clip (history, &first, &n);
  clip (other, &first, &n);
  for (; n > 0; n -= size, first = dccp_sequence_add (first, size)) {
    history->steps++;
    if (*find (history, first) & *find ((DccpHistory *) other, first)
        & mask_run (first, n, &size))
      return TRUE;
  }
  return FALSE;
}

gint64
dccp_history_add_run (DccpHistory * history, const DccpHistory * from,
    guint64 first, gint64 n, guint64 * lowest, guint64 * highest)
{
  gint64 size, count = 0;

  clip (from, &first, &n);
  if (n <= 0)
    return 0;
  advance (history, dccp_sequence_add (first, n - 1));
  clip (history, &first, &n);
  for (; n > 0; n -= size, first = dccp_sequence_add (first, size)) {
    const guint64 start = dccp_sequence_add (first,
        -(gint64) (first % 64));
    const guint64 bits = *find ((DccpHistory *) from, first)
        & ~*find (history, first) & mask_run (first, n, &size);

    history->steps++;
    if (bits == 0)
      continue;
    *find (history, first) |= bits;
    if (count == 0)
      *lowest = dccp_sequence_add (start, __builtin_ctzll (bits));
    *highest = dccp_sequence_add (start, 63 - __builtin_clzll (bits));
    count += __builtin_popcountll (bits);
  }
  return count;
}
