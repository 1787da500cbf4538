/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dcctpthinsink and dcctpthinsrc on the loopback: loopback.h with the two in it,
 * and a network between them that can be told to lose.
 */

#ifndef __DCCP_THIN_BENCH_H__
#define __DCCP_THIN_BENCH_H__

#include "loopback.h"

#include <gio/gio.h>

#include "skipped.h"

/* --- which of them -------------------------------------------------------- */

/* __i__: bit 0: the sink listens; bit 1: raw */
#define WAYS 4

/* As the properties' enumerations have them, for elements that begin to connect
 * as soon as they are made */
#define CONNECT 0
#define LISTEN 1

static inline gint
encapsulation_of (gint way)
{
  return way >> 1;
}

static inline gboolean
sink_listens (gint way)
{
  return (way & 1) != 0;
}

/* FALSE: it says that raw sockets are skipped */
static inline gboolean
may_have (gint way, const gchar * check)
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

#define NEED(way) \
  G_STMT_START { if (!may_have (way, __func__)) return; } G_STMT_END

/* --- one element ---------------------------------------------------------- */

static inline void
src_init (End * end, const gchar * first_property, ...)
{
  GstElement *element;
  va_list values;

  va_start (values, first_property);
  element = make_element ("dcctpthinsrc", first_property, values);
  va_end (values);
  end_init (end, element, NULL, "src");
}

static inline void
sink_init (End * end, const gchar * first_property, ...)
{
  GstElement *element;
  va_list values;

  va_start (values, first_property);
  element = make_element ("dcctpthinsink", first_property, values);
  va_end (values);
  g_object_set (element, "sync", FALSE, "async", FALSE, NULL);
  end_init (end, element, "sink", NULL);
}

/* It listens at port_of () of 127.0.0.1. */
static inline void
listening_src_init (End * end)
{
  src_init (end, "address", "127.0.0.1", "port", 0, NULL);
  gst_harness_play (end->harness);
}

static inline void
play_sink (End * end)
{
  gst_harness_set_src_caps_str (end->harness, "application/x-test");
}

/* --- a sender and its receiver -------------------------------------------- */

/* The one that listens has its port when its socket is open. */
static inline gint
wait_for_port (End * end)
{
  gint port = 0;

  while (port == 0) {
    g_usleep (1000);
    g_object_get (end->element, "port", &port, NULL);
  }
  return port;
}

static inline void
init_listening_sink (Pair * pair, gint encapsulation)
{
  sink_init (&pair->sink, "bind-address", "127.0.0.1", "port", 0, "mode",
      LISTEN, "encapsulation", encapsulation, NULL);
  play_sink (&pair->sink);
  src_init (&pair->src, "host", "127.0.0.1", "port", wait_for_port
      (&pair->sink), "mode", CONNECT, "encapsulation", encapsulation, NULL);
  gst_harness_play (pair->src.harness);
}

static inline void
pair_init_way (Pair * pair, gint way)
{
  if (sink_listens (way)) {
    init_listening_sink (pair, encapsulation_of (way));
    return;
  }
  src_init (&pair->src, "address", "127.0.0.1", "port", 0, "encapsulation",
      encapsulation_of (way), NULL);
  gst_harness_play (pair->src.harness);
  sink_init (&pair->sink, "host", "127.0.0.1", "port", port_of (&pair->src),
      "encapsulation", encapsulation_of (way), NULL);
  play_sink (&pair->sink);
}

static inline void
pair_init (Pair * pair)
{
  pair_init_way (pair, 0);
}

static inline void
push_eos (Pair * pair)
{
  fail_unless (gst_harness_push_event (pair->sink.harness,
          gst_event_new_eos ()));
}

static inline void
expect_eos (Pair * pair)
{
  gst_event_unref (pull_event (pair, GST_EVENT_EOS));
}

