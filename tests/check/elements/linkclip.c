/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much MPEG video 802.11b carries in RFC 2250 packets: the clip's own
 * packets, each sent as soon as the one before is through, as Ouwens' blocking
 * UDP did (3.6). Packets from the payloader, times from the core.
 */

#include <gst/check/gstcheck.h>

#include "linktraffic.h"

/* RTP is in the buffers; UDP and IP are not. */
#define UDP_IP 28

typedef struct
{
  GArray *sizes;                /* of guint32 */
  guint64 video;                /* bytes of the elementary stream */
} Packets;

static void
add_packet (GstElement * sink, GstBuffer * buffer, GstPad * pad,
    gpointer user_data)
{
  Packets *packets = user_data;
  guint32 size = gst_buffer_get_size (buffer);

  g_array_append_val (packets->sizes, size);
}

/* The first 30 s of the clip of so many Mbit/s, as the payloader packs it */
static void
pack_clip (guint megabits, const gchar * payloader, Packets * packets)
{
  gchar *path = g_strdup_printf ("%s/build/clips/bunny-%uM.m2v",
      g_getenv ("WIRELESS_SOURCE_DIR"), megabits);
  gchar *line = g_strdup_printf ("filesrc name=source blocksize=65536 "
      "num-buffers=%u ! %s ! fakesink name=sink signal-handoffs=true "
      "sync=false", megabits * 1000000 / 8 * 30 / 65536, payloader);
  GstElement *pipeline, *source, *sink;
  GstMessage *message;
  GstBus *bus;

  fail_unless (g_file_test (path, G_FILE_TEST_EXISTS),
      "there is no %s: pipelines/clips makes it", path);
  packets->video = (guint64) megabits *1000000 / 8 * 30 / 65536 * 65536;
  packets->sizes = g_array_new (FALSE, FALSE, sizeof (guint32));
  pipeline = gst_parse_launch (line, NULL);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_object_set (source, "location", path, NULL);
  gst_object_unref (source);
  g_free (path);
  g_free (line);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (add_packet), packets);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}

static gdouble
carry (const Packets * packets)
{
  LinkConfig config;
  Link *link;
  guint64 now = 0, last = 0;
  LinkEvent event;
  guint sent = 0, ended = 0;

  link_config_init (&config, LINK_PROFILE_80211B, LINK_QUALITY_IDEAL);
  config.overhead = UDP_IP;
  link = traffic_link_new (&config);
  link_add_flow (link, 0);
  while (ended < packets->sizes->len) {
    LinkPacket packet;

    while (sent < packets->sizes->len && link_has_room (link, 0, 1500))
      link_input (link, now, 0, g_array_index (packets->sizes, guint32,
              sent++), NULL);
    while (link_poll_output (link, &packet));
    while (link_poll_event (link, &event)) {
      if (event.type == LINK_EVENT_FATE) {
        ended++;
        last = event.time;
      }
    }
    now = link_next_wakeup (link);
    if (now != LINK_NEVER)
      link_timeout (link, now);
  }
  link_free (link, NULL);
  return packets->video * 8 / (last / 1e9) / 1e6;
}

static void
expect_throughput (guint megabits, const gchar * payloader, gdouble least,
    gdouble most)
{
  Packets packets;
  gdouble ours;

  pack_clip (megabits, payloader, &packets);
  ours = carry (&packets);
  g_print ("# %u Mbit/s, %s: %.2f Mbit/s\n", megabits, payloader, ours);
  fail_unless (ours >= least && ours <= most);
  g_array_unref (packets.sizes);
}

/* Ouwens 3.6: packets of 50 to 1100 bytes, 4 Mbit/s */
GST_START_TEST (whole_slices_up_to_1100_bytes)
{
  guint megabits;

  for (megabits = 3; megabits <= 6; megabits++)
    expect_throughput (megabits, "rfc2250pay mtu=1116", 4.0, 4.8);
}

GST_END_TEST;

/* 2.8 to 3.9 by bitrate: computed from the clip's slices and the airtimes of
 * the standard */
GST_START_TEST (one_slice_to_a_packet)
{
  const gdouble computed[] = { 2.76, 3.28, 3.65, 3.92 };
  guint i;

  for (i = 0; i < 4; i++)
    expect_throughput (i + 3, "rfc2250pay aggregate-mode=none mtu=1472",
        computed[i] - 0.08, computed[i] + 0.08);
}

GST_END_TEST;

static Suite *
linkclip_suite (void)
{
  Suite *s = suite_create ("linkclip");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, whole_slices_up_to_1100_bytes);
  tcase_add_test (tc, one_slice_to_a_packet);
  return s;
}

GST_CHECK_MAIN (linkclip);
