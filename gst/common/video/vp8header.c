/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of vp8header.h: parses the frame header of VP8. Most fields of
 * this header are coded with the boolean entropy coder of VP8. */

#include "vp8header.h"

#include <string.h>

#define TAG_SIZE 3              /* size of the frame tag in bytes (9.1) */
/* size in bytes of the start code, the width and the height together (9.1) */
#define KEY_SIZE 7
/* number of loop filter adjustments: 4 for the reference frames, and 4 for the
 * prediction modes (9.6) */
#define N_FILTER_DELTAS (4 + 4)
#define MAX_VERSION 3           /* highest version that is defined (9.1) */

/* Number of bytes that may be read beyond the end of the data. The entropy
 * decoder of VP8 reads two bytes in advance (RFC 6386, section 7.3). At the end
 * of a complete header, it has therefore read up to two bytes beyond the end.
 * If it has read more than that, the header is truncated. */
#define MAX_BEYOND 2

/* The boolean entropy decoder, 7.3 */
typedef struct
{
  const guint8 *next, *end;
  guint value;                  /* two bytes */
  guint range;
  guint bit_count;              /* number of bits shifted out of `value` */
  guint n_beyond;               /* number of bytes read beyond `end` */
} BoolDecoder;

static guint
take_byte (BoolDecoder * decoder)
{
  if (decoder->next < decoder->end)
    return *decoder->next++;
  decoder->n_beyond++;
  return 0;
}

static void
init_decoder (BoolDecoder * decoder, const guint8 * data, gsize size)
{
  decoder->next = data;
  decoder->end = data + size;
  decoder->n_beyond = 0;
  decoder->value = take_byte (decoder) << 8;
  decoder->value |= take_byte (decoder);
  decoder->range = 255;
  decoder->bit_count = 0;
}

/* Reads one bit whose two values have the same probability. In the entropy
 * coder, 0 then has the probability 128/256. */
static guint
take_bool (BoolDecoder * decoder)
{
  const guint split = 1 + ((decoder->range - 1) * 128 >> 8);
  const guint bound = split << 8;
  const gboolean is_set = decoder->value >= bound;

  if (is_set) {
    decoder->range -= split;
    decoder->value -= bound;
  } else {
    decoder->range = split;
  }
  while (decoder->range < 128) {
    decoder->value <<= 1;
    decoder->range <<= 1;
    if (++decoder->bit_count == 8) {
      decoder->bit_count = 0;
      decoder->value |= take_byte (decoder);
    }
  }
  return is_set;
}

/* Reads an unsigned number of `n` bits, which the standard calls L(n) (8.1). */
static guint
take_literal (BoolDecoder * decoder, guint n)
{
  guint value = 0;

  for (; n > 0; n--)
    value = value << 1 | take_bool (decoder);
  return value;
}

/* Skips `count` optional numbers. A flag precedes each number and says whether
 * the number is present. A number has `n` bits. If `is_signed` is TRUE, it also
 * has a sign bit. Returns how many numbers were present. */
static guint
skip_optional (BoolDecoder * decoder, guint count, guint n, gboolean is_signed)
{
  guint n_present = 0;

  for (; count > 0; count--) {
    if (!take_bool (decoder))
      continue;
    take_literal (decoder, n + (is_signed ? 1 : 0));
    n_present++;
  }
  return n_present;
}

/* Parses update_segmentation () (9.3 and 19.2). If the frame updates the
 * segment map, it replaces the whole map. If it updates the segment values, it
 * replaces all values. */
static void
parse_segmentation (BoolDecoder * decoder, Vp8Header * header)
{
  gboolean updates_map, updates_data;

  if (!take_bool (decoder))     /* segmentation_enabled */
    return;
  updates_map = take_bool (decoder);
  updates_data = take_bool (decoder);
  if (updates_data) {
    take_bool (decoder);        /* segment_feature_mode */
    skip_optional (decoder, 4, 7, TRUE);        /* quantizer_update_value */
    skip_optional (decoder, 4, 6, TRUE);        /* lf_update_value */
  }
  if (updates_map)
    skip_optional (decoder, 3, 8, FALSE);       /* segment_prob */
  header->updates_segments = updates_map || updates_data;
  header->uses_segments = !updates_map || !updates_data;
}

