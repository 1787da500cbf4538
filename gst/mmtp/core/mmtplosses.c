/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtplosses.h: detects the lost messages of a path. */

#include "mmtplosses.h"

#include <string.h>

/* Number of messages with higher numbers that must arrive before a missing
 * message counts as lost. It is the same number as in TCP (three duplicate
 * acknowledgements; RFC 5681, section 3.2) and in QUIC (kPacketThreshold; RFC
 * 9002, section 6.1.1). */
#define REORDERED_MESSAGES 3
/* If this number of messages in a row has arrived in order, the path is known
 * to keep the order of messages. From then on, a missing message immediately
 * counts as lost. Likewise, RFC 8985, section 6.2, uses no reordering window
 * until it has seen reordering. */
#define ORDERLY_MESSAGES 64
/* Maximum number of messages in a range of lost messages, because a report
 * stores this number in 8 bits. */
#define MAX_RANGE 255

void
mmtp_losses_init (MmtpLosses * losses)
{
  memset (losses, 0, sizeof (*losses));
}

static void
remove_at (MmtpLossRange * ranges, guint * n, guint i)
{
  (*n)--;
  memmove (&ranges[i], &ranges[i + 1], (*n - i) * sizeof (*ranges));
}

static void
insert_at (MmtpLossRange * ranges, guint * n, guint i,
    const MmtpLossRange * range)
{
  memmove (&ranges[i + 1], &ranges[i], (*n - i) * sizeof (*ranges));
  ranges[i] = *range;
  (*n)++;
}

static void
drop_range (MmtpLosses * losses, guint i)
{
  if (losses->ranges[i].reported == 0)
    losses->n_unreported--;
  remove_at (losses->ranges, &losses->n_ranges, i);
}

static void
keep_range (MmtpLosses * losses, guint i, const MmtpLossRange * range)
{
  if (losses->n_ranges == MMTP_LOSSES_KEPT) {
    if (i == 0)
      return;
    drop_range (losses, 0);
    i--;
  }
  insert_at (losses->ranges, &losses->n_ranges, i, range);
  if (range->reported == 0)
    losses->n_unreported++;
}

/* Declares the oldest range of missing messages lost. The range is removed from
 * `pending`, the missing ranges, and added to `ranges`, the lost ranges. If the
 * range has more messages than `ranges` can hold, only its last messages are
 * kept, because they have the most time left for a retransmission. */
static void
give_up_oldest (MmtpLosses * losses)
{
  MmtpLossRange range = losses->pending[0], piece;
  const guint64 max = (guint64) MMTP_LOSSES_KEPT * MAX_RANGE;

  remove_at (losses->pending, &losses->n_pending, 0);
  losses->lost += range.count;
  if (range.count > max) {
    range.first += range.count - max;
    range.count = max;
  }
  for (piece = range; range.count > 0; range.count -= piece.count) {
    piece.first = range.first;
    piece.count = MIN (range.count, MAX_RANGE);
    keep_range (losses, losses->n_ranges, &piece);
    range.first += piece.count;
  }
}

static gboolean
keeps_order (const MmtpLosses * losses)
{
  return losses->n_orderly >= ORDERLY_MESSAGES;
}

void
mmtp_losses_timeout (MmtpLosses * losses, guint64 now, guint64 tolerance)
{
  while (losses->n_pending > 0 && losses->pending[0].found + tolerance <= now)
    give_up_oldest (losses);
}

guint64
mmtp_losses_next_wakeup (const MmtpLosses * losses, guint64 tolerance)
{
  return losses->n_pending > 0 ? losses->pending[0].found + tolerance :
      MMTP_NEVER;
}

/* Called when the message `number` arrives late. If one of the `n` ranges
 * contains this number, the function splits the range into two: the range
 * itself keeps the messages below `number`, and `rest` receives the messages
 * above it. `at` is set to the index of the range. Returns FALSE if no range
 * contains `number`. */
