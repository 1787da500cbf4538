/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstifdtcpwriter.h: a subclass of GstNetworkSink for TCP. */

#include "gstifdtcpwriter.h"

#include "gstmpegvideoinput.h"
#include "gstwirelessproperties.h"
#include "ifdestimate.h"
#include "ifdtcpsocket.h"
#include "socketmessages.h"

GST_DEBUG_CATEGORY_STATIC (gst_ifd_tcp_writer_debug);
#define GST_CAT_DEFAULT gst_ifd_tcp_writer_debug

/* Formats that can be decoded from a byte stream alone. In the other stream
 * formats of H.264 and H.265, the parameter sets are in the caps, which are not
 * sent to the receiver. VP8 and VP9 have no format for a byte stream: nothing
 * in their data shows where a frame ends. A byte stream of AV1 was not tested.
 */
#define STREAM_CAPS GST_MPEG_VIDEO_INPUT_CAPS "; " \
    "video/x-h264, stream-format = (string) byte-stream, " \
    "alignment = (string) au; " \
    "video/x-h265, stream-format = (string) byte-stream, " \
    "alignment = (string) au; " \
    "video/mpegts, systemstream = (boolean) true"

#define MAX_MEMORIES 16         /* maximum number of memories in a GstBuffer */
/* Data from the receiver are read and discarded. At most this many bytes are
 * read before a pause, so that a receiver that sends continuously costs little
 * CPU time. */
#define IGNORED_AT_ONCE 16384
#define IGNORE_PAUSE 10         /* in ms */
/* NO_DELAY is a time in ns that is short enough to be a negligible delay of the
 * stream. The element limits the number of unsent bytes in the kernel. On a
 * fast network, the element raises this limit above the property notsent-lowat,
 * to the number of bytes that the network delivers in NO_DELAY. These bytes
 * delay the stream only by NO_DELAY. But NO_DELAY is long enough for the thread
 * to wake up and write more data before the network becomes idle. */
#define NO_DELAY (5 * GST_MSECOND)
/* The mark is the maximum number of unsent bytes in the send buffer of the
 * kernel. Before the element writes another part of a frame, it checks whether
 * the kernel has already sent all data. If MANY_MARKS successive checks find no
 * unsent data, the mark may grow.
 *
 * With fewer checks, a slow path could seem fast, because the queue of a token
 * bucket on this path may accept many bytes at once (75 kbyte in the tests of
 * docs/ifd.md). */
#define MANY_MARKS 16
/* Minimum and maximum interval in us at which the number of unacknowledged
 * bytes is polled at the end of the stream. Polling is necessary because no
 * operating system notifies a program when data are acknowledged. The interval
 * is MIN_POLL_INTERVAL at first, and doubles until it reaches
 * MAX_POLL_INTERVAL. */
#define MIN_POLL_INTERVAL 500
#define MAX_POLL_INTERVAL 20000

/* The property estimated-bitrate is notified only if it differs enough from the
 * value that was notified last: by at least NOTIFY_SHARE times that value. Two
 * notifications are at least NOTIFY_INTERVAL (in ns) apart. */
#define NOTIFY_SHARE 0.1
#define NOTIFY_INTERVAL (200 * GST_MSECOND)
/* The estimate of the bitrate is computed from samples. A sample is taken at
 * the start of a frame, and when a wait for the socket begins or ends, but only
 * if the last sample is at least 10 ms old. If the last sample is older than
 * IDLE_TIME (in ns) when the estimate is needed, a new sample is taken first.
 */
#define IDLE_TIME (100 * GST_MSECOND)

struct _GstIfdTcpWriter
{
  GstNetworkSink parent;

  /* protected by OBJECT_LOCK */
  gchar *host;
  gint port;
  guint notsent_lowat;
  gint qos_dscp, ttl;
  gint buffer_size;             /* in bytes */
  gchar *bind_address;          /* NULL: any */
  gint bind_port;               /* 0: any */
  guint64 bytes_ignored;
  guint64 retransmissions;      /* of connections that were closed */
  IfdEstimate estimate;         /* for this connection */
  guint64 written;              /* bytes written on this connection */
  /* time in ns at which the last sample was added to `estimate` */
  guint64 sampled_at;
  /* TRUE while a frame waits until the socket is writable */
  gboolean is_waiting;

  /* Only the connection's thread changes this pointer. It does so with
   * OBJECT_LOCK held, and never while the streaming thread uses the pointer.
   * These two threads may therefore read the pointer without OBJECT_LOCK. Every
   * other thread must hold OBJECT_LOCK to read it. */
  GSocket *socket;              /* NULL if not connected */

