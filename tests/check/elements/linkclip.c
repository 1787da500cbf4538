/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how much MPEG video an emulated 802.11b link carries in RFC 2250
 * packets. The test has two parts.
 *
 * In the first part, each packet of a clip is sent as soon as the previous
 * packet has passed the link. The experiments with blocking UDP in section 3.6
 * of Ouwens (2006) did the same.
 *
 * In the second part, the frames are sent at the frame rate of the clip over a
 * link that is too slow for the clip. This part is repeated with each kind of
 * queue. The packets come from a real payloader, and the times come from the
 * model of the link.
 */

#include <gst/check/gstcheck.h>

#include "linkload.h"
#include "rtpheader.h"

/* Size in bytes of the UDP and IP headers of a packet. The buffers of the
 * payloader contain the RTP header, but not these headers. */
#define UDP_IP 28
#define FRAME_TIME (40 * LINK_MS)

typedef struct
{
  GArray *sizes;                /* of guint32 */
  GArray *video;                /* of VideoPacket */
  guint64 bytes;                /* of the elementary stream */
} Packets;

static void
add_packet (GstElement * sink, GstBuffer * buffer, GstPad * pad,
    gpointer user_data)
{
  Packets *packets = user_data;
  guint32 size = gst_buffer_get_size (buffer);

  GstMapInfo map;
  VideoPacket video;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless (video_packet_parse_rtp (&video, map.data, map.size, map.size,
          RTP_PAYLOAD_MPV));
  gst_buffer_unmap (buffer, &map);
  g_array_append_val (packets->sizes, size);
  g_array_append_val (packets->video, video);
}

/* Divides the first 30 s of a clip into packets, and stores them in `packets`.
 * The clip has `megabits` Mbit/s. `payloader` is the launch line of the
 * payloader. */
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
  packets->bytes = (guint64) megabits *1000000 / 8 * 30 / 65536 * 65536;
  packets->video = g_array_new (FALSE, FALSE, sizeof (VideoPacket));
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

static void
clear_packets (Packets * packets)
{
  g_array_unref (packets->sizes);
  g_array_unref (packets->video);
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
  link = link_load_link_new (&config);
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
  return packets->bytes * 8 / (last / 1e9) / 1e6;
}

static void
expect_throughput (guint megabits, const gchar * payloader, gdouble min,
    gdouble max)
{
  Packets packets;
  gdouble ours;

  pack_clip (megabits, payloader, &packets);
  ours = carry (&packets);
  g_print ("# %u Mbit/s, %s: %.2f Mbit/s\n", megabits, payloader, ours);
  fail_unless (ours >= min && ours <= max);
  clear_packets (&packets);
}

/* In the measurements of Ouwens (2006, section 3.6), a real radio link carried
 * 4 Mbit/s with packets of 50 to 1100 bytes. The emulated link must reach at
 * least this throughput. */
GST_START_TEST (whole_slices_up_to_1100_bytes)
{
  guint megabits;

  for (megabits = 3; megabits <= 6; megabits++)
    expect_throughput (megabits, "rfc2250pay mtu=1116", 4.0, 4.8);
}

GST_END_TEST;

/* Each packet contains only one slice. The throughput of the link then depends
 * on the size of the slices, and therefore on the bitrate of the clip. The
 * table contains the expected throughput in Mbit/s for each clip. It was
 * computed from the sizes of the slices and the airtimes of IEEE 802.11b. */
GST_START_TEST (one_slice_to_a_packet)
{
  const gdouble computed[] = { 2.76, 3.28, 3.65, 3.92 };
  guint i;

  for (i = 0; i < 4; i++)
    expect_throughput (i + 3, "rfc2250pay aggregate-mode=none mtu=1472",
        computed[i] - 0.08, computed[i] + 0.08);
}

GST_END_TEST;

/* In all following tests, the frames arrive at the link at the frame rate of
 * the film. */

typedef struct
{
  MpegVideoPictureType type;
  gboolean closed_gop;
  guint packets, arrived;
  gboolean decodable;
} Frame;

typedef struct
{
  guint frames[MPEG_VIDEO_PICTURE_LAST], whole[MPEG_VIDEO_PICTURE_LAST];
  guint n_frames, n_decodable;
  /* The maximum time in ns for which a packet stayed in the link, from its
   * arrival to its departure. */
  guint64 max_delay;
  LinkFlowStats stats;
} Film;

