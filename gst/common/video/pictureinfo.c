/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of pictureinfo.h. Complete access units are parsed by
 * ifdclassifier.h, and MPEG video by videopacket.h. For single NAL units and
 * RTP packets, the kind of a picture follows from the NAL unit header, and
 * leading pictures are recognized by their timestamps.
 */

#include "pictureinfo.h"

#include "ifdclassifier.h"
#include "nalunittypes.h"
#include "rtpheader.h"
#include "videopacket.h"

/* The field temporal_reference of MPEG video counts modulo 1024: ISO/IEC
 * 13818-2, 6.3.9. */
#define TEMPORAL_REFERENCES 1024
#define NO_TIME G_MAXUINT64

struct _PictureReader
{
  PictureFormat format;
  IfdClassifier *classifier;    /* for complete access units; otherwise NULL */
  /* Size of the length before a NAL unit, in bytes; 0 if there is a start code
   */
  guint length_size;
  guint highest_sub_layer;      /* the highest sub-layer of H.265 seen so far */

  /* state of the last key frame */
  guint64 key_pts;              /* in ns, or NO_TIME */
  guint key_reference;          /* temporal reference of the last key frame */
  gboolean has_key;
  /* no picture after the key frame refers to a picture before the key frame */
  gboolean is_closed;
  /* another reference picture has followed the key frame */
  gboolean has_reference;
};

/* --- life cycle -------------------------------------------------------------
 */

PictureReader *
picture_reader_new (PictureFormat format)
{
  PictureReader *reader = g_new0 (PictureReader, 1);

  reader->format = format;
  if (format == PICTURE_FORMAT_H264)
    reader->classifier = ifd_classifier_new (IFD_CODEC_H264);
  else if (format == PICTURE_FORMAT_H265)
    reader->classifier = ifd_classifier_new (IFD_CODEC_H265);
  picture_reader_reset (reader);
  return reader;
}

void
picture_reader_free (PictureReader * reader)
{
  g_clear_pointer (&reader->classifier, ifd_classifier_free);
  g_free (reader);
}

void
picture_reader_reset (PictureReader * reader)
{
  reader->key_pts = NO_TIME;
  reader->has_key = FALSE;
  if (reader->classifier)
    ifd_classifier_reset (reader->classifier);
}

/* Reads lengthSizeMinusOne from the codec data (ISO/IEC 14496-15, 5.3.3.1.2 and
 * 8.3.3.1.2). */
static gboolean
take_length_size (PictureReader * reader, const guint8 * data, gsize size,
    gsize at)
{
  if (size <= at)
    return FALSE;
  reader->length_size = (data[at] & 3) + 1;
  return TRUE;
}

gboolean
picture_reader_set_codec_data (PictureReader * reader, const guint8 * data,
    gsize size)
{
  if (reader->classifier)
    return ifd_classifier_set_codec_data (reader->classifier, data, size);
  if (reader->format == PICTURE_FORMAT_H264_NAL)
    return take_length_size (reader, data, size, 4);
  if (reader->format == PICTURE_FORMAT_H265_NAL)
    return take_length_size (reader, data, size, 21);
  return FALSE;
}

/* --- MPEG video ----------------------------------------------------------- */

static gboolean
is_before_key (const PictureReader * reader, guint temporal_reference)
{
  return reader->has_key && !reader->is_closed &&
      (temporal_reference - reader->key_reference) % TEMPORAL_REFERENCES >=
      TEMPORAL_REFERENCES / 2;
}

static void
take_mpeg_key (PictureReader * reader, const VideoPacket * packet)
{
  /* Only the first packet of a frame can contain the GOP header. */
  if (packet->begins)
    reader->is_closed = packet->closed_gop;
  reader->key_reference = packet->temporal_reference;
  reader->has_key = TRUE;
}

static void
read_mpeg (PictureReader * reader, const VideoPacket * packet,
    PictureInfo * info)
{
  switch (packet->type) {
    case MPEG_VIDEO_PICTURE_I:
    case MPEG_VIDEO_PICTURE_D:
      info->kind = PICTURE_KIND_KEY;
      take_mpeg_key (reader, packet);
      break;
    case MPEG_VIDEO_PICTURE_P:
      info->kind = PICTURE_KIND_REFERENCE;
      break;
    case MPEG_VIDEO_PICTURE_B:
      info->kind = PICTURE_KIND_DROPPABLE;
      info->is_leading = is_before_key (reader, packet->temporal_reference);
      break;
    default:
      break;
  }
}

/* --- access units --------------------------------------------------------- */

/* Returns whether the picture is a leading picture. If the frame has neither of
 * the flags for leading and trailing frames, a non-reference picture between a
 * key frame and the next reference picture is assumed to be a leading picture.
 */
