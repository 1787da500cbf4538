/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the function f (p) with integers only, from a table. It is the part
 * of the throughput equation of TFRC that depends on the loss event rate p:
 * rate = s / (R * f (p)).
 *
 * The table has sixteen values for each octave of p. Between two values, f is
 * interpolated linearly. The paper by Erixzon (2004, section 4.2) also uses a
 * lookup table, for clients without floating point, but does not state the size
 * and the error of that table. Linux has two tables of 500 values, which are
 * linear in p and do not cover p below 10^-4.
 */

#pragma once

#include <glib.h>

/* The table contains the loss event rate p as an integer, p * 2^40, which has
 * 40 fractional bits. The smallest p of the table is 2^-27, which is less than
 * 10^-8. Its integer is 2^13. */
#define TFRC_TABLE_P_BITS 40
#define TFRC_TABLE_MIN_BITS 13
/* The table contains f (p) as an integer, f * 2^24, which has 24 fractional
 * bits. The largest value is f (1) = 243.3, whose integer fits into 32 bits. */
#define TFRC_TABLE_F_BITS 24
#define TFRC_TABLE_STEP_BITS 4
#define TFRC_TABLE_SIZE 433

extern const guint32 tfrc_table[TFRC_TABLE_SIZE];

/* Returns f (p), the part of the throughput equation that depends on the loss
 * event rate p: rate = s / (R * f (p)). `p` is an integer in units of 2^-40,
 * and the result is an integer in units of 2^-24. The result is slightly
 * inexact. The measured errors are:
 * - near p = 10^-8: at most 0.08 % too low, because of the rounding to integers
 * - from p = 10^-4 to 0.01: at most 0.02 %
 * - near p = 1: at most 0.36 % too high, because of the linear interpolation */
guint32 tfrc_table_f (guint64 p);
/* Inverts the table: returns the p for which tfrc_table_f () returns `f`. If
 * `f` is smaller or greater than all values in the table, returns the smallest
 * or the greatest p of the table. */
guint64 tfrc_table_inverse (guint32 f);
