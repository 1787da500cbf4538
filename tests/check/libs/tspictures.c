/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how a transport stream is cut at its pictures, and what remains of a
 * picture that is dropped. The packets are written by hand from ISO/IEC
 * 13818-1.
 */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "tspictures.h"

#define PMT_PID 0x100
#define VIDEO_PID 0x101
#define SOUND_PID 0x102
#define H264 0x1b
#define MPEG2 2
#define PRIVATE 6

typedef struct
{
  GByteArray *bytes;
  guint counter;                /* of the video */
} Stream;

/* PES headers with a PTS, then the beginning of a picture: H.264 delimiter and
 * slice; the rest of a slice; MPEG picture headers with temporal reference */
#define PES "\0\0\1\xe0\0\0\x80\x80\5\x21\0\1\0\1"
#define PES_SIZE 14
#define H264_PICTURE PES "\0\0\0\1\x09\x10\0\0\1\x41\x9a\x24"
#define H264_REST PES "\0\0\1\x41\x1a\x24\x55\x66\x77\x88"
#define MPEG_PICTURE(reference) PES "\0\0\1\0" reference "\xff\xf8\0\0\1\1"

/* 2.4.3.2: `adaptation` is what follows the length of the adaptation field. */
static void
put_packet (GByteArray * bytes, guint pid, gboolean begins, guint scrambling,
    guint counter, const gchar * adaptation, gsize adaptation_size,
    const gchar * payload, gsize payload_size)
{
  guint8 packet[TS_PACKET_SIZE];
  gsize at = 4;

  memset (packet, 0xff, sizeof packet);
  packet[0] = 0x47;
  packet[1] = (begins ? 0x40 : 0) | pid >> 8;
  packet[2] = pid;
  packet[3] = scrambling << 6 | (adaptation ? 0x20 : 0) | (payload ? 0x10 : 0)
      | (counter & 15);
  if (adaptation) {
    packet[at++] = payload ? adaptation_size : TS_PACKET_SIZE - 5;
    memcpy (packet + at, adaptation, adaptation_size);
    at += adaptation_size;
  }
  if (payload)
    memcpy (packet + at, payload, payload_size);
  g_byte_array_append (bytes, packet, sizeof packet);
}

/* Annex A */
static void
put_crc (GByteArray * section)
{
  guint32 crc = 0xffffffff;
  guint8 bytes[4];
  guint i, bit;

  for (i = 0; i < section->len; i++) {
    for (bit = 8; bit-- > 0;)
      crc = crc << 1 ^ ((crc >> 31 ^ (section->data[i] >> bit & 1)) ?
          0x04c11db7 : 0);
  }
  for (i = 0; i < 4; i++)
    bytes[i] = crc >> (24 - 8 * i);
  g_byte_array_append (section, bytes, 4);
}

/* 2.4.4: a section after its pointer_field, in as many packets as it needs;
 * `content` follows the number of the last section */
static void
put_section (GByteArray * bytes, guint pid, guint table, const guint8 * content,
    gsize size)
{
  const guint8 head[] = { table, 0xb0 | (size + 9) >> 8, size + 9, 0, 1, 0xc1,
    0, 0
  };
  GByteArray *section = g_byte_array_new ();
  guint counter = 0;
  gsize at, part;

  g_byte_array_append (section, head, sizeof head);
  g_byte_array_append (section, content, size);
  put_crc (section);
  g_byte_array_prepend (section, (const guint8 *) "\0", 1);
  for (at = 0; at < section->len; at += part) {
    part = MIN (section->len - at, TS_PACKET_SIZE - 4);
    put_packet (bytes, pid, at == 0, 0, counter++, NULL, 0,
        (const gchar *) section->data + at, part);
  }
  g_byte_array_unref (section);
}

static void
put_tables (GByteArray * bytes, guint type)
{
  const guint8 pat[] = { 0, 1, 0xe0 | PMT_PID >> 8, PMT_PID & 0xff };
  const guint8 pmt[] = { 0xe0 | VIDEO_PID >> 8, VIDEO_PID & 0xff, 0xf0, 0,
    3, 0xe0 | SOUND_PID >> 8, SOUND_PID & 0xff, 0xf0, 2, 0x0a, 0,
    type, 0xe0 | VIDEO_PID >> 8, VIDEO_PID & 0xff, 0xf0, 0
  };

  put_section (bytes, 0, 0, pat, sizeof pat);
  put_section (bytes, PMT_PID, 2, pmt, sizeof pmt);
}

