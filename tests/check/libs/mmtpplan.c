/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks MmtpPlan, which decides which waiting frames the sender leaves out if
 * the paths cannot deliver all of them in time. In random plans, every kept
 * frame must be in time, and its reference frames must be kept, too.
 */

#include <string.h>

#include <gst/check/gstcheck.h>

#include "mmtpplan.h"
#include "seededdraw.h"

static MmtpPlan plan;

/* Adds a waiting frame to the plan. The plan decides later which waiting frames
 * are sent. `work` bytes of the frame wait to be sent. `capacity` is the number
 * of bytes that the paths can deliver before the deadline of the frame.
 * `weight` is the expected number of pictures that are lost if the frame is not
 * sent. */
static MmtpPlanFrame *
add (MmtpRank rank, guint64 group, guint64 work, guint64 capacity,
    gdouble weight)
{
  MmtpPlanFrame *frame = &plan.frames[plan.n++];

  memset (frame, 0, sizeof (*frame));
  frame->frame = plan.n;
  frame->rank = rank;
  frame->group = group;
  frame->work = work;
  frame->capacity = frame->safe_capacity = capacity;
  frame->weight = weight;
  return frame;
}

/* Calls mmtp_plan_make (), which decides for each frame whether it is kept
 * (will be sent) or left out. Checks the decisions. `kept` has one letter for
 * each frame: 'k' if the frame must be kept, and '-' if it must be left out. */
static void
check (const gchar * kept)
{
  guint i;

  mmtp_plan_make (&plan);
  fail_unless_equals_int (plan.n, strlen (kept));
  for (i = 0; i < plan.n; i++)
    fail_unless (plan.frames[i].is_kept == (kept[i] == 'k'), "frame %u", i);
  plan.n = 0;
}

GST_START_TEST (all_frames_are_kept_if_they_are_in_time)
{
  check ("");
  add (MMTP_RANK_KEY, 1, 5000, 5000, 7);
  add (MMTP_RANK_DROPPABLE, 1, 1000, 6000, 1);
  add (MMTP_RANK_DELTA, 1, 2000, 10000, 6);
  check ("kkk");
}

GST_END_TEST;

/* The test makes two plans. In the first plan, all frames can be in time and
 * must be kept. In the second plan, the P-frame would be late if both B-frames
 * before it were sent. The plan must leave out the larger B-frame: this saves
 * enough bytes for the P-frame, and no frame refers to a B-frame. */
GST_START_TEST (largest_frame_that_no_frame_needs_is_left_out)
{
  add (MMTP_RANK_KEY, 1, 1000, 5000, 7);
  add (MMTP_RANK_DROPPABLE, 1, 500, 6000, 1);
  add (MMTP_RANK_DROPPABLE, 1, 1000, 6500, 1);
  add (MMTP_RANK_DELTA, 1, 1500, 7000, 3);
  check ("kkkk");
  add (MMTP_RANK_KEY, 1, 1000, 5000, 7);
  add (MMTP_RANK_DROPPABLE, 1, 500, 6000, 1);
  add (MMTP_RANK_DROPPABLE, 1, 1000, 6500, 1);
  add (MMTP_RANK_DELTA, 1, 1500, 4500, 3);
  check ("kk-k");
}

GST_END_TEST;

/* The first P-frame is too large to arrive in time, so it must not be sent. All
 * frames that refer to it must be left out, too. These are the later frames of
 * its GOP, and the leading frame of the next GOP, which is shown before the key
 * frame of that GOP. */
GST_START_TEST (left_out_reference_takes_its_group_with_it)
{
  add (MMTP_RANK_DELTA, 1, 9000, 8000, 2);
  add (MMTP_RANK_DROPPABLE, 1, 100, 9000, 1);
  add (MMTP_RANK_DELTA, 1, 100, 9500, 1);
  add (MMTP_RANK_KEY, 2, 1000, 10000, 7);
  add (MMTP_RANK_DROPPABLE, 2, 100, 10500, 1)->picture.is_leading = TRUE;
  add (MMTP_RANK_DROPPABLE, 2, 100, 11000, 1);
  check ("---k-k");
}

