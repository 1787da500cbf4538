/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The timeline determines four things for each frame of MPEG video: its number
 * in transport order, its number in display order, its PTS and DTS, and which
 * frames before it were lost. It does no I/O.
 *
 * The timeline learns the GOP pattern. The pattern consists of the distance
 * between I-frames and of the sequence of frame types between them. A frame
 * counts as lost if it has not arrived and if only frames with higher display
 * numbers can still arrive. The timeline also determines the type of the lost
 * frame, even if the GOP header or whole GOPs are lost.
 *
 * To find the display number of a frame, the timeline uses four sources in this
 * order: the sender's media clock (RTP timestamps), upstream's PTS, the GOP
 * time codes, and the learned pattern. A source is used as long as it agrees
 * with the temporal references.
 *
 * A gap of more than ten seconds in a clock or a time code is treated as the
 * start of a new stream. A single forged packet can therefore not do much harm.
 * The limit of ten seconds also bounds the processing time per received frame
 * and the number of losses that one received frame can show.
 *
 * If the first received frame is not the first frame of its GOP, the earlier
 * frames of this GOP count as lost. Frames that are missing after the last
 * received frame cannot be detected. */

#pragma once

#include "mpegvideoframer.h"

typedef struct
{
  /* Sequence number of the frame in transport order. Lost frames also have
   * numbers. */
  gint64 coding_number;
  /* Sequence number of the frame in display order. Lost frames also have
   * numbers. */
  gint64 display_number;
  /* DTS in ns that the timeline has computed. It does not depend on timestamps
   * from upstream. The first frame has the DTS 0. */
  guint64 expected;
  /* PTS and DTS of the frame in ns. A timestamp from upstream is used if there
   * is one; otherwise the timestamp is computed. */
  guint64 pts, dts;
  /* time in ns for which the frame is displayed, including its repeated fields
   */
  guint64 duration;
  /* computed PTS in 1/90000 s, relative to the start of the stream; timestamps
   * from upstream are not used for it */
  guint64 pts_90khz;
  /* display number of the first displayed picture of the frame's GOP (the
   * picture with the temporal reference 0) */
  gint64 gop_display_number;
  /* PTS in 1/90000 s of the first displayed picture of the frame's GOP (the
   * picture with the temporal reference 0) */
  guint64 gop_pts_90khz;
  /* TRUE if the frame is the first received frame of its GOP */
  gboolean new_gop;
} MpegVideoPosition;

/* Maximum length, in frames, of a gap (consecutive lost frames) whose frames
 * are reported separately. A longer gap is reported as one range. */
#define MPEG_VIDEO_MAX_SINGLE_LOSSES 64

/* A lost frame, or a range of lost frames */
typedef struct
{
  /* type (I, P or B) of the lost frames; UNKNOWN if the type could not be
   * determined, or if the frames of the range have different types */
  MpegVideoPictureType type;
  gint64 display_number;        /* display number of the first lost frame */
  /* number of lost frames; their display numbers are consecutive */
  guint frames;
  /* number of lost frames of each type; the index is the type */
  guint64 by_type[MPEG_VIDEO_PICTURE_LAST];
} MpegVideoLoss;

typedef struct _MpegVideoTimeline MpegVideoTimeline;

MpegVideoTimeline *mpeg_video_timeline_new (void);
void mpeg_video_timeline_free (MpegVideoTimeline * timeline);
void mpeg_video_timeline_reset (MpegVideoTimeline * timeline);

/* Passes a received frame to the timeline, and fills `position` with the
 * numbers and timestamps of the frame. `media_time` is the presentation time of
 * the frame in ns according to the sender's clock, or MPEG_VIDEO_TIME_NONE if
 * it is unknown. */
void mpeg_video_timeline_input (MpegVideoTimeline * timeline,
    const MpegVideoFrame * frame, guint64 media_time,
    MpegVideoPosition * position);
/* Call this function at the end of the stream. Lost frames whose type is not
 * known yet are then reported with their most probable type. */
void mpeg_video_timeline_drain (MpegVideoTimeline * timeline);
/* Stores the next lost frame, or the next range of lost frames, in `loss`. The
 * losses are returned in display order. Returns FALSE, and does not change
 * `loss`, if there is no loss to report. */
gboolean mpeg_video_timeline_poll_loss (MpegVideoTimeline * timeline,
    MpegVideoLoss * loss);
