/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Link time with mode=realtime. Link time is the time of the emulated link: the
 * number of ns since the start of the link, measured by the clock of the
 * pipeline. Link time stands still while the pipeline is not in PLAYING. The
 * functions take no lock, so the caller has to protect the struct. */

#pragma once

#include <gst/gst.h>

/* Initialise this struct with zeros. Link time then stands still at 0 until
 * wireless_link_clock_start () is called. */
typedef struct
{
  GstClock *clock;              /* NULL = link time stands still */
  /* Time of `clock` in ns that corresponds to link time 0. Link time is the
   * present time of `clock` minus `base`. */
  GstClockTimeDiff base;
  /* value of link time, in ns, when link time was last stopped */
  guint64 stopped_at;
} WirelessLinkClock;

guint64 wireless_link_clock_get_time (const WirelessLinkClock * self);
/* Starts link time, which continues from its current value and is from now on
 * measured with `clock`. Takes ownership of the reference to `clock`. */
void wireless_link_clock_start (WirelessLinkClock * self, GstClock * clock);
void wireless_link_clock_stop (WirelessLinkClock * self);
static inline gboolean
wireless_link_clock_is_running (const WirelessLinkClock * self)
{
  return self->clock != NULL;
}

/* Returns a clock entry for waiting until the link time `time` in ns (transfer
 * full). The clock must be running. */
GstClockID wireless_link_clock_new_wait (const WirelessLinkClock * self,
    guint64 time);
