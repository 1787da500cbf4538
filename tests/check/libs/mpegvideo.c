/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the parsers of MPEG-1/2 headers, and the framer, which cuts a stream
 * into frames. The tests state what the parsers and the framer must return for
 * each kind of stream that occurs in practice. */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "streambuilder.h"
#include "mpegvideoframer.h"

#define OPEN_GOPS "|c I0 P3 B1 B2 | I2 B0 B1 P5 B3 B4 | I2 B0 B1 P5 B3 B4"

/* --- headers ------------------------------------------------------------- */

GST_START_TEST (sequence_header_of_a_dvd)
{
  /* The sequence header below has these values: 720x576, 4:3, 25 fps, 9.8
   * Mbit/s and a VBV buffer of 112 * 16 kbit. The sequence extension has these
   * values: MP@ML (Main Profile at Main Level), interlaced and 4:2:0.
   */
  const guint8 header[] = { 0, 0, 1, 0xb3, 0x2d, 0x02, 0x40, 0x23,
    0x17, 0xed, 0x23, 0x80
  };
  const guint8 extension[] = { 0, 0, 1, 0xb5, 0x14, 0x82, 0x00, 0x01, 0x00,
    0x00
  };
  MpegVideoSequence s;

  fail_unless (mpeg_video_parse_sequence (&s, header, sizeof (header)));
  fail_unless_equals_int (s.width, 720);
  fail_unless_equals_int (s.height, 576);
  fail_unless_equals_int (s.aspect_ratio, 2);
  fail_unless_equals_int (s.fps_n, 25);
  fail_unless_equals_int (s.fps_d, 1);
  fail_unless_equals_int (s.bit_rate, 24500);
  fail_unless_equals_int (s.vbv_buffer_size, 112);
  fail_unless (!s.mpeg2 && s.progressive);
  fail_unless_equals_int (mpeg_video_parse_extension_id (extension, 10), 1);
  fail_unless (mpeg_video_parse_sequence_extension (&s, extension, 10));
  fail_unless (s.mpeg2 && !s.progressive && !s.low_delay);
  fail_unless_equals_int (s.profile_level, 0x48);
  fail_unless_equals_int (s.chroma_format, 1);
  fail_unless (!mpeg_video_parse_sequence (&s, header, 11));
  fail_unless (!mpeg_video_parse_sequence_extension (&s, extension, 9));
}

GST_END_TEST;

GST_START_TEST (sequence_extension_widens_fields)
{
  MpegStream stream;
  MpegVideoSequence s;
  const guint8 *data;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 7680, 4320, 4, TRUE, TRUE, TRUE);
  data = stream.bytes->data;
  fail_unless (mpeg_video_parse_sequence (&s, data, 12));
  fail_unless (mpeg_video_parse_sequence_extension (&s, data + 12, 10));
  fail_unless_equals_int (s.width, 7680);
  fail_unless_equals_int (s.height, 4320);
  fail_unless_equals_int (s.fps_n, 30000);
  fail_unless_equals_int (s.fps_d, 1001);
  fail_unless (s.low_delay && s.progressive);

  /* frame_rate_extension_n is 1, and frame_rate_extension_d is 2. The frame
   * rate must therefore be multiplied by n + 1 = 2 and divided by d + 1 = 3. */
  stream.bytes->data[12 + 9] |= 1 << 5 | 2;
  fail_unless (mpeg_video_parse_sequence (&s, data, 12));
  fail_unless (mpeg_video_parse_sequence_extension (&s, data + 12, 10));
  fail_unless_equals_int (s.fps_n, 60000);
  fail_unless_equals_int (s.fps_d, 3003);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (picture_vectors_by_type)
{
  const gchar types[] = "IPBD";
  guint i;

  for (i = 0; types[i]; i++) {
    MpegPicture p = {.type = types[i],.tr = 1023,.mpeg1 = TRUE,.f_code = 5,
      .full_pel = TRUE
    };
    gboolean forward = types[i] == 'P' || types[i] == 'B';
    gboolean backward = types[i] == 'B';
    MpegVideoPicture parsed;
    MpegStream stream;

    mpeg_stream_init (&stream);
    mpeg_picture_header (&stream, &p);
    fail_unless (mpeg_video_parse_picture (&parsed, stream.bytes->data,
            stream.bytes->len));
    fail_unless_equals_int (mpeg_video_picture_type_char (parsed.type),
        types[i]);
    fail_unless_equals_int (parsed.temporal_reference, 1023);
    fail_unless_equals_int (parsed.vbv_delay, 0xffff);
    fail_unless_equals_int (parsed.full_pel_forward, forward);
    fail_unless_equals_int (parsed.forward_f_code, forward ? 5 : 0);
    fail_unless_equals_int (parsed.full_pel_backward, backward);
    fail_unless_equals_int (parsed.backward_f_code, backward ? 5 : 0);
    fail_unless (!mpeg_video_parse_picture (&parsed, stream.bytes->data,
            stream.bytes->len - 1));
    mpeg_stream_clear (&stream);
  }
}

