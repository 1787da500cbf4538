/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the element ifdsink, which sends video frames over TCP, with real
 * sockets. The test itself is the receiver. Whatever the receiver does, these
 * conditions must hold:
 * - The first frame of each connection is an I-frame.
 * - No call waits without a limit.
 * - The bytes of each connection are whole frames, except at the end of a
 *   connection that was reset.
 *
 * ifdsink consists of a queue and of a part that writes to the socket. Most
 * tests use only the part that writes to the socket.
 */

#include <gst/check/gstcheck.h>
#include <gio/gio.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "sinkpipeline.h"
#include "overwritingpool.h"

/* Size of a frame in bytes. If the receiver does not read, the connection holds
 * data in two places: unsent data at the sender, up to a limit, and data in the
 * receive buffer. This size is greater than the sum of the limit and the
 * receive buffer, so the connection cannot hold a whole frame of this size. */
#define HUGE_FRAME (1024 * 1024)
#define SMALL_FRAME 1000
/* Size in bytes of the header in front of each frame. The header contains the
 * type, the number and the size of the frame. */
#define HEADER 8

/* --- the receiver --------------------------------------------------------- */

typedef struct
{
  gint listener;
  guint16 port;
  /* The file descriptor of the current connection, or -1 if there is no
   * connection. */
  gint fd;
  /* The received bytes of the last frame, which is not complete yet. */
  GByteArray *bytes;
  /* The received frames, as a text such as "I0 P1 ": the type and the number of
   * each frame. */
  GString *frames;
  /* The lowest number that the next frame may have, because the frames of a
   * connection must arrive in the order of their numbers. */
  guint next;
} Receiver;

static guint16
bind_to_free_port (gint fd)
{
  struct sockaddr_in address = { AF_INET };
  socklen_t size = sizeof (address);

  address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  fail_unless (bind (fd, (struct sockaddr *) &address, size) == 0);
  fail_unless (getsockname (fd, (struct sockaddr *) &address, &size) == 0);
  return ntohs (address.sin_port);
}

/* Creates a receiver with a small receive buffer, which is soon full. The
 * receiver does not listen yet, but it has bound its port, so that no other
 * program can use this port. */
static void
receiver_init (Receiver * self)
{
  const gint small = 4096;

  self->listener = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  fail_unless (self->listener >= 0);
  setsockopt (self->listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof (small));
  self->port = bind_to_free_port (self->listener);
  self->fd = -1;
  self->bytes = g_byte_array_new ();
  self->frames = g_string_new (NULL);
  self->next = 0;
}

static void
receiver_listen (Receiver * self)
{
  fail_unless (listen (self->listener, 5) == 0);
}

static void
receiver_accept (Receiver * self)
{
  if (self->fd >= 0)
    close (self->fd);
  self->fd = accept (self->listener, NULL, NULL);
  fail_unless (self->fd >= 0, "accept: %s", g_strerror (errno));
  g_byte_array_set_size (self->bytes, 0);
  g_string_truncate (self->frames, 0);
  self->next = 0;
}

static void
receiver_close (Receiver * self)
{
  close (self->fd);
  self->fd = -1;
}

static void
receiver_reset (Receiver * self)
{
  const struct linger at_once = { 1, 0 };

  setsockopt (self->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof (at_once));
  receiver_close (self);
}

static void
receiver_clear (Receiver * self)
{
  if (self->fd >= 0)
    close (self->fd);
  if (self->listener >= 0)
    close (self->listener);
  g_byte_array_unref (self->bytes);
  g_string_free (self->frames, TRUE);
}

/* Removes all whole frames from the received bytes. Checks these conditions for
 * each frame:
 * - The bytes of the frame are those that were pushed.
 * - The number of the frame is higher than that of the previous frame.
 *   Otherwise the frame is a duplicate, or has arrived after a later frame.
 * - The first frame of a connection is an I-frame. */
static void
receiver_parse (Receiver * self)
{
  guint size, i;

  while (self->bytes->len >= HEADER) {
    const guint8 *data = self->bytes->data;

    size = GST_READ_UINT32_BE (data + 4);
    fail_unless (data[0] == 'I' || data[0] == 'P' || data[0] == 'B',
        "no frame begins behind \"%s\"", self->frames->str);
    fail_unless (size >= HEADER && size <= HUGE_FRAME);
    if (self->bytes->len < size)
      return;
    for (i = HEADER; i < size && data[i] == (guint8) (data[3] + i); i++);
    fail_unless_equals_int (i, size);
    fail_unless (GST_READ_UINT24_BE (data + 1) >= self->next);
    self->next = GST_READ_UINT24_BE (data + 1) + 1;
    g_string_append_printf (self->frames, "%c%u ", data[0], self->next - 1);
    fail_unless (self->frames->str[0] == 'I', "a connection begins with %s",
        self->frames->str);
    g_byte_array_remove_range (self->bytes, 0, size);
  }
}

/* Reads up to `size` bytes from the connection. Returns the number of bytes
 * that were read. Returns 0 if the sender has closed the connection, and -1 if
 * the sender has reset it. */
static gssize
receiver_read (Receiver * self, gsize size)
{
  guint8 data[65536];
  gssize got;

  do {
    got = read (self->fd, data, MIN (size, sizeof (data)));
  } while (got < 0 && errno == EINTR);
  if (got <= 0)
    return got;
  g_byte_array_append (self->bytes, data, got);
  receiver_parse (self);
  return got;
}

