/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of ifdclassifier.h: frame types of H.264 and H.265 access
 * units.
 *
 * The NAL units of an access unit are parsed in their order until the frame
 * type is known. Usually the first slice is sufficient, and the NAL units
 * before it are small. In H.264, the other slices are parsed in four cases:
 * - The first slice is not used for reference.
 * - The picture may start a GOP although it is not an IDR picture.
 * - The picture is a field.
 * - The stream has layers, so the references of each slice must be known.
 */

#include "ifdclassifier.h"

#include <string.h>

#include "bigendian.h"
#include "h264headers.h"
#include "mpegvideo.h"
#include "nalbits.h"
#include "nalunittypes.h"
#include "references.h"

/* value of payloadType in a recovery point SEI message (H.264, D.1, and H.265,
 * D.2)
 */
#define SEI_RECOVERY_POINT 6

/* Maximum number of bytes at the beginning of a slice in which the end of the
 * slice header is searched for. No encoder writes a longer header, and
 * searching a whole slice would be slow. */
#define MAX_SLICE_HEADER 2048

/* maximum number of temporal sub-layers (sps_max_sub_layers, section 7.4.3.2.1
 * of H.265) */
#define MAX_SUB_LAYERS 7
#define SUB_LAYERS_UNKNOWN G_MAXUINT

/* Size in bytes of the fields of avcC and hvcC that precede the lists of
 * parameter sets (ISO/IEC 14496-15) */
#define AVCC_HEADER_SIZE 5
#define HVCC_HEADER_SIZE 22

struct _IfdClassifier
{
  IfdCodec codec;
  /* Size in bytes of the length that precedes each NAL unit; 0 in a
   * byte-stream, which has start codes */
  guint length_size;
  /* highest temporal sub-layer that the SPS of H.265 declares, or
   * SUB_LAYERS_UNKNOWN */
  guint highest_sub_layer;
  H264Headers *headers;         /* NULL for H.265 */
  H265Headers *h265;            /* NULL for H.264 */
  References *references;

  /* state of the last I-frame */
  guint64 last_i_pts;           /* in ns; G_MAXUINT64 if unknown */
  /* TRUE if last_i_order is the PicOrderCnt of the last I-frame; FALSE if this
   * PicOrderCnt is unknown */
  gboolean last_i_has_order;
  gint32 last_i_order;
  /* TRUE if no frame after the last I-frame refers to a frame before that
   * I-frame. This is the case if the I-frame begins a closed GOP, or if a later
   * picture has told the decoder to discard all reference pictures. */
  gboolean last_i_closed;

  /* part of a frame that the last access unit contained: the first field, the
   * second field, or the whole frame */
  IfdField field;
  /* first slice of the previous access unit; valid only if `field` is
   * IFD_FIELD_FIRST */
  H264Slice first_field;

  guint64 malformed[IFD_MALFORMED_LAST];
};

/* A NAL unit with its header. In a byte-stream, `end` is at first the end of
 * the whole access unit. The end of the NAL unit itself is searched for only if
 * it is needed, because the search would be slow in a long slice.
 */
typedef struct
{
  const guint8 *data, *end;
  guint type;
} Unit;

/* state of the parser while it parses one access unit */
typedef struct
{
  IfdClassifier *classifier;
  const guint8 *next, *end;
  /* TRUE if an error was already counted for this access unit */
  gboolean malformed;
} Reader;

/* Recovery point SEI message (H.264, D.2.8, and H.265, D.3.8) */
typedef struct
{
  gboolean is_present;
  /* TRUE if a decoder that starts at this picture decodes this picture
   * correctly. FALSE if the first correct picture comes some frames later. */
  gboolean is_at_once;
  /* Value of broken_link_flag, a flag of the recovery point message. The flag
   * is read only if `is_at_once` is TRUE. Otherwise this field is FALSE. */
  gboolean is_broken;
} Recovery;

