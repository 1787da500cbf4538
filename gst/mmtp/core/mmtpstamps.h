/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replaces timestamps that stand still, which means that they do not increase
 * any more. After the end of the video, a muxer may repeat its last timestamp
 * in all further buffers, and all of these buffers would be dropped as late.
 * When a timestamp has stood still for longer than a limit, the arrival time of
 * a buffer is used instead. The arrival time replaces only an earlier
 * timestamp, and the resulting times never decrease.
 *
 * A timestamp stands still only while the caller waits for buffers. The parts
 * of a long frame have the same timestamp, and they may have to wait for a slow
 * path. They keep their timestamp, because the caller does not wait for buffers
 * in that time.
 */

#pragma once

#include <glib.h>

typedef struct
{
  gboolean is_known;            /* There was a timestamp. */
  gint64 stamp;                 /* last timestamp, in ns */
  /* for how long the timestamp has not advanced, in ns */
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
/* Returns the time to use for the next buffer, which has the timestamp `stamp`.
 * `limit` is the time in ns for which a timestamp may stand still. */
gint64 mmtp_stamps_take (MmtpStamps * stamps, gint64 now, gint64 stamp,
    gint64 limit);
