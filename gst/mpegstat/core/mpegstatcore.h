/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What there is to say of a stream of MPEG video frames: one event for each
 * frame, GOP header and loss, and totals over all of them (Ouwens 2006,
 * sections 3.2 and 3.4). A core: GLib only, times are the caller's.
 */

#pragma once

#include "mpegvideoframer.h"
#include "mpegvideotimeline.h"

typedef enum
{
  MPEGSTAT_FRAME,               /* a complete frame */
  MPEGSTAT_INCOMPLETE,          /* a frame of which something is missing */
  MPEGSTAT_LOST,                /* frames in a row that never came */
  MPEGSTAT_GOP                  /* a GOP header */
} MpegStatKind;

/* Columns of the log, in its order; a message has fields of the same names */
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
  guint32 present;              /* bit c: column c has a value */

  guint64 wall, arrival;        /* ns */
  guint64 expected;             /* ns */
  gint64 latency;               /* ns */
  MpegVideoPictureType type;
  guint temporal_reference;
  gint64 coding_number, display_number;
  guint64 pts_90khz;
  guint64 size;                 /* bytes */
  MpegVideoGop gop;
  guint64 hash;
  guint64 lost[MPEG_VIDEO_PICTURE_LAST];        /* by type, of a LOST */
} MpegStatEvent;

/* Arrays are indexed by MpegVideoPictureType. Only complete frames count in
 * frames, bytes, rates, latency and jitter. */
typedef struct
{
  guint64 frames[MPEG_VIDEO_PICTURE_LAST];
  guint64 bytes[MPEG_VIDEO_PICTURE_LAST];
  guint64 lost[MPEG_VIDEO_PICTURE_LAST];
  guint64 incomplete;
  guint64 gops;
  guint64 bitrate;              /* bit/s, over the last second */
  guint64 average_bitrate;      /* bit/s, first to last arrival */
  guint64 duration;             /* ns, first to last arrival */
  gint64 latency_min, latency_median, latency_p95, latency_p99, latency_max;
  gint64 latency_mean;          /* ns, as the ones above */
  guint64 jitter;               /* ns */
} MpegStatTotals;

typedef struct _MpegStatCore MpegStatCore;

MpegStatCore *mpegstat_core_new (void);
void mpegstat_core_free (MpegStatCore * core);
/* The stream begins anew (flush, another stream): latency counts from the next
 * frame on. The totals stay. */
void mpegstat_core_restart (MpegStatCore * core);

/* A frame arrived (ns since the first bytes did) at this time of day (ns).
 * Fills in one event, or two when a GOP header came with it, the GOP's first;
 * returns how many. */
#define MPEGSTAT_MAX_EVENTS 2
guint mpegstat_core_input_frame (MpegStatCore * core, guint64 arrival,
    guint64 wall, const MpegVideoFrame * frame,
    const MpegVideoPosition * position, gboolean complete,
    MpegStatEvent events[MPEGSTAT_MAX_EVENTS]);
/* An access unit of H.264 or H.265. size: of its slices, as parameter sets and
 * framing come and go on the way */
typedef struct
{
  MpegVideoPictureType type;    /* I: begins a GOP, B: no other refers to it */
  gboolean closed, broken_link; /* of an I, as a GOP header has them */
  gint64 coding_number, display_number;
  guint64 expected;             /* ns */
  gboolean has_pts;
  guint64 pts_90khz;
  guint64 size;                 /* bytes */
  gboolean has_hash;
  guint64 hash;                 /* a frame's, of its slices */
} MpegStatUnit;

/* The same for such a unit. A GOP event, which only says how the frames behind
 * it refer to those before it, comes with each I. */
guint mpegstat_core_input_unit (MpegStatCore * core, guint64 arrival,
    guint64 wall, const MpegStatUnit * unit, gboolean complete,
    MpegStatEvent events[MPEGSTAT_MAX_EVENTS]);
/* It became known now that these frames are lost. */
void mpegstat_core_input_loss (MpegStatCore * core, guint64 arrival,
    guint64 wall, const MpegVideoLoss * loss, MpegStatEvent * event);
void mpegstat_core_get_totals (MpegStatCore * core, guint64 now,
    MpegStatTotals * totals);

/* A frame's mark, by which sender and receiver know it again: 64-bit FNV-1a
 * over the size of its slices, from the first one on (8 bytes, big endian,
 * without a sequence end code), and over the first MPEGSTAT_HASH_BYTES of them
 * or as many as there are. Headers before the slices don't count, so that a
 * sequence header which a payloader puts in changes nothing. */
#define MPEGSTAT_HASH_BYTES 64
/* Where the slices lie; FALSE: there are none */
gboolean mpegstat_find_slices (const MpegVideoFrame * frame, gsize * offset,
    gsize * size);
guint64 mpegstat_hash (const guint8 * slices, guint n, guint64 size);
void mpegstat_event_set_hash (MpegStatEvent * event, guint64 hash);
