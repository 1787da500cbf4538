/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-bitrateadapt
 * @title: bitrateadapt
 * @short_description: Keeps the bitrate of the encoder upstream at what the network carries
 *
 * When the bitrate that a network can carry drops by half, live video continues
 * without losses only if the encoder halves its bitrate too. This element is
 * between the encoder and the sink and passes all buffers on. It finds the
 * encoder upstream and changes its bitrate while the pipeline plays. It learns
 * from the elements downstream which bitrate the network can carry. It reads:
 *
 * * the property `estimated-bitrate` of mmtpsink, dccpthinsink, ifdsink, and
 *   of other elements that have it, such as rtpgccbwe
 * * the round trip time in the `stats` of srtsink and ristsink
 * * the losses in RTCP receiver reports, if rtpbin is upstream of the sink
 *
 * The bitrate decreases immediately and increases slowly. It stays between
 * #GstBitrateAdapt:min-bitrate and #GstBitrateAdapt:max-bitrate. By default the
 * maximum is the bitrate that the application has set the encoder to. The
 * encoder is asked for a key frame after a loss that was not repaired, and when
 * the data that wait at the sender are certain to arrive too late.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc is-live=true ! x264enc tune=zerolatency ! h264parse ! bitrateadapt ! rtph264pay ! mmtpsink host=127.0.0.1 port=5004 blocking=false
 * ]| Sends video at the bitrate that mmtpsink estimates.
 * GST_DEBUG=bitrateadapt:5 logs each change and its reason.
 * |[
 * gst-launch-1.0 mmtpsrc port=5004 ! rtph264depay ! avdec_h264 ! autovideosink
 * ]| Shows the video.
 *
 * Since: 0.1
 */

#include "gstbitrateadapt.h"

#include <string.h>

#include "bitratecontrol.h"
#include "bitratekeyframes.h"
#include "gstbitrateencoder.h"
#include "gstbitratenetwork.h"
#include "gststatstimer.h"
#include "gstwirelessevents.h"
#include "gstwirelessproperties.h"

GST_DEBUG_CATEGORY_STATIC (gst_bitrate_adapt_debug);
#define GST_CAT_DEFAULT gst_bitrate_adapt_debug

#define STATS_NAME "application/x-bitrateadapt-stats"
#define CHANGE_NAME "application/x-bitrateadapt-change"

/* Interval at which the state of the network is read. The rule for the
 * round-trip time assumes this interval. The rule comes from the program
 * belacoder. */
#define PERIOD (20 * GST_MSECOND)
/* Minimum duration of a problem in a running stream before a warning is posted.
 * A problem is a missing encoder, a missing network element, or a network
 * element that reports nothing. The warning has to wait because an application
 * may link and connect a pipeline step by step. */
#define WARN_TIMEOUT (3 * GST_SECOND)
/* A warning is posted if no RTCP report has arrived for this time. The first
 * report is expected earlier: before the first report, the minimum interval is
 * 2.5 s instead of the usual 5 s. With the random factor of RFC 3550 section
 * 6.3.1, the first report is sent within 3.1 s. The warning is posted later
 * than that because the first report may be lost. */
#define RTCP_WARN_TIMEOUT (10 * GST_SECOND)

/* Maximum bitrate in bit/s if #GstBitrateAdapt:max-bitrate and the bitrate of
 * the encoder are 0. Some encoders use the bitrate 0 for "automatic". */
#define FALLBACK_MAX_BITRATE 6000000

/* The bitrate of the encoder is measured over the last second, which is divided
 * into N_PARTS parts. When a new part begins, the bytes of the oldest part are
 * discarded. */
#define N_PARTS 10
#define PART (GST_SECOND / N_PARTS)

typedef struct
{
  /* Ring buffer. Each entry is the number of bytes that passed in one tenth of
   * a second; together the entries cover the last second. */
  guint64 bytes[N_PARTS];
  /* Number of the tenth of a second in which the latest bytes passed. The
   * tenths are numbered consecutively from time 0 of the clock. */
  guint64 part;
} Meter;

typedef enum
{
  PROBLEM_ENCODER,              /* no encoder, or several */
  /* no element downstream reports the state of the network */
  PROBLEM_NETWORK,
  /* An element downstream can report the state of the network, but it reports
   * neither an estimated bitrate, nor a round-trip time, nor losses. */
  PROBLEM_ESTIMATE,
  /* The minimum bitrate is above the maximum bitrate. */
  PROBLEM_LIMITS,
  PROBLEM_LAST
} Problem;

struct _GstBitrateAdapt
{
  GstBaseTransform parent;

  GThread *thread;              /* exists from start to stop */
  /* Chain function that the parent class has set for the sink pad.
   * gst_bitrate_adapt_chain () replaces it and calls it. */
  GstPadChainFunction parent_chain;

  /* --- protected by the object lock --- */
  gchar *encoder_name, *network_name;
  guint min_bitrate, max_bitrate, start_bitrate, reserved_bitrate;
  guint padding_bitrate;
  gdouble headroom;
  guint max_changes;
  gboolean request_key_frames, post_messages;
  gboolean qos;                 /* not used */
  BitrateControl *control;      /* NULL until an encoder is found */
  Meter meter;
  guint64 passed;               /* number of buffers that passed */
  /* number of bytes pushed downstream; updated when a push returns */
  guint64 passed_bytes;
  gboolean is_pushing;          /* a buffer is being pushed downstream */
  /* TRUE if the target bitrate has to be set again: either new caps have
   * restarted the encoder, or another encoder is in use now */
  gboolean is_repeated;
  /* names of the encoder and network element in use, for the statistics */
  gchar *encoder, *network;
  BitrateReport report;         /* latest report */
  BitrateKeyFrames key_frames;
  guint64 lost, refused;

