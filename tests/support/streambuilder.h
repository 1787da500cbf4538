/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds small MPEG-1 and MPEG-2 video streams for tests, bit by bit, following
 * ISO/IEC 13818-2 section 6.2. It shares no code with the parsers under test.
 */

#ifndef __STREAMBUILDER_H__
#define __STREAMBUILDER_H__

#include <glib.h>

typedef struct
{
  GByteArray *bytes;
  /* The bits that were written after the last complete byte. They are added to
   * `bytes` when the next byte is complete. */
  guint32 bits;
  guint n_bits;
} MpegStream;

/* A picture to be written. If all fields except `type` are 0, the picture is
 * the most common one in the tests: MPEG-2, a frame, and one slice in each row
 * of macroblocks. */
typedef struct
{
  gchar type;                   /* 'I', 'P', 'B', 'D' */
  guint tr;
  gboolean mpeg1;
  guint structure;              /* 0: frame; 1: top field; 2: bottom field */
  gboolean tff, rff, progressive;
  guint rows;                   /* slices; 0: two */
  guint slice_size;             /* bytes; 0: 20 */
  guint f_code;                 /* 0: 1 (MPEG-1) or 3 (MPEG-2) */
  gboolean full_pel;            /* MPEG-1 */
  gboolean composite;           /* With a composite display of 0xabcde. */
} MpegPicture;

void mpeg_stream_init (MpegStream * stream);
void mpeg_stream_clear (MpegStream * stream);
void mpeg_put (MpegStream * stream, guint n, guint32 value);
void mpeg_align (MpegStream * stream);
void mpeg_code (MpegStream * stream, guint code);
/* frame_rate_code 3: 25, 4: 30000/1001, 5: 30 */
void mpeg_sequence (MpegStream * stream, guint width, guint height,
    guint rate_code, gboolean mpeg2, gboolean progressive, gboolean low_delay);
void mpeg_gop_full (MpegStream * stream, gboolean drop, guint h, guint m,
    guint s, guint pictures, gboolean closed, gboolean broken);
/* Writes the header of a GOP. Its time code is the time of frame number `frame`
 * at 25 frames per second. `closed` is TRUE if the GOP is closed. */
void mpeg_gop (MpegStream * stream, guint frame, gboolean closed);
void mpeg_picture_header (MpegStream * stream, const MpegPicture * p);
void mpeg_picture_extension (MpegStream * stream, const MpegPicture * p);
/* Writes a slice of `size` bytes. Its bytes depend on `row` and `seed`, so that
 * slices differ from each other. They contain no start code except the one at
 * the beginning of the slice. */
void mpeg_slice (MpegStream * stream, guint row, guint size, guint seed);
void mpeg_picture (MpegStream * stream, const MpegPicture * p);
/* Writes a stream. `plan` has the frames in transport order, each with its
 * temporal reference, such as "I2 B0 B1 P5". A "|" in `plan` begins a GOP with
 * the next frame, and a "|c" begins a closed GOP. The stream has 25 frames per
 * second, and its pictures have 32 lines.
 *
 * The time code of each GOP is the number of pictures before this GOP. This
 * number is computed from the temporal references. If `mark` is not NULL, the
 * offset of each frame in the stream is appended to it. */
void mpeg_stream_add (MpegStream * stream, const gchar * plan, gboolean mpeg1,
    GArray * mark);

#endif /* __STREAMBUILDER_H__ */