  /* `lowat` needs no lock. The connection's thread writes it before the
   * connection exists, and the streaming thread reads it only afterwards. */
  /* Value of the property notsent-lowat when the socket was created. It is the
   * maximum number of unsent bytes in the kernel; 0 = no limit. On a fast
   * network, the field `mark` is a greater maximum, which is used instead. */
  guint lowat;

  /* The following fields are used by the streaming thread only, and are reset
   * for each socket. */
  /* maximum number of unsent bytes in the kernel; at least `lowat`, the value
   * of the property notsent-lowat */
  guint mark;
  /* Number of successive checks in which the kernel had no unsent data. The
   * field `mark` is the maximum number of unsent bytes in the kernel. After
   * MANY_MARKS such checks, `mark` may grow. */
  guint marks_at_once;
  /* TRUE if this element has shut down its direction of the connection, so that
   * the kernel sends a FIN */
  gboolean said_end;
  /* Last notification of the property estimated-bitrate: `notified_rate` is the
   * value of the property in bit/s, and `notified_at` is the time in ns. */
  guint64 notified_rate, notified_at;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (STREAM_CAPS));

#define gst_ifd_tcp_writer_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstIfdTcpWriter, gst_ifd_tcp_writer,
    GST_TYPE_NETWORK_SINK,
    GST_DEBUG_CATEGORY_INIT (gst_ifd_tcp_writer_debug, "ifdtcpwriter", 0,
        "TCP half of ifdsink"));

static gchar *
gst_ifd_tcp_writer_describe (GstNetworkSink * sink)
{
  GstIfdTcpWriter *self = GST_IFD_TCP_WRITER (sink);
  gchar *text;

  GST_OBJECT_LOCK (self);
  text = g_strdup_printf (strchr (self->host, ':') ? "[%s]:%d" : "%s:%d",
      self->host, self->port);
  GST_OBJECT_UNLOCK (self);
  return text;
}

/* --- connecting ----------------------------------------------------------- */

static GSocketConnectable *
gst_ifd_tcp_writer_get_connectable (GstIfdTcpWriter * self)
{
  GSocketConnectable *connectable;

  GST_OBJECT_LOCK (self);
  connectable = g_network_address_new (self->host, self->port);
  GST_OBJECT_UNLOCK (self);
  return connectable;
}

static void
gst_ifd_tcp_writer_set_options (GstIfdTcpWriter * self, GSocket * socket)
{
  IfdTcpOptions options;

  options.timeout = gst_network_sink_get_timeout (GST_NETWORK_SINK (self));
  GST_OBJECT_LOCK (self);
  options.notsent_lowat = self->lowat = self->notsent_lowat;
  options.dscp = self->qos_dscp;
  options.ttl = self->ttl;
  options.buffer_size = self->buffer_size;
  GST_OBJECT_UNLOCK (self);
  ifd_tcp_socket_set_options (socket, &options);
}

/* Returns whether the socket is connected to itself. This can happen if the
 * receiver is on the same host but no program listens on its port. The kernel
 * may then assign this port to the connecting socket, and TCP connects the
 * socket to itself (RFC 9293, section 3.5). */
static gboolean
is_connected_to_itself (GSocket * socket)
{
  GSocketAddress *here = g_socket_get_local_address (socket, NULL);
  GSocketAddress *there = g_socket_get_remote_address (socket, NULL);
  gboolean same = FALSE;

  if (G_IS_INET_SOCKET_ADDRESS (here) && G_IS_INET_SOCKET_ADDRESS (there))
    same = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (here)) ==
        g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (there))
        && g_inet_address_equal (g_inet_socket_address_get_address
        (G_INET_SOCKET_ADDRESS (here)),
        g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (there)));
  g_clear_object (&here);
  g_clear_object (&there);
  return same;
}

static gboolean
wait_for_answer (GSocket * socket, GstClockTime timeout,
    GCancellable * cancellable, GError ** error)
{
  gint64 microseconds = timeout > 0 ? MAX (timeout / GST_USECOND, 1) : -1;

  if (!g_socket_condition_timed_wait (socket, G_IO_OUT, microseconds,
          cancellable, error)) {
    if (error && g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)) {
      g_clear_error (error);
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
          "no answer for %g s", timeout / (gdouble) GST_SECOND);
    }
    return FALSE;
  }
  return g_socket_check_connect_result (socket, error);
}

static gboolean
connect_socket (GstIfdTcpWriter * self, GSocket * socket,
    GSocketAddress * address, GCancellable * cancellable, GError ** error)
{
  GError *local_error = NULL;

  if (!g_socket_connect (socket, address, cancellable, &local_error)) {
    if (!g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_PENDING)) {
      g_propagate_error (error, local_error);
      return FALSE;
    }
    g_error_free (local_error);
    if (!wait_for_answer (socket,
            gst_network_sink_get_timeout (GST_NETWORK_SINK (self)),
            cancellable, error))
      return FALSE;
  }
  if (!is_connected_to_itself (socket))
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED,
      "no program listens there");
  return FALSE;
}

