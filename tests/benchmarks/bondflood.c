/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how fast a network sink and source carry packets, over one link or
 * several.
 *
 *   bondflood SINK SOURCE PACKETS RATE LIST [SIZE]
 *
 * The source runs in a process of its own. RATE packets per second (0: as many
 * as possible) are pushed into the sink, with LIST packets in a buffer list
 * (1: single buffers). A packet is RTP with seven packets of MPEG-TS, which is
 * 1328 bytes, or it has SIZE bytes. The program prints the number of packets
 * that were output, the seconds from the first input to the last output, and
 * the seconds of CPU time of sink and source. SINK and SOURCE are elements with
 * their properties, as in a launch line.
 */

#define _GNU_SOURCE
#include <gst/gst.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_SIZE (12 + 7 * 188)
/* Time without an output packet after which the run ends. */
#define IDLE_US (500 * 1000)
#define CONNECT_US (20 * G_USEC_PER_SEC)
#define CAPS "application/x-rtp, media=video, clock-rate=90000, " \
    "encoding-name=MP2T, payload=33, ssrc=(uint)2"

/* State that both processes share. */
typedef struct
{
  gint is_listening;
  gint received;
  gint64 received_at;           /* us */
} Shared;

static Shared *shared;
static gsize packet_size = DEFAULT_SIZE;

G_GNUC_NORETURN static void
fail (const gchar * what)
{
  g_printerr ("bondflood: %s\n", what);
  exit (1);
}

static gdouble
get_time (clockid_t clock)
{
  struct timespec time;

  if (clock_gettime (clock, &time) < 0)
    fail (g_strerror (errno));
  return time.tv_sec + time.tv_nsec / 1e9;
}

static GstElement *
make_pipeline (const gchar * description, const gchar * pad_name, GstPad ** pad)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GError *error = NULL;
  GstElement *element = gst_parse_launch (description, &error);

  if (error)
    fail (error->message);
  gst_bin_add (GST_BIN (pipeline), element);
  *pad = gst_element_get_static_pad (element, pad_name);
  return pipeline;
}

/* --- the source's process ------------------------------------------------- */

static void
note (guint n)
{
  shared->received_at = g_get_monotonic_time ();
  g_atomic_int_add (&shared->received, n);
}

static GstPadProbeReturn
count (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST)
    note (gst_buffer_list_length (GST_PAD_PROBE_INFO_BUFFER_LIST (info)));
  else
    note (1);
  return GST_PAD_PROBE_DROP;
}

G_GNUC_NORETURN static void
receive (const gchar * description)
{
  GstElement *pipeline;
  GstPad *pad;

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  gst_init (NULL, NULL);
  pipeline = make_pipeline (description, "src", &pad);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER
      | GST_PAD_PROBE_TYPE_BUFFER_LIST, count, NULL, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  g_atomic_int_set (&shared->is_listening, TRUE);
  while (TRUE)
    pause ();
}

static pid_t
start_source (const gchar * description)
{
  pid_t pid = fork ();

  if (pid < 0)
    fail (g_strerror (errno));
  if (pid == 0)
    receive (description);
  while (!g_atomic_int_get (&shared->is_listening)) {
    if (waitpid (pid, NULL, WNOHANG) == pid)
      fail ("the source does not run");
    g_usleep (1000);
  }
  return pid;
}

/* --- the sink's process --------------------------------------------------- */

static GstBuffer *
make_packet (void)
{
  static guint16 number;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, packet_size, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 0x47, map.size);
  map.data[0] = 0x80;
  map.data[1] = 33;
  GST_WRITE_UINT16_BE (map.data + 2, number);
  GST_WRITE_UINT32_BE (map.data + 4, number);
  GST_WRITE_UINT32_BE (map.data + 8, 2);
  gst_buffer_unmap (buffer, &map);
  number++;
  return buffer;
}

static void
push (GstPad * pad, guint list_size)
{
  GstBufferList *list;
  GstFlowReturn flow;
  guint i;

  if (list_size == 1) {
    flow = gst_pad_push (pad, make_packet ());
  } else {
    list = gst_buffer_list_new_sized (list_size);
    for (i = 0; i < list_size; i++)
      gst_buffer_list_add (list, make_packet ());
    flow = gst_pad_push_list (pad, list);
  }
  if (flow != GST_FLOW_OK)
    fail (gst_flow_get_name (flow));
}

static GstPad *
open_src_pad (GstPad * peer)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstSegment segment;

  g_assert (gst_pad_link_full (pad, peer, GST_PAD_LINK_CHECK_NOTHING)
      == GST_PAD_LINK_OK);
  gst_pad_set_active (pad, TRUE);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start ("flood"));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  return pad;
}

/* Waits until packets stop arriving. */
static void
wait_for_silence (void)
{
  gint before = -1;

  while (g_atomic_int_get (&shared->received) != before
      || g_get_monotonic_time () - shared->received_at < IDLE_US) {
    before = g_atomic_int_get (&shared->received);
    g_usleep (10000);
  }
}

/* Waits until the first packets were output and the links have been measured.
 */
static void
warm_up (GstPad * pad, guint list_size)
{
  gint64 begin = g_get_monotonic_time ();

  while (g_atomic_int_get (&shared->received) == 0) {
    if (g_get_monotonic_time () - begin > CONNECT_US)
      fail ("nothing comes out");
    push (pad, list_size);
    g_usleep (10000);
  }
  wait_for_silence ();
}

static void
push_all (GstPad * pad, guint n, guint rate, guint list_size)
{
  gint64 begin = g_get_monotonic_time (), wait;
  guint i;

  for (i = 0; i < n; i += list_size) {
    if (rate > 0) {
      wait = begin + (gint64) i *G_USEC_PER_SEC / rate
          - g_get_monotonic_time ();
      if (wait > 0)
        g_usleep (wait);
    }
    push (pad, list_size);
  }
}

static void
flood (GstPad * pad, pid_t source, guint n, guint rate, guint list_size)
{
  gdouble sink_cpu, source_cpu;
  gint64 begin;
  clockid_t clock;
  gint before;

  if (clock_getcpuclockid (source, &clock) != 0)
    fail ("no clock of the source's process");
  warm_up (pad, list_size);
  before = g_atomic_int_get (&shared->received);
  begin = g_get_monotonic_time ();
  sink_cpu = -get_time (CLOCK_PROCESS_CPUTIME_ID);
  source_cpu = -get_time (clock);
  push_all (pad, n, rate, list_size);
  wait_for_silence ();
  sink_cpu += get_time (CLOCK_PROCESS_CPUTIME_ID);
  source_cpu += get_time (clock);
  g_print ("%d %.6f %.6f %.6f\n", g_atomic_int_get (&shared->received)
      - before, (shared->received_at - begin) / 1e6, sink_cpu, source_cpu);
}

int
main (int argc, char **argv)
{
  GstElement *pipeline;
  GstPad *peer, *pad;
  pid_t source;

  if (argc != 6 && argc != 7) {
    g_printerr ("Usage: bondflood SINK SOURCE PACKETS RATE LIST [SIZE]\n");
    return 2;
  }
  if (argc == 7)
    packet_size = MAX (12, atoi (argv[6]));
  shared = mmap (NULL, sizeof (*shared), PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  source = start_source (argv[2]);
  gst_init (NULL, NULL);
  pipeline = make_pipeline (argv[1], "sink", &peer);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  pad = open_src_pad (peer);
  flood (pad, source, atoi (argv[3]), atoi (argv[4]), MAX (1, atoi (argv[5])));
  kill (source, SIGKILL);
  _exit (fflush (stdout) ? 1 : 0);
}
