/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how many packets a network sink or source can process.
 *
 *   packetflood send ELEMENT PACKETS LIST
 *       Pushes PACKETS packets into a sink. Each buffer list has LIST packets.
 *       If LIST is 1, the packets are pushed as single buffers.
 *   packetflood receive ELEMENT PACKETS PROTOCOL
 *       Sends packets to the socket of a source while the source is paused.
 *       Then lets the source receive the packets. Repeats this until the
 *       source has received at least PACKETS packets. PROTOCOL is "udp",
 *       "udplite" or "both". The value "both" means UDP-Lite packets inside UDP
 *       packets.
 *
 * The program prints the number of packets, the elapsed time in seconds, and
 * the CPU time of the whole process during this time in seconds.
 *
 * A packet is 1316 bytes of RTP with MPEG video. Every second packet has a
 * picture header. UDP-Lite protects headers with its checksum, so the number of
 * bytes to protect differs from packet to packet.
 *
 * ELEMENT is one element with its properties, as in a launch line. It uses the
 * loopback interface and port 5004. A sink sends its packets to a socket from
 * which nobody reads.
 */

#define _GNU_SOURCE
#include <gst/gst.h>

#include <errno.h>
#include <gio/gio.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "udplite.h"

#define PORT 5004
#define SIZE 1316
/* Number of packets that are sent in each round, while the source is paused.
 * The receive buffer of its socket holds about this number of packets. */
#define ROUND 4000
#define RECEIVE_BUFFER (64 << 20)
/* The run ends if the element outputs no packet for this time in us. */
#define IDLE_US (200 * 1000)
#define UDPLITE_SEND_COVERAGE 10        /* linux/udp.h */
#define COVERAGE 20

#define CAPS "application/x-rtp, media=video, clock-rate=90000, " \
    "encoding-name=MPV, payload=32"

typedef struct
{
  guint packets;
  gdouble wall, cpu;            /* s */
} Figures;

static guint8 packets[2][SIZE];

G_GNUC_NORETURN static void
fail (const gchar * what)
{
  g_printerr ("packetflood: %s: %s\n", what, g_strerror (errno));
  exit (1);
}

static gdouble
get_wall (void)
{
  return g_get_monotonic_time () / 1e6;
}

static gdouble
get_cpu (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

/* Makes two packets. Both have an RTP header, the MPEG video header of RFC
 * 2250, and a slice. The second packet also has a picture header in front of
 * the slice. */
static void
make_packets (void)
{
  static const guint8 rtp[12] = { 0x80, 32 };
  static const guint8 mpv[4] = { 0, 0, 0x18 | 2, 0 };
  static const guint8 picture[8] = { 0, 0, 1, 0, 0, 0x17, 0xff, 0xf8 };
  static const guint8 slice[5] = { 0, 0, 1, 1, 0x12 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (packets); i++) {
    guint8 *at = packets[i];

    memset (at, 0x55, SIZE);
    memcpy (at, rtp, sizeof (rtp));
    memcpy (at += sizeof (rtp), mpv, sizeof (mpv));
    at += sizeof (mpv);
    if (i > 0) {
      memcpy (at, picture, sizeof (picture));
      at += sizeof (picture);
    }
    memcpy (at, slice, sizeof (slice));
  }
}

static gint
open_socket (gint protocol)
{
  gint fd = socket (AF_INET, SOCK_DGRAM, protocol);

  if (fd < 0)
    fail ("socket");
  return fd;
}

static struct sockaddr_in
get_address (void)
{
  struct sockaddr_in address = { 0 };

  address.sin_family = AF_INET;
  address.sin_port = g_htons (PORT);
  address.sin_addr.s_addr = g_htonl (INADDR_LOOPBACK);
  return address;
}

static GstElement *
make_element (const gchar * description)
{
  GError *error = NULL;
  GstElement *element = gst_parse_launch (description, &error);

  if (!error)
    return element;
  g_printerr ("packetflood: %s\n", error->message);
  exit (1);
}

/* --- a sink --------------------------------------------------------------- */

/* Opens a socket that receives the packets of the sink. Nobody reads the
 * packets from it. Without such a socket, the kernel would answer "port
 * unreachable", and the answers would disturb the measurement. */
static void
open_discarding_receiver (gint protocol)
{
  struct sockaddr_in address = get_address ();
  gint min = 0, fd = socket (AF_INET, SOCK_DGRAM, protocol);

  if (fd < 0)
    return;
  setsockopt (fd, SOL_SOCKET, SO_RCVBUF, &min, sizeof (min));
  if (bind (fd, (struct sockaddr *) &address, sizeof (address)) < 0)
    fail ("bind");
}

static GstBuffer *
make_buffer (guint number)
{
  return gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY,
      packets[number % 2], SIZE, 0, SIZE, NULL, NULL);
}

