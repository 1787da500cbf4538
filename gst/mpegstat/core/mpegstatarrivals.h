/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines when the last byte of a frame arrived. In an unparsed stream a
 * frame is complete only when the next frame begins, which is usually a frame
 * period later. Its arrival time is therefore the arrival time of the buffer
 * that contained its last byte. The code depends on GLib only.
 */

#pragma once

#include <glib.h>

typedef struct
{
  guint64 arrival;              /* in ns since the first bytes arrived */
  guint64 wall;                 /* time of day in ns */
} MpegStatTime;

typedef struct _MpegStatArrivals MpegStatArrivals;

MpegStatArrivals *mpegstat_arrivals_new (void);
void mpegstat_arrivals_free (MpegStatArrivals * arrivals);
/* Called when no bytes are pending. `junk` is the framer's present counter of
 * junk bytes. */
void mpegstat_arrivals_reset (MpegStatArrivals * arrivals, guint64 junk);

void mpegstat_arrivals_input (MpegStatArrivals * arrivals, gsize bytes,
    const MpegStatTime * time);
/* Called when the framer has output a frame of `size` bytes; stores its arrival
 * in `time`. `junk` is the framer's counter of junk bytes: the bytes of the
 * stream that the framer has consumed in addition to the frames. */
void mpegstat_arrivals_take (MpegStatArrivals * arrivals, gsize size,
    guint64 junk, MpegStatTime * time);
