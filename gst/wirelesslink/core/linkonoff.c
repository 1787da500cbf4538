/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of linkonoff.h: a channel that alternates between a good and a
 * bad state. The time from one change of the state to the next is called a
 * period here. The periods are numbered. The duration of a period is drawn from
 * the seed and the number of the period. The sequence of periods therefore
 * depends on the seed only. The struct stores the period of the last query.
 * Without this, each query would have to add up all durations from the
 * beginning. */

#include "linkonoff.h"

#include "seededdraw.h"

static gboolean
is_constant (const LinkOnOff * state)
{
  return state->mean[0] == 0 || state->mean[1] == 0;
}

static gboolean
index_is_bad (const LinkOnOff * state)
{
  return state->first_bad != (state->index & 1);
}

static guint64
draw_sojourn (const LinkOnOff * state)
{
  guint64 draw = seeded_draw (state->seed, state->flow, state->purpose,
      state->index, 1);
  guint64 mean = state->mean[index_is_bad (state)];

  if (state->grain == 0)
    return seeded_draw_exponential (draw, mean);
  return state->grain * seeded_draw_geometric (draw,
      seeded_chance ((gdouble) state->grain / mean));
}

void
link_on_off_init (LinkOnOff * state, const LinkOnOffConfig * config,
    guint64 grain, guint64 seed, guint32 flow, guint32 purpose)
{
  gdouble share;

  state->seed = seed;
  state->flow = flow;
  state->purpose = purpose;
  state->grain = grain;
  state->mean[0] = config->mean_good;
  state->mean[1] = config->mean_bad;
  state->first_bad = config->mean_bad != 0 && config->mean_good == 0;
  if (is_constant (state)) {
    state->begin = 0;
    state->end = G_MAXUINT64;
    return;
  }
  if (grain) {
    state->mean[0] = MAX (state->mean[0], grain);
    state->mean[1] = MAX (state->mean[1], grain);
  }
  /* The process is assumed to have run for a long time before time 0. The
   * probability of each state at time 0 is therefore the share of the time that
   * the channel spends in this state. The exponential distribution has no
   * memory, so the remaining time of the first state has the same distribution
   * as a complete duration. Therefore a complete duration is drawn for it. */
  share = (gdouble) state->mean[1] / (state->mean[0] + state->mean[1]);
  state->first_bad = seeded_draw_hits (seeded_draw (seed, flow, purpose, 0, 0),
      seeded_chance (share));
  state->index = 0;
  state->begin = 0;
  state->end = draw_sojourn (state);
}

static void
seek (LinkOnOff * state, guint64 time)
{
  if (is_constant (state))
    return;
  while (time < state->begin) {
    state->index--;
    state->end = state->begin;
    state->begin -= draw_sojourn (state);
  }
  while (time >= state->end) {
    state->index++;
    state->begin = state->end;
    state->end += draw_sojourn (state);
  }
}

gboolean
link_on_off_is_bad (LinkOnOff * state, guint64 time)
{
  seek (state, time);
  return is_constant (state) ? state->first_bad : index_is_bad (state);
}

guint64
link_on_off_end (LinkOnOff * state, guint64 time)
{
  seek (state, time);
  return state->end;
}