static void
push (GstPad * pad, guint list_size)
{
  GstBufferList *list;
  GstFlowReturn flow;
  static guint number;
  guint i;

  if (list_size == 1) {
    flow = gst_pad_push (pad, make_buffer (number++));
  } else {
    list = gst_buffer_list_new_sized (list_size);
    for (i = 0; i < list_size; i++)
      gst_buffer_list_add (list, make_buffer (number++));
    flow = gst_pad_push_list (pad, list);
  }
  if (flow != GST_FLOW_OK) {
    g_printerr ("packetflood: %s\n", gst_flow_get_name (flow));
    exit (1);
  }
}

static GstPad *
open_src_pad (GstElement * sink)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);
  GstPad *peer = gst_element_get_static_pad (sink, "sink");
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstSegment segment;

  g_assert (gst_pad_link (pad, peer) == GST_PAD_LINK_OK);
  gst_object_unref (peer);
  gst_pad_set_active (pad, TRUE);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start ("flood"));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  return pad;
}

static Figures
flood_sink (const gchar * description, guint n, guint list_size)
{
  GstElement *sink = make_element (description);
  Figures figures = { n };
  GstPad *pad;
  guint i;

  open_discarding_receiver (IPPROTO_UDP);
  open_discarding_receiver (UDPLITE_PROTOCOL);
  g_object_set (sink, "host", "127.0.0.1", "port", PORT, "sync", FALSE, NULL);
  gst_element_set_state (sink, GST_STATE_PLAYING);
  pad = open_src_pad (sink);
  push (pad, list_size);        /* waits for the socket */
  figures.cpu = -get_cpu ();
  figures.wall = -get_wall ();
  for (i = 0; i < n; i += list_size)
    push (pad, list_size);
  figures.wall += get_wall ();
  figures.cpu += get_cpu ();
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_pad_set_active (pad, FALSE);
  gst_object_unref (pad);
  gst_object_unref (sink);
  return figures;
}

/* --- a source ------------------------------------------------------------- */

static gint received;           /* atomic */
static gdouble first_wall, first_cpu, last_wall, last_cpu;

/* Called in the streaming thread when the source has output `n` packets. Adds
 * `n` to `received`. If the first or the last packet is among these packets,
 * the function first stores the wall time and the CPU time. A thread that reads
 * the new value of `received` can therefore also read the times that belong to
 * it. */
static void
note (guint n)
{
  gint before = g_atomic_int_get (&received);

  if (before == 0) {
    first_wall = get_wall ();
    first_cpu = get_cpu ();
  }
  if (before + n >= ROUND) {
    last_wall = get_wall ();
    last_cpu = get_cpu ();
  }
  g_atomic_int_add (&received, n);
}

static GstFlowReturn
take_buffer (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  note (1);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstFlowReturn
take_list (GstPad * pad, GstObject * parent, GstBufferList * list)
{
  note (gst_buffer_list_length (list));
  gst_buffer_list_unref (list);
  return GST_FLOW_OK;
}

static GstPad *
open_sink_pad (GstElement * src)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SINK);
  GstPad *peer = gst_element_get_static_pad (src, "src");

  gst_pad_set_chain_function (pad, take_buffer);
  gst_pad_set_chain_list_function (pad, take_list);
  g_assert (gst_pad_link (peer, pad) == GST_PAD_LINK_OK);
  gst_object_unref (peer);
  gst_pad_set_active (pad, TRUE);
  return pad;
}

/* Sets the receive buffer of the source to RECEIVE_BUFFER bytes. This is more
 * than net.core.rmem_max allows, so the kernel permits it only to root. */
