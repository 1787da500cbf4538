/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mpegstatunits.h: access units and their positions.
 *
 * If an access unit has a DTS, this DTS is its due time. Downstream of a
 * depayloader there is no DTS, because RTP transports only the PTS (RFC 6184
 * and 7798). The due time is then the number of the access unit in transport
 * order times the frame duration. If the frame duration is not known either,
 * the due time is the maximum PTS so far. This is correct if the frames are not
 * reordered.
 */

#include "mpegstatunits.h"

#include <string.h>

struct _MpegStatUnits
{
  /* One of the two is NULL. */
  IfdClassifier *classifier;
  SlotReader *slots;
  SlotCodec slot_codec;
  /* number of frames of VP8, VP9 or AV1 that could not be parsed */
  guint64 malformed;
  guint64 period;               /* duration of a frame in ns; 0 if unknown */

  /* number that the next access unit will get, in transport order */
  gint64 next_number;
  /* First PTS and first DTS of the stream, in ns; MPEG_VIDEO_TIME_NONE if no
   * access unit had one yet */
  guint64 first_pts, first_dts;
  /* number, in transport order, of the first access unit that has a DTS */
  gint64 first_dts_number;
  guint64 latest_pts;           /* maximum PTS so far, in ns since first_pts */
};

MpegStatUnits *
mpegstat_units_new (IfdCodec codec)
{
  MpegStatUnits *units = g_new0 (MpegStatUnits, 1);

  units->classifier = ifd_classifier_new (codec);
  mpegstat_units_restart (units);
  return units;
}

MpegStatUnits *
mpegstat_units_new_slots (SlotCodec codec)
{
  MpegStatUnits *units = g_new0 (MpegStatUnits, 1);

  units->slots = slot_reader_new (codec);
  units->slot_codec = codec;
  mpegstat_units_restart (units);
  return units;
}

void
mpegstat_units_free (MpegStatUnits * units)
{
  g_clear_pointer (&units->classifier, ifd_classifier_free);
  g_clear_pointer (&units->slots, slot_reader_free);
  g_free (units);
}

IfdClassifier *
mpegstat_units_get_classifier (MpegStatUnits * units)
{
  return units->classifier;
}

SlotReader *
mpegstat_units_get_slots (MpegStatUnits * units)
{
  return units->slots;
}

guint64
mpegstat_units_get_malformed (const MpegStatUnits * units)
{
  return units->malformed;
}

void
mpegstat_units_set_period (MpegStatUnits * units, guint64 period)
{
  units->period = period;
}

void
mpegstat_units_restart (MpegStatUnits * units)
{
  if (units->classifier)
    ifd_classifier_reset (units->classifier);
  else
    slot_reader_reset (units->slots);
  units->next_number = 0;
  units->first_pts = units->first_dts = MPEG_VIDEO_TIME_NONE;
  units->latest_pts = 0;
}

/* Converts `time` to a number of frames, rounded to the nearest integer.
 * `period` is the duration of a frame in the same unit as `time`. */
static gint64
in_frames (gint64 time, guint64 period)
{
  gint64 half = period / 2;

  return (time + (time < 0 ? -half : half)) / (gint64) period;
}

/* `*first` is the first PTS or the first DTS of the stream. Returns `time`
 * minus `*first`; this difference may be negative. If `*first` is not known
 * yet, stores `time` in `*first` and returns 0. */
static gint64
since_first (guint64 time, guint64 * first)
{
  if (*first == MPEG_VIDEO_TIME_NONE)
    *first = time;
  return (gint64) (time - *first);
}

/* Returns the number of the next access unit in the order of sending. `dts` is
 * the DTS of the access unit in ns since the first DTS. If the access unit has
 * no DTS, `dts` is negative. If there is a gap in the DTS, the access units
 * that are missing in the gap are counted as well. */
static gint64
take_number (MpegStatUnits * units, gint64 dts)
{
  gint64 number = units->next_number;

  if (dts >= 0 && units->period > 0)
    number = MAX (number, units->first_dts_number
        + in_frames (dts, units->period));
  units->next_number = number + 1;
  return number;
}

