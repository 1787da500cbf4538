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
 * connection must not be closed. Each thread has a GCancellable, which ends its
 * waits. A thread that finds the connection broken stores the error in
 * `failure`. It then cancels both GCancellables, which wakes the other thread.
 *
 * The connection changes its state in these cases:
 *
 *   IDLE       -> CONNECTING  a connection is needed
 *   CONNECTING -> CONNECTED   the attempt to connect has succeeded
 *   CONNECTING -> PAUSING     the attempt has failed and will be repeated
 *   CONNECTING -> FAILED      the attempt has failed and will not be repeated
 *   PAUSING    -> CONNECTING  the wait between two attempts is over
 *   CONNECTED  -> BROKEN      the connection is broken
 *   BROKEN     -> PAUSING     with auto-reconnect
 *   BROKEN     -> FAILED      without auto-reconnect
 *   CONNECTED  -> IDLE        after EOS; the next buffer needs a connection
 *   CONNECTING -> IDLE        after EOS, if the attempt was ended by the EOS
 *   PAUSING    -> IDLE        after EOS; no further attempt is made
 *   any state  -> IDLE        the element stops
 *
 * In the state FAILED, the error is posted. The connection's thread posts it if
 * an established connection broke in PLAYING. In all other cases, the streaming
 * thread posts it.
 */

#pragma once

#include "gstnetworksink.h"
#include "gststatstimer.h"
#include "gstwarninglimit.h"

#pragma GCC visibility push(hidden)

GST_DEBUG_CATEGORY_EXTERN (gst_network_sink_debug);
/* Macros that write log messages, such as GST_DEBUG_OBJECT, use the log
 * category of the class of `self`. */
#define GST_CAT_DEFAULT (get_category (self))

typedef enum
{
  /* There is no connection, and none is wanted. */
  STATE_IDLE,
  STATE_CONNECTING,
  /* The connection's thread waits until it is time for the next attempt to
   * connect. */
  STATE_PAUSING,
  STATE_CONNECTED,
  /* The connection is broken but not closed yet. */
  STATE_BROKEN,
  /* The connection, or an attempt to connect, has failed. No further attempt to
   * connect is made. */
  STATE_FAILED
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
  /* The receiver is new, and lacks the earlier frames. All buffers before the
   * next key frame are dropped. */
  DROP_NO_KEY_FRAME,
  /* The connection broke after a part of the buffer was sent, so the rest of
   * the buffer was dropped. */
  DROP_BROKEN,
  /* The transport cannot carry the buffer, for example because it is too large.
   */
  DROP_UNSENDABLE,
  /* The buffer was not sent before the deadline for the end of the stream. The
   * property drain-timeout determines this deadline. */
  DROP_EOS_TIMEOUT,
  DROP_LAST
} DropReason;

typedef enum
{
  INPUT_UNKNOWN,                /* upstream was not queried yet */
  /* The sink may block upstream for an unlimited time. This is the case if
   * upstream is not live. It is also the case if an element upstream, such as
   * ifdqueue, drops frames when downstream does not accept them. */
  INPUT_STORED,
  INPUT_LIVE
} Input;

/* Reason why a connection, or an attempt to connect, failed */
typedef enum
{
  FAILURE_CLOSED,               /* The receiver closed the connection. */
  FAILURE_RESET,                /* The receiver reset the connection. */
  /* The receiver accepted no data, or did not answer, for the time that the
   * property peer-timeout sets. */
  FAILURE_TIMEOUT,
  /* No process listens at the address of the receiver. */
  FAILURE_REFUSED,
  FAILURE_UNREACHABLE,
  /* The name of the host could not be resolved, or a property names something
   * that does not exist on this host, such as an interface. */
  FAILURE_NOT_FOUND,
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
  /* Number of buffers without the flag DROPPABLE that were dropped because the
   * network was full (DROP_FULL). Other frames may refer to the frames of these
   * buffers, so the receiver needs a key frame. */
  guint64 dropped_references;
  guint64 bytes_dropped;
  guint64 failures[FAILURE_LAST];
  guint64 eos_timeouts;
  /* Total time in ns for which the streaming thread has waited in the method
   * render of the sink until the network had room or the pacing allowed the
   * next packet */
  guint64 time_blocked;
  /* Total time in ns for which the streaming thread has waited for a connection
   * in the method render of the sink */
  guint64 time_unconnected;
} Counters;

