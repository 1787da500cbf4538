/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes arrival times from two clocks. While the element is in PLAYING and
 * has a clock, the running time is used. Otherwise monotonic time is used. A
 * change of the clock does not make the arrival time jump, and the duration of
 * a pause does not count. The caller reads the clocks.
 */

#pragma once

#include <glib.h>

typedef enum
{
  MPEGSTAT_CLOCK_NONE,          /* nothing has arrived yet */
  MPEGSTAT_CLOCK_RUNNING_TIME,
  MPEGSTAT_CLOCK_MONOTONIC
} MpegStatClockKind;

/* All times are in ns. Before the first use, all fields must be 0. */
typedef struct
{
  MpegStatClockKind kind;
  /* value of the clock `kind` in ns when data last arrived */
  guint64 reading;
  /* monotonic time in ns when data last arrived */
  guint64 monotonic;
  /* time in ns from the first arrival of data to the last arrival */
  guint64 arrival;
  /* monotonic time in ns at which the element last entered or left PLAYING */
  guint64 switched;
} MpegStatClock;

void mpegstat_clock_mark_switch (MpegStatClock * clock, guint64 monotonic);
/* Call this function when data arrive. Returns the time since the first
 * arrival. */
guint64 mpegstat_clock_take (MpegStatClock * clock, MpegStatClockKind kind,
    guint64 reading, guint64 monotonic);
/* Returns the time that has passed from the first arrival until `reading`, a
 * value of the clock `kind`. If another clock was in use at the last arrival,
 * returns the time from the first to the last arrival instead. */
guint64 mpegstat_clock_peek (const MpegStatClock * clock,
    MpegStatClockKind kind, guint64 reading);
