/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Incipient congestion; see the header. */

#include "mmtpcongestion.h"

#include <math.h>
#include <string.h>

/* Queues shorter than this are the noise of schedulers and radios: half of the
 * target that CoDel begins to act on twice (RFC 8289 4.2: 5 ms). */
#define LEAST_GROWTH (10 * 1000000)
/* Windows before anything is a sign: a line and how far they are off it */
#define LEAST_WINDOWS 4
/* Standard deviations of these that windows are off by when they are a sign,
 * two in a row; more while few say how much that is: 3 * (1 + 8 / n). With this
 * a delay of 0 to 300 ms of each packet, in order, is taken for a queue less
 * than once in five minutes of any simulated rate and period, and mostly
 * never. */
#define DEVIATIONS 3
#define FEW_WINDOWS 8
/* So far above in one window that no second one is waited for */
#define CLEAR_GROWTH 4
/* A queue that stays after the sender sends less: so many windows until it is
 * asked once more, and then until it is no queue but a longer path */
#define STANDING_WINDOWS 6
#define MAX_REPEATS 1
#define BLOCK_WINDOWS 8
/* Of windows in a block; the least of a hundred windows is 2.5 of them below
 * the mean. */
#define CREEP_DEVIATIONS 5
/* Clocks that differ by 100 ppm move 3 ms in it, less than LEAST_GROWTH. */
#define BLOCK_AGE (30 * G_GUINT64_CONSTANT (1000000000))

void
mmtp_congestion_init (MmtpCongestion * congestion)
{
  memset (congestion, 0, sizeof (*congestion));
}

static void
push_base (MmtpCongestion * congestion, gint64 least)
{
  congestion->base[congestion->next] = least;
  congestion->next = (congestion->next + 1) % MMTP_CONGESTION_WINDOWS;
  congestion->n = MIN (congestion->n + 1, MMTP_CONGESTION_WINDOWS);
}

/* The i-th oldest */
static gint64
get_base (const MmtpCongestion * congestion, guint i)
{
  return congestion->base[(congestion->next + MMTP_CONGESTION_WINDOWS
          - congestion->n + i) % MMTP_CONGESTION_WINDOWS];
}

static gint64
get_mean (const MmtpCongestion * congestion)
{
  gint64 sum = 0;
  guint i;

  for (i = 0; i < congestion->n; i++)
    sum += get_base (congestion, i) / (gint) congestion->n;
  return sum;
}

/* Standard deviation of the windows from the straight line through them: a
 * queue that grows is no noise. While there are few, what it was before weighs
 * too. */
static gint64
get_noise (const MmtpCongestion * congestion)
{
  const guint n = congestion->n;
  const gdouble middle = (n - 1) / 2.0, spread = n * (n * n - 1.0) / 12;
  gdouble mean = get_mean (congestion), slope = 0, sum = 0, off;
  guint i;

  for (i = 0; i < n; i++)
    slope += (i - middle) * (get_base (congestion, i) - mean) / spread;
  for (i = 0; i < n; i++) {
    off = get_base (congestion, i) - mean - slope * (i - middle);
    sum += off * off;
  }
  sum = sum / (n - 2) * n + congestion->past_noise * congestion->past_noise
      * (MMTP_CONGESTION_WINDOWS - n);
  return sqrt (sum / (congestion->past_noise > 0 ? MMTP_CONGESTION_WINDOWS :
          n));
}

/* So many standard deviations; more while few windows say how much that is */
static gint64
get_threshold (const MmtpCongestion * congestion)
{
  return MAX (LEAST_GROWTH, get_noise (congestion) * DEVIATIONS *
      (congestion->n + FEW_WINDOWS) / congestion->n);
}

static void
restart (MmtpCongestion * congestion, gint64 first, gint64 second)
{
  gint64 noise = get_noise (congestion);

  mmtp_congestion_init (congestion);
  congestion->past_noise = noise;
  push_base (congestion, first);
  push_base (congestion, second);
}

static MmtpCongestionSign
begin_congestion (MmtpCongestion * congestion, gint64 least)
{
  congestion->congested = TRUE;
  congestion->level = least;
  congestion->standing = congestion->repeats = 0;
  congestion->above = congestion->below = 0;
  congestion->n_blocks = 0;
  congestion->n_sum = 0;
  return MMTP_CONGESTION_GROWS;
}

/* --- what is creeping ---------------------------------------------------- */

static void
forget_old_blocks (MmtpCongestion * congestion, guint64 now)
{
  guint i, kept = 0;

  for (i = 0; i < congestion->n_blocks; i++)
    if (now - congestion->blocks[i].time <= BLOCK_AGE)
      congestion->blocks[kept++] = congestion->blocks[i];
  congestion->n_blocks = kept;
}

static void
push_block (MmtpCongestion * congestion, const MmtpCongestionBlock * block)
{
  if (congestion->n_blocks == MMTP_CONGESTION_BLOCKS)
    memmove (congestion->blocks, congestion->blocks + 1,
        --congestion->n_blocks * sizeof (*block));
  congestion->blocks[congestion->n_blocks++] = *block;
}

static void
add_to_block (MmtpCongestion * congestion, gint64 least)
{
  if (congestion->n_sum == 0) {
    congestion->sum = congestion->squares = congestion->changes = 0;
    congestion->block_least = least;
  } else {
    congestion->changes += ABS (least - congestion->last);
  }
  congestion->n_sum++;
  congestion->sum += least;
  congestion->squares += (gdouble) least *least;
  congestion->block_least = MIN (congestion->block_least, least);
}

/* From neighbours, without what grows in it, E|a - b| being 2 / sqrt (pi)
 * standard deviations; but where those are alike not less than half of what all
 * have. */