/* Binds the socket to the local address and port of the properties bind-address
 * and bind-port. */
static gboolean
gst_ifd_tcp_writer_bind (GstIfdTcpWriter * self, GSocket * socket,
    GError ** error)
{
  const gboolean is_ipv6 = g_socket_get_family (socket) == G_SOCKET_FAMILY_IPV6;
  GSocketAddress *local = NULL;
  gboolean is_bound = FALSE;
  gchar *address;
  gint port;

  GST_OBJECT_LOCK (self);
  address = g_strdup (self->bind_address);
  port = self->bind_port;
  GST_OBJECT_UNLOCK (self);
  if (!address && port == 0)
    return TRUE;
  if (!address)
    address = g_strdup (is_ipv6 ? "::" : "0.0.0.0");
  local = g_inet_socket_address_new_from_string (address, port);
  if (!local)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "the property bind-address, \"%s\", is not an IP address. Set an "
        "address of this host, or leave the property unset", address);
  else if (g_socket_address_get_family (local) != g_socket_get_family (socket))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "bind-address \"%s\" is not of the address family of the receiver, "
        "IPv%u. Set an address of this host from this family, or leave the "
        "property unset", address, is_ipv6 ? 6 : 4);
  else
    /* The argument TRUE allows the reuse of the local address. A connection
     * that has ended keeps its port in use for a while. Without the argument,
     * the next connection could therefore not use the same bind-port. */
    is_bound = g_socket_bind (socket, local, TRUE, error);
  g_clear_object (&local);
  g_free (address);
  return is_bound;
}

/* Returns NULL on error. */
static GSocket *
gst_ifd_tcp_writer_try_address (GstIfdTcpWriter * self,
    GSocketAddress * address, GCancellable * cancellable, GError ** error)
{
  GSocket *socket = g_socket_new (g_socket_address_get_family (address),
      G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, error);

  if (!socket)
    return NULL;
  g_socket_set_blocking (socket, FALSE);
  gst_ifd_tcp_writer_set_options (self, socket);
  if (gst_ifd_tcp_writer_bind (self, socket, error)
      && connect_socket (self, socket, address, cancellable, error))
    return socket;
  ifd_tcp_socket_set_reset (socket);
  g_object_unref (socket);
  return NULL;
}

/* Tries to connect to the addresses of the receiver's host name, one after the
 * other, until one of them answers. If all of them fail, `error` is the error
 * of the last address. */
static GSocket *
gst_ifd_tcp_writer_try_all (GstIfdTcpWriter * self,
    GSocketAddressEnumerator * addresses, GCancellable * cancellable,
    GError ** error)
{
  GSocketAddress *address;
  GSocket *socket = NULL;
  GError *last_error = NULL, *own_error = NULL;

  while (!socket && !g_cancellable_is_cancelled (cancellable)
      && (address = g_socket_address_enumerator_next (addresses, cancellable,
              &own_error))) {
    g_clear_error (&last_error);
    socket = gst_ifd_tcp_writer_try_address (self, address, cancellable,
        &last_error);
    g_object_unref (address);
  }
  if (!last_error && own_error)
    last_error = g_steal_pointer (&own_error);
  g_clear_error (&own_error);
  if (socket || !last_error)
    g_clear_error (&last_error);
  else
    g_propagate_error (error, last_error);
  return socket;
}

static gboolean
check_host (GstIfdTcpWriter * self, GError ** error)
{
  gboolean is_valid;

  GST_OBJECT_LOCK (self);
  is_valid = socket_check_host (self->host, error);
  GST_OBJECT_UNLOCK (self);
  return is_valid;
}

