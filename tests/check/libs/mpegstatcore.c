/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the accounting of the element mpegstat and the lines that it prints.
 * Both are compared with frames, times and sums that were computed by hand. */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "mpegstatarrivals.h"
#include "mpegstatclock.h"
#include "mpegstatcore.h"
#include "mpegstatformat.h"

#define MS GST_MSECOND
#define WALL (1700000000 * GST_SECOND)

static const MpegVideoGop gop = {
  .hours = 1,.minutes = 2,.seconds = 3,.pictures = 4,.closed = TRUE
};

/* A frame that is passed to the core of the element mpegstat: its picture type,
 * its temporal reference, its size in bytes and its number in coding order. The
 * stream has 25 frames per second. */
typedef struct
{
  MpegVideoPictureType type;
  guint temporal_reference;
  gsize size;
  gint64 coding_number;
} Given;

static void
make_frame (const Given * given, MpegVideoFrame * frame,
    MpegVideoPosition * position)
{
  memset (frame, 0, sizeof (*frame));
  frame->size = given->size;
  frame->n_pictures = 1;
  frame->pictures[0].header.type = given->type;
  frame->pictures[0].header.temporal_reference = given->temporal_reference;

  memset (position, 0, sizeof (*position));
  position->coding_number = given->coding_number;
  position->display_number = given->temporal_reference;
  position->expected = given->coding_number * 40 * MS;
  position->pts_90khz = (given->temporal_reference + 1) * 3600;
  position->gop_pts_90khz = 3600;
}

/* Passes a complete frame without a GOP header to MpegStatCore, the core of the
 * element mpegstat. Returns the event that the core reports for this frame. */
static MpegStatEvent
input (MpegStatCore * core, guint64 arrival, MpegVideoPictureType type,
    guint temporal_reference, gsize size, gint64 coding_number)
{
  const Given given = { type, temporal_reference, size, coding_number };
  MpegStatEvent events[MPEGSTAT_MAX_EVENTS];
  MpegVideoFrame frame;
  MpegVideoPosition position;

  make_frame (&given, &frame, &position);
  fail_unless_equals_int (mpegstat_core_input_frame (core, arrival,
          WALL + arrival, &frame, &position, TRUE, events), 1);
  fail_unless_equals_int (events[0].kind, MPEGSTAT_FRAME);
  return events[0];
}

static gboolean
has (const MpegStatEvent * event, MpegStatColumn column)
{
  return (event->present & 1 << column) != 0;
}

/* --- accounting ---------------------------------------------------------- */

GST_START_TEST (latency_is_arrival_minus_expected_since_the_first_frame)
{
  MpegStatCore *core = mpegstat_core_new ();

  fail_unless_equals_int64 (input (core, 100 * MS, MPEG_VIDEO_PICTURE_I, 0,
          5000, 0).latency, 0);
  fail_unless_equals_int64 (input (core, 140 * MS, MPEG_VIDEO_PICTURE_P, 3,
          3000, 1).latency, 0);
  fail_unless_equals_int64 (input (core, 185 * MS, MPEG_VIDEO_PICTURE_B, 1,
          1000, 2).latency, 5 * MS);
  fail_unless_equals_int64 (input (core, 200 * MS, MPEG_VIDEO_PICTURE_B, 2,
          1000, 3).latency, -20 * (gint64) MS);

  mpegstat_core_free (core);
}

GST_END_TEST;

GST_START_TEST (a_lost_frame_moves_no_latency)
{
  MpegStatCore *core = mpegstat_core_new ();

  input (core, 0, MPEG_VIDEO_PICTURE_I, 0, 5000, 0);
  /* 1 to 9 never came */
  fail_unless_equals_int64 (input (core, 407 * MS, MPEG_VIDEO_PICTURE_P, 9,
          3000, 10).latency, 7 * MS);

  mpegstat_core_free (core);
}

GST_END_TEST;

/* The latencies of the four frames are 0, 16, 16 and 0 ms. RFC 3550 adds a
 * sixteenth of each change of the latency to the jitter, and removes a
 * sixteenth of the old jitter. The jitter is therefore 16 / 16 ms after the
 * second frame. The third frame has the same latency as the second frame, so
 * the jitter decreases to 15 / 16 of its value. */
