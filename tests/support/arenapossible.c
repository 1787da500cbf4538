/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes how many frames an ideal sender could deliver in time. The ideal
 * sender knows in advance when its links can carry data. arenapossible.h
 * describes the algorithm. */

#include "arenapossible.h"

#include <string.h>

#include "seededdraw.h"

#define MS G_GUINT64_CONSTANT (1000000)

/* --- supply --------------------------------------------------------------- */

static gint
compare_arrivals (gconstpointer a, gconstpointer b)
{
  const ArenaOpportunity *first = a, *second = b;

  if (first->arrival != second->arrival)
    return first->arrival < second->arrival ? -1 : 1;
  if (first->end != second->end)
    return first->end < second->end ? -1 : 1;
  return 0;
}

static const ArenaOpportunity *
get_opportunity (const ArenaSupply * supply, guint i)
{
  return &g_array_index (supply->opportunities, ArenaOpportunity, i);
}

ArenaSupply *
arena_supply_new (GArray * opportunities)
{
  ArenaSupply *supply = g_new0 (ArenaSupply, 1);
  guint i;

  g_array_sort (opportunities, compare_arrivals);
  supply->opportunities = opportunities;
  supply->bytes = g_new0 (guint64, opportunities->len + 1);
  for (i = 0; i < opportunities->len; i++)
    supply->bytes[i + 1] =
        supply->bytes[i] + get_opportunity (supply, i)->bytes;
  return supply;
}

void
arena_supply_free (ArenaSupply * supply)
{
  g_array_unref (supply->opportunities);
  g_free (supply->bytes);
  g_free (supply);
}

guint64
arena_supply_get_max_gap (const ArenaSupply * supply, guint64 from, guint64 to)
{
  guint64 last = from, max_gap = 0;
  guint i;

  for (i = 0; i < supply->opportunities->len; i++) {
    guint64 arrival = MIN (get_opportunity (supply, i)->arrival, to);

    if (arrival <= last)
      continue;
    max_gap = MAX (max_gap, arrival - last);
    last = arrival;
  }
  return MAX (max_gap, to - last);
}

/* Returns how many bytes the links could send before the time `due`. For this,
 * the function searches for the first opportunity that does not end before
 * `due`. `from` is the index of the opportunity at which the search begins.
 * Afterwards, `from` is the index at which the search ended. The next search
 * can begin there, because the caller asks for increasing times `due`. */
static guint64
get_bytes_before (const ArenaSupply * supply, guint64 due, guint * from)
{
  const ArenaOpportunity *opportunity;

  while (*from < supply->opportunities->len
      && get_opportunity (supply, *from)->end < due)
    (*from)++;
  if (*from == supply->opportunities->len)
    return supply->bytes[*from];
  opportunity = get_opportunity (supply, *from);
  if (opportunity->begin >= due)
    return supply->bytes[*from];
  return supply->bytes[*from] + (guint64) (opportunity->bytes *
      (gdouble) (due - opportunity->begin)
      / (opportunity->end - opportunity->begin));
}

/* Returns the time at which byte number `bytes` arrives, if the links of
 * `supply` always send as many bytes as they can. Returns G_MAXUINT64 if the
 * links cannot send so many bytes in the whole run. */
static guint64
get_arrival (const ArenaSupply * supply, guint64 bytes)
{
  guint low = 0, high = supply->opportunities->len;

  if (supply->bytes[high] < bytes)
    return G_MAXUINT64;
  /* An opportunity is a time at which the links can send some bytes. This
   * binary search sets `low` to the index of the opportunity at which byte
   * number `bytes` is sent. */
  while (low < high) {
    guint middle = (low + high) / 2;

    if (supply->bytes[middle + 1] >= bytes)
      high = middle;
    else
      low = middle + 1;
  }
  return get_opportunity (supply, low)->arrival;
}

/* --- schedules ------------------------------------------------------------ */

