/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of rfc2250header.h: parses and writes RFC 2250 headers. The
 * first word of 32 bits is always present. Each of the other parts is present
 * only if the bit that is named at its right is 1. T is a bit of the first
 * word, and D and E are bits of the second word.
 *
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |    MBZ  |T|         TR        |A|N|S|B|E|  P  |F| BFC |F| FFC |
 * |         | |                   |N| | | | |     |B|     |F|     |
 * |         | |                   | | | | | |     |V|     |V|     |
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |X|E|f_[0,0]|f_[0,1]|f_[1,0]|f_[1,1]| DC| PS|T|P|C|Q|V|A|R|H|G|D|   if T
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |          0 (12 bits)  |     composite display (20 bits)      |   if D
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * | length, words |  extensions with their start codes, zero padded    if E
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-
 */

#include "rfc2250header.h"

#include <string.h>

#include "bigendian.h"

static void
write_be32 (guint8 * dest, guint32 value)
{
  dest[0] = value >> 24;
  dest[1] = value >> 16;
  dest[2] = value >> 8;
  dest[3] = value;
}

/* Returns the number of bytes that extensions of `size` bytes occupy in the
 * packet, including their length byte and their padding. */
static gsize
extensions_wire_size (gsize size)
{
  return size > 0 ? (1 + size + 3) & ~(gsize) 3 : 0;
}

gsize
rfc2250_header_get_size (const Rfc2250Header * header)
{
  gsize size = RFC2250_HEADER_SIZE;

  if (!header->t)
    return size;
  size += RFC2250_EXTENSION_SIZE;
  if (header->extension.composite_display)
    size += RFC2250_COMPOSITE_SIZE;
  return size + extensions_wire_size (header->extensions_size);
}

static guint8 *
write_extension (const Rfc2250Header * header, guint8 * dest)
{
  const MpegVideoPicture *x = &header->extension;
  gsize size = extensions_wire_size (header->extensions_size);

  write_be32 (dest, (guint32) (size > 0) << 30
      | (guint32) x->f_code[0][0] << 26 | (guint32) x->f_code[0][1] << 22
      | x->f_code[1][0] << 18 | x->f_code[1][1] << 14
      | x->intra_dc_precision << 12 | x->structure << 10
      | x->top_field_first << 9 | x->frame_pred_frame_dct << 8
      | x->concealment_motion_vectors << 7 | x->q_scale_type << 6
      | x->intra_vlc_format << 5 | x->alternate_scan << 4
      | x->repeat_first_field << 3 | x->chroma_420_type << 2
      | x->progressive_frame << 1 | x->composite_display);
  dest += RFC2250_EXTENSION_SIZE;
  if (x->composite_display) {
    write_be32 (dest, x->composite_display_bits);
    dest += RFC2250_COMPOSITE_SIZE;
  }
  if (size > 0) {
    memset (dest + size - 4, 0, 4);
    dest[0] = size / 4;
    memcpy (dest + 1, header->extensions, header->extensions_size);
  }
  return dest + size;
}

gsize
rfc2250_header_write (const Rfc2250Header * header, guint8 * dest)
{
  guint8 *end = dest + RFC2250_HEADER_SIZE;

  write_be32 (dest, (guint32) header->t << 26 | header->tr << 16
      | header->an << 15 | header->n << 14 | header->s << 13
      | header->b << 12 | header->e << 11 | header->p << 8
      | header->fbv << 7 | header->bfc << 4 | header->ffv << 3 | header->ffc);
  if (header->t)
    end = write_extension (header, end);
  return end - dest;
}

static Rfc2250HeaderResult
parse_extensions (Rfc2250Header * header, const guint8 * data, gsize size,
    gsize * pos)
{
  gsize length;

  if (*pos >= size)
    return RFC2250_HEADER_SHORT;
  length = (gsize) data[*pos] * 4;
  if (length == 0)
    return RFC2250_HEADER_BAD_EXTENSION;
  if (length > size - *pos)
    return RFC2250_HEADER_SHORT;
  header->extensions = data + *pos + 1;
  header->extensions_size = length - 1;
  *pos += length;
  return RFC2250_HEADER_OK;
}

