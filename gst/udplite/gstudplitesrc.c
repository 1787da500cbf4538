/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-udplitesrc
 * @title: udplitesrc
 * @short_description: Receives UDP-Lite packets, damaged ones too
 *
 * Receives UDP-Lite (RFC 3828). A packet is delivered if the part that the
 * sender covered with the checksum has arrived undamaged. A decoder that
 * tolerates bit errors can then use a packet that UDP would have discarded.
 * Properties that also exist in udpsrc have the same meaning as in udpsrc.
 *
 * The packets come from the kernel's UDP-Lite socket, from a raw socket
 * (CAP_NET_RAW), or from UDP packets that carry UDP-Lite: see
 * #GstUdpliteSrc:backend. If the checksum covered only the first bytes of a
 * packet, the buffer of this packet has a GstCoverageMeta with the number of
 * covered bytes. Any of the bytes after them may be damaged. The kernel's
 * socket does not report the coverage, so its buffers have no such meta.
 *
 * Packets that are waiting at the same time are received with one system call
 * and are pushed as one buffer list. The element never delays a packet in order
 * to wait for more.
 *
 * If no packet arrives for the time #GstUdpliteSrc:timeout, the element posts
 * an element message `GstUdpliteSrcTimeout`. It posts the message again at
 * intervals of this length until a packet arrives. The field `timeout`
 * (#guint64) of the message is the length of the interval in ns.
 *
 * A URI udplite://address:port sets the properties address and port. The keys
 * of its query set other properties, as in `?min-coverage=20&backend=udp`. The
 * keys `media`, `encoding-name`, `payload` and `clock-rate` set
 * #GstUdpliteSrc:caps to RTP caps.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 udplitesrc port=5004 caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=MPV,payload=32" ! rtpjitterbuffer ! rfc2250depay ! mpegstat silent=false ! fakesink
 * ]| Prints statistics of a video that arrives.
 * |[
 * gst-launch-1.0 playbin3 uri="udplite://0.0.0.0:5004?media=video&encoding-name=MPV&payload=32&clock-rate=90000"
 * ]| Plays the video.
 *
 * Since: 0.1
 */

#include "gstnetworkuri.h"
#include "gstudplitecommon.h"
#include "gstudplitesrcreceiver.h"
#include "gstudplitesrcsocket.h"
#include "gstwirelessstats.h"

#define GST_TYPE_UDPLITE_SRC (gst_udplite_src_get_type ())
G_DECLARE_FINAL_TYPE (GstUdpliteSrc, gst_udplite_src, GST, UDPLITE_SRC,
    GstNetworkSrc);
GST_ELEMENT_REGISTER_DECLARE (udplitesrc);

GST_DEBUG_CATEGORY (gst_udplite_src_debug);
#define GST_CAT_DEFAULT gst_udplite_src_debug

/* This file has the element and its properties. The other parts of the element
 * have files of their own:
 * - gstudplitesrcsocket.h opens the socket and joins the multicast group.
 * - gstudplitesrcreceiver.h receives packets and makes buffers from them. */
struct _GstUdpliteSrc
{
  GstNetworkSrc parent;

  GstUdpliteSrcSocket socket;
  GstUdpliteSrcReceiver receiver;

  guint mtu;                    /* protected by OBJECT_LOCK */
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define gst_udplite_src_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstUdpliteSrc, gst_udplite_src, GST_TYPE_NETWORK_SRC,
    GST_DEBUG_CATEGORY_INIT (gst_udplite_src_debug, "udplitesrc", 0,
        "UDP-Lite source"));
/* The element needs no rank, because applications find it by its URI scheme.
 * The element udpsrc has no rank either. */
GST_ELEMENT_REGISTER_DEFINE (udplitesrc, "udplitesrc", GST_RANK_NONE,
    GST_TYPE_UDPLITE_SRC);

/* --- open and close ------------------------------------------------------ */

/* Opens the socket. Called during a state change. On failure, posts an error
 * and returns FALSE. */
static gboolean
gst_udplite_src_open (GstUdpliteSrc * self)
{
  if (!gst_udplite_src_socket_open (&self->socket))
    return FALSE;
  gst_udplite_src_receiver_start (&self->receiver, self->socket.udplite);
  gst_udplite_src_socket_publish (&self->socket);
  return TRUE;
}

