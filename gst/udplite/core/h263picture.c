/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the size of an H.263 picture header. h263picture.h documents the
 * public functions. Fields have the names of ITU-T H.263 section 5.1, and are
 * read in the order of figures 7 and 8 of that document. */

#include "h263picture.h"

/* Result for a header whose fields have impossible values.
 *
 * If it is not known which fields a header has, the size of the header is
 * computed in two ways. The greater one of the two sizes is used. A computation
 * returns a size, IMPOSSIBLE or H263_HEADER_UNKNOWN. The values of these two
 * constants are chosen so that the comparison also gives the correct result for
 * them:
 * - IMPOSSIBLE is less than any size. It is therefore used only if both
 *   computations return IMPOSSIBLE.
 * - H263_HEADER_UNKNOWN is greater than any size. It is therefore used if at
 *   least one computation returns H263_HEADER_UNKNOWN. */
#define IMPOSSIBLE 0

/* Source format in PTYPE, table 1 */
#define FORMAT_FORBIDDEN 0
#define FORMAT_RESERVED 6
#define FORMAT_EXTENDED 7       /* PLUSPTYPE follows */
/* Values of the field "source format" in OPPTYPE, a part of the H.263 picture
 * header (H.263 section 5.1.4.2) */
#define PLUS_FORMAT_CUSTOM 6
#define PLUS_FORMAT_RESERVED 7
/* CPFMT, section 5.1.5 */
#define PAR_EXTENDED 15

/* Picture type code in MPPTYPE, section 5.1.4.3 */
enum
{
  PLUS_TYPE_IMPROVED_PB = 2,
  PLUS_TYPE_B,                  /* B, EI and EP use scalability (annex O) */
  PLUS_TYPE_EI,
  PLUS_TYPE_EP,
  PLUS_TYPE_RESERVED
};

typedef struct
{
  const guint8 *data;
  gsize size;
  /* Position of the next bit in `data`. It is greater than 8 * `size` if bits
   * beyond the end of the data were read. */
  gsize place;
} Bits;

/* Reads `n` bits. Bits beyond the end of the data are read as 1. If they were
 * read as 0, a truncated field PQUANT could have the value 0, which is
 * forbidden. The header would then be taken for an invalid one, although it is
 * only truncated. */
static guint
read_bits (Bits * bits, guint n)
{
  guint value = 0, byte;

  for (; n > 0; n--, bits->place++) {
    byte = 0xff;
    if (bits->place / 8 < bits->size)
      byte = bits->data[bits->place / 8];
    value = value << 1 | (byte >> (7 - bits->place % 8) & 1);
  }
  return value;
}

/* Reads PEI and PSUPP, which are the last fields of the picture header. Returns
 * the size of the whole header in bytes, or H263_HEADER_UNKNOWN if it is
 * truncated. */
static gsize
end_header (Bits * bits)
{
  while (bits->place < bits->size * 8 && read_bits (bits, 1))
    read_bits (bits, 8);
  if (bits->place > bits->size * 8)
    return H263_HEADER_UNKNOWN;
  return (bits->place + 7) / 8;
}

/* Reads CPM and PSBI. */
static void
read_multipoint (Bits * bits)
{
  if (read_bits (bits, 1))
    read_bits (bits, 2);
}

static gsize
read_baseline (Bits bits, guint source_format)
{
  gboolean pb_frames;

  if (source_format == FORMAT_FORBIDDEN || source_format == FORMAT_RESERVED)
    return IMPOSSIBLE;
  read_bits (&bits, 4);         /* coding type, annexes D, E, and F */
  pb_frames = read_bits (&bits, 1);
  if (read_bits (&bits, 5) == 0)        /* PQUANT */
    return IMPOSSIBLE;
  read_multipoint (&bits);
  if (pb_frames)
    read_bits (&bits, 3 + 2);   /* TRB, DBQUANT */
  return end_header (&bits);
}

/* OPPTYPE, section 5.1.4.2 */
typedef struct
{
  guint source_format;
  gboolean custom_clock;
  gboolean unrestricted_vectors;
  gboolean slices;
  gboolean reference_selection;
} Options;

static gboolean
read_options (Bits * bits, Options * options)
{
  options->source_format = read_bits (bits, 3);
  options->custom_clock = read_bits (bits, 1);
  options->unrestricted_vectors = read_bits (bits, 1);
  read_bits (bits, 4);          /* annexes E, F, I, and J */
  options->slices = read_bits (bits, 1);
  options->reference_selection = read_bits (bits, 1);
  read_bits (bits, 3);          /* annexes R, S, and T */
  /* The remaining bits must be 1000. Other values are reserved, or mean that
   * the header uses annex U or V, which is not supported. */
  return read_bits (bits, 4) == 8
      && options->source_format != FORMAT_FORBIDDEN
      && options->source_format != PLUS_FORMAT_RESERVED;
}

