/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of pictureinfo.h. Several parsers are used: ifdclassifier.h
 * for access units of H.264 and H.265, videopacket.h for MPEG video, and
 * slotuse.h for VP8, VP9 and AV1. For single NAL units and RTP packets of H.264
 * and H.265, the kind of a picture is derived from the NAL unit header. Leading
 * pictures of H.265 are then recognized by their NAL unit type. Leading
 * pictures of H.264 are recognized by their timestamps. */

#include "pictureinfo.h"

#include "bigendian.h"
#include "ifdclassifier.h"
#include "nalunittypes.h"
#include "rtpheader.h"
#include "slotuse.h"
#include "videopacket.h"

/* Number of different values of the field temporal_reference of MPEG video.
 * This field counts pictures modulo 1024 (ISO/IEC 13818-2, 6.3.9). */
#define TEMPORAL_REFERENCES 1024
#define NO_TIME G_MAXUINT64

/* Slots for H.265, as bit masks for the fields `uses` and `updates` of
 * PictureInfo. They are used if only the headers of the NAL units are read.
 * Each slot then stands for a set of reference pictures:
 * - There is one slot for each temporal sub-layer, for the reference pictures
 *   of this sub-layer.
 * - SLOT_BEFORE_KEY stands for the pictures of the base layer before the last
 *   key frame. Leading pictures may refer to these pictures. */
#define SLOT_BEFORE_KEY (1u << 31)
#define SLOTS_BELOW(sub_layer) ((1u << (sub_layer)) - 1)
#define SLOTS_OF_LAYERS 0x7fu

struct _PictureReader
{
  PictureFormat format;
  IfdClassifier *classifier;    /* for complete access units; otherwise NULL */
  SlotReader *slots;            /* for VP8, VP9 and AV1; otherwise NULL */
  /* RTP timestamp and picture kind of the latest packet of VP8, VP9 or AV1. All
   * packets of a picture have the same timestamp, but only the first packet
   * shows the kind. The other packets of the picture get the stored kind. */
  guint32 timestamp;
  PictureKind kind;
  /* Size in bytes of the length field that precedes each NAL unit. If it is 0,
   * each NAL unit begins with a start code instead. */
  guint length_size;
  /* highest temporal sub-layer that was seen so far in an H.265 stream */
  guint highest_sub_layer;

  /* The following fields describe the last key frame and the pictures that have
   * followed it. */
  guint64 key_pts;              /* in ns, or NO_TIME */
  /* temporal reference of the last key frame (MPEG video) */
  guint key_reference;
  gboolean has_key;
  /* TRUE if no picture after the last key frame refers to a picture before this
   * key frame */
  gboolean is_closed;
  /* TRUE if the last key frame was followed by a reference picture that is not
   * a leading picture */
  gboolean has_reference;
};

/* --- life cycle -------------------------------------------------------------
 */

static gboolean
find_slot_codec (PictureFormat format, SlotCodec * codec)
{
  switch (format) {
    case PICTURE_FORMAT_VP8:
    case PICTURE_FORMAT_RTP_VP8:
      *codec = SLOT_CODEC_VP8;
      return TRUE;
    case PICTURE_FORMAT_VP9:
    case PICTURE_FORMAT_RTP_VP9:
      *codec = SLOT_CODEC_VP9;
      return TRUE;
    case PICTURE_FORMAT_AV1:
    case PICTURE_FORMAT_RTP_AV1:
      *codec = SLOT_CODEC_AV1;
      return TRUE;
    case PICTURE_FORMAT_AV1_FRAME:
      *codec = SLOT_CODEC_AV1_FRAME;
      return TRUE;
    default:
      return FALSE;
  }
}

PictureReader *
picture_reader_new (PictureFormat format)
{
  PictureReader *reader = g_new0 (PictureReader, 1);
  SlotCodec codec;

  reader->format = format;
  if (format == PICTURE_FORMAT_H264)
    reader->classifier = ifd_classifier_new (IFD_CODEC_H264);
  else if (format == PICTURE_FORMAT_H265)
    reader->classifier = ifd_classifier_new (IFD_CODEC_H265);
  else if (find_slot_codec (format, &codec))
    reader->slots = slot_reader_new (codec);
  picture_reader_reset (reader);
  return reader;
}

