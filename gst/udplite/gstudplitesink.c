/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-udplitesink
 * @title: udplitesink
 * @short_description: Sends packets over UDP-Lite (RFC 3828)
 *
 * Works as #GstUDPSink (udpsink), but sends UDP-Lite. The checksum covers only
 * the part of a packet that must arrive undamaged. If the network damages the
 * rest of a packet, the packet is delivered nevertheless. By default
 * (coverage-mode=headers) the checksum of each packet covers the headers of
 * UDP-Lite, of RTP and of the video. This is the unequal protection of R. Singh
 * et al., "Wireless Multimedia Streaming" (2000), section 8.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! rfc2250pay ! udplitesink host=127.0.0.1 port=5004
 * ]|
 *
 * Since: 0.1
 */

#include "gstnetworksink.h"
#include "gstnetworkuri.h"
#include "gstudplitecommon.h"
#include "gstudplitesinkreceivers.h"
#include "gstudplitesinksender.h"
#include "gstudplitesinksockets.h"
#include "gstwirelessgso.h"
#include "udplite.h"

#define GST_TYPE_UDPLITE_SINK (gst_udplite_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstUdpliteSink, gst_udplite_sink, GST, UDPLITE_SINK,
    GstNetworkSink);
GST_ELEMENT_REGISTER_DECLARE (udplitesink);

GST_DEBUG_CATEGORY (gst_udplite_sink_debug);
#define GST_CAT_DEFAULT gst_udplite_sink_debug

#define DEFAULT_HOST "localhost"
#define DEFAULT_PORT 5004
/* Interval in ms at which the sink tries again to resolve the host names of
 * receivers, if earlier attempts have failed. */
#define RESOLVE_INTERVAL 5000
/* poll () may report that a socket is writable although the queue of the
 * network device is full (ENOBUFS). Waiting for the socket then takes almost no
 * time, and the sink would try to send again and again. Therefore, if a wait
 * took less than MIN_WAIT us, the sink pauses for PAUSE ms. */
#define PAUSE 1
#define MIN_WAIT 100

/* This file has the element, its signals and its properties. The other parts of
 * the element have files of their own:
 * - gstudplitesinkreceivers.h resolves the names of the receivers and opens
 *   their sockets.
 * - gstudplitesinkgroups.h joins and leaves their multicast groups.
 * - gstudplitesinksockets.h has the sockets and their options.
 * - gstudplitesinksender.h sends each batch of packets to all receivers.
 * - gstudplitepackets.h converts buffers to packets. */
struct _GstUdpliteSink
{
  GstNetworkSink parent;

  /* This lock is never held while a thread waits, resolves a name, emits a
   * signal or posts a message. OBJECT_LOCK and the lock of the base class are
   * never taken while this lock is held. */
  GMutex lock;

  /* --- protected by lock --- */
  /* values of the properties `host` and `port`: the address of one of the
   * receivers */
  gchar *host;
  gint port;
  GstUdpliteSinkSockets sockets;
  GstUdpliteSinkReceivers receivers;
  GstUdpliteSinkSender sender;
};

#define LOCK(self) g_mutex_lock (&(self)->lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->lock)

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

/* --- receivers ------------------------------------------------------------ */

static void
add_client (GstUdpliteSink * self, const gchar * host, gint port)
{
  if (gst_udplite_sink_receivers_add (&self->receivers, host, port))
    g_signal_emit (self, signals[SIGNAL_CLIENT_ADDED], 0, host, port);
}

static void
remove_client (GstUdpliteSink * self, const gchar * host, gint port)
{
  if (gst_udplite_sink_receivers_remove (&self->receivers, host, port))
    g_signal_emit (self, signals[SIGNAL_CLIENT_REMOVED], 0, host, port);
}

static void
clear_clients (GstUdpliteSink * self)
{
  gchar *host;
  gint port;

  while (gst_udplite_sink_receivers_get_first (&self->receivers, &host, &port)) {
    remove_client (self, host, port);
    g_free (host);
  }
}

