/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy of a bond; see the header. First what a path may do at all, then how
 * far it is trusted, then the choice for the stream, for what was lost and for
 * control messages, and last what a user is told of it.
 */

#include "mmtppolicy.h"

/* A path that gets less of the stream is called not needed. */
#define MIN_SHARE 0.001

/* Keep-alives and retransmissions take their part of the rate. */
#define PUT_PERCENT 95
/* What is put is refused where so much more than the paths seem to carry would
 * wait: an estimate that is too low must not cost frames, and what is late in
 * the end is given up when that is known. */
#define LENIENT_PERCENT 400
/* Percent of D0 that a frame has to spare as long as it goes before more
 * important ones: enough for a key frame, which is several times as large. */
#define DROPPABLE_SLACK 70
#define DELTA_SLACK 30
/* Part of what the paths bring until then that they may need */
#define DEFER_PERCENT 60
/* Groups of pictures are numbered from 1, and 0 is none. */
#define UNKNOWN_GROUP G_MAXUINT64

/* --- what a path may do --------------------------------------------------- */

gboolean
mmtp_path_is_usable (const MmtpPath * path)
{
  return path->state == MMTP_PATH_ACTIVE;
}

static gboolean
may_carry (const MmtpPath * path)
{
  return mmtp_path_is_usable (path) && !path->blocked;
}

gboolean
mmtp_policy_has_choice (const MmtpSender * sender)
{
  guint n = 0, i;

  for (i = 0; i < sender->n_paths; i++)
    n += may_carry (sender->paths[i]);
  return n > 1;
}

gboolean
mmtp_path_may_speak (const MmtpPath * path)
{
  return path->joined && !path->blocked &&
      path->state != MMTP_PATH_GONE;
}

static gboolean
delivers (const MmtpPath * path)
{
  return mmtp_path_may_speak (path) && path->state != MMTP_PATH_SILENT;
}

/* --- how far a path is trusted ------------------------------------------- */

/* Which paths may use their reserve, beyond their window: those that take over
 * from a path that has stalled, and those whose reports are missing, perhaps
 * because the return path has a gap. A path that reports as usual is as full as
 * its window says. */
typedef enum
{
  TRUST_NOBODY,                 /* some path has room by its window alone */
  TRUST_OVERDUE,                /* no path has stalled: those whose report is
                                 * overdue */
  TRUST_DELIVERING,             /* some have stalled, others deliver: these. What
                                 * waits is sooner there than behind a stall */
  TRUST_ALL                     /* all have stalled: those whose report is
                                 * overdue */
} Trust;

static gboolean
is_trusted (const MmtpSender * sender, const MmtpPath * path, Trust trust)
{
  if (trust == TRUST_NOBODY || trust == TRUST_DELIVERING)
    return trust == TRUST_DELIVERING;
  return sender->now >= mmtp_path_get_overdue (path);
}

static gboolean
has_room (const MmtpSender * sender, const MmtpPath * path, Trust trust)
{
  if (!may_carry (path) || (path->is_stalled && trust < TRUST_ALL))
    return FALSE;
  return mmtp_path_has_window (path, path->data_size,
      is_trusted (sender, path, trust));
}

gboolean
mmtp_policy_has_room (const MmtpSender * sender, const MmtpPath * path)
{
  return has_room (sender, path, TRUST_NOBODY);
}

static Trust
get_trust (const MmtpSender * sender)
{
  gboolean delivers = FALSE, stalls = FALSE;
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    if (has_room (sender, sender->paths[i], TRUST_NOBODY))
      return TRUST_NOBODY;
    if (!may_carry (sender->paths[i]))
      continue;
    if (sender->paths[i]->is_stalled)
      stalls = TRUE;
    else
      delivers = TRUE;
  }
  if (!delivers)
    return TRUST_ALL;
  return stalls ? TRUST_DELIVERING : TRUST_OVERDUE;
}

/* How much is known of a path. While there is a better known one, nobody trusts
 * it with the only copy of a packet. */
typedef enum
{
  KNOWN_JOINED,
  KNOWN_CONFIRMED,              /* the receiver has reported it */
  KNOWN_MEASURED                /* and how long a packet takes */
} Known;

static Known
get_known (const MmtpPath * path)
{
  if (!path->confirmed && !path->configured_rate)
    return KNOWN_JOINED;
  return mmtp_path_is_measured (path) ? KNOWN_MEASURED :
      KNOWN_CONFIRMED;
}

static Known
get_best_known (const MmtpSender * sender)
{
  Known best = KNOWN_JOINED;
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (may_carry (sender->paths[i]))
      best = MAX (best, get_known (sender->paths[i]));
  return best;
}