static void
place_by_pts (MpegStatUnits * units, gint64 pts, MpegStatUnit * unit)
{
  if (units->period > 0)
    unit->display_number = in_frames (pts, units->period);
  unit->has_pts = pts >= 0;
  if (!unit->has_pts)
    return;
  units->latest_pts = MAX (units->latest_pts, (guint64) pts);
  /* The factor 9 / 10^5 converts ns to 1/90000 s. */
  unit->pts_90khz = (guint64) pts *9 / 100000;
}

static void
place (MpegStatUnits * units, guint64 pts, guint64 dts, MpegStatUnit * unit)
{
  gint64 since_dts = -1;

  if (dts != MPEG_VIDEO_TIME_NONE) {
    if (units->first_dts == MPEG_VIDEO_TIME_NONE)
      units->first_dts_number = units->next_number;
    since_dts = since_first (dts, &units->first_dts);
  }
  unit->coding_number = take_number (units, since_dts);
  unit->display_number = unit->coding_number;
  if (pts != MPEG_VIDEO_TIME_NONE)
    place_by_pts (units, since_first (pts, &units->first_pts), unit);
  if (since_dts >= 0)
    unit->expected = since_dts + units->first_dts_number * units->period;
  else if (units->period > 0)
    unit->expected = unit->coding_number * units->period;
  else
    unit->expected = units->latest_pts;
}

static MpegVideoPictureType
picture_type (IfdFrameType type)
{
  switch (type) {
    case IFD_FRAME_I:
      return MPEG_VIDEO_PICTURE_I;
    case IFD_FRAME_B:
      return MPEG_VIDEO_PICTURE_B;
    default:
      return MPEG_VIDEO_PICTURE_P;
  }
}

static void
read_access_unit (MpegStatUnits * units, const guint8 * data, gsize size,
    guint64 pts, MpegStatUnit * unit)
{
  IfdSlices slices;
  IfdFrame frame;

  ifd_classifier_input (units->classifier, data, size, pts, &frame);
  unit->type = picture_type (frame.type);
  unit->closed = (frame.flags & IFD_FRAME_CLOSED) != 0;
  unit->broken_link = (frame.flags & IFD_FRAME_BROKEN) != 0;
  unit->layer = frame.layer;
  unit->has_hash = ifd_classifier_find_slices (units->classifier, data, size,
      &slices);
  unit->size = slices.size;
  if (unit->has_hash)
    unit->hash = mpegstat_hash (slices.first,
        MIN (slices.first_size, MPEGSTAT_HASH_BYTES), slices.size);
}

/* Parses a frame of VP8, VP9 or AV1, and fills in `unit`. A frame of AV1 gets
 * no hash: parsers and containers change its OBU headers, so the hash would not
 * be the same at the sender and the receiver. */
static void
read_slots (MpegStatUnits * units, const guint8 * data, gsize size,
    const SlotLayer * layer, MpegStatUnit * unit)
{
  SlotUse use;

  if (!slot_reader_input (units->slots, data, size, layer, &use))
    units->malformed++;
  unit->type = use.is_key ? MPEG_VIDEO_PICTURE_I : use.is_reference ?
      MPEG_VIDEO_PICTURE_P : MPEG_VIDEO_PICTURE_B;
  unit->closed = use.is_key;
  unit->layer = use.layer;
  unit->size = size;
  unit->has_hash = units->slot_codec == SLOT_CODEC_VP8
      || units->slot_codec == SLOT_CODEC_VP9;
  if (unit->has_hash)
    unit->hash = mpegstat_hash (data, MIN (size, MPEGSTAT_HASH_BYTES), size);
}

void
mpegstat_units_input (MpegStatUnits * units, const guint8 * data, gsize size,
    guint64 pts, guint64 dts, const SlotLayer * layer, MpegStatUnit * unit)
{
  memset (unit, 0, sizeof (*unit));
  place (units, pts, dts, unit);
  if (units->slots)
    read_slots (units, data, size, layer, unit);
  else
    read_access_unit (units, data, size, pts, unit);
}
