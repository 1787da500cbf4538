/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks how the element mpegstat numbers access units in coding order and in
 * display order. The expected values were written by hand for 25 frames per
 * second and the closed GOP "I0 P3 B1 B2 P6 B4 B5". The text in quotation marks
 * has the frames in coding order. The number after each picture type is the
 * position of the frame in display order. */

#include <gst/check/gstcheck.h>

#include "mpegstatunits.h"

#define NONE MPEG_VIDEO_TIME_NONE
#define FRAME (40 * GST_MSECOND)
/* Encoders begin anywhere. */
#define START (3600 * GST_SECOND)

static const guint8 idr[] = { 0, 0, 0, 1, 0x65, 0x88, 0x84 };
static const guint8 reference[] = { 0, 0, 1, 0x41, 0x9a, 0x01, 0x02 };
static const guint8 other[] = { 0, 0, 1, 0x01, 0x9e, 0x03 };

typedef struct
{
  gchar type;
  guint display_number;
} Place;

static const Place gop[] = {
  {'I', 0}, {'P', 3}, {'B', 1}, {'B', 2}, {'P', 6}, {'B', 4}, {'B', 5}
};

static MpegStatUnit
input (MpegStatUnits * units, gchar type, guint64 pts, guint64 dts)
{
  MpegStatUnit unit;

  if (type == 'I')
    mpegstat_units_input (units, idr, sizeof (idr), pts, dts, NULL, &unit);
  else if (type == 'P')
    mpegstat_units_input (units, reference, sizeof (reference), pts, dts,
        NULL, &unit);
  else
    mpegstat_units_input (units, other, sizeof (other), pts, dts, NULL, &unit);
  fail_unless_equals_int (mpeg_video_picture_type_char (unit.type), type);
  return unit;
}

/* Passes access unit `n` of the GOP to `units`, and returns the MpegStatUnit
 * that describes it. Presentation times begin one frame period later than
 * decoding times, so that no access unit is shown before it is decoded. If
 * `with_dts` is FALSE, the decoding time is not passed. */
static MpegStatUnit
input_place (MpegStatUnits * units, guint n, gboolean with_dts)
{
  return input (units, gop[n].type,
      START + (gop[n].display_number + 1) * FRAME,
      with_dts ? START + n * FRAME : NONE);
}

static MpegStatUnits *
new_units (guint64 period)
{
  MpegStatUnits *units = mpegstat_units_new (IFD_CODEC_H264);

  mpegstat_units_set_period (units, period);
  return units;
}

GST_START_TEST (places_come_from_timestamps)
{
  MpegStatUnits *units = new_units (FRAME);
  guint n;

  for (n = 0; n < G_N_ELEMENTS (gop); n++) {
    MpegStatUnit unit = input_place (units, n, TRUE);

    fail_unless_equals_int64 (unit.coding_number, n);
    fail_unless_equals_int64 (unit.display_number, gop[n].display_number);
    fail_unless_equals_uint64 (unit.expected, n * FRAME);
    fail_unless (unit.has_pts);
    fail_unless_equals_uint64 (unit.pts_90khz, gop[n].display_number * 3600);
    fail_unless_equals_int (unit.closed, n == 0);
    fail_unless (!unit.broken_link);
  }
  mpegstat_units_free (units);
}

GST_END_TEST;

GST_START_TEST (a_gap_of_dts_counts_what_is_missing)
{
  MpegStatUnits *units = new_units (FRAME);
  MpegStatUnit unit;

  input_place (units, 0, TRUE);
  unit = input_place (units, 4, TRUE);
  fail_unless_equals_int64 (unit.coding_number, 4);
  fail_unless_equals_uint64 (unit.expected, 4 * FRAME);
  fail_unless_equals_int64 (unit.display_number, 6);
  mpegstat_units_free (units);
}

GST_END_TEST;

GST_START_TEST (without_dts_transport_order_is_counted)
{
  MpegStatUnits *units = new_units (FRAME);
  guint n;

  for (n = 0; n < G_N_ELEMENTS (gop); n++) {
    MpegStatUnit unit = input_place (units, n, FALSE);

    fail_unless_equals_int64 (unit.coding_number, n);
    fail_unless_equals_int64 (unit.display_number, gop[n].display_number);
    fail_unless_equals_uint64 (unit.expected, n * FRAME);
  }
  mpegstat_units_free (units);
}

