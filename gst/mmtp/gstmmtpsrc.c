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
 *
 * Since: 0.1
 */

#include "gstmmtpsrcprivate.h"

#include "gstnetworkuri.h"
#include "gstwirelessstats.h"

GST_DEBUG_CATEGORY (gst_mmtp_src_debug);

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
append_path (GValue * array, guint channel, const MmtpReceiverPathStats * stats)
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

/* With OBJECT_LOCK: what was found, where any was wanted */
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

/* With OBJECT_LOCK */
static void
change_eos_at_end (gpointer object)
{
  GstMmtpSrc *self = GST_MMTP_SRC (object);

  gst_mmtp_src_set_eos_at_end (self, self->settings.eos_at_end);
}

#define PROPERTY_STRUCT GstMmtpSrcSettings
static const GstWirelessProperty properties[] = {
  PROPERTY_STRING ("address", "Address",
      "Address or name of this host to listen at; 0.0.0.0 or ::, all of them",
      PROPERTY_READY | PROPERTY_URI | PROPERTY_NOT_NULL, address, "0.0.0.0"),
  PROPERTY_INT ("port", "Port",
      "UDP port to listen at; 0: any, and from PAUSED on it is here",
      PROPERTY_READY | PROPERTY_URI, port, 0, G_MAXUINT16,
      GST_MMTP_DEFAULT_PORT,
      .get = get_port),
  PROPERTY_STRING ("interface", "Interface",
      "Network interface to listen at; unset: all",
      PROPERTY_READY | PROPERTY_URI, interface, NULL),
  PROPERTY_STRING ("key", "Key",
      "Secret that the sender has too, which authenticates every message: at "
      "least 32 hexadecimal digits, as openssl rand -hex 32 makes them; unset: "
      "none; set in NULL or READY", PROPERTY_SECRET, key, NULL),
  /* The system's default holds 90 packets of 1400 bytes, Linux 6.1: less than
   * what comes while a thread waits for a processor, on a fast link. */
  PROPERTY_INT ("buffer-size", "Buffer size",
      "Size of the kernel's receive buffer in bytes; 0: the kernel's default",
      PROPERTY_READY, buffer_size, 0, G_MAXINT, 2 * 1024 * 1024),
  PROPERTY_BOOLEAN ("reuse", "Reuse", "Let others have the port too",
      PROPERTY_READY, reuse, FALSE),

  /**
   * GstMmtpSrc:latency:
   *
   * The initial delay is what the sender wants, but not less than this. It is
   * the latency of the pipeline, and told to it when it changes.
   */
  PROPERTY_UINT ("latency", "Latency",
      "Least time from the sender's buffer to its play, in ms; the sender may "
      "want more", PROPERTY_READY | PROPERTY_URI, latency, 0,
      GST_MMTP_MAX_DELAY, 0),
  PROPERTY_UINT ("max-latency", "Max. latency",
      "Longest time that a sender may want, in ms",
      PROPERTY_READY | PROPERTY_URI, max_latency, 0, GST_MMTP_MAX_DELAY,
      10000),
  /* A second, which is mmtpsink's latency, of 500 Mbit/s */
  PROPERTY_UINT ("max-bytes", "Max. bytes",
      "Bytes that may wait for what is missing, and as many for downstream",
      PROPERTY_READY, max_bytes, 1, G_MAXUINT, 64 * 1024 * 1024),
  PROPERTY_BOOLEAN ("eos-at-end", "EOS at end",
      "The end of the sender's stream is EOS, and no other sender is let in; "
      "false: wait for the next sender", PROPERTY_PLAYING | PROPERTY_URI,
      eos_at_end, TRUE,
      .changed = change_eos_at_end),
};

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

  gst_wireless_properties_clear (self, GST_TYPE_MMTP_SRC);
  driver_clear (&self->driver);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_mmtp_src_init (GstMmtpSrc * self)
{
  gst_wireless_properties_init (self, GST_TYPE_MMTP_SRC);
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  g_queue_init (&self->queue);
  g_queue_init (&self->messages);
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
  network_class->set_flushing = gst_mmtp_src_set_flushing;
  network_class->get_latency = gst_mmtp_src_get_latency;
  GST_PUSH_SRC_CLASS (klass)->create = gst_mmtp_src_create;

  gst_network_uri_install (object_class, &uri);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), G_STRUCT_OFFSET (GstMmtpSrc, settings),
      GST_WIRELESS_OBJECT_LOCK);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "MMTP source",
      "Source/Network", "Receives one stream over several unequal channels, "
      "in order and in time", "The gst-plugins-wireless authors");
}
