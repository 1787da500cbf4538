/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-mmtpsink
 * @title: mmtpsink
 * @short_description: Sends one stream over several channels (MMTP)
 *
 * Sends to mmtpsrc by the Multimedia Multiplexing Transport Protocol (Magalhães
 * and Kravets 2001): over all channels that lead there, however unequal, each
 * packet on one on which it will arrive in time. What no channel can bring in
 * time is not sent at all. The channels are the interfaces that lead to the
 * receiver, or those of #GstMmtpSink:channels, and come and go while it plays.
 *
 * Any buffers go in: RTP packets, MPEG-TS, whole frames. They come out of
 * mmtpsrc with their times, flags and caps.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc is-live=true ! x264enc tune=zerolatency bitrate=1000 ! mmtpsink host=192.0.2.1 port=5004 channels="wlan0, usb0"
 * ]|
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstmmtpsinkprivate.h"

#include <string.h>

#include "gstnetworkuri.h"
#include "gststructmembers.h"

GST_DEBUG_CATEGORY (gst_mmtp_sink_debug);

#define DEFAULT_HOST "localhost"
#define DEFAULT_CHANNELS "auto"
#define DEFAULT_LATENCY 1000    /* ms: the paper's deadline, section 5 */
#define DEFAULT_INITIAL_DELAY 0
#define DEFAULT_KEEPALIVE_INTERVAL 100
#define DEFAULT_MTU 1400
#define DEFAULT_BITRATE 0
#define DEFAULT_RETRANSMIT TRUE
#define DEFAULT_SCHEDULER MMTP_SCHEDULER_ARRIVAL
#define DEFAULT_MAX_BYTES (4 * 1024 * 1024)

enum
{
  PROP_0,
  PROP_HOST,
  PROP_PORT,
  PROP_CHANNELS,
  PROP_BONDING_ADDRESSES,
  PROP_KEY,
  PROP_LATENCY,
  PROP_INITIAL_DELAY,
  PROP_KEEPALIVE_INTERVAL,
  PROP_MTU,
  PROP_BITRATE,
  PROP_RETRANSMIT,
  PROP_SCHEDULER,
  PROP_MAX_BYTES,
  PROP_LAST_OF_SETTINGS = PROP_MAX_BYTES,
  PROP_FRAMERATE,
  PROP_URI,
  PROP_ESTIMATED_BITRATE,
  PROP_LAST
};

static GParamSpec *properties[PROP_LAST];

/* Which member of the settings a property is; its type is the property's */
#define MEMBER(name) G_STRUCT_OFFSET (GstMmtpSinkSettings, name)
static const gsize members[PROP_LAST_OF_SETTINGS + 1] = {
  [PROP_HOST] = MEMBER (host),
  [PROP_PORT] = MEMBER (port),
  [PROP_CHANNELS] = MEMBER (channels),
  [PROP_BONDING_ADDRESSES] = MEMBER (bonding_addresses),
  [PROP_KEY] = MEMBER (key),
  [PROP_LATENCY] = MEMBER (latency),
  [PROP_INITIAL_DELAY] = MEMBER (initial_delay),
  [PROP_KEEPALIVE_INTERVAL] = MEMBER (keepalive_interval),
  [PROP_MTU] = MEMBER (mtu),
  [PROP_BITRATE] = MEMBER (bitrate),
  [PROP_RETRANSMIT] = MEMBER (retransmit),
  [PROP_SCHEDULER] = MEMBER (scheduler),
  [PROP_MAX_BYTES] = MEMBER (max_bytes),
};

#undef MEMBER

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void gst_mmtp_sink_uri_handler_init (gpointer interface, gpointer data);

#define gst_mmtp_sink_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstMmtpSink, gst_mmtp_sink, GST_TYPE_NETWORK_SINK,
    G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER,
        gst_mmtp_sink_uri_handler_init);
    GST_DEBUG_CATEGORY_INIT (gst_mmtp_sink_debug, "mmtpsink", 0, "MMTP sink"));
GST_ELEMENT_REGISTER_DEFINE (mmtpsink, "mmtpsink", GST_RANK_NONE,
    GST_TYPE_MMTP_SINK);

/* --- while it plays ------------------------------------------------------- */

/* In a thread of its own: names may have to be looked up. */
static void
change_paths (GstElement * element, gpointer data)
{
  GstMmtpSink *self = GST_MMTP_SINK (element);
  GError *error = NULL;

  if (gst_mmtp_sink_resolve (self, NULL, &error))
    GST_DEBUG_OBJECT (self, "the channels change");
  else if (error->domain == G_RESOLVER_ERROR)
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
        ("No channel of the new list can be used now: %s.", error->message),
        (NULL));
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