/* --- the stream ----------------------------------------------------------- */

/* Whether one of the paths could carry more than it is asked for, right now */
static gboolean
has_spare_path (const MmtpSender * sender)
{
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (sender->paths[i]->limits.is_app_limited &&
        has_room (sender, sender->paths[i], TRUST_NOBODY))
      return TRUE;
  return FALSE;
}

/* ns until a packet that is sent now has surely come */
static guint64
get_delay (const MmtpSender * sender, const MmtpPath * path,
    gboolean has_choice, gboolean is_spare)
{
  return has_choice ?
      mmtp_path_get_cautious_delay (path, sender->now, is_spare) :
      mmtp_path_get_safe_delay (path, sender->now);
}

static guint
fill_candidates (const MmtpSender * sender, Trust trust,
    Known known, MmtpCandidate * candidates)
{
  gboolean has_choice = mmtp_policy_has_choice (sender);
  gboolean is_spare = has_spare_path (sender);
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    const MmtpPath *path = sender->paths[i];

    candidates[i].path = i;
    candidates[i].may_carry = has_room (sender, sender->paths[i], trust) &&
        get_known (sender->paths[i]) >= known;
    candidates[i].token = path->token;
    candidates[i].backlog = has_choice && path->token > sender->now ?
        mmtp_path_get_cost (path,
        mmtp_send_queue_get_bytes (sender->queue)) : 0;
    candidates[i].delay = get_delay (sender, path, has_choice, is_spare);
    candidates[i].is_doubtful = has_choice &&
        mmtp_path_is_in_doubt (path, sender->now);
  }
  return sender->n_paths;
}

/* --- how much the paths carry -------------------------------------------- */

guint64
mmtp_policy_get_capacity (const MmtpSender * sender, guint64 deadline,
    gboolean at_best, guint percent)
{
  guint64 sum = 0;
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    const MmtpPath *path = sender->paths[i];
    guint64 rate, delay;

    if (!mmtp_path_is_usable (sender->paths[i]))
      continue;
    rate = at_best ? mmtp_path_get_peak_rate (path) :
        mmtp_path_get_rate (path);
    delay = at_best ? mmtp_path_get_best_delay (path, sender->now) :
        mmtp_path_get_safe_delay (path, sender->now);
    if (deadline < sender->now + delay)
      continue;
    sum += (deadline - sender->now - delay) / 1000 *
        (rate / 8) / 1000000 * percent / 100 +
        path->longest + path->overhead;
  }
  return sum;
}

/* A path carries what it is given until there is evidence against it: while one
 * has room and was never asked for all that it can do, everything fits. */
static gboolean
is_measurable (const MmtpSender * sender)
{
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    const MmtpPath *path = sender->paths[i];

    if (!mmtp_path_is_usable (sender->paths[i]))
      continue;
    any = TRUE;
    if (path->limits.is_app_limited)
      return FALSE;
  }
  return sender->ready && any;
}

/* Estimates are uncertain, configured rates are not. */
static guint
get_put_percent (const MmtpSender * sender)
{
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (mmtp_path_is_usable (sender->paths[i]) &&
        !sender->paths[i]->configured_rate)
      return LENIENT_PERCENT;
  return PUT_PERCENT;
}

guint64
mmtp_policy_get_put_capacity (const MmtpSender * sender, guint64 deadline)
{
  if (!is_measurable (sender))
    return G_MAXUINT64;
  return mmtp_policy_get_capacity (sender, deadline, TRUE,
      get_put_percent (sender));
}

gboolean
mmtp_policy_has_spare_rate (const MmtpSender * sender, gsize size, guint part)
{
  const MmtpPacket *tail = mmtp_send_queue_get_tail (sender->queue);

  return !tail || (mmtp_send_queue_get_work (sender->queue) +
      mmtp_send_packet_get_work (size)) * part <=
      mmtp_policy_get_capacity (sender, mmtp_send_queue_get_deadline
      (sender->queue, tail), FALSE, PUT_PERCENT);
}

/* --- which packet is next ------------------------------------------------- */

/* Whether the most urgent frame of each rank that is more important would still
 * be in time behind this frame, at the rate at which paths deliver now */
