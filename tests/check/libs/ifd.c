/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of IFD_ALGORITHM_GOP, an algorithm that decides which video frames are
 * dropped. The original algorithms are in figures 1.1 to 1.3 of a paper by
 * Ouwens (2006). IFD_ALGORITHM_GOP follows them, with some corrections.
 *
 * These tests check the decisions that differ from the paper, and which frame
 * is dropped when there is no room. The original algorithms are tested by
 * ifdfigures.c. Long random streams are tested by ifdstreams.c. As in the
 * paper, W is the queue of waiting frames, S holds the frame that is being
 * sent, and C holds the new frame.
 */

#include "ifdcases.h"
#include "streambuilder.h"
#include "mpegvideoframer.h"

static const IfdConfig paper = { IFD_ALGORITHM_PAPER, 1 };
static const IfdConfig gop_of_one = { IFD_ALGORITHM_GOP, 1 };
static const IfdConfig gop_of_two = { IFD_ALGORITHM_GOP, 2 };
static const IfdConfig gop_of_three = { IFD_ALGORITHM_GOP, 3 };

/* If the queue of waiting frames (W) has room for only one frame, and the
 * stream begins with an I-frame, IFD_ALGORITHM_GOP must make the same decisions
 * as figure 1.1 of the paper by Ouwens. Each case names the line of the figure
 * that decides. */
GST_START_TEST (gop_with_a_w_of_one_is_figure_1_1)
{
  const IfdCase cases[] = {
    {"if (W is empty) store: I", "I", "+I0"},
    {"if (W is empty) store: P", "I / P", "+I0 >I0 +P1"},
    {"if (W is empty) store: B", "Ic / B", "+I0 >I0 +B1"},
    {"C holds an I-frame: overwrite an I", "I I", "+I0 -I0:overwritten +I1"},
    {"C holds an I-frame: overwrite a P", "I / P I",
        "+I0 >I0 +P1 -P1:overwritten +I2"},
    {"C holds an I-frame: overwrite a B", "I / P / B I",
        "+I0 >I0 +P1 >P1 +B2 -B2:overwritten +I3"},
    {"C holds a B-frame: discard, W an I", "Ic B", "+I0 -B1:no-room"},
    {"C holds a B-frame: discard, W a P", "I / P B",
        "+I0 >I0 +P1 -B2:no-room"},
    {"C holds a P-frame, W an I: discard", "I P", "+I0 -P1:no-room"},
    {"C holds a P-frame, W a P: discard", "I / P P",
        "+I0 >I0 +P1 -P2:no-room"},
    {"C holds a P-frame, else: overwrite", "I / P / B P",
        "+I0 >I0 +P1 >P1 +B2 -B2:overwritten +P3"},
  };

  IFD_EXPECT_ALL (&gop_of_one, cases);
}

GST_END_TEST;

GST_START_TEST (gop_discards_the_rest_of_a_disturbed_gop)
{
  const IfdCase cases[] = {
    {"a P lost for want of room", "I P / P B",
        "+I0 -P1:no-room >I0 -P2:disturbed -B3:disturbed"},
    {"and leading B-frames behind it, to the first P", "I P / I / B B P / B",
        "+I0 -P1:no-room >I0 +I2 >I2 -B3:leading -B4:leading +P5 >P5 +B6"},
    {"trailing B-frames are not among them", "I P / I / Bt",
        "+I0 -P1:no-room >I0 +I2 >I2 +B3"},
    {"an incomplete P", "I / P! P I / B",
        "+I0 >I0 -P1:incomplete -P2:disturbed +I3 >I3 -B4:leading"},
    {"an incomplete I", "I / I! B P I / B P",
        "+I0 >I0 -I1:incomplete -B2:disturbed -P3:disturbed +I4 >I4 "
          "-B5:leading +P6"},
    {"an incomplete B is nothing", "I / B! P",
        "+I0 >I0 -B1:incomplete +P2"},
    {"leading P-frames, and what leads behind them", "I P / I / Pl Bl P",
        "+I0 -P1:no-room >I0 +I2 >I2 -P3:leading -B4:leading +P5"},
    {"or seems to", "I P / I / Pl B P / B",
        "+I0 -P1:no-room >I0 +I2 >I2 -P3:leading -B4:leading +P5 >P5 +B6"},
    {"the first I is there, though incomplete", "P I! P B I / B",
        "-P0:no-i-frame -I1:incomplete -P2:disturbed -B3:disturbed +I4 >I4 "
          "-B5:leading"},
  };

  IFD_EXPECT_ALL (&gop_of_one, cases);
}

GST_END_TEST;

GST_START_TEST (gop_notes_the_i_or_p_that_an_i_overwrites)
{
  const IfdCase cases[] = {
    {"P", "I / P I / B P / B",
        "+I0 >I0 +P1 -P1:overwritten +I2 >I2 -B3:leading +P4 >P4 +B5"},
    {"I", "I I / B", "+I0 -I0:overwritten +I1 >I1 -B2:leading"},
    {"B disturbs nothing", "I / P / B I / B",
        "+I0 >I0 +P1 >P1 +B2 -B2:overwritten +I3 >I3 +B4"},
  };

  IFD_EXPECT_ALL (&gop_of_one, cases);
}

GST_END_TEST;

