/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests which slots frames of VP8, VP9 and AV1 use and update. A slot is a part
 * of the decoder's state, such as a reference frame. The headers are put
 * together field by field, according to the syntax tables of VP8 (RFC 6386,
 * section 19.2), VP9 (section 6.2) and AV1 (sections 5.5.1 and 5.9.2). */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "slotuse.h"

/* --- writing headers ------------------------------------------------------ */

typedef struct
{
  guint8 bytes[512];
  gsize n_bits;
} Bits;

static void
put (Bits * bits, guint n, guint value)
{
  for (; n > 0; n--, bits->n_bits++) {
    if (value >> (n - 1) & 1)
      bits->bytes[bits->n_bits / 8] |= 0x80 >> bits->n_bits % 8;
  }
}

static gsize
count_bytes (const Bits * bits)
{
  return (bits->n_bits + 7) / 8;
}

/* Passes a copy of the unit `data`, for example a frame, to the reader. The
 * memory of the copy has exactly the size of the unit, so that AddressSanitizer
 * detects the first byte that is read beyond the end. Returns whether the unit
 * is valid. */
static gboolean
read_layered (SlotReader * reader, const guint8 * data, gsize size,
    const SlotLayer * layer, SlotUse * use)
{
  guint8 *copy = g_memdup2 (data, size);
  gboolean is_valid;

  memset (use, 0x55, sizeof (*use));
  is_valid = slot_reader_input (reader, copy, size, layer, use);
  g_free (copy);
  return is_valid;
}

static SlotUse
read_unit (SlotReader * reader, const guint8 * data, gsize size)
{
  SlotUse use;

  fail_unless (read_layered (reader, data, size, NULL, &use));
  return use;
}

static void
expect_malformed (SlotReader * reader, const guint8 * data, gsize size)
{
  SlotUse use;

  fail_if (read_layered (reader, data, size, NULL, &use));
  fail_if (use.is_key);
  fail_unless (use.is_reference);
  fail_unless_equals_int (use.uses, SLOTS_ALL);
  fail_unless_equals_int (use.updates, SLOTS_ALL);
  fail_unless_equals_int (use.layer, SLOT_LAYER_UNKNOWN);
}

/* --- VP8 ------------------------------------------------------------------ */

/* The boolean entropy encoder, RFC 6386, 7.3 */
typedef struct
{
  guint8 bytes[128];
  gsize size;
  guint32 range, bottom;
  gint bit_count;
} BoolEncoder;

static void
add_one (guint8 * last)
{
  while (*last == 255)
    *last-- = 0;
  ++*last;
}

static void
put_bool (BoolEncoder * encoder, gboolean value)
{
  guint32 split = 1 + ((encoder->range - 1) * 128 >> 8);

  if (value) {
    encoder->bottom += split;
    encoder->range -= split;
  } else {
    encoder->range = split;
  }
  while (encoder->range < 128) {
    encoder->range <<= 1;
    if (encoder->bottom & 1u << 31)
      add_one (encoder->bytes + encoder->size - 1);
    encoder->bottom <<= 1;
    if (--encoder->bit_count == 0) {
      encoder->bytes[encoder->size++] = encoder->bottom >> 24;
      encoder->bottom &= (1 << 24) - 1;
      encoder->bit_count = 8;
    }
  }
}

static void
put_literal (BoolEncoder * encoder, guint n, guint value)
{
  for (; n > 0; n--)
    put_bool (encoder, value >> (n - 1) & 1);
}

static void
flush_bools (BoolEncoder * encoder)
{
  gint count = encoder->bit_count;
  guint32 value = encoder->bottom;

  if (value & 1u << (32 - count))
    add_one (encoder->bytes + encoder->size - 1);
  value <<= count & 7;
  count >>= 3;
  while (--count >= 0)
    value <<= 8;
  for (count = 0; count < 4; count++) {
    encoder->bytes[encoder->size++] = value >> 24;
    value <<= 8;
  }
}

typedef struct
{
  gboolean is_key, is_hidden;
  gboolean golden, altref;      /* these are refreshed */
  guint copy_to_golden, copy_to_altref;
  gboolean entropy, last;       /* refresh_entropy_probs, refresh_last */
  /* `segments` is TRUE if the frame updates the segmentation map. The frame
   * then also updates the segment data, except if `map_only` is TRUE. */
  gboolean segments, map_only;
  /* Number of loop filter deltas that the frame updates; at most 8. */
  guint filter;
} Vp8;

