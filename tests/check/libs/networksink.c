/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the contract of GstNetworkSink, the base class of the sinks, with a
 * fake transport. The test decides how many bytes the transport accepts, and
 * when it fails or does not answer. The assertions check which events happen
 * and in which order. They do not check how long the events take. */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <string.h>

#include "gstframeinfometa.h"
#include "gstnetworksink.h"
#include "sinkpipeline.h"

/* --- the transport -------------------------------------------------------- */

typedef struct
{
  GstNetworkSink parent;

  /* The tests write the following fields, and the FakeSink (the sink with the
   * fake transport) reads them. They are protected by `lock`. */
  GMutex lock;
  /* Number of connection attempts that will fail from now on. */
  guint refuse;
  /* Error with which a connection attempt fails while `refuse` is greater than
   * 0: a GResolverError, or -1 for G_IO_ERROR_CONNECTION_REFUSED. */
  gint resolver_error;
  gboolean silent;              /* Connection attempts are not answered. */
  /* Number of bytes that the transport accepts before it is full. */
  gsize room;
  gboolean gone;                /* the receiver closed */
  gboolean broken;              /* sending fails */
  /* Size in bytes of the packets that the transport can never send. It can send
   * packets of any other size. */
  gsize unsendable;
  /* The send function returns GST_NETWORK_SINK_EARLY (the packet was sent too
   * early) in its next `early` calls. */
  guint early;
  /* TRUE if the receiver reads the remaining data at the end of the stream
   * before the drain timeout expires. */
  gboolean drains;
  gboolean drain_breaks;
  /* The last step of the change of state to PLAYING ends when this is FALSE. */
  gboolean becomes_playing_late;

  /* The FakeSink (the sink with the fake transport) writes the following
   * fields, and the tests read them. They are protected by `lock`. */
  /* Log of the events, with one character for each event:
   * - a letter: a buffer was sent completely, and this is its first byte;
   * - <: a connection begins;
   * - >: a connection ends;
   * - !: a connection is reset;
   * - .: all data was drained. */
  GString *log;
  /* Number of bytes of the current buffer that the transport has accepted. */
  gsize n_taken;
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
  g_string_append_c (self->log, event);
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
  self->n_taken = 0;
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
    fail_unless_equals_uint64 (offset, self->n_taken);
    *taken = MIN (size - offset, self->room);
    self->room -= *taken;
    self->n_taken += *taken;
    self->taken += *taken;
    if (self->n_taken == size) {
      g_string_append_c (self->log, first);
      self->n_taken = 0;
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
  self->log = g_string_new (NULL);
}

static void
fake_sink_finalize (GObject * object)
{
  g_string_free (FAKE (object)->log, TRUE);
  g_mutex_clear (&FAKE (object)->lock);
  G_OBJECT_CLASS (fake_sink_parent_class)->finalize (object);
}

static GstStateChangeReturn
fake_change_state (GstElement * element, GstStateChange transition)
{
  FakeSink *self = FAKE (element);
  GstStateChangeReturn result =
      GST_ELEMENT_CLASS (fake_sink_parent_class)->change_state (element,
      transition);
  gboolean waits = transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING;

  while (waits) {
    g_mutex_lock (&self->lock);
    waits = self->becomes_playing_late;
    g_mutex_unlock (&self->lock);
    if (waits)
      g_usleep (1000);
  }
  return result;
}

static void
fake_sink_class_init (FakeSinkClass * klass)
{
  GstNetworkSinkClass *network_class = GST_NETWORK_SINK_CLASS (klass);

  GST_ELEMENT_CLASS (klass)->change_state = fake_change_state;
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

/* FrameSink is a FakeSink (the sink with the fake transport) for a stream in
 * which each buffer contains a whole frame. */
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

/* PacketSink is a FakeSink (the sink with the fake transport) that sends
 * packets: it gets all available packets in one call. It accepts a packet only
 * if the whole packet fits into `room` bytes. In the log, a | marks the
 * beginning of each call. */
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
  g_string_append_c (self->log, '|');
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
      g_string_append_c (self->log, first);
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

/* DatagramSink is a FakeSink (the sink with the fake transport) that sends
 * datagrams. For this sink, "connection refused" is not a permanent error,
 * because any host on the path can send the ICMP message that causes this
 * error. */
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
push (SinkPipeline * test, gchar name, guint flags, gint pts)
{
  g_async_queue_push (test->queue, make_buffer (name, 100, flags, pts));
}

static void
sink_pipeline_free_and_expect_log (SinkPipeline * test, const gchar * expected)
{
  gchar *log;

  sink_pipeline_set_state (test, GST_STATE_NULL);
  log = g_strdup (FAKE (test->sink)->log->str);
  sink_pipeline_free (test);
  fail_unless_equals_string (log, expected);
  g_free (log);
}

/* Waits for the error that the sink posts if a stored stream ends and no
 * receiver was ever connected. The pipeline must post no EOS. */
static void
wait_for_end_without_receiver (SinkPipeline * test)
{
  GError *error = sink_pipeline_take_error (test);

  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_WRITE), "%s", error->message);
  fail_unless (strstr (error->message, "nothing of it was sent") != NULL, "%s",
      error->message);
  g_error_free (error);
}

static gsize
taken (SinkPipeline * test)
{
  gsize bytes;

  g_mutex_lock (&FAKE (test->sink)->lock);
  bytes = FAKE (test->sink)->taken;
  g_mutex_unlock (&FAKE (test->sink)->lock);
  return bytes;
}

#define SET(test, member, value) G_STMT_START { \
    g_mutex_lock (&FAKE ((test)->sink)->lock); \
    FAKE ((test)->sink)->member = (value); \
    g_mutex_unlock (&FAKE ((test)->sink)->lock); \
  } G_STMT_END

static void
check_error (SinkPipeline * test, gint code, const gchar * words)
{
  GError *error = sink_pipeline_take_error (test);

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
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);
  guint i;

  FAKE (test->sink)->silent = TRUE;
  for (i = 0; i < 10; i++) {
    sink_pipeline_set_state (test, GST_STATE_PLAYING);
    sink_pipeline_set_state (test, GST_STATE_NULL);
  }
  sink_pipeline_free_and_expect_log (test, "");
}

GST_END_TEST;

