/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-mmtpsrc
 * @title: mmtpsrc
 * @short_description: Receives one stream over several channels (MMTP)
 *
 * Receives one stream from mmtpsink with the Multimedia Multiplexing Transport
 * Protocol (Magalhães and Kravets 2001). The element puts the packets of all
 * channels into order, reports lost packets to the sender, and reassembles the
 * buffers. Each buffer has a deadline. After its deadline, a buffer is output
 * only if #GstMmtpSrc:max-lateness allows this. The buffers have the times,
 * flags and caps that they had at mmtpsink.
 *
 * The source is live. Its latency is the initial delay that both ends have
 * agreed on. If the initial delay changes, the element posts a LATENCY message.
 * At the end of the stream, it sends EOS.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 mmtpsrc port=5004 ! decodebin ! autovideosink
 * ]| Listens on port 5004 and plays the received stream.
 * |[
 * gst-launch-1.0 playbin3 uri=mmtp://0.0.0.0:5004
 * ]| Listens on the port of the URI and plays the received stream.
 *
 * Since: 0.1
 */

#include <string.h>

#include "driver.h"
#include "gstmmtpcommon.h"
#include "gstmmtpsrcmessages.h"
#include "gstmmtpsrcoutput.h"
#include "gstmmtpsrcqueue.h"
#include "gstmmtpsrcstats.h"
#include "gstnetworksrc.h"
#include "gstnetworkuri.h"
#include "gsttrace.h"
#include "mmtpreceiver.h"
#include "socketmessages.h"
#include "systemrandom.h"

#define GST_TYPE_MMTP_SRC (gst_mmtp_src_get_type ())
G_DECLARE_FINAL_TYPE (GstMmtpSrc, gst_mmtp_src, GST, MMTP_SRC, GstNetworkSrc);
GST_ELEMENT_REGISTER_DECLARE (mmtpsrc);

GST_DEBUG_CATEGORY (gst_mmtp_src_debug);
#define GST_CAT_DEFAULT gst_mmtp_src_debug

/* Size in bytes of each buffer into which a datagram is received: the maximum
 * size of a datagram plus 1.5 KiB. Most datagrams are small and use only the
 * beginning of their buffer. The additional space puts the beginnings of
 * different buffers into different cache lines. The unused rest takes no
 * memory, because its pages are never written. */
#define INPUT_ROOM (65536 + 1536)

/* The network part runs in a thread of its own. Reports must be sent to the
 * sender in time, even if downstream needs a long time to process the buffers.
 * The network thread passes the buffers to the streaming thread through a
 * queue, whose size in bytes is limited.
 *
 * This file has the element, its properties and its network thread. The other
 * parts of the element have files of their own:
 * - gstmmtpsrcqueue.h is the queue between the two threads.
 * - gstmmtpsrcoutput.h is the work of the streaming thread. It takes items from
 *   the queue and outputs them.
 * - gstmmtpsrcbuffers.h makes the output buffers, with their timestamps.
 * - gstmmtpsrcmessages.h has the messages about the session.
 * - gstmmtpsrcstats.h has the statistics. */

/* Values of the properties of the element. The struct owns the strings. */
typedef struct
{
  gchar *address, *interface, *key;
  gint port;
  /* size of the socket's receive buffer in bytes; 0 means the default size of
   * the system */
  gint buffer_size;
  guint latency, max_latency, max_lateness;     /* in ms */
  guint64 peer_timeout;         /* in ns; 0 means unlimited */
  guint max_bytes;
  gboolean reuse, eos_at_end;
} GstMmtpSrcSettings;

struct _GstMmtpSrc
{
  GstNetworkSrc parent;

  /* protected by OBJECT_LOCK */
  GstMmtpSrcSettings settings;

  /* No thread holds this lock while it waits or posts a message. A thread that
   * holds this lock must not take OBJECT_LOCK. */
  GMutex lock;

  /* --- protected by `lock` */
  MmtpReceiver *receiver;       /* NULL while stopped */
  GstMmtpSrcQueue queue;
  GstMmtpSrcMessages messages;
  gboolean stopping;
  Driver driver;                /* socket and network loop */

  /* --- The following field is changed only while neither the streaming thread
   * nor the network thread runs. */
  GThread *thread;

  /* --- The following field is used by the streaming thread only. */
  GstMmtpSrcOutput output;
};