GST_START_TEST (totals_are_the_hand_made_sums)
{
  MpegStatCore *core = mpegstat_core_new ();
  MpegStatTotals totals;

  input (core, 0, MPEG_VIDEO_PICTURE_I, 0, 5000, 0);
  input (core, 56 * MS, MPEG_VIDEO_PICTURE_P, 3, 3000, 1);
  input (core, 96 * MS, MPEG_VIDEO_PICTURE_B, 1, 1000, 2);
  input (core, 120 * MS, MPEG_VIDEO_PICTURE_B, 2, 2000, 3);
  mpegstat_core_get_totals (core, 120 * MS, &totals);

  fail_unless_equals_uint64 (totals.frames[MPEG_VIDEO_PICTURE_I], 1);
  fail_unless_equals_uint64 (totals.frames[MPEG_VIDEO_PICTURE_P], 1);
  fail_unless_equals_uint64 (totals.frames[MPEG_VIDEO_PICTURE_B], 2);
  fail_unless_equals_uint64 (totals.frames[MPEG_VIDEO_PICTURE_D], 0);
  fail_unless_equals_uint64 (totals.bytes[MPEG_VIDEO_PICTURE_I], 5000);
  fail_unless_equals_uint64 (totals.bytes[MPEG_VIDEO_PICTURE_B], 3000);
  fail_unless_equals_uint64 (totals.duration, 120 * MS);
  /* The first frame marks the start of the measurement, so its bytes are not
   * counted. The other three frames have 6000 bytes together, which arrived in
   * 120 ms. This is a bitrate of 400 kbit/s. */
  fail_unless_equals_uint64 (totals.average_bitrate, 400000);
  fail_unless_equals_uint64 (totals.bitrate, 400000);
  fail_unless_equals_int64 (totals.latency_min, 0);
  fail_unless_equals_int64 (totals.latency_median, 0);
  fail_unless_equals_int64 (totals.latency_max, 16 * MS);
  fail_unless_equals_int64 (totals.latency_mean, 8 * MS);
  fail_unless_equals_uint64 (totals.jitter, 1878906);

  /* The current bitrate is measured over the last second. No frame has arrived
   * in this second, so the current bitrate must be 0. The average bitrate must
   * not change. */
  mpegstat_core_get_totals (core, 1120 * MS, &totals);
  fail_unless_equals_uint64 (totals.bitrate, 0);
  fail_unless_equals_uint64 (totals.average_bitrate, 400000);

  mpegstat_core_free (core);
}

GST_END_TEST;

GST_START_TEST (totals_of_nothing_are_zero)
{
  MpegStatCore *core = mpegstat_core_new ();
  MpegStatTotals totals, zero;

  memset (&zero, 0, sizeof (zero));
  mpegstat_core_get_totals (core, 5 * GST_SECOND, &totals);
  fail_unless (memcmp (&totals, &zero, sizeof (zero)) == 0);

  mpegstat_core_free (core);
}

GST_END_TEST;

GST_START_TEST (an_incomplete_frame_counts_only_as_incomplete)
{
  const Given given = { MPEG_VIDEO_PICTURE_I, 0, 5000, 0 };
  MpegStatCore *core = mpegstat_core_new ();
  MpegStatEvent events[MPEGSTAT_MAX_EVENTS];
  MpegVideoFrame frame;
  MpegVideoPosition position;
  MpegStatTotals totals;

  make_frame (&given, &frame, &position);
  fail_unless_equals_int (mpegstat_core_input_frame (core, 30 * MS, WALL,
          &frame, &position, FALSE, events), 1);
  fail_unless_equals_int (events[0].kind, MPEGSTAT_INCOMPLETE);
  /* No complete frame has arrived yet, so there is no start time from which a
   * latency could be computed. */
  fail_if (has (&events[0], MPEGSTAT_LATENCY_NS));
  fail_unless (has (&events[0], MPEGSTAT_EXPECTED_NS));

  /* Latencies are measured relative to the first complete frame. This frame
   * must therefore have the latency 0, although it arrives at 99 ms. */
  fail_unless_equals_int64 (input (core, 99 * MS, MPEG_VIDEO_PICTURE_P, 1,
          3000, 1).latency, 0);

  mpegstat_core_get_totals (core, 99 * MS, &totals);
  fail_unless_equals_uint64 (totals.incomplete, 1);
  fail_unless_equals_uint64 (totals.frames[MPEG_VIDEO_PICTURE_I], 0);
  fail_unless_equals_uint64 (totals.bytes[MPEG_VIDEO_PICTURE_I], 0);

  mpegstat_core_free (core);
}

