/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-udplitesink
 * @title: udplitesink
 * @short_description: Sends packets over UDP-Lite (RFC 3828)
 *
 * As #GstUDPSink (udpsink), but over UDP-Lite: the checksum covers what must
 * arrive whole, and a packet that the network damaged behind that is delivered
 * instead of lost. By default (coverage-mode=headers) it covers, packet by
 * packet, the headers of UDP-Lite, of RTP and of the video: R. Singh et al.,
 * "Wireless Multimedia Streaming" (2000), section 8, unequal protection.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! rfc2250pay ! udplitesink host=127.0.0.1 port=5004
 * ]|
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstudplitesinkprivate.h"

#include <string.h>

#include "gstnetworkuri.h"

GST_DEBUG_CATEGORY (gst_udplite_sink_debug);
#define GST_CAT_DEFAULT gst_udplite_sink_debug

#define DEFAULT_HOST "localhost"
#define DEFAULT_PORT 5004
#define DEFAULT_BACKEND UDPLITE_BACKEND_AUTO
#define DEFAULT_COVERAGE_MODE GST_UDPLITE_COVERAGE_HEADERS
#define DEFAULT_CHECKSUM_COVERAGE 0
#define DEFAULT_BIND_PORT 0
#define DEFAULT_BUFFER_SIZE 0
#define DEFAULT_TTL 64
#define DEFAULT_TTL_MC 1
#define DEFAULT_LOOP TRUE
#define DEFAULT_AUTO_MULTICAST TRUE
#define DEFAULT_QOS_DSCP -1
#define DEFAULT_CLOSE_SOCKET TRUE
#define DEFAULT_SEND_DUPLICATES TRUE

enum
{
  PROP_0,
  PROP_HOST,
  PROP_PORT,
  PROP_URI,
  PROP_CLIENTS,
  PROP_BACKEND,
  PROP_COVERAGE_MODE,
  PROP_CHECKSUM_COVERAGE,
  PROP_BIND_ADDRESS,
  PROP_BIND_PORT,
  PROP_BUFFER_SIZE,
  PROP_TTL,
  PROP_TTL_MC,
  PROP_LOOP,
  PROP_AUTO_MULTICAST,
  PROP_MULTICAST_IFACE,
  PROP_QOS_DSCP,
  PROP_SOCKET,
  PROP_SOCKET_V6,
  PROP_USED_SOCKET,
  PROP_USED_SOCKET_V6,
  PROP_CLOSE_SOCKET,
  PROP_SEND_DUPLICATES,
  PROP_BYTES_TO_SERVE,
  PROP_BYTES_SERVED,
  PROP_LAST
};

static GParamSpec *properties[PROP_LAST];

enum
{
  SIGNAL_ADD,
  SIGNAL_REMOVE,
  SIGNAL_CLEAR,
  SIGNAL_GET_STATS,
  SIGNAL_CLIENT_ADDED,
  SIGNAL_CLIENT_REMOVED,
  SIGNAL_LAST
};

static guint signals[SIGNAL_LAST];

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void gst_udplite_sink_uri_handler_init (gpointer interface,
    gpointer data);

#define gst_udplite_sink_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstUdpliteSink, gst_udplite_sink,
    GST_TYPE_NETWORK_SINK,
    G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER,
        gst_udplite_sink_uri_handler_init);
    GST_DEBUG_CATEGORY_INIT (gst_udplite_sink_debug, "udplitesink", 0,
        "UDP-Lite sink"));
GST_ELEMENT_REGISTER_DEFINE (udplitesink, "udplitesink", GST_RANK_NONE,
    GST_TYPE_UDPLITE_SINK);

static guint64
get_now (void)
{
  return g_get_real_time () * GST_USECOND;
}

/* --- receivers ------------------------------------------------------------ */

