/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time of a link in mode=realtime: ns since it began, by the clock of the
 * pipeline. It stands still while the pipeline does not play. It has no lock.
 */

#pragma once

#include <gst/gst.h>

/* All zero: stands still at the beginning */
typedef struct
{
  GstClock *clock;              /* NULL: time stands still */
  GstClockTimeDiff base;        /* time of the clock when the link's was 0 */
  guint64 stopped_at;           /* ns: where the time stands still */
} WirelessLinkClock;

guint64 wireless_link_clock_get_time (const WirelessLinkClock * self);
/* Goes on by this clock from where the time stands; takes the reference */
void wireless_link_clock_start (WirelessLinkClock * self, GstClock * clock);
void wireless_link_clock_stop (WirelessLinkClock * self);
static inline gboolean
wireless_link_clock_is_running (const WirelessLinkClock * self)
{
  return self->clock != NULL;
}

/* Of a clock that runs */
GstClockID wireless_link_clock_new_wait (const WirelessLinkClock * self,
    guint64 time);
