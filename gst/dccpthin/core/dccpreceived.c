/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpreceived.h: finds duplicates and missing data. */

#include "dccpreceived.h"

void
dccp_received_begin (DccpReceived * received, guint64 sequence)
{
  received->delivered = sequence;
}

gboolean
dccp_received_add (DccpReceived * received, guint64 sequence)
{
  return !dccp_history_get (&received->packets, sequence)
      && dccp_history_set (&received->packets, sequence);
}

/* Returns whether packets with data seem to be missing directly before the
 * packet `sequence`, the new packet. The function examines the packets between
 * the new packet and the last packet whose data were delivered. The option NDP
 * Count of the new packet says how many packets directly before it had no data
 * (RFC 4340 section 7.7). These packets do not count as missing. The result is
 * TRUE if one of the other examined packets has not arrived. */
static gboolean
is_gap_before (DccpReceived * received, guint64 sequence, guint64 ndp)
{
  const gint64 n = dccp_sequence_difference (sequence, received->delivered);
  gint64 between;

  if (n <= 0 || n > DCCP_HISTORY_SIZE)
    return TRUE;
  between = MAX (n - 1 - (gint64) MIN (ndp, DCCP_HISTORY_SIZE), 0);
  return dccp_history_count (&received->packets,
      dccp_sequence_add (received->delivered, 1), between) < between;
}

gboolean
dccp_received_deliver (DccpReceived * received, guint64 sequence, guint64 ndp)
{
  const gboolean is_gap = is_gap_before (received, sequence, ndp);

  if (dccp_sequence_difference (sequence, received->delivered) > 0)
    received->delivered = sequence;
  return is_gap;
}
