/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The throughput equation of TFRC (RFC 5348 section 3.1), with b = 1 and t_RTO
 * = 4 R: X = s / (R * f (p)). X is the rate, s the packet size, R the
 * round-trip time and p the loss event rate. The equation is computed either
 * exactly or with the table that Erixzon section 4.2 suggests for small
 * clients. Rates are in bytes per second, times in seconds.
 */

#pragma once

#include <glib.h>

typedef enum
{
  TFRC_EQUATION_EXACT,
  /* f (p) is computed from the table of tfrctable.h, with integer arithmetic
   * only. The error is at most 0.4 %. */
  TFRC_EQUATION_TABLE
} TfrcEquation;

/* Returns f (p) of the loss event rate p. A value outside the range 1e-8 to 1
 * is replaced by the nearer end of the range. */
gdouble tfrc_equation_f (TfrcEquation equation, gdouble p);
/* Returns the rate in bytes per second. */
gdouble tfrc_equation_rate (TfrcEquation equation, gdouble segment_size,
    gdouble round_trip, gdouble p);
/* Returns the loss event rate p at which the equation gives the rate `rate`,
 * within 0.1 % of the rate. The receiver needs it for the first loss interval
 * (RFC 5348 section 6.3.1). */
gdouble tfrc_equation_inverse (TfrcEquation equation, gdouble segment_size,
    gdouble round_trip, gdouble rate);