/* Closes the socket. `again` is TRUE if the socket is opened again immediately.
 */
static void
gst_udplite_src_close (GstUdpliteSrc * self, gboolean again)
{
  gst_udplite_src_receiver_stop (&self->receiver);
  gst_udplite_src_socket_close (&self->socket, again);
}

/* --- receive, in the streaming thread ---------------------------------- */

static GstFlowReturn
gst_udplite_src_create (GstPushSrc * src, GstBuffer ** buffer)
{
  GstUdpliteSrc *self = GST_UDPLITE_SRC (src);
  GstBuffer *buffers[DATAGRAM_BATCH];
  GstFlowReturn flow;
  guint n;

  flow = gst_udplite_src_receiver_receive (&self->receiver, buffers, &n);
  if (flow != GST_FLOW_OK)
    return flow;
  return gst_network_src_submit (GST_NETWORK_SRC (src), buffers, n, buffer);
}

/* --- statistics, from any thread ----------------------------------------- */

#define STATS_STRUCT GstUdpliteSrcCounters

static const GstWirelessStatsField stats_fields[] = {
  STATS_COUNTER ("packets", packets),
  STATS_COUNTER ("bytes", bytes),
  STATS_COUNTER ("lists", lists),
  STATS_COUNTER ("partly-covered", partly_covered),
  STATS_COUNTER ("too-short-to-skip", too_short_to_skip),
  STATS_COUNTER ("truncated", socket.truncated),
  STATS_COUNTER ("foreign", socket.foreign),
};

static GstStructure *
gst_udplite_src_create_stats (GstNetworkSrc * src)
{
  GstUdpliteSrc *self = GST_UDPLITE_SRC (src);
  GstUdpliteSrcCounters counters;
  guint64 dropped = gst_udplite_src_socket_get_dropped (&self->socket);
  UdpliteBackend backend;
  GstStructure *stats;
  guint i;

  GST_OBJECT_LOCK (self);
  counters = self->receiver.counters;
  backend = self->socket.backend;
  GST_OBJECT_UNLOCK (self);

  stats = gst_structure_new ("application/x-udplitesrc-stats",
      "backend", G_TYPE_STRING, udplite_backend_get_name (backend), NULL);
  gst_wireless_stats_fill (stats, stats_fields, G_N_ELEMENTS (stats_fields),
      &counters);
  gst_structure_set (stats, "dropped", G_TYPE_UINT64, dropped, NULL);
  for (i = UDPLITE_VALID + 1; i < UDPLITE_LAST; i++)
    gst_structure_set (stats, udplite_verdict_get_name (i), G_TYPE_UINT64,
        counters.socket.refused[i], NULL);
  return stats;
}

/* --- properties ---------------------------------------------------------- */

/* Requests that the start function of the element opens the socket again. The
 * caller holds the lock. */
static void
set_reopen (gpointer object)
{
  GST_UDPLITE_SRC (object)->socket.reopen = TRUE;
}