static gboolean
take_out (MmtpLossRange * ranges, guint n, guint64 number, guint * at,
    MmtpLossRange * rest)
{
  guint i;

  for (i = n; i > 0; i--) {
    MmtpLossRange *range = &ranges[i - 1];

    if (number < range->first || number - range->first >= range->count)
      continue;
    *rest = *range;
    rest->first = number + 1;
    rest->count = range->first + range->count - rest->first;
    range->count = number - range->first;
    *at = i - 1;
    return TRUE;
  }
  return FALSE;
}

static void
fill_pending (MmtpLosses * losses, guint64 number)
{
  MmtpLossRange rest;
  guint i;

  if (!take_out (losses->pending, losses->n_pending, number, &i, &rest))
    return;
  if (losses->pending[i].count == 0)
    remove_at (losses->pending, &losses->n_pending, i--);
  if (rest.count == 0)
    return;
  if (losses->n_pending == MMTP_LOSSES_PENDING) {
    give_up_oldest (losses);
    i--;
  }
  insert_at (losses->pending, &losses->n_pending, i + 1, &rest);
}

static void
fill_lost (MmtpLosses * losses, guint64 number)
{
  MmtpLossRange rest;
  guint i;

  if (!take_out (losses->ranges, losses->n_ranges, number, &i, &rest))
    return;
  if (losses->ranges[i].count == 0)
    drop_range (losses, i--);
  if (rest.count > 0)
    keep_range (losses, i + 1, &rest);
}

static void
raise_highest (MmtpLosses * losses, guint64 now, guint64 number,
    guint64 repair_until)
{
  MmtpLossRange gap = { losses->highest + 1, number - losses->highest - 1, now,
    ++losses->n_raised, repair_until, 0, 0
  };

  losses->highest = number;
  if (gap.count > 0) {
    if (losses->n_pending == MMTP_LOSSES_PENDING)
      give_up_oldest (losses);
    insert_at (losses->pending, &losses->n_pending, losses->n_pending, &gap);
  }
  losses->n_orderly++;
  while (losses->n_pending > 0 && (keeps_order (losses) ||
          losses->n_raised - losses->pending[0].order >=
          REORDERED_MESSAGES - 1))
    give_up_oldest (losses);
}

void
mmtp_losses_add (MmtpLosses * losses, guint64 now, guint64 number,
    guint64 tolerance, guint64 repair_until)
{
  if (!losses->any) {
    losses->any = TRUE;
    losses->highest = number;
    return;
  }
  if (number > losses->highest) {
    raise_highest (losses, now, number, repair_until);
  } else {
    losses->n_orderly = 0;
    fill_pending (losses, number);
    fill_lost (losses, number);
  }
  mmtp_losses_timeout (losses, now, tolerance);
}

static void
forget_expired (MmtpLosses * losses, guint64 now)
{
  guint i;

  for (i = losses->n_ranges; i > 0; i--)
    if (losses->ranges[i - 1].repair_until <= now)
      drop_range (losses, i - 1);
}

/* Returns the range of lost messages that was contained in the fewest REPORTs.
 * Ranges that are already in the current REPORT are not considered. Returns
 * NULL if all ranges are already in the current REPORT. */
static MmtpLossRange *
find_min_reported (MmtpLosses * losses)
{
  MmtpLossRange *best = NULL;
  guint i;

  for (i = 0; i < losses->n_ranges; i++) {
    MmtpLossRange *range = &losses->ranges[i];

    if (range->report != losses->n_reports
        && (!best || range->reported < best->reported))
      best = range;
  }
  return best;
}

guint
mmtp_losses_report (MmtpLosses * losses, guint64 now, gboolean is_counted,
    MmtpRange * ranges, guint room)
{
  MmtpLossRange *range;
  guint n;

  forget_expired (losses, now);
  losses->n_reports++;
  for (n = 0; n < room && (range = find_min_reported (losses)); n++) {
    ranges[n].first = range->first & G_MAXUINT16;
    ranges[n].count = range->count;
    range->report = losses->n_reports;
    if (!is_counted)
      continue;
    if (range->reported++ == 0)
      losses->n_unreported--;
  }
  return n;
}