GST_END_TEST;

/* Two P-frames of the same size wait, and only one of them can be sent in time.
 * The first P-frame has a higher weight, because more frames refer to it. The
 * second P-frame must therefore be left out. */
GST_START_TEST (reference_with_the_lower_weight_is_left_out)
{
  add (MMTP_RANK_DELTA, 1, 2000, 5000, 5);
  add (MMTP_RANK_DELTA, 1, 2000, 3500, 4);
  check ("k-");
}

GST_END_TEST;

/* The plan estimates how many bytes the paths can deliver before each deadline
 * (the capacity). The test makes two plans. In the first one, the three frames
 * together would use up the whole capacity, so a small error of the estimate
 * would make the key frame late. The key frame has a higher weight than the
 * B-frame before it, so the plan must leave out the B-frame. In the second
 * plan, the capacity is higher, and all frames must be kept. */
GST_START_TEST (no_risk_is_taken_for_a_frame_of_low_weight)
{
  add (MMTP_RANK_DROPPABLE, 1, 1000, 9000, 1);
  add (MMTP_RANK_KEY, 2, 5000, 6000, 7);
  add (MMTP_RANK_DELTA, 2, 1000, 7000, 6);
  check ("-kk");
  add (MMTP_RANK_DROPPABLE, 1, 1000, 9000, 1);
  add (MMTP_RANK_KEY, 2, 5000, 8000, 7);
  add (MMTP_RANK_DELTA, 2, 1000, 9000, 6);
  check ("kkk");
}

GST_END_TEST;

/* The stream has three temporal layers. A slot is a place in which a decoder
 * stores a reference picture. The pictures use two slots:
 * - A picture of layer 0 uses and updates slot 0.
 * - A picture of layer 1 uses slot 0 and updates slot 1.
 * - A picture of layer 2 uses slot 1.
 *
 * The first picture of layer 1 is too large to arrive in time. The plan must
 * leave out this picture and the next picture, which refers to it. */
GST_START_TEST (left_out_picture_of_a_layer_takes_only_what_refers_to_it)
{
  const MmtpPicture base = {.has_slots = TRUE,.uses = 1,.updates = 1 };
  const MmtpPicture middle = {.has_slots = TRUE,.layer = 1,.uses = 1,
    .updates = 2
  };
  const MmtpPicture top = {.has_slots = TRUE,.layer = 2,.uses = 2 };

  add (MMTP_RANK_DELTA, 1, 1000, 5000, 6)->picture = base;
  add (MMTP_RANK_LAYER, 1, 9000, 5000, 2)->picture = middle;
  add (MMTP_RANK_DROPPABLE, 1, 100, 5000, 1)->picture = top;
  add (MMTP_RANK_DELTA, 1, 1000, 9000, 5)->picture = base;
  add (MMTP_RANK_LAYER, 1, 500, 9000, 2)->picture = middle;
  add (MMTP_RANK_DROPPABLE, 1, 100, 9000, 1)->picture = top;
  check ("k--kkk");
}

GST_END_TEST;

/* A slot is a place in which a decoder stores a reference picture. A P-frame
 * updates the slots 0 and 1, and the key frame after it updates slot 0 only.
 * The leading picture after the key frame uses both slots, so it refers to the
 * P-frame in slot 1. This P-frame is too large to arrive in time. The plan must
 * leave out the P-frame and the leading picture. */