#define LOCK(self) g_mutex_lock (&(self)->lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->lock)

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define gst_mmtp_src_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstMmtpSrc, gst_mmtp_src, GST_TYPE_NETWORK_SRC,
    GST_DEBUG_CATEGORY_INIT (gst_mmtp_src_debug, "mmtpsrc", 0, "MMTP source"));
/* The element has rank NONE. It needs no other rank, because it is found by its
 * URI scheme. udpsrc has rank NONE, too. */
GST_ELEMENT_REGISTER_DEFINE (mmtpsrc, "mmtpsrc", GST_RANK_NONE,
    GST_TYPE_MMTP_SRC);

/* --- events of the protocol core; `lock` is held -------------------------- */

static void
take_delay (GstMmtpSrc * self, guint64 delay, guint64 wanted)
{
  if (wanted > delay)
    gst_mmtp_src_messages_warn_of_delay (&self->messages, wanted, delay);
  if (delay == self->queue.delay)
    return;
  GST_INFO_OBJECT (self, "latency %" GST_TIME_FORMAT, GST_TIME_ARGS (delay));
  self->queue.delay = delay;
  gst_mmtp_src_messages_tell_latency (&self->messages);
}

static void
take_event (gpointer element, gpointer data)
{
  MmtpReceiverEvent *event = data;
  GstMmtpSrc *self = element;
  GstMmtpSrcMessages *messages = &self->messages;

  switch (event->type) {
    case MMTP_EVENT_SESSION:
      gst_mmtp_src_messages_tell_session (messages, "begun");
      gst_mmtp_src_queue_begin_session (&self->queue);
      take_delay (self, event->delay, event->wanted_delay);
      break;
    case MMTP_EVENT_CAPS:
      gst_mmtp_src_queue_set_caps (&self->queue, event->caps);
      g_clear_pointer (&event->caps, g_free);
      break;
    case MMTP_EVENT_BUFFER:
      gst_mmtp_src_queue_push (&self->queue, event);
      break;
    case MMTP_EVENT_INITIAL_DELAY:
      take_delay (self, event->delay, event->wanted_delay);
      break;
    case MMTP_EVENT_PRESENTATION_RATE:
      gst_mmtp_src_messages_tell_rate (messages, event->frame_rate,
          event->bit_rate);
      break;
    case MMTP_EVENT_JOINED:
      gst_mmtp_src_messages_tell_path (messages, event->path, "joined");
      break;
    case MMTP_EVENT_LEFT:
      gst_mmtp_src_messages_tell_path (messages, event->path, "left");
      break;
    case MMTP_EVENT_TOO_LONG:
      gst_mmtp_src_messages_warn_of_size (messages, self->queue.max_bytes);
      break;
    case MMTP_EVENT_END:
      gst_mmtp_src_messages_tell_session (messages, "ended");
      gst_mmtp_src_queue_push_end (&self->queue);
      break;
    case MMTP_EVENT_SILENT:
      gst_mmtp_src_messages_tell_session (messages, "lost");
      gst_mmtp_src_queue_mark_gap (&self->queue);
      break;
    case MMTP_EVENT_BACK:
      gst_mmtp_src_messages_tell_session (messages, "back");
      break;
    case MMTP_EVENT_OTHER_VERSION:
      gst_mmtp_src_messages_warn_of_version (messages, event->version);
      break;
    case MMTP_EVENT_OVER:
      gst_mmtp_src_messages_warn_of_end (messages);
      break;
  }
}

/* --- callbacks of the driver ---------------------------------------------- */

static gboolean
allows (gpointer element, const DatagramPath * path)
{
  return gst_network_src_allows (GST_NETWORK_SRC (element), path->remote,
      path->address_size);
}

static void
unlock_and_post (gpointer element)
{
  GstMmtpSrc *self = element;
  GQueue messages = gst_mmtp_src_messages_take (&self->messages);

  gst_network_src_queue_unlock (&self->queue.items);
  gst_mmtp_src_messages_post (&self->messages, &messages);
}

static void
trace (gpointer element, gboolean is_packet, const gchar * format, va_list args)
{
  gst_wireless_trace (GST_CAT_DEFAULT, element, is_packet, format, args);
}