/* With lock */
static void
change_delays (GstMmtpSink * self)
{
  if (!self->sender)
    return;
  mmtp_sender_set_delays (self->sender, gst_mmtp_now (),
      self->settings.latency * GST_MSECOND,
      self->settings.initial_delay * GST_MSECOND);
  driver_wake (&self->driver, TRUE);
}

void
gst_mmtp_sink_notify_bitrate (GstMmtpSink * self)
{
  g_object_notify_by_pspec (G_OBJECT (self),
      properties[PROP_ESTIMATED_BITRATE]);
}

/* --- what the base class asks --------------------------------------------- */

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
    if (self->sender)
      mmtp_sender_flush (self->sender, gst_mmtp_now ());
    UNLOCK (self);
  }
  return GST_BASE_SINK_CLASS (parent_class)->event (sink, event);
}

static gboolean
check_key (GstMmtpSink * self)
{
  gboolean is_valid;
  gchar *key;

  LOCK (self);
  key = g_strdup (self->settings.key);
  UNLOCK (self);
  is_valid = gst_mmtp_check_key (GST_ELEMENT (self), key);
  g_free (key);
  return is_valid;
}

static GstStateChangeReturn
gst_mmtp_sink_change_state (GstElement * element, GstStateChange transition)
{
  GstMmtpSink *self = GST_MMTP_SINK (element);

  /* It may still be set in READY. */
  if ((transition == GST_STATE_CHANGE_NULL_TO_READY
          || transition == GST_STATE_CHANGE_READY_TO_PAUSED)
      && !check_key (self))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    LOCK (self);
    gst_mmtp_sink_clear_stats (self);
    g_clear_pointer (&self->caps, g_free);
    self->frame_rate = 0;
    self->frame_period = 0;
    self->has_delta_units = FALSE;
    self->has_warned_of_size = FALSE;
    self->missing_told = FALSE;
    self->has_warned_of_lateness = FALSE;
    UNLOCK (self);
    gst_mmtp_clock_map_reset (&self->clock_map);
    self->timed_session = 0;
  }
  return GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
}

/* --- URI ------------------------------------------------------------------ */

static GstURIType
get_uri_type (GType type)
{
  return GST_URI_SINK;
}

static const gchar *const *
get_protocols (GType type)
{
  static const gchar *protocols[] = { GST_MMTP_SCHEME, NULL };

  return protocols;
}

static gchar *
get_uri (GstURIHandler * handler)
{
  GstMmtpSink *self = GST_MMTP_SINK (handler);
  gchar *uri;

  LOCK (self);
  uri = gst_network_uri_new (GST_MMTP_SCHEME, self->settings.host,
      self->settings.port);
  UNLOCK (self);
  return uri;
}

static gboolean
set_uri (GstURIHandler * handler, const gchar * uri, GError ** error)
{
  return gst_network_uri_apply (GST_ELEMENT (handler), GST_MMTP_SCHEME, uri,
      "host", error);
}

static void
gst_mmtp_sink_uri_handler_init (gpointer interface, gpointer data)
{
  GstURIHandlerInterface *handler = interface;

  handler->get_type = get_uri_type;
  handler->get_protocols = get_protocols;
  handler->get_uri = get_uri;
  handler->set_uri = set_uri;
}

/* --- properties ----------------------------------------------------------- */

/* What may be set while it plays */
static void
apply (GstMmtpSink * self, guint id)
{
  if (id == PROP_LATENCY || id == PROP_INITIAL_DELAY)
    change_delays (self);
}

static gboolean
is_about_paths (guint id)
{
  return id == PROP_CHANNELS || id == PROP_BONDING_ADDRESSES;
}

static void
gst_mmtp_sink_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstMmtpSink *self = GST_MMTP_SINK (object);
  gboolean has_session;

  if (id == PROP_URI) {
    gst_network_uri_set_property (GST_URI_HANDLER (self),
        g_value_get_string (value));
    return;
  }
  LOCK (self);
  if (id == PROP_FRAMERATE) {
    self->settings.framerate_n = gst_value_get_fraction_numerator (value);
    self->settings.framerate_d = gst_value_get_fraction_denominator (value);
  } else {
    gst_struct_set_member (&self->settings, members[id], value);
    if (id == PROP_HOST && !self->settings.host)
      self->settings.host = g_strdup (DEFAULT_HOST);
  }
  apply (self, id);
  has_session = self->sender != NULL;
  UNLOCK (self);
  if (has_session && is_about_paths (id))
    gst_element_call_async (GST_ELEMENT_CAST (self), change_paths, NULL,
        NULL);
}

