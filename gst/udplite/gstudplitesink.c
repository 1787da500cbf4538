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
 *
 * Since: 0.1
 */

#include "gstudplitesinkprivate.h"

#include <string.h>

#include "gstnetworkuri.h"

GST_DEBUG_CATEGORY (gst_udplite_sink_debug);
#define GST_CAT_DEFAULT gst_udplite_sink_debug

#define DEFAULT_HOST "localhost"
#define DEFAULT_PORT 5004

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

#define gst_udplite_sink_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstUdpliteSink, gst_udplite_sink,
    GST_TYPE_NETWORK_SINK, GST_IMPLEMENT_NETWORK_URI;
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
  GST_DEBUG_OBJECT (self, "added receiver %s:%d", host, port);
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
  if (!removed) {
    GST_WARNING_OBJECT (self, "%s:%d is no receiver", host, port);
    return;
  }
  GST_DEBUG_OBJECT (self, "removed receiver %s:%d", host, port);
  g_signal_emit (self, signals[SIGNAL_CLIENT_REMOVED], 0, host, port);
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

/* --- properties ----------------------------------------------------------- */

static void
set_host (gpointer object, const GValue * value, GParamSpec * pspec)
{
  const gchar *host = g_value_get_string (value);

  set_main_client (object, host ? host : DEFAULT_HOST, -1);
}

static void
set_port (gpointer object, const GValue * value, GParamSpec * pspec)
{
  set_main_client (object, NULL, g_value_get_int (value));
}

static void
set_clients_property (gpointer object, const GValue * value, GParamSpec * pspec)
{
  set_clients (object, g_value_get_string (value));
}

static void
get_clients (gpointer object, GValue * value, GParamSpec * pspec)
{
  g_value_take_string (value, gst_udplite_sink_describe (object));
}

/* Of each packet once, whatever became of it */
static void
get_bytes_to_serve (gpointer object, GValue * value, GParamSpec * pspec)
{
  GstStructure *stats = gst_network_sink_create_stats (object);
  guint64 sent = 0, dropped = 0;

  gst_structure_get (stats, "bytes-sent", G_TYPE_UINT64, &sent,
      "bytes-dropped", G_TYPE_UINT64, &dropped, NULL);
  gst_structure_free (stats);
  g_value_set_uint64 (value, sent + dropped);
}

static void
take_used_socket (GstUdpliteSink * self, Family family, GValue * value)
{
  LOCK (self);
  if (self->sockets[family])
    g_value_set_object (value,
        udplite_socket_get_socket (self->sockets[family]));
  UNLOCK (self);
}

static void
get_used_socket (gpointer object, GValue * value, GParamSpec * pspec)
{
  take_used_socket (object, FAMILY_V4, value);
}

static void
get_used_socket_v6 (gpointer object, GValue * value, GParamSpec * pspec)
{
  take_used_socket (object, FAMILY_V6, value);
}

/* What may be changed while the sockets are open reaches them at once. */
static void
apply_options (gpointer object)
{
  gst_udplite_sink_apply_options (object);
}

