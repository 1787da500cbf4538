/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the element mmtpsink over real sockets on loopback. The receiver is
 * the element mmtpsrc. Buffers, caps and times must arrive over one channel and
 * over several channels. (A channel is one of the network paths that the sink
 * uses at the same time.) Errors must be reported.
 */

#include "mmtploopback.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "gstframeinfometa.h"

#define TWO "127.0.0.2, 127.0.0.3"
#define SIZE 1000

/* --- buffers -------------------------------------------------------------- */

static const gsize sizes[] = { 1, 187, 1400, 1401, 20000, 0, 70000, 3 };

static const struct
{
  const gchar *address, *host, *channels;
} ways[] = {
  {"127.0.0.1", "127.0.0.1", ""},
  {"127.0.0.1", "127.0.0.1", "auto"},
  {"127.0.0.1", "localhost", "127.0.0.2"},
  {"0.0.0.0", "localhost", ""},
  {"0.0.0.0", "localhost", "auto"},
  {"127.0.0.1", "localhost", "lo, ?name=any"},
  {"::1", "localhost", ""},
  {"127.0.0.1", "127.0.0.1", TWO},
  {"0.0.0.0", "127.0.0.1", "127.0.0.2->127.0.0.4, lo, 127.0.0.3?rate=8000000"},
  {"::1", "::1", "::1?name=a, ::1?name=b"},
  {"::", "127.0.0.1", TWO},
};

GST_START_TEST (buffers_cross_whole_and_in_order)
{
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, ways[__i__].address);
  mmtp_loopback_fixture_init_sink (&fixture, ways[__i__].host,
      ways[__i__].channels);
  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    loopback_push (&fixture, loopback_make_buffer (i, sizes[i]));
  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    loopback_expect (&fixture, i, sizes[i]);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The timestamps of a segment with the format BYTES have no meaning. (Such a
 * segment comes from filesrc, for example.) The sink must therefore ignore
 * these timestamps. */
