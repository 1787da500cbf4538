/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holds GstNetworkSink to its contract, over a transport that does what the
 * test says: takes so many bytes, breaks, doesn't answer. What a person would
 * read from a clock is not asserted, only what happened and in which order.
 */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <string.h>

#include "gstnetworksink.h"
#include "sinkpipeline.h"

/* --- the transport -------------------------------------------------------- */

typedef struct
{
  GstNetworkSink parent;

  /* protected by lock; written by the tests */
  GMutex lock;
  guint refuse;                 /* so many attempts are refused */
  gint resolver_error;          /* of these attempts; -1: they are refused */
  gboolean silent;              /* an attempt is not answered */
  gsize room;                   /* bytes that it takes before it is full */
  gboolean gone;                /* the receiver closed */
  gboolean broken;              /* sending fails */
  gsize unsendable;             /* packets of this size */
  guint early;                  /* so many attempts to send come too early */
  gboolean drains;              /* the receiver takes the rest in time */
  gboolean drain_breaks;

  /* read by the tests */
  GString *wire;                /* first byte of what came whole; <: a connection
                                 * begins; >: ends; !: is reset; .: drained */
  gsize on_wire;                /* bytes that were taken of the present buffer */
  gsize taken;                  /* ... of all */
} FakeSink;

typedef struct
{
  GstNetworkSinkClass parent_class;
} FakeSinkClass;

static GType fake_sink_get_type (void);
static GType frame_sink_get_type (void);
static GType packet_sink_get_type (void);
static GType datagram_sink_get_type (void);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

G_DEFINE_TYPE (FakeSink, fake_sink, GST_TYPE_NETWORK_SINK);

#define FAKE(self) ((FakeSink *) (self))

static void
fake_log (FakeSink * self, gchar event)
{
  g_mutex_lock (&self->lock);
  g_string_append_c (self->wire, event);
  g_mutex_unlock (&self->lock);
}

static gchar *
fake_describe (GstNetworkSink * sink)
{
  return g_strdup ("example.org:1234");
}

static gboolean
fake_connect (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  FakeSink *self = FAKE (sink);
  gboolean refused, silent;

  do {
    g_mutex_lock (&self->lock);
    silent = self->silent;
    refused = self->refuse > 0;
    if (refused && !silent)
      self->refuse--;
    g_mutex_unlock (&self->lock);
    if (silent)
      g_usleep (1000);
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
  } while (silent);
  if (refused) {
    if (self->resolver_error >= 0)
      g_set_error_literal (error, G_RESOLVER_ERROR, self->resolver_error,
          "No answer for the name");
    else
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED,
          "Connection refused");
    return FALSE;
  }
  self->on_wire = 0;
  fake_log (self, '<');
  return TRUE;
}

static void
fake_watch (GstNetworkSink * sink, GCancellable * cancellable, GError ** error)
{
  FakeSink *self = FAKE (sink);
  gboolean gone = FALSE;

  while (!gone && !g_cancellable_set_error_if_cancelled (cancellable, error)) {
    g_usleep (1000);
    g_mutex_lock (&self->lock);
    gone = self->gone;
    self->gone = FALSE;
    g_mutex_unlock (&self->lock);
  }
  if (gone)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CLOSED,
        "it closed the connection");
}

static void
fake_disconnect (GstNetworkSink * sink, gboolean reset)
{
  fake_log (FAKE (sink), reset ? '!' : '>');
}

static GstNetworkSinkResult
fake_send (GstNetworkSink * sink, GstBuffer * buffer, gsize offset,
    gsize * taken, GError ** error)
{
  FakeSink *self = FAKE (sink);
  GstNetworkSinkResult result = GST_NETWORK_SINK_FULL;
  gsize size = gst_buffer_get_size (buffer);
  guint8 first;

  gst_buffer_extract (buffer, 0, &first, 1);
  g_mutex_lock (&self->lock);
  if (self->broken) {
    self->broken = FALSE;
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED,
        "Connection reset by peer");
    result = GST_NETWORK_SINK_BROKEN;
  } else if (size == self->unsendable) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
        "Message too long");
    result = GST_NETWORK_SINK_UNSENDABLE;
  } else {
    fail_unless_equals_uint64 (offset, self->on_wire);
    *taken = MIN (size - offset, self->room);
    self->room -= *taken;
    self->on_wire += *taken;
    self->taken += *taken;
    if (self->on_wire == size) {
      g_string_append_c (self->wire, first);
      self->on_wire = 0;
      result = GST_NETWORK_SINK_SENT;
    }
  }
  g_mutex_unlock (&self->lock);
  return result;
}

static void
fake_wait (GstNetworkSink * sink, gint64 timeout, GCancellable * cancellable)
{
  FakeSink *self = FAKE (sink);
  gint64 end = timeout < 0 ? G_MAXINT64 : g_get_monotonic_time () + timeout;
  gboolean ready = FALSE;

  while (!ready && !g_cancellable_is_cancelled (cancellable)
      && g_get_monotonic_time () < end) {
    g_usleep (1000);
    g_mutex_lock (&self->lock);
    ready = self->room > 0 || self->broken;
    g_mutex_unlock (&self->lock);
  }
}

static gboolean
fake_drain (GstNetworkSink * sink, gint64 deadline, GCancellable * cancellable,
    GError ** error)
{
  FakeSink *self = FAKE (sink);
  gboolean done = FALSE, breaks = FALSE;

  while (!done && !breaks && !g_cancellable_is_cancelled (cancellable)
      && g_get_monotonic_time () < deadline) {
    g_usleep (1000);
    g_mutex_lock (&self->lock);
    done = self->drains;
    breaks = self->drain_breaks;
    g_mutex_unlock (&self->lock);
  }
  if (breaks)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED,
        "Connection reset by peer");
  if (done && !breaks)
    fake_log (self, '.');
  return done && !breaks;
}

static void
fake_fill_stats (GstNetworkSink * sink, GstStructure * stats)
{
  gst_structure_set (stats, "fake", G_TYPE_UINT64, G_GUINT64_CONSTANT (7),
      NULL);
}

static void
fake_sink_init (FakeSink * self)
{
  g_mutex_init (&self->lock);
  self->room = G_MAXSIZE;
  self->drains = TRUE;
  self->resolver_error = -1;
  self->wire = g_string_new (NULL);
}

static void
fake_sink_finalize (GObject * object)
{
  g_string_free (FAKE (object)->wire, TRUE);
  g_mutex_clear (&FAKE (object)->lock);
  G_OBJECT_CLASS (fake_sink_parent_class)->finalize (object);
}

