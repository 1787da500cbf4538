/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that a transport stream is divided into units with at most one picture
 * each. Also tests which bytes of a dropped picture are still sent. The packets
 * are written by hand from ISO/IEC 13818-1.
 */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "tsbuilder.h"
#include "tspictures.h"

/* Cuts the stream into units, which contain at most one picture each. Returns a
 * text with one word for each unit. There are three kinds of words, explained
 * here with examples of the numbers:
 * - "(100)": the unit has 100 bytes, which is not a multiple of the packet
 *   size.
 * - "4": the unit has 4 packets and no picture.
 * - "4v1-3": the unit has 4 packets and a picture, for which the letter v
 *   stands. If the picture is dropped, 1 packet of the unit must still be sent,
 *   and the continuity counters of all later video packets must be reduced by
 *   3.
 *
 * Also checks that the units together are identical to the stream. */
static gchar *
cut_into (const TsStream * stream, gsize piece, TsPictures * pictures)
{
  GString *text = g_string_new (NULL);
  GByteArray *all = g_byte_array_new ();
  gsize at, size;
  TsUnit unit;

  for (at = 0; at < stream->bytes->len; at += size) {
    size = MIN (piece, stream->bytes->len - at);
    ts_pictures_input (pictures, stream->bytes->data + at, size, at);
  }
  ts_pictures_drain (pictures);
  while (ts_pictures_poll (pictures, &unit)) {
    if (unit.size % TS_PACKET_SIZE)
      g_string_append_printf (text, "(%u) ", (guint) unit.size);
    else if (unit.has_picture)
      g_string_append_printf (text, "%uv%u-%u ", (guint) (unit.size /
              TS_PACKET_SIZE), (guint) (unit.rest_size / TS_PACKET_SIZE),
          unit.n_removed);
    else
      g_string_append_printf (text, "%u ", (guint) (unit.size /
              TS_PACKET_SIZE));
    fail_unless_equals_int (unit.tag, (all->len) / piece * piece);
    g_byte_array_append (all, unit.data, unit.size);
    ts_unit_clear (&unit);
  }
  fail_unless_equals_int (all->len, stream->bytes->len);
  fail_unless (memcmp (all->data, stream->bytes->data, all->len) == 0);
  g_byte_array_unref (all);
  return g_string_free (text, FALSE);
}

/* Passes the stream to the parser five times, each time in pieces of another
 * size. Each time, cut_into () must return the text `expected`, and
 * ts_pictures_get_refusal () must return `refusal`. */
static void
expect_units (TsStream * stream, const gchar * expected, const gchar * refusal)
{
  static const gsize pieces[] = { 1, 7, TS_PACKET_SIZE, 1316, 100000 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (pieces); i++) {
    TsPictures *pictures = ts_pictures_new ();
    gchar *text = cut_into (stream, pieces[i], pictures);

    fail_unless_equals_string (text, expected);
    fail_unless_equals_string (ts_pictures_get_refusal (pictures), refusal);
    g_free (text);
    ts_pictures_free (pictures);
  }
  g_byte_array_unref (stream->bytes);
}

GST_START_TEST (unit_is_a_picture_with_the_packets_in_it)
{
  TsStream stream;

  ts_stream_start (&stream, H264);
  ts_put_sound (&stream);
  ts_put_more (&stream);        /* continues a picture that began earlier */
  ts_put_picture (&stream, H264_PICTURE);
  ts_put_more (&stream);
  ts_put_sound (&stream);
  ts_put_more (&stream);
  ts_put_picture (&stream, H264_PICTURE);
  ts_put_tables (stream.bytes, H264);
  expect_units (&stream, "1 1 1 1 4v1-3 3v2-1 ", NULL);
}

GST_END_TEST;

/* A multiplexer adds null packets to keep the bitrate constant. If a picture is
 * dropped, the bitrate is no longer constant. The null packets between the
 * packets of the dropped picture must therefore be dropped as well. */
