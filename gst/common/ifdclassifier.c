/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What access units are to the choice of frames; see the header.
 *
 * The NAL units of an access unit are read in their order up to the first that
 * decides, which is the first slice, or, where that is one to which none
 * refers, the first one to which some do. All before it is small.
 */

#include "ifdclassifier.h"

#include <string.h>

#include "mpegvideo.h"

/* H.264, table 7-1: nal_unit_type */
#define H264_SLICE_FIRST 1
#define H264_IDR 5              /* and the last of slices */
#define H264_SEI 6
#define H264_SLICE_EXTENSION 20 /* other views and layers */
#define H264_SLICE_DEPTH 21

/* H.265, table 7-1: nal_unit_type */
#define H265_SUB_LAYER_LAST 15  /* even up to here: sub-layer non-reference */
#define H265_RASL_N 8
#define H265_RASL_R 9
#define H265_BLA_FIRST 16
#define H265_BLA_LAST 18
#define H265_IDR_FIRST 19
#define H265_IDR_LAST 20
#define H265_IRAP_LAST 23       /* CRA is 21 */
#define H265_VCL_LAST 31
#define H265_SPS 33

/* H.264, D.1: payloadType */
#define SEI_RECOVERY_POINT 6

/* H.265, 7.4.3.2.1 */
#define MAX_SUB_LAYERS 7
#define SUB_LAYERS_UNKNOWN G_MAXUINT

/* 14496-15: fields of avcC and hvcC before their lists */
#define AVCC_HEADER_SIZE 5
#define HVCC_HEADER_SIZE 22

struct _IfdClassifier
{
  IfdCodec codec;
  guint length_size;            /* bytes before each NAL unit; 0: byte-stream */
  guint highest_sub_layer;      /* that the SPS declares */

  guint64 last_i_pts;           /* ns, or G_MAXUINT64 */
  gboolean last_i_closed;

  guint64 malformed[IFD_MALFORMED_LAST];
};

/* A NAL unit, from its header on. In a byte-stream end is first that of the
 * access unit, since slices are long and their ends of no interest. */
typedef struct
{
  const guint8 *data, *end;
  guint type;
} Unit;

/* The way through one access unit */
typedef struct
{
  IfdClassifier *classifier;
  const guint8 *next, *end;
  gboolean malformed;           /* counted */
} Reader;

const gchar *
ifd_malformed_get_name (IfdMalformed reason)
{
  static const gchar *const names[IFD_MALFORMED_LAST] = {
    "no-start-code", "length", "header", "sei", "sps"
  };

  return names[reason];
}

IfdClassifier *
ifd_classifier_new (IfdCodec codec)
{
  IfdClassifier *classifier = g_new0 (IfdClassifier, 1);

  classifier->codec = codec;
  classifier->highest_sub_layer = SUB_LAYERS_UNKNOWN;
  ifd_classifier_reset (classifier);
  return classifier;
}

void
ifd_classifier_free (IfdClassifier * classifier)
{
  g_free (classifier);
}

void
ifd_classifier_reset (IfdClassifier * classifier)
{
  classifier->last_i_pts = G_MAXUINT64;
  classifier->last_i_closed = FALSE;
}

guint64
ifd_classifier_get_malformed (const IfdClassifier * classifier,
    IfdMalformed reason)
{
  return classifier->malformed[reason];
}

static void
count_malformed (Reader * reader, IfdMalformed reason)
{
  if (!reader->malformed)
    reader->classifier->malformed[reason]++;
  reader->malformed = TRUE;
}

/* H.265, 7.3.2.2.1: sps_max_sub_layers_minus1, in the byte behind the header.
 * No emulation prevention can stand before it. */
static gboolean
parse_sub_layers (const guint8 * sps, gsize size, guint * highest)
{
  if (size < 3)
    return FALSE;
  *highest = sps[2] >> 1 & 7;
  return *highest < MAX_SUB_LAYERS;
}

/* Codec data */

/* A list of parameter sets: each with 16 bits of length before it. Returns what
 * is behind the list, or NULL. In H.265 the highest sub-layer of any SPS is
 * what counts: nothing says here which of them the slices will name. */
static const guint8 *
parse_sets (const guint8 * data, const guint8 * end, guint count,
    gboolean is_h265_sps, guint * highest)
{
  for (; count > 0; count--) {
    gsize size;
    guint declared;

    if (end - data < 2)
      return NULL;
    size = data[0] << 8 | data[1];
    data += 2;
    if ((gsize) (end - data) < size)
      return NULL;
    if (is_h265_sps) {
      if (!parse_sub_layers (data, size, &declared))
        return NULL;
      *highest = *highest == SUB_LAYERS_UNKNOWN ? declared
          : MAX (*highest, declared);
    }
    data += size;
  }
  return data;
}

