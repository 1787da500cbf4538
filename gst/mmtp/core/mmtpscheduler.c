/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of section 4.4 of the paper, and the two that it is compared
 * with. */

#include "mmtpscheduler.h"

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

/* Section 4.4, case 3: "the channel with longest propagation delay is chosen".
 * Of equal ones the first. */
static guint
choose_longest (const MmtpCandidate * candidates, guint n, guint64 now,
    guint64 deadline)
{
  guint chosen = MMTP_NO_CHANNEL;
  guint i;

  for (i = 0; i < n; i++) {
    if (!has_token (&candidates[i], now) ||
        !is_in_time (&candidates[i], now, deadline))
      continue;
    if (chosen == MMTP_NO_CHANNEL ||
        candidates[i].delay > candidates[chosen].delay)
      chosen = i;
  }
  return chosen;
}

static guint
choose_lowest (const MmtpCandidate * candidates, guint n, guint64 now)
{
  guint chosen = MMTP_NO_CHANNEL;
  guint i;

  for (i = 0; i < n; i++) {
    if (!has_token (&candidates[i], now))
      continue;
    if (chosen == MMTP_NO_CHANNEL ||
        candidates[i].delay < candidates[chosen].delay)
      chosen = i;
  }
  return chosen;
}

static guint
choose_in_turn (const MmtpCandidate * candidates, guint n, guint64 now,
    guint * turn)
{
  guint i;

  for (i = 0; i < n; i++) {
    guint chosen = (*turn + i) % n;

    if (!has_token (&candidates[chosen], now))
      continue;
    *turn = (chosen + 1) % n;
    return chosen;
  }
  return MMTP_NO_CHANNEL;
}

guint
mmtp_scheduler_choose (MmtpSchedulerType type,
    const MmtpCandidate * candidates, guint n, guint64 now, guint64 deadline,
    guint * turn)
{
  switch (type) {
    case MMTP_SCHEDULER_EQUAL_TURNS:
      return choose_in_turn (candidates, n, now, turn);
    case MMTP_SCHEDULER_LOWEST_DELAY:
      return choose_lowest (candidates, n, now);
    default:
      return choose_longest (candidates, n, now, deadline);
  }
}
