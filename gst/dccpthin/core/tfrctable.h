/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the function f (p) of the throughput equation of TFRC with integers
 * only, from a table.
 *
 * The table has sixteen values for each octave of p. Between two values, f is
 * interpolated linearly. Erixzon section 4.2 uses a lookup table too, for
 * clients without floating point, but does not state the size and the error of
 * that table. Linux has two tables of 500 values, which are linear in p and do
 * not cover p below 10^-4.
 */

#pragma once

#include <glib.h>

/* Number of fractional bits of p: p is represented by the integer p * 2^40. The
 * smallest p of the table is 2^-27, which is less than 10^-8. It is represented
 * by 2^13. */
#define TFRC_TABLE_P_BITS 40
#define TFRC_TABLE_MIN_BITS 13
/* Number of fractional bits of f (p): the integer is f * 2^24. The largest
 * value is f (1) = 243.3. As an integer it fits into 32 bits. */
#define TFRC_TABLE_F_BITS 24
#define TFRC_TABLE_STEP_BITS 4
#define TFRC_TABLE_SIZE 433

extern const guint32 tfrc_table[TFRC_TABLE_SIZE];

/* Returns f (p) of the throughput equation. The result is slightly inexact. The
 * measured errors are:
 * - near p = 10^-8: at most 0.08 % too low, because of the rounding to integers
 * - from p = 10^-4 to 0.01: at most 0.02 %
 * - near p = 1: at most 0.36 % too high, because of the linear interpolation */
guint32 tfrc_table_f (guint64 p);
/* Returns the p for which the table yields f (p) = `f`. If `f` is outside the
 * table, returns the smallest or the largest p of the table. */
guint64 tfrc_table_inverse (guint32 f);