GST_START_TEST (prerolls_without_a_receiver)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  FAKE (test->sink)->silent = TRUE;
  sink_pipeline_set_state (test, GST_STATE_PAUSED);
  sink_pipeline_push_start_events (test);
  test->thread = g_thread_new ("push", sink_pipeline_push_all, test);
  push (test, 'a', 0, 0);
  fail_unless_equals_int (gst_element_get_state (test->pipeline, NULL, NULL,
          GST_CLOCK_TIME_NONE), GST_STATE_CHANGE_SUCCESS);
  fail_unless (sink_pipeline_is_in_state (test, "connecting"));
  sink_pipeline_set_state (test, GST_STATE_PLAYING);
  /* now in render */
  WAIT_FOR (sink_pipeline_stat_of (test, "time-unconnected") > 0);
  sink_pipeline_free_and_expect_log (test, "");
}

GST_END_TEST;

GST_START_TEST (stream_waits_for_the_first_receiver)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  FAKE (test->sink)->silent = TRUE;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  push (test, 'b', DELTA, 40);
  WAIT_FOR (sink_pipeline_stat_of (test, "time-unconnected") > 0);
  fail_unless_equals_int (sink_pipeline_pushed (test), 0);
  SET (test, silent, FALSE);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  /* A new receiver may have missed earlier frames of the stream. In this case,
   * the sink sends an upstream event. Here, the sink accepted no buffer before
   * the receiver was connected. The receiver has therefore missed nothing, and
   * the sink must not send this event. */
  fail_unless_equals_int (test->restarts, 0);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "packets-sent"), 2);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "bytes-sent"), 200);
  sink_pipeline_free_and_expect_log (test, "<ab>");
}

GST_END_TEST;

GST_START_TEST (stream_need_not_wait_for_a_receiver)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (),
      "wait-for-connection",
      FALSE, NULL);

  FAKE (test->sink)->silent = TRUE;
  sink_pipeline_play (test);
  push (test, 'a', MARK, 0);
  push (test, 'b', DELTA | MARK, 40);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  fail_unless_equals_int (test->flow, GST_FLOW_OK);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-not-connected"), 2);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "bytes-dropped"),
      200);

  SET (test, silent, FALSE);
  WAIT_FOR (sink_pipeline_is_in_state (test, "connected"));
  push (test, 'c', DELTA | MARK, 80);
  push (test, 'd', MARK, 120);
  push (test, 'e', DELTA | MARK, 160);
  WAIT_FOR (sink_pipeline_pushed (test) == 5);
  fail_unless_equals_int (test->restarts, 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-no-key-frame"), 1);
  sink_pipeline_free_and_expect_log (test, "<de>");
}

GST_END_TEST;

GST_START_TEST (flush_and_stop_wake_who_waits_for_a_receiver)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  FAKE (test->sink)->silent = TRUE;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_stat_of (test, "time-unconnected") > 0);
  sink_pipeline_flush (test);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_int (test->flow, GST_FLOW_FLUSHING);

  sink_pipeline_push_start_events (test);
  push (test, 'b', 0, 0);
  sink_pipeline_free_and_expect_log (test, "");
}

GST_END_TEST;

/* --- failures ------------------------------------------------------------- */

GST_START_TEST (refused_is_one_error)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (),
      "auto-reconnect", FALSE,
      NULL);

  FAKE (test->sink)->silent = TRUE;
  FAKE (test->sink)->refuse = 1;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  /* The error must be posted only after the pipeline has started. If it were
   * posted during the start, the pipeline would wait in PAUSED forever. The
   * test therefore lets the connection attempt fail only when the sink already
   * waits for its connection. */
  WAIT_FOR (sink_pipeline_stat_of (test, "time-unconnected") > 0);
  SET (test, silent, FALSE);
  check_error (test, GST_RESOURCE_ERROR_OPEN_WRITE, "Connection refused");
  push (test, 'b', 0, 40);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  fail_unless_equals_int (test->flow, GST_FLOW_ERROR);
  fail_unless (sink_pipeline_is_in_state (test, "failed"));
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "failures-refused"),
      1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "connect-attempts"),
      1);
  sink_pipeline_free_and_expect_log (test, "");
}

GST_END_TEST;

/* A host name that does not exist is an error even if auto-reconnect is TRUE,
 * because a later attempt cannot make the name correct. */
GST_START_TEST (a_name_that_does_not_exist_is_one_error)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  FAKE (test->sink)->silent = TRUE;
  FAKE (test->sink)->refuse = 2;
  FAKE (test->sink)->resolver_error = G_RESOLVER_ERROR_NOT_FOUND;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_stat_of (test, "time-unconnected") > 0);
  SET (test, silent, FALSE);
  check_error (test, GST_RESOURCE_ERROR_NOT_FOUND, "No answer for the name");
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "connect-attempts"),
      1);
  sink_pipeline_free_and_expect_log (test, "");
}

GST_END_TEST;

static const gint passing_errors[] = { G_RESOLVER_ERROR_TEMPORARY_FAILURE,
  G_RESOLVER_ERROR_NOT_FOUND
};

/* In two cases, a name that cannot be resolved is a temporary error. In the
 * first case, the name server does not answer; it may answer later. In the
 * second case, the name was resolved before and is missing now; it may exist
 * again later. */
GST_START_TEST (a_name_may_be_missing_for_a_while)
{
  gboolean was_there = passing_errors[__i__] == G_RESOLVER_ERROR_NOT_FOUND;
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  FAKE (test->sink)->resolver_error = passing_errors[__i__];
  SET (test, refuse, was_there ? 0 : 2);
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  if (was_there) {
    SET (test, refuse, 2);
    SET (test, gone, TRUE);
    WAIT_FOR (sink_pipeline_stat_of (test, "connect-attempts") == 4);
    WAIT_FOR (sink_pipeline_stat_of (test, "connections") == 2);
  }
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "failures-not-found"), 2);
  sink_pipeline_set_state (test, GST_STATE_NULL);
  sink_pipeline_free (test);
}

GST_END_TEST;

static void
expect_warning_ending (SinkPipeline * test, const gchar * ending)
{
  GstMessage *message = gst_bus_timed_pop_filtered (test->bus,
      GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING);
  GError *error;

  gst_message_parse_warning (message, &error, NULL);
  fail_unless (g_str_has_suffix (error->message, ending), "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
}

GST_START_TEST (refused_is_tried_again)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  FAKE (test->sink)->refuse = 3;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  expect_warning_ending (test, " This element tries again.");
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "failures-refused"),
      3);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "connect-attempts"),
      4);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "connections"), 1);
  sink_pipeline_free_and_expect_log (test, "<a>");
}

GST_END_TEST;

/* Even without auto-reconnect, a datagram sink whose datagrams are refused
 * keeps trying to connect until peer-timeout has passed. The warning that it
 * posts must not promise another attempt, because peer-timeout may have passed
 * before that attempt. */
