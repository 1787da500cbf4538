/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Base class of sinks that send to one receiver over a network. The base class
 * manages the connection, waits for it, and decides which buffers are dropped
 * when they cannot be sent. A subclass implements how to connect and how to
 * send.
 *
 * The base class guarantees the following:
 *
 * - The base class has a thread for the connection, and only this thread
 *   connects. No state change therefore has to wait for the network.
 * - The function render waits while there is no connection, and while the
 *   network is full. A flush or a state change ends this wait immediately.
 * - After a failure, the sink posts one error message that names the receiver
 *   and the reason. If the property auto-reconnect is TRUE, the sink connects
 *   again instead, and the new connection begins with a key frame.
 * - If a receiver accepts no data, the sink waits for it only for a limited
 *   time.
 *
 * These threads call the methods of the subclass:
 *
 *   thread of the connection  connect, watch, disconnect
 *   streaming thread          send, wait, drain; never while disconnect runs
 *   any thread                describe, fill_stats
 */

#pragma once

#include <gst/gst.h>
#include <gst/base/gstbasesink.h>
#include <gio/gio.h>

typedef enum
{
  GST_NETWORK_SINK_SENT,        /* The network has accepted all data. */
  /* The network is full. It has accepted a part of the data, or nothing. The
   * base class waits until there is room and then offers the rest again, or
   * drops it. */
  GST_NETWORK_SINK_FULL,
  /* The network has room, but the pacing does not allow the next packet yet.
   * The base class waits and then offers the packet again. Only send_packets
   * returns this value. */
  GST_NETWORK_SINK_EARLY,
  /* This buffer cannot be sent, but other buffers can. The function that
   * returns this value gives the reason in its argument `error`. */
  GST_NETWORK_SINK_UNSENDABLE,
  /* The connection is no longer usable. The argument `error` of the function
   * gives the reason. */
  GST_NETWORK_SINK_BROKEN
} GstNetworkSinkResult;

#define GST_TYPE_NETWORK_SINK (gst_network_sink_get_type ())
#define GST_NETWORK_SINK(object) (G_TYPE_CHECK_INSTANCE_CAST ((object), \
    GST_TYPE_NETWORK_SINK, GstNetworkSink))
#define GST_NETWORK_SINK_CLASS(klass) (G_TYPE_CHECK_CLASS_CAST ((klass), \
    GST_TYPE_NETWORK_SINK, GstNetworkSinkClass))
#define GST_NETWORK_SINK_GET_CLASS(object) (G_TYPE_INSTANCE_GET_CLASS ( \
    (object), GST_TYPE_NETWORK_SINK, GstNetworkSinkClass))

typedef struct _GstNetworkSink GstNetworkSink;
typedef struct _GstNetworkSinkClass GstNetworkSinkClass;
typedef struct _GstNetworkSinkPrivate GstNetworkSinkPrivate;

struct _GstNetworkSink
{
  GstBaseSink parent;

  GstNetworkSinkPrivate *priv;
};

struct _GstNetworkSinkClass
{
  GstBaseSinkClass parent_class;

  /* TRUE if each buffer is one frame. If FALSE, a frame ends with a buffer that
   * has GST_BUFFER_FLAG_MARKER, or before a buffer with a different PTS. */
  gboolean whole_frames;
  /* TRUE if the receiver does not notice connections (as with UDP). After a
   * reconnection, the stream then continues without waiting for a key frame.
   * EOS does not close the connection. */
  gboolean connectionless;
  /* TRUE if the sink tries again to connect after a refusal, until the time
   * `timeout` (property peer-timeout) has passed. A refusal need not be final:
   * it can be forged, for example as an ICMP message. It also occurs if the
   * receiver does not listen yet. */
  gboolean refusals_pass;
  const gchar *stats_name;      /* name of the `stats` structure */
  GstDebugCategory *category;   /* log category; NULL means networksink */

  /* Returns the host and the port of the receiver, as the user specified them,
   * in the form "host:port" (transfer full). */
  gchar *(*describe) (GstNetworkSink * self);

