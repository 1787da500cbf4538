/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of av1headers.h: OBU, sequence and frame headers of AV1. */

#include "av1headers.h"

#include <string.h>

#include "bitreader.h"

/* maximum size in bytes of a number in the coding leb128 () (section 4.10.5 of
 * AV1) */
#define MAX_LEB128_BYTES 8
/* SELECT_SCREEN_CONTENT_TOOLS and SELECT_INTEGER_MV, section 3 */
#define SELECT 2
#define PRIMARY_REF_NONE_BITS 3
/* Bit mask with one bit for each of the 8 reference frames (the variable
 * allFrames in section 5.9.2 of AV1) */
#define ALL_FRAMES 0xff
/* The field seq_tier is present only if seq_level_idx is greater than this
 * value (section 5.5.1 of AV1).
 */
#define HIGH_LEVEL 7

/* --- OBUs ----------------------------------------------------------------- */

/* Reads a number in the coding leb128 () (section 4.10.5 of AV1). Returns FALSE
 * if it does not fit into 32 bits, because the standard forbids larger numbers.
 */
static gboolean
take_leb128 (const guint8 ** data, const guint8 * end, gsize * value)
{
  guint64 sum = 0;
  guint i;

  for (i = 0; i < MAX_LEB128_BYTES && *data < end; i++) {
    const guint8 byte = *(*data)++;

    sum |= (guint64) (byte & 0x7f) << 7 * i;
    if ((byte & 0x80) == 0) {
      *value = sum;
      return sum <= G_MAXUINT32;
    }
  }
  return FALSE;
}

/* Reads the header of an OBU (open bitstream unit) and its size field (sections
 * 5.3.2 and 5.3.3 of AV1). */
gboolean
av1_obu_read (Av1Obu * obu, const guint8 ** data, const guint8 * end)
{
  guint8 header, extension;

  memset (obu, 0, sizeof (*obu));
  if (*data >= end)
    return FALSE;
  header = *(*data)++;
  if (header & 0x80)            /* obu_forbidden_bit */
    return FALSE;
  obu->type = header >> 3 & 15;
  obu->has_extension = header >> 2 & 1;
  if (obu->has_extension) {
    if (*data >= end)
      return FALSE;
    extension = *(*data)++;
    obu->temporal_id = extension >> 5;
    obu->spatial_id = extension >> 3 & 3;
  }
  if ((header & 2) == 0)        /* obu_has_size_field */
    obu->size = end - *data;
  else if (!take_leb128 (data, end, &obu->size)
      || obu->size > (gsize) (end - *data))
    return FALSE;
  obu->data = *data;
  *data += obu->size;
  return TRUE;
}

/* --- sequence header ------------------------------------------------------ */

/* uvlc (), 4.10.3 */
static void
skip_uvlc (BitReader * bits)
{
  guint zeros = 0;

  while (!bits->beyond && !bit_reader_take_flag (bits))
    zeros++;
  if (zeros < 32)
    bit_reader_skip (bits, zeros);
}

/* Parses timing_info () and decoder_model_info () (sections 5.5.3 and 5.5.4 of
 * AV1). Returns the length in bits of the decoder buffer delays, which is
 * needed to parse the operating points. Returns 0 if there is no decoder model.
 */
static guint
parse_timing (BitReader * bits, Av1Sequence * sequence)
{
  guint delay_length;

  bit_reader_skip (bits, 32 + 32);      /* display tick, time_scale */
  sequence->has_equal_interval = bit_reader_take_flag (bits);
  if (sequence->has_equal_interval)
    skip_uvlc (bits);           /* num_ticks_per_picture_minus_1 */
  sequence->has_decoder_model = bit_reader_take_flag (bits);
  if (!sequence->has_decoder_model)
    return 0;
  delay_length = bit_reader_take (bits, 5) + 1;
  bit_reader_skip (bits, 32);   /* num_units_in_decoding_tick */
  sequence->removal_time_length = bit_reader_take (bits, 5) + 1;
  sequence->presentation_time_length = bit_reader_take (bits, 5) + 1;
  return delay_length;
}