GST_START_TEST (leading_picture_is_left_out_with_a_frame_before_the_key_frame)
{
  const MmtpPicture delta = {.has_slots = TRUE,.uses = 1,.updates = 3 };
  const MmtpPicture key = {.has_slots = TRUE,.updates = 1 };
  const MmtpPicture leading = {.has_slots = TRUE,.is_leading = TRUE,
    .uses = 3
  };

  add (MMTP_RANK_DELTA, 1, 9000, 5000, 2)->picture = delta;
  add (MMTP_RANK_KEY, 2, 1000, 9000, 7)->picture = key;
  add (MMTP_RANK_DROPPABLE, 2, 100, 9000, 1)->picture = leading;
  add (MMTP_RANK_DELTA, 2, 100, 9000, 6)->picture = delta;
  fail_if (mmtp_plan_needs (&plan, 1, 0));
  fail_unless (mmtp_plan_needs (&plan, 2, 0));
  fail_if (mmtp_plan_needs (&plan, 3, 0));
  fail_unless (mmtp_plan_needs (&plan, 3, 1));
  check ("-k-k");
}

GST_END_TEST;

/* The sender plans which of the waiting frames it sends. Two P-frames of
 * different GOPs wait. The key frame between them has already been sent, so it
 * is not in the plan. mmtp_plan_needs () must nevertheless find that the
 * second P-frame does not refer to the first one. */
GST_START_TEST (frame_of_a_later_group_needs_no_frame_of_an_earlier_one)
{
  const MmtpPicture delta = {.has_slots = TRUE,.uses = 1,.updates = 1 };

  add (MMTP_RANK_DELTA, 1, 9000, 5000, 2)->picture = delta;
  add (MMTP_RANK_DELTA, 2, 100, 9000, 6)->picture = delta;
  fail_if (mmtp_plan_needs (&plan, 1, 0));
  plan.n = 0;
  add (MMTP_RANK_DELTA, 1, 9000, 5000, 2);
  add (MMTP_RANK_DELTA, 1, 100, 9000, 1);
  add (MMTP_RANK_DELTA, 2, 100, 9000, 6);
  fail_unless (mmtp_plan_needs (&plan, 1, 0));
  fail_if (mmtp_plan_needs (&plan, 2, 0));
  plan.n = 0;
}

GST_END_TEST;

/* All frames have the same size, and no frame refers to another. The paths
 * cannot deliver all of them in time. The plan must leave out later frames, and
 * keep at least the first four. */
GST_START_TEST (equal_frames_are_kept_from_the_first_one)
{
  guint i;

  for (i = 0; i < MMTP_PLAN_FRAMES; i++)
    add (MMTP_RANK_KEY, i + 1, 1000, 4500 + 500 * i, 1);
  mmtp_plan_make (&plan);
  for (i = 0; i < 4; i++)
    fail_unless (plan.frames[i].is_kept);
  plan.n = 0;
}

GST_END_TEST;

/* If possible, a frame should arrive `margin` ns before its deadline. The test
 * makes two plans. In the first plan, all frames must be kept. In the second
 * plan, both B-frames must be left out, for different reasons:
 * - If the first B-frame were sent, the key frame after it might not arrive
 *   `margin` ns before its deadline. The plan adds up the bytes of this B-frame
 *   and of the key frame. It compares the sum with the bytes that the paths can
 *   deliver until `margin` ns before the deadline of the key frame. As a
 *   precaution, the bytes of the B-frame count twice, because the B-frame is
 *   less important than the key frame.
 * - The last B-frame would not arrive `margin` ns before its own deadline. */
GST_START_TEST (margin_is_kept_if_less_important_frames_can_be_left_out)
{
  add (MMTP_RANK_DROPPABLE, 1, 1000, 1500, 1)->safe_capacity = 500;
  add (MMTP_RANK_KEY, 2, 1000, 5000, 7)->safe_capacity = 3500;
  check ("kk");
  add (MMTP_RANK_DROPPABLE, 1, 1000, 1500, 1)->safe_capacity = 500;
  add (MMTP_RANK_KEY, 2, 1000, 3500, 7)->safe_capacity = 2500;
  add (MMTP_RANK_DELTA, 2, 1000, 4500, 6)->safe_capacity = 1500;
  add (MMTP_RANK_DROPPABLE, 2, 1000, 5500, 1)->safe_capacity = 2500;
  check ("-kk-");
}

GST_END_TEST;

/* --- random plans --------------------------------------------------------- */