GST_END_TEST;

GST_START_TEST (losses_count_by_type)
{
  static const MpegVideoLoss losses[] = {
    {MPEG_VIDEO_PICTURE_B, 4, 1, {0, 0, 0, 1}},
    {MPEG_VIDEO_PICTURE_P, 5, 1, {0, 0, 1}},
    {MPEG_VIDEO_PICTURE_B, 6, 1, {0, 0, 0, 1}},
    {MPEG_VIDEO_PICTURE_UNKNOWN, 7, 1, {1}},
    {MPEG_VIDEO_PICTURE_UNKNOWN, 8, 150, {0, 10, 40, 100}}
  };
  MpegStatCore *core = mpegstat_core_new ();
  MpegStatEvent event;
  MpegStatTotals totals;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (losses); i++) {
    mpegstat_core_input_loss (core, 0, WALL, &losses[i], &event);
    fail_unless_equals_int (event.kind, MPEGSTAT_LOST);
    fail_unless_equals_int (event.type, losses[i].type);
    fail_unless_equals_int64 (event.display_number, losses[i].display_number);
  }
  mpegstat_core_get_totals (core, 0, &totals);
  fail_unless_equals_uint64 (totals.lost[MPEG_VIDEO_PICTURE_I], 10);
  fail_unless_equals_uint64 (totals.lost[MPEG_VIDEO_PICTURE_P], 41);
  fail_unless_equals_uint64 (totals.lost[MPEG_VIDEO_PICTURE_B], 102);
  fail_unless_equals_uint64 (totals.lost[MPEG_VIDEO_PICTURE_UNKNOWN], 1);

  mpegstat_core_free (core);
}

GST_END_TEST;

GST_START_TEST (restart_counts_latency_anew_and_keeps_totals)
{
  MpegStatCore *core = mpegstat_core_new ();
  MpegStatTotals totals;

  input (core, 0, MPEG_VIDEO_PICTURE_I, 0, 5000, 0);
  input (core, 56 * MS, MPEG_VIDEO_PICTURE_P, 1, 3000, 1);
  mpegstat_core_restart (core);
  fail_unless_equals_int64 (input (core, 9000 * MS, MPEG_VIDEO_PICTURE_I, 0,
          5000, 0).latency, 0);
  mpegstat_core_get_totals (core, 9000 * MS, &totals);
  fail_unless_equals_uint64 (totals.frames[MPEG_VIDEO_PICTURE_I], 2);
  /* The arrival time of a frame is 9 s later than that of the previous frame,
   * because the stream began anew. This jump must not count as jitter. */
  fail_unless_equals_uint64 (totals.jitter, MS);

  mpegstat_core_free (core);
}

GST_END_TEST;

/* --- GOP headers --------------------------------------------------------- */

GST_START_TEST (frames_carry_the_time_code_of_their_own_gop_only)
{
  const Given given = { MPEG_VIDEO_PICTURE_I, 2, 5000, 0 };
  MpegStatCore *core = mpegstat_core_new ();
  MpegStatEvent events[MPEGSTAT_MAX_EVENTS], event;
  MpegVideoFrame frame;
  MpegVideoPosition position;
  MpegStatTotals totals;

  make_frame (&given, &frame, &position);
  frame.has_gop = TRUE;
  frame.gop = gop;
  position.new_gop = TRUE;
  fail_unless_equals_int (mpegstat_core_input_frame (core, 0, WALL, &frame,
          &position, TRUE, events), 2);
  fail_unless_equals_int (events[0].kind, MPEGSTAT_GOP);
  fail_unless_equals_uint64 (events[0].pts_90khz, 3600);
  fail_unless (has (&events[0], MPEGSTAT_PICTURES));
  fail_unless (has (&events[1], MPEGSTAT_TIME_CODE));
  fail_if (has (&events[1], MPEGSTAT_PICTURES));

  event = input (core, 40 * MS, MPEG_VIDEO_PICTURE_B, 0, 1000, 1);
  fail_unless (has (&event, MPEGSTAT_TIME_CODE));

  /* The header of the next GOP was lost, so the time code of the frames of this
   * GOP is unknown. */
  frame.has_gop = FALSE;
  mpegstat_core_input_frame (core, 80 * MS, WALL, &frame, &position, TRUE,
      events);
  fail_if (has (&events[0], MPEGSTAT_TIME_CODE));
  event = input (core, 120 * MS, MPEG_VIDEO_PICTURE_B, 0, 1000, 3);
  fail_if (has (&event, MPEGSTAT_TIME_CODE));

  mpegstat_core_get_totals (core, 0, &totals);
  fail_unless_equals_uint64 (totals.gops, 1);

  mpegstat_core_free (core);
}

