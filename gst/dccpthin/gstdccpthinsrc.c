/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-dcctpthinsrc
 * @title: dcctpthinsrc
 * @short_description: Receives over DCCP
 *
 * The element is registered under two names, dcctpthinsrc and dccpthinsrc. The
 * example launch lines use the name dccpthinsrc.
 *
 * The element receives a stream over a DCCP connection with CCID 3 (RFC 4340,
 * RFC 4342), from dcctpthinsink or any other implementation of CCID 3. DCCP
 * runs in user space. Each packet becomes one buffer. The element reports the
 * receive rate and the losses to the sender, which computes its rate from them.
 * When downstream is too slow, the element reports this to the sender as well.
 *
 * The element is a live source. It sends EOS downstream when the sender closes
 * the connection.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 dccpthinsrc port=5004 caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=MPV,payload=32" ! rtpjitterbuffer ! rfc2250depay ! mpegvideoparse ! avdec_mpeg2video ! autovideosink
 * ]| Waits for a sender, and plays what it sends.
 * |[
 * gst-launch-1.0 playbin3 uri="dccpthin://0.0.0.0:5004?encoding-name=MPV&media=video&clock-rate=90000&payload=32"
 * ]| Does the same with playbin3.
 *
 * Since: 0.1
 */

#include <string.h>

#include "gstdccpthinend.h"
#include "gstlivesource.h"
#include "gstnetworksrc.h"
#include "gstwirelessproperties.h"
#include "gstwirelessstats.h"
#include "socketmessages.h"

#define GST_TYPE_DCCP_THIN_SRC (gst_dccp_thin_src_get_type ())
G_DECLARE_FINAL_TYPE (GstDccpThinSrc, gst_dccp_thin_src, GST, DCCP_THIN_SRC,
    GstNetworkSrc);
GST_ELEMENT_REGISTER_DECLARE (dcctpthinsrc);
GST_ELEMENT_REGISTER_DECLARE (dccpthinsrc);

GST_DEBUG_CATEGORY_STATIC (gst_dccp_thin_src_debug);
#define GST_CAT_DEFAULT gst_dccp_thin_src_debug

/* Maximum value of a property that is a time in ns. If the value were greater,
 * the sum of this time and the current time could overflow a gint64. */
#define MAX_TIME (G_MAXINT64 / 2)
/* Size of a receive buffer in bytes. A DCCP packet of the maximum size fits
 * into 64 KiB. Because of the additional 1536 bytes, each buffer begins at
 * another position within a memory page than the previous buffer. Usually only
 * the first bytes of each buffer are used. If all buffers began at the same
 * position within a page, the first bytes of all buffers would compete for a
 * few lines of the processor's cache.
 *
 * A large buffer costs no more memory than a small one, because memory pages
 * that are never written are not allocated. */
#define MAX_INPUT_SIZE (65536 + 1536)
/* RFC 4340 section 11.7.2: Drop Code 2, "Receive Buffer" */
#define DROPPED_RECEIVE_BUFFER 2
/* maximum length of a buffer list */
#define MAX_LIST 64
/* Minimum and maximum pause in us between two attempts to connect to a sender.
 * The first pause is the minimum. Each further pause is twice as long, up to
 * the maximum. */
#define MIN_PAUSE (100 * G_TIME_SPAN_MILLISECOND)
#define MAX_PAUSE (5 * G_TIME_SPAN_SECOND)

/* The element has a thread that runs the connection, in addition to its
 * streaming thread. The reason is that feedback must be sent in time even if
 * downstream is slow and blocks the streaming thread. A bounded queue passes
 * the data to the streaming thread. When the queue fills, the sender is told
 * that the receiver is slow. */

/* Counters that the element itself keeps. The protocol core keeps all other
 * counters. */
typedef struct
{
  guint64 buffers, bytes;       /* pushed downstream */
  /* number of packets that were dropped because the queue was full */
  guint64 dropped_full;
  /* number of packets that were dropped because the pipeline was paused */
  guint64 dropped_paused;
} GstDccpThinSrcCounters;

/* An item of the queue between the connection's thread and the streaming
 * thread: received data, or the end of the stream */
typedef struct
{
  DatagramSlice data;
  guint64 time;                 /* arrival time in ns */
  gboolean discont;
  /* the EOS event or an error message, if the item is the end of the stream;
   * NULL if the item is data */
  GstMiniObject *end;
} Item;