static void
fake_sink_class_init (FakeSinkClass * klass)
{
  GstNetworkSinkClass *network_class = GST_NETWORK_SINK_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = fake_sink_finalize;
  network_class->stats_name = "application/x-fake-stats";
  network_class->describe = fake_describe;
  network_class->connect = fake_connect;
  network_class->watch = fake_watch;
  network_class->disconnect = fake_disconnect;
  network_class->send = fake_send;
  network_class->wait = fake_wait;
  network_class->drain = fake_drain;
  network_class->fill_stats = fake_fill_stats;
  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass),
      &sink_template);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "Fake",
      "Sink/Network", "A transport of tests", "tests");
}

/* The same, with a whole frame in each buffer */
typedef FakeSink FrameSink;
typedef FakeSinkClass FrameSinkClass;

G_DEFINE_TYPE (FrameSink, frame_sink, fake_sink_get_type ());

static void
frame_sink_init (FrameSink * self)
{
}

static void
frame_sink_class_init (FrameSinkClass * klass)
{
  GST_NETWORK_SINK_CLASS (klass)->whole_frames = TRUE;
}

/* The same with packets, as many at a time as there are; room counts bytes, of
 * which a packet needs all. A single | stands between batches. */
typedef FakeSink PacketSink;
typedef FakeSinkClass PacketSinkClass;

G_DEFINE_TYPE (PacketSink, packet_sink, fake_sink_get_type ());

static GstNetworkSinkResult
packet_send (GstNetworkSink * sink, GstBuffer ** packets, guint n,
    guint * sent, GError ** error)
{
  FakeSink *self = FAKE (sink);
  GstNetworkSinkResult result = GST_NETWORK_SINK_SENT;
  guint8 first;
  gsize size;
  guint i;

  g_mutex_lock (&self->lock);
  g_string_append_c (self->wire, '|');
  for (i = 0; i < n && result == GST_NETWORK_SINK_SENT; i++) {
    size = gst_buffer_get_size (packets[i]);
    if (self->broken) {
      self->broken = FALSE;
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED,
          "Connection reset by peer");
      result = GST_NETWORK_SINK_BROKEN;
    } else if (size == self->unsendable) {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
          "Message too long");
      result = GST_NETWORK_SINK_UNSENDABLE;
    } else if (self->early > 0) {
      self->early--;
      result = GST_NETWORK_SINK_EARLY;
    } else if (size > self->room) {
      result = GST_NETWORK_SINK_FULL;
    } else {
      gst_buffer_extract (packets[i], 0, &first, 1);
      g_string_append_c (self->wire, first);
      self->room -= size;
      (*sent)++;
    }
  }
  g_mutex_unlock (&self->lock);
  return result;
}

static void
packet_sink_init (PacketSink * self)
{
}

static void
packet_sink_class_init (PacketSinkClass * klass)
{
  GstNetworkSinkClass *network_class = GST_NETWORK_SINK_CLASS (klass);

  network_class->send = NULL;
  network_class->send_packets = packet_send;
  network_class->connectionless = TRUE;
}

/* The same over datagrams, which anybody may refuse */
typedef FakeSink DatagramSink;
typedef FakeSinkClass DatagramSinkClass;

G_DEFINE_TYPE (DatagramSink, datagram_sink, fake_sink_get_type ());

static void
datagram_sink_init (DatagramSink * self)
{
}

static void
datagram_sink_class_init (DatagramSinkClass * klass)
{
  GST_NETWORK_SINK_CLASS (klass)->refusals_pass = TRUE;
}

/* --- helpers -------------------------------------------------------------- */

static GstBuffer *
make_buffer (gchar name, gsize size, guint flags, gint pts)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, name, size);
  GST_BUFFER_FLAG_SET (buffer, flags);
  if (pts >= 0)
    GST_BUFFER_PTS (buffer) = pts * GST_MSECOND;
  return buffer;
}

static void
push (Bench * bench, gchar name, guint flags, gint pts)
{
  g_async_queue_push (bench->queue, make_buffer (name, 100, flags, pts));
}

static void
bench_free_with_wire (Bench * bench, const gchar * expected)
{
  gchar *wire;

  set_state (bench, GST_STATE_NULL);
  wire = g_strdup (FAKE (bench->sink)->wire->str);
  bench_free (bench);
  fail_unless_equals_string (wire, expected);
  g_free (wire);
}

/* The end of a stored stream of which nobody got anything: no EOS, but an error */
static void
wait_for_end_without_receiver (Bench * bench)
{
  GError *error = take_error (bench);

  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_WRITE), "%s", error->message);
  fail_unless (strstr (error->message, "nothing of it was sent") != NULL, "%s",
      error->message);
  g_error_free (error);
}

static gsize
taken (Bench * bench)
{
  gsize bytes;

  g_mutex_lock (&FAKE (bench->sink)->lock);
  bytes = FAKE (bench->sink)->taken;
  g_mutex_unlock (&FAKE (bench->sink)->lock);
  return bytes;
}

#define SET(bench, member, value) G_STMT_START { \
    g_mutex_lock (&FAKE ((bench)->sink)->lock); \
    FAKE ((bench)->sink)->member = (value); \
    g_mutex_unlock (&FAKE ((bench)->sink)->lock); \
  } G_STMT_END

static void
check_error (Bench * bench, gint code, const gchar * words)
{
  GError *error = take_error (bench);

  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, code), "%d: %s",
      error->code, error->message);
  fail_unless (strstr (error->message, "example.org:1234") != NULL, "%s",
      error->message);
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
  g_error_free (error);
}

/* --- waiting for the connection ------------------------------------------- */

GST_START_TEST (changes_of_state_wait_for_no_network)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);
  guint i;

  FAKE (bench->sink)->silent = TRUE;
  for (i = 0; i < 10; i++) {
    set_state (bench, GST_STATE_PLAYING);
    set_state (bench, GST_STATE_NULL);
  }
  bench_free_with_wire (bench, "");
}

GST_END_TEST;

GST_START_TEST (prerolls_without_a_receiver)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  FAKE (bench->sink)->silent = TRUE;
  set_state (bench, GST_STATE_PAUSED);
  push_start_events (bench);
  bench->thread = g_thread_new ("push", push_all, bench);
  push (bench, 'a', 0, 0);
  fail_unless_equals_int (gst_element_get_state (bench->pipeline, NULL, NULL,
          GST_CLOCK_TIME_NONE), GST_STATE_CHANGE_SUCCESS);
  fail_unless (is_in_state (bench, "connecting"));
  set_state (bench, GST_STATE_PLAYING);
  /* now in render */
  WAIT_FOR (stat_of (bench, "time-unconnected") > 0);
  bench_free_with_wire (bench, "");
}

GST_END_TEST;