static gboolean
gst_ifd_tcp_writer_connect (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  GstIfdTcpWriter *self = GST_IFD_TCP_WRITER (sink);
  GSocketConnectable *connectable;
  GSocketAddressEnumerator *addresses;
  GError *local_error = NULL;
  GSocket *socket;

  if (!check_host (self, error))
    return FALSE;
  connectable = gst_ifd_tcp_writer_get_connectable (self);
  addresses = g_socket_connectable_enumerate (connectable);
  socket = gst_ifd_tcp_writer_try_all (self, addresses, cancellable,
      &local_error);
  g_object_unref (addresses);
  g_object_unref (connectable);
  if (!socket) {
    if (!local_error)
      g_set_error_literal (&local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
          "cancelled");
    g_propagate_error (error, local_error);
    return FALSE;
  }
  self->said_end = FALSE;
  self->mark = self->lowat;
  self->marks_at_once = 0;
  GST_OBJECT_LOCK (self);
  self->socket = socket;
  ifd_estimate_init (&self->estimate);
  self->written = 0;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* --- breaking of a connection -----------------------------------------------
 */

/* Reads and discards data from the receiver. The element ifdsink only sends, so
 * it has no use for such data. Returns FALSE with `error` set if the connection
 * has ended. */
static gboolean
gst_ifd_tcp_writer_ignore_input (GstIfdTcpWriter * self, GError ** error)
{
  gchar data[IGNORED_AT_ONCE];
  GError *local_error = NULL;
  gssize size = g_socket_receive_with_blocking (self->socket, data,
      sizeof (data), FALSE, NULL, &local_error);

  if (size > 0) {
    GST_OBJECT_LOCK (self);
    self->bytes_ignored += size;
    GST_OBJECT_UNLOCK (self);
    return TRUE;
  }
  if (size == 0) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CLOSED,
        "the peer closed the connection");
    return FALSE;
  }
  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)) {
    g_error_free (local_error);
    return TRUE;
  }
  g_propagate_error (error, local_error);
  return FALSE;
}

/* If a connection has timed out, the text of the kernel's error does not say
 * after what time. The kernel's timeout is the value of the property
 * peer-timeout. This function therefore replaces the text of the error by a
 * text that contains this value. */
static void
gst_ifd_tcp_writer_explain (GstIfdTcpWriter * self, GError ** error)
{
  GstClockTime timeout = gst_network_sink_get_timeout (GST_NETWORK_SINK (self));

  if (!g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)
      || timeout == 0)
    return;
  g_clear_error (error);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
      "the peer took nothing for %g s", timeout / (gdouble) GST_SECOND);
}

static void
gst_ifd_tcp_writer_watch (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  GstIfdTcpWriter *self = GST_IFD_TCP_WRITER (sink);
  GError *local_error = NULL;

  while (g_socket_condition_timed_wait (self->socket, G_IO_IN, -1, cancellable,
          &local_error)
      && gst_ifd_tcp_writer_ignore_input (self, &local_error))
    gst_network_sink_pause (cancellable, IGNORE_PAUSE);
  gst_ifd_tcp_writer_explain (self, &local_error);
  g_propagate_error (error, local_error);
}

static void
gst_ifd_tcp_writer_disconnect (GstNetworkSink * sink, gboolean reset)
{
  GstIfdTcpWriter *self = GST_IFD_TCP_WRITER (sink);
  IfdTcpFigures figures;
  GSocket *socket;

  GST_OBJECT_LOCK (self);
  socket = g_steal_pointer (&self->socket);
  ifd_tcp_socket_get_figures (socket, &figures);
  self->retransmissions += figures.retransmissions;
  GST_OBJECT_UNLOCK (self);

  if (reset)
    ifd_tcp_socket_set_reset (socket);
  g_socket_close (socket, NULL);
  g_object_unref (socket);
}

/* --- estimate of the bitrate ------------------------------------------------
 */

/* Adds a sample to the estimate of the bitrate, if the last sample is old
 * enough. Otherwise the estimate would ignore the sample, so the kernel is not
 * asked for the size of the send queue. `now` is in ns. `is_waiting` says
 * whether a frame waits until the socket is writable, or has just waited for
 * this. The caller holds OBJECT_LOCK. */
static void
take_sample (GstIfdTcpWriter * self, guint64 now, gboolean is_waiting)
{
  guint64 unsent, unacknowledged;

  if (!self->socket || !ifd_estimate_is_due (&self->estimate, now))
    return;
  ifd_tcp_socket_get_queue (self->socket, &unsent, &unacknowledged);
  self->sampled_at = now;
  ifd_estimate_input (&self->estimate, now,
      self->written - MIN (self->written, unacknowledged),
      is_waiting || unsent > 0);
}

static guint64
gst_ifd_tcp_writer_get_estimate (GstIfdTcpWriter * self,
    gboolean * is_app_limited)
{
  guint64 now = g_get_monotonic_time () * (guint64) GST_USECOND, rate;

  GST_OBJECT_LOCK (self);
  if (self->is_waiting || now > self->sampled_at + IDLE_TIME)
    take_sample (self, now, self->is_waiting);
  rate = ifd_estimate_get (&self->estimate, is_app_limited);
  GST_OBJECT_UNLOCK (self);
  return rate;
}