GST_START_TEST (refused_datagrams_are_tried_again)
{
  SinkPipeline *test = sink_pipeline_new (datagram_sink_get_type (),
      "auto-reconnect", FALSE,
      NULL);

  FAKE (test->sink)->refuse = 2;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  expect_warning_ending (test, " check the host and the port.");
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_int (test->flow, GST_FLOW_OK);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "failures-refused"),
      2);
  sink_pipeline_free_and_expect_log (test, "<a>");
}

GST_END_TEST;

GST_START_TEST (datagrams_that_are_refused_for_the_timeout_are_an_error)
{
  SinkPipeline *test = sink_pipeline_new (datagram_sink_get_type (),
      "auto-reconnect", FALSE,
      "peer-timeout", 150, NULL);

  FAKE (test->sink)->silent = TRUE;
  FAKE (test->sink)->refuse = G_MAXUINT;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_stat_of (test, "time-unconnected") > 0);
  SET (test, silent, FALSE);
  check_error (test, GST_RESOURCE_ERROR_OPEN_WRITE, "Connection refused");
  fail_unless (sink_pipeline_stat_of (test, "failures-refused") > 1);
  fail_unless (sink_pipeline_is_in_state (test, "failed"));
  sink_pipeline_free_and_expect_log (test, "");
}

GST_END_TEST;

GST_START_TEST (stop_does_not_wait_for_the_next_attempt)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  FAKE (test->sink)->refuse = G_MAXUINT;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_is_in_state (test, "pausing"));
  sink_pipeline_free_and_expect_log (test, "");
}

GST_END_TEST;

GST_START_TEST (receiver_that_goes_unseen_by_send_is_an_error)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (),
      "auto-reconnect", FALSE,
      NULL);

  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  SET (test, gone, TRUE);
  /* The receiver closes the connection while the sink waits for the next
   * buffer. The sink must notice this without a buffer. */
  check_error (test, GST_RESOURCE_ERROR_WRITE, "it closed the connection");
  push (test, 'b', 0, 40);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  fail_unless_equals_int (test->flow, GST_FLOW_ERROR);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "failures-closed"),
      1);
  sink_pipeline_free_and_expect_log (test, "<a>");
}

GST_END_TEST;

/* GstBaseSink sends buffers before the change of state to PLAYING has ended. A
 * connection that breaks at this moment must be an error at once. */
GST_START_TEST (receiver_that_goes_while_the_state_changes_is_an_error)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (),
      "auto-reconnect", FALSE,
      NULL);

  FAKE (test->sink)->becomes_playing_late = TRUE;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  SET (test, gone, TRUE);
  check_error (test, GST_RESOURCE_ERROR_WRITE, "it closed the connection");
  SET (test, becomes_playing_late, FALSE);
  sink_pipeline_free_and_expect_log (test, "<a>");
}

GST_END_TEST;

GST_START_TEST (receiver_that_goes_wakes_who_waits_for_room)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (),
      "auto-reconnect", FALSE,
      NULL);

  FAKE (test->sink)->room = 30;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (taken (test) == 30);
  SET (test, gone, TRUE);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_int (test->flow, GST_FLOW_ERROR);
  check_error (test, GST_RESOURCE_ERROR_WRITE, "it closed the connection");
  sink_pipeline_free_and_expect_log (test, "<!");
}

GST_END_TEST;

GST_START_TEST (next_receiver_begins_with_a_key_frame)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (), NULL);

  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  SET (test, broken, TRUE);
  push (test, 'b', DELTA, 40);
  push (test, 'c', DELTA, 80);
  push (test, 'd', 0, 120);
  push (test, 'e', DELTA, 160);
  WAIT_FOR (sink_pipeline_pushed (test) == 5);
  fail_unless_equals_int (test->restarts, 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "failures-reset"), 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-no-key-frame"), 2);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "connections"), 2);
  sink_pipeline_free_and_expect_log (test, "<a><de>");
}

GST_END_TEST;

/* The connection broke when only a part of a key frame had been sent. The
 * headers of this frame were in the part that the new receiver does not get.
 * The rest of the frame is useless without them and must be dropped. */
GST_START_TEST (torn_key_frame_is_dropped)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (), NULL);

  FAKE (test->sink)->room = 30;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (taken (test) == 30);
  SET (test, broken, TRUE);
  SET (test, room, G_MAXSIZE);
  push (test, 'b', DELTA, 40);
  push (test, 'c', 0, 80);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  fail_unless_equals_int (test->restarts, 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "dropped-broken"), 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-no-key-frame"), 1);
  sink_pipeline_free_and_expect_log (test, "<!<c>");
}

GST_END_TEST;

GST_START_TEST (torn_frame_is_dropped)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (), NULL);

  FAKE (test->sink)->room = 130;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  push (test, 'b', DELTA, 40);
  WAIT_FOR (taken (test) == 130);
  SET (test, broken, TRUE);
  SET (test, room, G_MAXSIZE);
  push (test, 'c', 0, 80);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "dropped-broken"), 1);
  sink_pipeline_free_and_expect_log (test, "<a!<c>");
}

GST_END_TEST;

GST_START_TEST (stream_without_key_frames_goes_on_for_good)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (), NULL);
  guint i;

  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  SET (test, broken, TRUE);
  for (i = 0; i < 602; i++)
    push (test, 'b', DELTA, 40 + 40 * i);
  WAIT_FOR (sink_pipeline_pushed (test) == 603);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-no-key-frame"), 600);
  sink_pipeline_free_and_expect_log (test, "<a><bb>");
}

GST_END_TEST;

GST_START_TEST (receiver_that_takes_nothing_is_gone)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (),
      "auto-reconnect", FALSE,
      "peer-timeout", 20, NULL);

  FAKE (test->sink)->room = 0;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  check_error (test, GST_RESOURCE_ERROR_WRITE, "took nothing for 0.02 s");
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_int (test->flow, GST_FLOW_ERROR);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "failures-timeout"),
      1);
  fail_unless (sink_pipeline_stat_of (test, "time-blocked")
      >= 20 * GST_MSECOND);
  sink_pipeline_free_and_expect_log (test, "<!");
}

GST_END_TEST;

/* --- a full network ------------------------------------------------------- */

GST_START_TEST (waits_while_the_network_is_full)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  FAKE (test->sink)->room = 130;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  push (test, 'b', DELTA, 40);
  WAIT_FOR (sink_pipeline_stat_of (test, "time-blocked") > 0);
  fail_unless_equals_int (sink_pipeline_pushed (test), 1);
  SET (test, room, 70);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  sink_pipeline_free_and_expect_log (test, "<ab>");
}

