/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of mpegstat with access units of H.264 and H.265, and with frames of
 * VP9 and AV1. mpegstat must not change these units and frames. An element
 * between two mpegstat elements may convert a frame to another format, for
 * example from byte-stream to AVC. Both mpegstat elements must then still count
 * the same and write the same log lines.
 */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <glib/gstdio.h>
#include <string.h>

#define STREAM_CAPS \
    "video/x-h264,stream-format=byte-stream,alignment=au,framerate=25/1"
#define AVC_CAPS "video/x-h264,stream-format=avc,alignment=au," \
    "codec_data=(buffer)0164001effe10003676400010002" "68ee"
#define HEVC_CAPS "video/x-h265,stream-format=byte-stream,alignment=au"

#define FRAME_TIME (40 * GST_MSECOND)

typedef struct
{
  const gchar *hex;
  guint pts, dts;               /* frames */
} Given;

/* The stream has four access units: an I-frame (access unit delimiter, SPS, PPS
 * and an IDR slice), a P-frame and two B-frames. */
static const Given stream[] = {
  {"0000000109f0 00000001676400 0000000168ee 000001658884", 1, 0},
  {"00000001419a0102", 4, 1},
  {"00000001019e03", 2, 2},
  {"00000001019e04", 3, 3}
};

static GstBuffer *
make_buffer (const Given * given)
{
  GByteArray *bytes = g_byte_array_new ();
  const gchar *text;
  GstBuffer *buffer;

  for (text = given->hex; *text; text += *text == ' ' ? 1 : 2) {
    guint8 byte;

    if (*text == ' ')
      continue;
    byte = g_ascii_xdigit_value (text[0]) << 4 | g_ascii_xdigit_value (text[1]);
    g_byte_array_append (bytes, &byte, 1);
  }
  buffer = gst_buffer_new_allocate (NULL, bytes->len, NULL);
  gst_buffer_fill (buffer, 0, bytes->data, bytes->len);
  g_byte_array_unref (bytes);
  GST_BUFFER_PTS (buffer) = given->pts * FRAME_TIME;
  GST_BUFFER_DTS (buffer) = given->dts * FRAME_TIME;
  return buffer;
}

static gchar *
make_path (void)
{
  gchar *path = g_strdup_printf ("%s/mpegstatunits-XXXXXX", g_get_tmp_dir ());

  g_close (g_mkstemp (path), NULL);
  return path;
}

static GstHarness *
new_harness (const gchar * caps, const gchar * location)
{
  GstElement *element = gst_element_factory_make ("mpegstat", NULL);
  GstHarness *h;

  g_object_set (element, "location", location, NULL);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

static void
push (GstHarness * h, const Given * given)
{
  fail_unless_equals_int (gst_harness_push (h, make_buffer (given)),
      GST_FLOW_OK);
}

static guint64
get_stat (GstHarness * h, const gchar * name)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;

  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

/* Returns the lines of the log. The columns wall_ns, arrival_ns and latency_ns
 * are left out, because their values differ from run to run. */
static gchar **
read_log (const gchar * path)
{
  gchar *text, **lines, **line;

  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  for (line = lines; *line; line++) {
    gchar **fields = g_strsplit (*line, ",", -1), *rest;

    fail_unless_equals_int (g_strv_length (fields), 17);
    rest = g_strjoinv (",", fields + 5);
    g_free (*line);
    *line = g_strconcat (fields[0], " ", fields[3], " ", rest, NULL);
    g_free (rest);
    g_strfreev (fields);
  }
  g_free (text);
  return lines;
}

GST_START_TEST (access_units_pass_as_they_came)
{
  GstHarness *h = new_harness (STREAM_CAPS, NULL);
  GstCaps *caps, *expected = gst_caps_from_string (STREAM_CAPS);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (stream); i++) {
    GstBuffer *given = make_buffer (&stream[i]), *passed;
    GstMapInfo map;

    gst_buffer_map (given, &map, GST_MAP_READ);
    push (h, &stream[i]);
    passed = gst_harness_pull (h);
    fail_unless (gst_buffer_memcmp (passed, 0, map.data, map.size) == 0);
    fail_unless_equals_int (gst_buffer_get_size (passed), map.size);
    fail_unless_equals_clocktime (GST_BUFFER_PTS (passed),
        GST_BUFFER_PTS (given));
    fail_unless_equals_clocktime (GST_BUFFER_DTS (passed),
        GST_BUFFER_DTS (given));
    gst_buffer_unmap (given, &map);
    gst_buffer_unref (given);
    gst_buffer_unref (passed);
  }
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_caps_is_equal (caps, expected));
  gst_caps_unref (caps);
  gst_caps_unref (expected);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (access_units_count_by_type)
{
  GstHarness *h = new_harness (STREAM_CAPS, NULL);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (stream); i++)
    push (h, &stream[i]);
  fail_unless_equals_uint64 (get_stat (h, "frames-i"), 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-p"), 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-b"), 2);
  fail_unless_equals_uint64 (get_stat (h, "bytes"), 3 + 4 + 3 + 3);
  fail_unless_equals_uint64 (get_stat (h, "gops"), 1);
  fail_unless_equals_uint64 (get_stat (h, "lost"), 0);
  gst_harness_teardown (h);
}