GST_START_TEST (null_packets_do_not_remain)
{
  TsStream stream;

  ts_stream_start (&stream, H264);
  ts_put_picture (&stream, H264_PICTURE);
  ts_put_packet (stream.bytes, TS_NO_PID, FALSE, 0, 0, NULL, 0, "\xff", 1);
  ts_put_sound (&stream);
  ts_put_packet (stream.bytes, TS_NO_PID, FALSE, 0, 0, NULL, 0, "\xff", 1);
  ts_put_more (&stream);
  expect_units (&stream, "1 1 5v1-2 ", NULL);
}

GST_END_TEST;

GST_START_TEST (pes_packet_may_begin_within_a_picture)
{
  TsStream stream;

  ts_stream_start (&stream, H264);
  ts_put_picture (&stream, H264_PICTURE);
  ts_put_picture (&stream, H264_REST);
  ts_put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 2v0-2 1v0-1 ", NULL);
}

GST_END_TEST;

/* The numbers in brackets are sections of ISO/IEC 13818-2. MPEG_SEQUENCE is a
 * sequence header for 160x96 pixels with its extension (6.2.2.1), and a GOP
 * header (6.2.2.6). picture_structure (6.2.3.1) is 1 for a top field, 2 for a
 * bottom field and 3 for a frame. */
#define MPEG_SEQUENCE "\0\0\1\xb3\x0a\0\x60\x13\xff\xff\xe0\x18" \
    "\0\0\1\xb5\x14\x8a\0\1\0\0\0\0\1\xb8\0\x08\0\0"
#define MPEG_STRUCTURE(reference, structure) "\0\0\1\0" reference \
    "\x0f\xff\xf8\0\0\1\xb5\x8f\xff" structure "\x80\0\0\1\1"
#define MPEG_TOP(reference) MPEG_STRUCTURE (reference, "\xf1")
#define MPEG_BOTTOM(reference) MPEG_STRUCTURE (reference, "\xf2")
#define MPEG_FRAME(reference) MPEG_STRUCTURE (reference, "\xf3")

/* The two fields of a frame have the same temporal reference (ISO/IEC 13818-2,
 * 6.3.9). */
GST_START_TEST (second_field_belongs_to_the_first)
{
  TsStream stream;

  ts_stream_start (&stream, MPEG2);
  ts_put_picture (&stream, PES MPEG_SEQUENCE MPEG_TOP ("\0"));
  ts_put_picture (&stream, PES MPEG_BOTTOM ("\0"));
  ts_put_picture (&stream, PES MPEG_BOTTOM ("\1"));
  ts_put_more (&stream);
  ts_put_picture (&stream, PES MPEG_TOP ("\1"));
  ts_put_picture (&stream, PES MPEG_TOP ("\2"));
  expect_units (&stream, "1 1 2v0-2 3v0-3 1v0-1 ", NULL);
}

GST_END_TEST;

/* Some encoders write the same temporal reference into every picture. Two
 * frames with the same temporal reference must not be treated as the two fields
 * of one frame. */
GST_START_TEST (frames_are_no_fields)
{
  TsStream stream;

  ts_stream_start (&stream, MPEG2);
  ts_put_picture (&stream, PES MPEG_SEQUENCE MPEG_FRAME ("\0"));
  ts_put_picture (&stream, PES MPEG_FRAME ("\0"));
  ts_put_picture (&stream, MPEG_PICTURE ("\0"));
  ts_put_picture (&stream, MPEG_PICTURE ("\0"));
  /* Three fields of interlaced video follow: top, bottom, top. The first two
   * fields are one frame. The third field must begin the next frame. */
  ts_put_picture (&stream, PES MPEG_TOP ("\0"));
  ts_put_picture (&stream, PES MPEG_BOTTOM ("\0"));
  ts_put_picture (&stream, PES MPEG_TOP ("\0"));
  expect_units (&stream, "1 1 1v0-1 1v0-1 1v0-1 1v0-1 2v0-2 1v0-1 ", NULL);
}

GST_END_TEST;

/* ISO/IEC 13818-1, 2.4.3.7: a PTS or DTS has 33 bits, with marker bits between
 * them. */
