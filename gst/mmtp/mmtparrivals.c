/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurement of a channel; see the header. */

#include "mmtparrivals.h"

#include <stdlib.h>
#include <string.h>

#define MSECOND G_GUINT64_CONSTANT (1000000)
#define SECOND G_GUINT64_CONSTANT (1000000000)

/* A window has at least so many messages, or is so long: the least of fewer
 * transits says little. */
#define WINDOW_MESSAGES 8
#define LONGEST_WINDOW (2 * SECOND)
/* Messages may be overtaken for so long, or for their jitter, before they are
 * lost. */
#define LEAST_TOLERANCE (10 * MSECOND)
#define BLOCK_MESSAGES (256 / MMTP_TRANSIT_BLOCKS)
/* A slow channel need not have 256 of them: a queue that has gone is
 * forgotten. */
#define TRANSIT_AGE (10 * SECOND)
#define BLOCK_TIME (TRANSIT_AGE / MMTP_TRANSIT_BLOCKS)
/* Median of at least so many pairs, of those younger than this where there are
 * enough of them */
#define LEAST_SAMPLES 8
#define SAMPLE_AGE (30 * SECOND)
/* Messages so much shorter than the longest are not compared with them: on a
 * slow channel their own transmission is shorter by more than a queue that
 * matters. */
#define IS_LONG(size, longest) ((size) * 4 >= (longest) * 3)
/* Windows without a long one until shorter ones are compared */
#define FORGET_LONGEST 8

static void
begin_window (MmtpArrivalWindow * window, guint64 now)
{
  memset (window, 0, sizeof (*window));
  window->start = now;
  window->least = G_MAXINT64;
}

static void
begin_load (MmtpArrivals * arrivals, guint64 now)
{
  MmtpLoadWindow *load = &arrivals->load;

  arrivals->load_before = *load;
  memset (load, 0, sizeof (*load));
  load->start = now;
  load->arrival = arrivals->last_arrival;
  load->least = G_MAXINT64;
  load->highest = G_MININT64;
}

static void
begin_block (MmtpTransitBlock * block, guint64 now)
{
  block->began = now;
  block->highest = block->second = G_MININT64;
  block->lowest = G_MAXINT64;
  block->n = 0;
}

void
mmtp_arrivals_begin_path (MmtpArrivals * arrivals, guint64 now)
{
  guint i;

  begin_window (&arrivals->window, now);
  begin_window (&arrivals->before, now);
  arrivals->any = FALSE;
  arrivals->last_arrival = arrivals->window_arrival = 0;
  arrivals->jitter = 0;
  arrivals->n_samples = 0;
  arrivals->capacity = 0;
  arrivals->is_rough = FALSE;
  mmtp_congestion_init (&arrivals->congestion);
  begin_load (arrivals, now);
  begin_load (arrivals, now);
  arrivals->load_size = 0;
  arrivals->load_length = arrivals->period;
  for (i = 0; i < MMTP_TRANSIT_BLOCKS; i++)
    begin_block (&arrivals->blocks[i], now);
}

void
mmtp_arrivals_init (MmtpArrivals * arrivals, guint64 now, guint64 period)
{
  memset (arrivals, 0, sizeof (*arrivals));
  arrivals->period = period;
  mmtp_losses_init (&arrivals->losses);
  mmtp_arrivals_begin_path (arrivals, now);
}

static guint64
get_tolerance (const MmtpArrivals * arrivals)
{
  return MAX (LEAST_TOLERANCE, (guint64) arrivals->jitter);
}

/* --- capacity by packet pairs -------------------------------------------- */

static gint
compare_periods (gconstpointer a, gconstpointer b)
{
  guint64 first = *(const guint64 *) a, second = *(const guint64 *) b;

  return first < second ? -1 : first > second;
}

/* The median of pairs. Those of which the middle half is spread over more than
 * half of it measure the fluctuation of the delay: then the mean, since what
 * one of a train takes too long the next takes less. */
static guint64
get_pair_period (const MmtpArrivals * arrivals, guint64 now,
    gboolean * is_rough)
{
  guint64 periods[MMTP_PAIR_SAMPLES], sum = 0;
  guint i, n;

  for (n = 0; n < arrivals->n_samples; n++) {
    const MmtpPairSample *sample = &arrivals->samples[(arrivals->next_sample
            + MMTP_PAIR_SAMPLES - 1 - n) % MMTP_PAIR_SAMPLES];

    if (n >= LEAST_SAMPLES && now - sample->time > SAMPLE_AGE)
      break;
    periods[n] = sample->period;
    sum += sample->period;
  }
  qsort (periods, n, sizeof (*periods), compare_periods);
  i = n / 2;
  *is_rough = (periods[n - 1 - n / 4] - periods[n / 4]) * 2 > periods[i];
  if (*is_rough)
    return sum / n;
  return n % 2 ? periods[i] : (periods[i - 1] + periods[i]) / 2;
}

