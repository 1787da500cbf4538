/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpusualdelay.h: learns the usual delay of a path. */

#include "mmtpusualdelay.h"

/* While the application has nothing more to send, the usual delay is the moving
 * mean of the measured delays. It rises with the time constant RISE and falls
 * with the time constant FALL. The unit of both is the number of reports. */
#define RISE 128
#define FALL 8
/* The highest delivery rate of all rounds decays by this factor in each round.
 * If it did not decay, a path could never learn again after its capacity has
 * decreased. If it decayed fast, the fluctuating capacity of a mobile network
 * would often exceed it, and a real queue would count as the usual delay. */
#define RATE_DECAY 0.98
/* A rate is measured only if its messages have arrived over at least this part
 * of a round. The reports of several rounds may arrive at once. */
#define MIN_ROUND_PART 0.5
/* Minimum number of messages that must have arrived in a round before something
 * is learned from its minimum delay. On a path with jitter, the minimum of a few
 * delays may be long by chance. */
#define MIN_MESSAGES 32

static void
follow_low (gdouble * usual, gdouble value)
{
  *usual += (value - *usual) / (value < *usual ? FALL : RISE);
}

/* If the application sends less than the path carries, there is no queue. Only
 * in this case does the usual delay follow the measured delay. It rises slowly
 * and falls faster. */
static void
follow_idle (MmtpUsualDelay * usual, const MmtpRateSample * sample,
    const MmtpUsualDelayRound * round)
{
  follow_low (&usual->idle_queue, MIN (sample->queue_delay, round->max));
  if (sample->round_trip)
    follow_low (&usual->round_trip, MIN (sample->round_trip,
            round->base_round_trip + 2 * round->max));
}

static void
begin_round (MmtpUsualDelay * usual, const MmtpRateSample * sample)
{
  usual->began = sample->now;
  usual->arrival = sample->arrival;
  usual->delivered = sample->delivered;
  usual->last_messages = usual->n_messages;
  usual->n_messages = 0;
  usual->last_queue = usual->min_queue;
  usual->last_round_trip = usual->min_round_trip;
  usual->min_queue = usual->min_round_trip = G_MAXDOUBLE;
}

/* The path has delivered much more in this round than ever before. In the round
 * before, it delivered less than it can, so its queue was empty at some time.
 * The minimum delay of that round therefore belongs to the usual delay.
 *
 * On a mobile network, the capacity may have risen instead. The queue was then
 * not empty in the round before, but it is drained in this round. Therefore the
 * lower minimum of the two rounds counts. */
static void
learn (MmtpUsualDelay * usual, const MmtpUsualDelayRound * round)
{
  const gdouble round_trip = MIN (usual->min_round_trip,
      usual->last_round_trip);

  usual->grown_queue = MAX (usual->grown_queue,
      MIN (MIN (usual->min_queue, usual->last_queue), round->max));
  if (round_trip < G_MAXDOUBLE)
    usual->round_trip = MAX (usual->round_trip,
        MIN (round_trip, round->base_round_trip + 2 * round->max));
}

static void
end_round (MmtpUsualDelay * usual, const MmtpRateSample * sample,
    const MmtpUsualDelayRound * round)
{
  const gdouble rate = (sample->delivered - usual->delivered) /
      (sample->arrival - usual->arrival);

  if (usual->min_queue < usual->grown_queue)
    usual->grown_queue += (usual->min_queue - usual->grown_queue) / 2;
  if (usual->last_messages >= MIN_MESSAGES && round->growth > 0
      && rate > round->growth * usual->highest_rate)
    learn (usual, round);
  usual->highest_rate = MAX (usual->highest_rate * RATE_DECAY, rate);
  begin_round (usual, sample);
}

static void
follow_round (MmtpUsualDelay * usual, const MmtpRateSample * sample,
    const MmtpUsualDelayRound * round)
{
  if (usual->began == 0) {
    usual->min_queue = usual->min_round_trip = G_MAXDOUBLE;
    begin_round (usual, sample);
    return;
  }
  usual->n_messages += sample->n_acked;
  usual->min_queue = MIN (usual->min_queue, sample->queue_delay);
  if (sample->round_trip)
    usual->min_round_trip = MIN (usual->min_round_trip, sample->round_trip);
  if (sample->now >= usual->began + round->round
      && sample->arrival > usual->arrival + MIN_ROUND_PART * round->round)
    end_round (usual, sample, round);
}

void
mmtp_usual_delay_add (MmtpUsualDelay * usual, const MmtpRateSample * sample,
    const MmtpUsualDelayRound * round)
{
  if (sample->is_app_limited)
    follow_idle (usual, sample, round);
  follow_round (usual, sample, round);
  usual->queue = MAX (usual->idle_queue, usual->grown_queue);
}
