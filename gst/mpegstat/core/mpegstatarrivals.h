/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines when the last byte of a frame arrived. In an unparsed stream, the
 * end of a frame is detected only when the next frame begins, which is usually
 * a frame period later. The arrival time of the frame is therefore not the time
 * of this detection. It is the arrival time of the buffer that contained the
 * last byte of the frame. The code depends on GLib only.
 */

#pragma once

#include <glib.h>

typedef struct
{
  /* arrival time in ns, counted from the arrival of the first bytes */
  guint64 arrival;
  guint64 wall;                 /* time of day in ns */
} MpegStatTime;

typedef struct _MpegStatArrivals MpegStatArrivals;

MpegStatArrivals *mpegstat_arrivals_new (void);
void mpegstat_arrivals_free (MpegStatArrivals * arrivals);
/* Forgets all arrivals. Call this function only when the framer, which divides
 * the stream into frames, contains no bytes. `junk` is the current value of the
 * framer's counter of bytes that belong to no frame. */
void mpegstat_arrivals_reset (MpegStatArrivals * arrivals, guint64 junk);

void mpegstat_arrivals_input (MpegStatArrivals * arrivals, gsize bytes,
    const MpegStatTime * time);
/* Called when the framer, which divides the stream into frames, has output a
 * frame of `size` bytes. Sets `time` to the arrival time of the frame. `junk`
 * is the framer's counter of junk bytes, which are bytes in the stream that
 * belong to no frame. */
void mpegstat_arrivals_take (MpegStatArrivals * arrivals, gsize size,
    guint64 junk, MpegStatTime * time);
