/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A telephone call of a dial-up link. The call is set up when a packet waits.
 * If the set-up fails or the call breaks, the call is set up again. If the
 * option hang_up_after is set, the call ends when no packet has been in the
 * link for this time.
 *
 * The set-up has three phases (Alanko et al. 1994, section 3.1): the command to
 * the phone, the connection through the telephone network, and the handshake of
 * the modems. The calls are numbered from 0, and the random draws of a call
 * depend on this number. */

#include "linkdialup.h"

#include "linkdraw.h"
#include "seededdraw.h"

/* Purposes of the draws of LINK_DRAW_DIAL. */
enum
{
  DRAW_COMMAND,
  DRAW_CONNECT,
  DRAW_HANDSHAKE,
  DRAW_SLOW,
  DRAW_SLOW_EXTRA,
  DRAW_FAILURE,
  DRAW_DETECTION
};

struct _LinkDialUp
{
  LinkDialUpConfig config;
  guint64 seed;
  LinkCall state;
  /* TRUE if the caller has not yet polled the new value of `state` */
  gboolean changed;
  gboolean used;                /* TRUE if packets are in the link */
  guint64 number;               /* number of the phone call, beginning at 0 */
  /* times in ns at which `state` began and will end; LINK_NEVER = unknown */
  guint64 begin, end;
  /* Time in ns at which the phone call will be ended, unless a packet enters
   * the empty link before. LINK_NEVER = no end is planned. */
  guint64 hang_up_at;
  guint64 calls, failed, broken;
  /* time in ns that the set-up of the last connected phone call took */
  guint64 setup_time;
};

LinkDialUp *
link_dial_up_new (const LinkDialUpConfig * config, guint64 seed)
{
  LinkDialUp *dial_up = g_new0 (LinkDialUp, 1);

  dial_up->config = *config;
  dial_up->seed = seed;
  dial_up->state = LINK_CALL_IDLE;
  dial_up->end = dial_up->hang_up_at = LINK_NEVER;
  return dial_up;
}

void
link_dial_up_free (LinkDialUp * dial_up)
{
  g_free (dial_up);
}

LinkCall
link_dial_up_get_state (const LinkDialUp * dial_up)
{
  return dial_up->state;
}

gboolean
link_dial_up_poll_change (LinkDialUp * dial_up, LinkCall * state)
{
  gboolean changed = dial_up->changed;

  *state = dial_up->state;
  dial_up->changed = FALSE;
  return changed;
}

guint64
link_dial_up_next_wakeup (const LinkDialUp * dial_up)
{
  return MIN (dial_up->end, dial_up->hang_up_at);
}

void
link_dial_up_get_stats (const LinkDialUp * dial_up, LinkStats * stats)
{
  stats->calls = dial_up->calls;
  stats->calls_failed = dial_up->failed;
  stats->calls_broken = dial_up->broken;
  stats->setup_time = dial_up->setup_time;
}

/* Draws */

static guint64
draw (const LinkDialUp * dial_up, guint what)
{
  return seeded_draw (dial_up->seed, 0, LINK_DRAW_DIAL, dial_up->number, what);
}

static guint64
draw_between (const LinkDialUp * dial_up, guint what, guint64 min, guint64 max)
{
  return min + seeded_draw_below (draw (dial_up, what),
      max > min ? max - min + 1 : 0);
}

static gboolean
fails (const LinkDialUp * dial_up)
{
  return seeded_draw_hits (draw (dial_up, DRAW_FAILURE),
      seeded_chance (dial_up->config.failure));
}

/* The detection of a failed phone call takes at least 1 ms. If it took no time,
 * failed calls could be repeated endlessly while the time of the link does not
 * advance. */
static guint64
draw_detection (const LinkDialUp * dial_up)
{
  guint64 time = draw_between (dial_up, DRAW_DETECTION,
      dial_up->config.failure_min, dial_up->config.failure_max);

  return MAX (time, LINK_MS);
}

static guint64
draw_set_up (const LinkDialUp * dial_up)
{
  const LinkDialUpConfig *config = &dial_up->config;
  guint64 time = draw_between (dial_up, DRAW_COMMAND, config->command_min,
      config->command_max);

  time += draw_between (dial_up, DRAW_CONNECT, config->connect_min,
      config->connect_max);
  time += draw_between (dial_up, DRAW_HANDSHAKE, config->handshake_min,
      config->handshake_max);
  if (seeded_draw_hits (draw (dial_up, DRAW_SLOW),
          seeded_chance (config->slow)))
    time += draw_between (dial_up, DRAW_SLOW_EXTRA, 0, config->slow_extra_max);
  return time;
}

/* States */

static void
plan_hang_up (LinkDialUp * dial_up, guint64 now)
{
  gboolean ends = dial_up->config.hang_up_after != 0
      && dial_up->state == LINK_CALL_CONNECTED && !dial_up->used;

  dial_up->hang_up_at = ends ? now + dial_up->config.hang_up_after : LINK_NEVER;
}

void
link_dial_up_set_used (LinkDialUp * dial_up, guint64 now, gboolean used)
{
  dial_up->used = used;
  plan_hang_up (dial_up, now);
}

static void
enter (LinkDialUp * dial_up, guint64 now, LinkCall state, guint64 duration)
{
  dial_up->state = state;
  dial_up->changed = TRUE;
  dial_up->begin = now;
  dial_up->end = duration == LINK_NEVER ? LINK_NEVER : now + duration;
  plan_hang_up (dial_up, now);
}

void
link_dial_up_want (LinkDialUp * dial_up, guint64 now)
{
  if (dial_up->state != LINK_CALL_IDLE)
    return;
  dial_up->calls++;
  enter (dial_up, now, LINK_CALL_DIALLING, fails (dial_up) ?
      draw_detection (dial_up) : draw_set_up (dial_up));
}

static void
hang_up (LinkDialUp * dial_up, guint64 now)
{
  dial_up->number++;
  enter (dial_up, now, LINK_CALL_IDLE, LINK_NEVER);
}

void
link_dial_up_break (LinkDialUp * dial_up, guint64 now)
{
  if (dial_up->state != LINK_CALL_CONNECTED)
    return;
  dial_up->broken++;
  hang_up (dial_up, now);
}

static void
connect_call (LinkDialUp * dial_up, guint64 now)
{
  guint64 mean = dial_up->config.mean_time_to_break;

  dial_up->setup_time = now - dial_up->begin;
  enter (dial_up, now, LINK_CALL_CONNECTED, mean == 0 ? LINK_NEVER :
      seeded_draw_exponential (seeded_draw (dial_up->seed, 0, LINK_DRAW_BREAK,
              dial_up->number, 0), mean));
}

void
link_dial_up_timeout (LinkDialUp * dial_up, guint64 now)
{
  if (dial_up->state == LINK_CALL_CONNECTED) {
    if (now >= dial_up->end)
      link_dial_up_break (dial_up, now);
    else
      hang_up (dial_up, now);
  } else if (fails (dial_up)) {
    dial_up->failed++;
    hang_up (dial_up, now);
  } else {
    connect_call (dial_up, now);
  }
}
