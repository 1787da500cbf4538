/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-mmtpsrc
 * @title: mmtpsrc
 * @short_description: Receives one stream over several channels (MMTP)
 *
 * Receives what mmtpsink sends by the Multimedia Multiplexing Transport
 * Protocol (Magalhães and Kravets 2001): puts the packets of all channels in
 * order and together, asks for what is missing, and lets nothing out after its
 * time. Buffers come out as they went in there, with their times, flags and
 * caps.
 *
 * It is live: its latency is the initial delay that both ends agreed on, and a
 * change of it is told to the pipeline. The end of the stream is EOS.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 mmtpsrc port=5004 ! decodebin ! autovideosink
 * ]|
 * |[
 * gst-launch-1.0 playbin3 uri=mmtp://0.0.0.0:5004
 * ]| Listens at the port of the URI, and plays what comes.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstmmtpsrcprivate.h"

#include "gstnetworkuri.h"
#include "gststatsfields.h"
#include "gststructmembers.h"

GST_DEBUG_CATEGORY (gst_mmtp_src_debug);

#define DEFAULT_ADDRESS "0.0.0.0"
#define DEFAULT_LATENCY 0
#define DEFAULT_MAX_LATENCY 10000
/* The system's default holds 90 packets of 1400 bytes, Linux 6.1: less than
 * what comes while a thread waits for a processor, on a fast link. */
#define DEFAULT_BUFFER_SIZE (2 * 1024 * 1024)
/* A second, which is mmtpsink's latency, of 500 Mbit/s */
#define DEFAULT_MAX_BYTES (64 * 1024 * 1024)
#define DEFAULT_REUSE FALSE
#define DEFAULT_EOS_AT_END TRUE
#define DEFAULT_TIMEOUT 0
#define DEFAULT_STATS_INTERVAL 0
#define LONGEST_DELAY 60000     /* ms; docs/wire-mmtp.md, OPEN */

enum
{
  PROP_0,
  PROP_ADDRESS,
  PROP_PORT,
  PROP_INTERFACE,
  PROP_KEY,
  PROP_LATENCY,
  PROP_MAX_LATENCY,
  PROP_BUFFER_SIZE,
  PROP_MAX_BYTES,
  PROP_REUSE,
  PROP_EOS_AT_END,
  PROP_TIMEOUT,
  PROP_STATS_INTERVAL,
  PROP_LAST_OF_SETTINGS = PROP_STATS_INTERVAL,
  PROP_URI,
  PROP_CAPS,
  PROP_USED_SOCKET,
  PROP_STATS,
  PROP_LAST
};

static GParamSpec *properties[PROP_LAST];

/* Which member of the settings a property is; its type is the property's */
#define MEMBER(name) G_STRUCT_OFFSET (GstMmtpSrcSettings, name)
static const gsize members[PROP_LAST_OF_SETTINGS + 1] = {
  [PROP_ADDRESS] = MEMBER (address),
  [PROP_PORT] = MEMBER (port),
  [PROP_INTERFACE] = MEMBER (interface),
  [PROP_KEY] = MEMBER (key),
  [PROP_LATENCY] = MEMBER (latency),
  [PROP_MAX_LATENCY] = MEMBER (max_latency),
  [PROP_BUFFER_SIZE] = MEMBER (buffer_size),
  [PROP_MAX_BYTES] = MEMBER (max_bytes),
  [PROP_REUSE] = MEMBER (reuse),
  [PROP_EOS_AT_END] = MEMBER (eos_at_end),
  [PROP_TIMEOUT] = MEMBER (timeout),
  [PROP_STATS_INTERVAL] = MEMBER (stats_interval),
};

#undef MEMBER

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void gst_mmtp_src_uri_handler_init (gpointer iface, gpointer data);

#define gst_mmtp_src_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstMmtpSrc, gst_mmtp_src, GST_TYPE_PUSH_SRC,
    G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER,
        gst_mmtp_src_uri_handler_init);
    GST_DEBUG_CATEGORY_INIT (gst_mmtp_src_debug, "mmtpsrc", 0, "MMTP source"));
/* as udpsrc: it is found by its scheme */
GST_ELEMENT_REGISTER_DEFINE (mmtpsrc, "mmtpsrc", GST_RANK_NONE,
    GST_TYPE_MMTP_SRC);

