/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of tfrcequation.h: the throughput equation of TFRC (RFC 5348
 * section 3.1). */

#include "tfrcequation.h"

#include <math.h>

#include "tfrctable.h"

#define MIN_P 1e-8              /* minimum of p; see the header */
/* Minimum round-trip time in seconds. It replaces a measured time of 0, which
 * occurs if the clock does not advance. */
#define MIN_ROUND_TRIP 1e-6
#define MICROSECOND 1000000
/* Upper limit of the segment size in bytes. An IP packet cannot be larger. */
#define MAX_SEGMENT G_MAXUINT16
/* Number of steps of a bisection. The bisection finds the loss event rate p
 * that belongs to a given f (p). It begins with the range from MIN_P to 1.
 * After the last step, the natural logarithms of the two ends of the range
 * differ by only 2e-15. */
#define BISECTIONS 53

/* Limits the loss event rate p to the range from MIN_P to 1. If `p` is not a
 * number (NaN), returns 1, which yields the lowest sending rate. */
static gdouble
clamp_p (gdouble p)
{
  return p <= 1 ? MAX (p, MIN_P) : 1;
}

/* Returns f (p), the part of the throughput equation that depends on the loss
 * event rate p (RFC 5348 section 3.1). The equation is: rate = s / (R * f (p)),
 * where s is the packet size and R the round-trip time. The parameters b = 1
 * and t_RTO = 4 R are those that the RFC recommends. */
static gdouble
get_exact_f (gdouble p)
{
  return sqrt (2 * p / 3) + 12 * sqrt (3 * p / 8) * p * (1 + 32 * p * p);
}

/* Returns s / R as an integer, in units of 2^-24 bytes per second. s is the
 * packet size in bytes, and R is the round-trip time in seconds. The function
 * calculates only with integers, so it first converts R to microseconds: R *
 * 10^6. The result is s * 2^24 * 10^6, divided by this number of microseconds.
 * The product s * 2^24 * 10^6 fits into 64 bits: s has at most 16 bits, 2^24
 * adds 24 bits, and 10^6 (MICROSECOND) adds 20 bits. */
static guint64
get_scaled_segment_rate (gdouble segment_size, gdouble round_trip)
{
  const guint64 size = CLAMP (segment_size, 1, MAX_SEGMENT);
  const guint64 us = MIN (round_trip * MICROSECOND, G_MAXUINT32);

  return (size << TFRC_TABLE_F_BITS) * MICROSECOND / MAX (us, 1);
}

gdouble
tfrc_equation_rate (TfrcEquation equation, gdouble segment_size,
    gdouble round_trip, gdouble p)
{
  p = clamp_p (p);
  if (equation == TFRC_EQUATION_TABLE)
    return get_scaled_segment_rate (segment_size, round_trip)
        / tfrc_table_f (ldexp (p, TFRC_TABLE_P_BITS));
  return segment_size / (MAX (round_trip, MIN_ROUND_TRIP)
      * get_exact_f (p));
}

static gdouble
invert_table (gdouble segment_size, gdouble round_trip, gdouble rate)
{
  const guint64 whole = CLAMP (rate, 1, G_MAXUINT32);
  const guint64 f = get_scaled_segment_rate (segment_size, round_trip) / whole;

  return clamp_p (ldexp (tfrc_table_inverse (MIN (f, G_MAXUINT32)),
          -TFRC_TABLE_P_BITS));
}

/* Returns the loss event rate p for which get_exact_f (p) equals `f`. It is
 * found by bisection, which is possible because get_exact_f () increases with
 * p. Each step halves the difference between log (low) and log (high). */
static gdouble
invert_exactly (gdouble f)
{
  gdouble low = MIN_P, high = 1;
  guint i;

  if (f >= get_exact_f (high))
    return high;
  for (i = 0; i < BISECTIONS; i++) {
    const gdouble middle = sqrt (low * high);

    if (get_exact_f (middle) < f)
      low = middle;
    else
      high = middle;
  }
  return low;
}

gdouble
tfrc_equation_inverse (TfrcEquation equation, gdouble segment_size,
    gdouble round_trip, gdouble rate)
{
  if (!(rate > 0))
    return 1;
  if (equation == TFRC_EQUATION_TABLE)
    return invert_table (segment_size, round_trip, rate);
  return invert_exactly (segment_size / (MAX (round_trip, MIN_ROUND_TRIP)
          * rate));
}
