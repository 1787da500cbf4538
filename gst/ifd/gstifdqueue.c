/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ifdqueue
 * @title: ifdqueue
 * @short_description: Queue that drops B-frames so that video stays live
 *
 * The element is a queue for a few video frames. Use it upstream of a sink that
 * blocks while the network accepts no more data, such as tcpclientsink. When
 * the network accepts less than the encoder produces, the queue drops the
 * frames whose loss changes the picture least: B-frames before P-frames, and
 * I-frames only in rare cases. It never sends a frame that refers to a dropped
 * frame. The receiver can therefore decode all frames that arrive. The delay of
 * these frames never exceeds the duration of the few frames in the queue.
 *
 * Accepts MPEG-1 and MPEG-2 video, parsed or unparsed, H.264 and H.265 in whole
 * access units, VP8, VP9, and AV1 in temporal units or frames. It also accepts
 * MPEG transport streams, of which it drops whole pictures. The algorithm
 * follows R. Ouwens, "Quality of video streaming over wireless networks"
 * (2006), sections 1.5 and 2, "I-Frame Delay".
 *
 * The element paces the stream: a frame enters the queue when the pipeline's
 * clock reaches the running time of its DTS (#GstIfdQueue:sync). The sink
 * downstream must therefore not wait for timestamps again, but send
 * immediately: set sync=false on the sink.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! ifdqueue ! tcpclientsink host=127.0.0.1 port=5000 sync=false
 * ]| Sends a film over TCP in real time, and drops the frames for which the
 * network is too slow.
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! ifdqueue ! rfc2250pay ! udpsink host=127.0.0.1 port=5004 sync=false
 * ]| Sends the film over RTP.
 *
 * Since: 0.1
 */

#include "gstifdqueueprivate.h"

#include <string.h>

#include "gstifd.h"
#include "gsttrace.h"

GST_DEBUG_CATEGORY (gst_ifd_queue_debug);
#define GST_CAT_DEFAULT gst_ifd_queue_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_IFD_QUEUE_USABLE_CAPS "; "
        GST_IFD_QUEUE_UNUSABLE_CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_MPEG_VIDEO_INPUT_CAPS ", parsed = (boolean) true; "
        GST_H26X_CAPS "; " GST_SLOT_CAPS "; " GST_IFD_QUEUE_TS_CAPS));

#define gst_ifd_queue_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstIfdQueue, gst_ifd_queue, GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (gst_ifd_queue_debug, "ifdqueue", 0,
        "Queue that gives up B-frames"));
GST_ELEMENT_REGISTER_DEFINE (ifdqueue, "ifdqueue", GST_RANK_NONE,
    GST_TYPE_IFD_QUEUE);

/* --- life cycle ---------------------------------------------------------- */

static void
trace (gpointer element, gboolean is_packet, const gchar * format, va_list args)
{
  gst_wireless_trace (gst_ifd_queue_debug, element, is_packet, format, args);
}

static IfdLine *
create_line (GstIfdQueue * self)
{
  IfdLine *line = ifd_line_new (&self->config);

  ifd_line_set_trace (line, trace, self);
  return line;
}

static void
gst_ifd_queue_start (GstIfdQueue * self)
{
  IfdLine *old;

  g_mutex_lock (&self->lock);
  old = self->line;
  self->line = create_line (self);
  memset (&self->input_stats, 0, sizeof (self->input_stats));
  self->sequence_headers_repeated = 0;
  self->ts_removed = 0;
  self->paused_at = 0;
  self->started_at = g_get_monotonic_time ();
  self->upstream_latency = 0;
  self->latency_is_known = FALSE;
  self->paces = self->sync;
  self->passed = FALSE;
  self->warned_of_times = FALSE;
  g_mutex_unlock (&self->lock);

  ifd_line_free (old);
  gst_ifd_queue_start_sink (self);
}

static gboolean
is_live (GstIfdQueue * self)
{
  gboolean paces;

  g_mutex_lock (&self->lock);
  paces = self->paces;
  g_mutex_unlock (&self->lock);
  return paces;
}

