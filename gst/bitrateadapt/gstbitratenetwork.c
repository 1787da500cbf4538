/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the element that reports the state of the network, and reads its
 * statistics. The header documents the functions.
 */

#include "gstbitratenetwork.h"

#include <string.h>

#include "gstbitratewalk.h"

#define ESTIMATE "estimated-bitrate"
#define PADDING "padding-bitrate"
#define QUEUE_LEVEL "current-level-bytes"

/* Upper limit for the numbers that are read from the statistics of elements.
 * With this limit, a sum of several numbers is still in the range of a guint64.
 */
#define MAX_NUMBER 1e18

/* --- numbers in a structure ----------------------------------------------- */

/* NaN becomes 0, too. */
static gdouble
limit_number (gdouble number)
{
  return number > 0 ? MIN (number, MAX_NUMBER) : 0;
}

/* Reads the field `name` of `stats` as a number. The field may have any numeric
 * type, because elements use different types for their counters. A negative
 * number becomes 0, and a number above MAX_NUMBER becomes MAX_NUMBER. Returns
 * FALSE if the field is missing or contains no number. */
static gboolean
get_field (const GstStructure * stats, const gchar * name, gdouble * number)
{
  const GValue *field = gst_structure_get_value (stats, name);
  GValue value = G_VALUE_INIT;
  gboolean done;

  if (!field)
    return FALSE;
  g_value_init (&value, G_TYPE_DOUBLE);
  done = g_value_transform (field, &value);
  if (done)
    *number = limit_number (g_value_get_double (&value));
  g_value_unset (&value);
  return done;
}

/* Adds up the counters in `names`. A counter that `stats` does not contain
 * counts as 0.
 */
static guint64
add_up (const GstStructure * stats, const gchar * const *names)
{
  gdouble sum = 0, number;

  for (; *names; names++)
    if (get_field (stats, *names, &number) && number > 0)
      sum += number;
  return sum;
}

typedef void (*ReadEntry) (const GstStructure * entry,
    GstBitrateNetwork * network);

/* Calls `read` for each structure in the array that the field `name` of `stats`
 * contains. The statistics of srtsink, ristsink and rtpsession have such
 * arrays. */
static void
read_entries (const GstStructure * stats, const gchar * name, ReadEntry read,
    GstBitrateNetwork * network)
{
  const GValue *field = gst_structure_get_value (stats, name);
  GValueArray *array;
  guint i;

  G_GNUC_BEGIN_IGNORE_DEPRECATIONS;
  if (!field || !G_VALUE_HOLDS (field, g_value_array_get_type ()))
    return;
  array = g_value_get_boxed (field);
  for (i = 0; array && i < array->n_values; i++) {
    const GValue *entry = g_value_array_get_nth (array, i);

    if (GST_VALUE_HOLDS_STRUCTURE (entry))
      read (gst_value_get_structure (entry), network);
  }
  G_GNUC_END_IGNORE_DEPRECATIONS;
}

static GstStructure *
get_stats (GstElement * element)
{
  GstStructure *stats = NULL;
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS
      (element), "stats");

  if (pspec && g_type_is_a (pspec->value_type, GST_TYPE_STRUCTURE))
    g_object_get (element, "stats", &stats, NULL);
  return stats;
}

/* --- elements with an estimate -------------------------------------------- */

/* Names of counters in the statistics of mmtpsink, dccpthinsink, ifdsink and
 * ifdqueue. The counters show losses that may require a new key frame. Frames
 * that mmtpsink itself dropped are not counted here, because mmtpsink requests
 * a key frame when it drops a frame. */
static const gchar *const network_losses[] = {
  "not-repaired", "packets-lost", "dropped-received", NULL
};

static const gchar *const dropped[] = {
  "dropped-references", "dropped-i", "dropped-p", NULL
};

static const gchar *const dropped_key_frames[] = {
  "discarded-key-frames", NULL
};

/* Counters of the data that wait at the sender. "queued-bytes" is a counter of
 * mmtpsink. "bytes-waiting" and "network-unsent-bytes" are counters of ifdsink.
 */
static const gchar *const waiting[] = {
  "queued-bytes", "bytes-waiting", "network-unsent-bytes", NULL
};

/* mmtpsink can send over several network paths. This struct contains sums over
 * all of its paths, computed from the statistics of each path. */