struct _GstDccpThinSrc
{
  GstNetworkSrc parent;

  /* The DCCP endpoint. Its lock, `end.lock`, also protects the fields below. */
  GstDccpThinEnd end;
  /* --- protected by the lock --- */
  guint max_bytes, max_packets; /* limits of the queue */
  gboolean eos_at_end;
  guint64 peer_timeout;         /* ns; 0 = no timeout */
  GstNetworkSrcQueue queue;     /* of Items */
  /* TRUE if the element has told the DCCP sender that this receiver is slow,
   * because downstream does not take the data fast enough */
  gboolean is_slow;
  gboolean stopping;
  GstDccpThinSrcCounters counters;

  /* The following fields are set and freed only while no thread of the element
   * runs, so they need no lock. */
  GThread *thread;
  /* If this object is cancelled, the thread of the connection stops waiting, so
   * that this thread can end. Another thread may cancel the object at any time
   * without a lock, because a GCancellable is thread-safe. */
  GCancellable *cancellable;
};

#define LOCK(self) g_mutex_lock (&(self)->end.lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->end.lock)

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define gst_dccp_thin_src_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstDccpThinSrc, gst_dccp_thin_src,
    GST_TYPE_NETWORK_SRC,
    GST_DEBUG_CATEGORY_INIT (gst_dccp_thin_src_debug, "dccpthinsrc", 0,
        "DCCP source"));
/* The element has the rank NONE, like udpsrc. It needs no rank, because it is
 * found by its URI scheme and not by its caps. */
GST_ELEMENT_REGISTER_DEFINE (dccpthinsrc, "dccpthinsrc", GST_RANK_NONE,
    GST_TYPE_DCCP_THIN_SRC);

/* --- second name of the element ------------------------------------------- */

/* The element has a second name, dcctpthinsrc. A GType can belong to one
 * element factory only. The second factory therefore has a GType of its own, a
 * subclass. The default names of the two elements differ as well, because
 * GStreamer derives a default name, such as dccpthinsrc0, from the name of the
 * GType. */
typedef GstDccpThinSrc GstDcctpThinSrc;
typedef GstDccpThinSrcClass GstDcctpThinSrcClass;

static GType gst_dcctp_thin_src_get_type (void);
G_DEFINE_TYPE (GstDcctpThinSrc, gst_dcctp_thin_src, GST_TYPE_DCCP_THIN_SRC);
GST_ELEMENT_REGISTER_DEFINE (dcctpthinsrc, "dcctpthinsrc", GST_RANK_NONE,
    gst_dcctp_thin_src_get_type ());

static void
gst_dcctp_thin_src_init (GstDcctpThinSrc * self)
{
}

static void
gst_dcctp_thin_src_class_init (GstDcctpThinSrcClass * klass)
{
}

/* --- queue, called with the lock held ------------------------------------- */

static void
clear_item (gpointer data)
{
  Item *item = data;

  datagram_slice_clear (&item->data);
  g_clear_pointer (&item->end, gst_mini_object_unref);
}

/* Returns whether the queue of received data is filled to at least the fraction
 * numerator / denominator of max_bytes or of max_packets. */
static gboolean
is_filled (GstDccpThinSrc * self, guint numerator, guint denominator)
{
  return self->queue.bytes * denominator >=
      (guint64) self->max_bytes * numerator
      || (guint64) gst_network_src_queue_get_length (&self->queue) *
      denominator >= (guint64) self->max_packets * numerator;
}

/* Tells the sender that the receiver is slow when the queue of received data is
 * half full, or when the pipeline is paused. Tells the sender that the receiver
 * is fast enough again when less than a quarter of the queue is filled. */
static void
update_slow (GstDccpThinSrc * self)
{
  gboolean slow = self->is_slow;

  if (self->queue.paused || is_filled (self, 1, 2))
    slow = TRUE;
  else if (!is_filled (self, 1, 4))
    slow = FALSE;
  if (slow == self->is_slow)
    return;
  GST_DEBUG_OBJECT (self, "downstream is %s", slow ? "slow" : "fast enough");
  self->is_slow = slow;
  if (self->end.endpoint)
    dccp_endpoint_set_slow (self->end.endpoint, gst_dccp_thin_now (), slow);
  driver_wake (&self->end.driver, TRUE);
}

