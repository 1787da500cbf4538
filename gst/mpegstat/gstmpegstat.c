/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-mpegstat
 * @title: mpegstat
 * @short_description: Statistics of a video stream, frame by frame
 *
 * Passes an MPEG-1 or MPEG-2 video elementary stream through, one frame per
 * buffer with timestamps, and measures it: what arrived and when, how late each
 * frame is, which frames were lost and of what type. It takes parsed video and
 * raw bytes straight from filesrc, and never waits for a timestamp itself.
 *
 * H.264 and H.265 it takes as access units, as h264parse and h265parse make
 * them. Of these it can't tell what is lost, nor that a part is missing but
 * where upstream marked it as corrupted; the logs of both ends together do.
 *
 * Per frame it tells the time of arrival, the time at which the frame was due
 * in transport order, the difference of the two (the latency, 0 for the first
 * frame), type, temporal reference, presentation time in units of 90 kHz, and
 * size; per GOP header the time code, its pictures value, and the presentation
 * time of temporal reference 0; and each frame that never came, with its type,
 * from gaps in the temporal references and the learned GOP pattern. Frames of
 * which a part is missing are discarded and counted, as a decoder can't show
 * them.
 *
 * A frame arrives with the buffer that holds its last byte. Arrivals are
 * running times of the pipeline's clock while the element plays, so that a
 * pause doesn't count, and monotonic time without a clock.
 *
 * Output goes to standard output (#GstMpegStat:silent), to a log of comma-
 * separated values or JSON objects (#GstMpegStat:location), to the bus
 * (#GstMpegStat:post-messages, #GstMpegStat:stats-interval), and into
 * #GstMpegStat:stats, which also comes as element message
 * `application/x-mpegstat-stats` at the end of the stream.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! mpeg2enc ! mpegstat silent=false ! fakesink
 * ]| A line for each frame and GOP header, and a summary.
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! mpegstat ! clocksync ! mpegstat location=sent.csv ! rfc2250pay ! udpsink host=127.0.0.1 port=5004 sync=false
 * ]| Sends a file over RTP in real time, and logs when each frame leaves. The
 * first mpegstat gives the raw stream its timestamps.
 * |[
 * gst-launch-1.0 udpsrc port=5004 caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=MPV,payload=32" ! rtpjitterbuffer ! rfc2250depay ! mpegstat location=received.csv ! fakesink
 * ]| Logs when each frame arrives.
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
    GST_STATIC_CAPS (GST_MPEG_VIDEO_INPUT_CAPS "; " GST_H26X_CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_MPEG_VIDEO_INPUT_CAPS
        ", parsed = (boolean) true; " GST_H26X_CAPS));

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
  memset (&self->clock, 0, sizeof (self->clock));
  self->eos = FALSE;
  self->frame_wait = MAX_FRAME_DURATION;
  GST_OBJECT_UNLOCK (self);

  return TRUE;
}

