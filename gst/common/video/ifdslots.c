/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of ifdslots.h. Selects the frame to drop in streams whose
 * frames say which slots of the decoder they use and update. In these streams
 * it is known exactly which frames depend on each other.
 */

#include "ifdslots.h"

/* The effect of dropping a frame */
typedef struct
{
  const IfdSlotFrame *frame;
  /* number of lost frames: the dropped frame, and the frames that need it */
  guint n_lost;
  /* The damage that dropping `frame` would do to later frames. It is a set of
   * decoder slots, such as buffers of reference frames. These slots would have
   * wrong contents after a decoder has decoded all frames that are now in the
   * queue. Slots that later frames will probably not use are left out. */
  guint32 damage;
} Cost;

/* Returns the set of decoder slots (for example buffers of reference frames)
 * that have wrong contents after a frame. `wrong` is the set of slots that have
 * wrong contents before this frame. `is_lost` is TRUE if the frame was dropped,
 * and FALSE if it was sent. */
static guint32
follow (guint32 wrong, const IfdSlotFrame * frame, gboolean is_lost)
{
  if (!frame->has_slots)
    return wrong;
  return is_lost ? wrong | frame->updates : wrong & ~frame->updates;
}

guint32
ifd_slots_decode (guint32 wrong, const IfdSlotFrame * frames, guint n,
    guint without, gboolean lost[IFD_SLOTS_MAX_FRAMES])
{
  guint i;

  for (i = 0; i < n; i++) {
    const IfdSlotFrame *frame = &frames[i];

    wrong |= frame->missed;
    lost[i] = i == without || (frame->has_slots && (frame->uses & wrong));
    wrong = follow (wrong, frame, lost[i]);
  }
  return wrong;
}

static Cost
get_cost (guint32 wrong, guint32 used, const IfdSlotFrame * frames, guint n,
    guint without)
{
  gboolean lost[IFD_SLOTS_MAX_FRAMES], kept[IFD_SLOTS_MAX_FRAMES];
  const guint32 before = ifd_slots_decode (wrong, frames, n, n, kept);
  const guint32 after = ifd_slots_decode (wrong, frames, n, without, lost);
  Cost cost = { &frames[without], 0, 0 };
  gboolean loses_reference = FALSE;
  guint i;

  for (i = 0; i < n; i++) {
    if (!lost[i] || kept[i])
      continue;
    cost.n_lost++;
    loses_reference |= !frames[i].is_droppable;
  }
  if (loses_reference)
    cost.damage = after & ~before & used;
  return cost;
}

static guint
count_slots (guint32 slots)
{
  guint n = 0;

  for (; slots > 0; slots &= slots - 1)
    n++;
  return n;
}

/* Compares the costs of dropping two frames. Frames that will arrive later need
 * neither of them for decoding. `a` is the newer frame. Returns whether
 * dropping `a` is better than dropping `b`. */
static gboolean
is_cheaper_harmless (const Cost * a, const Cost * b)
{
  if (a->frame->is_key != b->frame->is_key)
    return b->frame->is_key;
  if (a->frame->layer != b->frame->layer)
    return a->frame->layer > b->frame->layer;
  if (a->frame->is_droppable != b->frame->is_droppable)
    return a->frame->is_droppable;
  if (a->n_lost != b->n_lost)
    return a->n_lost < b->n_lost;
  /* The two frames have equal types, equal layers and equal numbers of lost
   * frames. If they are I-frames, the older one, which belongs to `b`, is
   * dropped. Otherwise, the larger one is dropped. */
  return !a->frame->is_key && a->frame->size > b->frame->size;
}

/* Compares the costs of dropping two frames, both of which are needed for
 * decoding frames that will arrive later. `a` is the newer frame. Returns
 * whether dropping `a` is better than dropping `b`. If the costs are equal, the
 * result is TRUE. */
static gboolean
is_cheaper_harmful (const Cost * a, const Cost * b)
{
  const guint n_a = count_slots (a->damage), n_b = count_slots (b->damage);

  if (a->frame->layer != b->frame->layer)
    return a->frame->layer > b->frame->layer;
  if (a->n_lost != b->n_lost)
    return a->n_lost < b->n_lost;
  return n_a <= n_b;
}

/* `a` and `b` describe the costs of dropping two frames. `a` belongs to the
 * newer frame. Returns TRUE if it is better to drop the frame of `a`.
 */
static gboolean
is_cheaper (const Cost * a, const Cost * b)
{
  if ((a->damage == 0) != (b->damage == 0))
    return a->damage == 0;
  return a->damage == 0 ? is_cheaper_harmless (a, b) :
      is_cheaper_harmful (a, b);
}

static const gchar *
get_rule (const Cost * cost)
{
  if (cost->damage > 0)
    return "each frame is needed, and the latest one of the highest layer goes";
  if (cost->frame->is_droppable)
    return "the largest frame of the highest layer that no frame needs goes";
  return "no frame that is sent or still to come needs it";
}

guint
ifd_slots_find_victim (guint32 wrong, guint32 used,
    const IfdSlotFrame * frames, guint n, const gchar ** rule)
{
  guint i, victim = n - 1;
  Cost best = { NULL, };

  for (i = 0; i < n; i++) {
    Cost cost;

    if (!frames[i].has_slots)
      continue;
    cost = get_cost (wrong, used, frames, n, i);
    if (best.frame && !is_cheaper (&cost, &best))
      continue;
    best = cost;
    victim = i;
  }
  *rule = get_rule (&best);
  return victim;
}