static void
add_client (GstUdpliteSink * self, const gchar * host, gint port)
{
  UdpliteClient *client;
  guint64 id;

  if (!host || port < 0 || port > G_MAXUINT16) {
    GST_WARNING_OBJECT (self, "%s:%d can't be a receiver", host ? host : "",
        port);
    return;
  }
  LOCK (self);
  client = udplite_clients_add (self->clients, host, port, get_now ());
  id = client->id;
  UNLOCK (self);
  gst_udplite_sink_prepare_client (self, id);
  g_signal_emit (self, signals[SIGNAL_CLIENT_ADDED], 0, host, port);
}

static void
remove_client (GstUdpliteSink * self, const gchar * host, gint port)
{
  UdpliteClient *client;
  gboolean removed;

  if (!host || port < 0 || port > G_MAXUINT16) {
    GST_WARNING_OBJECT (self, "%s:%d is no receiver", host ? host : "", port);
    return;
  }
  LOCK (self);
  client = udplite_clients_find (self->clients, host, port);
  if (client && client->times == 1)
    gst_udplite_sink_leave_group (self, client);
  removed = udplite_clients_remove (self->clients, host, port, get_now ());
  UNLOCK (self);
  if (removed)
    g_signal_emit (self, signals[SIGNAL_CLIENT_REMOVED], 0, host, port);
  else
    GST_WARNING_OBJECT (self, "%s:%d is no receiver", host, port);
}

/* FALSE: there is none */
static gboolean
get_first_client (GstUdpliteSink * self, gchar ** host, gint * port)
{
  gboolean there;

  LOCK (self);
  there = udplite_clients_get_number (self->clients) > 0;
  if (there) {
    *host = g_strdup (udplite_clients_get (self->clients, 0)->host);
    *port = udplite_clients_get (self->clients, 0)->port;
  }
  UNLOCK (self);
  return there;
}

static void
clear_clients (GstUdpliteSink * self)
{
  gchar *host;
  gint port;

  while (get_first_client (self, &host, &port)) {
    remove_client (self, host, port);
    g_free (host);
  }
}

/* The receiver that host and port say, in place of that which they said. NULL, -1:
 * as it is */
static void
set_main_client (GstUdpliteSink * self, const gchar * host, gint port)
{
  gchar *old_host, *new_host;
  gint old_port, new_port;
  gboolean there;

  LOCK (self);
  old_host = self->host;
  old_port = self->port;
  new_host = g_strdup (host ? host : old_host);
  new_port = port >= 0 ? port : old_port;
  self->host = g_strdup (new_host);
  self->port = new_port;
  there = udplite_clients_find (self->clients, old_host, old_port) != NULL;
  UNLOCK (self);
  if (there)
    remove_client (self, old_host, old_port);
  add_client (self, new_host, new_port);
  g_free (old_host);
  g_free (new_host);
}

static void
set_clients (GstUdpliteSink * self, const gchar * text)
{
  gchar **clients = g_strsplit (text ? text : "", ",", -1);
  guint16 port;
  gchar *host;
  guint i;

  clear_clients (self);
  for (i = 0; clients[i]; i++) {
    g_strstrip (clients[i]);
    if (!*clients[i])
      continue;
    if (!udplite_clients_parse (clients[i], DEFAULT_PORT, &host, &port)) {
      GST_WARNING_OBJECT (self, "clients: \"%s\" is no host:port", clients[i]);
      continue;
    }
    add_client (self, host, port);
    g_free (host);
  }
  g_strfreev (clients);
}

static GstStructure *
get_client_stats (GstUdpliteSink * self, const gchar * host, gint port)
{
  GstStructure *stats = gst_structure_new_empty ("multiudpsink-stats");
  const UdpliteClient *client;

  if (!host || port < 0 || port > G_MAXUINT16)
    return stats;
  LOCK (self);
  client = udplite_clients_find (self->clients, host, port);
  if (!client)
    client = udplite_clients_find_removed (self->clients, host, port);
  if (client)
    gst_structure_set (stats, "bytes-sent", G_TYPE_UINT64, client->bytes_sent,
        "packets-sent", G_TYPE_UINT64, client->packets_sent,
        "connect-time", G_TYPE_UINT64, client->added_at,
        "disconnect-time", G_TYPE_UINT64, client->removed_at,
        "errors", G_TYPE_UINT64, client->errors, NULL);
  UNLOCK (self);
  return stats;
}

