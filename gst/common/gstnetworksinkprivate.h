/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files of GstNetworkSink share. gstnetworksink.c has the
 * GObject part, gstnetworksinkconnection.c the connection and its thread,
 * gstnetworksinkrender.c the streaming thread, and gstnetworksinkchoice.c the
 * decision which buffers are sent.
 *
 * Two threads work together. The connection's thread is started on the way from
 * READY to PAUSED and joined on the way back. It connects, watches the
 * connection, and disconnects. The streaming thread sends. While `using` is
 * TRUE, the streaming thread is inside a method of the subclass, and the
 * connection must not be closed. A thread that finds the connection broken
 * stores the error in `failure` and wakes the other thread by cancelling its
 * GCancellable.
 *
 *   IDLE -> CONNECTING <-> PAUSING           PAUSING: waits between two
 *              |                             attempts to connect
 *              v
 *          CONNECTED -> BROKEN -> PAUSING    with auto-reconnect
 *              |           `----> FAILED     without auto-reconnect; render
 *              |                             posts the error
 *              `-> IDLE                      after EOS; the next buffer
 *                                            makes it connect again
 */

#pragma once

#include "gstnetworksink.h"
#include "gststatstimer.h"

#pragma GCC visibility push(hidden)

GST_DEBUG_CATEGORY_EXTERN (gst_network_sink_debug);
/* The log category of the class of `self` */
#define GST_CAT_DEFAULT (get_category (self))

typedef enum
{
  /* There is no connection, and none is wanted. */
  STATE_IDLE,
  STATE_CONNECTING,
  /* The thread waits for the next attempt to connect. */
  STATE_PAUSING,
  STATE_CONNECTED,
  /* The connection is broken but not closed yet. */
  STATE_BROKEN,
  STATE_FAILED                  /* No further attempts to connect are made. */
} ConnectionState;

/* Why a buffer was not sent */
typedef enum
{
  /* There is no connection, and the buffer could not wait for one. Either
   * wait-for-connection is FALSE, or the input is live and the time
   * max-live-wait has passed. */
  DROP_NOT_CONNECTED,
  /* The network was full, and the buffer could not wait for room. Either
   * blocking is FALSE, or the input is live and max-live-wait has passed. */
  DROP_FULL,
  /* An earlier part of the same frame was dropped. An incomplete frame is
   * useless, so this part was dropped too. */
  DROP_REST_OF_FRAME,
  /* The receiver is a new one that lacks the earlier frames. It gets no buffer
   * before the next key frame. */
  DROP_NO_KEY_FRAME,
  /* The connection broke after a part of the buffer was sent. */
  DROP_BROKEN,
  DROP_UNSENDABLE,              /* The transport cannot carry the buffer. */
  /* The stream did not end within drain-timeout. */
  DROP_EOS_TIMEOUT,
  DROP_LAST
} DropReason;

typedef enum
{
  INPUT_UNKNOWN,                /* upstream was not queried yet */
  /* Either upstream is not live, or an element upstream, such as ifdqueue,
   * drops frames when downstream does not accept them. The sink may therefore
   * block upstream for an unlimited time. */
  INPUT_STORED,
  INPUT_LIVE
} Input;

/* Reason why a connection, or an attempt to connect, failed */
typedef enum
{
  FAILURE_CLOSED,               /* The receiver closed the connection. */
  FAILURE_RESET,                /* The receiver reset the connection. */
  /* For the time `timeout`, the receiver accepted no data or did not answer. */
  FAILURE_TIMEOUT,
  /* No process listens at the address of the receiver. */
  FAILURE_REFUSED,
  FAILURE_UNREACHABLE,
  FAILURE_NOT_FOUND,            /* The host name does not exist. */
  FAILURE_OTHER,
  FAILURE_LAST
} Failure;

/* Return value of the functions that wait for a connection: there is no
 * connection, and the buffer must be dropped instead of waiting for one. */