static gboolean
leaves_time (const MmtpSender * sender, const MmtpPacket * packet)
{
  const MmtpSendQueue *queue = sender->queue;
  guint64 own = mmtp_send_queue_get_frame_work (queue, packet);
  MmtpRank rank;

  for (rank = packet->unit->rank + 1; rank < MMTP_N_RANKS; rank++) {
    const MmtpPacket *first = mmtp_send_queue_get_first (queue, rank);

    if (first && own + mmtp_send_queue_get_frame_work (queue, first) >
        mmtp_policy_get_capacity (sender, mmtp_send_queue_get_deadline (queue,
                first), FALSE, DEFER_PERCENT))
      return FALSE;
  }
  return TRUE;
}

/* Whether all of the frame would be in time, at the rate at which paths deliver
 * now */
static gboolean
can_finish (const MmtpSender * sender, const MmtpPacket * packet)
{
  const MmtpSendQueue *queue = sender->queue;

  return mmtp_send_queue_get_frame_work (queue, packet) <=
      mmtp_policy_get_capacity (sender, mmtp_send_queue_get_deadline (queue,
          packet), FALSE, 100);
}

/* Of the packets on which nothing depends, one of the smallest frame that can
 * be in time: where not all frames can be sent, this sends most of them. */
static MmtpPacket *
find_smallest (const MmtpSender * sender, MmtpRank rank, guint64 arrival,
    guint64 late)
{
  const MmtpSendQueue *queue = sender->queue;
  MmtpPacket *packet = mmtp_send_queue_find (queue, rank, arrival, late);
  MmtpPacket *best = NULL;
  guint64 min_work = G_MAXUINT64, frame = G_MAXUINT64;

  for (; packet; packet = mmtp_send_queue_get_next (queue, packet)) {
    guint64 work;

    if (packet->unit->frame == frame ||
        mmtp_picture_needs (&packet->unit->picture, packet->unit->group, late))
      continue;
    frame = packet->unit->frame;
    if (mmtp_send_queue_has_begun (queue, packet))
      return packet;
    work = mmtp_send_queue_get_frame_work (queue, packet);
    if (work < min_work && can_finish (sender, packet)) {
      min_work = work;
      best = packet;
    }
  }
  return best;
}

/* Whether it goes before what is more important: only as long as it would
 * arrive long before its deadline. With less to spare the paths are
 * overloaded, or have just had a gap, and it goes when nothing more important
 * waits. A frame that has begun is finished. */
static gboolean
has_slack (const MmtpSender * sender, const MmtpPacket * packet,
    guint64 arrival)
{
  static const guint percent[MMTP_N_RANKS] = { 100, DROPPABLE_SLACK,
    DELTA_SLACK, 0
  };
  guint64 slack = sender->initial_delay / 100 * percent[packet->unit->rank];

  if (mmtp_send_queue_has_begun (sender->queue, packet) &&
      packet->unit->rank != MMTP_RANK_BROKEN)
    return TRUE;
  return arrival + slack <=
      mmtp_send_queue_get_deadline (sender->queue, packet) &&
      leaves_time (sender, packet);
}

/* The most urgent packet that is in time at `arrival` */
static MmtpPacket *
find_urgent (const MmtpSender * sender, guint64 arrival, guint64 late)
{
  MmtpPacket *found[MMTP_N_RANKS], *best;
  MmtpRank lowest = 0;
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++)
    found[i] = mmtp_send_queue_find (sender->queue, i, arrival, late);
  for (;;) {
    best = NULL;
    for (i = lowest; i < MMTP_N_RANKS; i++)
      if (found[i] && (!best ||
              mmtp_send_packet_compare (found[i], best) < 0))
        best = found[i];
    if (!best || best->unit->rank == MMTP_RANK_KEY ||
        has_slack (sender, best, arrival))
      return best;
    lowest = best->unit->rank + 1;
    for (i = lowest; i < MMTP_N_RANKS && !found[i]; i++);
    if (i < MMTP_N_RANKS)
      continue;
    if (best->unit->rank != MMTP_RANK_DROPPABLE || !is_measurable (sender))
      return best;
    return find_smallest (sender, MMTP_RANK_DROPPABLE, arrival, late);
  }
}

/* A reference that the quickest path brings too late, unless its delay falls,
 * makes its group late. */
static guint64
get_late_group (const MmtpSender * sender)
{
  guint64 delay = mmtp_policy_get_min_delay (sender);

  return delay == MMTP_NEVER ? 0 :
      mmtp_send_queue_get_late_group (sender->queue, sender->now + delay);
}

/* The most urgent packet that is in time when it takes so long, unless the
 * path's messages are too short for it */
static MmtpPacket *
find_packet (const MmtpSender * sender, const MmtpPath * path, guint64 delay,
    guint64 late)
{
  MmtpPacket *packet = find_urgent (sender, sender->now + delay, late);

  if (packet && mmtp_send_packet_get_message_size (packet) > path->longest)
    return NULL;
  return packet;
}

