/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rate of a channel: measured by packet pairs, then followed by them and by
 * the queue on the way, and lowered when the receiver asks for it; sections 4.5
 * and 4.6 of the paper. Losses are no reason to lower it but where they are two
 * fifths of what is sent. */

#include "mmtpchannel.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* Median of at least eight pairs: single samples are compressed or spread by
 * whatever else is in a queue [19 of the paper]. */
#define STARTUP_PAIRS 8
/* Of a channel that was silent: only whether it brings packets */
#define RETURN_PAIRS 3
/* At most so long; slow modems have then had a few pairs. */
#define STARTUP_MOST (5 * SECOND)
/* A pair that nothing is heard of is sent again: not before 10 kbit/s have
 * brought it, two messages of 1400 bytes, or else the next one waits behind
 * it. */
#define PAIR_WAIT (2300 * MILLISECOND)
/* Messages of a pair, and of a train where a pair says little; so long at most
 * on the air, so that no queue overflows */
#define PAIR 2
#define LONGEST_TRAIN 8
#define TRAIN_TIME (400 * MILLISECOND)
/* As many times more of these are waited for, as long as there is time */
#define ROUGH_PAIRS 4
/* Messages on their way while it is measured: four pairs with their queries */
#define MOST_UNREPORTED 12
/* What one pair seems to take hangs on two delays that may fluctuate: all pairs
 * are no closer together than this, nor than an eighth of the time of one. */
#define LEAST_SPACING (5 * MILLISECOND)
#define RETURN_SPACING (100 * MILLISECOND)
/* A pair each eighth DATA packet, but one each second at most */
#define PACKETS_PER_PAIR 8
#define PAIR_PERIOD SECOND
/* Below the median when it is new, and when data has confirmed it */
#define FIRST_PERCENT 97
#define STEADY_PERMILLE 985
/* Of a rate that the user or the framework knows; the rest is for what comes
 * back where both directions share a medium */
#define KNOWN_PERCENT 98
/* An increase or, as far as pairs say so, a decrease in one report */
#define INCREASE_PERCENT 110
#define FOLLOW_DOWN_FROM 90
#define FOLLOW_DOWN_PERCENT 95
/* Of what came in the window; and no less than these parts of what was
 * believed, since where delays fluctuate a window is not exact */
#define DECREASE_PERCENT 95
#define DECREASE_MOST_PERCENT 50
#define DECREASE_MOST_ROUGH_PERCENT 85
/* What is less than this part of the capacity hasn't caused a queue. */
#define CAUSE_PERCENT 30
/* Pairs increase the rate no sooner after it was decreased, nor than after two
 * round trips. */
#define LEAST_HOLD SECOND
/* Losses are counted over so many messages, and so long, at least. */
#define OVERRUN_MESSAGES 100
#define OVERRUN_TIME SECOND
/* More than any radio loses at random */
#define OVERRUN_PERCENT 40
/* One in so many: some are lost now and then. */
#define LOSSY_PART 100
/* Pairs that said too much are not asked for so long. */
#define DISTRUST (10 * SECOND)
/* ns, besides the way there, until a window tells of a change: it, and a
 * report */
#define PROBABLE_LAG (200 * MILLISECOND)
/* What is left standing hides the least transit: now and then it is let go. */
#define DRAIN_PERIOD (10 * SECOND)
/* As long as the regulator remembers floors. A TCP flow before ours in a queue
 * of 50 ms (mmtpcompare for ten minutes) had 19 % of the bytes, and 7 % when
 * the whole queue was let go a minute after a loss. */
#define LOSS_MEMORY (600 * SECOND)
/* It may take so much of the time that there is. */
#define QUEUE_SHARE 8
/* Pairs that agree by accident do so not for long. */
#define ROUGH_MEMORY (20 * SECOND)
/* When one in so many is lost; as often and as long as BBR looks for the least
 * round trip, for which others have no reason when nothing is lost */
#define PAUSE_PART 200
#define PAUSE_PERIOD (5 * SECOND)
#define PAUSE_TIME (200 * MILLISECOND)
/* A channel that sends so much of its rate is busy. */
#define BUSY_PERCENT 90
/* What a DECREASE says of a queue, and probes on their way, hold up nothing for
 * longer. */
#define MOST_PAUSE SECOND
/* bits per second: 1500 bytes in 3 s, UNKNOWN_DELAY of mmtpchannel.c */
#define LEAST_RATE 4000

/* Bytes per second of messages of this size, with IP and UDP, in bits */
static guint64
add_overhead (const MmtpChannel * channel, guint64 bytes, guint size)
{
  return bytes * 8 * (size + channel->overhead) / MAX (size, 1);
}