/* --- what the base class asks --------------------------------------------- */

static gchar *
gst_udplite_sink_describe (GstNetworkSink * sink)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);
  gchar *text;

  LOCK (self);
  text = udplite_clients_to_string (self->clients);
  UNLOCK (self);
  return text;
}

static gboolean
gst_udplite_sink_set_caps (GstBaseSink * sink, GstCaps * caps)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);

  LOCK (self);
  self->coverage.format = gst_udplite_format_from_caps (caps);
  UNLOCK (self);
  return TRUE;
}

static const gchar *
get_backend_name (GstUdpliteSink * self)
{
  guint i;

  for (i = 0; i < FAMILY_LAST; i++) {
    if (self->sockets[i])
      return udplite_backend_get_name (udplite_socket_get_backend
          (self->sockets[i]));
  }
  return "";
}

static void
gst_udplite_sink_fill_stats (GstNetworkSink * sink, GstStructure * stats)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);

  LOCK (self);
  gst_structure_set (stats,
      "backend", G_TYPE_STRING, get_backend_name (self),
      "receivers", G_TYPE_UINT,
      udplite_clients_get_number (self->clients),
      "send-errors", G_TYPE_UINT64, self->send_errors, NULL);
  UNLOCK (self);
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
  static const gchar *protocols[] = { GST_UDPLITE_SCHEME, NULL };

  return protocols;
}

static gchar *
get_uri (GstURIHandler * handler)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (handler);
  gchar *uri;

  LOCK (self);
  uri = gst_network_uri_new (GST_UDPLITE_SCHEME, self->host, self->port);
  UNLOCK (self);
  return uri;
}

static gboolean
set_uri (GstURIHandler * handler, const gchar * uri, GError ** error)
{
  return gst_network_uri_apply (GST_ELEMENT (handler), GST_UDPLITE_SCHEME, uri,
      "host", error);
}

static void
gst_udplite_sink_uri_handler_init (gpointer interface, gpointer data)
{
  GstURIHandlerInterface *handler = interface;

  handler->get_type = get_uri_type;
  handler->get_protocols = get_protocols;
  handler->get_uri = get_uri;
  handler->set_uri = set_uri;
}

/* --- properties ----------------------------------------------------------- */

/* What may be changed while the sockets are open reaches them at once. */
static void
set_option (GstUdpliteSink * self, guint id, const GValue * value)
{
  SocketOptions *options = &self->options;

  switch (id) {
    case PROP_BACKEND:
      options->backend = g_value_get_enum (value);
      break;
    case PROP_BIND_ADDRESS:
      g_free (options->bind_address);
      options->bind_address = g_value_dup_string (value);
      break;
    case PROP_BIND_PORT:
      options->bind_port = g_value_get_int (value);
      break;
    case PROP_BUFFER_SIZE:
      options->buffer_size = g_value_get_int (value);
      break;
    case PROP_TTL:
      options->ttl = g_value_get_int (value);
      break;
    case PROP_TTL_MC:
      options->ttl_mc = g_value_get_int (value);
      break;
    case PROP_LOOP:
      options->loop = g_value_get_boolean (value);
      break;
    case PROP_AUTO_MULTICAST:
      options->auto_multicast = g_value_get_boolean (value);
      break;
    case PROP_MULTICAST_IFACE:
      g_free (options->multicast_iface);
      options->multicast_iface = g_value_dup_string (value);
      break;
    case PROP_QOS_DSCP:
      options->qos_dscp = g_value_get_int (value);
      break;
  }
  gst_udplite_sink_apply_options (self);
}

