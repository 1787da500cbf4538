/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpdrain.h: decides when a path is drained. */

#include "mmtpdrain.h"
#include "mmtpratecontrol.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* Draining begins when the path has been busy for a certain period:
 * - If the feedback time is at most 200 ms, the period is DRAIN_PERIOD (10 s).
 *   BBR begins after 5 s.
 * - If it is longer than 200 ms, draining costs more and is therefore done less
 *   often. The period is then 100 feedback times (DRAIN_ROUNDS) minus
 *   DRAIN_PERIOD, which is longer than 10 s. For example, if the feedback time
 *   is 500 ms, the period is 50 s minus 10 s, which is 40 s. */
#define DRAIN_PERIOD (10 * SECOND)
#define DRAIN_ROUNDS 100
/* While a path is drained, the window is 1/DRAIN_PART of the bytes that fill
 * the path, and at least MIN_PACKETS packets. */
#define DRAIN_PART 2
#define MIN_PACKETS 2
/* Draining ends after MAX_DRAIN (ns) at the latest, or after two feedback times
 * and a report interval if these take longer. */
#define MAX_DRAIN (400 * MILLISECOND)

void
mmtp_drain_clear (MmtpDrain * drain)
{
  drain->busy_since = drain->window = 0;
}

void
mmtp_drain_add_round_trip (MmtpDrain * drain, guint64 round_trip)
{
  if (drain->window && drain->from != MMTP_NO_STREAM)
    drain->min_round_trip = MIN (drain->min_round_trip, (gint64) round_trip);
}

static void
begin (MmtpDrain * drain, const MmtpDrainState * state)
{
  guint64 window = state->rate / 8 * (state->feedback_time / 1000) / 1000000 /
      DRAIN_PART;

  drain->window = MAX (window, MIN_PACKETS * state->packet);
  drain->end = state->now + MAX (MAX_DRAIN,
      2 * state->feedback_time + state->report_interval);
  drain->from = MMTP_NO_STREAM;
  drain->min_round_trip = G_MAXINT64;
}

static void
end (MmtpDrain * drain, guint64 now)
{
  drain->window = 0;
  drain->busy_since = now;
}

/* Returns whether draining empties the queue of the path. On a slow path, the
 * transmission of the minimum window takes longer than the feedback time. The
 * path then always has a queue, and the measured delays are no base delays. */
static gboolean
can_be_emptied (const MmtpDrainState * state)
{
  return mmtp_rate_get_time (state->rate, MIN_PACKETS * state->packet) <=
      MIN (state->feedback_time, state->base_round_trip);
}

static void
follow_busy (MmtpDrain * drain, const MmtpDrainState * state)
{
  if (state->newest && state->newest->is_app_limited)
    drain->busy_since = 0;
  else if (drain->busy_since == 0)
    drain->busy_since = state->now;
}

static guint64
get_period (const MmtpDrainState * state)
{
  return MAX (2 * DRAIN_PERIOD, DRAIN_ROUNDS * state->feedback_time) -
      DRAIN_PERIOD;
}

gboolean
mmtp_drain_follow (MmtpDrain * drain, const MmtpDrainState * state)
{
  follow_busy (drain, state);
  if (drain->window == 0) {
    if (drain->busy_since &&
        state->now >= drain->busy_since + get_period (state))
      begin (drain, state);
    return FALSE;
  }
  if (drain->from == MMTP_NO_STREAM) {
    if (state->log->in_flight <= drain->window)
      drain->from = state->log->next;
  } else if (state->log->unreported > drain->from) {
    end (drain, state->now);
    return can_be_emptied (state);
  }
  if (state->now >= drain->end)
    end (drain, state->now);
  return FALSE;
}