GST_START_TEST (stream_waits_for_the_first_receiver)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  FAKE (bench->sink)->silent = TRUE;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  push (bench, 'b', DELTA, 40);
  WAIT_FOR (stat_of (bench, "time-unconnected") > 0);
  fail_unless_equals_int (pushed (bench), 0);
  SET (bench, silent, FALSE);
  WAIT_FOR (pushed (bench) == 2);
  /* It missed nothing. */
  fail_unless_equals_int (bench->restarts, 0);
  fail_unless_equals_uint64 (stat_of (bench, "packets-sent"), 2);
  fail_unless_equals_uint64 (stat_of (bench, "bytes-sent"), 200);
  bench_free_with_wire (bench, "<ab>");
}

GST_END_TEST;

GST_START_TEST (stream_need_not_wait_for_a_receiver)
{
  Bench *bench = bench_new (fake_sink_get_type (), "wait-for-connection",
      FALSE, NULL);

  FAKE (bench->sink)->silent = TRUE;
  bench_play (bench);
  push (bench, 'a', MARK, 0);
  push (bench, 'b', DELTA | MARK, 40);
  WAIT_FOR (pushed (bench) == 2);
  fail_unless_equals_int (bench->flow, GST_FLOW_OK);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-not-connected"), 2);
  fail_unless_equals_uint64 (stat_of (bench, "bytes-dropped"), 200);

  SET (bench, silent, FALSE);
  WAIT_FOR (is_in_state (bench, "connected"));
  push (bench, 'c', DELTA | MARK, 80);
  push (bench, 'd', MARK, 120);
  push (bench, 'e', DELTA | MARK, 160);
  WAIT_FOR (pushed (bench) == 5);
  fail_unless_equals_int (bench->restarts, 1);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-no-key-frame"), 1);
  bench_free_with_wire (bench, "<de>");
}

GST_END_TEST;

GST_START_TEST (flush_and_stop_wake_who_waits_for_a_receiver)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  FAKE (bench->sink)->silent = TRUE;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (stat_of (bench, "time-unconnected") > 0);
  flush (bench);
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_int (bench->flow, GST_FLOW_FLUSHING);

  push_start_events (bench);
  push (bench, 'b', 0, 0);
  bench_free_with_wire (bench, "");
}

GST_END_TEST;

/* --- failures ------------------------------------------------------------- */

GST_START_TEST (refused_is_one_error)
{
  Bench *bench = bench_new (fake_sink_get_type (), "auto-reconnect", FALSE,
      NULL);

  FAKE (bench->sink)->silent = TRUE;
  FAKE (bench->sink)->refuse = 1;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  /* An error while the pipeline starts would leave it waiting in PAUSED. */
  WAIT_FOR (stat_of (bench, "time-unconnected") > 0);
  SET (bench, silent, FALSE);
  check_error (bench, GST_RESOURCE_ERROR_OPEN_WRITE, "Connection refused");
  push (bench, 'b', 0, 40);
  WAIT_FOR (pushed (bench) == 2);
  fail_unless_equals_int (bench->flow, GST_FLOW_ERROR);
  fail_unless (is_in_state (bench, "failed"));
  fail_unless_equals_uint64 (stat_of (bench, "failures-refused"), 1);
  fail_unless_equals_uint64 (stat_of (bench, "connect-attempts"), 1);
  bench_free_with_wire (bench, "");
}

GST_END_TEST;

/* With auto-reconnect, too: a wrong name does not become right. */
GST_START_TEST (a_name_that_does_not_exist_is_one_error)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  FAKE (bench->sink)->silent = TRUE;
  FAKE (bench->sink)->refuse = 2;
  FAKE (bench->sink)->resolver_error = G_RESOLVER_ERROR_NOT_FOUND;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (stat_of (bench, "time-unconnected") > 0);
  SET (bench, silent, FALSE);
  check_error (bench, GST_RESOURCE_ERROR_NOT_FOUND, "No answer for the name");
  fail_unless_equals_uint64 (stat_of (bench, "connect-attempts"), 1);
  bench_free_with_wire (bench, "");
}

GST_END_TEST;

static const gint passing_errors[] = { G_RESOLVER_ERROR_TEMPORARY_FAILURE,
  G_RESOLVER_ERROR_NOT_FOUND
};

/* A name server that does not answer may do so later; a name that was there once
 * may come back. */
GST_START_TEST (a_name_may_be_missing_for_a_while)
{
  gboolean was_there = passing_errors[__i__] == G_RESOLVER_ERROR_NOT_FOUND;
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  FAKE (bench->sink)->resolver_error = passing_errors[__i__];
  SET (bench, refuse, was_there ? 0 : 2);
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  if (was_there) {
    SET (bench, refuse, 2);
    SET (bench, gone, TRUE);
    WAIT_FOR (stat_of (bench, "connect-attempts") == 4);
    WAIT_FOR (stat_of (bench, "connections") == 2);
  }
  fail_unless_equals_uint64 (stat_of (bench, "failures-not-found"), 2);
  set_state (bench, GST_STATE_NULL);
  bench_free (bench);
}

GST_END_TEST;

GST_START_TEST (refused_is_tried_again)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  FAKE (bench->sink)->refuse = 3;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  wait_for_warning (bench);
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_uint64 (stat_of (bench, "failures-refused"), 3);
  fail_unless_equals_uint64 (stat_of (bench, "connect-attempts"), 4);
  fail_unless_equals_uint64 (stat_of (bench, "connections"), 1);
  bench_free_with_wire (bench, "<a>");
}

GST_END_TEST;

/* Without auto-reconnect, too; the warning says that it is tried again. */
GST_START_TEST (refused_datagrams_are_tried_again)
{
  Bench *bench = bench_new (datagram_sink_get_type (), "auto-reconnect", FALSE,
      NULL);

  FAKE (bench->sink)->refuse = 2;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  wait_for_warning (bench);
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_int (bench->flow, GST_FLOW_OK);
  fail_unless_equals_uint64 (stat_of (bench, "failures-refused"), 2);
  bench_free_with_wire (bench, "<a>");
}

GST_END_TEST;

GST_START_TEST (datagrams_that_are_refused_for_the_timeout_are_an_error)
{
  Bench *bench = bench_new (datagram_sink_get_type (), "auto-reconnect", FALSE,
      "timeout", 150 * GST_MSECOND, NULL);

  FAKE (bench->sink)->silent = TRUE;
  FAKE (bench->sink)->refuse = G_MAXUINT;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (stat_of (bench, "time-unconnected") > 0);
  SET (bench, silent, FALSE);
  check_error (bench, GST_RESOURCE_ERROR_OPEN_WRITE, "Connection refused");
  fail_unless (stat_of (bench, "failures-refused") > 1);
  fail_unless (is_in_state (bench, "failed"));
  bench_free_with_wire (bench, "");
}

GST_END_TEST;

GST_START_TEST (stop_does_not_wait_for_the_next_attempt)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  FAKE (bench->sink)->refuse = G_MAXUINT;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (is_in_state (bench, "pausing"));
  bench_free_with_wire (bench, "");
}

GST_END_TEST;

