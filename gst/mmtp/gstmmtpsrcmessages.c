/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of mmtpsrc about its session. The functions are documented in
 * gstmmtpsrcmessages.h. */

#include "gstmmtpsrcmessages.h"

#include "gstmmtpsrcqueue.h"

#include "mmtppacket.h"

/* the category of the element, from gstmmtpsrc.c */
#define GST_CAT_DEFAULT gst_mmtp_src_debug

void
gst_mmtp_src_messages_init (GstMmtpSrcMessages * self, GstElement * element)
{
  self->element = element;
  g_queue_init (&self->queue);
}

static void
queue_message (GstMmtpSrcMessages * self, GstMessage * message)
{
  g_queue_push_tail (&self->queue, message);
}

/* --- states of the session ------------------------------------------------ */

static void
queue_element_message (GstMmtpSrcMessages * self, GstStructure * structure)
{
  queue_message (self, gst_message_new_element (GST_OBJECT_CAST
          (self->element), structure));
}

void
gst_mmtp_src_messages_tell_session (GstMmtpSrcMessages * self,
    const gchar * state)
{
  GST_INFO_OBJECT (self->element, "session: %s", state);
  queue_element_message (self, gst_structure_new ("mmtp-session",
          "state", G_TYPE_STRING, state, NULL));
}

void
gst_mmtp_src_messages_tell_path (GstMmtpSrcMessages * self, guint path,
    const gchar * state)
{
  GST_INFO_OBJECT (self->element, "channel %u: %s", path, state);
  queue_element_message (self, gst_structure_new ("mmtp-channel",
          "channel", G_TYPE_UINT, path, "state", G_TYPE_STRING, state, NULL));
}

void
gst_mmtp_src_messages_tell_rate (GstMmtpSrcMessages * self, guint frame_rate,
    guint64 bit_rate)
{
  queue_element_message (self, gst_structure_new ("mmtp-presentation-rate",
          "framerate", GST_TYPE_FRACTION, (gint) MIN (frame_rate, G_MAXINT),
          1000, "bitrate", G_TYPE_UINT64, bit_rate, NULL));
}

void
gst_mmtp_src_messages_tell_latency (GstMmtpSrcMessages * self)
{
  queue_message (self, gst_message_new_latency (GST_OBJECT_CAST
          (self->element)));
}

/* --- warnings ------------------------------------------------------------- */

/* Takes ownership of `error`. */
static void
queue_warning (GstMmtpSrcMessages * self, GError * error, const gchar * debug)
{
  queue_message (self, gst_message_new_warning (GST_OBJECT_CAST
          (self->element), error, debug));
  g_error_free (error);
}

void
gst_mmtp_src_messages_warn_of_delay (GstMmtpSrcMessages * self,
    guint64 wanted, guint64 delay)
{
  queue_warning (self, g_error_new (GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_SETTINGS,
          "The sender asks for a latency of %" G_GUINT64_FORMAT " ms, and "
          "max-latency allows %" G_GUINT64_FORMAT " ms: packets that take "
          "longer are lost. Raise max-latency here, or lower latency at the "
          "sender.", wanted / GST_MSECOND, delay / GST_MSECOND), NULL);
}

void
gst_mmtp_src_messages_warn_of_size (GstMmtpSrcMessages * self,
    guint64 max_bytes)
{
  queue_warning (self, g_error_new (GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_SETTINGS,
          "The sender's buffers are larger than max-bytes, which is %"
          G_GUINT64_FORMAT ", and are lost. Raise max-bytes.", max_bytes),
      NULL);
}

void
gst_mmtp_src_messages_warn_of_version (GstMmtpSrcMessages * self, guint version)
{
  queue_warning (self, g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "Refused a sender that speaks version %u of the MMTP wire format: "
          "this receiver speaks version %u. Use the same release of "
          "gst-plugins-wireless at both ends.", version, MMTP_VERSION), NULL);
}

void
gst_mmtp_src_messages_warn_of_end (GstMmtpSrcMessages * self)
{
  queue_warning (self, g_error_new_literal (GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_BUSY,
          "Refused a sender, as the stream has ended here. Start this element "
          "again to take another stream; with eos-at-end=false it takes one "
          "after the other."), "This warning is posted once.");
}

/* --- posting -------------------------------------------------------------- */

GQueue
gst_mmtp_src_messages_take (GstMmtpSrcMessages * self)
{
  GQueue messages = self->queue;

  g_queue_init (&self->queue);
  return messages;
}

void
gst_mmtp_src_messages_post (GstMmtpSrcMessages * self, GQueue * messages)
{
  GstMessage *message;

  while ((message = g_queue_pop_head (messages)))
    gst_element_post_message (self->element, message);
}
