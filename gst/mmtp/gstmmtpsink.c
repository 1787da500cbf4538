/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-mmtpsink
 * @title: mmtpsink
 * @short_description: Sends one stream over several channels (MMTP)
 *
 * Sends one stream to the element mmtpsrc with the Multimedia Multiplexing
 * Transport Protocol (Magalhães and Kravets 2001). A channel is one way to the
 * receiver, usually a network interface. The element uses all channels
 * together, even if they differ in rate and delay. It sends each packet on a
 * channel on which the packet arrives in time. It drops buffers that no channel
 * can deliver in time. By default, the channels are all interfaces that lead to
 * the receiver. The property #GstMmtpSink:channels can list other channels.
 * Channels can be added and removed in the PLAYING state.
 *
 * The stream can consist of any buffers, such as RTP packets, MPEG-TS or whole
 * frames. mmtpsrc outputs them with the same times, flags and caps.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc is-live=true ! x264enc tune=zerolatency bitrate=1000 ! mmtpsink host=192.0.2.1 port=5004 channels="wlan0, usb0"
 * ]|
 *
 * Since: 0.1
 */

#include "gstmmtpsinkprivate.h"

#include <string.h>

#include "gstnetworkuri.h"
#include "gstwirelessgso.h"
#include "socketmessages.h"

GST_DEBUG_CATEGORY (gst_mmtp_sink_debug);

#define DEFAULT_CHANNELS "auto"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define gst_mmtp_sink_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstMmtpSink, gst_mmtp_sink, GST_TYPE_NETWORK_SINK,
    GST_IMPLEMENT_NETWORK_URI;
    GST_DEBUG_CATEGORY_INIT (gst_mmtp_sink_debug, "mmtpsink", 0, "MMTP sink"));
GST_ELEMENT_REGISTER_DEFINE (mmtpsink, "mmtpsink", GST_RANK_NONE,
    GST_TYPE_MMTP_SINK);

/* --- changes in PLAYING --------------------------------------------------- */

/* Resolves the host names of a changed list of channels, and then wakes the
 * driver's loop, which opens and closes the paths. This function runs in a
 * thread of its own, because resolving host names may block. */
static void
change_paths (GstElement * element, gpointer data)
{
  GstMmtpSink *self = GST_MMTP_SINK (element);
  GError *error = NULL;

  if (gst_mmtp_sink_resolve (self, NULL, &error))
    GST_DEBUG_OBJECT (self, "changing the list of channels");
  else if (error->domain == G_RESOLVER_ERROR
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
        ("No channel of the new list can be used now: %s.%s", error->message,
            socket_error_get_advice (error)), (NULL));
  else
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("The channels stay as they are: %s.", error->message), (NULL));
  g_clear_error (&error);
  LOCK (self);
  self->paths_changed = TRUE;
  if (self->sender)
    driver_wake (&self->driver, TRUE);
  UNLOCK (self);
}

/* Call with `lock` held. */
static void
change_delays (gpointer object)
{
  GstMmtpSink *self = GST_MMTP_SINK (object);

  if (!self->sender)
    return;
  mmtp_sender_set_delays (self->sender, gst_mmtp_now (),
      self->settings.latency * GST_MSECOND,
      self->settings.initial_delay * GST_MSECOND);
  driver_wake (&self->driver, TRUE);
}

/* Call with `lock` held. */
static void
change_padding (gpointer object)
{
  GstMmtpSink *self = GST_MMTP_SINK (object);

  if (!self->sender)
    return;
  mmtp_sender_set_padding (self->sender, gst_mmtp_now (),
      self->settings.padding_bitrate);
  driver_wake (&self->driver, TRUE);
}

/* --- functions for the base class ----------------------------------------- */

static gchar *
gst_mmtp_sink_describe (GstNetworkSink * sink)
{
  GstMmtpSink *self = GST_MMTP_SINK (sink);
  gchar *text;

  LOCK (self);
  text = g_strdup_printf (strchr (self->settings.host, ':') ? "[%s]:%d" :
      "%s:%d", self->settings.host, self->settings.port);
  UNLOCK (self);
  return text;
}