#define RANDOM_PLANS 2000
#define RANDOM_FRAMES 10

static guint64
draw_below (guint seed, guint purpose, guint index, guint64 n)
{
  return seeded_draw_below (seeded_draw (seed, 0, purpose, index, 0), n);
}

/* Fills the plan with consecutive frames of a random stream. Each GOP has the
 * pattern I B B P B B P, and so on. The two B-frames after an I-frame are
 * leading pictures, which are shown before the I-frame. The paths deliver at a
 * constant rate, so the capacity grows by the same number of bytes from frame
 * to frame. */
static void
draw_plan (guint seed)
{
  const guint64 rate = 500 + draw_below (seed, 0, 0, 1500);
  guint64 capacity = draw_below (seed, 1, 0, 4000);
  guint start = draw_below (seed, 2, 0, 12), i;

  plan.n = 0;
  for (i = start; i < start + RANDOM_FRAMES; i++) {
    const guint place = i % 12;
    const MmtpRank rank = place == 0 ? MMTP_RANK_KEY :
        place % 3 == 0 ? MMTP_RANK_DELTA : MMTP_RANK_DROPPABLE;
    const guint64 work = (rank == MMTP_RANK_KEY ? 5000 :
        rank == MMTP_RANK_DELTA ? 2000 : 1000) + draw_below (seed, 3, i, 1000);
    MmtpPlanFrame *frame = add (rank, 1 + i / 12, work, capacity,
        rank == MMTP_RANK_DROPPABLE ? 1 : 1 + (12 - place) / 2.);

    frame->picture.is_leading = place == 1 || place == 2;
    capacity += rate;
  }
}

static gboolean
needs (const MmtpPlanFrame * frame, const MmtpPlanFrame * reference)
{
  return reference->rank >= MMTP_RANK_DELTA &&
      mmtp_picture_needs (&frame->picture, frame->group, reference->group);
}

GST_START_TEST (kept_frames_of_random_plans_are_in_time_and_decodable)
{
  guint seed, i, k, n_kept = 0;

  for (seed = 0; seed < RANDOM_PLANS; seed++) {
    guint64 work = 0;

    draw_plan (seed);
    mmtp_plan_make (&plan);
    for (i = 0; i < plan.n; i++) {
      if (!plan.frames[i].is_kept)
        continue;
      n_kept++;
      work += plan.frames[i].work;
      fail_unless (work <= plan.frames[i].capacity, "plan %u", seed);
      for (k = 0; k < i; k++)
        fail_unless (plan.frames[k].is_kept ||
            !needs (&plan.frames[i], &plan.frames[k]), "plan %u", seed);
    }
  }
  plan.n = 0;
  fail_unless (n_kept > RANDOM_PLANS);
}

GST_END_TEST;

static Suite *
mmtpplan_suite (void)
{
  Suite *s = suite_create ("mmtpplan");
  TCase *tc = tcase_create ("mmtpplan");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, all_frames_are_kept_if_they_are_in_time);
  tcase_add_test (tc, largest_frame_that_no_frame_needs_is_left_out);
  tcase_add_test (tc, left_out_reference_takes_its_group_with_it);
  tcase_add_test (tc, reference_with_the_lower_weight_is_left_out);
  tcase_add_test (tc, no_risk_is_taken_for_a_frame_of_low_weight);
  tcase_add_test (tc, left_out_picture_of_a_layer_takes_only_what_refers_to_it);
  tcase_add_test (tc,
      leading_picture_is_left_out_with_a_frame_before_the_key_frame);
  tcase_add_test (tc, frame_of_a_later_group_needs_no_frame_of_an_earlier_one);
  tcase_add_test (tc, equal_frames_are_kept_from_the_first_one);
  tcase_add_test (tc, margin_is_kept_if_less_important_frames_can_be_left_out);
  tcase_add_test (tc, kept_frames_of_random_plans_are_in_time_and_decodable);
  return s;
}

GST_CHECK_MAIN (mmtpplan);
