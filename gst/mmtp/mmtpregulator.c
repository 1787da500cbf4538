/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A controller with a proportional and an integral part; see the header. */

#include "mmtpregulator.h"

#define SECOND 1e9              /* ns */

/* ns, left standing so that the channel is never idle: less than half of what
 * the receiver calls a queue that grows, LEAST_GROWTH of mmtpcongestion.c */
#define LEAST_TARGET 3e6
/* A block is so long, ns, and has so many windows; the least mean of the last
 * sixteen is a way without a queue: 32 s, as BLOCK_AGE of mmtpcongestion.c. */
#define BLOCK_TIME 2e9
#define BLOCK_WINDOWS 4
/* What stands for longer than that becomes usual by and by: 24 ms in five
 * minutes of mmtpregulator's channel of 1 Mbit/s. The least of ten minutes, one
 * by one, is RFC 6817's base history (2.4.2); clocks that differ by 100 ppm
 * feign 60 ms in them. */
#define LEAST_FLOORS 5          /* of fewer windows may fluctuate by more */
#define FLOOR_TIME (G_GUINT64_CONSTANT (60000000000))
/* A queue of a part of a message is none. */
#define MESSAGE_SHARE 0.25
/* A queue's beginning is told from windows that differ by accident at so many
 * of their standard deviations: one in fifteen of them is so far above, two in
 * a row are one in two hundred. */
#define DEVIATIONS 1.5
/* Of E|a - 2 b + c|, in which a queue that grows steadily is nothing, and which
 * is sqrt (12 / pi) standard deviations */
#define DEVIATION_OF_DIFFERENCE 0.512
/* It is learnt from so many windows, the first ones weigh as so few. */
#define NOISE_WINDOWS 16
#define FEW_NOISE_WINDOWS 4
/* Critical damping: the integral part is four times as slow as the proportional
 * one, and that twice as slow as the answer comes. */
#define LAGS 2
#define INTEGRAL 4
/* ns: four windows of a keep-alive period of 100 ms */
#define LEAST_TIME 0.4e9
/* Of what is believed, for as long as the queue isn't what it should be: it has
 * time to grow, and goes as soon as it can without the channel being idle. */
#define MOST_UP 0.05
#define MOST_DOWN (-0.4)
#define FASTER_DOWN 1.5
/* In the time of the proportional part: as long as it is a guess, until so many
 * windows in a row say otherwise; and when so many say nothing against it */
#define GUESS_UP 0.3
#define SURE_WINDOWS 2
#define SEEK_UP 0.06
#define LONG_BELOW 6
/* A channel that sends so much of its rate is busy. */
#define BUSY 0.85
/* What is compared is under load: where delays fluctuate, those that come
 * closer together wait for each other more. */
#define LOAD 0.5
/* What is less than this part of what it carries hasn't caused a queue:
 * CAUSE_PERCENT of mmtpchannelrate.c. */
#define CAUSE 0.3
/* A queue grows by as much of the time as is sent too fast: of one that grows
 * by more than this a fifth less is believed, and the rest found by and by. */
#define MOST_GROWTH 0.25
/* Times of the proportional part after which a queue has become shorter if it
 * was one */
#define PATIENCE 3
#define SHORTER 0.7

static void
forget_blocks (MmtpRegulator * regulator)
{
  regulator->n_blocks = regulator->block = regulator->n_sum = 0;
  regulator->sum = 0;
}

void
mmtp_regulator_init (MmtpRegulator * regulator, guint64 rate, gboolean is_guess)
{
  regulator->believed = regulator->rate = rate;
  regulator->is_guess = is_guess;
  regulator->time = regulator->excess_time = regulator->corrected = 0;
  regulator->noise = regulator->target = regulator->queue = 0;
  regulator->queue_before = regulator->usual = 0;
  regulator->n_windows = regulator->n_noise = 0;
  regulator->above = regulator->below = 0;
  regulator->n_floors = 0;
  regulator->most = LEAST_TARGET;
  forget_blocks (regulator);
}

guint64
mmtp_regulator_set (MmtpRegulator * regulator, guint64 rate)
{
  regulator->rate *= rate / regulator->believed;
  regulator->believed = rate;
  return regulator->rate;
}

guint64
mmtp_regulator_get_target (const MmtpRegulator * regulator)
{
  return regulator->target;
}

guint64
mmtp_regulator_get_drain (const MmtpRegulator * regulator)
{
  gdouble least = regulator->usual;
  guint i;

  if (regulator->n_floors < LEAST_FLOORS)
    return regulator->target;
  for (i = 0; i < regulator->n_floors; i++)
    least = MIN (least, regulator->floors[i]);
  return CLAMP (regulator->target + regulator->usual - least,
      regulator->target, regulator->most);
}

static void
note_floor (MmtpRegulator * regulator, const MmtpRegulatorWindow * window)
{
  guint64 age = window->now - regulator->floor_time;

  if (regulator->n_floors == 0 || age >= FLOOR_TIME) {
    regulator->floor = (regulator->floor + 1) % MMTP_REGULATOR_FLOORS;
    regulator->n_floors = MIN (regulator->n_floors + 1, MMTP_REGULATOR_FLOORS);
    regulator->floors[regulator->floor] = window->least;
    regulator->floor_time = window->now;
  }
  regulator->floors[regulator->floor] =
      MIN (regulator->floors[regulator->floor], window->least);
}

static void
note_noise (MmtpRegulator * regulator, const MmtpRegulatorWindow * window)
{
  gdouble difference = ABS (window->least - 2 * regulator->last +
      regulator->last_but_one);

  /* The first of a row have another load before them. */
  if (++regulator->n_windows <= 2)
    return;
  regulator->n_noise = CLAMP (regulator->n_noise + 1, FEW_NOISE_WINDOWS,
      NOISE_WINDOWS);
  regulator->noise += (DEVIATION_OF_DIFFERENCE * difference -
      regulator->noise) / regulator->n_noise;
}