IfdClassifier *
ifd_classifier_new (IfdCodec codec)
{
  IfdClassifier *classifier = g_new0 (IfdClassifier, 1);

  classifier->codec = codec;
  classifier->highest_sub_layer = SUB_LAYERS_UNKNOWN;
  classifier->references = references_new ();
  if (codec == IFD_CODEC_H264)
    classifier->headers = h264_headers_new ();
  else
    classifier->h265 = h265_headers_new ();
  ifd_classifier_reset (classifier);
  return classifier;
}

void
ifd_classifier_free (IfdClassifier * classifier)
{
  g_clear_pointer (&classifier->headers, h264_headers_free);
  g_clear_pointer (&classifier->h265, h265_headers_free);
  references_free (classifier->references);
  g_free (classifier);
}

/* If the H.265 stream has three or more temporal sub-layers, tells the
 * reference tracker (references.h) that the stream has layers. The tracker then
 * knows that the loss of a reference picture in a middle sub-layer does not
 * damage all later pictures: a decoder can still decode those that do not
 * depend on the lost picture. */
static void
declare_layers (IfdClassifier * classifier)
{
  if (classifier->highest_sub_layer != SUB_LAYERS_UNKNOWN
      && classifier->highest_sub_layer >= 2)
    references_declare_layers (classifier->references);
}

