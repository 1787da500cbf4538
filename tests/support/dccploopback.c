/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dccploopback.h"

/* --- combinations --------------------------------------------------------- */

static gint
encapsulation_of (gint way)
{
  return way >> 1;
}

gboolean
dccp_loopback_sink_listens (gint way)
{
  return (way & 1) != 0;
}

gboolean
dccp_loopback_may_have (gint way, const gchar * check)
{
  GstElement *src;
  gboolean may;

  if (!(way & 2))
    return TRUE;
  src = gst_element_factory_make ("dcctpthinsrc", NULL);
  g_object_set (src, "port", 0, "encapsulation", 1, NULL);
  may = gst_element_set_state (src, GST_STATE_PAUSED)
      != GST_STATE_CHANGE_FAILURE;
  gst_element_set_state (src, GST_STATE_NULL);
  gst_object_unref (src);
  if (!may)
    say_skipped (check, "raw sockets: no CAP_NET_RAW");
  return may;
}

/* --- one element ---------------------------------------------------------- */

void
dccp_loopback_src_init (LoopbackEnd * end, const gchar * first_property, ...)
{
  va_list values;

  va_start (values, first_property);
  loopback_src_init (end, "dcctpthinsrc", first_property, values);
  va_end (values);
}

void
dccp_loopback_sink_init (LoopbackEnd * end, const gchar * first_property, ...)
{
  va_list values;

  va_start (values, first_property);
  loopback_sink_init (end, "dcctpthinsink", first_property, values);
  va_end (values);
}

void
dccp_loopback_listening_src_init (LoopbackEnd * end)
{
  dccp_loopback_src_init (end, "address", "127.0.0.1", "port", 0, NULL);
  gst_harness_play (end->harness);
}

void
dccp_loopback_play_sink (LoopbackEnd * end)
{
  gst_harness_set_src_caps_str (end->harness, "application/x-test");
}

/* --- a sender and its receiver -------------------------------------------- */

/* Waits until the listening element has opened its socket, because it knows its
 * port only then. Returns this port. */
static gint
wait_for_port (LoopbackEnd * end)
{
  gint port = 0;

  while (port == 0) {
    g_usleep (1000);
    g_object_get (end->element, "port", &port, NULL);
  }
  return port;
}

static void
init_listening_sink (LoopbackFixture * fixture, gint encapsulation)
{
  dccp_loopback_sink_init (&fixture->sink, "bind-address", "127.0.0.1", "port",
      0, "mode", LISTEN, "encapsulation", encapsulation, NULL);
  dccp_loopback_play_sink (&fixture->sink);
  dccp_loopback_src_init (&fixture->src, "host", "127.0.0.1", "port",
      wait_for_port (&fixture->sink), "mode", CONNECT, "encapsulation",
      encapsulation, NULL);
  gst_harness_play (fixture->src.harness);
}

void
dccp_loopback_fixture_init_way (LoopbackFixture * fixture, gint way)
{
  if (dccp_loopback_sink_listens (way)) {
    init_listening_sink (fixture, encapsulation_of (way));
    return;
  }
  dccp_loopback_src_init (&fixture->src, "address", "127.0.0.1", "port", 0,
      "encapsulation", encapsulation_of (way), NULL);
  gst_harness_play (fixture->src.harness);
  dccp_loopback_sink_init (&fixture->sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture->src),
      "encapsulation", encapsulation_of (way), NULL);
  dccp_loopback_play_sink (&fixture->sink);
}

void
dccp_loopback_fixture_init (LoopbackFixture * fixture)
{
  dccp_loopback_fixture_init_way (fixture, 0);
}

void
dccp_loopback_push_eos (LoopbackFixture * fixture)
{
  fail_unless (gst_harness_push_event (fixture->sink.harness,
          gst_event_new_eos ()));
}

void
dccp_loopback_expect_eos (LoopbackFixture * fixture)
{
  gst_event_unref (loopback_pull_event (fixture, GST_EVENT_EOS));
}