static Rfc2250HeaderResult
parse_extension (Rfc2250Header * header, const guint8 * data, gsize size,
    gsize * pos)
{
  MpegVideoPicture *x = &header->extension;
  guint32 word;

  if (size - *pos < RFC2250_EXTENSION_SIZE)
    return RFC2250_HEADER_SHORT;
  word = read_be32 (data + *pos);
  *pos += RFC2250_EXTENSION_SIZE;
  if (word >> 31)
    return RFC2250_HEADER_BAD_MBZ;
  x->has_extension = TRUE;
  x->f_code[0][0] = word >> 26 & 0x0f;
  x->f_code[0][1] = word >> 22 & 0x0f;
  x->f_code[1][0] = word >> 18 & 0x0f;
  x->f_code[1][1] = word >> 14 & 0x0f;
  x->intra_dc_precision = word >> 12 & 3;
  x->structure = word >> 10 & 3;
  x->top_field_first = word >> 9 & 1;
  x->frame_pred_frame_dct = word >> 8 & 1;
  x->concealment_motion_vectors = word >> 7 & 1;
  x->q_scale_type = word >> 6 & 1;
  x->intra_vlc_format = word >> 5 & 1;
  x->alternate_scan = word >> 4 & 1;
  x->repeat_first_field = word >> 3 & 1;
  x->chroma_420_type = word >> 2 & 1;
  x->progressive_frame = word >> 1 & 1;
  x->composite_display = word & 1;
  if (x->structure == 0)
    return RFC2250_HEADER_BAD_EXTENSION;

  if (x->composite_display) {
    if (size - *pos < RFC2250_COMPOSITE_SIZE)
      return RFC2250_HEADER_SHORT;
    x->composite_display_bits = read_be32 (data + *pos) & 0xfffff;
    *pos += RFC2250_COMPOSITE_SIZE;
  }
  return word >> 30 & 1 ? parse_extensions (header, data, size, pos) :
      RFC2250_HEADER_OK;
}

Rfc2250HeaderResult
rfc2250_header_parse (Rfc2250Header * header, const guint8 * data, gsize size,
    gsize * size_read)
{
  Rfc2250HeaderResult result = RFC2250_HEADER_OK;
  guint32 word;
  gsize pos = RFC2250_HEADER_SIZE;

  if (size < RFC2250_HEADER_SIZE)
    return RFC2250_HEADER_SHORT;

  word = read_be32 (data);
  memset (header, 0, sizeof (*header));
  header->mbz = word >> 27;
  header->t = word >> 26 & 1;
  header->tr = word >> 16 & 0x3ff;
  header->an = word >> 15 & 1;
  header->n = word >> 14 & 1;
  header->s = word >> 13 & 1;
  header->b = word >> 12 & 1;
  header->e = word >> 11 & 1;
  header->p = word >> 8 & 7;
  header->fbv = word >> 7 & 1;
  header->bfc = word >> 4 & 7;
  header->ffv = word >> 3 & 1;
  header->ffc = word & 7;
  if (header->mbz != 0)
    return RFC2250_HEADER_BAD_MBZ;
  if (header->t)
    result = parse_extension (header, data, size, &pos);
  *size_read = pos;
  return result;
}

static gsize
measure_extension (const guint8 * data, gsize size)
{
  const guint8 *extension = data + RFC2250_HEADER_SIZE;
  gsize header = RFC2250_HEADER_SIZE + RFC2250_EXTENSION_SIZE;

  /* field X of the MPEG-2 extension: unused, must be 0 */
  if (size < header || (extension[0] & 0x80))
    return 0;
  /* field D of the MPEG-2 extension: 1 if the fields for the composite display
   * follow */
  if (extension[3] & 0x01)
    header += RFC2250_COMPOSITE_SIZE;
  /* field E of the MPEG-2 extension: 1 if further extensions follow */
  if (!(extension[0] & 0x40))
    return header;
  if (size <= header || data[header] == 0)
    return 0;
  return header + data[header] * 4;
}

gsize
rfc2250_header_measure (const guint8 * data, gsize size)
{
  gsize header = RFC2250_HEADER_SIZE;

  /* field MBZ: must be zero */
  if (size < RFC2250_HEADER_SIZE || data[0] >> 3
      || (data[2] & 7) >= MPEG_VIDEO_PICTURE_LAST)
    return 0;
  if (data[0] & 0x04)           /* field T: the MPEG-2 extension follows */
    header = measure_extension (data, size);
  return header <= size ? header : 0;
}

void
rfc2250_header_set_picture (Rfc2250Header * header,
    const MpegVideoPicture * picture)
{
  gboolean forward = picture->type == MPEG_VIDEO_PICTURE_P
      || picture->type == MPEG_VIDEO_PICTURE_B;
  gboolean backward = picture->type == MPEG_VIDEO_PICTURE_B;

  header->p = picture->type;
  header->tr = picture->temporal_reference;
  header->ffv = forward && picture->full_pel_forward;
  header->ffc = forward ? picture->forward_f_code : 0;
  header->fbv = backward && picture->full_pel_backward;
  header->bfc = backward ? picture->backward_f_code : 0;
}
