/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-dcctpthinsrc
 * @title: dcctpthinsrc
 * @short_description: Receives over DCCP
 *
 * Receives what dcctpthinsink, or anybody who has CCID 3, sends over a DCCP
 * connection (RFC 4340, RFC 4342), in user space: each packet is a buffer. It
 * tells the sender how much comes and what was lost, from which that finds its
 * rate; and when downstream is slow it says so, too.
 *
 * It is live. When the sender closes the connection, that is EOS.
 *
 * The element is registered as dccpthinsrc, too.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 dcctpthinsrc port=5004 caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=MPV,payload=32" ! rtpjitterbuffer ! rfc2250depay ! mpegvideoparse ! avdec_mpeg2video ! autovideosink
 * ]| Waits for a sender, and plays what it sends.
 * |[
 * gst-launch-1.0 playbin3 uri="dccpthin://0.0.0.0:5004?encoding-name=MPV&media=video&clock-rate=90000&payload=32"
 * ]| The same
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdccpthinsrcprivate.h"

#include "gststructmembers.h"

GST_DEBUG_CATEGORY (gst_dccp_thin_src_debug);

#define DEFAULT_MAX_BYTES (4 * 1024 * 1024)
#define DEFAULT_MAX_PACKETS 4096
#define DEFAULT_EOS_AT_END TRUE
#define DEFAULT_CONNECT_TIMEOUT (10 * GST_SECOND)
/* Times become microseconds in a gint64, added to the present. */
#define LONGEST_TIME (G_MAXINT64 / 2)
/* For whatever comes, and something more, so that the rooms' first bytes, which
 * are the ones in use, don't share a few lines of the cache. Pages that nothing
 * was written to cost nothing. */
#define LONGEST_INPUT (65536 + 1536)

enum
{
  PROP_MAX_BYTES = GST_DCCP_THIN_PROP_LAST,
  PROP_MAX_PACKETS,
  PROP_EOS_AT_END,
  PROP_CONNECT_TIMEOUT
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void gst_dccp_thin_src_uri_handler_init (gpointer interface,
    gpointer data);

#define gst_dccp_thin_src_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstDccpThinSrc, gst_dccp_thin_src,
    GST_TYPE_NETWORK_SRC, G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER,
        gst_dccp_thin_src_uri_handler_init);
    GST_DEBUG_CATEGORY_INIT (gst_dccp_thin_src_debug, "dccpthinsrc", 0,
        "DCCP source"));
/* as udpsrc: it is found by its scheme */
GST_ELEMENT_REGISTER_DEFINE (dcctpthinsrc, "dcctpthinsrc", GST_RANK_NONE,
    GST_TYPE_DCCP_THIN_SRC);

/* --- the other name ------------------------------------------------------- */

/* A type is one element's only. */
typedef GstDccpThinSrc GstDccpThinSrcByName;
typedef GstDccpThinSrcClass GstDccpThinSrcByNameClass;

static GType gst_dccp_thin_src_by_name_get_type (void);
G_DEFINE_TYPE (GstDccpThinSrcByName, gst_dccp_thin_src_by_name,
    GST_TYPE_DCCP_THIN_SRC);
GST_ELEMENT_REGISTER_DEFINE (dccpthinsrc, "dccpthinsrc", GST_RANK_NONE,
    gst_dccp_thin_src_by_name_get_type ());

static void
gst_dccp_thin_src_by_name_init (GstDccpThinSrcByName * self)
{
}

static void
gst_dccp_thin_src_by_name_class_init (GstDccpThinSrcByNameClass * klass)
{
}

/* --- statistics, from any thread ------------------------------------------ */

#define FIELD(name, member) \
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (GstDccpThinSrcCounters, member) }

static const GstStatsField own_fields[] = {
  FIELD ("buffers", buffers),
  FIELD ("bytes", bytes),
  FIELD ("dropped-full", dropped_full),
  FIELD ("dropped-paused", dropped_paused),
};

#undef FIELD

