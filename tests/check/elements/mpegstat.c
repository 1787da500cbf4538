/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the element mpegstat, which measures a video stream that passes through
 * it. The test constructs the video streams itself, as sequences of single
 * bits. It checks which buffers mpegstat pushes, and when, and also the
 * counters, the log and the messages of mpegstat.
 */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>
#include <gst/base/gstbitwriter.h>

#include <glib/gstdio.h>
#include <string.h>

#include "overwritingpool.h"

#define RAW_CAPS "video/mpeg,mpegversion=2,systemstream=false"
#define PARSED_CAPS RAW_CAPS ",parsed=true"

#define FRAME_TIME (40 * GST_MSECOND)

/* The test stream has 25 frames per second. Its first GOP is closed, and has
 * the frames I0 P3 B1 B2 in transport order. The number is the position of the
 * frame in display order. Each later GOP is open, and has the frames I2 B0 B1
 * P5 B3 B4. */

#define FRAMES_IN_FIRST_GOP 4
#define FRAMES_IN_GOP 6
#define FRAMES(gops) (FRAMES_IN_FIRST_GOP + ((gops) - 1) * FRAMES_IN_GOP)

typedef struct
{
  gchar type;
  guint temporal_reference;
} Place;

static const Place first_gop[FRAMES_IN_FIRST_GOP] = {
  {'I', 0}, {'P', 3}, {'B', 1}, {'B', 2}
};

static const Place other_gop[FRAMES_IN_GOP] = {
  {'I', 2}, {'B', 0}, {'B', 1}, {'P', 5}, {'B', 3}, {'B', 4}
};

static Place
place_of (guint n)
{
  if (n < FRAMES_IN_FIRST_GOP)
    return first_gop[n];
  return other_gop[(n - FRAMES_IN_FIRST_GOP) % FRAMES_IN_GOP];
}

static void
put_bits (GstBitWriter * writer, guint32 value, guint n_bits)
{
  gst_bit_writer_put_bits_uint32 (writer, value, n_bits);
}

static void
put_code (GstBitWriter * writer, guint8 code)
{
  gst_bit_writer_align_bytes (writer, 0);
  put_bits (writer, 0x100 | code, 32);
}

/* ISO/IEC 13818-2, sections 6.2.2.1 and 6.2.2.3 */
static void
put_sequence (GstBitWriter * writer, guint width, guint height)
{
  put_code (writer, 0xb3);
  put_bits (writer, width, 12);
  put_bits (writer, height, 12);
  put_bits (writer, 2, 4);      /* aspect ratio */
  put_bits (writer, 3, 4);      /* 25 fps */
  put_bits (writer, 10000, 18);
  put_bits (writer, 1, 1);
  put_bits (writer, 100, 10);
  put_bits (writer, 0, 3);

  put_code (writer, 0xb5);
  put_bits (writer, 1, 4);
  put_bits (writer, 0x48, 8);   /* Main@Main */
  put_bits (writer, 1, 1);      /* progressive */
  put_bits (writer, 1, 2);      /* 4:2:0 */
  put_bits (writer, 0, 16);
  put_bits (writer, 1, 1);
  put_bits (writer, 0, 16);
}

/* Writes a GOP header (ISO/IEC 13818-2, section 6.2.2.6). Its time code is
 * computed from `number`, the number of pictures before this GOP. */
static void
put_gop (GstBitWriter * writer, guint number, gboolean closed)
{
  put_code (writer, 0xb8);
  put_bits (writer, 0, 1);
  put_bits (writer, number / 25 / 3600, 5);
  put_bits (writer, number / 25 / 60 % 60, 6);
  put_bits (writer, 1, 1);
  put_bits (writer, number / 25 % 60, 6);
  put_bits (writer, number % 25, 6);
  put_bits (writer, closed, 1);
  put_bits (writer, 0, 6);
}

/* ISO/IEC 13818-2, sections 6.2.3 and 6.2.3.1 */
static void
put_picture (GstBitWriter * writer, const Place * place)
{
  guint type = place->type == 'I' ? 1 : place->type == 'P' ? 2 : 3;

  put_code (writer, 0x00);
  put_bits (writer, place->temporal_reference, 10);
  put_bits (writer, type, 3);
  put_bits (writer, 0xffff, 16);
  if (type >= 2)
    put_bits (writer, 7, 4);
  if (type == 3)
    put_bits (writer, 7, 4);
  put_bits (writer, 0, 1);

  put_code (writer, 0xb5);
  put_bits (writer, 8, 4);
  put_bits (writer, 0xffff, 16);
  put_bits (writer, 0, 2);
  put_bits (writer, 3, 2);      /* frame picture */
  put_bits (writer, 0x183, 9);  /* top field first, frame DCT, progressive */
  put_bits (writer, 0, 1);      /* no composite display */
}

/* Writes `rows` slices of frame `n`, each with `size` bytes of data. The data
 * differ in each slice and frame. No byte is 0, so the data contain no start
 * code. */
static void
put_slices (GstBitWriter * writer, guint n, guint rows, guint size)
{
  guint row, i;

  for (row = 1; row <= rows; row++) {
    put_code (writer, row);
    for (i = 0; i < size; i++)
      put_bits (writer, 0x40 | ((n * 7 + row * 3 + i) & 0x3f), 8);
  }
}

static GBytes *
take_bytes (GstBitWriter * writer)
{
  guint size;

  gst_bit_writer_align_bytes (writer, 0);
  size = gst_bit_writer_get_size (writer) / 8;
  return g_bytes_new_take (gst_bit_writer_reset_and_get_data (writer), size);
}

/* Makes frame `n`. Its headers say that the frame has `width` x `height`
 * pixels. The frame contains `rows` rows of slices. If a frame of this size
 * needs more rows than that, the frame is incomplete. */
static GBytes *
make_frame_rows (guint n, guint width, guint height, guint rows)
{
  GstBitWriter writer;
  Place place = place_of (n);

  gst_bit_writer_init (&writer);
  if (place.type == 'I') {
    put_sequence (&writer, width, height);
    put_gop (&writer, n, n == 0);
  }
  put_picture (&writer, &place);
  put_slices (&writer, n, rows,
      place.type == 'I' ? 400 : place.type == 'P' ? 200 : 100);
  return take_bytes (&writer);
}

static GBytes *
make_frame (guint n)
{
  return make_frame_rows (n, 64, 48, 3);
}

/* Takes the bytes. */
static GstBuffer *
wrap_bytes (GBytes * bytes)
{
  GstBuffer *buffer = gst_buffer_new_wrapped_bytes (bytes);

  g_bytes_unref (bytes);
  return buffer;
}

static GstBuffer *
make_buffer (guint n)
{
  return wrap_bytes (make_frame (n));
}

static GByteArray *
make_stream (guint n_frames)
{
  GByteArray *stream = g_byte_array_new ();
  guint n;

  for (n = 0; n < n_frames; n++) {
    GBytes *frame = make_frame (n);

    g_byte_array_append (stream, g_bytes_get_data (frame, NULL),
        g_bytes_get_size (frame));
    g_bytes_unref (frame);
  }
  return stream;
}

/* --- helpers -------------------------------------------------------------- */

typedef struct
{
  GstHarness *harness;
  GstElement *element;
  GstBus *bus;
} Fixture;

/* Creates an element mpegstat, but does not start it. The test can then set
 * properties before the start. */
static GstElement *
make_element (void)
{
  GstElement *element = gst_element_factory_make ("mpegstat", NULL);

  fail_unless (element != NULL, "no element mpegstat");
  return element;
}

/* Takes ownership of `element` and puts it into the harness of the fixture. If
 * `caps` is NULL, the function sends no CAPS event, but a segment in bytes, as
 * filesrc does. */
