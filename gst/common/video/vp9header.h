/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the uncompressed header of VP9 frames and the index of superframes.
 * The header is parsed only as far as it describes how frames depend on each
 * other. Its fields show which state of earlier frames a frame uses, and which
 * state it saves for later frames. The parser does no I/O and handles invalid
 * input safely.
 *
 * Section numbers refer to the VP9 Bitstream & Decoding Process Specification
 * 0.6. */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

#define VP9_REFS_PER_FRAME 3
#define VP9_MAX_FRAMES 8        /* maximum number in a superframe, annex B */

typedef struct
{
  guint profile;
  gboolean shows_existing;      /* show_existing_frame */
  guint existing;               /* frame_to_show_map_idx */
  /* The following fields are not set if shows_existing is TRUE. */
  gboolean is_key;
  gboolean is_shown;            /* show_frame */
  gboolean is_error_resilient;  /* error_resilient_mode */
  gboolean is_intra_only;
  guint reset_context;          /* reset_frame_context */
  guint refreshes;              /* refresh_frame_flags */
  /* ref_frame_idx: indices of the reference frames of an inter frame; not set
   * for other frames */
  guint refs[VP9_REFS_PER_FRAME];
  gboolean refreshes_context;   /* refresh_frame_context */
  guint context;                /* frame_context_idx */
} Vp9Header;

/* Parses the uncompressed header of a frame. Returns FALSE if the header is
 * malformed or truncated. */
gboolean vp9_header_parse (Vp9Header * header, const guint8 * data, gsize size);

/* Finds the frames of a unit, which is a single frame or a superframe (annex B
 * of the VP9 specification). Stores the sizes of the frames in bytes in
 * `sizes`, and returns the number of frames. Returns 0 if the index of the
 * superframe is malformed. */
guint vp9_find_frames (const guint8 * data, gsize size,
    gsize sizes[VP9_MAX_FRAMES]);

#pragma GCC visibility pop
