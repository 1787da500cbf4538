/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The network of mmtpsrc: its socket, and the thread that drives the core. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstmmtpsrcprivate.h"

#include <string.h>

#include "systemrandom.h"

/* Longer than any message of a receiver, docs/wire-mmtp.md: a REPORT of 16
 * records with 16 ranges each has 1575 bytes. */
#define OUTPUT_ROOM 2048
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
tell_channel (GstMmtpSrc * self, guint channel, const gchar * state)
{
  GST_INFO_OBJECT (self, "channel %u: %s", channel, state);
  queue_element_message (self, gst_structure_new ("mmtp-channel",
          "channel", G_TYPE_UINT, channel, "state", G_TYPE_STRING, state,
          NULL));
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
      "The sender wants a latency of %" G_GUINT64_FORMAT " ms, and may have %"
      G_GUINT64_FORMAT " ms: what takes longer is lost",
      wanted / GST_MSECOND, delay / GST_MSECOND);

  queue_message (self, gst_message_new_warning (GST_OBJECT_CAST (self), error,
          "raise max-latency, or the sender's latency has to be less"));
  g_error_free (error);
}

static void
warn_of_size (GstMmtpSrc * self)
{
  GError *error = g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "The sender's buffers are longer than max-bytes, which is %"
      G_GUINT64_FORMAT ", and are lost", self->max_queued_bytes);

  queue_message (self, gst_message_new_warning (GST_OBJECT_CAST (self), error,
          "raise max-bytes"));
  g_error_free (error);
}

