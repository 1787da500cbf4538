/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the parsers of MPEG video headers, and the writer and the parser of
 * the RFC 2250 header. The MPEG video parsers get arbitrary bytes. They must
 * refuse the bytes or return valid values. An RFC 2250 header must be the same
 * after it was written and parsed.
 *
 * Input: 12 bytes of fields for a header to write, then the bytes to parse.
 */

#include "fuzz.h"
#include "rfc2250header.h"

#define FIELDS_SIZE 12

static const guint8 *
naive_find_start_code (const guint8 * data, const guint8 * end)
{
  for (; end - data >= 4; data++) {
    if (data[0] == 0 && data[1] == 0 && data[2] == 1)
      return data;
  }
  return NULL;
}

/* Checks that mpeg_video_find_start_code () and naive_find_start_code () find
 * the same position. The search is repeated with 0 to 64 bytes of the input
 * omitted at the beginning, and with 0 to 64 bytes omitted at the end. */
static void
check_find_start_code (const guint8 * data, gsize size)
{
  const guint8 *end = data + size;
  gsize from;

  for (from = 0; from <= MIN (size, 64); from++)
    fuzz_check (mpeg_video_find_start_code (data + from, end)
        == naive_find_start_code (data + from, end));
  for (from = 0; from <= MIN (size, 64); from++)
    fuzz_check (mpeg_video_find_start_code (data, end - from)
        == naive_find_start_code (data, end - from));
}

static void
check_sequence (const guint8 * data, gsize size)
{
  MpegVideoSequence before, sequence;

  memset (&before, 0xa5, sizeof (before));
  sequence = before;
  if (!mpeg_video_parse_sequence (&sequence, data, size)) {
    fuzz_check (memcmp (&before, &sequence, sizeof (before)) == 0);
    memset (&sequence, 0, sizeof (sequence));
  } else {
    fuzz_check (sequence.width > 0 && sequence.width < 4096);
    fuzz_check (sequence.height > 0 && sequence.height < 4096);
    fuzz_check (sequence.fps_d > 0 && !sequence.mpeg2);
  }

  before = sequence;
  if (!mpeg_video_parse_sequence_extension (&sequence, data, size)) {
    fuzz_check (memcmp (&before, &sequence, sizeof (before)) == 0);
  } else {
    fuzz_check (sequence.mpeg2);
    fuzz_check (sequence.width < 16384 && sequence.height < 16384);
    fuzz_check (sequence.fps_n <= 4 * 60000);
    fuzz_check (sequence.fps_d <= 32 * 1001);
  }
  fuzz_check (mpeg_video_macroblock_rows (&sequence,
          MPEG_VIDEO_STRUCTURE_FRAME) <= 1024);
  fuzz_check (mpeg_video_macroblock_rows (&sequence,
          MPEG_VIDEO_STRUCTURE_TOP_FIELD) <= 512);
}

static void
check_gop (const guint8 * data, gsize size)
{
  static const guint rates[][2] = {
    {0, 0}, {0, 1}, {24000, 1001}, {25, 1}, {30000, 1001}, {60000, 1001},
    {240, 1}, {1, 32}
  };
  MpegVideoGop before, gop;
  guint i;

  memset (&before, 0xa5, sizeof (before));
  gop = before;
  if (!mpeg_video_parse_gop (&gop, data, size)) {
    fuzz_check (memcmp (&before, &gop, sizeof (before)) == 0);
    return;
  }
  fuzz_check (gop.hours < 32 && gop.minutes < 64 && gop.seconds < 64
      && gop.pictures < 64);
  for (i = 0; i < G_N_ELEMENTS (rates); i++)
    fuzz_check (mpeg_video_gop_frame_number (&gop, rates[i][0], rates[i][1])
        < (guint64) 32 * 64 * 64 * 240);
}

static void
check_picture_values (const MpegVideoPicture * picture)
{
  fuzz_check (picture->type > MPEG_VIDEO_PICTURE_UNKNOWN
      && picture->type < MPEG_VIDEO_PICTURE_LAST);
  fuzz_check (picture->temporal_reference < 1024);
  fuzz_check (picture->structure >= MPEG_VIDEO_STRUCTURE_TOP_FIELD
      && picture->structure <= MPEG_VIDEO_STRUCTURE_FRAME);
  fuzz_check (picture->forward_f_code < 8 && picture->backward_f_code < 8);
  fuzz_check (picture->composite_display_bits < 1 << 20);
  fuzz_check (mpeg_video_picture_type_char (picture->type) != '?');
}

static void check_round_trip (const Rfc2250Header * header);