static void
drop (GstDccpThinSrc * self, const DccpData * data, guint64 * counter)
{
  GST_DEBUG_OBJECT (self, "dropped packet %" G_GUINT64_FORMAT " of %"
      G_GSIZE_FORMAT " bytes: %s", data->sequence, (gsize) data->size,
      counter == &self->counters.dropped_full ?
      "full: max-packets or max-bytes wait for downstream" :
      "paused: the pipeline is not in PLAYING");
  (*counter)++;
  self->queue.discont = TRUE;
  dccp_endpoint_dropped (self->end.endpoint, gst_dccp_thin_now (),
      data->sequence, DROPPED_RECEIVE_BUFFER);
}

static void
gst_dccp_thin_src_queue_data (gpointer element, const DccpData * data,
    guint64 time)
{
  GstDccpThinSrc *self = element;
  Item item = {.time = time };

  /* DCCP allows packets without data. Such packets are ignored, because
   * GStreamer has no use for an empty buffer. */
  if (data->size == 0)
    return;
  if (self->queue.paused || is_filled (self, 1, 1)) {
    drop (self, data, self->queue.paused ? &self->counters.dropped_paused :
        &self->counters.dropped_full);
  } else {
    datagram_block_slice (data->block, data->payload, data->size, &item.data);
    item.discont = gst_network_src_queue_take_discont (&self->queue)
        || data->discont;
    gst_network_src_queue_push (&self->queue, &item, data->size);
  }
  update_slow (self);
}

static void
gst_dccp_thin_src_drop_queued (GstDccpThinSrc * self)
{
  self->counters.dropped_paused +=
      gst_network_src_queue_drop_buffers (&self->queue);
  update_slow (self);
}

static void
gst_dccp_thin_src_clear_queue (GstDccpThinSrc * self)
{
  gst_network_src_queue_clear (&self->queue);
  self->queue.discont = FALSE;
  self->is_slow = FALSE;
}

/* --- buffers -------------------------------------------------------------- */

/* Computes how far the running time of the pipeline is ahead of the core's
 * clock (g_get_monotonic_time ()), in ns. Returns FALSE if the source sets no
 * timestamps or the pipeline has no clock. */
static gboolean
get_offset (GstDccpThinSrc * self, gint64 * offset)
{
  GstElement *element = GST_ELEMENT_CAST (self);
  GstClock *clock;

  if (!gst_base_src_get_do_timestamp (GST_BASE_SRC_CAST (self)))
    return FALSE;
  clock = gst_element_get_clock (element);
  if (!clock)
    return FALSE;
  *offset = (gint64) (gst_clock_get_time (clock)
      - gst_element_get_base_time (element)) - (gint64) gst_dccp_thin_now ();
  gst_object_unref (clock);
  return TRUE;
}

/* Makes a buffer from a received packet. Its timestamps are the arrival time,
 * converted to the running time of the pipeline. If the packet arrived before
 * the pipeline began to run, the timestamps are 0. */
static GstBuffer *
make_buffer (Item * item, gboolean has_offset, gint64 offset)
{
  GstBuffer *buffer = gst_network_src_new_buffer (&item->data);

  if (has_offset)
    GST_BUFFER_DTS (buffer) = GST_BUFFER_PTS (buffer) =
        MAX (0, (gint64) item->time + offset);
  if (item->discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  return buffer;
}

/* Moves at most `n` items that contain received data from the head of the queue
 * to the array `items`. Returns the number of moved items. The caller holds the
 * lock. */
static guint
take_data (GstDccpThinSrc * self, Item * items, guint n)
{
  guint taken = 0;

  while (taken < n
      && gst_network_src_queue_pop_buffer (&self->queue, &items[taken])) {
    self->counters.buffers++;
    self->counters.bytes += items[taken].data.size;
    taken++;
  }
  if (taken > 0)
    update_slow (self);
  return taken;
}

/* Ends the stream. `object` is the last item of the queue: an EOS event, for
 * which the function returns GST_FLOW_EOS, or an error message, which it posts.
 * Takes ownership of `object`. */
static GstFlowReturn
push_end (GstDccpThinSrc * self, GstMiniObject * object)
{
  if (GST_IS_MESSAGE (object)) {
    gst_element_post_message (GST_ELEMENT_CAST (self),
        GST_MESSAGE_CAST (object));
    return GST_FLOW_ERROR;
  }
  gst_mini_object_unref (object);
  return GST_FLOW_EOS;
}

static GstFlowReturn
push_data (GstDccpThinSrc * self, Item * items, guint n, GstBuffer ** buffer)
{
  GstBuffer *buffers[MAX_LIST];
  gboolean has_offset;
  gint64 offset = 0;
  guint i;

  has_offset = get_offset (self, &offset);
  for (i = 0; i < n; i++)
    buffers[i] = make_buffer (&items[i], has_offset, offset);
  return gst_network_src_submit (GST_NETWORK_SRC (self), buffers, n, buffer);
}

static GstFlowReturn
gst_dccp_thin_src_create (GstPushSrc * src, GstBuffer ** buffer)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (src);
  guint n, max_length = gst_live_list_get_max (GST_BASE_SRC (src), MAX_LIST);
  Item items[MAX_LIST], end;
  gboolean flushing;

  LOCK (self);
  flushing = !gst_network_src_wait_for_queue (GST_NETWORK_SRC (src),
      &self->queue);
  n = flushing ? 0 : take_data (self, items, max_length);
  if (!flushing && n == 0)
    gst_network_src_queue_pop (&self->queue, &end);
  UNLOCK (self);
  if (flushing)
    return GST_FLOW_FLUSHING;
  return n > 0 ? push_data (self, items, n, buffer) : push_end (self, end.end);
}

