/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpplan.h. */

#include "mmtpplan.h"

#include <string.h>

/* CAUTION is the maximum of a factor that gives important frames a safety
 * margin. The margin is needed because the capacity of the paths is only an
 * estimate. If the paths are slower than estimated, a frame is late because of
 * the bytes that were sent before it. An important frame must not be late
 * because of less important ones. The importance of a frame is its weight, the
 * number of pictures that are lost without it.
 *
 * A plan, which chooses the frames to send, checks whether each frame is in
 * time. For this check, the plan adds up the bytes of all earlier frames. If an
 * earlier frame has a lower weight than the checked frame, the bytes of the
 * earlier frame are multiplied by the factor. The factor is the higher weight
 * divided by the lower weight, but at most CAUTION.
 *
 * The values in this file were tuned with the arena, a benchmark with simulated
 * links (tests/benchmarks/mmtparena.c). */
#define CAUTION 2
/* A plan leaves out frames so that other frames are in time. Suppose that a
 * certain frame would be late. The excess is the number of bytes that must be
 * left out so that this frame is in time. A candidate is a frame that the plan
 * can leave out. The benefit of a candidate grows with the number of bytes that
 * are saved without it.
 *
 * A large candidate may save far more bytes than the excess. Therefore the
 * saved bytes count towards the benefit only up to a limit, which is USEFUL
 * times the excess. USEFUL is above 1 because an overload usually continues:
 * the next frames would be late, too, and saved bytes above the excess then
 * help these frames. */
#define USEFUL 2
/* If some frame would be late, the sender leaves out the frame whose omission
 * has the highest benefit. If no other frame refers to the omitted frame, the
 * benefit is multiplied by this factor. The reason is that a single missing
 * frame disturbs a viewer less than a missing reference picture, without which
 * the video freezes. */
#define PREFERENCE 2

/* The frames that are lost if the plan leaves out a certain frame: this frame
 * and all frames that refer to it. Element k is TRUE if frame k of the plan is
 * lost. */
typedef gboolean LostFrames[MMTP_PLAN_FRAMES];

/* The plan says which waiting frames are sent and which are left out. A kept
 * frame is a frame that the plan has not left out yet. This function finds the
 * kept frames that refer to the frame `i`. For each frame that it finds, it
 * sets the corresponding element of `lost` to TRUE. Returns the number of these
 * frames.
 *
 * This function is for codecs whose pictures do not name the stored reference
 * pictures that they use. It derives the references from the groups of
 * pictures: a frame needs the earlier reference pictures of its group. */
static guint
find_group (const MmtpPlan * plan, guint i, LostFrames lost)
{
  const MmtpPlanFrame *reference = &plan->frames[i];
  const guint64 group =
      mmtp_picture_get_needing_group (&reference->picture, reference->group);
  guint n = 0, k;

  for (k = i + 1; k < plan->n && plan->frames[k].group <= group + 1; k++) {
    const MmtpPlanFrame *frame = &plan->frames[k];

    lost[k] = frame->is_kept &&
        mmtp_picture_needs (&frame->picture, frame->group, group);
    n += lost[k];
  }
  return n;
}

/* The plan says which waiting frames are sent and which are left out. A kept
 * frame is a frame that the plan has not left out yet. This function finds the
 * kept frames that refer to the frame `i`. For each frame that it finds, it
 * sets the corresponding element of `lost` to TRUE. Returns the number of these
 * frames.
 *
 * This function is for streams whose pictures name the slots that they use and
 * update. A slot is a place in which a decoder stores a reference picture. */
static guint
find_by_slots (const MmtpPlan * plan, guint i, LostFrames lost)
{
  guint32 wrong = plan->frames[i].picture.updates;
  guint n = 0, k;

  for (k = i + 1; k < plan->n; k++) {
    const MmtpPlanFrame *frame = &plan->frames[k];

    lost[k] = mmtp_picture_follow_slots (&frame->picture, &wrong) &&
        frame->is_kept;
    n += lost[k];
  }
  return n;
}

/* Finds the frames that are lost if the frame `i` is left out: this frame, and
 * all kept frames that refer to it. Marks them in `lost` and returns their
 * number. */
static guint
find_lost (const MmtpPlan * plan, guint i, LostFrames lost)
{
  memset (lost, 0, sizeof (LostFrames));
  lost[i] = TRUE;
  if (!mmtp_rank_is_reference (plan->frames[i].rank))
    return 1;
  return 1 + (plan->frames[i].picture.has_slots ? find_by_slots (plan, i,
          lost) : find_group (plan, i, lost));
}

static void
leave_out (MmtpPlan * plan, guint i)
{
  LostFrames lost;
  guint k;

  find_lost (plan, i, lost);
  for (k = i; k < plan->n; k++)
    if (lost[k])
      plan->frames[k].is_kept = FALSE;
}

/* Returns the excess of the frame `i`, which is the number of bytes that must
 * be left out so that this frame arrives in time. If the result is 0 or
 * negative, nothing has to be left out.
 *
 * The excess is a difference of two numbers: the bytes that have to be sent
 * until the frame `i` is complete, minus the bytes that the paths can deliver
 * in time.
 *
 * The first number is the sum of the bytes of the frame `i` and of all kept
 * frames before it. Kept frames are those that the plan sends. The weight of a
 * frame is the expected number of pictures that are lost without this frame. If
 * a kept frame has a lower weight than the frame `i`, the bytes of the kept
 * frame are multiplied by a factor, as a precaution. The factor is the weight
 * of the frame `i` divided by the weight of the kept frame, but at most
 * CAUTION.
 *
 * The second number is usually `capacity` of the frame `i`: the bytes that the
 * paths can deliver from now until the frame has to be complete (see
 * mmtpplan.h). In two cases, the second number is `safe_capacity`: the bytes
 * that the paths can deliver from now until `margin` ns before this time. The
 * frame `i` then arrives with this safety margin. The two cases are:
 * - A kept frame before the frame `i` has a lower weight than the frame `i`.
 *   The plan can leave out that kept frame to gain the time for the margin.
 * - The frame `i` is not a reference picture, and there is a kept frame before
 *   the frame `i`. */
