/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of linkwander.h: a cellular link with a varying rate.
 *
 * In section 3.1 of Winstein et al. (2013) the rate follows an unbounded
 * Brownian motion. Such a motion has no mean, so two runs of different length
 * could not be compared. This model adds a reversion to a mean (an
 * Ornstein-Uhlenbeck process), and reflects the rate at its minimum and at its
 * maximum. The long-term density of such a process is a normal distribution
 * that is truncated at these two limits. The truncation changes the mean.
 * Therefore the centre of the normal distribution is chosen so that the mean
 * after the truncation is the configured mean rate.
 *
 * In the model of Winstein et al. an outage begins when the rate reaches zero.
 * Here outages are a separate process, so that a configuration can set how
 * often they occur. As in the original model, an outage ends with a constant
 * probability per time.
 *
 * All arithmetic uses integers or the four basic operations on doubles. The
 * results are therefore the same on every machine. */

#include "linkwander.h"

#include "linkmodel.h"

/* A tick is a time step with a constant rate. It takes 20 ms (section 3.2 of
 * Winstein et al.). */
#define TICK (20 * LINK_MS)
#define TICK_SECONDS 0.02
#define TICK_ROOT 0.1414213562373095    /* square root of TICK_SECONDS */

/* LTE schedules its transmissions in intervals of 1 ms (3GPP TS 36.211, 4.1).
 * The time of each opportunity to send is therefore rounded down to a multiple
 * of 1 ms. Several opportunities may then have the same time. */
#define INTERVAL LINK_MS

#define BITS (8.0 * LINK_WANDER_BYTES)
/* Upper limit in ns for the mean time between two opportunities to send. It
 * prevents an overflow if the rate is almost 0. It is much longer than a time
 * step of the model (20 ms), so the link then sends practically nothing. */
#define MAX_GAP 1e15

/* Number of rates for which the probability density is computed, as in section
 * 3.2 of Winstein et al. */
#define N_POINTS 256
/* At this distance from its peak, the probability density is negligible. The
 * distance is measured in standard deviations. */
#define MAX_DEVIATIONS 8
/* The centre of the rate distribution is found by bisection. The search range
 * begins at least this number of standard deviations below the lowest rate, and
 * ends at the same distance above the highest rate. */
#define MAX_CENTRE 20

/* Mean and standard deviation of the sum of four uniform 16-bit numbers. */
#define SUM_MEAN 131070.0
#define SUM_DEVIATION 37837.2

struct _LinkWander
{
  guint64 seed;
  guint32 station;
  LinkOnOff outages;
  /* Copy of `outages`. The caller may query the copy for any time, to find out
   * whether there is an outage. A query advances the copy to the time of the
   * query. It must not advance `outages` itself, because the opportunities to
   * send depend on `outages`. */
  LinkOnOff seen;

  LinkCellularConfig config;
  guint direction;
  gboolean started;             /* the following fields are set */
  gdouble min_rate, max_rate;   /* bit/s */
  /* Centre towards which the rate is drawn, in bit/s. If the rate had no
   * minimum and no maximum, the centre would be the mean of the rate. */
  gdouble centre;
  /* In each tick, the rate moves towards `centre` by this fraction of its
   * distance from `centre`.
   */
  gdouble pull;
  /* standard deviation of the random change of the rate per tick, in bit/s */
  gdouble step;
  gdouble rate;                 /* current rate in bit/s */
  guint64 tick;
  /* Number of opportunities to send that were computed for the current tick. A
   * tick is a period of 20 ms. At each opportunity, the link can send
   * LINK_WANDER_BYTES bytes. */
  guint index;
  /* time in ns from the beginning of the tick to the current opportunity */
  guint64 offset;
};

/* Long-term distribution */

static gdouble
get_root (gdouble square)
{
  gdouble root = MAX (square, 1);
  guint i;

  for (i = 0; i < 100; i++)
    root = (root + square / root) / 2;
  return root;
}

/* Returns e^-x for x >= 0. */
static gdouble
get_decay (gdouble x)
{
  gdouble y = x / 1024;
  gdouble decay = 1 - y * (1 - y / 2 * (1 - y / 3));
  guint i;

  if (x > 50)
    return 0;
  for (i = 0; i < 10; i++)
    decay *= decay;
  return decay;
}