static GstStructure *
gst_dccp_thin_src_create_stats (GstNetworkSrc * src)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (src);
  GstDccpThinSrcCounters counters;
  GstStructure *structure;
  guint64 queued_bytes;
  DccpStats stats;

  LOCK (self);
  counters = self->counters;
  queued_bytes = self->queued_bytes;
  gst_dccp_thin_end_get_stats (&self->end, &stats);
  UNLOCK (self);

  structure = gst_structure_new ("application/x-dccpthinsrc-stats",
      "connections", G_TYPE_UINT64, stats.connections,
      "queued-bytes", G_TYPE_UINT64, queued_bytes, NULL);
  gst_structure_set_stats (structure, own_fields, G_N_ELEMENTS (own_fields),
      &counters);
  gst_dccp_thin_fill_stats (structure, &stats, FALSE);
  return structure;
}

/* --- URIs, which may be those of the other end ---------------------------- */

static gchar *
get_uri (GstURIHandler * handler)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (handler);

  return gst_dccp_thin_end_get_uri (&self->end);
}

static gboolean
set_uri (GstURIHandler * handler, const gchar * uri, GError ** error)
{
  return gst_dccp_thin_set_uri (GST_ELEMENT (handler), uri, "address", error);
}

static void
gst_dccp_thin_src_uri_handler_init (gpointer interface, gpointer data)
{
  GstURIHandlerInterface *handler = interface;

  handler->get_uri = get_uri;
  handler->set_uri = set_uri;
}

/* --- properties ----------------------------------------------------------- */

static void
gst_dccp_thin_src_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (object);

  LOCK (self);
  switch (id) {
    case PROP_MAX_BYTES:
      self->own.max_bytes = g_value_get_uint (value);
      break;
    case PROP_MAX_PACKETS:
      self->own.max_packets = g_value_get_uint (value);
      break;
    case PROP_EOS_AT_END:
      self->own.eos_at_end = g_value_get_boolean (value);
      break;
    case PROP_CONNECT_TIMEOUT:
      self->own.connect_timeout = g_value_get_uint64 (value);
      break;
    default:
      gst_dccp_thin_settings_set (&self->end.settings, id, value);
      break;
  }
  UNLOCK (self);
}

static void
gst_dccp_thin_src_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (object);

  LOCK (self);
  switch (id) {
    case PROP_MAX_BYTES:
      g_value_set_uint (value, self->own.max_bytes);
      break;
    case PROP_MAX_PACKETS:
      g_value_set_uint (value, self->own.max_packets);
      break;
    case PROP_EOS_AT_END:
      g_value_set_boolean (value, self->own.eos_at_end);
      break;
    case PROP_CONNECT_TIMEOUT:
      g_value_set_uint64 (value, self->own.connect_timeout);
      break;
    default:
      gst_dccp_thin_end_get_property (&self->end, id, value);
      break;
  }
  UNLOCK (self);
}

/* --- what GstBaseSrc asks ------------------------------------------------- */

static void
gst_dccp_thin_src_set_flushing (GstNetworkSrc * src, gboolean flushing)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (src);

  LOCK (self);
  self->flushing = flushing;
  g_cond_signal (&self->cond);
  UNLOCK (self);
}

static gboolean
gst_dccp_thin_src_start (GstBaseSrc * src)
{
  return gst_dccp_thin_src_open (GST_DCCP_THIN_SRC (src));
}

static gboolean
gst_dccp_thin_src_stop (GstBaseSrc * src)
{
  gst_dccp_thin_src_close (GST_DCCP_THIN_SRC (src));
  return TRUE;
}

/* What comes while a live pipeline is paused is not played later; but before it
 * plays first the stream's beginning is kept. */
static void
set_paused (GstDccpThinSrc * self, gboolean paused)
{
  LOCK (self);
  self->paused = paused;
  gst_dccp_thin_src_drop_queued (self);
  UNLOCK (self);
}

static GstStateChangeReturn
gst_dccp_thin_src_change_state (GstElement * element, GstStateChange transition)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (element);
  GstStateChangeReturn result;

  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING && self->paused)
    set_paused (self, FALSE);

  result = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    set_paused (self, TRUE);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    self->paused = FALSE;
  return result;
}