GST_END_TEST;

/* --- live input ----------------------------------------------------------- */

static gboolean
answer_live (GstPad * pad, GstObject * parent, GstQuery * query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_latency (query, TRUE, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

/* Answers queries as if upstream of the sink there were a camera and the queue
 * element ifdqueue: the source is live, and the queue drops frames when it is
 * full. */
static gboolean
answer_live_and_drops (GstPad * pad, GstObject * parent, GstQuery * query)
{
  return gst_wireless_query_is_drops_when_full (query)
      || answer_live (pad, parent, query);
}

/* Makes a pipeline with a live source. Its sink is a PacketSink (a test sink
 * without connections) if `packets` is TRUE, and otherwise a FakeSink (a test
 * sink with connections). */
static SinkPipeline *
create_live (gboolean packets, guint max_live_wait)
{
  SinkPipeline *test = sink_pipeline_new (packets ? packet_sink_get_type () :
      fake_sink_get_type (), "max-live-wait", max_live_wait, NULL);

  gst_pad_set_query_function (test->src, answer_live);
  return test;
}

/* Frees the pipeline and compares the log with `expected`. In the log, a |
 * stands for each call of the send function of the test sink PacketSink. The
 * number of these calls does not matter here, so each | is removed first. */
static void
free_live_and_expect_log (SinkPipeline * test, const gchar * expected)
{
  FakeSink *sink = FAKE (test->sink);

  g_mutex_lock (&sink->lock);
  g_string_replace (sink->log, "|", "", 0);
  g_mutex_unlock (&sink->lock);
  sink_pipeline_free_and_expect_log (test, expected);
}

GST_START_TEST (live_input_does_not_stall_while_nobody_answers)
{
  SinkPipeline *test = create_live (__i__, 5);

  FAKE (test->sink)->silent = TRUE;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  push (test, 'b', DELTA, 40);
  push (test, 'c', DELTA, 80);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-not-connected"), 3);
  SET (test, silent, FALSE);
  WAIT_FOR (sink_pipeline_is_in_state (test, "connected"));
  push (test, 'd', DELTA, 120);
  push (test, 'e', 0, 160);
  WAIT_FOR (sink_pipeline_pushed (test) == 5);
  /* Buffer d is not a key frame. A FakeSink is a sink with connections. It must
   * drop buffer d, because a new receiver needs a key frame first. A PacketSink
   * is a sink without connections, so it must send buffer d. */
  free_live_and_expect_log (test, __i__ ? "<de>" : "<e>");
}

GST_END_TEST;

GST_START_TEST (live_input_does_not_stall_while_the_network_is_full)
{
  SinkPipeline *test = create_live (__i__, 5);

  FAKE (test->sink)->room = 0;
  sink_pipeline_play (test);
  /* Before the sink is connected, it drops live buffers for lack of a
   * connection. The test is about buffers that are dropped because the network
   * is full, so it waits for the connection. */
  WAIT_FOR (sink_pipeline_is_in_state (test, "connected"));
  push (test, 'a', 0, 0);
  push (test, 'b', GST_BUFFER_FLAG_DROPPABLE, 40);
  push (test, 'c', 0, 80);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "dropped-full"), 3);
  /* No frame refers to b. */
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-references"), 2);
  /* The first buffer had to wait for the network before it was dropped, so the
   * statistic "time-blocked" must not be 0. The other two buffers were dropped
   * without waiting. */
  fail_unless (sink_pipeline_stat_of (test, "time-blocked") > 0);
  SET (test, room, G_MAXSIZE);
  push (test, 'd', 0, 120);
  push (test, 'e', 0, 160);
  WAIT_FOR (sink_pipeline_pushed (test) == 5);
  free_live_and_expect_log (test, "<de>");
}

GST_END_TEST;

GST_START_TEST (live_input_waits_for_less_than_its_limit)
{
  SinkPipeline *test = create_live (__i__, 86400000);

  FAKE (test->sink)->room = 0;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_stat_of (test, "time-blocked") > 0);
  fail_unless_equals_int (sink_pipeline_pushed (test), 0);
  SET (test, room, G_MAXSIZE);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  free_live_and_expect_log (test, "<a>");
}

GST_END_TEST;

/* Input from a live source waits for the network for at most the time of the
 * property max-live-wait, and is then dropped. Two kinds of input must wait
 * without a time limit: input from a source that is not live, and input from a
 * live source that drops frames itself. */
GST_START_TEST (other_input_waits_as_long_as_it_takes)
{
  SinkPipeline *test = create_live (TRUE, 0);

  gst_pad_set_query_function (test->src, __i__ ? answer_live_and_drops :
      gst_pad_query_default);
  FAKE (test->sink)->silent = TRUE;
  FAKE (test->sink)->room = 0;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_stat_of (test, "time-unconnected") > 0);
  SET (test, silent, FALSE);
  WAIT_FOR (sink_pipeline_stat_of (test, "time-blocked") > 0);
  fail_unless_equals_int (sink_pipeline_pushed (test), 0);
  SET (test, room, G_MAXSIZE);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  free_live_and_expect_log (test, "<a>");
}

GST_END_TEST;

GST_START_TEST (rest_of_a_frame_goes_with_its_part)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), "blocking",
      FALSE, NULL);

  sink_pipeline_play (test);
  push (test, 'a', 0, NO_PTS);
  push (test, 'b', MARK, NO_PTS);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  push (test, 'c', DELTA, NO_PTS);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  SET (test, room, 0);
  push (test, 'd', DELTA, NO_PTS);
  WAIT_FOR (sink_pipeline_pushed (test) == 4);
  SET (test, room, G_MAXSIZE);
  push (test, 'e', DELTA, NO_PTS);
  push (test, 'f', DELTA | MARK, NO_PTS);
  push (test, 'g', DELTA, NO_PTS);
  push (test, 'h', DELTA | MARK, NO_PTS);
  WAIT_FOR (sink_pipeline_pushed (test) == 8);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "dropped-full"), 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-rest-of-frame"), 2);
  sink_pipeline_free_and_expect_log (test, "<abcgh>");
}

GST_END_TEST;

static void
push_layer (SinkPipeline * test, gchar name, guint flags, gint layer)
{
  GstBuffer *buffer = make_buffer (name, 100, DELTA | MARK | flags, NO_PTS);

  gst_buffer_add_frame_info_meta (buffer, 2, 0, GST_FRAME_INFO_COVERAGE_ALL)
      ->temporal_layer = layer;
  g_async_queue_push (test->queue, buffer);
}

