/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The throughput equation of TFRC (RFC 5348 section 3.1), with b = 1 and t_RTO
 * = 4 R: X = s / (R * f (p)); exact, or from a table for small clients, as
 * Erixzon 4.2 has it. Rates are bytes per second, times seconds.
 */

#pragma once

#include <glib.h>

typedef enum
{
  TFRC_EQUATION_EXACT,
  TFRC_EQUATION_TABLE           /* integers only, within 0.4 %: tfrctable.h */
} TfrcEquation;

/* p: loss event rate, in (0, 1]; what is outside is taken as the nearer end,
 * and less than 1e-8 as that */
gdouble tfrc_equation_f (TfrcEquation equation, gdouble p);
/* Bytes per second */
gdouble tfrc_equation_rate (TfrcEquation equation, gdouble segment_size,
    gdouble round_trip, gdouble p);
/* The p at which the equation gives this rate: for the first loss interval (RFC
 * 5348 section 6.3.1), within 0.1 % of the rate */
gdouble tfrc_equation_inverse (TfrcEquation equation, gdouble segment_size,
    gdouble round_trip, gdouble rate);
