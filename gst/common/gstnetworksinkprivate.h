/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of GstNetworkSink share: the element in gstnetworksink.c, the
 * life of a connection in gstnetworksinkconnection.c, the streaming thread in
 * gstnetworksinkrender.c, and its choice of buffers in gstnetworksinkchoice.c.
 *
 * Two threads meet here. The connection's thread runs from READY to PAUSED
 * until back in READY. It connects, watches, and disconnects. The streaming
 * thread sends. `using` says that it is in one of the class's functions: then
 * the connection is not ended. Who finds the connection broken leaves the error
 * in `failure` and wakes the other, by its cancellable.
 *
 *   IDLE -> CONNECTING <-> PAUSING       until connected; PAUSING: between
 *              |                         two attempts
 *              v
 *          CONNECTED -> BROKEN -> PAUSING   with auto-reconnect
 *              |           `----> FAILED    without; render posts the error
 *              `-> IDLE                     EOS; a buffer begins anew
 */

#pragma once

#include "gstnetworksink.h"
#include "gststatstimer.h"

#pragma GCC visibility push(hidden)

GST_DEBUG_CATEGORY_EXTERN (gst_network_sink_debug);
/* The category of the element that `self` is */
#define GST_CAT_DEFAULT (get_category (self))

typedef enum
{
  STATE_IDLE,                   /* no connection, and nobody wants one */
  STATE_CONNECTING,
  STATE_PAUSING,                /* until the next attempt */
  STATE_CONNECTED,
  STATE_BROKEN,                 /* not yet disconnected */
  STATE_FAILED                  /* for good */
} ConnectionState;

/* Why a buffer was not sent */
typedef enum
{
  DROP_NOT_CONNECTED,           /* wait-for-connection=false, or live input */
  DROP_FULL,                    /* blocking=false, or live input: the network was
                                 * full */
  DROP_REST_OF_FRAME,           /* ... and an earlier part was dropped */
  DROP_NO_KEY_FRAME,            /* the receiver has nothing that it refers to */
  DROP_BROKEN,                  /* the connection broke in the middle of it */
  DROP_UNSENDABLE,              /* the transport can't carry it */
  DROP_EOS_TIMEOUT,             /* the end of the stream took too long */
  DROP_LAST
} DropReason;

typedef enum
{
  INPUT_UNKNOWN,                /* nobody has asked yet */
  INPUT_STORED,                 /* it may wait as long as it takes, or drops frames
                                 * itself */
  INPUT_LIVE
} Input;

/* What went wrong with a connection, or an attempt to make one */
typedef enum
{
  FAILURE_CLOSED,               /* the receiver closed it */
  FAILURE_RESET,                /* ... or reset it */
  FAILURE_TIMEOUT,              /* took nothing, or did not answer */
  FAILURE_REFUSED,              /* nobody listens there */
  FAILURE_UNREACHABLE,
  FAILURE_NOT_FOUND,            /* of a name */
  FAILURE_OTHER,
  FAILURE_LAST
} Failure;

/* There is no connection, and nobody waits for it */
#define FLOW_NOT_CONNECTED GST_FLOW_CUSTOM_SUCCESS

typedef struct
{
  guint64 connections, connect_attempts;
  guint64 packets_sent, bytes_sent;
  guint64 dropped[DROP_LAST];
  guint64 bytes_dropped;
  guint64 failures[FAILURE_LAST];
  guint64 eos_timeouts;
  guint64 time_blocked;         /* ns: render waited for a full network */
  guint64 time_unconnected;     /* ns: render waited for a connection */
} Counters;

struct _GstNetworkSinkPrivate
{
  GMutex lock;                  /* never held while anything waits or posts */
  GCond cond;                   /* any field below it changed */

  /* --- protected by lock --- */
  gboolean wait_for_connection, auto_reconnect, blocking;
  GstClockTime timeout, eos_timeout, max_live_wait;

  ConnectionState state;
  guint64 generation;           /* of the connection, from 1; render tells by it
                                 * that the receiver is a new one */
  gboolean wanted;              /* there should be a connection */
  gboolean stopping;            /* the connection's thread has to end */
  gboolean draining;            /* EOS: nobody watches any more */
  gboolean torn;                /* a buffer was partly taken: reset, if it is not
                                 * finished */
  gboolean unlocked;            /* render has to return */
  gboolean end_asked;           /* of the pipeline's sources: EOS will follow */
  gint64 ending_until;          /* monotonic us; 0: EOS is not known to follow,
                                 * or nothing has waited since */
  gboolean using;               /* the streaming thread is in send, wait, drain */
  gboolean awaited;             /* disconnect waits until it is not */
  gboolean watching;            /* the connection's thread is in watch */
  GError *failure;              /* why the connection is BROKEN */
  GError *error;                /* why it FAILED; NULL: that was posted */
  gboolean error_is_of_connecting;
  gint64 blocked_since;         /* monotonic us; 0: render doesn't wait for a */
  gint64 unconnected_since;     /* full network, for a connection */
  Counters counters;