  /* --- protected by `mutex`, the last lock that a thread may take --- */
  GMutex mutex;
  GCond cond;
  gboolean is_stopping;

  /* --- used by `thread` only --- */
  /* Address of the encoder element in use. It is only compared with the address
   * of the encoder that is found later, and never dereferenced, because this
   * field does not hold a reference to the element. */
  gpointer followed;
  /* Bitrate in bit/s to which the application has set the encoder. 0 if no
   * encoder is in use, or if the bitrate of the encoder cannot be changed. */
  guint64 encoder_bitrate;
  /* has_refused is TRUE if the encoder in use has not accepted a bitrate, and a
   * warning about this was posted. has_failed is TRUE if an error was posted
   * because the bitrate of this encoder cannot be changed. For each encoder,
   * the warning and the error are posted only once. */
  gboolean has_refused, has_failed;
  const BitrateRule *rule;
  /* TRUE if bitrateadapt has set the property padding-bitrate of the sink. If
   * bitrateadapt's own padding-bitrate becomes 0 later, the property of the
   * sink must then be set to 0 once. */
  gboolean is_padding;
  /* Identifies the RTCP receiver report whose losses were processed last. The
   * statistics contain the losses of a report until the next report arrives,
   * but they must be processed only once. */
  guint64 loss_report;
  guint64 lost_before[BITRATE_LOSS_LAST];       /* values of the last report */
  /* For each PROBLEM_ constant: time in ns at which the problem began; 0 if the
   * problem does not exist now */
  guint64 problem_since[PROBLEM_LAST];
  gboolean problem_reported[PROBLEM_LAST];
};

#define gst_bitrate_adapt_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstBitrateAdapt, gst_bitrate_adapt,
    GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_bitrate_adapt_debug, "bitrateadapt", 0,
        "Encoder bitrate that follows the network"));
GST_ELEMENT_REGISTER_DEFINE (bitrateadapt, "bitrateadapt", GST_RANK_NONE,
    GST_TYPE_BITRATE_ADAPT);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static guint64
get_now (void)
{
  return g_get_monotonic_time () * (guint64) GST_USECOND;
}

/* --- measured bitrate of the encoder; the caller holds the object lock ---- */

static void
meter_advance (Meter * meter, guint64 now)
{
  guint64 part = now / PART;
  guint i;

  if (part <= meter->part)
    return;
  for (i = 1; i <= MIN (part - meter->part, N_PARTS); i++)
    meter->bytes[(meter->part + i) % N_PARTS] = 0;
  meter->part = part;
}

/* Returns the bitrate in bit/s of the buffers that passed this element in the
 * last second. */
static guint64
meter_get (Meter * meter, guint64 now)
{
  guint64 sum = 0;
  guint i;

  meter_advance (meter, now);
  for (i = 0; i < N_PARTS; i++)
    sum += meter->bytes[i];
  return 8 * sum;
}

static GstFlowReturn
gst_bitrate_adapt_transform_ip (GstBaseTransform * trans, GstBuffer * buffer)
{
  GstBitrateAdapt *self = GST_BITRATE_ADAPT (trans);

  GST_OBJECT_LOCK (self);
  meter_advance (&self->meter, get_now ());
  self->meter.bytes[self->meter.part % N_PARTS] += gst_buffer_get_size (buffer);
  self->passed++;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

/* Pushes a buffer downstream, and then adds its size to passed_bytes.
 *
 * The order matters. Bytes in passed_bytes count as confirmed by the receiver,
 * unless the sink reports that they wait or are in flight. Until the push has
 * returned, the sink may not have received the buffer, and then it does not
 * report these bytes. If the size were added before the push, the bytes would
 * wrongly count as confirmed. */
static GstFlowReturn
gst_bitrate_adapt_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstBitrateAdapt *self = GST_BITRATE_ADAPT (parent);
  gsize size = gst_buffer_get_size (buffer);
  GstFlowReturn result;

  GST_OBJECT_LOCK (self);
  self->is_pushing = TRUE;
  GST_OBJECT_UNLOCK (self);
  result = self->parent_chain (pad, parent, buffer);
  GST_OBJECT_LOCK (self);
  self->is_pushing = FALSE;
  self->passed_bytes += size;
  GST_OBJECT_UNLOCK (self);
  return result;
}

/* Handles events from upstream. New caps restart an encoder, and some encoders
 * then return to their initial bitrate. After a CAPS event the bitrate is
 * therefore set again. */