#define FLOW_NOT_CONNECTED GST_FLOW_CUSTOM_SUCCESS

typedef struct
{
  guint64 connections, connect_attempts;
  guint64 packets_sent, bytes_sent;
  guint64 dropped[DROP_LAST];
  /* Number of buffers that were dropped because the network was full
   * (DROP_FULL) and that do not have the flag DROPPABLE. Other frames may refer
   * to the frames of these buffers, so the receiver needs a key frame. */
  guint64 dropped_references;
  guint64 bytes_dropped;
  guint64 failures[FAILURE_LAST];
  guint64 eos_timeouts;
  /* time that render waited while the network was full, in ns */
  guint64 time_blocked;
  /* time that render waited for a connection, in ns */
  guint64 time_unconnected;
} Counters;

struct _GstNetworkSinkPrivate
{
  /* A thread never holds this lock while it blocks or posts a message. */
  GMutex lock;
  /* signalled when a field protected by lock changes */
  GCond cond;

  /* --- protected by lock --- */
  gboolean wait_for_connection, auto_reconnect, blocking;
  GstClockTime timeout, eos_timeout, max_live_wait;

  ConnectionState state;
  /* Number of the current connection, counted from 1. The streaming thread
   * detects a new receiver by this number. */
  guint64 generation;
  gboolean wanted;              /* a connection should exist */
  gboolean stopping;            /* TRUE if the connection's thread has to end */
  /* EOS has arrived, and the sink waits until the remaining data are delivered.
   * During this time the connection is not watched. */
  gboolean draining;
  /* TRUE while a buffer is sent only in part. If its rest can no longer be
   * sent, the connection has to be reset. */
  gboolean torn;
  gboolean unlocked;            /* render has to return immediately */
  /* The application has sent EOS to the pipeline, which passes it to its
   * sources. EOS will therefore arrive at this sink later. */
  gboolean end_asked;
  /* Deadline for the end of the stream, monotonic time in us; 0 if it is not
   * set. After the application has sent EOS to the pipeline, the first wait of
   * the sink sets this deadline. */
  gint64 ending_until;
  /* TRUE while the streaming thread executes the method `send`, `wait` or
   * `drain`. */
  gboolean using;
  gboolean awaited;             /* disconnect waits until `using` is FALSE */
  /* TRUE while the connection's thread executes the method `watch`. */
  gboolean watching;
  GError *failure;              /* reason why the state is BROKEN */
  /* reason why the state is FAILED; NULL if the error was already posted */
  GError *error;
  gboolean error_is_of_connecting;
  /* Monotonic time in us at which render began to wait for room in the network;
   * 0 while render does not wait for room */
  gint64 blocked_since;
  /* Monotonic time in us at which render began to wait for a connection; 0
   * while render does not wait for a connection */
  gint64 unconnected_since;
  Counters counters;

  /* connection_cancellable ends the waits of the connection's thread, and
   * send_cancellable ends those of the streaming thread. Any thread may cancel
   * them, but only the waiting thread itself resets its cancellable. Both
   * operations need the lock. */
  GCancellable *connection_cancellable, *send_cancellable;

  /* The connection's thread. It is created and joined by state changes. */
  GThread *thread;

  /* --- the connection's thread only --- */
  /* pause before the next attempt to connect, in us */
  gint64 pause;
  /* If the receiver refuses an attempt to connect, the thread repeats the
   * attempt until this monotonic time in us. 0 if no attempt was refused since
   * the last connection */
  gint64 refused_until;
  gint64 connected_at;          /* monotonic time in us */
  /* Time of the last warning, monotonic time in us; 0 if none was posted */
  gint64 warned_at;