/* --- callbacks of the endpoint, called with the lock held ----------------- */

/* Handles the beginning of a connection; other events are ignored. The first
 * buffer of a new connection does not continue the stream of the previous
 * connection, so it gets the flag DISCONT. The new sender is told whether this
 * receiver is slow. */
static void
gst_dccp_thin_src_take_event (gpointer element, const DccpEvent * event)
{
  GstDccpThinSrc *self = element;

  if (event->type != DCCP_EVENT_CONNECTED)
    return;
  self->queue.discont = TRUE;
  dccp_endpoint_set_slow (self->end.endpoint, gst_dccp_thin_now (),
      self->is_slow);
}

/* Returns whether packets from the peer with the address in `path` are
 * accepted. With mode=caller the element has chosen the peer itself, so only
 * mode=listener checks the property allowed-senders. Must be called with the
 * lock held. */
static gboolean
gst_dccp_thin_src_allows (gpointer element, const DatagramPath * path)
{
  GstDccpThinSrc *self = element;

  return self->end.settings.mode != GST_DCCP_THIN_MODE_LISTENER
      || gst_network_src_allows (GST_NETWORK_SRC (self), path->remote,
      path->address_size);
}

/* Releases the lock. If the connection's thread has put data into the queue,
 * also wakes the streaming thread, which pushes these data downstream. */
static void
gst_dccp_thin_src_unlock (gpointer element)
{
  GstDccpThinSrc *self = element;

  gst_network_src_queue_unlock (&self->queue);
}

/* --- one connection ------------------------------------------------------- */

/* Sets the property used-socket to the socket of the endpoint, or to NULL if
 * the endpoint is closed. The caller does not hold the lock. The socket is read
 * with the lock, which is released before OBJECT_LOCK is taken. */
static void
use_socket_of_end (GstDccpThinSrc * self)
{
  GSocket *socket = NULL;

  LOCK (self);
  if (self->end.endpoint)
    socket = g_object_ref (datagram_socket_get_socket (driver_get_socket
            (&self->end.driver, 0)));
  UNLOCK (self);
  gst_network_src_set_used_socket (GST_NETWORK_SRC (self), socket);
  g_clear_object (&socket);
}

/* Opens the endpoint. Called by the connection's thread. */
static gboolean
open_end (GstDccpThinSrc * self, const GstDccpThinSettings * settings,
    GSocketAddress * remote, gboolean is_last, guint64 timeout, GError ** error)
{
  if (!gst_dccp_thin_end_open (&self->end, settings, remote, is_last, timeout,
          self->cancellable, error))
    return FALSE;
  use_socket_of_end (self);
  return TRUE;
}

static void
close_end (GstDccpThinSrc * self)
{
  gst_network_src_set_used_socket (GST_NETWORK_SRC (self), NULL);
  gst_dccp_thin_end_close (&self->end);
}

/* Waits for a connection if there is none yet, and runs the driver's loop until
 * the connection has ended. Sets `error` to the reason why the loop ended.
 * Returns FALSE if no connection was established. */
