/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-dcctpthinsink
 * @title: dcctpthinsink
 * @short_description: Sends over DCCP, at a rate that TFRC allows
 *
 * Sends each buffer as one packet of a DCCP connection with CCID 3 (RFC 4340,
 * RFC 4342), in user space, in the profile that Kohler called Thin and Erixzon
 * examined (2004): at the smooth rate that TFRC (RFC 5348) finds fair on the path.
 * What the rate does not allow waits, and with it upstream, so that an ifdqueue
 * before it gives up the frames that matter least; nothing is sent twice.
 *
 * The element is registered as dccpthinsink, too.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -e filesrc location=clip.m2v ! ifdqueue ! rfc2250pay ! dcctpthinsink host=192.0.2.1 port=5004 sync=false
 * ]| What is too much for the path is dropped by frame type.
 * |[
 * gst-launch-1.0 -e filesrc location=clip.m2v ! rfc2250pay ! dcctpthinsink mode=listen port=5004
 * ]| Sends to whoever connects.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdccpthinsinkprivate.h"

#include <string.h>

#include "gstnetworkuri.h"

GST_DEBUG_CATEGORY (gst_dccp_thin_sink_debug);

#define DEFAULT_REQUEST_KEY_UNITS FALSE
/* A receiver sends no data: what is longer is cut, and refused. */
#define LONGEST_INPUT 2048

enum
{
  PROP_URI = GST_DCCP_THIN_PROP_LAST,
  PROP_REQUEST_KEY_UNITS,
  PROP_ESTIMATED_BITRATE
};

static GParamSpec *estimated_bitrate_property;

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void gst_dccp_thin_sink_uri_handler_init (gpointer interface,
    gpointer data);

#define gst_dccp_thin_sink_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstDccpThinSink, gst_dccp_thin_sink,
    GST_TYPE_NETWORK_SINK, G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER,
        gst_dccp_thin_sink_uri_handler_init);
    GST_DEBUG_CATEGORY_INIT (gst_dccp_thin_sink_debug, "dccpthinsink", 0,
        "DCCP sink"));
GST_ELEMENT_REGISTER_DEFINE (dcctpthinsink, "dcctpthinsink", GST_RANK_NONE,
    GST_TYPE_DCCP_THIN_SINK);

/* --- the other name ------------------------------------------------------- */

/* A type is one element's only. */
typedef GstDccpThinSink GstDccpThinSinkByName;
typedef GstDccpThinSinkClass GstDccpThinSinkByNameClass;

static GType gst_dccp_thin_sink_by_name_get_type (void);
G_DEFINE_TYPE (GstDccpThinSinkByName, gst_dccp_thin_sink_by_name,
    GST_TYPE_DCCP_THIN_SINK);
GST_ELEMENT_REGISTER_DEFINE (dccpthinsink, "dccpthinsink", GST_RANK_NONE,
    gst_dccp_thin_sink_by_name_get_type ());

static void
gst_dccp_thin_sink_by_name_init (GstDccpThinSinkByName * self)
{
}

static void
gst_dccp_thin_sink_by_name_class_init (GstDccpThinSinkByNameClass * klass)
{
}

/* --- what the base class asks --------------------------------------------- */

void
gst_dccp_thin_sink_notify_bitrate (GstDccpThinSink * self)
{
  g_object_notify_by_pspec (G_OBJECT (self), estimated_bitrate_property);
}

static gchar *
gst_dccp_thin_sink_describe (GstNetworkSink * sink)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  gchar *text;

  LOCK (self);
  text = gst_dccp_thin_settings_describe (&self->end.settings);
  UNLOCK (self);
  return text;
}

static void
gst_dccp_thin_sink_fill_stats (GstNetworkSink * sink, GstStructure * structure)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  DccpStats stats;

  LOCK (self);
  gst_dccp_thin_end_get_stats (&self->end, &stats);
  UNLOCK (self);
  gst_dccp_thin_fill_stats (structure, &stats, TRUE);
}

/* --- buffers that are too long -------------------------------------------- */