GST_START_TEST (gop_spares_leading_b_of_closed_gop)
{
  const IfdCase cases[] = {
    {"behind a lost P", "I P / Ic / B",
        "+I0 -P1:no-room >I0 +I2 >I2 +B3"},
    {"behind an overwritten P", "I / P Ic / B",
        "+I0 >I0 +P1 -P1:overwritten +I2 >I2 +B3"},
    {"behind an incomplete P", "I / P! Ic / B",
        "+I0 >I0 -P1:incomplete +I2 >I2 +B3"},
    {"at the beginning", "P Ic / B", "-P0:no-i-frame +I1 >I1 +B2"},
    {"for a new receiver", "I / restart Ic / B", "+I0 >I0 +I1 >I1 +B2"},
    {"but not those of the GOP behind it", "Ic P / I / B",
        "+I0 -P1:no-room >I0 +I2 >I2 -B3:leading"},
  };

  IFD_EXPECT_ALL (&gop_of_one, cases);
}

GST_END_TEST;

GST_START_TEST (gop_forgets_the_gop_before_the_last)
{
  const IfdCase cases[] = {
    {"I-frames and B-frames only", "I I / B / I / B",
        "+I0 -I0:overwritten +I1 >I1 -B2:leading > +I3 >I3 +B4"},
  };

  IFD_EXPECT_ALL (&gop_of_one, cases);
}

GST_END_TEST;

GST_START_TEST (gop_never_sends_leading_frames_of_a_broken_link)
{
  const IfdCase cases[] = {
    {"though all was sent", "I / P / Ix / Bl P / B",
        "+I0 >I0 +P1 >P1 +I2 >I2 -B3:leading +P4 >P4 +B5"},
    {"but the others", "I / Ix / Bt", "+I0 >I0 +I1 >I1 +B2"},
  };

  IFD_EXPECT_ALL (&gop_of_one, cases);
}

GST_END_TEST;

GST_START_TEST (gop_begins_with_an_i_frame)
{
  const IfdCase cases[] = {
    {"a stream", "B P I / B P",
        "-B0:no-i-frame -P1:no-i-frame +I2 >I2 -B3:leading +P4"},
    {"a stream behind a flush", "I P flush B P I / B P",
        "+I0 +P1 ~I0 ~P1 -B2:no-i-frame -P3:no-i-frame +I4 >I4 -B5:leading "
          "+P6"},
    {"a receiver", "I / P B restart B P I / B P",
        "+I0 >I0 +P1 +B2 -P1:no-i-frame -B2:no-i-frame -B3:no-i-frame "
          "-P4:no-i-frame +I5 >I5 -B6:leading +P7"},
    {"a receiver, with the I in W", "I / P I B restart / B P",
        "+I0 >I0 +P1 +I2 +B3 -P1:no-i-frame -B3:leading >I2 -B4:leading +P5"},
    {"a receiver, with a closed GOP in W", "I / P Ic B restart / B P",
        "+I0 >I0 +P1 +I2 +B3 -P1:no-i-frame >I2 +B4 +P5"},
    {"a receiver, with the last I of two GOPs in W", "I I B restart / / B",
        "+I0 +I1 +B2 >I0 >I1 +B3"},
  };

  IFD_EXPECT_ALL (&gop_of_three, cases);
}

GST_END_TEST;

/* A change of the algorithm must take effect immediately if no frame of the
 * stream has arrived yet. After the first frame, it must take effect only at
 * the next I-frame.
 */
GST_START_TEST (algorithm_may_change_before_the_first_frame)
{
  const IfdCase cases[] = {
    {"gop awaits an I", "gop3 P", "-P0:no-i-frame"},
    {"figure 1.1 doesn't", "gop3 paper P", "+P0"},
    {"figures 1.2 and 1.3 don't", "gop3 paper-gop B", "+B0"},
    {"behind a flush", "P flush gop3 P", "+P0 ~P0 -P1:no-i-frame"},
    {"behind a flush, the other way", "gop3 P flush paper P",
        "-P0:no-i-frame +P1"},
    {"but not before an awaited I", "gop3 P paper P",
        "-P0:no-i-frame -P1:no-i-frame"},
    {"nor for a new receiver", "restart paper P I", "-P0:no-i-frame +I1"},
  };

  IFD_EXPECT_ALL (&paper, cases);
}

GST_END_TEST;

GST_START_TEST (algorithm_changes_with_an_i_frame)
{
  const IfdCase cases[] = {
    {"to gop: what paper gave up is unknown", "paper I P gop2 B / P I Bl P / /",
        "+I0 -P1:no-room -B2:no-room >I0 +P3 +I4 -B5:leading "
          "-P3:overwritten +P6 >I4 >P6"},
    {"to paper, and at once to its W of one", "I / P paper P P / I P I",
        "+I0 >I0 +P1 -P2:no-room -P3:disturbed >P1 +I4 -P5:no-room "
          "-I4:overwritten +I6"},
  };

  IFD_EXPECT_ALL (&gop_of_two, cases);
}

GST_END_TEST;