static gboolean
is_leading_frame (const PictureReader * reader, const IfdFrame * frame)
{
  if (frame->flags & (IFD_FRAME_LEADING | IFD_FRAME_TRAILING))
    return (frame->flags & IFD_FRAME_LEADING) != 0;
  return frame->type == IFD_FRAME_B && reader->has_key && !reader->is_closed &&
      !reader->has_reference;
}

static void
read_access_unit (PictureReader * reader, const guint8 * data, gsize size,
    guint64 pts, PictureInfo * info)
{
  static const PictureKind kinds[IFD_FRAME_LAST] = { PICTURE_KIND_KEY,
    PICTURE_KIND_REFERENCE, PICTURE_KIND_DROPPABLE
  };
  IfdFrame frame = { 0, };

  ifd_classifier_input (reader->classifier, data, size, pts, &frame);
  info->kind = kinds[frame.type];
  if (frame.type == IFD_FRAME_I) {
    reader->has_key = TRUE;
    reader->is_closed = (frame.flags & IFD_FRAME_CLOSED) != 0;
    reader->has_reference = FALSE;
    return;
  }
  info->is_leading = is_leading_frame (reader, &frame);
  reader->has_reference |= frame.type == IFD_FRAME_P && !info->is_leading;
}

/* --- NAL units ------------------------------------------------------------ */

static PictureKind
get_h264_kind (guint8 header)
{
  const guint type = header & H264_TYPE;

  if (type == H264_IDR)
    return PICTURE_KIND_KEY;
  if (type >= 1 && type <= H264_PARTITION_C)
    return header & H264_REF_IDC ? PICTURE_KIND_REFERENCE :
        PICTURE_KIND_DROPPABLE;
  if ((type >= H264_SEI && type <= H264_SPS_EXTENSION) ||
      type == H264_SUBSET_SPS)
    return PICTURE_KIND_PART;
  return PICTURE_KIND_UNKNOWN;
}

/* Determines the kind of an H.265 picture. Pictures of a higher sub-layer may
 * refer to a sub-layer non-reference picture (H.265, 7.4.2.2). */
static PictureKind
get_h265_slice_kind (PictureReader * reader, guint type, guint sub_layer)
{
  reader->highest_sub_layer = MAX (reader->highest_sub_layer, sub_layer);
  if (type % 2 == 0 && sub_layer == reader->highest_sub_layer)
    return PICTURE_KIND_DROPPABLE;
  return PICTURE_KIND_REFERENCE;
}

static void
read_h265_unit (PictureReader * reader, guint type, guint layer,
    guint sub_layer, PictureInfo * info)
{
  info->kind = PICTURE_KIND_UNKNOWN;
  if (layer > 0)
    return;
  if (type <= H265_SUB_LAYER_LAST)
    info->kind = get_h265_slice_kind (reader, type, sub_layer);
  else if (type >= H265_BLA_FIRST && type <= H265_IRAP_LAST)
    info->kind = PICTURE_KIND_KEY;
  else if (type >= H265_VPS && type <= H265_SUFFIX_SEI)
    info->kind = PICTURE_KIND_PART;
  info->is_leading = type == H265_RASL_N || type == H265_RASL_R;
}

static void
read_unit (PictureReader * reader, const guint8 * unit, gsize size,
    gboolean is_h265, PictureInfo * info)
{
  if (is_h265 && size >= 2)
    read_h265_unit (reader, unit[0] >> 1 & 0x3f, (unit[0] & 1) << 5 |
        unit[1] >> 3, MAX (unit[1] & 7, 1) - 1, info);
  else if (!is_h265 && size >= 1)
    info->kind = get_h264_kind (unit[0]);
}

/* The buffer begins with the start code or with the length of a NAL unit. */
static void
read_nal (PictureReader * reader, const guint8 * data, gsize size,
    gboolean is_h265, PictureInfo * info)
{
  gsize skip = reader->length_size;

  if (skip == 0) {
    while (skip < size && data[skip] == 0)
      skip++;
    skip++;                     /* the byte 01 of the start code */
  }
  if (skip < size)
    read_unit (reader, data + skip, size - skip, is_h265, info);
}

/* --- RTP ------------------------------------------------------------------ */

/* Parses an aggregation packet, in which each NAL unit is preceded by its size
 * (RFC 6184, 5.7.1, and RFC 7798, 4.4.2). The most important NAL unit
 * determines the result. */
static void
read_aggregate (PictureReader * reader, const guint8 * data, gsize size,
    gboolean is_h265, PictureInfo * info)
{
  while (size > 2) {
    const gsize length = data[0] << 8 | data[1];
    PictureInfo one = { PICTURE_KIND_UNKNOWN };

    if (length == 0 || length > size - 2)
      return;
    read_unit (reader, data + 2, length, is_h265, &one);
    if (one.kind > info->kind)
      *info = one;
    data += 2 + length;
    size -= 2 + length;
  }
}