  /* --- used by the streaming thread; while no pad is active, by any thread */
  /* The buffer that is being sent; NULL if there is none. If a flush interrupts
   * the sending after a part of the buffer was sent, the buffer stays here, so
   * that its rest is sent later. */
  GstBuffer *rest;
  gsize rest_offset;            /* number of bytes of `rest` that were sent */
  /* Number of the connection on which the previous buffer was handled. If it
   * differs from `generation`, the next buffer is the first one on a new
   * connection, and the receiver is a new one.
   */
  guint64 receiver;
  /* TRUE if a buffer has arrived since the last EOS */
  gboolean has_input;
  gboolean started;             /* a buffer was sent or dropped */
  gboolean needs_key_frame;
  /* A buffer was dropped because the stream did not end within drain-timeout.
   */
  gboolean gave_up;
  /* A part of the current frame was dropped. The rest of the frame is therefore
   * dropped too. */
  gboolean skips_frame;
  /* Temporal layer of a dropped frame. The next frames of higher layers refer
   * to the dropped frame and are therefore useless. 0 if there is no such
   * dropped frame. */
  gint dropped_layer;
  /* TRUE if a buffer with the flag MARKER has arrived */
  gboolean have_markers;
  /* Number of frames that were dropped since a new receiver began to wait for a
   * key frame */
  guint frames_without_key;
  /* TRUE if the last buffer did not end its frame, so that more buffers of this
   * frame will follow */
  gboolean in_frame;
  GstClockTime last_pts;        /* PTS of the last buffer */
  /* Deadline for the end of the stream, as a monotonic time in us; 0 if there
   * is no deadline */
  gint64 deadline;
  Input input;                  /* whether upstream is live */
  /* TRUE if live input has waited for max_live_wait in vain. Until something is
   * sent again, buffers then do not wait at all. */
  gboolean live_gave_up;
  /* Number of packets in the present batch that were sent to no receiver,
   * although the method send_packets has reported them as sent; see
   * gst_network_sink_refuse_packet (). They are counted as unsendable. */
  guint refused;
  /* total size in bytes of the packets in the present batch that were sent to
   * no receiver */
  guint64 refused_bytes;
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
/* Tells the connection's thread to end, and wakes up all threads that wait for
 * the connection. Called before the pads are deactivated. */
void gst_network_sink_cancel_connection (GstNetworkSink * self);
void gst_network_sink_join_connection (GstNetworkSink * self);
/* Marks the connection as broken because of `error`. Takes ownership of
 * `error`. Called with the lock. */
void gst_network_sink_break_connection (GstNetworkSink * self, GError * error);
/* Closes the connection gracefully, or resets it if a buffer was sent in part.
 * Waits until the connection is closed. */
void gst_network_sink_end_connection (GstNetworkSink * self);
/* Posts the error that led to the state FAILED, unless it was posted before. */
void gst_network_sink_post_error (GstNetworkSink * self);
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
/* Decides whether `buffer` is sent. Returns TRUE if it must be sent. Returns
 * FALSE if it must not be sent; this function has then already counted it as
 * dropped. Called once for each buffer and connection. */
gboolean gst_network_sink_choose (GstNetworkSink * self, GstBuffer * buffer);
void gst_network_sink_drop (GstNetworkSink * self, GstBuffer * buffer,
    DropReason reason);
/* Records that `buffer` was either sent or dropped. */
void gst_network_sink_pass_buffer (GstNetworkSink * self, GstBuffer * buffer);
/* Called before `buffer` is sent. If the receiver has changed, drops `buffer`,
 * records that a key frame has to come next, and returns TRUE. Returns FALSE if
 * the receiver has not changed. Also returns FALSE for the first receiver if no
 * buffer was sent or dropped before it connected, because this receiver has
 * missed nothing. */
gboolean gst_network_sink_greet_receiver (GstNetworkSink * self,
    GstBuffer * buffer);
void gst_network_sink_clear_rest (GstNetworkSink * self);
/* Records that the next buffer begins a new frame. */
void gst_network_sink_begin_stream (GstNetworkSink * self);

#pragma GCC visibility pop
