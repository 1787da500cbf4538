/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures a stream of MPEG video frames. The core creates one event for each
 * frame, GOP header and loss. It also computes totals over all events (Ouwens
 * 2006, sections 3.2 and 3.4). It depends on GLib only, and the caller supplies
 * all times.
 */

#pragma once

#include "mpegvideoframer.h"
#include "mpegvideotimeline.h"

typedef enum
{
  MPEGSTAT_FRAME,               /* a complete frame */
  MPEGSTAT_INCOMPLETE,          /* a frame of which a part is missing */
  MPEGSTAT_LOST,                /* consecutive lost frames */
  MPEGSTAT_GOP                  /* a GOP header */
} MpegStatKind;

/* The columns of the log, from the first to the last. The element messages have
 * fields with the same names. */
typedef enum
{
  MPEGSTAT_EVENT,
  MPEGSTAT_WALL_NS,
  MPEGSTAT_ARRIVAL_NS,
  MPEGSTAT_EXPECTED_NS,
  MPEGSTAT_LATENCY_NS,
  MPEGSTAT_TYPE,
  MPEGSTAT_TEMPORAL_REFERENCE,
  MPEGSTAT_CODING_NUMBER,
  MPEGSTAT_DISPLAY_NUMBER,
  MPEGSTAT_PTS_90KHZ,
  MPEGSTAT_SIZE_BYTES,
  MPEGSTAT_TIME_CODE,
  MPEGSTAT_CLOSED_GOP,
  MPEGSTAT_BROKEN_LINK,
  MPEGSTAT_PICTURES,
  MPEGSTAT_HASH,
  MPEGSTAT_LOST_FRAMES,
  MPEGSTAT_N_COLUMNS
} MpegStatColumn;

typedef struct
{
  MpegStatKind kind;
  /* Bit mask: bit c is set if the event has a value in column c. */
  guint32 present;

  guint64 wall, arrival;        /* in ns */
  guint64 expected;             /* in ns */
  gint64 latency;               /* in ns */
  MpegVideoPictureType type;
  guint temporal_reference;
  gint64 coding_number, display_number;
  guint64 pts_90khz;
  guint64 size;                 /* in bytes */
  MpegVideoGop gop;
  guint64 hash;
  /* only for MPEGSTAT_LOST: number of lost frames of each type */
  guint64 lost[MPEG_VIDEO_PICTURE_LAST];
} MpegStatEvent;

#define MPEGSTAT_MAX_LAYERS 8

/* The arrays, except `layers`, are indexed by the picture type
 * (MpegVideoPictureType). The numbers of frames and bytes, the bitrates, the
 * latency and the jitter are those of complete frames only. */
typedef struct
{
  guint64 frames[MPEG_VIDEO_PICTURE_LAST];
  guint64 bytes[MPEG_VIDEO_PICTURE_LAST];
  guint64 lost[MPEG_VIDEO_PICTURE_LAST];
  guint64 layers[MPEGSTAT_MAX_LAYERS];  /* frames by temporal layer */
  guint64 incomplete;
  guint64 gops;
  guint64 bitrate;              /* bitrate of the last second, in bit/s */
  /* mean bitrate from the first to the last arrival, in bit/s */
  guint64 average_bitrate;
  /* time from the first to the last arrival, in ns */
  guint64 duration;
  /* The latencies are in ns: the minimum, the median, the 95th and 99th
   * percentile, the maximum and the mean. */
  gint64 latency_min, latency_median, latency_p95, latency_p99, latency_max;
  gint64 latency_mean;
  guint64 jitter;               /* in ns */
} MpegStatTotals;

typedef struct _MpegStatCore MpegStatCore;

MpegStatCore *mpegstat_core_new (void);
void mpegstat_core_free (MpegStatCore * core);
/* Called at a flush, and before a new stream begins. Latencies are then
 * measured relative to the first frame after the call. The totals are kept. */
void mpegstat_core_restart (MpegStatCore * core);

/* Processes a frame. `arrival` is in ns since the first bytes arrived, and
 * `wall` is the time of day in ns. Fills in one event for the frame. If the
 * frame has a GOP header, the event of the GOP header comes before the event of
 * the frame. Returns the number of events. */
#define MPEGSTAT_MAX_EVENTS 2
guint mpegstat_core_input_frame (MpegStatCore * core, guint64 arrival,
    guint64 wall, const MpegVideoFrame * frame,
    const MpegVideoPosition * position, gboolean complete,
    MpegStatEvent events[MPEGSTAT_MAX_EVENTS]);
/* An access unit of H.264 or H.265, or a frame of VP8, VP9 or AV1. `size` of an
 * access unit is the size of its slices only. Its parameter sets, and the bytes
 * that separate its NAL units, may change between sender and receiver. */
typedef struct
{
  /* I, P or B. For codecs other than MPEG-1/2, I means that the unit starts a
   * GOP, B that no other frame refers to it, and P any other unit. */
  MpegVideoPictureType type;
  gint layer;                   /* temporal layer; -1 if unknown */
  /* Only for I-frames: the flags closed_gop and broken_link, as in a GOP
   * header. */
  gboolean closed, broken_link;
  gint64 coding_number, display_number;
  guint64 expected;             /* in ns */
  gboolean has_pts;
  guint64 pts_90khz;
  guint64 size;                 /* in bytes */
  gboolean has_hash;
  guint64 hash;                 /* hash of the slices of a frame */
} MpegStatUnit;

/* Processes an access unit in the same way as mpegstat_core_input_frame ()
 * processes a frame. Each I-frame also creates a GOP event. This event contains
 * only the coding number and the display number of the I-frame, and the flags
 * `closed` and `broken_link`. */
guint mpegstat_core_input_unit (MpegStatCore * core, guint64 arrival,
    guint64 wall, const MpegStatUnit * unit, gboolean complete,
    MpegStatEvent events[MPEGSTAT_MAX_EVENTS]);
/* Processes a loss of frames. `arrival` and `wall` are the time at which the
 * loss was detected. Fills in `event`, the event of the loss. */
void mpegstat_core_input_loss (MpegStatCore * core, guint64 arrival,
    guint64 wall, const MpegVideoLoss * loss, MpegStatEvent * event);
void mpegstat_core_get_totals (MpegStatCore * core, guint64 now,
    MpegStatTotals * totals);

/* Hash of a frame, by which sender and receiver recognize the same frame. It is
 * the 64-bit FNV-1a hash of two parts:
 * - the size of the slices, as 8 bytes in big-endian order. The size does not
 *   include a sequence end code.
 * - the first MPEGSTAT_HASH_BYTES bytes of the slices, or all bytes if the
 *   slices are smaller.
 * Headers before the slices are not hashed. A payloader can therefore insert a
 * sequence header without changing the hash. */
#define MPEGSTAT_HASH_BYTES 64
/* Finds the slices of a frame. Returns FALSE if there are none. */
gboolean mpegstat_find_slices (const MpegVideoFrame * frame, gsize * offset,
    gsize * size);
guint64 mpegstat_hash (const guint8 * slices, guint n, guint64 size);
void mpegstat_event_set_hash (MpegStatEvent * event, guint64 hash);
