/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of slotuse.h: determines how frames of VP8, VP9 and AV1 depend
 * on each other. */

#include "slotuse.h"

#include <string.h>

#include "av1headers.h"
#include "vp8header.h"
#include "vp9header.h"

/* Slots for the reference frames and the probabilities of VP8. The frame header
 * does not say which of them a frame uses. Each inter frame is therefore
 * assumed to use all these slots, whatever its temporal layer is. */
#define VP8_ALL_FRAMES (VP8_SLOT_LAST | VP8_SLOT_GOLDEN | VP8_SLOT_ALTREF | \
    VP8_SLOT_ENTROPY)
#define VP8_ALL_LAYERS (VP8_SLOT_LAYER (SLOT_MAX_LAYERS) - VP8_SLOT_LAYER (0))

#define VP9_CONTEXTS (15u * VP9_SLOT_CONTEXT (0))
/* values of the field reset_frame_context (section 7.2 of VP9): reset one
 * probability context, or all of them */
#define VP9_RESET_ONE 2
#define VP9_RESET_ALL 3

#define AV1_REFERENCES 0xffu

struct _SlotReader
{
  SlotCodec codec;

  /* VP9: TRUE if the last inter frame was error resilient
   * (error_resilient_mode) */
  gboolean is_error_resilient;

  /* of AV1 */
  Av1Sequence sequence;
  gboolean has_sequence;
  gboolean has_delimiters;      /* TRUE if the stream has temporal delimiters */
  /* AV1: bit i is set if the reference frame that is stored at the index i is a
   * key frame. */
  guint key_frames;
};

SlotReader *
slot_reader_new (SlotCodec codec)
{
  SlotReader *reader = g_new0 (SlotReader, 1);

  reader->codec = codec;
  return reader;
}

void
slot_reader_free (SlotReader * reader)
{
  g_free (reader);
}

void
slot_reader_reset (SlotReader * reader)
{
  reader->is_error_resilient = FALSE;
  reader->has_sequence = reader->has_delimiters = FALSE;
  reader->key_frames = 0;
}

/* Adds the next frame of a unit (one frame or a few frames, which the caller
 * passes together) to `use`, which describes the whole unit. `uses` is the set
 * of decoder slots that the frame reads, and `updates` is the set of slots that
 * it writes. A slot is a reference frame or other state of the decoder.
 *
 * If an earlier frame of the unit has written a slot, the frame reads the new
 * content. In this case, the unit as a whole does not depend on the old content
 * of the slot. */
static void
add_frame (SlotUse * use, guint32 uses, guint32 updates)
{
  use->uses |= uses & ~use->updates;
  use->updates |= updates;
}

/* --- VP8 ------------------------------------------------------------------ */

static guint32
get_vp8_updates (const Vp8Header * header, guint layer)
{
  guint32 updates = 0;

  if (header->refreshes_last)
    updates |= VP8_SLOT_LAST;
  if (header->refreshes_golden || header->copy_to_golden != VP8_COPY_NONE)
    updates |= layer > 0 ? VP8_SLOT_LAYER (layer) : VP8_SLOT_GOLDEN;
  if (header->refreshes_altref || header->copy_to_altref != VP8_COPY_NONE)
    updates |= layer > 0 ? VP8_SLOT_LAYER (layer) : VP8_SLOT_ALTREF;
  if (header->refreshes_entropy)
    updates |= VP8_SLOT_ENTROPY;
  if (header->updates_segments)
    updates |= VP8_SLOT_SEGMENTATION;
  if (header->updates_filter)
    updates |= VP8_SLOT_FILTER;
  return updates;
}

/* Returns the slots that a VP8 frame uses. A slot is a reference frame, or
 * other state of the decoder, such as the probabilities.
 *
 * The frame header does not say to which of the three reference frames the
 * macroblocks refer. Without layers, a frame may refer to all three. With
 * temporal layers, a frame refers only to golden and altref frames of its own
 * layer and of lower layers. For the probabilities and the other state, it
 * makes no difference to which layer the frame belongs. */