static gboolean
gst_mmtp_sink_event (GstBaseSink * sink, GstEvent * event)
{
  GstMmtpSink *self = GST_MMTP_SINK (sink);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    self->timed_session = 0;
    LOCK (self);
    if (self->pictures)
      picture_reader_reset (self->pictures);
    if (self->ts)
      mmtp_ts_cutter_reset (self->ts);
    if (self->sender)
      mmtp_sender_flush (self->sender, gst_mmtp_now ());
    UNLOCK (self);
  }
  return GST_BASE_SINK_CLASS (parent_class)->event (sink, event);
}

static gboolean
drain (GstNetworkSink * sink, gint64 deadline, GCancellable * cancellable,
    GError ** error)
{
  gst_mmtp_sink_drain_input (GST_MMTP_SINK (sink));
  return gst_mmtp_sink_drain (sink, deadline, cancellable, error);
}

static void
warn_of_delays (GstMmtpSink * self)
{
  guint initial_delay, latency;

  LOCK (self);
  initial_delay = self->settings.initial_delay;
  latency = self->settings.latency;
  UNLOCK (self);
  if (initial_delay > latency)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("initial-delay is %u ms, but its maximum is latency, which is %u ms: "
            "%u ms is used. Raise latency, or lower initial-delay.",
            initial_delay, latency, latency), (NULL));
}

static GstStateChangeReturn
gst_mmtp_sink_change_state (GstElement * element, GstStateChange transition)
{
  GstMmtpSink *self = GST_MMTP_SINK (element);

  if (!gst_mmtp_check_key (element, transition, &self->lock,
          &self->settings.key))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    LOCK (self);
    gst_mmtp_sink_clear_stats (self);
    g_clear_pointer (&self->caps, g_free);
    self->frame_rate = 0;
    self->frame_period = 0;
    self->has_delta_units = FALSE;
    g_clear_pointer (&self->ts, mmtp_ts_cutter_free);
    self->has_warned_of_size = FALSE;
    self->has_warned_of_missing = FALSE;
    self->has_warned_of_lateness = FALSE;
    UNLOCK (self);
    gst_mmtp_clock_map_reset (&self->clock_map);
    self->timed_session = 0;
    warn_of_delays (self);
  }
  return GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
}

/* --- properties ----------------------------------------------------------- */

/* Resolves the host names of a changed list of channels in another thread. That
 * thread then tells the driver's loop to open and close paths. Call with `lock`
 * held. */
static void
begin_change_of_paths (GstMmtpSink * self)
{
  if (self->sender)
    gst_element_call_async (GST_ELEMENT_CAST (self), change_paths, NULL, NULL);
}

/* Called with `lock` held after the application has set the property
 * `channels`. This property overrides the property `bonding-addresses`, whose
 * value is therefore removed. */
static void
change_channels (gpointer object)
{
  GstMmtpSink *self = GST_MMTP_SINK (object);

  g_clear_pointer (&self->settings.bonding_addresses, g_free);
  begin_change_of_paths (self);
}

/* Sets the property bonding-addresses. Also writes the same list of channels to
 * the property `channels`, which has another syntax. A text that cannot be
 * parsed is stored as well. The element then fails to start, with an error. */
static void
set_bonding_addresses (gpointer object, const GValue * value,
    GParamSpec * pspec)
{
  GstMmtpSink *self = GST_MMTP_SINK (object);
  GstMmtpSinkSettings *settings = &self->settings;
  const gchar *text = g_value_get_string (value);
  gchar *channels = NULL;

  if (text && *text == '\0')
    text = NULL;
  LOCK (self);
  if (text)
    channels = mmtp_path_list_convert_bonding (text, NULL);
  else if (settings->bonding_addresses)
    channels = g_strdup (DEFAULT_CHANNELS);
  if (channels) {
    g_free (settings->channels);
    settings->channels = channels;
  }
  g_free (settings->bonding_addresses);
  settings->bonding_addresses = g_strdup (text);
  begin_change_of_paths (self);
  UNLOCK (self);
}

