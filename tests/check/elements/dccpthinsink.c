/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the element dccpthinsink, which sends a stream over DCCP. They use
 * real sockets on loopback. They test the behaviour of the element in the
 * pipeline and towards the receiver. The tests wait for each event until it
 * happens. If it does not happen, only the timeout of the test program ends the
 * test. */

#include "dccploopback.h"
#include "gstnetworksink.h"

#define SIZE 1000

/* --- a stream ------------------------------------------------------------- */

GST_START_TEST (stream_goes_whole_and_ends)
{
  LoopbackFixture fixture;
  guint i;

  NEED (__i__);
  dccp_loopback_fixture_init_way (&fixture, __i__);
  for (i = 0; i < 100; i++) {
    loopback_push (&fixture, loopback_make_buffer (i, SIZE));
    loopback_expect (&fixture, i, SIZE);
  }
  dccp_loopback_push_eos (&fixture);
  dccp_loopback_expect_eos (&fixture);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "packets-sent"),
      100);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "sent-close"),
      dccp_loopback_sink_listens (__i__) ? 0 : 1);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "eos-timeouts"),
      0);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "buffers"), 100);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "lost"), 0);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The loop variable `__i__` is the value of the property gso: 0 means auto, and
 * 1 means off. */
GST_START_TEST (list_goes_whole)
{
  GstBufferList *list = gst_buffer_list_new ();
  LoopbackFixture fixture;
  guint i;

  dccp_loopback_listening_src_init (&fixture.src);
  dccp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "gso", __i__, NULL);
  dccp_loopback_play_sink (&fixture.sink);
  for (i = 0; i < 200; i++)
    gst_buffer_list_add (list, loopback_make_buffer (i, SIZE));
  fail_unless_equals_int (gst_pad_push_list (fixture.sink.harness->srcpad,
          list), GST_FLOW_OK);
  for (i = 0; i < 200; i++)
    loopback_expect (&fixture, i, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (pools_may_have_their_buffers_back)
{
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  loopback_check_pooled (&fixture, 20, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The property host contains an IPv6 address or a name instead of an IPv4
 * address. The sink must connect to this host. */
GST_START_TEST (host_may_be_of_ipv6_or_a_name)
{
  static const gchar *const hosts[] = { "::1", "localhost" };
  LoopbackFixture fixture;

  dccp_loopback_src_init (&fixture.src, "address", "::", "port", 0, NULL);
  gst_harness_play (fixture.src.harness);
  dccp_loopback_sink_init (&fixture.sink, "host", hosts[__i__], "port",
      loopback_port_of (&fixture.src), NULL);
  dccp_loopback_play_sink (&fixture.sink);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

static void
flush (LoopbackFixture * fixture)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (fixture->sink.harness, gst_event_new_flush_start ());
  gst_harness_push_event (fixture->sink.harness,
      gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (fixture->sink.harness,
      gst_event_new_segment (&segment));
}

GST_START_TEST (next_stream_is_another_connection)
{
  LoopbackFixture fixture;
  guint i;

  dccp_loopback_fixture_init (&fixture);
  g_object_set (fixture.src.element, "eos-at-end", FALSE, NULL);
  for (i = 0; i < 3; i++) {
    loopback_push (&fixture, loopback_make_buffer (i, SIZE));
    loopback_expect (&fixture, i, SIZE);
    dccp_loopback_push_eos (&fixture);
    flush (&fixture);
  }
  dccp_loopback_wait_for_stat (&fixture.src, "connections", 3);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "connections"),
      3);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- receivers that cannot be reached ------------------------------------- */

static GSocket *
silent_socket_new (gint * port)
{
  GSocket *socket = lossy_relay_socket_new ();
  GSocketAddress *own = g_socket_get_local_address (socket, NULL);

  *port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (own));
  g_object_unref (own);
  return socket;
}

static void
expect_error_with (LoopbackEnd * end, const gchar * expected)
{
  gchar *text;

  fail_unless_equals_int (gst_harness_push (end->harness,
          loopback_make_buffer (0, SIZE)), GST_FLOW_ERROR);
  text = loopback_pop_error (end);
  fail_unless (strstr (text, expected) != NULL, "\"%s\" has no \"%s\"", text,
      expected);
  g_free (text);
}

GST_START_TEST (nobody_there_is_an_error)
{
  gint port;
  GSocket *socket = silent_socket_new (&port);
  gchar *peer = g_strdup_printf ("127.0.0.1:%d", port);
  LoopbackEnd sink;

  g_object_unref (socket);
  dccp_loopback_sink_init (&sink, "host", "127.0.0.1", "port", port,
      "auto-reconnect", FALSE, "peer-timeout", 1000, NULL);
  dccp_loopback_play_sink (&sink);
  expect_error_with (&sink, peer);
  fail_unless (loopback_stat_of (&sink, "failures-refused") > 0);
  g_free (peer);
  loopback_end_clear (&sink);
}

GST_END_TEST;

static gpointer
push_first (gpointer data)
{
  loopback_push (data, loopback_make_buffer (0, SIZE));
  return NULL;
}

/* No receiver listens yet, and an ICMP error tells the sink so. A receiver may
 * begin to listen later, so the sink must try again instead of reporting an
 * error. */
GST_START_TEST (a_receiver_may_begin_later)
{
  GThread *thread;
  gint port;
  LoopbackFixture fixture;

  g_object_unref (silent_socket_new (&port));
  dccp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port", port,
      "auto-reconnect", FALSE, NULL);
  dccp_loopback_play_sink (&fixture.sink);
  thread = g_thread_new ("push", push_first, &fixture);
  while (loopback_stat_of (&fixture.sink, "failures-refused") == 0)
    g_usleep (1000);
  dccp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "port", port,
      NULL);
  gst_harness_play (fixture.src.harness);
  loopback_expect (&fixture, 0, SIZE);
  g_thread_join (thread);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (no_answer_is_an_error)
{
  gint port;
  GSocket *socket = silent_socket_new (&port);
  LoopbackEnd sink;

  dccp_loopback_sink_init (&sink, "host", "127.0.0.1", "port", port,
      "auto-reconnect", FALSE, "peer-timeout", 1000, NULL);
  dccp_loopback_play_sink (&sink);
  expect_error_with (&sink, "does not answer");
  fail_unless_equals_uint64 (loopback_stat_of (&sink, "failures-timeout"), 1);
  loopback_end_clear (&sink);
  g_object_unref (socket);
}

GST_END_TEST;

GST_START_TEST (another_service_is_refused)
{
  LoopbackEnd src, sink;

  dccp_loopback_src_init (&src, "address", "127.0.0.1", "port", 0,
      "service-code", "ABCD", NULL);
  gst_harness_play (src.harness);
  dccp_loopback_sink_init (&sink, "host", "127.0.0.1", "port",
      loopback_port_of (&src), "auto-reconnect", FALSE, NULL);
  dccp_loopback_play_sink (&sink);
  expect_error_with (&sink, "bad service code");
  loopback_end_clear (&sink);
  loopback_end_clear (&src);
}

GST_END_TEST;

GST_START_TEST (second_sender_is_refused)
{
  LoopbackEnd second;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  dccp_loopback_sink_init (&second, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "auto-reconnect", FALSE, NULL);
  dccp_loopback_play_sink (&second);
  expect_error_with (&second, "too busy");
  loopback_wait_for_message (&fixture.src, "dccp-connection", "state",
      "refused");
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src,
          "connections-refused"), 1);
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  loopback_end_clear (&second);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (no_service_code_is_an_error)
{
  static const gchar *const codes[] = { "", "ABCDE", "a b", "SC=", "SC=x1g",
    "SC=4294967295"
  };
  LoopbackEnd sink;

  dccp_loopback_sink_init (&sink, "service-code", codes[__i__], NULL);
  dccp_loopback_play_sink (&sink);
  expect_error_with (&sink, "is not a service code");
  loopback_end_clear (&sink);
}

