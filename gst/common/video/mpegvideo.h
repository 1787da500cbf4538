/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parsers for start codes and headers of MPEG-1 video (ISO/IEC 11172-2) and
 * MPEG-2 video (ISO/IEC 13818-2). The functions have no state and depend on
 * GLib only.
 *
 * Section and table numbers refer to 13818-2, unless 11172-2 is named.
 */

#pragma once

#include <glib.h>

/* Values of the start codes of MPEG video (13818-2, table 6-1). Slices have the
 * values 01 to AF. */
#define MPEG_VIDEO_CODE_PICTURE       0x00
#define MPEG_VIDEO_CODE_SLICE_MIN     0x01
#define MPEG_VIDEO_CODE_SLICE_MAX     0xaf
#define MPEG_VIDEO_CODE_USER_DATA     0xb2
#define MPEG_VIDEO_CODE_SEQUENCE      0xb3
#define MPEG_VIDEO_CODE_EXTENSION     0xb5
#define MPEG_VIDEO_CODE_SEQUENCE_END  0xb7
#define MPEG_VIDEO_CODE_GOP           0xb8

#define MPEG_VIDEO_CODE_IS_SLICE(code) \
    ((code) >= MPEG_VIDEO_CODE_SLICE_MIN && (code) <= MPEG_VIDEO_CODE_SLICE_MAX)

/* Values of extension_start_code_identifier (13818-2, table 6-2) */
#define MPEG_VIDEO_EXTENSION_SEQUENCE           1
#define MPEG_VIDEO_EXTENSION_SEQUENCE_DISPLAY   2
#define MPEG_VIDEO_EXTENSION_QUANT_MATRIX       3
#define MPEG_VIDEO_EXTENSION_COPYRIGHT          4
#define MPEG_VIDEO_EXTENSION_SEQUENCE_SCALABLE  5
#define MPEG_VIDEO_EXTENSION_PICTURE_DISPLAY    7
#define MPEG_VIDEO_EXTENSION_PICTURE_CODING     8
#define MPEG_VIDEO_EXTENSION_SPATIAL_SCALABLE   9
#define MPEG_VIDEO_EXTENSION_TEMPORAL_SCALABLE  10

/* Maximum size of a header with its start code, in bytes. The largest header is
 * the quant_matrix extension, whose size is 32 + 4 + 4 * (1 + 8 * 64) bits
 * (13818-2, section 6.2.3.2, and RFC 2250, section 3.1). */
#define MPEG_VIDEO_MAX_HEADER_SIZE 261

/* Values of picture_coding_type (13818-2, table 6-12). D-pictures exist in
 * MPEG-1 (11172-2) only. */
typedef enum
{
  MPEG_VIDEO_PICTURE_UNKNOWN = 0,
  MPEG_VIDEO_PICTURE_I = 1,
  MPEG_VIDEO_PICTURE_P = 2,
  MPEG_VIDEO_PICTURE_B = 3,
  MPEG_VIDEO_PICTURE_D = 4,
  MPEG_VIDEO_PICTURE_LAST
} MpegVideoPictureType;

/* Values of picture_structure (13818-2, table 6-14) */
typedef enum
{
  MPEG_VIDEO_STRUCTURE_TOP_FIELD = 1,
  MPEG_VIDEO_STRUCTURE_BOTTOM_FIELD = 2,
  MPEG_VIDEO_STRUCTURE_FRAME = 3
} MpegVideoStructure;

/* Sequence header and sequence extension (6.2.2.1, 6.2.2.3) */
typedef struct
{
  /* size of the picture in samples; 0 if not known yet */
  guint width, height;
  guint aspect_ratio;           /* aspect_ratio_information, table 6-3 */
  guint fps_n, fps_d;           /* frame rate; 0/1 for a reserved code */
  guint bit_rate;               /* in units of 400 bit/s */
  guint vbv_buffer_size;        /* in units of 16 kbit */
  guint chroma_format;          /* table 6-5; 1 is 4:2:0 */
  guint profile_level;          /* profile_and_level_indication */
  gboolean mpeg2;               /* a sequence extension followed */
  gboolean progressive;
  /* TRUE if frames are not reordered. The PTS of each frame is then equal to
   * its DTS.
   */
  gboolean low_delay;
} MpegVideoSequence;

/* Group of pictures header (6.2.2.6) */
typedef struct
{
  guint8 hours, minutes, seconds, pictures;
  gboolean drop_frame;
  gboolean closed;
  gboolean broken_link;
} MpegVideoGop;

/* Contents of a picture header and of the picture coding extension that may
 * follow it (13818-2, sections 6.2.3 and 6.2.3.1) */
typedef struct
{
  MpegVideoPictureType type;
  guint temporal_reference;     /* 0 to 1023 */
  guint vbv_delay;              /* in units of 1/90000 s; 0xffff: variable */
  gboolean full_pel_forward, full_pel_backward;
  /* Values from the picture header. forward_f_code is 0 if the picture has no
   * forward motion vectors, and backward_f_code is 0 if it has no backward
   * motion vectors. */
  guint8 forward_f_code, backward_f_code;

  /* TRUE if the picture header is followed by a picture coding extension. If
   * FALSE, the fields below are not valid, except `structure`, which is always
   * valid. */
  gboolean has_extension;
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
  /* 20 bits of the extension that follow composite_display_flag, in the order
   * of the bitstream; 0 if composite_display is FALSE */
  guint32 composite_display_bits;
} MpegVideoPicture;

/* Returns the first start code whose four bytes are all in the range from
 * `data` to `end` (excluded), or NULL if there is no such start code. */
const guint8 *mpeg_video_find_start_code (const guint8 * data,
    const guint8 * end);

/* Each of the following parsers gets a complete header, which begins with its
 * start code. If the header is too short or has a forbidden value, the parser
 * returns FALSE and does not change the struct. mpeg_video_parse_extension_id
 * () returns the identifier of the extension, or 0 if the data are no
 * extension. */
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

/* Returns 'I', 'P', 'B' or 'D' for the picture type, or '?' if it is unknown.
 */
gchar mpeg_video_picture_type_char (MpegVideoPictureType type);

/* Returns the number of macroblock rows of a picture, or 0 if the height is
 * unknown. `structure` says whether the picture is a frame or a field
 * (MpegVideoStructure). */
guint mpeg_video_macroblock_rows (const MpegVideoSequence * sequence,
    guint structure);

/* Converts the time code of a GOP header to the number of frames since the time
 * code 00:00:00:00. A drop-frame time code skips some frame numbers, to which
 * no frames belong. These numbers are not counted (13818-2, section 6.3.8).
 */
guint64 mpeg_video_gop_frame_number (const MpegVideoGop * gop, guint fps_n,
    guint fps_d);
