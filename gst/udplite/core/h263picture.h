/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the size of the picture header of H.263 (ITU-T H.263 section 5.1).
 * The code only determines which fields the header has. It does not use the
 * meaning of the fields, and it keeps no state.
 */

#pragma once

#include <glib.h>

/* Number of zero bytes at the beginning of the picture start code */
#define H263_START_CODE_ZEROS 2
#define H263_HEADER_UNKNOWN G_MAXSIZE

/* In the functions below, `data` begins after the two zero bytes with which a
 * start code begins. RFC 4629 omits these bytes from the packet. */

/* Returns TRUE if `data` begins with the start code of a picture. Other start
 * codes (of a group of blocks, of a slice, or of the end of the sequence) give
 * FALSE. */
gboolean h263_is_picture_start (const guint8 * data, gsize size);

/* Returns the size of the picture header in bytes, rounded up. If the size
 * depends on other headers, which are not known, the result may be too large.
 * Returns H263_HEADER_UNKNOWN if there is no picture header, if the header is
 * longer than `size`, or if the size of the header cannot be determined. */
gsize h263_get_picture_header_size (const guint8 * data, gsize size);