GST_START_TEST (time_is_the_dts_or_the_pts)
{
  static const gchar both[] = "\0\0\1\xe0\0\0\x80\xc0\x0a"
      "\x3f\xff\xff\xff\xff\x1b\0\1\0\x03\0\0\1\x09\x10\0\0\1\x41\x9a\x24";
  static const gchar none[] = "\0\0\1\xe0\0\0\x80\0\0"
      "\0\0\1\x09\x10\0\0\1\x41\x9a\x24";
  static const guint64 times[] = { 0, (G_GUINT64_CONSTANT (5) << 30) + 1 };
  TsPictures *pictures = ts_pictures_new ();
  guint n = 0;
  TsStream stream;
  TsUnit unit;

  ts_stream_start (&stream, H264);
  ts_put_picture (&stream, H264_PICTURE);
  ts_put_video (&stream, TRUE, NULL, 0, both, sizeof both - 1);
  ts_put_video (&stream, TRUE, NULL, 0, none, sizeof none - 1);
  ts_pictures_input (pictures, stream.bytes->data, stream.bytes->len, 0);
  ts_pictures_drain (pictures);
  while (ts_pictures_poll (pictures, &unit)) {
    if (unit.has_picture) {
      fail_unless_equals_int (unit.has_time, n < 2);
      if (unit.has_time)
        fail_unless_equals_uint64 (unit.time, times[n]);
      n++;
    }
    ts_unit_clear (&unit);
  }
  fail_unless_equals_int (n, 3);
  g_byte_array_unref (stream.bytes);
  ts_pictures_free (pictures);
}

GST_END_TEST;

/* If a picture of a transport stream is dropped, its clock references must
 * still be sent, in packets without payload. A packet without payload does not
 * increase the continuity counter, so its counter must be equal to that of the
 * last packet with payload (ISO/IEC 13818-1, 2.4.3.3). */
GST_START_TEST (clock_references_remain)
{
  TsPictures *pictures = ts_pictures_new ();
  const guint8 *clock;
  TsStream stream;
  TsUnit unit;

  ts_stream_start (&stream, H264);
  ts_put_more (&stream);        /* counter 14 */
  ts_put_picture (&stream, H264_PICTURE);       /* 15 */
  ts_put_more (&stream);        /* 0 */
  ts_put_sound (&stream);
  ts_put_video (&stream, FALSE, CLOCK, CLOCK_SIZE, "\x55", 1);  /* 1 */
  ts_put_video (&stream, FALSE, CLOCK, CLOCK_SIZE, NULL, 0);
  ts_pictures_input (pictures, stream.bytes->data, stream.bytes->len, 0);
  ts_pictures_drain (pictures);
  do {
    fail_unless (ts_pictures_poll (pictures, &unit));
    if (!unit.has_picture)
      ts_unit_clear (&unit);
  } while (!unit.has_picture);
  fail_unless_equals_int (unit.n_removed, 3);
  fail_unless_equals_int (unit.rest_size, 3 * TS_PACKET_SIZE);
  fail_unless_equals_int (unit.rest[2], SOUND_PID & 0xff);
  clock = unit.rest + TS_PACKET_SIZE;
  fail_unless (memcmp (clock, "\x47\1\1\x2e\xb7" CLOCK "\xff", 13) == 0);
  fail_unless (memcmp (clock + TS_PACKET_SIZE, clock, TS_PACKET_SIZE) == 0);
  ts_unit_clear (&unit);
  g_byte_array_unref (stream.bytes);
  ts_pictures_free (pictures);
}

GST_END_TEST;

/* 2.4.3.3: a packet may be sent twice. */
GST_START_TEST (duplicate_packet_does_not_advance_the_counter)
{
  TsStream stream;

  ts_stream_start (&stream, H264);
  ts_put_picture (&stream, H264_PICTURE);
  stream.counter--;
  ts_put_picture (&stream, H264_PICTURE);
  ts_put_more (&stream);
  stream.counter--;
  ts_put_more (&stream);
  expect_units (&stream, "1 1 4v0-2 ", NULL);
}

