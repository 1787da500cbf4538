/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The timeline determines four things for each frame: its position in transport
 * order, its position in display order, its PTS and DTS, and which frames
 * before it were lost. It does no I/O.
 *
 * The timeline learns the GOP pattern, which is the distance of I-frames and
 * the frame type at each position. If no frame has arrived for a position, and
 * no later frame can have this position, the frame at this position counts as
 * lost. The timeline also determines the type of the lost frame, even if the
 * GOP header or whole GOPs are lost.
 *
 * To find the position of a frame, the timeline uses four sources in this
 * order: the sender's media clock (RTP timestamps), upstream's PTS, the GOP
 * time codes, and the learned pattern. A source is used as long as it agrees
 * with the temporal references.
 *
 * A gap of more than ten seconds in a clock or a time code is treated as the
 * start of a new stream, so that a single forged packet cannot do much harm.
 * The limit of ten seconds also bounds the processing time per received frame
 * and the number of losses that are detected for this frame.
 *
 * If the first received frame is not the first frame of its GOP, the earlier
 * frames of this GOP count as lost. Frames that are missing after the last
 * received frame cannot be detected.
 */

#pragma once

#include "mpegvideoframer.h"

typedef struct
{
  /* number of the frame in transport order; lost frames are counted, too */
  gint64 coding_number;
  /* number of the frame in display order; lost frames are counted, too */
  gint64 display_number;
  /* DTS that the timeline has computed, relative to the first frame, in ns */
  guint64 expected;
  /* PTS and DTS in ns, from upstream or computed */
  guint64 pts, dts;
  /* duration in ns for which the fields of the frame are displayed */
  guint64 duration;
  /* PTS that the timeline has computed, relative to the start of the stream, in
   * 1/90000 s */
  guint64 pts_90khz;
  /* display number of the picture with temporal reference 0 of this GOP */
  gint64 gop_display_number;
  /* PTS of the picture with temporal reference 0 of this GOP, in 1/90000 s */
  guint64 gop_pts_90khz;
  /* TRUE for the first received frame of its GOP */
  gboolean new_gop;
} MpegVideoPosition;

/* Maximum length in frames of a gap whose frames are reported one by one. A
 * longer gap is reported as one range. */
#define MPEG_VIDEO_MAX_SINGLE_LOSSES 64

/* A lost frame, or a range of lost frames */
typedef struct
{
  /* type of the lost frames; UNKNOWN if the GOP pattern is not known, or if the
   * lost frames have different types */
  MpegVideoPictureType type;
  gint64 display_number;        /* display number of the first lost frame */
  /* number of consecutive lost frames in display order */
  guint frames;
  /* number of lost frames of each type */
  guint64 by_type[MPEG_VIDEO_PICTURE_LAST];
} MpegVideoLoss;

typedef struct _MpegVideoTimeline MpegVideoTimeline;

MpegVideoTimeline *mpeg_video_timeline_new (void);
void mpeg_video_timeline_free (MpegVideoTimeline * timeline);
void mpeg_video_timeline_reset (MpegVideoTimeline * timeline);

/* Passes a received frame to the timeline and fills `position`. `media_time` is
 * the presentation time on the sender's clock in ns, or MPEG_VIDEO_TIME_NONE.
 */
void mpeg_video_timeline_input (MpegVideoTimeline * timeline,
    const MpegVideoFrame * frame, guint64 media_time,
    MpegVideoPosition * position);
/* Call this function at the end of the stream. Losses whose type is not known
 * yet are now reported with their most probable type. */
void mpeg_video_timeline_drain (MpegVideoTimeline * timeline);
/* Stores the next lost frame, or the next range of lost frames, in `loss`. The
 * losses are returned in display order. Returns FALSE if there is none. */
gboolean mpeg_video_timeline_poll_loss (MpegVideoTimeline * timeline,
    MpegVideoLoss * loss);