GST_END_TEST;

GST_START_TEST (picture_types_out_of_range_are_refused)
{
  guint8 header[9] = { 0, 0, 1, 0 };
  MpegVideoPicture parsed;
  guint type;

  for (type = 0; type < 8; type++) {
    header[5] = type << 3;
    fail_unless_equals_int (mpeg_video_parse_picture (&parsed, header, 9),
        type >= 1 && type <= 4);
  }
}

GST_END_TEST;

GST_START_TEST (picture_extension_fields)
{
  MpegPicture p = {.type = 'B',.structure = 2,.tff = TRUE,.rff = TRUE,
    .progressive = TRUE,.composite = TRUE,.f_code = 9
  };
  MpegVideoPicture x = { 0 };
  MpegStream stream;

  mpeg_stream_init (&stream);
  mpeg_picture_extension (&stream, &p);
  fail_unless (mpeg_video_parse_picture_extension (&x, stream.bytes->data,
          stream.bytes->len));
  fail_unless_equals_int (x.f_code[0][0], 9);
  fail_unless_equals_int (x.f_code[0][1], 9);
  fail_unless_equals_int (x.f_code[1][0], 9);
  fail_unless_equals_int (x.f_code[1][1], 9);
  fail_unless_equals_int (x.structure, MPEG_VIDEO_STRUCTURE_BOTTOM_FIELD);
  fail_unless (x.top_field_first && x.repeat_first_field);
  fail_unless (x.progressive_frame && x.composite_display);
  fail_unless_equals_int (x.composite_display_bits, 0xabcde);
  fail_unless (!mpeg_video_parse_picture_extension (&x, stream.bytes->data, 9));
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

/* A drop-frame time code (SMPTE 12M) skips two frame numbers at the beginning
 * of each minute, except in every tenth minute. Therefore 00:01:00;02 follows
 * 00:00:59;29, and 00:10:00;00 is frame 17982. */
GST_START_TEST (drop_frame_time_code)
{
  MpegVideoGop gop = {.minutes = 1,.pictures = 2,.drop_frame = TRUE };

  fail_unless_equals_uint64 (mpeg_video_gop_frame_number (&gop, 30000, 1001),
      1800);
  gop.minutes = 10;
  gop.pictures = 0;
  fail_unless_equals_uint64 (mpeg_video_gop_frame_number (&gop, 30000, 1001),
      17982);
  gop.drop_frame = FALSE;
  fail_unless_equals_uint64 (mpeg_video_gop_frame_number (&gop, 25, 1), 15000);
}

GST_END_TEST;

/* The test places a start code at each offset in buffers of up to 159 bytes.
 * mpeg_video_find_start_code () must find it. Byte sequences that only resemble
 * a start code must not be found. */
GST_START_TEST (start_codes_are_found_at_every_offset)
{
  guint8 data[160];
  guint size, at;

  for (size = 0; size < sizeof (data); size++) {
    for (at = 0; at + 4 <= size; at++) {
      memset (data, 0xff, sizeof (data));
      memcpy (data + at, "\0\0\1\5", 4);
      fail_unless (mpeg_video_find_start_code (data, data + size) == data + at);
    }
    /* If the buffer ends right after the prefix 00 00 01, no start code is
     * found. */
    memset (data, 0, sizeof (data));
    if (size > 0)
      data[size - 1] = 1;
    fail_unless (mpeg_video_find_start_code (data, data + size) == NULL);
  }
  memcpy (data, "\0\1\0\1\0\2\1\0\0\0\0\1\7", 13);
  fail_unless (mpeg_video_find_start_code (data, data + 13) == data + 9);
}

GST_END_TEST;

/* --- framer -------------------------------------------------------------- */

typedef struct
{
  MpegVideoFramer *framer;
  /* The frames that the framer has output, as a text such as "I0 P3 ...". */
  GString *types;
  GByteArray *bytes;
  MpegVideoFrame last;
} Fixture;

static void
collect (Fixture * f)
{
  MpegVideoFrame frame;
  guint i;

  while (mpeg_video_framer_poll_output (f->framer, &frame)) {
    const MpegVideoPicture *header = &frame.pictures[0].header;

    g_string_append_printf (f->types, "%s%c%u%s%s%s", f->types->len ? " " : "",
        mpeg_video_picture_type_char (header->type),
        header->temporal_reference, frame.n_pictures == 2 ? "+" : "",
        frame.has_sequence_end ? "." : "",
        frame.flags & MPEG_VIDEO_FRAME_INCOMPLETE ? "!" : "");
    g_byte_array_append (f->bytes, frame.data, frame.size);
    for (i = 0; i < frame.n_units; i++) {
      const guint8 *unit = frame.data + frame.units[i].offset;

      fail_unless (memcmp (unit, "\0\0\1", 3) == 0);
      fail_unless_equals_int (unit[3], frame.units[i].code);
    }
    g_free (frame.data);
    mpeg_video_frame_clear (&frame);
    f->last = frame;
  }
}

static void
setup (Fixture * f, gsize max_frame_size, gboolean need_sequence)
{
  MpegVideoFramerConfig config = { max_frame_size, need_sequence };

  f->framer = mpeg_video_framer_new (&config);
  f->types = g_string_new (NULL);
  f->bytes = g_byte_array_new ();
}

static void
teardown (Fixture * f)
{
  mpeg_video_framer_free (f->framer);
  g_string_free (f->types, TRUE);
  g_byte_array_unref (f->bytes);
}

static void
push (Fixture * f, const guint8 * data, gsize size, gsize chunk)
{
  gsize n;

  for (; size > 0; size -= n, data += n) {
    n = MIN (chunk, size);
    mpeg_video_framer_input (f->framer, data, n, MPEG_VIDEO_TIME_NONE,
        MPEG_VIDEO_TIME_NONE);
    collect (f);
  }
  mpeg_video_framer_drain (f->framer);
  collect (f);
}

static void
assert_frames (MpegStream * stream, const gchar * expected)
{
  Fixture f;

  setup (&f, 0, TRUE);
  push (&f, stream->bytes->data, stream->bytes->len, 4096);
  fail_unless_equals_string (f.types->str, expected);
  teardown (&f);
}

GST_START_TEST (frames_are_the_same_however_bytes_arrive)
{
  const gsize chunks[] = { 1, 2, 3, 4, 5, 7, 64, 1000, 1000000 };
  MpegStream stream;
  guint i;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, OPEN_GOPS, FALSE, NULL);
  mpeg_code (&stream, 0xb7);
  for (i = 0; i < G_N_ELEMENTS (chunks); i++) {
    Fixture f;

    setup (&f, 0, TRUE);
    push (&f, stream.bytes->data, stream.bytes->len, chunks[i]);
    fail_unless_equals_string (f.types->str,
        "I0 P3 B1 B2 I2 B0 B1 P5 B3 B4 I2 B0 B1 P5 B3 B4.");
    fail_unless_equals_int (f.bytes->len, stream.bytes->len);
    fail_unless (memcmp (f.bytes->data, stream.bytes->data,
            stream.bytes->len) == 0);
    teardown (&f);
  }
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (mpeg1_frames)
{
  MpegStream stream;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, "|c I0 P3 B1 B2 |c D0 D1", TRUE, NULL);
  assert_frames (&stream, "I0 P3 B1 B2 D0 D1");
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

static void
add_field (MpegStream * stream, gchar type, guint tr, guint structure)
{
  MpegPicture p = {.type = type,.tr = tr,.structure = structure,.rows = 1 };

  mpeg_picture (stream, &p);
}

/* A damaged stream may contain a sequence end code in the middle of a slice.
 * The units after this code must still be added to the picture, except a unit
 * that can begin a new frame. The GStreamer element mpegvideoparse does the
 * same. */
GST_START_TEST (an_end_code_inside_a_picture_keeps_the_rest_of_it)
{
  /* Start codes that may follow the end code: a slice, user data, an extension,
   * a second sequence end code, and a system code. */
  const guint8 codes[] = { 0x02, 0xb2, 0xb5, 0xb7, 0xbd };
  const gsize chunks[] = { 1, 3, 7, 1000000 };
  MpegVideoFramerStats stats;
  MpegStream stream;
  guint i, c;

  for (i = 0; i < G_N_ELEMENTS (codes); i++) {
    for (c = 0; c < G_N_ELEMENTS (chunks); c++) {
      Fixture f;

      mpeg_stream_init (&stream);
      mpeg_stream_add (&stream, "|c I0 P1", TRUE, NULL);
      mpeg_code (&stream, 0xb7);
      g_byte_array_append (stream.bytes, (const guint8 *) "damaged", 7);
      mpeg_code (&stream, codes[i]);
      g_byte_array_append (stream.bytes, (const guint8 *) "rest", 4);
      mpeg_code (&stream, 0x03);
      g_byte_array_append (stream.bytes, (const guint8 *) "last", 4);
      mpeg_stream_add (&stream, "P2", TRUE, NULL);
      setup (&f, 0, TRUE);
      push (&f, stream.bytes->data, stream.bytes->len, chunks[c]);
      fail_unless_equals_string (f.types->str, "I0 P1 P2");
      fail_unless_equals_int (f.bytes->len, stream.bytes->len);
      fail_unless (memcmp (f.bytes->data, stream.bytes->data,
              stream.bytes->len) == 0);
      mpeg_video_framer_get_stats (f.framer, &stats);
      fail_unless_equals_uint64 (stats.junk_bytes, 0);
      teardown (&f);
      mpeg_stream_clear (&stream);
    }
  }
}

GST_END_TEST;

GST_START_TEST (two_field_pictures_are_one_frame)
{
  MpegStream stream;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, TRUE, FALSE, FALSE);
  add_field (&stream, 'I', 0, 1);
  add_field (&stream, 'P', 0, 2);
  add_field (&stream, 'P', 2, 2);
  add_field (&stream, 'P', 2, 1);
  add_field (&stream, 'B', 1, 1);
  add_field (&stream, 'B', 1, 2);
  mpeg_align (&stream);
  assert_frames (&stream, "I0+ P2+ B1+");
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

/* In each pair of fields of this stream, the second field does not complete the
 * frame of the first field. The second field has the same parity as the first
 * one, another temporal reference, or a picture type that cannot follow that of
 * the first field. */
GST_START_TEST (a_lone_field_is_incomplete)
{
  MpegStream stream;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, TRUE, FALSE, FALSE);
  add_field (&stream, 'I', 0, 1);
  add_field (&stream, 'P', 3, 1);
  add_field (&stream, 'P', 3, 1);
  add_field (&stream, 'B', 1, 1);
  add_field (&stream, 'P', 1, 2);
  mpeg_align (&stream);
  assert_frames (&stream, "I0! P3! P3! B1! P1!");
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

/* A first field without a second field is followed by a complete pair of
 * fields. The framer must read the picture coding extension of the first field
 * of this pair. */
GST_START_TEST (a_pair_behind_a_lone_field)
{
  MpegStream stream;
  Fixture f;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, TRUE, FALSE, FALSE);
  add_field (&stream, 'P', 1, 2);
  add_field (&stream, 'P', 3, 1);
  add_field (&stream, 'P', 3, 2);
  mpeg_align (&stream);
  assert_frames (&stream, "P1! P3+");
  setup (&f, 0, TRUE);
  push (&f, stream.bytes->data, stream.bytes->len - 20, 1000);
  fail_unless_equals_string (f.types->str, "P1! P3+!");
  fail_unless (f.last.pictures[0].header.has_extension);
  teardown (&f);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (one_sequence_header_and_no_gop_headers)
{
  MpegStream stream;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, TRUE, TRUE, FALSE);
  mpeg_stream_add (&stream, "I0 P3 B1 B2 P6 B4 B5 I9 B7 B8", FALSE, NULL);
  assert_frames (&stream, "I0 P3 B1 B2 P6 B4 B5 I9 B7 B8");
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (repeated_sequence_headers_go_with_the_next_frame)
{
  MpegStream stream;
  Fixture f;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, "| | I0 P1", FALSE, NULL);
  setup (&f, 0, TRUE);
  push (&f, stream.bytes->data, stream.bytes->len, 10);
  fail_unless_equals_string (f.types->str, "I0 P1");
  fail_unless_equals_int (f.bytes->len, stream.bytes->len);
  teardown (&f);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (size_and_rate_change_in_mid_stream)
{
  MpegPicture p = {.type = 'I',.progressive = TRUE };
  MpegStream stream;
  Fixture f;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, "| I0", FALSE, NULL);
  mpeg_sequence (&stream, 64, 48, 5, TRUE, TRUE, FALSE);
  p.rows = 3;
  mpeg_picture (&stream, &p);
  mpeg_align (&stream);
  setup (&f, 0, TRUE);
  push (&f, stream.bytes->data, stream.bytes->len, 10);
  fail_unless_equals_string (f.types->str, "I0 I0");
  fail_unless_equals_int (f.last.sequence.width, 64);
  fail_unless_equals_int (f.last.sequence.fps_n, 30);
  teardown (&f);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

/* In MPEG-1 (ISO/IEC 11172-2), one slice may cover the whole picture. MPEG-2
 * (ISO/IEC 13818-2) requires at least one slice in each row of macroblocks. A
 * picture of two rows that has only one slice is therefore complete in MPEG-1,
 * but incomplete in MPEG-2. */
GST_START_TEST (one_slice_to_a_picture)
{
  MpegPicture p = {.type = 'I',.rows = 1,.mpeg1 = TRUE,.progressive = TRUE };
  MpegStream stream;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, FALSE, TRUE, FALSE);
  mpeg_picture (&stream, &p);
  assert_frames (&stream, "I0");
  mpeg_stream_clear (&stream);

  p.mpeg1 = FALSE;
  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, TRUE, TRUE, FALSE);
  mpeg_picture (&stream, &p);
  assert_frames (&stream, "I0!");
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (junk_before_the_first_sequence_header_is_dropped)
{
  MpegStream stream;
  MpegVideoFramerStats stats;
  Fixture f;

  mpeg_stream_init (&stream);
  g_byte_array_append (stream.bytes, (const guint8 *) "junk\0\0\1\5\0", 9);
  mpeg_stream_add (&stream, "P3 B1 | I0 P1", FALSE, NULL);
  setup (&f, 0, TRUE);
  push (&f, stream.bytes->data, stream.bytes->len, 1);
  fail_unless_equals_string (f.types->str, "I0 P1");
  mpeg_video_framer_get_stats (f.framer, &stats);
  fail_unless_equals_uint64 (stats.before_sequence, 2);
  fail_unless_equals_uint64 (stats.junk_bytes + f.bytes->len,
      stream.bytes->len);
  teardown (&f);

  /* This framer (which cuts a stream into frames) need not begin at a sequence
   * header, so it may start in the middle of a stream. It must also output the
   * frames before the first sequence header. */
  setup (&f, 0, FALSE);
  push (&f, stream.bytes->data, stream.bytes->len, 3);
  fail_unless_equals_string (f.types->str, "P3 B1 I0 P1");
  teardown (&f);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (missing_rows_make_a_frame_incomplete)
{
  const guint8 *slice;
  MpegStream stream;
  guint lost;

  for (lost = 1; lost <= 3; lost++) {
    MpegPicture i = {.type = 'I',.progressive = TRUE,.rows = 3 };
    MpegPicture p = {.type = 'P',.tr = 1,.progressive = TRUE,.rows = 3 };
    GByteArray *bytes;
    guint8 code[4] = { 0, 0, 1, lost };
    Fixture f;

    mpeg_stream_init (&stream);
    mpeg_sequence (&stream, 32, 48, 3, TRUE, TRUE, FALSE);
    mpeg_picture (&stream, &i);
    mpeg_picture (&stream, &p);
    bytes = stream.bytes;
    for (slice = bytes->data; memcmp (slice, code, 4); slice++);
    g_byte_array_remove_range (bytes, slice - bytes->data, 20);
    setup (&f, 0, TRUE);
    push (&f, bytes->data, bytes->len, 11);
    fail_unless_equals_string (f.types->str, "I0! P1");
    teardown (&f);
    mpeg_stream_clear (&stream);
  }
}

GST_END_TEST;

/* ISO/IEC 13818-2 6.3.3: a progressive frame of 144 lines has nine macroblock
 * rows. An interlaced frame of 144 lines has ten rows, five in each field. */
GST_START_TEST (interlaced_frames_have_rows_for_both_fields)
{
  gint progressive;
  guint rows;

  for (progressive = 0; progressive < 2; progressive++) {
    for (rows = 9; rows <= 10; rows++) {
      MpegPicture p = {.type = 'I',.rows = rows,.progressive = progressive };
      MpegStream stream;

      mpeg_stream_init (&stream);
      mpeg_sequence (&stream, 32, 144, 3, TRUE, progressive, FALSE);
      mpeg_picture (&stream, &p);
      assert_frames (&stream, rows == (progressive ? 9 : 10) ? "I0" : "I0!");
      mpeg_stream_clear (&stream);
    }
  }
}

GST_END_TEST;

/* The last byte of a slice's start code is the row of the slice in the picture.
 * In pictures of more than 2800 lines, this byte is too small for the row.
 * Three more bits of the row then follow the start code (ISO/IEC 13818-2
 * 6.3.16). */
GST_START_TEST (rows_of_tall_pictures_go_on_behind_the_start_code)
{
  const guint n_rows[] = { 128, 176, 177 };
  guint i, row;

  for (i = 0; i < G_N_ELEMENTS (n_rows); i++) {
    MpegPicture p = {.type = 'I',.progressive = TRUE };
    MpegStream stream;

    mpeg_stream_init (&stream);
    mpeg_sequence (&stream, 32, 177 * 16, 3, TRUE, TRUE, FALSE);
    mpeg_picture_header (&stream, &p);
    mpeg_picture_extension (&stream, &p);
    for (row = 0; row < n_rows[i]; row++) {
      mpeg_code (&stream, row % 128 + 1);
      mpeg_put (&stream, 3, row / 128);
      mpeg_put (&stream, 13, 0x0aaa);
    }
    assert_frames (&stream, n_rows[i] == 177 ? "I0" : "I0!");
    mpeg_stream_clear (&stream);
  }
}

GST_END_TEST;

GST_START_TEST (pictures_without_slices_are_incomplete)
{
  MpegPicture p = {.type = 'P',.tr = 1 };
  MpegStream stream;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, "| I0", FALSE, NULL);
  mpeg_picture_header (&stream, &p);
  mpeg_stream_add (&stream, "P2", FALSE, NULL);
  assert_frames (&stream, "I0 P1! P2");
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (a_damaged_picture_header_costs_its_picture_only)
{
  MpegStream stream;
  MpegVideoFramerStats stats;
  Fixture f;
  guint start;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, "| I0", FALSE, NULL);
  start = stream.bytes->len;
  mpeg_stream_add (&stream, "P1 P2", FALSE, NULL);
  stream.bytes->data[start + 5] &= ~0x38;       /* type 0 is forbidden */
  setup (&f, 0, TRUE);
  push (&f, stream.bytes->data, stream.bytes->len, 9);
  fail_unless_equals_string (f.types->str, "I0 P2");
  mpeg_video_framer_get_stats (f.framer, &stats);
  fail_unless (stats.bad_headers > 0);
  teardown (&f);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (a_discontinuity_costs_the_frame_it_cuts)
{
  MpegStream stream;
  MpegVideoFramerStats stats;
  Fixture f;
  GArray *marks = g_array_new (FALSE, FALSE, sizeof (guint));
  guint second, fourth;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, "| I0 P1 P2 P3", FALSE, marks);
  second = g_array_index (marks, guint, 1);
  fourth = g_array_index (marks, guint, 3);
  setup (&f, 0, TRUE);
  mpeg_video_framer_input (f.framer, stream.bytes->data, second + 15,
      MPEG_VIDEO_TIME_NONE, MPEG_VIDEO_TIME_NONE);
  mpeg_video_framer_discont (f.framer);
  push (&f, stream.bytes->data + fourth - 5, stream.bytes->len - fourth + 5,
      100);
  fail_unless_equals_string (f.types->str, "I0 P3");
  mpeg_video_framer_get_stats (f.framer, &stats);
  fail_unless_equals_uint64 (stats.truncated, 1);
  teardown (&f);
  g_array_unref (marks);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

GST_START_TEST (a_frame_over_the_limit_is_given_up)
{
  MpegPicture p = {.type = 'P',.tr = 1,.slice_size = 5000 };
  MpegStream stream;
  MpegVideoFramerStats stats;
  Fixture f;

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, "| I0", FALSE, NULL);
  mpeg_picture (&stream, &p);
  mpeg_stream_add (&stream, "P2 P3", FALSE, NULL);
  setup (&f, 2000, TRUE);
  push (&f, stream.bytes->data, stream.bytes->len, 100);
  fail_unless_equals_string (f.types->str, "I0 P2 P3");
  mpeg_video_framer_get_stats (f.framer, &stats);
  fail_unless_equals_uint64 (stats.too_big, 1);
  fail_unless_equals_uint64 (stats.junk_bytes + f.bytes->len,
      stream.bytes->len);
  teardown (&f);
  mpeg_stream_clear (&stream);
}