/* Converts a parsed picture header to the RFC 2250 header and back. The result
 * must be the same picture header. */
static void
check_picture (const guint8 * data, gsize size)
{
  MpegVideoPicture before, picture;
  Rfc2250Header header;

  memset (&before, 0xa5, sizeof (before));
  picture = before;
  if (!mpeg_video_parse_picture (&picture, data, size)) {
    fuzz_check (memcmp (&before, &picture, sizeof (before)) == 0);
    memset (&picture, 0, sizeof (picture));
    picture.type = MPEG_VIDEO_PICTURE_P;
    picture.structure = MPEG_VIDEO_STRUCTURE_FRAME;
  } else {
    fuzz_check (!picture.has_extension);
  }

  before = picture;
  if (!mpeg_video_parse_picture_extension (&picture, data, size))
    fuzz_check (memcmp (&before, &picture, sizeof (before)) == 0);
  else
    fuzz_check (picture.has_extension);
  check_picture_values (&picture);

  memset (&header, 0, sizeof (header));
  rfc2250_header_set_picture (&header, &picture);
  fuzz_check (header.p == picture.type
      && header.tr == picture.temporal_reference);
  header.t = picture.has_extension;
  if (header.t)
    header.extension = picture;
  check_round_trip (&header);
}

static void
check_mpeg_video (const guint8 * data, gsize size)
{
  fuzz_check (mpeg_video_parse_extension_id (data, size) < 16);
  check_find_start_code (data, size);
  check_sequence (data, size);
  check_gop (data, size);
  check_picture (data, size);
}

static void
check_same_extension (const MpegVideoPicture * a, const MpegVideoPicture * b)
{
  fuzz_check (memcmp (a->f_code, b->f_code, sizeof (a->f_code)) == 0);
  fuzz_check (a->intra_dc_precision == b->intra_dc_precision);
  fuzz_check (a->structure == b->structure);
  fuzz_check (a->top_field_first == b->top_field_first);
  fuzz_check (a->frame_pred_frame_dct == b->frame_pred_frame_dct);
  fuzz_check (a->concealment_motion_vectors == b->concealment_motion_vectors);
  fuzz_check (a->q_scale_type == b->q_scale_type);
  fuzz_check (a->intra_vlc_format == b->intra_vlc_format);
  fuzz_check (a->alternate_scan == b->alternate_scan);
  fuzz_check (a->repeat_first_field == b->repeat_first_field);
  fuzz_check (a->chroma_420_type == b->chroma_420_type);
  fuzz_check (a->progressive_frame == b->progressive_frame);
  fuzz_check (a->composite_display == b->composite_display);
  fuzz_check (a->composite_display_bits == b->composite_display_bits);
}

static void
check_same_header (const Rfc2250Header * a, const Rfc2250Header * b)
{
  gsize i;

  fuzz_check (a->t == b->t && a->tr == b->tr);
  fuzz_check (a->an == b->an && a->n == b->n);
  fuzz_check (a->s == b->s && a->b == b->b && a->e == b->e && a->p == b->p);
  fuzz_check (a->fbv == b->fbv && a->bfc == b->bfc);
  fuzz_check (a->ffv == b->ffv && a->ffc == b->ffc);
  if (!a->t)
    return;
  check_same_extension (&a->extension, &b->extension);
  /* `a` is the header that was written, and `b` is the result of parsing it. In
   * a packet, up to 3 padding bytes follow the extensions, and the parser
   * counts them as a part of the extensions. The padding bytes must be 0. */
  fuzz_check (b->extensions_size >= a->extensions_size);
  fuzz_check (b->extensions_size - a->extensions_size < 4);
  for (i = 0; i < b->extensions_size; i++)
    fuzz_check (b->extensions[i] ==
        (i < a->extensions_size ? a->extensions[i] : 0));
}

/* Writes the RFC 2250 header and parses it again. The result must be equal to
 * `header`. If the written header is cut off, the parser must refuse it. */
static void
check_round_trip (const Rfc2250Header * header)
{
  gsize size = rfc2250_header_get_size (header);
  guint8 *written = g_malloc (size), *cut;
  Rfc2250Header parsed;
  gsize size_read, i;

  fuzz_check (size <= RFC2250_MAX_HEADER_SIZE && size % 4 == 0);
  fuzz_check (rfc2250_header_write (header, written) == size);
  fuzz_check (rfc2250_header_parse (&parsed, written, size, &size_read)
      == RFC2250_HEADER_OK);
  fuzz_check (size_read == size && parsed.mbz == 0);
  check_same_header (header, &parsed);
  for (i = 0; i < MIN (size, 20); i++) {
    cut = g_memdup2 (written, i);
    fuzz_check (rfc2250_header_parse (&parsed, cut, i, &size_read)
        == RFC2250_HEADER_SHORT);
    g_free (cut);
  }
  g_free (written);
}