GST_START_TEST (victim_is_the_frame_of_minimum_cost)
{
  const IfdCase two[] = {
    {"C an I: the largest B", "I / P / B7 B9 I",
        "+I0 >I0 +P1 >P1 +B2 +B3 -B3:overwritten +I4"},
    {"C a P: the largest B", "I / P / B9 B7 P",
        "+I0 >I0 +P1 >P1 +B2 +B3 -B2:overwritten +P4"},
    {"C a B, and the largest", "I / P B7 B9",
        "+I0 >I0 +P1 +B2 -B3:no-room"},
    {"C a B, and not the largest", "I / P B9 B7",
        "+I0 >I0 +P1 +B2 -B2:overwritten +B3"},
    {"of two as large the one that waits", "I / P B9 B9",
        "+I0 >I0 +P1 +B2 -B2:overwritten +B3"},
    {"of two as large the elder", "I / P / B9 B9 I",
        "+I0 >I0 +P1 >P1 +B2 +B3 -B2:overwritten +I4"},
    {"a B, however small, before a P", "I / P9 B1 P9",
        "+I0 >I0 +P1 +B2 -B2:overwritten +P3"},
    {"C a B, before any P", "I / P9 P9 B1",
        "+I0 >I0 +P1 +P2 -B3:no-room"},
    {"C a P: it costs less than those to which it refers", "I / P P P / P",
        "+I0 >I0 +P1 +P2 -P3:no-room >P1 -P4:disturbed"},
    {"C an I: the last P of the GOP before", "I / P9 P1 I / B",
        "+I0 >I0 +P1 +P2 -P2:overwritten +I3 >P1 -B4:leading"},
    {"C an I of a closed GOP: the same", "I / P P Ic / B",
        "+I0 >I0 +P1 +P2 -P2:overwritten +I3 >P1 +B4"},
    {"C a P: the last P of the GOP before", "I / P I P / B",
        "+I0 >I0 +P1 +I2 -P1:overwritten +P3 >I2 +B4"},
    {"I-frames only: the oldest", "I I I / B",
        "+I0 +I1 -I0:overwritten +I2 >I1 +B3"},
    {"C a P, I-frames in W: it", "I I P", "+I0 +I1 -P2:no-room"},
    {"a P that leads before others", "I / I Pl P / Bl",
        "+I0 >I0 +I1 +P2 -P2:overwritten +P3 >I1 -B4:leading"},
    {"C a P that leads", "I / P I Pl Bl",
        "+I0 >I0 +P1 +I2 -P3:no-room -B4:leading"},
  };
  const IfdCase three[] = {
    {"the newest P that leads: others refer to the elder", "I / I Pl Pl P",
        "+I0 >I0 +I1 +P2 +P3 -P3:overwritten +P4"},
    {"of several GOPs the largest last P", "gop4 I / P5 I P9 I P7",
        "+I0 >I0 +P1 +I2 +P3 +I4 -P3:overwritten +P5"},
    {"a B before a P that leads", "I / I Pl Bl P",
        "+I0 >I0 +I1 +P2 +B3 -B3:overwritten +P4"},
  };

  IFD_EXPECT_ALL (&gop_of_two, two);
  IFD_EXPECT_ALL (&gop_of_three, three);
}

GST_END_TEST;

/* After an outage, W, the queue of waiting frames, contains old frames. Then an
 * I-frame arrives. If frames of the stream between the old frames were dropped,
 * W has holes, and the old frames are useless. If W has holes, is full and
 * contains no B-frame, the I-frame must replace all frames in W. In the other
 * cases, it must replace at most one frame. */
GST_START_TEST (an_i_frame_replaces_what_an_outage_left)
{
  const IfdCase cases[] = {
    {"I- and P-frames with holes: all", "I / P B2 B2 P I / Bl",
        "+I0 >I0 +P1 +B2 -B2:overwritten +B3 -B3:overwritten +P4 "
          "-P1:overwritten -P4:overwritten +I5 >I5 -B6:leading"},
    {"leading frames of a closed GOP stay", "I / P B2 B2 P Ic / B",
        "+I0 >I0 +P1 +B2 -B2:overwritten +B3 -B3:overwritten +P4 "
          "-P1:overwritten -P4:overwritten +I5 >I5 +B6"},
    {"without holes: one", "I / P P I",
        "+I0 >I0 +P1 +P2 -P2:overwritten +I3"},
    {"a B left: it", "I / P B2 B1 I",
        "+I0 >I0 +P1 +B2 -B2:overwritten +B3 -B3:overwritten +I4"},
    {"room left: none", "gop3 I / P P / B1 B1 P / / I",
        "+I0 >I0 +P1 +P2 >P1 +B3 +B4 -B3:overwritten +P5 >P2 >B4 +I6"},
  };

  IFD_EXPECT_ALL (&gop_of_two, cases);
}

GST_END_TEST;

GST_START_TEST (w_may_grow_and_shrink)
{
  const IfdCase cases[] = {
    {"grows", "I gop2 P P", "+I0 +P1 -P2:no-room"},
    {"is never nothing", "gop0 I P", "+I0 -P1:no-room"},
    {"what waits stays, and makes room for nothing",
          "gop3 I P B gop1 P / / P",
        "+I0 +P1 +B2 -B2:overwritten +P3 >I0 >P1 -P4:no-room"},
    {"to a W of the figures", "gop3 I P B paper P / / P",
        "+I0 +P1 +B2 -B2:overwritten +P3 >I0 >P1 -P4:no-room"},
  };

  IFD_EXPECT_ALL (&gop_of_one, cases);
}

GST_END_TEST;

/* In the input of this test, the number after "o" is the field
 * pic_order_cnt_lsb of a frame. It has 16 values in these streams. From this
 * field, a decoder computes the PicOrderCnt of a picture, its position in
 * display order. The decoder assumes that this position differs by at most 8
 * from that of the last reference picture (H.264, 8.2.1.1). If frames were
 * dropped, the real difference may be greater, and the decoder would display an
 * I-frame too early. IFD must drop such an I-frame. */