GST_START_TEST (receiver_that_goes_unseen_by_send_is_an_error)
{
  Bench *bench = bench_new (fake_sink_get_type (), "auto-reconnect", FALSE,
      NULL);

  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  SET (bench, gone, TRUE);
  /* Nothing is rendered meanwhile. */
  check_error (bench, GST_RESOURCE_ERROR_WRITE, "it closed the connection");
  push (bench, 'b', 0, 40);
  WAIT_FOR (pushed (bench) == 2);
  fail_unless_equals_int (bench->flow, GST_FLOW_ERROR);
  fail_unless_equals_uint64 (stat_of (bench, "failures-closed"), 1);
  bench_free_with_wire (bench, "<a>");
}

GST_END_TEST;

GST_START_TEST (receiver_that_goes_wakes_who_waits_for_room)
{
  Bench *bench = bench_new (fake_sink_get_type (), "auto-reconnect", FALSE,
      NULL);

  FAKE (bench->sink)->room = 30;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (taken (bench) == 30);
  SET (bench, gone, TRUE);
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_int (bench->flow, GST_FLOW_ERROR);
  check_error (bench, GST_RESOURCE_ERROR_WRITE, "it closed the connection");
  bench_free_with_wire (bench, "<!");
}

GST_END_TEST;

GST_START_TEST (next_receiver_begins_with_a_key_frame)
{
  Bench *bench = bench_new (frame_sink_get_type (), NULL);

  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  SET (bench, broken, TRUE);
  push (bench, 'b', DELTA, 40);
  push (bench, 'c', DELTA, 80);
  push (bench, 'd', 0, 120);
  push (bench, 'e', DELTA, 160);
  WAIT_FOR (pushed (bench) == 5);
  fail_unless_equals_int (bench->restarts, 1);
  fail_unless_equals_uint64 (stat_of (bench, "failures-reset"), 1);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-no-key-frame"), 2);
  fail_unless_equals_uint64 (stat_of (bench, "connections"), 2);
  bench_free_with_wire (bench, "<a><de>");
}

GST_END_TEST;

/* It may lack headers that the new receiver does not have. */
GST_START_TEST (torn_key_frame_is_dropped)
{
  Bench *bench = bench_new (frame_sink_get_type (), NULL);

  FAKE (bench->sink)->room = 30;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (taken (bench) == 30);
  SET (bench, broken, TRUE);
  SET (bench, room, G_MAXSIZE);
  push (bench, 'b', DELTA, 40);
  push (bench, 'c', 0, 80);
  WAIT_FOR (pushed (bench) == 3);
  fail_unless_equals_int (bench->restarts, 1);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-broken"), 1);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-no-key-frame"), 1);
  bench_free_with_wire (bench, "<!<c>");
}

GST_END_TEST;

GST_START_TEST (torn_frame_is_dropped)
{
  Bench *bench = bench_new (frame_sink_get_type (), NULL);

  FAKE (bench->sink)->room = 130;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  push (bench, 'b', DELTA, 40);
  WAIT_FOR (taken (bench) == 130);
  SET (bench, broken, TRUE);
  SET (bench, room, G_MAXSIZE);
  push (bench, 'c', 0, 80);
  WAIT_FOR (pushed (bench) == 3);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-broken"), 1);
  bench_free_with_wire (bench, "<a!<c>");
}

GST_END_TEST;

GST_START_TEST (stream_without_key_frames_goes_on_for_good)
{
  Bench *bench = bench_new (frame_sink_get_type (), NULL);
  guint i;

  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  SET (bench, broken, TRUE);
  for (i = 0; i < 602; i++)
    push (bench, 'b', DELTA, 40 + 40 * i);
  WAIT_FOR (pushed (bench) == 603);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-no-key-frame"), 600);
  bench_free_with_wire (bench, "<a><bb>");
}

GST_END_TEST;

GST_START_TEST (receiver_that_takes_nothing_is_gone)
{
  Bench *bench = bench_new (fake_sink_get_type (), "auto-reconnect", FALSE,
      "timeout", 20 * GST_MSECOND, NULL);

  FAKE (bench->sink)->room = 0;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  check_error (bench, GST_RESOURCE_ERROR_WRITE, "took nothing for 0.02 s");
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_int (bench->flow, GST_FLOW_ERROR);
  fail_unless_equals_uint64 (stat_of (bench, "failures-timeout"), 1);
  fail_unless (stat_of (bench, "time-blocked") >= 20 * GST_MSECOND);
  bench_free_with_wire (bench, "<!");
}

GST_END_TEST;

/* --- a full network ------------------------------------------------------- */

GST_START_TEST (waits_while_the_network_is_full)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  FAKE (bench->sink)->room = 130;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  push (bench, 'b', DELTA, 40);
  WAIT_FOR (stat_of (bench, "time-blocked") > 0);
  fail_unless_equals_int (pushed (bench), 1);
  SET (bench, room, 70);
  WAIT_FOR (pushed (bench) == 2);
  bench_free_with_wire (bench, "<ab>");
}

GST_END_TEST;

GST_START_TEST (rest_of_a_frame_goes_with_its_part)
{
  Bench *bench = bench_new (fake_sink_get_type (), "blocking", FALSE, NULL);

  bench_play (bench);
  push (bench, 'a', 0, NO_PTS);
  push (bench, 'b', MARK, NO_PTS);
  WAIT_FOR (pushed (bench) == 2);
  push (bench, 'c', DELTA, NO_PTS);
  WAIT_FOR (pushed (bench) == 3);
  SET (bench, room, 0);
  push (bench, 'd', DELTA, NO_PTS);
  WAIT_FOR (pushed (bench) == 4);
  SET (bench, room, G_MAXSIZE);
  push (bench, 'e', DELTA, NO_PTS);
  push (bench, 'f', DELTA | MARK, NO_PTS);
  push (bench, 'g', DELTA, NO_PTS);
  push (bench, 'h', DELTA | MARK, NO_PTS);
  WAIT_FOR (pushed (bench) == 8);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-full"), 1);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-rest-of-frame"), 2);
  bench_free_with_wire (bench, "<abcgh>");
}

GST_END_TEST;

GST_START_TEST (frame_ends_before_another_time)
{
  Bench *bench = bench_new (fake_sink_get_type (), "blocking", FALSE, NULL);

  FAKE (bench->sink)->room = 0;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  SET (bench, room, G_MAXSIZE);
  push (bench, 'b', 0, 0);
  push (bench, 'c', 0, 40);
  WAIT_FOR (pushed (bench) == 3);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-rest-of-frame"), 1);
  bench_free_with_wire (bench, "<c>");
}

GST_END_TEST;