static gboolean
gst_bitrate_adapt_sink_event (GstBaseTransform * trans, GstEvent * event)
{
  GstBitrateAdapt *self = GST_BITRATE_ADAPT (trans);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    GST_OBJECT_LOCK (self);
    self->is_repeated = TRUE;
    GST_OBJECT_UNLOCK (self);
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

/* Returns the maximum bitrate in bit/s. Only self->thread calls this function,
 * because only this thread may use encoder_bitrate. The thread holds the object
 * lock. */
static guint64
get_max_bitrate (const GstBitrateAdapt * self)
{
  if (self->max_bitrate > 0)
    return self->max_bitrate;
  return self->encoder_bitrate > 0 ? self->encoder_bitrate
      : FALLBACK_MAX_BITRATE;
}

/* --- warnings, in the thread ---------------------------------------------- */

/* Records whether `problem` exists now (`is_there`), and returns whether a
 * warning is due. A warning is due once, when the problem has existed for at
 * least `timeout` ns without interruption. The next warning is due only if the
 * problem has ended, has begun again, and has then existed for `timeout` ns.
 *
 * Before the first buffer passes the element, no time must be counted towards
 * `timeout`. The callers therefore pass FALSE as `is_there` until the first
 * buffer has passed, except if `timeout` is 0. */
static gboolean
note_problem (GstBitrateAdapt * self, Problem problem, gboolean is_there,
    guint64 now, guint64 timeout)
{
  if (!is_there) {
    self->problem_since[problem] = 0;
    self->problem_reported[problem] = FALSE;
    return FALSE;
  }
  if (self->problem_since[problem] == 0)
    self->problem_since[problem] = now;
  if (self->problem_reported[problem]
      || now < self->problem_since[problem] + timeout)
    return FALSE;
  self->problem_reported[problem] = TRUE;
  return TRUE;
}

static gboolean
has_stream (GstBitrateAdapt * self)
{
  gboolean has;

  GST_OBJECT_LOCK (self);
  has = self->passed > 0;
  GST_OBJECT_UNLOCK (self);
  return has;
}

static void
warn_about_network (GstBitrateAdapt * self, const GstBitrateNetwork * network,
    guint64 now)
{
  gboolean is_there = has_stream (self);
  const BitrateReport *report = &network->report;
  guint64 timeout = network->rule == &bitrate_loss_rule ? RTCP_WARN_TIMEOUT
      : WARN_TIMEOUT;
  gboolean is_silent = network->rule && report->estimate == 0
      && report->loss < 0 && (report->round_trip == BITRATE_UNKNOWN
      || report->round_trip == 0);

  if (note_problem (self, PROBLEM_NETWORK, is_there && !network->rule, now,
          WARN_TIMEOUT))
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
        ("The bitrate does not follow the network: no element downstream knows "
            "what the network carries. Put an element downstream that does, "
            "such as mmtpsink or srtsink, or set estimator to the name of one "
            "that is elsewhere in the pipeline."),
        ("Elements that do: those with a property \"estimated-bitrate\" "
            "(mmtpsink, dccpthinsink, ifdsink, rtpgccbwe), srtsink, ristsink, "
            "and rtpbin with RTCP."));
  if (note_problem (self, PROBLEM_ESTIMATE, is_there
          && is_silent, now, timeout))
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("The bitrate does not follow the network: \"%s\" has reported nothing "
            "for %u s. Check that the receiver is connected and sends "
            "reports.", network->element, (guint) (timeout / GST_SECOND)),
        ("The encoder keeps its bitrate."));
}

/* Posts a warning if the minimum bitrate is above the maximum bitrate. The
 * warning is posted once each time that this problem begins. The maximum is the
 * property #GstBitrateAdapt:max-bitrate. If this property is 0, the maximum is
 * the bitrate of the encoder, so there is no warning until an encoder is known.
 */
static void
warn_about_limits (GstBitrateAdapt * self, gboolean has_encoder, guint64 now)
{
  guint64 max_bitrate;
  guint min_bitrate;
  gboolean is_encoder;

  GST_OBJECT_LOCK (self);
  min_bitrate = self->min_bitrate;
  max_bitrate = get_max_bitrate (self);
  is_encoder = self->max_bitrate == 0;
  GST_OBJECT_UNLOCK (self);
  if (is_encoder && !has_encoder)
    return;
  if (note_problem (self, PROBLEM_LIMITS, min_bitrate > max_bitrate, now, 0))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("min-bitrate is %u bit/s, but the maximum is %" G_GUINT64_FORMAT
            " bit/s%s: the encoder is never set below the maximum. Set "
            "min-bitrate lower, or %s higher.", min_bitrate, max_bitrate,
            is_encoder ? ", the bitrate that the encoder is set to" : "",
            is_encoder ? "the bitrate of the encoder or max-bitrate" :
            "max-bitrate"), (NULL));
}

static void
warn_about_several_encoders (GstBitrateAdapt * self)
{
  GST_ELEMENT_WARNING (self, STREAM, ENCODE,
      ("The bitrate does not follow the network: there are several video "
          "encoders upstream. Set encoder to the name of one of them, or put "
          "a bitrateadapt downstream of each encoder."), (NULL));
}

static void
warn_about_missing_encoder (GstBitrateAdapt * self, const gchar * name)
{
  gchar *list = gst_bitrate_encoder_list ();

  if (name)
    GST_ELEMENT_WARNING (self, STREAM, ENCODE,
        ("The bitrate does not follow the network: the pipeline has no element "
            "\"%s\". Set encoder to the name of an encoder of the pipeline, "
            "or leave it unset to use the encoder upstream.", name), (NULL));
  else
    GST_ELEMENT_WARNING (self, STREAM, ENCODE,
        ("The bitrate does not follow the network: there is no video encoder "
            "upstream. Put bitrateadapt downstream of the encoder, or set "
            "encoder to its name."), ("Encoders that can follow: %s", list));
  g_free (list);
}

/* Posts an error about an encoder whose bitrate cannot be changed while it
 * runs. One such error is posted for each encoder. A warning would not be
 * enough, because bitrateadapt can never work in this pipeline. */
static void
post_fixed_bitrate_error (GstBitrateAdapt * self, GstElement * element,
    const gchar * reason)
{
  gchar *list = gst_bitrate_encoder_list ();

  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
      ("The bitrate of \"%s\" cannot be changed while it runs: %s. Use another "
          "encoder, such as x264enc.", GST_OBJECT_NAME (element), reason),
      ("Encoders that can: %s", list));
  g_free (list);
}

/* --- encoder, in the thread ----------------------------------------------- */

/* Makes `element` the encoder in use; NULL means that there is none. `encoder`
 * is the entry of this element in the table of encoders, or NULL if the bitrate
 * of the element cannot be changed. If another element was in use before, the
 * new one is set to the target bitrate as soon as possible. */
