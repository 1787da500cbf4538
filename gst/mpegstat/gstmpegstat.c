/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-mpegstat
 * @title: mpegstat
 * @short_description: Statistics of a video stream, frame by frame
 *
 * Passes an MPEG-1 or MPEG-2 video elementary stream through, as one frame per
 * buffer with timestamps. The element measures when each frame arrives and how
 * late the frame is. It also detects lost frames and determines their types. It
 * accepts parsed video as well as unparsed bytes from filesrc. It does not
 * synchronize frames to the clock.
 *
 * H.264 and H.265 are accepted as access units, as h264parse and h265parse
 * produce them. For these codecs the element cannot detect losses, and it
 * recognizes an incomplete frame only if upstream has flagged the frame as
 * corrupted. To find the losses, compare the log of the sender with the log of
 * the receiver.
 *
 * For each frame the element reports:
 *
 * - the time of arrival;
 * - the due time, which is the time at which the frame was expected (frames are
 *   expected in transport order);
 * - the latency, which is the time of arrival minus the due time (0 for the
 *   first frame);
 * - the type, the temporal reference, and the size;
 * - the presentation time in units of 1/90000 s.
 *
 * For each GOP header it reports the time code (including its field
 * time_code_pictures), and the presentation time of the picture with temporal
 * reference 0. It also reports each lost frame and its type. The type is
 * inferred from gaps in the temporal references and from the GOP pattern, which
 * the element learns. Incomplete frames are discarded and counted, because a
 * decoder cannot display them.
 *
 * The arrival time of a frame is the arrival time of the buffer that contains
 * its last byte. If the element is directly downstream of a file source, it
 * reads the file itself (in pull mode). A frame then arrives when the element
 * extracts it from the data of the file. While the element is in PLAYING and
 * has a clock, arrival times are running times. Otherwise they are monotonic
 * times. The duration of a pause does not count.
 *
 * The results are available in several ways:
 *
 * - printed to standard output (#GstMpegStat:silent);
 * - written to a log of comma-separated values or JSON objects
 *   (#GstMpegStat:location);
 * - posted on the bus for each event (#GstMpegStat:post-messages) or at
 *   intervals (#GstMpegStat:stats-update-interval);
 * - as the property #GstMpegStat:stats, which is also posted at the end of the
 *   stream, as an element message `application/x-mpegstat-stats`.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! mpeg2enc ! mpegstat silent=false ! fakesink
 * ]| Prints a line for each frame and GOP header, and a summary.
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! mpegstat ! clocksync ! mpegstat location=sent.csv ! rfc2250pay ! udpsink host=127.0.0.1 port=5004 sync=false
 * ]| Sends a file over RTP in real time, and logs when each frame is sent. The
 * first mpegstat sets the timestamps of the unparsed stream.
 * |[
 * gst-launch-1.0 udpsrc port=5004 caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=MPV,payload=32" ! rtpjitterbuffer ! rfc2250depay ! mpegstat location=received.csv ! fakesink
 * ]| Receives the stream and logs when each frame arrives.
 *
 * Since: 0.1
 */

#include "gstmpegstatprivate.h"

#include <string.h>

#include "gstifd.h"
#include "gstwirelessproperties.h"

GST_DEBUG_CATEGORY (gst_mpeg_stat_debug);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_MPEG_VIDEO_INPUT_CAPS "; " GST_H26X_CAPS "; "
        GST_SLOT_CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_MPEG_VIDEO_INPUT_CAPS
        ", parsed = (boolean) true; " GST_H26X_CAPS "; " GST_SLOT_CAPS));

#define GST_TYPE_MPEG_STAT_FORMAT (gst_mpeg_stat_format_get_type ())
/* *INDENT-OFF* */
static GST_WIRELESS_DEFINE_ENUM (gst_mpeg_stat_format, "GstMpegStatFormat",
    {MPEGSTAT_LOG_CSV, "Comma-separated values with a header line",
        "csv"},
    {MPEGSTAT_LOG_JSON, "One JSON object per line", "json"})
/* *INDENT-ON* */