GST_END_TEST;

/* The service code of the receiver is RTPV. Each string in `codes` is a form in
 * which this service code can be written (RFC 4340, section 8.1.2). If the sink
 * uses any of these forms, the receiver must accept the connection. */
GST_START_TEST (service_code_has_three_forms)
{
  static const gchar *const codes[] = { "RTPV", "SC:RTPV", "SC=1381257302",
    "SC=x52545056"
  };
  LoopbackFixture fixture;

  dccp_loopback_listening_src_init (&fixture.src);
  dccp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "service-code", codes[__i__], NULL);
  dccp_loopback_play_sink (&fixture.sink);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- receivers that disappear --------------------------------------------- */

static GstBuffer *
make_delta (guint n)
{
  GstBuffer *buffer = loopback_make_buffer (n, SIZE);

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  return buffer;
}

/* Replaces the receiver by a new one with the same port. Waits until the sink
 * is connected to the new receiver. */
static void
restart_receiver (LoopbackFixture * fixture)
{
  gint port = loopback_port_of (&fixture->src);
  guint64 connections = loopback_stat_of (&fixture->sink, "connections");

  loopback_end_clear (&fixture->src);
  dccp_loopback_src_init (&fixture->src, "address", "127.0.0.1", "port", port,
      NULL);
  gst_harness_play (fixture->src.harness);
  dccp_loopback_wait_for_stat (&fixture->sink, "connections", connections + 1);
}