static void
setup (Fixture * f, GstElement * element, const gchar * caps)
{
  GstSegment segment;

  f->element = element;
  f->bus = gst_bus_new ();
  gst_element_set_bus (element, f->bus);
  f->harness = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  if (caps) {
    gst_harness_set_src_caps_str (f->harness, caps);
    return;
  }
  gst_harness_push_event (f->harness, gst_event_new_stream_start ("raw"));
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (f->harness, gst_event_new_segment (&segment));
}

static void
teardown (Fixture * f)
{
  gst_element_set_bus (f->element, NULL);
  gst_object_unref (f->bus);
  gst_harness_teardown (f->harness);
}

static GstStructure *
get_stats (GstElement * element)
{
  GstStructure *stats = NULL;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (stats != NULL);
  return stats;
}

static gint64
stat_of (const GstStructure * stats, const gchar * name)
{
  guint64 u;
  gint64 i;

  if (gst_structure_get_uint64 (stats, name, &u))
    return u;
  fail_unless (gst_structure_get_int64 (stats, name, &i), "no field %s", name);
  return i;
}

static gint64
get_stat (GstElement * element, const gchar * name)
{
  GstStructure *stats = get_stats (element);
  gint64 value = stat_of (stats, name);

  gst_structure_free (stats);
  return value;
}

#define assert_stat(element, name, value) \
    fail_unless_equals_int64 (get_stat (element, name), value)

static void
assert_losses (GstElement * element, guint i, guint p, guint b)
{
  GstStructure *stats = get_stats (element);
  gchar *text = gst_structure_to_string (stats);

  fail_unless (stat_of (stats, "lost-i") == i && stat_of (stats,
          "lost-p") == p && stat_of (stats, "lost-b") == b
      && stat_of (stats, "lost-unknown") == 0
      && stat_of (stats, "lost") == i + p + b,
      "want %u I, %u P, %u B lost, have %s", i, p, b, text);
  g_free (text);
  gst_structure_free (stats);
}

static void
push_frame (Fixture * f, guint n)
{
  fail_unless_equals_int (gst_harness_push (f->harness, make_buffer (n)),
      GST_FLOW_OK);
}

static void
push_frames (Fixture * f, guint first, guint end)
{
  guint n;

  for (n = first; n < end; n++)
    push_frame (f, n);
}

static void
push_bytes (Fixture * f, const guint8 * bytes, gsize size)
{
  fail_unless_equals_int (gst_harness_push (f->harness,
          gst_buffer_new_memdup (bytes, size)), GST_FLOW_OK);
}

static void
push_stream_in_pieces (Fixture * f, const GByteArray * stream, gsize piece)
{
  gsize offset;

  for (offset = 0; offset < stream->len; offset += piece)
    push_bytes (f, stream->data + offset, MIN (piece, stream->len - offset));
}

static void
push_eos (Fixture * f)
{
  fail_unless (gst_harness_push_event (f->harness, gst_event_new_eos ()));
}

/* Returns the structure of the next element message with the given name, or
 * NULL if there is none. */
static GstStructure *
pop_message (Fixture * f, const gchar * name)
{
  GstStructure *structure = NULL;
  GstMessage *message;

  while (!structure && (message = gst_bus_pop_filtered (f->bus,
              GST_MESSAGE_ELEMENT))) {
    if (gst_message_has_name (message, name))
      structure = gst_structure_copy (gst_message_get_structure (message));
    gst_message_unref (message);
  }
  return structure;
}

static gchar *
temporary_path (void)
{
  gchar *path = NULL;
  gint fd = g_file_open_tmp ("mpegstat-XXXXXX", &path, NULL);

  fail_unless (fd >= 0);
  g_close (fd, NULL);
  return path;
}

/* Returns the lines of the file `path`. Deletes the file, and frees the string
 * `path`. */
static gchar **
take_lines (gchar * path)
{
  gchar *text, **lines;

  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  g_unlink (path);
  g_free (path);
  fail_unless (g_str_has_suffix (text, "\n"));
  text[strlen (text) - 1] = '\0';
  lines = g_strsplit (text, "\n", -1);
  g_free (text);
  return lines;
}

/* Returns a copy of the log line `line`, in which the columns with arrival
 * times are empty. The caller frees the copy. */
static gchar *
without_times (const gchar * line)
{
  gchar **fields = g_strsplit (line, ",", -1);
  gchar *rest;

  fail_unless_equals_int (g_strv_length (fields), 17);
  fields[1][0] = fields[2][0] = fields[4][0] = '\0';
  rest = g_strjoinv (",", fields);
  g_strfreev (fields);
  return rest;
}

/* --- passed buffers ------------------------------------------------------- */

static void
assert_passed (Fixture * f, guint n_frames)
{
  guint n;

  for (n = 0; n < n_frames; n++) {
    GstBuffer *buffer = gst_harness_try_pull (f->harness);
    GBytes *frame = make_frame (n);
    Place place = place_of (n);

    fail_unless (buffer != NULL, "only %u buffers", n);
    gst_check_buffer_data (buffer, g_bytes_get_data (frame, NULL),
        g_bytes_get_size (frame));
    g_bytes_unref (frame);
    fail_unless_equals_clocktime (GST_BUFFER_DTS (buffer), n * FRAME_TIME);
    fail_unless_equals_clocktime (GST_BUFFER_DURATION (buffer), FRAME_TIME);
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (buffer,
            GST_BUFFER_FLAG_DELTA_UNIT), place.type != 'I');
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (buffer,
            GST_BUFFER_FLAG_DROPPABLE), place.type == 'B');
    fail_if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_CORRUPTED));
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (buffer,
            GST_BUFFER_FLAG_DISCONT), n == 0);
    gst_buffer_unref (buffer);
  }
  fail_unless (gst_harness_try_pull (f->harness) == NULL);
}

GST_START_TEST (pools_may_have_their_buffers_back)
{
  GPtrArray *frames =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  guint i;

  for (i = 0; i < FRAMES (2); i++)
    g_ptr_array_add (frames, make_buffer (i));
  pooled_compare_launch ("mpegstat", PARSED_CAPS, frames);
  pooled_compare_launch ("mpegstat", RAW_CAPS, frames);
  g_ptr_array_unref (frames);
}

GST_END_TEST;

/* If a frame has the number n in display order, its PTS must be n + 1 frame
 * periods. The DTS must increase by one frame period from frame to frame in
 * transport order. */
GST_START_TEST (parsed_frames_pass_with_timestamps_and_flags)
{
  const guint display[] = { 0, 3, 1, 2, 6, 4, 5, 9, 7, 8 };
  Fixture f;
  GstBuffer *buffer;
  guint n;

  setup (&f, make_element (), PARSED_CAPS);
  push_frames (&f, 0, 10);
  push_eos (&f);
  for (n = 0; n < 10; n++) {
    buffer = gst_harness_pull (f.harness);
    fail_unless_equals_clocktime (GST_BUFFER_PTS (buffer),
        (display[n] + 1) * FRAME_TIME);
    gst_buffer_unref (buffer);
  }
  teardown (&f);

  setup (&f, make_element (), PARSED_CAPS);
  push_frames (&f, 0, FRAMES (4));
  push_eos (&f);
  assert_passed (&f, FRAMES (4));
  teardown (&f);
}

GST_END_TEST;

static const gsize piece_sizes[] = { 1, 3, 100, 451, 4096, 1000000 };

GST_START_TEST (raw_bytes_pass_as_frames_however_they_are_cut)
{
  GByteArray *stream = make_stream (FRAMES (4));
  Fixture f;

  setup (&f, make_element (), NULL);
  push_stream_in_pieces (&f, stream, piece_sizes[__i__]);
  push_eos (&f);
  assert_passed (&f, FRAMES (4));
  assert_stat (f.element, "junk-bytes", 0);
  teardown (&f);
  g_byte_array_unref (stream);
}

