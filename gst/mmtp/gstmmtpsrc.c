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
  PROP_LAST
};

static GParamSpec *properties[PROP_LAST];

/* Which member of the settings a property is; its type is the property's */
#define MEMBER(name) G_STRUCT_OFFSET (GstMmtpSrcSettings, name)
static const gsize members[PROP_LAST] = {
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
};

#undef MEMBER

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define gst_mmtp_src_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstMmtpSrc, gst_mmtp_src, GST_TYPE_NETWORK_SRC,
    GST_DEBUG_CATEGORY_INIT (gst_mmtp_src_debug, "mmtpsrc", 0, "MMTP source"));
/* as udpsrc: it is found by its scheme */
GST_ELEMENT_REGISTER_DEFINE (mmtpsrc, "mmtpsrc", GST_RANK_NONE,
    GST_TYPE_MMTP_SRC);

/* --- statistics, from any thread ------------------------------------------ */

#define FIELD(name, member) \
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (MmtpReceiverStats, member) }

static const GstWirelessStatsField stats_fields[] = {
  FIELD ("sessions", sessions),
  FIELD ("packets", packets),
  FIELD ("recovered", recovered),
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
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (MmtpReceiverPathStats, member) }

static const GstWirelessStatsField path_fields[] = {
  FIELD ("packets", received),
  FIELD ("bytes", bytes),
  FIELD ("lost", lost),
  FIELD ("late", late),
  FIELD ("duplicates", duplicates),
  FIELD ("rate", rate),
  {"transit", G_TYPE_INT64, G_STRUCT_OFFSET (MmtpReceiverPathStats,
          transit)},
  FIELD ("jitter", jitter),
};

#undef FIELD
#define FIELD(name, member) \
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (GstMmtpSrcCounters, member) }

static const GstWirelessStatsField own_fields[] = {
  FIELD ("buffers", buffers),
  FIELD ("bytes", bytes),
  FIELD ("dropped-full", dropped_full),
  FIELD ("dropped-paused", dropped_paused),
};

#undef FIELD

static void
append_path (GValue * array, guint channel,
    const MmtpReceiverPathStats * stats)
{
  GstStructure *structure = gst_structure_new (GST_MMTP_PATH_STATS,
      "channel", G_TYPE_UINT, channel, "joined", G_TYPE_BOOLEAN, stats->joined,
      NULL);

  gst_wireless_stats_fill (structure, path_fields,
      G_N_ELEMENTS (path_fields), stats);
  gst_mmtp_append_path (array, structure);
}

/* With lock */
static void
append_paths (GstMmtpSrc * self, GValue * array)
{
  MmtpReceiverPathStats stats;
  guint i;

  for (i = 0; i < MMTP_MAX_PATHS; i++) {
    if (mmtp_receiver_get_path_stats (self->receiver, i, &stats))
      append_path (array, i, &stats);
  }
}

static GstStructure *
gst_mmtp_src_create_stats (GstNetworkSrc * src)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);
  MmtpReceiverStats values = { 0 };
  GstMmtpSrcCounters counters;
  GValue array = G_VALUE_INIT;
  GstStructure *stats;

  g_value_init (&array, GST_TYPE_ARRAY);
  LOCK (self);
  counters = self->counters;
  if (self->receiver) {
    mmtp_receiver_get_stats (self->receiver, &values);
    append_paths (self, &array);
  }
  UNLOCK (self);

  stats = gst_structure_new ("application/x-mmtpsrc-stats",
      "in-session", G_TYPE_BOOLEAN, values.in_session, NULL);
  gst_wireless_stats_fill (stats, own_fields, G_N_ELEMENTS (own_fields),
      &counters);
  gst_wireless_stats_fill (stats, stats_fields, G_N_ELEMENTS (stats_fields),
      &values);
  gst_mmtp_add_refusals (stats, values.refused);
  gst_structure_take_value (stats, "channels", &array);
  return stats;
}

/* --- properties ----------------------------------------------------------- */

static void
gst_mmtp_src_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstMmtpSrc *self = GST_MMTP_SRC (object);

  GST_OBJECT_LOCK (self);
  gst_struct_set_member (&self->settings, members[id], value);
  if (id == PROP_ADDRESS && !self->settings.address)
    self->settings.address = g_strdup (DEFAULT_ADDRESS);
  GST_OBJECT_UNLOCK (self);

  if (id == PROP_EOS_AT_END)
    gst_mmtp_src_set_eos_at_end (self, g_value_get_boolean (value));
}

/* With OBJECT_LOCK: what was found, where any was wanted */
static gint
get_port (GstMmtpSrc * self)
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
gst_mmtp_src_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstMmtpSrc *self = GST_MMTP_SRC (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_PORT)
    g_value_set_int (value, get_port (self));
  else
    gst_struct_get_member (&self->settings, members[id], value);
  GST_OBJECT_UNLOCK (self);
}

/* --- what GstBaseSrc asks ------------------------------------------------- */

static GstClockTime
gst_mmtp_src_get_latency (GstNetworkSrc * src)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);
  GstClockTime delay;

  LOCK (self);
  delay = self->delay;
  UNLOCK (self);
  return delay;
}

