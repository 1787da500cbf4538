/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random numbers that depend only on a seed and on their purpose. Each number
 * (a draw) is a hash of the seed and of values that identify the purpose. If
 * one place of the code makes an additional draw, the draws of other places
 * therefore do not change. Two programs that draw with the same seed and for
 * the same purpose get the same result. Only integers are used, so that the
 * results are the same on every machine.
 */

#pragma once

#include <glib.h>

/* A probability. It is stored as the number of draws, among the 2^64 possible
 * ones, that count as success. 0 means never, and G_MAXUINT64 means always. */
typedef guint64 SeededChance;

/* Returns 64 uniformly distributed random bits. They are a hash of all
 * arguments, so the same arguments always give the same bits. `flow`,
 * `purpose`, `index` and `attempt` identify the draw. To get an independent
 * draw, change at least one of these four values. */
guint64 seeded_draw (guint64 seed, guint32 flow, guint32 purpose,
    guint64 index, guint32 attempt);

/* Converts a probability from 0 to 1 to a SeededChance. Values outside this
 * range are clamped. */
SeededChance seeded_chance (gdouble probability);
gboolean seeded_draw_hits (guint64 draw, SeededChance chance);
/* Converts a draw to a number from 0 to n - 1. Returns 0 if `n` is 0. */
guint64 seeded_draw_below (guint64 draw, guint64 n);
/* Converts a draw to an exponentially distributed number with the mean `mean`,
 * which may be up to 2^56. The number is at least 1, except if the mean is 0.
 * It is then 0.
 */
guint64 seeded_draw_exponential (guint64 draw, guint64 mean);
/* Converts a draw to a geometrically distributed number: the number of trials
 * up to and including the first success. Each trial succeeds with the
 * probability `chance`. */
guint64 seeded_draw_geometric (guint64 draw, SeededChance chance);
/* The 64 bits of `draw` represent a fraction between 0 and 1: draw / 2^64.
 * Returns the negative natural logarithm of this fraction, as a fixed-point
 * number with 32 fractional bits. */
guint64 seeded_draw_log (guint64 draw);