/* A new receiver replaces the first one. The new receiver does not have the
 * frames that the first one received. The sink must therefore drop all frames
 * up to the next key frame. */
GST_START_TEST (next_receiver_begins_with_a_key_frame)
{
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  loopback_push (&fixture, make_delta (1));
  loopback_expect (&fixture, 1, SIZE);
  restart_receiver (&fixture);
  loopback_push (&fixture, make_delta (2));
  loopback_push (&fixture, make_delta (3));
  loopback_push (&fixture, loopback_make_buffer (4, SIZE));
  loopback_expect (&fixture, 4, SIZE);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink,
          "dropped-no-key-frame"), 2);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink,
          "failures-closed"), 1);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (listening_sink_takes_the_next_receiver)
{
  gint port;
  LoopbackFixture fixture;
  guint i;

  dccp_loopback_fixture_init_way (&fixture, 1);
  port = loopback_port_of (&fixture.sink);
  for (i = 0; i < 3; i++) {
    loopback_push (&fixture, loopback_make_buffer (2 * i, SIZE));
    loopback_push (&fixture, loopback_make_buffer (2 * i + 1, SIZE));
    loopback_expect (&fixture, 2 * i + (i > 0), SIZE);
    loopback_end_clear (&fixture.src);
    dccp_loopback_src_init (&fixture.src, "host", "127.0.0.1", "port", port,
        "mode", CONNECT, NULL);
    gst_harness_play (fixture.src.harness);
    dccp_loopback_wait_for_stat (&fixture.sink, "connections", i + 2);
  }
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The sink is told to listen at a port at which another element already
 * listens. It must report this error at once. It must not wait until the port
 * is free, even with auto-reconnect=true. The test uses no harness, because a
 * harness would start the element immediately. */
GST_START_TEST (port_in_use_is_an_error)
{
  LoopbackEnd src, sink = { NULL, gst_element_factory_make ("dcctpthinsink",
        NULL),
    gst_bus_new ()
  };
  gchar *text;

  dccp_loopback_listening_src_init (&src);
  g_object_set (sink.element, "bind-address", "127.0.0.1", "port",
      loopback_port_of (&src), "mode", LISTEN, "auto-reconnect", TRUE, NULL);
  gst_element_set_bus (sink.element, sink.bus);
  text = g_strdup_printf ("Could not listen for DCCP on 127.0.0.1, port %d: ",
      loopback_port_of (&src));
  loopback_expect_no_start (&sink, text);
  g_free (text);
  gst_element_set_state (sink.element, GST_STATE_NULL);
  /* Messages that are still on the bus hold references to the element, and the
   * element holds a reference to the bus. Flushing the bus removes the
   * messages. Only then can the element and the bus be freed. */
  gst_bus_set_flushing (sink.bus, TRUE);
  gst_object_unref (sink.element);
  gst_object_unref (sink.bus);
  loopback_end_clear (&src);
}

GST_END_TEST;

/* The receiver answers at first and then becomes silent. The sink must post an
 * error when the time peer-timeout has passed. */
GST_START_TEST (silent_receiver_is_gone)
{
  LossyRelay relay;
  gchar *text;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init_relay (&fixture, &relay, 0);
  g_atomic_int_set (&relay.cut, TRUE);
  gst_element_set_state (fixture.sink.element, GST_STATE_READY);
  g_object_set (fixture.sink.element, "peer-timeout", 100,
      "auto-reconnect", FALSE, NULL);
  g_atomic_int_set (&relay.cut, FALSE);
  gst_element_set_state (fixture.sink.element, GST_STATE_PLAYING);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  g_atomic_int_set (&relay.cut, TRUE);
  while (gst_harness_push (fixture.sink.harness, loopback_make_buffer (1, SIZE))
      == GST_FLOW_OK);
  text = loopback_pop_error (&fixture.sink);
  fail_unless (strstr (text, "does not answer") != NULL, "%s", text);
  g_free (text);
  loopback_fixture_clear (&fixture);
  lossy_relay_clear (&relay);
}

GST_END_TEST;

/* The socket of the receiver is closed without a DCCP packet to the sink, as
 * when the process of a receiver is killed. The kernel then answers the next
 * packet of the sink with an ICMP error. The sink must end the connection
 * because of this error. */
GST_START_TEST (killed_receiver_is_gone)
{
  LossyRelay relay;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init_relay (&fixture, &relay, 0);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  g_atomic_int_set (&relay.stopping, TRUE);
  g_socket_close (relay.front, NULL);
  g_object_set (fixture.sink.element, "wait-for-connection", FALSE, NULL);
  while (loopback_stat_of (&fixture.sink, "failures-refused") == 0) {
    loopback_push (&fixture, loopback_make_buffer (1, SIZE));
    g_usleep (1000);
  }
  loopback_wait_for_message (&fixture.sink, "dccp-connection", "state",
      "ended");
  loopback_fixture_clear (&fixture);
  lossy_relay_clear (&relay);
}

GST_END_TEST;

/* --- waiting and its end -------------------------------------------------- */

static gpointer
push_one (gpointer data)
{
  LoopbackEnd *end = data;

  return GINT_TO_POINTER (gst_harness_push (end->harness,
          loopback_make_buffer (0, SIZE)));
}

/* No receiver answers, so the function that pushes a buffer waits. A flush must
 * end this wait immediately. */
GST_START_TEST (flush_ends_the_wait_for_a_receiver)
{
  gint port;
  GSocket *socket = silent_socket_new (&port);
  GThread *thread;
  LoopbackEnd sink;

  dccp_loopback_sink_init (&sink, "host", "127.0.0.1", "port", port,
      "peer-timeout", 0, NULL);
  dccp_loopback_play_sink (&sink);
  thread = g_thread_new ("push", push_one, &sink);
  dccp_loopback_wait_for_stat (&sink, "time-unconnected", 1);
  gst_harness_push_event (sink.harness, gst_event_new_flush_start ());
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
      GST_FLOW_FLUSHING);
  loopback_end_clear (&sink);
  g_object_unref (socket);
}

