/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and writes the MPEG video-specific header of an RTP packet (RFC 2250,
 * section 3.4) and its MPEG-2 extension (section 3.4.1). */

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

/* The MPEG video-specific header. The fields have the names that RFC 2250 gives
 * them, in lower case. */
typedef struct
{
  /* field MBZ: the bits that must be zero; the value is parsed, but always
   * written as 0 */
  guint mbz;
  /* field T: TRUE if the MPEG-2 extension of the header follows */
  gboolean t;
  guint tr;                     /* temporal reference */
  /* Field AN: TRUE if the sender uses the field N. Field N: TRUE if the header
   * of this picture cannot be derived from the headers of earlier pictures of
   * the same type. */
  gboolean an, n;
  gboolean s;                   /* this packet contains a sequence header */
  /* Field B: TRUE if the payload begins with a slice, possibly after headers.
   * Field E: TRUE if the payload ends with the end of a slice. */
  gboolean b, e;
  guint p;                      /* picture type; 0 is forbidden */
  gboolean fbv, ffv;            /* full-pel vectors */
  guint bfc, ffc;               /* f-codes */

  /* The following fields belong to the MPEG-2 extension (RFC 2250, section
   * 3.4.1). They are valid if `t` is TRUE. */
  /* fields of the picture coding extension of MPEG-2 */
  MpegVideoPicture extension;
  /* Pointer to further extensions of MPEG-2, besides the picture coding
   * extension. They begin with their start codes, and are present if the field
   * E of the MPEG-2 extension is 1. After parsing, the pointer points into the
   * input data. */
  const guint8 *extensions;
  /* Size in bytes of the data at `extensions`. After parsing, it includes the
   * padding, which consists of zero bytes at the end. */
  gsize extensions_size;
} Rfc2250Header;

typedef enum
{
  RFC2250_HEADER_OK,
  /* the data are shorter than the header */
  RFC2250_HEADER_SHORT,
  /* a bit in the field MBZ (must be zero) is set */
  RFC2250_HEADER_BAD_MBZ,
  /* a field of the MPEG-2 extension has a value or a length that RFC 2250,
   * section 3.4.1, forbids */
  RFC2250_HEADER_BAD_EXTENSION
} Rfc2250HeaderResult;

/* Returns the number of bytes that rfc2250_header_write () writes. */
gsize rfc2250_header_get_size (const Rfc2250Header * header);
/* Writes the header to `dest`. The caller must supply as many bytes at `dest`
 * as rfc2250_header_get_size () returns. Returns this number. */
gsize rfc2250_header_write (const Rfc2250Header * header, guint8 * dest);
/* Parses the header at the beginning of `data`. If the result is
 * RFC2250_HEADER_OK, `header` is valid and `size_read` is the size of the
 * header in bytes. */
Rfc2250HeaderResult rfc2250_header_parse (Rfc2250Header * header,
    const guint8 * data, gsize size, gsize * size_read);

/* Returns the size of the header in bytes. Returns 0 in three cases: a bit that
 * must be zero is set, the picture type (field P) is invalid, or the header
 * does not fit into `size` bytes. The picture type 0 is accepted, although RFC
 * 2250 forbids it, because some senders do not set the type. Other fields are
 * not checked. */
gsize rfc2250_header_measure (const guint8 * data, gsize size);

/* Sets the header fields that depend on the picture: the picture type (P), the
 * temporal reference (TR) and the fields for motion vectors (FBV, BFC, FFV and
 * FFC). Section 3.4 of RFC 2250 says which values the fields have for each
 * picture type. */
void rfc2250_header_set_picture (Rfc2250Header * header,
    const MpegVideoPicture * picture);