struct _GstNetworkSinkPrivate
{
  /* A thread never holds this lock while it blocks or posts a message. */
  GMutex lock;
  /* signalled when a field that `lock` protects has changed */
  GCond cond;

  /* --- protected by lock --- */
  gboolean wait_for_connection, auto_reconnect, blocking;
  GstClockTime timeout, eos_timeout, max_live_wait;

  ConnectionState state;
  /* Number of the present or last connection, counted from 1; 0 if there was
   * none yet. If this number has changed, the streaming thread knows that the
   * receiver is a new one. */
  guint64 generation;
  gboolean wanted;              /* a connection should exist */
  gboolean stopping;            /* TRUE if the connection's thread has to end */
  /* TRUE after EOS has arrived, while the sink waits until the receiver has the
   * remaining data. During this time, the method `watch`, which detects that
   * the receiver has gone, is not called. */
  gboolean draining;
  /* TRUE if a part of the current buffer was sent, but not the whole buffer
   * yet. If the connection is closed in this situation, it is reset, so that
   * the receiver learns that its last frame is incomplete. */
  gboolean torn;
  gboolean unlocked;            /* render has to return immediately */
  /* TRUE if the application has sent EOS to the pipeline. The pipeline passes
   * the event to its sources, so EOS will arrive at this sink later. */
  gboolean end_asked;
  /* Deadline for the end of the stream, as a monotonic time in us; 0 if it is
   * not set. It is set when it is known that EOS will arrive soon. After the
   * deadline, the sink no longer waits, and drops the buffers before EOS. */
  gint64 ending_until;
  /* TRUE while the streaming thread executes the method `send`, `send_packets`,
   * `wait` or `drain` of the subclass. The connection must not be closed during
   * this time. */
  gboolean using;
  gboolean awaited;             /* disconnect waits until `using` is FALSE */
  /* TRUE while the connection's thread executes the method `watch` of the
   * subclass, which detects that the receiver has gone. */
  gboolean watching;
  GError *failure;              /* reason why the state is BROKEN */
  /* Error that has led to STATE_FAILED and that was not posted as a message
   * yet; NULL if there is none */
  GError *error;
  gboolean error_is_of_connecting;
  /* Monotonic time in us at which the present wait for room in the network, or
   * for pacing, began; 0 if the streaming thread does not wait for either */
  gint64 blocked_since;
  /* Monotonic time in us at which the present wait for a connection began; 0 if
   * the streaming thread does not wait for a connection */
  gint64 unconnected_since;
  Counters counters;

  /* connection_cancellable ends the waits of the connection's thread, and
   * send_cancellable ends the waits of the streaming thread. Any thread may
   * cancel them. Each cancellable is reset only by the thread whose waits it
   * ends. A thread that cancels or resets a cancellable holds the lock. */
  GCancellable *connection_cancellable, *send_cancellable;

  /* The connection's thread. The state change from READY to PAUSED creates it,
   * and the state change from PAUSED to READY joins it. */
  GThread *thread;

  /* --- the connection's thread only --- */
  /* pause before the next attempt to connect, in us */
  gint64 pause;
  /* Deadline for a receiver that refuses all attempts to connect, as a
   * monotonic time in us: the last attempt is made at this time. The deadline
   * is set when an attempt is refused for the first time since the last
   * connection. 0 if no attempt was refused since then */
  gint64 refused_until;
  gint64 connected_at;          /* monotonic time in us */
  /* limits the warnings about failed or broken connections */
  GstWarningLimit warning_limit;

