/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy of a bond; see the header. First what a path may do at all, then how
 * far it is trusted, then the choice for the stream, for what was lost and for
 * control messages, and last what a user is told of it.
 */

#include "mmtppolicy.h"

/* A path that gets less of the stream is called not needed. */
#define LEAST_SHARE 0.001

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
        mmtp_path_get_cost (path, sender->queued_bytes) : 0;
    candidates[i].delay = get_delay (sender, path, has_choice, is_spare);
    candidates[i].is_doubtful = has_choice &&
        mmtp_path_is_in_doubt (path, sender->now);
  }
  return sender->n_paths;
}

/* The most urgent packet that can be there in time when it takes so long,
 * unless the path's messages are too short for it */
static MmtpPacket *
find_packet (MmtpSender * sender, const MmtpPath * path, guint64 delay)
{
  MmtpPacket *packet = mmtp_sender_find_packet (sender, delay);

  if (packet && mmtp_sender_get_message_size (packet) > path->longest)
    return NULL;
  return packet;
}

/* The schedulers that are there for comparison know only the head of the queue. */
static gboolean
knows_delays (const MmtpSender * sender)
{
  return sender->config.scheduler == MMTP_SCHEDULER_MMTP ||
      sender->config.scheduler == MMTP_SCHEDULER_ARRIVAL;
}

/* The path is chosen for the last packet of all, and takes the most urgent one
 * that it brings in time: section 4.4 for the one at the head, and the others do
 * not wait for it. */
static MmtpPacket *
choose (MmtpSender * sender, MmtpCandidate * candidates, guint n,
    MmtpPath ** path)
{
  guint64 last = mmtp_sender_get_tail (sender)->due + sender->initial_delay;
  MmtpPacket *packet;
  guint chosen;

  for (;;) {
    chosen = mmtp_scheduler_choose (sender->config.scheduler, candidates, n,
        sender->now, last, &sender->turn);
    if (chosen == MMTP_NO_PATH)
      return NULL;
    *path = sender->paths[chosen];
    packet = find_packet (sender, *path,
        knows_delays (sender) ? candidates[chosen].delay : 0);
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
  MmtpPacket *packet;
  guint n;

  n = fill_candidates (sender, trust, known, candidates);
  packet = choose (sender, candidates, n, path);
  if (packet || known == KNOWN_JOINED)
    return packet;
  n = fill_candidates (sender, trust, KNOWN_JOINED, candidates);
  return choose (sender, candidates, n, path);
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
get_min_delay (const MmtpSender * sender, guint64 (*get_delay) (const
        MmtpPath *, guint64))
{
  guint64 least = MMTP_NEVER;
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (mmtp_path_is_usable (sender->paths[i]))
      least = MIN (least, get_delay (sender->paths[i], sender->now));
  return least;
}

guint64
mmtp_policy_get_least_delay (const MmtpSender * sender)
{
  return get_min_delay (sender, mmtp_path_get_safe_delay);
}

/* A measure that is not there yet is no reason to give up. */
guint64
mmtp_policy_get_best_delay (const MmtpSender * sender)
{
  guint64 least = get_min_delay (sender, mmtp_path_get_best_delay);

  return sender->ready && least != MMTP_NEVER ? least : 0;
}

gboolean
mmtp_policy_is_sure (const MmtpSender * sender, const MmtpPacket * packet)
{
  guint i;

  if (mmtp_policy_get_least_delay (sender) == MMTP_NEVER)
    return TRUE;
  for (i = 0; i < sender->n_paths; i++) {
    const MmtpPath *path = sender->paths[i];

    if (mmtp_path_is_usable (sender->paths[i]) &&
        MAX (path->token, sender->now) +
        mmtp_path_get_safe_delay (path, sender->now) <=
        packet->due + sender->initial_delay)
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
        mmtp_sender_get_message_size (packet) > path->longest)
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
  if (get_data_bytes (sender) >= 1 && get_share (sender, path) < LEAST_SHARE)
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