static void
set_locked_property (GstUdpliteSink * self, guint id, const GValue * value)
{
  switch (id) {
    case PROP_COVERAGE_MODE:
      self->coverage.mode = g_value_get_enum (value);
      break;
    case PROP_CHECKSUM_COVERAGE:
      self->coverage.fixed = g_value_get_uint (value);
      break;
    case PROP_SOCKET:
      g_set_object (&self->given[FAMILY_V4], g_value_get_object (value));
      break;
    case PROP_SOCKET_V6:
      g_set_object (&self->given[FAMILY_V6], g_value_get_object (value));
      break;
    case PROP_CLOSE_SOCKET:
      self->close_socket = g_value_get_boolean (value);
      break;
    case PROP_SEND_DUPLICATES:
      self->send_duplicates = g_value_get_boolean (value);
      break;
    default:
      set_option (self, id, value);
      break;
  }
}

static void
gst_udplite_sink_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (object);
  const gchar *host;
  GError *error = NULL;

  switch (id) {
    case PROP_HOST:
      host = g_value_get_string (value);
      set_main_client (self, host ? host : DEFAULT_HOST, -1);
      return;
    case PROP_PORT:
      set_main_client (self, NULL, g_value_get_int (value));
      return;
    case PROP_CLIENTS:
      set_clients (self, g_value_get_string (value));
      return;
    case PROP_URI:
      if (!set_uri (GST_URI_HANDLER (self), g_value_get_string (value), &error))
        GST_WARNING_OBJECT (self, "%s", error->message);
      g_clear_error (&error);
      return;
    default:
      LOCK (self);
      set_locked_property (self, id, value);
      UNLOCK (self);
      return;
  }
}

/* Of each packet once, whatever became of it */
static guint64
get_bytes_to_serve (GstUdpliteSink * self)
{
  GstStructure *stats = gst_network_sink_create_stats (GST_NETWORK_SINK (self));
  guint64 sent = 0, dropped = 0;

  gst_structure_get (stats, "bytes-sent", G_TYPE_UINT64, &sent,
      "bytes-dropped", G_TYPE_UINT64, &dropped, NULL);
  gst_structure_free (stats);
  return sent + dropped;
}

static void
take_used_socket (GstUdpliteSink * self, Family family, GValue * value)
{
  if (self->sockets[family])
    g_value_set_object (value,
        udplite_socket_get_socket (self->sockets[family]));
}

static void
gst_udplite_sink_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (object);
  const SocketOptions *options = &self->options;

  if (id == PROP_URI) {
    g_value_take_string (value, get_uri (GST_URI_HANDLER (self)));
    return;
  }
  if (id == PROP_BYTES_TO_SERVE) {
    g_value_set_uint64 (value, get_bytes_to_serve (self));
    return;
  }
  LOCK (self);
  switch (id) {
    case PROP_HOST:
      g_value_set_string (value, self->host);
      break;
    case PROP_PORT:
      g_value_set_int (value, self->port);
      break;
    case PROP_CLIENTS:
      g_value_take_string (value, udplite_clients_to_string (self->clients));
      break;
    case PROP_BACKEND:
      g_value_set_enum (value, options->backend);
      break;
    case PROP_COVERAGE_MODE:
      g_value_set_enum (value, self->coverage.mode);
      break;
    case PROP_CHECKSUM_COVERAGE:
      g_value_set_uint (value, self->coverage.fixed);
      break;
    case PROP_BIND_ADDRESS:
      g_value_set_string (value, options->bind_address);
      break;
    case PROP_BIND_PORT:
      g_value_set_int (value, options->bind_port);
      break;
    case PROP_BUFFER_SIZE:
      g_value_set_int (value, options->buffer_size);
      break;
    case PROP_TTL:
      g_value_set_int (value, options->ttl);
      break;
    case PROP_TTL_MC:
      g_value_set_int (value, options->ttl_mc);
      break;
    case PROP_LOOP:
      g_value_set_boolean (value, options->loop);
      break;
    case PROP_AUTO_MULTICAST:
      g_value_set_boolean (value, options->auto_multicast);
      break;
    case PROP_MULTICAST_IFACE:
      g_value_set_string (value, options->multicast_iface);
      break;
    case PROP_QOS_DSCP:
      g_value_set_int (value, options->qos_dscp);
      break;
    case PROP_SOCKET:
      g_value_set_object (value, self->given[FAMILY_V4]);
      break;
    case PROP_SOCKET_V6:
      g_value_set_object (value, self->given[FAMILY_V6]);
      break;
    case PROP_USED_SOCKET:
      take_used_socket (self, FAMILY_V4, value);
      break;
    case PROP_USED_SOCKET_V6:
      take_used_socket (self, FAMILY_V6, value);
      break;
    case PROP_CLOSE_SOCKET:
      g_value_set_boolean (value, self->close_socket);
      break;
    case PROP_SEND_DUPLICATES:
      g_value_set_boolean (value, self->send_duplicates);
      break;
    case PROP_BYTES_SERVED:
      g_value_set_uint64 (value, self->bytes_served);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  UNLOCK (self);
}