static guint32
get_vp8_uses (const Vp8Header * header, const SlotLayer * layer, gint number)
{
  guint32 uses = VP8_ALL_FRAMES;
  gint i;

  if (header->uses_segments)
    uses |= VP8_SLOT_SEGMENTATION;
  if (header->uses_filter)
    uses |= VP8_SLOT_FILTER;
  /* If the temporal layer of the frame is unknown, the frame may refer to
   * frames of any layer. */
  if (number == SLOT_LAYER_UNKNOWN)
    return uses | VP8_ALL_LAYERS;
  for (i = 1; i <= number && !layer->is_sync; i++)
    uses |= VP8_SLOT_LAYER (i);
  return uses;
}

static gboolean
read_vp8 (const guint8 * data, gsize size, gboolean is_start,
    const SlotLayer * layer, SlotUse * use)
{
  gint number = layer ? layer->layer : SLOT_LAYER_UNKNOWN;
  guint32 replaced = 0;
  Vp8Header header;

  if (!vp8_header_parse (&header, data, size, is_start))
    return FALSE;
  if (number >= SLOT_MAX_LAYERS)
    number = SLOT_LAYER_UNKNOWN;
  use->layer = number;
  use->is_shown = header.is_shown;
  if (header.is_key) {
    use->is_key = use->is_reference = TRUE;
    use->updates = SLOTS_ALL;
    return TRUE;
  }
  use->uses = get_vp8_uses (&header, layer, number);
  use->updates = get_vp8_updates (&header, MAX (number, 0));
  /* The decoder stores the state of the segments and the state of the loop
   * filter. The frame may replace such a state without using the stored one. An
   * encoder that replaces a state in one frame is expected to replace it in
   * each frame. The next frame is then expected not to use the state that this
   * frame stores. If this frame updates nothing but such states, no later frame
   * depends on this frame, so this frame is not a reference frame. */
  if (!header.uses_segments)
    replaced |= VP8_SLOT_SEGMENTATION;
  if (!header.uses_filter)
    replaced |= VP8_SLOT_FILTER;
  use->is_reference = (use->updates & ~replaced) != 0;
  return TRUE;
}

/* --- VP9 ------------------------------------------------------------------ */

/* Returns the slots of those probability contexts that the frame resets to
 * their default values (section 7.2 of VP9). */
static guint32
get_vp9_resets (const Vp9Header * header)
{
  if (header->is_error_resilient || header->reset_context == VP9_RESET_ALL)
    return VP9_CONTEXTS;
  if (header->is_intra_only && header->reset_context == VP9_RESET_ONE)
    return VP9_SLOT_CONTEXT (header->context);
  return 0;
}

/* Adds a frame of VP9, which is not a key frame. An intra-only frame uses the
 * probability context 0, unless the frame resets this context (section 7.2 of
 * VP9, load_probs). An inter frame uses its three reference frames. If it is
 * not error resilient, it also uses a probability context and the state of the
 * previous frame, such as its motion vectors. */
static void
add_vp9_frame (const Vp9Header * header, SlotUse * use)
{
  const guint32 resets = header->is_error_resilient || header->is_intra_only ?
      get_vp9_resets (header) : 0;
  guint32 uses = 0, updates = header->refreshes | VP9_SLOT_PREVIOUS | resets;
  guint i;

  if (header->is_intra_only) {
    uses = VP9_SLOT_CONTEXT (0) & ~resets;
  } else {
    for (i = 0; i < VP9_REFS_PER_FRAME; i++)
      uses |= 1u << header->refs[i];
    if (!header->is_error_resilient)
      uses |= VP9_SLOT_CONTEXT (header->context) | VP9_SLOT_PREVIOUS;
  }
  if (header->refreshes_context)
    updates |= VP9_SLOT_CONTEXT (header->is_intra_only ? 0 : header->context);
  add_frame (use, uses, updates);
  /* An error resilient frame uses only reference frames, and no other state of
   * the decoder. The encoder is expected to code either all frames or no frames
   * as error resilient. There are two cases:
   * - If this frame is not error resilient, it always counts as a reference
   *   frame.
   * - If this frame is error resilient, the next frame is expected to be error
   *   resilient, too. The next frame then uses this frame only if this frame
   *   updates a reference frame. Otherwise, this frame does not count as a
   *   reference frame. */
  use->is_reference |= header->refreshes != 0 || !header->is_error_resilient;
}

