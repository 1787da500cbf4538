/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the property `queue` of the element wirelesslink, which selects what a
 * full queue drops: single packets or whole video frames. For frames, the
 * element must recognize video packets by their caps and bytes. A frame of
 * which packets are missing must not delay EOS, a query or a flush. The link
 * carries 1 Mbit/s, so a packet of 125 bytes needs 1 ms.
 */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>

#include "gstframeinfometa.h"

#define RTP_CAPS "application/x-rtp,media=video,encoding-name=MPV,payload=96,"\
  "clock-rate=90000"
#define SIZE 125
#define MS GST_MSECOND

/* --- helpers -------------------------------------------------------------- */

/* State of a simulated RTP sender: the values for its next packet. `timestamp`
 * is the RTP timestamp. `time` is the PTS and the DTS of the buffer. */
typedef struct
{
  guint32 ssrc;
  guint32 timestamp;
  guint16 sequence;
  GstClockTime time;
} Sender;

static GstHarness *
start (const gchar * properties, const gchar * caps)
{
  gchar *line = g_strdup_printf ("wirelesslink name=link rate=1000000 %s",
      properties);
  GstElement *element = gst_parse_launch (line, NULL);
  GstPad *pad = gst_element_request_pad_simple (element, "sink_0");
  GstHarness *h = gst_harness_new_with_element (element, "sink_0", "src_0");

  g_free (line);
  gst_object_unref (pad);
  gst_object_unref (element);
  gst_harness_use_testclock (h);
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_harness_play (h);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

/* Makes an RTP packet of MPEG video (RFC 2250). `type` is the picture type in
 * its video-specific header, or 0 if this header contains no type. `letter`
 * becomes the last byte, by which the tests recognize the packet. */
static GstBuffer *
make_packet (Sender * sender, guint type, gboolean begins, gboolean ends,
    gchar letter)
{
  const guint8 picture[] = { 0, 0, 1, 0, 0, type << 3, 0xff, 0xf8, 0 };
  guint8 bytes[SIZE] = { 0x80, 96 | ends << 7, sender->sequence >> 8,
    sender->sequence & 255, 0, 0, 0, 0, 0, 0, 0, sender->ssrc
  };
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, SIZE, NULL);

  GST_WRITE_UINT32_BE (bytes + 4, sender->timestamp);
  bytes[14] = type;
  if (begins)
    memcpy (bytes + 16, picture, sizeof (picture));
  bytes[SIZE - 1] = letter;
  gst_buffer_fill (buffer, 0, bytes, SIZE);
  GST_BUFFER_DTS (buffer) = GST_BUFFER_PTS (buffer) = sender->time;
  sender->sequence++;
  return buffer;
}

static void
push_packet (GstHarness * h, Sender * sender, gchar type, gboolean begins,
    gboolean ends, gchar letter)
{
  const gchar *types = "0IPB";

  fail_unless_equals_int (gst_harness_push (h, make_packet (sender,
              strchr (types, type) - types, begins, ends, letter)),
      GST_FLOW_OK);
}

static void
push_frame (GstHarness * h, Sender * sender, gchar type, const gchar * letters)
{
  const gchar *letter;

  sender->timestamp += 3600;
  for (letter = letters; *letter; letter++)
    push_packet (h, sender, type, letter == letters, !letter[1], *letter);
}

static void
push_other (GstHarness * h, GstClockTime time, gchar letter)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, SIZE, NULL);

  gst_buffer_memset (buffer, 0, letter, SIZE);
  GST_BUFFER_DTS (buffer) = GST_BUFFER_PTS (buffer) = time;
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

static void
expect_pulled (GstHarness * h, const gchar * letters)
{
  for (; *letters; letters++) {
    GstBuffer *buffer = gst_harness_pull (h);
    gchar letter = 0;

    fail_unless (buffer != NULL);
    gst_buffer_extract (buffer, gst_buffer_get_size (buffer) - 1, &letter, 1);
    fail_unless (letter == *letters, "%c instead of %c", letter, *letters);
    gst_buffer_unref (buffer);
  }
}