static gdouble
get_block_noise (const MmtpCongestion * congestion)
{
  const guint n = congestion->n_sum;
  gdouble mean = congestion->sum / n;
  gdouble variance = congestion->squares / n - mean * mean;

  return MAX (congestion->changes / (n - 1) * 0.886,
      sqrt (MAX (variance, 0)) / 2);
}

/* ns above the least one lately, and how much that differs by noise alone */
static gint64
compare_block (const MmtpCongestion * congestion,
    const MmtpCongestionBlock * block, gdouble * noise)
{
  gint64 floor = block->least;
  guint i;

  *noise = 0;
  for (i = 0; i < congestion->n_blocks; i++) {
    floor = MIN (floor, congestion->blocks[i].least);
    *noise += congestion->blocks[i].noise / congestion->n_blocks;
  }
  *noise = MAX (*noise, block->noise);
  return block->least - floor;
}

/* All windows of a block are far above the least one lately: also where it
 * began like that, before there was anything to compare with. */
static gboolean
has_crept (MmtpCongestion * congestion, guint64 now, gint64 least,
    gint64 * growth)
{
  MmtpCongestionBlock block = { now, 0, 0 };
  gdouble noise;

  add_to_block (congestion, least);
  if (congestion->n_sum < BLOCK_WINDOWS)
    return FALSE;
  block.least = congestion->block_least;
  block.noise = get_block_noise (congestion);
  congestion->n_sum = 0;
  forget_old_blocks (congestion, now);
  *growth = compare_block (congestion, &block, &noise);
  push_block (congestion, &block);
  return *growth > MAX (LEAST_GROWTH, noise * CREEP_DEVIATIONS);
}

/* To what it was before that crept into it */
static void
lower_base (MmtpCongestion * congestion, gint64 growth)
{
  guint i;

  for (i = 0; i < MMTP_CONGESTION_WINDOWS; i++)
    congestion->base[i] -= growth;
}

static MmtpCongestionSign
add_while_congested (MmtpCongestion * congestion, guint64 now, gint64 least,
    gint64 * growth)
{
  gint64 threshold = get_threshold (congestion);

  *growth = least - get_mean (congestion);
  if (*growth <= threshold) {
    congestion->congested = FALSE;
    return MMTP_CONGESTION_NONE;
  }
  if (least < congestion->level - threshold && least < congestion->last) {
    congestion->standing = 0;
    return MMTP_CONGESTION_NONE;
  }
  if (now < congestion->hold_until)
    return MMTP_CONGESTION_NONE;
  /* What came while it grew was told; who sends no more than that is not asked
   * for what others add, until it is as much again. */
  if (least - congestion->level > MAX (threshold, *growth / 2)) {
    congestion->level = least;
    congestion->standing = 0;
    return MMTP_CONGESTION_GROWS;
  }
  if (++congestion->standing < STANDING_WINDOWS)
    return MMTP_CONGESTION_NONE;
  congestion->standing = 0;
  if (congestion->repeats++ < MAX_REPEATS)
    return MMTP_CONGESTION_GROWS;
  restart (congestion, congestion->last, least);
  return MMTP_CONGESTION_NONE;
}

/* A queue that has been drained in between is none: late ones, then early
 * ones. */
static MmtpCongestionSign
add_above (MmtpCongestion * congestion, gint64 least, gboolean clear)
{
  congestion->below = 0;
  congestion->above++;
  if (!clear && (congestion->above < 2 || least < congestion->last))
    return MMTP_CONGESTION_NONE;
  return begin_congestion (congestion, least);
}

static MmtpCongestionSign
add_below (MmtpCongestion * congestion, gint64 least)
{
  congestion->above = 0;
  if (++congestion->below < 2)
    return MMTP_CONGESTION_NONE;
  restart (congestion, congestion->last, least);
  return MMTP_CONGESTION_FALLS;
}

static MmtpCongestionSign
add_usual (MmtpCongestion * congestion, guint64 now, gint64 least,
    gint64 * growth)
{
  congestion->above = congestion->below = 0;
  push_base (congestion, least);
  if (!has_crept (congestion, now, least, growth))
    return MMTP_CONGESTION_NONE;
  lower_base (congestion, *growth);
  return begin_congestion (congestion, least);
}

static MmtpCongestionSign
judge (MmtpCongestion * congestion, guint64 now, gint64 least,
    gboolean rising, gint64 * growth)
{
  gint64 threshold;

  if (congestion->n < LEAST_WINDOWS) {
    push_base (congestion, least);
    has_crept (congestion, now, least, growth);
    return MMTP_CONGESTION_NONE;
  }
  if (congestion->congested)
    return add_while_congested (congestion, now, least, growth);
  threshold = get_threshold (congestion);
  *growth = least - get_mean (congestion);
  if (*growth > threshold)
    return add_above (congestion, least, rising
        && *growth > CLEAR_GROWTH * threshold);
  if (*growth < -threshold)
    return add_below (congestion, least);
  return add_usual (congestion, now, least, growth);
}

MmtpCongestionSign
mmtp_congestion_add (MmtpCongestion * congestion, guint64 now, gint64 least,
    gboolean rising, gint64 * growth)
{
  MmtpCongestionSign sign;

  *growth = 0;
  sign = judge (congestion, now, least, rising, growth);
  congestion->last = least;
  return sign;
}

gboolean
mmtp_congestion_is_usual (const MmtpCongestion * congestion)
{
  return !congestion->congested && congestion->above == 0;
}

void
mmtp_congestion_hold (MmtpCongestion * congestion, guint64 until)
{
  congestion->hold_until = until;
}
