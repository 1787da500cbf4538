/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an access unit of H.264 or H.265 is, where it stands, and by what mark it
 * is known again at the other end. Its bytes don't tell its place, as those of
 * MPEG-1/2 do: that comes from timestamps, or from counting. A core: GLib only.
 */

#pragma once

#include "ifdclassifier.h"
#include "mpegstatcore.h"

typedef struct _MpegStatUnits MpegStatUnits;

MpegStatUnits *mpegstat_units_new (IfdCodec codec);
void mpegstat_units_free (MpegStatUnits * units);
/* For its codec data and its counters */
IfdClassifier *mpegstat_units_get_classifier (MpegStatUnits * units);
/* How long a frame is shown, ns; 0: not known */
void mpegstat_units_set_period (MpegStatUnits * units, guint64 period);
/* The stream begins anew: numbers and times count from the next one. */
void mpegstat_units_restart (MpegStatUnits * units);

/* An access unit; pts and dts: ns, or MPEG_VIDEO_TIME_NONE */
void mpegstat_units_input (MpegStatUnits * units, const guint8 * data,
    gsize size, guint64 pts, guint64 dts, MpegStatUnit * unit);