GST_END_TEST;

/* ISO/IEC 13818-1 2.4.3.7: the PTS of a PES packet belongs to the first access
 * unit that begins in this packet. */
GST_START_TEST (times_belong_to_the_first_picture_that_begins)
{
  MpegVideoFramerConfig config = { 0, TRUE };
  MpegVideoFramer *framer = mpeg_video_framer_new (&config);
  GArray *marks = g_array_new (FALSE, FALSE, sizeof (guint));
  MpegVideoFrame frame;
  MpegStream stream;
  guint cut, i;
  /* The first input contains only a part of the sequence header. No picture
   * begins in this input, so the PTS of the input, 100, must not be used. */
  const guint64 expected[] = { 200, MPEG_VIDEO_TIME_NONE, 300 };

  mpeg_stream_init (&stream);
  mpeg_stream_add (&stream, "| I0 P1 P2", FALSE, marks);
  /* The stream is passed to the framer in four inputs. The third input ends
   * inside the start code of the third picture. The picture belongs to the
   * third input, because its start code begins there. */
  cut = g_array_index (marks, guint, 2) + 2;
  mpeg_video_framer_input (framer, stream.bytes->data, 20, 100, 90);
  mpeg_video_framer_input (framer, stream.bytes->data + 20, cut - 22, 200, 190);
  mpeg_video_framer_input (framer, stream.bytes->data + cut - 2, 2, 300, 290);
  mpeg_video_framer_input (framer, stream.bytes->data + cut,
      stream.bytes->len - cut, 400, 390);
  mpeg_video_framer_drain (framer);
  for (i = 0; mpeg_video_framer_poll_output (framer, &frame); i++) {
    fail_unless_equals_uint64 (frame.pts, expected[i]);
    g_free (frame.data);
    mpeg_video_frame_clear (&frame);
  }
  fail_unless_equals_int (i, 3);
  g_array_unref (marks);
  mpeg_stream_clear (&stream);
  mpeg_video_framer_free (framer);
}