static void
wait_for_eos (GstHarness * h)
{
  GstEvent *event;

  while ((event = gst_harness_pull_event (h))) {
    gboolean eos = GST_EVENT_TYPE (event) == GST_EVENT_EOS;

    gst_event_unref (event);
    if (eos)
      return;
  }
  fail ("no EOS");
}

static guint64
get_stat (GstHarness * h, const gchar * of, const gchar * name)
{
  GstStructure *stats;
  const GstStructure *structure;
  guint64 value = 0;

  g_object_get (h->element, "stats", &stats, NULL);
  structure = stats;
  if (of)
    structure = gst_value_get_structure (gst_structure_get_value (stats, of));
  fail_unless (gst_structure_get_uint64 (structure, name, &value), "no %s",
      name);
  gst_structure_free (stats);
  return value;
}

static GstClockTime
read_clock (GstHarness * h)
{
  GstTestClock *clock = gst_harness_get_testclock (h);
  GstClockTime time = gst_clock_get_time (GST_CLOCK (clock));

  gst_object_unref (clock);
  return time;
}

/* Advances the test clock until it shows `time`. In each step, the clock is set
 * to the next time for which the element waits. */
static void
crank_to (GstHarness * h, GstClockTime time)
{
  while (read_clock (h) < time)
    fail_unless (gst_harness_crank_single_clock_wait (h));
  fail_unless_equals_uint64 (read_clock (h), time);
}

/* --- dropped packets ------------------------------------------------------ */

GST_START_TEST (drop_tail_is_the_default)
{
  GstElement *element = gst_element_factory_make ("wirelesslink", NULL);
  gint queue, algorithm;
  guint max_frames;

  g_object_get (element, "queue", &queue, "ifd-algorithm", &algorithm,
      "ifd-max-frames", &max_frames, NULL);
  fail_unless_equals_int (queue, 0);
  fail_unless_equals_int (algorithm, 2);
  fail_unless_equals_int (max_frames, 3);
  gst_object_unref (element);
}

GST_END_TEST;