static GstFlowReturn
tell_too_long (GstDccpThinSink * self, gsize size, guint longest)
{
  gchar *peer = gst_dccp_thin_sink_describe (GST_NETWORK_SINK (self));

  GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
      ("A buffer of %" G_GSIZE_FORMAT " bytes is longer than the %u bytes that "
          "a packet to %s can have.", size, longest, peer),
      ("DCCP does not cut buffers in pieces: a payloader before it does, whose "
          "mtu is %u or less. The property mtu, and the path, limit it.",
          longest));
  g_free (peer);
  return GST_FLOW_ERROR;
}

/* The base class counts and drops it; but that would be silent. */
static GstFlowReturn
check_size (GstDccpThinSink * self, GstFlowReturn flow)
{
  gsize size;
  guint longest;

  LOCK (self);
  size = self->too_long;
  longest = self->longest;
  self->too_long = 0;
  UNLOCK (self);
  if (size == 0 || flow != GST_FLOW_OK)
    return flow;
  return tell_too_long (self, size, longest);
}

static GstFlowReturn
gst_dccp_thin_sink_render (GstBaseSink * sink, GstBuffer * buffer)
{
  return check_size (GST_DCCP_THIN_SINK (sink),
      GST_BASE_SINK_CLASS (parent_class)->render (sink, buffer));
}

static GstFlowReturn
gst_dccp_thin_sink_render_list (GstBaseSink * sink, GstBufferList * list)
{
  return check_size (GST_DCCP_THIN_SINK (sink),
      GST_BASE_SINK_CLASS (parent_class)->render_list (sink, list));
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
  static const gchar *const protocols[] = { GST_DCCP_THIN_SCHEME, NULL };

  return protocols;
}

static gchar *
get_uri (GstURIHandler * handler)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (handler);

  return gst_dccp_thin_end_get_uri (&self->end);
}

static gboolean
set_uri (GstURIHandler * handler, const gchar * uri, GError ** error)
{
  return gst_dccp_thin_set_uri (GST_ELEMENT (handler), uri, "bind-address",
      error);
}

static void
gst_dccp_thin_sink_uri_handler_init (gpointer interface, gpointer data)
{
  GstURIHandlerInterface *handler = interface;

  handler->get_type = get_uri_type;
  handler->get_protocols = get_protocols;
  handler->get_uri = get_uri;
  handler->set_uri = set_uri;
}

/* --- properties ----------------------------------------------------------- */

static void
gst_dccp_thin_sink_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (object);

  if (id == PROP_URI) {
    gst_network_uri_set_property (GST_URI_HANDLER (self),
        g_value_get_string (value));
    return;
  }
  LOCK (self);
  if (id == PROP_REQUEST_KEY_UNITS)
    self->request_key_units = g_value_get_boolean (value);
  else
    gst_dccp_thin_settings_set (&self->end.settings, id, value);
  UNLOCK (self);
}

static void
gst_dccp_thin_sink_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (object);

  if (id == PROP_URI) {
    g_value_take_string (value, get_uri (GST_URI_HANDLER (self)));
    return;
  }
  LOCK (self);
  if (id == PROP_REQUEST_KEY_UNITS)
    g_value_set_boolean (value, self->request_key_units);
  else if (id == PROP_ESTIMATED_BITRATE)
    g_value_set_uint (value, self->estimated_bitrate);
  else
    gst_dccp_thin_end_get_property (&self->end, id, value);
  UNLOCK (self);
}

/* --- life ----------------------------------------------------------------- */

static void
reset (GstDccpThinSink * self)
{
  LOCK (self);
  gst_dccp_thin_end_reset_stats (&self->end);
  self->estimated_bitrate = 0;
  memset (self->dropped, 0, sizeof (self->dropped));
  self->key_unit_asked_at = 0;
  self->has_delta_units = FALSE;
  UNLOCK (self);
}

