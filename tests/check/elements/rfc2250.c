/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the elements rfc2250pay and rfc2250depay: caps, times, flags, metas,
 * events, errors and statistics. Other tests check the contents of the
 * payloads: the tests of the cores, and the interop suite.
 */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/rtp/gstrtpbuffer.h>
#include <string.h>

#include "gstframeinfometa.h"
#include "packetbuilder.h"
#include "overwritingpool.h"

#define PLAN "|c I0 P3 B1 B2 | I2 B0 B1 P5 B3 B4"
#define N_FRAMES 10
#define RTP_AND_VIDEO_HEADER_SIZE (12 + 4)

/* --- rfc2250pay ----------------------------------------------------------- */

static const gchar types[] = "IPBBIBBPBB";
static const guint pts_ms[] = { 40, 160, 80, 120, 280, 200, 240, 400, 320,
  360
};

static void
check_packet (GstBuffer * packet, guint frame)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstFrameInfoMeta *info = gst_buffer_get_frame_info_meta (packet);
  gchar type = types[frame];

  fail_unless_equals_uint64 (GST_BUFFER_PTS (packet),
      pts_ms[frame] * GST_MSECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (packet), frame * 40 * GST_MSECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (packet), 40 * GST_MSECOND);
  fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (packet,
          GST_BUFFER_FLAG_DELTA_UNIT), type != 'I');
  fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (packet,
          GST_BUFFER_FLAG_DROPPABLE), type == 'B');
  fail_unless (GST_BUFFER_FLAG_IS_SET (packet, GST_BUFFER_FLAG_MARKER));
  fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (packet,
          GST_BUFFER_FLAG_DISCONT), frame == 0);
  fail_unless (info != NULL);
  fail_unless_equals_int (info->picture_type,
      type == 'I' ? 1 : type == 'P' ? 2 : 3);
  /* The coverage in the frame info meta is the number of bytes at the start of
   * the payload that must arrive intact. These bytes are the headers before the
   * first slice. Their sizes are:
   * - RFC 2250 video-specific header: 4 bytes
   * - in an I-frame: sequence header (22 bytes), GOP header (8 bytes), picture
   *   header (8 bytes)
   * - in another frame: picture header (9 bytes, because it has additional
   *   fields for motion vectors)
   * - picture coding extension: 9 bytes
   */
  fail_unless_equals_int (info->coverage,
      4 + (type == 'I' ? 22 + 8 + 8 : 9) + 9);

  fail_unless (gst_rtp_buffer_map (packet, GST_MAP_READ, &rtp));
  fail_unless_equals_int (gst_rtp_buffer_get_payload_type (&rtp), 32);
  fail_unless (gst_rtp_buffer_get_marker (&rtp));
  fail_unless_equals_int (gst_rtp_buffer_get_timestamp (&rtp),
      pts_ms[frame] * 90);
  gst_rtp_buffer_unmap (&rtp);
}

static void
check_pay_output (GstHarness * h)
{
  guint i;

  for (i = 0; i < N_FRAMES; i++) {
    GstBuffer *packet = gst_harness_try_pull (h);

    fail_unless (packet != NULL);
    check_packet (packet, i);
    gst_buffer_unref (packet);
  }
  fail_unless (gst_harness_try_pull (h) == NULL);
}

GST_START_TEST (pay_parsed_frames_leave_at_once)
{
  GstHarness *h = gst_harness_new_parse ("rfc2250pay timestamp-offset=0");
  GPtrArray *frames = mpeg_make_frames (PLAN, FALSE);
  guint i;

  gst_harness_set_src_caps_str (h, RAW_CAPS ",parsed=true");
  for (i = 0; i < frames->len; i++) {
    fail_unless_equals_int (gst_harness_push (h,
            gst_buffer_ref (frames->pdata[i])), GST_FLOW_OK);
    fail_unless_equals_int (gst_harness_buffers_received (h), i + 1);
  }
  check_pay_output (h);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250pay", "frames"), 10);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250pay", "pictures-b"), 6);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250pay", "packets"), 10);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250pay", "slices"), 20);
  g_ptr_array_unref (frames);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* rfc2250pay gets the video as filesrc sends it: without caps, with a segment
 * in bytes, and with a PTS of 0 on the first buffer. The packets must be the
 * same as for parsed frames with timestamps. */