GST_START_TEST (a_segment_of_bytes_has_no_times)
{
  GstBuffer *buffer = loopback_make_buffer (0, SIZE);
  GstSegment segment;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, "");
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (fixture.sink.harness,
      gst_event_new_segment (&segment));
  GST_BUFFER_PTS (buffer) = 0;
  loopback_push (&fixture, buffer);
  loopback_expect (&fixture, 0, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (pools_may_have_their_buffers_back)
{
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, "");
  loopback_check_pooled (&fixture, 20, 5000);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (ristsinks_addresses_are_understood)
{
  gchar *addresses;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init_src (&fixture, "0.0.0.0");
  addresses = g_strdup_printf ("127.0.0.2:%d,127.0.0.3:%d",
      loopback_port_of (&fixture.src), loopback_port_of (&fixture.src));
  mmtp_loopback_sink_init (&fixture.sink, "bonding-addresses", addresses, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  g_free (addresses);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

static void
expect_addresses (GstElement * sink, const gchar * channels,
    const gchar * bonding_addresses)
{
  gchar *found_channels, *found_addresses;

  g_object_get (sink, "channels", &found_channels, "bonding-addresses",
      &found_addresses, NULL);
  fail_unless_equals_string (found_channels, channels);
  fail_unless (g_strcmp0 (found_addresses, bonding_addresses) == 0, "%s",
      found_addresses);
  g_free (found_channels);
  g_free (found_addresses);
}

/* State of a capture of GStreamer's log. During the capture, standard error is
 * redirected to a file. The test does not use gst_debug_add_log_function ():
 * this function leaks the list of log functions on purpose, and LeakSanitizer
 * reports this leak. */
typedef struct
{
  gchar *path;
  gint file, standard_error;
} LogCapture;

static void
begin_log_capture (LogCapture * capture)
{
  capture->file = g_file_open_tmp ("mmtpsink-XXXXXX.log", &capture->path, NULL);
  fail_unless (capture->file >= 0);
  capture->standard_error = dup (STDERR_FILENO);
  fail_unless (capture->standard_error >= 0);
  fail_unless (dup2 (capture->file, STDERR_FILENO) >= 0);
}

static void
end_log_capture (LogCapture * capture)
{
  dup2 (capture->standard_error, STDERR_FILENO);
  close (capture->standard_error);
  close (capture->file);
  g_unlink (capture->path);
  g_free (capture->path);
}

static guint
count_lines (const LogCapture * capture, gboolean (*is_wanted) (const gchar *))
{
  gchar *text, **lines;
  guint i, n = 0;

  fail_unless (g_file_get_contents (capture->path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (i = 0; lines[i] != NULL; i++)
    n += is_wanted (lines[i]);
  g_strfreev (lines);
  g_free (text);
  return n;
}

static gboolean
is_deprecation (const gchar * line)
{
  return strstr (line, "WARN")
      && strstr (line,
      "The property bonding-addresses is deprecated: use channels");
}

/* The properties bonding-addresses and channels of mmtpsink set the same value.
 * The property that is set last must take effect. */
GST_START_TEST (bonding_addresses_are_a_deprecated_alias_of_channels)
{
  GstElement *sink = gst_element_factory_make ("mmtpsink", NULL);
  GParamSpec *alias = g_object_class_find_property (G_OBJECT_GET_CLASS (sink),
      "bonding-addresses");
  GstDebugLevel before = gst_debug_get_default_threshold ();
  LogCapture capture;

  fail_unless (alias->flags & G_PARAM_DEPRECATED);
  begin_log_capture (&capture);
  gst_debug_set_default_threshold (GST_LEVEL_WARNING);
  g_object_set (sink, "bonding-addresses", "192.0.2.1:7,tv:8/wlan0", NULL);
  expect_addresses (sink, "->192.0.2.1:7?name=192.0.2.1:7, "
      "wlan0->tv:8?name=tv:8/wlan0", "192.0.2.1:7,tv:8/wlan0");
  g_object_set (sink, "channels", "usb0", NULL);
  expect_addresses (sink, "usb0", NULL);
  g_object_set (sink, "bonding-addresses", NULL, NULL);
  expect_addresses (sink, "usb0", NULL);
  g_object_set (sink, "bonding-addresses", "192.0.2.1:7", NULL);
  g_object_set (sink, "bonding-addresses", NULL, NULL);
  expect_addresses (sink, "auto", NULL);
  fail_unless_equals_int (count_lines (&capture, is_deprecation), 1);
  gst_debug_set_default_threshold (before);
  end_log_capture (&capture);
  gst_object_unref (sink);
}

GST_END_TEST;

/* Sends a buffer list with and without GSO. The loop variable __i__ is the
 * value of the property gso: 0 means auto, and 1 means off. */
GST_START_TEST (list_crosses_with_and_without_gso)
{
  GstBufferList *list = gst_buffer_list_new ();
  LoopbackFixture fixture;
  gsize size;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "gso", __i__, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  for (i = 0; i < 200; i++) {
    size = i % 50 == 49 ? SIZE / 2 : SIZE;
    gst_buffer_list_add (list, loopback_make_buffer (i, size));
  }
  fail_unless_equals_int (gst_pad_push_list (fixture.sink.harness->srcpad,
          list), GST_FLOW_OK);
  for (i = 0; i < 200; i++)
    loopback_expect (&fixture, i, i % 50 == 49 ? SIZE / 2 : SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* Sends a stream of 0.3 Mbit/s. The sink must send padding within 20 s, but not
 * more padding than a token bucket allows.
 *
 * The token bucket is filled at the rate padding-bitrate and holds the padding
 * of 1 s. The maximum number of padding bits is therefore padding-bitrate *
 * (elapsed time + 1 s). The test measures the elapsed time. On a busy machine,
 * the test may take longer, and the sink may then send more padding. The
 * measured time is also longer, so the maximum is higher, too. The limit
 * therefore also holds on a busy machine. */
GST_START_TEST (padding_is_sent_and_bounded)
{
  const guint bitrate = 200000;
  const gint64 begin = g_get_monotonic_time ();
  LoopbackFixture fixture;
  gint64 time = 0;
  guint64 bytes;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "padding-bitrate", bitrate, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  for (i = 0; time < 20 * G_USEC_PER_SEC
      && loopback_stat_of (&fixture.sink, "padding") == 0; i++) {
    fail_unless_equals_int (gst_harness_push (fixture.sink.harness,
            loopback_make_buffer (i, SIZE)), GST_FLOW_OK);
    loopback_expect (&fixture, i, SIZE);
    g_usleep (30000);
    time = g_get_monotonic_time () - begin;
  }
  g_object_set (fixture.sink.element, "padding-bitrate", 0, NULL);
  bytes = loopback_stat_of (&fixture.sink, "padding-bytes");
  time = g_get_monotonic_time () - begin;
  fail_unless (bytes > 0);
  fail_unless (8 * bytes <= bitrate * (1 + time / (gdouble) G_USEC_PER_SEC));
  g_usleep (100000);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "padding-bytes"),
      bytes);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* A buffer that is larger than the property max-bytes must wait until no other
 * buffer waits in the sink. It must then be accepted and sent. */
GST_START_TEST (buffers_longer_than_max_bytes_wait_for_each_other)
{
  static const gsize longer[] = { 20001, SIZE, 20001, 200000, SIZE };
  GstBufferList *list = gst_buffer_list_new ();
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "max-bytes", __i__ ? 20000 : 1, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  for (i = 0; i < G_N_ELEMENTS (longer); i++)
    gst_buffer_list_add (list, loopback_make_buffer (i, longer[i]));
  fail_unless_equals_int (gst_pad_push_list (fixture.sink.harness->srcpad,
          list), GST_FLOW_OK);
  for (i = 0; i < G_N_ELEMENTS (longer); i++)
    loopback_expect (&fixture, i, longer[i]);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink,
          "dropped-unsendable"), 0);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* With blocking=false, the sink must drop a buffer that is larger than the
 * property max-bytes. It must post a warning with the size of the buffer, and
 * count the buffer in the statistic dropped-unsendable. */
GST_START_TEST (a_buffer_that_is_too_long_is_told)
{
  GstBufferList *list = gst_buffer_list_new ();
  GstMessage *message;
  GError *error;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src),
      "max-bytes", 20000, "blocking", FALSE, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  gst_buffer_list_add (list, loopback_make_buffer (1, SIZE));
  gst_buffer_list_add (list, loopback_make_buffer (2, 20001));
  fail_unless_equals_int (gst_pad_push_list (fixture.sink.harness->srcpad,
          list), GST_FLOW_OK);
  loopback_expect (&fixture, 1, SIZE);
  message = loopback_pop_message (&fixture.sink, GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "20001") != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink,
          "dropped-unsendable"), 1);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* With blocking=true, each buffer waits until the sink has room for it. The
 * buffers of this test are so large that two of them exceed max-bytes. The sink
 * therefore never has room for a second buffer while one is waiting. All
 * buffers must arrive nevertheless. */
GST_START_TEST (long_buffers_wait_for_each_other)
{
  const guint n = 4, size = 3 * 1000 * 1000;
  GstBufferList *list = gst_buffer_list_new ();
  LoopbackFixture fixture;
  guint i;

  /* The latency is 60 s, because the large buffers may take long to send: on a
   * slow machine, the sink estimates a low rate for its channel. */
  mmtp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "max-latency",
      60000, NULL);
  gst_harness_play (fixture.src.harness);
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "latency", 60000, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  for (i = 0; i < n; i++)
    gst_buffer_list_add (list, loopback_make_buffer (i, size));
  fail_unless_equals_int (gst_pad_push_list (fixture.sink.harness->srcpad,
          list), GST_FLOW_OK);
  for (i = 0; i < n; i++)
    loopback_expect (&fixture, i, size);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink,
          "dropped-unsendable"), 0);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* Checks which buffer flags arrive at the receiver. Some buffers are sent with
 * the flags in `flags`, and must arrive with the same flags. The other buffers
 * are sent without flags, but with a GstFrameInfoMeta, which contains a picture
 * type. A buffer with picture type i must arrive with the flags of_pictures[i].
 */
GST_START_TEST (flags_cross)
{
  const guint flags[] = {
    GST_BUFFER_FLAG_HEADER, GST_BUFFER_FLAG_DELTA_UNIT,
    GST_BUFFER_FLAG_DELTA_UNIT | GST_BUFFER_FLAG_DROPPABLE,
    GST_BUFFER_FLAG_MARKER, 0
  };
  const guint all = GST_BUFFER_FLAG_HEADER | GST_BUFFER_FLAG_DELTA_UNIT
      | GST_BUFFER_FLAG_DROPPABLE | GST_BUFFER_FLAG_MARKER;
  const guint of_pictures[] = { 0, 0, GST_BUFFER_FLAG_DELTA_UNIT,
    GST_BUFFER_FLAG_DELTA_UNIT | GST_BUFFER_FLAG_DROPPABLE
  };
  GstBuffer *buffer;
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init (&fixture, TWO);
  for (i = 0; i < G_N_ELEMENTS (flags); i++) {
    buffer = loopback_make_buffer (i, SIZE);
    GST_BUFFER_FLAG_SET (buffer, flags[i]);
    loopback_push (&fixture, buffer);
  }
  for (i = 0; i < G_N_ELEMENTS (of_pictures); i++) {
    buffer = loopback_make_buffer (i, SIZE);
    gst_buffer_add_frame_info_meta (buffer, i, 0, 0);
    loopback_push (&fixture, buffer);
  }
  for (i = 0; i < G_N_ELEMENTS (flags); i++) {
    buffer = loopback_pull (&fixture, i, SIZE);
    fail_unless_equals_int (GST_BUFFER_FLAGS (buffer) & all, flags[i]);
    gst_buffer_unref (buffer);
  }
  for (i = 0; i < G_N_ELEMENTS (of_pictures); i++) {
    buffer = loopback_pull (&fixture, i, SIZE);
    fail_unless_equals_int (GST_BUFFER_FLAGS (buffer) & all, of_pictures[i]);
    gst_buffer_unref (buffer);
  }
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

#define MS GST_MSECOND
#define NONE GST_CLOCK_TIME_NONE

/* PTS, DTS and duration of the input. */
static const GstClockTime times[][3] = {
  {0, NONE, NONE},
  {40 * MS, NONE, 40 * MS},
  {160 * MS, 80 * MS, 40 * MS},
  {120 * MS, 120 * MS, 20 * MS},
  {NONE, 160 * MS, NONE},
  {NONE, NONE, 40 * MS},
  {200 * MS, NONE, NONE},
};

/* Checks that `time` is about `expected` ns after `first`, the timestamp of the
 * first buffer. If `expected` is GST_CLOCK_TIME_NONE, `time` must be, too. A
 * difference of less than 20 ms is permitted, because the sink and the source
 * cannot read their common clock exactly. */
static void
check_time (GstClockTime time, GstClockTime expected, GstClockTime first)
{
  if (!GST_CLOCK_TIME_IS_VALID (expected)) {
    fail_unless (!GST_CLOCK_TIME_IS_VALID (time), "%" GST_TIME_FORMAT,
        GST_TIME_ARGS (time));
    return;
  }
  fail_unless (GST_CLOCK_TIME_IS_VALID (time));
  fail_unless (ABS (GST_CLOCK_DIFF (first + expected, time)) < 20 * MS,
      "%" GST_TIME_FORMAT " is not %" GST_TIME_FORMAT " after %"
      GST_TIME_FORMAT, GST_TIME_ARGS (time), GST_TIME_ARGS (expected),
      GST_TIME_ARGS (first));
}

GST_START_TEST (times_cross)
{
  GstClockTime first = 0;
  GstBuffer *buffer;
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init (&fixture, TWO);
  for (i = 0; i < G_N_ELEMENTS (times); i++) {
    buffer = loopback_make_buffer (i, SIZE);
    GST_BUFFER_PTS (buffer) = times[i][0];
    GST_BUFFER_DTS (buffer) = times[i][1];
    GST_BUFFER_DURATION (buffer) = times[i][2];
    loopback_push (&fixture, buffer);
  }
  for (i = 0; i < G_N_ELEMENTS (times); i++) {
    buffer = loopback_pull (&fixture, i, SIZE);
    if (i == 0)
      first = GST_BUFFER_PTS (buffer);
    /* A buffer that was pushed with a DTS but without a PTS arrives with a PTS,
     * too. The reason is that GstBaseSrc, the base class of the source, copies
     * the DTS into the PTS. */
    check_time (GST_BUFFER_PTS (buffer), GST_CLOCK_TIME_IS_VALID (times[i][0]) ?
        times[i][0] : times[i][1], first);
    check_time (GST_BUFFER_DTS (buffer), times[i][1], first);
    if (GST_CLOCK_TIME_IS_VALID (times[i][0])
        && GST_CLOCK_TIME_IS_VALID (times[i][1]))
      fail_unless (GST_BUFFER_PTS (buffer) - GST_BUFFER_DTS (buffer)
          == times[i][0] - times[i][1]);
    fail_unless (GST_BUFFER_DURATION (buffer) == times[i][2]);
    gst_buffer_unref (buffer);
  }
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- the stream ----------------------------------------------------------- */

static void
check_caps (LoopbackFixture * fixture, const gchar * text)
{
  GstEvent *event = loopback_pull_event (fixture, GST_EVENT_CAPS);
  GstCaps *caps, *expected = gst_caps_from_string (text);

  gst_event_parse_caps (event, &caps);
  fail_unless (gst_caps_is_equal (caps, expected), "%" GST_PTR_FORMAT, caps);
  gst_caps_unref (expected);
  gst_event_unref (event);
}

GST_START_TEST (caps_cross_with_their_buffers)
{
  const gchar *const texts[] = {
    CAPS,
    "video/x-h264, stream-format=(string)avc, codec_data=(buffer)0164001f, "
        "width=(int)640, height=(int)480, framerate=(fraction)30000/1001",
    "application/x-rtp, media=(string)video, clock-rate=(int)90000, "
        "encoding-name=(string)MPV, payload=(int)32"
  };
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init (&fixture, TWO);
  for (i = 0; i < G_N_ELEMENTS (texts); i++) {
    gst_harness_set_src_caps_str (fixture.sink.harness, texts[i]);
    loopback_push (&fixture, loopback_make_buffer (i, SIZE));
  }
  for (i = 0; i < G_N_ELEMENTS (texts); i++) {
    loopback_expect (&fixture, i, SIZE);
    check_caps (&fixture, texts[i]);
  }
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The sink can transmit only caps fields of simple types. If the caps also have
 * fields of other types, as those of h264parse do, the sink must omit the other
 * fields and transmit the simple ones. */
GST_START_TEST (caps_of_other_types_cross_without_them)
{
  GstCaps *caps = gst_caps_from_string ("video/x-h264(memory:DMABuf), "
      "width=(int)640, streams=(int)< 1, 2 >, names=(GstStructure)\"a, b=1;\"");
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, "");
  gst_harness_set_src_caps (fixture.sink.harness, caps);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  check_caps (&fixture, "video/x-h264, width=(int)640, streams=(int)< 1, 2 >");
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The caps of the element srtpenc contain its encryption key. The sink
 * transmits the caps to the receiver, but must not send the key over the
 * network. */
GST_START_TEST (keys_do_not_cross)
{
  GstCaps *caps = gst_caps_from_string ("application/x-srtp, "
      "payload=(int)32, srtp-key=(buffer)00010203, srtp-key2=(buffer)04050607, "
      "a-crypto=(string)inline, a-key-mgmt=(string)mikey, "
      "srtp-cipher=(string)aes-128-icm");
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, "");
  gst_harness_set_src_caps (fixture.sink.harness, caps);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  check_caps (&fixture, "application/x-srtp, payload=(int)32, "
      "srtp-cipher=(string)aes-128-icm");
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (the_end_comes_after_all_buffers)
{
  const guint n = 100;
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init (&fixture, __i__ ? TWO : "");
  for (i = 0; i < n; i++)
    loopback_push (&fixture, loopback_make_buffer (i, SIZE));
  fail_unless (gst_harness_push_event (fixture.sink.harness,
          gst_event_new_eos ()));
  for (i = 0; i < n; i++)
    loopback_expect (&fixture, i, SIZE);
  gst_event_unref (loopback_pull_event (&fixture, GST_EVENT_EOS));
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "buffers-sent"),
      n);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "eos-timeouts"),
      0);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- channels ------------------------------------------------------------- */

static GstStructure *
get_channel (LoopbackEnd * end, guint i)
{
  GstStructure *stats, *channel = NULL;
  const GValue *channels;

  g_object_get (end->element, "stats", &stats, NULL);
  channels = gst_structure_get_value (stats, "channels");
  fail_unless (channels != NULL && GST_VALUE_HOLDS_ARRAY (channels));
  if (i < gst_value_array_get_size (channels))
    channel = gst_structure_copy (gst_value_get_structure
        (gst_value_array_get_value (channels, i)));
  gst_structure_free (stats);
  return channel;
}

static gboolean
is_line_of_both_channels (const gchar * line)
{
  return strstr (line, "INFO") && strstr (line, "Mbit/s come, ")
      && strstr (line, "latency 1000 ms, ") && strstr (line, "; 127.0.0.2: ")
      && strstr (line, "; 127.0.0.3: ");
}

/* While the pipeline runs, the log level of mmtpsink is set to INFO. From then
 * on, mmtpsink must log a line about both channels every second. */
GST_START_TEST (a_line_a_second_tells_of_each_channel)
{
  LogCapture capture;
  LoopbackFixture fixture;
  guint i = 0;

  mmtp_loopback_fixture_init (&fixture, "127.0.0.2, 127.0.0.3");
  loopback_push (&fixture, loopback_make_buffer (i++, SIZE));
  loopback_wait_for_message (&fixture.sink, "mmtp-channel", "state", "active");
  begin_log_capture (&capture);
  g_usleep (G_USEC_PER_SEC / 10);
  fail_unless_equals_int (count_lines (&capture, is_line_of_both_channels), 0);
  gst_debug_set_threshold_for_name ("mmtpsink", GST_LEVEL_INFO);
  while (count_lines (&capture, is_line_of_both_channels) < 2) {
    loopback_push (&fixture, loopback_make_buffer (i++, SIZE));
    g_usleep (G_USEC_PER_SEC / 20);
  }
  gst_debug_set_threshold_for_name ("mmtpsink", GST_LEVEL_NONE);
  end_log_capture (&capture);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (channels_come_and_go)
{
  GstStructure *channel;
  gdouble share, loss;
  guint i, n = 0;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, "127.0.0.2");
  loopback_push (&fixture, loopback_make_buffer (n++, SIZE));
  loopback_wait_for_message (&fixture.sink, "mmtp-channel", "state", "active");
  g_object_set (fixture.sink.element, "channels", "127.0.0.2, 127.0.0.3", NULL);
  loopback_push (&fixture, loopback_make_buffer (n++, SIZE));
  channel = loopback_pop_structure (&fixture.sink, "mmtp-channel");
  fail_unless_equals_string (gst_structure_get_string (channel, "name"),
      "127.0.0.3");
  fail_unless_equals_string (gst_structure_get_string (channel, "state"),
      "active");
  gst_structure_free (channel);
  loopback_push (&fixture, loopback_make_buffer (n++, SIZE));
  g_object_set (fixture.sink.element, "channels", "127.0.0.3", NULL);
  loopback_wait_for_message (&fixture.sink, "mmtp-channel", "state", "gone");
  for (i = 0; i < 10; i++)
    loopback_push (&fixture, loopback_make_buffer (n++, SIZE));
  for (i = 0; i < n; i++)
    loopback_expect (&fixture, i, SIZE);

  channel = get_channel (&fixture.sink, 0);
  fail_unless_equals_string (gst_structure_get_string (channel, "name"),
      "127.0.0.2");
  fail_unless_equals_string (gst_structure_get_string (channel, "state"),
      "gone");
  fail_unless_equals_string (gst_structure_get_string (channel,
          "unused-because"), "gone");
  gst_structure_free (channel);
  channel = get_channel (&fixture.sink, 1);
  fail_unless_equals_string (gst_structure_get_string (channel, "state"),
      "active");
  fail_unless (gst_structure_has_field_typed (channel, "unused-because",
          G_TYPE_STRING));
  fail_unless (gst_structure_get_double (channel, "share", &share)
      && share > 0 && share <= 1);
  fail_unless (gst_structure_get_double (channel, "loss", &loss)
      && loss >= 0 && loss < 1);
  gst_structure_free (channel);
  fail_unless (get_channel (&fixture.sink, 2) == NULL);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The property `channels` names the network interfaces that the sink uses. An
 * interface may appear after the sink has started. However, if none of the
 * interfaces exists at the start, the property is most likely wrong. The sink
 * must then report an error. */
GST_START_TEST (channels_of_which_none_exists_are_an_error)
{
  GstElement *pipeline = gst_parse_launch ("fakesrc sizetype=fixed sizemax=100 "
      "! mmtpsink host=127.0.0.1 channels=nosuchif0,nosuchif1", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *error;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_NOT_FOUND), "%s", error->message);
  fail_unless (strstr (error->message,
          "no network interface \"nosuchif") != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (a_channel_that_cannot_be_is_not_missed)
{
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, "nosuchif0, 127.0.0.2");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* A name resolver for the test. It knows one host name, which has two
 * addresses. */
typedef GResolver TestResolver;
typedef GResolverClass TestResolverClass;

static GType test_resolver_get_type (void);

G_DEFINE_TYPE (TestResolver, test_resolver, G_TYPE_RESOLVER);

static GList *
look_up (GResolver * resolver, const gchar * name, GCancellable * cancellable,
    GError ** error)
{
  GList *found = NULL;

  fail_unless_equals_string (name, "two.example.org");
  found = g_list_append (found, g_inet_address_new_from_string ("127.0.0.9"));
  return g_list_append (found, g_inet_address_new_from_string ("127.0.0.1"));
}

static void
test_resolver_init (TestResolver * self)
{
}

static void
test_resolver_class_init (TestResolverClass * klass)
{
  klass->lookup_by_name = look_up;
}

static GSocket *
open_silent_socket (const gchar * address, gint port)
{
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
      G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *local = g_inet_socket_address_new_from_string (address, port);

  fail_unless (g_socket_bind (socket, local, FALSE, NULL));
  g_object_unref (local);
  return socket;
}

/* The host name of the receiver has two addresses. A socket at the first
 * address receives the packets but does not answer. The sink must then use the
 * second address. */
GST_START_TEST (an_address_that_does_not_answer_is_left)
{
  GResolver *before = g_resolver_get_default ();
  GResolver *resolver = g_object_new (test_resolver_get_type (), NULL);
  GSocket *silent;
  LoopbackFixture fixture;

  g_resolver_set_default (resolver);
  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  silent = open_silent_socket ("127.0.0.9", loopback_port_of (&fixture.src));
  mmtp_loopback_fixture_init_sink (&fixture, "two.example.org", "");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  loopback_fixture_clear (&fixture);
  g_object_unref (silent);
  g_resolver_set_default (before);
  g_object_unref (before);
  g_object_unref (resolver);
}

GST_END_TEST;

/* --- errors --------------------------------------------------------------- */

/* Pushes one buffer into the sink. The push must fail, and the sink must post
 * an error whose text contains `expected`. */
static void
check_failure (LoopbackEnd * end, const gchar * expected)
{
  gchar *text;

  gst_harness_set_src_caps_str (end->harness, CAPS);
  fail_unless_equals_int (gst_harness_push (end->harness,
          loopback_make_buffer (0, SIZE)), GST_FLOW_ERROR);
  text = loopback_pop_error (end);
  fail_unless (strstr (text, expected) != NULL, "\"%s\" has no \"%s\"", text,
      expected);
  g_free (text);
}

static gint
get_free_port (void)
{
  LoopbackEnd src;
  gint port;

  mmtp_loopback_src_init (&src, "address", "127.0.0.1", NULL);
  gst_harness_play (src.harness);
  port = loopback_port_of (&src);
  loopback_end_clear (&src);
  return port;
}

GST_START_TEST (nobody_there_is_an_error)
{
  gint port = get_free_port ();
  gchar *expected = g_strdup_printf ("127.0.0.1:%d", port);
  LoopbackEnd sink;

  mmtp_loopback_sink_init (&sink, "auto-reconnect", FALSE, "host", "127.0.0.1",
      "port", port, "channels", __i__ ? TWO : "", "peer-timeout", 1000, NULL);
  check_failure (&sink, expected);
  fail_unless (loopback_stat_of (&sink, "failures-refused") > 0);
  g_free (expected);
  loopback_end_clear (&sink);
}

GST_END_TEST;

static gpointer
push_first (gpointer data)
{
  loopback_push (data, loopback_make_buffer (0, SIZE));
  return NULL;
}

/* No receiver listens yet, and an ICMP error tells the sink so. A receiver may
 * begin to listen later, so the sink must try again instead of reporting an
 * error. */
GST_START_TEST (a_receiver_may_begin_later)
{
  gint port = get_free_port ();
  GThread *thread;
  LoopbackFixture fixture;

  mmtp_loopback_sink_init (&fixture.sink, "auto-reconnect", FALSE, "host",
      "127.0.0.1", "port", port, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  thread = g_thread_new ("push", push_first, &fixture);
  while (loopback_stat_of (&fixture.sink, "failures-refused") == 0)
    g_usleep (1000);
  mmtp_loopback_src_init (&fixture.src, "address", "127.0.0.1", NULL);
  g_object_set (fixture.src.element, "port", port, NULL);
  gst_harness_play (fixture.src.harness);
  loopback_expect (&fixture, 0, SIZE);
  g_thread_join (thread);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (unanswered_handshake_is_an_error)
{
  GSocket *socket = open_silent_socket ("127.0.0.1", 0);
  GSocketAddress *bound = g_socket_get_local_address (socket, NULL);
  LoopbackEnd sink;

  mmtp_loopback_sink_init (&sink, "auto-reconnect", FALSE, "host", "127.0.0.1",
      "port",
      (gint) g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound)),
      "peer-timeout", 300, NULL);
  check_failure (&sink, "0.3 s");
  fail_unless_equals_uint64 (loopback_stat_of (&sink, "failures-timeout"), 1);
  loopback_end_clear (&sink);
  g_object_unref (bound);
  g_object_unref (socket);
}

GST_END_TEST;

/* The property peer-timeout is 0 in the sink and in the source. The session
 * therefore has no timeout: the sink must not end it when the source is silent,
 * and the source must not end it when the sink is silent. All buffers must
 * arrive over one connection. */
GST_START_TEST (a_session_without_a_limit_goes_on)
{
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  g_object_set (fixture.src.element, "peer-timeout", 0, NULL);
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "peer-timeout", 0, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  for (i = 0; i < 3; i++) {
    loopback_push (&fixture, loopback_make_buffer (i, SIZE));
    loopback_expect (&fixture, i, SIZE);
  }
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "connections"),
      1);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink,
          "failures-timeout"), 0);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (unknown_name_is_an_error)
{
  LoopbackEnd sink;

  mmtp_loopback_sink_init (&sink, "auto-reconnect", FALSE, "host",
      "no-such-host.invalid", NULL);
  check_failure (&sink, "no-such-host.invalid");
  fail_unless_equals_uint64 (loopback_stat_of (&sink, "failures-not-found"), 1);
  loopback_end_clear (&sink);
}