/* 14496-15, 5.3.3.1.2. What may follow the PPS says nothing of interest. */
static gboolean
parse_avcc (const guint8 * data, gsize size, guint * length_size)
{
  const guint8 *end = data + size;

  if (size < AVCC_HEADER_SIZE + 2 || data[0] != 1)
    return FALSE;
  *length_size = (data[4] & 3) + 1;
  data = parse_sets (data + AVCC_HEADER_SIZE + 1, end,
      data[AVCC_HEADER_SIZE] & 31, FALSE, NULL);
  return data && data < end && parse_sets (data + 1, end, data[0], FALSE, NULL);
}

/* 14496-15, 8.3.3.1.2. Early writers left the version 0. */
static gboolean
parse_hvcc (const guint8 * data, gsize size, guint * length_size,
    guint * highest)
{
  const guint8 *end = data + size;
  guint n_arrays;

  if (size < HVCC_HEADER_SIZE + 1 || data[0] > 1)
    return FALSE;
  *length_size = (data[HVCC_HEADER_SIZE - 1] & 3) + 1;
  n_arrays = data[HVCC_HEADER_SIZE];
  data += HVCC_HEADER_SIZE + 1;
  for (; n_arrays > 0; n_arrays--) {
    if (end - data < 3)
      return FALSE;
    data = parse_sets (data + 3, end, data[1] << 8 | data[2],
        (data[0] & 63) == H265_SPS, highest);
    if (!data)
      return FALSE;
  }
  return TRUE;
}

gboolean
ifd_classifier_set_codec_data (IfdClassifier * classifier, const guint8 * data,
    gsize size)
{
  guint length_size = 0, highest = SUB_LAYERS_UNKNOWN;
  gboolean parsed;

  if (!data) {
    classifier->length_size = 0;
    return TRUE;
  }
  if (classifier->codec == IFD_CODEC_H264)
    parsed = parse_avcc (data, size, &length_size);
  else
    parsed = parse_hvcc (data, size, &length_size, &highest);
  if (!parsed || length_size == 3)
    return FALSE;
  classifier->length_size = length_size;
  if (highest != SUB_LAYERS_UNKNOWN)
    classifier->highest_sub_layer = highest;
  return TRUE;
}

/* NAL units */

/* 14496-15, 5.3.4.2 */
static gboolean
read_length (Reader * reader, Unit * unit)
{
  guint length_size = reader->classifier->length_size, i;
  gsize size = 0;

  if (reader->next == reader->end)
    return FALSE;
  if ((gsize) (reader->end - reader->next) < length_size) {
    count_malformed (reader, IFD_MALFORMED_LENGTH);
    return FALSE;
  }
  for (i = 0; i < length_size; i++)
    size = size << 8 | *reader->next++;
  if (size == 0 || (gsize) (reader->end - reader->next) < size) {
    count_malformed (reader, IFD_MALFORMED_LENGTH);
    return FALSE;
  }
  unit->data = reader->next;
  reader->next = unit->end = unit->data + size;
  return TRUE;
}

/* H.264, B.1, and H.265, B.2 */
static gboolean
read_start_code (Reader * reader, Unit * unit)
{
  const guint8 *code = mpeg_video_find_start_code (reader->next, reader->end);

  if (!code)
    return FALSE;
  unit->data = reader->next = code + 3;
  unit->end = reader->end;
  return TRUE;
}

/* Where a unit of a byte-stream ends: at the next start code, without the zero
 * bytes before it. */
static void
find_end (const Reader * reader, Unit * unit)
{
  const guint8 *code;

  if (reader->classifier->length_size > 0)
    return;
  code = mpeg_video_find_start_code (unit->data, reader->end);
  unit->end = code ? code : reader->end;
  while (unit->end > unit->data && unit->end[-1] == 0)
    unit->end--;
}

static gboolean
read_unit (Reader * reader, Unit * unit)
{
  if (reader->classifier->length_size > 0)
    return read_length (reader, unit);
  return read_start_code (reader, unit);
}

/* What is before the first start code of a byte-stream can only be zeros. */
static void
check_beginning (Reader * reader)
{
  const guint8 *code;

  if (reader->classifier->length_size > 0)
    return;
  code = mpeg_video_find_start_code (reader->next, reader->end);
  while (code && reader->next < code && *reader->next == 0)
    reader->next++;
  if (reader->next != code)
    count_malformed (reader, IFD_MALFORMED_NO_START_CODE);
}

/* SEI */

/* The bytes of a NAL unit without those that prevent emulation of start codes
 * (H.264, 7.3.1) */
typedef struct
{
  const guint8 *next, *end;
  guint zeros;                  /* just before next */
} Payload;

