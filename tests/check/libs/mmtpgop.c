/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks MmtpGop, which finds the pictures that refer to a dropped picture, so
 * that the sender drops them, too. The pictures are in the order in which they
 * are sent, and not in the order in which they are shown. For example, the
 * first pictures of an open GOP are sent as I B B P. These two B-frames are
 * shown before the I-frame, and refer also to the previous GOP.
 */

#include <gst/check/gstcheck.h>

#include "mmtpgop.h"
#include "mmtppacket.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define PERIOD (40 * MS)

static const MmtpPicture plain = { PICTURE_KIND_UNKNOWN };
static const MmtpPicture leading = { PICTURE_KIND_DROPPABLE, TRUE };

/* --- kinds and ranks ------------------------------------------------------ */

GST_START_TEST (kind_is_that_of_the_flags_unless_it_is_known)
{
  const MmtpPicture known = { PICTURE_KIND_KEY };

  fail_unless_equals_int (mmtp_picture_get_kind (&plain, 0), PICTURE_KIND_KEY);
  fail_unless_equals_int (mmtp_picture_get_kind (&plain, MMTP_FLAG_DELTA),
      PICTURE_KIND_REFERENCE);
  fail_unless_equals_int (mmtp_picture_get_kind (&plain,
          MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE), PICTURE_KIND_DROPPABLE);
  fail_unless_equals_int (mmtp_picture_get_kind (&known,
          MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE), PICTURE_KIND_KEY);
}

GST_END_TEST;

static MmtpRank
put (MmtpGop * gop, guint8 flags, guint64 frame)
{
  PictureKind kind = mmtp_picture_get_kind (&plain, flags);

  mmtp_gop_put (gop, kind, frame, frame * PERIOD);
  return mmtp_gop_get_rank (gop, kind, flags);
}

GST_START_TEST (rank_is_that_of_the_kind)
{
  MmtpGop gop;

  mmtp_gop_init (&gop);
  fail_unless_equals_int (put (&gop, 0, 1), MMTP_RANK_KEY);
  fail_unless_equals_int (put (&gop, MMTP_FLAG_DELTA, 2), MMTP_RANK_DELTA);
  fail_unless_equals_int (put (&gop, MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE, 3),
      MMTP_RANK_DROPPABLE);
  fail_unless_equals_int (put (&gop, MMTP_FLAG_DELTA | MMTP_FLAG_HEADER, 4),
      MMTP_RANK_KEY);
  /* A buffer that has the flag DROPPABLE, but not the flag DELTA, refers to no
   * picture. It contains audio, for example. It must get the rank of droppable
   * buffers, and not that of a key frame. */
  fail_unless_equals_int (put (&gop, MMTP_FLAG_DROPPABLE, 5),
      MMTP_RANK_DROPPABLE);
}

GST_END_TEST;

GST_START_TEST (frames_after_a_loss_are_broken_until_next_key)
{
  MmtpGop gop;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1);
  mmtp_gop_lose (&gop, gop.number);
  fail_unless_equals_int (put (&gop, MMTP_FLAG_DELTA, 2), MMTP_RANK_BROKEN);
  fail_if (mmtp_gop_needs_dropped (&gop, &plain));
  fail_unless_equals_int (put (&gop, 0, 3), MMTP_RANK_KEY);
  fail_unless_equals_int (put (&gop, MMTP_FLAG_DELTA, 4), MMTP_RANK_DELTA);
  /* A frame of an earlier GOP is lost. The loss must not affect the frames of
   * the current GOP. */
  mmtp_gop_lose (&gop, gop.number - 1);
  fail_unless_equals_int (put (&gop, MMTP_FLAG_DELTA, 5), MMTP_RANK_DELTA);
}

GST_END_TEST;

/* --- GOPs ----------------------------------------------------------------- */

GST_START_TEST (all_buffers_of_a_key_frame_are_one_group)
{
  MmtpGop gop;
  guint64 group;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1);
  group = gop.number;
  put (&gop, 0, 1);
  fail_unless_equals_uint64 (gop.number, group);
  /* The first buffer of this key frame contains only a header. It has the flag
   * MMTP_FLAG_DELTA, although it belongs to a key frame. The new GOP must begin
   * only with the next buffer, which does not have this flag. */
  put (&gop, MMTP_FLAG_DELTA | MMTP_FLAG_HEADER, 2);
  fail_unless_equals_uint64 (gop.number, group);
  put (&gop, 0, 2);
  fail_unless_equals_uint64 (gop.number, group + 1);
}