static void
put_vp8_header (BoolEncoder * encoder, const Vp8 * frame)
{
  guint i;

  if (frame->is_key)
    put_literal (encoder, 2, 0);        /* color_space, clamping_type */
  put_bool (encoder, frame->segments);  /* segmentation_enabled */
  if (frame->segments)
    put_literal (encoder, 2, frame->map_only ? 2 : 3);
  if (frame->segments && !frame->map_only) {
    put_bool (encoder, 1);      /* segment_feature_mode */
    for (i = 0; i < 4; i++)
      put_literal (encoder, 1 + 7 + 1, i % 2 ? 0x1a5 : 0x100);
    put_literal (encoder, 4, 0);        /* no lf_update_value */
  }
  for (i = 0; frame->segments && i < 3; i++)
    put_literal (encoder, 1 + 8, 0x1aa);        /* segment_prob */
  put_literal (encoder, 1 + 6 + 3, 0x155);      /* type, level, sharpness */
  put_bool (encoder, 1);        /* loop_filter_adj_enable */
  put_bool (encoder, frame->filter > 0);
  for (i = 0; frame->filter > 0 && i < 8; i++)
    put_literal (encoder, i < frame->filter ? 1 + 6 + 1 : 1,
        i < frame->filter ? 0xa3 : 0);
  put_literal (encoder, 2, 0);  /* log2_nbr_of_dct_partitions */
  put_literal (encoder, 7, 60); /* y_ac_qi */
  put_literal (encoder, 1 + 4 + 1, 0x35);       /* y_dc_delta */
  put_literal (encoder, 4, 0);  /* no other deltas */
  if (!frame->is_key) {
    put_bool (encoder, frame->golden);
    put_bool (encoder, frame->altref);
    if (!frame->golden)
      put_literal (encoder, 2, frame->copy_to_golden);
    if (!frame->altref)
      put_literal (encoder, 2, frame->copy_to_altref);
    put_literal (encoder, 2, 1);        /* sign biases */
  }
  put_bool (encoder, frame->entropy);
  if (!frame->is_key)
    put_bool (encoder, frame->last);
  flush_bools (encoder);
}

static gsize
write_vp8 (const Vp8 * frame, guint8 * bytes)
{
  BoolEncoder encoder = { {0,}, 0, 255, 0, 24 };
  guint32 tag;
  gsize at = 3;

  put_vp8_header (&encoder, frame);
  tag = (frame->is_key ? 0 : 1) | (frame->is_hidden ? 0 : 1 << 4)
      | encoder.size << 5;
  bytes[0] = tag;
  bytes[1] = tag >> 8;
  bytes[2] = tag >> 16;
  if (frame->is_key) {
    memcpy (bytes + at, "\x9d\x01\x2a\x40\x01\xf0\x00", 7);     /* 320x240 */
    at += 7;
  }
  memcpy (bytes + at, encoder.bytes, encoder.size);
  return at + encoder.size;
}

static SlotUse
read_vp8 (SlotReader * reader, Vp8 frame, gint layer, gboolean is_sync)
{
  SlotLayer of_layer = { layer, is_sync };
  guint8 bytes[256];
  gsize size = write_vp8 (&frame, bytes), cut;
  SlotUse use;

  for (cut = 0; cut < size; cut++)
    expect_malformed (reader, bytes, cut);
  fail_unless (read_layered (reader, bytes, size, &of_layer, &use));
  return use;
}

#define REFERENCES (VP8_SLOT_LAST | VP8_SLOT_GOLDEN | VP8_SLOT_ALTREF)
#define SEGMENTS VP8_SLOT_SEGMENTATION
#define FILTER VP8_SLOT_FILTER
/* Sets of slots. A slot is a part of the decoder's state. BASE contains the
 * slots that every VP8 frame except a key frame uses. LAYERS contains the slots
 * that such a frame also uses if its temporal layer is unknown. */
#define BASE (REFERENCES | VP8_SLOT_ENTROPY)
#define LAYERS (255u * VP8_SLOT_LAYER (0))

GST_START_TEST (vp8_header_says_what_a_frame_uses)
{
  static const struct
  {
    Vp8 frame;
    guint32 uses, updates;
    gboolean is_reference;
  } frames[] = {
    {{FALSE,}, FILTER, 0, FALSE},
    {{.last = TRUE}, FILTER, VP8_SLOT_LAST, TRUE},
    {{.golden = TRUE}, FILTER, VP8_SLOT_GOLDEN, TRUE},
    {{.altref = TRUE,.is_hidden = TRUE}, FILTER, VP8_SLOT_ALTREF, TRUE},
    {{.copy_to_golden = 1}, FILTER, VP8_SLOT_GOLDEN, TRUE},
    {{.copy_to_golden = 2}, FILTER, VP8_SLOT_GOLDEN, TRUE},
    {{.copy_to_altref = 1}, FILTER, VP8_SLOT_ALTREF, TRUE},
    {{.entropy = TRUE}, FILTER, VP8_SLOT_ENTROPY, TRUE},
    {{.segments = TRUE,.map_only = TRUE}, SEGMENTS | FILTER, SEGMENTS, TRUE},
    /* The frame replaces all segment data without using the old data. An
     * encoder that does this once is expected to do it in each frame. No later
     * frame then uses the segment data of this frame. */
    {{.segments = TRUE}, FILTER, SEGMENTS, FALSE},
    {{.filter = 7}, FILTER, FILTER, TRUE},
    {{.filter = 8}, 0, FILTER, FALSE},
    {{.golden = TRUE,.altref = TRUE,.entropy = TRUE,.last = TRUE,
            .segments = TRUE,.filter = 8}, 0, BASE | SEGMENTS | FILTER, TRUE},
  };
  SlotReader *reader = slot_reader_new (SLOT_CODEC_VP8);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (frames); i++) {
    SlotUse use = read_vp8 (reader, frames[i].frame, SLOT_LAYER_UNKNOWN, FALSE);

    fail_if (use.is_key);
    fail_unless_equals_int (use.is_shown, !frames[i].frame.is_hidden);
    fail_unless_equals_int (use.uses, BASE | LAYERS | frames[i].uses);
    fail_unless_equals_int (use.updates, frames[i].updates);
    fail_unless_equals_int (use.is_reference, frames[i].is_reference);
    fail_unless_equals_int (use.layer, SLOT_LAYER_UNKNOWN);
  }
  slot_reader_free (reader);
}

