/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the element dccpthinsrc, which receives a stream over DCCP, with
 * real sockets on loopback. They test its behaviour in the pipeline, with
 * dccpthinsink as the sender, and with senders of invalid packets. The tests
 * wait for each event without a time limit of their own.
 */

#include "dccploopback.h"

#define SIZE 1000

/* --- the source in its pipeline ------------------------------------------- */

GST_START_TEST (source_is_live)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min, max;
  gboolean live;
  LoopbackEnd src;

  dccp_loopback_listening_src_init (&src);
  fail_unless (gst_element_query (src.element, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless_equals_uint64 (min, 0);
  gst_query_unref (query);
  loopback_end_clear (&src);
}

GST_END_TEST;

GST_START_TEST (buffers_have_the_time_at_which_they_came)
{
  GstClockTime last = 0, now;
  GstBuffer *buffer;
  GstClock *clock;
  LoopbackFixture fixture;
  guint i;

  dccp_loopback_fixture_init (&fixture);
  for (i = 0; i < 10; i++) {
    loopback_push (&fixture, loopback_make_buffer (i, SIZE));
    buffer = loopback_pull (&fixture, i, SIZE);
    clock = gst_element_get_clock (fixture.src.element);
    now = gst_clock_get_time (clock)
        - gst_element_get_base_time (fixture.src.element);
    gst_object_unref (clock);
    fail_unless (GST_BUFFER_PTS_IS_VALID (buffer));
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer),
        GST_BUFFER_DTS (buffer));
    /* The test permits timestamps that are wrong by up to 20 ms. The source
     * computes them from the difference between the pipeline's clock and its
     * own clock. It reads one clock shortly after the other, and its own clock
     * has a resolution of one microsecond. The difference is therefore slightly
     * inexact. */
    fail_unless (GST_BUFFER_PTS (buffer) + 20000 >= last);
    fail_unless (GST_BUFFER_PTS (buffer) <= now + 20000);
    last = GST_BUFFER_PTS (buffer);
    gst_buffer_unref (buffer);
  }
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (caps_are_those_of_the_property)
{
  GstCaps *caps = gst_caps_from_string ("application/x-rtp, media=video, "
      "encoding-name=MPV, clock-rate=90000, payload=32");
  GstCaps *current;
  LoopbackFixture fixture;

  dccp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "port", 0,
      "caps", caps, NULL);
  gst_harness_play (fixture.src.harness);
  dccp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), NULL);
  dccp_loopback_play_sink (&fixture.sink);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  current = gst_pad_get_current_caps (fixture.src.harness->sinkpad);
  fail_unless (gst_caps_is_equal (current, caps));
  gst_caps_unref (current);
  gst_caps_unref (caps);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (without_eos_the_next_connection_goes_on)
{
  GstBuffer *buffer;
  gint port;
  LoopbackFixture fixture;
  guint i;

  dccp_loopback_listening_src_init (&fixture.src);
  g_object_set (fixture.src.element, "eos-at-end", FALSE, NULL);
  port = loopback_port_of (&fixture.src);
  for (i = 0; i < 3; i++) {
    dccp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port", port,
        NULL);
    dccp_loopback_play_sink (&fixture.sink);
    loopback_push (&fixture, loopback_make_buffer (i, SIZE));
    buffer = loopback_pull (&fixture, i, SIZE);
    fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
    gst_buffer_unref (buffer);
    dccp_loopback_push_eos (&fixture);
    loopback_wait_for_message (&fixture.src, "dccp-connection", "state",
        "ended");
    loopback_end_clear (&fixture.sink);
  }
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "connections"), 3);
  loopback_end_clear (&fixture.src);
}

GST_END_TEST;

