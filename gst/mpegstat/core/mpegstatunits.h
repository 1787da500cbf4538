/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines type, position and hash of an access unit of H.264 or H.265, or of
 * a frame of VP8, VP9 or AV1. MPEG-1/2 video contains the position of each
 * picture, but these formats do not. The position is therefore computed from
 * the timestamps or from the number of frames. The code depends on GLib only.
 */

#pragma once

#include "ifdclassifier.h"
#include "mpegstatcore.h"
#include "slotuse.h"

typedef struct _MpegStatUnits MpegStatUnits;

MpegStatUnits *mpegstat_units_new (IfdCodec codec);
MpegStatUnits *mpegstat_units_new_slots (SlotCodec codec);
void mpegstat_units_free (MpegStatUnits * units);
/* The following two functions return the parser, so that the caller can set its
 * codec data and read its counters. For H.264 and H.265, the parser is the
 * classifier, and mpegstat_units_get_slots () returns NULL. For all other
 * codecs, the parser is the slot reader, and mpegstat_units_get_classifier ()
 * returns NULL. */
IfdClassifier *mpegstat_units_get_classifier (MpegStatUnits * units);
SlotReader *mpegstat_units_get_slots (MpegStatUnits * units);
/* Returns the number of malformed frames of VP8, VP9 and AV1. */
guint64 mpegstat_units_get_malformed (const MpegStatUnits * units);
/* Sets the duration of a frame in ns; 0 means that it is unknown. It is used to
 * compute the positions of frames from their timestamps. */
void mpegstat_units_set_period (MpegStatUnits * units, guint64 period);
/* Starts a new stream. The next access unit gets the number 0, and later times
 * are relative to its time. */
void mpegstat_units_restart (MpegStatUnits * units);

/* Processes an access unit, and fills in `unit`, its description. `pts` and
 * `dts` are in ns or MPEG_VIDEO_TIME_NONE. `layer` is the temporal layer of a
 * VP8 frame, or NULL. */
void mpegstat_units_input (MpegStatUnits * units, const guint8 * data,
    gsize size, guint64 pts, guint64 dts, const SlotLayer * layer,
    MpegStatUnit * unit);