/* --- statistics, from any thread ------------------------------------------ */

#define FIELD(name, member) \
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (MmtpReceiverStats, member) }

static const GstStatsField stats_fields[] = {
  FIELD ("sessions", sessions),
  FIELD ("packets", packets),
  FIELD ("late", late),
  FIELD ("duplicates", duplicates),
  FIELD ("missing", missing),
  FIELD ("incomplete", incomplete),
  FIELD ("no-room", no_room),
  FIELD ("held-bytes", held_bytes),
  FIELD ("initial-delay", initial_delay),
  {"skew", G_TYPE_INT64, G_STRUCT_OFFSET (MmtpReceiverStats, skew)},
  FIELD ("reports", reports),
};

#undef FIELD
#define FIELD(name, member) \
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (MmtpReceiverChannelStats, member) }

static const GstStatsField channel_fields[] = {
  FIELD ("packets", received),
  FIELD ("bytes", bytes),
  FIELD ("lost", lost),
  FIELD ("late", late),
  FIELD ("duplicates", duplicates),
  FIELD ("rate", rate),
  FIELD ("capacity", capacity),
  {"transit", G_TYPE_INT64, G_STRUCT_OFFSET (MmtpReceiverChannelStats,
          transit)},
  FIELD ("jitter", jitter),
  FIELD ("decreases", decreases),
};

#undef FIELD
#define FIELD(name, member) \
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (GstMmtpSrcCounters, member) }

static const GstStatsField own_fields[] = {
  FIELD ("buffers", buffers),
  FIELD ("bytes", bytes),
  FIELD ("dropped-full", dropped_full),
  FIELD ("dropped-paused", dropped_paused),
};

#undef FIELD

static void
append_channel (GValue * array, guint channel,
    const MmtpReceiverChannelStats * stats)
{
  GstStructure *structure = gst_structure_new ("application/x-mmtp-channel",
      "channel", G_TYPE_UINT, channel, "joined", G_TYPE_BOOLEAN, stats->joined,
      NULL);
  GValue value = G_VALUE_INIT;

  gst_structure_set_stats (structure, channel_fields,
      G_N_ELEMENTS (channel_fields), stats);
  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&value, structure);
  gst_value_array_append_and_take_value (array, &value);
}

/* With lock */
static void
append_channels (GstMmtpSrc * self, GValue * array)
{
  MmtpReceiverChannelStats stats;
  guint i;

  for (i = 0; i < MMTP_MAX_CHANNELS; i++) {
    if (mmtp_receiver_get_channel_stats (self->receiver, i, &stats))
      append_channel (array, i, &stats);
  }
}

static GstStructure *
create_stats (GstElement * element)
{
  GstMmtpSrc *self = GST_MMTP_SRC (element);
  MmtpReceiverStats values = { 0 };
  GstMmtpSrcCounters counters;
  GValue array = G_VALUE_INIT;
  GstStructure *stats;

  g_value_init (&array, GST_TYPE_ARRAY);
  LOCK (self);
  counters = self->counters;
  if (self->receiver) {
    mmtp_receiver_get_stats (self->receiver, &values);
    append_channels (self, &array);
  }
  UNLOCK (self);

  stats = gst_structure_new ("application/x-mmtpsrc-stats",
      "in-session", G_TYPE_BOOLEAN, values.in_session, NULL);
  gst_structure_set_stats (stats, own_fields, G_N_ELEMENTS (own_fields),
      &counters);
  gst_structure_set_stats (stats, stats_fields, G_N_ELEMENTS (stats_fields),
      &values);
  gst_mmtp_add_refusals (stats, values.refused);
  gst_structure_take_value (stats, "channels", &array);
  return stats;
}

static void
start_timer (GstMmtpSrc * self)
{
  GstClockTime interval;

  GST_OBJECT_LOCK (self);
  interval = self->settings.stats_interval;
  GST_OBJECT_UNLOCK (self);
  gst_stats_timer_start (&self->stats_timer, GST_ELEMENT_CAST (self), interval,
      create_stats);
}

/* --- properties ----------------------------------------------------------- */

static void
set_caps_property (GstMmtpSrc * self, const GstCaps * caps)
{
  GST_OBJECT_LOCK (self);
  gst_caps_replace (&self->caps, NULL);
  self->caps = caps ? gst_caps_copy (caps) : NULL;
  GST_OBJECT_UNLOCK (self);
  gst_pad_mark_reconfigure (GST_BASE_SRC_PAD (self));
}