GST_END_TEST;

static GString *printed;

static void
print_handler (const gchar * text)
{
  g_string_append (printed, text);
}

/* mpegstat cannot count the losses of this stream. The summary must say so. If
 * it said "lost 0", a reader would believe that nothing was lost. */
GST_START_TEST (summary_says_that_losses_are_not_known)
{
  GstHarness *h = new_harness (STREAM_CAPS, NULL);
  GPrintFunc before;
  guint i;

  printed = g_string_new (NULL);
  g_object_set (h->element, "silent", FALSE, NULL);
  before = g_set_print_handler (print_handler);
  for (i = 0; i < G_N_ELEMENTS (stream); i++)
    push (h, &stream[i]);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  g_set_print_handler (before);
  fail_unless (strstr (printed->str, ": frames 4 (1 I, 1 P, 2 B), losses not "
          "known for H.264 and H.265, incomplete 0, GOPs 1\n"), "%s",
      printed->str);
  g_string_free (printed, TRUE);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (log_lines_say_what_access_units_are)
{
  gchar *path = make_path (), **lines;
  GstHarness *h = new_harness (STREAM_CAPS, path);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (stream); i++)
    push (h, &stream[i]);
  gst_harness_teardown (h);

  lines = read_log (path);
  fail_unless_equals_int (g_strv_length (lines), 1 + 1 + 4);
  /* read_log () has shortened each line of the log. A shortened line consists
   * of the columns event and expected_ns, and of all columns from type to
   * lost_frames. Among these, the columns for temporal references, time codes
   * and picture numbers must be empty, because only MPEG-1/2 video has such
   * values. */
  fail_unless_equals_string (lines[1], "gop  ,,0,0,,,,1,0,,,");
  fail_unless (g_str_has_prefix (lines[2], "frame 0 I,,0,0,0,3,,,,,"));
  fail_unless (g_str_has_prefix (lines[3],
          "frame 40000000 P,,1,3,10800,4,,,,,"));
  fail_unless (g_str_has_prefix (lines[4],
          "frame 80000000 B,,2,1,3600,3,,,,,"));
  fail_unless (g_str_has_prefix (lines[5],
          "frame 120000000 B,,3,2,7200,3,,,,,"));
  g_strfreev (lines);
  g_unlink (path);
  g_free (path);
}

GST_END_TEST;

static gchar *
log_of (const gchar * caps, const gchar * hex)
{
  gchar *path = make_path (), **lines, *last;
  GstHarness *h = new_harness (caps, path);
  const Given given = { hex, 0, 0 };

  push (h, &given);
  gst_harness_teardown (h);
  lines = read_log (path);
  last = g_strdup (lines[g_strv_length (lines) - 1]);
  g_strfreev (lines);
  g_unlink (path);
  g_free (path);
  return last;
}

/* Payloaders and parsers change the form of a frame without changing its
 * picture:
 *
 * - They move parameter sets from the caps into the stream, or back.
 * - They replace length fields by start codes, or start codes by length fields.
 * - They add or remove access unit delimiters.
 *
 * mpegstat gets the same frame in two forms. The two log lines must be equal.
 */
