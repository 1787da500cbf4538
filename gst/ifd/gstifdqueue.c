/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ifdqueue
 * @title: ifdqueue
 * @short_description: Queue that gives up B-frames so that video stays live
 *
 * A queue before a sink that blocks while the network is full. It holds a few
 * frames, and when the network takes less than the encoder makes it gives up
 * those that cost the picture least: B-frames before P-frames, hardly ever an
 * I-frame, and none that another one needs which is sent. What arrives can be
 * decoded, and is late by no more than these few frames.
 *
 * Takes MPEG-1 and MPEG-2 video, parsed or raw, and H.264 and H.265 in whole
 * access units. After R. Ouwens, "Quality of video streaming over wireless
 * networks" (2006), sections 1.5 and 2, "I-Frame Delay".
 *
 * It paces: a frame enters the queue when the running time of its DTS has come
 * (#GstIfdQueue:sync). So what is behind it must not wait for timestamps once
 * more, but send what it gets: sync=false on the sink.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! ifdqueue ! tcpclientsink host=127.0.0.1 port=5000 sync=false
 * ]| Sends a film over TCP in real time, without the frames for which the
 * network has no time.
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! ifdqueue ! rfc2250pay ! udpsink host=127.0.0.1 port=5004 sync=false
 * ]| The same over RTP.
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
        GST_H26X_CAPS));

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
  /* As of any live element: nothing comes before PLAYING. */
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
   * Which frames are given up. `paper` is figure 1.1 of the paper and
   * `paper-gop` figures 1.2 and 1.3, to the letter; both hold one frame. `gop`
   * mends what they forget and holds #GstIfdQueue:max-frames.
   */
  PROPERTY_ENUM ("algorithm", "Algorithm",
      "Rule that chooses the frames to drop when the network is too slow",
      PROPERTY_PLAYING,
      config.algorithm, gst_ifd_algorithm_get_type, IFD_ALGORITHM_GOP,
      .set = set_algorithm),

  /**
   * GstIfdQueue:max-frames:
   *
   * More of them give more to choose from, and each delays what waits by up to
   * the duration of a frame.
   */
  PROPERTY_UINT ("max-frames", "Maximum frames",
      "Maximum number of frames that wait beside the one that is being sent; "
      "algorithm=paper and paper-gop always have 1", PROPERTY_PLAYING,
      config.max_frames, 1,
      IFD_MAX_FRAMES, IFD_DEFAULT_MAX_FRAMES,
      .set = set_max_frames),

  /**
   * GstIfdQueue:sync:
   *
   * A frame enters the queue when the running time of its DTS (PTS where there
   * is none) has come on the pipeline's clock, and upstream's latency where it
   * is live. When %FALSE it enters at once, if upstream is live; otherwise, as
   * soon as there is room.
   */
  PROPERTY_BOOLEAN ("sync", "Sync",
      "Whether each frame waits for the time at which it is to be sent; with "
      "false it may be sent at once, and input that is not live waits for "
      "room",
      PROPERTY_READY, sync, TRUE),

  /**
   * GstIfdQueue:max-frame-size:
   *
   * Of raw MPEG video: a larger frame is dropped and counted as `too-big`, and
   * the stream taken up again at the next header.
   */
  PROPERTY_UINT ("max-frame-size", "Maximum frame size",
      "Maximum size of a frame of an MPEG-1/2 stream (bytes); a larger one "
      "is dropped, with a warning",
      PROPERTY_READY, max_frame_size, 1024, G_MAXINT,
      MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE),

  /**
   * GstIfdQueue:post-messages:
   *
   * An element message `application/x-ifdqueue-drop` for each frame that is not
   * sent:
   *
   * * `type`: #gchararray, `I`, `P` or `B`
   * * `reason`: #gchararray, as in the names of #GstIfdQueue:stats
   * * `number`: #guint64, of the frame, in the order of input, from 0
   * * `cause`: #guint64, number of the frame that came in when it was dropped:
   *   itself, or that which took its place
   * * `size`: #guint, bytes
   * * `pts`, `dts`: #guint64, ns
   */
  PROPERTY_BOOLEAN ("post-messages", "Post messages",
      "Whether an element message is posted for each frame that is dropped",
      PROPERTY_PLAYING, post_messages, FALSE),

  /**
   * GstIfdQueue:stats:
   *
   * A #GstStructure named `application/x-ifdqueue-stats`. Counters begin at 0
   * when the element starts and never go back; they can be read until it
   * starts again. #guint64 but where it says otherwise; `-i`, `-p` and `-b` say
   * the same by type:
   *
   * * `frames-in`, `frames-in-i`, ...: frames that came; what became of them:
   *   `sent`, `dropped`, `flushed`, `waiting`, and at most one that is being
   *   sent
   * * `bytes-in`, ...: their sizes
   * * `sent`, ...; `bytes-sent`, ...: what downstream took
   * * `dropped`, ...; `bytes-dropped`, ...: what was given up
   * * `dropped-no-room`: it came while all that waited was worth more
   * * `dropped-overwritten`: it waited and made room for another
   * * `dropped-disturbed`: its GOP lost a frame that it refers to
   * * `dropped-leading`: the GOP before did, and it leads its own
   * * `dropped-incomplete`: a part of it was missing
   * * `dropped-no-i-frame`: no I-frame was sent since the stream, or the
   *   receiver, began
   * * `dropped-misordered`: a decoder would show this I-frame in the wrong
   *   order, since too much before it was dropped
   * * `flushed`: frames that a flush or the end of the state took
   * * `gops`: I-frames that came
   * * `gops-disturbed`: that lost an I-frame or P-frame
   * * `gops-misordered`: that went on although a decoder shows them in the
   *   wrong order, since no better I-frame was to be expected
   * * `lateness-median`, `lateness-p99`, `lateness-max`: #gint64, ns from when
   *   a frame was due until downstream had taken all of it; percentiles right
   *   to 1 part in 128
   * * `time-blocked`: ns that downstream took for the frames
   * * `waiting`, `bytes-waiting`: frames that wait now
   * * `sequence-headers-repeated`: sequence headers put before an I-frame,
   *   since frames that carried one were dropped or the receiver is new
   * * `junk-bytes`: bytes that belonged to no frame
   * * `too-big`: frames given up because of #GstIfdQueue:max-frame-size
   * * `truncated`: frames cut by a discontinuity
   * * `bad-headers`: headers that could not be read
   * * `before-sequence`: pictures before the first sequence header
   * * `foreign-codes`: start codes that no video elementary stream has
   * * `incomplete`: frames of which a part was missing when they came; they go
   *   on
   * * `malformed-no-start-code`, `malformed-length`, `malformed-header`,
   *   `malformed-sei`, `malformed-sps`: access units of H.264 or H.265 that
   *   could not be read, by the first fault; they pass as P-frames
   */
  PROPERTY_STATS ("Statistics since the element started: frames and bytes in, "
      "sent and dropped, by type and reason, lateness in ns",
      gst_ifd_queue_create_stats),

  /**
   * GstIfdQueue:stats-update-interval:
   *
   * While playing, #GstIfdQueue:stats comes as element message at this interval
   * of the pipeline's clock.
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

  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, G_STRUCT_OFFSET (GstIfdQueue, lock));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "I-Frame Delay queue", "Generic",
      "Queue upstream of a network that is too slow: drops B-frames first "
      "and I-frames last, and keeps video live",
      "The gst-plugins-wireless authors");
}