void
picture_reader_free (PictureReader * reader)
{
  g_clear_pointer (&reader->classifier, ifd_classifier_free);
  g_clear_pointer (&reader->slots, slot_reader_free);
  g_free (reader);
}

void
picture_reader_reset (PictureReader * reader)
{
  reader->key_pts = NO_TIME;
  reader->has_key = FALSE;
  if (reader->classifier)
    ifd_classifier_reset (reader->classifier);
  if (reader->slots)
    slot_reader_reset (reader->slots);
  reader->kind = PICTURE_KIND_UNKNOWN;
}

/* Reads the field lengthSizeMinusOne from the codec data of the caps (ISO/IEC
 * 14496-15, 5.3.3.1.2 and 8.3.3.1.2). It gives the size of the length field
 * that precedes each NAL unit. Returns FALSE if the data are too short. */
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
  if (reader->format == PICTURE_FORMAT_AV1
      || reader->format == PICTURE_FORMAT_AV1_FRAME)
    return slot_reader_set_codec_data (reader->slots, data, size);
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
  /* The flag closed_gop is in the GOP header, and only the first packet of a
   * frame can contain the GOP header. */
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

/* Returns whether the picture is a leading picture, which follows a key frame
 * in decoding order, but may refer to pictures before this key frame. If the
 * key frame has begun a closed GOP, there are no leading pictures, and the
 * result is FALSE. Otherwise the frame may have a flag that says whether it is
 * a leading or a trailing picture. If it has no such flag, its position
 * decides: the result is TRUE for a non-reference picture between a key frame
 * and the next reference picture. */
static gboolean
is_leading_frame (const PictureReader * reader, const IfdFrame * frame)
{
  if (frame->flags & (IFD_FRAME_LEADING | IFD_FRAME_TRAILING))
    return (frame->flags & IFD_FRAME_LEADING) != 0 && !reader->is_closed;
  return frame->type == IFD_FRAME_B && reader->has_key && !reader->is_closed &&
      !reader->has_reference;
}

static void
read_frame (PictureReader * reader, const IfdFrame * frame, PictureInfo * info)
{
  static const PictureKind kinds[IFD_FRAME_LAST] = { PICTURE_KIND_KEY,
    PICTURE_KIND_REFERENCE, PICTURE_KIND_DROPPABLE
  };

  info->kind = kinds[frame->type];
  info->layer = MAX (frame->layer, (gint) frame->depth);
  info->has_slots = (frame->flags & IFD_FRAME_SLOTS) != 0;
  info->uses = frame->uses;
  info->updates = frame->updates;
  if (frame->type == IFD_FRAME_I) {
    reader->has_key = TRUE;
    reader->is_closed = (frame->flags & IFD_FRAME_CLOSED) != 0;
    reader->has_reference = FALSE;
    return;
  }
  info->is_leading = is_leading_frame (reader, frame);
  reader->has_reference |= frame->type == IFD_FRAME_P && !info->is_leading;
}

