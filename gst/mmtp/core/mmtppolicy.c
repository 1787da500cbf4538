/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy of a sender with several paths. The first part of the file
 * determines which paths may exceed their congestion window. The second part
 * chooses the next packet of the stream and its path. The last part fills in
 * the statistics for the user. */

#include "mmtppolicy.h"

#include <math.h>

/* If a path carries less than this share of the stream's bytes (0 to 1), the
 * statistics say that the stream does not need the path. */
#define MIN_SHARE 0.001

/* Percentage of the paths' rates that is available for new packets. Keep-alives
 * and retransmissions need the rest. */
#define PUT_PERCENT 95
/* A percentage of the bytes that the paths can deliver before the first
 * deadline in the queue. If all waiting packets together need at most this
 * percentage, all of them are in time. They are then sent in the order of their
 * deadlines. A plan (mmtpplan.h), which chooses the frames that are left out,
 * is not needed. */
#define EASY_PERCENT 50
/* Percentage of the bytes that a single path can deliver before the first
 * deadline in the queue. If all waiting packets together need at most this
 * percentage, the path is sufficient (MmtpCandidate). The value was tuned with
 * the benchmark mmtpbond. Values of 12 to 80 hardly differ. */
#define SUFFICIENT_PERCENT 25
/* Percentage of the paths' rates that a plan (mmtpplan.h) uses for the packets
 * in the queue. Keep-alives and retransmissions need the rest. */
#define PLAN_PERCENT 90
/* Maximum age of a plan, in ns. A plan (mmtpplan.h) chooses which of the
 * waiting frames are sent. Within this time, the estimated rates of the paths
 * hardly change, so the plan is still valid. */
#define PLAN_TIME G_GUINT64_CONSTANT (2000000)
/* A plan (mmtpplan.h) leaves time for retransmissions: it sends important
 * pictures early enough that a lost packet of them can be sent again. A picture
 * is important if its weight is above 1. The weight is the expected number of
 * pictures that are lost if the picture is not sent, including the picture
 * itself. If a picture already waits for the retransmission of a packet, the
 * plan leaves no time for another retransmission.
 *
 * The time that the plan leaves is computed in two steps. The first step takes
 * the time that a retransmission needs, but at most 1/RETRANSMISSION_PART of
 * the initial delay (D0, the latency of the session). With more time for
 * retransmissions, too little would remain for sending a key frame, which is
 * much larger than the frames after it. The second step multiplies this time by
 * the probability that at least one packet of a large picture is lost. A large
 * picture has about PICTURE_PACKETS packets. The product is the time that the
 * plan leaves. */
#define PICTURE_PACKETS 50
#define RETRANSMISSION_PART 3
/* If no waiting frame refers to another frame, a plan skips the frames that
 * would arrive less than D0 / INDEPENDENT_MARGIN before their deadlines. D0 is
 * the initial delay, the latency of the session. The value was tuned with the
 * arena (tests/benchmarks/mmtparena.c). */
#define INDEPENDENT_MARGIN 12
/* Value for a group of pictures that has not been determined yet. Groups are
 * numbered from 1, and 0 means no group. */
#define UNKNOWN_GROUP G_MAXUINT64

void
mmtp_policy_init (MmtpPolicy * policy, const MmtpPaths * paths,
    const MmtpSendQueue * queue, MmtpSchedulerType scheduler)
{
  policy->paths = paths;
  policy->queue = queue;
  policy->scheduler = mmtp_schedulers[scheduler];
  policy->scheduler_state = g_malloc0 (policy->scheduler->state_size);
  policy->tried = policy->plan_time = policy->plan_next = 0;
  policy->plan.n = 0;
  policy->is_plan_used = FALSE;
}

void
mmtp_policy_clear (MmtpPolicy * policy)
{
  g_free (policy->scheduler_state);
}

/* --- how far a path is trusted ------------------------------------------- */

/* The reserve of a path is the number of bytes that may be in flight beyond the
 * congestion window. The following values say which paths may use their
 * reserve.
 *
 * Two kinds of paths may use it: paths that replace a stalled path, and paths
 * whose reports are missing. A path without reports may still deliver, because
 * its reports may be lost on the return path. All other paths are limited to
 * their congestion window. */
