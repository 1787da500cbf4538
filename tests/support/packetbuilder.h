/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames and RTP packets of the small streams of streambuilder.h, for tests of
 * elements that take them.
 */

#ifndef __MPEG_PACKETS_H__
#define __MPEG_PACKETS_H__

#include <gst/check/gstharness.h>

#include "streambuilder.h"

#define RAW_CAPS "video/mpeg,mpegversion=2,systemstream=false"
#define RTP_CAPS "application/x-rtp,media=video,clock-rate=90000," \
    "encoding-name=MPV,payload=32"

static inline GstBuffer *
wrap (const guint8 * data, gsize size)
{
  return gst_buffer_new_memdup (data, size);
}

/* One buffer a frame, without times */
static inline GPtrArray *
make_frames (const gchar * plan, gboolean mpeg1)
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

    g_ptr_array_add (frames, wrap (stream.bytes->data + start,
            g_array_index (marks, guint, i + 1) - start));
  }
  g_array_unref (marks);
  mpeg_stream_clear (&stream);
  return frames;
}

/* The RTP packets of a plan, by rfc2250pay */
static inline GPtrArray *
make_packets (const gchar * plan, const gchar * launch)
{
  GstHarness *h = gst_harness_new_parse (launch);
  GPtrArray *frames = make_frames (plan, FALSE);
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

static inline guint64
get_stat (GstHarness * h, const gchar * element, const gchar * name)
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

#endif /* __MPEG_PACKETS_H__ */