static void
gst_mmtp_sink_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstMmtpSink *self = GST_MMTP_SINK (object);

  if (id == PROP_URI) {
    g_value_take_string (value, get_uri (GST_URI_HANDLER (self)));
    return;
  }
  LOCK (self);
  if (id == PROP_FRAMERATE)
    gst_value_set_fraction (value, self->settings.framerate_n,
        self->settings.framerate_d);
  else if (id == PROP_ESTIMATED_BITRATE)
    g_value_set_uint (value, self->estimated_bitrate);
  else
    gst_struct_get_member (&self->settings, members[id], value);
  UNLOCK (self);
}

/* --- object --------------------------------------------------------------- */

static void
gst_mmtp_sink_init (GstMmtpSink * self)
{
  GstMmtpSinkSettings *settings = &self->settings;

  g_mutex_init (&self->lock);
  settings->host = g_strdup (DEFAULT_HOST);
  settings->port = GST_MMTP_DEFAULT_PORT;
  settings->channels = g_strdup (DEFAULT_CHANNELS);
  settings->latency = DEFAULT_LATENCY;
  settings->initial_delay = DEFAULT_INITIAL_DELAY;
  settings->keepalive_interval = DEFAULT_KEEPALIVE_INTERVAL;
  settings->mtu = DEFAULT_MTU;
  settings->bitrate = DEFAULT_BITRATE;
  settings->framerate_d = 1;
  settings->retransmit = DEFAULT_RETRANSMIT;
  settings->scheduler = DEFAULT_SCHEDULER;
  settings->max_bytes = DEFAULT_MAX_BYTES;
  self->paths = g_ptr_array_new ();
  self->addresses = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
      (GDestroyNotify) g_resolver_free_addresses);
  self->past_paths = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
      g_free);
  driver_init (&self->driver, &gst_mmtp_sink_driver_funcs, self,
      &self->lock);
  gst_waker_init (&self->room);
  g_queue_init (&self->messages);
}