/* The following properties from `address` to `mtu` also exist in udpsrc. */
#define PROPERTY_STRUCT GstUdpliteSrc
static const GstWirelessProperty properties[] = {
  PROPERTY_STRING ("address", "Address",
      "IP address or name of this host, or multicast group, to receive packets "
      "for; the address family (IPv4 or IPv6) is that of this address",
      PROPERTY_READY | PROPERTY_URI,
      socket.options.address, GST_UDPLITE_SRC_DEFAULT_ADDRESS,
      .changed = set_reopen),
  PROPERTY_STRING ("multicast-group", "Multicast group",
      "Deprecated: use address, which is the same",
      PROPERTY_READY | PROPERTY_URI | G_PARAM_DEPRECATED,
      socket.options.address, GST_UDPLITE_SRC_DEFAULT_ADDRESS,
      .changed = set_reopen,.instead = "address"),
  PROPERTY_INT ("port", "Port",
      "UDP-Lite port to listen on (0 = any free port; from READY on, the "
      "property has the number of this port)",
      PROPERTY_READY | PROPERTY_URI, socket.options.port, 0, G_MAXUINT16, 5004,
      .changed = set_reopen),
  PROPERTY_STRING ("multicast-iface", "Multicast interface",
      "Network interfaces on which to join the multicast group, as a comma "
      "separated list, such as eth0,eth1 (unset = as the system routes it)",
      PROPERTY_READY | PROPERTY_URI, socket.options.multicast_iface, NULL,
      .changed = set_reopen),
  PROPERTY_STRING ("multicast-source", "Multicast source",
      "Addresses whose packets to the multicast group are received (RFC "
      "4604), such as +192.0.2.1+192.0.2.2 (unset = all)",
      PROPERTY_READY | PROPERTY_URI,
      socket.options.multicast_source, NULL,
      .changed = set_reopen),
  PROPERTY_BOOLEAN ("auto-multicast", "Auto multicast",
      "Whether the element joins and leaves the multicast group itself",
      PROPERTY_READY | PROPERTY_URI,
      socket.options.auto_multicast, TRUE,
      .changed = set_reopen),
  PROPERTY_BOOLEAN ("loop", "Multicast loopback",
      "Whether packets that this socket sends to a multicast group come back "
      "to this host", PROPERTY_READY | PROPERTY_URI, socket.options.loop, TRUE,
      .changed = set_reopen),
  PROPERTY_BOOLEAN ("reuse", "Reuse",
      "Whether other sockets may listen on the same port",
      PROPERTY_READY, socket.options.reuse, TRUE,
      .changed = set_reopen),
  PROPERTY_INT ("buffer-size", "Buffer size",
      "Size of the kernel receive buffer (bytes, 0 = the system's default)",
      PROPERTY_READY, socket.options.buffer_size, 0, G_MAXINT, 0,
      .changed = set_reopen),
  PROPERTY_OBJECT ("socket", "Socket",
      "UDP-Lite socket to receive from, which must be bound (NULL = allocate "
      "one)", PROPERTY_READY, socket.given, g_socket_get_type,
      .changed = set_reopen),
  PROPERTY_BOOLEAN ("close-socket", "Close socket",
      "Whether the socket of the property socket is closed when the element "
      "goes to NULL",
      PROPERTY_PLAYING, socket.close_given, TRUE),
  PROPERTY_INT ("skip-first-bytes", "Skip first bytes",
      "Number of bytes to skip at the beginning of each packet; shorter "
      "packets are dropped", PROPERTY_PLAYING | PROPERTY_URI,
      receiver.skip_first_bytes, 0, G_MAXINT, 0),
  PROPERTY_BOOLEAN ("retrieve-sender-address", "Retrieve sender address",
      "Whether the address of the sender is added to buffers as "
      "GstNetAddressMeta",
      PROPERTY_PLAYING | PROPERTY_URI,
      receiver.retrieve_sender_address, TRUE),
  PROPERTY_UINT ("mtu", "Expected maximum transmission unit",
      "Size of the buffers of the pool (bytes); longer packets get buffers "
      "of their own", PROPERTY_READY, mtu, 0, G_MAXINT, 1492),

  /**
   * GstUdpliteSrc:backend:
   *
   * How the packets are received. `kernel` and `raw` are compatible with each
   * other, because both use UDP-Lite on the wire. `udp` is for a peer that
   * sends UDP-Lite in UDP. `auto` selects the first backend that works;
   * #GstUdpliteSrc:stats contains its name.
   */
  PROPERTY_ENUM ("backend", "Backend",
      "How UDP-Lite packets are received, unless the property socket is set",
      PROPERTY_READY | PROPERTY_URI, socket.options.backend,
      gst_udplite_backend_get_type, UDPLITE_BACKEND_AUTO,
      .changed = set_reopen),

  /**
   * GstUdpliteSrc:min-coverage:
   *
   * Minimum checksum coverage of accepted packets, in bytes. It includes the 8
   * bytes of the UDP-Lite header, as on the wire. For example, with the value
   * 20 the checksum must also cover the fixed header of RTP. Packets that are
   * covered completely are always accepted. With the value 0, only these
   * packets are accepted, as in Linux. With the value -1, all packets are
   * accepted.
   */
  PROPERTY_INT ("min-coverage", "Minimum coverage",
      "Minimum checksum coverage of accepted packets, the UDP-Lite header of "
      "8 bytes included (bytes, -1 = accept all, 0 = only packets that are "
      "covered completely)",
      PROPERTY_READY | PROPERTY_URI, socket.options.min_coverage, -1,
      G_MAXUINT16, -1,
      .changed = set_reopen),
};

