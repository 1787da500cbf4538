/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the elements that use gstpullreader.h. Such an element can read a
 * file itself in large blocks (pull mode), or an upstream element can push the
 * file. The output must be the same in both cases.
 */

#include <gst/check/gstcheck.h>
#include <glib/gstdio.h>

#include "streambuilder.h"

#define GOPS 20
/* Size of a slice in bytes. A frame has two slices. With this size, the first
 * block that an element reads from the file ends in the middle of a frame. */
#define SLICE_SIZE 7000
#define FRAMES_OF_GOP 3
/* number of complete frames in the first block that an element reads from the
 * file */
#define FRAMES_OF_BLOCK 4
/* 25 frames per second */
#define FRAME_DURATION (40 * GST_MSECOND)

static const gchar *const elements[] = {
  "mpegstat", "rfc2250pay ssrc=1 seqnum-offset=0 timestamp-offset=0"
};

/* With a queue, the source pushes. */
static const gchar *const upstreams[] = { "", "queue !" };

typedef struct
{
  GstClockTime pts, dts;
  gsize size;
  guint flags;
  guint hash;
} Output;

typedef struct
{
  gchar *path;
  GArray *gops;                 /* offsets of the GOPs */
  GstElement *pipeline, *element;
  GArray *outputs;              /* elements are Output */
} Fixture;

/* --- the pipeline --------------------------------------------------------- */

static void
fixture_write_file (Fixture * f)
{
  MpegPicture picture = {.progressive = TRUE,.slice_size = SLICE_SIZE };
  GError *error = NULL;
  MpegStream stream;
  guint i, j;
  gint fd;

  f->gops = g_array_new (FALSE, FALSE, sizeof (guint));
  mpeg_stream_init (&stream);
  for (i = 0; i < GOPS; i++) {
    g_array_append_val (f->gops, stream.bytes->len);
    mpeg_sequence (&stream, 32, 32, 3, TRUE, TRUE, FALSE);
    mpeg_gop (&stream, i * FRAMES_OF_GOP, TRUE);
    for (j = 0; j < FRAMES_OF_GOP; j++) {
      picture.type = j == 0 ? 'I' : 'P';
      picture.tr = j;
      mpeg_picture (&stream, &picture);
    }
  }
  mpeg_align (&stream);
  fd = g_file_open_tmp ("pullreader-XXXXXX", &f->path, &error);
  g_assert_no_error (error);
  fail_unless (g_close (fd, &error));
  fail_unless (g_file_set_contents (f->path,
          (const gchar *) stream.bytes->data, stream.bytes->len, &error));
  mpeg_stream_clear (&stream);
}

static void
record (GstElement * sink, GstBuffer * buffer, GstPad * pad, GArray * outputs)
{
  Output output = { GST_BUFFER_PTS (buffer), GST_BUFFER_DTS (buffer) };
  GstMapInfo map;
  gsize i;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  output.size = map.size;
  for (i = 0; i < map.size; i++)
    output.hash = output.hash * 31 + map.data[i];
  gst_buffer_unmap (buffer, &map);
  output.flags = GST_BUFFER_FLAGS (buffer) & (GST_BUFFER_FLAG_DISCONT
      | GST_BUFFER_FLAG_DELTA_UNIT | GST_BUFFER_FLAG_MARKER);
  g_array_append_val (outputs, output);
}