GST_START_TEST (stream_without_frames_loses_one_packet_at_a_time)
{
  Bench *bench = bench_new (fake_sink_get_type (), "blocking", FALSE, NULL);

  FAKE (bench->sink)->room = 0;
  bench_play (bench);
  push (bench, 'a', 0, NO_PTS);
  WAIT_FOR (pushed (bench) == 1);
  SET (bench, room, G_MAXSIZE);
  push (bench, 'b', 0, NO_PTS);
  WAIT_FOR (pushed (bench) == 2);
  bench_free_with_wire (bench, "<b>");
}

GST_END_TEST;

GST_START_TEST (whole_frame_has_no_rest)
{
  Bench *bench = bench_new (frame_sink_get_type (), "blocking", FALSE, NULL);

  FAKE (bench->sink)->room = 0;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  SET (bench, room, 30);
  push (bench, 'b', 0, 0);
  /* It was begun: it is finished, whatever `blocking` says. */
  WAIT_FOR (taken (bench) == 30);
  SET (bench, room, G_MAXSIZE);
  WAIT_FOR (pushed (bench) == 2);
  bench_free_with_wire (bench, "<b>");
}

GST_END_TEST;

GST_START_TEST (packet_that_cannot_be_sent_does_not_end_the_stream)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  FAKE (bench->sink)->unsendable = 101;
  bench_play (bench);
  g_async_queue_push (bench->queue, make_buffer ('a', 101, MARK, 0));
  push (bench, 'b', MARK, 40);
  WAIT_FOR (pushed (bench) == 2);
  fail_unless_equals_int (bench->flow, GST_FLOW_OK);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-unsendable"), 1);
  bench_free_with_wire (bench, "<b>");
}

GST_END_TEST;

GST_START_TEST (list_is_sent_like_its_buffers)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);
  GstBufferList *list = gst_buffer_list_new ();

  gst_buffer_list_add (list, make_buffer ('a', 100, 0, 0));
  gst_buffer_list_add (list, make_buffer ('b', 0, 0, 0));
  gst_buffer_list_add (list, make_buffer ('c', 100, MARK, 0));
  bench_play (bench);
  g_async_queue_push (bench->queue, list);
  WAIT_FOR (pushed (bench) == 1);
  bench_free_with_wire (bench, "<ac>");
}

GST_END_TEST;

/* --- packets ---------------------------------------------------------------- */

/* One for each letter, of 100 bytes; a capital ends a frame */
static void
push_packets (Bench * bench, const gchar * names)
{
  GstBufferList *list = gst_buffer_list_new ();

  for (; *names; names++)
    gst_buffer_list_add (list, make_buffer (*names, 100,
            g_ascii_isupper (*names) ? MARK : 0, NO_PTS));
  g_async_queue_push (bench->queue, list);
}

GST_START_TEST (packets_go_together)
{
  Bench *bench = bench_new (packet_sink_get_type (), NULL);

  bench_play (bench);
  push_packets (bench, "abC");
  push (bench, 'd', MARK, NO_PTS);
  WAIT_FOR (pushed (bench) == 2);
  fail_unless_equals_uint64 (stat_of (bench, "packets-sent"), 4);
  fail_unless_equals_uint64 (stat_of (bench, "bytes-sent"), 400);
  bench_free_with_wire (bench, "<|abC|d>");
}

GST_END_TEST;

GST_START_TEST (packets_wait_for_room)
{
  Bench *bench = bench_new (packet_sink_get_type (), NULL);

  FAKE (bench->sink)->room = 250;
  bench_play (bench);
  push_packets (bench, "abcD");
  WAIT_FOR (stat_of (bench, "time-blocked") > 0);
  fail_unless_equals_uint64 (stat_of (bench, "packets-sent"), 2);
  SET (bench, room, G_MAXSIZE);
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_uint64 (stat_of (bench, "packets-sent"), 4);
  set_state (bench, GST_STATE_NULL);
  fail_unless (g_str_has_prefix (FAKE (bench->sink)->wire->str, "<|ab|"));
  fail_unless (g_str_has_suffix (FAKE (bench->sink)->wire->str, "|cD>"));
  bench_free (bench);
}

GST_END_TEST;

/* That is no network which is full: nothing is dropped for it, and however often
 * it happens, no receiver has gone. */
GST_START_TEST (packets_wait_until_it_is_time)
{
  Bench *bench = bench_new (packet_sink_get_type (), "blocking", FALSE,
      "timeout", 5 * GST_MSECOND, NULL);

  FAKE (bench->sink)->early = 20;
  bench_play (bench);
  push_packets (bench, "abC");
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_uint64 (stat_of (bench, "packets-sent"), 3);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-full"), 0);
  fail_unless_equals_uint64 (stat_of (bench, "connections"), 1);
  set_state (bench, GST_STATE_NULL);
  fail_unless (g_str_has_suffix (FAKE (bench->sink)->wire->str, "|abC>"));
  bench_free (bench);
}

GST_END_TEST;

/* Not only of one list */
GST_START_TEST (rest_of_a_frame_of_packets_goes_too)
{
  Bench *bench = bench_new (packet_sink_get_type (), "blocking", FALSE, NULL);

  FAKE (bench->sink)->room = 150;
  bench_play (bench);
  push_packets (bench, "Ab");
  WAIT_FOR (pushed (bench) == 1);
  SET (bench, room, G_MAXSIZE);
  push_packets (bench, "cDeF");
  WAIT_FOR (pushed (bench) == 2);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-full"), 1);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-rest-of-frame"), 2);
  bench_free_with_wire (bench, "<|A|eF>");
}

GST_END_TEST;

GST_START_TEST (packet_that_cannot_be_sent_is_left_out)
{
  Bench *bench = bench_new (packet_sink_get_type (), NULL);
  GstBufferList *list = gst_buffer_list_new ();

  FAKE (bench->sink)->unsendable = 101;
  gst_buffer_list_add (list, make_buffer ('a', 100, MARK, NO_PTS));
  gst_buffer_list_add (list, make_buffer ('b', 101, MARK, NO_PTS));
  gst_buffer_list_add (list, make_buffer ('c', 100, MARK, NO_PTS));
  bench_play (bench);
  g_async_queue_push (bench->queue, list);
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-unsendable"), 1);
  bench_free_with_wire (bench, "<|a|c>");
}

GST_END_TEST;

/* Who knows of no connections misses nothing by a new one. */
GST_START_TEST (packets_go_on_with_the_next_connection)
{
  Bench *bench = bench_new (packet_sink_get_type (), NULL);

  bench_play (bench);
  push_packets (bench, "aB");
  WAIT_FOR (pushed (bench) == 1);
  SET (bench, broken, TRUE);
  push_packets (bench, "cD");
  WAIT_FOR (pushed (bench) == 2);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-no-key-frame"), 0);
  fail_unless_equals_int (bench->restarts, 0);
  bench_free_with_wire (bench, "<|aB|><|cD>");
}

GST_END_TEST;