static gboolean
take_byte (Payload * payload, guint8 * byte)
{
  if (payload->zeros >= 2 && payload->next < payload->end
      && *payload->next == 3) {
    payload->next++;
    payload->zeros = 0;
  }
  if (payload->next == payload->end)
    return FALSE;
  *byte = *payload->next++;
  payload->zeros = *byte == 0 ? payload->zeros + 1 : 0;
  return TRUE;
}

/* H.264, 7.3.2.3.1: bytes of 255, and a last one */
static gboolean
take_number (Payload * payload, gsize * number)
{
  guint8 byte;

  *number = 0;
  do {
    if (!take_byte (payload, &byte))
      return FALSE;
    *number += byte;
  } while (byte == 255);
  return TRUE;
}

/* broken_link_flag (H.264, D.1.8): behind recovery_frame_cnt, which is ue(v) of
 * at most 16 bits, and exact_match_flag */
static gboolean
parse_broken_link (const guint8 * bytes, gsize size)
{
  guint64 bits = 0;
  guint zeros = 0, i;

  for (i = 0; i < 8; i++)
    bits = bits << 8 | (i < size ? bytes[i] : 0);
  while (zeros < 16 && !(bits >> (63 - zeros) & 1))
    zeros++;
  return bits >> (63 - (2 * zeros + 2)) & 1;
}

/* H.264, 7.3.2.3. Sets recovery and broken where there is such a message. */
static gboolean
parse_sei (const Unit * unit, gboolean * recovery, gboolean * broken)
{
  Payload payload = { unit->data + 1, unit->end, 0 };

  /* rbsp_trailing_bits */
  while (payload.end > payload.next && payload.end[-1] == 0)
    payload.end--;
  if (payload.end > payload.next && payload.end[-1] == 0x80)
    payload.end--;
  while (payload.next < payload.end) {
    guint8 message[8] = { 0, }, byte;
    gsize type, size, i;

    if (!take_number (&payload, &type) || !take_number (&payload, &size))
      return FALSE;
    for (i = 0; i < size; i++) {
      if (!take_byte (&payload, &byte))
        return FALSE;
      if (i < sizeof (message))
        message[i] = byte;
    }
    if (type == SEI_RECOVERY_POINT) {
      *recovery = TRUE;
      *broken = parse_broken_link (message, size);
    }
  }
  return TRUE;
}

/* H.264 */

/* 7.3.1. What stands in it is of no further layer of a unit. */
static gboolean
parse_h264_header (Reader * reader, Unit * unit)
{
  if (*unit->data & 0x80) {
    count_malformed (reader, IFD_MALFORMED_HEADER);
    return FALSE;
  }
  unit->type = *unit->data & 31;
  return TRUE;
}

static gboolean
is_h264_slice (const Unit * unit)
{
  return unit->type >= H264_SLICE_FIRST && unit->type <= H264_IDR;
}

/* nal_ref_idc (7.4.1) is the same in all slices of a picture, but there may be
 * another field, view or layer. */
static gboolean
is_h264_reference (Reader * reader, Unit * unit)
{
  do {
    if (parse_h264_header (reader, unit) && (*unit->data >> 5 & 3)
        && (is_h264_slice (unit) || unit->type == H264_SLICE_EXTENSION
            || unit->type == H264_SLICE_DEPTH))
      return TRUE;
  } while (read_unit (reader, unit));
  return FALSE;
}

static void
classify_h264 (Reader * reader, IfdFrame * frame)
{
  gboolean recovery = FALSE, broken = FALSE, found = FALSE;
  Unit unit;

  while (!found && read_unit (reader, &unit)) {
    if (!parse_h264_header (reader, &unit))
      continue;
    found = is_h264_slice (&unit);
    if (unit.type != H264_SEI)
      continue;
    find_end (reader, &unit);
    if (!parse_sei (&unit, &recovery, &broken))
      count_malformed (reader, IFD_MALFORMED_SEI);
  }
  if (!found)
    return;
  if (unit.type == H264_IDR) {
    frame->type = IFD_FRAME_I;
    frame->flags = IFD_FRAME_CLOSED;
  } else if (!is_h264_reference (reader, &unit)) {
    frame->type = IFD_FRAME_B;
  } else if (recovery) {
    frame->type = IFD_FRAME_I;
    frame->flags = broken ? IFD_FRAME_BROKEN : 0;
  }
}

/* Frames that are output before the I-frame behind which they come, may refer
 * to what is before it. Nothing else in H.264 says so. */
