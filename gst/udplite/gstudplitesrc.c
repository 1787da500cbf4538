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

#include <string.h>

#include <gst/net/gstnetaddressmeta.h>

#include "gstblockallocator.h"
#include "gstcoveragemeta.h"
#include "gstlivesource.h"
#include "gstnetworkuri.h"
#include "gstudplitecommon.h"
#include "gstudplitesrcsocket.h"
#include "gstwarninglimit.h"
#include "gstwirelessstats.h"
#include "socketmessages.h"

#define GST_TYPE_UDPLITE_SRC (gst_udplite_src_get_type ())
G_DECLARE_FINAL_TYPE (GstUdpliteSrc, gst_udplite_src, GST, UDPLITE_SRC,
    GstNetworkSrc);
GST_ELEMENT_REGISTER_DECLARE (udplitesrc);

GST_DEBUG_CATEGORY (gst_udplite_src_debug);
#define GST_CAT_DEFAULT gst_udplite_src_debug

/* Number of bytes that are allocated for a received packet. An IP packet of any
 * size fits, because RFC 791 and RFC 8200 limit it to 65,535 bytes. Most
 * packets are short, so mainly the first bytes are used. With buffers of
 * exactly 65,536 bytes, the first bytes of all packets would be mapped to the
 * same cache sets and evict each other. 1536 bytes are therefore added. Memory
 * pages that are never written cost nothing. */
#define RECEIVE_BUFFER_SIZE (65536 + 1536)

/* The buffers of several received packets are parts of one block of memory,
 * which has 64 KiB. If an element downstream keeps a single small buffer, the
 * whole block stays allocated. MAX_BLOCKS is the maximum number of such blocks,
 * so that at most 4 MiB are wasted in this way. */
#define MAX_BLOCKS 64
/* Minimum number of datagrams for which a receive call prepares memory. It is
 * used if the previous batch was small. */
#define MIN_BATCH 8

typedef struct
{
  guint64 packets, bytes, lists;
  /* number of received packets whose checksum covered only a part of their
   * bytes */
  guint64 partly_covered;
  /* number of packets that were dropped because they are shorter than the
   * property skip-first-bytes */
  guint64 too_short_to_skip;
  UdpliteSocketStats socket;
} GstUdpliteSrcCounters;

struct _GstUdpliteSrc
{
  GstNetworkSrc parent;

  GstUdpliteSrcSocket socket;

  /* protected by OBJECT_LOCK */
  gint skip_first_bytes;
  guint mtu;
  gboolean retrieve_sender_address;
  GstUdpliteSrcCounters counters;       /* since the socket was opened */