static void
follow (GstBitrateAdapt * self, GstElement * element,
    const GstBitrateEncoder * encoder)
{
  if (self->followed == element)
    return;
  self->followed = element;
  self->has_refused = self->has_failed = FALSE;
  self->problem_reported[PROBLEM_LIMITS] = FALSE;
  self->encoder_bitrate = element && encoder
      ? gst_bitrate_encoder_get_initial (element, encoder) : 0;
  GST_OBJECT_LOCK (self);
  g_free (self->encoder);
  self->encoder = element ? gst_object_get_name (GST_OBJECT_CAST (element))
      : NULL;
  self->is_repeated = TRUE;
  GST_OBJECT_UNLOCK (self);
  GST_DEBUG_OBJECT (self, "the encoder is %" GST_PTR_FORMAT, element);
}

/* Finds the encoder and returns it (transfer full). Returns NULL if there is no
 * encoder, if there are several, or if the bitrate of the encoder cannot be
 * changed. In the last case, the function posts an error at once. In the other
 * cases, it posts a warning when the problem has existed for WARN_TIMEOUT. */
static GstElement *
find_encoder (GstBitrateAdapt * self, const GstBitrateEncoder ** encoder,
    guint64 now)
{
  GstElement *element;
  GstBitrateSearch found;
  gchar *reason, *name;

  GST_OBJECT_LOCK (self);
  name = g_strdup (self->encoder_name);
  GST_OBJECT_UNLOCK (self);
  found = gst_bitrate_encoder_find (GST_BASE_TRANSFORM_SINK_PAD (self), name,
      &element, encoder, &reason);
  follow (self, found == GST_BITRATE_SEVERAL ? NULL : element,
      found == GST_BITRATE_FOUND ? *encoder : NULL);
  if (note_problem (self, PROBLEM_ENCODER, has_stream (self)
          && (found == GST_BITRATE_NONE || found == GST_BITRATE_SEVERAL), now,
          WARN_TIMEOUT)) {
    if (found == GST_BITRATE_SEVERAL)
      warn_about_several_encoders (self);
    else
      warn_about_missing_encoder (self, name);
  }
  if (found == GST_BITRATE_FIXED && !self->has_failed) {
    self->has_failed = TRUE;
    post_fixed_bitrate_error (self, element, reason);
  }
  if (found != GST_BITRATE_FOUND)
    gst_clear_object (&element);
  g_free (reason);
  g_free (name);
  return element;
}

static void
post_change (GstBitrateAdapt * self, guint64 bitrate)
{
  GstStructure *change;

  GST_OBJECT_LOCK (self);
  change = !self->post_messages ? NULL : gst_structure_new (CHANGE_NAME,
      "target-bitrate", G_TYPE_UINT64, bitrate,
      "estimated-bitrate", G_TYPE_UINT64, self->report.estimate,
      "application-limited", G_TYPE_BOOLEAN, self->report.is_lower_bound,
      "encoder-bitrate", G_TYPE_UINT64, meter_get (&self->meter, get_now ()),
      NULL);
  GST_OBJECT_UNLOCK (self);
  if (change)
    gst_element_post_message (GST_ELEMENT_CAST (self),
        gst_message_new_element (GST_OBJECT_CAST (self), change));
}

static void
note_refusal (GstBitrateAdapt * self, GstElement * element,
    const GstBitrateEncoder * encoder, guint64 bitrate)
{
  GST_OBJECT_LOCK (self);
  self->refused++;
  GST_OBJECT_UNLOCK (self);
  if (self->has_refused)
    return;
  self->has_refused = TRUE;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("\"%s\" did not take a bitrate of %" G_GUINT64_FORMAT " bit/s. Set "
          "min-bitrate and max-bitrate to what this encoder accepts.",
          GST_OBJECT_NAME (element), bitrate),
      ("Its property \"%s\" is %" G_GUINT64_FORMAT " bit/s still.",
          encoder->property, gst_bitrate_encoder_get (element, encoder)));
}

static void
ask_encoder (GstBitrateAdapt * self, GstElement * element,
    const GstBitrateEncoder * encoder, guint64 bitrate)
{
  GST_DEBUG_OBJECT (self, "%s: %" G_GUINT64_FORMAT " bit/s, of %s%"
      G_GUINT64_FORMAT, GST_OBJECT_NAME (element), bitrate,
      self->report.is_lower_bound ? "at least " : "", self->report.estimate);
  if (!gst_bitrate_encoder_set (element, encoder, bitrate))
    note_refusal (self, element, encoder, bitrate);
  post_change (self, bitrate);
  g_object_notify (G_OBJECT (self), "target-bitrate");
}

/* --- network, in the thread ----------------------------------------------- */

/* Updates the loss counters, one for each kind of loss. If a counter has
 * increased since the last call, passes its kind of loss to `key_frames`,
 * because such a loss may require a key frame. The caller holds the object
 * lock. */
static void
note_losses (GstBitrateAdapt * self, const GstBitrateNetwork * network)
{
  guint i;

  for (i = 0; i < BITRATE_LOSS_LAST; i++) {
    if (network->lost[i] > self->lost_before[i])
      bitrate_key_frames_note_loss (&self->key_frames, i);
    self->lost_before[i] = network->lost[i];
  }
  self->lost = network->lost[BITRATE_LOSS_NETWORK] +
      network->lost[BITRATE_LOSS_DROPPED];
}

