/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of mmtpsrc over real sockets on loopback: its behaviour in a pipeline,
 * with an mmtpsink as sender, and with senders of invalid messages. The test
 * writes the invalid messages itself, in the format of docs/wire-mmtp.md.
 */

#include "mmtploopback.h"

#include <gio/gio.h>

#define TWO "127.0.0.2, 127.0.0.3"
#define SIZE 1000

/* --- the source in its pipeline ------------------------------------------- */

/* ns */
static GstClockTime
get_latency (LoopbackEnd * end, gboolean * live)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min, max;

  fail_unless (gst_element_query (end->element, query));
  gst_query_parse_latency (query, live, &min, &max);
  fail_unless (!GST_CLOCK_TIME_IS_VALID (max));
  gst_query_unref (query);
  return min;
}

static void
wait_for_latency (LoopbackEnd * end, GstClockTime expected)
{
  gboolean live;

  while (get_latency (end, &live) != expected)
    gst_message_unref (loopback_pop_message (end, GST_MESSAGE_LATENCY));
  fail_unless (live);
}

/* Latencies in ms. `of_src` is the property `latency` of the source, and
 * `of_sink` is that of the sink. `both` is the larger of these two values, and
 * must become the latency of the session. */
static const struct
{
  guint of_src, of_sink, both;
} delays[] = {
  {0, 300, 300},
  {100, 300, 300},
  {700, 300, 700},
};

GST_START_TEST (the_latency_is_the_initial_delay)
{
  gboolean live = FALSE;
  LoopbackFixture fixture;

  mmtp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "latency",
      delays[__i__].of_src, NULL);
  gst_harness_play (fixture.src.harness);
  fail_unless_equals_uint64 (get_latency (&fixture.src, &live),
      delays[__i__].of_src * GST_MSECOND);
  fail_unless (live);
  mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "latency", delays[__i__].of_sink, NULL);
  gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  wait_for_latency (&fixture.src, delays[__i__].both * GST_MSECOND);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (a_change_of_the_delay_is_told)
{
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, TWO);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  wait_for_latency (&fixture.src, GST_SECOND);
  g_object_set (fixture.sink.element, "latency", 2000, NULL);
  wait_for_latency (&fixture.src, 2 * GST_SECOND);
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (a_sender_that_wants_a_longer_delay_is_told_of)
{
  GstMessage *message;
  GError *error;
  LoopbackFixture fixture;

  mmtp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "max-latency",
      700, NULL);
  gst_harness_play (fixture.src.harness);
  mmtp_loopback_fixture_init_sink (&fixture, "127.0.0.1", "");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  message = loopback_pop_message (&fixture.src, GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "1000 ms") != NULL
      && strstr (error->message, "700 ms") != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (caps_of_its_own_count)
{
  GstCaps *caps = gst_caps_from_string ("video/mpegts, systemstream=true");
  GstCaps *current;
  LoopbackFixture fixture;

  mmtp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "caps", caps,
      NULL);
  gst_harness_play (fixture.src.harness);
  mmtp_loopback_fixture_init_sink (&fixture, "127.0.0.1", "");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  current = gst_pad_get_current_caps (fixture.src.harness->sinkpad);
  fail_unless (gst_caps_is_equal (current, caps));
  gst_caps_unref (current);
  gst_caps_unref (caps);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* Sends buffer number `n` from the sink to the source. The source must output
 * the buffer with the caps `expected`. */
static void
expect_caps (LoopbackFixture * fixture, guint n, const GstCaps * expected)
{
  GstCaps *current;

  loopback_push (fixture, loopback_make_buffer (n, SIZE));
  loopback_expect (fixture, n, SIZE);
  current = gst_pad_get_current_caps (fixture->src.harness->sinkpad);
  fail_unless (gst_caps_is_equal (current, expected), "%" GST_PTR_FORMAT,
      current);
  gst_caps_unref (current);
}

/* The property `caps` of the source overrides the caps of the sender. When it
 * changes, the source may already be waiting for the next buffer, so this
 * buffer may still get the previous caps. The buffer after it must get the new
 * ones. */