GST_START_TEST (the_same_frame_is_known_again_in_any_form)
{
  gchar *sent = log_of (AVC_CAPS, "00000003 658884 00000002 6511");
  gchar *received = log_of (STREAM_CAPS,
      "0000000109f0 00000001676400 0000000168ee 00000001658884 0000016511");

  fail_unless (g_str_has_prefix (sent, "frame 0 I,"));
  fail_unless_equals_string (sent, received);
  g_free (sent);
  g_free (received);
}

GST_END_TEST;

GST_START_TEST (h265_is_measured_too)
{
  GstHarness *h = new_harness (HEVC_CAPS, NULL);
  /* The first access unit is an IDR frame with its SPS, which says that there
   * is one sub-layer. The second one is a frame of the type TRAIL_N, which is a
   * non-reference frame and counts as a B-frame. */
  const Given units[] = {
    {"000000014201010000 000000012601af06", 0, 0},
    {"0000000100010102", 1, 1}
  };

  push (h, &units[0]);
  push (h, &units[1]);
  fail_unless_equals_uint64 (get_stat (h, "frames-i"), 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-b"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (malformed_units_pass_and_count_by_reason)
{
  GstHarness *h = new_harness (STREAM_CAPS, NULL);
  const Given units[] = {
    {"11223344", 0, 0},         /* no start code */
    {"00000001e588", 1, 1},     /* forbidden_zero_bit */
    {"", 2, 2}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (units); i++)
    push (h, &units[i]);
  fail_unless_equals_int (gst_harness_buffers_received (h), 3);
  fail_unless_equals_uint64 (get_stat (h, "malformed-no-start-code"), 1);
  fail_unless_equals_uint64 (get_stat (h, "malformed-header"), 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-p"), 3);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (corrupted_units_are_discarded_and_counted)
{
  GstHarness *h = new_harness (STREAM_CAPS, NULL);
  GstBuffer *buffer = make_buffer (&stream[1]);

  push (h, &stream[0]);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_CORRUPTED);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  push (h, &stream[2]);
  fail_unless_equals_int (gst_harness_buffers_received (h), 2);
  fail_unless_equals_uint64 (get_stat (h, "incomplete"), 1);
  gst_buffer_unref (gst_harness_pull (h));
  buffer = gst_harness_pull (h);
  fail_unless (GST_BUFFER_IS_DISCONT (buffer));
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (missing_codec_data_is_an_error_that_names_the_remedy)
{
  GstHarness *h = gst_harness_new ("mpegstat");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h,
      "video/x-h264,stream-format=avc,alignment=au");
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "h264parse") != NULL, "%s",
      error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (a_flush_counts_anew)
{
  gchar *path = make_path (), **lines;
  GstHarness *h = new_harness (STREAM_CAPS, path);
  GstSegment segment;

  push (h, &stream[0]);
  push (h, &stream[1]);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  push (h, &stream[3]);
  fail_unless_equals_uint64 (get_stat (h, "frames"), 3);
  gst_harness_teardown (h);

  lines = read_log (path);
  fail_unless (g_str_has_prefix (lines[g_strv_length (lines) - 1],
          "frame 0 B,,0,0,0,3,"));
  g_strfreev (lines);
  g_unlink (path);
  g_free (path);
}

GST_END_TEST;

GST_START_TEST (codecs_may_follow_each_other)
{
  GstHarness *h = new_harness (STREAM_CAPS, NULL);
  const Given hevc = { "000000014201010000 000000012601af06", 0, 0 };

  push (h, &stream[0]);
  gst_harness_set_src_caps_str (h, HEVC_CAPS);
  push (h, &hevc);
  gst_harness_set_src_caps_str (h, STREAM_CAPS);
  push (h, &stream[1]);
  fail_unless_equals_uint64 (get_stat (h, "frames-i"), 2);
  fail_unless_equals_uint64 (get_stat (h, "frames-p"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* VP9 has no picture types like those of MPEG. mpegstat must count as follows:
 * - A key frame is an I-frame.
 * - A frame that refreshes a reference frame is a P-frame.
 * - A frame that refreshes no reference frame is a B-frame.
 * - A buffer that does not contain a valid frame is malformed, and also counts
 *   as a P-frame.
 *
 * All frames of this test have error_resilient_mode set. Without this mode, a
 * frame changes not only the reference frames but also other state of the
 * decoder, which the next frame uses. No frame would then count as a B-frame. */
GST_START_TEST (frames_of_vp9_are_counted)
{
  static const Given frames[] = {
    {"834983424013f00ef0", 0, 0}, {"8701000900", 1, 1}, {"8700000900", 2, 2},
    {"00", 3, 3}
  };
  GstHarness *h = new_harness ("video/x-vp9,framerate=25/1", NULL);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (frames); i++)
    push (h, &frames[i]);
  fail_unless_equals_uint64 (get_stat (h, "frames"), 4);
  fail_unless_equals_uint64 (get_stat (h, "frames-i"), 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-p"), 2);
  fail_unless_equals_uint64 (get_stat (h, "frames-b"), 1);
  fail_unless_equals_uint64 (get_stat (h, "malformed-frame"), 1);
  fail_unless_equals_uint64 (get_stat (h, "bytes"), 9 + 5 + 5 + 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-layer-0"), 0);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The input is an AV1 stream: a sequence header, a key frame of temporal layer
 * 0, a frame of layer 1 and two frames of layer 2. The extension of the OBU
 * header contains the layer of each frame. mpegstat must count the frames of
 * each layer. */
GST_START_TEST (frames_of_a_temporal_layer_are_counted)
{
  static const Given frames[] = {
    {"0a0a0000002444fdde000000 3600021000", 0, 0},
    {"362006300040000000", 1, 1}, {"364006300000000000", 2, 2},
    {"364006300000000000", 3, 3}
  };
  GstHarness *h = new_harness ("video/x-av1,stream-format=obu-stream,"
      "alignment=tu,framerate=25/1", NULL);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (frames); i++)
    push (h, &frames[i]);
  fail_unless_equals_uint64 (get_stat (h, "malformed-frame"), 0);
  fail_unless_equals_uint64 (get_stat (h, "frames-i"), 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-p"), 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-b"), 2);
  fail_unless_equals_uint64 (get_stat (h, "frames-layer-0"), 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-layer-1"), 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-layer-2"), 2);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The second byte of an H.265 NAL unit header contains the field
 * nuh_temporal_id_plus1. The field says to which sub-layer a frame belongs.
 * mpegstat must count the frames of each sub-layer. */
GST_START_TEST (sub_layers_of_h265_are_counted)
{
  static const Given frames[] = {
    {"00000001420101 60 000001 2601af08", 0, 0}, {"000000010202d009", 1, 1}
  };
  GstHarness *h = new_harness (HEVC_CAPS, NULL);

  push (h, &frames[0]);
  push (h, &frames[1]);
  fail_unless_equals_uint64 (get_stat (h, "frames-layer-0"), 1);
  fail_unless_equals_uint64 (get_stat (h, "frames-layer-1"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
mpegstatunits_suite (void)
{
  Suite *s = suite_create ("mpegstatunits");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, access_units_pass_as_they_came);
  tcase_add_test (tc, access_units_count_by_type);
  tcase_add_test (tc, summary_says_that_losses_are_not_known);
  tcase_add_test (tc, log_lines_say_what_access_units_are);
  tcase_add_test (tc, the_same_frame_is_known_again_in_any_form);
  tcase_add_test (tc, h265_is_measured_too);
  tcase_add_test (tc, malformed_units_pass_and_count_by_reason);
  tcase_add_test (tc, corrupted_units_are_discarded_and_counted);
  tcase_add_test (tc, missing_codec_data_is_an_error_that_names_the_remedy);
  tcase_add_test (tc, a_flush_counts_anew);
  tcase_add_test (tc, codecs_may_follow_each_other);
  tcase_add_test (tc, frames_of_vp9_are_counted);
  tcase_add_test (tc, frames_of_a_temporal_layer_are_counted);
  tcase_add_test (tc, sub_layers_of_h265_are_counted);
  return s;
}

GST_CHECK_MAIN (mpegstatunits);