typedef enum
{
  /* At least one path still has room in its congestion window. Therefore no
   * path may exceed its window. */
  TRUST_NOBODY,
  /* All congestion windows are full, but no path counts as stalled. A path
   * whose report is overdue may exceed its window, because perhaps only the
   * report was lost. */
  TRUST_OVERDUE,
  /* Some paths have stalled and some still deliver. The paths that deliver may
   * exceed their congestion window, because they deliver a waiting packet
   * sooner than a stalled path does. */
  TRUST_DELIVERING,
  /* All paths have stalled. A path whose report is overdue may exceed its
   * congestion window, because no other path could deliver a packet sooner. */
  TRUST_ALL
} Trust;

static gboolean
is_trusted (const MmtpPolicy * policy, const MmtpPath * path, Trust trust)
{
  if (trust == TRUST_NOBODY || trust == TRUST_DELIVERING)
    return trust == TRUST_DELIVERING;
  return policy->paths->now >= mmtp_path_get_overdue (path);
}

static gboolean
has_room (const MmtpPolicy * policy, const MmtpPath * path, Trust trust)
{
  if (!mmtp_path_may_carry (path) || (path->is_stalled && trust < TRUST_ALL))
    return FALSE;
  return mmtp_path_has_window (path, path->data_size,
      is_trusted (policy, path, trust));
}

gboolean
mmtp_policy_has_room (const MmtpPolicy * policy, const MmtpPath * path)
{
  return has_room (policy, path, TRUST_NOBODY);
}

static Trust
get_trust (const MmtpPolicy * policy)
{
  gboolean delivers = FALSE, stalls = FALSE;
  guint i;

  for (i = 0; i < policy->paths->n; i++) {
    if (has_room (policy, policy->paths->all[i], TRUST_NOBODY))
      return TRUST_NOBODY;
    if (!mmtp_path_may_carry (policy->paths->all[i]))
      continue;
    if (policy->paths->all[i]->is_stalled)
      stalls = TRUE;
    else
      delivers = TRUE;
  }
  if (!delivers)
    return TRUST_ALL;
  return stalls ? TRUST_DELIVERING : TRUST_OVERDUE;
}

/* How much the sender knows about a path, from the least to the most. To choose
 * the next packet, the sender first considers only the paths about which it
 * knows most. It considers all paths if no waiting packet can be sent on one of
 * these paths now, and these paths may be too slow for all waiting packets. */
typedef enum
{
  KNOWN_JOINED,
  /* The sender has received a report about the path. */
  KNOWN_CONFIRMED,
  /* The transmission time of a packet on the path is known, because it was
   * measured or because the rate of the path was configured. */
  KNOWN_MEASURED
} Known;

static Known
get_known (const MmtpPath * path)
{
  if (!path->confirmed && !path->configured_rate)
    return KNOWN_JOINED;
  return mmtp_path_is_measured (path) ? KNOWN_MEASURED : KNOWN_CONFIRMED;
}

static Known
get_best_known (const MmtpPolicy * policy)
{
  Known best = KNOWN_JOINED;
  guint i;

  for (i = 0; i < policy->paths->n; i++)
    if (mmtp_path_may_carry (policy->paths->all[i]))
      best = MAX (best, get_known (policy->paths->all[i]));
  return best;
}

/* Returns whether the sender knows more about one path than about another. */
static gboolean
are_differently_known (const MmtpPolicy * policy)
{
  const Known best = get_best_known (policy);
  guint i;

  for (i = 0; i < policy->paths->n; i++)
    if (mmtp_path_may_carry (policy->paths->all[i])
        && get_known (policy->paths->all[i]) < best)
      return TRUE;
  return FALSE;
}

/* --- the stream ----------------------------------------------------------- */

/* Returns whether at least one path has capacity to spare. This is the case if
 * the congestion window of the path has room, and the application does not use
 * the full rate of the path. */
static gboolean
has_spare_path (const MmtpPolicy * policy)
{
  guint i;

  for (i = 0; i < policy->paths->n; i++)
    if (policy->paths->all[i]->limits.is_app_limited &&
        has_room (policy, policy->paths->all[i], TRUST_NOBODY))
      return TRUE;
  return FALSE;
}

/* Returns the estimated time in ns until a packet that is sent now arrives. If
 * several paths may carry packets, or if the rate of the path is configured,
 * the estimate contains a safety margin. The packet then almost certainly
 * arrives within this time.
 *
 * Otherwise, there is only one path, and the result is the expected delay,
 * without a safety margin. In this case, a packet that arrives slightly too
 * late does little harm: no other path could deliver it, and it delays no
 * packet of another path. */