GST_END_TEST;

/* --- the hash ------------------------------------------------------------ */

/* mpegstat_hash () hashes the eight bytes of the frame size, and then the first
 * bytes of the frame. The published test vectors of FNV-1a are for data without
 * such a size, so this test computes the expected hash itself. */
GST_START_TEST (hash_is_fnv_1a_over_size_and_first_bytes)
{
  guint64 expected = G_GUINT64_CONSTANT (0xcbf29ce484222325);
  const guint8 bytes[] = { 0, 0, 0, 0, 0, 0, 1, 2, 'a', 'b' };
  guint i;

  for (i = 0; i < sizeof (bytes); i++) {
    expected ^= bytes[i];
    expected *= G_GUINT64_CONSTANT (1099511628211);
  }
  fail_unless (mpegstat_hash ((const guint8 *) "ab", 2, 0x102) == expected);
  fail_if (mpegstat_hash ((const guint8 *) "ab", 2, 0x103) == expected);
  fail_if (mpegstat_hash ((const guint8 *) "ac", 2, 0x102) == expected);
}

GST_END_TEST;

GST_START_TEST (hash_ignores_what_follows_the_first_64_bytes)
{
  guint8 a[100], b[100];

  memset (a, 7, sizeof (a));
  memset (b, 7, sizeof (b));
  b[64] = 8;
  fail_unless (mpegstat_hash (a, 100, 100) == mpegstat_hash (b, 100, 100));
  b[63] = 8;
  fail_if (mpegstat_hash (a, 100, 100) == mpegstat_hash (b, 100, 100));
}

GST_END_TEST;

GST_START_TEST (slices_lie_between_headers_and_sequence_end)
{
  MpegVideoUnit units[] = { {0, 0xb3}, {12, 0x00}, {20, 0x01}, {90, 0xb7}
  };
  MpegVideoFrame frame;
  gsize offset, size;

  memset (&frame, 0, sizeof (frame));
  frame.size = 94;
  frame.units = units;
  frame.n_units = 4;
  frame.n_pictures = 1;
  frame.pictures[0].first_slice = 2;
  frame.pictures[0].end_unit = 4;
  frame.has_sequence_end = TRUE;
  fail_unless (mpegstat_find_slices (&frame, &offset, &size));
  fail_unless_equals_int (offset, 20);
  fail_unless_equals_int (size, 70);

  frame.has_sequence_end = FALSE;
  fail_unless (mpegstat_find_slices (&frame, &offset, &size));
  fail_unless_equals_int (size, 74);

  frame.pictures[0].first_slice = 4;
  fail_if (mpegstat_find_slices (&frame, &offset, &size));
}

GST_END_TEST;

/* --- lines --------------------------------------------------------------- */

static void
assert_line (GString * line, const gchar * want)
{
  fail_unless_equals_string (line->str, want);
  g_string_truncate (line, 0);
}

