/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the beginning of a VP8 frame header. The parsed fields say which
 * decoder state the frame changes for later frames, for example which reference
 * frames. The rest of the header is not read. The parser does no I/O and
 * handles invalid input safely.
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
  /* The altref frame is copied to the golden frame, or the golden frame to the
   * altref frame. These two are the special reference frames of VP8. */
  VP8_COPY_OTHER
} Vp8Copy;

typedef struct
{
  gboolean is_key;
  gboolean is_shown;            /* show_frame */
  guint width, height;          /* only set for a key frame */
  /* `uses_segments` is TRUE if the frame uses the segment map or the segment
   * values that earlier frames have set. `updates_segments` is TRUE if the
   * frame replaces the map, the values or both. A decoder stores them from
   * frame to frame. */
  gboolean uses_segments, updates_segments;
  /* `uses_filter` is TRUE if the frame uses adjustments of the loop filter that
   * earlier frames have set. `updates_filter` is TRUE if the frame replaces at
   * least one adjustment. A decoder stores the adjustments from frame to frame.
   */
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
