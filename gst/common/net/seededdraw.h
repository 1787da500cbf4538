/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random draws that depend on nothing but what they are for: each is a hash of
 * a seed and of what is drawn, so that one more draw here changes none there,
 * and two programs that ask the same question get the same answer. Integers
 * only: the same on every machine.
 */

#pragma once

#include <glib.h>

/* A probability as the count of the 2^64 draws that hit: 0 to never, and
 * G_MAXUINT64 for always */
typedef guint64 SeededChance;

/* The draw number `index`, `attempt` of this purpose in this flow: 64 bits, all
 * equally likely */
guint64 seeded_draw (guint64 seed, guint32 flow, guint32 purpose,
    guint64 index, guint32 attempt);

/* probability in 0 to 1, others are taken as the nearer end */
SeededChance seeded_chance (gdouble probability);
gboolean seeded_draw_hits (guint64 draw, SeededChance chance);
/* 0 to n - 1, or 0 where n is 0 */
guint64 seeded_draw_below (guint64 draw, guint64 n);
/* Exponential with this mean, at least 1 where the mean is not 0; mean up to
 * 2^56 */
guint64 seeded_draw_exponential (guint64 draw, guint64 mean);
/* Trials up to and with the first hit, at least 1 */
guint64 seeded_draw_geometric (guint64 draw, SeededChance chance);
/* -ln (draw / 2^64) as a fixed-point number with 32 bits of fraction */
guint64 seeded_draw_log (guint64 draw);