/* After EOS, the source must refuse any further sender. */
GST_START_TEST (after_eos_nobody_is_accepted)
{
  gchar *text;
  gint port;
  LoopbackFixture fixture;
  LoopbackEnd next;

  dccp_loopback_fixture_init (&fixture);
  port = loopback_port_of (&fixture.src);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  dccp_loopback_push_eos (&fixture);
  dccp_loopback_expect_eos (&fixture);
  dccp_loopback_sink_init (&next, "host", "127.0.0.1", "port", port,
      "auto-reconnect", FALSE, "peer-timeout", 30000, NULL);
  dccp_loopback_play_sink (&next);
  fail_unless_equals_int (gst_harness_push (next.harness,
          loopback_make_buffer (0, SIZE)), GST_FLOW_ERROR);
  text = loopback_pop_error (&next);
  fail_unless (strstr (text, "refused") != NULL, "%s", text);
  g_free (text);
  loopback_end_clear (&next);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (timeout_is_told_each_time)
{
  GstStructure *structure;
  guint64 timeout;
  LoopbackFixture fixture;
  guint i;

  dccp_loopback_fixture_init (&fixture);
  g_object_set (fixture.src.element, "timeout", 5 * GST_MSECOND, NULL);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  for (i = 0; i < 3; i++) {
    structure = loopback_pop_structure (&fixture.src, "GstDccpThinSrcTimeout");
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

GST_START_TEST (flush_ends_the_wait)
{
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
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

/* A packet arrives while the source is paused. The source must drop it. */
GST_START_TEST (pause_ends_the_wait)
{
  GstBuffer *buffer;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  gst_element_set_state (fixture.src.element, GST_STATE_PAUSED);
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  dccp_loopback_wait_for_stat (&fixture.src, "dropped-paused", 1);
  gst_element_set_state (fixture.src.element, GST_STATE_PLAYING);
  loopback_push (&fixture, loopback_make_buffer (2, SIZE));
  buffer = loopback_pull (&fixture, 2, SIZE);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
  gst_buffer_unref (buffer);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (eos_ends_the_wait)
{
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  fail_unless (gst_element_send_event (fixture.src.element,
          gst_event_new_eos ()));
  dccp_loopback_expect_eos (&fixture);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- downstream is too slow ----------------------------------------------- */

/* Removes the oldest element message from the bus of the sink. If it is the
 * message "dccp-slow-receiver", returns its field `slow`: whether the receiver
 * has reported that it is slow. Otherwise returns TRUE. */
static gboolean
is_slow (LoopbackEnd * sink)
{
  GstMessage *message = gst_bus_pop_filtered (sink->bus, GST_MESSAGE_ELEMENT);
  gboolean slow = TRUE;

  if (message && gst_message_has_name (message, "dccp-slow-receiver"))
    gst_structure_get_boolean (gst_message_get_structure (message), "slow",
        &slow);
  if (message)
    gst_message_unref (message);
  return slow;
}

/* While the elements downstream are blocked, the source must continue to
 * receive, and must report to the sender that the receiver is slow. When the
 * elements downstream accept buffers again, the source must report that the
 * receiver is no longer slow. */
GST_START_TEST (downstream_does_not_hold_up_the_network)
{
  LoopbackHold hold;
  guint n = 0;
  LoopbackFixture fixture;

  dccp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "port", 0,
      "max-bytes", 10 * SIZE, NULL);
  loopback_hold_downstream (&fixture.src, &hold);
  gst_harness_play (fixture.src.harness);
  dccp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "blocking", FALSE, NULL);
  dccp_loopback_play_sink (&fixture.sink);
  while (loopback_stat_of (&fixture.sink, "slow-receiver-received") == 0) {
    loopback_push (&fixture, loopback_make_buffer (n++, SIZE));
    g_usleep (1000);
  }
  loopback_let_go (&hold);
  while (is_slow (&fixture.sink)) {
    loopback_push (&fixture, loopback_make_buffer (n++, SIZE));
    g_usleep (1000);
  }
  loopback_expect (&fixture, 0, SIZE);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "connections"),
      1);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- sockets that cannot be opened ---------------------------------------- */

GST_START_TEST (port_in_use_is_an_error)
{
  gchar *port;
  LoopbackEnd first, second;

  dccp_loopback_listening_src_init (&first);
  port = g_strdup_printf ("%d", loopback_port_of (&first));
  dccp_loopback_src_init (&second, "address", "127.0.0.1", "port",
      loopback_port_of (&first), NULL);
  loopback_expect_no_start (&second, port);
  g_free (port);
  loopback_end_clear (&second);
  loopback_end_clear (&first);
}

GST_END_TEST;

GST_START_TEST (address_of_nobody_is_an_error)
{
  LoopbackEnd src;

  dccp_loopback_src_init (&src, "address", "192.0.2.77", NULL);
  loopback_expect_no_start (&src, "192.0.2.77");
  loopback_end_clear (&src);
}

GST_END_TEST;

GST_START_TEST (nobody_to_connect_to_is_an_error)
{
  gchar *text;
  gint port;
  LoopbackEnd src;

  dccp_loopback_listening_src_init (&src);
  port = loopback_port_of (&src);
  loopback_end_clear (&src);
  dccp_loopback_src_init (&src, "host", "127.0.0.1", "port", port, "mode",
      CONNECT, "peer-timeout", 50, NULL);
  gst_harness_play (src.harness);
  text = loopback_pop_error (&src);
  fail_unless (g_str_has_prefix (text, "Could not connect to 127.0.0.1:"),
      "%s", text);
  g_free (text);
  loopback_end_clear (&src);
}

GST_END_TEST;

/* The source connects to a sender that does not listen yet, and gets an ICMP
 * error. The sender may begin to listen later, so the source must try again. */
GST_START_TEST (a_sender_may_begin_later)
{
  gint port;
  LoopbackFixture fixture;

  dccp_loopback_listening_src_init (&fixture.src);
  port = loopback_port_of (&fixture.src);
  loopback_end_clear (&fixture.src);
  dccp_loopback_src_init (&fixture.src, "host", "127.0.0.1", "port", port,
      "mode", CONNECT, NULL);
  gst_harness_play (fixture.src.harness);
  while (loopback_stat_of (&fixture.src, "sent-request") < 2)
    g_usleep (1000);
  dccp_loopback_sink_init (&fixture.sink, "bind-address", "127.0.0.1", "port",
      port, "mode", LISTEN, NULL);
  dccp_loopback_play_sink (&fixture.sink);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- peers that disappear without a message ------------------------------- */

GST_START_TEST (silent_sender_is_gone)
{
  LossyRelay relay;
  gchar *text;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init_relay (&fixture, &relay, 200 * GST_MSECOND);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  g_atomic_int_set (&relay.cut, TRUE);
  text = loopback_pop_error (&fixture.src);
  fail_unless (strstr (text, "does not answer") != NULL, "%s", text);
  g_free (text);
  loopback_fixture_clear (&fixture);
  lossy_relay_clear (&relay);
}

GST_END_TEST;

/* --- invalid packets ------------------------------------------------------ */

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

/* Invalid packets that the test sends to the port of the source (RFC 4340,
 * section 5.1). `size` is the size of the packet in bytes. `words` is the
 * header field Data Offset, in 32-bit words. `type_x` is the header byte with
 * the fields Type and X. `reason` is the statistic in which the source must
 * count the packet. */
static const struct
{
  gsize size;
  guint8 words, type_x;
  const gchar *reason;
} nonsense[] = {
  {1, 4, 0, "refused-short"},
  {11, 4, 0, "refused-short"},
  {16, 8, 2 << 1 | 1, "refused-offset"},
  {24, 6, 15 << 1 | 1, "refused-type"},
  {24, 6, 3 << 1 | 1, "refused-flow"},
};

/* The test sends invalid packets to the source during a stream. The source must
 * count each of them, and the stream must continue. */
GST_START_TEST (nonsense_is_counted_and_nothing_more)
{
  gchar packet[64] = { 0 };
  GSocket *unknown_host;
  LoopbackFixture fixture;
  guint i;

  dccp_loopback_fixture_init (&fixture);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  unknown_host = unknown_host_new (&fixture.src);
  packet[2] = loopback_port_of (&fixture.src) >> 8;
  packet[3] = loopback_port_of (&fixture.src) & 0xff;
  for (i = 0; i < G_N_ELEMENTS (nonsense); i++) {
    guint64 before = loopback_stat_of (&fixture.src, nonsense[i].reason);

    packet[4] = nonsense[i].words;
    packet[8] = nonsense[i].type_x;
    fail_unless_equals_int (g_socket_send (unknown_host, packet,
            nonsense[i].size, NULL, NULL), nonsense[i].size);
    dccp_loopback_wait_for_stat (&fixture.src, nonsense[i].reason, before + 1);
  }
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "connections"), 1);
  g_object_unref (unknown_host);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- the element ---------------------------------------------------------- */

/* The property allowed-senders of the source contains the addresses of the
 * permitted senders. A first sink connects from another address, and the source
 * must refuse it. A second sink connects from a permitted address, and the
 * source must accept it. When the first sink stops, the stream of the second
 * sink must continue. */
GST_START_TEST (only_allowed_senders_are_heard)
{
  LoopbackFixture fixture;
  LoopbackEnd other;

  dccp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "port", 0,
      "allowed-senders", "2001:db8::/32,127.0.0.1", NULL);
  gst_harness_play (fixture.src.harness);
  dccp_loopback_sink_init (&other, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "bind-address", "127.0.0.2", NULL);
  dccp_loopback_play_sink (&other);
  dccp_loopback_wait_for_stat (&fixture.src, "not-allowed", 1);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src,
          "received-request"), 0);
  dccp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), NULL);
  dccp_loopback_play_sink (&fixture.sink);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "connections"), 1);
  loopback_end_clear (&other);
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (wrong_allowed_senders_are_an_error)
{
  LoopbackEnd src;

  dccp_loopback_src_init (&src, "address", "127.0.0.1", "port", 0,
      "allowed-senders", "127.0.0.1/8", NULL);
  loopback_expect_no_start (&src, "allowed-senders: \"127.0.0.1/8\"");
  loopback_end_clear (&src);
}