static void
mark_leading_h264 (IfdClassifier * classifier, guint64 pts, IfdFrame * frame)
{
  if (frame->type == IFD_FRAME_I) {
    classifier->last_i_pts = pts;
    classifier->last_i_closed = (frame->flags & IFD_FRAME_CLOSED) != 0;
  } else if (classifier->last_i_closed) {
    frame->flags = IFD_FRAME_TRAILING;
  } else if (pts != G_MAXUINT64 && classifier->last_i_pts != G_MAXUINT64) {
    frame->flags = pts < classifier->last_i_pts ? IFD_FRAME_LEADING
        : IFD_FRAME_TRAILING;
  }
}

/* H.265 */

/* 7.3.1.2 */
static gboolean
parse_h265_header (Reader * reader, Unit * unit)
{
  if (unit->end - unit->data < 2 || (unit->data[0] & 0x80)
      || (unit->data[1] & 7) == 0) {
    count_malformed (reader, IFD_MALFORMED_HEADER);
    return FALSE;
  }
  unit->type = unit->data[0] >> 1;
  return TRUE;
}

/* nuh_layer_id is 0: of the layer that all decoders know */
static gboolean
is_h265_base (const Unit * unit)
{
  return (unit->data[0] & 1) == 0 && unit->data[1] >> 3 == 0;
}

/* Of several SPS in an access unit the highest sub-layer counts, as in hvcC. */
static void
read_h265_sps (Reader * reader, Unit * unit, guint * declared)
{
  guint highest;

  find_end (reader, unit);
  if (!parse_sub_layers (unit->data, unit->end - unit->data, &highest)) {
    count_malformed (reader, IFD_MALFORMED_SPS);
    return;
  }
  *declared = MAX (*declared, highest);
  reader->classifier->highest_sub_layer = *declared;
}

/* Table 7-1. A sub-layer non-reference picture of a lower sub-layer may be
 * referred to by pictures of higher ones (7.4.2.2). */
static void
classify_h265_slice (const IfdClassifier * classifier, const Unit * unit,
    IfdFrame * frame)
{
  guint type = unit->type, sub_layer = (unit->data[1] & 7) - 1;

  if (type >= H265_BLA_FIRST && type <= H265_IRAP_LAST) {
    frame->type = IFD_FRAME_I;
    if (type <= H265_BLA_LAST)
      frame->flags = IFD_FRAME_BROKEN;
    else if (type <= H265_IDR_LAST)
      frame->flags = IFD_FRAME_CLOSED;
    return;
  }
  if (type < H265_SUB_LAYER_LAST && type % 2 == 0
      && sub_layer == classifier->highest_sub_layer)
    frame->type = IFD_FRAME_B;
  frame->flags = type == H265_RASL_N || type == H265_RASL_R ?
      IFD_FRAME_LEADING : IFD_FRAME_TRAILING;
}

static void
classify_h265 (Reader * reader, IfdFrame * frame)
{
  guint declared = 0;
  Unit unit;

  while (read_unit (reader, &unit)) {
    if (!parse_h265_header (reader, &unit) || !is_h265_base (&unit))
      continue;
    if (unit.type <= H265_VCL_LAST) {
      classify_h265_slice (reader->classifier, &unit, frame);
      return;
    }
    if (unit.type == H265_SPS)
      read_h265_sps (reader, &unit, &declared);
  }
}

void
ifd_classifier_input (IfdClassifier * classifier, const guint8 * data,
    gsize size, guint64 pts, IfdFrame * frame)
{
  Reader reader = { classifier, data, data + size, FALSE };

  frame->type = IFD_FRAME_P;
  frame->flags = 0;
  check_beginning (&reader);
  if (classifier->codec == IFD_CODEC_H264) {
    classify_h264 (&reader, frame);
    mark_leading_h264 (classifier, pts, frame);
  } else {
    classify_h265 (&reader, frame);
  }
}

/* Slices */

static gboolean
is_slice (Reader * reader, Unit * unit)
{
  if (reader->classifier->codec == IFD_CODEC_H264)
    return parse_h264_header (reader, unit) && is_h264_slice (unit);
  return parse_h265_header (reader, unit) && is_h265_base (unit)
      && unit->type <= H265_VCL_LAST;
}

gboolean
ifd_classifier_find_slices (const IfdClassifier * classifier,
    const guint8 * data, gsize size, IfdSlices * slices)
{
  /* Faults count where the access unit is classified. */
  IfdClassifier scratch = *classifier;
  Reader reader = { &scratch, data, data + size, FALSE };
  Unit unit;

  memset (slices, 0, sizeof (*slices));
  while (read_unit (&reader, &unit)) {
    if (!is_slice (&reader, &unit))
      continue;
    find_end (&reader, &unit);
    if (!slices->first) {
      slices->first = unit.data;
      slices->first_size = unit.end - unit.data;
    }
    slices->size += unit.end - unit.data;
  }
  return slices->first != NULL;
}
