/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines the type, the position and the hash of an access unit of H.264 or
 * H.265, or of a frame of VP8, VP9 or AV1. Unlike MPEG-1/2 video, these formats
 * do not contain the position of each picture in the stream. The position is
 * therefore computed from the timestamps or from the number of frames. The code
 * depends on GLib only. */

#pragma once

#include "ifdclassifier.h"
#include "mpegstatcore.h"
#include "slotuse.h"

typedef struct _MpegStatUnits MpegStatUnits;

MpegStatUnits *mpegstat_units_new (IfdCodec codec);
MpegStatUnits *mpegstat_units_new_slots (SlotCodec codec);
void mpegstat_units_free (MpegStatUnits * units);
/* The following two functions return the parser of the stream. The caller needs
 * the parser to set the codec data and to read counters. H.264 and H.265 are
 * parsed by an IfdClassifier (ifdclassifier.h). For these codecs,
 * mpegstat_units_get_slots () returns NULL. All other codecs are parsed by a
 * SlotReader (slotuse.h). For them, mpegstat_units_get_classifier () returns
 * NULL. */
IfdClassifier *mpegstat_units_get_classifier (MpegStatUnits * units);
SlotReader *mpegstat_units_get_slots (MpegStatUnits * units);
/* Returns the number of malformed frames of VP8, VP9 and AV1. */
guint64 mpegstat_units_get_malformed (const MpegStatUnits * units);
/* Sets the duration of a frame in ns; 0 means that the duration is unknown.
 * This duration is used to compute the positions of frames from their
 * timestamps. */
void mpegstat_units_set_period (MpegStatUnits * units, guint64 period);
/* Starts a new stream. The next access unit gets the number 0. Later timestamps
 * are relative to the first timestamps of the new stream. */
void mpegstat_units_restart (MpegStatUnits * units);

/* Processes an access unit, and fills in its description, `unit`. `pts` and
 * `dts` are in ns; MPEG_VIDEO_TIME_NONE means that the time is unknown. If the
 * access unit is a VP8 frame, `layer` is its temporal layer, or NULL if the
 * layer is unknown. */
void mpegstat_units_input (MpegStatUnits * units, const guint8 * data,
    gsize size, guint64 pts, guint64 dts, const SlotLayer * layer,
    MpegStatUnit * unit);