typedef struct
{
  gdouble in_flight;            /* bytes */
  /* Number of packets that arrived too late. The receiver drops them, so they
   * count as lost. */
  gdouble late;
  /* Sum of the weighted queueing delays of the paths, in ns. The weight of a
   * path is the fraction of the stream (0 to 1) that is sent on it. */
  gdouble queue_delay;
  /* Fraction of the stream (0 to 1) that is sent on the paths whose queueing
   * delay is known */
  gdouble share;
} Channels;

static void
add_channel (Channels * channels, const GstStructure * stats)
{
  gdouble number, share = 0;

  if (get_field (stats, "in-flight", &number))
    channels->in_flight += number;
  if (get_field (stats, "late", &number))
    channels->late += number;
  gst_structure_get_double (stats, "share", &share);
  if (!get_field (stats, "queue-delay", &number))
    return;
  channels->queue_delay += share * number;
  channels->share += share;
}

/* Reads the statistics of the paths of mmtpsink. The queueing delay is the
 * weighted mean of the queueing delays of the paths. The weight of a path is
 * its share of the stream. */
static void
read_channels (const GstStructure * stats, GstBitrateNetwork * network)
{
  const GValue *list = gst_structure_get_value (stats, "channels");
  Channels channels = { 0 };
  guint i;

  if (!list || !GST_VALUE_HOLDS_ARRAY (list))
    return;
  for (i = 0; i < gst_value_array_get_size (list); i++) {
    const GValue *channel = gst_value_array_get_value (list, i);

    if (GST_VALUE_HOLDS_STRUCTURE (channel))
      add_channel (&channels, gst_value_get_structure (channel));
  }
  network->report.in_flight = channels.in_flight;
  network->lost[BITRATE_LOSS_NETWORK] += channels.late;
  if (channels.share > 0)
    network->report.network_queue = channels.queue_delay / channels.share;
}

/* Reads the property `latency` of mmtpsink, which is a guint in ms. A property
 * `latency` of another type is ignored. */
static void
read_latency (GstElement * element, GstBitrateNetwork * network)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS
      (element), "latency");
  guint latency;

  if (!pspec || pspec->value_type != G_TYPE_UINT)
    return;
  g_object_get (element, "latency", &latency, NULL);
  network->latency = latency * GST_MSECOND;
}

/* Names of the fields in the property `stats` that describe the network path.
 * The first name in each array is a field of dccpthinsink, and the second one a
 * field of ifdsink. Each of these elements has only one path. */
static const gchar *const in_flight[] = {
  "in-flight", "network-in-flight", NULL
};

static const gchar *const queue_delay[] = {
  "queue-delay", "network-queue-delay", NULL
};
static const gchar *const round_trip[] = { "round-trip", "network-rtt", NULL };

/* Stores in `number` the value of the first field of `names` that exists in
 * `stats`. Returns FALSE if `stats` contains none of these fields. */
static gboolean
get_one_of (const GstStructure * stats, const gchar * const *names,
    gdouble * number)
{
  for (; *names; names++)
    if (get_field (stats, *names, number))
      return TRUE;
  return FALSE;
}

/* Reads the statistics of dccpthinsink or ifdsink, which have only one path.
 * dccpthinsink has no queue of its own and does not report a number of queued
 * bytes. This number is then set to 0. */
static void
read_only_path (const GstStructure * stats, GstBitrateNetwork * network)
{
  gdouble number;

  if (!get_one_of (stats, in_flight, &number))
    return;
  network->report.in_flight = number;
  if (network->report.queued_bytes == BITRATE_UNKNOWN)
    network->report.queued_bytes = 0;
  if (get_one_of (stats, queue_delay, &number))
    network->report.network_queue = number;
  if (get_one_of (stats, round_trip, &number))
    network->report.round_trip = number;
}