  /* Resolves the host name and connects. Returns early when `cancellable` is
   * cancelled. The error is a G_RESOLVER_ERROR if the name could not be
   * resolved, and a G_IO_ERROR in all other cases. G_IO_ERROR_NOT_FOUND means
   * that a property names something that does not exist on this host, such as
   * an interface. The text of this error begins with the name of the property,
   * as in "channels: there is no ...". */
    gboolean (*connect) (GstNetworkSink * self, GCancellable * cancellable,
      GError ** error);
  /* Waits until the connection breaks or `cancellable` is cancelled. Sets
   * `error` in both cases. While nothing is sent, only this function detects
   * that the receiver has gone. A subclass may leave this function NULL. */
  void (*watch) (GstNetworkSink * self, GCancellable * cancellable,
      GError ** error);
  /* Ends the connection. This function must not block. If `reset` is TRUE, it
   * aborts the connection immediately. The abort tells the receiver that the
   * last frame is incomplete. */
  void (*disconnect) (GstNetworkSink * self, gboolean reset);

  /* A subclass implements `send` if it sends a byte stream, or `send_packets`
   * if it sends packets. The subclass sets the other function to NULL.
   *
   * `send` is non-blocking. It offers the bytes of `buffer`, beginning at
   * `offset`, to the network, and stores in `taken` how many of these bytes the
   * network accepted. If bytes remain, the base class calls `send` again for
   * the rest of the buffer. It sends no other buffer until the whole buffer is
   * sent or the connection is reset. */
    GstNetworkSinkResult (*send) (GstNetworkSink * self, GstBuffer * buffer,
      gsize offset, gsize * taken, GError ** error);
  /* Offers up to `n` packets to the network without blocking. Each packet is
   * sent completely or not at all. `sent` is the number of leading packets that
   * were sent. If the result is SENT, `sent` is at least one. Any other result
   * describes the first packet that was not sent. The base class offers the
   * remaining packets again or drops them. */
    GstNetworkSinkResult (*send_packets) (GstNetworkSink * self,
      GstBuffer ** packets, guint n, guint * sent, GError ** error);
  /* Waits until one of the following has happened:
   *
   * - The network has room.
   * - The pacing allows the next packet.
   * - An error has occurred. The next call of `send` returns this error.
   * - `timeout` microseconds have passed.
   * - `cancellable` was cancelled. */
  void (*wait) (GstNetworkSink * self, gint64 timeout,
      GCancellable * cancellable);
  /* Tells the receiver that the stream has ended, and waits until the receiver
   * has all data. Returns TRUE if the receiver has all data. Returns FALSE with
   * an error if the connection breaks. Returns FALSE without an error if
   * `cancellable` was cancelled, or if the wait lasted until `deadline`
   * (monotonic time in us). After a return without an error, the function may
   * be called again. A subclass may leave this function NULL. */
    gboolean (*drain) (GstNetworkSink * self, gint64 deadline,
      GCancellable * cancellable, GError ** error);

  /* Adds the statistics of the subclass's transport to `stats`, the structure
   * of the property `stats`. Each call must add the same set of fields. A
   * subclass may leave this function NULL. */
  void (*fill_stats) (GstNetworkSink * self, GstStructure * stats);
};

GType gst_network_sink_get_type (void);

/* Returns the timeout of the receiver in ns; 0 = unlimited. A receiver counts
 * as gone if it accepts no data or does not answer for this time. This function
 * and gst_network_sink_get_blocking take the lock of the base class. A subclass
 * therefore calls them before it takes its own lock. */
GstClockTime gst_network_sink_get_timeout (GstNetworkSink * self);
/* Returns the property `blocking`: whether render waits while the network
 * accepts no more packets. */
gboolean gst_network_sink_get_blocking (GstNetworkSink * self);
/* Counts a packet as unsendable in the statistics. A subclass calls this
 * function in send_packets for a packet that it could not send to any receiver.
 * The subclass logs the reason. It includes the packet in the result `sent` of
 * send_packets nevertheless, so that the base class does not offer the packet
 * again. */
void gst_network_sink_refuse_packet (GstNetworkSink * self, GstBuffer * packet);
/* Waits for `milliseconds`, or until `cancellable` is cancelled. This function
 * is for subclasses. */
void gst_network_sink_pause (GCancellable * cancellable, gint milliseconds);
/* Returns the structure of the property `stats` (transfer full). May be called
 * from any thread. */
GstStructure * gst_network_sink_create_stats (GstNetworkSink * self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNetworkSink, gst_object_unref)