static guint64
get_delay (const MmtpPolicy * policy, const MmtpPath * path,
    gboolean has_choice, gboolean is_spare)
{
  const guint64 now = policy->paths->now;

  if (has_choice)
    return mmtp_path_get_cautious_delay (path, now, is_spare);
  return path->configured_rate || mmtp_paths_are_several (policy->paths) ?
      mmtp_path_get_safe_delay (path, now) :
      mmtp_path_get_expected_delay (path, now);
}

/* Returns whether the path, which may carry a packet and is not in doubt, is
 * sufficient (MmtpCandidate). The sender must know the path well, and the path
 * must carry 1.25 times the bitrate of the stream. Without the second condition,
 * the other paths would be idle at the beginning of a stream that needs several
 * paths, so their rates would remain unknown. */
static gboolean
is_sufficient (const MmtpPolicy * policy, const MmtpPath * path)
{
  const MmtpPacket *head = mmtp_send_queue_get_head (policy->queue);
  const guint64 bit_rate = mmtp_send_queue_get_bit_rate (policy->queue);

  return head && bit_rate > 0 && bit_rate / 4 * 5 <= mmtp_path_get_rate (path)
      && !path->is_stalled && path->limits.is_app_limited
      && !path->configured_rate && get_known (path) == KNOWN_MEASURED
      && mmtp_send_queue_get_work (policy->queue) <=
      mmtp_paths_get_capacity_of (policy->paths, path,
      mmtp_send_queue_get_last_time (policy->queue, head), SUFFICIENT_PERCENT);
}

static guint
fill_candidates (const MmtpPolicy * policy, Trust trust,
    Known known, MmtpCandidate * candidates)
{
  gboolean has_choice = mmtp_paths_have_choice (policy->paths);
  gboolean is_spare = has_spare_path (policy);
  guint i;

  for (i = 0; i < policy->paths->n; i++) {
    const MmtpPath *path = policy->paths->all[i];

    candidates[i].may_carry = has_room (policy, policy->paths->all[i], trust) &&
        get_known (policy->paths->all[i]) >= known;
    candidates[i].token = path->token;
    candidates[i].backlog = has_choice && path->token > policy->paths->now ?
        mmtp_path_get_cost (path,
        mmtp_send_queue_get_bytes (policy->queue)) : 0;
    candidates[i].delay = get_delay (policy, path, has_choice, is_spare);
    candidates[i].is_doubtful = has_choice &&
        mmtp_path_is_in_doubt (path, policy->paths->now);
    candidates[i].is_sufficient = has_choice && candidates[i].may_carry &&
        !candidates[i].is_doubtful && is_sufficient (policy, path);
    candidates[i].is_configured = path->configured_rate != 0;
    candidates[i].rate = mmtp_path_get_rate (path);
  }
  return policy->paths->n;
}

gboolean
mmtp_policy_has_spare_rate (const MmtpPolicy * policy, gsize size, guint part)
{
  const MmtpPacket *tail = mmtp_send_queue_get_tail (policy->queue);

  return !tail || (mmtp_send_queue_get_work (policy->queue) +
      mmtp_send_packet_get_work (size)) * part <=
      mmtp_paths_get_capacity (policy->paths, mmtp_send_queue_get_last_time
      (policy->queue, tail), FALSE, PUT_PERCENT);
}

/* --- choosing the packet -------------------------------------------------- */

/* Returns TRUE if the paths may be too slow to deliver all waiting packets in
 * time. */
static gboolean
is_overloaded (const MmtpPolicy * policy)
{
  const MmtpPacket *head = mmtp_send_queue_get_head (policy->queue);

  return mmtp_paths_are_measurable (policy->paths) &&
      mmtp_send_queue_get_work (policy->queue) >
      mmtp_paths_get_capacity (policy->paths,
      mmtp_send_queue_get_last_time (policy->queue, head), FALSE, EASY_PERCENT);
}

/* The numbers of messages that arrived and of messages that were lost over
 * MMTP_LOSS_PERIOD. Older messages count less. */
typedef struct
{
  gdouble came, missing;
} Losses;

static void
add_losses (const MmtpPolicy * policy, const MmtpPath * path, Losses * losses)
{
  losses->came += mmtp_fading_get (&path->came, policy->paths->now,
      MMTP_LOSS_PERIOD);
  losses->missing += mmtp_fading_get (&path->missing, policy->paths->now,
      MMTP_LOSS_PERIOD);
}