static void
start (Stream * stream, guint type)
{
  stream->bytes = g_byte_array_new ();
  stream->counter = 14;
  put_tables (stream->bytes, type);
}

#define put_picture(stream, text) put_video (stream, TRUE, NULL, 0, text, \
    sizeof (text) - 1)
#define CLOCK "\x10\0\1\2\3\4\5"
#define CLOCK_SIZE 7

static void
put_video (Stream * stream, gboolean begins, const gchar * adaptation,
    gsize adaptation_size, const gchar * payload, gsize size)
{
  put_packet (stream->bytes, VIDEO_PID, begins, 0,
      payload ? stream->counter++ : stream->counter - 1, adaptation,
      adaptation_size, payload, size);
}

static void
put_more (Stream * stream)
{
  put_video (stream, FALSE, NULL, 0, "\x55", 1);
}

static void
put_sound (Stream * stream)
{
  put_packet (stream->bytes, SOUND_PID, FALSE, 0, 5, NULL, 0, "\x77", 1);
}

/* Describes each unit: its number of packets or, in brackets, of bytes; and for
 * a picture "v", the number of packets that remain and the number that the
 * counter advances. The units together are the stream. */
static gchar *
cut_into (const Stream * stream, gsize piece, TsPictures * pictures)
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

/* Checks that the units are the same, however the stream is divided into
 * pieces. */
static void
expect_units (Stream * stream, const gchar * expected, const gchar * refusal)
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
  Stream stream;

  start (&stream, H264);
  put_sound (&stream);
  put_more (&stream);           /* the rest of an earlier picture */
  put_picture (&stream, H264_PICTURE);
  put_more (&stream);
  put_sound (&stream);
  put_more (&stream);
  put_picture (&stream, H264_PICTURE);
  put_tables (stream.bytes, H264);
  expect_units (&stream, "1 1 1 1 4v1-3 3v2-1 ", NULL);
}

GST_END_TEST;

/* A constant bitrate is no longer possible without the picture. */
GST_START_TEST (null_packets_do_not_remain)
{
  Stream stream;

  start (&stream, H264);
  put_picture (&stream, H264_PICTURE);
  put_packet (stream.bytes, TS_NO_PID, FALSE, 0, 0, NULL, 0, "\xff", 1);
  put_sound (&stream);
  put_packet (stream.bytes, TS_NO_PID, FALSE, 0, 0, NULL, 0, "\xff", 1);
  put_more (&stream);
  expect_units (&stream, "1 1 5v1-2 ", NULL);
}

GST_END_TEST;

GST_START_TEST (pes_packet_may_begin_within_a_picture)
{
  Stream stream;

  start (&stream, H264);
  put_picture (&stream, H264_PICTURE);
  put_picture (&stream, H264_REST);
  put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 2v0-2 1v0-1 ", NULL);
}

GST_END_TEST;

/* 13818-2, 6.2.2.1 and 6.2.2.6: a sequence header of 160x96 with its extension,
 * and a GOP header; 6.2.3.1: picture_structure is 1, 2 or 3 (a frame). */
#define MPEG_SEQUENCE "\0\0\1\xb3\x0a\0\x60\x13\xff\xff\xe0\x18" \
    "\0\0\1\xb5\x14\x8a\0\1\0\0\0\0\1\xb8\0\x08\0\0"
#define MPEG_STRUCTURE(reference, structure) "\0\0\1\0" reference \
    "\x0f\xff\xf8\0\0\1\xb5\x8f\xff" structure "\x80\0\0\1\1"
#define MPEG_TOP(reference) MPEG_STRUCTURE (reference, "\xf1")
#define MPEG_BOTTOM(reference) MPEG_STRUCTURE (reference, "\xf2")
#define MPEG_FRAME(reference) MPEG_STRUCTURE (reference, "\xf3")

/* 13818-2, 6.3.9: both fields have the same temporal reference. */
GST_START_TEST (second_field_belongs_to_the_first)
{
  Stream stream;

  start (&stream, MPEG2);
  put_picture (&stream, PES MPEG_SEQUENCE MPEG_TOP ("\0"));
  put_picture (&stream, PES MPEG_BOTTOM ("\0"));
  put_picture (&stream, PES MPEG_BOTTOM ("\1"));
  put_more (&stream);
  put_picture (&stream, PES MPEG_TOP ("\1"));
  put_picture (&stream, PES MPEG_TOP ("\2"));
  expect_units (&stream, "1 1 2v0-2 3v0-3 1v0-1 ", NULL);
}