static guint64
get_time (const MmtpChannel * channel, guint64 rate)
{
  return (channel->longest + channel->overhead) * 8 * SECOND / rate;
}

/* Somebody knows the rate of the channel, and delays differ by more than a
 * packet takes there: he knows it better than pairs. */
static gboolean
is_known (const MmtpChannel * channel)
{
  return channel->configured_rate && channel->high_delay != MMTP_NEVER &&
      channel->high_delay - channel->delay >
      get_time (channel, channel->configured_rate);
}

static void
set_rate (MmtpChannel * channel, guint64 rate)
{
  if (is_known (channel))
    rate = MIN (rate, channel->configured_rate / 100 * KNOWN_PERCENT);
  channel->rate = MAX (rate, LEAST_RATE);
}

static void
believe (MmtpChannel * channel, guint64 rate)
{
  set_rate (channel, mmtp_regulator_set (&channel->regulator, MAX (rate,
              LEAST_RATE)));
}

/* Delays differ by more than a pair takes: it measures little. */
static gboolean
is_fluctuating (const MmtpChannel * channel)
{
  if (channel->capacity)
    return channel->is_rough;
  return channel->pair_time && channel->high_delay != MMTP_NEVER &&
      channel->high_delay - channel->delay > 2 * channel->pair_time;
}

/* --- by the queue on the way --------------------------------------------- */

static gboolean
is_new_window (MmtpChannel * channel, const MmtpRecord * record)
{
  gboolean is_new = record->rate != channel->window_rate ||
      record->least_transit != channel->window_least;

  channel->window_rate = record->rate;
  channel->window_least = record->least_transit;
  return is_new;
}

/* Where some are lost others may have filled the queue: it is not ours to
 * empty. */
static guint64
get_drain (const MmtpChannel * channel, guint64 now)
{
  if (channel->last_loss && now < channel->last_loss + LOSS_MEMORY)
    return mmtp_regulator_get_target (&channel->regulator);
  return MIN (mmtp_regulator_get_drain (&channel->regulator), MOST_PAUSE);
}

static void
let_drain (MmtpChannel * channel, guint64 now)
{
  if (now < channel->next_drain)
    return;
  if (channel->next_drain)
    channel->token = MAX (channel->token, now) + get_drain (channel, now);
  channel->next_drain = now + DRAIN_PERIOD;
}

static void
regulate (MmtpChannel * channel, guint64 now, const MmtpRecord * record)
{
  gint64 least = (gint64) record->least_transit * MMTP_TICK * 1000;
  MmtpRegulatorWindow window = { now, least };
  gboolean is_longer;

  window.most = channel->deadline / QUEUE_SHARE;
  window.message = mmtp_channel_get_cost (channel, channel->data_size);
  window.lag = channel->delay + PROBABLE_LAG;
  window.sent = mmtp_channel_get_sent_rate (channel, now);
  window.is_measured = !is_known (channel) && (channel->rough_time == 0 ||
      now >= channel->rough_time + ROUGH_MEMORY);
  if (window.is_measured)
    window.limit = channel->capacity;
  else if (is_known (channel))
    window.limit = channel->configured_rate;
  set_rate (channel, mmtp_regulator_add (&channel->regulator, &window,
          &is_longer));
  mmtp_channel_note_queue (channel, now);
  if (is_longer) {
    mmtp_recent_clear (&channel->transit);
    mmtp_recent_add (&channel->transit, now, least, 1);
  }
  let_drain (channel, now);
}

/* --- by losses ----------------------------------------------------------- */

/* A queue that was full when we came, and is kept full by others and by us,
 * shows in no delay that grows, only in losses. Who waits until it is shorter
 * knows how long it was, and others get their turn. */
static void
pause (MmtpChannel * channel, guint64 now)
{
  if (now < channel->pause + PAUSE_PERIOD ||
      mmtp_channel_get_sent_rate (channel, now) < channel->rate / 100 *
      BUSY_PERCENT)
    return;
  channel->pause = now;
  channel->token = MAX (channel->token, now) + PAUSE_TIME;
}

/* More than any radio loses at random: the rate is not the channel's, whatever
 * pairs say, which a token bucket or a fluctuating delay deceives. */