static const DriverFuncs gst_mmtp_src_driver_funcs = {
  .take_event = take_event,
  .allows = allows,
  .unlock_and_post = unlock_and_post,
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

/* --- start and stop ------------------------------------------------------- */

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
  options.gro = TRUE;
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
  config.max_lateness = settings->max_lateness * GST_MSECOND;
  config.max_bytes = settings->max_bytes;
  /* If the property peer-timeout is 0, the timeout is unlimited. The core then
   * gets half of the maximum value of guint64, so that the sum of a time and
   * the timeout does not overflow. */
  config.session_timeout = settings->peer_timeout > 0 ? settings->peer_timeout :
      MMTP_NEVER / 2;
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

/* Applies the property eos-at-end to `receiver`, the protocol core. If the
 * property is TRUE, EOS follows the end of the sender's stream, and the core
 * then refuses every other sender. Once EOS was queued or sent, the core keeps
 * refusing other senders, even if the property is changed. */
static void
gst_mmtp_src_set_eos_at_end (GstMmtpSrc * self, gboolean eos_at_end)
{
  LOCK (self);
  self->queue.eos_at_end = eos_at_end;
  if (self->receiver)
    mmtp_receiver_set_ends (self->receiver, eos_at_end || self->queue.is_over);
  UNLOCK (self);
}

static void
begin (GstMmtpSrc * self, const GstMmtpSrcSettings * settings,
    DatagramSocket * socket)
{
  LOCK (self);
  driver_begin (&self->driver, &mmtp_receiver_verbs, self->receiver,
      INPUT_ROOM);
  driver_add_path (&self->driver, 0, socket, MMTP_MAX_RECEIVER_MESSAGE);
  self->stopping = FALSE;
  gst_mmtp_src_queue_start (&self->queue, settings->max_bytes,
      settings->latency * GST_MSECOND);
  UNLOCK (self);
  gst_mmtp_src_set_eos_at_end (self, settings->eos_at_end);
  gst_network_src_set_used_socket (GST_NETWORK_SRC (self),
      datagram_socket_get_socket (socket));
  self->thread = g_thread_new ("mmtpsrc", run, self);
}

static gboolean
gst_mmtp_src_start (GstBaseSrc * src)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);
  GstMmtpSrcSettings settings;
  MmtpReceiver *receiver = NULL;
  DatagramSocket *socket;
  GError *error = NULL;

  gst_mmtp_src_output_start (&self->output);
  LOCK (self);
  gst_mmtp_src_queue_set_paused (&self->queue, FALSE);
  UNLOCK (self);
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

static gboolean
gst_mmtp_src_stop (GstBaseSrc * src)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);

  if (!self->thread)
    return TRUE;
  LOCK (self);
  self->stopping = TRUE;
  driver_wake (&self->driver, TRUE);
  UNLOCK (self);
  g_clear_pointer (&self->thread, g_thread_join);

  gst_network_src_set_used_socket (GST_NETWORK_SRC (self), NULL);
  LOCK (self);
  driver_end (&self->driver);
  gst_mmtp_src_queue_clear (&self->queue);
  g_clear_pointer (&self->receiver, mmtp_receiver_free);
  UNLOCK (self);
  gst_mmtp_src_output_clear (&self->output);
  return TRUE;
}

/* --- properties ----------------------------------------------------------- */

/* Returns the port on which the element listens. This is the port in the
 * property `port` or, if the property is 0, the port that the system has
 * chosen. Call with OBJECT_LOCK held. */
static gint
find_port (GstMmtpSrc * self)
{
  GSocket *socket = gst_network_src_get_used_socket (GST_NETWORK_SRC (self));
  GSocketAddress *address;
  gint port = self->settings.port;

  if (port > 0 || !socket)
    return port;
  address = g_socket_get_local_address (socket, NULL);
  if (address)
    port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (address));
  g_clear_object (&address);
  return port;
}

static void
get_port (gpointer object, GValue * value, GParamSpec * pspec)
{
  GST_OBJECT_LOCK (object);
  g_value_set_int (value, find_port (object));
  GST_OBJECT_UNLOCK (object);
}

/* Call with OBJECT_LOCK held. */
static void
change_eos_at_end (gpointer object)
{
  GstMmtpSrc *self = GST_MMTP_SRC (object);

  gst_mmtp_src_set_eos_at_end (self, self->settings.eos_at_end);
}