typedef struct
{
  const GArray *frames;
  const ArenaSupply *supply;
  const ArenaPossibleConfig *config;
  /* Size in bytes of each frame with all headers */
  guint64 *sizes;
  /* For each frame, the total number of bytes that the links could accept from
   * the start of the run until this frame is due. */
  guint64 *before;
  gboolean *keep;
  /* For each frame, an array of guint: the indices of the frames that refer to
   * this frame. */
  GArray **dependents;
} Plan;

static const ArenaFrame *
get_frame (const Plan * plan, guint i)
{
  return &g_array_index (plan->frames, ArenaFrame, i);
}

static void
find_dependents (Plan * plan, guint i)
{
  const ArenaFrame *frame = get_frame (plan, i);
  guint j;

  plan->dependents[i] = g_array_new (FALSE, FALSE, sizeof (guint));
  for (j = 0; j < frame->n_references; j++)
    g_array_append_val (plan->dependents[frame->references[j]], i);
}

static void
plan_init (Plan * plan, const GArray * frames, const ArenaSupply * supply,
    const ArenaPossibleConfig * config)
{
  guint i, from = 0;

  plan->frames = frames;
  plan->supply = supply;
  plan->config = config;
  plan->sizes = g_new (guint64, frames->len);
  plan->before = g_new (guint64, frames->len);
  plan->keep = g_new (gboolean, frames->len);
  plan->dependents = g_new (GArray *, frames->len);
  for (i = 0; i < frames->len; i++) {
    const ArenaFrame *frame = get_frame (plan, i);

    plan->sizes[i] = arena_frame_get_wire_size (frame, config->overhead);
    plan->before[i] = get_bytes_before (supply, config->origin + frame->due,
        &from);
    plan->keep[i] = TRUE;
    find_dependents (plan, i);
  }
}

static void
plan_clear (Plan * plan)
{
  guint i;

  for (i = 0; i < plan->frames->len; i++)
    g_array_unref (plan->dependents[i]);
  g_free (plan->dependents);
  g_free (plan->sizes);
  g_free (plan->before);
  g_free (plan->keep);
}

typedef struct
{
  /* Index of the first frame of the busy period. During a busy period, the
   * links always have data to send. The frames before the busy period do not
   * influence the frames in it, so find_late () begins with this frame. */
  guint frame;
  /* Total number of bytes that the links could send from the start until the
   * frame `frame` is due. */
  guint64 bytes;
} BusyPeriod;

/* Computes the arrival times of the frames that `plan` keeps, beginning at the
 * frame `busy->frame`. Returns the index of the first late frame, which is the
 * first frame that arrives after its deadline. If no frame is late, returns the
 * number of frames.
 *
 * A busy period is a time in which the links always have data to send. The
 * caller sets `busy` to the busy period at which the computation begins. The
 * function changes `busy` to the busy period in which the first late frame is
 * sent. */
static guint
find_late (const Plan * plan, BusyPeriod * busy)
{
  guint64 bytes = busy->bytes;
  guint i;

  for (i = busy->frame; i < plan->frames->len; i++) {
    guint64 latest = plan->config->origin + get_frame (plan, i)->due +
        plan->config->deadline;

    if (!plan->keep[i])
      continue;
    if (bytes <= plan->before[i]) {
      bytes = plan->before[i];
      busy->frame = i;
      busy->bytes = bytes;
    }
    bytes += plan->sizes[i];
    if (get_arrival (plan->supply, bytes) > latest)
      return i;
  }
  return i;
}

static gboolean
is_feasible (const Plan * plan)
{
  BusyPeriod busy = { 0, 0 };

  return find_late (plan, &busy) == plan->frames->len;
}

/* --- the greedy algorithm ------------------------------------------------- */

/* Appends the index `frame` to `closure`, and the indices of all frames that
 * could not be decoded without this frame, because they refer to it directly or
 * indirectly. Frames that `plan` has already dropped are left out. */
static void
add_closure (const Plan * plan, guint frame, gboolean * seen, GArray * closure)
{
  const GArray *dependents = plan->dependents[frame];
  guint i;

  seen[frame] = TRUE;
  g_array_append_val (closure, frame);
  for (i = 0; i < dependents->len; i++) {
    guint next = g_array_index (dependents, guint, i);

    if (plan->keep[next] && !seen[next])
      add_closure (plan, next, seen, closure);
  }
}

