/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "streambuilder.h"

void
mpeg_stream_init (MpegStream * stream)
{
  stream->bytes = g_byte_array_new ();
  stream->bits = stream->n_bits = 0;
}

void
mpeg_stream_clear (MpegStream * stream)
{
  g_byte_array_unref (stream->bytes);
}

void
mpeg_put (MpegStream * stream, guint n, guint32 value)
{
  while (n-- > 0) {
    stream->bits = stream->bits << 1 | (value >> n & 1);
    if (++stream->n_bits == 8) {
      guint8 byte = stream->bits;

      g_byte_array_append (stream->bytes, &byte, 1);
      stream->bits = stream->n_bits = 0;
    }
  }
}

void
mpeg_align (MpegStream * stream)
{
  while (stream->n_bits)
    mpeg_put (stream, 1, 0);
}

void
mpeg_code (MpegStream * stream, guint code)
{
  mpeg_align (stream);
  mpeg_put (stream, 32, 0x100 | code);
}

void
mpeg_sequence (MpegStream * stream, guint width, guint height, guint rate_code,
    gboolean mpeg2, gboolean progressive, gboolean low_delay)
{
  mpeg_code (stream, 0xb3);
  mpeg_put (stream, 12, width & 0xfff);
  mpeg_put (stream, 12, height & 0xfff);
  mpeg_put (stream, 4, 2);
  mpeg_put (stream, 4, rate_code);
  mpeg_put (stream, 18, 7500);
  mpeg_put (stream, 1, 1);
  mpeg_put (stream, 10, 112);
  mpeg_put (stream, 3, 0);
  if (!mpeg2)
    return;
  mpeg_code (stream, 0xb5);
  mpeg_put (stream, 4, 1);
  mpeg_put (stream, 8, 0x48);
  mpeg_put (stream, 1, progressive);
  mpeg_put (stream, 2, 1);
  mpeg_put (stream, 2, width >> 12);
  mpeg_put (stream, 2, height >> 12);
  mpeg_put (stream, 12, 0);
  mpeg_put (stream, 1, 1);
  mpeg_put (stream, 8, 0);
  mpeg_put (stream, 1, low_delay);
  mpeg_put (stream, 2, 0);
  mpeg_put (stream, 5, 0);
}

void
mpeg_gop_full (MpegStream * stream, gboolean drop, guint h, guint m, guint s,
    guint pictures, gboolean closed, gboolean broken)
{
  mpeg_code (stream, 0xb8);
  mpeg_put (stream, 1, drop);
  mpeg_put (stream, 5, h);
  mpeg_put (stream, 6, m);
  mpeg_put (stream, 1, 1);
  mpeg_put (stream, 6, s);
  mpeg_put (stream, 6, pictures);
  mpeg_put (stream, 1, closed);
  mpeg_put (stream, 1, broken);
  mpeg_align (stream);
}

void
mpeg_gop (MpegStream * stream, guint frame, gboolean closed)
{
  mpeg_gop_full (stream, FALSE, frame / 90000, frame / 1500 % 60,
      frame / 25 % 60, frame % 25, closed, FALSE);
}

void
mpeg_picture_header (MpegStream * stream, const MpegPicture * p)
{
  guint type = p->type == 'I' ? 1 : p->type == 'P' ? 2 : p->type == 'B' ? 3 : 4;
  guint f_code = !p->mpeg1 ? 7 : p->f_code ? p->f_code : 1;

  mpeg_code (stream, 0x00);
  mpeg_put (stream, 10, p->tr);
  mpeg_put (stream, 3, type);
  mpeg_put (stream, 16, 0xffff);
  if (type == 2 || type == 3) {
    mpeg_put (stream, 1, p->full_pel);
    mpeg_put (stream, 3, f_code);
  }
  if (type == 3) {
    mpeg_put (stream, 1, p->full_pel);
    mpeg_put (stream, 3, f_code);
  }
  mpeg_put (stream, 1, 0);
  mpeg_align (stream);
}

void
mpeg_picture_extension (MpegStream * stream, const MpegPicture * p)
{
  guint f_code = p->f_code ? p->f_code : 3;
  guint forward = p->type == 'I' ? 15 : f_code;
  guint backward = p->type == 'B' ? f_code : 15;

  mpeg_code (stream, 0xb5);
  mpeg_put (stream, 4, 8);
  mpeg_put (stream, 8, forward << 4 | forward);
  mpeg_put (stream, 8, backward << 4 | backward);
  mpeg_put (stream, 2, 0);
  mpeg_put (stream, 2, p->structure ? p->structure : 3);
  mpeg_put (stream, 1, p->tff);
  mpeg_put (stream, 1, !p->structure);
  mpeg_put (stream, 4, 0);
  mpeg_put (stream, 1, p->rff);
  mpeg_put (stream, 1, p->progressive);
  mpeg_put (stream, 1, p->progressive);
  mpeg_put (stream, 1, p->composite);
  if (p->composite)
    mpeg_put (stream, 20, 0xabcde);
  mpeg_align (stream);
}

void
mpeg_slice (MpegStream * stream, guint row, guint size, guint seed)
{
  guint i;

  mpeg_code (stream, row);
  for (i = 4; i < size; i++)
    mpeg_put (stream, 8, 2 + (seed * 31 + row * 7 + i) % 253);
}

void
mpeg_picture (MpegStream * stream, const MpegPicture * p)
{
  guint row, rows = p->rows ? p->rows : 2;

  mpeg_picture_header (stream, p);
  if (!p->mpeg1)
    mpeg_picture_extension (stream, p);
  for (row = 1; row <= rows; row++)
    mpeg_slice (stream, row, p->slice_size ? p->slice_size : 20,
        p->tr * 5 + p->type);
}

void
mpeg_stream_add (MpegStream * stream, const gchar * plan, gboolean mpeg1,
    GArray * mark)
{
  gchar **words = g_strsplit (plan, " ", -1);
  guint i, base = 0, top = 0, start;
  gboolean headers = FALSE;

  for (i = 0; words[i]; i++) {
    MpegPicture picture = { 0 };

    if (words[i][0] == 0)
      continue;
    mpeg_align (stream);
    if (!headers)
      start = stream->bytes->len;
    if (words[i][0] == '|') {
      base += top;
      top = 0;
      mpeg_sequence (stream, 32, 32, 3, !mpeg1, TRUE, FALSE);
      mpeg_gop (stream, base, words[i][1] == 'c');
      headers = TRUE;
      continue;
    }
    headers = FALSE;
    picture.type = words[i][0];
    picture.tr = g_ascii_strtoull (words[i] + 1, NULL, 10);
    picture.mpeg1 = mpeg1;
    picture.progressive = TRUE;
    top = MAX (top, picture.tr + 1);
    mpeg_picture (stream, &picture);
    if (mark)
      g_array_append_val (mark, start);
  }
  mpeg_align (stream);
  g_strfreev (words);
}