#define PROPERTY_STRUCT GstMmtpSrcSettings
static const GstWirelessProperty properties[] = {
  PROPERTY_STRING ("address", "Address",
      "Local IP address or host name to listen on (0.0.0.0 or :: = any)",
      PROPERTY_READY | PROPERTY_URI | PROPERTY_NOT_NULL, address, "0.0.0.0"),
  PROPERTY_INT ("port", "Port",
      "UDP port to listen on (0 = any free port; from PAUSED on, the property "
      "has the number of this port)",
      PROPERTY_READY | PROPERTY_URI, port, 0, G_MAXUINT16,
      GST_MMTP_DEFAULT_PORT,
      .get = get_port),
  PROPERTY_STRING ("interface", "Interface",
      "Network interface to listen on (unset = any)",
      PROPERTY_READY | PROPERTY_URI, interface, NULL),
  PROPERTY_STRING ("key", "Key",
      "Secret key that authenticates every message, the same as at the sender: "
      "at least 32 hexadecimal digits, from \"openssl rand -hex 32\" (unset = "
      "no authentication)", PROPERTY_SECRET, key, NULL),
  /* The default of the property buffer-size is larger than the default of the
   * system, which has room for only 90 packets of 1400 bytes on Linux 6.1. On a
   * fast link, more packets can arrive while the network thread waits for a
   * processor. */
  PROPERTY_INT ("buffer-size", "Buffer size",
      "Size of the kernel receive buffer (bytes, 0 = the system's default)",
      PROPERTY_READY, buffer_size, 0, G_MAXINT, 2 * 1024 * 1024),
  PROPERTY_BOOLEAN ("reuse", "Reuse",
      "Whether other sockets may listen on the same port",
      PROPERTY_READY, reuse, FALSE),

  /**
   * GstMmtpSrc:latency:
   *
   * Minimum of the initial delay in ms. The initial delay is the time from the
   * timestamp of a buffer at the sender until the buffer is played. It is also
   * the latency that this element reports to the pipeline. If the sender
   * requests a longer initial delay, the request of the sender is used, up to
   * #GstMmtpSrc:max-latency. If the initial delay changes, the element posts a
   * LATENCY message.
   */
  PROPERTY_UINT ("latency", "Latency",
      "Minimum time from the timestamp of a buffer at the sender until the "
      "buffer is played (ms); a sender with a higher latency raises this time",
      PROPERTY_READY | PROPERTY_URI, latency, 0,
      GST_MMTP_MAX_DELAY, 0),

  /**
   * GstMmtpSrc:peer-timeout:
   *
   * If no message of the sender arrives for this time, the session counts as
   * lost. The element message `mmtp-session` reports the loss. A sender that
   * has no data to send sends keep-alive messages, so its session does not
   * count as lost.
   */
  PROPERTY_MILLISECONDS ("peer-timeout", "Peer timeout",
      "Time without a packet after which the sender of a session counts as "
      "gone (ms, 0 = never)",
      PROPERTY_READY | PROPERTY_URI, peer_timeout, 0, PROPERTY_MAX_MILLISECONDS,
      10000),
  PROPERTY_UINT ("max-latency", "Maximum latency",
      "Maximum latency that a sender may ask for (ms)",
      PROPERTY_READY | PROPERTY_URI, max_latency, 0, GST_MMTP_MAX_DELAY,
      10000),

  /**
   * GstMmtpSrc:max-lateness:
   *
   * Maximum lateness of an accepted packet, in ms. The lateness of a packet is
   * the time from the deadline of the packet to its arrival. With the value 0,
   * the source accepts no late packet, and outputs no late buffer.
   *
   * A late packet is useful although its picture may no longer be shown,
   * because later pictures may refer to this picture. But the output must stay
   * in order. If the source has already output a buffer that follows the packet
   * in the stream, the packet is therefore refused, even if its lateness is
   * below the maximum.
   */
  PROPERTY_UINT ("max-lateness", "Maximum lateness",
      "How long after its deadline a packet is accepted if no later buffer was "
      "output before it (ms, 0 = no late packet is accepted)",
      PROPERTY_READY | PROPERTY_URI, max_lateness, 0, GST_MMTP_MAX_DELAY,
      MMTP_RECEIVER_LATENESS / GST_MSECOND),

  /* The default of the property max-bytes, 64 MiB, is sufficient for one second
   * of a stream of 500 Mbit/s. One second is the default of the property
   * latency of mmtpsink. */
  PROPERTY_UINT ("max-bytes", "Maximum bytes",
      "Maximum size of each of two queues (bytes): data that waits for missing "
      "packets, and data that waits for downstream",
      PROPERTY_READY, max_bytes, 1, G_MAXUINT, 64 * 1024 * 1024),
  PROPERTY_BOOLEAN ("eos-at-end", "EOS at end",
      "Whether the end of the sender's stream is passed on as EOS; false waits "
      "for the next sender", PROPERTY_PLAYING | PROPERTY_URI,
      eos_at_end, TRUE,
      .changed = change_eos_at_end),
};

