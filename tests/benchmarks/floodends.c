/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define _GNU_SOURCE
#include "floodends.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPS "application/x-rtp, media=video, clock-rate=90000, " \
    "encoding-name=MP2T, payload=33, ssrc=(uint)2"

static FloodShared *shared;

void
flood_fail (const gchar * what)
{
  g_printerr ("%s: %s\n", program_invocation_short_name, what);
  exit (1);
}

static GstElement *
make_pipeline (const gchar * description, const gchar * pad_name, GstPad ** pad)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GError *error = NULL;
  GstElement *element = gst_parse_launch (description, &error);

  if (error)
    flood_fail (error->message);
  gst_bin_add (GST_BIN (pipeline), element);
  *pad = gst_element_get_static_pad (element, pad_name);
  return pipeline;
}

/* --- the source's process ------------------------------------------------- */

static void
note (guint n)
{
  shared->noted++;
  shared->received_at = g_get_monotonic_time ();
  g_atomic_int_add (&shared->received, n);
}

static GstPadProbeReturn
count (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST)
    note (gst_buffer_list_length (GST_PAD_PROBE_INFO_BUFFER_LIST (info)));
  else
    note (1);
  return GST_PAD_PROBE_DROP;
}

G_GNUC_NORETURN static void
receive (const gchar * description)
{
  GstElement *pipeline;
  GstPad *pad;

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  gst_init (NULL, NULL);
  pipeline = make_pipeline (description, "src", &pad);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER
      | GST_PAD_PROBE_TYPE_BUFFER_LIST, count, NULL, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  g_atomic_int_set (&shared->is_listening, TRUE);
  while (TRUE)
    pause ();
}

FloodShared *
flood_start_source (const gchar * description, void (*start) (void),
    pid_t * pid)
{
  shared = mmap (NULL, sizeof (*shared), PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *pid = shared == MAP_FAILED ? -1 : fork ();
  if (*pid < 0)
    flood_fail (g_strerror (errno));
  if (*pid == 0) {
    if (start)
      start ();
    receive (description);
  }
  while (!g_atomic_int_get (&shared->is_listening)) {
    if (waitpid (*pid, NULL, WNOHANG) == *pid)
      flood_fail ("the source does not run");
    g_usleep (1000);
  }
  return shared;
}

/* --- the sink's process --------------------------------------------------- */

GstPad *
flood_open_sink (const gchar * description)
{
  GstCaps *caps;
  GstElement *pipeline;
  GstSegment segment;
  GstPad *peer, *pad;

  gst_init (NULL, NULL);
  pipeline = make_pipeline (description, "sink", &peer);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  pad = gst_pad_new (NULL, GST_PAD_SRC);
  g_assert (gst_pad_link_full (pad, peer, GST_PAD_LINK_CHECK_NOTHING)
      == GST_PAD_LINK_OK);
  gst_pad_set_active (pad, TRUE);
  caps = gst_caps_from_string (CAPS);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start ("flood"));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  return pad;
}

static GstBuffer *
make_packet (gsize size)
{
  static guint32 number;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, FLOOD_FILLING, map.size);
  map.data[0] = 0x80;
  map.data[1] = 33;
  GST_WRITE_UINT16_BE (map.data + 2, number);
  GST_WRITE_UINT32_BE (map.data + FLOOD_TIMESTAMP_OFFSET, number);
  GST_WRITE_UINT32_BE (map.data + FLOOD_SSRC_OFFSET, FLOOD_SSRC);
  gst_buffer_unmap (buffer, &map);
  number++;
  return buffer;
}

GstMiniObject *
flood_make (gsize size, guint list_size)
{
  GstBufferList *list;
  guint i;

  size = MAX (size, FLOOD_HEADER_SIZE);
  if (list_size <= 1)
    return GST_MINI_OBJECT (make_packet (size));
  list = gst_buffer_list_new_sized (list_size);
  for (i = 0; i < list_size; i++)
    gst_buffer_list_add (list, make_packet (size));
  return GST_MINI_OBJECT (list);
}

void
flood_push (GstPad * pad, GstMiniObject * packets)
{
  GstFlowReturn flow = GST_IS_BUFFER_LIST (packets) ?
      gst_pad_push_list (pad, GST_BUFFER_LIST (packets)) :
      gst_pad_push (pad, GST_BUFFER (packets));

  if (flow != GST_FLOW_OK)
    flood_fail (gst_flow_get_name (flow));
}
