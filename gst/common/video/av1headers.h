/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the OBUs (open bitstream units) of AV1: their headers, the sequence
 * header and the beginning of the frame header. The frame header is parsed only
 * until two sets of reference frames are known: those to which the frame
 * refers, and those that the frame replaces. The parser does no I/O and handles
 * invalid input safely.
 *
 * Section numbers refer to the AV1 Bitstream & Decoding Process Specification
 * 1.0.0 with Errata 1.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

#define AV1_NUM_REF_FRAMES 8
#define AV1_REFS_PER_FRAME 7
#define AV1_MAX_OPERATING_POINTS 32

/* obu_type, 6.2.2 */
typedef enum
{
  AV1_OBU_SEQUENCE_HEADER = 1,
  AV1_OBU_TEMPORAL_DELIMITER = 2,
  AV1_OBU_FRAME_HEADER = 3,
  AV1_OBU_FRAME = 6
} Av1ObuType;

typedef struct
{
  guint type;
  gboolean has_extension;
  guint temporal_id, spatial_id;        /* 0 if the OBU has no extension */
  /* payload of the OBU, which follows the OBU header and the size field */
  const guint8 *data;
  gsize size;                   /* in bytes */
} Av1Obu;

/* Reads the OBU at `*data` and moves `*data` to the first byte after the OBU.
 * Returns FALSE if the OBU is malformed or extends beyond `end`. An OBU without
 * a size field extends to `end`. */
gboolean av1_obu_read (Av1Obu * obu, const guint8 ** data, const guint8 * end);

/* the fields of the sequence header that are needed to parse a frame header */
typedef struct
{
  gboolean is_reduced;          /* reduced_still_picture_header */
  gboolean has_decoder_model;   /* decoder_model_info_present_flag */
  gboolean has_equal_interval;  /* equal_picture_interval */
  guint removal_time_length;    /* in bits */
  guint presentation_time_length;       /* in bits */
  guint n_operating_points;
  guint operating_point_idc[AV1_MAX_OPERATING_POINTS];
  gboolean has_operating_point_model[AV1_MAX_OPERATING_POINTS];
  gboolean has_frame_ids;       /* frame_id_numbers_present_flag */
  guint frame_id_length;        /* in bits */
  guint delta_frame_id_length;  /* in bits */
  guint screen_content_tools;   /* seq_force_screen_content_tools */
  guint integer_mv;             /* seq_force_integer_mv */
  guint order_hint_bits;        /* 0 if enable_order_hint is 0 */
} Av1Sequence;

gboolean av1_sequence_parse (Av1Sequence * sequence, const guint8 * data,
    gsize size);

/* frame_type, 6.8.2 */
typedef enum
{
  AV1_FRAME_KEY,
  AV1_FRAME_INTER,
  AV1_FRAME_INTRA_ONLY,
  AV1_FRAME_SWITCH
} Av1FrameType;

typedef struct
{
  gboolean shows_existing;      /* show_existing_frame */
  guint existing;               /* frame_to_show_map_idx */
  /* Type of the frame. If shows_existing is TRUE, the header only names a frame
   * that was decoded before. Then neither this field nor the fields below are
   * set, except is_shown. */
  Av1FrameType type;
  gboolean is_shown;            /* show_frame */
  gboolean is_error_resilient;  /* error_resilient_mode */
  guint refreshes;              /* refresh_frame_flags */
  /* Bit mask of the reference frames to which the frame may refer. With
   * frame_refs_short_signaling, the header does not name these frames: a
   * decoder derives them from the order hints of all reference frames. In this
   * case, the mask contains all reference frames. */
  guint refs;
} Av1Frame;

/* Parses the frame header at the beginning of an OBU of type
 * AV1_OBU_FRAME_HEADER or AV1_OBU_FRAME. */
gboolean av1_frame_parse (Av1Frame * frame, const Av1Sequence * sequence,
    const Av1Obu * obu);

#pragma GCC visibility pop