static void
notify_estimate (GstIfdTcpWriter * self)
{
  guint64 now = g_get_monotonic_time () * (guint64) GST_USECOND, rate;
  gdouble change;
  gboolean is_app_limited;

  rate = gst_ifd_tcp_writer_get_estimate (self, &is_app_limited);
  change = ABS ((gdouble) rate - (gdouble) self->notified_rate);
  if (rate == 0 || change < NOTIFY_SHARE * self->notified_rate
      || now < self->notified_at + NOTIFY_INTERVAL)
    return;
  self->notified_rate = rate;
  self->notified_at = now;
  GST_DEBUG_OBJECT (self, "the connection carries %s%" G_GUINT64_FORMAT
      " bit/s", is_app_limited ? "at least " : "", rate);
  g_object_notify (G_OBJECT (self), "estimated-bitrate");
}

/* Samples the estimate of the bitrate before a frame is written, and notifies
 * the application if the estimate has changed. A change may come from a sample
 * that was taken while an earlier frame waited. */
static void
begin_frame (GstIfdTcpWriter * self)
{
  guint64 now = g_get_monotonic_time () * (guint64) GST_USECOND;

  GST_OBJECT_LOCK (self);
  take_sample (self, now, FALSE);
  GST_OBJECT_UNLOCK (self);
  notify_estimate (self);
}

static void
set_waiting (GstIfdTcpWriter * self, gboolean is_waiting)
{
  guint64 now = g_get_monotonic_time () * (guint64) GST_USECOND;

  GST_OBJECT_LOCK (self);
  self->is_waiting = is_waiting;
  take_sample (self, now, TRUE);
  GST_OBJECT_UNLOCK (self);
}

/* --- sending -------------------------------------------------------------- */

/* Maps at most `size` bytes of the buffer, from `offset` on. Fills in `maps`
 * and `vectors` with the mapped memories and returns their number. */
static guint
map_vectors (GstBuffer * buffer, gsize offset, gsize size, GstMapInfo * maps,
    GOutputVector * vectors)
{
  guint first, length, i;
  gsize skip;

  if (!gst_buffer_find_memory (buffer, offset, -1, &first, &length, &skip))
    return 0;
  length = MIN (length, MAX_MEMORIES);
  for (i = 0; i < length && size > 0; i++) {
    if (!gst_memory_map (gst_buffer_peek_memory (buffer, first + i), &maps[i],
            GST_MAP_READ))
      break;
    vectors[i].buffer = maps[i].data + skip;
    vectors[i].size = MIN (maps[i].size - skip, size);
    size -= vectors[i].size;
    skip = 0;
  }
  return i;
}

static void
unmap_vectors (GstMapInfo * maps, guint n)
{
  guint i;

  for (i = 0; i < n; i++)
    gst_memory_unmap (maps[i].memory, &maps[i]);
}

/* Makes one system call to send at most `size` bytes. Returns
 * GST_NETWORK_SINK_SENT if the kernel accepted all or some of them; their
 * number is stored in `taken`. */
static GstNetworkSinkResult
gst_ifd_tcp_writer_send_some (GstIfdTcpWriter * self, GstBuffer * buffer,
    gsize offset, gsize size, gsize * taken, GError ** error)
{
  GstMapInfo maps[MAX_MEMORIES];
  GOutputVector vectors[MAX_MEMORIES];
  GPollableReturn done;
  guint n = map_vectors (buffer, offset, size, maps, vectors);

  if (n == 0) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
        "its memory could not be mapped");
    return GST_NETWORK_SINK_UNSENDABLE;
  }
  done = g_socket_send_message_with_timeout (self->socket, NULL, vectors, n,
      NULL, 0, G_SOCKET_MSG_NONE, 0, taken, NULL, error);
  unmap_vectors (maps, n);

  if (done == G_POLLABLE_RETURN_WOULD_BLOCK)
    return GST_NETWORK_SINK_FULL;
  if (done == G_POLLABLE_RETURN_FAILED) {
    gst_ifd_tcp_writer_explain (self, error);
    return GST_NETWORK_SINK_BROKEN;
  }
  return GST_NETWORK_SINK_SENT;
}

/* Returns whether to start sending a frame of `size` bytes. The mark
 * (self->mark) is the maximum number of unsent bytes in the kernel. `room` is
 * the number of bytes that may be written before the mark is reached.
 *
 * A frame that was started has to be completed, however long this takes. If
 * blocking=true, every frame is started. Otherwise a frame is started in two
 * cases:
 * - The whole frame fits into `room`.
 * - `room` is at least half of the mark. This share was chosen because the
 *   kernel reports the socket as writable as soon as `room` has grown to half
 *   of the mark. */
static gboolean
gst_ifd_tcp_writer_may_begin (GstIfdTcpWriter * self, gsize size, gsize room)
{
  return room >= MIN (size, self->mark / 2)
      || gst_network_sink_get_blocking (GST_NETWORK_SINK (self));
}

