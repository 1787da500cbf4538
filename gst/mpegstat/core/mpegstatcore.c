/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mpegstatcore.h: measures each frame of a stream.
 *
 * The latency of a frame is L = R - S (Ouwens 2006, section 3.4). R is the
 * arrival time of the frame. S is its due time: the time at which the frame
 * would arrive if the stream were sent in real time and in transport order. R
 * and S are relative to the first complete frame. The jitter is computed as in
 * RFC 3550. The value D in its formula is the difference between the latencies
 * of two frames.
 *
 * The due time is computed by the timeline (mpegvideotimeline.h), which does
 * not depend on GOP headers. In the measurements of Ouwens, the due time
 * depended on GOP headers: the loss of a GOP header changed all latencies up to
 * the next GOP header (section 3.8). */

#include "mpegstatcore.h"

#include <string.h>

#include "statistics.h"

/* Duration in ns over which the current bitrate is measured. The value is that
 * of Ouwens 2006, section 3.4: "we will use a sampletime of 1 s". */
#define RATE_WINDOW G_GUINT64_CONSTANT (1000000000)

#define FNV_OFFSET_BASIS G_GUINT64_CONSTANT (0xcbf29ce484222325)
#define FNV_PRIME G_GUINT64_CONSTANT (0x100000001b3)

struct _MpegStatCore
{
  /* Only the counters in `totals` are kept up to date. The other fields, such
   * as the bitrates, are computed by mpegstat_core_get_totals when the totals
   * are read. */
  MpegStatTotals totals;

  /* TRUE if a complete frame has arrived since the last restart. The first
   * complete frame after the restart is the reference for the latencies: the
   * latency of each frame is measured relative to this first frame. */
  gboolean have_first;
  guint64 first_arrival, first_expected;

  /* TRUE if the GOP header of the current group of pictures has arrived and is
   * stored in `gop` */
  gboolean have_gop;
  MpegVideoGop gop;

  gboolean have_arrival;
  /* time in ns at which the first frame arrived, and time in ns at which the
   * last frame arrived; only complete frames count */
  guint64 opening, closing;
  guint64 opening_bytes;        /* size of the first frame */

  StatisticsHistogram *latency;
  StatisticsJitter jitter;
  StatisticsRate *rate;
};

MpegStatCore *
mpegstat_core_new (void)
{
  MpegStatCore *core = g_new0 (MpegStatCore, 1);

  core->latency = statistics_histogram_new ();
  statistics_jitter_init (&core->jitter);
  core->rate = statistics_rate_new (RATE_WINDOW);

  return core;
}

void
mpegstat_core_free (MpegStatCore * core)
{
  statistics_histogram_free (core->latency);
  statistics_rate_free (core->rate);
  g_free (core);
}

void
mpegstat_core_restart (MpegStatCore * core)
{
  core->have_first = FALSE;
  core->have_gop = FALSE;
  statistics_jitter_restart (&core->jitter);
}

static void
event_init (MpegStatEvent * event, MpegStatKind kind, guint64 arrival,
    guint64 wall)
{
  memset (event, 0, sizeof (*event));
  event->kind = kind;
  event->arrival = arrival;
  event->wall = wall;
  event->present = 1 << MPEGSTAT_EVENT | 1 << MPEGSTAT_WALL_NS |
      1 << MPEGSTAT_ARRIVAL_NS;
}

static void
event_set_time_code (MpegStatEvent * event, const MpegVideoGop * gop)
{
  event->gop = *gop;
  event->present |= 1 << MPEGSTAT_TIME_CODE;
}

static void
account_gop (MpegStatCore * core, const MpegVideoFrame * frame,
    const MpegVideoPosition * position, MpegStatEvent * event)
{
  core->totals.gops++;
  core->have_gop = TRUE;
  core->gop = frame->gop;

  event_set_time_code (event, &frame->gop);
  event->coding_number = position->coding_number;
  event->display_number = position->gop_display_number;
  event->pts_90khz = position->gop_pts_90khz;
  event->present |= 1 << MPEGSTAT_CODING_NUMBER | 1 << MPEGSTAT_DISPLAY_NUMBER |
      1 << MPEGSTAT_PTS_90KHZ | 1 << MPEGSTAT_CLOSED_GOP |
      1 << MPEGSTAT_BROKEN_LINK | 1 << MPEGSTAT_PICTURES;
}