static void
read_rtp_h264 (PictureReader * reader, const guint8 * data, gsize size,
    PictureInfo * info)
{
  const guint type = size > 0 ? data[0] & H264_TYPE : 0;
  const gsize header = type == H264_STAP_B ? 3 : 1;

  if ((type == H264_STAP_A || type == H264_STAP_B) && size > header)
    read_aggregate (reader, data + header, size - header, FALSE, info);
  else if ((type == H264_FU_A || type == H264_FU_B) && size > 1)
    info->kind = get_h264_kind ((data[0] & H264_REF_IDC) |
        (data[1] & H264_TYPE));
  else if (type > 0 && type < H264_STAP_A)
    info->kind = get_h264_kind (data[0]);
}

static void
read_rtp_h265 (PictureReader * reader, const guint8 * data, gsize size,
    PictureInfo * info)
{
  guint8 unit[2];

  if (size < 3)
    return;
  switch (data[0] >> 1 & 0x3f) {
    case H265_AP:
      read_aggregate (reader, data + 2, size - 2, TRUE, info);
      break;
    case H265_FU:
      unit[0] = (data[0] & 0x81) | (data[2] & 0x3f) << 1;
      unit[1] = data[1];
      read_unit (reader, unit, sizeof unit, TRUE, info);
      break;
    default:
      read_unit (reader, data, size, TRUE, info);
      break;
  }
}

/* Returns whether the packet has a picture type. RFC 2250, 3.4, forbids the
 * value 0 in the picture type field P, but some senders set the whole
 * video-specific header to 0. These senders also put parts of several pictures
 * into one packet. */
static gboolean
has_picture_type (const guint8 * data, gsize size)
{
  const gsize header = rtp_header_get_size (data, size);

  return header > 0 && size > header + 2 && (data[header + 2] & 7) != 0;
}

static void
read_rtp (PictureReader * reader, const guint8 * data, gsize size,
    PictureInfo * info)
{
  const gsize header = rtp_header_get_size (data, size);

  if (header == 0)
    return;
  if (reader->format == PICTURE_FORMAT_RTP_H264)
    read_rtp_h264 (reader, data + header, size - header, info);
  else
    read_rtp_h265 (reader, data + header, size - header, info);
}

/* --- a buffer ------------------------------------------------------------- */

static void
read_buffer (PictureReader * reader, const guint8 * data, gsize size,
    guint64 pts, PictureInfo * info)
{
  VideoPacket packet;

  switch (reader->format) {
    case PICTURE_FORMAT_MPEG:
      if (video_packet_parse_frame (&packet, data, size))
        read_mpeg (reader, &packet, info);
      break;
    case PICTURE_FORMAT_RTP_MPEG:
      if (has_picture_type (data, size)
          && video_packet_parse_rtp (&packet, data, size, size,
              VIDEO_PACKET_ANY_TYPE))
        read_mpeg (reader, &packet, info);
      break;
    case PICTURE_FORMAT_H264:
    case PICTURE_FORMAT_H265:
      read_access_unit (reader, data, size, pts, info);
      break;
    case PICTURE_FORMAT_H264_NAL:
      read_nal (reader, data, size, FALSE, info);
      break;
    case PICTURE_FORMAT_H265_NAL:
      read_nal (reader, data, size, TRUE, info);
      break;
    default:
      read_rtp (reader, data, size, info);
      break;
  }
}

/* Recognizes leading pictures of H.264 by their timestamps, because a single
 * slice does not show them. A leading picture is displayed before the key frame
 * that precedes it. */
static void
note_time (PictureReader * reader, guint64 pts, gboolean is_key,
    PictureInfo * info)
{
  if (reader->format != PICTURE_FORMAT_H264_NAL &&
      reader->format != PICTURE_FORMAT_RTP_H264)
    return;
  if (info->kind == PICTURE_KIND_KEY || is_key)
    reader->key_pts = pts;
  else if (pts != NO_TIME && reader->key_pts != NO_TIME)
    info->is_leading = pts < reader->key_pts;
}

void
picture_reader_input (PictureReader * reader, const guint8 * data, gsize size,
    guint64 pts, gboolean is_key, PictureInfo * info)
{
  info->kind = PICTURE_KIND_UNKNOWN;
  info->is_leading = FALSE;
  read_buffer (reader, data, size, pts, info);
  if (info->kind == PICTURE_KIND_REFERENCE && is_key)
    info->kind = PICTURE_KIND_KEY;
  note_time (reader, pts, is_key, info);
  if (info->kind == PICTURE_KIND_KEY)
    info->is_leading = FALSE;
}