static void
gst_mmtp_src_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstMmtpSrc *self = GST_MMTP_SRC (object);
  gboolean restart_timer;

  if (id == PROP_URI) {
    gst_network_uri_set_property (GST_URI_HANDLER (self),
        g_value_get_string (value));
    return;
  }
  if (id == PROP_CAPS) {
    set_caps_property (self, gst_value_get_caps (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  gst_struct_set_member (&self->settings, members[id], value);
  if (id == PROP_ADDRESS && !self->settings.address)
    self->settings.address = g_strdup (DEFAULT_ADDRESS);
  restart_timer = id == PROP_STATS_INTERVAL
      && GST_STATE (self) == GST_STATE_PLAYING;
  GST_OBJECT_UNLOCK (self);

  if (id == PROP_EOS_AT_END)
    gst_mmtp_src_set_eos_at_end (self, g_value_get_boolean (value));
  if (restart_timer)
    start_timer (self);
}

static gchar *
get_uri (GstURIHandler * handler)
{
  GstMmtpSrc *self = GST_MMTP_SRC (handler);
  gchar *uri;

  GST_OBJECT_LOCK (self);
  uri = gst_network_uri_new (GST_MMTP_SCHEME, self->settings.address,
      self->settings.port);
  GST_OBJECT_UNLOCK (self);
  return uri;
}

/* With OBJECT_LOCK: what was found, where any was wanted */
static gint
get_port (GstMmtpSrc * self)
{
  GSocketAddress *address;
  gint port = self->settings.port;

  if (port > 0 || !self->used_socket)
    return port;
  address = g_socket_get_local_address (self->used_socket, NULL);
  if (address)
    port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (address));
  g_clear_object (&address);
  return port;
}

static void
gst_mmtp_src_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstMmtpSrc *self = GST_MMTP_SRC (object);

  if (id == PROP_URI) {
    g_value_take_string (value, get_uri (GST_URI_HANDLER (self)));
    return;
  }
  if (id == PROP_STATS) {
    g_value_take_boxed (value, create_stats (GST_ELEMENT_CAST (self)));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (id == PROP_CAPS)
    gst_value_set_caps (value, self->caps);
  else if (id == PROP_PORT)
    g_value_set_int (value, get_port (self));
  else if (id == PROP_USED_SOCKET)
    g_value_set_object (value, self->used_socket);
  else
    gst_struct_get_member (&self->settings, members[id], value);
  GST_OBJECT_UNLOCK (self);
}

/* --- URIs ----------------------------------------------------------------- */

static GstURIType
get_uri_type (GType type)
{
  return GST_URI_SRC;
}

static const gchar *const *
get_protocols (GType type)
{
  static const gchar *const protocols[] = { GST_MMTP_SCHEME, NULL };

  return protocols;
}

static gboolean
set_uri (GstURIHandler * handler, const gchar * uri, GError ** error)
{
  return gst_network_uri_apply (GST_ELEMENT (handler), GST_MMTP_SCHEME, uri,
      "address", error);
}

static void
gst_mmtp_src_uri_handler_init (gpointer g_iface, gpointer data)
{
  GstURIHandlerInterface *iface = g_iface;

  iface->get_type = get_uri_type;
  iface->get_protocols = get_protocols;
  iface->get_uri = get_uri;
  iface->set_uri = set_uri;
}

/* --- what GstBaseSrc asks ------------------------------------------------- */

static GstCaps *
gst_mmtp_src_get_caps (GstBaseSrc * src, GstCaps * filter)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);
  GstCaps *caps, *filtered;

  GST_OBJECT_LOCK (self);
  caps = self->caps ? gst_caps_ref (self->caps) : gst_caps_new_any ();
  GST_OBJECT_UNLOCK (self);
  if (!filter)
    return caps;
  filtered = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  return filtered;
}