GST_START_TEST (csv_is_the_documented_contract)
{
  const Given given = { MPEG_VIDEO_PICTURE_I, 2, 5000, 0 };
  const MpegVideoLoss loss = {
    MPEG_VIDEO_PICTURE_UNKNOWN, 17, 1, {1}
  };
  const MpegVideoLoss range = {
    MPEG_VIDEO_PICTURE_UNKNOWN, 18, 150, {0, 10, 40, 100}
  };
  MpegStatCore *core = mpegstat_core_new ();
  GString *line = g_string_new (NULL);
  MpegStatEvent events[MPEGSTAT_MAX_EVENTS], event;
  MpegVideoFrame frame;
  MpegVideoPosition position;

  mpegstat_format_csv_header (line);
  assert_line (line, "event,wall_ns,arrival_ns,expected_ns,latency_ns,type,"
      "temporal_reference,coding_number,display_number,pts_90khz,size_bytes,"
      "time_code,closed_gop,broken_link,pictures,hash,lost_frames\n");

  make_frame (&given, &frame, &position);
  frame.has_gop = TRUE;
  frame.gop = gop;
  mpegstat_core_input_frame (core, 5, WALL, &frame, &position, TRUE, events);
  mpegstat_format_csv (&events[0], line);
  assert_line (line, "gop,1700000000000000000,5,,,,,0,0,3600,,01:02:03:04,1,0,"
      "4,,\n");
  mpegstat_event_set_hash (&events[1], 0xabc);
  mpegstat_format_csv (&events[1], line);
  assert_line (line, "frame,1700000000000000000,5,0,0,I,2,0,2,10800,5000,"
      "01:02:03:04,,,,0000000000000abc,\n");

  event = input (core, 6, MPEG_VIDEO_PICTURE_B, 0, 10, 1);
  mpegstat_format_csv (&event, line);
  assert_line (line, "frame,1700000000000000006,6,40000000,-39999999,B,0,1,0,"
      "3600,10,01:02:03:04,,,,,\n");

  mpegstat_core_input_loss (core, 7, WALL, &loss, &event);
  mpegstat_format_csv (&event, line);
  assert_line (line, "lost,1700000000000000000,7,,,?,,,17,,,,,,,,1\n");

  mpegstat_core_input_loss (core, 7, WALL, &range, &event);
  mpegstat_format_csv (&event, line);
  assert_line (line, "lost,1700000000000000000,7,,,?,,,18,,,,,,,,150\n");

  g_string_free (line, TRUE);
  mpegstat_core_free (core);
}

GST_END_TEST;

GST_START_TEST (json_has_the_same_keys_and_null_for_none)
{
  const Given given = { MPEG_VIDEO_PICTURE_I, 2, 5000, 0 };
  MpegStatCore *core = mpegstat_core_new ();
  GString *line = g_string_new (NULL);
  MpegStatEvent events[MPEGSTAT_MAX_EVENTS];
  MpegVideoFrame frame;
  MpegVideoPosition position;

  make_frame (&given, &frame, &position);
  frame.has_gop = TRUE;
  frame.gop = gop;
  mpegstat_core_input_frame (core, 5, WALL, &frame, &position, TRUE, events);
  mpegstat_format_json (&events[0], line);
  assert_line (line, "{\"event\":\"gop\",\"wall_ns\":1700000000000000000,"
      "\"arrival_ns\":5,\"expected_ns\":null,\"latency_ns\":null,"
      "\"type\":null,\"temporal_reference\":null,\"coding_number\":0,"
      "\"display_number\":0,\"pts_90khz\":3600,\"size_bytes\":null,"
      "\"time_code\":\"01:02:03:04\",\"closed_gop\":true,"
      "\"broken_link\":false,\"pictures\":4,\"hash\":null,"
      "\"lost_frames\":null}\n");

  g_string_free (line, TRUE);
  mpegstat_core_free (core);
}

GST_END_TEST;

