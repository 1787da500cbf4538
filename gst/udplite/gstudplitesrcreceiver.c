/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Receives packets for udplitesrc and makes buffers from them. The functions
 * are documented in gstudplitesrcreceiver.h. */

#include "gstudplitesrcreceiver.h"

#include <string.h>

#include <gst/net/gstnetaddressmeta.h>

#include "datagramaddress.h"
#include "gstblockallocator.h"
#include "gstcoveragemeta.h"
#include "gstlivesource.h"
#include "socketmessages.h"

GST_DEBUG_CATEGORY_EXTERN (gst_udplite_src_debug);
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

/* --- life cycle ----------------------------------------------------------- */

void
gst_udplite_src_receiver_init (GstUdpliteSrcReceiver * self,
    GstNetworkSrc * src)
{
  self->src = src;
  self->blocks = gst_block_allocator_new (MAX_BLOCKS);
}

void
gst_udplite_src_receiver_finalize (GstUdpliteSrcReceiver * self)
{
  gst_object_unref (self->blocks);
}

static void
make_receive_buffers (GstUdpliteSrcReceiver * self)
{
  guint i;

  self->receive_buffers = g_malloc (DATAGRAM_BATCH * RECEIVE_BUFFER_SIZE);
  for (i = 0; i < DATAGRAM_BATCH; i++) {
    self->memories[i].data = self->receive_buffers + i * RECEIVE_BUFFER_SIZE;
    self->memories[i].capacity = RECEIVE_BUFFER_SIZE;
  }
}

void
gst_udplite_src_receiver_start (GstUdpliteSrcReceiver * self,
    UdpliteSocket * socket)
{
  self->socket = socket;
  make_receive_buffers (self);
  self->n_packets = self->last_batch = 0;
  self->more = FALSE;
  memset (&self->reported, 0, sizeof (self->reported));
  gst_warning_limit_reset (&self->warning_limit);
  GST_OBJECT_LOCK (self->src);
  memset (&self->counters, 0, sizeof (self->counters));
  GST_OBJECT_UNLOCK (self->src);
}

void
gst_udplite_src_receiver_stop (GstUdpliteSrcReceiver * self)
{
  self->socket = NULL;
  self->n_packets = 0;
  g_clear_object (&self->sender);
  g_clear_pointer (&self->receive_buffers, g_free);
}

/* --- waiting -------------------------------------------------------------- */