GST_END_TEST;

GST_START_TEST (vp8_key_frame_updates_all)
{
  SlotReader *reader = slot_reader_new (SLOT_CODEC_VP8);
  SlotUse use = read_vp8 (reader, (Vp8) {
        .is_key = TRUE,.segments = TRUE
      }, SLOT_LAYER_UNKNOWN, FALSE);

  fail_unless (use.is_key && use.is_reference && use.is_shown);
  fail_unless_equals_int (use.uses, SLOTS_NONE);
  fail_unless_equals_int (use.updates, SLOTS_ALL);
  slot_reader_free (reader);
}

GST_END_TEST;

/* In VP8, each temporal layer above the base layer has a slot of its own for
 * its golden and altref frames. A slot is a part of the decoder's state. All
 * layers share one slot for the probabilities. */
GST_START_TEST (vp8_layers_use_lower_layers)
{
  SlotReader *reader = slot_reader_new (SLOT_CODEC_VP8);
  SlotUse use = read_vp8 (reader, (Vp8) {.last = TRUE }, 0, FALSE);

  fail_unless_equals_int (use.uses, BASE | FILTER);
  fail_unless_equals_int (use.updates, VP8_SLOT_LAST);
  fail_unless_equals_int (use.layer, 0);

  use = read_vp8 (reader, (Vp8) {
      .golden = TRUE}
      , 1, FALSE);
  fail_unless_equals_int (use.uses, BASE | FILTER | VP8_SLOT_LAYER (1));
  fail_unless_equals_int (use.updates, VP8_SLOT_LAYER (1));

  use = read_vp8 (reader, (Vp8) {
      .golden = TRUE}
      , 1, TRUE);
  fail_unless_equals_int (use.uses, BASE | FILTER);

  use = read_vp8 (reader, (Vp8) {
      FALSE,}
      , 2, FALSE);
  fail_unless_equals_int (use.uses,
      BASE | FILTER | VP8_SLOT_LAYER (1) | VP8_SLOT_LAYER (2));
  fail_if (use.is_reference);

  use = read_vp8 (reader, (Vp8) {
      .entropy = TRUE,.last = TRUE}
      , 2, FALSE);
  fail_unless_equals_int (use.updates, VP8_SLOT_ENTROPY | VP8_SLOT_LAST);
  use = read_vp8 (reader, (Vp8) {
      FALSE,}
      , SLOT_MAX_LAYERS, FALSE);
  fail_unless_equals_int (use.layer, SLOT_LAYER_UNKNOWN);
  slot_reader_free (reader);
}

GST_END_TEST;

GST_START_TEST (malformed_vp8_uses_all)
{
  SlotReader *reader = slot_reader_new (SLOT_CODEC_VP8);
  guint8 bytes[256];
  gsize size;

  size = write_vp8 (&(Vp8) {
      .is_key = TRUE}
      , bytes);
  bytes[3] = 0x9c;              /* start code */
  expect_malformed (reader, bytes, size);
  bytes[3] = 0x9d;
  bytes[0] |= 4 << 1;           /* version */
  expect_malformed (reader, bytes, size);
  size = write_vp8 (&(Vp8) {
      .is_key = TRUE}
      , bytes);
  bytes[6] = bytes[7] = 0;      /* width */
  expect_malformed (reader, bytes, size);
  size = write_vp8 (&(Vp8) {
      .copy_to_golden = 3}
      , bytes);
  expect_malformed (reader, bytes, size);
  expect_malformed (reader, (const guint8 *) "\x11\0\0", 3);
  slot_reader_free (reader);
}

GST_END_TEST;

/* --- VP9 ------------------------------------------------------------------ */

typedef struct
{
  gboolean is_key, is_hidden, is_error_resilient, is_intra_only;
  guint profile;
  guint reset_context, refreshes, refs[3];
  gboolean has_new_size;        /* no found_ref */
  gboolean refreshes_context;
  guint context;
} Vp9;

static void
put_vp9_color (Bits * bits, guint profile)
{
  if (profile >= 2)
    put (bits, 1, 1);           /* ten_or_twelve_bit */
  put (bits, 3, 2);             /* color_space */
  put (bits, 1, 0);             /* color_range */
  if (profile % 2)
    put (bits, 3, 2);           /* subsampling, reserved */
}