/* The mark is the maximum number of unsent bytes in the kernel. This function
 * adapts the mark to the speed of the network, because a constant mark does not
 * fit all networks: 16384 bytes are sent in 26 ms at 5 Mbit/s, but in only 16
 * us (0.016 ms) at 1 Gbyte/s (8000 Mbit/s).
 *
 * For a new connection, the mark is the value of the property notsent-lowat.
 * The mark never becomes less than this value.
 *
 * `waited` is the time in ns for which the socket was full. NO_DELAY (5 ms) is
 * a time that is short enough to be a negligible delay of the stream. There are
 * two cases:
 * - `waited` is longer than NO_DELAY. The network is slow, so the mark is
 *   halved.
 * - `waited` is at most NO_DELAY. The mark is set to the number of bytes that
 *   the network delivers in NO_DELAY, but to at most twice the old mark.
 *
 * In each case, a result below notsent-lowat is replaced by notsent-lowat. The
 * mark therefore grows beyond notsent-lowat only if the network delivers more
 * than notsent-lowat bytes in NO_DELAY. */
static void
gst_ifd_tcp_writer_adapt_mark (GstIfdTcpWriter * self, GstClockTime waited)
{
  IfdTcpFigures figures;
  guint64 mark = self->mark / 2;

  self->marks_at_once = 0;
  if (waited <= NO_DELAY) {
    ifd_tcp_socket_get_figures (self->socket, &figures);
    mark = gst_util_uint64_scale (figures.delivery_rate, NO_DELAY, GST_SECOND);
    mark = MIN (mark, 2 * (guint64) self->mark);
  }
  mark = CLAMP (mark, self->lowat, G_MAXINT);
  if (mark == self->mark)
    return;
  self->mark = mark;
  ifd_tcp_socket_set_notsent_lowat (self->socket, mark);
}

/* Returns how many bytes may be written to the socket now. The mark
 * (self->mark) is the maximum number of unsent bytes in the kernel. The result
 * is the mark minus the present number of unsent bytes, or 0 if the mark is
 * exceeded.
 *
 * Also counts how many checks in a row have found that the kernel has already
 * sent all data. After MANY_MARKS such checks, the mark may grow. A check
 * counts only if the caller has already written a part of its buffer. `taken`
 * is the size of this part in bytes. */
static gsize
gst_ifd_tcp_writer_get_room (GstIfdTcpWriter * self, gsize taken)
{
  gsize room = ifd_tcp_socket_get_room (self->socket, self->mark);

  if (room < self->mark)
    self->marks_at_once = 0;
  else if (self->lowat > 0 && taken > 0 && ++self->marks_at_once >= MANY_MARKS)
    gst_ifd_tcp_writer_adapt_mark (self, 0);
  return room;
}

/* Writes a buffer to the socket in pieces. The number of unsent bytes in the
 * kernel is limited. Each piece is small enough to stay below this limit. With
 * a larger piece, the kernel would exceed the limit, because it checks the
 * limit only once per 64 kbyte. For example, with a limit of 16384 bytes, the
 * kernel accepted 73,848 bytes at once. */
static GstNetworkSinkResult
gst_ifd_tcp_writer_send (GstNetworkSink * sink, GstBuffer * buffer,
    gsize offset, gsize * taken, GError ** error)
{
  GstIfdTcpWriter *self = GST_IFD_TCP_WRITER (sink);
  gsize end = gst_buffer_get_size (buffer), room, size;
  GstNetworkSinkResult result;

  *taken = 0;
  if (offset == 0)
    begin_frame (self);
  while (offset + *taken < end) {
    room = gst_ifd_tcp_writer_get_room (self, *taken);
    if (room == 0 || (offset + *taken == 0
            && !gst_ifd_tcp_writer_may_begin (self, end, room)))
      return GST_NETWORK_SINK_FULL;
    result = gst_ifd_tcp_writer_send_some (self, buffer, offset + *taken, room,
        &size, error);
    if (result != GST_NETWORK_SINK_SENT)
      return result;
    *taken += size;
    GST_OBJECT_LOCK (self);
    self->written += size;
    GST_OBJECT_UNLOCK (self);
  }
  return GST_NETWORK_SINK_SENT;
}

static void
gst_ifd_tcp_writer_wait (GstNetworkSink * sink, gint64 timeout,
    GCancellable * cancellable)
{
  GstIfdTcpWriter *self = GST_IFD_TCP_WRITER (sink);
  gint64 begin = g_get_monotonic_time ();

  set_waiting (self, TRUE);
  g_socket_condition_timed_wait (self->socket, G_IO_OUT, timeout, cancellable,
      NULL);
  set_waiting (self, FALSE);
  if (self->lowat > 0)
    gst_ifd_tcp_writer_adapt_mark (self,
        (g_get_monotonic_time () - begin) * GST_USECOND);
}

/* --- the end of the stream ------------------------------------------------ */

