/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The network of mmtpsrc: its socket, the thread of the driver that runs the
 * core, and what the core tells.
 */

#include "gstmmtpsrcprivate.h"

#include <string.h>

#include "gsttrace.h"
#include "socketmessages.h"
#include "systemrandom.h"

/* For whatever comes, and something more, so that the rooms' first bytes, which
 * are the ones in use, don't share a few lines of the cache. Pages that nothing
 * was written to cost nothing. */
#define INPUT_ROOM (65536 + 1536)

/* --- messages: with lock -------------------------------------------------- */

static void
queue_message (GstMmtpSrc * self, GstMessage * message)
{
  g_queue_push_tail (&self->messages, message);
}

static void
queue_element_message (GstMmtpSrc * self, GstStructure * structure)
{
  queue_message (self, gst_message_new_element (GST_OBJECT_CAST (self),
          structure));
}

static void
tell_session (GstMmtpSrc * self, const gchar * state)
{
  GST_INFO_OBJECT (self, "session: %s", state);
  queue_element_message (self, gst_structure_new ("mmtp-session",
          "state", G_TYPE_STRING, state, NULL));
}

static void
tell_path (GstMmtpSrc * self, guint path, const gchar * state)
{
  GST_INFO_OBJECT (self, "channel %u: %s", path, state);
  queue_element_message (self, gst_structure_new ("mmtp-channel",
          "channel", G_TYPE_UINT, path, "state", G_TYPE_STRING, state, NULL));
}

static void
tell_rate (GstMmtpSrc * self, const MmtpReceiverEvent * event)
{
  queue_element_message (self, gst_structure_new ("mmtp-presentation-rate",
          "framerate", GST_TYPE_FRACTION, (gint) MIN (event->frame_rate,
              G_MAXINT), 1000,
          "bitrate", G_TYPE_UINT64, event->bit_rate, NULL));
}

/* The sender counts on what it wants. */
static void
warn_of_delay (GstMmtpSrc * self, guint64 wanted, guint64 delay)
{
  GError *error = g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "The sender asks for a latency of %" G_GUINT64_FORMAT " ms, and "
      "max-latency allows %" G_GUINT64_FORMAT " ms: packets that take longer "
      "are lost. Raise max-latency here, or lower latency at the sender.",
      wanted / GST_MSECOND, delay / GST_MSECOND);

  queue_message (self, gst_message_new_warning (GST_OBJECT_CAST (self), error,
          NULL));
  g_error_free (error);
}

static void
warn_of_size (GstMmtpSrc * self)
{
  GError *error = g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "The sender's buffers are larger than max-bytes, which is %"
      G_GUINT64_FORMAT ", and are lost. Raise max-bytes.",
      self->max_queued_bytes);

  queue_message (self, gst_message_new_warning (GST_OBJECT_CAST (self), error,
          NULL));
  g_error_free (error);
}

static void
warn_of_version (GstMmtpSrc * self, guint version)
{
  GError *error = g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Refused a sender that speaks version %u of the MMTP wire format: this "
      "receiver speaks version %u. Use the same release of "
      "gst-plugins-wireless at both ends.", version, MMTP_VERSION);

  queue_message (self, gst_message_new_warning (GST_OBJECT_CAST (self), error,
          NULL));
  g_error_free (error);
}

static void
take_delay (GstMmtpSrc * self, guint64 delay, guint64 wanted)
{
  if (wanted > delay)
    warn_of_delay (self, wanted, delay);
  if (delay == self->delay)
    return;
  GST_INFO_OBJECT (self, "latency %" GST_TIME_FORMAT, GST_TIME_ARGS (delay));
  self->delay = delay;
  queue_message (self, gst_message_new_latency (GST_OBJECT_CAST (self)));
}

static void
unlock_and_tell (gpointer element)
{
  GstMmtpSrc *self = element;
  GQueue messages = self->messages;
  GstMessage *message;

  g_queue_init (&self->messages);
  UNLOCK (self);
  while ((message = g_queue_pop_head (&messages)))
    gst_element_post_message (GST_ELEMENT_CAST (self), message);
}