GST_START_TEST (caps_of_its_own_count_while_they_are_there)
{
  GstCaps *own = gst_caps_from_string ("video/mpegts, systemstream=true");
  GstCaps *of_sender = gst_caps_from_string (CAPS);
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, "");
  expect_caps (&fixture, 0, of_sender);
  g_object_set (fixture.src.element, "caps", own, NULL);
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  expect_caps (&fixture, 2, own);
  g_object_set (fixture.src.element, "caps", NULL, NULL);
  loopback_push (&fixture, loopback_make_buffer (3, SIZE));
  loopback_expect (&fixture, 3, SIZE);
  expect_caps (&fixture, 4, of_sender);
  gst_caps_unref (own);
  gst_caps_unref (of_sender);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (without_eos_the_next_session_goes_on)
{
  GstBuffer *buffer;
  gint port;
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  g_object_set (fixture.src.element, "eos-at-end", FALSE, NULL);
  port = loopback_port_of (&fixture.src);
  for (i = 0; i < 3; i++) {
    mmtp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port", port,
        NULL);
    gst_harness_set_src_caps_str (fixture.sink.harness, CAPS);
    loopback_push (&fixture, loopback_make_buffer (i, SIZE));
    buffer = loopback_pull (&fixture, i, SIZE);
    fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
    gst_buffer_unref (buffer);
    gst_harness_push_event (fixture.sink.harness, gst_event_new_eos ());
    loopback_wait_for_message (&fixture.src, "mmtp-session", "state", "ended");
    loopback_end_clear (&fixture.sink);
  }
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "sessions"), 3);
  loopback_end_clear (&fixture.src);
}

GST_END_TEST;

GST_START_TEST (a_timeout_is_told_each_time)
{
  GstStructure *structure;
  guint64 timeout;
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  g_object_set (fixture.src.element, "timeout", 5 * GST_MSECOND, NULL);
  mmtp_loopback_fixture_init_sink (&fixture, "127.0.0.1", "");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  for (i = 0; i < 3; i++) {
    structure = loopback_pop_structure (&fixture.src, "GstMmtpSrcTimeout");
    fail_unless (gst_structure_get_uint64 (structure, "timeout", &timeout));
    fail_unless_equals_uint64 (timeout, 5 * GST_MSECOND);
    gst_structure_free (structure);
  }
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- waiting and its end -------------------------------------------------- */

GST_START_TEST (a_flush_ends_the_wait)
{
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, "");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  fail_unless (gst_element_send_event (fixture.src.element,
          gst_event_new_flush_start ()));
  fail_unless (gst_element_send_event (fixture.src.element,
          gst_event_new_flush_stop (TRUE)));
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The source must drop buffers that arrive while it is paused. The first buffer
 * after the pause must have the flag DISCONT. */
GST_START_TEST (a_pause_ends_the_wait)
{
  GstBuffer *buffer;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, "");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  gst_element_set_state (fixture.src.element, GST_STATE_PAUSED);
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  while (loopback_stat_of (&fixture.src, "dropped-paused") < 1)
    g_usleep (1000);
  gst_element_set_state (fixture.src.element, GST_STATE_PLAYING);
  loopback_push (&fixture, loopback_make_buffer (2, SIZE));
  buffer = loopback_pull (&fixture, 2, SIZE);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
  gst_buffer_unref (buffer);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (an_eos_ends_the_wait)
{
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, "");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  fail_unless (gst_element_send_event (fixture.src.element,
          gst_event_new_eos ()));
  gst_event_unref (loopback_pull_event (&fixture, GST_EVENT_EOS));
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- downstream is too slow ----------------------------------------------- */

/* While the pipeline after the source is blocked, the source must continue to
 * receive, and must drop the buffers for which it has no room. The first buffer
 * after the dropped buffers must have the flag DISCONT. */
GST_START_TEST (downstream_does_not_hold_up_the_network)
{
  LoopbackHold hold;
  gboolean has_gap;
  GstBuffer *buffer;
  guint64 reports;
  guint n = 0;
  LoopbackFixture fixture;

  mmtp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "max-bytes",
      10 * SIZE, NULL);
  loopback_hold_downstream (&fixture.src, &hold);
  gst_harness_play (fixture.src.harness);
  mmtp_loopback_fixture_init_sink (&fixture, "127.0.0.1", TWO);
  loopback_push (&fixture, loopback_make_buffer (n++, SIZE));
  loopback_wait_until_held (&hold);
  while (loopback_stat_of (&fixture.src, "dropped-full") == 0) {
    loopback_push (&fixture, loopback_make_buffer (n++, SIZE));
    g_usleep (1000);
  }
  reports = loopback_stat_of (&fixture.src, "reports");
  while (loopback_stat_of (&fixture.src, "reports") < reports + 5)
    g_usleep (1000);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "connections"),
      1);

  loopback_let_go (&hold);
  loopback_expect (&fixture, 0, SIZE);
  do {
    loopback_push (&fixture, loopback_make_buffer (n++, SIZE));
    buffer = gst_harness_pull (fixture.src.harness);
    has_gap = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    gst_buffer_unref (buffer);
  } while (!has_gap);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (buffers_longer_than_max_bytes_are_warned_of)
{
  GstMessage *message;
  GError *error;
  LoopbackFixture fixture;

  mmtp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "max-bytes",
      SIZE - 1, NULL);
  gst_harness_play (fixture.src.harness);
  mmtp_loopback_fixture_init_sink (&fixture, "127.0.0.1", "");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  message = loopback_pop_message (&fixture.src, GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "max-bytes, which is 999,") != NULL,
      "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- sockets that cannot be opened ---------------------------------------- */