static void
enlarge_buffer (GstElement * src)
{
  gint size = RECEIVE_BUFFER, fd;
  GSocket *socket;

  g_object_get (src, "used-socket", &socket, NULL);
  fd = g_socket_get_fd (socket);
  if (setsockopt (fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof (size)) < 0)
    fail ("SO_RCVBUFFORCE");
  g_object_unref (socket);
}

static gint
open_sender (const gchar * protocol)
{
  struct sockaddr_in address = get_address ();
  gboolean is_lite = strcmp (protocol, "udplite") == 0;
  gint fd = open_socket (is_lite ? UDPLITE_PROTOCOL : IPPROTO_UDP);
  gint coverage = COVERAGE, yes = TRUE;

  if (is_lite)
    setsockopt (fd, UDPLITE_PROTOCOL, UDPLITE_SEND_COVERAGE, &coverage,
        sizeof (coverage));
  else if (strcmp (protocol, "both") == 0)
    setsockopt (fd, SOL_SOCKET, SO_NO_CHECK, &yes, sizeof (yes));
  if (connect (fd, (struct sockaddr *) &address, sizeof (address)) < 0)
    fail ("connect");
  return fd;
}

static void
fill_socket (gint fd, gboolean with_header)
{
  DatagramPart payload = { packets[0], SIZE };
  UdpliteAddresses nowhere = { 0 };
  guint8 datagram[UDPLITE_HEADER_SIZE + SIZE];
  gsize header = with_header ? UDPLITE_HEADER_SIZE : 0;
  guint i;

  udplite_write_header (datagram, &nowhere, PORT, PORT, COVERAGE, &payload, 1);
  memcpy (datagram + header, packets[0], SIZE);
  for (i = 0; i < ROUND; i++) {
    if (send (fd, datagram, header + SIZE, 0) < 0)
      fail ("send");
  }
}

static void
wait_for_packets (guint n)
{
  gint64 quiet = g_get_monotonic_time ();
  gint now, before = 0;

  while ((now = g_atomic_int_get (&received)) < n) {
    if (now != before)
      quiet = g_get_monotonic_time ();
    if (g_get_monotonic_time () - quiet > IDLE_US)
      break;
    before = now;
    g_usleep (2000);
  }
  if (now == n)
    return;
  g_printerr ("packetflood: %d packets of %u came out\n", now, n);
  exit (1);
}

static void
drain_once (GstElement * pipeline, gint fd, gboolean with_header,
    Figures * figures)
{
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  g_atomic_int_set (&received, 0);
  fill_socket (fd, with_header);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for_packets (ROUND);
  figures->packets += ROUND;
  figures->wall += last_wall - first_wall;
  figures->cpu += last_cpu - first_cpu;
}

static Figures
drain_source (const gchar * description, guint n, const gchar * protocol)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *src = make_element (description);
  gboolean with_header = strcmp (protocol, "both") == 0;
  Figures figures = { 0 };
  GstPad *pad;
  gint fd;

  g_object_set (src, "address", "127.0.0.1", "port", PORT, NULL);
  gst_bin_add (GST_BIN (pipeline), src);
  pad = open_sink_pad (src);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  enlarge_buffer (src);
  fd = open_sender (protocol);
  drain_once (pipeline, fd, with_header, &figures);     /* warms up */
  memset (&figures, 0, sizeof (figures));
  while (figures.packets < n)
    drain_once (pipeline, fd, with_header, &figures);
  close (fd);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_pad_set_active (pad, FALSE);
  gst_object_unref (pad);
  gst_object_unref (pipeline);
  return figures;
}

int
main (int argc, char **argv)
{
  Figures figures;

  gst_init (&argc, &argv);
  make_packets ();
  if (argc == 5 && !strcmp (argv[1], "send")) {
    figures = flood_sink (argv[2], atoi (argv[3]), MAX (1, atoi (argv[4])));
  } else if (argc == 5 && !strcmp (argv[1], "receive")) {
    figures = drain_source (argv[2], atoi (argv[3]), argv[4]);
  } else {
    g_printerr ("Usage: packetflood send ELEMENT PACKETS LIST\n"
        "       packetflood receive ELEMENT PACKETS udp|udplite|both\n");
    return 2;
  }
  g_print ("%u %.6f %.6f\n", figures.packets, figures.wall, figures.cpu);
  return 0;
}