static GstStateChangeReturn
gst_ifd_queue_change_state (GstElement * element, GstStateChange transition)
{
  GstIfdQueue *self = GST_IFD_QUEUE (element);
  GstStateChangeReturn ret;

  GST_DEBUG_OBJECT (self, "%s", gst_state_change_get_name (transition));
  switch (transition) {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      gst_ifd_queue_start (self);
      break;
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING:
      gst_ifd_queue_set_playing (self, TRUE);
      gst_stats_timer_start (element, gst_ifd_queue_create_stats);
      break;
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      gst_stats_timer_stop (element);
      gst_ifd_queue_set_playing (self, FALSE);
      break;
    default:
      break;
  }

  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    gst_ifd_queue_stop_sink (self);
  if (ret == GST_STATE_CHANGE_FAILURE)
    return ret;
  /* If the element waits for the due time of each frame, it behaves like a live
   * element: it outputs buffers only in PLAYING. The state change therefore
   * returns NO_PREROLL. */
  if ((transition == GST_STATE_CHANGE_READY_TO_PAUSED
          || transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
      && is_live (self))
    ret = GST_STATE_CHANGE_NO_PREROLL;
  return ret;
}

/* --- object -------------------------------------------------------------- */

static void
set_algorithm (gpointer object, const GValue * value, GParamSpec * pspec)
{
  gst_ifd_queue_set_config (object, g_value_get_enum (value), 0);
}

static void
set_max_frames (gpointer object, const GValue * value, GParamSpec * pspec)
{
  gst_ifd_queue_set_config (object, -1, g_value_get_uint (value));
}

#define PROPERTY_STRUCT GstIfdQueue
static const GstWirelessProperty properties[] = {
  /**
   * GstIfdQueue:algorithm:
   *
   * The algorithm that selects the frames to drop. `paper` is the algorithm of
   * figure 1.1 of Ouwens (2006), and `paper-gop` is that of figures 1.2 and
   * 1.3. These two algorithms are implemented without changes. With them, at
   * most one frame waits. `gop` corrects the errors of the two algorithms. With
   * `gop`, up to #GstIfdQueue:max-frames frames wait.
   */
  PROPERTY_ENUM ("algorithm", "Algorithm",
      "Rule that chooses the frames to drop when the network is too slow; gop "
      "is the best choice, while paper and paper-gop serve to reproduce Ouwens "
      "(2006)",
      PROPERTY_PLAYING,
      config.algorithm, gst_ifd_algorithm_get_type, IFD_ALGORITHM_GOP,
      .set = set_algorithm),

  /**
   * GstIfdQueue:max-frames:
   *
   * Maximum number of frames that wait in the queue. The more frames may wait,
   * the better the algorithm can choose which of them to drop. However, each
   * waiting frame can increase the delay by the duration of a frame.
   */
  PROPERTY_UINT ("max-frames", "Maximum frames",
      "Maximum number of waiting frames, without the frame being sent (always "
      "1 with algorithm=paper or paper-gop); each adds up to one frame "
      "duration of latency", PROPERTY_PLAYING,
      config.max_frames, 1,
      IFD_MAX_FRAMES, IFD_DEFAULT_MAX_FRAMES,
      .set = set_max_frames),

  /**
   * GstIfdQueue:sync:
   *
   * If %TRUE, a frame enters the queue when the pipeline's clock reaches the
   * running time of its DTS, or of its PTS if it has no DTS. If upstream is
   * live, the latency of upstream is added to this time.
   *
   * If %FALSE, frames from a live source enter the queue immediately. Other
   * frames enter as soon as the queue has room.
   */
  PROPERTY_BOOLEAN ("sync", "Sync",
      "Whether each frame enters the queue at the time of its timestamp; false "
      "lets live input enter on arrival, and other input when the queue has "
      "room",
      PROPERTY_READY, sync, TRUE),

  /**
   * GstIfdQueue:max-frame-size:
   *
   * Maximum size of a frame of unparsed MPEG video. A larger frame is dropped
   * and counted as `too-big`, and the parser then continues at the next header.
   */
  PROPERTY_UINT ("max-frame-size", "Maximum frame size",
      "Maximum size of a frame of an MPEG-1/2 stream (bytes); a larger frame "
      "is dropped, with a warning",
      PROPERTY_READY, max_frame_size, 1024, G_MAXINT,
      MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE),

  /**
   * GstIfdQueue:post-messages:
   *
   * Post an element message `application/x-ifdqueue-drop` for each dropped
   * frame, with these fields:
   *
   * * `type`: #gchararray, `I`, `P` or `B`
   * * `reason`: #gchararray, as in the field names of #GstIfdQueue:stats, for
   *   example `no-room` for frames that `dropped-no-room` counts
   * * `number`: #guint64, sequence number of the frame in the order of input,
   *   from 0
   * * `cause`: #guint64, number of the frame whose arrival caused the drop: the
   *   dropped frame itself, or the frame that took its place
   * * `size`: #guint, in bytes
   * * `pts`, `dts`: #guint64, in ns
   */
  PROPERTY_BOOLEAN ("post-messages", "Post messages",
      "Whether an element message is posted for each frame that is dropped",
      PROPERTY_PLAYING, post_messages, FALSE),

  /**
   * GstIfdQueue:stats:
   *
   * A #GstStructure named `application/x-ifdqueue-stats`. The counters start at
   * 0 when the element starts, and never decrease. After the element has
   * stopped, the counters can be read until the element starts again. All
   * fields are #guint64 unless noted otherwise. A field with the suffix `-i`,
   * `-p` or `-b` counts only frames of this type:
   *
   * * `frames-in`, `frames-in-i`, ...: frames that arrived. This number is the
   *   sum of `sent`, `dropped`, `flushed` and `waiting`, plus one if a frame is
   *   being sent
   * * `bytes-in`, ...: sum of the sizes of these frames
   * * `sent`, ...; `bytes-sent`, ...: frames that downstream accepted
   * * `dropped`, ...; `bytes-dropped`, ...: frames that were dropped
   * * `dropped-no-room`: frames that arrived while all waiting frames were more
   *   important
   * * `dropped-overwritten`: waiting frames that made room for another frame
   * * `dropped-disturbed`: frames that refer to a dropped frame of their GOP
   * * `dropped-leading`: frames that follow an I-frame in the stream, but
   *   refer to a dropped frame before this I-frame
   * * `dropped-incomplete`: always 0, because frames of which a part was
   *   missing are passed on (see `incomplete`)
   * * `dropped-no-i-frame`: frames that arrived before the first I-frame of the
   *   stream, or before the first I-frame for a new receiver
   * * `dropped-misordered`: I-frames that a decoder would display in the wrong
   *   order, because too many frames before them were dropped
   * * `flushed`: frames that were discarded by a flush or a state change
   * * `gops`: I-frames that arrived
   * * `gops-disturbed`: GOPs of which an I- or P-frame was dropped
   * * `gops-misordered`: I-frames that were sent although a decoder displays
   *   them in the wrong order, because no better I-frame could be expected
   * * `lateness-median`, `lateness-p99`, `lateness-max`: #gint64, lateness of
   *   the frames in ns: time from the due time of a frame until downstream had
   *   accepted the whole frame; the error of the percentiles is at most 1/128
   * * `time-blocked`: time that downstream took to accept frames, in ns
   * * `waiting`, `bytes-waiting`: number and size of the frames that are
   *   waiting now
   * * `sequence-headers-repeated`: sequence headers that were inserted before
   *   an I-frame, because frames with a sequence header were dropped or the
   *   receiver is new
   * * `junk-bytes`: bytes that belonged to no frame
   * * `too-big`: frames that exceeded #GstIfdQueue:max-frame-size
   * * `truncated`: frames that are incomplete because a discontinuity followed
   * * `bad-headers`: invalid headers
   * * `before-sequence`: pictures before the first sequence header
   * * `foreign-codes`: start codes that a video elementary stream does not have
   * * `incomplete`: frames of which a part was missing on arrival; they are
   *   passed on
   * * `malformed-no-start-code`, `malformed-length`, `malformed-header`,
   *   `malformed-sei`, `malformed-sps`: malformed access units of H.264 or
   *   H.265, counted by the first error in the access unit; they are treated as
   *   P-frames
   * * `malformed-frame`: malformed frames of VP8, VP9 or AV1; they are treated
   *   as P-frames that refer to all previous frames
   */
  PROPERTY_STATS ("Statistics since the element started: frames and bytes in, "
      "sent and dropped, by type and reason, lateness in ns",
      gst_ifd_queue_create_stats),

  /**
   * GstIfdQueue:stats-update-interval:
   *
   * Interval in ms at which #GstIfdQueue:stats is posted as an element message
   * while the pipeline plays. The pipeline's clock measures the interval.
   */
  PROPERTY_STATS_INTERVAL (STATS_INTERVAL_OR_END_BLURB, G_MAXINT64),
};

void
gst_ifd_queue_allow_unqueued (GstIfdQueue * self)
{
  g_mutex_lock (&self->lock);
  self->may_be_unqueued = TRUE;
  g_mutex_unlock (&self->lock);
}

static void
gst_ifd_queue_finalize (GObject * object)
{
  GstIfdQueue *self = GST_IFD_QUEUE (object);

  ifd_line_free (self->line);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ifd_queue_init (GstIfdQueue * self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  gst_wireless_properties_init (self, GST_TYPE_IFD_QUEUE);
  self->paces = self->sync;
  self->line = create_line (self);
  self->flow = GST_FLOW_FLUSHING;

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_ifd_queue_init_sink (self);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->sinkpad);

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_ifd_queue_init_src (self);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->srcpad);
}

static void
gst_ifd_queue_class_init (GstIfdQueueClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->finalize = gst_ifd_queue_finalize;
  element_class->change_state = gst_ifd_queue_change_state;

  gst_wireless_properties_set_category (object_class, gst_ifd_queue_debug);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, G_STRUCT_OFFSET (GstIfdQueue, lock));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "I-Frame Delay queue", "Filter/Network",
      "Queue upstream of a network that is too slow: drops B-frames first "
      "and I-frames last, and keeps video live",
      "The gst-plugins-wireless authors");
}