/* Of a message that was sent right behind the one before, and came as the next
 * one: how long its own bytes took. */
static void
add_pair (MmtpArrivals * arrivals, guint64 now, const MmtpArrival * arrival)
{
  guint64 gap = now - arrivals->last_arrival, period;
  gint64 sent_gap = arrival->sent - arrivals->last_sent;
  MmtpPairSample *sample = &arrivals->samples[arrivals->next_sample];

  /* Not back to back: that would measure the sender. */
  if (gap > SECOND * 60 || sent_gap < 0
      || (guint64) sent_gap > gap / 2 + MMTP_TICK * 1000)
    return;
  sample->time = now;
  sample->period = gap * 65536 / MAX (arrival->size, 1);
  arrivals->next_sample = (arrivals->next_sample + 1) % MMTP_PAIR_SAMPLES;
  arrivals->n_samples = MIN (arrivals->n_samples + 1, MMTP_PAIR_SAMPLES);
  if (arrivals->n_samples < LEAST_SAMPLES)
    return;
  period = get_pair_period (arrivals, now, &arrivals->is_rough);
  arrivals->capacity = period ? 65536 * SECOND / period : 0;
}

/* --- transits ------------------------------------------------------------ */

static void
add_transit (MmtpArrivals * arrivals, guint64 now, gint64 transit)
{
  MmtpTransitBlock *block = &arrivals->blocks[arrivals->block];

  if (block->n == BLOCK_MESSAGES ||
      (block->n > 0 && now - block->began > BLOCK_TIME)) {
    arrivals->block = (arrivals->block + 1) % MMTP_TRANSIT_BLOCKS;
    block = &arrivals->blocks[arrivals->block];
    begin_block (block, now);
  }
  block->n++;
  block->lowest = MIN (block->lowest, transit);
  if (transit > block->highest) {
    block->second = block->highest;
    block->highest = transit;
  } else if (transit > block->second) {
    block->second = transit;
  }
}

static gboolean
is_recent (const MmtpTransitBlock * block, guint64 now)
{
  return block->n > 0 && now - block->began <= TRANSIT_AGE;
}

/* The highest of fewer than 256, the second highest of 256 */
static gint64
get_high_transit (const MmtpArrivals * arrivals, guint64 now)
{
  gint64 highest = G_MININT64, second = G_MININT64;
  guint i, n = 0;

  for (i = 0; i < MMTP_TRANSIT_BLOCKS; i++) {
    const MmtpTransitBlock *block = &arrivals->blocks[i];

    if (!is_recent (block, now))
      continue;
    n += block->n;
    if (block->highest > highest) {
      second = MAX (highest, block->second);
      highest = block->highest;
    } else {
      second = MAX (second, block->highest);
    }
  }
  return n < (MMTP_TRANSIT_BLOCKS - 1) * BLOCK_MESSAGES ? highest : second;
}

static gint64
get_low_transit (const MmtpArrivals * arrivals, guint64 now)
{
  gint64 lowest = G_MAXINT64;
  guint i;

  for (i = 0; i < MMTP_TRANSIT_BLOCKS; i++)
    if (is_recent (&arrivals->blocks[i], now))
      lowest = MIN (lowest, arrivals->blocks[i].lowest);
  return lowest;
}

gboolean
mmtp_arrivals_get_least_transit (const MmtpArrivals * arrivals,
    gint64 * transit)
{
  *transit = MIN (arrivals->before.least, arrivals->window.least);
  return *transit != G_MAXINT64;
}

/* --- what a window says of congestion ------------------------------------ */

/* What was compared so far is another thing. */
static void
restart_load (MmtpArrivals * arrivals, gsize size)
{
  mmtp_congestion_init (&arrivals->congestion);
  arrivals->load_size = size;
  arrivals->load.n = 0;
  arrivals->load.least = G_MAXINT64;
  arrivals->load.highest = G_MININT64;
}

static void
note_load (MmtpArrivals * arrivals, gsize size, gint64 transit)
{
  MmtpLoadWindow *load = &arrivals->load;

  load->longest = MAX (load->longest, size);
  if (!IS_LONG (arrivals->load_size, size))
    restart_load (arrivals, size);
  arrivals->load_size = MAX (arrivals->load_size, size);
  if (!IS_LONG (size, arrivals->load_size))
    return;
  load->n++;
  load->least = MIN (load->least, transit);
  load->highest = MAX (load->highest, transit);
  load->last = transit;
}