static void
warn_of_end (GstMmtpSrc * self)
{
  GError *error = g_error_new_literal (GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_BUSY,
      "Refused a sender, as the stream has ended here. Start this element "
      "again to take another stream; with eos-at-end=false it takes one after "
      "the other.");

  queue_message (self, gst_message_new_warning (GST_OBJECT_CAST (self), error,
          "This warning is posted once."));
  g_error_free (error);
}

/* --- the core's events: with lock ----------------------------------------- */

/* The next buffer continues none. */
static void
take_session (GstMmtpSrc * self, const gchar * state)
{
  tell_session (self, state);
  self->queue_discont = TRUE;
}

static void
take_event (gpointer element, gpointer data)
{
  MmtpReceiverEvent *event = data;
  GstMmtpSrc *self = element;

  switch (event->type) {
    case MMTP_EVENT_SESSION:
      take_session (self, "begun");
      take_delay (self, event->delay, event->wanted_delay);
      break;
    case MMTP_EVENT_CAPS:
      gst_mmtp_src_set_queue_caps (self, event->caps);
      g_clear_pointer (&event->caps, g_free);
      break;
    case MMTP_EVENT_BUFFER:
      gst_mmtp_src_queue_buffer (self, event);
      break;
    case MMTP_EVENT_INITIAL_DELAY:
      take_delay (self, event->delay, event->wanted_delay);
      break;
    case MMTP_EVENT_PRESENTATION_RATE:
      tell_rate (self, event);
      break;
    case MMTP_EVENT_JOINED:
      tell_path (self, event->path, "joined");
      break;
    case MMTP_EVENT_LEFT:
      tell_path (self, event->path, "left");
      break;
    case MMTP_EVENT_TOO_LONG:
      warn_of_size (self);
      break;
    case MMTP_EVENT_END:
      tell_session (self, "ended");
      gst_mmtp_src_queue_end (self);
      break;
    case MMTP_EVENT_SILENT:
      take_session (self, "lost");
      break;
    case MMTP_EVENT_BACK:
      tell_session (self, "back");
      break;
    case MMTP_EVENT_OTHER_VERSION:
      warn_of_version (self, event->version);
      break;
    case MMTP_EVENT_OVER:
      warn_of_end (self);
      break;
  }
}

/* --- the driver ----------------------------------------------------------- */

static gboolean
allows (gpointer element, const DatagramPath * path)
{
  return gst_network_src_allows (GST_NETWORK_SRC (element), path->remote,
      path->address_size);
}

static void
trace (gpointer element, gboolean is_packet, const gchar * format, va_list args)
{
  gst_wireless_trace (GST_CAT_DEFAULT, element, is_packet, format, args);
}

const DriverFuncs gst_mmtp_src_driver_funcs = {
  .take_event = take_event,
  .allows = allows,
  .unlock_and_tell = unlock_and_tell,
  .trace = trace,
};

static gboolean
is_stopping (gpointer element)
{
  return GST_MMTP_SRC (element)->stopping;
}

static gpointer
run (gpointer data)
{
  GstMmtpSrc *self = data;

  driver_run (&self->driver, is_stopping, G_MAXINT64, NULL, NULL);
  return NULL;
}

/* --- open and close ------------------------------------------------------- */

static DatagramSocket *
open_socket (GstMmtpSrc * self, const GstMmtpSrcSettings * settings,
    GError ** error)
{
  GSocketAddress *address =
      gst_network_src_find_address (GST_NETWORK_SRC (self), settings->address,
      settings->port, error);
  DatagramSocketOptions options;
  DatagramSocket *socket;

  if (!address)
    return NULL;
  datagram_socket_options_init (&options);
  options.interface = settings->interface;
  options.receive_buffer_size = settings->buffer_size;
  options.reuse = settings->reuse;
  socket = datagram_socket_new_listener (address, &options, error);
  g_object_unref (address);
  return socket;
}