GST_START_TEST (flush_and_stop_wake_who_waits_with_packets)
{
  Bench *bench = bench_new (packet_sink_get_type (), NULL);

  FAKE (bench->sink)->room = 0;
  bench_play (bench);
  push_packets (bench, "aB");
  WAIT_FOR (stat_of (bench, "time-blocked") > 0);
  if (__i__ == 0)
    flush (bench);
  else
    set_state (bench, GST_STATE_READY);
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_int (bench->flow, GST_FLOW_FLUSHING);
  bench_free (bench);
}

GST_END_TEST;

GST_START_TEST (eos_behind_packets_comes_in_time)
{
  Bench *bench = bench_new (packet_sink_get_type (), "eos-timeout",
      20 * GST_MSECOND, NULL);

  FAKE (bench->sink)->room = 100;
  bench_play (bench);
  push_packets (bench, "abC");
  WAIT_FOR (stat_of (bench, "time-blocked") > 0);
  push_eos (bench);
  gst_pad_push_event (bench->src, gst_wireless_event_new_ending ());
  wait_for_eos (bench);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-eos-timeout"), 2);
  bench_free (bench);
}

GST_END_TEST;

/* --- in the middle of a frame --------------------------------------------- */

GST_START_TEST (flush_leaves_no_torn_frame)
{
  Bench *bench = bench_new (frame_sink_get_type (), NULL);

  FAKE (bench->sink)->room = 30;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (taken (bench) == 30);
  flush (bench);
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_int (bench->flow, GST_FLOW_FLUSHING);
  push_start_events (bench);
  push (bench, 'b', DELTA, 40);
  SET (bench, room, G_MAXSIZE);
  WAIT_FOR (pushed (bench) == 2);
  fail_unless_equals_int (bench->restarts, 0);
  bench_free_with_wire (bench, "<ab>");
}

GST_END_TEST;

GST_START_TEST (flush_before_a_frame_forgets_it)
{
  Bench *bench = bench_new (frame_sink_get_type (), NULL);

  FAKE (bench->sink)->room = 100;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  push (bench, 'b', 0, 40);
  WAIT_FOR (stat_of (bench, "time-blocked") > 0);
  flush (bench);
  WAIT_FOR (pushed (bench) == 2);
  push_start_events (bench);
  push (bench, 'c', 0, 0);
  SET (bench, room, G_MAXSIZE);
  WAIT_FOR (pushed (bench) == 3);
  bench_free_with_wire (bench, "<ac>");
}

GST_END_TEST;

GST_START_TEST (rest_of_before_a_flush_is_not_for_the_next_receiver)
{
  Bench *bench = bench_new (frame_sink_get_type (), NULL);

  FAKE (bench->sink)->room = 30;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (taken (bench) == 30);
  flush (bench);
  WAIT_FOR (pushed (bench) == 1);
  SET (bench, gone, TRUE);
  WAIT_FOR (stat_of (bench, "connections") == 2);
  push_start_events (bench);
  push (bench, 'b', DELTA, 40);
  push (bench, 'c', 0, 40);
  SET (bench, room, G_MAXSIZE);
  WAIT_FOR (pushed (bench) == 3);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-broken"), 1);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-no-key-frame"), 1);
  bench_free_with_wire (bench, "<!<c>");
}

GST_END_TEST;

GST_START_TEST (pause_in_a_frame_goes_on_with_its_rest)
{
  Bench *bench = bench_new (frame_sink_get_type (), NULL);

  FAKE (bench->sink)->room = 30;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (taken (bench) == 30);
  set_state (bench, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (bench->pipeline, NULL, NULL,
          GST_CLOCK_TIME_NONE), GST_STATE_CHANGE_SUCCESS);
  fail_unless_equals_int (pushed (bench), 0);
  SET (bench, room, G_MAXSIZE);
  set_state (bench, GST_STATE_PLAYING);
  WAIT_FOR (pushed (bench) == 1);
  fail_unless_equals_uint64 (taken (bench), 100);
  bench_free_with_wire (bench, "<a>");
}

GST_END_TEST;

GST_START_TEST (stop_in_a_frame_resets)
{
  Bench *bench = bench_new (frame_sink_get_type (), NULL);

  FAKE (bench->sink)->room = 130;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  push (bench, 'b', 0, 40);
  WAIT_FOR (taken (bench) == 130);
  set_state (bench, GST_STATE_READY);
  WAIT_FOR (pushed (bench) == 2);
  fail_unless_equals_int (bench->flow, GST_FLOW_FLUSHING);
  fail_unless (is_in_state (bench, "idle"));

  /* and begins anew */
  SET (bench, room, G_MAXSIZE);
  set_state (bench, GST_STATE_PLAYING);
  push_start_events (bench);
  push (bench, 'c', DELTA, 0);
  WAIT_FOR (pushed (bench) == 3);
  fail_unless_equals_uint64 (stat_of (bench, "packets-sent"), 1);
  bench_free_with_wire (bench, "<a!<c>");
}

GST_END_TEST;

/* --- the end of the stream ------------------------------------------------ */

GST_START_TEST (eos_drains_and_closes)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  bench_play (bench);
  push (bench, 'a', 0, 0);
  push_eos (bench);
  wait_for_eos (bench);
  fail_unless (is_in_state (bench, "idle"));
  fail_unless_equals_uint64 (stat_of (bench, "failures-closed"), 0);
  bench_free_with_wire (bench, "<a.>");
}

GST_END_TEST;

GST_START_TEST (eos_waits_no_longer_than_it_may)
{
  Bench *bench = bench_new (fake_sink_get_type (), "eos-timeout",
      20 * GST_MSECOND, NULL);

  FAKE (bench->sink)->drains = FALSE;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  push_eos (bench);
  wait_for_warning (bench);
  wait_for_eos (bench);
  fail_unless_equals_uint64 (stat_of (bench, "eos-timeouts"), 1);
  bench_free_with_wire (bench, "<a>");
}

GST_END_TEST;

GST_START_TEST (the_end_without_a_receiver_is_an_error_at_once)
{
  Bench *bench = bench_new (fake_sink_get_type (), "eos-timeout",
      GST_CLOCK_TIME_NONE / 4, "wait-for-connection", FALSE, NULL);

  FAKE (bench->sink)->silent = TRUE;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  push_eos (bench);
  wait_for_end_without_receiver (bench);
  bench_free_with_wire (bench, "");
}

GST_END_TEST;