/* --- the class ------------------------------------------------------------ */

static void
gst_dccp_thin_src_finalize (GObject * object)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (object);

  g_object_unref (self->cancellable);
  g_cond_clear (&self->cond);
  gst_dccp_thin_end_clear (&self->end);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_dccp_thin_src_init (GstDccpThinSrc * self)
{
  static const GstDccpThinEndFuncs funcs = {
    .take_event = gst_dccp_thin_src_take_event,
    .take_data = gst_dccp_thin_src_queue_data,
    .allows = gst_dccp_thin_src_allows,
    .longest = LONGEST_INPUT,
    .category = &gst_dccp_thin_src_debug,
  };

  gst_dccp_thin_end_init (&self->end, &funcs, self, GST_DCCP_THIN_MODE_LISTEN);
  self->own.max_bytes = DEFAULT_MAX_BYTES;
  self->own.max_packets = DEFAULT_MAX_PACKETS;
  self->own.eos_at_end = DEFAULT_EOS_AT_END;
  self->own.connect_timeout = DEFAULT_CONNECT_TIMEOUT;
  self->cancellable = g_cancellable_new ();
  g_cond_init (&self->cond);
  g_queue_init (&self->queue);

  gst_base_src_set_do_timestamp (GST_BASE_SRC (self), TRUE);
}

static void
install_properties (GObjectClass * object_class)
{
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  gst_dccp_thin_install_properties (object_class, FALSE);

  /**
   * GstDccpThinSrc:max-bytes:
   *
   * What has come waits for downstream. When half of this waits the sender is
   * told that the receiver is slow, and what is more than all is dropped, and
   * told to the sender as well.
   */
  g_object_class_install_property (object_class, PROP_MAX_BYTES,
      g_param_spec_uint ("max-bytes", "Max. bytes",
          "Bytes that may wait for downstream; from the half on the sender is "
          "told that downstream is slow", 1, G_MAXUINT, DEFAULT_MAX_BYTES,
          playing));
  g_object_class_install_property (object_class, PROP_MAX_PACKETS,
      g_param_spec_uint ("max-packets", "Max. packets",
          "Packets that may wait for downstream, in the same way", 1, G_MAXUINT,
          DEFAULT_MAX_PACKETS, playing));
  g_object_class_install_property (object_class, PROP_EOS_AT_END,
      g_param_spec_boolean ("eos-at-end", "EOS at end", "The end of the "
          "connection is the end of the stream: EOS when the sender closed it, "
          "else an error; false: go on with the next one", DEFAULT_EOS_AT_END,
          playing));
  g_object_class_install_property (object_class, PROP_CONNECT_TIMEOUT,
      g_param_spec_uint64 ("connect-timeout", "Connect timeout",
          "A sender that does not answer for so long is gone (ns, 0 = never)",
          0, LONGEST_TIME, DEFAULT_CONNECT_TIMEOUT,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
          GST_PARAM_MUTABLE_READY));
}

static void
gst_dccp_thin_src_class_init (GstDccpThinSrcClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);
  GstNetworkSrcClass *network_class = GST_NETWORK_SRC_CLASS (klass);

  object_class->set_property = gst_dccp_thin_src_set_property;
  object_class->get_property = gst_dccp_thin_src_get_property;
  object_class->finalize = gst_dccp_thin_src_finalize;
  element_class->change_state = gst_dccp_thin_src_change_state;
  src_class->start = gst_dccp_thin_src_start;
  src_class->stop = gst_dccp_thin_src_stop;
  GST_PUSH_SRC_CLASS (klass)->create = gst_dccp_thin_src_create;
  network_class->protocols[0] = GST_DCCP_THIN_SCHEME;
  network_class->timeout_name = "GstDccpThinSrcTimeout";
  network_class->create_stats = gst_dccp_thin_src_create_stats;
  network_class->set_flushing = gst_dccp_thin_src_set_flushing;

  install_properties (object_class);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "DCCP source",
      "Source/Network", "Receives over DCCP with CCID 3-Thin, and tells the "
      "sender what came", "The gst-plugins-wireless authors");
}