static MmtpReceiver *
make_receiver (const GstMmtpSrcSettings * settings, GError ** error)
{
  guint8 entropy[MMTP_ENTROPY_SIZE];
  MmtpReceiverConfig config;
  MmtpReceiver *receiver;

  mmtp_receiver_config_init (&config);
  if (!gst_mmtp_parse_key (settings->key, &config.key, error))
    return NULL;
  if (!system_random_fill (entropy, sizeof (entropy), error)) {
    g_clear_pointer (&config.key, g_bytes_unref);
    return NULL;
  }
  config.min_delay = settings->latency * GST_MSECOND;
  config.max_delay =
      MAX (settings->latency, settings->max_latency) * GST_MSECOND;
  config.max_bytes = settings->max_bytes;
  receiver = mmtp_receiver_new (&config, entropy);
  g_clear_pointer (&config.key, g_bytes_unref);
  memset (entropy, 0, sizeof (entropy));
  return receiver;
}

static void
copy_settings (GstMmtpSrc * self, GstMmtpSrcSettings * settings)
{
  GST_OBJECT_LOCK (self);
  *settings = self->settings;
  settings->address = g_strdup (settings->address);
  settings->interface = g_strdup (settings->interface);
  settings->key = g_strdup (settings->key);
  GST_OBJECT_UNLOCK (self);
}

static void
clear_settings (GstMmtpSrcSettings * settings)
{
  g_free (settings->address);
  g_free (settings->interface);
  g_free (settings->key);
}

static void
set_used_socket (GstMmtpSrc * self, GSocket * socket)
{
  GST_OBJECT_LOCK (self);
  gst_network_src_set_used_socket (GST_NETWORK_SRC (self), socket);
  GST_OBJECT_UNLOCK (self);
}

/* A stream that has ended stays so, whatever is set then. */
void
gst_mmtp_src_set_eos_at_end (GstMmtpSrc * self, gboolean eos_at_end)
{
  LOCK (self);
  self->eos_at_end = eos_at_end;
  if (self->receiver)
    mmtp_receiver_set_ends (self->receiver, eos_at_end || self->is_over);
  UNLOCK (self);
}

static void
begin (GstMmtpSrc * self, const GstMmtpSrcSettings * settings,
    DatagramSocket * socket)
{
  driver_begin (&self->driver, &mmtp_receiver_verbs, self->receiver,
      INPUT_ROOM);
  driver_add_path (&self->driver, 0, socket, MMTP_MAX_RECEIVER_MESSAGE);
  self->stopping = FALSE;
  self->delay = settings->latency * GST_MSECOND;
  self->max_queued_bytes = settings->max_bytes;
  self->is_over = FALSE;
  gst_mmtp_src_set_eos_at_end (self, settings->eos_at_end);
  memset (&self->counters, 0, sizeof (self->counters));
  set_used_socket (self, datagram_socket_get_socket (socket));
  self->thread = g_thread_new ("mmtpsrc", run, self);
}

gboolean
gst_mmtp_src_open (GstMmtpSrc * self)
{
  GstMmtpSrcSettings settings;
  MmtpReceiver *receiver = NULL;
  DatagramSocket *socket;
  GError *error = NULL;

  copy_settings (self, &settings);
  socket = open_socket (self, &settings, &error);
  if (socket)
    receiver = make_receiver (&settings, &error);
  LOCK (self);
  self->receiver = receiver;
  UNLOCK (self);
  if (receiver) {
    begin (self, &settings, socket);
  } else {
    g_clear_pointer (&socket, datagram_socket_free);
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Could not listen for MMTP on %s, port %d: %s.%s", settings.address,
            settings.port, error->message, socket_error_get_advice (error)),
        (NULL));
    g_error_free (error);
  }
  clear_settings (&settings);
  return receiver != NULL;
}

void
gst_mmtp_src_close (GstMmtpSrc * self)
{
  if (!self->thread)
    return;
  LOCK (self);
  self->stopping = TRUE;
  driver_wake (&self->driver, TRUE);
  UNLOCK (self);
  g_clear_pointer (&self->thread, g_thread_join);

  set_used_socket (self, NULL);
  LOCK (self);
  driver_end (&self->driver);
  gst_mmtp_src_clear_queue (self);
  gst_mmtp_src_set_queue_caps (self, NULL);
  g_clear_pointer (&self->receiver, mmtp_receiver_free);
  UNLOCK (self);
  g_clear_pointer (&self->caps_in_use, g_ref_string_release);
}