GST_END_TEST;

GST_START_TEST (a_whole_frame_is_taken_without_a_copy)
{
  MpegVideoFramerConfig config = { 0, FALSE };
  MpegVideoFramer *framer = mpeg_video_framer_new (&config);
  MpegVideoFrame frame;
  MpegStream one, two;

  mpeg_stream_init (&one);
  mpeg_stream_init (&two);
  mpeg_stream_add (&one, "| I0", FALSE, NULL);
  mpeg_stream_add (&two, "P1 P2", FALSE, NULL);
  fail_unless (mpeg_video_framer_input_frame (framer, one.bytes->data,
          one.bytes->len, 7, 5, &frame));
  fail_unless (frame.data == one.bytes->data);
  fail_unless_equals_uint64 (frame.pts, 7);
  fail_unless_equals_int (frame.n_slices, 2);
  fail_unless_equals_int (frame.pictures[0].end_unit, frame.n_units);
  mpeg_video_frame_clear (&frame);
  /* mpeg_video_framer_input_frame () must refuse an input in three cases: it
   * holds two frames, it holds an incomplete header, or other bytes precede its
   * first start code. */
  fail_unless (!mpeg_video_framer_input_frame (framer, two.bytes->data,
          two.bytes->len, 7, 5, &frame));
  fail_unless (!mpeg_video_framer_input_frame (framer, one.bytes->data, 20,
          7, 5, &frame));
  fail_unless (!mpeg_video_framer_input_frame (framer, one.bytes->data + 1,
          one.bytes->len - 1, 7, 5, &frame));
  mpeg_video_framer_free (framer);
  mpeg_stream_clear (&one);
  mpeg_stream_clear (&two);
}

