/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* f (p) of the throughput equation of TFRC for clients without floating point:
 * sixteen values an octave of p, between them a straight line. Erixzon 4.2 has
 * a lookup table too, whose size and error are not said; Linux's is two of 500
 * values, linear in p, and says nothing below 10^-4.
 */

#pragma once

#include <glib.h>

/* p as an integer: p * 2^40; the table begins with 2^-27, less than 10^-8 */
#define TFRC_TABLE_P_BITS 40
#define TFRC_TABLE_MIN_BITS 13
/* f (p) as an integer: f * 2^24; f (1) = 243.3 fits in 32 bits */
#define TFRC_TABLE_F_BITS 24
#define TFRC_TABLE_STEP_BITS 4
#define TFRC_TABLE_SIZE 433

extern const guint32 tfrc_table[TFRC_TABLE_SIZE];

/* Measured over p: from 0.08 % below the equation (the integers' rounding, next
 * to 10^-8) to 0.36 % above it (the straight line, next to 1), and within 0.02
 * % from 10^-4 to 0.01. */
guint32 tfrc_table_f (guint64 p);
/* The p at which it has this value, or the nearer end of the table */
guint64 tfrc_table_inverse (guint32 f);