GST_START_TEST (a_port_in_use_is_an_error)
{
  gchar *port;
  LoopbackEnd first, second;

  mmtp_loopback_src_init (&first, "address", "127.0.0.1", NULL);
  gst_harness_play (first.harness);
  mmtp_loopback_src_init (&second, "address", "127.0.0.1", NULL);
  g_object_set (second.element, "port", loopback_port_of (&first), NULL);
  port = g_strdup_printf ("%d", loopback_port_of (&first));
  loopback_expect_no_start (&second, port);
  g_free (port);
  loopback_end_clear (&second);
  loopback_end_clear (&first);
}

GST_END_TEST;

GST_START_TEST (an_address_of_nobody_is_an_error)
{
  LoopbackEnd src;

  mmtp_loopback_src_init (&src, "address", "192.0.2.77", NULL);
  loopback_expect_no_start (&src, "192.0.2.77");
  loopback_end_clear (&src);
}

GST_END_TEST;

GST_START_TEST (an_interface_of_nobody_is_an_error)
{
  LoopbackEnd src;

  mmtp_loopback_src_init (&src, "interface", "nosuchif0", NULL);
  loopback_expect_no_start (&src, "nosuchif0");
  loopback_end_clear (&src);
}

GST_END_TEST;

/* --- invalid messages ----------------------------------------------------- */

#define VERSION 0x40            /* first byte: version and type */
#define OLD_VERSION 0x20
#define DATA 0
#define INIT 2
#define COOKIE 3
#define OPEN 4
#define REFUSE 6
#define REPORT 11
#define ROOM 2048

static GSocket *
unknown_host_new (LoopbackEnd * src)
{
  GSocketAddress *address = g_inet_socket_address_new_from_string ("127.0.0.1",
      loopback_port_of (src));
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
      G_SOCKET_PROTOCOL_UDP, NULL);

  fail_unless (g_socket_connect (socket, address, NULL, NULL));
  g_object_unref (address);
  return socket;
}

static void
say (GSocket * socket, guint8 first, gsize size)
{
  gchar message[ROOM] = { 0 };
  gsize i;

  message[0] = first;
  for (i = 7; i < MIN (size, 23); i++)
    message[i] = i;
  fail_unless_equals_int (g_socket_send (socket, message, size, NULL, NULL),
      size);
}

static void
wait_for_count (LoopbackEnd * src, const gchar * name, guint64 count)
{
  while (loopback_stat_of (src, name) < count)
    g_usleep (1000);
  fail_unless_equals_uint64 (loopback_stat_of (src, name), count);
}

static const struct
{
  guint8 first;
  gsize size;
  const gchar *reason;
} nonsense[] = {
  {VERSION | DATA, 1, "refused-short"},
  {VERSION | DATA, 14, "refused-short"},
  {VERSION | INIT, 63, "refused-short"},
  {OLD_VERSION | DATA, 100, "refused-version"},
  {VERSION | 31, 100, "refused-type"},
  {VERSION | REPORT, 100, "refused-type"},
  {VERSION | COOKIE, 63, "refused-type"},
  {VERSION | OPEN, 116, "refused-malformed"},
};

