/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the project's classifier on a file with H.264 or H.265 video. The
 * classifier finds the type and the properties of each frame. A test compares
 * the output of this program with that of ffmpeg.
 *
 *   ifdclassify CODEC FILE [CODEC-DATA-IN-HEX]
 *
 * CODEC is h264 or hevc. FILE contains access units. For each access unit, the
 * program reads a line "OFFSET SIZE PTS" from standard input. OFFSET is the
 * position of the access unit in FILE.
 *
 * For each access unit, the program prints a line with its type (I, P or B)
 * and its flags (c: closed GOP, x: broken link, r: start of an intra refresh,
 * l: leading frame, t: trailing frame). The last line contains the number of
 * malformed access units.
 */

#include <stdio.h>
#include <string.h>

#include "ifdclassifier.h"

static void
show (const IfdFrame * frame)
{
  printf ("%c%s%s%s%s%s\n", "IPB"[frame->type],
      frame->flags & IFD_FRAME_CLOSED ? "c" : "",
      frame->flags & IFD_FRAME_BROKEN ? "x" : "",
      frame->flags & IFD_FRAME_REFRESH ? "r" : "",
      frame->flags & IFD_FRAME_LEADING ? "l" : "",
      frame->flags & IFD_FRAME_TRAILING ? "t" : "");
}

static gboolean
set_codec_data (IfdClassifier * classifier, const gchar * hex)
{
  gsize size = strlen (hex) / 2, i;
  guint8 *data = g_malloc (size + 1);
  gboolean set;

  for (i = 0; i < size; i++)
    data[i] = g_ascii_xdigit_value (hex[2 * i]) << 4
        | g_ascii_xdigit_value (hex[2 * i + 1]);
  set = ifd_classifier_set_codec_data (classifier, data, size);
  g_free (data);
  return set;
}

static gboolean
classify (IfdClassifier * classifier, const gchar * data, gsize size)
{
  gsize offset, length;
  guint64 pts;
  IfdFrame frame;

  while (scanf ("%" G_GSIZE_FORMAT " %" G_GSIZE_FORMAT " %" G_GUINT64_FORMAT,
          &offset, &length, &pts) == 3) {
    if (offset > size || length > size - offset)
      return FALSE;
    ifd_classifier_input (classifier, (const guint8 *) data + offset, length,
        pts, &frame);
    show (&frame);
  }
  return TRUE;
}

int
main (int argc, char **argv)
{
  IfdClassifier *classifier;
  guint64 malformed = 0;
  gchar *data;
  gsize size;
  guint i;

  if (argc < 3 || !g_file_get_contents (argv[2], &data, &size, NULL))
    return 2;
  classifier = ifd_classifier_new (g_str_equal (argv[1], "h264") ?
      IFD_CODEC_H264 : IFD_CODEC_H265);
  if (argc > 3 && !set_codec_data (classifier, argv[3]))
    return 2;
  if (!classify (classifier, data, size))
    return 2;
  for (i = 0; i < IFD_MALFORMED_LAST; i++)
    malformed += ifd_classifier_get_malformed (classifier, i);
  printf ("%" G_GUINT64_FORMAT "\n", malformed);
  ifd_classifier_free (classifier);
  g_free (data);
  return 0;
}