/* --- functions for the base class ----------------------------------------- */

static GstFlowReturn
gst_mmtp_src_create (GstPushSrc * src, GstBuffer ** buffer)
{
  return gst_mmtp_src_output_create (&GST_MMTP_SRC (src)->output, buffer);
}

static GstStructure *
gst_mmtp_src_create_stats (GstNetworkSrc * src)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);
  GstMmtpSrcStats stats;

  LOCK (self);
  gst_mmtp_src_stats_read (&stats, self->receiver, &self->queue.counters);
  UNLOCK (self);
  return gst_mmtp_src_stats_to_structure (&stats);
}

static GstClockTime
gst_mmtp_src_get_latency (GstNetworkSrc * src)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);
  GstClockTime delay;

  LOCK (self);
  delay = self->queue.delay;
  UNLOCK (self);
  return delay;
}

static void
gst_mmtp_src_set_paused (GstNetworkSrc * src, gboolean paused)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);

  LOCK (self);
  gst_mmtp_src_queue_set_paused (&self->queue, paused);
  UNLOCK (self);
}

static GstStateChangeReturn
gst_mmtp_src_change_state (GstElement * element, GstStateChange transition)
{
  if (!gst_mmtp_check_key (element, transition, GST_OBJECT_GET_LOCK (element),
          &GST_MMTP_SRC (element)->settings.key))
    return GST_STATE_CHANGE_FAILURE;
  return GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
}

/* --- class ---------------------------------------------------------------- */

static void
gst_mmtp_src_finalize (GObject * object)
{
  GstMmtpSrc *self = GST_MMTP_SRC (object);

  gst_wireless_properties_clear (self, GST_TYPE_MMTP_SRC);
  driver_clear (&self->driver);
  gst_mmtp_src_output_finalize (&self->output);
  gst_mmtp_src_queue_finalize (&self->queue);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_mmtp_src_init (GstMmtpSrc * self)
{
  gst_wireless_properties_init (self, GST_TYPE_MMTP_SRC);
  g_mutex_init (&self->lock);
  gst_mmtp_src_queue_init (&self->queue, GST_NETWORK_SRC (self), &self->lock);
  gst_mmtp_src_messages_init (&self->messages, GST_ELEMENT_CAST (self));
  gst_mmtp_src_output_init (&self->output, GST_NETWORK_SRC (self),
      &self->queue);
  driver_init (&self->driver, &gst_mmtp_src_driver_funcs, self, &self->lock);
}

static void
gst_mmtp_src_class_init (GstMmtpSrcClass * klass)
{
  static const GstNetworkUri uri = { {GST_MMTP_SCHEME}, "address" };
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);
  GstNetworkSrcClass *network_class = GST_NETWORK_SRC_CLASS (klass);

  object_class->finalize = gst_mmtp_src_finalize;
  element_class->change_state = gst_mmtp_src_change_state;
  src_class->start = gst_mmtp_src_start;
  src_class->stop = gst_mmtp_src_stop;
  network_class->category = gst_mmtp_src_debug;
  network_class->timeout_name = "GstMmtpSrcTimeout";
  network_class->create_stats = gst_mmtp_src_create_stats;
  network_class->set_paused = gst_mmtp_src_set_paused;
  network_class->get_latency = gst_mmtp_src_get_latency;
  GST_PUSH_SRC_CLASS (klass)->create = gst_mmtp_src_create;

  gst_wireless_properties_reword (object_class, "uri",
      "URI mmtp://address:port?key=value&..., where each key is a property, or "
      "media, encoding-name, payload or clock-rate of RTP caps; reading "
      "returns mmtp://address:port");
  gst_wireless_properties_reword (object_class, "caps",
      "Caps of the stream (unset = those that the sender announces, or any)");
  gst_network_uri_install (object_class, &uri);
  gst_wireless_properties_set_category (object_class, gst_mmtp_src_debug);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), G_STRUCT_OFFSET (GstMmtpSrc, settings),
      GST_WIRELESS_OBJECT_LOCK);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "MMTP source",
      "Source/Network", "Receives one stream over several unequal network "
      "paths, in order and in time (Multimedia Multiplexing Transport "
      "Protocol)", "The gst-plugins-wireless authors");
}