/* Returns the loss rate, from 0 to 1. */
static gdouble
get_loss_rate (const Losses * losses)
{
  return losses->missing > 0 ?
      losses->missing / (losses->came + losses->missing) : 0;
}

/* Returns the loss rate of all usable paths together, from 0 to 1. */
static gdouble
get_total_loss (const MmtpPolicy * policy)
{
  Losses losses = { 0 };
  guint i;

  for (i = 0; i < policy->paths->n; i++)
    if (mmtp_path_is_usable (policy->paths->all[i]))
      add_losses (policy, policy->paths->all[i], &losses);
  return get_loss_rate (&losses);
}

/* Returns whether at least one frame of the plan may refer to another frame.
 * Only in this case should the plan keep time free for retransmissions. In a
 * stream that consists only of key frames, a lost frame harms no other frame.
 * Time that is kept free would then cost more frames than the retransmissions
 * save. */
static gboolean
has_references (const MmtpPlan * plan)
{
  guint i;

  for (i = 0; i < plan->n; i++)
    if (plan->frames[i].rank != MMTP_RANK_KEY)
      return TRUE;
  return FALSE;
}

/* Returns the minimum time in ns between the arrival of an important picture
 * and its deadline. The plan sends the picture early enough to leave this time,
 * so that a lost packet of the picture can be sent again. For this, a report
 * about the loss must reach the sender, and the retransmission must reach the
 * receiver. The result is therefore the time that a report needs to arrive,
 * plus the delay of the path.
 *
 * The result is lower if few packets are lost (see PICTURE_PACKETS). It is 0 if
 * no packet was lost recently, or if no frame of the plan refers to another
 * frame. */
static guint64
get_retransmission_time (const MmtpPolicy * policy)
{
  const guint64 max = mmtp_send_queue_get_delay (policy->queue) /
      RETRANSMISSION_PART;
  gdouble loss;
  guint64 delay;

  if (!has_references (&policy->plan))
    return 0;
  loss = get_total_loss (policy);
  if (loss <= 0)
    return 0;
  delay = mmtp_paths_get_min_delay (policy->paths);
  if (delay == MMTP_NEVER)
    return 0;
  delay += mmtp_paths_get_return_time (policy->paths);
  return MIN (delay, max) * (1 - pow (1 - loss, PICTURE_PACKETS));
}

/* Returns the time in ns by which the frame has to be complete. See `capacity`
 * in mmtpplan.h. */
static guint64
get_completion_time (const MmtpPlanFrame * frame, guint64 retransmission_time)
{
  if (frame->weight > 1 && !frame->is_retransmission)
    return frame->deadline - retransmission_time;
  return frame->deadline;
}

/* Returns whether the rate of a path that may carry packets is configured. */
static gboolean
has_configured_path (const MmtpPolicy * policy)
{
  guint i;

  for (i = 0; i < policy->paths->n; i++)
    if (mmtp_path_may_carry (policy->paths->all[i]) &&
        policy->paths->all[i]->configured_rate)
      return TRUE;
  return FALSE;
}

/* Returns the earliest time in ns at which a packet that is sent now could
 * arrive, over any path that may carry packets; MMTP_NEVER if there is none. */
static guint64
get_soonest_arrival (const MmtpPolicy * policy)
{
  const gboolean has_choice = mmtp_paths_have_choice (policy->paths);
  const gboolean is_spare = has_spare_path (policy);
  guint64 soonest = MMTP_NEVER;
  guint i;

  for (i = 0; i < policy->paths->n; i++) {
    const MmtpPath *path = policy->paths->all[i];

    if (mmtp_path_may_carry (path))
      soonest = MIN (soonest, policy->paths->now + get_delay (policy, path,
              has_choice, is_spare));
  }
  return soonest;
}

/* In an overload, a packet that arrives late takes the place of a packet that
 * would have been in time. Therefore a plan skips independent frames that would
 * arrive shortly before their deadlines (see INDEPENDENT_MARGIN). Returns the
 * earliest deadline in ns of the frames that are not skipped; 0 if no frame is
 * to be skipped.
 *
 * If the rate of a path is configured, the result is 0. The estimated delay of
 * such a path contains a large safety margin already. With a further margin,
 * fewer frames were in time in the experiment of the MMTP paper. */
