/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replaces timestamps that stand still. A muxer whose video has ended may
 * repeat its last timestamp while other buffers still come, and a deadline that
 * follows the timestamp would discard all of them. Once a timestamp has stood
 * still for longer than a limit, the time at which a buffer comes counts in its
 * place. Times only replace earlier ones, and never go back.
 *
 * Only time in which the caller waited for a buffer counts. So the parts of a
 * long frame, which share a timestamp and wait for a slow channel, keep it.
 */

#pragma once

#include <glib.h>

typedef struct
{
  gboolean is_known;            /* there was a timestamp */
  gint64 stamp;                 /* ns, the last one */
  gint64 stood;                 /* ns that it has stood still */
  gboolean is_idle;             /* the caller waits for a buffer */
  gint64 idle_since;            /* ns, while is_idle */
  gint64 latest;                /* ns, the last time that replaced a timestamp;
                                 * G_MININT64: none did */
} MmtpStamps;

void mmtp_stamps_clear (MmtpStamps * stamps);
/* The caller has passed on all buffers that it had, and waits for others */
void mmtp_stamps_begin_idle (MmtpStamps * stamps, gint64 now);
/* Buffers have come. Without begin_idle before, it does nothing. */
void mmtp_stamps_end_idle (MmtpStamps * stamps, gint64 now);
/* The time that counts for the next buffer, which has this timestamp; `limit`:
 * ns that a timestamp may stand still */
gint64 mmtp_stamps_take (MmtpStamps * stamps, gint64 now, gint64 stamp,
    gint64 limit);
