/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of the schedulers, which choose the path of the next packet:
 * `mmtp` (section 4.4 of the MMTP paper), `arrival`, and two schedulers for
 * comparison, `equal-turns` and `lowest-delay`. */

#include "mmtpscheduler.h"

/* If the delay of a path is at most this percentage of the time until the
 * deadline, the path counts as certain to deliver in time. The rest is a
 * margin, because delays change, and the delay of a packet is known only after
 * the packet has arrived. The round trip of a mobile path may double within a
 * few reports. docs/mmtp.md has results for other percentages.
 *
 * The delay of a path with a configured rate contains a margin already, so its
 * percentage is CONFIGURED_PERCENT. */
#define CERTAIN_PERCENT 40
#define CONFIGURED_PERCENT 75

static gboolean
has_token (const MmtpCandidate * candidate, guint64 now)
{
  return candidate->may_carry && candidate->token <= now;
}

static gboolean
is_in_time (const MmtpCandidate * candidate, guint64 now, guint64 deadline)
{
  return candidate->delay <= deadline && now <= deadline - candidate->delay;
}

static gboolean
is_certain (const MmtpCandidate * candidate, guint64 now, guint64 deadline)
{
  const guint64 left = deadline - MIN (deadline, now);

  return !candidate->is_doubtful && candidate->delay <= left / 100 *
      (candidate->is_configured ? CONFIGURED_PERCENT : CERTAIN_PERCENT);
}

/* Among the paths that may send now and for which the function `accepts`
 * returns TRUE, chooses the path with the maximum delay. Section 4.4 of the MMTP
 * paper, case 3: "the channel with longest propagation delay is chosen". If
 * several delays are equal, the first path is chosen. */
static guint
choose_max_delay (const MmtpCandidate * candidates, guint n, guint64 now,
    guint64 deadline, gboolean (*accepts) (const MmtpCandidate * candidate,
        guint64 now, guint64 deadline))
{
  guint chosen = MMTP_NO_CANDIDATE;
  guint i;

  for (i = 0; i < n; i++) {
    if (!has_token (&candidates[i], now) ||
        !accepts (&candidates[i], now, deadline))
      continue;
    if (chosen == MMTP_NO_CANDIDATE ||
        candidates[i].delay > candidates[chosen].delay)
      chosen = i;
  }
  return chosen;
}

static guint
choose_lowest (gconstpointer state, const MmtpCandidate * candidates,
    guint n, guint64 now, guint64 deadline)
{
  guint chosen = MMTP_NO_CANDIDATE;
  guint i;

  for (i = 0; i < n; i++) {
    if (!has_token (&candidates[i], now))
      continue;
    if (chosen == MMTP_NO_CANDIDATE ||
        candidates[i].delay < candidates[chosen].delay)
      chosen = i;
  }
  return chosen;
}

/* Chooses the path on which the packet would arrive first. If several paths
 * have the same arrival time, the first of these paths is chosen. If the chosen
 * path can send now, returns this path. Otherwise returns MMTP_NO_CANDIDATE,
 * and the packet has to wait.
 *
 * The arrival time on a path that cannot send now includes the time that the
 * path needs to send all waiting packets. If this time is long, another path is
 * chosen, even if its delay is higher. The other path is then not idle while
 * packets wait (ECF: Lim, Nahum, Towsley and Gibbens, CoNEXT 2017). */
static guint
choose_earliest (const MmtpCandidate * candidates, guint n, guint64 now)
{
  guint chosen = MMTP_NO_CANDIDATE;
  guint64 min = G_MAXUINT64;
  guint i;

  for (i = 0; i < n; i++) {
    const guint64 sent = candidates[i].token <= now ? now :
        candidates[i].token + candidates[i].backlog;

    if (!candidates[i].may_carry || candidates[i].delay > min
        || sent >= min - candidates[i].delay)
      continue;
    min = sent + candidates[i].delay;
    chosen = i;
  }
  return chosen != MMTP_NO_CANDIDATE && candidates[chosen].token <= now ?
      chosen : MMTP_NO_CANDIDATE;
}

/* Returns whether the path with the minimum delay, among the paths that may
 * carry a packet, can easily carry the stream alone. */
static gboolean
is_quickest_sufficient (const MmtpCandidate * candidates, guint n)
{
  const MmtpCandidate *quickest = NULL;
  guint i;

  for (i = 0; i < n; i++)
    if (candidates[i].may_carry
        && (!quickest || candidates[i].delay < quickest->delay))
      quickest = &candidates[i];
  return quickest && quickest->is_sufficient;
}

static guint
choose_by_arrival (gconstpointer state, const MmtpCandidate * candidates,
    guint n, guint64 now, guint64 deadline)
{
  guint chosen = MMTP_NO_CANDIDATE;

  if (!is_quickest_sufficient (candidates, n))
    chosen = choose_max_delay (candidates, n, now, deadline, is_certain);
  return chosen == MMTP_NO_CANDIDATE ? choose_earliest (candidates, n, now) :
      chosen;
}

static guint
choose_in_turn (gconstpointer state, const MmtpCandidate * candidates,
    guint n, guint64 now, guint64 deadline)
{
  /* index of the path that is tried first: the path after the one that was used
   * last */
  const guint *turn = state;
  guint i;

  for (i = 0; i < n; i++) {
    guint chosen = (*turn + i) % n;

    if (has_token (&candidates[chosen], now))
      return chosen;
  }
  return MMTP_NO_CANDIDATE;
}

static void
end_turn (gpointer state, const MmtpCandidate * candidates, guint n,
    guint chosen, gsize size)
{
  guint *turn = state;

  *turn = (chosen + 1) % n;
}

static guint
choose_by_paper (gconstpointer state, const MmtpCandidate * candidates,
    guint n, guint64 now, guint64 deadline)
{
  return choose_max_delay (candidates, n, now, deadline, is_in_time);
}

static const MmtpSchedulerClass paper_scheduler = {
  "mmtp", "The channel with the longest delay that meets the deadline, as "
      "in the MMTP paper (2001)", TRUE, 0,
  choose_by_paper, NULL
};

static const MmtpSchedulerClass turns_scheduler = {
  "equal-turns", "Each channel in turn, for comparison with the other rules",
  FALSE,
  sizeof (guint), choose_in_turn, end_turn
};

static const MmtpSchedulerClass delay_scheduler = {
  "lowest-delay",
  "Among the channels that may send now, the channel with the lowest delay, "
      "for comparison with the other rules",
  FALSE,
  0, choose_lowest, NULL
};

static const MmtpSchedulerClass arrival_scheduler = {
  "arrival", "Among the channels that certainly meet the deadline, the channel "
      "with the longest delay; otherwise, or if the quickest channel can easily "
      "carry the stream, the channel on which the packet arrives first", TRUE,
  0,
  choose_by_arrival, NULL
};

const MmtpSchedulerClass *const mmtp_schedulers[] = {
  &paper_scheduler, &turns_scheduler, &delay_scheduler, &arrival_scheduler,
  NULL
};