static void
request_key_frame (GstBitrateAdapt * self, const GstBitrateNetwork * network,
    guint64 now)
{
  BitrateStats stats = { 0 };
  gboolean is_due;

  GST_OBJECT_LOCK (self);
  if (self->control)
    bitrate_control_get_stats (self->control, &stats);
  note_losses (self, network);
  bitrate_key_frames_input (&self->key_frames, &network->report,
      network->latency, stats.target);
  is_due = self->request_key_frames && self->passed > 0
      && bitrate_key_frames_poll (&self->key_frames, now);
  GST_OBJECT_UNLOCK (self);
  if (!is_due)
    return;
  GST_DEBUG_OBJECT (self, "requesting a key frame; lost so far: %"
      G_GUINT64_FORMAT, self->lost);
  gst_pad_push_event (GST_BASE_TRANSFORM_SINK_PAD (self),
      gst_wireless_event_new_key_unit_request ());
}

/* Handles events that come from downstream. While a requested key frame is on
 * its way, drops each request of a downstream element for another key frame.
 * For example, mmtpsink requests a key frame whenever it drops a frame. A
 * second key frame would only reduce the bitrate that is available for the
 * first one. */
static gboolean
gst_bitrate_adapt_src_event (GstBaseTransform * trans, GstEvent * event)
{
  GstBitrateAdapt *self = GST_BITRATE_ADAPT (trans);
  const GstStructure *structure = gst_event_get_structure (event);
  gboolean is_coming = FALSE;

  if (structure && gst_structure_has_name (structure, "GstForceKeyUnit")) {
    GST_OBJECT_LOCK (self);
    is_coming = bitrate_key_frames_is_coming (&self->key_frames, get_now ());
    GST_OBJECT_UNLOCK (self);
  }
  if (is_coming) {
    GST_DEBUG_OBJECT (self,
        "a key frame is on its way: no other one is requested");
    gst_event_unref (event);
    return TRUE;
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->src_event (trans, event);
}

/* The RTCP statistics repeat the same losses until the next receiver report
 * arrives. If the losses in `network` were processed already, sets
 * network->report.loss to -1, which means that there is no new report. */
static void
drop_old_losses (GstBitrateAdapt * self, GstBitrateNetwork * network)
{
  if (network->loss_report == self->loss_report)
    network->report.loss = -1;
  self->loss_report = network->loss_report;
}

static void
read_network (GstBitrateAdapt * self, GstBitrateNetwork * network, guint64 now)
{
  guint64 passed_bytes;
  gboolean is_pushing;
  gchar *name;

  /* passed_bytes is the number of bytes that were pushed to the sink. All bytes
   * in passed_bytes that the sink does not report as waiting or in flight count
   * as confirmed by the receiver.
   *
   * passed_bytes must be read before the numbers of the sink. Otherwise, a
   * frame might be pushed after the sink's numbers are read and before
   * passed_bytes is read. passed_bytes would then contain this frame, but the
   * sink's numbers would not. The frame would wrongly count as confirmed. */
  GST_OBJECT_LOCK (self);
  name = g_strdup (self->network_name);
  passed_bytes = self->passed_bytes;
  is_pushing = self->is_pushing;
  GST_OBJECT_UNLOCK (self);
  gst_bitrate_network_read (GST_BASE_TRANSFORM_SRC_PAD (self), name, network);
  g_free (name);
  warn_about_network (self, network, now);
  drop_old_losses (self, network);
  network->report.now = now;

  GST_OBJECT_LOCK (self);
  if (network->report.estimate > 0)
    network->report.estimate = MAX (network->report.estimate,
        self->reserved_bitrate + 1) - self->reserved_bitrate;
  network->report.put_bytes = passed_bytes;
  network->report.is_blocked = is_pushing;
  self->report = network->report;
  if (g_strcmp0 (self->network, network->element) != 0) {
    GST_DEBUG_OBJECT (self, "the state of the network is read from %s",
        GST_STR_NULL (network->element));
    g_free (self->network);
    self->network = g_strdup (network->element);
    /* Another element than before reports the state of the network now. Its
     * loss counters are unrelated to those of the previous element, so their
     * present values are stored. Only later increases are regarded as losses.
     */
    memcpy (self->lost_before, network->lost, sizeof (self->lost_before));
  }
  GST_OBJECT_UNLOCK (self);
  request_key_frame (self, network, now);
}

/* Fills in `config` from the properties of the element and from `latency`, the
 * latency of the stream in ns. The caller holds the object lock. */
static void
get_config (const GstBitrateAdapt * self, guint64 latency,
    BitrateConfig * config)
{
  const guint64 max_bitrate = get_max_bitrate (self);

  config->limits.min_bitrate = MIN (self->min_bitrate, max_bitrate);
  config->limits.max_bitrate = max_bitrate;
  config->limits.headroom = self->headroom;
  config->limits.latency = latency;
  config->max_changes = self->max_changes;
}

/* Creates self->control, the object that decides which bitrate the encoder is
 * set to. It starts from the bitrate in the property start-bitrate or, if this
 * property is 0, from `bitrate`. The caller holds the object lock. */
static void
make_control (GstBitrateAdapt * self, const BitrateConfig * config,
    const BitrateRule * rule, guint64 bitrate)
{
  if (self->start_bitrate > 0)
    bitrate = self->start_bitrate;
  self->control = bitrate_control_new (config, rule, bitrate);
}

/* Returns TRUE if the encoder must be set to another bitrate, and stores this
 * bitrate in `bitrate`. `present` is the bitrate of the encoder now, in bit/s.
 * If self->control, the object that decides about the bitrate, does not exist
 * yet, the function creates it. The initial bitrate of self->control is then
 * the property start-bitrate or, if this property is not set, `present`. */
static gboolean
decide (GstBitrateAdapt * self, const GstBitrateNetwork * network,
    guint64 present, guint64 * bitrate)
{
  const BitrateRule *rule = network->rule ? network->rule
      : &bitrate_estimate_rule;
  BitrateConfig config;
  gboolean is_due;

  GST_OBJECT_LOCK (self);
  get_config (self, network->latency, &config);
  if (!self->control)
    make_control (self, &config, rule, present);
  bitrate_control_set_config (self->control, &config);
  bitrate_control_set_rule (self->control, rule);
  if (self->is_repeated)
    bitrate_control_repeat (self->control);
  self->is_repeated = FALSE;
  bitrate_control_input (self->control, &network->report);
  is_due = bitrate_control_poll (self->control, network->report.now, bitrate);
  GST_OBJECT_UNLOCK (self);
  return is_due;
}

/* Enables or disables the padding of the sink. Padding is data without content
 * that the sink sends to measure the capacity of the network. It is needed only
 * while the estimated capacity, minus the headroom, is below the maximum
 * bitrate. If the property padding-bitrate of bitrateadapt is 0, the sink keeps
 * its own setting. */
static void
update_padding (GstBitrateAdapt * self, const GstBitrateNetwork * network)
{
  gboolean is_wanted, was_padding = self->is_padding;
  guint bitrate;

  GST_OBJECT_LOCK (self);
  bitrate = self->padding_bitrate;
  is_wanted = bitrate > 0 && (1 - self->headroom) * network->report.estimate
      < get_max_bitrate (self);
  GST_OBJECT_UNLOCK (self);
  if (bitrate == 0 && !was_padding)
    return;
  self->is_padding = bitrate > 0;
  gst_bitrate_network_set_padding (network, is_wanted ? bitrate : 0);
}

static void
adapt (GstBitrateAdapt * self)
{
  guint64 now = get_now (), bitrate;
  const GstBitrateEncoder *encoder;
  GstBitrateNetwork network;
  GstElement *element;

  read_network (self, &network, now);
  element = find_encoder (self, &encoder, now);
  warn_about_limits (self, element != NULL, now);
  if (element) {
    if (decide (self, &network, gst_bitrate_encoder_get (element, encoder),
            &bitrate))
      ask_encoder (self, element, encoder, bitrate);
    update_padding (self, &network);
    gst_object_unref (element);
  }
  gst_bitrate_network_clear (&network);
}

/* Main function of the thread that changes the bitrate. The streaming thread
 * cannot do this. An encoder may hold its lock while it encodes a frame, and
 * the network may block the streaming thread just when the bitrate has to fall.
 */
static gpointer
run (gpointer data)
{
  GstBitrateAdapt *self = data;
  gint64 wakeup = g_get_monotonic_time ();

  g_mutex_lock (&self->mutex);
  while (!self->is_stopping) {
    g_mutex_unlock (&self->mutex);
    adapt (self);
    g_mutex_lock (&self->mutex);
    wakeup = MAX (wakeup + (gint64) (PERIOD / GST_USECOND),
        g_get_monotonic_time ());
    while (!self->is_stopping
        && g_cond_wait_until (&self->cond, &self->mutex, wakeup));
  }
  g_mutex_unlock (&self->mutex);
  return NULL;
}

/* --- life cycle ----------------------------------------------------------- */

static void
reset (GstBitrateAdapt * self)
{
  GST_OBJECT_LOCK (self);
  g_clear_pointer (&self->control, bitrate_control_free);
  memset (&self->meter, 0, sizeof (self->meter));
  memset (&self->report, 0, sizeof (self->report));
  self->passed = self->passed_bytes = self->lost = self->refused = 0;
  bitrate_key_frames_init (&self->key_frames);
  g_clear_pointer (&self->encoder, g_free);
  g_clear_pointer (&self->network, g_free);
  GST_OBJECT_UNLOCK (self);
  self->followed = NULL;
  self->encoder_bitrate = 0;
  self->is_padding = FALSE;
  self->loss_report = 0;
  memset (self->lost_before, 0, sizeof (self->lost_before));
  memset (self->problem_since, 0, sizeof (self->problem_since));
  memset (self->problem_reported, 0, sizeof (self->problem_reported));
}

static gboolean
gst_bitrate_adapt_start (GstBaseTransform * trans)
{
  GstBitrateAdapt *self = GST_BITRATE_ADAPT (trans);

  reset (self);
  self->is_stopping = FALSE;
  self->thread = g_thread_new ("bitrateadapt", run, self);
  return TRUE;
}

static gboolean
gst_bitrate_adapt_stop (GstBaseTransform * trans)
{
  GstBitrateAdapt *self = GST_BITRATE_ADAPT (trans);

  g_mutex_lock (&self->mutex);
  self->is_stopping = TRUE;
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->mutex);
  g_clear_pointer (&self->thread, g_thread_join);
  return TRUE;
}