GST_END_TEST;

GST_START_TEST (channels_that_are_none_are_an_error)
{
  LoopbackEnd sink;

  mmtp_loopback_sink_init (&sink, "host", "127.0.0.1", "channels",
      "127.0.0.2?speed=9", NULL);
  check_failure (&sink, "speed");
  loopback_end_clear (&sink);
}

GST_END_TEST;

/* Each row of the table says whether the source has a key and whether the sink
 * has one. If both have a key, the test gives them different keys. */
static const struct
{
  gboolean src, sink;
} keys[] = {
  {TRUE, TRUE},
  {TRUE, FALSE},
  {FALSE, TRUE},
};

GST_START_TEST (another_key_is_an_error)
{
  gchar of_src[KEY_DIGITS + 1], of_sink[KEY_DIGITS + 1], *text;
  LoopbackFixture fixture;

  mmtp_loopback_make_key (of_src);
  mmtp_loopback_make_key (of_sink);
  mmtp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "key",
      keys[__i__].src ? of_src : NULL, NULL);
  gst_harness_play (fixture.src.harness);
  mmtp_loopback_sink_init (&fixture.sink, "auto-reconnect", FALSE, "host",
      "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "peer-timeout", 300, "key",
      keys[__i__].sink ? of_sink : NULL, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  fail_unless_equals_int (gst_harness_push (fixture.sink.harness,
          loopback_make_buffer (0, SIZE)), GST_FLOW_ERROR);
  text = loopback_pop_error (&fixture.sink);
  fail_unless (strstr (text, "key") != NULL, "%s", text);
  fail_unless (strstr (text, of_src) == NULL, "%s", text);
  fail_unless (strstr (text, of_sink) == NULL, "%s", text);
  g_free (text);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The source and the sink have the same key. The key of the source is written
 * with upper-case hexadecimal digits, and the key of the sink with lower-case
 * digits. The source must accept the sink. */
GST_START_TEST (the_same_key_lets_in)
{
  gchar key[KEY_DIGITS + 1], *upper;
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_make_key (key);
  upper = g_ascii_strup (key, -1);
  mmtp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "key", upper,
      NULL);
  g_free (upper);
  gst_harness_play (fixture.src.harness);
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "key", key, "channels", TWO, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  for (i = 0; i < 20; i++)
    loopback_push (&fixture, loopback_make_buffer (i, SIZE));
  for (i = 0; i < 20; i++)
    loopback_expect (&fixture, i, SIZE);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "refused-trailer"),
      0);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink,
          "refused-trailer"), 0);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (the_second_sender_is_refused)
{
  LoopbackFixture fixture;
  LoopbackEnd second;

  mmtp_loopback_fixture_init (&fixture, "");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  mmtp_loopback_sink_init (&second, "auto-reconnect", FALSE, "host",
      "127.0.0.1", "port", loopback_port_of (&fixture.src), NULL);
  check_failure (&second, "another sender");
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  loopback_end_clear (&second);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The receiver has got the end of its first stream and has sent EOS downstream.
 * It can therefore play no second stream. If another sink connects to this
 * receiver, this sink must post an error. */
GST_START_TEST (connection_after_end_of_stream_is_an_error)
{
  GstMessage *message;
  GError *error;
  LoopbackFixture fixture;
  gint port;

  mmtp_loopback_fixture_init (&fixture, "");
  port = loopback_port_of (&fixture.src);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  gst_harness_push_event (fixture.sink.harness, gst_event_new_eos ());
  gst_event_unref (loopback_pull_event (&fixture, GST_EVENT_EOS));
  loopback_end_clear (&fixture.sink);
  mmtp_loopback_sink_init (&fixture.sink, "auto-reconnect", FALSE, "host",
      "127.0.0.1", "port", port, NULL);
  check_failure (&fixture.sink, "has ended");
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink,
          "failures-closed"), 1);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "sessions"), 1);
  message = loopback_pop_message (&fixture.src, GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "eos-at-end") != NULL, "%s",
      error->message);
  g_error_free (error);
  gst_message_unref (message);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- a new receiver ------------------------------------------------------- */