void
ifd_classifier_reset (IfdClassifier * classifier)
{
  classifier->last_i_pts = G_MAXUINT64;
  classifier->last_i_has_order = classifier->last_i_closed = FALSE;
  classifier->field = IFD_FIELD_NONE;
  if (classifier->headers)
    h264_headers_reset (classifier->headers);
  if (classifier->h265)
    h265_headers_reset (classifier->h265);
  references_reset (classifier->references);
  declare_layers (classifier);
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

/* Reads sps_max_sub_layers_minus1, which is in the first byte after the NAL
 * unit header of an SPS (section 7.3.2.2.1 of H.265). An emulation prevention
 * byte cannot occur before or at this place, so none has to be removed. */
static gboolean
parse_sub_layers (const guint8 * sps, gsize size, guint * highest)
{
  if (size < 3)
    return FALSE;
  *highest = sps[2] >> 1 & 7;
  return *highest < MAX_SUB_LAYERS;
}

/* Results of parsing codec data. */
typedef struct
{
  guint length_size;
  /* Highest temporal sub-layer that any SPS in the codec data declares. Only
   * valid for H.265. */
  guint highest;
  /* Objects that receive the parameter sets. NULL during the first pass, which
   * only checks the parameter sets. */
  H264Headers *headers;
  H265Headers *h265;
} CodecData;

typedef gboolean (*TakeSet) (const guint8 * data, gsize size,
    CodecData * found);

static gboolean
take_h264_sps (const guint8 * data, gsize size, CodecData * found)
{
  if (found->headers)
    h264_headers_add_sps (found->headers, data, size);
  return TRUE;
}

static gboolean
take_h264_pps (const guint8 * data, gsize size, CodecData * found)
{
  if (found->headers)
    h264_headers_add_pps (found->headers, data, size);
  return TRUE;
}

/* Codec data may contain several SPS, and a slice may refer to any of them. The
 * highest sub-layer that one of these SPS declares is therefore used. */
static gboolean
take_h265_sps (const guint8 * data, gsize size, CodecData * found)
{
  guint declared;

  if (!parse_sub_layers (data, size, &declared))
    return FALSE;
  found->highest = found->highest == SUB_LAYERS_UNKNOWN ? declared
      : MAX (found->highest, declared);
  if (found->h265)
    h265_headers_add_sps (found->h265, data, size);
  return TRUE;
}

static gboolean
take_h265_pps (const guint8 * data, gsize size, CodecData * found)
{
  if (found->h265)
    h265_headers_add_pps (found->h265, data, size);
  return TRUE;
}

static TakeSet
get_h265_taker (guint type)
{
  if (type == H265_SPS)
    return take_h265_sps;
  return type == H265_PPS ? take_h265_pps : NULL;
}

/* Parses a list of `count` parameter sets. Each parameter set is preceded by
 * its length in 16 bits. `take` is called for each parameter set and may be
 * NULL. Returns a pointer to the data after the list, or NULL if the list is
 * malformed. */
static const guint8 *
parse_sets (const guint8 * data, const guint8 * end, guint count, TakeSet take,
    CodecData * found)
{
  for (; count > 0; count--) {
    gsize size;

    if (end - data < 2)
      return NULL;
    size = read_be16 (data);
    data += 2;
    if ((gsize) (end - data) < size || (take && !take (data, size, found)))
      return NULL;
    data += size;
  }
  return data;
}

/* Parses avcC (ISO/IEC 14496-15, 5.3.3.1.2) up to the PPS. The fields that may
 * follow the PPS are not needed. */
static gboolean
parse_avcc (const guint8 * data, gsize size, CodecData * found)
{
  const guint8 *end = data + size;

  if (size < AVCC_HEADER_SIZE + 2 || data[0] != 1)
    return FALSE;
  found->length_size = (data[4] & 3) + 1;
  data = parse_sets (data + AVCC_HEADER_SIZE + 1, end,
      data[AVCC_HEADER_SIZE] & 31, take_h264_sps, found);
  return data && data < end
      && parse_sets (data + 1, end, data[0], take_h264_pps, found);
}

/* Parses hvcC (ISO/IEC 14496-15, 8.3.3.1.2). The version number 0 is accepted
 * in addition to 1, because early implementations wrote it.
 */
static gboolean
parse_hvcc (const guint8 * data, gsize size, CodecData * found)
{
  const guint8 *end = data + size;
  guint n_arrays;

  if (size < HVCC_HEADER_SIZE + 1 || data[0] > 1)
    return FALSE;
  found->length_size = (data[HVCC_HEADER_SIZE - 1] & 3) + 1;
  n_arrays = data[HVCC_HEADER_SIZE];
  data += HVCC_HEADER_SIZE + 1;
  for (; n_arrays > 0; n_arrays--) {
    if (end - data < 3)
      return FALSE;
    data = parse_sets (data + 3, end, read_be16 (data + 1),
        get_h265_taker (data[0] & 63), found);
    if (!data)
      return FALSE;
  }
  return TRUE;
}

gboolean
ifd_classifier_set_codec_data (IfdClassifier * classifier, const guint8 * data,
    gsize size)
{
  gboolean is_h264 = classifier->codec == IFD_CODEC_H264;
  CodecData found = { 0, SUB_LAYERS_UNKNOWN, NULL, NULL };
  gboolean parsed;

  if (!data) {
    classifier->length_size = 0;
    return TRUE;
  }
  parsed = is_h264 ? parse_avcc (data, size, &found) :
      parse_hvcc (data, size, &found);
  if (!parsed || found.length_size == 3)
    return FALSE;
  classifier->length_size = found.length_size;
  if (found.highest != SUB_LAYERS_UNKNOWN)
    classifier->highest_sub_layer = found.highest;
  declare_layers (classifier);
  /* The codec data are parsed twice. The first pass has found no error, so this
   * second pass can store the parameter sets. */
  found.headers = classifier->headers;
  found.h265 = classifier->h265;
  if (is_h264)
    parse_avcc (data, size, &found);
  else
    parse_hvcc (data, size, &found);
  return TRUE;
}

/* NAL units */

/* Reads the length that precedes a NAL unit (ISO/IEC 14496-15, 5.3.4.2). */
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

/* Finds the next start code of a byte-stream (H.264, B.1, and H.265, B.2). */
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

/* Sets the end of a NAL unit in a byte-stream. The unit ends before the next
 * start code and before the zero bytes that precede this start code. */
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

/* Checks the beginning of a byte-stream. The stream must begin with a start
 * code. Only bytes with the value 0 may precede this start code. Counts an
 * error if other bytes precede the first start code, or if there is no start
 * code. */
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

/* Reads the payload type or the payload size of an SEI message into `number`.
 * The value is coded as a sequence of bytes: any number of bytes with the value
 * 255, and one last byte with a lower value. The value is the sum of these
 * bytes (section 7.3.2.3.1 of H.264). Returns FALSE if the message ends before
 * the last byte.
 */
static gboolean
take_number (NalBits * payload, gsize * number)
{
  guint8 byte;

  *number = 0;
  do {
    if (!nal_bits_take_byte (payload, &byte))
      return FALSE;
    *number += byte;
  } while (byte == 255);
  return TRUE;
}

/* Parses a recovery point message. The message begins with a count:
 * recovery_frame_cnt as ue(v) in H.264 (D.1.8), or recovery_poc_cnt as se(v) in
 * H.265 (D.2.8). In both codings, the count 0 is a single bit with the value 1.
 * If the count is 0, the next two bits of the first byte are exact_match_flag
 * and broken_link_flag.
 */
static void
parse_recovery (guint8 first_byte, Recovery * recovery)
{
  recovery->is_present = TRUE;
  recovery->is_at_once = first_byte >> 7;
  recovery->is_broken = recovery->is_at_once && (first_byte >> 5 & 1);
}

/* Parses an SEI NAL unit (H.264, 7.3.2.3, and H.265, 7.3.2.4). If the NAL unit
 * contains a recovery point message, its contents are stored in `recovery`.
 * Returns FALSE if the NAL unit is malformed. */
static gboolean
parse_sei (const Unit * unit, gsize header_size, Recovery * recovery)
{
  NalBits payload;

  nal_bits_init (&payload, unit->data + header_size, unit->end);
  /* Removes the padding at the end of the NAL unit: rbsp_trailing_bits () and
   * zero bytes. */
  while (payload.end > payload.next && payload.end[-1] == 0)
    payload.end--;
  if (payload.end > payload.next && payload.end[-1] == 0x80)
    payload.end--;
  while (payload.next < payload.end) {
    guint8 first = 0, byte;
    gsize type, size, i;

    if (!take_number (&payload, &type) || !take_number (&payload, &size))
      return FALSE;
    for (i = 0; i < size; i++) {
      if (!nal_bits_take_byte (&payload, &byte))
        return FALSE;
      if (i == 0)
        first = byte;
    }
    if (type == SEI_RECOVERY_POINT)
      parse_recovery (first, recovery);
  }
  return TRUE;
}

static void
read_sei (Reader * reader, Unit * unit, gsize header_size, Recovery * recovery)
{
  find_end (reader, unit);
  if (!parse_sei (unit, header_size, recovery))
    count_malformed (reader, IFD_MALFORMED_SEI);
}

/* H.264 */

/* what is known about an H.264 access unit from the parts parsed so far */
typedef struct
{
  Recovery recovery;
  /* first slice of the access unit; only valid if is_known is TRUE */
  H264Slice first;
  gboolean is_known;
  /* TRUE if all slices of the first picture in the access unit are intra slices
   */
  gboolean is_intra;
  /* TRUE if other frames refer to this access unit. If the access unit contains
   * several views or layers, a reference to any of them counts. */
  gboolean is_reference;
  gint layer;                   /* temporal_id, or -1 if unknown */
  /* TRUE if the access unit also contains the second field of the frame */
  gboolean has_second;
  H264Slice second;             /* first slice of the second field */
} H264Unit;

/* Parses the first byte of an H.264 NAL unit (section 7.3.1 of H.264). The
 * header extensions of additional views or layers are not parsed. */
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

/* Returns whether other frames refer to this NAL unit, which may be a slice of
 * any view or layer. If a slice of an additional view or layer is used for
 * reference, the main view is used for reference too. */
static gboolean
is_h264_reference (const Unit * unit)
{
  return (*unit->data >> 5 & 3) && (is_h264_slice (unit)
      || unit->type == H264_SLICE_EXTENSION || unit->type == H264_SLICE_DEPTH);
}

/* Shortens the NAL unit of a slice to at most MAX_SLICE_HEADER bytes, because
 * only the slice header is parsed. Also removes zero bytes at the end of the
 * unit. A byte-stream may contain such bytes between two NAL units. In the
 * other stream format, the length of each NAL unit precedes the unit. After the
 * removal, both formats give the same result. */
static void
find_header_end (const Reader * reader, Unit * unit)
{
  const guint8 *code = NULL, *end = unit->end;

  if (end - unit->data > MAX_SLICE_HEADER)
    end = unit->data + MAX_SLICE_HEADER;
  /* The end of the search range is three bytes after `end`, because a start
   * code may begin before `end` and extend beyond it. */
  if (reader->classifier->length_size == 0)
    code = mpeg_video_find_start_code (unit->data,
        end + MIN (unit->end - end, 3));
  unit->end = code && code < end ? code : end;
  while (unit->end > unit->data && unit->end[-1] == 0)
    unit->end--;
}

static gboolean
read_h264_slice (const Reader * reader, Unit * unit, H264Slice * slice)
{
  find_header_end (reader, unit);
  return h264_headers_read_slice (reader->classifier->headers, unit->data,
      unit->end - unit->data, slice);
}

static void
take_h264_set (const Reader * reader, Unit * unit)
{
  H264Headers *headers = reader->classifier->headers;

  find_end (reader, unit);
  if (unit->type == H264_SPS)
    h264_headers_add_sps (headers, unit->data, unit->end - unit->data);
  else
    h264_headers_add_pps (headers, unit->data, unit->end - unit->data);
}

/* Reads temporal_id from a prefix NAL unit (section G.7.3.1.1 of H.264). The
 * field exists only if svc_extension_flag is set. This flag is the first bit of
 * the second byte. */
static void
read_prefix (const Reader * reader, Unit * unit, H264Unit * found)
{
  find_end (reader, unit);
  if (unit->end - unit->data >= 4 && (unit->data[1] & 0x80))
    found->layer = unit->data[3] >> 5;
}

/* Parses the NAL units before the first slice, and then the header of the first
 * slice. Returns FALSE if the access unit has no slice. */
static gboolean
read_h264_first (Reader * reader, H264Unit * unit)
{
  Unit nal;

  while (read_unit (reader, &nal)) {
    if (!parse_h264_header (reader, &nal))
      continue;
    if (nal.type == H264_SEI)
      read_sei (reader, &nal, 1, &unit->recovery);
    else if (nal.type == H264_SPS || nal.type == H264_PPS)
      take_h264_set (reader, &nal);
    else if (nal.type == H264_PREFIX)
      read_prefix (reader, &nal, unit);
    if (!is_h264_slice (&nal))
      continue;
    unit->is_reference = is_h264_reference (&nal);
    unit->is_known = read_h264_slice (reader, &nal, &unit->first);
    unit->is_intra = unit->first.is_intra;
    return TRUE;
  }
  return FALSE;
}

/* Records a further slice of the access unit. If this slice belongs to a top
 * field and the first slice to a bottom field, or the reverse, this slice
 * belongs to the second field of the frame (section 7.4.1.2.4 of H.264). */
static void
take_h264_slice (Reader * reader, Unit * nal, H264Unit * unit)
{
  H264Slice slice;
  gboolean is_known;

  if (nal->type != H264_SLICE_FIRST && nal->type != H264_PARTITION_A
      && nal->type != H264_IDR)
    return;
  is_known = read_h264_slice (reader, nal, &slice);
  if (is_known && unit->is_known && slice.is_field && unit->first.is_field
      && slice.is_bottom != unit->first.is_bottom) {
    unit->has_second = TRUE;
    unit->second = slice;
  } else if (!unit->has_second) {
    unit->is_intra &= slice.is_intra;
    if (is_known)
      references_add_h264_slice (reader->classifier->references, &slice);
    else
      references_abandon (reader->classifier->references);
  }
}

/* Parses further slices of the access unit. An access unit contains a frame, or
 * only a field of a frame. A frame may consist of two pictures: its two fields.
 * Further slices are parsed as long as one of these facts is needed but not
 * known:
 * - whether other frames refer to the frame in the access unit
 * - whether all slices of the first picture in the access unit are intra slices
 * - where the second field in the access unit starts
 *
 * If references are tracked, all slices of a picture that is not an IDR picture
 * are parsed, because each slice may refer to other pictures. */
static void
read_h264_rest (Reader * reader, H264Unit * unit, gboolean may_have_second)
{
  gboolean may_begin = unit->recovery.is_at_once && !unit->first.is_idr;
  gboolean needs_all = references_are_active (reader->classifier->references)
      && !unit->first.is_idr;
  Unit nal;

  while ((needs_all || !unit->is_reference || (!unit->has_second
              && (may_begin || may_have_second))) && read_unit (reader, &nal)) {
    if (!parse_h264_header (reader, &nal))
      continue;
    unit->is_reference |= is_h264_reference (&nal);
    take_h264_slice (reader, &nal, unit);
  }
}

/* Returns whether `slice` belongs to the second field of an interlaced frame.
 * This is possible only if the previous access unit was the first field of a
 * frame. The two fields of a frame have opposite parity (one is the top field,
 * the other the bottom field) and the same frame_num. They directly follow each
 * other (sections 7.4.1.2.4 and 3.30 of H.264). An IDR picture starts a new
 * frame, unless the first field is an IDR picture too. */
static gboolean
is_second_field (const IfdClassifier * classifier, const H264Slice * slice)
{
  const H264Slice *first = &classifier->first_field;

  return classifier->field == IFD_FIELD_FIRST && slice->is_field
      && slice->is_bottom != first->is_bottom
      && slice->frame_num == (first->forgets ? 0 : first->frame_num)
      && (!slice->is_idr || first->is_idr);
}

static IfdField
find_field (IfdClassifier * classifier, const H264Unit * unit)
{
  if (!unit->is_known || !unit->first.is_field)
    return IFD_FIELD_NONE;
  if (is_second_field (classifier, &unit->first))
    return IFD_FIELD_SECOND;
  classifier->first_field = unit->first;
  return IFD_FIELD_FIRST;
}

static void
set_h264_type (const H264Unit * unit, IfdField field, IfdFrame * frame)
{
  const Recovery *recovery = &unit->recovery;

  if (unit->first.is_idr && field != IFD_FIELD_SECOND) {
    frame->type = IFD_FRAME_I;
    frame->flags = IFD_FRAME_CLOSED;
  } else if (!unit->is_reference) {
    frame->type = IFD_FRAME_B;
  } else if (recovery->is_present && field != IFD_FIELD_SECOND) {
    if (recovery->is_at_once && unit->is_intra) {
      frame->type = IFD_FRAME_I;
      frame->flags = recovery->is_broken ? IFD_FRAME_BROKEN : 0;
    } else {
      frame->flags = IFD_FRAME_REFRESH;
    }
  }
}

/* Sets `is_leading` to TRUE if the frame is a leading frame. A leading frame
 * follows the last I-frame in coding order, but precedes this I-frame in output
 * order. A leading frame may refer to frames that precede the I-frame in coding
 * order. The output order is derived from the picture order count. If the
 * picture order count is unknown, the output order is derived from the
 * timestamps. Returns FALSE if the output order is unknown. */
static gboolean
find_direction (const IfdClassifier * classifier, guint64 pts,
    const gint32 * order, gboolean * is_leading)
{
  *is_leading = FALSE;
  if (classifier->last_i_closed)
    return TRUE;
  if (order && classifier->last_i_has_order) {
    *is_leading = *order < classifier->last_i_order;
    return TRUE;
  }
  *is_leading = pts < classifier->last_i_pts;
  return pts != G_MAXUINT64 && classifier->last_i_pts != G_MAXUINT64;
}

/* If the frame is an I-frame, stores its position in output order. For any
 * other frame, compares its position with that of the last I-frame, and sets
 * the flag IFD_FRAME_LEADING or IFD_FRAME_TRAILING. If one of the two positions
 * is unknown, no flag is set. `order` is the PicOrderCnt of the frame, or NULL
 * if it is unknown. */
static void
mark_leading_h264 (IfdClassifier * classifier, guint64 pts,
    const gint32 * order, IfdFrame * frame)
{
  gboolean is_leading;

  if (frame->type == IFD_FRAME_I) {
    classifier->last_i_pts = pts;
    classifier->last_i_closed = (frame->flags & IFD_FRAME_CLOSED) != 0;
    classifier->last_i_has_order = order != NULL;
    classifier->last_i_order = order ? *order : 0;
    return;
  }
  if (find_direction (classifier, pts, order, &is_leading))
    frame->flags |= is_leading ? IFD_FRAME_LEADING : IFD_FRAME_TRAILING;
}

static void
set_h264_order (const IfdClassifier * classifier, const H264Slice * slice,
    IfdFrame * frame)
{
  frame->order = slice->order_lsb;
  frame->order_range =
      h264_headers_get_order_range (classifier->headers, slice);
}

static void
set_slots (IfdClassifier * classifier, gboolean is_leading, IfdFrame * frame)
{
  const gboolean is_closed = frame->type == IFD_FRAME_I
      && (frame->flags & IFD_FRAME_CLOSED);
  const ReferencePicture picture = { frame->type == IFD_FRAME_I, is_closed,
    is_leading, frame->type != IFD_FRAME_B, frame->layer
  };
  ReferenceUse use;

  if (!references_end (classifier->references, &picture, &use))
    return;
  frame->flags |= IFD_FRAME_SLOTS;
  frame->uses = use.uses;
  frame->updates = use.updates;
  frame->depth = use.depth;
}

/* Computes the picture order count of the first slice, and finds the pictures
 * to which this slice refers. */
static void
begin_h264_picture (IfdClassifier * classifier, const H264Unit * unit,
    gint32 * order)
{
  if (!unit->is_known) {
    references_abandon (classifier->references);
    return;
  }
  *order = h264_headers_begin_picture (classifier->headers, &unit->first);
  references_begin_h264 (classifier->references, classifier->headers,
      &unit->first, *order);
  references_add_h264_slice (classifier->references, &unit->first);
  if (unit->layer >= 0)
    references_declare_layers (classifier->references);
}

static void
classify_h264 (Reader * reader, guint64 pts, IfdFrame * frame)
{
  IfdClassifier *classifier = reader->classifier;
  H264Unit unit = { {FALSE,}, };
  gboolean found, forgets = FALSE;
  IfdField field = IFD_FIELD_NONE;
  gint32 order = 0;

  unit.layer = -1;
  found = read_h264_first (reader, &unit);
  if (found) {
    begin_h264_picture (classifier, &unit, &order);
    field = find_field (classifier, &unit);
    read_h264_rest (reader, &unit, field == IFD_FIELD_FIRST);
    set_h264_type (&unit, field, frame);
    frame->layer = unit.layer;
  }
  /* Picture order counts are computed from those of previous pictures. If the
   * count of this picture is unknown, the counts of the following pictures are
   * unreliable, and cannot be compared with the count of the last I-frame. */
  if (found && !unit.is_known)
    classifier->last_i_has_order = FALSE;
  if (unit.is_known) {
    forgets = unit.first.forgets || unit.second.forgets;
    /* A picture that tells the decoder to discard all reference pictures is
     * displayed after all previous pictures. A decoder therefore cannot display
     * it in the wrong order, so IFD need not check its order. */
    if (!forgets)
      set_h264_order (classifier, &unit.first, frame);
  }
  if (unit.has_second) {
    h264_headers_begin_picture (classifier->headers, &unit.second);
    field = IFD_FIELD_NONE;
  }
  classifier->field = field;
  mark_leading_h264 (classifier, pts, unit.is_known ? &order : NULL, frame);
  if (found)
    set_slots (classifier, (frame->flags & IFD_FRAME_LEADING) != 0, frame);
  classifier->last_i_closed |= forgets;
}

/* H.265 */

/* Parses the header of an H.265 NAL unit (section 7.3.1.2 of H.265). */
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

/* Returns whether the NAL unit belongs to the base layer (nuh_layer_id is 0),
 * which all decoders support. */
static gboolean
is_h265_base (const Unit * unit)
{
  return (unit->data[0] & 1) == 0 && unit->data[1] >> 3 == 0;
}

/* Parses an SPS, and reads the number of sub-layers that it declares. If an
 * access unit contains several SPS, the highest sub-layer that one of them
 * declares is used. take_h265_sps() does the same for the SPS in codec data. */
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
  h265_headers_add_sps (reader->classifier->h265, unit->data,
      unit->end - unit->data);
  declare_layers (reader->classifier);
}