static gboolean
run_connection (GstDccpThinSrc * self, GError ** error)
{
  gboolean was_connected;
  guint64 before;
  DccpStats stats;

  LOCK (self);
  gst_dccp_thin_end_get_stats (&self->end, &stats);
  before = stats.connections;
  self->end.is_connected = FALSE;
  g_clear_error (&self->end.broken);
  UNLOCK (self);
  driver_run (&self->end.driver, gst_dccp_thin_end_is_broken, G_MAXINT64,
      self->cancellable, error);
  LOCK (self);
  gst_dccp_thin_end_get_stats (&self->end, &stats);
  was_connected = stats.connections > before;
  if (self->end.broken && !*error)
    g_propagate_error (error, g_steal_pointer (&self->end.broken));
  gst_dccp_thin_end_take_off (&self->end);
  gst_dccp_thin_end_unlock_and_post (&self->end);
  return was_connected;
}

/* Sends a Close packet to the peer. In DCCP, a Close packet ends the
 * connection. This function does not wait for the peer's answer. */
static void
close_connection (GstDccpThinSrc * self)
{
  LOCK (self);
  if (self->end.endpoint) {
    dccp_endpoint_close (self->end.endpoint, gst_dccp_thin_now ());
    driver_flush (&self->end.driver);
  }
  gst_dccp_thin_end_unlock_and_post (&self->end);
}

/* Tries to connect to the addresses of the host, one after the other, until one
 * of them answers. Then runs the connection until it ends. Returns FALSE if no
 * address has answered. */
static gboolean
connect_once (GstDccpThinSrc * self, const GstDccpThinSettings * settings,
    guint64 timeout, GError ** error)
{
  GList *remotes = gst_dccp_thin_resolve (settings, self->cancellable, error);
  gboolean was_connected = FALSE;
  GList *walk;

  for (walk = remotes; walk && !was_connected; walk = walk->next) {
    if (g_cancellable_is_cancelled (self->cancellable) && *error)
      break;
    g_clear_error (error);
    if (!open_end (self, settings, walk->data, !walk->next, timeout, error))
      continue;
    was_connected = run_connection (self, error);
    if (g_cancellable_is_cancelled (self->cancellable))
      close_connection (self);
    close_end (self);
  }
  g_list_free_full (remotes, g_object_unref);
  return was_connected;
}

static gboolean
listen_once (GstDccpThinSrc * self, GError ** error)
{
  gboolean was_connected = run_connection (self, error);

  if (g_cancellable_is_cancelled (self->cancellable))
    close_connection (self);
  return was_connected;
}

/* --- the thread ----------------------------------------------------------- */

static GstMessage *
make_error (GstDccpThinSrc * self, const GstDccpThinSettings * settings,
    const GError * reason, gboolean was_connected)
{
  gchar *peer = gst_dccp_thin_settings_describe (settings);
  gchar *text = socket_error_describe (reason, peer);
  GError *error;
  GstMessage *message;

  error = g_error_new (GST_RESOURCE_ERROR, was_connected ?
      GST_RESOURCE_ERROR_READ : reason->domain == G_RESOLVER_ERROR ?
      GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_OPEN_READ,
      was_connected ? "Lost the connection with %s: %s.%s" :
      "Could not connect to %s: %s.%s", peer, text,
      socket_error_get_advice (reason));
  message = gst_message_new_error (GST_OBJECT_CAST (self), error, NULL);
  g_error_free (error);
  g_free (text);
  g_free (peer);
  return message;
}

/* Ends the stream after its last connection: queues EOS if the peer closed the
 * connection, and an error message otherwise. The caller holds the lock. */
static void
end_stream (GstDccpThinSrc * self, const GstDccpThinSettings * settings,
    const GError * reason, gboolean was_connected)
{
  Item item = { {NULL} };

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CLOSED))
    item.end = GST_MINI_OBJECT_CAST (gst_event_new_eos ());
  else
    item.end = GST_MINI_OBJECT_CAST (make_error (self, settings, reason,
            was_connected));
  gst_network_src_queue_push_end (&self->queue, &item);
}

/* State of the attempts to connect to a sender. It is kept until a connection
 * is established, or until the attempts end. */