/* The value of mmtpsink's property peer-timeout, in ns. The session ends if the
 * sink gets no message from the receiver for this time. */
#define TIMEOUT (2 * GST_SECOND)

static void
restart_src (LoopbackFixture * fixture, gint port)
{
  loopback_end_clear (&fixture->src);
  mmtp_loopback_src_init (&fixture->src, "address", "127.0.0.1", NULL);
  g_object_set (fixture->src.element, "port", port, NULL);
  gst_harness_play (fixture->src.harness);
}

static gboolean
is_key_unit_request (GstEvent * event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM
      && gst_event_has_name (event, "GstForceKeyUnit");
}

/* A sender connects to the source, and ends before it has sent any buffer. The
 * source must then accept the next sender. The test repeats this ten times. */
GST_START_TEST (a_sender_that_goes_early_makes_way)
{
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  g_object_set (fixture.src.element, "eos-at-end", FALSE, NULL);
  for (i = 0; i < 10; i++) {
    mmtp_loopback_fixture_init_sink (&fixture, "127.0.0.1", TWO);
    gst_harness_play (fixture.sink.harness);
    loopback_wait_for_message (&fixture.src, "mmtp-session", "state", "begun");
    loopback_wait_for_message (&fixture.sink, "mmtp-channel", "state",
        "active");
    loopback_end_clear (&fixture.sink);
    loopback_wait_for_message (&fixture.src, "mmtp-session", "state", "ended");
  }
  loopback_end_clear (&fixture.src);
}

