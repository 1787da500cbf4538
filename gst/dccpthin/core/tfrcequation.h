/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The throughput equation of TFRC (RFC 5348 section 3.1), with the recommended
 * parameters b = 1 and t_RTO = 4 R:
 *
 *   X = s / (R * f (p))
 *
 * X is the rate in bytes per second, s the packet size in bytes, R the
 * round-trip time in seconds, and p the loss event rate. The function f (p)
 * contains all terms with p. The equation is computed either exactly or with a
 * table, as section 4.2 of the paper by Erixzon (2004) suggests for small
 * clients.
 */

#pragma once

#include <glib.h>

typedef enum
{
  TFRC_EQUATION_EXACT,
  /* The function f (p) of the throughput equation is taken from the table of
   * tfrctable.h, with integer arithmetic only. The error of f (p) is at most
   * 0.4 %. */
  TFRC_EQUATION_TABLE
} TfrcEquation;

/* Returns the rate in bytes per second that the throughput equation yields.
 * `segment_size` is the packet size in bytes, `round_trip` is in seconds, and
 * `p` is the loss event rate. A p below 1e-8 is replaced by 1e-8, and a p above
 * 1 is replaced by 1. */
gdouble tfrc_equation_rate (TfrcEquation equation, gdouble segment_size,
    gdouble round_trip, gdouble p);
/* Inverts the throughput equation: returns the loss event rate p for which the
 * equation yields the rate `rate`, with an error of at most 0.1 % of the rate.
 * The receiver needs this p to compute the length of the first loss interval
 * (RFC 5348 section 6.3.1). */
gdouble tfrc_equation_inverse (TfrcEquation equation, gdouble segment_size,
    gdouble round_trip, gdouble rate);