/* Frames of a layer may refer to frames of lower layers. If a frame of layer 1
 * is dropped, the frames of layer 2 after it must be dropped, too, until the
 * next frame of layer 0. */
GST_START_TEST (frame_of_a_higher_layer_goes_with_the_one_it_needs)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), "blocking",
      FALSE, NULL);

  sink_pipeline_play (test);
  push_layer (test, 'a', 0, 0);
  push_layer (test, 'b', GST_BUFFER_FLAG_DROPPABLE, 2);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  SET (test, room, 0);
  push_layer (test, 'c', 0, 1);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  SET (test, room, G_MAXSIZE);
  push_layer (test, 'd', GST_BUFFER_FLAG_DROPPABLE, 2);
  push_layer (test, 'e', 0, 0);
  push_layer (test, 'f', GST_BUFFER_FLAG_DROPPABLE, 2);
  WAIT_FOR (sink_pipeline_pushed (test) == 6);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "dropped-full"), 2);
  sink_pipeline_free_and_expect_log (test, "<abef>");
}

GST_END_TEST;

GST_START_TEST (frame_ends_before_another_time)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), "blocking",
      FALSE, NULL);

  FAKE (test->sink)->room = 0;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  SET (test, room, G_MAXSIZE);
  push (test, 'b', 0, 0);
  push (test, 'c', 0, 40);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-rest-of-frame"), 1);
  sink_pipeline_free_and_expect_log (test, "<c>");
}

GST_END_TEST;

GST_START_TEST (stream_without_frames_loses_one_packet_at_a_time)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), "blocking",
      FALSE, NULL);

  FAKE (test->sink)->room = 0;
  sink_pipeline_play (test);
  push (test, 'a', 0, NO_PTS);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  SET (test, room, G_MAXSIZE);
  push (test, 'b', 0, NO_PTS);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  sink_pipeline_free_and_expect_log (test, "<b>");
}

GST_END_TEST;

GST_START_TEST (whole_frame_has_no_rest)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (), "blocking",
      FALSE, NULL);

  FAKE (test->sink)->room = 0;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  SET (test, room, 30);
  push (test, 'b', 0, 0);
  /* The network became full when a part of buffer b had been sent. The rest of
   * this buffer must be sent, whether the property `blocking` is TRUE or FALSE.
   */
  WAIT_FOR (taken (test) == 30);
  SET (test, room, G_MAXSIZE);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  sink_pipeline_free_and_expect_log (test, "<b>");
}

GST_END_TEST;

GST_START_TEST (packet_that_cannot_be_sent_does_not_end_the_stream)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  FAKE (test->sink)->unsendable = 101;
  sink_pipeline_play (test);
  g_async_queue_push (test->queue, make_buffer ('a', 101, MARK, 0));
  push (test, 'b', MARK, 40);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  fail_unless_equals_int (test->flow, GST_FLOW_OK);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-unsendable"), 1);
  sink_pipeline_free_and_expect_log (test, "<b>");
}

GST_END_TEST;

GST_START_TEST (list_is_sent_like_its_buffers)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);
  GstBufferList *list = gst_buffer_list_new ();

  gst_buffer_list_add (list, make_buffer ('a', 100, 0, 0));
  gst_buffer_list_add (list, make_buffer ('b', 0, 0, 0));
  gst_buffer_list_add (list, make_buffer ('c', 100, MARK, 0));
  sink_pipeline_play (test);
  g_async_queue_push (test->queue, list);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  sink_pipeline_free_and_expect_log (test, "<ac>");
}

GST_END_TEST;

/* --- packets -------------------------------------------------------------- */

/* Pushes a buffer list with one packet of 100 bytes for each letter of `names`.
 * A capital letter ends a frame. */
static void
push_packets (SinkPipeline * test, const gchar * names)
{
  GstBufferList *list = gst_buffer_list_new ();

  for (; *names; names++)
    gst_buffer_list_add (list, make_buffer (*names, 100,
            g_ascii_isupper (*names) ? MARK : 0, NO_PTS));
  g_async_queue_push (test->queue, list);
}

GST_START_TEST (packets_go_together)
{
  SinkPipeline *test = sink_pipeline_new (packet_sink_get_type (), NULL);

  sink_pipeline_play (test);
  push_packets (test, "abC");
  push (test, 'd', MARK, NO_PTS);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "packets-sent"), 4);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "bytes-sent"), 400);
  sink_pipeline_free_and_expect_log (test, "<|abC|d>");
}

GST_END_TEST;

GST_START_TEST (packets_wait_for_room)
{
  SinkPipeline *test = sink_pipeline_new (packet_sink_get_type (), NULL);

  FAKE (test->sink)->room = 250;
  sink_pipeline_play (test);
  push_packets (test, "abcD");
  WAIT_FOR (sink_pipeline_stat_of (test, "time-blocked") > 0);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "packets-sent"), 2);
  SET (test, room, G_MAXSIZE);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "packets-sent"), 4);
  sink_pipeline_set_state (test, GST_STATE_NULL);
  fail_unless (g_str_has_prefix (FAKE (test->sink)->log->str, "<|ab|"));
  fail_unless (g_str_has_suffix (FAKE (test->sink)->log->str, "|cD>"));
  sink_pipeline_free (test);
}

GST_END_TEST;

/* The transport refuses packets that the sink sends too early. A refused packet
 * does not mean that the network is full, so the sink must keep the packet and
 * send it later. Even if packets are refused many times, the sink must not
 * conclude that the receiver has disappeared. */
GST_START_TEST (packets_wait_until_it_is_time)
{
  SinkPipeline *test = sink_pipeline_new (packet_sink_get_type (), "blocking",
      FALSE,
      "peer-timeout", 5, NULL);

  FAKE (test->sink)->early = 20;
  sink_pipeline_play (test);
  push_packets (test, "abC");
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "packets-sent"), 3);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "dropped-full"), 0);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "connections"), 1);
  sink_pipeline_set_state (test, GST_STATE_NULL);
  fail_unless (g_str_has_suffix (FAKE (test->sink)->log->str, "|abC>"));
  sink_pipeline_free (test);
}

GST_END_TEST;

/* The network is full, so the first packets of a frame are dropped. Then the
 * network has room again, and the next buffer list brings the rest of the
 * frame. This rest must be dropped, too. */
GST_START_TEST (rest_of_a_frame_of_packets_goes_too)
{
  SinkPipeline *test = sink_pipeline_new (packet_sink_get_type (), "blocking",
      FALSE, NULL);

  FAKE (test->sink)->room = 150;
  sink_pipeline_play (test);
  push_packets (test, "Ab");
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  SET (test, room, G_MAXSIZE);
  push_packets (test, "cDeF");
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "dropped-full"), 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-rest-of-frame"), 2);
  sink_pipeline_free_and_expect_log (test, "<|A|eF>");
}