GST_END_TEST;

GST_START_TEST (given_up_reference_takes_its_group_and_the_leading_pictures)
{
  MmtpGop gop;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1);
  put (&gop, MMTP_FLAG_DELTA, 2);
  mmtp_gop_give_up (&gop, gop.number, 2 * PERIOD);
  put (&gop, MMTP_FLAG_DELTA, 3);
  fail_unless (mmtp_gop_needs_dropped (&gop, &plain));
  put (&gop, 0, 4);
  fail_if (mmtp_gop_needs_dropped (&gop, &plain));
  mmtp_gop_put (&gop, PICTURE_KIND_DROPPABLE, 5, 5 * PERIOD);
  fail_unless (mmtp_gop_needs_dropped (&gop, &leading));
  fail_if (mmtp_gop_needs_dropped (&gop, &plain));
  /* A leading picture is shown before its key frame and refers also to the
   * previous GOP. Here the previous GOP is complete, so the leading pictures
   * after this key frame must not be dropped. */
  put (&gop, 0, 6);
  fail_if (mmtp_gop_needs_dropped (&gop, &leading));
}

GST_END_TEST;

GST_START_TEST (last_group_that_is_given_up_late_takes_the_leading_pictures)
{
  MmtpGop gop;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1);
  put (&gop, 0, 2);
  mmtp_gop_give_up (&gop, gop.number - 1, PERIOD);
  fail_unless (mmtp_gop_needs_dropped (&gop, &leading));
  fail_if (mmtp_gop_needs_dropped (&gop, &plain));
}

GST_END_TEST;

GST_START_TEST (independent_picture_needs_no_other)
{
  const MmtpPicture independent = { PICTURE_KIND_UNKNOWN, TRUE, TRUE };
  MmtpGop gop;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1);
  mmtp_gop_give_up (&gop, gop.number, PERIOD);
  put (&gop, MMTP_FLAG_DELTA, 2);
  fail_if (mmtp_gop_needs_dropped (&gop, &independent));
  fail_if (mmtp_picture_needs (&independent, 5, 5));
  fail_unless (mmtp_picture_needs (&plain, 5, 5));
  fail_if (mmtp_picture_needs (&plain, 6, 5));
  fail_unless (mmtp_picture_needs (&leading, 6, 5));
  fail_if (mmtp_picture_needs (&leading, 7, 5));
  /* A leading picture follows a key frame in the stream, but is shown before
   * it, so it may refer to pictures of the previous GOP. Here no picture is
   * missing, so the leading picture must not be dropped. */
  fail_if (mmtp_picture_needs (&leading, 1, 0));
}

GST_END_TEST;

/* --- streams without key frames ------------------------------------------- */

/* Drops frame `lost`, and then passes further frames, none of which is a key
 * frame. Returns the first later frame that need not be dropped. */
static guint64
find_end (MmtpGop * gop, guint64 lost)
{
  guint64 frame = lost;

  mmtp_gop_give_up (gop, gop->number, lost * PERIOD);
  do
    put (gop, MMTP_FLAG_DELTA, ++frame);
  while (mmtp_gop_needs_dropped (gop, &plain));
  return frame;
}

/* The stream has a single key frame, so the interval between key frames is
 * unknown and assumed to be one second. Frame 2 is dropped. The frames of the
 * next two seconds (two intervals) must be dropped, too, but not the frame
 * after them. */
GST_START_TEST (stream_with_one_key_frame_goes_on_after_two_seconds)
{
  MmtpGop gop;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1);
  put (&gop, MMTP_FLAG_DELTA, 2);
  fail_unless_equals_uint64 (find_end (&gop, 2), 2 + 2000 / 40 + 1);
  fail_unless_equals_int (put (&gop, MMTP_FLAG_DELTA, 60), MMTP_RANK_BROKEN);
}

GST_END_TEST;