static void
describe_frame (MpegStatCore * core, const MpegVideoFrame * frame,
    const MpegVideoPosition * position, MpegStatEvent * event)
{
  event->expected = position->expected;
  event->type = frame->pictures[0].header.type;
  event->temporal_reference = frame->pictures[0].header.temporal_reference;
  event->coding_number = position->coding_number;
  event->display_number = position->display_number;
  event->pts_90khz = position->pts_90khz;
  event->size = mpeg_video_frame_picture_end (frame);
  event->present |= 1 << MPEGSTAT_EXPECTED_NS | 1 << MPEGSTAT_TYPE |
      1 << MPEGSTAT_TEMPORAL_REFERENCE | 1 << MPEGSTAT_CODING_NUMBER |
      1 << MPEGSTAT_DISPLAY_NUMBER | 1 << MPEGSTAT_PTS_90KHZ |
      1 << MPEGSTAT_SIZE_BYTES;

  if (core->have_gop)
    event_set_time_code (event, &core->gop);
}

static void
describe_unit (const MpegStatUnit * unit, MpegStatEvent * event)
{
  event->expected = unit->expected;
  event->type = unit->type;
  event->coding_number = unit->coding_number;
  event->display_number = unit->display_number;
  event->size = unit->size;
  event->present |= 1 << MPEGSTAT_EXPECTED_NS | 1 << MPEGSTAT_TYPE |
      1 << MPEGSTAT_CODING_NUMBER | 1 << MPEGSTAT_DISPLAY_NUMBER |
      1 << MPEGSTAT_SIZE_BYTES;
  if (unit->has_pts) {
    event->pts_90khz = unit->pts_90khz;
    event->present |= 1 << MPEGSTAT_PTS_90KHZ;
  }
  if (unit->has_hash)
    mpegstat_event_set_hash (event, unit->hash);
}

static void
account_unit_gop (MpegStatCore * core, const MpegStatUnit * unit,
    MpegStatEvent * event)
{
  core->totals.gops++;
  event->gop.closed = unit->closed;
  event->gop.broken_link = unit->broken_link;
  event->coding_number = unit->coding_number;
  event->display_number = unit->display_number;
  event->present |= 1 << MPEGSTAT_CODING_NUMBER | 1 << MPEGSTAT_DISPLAY_NUMBER |
      1 << MPEGSTAT_CLOSED_GOP | 1 << MPEGSTAT_BROKEN_LINK;
}

static void
set_latency (const MpegStatCore * core, MpegStatEvent * event)
{
  if (!core->have_first)
    return;
  event->latency = (gint64) (event->arrival - core->first_arrival) -
      (gint64) (event->expected - core->first_expected);
  event->present |= 1 << MPEGSTAT_LATENCY_NS;
}

static void
account_frame (MpegStatCore * core, const MpegStatEvent * event)
{
  core->totals.frames[event->type]++;
  core->totals.bytes[event->type] += event->size;

  statistics_histogram_add (core->latency, event->latency);
  statistics_jitter_add (&core->jitter, event->latency);
  statistics_rate_add (core->rate, event->arrival, event->size);

  if (!core->have_arrival) {
    core->have_arrival = TRUE;
    core->opening = event->arrival;
    core->opening_bytes = event->size;
  }
  core->closing = event->arrival;
}

/* Updates the totals for the frame that `event` describes, and sets the latency
 * in `event`. This function is used for all codecs. */
static void
input_described (MpegStatCore * core, MpegStatEvent * event)
{
  if (event->kind == MPEGSTAT_INCOMPLETE) {
    set_latency (core, event);
    core->totals.incomplete++;
    return;
  }
  if (!core->have_first) {
    core->have_first = TRUE;
    core->first_arrival = event->arrival;
    core->first_expected = event->expected;
  }
  set_latency (core, event);
  account_frame (core, event);
}

guint
mpegstat_core_input_frame (MpegStatCore * core, guint64 arrival, guint64 wall,
    const MpegVideoFrame * frame, const MpegVideoPosition * position,
    gboolean complete, MpegStatEvent events[MPEGSTAT_MAX_EVENTS])
{
  MpegStatEvent *event = events;

  if (frame->has_gop) {
    event_init (event, MPEGSTAT_GOP, arrival, wall);
    account_gop (core, frame, position, event);
    event++;
  } else if (position->new_gop) {
    core->have_gop = FALSE;
  }

  event_init (event, complete ? MPEGSTAT_FRAME : MPEGSTAT_INCOMPLETE, arrival,
      wall);
  describe_frame (core, frame, position, event);
  input_described (core, event);
  event++;

  return event - events;
}