static gboolean
read_vp9_frame (SlotReader * reader, const guint8 * data, gsize size,
    SlotUse * use)
{
  Vp9Header header;

  if (!vp9_header_parse (&header, data, size))
    return FALSE;
  use->is_shown |= header.is_shown;
  if (header.shows_existing) {
    /* The frame consists only of a header, which says that a stored frame is
     * shown again. The slot VP9_SLOT_PREVIOUS stands for the state that a frame
     * leaves for the next frame. The present frame both updates and uses this
     * slot:
     * - It updates the slot. The slot contains the information whether the last
     *   frame was shown, and the header changes this information.
     * - It uses the slot, because the rest of the state in the slot still comes
     *   from earlier frames. If one of these is missing, the state remains
     *   wrong. */
    add_frame (use, 1u << header.existing | VP9_SLOT_PREVIOUS,
        VP9_SLOT_PREVIOUS);
    use->is_reference |= !reader->is_error_resilient;
  } else if (header.is_key) {
    use->is_key |= use->uses == 0;
    use->is_reference = TRUE;
    add_frame (use, 0, SLOTS_ALL);
  } else {
    add_vp9_frame (&header, use);
    reader->is_error_resilient = header.is_error_resilient;
  }
  return TRUE;
}

static gboolean
read_vp9 (SlotReader * reader, const guint8 * data, gsize size, SlotUse * use)
{
  gsize sizes[VP9_MAX_FRAMES];
  const guint n_frames = vp9_find_frames (data, size, sizes);
  guint i;

  for (i = 0; i < n_frames; i++) {
    if (!read_vp9_frame (reader, data, sizes[i], use))
      return FALSE;
    data += sizes[i];
  }
  return n_frames > 0;
}

/* --- AV1 ------------------------------------------------------------------ */

/* The field show_existing_frame tells the decoder to show a stored frame. If
 * the stored frame is a key frame, it also replaces all reference frames
 * (section 7.21 of AV1). */
static void
add_av1_existing (SlotReader * reader, guint existing, SlotUse * use)
{
  const gboolean is_key = reader->key_frames >> existing & 1;

  add_frame (use, 1u << existing, is_key ? AV1_REFERENCES : 0);
  use->is_reference |= is_key;
  if (is_key)
    reader->key_frames = AV1_REFERENCES;
}

static void
add_av1_frame (SlotReader * reader, const Av1Frame * frame, SlotUse * use)
{
  if (frame->type == AV1_FRAME_KEY && frame->refreshes == AV1_REFERENCES) {
    use->is_key |= use->uses == 0;
    add_frame (use, 0, SLOTS_ALL);
  } else {
    add_frame (use, frame->refs, frame->refreshes);
  }
  if (frame->type == AV1_FRAME_KEY)
    reader->key_frames |= frame->refreshes;
  else
    reader->key_frames &= ~frame->refreshes;
  use->is_reference |= frame->refreshes != 0;
}

static gboolean
read_av1_frame (SlotReader * reader, const Av1Obu * obu, SlotUse * use)
{
  Av1Frame frame;

  if (!reader->has_sequence
      || !av1_frame_parse (&frame, &reader->sequence, obu))
    return FALSE;
  if (obu->has_extension)
    use->layer = MAX (use->layer, (gint) obu->temporal_id);
  use->is_shown |= frame.is_shown;
  if (frame.shows_existing)
    add_av1_existing (reader, frame.existing, use);
  else
    add_av1_frame (reader, &frame, use);
  return TRUE;
}

/* A temporal delimiter separates a temporal unit of AV1 from the previous one.
 * If it is missing, a decoder treats the frames of the unit as a part of the
 * previous unit. All other frames of a temporal unit therefore depend on the
 * frame with the delimiter. Some containers omit all delimiters. In this case,
 * the function adds no dependency. */
static void
add_av1_delimiter (SlotReader * reader, gboolean has_delimiter, SlotUse * use)
{
  reader->has_delimiters |= has_delimiter;
  if (has_delimiter)
    use->updates |= AV1_SLOT_TEMPORAL_UNIT;
  else if (reader->has_delimiters)
    use->uses |= AV1_SLOT_TEMPORAL_UNIT;
}

