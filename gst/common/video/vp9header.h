/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the uncompressed header of VP9 frames up to the fields that say what a
 * frame needs of earlier frames and leaves for later frames, and the index of
 * superframes. The parser does no I/O and handles invalid input safely.
 *
 * Section numbers refer to the VP9 Bitstream & Decoding Process Specification
 * 0.6.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

#define VP9_REFS_PER_FRAME 3
#define VP9_MAX_FRAMES 8        /* in a superframe, annex B */

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
  guint refs[VP9_REFS_PER_FRAME];       /* ref_frame_idx; inter frames only */
  gboolean refreshes_context;   /* refresh_frame_context */
  guint context;                /* frame_context_idx */
} Vp9Header;

/* Returns FALSE if the header is malformed or truncated. */
gboolean vp9_header_parse (Vp9Header * header, const guint8 * data, gsize size);

/* Finds the frames of a unit, which is a single frame or a superframe (annex
 * B). Returns the number of frames and stores their sizes in bytes, or returns
 * 0 if the index of the superframe is malformed. */
guint vp9_find_frames (const guint8 * data, gsize size,
    gsize sizes[VP9_MAX_FRAMES]);

#pragma GCC visibility pop