GST_END_TEST;

/* Encoders that write the same temporal reference each time */
GST_START_TEST (frames_are_no_fields)
{
  Stream stream;

  start (&stream, MPEG2);
  put_picture (&stream, PES MPEG_SEQUENCE MPEG_FRAME ("\0"));
  put_picture (&stream, PES MPEG_FRAME ("\0"));
  put_picture (&stream, MPEG_PICTURE ("\0"));
  put_picture (&stream, MPEG_PICTURE ("\0"));
  /* A third field belongs to the next frame. */
  put_picture (&stream, PES MPEG_TOP ("\0"));
  put_picture (&stream, PES MPEG_BOTTOM ("\0"));
  put_picture (&stream, PES MPEG_TOP ("\0"));
  expect_units (&stream, "1 1 1v0-1 1v0-1 1v0-1 1v0-1 2v0-2 1v0-1 ", NULL);
}

GST_END_TEST;

/* 2.4.3.7: 33 bits, with marker bits between them */
GST_START_TEST (time_is_the_dts_or_the_pts)
{
  static const gchar both[] = "\0\0\1\xe0\0\0\x80\xc0\x0a"
      "\x3f\xff\xff\xff\xff\x1b\0\1\0\x03\0\0\1\x09\x10\0\0\1\x41\x9a\x24";
  static const gchar none[] = "\0\0\1\xe0\0\0\x80\0\0"
      "\0\0\1\x09\x10\0\0\1\x41\x9a\x24";
  static const guint64 times[] = { 0, (G_GUINT64_CONSTANT (5) << 30) + 1 };
  TsPictures *pictures = ts_pictures_new ();
  guint n = 0;
  Stream stream;
  TsUnit unit;

  start (&stream, H264);
  put_picture (&stream, H264_PICTURE);
  put_video (&stream, TRUE, NULL, 0, both, sizeof both - 1);
  put_video (&stream, TRUE, NULL, 0, none, sizeof none - 1);
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

/* The clock references remain, in packets without payload. Such a packet
 * repeats the counter of the last packet with payload (2.4.3.3). */
GST_START_TEST (clock_references_remain)
{
  TsPictures *pictures = ts_pictures_new ();
  const guint8 *clock;
  Stream stream;
  TsUnit unit;

  start (&stream, H264);
  put_more (&stream);           /* counter 14 */
  put_picture (&stream, H264_PICTURE);  /* 15 */
  put_more (&stream);           /* 0 */
  put_sound (&stream);
  put_video (&stream, FALSE, CLOCK, CLOCK_SIZE, "\x55", 1);     /* 1 */
  put_video (&stream, FALSE, CLOCK, CLOCK_SIZE, NULL, 0);
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
  Stream stream;

  start (&stream, H264);
  put_picture (&stream, H264_PICTURE);
  stream.counter--;
  put_picture (&stream, H264_PICTURE);
  put_more (&stream);
  stream.counter--;
  put_more (&stream);
  expect_units (&stream, "1 1 4v0-2 ", NULL);
}

GST_END_TEST;

GST_START_TEST (scrambled_video_passes)
{
  Stream stream;

  start (&stream, H264);
  put_picture (&stream, H264_PICTURE);
  put_packet (stream.bytes, VIDEO_PID, TRUE, 2, stream.counter, NULL, 0,
      H264_PICTURE, sizeof (H264_PICTURE));
  put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 1v0-1 1 1 ", "its video is scrambled");
}

GST_END_TEST;

GST_START_TEST (unknown_stream_passes)
{
  const guint8 pat[] = { 0, 1, 0xe1, 0, 0, 2, 0xe1, 9 };
  Stream stream;

  start (&stream, PRIVATE);
  put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 1 ", "it has no MPEG, H.264 or H.265 video");

  stream.bytes = g_byte_array_new ();
  put_section (stream.bytes, 0, 0, pat, sizeof pat);
  expect_units (&stream, "1 ", "it has several programs");

  /* a table with a wrong CRC is ignored */
  start (&stream, H264);
  stream.bytes->data[TS_PACKET_SIZE + 20] ^= 1;
  put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 1 ", NULL);
}

GST_END_TEST;

GST_START_TEST (bytes_between_packets_pass)
{
  Stream stream;

  start (&stream, H264);
  put_picture (&stream, H264_PICTURE);
  g_byte_array_append (stream.bytes, (const guint8 *) "ab", 2);
  put_picture (&stream, H264_PICTURE);
  g_byte_array_append (stream.bytes, (const guint8 *) "\x47\1", 2);
  expect_units (&stream, "1 1 1v0-1 (2) 1v0-1 (2) ", NULL);
}

GST_END_TEST;

GST_START_TEST (counters_of_the_pid_are_shifted)
{
  Stream stream;

  start (&stream, H264);
  put_more (&stream);
  put_sound (&stream);
  put_more (&stream);
  ts_shift_counters (stream.bytes->data, stream.bytes->len, VIDEO_PID, 31);
  fail_unless_equals_int (stream.bytes->data[2 * TS_PACKET_SIZE + 3], 0x1f);
  fail_unless_equals_int (stream.bytes->data[3 * TS_PACKET_SIZE + 3], 0x15);
  fail_unless_equals_int (stream.bytes->data[4 * TS_PACKET_SIZE + 3], 0x10);
  g_byte_array_unref (stream.bytes);
}

GST_END_TEST;

/* A program map with a private stream whose descriptors fill two packets, and
 * then the video */
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
  put_section (bytes, 0, 0, pat, sizeof pat);
  put_section (bytes, PMT_PID, 2, pmt, sizeof pmt);
}