GST_START_TEST (gop_drops_i_frames_that_would_be_misordered)
{
  const IfdCase one[] = {
    {"12 would be -4", "Io0 / P!o6 Io12 Po2 Bo0",
        "+I0 >I0 -P1:incomplete -I2:misordered -P3:disturbed -B4:disturbed"},
    {"the next may do, without its leading frames",
          "Io0 / P!o6 Io12 Io6 / Blo4 Po10 / Bo8",
        "+I0 >I0 -P1:incomplete -I2:misordered +I3 >I3 -B4:leading +P5 >P5 "
          "+B6"},
    {"half the range is no harm", "Io0 / P!o6 Io8",
        "+I0 >I0 -P1:incomplete +I2"},
    {"more is", "Io0 / P!o6 Io9", "+I0 >I0 -P1:incomplete -I2:misordered"},
    {"16 would be 0 again", "Io0 / P!o6 Io0",
        "+I0 >I0 -P1:incomplete -I2:misordered"},
    {"24 would be 8, which is behind all the same", "Io2 / P!o6 Io10 / Po14",
        "+I0 >I0 -P1:incomplete +I2 >I2 +P3"},
    {"a B that was shown counts", "Io0 / Bto2 / P!o6 Io2",
        "+I0 >I0 +B1 >B1 -P2:incomplete -I3:misordered"},
    {"the same again: none is better", "Io0 / P!o6 Io0 Po6 Io0 Blo14 /",
        "+I0 >I0 -P1:incomplete -I2:misordered -P3:disturbed +I4 -B5:leading "
          ">I4"},
    {"a closed GOP", "Io0 / P!o6 Ico12", "+I0 >I0 -P1:incomplete +I2"},
    {"a broken link is not closed", "Io0 / P!o6 Ixo12",
        "+I0 >I0 -P1:incomplete -I2:misordered"},
    {"nothing is missing", "Io0 / Io12", "+I0 >I0 +I1"},
    {"no order", "Io0 / P!o6 I", "+I0 >I0 -P1:incomplete +I2"},
    {"no order before", "I / P!o6 Io12", "+I0 >I0 -P1:incomplete +I2"},
    {"a new receiver", "Io0 / P!o6 restart Io12",
        "+I0 >I0 -P1:incomplete +I2"},
    {"a new stream", "Io0 / P!o6 flush Io12", "+I0 >I0 -P1:incomplete +I2"},
  };
  const IfdCase two[] = {
    {"what W holds is before it", "Io0 / Po6 P!o10 Io12",
        "+I0 >I0 +P1 -P2:incomplete +I3"},
    {"until it goes", "Io0 / Po6 Io12 Po2",
        "+I0 >I0 +P1 +I2 -P1:overwritten -I2:misordered -P3:disturbed"},
    {"with the frames that refer to it", "gop3 Io0 / Po6 Io12 Po2 Po6",
        "+I0 >I0 +P1 +I2 +P3 -P1:overwritten -I2:misordered -P3:disturbed "
          "-P4:disturbed"},
  };

  IFD_EXPECT_ALL (&gop_of_one, one);
  IFD_EXPECT_ALL (&gop_of_two, two);
}

GST_END_TEST;

/* A frame was dropped. After that, a decoder computes a wrong position in
 * display order for each later I-frame of this stream. It would display these
 * I-frames before the first frame of the stream, or in place of the first
 * frame. IFD therefore drops these I-frames. When IFD has dropped
 * IFD_MAX_ORDER_WAIT of them, it must nevertheless send the next I-frame,
 * because the stream may never contain an I-frame with a correct position. */
GST_START_TEST (misordered_stream_goes_on)
{
  Ifd *ifd = ifd_new (&gop_of_three);
  GString *log = g_string_new (NULL);
  gboolean sending = FALSE;
  IfdStats stats;
  guint i;

  ifd_case_do_word (ifd, "Io0", &sending, log);
  ifd_case_do_word (ifd, "/", &sending, log);
  ifd_case_do_word (ifd, "P!o6", &sending, log);
  for (i = 0; i < IFD_MAX_ORDER_WAIT; i++)
    ifd_case_do_word (ifd, i == 0 ? "Io15" : "Io0", &sending, log);
  ifd_get_stats (ifd, &stats);
  fail_unless_equals_uint64 (stats.dropped[IFD_FRAME_I][IFD_DROP_MISORDERED],
      IFD_MAX_ORDER_WAIT);
  fail_unless_equals_uint64 (stats.gops_misordered, 0);
  g_string_truncate (log, 0);
  ifd_case_do_word (ifd, "Io0", &sending, log);
  ifd_case_do_word (ifd, "Blo14", &sending, log);
  ifd_case_do_word (ifd, "Po6", &sending, log);
  ifd_case_do_word (ifd, "Io12", &sending, log);
  fail_unless_equals_string (log->str, "+I252 -B253:leading +P254 +I255");
  ifd_get_stats (ifd, &stats);
  fail_unless_equals_uint64 (stats.gops_misordered, 1);
  g_string_free (log, TRUE);
  ifd_free (ifd);
}

GST_END_TEST;

/* Passes P-frames to IFD until it accepts one of them, but at most `max`.
 * Returns the number of refused P-frames.
 *
 * While IFD waits for an I-frame, it refuses P-frames. If no I-frame arrives
 * within IFD_MAX_GOP frames, the stream seems to have no I-frames, and IFD
 * accepts a P-frame. */
static guint
count_refused (Ifd * ifd, guint max)
{
  IfdFrame frame = { IFD_FRAME_P, };
  IfdEvent event;
  guint count;

  for (count = 0; count < max; count++) {
    ifd_input (ifd, 0, &frame);
    fail_unless (ifd_poll_event (ifd, &event));
    fail_if (ifd_poll_event (ifd, &event));
    if (ifd_peek_output (ifd, &frame))
      break;
  }
  return count;
}