GST_END_TEST;

/* The receiver is restarted during the stream. The new receiver does not know
 * the frames from before its start. The sink must therefore drop all frames
 * until the next key frame. */
GST_START_TEST (a_new_receiver_gets_a_key_frame_first)
{
  gboolean asked = FALSE;
  GstBuffer *buffer;
  GstEvent *event;
  LoopbackFixture fixture;
  guint i;
  gint port;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "peer-timeout",
      (guint) (TIMEOUT / GST_MSECOND), NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  port = loopback_port_of (&fixture.src);
  restart_src (&fixture, port);
  while (loopback_stat_of (&fixture.sink, "connections") < 2)
    g_usleep (1000);
  for (i = 1; i < 5; i++) {
    buffer = loopback_make_buffer (i, SIZE);
    if (i < 4)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
    loopback_push (&fixture, buffer);
  }
  loopback_expect (&fixture, 4, SIZE);
  while (!asked) {
    event = gst_harness_pull_upstream_event (fixture.sink.harness);
    fail_unless (event != NULL);
    asked = is_key_unit_request (event);
    gst_event_unref (event);
  }
  fail_unless (loopback_stat_of (&fixture.sink, "buffers") >= 2);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

static void
set_state (LoopbackEnd * end, GstState state)
{
  fail_unless (gst_element_set_state (end->element, state)
      != GST_STATE_CHANGE_FAILURE);
}

/* The sink, the source or both are restarted many times, in different orders.
 * After each restart, the next buffer must arrive. */
GST_START_TEST (both_ends_begin_again)
{
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  g_object_set (fixture.src.element, "port", loopback_port_of (&fixture.src),
      "eos-at-end", FALSE, NULL);
  mmtp_loopback_fixture_init_sink (&fixture, "127.0.0.1", TWO);
  for (i = 0; i < 12; i++) {
    loopback_push (&fixture, loopback_make_buffer (i, SIZE));
    loopback_expect (&fixture, i, SIZE);
    if (i % 3 != 0)
      set_state (&fixture.sink, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
    if (i % 3 != 1) {
      set_state (&fixture.src, i % 2 ? GST_STATE_NULL : GST_STATE_READY);
      set_state (&fixture.src, GST_STATE_PLAYING);
    }
    if (i % 3 == 0)
      set_state (&fixture.sink, GST_STATE_READY);
    set_state (&fixture.sink, GST_STATE_PLAYING);
    gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  }
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- waiting and its end -------------------------------------------------- */

static gpointer
push_one (gpointer data)
{
  return GINT_TO_POINTER (gst_harness_push (data,
          loopback_make_buffer (0, SIZE)));
}

/* No receiver answers. The function render of the sink therefore waits. A
 * change of the sink's state to READY must end this wait. */
GST_START_TEST (a_change_of_state_ends_the_wait)
{
  GThread *thread;
  LoopbackEnd sink;

  mmtp_loopback_sink_init (&sink, "host", "127.0.0.1", "port", get_free_port (),
      NULL);
  gst_harness_set_src_caps_str (sink.harness, CAPS);
  thread = g_thread_new ("push", push_one, sink.harness);
  while (loopback_stat_of (&sink, "time-unconnected") == 0)
    g_usleep (1000);
  gst_element_set_state (sink.element, GST_STATE_READY);
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
      GST_FLOW_FLUSHING);
  loopback_end_clear (&sink);
}

GST_END_TEST;

GST_START_TEST (a_flush_forgets_what_waits)
{
  GstSegment segment;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, TWO);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  gst_harness_push_event (fixture.sink.harness, gst_event_new_flush_start ());
  gst_harness_push_event (fixture.sink.harness,
      gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (fixture.sink.harness,
      gst_event_new_segment (&segment));
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* Waits until the sink has received another buffer from upstream. */
static void
wait_for_next (LoopbackEnd * sink)
{
  guint64 n = loopback_stat_of (sink, "buffers");

  while (loopback_stat_of (sink, "buffers") == n)
    g_usleep (1000);
}

/* The stream is stored and not live. The sink therefore waits for the receiver
 * before it sends the first buffer, and delays all buffers by the duration of
 * this wait. After a seek, the stream begins again. The buffers must then no
 * longer be delayed by the duration of the first wait. */
GST_START_TEST (a_seek_forgets_how_long_the_stream_waited)
{
  const guint waited = 2500;    /* ms */
  guint64 blocked;
  GstElement *pipeline;
  gchar *description;
  LoopbackEnd src, sink;

  mmtp_loopback_src_init (&src, "address", "127.0.0.1", NULL);
  gst_harness_play (src.harness);
  description = g_strdup_printf ("videotestsrc ! video/x-raw, width=16, "
      "height=16, framerate=50/1 ! mmtpsink name=sink host=127.0.0.1 "
      "channels=192.0.2.7 port=%d", loopback_port_of (&src));
  pipeline = gst_parse_launch (description, NULL);
  fail_unless (pipeline != NULL);
  sink.element = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_usleep (waited * 1000);
  g_object_set (sink.element, "channels", "", NULL);
  wait_for_next (&sink);

  blocked = loopback_stat_of (&sink, "time-blocked");
  fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
          GST_SEEK_FLAG_FLUSH, 0));
  wait_for_next (&sink);
  /* At the start, the sink could not reach the receiver for `waited` ms. After
   * that, it delayed all buffers by `waited` ms. Then the test made a seek,
   * after which the sink must no longer delay the buffers. If it did, the
   * buffers after the seek would be blocked for `waited` ms again. They must be
   * blocked for less than half of `waited`. A stricter limit would fail on a
   * busy machine, because such a machine delays the buffers, too. */
  blocked = loopback_stat_of (&sink, "time-blocked") - blocked;
  fail_unless (blocked < waited * GST_MSECOND / 2, "%" GST_TIME_FORMAT,
      GST_TIME_ARGS (blocked));

  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink.element);
  gst_object_unref (pipeline);
  g_free (description);
  loopback_end_clear (&src);
}