GST_START_TEST (lines_for_people_have_the_papers_quantities)
{
  const Given given = { MPEG_VIDEO_PICTURE_P, 2, 5000, 1 };
  const MpegVideoLoss loss = {
    MPEG_VIDEO_PICTURE_B, 17, 1, {0, 0, 0, 1}
  };
  const MpegVideoLoss range = {
    MPEG_VIDEO_PICTURE_UNKNOWN, 18, 150, {0, 10, 40, 100}
  };
  MpegStatCore *core = mpegstat_core_new ();
  GString *line = g_string_new (NULL);
  MpegStatEvent events[MPEGSTAT_MAX_EVENTS], event;
  MpegVideoFrame frame;
  MpegVideoPosition position;

  input (core, 0, MPEG_VIDEO_PICTURE_I, 0, 10, 0);
  make_frame (&given, &frame, &position);
  frame.has_gop = TRUE;
  frame.gop = gop;
  mpegstat_core_input_frame (core, 3723 * GST_SECOND + 45 * MS, WALL, &frame,
      &position, TRUE, events);
  mpegstat_format_text (&events[0], "m", line);
  assert_line (line, "m: gop  time code 01:02:03:04  pictures 4  rtp of tr 0 "
      "     3600  closed\n");
  mpegstat_format_text (&events[1], "m", line);
  assert_line (line, "m: frame P  tr    2  now 1:02:03.045000000  expected "
      "0:00:00.040000000  latency +3723005.000 ms  rtp     10800  size    "
      "5000\n");
  mpegstat_core_input_loss (core, 0, WALL, &loss, &event);
  mpegstat_format_text (&event, "m", line);
  assert_line (line, "m: lost B  number 17 in display order\n");
  mpegstat_core_input_loss (core, 0, WALL, &range, &event);
  mpegstat_format_text (&event, "m", line);
  assert_line (line, "m: lost 150 (10 I, 40 P, 100 B)  numbers 18 to 167 in "
      "display order\n");

  g_string_free (line, TRUE);
  mpegstat_core_free (core);
}

GST_END_TEST;

/* --- arrival times ------------------------------------------------------- */

static void
piece (MpegStatArrivals * arrivals, gsize bytes, guint64 arrival)
{
  const MpegStatTime time = { arrival, WALL + arrival };

  mpegstat_arrivals_input (arrivals, bytes, &time);
}

static guint64
take (MpegStatArrivals * arrivals, gsize size, guint64 junk)
{
  MpegStatTime time;

  mpegstat_arrivals_take (arrivals, size, junk, &time);
  fail_unless_equals_uint64 (time.wall, WALL + time.arrival);
  return time.arrival;
}

GST_START_TEST (frame_arrives_with_the_piece_of_its_last_byte)
{
  MpegStatArrivals *arrivals = mpegstat_arrivals_new ();

  piece (arrivals, 100, 1);
  piece (arrivals, 100, 2);
  piece (arrivals, 100, 3);
  /* Each piece of the input has 100 bytes. The first frame has the bytes 0 to
   * 199, so its last byte is in the second piece. The second frame has the
   * bytes 200 to 249, which are in the third piece. */
  fail_unless_equals_uint64 (take (arrivals, 200, 0), 2);
  fail_unless_equals_uint64 (take (arrivals, 50, 0), 3);
  piece (arrivals, 100, 4);
  fail_unless_equals_uint64 (take (arrivals, 51, 0), 4);

  mpegstat_arrivals_free (arrivals);
}

GST_END_TEST;

GST_START_TEST (junk_between_frames_is_skipped)
{
  MpegStatArrivals *arrivals = mpegstat_arrivals_new ();

  mpegstat_arrivals_reset (arrivals, 1000);
  piece (arrivals, 100, 1);
  piece (arrivals, 100, 2);
  piece (arrivals, 100, 3);
  fail_unless_equals_uint64 (take (arrivals, 50, 1000), 1);
  fail_unless_equals_uint64 (take (arrivals, 100, 1100), 3);

  mpegstat_arrivals_free (arrivals);
}

GST_END_TEST;

GST_START_TEST (many_pieces_of_one_frame_take_bounded_memory)
{
  MpegStatArrivals *arrivals = mpegstat_arrivals_new ();
  guint i;

  for (i = 1; i <= 100000; i++)
    piece (arrivals, 1, i);
  /* Each call of piece () adds bytes of the stream with their arrival time. The
   * number of stored arrival times is limited, to limit the memory. When the
   * limit is reached, all bytes that are added later share one stored arrival
   * time. Each further call of piece () sets it to the arrival time of the new
   * bytes. */
  fail_unless_equals_uint64 (take (arrivals, 100, 0), 100);
  fail_unless_equals_uint64 (take (arrivals, 50000, 0), 100000);
  piece (arrivals, 100000, 100001);
  fail_unless_equals_uint64 (take (arrivals, 100000, 0), 100001);

  mpegstat_arrivals_free (arrivals);
}

GST_END_TEST;

/* --- time from two clocks ------------------------------------------------ */

#define RUNNING MPEGSTAT_CLOCK_RUNNING_TIME
#define MONOTONIC MPEGSTAT_CLOCK_MONOTONIC