/* Called repeatedly at the end of the stream. Returns whether the receiver's
 * kernel has acknowledged all data and the FIN. If the operating system does
 * not report acknowledgements, returns whether the receiver has closed the
 * connection. Returns FALSE with `error` set if the connection is broken. */
static gboolean
gst_ifd_tcp_writer_has_all (GstIfdTcpWriter * self, GError ** error)
{
  gboolean all = FALSE;
  GError *local_error = NULL;

  if (gst_ifd_tcp_writer_ignore_input (self, &local_error)) {
    ifd_tcp_socket_is_acknowledged (self->socket, &all);
    return all;
  }
  if (!g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CLOSED)) {
    g_propagate_error (error, local_error);
    return FALSE;
  }
  /* The receiver has closed its direction of the connection. It may have done
   * so before it received all data, so the acknowledgements must be checked. */
  g_error_free (local_error);
  if (!ifd_tcp_socket_is_acknowledged (self->socket, &all))
    return TRUE;
  return all;
}

static gboolean
gst_ifd_tcp_writer_drain (GstNetworkSink * sink, gint64 deadline,
    GCancellable * cancellable, GError ** error)
{
  GstIfdTcpWriter *self = GST_IFD_TCP_WRITER (sink);
  gint64 look = MIN_POLL_INTERVAL;
  GError *local_error = NULL;

  /* If the connection is broken, the shutdown fails. This error is ignored
   * here, because gst_ifd_tcp_writer_has_all () returns it below. */
  if (!self->said_end)
    g_socket_shutdown (self->socket, FALSE, TRUE, NULL);
  self->said_end = TRUE;

  while (!gst_ifd_tcp_writer_has_all (self, &local_error)) {
    if (local_error) {
      gst_ifd_tcp_writer_explain (self, &local_error);
      g_propagate_error (error, local_error);
      return FALSE;
    }
    if (g_get_monotonic_time () >= deadline
        || g_cancellable_is_cancelled (cancellable))
      return FALSE;
    g_usleep (look);
    look = MIN (2 * look, MAX_POLL_INTERVAL);
  }
  return TRUE;
}

/* --- statistics ----------------------------------------------------------- */

static void
gst_ifd_tcp_writer_fill_stats (GstNetworkSink * sink, GstStructure * stats)
{
  GstIfdTcpWriter *self = GST_IFD_TCP_WRITER (sink);
  IfdTcpFigures figures = { 0 };
  guint64 ignored, retransmissions, estimate;
  gboolean is_app_limited;

  estimate = gst_ifd_tcp_writer_get_estimate (self, &is_app_limited);
  GST_OBJECT_LOCK (self);
  if (self->socket)
    ifd_tcp_socket_get_figures (self->socket, &figures);
  retransmissions = self->retransmissions + figures.retransmissions;
  ignored = self->bytes_ignored;
  GST_OBJECT_UNLOCK (self);

  gst_structure_set (stats, "rtt", G_TYPE_UINT64, figures.rtt,
      "retransmissions", G_TYPE_UINT64, retransmissions,
      "unsent-bytes", G_TYPE_UINT64, figures.unsent,
      "unacknowledged-bytes", G_TYPE_UINT64, figures.unacknowledged,
      "in-flight", G_TYPE_UINT64, figures.unacknowledged -
      MIN (figures.unsent, figures.unacknowledged),
      "queue-delay", G_TYPE_UINT64, figures.rtt - MIN (figures.min_rtt,
          figures.rtt),
      "bytes-ignored", G_TYPE_UINT64, ignored,
      "estimated-bitrate", G_TYPE_UINT64, estimate,
      "application-limited", G_TYPE_BOOLEAN, is_app_limited, NULL);
}

static GstStateChangeReturn
gst_ifd_tcp_writer_change_state (GstElement * element,
    GstStateChange transition)
{
  GstIfdTcpWriter *self = GST_IFD_TCP_WRITER (element);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    GST_OBJECT_LOCK (self);
    self->bytes_ignored = self->retransmissions = 0;
    ifd_estimate_init (&self->estimate);
    GST_OBJECT_UNLOCK (self);
  }
  return GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
}

/* --- properties ----------------------------------------------------------- */

static void
get_estimated_bitrate (gpointer object, GValue * value, GParamSpec * pspec)
{
  gboolean is_app_limited;

  g_value_set_uint (value, MIN (gst_ifd_tcp_writer_get_estimate (object,
              &is_app_limited), G_MAXUINT));
}

