/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpstamps.h. If the timestamps of a stream stop
 * increasing, the arrival times of the buffers replace them. */

#include "mmtpstamps.h"

void
mmtp_stamps_clear (MmtpStamps * stamps)
{
  stamps->is_known = FALSE;
  stamps->stamp = 0;
  stamps->stood = 0;
  stamps->is_idle = FALSE;
  stamps->idle_since = 0;
  stamps->latest = G_MININT64;
}

void
mmtp_stamps_begin_idle (MmtpStamps * stamps, gint64 now)
{
  stamps->is_idle = TRUE;
  stamps->idle_since = now;
}

void
mmtp_stamps_end_idle (MmtpStamps * stamps, gint64 now)
{
  if (stamps->is_idle)
    stamps->stood += MAX (0, now - stamps->idle_since);
  stamps->is_idle = FALSE;
}

gint64
mmtp_stamps_take (MmtpStamps * stamps, gint64 now, gint64 stamp, gint64 limit)
{
  if (!stamps->is_known || stamp != stamps->stamp)
    stamps->stood = 0;
  stamps->is_known = TRUE;
  stamps->stamp = stamp;
  if (stamps->stood > limit && now > stamp)
    stamps->latest = MAX (stamps->latest, now);
  return MAX (stamp, stamps->latest);
}
