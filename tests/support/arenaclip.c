/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of arenaclip.h: the streams that the benchmark mmtparena
 * sends. A stream is made from a clip file, or consists of packets of one size.
 */

#include "arenaclip.h"

#include <stdio.h>
#include <string.h>

/* --- files ---------------------------------------------------------------- */

static gboolean
parse_frame (const gchar * line, ArenaFrame * frame)
{
  static const gchar types[] = "IPB";
  const gchar *type = strchr (types, line[0]);
  guint size;

  if (!line[0] || !type || sscanf (line + 1, "%u", &size) != 1 || size == 0)
    return FALSE;
  memset (frame, 0, sizeof *frame);
  frame->type = type - types;
  frame->size = size;
  return TRUE;
}

GArray *
arena_clip_load (const gchar * path, GError ** error)
{
  GArray *clip;
  gchar *text, **lines;
  guint i;

  if (!g_file_get_contents (path, &text, NULL, error))
    return NULL;
  clip = g_array_new (FALSE, FALSE, sizeof (ArenaFrame));
  lines = g_strsplit (text, "\n", -1);
  for (i = 0; lines[i]; i++) {
    ArenaFrame frame;

    if (parse_frame (lines[i], &frame))
      g_array_append_val (clip, frame);
  }
  g_strfreev (lines);
  g_free (text);
  if (clip->len == 0) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "there is no frame in %s", path);
    g_array_unref (clip);
    return NULL;
  }
  return clip;
}

/* --- streams -------------------------------------------------------------- */

static guint
find_key_frame (const GArray * clip, gdouble shift)
{
  guint first = (guint) (shift * clip->len) % clip->len, i;

  for (i = 0; i < clip->len; i++) {
    guint number = (first + i) % clip->len;

    if (g_array_index (clip, ArenaFrame, number).type == ARENA_TYPE_I)
      return number;
  }
  return first;
}

GArray *
arena_clip_get_frames (const GArray * clip, gdouble shift, gdouble scale,
    guint64 period, guint64 duration)
{
  GArray *frames = g_array_new (FALSE, FALSE, sizeof (ArenaFrame));
  guint first = find_key_frame (clip, shift), n = duration / period, i;

  for (i = 0; i < n; i++) {
    ArenaFrame frame =
        g_array_index (clip, ArenaFrame, (first + i) % clip->len);

    frame.size = MAX (1, frame.size * scale + 0.5);
    frame.due = i * period;
    g_array_append_val (frames, frame);
  }
  arena_frames_set_references (frames);
  return frames;
}

GArray *
arena_make_packets (guint32 size, guint64 period, guint64 duration)
{
  GArray *frames = g_array_new (FALSE, FALSE, sizeof (ArenaFrame));
  ArenaFrame frame = { ARENA_TYPE_I, size };
  guint64 n = duration / period, i;

  for (i = 0; i < n; i++) {
    frame.due = i * period;
    g_array_append_val (frames, frame);
  }
  return frames;
}

void
arena_frames_set_references (GArray * frames)
{
  guint last[ARENA_MAX_REFERENCES] = { 0 }, n_last = 0, i;

  for (i = 0; i < frames->len; i++) {
    ArenaFrame *frame = &g_array_index (frames, ArenaFrame, i);

    frame->n_references = 0;
    if (frame->type == ARENA_TYPE_B) {
      frame->n_references = n_last;
      memcpy (frame->references, last, sizeof last);
      continue;
    }
    if (frame->type == ARENA_TYPE_P && n_last > 0)
      frame->references[frame->n_references++] = last[n_last - 1];
    if (n_last == ARENA_MAX_REFERENCES)
      last[0] = last[--n_last];
    last[n_last++] = i;
  }
}

/* --- packets -------------------------------------------------------------- */

guint
arena_frame_count_packets (const ArenaFrame * frame)
{
  return (frame->size + ARENA_PACKET_PAYLOAD - 1) / ARENA_PACKET_PAYLOAD;
}

guint32
arena_frame_get_packet_size (const ArenaFrame * frame, guint packet)
{
  guint32 begin = packet * ARENA_PACKET_PAYLOAD;

  return MIN (frame->size - begin, ARENA_PACKET_PAYLOAD) + ARENA_RTP_HEADERS;
}

guint64
arena_frame_get_wire_size (const ArenaFrame * frame, guint overhead)
{
  return frame->size + (guint64) arena_frame_count_packets (frame)
      * (ARENA_RTP_HEADERS + overhead);
}

gdouble
arena_frames_get_wire_rate (const GArray * frames, guint64 duration,
    guint overhead)
{
  guint64 bytes = 0;
  guint i;

  for (i = 0; i < frames->len; i++)
    bytes += arena_frame_get_wire_size (&g_array_index (frames, ArenaFrame, i),
        overhead);
  return bytes * 8e9 / duration;
}

/* --- decoding ------------------------------------------------------------- */

guint
arena_frames_decode (const GArray * frames, const gboolean * in_time,
    gboolean * decodable)
{
  guint i, j, sum = 0;

  for (i = 0; i < frames->len; i++) {
    const ArenaFrame *frame = &g_array_index (frames, ArenaFrame, i);

    decodable[i] = in_time[i];
    for (j = 0; j < frame->n_references; j++)
      decodable[i] = decodable[i] && decodable[frame->references[j]];
    sum += decodable[i];
  }
  return sum;
}