GST_END_TEST;

GST_START_TEST (packet_that_cannot_be_sent_is_left_out)
{
  SinkPipeline *test = sink_pipeline_new (packet_sink_get_type (), NULL);
  GstBufferList *list = gst_buffer_list_new ();

  FAKE (test->sink)->unsendable = 101;
  gst_buffer_list_add (list, make_buffer ('a', 100, MARK, NO_PTS));
  gst_buffer_list_add (list, make_buffer ('b', 101, MARK, NO_PTS));
  gst_buffer_list_add (list, make_buffer ('c', 100, MARK, NO_PTS));
  sink_pipeline_play (test);
  g_async_queue_push (test->queue, list);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-unsendable"), 1);
  sink_pipeline_free_and_expect_log (test, "<|a|c>");
}

GST_END_TEST;

/* A receiver of datagrams knows no connections, so it misses nothing when the
 * sink reconnects. After a reconnection, a sink for packets must therefore send
 * all packets, without waiting for a key frame. */
GST_START_TEST (packets_go_on_with_the_next_connection)
{
  SinkPipeline *test = sink_pipeline_new (packet_sink_get_type (), NULL);

  sink_pipeline_play (test);
  push_packets (test, "aB");
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  SET (test, broken, TRUE);
  push_packets (test, "cD");
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-no-key-frame"), 0);
  fail_unless_equals_int (test->restarts, 0);
  sink_pipeline_free_and_expect_log (test, "<|aB|><|cD>");
}

GST_END_TEST;

GST_START_TEST (flush_and_stop_wake_who_waits_with_packets)
{
  SinkPipeline *test = sink_pipeline_new (packet_sink_get_type (), NULL);

  FAKE (test->sink)->room = 0;
  sink_pipeline_play (test);
  push_packets (test, "aB");
  WAIT_FOR (sink_pipeline_stat_of (test, "time-blocked") > 0);
  if (__i__ == 0)
    sink_pipeline_flush (test);
  else
    sink_pipeline_set_state (test, GST_STATE_READY);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_int (test->flow, GST_FLOW_FLUSHING);
  sink_pipeline_free (test);
}

GST_END_TEST;

GST_START_TEST (eos_behind_packets_comes_in_time)
{
  SinkPipeline *test = sink_pipeline_new (packet_sink_get_type (),
      "drain-timeout",
      20, NULL);

  FAKE (test->sink)->room = 100;
  sink_pipeline_play (test);
  push_packets (test, "abC");
  WAIT_FOR (sink_pipeline_stat_of (test, "time-blocked") > 0);
  sink_pipeline_push_eos (test);
  gst_pad_push_event (test->src, gst_wireless_event_new_ending ());
  sink_pipeline_wait_for_eos (test);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-eos-timeout"), 2);
  sink_pipeline_free (test);
}

GST_END_TEST;

/* --- disconnection within a frame ----------------------------------------- */

GST_START_TEST (flush_leaves_no_torn_frame)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (), NULL);

  FAKE (test->sink)->room = 30;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (taken (test) == 30);
  sink_pipeline_flush (test);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_int (test->flow, GST_FLOW_FLUSHING);
  sink_pipeline_push_start_events (test);
  push (test, 'b', DELTA, 40);
  SET (test, room, G_MAXSIZE);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  fail_unless_equals_int (test->restarts, 0);
  sink_pipeline_free_and_expect_log (test, "<ab>");
}

GST_END_TEST;

GST_START_TEST (flush_before_a_frame_forgets_it)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (), NULL);

  FAKE (test->sink)->room = 100;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  push (test, 'b', 0, 40);
  WAIT_FOR (sink_pipeline_stat_of (test, "time-blocked") > 0);
  sink_pipeline_flush (test);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  sink_pipeline_push_start_events (test);
  push (test, 'c', 0, 0);
  SET (test, room, G_MAXSIZE);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  sink_pipeline_free_and_expect_log (test, "<ac>");
}

GST_END_TEST;

GST_START_TEST (rest_of_before_a_flush_is_not_for_the_next_receiver)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (), NULL);

  FAKE (test->sink)->room = 30;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (taken (test) == 30);
  sink_pipeline_flush (test);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  SET (test, gone, TRUE);
  WAIT_FOR (sink_pipeline_stat_of (test, "connections") == 2);
  sink_pipeline_push_start_events (test);
  push (test, 'b', DELTA, 40);
  push (test, 'c', 0, 40);
  SET (test, room, G_MAXSIZE);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "dropped-broken"), 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-no-key-frame"), 1);
  sink_pipeline_free_and_expect_log (test, "<!<c>");
}

GST_END_TEST;

GST_START_TEST (pause_in_a_frame_goes_on_with_its_rest)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (), NULL);

  FAKE (test->sink)->room = 30;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (taken (test) == 30);
  sink_pipeline_set_state (test, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (test->pipeline, NULL, NULL,
          GST_CLOCK_TIME_NONE), GST_STATE_CHANGE_SUCCESS);
  fail_unless_equals_int (sink_pipeline_pushed (test), 0);
  SET (test, room, G_MAXSIZE);
  sink_pipeline_set_state (test, GST_STATE_PLAYING);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless_equals_uint64 (taken (test), 100);
  sink_pipeline_free_and_expect_log (test, "<a>");
}

GST_END_TEST;

GST_START_TEST (stop_in_a_frame_resets)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (), NULL);

  FAKE (test->sink)->room = 130;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  push (test, 'b', 0, 40);
  WAIT_FOR (taken (test) == 130);
  sink_pipeline_set_state (test, GST_STATE_READY);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  fail_unless_equals_int (test->flow, GST_FLOW_FLUSHING);
  fail_unless (sink_pipeline_is_in_state (test, "idle"));

  /* The sink was stopped in the middle of a frame and starts again. It must
   * begin with a new connection. */
  SET (test, room, G_MAXSIZE);
  sink_pipeline_set_state (test, GST_STATE_PLAYING);
  sink_pipeline_push_start_events (test);
  push (test, 'c', DELTA, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "packets-sent"), 1);
  sink_pipeline_free_and_expect_log (test, "<a!<c>");
}

GST_END_TEST;

/* --- the end of the stream ------------------------------------------------ */

GST_START_TEST (eos_drains_and_closes)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  sink_pipeline_push_eos (test);
  sink_pipeline_wait_for_eos (test);
  fail_unless (sink_pipeline_is_in_state (test, "idle"));
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "failures-closed"),
      0);
  sink_pipeline_free_and_expect_log (test, "<a.>");
}