static void
read_access_unit (PictureReader * reader, const guint8 * data, gsize size,
    guint64 pts, PictureInfo * info)
{
  IfdFrame frame = { 0, };

  ifd_classifier_input (reader->classifier, data, size, pts, &frame);
  read_frame (reader, &frame, info);
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

/* Determines the kind of an H.265 picture from the type of its NAL units and
 * from its temporal sub-layer. An even type stands for a sub-layer
 * non-reference picture: no picture of the same sub-layer refers to it.
 * Pictures of higher sub-layers may nevertheless refer to it (H.265, 7.4.2.2).
 * It therefore counts as a non-reference picture only if it is in the highest
 * sub-layer. */
static PictureKind
get_h265_slice_kind (PictureReader * reader, guint type, guint sub_layer)
{
  reader->highest_sub_layer = MAX (reader->highest_sub_layer, sub_layer);
  if (type % 2 == 0 && sub_layer == reader->highest_sub_layer)
    return PICTURE_KIND_DROPPABLE;
  return PICTURE_KIND_REFERENCE;
}

/* Sets the slots that an H.265 picture uses and updates. There is one slot for
 * each temporal sub-layer. It stands for the reference pictures of this
 * sub-layer. A picture refers only to pictures of its own sub-layer and of
 * lower sub-layers (7.4.2.2).
 *
 * TSA and STSA pictures are points at which a decoder can begin to decode a
 * sub-layer. After such a picture, the earlier pictures of the sub-layer are no
 * longer used. A TSA picture has this effect on its own sub-layer and on all
 * higher sub-layers, and an STSA picture only on its own sub-layer. */
static void
set_h265_slots (const PictureReader * reader, guint type, guint sub_layer,
    PictureInfo * info)
{
  info->layer = sub_layer;
  info->has_slots = reader->highest_sub_layer > 0;
  if (info->kind == PICTURE_KIND_KEY) {
    info->updates = SLOTS_OF_LAYERS;
    return;
  }
  info->uses = SLOTS_BELOW (sub_layer + 1);
  if (info->kind != PICTURE_KIND_DROPPABLE)
    info->updates = 1u << sub_layer | (sub_layer == 0 ? SLOT_BEFORE_KEY : 0);
  if (type >= H265_TSA_N && type <= H265_STSA_R)
    info->uses = SLOTS_BELOW (sub_layer);
  if (type == H265_TSA_R)
    info->updates = SLOTS_OF_LAYERS & ~SLOTS_BELOW (sub_layer);
  if (type == H265_RASL_N || type == H265_RASL_R) {
    info->uses |= SLOT_BEFORE_KEY;
    info->updates = 0;
  }
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
  if (info->kind >= PICTURE_KIND_DROPPABLE)
    set_h265_slots (reader, type, sub_layer, info);
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

/* Reads a buffer that contains one NAL unit. If reader->length_size is 0, the
 * buffer begins with the start code of the NAL unit. Otherwise it begins with
 * the length of the NAL unit. */
static void
read_nal (PictureReader * reader, const guint8 * data, gsize size,
    gboolean is_h265, PictureInfo * info)
{
  gsize skip = reader->length_size;

  if (skip == 0) {
    while (skip < size && data[skip] == 0)
      skip++;
    skip++;                     /* skips the last byte (01) of the start code */
  }
  if (skip < size)
    read_unit (reader, data + skip, size - skip, is_h265, info);
}

/* --- RTP ------------------------------------------------------------------ */

/* Parses an aggregation packet, which contains several NAL units. Each NAL unit
 * is preceded by its size (RFC 6184, 5.7.1, and RFC 7798, 4.4.2). The packet
 * gets the kind of its most important NAL unit. */
static void
read_aggregate (PictureReader * reader, const guint8 * data, gsize size,
    gboolean is_h265, PictureInfo * info)
{
  while (size > 2) {
    const gsize length = read_be16 (data);
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

/* Returns FALSE if the picture type in the packet (the field P of the RFC 2250
 * header) is 0. RFC 2250, section 3.4, forbids this value. Some senders
 * nevertheless set the whole header to 0. These senders also put parts of
 * several pictures into one packet, so the kind of the picture cannot be
 * determined. */
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

/* --- VP8, VP9 and AV1 ----------------------------------------------------- */

static PictureKind
get_slot_kind (const SlotUse * use)
{
  if (use->is_key)
    return PICTURE_KIND_KEY;
  return use->is_reference ? PICTURE_KIND_REFERENCE : PICTURE_KIND_DROPPABLE;
}

static void
read_slots (PictureReader * reader, const guint8 * data, gsize size,
    PictureInfo * info)
{
  SlotUse use;
  const gboolean is_read = slot_reader_input (reader->slots, data, size, NULL,
      &use);

  info->kind = is_read ? get_slot_kind (&use) : PICTURE_KIND_UNKNOWN;
  info->layer = MAX (use.layer, 0);
  info->has_slots = TRUE;
  info->uses = use.uses;
  info->updates = use.updates;
}

/* Returns the kind of a picture of VP8, VP9 or AV1. `data` are the first bytes
 * of the picture. A picture may consist of several coded frames, of which only
 * the last one is displayed. If the first frame is not displayed, more frames
 * follow, and their bytes may not have arrived yet. The kind of the whole
 * picture is then unknown, and the picture is assumed to be a reference
 * picture. */
static PictureKind
read_slots_start (PictureReader * reader, const guint8 * data, gsize size)
{
  SlotUse use;

  if (!slot_reader_input_start (reader->slots, data, size, &use))
    return PICTURE_KIND_UNKNOWN;
  if (!use.is_key && !use.is_shown)
    return PICTURE_KIND_REFERENCE;
  return get_slot_kind (&use);
}

/* Returns the size in bytes of the VP8 payload descriptor (RFC 7741, 4.2), or 0
 * if the packet is too short. */
static gsize
get_vp8_descriptor_size (const guint8 * data, gsize size)
{
  gsize at = 2;

  if (size < 1)
    return 0;
  if (!(data[0] & 0x80))        /* X */
    return size > 1 ? 1 : 0;
  if (size < 3)
    return 0;
  /* If the bit I of the payload descriptor is set, a PictureID of one or two
   * bytes is present. */
  if (data[1] & 0x80)
    at += data[2] & 0x80 ? 2 : 1;
  if (data[1] & 0x40)           /* L */
    at++;
  if (data[1] & 0x30)           /* T or K */
    at++;
  return at < size ? at : 0;
}

/* Returns the kind of a VP8 picture from one of its RTP packets. If the bit N
 * of the payload descriptor is set, the picture is a non-reference picture.
 * Payloaders do not always set N for such pictures. If N is not set, the frame
 * header is therefore read as well. */
static PictureKind
read_rtp_vp8 (PictureReader * reader, const guint8 * data, gsize size)
{
  const gsize descriptor = get_vp8_descriptor_size (data, size);
  PictureKind kind;

  if (descriptor == 0)
    return PICTURE_KIND_UNKNOWN;
  if (data[0] & 0x20)           /* N */
    return PICTURE_KIND_DROPPABLE;
  /* Only the first packet of a frame contains the frame header. It is the
   * packet that begins the first partition. Its payload descriptor has the bit
   * S set to 1 and the field PID set to 0. */
  if ((data[0] & 0x17) != 0x10)
    return PICTURE_KIND_UNKNOWN;
  kind = read_slots_start (reader, data + descriptor, size - descriptor);
  if (kind != PICTURE_KIND_UNKNOWN)
    return kind;
  /* The frame header could not be parsed, so only its first bit is used. It is
   * the bit P of the VP8 payload header (RFC 7741, 4.3), which is 0 for a key
   * frame. */
  return data[descriptor] & 1 ? PICTURE_KIND_REFERENCE : PICTURE_KIND_KEY;
}

/* Skips the scalability structure of a VP9 payload descriptor (RFC 9628,
 * 4.2.1). It begins at the offset `at`. Returns the offset after it, or 0 if
 * the packet is too short. */
static gsize
skip_vp9_structure (const guint8 * data, gsize size, gsize at)
{
  guint n_groups, i;

  if (at >= size)
    return 0;
  i = data[at] >> 5;            /* N_S */
  n_groups = data[at] & 8;      /* G */
  /* If the bit Y is set, the width and the height of each spatial layer follow,
   * 4 bytes for each layer. */
  if (data[at++] & 0x10)
    at += 4 * (i + 1);
  if (!n_groups)
    return at;
  if (at >= size)
    return 0;
  n_groups = data[at++];
  for (i = 0; i < n_groups; i++) {
    if (at >= size)
      return 0;
    at += 1 + (data[at] >> 2 & 3);      /* field R: number of P_DIFF */
  }
  return at;
}

/* Returns the size in bytes of the VP9 payload descriptor (RFC 9628, 4.2), or 0
 * if the packet is too short. */
static gsize
get_vp9_descriptor_size (const guint8 * data, gsize size)
{
  const gboolean is_flexible = size > 0 && (data[0] & 0x10);
  gsize at = 1;
  guint i;

  if (size < 2)
    return 0;
  if (data[0] & 0x80)           /* I */
    at += data[at] & 0x80 ? 2 : 1;
  /* If the bit L is set, one byte with the layer indices is present. If, in
   * addition, the bit F is not set, one byte TL0PICIDX follows. */
  if (data[0] & 0x20)
    at += is_flexible ? 1 : 2;
  if (is_flexible && (data[0] & 0x40)) {        /* bit P: up to three P_DIFF */
    for (i = 0; i < 3; i++) {
      if (at >= size)
        return 0;
      if (!(data[at++] & 1))    /* N */
        break;
    }
  }
  if (data[0] & 0x02)           /* V */
    at = skip_vp9_structure (data, size, at);
  return at < size ? at : 0;
}

static PictureKind
read_rtp_vp9 (PictureReader * reader, const guint8 * data, gsize size)
{
  const gsize descriptor = get_vp9_descriptor_size (data, size);

  if (descriptor == 0 || !(data[0] & 8))        /* bit B: start of a frame */
    return PICTURE_KIND_UNKNOWN;
  return read_slots_start (reader, data + descriptor, size - descriptor);
}

/* Reads the size of an OBU element in an RTP packet of AV1. The size is coded
 * as leb128 () (RTP Payload Format For AV1, 4.3, and AV1, 4.10.5). Stores the
 * size in `element`. Returns the number of bytes that the size field itself
 * occupies, or 0 if it is malformed. */
static gsize
read_element_size (const guint8 * data, gsize size, gsize * element)
{
  gsize i;

  *element = 0;
  for (i = 0; i < MIN (size, 4); i++) {
    *element |= (gsize) (data[i] & 0x7f) << 7 * i;
    if (!(data[i] & 0x80))
      return i + 1;
  }
  return 0;
}

/* Returns the kind of an AV1 picture from one of its RTP packets. Parses the
 * aggregation header and the OBU elements of the packet (RTP Payload Format For
 * AV1, 4.4). If the field W is not 0, it is the number of elements, and the
 * last element has no size field. */
static PictureKind
read_rtp_av1 (PictureReader * reader, const guint8 * data, gsize size)
{
  const guint count = size > 0 ? data[0] >> 4 & 3 : 0;  /* W */
  gboolean is_continued = size > 0 && (data[0] & 0x80); /* Z */
  PictureKind kind = PICTURE_KIND_UNKNOWN;
  gsize at = 1, element;
  guint i;

  for (i = 1; at < size; i++) {
    if (i == count) {
      element = size - at;
    } else {
      at += read_element_size (data + at, size - at, &element);
      if (element == 0 || element > size - at)
        return kind;
    }
    if (!is_continued)
      kind = MAX (kind, read_slots_start (reader, data + at, element));
    is_continued = FALSE;
    at += element;
  }
  return kind;
}

/* Determines the kind of the picture to which an RTP packet of VP8, VP9 or AV1
 * belongs. Only the first packet of a picture shows the kind. The other packets
 * of the picture have the same timestamp and get the same kind. */
static void
read_rtp_slots (PictureReader * reader, const guint8 * data, gsize size,
    PictureInfo * info)
{
  const gsize header = rtp_header_get_size (data, size);
  guint32 timestamp;
  PictureKind kind;

  if (header == 0)
    return;
  timestamp = read_be32 (data + 4);
  data += header;
  size -= header;
  if (reader->format == PICTURE_FORMAT_RTP_VP8)
    kind = read_rtp_vp8 (reader, data, size);
  else if (reader->format == PICTURE_FORMAT_RTP_VP9)
    kind = read_rtp_vp9 (reader, data, size);
  else
    kind = read_rtp_av1 (reader, data, size);
  if (reader->kind != PICTURE_KIND_UNKNOWN && timestamp == reader->timestamp)
    kind = MAX (kind, reader->kind);
  reader->timestamp = timestamp;
  reader->kind = info->kind = kind;
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
    case PICTURE_FORMAT_VP8:
    case PICTURE_FORMAT_VP9:
    case PICTURE_FORMAT_AV1:
    case PICTURE_FORMAT_AV1_FRAME:
      read_slots (reader, data, size, info);
      break;
    case PICTURE_FORMAT_RTP_VP8:
    case PICTURE_FORMAT_RTP_VP9:
    case PICTURE_FORMAT_RTP_AV1:
      read_rtp_slots (reader, data, size, info);
      break;
    default:
      read_rtp (reader, data, size, info);
      break;
  }
}

/* Finds out whether a picture of H.264 is a leading picture. A leading picture
 * follows a key frame in decoding order, but is displayed before this key
 * frame. The header of a slice does not show this. The timestamp `pts` of the
 * picture is therefore compared with the timestamp of the key frame. */
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
  const PictureInfo unknown = { PICTURE_KIND_UNKNOWN };

  *info = unknown;
  read_buffer (reader, data, size, pts, info);
  if (info->kind == PICTURE_KIND_REFERENCE && is_key)
    info->kind = PICTURE_KIND_KEY;
  note_time (reader, pts, is_key, info);
  if (info->kind == PICTURE_KIND_KEY)
    info->is_leading = FALSE;
}

void
picture_reader_input_frame (PictureReader * reader, const IfdFrame * frame,
    PictureInfo * info)
{
  const PictureInfo none = { PICTURE_KIND_UNKNOWN };

  *info = none;
  read_frame (reader, frame, info);
}
