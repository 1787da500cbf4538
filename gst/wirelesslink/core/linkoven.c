/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A microwave oven; see the header. */

#include "linkoven.h"

#include "linkmodel.h"

void
link_oven_init (LinkOven * oven, const LinkOvenConfig * config, guint64 seed)
{
  oven->config = *config;
  oven->phase = seeded_draw_below (seeded_draw (seed, 0, LINK_DRAW_OVEN_PHASE,
          0, 0), config->cycle);
}

gboolean
link_oven_is_running (const LinkOven * oven, guint64 time)
{
  guint i;

  for (i = 0; i < oven->config.n_windows; i++) {
    const LinkWindow *window = &oven->config.windows[i];

    if (time >= window->begin && time < window->end)
      return TRUE;
  }
  return oven->config.always;
}

guint64
link_oven_next_change (const LinkOven * oven, guint64 time)
{
  guint i;

  for (i = 0; i < oven->config.n_windows; i++) {
    const LinkWindow *window = &oven->config.windows[i];

    if (time < window->begin)
      return window->begin;
    if (time < window->end)
      return window->end;
  }
  return G_MAXUINT64;
}

/* While the oven is switched on, it radiates only during a part of each cycle
 * of the mains voltage. Returns whether the oven radiates at any time from
 * `begin` to `end`. The caller must ensure that the oven is switched on during
 * this whole interval. */
static gboolean
radiates (const LinkOven * oven, guint64 begin, guint64 end)
{
  guint64 position = (begin + oven->phase) % oven->config.cycle;

  if (oven->config.on == 0 || begin >= end)
    return FALSE;
  return position < oven->config.on
      || position + (end - begin) > oven->config.cycle;
}

gboolean
link_oven_overlaps (const LinkOven * oven, guint64 begin, guint64 end)
{
  guint i;

  if (oven->config.always)
    return radiates (oven, begin, end);
  for (i = 0; i < oven->config.n_windows; i++) {
    const LinkWindow *window = &oven->config.windows[i];

    if (radiates (oven, MAX (begin, window->begin), MIN (end, window->end)))
      return TRUE;
  }
  return FALSE;
}

gdouble
link_oven_get_share (const LinkOven * oven)
{
  return (gdouble) oven->config.on / oven->config.cycle;
}