/* A normal distribution that is cut off at two limits. */
typedef struct
{
  gdouble centre, deviation;
  /* Grid of rates for which the probability density is computed: the first
   * rate, and the distance between neighbouring rates. */
  gdouble begin, width;
  gdouble weights[N_POINTS];
  gdouble sum, mean;
} Density;

static void
fill_density (Density * density, gdouble min, gdouble max)
{
  gdouble deviation = density->deviation;
  gdouble peak = CLAMP (density->centre, min, max), moment = 0;
  gdouble begin = MAX (min, peak - MAX_DEVIATIONS * deviation);
  gdouble end = MIN (max, peak + MAX_DEVIATIONS * deviation);
  guint i;

  density->width = (end - begin) / N_POINTS;
  density->begin = begin + density->width / 2;
  density->sum = 0;
  for (i = 0; i < N_POINTS; i++) {
    gdouble x = density->begin + i * density->width;
    /* The weights are the normal density at each rate, multiplied by a common
     * factor. The factor does not change the result, because the result is
     * divided by the sum of the weights. `peak` is the rate with the highest
     * density between the limits of the distribution. The factor is chosen so
     * that the weight at `peak` is 1.
     *
     * The weight at the centre of the distribution is not chosen to be 1,
     * because the centre may be far outside the limits. The density within the
     * limits would be tiny in comparison, and all weights could be rounded to
     * 0. */
    gdouble exponent = (x - peak) * (x + peak - 2 * density->centre) /
        (2 * deviation * deviation);

    density->weights[i] = get_decay (MAX (exponent, 0));
    density->sum += density->weights[i];
    moment += density->weights[i] * x;
  }
  density->mean = moment / density->sum;
}

/* Searches by bisection for the centre of a normal distribution. If this
 * distribution is cut off at the limits `min` and `max`, the mean of the
 * remaining distribution must be `mean`. This mean increases with the centre.
 */
static void
find_centre (Density * density, gdouble min, gdouble max, gdouble mean)
{
  gdouble range = max - min;
  gdouble reach = MAX_CENTRE * density->deviation *
      MAX (1, density->deviation / range);
  gdouble low = min - reach, high = max + reach;
  guint i;

  for (i = 0; i < 60; i++) {
    density->centre = (low + high) / 2;
    fill_density (density, min, max);
    if (density->mean < mean)
      low = density->centre;
    else
      high = density->centre;
  }
}

/* Draws the first rate from the long-term distribution, because the process is
 * assumed to have run for a long time before time 0. */
static gdouble
draw_from (const Density * density, guint64 draw)
{
  gdouble rest = (draw >> 11) / 9007199254740992.0 * density->sum;
  guint i;

  for (i = 0; i < N_POINTS - 1 && rest >= density->weights[i]; i++)
    rest -= density->weights[i];
  return density->begin + i * density->width;
}

/* Returns the mean rate between outages. It is higher than the configured mean,
 * which includes the outages. */
static gdouble
get_mean_rate (const LinkWander * wander)
{
  gdouble mean = wander->config.mean_rate[wander->direction];
  gdouble good = wander->outages.mean[0], bad = wander->outages.mean[1];

  return good ? mean * (good + bad) / good : mean;
}

static void
init_rate (LinkWander * wander)
{
  gdouble reversion = wander->config.reversion / 1e9;
  gdouble noise = wander->config.noise, mean = get_mean_rate (wander);
  Density density;

  wander->min_rate = wander->config.min_rate;
  wander->max_rate = wander->config.max_rate;
  wander->centre = wander->rate = mean;
  if (noise == 0 || wander->min_rate == wander->max_rate)
    return;
  wander->pull = TICK_SECONDS / reversion;
  wander->step = noise * TICK_ROOT;
  density.deviation = get_root (noise * noise * reversion / 2);
  find_centre (&density, wander->min_rate, wander->max_rate, mean);
  wander->centre = density.centre;
  wander->rate = draw_from (&density, seeded_draw (wander->seed,
          wander->station, LINK_DRAW_CELLULAR_RATE, 0, 1));
}

/* The ticks */