/* --- statistics ----------------------------------------------------------- */

static GstStructure *
gst_bitrate_adapt_create_stats (GstElement * element)
{
  GstBitrateAdapt *self = GST_BITRATE_ADAPT (element);
  BitrateStats stats = { 0 };
  GstStructure *structure;
  const gchar *rule = NULL;

  GST_OBJECT_LOCK (self);
  if (self->control) {
    bitrate_control_get_stats (self->control, &stats);
    rule = bitrate_control_get_rule (self->control)->name;
  }
  structure = gst_structure_new (STATS_NAME,
      "encoder", G_TYPE_STRING, self->encoder,
      "estimator", G_TYPE_STRING, self->network,
      "rule", G_TYPE_STRING, rule,
      "estimated-bitrate", G_TYPE_UINT64, self->report.estimate,
      "application-limited", G_TYPE_BOOLEAN, self->report.is_lower_bound,
      "target-bitrate", G_TYPE_UINT64, stats.target,
      "encoder-bitrate", G_TYPE_UINT64, meter_get (&self->meter, get_now ()),
      "queued-bytes", G_TYPE_UINT64,
      self->report.queued_bytes == BITRATE_UNKNOWN ? 0
      : self->report.queued_bytes,
      "buffers", G_TYPE_UINT64, self->passed,
      "reports", G_TYPE_UINT64, stats.reports,
      "rises", G_TYPE_UINT64, stats.rises,
      "falls", G_TYPE_UINT64, stats.falls,
      "held-back", G_TYPE_UINT64, stats.held_back,
      "refused", G_TYPE_UINT64, self->refused,
      "lost", G_TYPE_UINT64, self->lost,
      "key-frames-requested", G_TYPE_UINT64, self->key_frames.requested, NULL);
  GST_OBJECT_UNLOCK (self);
  return structure;
}

