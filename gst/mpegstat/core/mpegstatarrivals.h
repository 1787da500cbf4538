/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When did a frame's last byte come? In a raw stream a frame is known to be
 * whole only once the next one begins, mostly a frame period later; its arrival
 * is that of the buffer that its last byte was in. A core: GLib only.
 */

#pragma once

#include <glib.h>

typedef struct
{
  guint64 arrival;              /* ns since the first bytes came */
  guint64 wall;                 /* ns, time of day */
} MpegStatTime;

typedef struct _MpegStatArrivals MpegStatArrivals;

MpegStatArrivals *mpegstat_arrivals_new (void);
void mpegstat_arrivals_free (MpegStatArrivals * arrivals);
/* No byte is pending. junk: the framer's counter of junk bytes now */
void mpegstat_arrivals_reset (MpegStatArrivals * arrivals, guint64 junk);

void mpegstat_arrivals_input (MpegStatArrivals * arrivals, gsize bytes,
    const MpegStatTime * time);
/* The framer cut a frame of this size off; its counter of junk bytes tells
 * what else it took from the stream. */
void mpegstat_arrivals_take (MpegStatArrivals * arrivals, gsize size,
    guint64 junk, MpegStatTime * time);