GST_END_TEST;

GST_START_TEST (change_of_state_ends_the_wait_for_a_receiver)
{
  gint port;
  GSocket *socket = silent_socket_new (&port);
  GThread *thread;
  LoopbackEnd sink;

  dccp_loopback_sink_init (&sink, "host", "127.0.0.1", "port", port,
      "peer-timeout", 0, NULL);
  dccp_loopback_play_sink (&sink);
  thread = g_thread_new ("push", push_one, &sink);
  dccp_loopback_wait_for_stat (&sink, "time-unconnected", 1);
  gst_element_set_state (sink.element, GST_STATE_NULL);
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
      GST_FLOW_FLUSHING);
  loopback_end_clear (&sink);
  g_object_unref (socket);
}

GST_END_TEST;

GST_START_TEST (pause_and_flush_keep_the_connection)
{
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  gst_element_set_state (fixture.sink.element, GST_STATE_PAUSED);
  gst_element_set_state (fixture.sink.element, GST_STATE_PLAYING);
  loopback_push (&fixture, loopback_make_buffer (1, SIZE));
  loopback_expect (&fixture, 1, SIZE);
  flush (&fixture);
  loopback_push (&fixture, loopback_make_buffer (2, SIZE));
  loopback_expect (&fixture, 2, SIZE);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "connections"),
      1);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The receiver no longer answers. At EOS, the sink must wait for the time
 * drain-timeout at most, and then post a warning. */
