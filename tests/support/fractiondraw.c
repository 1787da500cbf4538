/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of fractiondraw.h. */

#include "fractiondraw.h"

#include <math.h>

#include "seededdraw.h"

/* A gdouble has a mantissa of 53 bits. */
#define MANTISSA_BITS 53

gdouble
fraction_draw (guint64 seed, guint32 flow, guint32 purpose, guint64 index)
{
  return ldexp (seeded_draw (seed, flow, purpose, index, 0) >>
      (64 - MANTISSA_BITS), -MANTISSA_BITS);
}

gdouble
fraction_draw_logarithmic (guint64 seed, guint32 flow, guint32 purpose,
    gdouble min, gdouble max)
{
  return min * pow (max / min, fraction_draw (seed, flow, purpose, 0));
}