static void
receiver_read_bytes (Receiver * self, gsize size)
{
  gssize got;

  for (; size > 0; size -= got) {
    got = receiver_read (self, size);
    fail_unless (got > 0, "the connection ended: %s", g_strerror (errno));
  }
}

static void
receiver_read_until (Receiver * self, const gchar * frames)
{
  while (!g_str_equal (self->frames->str, frames)) {
    fail_unless (g_str_has_prefix (frames, self->frames->str), "got %s",
        self->frames->str);
    fail_unless (receiver_read (self, G_MAXSIZE) > 0, "ended behind %s",
        self->frames->str);
  }
}

/* Reads until the connection ends. Returns TRUE if the sender closed the
 * connection, and FALSE if the sender reset it. The test fails if the sender
 * closed the connection in the middle of a frame. */
static gboolean
receiver_read_to_end (Receiver * self)
{
  gssize got;

  while ((got = receiver_read (self, G_MAXSIZE)) > 0);
  if (got < 0)
    return FALSE;
  fail_unless_equals_int (self->bytes->len, 0);
  return TRUE;
}

/* --- the sender ----------------------------------------------------------- */

static GType
writer_type (void)
{
  GstElement *sink = gst_element_factory_make ("ifdsink", NULL);
  GstElement *writer = gst_bin_get_by_name (GST_BIN (sink), "writer");
  GType type = G_OBJECT_TYPE (writer);

  gst_object_unref (writer);
  gst_object_unref (sink);
  return type;
}

static SinkPipeline *
writer_new (const Receiver * receiver)
{
  return sink_pipeline_new (writer_type (), "host", "127.0.0.1", "port",
      (gint) receiver->port, NULL);
}

static GstBuffer *
make_frame (gchar type, guint number, guint size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  GstMapInfo map;
  guint i;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  map.data[0] = type;
  GST_WRITE_UINT24_BE (map.data + 1, number);
  GST_WRITE_UINT32_BE (map.data + 4, size);
  for (i = HEADER; i < size; i++)
    map.data[i] = map.data[3] + i;
  gst_buffer_unmap (buffer, &map);
  if (type != 'I')
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  if (type == 'B')
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DROPPABLE);
  return buffer;
}

static void
push_frame (SinkPipeline * test, gchar type, guint number, guint size)
{
  g_async_queue_push (test->queue, make_frame (type, number, size));
}

/* Pushes a frame as a buffer with several memories. Parsers output such
 * buffers. */
static void
push_divided_frame (SinkPipeline * test, gchar type, guint number, guint size)
{
  GstBuffer *whole = make_frame (type, number, size);
  GstBuffer *divided = gst_buffer_new ();
  guint i;

  for (i = 0; i < 7; i++)
    gst_buffer_copy_into (divided, whole, GST_BUFFER_COPY_MEMORY
        | (i == 0 ? GST_BUFFER_COPY_FLAGS : 0), size * i / 7,
        size * (i + 1) / 7 - size * i / 7);
  gst_buffer_unref (whole);
  g_async_queue_push (test->queue, divided);
}

static void
check_error (SinkPipeline * test, const Receiver * receiver, gint code,
    const gchar * words)
{
  GError *error = sink_pipeline_take_error (test);
  gchar *peer = g_strdup_printf ("127.0.0.1:%u", receiver->port);

  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, code), "%d: %s",
      error->code, error->message);
  fail_unless (strstr (error->message, peer) != NULL, "%s", error->message);
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
  g_error_free (error);
  g_free (peer);
}

static void
wait_until_blocked (SinkPipeline * test)
{
  WAIT_FOR (sink_pipeline_stat_of (test, "time-blocked") > 0);
}

/* Waits until the pipeline is in the state PLAYING. A test causes an error only
 * after this wait, because an error during the start would leave the pipeline
 * in PAUSED. */
static void
wait_until_playing (SinkPipeline * test)
{
  WAIT_FOR (GST_STATE (test->pipeline) == GST_STATE_PLAYING);
}

/* --- no connection -------------------------------------------------------- */

GST_START_TEST (refusing_receiver_is_an_error)
{
  Receiver receiver;
  SinkPipeline *test;

  receiver_init (&receiver);
  test = writer_new (&receiver);
  g_object_set (test->sink, "auto-reconnect", FALSE, NULL);
  sink_pipeline_play (test);
  push_frame (test, 'I', 0, SMALL_FRAME);
  check_error (test, &receiver, GST_RESOURCE_ERROR_OPEN_WRITE, "refused");
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "failures-refused"),
      1);
  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (refusing_receiver_is_asked_again)
{
  Receiver receiver;
  SinkPipeline *test;

  receiver_init (&receiver);
  test = sink_pipeline_play (writer_new (&receiver));
  push_frame (test, 'I', 0, SMALL_FRAME);
  WAIT_FOR (sink_pipeline_stat_of (test, "failures-refused") > 0);
  receiver_listen (&receiver);
  receiver_accept (&receiver);
  receiver_read_until (&receiver, "I0 ");
  sink_pipeline_free (test);
  fail_unless (receiver_read_to_end (&receiver));
  receiver_clear (&receiver);
}

GST_END_TEST;

/* The domain .invalid contains no names (RFC 6761, section 6.4). The sink must
 * report that it cannot resolve a name in this domain. */