/* --- life ----------------------------------------------------------------- */

/* As udpsink: the application's sockets are closed where nothing can follow. */
static void
close_given_sockets (GstUdpliteSink * self)
{
  guint i;

  LOCK (self);
  for (i = 0; i < FAMILY_LAST; i++) {
    if (self->given[i] && self->close_socket)
      g_socket_close (self->given[i], NULL);
  }
  UNLOCK (self);
}

static GstStateChangeReturn
gst_udplite_sink_change_state (GstElement * element, GstStateChange transition)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (element);
  GstStateChangeReturn done;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    LOCK (self);
    self->send_errors = self->bytes_served = 0;
    self->warned_at = 0;
    /* until there are caps again */
    self->coverage.format = UDPLITE_FORMAT_UNKNOWN;
    UNLOCK (self);
  }
  done = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    close_given_sockets (self);
  return done;
}

/* --- object --------------------------------------------------------------- */

static void
gst_udplite_sink_init (GstUdpliteSink * self)
{
  g_mutex_init (&self->lock);
  self->clients = udplite_clients_new ();
  self->packets = gst_udplite_packets_new ();
  self->host = g_strdup (DEFAULT_HOST);
  self->port = DEFAULT_PORT;
  udplite_clients_add (self->clients, self->host, self->port, get_now ());
  self->options.backend = DEFAULT_BACKEND;
  self->options.bind_port = DEFAULT_BIND_PORT;
  self->options.buffer_size = DEFAULT_BUFFER_SIZE;
  self->options.ttl = DEFAULT_TTL;
  self->options.ttl_mc = DEFAULT_TTL_MC;
  self->options.loop = DEFAULT_LOOP;
  self->options.auto_multicast = DEFAULT_AUTO_MULTICAST;
  self->options.qos_dscp = DEFAULT_QOS_DSCP;
  self->close_socket = DEFAULT_CLOSE_SOCKET;
  self->send_duplicates = DEFAULT_SEND_DUPLICATES;
  self->coverage.mode = DEFAULT_COVERAGE_MODE;
  self->coverage.fixed = DEFAULT_CHECKSUM_COVERAGE;
}

static void
gst_udplite_sink_finalize (GObject * object)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (object);
  guint i;

  gst_clear_buffer (&self->resume_at);
  for (i = 0; i < FAMILY_LAST; i++)
    g_clear_object (&self->given[i]);
  udplite_clients_free (self->clients);
  gst_udplite_packets_free (self->packets);
  g_free (self->host);
  g_free (self->options.bind_address);
  g_free (self->options.multicast_iface);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_signals (GType type)
{
  const GSignalFlags action = G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION;

  /* The receiver gets what comes from now on; added twice, all of it twice. */
  signals[SIGNAL_ADD] = g_signal_new_class_handler ("add", type, action,
      G_CALLBACK (add_client), NULL, NULL, NULL, G_TYPE_NONE, 2,
      G_TYPE_STRING, G_TYPE_INT);
  signals[SIGNAL_REMOVE] = g_signal_new_class_handler ("remove", type, action,
      G_CALLBACK (remove_client), NULL, NULL, NULL, G_TYPE_NONE, 2,
      G_TYPE_STRING, G_TYPE_INT);
  signals[SIGNAL_CLEAR] = g_signal_new_class_handler ("clear", type, action,
      G_CALLBACK (clear_clients), NULL, NULL, NULL, G_TYPE_NONE, 0);
  /* bytes-sent, packets-sent, connect-time, disconnect-time (ns since 1970; 0:
   * it is still there), errors; empty: nothing is known of it */
  signals[SIGNAL_GET_STATS] = g_signal_new_class_handler ("get-stats", type,
      action, G_CALLBACK (get_client_stats), NULL, NULL, NULL,
      GST_TYPE_STRUCTURE, 2, G_TYPE_STRING, G_TYPE_INT);
  signals[SIGNAL_CLIENT_ADDED] = g_signal_new ("client-added", type,
      G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_STRING,
      G_TYPE_INT);
  signals[SIGNAL_CLIENT_REMOVED] = g_signal_new ("client-removed", type,
      G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_STRING,
      G_TYPE_INT);
}

