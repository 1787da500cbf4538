/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides when the encoder is asked for a key frame: after a loss, and as soon as it is
 * certain that what waits at the sender comes too late. In the second case a key
 * frame that is made now is in time, because the sender gives up the late frames
 * before it; after the first of them is given up it would be later by as much.
 *
 *   bitrate_key_frames_init (&key_frames);
 *   bitrate_key_frames_input (&key_frames, &report, latency, bitrate);
 *   if (bitrate_key_frames_poll (&key_frames, now))
 *     ask the encoder
 */

#pragma once

#include "bitraterule.h"

typedef struct
{
  guint64 asked_at;             /* ns; 0: never */
  guint64 retry_interval;       /* ns, after a key frame that was lost */
  gboolean is_wanted;
  gboolean is_key_frame_lost;   /* that was asked for */
  gdouble estimate;             /* the last one */
  guint64 fell_at;              /* ns: since then the estimate has not fallen */
  guint64 requested;            /* counter */
} BitrateKeyFrames;

void bitrate_key_frames_init (BitrateKeyFrames * self);
/* `latency`: ns from capture to display; 0: unknown. `bitrate`: of the encoder */
void bitrate_key_frames_input (BitrateKeyFrames * self,
    const BitrateReport * report, guint64 latency, guint64 bitrate);
/* A frame was lost or given up that others need */
void bitrate_key_frames_note_loss (BitrateKeyFrames * self,
    gboolean is_key_frame);
/* TRUE: ask for one now. It counts as done. */
gboolean bitrate_key_frames_poll (BitrateKeyFrames * self, guint64 now);
/* Whether one is under way that was asked for: a request of somebody else's is of no
 * use then. */
gboolean bitrate_key_frames_is_coming (const BitrateKeyFrames * self,
    guint64 now);