static void
put_vp9_size (Bits * bits)
{
  put (bits, 16, 319);
  put (bits, 16, 239);
  put (bits, 1, 1);             /* render_and_frame_size_different */
  put (bits, 32, 0xffffffff);
}

static void
put_vp9_inter (Bits * bits, const Vp9 * frame)
{
  guint i;

  put (bits, 8, frame->refreshes);
  for (i = 0; i < 3; i++)
    put (bits, 3 + 1, frame->refs[i] << 1 | i % 2);
  if (frame->has_new_size) {
    put (bits, 3, 0);
    put_vp9_size (bits);
  } else {
    /* The frame does not contain its size, but refers to the size of its second
     * reference frame. Three bits say this:
     * - found_ref of the first reference frame: 0;
     * - found_ref of the second reference frame: 1;
     * - render_and_frame_size_different: 0. */
    put (bits, 2 + 1, 2);
  }
  put (bits, 1, 1);             /* allow_high_precision_mv */
  put (bits, 1 + 2, 1);         /* raw_interpolation_filter */
}

static gsize
write_vp9 (const Vp9 * frame, guint8 * bytes)
{
  Bits bits = { {0,}, 0 };

  put (&bits, 2, 2);            /* frame_marker */
  put (&bits, 1, frame->profile & 1);
  put (&bits, 1, frame->profile >> 1);
  if (frame->profile == 3)
    put (&bits, 1, 0);
  put (&bits, 1, 0);            /* show_existing_frame */
  put (&bits, 1, !frame->is_key);
  put (&bits, 1, !frame->is_hidden);
  put (&bits, 1, frame->is_error_resilient);
  if (frame->is_key) {
    put (&bits, 24, 0x498342);
    put_vp9_color (&bits, frame->profile);
    put_vp9_size (&bits);
  } else {
    if (frame->is_hidden)
      put (&bits, 1, frame->is_intra_only);
    if (!frame->is_error_resilient)
      put (&bits, 2, frame->reset_context);
    if (frame->is_intra_only) {
      put (&bits, 24, 0x498342);
      if (frame->profile > 0)
        put_vp9_color (&bits, frame->profile);
      put (&bits, 8, frame->refreshes);
      put_vp9_size (&bits);
    } else {
      put_vp9_inter (&bits, frame);
    }
  }
  if (!frame->is_error_resilient)
    put (&bits, 1 + 1, frame->refreshes_context << 1 | 1);
  put (&bits, 2, frame->context);
  memcpy (bytes, bits.bytes, count_bytes (&bits));
  return count_bytes (&bits);
}

static void
expect_vp9 (Vp9 frame, guint32 uses, guint32 updates, gboolean is_reference)
{
  SlotReader *reader = slot_reader_new (SLOT_CODEC_VP9);
  guint8 bytes[256];
  gsize size = write_vp9 (&frame, bytes), cut;
  SlotUse use;

  for (cut = 0; cut < size; cut++)
    expect_malformed (reader, bytes, cut);
  use = read_unit (reader, bytes, size);
  fail_unless_equals_int (use.uses, uses);
  fail_unless_equals_int (use.updates, updates);
  fail_unless_equals_int (use.is_reference, is_reference);
  fail_unless_equals_int (use.is_key, frame.is_key);
  fail_unless_equals_int (use.is_shown, !frame.is_hidden);
  slot_reader_free (reader);
}

#define CONTEXT(i) VP9_SLOT_CONTEXT (i)
#define CONTEXTS (15u * CONTEXT (0))
#define PREVIOUS VP9_SLOT_PREVIOUS

GST_START_TEST (vp9_header_says_what_a_frame_uses)
{
  guint profile;

  for (profile = 0; profile < 4; profile++) {
    expect_vp9 ((Vp9) {
        .profile = profile,.is_key = TRUE}
        , 0, SLOTS_ALL, TRUE);
    expect_vp9 ((Vp9) {
        .profile = profile,.is_hidden = TRUE,.is_intra_only =
          TRUE,.refreshes = 6,.context = 1}
        , CONTEXT (0), 6 | PREVIOUS, TRUE);
    expect_vp9 ((Vp9) {
          .profile = profile,.refreshes = 0x81,.refs = { 1, 7, 4 },
        .refreshes_context = TRUE,.context = 3},
        0x92 | CONTEXT (3) | PREVIOUS, 0x81 | CONTEXT (3) | PREVIOUS, TRUE);
    expect_vp9 ((Vp9) {
          .profile = profile,.refs = { 1, 1, 1 },
        .has_new_size = TRUE,.context = 2},
        2 | CONTEXT (2) | PREVIOUS, PREVIOUS, TRUE);
  }
}

GST_END_TEST;

/* An error resilient VP9 frame resets all four probability contexts. Each
 * context has a slot (a part of the decoder's state). The frame must therefore
 * update these four slots, but must not use them. The only slots that it uses
 * must be those of its reference frames. */