static guint64
get_earliest_deadline (const MmtpPolicy * policy)
{
  const guint64 arrival = get_soonest_arrival (policy);

  if (arrival == MMTP_NEVER || has_configured_path (policy))
    return 0;
  return arrival +
      mmtp_send_queue_get_delay (policy->queue) / INDEPENDENT_MARGIN;
}

static void
make_plan (MmtpPolicy * policy)
{
  MmtpPlan *plan = &policy->plan;
  guint64 deadlines[2 * MMTP_PLAN_FRAMES], capacities[2 * MMTP_PLAN_FRAMES];
  guint64 retransmission_time;
  guint i;

  mmtp_send_queue_fill_plan (policy->queue, plan,
      get_earliest_deadline (policy));
  retransmission_time = get_retransmission_time (policy);
  for (i = 0; i < plan->n; i++) {
    deadlines[2 * i] = get_completion_time (&plan->frames[i],
        retransmission_time);
    deadlines[2 * i + 1] = deadlines[2 * i] - plan->frames[i].margin;
  }
  mmtp_paths_get_capacities (policy->paths, deadlines, capacities, 2 * plan->n,
      PLAN_PERCENT);
  for (i = 0; i < plan->n; i++) {
    plan->frames[i].capacity = capacities[2 * i];
    plan->frames[i].safe_capacity = capacities[2 * i + 1];
  }
  mmtp_plan_make (plan);
  policy->plan_time = policy->paths->now;
  policy->plan_next = mmtp_send_queue_get_next_number (policy->queue);
  policy->is_plan_used = FALSE;
}

/* Returns the first packet of the present plan that is in time if it arrives at
 * `arrival`. The plan is the list of frames that are to be sent. Returns NULL
 * if no packet is in time. Sets `is_exhausted` to TRUE if no packet of the plan
 * waits in the queue any more.
 *
 * Each frame has a deadline and a safety margin. A packet is in time if it
 * arrives at least this margin before the deadline of its frame. If no path can
 * deliver the packet earlier than `arrival`, no margin is required. */
static MmtpPacket *
find_in_plan (MmtpPolicy * policy, guint64 arrival, gboolean * is_exhausted)
{
  MmtpPlan *plan = &policy->plan;
  gboolean is_known = FALSE, is_soon = FALSE;
  guint i;

  *is_exhausted = TRUE;
  for (i = 0; i < plan->n; i++) {
    MmtpPlanFrame *frame = &plan->frames[i];
    MmtpPacket *packet = frame->is_kept ?
        mmtp_send_queue_find_planned (policy->queue, frame) : NULL;

    frame->is_kept = packet != NULL;
    if (!packet)
      continue;
    *is_exhausted = FALSE;
    if (frame->deadline >= arrival + frame->margin)
      return packet;
    if (frame->deadline < arrival)
      continue;
    if (!is_known)
      is_soon = get_soonest_arrival (policy) >= arrival;
    is_known = TRUE;
    if (is_soon)
      return packet;
  }
  return NULL;
}

/* The plan chooses the frames that are sent if the paths cannot deliver all
 * waiting frames in time. This function returns the first packet of the plan
 * that meets its deadline if it arrives at `arrival`. Returns NULL if there is
 * no such packet.
 *
 * The function keeps the present plan if this plan is not too old (PLAN_TIME)
 * and at least one of its packets is still in the queue. Otherwise it usually
 * makes a new plan before it searches for the packet. In one case, the new plan
 * would be equal to the present plan, so the present plan is kept: the present
 * plan was made at the current time, and since then no packet of the plan was
 * sent and no packet was queued. */
static MmtpPacket *
find_planned (MmtpPolicy * policy, guint64 arrival)
{
  const guint64 next = mmtp_send_queue_get_next_number (policy->queue);
  gboolean is_exhausted = TRUE;
  MmtpPacket *packet = NULL;

  if (policy->paths->now < policy->plan_time + PLAN_TIME)
    packet = find_in_plan (policy, arrival, &is_exhausted);
  if (!packet && is_exhausted && (policy->paths->now != policy->plan_time ||
          next != policy->plan_next || policy->is_plan_used)) {
    make_plan (policy);
    packet = find_in_plan (policy, arrival, &is_exhausted);
  }
  policy->is_plan_used |= packet != NULL;
  return packet;
}

/* Returns TRUE if the frame `i` of the plan refers to an earlier frame of the
 * plan, and packets of the earlier frame are still waiting in the queue. */
