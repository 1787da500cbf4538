/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes arrival times from two clocks. While the element is in PLAYING and
 * has a clock, the running time of the pipeline is used. Otherwise monotonic
 * time is used. When the other clock comes into use, the arrival time does not
 * jump. The duration of a pause does not count. This code does not read the
 * clocks; its caller does.
 */

#pragma once

#include <glib.h>

typedef enum
{
  MPEGSTAT_CLOCK_NONE,          /* nothing has arrived yet */
  MPEGSTAT_CLOCK_RUNNING_TIME,
  MPEGSTAT_CLOCK_MONOTONIC
} MpegStatClockKind;

/* All times are in ns. The owner of the struct sets all fields to 0 before the
 * first use. */
typedef struct
{
  MpegStatClockKind kind;
  /* value in ns that the clock `kind` had when data last arrived */
  guint64 reading;
  /* monotonic time in ns when data last arrived */
  guint64 monotonic;
  /* time in ns from the first arrival of data to the last arrival */
  guint64 arrival;
  /* monotonic time in ns at which the element last entered or left PLAYING */
  guint64 switched;
} MpegStatClock;

void mpegstat_clock_mark_switch (MpegStatClock * clock, guint64 monotonic);
/* Call this function when data arrive. `reading` is the present value of the
 * clock `kind`, and `monotonic` is the present monotonic time. Returns the time
 * from the first arrival of data to this one. */
guint64 mpegstat_clock_take (MpegStatClock * clock, MpegStatClockKind kind,
    guint64 reading, guint64 monotonic);
/* Returns the time in ns from the first arrival of data until now. `kind` is
 * the clock that is used now, and `reading` is its present value. If another
 * clock was used at the last arrival, the time since the last arrival does not
 * count. */
guint64 mpegstat_clock_peek (const MpegStatClock * clock,
    MpegStatClockKind kind, guint64 reading);