GST_START_TEST (vp9_error_resilient_frame_uses_references_only)
{
  expect_vp9 ((Vp9) {
        .is_error_resilient = TRUE,.refs = { 0, 1, 2 },
      .refreshes = 4,.context = 1}, 7, 4 | CONTEXTS | PREVIOUS, TRUE);
  expect_vp9 ((Vp9) {
        .is_error_resilient = TRUE,.refs = { 3, 3, 3 }
      }, 8,
      CONTEXTS | PREVIOUS, FALSE);
}

GST_END_TEST;

GST_START_TEST (vp9_intra_only_frame_resets_contexts)
{
  static const struct
  {
    guint reset, context;
    guint32 uses, updates;
  } resets[] = {
    {0, 1, CONTEXT (0), 0}, {1, 1, CONTEXT (0), 0},
    {2, 1, CONTEXT (0), CONTEXT (1)}, {2, 0, 0, CONTEXT (0)},
    {3, 1, 0, CONTEXTS},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (resets); i++)
    expect_vp9 ((Vp9) {
        .is_hidden = TRUE,.is_intra_only = TRUE,.refreshes = 1,.reset_context =
        resets[i].reset,.context = resets[i].context}
      , resets[i].uses, resets[i].updates | 1 | PREVIOUS, TRUE);
}

GST_END_TEST;

/* Writes a superframe with `n` frames to `bytes` and returns its size. A
 * superframe consists of several frames and, after them, an index between two
 * equal markers (VP9 specification, annex B.2). */
static gsize
write_superframe (const Vp9 * frames, guint n, guint8 * bytes)
{
  gsize size = 0, sizes[8];
  guint i;

  for (i = 0; i < n; i++) {
    sizes[i] = write_vp9 (&frames[i], bytes + size);
    size += sizes[i];
  }
  bytes[size++] = 0xc8 | (n - 1);       /* two bytes for each size */
  for (i = 0; i < n; i++) {
    bytes[size++] = sizes[i];
    bytes[size++] = sizes[i] >> 8;
  }
  bytes[size++] = 0xc8 | (n - 1);
  return size;
}

GST_START_TEST (vp9_superframe_is_one_unit)
{
  static const Vp9 frames[] = {
    {.is_error_resilient = TRUE,.is_hidden = TRUE,.refs = {0, 0, 0},
        .refreshes = 2},
    {.is_error_resilient = TRUE,.refs = {0, 1, 2}},
  };
  SlotReader *reader = slot_reader_new (SLOT_CODEC_VP9);
  guint8 bytes[256];
  gsize size = write_superframe (frames, 2, bytes);
  SlotUse use = read_unit (reader, bytes, size);

  fail_unless (use.is_shown && use.is_reference);
  /* An earlier frame of the superframe updates slot 1 (a stored reference
   * frame), so the superframe does not need what was in slot 1 before. Slot 1
   * must not count as used. */
  fail_unless_equals_int (use.uses, 5);
  fail_unless_equals_int (use.updates, 2 | CONTEXTS | PREVIOUS);
  /* In the index of the superframe, the size of the last frame is too large.
   * The superframe must be refused as malformed. */
  bytes[size - 2] = 0xff;
  expect_malformed (reader, bytes, size);
  bytes[size - 3] = bytes[size - 2] = 0;
  expect_malformed (reader, bytes, size);
  slot_reader_free (reader);
}

GST_END_TEST;

/* The header of a VP9 frame says that an existing frame is shown again:
 * show_existing_frame is 1, and frame_to_show_map_idx is 5. The reader must
 * report that the frame uses slot 5, in which the decoder stores the existing
 * frame. */
GST_START_TEST (vp9_shows_existing_frame)
{
  static const guint8 existing[] = { 0x80 | 8 | 5 };
  SlotReader *reader = slot_reader_new (SLOT_CODEC_VP9);
  SlotUse use = read_unit (reader, existing, 1);
  guint8 bytes[256];

  fail_unless_equals_int (use.uses, 1 << 5 | PREVIOUS);
  fail_unless_equals_int (use.updates, PREVIOUS);
  /* The existing frame that is shown again can be a reference of later frames,
   * so is_reference must be TRUE. */
  fail_unless (use.is_shown && use.is_reference);
  read_unit (reader, bytes, write_vp9 (&(Vp9) {
          .is_error_resilient = TRUE}, bytes));
  fail_if (read_unit (reader, existing, 1).is_reference);
  expect_malformed (reader, (const guint8 *) "\x48", 1);        /* marker */
  slot_reader_free (reader);
}

GST_END_TEST;

/* --- AV1 ------------------------------------------------------------------ */

typedef struct
{
  gboolean is_reduced, has_model, has_ids, has_order_hint, selects_tools;
} Sequence;

typedef struct
{
  guint type;
  gboolean is_hidden, is_error_resilient, is_short;
  guint refreshes, refs[7];
} Frame;

#define REDUNDANT 7             /* OBU_REDUNDANT_FRAME_HEADER */

static gsize
put_obu (guint8 * bytes, guint type, gint layer, const Bits * bits)
{
  gsize size = bits ? count_bytes (bits) : 0, at = 0;

  bytes[at++] = type << 3 | (layer >= 0 ? 4 : 0) | 2;
  if (layer >= 0)
    bytes[at++] = layer << 5;
  fail_unless (size < 128);
  bytes[at++] = size;
  if (size > 0)
    memcpy (bytes + at, bits->bytes, size);
  return at + size;
}