/* Makes an RFC 2250 header from `fields`. If this header has extensions, their
 * content is taken from `data`. The header is written and parsed again, and the
 * result must be equal to the original header. */
static void
check_write (FuzzInput fields, const guint8 * data, gsize size)
{
  Rfc2250Header header = { 0 };
  guint32 word = fuzz_take_u32 (&fields);
  guint32 bits = fuzz_take_u32 (&fields);
  MpegVideoPicture *x = &header.extension;

  header.t = word >> 31;
  header.tr = word & 0x3ff;
  header.an = word >> 10 & 1;
  header.n = word >> 11 & 1;
  header.s = word >> 12 & 1;
  header.b = word >> 13 & 1;
  header.e = word >> 14 & 1;
  header.p = word >> 15 & 7;
  header.fbv = word >> 18 & 1;
  header.bfc = word >> 19 & 7;
  header.ffv = word >> 22 & 1;
  header.ffc = word >> 23 & 7;
  if (header.t) {
    x->f_code[0][0] = bits & 15;
    x->f_code[0][1] = bits >> 4 & 15;
    x->f_code[1][0] = bits >> 8 & 15;
    x->f_code[1][1] = bits >> 12 & 15;
    x->intra_dc_precision = bits >> 16 & 3;
    x->structure = 1 + (bits >> 18) % 3;
    x->top_field_first = bits >> 20 & 1;
    x->frame_pred_frame_dct = bits >> 21 & 1;
    x->concealment_motion_vectors = bits >> 22 & 1;
    x->q_scale_type = bits >> 23 & 1;
    x->intra_vlc_format = bits >> 24 & 1;
    x->alternate_scan = bits >> 25 & 1;
    x->repeat_first_field = bits >> 26 & 1;
    x->chroma_420_type = bits >> 27 & 1;
    x->progressive_frame = bits >> 28 & 1;
    x->composite_display = bits >> 29 & 1;
    if (x->composite_display)
      x->composite_display_bits = fuzz_take_u32 (&fields) & 0xfffff;
    header.extensions = data;
    header.extensions_size = MIN (size, RFC2250_MAX_EXTENSIONS_SIZE - 1);
  }
  check_round_trip (&header);
}

/* rfc2250_header_measure () and rfc2250_header_parse () must find the same size
 * of the header. The two sizes may differ if the picture type or the picture
 * structure is invalid. */
static void
check_measure (const guint8 * data, gsize size)
{
  gsize measured = rfc2250_header_measure (data, size), size_read = 0;
  Rfc2250Header header;
  Rfc2250HeaderResult result = rfc2250_header_parse (&header, data, size,
      &size_read);

  if (result == RFC2250_HEADER_OK)
    fuzz_check (measured == (header.p < MPEG_VIDEO_PICTURE_LAST ? size_read :
            0));
  else if (result != RFC2250_HEADER_BAD_EXTENSION)
    fuzz_check (measured == 0);
}

/* Parses the RFC 2250 header and writes it again. The bytes must be the same,
 * with one exception: the parser ignores the twelve bits before the composite
 * display bits, which should be zero. */
static void
check_parse (const guint8 * data, gsize size)
{
  Rfc2250Header header;
  gsize size_read = 0, i;
  guint8 *written;

  if (rfc2250_header_parse (&header, data, size, &size_read)
      != RFC2250_HEADER_OK)
    return;
  fuzz_check (size_read >= RFC2250_HEADER_SIZE && size_read <= size);
  fuzz_check (size_read == rfc2250_header_get_size (&header));
  written = g_malloc (size_read);
  fuzz_check (rfc2250_header_write (&header, written) == size_read);
  for (i = 0; i < size_read; i++) {
    guint8 mask = 0xff;

    if (header.t && header.extension.composite_display && i >= 8 && i < 10)
      mask = i == 8 ? 0 : 0x0f;
    fuzz_check (((written[i] ^ data[i]) & mask) == 0);
  }
  g_free (written);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  FuzzInput fields = { data, MIN (size, FIELDS_SIZE) };
  gsize rest = size - fields.size;
  guint8 *copy;

  input.data += fields.size;
  input.size = rest;
  copy = fuzz_take_copy (&input, rest);
  check_mpeg_video (copy, rest);
  check_measure (copy, rest);
  check_parse (copy, rest);
  check_write (fields, copy, rest);
  g_free (copy);
  return 0;
}