/* The properties host and port name one receiver. Sets them to `host` and
 * `port`, and replaces the old receiver with the new one. If `host` is NULL,
 * the property host keeps its value. If `port` is -1, the property port keeps
 * its value. */
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
  there = udplite_clients_find (self->receivers.clients, old_host, old_port)
      != NULL;
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
      GST_WARNING_OBJECT (self, "clients: \"%s\" is not host:port", clients[i]);
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
  return gst_udplite_sink_receivers_create_stats (&self->receivers, host, port);
}

/* --- virtual functions of the base classes -------------------------------- */

static gchar *
gst_udplite_sink_describe (GstNetworkSink * sink)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);
  gchar *text;

  LOCK (self);
  text = udplite_clients_to_string (self->receivers.clients);
  UNLOCK (self);
  return text;
}

static gboolean
gst_udplite_sink_connect (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  return
      gst_udplite_sink_receivers_connect (&GST_UDPLITE_SINK (sink)->receivers,
      cancellable, error);
}

static void
gst_udplite_sink_watch (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);

  while (!g_cancellable_set_error_if_cancelled (cancellable, error)) {
    gst_network_sink_pause (cancellable, RESOLVE_INTERVAL);
    if (!g_cancellable_is_cancelled (cancellable))
      gst_udplite_sink_receivers_resolve_again (&self->receivers, cancellable);
  }
}

static void
gst_udplite_sink_disconnect (GstNetworkSink * sink, gboolean reset)
{
  gst_udplite_sink_receivers_disconnect (&GST_UDPLITE_SINK (sink)->receivers);
}

static gboolean
gst_udplite_sink_set_caps (GstBaseSink * sink, GstCaps * caps)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);

  LOCK (self);
  self->sender.coverage.format = gst_udplite_format_from_caps (caps);
  UNLOCK (self);
  return TRUE;
}

static GstNetworkSinkResult
gst_udplite_sink_send_packets (GstNetworkSink * sink, GstBuffer ** buffers,
    guint n, guint * sent, GError ** error)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);
  const gboolean blocking = n > 1 && gst_network_sink_get_blocking (sink);
  GstNetworkSinkResult result;

  LOCK (self);
  result = gst_udplite_sink_sender_send (&self->sender, buffers, n, blocking,
      sent, error);
  UNLOCK (self);
  return result;
}

static void
gst_udplite_sink_wait (GstNetworkSink * sink, gint64 timeout,
    GCancellable * cancellable)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);
  gint64 begin = g_get_monotonic_time ();
  GSocket *socket;

  LOCK (self);
  socket = gst_udplite_sink_sender_get_full_socket (&self->sender);
  if (socket)
    g_object_ref (socket);
  UNLOCK (self);
  if (!socket)
    return;
  g_socket_condition_timed_wait (socket, G_IO_OUT, timeout, cancellable, NULL);
  g_object_unref (socket);
  if (g_get_monotonic_time () - begin < MIN_WAIT)
    gst_network_sink_pause (cancellable, PAUSE);
}

static void
gst_udplite_sink_fill_stats (GstNetworkSink * sink, GstStructure * stats)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);

  LOCK (self);
  gst_structure_set (stats,
      "backend", G_TYPE_STRING,
      gst_udplite_sink_sockets_get_backend_name (&self->sockets),
      "receivers", G_TYPE_UINT,
      udplite_clients_get_number (self->receivers.clients),
      "send-errors", G_TYPE_UINT64, self->sender.send_errors, NULL);
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

/* Returns the sum of the sizes of all packets that arrived at the sink, whether
 * they were sent or dropped. Each packet is counted once, even if it is sent to
 * several receivers. */
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
take_used_socket (GstUdpliteSink * self, GstUdpliteFamily family,
    GValue * value)
{
  LOCK (self);
  g_value_set_object (value,
      gst_udplite_sink_sockets_get_socket (&self->sockets, family));
  UNLOCK (self);
}

static void
get_used_socket (gpointer object, GValue * value, GParamSpec * pspec)
{
  take_used_socket (object, GST_UDPLITE_FAMILY_V4, value);
}

static void
get_used_socket_v6 (gpointer object, GValue * value, GParamSpec * pspec)
{
  take_used_socket (object, GST_UDPLITE_FAMILY_V6, value);
}

/* Applies a changed property to the open sockets immediately. Called with the
 * lock held. */
static void
apply_options (gpointer object)
{
  gst_udplite_sink_sockets_apply_options (&GST_UDPLITE_SINK (object)->sockets);
}

