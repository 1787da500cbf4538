/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures a stream of MPEG video frames. This code creates one event for each
 * frame, GOP header and loss. It also computes totals over all events (Ouwens
 * 2006, sections 3.2 and 3.4). The code depends on GLib only, and its caller
 * supplies all times.
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

/* The columns of the log, in their order in the log. The fields of the element
 * messages have the same names as the columns. */
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
  /* Bit mask of the columns (MpegStatColumn) in which the event has a value:
   * bit c stands for column c. */
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
  /* number of lost frames of each type; valid only if `kind` is MPEGSTAT_LOST
   */
  guint64 lost[MPEG_VIDEO_PICTURE_LAST];
} MpegStatEvent;

#define MPEGSTAT_MAX_LAYERS 8

/* Totals of a stream. The arrays, except `layers`, are indexed by the picture
 * type (MpegVideoPictureType). Only complete frames contribute to the numbers
 * of frames and bytes, the bitrates, the latencies and the jitter. */
typedef struct
{
  guint64 frames[MPEG_VIDEO_PICTURE_LAST];
  guint64 bytes[MPEG_VIDEO_PICTURE_LAST];
  guint64 lost[MPEG_VIDEO_PICTURE_LAST];
  guint64 layers[MPEGSTAT_MAX_LAYERS];  /* frames by temporal layer */
  guint64 incomplete;
  guint64 gops;
  guint64 bitrate;              /* bitrate of the last second, in bit/s */
  /* mean bitrate in bit/s from the arrival of the first frame to the arrival of
   * the last frame */
  guint64 average_bitrate;
  /* time in ns from the arrival of the first frame to the arrival of the last
   * frame */
  guint64 duration;
  /* latencies in ns: the minimum, the median, the 95th and 99th percentile, the
   * maximum and the mean */
  gint64 latency_min, latency_median, latency_p95, latency_p99, latency_max;
  gint64 latency_mean;
  guint64 jitter;               /* in ns */
} MpegStatTotals;

typedef struct _MpegStatCore MpegStatCore;

MpegStatCore *mpegstat_core_new (void);
void mpegstat_core_free (MpegStatCore * core);
/* Restarts the measurement. This function is called at a flush, and before a
 * new stream begins. After the call, latencies are measured relative to the
 * next complete frame. The totals are kept. */
void mpegstat_core_restart (MpegStatCore * core);

/* Processes a frame. `arrival` is the time in ns from the first arrival of
 * bytes to the arrival of the frame. `wall` is the time of day in ns. Fills in
 * `events` with an event for the frame. If the frame has a GOP header, an event
 * for the GOP header comes before it. Returns the number of events, which is 1
 * or 2. */
#define MPEGSTAT_MAX_EVENTS 2
guint mpegstat_core_input_frame (MpegStatCore * core, guint64 arrival,
    guint64 wall, const MpegVideoFrame * frame,
    const MpegVideoPosition * position, gboolean complete,
    MpegStatEvent events[MPEGSTAT_MAX_EVENTS]);
/* An access unit of H.264 or H.265, or a frame of VP8, VP9 or AV1. For H.264
 * and H.265, `size` is the size of the slices only. The rest of an access unit
 * (parameter sets, and the bytes that separate the NAL units) may change
 * between sender and receiver. */
typedef struct
{
  /* Type of the frame: I, P or B. For codecs other than MPEG-1/2, the type has
   * another meaning: a unit of type I starts a GOP, no other frame refers to a
   * unit of type B, and all other units have the type P. */
  MpegVideoPictureType type;
  gint layer;                   /* temporal layer; -1 if unknown */
  /* Flags with the meaning of closed_gop and broken_link in a GOP header of
   * MPEG-1/2. They are used only if the unit is an I-frame. */
  gboolean closed, broken_link;
  gint64 coding_number, display_number;
  guint64 expected;             /* in ns */
  gboolean has_pts;
  guint64 pts_90khz;
  guint64 size;                 /* in bytes */
  gboolean has_hash;
  /* hash of the slices of the frame; valid if has_hash is TRUE */
  guint64 hash;
} MpegStatUnit;

/* Processes an access unit of a codec other than MPEG-1/2. `arrival` is the
 * time in ns from the first arrival of bytes to the arrival of the access unit.
 * `wall` is the time of day in ns. Fills in `events` with an event for the
 * access unit. If the access unit is an I-frame, a GOP event comes before it.
 * This GOP event contains only the coding number and display number of the
 * I-frame and its flags `closed` and `broken_link`. Returns the number of
 * events, which is 1 or 2. */
guint mpegstat_core_input_unit (MpegStatCore * core, guint64 arrival,
    guint64 wall, const MpegStatUnit * unit, gboolean complete,
    MpegStatEvent events[MPEGSTAT_MAX_EVENTS]);
/* Processes a loss of frames. `arrival` and `wall` are the time at which the
 * loss was detected: `arrival` in ns since the first arrival of bytes, and
 * `wall` as the time of day in ns. Fills in `event` with a description of the
 * loss. */
void mpegstat_core_input_loss (MpegStatCore * core, guint64 arrival,
    guint64 wall, const MpegVideoLoss * loss, MpegStatEvent * event);
void mpegstat_core_get_totals (MpegStatCore * core, guint64 now,
    MpegStatTotals * totals);

/* Hash of a frame. By this hash, sender and receiver recognize the same frame.
 * It is the 64-bit FNV-1a hash of two parts:
 * - the total size of the slices, as 8 bytes in big-endian order. The size does
 *   not include a sequence end code.
 * - the first MPEGSTAT_HASH_BYTES bytes of the slices, or all their bytes if
 *   there are fewer.
 *
 * Headers before the slices are not hashed. A payloader can therefore insert a
 * sequence header without changing the hash. */
#define MPEGSTAT_HASH_BYTES 64
/* Finds the slices of a frame: stores the offset of the first slice, and the
 * size of all slices in bytes. Returns FALSE if the frame has no slices. */
gboolean mpegstat_find_slices (const MpegVideoFrame * frame, gsize * offset,
    gsize * size);
guint64 mpegstat_hash (const guint8 * slices, guint n, guint64 size);
void mpegstat_event_set_hash (MpegStatEvent * event, guint64 hash);