GST_START_TEST (stream_without_i_frames_goes_on)
{
  Ifd *ifd = ifd_new (&gop_of_three);
  GString *log = g_string_new (NULL);
  gboolean sending = FALSE;

  fail_unless_equals_int (count_refused (ifd, 10000), IFD_MAX_GOP - 1);
  ifd_case_do_word (ifd, "P", &sending, log);
  ifd_case_do_word (ifd, "P", &sending, log);
  /* IFD has received so many P-frames without an I-frame that it treats the
   * stream as a stream without I-frames. W, the queue of waiting frames, is
   * full, so IFD must drop the next P-frame. After this loss, IFD must accept
   * the first P-frame for which there is room again. It must not wait for an
   * I-frame, as it would in a stream with I-frames. */
  ifd_case_do_word (ifd, "P", &sending, log);
  ifd_case_do_word (ifd, "/", &sending, log);
  ifd_case_do_word (ifd, "P", &sending, log);
  fail_unless_equals_string (log->str, "+P600 +P601 -P602:no-room >P599 +P603");
  /* Now an I-frame arrives. From here on, IFD must treat the stream as one with
   * I-frames again: after a dropped P-frame, it must drop the next P-frames,
   * too. */
  g_string_truncate (log, 0);
  ifd_case_do_word (ifd, "/", &sending, log);
  ifd_case_do_word (ifd, "I", &sending, log);
  ifd_case_do_word (ifd, "P", &sending, log);
  ifd_case_do_word (ifd, "P", &sending, log);
  fail_unless_equals_string (log->str,
      ">P600 +I604 -P603:overwritten +P605 -P601:overwritten +P606");
  g_string_truncate (log, 0);
  ifd_case_do_word (ifd, "P", &sending, log);
  ifd_case_do_word (ifd, "P", &sending, log);
  fail_unless_equals_string (log->str, "-P607:no-room -P608:disturbed");
  g_string_free (log, TRUE);
  ifd_free (ifd);
}

GST_END_TEST;

/* An intra refresh renews the picture part by part, over several frames. A
 * decoder may start at the first frame of an intra refresh. Its pictures are
 * then damaged until the refresh ends.
 *
 * IFD may begin at an intra refresh when it sends to a new receiver, because a
 * new receiver does not show the damaged pictures. After a dropped frame,
 * however, a receiver would show them. IFD must then wait for an I-frame. */
GST_START_TEST (refresh_is_a_beginning_for_a_new_receiver_only)
{
  static const IfdCase cases[] = {
    {"the stream begins in the middle", "P B Pr P B /",
        "-P0:no-i-frame -B1:no-i-frame +P2 +P3 +B4 >P2"},
    {"a new receiver", "Ic / P / restart P Pr / P /",
        "+I0 >I0 +P1 >P1 -P2:no-i-frame +P3 >P3 +P4 >P4"},
    {"what waits is dropped up to an I-frame", "Ic / Pr restart P Pr /",
        "+I0 >I0 +P1 -P1:no-i-frame -P2:no-i-frame +P3 >P3"},
    {"a frame is lost", "Ic / P P P P Pr P Ic",
        "+I0 >I0 +P1 +P2 +P3 -P4:no-room -P5:disturbed -P6:disturbed "
          "-P3:overwritten +I7"},
    {"what leads the I-frame before refers to it",
          "P Prl Pr Bl Pl B /",
        "-P0:no-i-frame -P1:no-i-frame +P2 -B3:leading -P4:leading +B5 >P2"},
    {"a B-frame or an I-frame is none", "Br Ir P",
        "-B0:no-i-frame +I1 +P2"},
  };

  IFD_EXPECT_ALL (&gop_of_three, cases);
}

GST_END_TEST;

GST_START_TEST (figures_begin_with_a_refresh)
{
  static const IfdCase cases[] = {
    {"paper", "paper restart P B Pr / P",
        "-P0:no-i-frame -B1:no-i-frame +P2 >P2 +P3"},
    {"paper-gop", "paper-gop restart P B Pr / P",
        "-P0:no-i-frame -B1:no-i-frame +P2 >P2 +P3"},
  };

  IFD_EXPECT_ALL (&gop_of_one, cases);
}

GST_END_TEST;

GST_START_TEST (stream_of_refreshes_goes_on_with_one)
{
  GString *log = g_string_new (NULL);
  gboolean sending = TRUE;
  Ifd *ifd = ifd_case_play (&gop_of_one, "Ic / P Pr", log);
  guint i;

  /* IFD waits for an I-frame, because a P-frame was dropped. During the next
   * IFD_MAX_GOP frames, it still expects an I-frame, so it must drop the frames
   * that begin an intra refresh (Pr), too. */
  for (i = 0; i < IFD_MAX_GOP; i++)
    ifd_case_do_word (ifd, i % 20 ? "P" : "Pr", &sending, log);
  g_string_truncate (log, 0);
  ifd_case_do_word (ifd, "/", &sending, log);
  ifd_case_do_word (ifd, "P", &sending, log);
  ifd_case_do_word (ifd, "Pr", &sending, log);
  ifd_case_do_word (ifd, "P", &sending, log);
  ifd_case_do_word (ifd, "/", &sending, log);
  /* IFD_MAX_GOP frames have passed without an I-frame, so IFD no longer expects
   * one. It drops a P-frame. It must then send frames again from the next intra
   * refresh (Pr) on. */
  ifd_case_do_word (ifd, "P", &sending, log);
  ifd_case_do_word (ifd, "Pr", &sending, log);
  ifd_case_do_word (ifd, "/", &sending, log);
  fail_unless_equals_string (log->str, ">P1 -P603:disturbed +P604 "
      "-P605:no-room >P604 -P606:disturbed +P607 >P607");
  /* First, an I-frame arrives, so IFD treats the stream as one with I-frames
   * again. Then a P-frame is dropped. From there on, IFD must drop all frames
   * up to the next I-frame, even the frame that begins an intra refresh (Pr).
   */
  g_string_truncate (log, 0);
  ifd_case_do_word (ifd, "Ic", &sending, log);
  ifd_case_do_word (ifd, "P", &sending, log);
  ifd_case_do_word (ifd, "Pr", &sending, log);
  fail_unless_equals_string (log->str, "+I608 -P609:no-room -P610:disturbed");
  g_string_free (log, TRUE);
  ifd_free (ifd);
}