GST_START_TEST (nonsense_is_counted_and_nothing_more)
{
  GSocket *unknown_host;
  guint i, before;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init (&fixture, TWO);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  unknown_host = unknown_host_new (&fixture.src);
  for (i = 0; i < G_N_ELEMENTS (nonsense); i++) {
    before = loopback_stat_of (&fixture.src, nonsense[i].reason);
    say (unknown_host, nonsense[i].first, nonsense[i].size);
    wait_for_count (&fixture.src, nonsense[i].reason, before + 1);
  }
  fail_unless (!(g_socket_condition_check (unknown_host, G_IO_IN) & G_IO_IN));
  say (unknown_host, VERSION | DATA, 100);
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  g_object_unref (unknown_host);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (answer_to_an_unknown_sender_is_not_longer_than_the_request)
{
  guint8 answer[ROOM];
  GSocket *unknown_host;
  gssize size, i;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  unknown_host = unknown_host_new (&fixture.src);
  say (unknown_host, VERSION | INIT, 64);
  size = g_socket_receive (unknown_host, (gchar *) answer, ROOM, NULL, NULL);
  fail_unless_equals_int (size, 63);
  fail_unless_equals_int (answer[0], VERSION | COOKIE);
  for (i = 7; i < 23; i++)
    fail_unless_equals_int (answer[i], i);
  g_object_unref (unknown_host);
  loopback_end_clear (&fixture.src);
}

GST_END_TEST;

/* A sender uses a version of MMTP that the source does not support. The source
 * must answer with the version that it supports. It must also post a warning
 * message, so that the application knows about the sender. */
GST_START_TEST (a_sender_of_another_version_is_told_of)
{
  guint8 answer[ROOM];
  GstMessage *message;
  GSocket *unknown_host;
  GError *error;
  gchar *debug;
  gssize size;
  LoopbackFixture fixture;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  unknown_host = unknown_host_new (&fixture.src);
  say (unknown_host, OLD_VERSION | INIT, 64);
  size = g_socket_receive (unknown_host, (gchar *) answer, ROOM, NULL, NULL);
  fail_unless_equals_int (size, 32);
  fail_unless_equals_int (answer[0], VERSION | REFUSE);
  fail_unless_equals_int (answer[23], 1);
  message = loopback_pop_message (&fixture.src, GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &error, &debug);
  fail_unless (strstr (error->message, "version 1 ") != NULL
      && strstr (error->message, "version 2") != NULL, "%s", error->message);
  fail_unless (strstr (error->message, "same release") != NULL, "%s",
      error->message);
  g_free (debug);
  g_error_free (error);
  gst_message_unref (message);
  g_object_unref (unknown_host);
  loopback_end_clear (&fixture.src);
}

GST_END_TEST;

/* --- the element ---------------------------------------------------------- */

GST_START_TEST (a_weak_key_is_an_error)
{
  mmtp_loopback_check_weak_keys ("mmtpsrc");
}

GST_END_TEST;

GST_START_TEST (a_strong_key_is_taken)
{
  mmtp_loopback_check_strong_keys ("mmtpsrc");
}

GST_END_TEST;

/* --- allowed senders ------------------------------------------------------ */

GST_START_TEST (only_allowed_senders_are_heard)
{
  GSocketAddress *address =
      g_inet_socket_address_new_from_string ("127.0.0.2", 0);
  GSocket *unknown_host;
  LoopbackFixture fixture;

  mmtp_loopback_src_init (&fixture.src, "address", "0.0.0.0", "allowed-senders",
      "2001:db8::/32, 127.0.0.1", NULL);
  gst_harness_play (fixture.src.harness);
  unknown_host = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
      G_SOCKET_PROTOCOL_UDP, NULL);
  fail_unless (g_socket_bind (unknown_host, address, FALSE, NULL));
  g_object_unref (address);
  address = g_inet_socket_address_new_from_string ("127.0.0.1",
      loopback_port_of (&fixture.src));
  fail_unless (g_socket_connect (unknown_host, address, NULL, NULL));
  g_object_unref (address);
  say (unknown_host, VERSION | INIT, 64);
  say (unknown_host, VERSION | INIT, 63);
  wait_for_count (&fixture.src, "not-allowed", 2);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "refused-short"),
      0);

  mmtp_loopback_fixture_init_sink (&fixture, "127.0.0.1", "lo");
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "not-allowed"), 2);
  /* The sender `unknown_host` is not among the allowed senders. Check that no
   * answer was sent to it. */
  fail_if (g_socket_condition_check (unknown_host, G_IO_IN) & G_IO_IN);
  g_object_unref (unknown_host);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

static const gchar *const no_senders[] = { "", "localhost", "127.0.0.1,",
  "127.0.0.1/8", "::1/129"
};