GST_START_TEST (pay_raw_bytes_without_caps)
{
  GstHarness *h = gst_harness_new_parse ("rfc2250pay timestamp-offset=0");
  GPtrArray *frames = mpeg_make_frames (PLAN, FALSE);
  GstSegment segment;
  guint i, k;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (h, gst_event_new_stream_start ("file"));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (i = 0; i < frames->len; i++) {
    gsize size = gst_buffer_get_size (frames->pdata[i]);

    for (k = 0; k < size; k += 13) {
      GstBuffer *piece = gst_buffer_copy_region (frames->pdata[i],
          GST_BUFFER_COPY_MEMORY, k, MIN (13, size - k));

      if (i == 0 && k == 0)
        GST_BUFFER_PTS (piece) = GST_BUFFER_DTS (piece) = 0;
      fail_unless_equals_int (gst_harness_push (h, piece), GST_FLOW_OK);
    }
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  check_pay_output (h);
  g_ptr_array_unref (frames);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (pay_caps_are_those_of_rfc_3551)
{
  GstHarness *h = gst_harness_new ("rfc2250pay");
  GPtrArray *frames = mpeg_make_frames (PLAN, FALSE);
  GstCaps *caps, *expected = gst_caps_from_string (RTP_CAPS);

  gst_harness_set_src_caps_str (h, RAW_CAPS ",parsed=true");
  gst_harness_push (h, gst_buffer_ref (frames->pdata[0]));
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_caps_is_subset (caps, expected));
  gst_caps_unref (caps);
  gst_caps_unref (expected);
  g_ptr_array_unref (frames);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Each packet must be in a single memory. An element that maps a packet, such
 * as a sink, would have to merge several memories first, which costs time. */
GST_START_TEST (pay_packet_is_one_memory)
{
  GstHarness *h = gst_harness_new_parse ("rfc2250pay mtu=400");
  GstBuffer *frame, *packet;
  MpegPicture p = {.type = 'I',.rows = 20,.slice_size = 200 };
  MpegStream stream;
  gsize seen = 0, size;

  mpeg_stream_init (&stream);
  mpeg_picture (&stream, &p);
  frame = mpeg_wrap (stream.bytes->data, stream.bytes->len);
  gst_harness_set_src_caps_str (h, RAW_CAPS ",parsed=true");
  gst_harness_push (h, gst_buffer_ref (frame));
  /* rfc2250pay must copy the data of the frame. Neither the element nor a
   * packet may hold a reference to the buffer of the frame any more. */
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (frame), 1);
  while ((packet = gst_harness_try_pull (h))) {
    fail_unless_equals_int (gst_buffer_n_memory (packet), 1);
    size = gst_buffer_get_size (packet) - RTP_AND_VIDEO_HEADER_SIZE;
    fail_unless (seen + size <= stream.bytes->len);
    fail_unless (gst_buffer_memcmp (packet, RTP_AND_VIDEO_HEADER_SIZE,
            stream.bytes->data + seen, size) == 0);
    seen += size;
    gst_buffer_unref (packet);
  }
  fail_unless_equals_int (seen, stream.bytes->len);
  gst_buffer_unref (frame);
  mpeg_stream_clear (&stream);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* rfc2250pay puts several packets into one block of memory. The block must
 * exist as long as one of these packets exists, even after the element was
 * freed. */
GST_START_TEST (pay_packets_outlive_the_element)
{
  GPtrArray *frames = mpeg_make_frames (PLAN, FALSE);
  GPtrArray *parts = g_ptr_array_new ();
  GPtrArray *copies = g_ptr_array_new ();
  GstHarness *h = gst_harness_new_parse ("rfc2250pay mtu=300");
  GstBuffer *packet, *part, *copy;
  GstMapInfo map;
  guint i;

  gst_harness_set_src_caps_str (h, RAW_CAPS ",parsed=true");
  for (i = 0; i < frames->len; i++)
    gst_harness_push (h, gst_buffer_ref (frames->pdata[i]));
  while ((packet = gst_harness_try_pull (h))) {
    g_ptr_array_add (copies, gst_buffer_copy_deep (packet));
    g_ptr_array_add (parts, gst_buffer_copy_region (packet,
            GST_BUFFER_COPY_MEMORY, 1, gst_buffer_get_size (packet) - 1));
    gst_buffer_unref (packet);
  }
  gst_harness_teardown (h);
  g_ptr_array_unref (frames);

  fail_unless (parts->len >= N_FRAMES);
  for (i = 0; i < parts->len; i++) {
    part = parts->pdata[i];
    copy = copies->pdata[i];
    fail_unless (gst_buffer_map (copy, &map, GST_MAP_READ));
    fail_unless_equals_int (gst_buffer_get_size (part), map.size - 1);
    fail_unless (gst_buffer_memcmp (part, 0, map.data + 1, map.size - 1) == 0);
    gst_buffer_unmap (copy, &map);
    gst_buffer_unref (part);
    gst_buffer_unref (copy);
  }
  g_ptr_array_unref (parts);
  g_ptr_array_unref (copies);
}

GST_END_TEST;

#define FIXED_NUMBERS " ssrc=1 seqnum-offset=0 timestamp-offset=0"

GST_START_TEST (pay_keeps_pools_from_overwriting_what_is_queued)
{
  GPtrArray *frames = mpeg_make_frames (PLAN, FALSE);

  pooled_compare_launch ("rfc2250pay" FIXED_NUMBERS, RAW_CAPS ",parsed=true",
      frames);
  pooled_compare_launch ("rfc2250pay" FIXED_NUMBERS, RAW_CAPS, frames);
  g_ptr_array_unref (frames);
}

GST_END_TEST;

GST_START_TEST (depay_keeps_pools_from_overwriting_what_is_pending)
{
  GPtrArray *packets = mpeg_make_packets (PLAN, "rfc2250pay mtu=300");

  pooled_compare_launch ("rfc2250depay", RTP_CAPS, packets);
  g_ptr_array_unref (packets);
}

GST_END_TEST;

static GstMessage *
pop_message (GstBus * bus, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered (bus, type);

  fail_unless (message != NULL);
  return message;
}

/* RFC 2250, section 3.1: the largest header of the video must fit into one
 * packet, even if the packet also contains the MPEG-2 extension. If the MTU is
 * too small for this, rfc2250pay must post an error and must not start. */
GST_START_TEST (pay_too_small_mtu_is_an_error)
{
  const struct
  {
    guint mtu;
    gboolean extension, good;
  } cases[] = {
    {276, FALSE, FALSE}, {277, FALSE, TRUE}, {284, TRUE, FALSE},
    {285, TRUE, TRUE}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *pay = gst_element_factory_make ("rfc2250pay", NULL);
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (pay, bus);
    g_object_set (pay, "mtu", cases[i].mtu, "mpeg2-extension",
        cases[i].extension, NULL);
    fail_unless_equals_int (gst_element_set_state (pay, GST_STATE_PAUSED),
        cases[i].good ? GST_STATE_CHANGE_SUCCESS : GST_STATE_CHANGE_FAILURE);
    if (!cases[i].good) {
      GstMessage *message = pop_message (bus, GST_MESSAGE_ERROR);
      GError *error;

      gst_message_parse_error (message, &error, NULL);
      fail_unless (g_error_matches (error, GST_LIBRARY_ERROR,
              GST_LIBRARY_ERROR_SETTINGS));
      fail_unless (strstr (error->message, cases[i].extension ? "284" : "276"));
      fail_unless (strstr (error->message, cases[i].extension ? "285" : "277"));
      g_error_free (error);
      gst_message_unref (message);
    }
    gst_element_set_state (pay, GST_STATE_NULL);
    gst_element_set_bus (pay, NULL);
    gst_object_unref (bus);
    gst_object_unref (pay);
  }
}

GST_END_TEST;

static void
check_refused (const guint8 * data, gsize size, const gchar * words)
{
  GstHarness *h = gst_harness_new ("rfc2250pay");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error;
  guint i;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, RAW_CAPS);
  for (i = 0; i < 20; i++) {
    if (gst_harness_push (h, mpeg_wrap (data, size)) != GST_FLOW_OK)
      break;
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  message = pop_message (bus, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_STREAM_ERROR,
          GST_STREAM_ERROR_WRONG_TYPE));
  fail_unless (strstr (error->message, words), "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_START_TEST (pay_what_is_no_video_is_refused_with_words)
{
  const guint8 pack[] = { 0, 0, 1, 0xba, 0x44, 0, 4, 0, 0, 0, 1, 0xe0, 7, 7 };
  const guint8 zeros[100] = { 0 };

  check_refused (pack, sizeof (pack), "mpegpsdemux");
  check_refused (zeros, sizeof (zeros), "No MPEG-1 or MPEG-2 video frame");
}

GST_END_TEST;

GST_START_TEST (pay_oversized_frame_is_one_warning)
{
  GstHarness *h = gst_harness_new_parse ("rfc2250pay max-frame-size=2000");
  GstElement *pay = gst_harness_find_element (h, "rfc2250pay");
  GstBus *bus = gst_bus_new ();
  MpegStream stream;
  guint i;

  gst_element_set_bus (pay, bus);
  gst_harness_set_src_caps_str (h, RAW_CAPS);
  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, "| I0", FALSE, NULL);
  for (i = 0; i < 3; i++) {
    MpegPicture p = {.type = 'P',.slice_size = 3000,.tr = 1 };

    mpeg_picture (&stream, &p);
    mpeg_stream_add (&stream, "P2", FALSE, NULL);
  }
  for (i = 0; i < stream.bytes->len; i += 500)
    fail_unless_equals_int (gst_harness_push (h,
            mpeg_wrap (stream.bytes->data + i,
                MIN (500, stream.bytes->len - i))), GST_FLOW_OK);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_received (h), 4);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250pay", "too-big"), 3);
  gst_message_unref (pop_message (bus, GST_MESSAGE_WARNING));
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  gst_element_set_bus (pay, NULL);
  gst_object_unref (bus);
  gst_object_unref (pay);
  mpeg_stream_clear (&stream);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (pay_flush_forgets_the_pending_frame)
{
  GstHarness *h = gst_harness_new ("rfc2250pay");
  GPtrArray *frames = mpeg_make_frames (PLAN, FALSE);
  GstSegment segment;

  gst_harness_set_src_caps_str (h, RAW_CAPS);
  gst_harness_push (h, gst_buffer_ref (frames->pdata[0]));
  fail_unless_equals_int (gst_harness_buffers_received (h), 0);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_harness_push (h, gst_buffer_ref (frames->pdata[4]));
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_received (h), 1);
  g_ptr_array_unref (frames);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (pay_raw_input_adds_a_frame_of_latency)
{
  const gchar *caps[] = { RAW_CAPS, RAW_CAPS ",parsed=true" };
  guint i;

  for (i = 0; i < 2; i++) {
    GstHarness *h = gst_harness_new ("rfc2250pay");
    GPtrArray *frames = mpeg_make_frames (PLAN, FALSE);
    guint k;

    gst_harness_set_upstream_latency (h, 7 * GST_MSECOND);
    gst_harness_set_src_caps_str (h, caps[i]);
    for (k = 0; k < 3; k++)
      gst_harness_push (h, gst_buffer_ref (frames->pdata[k]));
    fail_unless_equals_uint64 (gst_harness_query_latency (h),
        (i == 0 ? 47 : 7) * GST_MSECOND);
    g_ptr_array_unref (frames);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* --- rfc2250depay --------------------------------------------------------- */

static GstHarness *
new_depay (const gchar * launch)
{
  GstHarness *h = gst_harness_new_parse (launch);

  gst_harness_set_src_caps_str (h, RTP_CAPS);
  return h;
}

GST_START_TEST (depay_frames_have_times_flags_and_caps)
{
  GstHarness *h = new_depay ("rfc2250depay");
  GPtrArray *packets = mpeg_make_packets (PLAN, "rfc2250pay");
  GstStructure *structure;
  GstCaps *caps;
  gint value;
  guint i;

  for (i = 0; i < packets->len; i++) {
    GstBuffer *packet = gst_buffer_copy (packets->pdata[i]);
    GstBuffer *frame;

    GST_BUFFER_DTS (packet) = GST_CLOCK_TIME_NONE;
    gst_harness_push (h, packet);
    frame = gst_harness_try_pull (h);
    fail_unless (frame != NULL);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (frame), pts_ms[i] * GST_MSECOND);
    fail_unless_equals_uint64 (GST_BUFFER_DTS (frame), i * 40 * GST_MSECOND);
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (frame,
            GST_BUFFER_FLAG_DELTA_UNIT), types[i] != 'I');
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (frame,
            GST_BUFFER_FLAG_DROPPABLE), types[i] == 'B');
    fail_unless (!GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_CORRUPTED));
    fail_unless (GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_MARKER));
    gst_buffer_unref (frame);
  }
  caps = gst_pad_get_current_caps (h->sinkpad);
  structure = gst_caps_get_structure (caps, 0);
  fail_unless (gst_structure_get_int (structure, "mpegversion", &value));
  fail_unless_equals_int (value, 2);
  fail_unless (gst_structure_get_int (structure, "width", &value));
  fail_unless_equals_int (value, 32);
  gst_caps_unref (caps);
  g_ptr_array_unref (packets);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (depay_finds_out_mpeg1)
{
  GstHarness *h = gst_harness_new_parse ("rfc2250pay ! rfc2250depay");
  GPtrArray *frames = mpeg_make_frames ("| I0 P1", TRUE);
  GstCaps *caps;
  gint value;

  gst_harness_set_src_caps_str (h,
      "video/mpeg,mpegversion=1,systemstream=false,parsed=true");
  gst_harness_push (h, gst_buffer_ref (frames->pdata[0]));
  caps = gst_pad_get_current_caps (h->sinkpad);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "mpegversion",
      &value);
  fail_unless_equals_int (value, 1);
  gst_caps_unref (caps);
  g_ptr_array_unref (frames);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (depay_discont_after_a_gap)
{
  GstHarness *h = new_depay ("rfc2250depay reorder-window=0");
  GPtrArray *packets = mpeg_make_packets (PLAN, "rfc2250pay");
  GstBuffer *frame;
  guint i;

  for (i = 0; i < packets->len; i++) {
    if (i != 3)
      gst_harness_push (h, gst_buffer_ref (packets->pdata[i]));
  }
  for (i = 0; (frame = gst_harness_try_pull (h)); i++) {
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (frame,
            GST_BUFFER_FLAG_DISCONT), i == 0 || i == 3);
    gst_buffer_unref (frame);
  }
  fail_unless_equals_int (i, 9);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay", "lost"), 1);
  g_ptr_array_unref (packets);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (depay_restores_order_and_counts_refused_packets)
{
  GstHarness *h = new_depay ("rfc2250depay");
  GPtrArray *packets = mpeg_make_packets (PLAN, "rfc2250pay");
  const guint8 noise[] = { 0x12, 0x34, 0x56 };
  const guint order[] = { 0, 2, 1, 2, 3, 5, 6, 4, 8, 7 };
  GstBuffer *packet;
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (order); i++) {
    gst_harness_push (h, gst_buffer_ref (packets->pdata[order[i]]));
    gst_harness_push (h, mpeg_wrap (noise, sizeof (noise)));
  }
  /* another source, once */
  packet = gst_buffer_copy_deep (packets->pdata[3]);
  gst_rtp_buffer_map (packet, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_ssrc (&rtp, 4711);
  gst_rtp_buffer_unmap (&rtp);
  gst_harness_push (h, packet);
  gst_harness_push (h, gst_buffer_ref (packets->pdata[9]));
  /* Two invalid packets arrive with the sequence number that is next in the
   * stream. The first one has a wrong payload type. In the second one, reserved
   * bits are set. rfc2250depay must refuse both. */
  packet = gst_buffer_copy_deep (packets->pdata[9]);
  gst_rtp_buffer_map (packet, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 96);
  gst_rtp_buffer_unmap (&rtp);
  gst_harness_push (h, packet);
  packet = gst_buffer_copy_deep (packets->pdata[9]);
  gst_rtp_buffer_map (packet, GST_MAP_READWRITE, &rtp);
  ((guint8 *) gst_rtp_buffer_get_payload (&rtp))[0] = 0xf8;
  gst_rtp_buffer_unmap (&rtp);
  gst_harness_push (h, packet);

  fail_unless_equals_int (gst_harness_buffers_received (h), 10);
  for (i = 0; i < 10; i++) {
    packet = gst_harness_pull (h);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (packet),
        pts_ms[i] * GST_MSECOND);
    gst_buffer_unref (packet);
  }
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay", "duplicates"),
      1);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay", "invalid-rtp"),
      10);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay", "strays"), 1);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay",
          "wrong-payload-type"), 1);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay", "bad-mbz"), 1);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay", "lost"), 0);
  g_ptr_array_unref (packets);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (depay_malformed_packets_post_nothing)
{
  GstHarness *h = new_depay ("rfc2250depay");
  GstElement *depay = gst_harness_find_element (h, "rfc2250depay");
  GstBus *bus = gst_bus_new ();
  guint8 noise[64];
  GRand *random = g_rand_new_with_seed (1);
  guint i, k;

  gst_element_set_bus (depay, bus);
  for (i = 0; i < 2000; i++) {
    for (k = 0; k < sizeof (noise); k++)
      noise[k] = g_rand_int (random);
    /* Half of the packets begin like RTP packets of the stream. The others are
     * only random bytes. rfc2250depay must not post an error or a warning for
     * any of them. */
    if (i % 2) {
      noise[0] = 0x80;
      noise[1] = 32;
    }
    fail_unless_equals_int (gst_harness_push (h, mpeg_wrap (noise,
                g_rand_int_range (random, 1, sizeof (noise)))), GST_FLOW_OK);
  }
  fail_unless (gst_bus_pop_filtered (bus,
          GST_MESSAGE_ERROR | GST_MESSAGE_WARNING) == NULL);
  g_rand_free (random);
  gst_element_set_bus (depay, NULL);
  gst_object_unref (bus);
  gst_object_unref (depay);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (depay_ssrc_change_goes_on)
{
  GstHarness *h = new_depay ("rfc2250depay");
  GPtrArray *one = mpeg_make_packets (PLAN, "rfc2250pay ssrc=1");
  GPtrArray *two = mpeg_make_packets (PLAN, "rfc2250pay ssrc=2");
  guint i;

  for (i = 0; i < 5; i++)
    gst_harness_push (h, gst_buffer_ref (one->pdata[i]));
  for (i = 0; i < two->len; i++)
    gst_harness_push (h, gst_buffer_ref (two->pdata[i]));
  fail_unless_equals_int (gst_harness_buffers_received (h), 15);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay", "ssrc-changes"),
      1);
  g_ptr_array_unref (one);
  g_ptr_array_unref (two);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The SSRC of the stream changes in the middle of a frame, but the sequence
 * numbers continue without a gap. rfc2250depay must nevertheless treat this as
 * a gap, and must drop the unfinished frame of the first SSRC. */
GST_START_TEST (depay_ssrc_change_is_a_gap)
{
  GstHarness *h = new_depay ("rfc2250depay");
  GPtrArray *one = mpeg_make_packets ("| I0 P1",
      "rfc2250pay mtu=300 aggregate-mode=none ssrc=1 seqnum-offset=100");
  GPtrArray *two = mpeg_make_packets ("| I0 P1",
      "rfc2250pay mtu=300 aggregate-mode=none ssrc=2 seqnum-offset=103");
  guint i;

  fail_unless_equals_int (one->len, 4);
  for (i = 0; i < 3; i++)
    gst_harness_push (h, gst_buffer_ref (one->pdata[i]));
  for (i = 0; i < two->len; i++)
    gst_harness_push (h, gst_buffer_ref (two->pdata[i]));
  fail_unless_equals_int (gst_harness_buffers_received (h), 3);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay",
          "frames-dropped"), 1);
  g_ptr_array_unref (one);
  g_ptr_array_unref (two);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* A keep-alive packet without a payload (RFC 6263, section 4.1) arrives in the
 * middle of a frame. rfc2250depay must nevertheless output all frames. */
