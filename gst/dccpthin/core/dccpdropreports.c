/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpdropreports.h: reads the option Data Dropped. */

#include "dccpdropreports.h"

void
dccp_drop_reports_add_sent (DccpDropReports * reports, guint64 sequence)
{
  dccp_history_set (&reports->sent_data, sequence);
}

/* Reads one run of a Data Dropped option: `run` packets with consecutive
 * sequence numbers, of which `last` is the highest. The packets are added to
 * `dropped`. Packets that had no data, and packets that were reported before,
 * are left out. The function must be called for the runs of an option in
 * descending order of their sequence numbers. */
static void
add_dropped (DccpDropReports * reports, guint64 last, guint run,
    DccpDropReport * dropped)
{
  guint64 lowest, highest;
  const gint64 n = dccp_history_add_run (&reports->reported,
      &reports->sent_data, dccp_sequence_add (last, 1 - (gint64) run), run,
      &lowest, &highest);

  if (n == 0)
    return;
  if (dropped->n == 0)
    dropped->last = highest;
  dropped->first = lowest;
  dropped->n += n;
}

guint
dccp_drop_reports_read (DccpDropReports * reports, const DccpOption * option,
    guint64 last, DccpDropReport dropped[DCCP_DROP_NONE])
{
  guint offset = 0, described = 0, run;
  DccpDropCode code;

  while (dccp_option_next_drop_block (option, &offset, &code, &run)) {
    if (code < DCCP_DROP_NONE)
      add_dropped (reports, last, run, &dropped[code]);
    last = dccp_sequence_add (last, -(gint64) run);
    described += run;
  }
  return described;
}
