/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Base class of sinks that send to one receiver over a network. It knows when
 * there is a connection, who waits for it and what becomes of buffers that
 * can't be sent; a subclass knows how to connect and to send.
 *
 * What it promises: nothing but its own thread connects, so that no change of
 * state waits for a network; render waits for the connection and while the
 * network is full, and a flush or a change of state wakes it at once; a failure
 * is one error that names the receiver and the reason, or with auto-reconnect
 * the next connection, which begins with a key frame; nothing waits for ever for
 * a receiver that takes nothing.
 *
 * Who calls what:
 *   the connection's thread   connect, watch, disconnect
 *   the streaming thread      send, wait, drain; never while disconnect runs
 *   any thread                describe, fill_stats
 */

#pragma once

#include <gst/gst.h>
#include <gst/base/gstbasesink.h>
#include <gio/gio.h>

typedef enum
{
  GST_NETWORK_SINK_SENT,        /* the network has all of it */
  GST_NETWORK_SINK_FULL,        /* ... has what it has room for: wait, and call
                                 * again with the rest */
  GST_NETWORK_SINK_EARLY,       /* ... has room, but it is not time yet: wait, and
                                 * call again; of send_packets only */
  GST_NETWORK_SINK_UNSENDABLE,  /* this one can't be sent, others can: error */
  GST_NETWORK_SINK_BROKEN       /* the connection is of no use any more: error */
} GstNetworkSinkResult;

#define GST_TYPE_NETWORK_SINK (gst_network_sink_get_type ())
#define GST_NETWORK_SINK(object) (G_TYPE_CHECK_INSTANCE_CAST ((object), \
    GST_TYPE_NETWORK_SINK, GstNetworkSink))
#define GST_NETWORK_SINK_CLASS(klass) (G_TYPE_CHECK_CLASS_CAST ((klass), \
    GST_TYPE_NETWORK_SINK, GstNetworkSinkClass))
#define GST_IS_NETWORK_SINK(object) (G_TYPE_CHECK_INSTANCE_TYPE ((object), \
    GST_TYPE_NETWORK_SINK))
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

  /* One buffer is one frame. Otherwise a frame ends with the buffer that has
   * GST_BUFFER_FLAG_MARKER, and before one with another PTS. */
  gboolean whole_frames;
  /* The receiver does not know of connections: with a new one the stream goes on
   * where it was, and no key frame is waited for; EOS ends none. */
  gboolean connectionless;
  /* A refusal is not verified, as one by ICMP, or may come before the receiver
   * listens. So it ends the attempts to connect only after `timeout`. */
  gboolean refusals_pass;
  const gchar *stats_name;      /* of the structure */
  GstDebugCategory *category;   /* of the log; NULL: networksink */

  /* "host:port" as the user gave them; free it */
  gchar *(*describe) (GstNetworkSink * self);

  /* Resolves and connects, and gives up when cancelled. G_RESOLVER_ERROR says
   * that the name is unknown, G_IO_ERROR what else went wrong. */
    gboolean (*connect) (GstNetworkSink * self, GCancellable * cancellable,
      GError ** error);
  /* May be NULL. Returns when the connection broke, with the error, or when
   * cancelled: sees that a receiver has gone while nothing is sent. */
  void (*watch) (GstNetworkSink * self, GCancellable * cancellable,
      GError ** error);
  /* Ends the connection; reset: at once, so that the receiver knows that the
   * last frame is not whole. Doesn't wait. */
  void (*disconnect) (GstNetworkSink * self, gboolean reset);

  /* A stream of bytes: send; packets: send_packets. One of them is NULL.
   * Offers the buffer from `offset` on to the network, without waiting; `taken`:
   * bytes that it took. What was partly taken is offered again until all is
   * gone, before anything else, or the connection is reset. */
    GstNetworkSinkResult (*send) (GstNetworkSink * self, GstBuffer * buffer,
      gsize offset, gsize * taken, GError ** error);
  /* Offers up to `n` packets to the network, without waiting, each whole or not
   * at all. It took the first `sent`: SENT, at least one; otherwise the result is
   * about the next one. What is left is offered again, or dropped. */
    GstNetworkSinkResult (*send_packets) (GstNetworkSink * self,
      GstBuffer ** packets, guint n, guint * sent, GError ** error);
  /* Waits until the network has room, it is time, something is wrong (send tells
   * what), `timeout` us have passed, or cancelled. */
  void (*wait) (GstNetworkSink * self, gint64 timeout,
      GCancellable * cancellable);
  /* May be NULL. Tells the receiver that this was all, and waits until it has
   * everything: TRUE; until `deadline` (monotonic us) or cancelled: FALSE, it
   * may be called again; or until the connection breaks: error. */
    gboolean (*drain) (GstNetworkSink * self, gint64 deadline,
      GCancellable * cancellable, GError ** error);

  /* May be NULL. Adds the transport's fields, always the same ones. */
  void (*fill_stats) (GstNetworkSink * self, GstStructure * stats);
};

GType gst_network_sink_get_type (void);

/* ns; 0: never. How long a receiver may take nothing, or not answer. */
GstClockTime gst_network_sink_get_timeout (GstNetworkSink * self);
/* Whether render waits while the network is full */
gboolean gst_network_sink_get_blocking (GstNetworkSink * self);
/* For send_packets: of the packets that it is about to call sent this one went to
 * nobody, and counts as unsendable. The subclass logs why. */
void gst_network_sink_refuse_packet (GstNetworkSink * self, GstBuffer * packet);
/* For a subclass: waits so long, or until cancelled */
void gst_network_sink_pause (GCancellable * cancellable, gint milliseconds);
/* What `stats` has; any thread. */
GstStructure * gst_network_sink_create_stats (GstNetworkSink * self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNetworkSink, gst_object_unref)
