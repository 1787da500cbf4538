/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replaces timestamps that stand still, which means that they do not increase
 * any more. After the end of the video, a muxer may repeat its last timestamp
 * in all further buffers, and all of these buffers would be dropped as late.
 * When a timestamp has stood still for longer than a limit, the arrival time of
 * a buffer is used instead. The arrival time replaces only an earlier
 * timestamp, and the resulting times never decrease.
 *
 * The limit applies to the time for which the caller waits for buffers. The
 * parts of a long frame have the same timestamp, and they may have to wait for
 * a slow path. The caller does not wait for buffers in that time, so these
 * parts keep their timestamp.
 */

#pragma once

#include <glib.h>

typedef struct
{
  gboolean is_known;            /* There was a timestamp. */
  gint64 stamp;                 /* last timestamp, in ns */
  /* Time in ns for which the timestamp has stood still. Only time in which the
   * caller waits for buffers is counted. */
  gint64 stood;
  gboolean is_idle;             /* TRUE while the caller waits for a buffer */
  /* time in ns at which the caller began to wait; valid only while is_idle is
   * TRUE */
  gint64 idle_since;
  /* last arrival time that replaced a timestamp, in ns; G_MININT64 if there was
   * none
   */
  gint64 latest;
} MmtpStamps;

void mmtp_stamps_clear (MmtpStamps * stamps);
/* Notes that the caller has passed on all of its buffers and waits for new
 * ones. */
void mmtp_stamps_begin_idle (MmtpStamps * stamps, gint64 now);
/* Notes that new buffers have arrived. Does nothing if mmtp_stamps_begin_idle()
 * was not called before.
 */
void mmtp_stamps_end_idle (MmtpStamps * stamps, gint64 now);
/* Returns the time to use for a buffer that has the timestamp `stamp` and
 * arrives at `now`. If the timestamp has not changed for more than `limit` ns,
 * `now` replaces it. The result is never earlier than an arrival time that has
 * replaced a timestamp before. */
gint64 mmtp_stamps_take (MmtpStamps * stamps, gint64 now, gint64 stamp,
    gint64 limit);