/* --- virtual functions of GstBaseSrc -------------------------------------- */

/* Always selects a pool of buffers of `mtu` bytes, where `mtu` is a property of
 * this element. A pool that downstream proposes is not used, because downstream
 * does not know the size of the packets. */
static gboolean
gst_udplite_src_decide_allocation (GstBaseSrc * src, GstQuery * query)
{
  GstUdpliteSrc *self = GST_UDPLITE_SRC (src);
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstCaps *caps;
  guint size;

  GST_OBJECT_LOCK (self);
  size = MAX (1, self->mtu);
  GST_OBJECT_UNLOCK (self);
  self->receiver.pool_size = size;

  gst_query_parse_allocation (query, &caps, NULL);
  gst_buffer_pool_config_set_params (config, caps, size, 0, 0);
  gst_buffer_pool_set_config (pool, config);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, 0, 0);
  else
    gst_query_add_allocation_pool (query, pool, size, 0, 0);
  gst_object_unref (pool);
  return TRUE;
}

static gboolean
gst_udplite_src_start (GstBaseSrc * src)
{
  GstUdpliteSrc *self = GST_UDPLITE_SRC (src);

  if (gst_udplite_src_socket_is_current (&self->socket))
    return TRUE;
  gst_udplite_src_close (self, TRUE);
  return gst_udplite_src_open (self);
}

/* The socket is opened in the change to READY and closed in the change to NULL.
 * In READY, the port is therefore known already, as in udpsrc. If properties
 * are changed in READY, gst_udplite_src_start () opens the socket again. */
static GstStateChangeReturn
gst_udplite_src_change_state (GstElement * element, GstStateChange transition)
{
  GstUdpliteSrc *self = GST_UDPLITE_SRC (element);
  GstStateChangeReturn result;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY
      && (!gst_network_uri_check (element) || !gst_udplite_src_open (self)))
    return GST_STATE_CHANGE_FAILURE;
  result = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_udplite_src_close (self, FALSE);
  return result;
}

/* --- the class ----------------------------------------------------------- */

static void
gst_udplite_src_finalize (GObject * object)
{
  gst_udplite_src_receiver_finalize (&GST_UDPLITE_SRC (object)->receiver);
  gst_wireless_properties_clear (object, GST_TYPE_UDPLITE_SRC);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_udplite_src_init (GstUdpliteSrc * self)
{
  gst_wireless_properties_init (self, GST_TYPE_UDPLITE_SRC);
  gst_udplite_src_socket_init (&self->socket, GST_NETWORK_SRC (self));
  gst_udplite_src_receiver_init (&self->receiver, GST_NETWORK_SRC (self));
  gst_base_src_set_do_timestamp (GST_BASE_SRC (self), TRUE);
}

static void
gst_udplite_src_class_init (GstUdpliteSrcClass * klass)
{
  static const GstNetworkUri uri = { {GST_UDPLITE_SCHEME}, "address" };
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);
  GstNetworkSrcClass *network_class = GST_NETWORK_SRC_CLASS (klass);

  object_class->finalize = gst_udplite_src_finalize;
  element_class->change_state = gst_udplite_src_change_state;
  src_class->decide_allocation = gst_udplite_src_decide_allocation;
  src_class->start = gst_udplite_src_start;
  network_class->category = gst_udplite_src_debug;
  network_class->timeout_name = "GstUdpliteSrcTimeout";
  network_class->create_stats = gst_udplite_src_create_stats;
  GST_PUSH_SRC_CLASS (klass)->create = gst_udplite_src_create;

  gst_wireless_properties_reword (object_class, "uri",
      "URI udplite://address:port?key=value&..., where each key is a property, "
      "or media, encoding-name, payload or clock-rate of RTP caps; reading "
      "returns udplite://address:port");
  gst_network_uri_install (object_class, &uri);
  gst_wireless_properties_set_category (object_class, gst_udplite_src_debug);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "UDP-Lite source", "Source/Network",
      "Receives UDP-Lite packets (RFC 3828), damaged ones too",
      "The gst-plugins-wireless authors");
}