  guint8 *receive_buffers;      /* memory of all `memories` */
  UdpliteMemory memories[DATAGRAM_BATCH];
  /* Packets that the last receive call returned and that were not copied to a
   * GstBuffer yet. The array belongs to the socket `udplite`. */
  const UdplitePacket *packets;
  guint n_packets;
  /* number of packets that the last receive call returned */
  guint last_batch;
  /* TRUE if more packets may be waiting in the socket */
  gboolean more;
  /* the socket's counters of discarded packets, as they were at the last
   * warning about discarded packets */
  UdpliteSocketStats reported;
  /* limits the warnings about discarded packets */
  GstWarningLimit warning_limit;
  /* allocator of memory blocks; all buffers of a batch are parts of such a
   * block */
  GstAllocator *blocks;
  /* size in bytes of the buffers in the buffer pool that GstBaseSrc uses */
  gsize pool_size;
  /* sender of the previous packet, and the path on which this packet arrived */
  GSocketAddress *sender;
  DatagramPath sender_path;
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

static void
make_receive_buffers (GstUdpliteSrc * self)
{
  guint i;

  self->receive_buffers = g_malloc (DATAGRAM_BATCH * RECEIVE_BUFFER_SIZE);
  for (i = 0; i < DATAGRAM_BATCH; i++) {
    self->memories[i].data = self->receive_buffers + i * RECEIVE_BUFFER_SIZE;
    self->memories[i].capacity = RECEIVE_BUFFER_SIZE;
  }
}

/* Opens the socket. Called during a state change. On failure, posts an error
 * and returns FALSE. */
static gboolean
gst_udplite_src_open (GstUdpliteSrc * self)
{
  if (!gst_udplite_src_socket_open (&self->socket))
    return FALSE;
  make_receive_buffers (self);
  self->n_packets = self->last_batch = 0;
  self->more = FALSE;
  memset (&self->reported, 0, sizeof (self->reported));
  gst_warning_limit_reset (&self->warning_limit);
  GST_OBJECT_LOCK (self);
  memset (&self->counters, 0, sizeof (self->counters));
  GST_OBJECT_UNLOCK (self);
  gst_udplite_src_socket_publish (&self->socket);
  return TRUE;
}

/* Closes the socket. `again` is TRUE if the socket is opened again immediately.
 */
static void
gst_udplite_src_close (GstUdpliteSrc * self, gboolean again)
{
  gst_udplite_src_socket_close (&self->socket, again);
  self->n_packets = 0;
  g_clear_object (&self->sender);
  g_clear_pointer (&self->receive_buffers, g_free);
}

/* Packets are received in batches: each packet becomes a buffer, and the
 * buffers of a batch are pushed downstream together. The kernel writes into
 * memory that can hold a packet of any size. The bytes are then copied into
 * buffers of the right size. As a consequence, no packet is lost because it is
 * large, and a small packet does not occupy 64 KiB.
 */

/* The buffers into which create () copies one batch of received packets. */
typedef struct
{
  GstBuffer *buffers[DATAGRAM_BATCH];
  guint n_buffers;
} Batch;

/* Settings that apply to each packet of a batch. */
typedef struct
{
  guint skip;
  gboolean with_sender;
  /* running time in ns at which the packets were received; GST_CLOCK_TIME_NONE
   * = the buffers get no timestamp */
  GstClockTime time;
  GstAllocator *blocks;         /* not owned; NULL for a single packet */
  GstBufferPool *pool;          /* for a single packet; may be NULL */
  gsize pool_size;              /* size in bytes of the buffers in `pool` */
} PacketOptions;

/* --- waiting ------------------------------------------------------------- */

static GstFlowReturn
receive_error (GstUdpliteSrc * self, const GError * error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return GST_FLOW_FLUSHING;
  GST_ELEMENT_ERROR (self, RESOURCE, READ,
      ("Could not receive UDP-Lite on port %d: %s.%s",
          udplite_socket_get_port (self->socket.udplite), error->message,
          socket_error_get_advice (error)), (NULL));
  return GST_FLOW_ERROR;
}

/* Returns the time in us until the timeout expires, or -1 if there is no
 * timeout. `timeout` is the duration of the timeout in ns; 0 means no timeout.
 * `since` is the monotonic time in us at which the timeout began, which is the
 * time of the last buffer or message. */
static gint64
time_left (guint64 timeout, gint64 since)
{
  gint64 elapsed = g_get_monotonic_time () - since;

  if (timeout == 0)
    return -1;
  return MAX (0, (gint64) (timeout / GST_USECOND) - elapsed);
}

/* Waits until a packet can be received. If the property `timeout` is set, the
 * waiting time is divided into periods of this length, and a message is posted
 * after each period without a packet. `since` is the monotonic time in us at
 * which the current period began. The function updates `since` when a new
 * period begins. */
static GstFlowReturn
wait_for_packet (GstUdpliteSrc * self, gint64 * since)
{
  GSocket *socket = udplite_socket_get_socket (self->socket.udplite);
  GstNetworkSrc *src = GST_NETWORK_SRC (self);
  GstFlowReturn flow;
  GError *error = NULL;
  guint64 timeout;

  while (TRUE) {
    timeout = gst_network_src_get_timeout (src);
    if (g_socket_condition_timed_wait (socket, G_IO_IN | G_IO_PRI,
            time_left (timeout, *since), gst_network_src_get_cancellable (src),
            &error))
      return GST_FLOW_OK;
    if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
      break;
    g_clear_error (&error);
    *since = g_get_monotonic_time ();
    gst_network_src_post_timeout (src, timeout);
  }

  flow = receive_error (self, error);
  g_error_free (error);
  return flow;
}

/* --- one packet ---------------------------------------------------------- */

/* Makes a buffer that is a part of a block of memory. All packets that were
 * received together share the block. Blocks have an advantage over the buffers
 * of a pool: the memory of a new block was usually freed just before, and is
 * still in the cache of the CPU. In a pool, a freed buffer is used again only
 * after all other free buffers. */
static GstBuffer *
copy_to_block (GstAllocator * blocks, const guint8 * data, gsize size)
{
  guint8 *to;
  GstBuffer *buffer = gst_block_allocator_new_buffer (blocks, size, &to);

  memcpy (to, data, size);
  return buffer;
}

static GstBuffer *
copy_packet (const PacketOptions * options, const guint8 * data, gsize size)
{
  GstBuffer *buffer = NULL;

  if (size == 0)
    return gst_buffer_new ();
  if (options->blocks)
    return copy_to_block (options->blocks, data, size);
  if (!options->pool || size > options->pool_size
      || gst_buffer_pool_acquire_buffer (options->pool, &buffer, NULL)
      != GST_FLOW_OK)
    return gst_buffer_new_memdup (data, size);
  gst_buffer_fill (buffer, 0, data, size);
  gst_buffer_set_size (buffer, size);
  return buffer;
}

/* Returns the address of the packet's sender. The address of the previous
 * sender is cached, because consecutive packets usually have the same sender.
 */
static GSocketAddress *
find_sender (GstUdpliteSrc * self, const UdplitePacket * packet)
{
  if (self->sender && datagram_path_equal (&self->sender_path, &packet->path))
    return self->sender;

  g_clear_object (&self->sender);
  self->sender_path = packet->path;
  self->sender = datagram_path_get_remote (&self->sender_path);
  return self->sender;
}

static gboolean
is_partly_covered (const UdplitePacket * packet)
{
  return packet->covered != G_MAXUINT && packet->covered < packet->size;
}

/* Makes a buffer from a packet, without its first bytes if the property
 * skip-first-bytes is set. Returns NULL if the packet has fewer bytes than have
 * to be skipped. */
static GstBuffer *
make_buffer (GstUdpliteSrc * self, const UdplitePacket * packet,
    const PacketOptions * options)
{
  gsize size = packet->size, covered = packet->covered;
  GSocketAddress *sender;
  GstBuffer *buffer;

  if (size < options->skip)
    return NULL;
  size -= options->skip;
  buffer = copy_packet (options, packet->data + options->skip, size);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = options->time;

  if (is_partly_covered (packet)) {
    covered -= MIN (covered, options->skip);
    gst_buffer_add_coverage_meta (buffer, covered);
  }
  if (options->with_sender && (sender = find_sender (self, packet)))
    gst_buffer_add_net_address_meta (buffer, sender);
  return buffer;
}

/* --- a batch ------------------------------------------------------------- */

static void
packet_options_init (PacketOptions * options, GstUdpliteSrc * self, guint n)
{
  GST_OBJECT_LOCK (self);
  options->skip = self->skip_first_bytes;
  options->with_sender = self->retrieve_sender_address;
  GST_OBJECT_UNLOCK (self);
  options->time = gst_live_list_get_time (GST_BASE_SRC_CAST (self));
  options->blocks = n > 1 ? self->blocks : NULL;
  options->pool = n > 1 ? NULL :
      gst_base_src_get_buffer_pool (GST_BASE_SRC_CAST (self));
  options->pool_size = self->pool_size;
}

static guint64
sum_discarded (const UdpliteSocketStats * stats)
{
  guint64 sum = stats->truncated;
  guint i;

  for (i = UDPLITE_VALID + 1; i < UDPLITE_LAST; i++)
    sum += stats->refused[i];
  return sum;
}

static void
log_discarded (GstUdpliteSrc * self, guint64 before, guint64 after,
    const gchar * reason)
{
  if (after > before)
    GST_DEBUG_OBJECT (self, "dropped %" G_GUINT64_FORMAT " packets: %s",
        after - before, reason);
}

/* Logs for each reason how many packets were discarded since the last call.
 * `stats` has the current counters. */
static void
log_all_discarded (GstUdpliteSrc * self, const UdpliteSocketStats * stats)
{
  const UdpliteSocketStats *before = &self->counters.socket;
  guint i;

  for (i = UDPLITE_VALID + 1; i < UDPLITE_LAST; i++)
    log_discarded (self, before->refused[i], stats->refused[i],
        udplite_verdict_get_name (i));
  log_discarded (self, before->truncated, stats->truncated, "truncated");
  log_discarded (self, before->foreign, stats->foreign, "foreign");
}

/* Warns about discarded packets. Each warning counts all packets that were
 * discarded since the last warning. */
static void
warn_about_discarded (GstUdpliteSrc * self, const UdpliteSocketStats * stats)
{
  guint64 refused = sum_discarded (stats) - sum_discarded (&self->reported);

  if (refused == 0 || !gst_warning_limit_allow (&self->warning_limit))
    return;
  GST_WARNING_OBJECT (self,
      "discarded %" G_GUINT64_FORMAT " packets: the property stats "
      "counts them by reason", refused);
  self->reported = *stats;
}

static void
count (GstUdpliteSrc * self, const GstUdpliteSrcCounters * more)
{
  GstUdpliteSrcCounters *counters = &self->counters;

  GST_OBJECT_LOCK (self);
  counters->packets += more->packets;
  counters->bytes += more->bytes;
  counters->lists += more->packets > 1;
  counters->partly_covered += more->partly_covered;
  counters->too_short_to_skip += more->too_short_to_skip;
  counters->socket = more->socket;
  GST_OBJECT_UNLOCK (self);
}

/* Converts the first `n` packets in `self->packets` into GstBuffers, and stores
 * the buffers in `batch`. */
static void
make_batch (GstUdpliteSrc * self, Batch * batch, guint n)
{
  GstUdpliteSrcCounters counters = { 0 };
  PacketOptions options;
  guint i;

  batch->n_buffers = 0;
  if (n > 0)
    packet_options_init (&options, self, n);
  for (i = 0; i < n; i++) {
    const UdplitePacket *packet = &self->packets[i];
    GstBuffer *buffer;

    if (!gst_network_src_allows (GST_NETWORK_SRC (self), packet->path.remote,
            packet->path.address_size))
      continue;
    buffer = make_buffer (self, packet, &options);
    if (!buffer) {
      GST_DEBUG_OBJECT (self,
          "dropped a packet of %u bytes: too-short-to-skip: "
          "it is shorter than skip-first-bytes", (guint) packet->size);
      counters.too_short_to_skip++;
      continue;
    }
    batch->buffers[batch->n_buffers++] = buffer;
    counters.packets++;
    counters.bytes += packet->size - options.skip;
    counters.partly_covered += is_partly_covered (packet);
  }
  if (n > 0)
    gst_clear_object (&options.pool);
  udplite_socket_get_stats (self->socket.udplite, &counters.socket);
  log_all_discarded (self, &counters.socket);
  count (self, &counters);
  warn_about_discarded (self, &counters.socket);
}

/* Returns the maximum number of datagrams to receive in the next call: twice
 * the size of the last batch, within fixed limits. The number is not always the
 * greatest possible one, because the memory that is prepared for each datagram
 * costs time even if fewer datagrams arrive. */
static guint
get_batch_size (GstUdpliteSrc * self)
{
  return gst_live_list_get_max (GST_BASE_SRC_CAST (self),
      CLAMP (2 * self->last_batch, MIN_BATCH, DATAGRAM_BATCH));
}

/* Receives the packets that wait in the socket, and stores them in
 * self->packets. Does not block: if no packet waits, self->n_packets becomes 0.
 */
static GstFlowReturn
receive_packets (GstUdpliteSrc * self)
{
  guint wanted = get_batch_size (self);
  GError *error = NULL;
  GstFlowReturn flow;

  self->packets = udplite_socket_receive (self->socket.udplite, self->memories,
      wanted, &self->n_packets, &error);
  self->last_batch = self->n_packets;
  self->more = self->n_packets >= wanted;
  if (!error)
    return GST_FLOW_OK;
  flow = receive_error (self, error);
  g_error_free (error);
  return flow;
}

/* Makes a batch of buffers from received packets. If no packet is left from the
 * last receive call, receives packets first. With GRO, one receive call can
 * return more packets than fit into a buffer list. The remaining packets stay
 * for the next call of this function. */
static GstFlowReturn
take_batch (GstUdpliteSrc * self, Batch * batch)
{
  GstFlowReturn flow = self->n_packets > 0 ? GST_FLOW_OK :
      receive_packets (self);
  guint n = MIN (self->n_packets, gst_live_list_get_max (GST_BASE_SRC_CAST
          (self), DATAGRAM_BATCH));

  make_batch (self, batch, n);
  self->packets += n;
  self->n_packets -= n;
  /* If the batch is empty, create () must call wait_for_packet () next, because
   * only wait_for_packet () detects a request to stop. create () does not call
   * it while `more` is TRUE, so `more` is set to FALSE here. */
  if (batch->n_buffers == 0)
    self->more = FALSE;
  return flow;
}

static GstFlowReturn
gst_udplite_src_create (GstPushSrc * src, GstBuffer ** buffer)
{
  GstUdpliteSrc *self = GST_UDPLITE_SRC (src);
  gint64 since = g_get_monotonic_time ();
  GstFlowReturn flow;
  Batch batch;

  batch.n_buffers = 0;
  do {
    flow = self->n_packets > 0 || self->more ? GST_FLOW_OK :
        wait_for_packet (self, &since);
    if (flow == GST_FLOW_OK)
      flow = take_batch (self, &batch);
  } while (flow == GST_FLOW_OK && batch.n_buffers == 0);
  if (flow != GST_FLOW_OK)
    return flow;

  return gst_network_src_submit (GST_NETWORK_SRC (src), batch.buffers,
      batch.n_buffers, buffer);
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
  counters = self->counters;
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
      skip_first_bytes, 0,
      G_MAXINT, 0),
  PROPERTY_BOOLEAN ("retrieve-sender-address", "Retrieve sender address",
      "Whether the address of the sender is added to buffers as "
      "GstNetAddressMeta",
      PROPERTY_PLAYING | PROPERTY_URI, retrieve_sender_address, TRUE),
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
  gst_object_unref (GST_UDPLITE_SRC (object)->blocks);
  gst_wireless_properties_clear (object, GST_TYPE_UDPLITE_SRC);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_udplite_src_init (GstUdpliteSrc * self)
{
  self->blocks = gst_block_allocator_new (MAX_BLOCKS);
  gst_wireless_properties_init (self, GST_TYPE_UDPLITE_SRC);
  gst_udplite_src_socket_init (&self->socket, GST_NETWORK_SRC (self));
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