GST_START_TEST (unknown_name_is_an_error)
{
  SinkPipeline *test = sink_pipeline_new (writer_type (), "host",
      "no-such-host.invalid",
      "auto-reconnect", FALSE, NULL);
  GError *error;

  sink_pipeline_play (test);
  push_frame (test, 'I', 0, SMALL_FRAME);
  error = sink_pipeline_take_error (test);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_NOT_FOUND), "%s", error->message);
  fail_unless (strstr (error->message, "no-such-host.invalid:4953") != NULL,
      "%s", error->message);
  g_error_free (error);
  sink_pipeline_free (test);
}

GST_END_TEST;

GST_START_TEST (port_in_the_host_is_an_error)
{
  SinkPipeline *test = sink_pipeline_new (writer_type (), "host",
      "tv.example.org:443", NULL);
  GError *error;

  sink_pipeline_play (test);
  push_frame (test, 'I', 0, SMALL_FRAME);
  error = sink_pipeline_take_error (test);
  fail_unless (g_str_has_suffix (error->message, "the host "
          "\"tv.example.org:443\" contains a port. Set host=tv.example.org "
          "and port=443."), "%s", error->message);
  g_error_free (error);
  sink_pipeline_free (test);
}

GST_END_TEST;

GST_START_TEST (unknown_name_is_asked_for_again)
{
  SinkPipeline *test = sink_pipeline_new (writer_type (), "host",
      "no-such-host.invalid",
      NULL);

  sink_pipeline_play (test);
  push_frame (test, 'I', 0, SMALL_FRAME);
  WAIT_FOR (sink_pipeline_stat_of (test, "failures-not-found") > 0);
  sink_pipeline_free (test);
}

GST_END_TEST;

#ifdef __linux__
/* Opens `n` connections, which fill the connection queue of the listening
 * socket. Linux then answers no further connection request. A sink that
 * connects afterwards therefore gets no answer, and waits. */
static void
receiver_fill_queue (Receiver * self, gint * fds, guint n)
{
  struct sockaddr_in address = { AF_INET, htons (self->port) };
  guint i;

  address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  fail_unless (listen (self->listener, 0) == 0);
  for (i = 0; i < n; i++) {
    fds[i] = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connect (fds[i], (struct sockaddr *) &address, sizeof (address)) != 0)
      fail_unless_equals_int (errno, EINPROGRESS);
  }
}

GST_START_TEST (receiver_that_does_not_answer)
{
  gboolean again = __i__;
  Receiver receiver;
  SinkPipeline *test;
  gint fds[4];
  guint i;

  receiver_init (&receiver);
  receiver_fill_queue (&receiver, fds, G_N_ELEMENTS (fds));
  test = writer_new (&receiver);
  g_object_set (test->sink, "auto-reconnect", again, "peer-timeout", 50, NULL);
  sink_pipeline_play (test);
  push_frame (test, 'I', 0, SMALL_FRAME);
  if (again)
    WAIT_FOR (sink_pipeline_stat_of (test, "failures-timeout") > 1);
  else
    check_error (test, &receiver, GST_RESOURCE_ERROR_OPEN_WRITE,
        "no answer for 0.05 s");
  sink_pipeline_free (test);

  /* The receiver does not answer the connection request of the sink. The
   * property peer-timeout is 0, so the sink waits for the answer without a
   * limit. Stopping the sink must end this wait. */
  test = writer_new (&receiver);
  g_object_set (test->sink, "peer-timeout", 0, NULL);
  sink_pipeline_play (test);
  push_frame (test, 'I', 0, SMALL_FRAME);
  WAIT_FOR (sink_pipeline_stat_of (test, "connect-attempts") > 0);
  sink_pipeline_free (test);
  for (i = 0; i < G_N_ELEMENTS (fds); i++)
    close (fds[i]);
  receiver_clear (&receiver);
}

GST_END_TEST;
#endif

/* --- connections that break ----------------------------------------------- */

typedef enum
{
  END_CLOSE_AT_ONCE,
  /* The receiver closes the connection exactly after the last byte of a frame.
   */
  END_CLOSE,
  END_CLOSE_IN_FRAME,
  END_RESET,
  END_RESET_IN_FRAME,
  /* The receiver closes only its sending direction, and could still receive.
   * The sink must treat this as the end of the connection. */
  END_HALF_CLOSE,
  END_HALF_CLOSE_IN_FRAME,
  /* The receiver stops reading, but does not close the connection. */
  END_STALL,
  END_LAST
} End;

/* Plays a pipeline that sends to `receiver`. When the sink is in PLAYING, the
 * receiver ends the connection or stops reading. `end` says which of these it
 * does. `again` is the value of the sink's property auto-reconnect. Returns the
 * pipeline.
 *
 * If `end` is END_STALL or its name ends with _IN_FRAME, the receiver waits
 * until the sink's function render is blocked in the middle of a frame. Only
 * then does the receiver end the connection or stop reading. */