static void
gst_mmtp_sink_finalize (GObject * object)
{
  GstMmtpSink *self = GST_MMTP_SINK (object);
  GstMmtpSinkSettings *settings = &self->settings;

  g_free (settings->host);
  g_free (settings->channels);
  g_free (settings->bonding_addresses);
  g_free (settings->key);
  g_free (self->caps);
  gst_mmtp_sink_forget_pictures (self);
  g_ptr_array_unref (self->paths);
  g_hash_table_unref (self->addresses);
  g_hash_table_unref (self->past_paths);
  driver_clear (&self->driver);
  gst_waker_clear (&self->room);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_receiver_properties (GParamFlags ready, GParamFlags playing)
{
  properties[PROP_HOST] = g_param_spec_string ("host", "Host",
      "Host name or IP address of the receiver", DEFAULT_HOST, ready);
  properties[PROP_PORT] = g_param_spec_int ("port", "Port",
      "UDP port of the receiver", 1, 65535, GST_MMTP_DEFAULT_PORT, ready);
  properties[PROP_URI] = g_param_spec_string ("uri", "URI",
      "mmtp://host:port?property=value&...; it reads as mmtp://host:port", NULL,
      ready);

  /**
   * GstMmtpSink:channels:
   *
   * Interfaces, or addresses of this host, from which to send, with commas
   * between: `wlan0, usb0`, or `192.0.2.7, 198.51.100.9->203.0.113.5:5006`,
   * where the receiver has several addresses too. What is known of a channel
   * may be added: `usb0?rate=2000000&delay=80` (bit/s, ms; also mtu, bytes, and
   * name). `auto`: the interfaces that lead to the receiver, as they come and
   * go. Empty: one channel, as the system routes it. What is added or left out
   * while it plays is added and removed then.
   */
  properties[PROP_CHANNELS] = g_param_spec_string ("channels", "Channels",
      "Interfaces or own addresses to send from, [local][->remote][?rate=...], "
      "separated by commas; auto: all interfaces that lead to the receiver; "
      "empty: as the system routes it", DEFAULT_CHANNELS, playing);
  properties[PROP_BONDING_ADDRESSES] = g_param_spec_string ("bonding-addresses",
      "Bonding addresses", "Addresses of the receiver, as ristsink has them: "
      "host:port, separated by commas, one channel to each; where it is set it "
      "counts instead of host, port and channels", NULL, playing);
  properties[PROP_KEY] =
      gst_mmtp_param_spec_key ("Secret that the receiver has too, which "
      "authenticates every message: at least 32 hexadecimal digits, as openssl "
      "rand -hex 32 makes them; unset: none; changes take effect at start");
}

static void
install_time_properties (GParamFlags ready, GParamFlags playing)
{
  /**
   * GstMmtpSink:latency:
   *
   * The time that the stream may take from here to where it is played. It is
   * the maximum of the initial delay; the deadline of a buffer is its own time
   * and that delay. mmtpsrc tells it to its pipeline as its latency.
   */
  properties[PROP_LATENCY] = g_param_spec_uint ("latency", "Latency",
      "Longest time that a buffer may be under way, in ms", 1,
      GST_MMTP_LONGEST_DELAY, DEFAULT_LATENCY, playing);
  properties[PROP_INITIAL_DELAY] =
      g_param_spec_uint ("initial-delay", "Initial delay",
      "Time in ms that a buffer may be under way, if the "
      "channels can do it: otherwise more, up to latency; 0: latency", 0,
      GST_MMTP_LONGEST_DELAY, DEFAULT_INITIAL_DELAY, playing);
  properties[PROP_KEEPALIVE_INTERVAL] =
      g_param_spec_uint ("keepalive-interval", "Keep-alive interval",
      "Time between two reports of a channel's state, in ms", 10, 10000,
      DEFAULT_KEEPALIVE_INTERVAL, ready);
}

static void
install_stream_properties (GParamFlags ready)
{
  properties[PROP_MTU] = g_param_spec_uint ("mtu", "MTU",
      "Largest IP packet to send, in bytes; less where a channel carries less",
      256, 65535, DEFAULT_MTU, ready);
  properties[PROP_BITRATE] = g_param_spec_uint ("bitrate", "Bit rate",
      "Rate of the stream in bits per second, for which the channels have to "
      "do; 0: as measured", 0, G_MAXUINT, DEFAULT_BITRATE, ready);
  properties[PROP_FRAMERATE] = gst_param_spec_fraction ("framerate",
      "Frame rate", "Frames per second of the stream; 0/1: as its caps say", 0,
      1, G_MAXINT, 1, 0, 1, ready);
  properties[PROP_RETRANSMIT] = g_param_spec_boolean ("retransmit",
      "Retransmit", "Send again what was lost, where that can be in time",
      DEFAULT_RETRANSMIT, ready);
  properties[PROP_SCHEDULER] = g_param_spec_enum ("scheduler", "Scheduler",
      "Which channel a packet goes on", GST_TYPE_MMTP_SCHEDULER,
      DEFAULT_SCHEDULER, ready);
  properties[PROP_MAX_BYTES] = g_param_spec_uint ("max-bytes", "Max. bytes",
      "Bytes that may wait for a channel, and to be sent again; a longer buffer "
      "waits alone", 1, G_MAXUINT, DEFAULT_MAX_BYTES, ready);

  /**
   * GstMmtpSink:estimated-bitrate:
   *
   * What all channels that can meet the deadline carry of the stream, together:
   * the rate for an encoder. It notifies when it changes.
   */
  properties[PROP_ESTIMATED_BITRATE] =
      g_param_spec_uint ("estimated-bitrate", "Estimated bit rate",
      "Bits per second of the stream that the channels carry; 0: not known yet",
      0, G_MAXUINT, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

static void
gst_mmtp_sink_class_init (GstMmtpSinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNetworkSinkClass *network_class = GST_NETWORK_SINK_CLASS (klass);
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  object_class->set_property = gst_mmtp_sink_set_property;
  object_class->get_property = gst_mmtp_sink_get_property;
  object_class->finalize = gst_mmtp_sink_finalize;
  element_class->change_state = gst_mmtp_sink_change_state;
  GST_BASE_SINK_CLASS (klass)->set_caps = gst_mmtp_sink_set_caps;
  GST_BASE_SINK_CLASS (klass)->event = gst_mmtp_sink_event;
  network_class->refusals_pass = TRUE;
  network_class->stats_name = "application/x-mmtpsink-stats";
  network_class->describe = gst_mmtp_sink_describe;
  network_class->connect = gst_mmtp_sink_connect;
  network_class->watch = gst_mmtp_sink_watch;
  network_class->disconnect = gst_mmtp_sink_disconnect;
  network_class->send_packets = gst_mmtp_sink_send_packets;
  network_class->wait = gst_mmtp_sink_wait;
  network_class->drain = gst_mmtp_sink_drain;
  network_class->fill_stats = gst_mmtp_sink_fill_stats;

  install_receiver_properties (ready, playing);
  install_time_properties (ready, playing);
  install_stream_properties (ready);
  g_object_class_install_properties (object_class, PROP_LAST, properties);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "MMTP sink",
      "Sink/Network", "Sends one stream over several unequal channels, each "
      "packet on one that brings it in time",
      "The gst-plugins-wireless authors");
}