/* Determines the frame type from the type of the NAL unit (table 7-1 of H.265).
 * The frame type is B if no other picture refers to the frame. H.265 marks such
 * frames as "sub-layer non-reference pictures". This mark is reliable only in
 * the highest sub-layer. In a lower sub-layer, no picture of the same sub-layer
 * refers to the marked picture, but pictures of higher sub-layers may refer to
 * it (section 7.4.2.2). */
static void
classify_h265_slice (const IfdClassifier * classifier, const Unit * unit,
    IfdFrame * frame)
{
  guint type = unit->type, sub_layer = (unit->data[1] & 7) - 1;

  frame->layer = sub_layer;
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

/* Determines to which reference pictures an H.265 picture refers. `unit` is the
 * first slice of the picture. */
static void
read_h265_references (Reader * reader, Unit * unit, IfdFrame * frame)
{
  IfdClassifier *classifier = reader->classifier;
  H265Slice slice;

  find_header_end (reader, unit);
  if (h265_headers_read_slice (classifier->h265, unit->data,
          unit->end - unit->data, &slice))
    references_begin_h265 (classifier->references, &slice);
  else
    references_abandon (classifier->references);
  set_slots (classifier, unit->type >= H265_RADL_N
      && unit->type <= H265_RASL_R, frame);
}

static void
classify_h265 (Reader * reader, IfdFrame * frame)
{
  Recovery recovery = { FALSE, };
  guint declared = 0;
  Unit unit;

  while (read_unit (reader, &unit)) {
    if (!parse_h265_header (reader, &unit) || !is_h265_base (&unit))
      continue;
    if (unit.type <= H265_VCL_LAST) {
      classify_h265_slice (reader->classifier, &unit, frame);
      if (recovery.is_present && frame->type == IFD_FRAME_P)
        frame->flags |= IFD_FRAME_REFRESH;
      read_h265_references (reader, &unit, frame);
      return;
    }
    if (unit.type == H265_SPS) {
      read_h265_sps (reader, &unit, &declared);
    } else if (unit.type == H265_PPS) {
      find_end (reader, &unit);
      h265_headers_add_pps (reader->classifier->h265, unit.data,
          unit.end - unit.data);
    }
    if (unit.type == H265_PREFIX_SEI)
      read_sei (reader, &unit, 2, &recovery);
  }
}

void
ifd_classifier_input (IfdClassifier * classifier, const guint8 * data,
    gsize size, guint64 pts, IfdFrame * frame)
{
  Reader reader = { classifier, data, data + size, FALSE };

  frame->type = IFD_FRAME_P;
  frame->flags = 0;
  frame->order = frame->order_range = 0;
  frame->layer = -1;
  frame->depth = 0;
  frame->uses = frame->updates = 0;
  check_beginning (&reader);
  if (classifier->codec == IFD_CODEC_H264)
    classify_h264 (&reader, pts, frame);
  else
    classify_h265 (&reader, frame);
}

IfdField
ifd_classifier_get_field (const IfdClassifier * classifier)
{
  return classifier->field;
}

/* Computes the type of a frame that consists of two fields. If the first field
 * has the type I, the frame has the type I too, because the second field can
 * refer only to the first field. Otherwise, the frame has the type B if both
 * fields have the type B, and the type P if not. */
void
ifd_classifier_join_fields (IfdFrame * first, const IfdFrame * second)
{
  if (first->type == IFD_FRAME_B && second->type != IFD_FRAME_B)
    first->type = IFD_FRAME_P;
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
  /* Both this function and ifd_classifier_input () parse the access unit
   * `data`. If both counted errors in the same classifier, each error would be
   * counted twice. This function therefore passes a copy of the classifier to
   * the parser. At the end, it discards the copy with its error counters. */
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
