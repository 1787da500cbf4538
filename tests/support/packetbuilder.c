/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "packetbuilder.h"

GstBuffer *
mpeg_wrap (const guint8 * data, gsize size)
{
  return gst_buffer_new_memdup (data, size);
}

GPtrArray *
mpeg_make_frames (const gchar * plan, gboolean mpeg1)
{
  GPtrArray *frames =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GArray *marks = g_array_new (FALSE, FALSE, sizeof (guint));
  MpegStream stream;
  guint i, end;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, plan, mpeg1, marks);
  end = stream.bytes->len;
  g_array_append_val (marks, end);
  for (i = 0; i + 1 < marks->len; i++) {
    guint start = g_array_index (marks, guint, i);

    g_ptr_array_add (frames, mpeg_wrap (stream.bytes->data + start,
            g_array_index (marks, guint, i + 1) - start));
  }
  g_array_unref (marks);
  mpeg_stream_clear (&stream);
  return frames;
}

GPtrArray *
mpeg_make_packets (const gchar * plan, const gchar * launch)
{
  GstHarness *h = gst_harness_new_parse (launch);
  GPtrArray *frames = mpeg_make_frames (plan, FALSE);
  GPtrArray *packets =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GstBuffer *packet;
  guint i;

  gst_harness_set_src_caps_str (h, RAW_CAPS ",parsed=true");
  for (i = 0; i < frames->len; i++)
    gst_harness_push (h, gst_buffer_ref (frames->pdata[i]));
  while ((packet = gst_harness_try_pull (h)))
    g_ptr_array_add (packets, packet);
  g_ptr_array_unref (frames);
  gst_harness_teardown (h);
  return packets;
}

guint64
mpeg_get_stat (GstHarness * h, const gchar * element, const gchar * name)
{
  GstElement *found = gst_harness_find_element (h, element);
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (found, "mpeg-stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  gst_object_unref (found);
  return value;
}