/* Returns how useful it would be to drop the frames whose indices are in
 * `closure`. These are one frame and all frames that cannot be decoded without
 * this frame. The purpose of the drop is that the frame `late` is no longer
 * late.
 *
 * The value is the number of saved bytes, divided by the number of frames in
 * `closure`. The saved bytes are the bytes of the frames in `closure` that are
 * sent before `late`. If `late` itself is in `closure`, its bytes are saved,
 * too. The bytes of frames after `late` do not count as saved, because these
 * frames do not delay `late`. The number of frames, however, includes the
 * frames after `late`. */
static gdouble
get_value (const Plan * plan, const GArray * closure, guint late)
{
  guint64 freed = 0;
  guint i;

  for (i = 0; i < closure->len; i++) {
    guint frame = g_array_index (closure, guint, i);

    if (frame <= late)
      freed += plan->sizes[frame];
  }
  return (gdouble) freed / closure->len;
}

static void
drop_best (Plan * plan, guint first, guint late)
{
  gboolean *seen = g_new0 (gboolean, plan->frames->len);
  GArray *best = g_array_new (FALSE, FALSE, sizeof (guint));
  GArray *closure = g_array_new (FALSE, FALSE, sizeof (guint));
  gdouble best_value = -1;
  guint i, j;

  for (i = first; i <= late; i++) {
    gdouble value;

    if (!plan->keep[i])
      continue;
    g_array_set_size (closure, 0);
    add_closure (plan, i, seen, closure);
    for (j = 0; j < closure->len; j++)
      seen[g_array_index (closure, guint, j)] = FALSE;
    value = get_value (plan, closure, late);
    if (value > best_value) {
      GArray *swapped = best;

      best_value = value;
      best = closure;
      closure = swapped;
    }
  }
  for (i = 0; i < best->len; i++)
    plan->keep[g_array_index (best, guint, i)] = FALSE;
  g_array_unref (best);
  g_array_unref (closure);
  g_free (seen);
}

static gboolean
has_references (const Plan * plan, guint i)
{
  const ArenaFrame *frame = get_frame (plan, i);
  guint j;

  for (j = 0; j < frame->n_references; j++) {
    if (!plan->keep[frame->references[j]])
      return FALSE;
  }
  return TRUE;
}

/* Tries to send each dropped frame once more. The second attempt can succeed,
 * for example in this case: frame X was dropped to make room for frame Y, and Y
 * was dropped later. */
static void
take_back (Plan * plan)
{
  guint i;

  for (i = 0; i < plan->frames->len; i++) {
    if (plan->keep[i] || !has_references (plan, i))
      continue;
    plan->keep[i] = TRUE;
    plan->keep[i] = is_feasible (plan);
  }
}

static guint
count_kept (const Plan * plan)
{
  guint i, sum = 0;

  for (i = 0; i < plan->frames->len; i++)
    sum += plan->keep[i];
  return sum;
}

guint
arena_possible_count (const GArray * frames, const ArenaSupply * supply,
    const ArenaPossibleConfig * config, guint * first_choice)
{
  BusyPeriod busy = { 0, 0 };
  guint late, sum;
  Plan plan;

  plan_init (&plan, frames, supply, config);
  /* Each iteration finds the first late frame, `late`, and drops a frame so
   * that `late` may arrive in time. `busy` is the busy period in which `late`
   * is sent. A busy period is a time in which the links always have data to
   * send. The dropped frame is a frame of the busy period `busy`. The later
   * frames that refer to the dropped frame are dropped with it.
   *
   * The frames before this busy period arrive in time, and the drop does not
   * delay them. The next call of find_late () therefore begins with the first
   * frame of the busy period. */
  while ((late = find_late (&plan, &busy)) < frames->len)
    drop_best (&plan, busy.frame, late);
  if (first_choice)
    *first_choice = count_kept (&plan);
  take_back (&plan);
  sum = count_kept (&plan);
  plan_clear (&plan);
  return sum;
}