/* 2.4.4: each packet of the program map is needed. A packet that is sent twice
 * is read once. */
GST_START_TEST (section_may_need_several_packets)
{
  Stream stream = { g_byte_array_new (), 14 };
  guint missing;

  put_long_map (stream.bytes);
  put_picture (&stream, H264_PICTURE);
  fail_unless_equals_int (stream.bytes->len, 4 * TS_PACKET_SIZE);
  expect_units (&stream, "1 1 1 1v0-1 ", NULL);

  stream.bytes = g_byte_array_new ();
  put_long_map (stream.bytes);
  g_byte_array_append (stream.bytes, stream.bytes->data + 2 * TS_PACKET_SIZE,
      TS_PACKET_SIZE);
  put_picture (&stream, H264_PICTURE);
  expect_units (&stream, "1 1 1 1 1v0-1 ", NULL);

  for (missing = 1; missing <= 2; missing++) {
    stream.bytes = g_byte_array_new ();
    put_long_map (stream.bytes);
    g_byte_array_remove_range (stream.bytes, missing * TS_PACKET_SIZE,
        TS_PACKET_SIZE);
    put_picture (&stream, H264_PICTURE);
    expect_units (&stream, "1 1 1 ", NULL);
  }
}

GST_END_TEST;

/* 2.4.4.2: the pointer_field counts the bytes of a section that began in the
 * packet before. */
GST_START_TEST (section_may_end_before_the_next_one)
{
  const gsize split = 20;
  GByteArray *tables = g_byte_array_new ();
  Stream stream = { g_byte_array_new (), 14 };
  guint8 payload[TS_PACKET_SIZE - 4] = { 0, 0x80, 0xb0 };
  const guint8 *map;
  gsize size;

  put_tables (tables, H264);
  map = tables->data + TS_PACKET_SIZE + 5;
  size = 3 + map[2];
  g_byte_array_append (stream.bytes, tables->data, TS_PACKET_SIZE);
  /* a private section, and the beginning of the map at the end of the packet */
  payload[3] = sizeof payload - split - 4;
  memcpy (payload + sizeof payload - split, map, split);
  put_packet (stream.bytes, PMT_PID, TRUE, 0, 0, NULL, 0,
      (const gchar *) payload, sizeof payload);
  payload[0] = size - split;
  memcpy (payload + 1, map + split, size - split);
  put_packet (stream.bytes, PMT_PID, TRUE, 0, 1, NULL, 0,
      (const gchar *) payload, 1 + size - split);
  put_picture (&stream, H264_PICTURE);
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
  tcase_add_test (chain, counters_of_the_pid_are_shifted);
  return suite;
}

GST_CHECK_MAIN (tspictures);