static gboolean
read_av1 (SlotReader * reader, const guint8 * data, gsize size, SlotUse * use)
{
  const guint8 *end = data + size;
  gboolean has_frame = FALSE, has_delimiter = FALSE;
  Av1Obu obu;

  while (data < end) {
    if (!av1_obu_read (&obu, &data, end))
      return FALSE;
    if (obu.type == AV1_OBU_TEMPORAL_DELIMITER) {
      has_delimiter = TRUE;
    } else if (obu.type == AV1_OBU_SEQUENCE_HEADER) {
      reader->has_sequence =
          av1_sequence_parse (&reader->sequence, obu.data, obu.size);
      if (!reader->has_sequence)
        return FALSE;
    } else if (obu.type == AV1_OBU_FRAME_HEADER || obu.type == AV1_OBU_FRAME) {
      if (!read_av1_frame (reader, &obu, use))
        return FALSE;
      has_frame = TRUE;
    }
  }
  if (reader->codec == SLOT_CODEC_AV1_FRAME)
    add_av1_delimiter (reader, has_delimiter, use);
  return has_frame;
}

/* Reads the sequence header from the codec data. The codec data consist of four
 * bytes, which are skipped, and OBUs (AV1 Codec ISO Media File Format Binding,
 * 2.3.3). */
gboolean
slot_reader_set_codec_data (SlotReader * reader, const guint8 * data,
    gsize size)
{
  const guint8 *end = data + size;
  Av1Obu obu;

  if (size < 4 || data[0] != 0x81)
    return FALSE;
  data += 4;
  while (data < end) {
    if (!av1_obu_read (&obu, &data, end))
      return FALSE;
    if (obu.type == AV1_OBU_SEQUENCE_HEADER)
      reader->has_sequence =
          av1_sequence_parse (&reader->sequence, obu.data, obu.size);
  }
  return TRUE;
}

/* --- a unit --------------------------------------------------------------- */

static gboolean
read_unit (SlotReader * reader, const guint8 * data, gsize size,
    const SlotLayer * layer, SlotUse * use)
{
  switch (reader->codec) {
    case SLOT_CODEC_VP8:
      return read_vp8 (data, size, FALSE, layer, use);
    case SLOT_CODEC_VP9:
      return read_vp9 (reader, data, size, use);
    default:
      return read_av1 (reader, data, size, use);
  }
}

static gboolean
read_start (SlotReader * reader, const guint8 * data, gsize size, SlotUse * use)
{
  switch (reader->codec) {
    case SLOT_CODEC_VP8:
      return read_vp8 (data, size, TRUE, NULL, use);
    case SLOT_CODEC_VP9:
      return read_vp9_frame (reader, data, size, use);
    default:
      return read_av1 (reader, data, size, use);
  }
}

/* Completes `use` after a unit was parsed. An invalid unit is treated as one
 * that uses and updates all slots (all state that a decoder keeps for later
 * frames). A valid unit that uses any slot cannot be a key frame, so `is_key`
 * is cleared. Returns `is_valid`. */
static gboolean
finish (gboolean is_valid, SlotUse * use)
{
  if (is_valid) {
    use->is_key &= use->uses == 0;
    return TRUE;
  }
  use->is_key = FALSE;
  use->is_reference = use->is_shown = TRUE;
  use->uses = use->updates = SLOTS_ALL;
  return FALSE;
}

gboolean
slot_reader_input_start (SlotReader * reader, const guint8 * data, gsize size,
    SlotUse * use)
{
  memset (use, 0, sizeof (*use));
  use->layer = SLOT_LAYER_UNKNOWN;
  return finish (read_start (reader, data, size, use), use);
}

gboolean
slot_reader_input (SlotReader * reader, const guint8 * data, gsize size,
    const SlotLayer * layer, SlotUse * use)
{
  memset (use, 0, sizeof (*use));
  use->layer = SLOT_LAYER_UNKNOWN;
  return finish (read_unit (reader, data, size, layer, use), use);
}