static void
read_estimate (GstElement * element, GstBitrateNetwork * network)
{
  GstStructure *stats = get_stats (element);
  GValue value = G_VALUE_INIT;
  gdouble number;

  g_value_init (&value, G_TYPE_UINT64);
  g_object_get_property (G_OBJECT (element), ESTIMATE, &value);
  network->rule = &bitrate_estimate_rule;
  network->report.estimate = g_value_get_uint64 (&value);
  g_value_unset (&value);
  if (!stats)
    return;
  /* There are two estimates with the same name: one in the statistics of the
   * sink, and one in a property of the sink. The estimate in the statistics is
   * always the latest one. The property of the sink mmtpsink may be outdated,
   * because mmtpsink does not update this property after each report of the
   * receiver. */
  if (get_field (stats, ESTIMATE, &number) && number > 0)
    network->report.estimate = number;
  if (!gst_structure_get_boolean (stats, "application-limited",
          &network->report.is_lower_bound))
    gst_structure_get_boolean (stats, "network-application-limited",
        &network->report.is_lower_bound);
  if (get_field (stats, waiting[0], &number)
      || get_field (stats, waiting[1], &number))
    network->report.queued_bytes = add_up (stats, waiting);
  network->lost[BITRATE_LOSS_NETWORK] = add_up (stats, network_losses);
  network->lost[BITRATE_LOSS_DROPPED] = add_up (stats, dropped);
  network->lost[BITRATE_LOSS_KEY_FRAME] = add_up (stats, dropped_key_frames);
  if (get_field (stats, "discarded", &number) && number > 0)
    network->report.dropped = number;
  if (get_field (stats, "padding-bytes", &number))
    network->report.padding = number;
  read_only_path (stats, network);
  read_channels (stats, network);
  read_latency (element, network);
  gst_structure_free (stats);
}

/* --- SRT and RIST --------------------------------------------------------- */

static const gchar *const srt_losses[] = { "packets-sent-dropped", NULL };

static void
note_round_trip (GstBitrateNetwork * network, gdouble round_trip)
{
  if (network->report.round_trip == BITRATE_UNKNOWN
      || round_trip > network->report.round_trip)
    network->report.round_trip = round_trip;
}

/* Reads the statistics of one SRT connection. If the sink is a listener,
 * several SRT callers may be connected to it, and this function is called for
 * each of them. The largest of their round-trip times is used. */
static void
read_srt_caller (const GstStructure * stats, GstBitrateNetwork * network)
{
  gdouble number;

  if (get_field (stats, "rtt-ms", &number))
    note_round_trip (network, number * GST_MSECOND);
  if (get_field (stats, "send-rate-mbps", &number))
    network->report.send_rate = number * 1e6;
  if (get_field (stats, "negotiated-latency-ms", &number) && number > 0)
    network->latency = number * GST_MSECOND;
  network->lost[BITRATE_LOSS_NETWORK] += add_up (stats, srt_losses);
}

static void
read_srt (const GstStructure * stats, GstBitrateNetwork * network)
{
  read_srt_caller (stats, network);
  read_entries (stats, "callers", read_srt_caller, network);
}

static void
read_rist_session (const GstStructure * stats, GstBitrateNetwork * network)
{
  gdouble number;

  if (get_field (stats, "round-trip-time", &number))
    note_round_trip (network, number);
}

static void
read_rist (const GstStructure * stats, GstBitrateNetwork * network)
{
  read_entries (stats, "session-stats", read_rist_session, network);
}

/* --- RTCP ----------------------------------------------------------------- */

/* Reads the statistics of a remote source whose last RTCP report had a report
 * block about our stream (RFC 3550 section 6.4.1). If several receivers report
 * losses, the greatest loss is used. */
static void
read_rtp_source (const GstStructure * stats, GstBitrateNetwork * network)
{
  gdouble fraction, lost, highest = 0, last = 0;
  gboolean has_block = FALSE;

  if (!gst_structure_get_boolean (stats, "have-rb", &has_block) || !has_block
      || !get_field (stats, "rb-fractionlost", &fraction))
    return;
  network->report.loss = MAX (network->report.loss, fraction / 256);
  if (get_field (stats, "rb-packetslost", &lost) && lost > 0)
    network->lost[BITRATE_LOSS_NETWORK] += lost;
  get_field (stats, "rb-exthighestseq", &highest);
  get_field (stats, "rb-lsr", &last);
  network->loss_report += G_GUINT64_CONSTANT (31) * highest + last + 1;
}

static void
read_rtp (const GstStructure * stats, GstBitrateNetwork * network)
{
  read_entries (stats, "source-stats", read_rtp_source, network);
}

/* --- search --------------------------------------------------------------- */