#define gst_mpeg_stat_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstMpegStat, gst_mpeg_stat, GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (gst_mpeg_stat_debug, "mpegstat", 0,
        "Statistics of MPEG video"));
GST_ELEMENT_REGISTER_DEFINE (mpegstat, "mpegstat", GST_RANK_NONE,
    GST_TYPE_MPEG_STAT);

/* --- life cycle ---------------------------------------------------------- */

static gboolean
gst_mpeg_stat_start (GstMpegStat * self)
{
  if (!gst_mpeg_stat_open_log (self))
    return FALSE;

  self->input = gst_mpeg_video_input_new (GST_ELEMENT_CAST (self));
  self->arrivals = mpegstat_arrivals_new ();
  memset (&self->now, 0, sizeof (self->now));
  memset (&self->sequence, 0, sizeof (self->sequence));
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  self->parsed = self->have_upstream_caps = FALSE;
  self->started = self->have_stream = FALSE;
  self->have_caps = self->update_caps = FALSE;
  self->discont = TRUE;

  GST_OBJECT_LOCK (self);
  gst_mpeg_video_input_set_max_frame_size (self->input, self->max_frame_size);
  mpegstat_core_free (self->core);
  self->core = mpegstat_core_new ();
  memset (&self->framer_stats, 0, sizeof (self->framer_stats));
  memset (self->malformed, 0, sizeof (self->malformed));
  self->malformed_frames = 0;
  memset (&self->clock, 0, sizeof (self->clock));
  self->eos = FALSE;
  self->frame_wait = MAX_FRAME_DURATION;
  GST_OBJECT_UNLOCK (self);

  return TRUE;
}

/* Frees the objects that the element needs only while it is running. The
 * statistics are kept, and can be read until the element starts again. */
static void
gst_mpeg_stat_stop (GstMpegStat * self)
{
  GST_OBJECT_LOCK (self);
  self->eos = TRUE;
  GST_OBJECT_UNLOCK (self);

  g_clear_pointer (&self->input, gst_mpeg_video_input_free);
  g_clear_pointer (&self->units, mpegstat_units_free);
  g_clear_pointer (&self->arrivals, mpegstat_arrivals_free);
  g_queue_clear_full (&self->held_events, (GDestroyNotify) gst_event_unref);
  gst_output_file_close (&self->log);
}