static gboolean
needs_waiting (MmtpPolicy * policy, guint i)
{
  MmtpPlan *plan = &policy->plan;
  guint k;

  for (k = 0; k < i; k++)
    if (mmtp_plan_needs (plan, i, k) &&
        mmtp_send_queue_find_planned (policy->queue, &plan->frames[k]))
      return TRUE;
  return FALSE;
}

/* The plan chooses the frames that are sent if the paths cannot deliver all of
 * them in time. It may be wrong, because the paths may be faster than
 * estimated. This function returns a packet that would be in time if it arrived
 * at `arrival`, even if the plan leaves out the frame of this packet. Returns
 * NULL if there is no such packet.
 *
 * The function first considers all waiting key frames, including those after
 * the last frame of the plan. It then considers the other reference pictures in
 * the plan. It ignores non-reference pictures, because no other picture needs
 * them. */
static MmtpPacket *
find_unplanned (MmtpPolicy * policy, guint64 arrival, guint64 late)
{
  MmtpPlan *plan = &policy->plan;
  MmtpPacket *packet = mmtp_send_queue_find (policy->queue, MMTP_RANK_KEY,
      arrival, late);
  MmtpRank rank;
  guint i;

  for (rank = MMTP_RANK_DELTA; !packet && rank >= MMTP_RANK_LAYER; rank--)
    for (i = 0; i < plan->n && !packet; i++)
      if (plan->frames[i].rank == rank && plan->frames[i].deadline >= arrival &&
          !needs_waiting (policy, i))
        packet = mmtp_send_queue_find_planned (policy->queue, &plan->frames[i]);
  return packet;
}

/* Returns the packet with the earliest deadline among all packets that would be
 * in time if they arrived at `arrival`. Packets of pictures that refer to a
 * lost picture are not considered. Returns NULL if there is no such packet. */
static MmtpPacket *
find_first (const MmtpPolicy * policy, guint64 arrival, guint64 late)
{
  MmtpPacket *first = NULL;
  MmtpRank rank;

  for (rank = MMTP_RANK_DROPPABLE; rank <= MMTP_RANK_KEY; rank++) {
    MmtpPacket *packet = mmtp_send_queue_find (policy->queue, rank, arrival,
        late);

    if (packet && (!first || mmtp_send_packet_compare (packet, first) < 0))
      first = packet;
  }
  return first;
}

/* Returns the packet that should be sent next among the packets that would be
 * in time if they arrived at `arrival`; NULL if there is none. Pictures that
 * refer to a lost picture are not considered.
 *
 * In a transport stream, some packets do not belong to a picture of the video,
 * such as sound and program tables. They have the rank MMTP_RANK_DATA and are
 * sent before all pictures, because they are only a small part of the stream.
 */
static MmtpPacket *
find_urgent (MmtpPolicy * policy, guint64 arrival, guint64 late)
{
  MmtpPacket *packet = mmtp_send_queue_find (policy->queue, MMTP_RANK_DATA,
      arrival, late);

  if (!packet && is_overloaded (policy)) {
    packet = find_planned (policy, arrival);
    if (!packet)
      packet = find_unplanned (policy, arrival, late);
  } else if (!packet) {
    packet = find_first (policy, arrival, late);
  }
  return packet;
}

/* Returns the number of the newest group of pictures with a late reference
 * picture; 0 if there is none. A picture is late if it would miss its deadline
 * even on the path with the minimum delay.
 *
 * `delay` is the delay of one of the paths that may carry packets. Usually, all
 * reference pictures meet their deadlines on this path. In this case the
 * function returns 0 and does not need the minimum delay of all paths. */
static guint64
get_late_group (const MmtpPolicy * policy, guint64 delay)
{
  const guint64 now = policy->paths->now;

  if (mmtp_send_queue_get_late_group (policy->queue, now + delay) == 0)
    return 0;
  delay = mmtp_paths_get_min_delay (policy->paths);
  return delay == MMTP_NEVER ? 0 :
      mmtp_send_queue_get_late_group (policy->queue, now + delay);
}

/* Returns the packet that should be sent next on `path`. `delay` is the
 * estimated one-way delay of the packet, including a safety margin. Returns
 * NULL if no packet is found, or if the packet does not fit into the messages
 * of the path.
 *
 * The function first looks for a packet whose picture does not refer to a lost
 * picture. If there is none, it looks for a packet whose picture refers to a
 * lost picture. In both cases, the packet must be in time even if it needs the
 * whole `delay`, which includes the safety margin. Otherwise it might be late,
 * and it would also delay all later packets of the path. */