typedef struct
{
  guint64 timeout;              /* value of the property peer-timeout in ns */
  gint64 pause;                 /* pause in us before the next attempt */
  /* Monotonic time in us until which refused attempts to connect are repeated.
   * It is set when an attempt is refused for the first time since the last
   * connection. Until then it is 0. If an attempt is refused after this time,
   * no further attempt is made. */
  gint64 refused_until;
} Attempts;

static void
pause_attempts (GstDccpThinSrc * self, Attempts * attempts)
{
  gint64 now = g_get_monotonic_time ();
  gint64 pause = attempts->pause;
  GPollFD fd;

  /* If the sender refuses an attempt to connect, the attempt is repeated after
   * a pause. A refusal that arrives after the time refused_until ends the
   * attempts. The last attempt should be made at refused_until, and not later.
   * If the pause before the next attempt would end after refused_until, the
   * pause is therefore shortened, so that the pause ends at refused_until. */
  if (attempts->refused_until > now)
    pause = MIN (pause, attempts->refused_until - now);
  if (!g_cancellable_make_pollfd (self->cancellable, &fd))
    return;
  g_poll (&fd, 1, pause / G_TIME_SPAN_MILLISECOND + 1);
  g_cancellable_release_fd (self->cancellable);
  attempts->pause = MIN (2 * attempts->pause, MAX_PAUSE);
}

/* Called after an attempt to connect has failed. Returns whether another
 * attempt may succeed. After a refusal, another attempt may succeed for two
 * reasons. First, ICMP messages are not authenticated, so the refusal may be
 * forged. Second, the sender may not listen yet. Refusals therefore end the
 * attempts only when the time peer-timeout has passed since the first refusal.
 */
static gboolean
may_pass (Attempts * attempts, const GError * reason)
{
  gint64 now = g_get_monotonic_time ();

  if (!g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED)
      && !g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE)
      && !g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE))
    return FALSE;
  if (attempts->refused_until == 0)
    attempts->refused_until = attempts->timeout == 0 ? G_MAXINT64 :
        now + (gint64) (attempts->timeout / GST_USECOND);
  return now < attempts->refused_until;
}

/* Handles the end of a connection, or the failure of an attempt to connect.
 * `reason` is the error; the function takes ownership of it. Returns TRUE if
 * the thread should try to connect or listen again. */
static gboolean
take_result (GstDccpThinSrc * self, const GstDccpThinSettings * settings,
    Attempts * attempts, GError * reason, gboolean was_connected)
{
  gboolean passes = !was_connected && may_pass (attempts, reason);
  gboolean again;

  if (was_connected) {
    attempts->pause = MIN_PAUSE;
    attempts->refused_until = 0;
  }
  LOCK (self);
  again = !self->stopping && (passes || !self->eos_at_end);
  if (!self->stopping && !again)
    end_stream (self, settings, reason, was_connected);
  gst_network_src_queue_unlock (&self->queue);
  GST_INFO_OBJECT (self, "%s", reason->message);
  g_error_free (reason);
  return again;
}

static gpointer
run (gpointer data)
{
  GstDccpThinSrc *self = data;
  GstDccpThinSettings settings;
  Attempts attempts = {.pause = MIN_PAUSE };
  gboolean was_connected;
  GError *error;

  LOCK (self);
  gst_dccp_thin_settings_copy (&settings, &self->end.settings);
  attempts.timeout = self->peer_timeout;
  UNLOCK (self);
  while (TRUE) {
    error = NULL;
    if (settings.mode == GST_DCCP_THIN_MODE_LISTENER)
      was_connected = listen_once (self, &error);
    else
      was_connected = connect_once (self, &settings, attempts.timeout, &error);
    if (!take_result (self, &settings, &attempts, error, was_connected))
      break;
    if (settings.mode == GST_DCCP_THIN_MODE_CALLER)
      pause_attempts (self, &attempts);
  }
  close_end (self);
  gst_dccp_thin_settings_clear (&settings);
  return NULL;
}

/* --- open and close ------------------------------------------------------- */

static void
reset (GstDccpThinSrc * self)
{
  LOCK (self);
  self->stopping = self->queue.paused = FALSE;
  memset (&self->counters, 0, sizeof (self->counters));
  gst_dccp_thin_end_reset_stats (&self->end);
  gst_dccp_thin_src_clear_queue (self);
  UNLOCK (self);
  g_cancellable_reset (self->cancellable);
}