static GstFlowReturn
receive_error (GstUdpliteSrcReceiver * self, const GError * error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return GST_FLOW_FLUSHING;
  GST_ELEMENT_ERROR (self->src, RESOURCE, READ,
      ("Could not receive UDP-Lite on port %d: %s.%s",
          udplite_socket_get_port (self->socket), error->message,
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
wait_for_packet (GstUdpliteSrcReceiver * self, gint64 * since)
{
  GSocket *socket = udplite_socket_get_socket (self->socket);
  GstFlowReturn flow;
  GError *error = NULL;
  guint64 timeout;

  while (TRUE) {
    timeout = gst_network_src_get_timeout (self->src);
    if (g_socket_condition_timed_wait (socket, G_IO_IN | G_IO_PRI,
            time_left (timeout, *since),
            gst_network_src_get_cancellable (self->src), &error))
      return GST_FLOW_OK;
    if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
      break;
    g_clear_error (&error);
    *since = g_get_monotonic_time ();
    gst_network_src_post_timeout (self->src, timeout);
  }

  flow = receive_error (self, error);
  g_error_free (error);
  return flow;
}

/* --- one packet ----------------------------------------------------------- */

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
find_sender (GstUdpliteSrcReceiver * self, const UdplitePacket * packet)
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
make_buffer (GstUdpliteSrcReceiver * self, const UdplitePacket * packet,
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

/* --- discarded packets ---------------------------------------------------- */

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
log_discarded (GstUdpliteSrcReceiver * self, guint64 before, guint64 after,
    const gchar * reason)
{
  if (after > before)
    GST_DEBUG_OBJECT (self->src, "dropped %" G_GUINT64_FORMAT " packets: %s",
        after - before, reason);
}

/* Logs for each reason how many packets were discarded since the last call.
 * `stats` has the current counters. */
static void
log_all_discarded (GstUdpliteSrcReceiver * self,
    const UdpliteSocketStats * stats)
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
warn_about_discarded (GstUdpliteSrcReceiver * self,
    const UdpliteSocketStats * stats)
{
  guint64 refused = sum_discarded (stats) - sum_discarded (&self->reported);

  if (refused == 0 || !gst_warning_limit_allow (&self->warning_limit))
    return;
  GST_WARNING_OBJECT (self->src,
      "discarded %" G_GUINT64_FORMAT " packets: the property stats "
      "counts them by reason", refused);
  self->reported = *stats;
}

/* --- a batch -------------------------------------------------------------- */

static void
packet_options_init (PacketOptions * options, GstUdpliteSrcReceiver * self,
    guint n)
{
  GST_OBJECT_LOCK (self->src);
  options->skip = self->skip_first_bytes;
  options->with_sender = self->retrieve_sender_address;
  GST_OBJECT_UNLOCK (self->src);
  options->time = gst_live_list_get_time (GST_BASE_SRC_CAST (self->src));
  options->blocks = n > 1 ? self->blocks : NULL;
  options->pool = n > 1 ? NULL :
      gst_base_src_get_buffer_pool (GST_BASE_SRC_CAST (self->src));
  options->pool_size = self->pool_size;
}

/* Makes a buffer from a packet, and counts the packet in `counters`. Returns
 * NULL if the packet is dropped. */
static GstBuffer *
take_packet (GstUdpliteSrcReceiver * self, const UdplitePacket * packet,
    const PacketOptions * options, GstUdpliteSrcCounters * counters)
{
  GstBuffer *buffer;

  if (!gst_network_src_allows (self->src, packet->path.remote,
          packet->path.address_size))
    return NULL;
  buffer = make_buffer (self, packet, options);
  if (!buffer) {
    GST_DEBUG_OBJECT (self->src,
        "dropped a packet of %u bytes: too-short-to-skip: "
        "it is shorter than skip-first-bytes", (guint) packet->size);
    counters->too_short_to_skip++;
    return NULL;
  }
  counters->packets++;
  counters->bytes += packet->size - options->skip;
  counters->partly_covered += is_partly_covered (packet);
  return buffer;
}

/* Converts the first `n` packets in `self->packets` into buffers, and stores
 * the buffers in `buffers`. Counts the packets in `counters`. Returns the
 * number of buffers. */
static guint
make_buffers (GstUdpliteSrcReceiver * self, GstBuffer ** buffers, guint n,
    GstUdpliteSrcCounters * counters)
{
  PacketOptions options;
  guint i, n_buffers = 0;
  GstBuffer *buffer;

  if (n == 0)
    return 0;
  packet_options_init (&options, self, n);
  for (i = 0; i < n; i++) {
    buffer = take_packet (self, &self->packets[i], &options, counters);
    if (buffer)
      buffers[n_buffers++] = buffer;
  }
  gst_clear_object (&options.pool);
  return n_buffers;
}

static void
add_counters (GstUdpliteSrcReceiver * self, const GstUdpliteSrcCounters * more)
{
  GstUdpliteSrcCounters *counters = &self->counters;

  GST_OBJECT_LOCK (self->src);
  counters->packets += more->packets;
  counters->bytes += more->bytes;
  counters->lists += more->packets > 1;
  counters->partly_covered += more->partly_covered;
  counters->too_short_to_skip += more->too_short_to_skip;
  counters->socket = more->socket;
  GST_OBJECT_UNLOCK (self->src);
}

/* Adds the counters of a batch to those of the receiver, and reports the
 * packets that the socket has discarded since the last call. */
static void
count_batch (GstUdpliteSrcReceiver * self, GstUdpliteSrcCounters * counters)
{
  udplite_socket_get_stats (self->socket, &counters->socket);
  log_all_discarded (self, &counters->socket);
  add_counters (self, counters);
  warn_about_discarded (self, &counters->socket);
}

/* Returns the maximum number of datagrams to receive in the next call: twice
 * the size of the last batch, within fixed limits. The number is not always the
 * greatest possible one, because the memory that is prepared for each datagram
 * costs time even if fewer datagrams arrive. */
static guint
get_batch_size (GstUdpliteSrcReceiver * self)
{
  return gst_live_list_get_max (GST_BASE_SRC_CAST (self->src),
      CLAMP (2 * self->last_batch, MIN_BATCH, DATAGRAM_BATCH));
}

/* Receives the packets that wait in the socket, and stores them in
 * self->packets. Does not block: if no packet waits, self->n_packets becomes 0.
 */
static GstFlowReturn
receive_packets (GstUdpliteSrcReceiver * self)
{
  guint wanted = get_batch_size (self);
  GError *error = NULL;
  GstFlowReturn flow;

  self->packets = udplite_socket_receive (self->socket, self->memories,
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
 * for the next call of this function. `n_buffers` may become 0. */
static GstFlowReturn
take_batch (GstUdpliteSrcReceiver * self, GstBuffer ** buffers,
    guint * n_buffers)
{
  GstFlowReturn flow = self->n_packets > 0 ? GST_FLOW_OK :
      receive_packets (self);
  guint n = MIN (self->n_packets, gst_live_list_get_max (GST_BASE_SRC_CAST
          (self->src), DATAGRAM_BATCH));
  GstUdpliteSrcCounters counters = { 0 };

  *n_buffers = make_buffers (self, buffers, n, &counters);
  count_batch (self, &counters);
  self->packets += n;
  self->n_packets -= n;
  /* If the batch is empty, gst_udplite_src_receiver_receive () must call
   * wait_for_packet () next, because only wait_for_packet () detects a request
   * to stop. It does not call it while `more` is TRUE, so `more` is set to
   * FALSE here. */
  if (*n_buffers == 0)
    self->more = FALSE;
  return flow;
}

GstFlowReturn
gst_udplite_src_receiver_receive (GstUdpliteSrcReceiver * self,
    GstBuffer ** buffers, guint * n_buffers)
{
  gint64 since = g_get_monotonic_time ();
  GstFlowReturn flow;

  do {
    flow = self->n_packets > 0 || self->more ? GST_FLOW_OK :
        wait_for_packet (self, &since);
    if (flow == GST_FLOW_OK)
      flow = take_batch (self, buffers, n_buffers);
  } while (flow == GST_FLOW_OK && *n_buffers == 0);
  return flow;
}
