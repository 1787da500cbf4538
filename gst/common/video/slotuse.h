/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines how the frames of VP8, VP9 and AV1 depend on each other. The
 * decoder of these codecs has slots: buffers of reference frames, and other
 * state that one frame leaves for the next ones, such as probabilities. The
 * header of a frame says which slots the frame uses and which it updates. So
 * it is known exactly which frames can be decoded if others are missing. The
 * parser does no I/O and handles invalid input safely: a unit that cannot be
 * parsed uses and updates all slots.
 *
 * References are to RFC 6386 (VP8), the VP9 Bitstream & Decoding Process
 * Specification 0.6, and the AV1 Bitstream & Decoding Process Specification
 * 1.0.0 with Errata 1.
 */

#pragma once

#include <glib.h>

typedef enum
{
  SLOT_CODEC_VP8,               /* a unit is one frame */
  SLOT_CODEC_VP9,               /* a unit is one frame or a superframe */
  SLOT_CODEC_AV1,               /* a unit is a temporal unit */
  /* a unit is one frame with the OBUs before it */
  SLOT_CODEC_AV1_FRAME,
  SLOT_CODEC_LAST
} SlotCodec;

/* Sets of slots, one bit for each. The lowest bits are the buffers of the
 * reference frames. */
#define SLOTS_NONE 0
#define SLOTS_ALL G_MAXUINT32

/* Slots of VP8 */
#define VP8_SLOT_LAST (1u << 0)
#define VP8_SLOT_GOLDEN (1u << 1)
#define VP8_SLOT_ALTREF (1u << 2)
#define VP8_SLOT_ENTROPY (1u << 3)      /* probabilities */
#define VP8_SLOT_SEGMENTATION (1u << 4) /* map and values of the segments */
#define VP8_SLOT_FILTER (1u << 5)       /* adjustments of the loop filter */
/* golden and altref frames of a temporal layer above the base layer */
#define VP8_SLOT_LAYER(layer) (1u << (8 + (layer)))

/* Slots of VP9; the reference frames are bits 0 to 7. */
#define VP9_SLOT_CONTEXT(index) (1u << (8 + (index)))   /* probabilities */
/* what the previous frame leaves: motion vectors, its segmentation map, loop
 * filter adjustments, size, and whether it was shown */
#define VP9_SLOT_PREVIOUS (1u << 12)

/* Slots of AV1; the reference frames are bits 0 to 7. All other state of the
 * decoder is saved with a reference frame. */
/* the beginning of the temporal unit, for SLOT_CODEC_AV1_FRAME */
#define AV1_SLOT_TEMPORAL_UNIT (1u << 8)

#define SLOT_LAYER_UNKNOWN -1
#define SLOT_MAX_LAYERS 8

typedef struct
{
  /* The unit uses no slot and updates all, so that a decoder can begin here. */
  gboolean is_key;
  /* Later frames may refer to this unit. A unit that is not a reference updates
   * nothing that a later frame of the same encoder uses. */
  gboolean is_reference;
  gboolean is_shown;            /* a frame of the unit is displayed */
  gint layer;                   /* temporal layer, or SLOT_LAYER_UNKNOWN */
  guint32 uses, updates;        /* sets of slots */
} SlotUse;

/* Temporal layer of VP8. The frame itself does not contain it. */
typedef struct
{
  gint layer;                   /* or SLOT_LAYER_UNKNOWN */
  /* The frame refers to no frame of a layer above the base layer. */
  gboolean is_sync;
} SlotLayer;

typedef struct _SlotReader SlotReader;

SlotReader *slot_reader_new (SlotCodec codec);
void slot_reader_free (SlotReader * reader);
/* Discards the state of the stream after a flush. */
void slot_reader_reset (SlotReader * reader);

/* Parses the codec_data of AV1 (av1C), which may contain the sequence header.
 * Returns FALSE if the data are malformed. */
gboolean slot_reader_set_codec_data (SlotReader * reader, const guint8 * data,
    gsize size);

/* Parses the next unit of the stream. `layer` may be NULL. Returns FALSE if the
 * unit is malformed; then it is taken for a reference frame. */
gboolean slot_reader_input (SlotReader * reader, const guint8 * data,
    gsize size, const SlotLayer * layer, SlotUse * use);
/* As slot_reader_input (), for the beginning of a unit, as in the first packet
 * of a frame. Only the first frame header of the unit is read; of AV1 it is
 * that of a single OBU without a size. */
gboolean slot_reader_input_start (SlotReader * reader, const guint8 * data,
    gsize size, SlotUse * use);