static void
put_operating_points (Bits * bits, const Sequence * sequence)
{
  put (bits, 1, sequence->has_model);   /* timing_info_present_flag */
  if (sequence->has_model) {
    put (bits, 32, 1);
    put (bits, 32, 25);
    put (bits, 1, 0);           /* equal_picture_interval */
    put (bits, 1, 1);           /* decoder_model_info_present_flag */
    put (bits, 5, 9);           /* buffer_delay_length_minus_1 */
    put (bits, 32, 1);
    put (bits, 5, 6);           /* buffer_removal_time_length_minus_1 */
    put (bits, 5, 4);           /* frame_presentation_time_length_minus_1 */
  }
  put (bits, 1, 1);             /* initial_display_delay_present_flag */
  put (bits, 5, 1);             /* two operating points */
  put (bits, 12, 0x103);        /* temporal layers 0 and 1 */
  put (bits, 5 + 1, 8 << 1);    /* a level with a tier */
  if (sequence->has_model)
    put (bits, 1 + 10 + 10 + 1, 1 << 21);
  put (bits, 1 + 4, 0x13);
  put (bits, 12, 0x101);
  put (bits, 5, 4);
  if (sequence->has_model)
    put (bits, 1 + 10 + 10 + 1, 1 << 21);
  put (bits, 1, 0);
}

static gsize
put_sequence (guint8 * bytes, const Sequence * sequence)
{
  Bits bits = { {0,}, 0 };

  put (&bits, 3 + 1, sequence->is_reduced);
  put (&bits, 1, sequence->is_reduced);
  if (sequence->is_reduced)
    put (&bits, 5, 4);
  else
    put_operating_points (&bits, sequence);
  put (&bits, 4 + 4, 0x88);     /* nine bits each */
  put (&bits, 18, 0x15555);
  if (!sequence->is_reduced)
    put (&bits, 1, sequence->has_ids);
  if (sequence->has_ids)
    put (&bits, 4 + 3, 1 << 3 | 2);     /* 3 and 6 bits */
  put (&bits, 3, 0);
  if (!sequence->is_reduced) {
    put (&bits, 4, 0);
    put (&bits, 1, sequence->has_order_hint);
    if (sequence->has_order_hint)
      put (&bits, 2, 0);
    put (&bits, 1, sequence->selects_tools);
    if (!sequence->selects_tools)
      put (&bits, 1, 0);
    else
      put (&bits, 1, 1);        /* seq_choose_integer_mv */
    if (sequence->has_order_hint)
      put (&bits, 3, 4);        /* five bits */
  }
  put (&bits, 32, 0);           /* what follows is not needed */
  return put_obu (bytes, 1, -1, &bits);
}

/* `layer` is 0, 1, or -1 without extension. */
static void
put_frame_header (Bits * bits, const Sequence * sequence, const Frame * frame,
    gint layer)
{
  const gboolean is_intra = frame->type == 0 || frame->type == 2;
  gboolean is_resilient = frame->is_error_resilient;
  guint i;

  put (bits, 1, 0);             /* show_existing_frame */
  put (bits, 2, frame->type);
  put (bits, 1, !frame->is_hidden);
  if (frame->is_hidden)
    put (bits, 1, 1);           /* showable_frame */
  else if (sequence->has_model)
    put (bits, 5, 0x15);        /* frame_presentation_time */
  if (frame->type == 3 || (frame->type == 0 && !frame->is_hidden))
    is_resilient = TRUE;
  else
    put (bits, 1, is_resilient);
  put (bits, 1, 0);             /* disable_cdf_update */
  if (sequence->selects_tools)
    put (bits, 1 + 1, 3);       /* allowed, force_integer_mv */
  if (sequence->has_ids)
    put (bits, 6, 0x2a);
  if (frame->type != 3)
    put (bits, 1, 0);           /* frame_size_override_flag */
  if (sequence->has_order_hint)
    put (bits, 5, 0x15);
  if (!is_intra && !is_resilient)
    put (bits, 3, 0);           /* primary_ref_frame */
  if (sequence->has_model) {
    put (bits, 1, 1);           /* buffer_removal_time_present_flag */
    put (bits, 7, 0x55);
    if (layer <= 0)
      put (bits, 7, 0x55);
  }
  if (frame->type != 3 && !(frame->type == 0 && !frame->is_hidden))
    put (bits, 8, frame->refreshes);
  if (is_intra)
    return;
  if (is_resilient && sequence->has_order_hint)
    put (bits, 40 - 32, 0), put (bits, 32, 0x12345678);
  if (sequence->has_order_hint)
    put (bits, 1, frame->is_short);
  if (frame->is_short)
    put (bits, 6, 0x0a);
  for (i = 0; i < 7; i++) {
    if (!frame->is_short)
      put (bits, 3, frame->refs[i]);
    if (sequence->has_ids)
      put (bits, 3, 5);
  }
}