static void
gst_mmtp_src_set_flushing (GstNetworkSrc * src, gboolean flushing)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);

  LOCK (self);
  self->flushing = flushing;
  g_cond_signal (&self->cond);
  UNLOCK (self);
}

static gboolean
gst_mmtp_src_start (GstBaseSrc * src)
{
  GstMmtpSrc *self = GST_MMTP_SRC (src);

  gst_mmtp_clock_map_reset (&self->clock_map);
  self->shift = 0;
  self->paused = FALSE;
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

static gboolean
check_key (GstMmtpSrc * self)
{
  gboolean is_valid;
  gchar *key;

  GST_OBJECT_LOCK (self);
  key = g_strdup (self->settings.key);
  GST_OBJECT_UNLOCK (self);
  is_valid = gst_mmtp_check_key (GST_ELEMENT (self), key);
  g_free (key);
  return is_valid;
}

static GstStateChangeReturn
gst_mmtp_src_change_state (GstElement * element, GstStateChange transition)
{
  GstMmtpSrc *self = GST_MMTP_SRC (element);
  GstStateChangeReturn result;

  /* It may still be set in READY. */
  if ((transition == GST_STATE_CHANGE_NULL_TO_READY
          || transition == GST_STATE_CHANGE_READY_TO_PAUSED)
      && !check_key (self))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING)
    set_paused (self, FALSE);

  result = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    set_paused (self, TRUE);
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
  driver_clear (&self->driver);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_mmtp_src_init (GstMmtpSrc * self)
{
  GstMmtpSrcSettings *settings = &self->settings;

  settings->address = g_strdup (DEFAULT_ADDRESS);
  settings->port = GST_MMTP_DEFAULT_PORT;
  settings->latency = DEFAULT_LATENCY;
  settings->max_latency = DEFAULT_MAX_LATENCY;
  settings->buffer_size = DEFAULT_BUFFER_SIZE;
  settings->max_bytes = DEFAULT_MAX_BYTES;
  settings->reuse = DEFAULT_REUSE;
  settings->eos_at_end = DEFAULT_EOS_AT_END;
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  g_queue_init (&self->queue);
  g_queue_init (&self->messages);
  driver_init (&self->driver, &gst_mmtp_src_driver_funcs, self,
      &self->lock);
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
  properties[PROP_KEY] =
      gst_mmtp_param_spec_key ("Secret that the sender has too, which "
      "authenticates every message: at least 32 hexadecimal digits, as openssl "
      "rand -hex 32 makes them; unset: none; set in NULL or READY");
  properties[PROP_BUFFER_SIZE] =
      g_param_spec_int ("buffer-size", "Buffer size",
      "Size of the kernel's receive buffer in bytes; 0: the "
      "kernel's default", 0, G_MAXINT, DEFAULT_BUFFER_SIZE, ready);
  properties[PROP_REUSE] =
      g_param_spec_boolean ("reuse", "Reuse", "Let others have the port too",
      DEFAULT_REUSE, ready);
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
      "want more", 0, GST_MMTP_LONGEST_DELAY, DEFAULT_LATENCY, ready);
  properties[PROP_MAX_LATENCY] = g_param_spec_uint ("max-latency",
      "Max. latency", "Longest time that a sender may want, in ms", 0,
      GST_MMTP_LONGEST_DELAY, DEFAULT_MAX_LATENCY, ready);
  properties[PROP_MAX_BYTES] = g_param_spec_uint ("max-bytes", "Max. bytes",
      "Bytes that may wait for what is missing, and as many for downstream", 1,
      G_MAXUINT, DEFAULT_MAX_BYTES, ready);
  properties[PROP_EOS_AT_END] = g_param_spec_boolean ("eos-at-end",
      "EOS at end", "The end of the sender's stream is EOS, and no other "
      "sender is let in; false: wait for the next sender", DEFAULT_EOS_AT_END,
      playing);
}

static void
gst_mmtp_src_class_init (GstMmtpSrcClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);
  GstNetworkSrcClass *network_class = GST_NETWORK_SRC_CLASS (klass);
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  object_class->set_property = gst_mmtp_src_set_property;
  object_class->get_property = gst_mmtp_src_get_property;
  object_class->finalize = gst_mmtp_src_finalize;
  element_class->change_state = gst_mmtp_src_change_state;
  src_class->start = gst_mmtp_src_start;
  src_class->stop = gst_mmtp_src_stop;
  network_class->protocols[0] = GST_MMTP_SCHEME;
  network_class->timeout_name = "GstMmtpSrcTimeout";
  network_class->create_stats = gst_mmtp_src_create_stats;
  network_class->set_flushing = gst_mmtp_src_set_flushing;
  network_class->get_latency = gst_mmtp_src_get_latency;
  GST_PUSH_SRC_CLASS (klass)->create = gst_mmtp_src_create;

  install_network_properties (ready);
  install_stream_properties (ready, playing);
  g_object_class_install_properties (object_class, PROP_LAST, properties);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "MMTP source",
      "Source/Network", "Receives one stream over several unequal channels, "
      "in order and in time", "The gst-plugins-wireless authors");
}