static void
bound_by_losses (MmtpChannel * channel, guint64 now, const MmtpRecord * record)
{
  guint32 received = record->received - channel->overrun_received;
  guint32 lost = record->lost - channel->overrun_lost;
  guint32 n = received + lost;

  if (lost > 0)
    channel->last_loss = now;
  if (channel->state == MMTP_CHANNEL_ACTIVE && lost * LOSSY_PART > n)
    channel->is_lossy = TRUE;
  /* What an outage took says nothing of the rate. */
  if (channel->state == MMTP_CHANNEL_ACTIVE && (n < OVERRUN_MESSAGES ||
          now < channel->overrun_time + OVERRUN_TIME))
    return;
  channel->overrun_received = record->received;
  channel->overrun_lost = record->lost;
  channel->overrun_time = now;
  if (channel->state != MMTP_CHANNEL_ACTIVE)
    return;
  channel->is_lossy = lost * LOSSY_PART > n;
  if (lost * PAUSE_PART > n)
    pause (channel, now);
  if (lost < n / 100 * OVERRUN_PERCENT)
    return;
  believe (channel, channel->rate / n * MAX (received, n / 4));
  channel->hold = now + LEAST_HOLD;
  channel->distrust = now + DISTRUST;
}

/* --- by pairs ------------------------------------------------------------ */

static void
follow_pairs (MmtpChannel * channel, guint64 now)
{
  guint64 target = channel->capacity / 1000 * STEADY_PERMILLE;
  guint64 believed = channel->regulator.believed;

  if (target < believed / 100 * FOLLOW_DOWN_FROM)
    believe (channel, MAX (target, believed / 100 * FOLLOW_DOWN_PERCENT));
  else if (target > believed && now >= channel->hold)
    believe (channel, MIN (target, believed / 100 * INCREASE_PERCENT));
}

void
mmtp_channel_follow_record (MmtpChannel * channel, guint64 now,
    const MmtpRecord * record)
{
  if (record->capacity)
    channel->capacity = add_overhead (channel, record->capacity,
        channel->pair_size);
  channel->is_rough = (record->flags & MMTP_RECORD_ROUGH) != 0;
  if (channel->is_rough)
    channel->rough_time = now;
  bound_by_losses (channel, now, record);
  if (channel->state != MMTP_CHANNEL_ACTIVE &&
      channel->state != MMTP_CHANNEL_CONTROL)
    return;
  if (is_new_window (channel, record))
    regulate (channel, now, record);
  if (record->capacity && !channel->is_rough && now >= channel->distrust &&
      !is_known (channel))
    follow_pairs (channel, now);
}

gboolean
mmtp_channel_wants_pair (const MmtpChannel * channel, guint64 now)
{
  return channel->since_pair >= PACKETS_PER_PAIR &&
      (channel->capacity == 0 || now >= channel->last_pair + PAIR_PERIOD);
}

/* --- as the receiver asks ------------------------------------------------ */

static gboolean
is_possible (MmtpChannel * channel, guint64 now, guint64 rate)
{
  return rate <= MAX (channel->rate * 2,
      mmtp_channel_get_sent_rate (channel, now) * 2);
}

gboolean
mmtp_channel_decrease (MmtpChannel * channel, guint64 now,
    const MmtpDecrease * decrease)
{
  guint64 rate = add_overhead (channel, decrease->rate, channel->data_size);
  guint64 sent = mmtp_channel_get_sent_rate (channel, now);
  guint64 believed = channel->regulator.believed;
  guint64 least = channel->is_rough ? 0 : channel->capacity / 100 *
      CAUSE_PERCENT;

  if (decrease->number == channel->decrease)
    return TRUE;
  if (!is_possible (channel, now, rate))
    return FALSE;
  channel->decrease = decrease->number;
  if (sent < MAX (channel->rate / 100 * CAUSE_PERCENT, least))
    return TRUE;
  least = MAX (least, believed / 100 * (is_fluctuating (channel) ?
          DECREASE_MOST_ROUGH_PERCENT : DECREASE_MOST_PERCENT));
  believe (channel, CLAMP (rate / 100 * DECREASE_PERCENT,
          MIN (least, believed), believed));
  channel->regulator.is_guess = FALSE;
  channel->token = MAX (channel->token, now) +
      MIN (decrease->jitter * (guint64) 1000, MOST_PAUSE);
  channel->hold = now + MAX (LEAST_HOLD, 2 * channel->stats.round_trip);
  channel->distrust = now + DISTRUST;
  channel->stats.decreases++;
  return TRUE;
}

/* --- measuring before it carries data ------------------------------------ */

void
mmtp_channel_begin_probing (MmtpChannel * channel, guint64 now)
{
  gboolean returns = channel->penance > 0;

  channel->probing_began = channel->next_pair = now;
  channel->probing_least = channel->penance;
  channel->probing_reported = channel->pairs_reported;
  channel->probing_pairs = returns ? RETURN_PAIRS : STARTUP_PAIRS;
  channel->probing_sent = 0;
  channel->pair_time = 0;
}

static guint64
count_reported (const MmtpChannel * channel)
{
  return channel->pairs_reported - channel->probing_reported;
}

static guint
count_wanted (const MmtpChannel * channel)
{
  return channel->probing_pairs * (channel->is_rough ? ROUGH_PAIRS : 1);
}