static MmtpPacket *
find_packet (MmtpPolicy * policy, const MmtpPath * path, guint64 delay,
    guint64 late)
{
  const guint64 now = policy->paths->now;
  MmtpPacket *packet = find_urgent (policy, now + delay, late);

  if (!packet)
    packet = mmtp_send_queue_find (policy->queue, MMTP_RANK_BROKEN,
        now + delay, late);
  if (packet && mmtp_send_packet_get_message_size (packet) > path->max_size)
    return NULL;
  return packet;
}

/* --- choosing the path ---------------------------------------------------- */

/* Returns the next packet, and sets `path` to the path on which it has to be
 * sent. Returns NULL if no packet can be sent now.
 *
 * In section 4.4 of the MMTP paper, the scheduler chooses a path for the first
 * packet of the queue, and the path carries this packet. This function works in
 * another way. First, the scheduler chooses a path for the last packet of the
 * queue. Then the function chooses the packet that this path carries: the most
 * urgent packet that the path can deliver in time. It may be any packet of the
 * queue.
 *
 * A group of pictures is late if at least one reference picture of the group
 * cannot arrive in time. `late` is the number of the newest late group. If
 * `late` is UNKNOWN_GROUP, this function computes it with get_late_group() as
 * soon as the scheduler has chosen a path. */
static MmtpPacket *
choose (MmtpPolicy * policy, MmtpCandidate * candidates, guint n,
    guint64 * late, MmtpPath ** path)
{
  guint64 last = mmtp_send_queue_get_last_time (policy->queue,
      mmtp_send_queue_get_tail (policy->queue));
  MmtpPacket *packet;
  guint chosen;

  for (;;) {
    chosen = policy->scheduler->choose (policy->scheduler_state, candidates, n,
        policy->paths->now, last);
    if (chosen == MMTP_NO_CANDIDATE)
      return NULL;
    *path = policy->paths->all[chosen];
    if (*late == UNKNOWN_GROUP)
      *late = get_late_group (policy, candidates[chosen].delay);
    packet = find_packet (policy, *path,
        policy->scheduler->knows_delays ? candidates[chosen].delay : 0, *late);
    if (packet) {
      if (policy->scheduler->sent)
        policy->scheduler->sent (policy->scheduler_state, candidates, n, chosen,
            packet->size);
      return packet;
    }
    candidates[chosen].may_carry = FALSE;
  }
}

/* Returns whether the sender expects that the path carries the packet `head`
 * soon. It does not expect this if the path has stalled, or if the congestion
 * window is full and the report that would open it is overdue. */
static gboolean
is_expected_to_carry (const MmtpPolicy * policy, MmtpPath * path,
    const MmtpPacket * head)
{
  return mmtp_path_may_carry (path) && !path->is_stalled
      && mmtp_send_packet_get_message_size (head) <= path->max_size
      && (mmtp_policy_has_room (policy, path)
      || policy->paths->now < mmtp_path_get_overdue (path));
}

/* Returns TRUE if the paths about which the sender knows at least `known` can
 * easily deliver all waiting packets: before the deadline of the first packet,
 * with EASY_PERCENT of their rates. The packets should then wait for these
 * paths. A path that has just joined may be narrow: the ten packets of its
 * initial window need a second on a path of 100 kbit/s. */
static gboolean
are_known_enough (const MmtpPolicy * policy, Known known)
{
  const MmtpPacket *head = mmtp_send_queue_get_head (policy->queue);
  guint64 deadline, capacity = 0;
  guint i;

  if (!head)
    return FALSE;
  deadline = mmtp_send_queue_get_last_time (policy->queue, head);
  for (i = 0; i < policy->paths->n; i++) {
    MmtpPath *path = policy->paths->all[i];

    if (get_known (path) >= known && is_expected_to_carry (policy, path, head))
      capacity += mmtp_paths_get_capacity_of (policy->paths, path, deadline,
          EASY_PERCENT);
  }
  return mmtp_send_queue_get_work (policy->queue) <= capacity;
}