static void
parse_operating_points (BitReader * bits, guint delay_length,
    Av1Sequence * sequence)
{
  const gboolean has_display_delay = bit_reader_take_flag (bits);
  guint i;

  sequence->n_operating_points = bit_reader_take (bits, 5) + 1;
  for (i = 0; i < sequence->n_operating_points; i++) {
    sequence->operating_point_idc[i] = bit_reader_take (bits, 12);
    if (bit_reader_take (bits, 5) > HIGH_LEVEL) /* seq_level_idx */
      bit_reader_skip (bits, 1);        /* seq_tier */
    if (sequence->has_decoder_model)
      sequence->has_operating_point_model[i] = bit_reader_take_flag (bits);
    if (sequence->has_operating_point_model[i])
      /* operating_parameters_info (), section 5.5.5 of AV1 */
      bit_reader_skip (bits, 2 * delay_length + 1);
    if (has_display_delay && bit_reader_take_flag (bits))
      bit_reader_skip (bits, 4);        /* initial_display_delay_minus_1 */
  }
}

static void
parse_frame_size (BitReader * bits, Av1Sequence * sequence)
{
  const guint width_bits = bit_reader_take (bits, 4) + 1;
  const guint height_bits = bit_reader_take (bits, 4) + 1;

  bit_reader_skip (bits, width_bits + height_bits);
  if (!sequence->is_reduced)
    sequence->has_frame_ids = bit_reader_take_flag (bits);
  if (!sequence->has_frame_ids)
    return;
  sequence->delta_frame_id_length = bit_reader_take (bits, 4) + 2;
  sequence->frame_id_length = bit_reader_take (bits, 3)
      + sequence->delta_frame_id_length + 1;
}

static void
parse_tools (BitReader * bits, Av1Sequence * sequence)
{
  gboolean has_order_hint;

  /* Skips fields of the sequence header that are not needed:
   * use_128x128_superblock, enable_filter_intra and enable_intra_edge_filter.
   */
  bit_reader_skip (bits, 3);
  sequence->screen_content_tools = sequence->integer_mv = SELECT;
  if (sequence->is_reduced)
    return;
  /* Skips fields of the sequence header that are not needed:
   * enable_interintra_compound, enable_masked_compound, enable_warped_motion
   * and enable_dual_filter. */
  bit_reader_skip (bits, 4);
  has_order_hint = bit_reader_take_flag (bits);
  if (has_order_hint)
    /* skips the fields enable_jnt_comp and enable_ref_frame_mvs, which are not
     * needed */
    bit_reader_skip (bits, 2);
  if (!bit_reader_take_flag (bits))     /* seq_choose_screen_content_tools */
    sequence->screen_content_tools = bit_reader_take (bits, 1);
  if (sequence->screen_content_tools > 0 && !bit_reader_take_flag (bits))
    sequence->integer_mv = bit_reader_take (bits, 1);
  if (has_order_hint)
    sequence->order_hint_bits = bit_reader_take (bits, 3) + 1;
}

/* Parses the sequence header up to and including the order hint fields (section
 * 5.5.1 of AV1). The later fields are not needed to parse a frame header. */
gboolean
av1_sequence_parse (Av1Sequence * sequence, const guint8 * data, gsize size)
{
  BitReader bits;
  guint delay_length = 0;

  memset (sequence, 0, sizeof (*sequence));
  bit_reader_init (&bits, data, size);
  bit_reader_skip (&bits, 3 + 1);       /* seq_profile, still_picture */
  sequence->is_reduced = bit_reader_take_flag (&bits);
  if (sequence->is_reduced) {
    sequence->n_operating_points = 1;
    bit_reader_skip (&bits, 5); /* seq_level_idx */
  } else {
    if (bit_reader_take_flag (&bits))   /* timing_info_present_flag */
      delay_length = parse_timing (&bits, sequence);
    parse_operating_points (&bits, delay_length, sequence);
  }
  parse_frame_size (&bits, sequence);
  parse_tools (&bits, sequence);
  return !bits.beyond;
}

/* --- frame header --------------------------------------------------------- */

static gboolean
is_intra (const Av1Frame * frame)
{
  return frame->type == AV1_FRAME_KEY || frame->type == AV1_FRAME_INTRA_ONLY;
}

static void
parse_type (BitReader * bits, const Av1Sequence * sequence, Av1Frame * frame)
{
  frame->type = bit_reader_take (bits, 2);
  frame->is_shown = bit_reader_take_flag (bits);
  if (!frame->is_shown)
    bit_reader_skip (bits, 1);  /* showable_frame */
  else if (sequence->has_decoder_model && !sequence->has_equal_interval)
    bit_reader_skip (bits, sequence->presentation_time_length);
  frame->is_error_resilient = frame->type == AV1_FRAME_SWITCH
      || (frame->type == AV1_FRAME_KEY && frame->is_shown)
      || bit_reader_take_flag (bits);
}