GST_END_TEST;

static Suite *
mpegvideo_suite (void)
{
  Suite *s = suite_create ("mpegvideo");
  TCase *headers = tcase_create ("headers");
  TCase *framer = tcase_create ("framer");

  suite_add_tcase (s, headers);
  tcase_add_test (headers, sequence_header_of_a_dvd);
  tcase_add_test (headers, sequence_extension_widens_fields);
  tcase_add_test (headers, picture_vectors_by_type);
  tcase_add_test (headers, picture_types_out_of_range_are_refused);
  tcase_add_test (headers, picture_extension_fields);
  tcase_add_test (headers, drop_frame_time_code);
  tcase_add_test (headers, start_codes_are_found_at_every_offset);

  suite_add_tcase (s, framer);
  tcase_add_test (framer, frames_are_the_same_however_bytes_arrive);
  tcase_add_test (framer, mpeg1_frames);
  tcase_add_test (framer, an_end_code_inside_a_picture_keeps_the_rest_of_it);
  tcase_add_test (framer, two_field_pictures_are_one_frame);
  tcase_add_test (framer, a_lone_field_is_incomplete);
  tcase_add_test (framer, a_pair_behind_a_lone_field);
  tcase_add_test (framer, one_sequence_header_and_no_gop_headers);
  tcase_add_test (framer, repeated_sequence_headers_go_with_the_next_frame);
  tcase_add_test (framer, size_and_rate_change_in_mid_stream);
  tcase_add_test (framer, one_slice_to_a_picture);
  tcase_add_test (framer, junk_before_the_first_sequence_header_is_dropped);
  tcase_add_test (framer, missing_rows_make_a_frame_incomplete);
  tcase_add_test (framer, interlaced_frames_have_rows_for_both_fields);
  tcase_add_test (framer, rows_of_tall_pictures_go_on_behind_the_start_code);
  tcase_add_test (framer, pictures_without_slices_are_incomplete);
  tcase_add_test (framer, a_damaged_picture_header_costs_its_picture_only);
  tcase_add_test (framer, a_discontinuity_costs_the_frame_it_cuts);
  tcase_add_test (framer, a_frame_over_the_limit_is_given_up);
  tcase_add_test (framer, times_belong_to_the_first_picture_that_begins);
  tcase_add_test (framer, a_whole_frame_is_taken_without_a_copy);
  return s;
}

GST_CHECK_MAIN (mpegvideo);
