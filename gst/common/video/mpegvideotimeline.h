/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The timeline: where each frame stands in transport and in display order,
 * which frames before it never came, and its PTS and DTS. A core.
 *
 * It learns the GOP pattern (distance of I-frames, type at each place) and
 * counts a frame as lost, with its type, once no frame that may still come can
 * fill its place: also when the lost frame carried the GOP header, and when
 * whole GOPs are gone. For the place it trusts, in this order and each only
 * while it agrees with the temporal references: the sender's media clock
 * (RTP timestamps), upstream's PTS, the GOP time codes, the learned pattern.
 *
 * No clock and no time code is believed about a gap of more than ten seconds,
 * so that one forged packet costs little: such a gap is a new beginning. The
 * work of one frame, and the losses that it shows, are bounded by that.
 *
 * Frames that came before the first one received count as lost back to the
 * start of its GOP; what is missing after the last one received can't be known.
 */

#pragma once

#include "mpegvideoframer.h"

typedef struct
{
  gint64 coding_number;         /* in transport order, lost ones counted */
  gint64 display_number;        /* in display order */
  guint64 expected;             /* ns: transport time since the first frame */
  guint64 pts, dts;             /* ns: upstream's, or computed */
  guint64 duration;             /* ns: fields that it is shown */
  guint64 pts_90khz;            /* computed PTS since the stream's start */
  gint64 gop_display_number;    /* of the GOP's temporal reference 0 */
  guint64 gop_pts_90khz;        /* of the same */
  gboolean new_gop;             /* first frame received of its GOP */
} MpegVideoPosition;

/* A gap of more frames than this is reported as one range. */
#define MPEG_VIDEO_MAX_SINGLE_LOSSES 64

/* A frame that never came, or a range of them */
typedef struct
{
  MpegVideoPictureType type;    /* UNKNOWN where no pattern tells, and where
                                 * the frames of a range differ */
  gint64 display_number;        /* of the first */
  guint frames;                 /* in a row, in display order */
  guint64 by_type[MPEG_VIDEO_PICTURE_LAST];     /* how many are of each */
} MpegVideoLoss;

typedef struct _MpegVideoTimeline MpegVideoTimeline;

MpegVideoTimeline *mpeg_video_timeline_new (void);
void mpeg_video_timeline_free (MpegVideoTimeline * timeline);
void mpeg_video_timeline_reset (MpegVideoTimeline * timeline);

/* A frame arrived. media_time: its presentation time (ns) on the sender's
 * clock, or MPEG_VIDEO_TIME_NONE. */
void mpeg_video_timeline_input (MpegVideoTimeline * timeline,
    const MpegVideoFrame * frame, guint64 media_time,
    MpegVideoPosition * position);
/* The stream has ended: losses that waited for the pattern get the best type
 * that can be said. */
void mpeg_video_timeline_drain (MpegVideoTimeline * timeline);
/* The next frame now known to be lost, in display order, or FALSE */
gboolean mpeg_video_timeline_poll_loss (MpegVideoTimeline * timeline,
    MpegVideoLoss * loss);