/* The times at which the packets of a frame arrive at the link.
 * - PACE_BURST: all packets arrive at the same time, as a payloader outputs
 *   them.
 * - PACE_SPREAD: the packets are evenly spread over the duration of the frame,
 *   as a server on a network sends them. */
typedef enum
{
  PACE_BURST,
  PACE_SPREAD
} Pace;

static GArray *
find_frames (const Packets * packets)
{
  GArray *frames = g_array_new (FALSE, TRUE, sizeof (Frame));
  Frame frame = { 0, };
  guint i;

  for (i = 0; i < packets->video->len; i++) {
    VideoPacket *video = &g_array_index (packets->video, VideoPacket, i);

    if (frame.packets++ == 0)
      frame.type = video->type;
    frame.closed_gop |= video->closed_gop;
    if (video->ends) {
      g_array_append_val (frames, frame);
      memset (&frame, 0, sizeof (frame));
    }
  }
  return frames;
}

static void
note_outputs (Link * link, GArray * frames, Film * film)
{
  LinkPacket packet;

  while (link_poll_output (link, &packet)) {
    g_array_index (frames, Frame, GPOINTER_TO_UINT (packet.user)).arrived++;
    film->max_delay = MAX (film->max_delay, packet.departure - packet.arrival);
  }
  link_load_drop_events (link);
}

static void
send_film (Link * link, const Packets * packets, GArray * frames, Pace pace,
    Film * film)
{
  guint n, i, sent = 0;

  for (n = 0; n < frames->len; n++) {
    const Frame *frame = &g_array_index (frames, Frame, n);

    for (i = 0; i < frame->packets; i++, sent++) {
      guint64 now = n * FRAME_TIME + (pace == PACE_SPREAD ?
          i * FRAME_TIME / frame->packets : 0);

      link_input_video (link, now, 0, g_array_index (packets->sizes, guint32,
              sent), &g_array_index (packets->video, VideoPacket, sent),
          GUINT_TO_POINTER (n));
      note_outputs (link, frames, film);
    }
  }
  while (link_next_wakeup (link) != LINK_NEVER) {
    link_timeout (link, link_next_wakeup (link));
    note_outputs (link, frames, film);
  }
}

/* Counts in `film` the frames that can be decoded. A frame can be decoded if
 * all its packets have arrived and all frames to which it refers can be
 * decoded. */
static void
judge (GArray * frames, Film * film)
{
  gboolean forward = FALSE, backward = FALSE, spared = FALSE;
  guint i;

  for (i = 0; i < frames->len; i++) {
    Frame *frame = &g_array_index (frames, Frame, i);
    gboolean whole = frame->arrived == frame->packets;

    if (frame->type == MPEG_VIDEO_PICTURE_B) {
      frame->decodable = whole && backward && (forward || spared);
    } else {
      forward = backward;
      spared = frame->closed_gop;
      backward = frame->decodable = whole && (backward
          || frame->type == MPEG_VIDEO_PICTURE_I);
    }
    film->frames[frame->type]++;
    film->whole[frame->type] += whole;
    film->n_decodable += frame->decodable;
  }
  film->n_frames = frames->len;
}

static Film
show_film (const Packets * packets, LinkProfile profile, Pace pace,
    LinkQueueConfig queue)
{
  GArray *frames = find_frames (packets);
  Film film = { {0,}, };
  LinkConfig config;
  Link *link;

  link_config_init (&config, profile, LINK_QUALITY_IDEAL);
  config.overhead = UDP_IP;
  config.pipe.rate[0] = 5000000;
  config.queue = queue;
  link = link_load_link_new (&config);
  link_add_flow (link, 0);
  send_film (link, packets, frames, pace, &film);
  judge (frames, &film);
  link_get_flow_stats (link, 0, &film.stats);
  link_free (link, NULL);
  g_array_unref (frames);
  return film;
}

static gdouble
percent (guint part, guint whole)
{
  return 100.0 * part / whole;
}

static void
print_film (const gchar * queue, const Film * film)
{
  g_print ("#   %-10s whole I %5.1f P %5.1f B %5.1f %%, decodable %4.1f %%, "
      "longest %u ms\n", queue, percent (film->whole[1], film->frames[1]),
      percent (film->whole[2], film->frames[2]),
      percent (film->whole[3], film->frames[3]),
      percent (film->n_decodable, film->n_frames),
      (guint) (film->max_delay / LINK_MS));
}

static guint
count_whole (const Film * film)
{
  return film->whole[1] + film->whole[2] + film->whole[3];
}

