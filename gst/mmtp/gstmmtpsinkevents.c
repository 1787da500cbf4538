/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes the events of the core of mmtpsink. An event may become a message,
 * a log line, a notification, an error of the session, or a request for a key
 * frame.
 */

#include "gstmmtpsinkprivate.h"

#include "gstwirelessevents.h"

/* Minimum interval between two requests for a key frame, in us. There are two
 * reasons for this minimum:
 * - An encoder needs some time to respond.
 * - Key frames are requested while little bitrate is available, and each key
 *   frame uses a part of this bitrate. */
#define KEY_UNIT_INTERVAL (1 * G_TIME_SPAN_SECOND)

/* --- events, with `lock` held --------------------------------------------- */

static void
queue_message (GstMmtpSink * self, GstStructure * structure)
{
  g_queue_push_tail (&self->messages,
      gst_message_new_element (GST_OBJECT_CAST (self), structure));
}

void
gst_mmtp_sink_queue_warning (GstMmtpSink * self, GError * error)
{
  g_queue_push_tail (&self->messages,
      gst_message_new_warning (GST_OBJECT_CAST (self), error, NULL));
  g_error_free (error);
}

static const gchar *
get_path_name (GstMmtpSink * self, guint path, MmtpSenderPathStats * stats)
{
  if (!mmtp_sender_get_path_stats (self->sender, path, stats))
    return "";
  return stats->name;
}

static void
tell_path (GstMmtpSink * self, const MmtpSenderEvent * event)
{
  MmtpSenderPathStats stats = { 0 };
  const gchar *name = get_path_name (self, event->path, &stats);
  const gchar *state = mmtp_path_state_get_name (event->state);
  gchar *reason = mmtp_path_stats_explain (&stats);

  GST_INFO_OBJECT (self, "channel %u, %s: %s%s%s", event->path, name, state,
      *reason ? ", " : "", reason);
  queue_message (self, gst_structure_new ("mmtp-channel",
          "channel", G_TYPE_UINT, event->path,
          "name", G_TYPE_STRING, name, "state", G_TYPE_STRING, state,
          "unused-because", G_TYPE_STRING, reason, NULL));
  g_free (reason);
}

static void
tell_too_slow (GstMmtpSink * self, const MmtpSenderEvent * event)
{
  GST_INFO_OBJECT (self, "the stream needs %" G_GUINT64_FORMAT
      " bit/s, the channels carry %" G_GUINT64_FORMAT " bit/s",
      event->requested, event->rate);
  queue_message (self, gst_structure_new ("mmtp-too-slow",
          "requested", G_TYPE_UINT64, event->requested,
          "available", G_TYPE_UINT64, event->rate, NULL));
}

static void
tell_delay (GstMmtpSink * self, const MmtpSenderEvent * event)
{
  GST_INFO_OBJECT (self, "initial delay %" GST_TIME_FORMAT,
      GST_TIME_ARGS (event->delay));
  queue_message (self, gst_structure_new ("mmtp-delay",
          "initial-delay", G_TYPE_UINT64, event->delay, NULL));
}

static void
tell_broken (GstMmtpSink * self, const MmtpSenderEvent * event)
{
  MmtpSenderPathStats stats;

  queue_message (self, gst_structure_new ("mmtp-link-broken",
          "channel", G_TYPE_UINT, event->path, "name", G_TYPE_STRING,
          get_path_name (self, event->path, &stats), NULL));
}

void
gst_mmtp_sink_ask_for_key_unit (GstMmtpSink * self)
{
  gint64 now = g_get_monotonic_time ();

  if (self->key_unit_asked_at > 0
      && now - self->key_unit_asked_at < KEY_UNIT_INTERVAL)
    return;
  self->key_unit_asked_at = now;
  self->wants_key_unit = TRUE;
}