static gdouble
get_excess (const MmtpPlan * plan, guint i)
{
  const MmtpPlanFrame *frame = &plan->frames[i];
  gboolean needs_margin = FALSE;
  gdouble work = frame->work;
  guint k;

  for (k = 0; k < i; k++) {
    const MmtpPlanFrame *earlier = &plan->frames[k];

    if (!earlier->is_kept)
      continue;
    work += earlier->work * CLAMP (frame->weight / earlier->weight, 1, CAUTION);
    if (earlier->weight < frame->weight
        || !mmtp_rank_is_reference (frame->rank))
      needs_margin = TRUE;
  }
  return work - (needs_margin ? frame->safe_capacity : frame->capacity);
}

/* Returns how many bytes are saved for the frame `late` if the frames in `lost`
 * are left out. The frame `late` would otherwise miss its deadline. The result
 * is the sum of the bytes of the frames in `lost` up to and including `late`.
 * Frames that are sent after the frame `late` are not counted, because they do
 * not delay it. */
static gdouble
get_freed (const MmtpPlan * plan, const LostFrames lost, guint late)
{
  guint64 freed = 0;
  guint k;

  for (k = 0; k <= late; k++)
    if (lost[k])
      freed += plan->frames[k].work;
  return freed;
}

/* Called when the frame with the index `late` would miss its deadline. To
 * prevent this, the plan must leave out one more frame. This function chooses
 * this frame and returns its index. `excess` is the number of bytes that must
 * be left out so that the frame `late` is in time.
 *
 * The candidates are the frames up to and including `late` that the plan has
 * not left out yet. The function chooses the candidate with the highest
 * benefit. If several candidates have the highest benefit, it chooses the last
 * of them.
 *
 * The benefit of a candidate is the number of bytes that are saved if the
 * candidate is left out, divided by a cost. The number of saved bytes is
 * limited to the product of USEFUL and `excess`. The cost is the greater one of
 * two numbers:
 * - the number of frames in the plan that are lost if the candidate is left out
 * - the weight of the candidate, which is the expected number of pictures that
 *   are lost without it
 *
 * If no other frame refers to the candidate, its benefit is multiplied by
 * PREFERENCE. */
static guint
find_cheapest (const MmtpPlan * plan, guint late, gdouble excess)
{
  LostFrames lost;
  gdouble best = -1;
  guint cheapest = late, i;

  for (i = 0; i <= late; i++) {
    gdouble weight, benefit;

    if (!plan->frames[i].is_kept)
      continue;
    weight = find_lost (plan, i, lost);
    weight = MAX (weight, plan->frames[i].weight);
    benefit = MIN (get_freed (plan, lost, late), USEFUL * excess) / weight;
    if (plan->frames[i].rank == MMTP_RANK_DROPPABLE)
      benefit *= PREFERENCE;
    if (benefit >= best) {
      best = benefit;
      cheapest = i;
    }
  }
  return cheapest;
}

/* Decides which frames are sent. At first, all frames are kept. If a kept frame
 * would be late, the inner loop leaves out frames until this frame is in time,
 * or until this frame itself is left out. Each iteration leaves out at least
 * one frame, so the loop ends. */
void
mmtp_plan_make (MmtpPlan * plan)
{
  gdouble excess;
  guint i;

  for (i = 0; i < plan->n; i++)
    plan->frames[i].is_kept = TRUE;
  for (i = 0; i < plan->n; i++)
    while (plan->frames[i].is_kept && (excess = get_excess (plan, i)) > 0)
      leave_out (plan, find_cheapest (plan, i, excess));
}

gboolean
mmtp_plan_needs (const MmtpPlan * plan, guint i, guint reference)
{
  const MmtpPlanFrame *frame = &plan->frames[i];
  const MmtpPlanFrame *earlier = &plan->frames[reference];
  guint32 wrong = earlier->picture.updates;
  guint k;

  if (!mmtp_rank_is_reference (earlier->rank))
    return FALSE;
  if (!earlier->picture.has_slots)
    return mmtp_picture_needs (&frame->picture, frame->group,
        mmtp_picture_get_needing_group (&earlier->picture, earlier->group));
  /* This code checks whether `frame` needs the older frame `earlier`. A slot is
   * a place in which a decoder stores a reference picture. A key frame begins a
   * group of pictures and replaces the content of all slots. If the two frames
   * belong to different groups, `frame` therefore does not need `earlier`. Only
   * leading pictures are an exception. They follow the key frame of their
   * group, but are shown before it, and may refer to the previous group.
   *
   * The loop below cannot replace the comparison of the groups. It visits only
   * frames of the plan, and a key frame that was sent already is not in the
   * plan. */
  if (frame->group != earlier->group && !frame->picture.is_leading)
    return FALSE;
  for (k = reference + 1; k < i; k++)
    mmtp_picture_follow_slots (&plan->frames[k].picture, &wrong);
  return mmtp_picture_follow_slots (&frame->picture, &wrong);
}