GST_END_TEST;

GST_START_TEST (scrambled_video_passes)
{
  TsStream stream;

  ts_stream_start (&stream, H264);
  ts_put_picture (&stream, H264_PICTURE);
  ts_put_packet (stream.bytes, VIDEO_PID, TRUE, 2, stream.counter, NULL, 0,
      H264_PICTURE, sizeof (H264_PICTURE));
  ts_put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 1v0-1 1 1 ", "its video is scrambled");
}

GST_END_TEST;

GST_START_TEST (unknown_stream_passes)
{
  const guint8 pat[] = { 0, 1, 0xe1, 0, 0, 2, 0xe1, 9 };
  TsStream stream;

  ts_stream_start (&stream, PRIVATE);
  ts_put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 1 ", NULL);

  stream.bytes = g_byte_array_new ();
  ts_put_section (stream.bytes, 0, 0, pat, sizeof pat);
  expect_units (&stream, "1 ", "it has several programs");

  /* a table with a wrong CRC is ignored */
  ts_stream_start (&stream, H264);
  stream.bytes->data[TS_PACKET_SIZE + 20] ^= 1;
  ts_put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 1 ", NULL);
}

GST_END_TEST;

/* A multiplexer may write its first tables before it knows the video. */
GST_START_TEST (video_may_appear_and_disappear)
{
  TsStream stream;

  ts_stream_start (&stream, PRIVATE);
  ts_put_picture (&stream, H264_PICTURE);
  ts_put_tables (stream.bytes, H264);
  ts_put_picture (&stream, H264_PICTURE);
  ts_put_more (&stream);
  ts_put_tables (stream.bytes, PRIVATE);
  ts_put_picture (&stream, H264_PICTURE);
  ts_put_tables (stream.bytes, H264);
  ts_put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 1 1 1 3v1-2 1 1 1 1 1v0-1 ", NULL);
}

GST_END_TEST;

static void
input_tables (TsPictures * pictures, guint type)
{
  GByteArray *bytes = g_byte_array_new ();

  ts_put_tables (bytes, type);
  ts_pictures_input (pictures, bytes->data, bytes->len, 0);
  g_byte_array_unref (bytes);
}

GST_START_TEST (ten_tables_without_video_cause_a_warning)
{
  TsPictures *pictures = ts_pictures_new ();
  guint i;

  for (i = 0; i < 9; i++)
    input_tables (pictures, PRIVATE);
  fail_unless (ts_pictures_get_warning (pictures) == NULL);
  input_tables (pictures, PRIVATE);
  fail_unless_equals_string (ts_pictures_get_warning (pictures),
      "it has no MPEG, H.264 or H.265 video");
  fail_unless (ts_pictures_get_refusal (pictures) == NULL);
  input_tables (pictures, H264);
  fail_unless (ts_pictures_get_warning (pictures) == NULL);
  for (i = 0; i < 10; i++)
    input_tables (pictures, PRIVATE);
  ts_pictures_reset (pictures);
  fail_unless (ts_pictures_get_warning (pictures) == NULL);
  ts_pictures_free (pictures);
}

GST_END_TEST;

/* Without video, the units are as large as the input. */
GST_START_TEST (stream_without_video_passes_in_the_same_pieces)
{
  TsPictures *pictures = ts_pictures_new ();
  TsStream stream;
  TsUnit unit;
  guint i;

  for (i = 0; i < 10; i++)
    input_tables (pictures, PRIVATE);
  while (ts_pictures_poll (pictures, &unit))
    ts_unit_clear (&unit);
  ts_stream_start (&stream, PRIVATE);
  for (i = 0; i < 5; i++)
    ts_put_sound (&stream);
  ts_pictures_input (pictures, stream.bytes->data, stream.bytes->len, 0);
  fail_unless (ts_pictures_poll (pictures, &unit));
  fail_unless_equals_int (unit.size, 7 * TS_PACKET_SIZE);
  fail_if (unit.has_picture);
  ts_unit_clear (&unit);
  fail_if (ts_pictures_poll (pictures, &unit));
  g_byte_array_unref (stream.bytes);
  ts_pictures_free (pictures);
}