GST_END_TEST;

/* IFD drops a P-frame. The next frame is Pr, a P-frame that begins an intra
 * refresh. IFD refuses Pr, because IFD waits for an I-frame after the loss.
 * This wait lasts IFD_MAX_GOP frames, of which Pr is the first. No I-frame
 * comes. Because Pr has shown that the stream has intra refreshes, IFD then
 * waits for another refresh during the next IFD_MAX_GOP frames. No refresh
 * comes either.
 *
 * IFD must accept the last of these 2 * IFD_MAX_GOP frames. It refuses the
 * other 2 * IFD_MAX_GOP - 1 frames: Pr, and 2 * IFD_MAX_GOP - 2 P-frames after
 * Pr. count_refused () counts only the frames after Pr. */
GST_START_TEST (stream_whose_refreshes_end_goes_on)
{
  GString *log = g_string_new (NULL);
  Ifd *ifd = ifd_case_play (&gop_of_one, "I / P P Pr /", log);

  fail_unless_equals_int (count_refused (ifd, 10000), 2 * IFD_MAX_GOP - 2);
  g_string_free (log, TRUE);
  ifd_free (ifd);
}

GST_END_TEST;

GST_START_TEST (rest_of_a_gop_without_end_goes_on)
{
  GString *log = g_string_new (NULL);
  Ifd *ifd = ifd_case_play (&gop_of_one, "I / P P /", log);

  fail_unless_equals_string (log->str, "+I0 >I0 +P1 -P2:no-room >P1");
  fail_unless_equals_int (count_refused (ifd, 10000), IFD_MAX_GOP - 1);
  g_string_free (log, TRUE);
  ifd_free (ifd);
}

GST_END_TEST;

GST_START_TEST (only_frames_in_a_row_wait_in_vain)
{
  GString *log = g_string_new (NULL);
  Ifd *ifd = ifd_case_play (&gop_of_one, "I P", log);
  const guint max = IFD_MAX_GOP * 2 / 3;
  gboolean sending = FALSE;
  guint i;

  for (i = 0; i < 3; i++) {
    ifd_case_do_word (ifd, "/", &sending, log);
    fail_unless_equals_int (count_refused (ifd, max), max);
    ifd_case_do_word (ifd, "I", &sending, log);
    ifd_case_do_word (ifd, "P", &sending, log);
  }
  g_string_free (log, TRUE);
  ifd_free (ifd);
}

GST_END_TEST;

/* Events and counters */

GST_START_TEST (drops_name_the_frame_that_caused_them)
{
  Ifd *ifd = ifd_new (&gop_of_one);
  IfdFrame frame = ifd_case_make_frame ("I100"), peeked;
  IfdEvent event;

  frame.user = ifd;
  frame.due = 7;
  ifd_input (ifd, 0, &frame);
  fail_unless (ifd_peek_output (ifd, &peeked));
  fail_unless (peeked.user == ifd && peeked.due == 7 && peeked.size == 100);
  frame.user = NULL;
  ifd_input (ifd, 0, &frame);
  fail_unless (ifd_poll_event (ifd, &event));
  fail_unless_equals_int (event.type, IFD_EVENT_STORED);
  fail_unless_equals_uint64 (event.frame.number, 0);
  fail_unless (ifd_poll_event (ifd, &event));
  fail_unless_equals_int (event.type, IFD_EVENT_DROPPED);
  fail_unless_equals_int (event.reason, IFD_DROP_OVERWRITTEN);
  fail_unless_equals_uint64 (event.frame.number, 0);
  fail_unless_equals_uint64 (event.cause, 1);
  fail_unless (event.frame.user == ifd);
  fail_unless (ifd_poll_event (ifd, &event));
  fail_unless_equals_int (event.type, IFD_EVENT_STORED);
  fail_if (ifd_poll_event (ifd, &event));
  ifd_free (ifd);
}

GST_END_TEST;

/* Log function of IFD. Counts the lines that report a dropped frame, separately
 * for each reason. Checks that each of these lines also says by which rule the
 * frame was selected. */
static void
count_drop (gpointer counts, gboolean is_packet, const gchar * format,
    va_list args)
{
  gchar *line = g_strdup_vprintf (format, args), **parts;
  guint reason;

  if (g_str_has_prefix (line, "dropped ")) {
    fail_if (is_packet);
    parts = g_strsplit (line, ": ", 3);
    fail_unless_equals_int (g_strv_length (parts), 3);
    fail_unless (strlen (parts[2]) > 10, "no rule in \"%s\"", line);
    for (reason = 0; reason < IFD_DROP_LAST; reason++) {
      if (g_str_equal (parts[1], ifd_drop_reason_get_name (reason)))
        ((guint64 *) counts)[reason]++;
    }
    g_strfreev (parts);
  }
  g_free (line);
}