GST_START_TEST (depay_keep_alives_cost_no_frame)
{
  GstHarness *h = new_depay ("rfc2250depay");
  GPtrArray *packets = mpeg_make_packets ("| I0 P1 P2",
      "rfc2250pay mtu=300 aggregate-mode=none seqnum-offset=65530 ssrc=1");
  guint i, n = 65530;

  fail_unless_equals_int (packets->len, 6);
  for (i = 0; i < packets->len; i++, n++) {
    GstBuffer *packet = gst_buffer_copy_deep (packets->pdata[i]);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (i == 3) {
      GstBuffer *empty = gst_buffer_copy_deep (packet);

      gst_buffer_resize (empty, 0, 12);
      gst_rtp_buffer_map (empty, GST_MAP_READWRITE, &rtp);
      gst_rtp_buffer_set_seq (&rtp, n++);
      gst_rtp_buffer_unmap (&rtp);
      gst_harness_push (h, empty);
    }
    gst_rtp_buffer_map (packet, GST_MAP_READWRITE, &rtp);
    gst_rtp_buffer_set_seq (&rtp, n);
    gst_rtp_buffer_unmap (&rtp);
    gst_harness_push (h, packet);
  }
  fail_unless_equals_int (gst_harness_buffers_received (h), 3);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay", "no-payload"),
      1);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay", "lost"), 0);
  g_ptr_array_unref (packets);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The element after rfc2250depay returns EOS for a buffer. rfc2250depay must
 * return EOS to its own upstream, too. */
