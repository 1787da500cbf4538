/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replaces timestamps that stand still. A muxer whose video has ended may
 * repeat its last timestamp while other buffers still come, and all of them
 * would be dropped as late. Once a timestamp has stood still for longer than a
 * limit, the arrival time of a buffer is used instead. That time only replaces
 * an earlier timestamp, and the result never goes back.
 *
 * Only the time in which the caller waits for buffers counts as standing still.
 * The parts of a long frame, which share a timestamp and wait for a slow
 * path, therefore keep their timestamp.
 */

#pragma once

#include <glib.h>

typedef struct
{
  gboolean is_known;            /* There was a timestamp. */
  gint64 stamp;                 /* last timestamp, in ns */
  gint64 stood;                 /* time for which it has stood still, in ns */
  gboolean is_idle;             /* The caller is waiting for a buffer. */
  /* begin of the waiting time, in ns; valid while is_idle */
  gint64 idle_since;
  /* Last time that replaced a timestamp, in ns; G_MININT64 if there was none.
   */
  gint64 latest;
} MmtpStamps;

void mmtp_stamps_clear (MmtpStamps * stamps);
/* The caller has passed on all of its buffers and waits for new ones. */
void mmtp_stamps_begin_idle (MmtpStamps * stamps, gint64 now);
/* New buffers have come. Does nothing without mmtp_stamps_begin_idle() before.
 */
void mmtp_stamps_end_idle (MmtpStamps * stamps, gint64 now);
/* Returns the time to use for the next buffer, which has the timestamp `stamp`.
 * `limit` is the time in ns for which a timestamp may stand still. */
gint64 mmtp_stamps_take (MmtpStamps * stamps, gint64 now, gint64 stamp,
    gint64 limit);