#define PROPERTY_STRUCT GstIfdTcpWriter
static const GstWirelessProperty properties[] = {
  /* The defaults of host, port and qos-dscp are those of the element
   * tcpclientsink. */
  PROPERTY_STRING ("host", "Host",
      "Host name or IP address of the receiver; all addresses of a name are "
      "tried", PROPERTY_READY | PROPERTY_NOT_NULL, host, "localhost"),
  PROPERTY_INT ("port", "Port", "TCP port of the receiver", PROPERTY_READY,
      port, 0, 65535, 4953),
  /* The property notsent-lowat limits the unsent data in the socket
   * (TCP_NOTSENT_LOWAT in tcp(7)). Unsent data are data that the socket has
   * accepted, but cannot send yet, because the congestion window or the receive
   * window is full. Without a limit, a socket hides congestion, because it
   * accepts much more data than the network carries. For example, a receiver
   * read 40 kbyte/s. Without a limit, the sender's socket accepted 1,875,000
   * bytes before it was full. With a limit of 16384 bytes, it accepted 15,000
   * bytes. */
  PROPERTY_UINT ("notsent-lowat", "Unsent low-water mark",
      "Maximum amount of unsent data in the kernel, TCP_NOTSENT_LOWAT (bytes, "
      "0 = no limit); a receiver that reads more than this in 5 ms raises the "
      "maximum",
      PROPERTY_READY, notsent_lowat, 0, G_MAXINT, 16384),
  PROPERTY_STRING ("bind-address", "Bind address",
      "IP address to bind the socket to (unset = any)", PROPERTY_READY,
      bind_address, NULL),
  PROPERTY_INT ("bind-port", "Bind port",
      "TCP port to bind the socket to (0 = any)", PROPERTY_READY, bind_port, 0,
      G_MAXUINT16, 0),
  PROPERTY_INT ("buffer-size", "Buffer size",
      "Size of the kernel send buffer (bytes, 0 = the system's default, "
      "which the kernel adapts to the connection)", PROPERTY_READY, buffer_size,
      0, G_MAXINT, 0),
  PROPERTY_INT ("ttl", "TTL",
      "Time to live of the packets, the number of routers that they may pass "
      "(0 = the system's default)", PROPERTY_READY, ttl, 0, 255, 0),
  PROPERTY_INT ("qos-dscp", "QoS DSCP",
      "Differentiated services code point of the packets (-1 = the system's "
      "default)", PROPERTY_READY, qos_dscp, -1, 63, -1),
  PROPERTY_COMPUTED ("estimated-bitrate", "Estimated bitrate",
      "Bitrate that the connection can carry now; a lower bound while the stream "
      "does not fill the network (bit/s, 0 = not yet known)",
      PROPERTY_READABLE, G_TYPE_UINT,.maximum = G_MAXUINT,
      .get = get_estimated_bitrate),
};

static void
gst_ifd_tcp_writer_init (GstIfdTcpWriter * self)
{
  gst_wireless_properties_init (self, GST_TYPE_IFD_TCP_WRITER);
}

static void
gst_ifd_tcp_writer_finalize (GObject * object)
{
  gst_wireless_properties_clear (object, GST_TYPE_IFD_TCP_WRITER);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ifd_tcp_writer_class_init (GstIfdTcpWriterClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstNetworkSinkClass *network_class = GST_NETWORK_SINK_CLASS (klass);

  object_class->finalize = gst_ifd_tcp_writer_finalize;
  element_class->change_state = gst_ifd_tcp_writer_change_state;
  network_class->whole_frames = TRUE;
  network_class->category = gst_ifd_tcp_writer_debug;
  network_class->stats_name = "application/x-ifd-tcp-writer-stats";
  network_class->describe = gst_ifd_tcp_writer_describe;
  network_class->connect = gst_ifd_tcp_writer_connect;
  network_class->watch = gst_ifd_tcp_writer_watch;
  network_class->disconnect = gst_ifd_tcp_writer_disconnect;
  network_class->send = gst_ifd_tcp_writer_send;
  network_class->wait = gst_ifd_tcp_writer_wait;
  network_class->drain = gst_ifd_tcp_writer_drain;
  network_class->fill_stats = gst_ifd_tcp_writer_fill_stats;

  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);
  /* Two properties of the base class get new descriptions here. The element
   * ifdsink contains this TCP writer and exposes its properties. While a frame
   * waits in the TCP writer, the queue of ifdsink can drop other frames. The
   * new descriptions mention this queue. */
  gst_wireless_properties_reword (object_class, "wait-for-connection",
      "Whether the newest frames wait in the queue until the receiver is "
      "connected; false drops all frames until then");
  gst_wireless_properties_reword (object_class, "blocking",
      "Whether a frame waits while the network is full, so that the queue can "
      "choose the frames to drop; false drops each frame for which the network "
      "has no room");

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "TCP writer",
      "Sink/Network", "Writes whole frames to a TCP connection",
      "The gst-plugins-wireless authors");
}