/* Called during the state change from READY to PAUSED. If mode=listener, begins
 * to listen. If this fails, posts an error and returns FALSE, and the state
 * change fails. */
static gboolean
begin_to_listen (GstDccpThinSrc * self)
{
  guint64 timeout;

  LOCK (self);
  timeout = self->peer_timeout;
  UNLOCK (self);
  if (!gst_dccp_thin_end_listen (&self->end, timeout, self->cancellable,
          GST_RESOURCE_ERROR_OPEN_READ))
    return FALSE;
  use_socket_of_end (self);
  return TRUE;
}

static gboolean
gst_dccp_thin_src_start (GstBaseSrc * src)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (src);

  reset (self);
  if (!begin_to_listen (self))
    return FALSE;
  self->thread = g_thread_new ("dccpthinsrc", run, self);
  return TRUE;
}

static gboolean
gst_dccp_thin_src_stop (GstBaseSrc * src)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (src);

  if (!self->thread)
    return TRUE;
  LOCK (self);
  self->stopping = TRUE;
  UNLOCK (self);
  g_cancellable_cancel (self->cancellable);
  g_clear_pointer (&self->thread, g_thread_join);
  LOCK (self);
  gst_dccp_thin_src_clear_queue (self);
  g_clear_error (&self->end.broken);
  UNLOCK (self);
  return TRUE;
}

/* --- statistics, from any thread ------------------------------------------ */

#define STATS_STRUCT GstDccpThinSrcCounters

static const GstWirelessStatsField own_fields[] = {
  STATS_COUNTER ("buffers", buffers),
  STATS_COUNTER ("bytes", bytes),
  STATS_COUNTER ("dropped-full", dropped_full),
  STATS_COUNTER ("dropped-paused", dropped_paused),
};

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
  queued_bytes = self->queue.bytes;
  gst_dccp_thin_end_get_stats (&self->end, &stats);
  UNLOCK (self);

  structure = gst_structure_new ("application/x-dccpthinsrc-stats",
      "connections", G_TYPE_UINT64, stats.connections,
      "queued-bytes", G_TYPE_UINT64, queued_bytes, NULL);
  gst_wireless_stats_fill (structure, own_fields, G_N_ELEMENTS (own_fields),
      &counters);
  gst_dccp_thin_fill_stats (structure, &stats, FALSE);
  return structure;
}

/* --- properties ----------------------------------------------------------- */

static void
get_port (gpointer object, GValue * value, GParamSpec * pspec)
{
  g_value_set_int (value,
      gst_dccp_thin_end_get_port (&GST_DCCP_THIN_SRC (object)->end));
}

/* The caller holds the lock. */
static void
take_old_mode (gpointer object)
{
  GstDccpThinSettings *settings = &GST_DCCP_THIN_SRC (object)->end.settings;

  settings->mode = gst_dccp_thin_mode_replace (object, settings->mode);
}

#define PROPERTY_STRUCT GstDccpThinSrc
static const GstWirelessProperty properties[] = {
  PROPERTY_DCCP_THIN_ADDRESS ("address", "Address"),
  PROPERTY_DCCP_THIN_PORT (get_port),
  PROPERTY_DCCP_THIN_MODE (GST_DCCP_THIN_MODE_LISTENER, take_old_mode),
  /* The value has 4 bits (RFC 4340 section 9.2.1). */
  PROPERTY_UINT ("min-checksum-coverage", "Minimum checksum coverage",
      "Minimum checksum coverage that is accepted with encapsulation=raw (0 = "
      "the whole packet, n = the header and 4 (n - 1) bytes of payload)",
      PROPERTY_READY | PROPERTY_URI, end.settings.coverage, 0, 15, 0),

  /**
   * GstDccpThinSrc:max-bytes:
   *
   * Maximum amount of received data that waits for downstream. When half of
   * this amount waits, the sender is told that the receiver is slow. Packets
   * that exceed the amount are dropped, which is reported to the sender as
   * well.
   */
  PROPERTY_UINT ("max-bytes", "Maximum bytes",
      "Maximum amount of data that waits for downstream (bytes); when half of "
      "this maximum waits, the sender is told that the receiver is slow",
      PROPERTY_PLAYING,
      max_bytes, 1, G_MAXUINT,
      4 * 1024 * 1024),
  PROPERTY_UINT ("max-packets", "Maximum packets",
      "Maximum number of packets that wait for downstream; when half of this "
      "maximum waits, the sender is told that the receiver is slow",
      PROPERTY_PLAYING, max_packets, 1, G_MAXUINT, 4096),
  PROPERTY_BOOLEAN ("eos-at-end", "EOS at end",
      "Whether the end of the connection ends the stream: with EOS if the "
      "sender closed the connection, else with an error; false waits for the "
      "next connection",
      PROPERTY_PLAYING | PROPERTY_URI, eos_at_end, TRUE),
  PROPERTY_MILLISECONDS ("peer-timeout", "Peer timeout",
      "Time after which a sender that does not answer counts as gone (ms, 0 "
      "= never)", PROPERTY_READY | PROPERTY_URI, peer_timeout, 0,
      PROPERTY_MAX_MILLISECONDS, 10000),
  PROPERTY_DEPRECATED_NANOSECONDS ("connect-timeout", "Connect timeout",
      "peer-timeout", PROPERTY_READY | PROPERTY_URI, peer_timeout, MAX_TIME,
      10 * GST_SECOND),
};