GST_START_TEST (eos_waits_no_longer_than_its_timeout)
{
  LossyRelay relay;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init_relay (&fixture, &relay, 0);
  g_object_set (fixture.sink.element, "drain-timeout", 50, NULL);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  loopback_expect (&fixture, 0, SIZE);
  g_atomic_int_set (&relay.cut, TRUE);
  dccp_loopback_push_eos (&fixture);
  gst_message_unref (loopback_pop_message (&fixture.sink, GST_MESSAGE_WARNING));
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "eos-timeouts"),
      1);
  loopback_fixture_clear (&fixture);
  lossy_relay_clear (&relay);
}

GST_END_TEST;

/* --- sizes ---------------------------------------------------------------- */

GST_START_TEST (buffer_that_fits_in_no_packet_is_an_error)
{
  gchar *text;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  fail_unless_equals_int (gst_harness_push (fixture.sink.harness,
          loopback_make_buffer (0, 1600)), GST_FLOW_ERROR);
  text = loopback_pop_error (&fixture.sink);
  fail_unless (g_str_has_prefix (text, "A buffer of 1600 bytes does not fit "
          "into a packet to "), "%s", text);
  g_free (text);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "packets-sent"),
      0);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The property mtu is 0, so the sink must use the path MTU. In this test, the
 * path MTU is the MTU of the loopback interface, and a packet of 16000 bytes
 * fits. */
GST_START_TEST (without_mtu_the_path_is_the_limit)
{
  LoopbackFixture fixture;

  dccp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "port", 0,
      NULL);
  gst_harness_play (fixture.src.harness);
  dccp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), "mtu", 0, NULL);
  dccp_loopback_play_sink (&fixture.sink);
  loopback_push (&fixture, loopback_make_buffer (0, 16000));
  loopback_expect (&fixture, 0, 16000);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- locks ---------------------------------------------------------------- */

static gpointer
send_alone (gpointer data)
{
  GstNetworkSink *sink = data;
  GstBuffer *buffer = loopback_make_buffer (0, SIZE);
  GError *error = NULL;
  guint sent;

  GST_BUFFER_PTS (buffer) = 0;
  GST_NETWORK_SINK_GET_CLASS (sink)->send_packets (sink, &buffer, 1, &sent,
      &error);
  g_assert_no_error (error);
  gst_buffer_unref (buffer);
  return NULL;
}

/* A thread that waits for OBJECT_LOCK must not hold the lock of the element,
 * which reading the property estimated-bitrate takes. Otherwise, this test
 * would never end. */
