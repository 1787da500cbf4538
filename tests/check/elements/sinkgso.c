/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that the sinks over UDP send with GSO, and that the corresponding
 * sources receive with GRO. With gso=off, a sink must send without GSO. A relay
 * between the sink and the source counts the datagrams that the kernel has
 * merged. On the loopback interface, the kernel merges only packets that were
 * sent with GSO.
 */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <gio/gio.h>

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gso.h"
#include "gstwirelessgso.h"
#include "sinkpipeline.h"
#include "skipped.h"

#define SIZE 1000
#define N_LISTS 20
#define LIST_LENGTH 50
#define POLL_TIME 20            /* ms */

static const struct
{
  const gchar *sink, *source;
  /* Name of the property for the destination port of the sink. The test sets
   * this property to the port of the relay. */
  const gchar *port;
} protocols[] = {
#ifdef HAVE_MMTP
  {"mmtpsink", "mmtpsrc", "port"},
#endif
#ifdef HAVE_UDPLITE
  {"udplitesink backend=udp", "udplitesrc backend=udp", "port"},
#endif
#ifdef HAVE_DCCPTHIN
  {"dccpthinsink", "dccpthinsrc", "udp-port"},
#endif
};

/* --- the relay ------------------------------------------------------------- */

typedef struct
{
  gint front;                   /* towards the sink, with GRO */
  gint back;                    /* towards the source */
  struct sockaddr_in sink;      /* address of the sink */
  GThread *thread;
  gint stops;                   /* atomic */
  /* Number of packets that the relay has received from the sink (n_packets).
   * The kernel may have merged some of them into large datagrams (GRO). The
   * number of these datagrams is n_merged. Both counters are atomic. */
  gint n_merged, n_packets;
} Relay;

static void
bind_front (Relay * relay)
{
  struct sockaddr_in address = {.sin_family = AF_INET };

  address.sin_addr.s_addr = g_htonl (INADDR_LOOPBACK);
  relay->front = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  fail_unless_equals_int (bind (relay->front, (struct sockaddr *) &address,
          sizeof (address)), 0);
}

static gint
get_front_port (const Relay * relay)
{
  struct sockaddr_in address;
  socklen_t size = sizeof (address);

  fail_unless_equals_int (getsockname (relay->front,
          (struct sockaddr *) &address, &size), 0);
  return g_ntohs (address.sin_port);
}

static void
connect_back (Relay * relay, gint port)
{
  struct sockaddr_in address = {.sin_family = AF_INET };

  address.sin_addr.s_addr = g_htonl (INADDR_LOOPBACK);
  address.sin_port = g_htons (port);
  relay->back = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  fail_unless_equals_int (connect (relay->back, (struct sockaddr *) &address,
          sizeof (address)), 0);
}

/* Receives a datagram from the sink. The kernel may have merged several packets
 * into this datagram (GRO). Returns the size of the datagram. Stores the size
 * of one packet in `segment`. */
static gssize
receive_from_sink (Relay * relay, guint8 * bytes, gsize room, gssize * segment)
{
  guint8 memory[CMSG_SPACE (sizeof (gint))];
  struct iovec vector = { bytes, room };
  struct msghdr message = {.msg_name = &relay->sink,
    .msg_namelen = sizeof (relay->sink),.msg_iov = &vector,.msg_iovlen = 1,
    .msg_control = memory,.msg_controllen = sizeof (memory)
  };
  gssize size = recvmsg (relay->front, &message, MSG_DONTWAIT);
  struct cmsghdr *control = CMSG_FIRSTHDR (&message);
  gint value;

  *segment = MAX (size, 1);
  if (size > 0 && control && control->cmsg_level == IPPROTO_UDP
      && control->cmsg_type == UDP_GRO) {
    memcpy (&value, CMSG_DATA (control), sizeof (value));
    *segment = value;
  }
  return size;
}

static void
relay_from_sink (Relay * relay)
{
  guint8 bytes[65536];
  gssize size, segment, offset;

  while ((size = receive_from_sink (relay, bytes, sizeof (bytes),
              &segment)) > 0) {
    if (size > segment)
      g_atomic_int_inc (&relay->n_merged);
    for (offset = 0; offset < size; offset += segment) {
      g_atomic_int_inc (&relay->n_packets);
      send (relay->back, bytes + offset, MIN (segment, size - offset), 0);
    }
  }
}

static void
relay_from_source (Relay * relay)
{
  guint8 bytes[2048];
  gssize size;

  while ((size = recv (relay->back, bytes, sizeof (bytes), MSG_DONTWAIT)) > 0)
    sendto (relay->front, bytes, size, 0, (struct sockaddr *) &relay->sink,
        sizeof (relay->sink));
}

static gpointer
run_relay (gpointer data)
{
  Relay *relay = data;
  struct pollfd fds[] = { {relay->front, POLLIN}, {relay->back, POLLIN} };

  while (!g_atomic_int_get (&relay->stops)) {
    poll (fds, G_N_ELEMENTS (fds), POLL_TIME);
    relay_from_sink (relay);
    relay_from_source (relay);
  }
  return NULL;
}

/* Opens the socket on which the relay receives packets from the sink. Returns
 * FALSE if the kernel has no GRO for UDP. */
