/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines how the frames of VP8, VP9 and AV1 depend on each other. A decoder
 * of these codecs has memory for reference frames, and for other state that one
 * frame leaves for the next frames, such as probabilities. Each part of this
 * memory is called a slot here. The header of a frame shows which slots the
 * frame uses and which slots it updates. It is therefore known exactly which
 * frames can be decoded if other frames are missing. The parser does no I/O. It
 * handles invalid input safely: a unit that cannot be parsed is treated as one
 * that uses and updates all slots.
 *
 * Section numbers refer to RFC 6386 (VP8), the VP9 Bitstream & Decoding Process
 * Specification 0.6, and the AV1 Bitstream & Decoding Process Specification
 * 1.0.0 with Errata 1. */

#pragma once

#include <glib.h>

/* Codec of a stream. The codec also determines what a unit of the stream is.
 * Each call of slot_reader_input () takes one unit. */
typedef enum
{
  SLOT_CODEC_VP8,               /* A unit is one frame. */
  SLOT_CODEC_VP9,               /* A unit is one frame or one superframe. */
  /* A unit is an AV1 temporal unit: all OBUs that have the same presentation
   * time. */
  SLOT_CODEC_AV1,
  /* A unit is one AV1 frame with the OBUs that precede it. */
  SLOT_CODEC_AV1_FRAME,
  SLOT_CODEC_LAST
} SlotCodec;

/* A set of slots is a bit mask with one bit for each slot. A slot is a part of
 * a decoder's memory, such as a reference frame. The lowest bits stand for the
 * reference frames. */
#define SLOTS_NONE 0
#define SLOTS_ALL G_MAXUINT32

/* Slots of VP8 */
#define VP8_SLOT_LAST (1u << 0)
#define VP8_SLOT_GOLDEN (1u << 1)
#define VP8_SLOT_ALTREF (1u << 2)
#define VP8_SLOT_ENTROPY (1u << 3)      /* probabilities */
#define VP8_SLOT_SEGMENTATION (1u << 4) /* segment map and feature data */
#define VP8_SLOT_FILTER (1u << 5)       /* adjustments of the loop filter */
/* Slot for the golden and altref frames of the temporal layer `layer`, which is
 * at least 1. The golden and altref frames of the base layer 0 have slots of
 * their own. */
#define VP8_SLOT_LAYER(layer) (1u << (8 + (layer)))

/* Slots of VP9: bits of a bit mask. Bits 0 to 7 stand for the reference frames
 * that a decoder stores. */
#define VP9_SLOT_CONTEXT(index) (1u << (8 + (index)))   /* probabilities */
/* Slot for the state of the previous frame that a decoder needs for the next
 * frame: the motion vectors, segmentation map, loop filter adjustments and size
 * of the previous frame, and whether the previous frame was shown */
#define VP9_SLOT_PREVIOUS (1u << 12)

/* Slots of AV1: bits of a bit mask. Bits 0 to 7 stand for the reference frames
 * that a decoder stores. Other state, such as probabilities, needs no slots of
 * its own, because a decoder stores it together with each reference frame. */
/* Slots show how frames depend on each other: a frame depends on the frames
 * that update the slots that it uses. This slot stands for the temporal
 * delimiter, which separates a temporal unit from the previous temporal unit.
 * The frame with the delimiter updates this slot. The other frames of the
 * temporal unit use this slot, because they depend on the delimiter. The slot
 * is only used with SLOT_CODEC_AV1_FRAME. */
#define AV1_SLOT_TEMPORAL_UNIT (1u << 8)

#define SLOT_LAYER_UNKNOWN -1
#define SLOT_MAX_LAYERS 8

typedef struct
{
  /* TRUE for a key frame: a decoder can begin with this unit, because it uses
   * no slot and updates all slots */
  gboolean is_key;
  /* TRUE if later frames may refer to this unit. It is FALSE if the unit
   * updates no slot, or only slots that later frames of this encoder are not
   * expected to use. */
  gboolean is_reference;
  gboolean is_shown;            /* TRUE if a frame of the unit is displayed */
  gint layer;                   /* temporal layer, or SLOT_LAYER_UNKNOWN */
  guint32 uses, updates;        /* sets of slots */
} SlotUse;

/* Temporal layer of a VP8 frame. The caller must supply it, because it is not
 * contained in the frame itself. */
typedef struct
{
  gint layer;                   /* or SLOT_LAYER_UNKNOWN */
  /* TRUE if the frame refers only to frames of the base layer */
  gboolean is_sync;
} SlotLayer;

typedef struct _SlotReader SlotReader;

SlotReader *slot_reader_new (SlotCodec codec);
void slot_reader_free (SlotReader * reader);
/* Discards what is known about the stream, for example after a flush. */
void slot_reader_reset (SlotReader * reader);

/* Parses the codec data of AV1 (av1C), which may contain the sequence header.
 * Returns FALSE if the data are malformed. */
gboolean slot_reader_set_codec_data (SlotReader * reader, const guint8 * data,
    gsize size);

/* Parses the next unit of the stream and fills `use`. `layer` is the temporal
 * layer of a VP8 frame, or NULL if it is unknown. Returns FALSE if the unit is
 * malformed. `use` then describes a reference frame that uses and updates all
 * slots. */
gboolean slot_reader_input (SlotReader * reader, const guint8 * data,
    gsize size, const SlotLayer * layer, SlotUse * use);
/* Does the same as slot_reader_input (), but `data` may be only the beginning
 * of a unit, such as the first packet of a frame. Only the first frame header
 * of the unit is read. For AV1, `data` must begin with a single OBU without a
 * size field. */
gboolean slot_reader_input_start (SlotReader * reader, const guint8 * data,
    gsize size, SlotUse * use);