guint
mpegstat_core_input_unit (MpegStatCore * core, guint64 arrival, guint64 wall,
    const MpegStatUnit * unit, gboolean complete,
    MpegStatEvent events[MPEGSTAT_MAX_EVENTS])
{
  MpegStatEvent *event = events;

  if (unit->type == MPEG_VIDEO_PICTURE_I) {
    event_init (event, MPEGSTAT_GOP, arrival, wall);
    account_unit_gop (core, unit, event);
    event++;
  }

  event_init (event, complete ? MPEGSTAT_FRAME : MPEGSTAT_INCOMPLETE, arrival,
      wall);
  describe_unit (unit, event);
  input_described (core, event);
  event++;
  if (complete && unit->layer >= 0 && unit->layer < MPEGSTAT_MAX_LAYERS)
    core->totals.layers[unit->layer]++;

  return event - events;
}

void
mpegstat_core_input_loss (MpegStatCore * core, guint64 arrival, guint64 wall,
    const MpegVideoLoss * loss, MpegStatEvent * event)
{
  guint i;

  event_init (event, MPEGSTAT_LOST, arrival, wall);
  event->type = loss->type;
  event->display_number = loss->display_number;
  event->present |= 1 << MPEGSTAT_TYPE | 1 << MPEGSTAT_DISPLAY_NUMBER |
      1 << MPEGSTAT_LOST_FRAMES;
  for (i = 0; i < MPEG_VIDEO_PICTURE_LAST; i++) {
    event->lost[i] = loss->by_type[i];
    core->totals.lost[i] += loss->by_type[i];
  }
}

/* Returns the mean bitrate in bit/s from the arrival of the first frame to the
 * arrival of the last frame. This time begins when the bytes of the first frame
 * have already arrived, so these bytes are not counted. */
static guint64
average_bitrate (const MpegStatCore * core)
{
  guint64 bytes = 0;
  guint i;

  if (core->closing == core->opening)
    return 0;

  for (i = 0; i < MPEG_VIDEO_PICTURE_LAST; i++)
    bytes += core->totals.bytes[i];

  return (gdouble) (bytes - core->opening_bytes) * 8.0 * 1e9 /
      (core->closing - core->opening) + 0.5;
}

void
mpegstat_core_get_totals (MpegStatCore * core, guint64 now,
    MpegStatTotals * totals)
{
  const StatisticsHistogram *latency = core->latency;

  *totals = core->totals;
  totals->bitrate = statistics_rate_get (core->rate, now);
  totals->average_bitrate = average_bitrate (core);
  totals->duration = core->closing - core->opening;
  totals->latency_min = statistics_histogram_get_percentile (latency, 0);
  totals->latency_median = statistics_histogram_get_percentile (latency, 50);
  totals->latency_p95 = statistics_histogram_get_percentile (latency, 95);
  totals->latency_p99 = statistics_histogram_get_percentile (latency, 99);
  totals->latency_max = statistics_histogram_get_percentile (latency, 100);
  totals->latency_mean = statistics_histogram_get_mean (latency);
  totals->jitter = core->jitter.jitter + 0.5;
}

gboolean
mpegstat_find_slices (const MpegVideoFrame * frame, gsize * offset,
    gsize * size)
{
  const MpegVideoFramePicture *first = &frame->pictures[0];
  gsize end = mpeg_video_frame_picture_end (frame);

  if (first->first_slice >= first->end_unit)
    return FALSE;

  *offset = frame->units[first->first_slice].offset;
  *size = end - MIN (end, *offset);

  return TRUE;
}

static guint64
fnv_1a (guint64 hash, const guint8 * bytes, guint n)
{
  guint i;

  for (i = 0; i < n; i++)
    hash = (hash ^ bytes[i]) * FNV_PRIME;
  return hash;
}

guint64
mpegstat_hash (const guint8 * slices, guint n, guint64 size)
{
  guint64 size_be = GUINT64_TO_BE (size);
  guint64 hash = FNV_OFFSET_BASIS;

  hash = fnv_1a (hash, (const guint8 *) &size_be, sizeof (size_be));
  return fnv_1a (hash, slices, MIN (n, MPEGSTAT_HASH_BYTES));
}

void
mpegstat_event_set_hash (MpegStatEvent * event, guint64 hash)
{
  event->hash = hash;
  event->present |= 1 << MPEGSTAT_HASH;
}
