/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPEG video-specific header of RFC 2250 section 3.4 and its MPEG-2
 * extension of section 3.4.1: the codec, and nothing else.
 */

#pragma once

#include <glib.h>

#include "mpegvideo.h"

#define RFC2250_HEADER_SIZE 4
#define RFC2250_EXTENSION_SIZE 4
#define RFC2250_COMPOSITE_SIZE 4
/* Section 3.4.1, E: their length is one byte, in words of 32 bits */
#define RFC2250_MAX_EXTENSIONS_SIZE (255 * 4)
#define RFC2250_MAX_HEADER_SIZE (RFC2250_HEADER_SIZE + \
    RFC2250_EXTENSION_SIZE + RFC2250_COMPOSITE_SIZE + \
    RFC2250_MAX_EXTENSIONS_SIZE)

/* Fields have the RFC's names. */
typedef struct
{
  guint mbz;                    /* must be zero; read, written as 0 */
  gboolean t;                   /* the MPEG-2 extension follows */
  guint tr;                     /* temporal reference */
  gboolean an, n;               /* N is active; new picture header */
  gboolean s;                   /* a sequence header is in this packet */
  gboolean b, e;                /* begins, ends with a slice */
  guint p;                      /* picture type; 0 is forbidden */
  gboolean fbv, ffv;            /* full-pel vectors */
  guint bfc, ffc;               /* f-codes */

  /* Section 3.4.1, valid if t */
  MpegVideoPicture extension;   /* fields of the picture coding extension */
  const guint8 *extensions;     /* further ones (E), from their start codes on;
                                 * points into what was parsed */
  gsize extensions_size;        /* bytes, zero padding included when parsed */
} Rfc2250Header;

typedef enum
{
  RFC2250_HEADER_OK,
  RFC2250_HEADER_SHORT,         /* shorter than it says */
  RFC2250_HEADER_BAD_MBZ,       /* a bit that must be zero is set */
  RFC2250_HEADER_BAD_EXTENSION  /* forbidden value or length in 3.4.1 */
} Rfc2250HeaderResult;

/* Bytes that rfc2250_header_write () will take */
gsize rfc2250_header_get_size (const Rfc2250Header * header);
/* dest has room for rfc2250_header_get_size () bytes, which are returned. */
gsize rfc2250_header_write (const Rfc2250Header * header, guint8 * dest);
/* Sets size_read to the bytes before the elementary stream. header is valid
 * for RFC2250_HEADER_OK only. */
Rfc2250HeaderResult rfc2250_header_parse (Rfc2250Header * header,
    const guint8 * data, gsize size, gsize * size_read);

/* Bytes before the elementary stream, whatever the fields of the picture are; 0:
 * a bit that must be zero is set, P is no picture type, or the header does not
 * fit into size bytes. P may be 0, which some senders leave there. */
gsize rfc2250_header_measure (const guint8 * data, gsize size);

/* Sets P, TR and the vectors from a picture header, as section 3.4 says for
 * its type. */
void rfc2250_header_set_picture (Rfc2250Header * header,
    const MpegVideoPicture * picture);