GST_START_TEST (drop_frame_loses_frames_whole)
{
  GstHarness *h = start ("mode=timestamp queue=drop-frame txqueuelen=3",
      RTP_CAPS);
  Sender sender = { 1, 0, 0, 0 };

  push_frame (h, &sender, 'I', "abcdef");
  push_frame (h, &sender, 'B', "gh");
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_pulled (h, "agh");
  wait_for_eos (h);
  fail_unless_equals_uint64 (get_stat (h, NULL, "lost-queue"), 1);
  fail_unless_equals_uint64 (get_stat (h, "flow-0", "lost-frame"), 4);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (ifd_chooses_among_frames)
{
  GstHarness *h = start ("mode=timestamp queue=ifd ifd-algorithm=paper "
      "txqueuelen=1", RTP_CAPS);
  Sender sender = { 1, 0, 0, 0 };

  push_frame (h, &sender, 'I', "abcdef");
  push_frame (h, &sender, 'B', "ghij");
  push_frame (h, &sender, 'P', "klmn");
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_pulled (h, "abcdefklmn");
  wait_for_eos (h);
  fail_unless_equals_uint64 (get_stat (h, NULL, "lost-frame"), 4);
  fail_unless_equals_uint64 (get_stat (h, NULL, "lost-queue"), 0);
  fail_unless_equals_uint64 (get_stat (h, NULL, "queued"), 14);
  fail_unless_equals_uint64 (get_stat (h, "ifd", "frames-in"), 3);
  fail_unless_equals_uint64 (get_stat (h, "ifd", "sent-p"), 1);
  fail_unless_equals_uint64 (get_stat (h, "ifd", "dropped-b"), 1);
  fail_unless_equals_uint64 (get_stat (h, "ifd", "dropped-overwritten"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (ifd_has_statistics_of_its_own)
{
  const gchar *const lines[] = { "queue=drop-tail", "queue=ifd" };
  GstStructure *stats;
  guint i;

  for (i = 0; i < 2; i++) {
    GstHarness *h = start (lines[i], RTP_CAPS);

    g_object_get (h->element, "stats", &stats, NULL);
    fail_unless_equals_int (gst_structure_has_field (stats, "ifd"), i);
    gst_structure_free (stats);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* With queue=ifd, the element wirelesslink collects video packets into frames
 * and chooses among the frames. All other packets must leave in their order of
 * arrival, and must keep their places between the video packets. */
GST_START_TEST (packets_that_are_no_video_pass)
{
  GstHarness *h = start ("mode=timestamp queue=ifd", RTP_CAPS);
  Sender sender = { 1, 0, 0, 0 };

  push_other (h, 0, 'u');
  push_other (h, 0, 'v');
  sender.time = 1 * MS;
  push_frame (h, &sender, 'I', "abc");
  push_other (h, 1 * MS + 1, 'w');
  sender.time = 2 * MS;
  push_frame (h, &sender, 'P', "de");
  push_other (h, 3 * MS, 'x');
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_pulled (h, "uvabcwdex");
  wait_for_eos (h);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (streams_of_one_flow_have_a_choice_each)
{
  GstHarness *h = start ("mode=timestamp queue=ifd ifd-algorithm=paper",
      RTP_CAPS);
  Sender one = { 1, 0, 0, 0 }, two = { 2, 0, 0, 1 };

  push_frame (h, &one, 'I', "abc");
  push_frame (h, &two, 'I', "def");
  push_frame (h, &one, 'P', "gh");
  push_frame (h, &two, 'B', "ij");
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_pulled (h, "abcdefgh");
  wait_for_eos (h);
  fail_unless_equals_uint64 (get_stat (h, "ifd", "dropped-no-room"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- recognition of video ------------------------------------------------- */

static void
expect_frames (const gchar * caps, guint64 frames)
{
  GstHarness *h = start ("mode=timestamp queue=ifd", caps);
  Sender sender = { 1, 0, 0, 0 };

  push_frame (h, &sender, 'I', "abc");
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_pulled (h, "abc");
  wait_for_eos (h);
  fail_unless_equals_uint64 (get_stat (h, "ifd", "frames-in"), frames);
  gst_harness_teardown (h);
}

GST_START_TEST (caps_say_what_rtp_carries)
{
  expect_frames (RTP_CAPS, 1);
  expect_frames ("application/x-rtp,media=video,encoding-name=H264,payload=96",
      0);
  expect_frames ("application/x-rtp,media=video,payload=32", 1);
  expect_frames ("application/x-rtp", 0);
  expect_frames ("application/x-test", 0);
}

GST_END_TEST;

/* Returns an IP packet that contains the RTP packet `rtp`, after an IPv4 header
 * of 20 bytes and a UDP header of 8 bytes. The payload type of the RTP packet
 * is set to 32. Takes ownership of `rtp`. */
static GstBuffer *
wrap (GstBuffer * rtp)
{
  guint8 head[28] = { 0x45, 0, 0, 28 + SIZE, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0,
    0, 1, 10, 0, 0, 2, 1, 2, 3, 4, 0, 8 + SIZE
  };
  GstBuffer *buffer = gst_buffer_new_memdup (head, sizeof (head));
  GstMapInfo map;

  gst_buffer_copy_into (buffer, rtp, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  buffer = gst_buffer_append (buffer, rtp);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  map.data[28 + 1] = (map.data[28 + 1] & 0x80) | 32;
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* Packets of a TUN device have caps that say nothing about RTP. The element
 * must recognize the video in them by the RTP payload type 32 (MPEG video). */
GST_START_TEST (video_in_ip_packets_is_found)
{
  GstHarness *h = start ("mode=timestamp queue=ifd ifd-algorithm=paper",
      "application/x-ip");
  Sender sender = { 1, 0, 0, 0 };
  guint i;

  for (i = 0; i < 6; i++) {
    guint type = i / 2 == 0 ? 1 : i / 2 == 1 ? 3 : 2;

    sender.timestamp = i / 2;
    fail_unless_equals_int (gst_harness_push (h, wrap (make_packet (&sender,
                    type, i % 2 == 0, i % 2 == 1, 'a' + i))), GST_FLOW_OK);
  }
  push_other (h, 1, 'x');
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_pulled (h, "abefx");
  wait_for_eos (h);
  fail_unless_equals_uint64 (get_stat (h, "ifd", "dropped-b"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
push_whole_frame (GstHarness * h, guint type, gchar letter)
{
  guint8 bytes[SIZE] = { 0, 0, 1, 0, 0, type << 3, 0xff, 0xf8, 0, };
  GstBuffer *buffer;

  bytes[SIZE - 1] = letter;
  buffer = gst_buffer_new_memdup (bytes, SIZE);
  gst_buffer_add_frame_info_meta (buffer, type, 0, GST_FRAME_INFO_COVERAGE_ALL);
  GST_BUFFER_DTS (buffer) = 0;
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

/* Each buffer contains a whole frame, as mpegstat outputs it. The queue has
 * room for one frame besides the frame that is being sent. An I-frame, a
 * B-frame and a P-frame arrive. The I-frame must be sent. The B-frame waits in
 * the queue until the P-frame arrives, and must then be replaced by the
 * P-frame. */
GST_START_TEST (whole_frames_are_video)
{
  GstHarness *h = start ("mode=timestamp queue=ifd ifd-algorithm=paper",
      "video/mpeg,mpegversion=2,systemstream=false");

  push_whole_frame (h, 1, 'a');
  push_whole_frame (h, 3, 'b');
  push_whole_frame (h, 2, 'c');
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_pulled (h, "ac");
  wait_for_eos (h);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The video-specific header of RFC 2250 usually contains the picture type. If
 * it contains none, the element must read the type from the MPEG picture
 * header, or from the frame info meta of the buffer. */
GST_START_TEST (empty_video_headers_are_made_up_for)
{
  GstHarness *h = start ("mode=timestamp queue=ifd", RTP_CAPS);
  Sender sender = { 1, 0, 0, 0 };
  GstBuffer *buffer = make_packet (&sender, 1, TRUE, FALSE, 'a');

  gst_buffer_memset (buffer, 14, 0, 1);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  push_packet (h, &sender, '0', FALSE, TRUE, 'b');
  sender.timestamp++;
  buffer = make_packet (&sender, 0, FALSE, TRUE, 'c');
  gst_buffer_add_frame_info_meta (buffer, 2, 1, GST_FRAME_INFO_COVERAGE_ALL);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_pulled (h, "abc");
  wait_for_eos (h);
  fail_unless_equals_uint64 (get_stat (h, "ifd", "frames-in-i"), 1);
  fail_unless_equals_uint64 (get_stat (h, "ifd", "frames-in-p"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- incomplete frames ---------------------------------------------------- */

/* EOS arrives while a frame is incomplete. The test does not advance the clock,
 * so the element cannot wait for the rest of the frame. It must drop the frame
 * and output EOS at once. */
GST_START_TEST (eos_does_not_wait_for_the_rest_of_a_frame)
{
  const gchar *const lines[] = { "queue=ifd", "queue=ifd mode=timestamp" };
  guint i;

  for (i = 0; i < 2; i++) {
    GstHarness *h = start (lines[i], RTP_CAPS);
    Sender sender = { 1, 0, 0, 0 };

    push_packet (h, &sender, 'I', TRUE, FALSE, 'a');
    push_packet (h, &sender, 'I', FALSE, FALSE, 'b');
    gst_harness_push_event (h, gst_event_new_eos ());
    wait_for_eos (h);
    fail_unless_equals_uint64 (get_stat (h, NULL, "lost-frame"), 2);
    fail_unless_equals_uint64 (get_stat (h, NULL, "in-flight"), 0);
    fail_unless_equals_uint64 (get_stat (h, "ifd", "dropped-incomplete"), 1);
    fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Complete frames are sent before EOS. */
GST_START_TEST (eos_waits_for_whole_frames)
{
  GstHarness *h = start ("queue=ifd", RTP_CAPS);
  Sender sender = { 1, 0, 0, 0 };

  push_frame (h, &sender, 'I', "abc");
  push_frame (h, &sender, 'P', "de");
  sender.timestamp++;
  push_packet (h, &sender, 'B', TRUE, FALSE, 'f');
  gst_harness_push_event (h, gst_event_new_eos ());
  crank_to (h, 5 * MS);
  expect_pulled (h, "abcde");
  wait_for_eos (h);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_query_does_not_wait_for_the_rest_of_a_frame)
{
  GstHarness *h = start ("queue=ifd", RTP_CAPS);
  Sender sender = { 1, 0, 0, 0 };
  GstQuery *query = gst_query_new_drain ();

  push_packet (h, &sender, 'I', TRUE, FALSE, 'a');
  gst_pad_peer_query (h->srcpad, query);
  gst_query_unref (query);
  fail_unless_equals_uint64 (get_stat (h, NULL, "lost-frame"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* A custom event arrives while a frame is incomplete. The element waits for the
 * rest of the frame before it outputs the event. If nothing arrives, it must
 * stop waiting after one second. */
GST_START_TEST (silence_ends_a_frame)
{
  GstHarness *h = start ("queue=ifd", RTP_CAPS);
  Sender sender = { 1, 0, 0, 0 };

  push_packet (h, &sender, 'I', TRUE, FALSE, 'a');
  gst_harness_push_event (h, gst_event_new_custom
      (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("test")));
  crank_to (h, GST_SECOND);
  while (TRUE) {
    GstEvent *event = gst_harness_pull_event (h);
    GstEventType type;

    fail_unless (event != NULL);
    type = GST_EVENT_TYPE (event);
    gst_event_unref (event);
    if (type == GST_EVENT_CUSTOM_DOWNSTREAM)
      break;
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_flush_forgets_the_frame)
{
  const gchar *const lines[] = { "queue=ifd", "queue=ifd mode=timestamp" };
  guint i;

  for (i = 0; i < 2; i++) {
    GstHarness *h = start (lines[i], RTP_CAPS);
    Sender sender = { 1, 0, 0, 0 };
    GstSegment segment;

    push_packet (h, &sender, 'I', TRUE, FALSE, 'a');
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    push_frame (h, &sender, 'I', "bc");
    gst_harness_push_event (h, gst_event_new_eos ());
    if (i == 0)
      crank_to (h, 2 * MS);
    expect_pulled (h, "bc");
    wait_for_eos (h);
    fail_unless_equals_uint64 (get_stat (h, NULL, "lost-frame"), 1);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* With blocking=true, a full queue blocks the thread that sends packets. This
 * must not happen to video if queue=ifd: the queue must drop frames instead.
 * Only senders of other packets are blocked. */
GST_START_TEST (blocking_does_not_hold_up_video)
{
  GstHarness *h = start ("queue=ifd ifd-algorithm=paper blocking=true "
      "txqueuelen=1", RTP_CAPS);
  Sender sender = { 1, 0, 0, 0 };

  push_frame (h, &sender, 'I', "abc");
  push_frame (h, &sender, 'P', "def");
  push_frame (h, &sender, 'B', "ghi");
  push_frame (h, &sender, 'B', "jkl");
  crank_to (h, 6 * MS);
  expect_pulled (h, "abcdef");
  fail_unless_equals_uint64 (get_stat (h, NULL, "lost-frame"), 6);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
wirelesslinkqueue_suite (void)
{
  Suite *s = suite_create ("wirelesslinkqueue");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, drop_tail_is_the_default);
  tcase_add_test (tc, drop_frame_loses_frames_whole);
  tcase_add_test (tc, ifd_chooses_among_frames);
  tcase_add_test (tc, ifd_has_statistics_of_its_own);
  tcase_add_test (tc, packets_that_are_no_video_pass);
  tcase_add_test (tc, streams_of_one_flow_have_a_choice_each);
  tcase_add_test (tc, caps_say_what_rtp_carries);
  tcase_add_test (tc, video_in_ip_packets_is_found);
  tcase_add_test (tc, whole_frames_are_video);
  tcase_add_test (tc, empty_video_headers_are_made_up_for);
  tcase_add_test (tc, eos_does_not_wait_for_the_rest_of_a_frame);
  tcase_add_test (tc, eos_waits_for_whole_frames);
  tcase_add_test (tc, a_query_does_not_wait_for_the_rest_of_a_frame);
  tcase_add_test (tc, silence_ends_a_frame);
  tcase_add_test (tc, a_flush_forgets_the_frame);
  tcase_add_test (tc, blocking_does_not_hold_up_video);
  return s;
}

GST_CHECK_MAIN (wirelesslinkqueue);
