/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet's way through udplitesrc: a batch is received, each packet of it
 * becomes a buffer, and they leave together. The kernel writes into rooms that
 * hold any packet, and their bytes go into buffers of their size: none is lost
 * because it is large, and none holds 64 KiB because another could be.
 */

#include "gstudplitesrcprivate.h"

#include <gst/net/gstnetaddressmeta.h>

#include "gstcoveragemeta.h"
#include "gstlivesource.h"
#include "socketmessages.h"

/* Between two warnings about packets that were refused */
#define REPORT_INTERVAL (10 * GST_SECOND)

/* Packets to ask for after few came */
#define MIN_BATCH 8

/* What create() works on */
typedef struct
{
  GstBuffer *buffers[DATAGRAM_BATCH];
  guint n_buffers;
} Batch;

/* Of the properties that count for each packet */
typedef struct
{
  guint skip;
  gboolean with_sender;
  GstClockTime time;            /* running time, or none */
  GstBufferPool *pool;          /* may be NULL */
  gsize pool_size;              /* bytes of its buffers */
} Manner;

/* --- waiting ------------------------------------------------------------- */

static GstFlowReturn
receive_error (GstUdpliteSrc * self, const GError * error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return GST_FLOW_FLUSHING;
  GST_ELEMENT_ERROR (self, RESOURCE, READ,
      ("Could not receive UDP-Lite on port %d: %s.%s",
          udplite_socket_get_port (self->udplite), error->message,
          socket_error_get_advice (error)), (NULL));
  return GST_FLOW_ERROR;
}

/* us, from the last buffer or message on; -1: for ever */
static gint64
time_left (guint64 timeout, gint64 since)
{
  gint64 elapsed = g_get_monotonic_time () - since;

  if (timeout == 0)
    return -1;
  return MAX (0, (gint64) (timeout / GST_USECOND) - elapsed);
}

/* Until something can be received. `since`: begin of the time-out at hand */
static GstFlowReturn
wait_for_packet (GstUdpliteSrc * self, gint64 * since)
{
  GSocket *socket = udplite_socket_get_socket (self->udplite);
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
    gst_network_src_tell_timeout (src, timeout);
  }

  flow = receive_error (self, error);
  g_error_free (error);
  return flow;
}

/* --- one packet ---------------------------------------------------------- */

static GstBuffer *
copy_packet (const Manner * manner, const guint8 * data, gsize size)
{
  GstBuffer *buffer = NULL;

  if (!manner->pool || size > manner->pool_size
      || gst_buffer_pool_acquire_buffer (manner->pool, &buffer, NULL)
      != GST_FLOW_OK)
    return gst_buffer_new_memdup (data, size);
  gst_buffer_fill (buffer, 0, data, size);
  gst_buffer_set_size (buffer, size);
  return buffer;
}

/* Mostly the same one sends again. */
static GSocketAddress *
find_sender (GstUdpliteSrc * self, const UdpliteInput * input)
{
  if (self->sender && datagram_path_equal (&self->sender_path, &input->path))
    return self->sender;

  g_clear_object (&self->sender);
  self->sender_path = input->path;
  self->sender = datagram_path_get_remote (&self->sender_path);
  return self->sender;
}

/* NULL: it has no more than what has to be skipped. */
static GstBuffer *
make_buffer (GstUdpliteSrc * self, const UdpliteInput * input,
    const Manner * manner)
{
  gsize size = input->size, covered = input->covered;
  GSocketAddress *sender;
  GstBuffer *buffer;

  if (size < manner->skip)
    return NULL;
  size -= manner->skip;
  buffer = copy_packet (manner, input->data + input->offset + manner->skip,
      size);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = manner->time;

  if (input->covered != G_MAXUINT && input->covered < input->size) {
    covered -= MIN (covered, manner->skip);
    gst_buffer_add_coverage_meta (buffer, covered);
  }
  if (manner->with_sender && (sender = find_sender (self, input)))
    gst_buffer_add_net_address_meta (buffer, sender);
  return buffer;
}

/* --- a batch ------------------------------------------------------------- */

static void
manner_init (Manner * manner, GstUdpliteSrc * self)
{
  GST_OBJECT_LOCK (self);
  manner->skip = self->settings.skip_first_bytes;
  manner->with_sender = self->settings.retrieve_sender_address;
  GST_OBJECT_UNLOCK (self);
  manner->time = gst_live_list_get_time (GST_BASE_SRC_CAST (self));
  manner->pool = gst_base_src_get_buffer_pool (GST_BASE_SRC_CAST (self));
  manner->pool_size = self->pool_size;
}

static guint64
sum_refused (const UdpliteSocketStats * stats)
{
  guint64 sum = stats->truncated;
  guint i;

  for (i = UDPLITE_VALID + 1; i < UDPLITE_LAST; i++)
    sum += stats->refused[i];
  return sum;
}