static gsize
put_frame (guint8 * bytes, const Sequence * sequence, const Frame * frame,
    gint layer)
{
  Bits bits = { {0,}, 0 };

  put_frame_header (&bits, sequence, frame, layer);
  return put_obu (bytes, 6, layer, &bits);
}

static gsize
put_existing (guint8 * bytes, guint index)
{
  Bits bits = { {0,}, 0 };

  put (&bits, 1 + 3, 8 | index);
  return put_obu (bytes, 3, -1, &bits);
}

/* Passes a temporal unit to the reader. It consists of a temporal delimiter,
 * the sequence header and the frame. Returns the slots (parts of the decoder's
 * state) that the frame uses and updates. */
static SlotUse
read_av1 (SlotReader * reader, const Sequence * sequence, Frame frame,
    gint layer)
{
  guint8 bytes[512];
  gsize size = put_obu (bytes, 2, -1, NULL);

  size += put_sequence (bytes + size, sequence);
  size += put_frame (bytes + size, sequence, &frame, layer);
  return read_unit (reader, bytes, size);
}

static void
expect_av1 (const Sequence * sequence, Frame frame, gint layer, guint32 uses,
    guint32 updates)
{
  SlotReader *reader = slot_reader_new (SLOT_CODEC_AV1);
  SlotUse use = read_av1 (reader, sequence, frame, layer);

  fail_unless_equals_int (use.uses, uses);
  fail_unless_equals_int (use.updates, updates);
  fail_unless_equals_int (use.is_reference, updates != 0);
  fail_unless_equals_int (use.is_shown, !frame.is_hidden);
  fail_unless_equals_int (use.layer, layer);
  slot_reader_free (reader);
}

GST_START_TEST (av1_frame_header_says_what_a_frame_uses)
{
  guint i;
  gint layer;

  for (i = 0; i < 32; i++) {
    const Sequence sequence = { FALSE, (i & 1) != 0, (i & 2) != 0,
      (i & 4) != 0, (i & 8) != 0
    };

    layer = i & 16 ? 1 : -1;
    expect_av1 (&sequence, (Frame) {
        0}, layer, 0, SLOTS_ALL);
    expect_av1 (&sequence, (Frame) {
        0,.is_hidden = TRUE,.refreshes = 0x40}, layer, 0, 0x40);
    expect_av1 (&sequence, (Frame) {
        1,.refreshes = 0x21,.refs =
          { 0, 1, 1, 1, 7, 0, 0 }}, layer, 0x83, 0x21);
    expect_av1 (&sequence, (Frame) {
          1,.refs = { 5, 5, 5, 5, 5, 5, 5 },
        .is_error_resilient = TRUE}, layer, 0x20, 0);
    expect_av1 (&sequence, (Frame) {
        2,.refreshes = 0x0e}, layer, 0, 0x0e);
    expect_av1 (&sequence, (Frame) {
        3,.refs = { 2, 2, 2, 2, 2, 2, 3 }}, layer,
        0x0c, 0xff);
    if (sequence.has_order_hint)
      expect_av1 (&sequence, (Frame) {
          1,.is_short = TRUE,.refreshes = 1}
        , layer, 0xff, 1);
  }
}

GST_END_TEST;

GST_START_TEST (av1_shows_existing_frame)
{
  const Sequence sequence = { FALSE, };
  SlotReader *reader = slot_reader_new (SLOT_CODEC_AV1);
  guint8 bytes[64];
  gsize size = put_existing (bytes, 6);
  SlotUse use;

  expect_malformed (reader, bytes, size);       /* no sequence header */
  read_av1 (reader, &sequence, (Frame) {
      1,.is_hidden = TRUE,.refreshes = 0x40}, -1);
  use = read_unit (reader, bytes, size);
  fail_unless (use.is_shown && !use.is_reference && !use.is_key);
  fail_unless_equals_int (use.uses, 0x40);
  fail_unless_equals_int (use.updates, 0);

  /* If a stored key frame is shown again, it must replace all reference frames
   * (AV1, section 7.21). */
  read_av1 (reader, &sequence, (Frame) {
      0,.is_hidden = TRUE,.refreshes = 0x40}, -1);
  use = read_unit (reader, bytes, size);
  fail_unless (use.is_reference && !use.is_key);
  fail_unless_equals_int (use.uses, 0x40);
  fail_unless_equals_int (use.updates, 0xff);
  slot_reader_reset (reader);
  expect_malformed (reader, bytes, size);
  slot_reader_free (reader);
}

GST_END_TEST;

GST_START_TEST (av1_temporal_unit_has_several_frames)
{
  const Sequence sequence = { FALSE, };
  SlotReader *reader = slot_reader_new (SLOT_CODEC_AV1);
  const Frame hidden = { 1,.is_hidden = TRUE,.refreshes = 8,
    .refs = {0, 0, 0, 0, 0, 0, 1}
  };
  const Frame shown = { 1,.refs = {3, 3, 3, 3, 3, 0, 2} };
  guint8 bytes[256];
  gsize size;
  SlotUse use;

  read_av1 (reader, &sequence, (Frame) {
      0}, -1);
  size = put_frame (bytes, &sequence, &hidden, 2);
  size += put_frame (bytes + size, &sequence, &shown, 2);
  use = read_unit (reader, bytes, size);
  fail_unless_equals_int (use.uses, 7);
  fail_unless_equals_int (use.updates, 8);
  fail_unless_equals_int (use.layer, 2);
  fail_unless (use.is_shown && use.is_reference);
  slot_reader_free (reader);
}

