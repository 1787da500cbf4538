/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-udplitesrc
 * @title: udplitesrc
 * @short_description: Receives UDP-Lite packets, damaged ones too
 *
 * Receives UDP-Lite (RFC 3828), which delivers a packet as long as the part of
 * it that the sender covered with a checksum has arrived whole. A decoder that
 * bears a wrong bit then gets pictures where UDP would have left a hole. It is
 * as udpsrc in every property that has the same name.
 *
 * The packets come from the kernel's own socket where there is one, from a raw
 * socket (CAP_NET_RAW), or out of UDP: see #GstUdpliteSrc:backend. Where the
 * coverage of a packet is known, which the kernel's socket does not tell, and
 * not all was covered, its buffer has a GstCoverageMeta with the number of its
 * leading bytes that were: any of the others may be damaged.
 *
 * Packets that are there at the same time are received in one system call and
 * leave as one buffer list. Nothing waits for more of them.
 *
 * After #GstUdpliteSrc:timeout without a packet an element message
 * `GstUdpliteSrcTimeout` comes, with the time in ns as field `timeout`
 * (#guint64), and again after each such time.
 *
 * A URI udplite://address:port sets the properties of these names, and others as
 * keys of a query, as `?min-coverage=20&backend=udp`; the keys `media`,
 * `encoding-name`, `payload` and `clock-rate` make #GstUdpliteSrc:caps of RTP.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 udplitesrc port=5004 caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=MPV,payload=32" ! rtpjitterbuffer ! rfc2250depay ! mpegstat silent=false ! fakesink
 * ]| Shows what arrives of a video.
 * |[
 * gst-launch-1.0 playbin3 uri="udplite://0.0.0.0:5004?media=video&encoding-name=MPV&payload=32&clock-rate=90000"
 * ]| Plays it.
 *
 * Since: 0.1
 */

#include "gstudplitesrcprivate.h"

#include "gstnetworkuri.h"
#include "gstwirelessstats.h"

GST_DEBUG_CATEGORY (gst_udplite_src_debug);

#define DEFAULT_ADDRESS "0.0.0.0"

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define gst_udplite_src_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstUdpliteSrc, gst_udplite_src, GST_TYPE_NETWORK_SRC,
    GST_DEBUG_CATEGORY_INIT (gst_udplite_src_debug, "udplitesrc", 0,
        "UDP-Lite source"));
/* as udpsrc: it is found by its scheme */
GST_ELEMENT_REGISTER_DEFINE (udplitesrc, "udplitesrc", GST_RANK_NONE,
    GST_TYPE_UDPLITE_SRC);

/* --- statistics, from any thread ----------------------------------------- */

#define COUNTER(name, member) \
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (GstUdpliteSrcCounters, member) }

static const GstWirelessStatsField stats_fields[] = {
  COUNTER ("packets", packets),
  COUNTER ("bytes", bytes),
  COUNTER ("lists", lists),
  COUNTER ("partly-covered", partly_covered),
  COUNTER ("too-short-to-skip", too_short_to_skip),
  COUNTER ("truncated", socket.truncated),
  COUNTER ("foreign", socket.foreign),
  COUNTER ("dropped", dropped),
};

#undef COUNTER

static GstStructure *
gst_udplite_src_create_stats (GstNetworkSrc * src)
{
  GstUdpliteSrc *self = GST_UDPLITE_SRC (src);
  GstUdpliteSrcCounters counters;
  UdpliteBackend backend;
  GstStructure *stats;
  guint i;

  gst_udplite_src_update_dropped (self);
  GST_OBJECT_LOCK (self);
  counters = self->counters;
  backend = self->backend;
  GST_OBJECT_UNLOCK (self);

  stats = gst_structure_new ("application/x-udplitesrc-stats",
      "backend", G_TYPE_STRING, udplite_backend_get_name (backend), NULL);
  gst_wireless_stats_fill (stats, stats_fields, G_N_ELEMENTS (stats_fields),
      &counters);
  for (i = UDPLITE_VALID + 1; i < UDPLITE_LAST; i++)
    gst_structure_set (stats, udplite_verdict_get_name (i), G_TYPE_UINT64,
        counters.socket.refused[i], NULL);
  return stats;
}

/* --- properties ---------------------------------------------------------- */

/* With lock. start opens the socket again. */
static void
set_reopen (gpointer object)
{
  GST_UDPLITE_SRC (object)->reopen = TRUE;
}