/* The statistics can be read until the next start. */
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
  mpegstat_log_close (&self->log);
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
   * Nothing on standard output. When %FALSE, a line for each frame, GOP header
   * and loss, and a summary at the end of the stream.
   */
  PROPERTY_BOOLEAN ("silent", "Silent",
      "Whether nothing is printed; with false each frame, GOP header and "
      "loss is a line on standard output, with a summary at the end",
      PROPERTY_PLAYING, silent,
      TRUE),

  /**
   * GstMpegStat:location:
   *
   * File for the log, overwritten at start; `-` is standard output. One line
   * per event, written as it happens, with these columns:
   *
   * * `event`: `frame`, `incomplete`, `lost` or `gop`
   * * `wall_ns`: time of day at arrival
   * * `arrival_ns`: arrival since the first buffer's; of a `lost` line, when it
   *   became clear
   * * `expected_ns`: when it was due, in transport order, since the first frame
   * * `latency_ns`: how much later it came than that, if the first complete
   *   frame was in time; negative: earlier
   * * `type`: `I`, `P`, `B`, `D`, or `?` for a lost frame of unknown type and
   *   for a range of several types
   * * `temporal_reference`
   * * `coding_number`, `display_number`: place in transport and in display
   *   order, lost frames counted
   * * `pts_90khz`: presentation time in units of 90 kHz; of a GOP, that of
   *   temporal reference 0
   * * `size_bytes`
   * * `time_code`: hh:mm:ss:pp of the GOP or of the frame's GOP
   * * `closed_gop`, `broken_link`, `pictures`: of the GOP header
   * * `hash`: the same frame has the same one in any log
   * * `lost_frames`: number of frames that a `lost` line stands for, in a row
   *   in display order from `display_number` on. A gap of more than 64 frames
   *   is one line.
   */
  PROPERTY_STRING ("location", "Location",
      "File for the log, which is overwritten at start ('-' = standard "
      "output, unset = no log)", PROPERTY_READY, location, NULL),

  /**
   * GstMpegStat:format:
   *
   * How the log is written.
   */
  PROPERTY_ENUM ("format", "Format",
      "Format of the log", PROPERTY_READY,
      format, gst_mpeg_stat_format_get_type, MPEGSTAT_LOG_CSV),

  /**
   * GstMpegStat:stats-update-interval:
   *
   * While playing, #GstMpegStat:stats comes as element message at this
   * interval of the pipeline's clock, whether frames arrive or not.
   */
  PROPERTY_STATS_INTERVAL (STATS_INTERVAL_OR_END_BLURB, G_MAXINT64),

  /**
   * GstMpegStat:stats:
   *
   * A #GstStructure named `application/x-mpegstat-stats`. Counters begin at 0
   * when the element starts and never go back; they can be read until it
   * starts again. #guint64 but where it says otherwise:
   *
   * * `frames`, `frames-i`, `frames-p`, `frames-b`, `frames-d`: complete frames
   *   that arrived
   * * `bytes`, `bytes-i`, `bytes-p`, `bytes-b`, `bytes-d`: their sizes
   * * `lost`, `lost-i`, `lost-p`, `lost-b`, `lost-d`, `lost-unknown`: frames
   *   that never came
   * * `incomplete`: frames of which a part is missing; in none of the above
   * * `gops`: GOP headers
   * * `duration`: ns from the first to the last frame's arrival
   * * `bitrate`: bit/s in the last second; 0 when nothing comes any more
   * * `average-bitrate`: bit/s over `duration`
   * * `latency-min`, `latency-median`, `latency-p95`, `latency-p99`,
   *   `latency-max`, `latency-mean`: #gint64, ns, relative to the first frame,
   *   negative when frames come early; percentiles right to 1 part in 128
   * * `jitter`: ns, as in RFC 3550, in transport order
   * * `junk-bytes`: bytes that belonged to no frame
   * * `too-big`: frames given up because of #GstMpegStat:max-frame-size
   * * `truncated`: frames cut by a discontinuity
   * * `bad-headers`: headers that could not be read
   * * `before-sequence`: pictures before the first sequence header
   * * `foreign-codes`: start codes that no video elementary stream has
   * * `malformed-no-start-code`, `malformed-length`, `malformed-header`,
   *   `malformed-sei`, `malformed-sps`: access units of H.264 and H.265 that
   *   could not be read, by what was found first
   */
  PROPERTY_STATS ("Statistics since the element started: frames, bytes and "
      "losses by type, rates in bit/s, latency and jitter in ns",
      gst_mpeg_stat_create_stats),

  /**
   * GstMpegStat:max-frame-size:
   *
   * A larger frame is dropped and counted as `too-big`, and the stream taken up
   * again at the next header: memory stays bounded on any input.
   */
  PROPERTY_UINT ("max-frame-size", "Maximum frame size",
      "Maximum size of a frame of an MPEG-1/2 stream (bytes); a larger one "
      "is dropped, with a warning",
      PROPERTY_READY,
      max_frame_size, 1024, G_MAXINT, MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE),

  /**
   * GstMpegStat:discard-incomplete:
   *
   * Frames of which a part is missing, or that upstream marked as corrupted,
   * don't go on. When %FALSE they do, marked as corrupted. They count as
   * `incomplete` either way.
   */
  PROPERTY_BOOLEAN ("discard-incomplete", "Discard incomplete",
      "Whether frames with a missing part are discarded; with false they "
      "pass, marked as corrupted", PROPERTY_PLAYING, discard_incomplete, TRUE),

  /**
   * GstMpegStat:post-messages:
   *
   * Element messages `application/x-mpegstat-frame`, `-incomplete`, `-lost` and
   * `-gop`, with the log's columns as fields; unused ones are absent.
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
  mpegstat_log_clear (&self->log);
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
  mpegstat_log_init (&self->log);
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
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->srcpad);
}

static void
gst_mpeg_stat_class_init (GstMpegStatClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->finalize = gst_mpeg_stat_finalize;
  element_class->change_state = gst_mpeg_stat_change_state;

  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "MPEG video statistics", "Analyzer/Video",
      "Passes MPEG-1/2, H.264 and H.265 video through and measures "
      "latency, jitter, throughput and losses by frame type",
      "The gst-plugins-wireless authors");

  gst_type_mark_as_plugin_api (GST_TYPE_MPEG_STAT_FORMAT, 0);
}
