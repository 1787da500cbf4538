/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Start codes and headers of MPEG-1 (ISO/IEC 11172-2) and MPEG-2
 * (ISO/IEC 13818-2) video: bytes in, fields out. GLib only, no state.
 *
 * Section numbers below are those of 13818-2 unless they say 11172-2.
 */

#pragma once

#include <glib.h>

/* Table 6-1, start code values. Slices are 01 to AF. */
#define MPEG_VIDEO_CODE_PICTURE       0x00
#define MPEG_VIDEO_CODE_SLICE_MIN     0x01
#define MPEG_VIDEO_CODE_SLICE_MAX     0xaf
#define MPEG_VIDEO_CODE_USER_DATA     0xb2
#define MPEG_VIDEO_CODE_SEQUENCE      0xb3
#define MPEG_VIDEO_CODE_EXTENSION     0xb5
#define MPEG_VIDEO_CODE_SEQUENCE_END  0xb7
#define MPEG_VIDEO_CODE_GOP           0xb8
/* 13818-1: what opens a pack of a program stream */
#define MPEG_VIDEO_CODE_PACK          0xba

#define MPEG_VIDEO_CODE_IS_SLICE(code) \
    ((code) >= MPEG_VIDEO_CODE_SLICE_MIN && (code) <= MPEG_VIDEO_CODE_SLICE_MAX)

/* Table 6-2, extension_start_code_identifier */
#define MPEG_VIDEO_EXTENSION_SEQUENCE           1
#define MPEG_VIDEO_EXTENSION_SEQUENCE_DISPLAY   2
#define MPEG_VIDEO_EXTENSION_QUANT_MATRIX       3
#define MPEG_VIDEO_EXTENSION_COPYRIGHT          4
#define MPEG_VIDEO_EXTENSION_SEQUENCE_SCALABLE  5
#define MPEG_VIDEO_EXTENSION_PICTURE_DISPLAY    7
#define MPEG_VIDEO_EXTENSION_PICTURE_CODING     8
#define MPEG_VIDEO_EXTENSION_SPATIAL_SCALABLE   9
#define MPEG_VIDEO_EXTENSION_TEMPORAL_SCALABLE  10

/* The largest extension and with it the largest header of all: quant_matrix
 * extension, 32 + 4 + 4 * (1 + 8 * 64) bits (6.2.3.2, RFC 2250 section 3.1) */
#define MPEG_VIDEO_MAX_HEADER_SIZE 261

/* Table 6-12, picture_coding_type; D in 11172-2 only */
typedef enum
{
  MPEG_VIDEO_PICTURE_UNKNOWN = 0,
  MPEG_VIDEO_PICTURE_I = 1,
  MPEG_VIDEO_PICTURE_P = 2,
  MPEG_VIDEO_PICTURE_B = 3,
  MPEG_VIDEO_PICTURE_D = 4,
  MPEG_VIDEO_PICTURE_LAST
} MpegVideoPictureType;

/* Table 6-14, picture_structure */
typedef enum
{
  MPEG_VIDEO_STRUCTURE_TOP_FIELD = 1,
  MPEG_VIDEO_STRUCTURE_BOTTOM_FIELD = 2,
  MPEG_VIDEO_STRUCTURE_FRAME = 3
} MpegVideoStructure;

/* Sequence header and sequence extension (6.2.2.1, 6.2.2.3) */
typedef struct
{
  guint width, height;          /* samples; 0: not known yet */
  guint aspect_ratio;           /* code, table 6-3 */
  guint fps_n, fps_d;           /* frames per second; 0/1: forbidden code */
  guint bit_rate;               /* units of 400 bit/s */
  guint vbv_buffer_size;        /* units of 16 kbit */
  guint chroma_format;          /* table 6-5; 1 is 4:2:0 */
  guint profile_level;          /* profile_and_level_indication */
  gboolean mpeg2;               /* a sequence extension followed */
  gboolean progressive;
  gboolean low_delay;           /* no reordering: PTS is DTS */
} MpegVideoSequence;

/* Group of pictures header (6.2.2.6) */
typedef struct
{
  guint8 hours, minutes, seconds, pictures;
  gboolean drop_frame;
  gboolean closed;
  gboolean broken_link;
} MpegVideoGop;

/* Picture header and picture coding extension (6.2.3, 6.2.3.1) */
typedef struct
{
  MpegVideoPictureType type;
  guint temporal_reference;     /* 0 to 1023 */
  guint vbv_delay;              /* 90 kHz; 0xffff: variable */
  gboolean full_pel_forward, full_pel_backward;
  guint8 forward_f_code, backward_f_code;       /* 0 where absent */

  gboolean has_extension;       /* the fields below were present */
  guint8 f_code[2][2];          /* [forward, backward][horizontal, vertical] */
  guint8 intra_dc_precision;
  guint8 structure;             /* MpegVideoStructure */
  gboolean top_field_first;
  gboolean frame_pred_frame_dct;
  gboolean concealment_motion_vectors;
  gboolean q_scale_type;
  gboolean intra_vlc_format;
  gboolean alternate_scan;
  gboolean repeat_first_field;
  gboolean chroma_420_type;
  gboolean progressive_frame;
  gboolean composite_display;
  guint32 composite_display_bits;       /* 20 bits, as they stand */
} MpegVideoPicture;

/* Finds the first start code of which all four bytes lie in [data, end).
 * Returns its first byte, or NULL. */
const guint8 *mpeg_video_find_start_code (const guint8 * data,
    const guint8 * end);

/* Each parser gets the whole unit, from its start code on, and returns FALSE,
 * with the struct untouched, when the unit is too short or has a forbidden
 * value. mpeg_video_parse_extension_id returns 0 for what is no extension. */
gboolean mpeg_video_parse_sequence (MpegVideoSequence * sequence,
    const guint8 * data, gsize size);
guint mpeg_video_parse_extension_id (const guint8 * data, gsize size);
gboolean mpeg_video_parse_sequence_extension (MpegVideoSequence * sequence,
    const guint8 * data, gsize size);
gboolean mpeg_video_parse_gop (MpegVideoGop * gop, const guint8 * data,
    gsize size);
gboolean mpeg_video_parse_picture (MpegVideoPicture * picture,
    const guint8 * data, gsize size);
gboolean mpeg_video_parse_picture_extension (MpegVideoPicture * picture,
    const guint8 * data, gsize size);

/* 'I', 'P', 'B', 'D' or '?' */
gchar mpeg_video_picture_type_char (MpegVideoPictureType type);

/* Macroblock rows of one picture of this structure; 0: size not known */
guint mpeg_video_macroblock_rows (const MpegVideoSequence * sequence,
    guint structure);

/* Time code of a GOP as a number of frames since 00:00:00:00, with the numbers
 * that a drop-frame code leaves out left out (6.3.8) */
guint64 mpeg_video_gop_frame_number (const MpegVideoGop * gop, guint fps_n,
    guint fps_d);