/* Of this window and the one before: in them it grew. */
static guint64
get_load_rate (const MmtpArrivals * arrivals)
{
  const MmtpLoadWindow *load = &arrivals->load, *before =
      &arrivals->load_before;
  guint64 since = before->arrival ? before->arrival : load->arrival;
  guint64 bytes = load->bytes + (before->arrival ? before->bytes : 0);

  return bytes * SECOND / MAX (arrivals->last_arrival - since, 1);
}

/* The messages that it ends with were on their way longer than its first. */
static gboolean
is_rising (const MmtpLoadWindow * load)
{
  return load->last - load->least >= load->highest - load->last;
}

static void
compare_windows (MmtpArrivals * arrivals, guint64 now)
{
  gint64 growth;

  switch (mmtp_congestion_add (&arrivals->congestion, now,
          arrivals->load.least, is_rising (&arrivals->load), &growth)) {
    case MMTP_CONGESTION_GROWS:
      arrivals->growth = growth;
      arrivals->decrease_rate = get_load_rate (arrivals);
      arrivals->decrease_waits = TRUE;
      break;
    case MMTP_CONGESTION_FALLS:
      arrivals->more_until = now + 2 * arrivals->period;
      break;
    default:
      break;
  }
}

static guint64
get_load_end (const MmtpArrivals * arrivals)
{
  guint64 length = arrivals->load_length;

  if (arrivals->load.n < WINDOW_MESSAGES)
    length = MAX (length, LONGEST_WINDOW);
  return arrivals->load.start + length;
}

/* Longer than single messages are delayed more than others: in such a time some
 * come that waited for none. As it was before a queue grew */
static void
set_load_length (MmtpArrivals * arrivals, guint64 now)
{
  gint64 low = get_low_transit (arrivals, now);
  guint64 spread = low == G_MAXINT64 ? 0 :
      get_high_transit (arrivals, now) - low;

  arrivals->load_length = MAX (arrivals->period, MIN (LONGEST_WINDOW, spread));
}

static void
judge_load (MmtpArrivals * arrivals, guint64 now)
{
  MmtpLoadWindow *load = &arrivals->load;

  if (get_load_end (arrivals) > now)
    return;
  if (load->n > 0) {
    arrivals->windows_without = 0;
    compare_windows (arrivals, now);
    if (mmtp_congestion_is_usual (&arrivals->congestion))
      set_load_length (arrivals, now);
  } else if (load->longest > 0 &&
      ++arrivals->windows_without == FORGET_LONGEST) {
    arrivals->windows_without = 0;
    restart_load (arrivals, load->longest);
  }
  begin_load (arrivals, now);
}

/* --- windows ------------------------------------------------------------- */

/* From arrival to arrival: the edges of a window cut no packet. Of the first,
 * or one that has nothing, the time that it took */
static guint64
get_span (const MmtpArrivals * arrivals, guint64 now)
{
  guint64 span = 0;

  if (arrivals->window.n > 0 && arrivals->window_arrival > 0)
    span = arrivals->last_arrival - arrivals->window_arrival;
  return span > 0 ? span : MAX (now - arrivals->window.start, 1);
}

static void
end_window (MmtpArrivals * arrivals, guint64 now)
{
  MmtpArrivalWindow *window = &arrivals->window;
  guint64 span = get_span (arrivals, now);

  arrivals->rate = window->bytes * SECOND / span;
  arrivals->inter_arrival = window->n > 0 ? span / window->n : 0;
  arrivals->accumulated = window->n > 0 && arrivals->window_arrival > 0 ?
      arrivals->last_transit - arrivals->window_transit : 0;
  judge_load (arrivals, now);
  arrivals->before = *window;
  arrivals->window_arrival = arrivals->last_arrival;
  arrivals->window_transit = arrivals->last_transit;
  begin_window (window, now);
}

static guint64
get_window_end (const MmtpArrivals * arrivals)
{
  const MmtpArrivalWindow *window = &arrivals->window;

  return window->start + (window->n >= WINDOW_MESSAGES ? arrivals->period :
      MAX (arrivals->period, LONGEST_WINDOW));
}

void
mmtp_arrivals_timeout (MmtpArrivals * arrivals, guint64 now)
{
  mmtp_losses_timeout (&arrivals->losses, now, get_tolerance (arrivals));
  if (get_window_end (arrivals) <= now)
    end_window (arrivals, now);
}

guint64
mmtp_arrivals_next_wakeup (const MmtpArrivals * arrivals)
{
  return MIN (get_window_end (arrivals),
      mmtp_losses_next_wakeup (&arrivals->losses, get_tolerance (arrivals)));
}

/* --- a message comes ----------------------------------------------------- */