#define PROPERTY_STRUCT GstUdpliteSink
static const GstWirelessProperty properties[] = {
  PROPERTY_STRING ("host", "Host",
      "Host name or IP address of the receiver, or multicast group",
      PROPERTY_PLAYING | PROPERTY_URI, host, DEFAULT_HOST,
      .set = set_host),
  PROPERTY_INT ("port", "Port",
      "UDP-Lite port of the receiver",
      PROPERTY_PLAYING | PROPERTY_URI, port, 0, 65535, DEFAULT_PORT,
      .set = set_port),
  PROPERTY_NETWORK_URI
      ("URI of the form udplite://host:port?property=value&..., which sets "
      "host, port and the named properties; reading returns "
      "udplite://host:port",
      NULL),
  PROPERTY_COMPUTED ("clients", "Clients",
      "Receivers, as a comma separated list of host:port",
      PROPERTY_PLAYING, G_TYPE_STRING,
      .set = set_clients_property,
      .get = get_clients),
  PROPERTY_BOOLEAN ("send-duplicates", "Send duplicates",
      "Whether a receiver that was added several times gets each packet "
      "several times; false sends one copy",
      PROPERTY_PLAYING, sender.send_duplicates, TRUE),
  PROPERTY_COMPUTED ("bytes-to-serve", "Bytes to serve",
      "Total size of the packets that arrived at the sink, each packet counted "
      "once for all receivers (bytes)", PROPERTY_READABLE, G_TYPE_UINT64,
      .maximum = G_MAXUINT64,
      .get = get_bytes_to_serve),
  PROPERTY_UINT64 ("bytes-served", "Bytes served",
      "Total size of the packets that were sent, added up over all receivers "
      "(bytes)",
      PROPERTY_READABLE, sender.bytes_served,
      0, G_MAXUINT64, 0),

  /**
   * GstUdpliteSink:coverage-mode:
   *
   * Which part of each packet the checksum covers. With `headers` it covers:
   *
   * - the header of UDP-Lite;
   * - the header of RTP;
   * - the part of the payload that the payloader has marked. If the payloader
   *   has marked nothing, the element finds the headers of MPEG-1/2 video and
   *   of H.263 by itself.
   *
   * A packet of an unknown format without a mark is covered completely.
   */
  PROPERTY_ENUM ("coverage-mode", "Coverage mode",
      "Which part of each packet the checksum covers",
      PROPERTY_PLAYING | PROPERTY_URI, sender.coverage.mode,
      gst_udplite_coverage_mode_get_type, GST_UDPLITE_COVERAGE_HEADERS),
  PROPERTY_UINT ("checksum-coverage", "Checksum coverage",
      "Checksum coverage with coverage-mode=fixed, the UDP-Lite header of 8 "
      "bytes included (bytes, 0 = the whole packet, otherwise at least 8)",
      PROPERTY_PLAYING | PROPERTY_URI, sender.coverage.fixed, 0, 65535, 0),

  PROPERTY_ENUM ("backend", "Backend",
      "How UDP-Lite packets are sent",
      PROPERTY_READY | PROPERTY_URI, sockets.options.backend,
      gst_udplite_backend_get_type, UDPLITE_BACKEND_AUTO,
      .changed = apply_options),
  PROPERTY_STRING ("bind-address", "Bind address",
      "IP address to bind the socket to (unset = any)",
      PROPERTY_READY | PROPERTY_URI,
      sockets.options.bind_address, NULL,
      .changed = apply_options),
  PROPERTY_INT ("bind-port", "Bind port",
      "UDP-Lite port to bind the socket to (0 = any)",
      PROPERTY_READY | PROPERTY_URI,
      sockets.options.bind_port, 0, 65535, 0,
      .changed = apply_options),
  PROPERTY_INT ("buffer-size", "Buffer size",
      "Size of the kernel send buffer (bytes, 0 = the system's default)",
      PROPERTY_PLAYING, sockets.options.buffer_size, 0, G_MAXINT, 0,
      .changed = apply_options),
  PROPERTY_INT ("ttl", "Unicast TTL",
      "Time to live of unicast packets, the number of routers that they may "
      "pass",
      PROPERTY_PLAYING | PROPERTY_URI, sockets.options.ttl, 0, 255, 64,
      .changed = apply_options),
  PROPERTY_INT ("ttl-mc", "Multicast TTL",
      "Time to live of multicast packets, the number of routers that they "
      "may pass",
      PROPERTY_PLAYING | PROPERTY_URI, sockets.options.ttl_mc, 0, 255, 1,
      .changed = apply_options),
  PROPERTY_BOOLEAN ("loop", "Multicast loopback",
      "Whether receivers on this host get the packets that are sent to a "
      "multicast group",
      PROPERTY_PLAYING | PROPERTY_URI, sockets.options.loop, TRUE,
      .changed = apply_options),
  PROPERTY_BOOLEAN ("auto-multicast", "Auto multicast",
      "Whether the element joins the multicast groups that it sends to",
      PROPERTY_READY | PROPERTY_URI, sockets.options.auto_multicast, TRUE,
      .changed = apply_options),
  PROPERTY_STRING ("multicast-iface", "Multicast interface",
      "Network interface for multicast packets (unset = as the system routes "
      "them)", PROPERTY_READY | PROPERTY_URI,
      sockets.options.multicast_iface, NULL,
      .changed = apply_options),
  PROPERTY_INT ("qos-dscp", "QoS DSCP",
      "Differentiated services code point of the packets (-1 = the system's "
      "default)",
      PROPERTY_PLAYING | PROPERTY_URI, sockets.options.qos_dscp, -1, 63, -1,
      .changed = apply_options),

  /**
   * GstUdpliteSink:gso:
   *
   * Whether generic segmentation offload (GSO) is used. With `auto` and the
   * backend udp, the sink passes several consecutive packets of a buffer list
   * to the kernel as one message, if the packets have the same size and the
   * UDP-Lite checksum covers them completely. These packets also have a UDP
   * checksum, so the kernel of the receiver discards them if they are damaged.
   * With `off`, no packet has a UDP checksum. The other backends cannot use
   * GSO.
   *
   * Since: 0.1
   */
  PROPERTY_GSO (sockets.options.gso),
  PROPERTY_OBJECT ("socket", "Socket",
      "UDP-Lite socket to send to IPv4 addresses from (NULL = allocate one)",
      PROPERTY_READY, sockets.given[GST_UDPLITE_FAMILY_V4], g_socket_get_type),
  PROPERTY_OBJECT ("socket-v6", "Socket IPv6",
      "UDP-Lite socket to send to IPv6 addresses from (NULL = allocate one)",
      PROPERTY_READY, sockets.given[GST_UDPLITE_FAMILY_V6], g_socket_get_type),
  PROPERTY_COMPUTED ("used-socket", "Used socket",
      "Socket in use for IPv4 (NULL = no socket is open)", PROPERTY_READABLE, 0,
      g_socket_get_type,
      .get = get_used_socket),
  PROPERTY_COMPUTED ("used-socket-v6", "Used socket IPv6",
      "Socket in use for IPv6 (NULL = no socket is open)", PROPERTY_READABLE, 0,
      g_socket_get_type,
      .get = get_used_socket_v6),
  PROPERTY_BOOLEAN ("close-socket", "Close socket",
      "Whether the sockets of the properties socket and socket-v6 are closed "
      "when the element goes to NULL",
      PROPERTY_PLAYING, sockets.close_given, TRUE),
};