static gboolean
gst_mmtp_src_query (GstBaseSrc * src, GstQuery * query)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);
  guint64 delay;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return GST_BASE_SRC_CLASS (parent_class)->query (src, query);
  LOCK (self);
  delay = self->delay;
  UNLOCK (self);
  gst_query_set_latency (query, TRUE, delay, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static void
set_flushing (GstMmtpSrc * self, gboolean flushing)
{
  LOCK (self);
  self->flushing = flushing;
  g_cond_signal (&self->cond);
  UNLOCK (self);
  if (flushing)
    g_cancellable_cancel (self->cancellable);
  else
    g_cancellable_reset (self->cancellable);
}

static gboolean
gst_mmtp_src_unlock (GstBaseSrc * src)
{
  set_flushing (GST_MMTP_SRC (src), TRUE);
  return TRUE;
}

static gboolean
gst_mmtp_src_unlock_stop (GstBaseSrc * src)
{
  set_flushing (GST_MMTP_SRC (src), FALSE);
  return TRUE;
}

static gboolean
gst_mmtp_src_start (GstBaseSrc * src)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);

  gst_mmtp_clock_map_reset (&self->clock_map);
  self->shift = 0;
  self->paused = FALSE;
  g_cancellable_reset (self->cancellable);
  return gst_mmtp_src_open (self);
}

static gboolean
gst_mmtp_src_stop (GstBaseSrc * src)
{
  gst_mmtp_src_close (GST_MMTP_SRC (src));
  return TRUE;
}

/* What comes while a live pipeline is paused is not played later; but before it
 * plays first the stream's beginning is kept. */
static void
set_paused (GstMmtpSrc * self, gboolean paused)
{
  LOCK (self);
  self->paused = paused;
  if (paused && gst_mmtp_src_clear_queue (self))
    gst_mmtp_src_queue_end (self);
  UNLOCK (self);
}

static GstStateChangeReturn
gst_mmtp_src_change_state (GstElement * element, GstStateChange transition)
{
  GstMmtpSrc *self = GST_MMTP_SRC (element);
  GstStateChangeReturn result;

  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_stats_timer_stop (&self->stats_timer, element);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING)
    set_paused (self, FALSE);

  result = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    set_paused (self, TRUE);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING
      && result != GST_STATE_CHANGE_FAILURE)
    start_timer (self);
  return result;
}

/* --- the class ------------------------------------------------------------ */