static void
log_refused (GstUdpliteSrc * self, guint64 before, guint64 after,
    const gchar * reason)
{
  if (after > before)
    GST_DEBUG_OBJECT (self, "dropped %" G_GUINT64_FORMAT " packets: %s",
        after - before, reason);
}

/* What was refused since the counters were read last */
static void
log_all_refused (GstUdpliteSrc * self, const UdpliteSocketStats * stats)
{
  const UdpliteSocketStats *before = &self->counters.socket;
  guint i;

  for (i = UDPLITE_VALID + 1; i < UDPLITE_LAST; i++)
    log_refused (self, before->refused[i], stats->refused[i],
        udplite_verdict_get_name (i));
  log_refused (self, before->truncated, stats->truncated, "truncated");
  log_refused (self, before->foreign, stats->foreign, "foreign");
}

/* What others send must not fill the log of those who did not ask for it. */
static void
report_refused (GstUdpliteSrc * self, const UdpliteSocketStats * stats)
{
  guint64 refused = sum_refused (stats) - sum_refused (&self->reported);
  GstClockTime now;

  if (refused == 0)
    return;
  now = gst_util_get_timestamp ();
  if (GST_CLOCK_TIME_IS_VALID (self->report_time)
      && now < self->report_time + REPORT_INTERVAL)
    return;
  GST_WARNING_OBJECT (self, "refused %" G_GUINT64_FORMAT " packets: see stats",
      refused);
  self->reported = *stats;
  self->report_time = now;
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

static void
make_batch (GstUdpliteSrc * self, Batch * batch, guint n)
{
  GstUdpliteSrcCounters counters = { 0 };
  Manner manner;
  guint i;

  batch->n_buffers = 0;
  if (n > 0)
    manner_init (&manner, self);
  for (i = 0; i < n; i++) {
    const DatagramPath *path = &self->inputs[i].path;
    GstBuffer *buffer;

    if (!gst_network_src_allows (GST_NETWORK_SRC (self), path->remote,
            path->address_size))
      continue;
    buffer = make_buffer (self, &self->inputs[i], &manner);
    if (!buffer) {
      GST_DEBUG_OBJECT (self,
          "dropped a packet of %u bytes: too-short-to-skip: "
          "it has no more than skip-first-bytes", (guint) self->inputs[i].size);
      counters.too_short_to_skip++;
      continue;
    }
    batch->buffers[batch->n_buffers++] = buffer;
    counters.packets++;
    counters.bytes += gst_buffer_get_size (buffer);
    counters.partly_covered += gst_buffer_get_coverage_meta (buffer) != NULL;
  }
  if (n > 0)
    gst_clear_object (&manner.pool);
  udplite_socket_get_stats (self->udplite, &counters.socket);
  log_all_refused (self, &counters.socket);
  count (self, &counters);
  report_refused (self, &counters.socket);
}

/* How many packets to ask for: each costs, whether it comes or not. */
static guint
get_batch_size (GstUdpliteSrc * self)
{
  return gst_live_list_get_max (GST_BASE_SRC_CAST (self),
      CLAMP (2 * self->last_batch, MIN_BATCH, DATAGRAM_BATCH));
}

/* Takes what is there; an empty batch: nothing is. */
static GstFlowReturn
receive_batch (GstUdpliteSrc * self, Batch * batch)
{
  guint wanted = get_batch_size (self);
  GError *error = NULL;
  GstFlowReturn flow;
  guint n;

  n = udplite_socket_receive (self->udplite, self->inputs, wanted, &error);
  make_batch (self, batch, n);
  self->last_batch = n;
  self->more = n == wanted && batch->n_buffers > 0;
  if (!error)
    return GST_FLOW_OK;
  flow = n > 0 ? GST_FLOW_OK : receive_error (self, error);
  g_error_free (error);
  return flow;
}

GstFlowReturn
gst_udplite_src_create (GstPushSrc * src, GstBuffer ** buffer)
{
  GstUdpliteSrc *self = GST_UDPLITE_SRC (src);
  gint64 since = g_get_monotonic_time ();
  GstFlowReturn flow;
  Batch batch;

  batch.n_buffers = 0;
  do {
    flow = self->more ? GST_FLOW_OK : wait_for_packet (self, &since);
    if (flow == GST_FLOW_OK)
      flow = receive_batch (self, &batch);
  } while (flow == GST_FLOW_OK && batch.n_buffers == 0);
  if (flow != GST_FLOW_OK)
    return flow;

  return gst_network_src_submit (GST_NETWORK_SRC (src), batch.buffers,
      batch.n_buffers, buffer);
}
