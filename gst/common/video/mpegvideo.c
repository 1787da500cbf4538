/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mpegvideo.h: start codes and headers of MPEG video. */

#include "mpegvideo.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
/* GCC and clang can compile a single function with AVX2 instructions, although
 * the rest of the program must also run without AVX2. Such a function is called
 * only if the processor has AVX2. */
#if defined (__x86_64__) && defined (__GNUC__)
#define HAVE_AVX2_FUNCTIONS 1
#include <immintrin.h>
#endif

/* frame_rate_value of ISO/IEC 13818-2, table 6-4 */
static const guint frame_rates[9][2] = {
  {0, 1}, {24000, 1001}, {24, 1}, {25, 1}, {30000, 1001},
  {30, 1}, {50, 1}, {60000, 1001}, {60, 1}
};

/* Sizes in bytes of the parts of headers that are always present. Each size
 * includes the start code. */
#define SEQUENCE_MIN_SIZE            12
#define SEQUENCE_EXTENSION_SIZE      10
#define GOP_SIZE                      8
/* Size in bytes of a picture header without motion vector fields. In a P- or
 * B-picture, the header has motion vector fields, so the whole header has at
 * least 9 bytes. */
#define PICTURE_MIN_SIZE              8
#define PICTURE_EXTENSION_MIN_SIZE    9

#ifdef __SSE2__
/* Number of positions at which one step of the search looks for the prefix 00
 * 00 01 of a start code. Each step reads 32 bytes. To check a position, the
 * byte at the position and the two bytes after it are needed, so only 30
 * positions can be checked. */
#define STEP 30

/* Returns a bit mask in which bit i is set if byte i of the 32 bytes at `p`
 * equals `value`. */
static inline guint32
find_bytes (const guint8 * p, gchar value)
{
  const __m128i wanted = _mm_set1_epi8 (value);
  __m128i low = _mm_loadu_si128 ((const __m128i *) p);
  __m128i high = _mm_loadu_si128 ((const __m128i *) (p + 16));

  return (guint32) _mm_movemask_epi8 (_mm_cmpeq_epi8 (low, wanted))
      | (guint32) _mm_movemask_epi8 (_mm_cmpeq_epi8 (high, wanted)) << 16;
}

/* Finds a start code with SSE2 instructions, and returns it. To be fast, the
 * function searches for two consecutive zero bytes first, because in video they
 * are rare outside of start codes and stuffing. If there is no start code, the
 * function sets `*data` to the first position that was not checked and returns
 * NULL. */
static const guint8 *
find_prefix_sse2 (const guint8 ** data, const guint8 * end)
{
  const guint8 *p;
  guint32 zeros, found;

  /* A step checks the positions 0 to 29. A start code has four bytes, so a
   * start code at position 29 ends with byte 32. A step therefore needs 33
   * bytes. */
  for (p = *data; end - p >= 33; p += STEP) {
    zeros = find_bytes (p, 0);
    found = zeros & zeros >> 1;
    if (G_LIKELY (found == 0))
      continue;
    found &= find_bytes (p, 1) >> 2;
    if (found)
      return p + __builtin_ctz (found);
  }
  *data = p;
  return NULL;
}
#endif

#ifdef HAVE_AVX2_FUNCTIONS
#define AVX2 __attribute__ ((target ("avx2")))
/* Number of positions that are checked in one step with AVX2. A step reads 64
 * bytes, and each position needs two more bytes after it. */
#define AVX2_STEP 62

/* *INDENT-OFF* */
/* Returns a bit mask in which bit i is set if byte i of the 64 bytes at `p`
 * equals `value`. */
static inline AVX2 guint64
find_bytes_avx2 (const guint8 * p, gchar value)
{
  const __m256i wanted = _mm256_set1_epi8 (value);
  __m256i low = _mm256_loadu_si256 ((const __m256i *) p);
  __m256i high = _mm256_loadu_si256 ((const __m256i *) (p + 32));

  low = _mm256_cmpeq_epi8 (low, wanted);
  high = _mm256_cmpeq_epi8 (high, wanted);
  return (guint32) _mm256_movemask_epi8 (low)
      | (guint64) (guint32) _mm256_movemask_epi8 (high) << 32;
}

/* Finds a start code with AVX2 instructions, and returns it. If there is no
 * start code, sets `*data` to the first position that was not checked and
 * returns NULL. A step checks the positions 0 to 61. A start code has four
 * bytes, so a step needs 65 bytes. */
static AVX2 const guint8 *
find_prefix_avx2 (const guint8 ** data, const guint8 * end)
{
  const guint8 *p;
  guint64 zeros, found;

  for (p = *data; end - p >= 65; p += AVX2_STEP) {
    zeros = find_bytes_avx2 (p, 0);
    found = zeros & zeros >> 1;
    if (G_LIKELY (found == 0))
      continue;
    found &= find_bytes_avx2 (p, 1) >> 2;
    if (found)
      return p + __builtin_ctzll (found);
  }
  *data = p;
  return NULL;
}
/* *INDENT-ON* */
#endif

