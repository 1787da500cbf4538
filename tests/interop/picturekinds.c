/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the kind of picture in each buffer of a stream as one letter: I for a
 * key frame, P for a reference picture, B for a non-reference picture, a dot
 * for data without a picture, and ? if the kind is unknown.
 *
 *   picturekinds FORMAT FILE
 *
 * FORMAT is h264, h265, vp8, vp9 or av1, or "rtp-" followed by one of these
 * names if the buffers are RTP packets. FILE contains the buffers, each
 * preceded by its size in two bytes, as in the framing of RFC 4571.
 */

#include <stdio.h>
#include <string.h>

#include "pictureinfo.h"

static gboolean
find_format (const gchar * name, PictureFormat * format)
{
  static const struct
  {
    const gchar *name;
    PictureFormat format;
  } formats[] = {
    {"h264", PICTURE_FORMAT_H264}, {"h265", PICTURE_FORMAT_H265},
    {"rtp-h264", PICTURE_FORMAT_RTP_H264},
    {"rtp-h265", PICTURE_FORMAT_RTP_H265},
    {"vp8", PICTURE_FORMAT_VP8}, {"vp9", PICTURE_FORMAT_VP9},
    {"av1", PICTURE_FORMAT_AV1}, {"rtp-vp8", PICTURE_FORMAT_RTP_VP8},
    {"rtp-vp9", PICTURE_FORMAT_RTP_VP9}, {"rtp-av1", PICTURE_FORMAT_RTP_AV1},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (formats); i++) {
    *format = formats[i].format;
    if (g_str_equal (formats[i].name, name))
      return TRUE;
  }
  return FALSE;
}

int
main (int argc, char **argv)
{
  PictureReader *reader;
  PictureFormat format;
  gchar *data;
  gsize size, at = 0;

  if (argc != 3 || !find_format (argv[1], &format)
      || !g_file_get_contents (argv[2], &data, &size, NULL))
    return 2;
  reader = picture_reader_new (format);
  while (at + 2 <= size) {
    const guint8 *buffer = (const guint8 *) data + at + 2;
    const gsize length = (guint8) data[at] << 8 | (guint8) data[at + 1];
    PictureInfo info;

    if (length > size - at - 2)
      return 2;
    picture_reader_input (reader, buffer, length, G_MAXUINT64, FALSE, &info);
    putchar ("?.BPI"[info.kind]);
    at += 2 + length;
  }
  putchar ('\n');
  picture_reader_free (reader);
  g_free (data);
  return 0;
}
