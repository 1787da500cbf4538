/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of wirelesslinkclock.h: link time with mode=realtime. */

#include "wirelesslinkclock.h"

guint64
wireless_link_clock_get_time (const WirelessLinkClock * self)
{
  GstClockTimeDiff time;

  if (!self->clock)
    return self->stopped_at;
  time = gst_clock_get_time (self->clock) - self->base;
  return MAX (time, 0);
}

void
wireless_link_clock_start (WirelessLinkClock * self, GstClock * clock)
{
  self->clock = clock;
  self->base = gst_clock_get_time (clock) - self->stopped_at;
}

void
wireless_link_clock_stop (WirelessLinkClock * self)
{
  self->stopped_at = wireless_link_clock_get_time (self);
  gst_clear_object (&self->clock);
}

GstClockID
wireless_link_clock_new_wait (const WirelessLinkClock * self, guint64 time)
{
  GstClockTimeDiff at = self->base + (GstClockTimeDiff) time;

  return gst_clock_new_single_shot_id (self->clock, MAX (at, 0));
}