static void
take_discarded (GstMmtpSink * self, const MmtpSenderEvent * event)
{
  /* Texts for the log that explain why a buffer was dropped, indexed by
   * MmtpDiscard. */
  static const gchar *const reasons[MMTP_N_DISCARDS] = {
    "late: no path could bring it in time",
    "no-room: max-bytes are queued, and it is less important",
    "incomplete: it refers to a dropped buffer",
    "connection-lost: the connection ended before it was sent"
  };

  GST_DEBUG_OBJECT (self, "gave up a %s of %u bytes with pts %"
      GST_TIME_FORMAT ": %s",
      event->flags & MMTP_FLAG_DROPPABLE ? "droppable buffer" :
      event->flags & MMTP_FLAG_DELTA ? "reference buffer" : "key buffer",
      event->size, GST_TIME_ARGS (event->pts), reasons[event->reason]);
  if (self->has_delta_units && event->is_needed)
    gst_mmtp_sink_ask_for_key_unit (self);
}

GError *
gst_mmtp_sink_make_refusal (MmtpRefuseReason reason, guint version)
{
  switch (reason) {
    case MMTP_REFUSE_VERSION:
      return g_error_new (G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
          "the receiver speaks version %u of the MMTP wire format and this "
          "sender speaks version %u: use the same release of "
          "gst-plugins-wireless at both ends", version, MMTP_VERSION);
    case MMTP_REFUSE_BUSY:
      return g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY,
          "the receiver is in a session with another sender: end that one "
          "first, or send to another port");
    case MMTP_REFUSE_OVER:
      return g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CLOSED,
          "the receiver's stream has ended, and it takes no other one: start "
          "the receiver again, or set eos-at-end=false there");
    case MMTP_REFUSE_KEY:
      return g_error_new_literal (G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
          "the receiver has another key, or only one of both has one: set the "
          "same key at both ends");
    default:
      return g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED,
          "the receiver refused the session for the unknown reason %u", reason);
  }
}

static void
take_error (GstMmtpSink * self, GError * error)
{
  g_clear_error (&self->broken);
  self->broken = error;
}

static void
take_rate (GstMmtpSink * self, const MmtpSenderEvent * event)
{
  guint rate = MIN (event->rate, G_MAXUINT);

  GST_DEBUG_OBJECT (self, "the channels carry %s%u bit/s of the stream",
      event->is_app_limited ? "at least " : "", rate);
  self->rate_changed |= rate != self->estimated_bitrate;
  self->estimated_bitrate = rate;
}

void
gst_mmtp_sink_take_event (gpointer element, gpointer data)
{
  const MmtpSenderEvent *event = data;
  GstMmtpSink *self = element;

  switch (event->type) {
    case MMTP_EVENT_READY:
      self->is_ready = TRUE;
      take_rate (self, event);
      break;
    case MMTP_EVENT_REFUSED:
      take_error (self, gst_mmtp_sink_make_refusal (event->reason,
              event->version));
      break;
    case MMTP_EVENT_LOST:
      take_error (self, g_error_new_literal (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
              "the receiver no longer responds"));
      break;
    case MMTP_EVENT_ROOM:
      break;
    case MMTP_EVENT_RATE:
      take_rate (self, event);
      break;
    case MMTP_EVENT_TOO_SLOW:
      tell_too_slow (self, event);
      break;
    case MMTP_EVENT_DELAY:
      tell_delay (self, event);
      break;
    case MMTP_EVENT_PATH:
      tell_path (self, event);
      break;
    case MMTP_EVENT_BROKEN:
      tell_broken (self, event);
      break;
    case MMTP_EVENT_DISCARDED:
      take_discarded (self, event);
      break;
    case MMTP_EVENT_ENDED:
      self->has_ended = TRUE;
      break;
  }
}

void
gst_mmtp_sink_unlock_and_post (gpointer element)
{
  GstMmtpSink *self = element;
  gboolean rate_changed = self->rate_changed;
  gboolean wants_key_unit = self->wants_key_unit;
  GQueue messages = self->messages;
  GstMessage *message;

  g_queue_init (&self->messages);
  self->rate_changed = FALSE;
  self->wants_key_unit = FALSE;
  UNLOCK (self);

  while ((message = g_queue_pop_head (&messages)))
    gst_element_post_message (GST_ELEMENT_CAST (self), message);
  if (rate_changed)
    g_object_notify (G_OBJECT (self), "estimated-bitrate");
  if (wants_key_unit)
    gst_pad_push_event (GST_BASE_SINK_PAD (self),
        gst_wireless_event_new_key_unit_request ());
}