static SinkPipeline *
play_until_end (Receiver * receiver, End end, gboolean again)
{
  gboolean in_frame = end == END_CLOSE_IN_FRAME || end == END_RESET_IN_FRAME
      || end == END_HALF_CLOSE_IN_FRAME || end == END_STALL;
  SinkPipeline *test;

  receiver_init (receiver);
  receiver_listen (receiver);
  test = writer_new (receiver);
  g_object_set (test->sink, "auto-reconnect", again, NULL);
  if (end == END_STALL)
    g_object_set (test->sink, "peer-timeout", 50, NULL);
  sink_pipeline_play (test);
  receiver_accept (receiver);
  if (end != END_CLOSE_AT_ONCE)
    push_frame (test, 'I', 0, SMALL_FRAME);
  if (in_frame)
    push_frame (test, 'P', 1, HUGE_FRAME);
  else
    push_frame (test, 'I', 1, SMALL_FRAME);
  wait_until_playing (test);
  if (end != END_CLOSE_AT_ONCE)
    receiver_read_until (receiver, in_frame ? "I0 " : "I0 I1 ");
  if (in_frame)
    wait_until_blocked (test);

  switch (end) {
    case END_HALF_CLOSE:
    case END_HALF_CLOSE_IN_FRAME:
      fail_unless (shutdown (receiver->fd, SHUT_WR) == 0);
      break;
    case END_RESET:
    case END_RESET_IN_FRAME:
      receiver_reset (receiver);
      break;
    case END_STALL:
      break;
    default:
      receiver_close (receiver);
      break;
  }
  return test;
}