/* --- which path takes it -------------------------------------------------- */

/* The schedulers that are there for comparison know only the head of the queue. */
static gboolean
knows_delays (const MmtpSender * sender)
{
  return sender->config.scheduler == MMTP_SCHEDULER_MMTP ||
      sender->config.scheduler == MMTP_SCHEDULER_ARRIVAL;
}

/* The path is chosen for the last packet of all, and takes the most urgent one
 * that it brings in time: section 4.4 for the one at the head, and the others do
 * not wait for it. `late`: the group that is late is looked up once, and only
 * where there is a path. */
static MmtpPacket *
choose (MmtpSender * sender, MmtpCandidate * candidates, guint n,
    guint64 * late, MmtpPath ** path)
{
  guint64 last = mmtp_send_queue_get_deadline (sender->queue,
      mmtp_send_queue_get_tail (sender->queue));
  MmtpPacket *packet;
  guint chosen;

  for (;;) {
    chosen = mmtp_scheduler_choose (sender->config.scheduler, candidates, n,
        sender->now, last, &sender->turn);
    if (chosen == MMTP_NO_PATH)
      return NULL;
    *path = sender->paths[chosen];
    if (*late == UNKNOWN_GROUP)
      *late = get_late_group (sender);
    packet = find_packet (sender, *path,
        knows_delays (sender) ? candidates[chosen].delay : 0, *late);
    if (packet)
      return packet;
    candidates[chosen].may_carry = FALSE;
  }
}

MmtpPacket *
mmtp_policy_choose (MmtpSender * sender, MmtpPath ** path)
{
  const Trust trust = get_trust (sender);
  const Known known = get_best_known (sender);
  MmtpCandidate candidates[MMTP_MAX_PATHS];
  guint64 late = UNKNOWN_GROUP;
  MmtpPacket *packet;
  guint n;

  n = fill_candidates (sender, trust, known, candidates);
  packet = choose (sender, candidates, n, &late, path);
  if (packet || known == KNOWN_JOINED)
    return packet;
  n = fill_candidates (sender, trust, KNOWN_JOINED, candidates);
  return choose (sender, candidates, n, &late, path);
}

guint64
mmtp_policy_get_wakeup (const MmtpSender * sender)
{
  const Trust trust = get_trust (sender);
  guint64 wakeup = MMTP_NEVER;
  guint i;

  for (i = 0; sender->ready && i < sender->n_paths; i++) {
    const MmtpPath *path = sender->paths[i];

    if (trust > TRUST_NOBODY && may_carry (sender->paths[i]) &&
        mmtp_path_get_overdue (path) > sender->now)
      wakeup = MIN (wakeup, mmtp_path_get_overdue (path));
    /* The caller may have advanced the clock beyond a token without polling
     * for output since. */
    if (has_room (sender, sender->paths[i], trust) &&
        path->token > sender->data_tried)
      wakeup = MIN (wakeup, path->token);
  }
  return wakeup;
}

/* --- what was lost, and what waits behind a stall ------------------------- */

static guint64
get_delay_of_quickest (const MmtpSender * sender,
    guint64 (*get_delay_of) (const MmtpPath *, guint64))
{
  guint64 least = MMTP_NEVER;
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (mmtp_path_is_usable (sender->paths[i]))
      least = MIN (least, get_delay_of (sender->paths[i], sender->now));
  return least;
}

guint64
mmtp_policy_get_min_delay (const MmtpSender * sender)
{
  return get_delay_of_quickest (sender, mmtp_path_get_safe_delay);
}

/* A measure that is not there yet is no reason to give up. */
guint64
mmtp_policy_get_best_delay (const MmtpSender * sender)
{
  guint64 least = get_delay_of_quickest (sender, mmtp_path_get_best_delay);

  return sender->ready && least != MMTP_NEVER ? least : 0;
}

gboolean
mmtp_policy_is_sure (const MmtpSender * sender, const MmtpPacket * packet)
{
  guint i;

  if (mmtp_policy_get_min_delay (sender) == MMTP_NEVER)
    return TRUE;
  for (i = 0; i < sender->n_paths; i++) {
    const MmtpPath *path = sender->paths[i];

    if (mmtp_path_is_usable (sender->paths[i]) &&
        MAX (path->token, sender->now) +
        mmtp_path_get_safe_delay (path, sender->now) <=
        mmtp_send_queue_get_deadline (sender->queue, packet))
      return TRUE;
  }
  return FALSE;
}