#define PROPERTY_STRUCT GstMmtpSink
static const GstWirelessProperty properties[] = {
  PROPERTY_STRING ("host", "Host",
      "Host name or IP address of the receiver",
      PROPERTY_READY | PROPERTY_URI | PROPERTY_NOT_NULL, settings.host,
      "localhost"),
  PROPERTY_INT ("port", "Port", "UDP port of the receiver",
      PROPERTY_READY | PROPERTY_URI, settings.port, 1, 65535,
      GST_MMTP_DEFAULT_PORT),
  PROPERTY_NETWORK_URI
      ("URI of the form mmtp://host:port?property=value&..., which sets host, "
      "port and the named properties; reading returns mmtp://host:port", NULL),

  /**
   * GstMmtpSink:channels:
   *
   * Comma separated list of interfaces or local addresses to send from, for
   * example `wlan0, usb0`.
   *
   * A receiver may have several addresses. In this case, a channel can name the
   * address to which it sends, after `->`. For example, `192.0.2.7,
   * 198.51.100.9->203.0.113.5:5006` has two channels, and only the second one
   * names such an address. If properties of a channel are known, they can be
   * appended as options, as in `usb0?rate=2000000&delay=80`. The options are
   * rate (bit/s), delay (ms), mtu (bytes) and name.
   *
   * The value `auto` uses all interfaces that have a route to the receiver. It
   * adds a channel when an interface comes up, and removes the channel when the
   * interface goes down. An empty text uses one channel, which the routing
   * table of the system chooses. If the list changes in the PLAYING state,
   * channels are added and removed.
   */
  PROPERTY_STRING ("channels", "Channels",
      "Comma separated list of interfaces or local addresses to send from, "
      "[local][->remote][?rate=bit/s&delay=ms&mtu=bytes&name=text] (auto = all "
      "that lead to the receiver, empty = chosen by the system)",
      PROPERTY_PLAYING | PROPERTY_URI, settings.channels,
      DEFAULT_CHANNELS,
      .changed = change_channels),
  PROPERTY_STRING ("bonding-addresses", "Bonding addresses",
      "Deprecated: use channels; setting this list of receiver addresses "
      "(host:port,host:port as in ristsink) sets channels",
      PROPERTY_PLAYING | PROPERTY_URI | G_PARAM_DEPRECATED,
      settings.bonding_addresses, NULL,
      .set = set_bonding_addresses,
      .instead = "channels"),
  PROPERTY_STRING ("key", "Key",
      "Secret key that authenticates every message, the same as at the "
      "receiver: at least 32 hexadecimal digits, from \"openssl rand -hex 32\" "
      "(unset = no authentication)", PROPERTY_SECRET, settings.key,
      NULL),

  /**
   * GstMmtpSink:latency:
   *
   * Maximum initial delay. The initial delay is the time from the timestamp of
   * a buffer until the receiver plays the buffer. The deadline of a buffer is
   * its timestamp plus the initial delay. mmtpsrc reports the initial delay to
   * its pipeline as latency.
   */
  /* The deadline of a buffer is its timestamp plus the initial delay, as in
   * section 5 of the MMTP paper. */
  PROPERTY_UINT ("latency", "Latency",
      "Delay from the timestamp of a buffer until the receiver plays the "
      "buffer; a packet that cannot arrive within this delay is dropped (ms)",
      PROPERTY_PLAYING | PROPERTY_URI, settings.latency, 1,
      GST_MMTP_MAX_DELAY, 1000,
      .changed = change_delays),
  PROPERTY_UINT ("initial-delay", "Initial delay",
      "Initial value of the latency, which grows up to the property latency if "
      "the channels need more (ms, 0 = latency from the start)",
      PROPERTY_PLAYING | PROPERTY_URI, settings.initial_delay, 0,
      GST_MMTP_MAX_DELAY, 0,
      .changed = change_delays),
  PROPERTY_UINT ("keepalive-interval", "Keep-alive interval",
      "Interval at which the state of each channel is sent to the receiver when "
      "nothing else is sent (ms)", PROPERTY_READY | PROPERTY_URI,
      settings.keepalive_interval, 10, 10000, 100),

  PROPERTY_UINT ("mtu", "MTU",
      "Maximum size of an IP packet (bytes); a channel with a smaller MTU gets "
      "smaller packets", PROPERTY_READY | PROPERTY_URI, settings.mtu, 256,
      65535,
      1400),
  PROPERTY_UINT ("bitrate", "Bitrate",
      "Expected bitrate of the stream, which is compared with the rate of the "
      "channels and announced to the receiver, and is not a limit (bit/s, 0 = "
      "measured)",
      PROPERTY_READY | PROPERTY_URI, settings.bitrate, 0, G_MAXUINT, 0),
  PROPERTY_FRACTION ("framerate", "Frame rate",
      "Frame rate of the stream, which is announced to the receiver and is not "
      "a limit (frames/s, 0/1 = the frame rate in the caps)",
      PROPERTY_READY | PROPERTY_URI, settings.framerate),
  PROPERTY_BOOLEAN ("retransmit", "Retransmit",
      "Whether lost packets are sent again if they can still arrive in time",
      PROPERTY_READY | PROPERTY_URI, settings.retransmit, TRUE),

  /**
   * GstMmtpSink:padding-bitrate:
   *
   * Maximum bitrate of the padding on all channels together, averaged over a
   * second or more. Padding consists of messages that are sent only to measure
   * the channels. If this property is 0, the sink sends no padding.
   *
   * While the stream uses less than a channel can carry, the sink cannot
   * measure what the channel can carry, and #GstMmtpSink:estimated-bitrate is
   * only a lower bound. During this time, the sink sends padding about every
   * two seconds. The padding consists of repair packets for the last packets of
   * the stream, and of empty messages. The sink stops the padding as soon as
   * the channel is full, usually after a fraction of a second. It stops earlier
   * if more padding would exceed the maximum bitrate.
   */
  PROPERTY_UINT ("padding-bitrate", "Padding bitrate",
      "Maximum bitrate of the padding that is sent while the stream uses less "
      "than the channels carry, so that estimated-bitrate shows what they carry "
      "(bit/s, 0 = no padding)", PROPERTY_PLAYING | PROPERTY_URI,
      settings.padding_bitrate, 0, G_MAXINT, 0,
      .changed = change_padding),
  PROPERTY_ENUM ("scheduler", "Scheduler",
      "Rule that chooses the channel of a packet",
      PROPERTY_READY | PROPERTY_URI, settings.scheduler,
      gst_mmtp_scheduler_get_type, MMTP_SCHEDULER_ARRIVAL),
  PROPERTY_UINT ("max-bytes", "Maximum bytes",
      "Maximum amount of data that waits for a channel or for a retransmission "
      "(bytes); a larger buffer is accepted only when no other buffer waits",
      PROPERTY_READY,
      settings.max_bytes, 1, G_MAXUINT, 4 * 1024 * 1024),

  /* Properties of the sockets, from bind-address to qos-dscp. They have the
   * same defaults as in udpsink, except for ttl. The default of ttl is 0 here,
   * which keeps the default of the system. The system's default is normally 64,
   * which is the default of udpsink. */
  PROPERTY_STRING ("bind-address", "Bind address",
      "IP address to bind the sockets to, for channels that name no local "
      "address and no interface (unset = any)", PROPERTY_READY | PROPERTY_URI,
      settings.bind_address, NULL),
  PROPERTY_INT ("bind-port", "Bind port",
      "UDP port to bind the sockets to, for channels that name no local port "
      "(0 = any)", PROPERTY_READY | PROPERTY_URI, settings.bind_port, 0,
      G_MAXUINT16,
      0),
  PROPERTY_INT ("buffer-size", "Buffer size",
      "Size of the kernel send buffer of each channel (bytes, 0 = the "
      "system's default)",
      PROPERTY_READY, settings.buffer_size, 0, G_MAXINT, 0),
  PROPERTY_GSO (settings.gso),
  PROPERTY_INT ("ttl", "TTL",
      "Time to live of the packets, the number of routers that they may pass "
      "(0 = the system's default)", PROPERTY_READY | PROPERTY_URI, settings.ttl,
      0, 255, 0),
  PROPERTY_INT ("qos-dscp", "QoS DSCP",
      "Differentiated services code point of the packets (-1 = the system's "
      "default)", PROPERTY_READY | PROPERTY_URI, settings.dscp, -1, 63, -1),

  /**
   * GstMmtpSink:estimated-bitrate:
   *
   * Estimate of the stream bitrate that the channels can carry together.
   * Channels that are too slow to meet the deadline of the buffers are not
   * counted. An application can set its encoder to this bitrate. When the
   * estimate changes, the signal notify::estimated-bitrate is emitted.
   */
  PROPERTY_UINT ("estimated-bitrate", "Estimated bitrate",
      "Bitrate of the stream that the channels can carry now; a lower bound while "
      "the stream does not fill the network (bit/s, 0 = not yet known)",
      PROPERTY_READABLE, estimated_bitrate, 0, G_MAXUINT, 0),
};