static void
add_to_window (MmtpArrivals * arrivals, const MmtpArrival * arrival,
    gint64 transit)
{
  MmtpArrivalWindow *window = &arrivals->window;

  window->n++;
  window->bytes += arrival->size;
  window->least = MIN (window->least, transit);
  arrivals->load.bytes += arrival->size;
  if (arrival->is_load)
    note_load (arrivals, arrival->size, transit);
}

void
mmtp_arrivals_add (MmtpArrivals * arrivals, guint64 now,
    const MmtpArrival * arrival)
{
  gint64 transit = (gint64) now - arrival->sent;

  if (get_window_end (arrivals) <= now)
    end_window (arrivals, now);
  if (arrivals->any) {
    if (arrival->pair && arrival->number == arrivals->last_number + 1)
      add_pair (arrivals, now, arrival);
    arrivals->jitter += (ABS (transit - arrivals->last_transit)
        - arrivals->jitter) / 16;
  }
  arrivals->any = TRUE;
  arrivals->received++;
  arrivals->bytes += arrival->size;
  arrivals->last_arrival = now;
  arrivals->last_number = arrival->number;
  arrivals->last_sent = arrival->sent;
  arrivals->last_transit = transit;
  mmtp_losses_add (&arrivals->losses, now, arrival->number,
      get_tolerance (arrivals), arrival->repair_until);
  /* The second of a pair waits for the first, as its sender knows, and what is
   * asked behind it for both. */
  if (arrival->is_load && !arrival->pair)
    add_transit (arrivals, now, transit);
  add_to_window (arrivals, arrival, transit);
}

void
mmtp_arrivals_add_late (MmtpArrivals * arrivals)
{
  arrivals->late++;
}

/* --- what is told -------------------------------------------------------- */

gboolean
mmtp_arrivals_is_silent (const MmtpArrivals * arrivals, guint64 now)
{
  return arrivals->any && now - arrivals->last_arrival > 2 * arrivals->period;
}

gboolean
mmtp_arrivals_take_decrease (MmtpArrivals * arrivals, guint64 now,
    guint64 round_trip, MmtpDecrease * decrease)
{
  if (!arrivals->decrease_waits)
    return FALSE;
  arrivals->decrease_waits = FALSE;
  arrivals->n_decreases++;
  arrivals->decrease = arrivals->decrease % G_MAXUINT8 + 1;
  decrease->number = arrivals->decrease;
  decrease->jitter = MIN (arrivals->growth / 1000, G_MAXUINT32);
  decrease->rate = MIN (arrivals->decrease_rate, G_MAXUINT32);
  /* What stands in the queue comes first, before less is seen. */
  mmtp_congestion_hold (&arrivals->congestion, now + round_trip
      + arrivals->period + arrivals->growth);
  return TRUE;
}

static gint32
to_ticks (gint64 time)
{
  return CLAMP (time / (MMTP_TICK * 1000), G_MININT32, G_MAXINT32);
}

static guint8
get_flags (const MmtpArrivals * arrivals, guint64 now)
{
  gint64 least;
  guint8 flags = 0;

  if (now < arrivals->more_until)
    flags |= MMTP_RECORD_MORE;
  if (mmtp_arrivals_is_silent (arrivals, now))
    flags |= MMTP_RECORD_SILENT;
  if (!mmtp_arrivals_get_least_transit (arrivals, &least))
    flags |= MMTP_RECORD_UNMEASURED;
  if (arrivals->is_rough)
    flags |= MMTP_RECORD_ROUGH;
  return flags;
}

void
mmtp_arrivals_get_record (MmtpArrivals * arrivals, guint64 now,
    gboolean surely, guint ranges, MmtpRecord * record)
{
  gint64 least;

  memset (record, 0, sizeof (*record));
  record->flags = get_flags (arrivals, now);
  record->highest = arrivals->losses.highest & G_MAXUINT32;
  record->received = arrivals->received & G_MAXUINT32;
  record->lost = arrivals->losses.lost & G_MAXUINT32;
  record->late = arrivals->late & G_MAXUINT32;
  record->bytes = arrivals->bytes & G_MAXUINT32;
  if (mmtp_arrivals_get_least_transit (arrivals, &least)) {
    record->least_transit = to_ticks (least);
    record->high_transit = to_ticks (MAX (least,
            get_high_transit (arrivals, now)));
  }
  record->inter_arrival = MIN (arrivals->inter_arrival / 1000, G_MAXUINT32);
  record->jitter = CLAMP (arrivals->accumulated / 1000, G_MININT32, G_MAXINT32);
  record->capacity = MIN (arrivals->capacity, G_MAXUINT32);
  record->rate = MIN (arrivals->rate, G_MAXUINT32);
  record->decrease = arrivals->decrease;
  record->n_ranges = mmtp_losses_report (&arrivals->losses, now,
      surely, record->ranges, MIN (ranges, MMTP_MAX_RANGES));
}
