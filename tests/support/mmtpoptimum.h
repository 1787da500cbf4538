/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many packets of a periodic stream an ideal scheduler brings in time over
 * known channels: what MMTP is measured by. It shares nothing with MMTP.
 *
 * A channel of `seconds` to a packet can begin one transmission every so many
 * seconds; one that begins at t can carry what was generated between
 * t + seconds + delay - limit and t. Which packets can be carried at most is
 * then a matching of points to intervals, and the greedy one is exact: each
 * packet, in the order of generation, takes of the transmissions that it may
 * take the one that ends its chances first (Glover 1967). A transmission that
 * begins later serves later packets, so that is the earliest deadline first.
 * The channels begin with the first packets, one each, in the order in which
 * that brings more.
 */

#ifndef __MMTP_IDEAL_H__
#define __MMTP_IDEAL_H__

#include <glib.h>

typedef struct
{
  gdouble seconds;              /* on the air, of one packet */
  gdouble delay;                /* behind it */
} MmtpIdealChannel;

typedef struct
{
  gdouble from, to;             /* generation of what it can carry */
} MmtpIdealSlot;

/* All slots of a channel that can serve anything, by time, the first at
 * `begin` */
static inline GArray *
mmtp_ideal_make_slots (const MmtpIdealChannel * channel, gdouble begin,
    gdouble last, gdouble limit)
{
  GArray *slots = g_array_new (FALSE, FALSE, sizeof (MmtpIdealSlot));
  gdouble reach = limit - channel->seconds - channel->delay;
  guint i;

  for (i = 0; reach >= 0; i++) {
    gdouble time = begin + i * channel->seconds;
    MmtpIdealSlot slot = { time - reach, time };

    /* nothing that is generated is as late as this one would serve */
    if (slot.from > last)
      break;
    g_array_append_val (slots, slot);
  }
  return slots;
}

/* The slot that can serve what is generated at `time` and ends its chances
 * first, or -1; slots whose chances are over are left behind */
static inline gint
mmtp_ideal_choose (GArray ** slots, guint * next, guint n_channels,
    gdouble time)
{
  const gdouble tiny = 1e-9;
  gdouble best_to = 0;
  gint best = -1;
  guint c;

  for (c = 0; c < n_channels; c++) {
    MmtpIdealSlot *all = (MmtpIdealSlot *) slots[c]->data;
    const MmtpIdealSlot *slot;

    while (next[c] < slots[c]->len && all[next[c]].to < time - tiny)
      next[c]++;
    if (next[c] == slots[c]->len)
      continue;
    slot = &all[next[c]];
    if (slot->from <= time + tiny && (best < 0 || slot->to < best_to)) {
      best = c;
      best_to = slot->to;
    }
  }
  return best;
}

static inline guint
mmtp_ideal_count_in_order (const MmtpIdealChannel * channels,
    guint n_channels, gboolean backwards, guint n, gdouble period,
    gdouble limit)
{
  GArray **slots = g_new (GArray *, n_channels);
  guint *next = g_new0 (guint, n_channels);
  guint i, c, carried = 0;

  for (c = 0; c < n_channels; c++) {
    guint place = backwards ? n_channels - 1 - c : c;

    slots[c] = mmtp_ideal_make_slots (&channels[c], place * period,
        (n - 1) * period, limit);
  }
  for (i = 0; i < n; i++) {
    gint best = mmtp_ideal_choose (slots, next, n_channels, i * period);

    if (best < 0)
      continue;
    next[best]++;
    carried++;
  }
  for (c = 0; c < n_channels; c++)
    g_array_unref (slots[c]);
  g_free (slots);
  g_free (next);
  return carried;
}

/* n packets, one each `period` seconds, within `limit` seconds */
static inline guint
mmtp_ideal_count (const MmtpIdealChannel * channels, guint n_channels,
    guint n, gdouble period, gdouble limit)
{
  guint forwards = mmtp_ideal_count_in_order (channels, n_channels, FALSE, n,
      period, limit);
  guint backwards = mmtp_ideal_count_in_order (channels, n_channels, TRUE, n,
      period, limit);

  return MAX (forwards, backwards);
}

#endif /* __MMTP_IDEAL_H__ */
