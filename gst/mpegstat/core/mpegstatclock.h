/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time of arrival from two clocks: running time while the pipeline plays, and
 * monotonic time while it has no clock. It goes on where it stood when one
 * takes over from the other, and a pause doesn't count. A core: the caller
 * reads the clocks.
 */

#pragma once

#include <glib.h>

typedef enum
{
  MPEGSTAT_CLOCK_NONE,          /* nothing arrived yet */
  MPEGSTAT_CLOCK_RUNNING_TIME,
  MPEGSTAT_CLOCK_MONOTONIC
} MpegStatClockKind;

/* All zero is where it begins; times in ns. */
typedef struct
{
  MpegStatClockKind kind;
  guint64 reading;              /* that clock's, at the latest arrival */
  guint64 monotonic;            /* at the latest arrival */
  guint64 arrival;              /* the latest, since the first */
  guint64 switched;             /* monotonic, when playing began or stopped */
} MpegStatClock;

void mpegstat_clock_mark_switch (MpegStatClock * clock, guint64 monotonic);
/* Something arrived now; the time since the first arrival */
guint64 mpegstat_clock_take (MpegStatClock * clock, MpegStatClockKind kind,
    guint64 reading, guint64 monotonic);
/* The same time for now, if that clock is still the one in use; else that of
 * the latest arrival */
guint64 mpegstat_clock_peek (const MpegStatClock * clock,
    MpegStatClockKind kind, guint64 reading);