/* --- the exact algorithm -------------------------------------------------- */

static gboolean
is_closed (const Plan * plan)
{
  guint i;

  for (i = 0; i < plan->frames->len; i++) {
    if (plan->keep[i] && !has_references (plan, i))
      return FALSE;
  }
  return TRUE;
}

guint
arena_possible_count_all (const GArray * frames, const ArenaSupply * supply,
    const ArenaPossibleConfig * config)
{
  guint set, i, best = 0;
  Plan plan;

  g_assert_cmpuint (frames->len, <=, 20);
  plan_init (&plan, frames, supply, config);
  for (set = 0; set < 1U << frames->len; set++) {
    for (i = 0; i < frames->len; i++)
      plan.keep[i] = set >> i & 1;
    if (count_kept (&plan) > best && is_closed (&plan) && is_feasible (&plan))
      best = count_kept (&plan);
  }
  plan_clear (&plan);
  return best;
}

/* --- comparison of both algorithms ---------------------------------------- */

static guint64
draw_below (guint64 seed, guint32 purpose, guint64 index, guint64 n)
{
  return seeded_draw_below (seeded_draw (seed, 0, purpose, index, 0), n);
}

static GArray *
make_frames (guint64 seed, guint n)
{
  static const guint sizes[] = { 40000, 20000, 8000 };
  GArray *frames = g_array_new (FALSE, FALSE, sizeof (ArenaFrame));
  guint i, period = 3 + draw_below (seed, 1, 0, 6);

  for (i = 0; i < n; i++) {
    ArenaFrame frame = { 0 };

    frame.type = i % period == 0 ? ARENA_TYPE_I :
        i % 3 == 1 ? ARENA_TYPE_P : ARENA_TYPE_B;
    frame.size = 1000 + draw_below (seed, 2, i, sizes[frame.type]);
    frame.due = i * 40 * MS;
    g_array_append_val (frames, frame);
  }
  arena_frames_set_references (frames);
  return frames;
}

/* Returns a random link for a random test of the algorithm. The link is
 * sometimes interrupted for at least 200 ms. It is too slow for the whole
 * stream, so some frames must be dropped. */
static ArenaSupply *
make_supply (guint64 seed)
{
  GArray *opportunities = g_array_new (FALSE, FALSE, sizeof (ArenaOpportunity));
  guint spread = 2 + draw_below (seed, 3, 0, 6);
  guint64 time = 0;
  guint i;

  for (i = 0; time < 2000 * MS; i++) {
    ArenaOpportunity opportunity = { 0 };

    time += draw_below (seed, 4, i, spread + 1) * MS;
    if (draw_below (seed, 5, i, 60) == 0)
      time += 200 * MS;
    opportunity.begin = opportunity.end = time;
    opportunity.arrival = time + 20 * MS;
    opportunity.bytes = 1500;
    g_array_append_val (opportunities, opportunity);
  }
  return arena_supply_new (opportunities);
}

gdouble
arena_possible_check (guint n_instances, guint64 seed, gdouble * worst)
{
  static const ArenaPossibleConfig config = { 40 * MS, 200 * MS, 52 };
  gdouble sum = 0;
  guint i;

  *worst = 1;
  for (i = 0; i < n_instances; i++) {
    GArray *frames = make_frames (seed + i, 4 + i % 9);
    ArenaSupply *supply = make_supply (seed + i);
    guint all = arena_possible_count_all (frames, supply, &config);
    guint greedy = arena_possible_count (frames, supply, &config, NULL);
    gdouble share = all ? (gdouble) greedy / all : 1 + greedy;

    sum += share;
    /* `share` is the result of the greedy algorithm divided by the optimum. It
     * cannot be above 1, unless the greedy algorithm has a bug. If any share is
     * above 1, `*worst` becomes the largest share, so that the caller notices
     * the bug. Otherwise `*worst` becomes the smallest share. */
    if (share > 1 || *worst > 1)
      *worst = MAX (share, *worst);
    else
      *worst = MIN (share, *worst);
    arena_supply_free (supply);
    g_array_unref (frames);
  }
  return sum / n_instances;
}