static GstStateChangeReturn
gst_bitrate_adapt_change_state (GstElement * element, GstStateChange transition)
{
  GstStateChangeReturn done;

  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_stats_timer_stop (element);
  done = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING
      && done != GST_STATE_CHANGE_FAILURE)
    gst_stats_timer_start (element, gst_bitrate_adapt_create_stats);
  return done;
}

/* --- properties ----------------------------------------------------------- */

static void
get_target (gpointer object, GValue * value, GParamSpec * pspec)
{
  GstBitrateAdapt *self = object;
  BitrateStats stats = { 0 };

  GST_OBJECT_LOCK (self);
  if (self->control)
    bitrate_control_get_stats (self->control, &stats);
  GST_OBJECT_UNLOCK (self);
  g_value_set_uint (value, stats.target);
}

#define PROPERTY_STRUCT GstBitrateAdapt
static const GstWirelessProperty properties[] = {
  /**
   * GstBitrateAdapt:encoder:
   *
   * Name of the video encoder. If the name is not set, the video encoder
   * upstream is used. It may be inside a bin, and there may be parsers, queues,
   * payloaders and muxers downstream of it. If there are several encoders, the
   * name selects one of them.
   */
  PROPERTY_STRING ("encoder", "Encoder",
      "Name of the encoder in the pipeline (unset = the one upstream)",
      PROPERTY_PLAYING, encoder_name, NULL),

  /**
   * GstBitrateAdapt:estimator:
   *
   * Name of the element that reports the state of the network. If the name is
   * not set, an element downstream is used. If there are several such elements,
   * the first one in this list is used:
   *
   * * an element with the property `estimated-bitrate`; if several elements
   *   have this property, the element with the lowest value
   * * srtsink or ristsink
   * * an RTP session
   */
  PROPERTY_STRING ("estimator", "Estimator",
      "Name of the element in the pipeline that estimates what the network "
      "carries (unset = one downstream)", PROPERTY_PLAYING, network_name, NULL),

  PROPERTY_UINT ("min-bitrate", "Minimum bitrate",
      "Minimum bitrate that the encoder is set to (bit/s); if this is above "
      "the maximum bitrate, the maximum is used",
      PROPERTY_PLAYING, min_bitrate, 1, G_MAXINT, 300000),

  /**
   * GstBitrateAdapt:max-bitrate:
   *
   * If this property is 0, the maximum is the bitrate that the encoder has when
   * this element finds it. If the encoder's bitrate is 0 as well, which often
   * means "automatic", the maximum is 6 Mbit/s.
   */
  PROPERTY_UINT ("max-bitrate", "Maximum bitrate",
      "Maximum bitrate that the encoder is set to (bit/s, 0 = the bitrate that "
      "the encoder has at start)",
      PROPERTY_PLAYING, max_bitrate, 0, G_MAXINT, 0),
  PROPERTY_UINT ("start-bitrate", "Start bitrate",
      "Bitrate that the encoder is set to until an estimate is known (bit/s, 0 "
      "= the encoder keeps its own bitrate)",
      PROPERTY_READY, start_bitrate, 0, G_MAXINT, 0),

  /**
   * GstBitrateAdapt:headroom:
   *
   * Fraction of the estimated bitrate that the encoder does not use. It is
   * reserved for RTP headers, for retransmissions, and for frames that are
   * larger than the average.
   */
  PROPERTY_DOUBLE ("headroom", "Headroom",
      "Fraction of the estimated bitrate that is not used (0 to 0.9)",
      PROPERTY_PLAYING,
      headroom, 0, 0.9, 0.1),
  PROPERTY_UINT ("reserved-bitrate", "Reserved bitrate",
      "Part of the estimated bitrate for other streams over the same sink, "
      "such as audio (bit/s)", PROPERTY_PLAYING, reserved_bitrate, 0, G_MAXINT,
      0),

  /**
   * GstBitrateAdapt:padding-bitrate:
   *
   * Maximum bitrate of the padding that the sink sends. Padding is data without
   * content. With padding, the sink can measure how much the network carries,
   * even if the stream itself has a lower bitrate.
   *
   * If the pictures need few bits, the stream uses less than the bitrate that
   * the network can carry. Without padding, the estimate of the sink is then
   * only a lower bound. With padding, the estimate shows what the network
   * carries. When the pictures need more bits again, the bitrate of the encoder
   * can therefore increase immediately.
   *
   * The sink must have a property `padding-bitrate`, as mmtpsink has.
   * bitrateadapt sets the property of the sink to the value of this property.
   * While the estimate already allows the maximum bitrate, bitrateadapt sets
   * the property of the sink to 0.
   */
  PROPERTY_UINT ("padding-bitrate", "Padding bitrate",
      "Maximum bitrate of the padding that the sink sends while the estimate "
      "is only a lower bound (bit/s, 0 = the sink keeps its own "
      "padding-bitrate)", PROPERTY_PLAYING,
      padding_bitrate, 0, G_MAXINT, 0),
  PROPERTY_UINT ("max-changes", "Maximum changes",
      "Maximum number of changes of the encoder in any second (changes/s)",
      PROPERTY_PLAYING,
      max_changes, 1, BITRATE_MAX_CHANGES, 10),
  PROPERTY_BOOLEAN ("request-key-frames", "Request key frames",
      "Whether a key frame is requested from the encoder after a loss that was "
      "not repaired, and as soon as waiting frames are certain to arrive too "
      "late", PROPERTY_PLAYING,
      request_key_frames, TRUE),

  /**
   * GstBitrateAdapt:post-messages:
   *
   * Whether an element message `application/x-bitrateadapt-change` is posted
   * for each change of the encoder's bitrate. It has the fields
   * `target-bitrate`, `estimated-bitrate`, `application-limited` and
   * `encoder-bitrate` of #GstBitrateAdapt:stats.
   */
  PROPERTY_BOOLEAN ("post-messages", "Post messages",
      "Whether an element message is posted for each change of the encoder",
      PROPERTY_PLAYING, post_messages, FALSE),

  /**
   * GstBitrateAdapt:target-bitrate:
   *
   * The signal `notify::target-bitrate` is emitted each time bitrateadapt has
   * set the encoder to another bitrate.
   */
  PROPERTY_COMPUTED ("target-bitrate", "Target bitrate",
      "Bitrate that the encoder was set to last (bit/s, 0 = none yet)",
      PROPERTY_READABLE, G_TYPE_UINT,
      .maximum = G_MAXUINT,
      .get = get_target),

  /**
   * GstBitrateAdapt:stats:
   *
   * A #GstStructure named `application/x-bitrateadapt-stats`. The fields are
   * #guint64 unless another type is stated. Counters are 0 when the element
   * starts:
   *
   * * `encoder`, `estimator`: #gchararray, names of the elements in use
   * * `rule`: #gchararray, rule that determines the bitrate: `estimate`,
   *   `round-trip` or `loss`
   * * `estimated-bitrate`: bit/s that the estimator reports, less
   *   #GstBitrateAdapt:reserved-bitrate; 0 = no estimate
   * * `application-limited`: #gboolean, %TRUE if the estimate is only a lower
   *   bound, because the stream uses less than the network may carry
   * * `target-bitrate`: last bitrate to which the encoder was set, in bit/s
   * * `encoder-bitrate`: bitrate of the buffers that passed in the last second,
   *   in bit/s
   * * `queued-bytes`: bytes that wait in queues downstream and in the sink
   * * `buffers`: number of buffers that passed
   * * `reports`: how often the estimator was read (every 20 ms) and had an
   *   estimate, a round-trip time or new losses
   * * `rises`, `falls`: numbers of increases and decreases of the encoder's
   *   bitrate
   * * `held-back`: number of changes that had to wait because of
   *   #GstBitrateAdapt:max-changes
   * * `refused`: number of changes that the encoder did not accept
   * * `lost`: packets or frames that were lost and not repaired, as the
   *   estimator counts them
   * * `key-frames-requested`: number of requests for a key frame
   */
  PROPERTY_STATS
      ("Estimated bitrate of the network, target bitrate and bitrate of the "
      "encoder, and number of changes since the element started",
      gst_bitrate_adapt_create_stats),
  PROPERTY_STATS_INTERVAL (STATS_INTERVAL_BLURB, G_MAXINT64 / 2),
  /* Replaces the description of the property `qos` of the parent class, because
   * `qos` has no effect in this element. */
  PROPERTY_BOOLEAN ("qos", "QoS",
      "Property of every GstBaseTransform; it has no effect here",
      PROPERTY_PLAYING, qos, FALSE),
};