const guint8 *
mpeg_video_find_start_code (const guint8 * data, const guint8 * end)
{
  const guint8 *p;

#ifdef HAVE_AVX2_FUNCTIONS
  if (__builtin_cpu_supports ("avx2")) {
    p = find_prefix_avx2 (&data, end);
    if (p)
      return p;
  }
#endif
  /* If the processor has AVX2, the search with AVX2 has already checked the
   * data, except for the last bytes, which are too few for another step. In
   * this case, the search with SSE2 checks only these last bytes. */
#ifdef __SSE2__
  p = find_prefix_sse2 (&data, end);
  if (p)
    return p;
#endif
  if (end - data < 4)
    return NULL;

  /* Searches for the prefix 00 00 01 of a start code. memchr, the fastest
   * portable way to find one byte, looks for the byte 01, because the byte 01
   * is rarer than the byte 00. */
  p = data + 2;
  while ((p = memchr (p, 1, end - 1 - p))) {
    if (p[-1] == 0 && p[-2] == 0)
      return p - 2;
    p++;
  }
  return NULL;
}

/* Parses sequence_header () (13818-2, section 6.2.2.1). */
gboolean
mpeg_video_parse_sequence (MpegVideoSequence * sequence, const guint8 * data,
    gsize size)
{
  guint width, height, rate;

  if (size < SEQUENCE_MIN_SIZE)
    return FALSE;

  width = data[4] << 4 | data[5] >> 4;
  height = (data[5] & 0x0f) << 8 | data[6];
  rate = data[7] & 0x0f;
  if (width == 0 || height == 0 || rate == 0)
    return FALSE;

  memset (sequence, 0, sizeof (*sequence));
  sequence->width = width;
  sequence->height = height;
  sequence->aspect_ratio = data[7] >> 4;
  /* Some streams contain the reserved values 9 to 13 of frame_rate_code, which
   * the library libmpeg3 used. Such streams can be decoded, but their frame
   * rate is unknown. */
  if (rate < G_N_ELEMENTS (frame_rates)) {
    sequence->fps_n = frame_rates[rate][0];
    sequence->fps_d = frame_rates[rate][1];
  } else {
    sequence->fps_d = 1;
  }
  sequence->bit_rate = data[8] << 10 | data[9] << 2 | data[10] >> 6;
  sequence->vbv_buffer_size = (data[10] & 0x1f) << 5 | data[11] >> 3;
  /* In MPEG-1 (11172-2), the chroma format is always 4:2:0 and all frames are
   * progressive. A sequence extension, which only MPEG-2 has, may replace these
   * two values. */
  sequence->chroma_format = 1;
  sequence->progressive = TRUE;
  return TRUE;
}

guint
mpeg_video_parse_extension_id (const guint8 * data, gsize size)
{
  if (size < 5 || data[3] != MPEG_VIDEO_CODE_EXTENSION)
    return 0;
  return data[4] >> 4;
}

/* Parses sequence_extension () (13818-2, section 6.2.2.3). */
gboolean
mpeg_video_parse_sequence_extension (MpegVideoSequence * sequence,
    const guint8 * data, gsize size)
{
  if (size < SEQUENCE_EXTENSION_SIZE)
    return FALSE;

  sequence->mpeg2 = TRUE;
  sequence->profile_level = (data[4] & 0x0f) << 4 | data[5] >> 4;
  sequence->progressive = (data[5] & 0x08) != 0;
  sequence->chroma_format = (data[5] >> 1) & 0x03;
  sequence->width |= (data[5] & 0x01) << 13 | (data[6] & 0x80) << 5;
  sequence->height |= ((guint) data[6] & 0x60) << 7;
  sequence->bit_rate |= (data[6] & 0x1f) << 25 | (data[7] & 0xfe) << 17;
  sequence->vbv_buffer_size |= data[8] << 10;
  sequence->low_delay = (data[9] & 0x80) != 0;
  sequence->fps_n *= ((data[9] >> 5) & 0x03) + 1;
  sequence->fps_d *= (data[9] & 0x1f) + 1;
  return TRUE;
}

/* Parses group_of_pictures_header () (13818-2, section 6.2.2.6). */
gboolean
mpeg_video_parse_gop (MpegVideoGop * gop, const guint8 * data, gsize size)
{
  if (size < GOP_SIZE)
    return FALSE;

  gop->drop_frame = (data[4] & 0x80) != 0;
  gop->hours = (data[4] >> 2) & 0x1f;
  gop->minutes = (data[4] & 0x03) << 4 | data[5] >> 4;
  gop->seconds = (data[5] & 0x07) << 3 | data[6] >> 5;
  gop->pictures = (data[6] & 0x1f) << 1 | data[7] >> 7;
  gop->closed = (data[7] & 0x40) != 0;
  gop->broken_link = (data[7] & 0x20) != 0;
  return TRUE;
}

