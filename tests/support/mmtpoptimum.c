/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mmtpoptimum.h"

/* Returns the slots of a path, ordered by time. A slot is the time of one
 * possible transmission of a packet. The first slot begins at the time `begin`.
 * The last packet of the stream is generated at the time `last`. The list ends
 * when a slot is too late even for this packet. */
static GArray *
mmtp_optimum_make_slots (const MmtpOptimumPath * path, gdouble begin,
    gdouble last, gdouble limit)
{
  GArray *slots = g_array_new (FALSE, FALSE, sizeof (MmtpOptimumSlot));
  gdouble reach = limit - path->seconds - path->delay;
  guint i;

  for (i = 0; reach >= 0; i++) {
    gdouble time = begin + i * path->seconds;
    MmtpOptimumSlot slot = { time - reach, time };

    /* A packet in this slot would arrive too late, even if it is the last
     * packet of the stream. */
    if (slot.from > last)
      break;
    g_array_append_val (slots, slot);
  }
  return slots;
}

/* Finds a slot (a possible transmission) for a packet that is generated at
 * `time`. On each path, only the next slot that has not expired is considered.
 * If several slots can carry the packet, the one that expires first is chosen.
 * Returns the index of its path, or -1 if no slot can carry the packet. */
static gint
mmtp_optimum_choose (GArray ** slots, guint * next, guint n_paths, gdouble time)
{
  const gdouble tiny = 1e-9;
  gdouble best_to = 0;
  gint best = -1;
  guint c;

  for (c = 0; c < n_paths; c++) {
    MmtpOptimumSlot *all = (MmtpOptimumSlot *) slots[c]->data;
    const MmtpOptimumSlot *slot;

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

static guint
mmtp_optimum_count_in_order (const MmtpOptimumPath * paths,
    guint n_paths, gboolean backwards, guint n, gdouble period, gdouble limit)
{
  GArray **slots = g_new (GArray *, n_paths);
  guint *next = g_new0 (guint, n_paths);
  guint i, c, carried = 0;

  for (c = 0; c < n_paths; c++) {
    guint place = backwards ? n_paths - 1 - c : c;

    slots[c] = mmtp_optimum_make_slots (&paths[c], place * period,
        (n - 1) * period, limit);
  }
  for (i = 0; i < n; i++) {
    gint best = mmtp_optimum_choose (slots, next, n_paths, i * period);

    if (best < 0)
      continue;
    next[best]++;
    carried++;
  }
  for (c = 0; c < n_paths; c++)
    g_array_unref (slots[c]);
  g_free (slots);
  g_free (next);
  return carried;
}

guint
mmtp_optimum_count (const MmtpOptimumPath * paths, guint n_paths,
    guint n, gdouble period, gdouble limit)
{
  guint forwards = mmtp_optimum_count_in_order (paths, n_paths, FALSE, n,
      period, limit);
  guint backwards = mmtp_optimum_count_in_order (paths, n_paths, TRUE, n,
      period, limit);

  return MAX (forwards, backwards);
}
