/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpusualdelay.h: learns the usual delay of a path. */

#include "mmtpusualdelay.h"

#include <math.h>

/* While the application has nothing more to send, the usual delay follows the
 * measured delays. It rises with the time constant RISE and falls with the time
 * constant FALL. The unit of both is the number of reports. */
#define RISE 128
#define FALL 8
/* The highest delivery rate of all rounds decays to 1/e in this time (ns). If it
 * did not decay, a path could never learn again after its capacity has
 * decreased. If it decayed fast, the fluctuating capacity of a mobile network
 * would often exceed it, and a real queue would count as the usual delay. */
#define RATE_MEMORY (50 * 1e9)
/* A rate is measured only if its messages have arrived over at least this part
 * of a round. The reports of several rounds may arrive at once. */
#define MIN_ROUND_PART 0.5
/* Minimum number of messages that must have arrived in a round before something
 * is learned from its minimum delay. On a path with jitter, the minimum of a few
 * delays may be long by chance. */
#define MIN_MESSAGES 32

/* --- one delay or round trip ---------------------------------------------- */

static void
update_value (MmtpUsualTime * time, gdouble max)
{
  time->value = MIN (MAX (time->idle, time->grown), max);
}

static void
follow_idle (MmtpUsualTime * time, gdouble measured, gdouble max)
{
  const gdouble target = MIN (measured, max);

  time->idle += (target - time->idle) / (target < time->idle ? FALL : RISE);
}

/* The path has delivered much more in this round than recently. In the round
 * before, it delivered less than it can, so its queue was empty at some time.
 * The minimum of that round therefore contains no queueing delay.
 *
 * On a mobile network, the capacity may have risen instead. The queue was then
 * not empty in the round before, but it is drained in this round. Therefore the
 * lower minimum of the two rounds counts. */
static void
learn (MmtpUsualTime * time)
{
  const gdouble min = MIN (time->min, time->last_min);

  if (min < G_MAXDOUBLE)
    time->grown = MAX (time->grown, min);
}

/* A shorter minimum shows that the value was too high. */
static void
forget (MmtpUsualTime * time)
{
  if (time->min < time->grown)
    time->grown += (time->min - time->grown) / 2;
}

static void
begin_minimum (MmtpUsualTime * time)
{
  time->last_min = time->min;
  time->min = G_MAXDOUBLE;
}

/* --- rounds --------------------------------------------------------------- */

static void
begin_round (MmtpUsualDelay * usual, const MmtpRateSample * sample)
{
  usual->began = sample->now;
  usual->arrival = sample->arrival;
  usual->delivered = sample->delivered;
  usual->last_messages = usual->n_messages;
  usual->was_limited = usual->is_limited;
  usual->n_messages = 0;
  usual->is_limited = FALSE;
  begin_minimum (&usual->queue);
  begin_minimum (&usual->round_trip);
}

static gboolean
may_learn (const MmtpUsualDelay * usual, const MmtpUsualDelayRound * round)
{
  return round->growth > 0 && usual->last_messages >= MIN_MESSAGES
      && !usual->is_limited && !usual->was_limited;
}

static void
end_round (MmtpUsualDelay * usual, const MmtpRateSample * sample,
    const MmtpUsualDelayRound * round)
{
  const gdouble rate = (sample->delivered - usual->delivered) /
      (sample->arrival - usual->arrival);

  forget (&usual->queue);
  forget (&usual->round_trip);
  if (may_learn (usual, round) && rate > round->growth * usual->highest_rate) {
    learn (&usual->queue);
    learn (&usual->round_trip);
  }
  usual->highest_rate *= exp ((usual->began - sample->now) / RATE_MEMORY);
  usual->highest_rate = MAX (usual->highest_rate, rate);
  begin_round (usual, sample);
}

static void
follow_round (MmtpUsualDelay * usual, const MmtpRateSample * sample,
    const MmtpUsualDelayRound * round)
{
  if (usual->began == 0) {
    begin_round (usual, sample);
    return;
  }
  usual->n_messages += sample->n_acked;
  usual->is_limited |= round->is_limited;
  usual->queue.min = MIN (usual->queue.min, sample->queue_delay);
  if (sample->round_trip)
    usual->round_trip.min = MIN (usual->round_trip.min, sample->round_trip);
  if (sample->now >= usual->began + round->round
      && sample->arrival > usual->arrival + MIN_ROUND_PART * round->round)
    end_round (usual, sample, round);
}

void
mmtp_usual_delay_add (MmtpUsualDelay * usual, const MmtpRateSample * sample,
    const MmtpUsualDelayRound * round)
{
  const gdouble max_round_trip = round->base_round_trip + 2 * round->max;

  if (sample->is_app_limited) {
    follow_idle (&usual->queue, sample->queue_delay, round->max);
    if (sample->round_trip)
      follow_idle (&usual->round_trip, sample->round_trip, max_round_trip);
  }
  follow_round (usual, sample, round);
  update_value (&usual->queue, round->max);
  update_value (&usual->round_trip, max_round_trip);
}