GST_END_TEST;

/* A picture keeps the format in which it began. */
GST_START_TEST (format_may_change)
{
  TsPictures *pictures = ts_pictures_new ();
  TsVideo expected[] = { TS_VIDEO_MPEG, TS_VIDEO_H264 };
  TsStream stream;
  TsUnit unit;
  guint n = 0;

  ts_stream_start (&stream, MPEG2);
  ts_put_picture (&stream, MPEG_PICTURE ("\0"));
  ts_put_tables (stream.bytes, H264);
  ts_put_picture (&stream, H264_PICTURE);
  ts_pictures_input (pictures, stream.bytes->data, stream.bytes->len, 0);
  ts_pictures_drain (pictures);
  while (ts_pictures_poll (pictures, &unit)) {
    if (unit.has_picture) {
      fail_unless (n < G_N_ELEMENTS (expected));
      fail_unless_equals_int (unit.video, expected[n++]);
    }
    ts_unit_clear (&unit);
  }
  fail_unless_equals_int (n, 2);
  g_byte_array_unref (stream.bytes);
  ts_pictures_free (pictures);
}

GST_END_TEST;

GST_START_TEST (bytes_between_packets_pass)
{
  TsStream stream;

  ts_stream_start (&stream, H264);
  ts_put_picture (&stream, H264_PICTURE);
  g_byte_array_append (stream.bytes, (const guint8 *) "ab", 2);
  ts_put_picture (&stream, H264_PICTURE);
  g_byte_array_append (stream.bytes, (const guint8 *) "\x47\1", 2);
  expect_units (&stream, "1 1 1v0-1 (2) 1v0-1 (2) ", NULL);
}

GST_END_TEST;

