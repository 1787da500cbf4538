/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parser and writer of the MPEG video-specific header of RFC 2250 section 3.4
 * and of its MPEG-2 extension, section 3.4.1.
 */

#pragma once

#include <glib.h>

#include "mpegvideo.h"

#define RFC2250_HEADER_SIZE 4
#define RFC2250_EXTENSION_SIZE 4
#define RFC2250_COMPOSITE_SIZE 4
/* Maximum size of the extensions in bytes. Their length field has one byte and
 * counts words of 32 bits (RFC 2250, section 3.4.1, field E). */
#define RFC2250_MAX_EXTENSIONS_SIZE (255 * 4)
#define RFC2250_MAX_HEADER_SIZE (RFC2250_HEADER_SIZE + \
    RFC2250_EXTENSION_SIZE + RFC2250_COMPOSITE_SIZE + \
    RFC2250_MAX_EXTENSIONS_SIZE)

/* The MPEG video-specific header. The fields have the same names as in RFC
 * 2250. */
typedef struct
{
  /* The bits that must be zero. They are parsed, but always written as 0. */
  guint mbz;
  /* field T: the MPEG-2 extension of the header follows */
  gboolean t;
  guint tr;                     /* temporal reference */
  /* field AN: TRUE if the N bit is active; field N: TRUE if there is a new
   * picture header */
  gboolean an, n;
  gboolean s;                   /* this packet contains a sequence header */
  /* field B: the packet begins with a slice; field E: the packet ends with a
   * slice */
  gboolean b, e;
  guint p;                      /* picture type; 0 is forbidden */
  gboolean fbv, ffv;            /* full-pel vectors */
  guint bfc, ffc;               /* f-codes */

  /* The MPEG-2 extension (RFC 2250, section 3.4.1), valid if `t` is TRUE. */
  /* fields of the picture coding extension of MPEG-2 */
  MpegVideoPicture extension;
  /* Other extensions of MPEG-2, with their start codes. They are present if the
   * field E is 1. The pointer points into the data that were parsed.
   */
  const guint8 *extensions;
  /* size of the extensions in bytes; after parsing, it includes the zero
   * padding */
  gsize extensions_size;
} Rfc2250Header;

typedef enum
{
  RFC2250_HEADER_OK,
  /* the header is shorter than its fields require */
  RFC2250_HEADER_SHORT,
  RFC2250_HEADER_BAD_MBZ,       /* a bit that must be zero is set */
  /* a value or a length that RFC 2250 forbids (section 3.4.1) */
  RFC2250_HEADER_BAD_EXTENSION
} Rfc2250HeaderResult;

/* Returns the number of bytes that rfc2250_header_write () writes. */
gsize rfc2250_header_get_size (const Rfc2250Header * header);
/* Writes the header to `dest`, which has space for rfc2250_header_get_size ()
 * bytes, and returns this size. */
gsize rfc2250_header_write (const Rfc2250Header * header, guint8 * dest);
/* Parses a header and stores its size in bytes in `size_read`. `header` is
 * valid only if the result is RFC2250_HEADER_OK. */
Rfc2250HeaderResult rfc2250_header_parse (Rfc2250Header * header,
    const guint8 * data, gsize size, gsize * size_read);

/* Returns the size of the header, but does not check the fields of the picture.
 * Returns 0 if a bit that must be zero is set, if the picture type (field P) is
 * invalid, or if the header does not fit into `size` bytes. The picture type 0
 * is accepted, because some senders do not set it. */
gsize rfc2250_header_measure (const guint8 * data, gsize size);

/* Sets the picture type (P), the temporal reference (TR) and the motion vector
 * fields from a picture header. Section 3.4 of RFC 2250 specifies the values of
 * these fields for each picture type. */
void rfc2250_header_set_picture (Rfc2250Header * header,
    const MpegVideoPicture * picture);