static void
install_receiver_properties (GParamFlags playing)
{
  properties[PROP_HOST] = g_param_spec_string ("host", "Host",
      "Host name or IP address of the receiver, or a multicast group",
      DEFAULT_HOST, playing);
  properties[PROP_PORT] = g_param_spec_int ("port", "Port",
      "UDP-Lite port of the receiver", 0, 65535, DEFAULT_PORT, playing);
  properties[PROP_URI] = g_param_spec_string ("uri", "URI",
      "udplite://host:port?property=value&...", NULL,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_CLIENTS] = g_param_spec_string ("clients", "Clients",
      "All receivers, as a comma separated list of host:port", NULL, playing);
  properties[PROP_SEND_DUPLICATES] = g_param_spec_boolean ("send-duplicates",
      "Send duplicates", "A receiver that was added several times gets each "
      "packet as many times", DEFAULT_SEND_DUPLICATES, playing);
  properties[PROP_BYTES_TO_SERVE] = g_param_spec_uint64 ("bytes-to-serve",
      "Bytes to serve", "Bytes that came to be sent, each once", 0, G_MAXUINT64,
      0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  properties[PROP_BYTES_SERVED] =
      g_param_spec_uint64 ("bytes-served", "Bytes served",
      "Bytes that were sent, to all receivers", 0, G_MAXUINT64, 0,
      G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

static void
install_coverage_properties (GParamFlags playing)
{
  /**
   * GstUdpliteSink:coverage-mode:
   *
   * What the checksum covers of each packet. `headers`: the header of UDP-Lite,
   * that of RTP, and what the payloader marked or the payload's format says
   * (MPEG-1/2 video, H.263); all of a packet whose format isn't known.
   */
  properties[PROP_COVERAGE_MODE] = g_param_spec_enum ("coverage-mode",
      "Coverage mode", "What the checksum covers of each packet",
      GST_TYPE_UDPLITE_COVERAGE_MODE, DEFAULT_COVERAGE_MODE, playing);
  properties[PROP_CHECKSUM_COVERAGE] = g_param_spec_uint ("checksum-coverage",
      "Checksum coverage", "Bytes that the checksum covers with "
      "coverage-mode=fixed, from the first of the UDP-Lite header on: at least "
      "its 8; 0: all", 0, 65535, DEFAULT_CHECKSUM_COVERAGE, playing);
}

static void
install_socket_properties (GParamFlags ready, GParamFlags playing)
{
  const GParamFlags used = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  properties[PROP_BACKEND] = g_param_spec_enum ("backend", "Backend",
      "How UDP-Lite is sent; auto: the first of the others that works",
      GST_TYPE_UDPLITE_BACKEND, DEFAULT_BACKEND, ready);
  properties[PROP_BIND_ADDRESS] = g_param_spec_string ("bind-address",
      "Bind address", "IP address of our own to send from", NULL, ready);
  properties[PROP_BIND_PORT] = g_param_spec_int ("bind-port", "Bind port",
      "Port of our own to send from (0: any)", 0, 65535, DEFAULT_BIND_PORT,
      ready);
  properties[PROP_BUFFER_SIZE] = g_param_spec_int ("buffer-size",
      "Buffer size", "Bytes that may wait in the kernel (0: the system's "
      "default)", 0, G_MAXINT, DEFAULT_BUFFER_SIZE, playing);
  properties[PROP_TTL] = g_param_spec_int ("ttl", "Unicast TTL",
      "Routers that a packet may pass", 0, 255, DEFAULT_TTL, playing);
  properties[PROP_TTL_MC] = g_param_spec_int ("ttl-mc", "Multicast TTL",
      "Routers that a packet to a multicast group may pass", 0, 255,
      DEFAULT_TTL_MC, playing);
  properties[PROP_LOOP] = g_param_spec_boolean ("loop", "Multicast loopback",
      "Receivers on this host get what is sent to a multicast group",
      DEFAULT_LOOP, playing);
  properties[PROP_AUTO_MULTICAST] = g_param_spec_boolean ("auto-multicast",
      "Auto multicast", "Join the multicast groups that are sent to",
      DEFAULT_AUTO_MULTICAST, ready);
  properties[PROP_MULTICAST_IFACE] = g_param_spec_string ("multicast-iface",
      "Multicast interface", "Network interface for multicast", NULL, ready);
  properties[PROP_QOS_DSCP] = g_param_spec_int ("qos-dscp", "QoS DSCP",
      "Differentiated services code point of the packets (-1: the system's)",
      -1, 63, DEFAULT_QOS_DSCP, playing);
  properties[PROP_SOCKET] = g_param_spec_object ("socket", "Socket",
      "UDP-Lite socket to send from to IPv4 addresses (NULL: our own)",
      G_TYPE_SOCKET, ready);
  properties[PROP_SOCKET_V6] = g_param_spec_object ("socket-v6", "Socket IPv6",
      "UDP-Lite socket to send from to IPv6 addresses (NULL: our own)",
      G_TYPE_SOCKET, ready);
  properties[PROP_USED_SOCKET] = g_param_spec_object ("used-socket",
      "Used socket", "Socket that is in use for IPv4", G_TYPE_SOCKET, used);
  properties[PROP_USED_SOCKET_V6] = g_param_spec_object ("used-socket-v6",
      "Used socket IPv6", "Socket that is in use for IPv6", G_TYPE_SOCKET,
      used);
  properties[PROP_CLOSE_SOCKET] = g_param_spec_boolean ("close-socket",
      "Close socket", "Close the sockets that were given, on the way to NULL",
      DEFAULT_CLOSE_SOCKET, playing);
}

static void
gst_udplite_sink_class_init (GstUdpliteSinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNetworkSinkClass *network_class = GST_NETWORK_SINK_CLASS (klass);
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  object_class->set_property = gst_udplite_sink_set_property;
  object_class->get_property = gst_udplite_sink_get_property;
  object_class->finalize = gst_udplite_sink_finalize;
  element_class->change_state = gst_udplite_sink_change_state;
  GST_BASE_SINK_CLASS (klass)->set_caps = gst_udplite_sink_set_caps;
  network_class->connectionless = TRUE;
  network_class->stats_name = "application/x-udplitesink-stats";
  network_class->describe = gst_udplite_sink_describe;
  network_class->connect = gst_udplite_sink_connect;
  network_class->watch = gst_udplite_sink_watch;
  network_class->disconnect = gst_udplite_sink_disconnect;
  network_class->send_packets = gst_udplite_sink_send_packets;
  network_class->wait = gst_udplite_sink_wait;
  network_class->fill_stats = gst_udplite_sink_fill_stats;

  install_receiver_properties (playing);
  install_coverage_properties (playing);
  install_socket_properties (ready, playing);
  g_object_class_install_properties (object_class, PROP_LAST, properties);
  install_signals (G_TYPE_FROM_CLASS (klass));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "UDP-Lite sink",
      "Sink/Network",
      "Sends packets over UDP-Lite, and protects the bytes that matter",
      "The gst-plugins-wireless authors");
}