GST_START_TEST (broken_connection_is_an_error)
{
  static const gchar *const words[END_LAST] = {
    "127.0.0.1", "closed", "127.0.0.1", "reset", "127.0.0.1", "closed",
    "closed", "took nothing for 0.05 s"
  };
  Receiver receiver;
  SinkPipeline *test = play_until_end (&receiver, __i__, FALSE);

  check_error (test, &receiver, GST_RESOURCE_ERROR_WRITE, words[__i__]);
  push_frame (test, 'I', 2, SMALL_FRAME);
  WAIT_FOR (g_atomic_int_get (&test->flow) == GST_FLOW_ERROR);
  if (__i__ == END_HALF_CLOSE_IN_FRAME)
    fail_if (receiver_read_to_end (&receiver));
  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (next_connection_begins_with_an_i_frame)
{
  Receiver receiver;
  SinkPipeline *test = play_until_end (&receiver, __i__, TRUE);

  receiver_accept (&receiver);
  push_frame (test, 'B', 2, SMALL_FRAME);
  push_frame (test, 'I', 3, SMALL_FRAME);
  push_divided_frame (test, 'P', 4, SMALL_FRAME);
  /* Frames that were in flight at the end of the first connection may arrive
   * again on the second connection, before the I-frame 3. The test accepts
   * these frames. */
  while (!g_str_has_suffix (receiver.frames->str, "I3 P4 "))
    fail_unless (receiver_read (&receiver, G_MAXSIZE) > 0);
  fail_unless (sink_pipeline_stat_of (test, "connections") >= 2);
  fail_unless (test->restarts > 0 || __i__ == END_CLOSE_AT_ONCE);
  sink_pipeline_free (test);
  fail_unless (receiver_read_to_end (&receiver));
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (stop_in_each_situation)
{
  Receiver receiver;
  SinkPipeline *test = play_until_end (&receiver, __i__ / 2, __i__ % 2);

  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (torn_i_frame_is_not_sent_again)
{
  Receiver receiver;
  SinkPipeline *test;

  receiver_init (&receiver);
  receiver_listen (&receiver);
  test = sink_pipeline_play (writer_new (&receiver));
  push_frame (test, 'I', 0, HUGE_FRAME);
  push_frame (test, 'P', 1, SMALL_FRAME);
  receiver_accept (&receiver);
  receiver_read_bytes (&receiver, 100000);
  receiver_accept (&receiver);  /* the next one */
  push_frame (test, 'I', 2, SMALL_FRAME);
  receiver_read_until (&receiver, "I2 ");
  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (data_from_the_receiver_is_ignored)
{
  gchar data[10000] = { 0 };
  Receiver receiver;
  SinkPipeline *test;

  receiver_init (&receiver);
  receiver_listen (&receiver);
  test = sink_pipeline_play (writer_new (&receiver));
  receiver_accept (&receiver);
  fail_unless_equals_int (write (receiver.fd, data, sizeof (data)),
      sizeof (data));
  WAIT_FOR (sink_pipeline_stat_of (test, "bytes-ignored") == sizeof (data));
  push_frame (test, 'I', 0, SMALL_FRAME);
  receiver_read_until (&receiver, "I0 ");
  sink_pipeline_free (test);
  fail_unless (receiver_read_to_end (&receiver));
  receiver_clear (&receiver);
}

GST_END_TEST;

/* --- a receiver that stalls ----------------------------------------------- */

static SinkPipeline *
play_until_blocked (Receiver * receiver)
{
  SinkPipeline *test;

  receiver_init (receiver);
  receiver_listen (receiver);
  test = sink_pipeline_play (writer_new (receiver));
  push_frame (test, 'I', 0, SMALL_FRAME);
  push_divided_frame (test, 'P', 1, HUGE_FRAME);
  receiver_accept (receiver);
  wait_until_playing (test);
  wait_until_blocked (test);
  return test;
}

GST_START_TEST (stall_loses_nothing)
{
  Receiver receiver;
  SinkPipeline *test = play_until_blocked (&receiver);

  push_frame (test, 'B', 2, SMALL_FRAME);
  receiver_read_until (&receiver, "I0 P1 B2 ");
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "connections"), 1);
  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;

/* The frames are in buffers of a pool, and the test overwrites each buffer when
 * the sink has returned it to the pool. The receiver checks that each byte of a
 * frame is nevertheless the one that was pushed. The sink must therefore not
 * return a buffer whose data it still needs. */
GST_START_TEST (pools_may_have_their_buffers_back)
{
  GstBufferPool *pool = pooled_new (HUGE_FRAME);
  Receiver receiver;
  SinkPipeline *test = play_until_blocked (&receiver);
  GstBuffer *frame;
  guint i;

  for (i = 2; i < 6; i++) {
    frame = make_frame ('P', i, i == 3 ? HUGE_FRAME : SMALL_FRAME);
    g_async_queue_push (test->queue, pooled_copy (pool, frame));
    gst_buffer_unref (frame);
    pooled_overwrite (pool);
  }
  receiver_read_until (&receiver, "I0 P1 P2 ");
  pooled_overwrite (pool);
  receiver_read_until (&receiver, "I0 P1 P2 P3 P4 P5 ");
  sink_pipeline_free (test);
  pooled_free (pool);
  receiver_clear (&receiver);
}

GST_END_TEST;

#ifdef __linux__
GST_START_TEST (next_to_nothing_waits_unsent)
{
  Receiver receiver;
  SinkPipeline *test = play_until_blocked (&receiver);
  guint lowat;

  g_object_get (test->sink, "notsent-lowat", &lowat, NULL);
  fail_unless_equals_int (lowat, 16384);
  fail_unless (sink_pipeline_stat_of (test, "unsent-bytes") <= lowat);
  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;
#endif

/* The receiver reads nothing, so the sink can send no more data. The bitrate
 * that the sink estimates for the network must therefore fall to 1000 bit/s or
 * less. Reads the estimate until it has fallen. */
static void
wait_for_low_estimate (SinkPipeline * test)
{
  gint64 deadline = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;
  guint rate = 0;

  while (rate == 0 || rate > 1000) {
    fail_unless (g_get_monotonic_time () < deadline, "%u bit/s", rate);
    g_object_get (test->sink, "estimated-bitrate", &rate, NULL);
    g_usleep (1000);
  }
}

GST_START_TEST (estimate_of_a_stalled_connection_falls)
{
  Receiver receiver;
  SinkPipeline *test = play_until_blocked (&receiver);

  wait_for_low_estimate (test);
  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;

static void
count_notification (GObject * object, GParamSpec * property, gpointer n)
{
  g_atomic_int_inc ((gint *) n);
}

/* The application reads the estimate so often that each sample is taken for the
 * application. The sink must nevertheless notify the change, when it begins the
 * next frame. */
GST_START_TEST (change_that_was_read_is_notified)
{
  Receiver receiver;
  SinkPipeline *test = play_until_blocked (&receiver);
  gint n = 0;

  g_signal_connect (test->sink, "notify::estimated-bitrate",
      G_CALLBACK (count_notification), &n);
  wait_for_low_estimate (test);
  fail_unless_equals_int (g_atomic_int_get (&n), 0);
  push_frame (test, 'P', 2, SMALL_FRAME);
  receiver_read_until (&receiver, "I0 P1 P2 ");
  fail_unless (g_atomic_int_get (&n) > 0);
  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (flush_in_a_frame_leaves_whole_frames)
{
  Receiver receiver;
  SinkPipeline *test = play_until_blocked (&receiver);

  sink_pipeline_flush (test);
  WAIT_FOR (sink_pipeline_pushed (test) == 2);
  fail_unless_equals_int (test->flow, GST_FLOW_FLUSHING);
  sink_pipeline_push_start_events (test);
  push_frame (test, 'I', 2, SMALL_FRAME);
  receiver_read_until (&receiver, "I0 P1 I2 ");
  sink_pipeline_free (test);
  fail_unless (receiver_read_to_end (&receiver));
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (many_flushes_leave_whole_frames)
{
  Receiver receiver;
  SinkPipeline *test = play_until_blocked (&receiver);
  guint i;

  for (i = 2; i < 30; i++) {
    sink_pipeline_flush (test);
    sink_pipeline_push_start_events (test);
    push_frame (test, 'I', i, 100000 + i);
    receiver_read_bytes (&receiver, 50000);
  }
  while (!g_str_has_suffix (receiver.frames->str, "I29 "))
    fail_unless (receiver_read (&receiver, G_MAXSIZE) > 0);
  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (pause_in_a_frame_goes_on)
{
  Receiver receiver;
  SinkPipeline *test = play_until_blocked (&receiver);

  sink_pipeline_set_state (test, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (test->pipeline, NULL, NULL,
          GST_CLOCK_TIME_NONE), GST_STATE_CHANGE_SUCCESS);
  sink_pipeline_set_state (test, GST_STATE_PLAYING);
  receiver_read_until (&receiver, "I0 P1 ");
  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (stop_in_a_frame_resets)
{
  Receiver receiver;
  SinkPipeline *test = play_until_blocked (&receiver);

  sink_pipeline_free (test);
  fail_if (receiver_read_to_end (&receiver));
  receiver_clear (&receiver);
}

GST_END_TEST;

static gpointer
read_slowly (gpointer data)
{
  gssize got;

  while ((got = receiver_read (data, 512)) > 0)
    g_usleep (1000);
  return GINT_TO_POINTER (got == 0);
}

GST_START_TEST (not_blocking_drops_frames_and_tears_none)
{
  const gint little = 16384;
  Receiver receiver;
  SinkPipeline *test;
  GThread *reader;
  gint i = 0;

  receiver_init (&receiver);
  setsockopt (receiver.listener, SOL_SOCKET, SO_RCVBUF, &little,
      sizeof (little));
  receiver_listen (&receiver);
  test = writer_new (&receiver);
  g_object_set (test->sink, "blocking", FALSE, NULL);
  sink_pipeline_play (test);
  receiver_accept (&receiver);
  /* The receiver reads slowly, so the socket may accept only the first part of
   * a frame. The property blocking is FALSE, so the sink may drop whole frames.
   * However, it must not drop the rest of a frame whose first part was sent.
   * Instead, the function render must wait until the rest is sent. */
  reader = g_thread_new ("reader", read_slowly, &receiver);
  do {
    push_frame (test, 'I', i++, SMALL_FRAME);
    WAIT_FOR (sink_pipeline_pushed (test) == i);
  } while (sink_pipeline_stat_of (test, "dropped-full") == 0);
  fail_unless_equals_int (test->flow, GST_FLOW_OK);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "packets-sent")
      + sink_pipeline_stat_of (test, "dropped-full"), i);
  sink_pipeline_free (test);
  fail_unless (g_thread_join (reader) != NULL);
  fail_unless_equals_int (receiver.bytes->len, 0);
  receiver_clear (&receiver);
}

GST_END_TEST;

/* --- random frames, receivers and interruptions --------------------------- */

#define MAX_RANDOM_MEMORIES 20
#define MAX_RANDOM_SIZE 60000

/* Divides a frame into up to MAX_RANDOM_MEMORIES memories. Some of them are
 * empty. If there are more memories than a buffer can hold, GStreamer merges
 * some of them. */
static GstBuffer *
divide_at_random (GRand * rand, GstBuffer * whole)
{
  const gsize size = gst_buffer_get_size (whole);
  const guint n = g_rand_int_range (rand, 1, MAX_RANDOM_MEMORIES + 1);
  GstBuffer *divided = gst_buffer_new ();
  gsize begin, end = 0;
  guint i;

  gst_buffer_copy_into (divided, whole, GST_BUFFER_COPY_FLAGS, 0, -1);
  for (i = 0; i < n; i++) {
    begin = end;
    if (i == n - 1)
      end = size;
    else if (g_rand_boolean (rand))
      end += g_rand_int_range (rand, 0, MIN (size - begin, 10) + 1);
    else if (g_rand_boolean (rand))
      end += g_rand_int_range (rand, 0, size - begin + 1);
    if (end > begin)
      gst_buffer_copy_into (divided, whole, GST_BUFFER_COPY_MEMORY, begin,
          end - begin);
    else
      gst_buffer_append_memory (divided, gst_allocator_alloc (NULL, 0, NULL));
  }
  gst_buffer_unref (whole);
  fail_unless_equals_uint64 (gst_buffer_get_size (divided), size);
  return divided;
}

static GstBuffer *
make_random_frame (GRand * rand, gboolean is_key, guint number, gint max_size)
{
  const gchar type = is_key ? 'I' : g_rand_boolean (rand) ? 'B' : 'P';
  const gint max = g_rand_boolean (rand) ? max_size : 100;

  return divide_at_random (rand, make_frame (type, number,
          g_rand_int_range (rand, HEADER, max)));
}

typedef struct
{
  Receiver receiver;
  GRand *rand;
  /* number of further connections that the receiver will break on purpose */
  guint breaks;
  guint n_frames;               /* of all connections */
  gint is_over;                 /* The sink has stopped. */
} RandomReceiver;

static void
count_frames (RandomReceiver * self)
{
  const gchar *text = self->receiver.frames->str;

  for (; *text; text++)
    self->n_frames += *text == ' ';
}

/* Waits until the sink connects, and accepts the connection. Returns FALSE if
 * the sink has stopped and has left no connection to accept. */
static gboolean
await_connection (RandomReceiver * self)
{
  GPollFD fd = { self->receiver.listener, G_IO_IN, 0 };

  while (g_poll (&fd, 1, 1) == 0) {
    if (g_atomic_int_get (&self->is_over))
      return FALSE;
  }
  receiver_accept (&self->receiver);
  return TRUE;
}

/* The thread of the receiver. It reads pieces of random sizes with random
 * pauses, and breaks some connections at a random place. If the sink closes a
 * connection, the data received over this connection must end with a whole
 * frame. */
static gpointer
receive_at_random (gpointer data)
{
  RandomReceiver *self = data;
  gssize left, got;

  while (await_connection (self)) {
    left = g_rand_int_range (self->rand, 0, 4 * MAX_RANDOM_SIZE);
    do {
      got = receiver_read (&self->receiver, g_rand_boolean (self->rand) ?
          g_rand_int_range (self->rand, 1, 10) : 4096);
      left -= got;
      if (g_rand_int_range (self->rand, 0, 8) == 0)
        g_usleep (g_rand_int_range (self->rand, 0, 1000));
    } while (got > 0 && (left > 0 || self->breaks == 0));
    if (got == 0)
      fail_unless_equals_int (self->receiver.bytes->len, 0);
    count_frames (self);
    self->breaks -= self->breaks > 0;
    if (g_rand_boolean (self->rand))
      receiver_reset (&self->receiver);
    else
      receiver_close (&self->receiver);
  }
  return NULL;
}

/* The receiver breaks some connections at a random place. On each connection,
 * it must get whole frames in the order in which they were pushed. Only the
 * last frame before a break may be incomplete. The function receiver_parse
 * checks the frames. */
GST_START_TEST (random_frames_arrive_whole)
{
  static const guint lowats[] = { 1, 100, 16384, 0 };
  RandomReceiver random = { {0}
  };
  GRand *rand = g_rand_new_with_seed (__i__);
  SinkPipeline *test;
  GThread *thread;
  guint i, sent, pause_at = g_rand_int_range (rand, 0, 60);
  /* The lowest value of the property notsent-lowat is 1. With this value, the
   * sink writes single bytes to the socket, which takes long. The frames are
   * therefore small in this case. */
  const gint max_size = lowats[__i__ % 4] == 1 ? 2000 : MAX_RANDOM_SIZE;
  gboolean is_key;

  receiver_init (&random.receiver);
  receiver_listen (&random.receiver);
  random.rand = g_rand_new_with_seed (1000 + __i__);
  random.breaks = __i__ % 4;
  test = writer_new (&random.receiver);
  g_object_set (test->sink, "notsent-lowat", lowats[__i__ % 4], "blocking",
      __i__ % 3 > 0, "buffer-size", __i__ % 2 ? 1 : 0, "drain-timeout", 100000,
      NULL);
  sink_pipeline_play (test);
  thread = g_thread_new ("receiver", receive_at_random, &random);
  for (i = 0, is_key = TRUE; i < 60; i++) {
    g_async_queue_push (test->queue, make_random_frame (rand, is_key, i,
            max_size));
    /* Waits until the streaming thread has taken the frame from the test's
     * queue. The sink may still be sending the frame when the test flushes or
     * pauses the pipeline. */
    WAIT_FOR (g_async_queue_length (test->queue) <= 0);
    /* The test flushes the pipeline only if the next frame is a key frame. As
     * with a real source, the first frame after a flush is therefore a key
     * frame. */
    is_key = g_rand_int_range (rand, 0, 8) == 0;
    if (is_key) {
      /* GStreamer 1.22 may lose a state change to PLAYING if a flush interrupts
       * it. The pipeline would then stay in PAUSED. The test therefore waits
       * for PLAYING before it flushes. */
      wait_until_playing (test);
      sink_pipeline_flush (test);
      sink_pipeline_push_start_events (test);
    }
    is_key |= i % 8 == 7;
    if (i == pause_at) {
      wait_until_playing (test);
      sink_pipeline_set_state (test, GST_STATE_PAUSED);
      sink_pipeline_set_state (test, GST_STATE_PLAYING);
    }
  }
  sink_pipeline_push_eos (test);
  sink_pipeline_wait_for_eos (test);
  sent = sink_pipeline_stat_of (test, "packets-sent");
  sink_pipeline_free (test);
  g_atomic_int_set (&random.is_over, TRUE);
  g_thread_join (thread);
  fail_unless (random.n_frames > 0 && random.n_frames <= sent);
  if (__i__ % 4 == 0)
    fail_unless_equals_int (random.n_frames, sent);
  g_rand_free (random.rand);
  g_rand_free (rand);
  receiver_clear (&random.receiver);
}

GST_END_TEST;

/* --- the end of the stream ------------------------------------------------ */

GST_START_TEST (eos_waits_until_the_receiver_has_all)
{
  Receiver receiver;
  SinkPipeline *test = play_until_blocked (&receiver);

  g_object_set (test->sink, "drain-timeout", 100000, NULL);
  sink_pipeline_push_eos (test);
  fail_unless (receiver_read_to_end (&receiver));
  fail_unless_equals_string (receiver.frames->str, "I0 P1 ");
  sink_pipeline_wait_for_eos (test);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "eos-timeouts"), 0);
  sink_pipeline_free (test);
  receiver_clear (&receiver);
}

GST_END_TEST;

GST_START_TEST (eos_does_not_wait_for_ever)
{
  Receiver receiver;
  SinkPipeline *test;

  receiver_init (&receiver);
  receiver_listen (&receiver);
  test = writer_new (&receiver);
  /* The frame has 20000 bytes, which do not fit into the receive buffer of 4096
   * bytes. The sink's function render nevertheless returns before the whole
   * frame is transmitted, because the kernel stores the rest. At EOS, the sink
   * waits until the rest is transmitted, but not longer than `drain-timeout`.
   */
  g_object_set (test->sink, "drain-timeout", 20, NULL);
  g_object_set (test->sink, "notsent-lowat", 0, NULL);
  sink_pipeline_play (test);
  push_frame (test, 'I', 0, 20000);
  sink_pipeline_push_eos (test);
  sink_pipeline_wait_for_eos (test);
  fail_unless_equals_uint64 (sink_pipeline_stat_of (test, "eos-timeouts"), 1);
  sink_pipeline_free (test);
  /* The sink was stopped before the whole frame was transmitted. The kernel
   * still has the rest of the frame and must transmit it. */
  receiver_accept (&receiver);
  fail_unless (receiver_read_to_end (&receiver));
  fail_unless_equals_string (receiver.frames->str, "I0 ");
  receiver_clear (&receiver);
}

GST_END_TEST;

/* --- the bin -------------------------------------------------------------- */

GST_START_TEST (properties_reach_the_parts)
{
  GstElement *sink = gst_element_factory_make ("ifdsink", NULL);
  GstElement *queue = gst_bin_get_by_name (GST_BIN (sink), "ifdqueue");
  GstElement *writer = gst_bin_get_by_name (GST_BIN (sink), "writer");
  guint max_frames;
  gboolean sync;
  gchar *host;

  g_object_set (sink, "host", "example.org", "max-frames", 7, NULL);
  g_object_get (writer, "host", &host, "sync", &sync, NULL);
  fail_unless_equals_string (host, "example.org");
  fail_if (sync);
  g_free (host);
  g_object_get (queue, "max-frames", &max_frames, "sync", &sync, NULL);
  fail_unless_equals_int (max_frames, 7);
  fail_unless (sync);
  g_object_get (sink, "max-frames", &max_frames, "host", &host, NULL);
  fail_unless_equals_int (max_frames, 7);
  fail_unless_equals_string (host, "example.org");
  g_free (host);

  fail_unless (GST_OBJECT_FLAG_IS_SET (sink, GST_ELEMENT_FLAG_SINK));
  gst_object_unref (queue);
  gst_object_unref (writer);
  gst_object_unref (sink);
}

GST_END_TEST;

GST_START_TEST (statistics_are_those_of_both_parts)
{
  GstElement *sink = gst_element_factory_make ("ifdsink", NULL);
  GstStructure *stats;

  g_object_get (sink, "stats", &stats, NULL);
  fail_unless (gst_structure_has_name (stats, "application/x-ifdsink-stats"));
  fail_unless (gst_structure_has_field_typed (stats, "frames-in-i",
          G_TYPE_UINT64));
  fail_unless (gst_structure_has_field_typed (stats, "bytes-sent",
          G_TYPE_UINT64));
  fail_unless (gst_structure_has_field_typed (stats, "network-bytes-sent",
          G_TYPE_UINT64));
  fail_unless (gst_structure_has_field_typed (stats, "network-state",
          G_TYPE_STRING));
  gst_structure_free (stats);
  gst_object_unref (sink);
}

GST_END_TEST;

/* The element ifdqueue needs whole frames, so it must be upstream of any
 * payloader. ifdsink contains an ifdqueue. If there is a payloader upstream of
 * ifdsink, the error message must therefore recommend to remove the payloader.
 */
GST_START_TEST (rtp_is_refused_with_its_own_advice)
{
  GstElement *pipeline = gst_parse_launch ("fakesrc num-buffers=1 ! "
      "application/x-rtp,encoding-name=H264 ! ifdsink name=sink", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *error;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless_equals_string (error->message, "sink takes whole frames, not "
      "RTP packets: remove the payloader, rtph264pay.");
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static Suite *
ifdsink_suite (void)
{
  Suite *suite = suite_create ("ifdsink");
  TCase *tcase;

  tcase = tcase_create ("connecting");
  tcase_add_test (tcase, refusing_receiver_is_an_error);
  tcase_add_test (tcase, refusing_receiver_is_asked_again);
  tcase_add_test (tcase, unknown_name_is_an_error);
  tcase_add_test (tcase, port_in_the_host_is_an_error);
  tcase_add_test (tcase, unknown_name_is_asked_for_again);
#ifdef __linux__
  tcase_add_loop_test (tcase, receiver_that_does_not_answer, 0, 2);
#endif
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("breaking");
  tcase_add_loop_test (tcase, broken_connection_is_an_error, 0, END_LAST);
  tcase_add_loop_test (tcase, next_connection_begins_with_an_i_frame, 0,
      END_LAST);
  tcase_add_loop_test (tcase, stop_in_each_situation, 0, 2 * END_LAST);
  tcase_add_test (tcase, torn_i_frame_is_not_sent_again);
  tcase_add_test (tcase, data_from_the_receiver_is_ignored);
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("stalling");
  tcase_add_test (tcase, stall_loses_nothing);
  tcase_add_test (tcase, pools_may_have_their_buffers_back);
#ifdef __linux__
  tcase_add_test (tcase, next_to_nothing_waits_unsent);
#endif
  tcase_add_test (tcase, estimate_of_a_stalled_connection_falls);
  tcase_add_test (tcase, change_that_was_read_is_notified);
  tcase_add_test (tcase, flush_in_a_frame_leaves_whole_frames);
  tcase_add_test (tcase, many_flushes_leave_whole_frames);
  tcase_add_test (tcase, pause_in_a_frame_goes_on);
  tcase_add_test (tcase, stop_in_a_frame_resets);
  tcase_add_test (tcase, not_blocking_drops_frames_and_tears_none);
  tcase_add_loop_test (tcase, random_frames_arrive_whole, 0, 24);
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("end");
  tcase_add_test (tcase, eos_waits_until_the_receiver_has_all);
  tcase_add_test (tcase, eos_does_not_wait_for_ever);
  suite_add_tcase (suite, tcase);

  tcase = tcase_create ("bin");
  tcase_add_test (tcase, properties_reach_the_parts);
  tcase_add_test (tcase, statistics_are_those_of_both_parts);
  tcase_add_test (tcase, rtp_is_refused_with_its_own_advice);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (ifdsink);