static GstStateChangeReturn
gst_mpeg_stat_change_state (GstElement * element, GstStateChange transition)
{
  GstMpegStat *self = GST_MPEG_STAT (element);
  GstStateChangeReturn ret;

  switch (transition) {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (!gst_mpeg_stat_start (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING:
      gst_mpeg_stat_mark_switch (self);
      gst_stats_timer_start (element, gst_mpeg_stat_create_interval_stats);
      break;
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      gst_stats_timer_stop (element);
      gst_mpeg_stat_mark_switch (self);
      break;
    default:
      break;
  }

  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    gst_mpeg_stat_stop (self);
  return ret;
}

/* --- object -------------------------------------------------------------- */

#define PROPERTY_STRUCT GstMpegStat
static const GstWirelessProperty properties[] = {
  /**
   * GstMpegStat:silent:
   *
   * If %FALSE, the element prints a line on standard output for each frame,
   * each GOP header and each loss, and a summary at the end of the stream. If
   * %TRUE, it prints nothing.
   */
  PROPERTY_BOOLEAN ("silent", "Silent",
      "Whether nothing is printed; with false each frame, GOP header and "
      "loss is a line on standard output, with a summary at the end",
      PROPERTY_PLAYING, silent,
      TRUE),

  /**
   * GstMpegStat:location:
   *
   * File for the log, which is overwritten at start; `-` is standard output. An
   * event is a frame, a GOP header or a loss. Each event is written when it
   * occurs, as one line with these columns:
   *
   * * `event`: `frame`, `incomplete`, `lost` or `gop`
   * * `wall_ns`: time of day in ns when the event occurred
   * * `arrival_ns`: time in ns from the arrival of the first buffer to the
   *   arrival of the frame; for `lost`, to the time when the loss was detected
   * * `expected_ns`: due time of the frame in ns, counted from the due time of
   *   the first frame. Frames are due in transport order.
   * * `latency_ns`: arrival time minus due time of the frame, relative to the
   *   first complete frame; negative if the frame was early
   * * `type`: `I`, `P`, `B`, `D` or `?`. In a `lost` line, `?` means that the
   *   type is unknown or that the lost frames are of several types.
   * * `temporal_reference`: field of the picture header
   * * `coding_number`, `display_number`: position of the frame in transport
   *   order and in display order; lost frames are counted, too
   * * `pts_90khz`: presentation time in units of 1/90000 s; for `gop`, the
   *   presentation time of the picture with the temporal reference 0
   * * `size_bytes`: size of the frame
   * * `time_code`: time code of the GOP as hh:mm:ss:pp (pp counts pictures); in
   *   a line about a frame, the time code of the GOP to which the frame belongs
   * * `closed_gop`, `broken_link`, `pictures`: fields of the GOP header
   * * `hash`: hash of the frame. A frame has the same hash in the log of the
   *   sender and in the log of the receiver.
   * * `lost_frames`: number of lost frames that the line reports. They are
   *   consecutive in display order, and `display_number` is the position of the
   *   first of them. If at most 64 consecutive frames were lost, each of them
   *   has its own line. If more were lost, one line reports all of them.
   */
  PROPERTY_STRING ("location", "Location",
      "File for the log, which is overwritten at start ('-' = standard "
      "output, unset = no log)", PROPERTY_READY, location, NULL),

  /**
   * GstMpegStat:format:
   *
   * Format of the log that is written to #GstMpegStat:location.
   */
  PROPERTY_ENUM ("format", "Format",
      "Format of the log", PROPERTY_READY,
      format, gst_mpeg_stat_format_get_type, MPEGSTAT_LOG_CSV),

  /**
   * GstMpegStat:stats-update-interval:
   *
   * Interval at which #GstMpegStat:stats is posted as an element message, even
   * if no frames arrive. The interval is measured with the pipeline's clock
   * while the pipeline is in PLAYING.
   */
  PROPERTY_STATS_INTERVAL (STATS_INTERVAL_OR_END_BLURB, G_MAXINT64),

  /**
   * GstMpegStat:stats:
   *
   * A #GstStructure named `application/x-mpegstat-stats`. The counters start at
   * 0 when the element starts, and never decrease. They can be read until the
   * element starts again. All fields are #guint64 unless noted otherwise:
   *
   * * `frames`, `frames-i`, `frames-p`, `frames-b`, `frames-d`: complete frames
   *   that arrived
   * * `frames-layer-0` to `frames-layer-7`: complete frames of each temporal
   *   layer; only for streams whose layers are known (H.265, VP8 from an
   *   encoder in the same pipeline, AV1)
   * * `bytes`, `bytes-i`, `bytes-p`, `bytes-b`, `bytes-d`: total size of these
   *   complete frames
   * * `lost`, `lost-i`, `lost-p`, `lost-b`, `lost-d`, `lost-unknown`: lost
   *   frames; 0 for codecs other than MPEG-1/2, whose losses are not known
   * * `incomplete`: frames of which a part is missing; not included in the
   *   fields above
   * * `gops`: GOP headers
   * * `duration`: time from the first to the last arrival of a frame, in ns
   * * `bitrate`: bit/s in the last second; 0 if nothing arrives any more
   * * `average-bitrate`: bit/s over `duration`
   * * `latency-min`, `latency-median`, `latency-p95`, `latency-p99`,
   *   `latency-max`, `latency-mean`: #gint64, in ns relative to the first
   *   frame, negative for frames that are early. A percentile differs from its
   *   exact value by at most 1/128 of this value.
   * * `jitter`: interarrival jitter of RFC 3550 in transport order, in ns
   * * `junk-bytes`: bytes that belonged to no frame
   * * `too-big`: frames that exceeded #GstMpegStat:max-frame-size
   * * `truncated`: frames that a discontinuity cut off
   * * `bad-headers`: invalid headers
   * * `before-sequence`: pictures before the first sequence header
   * * `foreign-codes`: start codes that a video elementary stream does not have
   * * `malformed-no-start-code`, `malformed-length`, `malformed-header`,
   *   `malformed-sei`, `malformed-sps`: malformed access units of H.264 and
   *   H.265, counted by the first error in the access unit
   * * `malformed-frame`: malformed frames of VP8, VP9 and AV1
   */
  PROPERTY_STATS ("Statistics since the element started: frames, bytes and "
      "losses by type, rates in bit/s, latency and jitter in ns",
      gst_mpeg_stat_create_stats),

  /**
   * GstMpegStat:max-frame-size:
   *
   * Maximum size of a frame in bytes. A larger frame is dropped and counted as
   * `too-big`, and the next frame begins at the next header in the stream. The
   * element therefore needs a limited amount of memory, even if its input is
   * invalid.
   */
  PROPERTY_UINT ("max-frame-size", "Maximum frame size",
      "Maximum size of a frame of an MPEG-1/2 stream (bytes); a larger frame "
      "is dropped, with a warning",
      PROPERTY_READY,
      max_frame_size, 1024, G_MAXINT, MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE),

  /**
   * GstMpegStat:discard-incomplete:
   *
   * Some frames are incomplete: a part of them is missing, or upstream has
   * flagged them as corrupted. If %TRUE, incomplete frames are discarded. If
   * %FALSE, they are passed on with the flag %GST_BUFFER_FLAG_CORRUPTED. In
   * both cases they are counted as `incomplete`.
   */
  PROPERTY_BOOLEAN ("discard-incomplete", "Discard incomplete",
      "Whether frames with a missing part are discarded; with false they "
      "pass, marked as corrupted", PROPERTY_PLAYING, discard_incomplete, TRUE),

  /**
   * GstMpegStat:post-messages:
   *
   * Whether events are posted as element messages. The messages are named
   * `application/x-mpegstat-frame`, `application/x-mpegstat-incomplete`,
   * `application/x-mpegstat-lost` and `application/x-mpegstat-gop`. Their
   * fields have the names of the columns of the log. Columns without a value
   * are omitted.
   */
  PROPERTY_BOOLEAN ("post-messages", "Post messages",
      "Whether an element message is posted for each frame, GOP header and "
      "loss",
      PROPERTY_PLAYING, post_messages, FALSE),
};

static void
gst_mpeg_stat_finalize (GObject * object)
{
  GstMpegStat *self = GST_MPEG_STAT (object);

  mpegstat_core_free (self->core);
  gst_output_file_close (&self->log);
  g_string_free (self->line, TRUE);
  gst_wireless_properties_clear (self, GST_TYPE_MPEG_STAT);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_mpeg_stat_init (GstMpegStat * self)
{
  gst_wireless_properties_init (self, GST_TYPE_MPEG_STAT);
  self->core = mpegstat_core_new ();
  self->line = g_string_new (NULL);
  gst_output_file_init (&self->log);
  g_queue_init (&self->held_events);

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_mpeg_stat_chain);
  gst_pad_set_event_function (self->sinkpad, gst_mpeg_stat_sink_event);
  gst_pad_set_query_function (self->sinkpad, gst_mpeg_stat_sink_query);
  GST_PAD_SET_ACCEPT_INTERSECT (self->sinkpad);
  GST_PAD_SET_ACCEPT_TEMPLATE (self->sinkpad);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->sinkpad);

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_query_function (self->srcpad, gst_mpeg_stat_src_query);
  gst_pad_use_fixed_caps (self->srcpad);
  gst_pull_reader_enable (self->sinkpad, self->srcpad);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->srcpad);
}

static void
gst_mpeg_stat_class_init (GstMpegStatClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->finalize = gst_mpeg_stat_finalize;
  element_class->change_state = gst_mpeg_stat_change_state;

  gst_wireless_properties_set_category (object_class, gst_mpeg_stat_debug);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "MPEG video statistics", "Analyzer/Video",
      "Passes MPEG-1/2, H.264 and H.265 video through and measures "
      "latency, jitter and throughput by frame type, and the losses of MPEG-1/2",
      "The gst-plugins-wireless authors");

  gst_type_mark_as_plugin_api (GST_TYPE_MPEG_STAT_FORMAT, 0);
}