  /* --- The fields below are used by the streaming thread. While no pad is
   * active, any thread may use them. */
  /* The buffer that the streaming thread is sending; NULL if there is none. If
   * a flush interrupts the thread after a part of the buffer was sent, the
   * buffer stays here. The thread then sends the rest of this buffer before any
   * other buffer. */
  GstBuffer *rest;
  /* number of bytes of the buffer `rest` that were sent already */
  gsize rest_offset;
  /* Value of `generation`, the number of the connection, when the previous
   * buffer was handled. If `generation` has changed since then, the next buffer
   * is the first one on a new connection, and the receiver is a new one. */
  guint64 receiver;
  /* TRUE if at least one buffer has arrived since the start or since the last
   * EOS */
  gboolean has_input;
  gboolean started;             /* a buffer was sent or dropped */
  gboolean needs_key_frame;
  /* TRUE if the deadline for the end of the stream passed before all data was
   * delivered. The property drain-timeout determines this deadline. */
  gboolean gave_up;
  /* TRUE if a part of the current frame was dropped. The rest of the frame is
   * then dropped too. */
  gboolean skips_frame;
  /* Temporal layer of a dropped frame, if this layer is above the base layer; 0
   * if there is no such frame. Frames of higher layers refer to the dropped
   * frame and are dropped too, until a frame of the same layer or of a lower
   * layer arrives. */
  gint dropped_layer;
  /* TRUE if a buffer of the present stream had the flag MARKER, which marks the
   * last buffer of a frame */
  gboolean have_markers;
  /* Number of frames that were dropped since a new receiver began to wait for a
   * key frame */
  guint frames_without_key;
  /* TRUE if the last buffer did not end its frame, so that more buffers of this
   * frame will follow */
  gboolean in_frame;
  GstClockTime last_pts;        /* PTS of the last buffer */
  /* Deadline for the end of the stream, as a monotonic time in us. Valid while
   * the sink drains the connection after EOS; otherwise 0. */
  gint64 deadline;
  Input input;                  /* whether upstream is live */
  /* TRUE after a buffer of live input has waited for the time max_live_wait and
   * was dropped. The next buffers do not wait at all, until something is sent
   * again. */
  gboolean live_gave_up;
  /* Number of packets of the present batch that were sent to no receiver,
   * although the method send_packets has reported them as sent. The subclass
   * announces each of them with gst_network_sink_refuse_packet (). They are
   * counted as unsendable. */
  guint refused;
  /* total size in bytes of the packets that `refused` counts */
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
 * the connection. Called before the pads are deactivated, because the
 * deactivation waits for the streaming thread. */
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
/* Decides whether `buffer` is sent or dropped. Returns TRUE if the caller must
 * send `buffer`. Returns FALSE if `buffer` must not be sent; this function has
 * then already counted it as dropped. The caller calls this function once for a
 * buffer. If the connection changes before the buffer is sent, the caller calls
 * it once more. */
gboolean gst_network_sink_choose (GstNetworkSink * self, GstBuffer * buffer);
void gst_network_sink_drop (GstNetworkSink * self, GstBuffer * buffer,
    DropReason reason);
/* The caller calls this function after `buffer` was sent or dropped. Updates
 * the fields that depend on the previous buffer, such as `last_pts` and
 * `in_frame`. */
void gst_network_sink_pass_buffer (GstNetworkSink * self, GstBuffer * buffer);
/* Called before `buffer` is sent. If the connection is a new one, its receiver
 * lacks the earlier frames and needs a key frame first. In this case the
 * function drops `buffer`, records that a key frame has to come next, and
 * returns TRUE.
 *
 * The function does not drop `buffer`, and returns FALSE, if one of the
 * following conditions holds:
 *
 * - The connection has not changed since the previous buffer.
 * - This is the first connection, and no buffer was sent or dropped before it
 *   existed. The receiver has missed nothing.
 * - The transport is connectionless. */
gboolean gst_network_sink_greet_receiver (GstNetworkSink * self,
    GstBuffer * buffer);
void gst_network_sink_clear_rest (GstNetworkSink * self);
/* Called at the start of a stream. Forgets which frame the previous buffer
 * belonged to, so that the next buffer begins a new frame. */
void gst_network_sink_begin_stream (GstNetworkSink * self);

#pragma GCC visibility pop
