/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pushes packets into an element and takes its output, for benchmarks.
 *
 *   linkflood flood ELEMENT PACKETS LIST
 *       Pushes packets as fast as possible. Each buffer list has LIST packets.
 *       If LIST is 1, the packets are pushed as single buffers. The program
 *       prints the number of packets that were output, and the time in s
 *       until the last of them was output.
 *   linkflood late ELEMENT PACKETS DELAY_NS
 *       Pushes one packet per millisecond. The element has to output each
 *       packet DELAY_NS later. It either waits for the timestamp of the packet
 *       or delays the packet itself. The program prints the median and the 99th
 *       percentile of the lateness of the packets in ns. For the element
 *       wirelesslink, it also prints the lateness from the statistics of the
 *       element.
 *   linkflood late clock PACKETS DELAY_NS
 *       Measures the lateness of waiting on the clock, without an element.
 *
 * ELEMENT is one element with its properties, as in a launch line.
 */

#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 1400
#define PERIOD GST_MSECOND
/* The run ends if the element outputs no packet for this time in us. */
#define IDLE_US (500 * 1000)

typedef struct
{
  GstClock *clock;
  GstElement *pipeline, *element;
  GstPad *src, *sink;
  gint received;                /* atomic */
  /* Time of the last output in us, by the monotonic clock. */
  gint64 last;
  GstClockTime delay;
  GArray *lateness;             /* of guint64, ns */
  /* The time in ns at which each packet was pushed; the index is the number of
   * the packet. */
  GstClockTime *sent;
} Flood;

/* Records how late the packet with the number `n` is. Called when the packet is
 * output. */
static void
note_lateness (Flood * flood, guint n)
{
  GstClockTime now = gst_clock_get_time (flood->clock);
  GstClockTime due = flood->sent[n] + flood->delay;
  guint64 late = now > due ? now - due : 0;

  g_array_append_val (flood->lateness, late);
}