/* Reads CPFMT, EPAR, CPCFC and ETR. */
static void
read_custom_formats (Bits * bits, const Options * options)
{
  guint aspect_ratio;

  if (options->source_format == PLUS_FORMAT_CUSTOM) {
    aspect_ratio = read_bits (bits, 4);
    read_bits (bits, 9 + 1 + 9);
    if (aspect_ratio == PAR_EXTENDED)
      read_bits (bits, 16);
  }
  if (options->custom_clock)
    read_bits (bits, 8 + 2);
}

/* Reads the fields RPSMF, TRPI and TRP of the H.263 picture header (reference
 * picture selection, annex N). Returns the next two bits, with which the field
 * BCI (back-channel message indication) begins. The bits 01 mean that no
 * back-channel message follows. If the first bit is 1, a back-channel message
 * and another BCI follow. */
static guint
read_reference_selection (Bits * bits)
{
  read_bits (bits, 3);
  if (read_bits (bits, 1))
    read_bits (bits, 10);
  return read_bits (bits, 2);
}

/* Reads the fields from CPFMT on. */
static gsize
read_plus_fields (Bits bits, const Options * options, guint type,
    gboolean scalable)
{
  guint back_channel;

  read_custom_formats (&bits, options);
  if (options->unrestricted_vectors && !read_bits (&bits, 1))   /* UUI */
    read_bits (&bits, 1);
  if (options->slices)
    read_bits (&bits, 2);       /* SSS */
  if (scalable)
    read_bits (&bits, 4 + 4);   /* ELNUM, RLNUM */
  if (options->reference_selection) {
    back_channel = read_reference_selection (&bits);
    if (back_channel != 1)
      return back_channel == 0 ? IMPOSSIBLE : H263_HEADER_UNKNOWN;
  }
  if (read_bits (&bits, 5) == 0)        /* PQUANT */
    return IMPOSSIBLE;
  if (type == PLUS_TYPE_IMPROVED_PB)    /* TRB, DBQUANT */
    read_bits (&bits, (options->custom_clock ? 5 : 3) + 2);
  return end_header (&bits);
}

/* Returns the size of a picture header that has the field PLUSPTYPE. If the
 * stream uses scalability (annex O), the header also has the field ELNUM. B, EI
 * and EP pictures exist only in streams with scalability, so their headers have
 * ELNUM. For the other picture types, it is not known whether the stream uses
 * scalability. The size of their header is therefore computed with and without
 * ELNUM, and the larger size is returned. */
static gsize
read_plus (Bits bits)
{
  Options options;
  guint type, extended = read_bits (&bits, 3);  /* UFEP */
  gsize size = IMPOSSIBLE;

  /* The field UFEP says whether this header lists the options of the stream. If
   * UFEP is 0, the list is in an earlier picture header, which is not available
   * here. The options may include annexes N and U, whose fields have a variable
   * size. The size of the header is therefore unknown. */
  if (extended != 1 || !read_options (&bits, &options))
    return H263_HEADER_UNKNOWN;
  type = read_bits (&bits, 3);
  if (type >= PLUS_TYPE_RESERVED)
    return IMPOSSIBLE;
  /* The next bit shows whether the header contains the field RPRP (annex P).
   * RPRP has a variable size, so the size of a header with this field is
   * unknown. */
  if (read_bits (&bits, 1))
    return H263_HEADER_UNKNOWN;
  read_bits (&bits, 2);         /* annex Q, RTYPE */
  if (read_bits (&bits, 3) != 1)
    return IMPOSSIBLE;
  read_multipoint (&bits);
  if (type < PLUS_TYPE_B)
    size = read_plus_fields (bits, &options, type, FALSE);
  return MAX (size, read_plus_fields (bits, &options, type, TRUE));
}

gboolean
h263_is_picture_start (const guint8 * data, gsize size)
{
  return size > 0 && data[0] >> 2 == 0x20;
}

/* Reads the header from PTYPE on. */
static gsize
read_header (Bits bits)
{
  guint source_format;

  if (read_bits (&bits, 2) != 2)
    return IMPOSSIBLE;
  /* The next three bits are split screen, document camera and freeze picture
   * release. They are not needed. */
  read_bits (&bits, 3);
  source_format = read_bits (&bits, 3);
  if (source_format == FORMAT_EXTENDED)
    return read_plus (bits);
  return read_baseline (bits, source_format);
}

gsize
h263_get_picture_header_size (const guint8 * data, gsize size)
{
  /* The first two fields are skipped: the picture start code (PSC) and the
   * temporal reference (TR, 8 bits). The PSC has 22 bits. Its first 16 bits,
   * which are 0, are not in `data` (see h263picture.h), so `data` contains only
   * the last 6 bits of the PSC. */
  Bits bits = { data, size, 6 + 8 };
  gsize header_size;

  if (!h263_is_picture_start (data, size))
    return H263_HEADER_UNKNOWN;
  header_size = read_header (bits);
  return header_size == IMPOSSIBLE ? H263_HEADER_UNKNOWN : header_size;
}