/* Returns a random value whose distribution is nearly normal: a sum of four
 * uniform integers, scaled to mean 0 and standard deviation 1. An exactly
 * normal distribution would hardly change the rates of the link: within a
 * second, 50 such values are added up, and their sum is almost exactly normal.
 */
static gdouble
draw_normal (const LinkWander * wander)
{
  guint64 draw = seeded_draw (wander->seed, wander->station,
      LINK_DRAW_CELLULAR_RATE, wander->tick, 0);
  guint sum = (draw & 0xffff) + ((draw >> 16) & 0xffff) +
      ((draw >> 32) & 0xffff) + (draw >> 48);

  return (sum - SUM_MEAN) / SUM_DEVIATION;
}

static void
begin_next_tick (LinkWander * wander)
{
  gdouble rate = wander->rate;

  wander->tick++;
  wander->index = 0;
  wander->offset = 0;
  if (wander->step == 0)
    return;
  rate += wander->pull * (wander->centre - rate) +
      wander->step * draw_normal (wander);
  if (rate < wander->min_rate)
    rate = 2 * wander->min_rate - rate;
  else if (rate > wander->max_rate)
    rate = 2 * wander->max_rate - rate;
  wander->rate = CLAMP (rate, wander->min_rate, wander->max_rate);
}

/* Finds the time of the next opportunity to send in this tick. A tick is a
 * period of 20 ms. Returns FALSE if the tick has no further opportunity. The
 * opportunities form a Poisson process, which has no memory. The time until the
 * first opportunity of a tick can therefore be counted from the beginning of
 * the tick. */
static gboolean
find_in_tick (LinkWander * wander)
{
  gdouble gap = MAX_GAP;
  guint64 draw = seeded_draw (wander->seed, wander->station,
      LINK_DRAW_CELLULAR_DELIVERY, wander->tick, wander->index);

  if (wander->rate * MAX_GAP > BITS * 1e9)
    gap = BITS * 1e9 / wander->rate;
  wander->index++;
  wander->offset += seeded_draw_exponential (draw, gap);
  return wander->offset < TICK;
}

static guint64
get_tick_begin (const LinkWander * wander)
{
  return wander->tick * TICK;
}

void
link_wander_step (LinkWander * wander)
{
  do {
    while (!find_in_tick (wander))
      begin_next_tick (wander);
  } while (link_on_off_is_bad (&wander->outages,
          link_wander_get_time (wander)));
}

/* The object */

LinkWander *
link_wander_new (const LinkCellularConfig * config, guint direction,
    guint64 seed, guint32 station)
{
  LinkWander *wander = g_new0 (LinkWander, 1);
  LinkOnOffConfig outages = { config->outage_interval, 0 };

  wander->config = *config;
  wander->direction = direction;
  wander->seed = seed;
  wander->station = station;
  if (config->outage_interval)
    outages.mean_bad = 1e9 / config->outage_escape;
  link_on_off_init (&wander->outages, &outages, 0, seed, 0,
      LINK_DRAW_CELLULAR_OUTAGE);
  wander->seen = wander->outages;
  return wander;
}

void
link_wander_free (LinkWander * wander)
{
  g_free (wander);
}

guint64
link_wander_get_time (const LinkWander * wander)
{
  return get_tick_begin (wander) + wander->offset / INTERVAL * INTERVAL;
}

/* Computes the initial rate of the station and its first opportunity to send.
 * The computation takes time, so this function is called only when the rate is
 * needed for the first time. For a station that sends no packet, it is never
 * called. */
static void
start (LinkWander * wander)
{
  wander->started = TRUE;
  init_rate (wander);
  link_wander_step (wander);
}

void
link_wander_skip_to (LinkWander * wander, guint64 time)
{
  if (!wander->started)
    start (wander);
  if (link_wander_get_time (wander) >= time)
    return;
  /* A tick is a period of 20 ms with a constant rate. This loop skips each tick
   * that ends before `time`. It computes the rates of the skipped ticks,
   * because each rate depends on the rate before it. It does not compute the
   * opportunities to send in these ticks, because no packet uses them. */
  while (get_tick_begin (wander) + TICK <= time)
    begin_next_tick (wander);
  do
    link_wander_step (wander);
  while (link_wander_get_time (wander) < time);
}

LinkOnOff *
link_wander_get_outages (LinkWander * wander)
{
  return &wander->seen;
}