#define PROPERTY_STRUCT GstUdpliteSink
static const GstWirelessProperty properties[] = {
  PROPERTY_STRING ("host", "Host",
      "Host name or IP address of the receiver, or a multicast group",
      PROPERTY_PLAYING | PROPERTY_URI, host, DEFAULT_HOST,
      .set = set_host),
  PROPERTY_INT ("port", "Port", "UDP-Lite port of the receiver",
      PROPERTY_PLAYING | PROPERTY_URI, port, 0, 65535, DEFAULT_PORT,
      .set = set_port),
  PROPERTY_NETWORK_URI ("udplite://host:port?property=value&...", NULL),
  PROPERTY_COMPUTED ("clients", "Clients",
      "All receivers, as a comma separated list of host:port",
      PROPERTY_PLAYING, G_TYPE_STRING,
      .set = set_clients_property,
      .get = get_clients),
  PROPERTY_BOOLEAN ("send-duplicates", "Send duplicates",
      "A receiver that was added several times gets each packet as many times",
      PROPERTY_PLAYING, send_duplicates, TRUE),
  PROPERTY_COMPUTED ("bytes-to-serve", "Bytes to serve",
      "Bytes that came to be sent, each once", PROPERTY_READABLE, G_TYPE_UINT64,
      .maximum = G_MAXUINT64,
      .get = get_bytes_to_serve),
  PROPERTY_UINT64 ("bytes-served", "Bytes served",
      "Bytes that were sent, to all receivers", PROPERTY_READABLE, bytes_served,
      0, G_MAXUINT64, 0),

  /**
   * GstUdpliteSink:coverage-mode:
   *
   * What the checksum covers of each packet. `headers`: the header of UDP-Lite,
   * that of RTP, and what the payloader marked or the payload's format says
   * (MPEG-1/2 video, H.263); all of a packet whose format isn't known.
   */
  PROPERTY_ENUM ("coverage-mode", "Coverage mode",
      "What the checksum covers of each packet",
      PROPERTY_PLAYING | PROPERTY_URI, coverage.mode,
      gst_udplite_coverage_mode_get_type, GST_UDPLITE_COVERAGE_HEADERS),
  PROPERTY_UINT ("checksum-coverage", "Checksum coverage",
      "Bytes that the checksum covers with coverage-mode=fixed, from the first "
      "of the UDP-Lite header on: at least its 8; 0: all",
      PROPERTY_PLAYING | PROPERTY_URI, coverage.fixed, 0, 65535, 0),

  PROPERTY_ENUM ("backend", "Backend",
      "How UDP-Lite is sent; auto: the first of the others that works",
      PROPERTY_READY | PROPERTY_URI, options.backend,
      gst_udplite_backend_get_type, UDPLITE_BACKEND_AUTO,
      .changed = apply_options),
  PROPERTY_STRING ("bind-address", "Bind address",
      "IP address of our own to send from", PROPERTY_READY | PROPERTY_URI,
      options.bind_address, NULL,
      .changed = apply_options),
  PROPERTY_INT ("bind-port", "Bind port",
      "Port of our own to send from (0: any)", PROPERTY_READY | PROPERTY_URI,
      options.bind_port, 0, 65535, 0,
      .changed = apply_options),
  PROPERTY_INT ("buffer-size", "Buffer size",
      "Bytes that may wait in the kernel (0: the system's default)",
      PROPERTY_PLAYING, options.buffer_size, 0, G_MAXINT, 0,
      .changed = apply_options),
  PROPERTY_INT ("ttl", "Unicast TTL", "Routers that a packet may pass",
      PROPERTY_PLAYING | PROPERTY_URI, options.ttl, 0, 255, 64,
      .changed = apply_options),
  PROPERTY_INT ("ttl-mc", "Multicast TTL",
      "Routers that a packet to a multicast group may pass",
      PROPERTY_PLAYING | PROPERTY_URI, options.ttl_mc, 0, 255, 1,
      .changed = apply_options),
  PROPERTY_BOOLEAN ("loop", "Multicast loopback",
      "Receivers on this host get what is sent to a multicast group",
      PROPERTY_PLAYING | PROPERTY_URI, options.loop, TRUE,
      .changed = apply_options),
  PROPERTY_BOOLEAN ("auto-multicast", "Auto multicast",
      "Join the multicast groups that are sent to",
      PROPERTY_READY | PROPERTY_URI, options.auto_multicast, TRUE,
      .changed = apply_options),
  PROPERTY_STRING ("multicast-iface", "Multicast interface",
      "Network interface for multicast", PROPERTY_READY | PROPERTY_URI,
      options.multicast_iface, NULL,
      .changed = apply_options),
  PROPERTY_INT ("qos-dscp", "QoS DSCP",
      "Differentiated services code point of the packets (-1: the system's)",
      PROPERTY_PLAYING | PROPERTY_URI, options.qos_dscp, -1, 63, -1,
      .changed = apply_options),
  PROPERTY_OBJECT ("socket", "Socket",
      "UDP-Lite socket to send from to IPv4 addresses (NULL: our own)",
      PROPERTY_READY, given[FAMILY_V4], g_socket_get_type),
  PROPERTY_OBJECT ("socket-v6", "Socket IPv6",
      "UDP-Lite socket to send from to IPv6 addresses (NULL: our own)",
      PROPERTY_READY, given[FAMILY_V6], g_socket_get_type),
  PROPERTY_COMPUTED ("used-socket", "Used socket",
      "Socket that is in use for IPv4", PROPERTY_READABLE, 0,
      g_socket_get_type,
      .get = get_used_socket),
  PROPERTY_COMPUTED ("used-socket-v6", "Used socket IPv6",
      "Socket that is in use for IPv6", PROPERTY_READABLE, 0,
      g_socket_get_type,
      .get = get_used_socket_v6),
  PROPERTY_BOOLEAN ("close-socket", "Close socket",
      "Close the sockets that were given, on the way to NULL",
      PROPERTY_PLAYING, close_socket, TRUE),
};

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
  gst_wireless_properties_init (self, GST_TYPE_UDPLITE_SINK);
  udplite_clients_add (self->clients, self->host, self->port, get_now ());
}

static void
gst_udplite_sink_finalize (GObject * object)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (object);

  gst_clear_buffer (&self->resume_at);
  udplite_clients_free (self->clients);
  gst_udplite_packets_free (self->packets);
  gst_wireless_properties_clear (self, GST_TYPE_UDPLITE_SINK);
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
gst_udplite_sink_class_init (GstUdpliteSinkClass * klass)
{
  static const GstNetworkUri uri = { {GST_UDPLITE_SCHEME}, "host" };
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNetworkSinkClass *network_class = GST_NETWORK_SINK_CLASS (klass);

  object_class->finalize = gst_udplite_sink_finalize;
  element_class->change_state = gst_udplite_sink_change_state;
  GST_BASE_SINK_CLASS (klass)->set_caps = gst_udplite_sink_set_caps;
  network_class->connectionless = TRUE;
  network_class->category = gst_udplite_sink_debug;
  network_class->stats_name = "application/x-udplitesink-stats";
  network_class->describe = gst_udplite_sink_describe;
  network_class->connect = gst_udplite_sink_connect;
  network_class->watch = gst_udplite_sink_watch;
  network_class->disconnect = gst_udplite_sink_disconnect;
  network_class->send_packets = gst_udplite_sink_send_packets;
  network_class->wait = gst_udplite_sink_wait;
  network_class->fill_stats = gst_udplite_sink_fill_stats;

  gst_network_uri_install (object_class, &uri);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, G_STRUCT_OFFSET (GstUdpliteSink, lock));
  install_signals (G_TYPE_FROM_CLASS (klass));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "UDP-Lite sink",
      "Sink/Network",
      "Sends packets over UDP-Lite, and protects the bytes that matter",
      "The gst-plugins-wireless authors");
}
