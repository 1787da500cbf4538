/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the frame header of VP8. It is parsed only up to those fields that say
 * which state of the decoder the frame changes for later frames. The parser
 * does no I/O and handles invalid input safely.
 *
 * Section numbers refer to RFC 6386. */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

/* Values of copy_buffer_to_golden and copy_buffer_to_alternate (section 9.7).
 * They say from which other reference frame the golden or altref frame is
 * copied. */
typedef enum
{
  VP8_COPY_NONE,
  VP8_COPY_LAST,
  /* The golden and the altref frame are the two special reference frames. With
   * this value, the altref frame is copied to the golden frame, or the golden
   * frame to the altref frame. */
  VP8_COPY_OTHER
} Vp8Copy;

typedef struct
{
  gboolean is_key;
  gboolean is_shown;            /* show_frame */
  guint width, height;          /* only set for a key frame */
  /* A decoder stores a map and values of the segments. `uses_segments` is TRUE
   * if the frame uses the map or values that earlier frames have set.
   * `updates_segments` is TRUE if the frame replaces them completely or in
   * part. */
  gboolean uses_segments, updates_segments;
  /* A decoder stores adjustments of the loop filter. `uses_filter` is TRUE if
   * the frame uses adjustments that earlier frames have set. `updates_filter`
   * is TRUE if the frame replaces them completely or in part. */
  gboolean uses_filter, updates_filter;
  gboolean refreshes_golden, refreshes_altref, refreshes_last;
  Vp8Copy copy_to_golden, copy_to_altref;
  gboolean sign_bias_golden, sign_bias_altref;
  gboolean refreshes_entropy;   /* refresh_entropy_probs */
} Vp8Header;

/* Parses a frame header. If `is_start` is TRUE, `data` may be only the
 * beginning of the frame, such as its first packet. Returns FALSE if the header
 * is malformed or truncated. */
gboolean vp8_header_parse (Vp8Header * header, const guint8 * data,
    gsize size, gboolean is_start);

#pragma GCC visibility pop