GST_END_TEST;

GST_START_TEST (upstream_timestamps_are_kept)
{
  Fixture f;
  GstBuffer *buffer;

  setup (&f, make_element (), PARSED_CAPS);
  buffer = make_buffer (0);
  GST_BUFFER_PTS (buffer) = 12345;
  GST_BUFFER_DTS (buffer) = 2345;
  gst_harness_push (f.harness, buffer);
  buffer = gst_harness_pull (f.harness);
  fail_unless_equals_clocktime (GST_BUFFER_PTS (buffer), 12345);
  fail_unless_equals_clocktime (GST_BUFFER_DTS (buffer), 2345);
  gst_buffer_unref (buffer);
  teardown (&f);
}

GST_END_TEST;

/* filesrc sends a segment in bytes, and sets the PTS and the DTS of its first
 * buffer to 0. In such a segment, mpegstat must ignore these values and compute
 * the timestamps itself. */
GST_START_TEST (timestamps_in_a_byte_segment_are_ignored)
{
  GByteArray *stream = make_stream (2);
  Fixture f;
  GstBuffer *buffer;

  setup (&f, make_element (), NULL);
  buffer = gst_buffer_new_memdup (stream->data, stream->len);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = 0;
  gst_harness_push (f.harness, buffer);
  push_eos (&f);
  buffer = gst_harness_pull (f.harness);
  fail_unless_equals_clocktime (GST_BUFFER_PTS (buffer), FRAME_TIME);
  fail_unless_equals_clocktime (GST_BUFFER_DTS (buffer), 0);
  gst_buffer_unref (buffer);
  buffer = gst_harness_pull (f.harness);
  fail_unless_equals_clocktime (GST_BUFFER_DTS (buffer), FRAME_TIME);
  gst_buffer_unref (buffer);
  teardown (&f);
  g_byte_array_unref (stream);
}

GST_END_TEST;

/* --- events and queries --------------------------------------------------- */

static void
assert_next_event (Fixture * f, GstEventType type)
{
  GstEvent *event = gst_harness_try_pull_event (f->harness);

  fail_unless (event != NULL, "no %s", gst_event_type_get_name (type));
  fail_unless_equals_string (GST_EVENT_TYPE_NAME (event),
      gst_event_type_get_name (type));
  gst_event_unref (event);
}

static GstStructure *
src_caps (Fixture * f)
{
  GstPad *pad = gst_element_get_static_pad (f->element, "src");
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstStructure *structure;

  gst_object_unref (pad);
  fail_unless (caps != NULL);
  structure = gst_structure_copy (gst_caps_get_structure (caps, 0));
  gst_caps_unref (caps);
  return structure;
}

static void
assert_src_caps (Fixture * f, gint width, gint height)
{
  GstStructure *caps = src_caps (f);
  gint n, d, w, h, version;
  gboolean parsed;

  fail_unless (gst_structure_get (caps, "width", G_TYPE_INT, &w, "height",
          G_TYPE_INT, &h, "mpegversion", G_TYPE_INT, &version, "parsed",
          G_TYPE_BOOLEAN, &parsed, "framerate", GST_TYPE_FRACTION, &n, &d,
          NULL));
  fail_unless_equals_int (w, width);
  fail_unless_equals_int (h, height);
  fail_unless_equals_int (version, 2);
  fail_unless (parsed);
  fail_unless_equals_int (n, 25);
  fail_unless_equals_int (d, 1);
  gst_structure_free (caps);
}

GST_START_TEST (caps_and_time_segment_precede_all_else_of_a_raw_stream)
{
  GByteArray *stream = make_stream (3);
  Fixture f;
  GstEvent *event;
  const GstSegment *segment;

  setup (&f, make_element (), NULL);
  gst_harness_push_event (f.harness,
      gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "film", NULL)));
  assert_next_event (&f, GST_EVENT_STREAM_START);
  fail_unless (gst_harness_try_pull_event (f.harness) == NULL);

  push_stream_in_pieces (&f, stream, 700);
  assert_next_event (&f, GST_EVENT_CAPS);
  event = gst_harness_pull_event (f.harness);
  fail_unless_equals_int (GST_EVENT_TYPE (event), GST_EVENT_SEGMENT);
  gst_event_parse_segment (event, &segment);
  fail_unless_equals_int (segment->format, GST_FORMAT_TIME);
  gst_event_unref (event);
  assert_next_event (&f, GST_EVENT_TAG);
  assert_src_caps (&f, 64, 48);

  push_eos (&f);
  assert_next_event (&f, GST_EVENT_EOS);
  teardown (&f);
  g_byte_array_unref (stream);
}

GST_END_TEST;

GST_START_TEST (filesrc_links_and_runs)
{
  GByteArray *stream = make_stream (FRAMES (3));
  gchar *path = temporary_path (), *line;
  GstElement *pipeline, *mpegstat;
  GstBus *bus;
  GstMessage *message;

  fail_unless (g_file_set_contents (path, (gchar *) stream->data, stream->len,
          NULL));
  line = g_strdup_printf ("filesrc location=%s ! mpegstat name=m ! fakesink",
      path);
  pipeline = gst_parse_launch (line, NULL);
  fail_unless (pipeline != NULL);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  mpegstat = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  assert_stat (mpegstat, "frames", FRAMES (3));
  assert_losses (mpegstat, 0, 0, 0);
  gst_object_unref (mpegstat);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_unlink (path);
  g_free (path);
  g_free (line);
  g_byte_array_unref (stream);
}

GST_END_TEST;

