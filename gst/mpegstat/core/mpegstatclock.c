/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mpegstatclock.h: combines the times of two clocks into one
 * arrival time. */

#include "mpegstatclock.h"

void
mpegstat_clock_mark_switch (MpegStatClock * clock, guint64 monotonic)
{
  clock->switched = monotonic;
}

static guint64
since (guint64 now, guint64 then)
{
  return now > then ? now - then : 0;
}

/* Returns the time in ns from the last arrival of data to now. While the
 * element is in PLAYING and has a clock, time is measured by the running time
 * of the pipeline. At all other times, it is measured by the monotonic clock of
 * the system.
 *
 * If the same kind of time is used now as at the last arrival, the result is
 * the present reading minus the reading at the last arrival.
 *
 * Otherwise, PLAYING has started or stopped since the last arrival. The result
 * is then only the part of the time in which the element was in PLAYING:
 * - If PLAYING has started, the result is the time since this start.
 * - If PLAYING has stopped, the result is the time from the last arrival until
 *   this stop. */
static guint64
step (const MpegStatClock * clock, MpegStatClockKind kind, guint64 reading,
    guint64 monotonic)
{
  if (clock->kind == MPEGSTAT_CLOCK_NONE)
    return 0;
  if (clock->kind == kind)
    return since (reading, clock->reading);
  if (kind == MPEGSTAT_CLOCK_RUNNING_TIME)
    return since (monotonic, MAX (clock->switched, clock->monotonic));
  return since (clock->switched, clock->monotonic);
}

guint64
mpegstat_clock_take (MpegStatClock * clock, MpegStatClockKind kind,
    guint64 reading, guint64 monotonic)
{
  clock->arrival += step (clock, kind, reading, monotonic);
  clock->kind = kind;
  clock->reading = reading;
  clock->monotonic = monotonic;

  return clock->arrival;
}

guint64
mpegstat_clock_peek (const MpegStatClock * clock, MpegStatClockKind kind,
    guint64 reading)
{
  if (clock->kind != kind)
    return clock->arrival;
  return clock->arrival + since (reading, clock->reading);
}