GST_START_TEST (depay_returns_the_flow_of_downstream)
{
  GstHarness *h = new_depay ("rfc2250depay ! identity eos-after=2");
  GPtrArray *packets = mpeg_make_packets (PLAN, "rfc2250pay");
  GstFlowReturn flow = GST_FLOW_OK;
  guint i;

  for (i = 0; i < packets->len && flow == GST_FLOW_OK; i++)
    flow = gst_harness_push (h, gst_buffer_ref (packets->pdata[i]));
  fail_unless_equals_int (flow, GST_FLOW_EOS);
  g_ptr_array_unref (packets);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (depay_conceal_flags_what_it_mended)
{
  GstHarness *h = new_depay ("rfc2250depay on-loss=conceal reorder-window=0");
  GPtrArray *packets = mpeg_make_packets ("| I0 P1 P2",
      "rfc2250pay mtu=300 aggregate-mode=none mpeg2-extension=true");
  GstBuffer *frame;
  guint i;

  fail_unless_equals_int (packets->len, 6);
  for (i = 0; i < packets->len; i++) {
    if (i != 2)
      gst_harness_push (h, gst_buffer_ref (packets->pdata[i]));
  }
  for (i = 0; (frame = gst_harness_try_pull (h)); i++) {
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (frame,
            GST_BUFFER_FLAG_CORRUPTED), i == 1);
    gst_buffer_unref (frame);
  }
  fail_unless_equals_int (i, 3);
  fail_unless_equals_uint64 (mpeg_get_stat (h, "rfc2250depay",
          "pictures-rebuilt"), 1);
  g_ptr_array_unref (packets);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (depay_rank_is_above_the_stock_one)
{
  GstElementFactory *ours = gst_element_factory_find ("rfc2250depay");
  GstElementFactory *stock = gst_element_factory_find ("rtpmpvdepay");
  GstElementFactory *pay = gst_element_factory_find ("rfc2250pay");

  fail_unless (ours && stock && pay);
  fail_unless (gst_plugin_feature_get_rank (GST_PLUGIN_FEATURE (ours)) >
      gst_plugin_feature_get_rank (GST_PLUGIN_FEATURE (stock)));
  fail_unless_equals_int (gst_plugin_feature_get_rank (GST_PLUGIN_FEATURE
          (pay)), GST_RANK_NONE);
  gst_object_unref (ours);
  gst_object_unref (stock);
  gst_object_unref (pay);
}

GST_END_TEST;

static Suite *
rfc2250_suite (void)
{
  Suite *s = suite_create ("rfc2250");
  TCase *pay = tcase_create ("pay");
  TCase *depay = tcase_create ("depay");

  suite_add_tcase (s, pay);
  tcase_add_test (pay, pay_parsed_frames_leave_at_once);
  tcase_add_test (pay, pay_raw_bytes_without_caps);
  tcase_add_test (pay, pay_caps_are_those_of_rfc_3551);
  tcase_add_test (pay, pay_packet_is_one_memory);
  tcase_add_test (pay, pay_packets_outlive_the_element);
  tcase_add_test (pay, pay_keeps_pools_from_overwriting_what_is_queued);
  tcase_add_test (pay, pay_too_small_mtu_is_an_error);
  tcase_add_test (pay, pay_what_is_no_video_is_refused_with_words);
  tcase_add_test (pay, pay_oversized_frame_is_one_warning);
  tcase_add_test (pay, pay_flush_forgets_the_pending_frame);
  tcase_add_test (pay, pay_raw_input_adds_a_frame_of_latency);

  suite_add_tcase (s, depay);
  tcase_add_test (depay, depay_frames_have_times_flags_and_caps);
  tcase_add_test (depay, depay_finds_out_mpeg1);
  tcase_add_test (depay, depay_discont_after_a_gap);
  tcase_add_test (depay, depay_restores_order_and_counts_refused_packets);
  tcase_add_test (depay, depay_malformed_packets_post_nothing);
  tcase_add_test (depay, depay_ssrc_change_goes_on);
  tcase_add_test (depay, depay_ssrc_change_is_a_gap);
  tcase_add_test (depay, depay_keep_alives_cost_no_frame);
  tcase_add_test (depay, depay_keeps_pools_from_overwriting_what_is_pending);
  tcase_add_test (depay, depay_returns_the_flow_of_downstream);
  tcase_add_test (depay, depay_conceal_flags_what_it_mended);
  tcase_add_test (depay, depay_rank_is_above_the_stock_one);
  return s;
}

GST_CHECK_MAIN (rfc2250);