static gboolean
relay_init (Relay * relay)
{
  const gint yes = TRUE;

  memset (relay, 0, sizeof (*relay));
  bind_front (relay);
  return setsockopt (relay->front, IPPROTO_UDP, UDP_GRO, &yes,
      sizeof (yes)) == 0;
}

static void
relay_start (Relay * relay, gint source_port)
{
  connect_back (relay, source_port);
  relay->thread = g_thread_new ("relay", run_relay, relay);
}

static void
relay_clear (Relay * relay)
{
  g_atomic_int_set (&relay->stops, TRUE);
  g_thread_join (relay->thread);
  close (relay->front);
  close (relay->back);
}

/* --- the elements ---------------------------------------------------------- */

static GstElement *
play_source (const gchar * name)
{
  gchar *line = g_strconcat (name, " name=src address=127.0.0.1 port=0 ! "
      "fakesink sync=false async=false", NULL);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);

  g_assert_no_error (error);
  g_free (line);
  fail_if (gst_element_set_state (pipeline, GST_STATE_PLAYING) ==
      GST_STATE_CHANGE_FAILURE);
  return pipeline;
}

static gint
get_source_port (GstElement * pipeline)
{
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  gint port;

  g_object_get (source, "port", &port, NULL);
  gst_object_unref (source);
  return port;
}

/* Checks that the source has enabled GRO on its socket. Linux before 6.11
 * cannot report this setting. The check is then left out. */
static void
check_gro (GstElement * pipeline)
{
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  GSocket *socket;
  gint value;

  g_object_get (source, "used-socket", &socket, NULL);
  if (g_socket_get_option (socket, IPPROTO_UDP, UDP_GRO, &value, NULL))
    fail_unless_equals_int (value, TRUE);
  g_object_unref (socket);
  gst_object_unref (source);
}

static GstHarness *
play_sink (guint protocol, GstWirelessGso gso, gint relay_port,
    gint source_port)
{
  GError *error = NULL;
  GstElement *sink = gst_parse_launch (protocols[protocol].sink, &error);
  GstHarness *harness;

  g_assert_no_error (error);
  g_object_set (sink, "host", "127.0.0.1", "port", source_port, "gso", gso,
      "sync", FALSE, NULL);
  g_object_set (sink, protocols[protocol].port, relay_port, NULL);
  harness = gst_harness_new_with_element (sink, "sink", NULL);
  gst_harness_set_src_caps_str (harness, "application/x-data");
  gst_harness_play (harness);
  gst_object_unref (sink);
  return harness;
}

static void
push_list (GstHarness * harness)
{
  GstBufferList *list = gst_buffer_list_new ();
  GstBuffer *buffer;
  guint i;

  for (i = 0; i < LIST_LENGTH; i++) {
    buffer = gst_buffer_new_allocate (NULL, SIZE, NULL);
    gst_buffer_memset (buffer, 0, i, SIZE);
    gst_buffer_list_add (list, buffer);
  }
  fail_unless_equals_int (gst_pad_push_list (harness->srcpad, list),
      GST_FLOW_OK);
}

/* Sends buffer lists from a sink through the relay to a source. Returns the
 * number of merged datagrams that the relay received, or -1 if the kernel has
 * no GRO. If `until_merged` is TRUE, the function does not stop before the
 * relay has received a merged datagram. */
static gint
count_merged (guint protocol, GstWirelessGso gso, gboolean until_merged)
{
  GstElement *source = play_source (protocols[protocol].source);
  const gint port = get_source_port (source);
  gint i, n_merged = -1;
  GstHarness *harness;
  Relay relay;

  if (!relay_init (&relay)) {
    close (relay.front);
  } else {
    check_gro (source);
    relay_start (&relay, port);
    harness = play_sink (protocol, gso, get_front_port (&relay), port);
    for (i = 0; i < N_LISTS || (until_merged
            && g_atomic_int_get (&relay.n_merged) == 0); i++) {
      push_list (harness);
      g_usleep (1000);
    }
    WAIT_FOR (g_atomic_int_get (&relay.n_packets) >= LIST_LENGTH);
    gst_harness_teardown (harness);
    relay_clear (&relay);
    n_merged = g_atomic_int_get (&relay.n_merged);
  }
  gst_element_set_state (source, GST_STATE_NULL);
  gst_object_unref (source);
  return n_merged;
}

/* --- tests ----------------------------------------------------------------- */

GST_START_TEST (lists_are_sent_with_gso)
{
  if (count_merged (__i__, GST_WIRELESS_GSO_AUTO, TRUE) < 0)
    say_skipped ("lists_are_sent_with_gso", "the kernel has no GRO for UDP");
}

GST_END_TEST;

GST_START_TEST (gso_off_sends_each_packet_by_itself)
{
  gint n_merged = count_merged (__i__, GST_WIRELESS_GSO_OFF, FALSE);

  if (n_merged < 0)
    say_skipped ("gso_off_sends_each_packet_by_itself",
        "the kernel has no GRO for UDP");
  else
    fail_unless_equals_int (n_merged, 0);
}

GST_END_TEST;

static Suite *
sinkgso_suite (void)
{
  Suite *suite = suite_create ("sinkgso");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, lists_are_sent_with_gso, 0,
      G_N_ELEMENTS (protocols));
  tcase_add_loop_test (tcase, gso_off_sends_each_packet_by_itself, 0,
      G_N_ELEMENTS (protocols));
  return suite;
}

GST_CHECK_MAIN (sinkgso);