static Fixture *
fixture_new (const gchar * upstream, const gchar * element,
    const gchar * downstream)
{
  Fixture *f = g_new0 (Fixture, 1);
  GError *error = NULL;
  GstElement *sink;
  gchar *line;

  fixture_write_file (f);
  f->outputs = g_array_new (FALSE, FALSE, sizeof (Output));
  line = g_strdup_printf ("filesrc location=%s ! %s %s name=element ! %s "
      "fakesink name=sink signal-handoffs=true", f->path, upstream, element,
      downstream);
  f->pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  f->element = gst_bin_get_by_name (GST_BIN (f->pipeline), "element");
  sink = gst_bin_get_by_name (GST_BIN (f->pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (record), f->outputs);
  gst_object_unref (sink);
  g_free (line);
  return f;
}

static void
fixture_set_state (Fixture * f, GstState state)
{
  fail_if (gst_element_set_state (f->pipeline, state)
      == GST_STATE_CHANGE_FAILURE);
}

static void
fixture_preroll (Fixture * f)
{
  fixture_set_state (f, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (f->pipeline, NULL, NULL,
          GST_CLOCK_TIME_NONE), GST_STATE_CHANGE_SUCCESS);
}

static GstMessage *
fixture_wait (Fixture * f, GstMessageType type)
{
  GstBus *bus = gst_element_get_bus (f->pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, type);

  gst_object_unref (bus);
  return message;
}

static void
fixture_play_to_end (Fixture * f)
{
  fixture_set_state (f, GST_STATE_PLAYING);
  gst_message_unref (fixture_wait (f, GST_MESSAGE_EOS));
}

static gboolean
fixture_seek (Fixture * f, GstFormat format, GstSeekFlags flags, gint64 start)
{
  return gst_element_seek (f->pipeline, 1.0, format, flags, GST_SEEK_TYPE_SET,
      start, GST_SEEK_TYPE_NONE, -1);
}

static void
fixture_free (Fixture * f)
{
  fixture_set_state (f, GST_STATE_NULL);
  gst_object_unref (f->element);
  gst_object_unref (f->pipeline);
  g_array_unref (f->outputs);
  g_array_unref (f->gops);
  g_unlink (f->path);
  g_free (f->path);
  g_free (f);
}

static void
check_equal (const GArray * a, const GArray * b)
{
  guint i;

  fail_unless_equals_int (a->len, b->len);
  for (i = 0; i < a->len; i++) {
    const Output *x = &g_array_index (a, Output, i);
    const Output *y = &g_array_index (b, Output, i);

    fail_unless_equals_uint64 (x->pts, y->pts);
    fail_unless_equals_uint64 (x->dts, y->dts);
    fail_unless_equals_uint64 (x->size, y->size);
    fail_unless_equals_int (x->flags, y->flags);
    fail_unless_equals_int (x->hash, y->hash);
  }
}

static GstPadMode
get_mode (Fixture * f)
{
  GstPad *pad = gst_element_get_static_pad (f->element, "sink");
  GstPadMode mode = GST_PAD_MODE (pad);

  gst_object_unref (pad);
  return mode;
}

/* --- tests ---------------------------------------------------------------- */

GST_START_TEST (file_is_read_only_from_a_source)
{
  const gchar *const pushing[] = {
    "queue !", "identity !", "video/mpeg,mpegversion=2,systemstream=false !"
  };
  Fixture *f = fixture_new ("", elements[__i__], "");
  guint i;

  fixture_preroll (f);
  fail_unless_equals_int (get_mode (f), GST_PAD_MODE_PULL);
  fixture_free (f);
  for (i = 0; i < G_N_ELEMENTS (pushing); i++) {
    f = fixture_new (pushing[i], elements[__i__], "");
    fixture_preroll (f);
    fail_unless_equals_int (get_mode (f), GST_PAD_MODE_PUSH);
    fixture_free (f);
  }
}

GST_END_TEST;

GST_START_TEST (output_is_that_of_push_mode)
{
  Fixture *f[2];
  guint i;

  for (i = 0; i < 2; i++) {
    f[i] = fixture_new (upstreams[i], elements[__i__], "");
    fixture_play_to_end (f[i]);
    fail_unless (f[i]->outputs->len >= GOPS * FRAMES_OF_GOP);
  }
  check_equal (f[0]->outputs, f[1]->outputs);
  for (i = 0; i < 2; i++)
    fixture_free (f[i]);
}

GST_END_TEST;

GST_START_TEST (file_is_read_again_after_a_stop)
{
  Fixture *f = fixture_new ("", elements[__i__], "");
  guint n;

  fixture_play_to_end (f);
  n = f->outputs->len;
  fixture_set_state (f, GST_STATE_READY);
  fixture_play_to_end (f);
  fail_unless_equals_int (f->outputs->len, 2 * n);
  fixture_free (f);
}

GST_END_TEST;

GST_START_TEST (flushing_seek_in_bytes_is_that_of_push_mode)
{
  Fixture *f[2];
  guint i;

  for (i = 0; i < 2; i++) {
    f[i] = fixture_new (upstreams[i], elements[__i__], "");
    fixture_preroll (f[i]);
    g_array_set_size (f[i]->outputs, 0);
    fail_unless (fixture_seek (f[i], GST_FORMAT_BYTES, GST_SEEK_FLAG_FLUSH,
            g_array_index (f[i]->gops, guint, GOPS / 2)));
    fixture_play_to_end (f[i]);
    fail_unless (f[i]->outputs->len >= GOPS / 2 * FRAMES_OF_GOP);
  }
  check_equal (f[0]->outputs, f[1]->outputs);
  for (i = 0; i < 2; i++)
    fixture_free (f[i]);
}

GST_END_TEST;

/* At the end of the stream, the element pauses the task that reads the file. If
 * a seek arrives after this, the element must read the file again. */
GST_START_TEST (seek_after_the_end_reads_again)
{
  Fixture *f = fixture_new ("", elements[__i__], "");
  guint n;

  fixture_play_to_end (f);
  n = f->outputs->len;
  fail_unless (fixture_seek (f, GST_FORMAT_BYTES, GST_SEEK_FLAG_FLUSH, 0));
  gst_message_unref (fixture_wait (f, GST_MESSAGE_EOS));
  fail_unless_equals_int (f->outputs->len, 2 * n);
  fixture_free (f);
}

GST_END_TEST;

GST_START_TEST (other_seeks_are_refused)
{
  Fixture *f = fixture_new ("", elements[__i__], "");

  fixture_preroll (f);
  fail_if (fixture_seek (f, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
  fail_if (fixture_seek (f, GST_FORMAT_BYTES,
          GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT, 0));
  fixture_play_to_end (f);
  fail_unless (f->outputs->len >= GOPS * FRAMES_OF_GOP);
  fixture_free (f);
}

GST_END_TEST;

GST_START_TEST (reading_stops_after_an_error_downstream)
{
  Fixture *f = fixture_new ("", elements[__i__], "identity error-after=2 !");

  fixture_set_state (f, GST_STATE_PLAYING);
  gst_message_unref (fixture_wait (f, GST_MESSAGE_ERROR));
  fixture_free (f);
}

GST_END_TEST;

/* When the element pushes a buffer, an element downstream may hold the push
 * until the frame is due. It must be possible to stop the pipeline during this
 * wait. */
GST_START_TEST (stop_while_downstream_waits)
{
  Fixture *f = fixture_new ("", elements[__i__], "clocksync !");

  fixture_set_state (f, GST_STATE_PLAYING);
  gst_element_get_state (f->pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  fixture_free (f);
}

GST_END_TEST;

/* mpegstat reads a block of the file that contains several frames. It pushes
 * the frames one after the other. The arrival time of a frame must not be
 * earlier than the moment at which the push of the previous frame has returned.
 */
GST_START_TEST (frame_arrives_when_downstream_takes_it)
{
  Fixture *f = fixture_new ("", "mpegstat post-messages=true", "clocksync !");
  const GstStructure *structure;
  GstMessage *message;
  guint64 arrival = 0;
  guint frames = 0;

  fixture_set_state (f, GST_STATE_PLAYING);
  while (frames < FRAMES_OF_BLOCK) {
    message = fixture_wait (f, GST_MESSAGE_ELEMENT);
    structure = gst_message_get_structure (message);
    if (gst_structure_has_name (structure, "application/x-mpegstat-frame")) {
      fail_unless (gst_structure_get_uint64 (structure, "arrival_ns",
              &arrival));
      frames++;
    }
    gst_message_unref (message);
  }
  /* mpegstat pushes the frames of the block one after the other to clocksync.
   * When the push of a frame returns, mpegstat takes the next frame. This
   * moment is the arrival time of the next frame. clocksync lets the first
   * frame pass immediately, so the second frame arrives at about the same time
   * as the first one. From then on, clocksync lets one frame pass in each frame
   * duration. The third frame therefore arrives one frame duration after the
   * first one, and frame n arrives n - 2 frame durations after it.
   *
   * For the last frame of the block, n is FRAMES_OF_BLOCK. The test demands
   * only n - 3 frame durations, because the start time of the pipeline is not
   * exact. */
  fail_unless (arrival >= (FRAMES_OF_BLOCK - 3) * FRAME_DURATION);
  fixture_free (f);
}

GST_END_TEST;

static Suite *
pullreader_suite (void)
{
  Suite *s = suite_create ("pullreader");
  TCase *tc = tcase_create ("elements");
  const gint n = G_N_ELEMENTS (elements);

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, file_is_read_only_from_a_source, 0, n);
  tcase_add_loop_test (tc, output_is_that_of_push_mode, 0, n);
  tcase_add_loop_test (tc, file_is_read_again_after_a_stop, 0, n);
  tcase_add_loop_test (tc, flushing_seek_in_bytes_is_that_of_push_mode, 0, n);
  tcase_add_loop_test (tc, seek_after_the_end_reads_again, 0, n);
  tcase_add_loop_test (tc, other_seeks_are_refused, 0, n);
  tcase_add_loop_test (tc, reading_stops_after_an_error_downstream, 0, n);
  tcase_add_loop_test (tc, stop_while_downstream_waits, 0, n);
  tcase_add_test (tc, frame_arrives_when_downstream_takes_it);
  return s;
}

GST_CHECK_MAIN (pullreader);