/* --- life cycle ----------------------------------------------------------- */

/* Closes the application's sockets if close-socket is TRUE. As in udpsink, this
 * is done only when the element changes to the state NULL. Until then, the
 * element could use the sockets again. */
static void
close_given_sockets (GstUdpliteSink * self)
{
  LOCK (self);
  gst_udplite_sink_sockets_close_given (&self->sockets);
  UNLOCK (self);
}

static void
warn_of_coverage (GstUdpliteSink * self)
{
  guint coverage;

  LOCK (self);
  coverage = self->sender.coverage.fixed;
  UNLOCK (self);
  if (coverage > 0 && coverage < UDPLITE_HEADER_SIZE)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("checksum-coverage is %u bytes, but the checksum always covers the "
            "UDP-Lite header of %u bytes: %u is used. Set 0 for the whole "
            "packet, or at least %u.", coverage, UDPLITE_HEADER_SIZE,
            UDPLITE_HEADER_SIZE, UDPLITE_HEADER_SIZE), (NULL));
}

static GstStateChangeReturn
gst_udplite_sink_change_state (GstElement * element, GstStateChange transition)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (element);
  GstStateChangeReturn done;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    LOCK (self);
    gst_udplite_sink_sender_reset (&self->sender);
    UNLOCK (self);
    warn_of_coverage (self);
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
  gst_wireless_properties_init (self, GST_TYPE_UDPLITE_SINK);
  gst_udplite_sink_sockets_init (&self->sockets, GST_ELEMENT_CAST (self));
  gst_udplite_sink_receivers_init (&self->receivers, GST_ELEMENT_CAST (self),
      &self->lock, &self->sockets, self->host, self->port);
  gst_udplite_sink_sender_init (&self->sender, GST_NETWORK_SINK (self),
      self->receivers.clients, &self->sockets);
}