static GstStateChangeReturn
gst_dccp_thin_sink_change_state (GstElement * element,
    GstStateChange transition)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (element);
  GstStateChangeReturn done;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    reset (self);
    if (!gst_dccp_thin_sink_listen (self))
      return GST_STATE_CHANGE_FAILURE;
  }
  done = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && done == GST_STATE_CHANGE_FAILURE))
    gst_dccp_thin_end_close (&self->end);
  return done;
}

static void
gst_dccp_thin_sink_init (GstDccpThinSink * self)
{
  static const GstDccpThinEndFuncs funcs = {
    .take_event = gst_dccp_thin_sink_take_event,
    .unlock_and_tell = gst_dccp_thin_sink_unlock_and_tell,
    .get_wakeup = gst_dccp_thin_sink_get_wakeup,
    .longest = LONGEST_INPUT,
    .category = &gst_dccp_thin_sink_debug,
  };

  gst_dccp_thin_end_init (&self->end, &funcs, self, GST_DCCP_THIN_MODE_CONNECT);
  self->request_key_units = DEFAULT_REQUEST_KEY_UNITS;
  gst_waker_init (&self->room);
}

static void
gst_dccp_thin_sink_finalize (GObject * object)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (object);

  gst_waker_clear (&self->room);
  gst_dccp_thin_end_clear (&self->end);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * object_class)
{
  gst_dccp_thin_install_properties (object_class, TRUE);
  g_object_class_install_property (object_class, PROP_URI,
      g_param_spec_string ("uri", "URI", "dccpthin://host:port?property=value&"
          "...; it reads as dccpthin://host:port", "dccpthin://localhost:5004",
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
          GST_PARAM_MUTABLE_READY));

  /**
   * GstDccpThinSink:request-key-units:
   *
   * DCCP sends nothing twice: what refers to an I-frame that was lost is of no
   * use. With this an encoder that can is asked for a new one, at most once a
   * second.
   */
  g_object_class_install_property (object_class, PROP_REQUEST_KEY_UNITS,
      g_param_spec_boolean ("request-key-units", "Request key units",
          "Ask upstream for a key frame when a part of one was lost, or thrown "
          "away by the receiver",
          DEFAULT_REQUEST_KEY_UNITS, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_MUTABLE_PLAYING));

  /**
   * GstDccpThinSink:estimated-bitrate:
   *
   * The rate that TFRC allows, of payload: the rate for an encoder. It notifies
   * when it changes by a tenth, at most each 200 ms.
   */
  estimated_bitrate_property = g_param_spec_uint ("estimated-bitrate",
      "Estimated bit rate",
      "Bits per second that the path carries; 0: not known yet", 0, G_MAXUINT,
      0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property (object_class, PROP_ESTIMATED_BITRATE,
      estimated_bitrate_property);
}

static void
gst_dccp_thin_sink_class_init (GstDccpThinSinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);
  GstNetworkSinkClass *network_class = GST_NETWORK_SINK_CLASS (klass);

  object_class->set_property = gst_dccp_thin_sink_set_property;
  object_class->get_property = gst_dccp_thin_sink_get_property;
  object_class->finalize = gst_dccp_thin_sink_finalize;
  element_class->change_state = gst_dccp_thin_sink_change_state;
  sink_class->render = gst_dccp_thin_sink_render;
  sink_class->render_list = gst_dccp_thin_sink_render_list;
  network_class->refusals_pass = TRUE;
  network_class->stats_name = "application/x-dccpthinsink-stats";
  network_class->describe = gst_dccp_thin_sink_describe;
  network_class->connect = gst_dccp_thin_sink_connect;
  network_class->watch = gst_dccp_thin_sink_watch;
  network_class->disconnect = gst_dccp_thin_sink_disconnect;
  network_class->send_packets = gst_dccp_thin_sink_send_packets;
  network_class->wait = gst_dccp_thin_sink_wait;
  network_class->drain = gst_dccp_thin_sink_drain;
  network_class->fill_stats = gst_dccp_thin_sink_fill_stats;

  install_properties (object_class);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "DCCP sink",
      "Sink/Network",
      "Sends over DCCP with CCID 3-Thin, at a rate that is fair " "on the path",
      "The gst-plugins-wireless authors");
}