GST_END_TEST;

/* If the first frame of a temporal unit is lost, the other frames of this unit
 * seem to belong to the previous unit. They must therefore depend on the first
 * frame: the first frame must update the slot AV1_SLOT_TEMPORAL_UNIT, and the
 * other frames must use this slot. */
GST_START_TEST (av1_frame_needs_the_beginning_of_its_temporal_unit)
{
  const Sequence sequence = { FALSE, };
  SlotReader *reader = slot_reader_new (SLOT_CODEC_AV1_FRAME);
  const Frame frame = { 1,.refs = {3, 3, 3, 3, 3, 3, 3} };
  guint8 bytes[256];
  gsize size = put_sequence (bytes, &sequence);
  SlotUse use;

  /* a stream without delimiters */
  size += put_frame (bytes + size, &sequence, &(Frame) {
      0}, -1);
  fail_unless (read_unit (reader, bytes, size).is_key);
  use = read_av1 (reader, &sequence, (Frame) {
      0}, -1);
  fail_unless (use.is_key);
  fail_unless_equals_int (use.updates, SLOTS_ALL);
  use = read_av1 (reader, &sequence, frame, -1);
  fail_unless_equals_int (use.uses, 8);
  fail_unless_equals_int (use.updates, AV1_SLOT_TEMPORAL_UNIT);
  use = read_unit (reader, bytes, put_frame (bytes, &sequence, &frame, -1));
  fail_unless_equals_int (use.uses, 8 | AV1_SLOT_TEMPORAL_UNIT);
  fail_unless_equals_int (use.updates, 0);
  fail_if (use.is_reference);
  slot_reader_free (reader);
}

GST_END_TEST;

GST_START_TEST (malformed_av1_uses_all)
{
  const Sequence sequence = { FALSE, };
  SlotReader *reader = slot_reader_new (SLOT_CODEC_AV1);
  const Frame frame = { 1,.refs = {3, 3, 3, 3, 3, 3, 3} };
  guint8 bytes[256];
  gsize size, cut;

  read_av1 (reader, &sequence, (Frame) {
      0}, -1);
  size = put_frame (bytes, &sequence, &frame, -1);
  for (cut = 0; cut < size; cut++)
    expect_malformed (reader, bytes, cut);
  bytes[0] |= 0x80;             /* obu_forbidden_bit */
  expect_malformed (reader, bytes, size);
  /* If an OBU (unit of AV1) does not have the field obu_size, it extends to the
   * end of the data. */
  bytes[0] = 6 << 3;
  memmove (bytes + 1, bytes + 2, size - 2);
  fail_unless_equals_int (read_unit (reader, bytes, size - 1).uses, 8);
  bytes[0] = REDUNDANT << 3;    /* only a copy of a frame header */
  expect_malformed (reader, bytes, size - 1);
  /* a size of more than 32 bits */
  expect_malformed (reader, (const guint8 *) "\x32\xff\xff\xff\xff\xff\x01", 7);
  size = put_sequence (bytes, &sequence);
  /* The field obu_size says that the OBU of the sequence header is shorter than
   * it is. The OBU (unit of AV1) must be refused as malformed. */
  bytes[1] = 3;
  expect_malformed (reader, bytes, 5);
  size = put_frame (bytes, &sequence, &frame, -1);
  expect_malformed (reader, bytes, size);
  slot_reader_free (reader);
}

GST_END_TEST;

static Suite *
slotuse_suite (void)
{
  Suite *suite = suite_create ("slotuse");
  TCase *chain = tcase_create ("general");

  suite_add_tcase (suite, chain);
  tcase_add_test (chain, vp8_header_says_what_a_frame_uses);
  tcase_add_test (chain, vp8_key_frame_updates_all);
  tcase_add_test (chain, vp8_layers_use_lower_layers);
  tcase_add_test (chain, malformed_vp8_uses_all);
  tcase_add_test (chain, vp9_header_says_what_a_frame_uses);
  tcase_add_test (chain, vp9_error_resilient_frame_uses_references_only);
  tcase_add_test (chain, vp9_intra_only_frame_resets_contexts);
  tcase_add_test (chain, vp9_superframe_is_one_unit);
  tcase_add_test (chain, vp9_shows_existing_frame);
  tcase_add_test (chain, av1_frame_header_says_what_a_frame_uses);
  tcase_add_test (chain, av1_shows_existing_frame);
  tcase_add_test (chain, av1_temporal_unit_has_several_frames);
  tcase_add_test (chain, av1_frame_needs_the_beginning_of_its_temporal_unit);
  tcase_add_test (chain, malformed_av1_uses_all);
  return suite;
}

GST_CHECK_MAIN (slotuse);
