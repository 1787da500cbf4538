/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpplan.h. */

#include "mmtpplan.h"

#include <string.h>

/* The capacity of the paths is only an estimate. If it is too high, a frame is
 * late because too many frames were sent before it. A frame with a high weight
 * must not be late because of earlier frames with lower weights. The bytes of
 * each such earlier frame are therefore multiplied by the high weight divided
 * by the lower weight. CAUTION is the maximum of this factor. The values in
 * this file were tuned with the arena (tests/benchmarks/mmtparena.c). */
#define CAUTION 2
/* The excess is the number of bytes that must be left out so that a frame is in
 * time. If more than USEFUL times the excess is left out, the bytes above this
 * limit do not count as a benefit. USEFUL is above 1 because an overload
 * usually continues, so the next frames need room, too. */
#define USEFUL 2
/* If no other frame refers to a frame, the benefit of leaving out this frame is
 * multiplied by this factor. A single missing frame disturbs a viewer less than
 * a missing reference picture, without which the video freezes. */
#define PREFERENCE 2

/* Set of the frames that are lost if one frame is not sent: this frame, and the
 * frames that refer to it. Element k is TRUE if the set contains frame k. */
typedef gboolean LostFrames[MMTP_PLAN_FRAMES];

/* Finds the kept frames that refer to the frame `i`, marks them in `lost` and
 * returns their number.
 *
 * This function is for codecs whose pictures do not say which stored reference
 * pictures they use. The references therefore follow from the groups of
 * pictures. */
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

/* Finds the kept frames that refer to the frame `i`, for a stream whose
 * pictures name the slots (stored reference pictures) that they use and update.
 * Returns the number of these frames. */
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

/* Finds the frames that are lost if the frame `i` is left out, including the
 * frame itself. Returns their number. */
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

/* Returns how many bytes have to be left out so that the frame `i` arrives in
 * time. If the result is 0 or negative, no bytes have to be left out.
 *
 * The result is the number of bytes that have to be sent until the end of the
 * frame `i`, minus the number of bytes that the paths can deliver in time. The
 * first number consists of the bytes of the frame `i` and of the kept frames
 * before it. If an earlier frame has a lower weight than the frame `i`, its
 * bytes are counted more than once: they are multiplied by the weight of the
 * frame `i` divided by the weight of the earlier frame, but at most by CAUTION.
 *
 * The frame `i` has to arrive `margin` ns before its deadline in two cases:
 * - A kept frame before it has a lower weight. That frame could be left out
 *   instead.
 * - The frame `i` is not a reference picture, and there is a kept frame before
 *   it. */
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

/* Returns how many bytes fewer have to be sent until the end of the frame
 * `late` if the frames in `lost` are left out. This is the number of bytes of
 * these frames. Frames after `late` are not counted, because they are sent
 * later and do not delay the frame `late`. */
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

/* Chooses a frame to leave out, because otherwise the frame with the index
 * `late` would miss its deadline. `excess` is the number of bytes that must be
 * left out so that this frame is in time.
 *
 * The candidates are the kept frames up to and including `late`. Returns the
 * candidate with the highest benefit. If several candidates have this benefit,
 * returns the last of them.
 *
 * The benefit of a candidate is the number of bytes that it frees (at most
 * USEFUL * excess), divided by its cost. The cost is the maximum of two
 * numbers: the number of frames that would be lost, and the weight of the
 * candidate. If no other frame refers to the candidate, the benefit is
 * multiplied by PREFERENCE. */
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

/* Makes the plan. The inner loop ends because each of its iterations leaves out
 * at least one frame. */
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
  /* Slots are the places where a decoder stores reference pictures. The key
   * frame of a group replaces the content of all slots. If `frame` is in a
   * later group than `earlier` and is not a leading picture, it therefore does
   * not need `earlier`. The loop below cannot replace this check: it visits
   * only frames of the plan, and a key frame that has been sent already is not
   * in the plan. */
  if (frame->group != earlier->group && !frame->picture.is_leading)
    return FALSE;
  for (k = reference + 1; k < i; k++)
    mmtp_picture_follow_slots (&plan->frames[k].picture, &wrong);
  return mmtp_picture_follow_slots (&frame->picture, &wrong);
}