GST_START_TEST (each_drop_is_traced_with_its_reason_and_a_rule)
{
  static const gchar *const words[] = {
    "I90", "Ic90", "Ix80", "I!", "Io3", "Io12", "P30", "P40", "Pl20", "Pr30",
    "P!", "Po9", "Po14", "B10", "B20", "B30", "Bt10", "B!", "/", "/", "/",
    "restart"
  };
  guint64 traced[IFD_DROP_LAST] = { 0, }, counted;
  Ifd *ifd = ifd_new (&gop_of_three);
  GRand *random = g_rand_new_with_seed (1);
  GString *log = g_string_new (NULL);
  gboolean sending = FALSE;
  guint i, type, reason;
  IfdStats stats;

  ifd_set_trace (ifd, count_drop, traced);
  for (i = 0; i < 5000; i++)
    ifd_case_do_word (ifd, words[g_rand_int_range (random, 0,
                G_N_ELEMENTS (words))], &sending, log);
  ifd_get_stats (ifd, &stats);
  for (reason = 0; reason < IFD_DROP_LAST; reason++) {
    counted = 0;
    for (type = 0; type < IFD_FRAME_LAST; type++)
      counted += stats.dropped[type][reason];
    fail_unless_equals_uint64 (traced[reason], counted);
    fail_unless (counted > 0, "no frame was dropped as %s",
        ifd_drop_reason_get_name (reason));
  }
  ifd_case_do_word (ifd, "flush", &sending, log);
  g_string_free (log, TRUE);
  g_rand_free (random);
  ifd_free (ifd);
}

GST_END_TEST;

GST_START_TEST (counters_tell_what_became_of_the_frames)
{
  GString *log = g_string_new (NULL);
  /* Each word is a frame with its type and its size in bytes; "/" means that
   * the network has sent a frame and takes the next one from the queue. I100
   * and P50 are sent. P40 replaces the waiting frame B30. P20 is dropped
   * because the queue has no room. P10 is dropped because it refers to P20. At
   * the end of the test, P40 is being sent and I60 is waiting, so both are
   * flushed. */
  Ifd *ifd =
      ifd_case_play (&gop_of_one, "I100 / P50 / B30 P40 P20 P10 / I60", log);
  IfdFrame frame;
  IfdStats stats;

  ifd_get_stats (ifd, &stats);
  fail_unless_equals_uint64 (stats.in[IFD_FRAME_I], 2);
  fail_unless_equals_uint64 (stats.in[IFD_FRAME_P], 4);
  fail_unless_equals_uint64 (stats.in[IFD_FRAME_B], 1);
  fail_unless_equals_uint64 (stats.in_bytes[IFD_FRAME_I], 160);
  fail_unless_equals_uint64 (stats.in_bytes[IFD_FRAME_P], 120);
  fail_unless_equals_uint64 (stats.sent[IFD_FRAME_I], 1);
  fail_unless_equals_uint64 (stats.sent_bytes[IFD_FRAME_I], 100);
  fail_unless_equals_uint64 (stats.sent[IFD_FRAME_P], 1);
  fail_unless_equals_uint64 (stats.dropped[IFD_FRAME_B][IFD_DROP_OVERWRITTEN],
      1);
  fail_unless_equals_uint64 (stats.dropped[IFD_FRAME_P][IFD_DROP_NO_ROOM], 1);
  fail_unless_equals_uint64 (stats.dropped[IFD_FRAME_P][IFD_DROP_DISTURBED], 1);
  fail_unless_equals_uint64 (stats.dropped_bytes[IFD_FRAME_P], 30);
  fail_unless_equals_uint64 (stats.gops, 2);
  fail_unless_equals_uint64 (stats.gops_disturbed, 1);
  fail_unless_equals_int (stats.waiting, 1);
  fail_unless_equals_uint64 (stats.waiting_bytes, 60);
  fail_unless (ifd_flush (ifd, &frame));
  fail_unless_equals_int (frame.type, IFD_FRAME_I);
  fail_if (ifd_flush (ifd, &frame));
  ifd_get_stats (ifd, &stats);
  /* The flush has removed the waiting frame I60 and the frame P40, which was
   * being sent. */
  fail_unless_equals_uint64 (stats.flushed, 2);
  fail_unless_equals_int (stats.waiting, 0);
  fail_unless_equals_uint64 (stats.waiting_bytes, 0);
  g_string_free (log, TRUE);
  ifd_free (ifd);
}

GST_END_TEST;

/* 1000 GOPs are disturbed, which means that an I- or P-frame was dropped. This
 * is more than IFD can remember. Each of them must be counted exactly once. */
GST_START_TEST (each_gop_is_counted_as_disturbed_once)
{
  GString *log = g_string_new (NULL);
  Ifd *ifd = ifd_case_play (&gop_of_one, "I / P B", log);
  gboolean sending = TRUE;
  IfdStats stats;
  guint i;

  /* In this GOP, only a B-frame was dropped. No other frame refers to it, so
   * the GOP must not be counted as disturbed. */
  ifd_get_stats (ifd, &stats);
  fail_unless_equals_uint64 (stats.gops_disturbed, 0);
  for (i = 0; i < 1000; i++) {
    ifd_case_do_word (ifd, "/", &sending, log);
    ifd_case_do_word (ifd, "I", &sending, log);
    ifd_case_do_word (ifd, "P", &sending, log);
    ifd_case_do_word (ifd, "P", &sending, log);
  }
  ifd_get_stats (ifd, &stats);
  fail_unless_equals_uint64 (stats.gops, 1001);
  fail_unless_equals_uint64 (stats.gops_disturbed, 1000);
  g_string_free (log, TRUE);
  ifd_free (ifd);
}

GST_END_TEST;