GST_START_TEST (lock_is_not_held_while_object_lock_is_taken)
{
  LoopbackFixture fixture;
  GstElement *sink;
  GThread *thread;
  guint i, rate;

  dccp_loopback_fixture_init (&fixture);
  sink = fixture.sink.element;
  /* The sink reads the processing deadline, which OBJECT_LOCK protects, if a
   * frame begins while the frame period is unknown. This buffer has no PTS, so
   * the buffer of the thread begins a frame, and the period is unknown. */
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  GST_OBJECT_LOCK (sink);
  thread = g_thread_new ("sender", send_alone, sink);
  for (i = 0; i < 50; i++) {
    g_object_get (sink, "estimated-bitrate", &rate, NULL);
    g_usleep (1000);
  }
  GST_OBJECT_UNLOCK (sink);
  g_thread_join (thread);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- a receiver that is too slow ------------------------------------------ */

static void
hold_more_than_ten (LoopbackFixture * fixture, LoopbackHold * hold)
{
  g_object_set (fixture->src.element, "max-packets", 10, NULL);
  loopback_hold_downstream (&fixture->src, hold);
}

static GstBuffer *
make_part (guint n, guint frame)
{
  GstBuffer *buffer = loopback_make_buffer (n, SIZE);

  GST_BUFFER_PTS (buffer) = frame * 40 * GST_MSECOND;
  return buffer;
}

/* The receiver reports that it is slow, so the sink lowers its rate. With
 * blocking=false, the sink drops a packet that would have to wait too long. If
 * the sink drops one packet of a frame, it must also drop the rest of this
 * frame. */
GST_START_TEST (slow_receiver_is_told_and_frames_are_dropped_whole)
{
  GstStructure *structure;
  LoopbackHold hold;
  gboolean slow;
  guint n = 0;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  g_object_set (fixture.sink.element, "blocking", FALSE, NULL);
  hold_more_than_ten (&fixture, &hold);
  while (loopback_stat_of (&fixture.sink, "dropped-full") == 0
      || loopback_stat_of (&fixture.sink, "dropped-rest-of-frame") == 0
      || loopback_stat_of (&fixture.sink, "slow-receiver-received") == 0) {
    loopback_push (&fixture, make_part (n, n / 10));
    n++;
  }
  structure = loopback_pop_structure (&fixture.sink, "dccp-slow-receiver");
  fail_unless (gst_structure_get_boolean (structure, "slow", &slow) && slow);
  gst_structure_free (structure);
  fail_unless (loopback_stat_of (&fixture.src, "slow-receiver-sent") > 0);
  loopback_let_go (&hold);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* Pushes all 23 packets of a frame at the same time, as a payloader does. The
 * sink sends them one after another (pacing). It must not drop packets only
 * because they were pushed together.
 *
 * If the rate of the sink suffices, it sends all packets of a frame. If the
 * machine is busy, the sink may send fewer. On average, it must send more than
 * three packets of each frame. */
GST_START_TEST (frames_are_paced_and_not_dropped_for_it)
{
  const guint frames = 20, parts = 23;
  guint frame, part;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  g_object_set (fixture.sink.element, "blocking", FALSE, NULL);
  for (frame = 0; frame < frames; frame++) {
    for (part = 0; part < parts; part++)
      loopback_push (&fixture, make_part (frame * parts + part, frame));
  }
  fail_unless (loopback_stat_of (&fixture.sink, "packets-sent") > 3 * frames,
      "%" G_GUINT64_FORMAT, loopback_stat_of (&fixture.sink, "packets-sent"));
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* The receiver is slow and drops packets. It reports these drops to the sink in
 * many packets. The sink must combine the reports, so that it posts at most one
 * message "dccp-dropped" per 200 ms. */
GST_START_TEST (dropped_packets_are_told_together)
{
  guint told = 0, messages = 0, packets, n = 0;
  gint64 begin = g_get_monotonic_time ();
  GstStructure *structure;
  LoopbackHold hold;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  hold_more_than_ten (&fixture, &hold);
  while (loopback_stat_of (&fixture.sink, "dropped-received") < 100)
    loopback_push (&fixture, loopback_make_buffer (n++, SIZE));
  while (told < loopback_stat_of (&fixture.sink, "dropped-received")) {
    structure = loopback_pop_structure (&fixture.sink, "dccp-dropped");
    fail_unless (gst_structure_get_uint (structure, "packets", &packets));
    gst_structure_free (structure);
    told += packets;
    messages++;
  }
  fail_unless (told <= loopback_stat_of (&fixture.sink, "dropped-received"));
  fail_unless (messages <= (g_get_monotonic_time () - begin) /
      (200 * G_TIME_SPAN_MILLISECOND) + 1);
  loopback_let_go (&hold);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- losses and the rate -------------------------------------------------- */

static gboolean
was_key_unit_asked_for (LoopbackFixture * fixture)
{
  return loopback_count_key_unit_requests (&fixture->sink) > 0;
}

/* Pushes a key frame and loses one of its packets in the network. `asked` is
 * the value of the property request-key-units. The sink must request a new key
 * frame if `asked` is TRUE, and must not request one if it is FALSE. */
static void
lose_a_key_packet (gboolean asked)
{
  LossyRelay relay;
  LoopbackFixture fixture;
  guint i;

  dccp_loopback_fixture_init_relay (&fixture, &relay, 0);
  g_object_set (fixture.sink.element, "request-key-units", asked, NULL);
  for (i = 0; i < 10; i++) {
    loopback_push (&fixture, make_delta (i));
    loopback_expect (&fixture, i, SIZE);
  }
  g_atomic_int_set (&relay.size_to_lose, SIZE);
  g_atomic_int_set (&relay.n_to_lose, 1);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  while (g_atomic_int_get (&relay.n_to_lose) > 0)
    g_usleep (1000);
  while (loopback_stat_of (&fixture.sink, "loss-events") == 0) {
    loopback_push (&fixture, make_delta (i++));
    g_usleep (1000);
  }
  /* The sink counts the lost packet shortly before it sends the request for a
   * key frame upstream. When the test sees the new count, the request may
   * therefore not have arrived yet. */
  while (asked && !was_key_unit_asked_for (&fixture))
    g_usleep (1000);
  fail_if (was_key_unit_asked_for (&fixture));
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.src, "loss-events"), 1);
  loopback_fixture_clear (&fixture);
  lossy_relay_clear (&relay);
}

GST_START_TEST (key_unit_is_asked_for_when_one_was_lost)
{
  lose_a_key_packet (__i__);
}

GST_END_TEST;

/* The receiver drops frames because the elements downstream of it are too slow.
 * The test runs twice. In one run, some of the dropped frames are key frames,
 * so the sink must request a new key frame. In the other run, no key frame is
 * dropped, so the sink must not request one. */
GST_START_TEST (key_unit_is_asked_for_when_one_was_thrown_away)
{
  const gboolean has_key_units = __i__;
  LoopbackHold hold;
  guint n = 0;
  LoopbackFixture fixture;

  dccp_loopback_fixture_init (&fixture);
  g_object_set (fixture.sink.element, "request-key-units", TRUE, NULL);
  hold_more_than_ten (&fixture, &hold);
  while (loopback_stat_of (&fixture.sink, "dropped-received") < 10) {
    loopback_push (&fixture, has_key_units && n % 2
        ? loopback_make_buffer (n, SIZE) : make_delta (n));
    n++;
  }
  fail_unless_equals_int (was_key_unit_asked_for (&fixture), has_key_units);
  fail_unless_equals_uint64 (loopback_stat_of (&fixture.sink, "loss-events"),
      0);
  loopback_let_go (&hold);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

static void
count_notification (GObject * object, GParamSpec * pspec, gint * n)
{
  g_atomic_int_inc (n);
}

GST_START_TEST (rate_is_told)
{
  GstStructure *structure;
  gint notifications = 0;
  guint rate, told;
  LoopbackFixture fixture;

  dccp_loopback_src_init (&fixture.src, "address", "127.0.0.1", "port", 0,
      "eos-at-end", FALSE, NULL);
  gst_harness_play (fixture.src.harness);
  dccp_loopback_sink_init (&fixture.sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture.src), NULL);
  /* The sink is already running when the test connects the signal handler. The
   * handler may therefore have missed a notification. For this reason, the test
   * then restarts the sink. */
  g_signal_connect (fixture.sink.element, "notify::estimated-bitrate",
      G_CALLBACK (count_notification), &notifications);
  gst_element_set_state (fixture.sink.element, GST_STATE_READY);
  gst_element_set_state (fixture.sink.element, GST_STATE_PLAYING);
  dccp_loopback_play_sink (&fixture.sink);
  loopback_push (&fixture, loopback_make_buffer (0, SIZE));
  structure = loopback_pop_structure (&fixture.sink, "dccp-rate");
  fail_unless (gst_structure_get_uint (structure, "bitrate", &told));
  fail_unless (told > 0);
  gst_structure_free (structure);
  while (g_atomic_int_get (&notifications) == 0)
    g_usleep (1000);
  g_object_get (fixture.sink.element, "estimated-bitrate", &rate, NULL);
  fail_unless (rate > 0);
  loopback_fixture_clear (&fixture);
}

GST_END_TEST;

/* --- the element ---------------------------------------------------------- */

GST_START_TEST (uri_has_host_port_and_keys)
{
  GError *error = NULL;
  GstElement *sink = gst_element_make_from_uri (GST_URI_SINK,
      "dccpthin://192.0.2.1:5999?sequence-window=500&encapsulation=raw", NULL,
      &error);
  gchar *host, *uri;
  gint port, encapsulation;
  guint64 window;

  g_assert_no_error (error);
  g_object_get (sink, "host", &host, "port", &port, "sequence-window", &window,
      "encapsulation", &encapsulation, "uri", &uri, NULL);
  fail_unless_equals_string (host, "192.0.2.1");
  fail_unless_equals_int (port, 5999);
  fail_unless_equals_uint64 (window, 500);
  fail_unless_equals_int (encapsulation, 1);
  fail_unless_equals_string (uri, "dccpthin://192.0.2.1:5999");
  g_free (host);
  g_free (uri);
  g_object_set (sink, "uri", "dccpthin://198.51.100.1:5998?mode=listener",
      NULL);
  g_object_get (sink, "bind-address", &host, "host", &uri, NULL);
  fail_unless_equals_string (host, "198.51.100.1");
  fail_unless_equals_string (uri, "192.0.2.1");
  g_free (host);
  g_free (uri);
  gst_object_unref (sink);
}

GST_END_TEST;

GST_START_TEST (element_has_two_names)
{
  static const gchar *const names[] = { "dcctpthinsink", "dccpthinsink",
    "dcctpthinsrc", "dccpthinsrc"
  };
  GstElement *element;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (names); i++) {
    element = gst_element_factory_make (names[i], NULL);
    fail_unless (element != NULL, "no %s", names[i]);
    fail_unless_equals_string (gst_plugin_feature_get_name (GST_PLUGIN_FEATURE
            (gst_element_get_factory (element))), names[i]);
    fail_unless (g_str_has_prefix (GST_OBJECT_NAME (element), names[i])
        && g_ascii_isdigit (GST_OBJECT_NAME (element)[strlen (names[i])]),
        "%s is called %s", names[i], GST_OBJECT_NAME (element));
    gst_object_unref (element);
  }
}

GST_END_TEST;

static Suite *
dccpthinsink_suite (void)
{
  Suite *suite = suite_create ("dccpthinsink");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, stream_goes_whole_and_ends, 0, WAYS);
  tcase_add_loop_test (tcase, list_goes_whole, 0, 2);
  tcase_add_test (tcase, pools_may_have_their_buffers_back);
  tcase_add_loop_test (tcase, host_may_be_of_ipv6_or_a_name, 0, 2);
  tcase_add_test (tcase, next_stream_is_another_connection);
  tcase_add_test (tcase, nobody_there_is_an_error);
  tcase_add_test (tcase, a_receiver_may_begin_later);
  tcase_add_test (tcase, no_answer_is_an_error);
  tcase_add_test (tcase, another_service_is_refused);
  tcase_add_test (tcase, second_sender_is_refused);
  tcase_add_loop_test (tcase, no_service_code_is_an_error, 0, 6);
  tcase_add_loop_test (tcase, service_code_has_three_forms, 0, 4);
  tcase_add_test (tcase, next_receiver_begins_with_a_key_frame);
  tcase_add_test (tcase, listening_sink_takes_the_next_receiver);
  tcase_add_test (tcase, port_in_use_is_an_error);
  tcase_add_test (tcase, silent_receiver_is_gone);
  tcase_add_test (tcase, killed_receiver_is_gone);
  tcase_add_test (tcase, flush_ends_the_wait_for_a_receiver);
  tcase_add_test (tcase, change_of_state_ends_the_wait_for_a_receiver);
  tcase_add_test (tcase, pause_and_flush_keep_the_connection);
  tcase_add_test (tcase, eos_waits_no_longer_than_its_timeout);
  tcase_add_test (tcase, buffer_that_fits_in_no_packet_is_an_error);
  tcase_add_test (tcase, without_mtu_the_path_is_the_limit);
  tcase_add_test (tcase, lock_is_not_held_while_object_lock_is_taken);
  tcase_add_test (tcase, slow_receiver_is_told_and_frames_are_dropped_whole);
  tcase_add_test (tcase, frames_are_paced_and_not_dropped_for_it);
  tcase_add_test (tcase, dropped_packets_are_told_together);
  tcase_add_loop_test (tcase, key_unit_is_asked_for_when_one_was_lost, 0, 2);
  tcase_add_loop_test (tcase, key_unit_is_asked_for_when_one_was_thrown_away, 0,
      2);
  tcase_add_test (tcase, rate_is_told);
  tcase_add_test (tcase, uri_has_host_port_and_keys);
  tcase_add_test (tcase, element_has_two_names);
  return suite;
}

GST_CHECK_MAIN (dccpthinsink);