GST_START_TEST (stream_goes_on_after_two_intervals_without_a_key_frame)
{
  MmtpGop gop;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1);
  put (&gop, 0, 11);
  put (&gop, MMTP_FLAG_DELTA, 12);
  fail_unless_equals_uint64 (find_end (&gop, 12), 12 + 20 + 1);
}

GST_END_TEST;

/* The key frames are ten minutes apart. After a frame is lost, the next frames
 * are dropped for twice the interval between key frames, but for at most 20 s.
 * In this test, they must be dropped for 20 s. */
GST_START_TEST (interval_has_a_bound)
{
  MmtpGop gop;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1);
  put (&gop, 0, 600 * 25);
  fail_unless_equals_uint64 (find_end (&gop, 600 * 25), 620 * 25 + 1);
}

GST_END_TEST;

/* Two packets of one key frame are 40 ms apart, and both are marked as a key
 * frame. This happens if the packets contain the two fields of the frame, or if
 * all packets of a key frame are marked. The 40 ms must not count as an
 * interval between key frames. */
GST_START_TEST (parts_of_a_key_frame_are_no_interval)
{
  MmtpGop gop;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1);
  put (&gop, 0, 26);
  mmtp_gop_give_up (&gop, gop.number, 26 * PERIOD);
  put (&gop, 0, 51);
  put (&gop, 0, 52);
  fail_unless_equals_uint64 (gop.interval, 25 * PERIOD);
  fail_unless (mmtp_gop_needs_dropped (&gop, &leading));
}

GST_END_TEST;

/* The stream contains a P-frame and then a B-frame. The B-frame refers to the
 * P-frame, but is shown two frames before the P-frame. The timestamp of the
 * B-frame is therefore earlier than the timestamp of the P-frame.
 *
 * The P-frame was dropped, so the B-frame must be dropped, too. The sender must
 * not take the earlier timestamp for the beginning of another stream. */
GST_START_TEST (b_frame_does_not_go_on_where_its_time_goes_back)
{
  MmtpGop gop;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1000);
  put (&gop, MMTP_FLAG_DELTA, 1003);
  mmtp_gop_give_up (&gop, gop.number, 1003 * PERIOD);
  put (&gop, MMTP_FLAG_DELTA | MMTP_FLAG_DROPPABLE, 1001);
  fail_unless (mmtp_gop_needs_dropped (&gop, &plain));
}

GST_END_TEST;

/* A frame was dropped. Then the timestamps of the stream jump to an earlier
 * time, because of a seek or because another stream begins. The frame after
 * this jump must be accepted, because it does not refer to the dropped frame.
 */
GST_START_TEST (stream_goes_on_where_its_times_go_back)
{
  MmtpGop gop;

  mmtp_gop_init (&gop);
  put (&gop, 0, 1000);
  put (&gop, MMTP_FLAG_DELTA, 1001);
  mmtp_gop_give_up (&gop, gop.number, 1001 * PERIOD);
  mmtp_gop_put (&gop, PICTURE_KIND_REFERENCE, 1002, 5 * PERIOD);
  fail_if (mmtp_gop_needs_dropped (&gop, &plain));
}

GST_END_TEST;

static Suite *
mmtpgop_suite (void)
{
  Suite *s = suite_create ("mmtpgop");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, kind_is_that_of_the_flags_unless_it_is_known);
  tcase_add_test (tc, rank_is_that_of_the_kind);
  tcase_add_test (tc, frames_after_a_loss_are_broken_until_next_key);
  tcase_add_test (tc, all_buffers_of_a_key_frame_are_one_group);
  tcase_add_test (tc,
      given_up_reference_takes_its_group_and_the_leading_pictures);
  tcase_add_test (tc,
      last_group_that_is_given_up_late_takes_the_leading_pictures);
  tcase_add_test (tc, independent_picture_needs_no_other);
  tcase_add_test (tc, stream_with_one_key_frame_goes_on_after_two_seconds);
  tcase_add_test (tc, stream_goes_on_after_two_intervals_without_a_key_frame);
  tcase_add_test (tc, interval_has_a_bound);
  tcase_add_test (tc, parts_of_a_key_frame_are_no_interval);
  tcase_add_test (tc, b_frame_does_not_go_on_where_its_time_goes_back);
  tcase_add_test (tc, stream_goes_on_where_its_times_go_back);
  return s;
}

GST_CHECK_MAIN (mmtpgop);