GST_START_TEST (lateness_is_from_due_to_sent)
{
  Ifd *ifd = ifd_new (&gop_of_three);
  IfdFrame frame = ifd_case_make_frame ("I"), out;
  IfdStats stats;
  guint i;

  for (i = 0; i < 3; i++) {
    frame.due = i * 40;
    ifd_input (ifd, frame.due, &frame);
    frame.type = IFD_FRAME_P;
  }
  for (i = 0; i < 3; i++) {
    fail_unless (ifd_poll_output (ifd, 100 + i * 100, &out));
    fail_if (ifd_poll_output (ifd, 100 + i * 100, &out));
    ifd_sent (ifd, 190 + i * 100);
  }
  ifd_get_stats (ifd, &stats);
  /* 190, 250, 310 */
  fail_unless_equals_int64 (stats.lateness_max, 310);
  fail_unless_equals_uint64 (stats.time_blocked, 270);
  fail_unless (ABS (stats.lateness_median - 250) <= 5);
  ifd_free (ifd);
}

GST_END_TEST;

/* In this stream, each frame consists of two fields. The frame must get the
 * type of its first field. It must therefore be an I-frame if the first field
 * is an I-field, even if the second field is a P-field. */
GST_START_TEST (two_fields_are_one_frame)
{
  MpegVideoFramerConfig config = { 0, };
  MpegVideoFramer *framer = mpeg_video_framer_new (&config);
  const gchar fields[] = "IPPPBBBB";
  const gchar *types = "IPBB";
  MpegVideoFrame frame;
  MpegStream stream;
  Ifd *ifd = ifd_new (&gop_of_three);
  IfdStats stats;
  guint i;

  mpeg_stream_init (&stream);
  mpeg_sequence (&stream, 32, 32, 3, TRUE, FALSE, FALSE);
  mpeg_gop (&stream, 0, TRUE);
  for (i = 0; fields[i]; i++) {
    MpegPicture picture = { fields[i], i / 2, };

    picture.structure = 1 + i % 2;
    picture.rows = 1;
    mpeg_picture (&stream, &picture);
  }
  mpeg_align (&stream);
  mpeg_video_framer_input (framer, stream.bytes->data, stream.bytes->len,
      MPEG_VIDEO_TIME_NONE, MPEG_VIDEO_TIME_NONE);
  mpeg_video_framer_drain (framer);
  for (i = 0; mpeg_video_framer_poll_output (framer, &frame); i++) {
    gchar type[2] = { 0, };
    IfdFrame c;

    type[0] = mpeg_video_picture_type_char (frame.pictures[0].header.type);
    fail_unless_equals_int (frame.n_pictures, 2);
    fail_unless_equals_int (type[0], types[i]);
    c = ifd_case_make_frame (type);
    ifd_input (ifd, 0, &c);
    g_free (frame.data);
    mpeg_video_frame_clear (&frame);
  }
  fail_unless_equals_int (i, 4);
  ifd_get_stats (ifd, &stats);
  fail_unless_equals_uint64 (stats.in[IFD_FRAME_I], 1);
  fail_unless_equals_uint64 (stats.in[IFD_FRAME_P], 1);
  fail_unless_equals_uint64 (stats.in[IFD_FRAME_B], 2);
  mpeg_stream_clear (&stream);
  mpeg_video_framer_free (framer);
  ifd_free (ifd);
}

GST_END_TEST;

static Suite *
ifd_suite (void)
{
  Suite *s = suite_create ("ifd");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, gop_with_a_w_of_one_is_figure_1_1);
  tcase_add_test (tc, gop_discards_the_rest_of_a_disturbed_gop);
  tcase_add_test (tc, gop_notes_the_i_or_p_that_an_i_overwrites);
  tcase_add_test (tc, gop_spares_leading_b_of_closed_gop);
  tcase_add_test (tc, gop_forgets_the_gop_before_the_last);
  tcase_add_test (tc, gop_never_sends_leading_frames_of_a_broken_link);
  tcase_add_test (tc, gop_begins_with_an_i_frame);
  tcase_add_test (tc, algorithm_may_change_before_the_first_frame);
  tcase_add_test (tc, algorithm_changes_with_an_i_frame);
  tcase_add_test (tc, victim_is_the_frame_of_minimum_cost);
  tcase_add_test (tc, an_i_frame_replaces_what_an_outage_left);
  tcase_add_test (tc, w_may_grow_and_shrink);
  tcase_add_test (tc, gop_drops_i_frames_that_would_be_misordered);
  tcase_add_test (tc, misordered_stream_goes_on);
  tcase_add_test (tc, stream_without_i_frames_goes_on);
  tcase_add_test (tc, rest_of_a_gop_without_end_goes_on);
  tcase_add_test (tc, only_frames_in_a_row_wait_in_vain);
  tcase_add_test (tc, refresh_is_a_beginning_for_a_new_receiver_only);
  tcase_add_test (tc, figures_begin_with_a_refresh);
  tcase_add_test (tc, stream_of_refreshes_goes_on_with_one);
  tcase_add_test (tc, stream_whose_refreshes_end_goes_on);
  tcase_add_test (tc, drops_name_the_frame_that_caused_them);
  tcase_add_test (tc, each_drop_is_traced_with_its_reason_and_a_rule);
  tcase_add_test (tc, counters_tell_what_became_of_the_frames);
  tcase_add_test (tc, each_gop_is_counted_as_disturbed_once);
  tcase_add_test (tc, lateness_is_from_due_to_sent);
  tcase_add_test (tc, two_fields_are_one_frame);
  return s;
}

GST_CHECK_MAIN (ifd);