static void
note_block (MmtpRegulator * regulator, const MmtpRegulatorWindow * window)
{
  if (regulator->n_sum == 0)
    regulator->block_time = window->now;
  regulator->sum += window->least;
  regulator->n_sum++;
  if (regulator->n_sum < BLOCK_WINDOWS ||
      window->now - regulator->block_time < BLOCK_TIME)
    return;
  regulator->blocks[regulator->block] = regulator->sum / regulator->n_sum;
  regulator->block = (regulator->block + 1) % MMTP_REGULATOR_BLOCKS;
  regulator->n_blocks = MIN (regulator->n_blocks + 1, MMTP_REGULATOR_BLOCKS);
  regulator->n_sum = 0;
  regulator->sum = 0;
}

/* What windows are like without a queue; of the first block the mean so far */
static gdouble
get_usual (const MmtpRegulator * regulator)
{
  gdouble usual = G_MAXDOUBLE;
  guint i;

  if (regulator->n_blocks == 0)
    return regulator->n_sum ? regulator->sum / regulator->n_sum :
        regulator->last;
  for (i = 0; i < regulator->n_blocks; i++)
    usual = MIN (usual, regulator->blocks[i]);
  return usual;
}

/* TRUE: it is no queue */
static gboolean
watch_excess (MmtpRegulator * regulator, guint64 now, gdouble time)
{
  gdouble queue = regulator->queue;

  if (queue <= 2 * regulator->target) {
    regulator->excess_time = 0;
    return FALSE;
  }
  if (regulator->excess_time == 0 || queue > 2 * regulator->excess) {
    regulator->excess_time = now;
    regulator->excess = queue;
    regulator->excess_believed = regulator->believed;
    return FALSE;
  }
  if (now - regulator->excess_time < PATIENCE * time)
    return FALSE;
  regulator->excess_time = 0;
  return queue > SHORTER * regulator->excess;
}

static void
count_windows (MmtpRegulator * regulator, gboolean is_busy)
{
  if (regulator->queue > regulator->target) {
    regulator->above++;
    regulator->below = 0;
  } else {
    regulator->above = 0;
    regulator->below += is_busy;
  }
  if (regulator->above == SURE_WINDOWS ||
      regulator->queue > 2 * regulator->target)
    regulator->is_guess = FALSE;
}

/* A queue that is clearly one grows by as much as is sent too fast. */
static void
correct (MmtpRegulator * regulator, guint64 now, gdouble time, gdouble passed)
{
  gdouble growth = regulator->queue - regulator->queue_before;

  if (regulator->queue <= 2 * regulator->target ||
      regulator->queue_before <= regulator->target || growth <= 0
      || now < regulator->corrected + time)
    return;
  regulator->believed = MIN (regulator->believed, regulator->rate /
      (1 + MIN (growth / MAX (passed, time / LAGS), MOST_GROWTH)));
  regulator->corrected = now;
}

static void
follow (MmtpRegulator * regulator, const MmtpRegulatorWindow * window,
    gdouble time, gdouble passed)
{
  gboolean is_busy = window->sent >= BUSY * regulator->rate;
  gdouble error = regulator->target - regulator->queue;
  gdouble gain = CLAMP (error < 0 ? FASTER_DOWN * error / time :
      error / time, MOST_DOWN, is_busy ? MOST_UP : 0);
  gboolean is_free = is_busy && error > regulator->target / 2 &&
      !window->is_measured;

  count_windows (regulator, is_busy);
  if (window->limit > regulator->believed && regulator->below >= LONG_BELOW)
    regulator->is_guess = TRUE;
  if (is_free && regulator->is_guess)
    regulator->believed *= 1 + GUESS_UP * passed / time;
  else if (is_free && regulator->below >= LONG_BELOW)
    regulator->believed *= 1 + SEEK_UP * passed / time;
  else if (is_busy)
    regulator->believed += (regulator->rate - regulator->believed) *
        MIN (1, passed / (INTEGRAL * time));
  if (window->limit)
    regulator->believed = MIN (regulator->believed, window->limit);
  regulator->rate = regulator->believed * (1 + gain);
}

guint64
mmtp_regulator_add (MmtpRegulator * regulator,
    const MmtpRegulatorWindow * window, gboolean * is_longer)
{
  gdouble passed = regulator->time ? window->now - regulator->time : 0;
  gdouble time = MAX (LEAST_TIME, LAGS * (window->lag + passed));

  if (window->sent >= LOAD * regulator->rate) {
    note_noise (regulator, window);
    note_block (regulator, window);
    note_floor (regulator, window);
  } else {
    regulator->n_windows = 0;
  }
  regulator->last_but_one = regulator->last;
  regulator->last = window->least;
  regulator->time = window->now;
  regulator->usual = get_usual (regulator);
  regulator->queue_before = regulator->queue;
  regulator->queue = window->least - regulator->usual;
  regulator->most = MAX (LEAST_TARGET, window->most);
  regulator->target = CLAMP (MESSAGE_SHARE * window->message + DEVIATIONS *
      regulator->noise, LEAST_TARGET, regulator->most);
  *is_longer = watch_excess (regulator, window->now, time);
  if (*is_longer) {
    regulator->rate = regulator->believed = regulator->excess_believed;
    forget_blocks (regulator);
  } else if (window->sent >= CAUSE * regulator->believed) {
    correct (regulator, window->now, time, passed);
    follow (regulator, window, time, MIN (passed, SECOND));
  } else {
    regulator->rate = regulator->believed;
  }
  return regulator->rate;
}
