/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of seededdraw.h with integers only. A draw is a hash of its
 * arguments. The hash applies the finalizer of splitmix64 (Steele, Lea, Flood,
 * OOPSLA 2014) once to each input word. The generator passes the usual tests of
 * a counter-based generator.
 */

#include "seededdraw.h"

/* ln 2 with 32 fractional bits */
#define LN2_Q32 G_GUINT64_CONSTANT (2977044472)

static guint64
mix (guint64 x)
{
  x += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

guint64
seeded_draw (guint64 seed, guint32 flow, guint32 purpose, guint64 index,
    guint32 attempt)
{
  guint64 x = mix (seed);

  x = mix (x ^ (((guint64) flow << 32) | purpose));
  x = mix (x ^ index);
  return mix (x ^ attempt);
}

SeededChance
seeded_chance (gdouble probability)
{
  if (!(probability > 0))
    return 0;
  if (probability >= 1)
    return G_MAXUINT64;
  /* The multiplication has no rounding error, because the factor is a power of
   * two (2^64). */
  return (guint64) (probability * 18446744073709551616.0);
}

gboolean
seeded_draw_hits (guint64 draw, SeededChance chance)
{
  return draw < chance || chance == G_MAXUINT64;
}

/* Returns the upper 64 bits of a * b. */
static guint64
multiply_high (guint64 a, guint64 b)
{
  guint64 a0 = (guint32) a, a1 = a >> 32;
  guint64 b0 = (guint32) b, b1 = b >> 32;
  guint64 middle = a1 * b0 + ((a0 * b0) >> 32);
  guint64 middle2 = a0 * b1 + (guint32) middle;

  return a1 * b1 + (middle >> 32) + (middle2 >> 32);
}

guint64
seeded_draw_below (guint64 draw, guint64 n)
{
  return multiply_high (draw, n);
}

/* Computes -log2 of draw / 2^64, and converts it to the natural logarithm. The
 * binary digits of log2 are found by repeatedly squaring a mantissa in [1, 2);
 * each squaring yields one more digit. */
guint64
seeded_draw_log (guint64 draw)
{
  guint64 mantissa, log2;
  guint shift, i;

  if (draw == 0)
    draw = 1;
  shift = __builtin_clzll (draw);
  mantissa = draw << shift;     /* 1.x with 63 fractional bits */
  log2 = 0;
  for (i = 0; i < 32; i++) {
    guint64 high = multiply_high (mantissa, mantissa);  /* 62 fractional bits */

    log2 <<= 1;
    if (high >> 63) {
      log2 |= 1;
      mantissa = high;
    } else {
      mantissa = high << 1;
    }
  }
  /* draw / 2^64 = mantissa * 2^-(shift + 1) */
  log2 = ((guint64) (shift + 1) << 32) - log2;
  return multiply_high (log2 << 24, LN2_Q32 << 8);
}

guint64
seeded_draw_exponential (guint64 draw, guint64 mean)
{
  guint64 log = seeded_draw_log (draw);
  guint64 value;

  if (mean == 0)
    return 0;
  /* The logarithm is at most 44.4 and has 32 fractional bits, so it fits into
   * 38 bits. The product with `mean` is computed in two parts, so that the
   * intermediate results fit into 64 bits. */
  value = (mean >> 32) * log + (((mean & G_MAXUINT32) * (log >> 6)) >> 26);
  return MAX (value, 1);
}

guint64
seeded_draw_geometric (guint64 draw, SeededChance chance)
{
  guint64 step;

  if (chance == G_MAXUINT64)
    return 1;
  /* `chance` represents the probability of success p. The bitwise complement
   * ~chance therefore represents 1 - p, and `step` is -ln (1 - p). */
  step = seeded_draw_log (~chance);
  if (step == 0)
    return G_MAXUINT64 >> 8;
  return 1 + seeded_draw_log (draw) / step;
}