/* When the next pair may go. What has been sent comes back first: until then
 * the time that a pair takes is a guess, and a flood on a slow channel; and
 * those that were sent are perhaps enough. */
guint64
mmtp_channel_get_next_pair (const MmtpChannel * channel)
{
  gboolean is_enough = channel->probing_sent >= count_wanted (channel) &&
      channel->probing_sent > count_reported (channel);

  if (!is_enough && channel->next - channel->unreported < MOST_UNREPORTED)
    return channel->next_pair;
  return MAX (channel->next_pair, channel->last_pair + PAIR_WAIT);
}

/* The receiver knows the capacity from eight pairs on. Until then the quickest
 * one says how far apart the others may be: it came back so much later than a
 * short message, because it was so long, or because the QUERY behind it came
 * too soon after another and only the next REPORT told of it. */
void
mmtp_channel_pair_reported (MmtpChannel * channel, guint64 now, guint64 sent)
{
  guint64 age = now - sent, next = now;
  guint64 time = MAX (LEAST_SPACING, age / STARTUP_PAIRS);

  channel->pairs_reported++;
  if (age > channel->stats.round_trip)
    time = MAX (age - channel->stats.round_trip, time);
  if (channel->pair_time && channel->pair_time <= time)
    return;
  if (channel->pair_time)
    next = MAX (now, channel->last_pair + time * 7 / 4);
  channel->pair_time = time;
  channel->next_pair = MIN (channel->next_pair, next);
}

/* Where the delay fluctuates by more than a message takes, the longer the train
 * the less that matters. */
guint
mmtp_channel_get_train (const MmtpChannel * channel)
{
  guint64 time = channel->pair_time / 2;

  if (!is_fluctuating (channel) || time == 0 || channel->penance ||
      channel->configured_rate)
    return PAIR;
  if (channel->capacity)
    time = get_time (channel, channel->capacity);
  return CLAMP (TRAIN_TIME / time, PAIR, LONGEST_TRAIN);
}

/* Until one pair has been reported nobody knows how long it takes: one at a
 * time. Then at four sevenths of the capacity, or less. */
void
mmtp_channel_pair_sent (MmtpChannel * channel, guint64 now)
{
  guint64 spacing = PAIR_WAIT;

  channel->since_pair = 0;
  channel->last_pair = now;
  channel->probing_sent++;
  if (channel->configured_rate)
    spacing = PAIR * get_time (channel, channel->configured_rate) * 7 / 4;
  else if (channel->capacity)
    spacing = mmtp_channel_get_train (channel) * get_time (channel,
        channel->capacity) * 7 / 4;
  else if (channel->pair_time)
    spacing = mmtp_channel_get_train (channel) * channel->pair_time * 7 / 8;
  if (channel->penance)
    spacing = MAX (spacing, RETURN_SPACING);
  channel->next_pair = now + spacing;
}

/* Of the first pair alone when the receiver has not seen eight in the time */
static void
set_first_rate (MmtpChannel * channel)
{
  guint64 rate = channel->rate;

  if (channel->capacity && !is_known (channel))
    rate = channel->capacity / 100 * FIRST_PERCENT;
  else if (rate == 0)
    rate = 2 * (channel->longest + channel->overhead) * 8 * SECOND /
        channel->pair_time;
  set_rate (channel, rate);
  mmtp_regulator_init (&channel->regulator, channel->rate,
      is_fluctuating (channel) && !is_known (channel));
}

/* Those on their way are before the first packet. */
static void
wait_for_probes (MmtpChannel * channel, guint64 now)
{
  guint64 pairs = channel->probing_sent - MIN (channel->probing_sent,
      count_reported (channel));
  guint64 gone = now + MIN (pairs * PAIR * mmtp_channel_get_cost (channel,
          channel->longest), MOST_PAUSE);

  channel->token = MAX (now, gone - channel->stats.round_trip);
}

gboolean
mmtp_channel_finish_probing (MmtpChannel * channel, guint64 now)
{
  guint64 age = now - channel->probing_began;
  guint settled = channel->judged - channel->unjudged;

  if (age < channel->probing_least || count_reported (channel) == 0 ||
      channel->high_delay == MMTP_NEVER)
    return FALSE;
  /* What was silent has to bring probes, not only what tells of them. */
  if (channel->penance && 2 * channel->missed >= settled)
    return FALSE;
  if (age < STARTUP_MOST && ((channel->capacity == 0 && channel->rate == 0) ||
          count_reported (channel) < count_wanted (channel)))
    return FALSE;
  set_first_rate (channel);
  wait_for_probes (channel, now);
  channel->hold = now;
  return TRUE;
}
