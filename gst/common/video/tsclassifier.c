/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of tsclassifier.h: determines the types of the pictures in a
 * transport stream. */

#include "tsclassifier.h"

#include "nalunittypes.h"
#include "videopacket.h"

struct _TsClassifier
{
  /* Classifier of the access units of H.264 or H.265. It is created for the
   * first picture of one of these formats, and is NULL before. */
  IfdClassifier *units;
  IfdCodec codec;               /* of `units` */
  /* temporal reference of the last I-frame, if the video is MPEG video */
  guint i_reference;
};

TsClassifier *
ts_classifier_new (void)
{
  return g_new0 (TsClassifier, 1);
}

void
ts_classifier_free (TsClassifier * classifier)
{
  g_clear_pointer (&classifier->units, ifd_classifier_free);
  g_free (classifier);
}

void
ts_classifier_reset (TsClassifier * classifier)
{
  if (classifier->units)
    ifd_classifier_reset (classifier->units);
}

static const guint8 *
find_code (const guint8 * data, const guint8 * end)
{
  data = mpeg_video_find_start_code (data, end);
  return data && end - data >= 6 ? data + 3 : NULL;
}

/* Called for a unit whose first picture is a B-frame. A unit may contain
 * several pictures, because a PES packet may contain several. Returns TRUE if
 * another picture of the unit is more important than a B-frame, or if it is
 * unknown how important this picture is. */
static gboolean
has_important_picture (const TsUnit * unit)
{
  const guint8 *code = unit->stream, *end = code + unit->stream_size;
  guint n_delimiters = 0;

  while ((code = find_code (code, end))) {
    if (unit->video == TS_VIDEO_MPEG && *code == MPEG_VIDEO_CODE_PICTURE
        && (code[2] >> 3 & 7) != MPEG_VIDEO_PICTURE_B)
      return TRUE;
    if (unit->video == TS_VIDEO_H265 && (*code >> 1 & 0x3f) == H265_DELIMITER)
      n_delimiters++;
  }
  return n_delimiters > 1;
}

static void
classify_mpeg (TsClassifier * classifier, const TsUnit * unit, IfdFrame * frame)
{
  VideoPacket packet;

  frame->type = IFD_FRAME_P;
  if (!video_packet_parse_frame (&packet, unit->stream, unit->stream_size))
    return;
  if (packet.type == MPEG_VIDEO_PICTURE_I
      || packet.type == MPEG_VIDEO_PICTURE_D) {
    frame->type = IFD_FRAME_I;
    classifier->i_reference = packet.temporal_reference;
    frame->flags = (packet.closed_gop ? IFD_FRAME_CLOSED : 0)
        | (packet.broken_link ? IFD_FRAME_BROKEN : 0);
  } else if (packet.type == MPEG_VIDEO_PICTURE_B) {
    frame->type = IFD_FRAME_B;
    frame->flags = ifd_find_place (packet.temporal_reference,
        classifier->i_reference);
  }
}

static IfdField
classify_units (TsClassifier * classifier, const TsUnit * unit,
    IfdFrame * frame)
{
  const IfdCodec codec = unit->video == TS_VIDEO_H264 ? IFD_CODEC_H264 :
      IFD_CODEC_H265;

  if (!classifier->units || classifier->codec != codec) {
    g_clear_pointer (&classifier->units, ifd_classifier_free);
    classifier->units = ifd_classifier_new (codec);
    classifier->codec = codec;
  }
  /* The time is passed as G_MAXUINT64, which means unknown. The classifier
   * needs the time at which the picture is displayed (PTS). However, unit->time
   * may be a DTS, so it cannot be passed. */
  ifd_classifier_input (classifier->units, unit->stream, unit->stream_size,
      G_MAXUINT64, frame);
  return ifd_classifier_get_field (classifier->units);
}

IfdField
ts_classifier_input (TsClassifier * classifier, const TsUnit * unit,
    IfdFrame * frame)
{
  IfdField field = IFD_FIELD_NONE;

  if (unit->video == TS_VIDEO_MPEG)
    classify_mpeg (classifier, unit, frame);
  else
    field = classify_units (classifier, unit, frame);
  if (frame->type == IFD_FRAME_B && has_important_picture (unit))
    frame->type = IFD_FRAME_P;
  return field;
}