static void
skip_screen_content (BitReader * bits, const Av1Sequence * sequence)
{
  guint allowed = sequence->screen_content_tools;

  bit_reader_skip (bits, 1);    /* disable_cdf_update */
  if (allowed == SELECT)
    allowed = bit_reader_take (bits, 1);
  if (allowed && sequence->integer_mv == SELECT)
    bit_reader_skip (bits, 1);  /* force_integer_mv */
}

/* Skips the field buffer_removal_time, which exists once for each operating
 * point to which the frame belongs. */
static void
skip_removal_times (BitReader * bits, const Av1Sequence * sequence,
    const Av1Obu * obu)
{
  guint i;

  if (!sequence->has_decoder_model || !bit_reader_take_flag (bits))
    return;
  for (i = 0; i < sequence->n_operating_points; i++) {
    const guint idc = sequence->operating_point_idc[i];

    if (sequence->has_operating_point_model[i] && (idc == 0
            || ((idc >> obu->temporal_id & 1)
                && (idc >> (obu->spatial_id + 8) & 1))))
      bit_reader_skip (bits, sequence->removal_time_length);
  }
}

/* Parses the part of uncompressed_header () that names the reference frames of
 * an inter frame (section 5.9.2 of AV1). */
static void
parse_refs (BitReader * bits, const Av1Sequence * sequence, Av1Frame * frame)
{
  const gboolean is_short = sequence->order_hint_bits > 0
      && bit_reader_take_flag (bits);
  guint i;

  if (is_short) {
    /* skips the fields last_frame_idx and gold_frame_idx, because all reference
     * frames are assumed to be used */
    bit_reader_skip (bits, 3 + 3);
    frame->refs = ALL_FRAMES;
  }
  for (i = 0; i < AV1_REFS_PER_FRAME; i++) {
    if (!is_short)
      frame->refs |= 1 << bit_reader_take (bits, 3);
    if (sequence->has_frame_ids)
      bit_reader_skip (bits, sequence->delta_frame_id_length);
  }
}

static void
parse_frame (BitReader * bits, const Av1Sequence * sequence,
    const Av1Obu * obu, Av1Frame * frame)
{
  skip_screen_content (bits, sequence);
  if (sequence->has_frame_ids)
    bit_reader_skip (bits, sequence->frame_id_length);
  if (frame->type != AV1_FRAME_SWITCH && !sequence->is_reduced)
    bit_reader_skip (bits, 1);  /* frame_size_override_flag */
  bit_reader_skip (bits, sequence->order_hint_bits);    /* order_hint */
  if (!is_intra (frame) && !frame->is_error_resilient)
    bit_reader_skip (bits, PRIMARY_REF_NONE_BITS);      /* primary_ref_frame */
  skip_removal_times (bits, sequence, obu);
  if (frame->type == AV1_FRAME_SWITCH
      || (frame->type == AV1_FRAME_KEY && frame->is_shown))
    frame->refreshes = ALL_FRAMES;
  else
    frame->refreshes = bit_reader_take (bits, 8);
  if (is_intra (frame))
    return;
  if (frame->is_error_resilient && sequence->order_hint_bits > 0)
    bit_reader_skip (bits, AV1_NUM_REF_FRAMES * sequence->order_hint_bits);
  parse_refs (bits, sequence, frame);
}

/* Parses uncompressed_header () up to and including the reference frames
 * (section 5.9.2 of AV1). The later fields are not needed. */
gboolean
av1_frame_parse (Av1Frame * frame, const Av1Sequence * sequence,
    const Av1Obu * obu)
{
  BitReader bits;

  memset (frame, 0, sizeof (*frame));
  bit_reader_init (&bits, obu->data, obu->size);
  if (sequence->is_reduced) {
    frame->type = AV1_FRAME_KEY;
    frame->is_shown = frame->is_error_resilient = TRUE;
  } else {
    frame->shows_existing = bit_reader_take_flag (&bits);
    if (frame->shows_existing) {
      frame->existing = bit_reader_take (&bits, 3);
      frame->is_shown = TRUE;
      return !bits.beyond;
    }
    parse_type (&bits, sequence, frame);
  }
  parse_frame (&bits, sequence, obu, frame);
  return !bits.beyond;
}
