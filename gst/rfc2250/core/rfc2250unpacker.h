/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The unpacker restores the frames of an MPEG video elementary stream from RTP
 * payloads (RFC 2250 section 3 and appendix 1). It does no I/O.
 *
 * The caller passes the packets in order. If packets are missing before a
 * packet, the caller sets the field `gap` of this packet.
 *
 * To find the beginning of a frame, the unpacker looks for headers in the video
 * data of the payload. It therefore also supports senders that set all bits of
 * the video-specific header to zero. It passes the payloads of such a sender to
 * an MpegVideoFramer, which divides the video into frames.
 */

#pragma once

#include "mpegvideoframer.h"
#include "rfc2250header.h"

typedef enum
{
  RFC2250_ON_LOSS_DROP_FRAME,   /* output complete frames only */
  /* Output all complete frames. If a frame is incomplete, output its complete
   * slices that follow a picture header. */
  RFC2250_ON_LOSS_CONCEAL,
  RFC2250_ON_LOSS_PASS          /* output all data that arrived */
} Rfc2250OnLoss;

typedef struct
{
  /* payload, beginning with the video-specific header */
  const guint8 *data;
  gsize size;
  gboolean marker;
  /* TRUE if packets before this packet are missing */
  gboolean gap;
  guint64 rtptime;              /* extended RTP timestamp */
  /* PTS of the packet in ns, or MPEG_VIDEO_TIME_NONE if unknown. A frame gets
   * the PTS of its first packet. */
  guint64 pts;
} Rfc2250Payload;

typedef struct
{
  /* bytes of the frame; the caller frees them with g_free () */
  guint8 *data;
  gsize size;
  /* TRUE if a part of the frame is missing in `data` */
  gboolean damaged;
  /* TRUE if the beginning of the frame is missing, so that `data` does not
   * begin with a sequence, GOP or picture header */
  gboolean headless;
  /* TRUE if `data` contains a sequence end code instead of a frame */
  gboolean end_code;
  /* extended RTP timestamp (in 1/90000 s) and PTS (in ns) of the first packet
   * of the frame */
  guint64 rtptime, pts;
} Rfc2250UnpackedFrame;

/* Counters never decrease. */
typedef struct
{
  guint64 packets;
  /* number of packets whose video-specific header is all zero, because their
   * sender does not fill it in */
  guint64 legacy_packets;
  guint64 bad_short;            /* shorter than the header requires */
  guint64 bad_mbz;              /* reserved bits are set */
  guint64 bad_extension;        /* forbidden value in the MPEG-2 extension */
  /* number of packets that have no video data after their video-specific header
   */
  guint64 empty;
  guint64 frames;               /* complete frames that were output */
  guint64 frames_damaged;       /* incomplete frames that were output */
  guint64 frames_dropped;       /* frames that were not output */
  /* number of frames that were dropped because they exceeded max_frame_size */
  guint64 too_big;
  guint64 pictures_rebuilt;     /* restored picture headers */
  guint64 gops_rebuilt;         /* restored GOP headers */
  /* number of slices that were dropped because a part of the slice was missing
   */
  guint64 slices_dropped;
} Rfc2250UnpackerStats;

typedef struct _Rfc2250Unpacker Rfc2250Unpacker;

Rfc2250Unpacker *rfc2250_unpacker_new (void);
void rfc2250_unpacker_free (Rfc2250Unpacker * unpacker);
/* Resets the unpacker before a new stream. Its configuration and its counters
 * are kept. */
void rfc2250_unpacker_reset (Rfc2250Unpacker * unpacker);
void rfc2250_unpacker_set_config (Rfc2250Unpacker * unpacker,
    Rfc2250OnLoss on_loss, gsize max_frame_size);

/* Returns whether the data are a valid payload of RFC 2250. If not, increments
 * the counter for the reason. rfc2250_unpacker_input () makes the same check.
 * Call this function if the packet must be checked earlier, for example before
 * its sequence number is used. */
gboolean rfc2250_unpacker_check (Rfc2250Unpacker * unpacker,
    const guint8 * data, gsize size);
void rfc2250_unpacker_input (Rfc2250Unpacker * unpacker,
    const Rfc2250Payload * payload);
/* Call this function at the end of the stream. It completes the last frame. */
void rfc2250_unpacker_drain (Rfc2250Unpacker * unpacker);
gboolean rfc2250_unpacker_poll_output (Rfc2250Unpacker * unpacker,
    Rfc2250UnpackedFrame * frame);
void rfc2250_unpacker_get_stats (const Rfc2250Unpacker * unpacker,
    Rfc2250UnpackerStats * stats);