GST_START_TEST (one_clock_counts_from_the_first_arrival)
{
  MpegStatClock clock = { MPEGSTAT_CLOCK_NONE };

  fail_unless_equals_uint64 (mpegstat_clock_peek (&clock, RUNNING, 500), 0);
  fail_unless_equals_uint64 (mpegstat_clock_take (&clock, RUNNING, 1000, 7), 0);
  fail_unless_equals_uint64 (mpegstat_clock_take (&clock, RUNNING, 1040, 9),
      40);
  fail_unless_equals_uint64 (mpegstat_clock_peek (&clock, RUNNING, 1050), 50);
  fail_unless_equals_uint64 (mpegstat_clock_peek (&clock, MONOTONIC, 9999), 40);
  /* never back */
  fail_unless_equals_uint64 (mpegstat_clock_take (&clock, RUNNING, 900, 10),
      40);
}

GST_END_TEST;

/* The first frame arrives before playback begins, while the sink is in the
 * state PAUSED and waits for its preroll. For later frames, the time must be
 * counted from the change to PLAYING. */
GST_START_TEST (time_begins_with_playing_after_preroll)
{
  MpegStatClock clock = { MPEGSTAT_CLOCK_NONE };

  mpegstat_clock_take (&clock, MONOTONIC, 1000, 1000);
  mpegstat_clock_mark_switch (&clock, 5000);
  fail_unless_equals_uint64 (mpegstat_clock_take (&clock, RUNNING, 41, 5040),
      40);
  fail_unless_equals_uint64 (mpegstat_clock_take (&clock, RUNNING, 81, 5082),
      80);
}

GST_END_TEST;

GST_START_TEST (time_stands_still_in_a_pause)
{
  MpegStatClock clock = { MPEGSTAT_CLOCK_NONE };

  mpegstat_clock_take (&clock, RUNNING, 100, 1000);
  /* The clock must stand still while the pipeline is paused. The pause begins
   * 10 ns after the first frame, so the clock must show 10 ns for a frame that
   * arrives during the pause. After the pause, the clock must continue from 10
   * ns.
   */
  mpegstat_clock_mark_switch (&clock, 1010);
  fail_unless_equals_uint64 (mpegstat_clock_take (&clock, MONOTONIC, 3000,
          3000), 10);
  mpegstat_clock_mark_switch (&clock, 9000);
  fail_unless_equals_uint64 (mpegstat_clock_take (&clock, RUNNING, 140, 9030),
      40);
}

GST_END_TEST;

static Suite *
mpegstatcore_suite (void)
{
  Suite *s = suite_create ("mpegstatcore");
  TCase *tc;

  tc = tcase_create ("accounting");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, latency_is_arrival_minus_expected_since_the_first_frame);
  tcase_add_test (tc, a_lost_frame_moves_no_latency);
  tcase_add_test (tc, totals_are_the_hand_made_sums);
  tcase_add_test (tc, totals_of_nothing_are_zero);
  tcase_add_test (tc, an_incomplete_frame_counts_only_as_incomplete);
  tcase_add_test (tc, losses_count_by_type);
  tcase_add_test (tc, restart_counts_latency_anew_and_keeps_totals);
  tcase_add_test (tc, frames_carry_the_time_code_of_their_own_gop_only);

  tc = tcase_create ("hash");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, hash_is_fnv_1a_over_size_and_first_bytes);
  tcase_add_test (tc, hash_ignores_what_follows_the_first_64_bytes);
  tcase_add_test (tc, slices_lie_between_headers_and_sequence_end);

  tc = tcase_create ("lines");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, csv_is_the_documented_contract);
  tcase_add_test (tc, json_has_the_same_keys_and_null_for_none);
  tcase_add_test (tc, lines_for_people_have_the_papers_quantities);

  tc = tcase_create ("clock");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, one_clock_counts_from_the_first_arrival);
  tcase_add_test (tc, time_begins_with_playing_after_preroll);
  tcase_add_test (tc, time_stands_still_in_a_pause);

  tc = tcase_create ("arrivals");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, frame_arrives_with_the_piece_of_its_last_byte);
  tcase_add_test (tc, junk_between_frames_is_skipped);
  tcase_add_test (tc, many_pieces_of_one_frame_take_bounded_memory);

  return s;
}

GST_CHECK_MAIN (mpegstatcore);