GST_START_TEST (flush_and_stop_wake_who_drains)
{
  Bench *bench = bench_new (fake_sink_get_type (), "eos-timeout",
      GST_CLOCK_TIME_NONE / 4, NULL);
  const gchar *wire;

  FAKE (bench->sink)->drains = FALSE;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  push_eos (bench);
  g_usleep (5000);              /* by then it may drain, or not yet */
  flush (bench);
  WAIT_FOR (pushed (bench) == 2);

  /* Who said that this was all speaks on another connection. */
  push_start_events (bench);
  push (bench, 'b', 0, 0);
  WAIT_FOR (pushed (bench) == 3);
  push_eos (bench);
  set_state (bench, GST_STATE_NULL);
  wire = FAKE (bench->sink)->wire->str;
  fail_unless (g_str_equal (wire, "<a><b>") || g_str_equal (wire, "<ab>"),
      "%s", wire);
  bench_free (bench);
}

GST_END_TEST;

GST_START_TEST (pause_while_it_drains_goes_on_afterwards)
{
  Bench *bench = bench_new (fake_sink_get_type (), "eos-timeout",
      GST_CLOCK_TIME_NONE / 4, NULL);

  FAKE (bench->sink)->drains = FALSE;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  push_eos (bench);
  g_usleep (5000);
  set_state (bench, GST_STATE_PAUSED);
  SET (bench, drains, TRUE);
  set_state (bench, GST_STATE_PLAYING);
  wait_for_eos (bench);
  bench_free_with_wire (bench, "<a.>");
}

GST_END_TEST;

GST_START_TEST (connection_that_breaks_at_the_end_is_told)
{
  Bench *bench = bench_new (fake_sink_get_type (), "auto-reconnect", FALSE,
      NULL);

  FAKE (bench->sink)->drain_breaks = TRUE;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  push_eos (bench);
  check_error (bench, GST_RESOURCE_ERROR_WRITE, "reset");
  WAIT_FOR (pushed (bench) == 2);
  bench_free_with_wire (bench, "<a>");
}

GST_END_TEST;

GST_START_TEST (stream_goes_on_after_its_end)
{
  Bench *bench = bench_new (fake_sink_get_type (), NULL);

  bench_play (bench);
  push (bench, 'a', 0, 0);
  push_eos (bench);
  wait_for_eos (bench);
  WAIT_FOR (pushed (bench) == 2);
  flush (bench);
  push_start_events (bench);
  push (bench, 'b', 0, 0);
  WAIT_FOR (pushed (bench) == 3);
  fail_unless_equals_int (bench->restarts, 0);
  bench_free_with_wire (bench, "<a.><b>");
}

GST_END_TEST;

/* EOS waits behind what blocks, but is known to come. */
GST_START_TEST (eos_behind_a_full_network_comes_in_time)
{
  Bench *bench = bench_new (frame_sink_get_type (), "eos-timeout",
      20 * GST_MSECOND, NULL);

  FAKE (bench->sink)->room = 30;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (taken (bench) == 30);
  push (bench, 'b', 0, 40);
  push_eos (bench);
  gst_pad_push_event (bench->src, gst_wireless_event_new_ending ());
  wait_for_eos (bench);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-eos-timeout"), 2);
  fail_unless_equals_uint64 (stat_of (bench, "eos-timeouts"), 1);
  bench_free_with_wire (bench, "<!");
}

GST_END_TEST;

GST_START_TEST (the_end_without_a_receiver_is_an_error_in_time)
{
  Bench *bench = bench_new (frame_sink_get_type (), "eos-timeout",
      20 * GST_MSECOND, NULL);

  FAKE (bench->sink)->silent = TRUE;
  bench_play (bench);
  push (bench, 'a', 0, 0);
  push_eos (bench);
  gst_pad_push_event (bench->src, gst_wireless_event_new_ending ());
  wait_for_end_without_receiver (bench);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-eos-timeout"), 1);
  fail_unless_equals_uint64 (stat_of (bench, "eos-timeouts"), 1);
  bench_free_with_wire (bench, "");
}

GST_END_TEST;

/* As `gst-launch-1.0 -e` ends it: the source has the event, and its thread
 * waits in the sink. */
static void
check_asked_eos (GType type, gboolean silent)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *source = gst_element_factory_make ("fakesrc", NULL);
  GstElement *sink = g_object_new (type, "sync", FALSE, "eos-timeout",
      20 * GST_MSECOND, NULL);
  Bench bench = { pipeline, sink };

  g_object_set (source, "sizetype", 2, "sizemax", 100, NULL);
  gst_bin_add_many (GST_BIN (pipeline), source, sink, NULL);
  fail_unless (gst_element_link (source, sink));
  bench.bus = gst_element_get_bus (pipeline);
  FAKE (sink)->silent = silent;
  FAKE (sink)->room = 30;
  set_state (&bench, GST_STATE_PLAYING);
  WAIT_FOR (stat_of (&bench, silent ? "time-unconnected" : "time-blocked") > 0);
  fail_unless (gst_element_send_event (pipeline, gst_event_new_eos ()));
  if (silent && !GST_NETWORK_SINK_GET_CLASS (sink)->connectionless)
    wait_for_end_without_receiver (&bench);
  else
    wait_for_eos (&bench);
  fail_unless (stat_of (&bench, "dropped-eos-timeout") > 0);
  fail_unless_equals_uint64 (stat_of (&bench, "eos-timeouts"), 1);
  set_state (&bench, GST_STATE_NULL);
  gst_object_unref (bench.bus);
  gst_object_unref (pipeline);
}

/* Whether the end is an error depends on the source alone, and not on whether
 * the sink synchronizes to the clock. */
