/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long the picture header of H.263 is, ITU-T H.263 section 5.1: of the
 * fields that it has, and not what they say. Without state.
 */

#pragma once

#include <glib.h>

/* The first two bytes of the picture start code, both 0 */
#define H263_START_CODE_ZEROS 2
#define H263_HEADER_UNKNOWN G_MAXSIZE

/* All get what stands behind those two bytes, as RFC 4629 leaves them out. */

/* Else a group of blocks, a slice, or the end of the sequence starts here. */
gboolean h263_is_picture_start (const guint8 * data, gsize size);

/* Bytes of the picture header, the last one perhaps in part, and rather too
 * many where that hangs on other headers. H263_HEADER_UNKNOWN: there is none,
 * it is longer than what is here, or can't be told. */
gsize h263_get_picture_header_size (const guint8 * data, gsize size);