GST_END_TEST;

GST_START_TEST (without_a_rate_the_latest_pts_is_due)
{
  static const guint latest[] = { 0, 3, 3, 3, 6, 6, 6 };
  MpegStatUnits *units = new_units (0);
  guint n;

  for (n = 0; n < G_N_ELEMENTS (gop); n++) {
    MpegStatUnit unit = input_place (units, n, FALSE);

    fail_unless_equals_int64 (unit.coding_number, n);
    fail_unless_equals_uint64 (unit.expected, latest[n] * FRAME);
  }
  mpegstat_units_free (units);
}

GST_END_TEST;

GST_START_TEST (without_any_time_all_is_counted)
{
  MpegStatUnits *units = new_units (FRAME);
  MpegStatUnit unit;

  input (units, 'I', NONE, NONE);
  unit = input (units, 'P', NONE, NONE);
  fail_unless_equals_int64 (unit.coding_number, 1);
  fail_unless_equals_int64 (unit.display_number, 1);
  fail_unless_equals_uint64 (unit.expected, FRAME);
  fail_unless (!unit.has_pts);
  mpegstat_units_free (units);
}

GST_END_TEST;

GST_START_TEST (times_never_go_below_zero)
{
  MpegStatUnits *units = new_units (FRAME);
  MpegStatUnit unit;

  input (units, 'I', START, START);
  /* This B-frame follows the I-frame in the stream but is shown before it. */
  unit = input (units, 'B', START - FRAME, NONE);
  fail_unless_equals_int64 (unit.display_number, -1);
  fail_unless (!unit.has_pts);
  /* The decoding time of this frame is earlier than that of the previous frame.
   * This decoding time must be ignored. */
  unit = input (units, 'P', START + FRAME, START - GST_SECOND);
  fail_unless_equals_int64 (unit.coding_number, 2);
  fail_unless_equals_uint64 (unit.expected, 2 * FRAME);
  mpegstat_units_free (units);
}

GST_END_TEST;

GST_START_TEST (a_restart_counts_anew)
{
  MpegStatUnits *units = new_units (FRAME);
  MpegStatUnit unit;

  input_place (units, 0, TRUE);
  input_place (units, 1, TRUE);
  mpegstat_units_restart (units);
  unit = input_place (units, 4, TRUE);
  fail_unless_equals_int64 (unit.coding_number, 0);
  fail_unless_equals_int64 (unit.display_number, 0);
  fail_unless_equals_uint64 (unit.expected, 0);
  mpegstat_units_free (units);
}

GST_END_TEST;

/* The expected hash was computed with another program. It is the FNV-1a hash of
 * the bytes 00 00 00 00 00 00 00 03 65 88 84. The first eight bytes are the
 * size, 3. The last three bytes are the slice without its start code. */
GST_START_TEST (hash_and_size_are_of_slices)
{
  MpegStatUnits *units = new_units (FRAME);
  MpegStatUnit unit = input (units, 'I', NONE, NONE);
  const guint8 sets[] = { 0, 0, 0, 1, 0x67, 0x64, 0, 0, 1, 0x68, 0xee };

  fail_unless_equals_uint64 (unit.size, 3);
  fail_unless (unit.has_hash);
  fail_unless_equals_uint64_hex (unit.hash,
      G_GUINT64_CONSTANT (0xe1fb0bc38db7e2c7));
  mpegstat_units_input (units, sets, sizeof (sets), NONE, NONE, NULL, &unit);
  fail_unless_equals_uint64 (unit.size, 0);
  fail_unless (!unit.has_hash);
  mpegstat_units_free (units);
}

GST_END_TEST;

static Suite *
mpegstatunits_suite (void)
{
  Suite *s = suite_create ("mpegstatunits");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, places_come_from_timestamps);
  tcase_add_test (tc, a_gap_of_dts_counts_what_is_missing);
  tcase_add_test (tc, without_dts_transport_order_is_counted);
  tcase_add_test (tc, without_a_rate_the_latest_pts_is_due);
  tcase_add_test (tc, without_any_time_all_is_counted);
  tcase_add_test (tc, times_never_go_below_zero);
  tcase_add_test (tc, a_restart_counts_anew);
  tcase_add_test (tc, hash_and_size_are_of_slices);
  return s;
}

GST_CHECK_MAIN (mpegstatunits);
