/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of vp9header.h: parses the uncompressed header of VP9. */

#include "vp9header.h"

#include <string.h>

#include "bitreader.h"

#define FRAME_MARKER 2          /* 7.2 */
#define SYNC_CODE 0x498342      /* 7.2.1 */
#define CS_RGB 7                /* 7.2.2 */

/* Skips color_config () (section 6.2.2 of VP9). */
static void
skip_color_config (BitReader * bits, guint profile)
{
  if (profile >= 2)
    bit_reader_skip (bits, 1);  /* ten_or_twelve_bit */
  if (bit_reader_take (bits, 3) != CS_RGB) {
    bit_reader_skip (bits, 1);  /* color_range */
    if (profile == 1 || profile == 3)
      bit_reader_skip (bits, 3);        /* subsampling_x and _y, reserved */
  } else if (profile == 1 || profile == 3) {
    bit_reader_skip (bits, 1);  /* reserved_zero */
  }
}

/* Skips render_size () (section 6.2.4 of VP9). */
static void
skip_render_size (BitReader * bits)
{
  if (bit_reader_take_flag (bits))
    bit_reader_skip (bits, 16 + 16);
}

/* Skips the size of the frame: the syntax structures frame_size () and
 * render_size () (6.2.3 and 6.2.4 of VP9). */
static void
skip_size (BitReader * bits)
{
  bit_reader_skip (bits, 16 + 16);      /* frame_size () */
  skip_render_size (bits);
}

/* Skips the syntax structure frame_size_with_refs (), in which the size of a
 * frame may be taken from a reference frame (section 6.2.5 of VP9). */
static void
skip_size_with_refs (BitReader * bits)
{
  guint i;

  for (i = 0; i < VP9_REFS_PER_FRAME; i++) {
    if (bit_reader_take_flag (bits)) {  /* found_ref */
      skip_render_size (bits);
      return;
    }
  }
  skip_size (bits);
}

static gboolean
parse_key (BitReader * bits, Vp9Header * header)
{
  if (bit_reader_take (bits, 24) != SYNC_CODE)
    return FALSE;
  skip_color_config (bits, header->profile);
  skip_size (bits);
  header->refreshes = 0xff;
  return TRUE;
}

static gboolean
parse_intra_only (BitReader * bits, Vp9Header * header)
{
  if (bit_reader_take (bits, 24) != SYNC_CODE)
    return FALSE;
  if (header->profile > 0)
    skip_color_config (bits, header->profile);
  header->refreshes = bit_reader_take (bits, 8);
  skip_size (bits);
  return TRUE;
}

static void
parse_inter (BitReader * bits, Vp9Header * header)
{
  guint i;

  header->refreshes = bit_reader_take (bits, 8);
  for (i = 0; i < VP9_REFS_PER_FRAME; i++) {
    header->refs[i] = bit_reader_take (bits, 3);
    bit_reader_skip (bits, 1);  /* ref_frame_sign_bias */
  }
  skip_size_with_refs (bits);
  bit_reader_skip (bits, 1);    /* allow_high_precision_mv */
  if (!bit_reader_take_flag (bits))     /* is_filter_switchable */
    bit_reader_skip (bits, 2);  /* raw_interpolation_filter */
}

/* Parses those fields of uncompressed_header () that follow the field
 * show_existing_frame (section 6.2 of VP9). Returns FALSE if the data are
 * invalid or too short. */
static gboolean
parse_frame (BitReader * bits, Vp9Header * header)
{
  header->is_key = !bit_reader_take_flag (bits);        /* frame_type */
  header->is_shown = bit_reader_take_flag (bits);
  header->is_error_resilient = bit_reader_take_flag (bits);
  if (header->is_key) {
    if (!parse_key (bits, header))
      return FALSE;
  } else {
    if (!header->is_shown)
      header->is_intra_only = bit_reader_take_flag (bits);
    if (!header->is_error_resilient)
      header->reset_context = bit_reader_take (bits, 2);
    if (!header->is_intra_only)
      parse_inter (bits, header);
    else if (!parse_intra_only (bits, header))
      return FALSE;
  }
  if (!header->is_error_resilient) {
    header->refreshes_context = bit_reader_take_flag (bits);
    bit_reader_skip (bits, 1);  /* frame_parallel_decoding_mode */
  }
  header->context = bit_reader_take (bits, 2);
  return !bits->beyond;
}

gboolean
vp9_header_parse (Vp9Header * header, const guint8 * data, gsize size)
{
  BitReader bits;
  gboolean profile_low, profile_high;

  memset (header, 0, sizeof (*header));
  bit_reader_init (&bits, data, size);
  if (bit_reader_take (&bits, 2) != FRAME_MARKER)
    return FALSE;
  profile_low = bit_reader_take_flag (&bits);
  profile_high = bit_reader_take_flag (&bits);
  header->profile = (profile_high ? 2 : 0) + (profile_low ? 1 : 0);
  if (header->profile == 3 && bit_reader_take_flag (&bits))
    return FALSE;               /* reserved_zero */
  header->shows_existing = bit_reader_take_flag (&bits);
  if (!header->shows_existing)
    return parse_frame (&bits, header);
  header->existing = bit_reader_take (&bits, 3);
  header->is_shown = TRUE;
  return !bits.beyond;
}

/* A superframe of VP9 ends with an index of its frames (annex B.2 of VP9). The
 * first and the last byte of this index are equal and are called the marker. If
 * the last byte of `data` is a marker, there is an index, and the marker gives
 * the size of the index. */
guint
vp9_find_frames (const guint8 * data, gsize size, gsize sizes[VP9_MAX_FRAMES])
{
  const guint8 marker = size > 0 ? data[size - 1] : 0;
  guint n_frames = (marker & 7) + 1, size_bytes = (marker >> 3 & 3) + 1;
  gsize index_size = 2 + n_frames * size_bytes, left;
  const guint8 *index;
  guint i, j;

  if (size == 0)
    return 0;
  if ((marker & 0xe0) != 0xc0 || size < index_size
      || data[size - index_size] != marker) {
    sizes[0] = size;
    return 1;
  }
  index = data + size - index_size + 1;
  left = size - index_size;
  for (i = 0; i < n_frames; i++) {
    sizes[i] = 0;
    for (j = 0; j < size_bytes; j++)
      sizes[i] |= (gsize) * index++ << 8 * j;
    if (sizes[i] == 0 || sizes[i] > left)
      return 0;
    left -= sizes[i];
  }
  return n_frames;
}