GST_START_TEST (counters_of_the_pid_are_shifted)
{
  TsStream stream;

  ts_stream_start (&stream, H264);
  ts_put_more (&stream);
  ts_put_sound (&stream);
  ts_put_more (&stream);
  ts_shift_counters (stream.bytes->data, stream.bytes->len, VIDEO_PID, 31);
  fail_unless_equals_int (stream.bytes->data[2 * TS_PACKET_SIZE + 3], 0x1f);
  fail_unless_equals_int (stream.bytes->data[3 * TS_PACKET_SIZE + 3], 0x15);
  fail_unless_equals_int (stream.bytes->data[4 * TS_PACKET_SIZE + 3], 0x10);
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

/* Writes the tables of a program with a private stream and a video stream. The
 * private stream comes first, and its descriptors fill two packets of the
 * program map. */
static void
put_long_map (GByteArray * bytes)
{
  const guint8 pat[] = { 0, 1, 0xe0 | PMT_PID >> 8, PMT_PID & 0xff };
  const guint8 video[] = { H264, 0xe0 | VIDEO_PID >> 8, VIDEO_PID & 0xff, 0xf0,
    0
  };
  guint8 pmt[4 + 5 + 330 + sizeof (video)] = { 0xe0 | VIDEO_PID >> 8,
    VIDEO_PID & 0xff, 0xf0, 0, PRIVATE, 0xe0 | SOUND_PID >> 8,
    SOUND_PID & 0xff, 0xf0 | 330 >> 8, 330 & 0xff
  };

  memcpy (pmt + 4 + 5 + 330, video, sizeof video);
  ts_put_section (bytes, 0, 0, pat, sizeof pat);
  ts_put_section (bytes, PMT_PID, 2, pmt, sizeof pmt);
}

/* The program map is so long that it needs two packets (13818-1 section 2.4.4).
 * If one of these packets is missing, the picture after the map must not be
 * recognized. If one of these packets arrives twice, the duplicate must be
 * ignored. */
GST_START_TEST (section_may_need_several_packets)
{
  TsStream stream = { g_byte_array_new (), 14 };
  guint missing;

  put_long_map (stream.bytes);
  ts_put_picture (&stream, H264_PICTURE);
  fail_unless_equals_int (stream.bytes->len, 4 * TS_PACKET_SIZE);
  expect_units (&stream, "1 1 1 1v0-1 ", NULL);

  stream.bytes = g_byte_array_new ();
  put_long_map (stream.bytes);
  g_byte_array_append (stream.bytes, stream.bytes->data + 2 * TS_PACKET_SIZE,
      TS_PACKET_SIZE);
  ts_put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 1 1 1v0-1 ", NULL);

  for (missing = 1; missing <= 2; missing++) {
    stream.bytes = g_byte_array_new ();
    put_long_map (stream.bytes);
    g_byte_array_remove_range (stream.bytes, missing * TS_PACKET_SIZE,
        TS_PACKET_SIZE);
    ts_put_picture (&stream, H264_PICTURE);
    expect_units (&stream, "1 1 1 ", NULL);
  }
}

GST_END_TEST;

/* The program map section begins in one packet, after a private section, and
 * ends in the next packet. In the second packet, pointer_field is the number of
 * the remaining bytes of the section (ISO/IEC 13818-1, 2.4.4.2). The parser
 * must read the whole section, and must then find the picture. */
GST_START_TEST (section_may_end_before_the_next_one)
{
  const gsize split = 20;
  GByteArray *tables = g_byte_array_new ();
  TsStream stream = { g_byte_array_new (), 14 };
  guint8 payload[TS_PACKET_SIZE - 4] = { 0, 0x80, 0xb0 };
  const guint8 *map;
  gsize size;

  ts_put_tables (tables, H264);
  map = tables->data + TS_PACKET_SIZE + 5;
  size = 3 + map[2];
  g_byte_array_append (stream.bytes, tables->data, TS_PACKET_SIZE);
  /* The first packet contains a private section and, after it, the beginning of
   * the program map section. */
  payload[3] = sizeof payload - split - 4;
  memcpy (payload + sizeof payload - split, map, split);
  ts_put_packet (stream.bytes, PMT_PID, TRUE, 0, 0, NULL, 0,
      (const gchar *) payload, sizeof payload);
  payload[0] = size - split;
  memcpy (payload + 1, map + split, size - split);
  ts_put_packet (stream.bytes, PMT_PID, TRUE, 0, 1, NULL, 0,
      (const gchar *) payload, 1 + size - split);
  ts_put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 1 1v0-1 ", NULL);
  g_byte_array_unref (tables);
}

GST_END_TEST;

static Suite *
tspictures_suite (void)
{
  Suite *suite = suite_create ("tspictures");
  TCase *chain = tcase_create ("general");

  suite_add_tcase (suite, chain);
  tcase_add_test (chain, unit_is_a_picture_with_the_packets_in_it);
  tcase_add_test (chain, null_packets_do_not_remain);
  tcase_add_test (chain, pes_packet_may_begin_within_a_picture);
  tcase_add_test (chain, second_field_belongs_to_the_first);
  tcase_add_test (chain, frames_are_no_fields);
  tcase_add_test (chain, time_is_the_dts_or_the_pts);
  tcase_add_test (chain, clock_references_remain);
  tcase_add_test (chain, duplicate_packet_does_not_advance_the_counter);
  tcase_add_test (chain, section_may_need_several_packets);
  tcase_add_test (chain, section_may_end_before_the_next_one);
  tcase_add_test (chain, scrambled_video_passes);
  tcase_add_test (chain, unknown_stream_passes);
  tcase_add_test (chain, bytes_between_packets_pass);
  tcase_add_test (chain, video_may_appear_and_disappear);
  tcase_add_test (chain, ten_tables_without_video_cause_a_warning);
  tcase_add_test (chain, stream_without_video_passes_in_the_same_pieces);
  tcase_add_test (chain, format_may_change);
  tcase_add_test (chain, counters_of_the_pid_are_shifted);
  return suite;
}

GST_CHECK_MAIN (tspictures);