GST_START_TEST (eos_of_an_empty_stream_passes)
{
  Fixture f;

  setup (&f, make_element (), NULL);
  push_eos (&f);
  assert_next_event (&f, GST_EVENT_STREAM_START);
  assert_next_event (&f, GST_EVENT_SEGMENT);
  assert_next_event (&f, GST_EVENT_EOS);
  assert_stat (f.element, "frames", 0);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (input_without_video_is_an_error_and_eos_passes)
{
  guint8 noise[5000];
  Fixture f;
  GstMessage *message;

  setup (&f, make_element (), NULL);
  memset (noise, 0x47, sizeof (noise));
  push_bytes (&f, noise, sizeof (noise));
  push_eos (&f);
  message = gst_bus_pop_filtered (f.bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);
  assert_next_event (&f, GST_EVENT_STREAM_START);
  assert_next_event (&f, GST_EVENT_SEGMENT);
  assert_next_event (&f, GST_EVENT_EOS);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (gap_before_the_first_frame_brings_caps)
{
  Fixture f;

  setup (&f, make_element (), PARSED_CAPS);
  gst_harness_push_event (f.harness, gst_event_new_gap (0, GST_SECOND));
  assert_next_event (&f, GST_EVENT_STREAM_START);
  assert_next_event (&f, GST_EVENT_CAPS);
  assert_next_event (&f, GST_EVENT_SEGMENT);
  assert_next_event (&f, GST_EVENT_GAP);
  push_frame (&f, 0);
  assert_next_event (&f, GST_EVENT_CAPS);
  assert_src_caps (&f, 64, 48);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (a_new_picture_size_brings_new_caps)
{
  Fixture f;
  guint i;

  setup (&f, make_element (), PARSED_CAPS);
  push_frame (&f, 0);
  assert_src_caps (&f, 64, 48);
  gst_harness_push (f.harness, wrap_bytes (make_frame_rows (4, 80, 64, 4)));
  assert_src_caps (&f, 80, 64);
  assert_stat (f.element, "incomplete", 0);
  for (i = 0; i < 3; i++)
    gst_event_unref (gst_harness_pull_event (f.harness));
  assert_next_event (&f, GST_EVENT_CAPS);
  /* The size of the video has just changed, and mpegstat has sent a CAPS event.
   * When a frame with the same size follows, mpegstat must not send another
   * CAPS event. */
  gst_harness_push (f.harness, wrap_bytes (make_frame_rows (10, 80, 64, 4)));
  fail_unless (gst_harness_try_pull_event (f.harness) == NULL);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (fields_of_upstream_caps_are_kept_and_renewed)
{
  Fixture f;
  GstStructure *caps;

  setup (&f, make_element (), PARSED_CAPS ",profile=(string)main");
  push_frame (&f, 0);
  caps = src_caps (&f);
  fail_unless_equals_string (gst_structure_get_string (caps, "profile"),
      "main");
  gst_structure_free (caps);

  gst_harness_set_src_caps_str (f.harness,
      PARSED_CAPS ",profile=(string)simple");
  push_frame (&f, 4);
  caps = src_caps (&f);
  fail_unless_equals_string (gst_structure_get_string (caps, "profile"),
      "simple");
  gst_structure_free (caps);
  assert_src_caps (&f, 64, 48);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (flush_begins_anew_and_keeps_counters)
{
  Fixture f;
  GstBuffer *buffer;
  GstSegment segment;

  setup (&f, make_element (), NULL);
  push_frames (&f, 0, 8);
  assert_stat (f.element, "frames", 7);

  gst_harness_push_event (f.harness, gst_event_new_flush_start ());
  gst_harness_push_event (f.harness, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (f.harness, gst_event_new_segment (&segment));
  while ((buffer = gst_harness_try_pull (f.harness)))
    gst_buffer_unref (buffer);

  /* mpegstat has not pushed frame 7 yet, so the flush drops this frame. The
   * stream continues with frame 40. mpegstat must not count the frames between
   * 7 and 40 as lost. */
  push_frames (&f, 40, 46);
  push_eos (&f);
  assert_stat (f.element, "frames", 13);
  assert_losses (f.element, 0, 0, 0);
  buffer = gst_harness_pull (f.harness);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
  fail_unless_equals_clocktime (GST_BUFFER_DTS (buffer), 0);
  gst_buffer_unref (buffer);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (a_new_stream_drains_the_old_one)
{
  Fixture f;

  setup (&f, make_element (), NULL);
  push_frames (&f, 0, 4);
  assert_stat (f.element, "frames", 3);
  gst_harness_push_event (f.harness, gst_event_new_stream_start ("next"));
  assert_stat (f.element, "frames", 4);
  push_frames (&f, 40, 46);
  push_eos (&f);
  assert_stat (f.element, "frames", 10);
  assert_losses (f.element, 0, 0, 0);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (seek_goes_upstream)
{
  Fixture f;
  GstEvent *event;
  GstPad *pad;

  setup (&f, make_element (), PARSED_CAPS);
  push_frame (&f, 0);
  pad = gst_element_get_static_pad (f.element, "src");
  gst_pad_send_event (pad, gst_event_new_seek (1.0, GST_FORMAT_TIME,
          GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, GST_SECOND,
          GST_SEEK_TYPE_NONE, 0));
  gst_object_unref (pad);
  while ((event = gst_harness_try_pull_upstream_event (f.harness))) {
    gboolean seek = GST_EVENT_TYPE (event) == GST_EVENT_SEEK;

    gst_event_unref (event);
    if (seek)
      break;
  }
  fail_unless (event != NULL);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (raw_live_input_adds_one_frame_of_latency)
{
  Fixture f;

  setup (&f, make_element (), RAW_CAPS);
  gst_harness_set_upstream_latency (f.harness, 100 * GST_MSECOND);
  /* mpegstat has received no frame yet, so it does not know the frame rate. Its
   * latency is one frame period. It must therefore report the maximum frame
   * period, which is 1001/24000 s, in addition to the latency of upstream. */
  fail_unless_equals_clocktime (gst_harness_query_latency (f.harness),
      100 * GST_MSECOND + GST_SECOND * 1001 / 24000);
  push_frames (&f, 0, 2);
  fail_unless_equals_clocktime (gst_harness_query_latency (f.harness),
      140 * GST_MSECOND);
  teardown (&f);

  setup (&f, make_element (), PARSED_CAPS);
  gst_harness_set_upstream_latency (f.harness, 100 * GST_MSECOND);
  push_frame (&f, 0);
  fail_unless_equals_clocktime (gst_harness_query_latency (f.harness),
      100 * GST_MSECOND);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (stored_input_gets_no_latency)
{
  GstElement *pipeline, *mpegstat;
  GstQuery *query = gst_query_new_latency ();
  GstPad *pad;
  GstClockTime min;
  gboolean live;

  pipeline = gst_parse_launch ("appsrc caps=" RAW_CAPS " ! mpegstat name=m "
      "! fakesink async=false", NULL);
  fail_unless (pipeline != NULL);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  mpegstat = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  pad = gst_element_get_static_pad (mpegstat, "src");
  fail_unless (gst_pad_query (pad, query));
  gst_query_parse_latency (query, &live, &min, NULL);
  fail_if (live);
  fail_unless_equals_clocktime (min, 0);
  gst_query_unref (query);
  gst_object_unref (pad);
  gst_object_unref (mpegstat);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (downstream_limits_are_upstreams_but_for_parsed)
{
  Fixture f;
  GstPad *pad;
  GstCaps *caps, *want;

  setup (&f, make_element (), RAW_CAPS);
  gst_harness_set_sink_caps_str (f.harness,
      "video/mpeg,mpegversion=2,systemstream=false,parsed=true,width=352");
  pad = gst_element_get_static_pad (f.element, "sink");
  caps = gst_pad_query_caps (pad, NULL);
  want = gst_caps_from_string (RAW_CAPS ",width=352");
  fail_unless (gst_caps_is_equal (caps, want), "%" GST_PTR_FORMAT, caps);
  gst_caps_unref (want);
  gst_caps_unref (caps);
  gst_object_unref (pad);
  teardown (&f);
}

GST_END_TEST;

/* --- counters ------------------------------------------------------------- */

GST_START_TEST (frames_and_bytes_count_by_type)
{
  Fixture f;
  guint bytes_i = 0, bytes_p = 0, bytes_b = 0, n;

  for (n = 0; n < FRAMES (5); n++) {
    GBytes *frame = make_frame (n);
    gchar type = place_of (n).type;

    *(type == 'I' ? &bytes_i : type == 'P' ? &bytes_p : &bytes_b) +=
        g_bytes_get_size (frame);
    g_bytes_unref (frame);
  }

  setup (&f, make_element (), PARSED_CAPS);
  push_frames (&f, 0, FRAMES (5));
  push_eos (&f);
  assert_stat (f.element, "frames", FRAMES (5));
  assert_stat (f.element, "frames-i", 5);
  assert_stat (f.element, "frames-p", 5);
  assert_stat (f.element, "frames-b", 18);
  assert_stat (f.element, "frames-d", 0);
  assert_stat (f.element, "bytes-i", bytes_i);
  assert_stat (f.element, "bytes-p", bytes_p);
  assert_stat (f.element, "bytes-b", bytes_b);
  assert_stat (f.element, "bytes", bytes_i + bytes_p + bytes_b);
  assert_stat (f.element, "gops", 5);
  assert_stat (f.element, "incomplete", 0);
  assert_losses (f.element, 0, 0, 0);
  teardown (&f);
}

GST_END_TEST;

/* Frame __i__ of the third GOP is lost. mpegstat must report one lost frame and
 * its type. If the lost frame is an I-frame, the GOP header is lost as well.
 */
GST_START_TEST (one_lost_frame_is_reported_with_its_type)
{
  guint lost = FRAMES (2) + __i__;
  gchar type = place_of (lost).type;
  Fixture f;

  setup (&f, make_element (), PARSED_CAPS);
  push_frames (&f, 0, lost);
  push_frames (&f, lost + 1, FRAMES (6));
  push_eos (&f);
  assert_stat (f.element, "frames", FRAMES (6) - 1);
  assert_losses (f.element, type == 'I', type == 'P', type == 'B');
  teardown (&f);
}

GST_END_TEST;

/* The GOP pattern is the order of the picture types in a GOP. mpegstat needs it
 * to determine the types of lost frames. While it does not know the pattern
 * well enough, it delays the report of such frames. At the end of the stream,
 * it must report them in any case. */
GST_START_TEST (losses_that_wait_are_reported_at_the_end)
{
  Fixture f;

  setup (&f, make_element (), PARSED_CAPS);
  push_frames (&f, 0, FRAMES (1));
  push_frames (&f, FRAMES (2), FRAMES (2) + 4);
  fail_unless (get_stat (f.element, "lost") < FRAMES_IN_GOP);
  push_eos (&f);
  assert_stat (f.element, "lost", FRAMES_IN_GOP);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (a_lost_gop_is_reported_frame_by_frame)
{
  Fixture f;

  setup (&f, make_element (), PARSED_CAPS);
  push_frames (&f, 0, FRAMES (3));
  push_frames (&f, FRAMES (4), FRAMES (7));
  push_eos (&f);
  assert_losses (f.element, 1, 1, 4);
  teardown (&f);
}

GST_END_TEST;

/* In the measurements of Ouwens (2006, section 3.8), the latencies were wrong
 * after a GOP header was lost. This must not happen in mpegstat: in this test,
 * GOP headers are lost, and all latencies must be 0. */
GST_START_TEST (a_lost_gop_header_leaves_latency_alone)
{
  Fixture f;
  GstTestClock *clock;
  guint n;

  setup (&f, make_element (), PARSED_CAPS);
  gst_harness_use_testclock (f.harness);
  clock = gst_harness_get_testclock (f.harness);
  for (n = 0; n < FRAMES (8); n++) {
    gst_test_clock_set_time (clock, n * FRAME_TIME);
    if (n != FRAMES (3) && n != FRAMES (5))
      push_frame (&f, n);
  }
  push_eos (&f);
  assert_stat (f.element, "gops", 6);
  assert_losses (f.element, 2, 0, 0);
  assert_stat (f.element, "latency-min", 0);
  assert_stat (f.element, "latency-max", 0);
  assert_stat (f.element, "jitter", 0);
  gst_object_unref (clock);
  teardown (&f);
}

GST_END_TEST;

static GstBuffer *
make_incomplete (guint n)
{
  return wrap_bytes (make_frame_rows (n, 64, 48, 2));
}

GST_START_TEST (incomplete_frames_are_discarded_and_counted)
{
  Fixture f;
  GstBuffer *buffer;
  guint n;

  setup (&f, make_element (), PARSED_CAPS);
  push_frames (&f, 0, 5);
  gst_harness_push (f.harness, make_incomplete (5));
  buffer = make_buffer (6);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_CORRUPTED);
  gst_harness_push (f.harness, buffer);
  push_frames (&f, 7, 10);
  push_eos (&f);

  assert_stat (f.element, "incomplete", 2);
  assert_stat (f.element, "frames", 8);
  assert_losses (f.element, 0, 0, 0);
  fail_unless_equals_int (gst_harness_buffers_in_queue (f.harness), 8);
  for (n = 0; n < 8; n++) {
    buffer = gst_harness_pull (f.harness);
    /* mpegstat has discarded the incomplete frames 5 and 6. Frame 7, which is
     * in the sixth buffer, follows this gap, so its buffer must have the flag
     * DISCONT. */
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (buffer,
            GST_BUFFER_FLAG_DISCONT), n == 0 || n == 5);
    fail_if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_CORRUPTED));
    gst_buffer_unref (buffer);
  }
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (incomplete_frames_pass_as_corrupted_when_asked_for)
{
  GstElement *element = make_element ();
  Fixture f;
  GstBuffer *buffer;
  guint n;

  g_object_set (element, "discard-incomplete", FALSE, NULL);
  setup (&f, element, PARSED_CAPS);
  push_frame (&f, 0);
  gst_harness_push (f.harness, make_incomplete (1));
  push_frame (&f, 2);
  for (n = 0; n < 3; n++) {
    buffer = gst_harness_pull (f.harness);
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (buffer,
            GST_BUFFER_FLAG_CORRUPTED), n == 1);
    gst_buffer_unref (buffer);
  }
  assert_stat (f.element, "incomplete", 1);
  assert_stat (f.element, "frames", 2);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (a_frame_past_max_frame_size_is_given_up)
{
  GstElement *element = make_element ();
  GByteArray *stream = make_stream (3);
  guint8 filler[8192];
  Fixture f;
  GstMessage *message;

  g_object_set (element, "max-frame-size", 4096, NULL);
  setup (&f, element, NULL);
  push_stream_in_pieces (&f, stream, 1000);
  memset (filler, 0x55, sizeof (filler));
  push_bytes (&f, filler, sizeof (filler));
  push_frames (&f, 4, 8);
  push_eos (&f);
  assert_stat (f.element, "too-big", 1);
  assert_stat (f.element, "frames", 2 + 4);
  fail_unless (get_stat (f.element, "junk-bytes") >= 8192);
  message = gst_bus_pop_filtered (f.bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  teardown (&f);
  g_byte_array_unref (stream);
}

GST_END_TEST;

/* --- times ---------------------------------------------------------------- */

/* The stream has 100 frames. The last ten of them arrive 1 to 10 ms too late,
 * and all others arrive in time. */
GST_START_TEST (latency_percentiles_are_the_hand_made_ones)
{
  Fixture f;
  GstTestClock *clock;
  guint n;

  setup (&f, make_element (), PARSED_CAPS);
  gst_harness_use_testclock (f.harness);
  clock = gst_harness_get_testclock (f.harness);
  for (n = 0; n < 100; n++) {
    GstClockTime late = n < 90 ? 0 : (n - 89) * GST_MSECOND;

    gst_test_clock_set_time (clock, GST_SECOND + n * FRAME_TIME + late);
    push_frame (&f, n);
  }
  push_eos (&f);
  assert_stat (f.element, "latency-min", 0);
  assert_stat (f.element, "latency-median", 0);
  assert_stat (f.element, "latency-max", 10 * GST_MSECOND);
  /* When the 100 latencies are sorted, the 95th is 5 ms and the 99th is 9 ms.
   * mpegstat rounds its percentiles, so they may differ from these values by up
   * to 1/128. */
  fail_unless (ABS (get_stat (f.element, "latency-p95") -
          5 * (gint64) GST_MSECOND) <= 5 * GST_MSECOND / 128);
  fail_unless (ABS (get_stat (f.element, "latency-p99") -
          9 * (gint64) GST_MSECOND) <= 9 * GST_MSECOND / 128);
  assert_stat (f.element, "latency-mean", 550 * GST_USECOND);
  assert_stat (f.element, "duration", 99 * FRAME_TIME + 10 * GST_MSECOND);
  /* The delay grows by 1 ms with each of the last ten frames, so the difference
   * of two successive delays (|D| in RFC 3550) is 1 ms. The jitter of RFC 3550
   * is then (1 - (15/16)^10) ms. */
  fail_unless (ABS (get_stat (f.element, "jitter") - 475540) <= 1);
  gst_object_unref (clock);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (bitrate_is_that_of_the_last_second_and_falls_to_zero)
{
  Fixture f;
  GstTestClock *clock;
  guint64 bits = 0;
  guint n;

  setup (&f, make_element (), PARSED_CAPS);
  gst_harness_use_testclock (f.harness);
  clock = gst_harness_get_testclock (f.harness);
  for (n = 0; n < 76; n++) {
    GBytes *frame = make_frame (n);

    gst_test_clock_set_time (clock, n * FRAME_TIME);
    push_frame (&f, n);
    if (n > 50)
      bits += g_bytes_get_size (frame) * 8;
    g_bytes_unref (frame);
  }
  assert_stat (f.element, "bitrate", bits);
  gst_test_clock_set_time (clock, 76 * FRAME_TIME + GST_SECOND);
  assert_stat (f.element, "bitrate", 0);
  gst_object_unref (clock);
  teardown (&f);
}

GST_END_TEST;

/* A frame is pushed in two buffers. Its arrival time must be that of the second
 * buffer, which contains the last byte of the frame. mpegstat notices that the
 * frame is complete only when the next frame begins. This is 40 ms later, but
 * must not change the arrival time. */
GST_START_TEST (a_raw_frame_arrives_with_its_last_byte)
{
  GBytes *frame = make_frame (0), *next = make_frame (1);
  gsize size = g_bytes_get_size (frame);
  const guint8 *bytes = g_bytes_get_data (frame, NULL);
  GstElement *element = make_element ();
  GstTestClock *clock;
  GstStructure *message;
  Fixture f;

  g_object_set (element, "post-messages", TRUE, NULL);
  setup (&f, element, NULL);
  gst_harness_use_testclock (f.harness);
  clock = gst_harness_get_testclock (f.harness);
  gst_test_clock_set_time (clock, 1 * GST_SECOND);
  push_bytes (&f, bytes, 100);
  gst_test_clock_set_time (clock, 1 * GST_SECOND + 7);
  push_bytes (&f, bytes + 100, size - 100);
  gst_test_clock_set_time (clock, 1 * GST_SECOND + FRAME_TIME);
  push_bytes (&f, g_bytes_get_data (next, NULL), g_bytes_get_size (next));
  gst_test_clock_set_time (clock, 5 * GST_SECOND);
  push_eos (&f);

  message = pop_message (&f, "application/x-mpegstat-frame");
  fail_unless_equals_int64 (stat_of (message, "arrival_ns"), 7);
  gst_structure_free (message);
  message = pop_message (&f, "application/x-mpegstat-frame");
  fail_unless_equals_int64 (stat_of (message, "arrival_ns"), FRAME_TIME);
  fail_unless_equals_int64 (stat_of (message, "latency_ns"), -7);
  gst_structure_free (message);

  gst_object_unref (clock);
  teardown (&f);
  g_bytes_unref (frame);
  g_bytes_unref (next);
}

GST_END_TEST;

/* Pushes frame `n` into appsrc. The signal push-buffer does not take ownership
 * of the buffer. */
static void
push_to_source (GstElement * source, guint n)
{
  GstBuffer *buffer = make_buffer (n);
  GstFlowReturn ret;

  g_signal_emit_by_name (source, "push-buffer", buffer, &ret);
  fail_unless_equals_int (ret, GST_FLOW_OK);
  gst_buffer_unref (buffer);
}

/* A pipeline pauses for 100 s. This pause must not count as latency of the
 * frames. The source is not live, because GstBaseSrc from 1.26 on may stop a
 * live source permanently if PLAYING follows immediately after PAUSED. */
GST_START_TEST (a_pause_is_no_latency)
{
  GstElement *pipeline, *source, *mpegstat;
  GstClock *clock = gst_test_clock_new ();

  pipeline = gst_parse_launch ("appsrc name=s format=time "
      "caps=" PARSED_CAPS " ! mpegstat name=m ! fakesink async=false", NULL);
  fail_unless (pipeline != NULL);
  gst_pipeline_use_clock (GST_PIPELINE (pipeline), clock);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  mpegstat = gst_bin_get_by_name (GST_BIN (pipeline), "m");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push_to_source (source, 0);
  while (get_stat (mpegstat, "frames") < 1)
    g_usleep (1000);
  gst_test_clock_set_time (GST_TEST_CLOCK (clock), 10 * GST_MSECOND);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_test_clock_set_time (GST_TEST_CLOCK (clock), 100 * GST_SECOND);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_test_clock_advance_time (GST_TEST_CLOCK (clock), 30 * GST_MSECOND);
  push_to_source (source, 1);
  while (get_stat (mpegstat, "frames") < 2)
    g_usleep (1000);
  assert_stat (mpegstat, "latency-min", 0);
  assert_stat (mpegstat, "latency-max", 0);

  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (source);
  gst_object_unref (mpegstat);
  gst_object_unref (pipeline);
  gst_object_unref (clock);
}

GST_END_TEST;

/* --- the log -------------------------------------------------------------- */

static gchar **
log_of (gboolean parsed, const gchar * format, guint lost)
{
  GstElement *element = make_element ();
  gchar *path = temporary_path ();
  Fixture f;
  guint n;

  g_object_set (element, "location", path, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "format", format);
  setup (&f, element, parsed ? PARSED_CAPS : NULL);
  for (n = 0; n < FRAMES (4); n++) {
    if (n != lost)
      push_frame (&f, n);
  }
  push_eos (&f);
  teardown (&f);
  return take_lines (path);
}

GST_START_TEST (raw_and_parsed_input_write_the_same_log)
{
  /* If __i__ is 0, no frame of the test stream is lost. If __i__ is 1, a
   * P-frame is lost. In both cases, mpegstat must write the same log for raw
   * input as for parsed input. */
  guint lost = __i__ ? FRAMES (2) + 3 : G_MAXUINT;
  gchar **raw = log_of (FALSE, "csv", lost);
  gchar **parsed = log_of (TRUE, "csv", lost);
  guint i;

  /* The log consists of one header line, four lines for GOPs, and one line for
   * each frame. The line of a frame says either that it was received or that it
   * was lost. */
  fail_unless_equals_int (g_strv_length (raw), 1 + FRAMES (4) + 4);
  fail_unless_equals_int (g_strv_length (parsed), 1 + FRAMES (4) + 4);
  for (i = 0; raw[i]; i++) {
    gchar *a = without_times (raw[i]), *b = without_times (parsed[i]);

    fail_unless_equals_string (a, b);
    g_free (a);
    g_free (b);
  }
  g_strfreev (raw);
  g_strfreev (parsed);
}

GST_END_TEST;

GST_START_TEST (log_lines_say_what_the_frames_are)
{
  gint64 before = g_get_real_time ();
  gchar **lines = log_of (TRUE, "csv", G_MAXUINT);
  gint64 after = g_get_real_time ();
  gint64 wall;
  gchar *line;

  /* since 1970 */
  fail_unless (sscanf (lines[2], "frame,%" G_GINT64_FORMAT, &wall) == 1);
  fail_unless (wall / 1000 >= before - 1 && wall / 1000 <= after + 1);
  fail_unless (g_str_has_prefix (lines[0], "event,wall_ns,arrival_ns,"));
  line = without_times (lines[1]);
  fail_unless_equals_string (line, "gop,,,,,,,0,0,3600,,00:00:00:00,1,0,0,,");
  g_free (line);
  line = without_times (lines[2]);
  fail_unless (g_str_has_prefix (line,
          "frame,,,0,,I,0,0,0,3600,1259,00:00:00:00,,,,"), "%s", line);
  g_free (line);
  line = without_times (lines[3]);
  fail_unless (g_str_has_prefix (line,
          "frame,,,40000000,,P,3,1,3,14400,630,00:00:00:00,,,,"), "%s", line);
  g_free (line);
  line = without_times (lines[6]);
  fail_unless_equals_string (line, "gop,,,,,,,4,4,18000,,00:00:00:04,0,0,4,,");
  g_free (line);
  g_strfreev (lines);
}

GST_END_TEST;

GST_START_TEST (json_log_has_one_object_per_line)
{
  gchar **lines = log_of (TRUE, "json", G_MAXUINT);
  guint i;

  fail_unless_equals_int (g_strv_length (lines), FRAMES (4) + 4);
  fail_unless (g_str_has_prefix (lines[0], "{\"event\":\"gop\",\"wall_ns\":"));
  for (i = 0; lines[i]; i++)
    fail_unless (g_str_has_suffix (lines[i], "}"));
  fail_unless (strstr (lines[1], "\"type\":\"I\",\"temporal_reference\":0,")
      != NULL);
  g_strfreev (lines);
}

GST_END_TEST;

/* Some payloaders repeat the sequence header before a frame. mpegstat gets the
 * same frame once without and once with such a header. The hash of the frame
 * must be the same. */
GST_START_TEST (hash_is_the_same_with_repeated_headers)
{
  GstElement *element = make_element ();
  GstBitWriter writer;
  Place place = place_of (1);
  Fixture f;
  GstStructure *plain, *repeated;

  g_object_set (element, "post-messages", TRUE, NULL);
  setup (&f, element, PARSED_CAPS);
  push_frames (&f, 0, 2);
  gst_bit_writer_init (&writer);
  put_sequence (&writer, 64, 48);
  put_picture (&writer, &place);
  put_slices (&writer, 1, 3, 200);
  gst_harness_push (f.harness, wrap_bytes (take_bytes (&writer)));
  gst_structure_free (pop_message (&f, "application/x-mpegstat-frame"));
  plain = pop_message (&f, "application/x-mpegstat-frame");
  repeated = pop_message (&f, "application/x-mpegstat-frame");
  fail_if (stat_of (plain, "size_bytes") == stat_of (repeated, "size_bytes"));
  fail_unless_equals_string (gst_structure_get_string (plain, "hash"),
      gst_structure_get_string (repeated, "hash"));
  gst_structure_free (plain);
  gst_structure_free (repeated);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (a_location_that_cannot_be_opened_is_an_error_with_path)
{
  GstElement *element = make_element ();
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error;

  g_object_set (element, "location", "/nowhere/at/all.csv", NULL);
  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_OPEN_WRITE));
  fail_unless (strstr (error->message, "/nowhere/at/all.csv") != NULL);
  fail_unless (strstr (error->message, "No such file") != NULL);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GST_END_TEST;

GST_START_TEST (a_full_disk_is_one_warning_and_the_stream_goes_on)
{
  GstElement *element = make_element ();
  GstMessage *message;
  GError *error;
  Fixture f;

  g_object_set (element, "location", "/dev/full", NULL);
  setup (&f, element, PARSED_CAPS);
  push_frames (&f, 0, 10);
  push_eos (&f);
  fail_unless_equals_int (gst_harness_buffers_in_queue (f.harness), 10);
  message = gst_bus_pop_filtered (f.bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_NO_SPACE_LEFT));
  fail_unless (strstr (error->message, "/dev/full") != NULL);
  g_error_free (error);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (f.bus, GST_MESSAGE_WARNING) == NULL);
  teardown (&f);
}

GST_END_TEST;

/* --- lines and messages --------------------------------------------------- */

static GString *printed;

static void
print_handler (const gchar * text)
{
  g_string_append (printed, text);
}

GST_START_TEST (silent_false_prints_lines_and_a_summary)
{
  GstElement *element = make_element ();
  GPrintFunc before;
  gchar **lines;
  Fixture f;

  printed = g_string_new (NULL);
  g_object_set (element, "silent", FALSE, NULL);
  gst_object_set_name (GST_OBJECT (element), "meter");
  before = g_set_print_handler (print_handler);
  setup (&f, element, PARSED_CAPS);
  push_frames (&f, 0, 8);
  push_frames (&f, 9, FRAMES (5));
  push_eos (&f);
  g_set_print_handler (before);

  lines = g_strsplit (printed->str, "\n", -1);
  /* mpegstat must print one line for each GOP, one line for each frame and one
   * line for the lost frame. After these lines, it must print three lines of
   * summary. */
  fail_unless_equals_int (g_strv_length (lines), 5 + FRAMES (5) + 3 + 1);
  fail_unless (g_str_has_prefix (lines[0],
          "meter: gop  time code 00:00:00:00  pictures 0"));
  fail_unless (g_str_has_prefix (lines[1], "meter: frame I  tr    0  now "));
  fail_unless (strstr (printed->str, "meter: lost B  number 7 in display order")
      != NULL, "%s", printed->str);
  fail_unless (strstr (printed->str, "meter: frames 27 (5 I, 5 P, 17 B), "
          "lost 1 (1 B), incomplete 0, GOPs 5\n") != NULL, "%s", printed->str);
  g_strfreev (lines);
  g_string_free (printed, TRUE);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (silent_prints_nothing)
{
  GPrintFunc before;
  Fixture f;

  printed = g_string_new (NULL);
  before = g_set_print_handler (print_handler);
  setup (&f, make_element (), PARSED_CAPS);
  push_frames (&f, 0, 10);
  push_eos (&f);
  g_set_print_handler (before);
  fail_unless_equals_string (printed->str, "");
  g_string_free (printed, TRUE);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (messages_tell_frames_gops_and_losses)
{
  GstElement *element = make_element ();
  GstStructure *message;
  gboolean closed;
  Fixture f;

  g_object_set (element, "post-messages", TRUE, NULL);
  setup (&f, element, PARSED_CAPS);
  push_frames (&f, 0, 8);
  push_frames (&f, 9, FRAMES (5) - 1);
  gst_harness_push (f.harness, make_incomplete (FRAMES (5) - 1));
  push_eos (&f);

  message = pop_message (&f, "application/x-mpegstat-gop");
  fail_unless_equals_string (gst_structure_get_string (message, "time_code"),
      "00:00:00:00");
  fail_unless (gst_structure_get_boolean (message, "closed_gop", &closed));
  fail_unless (closed);
  fail_if (gst_structure_has_field (message, "type"));
  gst_structure_free (message);

  message = pop_message (&f, "application/x-mpegstat-frame");
  fail_unless_equals_string (gst_structure_get_string (message, "type"), "I");
  fail_unless_equals_int64 (stat_of (message, "latency_ns"), 0);
  fail_unless_equals_int64 (stat_of (message, "size_bytes"), 1259);
  fail_if (gst_structure_has_field (message, "pictures"));
  gst_structure_free (message);

  message = pop_message (&f, "application/x-mpegstat-lost");
  fail_unless_equals_string (gst_structure_get_string (message, "type"), "B");
  fail_unless_equals_int64 (stat_of (message, "display_number"), 7);
  gst_structure_free (message);

  message = pop_message (&f, "application/x-mpegstat-incomplete");
  fail_unless_equals_string (gst_structure_get_string (message, "type"), "B");
  gst_structure_free (message);

  /* At the end of the stream, mpegstat must post its statistics although nobody
   * has asked for them. It must do this before it sends EOS downstream. */
  message = pop_message (&f, "application/x-mpegstat-stats");
  fail_unless_equals_int64 (stat_of (message, "frames"), FRAMES (5) - 2);
  fail_unless_equals_int64 (stat_of (message, "lost-b"), 1);
  fail_unless_equals_int64 (stat_of (message, "incomplete"), 1);
  gst_structure_free (message);
  teardown (&f);
}

GST_END_TEST;

/* The frames of 20 successive GOPs are missing. mpegstat must post only one
 * message about this loss, and must count each missing frame. */
GST_START_TEST (a_long_gap_is_one_message)
{
  GstElement *element = make_element ();
  GstStructure *message;
  Fixture f;

  g_object_set (element, "post-messages", TRUE, NULL);
  setup (&f, element, PARSED_CAPS);
  push_frames (&f, 0, FRAMES (12));
  push_frames (&f, FRAMES (32), FRAMES (36));
  push_eos (&f);
  assert_losses (f.element, 20, 20, 80);
  message = pop_message (&f, "application/x-mpegstat-lost");
  fail_unless_equals_int64 (stat_of (message, "display_number"), FRAMES (12));
  fail_unless_equals_int64 (stat_of (message, "lost_frames"),
      20 * FRAMES_IN_GOP);
  fail_unless_equals_string (gst_structure_get_string (message, "type"), "?");
  gst_structure_free (message);
  fail_unless (pop_message (&f, "application/x-mpegstat-lost") == NULL);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (stats_interval_posts_on_the_clock_even_when_nothing_comes)
{
  GstElement *element = make_element ();
  GstStructure *message;
  GstTestClock *clock = GST_TEST_CLOCK (gst_test_clock_new ());
  GstBus *bus = gst_bus_new ();
  Fixture f = { NULL, element, bus };
  guint i;

  g_object_set (element, "stats-update-interval", 1000, NULL);
  gst_element_set_bus (element, bus);
  gst_element_set_clock (element, GST_CLOCK (clock));
  gst_element_set_state (element, GST_STATE_PLAYING);
  for (i = 0; i < 3; i++) {
    fail_unless (gst_test_clock_crank (clock));
    message = NULL;
    while (!message)
      message = pop_message (&f, "application/x-mpegstat-stats");
    fail_unless_equals_int64 (stat_of (message, "frames"), 0);
    gst_structure_free (message);
  }
  fail_unless_equals_clocktime (gst_clock_get_time (GST_CLOCK (clock)),
      3 * GST_SECOND);

  /* While mpegstat plays, the test sets stats-update-interval to 0. mpegstat
   * must then remove its timer. */
  g_object_set (element, "stats-update-interval", 0, NULL);
  fail_unless_equals_int (gst_test_clock_peek_id_count (clock), 0);
  g_object_set (element, "stats-update-interval", 1000, NULL);
  fail_unless_equals_int (gst_test_clock_peek_id_count (clock), 1);
  gst_element_set_state (element, GST_STATE_NULL);
  fail_unless_equals_int (gst_test_clock_peek_id_count (clock), 0);

  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  gst_object_unref (clock);
}

GST_END_TEST;

/* --- life cycle ----------------------------------------------------------- */

GST_START_TEST (stats_survive_the_end_and_begin_anew_at_start)
{
  Fixture f;

  setup (&f, make_element (), PARSED_CAPS);
  push_frames (&f, 0, 10);
  push_eos (&f);
  gst_element_set_state (f.element, GST_STATE_READY);
  assert_stat (f.element, "frames", 10);
  gst_element_set_state (f.element, GST_STATE_NULL);
  assert_stat (f.element, "frames", 10);
  gst_element_set_state (f.element, GST_STATE_PLAYING);
  assert_stat (f.element, "frames", 0);
  teardown (&f);
}

GST_END_TEST;

static gpointer
read_stats (gpointer data)
{
  GstElement *element = data;
  gint64 frames = 0;

  while (frames < 2000) {
    GstStructure *stats = get_stats (element);
    gint64 now = stat_of (stats, "frames");

    fail_unless (now >= frames);
    fail_unless_equals_int64 (now, stat_of (stats, "frames-i") +
        stat_of (stats, "frames-p") + stat_of (stats, "frames-b"));
    frames = now;
    gst_structure_free (stats);
    g_object_set (element, "silent", TRUE, "discard-incomplete", TRUE, NULL);
  }
  return NULL;
}

GST_START_TEST (stats_can_be_read_while_frames_flow)
{
  Fixture f;
  GThread *reader;

  setup (&f, make_element (), PARSED_CAPS);
  gst_harness_set_drop_buffers (f.harness, TRUE);
  reader = g_thread_new ("reader", read_stats, f.element);
  push_frames (&f, 0, 2000);
  g_thread_join (reader);
  teardown (&f);
}

GST_END_TEST;

static Suite *
mpegstat_suite (void)
{
  Suite *s = suite_create ("mpegstat");
  TCase *tc;

  tc = tcase_create ("passing");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, pools_may_have_their_buffers_back);
  tcase_add_test (tc, parsed_frames_pass_with_timestamps_and_flags);
  tcase_add_loop_test (tc, raw_bytes_pass_as_frames_however_they_are_cut, 0,
      G_N_ELEMENTS (piece_sizes));
  tcase_add_test (tc, upstream_timestamps_are_kept);
  tcase_add_test (tc, timestamps_in_a_byte_segment_are_ignored);

  tc = tcase_create ("events");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, caps_and_time_segment_precede_all_else_of_a_raw_stream);
  tcase_add_test (tc, filesrc_links_and_runs);
  tcase_add_test (tc, eos_of_an_empty_stream_passes);
  tcase_add_test (tc, input_without_video_is_an_error_and_eos_passes);
  tcase_add_test (tc, gap_before_the_first_frame_brings_caps);
  tcase_add_test (tc, a_new_picture_size_brings_new_caps);
  tcase_add_test (tc, fields_of_upstream_caps_are_kept_and_renewed);
  tcase_add_test (tc, flush_begins_anew_and_keeps_counters);
  tcase_add_test (tc, a_new_stream_drains_the_old_one);
  tcase_add_test (tc, seek_goes_upstream);
  tcase_add_test (tc, raw_live_input_adds_one_frame_of_latency);
  tcase_add_test (tc, stored_input_gets_no_latency);
  tcase_add_test (tc, downstream_limits_are_upstreams_but_for_parsed);

  tc = tcase_create ("counting");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, frames_and_bytes_count_by_type);
  tcase_add_loop_test (tc, one_lost_frame_is_reported_with_its_type, 0,
      FRAMES_IN_GOP);
  tcase_add_test (tc, losses_that_wait_are_reported_at_the_end);
  tcase_add_test (tc, a_lost_gop_is_reported_frame_by_frame);
  tcase_add_test (tc, a_lost_gop_header_leaves_latency_alone);
  tcase_add_test (tc, incomplete_frames_are_discarded_and_counted);
  tcase_add_test (tc, incomplete_frames_pass_as_corrupted_when_asked_for);
  tcase_add_test (tc, a_frame_past_max_frame_size_is_given_up);

  tc = tcase_create ("times");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, latency_percentiles_are_the_hand_made_ones);
  tcase_add_test (tc, bitrate_is_that_of_the_last_second_and_falls_to_zero);
  tcase_add_test (tc, a_raw_frame_arrives_with_its_last_byte);
  tcase_add_test (tc, a_pause_is_no_latency);

  tc = tcase_create ("log");
  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, raw_and_parsed_input_write_the_same_log, 0, 2);
  tcase_add_test (tc, log_lines_say_what_the_frames_are);
  tcase_add_test (tc, json_log_has_one_object_per_line);
  tcase_add_test (tc, hash_is_the_same_with_repeated_headers);
  tcase_add_test (tc, a_location_that_cannot_be_opened_is_an_error_with_path);
  tcase_add_test (tc, a_full_disk_is_one_warning_and_the_stream_goes_on);

  tc = tcase_create ("telling");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, silent_false_prints_lines_and_a_summary);
  tcase_add_test (tc, silent_prints_nothing);
  tcase_add_test (tc, messages_tell_frames_gops_and_losses);
  tcase_add_test (tc, a_long_gap_is_one_message);
  tcase_add_test (tc,
      stats_interval_posts_on_the_clock_even_when_nothing_comes);

  tc = tcase_create ("life");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, stats_survive_the_end_and_begin_anew_at_start);
  tcase_add_test (tc, stats_can_be_read_while_frames_flow);

  return s;
}

GST_CHECK_MAIN (mpegstat);