typedef struct
{
  const gchar *factory;
  const BitrateRule *rule;
  void (*read) (const GstStructure * stats, GstBitrateNetwork * network);
} Kind;

/* Elements that report statistics of the network, such as the packet loss, but
 * no estimate of the bitrate. If the pipeline has several of them, the element
 * that comes first in this table is used. */
static const Kind kinds[] = {
  {"srtsink", &bitrate_round_trip_rule, read_srt},
  {"srtserversink", &bitrate_round_trip_rule, read_srt},
  {"srtclientsink", &bitrate_round_trip_rule, read_srt},
  {"ristsink", &bitrate_round_trip_rule, read_rist},
  {"rtpsession", &bitrate_loss_rule, read_rtp},
};

typedef struct
{
  GstElement *element;          /* best element found so far */
  const Kind *kind;             /* NULL = the element has an estimate */
  guint64 estimate;
  GPtrArray *queues;            /* elements with a queue; owned */
  /* `waiting` is the number of bytes that wait in the queue elements upstream
   * of `element`. `dropped` is the number of frames that these queue elements
   * have dropped. */
  guint64 waiting, dropped;
} Search;

static void
take (Search * search, GstElement * element, const Kind * kind)
{
  gst_object_replace ((GstObject **) & search->element,
      GST_OBJECT_CAST (element));
  search->kind = kind;
}

static void
consider_estimate (Search * search, GstElement * element)
{
  GValue value = G_VALUE_INIT;
  guint64 estimate;

  g_value_init (&value, G_TYPE_UINT64);
  g_object_get_property (G_OBJECT (element), ESTIMATE, &value);
  estimate = g_value_get_uint64 (&value);
  g_value_unset (&value);
  if (search->element && !search->kind && (estimate == 0
          || (search->estimate > 0 && search->estimate <= estimate)))
    return;
  search->estimate = estimate;
  take (search, element, NULL);
}

static void
consider_kind (Search * search, GstElement * element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  guint i;

  for (i = 0; factory && i < G_N_ELEMENTS (kinds); i++) {
    if (!g_str_equal (GST_OBJECT_NAME (factory), kinds[i].factory))
      continue;
    if (!search->element || (search->kind && &kinds[i] < search->kind))
      take (search, element, &kinds[i]);
  }
}

static gboolean
is_ifd_queue (GstElement * element)
{
  GstElementFactory *factory = gst_element_get_factory (element);

  return factory && g_str_equal (GST_OBJECT_NAME (factory), "ifdqueue");
}

static gboolean
has_queue (GstElement * element)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS
      (element), QUEUE_LEVEL);

  return (pspec && pspec->value_type == G_TYPE_UINT)
      || is_ifd_queue (element);
}

typedef struct
{
  const GstElement *wanted;
  gboolean is_found;
} Match;

static gboolean
compare_element (GstElement * element, gpointer data)
{
  Match *match = data;

  match->is_found |= element == match->wanted;
  return match->is_found;
}

static gboolean
search_from_pad (GstElement * element, GstPad * pad, gpointer data)
{
  Match *match = data;

  gst_bitrate_walk (pad, compare_element, match);
  return !match->is_found;
}

/* Returns whether the data in the queue element `queue` go to `element`. If
 * there is a tee, queues in its other branches do not lead to `element`. */
static gboolean
leads_to (GstElement * queue, const GstElement * element)
{
  Match match = { element, FALSE };

  gst_element_foreach_src_pad (queue, search_from_pad, &match);
  return match.is_found;
}

/* Adds the number of bytes that wait in the queue `element` to search->waiting.
 * Like the data in the sink, these bytes wait until the network has room. */
static void
count_waiting (Search * search, GstElement * element)
{
  GstStructure *stats;
  gdouble number;
  guint bytes;

  if (!is_ifd_queue (element)) {
    g_object_get (element, QUEUE_LEVEL, &bytes, NULL);
    search->waiting += bytes;
    return;
  }
  stats = get_stats (element);
  if (get_field (stats, "bytes-waiting", &number))
    search->waiting += number;
  search->dropped += add_up (stats, dropped);
  gst_structure_free (stats);
}

static void
count_queues (Search * search)
{
  guint i;

  for (i = 0; i < search->queues->len; i++) {
    GstElement *queue = g_ptr_array_index (search->queues, i);

    if (leads_to (queue, search->element))
      count_waiting (search, queue);
  }
}