static void
gst_udplite_sink_finalize (GObject * object)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (object);

  gst_udplite_sink_sender_finalize (&self->sender);
  gst_udplite_sink_receivers_finalize (&self->receivers);
  gst_wireless_properties_clear (self, GST_TYPE_UDPLITE_SINK);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_signals (GType type)
{
  const GSignalFlags action = G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION;

  /* The signal `add` adds a receiver, which gets all packets from now on. A
   * receiver that was added twice gets each packet twice, unless
   * send-duplicates is FALSE. */
  signals[SIGNAL_ADD] = g_signal_new_class_handler ("add", type, action,
      G_CALLBACK (add_client), NULL, NULL, NULL, G_TYPE_NONE, 2,
      G_TYPE_STRING, G_TYPE_INT);
  signals[SIGNAL_REMOVE] = g_signal_new_class_handler ("remove", type, action,
      G_CALLBACK (remove_client), NULL, NULL, NULL, G_TYPE_NONE, 2,
      G_TYPE_STRING, G_TYPE_INT);
  signals[SIGNAL_CLEAR] = g_signal_new_class_handler ("clear", type, action,
      G_CALLBACK (clear_clients), NULL, NULL, NULL, G_TYPE_NONE, 0);
  /* The signal `get-stats` returns a structure with the statistics of one
   * receiver: bytes-sent, packets-sent, connect-time, disconnect-time and
   * errors. connect-time and disconnect-time are the times at which the
   * receiver was added and removed, in ns since 1970. disconnect-time is 0
   * while the receiver is in use. The structure is empty if the receiver is
   * unknown. */
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
  /* The inherited properties get other descriptions, because UDP-Lite has no
   * connections and does not notice whether a receiver exists. */
  gst_wireless_properties_reword (object_class, "wait-for-connection",
      "Whether the stream waits until the receivers' addresses are known and "
      "the sockets are open (live input at most for max-live-wait); false "
      "drops packets until then");
  gst_wireless_properties_reword (object_class, "auto-reconnect",
      "Whether the sink resolves the addresses and opens the sockets again after a "
      "failure; false posts an error instead");
  gst_wireless_properties_reword (object_class, "blocking",
      "Whether the stream waits while the kernel has no room for a packet "
      "(live input at most for max-live-wait); false drops this packet and the "
      "rest of its frame");
  gst_wireless_properties_reword (object_class, "max-live-wait",
      "Maximum time that live input waits for open sockets or for room in the "
      "kernel before packets are dropped (ms, 0 = do not wait); input that is "
      "not live waits without limit");
  gst_wireless_properties_reword (object_class, "peer-timeout",
      "Maximum time for which the kernel may accept no packet until the "
      "sockets are opened again (ms, 0 = unlimited); a missing receiver is not "
      "detected");
  gst_wireless_properties_reword (object_class, "drain-timeout",
      "Maximum time that EOS waits until the kernel has taken all packets (ms)");
  gst_wireless_properties_set_category (object_class, gst_udplite_sink_debug);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, G_STRUCT_OFFSET (GstUdpliteSink, lock));
  install_signals (G_TYPE_FROM_CLASS (klass));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "UDP-Lite sink",
      "Sink/Network",
      "Sends packets over UDP-Lite, and protects the bytes that matter",
      "The gst-plugins-wireless authors");
}