static void
gst_mmtp_src_finalize (GObject * object)
{
  GstMmtpSrc *self = GST_MMTP_SRC (object);

  g_free (self->settings.address);
  g_free (self->settings.interface);
  g_free (self->settings.key);
  gst_caps_replace (&self->caps, NULL);
  g_object_unref (self->cancellable);
  gst_mmtp_waker_clear (&self->waker);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_mmtp_src_init (GstMmtpSrc * self)
{
  GstBaseSrc *src = GST_BASE_SRC (self);
  GstMmtpSrcSettings *settings = &self->settings;

  settings->address = g_strdup (DEFAULT_ADDRESS);
  settings->port = GST_MMTP_DEFAULT_PORT;
  settings->latency = DEFAULT_LATENCY;
  settings->max_latency = DEFAULT_MAX_LATENCY;
  settings->buffer_size = DEFAULT_BUFFER_SIZE;
  settings->max_bytes = DEFAULT_MAX_BYTES;
  settings->reuse = DEFAULT_REUSE;
  settings->eos_at_end = DEFAULT_EOS_AT_END;
  settings->timeout = DEFAULT_TIMEOUT;
  settings->stats_interval = DEFAULT_STATS_INTERVAL;
  self->cancellable = g_cancellable_new ();
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  g_queue_init (&self->queue);
  g_queue_init (&self->messages);
  gst_mmtp_waker_init (&self->waker);

  gst_base_src_set_live (src, TRUE);
  gst_base_src_set_format (src, GST_FORMAT_TIME);
}

static void
install_network_properties (GParamFlags ready)
{
  properties[PROP_ADDRESS] = g_param_spec_string ("address", "Address",
      "Address or name of this host to listen at; 0.0.0.0 or ::, all of them",
      DEFAULT_ADDRESS, ready);
  properties[PROP_PORT] = g_param_spec_int ("port", "Port",
      "UDP port to listen at; 0: any, and from PAUSED on it is here", 0,
      G_MAXUINT16, GST_MMTP_DEFAULT_PORT, ready);
  properties[PROP_INTERFACE] =
      g_param_spec_string ("interface", "Interface",
      "Network interface to listen at; unset: all", NULL, ready);
  properties[PROP_URI] =
      g_param_spec_string ("uri", "URI",
      "mmtp://address:port?property=value&...; media, encoding-name, payload "
      "and clock-rate make caps of RTP; it reads as mmtp://address:port",
      "mmtp://0.0.0.0:5004", ready);
  properties[PROP_KEY] =
      g_param_spec_string ("key", "Key",
      "Secret that the sender has too, with which every message is "
      "authenticated; unset: none", NULL,
      G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_BUFFER_SIZE] =
      g_param_spec_int ("buffer-size", "Buffer size",
      "Size of the kernel's receive buffer in bytes; 0: the "
      "kernel's default", 0, G_MAXINT, DEFAULT_BUFFER_SIZE, ready);
  properties[PROP_REUSE] =
      g_param_spec_boolean ("reuse", "Reuse", "Let others have the port too",
      DEFAULT_REUSE, ready);
  properties[PROP_USED_SOCKET] =
      g_param_spec_object ("used-socket", "Used socket",
      "Socket in use, from PAUSED on", G_TYPE_SOCKET,
      G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

static void
install_stream_properties (GParamFlags ready, GParamFlags playing)
{
  /**
   * GstMmtpSrc:latency:
   *
   * The initial delay is what the sender wants, but not less than this. It is
   * the latency of the pipeline, and told to it when it changes.
   */
  properties[PROP_LATENCY] = g_param_spec_uint ("latency", "Latency",
      "Least time from the sender's buffer to its play, in ms; the sender may "
      "want more", 0, LONGEST_DELAY, DEFAULT_LATENCY, ready);
  properties[PROP_MAX_LATENCY] = g_param_spec_uint ("max-latency",
      "Max. latency", "Longest time that a sender may want, in ms", 0,
      LONGEST_DELAY, DEFAULT_MAX_LATENCY, ready);
  properties[PROP_MAX_BYTES] = g_param_spec_uint ("max-bytes", "Max. bytes",
      "Bytes that may wait for what is missing, and as many for downstream", 1,
      G_MAXUINT, DEFAULT_MAX_BYTES, ready);
  properties[PROP_CAPS] = g_param_spec_boxed ("caps", "Caps",
      "Caps of the stream; unset: those that the sender says", GST_TYPE_CAPS,
      playing);
  properties[PROP_EOS_AT_END] = g_param_spec_boolean ("eos-at-end",
      "EOS at end", "The end of the sender's stream is EOS, and no other "
      "sender is let in; false: wait for the next sender", DEFAULT_EOS_AT_END,
      playing);
  properties[PROP_TIMEOUT] =
      g_param_spec_uint64 ("timeout", "Timeout",
      "Post an element message after so many nanoseconds without a buffer; 0: "
      "never", 0, G_MAXINT64, DEFAULT_TIMEOUT, playing);
  properties[PROP_STATS] =
      g_param_spec_boxed ("stats", "Statistics",
      "What came, what is missing or late, messages refused by reason, and "
      "each channel", GST_TYPE_STRUCTURE,
      G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  properties[PROP_STATS_INTERVAL] =
      g_param_spec_uint64 ("stats-interval", "Statistics interval",
      "Time between two element messages with the statistics, in ns; 0: never",
      0, G_MAXINT64, DEFAULT_STATS_INTERVAL, playing);
}

static void
gst_mmtp_src_class_init (GstMmtpSrcClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  object_class->set_property = gst_mmtp_src_set_property;
  object_class->get_property = gst_mmtp_src_get_property;
  object_class->finalize = gst_mmtp_src_finalize;
  element_class->change_state = gst_mmtp_src_change_state;
  src_class->get_caps = gst_mmtp_src_get_caps;
  src_class->query = gst_mmtp_src_query;
  src_class->start = gst_mmtp_src_start;
  src_class->stop = gst_mmtp_src_stop;
  src_class->unlock = gst_mmtp_src_unlock;
  src_class->unlock_stop = gst_mmtp_src_unlock_stop;
  GST_PUSH_SRC_CLASS (klass)->create = gst_mmtp_src_create;

  install_network_properties (ready);
  install_stream_properties (ready, playing);
  g_object_class_install_properties (object_class, PROP_LAST, properties);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "MMTP source",
      "Source/Network", "Receives one stream over several unequal channels, "
      "in order and in time", "The gst-plugins-wireless authors");
}