static void
note_queue (Search * search, GstElement * element)
{
  if (!GST_IS_BIN (element) && has_queue (element))
    g_ptr_array_add (search->queues, gst_object_ref (element));
}

/* Makes `element` the result of the search if it reports the state of the
 * network and is preferable to the result so far. Returns TRUE if `element` has
 * the property estimated-bitrate. */
static gboolean
consider (Search * search, GstElement * element)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS
      (element), ESTIMATE);

  if (pspec && g_value_type_transformable (pspec->value_type, G_TYPE_UINT64)) {
    consider_estimate (search, element);
    return TRUE;
  }
  consider_kind (search, element);
  return FALSE;
}

static gboolean
visit (GstElement * element, gpointer data)
{
  if (consider (data, element))
    return TRUE;
  note_queue (data, element);
  return FALSE;
}

/* Called for each element upstream, one after the other, if the user has named
 * the element that reports the state of the network. Returns TRUE if `element`
 * is the named element; the search then ends. Otherwise adds `element` to
 * search->queues if it has a queue, and returns FALSE. */
static gboolean
visit_queue (GstElement * element, gpointer data)
{
  Search *search = data;

  if (element == search->element)
    return TRUE;
  note_queue (search, element);
  return FALSE;
}

static void
find_by_name (Search * search, GstElement * element, const gchar * name)
{
  GstObject *top = gst_object_ref (element), *parent;
  GstElement *found = NULL;

  while ((parent = gst_object_get_parent (top))) {
    gst_object_unref (top);
    top = parent;
  }
  if (GST_IS_BIN (top))
    found = gst_bin_get_by_name (GST_BIN_CAST (top), name);
  if (found)
    consider (search, found);
  gst_clear_object (&found);
  gst_object_unref (top);
}

static void
init_report (BitrateReport * report)
{
  report->queued_bytes = report->queued_packets = report->in_flight =
      report->put_bytes = report->network_queue = BITRATE_UNKNOWN;
  report->round_trip = report->send_rate = BITRATE_UNKNOWN;
  report->loss = -1;
}

static void
read_kind (const Search * search, GstBitrateNetwork * network)
{
  GstStructure *stats = get_stats (search->element);

  network->rule = search->kind->rule;
  if (stats)
    search->kind->read (stats, network);
  g_clear_pointer (&stats, gst_structure_free);
}

static gboolean
has_padding (GstElement * element)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS
      (element), PADDING);

  return pspec && pspec->value_type == G_TYPE_UINT;
}

static void
read_found (Search * search, GstBitrateNetwork * network)
{
  network->element = gst_object_get_name (GST_OBJECT_CAST (search->element));
  if (search->kind)
    read_kind (search, network);
  else
    read_estimate (search->element, network);
  count_queues (search);
  if (search->waiting > 0)
    network->report.queued_bytes = search->waiting +
        (network->report.queued_bytes == BITRATE_UNKNOWN ? 0
        : network->report.queued_bytes);
  network->lost[BITRATE_LOSS_DROPPED] += search->dropped;
  if (has_padding (search->element))
    network->padder = gst_object_ref (search->element);
}

void
gst_bitrate_network_read (GstPad * srcpad, const gchar * name,
    GstBitrateNetwork * network)
{
  Search search = { NULL };

  memset (network, 0, sizeof (*network));
  init_report (&network->report);
  search.queues = g_ptr_array_new_with_free_func (gst_object_unref);
  if (name)
    find_by_name (&search, GST_ELEMENT_CAST (GST_PAD_PARENT (srcpad)), name);
  gst_bitrate_walk (srcpad, name ? visit_queue : visit, &search);
  if (search.element)
    read_found (&search, network);
  g_ptr_array_unref (search.queues);
  gst_clear_object (&search.element);
}

void
gst_bitrate_network_set_padding (const GstBitrateNetwork * network,
    guint bitrate)
{
  guint present;

  if (!network->padder)
    return;
  g_object_get (network->padder, PADDING, &present, NULL);
  if (present != bitrate)
    g_object_set (network->padder, PADDING, bitrate, NULL);
}

void
gst_bitrate_network_clear (GstBitrateNetwork * network)
{
  g_clear_pointer (&network->element, g_free);
  gst_clear_object (&network->padder);
}