GST_END_TEST;

GST_START_TEST (uri_has_address_port_and_keys)
{
  GError *error = NULL;
  GstElement *src = gst_element_make_from_uri (GST_URI_SRC,
      "dccpthin://0.0.0.0:5999?sequence-window=300&encoding-name=H264"
      "&clock-rate=90000&media=video&payload=96", NULL, &error);
  GstCaps *caps, *expected = gst_caps_from_string ("application/x-rtp, "
      "encoding-name=(string)H264, clock-rate=(int)90000, "
      "media=(string)video, payload=(int)96");
  gchar *address, *host, *uri;
  guint64 window;
  gint port;

  g_assert_no_error (error);
  g_object_get (src, "address", &address, "port", &port, "sequence-window",
      &window, "caps", &caps, "uri", &uri, NULL);
  fail_unless_equals_string (address, "0.0.0.0");
  fail_unless_equals_int (port, 5999);
  fail_unless_equals_uint64 (window, 300);
  fail_unless (gst_caps_is_equal (caps, expected));
  fail_unless_equals_string (uri, "dccpthin://0.0.0.0:5999");
  g_free (address);
  g_free (uri);
  g_object_set (src, "uri", "dccpthin://192.0.2.1:5004?mode=caller", NULL);
  g_object_get (src, "address", &address, "host", &host, "uri", &uri, NULL);
  fail_unless_equals_string (address, "0.0.0.0");
  fail_unless_equals_string (host, "192.0.2.1");
  fail_unless_equals_string (uri, "dccpthin://192.0.2.1:5004");
  g_free (address);
  g_free (host);
  g_free (uri);
  gst_caps_unref (caps);
  gst_caps_unref (expected);
  gst_object_unref (src);
}