GST_START_TEST (wrong_allowed_senders_are_an_error)
{
  LoopbackEnd src;

  mmtp_loopback_src_init (&src, "allowed-senders", no_senders[__i__], NULL);
  loopback_expect_no_start (&src, "allowed-senders");
  /* The error does not persist. */
  g_object_set (src.element, "allowed-senders", NULL, NULL);
  fail_unless (gst_element_set_state (src.element, GST_STATE_PAUSED)
      != GST_STATE_CHANGE_FAILURE);
  loopback_end_clear (&src);
}

GST_END_TEST;

GST_START_TEST (a_uri_has_address_port_and_keys)
{
  GError *error = NULL;
  GstElement *src = gst_element_make_from_uri (GST_URI_SRC,
      "mmtp://0.0.0.0:5999?latency=300&encoding-name=H264"
      "&clock-rate=90000&media=video&payload=96", NULL, &error);
  GstCaps *caps, *expected = gst_caps_from_string ("application/x-rtp, "
      "encoding-name=(string)H264, clock-rate=(int)90000, "
      "media=(string)video, payload=(int)96");
  gchar *address, *uri;
  guint latency;
  gint port;

  g_assert_no_error (error);
  g_object_get (src, "address", &address, "port", &port, "latency", &latency,
      "caps", &caps, "uri", &uri, NULL);
  fail_unless_equals_string (address, "0.0.0.0");
  fail_unless_equals_int (port, 5999);
  fail_unless_equals_int (latency, 300);
  fail_unless (gst_caps_is_equal (caps, expected));
  fail_unless_equals_string (uri, "mmtp://0.0.0.0:5999");
  /* Without the property `key`, the source uses no key. An empty text, however,
   * is an invalid key, so the source must refuse to start. */
  g_object_set (src, "key", "", NULL);
  fail_unless_equals_int (gst_element_set_state (src, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  g_free (address);
  g_free (uri);
  gst_caps_unref (caps);
  gst_caps_unref (expected);
  gst_object_unref (src);
}

GST_END_TEST;

GST_START_TEST (stats_come_as_messages)
{
  GstStructure *structure;
  LoopbackFixture fixture;
  guint i;

  mmtp_loopback_fixture_init_src (&fixture, "127.0.0.1");
  g_object_set (fixture.src.element, "stats-update-interval", 5, NULL);
  for (i = 0; i < 3; i++) {
    structure = loopback_pop_structure (&fixture.src,
        "application/x-mmtpsrc-stats");
    gst_structure_free (structure);
  }
  loopback_end_clear (&fixture.src);
}

GST_END_TEST;

static Suite *
mmtpsrc_suite (void)
{
  Suite *suite = suite_create ("mmtpsrc");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, the_latency_is_the_initial_delay, 0,
      G_N_ELEMENTS (delays));
  tcase_add_test (tcase, a_change_of_the_delay_is_told);
  tcase_add_test (tcase, a_sender_that_wants_a_longer_delay_is_told_of);
  tcase_add_test (tcase, caps_of_its_own_count);
  tcase_add_test (tcase, caps_of_its_own_count_while_they_are_there);
  tcase_add_test (tcase, without_eos_the_next_session_goes_on);
  tcase_add_test (tcase, a_timeout_is_told_each_time);
  tcase_add_test (tcase, a_flush_ends_the_wait);
  tcase_add_test (tcase, a_pause_ends_the_wait);
  tcase_add_test (tcase, an_eos_ends_the_wait);
  tcase_add_test (tcase, downstream_does_not_hold_up_the_network);
  tcase_add_test (tcase, buffers_longer_than_max_bytes_are_warned_of);
  tcase_add_test (tcase, a_port_in_use_is_an_error);
  tcase_add_test (tcase, an_address_of_nobody_is_an_error);
  tcase_add_test (tcase, an_interface_of_nobody_is_an_error);
  tcase_add_test (tcase, nonsense_is_counted_and_nothing_more);
  tcase_add_test (tcase,
      answer_to_an_unknown_sender_is_not_longer_than_the_request);
  tcase_add_test (tcase, a_sender_of_another_version_is_told_of);
  tcase_add_test (tcase, a_weak_key_is_an_error);
  tcase_add_test (tcase, a_strong_key_is_taken);
  tcase_add_test (tcase, only_allowed_senders_are_heard);
  tcase_add_loop_test (tcase, wrong_allowed_senders_are_an_error, 0,
      G_N_ELEMENTS (no_senders));
  tcase_add_test (tcase, a_uri_has_address_port_and_keys);
  tcase_add_test (tcase, stats_come_as_messages);
  return suite;
}

GST_CHECK_MAIN (mmtpsrc);
