/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random numbers that depend only on a seed and on their purpose. Each number
 * (a draw) is a hash of the seed and of values that identify the purpose. An
 * additional draw in one place of the code therefore does not change the draws
 * in another place. Two programs that draw for the same purpose get the same
 * result. Only integers are used, so the results are the same on every machine.
 */

#pragma once

#include <glib.h>

/* A probability, stored as the number of hits among the 2^64 possible draws. 0
 * means never, and G_MAXUINT64 means always. */
typedef guint64 SeededChance;

/* Returns 64 uniformly distributed random bits. They are a hash of all
 * arguments, so the same arguments always give the same bits. `flow`,
 * `purpose`, `index` and `attempt` identify the draw: a program must use other
 * values for each draw that is to be independent. */
guint64 seeded_draw (guint64 seed, guint32 flow, guint32 purpose,
    guint64 index, guint32 attempt);

/* Converts a probability from 0 to 1 to a SeededChance. Values outside this
 * range are clamped. */
SeededChance seeded_chance (gdouble probability);
gboolean seeded_draw_hits (guint64 draw, SeededChance chance);
/* Returns a number from 0 to n - 1, or 0 if `n` is 0. */
guint64 seeded_draw_below (guint64 draw, guint64 n);
/* Returns an exponentially distributed number with the mean `mean`, which may
 * be up to 2^56. If the mean is 0, the number is 0. Otherwise it is at least 1.
 */
guint64 seeded_draw_exponential (guint64 draw, guint64 mean);
/* Returns a geometrically distributed number: the number of trials up to and
 * including the first success. Each trial succeeds with the probability
 * `chance`. */
guint64 seeded_draw_geometric (guint64 draw, SeededChance chance);
/* `draw` is regarded as the fraction draw / 2^64 between 0 and 1. Returns minus
 * its natural logarithm, as a fixed-point number with 32 fractional bits. */
guint64 seeded_draw_log (guint64 draw);