GST_START_TEST (only_a_stored_stream_for_nobody_is_an_error)
{
  const gboolean is_live = (__i__ & 1) != 0, syncs = (__i__ & 2) != 0;
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *source = gst_element_factory_make ("fakesrc", NULL);
  GstElement *sink = g_object_new (fake_sink_get_type (), "sync", syncs,
      "wait-for-connection", FALSE, "eos-timeout", 20 * GST_MSECOND, NULL);
  Bench bench = { pipeline, sink };

  g_object_set (source, "sizetype", 2, "sizemax", 100, "num-buffers", 3,
      "is-live", is_live, NULL);
  gst_bin_add_many (GST_BIN (pipeline), source, sink, NULL);
  fail_unless (gst_element_link (source, sink));
  bench.bus = gst_element_get_bus (pipeline);
  FAKE (sink)->silent = TRUE;
  set_state (&bench, GST_STATE_PLAYING);
  if (is_live)
    wait_for_eos (&bench);
  else
    wait_for_end_without_receiver (&bench);
  set_state (&bench, GST_STATE_NULL);
  gst_object_unref (bench.bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (eos_that_is_asked_for_comes_in_time)
{
  check_asked_eos (__i__ & 1 ? packet_sink_get_type () :
      fake_sink_get_type (), __i__ & 2);
}

GST_END_TEST;

/* What waits for nobody is sent, however long ago that was. */
GST_START_TEST (eos_that_is_asked_for_drops_nothing_that_flows)
{
  Bench *bench = bench_new (fake_sink_get_type (), "eos-timeout",
      G_GUINT64_CONSTANT (0), NULL);

  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  fail_unless (gst_element_send_event (bench->pipeline, gst_event_new_eos ()));
  push (bench, 'b', DELTA, 40);
  WAIT_FOR (pushed (bench) == 2);
  push_eos (bench);
  wait_for_eos (bench);
  fail_unless_equals_uint64 (stat_of (bench, "packets-sent"), 2);
  bench_free_with_wire (bench, "<ab>");
}

GST_END_TEST;

GST_START_TEST (flush_takes_back_that_eos_follows)
{
  Bench *bench = bench_new (frame_sink_get_type (), "eos-timeout",
      G_GUINT64_CONSTANT (0), NULL);

  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  gst_pad_push_event (bench->src, gst_wireless_event_new_ending ());
  push (bench, 'b', DELTA, 40);
  WAIT_FOR (pushed (bench) == 2);
  flush (bench);
  push_start_events (bench);
  push (bench, 'c', DELTA, 80);
  WAIT_FOR (pushed (bench) == 3);
  fail_unless_equals_uint64 (stat_of (bench, "dropped-eos-timeout"), 1);
  bench_free_with_wire (bench, "<ac>");
}

GST_END_TEST;

/* --- statistics ----------------------------------------------------------- */

GST_START_TEST (statistics_are_posted_at_an_interval)
{
  Bench *bench = bench_new (fake_sink_get_type (), "stats-interval",
      GST_SECOND, NULL);
  GstTestClock *clock = GST_TEST_CLOCK (gst_test_clock_new ());
  GstMessage *message;
  const GstStructure *stats;

  gst_pipeline_use_clock (GST_PIPELINE (bench->pipeline), GST_CLOCK (clock));
  bench_play (bench);
  push (bench, 'a', 0, 0);
  WAIT_FOR (pushed (bench) == 1);
  gst_test_clock_crank (clock);
  message = gst_bus_timed_pop_filtered (bench->bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_ELEMENT);
  stats = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (stats, "application/x-fake-stats"));
  fail_unless (gst_structure_has_field (stats, "fake"));
  fail_unless (gst_structure_has_field (stats, "state"));
  gst_message_unref (message);
  bench_free_with_wire (bench, "<a>");
  gst_object_unref (clock);
}

GST_END_TEST;

static Suite *
network_sink_suite (void)
{
  Suite *suite = suite_create ("networksink");
  TCase *tcase;

  tcase = tcase_create ("connection");
  tcase_add_test (tcase, changes_of_state_wait_for_no_network);
  tcase_add_test (tcase, prerolls_without_a_receiver);
  tcase_add_test (tcase, stream_waits_for_the_first_receiver);
  tcase_add_test (tcase, stream_need_not_wait_for_a_receiver);
  tcase_add_test (tcase, flush_and_stop_wake_who_waits_for_a_receiver);
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("failures");
  tcase_add_test (tcase, refused_is_one_error);
  tcase_add_test (tcase, a_name_that_does_not_exist_is_one_error);
  tcase_add_loop_test (tcase, a_name_may_be_missing_for_a_while, 0,
      G_N_ELEMENTS (passing_errors));
  tcase_add_test (tcase, refused_is_tried_again);
  tcase_add_test (tcase, refused_datagrams_are_tried_again);
  tcase_add_test (tcase,
      datagrams_that_are_refused_for_the_timeout_are_an_error);
  tcase_add_test (tcase, stop_does_not_wait_for_the_next_attempt);
  tcase_add_test (tcase, receiver_that_goes_unseen_by_send_is_an_error);
  tcase_add_test (tcase, receiver_that_goes_wakes_who_waits_for_room);
  tcase_add_test (tcase, next_receiver_begins_with_a_key_frame);
  tcase_add_test (tcase, torn_key_frame_is_dropped);
  tcase_add_test (tcase, torn_frame_is_dropped);
  tcase_add_test (tcase, stream_without_key_frames_goes_on_for_good);
  tcase_add_test (tcase, receiver_that_takes_nothing_is_gone);
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("full");
  tcase_add_test (tcase, waits_while_the_network_is_full);
  tcase_add_test (tcase, rest_of_a_frame_goes_with_its_part);
  tcase_add_test (tcase, frame_ends_before_another_time);
  tcase_add_test (tcase, stream_without_frames_loses_one_packet_at_a_time);
  tcase_add_test (tcase, whole_frame_has_no_rest);
  tcase_add_test (tcase, packet_that_cannot_be_sent_does_not_end_the_stream);
  tcase_add_test (tcase, list_is_sent_like_its_buffers);
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("packets");
  tcase_add_test (tcase, packets_go_together);
  tcase_add_test (tcase, packets_wait_for_room);
  tcase_add_test (tcase, packets_wait_until_it_is_time);
  tcase_add_test (tcase, rest_of_a_frame_of_packets_goes_too);
  tcase_add_test (tcase, packet_that_cannot_be_sent_is_left_out);
  tcase_add_test (tcase, packets_go_on_with_the_next_connection);
  tcase_add_loop_test (tcase, flush_and_stop_wake_who_waits_with_packets, 0, 2);
  tcase_add_test (tcase, eos_behind_packets_comes_in_time);
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("frames");
  tcase_add_test (tcase, flush_leaves_no_torn_frame);
  tcase_add_test (tcase, flush_before_a_frame_forgets_it);
  tcase_add_test (tcase, rest_of_before_a_flush_is_not_for_the_next_receiver);
  tcase_add_test (tcase, pause_in_a_frame_goes_on_with_its_rest);
  tcase_add_test (tcase, stop_in_a_frame_resets);
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("end");
  tcase_add_test (tcase, eos_drains_and_closes);
  tcase_add_test (tcase, eos_waits_no_longer_than_it_may);
  tcase_add_test (tcase, the_end_without_a_receiver_is_an_error_at_once);
  tcase_add_test (tcase, flush_and_stop_wake_who_drains);
  tcase_add_test (tcase, pause_while_it_drains_goes_on_afterwards);
  tcase_add_test (tcase, connection_that_breaks_at_the_end_is_told);
  tcase_add_test (tcase, stream_goes_on_after_its_end);
  tcase_add_test (tcase, eos_behind_a_full_network_comes_in_time);
  tcase_add_test (tcase, the_end_without_a_receiver_is_an_error_in_time);
  tcase_add_loop_test (tcase, only_a_stored_stream_for_nobody_is_an_error,
      0, 4);
  tcase_add_loop_test (tcase, eos_that_is_asked_for_comes_in_time, 0, 4);
  tcase_add_test (tcase, eos_that_is_asked_for_drops_nothing_that_flows);
  tcase_add_test (tcase, flush_takes_back_that_eos_follows);
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("statistics");
  tcase_add_test (tcase, statistics_are_posted_at_an_interval);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (network_sink);