GST_END_TEST;

GST_START_TEST (stats_come_as_messages)
{
  guint i;
  LoopbackEnd src;

  dccp_loopback_listening_src_init (&src);
  g_object_set (src.element, "stats-update-interval", 5, NULL);
  for (i = 0; i < 3; i++)
    gst_structure_free (loopback_pop_structure (&src,
            "application/x-dccpthinsrc-stats"));
  loopback_end_clear (&src);
}

GST_END_TEST;

static Suite *
dccpthinsrc_suite (void)
{
  Suite *suite = suite_create ("dccpthinsrc");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, source_is_live);
  tcase_add_test (tcase, buffers_have_the_time_at_which_they_came);
  tcase_add_test (tcase, caps_are_those_of_the_property);
  tcase_add_test (tcase, without_eos_the_next_connection_goes_on);
  tcase_add_test (tcase, after_eos_nobody_is_accepted);
  tcase_add_test (tcase, timeout_is_told_each_time);
  tcase_add_test (tcase, flush_ends_the_wait);
  tcase_add_test (tcase, pause_ends_the_wait);
  tcase_add_test (tcase, eos_ends_the_wait);
  tcase_add_test (tcase, downstream_does_not_hold_up_the_network);
  tcase_add_test (tcase, port_in_use_is_an_error);
  tcase_add_test (tcase, address_of_nobody_is_an_error);
  tcase_add_test (tcase, nobody_to_connect_to_is_an_error);
  tcase_add_test (tcase, a_sender_may_begin_later);
  tcase_add_test (tcase, silent_sender_is_gone);
  tcase_add_test (tcase, nonsense_is_counted_and_nothing_more);
  tcase_add_test (tcase, only_allowed_senders_are_heard);
  tcase_add_test (tcase, wrong_allowed_senders_are_an_error);
  tcase_add_test (tcase, uri_has_address_port_and_keys);
  tcase_add_test (tcase, stats_come_as_messages);
  return suite;
}

GST_CHECK_MAIN (dccpthinsrc);