/* Parses picture_header () (13818-2, section 6.2.3). */
gboolean
mpeg_video_parse_picture (MpegVideoPicture * picture, const guint8 * data,
    gsize size)
{
  guint type;
  gboolean vectors;

  if (size < PICTURE_MIN_SIZE)
    return FALSE;
  type = (data[5] >> 3) & 0x07;
  if (type == MPEG_VIDEO_PICTURE_UNKNOWN || type >= MPEG_VIDEO_PICTURE_LAST)
    return FALSE;
  vectors = type == MPEG_VIDEO_PICTURE_P || type == MPEG_VIDEO_PICTURE_B;
  if (vectors && size < PICTURE_MIN_SIZE + 1)
    return FALSE;

  memset (picture, 0, sizeof (*picture));
  picture->type = type;
  picture->temporal_reference = data[4] << 2 | data[5] >> 6;
  picture->vbv_delay = (data[5] & 0x07) << 13 | data[6] << 5 | data[7] >> 3;
  picture->structure = MPEG_VIDEO_STRUCTURE_FRAME;
  if (vectors) {
    picture->full_pel_forward = (data[7] & 0x04) != 0;
    picture->forward_f_code = (data[7] & 0x03) << 1 | data[8] >> 7;
  }
  if (type == MPEG_VIDEO_PICTURE_B) {
    picture->full_pel_backward = (data[8] & 0x40) != 0;
    picture->backward_f_code = (data[8] >> 3) & 0x07;
  }
  return TRUE;
}

/* Parses picture_coding_extension () (13818-2, section 6.2.3.1). */
gboolean
mpeg_video_parse_picture_extension (MpegVideoPicture * picture,
    const guint8 * data, gsize size)
{
  guint structure;
  gboolean composite;

  if (size < PICTURE_EXTENSION_MIN_SIZE)
    return FALSE;
  structure = data[6] & 0x03;
  composite = (data[8] & 0x40) != 0;
  if (structure == 0 || (composite && size < PICTURE_EXTENSION_MIN_SIZE + 2))
    return FALSE;

  picture->has_extension = TRUE;
  picture->f_code[0][0] = data[4] & 0x0f;
  picture->f_code[0][1] = data[5] >> 4;
  picture->f_code[1][0] = data[5] & 0x0f;
  picture->f_code[1][1] = data[6] >> 4;
  picture->intra_dc_precision = (data[6] >> 2) & 0x03;
  picture->structure = structure;
  picture->top_field_first = (data[7] & 0x80) != 0;
  picture->frame_pred_frame_dct = (data[7] & 0x40) != 0;
  picture->concealment_motion_vectors = (data[7] & 0x20) != 0;
  picture->q_scale_type = (data[7] & 0x10) != 0;
  picture->intra_vlc_format = (data[7] & 0x08) != 0;
  picture->alternate_scan = (data[7] & 0x04) != 0;
  picture->repeat_first_field = (data[7] & 0x02) != 0;
  picture->chroma_420_type = (data[7] & 0x01) != 0;
  picture->progressive_frame = (data[8] & 0x80) != 0;
  picture->composite_display = composite;
  picture->composite_display_bits = !composite ? 0 :
      (data[8] & 0x3f) << 14 | data[9] << 6 | data[10] >> 2;
  return TRUE;
}

gchar
mpeg_video_picture_type_char (MpegVideoPictureType type)
{
  return type < MPEG_VIDEO_PICTURE_LAST ? "?IPBD"[type] : '?';
}

/* Computes mb_height (13818-2, section 6.3.3). */
guint
mpeg_video_macroblock_rows (const MpegVideoSequence * sequence, guint structure)
{
  if (structure != MPEG_VIDEO_STRUCTURE_FRAME)
    return (sequence->height + 31) / 32;
  /* In an interlaced sequence, a frame consists of two fields, and each field
   * has a whole number of macroblock rows. To get the number of rows of a
   * frame, the number of rows of one field is therefore doubled. */
  if (sequence->mpeg2 && !sequence->progressive)
    return 2 * ((sequence->height + 31) / 32);
  return (sequence->height + 15) / 16;
}

guint64
mpeg_video_gop_frame_number (const MpegVideoGop * gop, guint fps_n, guint fps_d)
{
  guint nominal = fps_d ? (fps_n + fps_d - 1) / fps_d : 0;
  guint64 minutes = gop->hours * 60 + gop->minutes;
  guint64 number = (minutes * 60 + gop->seconds) * nominal + gop->pictures;

  /* A drop-frame time code omits two frame numbers at the start of each minute,
   * except in every tenth minute. At 60 frames per second, each frame number of
   * a time code stands for a pair of frames. The two omitted numbers then stand
   * for four frames. */
  if (gop->drop_frame && nominal >= 30)
    number -= (minutes - minutes / 10) * 2 * (nominal / 30);
  return number;
}