static inline void
wait_for_stat (End * end, const gchar * name, guint64 least)
{
  while (stat_of (end, name) < least)
    g_usleep (1000);
}

/* --- a network that can be told to lose ----------------------------------- */

typedef struct
{
  GSocket *front, *back;        /* to the sender, to the receiver */
  GSocketAddress *sender;
  GThread *thread;
  gint stopping;                /* atomic, all */
  gint cut;                     /* nothing passes */
  gint n_to_lose;               /* of the next packets of at least so many bytes */
  gint size_to_lose;
} Relay;

static inline GSocket *
relay_socket_new (void)
{
  GSocketAddress *any = g_inet_socket_address_new_from_string ("127.0.0.1", 0);
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
      G_SOCKET_PROTOCOL_UDP, NULL);

  fail_unless (g_socket_bind (socket, any, FALSE, NULL));
  g_socket_set_blocking (socket, FALSE);
  g_object_unref (any);
  return socket;
}

static inline gboolean
relay_loses (Relay * relay, gssize size)
{
  if (g_atomic_int_get (&relay->cut))
    return TRUE;
  if (size < g_atomic_int_get (&relay->size_to_lose)
      || g_atomic_int_get (&relay->n_to_lose) <= 0)
    return FALSE;
  g_atomic_int_add (&relay->n_to_lose, -1);
  return TRUE;
}

static inline gboolean
relay_forward (Relay * relay)
{
  GSocketAddress *from = NULL;
  gchar bytes[4096];
  gssize size;

  size = g_socket_receive_from (relay->front, &from, bytes, sizeof (bytes),
      NULL, NULL);
  if (size >= 0) {
    g_clear_object (&relay->sender);
    relay->sender = from;
    if (!relay_loses (relay, size))
      g_socket_send (relay->back, bytes, size, NULL, NULL);
    return TRUE;
  }
  size = g_socket_receive (relay->back, bytes, sizeof (bytes), NULL, NULL);
  if (size >= 0 && relay->sender && !g_atomic_int_get (&relay->cut))
    g_socket_send_to (relay->front, relay->sender, bytes, size, NULL, NULL);
  return size >= 0;
}

static inline gpointer
relay_run (gpointer data)
{
  Relay *relay = data;

  while (!g_atomic_int_get (&relay->stopping)) {
    if (!relay_forward (relay))
      g_usleep (500);
  }
  return NULL;
}

static inline guint16
relay_init (Relay * relay, guint16 port)
{
  GSocketAddress *to = g_inet_socket_address_new_from_string ("127.0.0.1",
      port);
  GSocketAddress *own;

  memset (relay, 0, sizeof (*relay));
  relay->front = relay_socket_new ();
  relay->back = relay_socket_new ();
  fail_unless (g_socket_connect (relay->back, to, NULL, NULL));
  g_object_unref (to);
  own = g_socket_get_local_address (relay->front, NULL);
  port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (own));
  g_object_unref (own);
  relay->thread = g_thread_new ("relay", relay_run, relay);
  return port;
}

static inline void
relay_clear (Relay * relay)
{
  g_atomic_int_set (&relay->stopping, TRUE);
  g_thread_join (relay->thread);
  g_clear_object (&relay->sender);
  g_object_unref (relay->front);
  g_object_unref (relay->back);
}

/* With a network between them; `timeout`: ns, of the receiver's sender */
static inline void
pair_init_relay (Pair * pair, Relay * relay, guint64 timeout)
{
  guint16 udp_port;

  src_init (&pair->src, "address", "127.0.0.1", "port", 0, "connect-timeout",
      timeout, NULL);
  gst_harness_play (pair->src.harness);
  udp_port = relay_init (relay, port_of (&pair->src));
  sink_init (&pair->sink, "host", "127.0.0.1", "port", port_of (&pair->src),
      "udp-port", (gint) udp_port, NULL);
  play_sink (&pair->sink);
}

#endif /* __DCCP_THIN_BENCH_H__ */
