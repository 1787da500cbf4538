/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What dcctpthinsink tells: the core's events become messages, a notification, a
 * request for a key frame.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdccpthinsinkprivate.h"

#include "gstwirelessevents.h"

/* Between two requests for a key frame, us: an encoder needs its time too, and
 * each costs rate that is missing already. */
#define KEY_UNIT_INTERVAL (1 * G_TIME_SPAN_SECOND)
/* Between two notifications of the rate, or of what the receiver dropped, us: an
 * encoder need not hear of each round trip */
#define TELL_INTERVAL (200 * G_TIME_SPAN_MILLISECOND)

/* --- events: with lock ---------------------------------------------------- */

static void
take_rate (GstDccpThinSink * self, guint64 rate)
{
  self->estimated_bitrate = MIN (rate, G_MAXUINT);
  self->rate_changed = TRUE;
}

static void
take_connection (GstDccpThinSink * self)
{
  DccpStats stats;

  dccp_history_clear (&self->key_packets);
  dccp_endpoint_get_stats (self->end.endpoint, &stats);
  take_rate (self, stats.rate);
}

static void
take_slow_receiver (GstDccpThinSink * self, gboolean slow)
{
  GST_INFO_OBJECT (self, "the receiver is %s", slow ? "slow" : "fast enough");
  gst_dccp_thin_end_queue_message (&self->end,
      gst_structure_new ("dccp-slow-receiver", "slow", G_TYPE_BOOLEAN, slow,
          NULL));
}

static void
ask_for_key_unit (GstDccpThinSink * self)
{
  gint64 now = g_get_monotonic_time ();

  if (!self->request_key_units || (self->key_unit_asked_at > 0
          && now - self->key_unit_asked_at < KEY_UNIT_INTERVAL))
    return;
  self->key_unit_asked_at = now;
  self->wants_key_unit = TRUE;
}

/* What belongs to a key frame is not sent again, and others refer to it. */
static void
take_lost (GstDccpThinSink * self, const DccpEvent * event)
{
  GST_LOG_OBJECT (self, "%u packets lost", event->lost);
  if (dccp_history_count (&self->key_packets, event->sequence, event->lost) > 0)
    ask_for_key_unit (self);
}

static gboolean
has_dropped_key_packet (GstDccpThinSink * self, const DccpEvent * event)
{
  return dccp_endpoint_were_dropped (self->end.endpoint, &self->key_packets,
      event->sequence, event->lost);
}

/* To who does not listen any more no key frame is of use. */
static void
take_dropped (GstDccpThinSink * self, const DccpEvent * event)
{
  GST_INFO_OBJECT (self, "the receiver dropped %u packets, code %u",
      event->dropped, event->drop_code);
  self->dropped[event->drop_code] += event->dropped;
  if (event->drop_code != DCCP_DROP_NOT_LISTENING
      && has_dropped_key_packet (self, event))
    ask_for_key_unit (self);
}

void
gst_dccp_thin_sink_take_event (gpointer element, const DccpEvent * event)
{
  GstDccpThinSink *self = element;

  switch (event->type) {
    case DCCP_EVENT_CONNECTED:
      take_connection (self);
      break;
    case DCCP_EVENT_RATE:
      take_rate (self, event->rate);
      break;
    case DCCP_EVENT_SLOW_RECEIVER:
      take_slow_receiver (self, event->slow);
      break;
    case DCCP_EVENT_DROPPED:
      take_dropped (self, event);
      break;
    case DCCP_EVENT_LOST:
      take_lost (self, event);
      break;
    default:                   /* the end's */
      break;
  }
}

/* --- telling -------------------------------------------------------------- */

/* With lock: may the next packet go earlier than was thought, or now that the
 * socket has room? */
static void
tell_room (GstDccpThinSink * self)
{
  guint64 now = gst_dccp_thin_now ();

  if (self->waits_until == 0 || !self->end.endpoint
      || driver_is_blocked (&self->end.driver, 0)
      || dccp_endpoint_next_send (self->end.endpoint, now) >= self->waits_until)
    return;
  self->waits_until = 0;
  gst_waker_wake (&self->room);
}

/* With lock */
static gboolean
has_dropped (GstDccpThinSink * self)
{
  guint code;

  for (code = 0; code < DCCP_DROP_NONE; code++)
    if (self->dropped[code] > 0)
      return TRUE;
  return FALSE;
}

guint64
gst_dccp_thin_sink_get_wakeup (gpointer element)
{
  GstDccpThinSink *self = element;
  guint64 wakeup = G_MAXUINT64;

  if (self->rate_changed)
    wakeup = (guint64) (self->rate_told_at + TELL_INTERVAL) * GST_USECOND;
  if (has_dropped (self))
    wakeup = MIN (wakeup, (guint64) (self->dropped_told_at + TELL_INTERVAL)
        * GST_USECOND);
  return wakeup;
}

/* With lock: a message for each reason, once it is time */
static void
tell_dropped (GstDccpThinSink * self)
{
  gint64 now = g_get_monotonic_time ();
  guint code;

  if (!has_dropped (self) || now < self->dropped_told_at + TELL_INTERVAL)
    return;
  self->dropped_told_at = now;
  for (code = 0; code < DCCP_DROP_NONE; code++) {
    if (self->dropped[code] == 0)
      continue;
    gst_dccp_thin_end_queue_message (&self->end,
        gst_structure_new ("dccp-dropped", "packets", G_TYPE_UINT,
            self->dropped[code], "code", G_TYPE_UINT, code, NULL));
    self->dropped[code] = 0;
  }
}

/* With lock */
static gboolean
is_time_to_tell_rate (GstDccpThinSink * self)
{
  gint64 now = g_get_monotonic_time ();

  if (!self->rate_changed || now < self->rate_told_at + TELL_INTERVAL)
    return FALSE;
  self->rate_changed = FALSE;
  self->rate_told_at = now;
  gst_dccp_thin_end_queue_message (&self->end, gst_structure_new ("dccp-rate",
          "bitrate", G_TYPE_UINT, self->estimated_bitrate, NULL));
  return TRUE;
}

void
gst_dccp_thin_sink_unlock_and_tell (gpointer element)
{
  GstDccpThinSink *self = element;
  gboolean tell_rate = is_time_to_tell_rate (self);
  gboolean wants_key_unit = self->wants_key_unit;

  tell_dropped (self);
  self->wants_key_unit = FALSE;
  tell_room (self);
  gst_dccp_thin_end_unlock_and_post (&self->end);
  if (tell_rate)
    gst_dccp_thin_sink_notify_bitrate (self);
  if (wants_key_unit)
    gst_pad_push_event (GST_BASE_SINK_PAD (self),
        gst_event_new_key_unit_request ());
}