GST_END_TEST;

/* Checks the warning that the sink posts when the drain timeout has passed. The
 * warning must contain the property name drain-timeout, not the deprecated name
 * of this property, and must give the unit of the value. */
static void
expect_drain_warning (SinkPipeline * test)
{
  expect_warning_ending (test, " did not take everything within the "
      "drain-timeout of 20 ms. The rest is lost: raise drain-timeout, or lower "
      "the bitrate.");
}

GST_START_TEST (eos_waits_no_longer_than_it_may)
{
  SinkPipeline *test =
      sink_pipeline_new (fake_sink_get_type (), "drain-timeout",
      20, NULL);

  FAKE (test->sink)->drains = FALSE;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  sink_pipeline_push_eos (test);
  expect_drain_warning (test);
  sink_pipeline_wait_for_eos (test);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "eos-timeouts"), 1);
  sink_pipeline_free_and_expect_log (test, "<a>");
}

GST_END_TEST;

GST_START_TEST (the_end_without_a_receiver_is_an_error_at_once)
{
  SinkPipeline *test =
      sink_pipeline_new (fake_sink_get_type (), "drain-timeout",
      86400000, "wait-for-connection", FALSE, NULL);

  FAKE (test->sink)->silent = TRUE;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  sink_pipeline_push_eos (test);
  wait_for_end_without_receiver (test);
  sink_pipeline_free_and_expect_log (test, "");
}

GST_END_TEST;

GST_START_TEST (flush_and_stop_wake_who_drains)
{
  SinkPipeline *test =
      sink_pipeline_new (fake_sink_get_type (), "drain-timeout",
      86400000, NULL);
  const gchar *log;

  FAKE (test->sink)->drains = FALSE;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  sink_pipeline_push_eos (test);
  /* The stream has ended and the sink is then flushed. At this time the sink
   * may have begun to drain (to wait until the receiver has read all data), or
   * not yet. The test works in both cases. */
  g_usleep (5000);
  sink_pipeline_flush (test);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);

  /* The flush may have come at one of two moments. If the sink was already
   * draining (waiting until the receiver has read all data), it has closed the
   * connection after EOS, and the next stream must begin a new connection. If
   * the sink had not begun to drain, the next stream must continue on the old
   * connection. Both results are correct. */
  sink_pipeline_push_start_events (test);
  push (test, 'b', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  sink_pipeline_push_eos (test);
  sink_pipeline_set_state (test, GST_STATE_NULL);
  log = FAKE (test->sink)->log->str;
  fail_unless (g_str_equal (log, "<a><b>") || g_str_equal (log, "<ab>"),
      "%s", log);
  sink_pipeline_free (test);
}

GST_END_TEST;

GST_START_TEST (pause_while_it_drains_goes_on_afterwards)
{
  SinkPipeline *test =
      sink_pipeline_new (fake_sink_get_type (), "drain-timeout",
      86400000, NULL);

  FAKE (test->sink)->drains = FALSE;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  sink_pipeline_push_eos (test);
  g_usleep (5000);
  sink_pipeline_set_state (test, GST_STATE_PAUSED);
  SET (test, drains, TRUE);
  sink_pipeline_set_state (test, GST_STATE_PLAYING);
  sink_pipeline_wait_for_eos (test);
  sink_pipeline_free_and_expect_log (test, "<a.>");
}

GST_END_TEST;

GST_START_TEST (connection_that_breaks_at_the_end_is_told)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (),
      "auto-reconnect", FALSE,
      NULL);

  FAKE (test->sink)->drain_breaks = TRUE;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  sink_pipeline_push_eos (test);
  check_error (test, GST_RESOURCE_ERROR_WRITE, "reset");
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  sink_pipeline_free_and_expect_log (test, "<a>");
}

GST_END_TEST;

GST_START_TEST (stream_goes_on_after_its_end)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (), NULL);

  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  sink_pipeline_push_eos (test);
  sink_pipeline_wait_for_eos (test);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  sink_pipeline_flush (test);
  sink_pipeline_push_start_events (test);
  push (test, 'b', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  fail_unless_equals_int (test->restarts, 0);
  sink_pipeline_free_and_expect_log (test, "<a.><b>");
}

GST_END_TEST;

/* The sink is waiting until the network accepts a buffer. The test pushes an
 * EOS event, which has to wait behind this buffer. After that, the test sends
 * the event of gst_wireless_event_new_ending (). This event tells the sink that
 * EOS will follow after the waiting data. The event overtakes the waiting data,
 * so the sink handles it at once. From then on, the drain timeout must apply to
 * the waiting buffer: when the timeout has passed, the sink must drop the
 * waiting data and handle EOS. */
GST_START_TEST (eos_behind_a_full_network_comes_in_time)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (),
      "drain-timeout",
      20, NULL);

  FAKE (test->sink)->room = 30;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (taken (test) == 30);
  push (test, 'b', 0, 40);
  sink_pipeline_push_eos (test);
  gst_pad_push_event (test->src, gst_wireless_event_new_ending ());
  sink_pipeline_wait_for_eos (test);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-eos-timeout"), 2);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "eos-timeouts"), 1);
  sink_pipeline_free_and_expect_log (test, "<!");
}

GST_END_TEST;

GST_START_TEST (the_end_without_a_receiver_is_an_error_in_time)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (),
      "drain-timeout",
      20, NULL);

  FAKE (test->sink)->silent = TRUE;
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  sink_pipeline_push_eos (test);
  gst_pad_push_event (test->src, gst_wireless_event_new_ending ());
  wait_for_end_without_receiver (test);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-eos-timeout"), 1);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "eos-timeouts"), 1);
  sink_pipeline_free_and_expect_log (test, "");
}

GST_END_TEST;

/* Ends the pipeline in the same way as `gst-launch-1.0 -e`: the EOS event is
 * sent to the source while the streaming thread of the source waits in the
 * sink. */