GST_END_TEST;

/* The sink sends a buffer at most `latency` before the due time of the buffer.
 * The test pushes the buffers even earlier, so the sink must delay them. */
GST_START_TEST (early_buffers_are_delayed)
{
  GstBuffer *buffer;
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  for (i = 0; i < 4; i++) {
    buffer = loopback_make_buffer (i, SIZE);
    GST_BUFFER_PTS (buffer) = (1500 + i * 300) * GST_MSECOND;
    loopback_push (&fixture, buffer);
    loopback_expect (&fixture, i, SIZE);
  }
  fail_unless (loopback_stat_of (&fixture.sink, "time-blocked") > 0);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "connections"),
      1);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- wrong timestamps ----------------------------------------------------- */

/* Between two buffers */
#define STEP (50 * GST_MSECOND)

/* Initializes a fixture whose sink uses a test clock. A test sets this clock
 * itself, and therefore never has to wait. */
static void
fixture_init_with_test_clock (LoopbackFixture * fixture)
{
  mmtp_loopback_fixture_init (fixture, "");
  gst_harness_use_testclock (fixture->sink.harness);
  gst_element_set_base_time (fixture->sink.element, 0);
}

static void
push_at (LoopbackFixture * fixture, GstClockTime now, guint n, GstClockTime pts)
{
  GstBuffer *buffer = loopback_make_buffer (n, SIZE);

  fail_unless (gst_harness_set_time (fixture->sink.harness, now));
  GST_BUFFER_PTS (buffer) = pts;
  loopback_push (fixture, buffer);
}

static gchar *
pop_warning (LoopbackEnd * end)
{
  GstMessage *message = gst_bus_pop_filtered (end->bus, GST_MESSAGE_WARNING);
  GError *error;
  gchar *text;

  if (!message)
    return NULL;
  gst_message_parse_warning (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

/* If the audio is longer than the video, some muxers continue to output buffers
 * after the end of the video. All these buffers have the last timestamp of the
 * video. The sink compares this timestamp with the clock, so each of these
 * buffers seems later than the buffer before it. The sink must not discard
 * them, even if their lateness exceeds the latency. */
GST_START_TEST (timestamps_that_stand_still_lose_nothing)
{
  const guint n = 60, n_moving = 10;
  LoopbackFixture fixture;
  guint i;

  fixture_init_with_test_clock (&fixture);
  for (i = 0; i < n; i++)
    push_at (&fixture, i * STEP, i, MIN (i, n_moving - 1) * STEP);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "discarded"), 0);
  for (i = 0; i < n; i++)
    loopback_expect (&fixture, i, SIZE);
  fail_unless (pop_warning (&fixture.sink) == NULL);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The latency is one second. The first buffer is in time, and all other buffers
 * are three seconds late. The sink must discard all late buffers, and must post
 * exactly one warning. */
GST_START_TEST (buffers_that_are_all_late_are_told_once)
{
  const guint n = 60;
  gchar *text;
  LoopbackFixture fixture;
  guint i;

  fixture_init_with_test_clock (&fixture);
  push_at (&fixture, 0, 0, 0);
  loopback_expect (&fixture, 0, SIZE);
  for (i = 1; i <= n; i++)
    push_at (&fixture, 3 * GST_SECOND + i * STEP, i, i * STEP);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "discarded"), n);
  text = pop_warning (&fixture.sink);
  fail_unless (text != NULL, "nothing was said");
  fail_unless (strstr (text, "latency is 1000 ms") != NULL, "%s", text);
  fail_unless (strstr (text, "Raise latency") != NULL, "%s", text);
  g_free (text);
  fail_unless (pop_warning (&fixture.sink) == NULL);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The lateness of a frame that is too late. It exceeds the latency of the sink,
 * which is 1 s. */