static GstFlowReturn
take_packet (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  Flood *flood = g_object_get_data (G_OBJECT (pad), "flood");

  if (flood->sent)
    note_lateness (flood, g_atomic_int_get (&flood->received));
  flood->last = g_get_monotonic_time ();
  g_atomic_int_inc (&flood->received);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstFlowReturn
take_list (GstPad * pad, GstObject * parent, GstBufferList * list)
{
  Flood *flood = g_object_get_data (G_OBJECT (pad), "flood");
  guint i, n = gst_buffer_list_length (list);

  for (i = 0; flood->sent && i < n; i++)
    note_lateness (flood, g_atomic_int_get (&flood->received) + i);
  flood->last = g_get_monotonic_time ();
  g_atomic_int_add (&flood->received, n);
  gst_buffer_list_unref (list);
  return GST_FLOW_OK;
}

static gboolean
answer_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_latency (query, TRUE, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static gboolean
is_link (const Flood * flood)
{
  return !strcmp (G_OBJECT_TYPE_NAME (flood->element), "GstWirelessLink");
}

/* Returns the sink pad or the source pad of the tested element, depending on
 * `direction`. The element wirelesslink creates both pads when its sink pad is
 * requested, so the sink pad has to be requested first. */
static GstPad *
get_element_pad (const Flood * flood, GstPadDirection direction)
{
  if (!is_link (flood))
    return gst_element_get_static_pad (flood->element,
        direction == GST_PAD_SINK ? "sink" : "src");
  if (direction == GST_PAD_SINK)
    return gst_element_request_pad_simple (flood->element, "sink_0");
  return gst_element_get_static_pad (flood->element, "src_0");
}

/* Creates a pad of this program with the direction `direction`. Links it to the
 * tested element, and returns it. */
static GstPad *
open_pad (Flood * flood, GstPadDirection direction)
{
  GstPad *pad = gst_pad_new (NULL, direction);
  GstPad *other = get_element_pad (flood, direction == GST_PAD_SINK ?
      GST_PAD_SRC : GST_PAD_SINK);
  GstPadLinkReturn linked;

  g_object_set_data (G_OBJECT (pad), "flood", flood);
  gst_pad_set_query_function (pad, answer_query);
  if (direction == GST_PAD_SINK) {
    gst_pad_set_chain_function (pad, take_packet);
    gst_pad_set_chain_list_function (pad, take_list);
    linked = gst_pad_link (other, pad);
  } else {
    linked = gst_pad_link (pad, other);
  }
  g_assert (linked == GST_PAD_LINK_OK);
  gst_pad_set_active (pad, TRUE);
  gst_object_unref (other);
  return pad;
}

static void
begin_stream (Flood * flood)
{
  GstCaps *caps = gst_caps_new_empty_simple ("application/x-packets");
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (flood->src, gst_event_new_stream_start ("flood"));
  gst_pad_push_event (flood->src, gst_event_new_caps (caps));
  gst_pad_push_event (flood->src, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

static void
open_flood (Flood * flood, const gchar * description)
{
  GError *error = NULL;

  memset (flood, 0, sizeof (*flood));
  flood->clock = gst_system_clock_obtain ();
  flood->lateness = g_array_new (FALSE, FALSE, sizeof (guint64));
  if (!description)
    return;
  flood->element = gst_parse_launch (description, &error);
  if (error) {
    g_printerr ("linkflood: %s\n", error->message);
    exit (1);
  }
  flood->pipeline = gst_pipeline_new (NULL);
  gst_pipeline_use_clock (GST_PIPELINE (flood->pipeline), flood->clock);
  gst_bin_add (GST_BIN (flood->pipeline), flood->element);
  flood->src = open_pad (flood, GST_PAD_SRC);
  flood->sink = open_pad (flood, GST_PAD_SINK);
  gst_element_set_state (flood->pipeline, GST_STATE_PLAYING);
  begin_stream (flood);
}

static void
close_flood (Flood * flood)
{
  if (flood->pipeline) {
    gst_element_set_state (flood->pipeline, GST_STATE_NULL);
    gst_pad_set_active (flood->src, FALSE);
    gst_pad_set_active (flood->sink, FALSE);
    gst_object_unref (flood->src);
    gst_object_unref (flood->sink);
    gst_object_unref (flood->pipeline);
  }
  gst_object_unref (flood->clock);
  g_array_unref (flood->lateness);
  g_free (flood->sent);
}

static GstBuffer *
make_packet (void)
{
  static guint8 data[SIZE];

  return gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, data, SIZE, 0,
      SIZE, NULL, NULL);
}

static void
push (Flood * flood, guint list_size)
{
  GstBufferList *list;
  guint i;

  if (list_size == 1) {
    gst_pad_push (flood->src, make_packet ());
    return;
  }
  list = gst_buffer_list_new_sized (list_size);
  for (i = 0; i < list_size; i++)
    gst_buffer_list_add (list, make_packet ());
  gst_pad_push_list (flood->src, list);
}

/* Waits until the element has output `packets` packets. Returns earlier if it
 * outputs no packet for IDLE_US us. */
static void
wait_for (Flood * flood, guint packets)
{
  gint64 quiet = g_get_monotonic_time ();
  gint received, before = -1;

  while ((received = g_atomic_int_get (&flood->received)) < packets) {
    if (received != before)
      quiet = g_get_monotonic_time ();
    else if (g_get_monotonic_time () - quiet > IDLE_US)
      return;
    before = received;
    g_usleep (200);
  }
}

static void
run_flood (const gchar * description, guint packets, guint list_size)
{
  Flood flood;
  gint64 begin;
  guint i;

  open_flood (&flood, description);
  begin = g_get_monotonic_time ();
  for (i = 0; i < packets; i += list_size)
    push (&flood, list_size);
  wait_for (&flood, packets);
  g_print ("%d %.6f\n", flood.received, (flood.last - begin) / 1e6);
  close_flood (&flood);
}

static void
wait_until (GstClock * clock, GstClockTime time)
{
  GstClockID id = gst_clock_new_single_shot_id (clock, time);

  gst_clock_id_wait (id, NULL);
  gst_clock_id_unref (id);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return x < y ? -1 : x > y;
}

static guint64
get_quantile (GArray * sorted, gdouble part)
{
  if (sorted->len == 0)
    return 0;
  return g_array_index (sorted, guint64, (guint) (part * (sorted->len - 1)));
}

/* Statistics of wirelesslink. */
static void
print_own (const Flood * flood)
{
  gint64 median = 0, p99 = 0;
  GstStructure *stats = NULL;

  if (!is_link (flood))
    return;
  g_object_get (flood->element, "stats", &stats, NULL);
  gst_structure_get (stats, "lateness-median", G_TYPE_INT64, &median,
      "lateness-p99", G_TYPE_INT64, &p99, NULL);
  g_print (" %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, median, p99);
  gst_structure_free (stats);
}

/* Measures how late a wait on the clock ends, without any element. The result
 * is a lower limit for the lateness of an element, because an element waits on
 * the same clock. */
static void
wait_late (Flood * flood, GstClockTime begin, guint packets)
{
  guint i;

  for (i = 0; i < packets; i++) {
    flood->sent[i] = begin + i * PERIOD;
    wait_until (flood->clock, flood->sent[i] + flood->delay);
    note_lateness (flood, i);
  }
}

static void
push_late (Flood * flood, GstClockTime begin, guint packets)
{
  GstClockTime base = gst_element_get_base_time (flood->pipeline);
  guint i;

  for (i = 0; i < packets; i++) {
    GstBuffer *buffer = make_packet ();

    flood->sent[i] = begin + i * PERIOD;
    /* The element wirelesslink does not block the thread that pushes, so this
     * loop itself waits until the packet has to be pushed. Any other tested
     * element blocks the thread until the timestamp of the packet. */
    if (is_link (flood)) {
      wait_until (flood->clock, flood->sent[i]);
      flood->sent[i] = gst_clock_get_time (flood->clock);
    }
    GST_BUFFER_PTS (buffer) = flood->sent[i] + flood->delay - base;
    gst_pad_push (flood->src, buffer);
  }
  wait_for (flood, packets);
}

static void
run_late (const gchar * description, guint packets, GstClockTime delay)
{
  GstClockTime begin;
  Flood flood;

  open_flood (&flood, strcmp (description, "clock") ? description : NULL);
  flood.delay = delay;
  flood.sent = g_new0 (GstClockTime, packets);
  begin = gst_clock_get_time (flood.clock) + 50 * GST_MSECOND;
  if (flood.pipeline)
    push_late (&flood, begin, packets);
  else
    wait_late (&flood, begin, packets);
  g_array_sort (flood.lateness, compare);
  g_print ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
      get_quantile (flood.lateness, 0.5), get_quantile (flood.lateness, 0.99));
  if (flood.pipeline)
    print_own (&flood);
  g_print ("\n");
  close_flood (&flood);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  if (argc == 5 && !strcmp (argv[1], "flood")) {
    run_flood (argv[2], atoi (argv[3]), atoi (argv[4]));
  } else if (argc == 5 && !strcmp (argv[1], "late")) {
    run_late (argv[2], atoi (argv[3]), g_ascii_strtoull (argv[4], NULL, 10));
  } else {
    g_printerr ("Usage: linkflood flood ELEMENT PACKETS LIST\n"
        "       linkflood late ELEMENT|clock PACKETS DELAY_NS\n");
    return 2;
  }
  return 0;
}
