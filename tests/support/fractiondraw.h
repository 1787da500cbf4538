/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random fractions for simulations. They depend only on the arguments, as the
 * draws of seededdraw.h do. */

#ifndef __FRACTIONDRAW_H__
#define __FRACTIONDRAW_H__

#include <glib.h>

/* Returns a uniformly distributed number from 0 to less than 1. `flow`,
 * `purpose` and `index` identify the draw (see seededdraw.h). */
gdouble fraction_draw (guint64 seed, guint32 flow, guint32 purpose,
    guint64 index);
/* Returns a number from `min` to `max` whose logarithm is uniformly distributed.
 * Both limits must be above 0. */
gdouble fraction_draw_logarithmic (guint64 seed, guint32 flow,
    guint32 purpose, gdouble min, gdouble max);

#endif /* __FRACTIONDRAW_H__ */