MmtpPath *
mmtp_policy_find_quickest (const MmtpSender * sender, const MmtpPacket * packet,
    guint64 * arrival)
{
  MmtpPath *best = NULL;
  guint i;

  *arrival = MMTP_NEVER;
  for (i = 0; i < sender->n_paths; i++) {
    const MmtpPath *path = sender->paths[i];
    guint64 comes;

    if (!may_carry (sender->paths[i]) ||
        mmtp_send_packet_get_message_size (packet) > path->longest)
      continue;
    comes = MAX (path->token, sender->now)
        + mmtp_path_get_expected_delay (path, sender->now);
    if (comes >= *arrival)
      continue;
    *arrival = comes;
    best = sender->paths[i];
  }
  return best;
}

guint64
mmtp_policy_get_delay_elsewhere (const MmtpSender * sender,
    const MmtpPath * except)
{
  guint64 least = MMTP_NEVER;
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    const MmtpPath *path = sender->paths[i];

    if (path != except && may_carry (path) && !path->is_stalled &&
        mmtp_path_has_window (path, path->longest, TRUE))
      least = MIN (least, mmtp_path_get_safe_delay (path,
              sender->now));
  }
  return least;
}

/* --- control messages ----------------------------------------------------- */

/* The fastest one that delivers, but not `except`; then any */
MmtpPath *
mmtp_policy_find_control_path (const MmtpSender * sender, guint except)
{
  MmtpPath *best = NULL;
  guint i;

  if (sender->fastest != MMTP_NO_PATH && sender->fastest != except &&
      delivers (sender->paths[sender->fastest]))
    return sender->paths[sender->fastest];
  for (i = 0; i < sender->n_paths; i++) {
    MmtpPath *path = sender->paths[i];

    if (i == except || !mmtp_path_may_speak (path))
      continue;
    if (!best || (delivers (path) && !delivers (best)))
      best = path;
  }
  return best;
}

/* --- what a user is told -------------------------------------------------- */

static gboolean
is_too_slow (const MmtpSender * sender, const MmtpPath * path)
{
  return path->state == MMTP_PATH_CONTROL ||
      get_delay (sender, path, mmtp_policy_has_choice (sender),
      has_spare_path (sender)) > sender->initial_delay;
}

/* Bytes of the stream that all paths were given lately */
static gdouble
get_data_bytes (const MmtpSender * sender)
{
  gdouble sum = 0;
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    sum += mmtp_fading_get (&sender->paths[i]->data_bytes,
        sender->now, MMTP_SHARE_PERIOD);
  return sum;
}

/* 0 to 1; where there is no stream, 0 */
static gdouble
get_share (const MmtpSender * sender, const MmtpPath * path)
{
  const gdouble sum = get_data_bytes (sender);

  return sum < 1 ? 0 : mmtp_fading_get (&path->data_bytes,
      sender->now, MMTP_SHARE_PERIOD) / sum;
}

static MmtpPathUse
get_use (const MmtpSender * sender, const MmtpPath * path)
{

  if (path->state == MMTP_PATH_GONE)
    return MMTP_USE_GONE;
  if (path->state == MMTP_PATH_OPENING || !sender->ready)
    return MMTP_USE_JOINING;
  if (path->blocked)
    return MMTP_USE_BLOCKED;
  if (path->state == MMTP_PATH_SILENT || path->is_stalled)
    return MMTP_USE_SILENT;
  if (is_too_slow (sender, path))
    return MMTP_USE_TOO_SLOW;
  if (get_known (path) < get_best_known (sender))
    return MMTP_USE_PROBED;
  if (get_data_bytes (sender) >= 1 && get_share (sender, path) < MIN_SHARE)
    return MMTP_USE_SPARE;
  return MMTP_USE_CARRIES;
}

static gdouble
get_loss (const MmtpSender * sender, const MmtpPath * path)
{
  const gdouble came = mmtp_fading_get (&path->came, sender->now,
      MMTP_LOSS_PERIOD);
  const gdouble missing = mmtp_fading_get (&path->missing, sender->now,
      MMTP_LOSS_PERIOD);

  return missing > 0 ? missing / (came + missing) : 0;
}

void
mmtp_policy_fill_use (const MmtpSender * sender, const MmtpPath * path,
    MmtpSenderPathStats * stats)
{
  const guint64 progress = path->progress_time;

  stats->use = get_use (sender, path);
  stats->silence = stats->use == MMTP_USE_SILENT ?
      sender->now - MIN (sender->now, progress) : 0;
  stats->share = get_share (sender, path);
  stats->loss = get_loss (sender, path);
}