static void
gst_bitrate_adapt_finalize (GObject * object)
{
  GstBitrateAdapt *self = GST_BITRATE_ADAPT (object);

  bitrate_control_free (self->control);
  g_free (self->encoder);
  g_free (self->network);
  gst_wireless_properties_clear (self, GST_TYPE_BITRATE_ADAPT);
  g_mutex_clear (&self->mutex);
  g_cond_clear (&self->cond);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_bitrate_adapt_init (GstBitrateAdapt * self)
{
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD (self);

  gst_wireless_properties_init (self, GST_TYPE_BITRATE_ADAPT);
  g_mutex_init (&self->mutex);
  g_cond_init (&self->cond);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
  self->parent_chain = GST_PAD_CHAINFUNC (sink);
  gst_pad_set_chain_function (sink, gst_bitrate_adapt_chain);
}

static void
gst_bitrate_adapt_class_init (GstBitrateAdaptClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *transform_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->finalize = gst_bitrate_adapt_finalize;
  element_class->change_state = gst_bitrate_adapt_change_state;
  transform_class->start = gst_bitrate_adapt_start;
  transform_class->stop = gst_bitrate_adapt_stop;
  transform_class->sink_event = gst_bitrate_adapt_sink_event;
  transform_class->src_event = gst_bitrate_adapt_src_event;
  transform_class->transform_ip = gst_bitrate_adapt_transform_ip;

  gst_wireless_properties_set_category (object_class, gst_bitrate_adapt_debug);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Encoder bitrate that follows the network", "Filter/Network",
      "Keeps the bitrate of the encoder upstream at what the network downstream "
      "carries", "The gst-plugins-wireless authors");
}