/* Parses the fields of the loop filter, including its adjustments (9.6 and
 * 19.2). */
static void
parse_filter (BoolDecoder * decoder, Vp8Header * header)
{
  guint n_updates;

  take_literal (decoder, 1 + 6 + 3);    /* filter_type, level, sharpness */
  if (!take_bool (decoder))     /* loop_filter_adj_enable */
    return;
  header->uses_filter = TRUE;
  if (!take_bool (decoder))     /* mode_ref_lf_delta_update */
    return;
  n_updates = skip_optional (decoder, N_FILTER_DELTAS, 6, TRUE);
  header->updates_filter = n_updates > 0;
  header->uses_filter = n_updates < N_FILTER_DELTAS;
}

/* Parses the fields that say which of the stored reference frames this frame
 * replaces (section 9.7 of RFC 6386). */
static void
parse_references (BoolDecoder * decoder, Vp8Header * header)
{
  header->refreshes_golden = take_bool (decoder);
  header->refreshes_altref = take_bool (decoder);
  if (!header->refreshes_golden)
    header->copy_to_golden = take_literal (decoder, 2);
  if (!header->refreshes_altref)
    header->copy_to_altref = take_literal (decoder, 2);
  header->sign_bias_golden = take_bool (decoder);
  header->sign_bias_altref = take_bool (decoder);
}

static void
parse_fields (BoolDecoder * decoder, Vp8Header * header)
{
  if (header->is_key)
    take_literal (decoder, 2);  /* color_space, clamping_type */
  parse_segmentation (decoder, header);
  parse_filter (decoder, header);
  take_literal (decoder, 2);    /* log2_nbr_of_dct_partitions */
  take_literal (decoder, 7);    /* y_ac_qi */
  skip_optional (decoder, 5, 4, TRUE);  /* the other quantizers */
  if (header->is_key) {
    header->refreshes_golden = header->refreshes_altref = TRUE;
    header->refreshes_entropy = take_bool (decoder);
    header->refreshes_last = TRUE;
  } else {
    parse_references (decoder, header);
    header->refreshes_entropy = take_bool (decoder);
    header->refreshes_last = take_bool (decoder);
  }
}

/* Parses the start code, the width and the height, which only a key frame has
 * (9.1). */
static gboolean
parse_key (Vp8Header * header, const guint8 * data, gsize size)
{
  static const guint8 start_code[] = { 0x9d, 0x01, 0x2a };

  if (size < KEY_SIZE || memcmp (data, start_code, sizeof start_code) != 0)
    return FALSE;
  header->width = (data[3] | data[4] << 8) & 0x3fff;
  header->height = (data[5] | data[6] << 8) & 0x3fff;
  return header->width > 0 && header->height > 0;
}

gboolean
vp8_header_parse (Vp8Header * header, const guint8 * data, gsize size,
    gboolean is_start)
{
  guint max_beyond = MAX_BEYOND;
  BoolDecoder decoder;
  gsize partition_size;
  guint32 tag;

  memset (header, 0, sizeof (*header));
  if (size < TAG_SIZE)
    return FALSE;
  tag = data[0] | data[1] << 8 | data[2] << 16;
  header->is_key = (tag & 1) == 0;
  header->is_shown = tag >> 4 & 1;
  if ((tag >> 1 & 7) > MAX_VERSION)
    return FALSE;
  partition_size = tag >> 5;
  data += TAG_SIZE;
  size -= TAG_SIZE;
  if (header->is_key) {
    if (!parse_key (header, data, size))
      return FALSE;
    data += KEY_SIZE;
    size -= KEY_SIZE;
  }
  if (is_start && partition_size > size) {
    partition_size = size;
    max_beyond = 0;
  }
  if (partition_size == 0 || partition_size > size)
    return FALSE;
  init_decoder (&decoder, data, partition_size);
  parse_fields (&decoder, header);
  return decoder.n_beyond <= max_beyond
      && header->copy_to_golden <= VP8_COPY_OTHER
      && header->copy_to_altref <= VP8_COPY_OTHER;
}