/* --- virtual functions of GstNetworkSrc ----------------------------------- */

static void
gst_dccp_thin_src_set_paused (GstNetworkSrc * src, gboolean paused)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (src);

  LOCK (self);
  if (self->queue.paused != paused) {
    self->queue.paused = paused;
    gst_dccp_thin_src_drop_queued (self);
  }
  UNLOCK (self);
}

/* --- the class ------------------------------------------------------------ */

static void
gst_dccp_thin_src_finalize (GObject * object)
{
  GstDccpThinSrc *self = GST_DCCP_THIN_SRC (object);

  g_object_unref (self->cancellable);
  gst_network_src_queue_finalize (&self->queue);
  gst_dccp_thin_end_clear (&self->end);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_dccp_thin_src_init (GstDccpThinSrc * self)
{
  static const GstDccpThinEndFuncs funcs = {
    .take_event = gst_dccp_thin_src_take_event,
    .take_data = gst_dccp_thin_src_queue_data,
    .unlock = gst_dccp_thin_src_unlock,
    .allows = gst_dccp_thin_src_allows,
    .max_input_size = MAX_INPUT_SIZE,
    .category = &gst_dccp_thin_src_debug,
  };

  gst_dccp_thin_end_init (&self->end, &funcs, self);
  gst_wireless_properties_init (self, GST_TYPE_DCCP_THIN_SRC);
  self->cancellable = g_cancellable_new ();
  gst_network_src_queue_init (&self->queue, &self->end.lock, sizeof (Item),
      clear_item);
  gst_network_src_use_queue (GST_NETWORK_SRC (self), &self->queue);

  gst_base_src_set_do_timestamp (GST_BASE_SRC (self), TRUE);
}

static void
gst_dccp_thin_src_class_init (GstDccpThinSrcClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);
  GstNetworkSrcClass *network_class = GST_NETWORK_SRC_CLASS (klass);

  object_class->finalize = gst_dccp_thin_src_finalize;
  src_class->start = gst_dccp_thin_src_start;
  src_class->stop = gst_dccp_thin_src_stop;
  GST_PUSH_SRC_CLASS (klass)->create = gst_dccp_thin_src_create;
  network_class->category = gst_dccp_thin_src_debug;
  network_class->timeout_name = "GstDccpThinSrcTimeout";
  network_class->create_stats = gst_dccp_thin_src_create_stats;
  network_class->set_paused = gst_dccp_thin_src_set_paused;

  gst_wireless_properties_reword (object_class, "uri",
      "URI dccpthin://address:port?key=value&..., where each key is a "
      "property, or media, encoding-name, payload or clock-rate of RTP caps; "
      "reading returns dccpthin://address:port");
  gst_dccp_thin_install_properties (object_class,
      G_STRUCT_OFFSET (GstDccpThinSrc, end.settings),
      G_STRUCT_OFFSET (GstDccpThinSrc, end.lock));
  gst_wireless_properties_set_category (object_class, gst_dccp_thin_src_debug);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, G_STRUCT_OFFSET (GstDccpThinSrc, end.lock));
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "DCCP source",
      "Source/Network", "Receives over DCCP with TCP-friendly rate control "
      "(TFRC, CCID 3-Thin) "
      "(dccpthinsrc and dcctpthinsrc are two names of the same element)",
      "The gst-plugins-wireless authors");
}