#define TOO_LATE (1500 * GST_MSECOND)

/* Pushes the P-frame with the number `n`. The frame is `lateness` ns late. */
static void
push_p_frame (LoopbackFixture * fixture, guint n, GstClockTime lateness)
{
  const GstClockTime now = 3 * GST_SECOND + n * STEP;
  GstBuffer *buffer = loopback_make_buffer (n, SIZE);

  fail_unless (gst_harness_set_time (fixture->sink.harness, now));
  GST_BUFFER_PTS (buffer) = now - lateness;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  loopback_push (fixture, buffer);
}

/* Pushes a P-frame that is too late, and then frames that depend on it. The
 * sink must discard the late frame and request a key frame once. `incomplete`
 * is the number of dependent frames that the sink must discard, too.
 *
 * This number is 0 for some transport streams, which the sink cannot divide
 * into frames. In such a stream, the sink does not know which frames depend on
 * the late one.
 */
static void
check_late_p_frame (const gchar * caps, guint incomplete)
{
  LoopbackFixture fixture;
  guint i;

  fixture_init_with_test_clock (&fixture);
  gst_harness_set_src_caps_str (fixture.sink.harness, caps);
  loopback_count_key_unit_requests (&fixture.sink);
  push_at (&fixture, 3 * GST_SECOND, 0, 3 * GST_SECOND);
  push_p_frame (&fixture, 1, TOO_LATE);
  for (i = 2; i < 6; i++)
    push_p_frame (&fixture, i, 0);
  push_at (&fixture, 3 * GST_SECOND + i * STEP, i, 3 * GST_SECOND + i * STEP);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "discarded"), 1);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink,
          "discarded-incomplete"), incomplete);
  fail_unless_equals_int (loopback_count_key_unit_requests (&fixture.sink), 1);
  loopback_fixture_clear (&fixture);
}

GST_START_TEST (dependents_of_a_late_frame_are_discarded)
{
  check_late_p_frame ("video/x-h264", 4);
  check_late_p_frame ("video/x-h265", 4);
  check_late_p_frame ("video/mpeg, mpegversion=2, systemstream=false", 4);
  check_late_p_frame ("application/x-rtp, media=video, clock-rate=90000, "
      "encoding-name=H264", 4);
  check_late_p_frame ("application/x-rtp, media=video, clock-rate=90000, "
      "encoding-name=MP2T", 0);
  check_late_p_frame ("video/mpegts, systemstream=true, packetsize=192", 0);
}

GST_END_TEST;

static void
push_unit (LoopbackFixture * fixture, const gchar * start, guint8 header,
    guint n, GstClockTime lateness)
{
  const GstClockTime now = 3 * GST_SECOND + n * STEP;
  GstBuffer *buffer = loopback_make_buffer (n, SIZE);

  fail_unless (gst_harness_set_time (fixture->sink.harness, now));
  gst_buffer_fill (buffer, 0, start, 4);
  gst_buffer_fill (buffer, 4, &header, 1);
  GST_BUFFER_DTS (buffer) = now - lateness;
  GST_BUFFER_PTS (buffer) = now;
  if ((header & 0x1f) != 5)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  loopback_push (fixture, buffer);
}

/* Pushes an H.264 stream in which one frame is too late, so that the sink
 * discards it. This frame is one slice, and `header` is the first byte of the
 * slice. The field nal_ref_idc in this byte says whether other frames refer to
 * the frame. If they do, the sink must discard these other frames, too.
 * `incomplete` is their expected number. (The buffer flags that stock elements
 * set do not say whether other frames refer to a frame.) */
static void
check_late_slice (const gchar * alignment, guint8 header, guint incomplete)
{
  static const gchar start[] = { 0, 0, 0, 1 };
  gchar *caps = g_strdup_printf ("video/x-h264, stream-format=byte-stream, "
      "alignment=%s", alignment);
  LoopbackFixture fixture;
  guint i;

  fixture_init_with_test_clock (&fixture);
  gst_harness_set_src_caps_str (fixture.sink.harness, caps);
  loopback_count_key_unit_requests (&fixture.sink);
  push_unit (&fixture, start, 0x65, 0, 0);
  push_unit (&fixture, start, header, 1, TOO_LATE);
  for (i = 2; i < 6; i++)
    push_unit (&fixture, start, 0x41, i, 0);
  push_unit (&fixture, start, 0x65, i, 0);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "discarded"), 1);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink,
          "discarded-incomplete"), incomplete);
  fail_unless_equals_int (loopback_count_key_unit_requests (&fixture.sink),
      incomplete > 0);
  loopback_fixture_clear (&fixture);
  g_free (caps);
}

GST_START_TEST (late_picture_that_none_needs_takes_no_other_with_it)
{
  check_late_slice ("au", 0x01, 0);
  check_late_slice ("au", 0x41, 4);
  check_late_slice ("nal", 0x01, 0);
  check_late_slice ("nal", 0x41, 4);
}

GST_END_TEST;

/* The sink posts a warning if all buffers of one second are late. In this test,
 * every 15th buffer is in time, so the sink must not post a warning. */
GST_START_TEST (some_late_buffers_are_not_told)
{
  LoopbackFixture fixture;
  guint i;

  fixture_init_with_test_clock (&fixture);
  push_at (&fixture, 0, 0, 0);
  for (i = 1; i <= 60; i++)
    push_at (&fixture, 3 * GST_SECOND + i * STEP, i,
        i * STEP + (i % 15 ? 0 : 3 * GST_SECOND));
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "discarded"), 56);
  fail_unless (pop_warning (&fixture.sink) == NULL);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- messages and warnings ------------------------------------------------ */

static void
count_notification (GObject * object, GParamSpec * property, gpointer data)
{
  g_atomic_int_inc ((gint *) data);
}

GST_START_TEST (the_rate_is_told)
{
  guint rate = 0;
  gint n = 0;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "channels", TWO, NULL);
  g_signal_connect (fixture.sink.element, "notify::estimated-bitrate",
      G_CALLBACK (count_notification), &n);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  while (g_atomic_int_get (&n) == 0)
    g_usleep (1000);
  g_object_get (fixture.sink.element, "estimated-bitrate", &rate, NULL);
  fail_unless (rate > 0);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The property `bitrate` requests 4 Gbit/s, but each of the two channels is
 * limited to 100 kbit/s. The sink must post the message "mmtp-too-slow", which
 * contains the requested bitrate and the available bitrate. */