/* What udpsrc has too stands first; the blurbs say when it counts. */
#define PROPERTY_STRUCT GstUdpliteSrc
static const GstWirelessProperty properties[] = {
  PROPERTY_STRING ("address", "Address",
      "Address or name to receive packets for, of this host or of a multicast "
      "group; it decides between IPv4 and IPv6", PROPERTY_READY | PROPERTY_URI,
      settings.address, DEFAULT_ADDRESS,
      .changed = set_reopen),
  PROPERTY_STRING ("multicast-group", "Multicast group",
      "The same as address",
      PROPERTY_READY | PROPERTY_URI | G_PARAM_DEPRECATED, settings.address,
      DEFAULT_ADDRESS,
      .changed = set_reopen,.instead = "address"),
  PROPERTY_INT ("port", "Port",
      "Port to receive packets on; 0: any, and from READY on it is here",
      PROPERTY_READY | PROPERTY_URI, settings.port, 0, G_MAXUINT16, 5004,
      .changed = set_reopen),
  PROPERTY_STRING ("multicast-iface", "Multicast interface",
      "Network interfaces on which to join the multicast group, separated by "
      "commas, as eth0,eth1; unset: as the system routes it",
      PROPERTY_READY | PROPERTY_URI, settings.multicast_iface, NULL,
      .changed = set_reopen),
  PROPERTY_STRING ("multicast-source", "Multicast source",
      "Addresses whose packets to the multicast group are wanted (RFC 4604), "
      "as +192.0.2.1+192.0.2.2; unset: all", PROPERTY_READY | PROPERTY_URI,
      settings.multicast_source, NULL,
      .changed = set_reopen),
  PROPERTY_BOOLEAN ("auto-multicast", "Auto multicast",
      "Join and leave the multicast group", PROPERTY_READY | PROPERTY_URI,
      settings.auto_multicast, TRUE,
      .changed = set_reopen),
  PROPERTY_BOOLEAN ("loop", "Multicast loopback",
      "Whether what the socket sends to a multicast group comes back to this "
      "host", PROPERTY_READY | PROPERTY_URI, settings.loop, TRUE,
      .changed = set_reopen),
  PROPERTY_BOOLEAN ("reuse", "Reuse", "Let others have the port too",
      PROPERTY_READY, settings.reuse, TRUE,
      .changed = set_reopen),
  PROPERTY_INT ("buffer-size", "Buffer size",
      "Size of the kernel's receive buffer in bytes; 0: the kernel's default",
      PROPERTY_READY, settings.buffer_size, 0, G_MAXINT, 0,
      .changed = set_reopen),
  PROPERTY_OBJECT ("socket", "Socket",
      "UDP-Lite socket to receive from, in place of one of its own; it must "
      "be bound", PROPERTY_READY, socket, g_socket_get_type,
      .changed = set_reopen),
  PROPERTY_BOOLEAN ("close-socket", "Close socket",
      "Close the socket that was given, when the element goes to NULL",
      PROPERTY_PLAYING, settings.close_socket, TRUE),
  PROPERTY_INT ("skip-first-bytes", "Skip first bytes",
      "Bytes to skip at the begin of each packet; packets that have fewer are "
      "dropped", PROPERTY_PLAYING | PROPERTY_URI, settings.skip_first_bytes, 0,
      G_MAXINT, 0),
  PROPERTY_BOOLEAN ("retrieve-sender-address", "Retrieve sender address",
      "Add the sender's address to buffers, as GstNetAddressMeta",
      PROPERTY_PLAYING | PROPERTY_URI, settings.retrieve_sender_address, TRUE),
  PROPERTY_UINT ("mtu", "Expected maximum transmission unit",
      "Bytes that the pooled buffers have; longer packets come too, in buffers "
      "of their own", PROPERTY_READY, settings.mtu, 0, G_MAXINT, 1492),

  /**
   * GstUdpliteSrc:backend:
   *
   * What the packets come from. `kernel` and `raw` understand each other, as
   * they are both UDP-Lite on the wire; `udp` is for a peer that sends so.
   * `auto` takes the first that works, and #GstUdpliteSrc:stats says which.
   */
  PROPERTY_ENUM ("backend", "Backend",
      "How to receive UDP-Lite; it does not count where socket is set",
      PROPERTY_READY | PROPERTY_URI, settings.backend,
      gst_udplite_backend_get_type, UDPLITE_BACKEND_AUTO,
      .changed = set_reopen),

  /**
   * GstUdpliteSrc:min-coverage:
   *
   * Packets of which less is covered are dropped; one that is covered whole
   * never is. Counted as on the wire: the UDP-Lite header is 8 of the bytes, so
   * that 20 asks for RTP's fixed header too. An explicit 0 does not mean "any":
   * Linux then drops all packets that are not covered whole.
   */
  PROPERTY_INT ("min-coverage", "Minimum coverage",
      "Drop packets of which fewer bytes are covered, with UDP-Lite's header "
      "of 8; -1: none; 0: the kernel drops all that are not covered whole",
      PROPERTY_READY | PROPERTY_URI, settings.min_coverage, -1, G_MAXUINT16,
      -1,
      .changed = set_reopen),
};

/* --- what GstBaseSrc asks ------------------------------------------------ */

/* Buffers of `mtu` bytes, whatever is downstream: it doesn't know our packets. */
static gboolean
gst_udplite_src_decide_allocation (GstBaseSrc * src, GstQuery * query)
{
  GstUdpliteSrc *self = GST_UDPLITE_SRC (src);
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstCaps *caps;
  guint size;

  GST_OBJECT_LOCK (self);
  size = MAX (1, self->settings.mtu);
  GST_OBJECT_UNLOCK (self);
  self->pool_size = size;

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
  gboolean reopen;

  GST_OBJECT_LOCK (self);
  reopen = self->reopen;
  GST_OBJECT_UNLOCK (self);
  if (self->udplite && !reopen)
    return TRUE;
  gst_udplite_src_close (self, TRUE);
  return gst_udplite_src_open (self);
}

/* As udpsrc, it has its port from READY on. What is set in READY counts: start
 * opens it again then. */
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
  gst_wireless_properties_clear (object, GST_TYPE_UDPLITE_SRC);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_udplite_src_init (GstUdpliteSrc * self)
{
  gst_wireless_properties_init (self, GST_TYPE_UDPLITE_SRC);
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

  gst_network_uri_install (object_class, &uri);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "UDP-Lite packet receiver", "Source/Network",
      "Receives UDP-Lite packets (RFC 3828), damaged ones too",
      "The gst-plugins-wireless authors");
}