static void
expect_no_reference_lost (const Film * film)
{
  fail_unless_equals_int (film->whole[1], film->frames[1]);
  fail_unless_equals_int (film->whole[2], film->frames[2]);
}

/* Sends the same packets through links with different queues. The queue
 * drop-frame must deliver more complete frames than the queue drop-tail. The
 * queue ifd drops frames as I-Frame Delay does, B-frames first. It must deliver
 * all I- and P-frames. `limit` is the maximum number of packets in a queue. The
 * queue ifd does not apply this limit to video. */
static void
compare_queues (const Packets * packets, LinkProfile profile, Pace pace,
    guint limit)
{
  const IfdConfig one = { IFD_ALGORITHM_PAPER, 1 };
  const IfdConfig three = { IFD_ALGORITHM_GOP, 3 };
  const LinkQueueConfig drop_tail = { LINK_QUEUE_DROP_TAIL, limit, 0, 0, one };
  const LinkQueueConfig drop_frame = { LINK_QUEUE_DROP_FRAME, limit, 0, 0,
    one
  };
  const LinkQueueConfig ifd_paper = { LINK_QUEUE_IFD, limit, 0, 0, one };
  const LinkQueueConfig ifd_gop = { LINK_QUEUE_IFD, limit, 0, 0, three };
  Film tail = show_film (packets, profile, pace, drop_tail);
  Film frame = show_film (packets, profile, pace, drop_frame);
  Film paper = show_film (packets, profile, pace, ifd_paper);
  Film gop = show_film (packets, profile, pace, ifd_gop);

  g_print ("# %s, packets come %s, queue of %u\n",
      profile == LINK_PROFILE_80211B ? "802.11b" : "5 Mbit/s",
      pace == PACE_BURST ? "at once" : "spread", limit);
  print_film ("drop-tail", &tail);
  print_film ("drop-frame", &frame);
  print_film ("ifd, paper", &paper);
  print_film ("ifd, gop", &gop);
  fail_unless (count_whole (&tail) < count_whole (&frame));
  fail_unless (tail.n_decodable <= frame.n_decodable);
  fail_unless (frame.n_decodable < paper.n_decodable);
  fail_unless (paper.n_decodable < gop.n_decodable);
  expect_no_reference_lost (&paper);
  expect_no_reference_lost (&gop);
}

static void
compare_paces (const Packets * packets, LinkProfile profile)
{
  compare_queues (packets, profile, PACE_BURST, 40);
  compare_queues (packets, profile, PACE_SPREAD, 40);
  compare_queues (packets, profile, PACE_BURST, 100);
  compare_queues (packets, profile, PACE_SPREAD, 100);
}

GST_START_TEST (ifd_loses_no_i_frame_where_others_lose_most)
{
  Packets packets;

  pack_clip (6, "rfc2250pay", &packets);
  compare_paces (&packets, LINK_PROFILE_CUSTOM);
  compare_paces (&packets, LINK_PROFILE_80211B);
  clear_packets (&packets);
}

GST_END_TEST;

/* The link is fast enough for the clip. None of the tested queues may therefore
 * lose a frame. They have room for more than 3 waiting frames. With room for
 * only 3 frames, one of the 746 frames would be lost: a B-frame that arrives
 * while an I-frame is sent, which takes 0.1 s. */
GST_START_TEST (a_fast_link_loses_nothing_with_any_queue)
{
  const LinkQueueDiscipline disciplines[] = { LINK_QUEUE_DROP_TAIL,
    LINK_QUEUE_DROP_FRAME, LINK_QUEUE_IFD
  };
  Packets packets;
  guint i;

  pack_clip (3, "rfc2250pay", &packets);
  for (i = 0; i < G_N_ELEMENTS (disciplines); i++) {
    const LinkQueueConfig queue = { disciplines[i], 100, 0, 0,
      {IFD_ALGORITHM_GOP, 8}
    };
    Film film = show_film (&packets, LINK_PROFILE_CUSTOM, PACE_SPREAD, queue);

    fail_unless_equals_int (count_whole (&film), film.n_frames);
    fail_unless_equals_int (film.n_decodable, film.n_frames);
    fail_unless_equals_uint64 (film.stats.fates[LINK_FATE_DELIVERED],
        film.stats.offered);
  }
  clear_packets (&packets);
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
  tcase_add_test (tc, ifd_loses_no_i_frame_where_others_lose_most);
  tcase_add_test (tc, a_fast_link_loses_nothing_with_any_queue);
  return s;
}

GST_CHECK_MAIN (linkclip);