static void
check_asked_eos (GType type, gboolean silent)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *source = gst_element_factory_make ("fakesrc", NULL);
  GstElement *sink = g_object_new (type, "sync", FALSE, "drain-timeout",
      20, NULL);
  SinkPipeline test = { pipeline, sink };

  g_object_set (source, "sizetype", 2, "sizemax", 100, NULL);
  gst_bin_add_many (GST_BIN (pipeline), source, sink, NULL);
  fail_unless (gst_element_link (source, sink));
  test.bus = gst_element_get_bus (pipeline);
  FAKE (sink)->silent = silent;
  FAKE (sink)->room = 30;
  sink_pipeline_set_state (&test, GST_STATE_PLAYING);
  WAIT_FOR (sink_pipeline_stat_of (&test, silent ? "time-unconnected"
          : "time-blocked") > 0);
  fail_unless (gst_element_send_event (pipeline, gst_event_new_eos ()));
  if (silent && !GST_NETWORK_SINK_GET_CLASS (sink)->connectionless)
    wait_for_end_without_receiver (&test);
  else
    sink_pipeline_wait_for_eos (&test);
  fail_unless (sink_pipeline_stat_of (&test, "dropped-eos-timeout") > 0);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (&test, "eos-timeouts"), 1);
  sink_pipeline_set_state (&test, GST_STATE_NULL);
  gst_object_unref (test.bus);
  gst_object_unref (pipeline);
}

/* A stream ends while no receiver is connected. Whether this is an error
 * depends on whether the source is live, and on the property auto-reconnect. It
 * does not depend on whether the sink synchronizes to the clock.
 *
 * With auto-reconnect, a live stream may end without an error while the sink
 * still waits for its receiver. Without auto-reconnect, the end of the stream
 * is an error, because the sink has stopped its attempts to connect. */
GST_START_TEST (only_a_live_stream_may_end_without_a_receiver)
{
  const gboolean is_live = (__i__ & 1) != 0, syncs = (__i__ & 2) != 0;
  const gboolean reconnects = (__i__ & 4) != 0;
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *source = gst_element_factory_make ("fakesrc", NULL);
  GstElement *sink = g_object_new (fake_sink_get_type (), "sync", syncs,
      "wait-for-connection", FALSE, "drain-timeout", 20, "auto-reconnect",
      reconnects, NULL);
  SinkPipeline test = { pipeline, sink };

  g_object_set (source, "sizetype", 2, "sizemax", 100, "num-buffers", 3,
      "is-live", is_live, NULL);
  gst_bin_add_many (GST_BIN (pipeline), source, sink, NULL);
  fail_unless (gst_element_link (source, sink));
  test.bus = gst_element_get_bus (pipeline);
  FAKE (sink)->silent = TRUE;
  sink_pipeline_set_state (&test, GST_STATE_PLAYING);
  if (is_live && reconnects)
    sink_pipeline_wait_for_eos (&test);
  else
    wait_for_end_without_receiver (&test);
  sink_pipeline_set_state (&test, GST_STATE_NULL);
  gst_object_unref (test.bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (eos_that_is_asked_for_comes_in_time)
{
  check_asked_eos (__i__ & 1 ? packet_sink_get_type () :
      fake_sink_get_type (), __i__ & 2);
}

GST_END_TEST;

/* The application requests EOS while a receiver is connected. Between this
 * request and the EOS event, the sink still gets a buffer. The drain timeout,
 * which limits the waiting time at the end of the stream, is 0. The buffer must
 * be sent nevertheless. */
GST_START_TEST (eos_that_is_asked_for_drops_nothing_that_flows)
{
  SinkPipeline *test =
      sink_pipeline_new (fake_sink_get_type (), "drain-timeout",
      0, NULL);

  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  fail_unless (gst_element_send_event (test->pipeline, gst_event_new_eos ()));
  push (test, 'b', DELTA, 40);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  sink_pipeline_push_eos (test);
  sink_pipeline_wait_for_eos (test);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "packets-sent"), 2);
  sink_pipeline_free_and_expect_log (test, "<ab>");
}

GST_END_TEST;

GST_START_TEST (flush_takes_back_that_eos_follows)
{
  SinkPipeline *test = sink_pipeline_new (frame_sink_get_type (),
      "drain-timeout",
      0, NULL);

  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  gst_pad_push_event (test->src, gst_wireless_event_new_ending ());
  push (test, 'b', DELTA, 40);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  sink_pipeline_flush (test);
  sink_pipeline_push_start_events (test);
  push (test, 'c', DELTA, 80);
  WAIT_FOR (sink_pipeline_pushed (test) == 3);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test,
          "dropped-eos-timeout"), 1);
  sink_pipeline_free_and_expect_log (test, "<ac>");
}

GST_END_TEST;

/* --- statistics ----------------------------------------------------------- */

GST_START_TEST (statistics_are_posted_at_an_interval)
{
  SinkPipeline *test = sink_pipeline_new (fake_sink_get_type (),
      "stats-update-interval",
      1000, NULL);
  GstTestClock *clock = GST_TEST_CLOCK (gst_test_clock_new ());
  GstMessage *message;
  const GstStructure *stats;

  gst_pipeline_use_clock (GST_PIPELINE (test->pipeline), GST_CLOCK (clock));
  sink_pipeline_play (test);
  push (test, 'a', 0, 0);
  WAIT_FOR (sink_pipeline_pushed (test) == 1);
  gst_test_clock_crank (clock);
  message = gst_bus_timed_pop_filtered (test->bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_ELEMENT);
  stats = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (stats, "application/x-fake-stats"));
  fail_unless (gst_structure_has_field (stats, "fake"));
  fail_unless (gst_structure_has_field (stats, "state"));
  gst_message_unref (message);
  sink_pipeline_free_and_expect_log (test, "<a>");
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
  tcase_add_test (tcase,
      receiver_that_goes_while_the_state_changes_is_an_error);
  tcase_add_test (tcase, receiver_that_goes_wakes_who_waits_for_room);
  tcase_add_test (tcase, next_receiver_begins_with_a_key_frame);
  tcase_add_test (tcase, torn_key_frame_is_dropped);
  tcase_add_test (tcase, torn_frame_is_dropped);
  tcase_add_test (tcase, stream_without_key_frames_goes_on_for_good);
  tcase_add_test (tcase, receiver_that_takes_nothing_is_gone);
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("full");
  tcase_add_test (tcase, waits_while_the_network_is_full);
  tcase_add_loop_test (tcase, live_input_does_not_stall_while_nobody_answers,
      0, 2);
  tcase_add_loop_test (tcase,
      live_input_does_not_stall_while_the_network_is_full, 0, 2);
  tcase_add_loop_test (tcase, live_input_waits_for_less_than_its_limit, 0, 2);
  tcase_add_loop_test (tcase, other_input_waits_as_long_as_it_takes, 0, 2);
  tcase_add_test (tcase, rest_of_a_frame_goes_with_its_part);
  tcase_add_test (tcase, frame_of_a_higher_layer_goes_with_the_one_it_needs);
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
  tcase_add_loop_test (tcase,
      only_a_live_stream_may_end_without_a_receiver, 0, 8);
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