MmtpPacket *
mmtp_policy_choose (MmtpPolicy * policy, MmtpPath ** path)
{
  const Trust trust = get_trust (policy);
  const Known known = get_best_known (policy);
  MmtpCandidate candidates[MMTP_MAX_PATHS];
  guint64 late = UNKNOWN_GROUP;
  MmtpPacket *packet;
  guint n;

  n = fill_candidates (policy, trust, known, candidates);
  packet = choose (policy, candidates, n, &late, path);
  if (packet || known == KNOWN_JOINED || are_known_enough (policy, known))
    return packet;
  n = fill_candidates (policy, trust, KNOWN_JOINED, candidates);
  return choose (policy, candidates, n, &late, path);
}

guint64
mmtp_policy_next_wakeup (const MmtpPolicy * policy)
{
  const Trust trust = get_trust (policy);
  const gboolean are_different = are_differently_known (policy);
  guint64 wakeup = MMTP_NEVER;
  guint i;

  for (i = 0; policy->paths->is_ready && i < policy->paths->n; i++) {
    const MmtpPath *path = policy->paths->all[i];

    /* When a report becomes overdue, either the path may exceed its window, or
     * the packets need not wait for this path (are_known_enough()). */
    if ((trust > TRUST_NOBODY || are_different) &&
        mmtp_path_may_carry (policy->paths->all[i]) &&
        mmtp_path_get_overdue (path) > policy->paths->now)
      wakeup = MIN (wakeup, mmtp_path_get_overdue (path));
    /* `token` is the time at which the pacing allows the next packet on this
     * path. The sender must wake up at this time. If the time has passed, and
     * the sender has not looked for a packet since then, it must wake up
     * immediately. */
    if (has_room (policy, policy->paths->all[i], trust) &&
        path->token > policy->tried)
      wakeup = MIN (wakeup, path->token);
  }
  return wakeup;
}

/* --- statistics for the user ---------------------------------------------- */

static gboolean
is_too_slow (const MmtpPolicy * policy, const MmtpPath * path)
{
  return path->state == MMTP_PATH_CONTROL ||
      get_delay (policy, path, mmtp_paths_have_choice (policy->paths),
      has_spare_path (policy)) > mmtp_send_queue_get_delay (policy->queue);
}

/* Returns how many bytes of the stream all paths together carried in the recent
 * past. Older bytes count less. */
static gdouble
get_data_bytes (const MmtpPolicy * policy)
{
  gdouble sum = 0;
  guint i;

  for (i = 0; i < policy->paths->n; i++)
    sum += mmtp_fading_get (&policy->paths->all[i]->data_bytes,
        policy->paths->now, MMTP_SHARE_PERIOD);
  return sum;
}

/* Returns the path's share of all bytes of the stream that the paths carried in
 * the recent past, from 0 to 1; 0 if there is no stream.
 */
static gdouble
get_share (const MmtpPolicy * policy, const MmtpPath * path)
{
  const gdouble sum = get_data_bytes (policy);

  return sum < 1 ? 0 : mmtp_fading_get (&path->data_bytes,
      policy->paths->now, MMTP_SHARE_PERIOD) / sum;
}

static MmtpPathUse
get_use (const MmtpPolicy * policy, const MmtpPath * path)
{
  if (path->state == MMTP_PATH_GONE)
    return MMTP_USE_GONE;
  if (path->state == MMTP_PATH_OPENING || !policy->paths->is_ready)
    return MMTP_USE_JOINING;
  if (path->blocked)
    return MMTP_USE_BLOCKED;
  if (path->state == MMTP_PATH_SILENT || path->is_stalled)
    return MMTP_USE_SILENT;
  if (is_too_slow (policy, path))
    return MMTP_USE_TOO_SLOW;
  if (get_known (path) < get_best_known (policy))
    return MMTP_USE_PROBED;
  if (get_data_bytes (policy) >= 1 && get_share (policy, path) < MIN_SHARE)
    return MMTP_USE_SPARE;
  return MMTP_USE_CARRIES;
}

static gdouble
get_loss (const MmtpPolicy * policy, const MmtpPath * path)
{
  Losses losses = { 0 };

  add_losses (policy, path, &losses);
  return get_loss_rate (&losses);
}

void
mmtp_policy_fill_use (const MmtpPolicy * policy, const MmtpPath * path,
    MmtpSenderPathStats * stats)
{
  const guint64 progress = path->progress_time;

  stats->use = get_use (policy, path);
  stats->silence = stats->use == MMTP_USE_SILENT ?
      policy->paths->now - MIN (policy->paths->now, progress) : 0;
  stats->share = get_share (policy, path);
  stats->loss = get_loss (policy, path);
}