  /* Cancelled with the lock held, reset by the one thread that passes it on,
   * also with the lock */
  GCancellable *connection_cancellable, *send_cancellable;

  /* Made and joined by changes of state */
  GThread *thread;

  /* --- the connection's thread only --- */
  gint64 pause;                 /* us: before the next attempt */
  gint64 refused_until;         /* monotonic us: refusals pass; 0: none came
                                 * since the last connection */
  gint64 connected_at;          /* monotonic us */
  gint64 warned_at;             /* the same; 0: not yet */

  /* --- the streaming thread only (others while no pad is active) --- */
  GstBuffer *rest;              /* is being sent; NULL: none. Outlives a flush
                                 * when it was partly taken */
  gsize rest_offset;            /* of what was not taken yet */
  guint64 receiver;             /* generation that buffers were sent to */
  gboolean has_input;           /* a buffer came since the last EOS */
  gboolean started;             /* a buffer was sent or dropped */
  gboolean needs_key_frame;
  gboolean gave_up;             /* something was dropped for the end's sake */
  gboolean skips_frame;         /* a part of it was dropped: so is the rest */
  gboolean have_markers;        /* a buffer with MARKER came */
  guint frames_without_key;     /* dropped while one is needed */
  gboolean in_frame;            /* the last buffer did not end its frame */
  GstClockTime last_pts;        /* of that buffer */
  gint64 deadline;              /* monotonic us, of a drain; 0: none */
  Input input;                  /* what upstream is */
  gboolean live_gave_up;        /* live input has waited for max_live_wait, and
                                 * nothing was sent since */
  guint refused;                /* packets, and their bytes, among those that */
  guint64 refused_bytes;        /* send_packets calls sent */
};

static inline GstDebugCategory *
get_category (GstNetworkSink * self)
{
  GstDebugCategory *category = GST_NETWORK_SINK_GET_CLASS (self)->category;

  return category ? category : gst_network_sink_debug;
}

#define LOCK(self) g_mutex_lock (&(self)->priv->lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->priv->lock)

/* gstnetworksinkconnection.c */
const gchar *gst_network_sink_get_state_name (ConnectionState state);
void gst_network_sink_start_connection (GstNetworkSink * self);
/* Nobody may wait any more: before the pads are deactivated */
void gst_network_sink_cancel_connection (GstNetworkSink * self);
void gst_network_sink_join_connection (GstNetworkSink * self);
/* With lock; takes the error */
void gst_network_sink_break_connection (GstNetworkSink * self, GError * error);
/* Graceful, or a reset if a frame is torn; waits until it is done. */
void gst_network_sink_end_connection (GstNetworkSink * self);
/* Posts why the connection FAILED, once. */
void gst_network_sink_tell_error (GstNetworkSink * self);
Failure gst_network_sink_classify (const GError * error);

/* gstnetworksinkrender.c */
GstFlowReturn gst_network_sink_render (GstBaseSink * sink, GstBuffer * buffer);
GstFlowReturn gst_network_sink_render_list (GstBaseSink * sink,
    GstBufferList * list);
GstFlowReturn gst_network_sink_wait_event (GstBaseSink * sink,
    GstEvent * event);
gboolean gst_network_sink_event (GstBaseSink * sink, GstEvent * event);
gboolean gst_network_sink_unlock (GstBaseSink * sink);
gboolean gst_network_sink_unlock_stop (GstBaseSink * sink);
gboolean gst_network_sink_send_event (GstElement * element, GstEvent * event);
void gst_network_sink_reset_render (GstNetworkSink * self);

/* gstnetworksinkchoice.c */
/* FALSE: it is dropped. Asked once for each buffer and connection */
gboolean gst_network_sink_choose (GstNetworkSink * self, GstBuffer * buffer);
void gst_network_sink_drop (GstNetworkSink * self, GstBuffer * buffer,
    DropReason reason);
/* The buffer is done with, sent or not. */
void gst_network_sink_pass_buffer (GstNetworkSink * self, GstBuffer * buffer);
/* Another receiver than before has missed what was sent. */
gboolean gst_network_sink_greet_receiver (GstNetworkSink * self,
    GstBuffer * buffer);
void gst_network_sink_clear_rest (GstNetworkSink * self);
/* What comes next continues no frame. */
void gst_network_sink_begin_stream (GstNetworkSink * self);

#pragma GCC visibility pop