GST_START_TEST (too_slow_channels_are_told)
{
  guint64 requested, available;
  GstStructure *structure;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src),
      "channels", "127.0.0.2?rate=100000, 127.0.0.3?rate=100000", "bitrate",
      4000000000u, NULL);
  structure = loopback_pop_structure (&fixture.sink, "mmtp-too-slow");
  fail_unless (gst_structure_get (structure, "requested", G_TYPE_UINT64,
          &requested, "available", G_TYPE_UINT64, &available, NULL));
  fail_unless_equals_uint64 (requested, 4000000000);
  fail_unless (available < requested);
  gst_structure_free (structure);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (counters_do_not_go_back)
{
  LoopbackFixture fixture;
  gint port;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "channels", TWO, "peer-timeout",
      (guint) (TIMEOUT / GST_MSECOND), NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  port = loopback_port_of (&fixture.src);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "buffers"), 1);
  restart_src (&fixture, port);
  while (loopback_stat_of (&fixture.sink, "connections") < 2) {
    fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "buffers"), 1);
    g_usleep (1000);
  }
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "buffers"), 1);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (a_weak_key_is_an_error)
{
  mmtp_loopback_check_weak_keys ("mmtpsink");
}

GST_END_TEST;

GST_START_TEST (a_strong_key_is_taken)
{
  mmtp_loopback_check_strong_keys ("mmtpsink");
}

GST_END_TEST;

/* An invalid key is set while the element is in the state READY. The elements
 * mmtpsink and mmtpsrc must check the key again when they start, and must
 * refuse to start with an invalid key. */
GST_START_TEST (a_weak_key_that_is_set_late_is_an_error)
{
  const gchar *factories[] = { "mmtpsink", "mmtpsrc" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (factories); i++) {
    GstElement *element = gst_element_factory_make (factories[i], NULL);

    gst_element_set_state (element, GST_STATE_READY);
    g_object_set (element, "key", "", NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
        GST_STATE_CHANGE_FAILURE);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_object_unref (element);
  }
}

GST_END_TEST;

GST_START_TEST (the_key_is_not_told)
{
  GstElement *sink = gst_element_factory_make ("mmtpsink", NULL);
  GParamSpec *property =
      g_object_class_find_property (G_OBJECT_GET_CLASS (sink), "key");
  GstStructure *stats;
  gchar key[KEY_DIGITS + 1], *text, *uri;

  fail_if (property->flags & G_PARAM_READABLE);
  mmtp_loopback_make_key (key);
  g_object_set (sink, "uri", "mmtp://127.0.0.1:5999", "key", key, NULL);
  g_object_get (sink, "stats", &stats, "uri", &uri, NULL);
  text = gst_structure_to_string (stats);
  fail_unless (strstr (text, key) == NULL);
  fail_unless_equals_string (uri, "mmtp://127.0.0.1:5999");
  g_free (text);
  g_free (uri);
  gst_structure_free (stats);
  gst_object_unref (sink);
}

GST_END_TEST;

GST_START_TEST (a_uri_has_host_port_and_keys)
{
  GError *error = NULL;
  GstElement *sink = gst_element_make_from_uri (GST_URI_SINK,
      "mmtp://[2001:db8::1]:5999?channels=wlan0%2Cusb0%3Frate%3D2000000"
      "&latency=300&mtu=1200&scheduler=equal-turns", NULL, &error);
  gchar *host, *channels;
  guint latency, mtu;
  gint port, scheduler;

  g_assert_no_error (error);
  g_object_get (sink, "host", &host, "port", &port, "channels", &channels,
      "latency", &latency, "mtu", &mtu, "scheduler", &scheduler, NULL);
  fail_unless_equals_string (host, "2001:db8::1");
  fail_unless_equals_int (port, 5999);
  fail_unless_equals_string (channels, "wlan0,usb0?rate=2000000");
  fail_unless_equals_int (latency, 300);
  fail_unless_equals_int (mtu, 1200);
  fail_unless_equals_int (scheduler, 1);
  g_free (host);
  g_free (channels);
  gst_object_unref (sink);
}

GST_END_TEST;

static Suite *
mmtpsink_suite (void)
{
  Suite *suite = suite_create ("mmtpsink");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, buffers_cross_whole_and_in_order, 0,
      G_N_ELEMENTS (ways));
  tcase_add_test (tcase, a_segment_of_bytes_has_no_times);
  tcase_add_test (tcase, pools_may_have_their_buffers_back);
  tcase_add_test (tcase, ristsinks_addresses_are_understood);
  tcase_add_test (tcase, bonding_addresses_are_a_deprecated_alias_of_channels);
  tcase_add_loop_test (tcase,
      buffers_longer_than_max_bytes_wait_for_each_other, 0, 2);
  tcase_add_loop_test (tcase, list_crosses_with_and_without_gso, 0, 2);
  tcase_add_test (tcase, padding_is_sent_and_bounded);
  tcase_add_test (tcase, a_buffer_that_is_too_long_is_told);
  tcase_add_test (tcase, long_buffers_wait_for_each_other);
  tcase_add_test (tcase, flags_cross);
  tcase_add_test (tcase, times_cross);
  tcase_add_test (tcase, caps_cross_with_their_buffers);
  tcase_add_test (tcase, caps_of_other_types_cross_without_them);
  tcase_add_test (tcase, keys_do_not_cross);
  tcase_add_loop_test (tcase, the_end_comes_after_all_buffers, 0, 2);
  tcase_add_test (tcase, a_line_a_second_tells_of_each_channel);
  tcase_add_test (tcase, channels_come_and_go);
  tcase_add_test (tcase, channels_of_which_none_exists_are_an_error);
  tcase_add_test (tcase, a_channel_that_cannot_be_is_not_missed);
  tcase_add_test (tcase, an_address_that_does_not_answer_is_left);
  tcase_add_loop_test (tcase, nobody_there_is_an_error, 0, 2);
  tcase_add_test (tcase, a_receiver_may_begin_later);
  tcase_add_test (tcase, unanswered_handshake_is_an_error);
  tcase_add_test (tcase, a_session_without_a_limit_goes_on);
  tcase_add_test (tcase, unknown_name_is_an_error);
  tcase_add_test (tcase, channels_that_are_none_are_an_error);
  tcase_add_loop_test (tcase, another_key_is_an_error, 0, G_N_ELEMENTS (keys));
  tcase_add_test (tcase, the_same_key_lets_in);
  tcase_add_test (tcase, the_second_sender_is_refused);
  tcase_add_test (tcase, connection_after_end_of_stream_is_an_error);
  tcase_add_test (tcase, a_sender_that_goes_early_makes_way);
  tcase_add_test (tcase, a_new_receiver_gets_a_key_frame_first);
  tcase_add_test (tcase, both_ends_begin_again);
  tcase_add_test (tcase, a_change_of_state_ends_the_wait);
  tcase_add_test (tcase, a_flush_forgets_what_waits);
  tcase_add_test (tcase, a_seek_forgets_how_long_the_stream_waited);
  tcase_add_test (tcase, early_buffers_are_delayed);
  tcase_add_test (tcase, timestamps_that_stand_still_lose_nothing);
  tcase_add_test (tcase, buffers_that_are_all_late_are_told_once);
  tcase_add_test (tcase, some_late_buffers_are_not_told);
  tcase_add_test (tcase, dependents_of_a_late_frame_are_discarded);
  tcase_add_test (tcase, late_picture_that_none_needs_takes_no_other_with_it);
  tcase_add_test (tcase, the_rate_is_told);
  tcase_add_test (tcase, too_slow_channels_are_told);
  tcase_add_test (tcase, counters_do_not_go_back);
  tcase_add_test (tcase, a_weak_key_is_an_error);
  tcase_add_test (tcase, a_strong_key_is_taken);
  tcase_add_test (tcase, a_weak_key_that_is_set_late_is_an_error);
  tcase_add_test (tcase, the_key_is_not_told);
  tcase_add_test (tcase, a_uri_has_host_port_and_keys);
  return suite;
}

GST_CHECK_MAIN (mmtpsink);