void
dccp_loopback_wait_for_stat (LoopbackEnd * end, const gchar * name, guint64 min)
{
  while (loopback_stat_of (end, name) < min)
    g_usleep (1000);
}

/* --- a relay that drops packets ------------------------------------------- */

GSocket *
lossy_relay_socket_new (void)
{
  GSocketAddress *any = g_inet_socket_address_new_from_string ("127.0.0.1", 0);
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
      G_SOCKET_PROTOCOL_UDP, NULL);

  fail_unless (g_socket_bind (socket, any, FALSE, NULL));
  g_socket_set_blocking (socket, FALSE);
  g_object_unref (any);
  return socket;
}

static gboolean
lossy_relay_loses (LossyRelay * relay, gssize size)
{
  if (g_atomic_int_get (&relay->cut))
    return TRUE;
  if (size < g_atomic_int_get (&relay->size_to_lose)
      || g_atomic_int_get (&relay->n_to_lose) <= 0)
    return FALSE;
  g_atomic_int_add (&relay->n_to_lose, -1);
  return TRUE;
}

static gboolean
lossy_relay_forward (LossyRelay * relay)
{
  GSocketAddress *from = NULL;
  gchar bytes[4096];
  gssize size;

  size = g_socket_receive_from (relay->front, &from, bytes, sizeof (bytes),
      NULL, NULL);
  if (size >= 0) {
    g_clear_object (&relay->sender);
    relay->sender = from;
    if (!lossy_relay_loses (relay, size))
      g_socket_send (relay->back, bytes, size, NULL, NULL);
    return TRUE;
  }
  size = g_socket_receive (relay->back, bytes, sizeof (bytes), NULL, NULL);
  if (size >= 0 && relay->sender && !g_atomic_int_get (&relay->cut))
    g_socket_send_to (relay->front, relay->sender, bytes, size, NULL, NULL);
  return size >= 0;
}

static gpointer
lossy_relay_run (gpointer data)
{
  LossyRelay *relay = data;

  while (!g_atomic_int_get (&relay->stopping)) {
    if (!lossy_relay_forward (relay))
      g_usleep (500);
  }
  return NULL;
}

static guint16
lossy_relay_init (LossyRelay * relay, guint16 port)
{
  GSocketAddress *to = g_inet_socket_address_new_from_string ("127.0.0.1",
      port);
  GSocketAddress *own;

  memset (relay, 0, sizeof (*relay));
  relay->front = lossy_relay_socket_new ();
  relay->back = lossy_relay_socket_new ();
  fail_unless (g_socket_connect (relay->back, to, NULL, NULL));
  g_object_unref (to);
  own = g_socket_get_local_address (relay->front, NULL);
  port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (own));
  g_object_unref (own);
  relay->thread = g_thread_new ("relay", lossy_relay_run, relay);
  return port;
}

void
lossy_relay_clear (LossyRelay * relay)
{
  g_atomic_int_set (&relay->stopping, TRUE);
  g_thread_join (relay->thread);
  g_clear_object (&relay->sender);
  g_object_unref (relay->front);
  g_object_unref (relay->back);
}

void
dccp_loopback_fixture_init_relay (LoopbackFixture * fixture, LossyRelay * relay,
    guint64 timeout)
{
  guint16 udp_port;

  dccp_loopback_src_init (&fixture->src, "address", "127.0.0.1", "port", 0,
      "peer-timeout", (guint) (timeout / GST_MSECOND), NULL);
  gst_harness_play (fixture->src.harness);
  udp_port = lossy_relay_init (relay, loopback_port_of (&fixture->src));
  dccp_loopback_sink_init (&fixture->sink, "host", "127.0.0.1", "port",
      loopback_port_of (&fixture->src), "udp-port", (gint) udp_port, NULL);
  dccp_loopback_play_sink (&fixture->sink);
}