static void
warn_of_version (GstMmtpSrc * self, guint version)
{
  GError *error = g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Refused a sender that speaks version %u of the MMTP wire format: this "
      "receiver speaks version %u", version, MMTP_VERSION);

  queue_message (self, gst_message_new_warning (GST_OBJECT_CAST (self), error,
          "use the same release of gst-plugins-wireless at both ends"));
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
unlock_and_tell (GstMmtpSrc * self)
{
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
          "told once"));
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
take_event (GstMmtpSrc * self, MmtpReceiverEvent * event)
{
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
      tell_channel (self, event->channel, "joined");
      break;
    case MMTP_EVENT_LEFT:
      tell_channel (self, event->channel, "left");
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

/* --- input and output ----------------------------------------------------- */

/* The network's thread; the socket is its own */
static void
send_batch (GstMmtpSrc * self, Datagram * datagrams, guint n)
{
  GError *error = NULL;
  guint done = 0;
  gint sent;

  while (done < n) {
    sent = datagram_socket_send (self->socket, datagrams + done, n - done,
        &error);
    if (sent > 0) {
      done += sent;
      continue;
    }
    /* The next report tells all that this one would have told. */
    GST_DEBUG_OBJECT (self, "not sent: %s", error ? error->message : "no room");
    g_clear_error (&error);
    done++;
  }
}

/* With lock, as the core's output is in its own order */
static void
flush_output (GstMmtpSrc * self)
{
  Datagram datagrams[DATAGRAM_BATCH];
  guint64 now = gst_mmtp_now ();
  MmtpAddress address;
  guint n;

  do {
    for (n = 0; n < DATAGRAM_BATCH; n++) {
      datagram_init (&datagrams[n], self->outputs + n * OUTPUT_ROOM, 0);
      datagrams[n].size = mmtp_receiver_poll_output (self->receiver, now,
          &address, datagrams[n].bytes, OUTPUT_ROOM);
      if (datagrams[n].size == 0)
        break;
      mmtp_address_get_path (&address, &datagrams[n].path);
    }
    send_batch (self, datagrams, n);
  } while (n == DATAGRAM_BATCH);
}

/* Returns how many came. */
static guint
receive_batch (GstMmtpSrc * self, Datagram * datagrams)
{
  GError *error = NULL;
  guint i;
  gint n;

  for (i = 0; i < DATAGRAM_BATCH; i++)
    datagram_init (&datagrams[i], self->inputs + i * INPUT_ROOM, INPUT_ROOM);
  n = datagram_socket_receive (self->socket, datagrams, DATAGRAM_BATCH, &error);
  if (n < 0)
    GST_DEBUG_OBJECT (self, "not received: %s", error->message);
  g_clear_error (&error);
  return MAX (0, n);
}

/* With lock */
static void
take_input (GstMmtpSrc * self, const Datagram * datagrams, guint n)
{
  MmtpReceiverEvent event;
  MmtpAddress address;
  guint i;

  for (i = 0; i < n; i++) {
    if (!gst_network_src_allows (GST_NETWORK_SRC (self),
            datagrams[i].path.remote, datagrams[i].path.address_size))
      continue;
    mmtp_address_set_path (&address, &datagrams[i].path);
    mmtp_receiver_input (self->receiver, datagrams[i].time, &address,
        datagrams[i].bytes, datagrams[i].size);
  }
  mmtp_receiver_timeout (self->receiver, gst_mmtp_now ());
  /* The end is acknowledged before anybody can act on it, and go. */
  while (mmtp_receiver_poll_event (self->receiver, &event))
    take_event (self, &event);
  flush_output (self);
}

/* --- the thread ----------------------------------------------------------- */

static void
sleep_until (GstMmtpSrc * self, guint64 wakeup)
{
  guint64 now = gst_mmtp_now ();

  gst_poll_wait (self->waker.poll, wakeup == MMTP_NEVER ? GST_CLOCK_TIME_NONE :
      wakeup > now ? wakeup - now : 0);
}

static gpointer
run (gpointer data)
{
  GstMmtpSrc *self = data;
  Datagram datagrams[DATAGRAM_BATCH];
  guint64 wakeup;
  guint n = 0;

  LOCK (self);
  while (!self->stopping) {
    take_input (self, datagrams, n);
    wakeup = mmtp_receiver_next_wakeup (self->receiver);
    unlock_and_tell (self);
    /* As long as there is more, it comes at once. */
    if (n < DATAGRAM_BATCH)
      sleep_until (self, wakeup);
    n = receive_batch (self, datagrams);
    LOCK (self);
    gst_waker_reset (&self->waker);
  }
  unlock_and_tell (self);
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
  config.least_delay = settings->latency * GST_MSECOND;
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
begin (GstMmtpSrc * self, const GstMmtpSrcSettings * settings)
{
  GSocket *socket = datagram_socket_get_socket (self->socket);

  self->inputs = g_malloc (DATAGRAM_BATCH * INPUT_ROOM);
  self->outputs = g_malloc (DATAGRAM_BATCH * OUTPUT_ROOM);
  self->stopping = FALSE;
  self->delay = settings->latency * GST_MSECOND;
  self->max_queued_bytes = settings->max_bytes;
  self->is_over = FALSE;
  gst_mmtp_src_set_eos_at_end (self, settings->eos_at_end);
  memset (&self->counters, 0, sizeof (self->counters));
  gst_waker_add (&self->waker, &self->fd, g_socket_get_fd (socket));
  set_used_socket (self, socket);
  self->thread = g_thread_new ("mmtpsrc", run, self);
}

gboolean
gst_mmtp_src_open (GstMmtpSrc * self)
{
  GstMmtpSrcSettings settings;
  MmtpReceiver *receiver = NULL;
  GError *error = NULL;

  copy_settings (self, &settings);
  self->socket = open_socket (self, &settings, &error);
  if (self->socket)
    receiver = make_receiver (&settings, &error);
  LOCK (self);
  self->receiver = receiver;
  UNLOCK (self);
  if (receiver) {
    begin (self, &settings);
  } else {
    g_clear_pointer (&self->socket, datagram_socket_free);
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Could not listen for MMTP on %s, port %d: %s.", settings.address,
            settings.port, error->message), (NULL));
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
  gst_waker_wake (&self->waker);
  UNLOCK (self);
  g_clear_pointer (&self->thread, g_thread_join);

  gst_waker_remove (&self->waker, &self->fd);
  set_used_socket (self, NULL);
  g_clear_pointer (&self->socket, datagram_socket_free);
  g_clear_pointer (&self->inputs, g_free);
  g_clear_pointer (&self->outputs, g_free);
  LOCK (self);
  gst_waker_reset (&self->waker);
  gst_mmtp_src_clear_queue (self);
  gst_mmtp_src_set_queue_caps (self, NULL);
  g_clear_pointer (&self->receiver, mmtp_receiver_free);
  UNLOCK (self);
  g_clear_pointer (&self->caps_in_use, g_ref_string_release);
}