/* --- object --------------------------------------------------------------- */

static void
gst_mmtp_sink_init (GstMmtpSink * self)
{
  g_mutex_init (&self->lock);
  gst_wireless_properties_init (self, GST_TYPE_MMTP_SINK);
  self->paths = g_ptr_array_new ();
  self->addresses = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
      (GDestroyNotify) g_resolver_free_addresses);
  self->past_paths = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
      g_free);
  driver_init (&self->driver, &gst_mmtp_sink_driver_funcs, self, &self->lock);
  gst_waker_init (&self->room);
  g_queue_init (&self->messages);
}

static void
gst_mmtp_sink_finalize (GObject * object)
{
  GstMmtpSink *self = GST_MMTP_SINK (object);

  gst_wireless_properties_clear (self, GST_TYPE_MMTP_SINK);
  g_free (self->caps);
  gst_mmtp_sink_forget_pictures (self);
  g_clear_pointer (&self->ts, mmtp_ts_cutter_free);
  g_ptr_array_unref (self->paths);
  g_hash_table_unref (self->addresses);
  g_hash_table_unref (self->past_paths);
  driver_clear (&self->driver);
  gst_waker_clear (&self->room);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_mmtp_sink_class_init (GstMmtpSinkClass * klass)
{
  static const GstNetworkUri uri = { {GST_MMTP_SCHEME}, "host" };
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNetworkSinkClass *network_class = GST_NETWORK_SINK_CLASS (klass);

  object_class->finalize = gst_mmtp_sink_finalize;
  element_class->change_state = gst_mmtp_sink_change_state;
  GST_BASE_SINK_CLASS (klass)->set_caps = gst_mmtp_sink_set_caps;
  GST_BASE_SINK_CLASS (klass)->event = gst_mmtp_sink_event;
  network_class->refusals_pass = TRUE;
  network_class->category = gst_mmtp_sink_debug;
  network_class->stats_name = "application/x-mmtpsink-stats";
  network_class->describe = gst_mmtp_sink_describe;
  network_class->connect = gst_mmtp_sink_connect;
  network_class->watch = gst_mmtp_sink_watch;
  network_class->disconnect = gst_mmtp_sink_disconnect;
  network_class->send_packets = gst_mmtp_sink_send_packets;
  network_class->wait = gst_mmtp_sink_wait;
  network_class->drain = drain;
  network_class->fill_stats = gst_mmtp_sink_fill_stats;

  gst_network_uri_install (object_class, &uri);
  gst_wireless_properties_set_category (object_class, gst_mmtp_sink_debug);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, G_STRUCT_OFFSET (GstMmtpSink, lock));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "MMTP sink",
      "Sink/Network", "Sends one stream over several unequal network paths, "
      "each packet on a path that meets its deadline (Multimedia Multiplexing "
      "Transport Protocol)", "The gst-plugins-wireless authors");
}
