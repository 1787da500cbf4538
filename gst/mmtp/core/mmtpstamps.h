/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replaces timestamps that do not change any more. After the end of the video,
 * a muxer may repeat its last timestamp in all further buffers. All of these
 * buffers would be dropped as late. If the timestamp has not changed for longer
 * than a limit, a buffer gets its arrival time instead of its timestamp. A
 * timestamp that is later than the arrival time is not replaced. After a buffer
 * has got its arrival time, no later buffer gets an earlier time.
 *
 * Only the time in which the caller waits for a new buffer counts towards the
 * limit. The buffers of a long frame all have the same timestamp. If a path is
 * slow, these buffers wait for the path. This waiting time does not count, so
 * the buffers keep their timestamp.
 */

#pragma once

#include <glib.h>

typedef struct
{
  gboolean is_known;            /* There was a timestamp. */
  gint64 stamp;                 /* last timestamp, in ns */
  /* Time in ns that the caller has spent waiting for buffers since the
   * timestamp last changed. */
  gint64 stood;
  /* TRUE while the caller waits for a new buffer */
  gboolean is_idle;
  /* time in ns at which the caller began to wait; valid only while is_idle is
   * TRUE */
  gint64 idle_since;
  /* Arrival time in ns of the last buffer whose timestamp was replaced by its
   * arrival time. G_MININT64 if no timestamp was replaced yet. */
  gint64 latest;
} MmtpStamps;

void mmtp_stamps_clear (MmtpStamps * stamps);
/* Call this function when the caller has passed on all of its buffers and
 * begins to wait for new ones. */
void mmtp_stamps_begin_idle (MmtpStamps * stamps, gint64 now);
/* Call this function when new buffers have arrived. It ends the wait that
 * mmtp_stamps_begin_idle() began. If no wait was begun, it does nothing. */
void mmtp_stamps_end_idle (MmtpStamps * stamps, gint64 now);
/* Returns the time to use for a buffer that arrives at `now` with the timestamp
 * `stamp`. Usually, the result is `stamp`. The result is `now` instead if the
 * timestamp has not changed for more than `limit` ns and is earlier than `now`.
 * After a call has returned an arrival time, later calls do not return an
 * earlier time. */
gint64 mmtp_stamps_take (MmtpStamps * stamps, gint64 now, gint64 stamp,
    gint64 limit);
