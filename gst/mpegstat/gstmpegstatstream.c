/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes the buffers, events and queries of the element mpegstat. */

#include "gstmpegstatprivate.h"

#include <string.h>

#include "gstifd.h"
#include "gstwirelessevents.h"

/* --- downstream ----------------------------------------------------------- */

static void
gst_mpeg_stat_send_held_events (GstMpegStat * self)
{
  GstEvent *event;

  while ((event = g_queue_pop_head (&self->held_events)))
    gst_pad_push_event (self->srcpad, event);
}

/* Sends a serialized event downstream. The CAPS event must come before the
 * SEGMENT event and later events. The caps are only known when the first frame
 * has arrived. Until then, the other events are stored. */
static gboolean
gst_mpeg_stat_send_event (GstMpegStat * self, GstEvent * event)
{
  if (self->have_caps)
    return gst_pad_push_event (self->srcpad, event);

  g_queue_push_tail (&self->held_events, event);
  return TRUE;
}

/* Sets the maximum time in ns that a frame waits in this element until a later
 * buffer shows where the frame ends. This time is the latency of the element.
 */
static void
gst_mpeg_stat_set_frame_wait (GstMpegStat * self, GstClockTime wait)
{
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = self->frame_wait != wait;
  self->frame_wait = wait;
  GST_OBJECT_UNLOCK (self);

  if (changed)
    gst_element_post_message (GST_ELEMENT_CAST (self),
        gst_message_new_latency (GST_OBJECT_CAST (self)));
}

static void
gst_mpeg_stat_update_frame_wait (GstMpegStat * self,
    const MpegVideoSequence * sequence)
{
  GstClockTime wait = MAX_FRAME_DURATION;

  if (self->parsed)
    wait = 0;
  else if (sequence->fps_n > 0)
    wait = gst_util_uint64_scale (GST_SECOND, sequence->fps_d, sequence->fps_n);
  gst_mpeg_stat_set_frame_wait (self, wait);
}

static void
gst_mpeg_stat_update_caps (GstMpegStat * self,
    const MpegVideoSequence * sequence)
{
  GstCaps *caps, *current;

  /* After a flush, frames may arrive before the next sequence header. The width
   * and height of the video are then unknown, and are 0. Such frames do not
   * change the caps. */
  if (self->have_caps && !self->update_caps && (sequence->width == 0
          || memcmp (&self->sequence, sequence, sizeof (*sequence)) == 0))
    return;

  self->sequence = *sequence;
  self->update_caps = FALSE;
  gst_mpeg_stat_update_frame_wait (self, sequence);

  caps = gst_mpeg_video_input_make_caps (self->input, sequence);
  current = gst_pad_get_current_caps (self->srcpad);
  if (!current || !gst_caps_is_equal (caps, current))
    gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
  gst_clear_caps (&current);
  gst_caps_unref (caps);

  self->have_caps = TRUE;
  gst_mpeg_stat_send_held_events (self);
}

/* --- frames --------------------------------------------------------------- */

static void
gst_mpeg_stat_hash (GstMpegStat * self, const GstMpegVideoInputFrame * frame,
    MpegStatEvent * event)
{
  guint8 slices[MPEGSTAT_HASH_BYTES];
  gsize offset, size, n;

  if (!mpegstat_find_slices (&frame->frame, &offset, &size))
    return;
  /* Copies only the bytes that are hashed. If the buffer were mapped instead,
   * and consisted of several GstMemory, the whole buffer would be copied. */
  n = gst_buffer_extract (frame->buffer, offset, slices,
      MIN (size, sizeof (slices)));
  mpegstat_event_set_hash (event, mpegstat_hash (slices, n, size));
}

static void
gst_mpeg_stat_take_time (GstMpegStat * self)
{
  self->now.arrival = gst_mpeg_stat_take_arrival (self);
  self->now.wall = g_get_real_time () * GST_USECOND;
}

static void
gst_mpeg_stat_frame_time (GstMpegStat * self,
    const GstMpegVideoInputFrame * frame, MpegStatTime * time)
{
  MpegVideoFramerStats stats;
  gboolean reads = gst_pull_reader_is_reading (self->sinkpad);

  /* If the element reads a file itself, it reads blocks that contain several
   * frames. Downstream may accept the frames of a block at different times, so
   * the time at which the block was read is not used for these frames. The
   * element handles a frame when downstream has accepted the previous frame.
   * The present time then counts as the arrival time of the frame. */
  if (reads)
    gst_mpeg_stat_take_time (self);
  *time = self->now;
  if (self->parsed || reads)
    return;
  gst_mpeg_video_input_get_stats (self->input, &stats);
  mpegstat_arrivals_take (self->arrivals, frame->frame.size, stats.junk_bytes,
      time);
}

static void
gst_mpeg_stat_measure_frame (GstMpegStat * self, const Settings * settings,
    const GstMpegVideoInputFrame * frame, gboolean complete)
{
  MpegStatEvent events[MPEGSTAT_MAX_EVENTS];
  MpegStatTime time;
  guint n, i;

  gst_mpeg_stat_frame_time (self, frame, &time);

  GST_OBJECT_LOCK (self);
  n = mpegstat_core_input_frame (self->core, time.arrival, time.wall,
      &frame->frame, &frame->position, complete, events);
  GST_OBJECT_UNLOCK (self);

  if (!gst_mpeg_stat_is_heard (self, settings))
    return;
  gst_mpeg_stat_hash (self, frame, &events[n - 1]);
  for (i = 0; i < n; i++)
    gst_mpeg_stat_tell (self, settings, &events[i]);
}

static void
gst_mpeg_stat_measure_losses (GstMpegStat * self, const Settings * settings)
{
  MpegVideoLoss loss;
  MpegStatEvent event;

  while (gst_mpeg_video_input_pull_loss (self->input, &loss)) {
    GST_DEBUG_OBJECT (self, "%u frames of type %c lost, from number %"
        G_GINT64_FORMAT " in display order on", loss.frames,
        mpeg_video_picture_type_char (loss.type), loss.display_number);
    GST_OBJECT_LOCK (self);
    mpegstat_core_input_loss (self->core, self->now.arrival, self->now.wall,
        &loss, &event);
    GST_OBJECT_UNLOCK (self);
    gst_mpeg_stat_tell (self, settings, &event);
  }
}

/* Sets the flags of the buffer of `frame`, and pushes the buffer downstream. If
 * `complete` is FALSE, the buffer gets the flag CORRUPTED. After the call,
 * `frame` does not contain the buffer any more. */
static GstFlowReturn
gst_mpeg_stat_push_frame (GstMpegStat * self, GstMpegVideoInputFrame * frame,
    gboolean complete)
{
  GstBuffer *buffer = g_steal_pointer (&frame->buffer);

  gst_mpeg_stat_update_caps (self, &frame->frame.sequence);

  if (!complete || self->discont) {
    buffer = gst_buffer_make_writable (buffer);
    if (!complete)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_CORRUPTED);
    if (self->discont)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    self->discont = FALSE;
  }
  return gst_pad_push (self->srcpad, buffer);
}

static GstFlowReturn
gst_mpeg_stat_handle_frame (GstMpegStat * self, const Settings * settings,
    GstMpegVideoInputFrame * frame)
{
  gboolean complete = !(frame->frame.flags & MPEG_VIDEO_FRAME_INCOMPLETE)
      && !GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_BUFFER_FLAG_CORRUPTED);

  gst_mpeg_stat_measure_frame (self, settings, frame, complete);
  gst_mpeg_stat_measure_losses (self, settings);

  if (!complete && settings->discard) {
    GST_DEBUG_OBJECT (self, "incomplete, discarded: %" GST_PTR_FORMAT,
        frame->buffer);
    self->discont = TRUE;
    return GST_FLOW_OK;
  }
  return gst_mpeg_stat_push_frame (self, frame, complete);
}

static void
gst_mpeg_stat_get_settings (GstMpegStat * self, Settings * settings)
{
  GST_OBJECT_LOCK (self);
  settings->print = !self->silent;
  settings->post = self->post_messages;
  settings->discard = self->discard_incomplete;
  GST_OBJECT_UNLOCK (self);
}

/* Copies the counters of the framer to `framer_stats`, where other threads can
 * read them. This function is called for each buffer. Most buffers of an
 * unparsed stream do not end a frame, so there are many calls, and the function
 * must be fast. */
static void
gst_mpeg_stat_publish_framer_stats (GstMpegStat * self)
{
  MpegVideoFramerStats stats;

  gst_mpeg_video_input_get_stats (self->input, &stats);
  /* Only the streaming thread writes `framer_stats` while data flows. It may
   * therefore read this field without the lock. */
  if (memcmp (&stats, &self->framer_stats, sizeof (stats)) == 0)
    return;
  GST_OBJECT_LOCK (self);
  self->framer_stats = stats;
  GST_OBJECT_UNLOCK (self);
}

/* Takes all complete frames from self->input, which divides the stream into
 * frames and detects lost frames. Processes each frame and the losses that have
 * been detected up to this frame. */
static GstFlowReturn
gst_mpeg_stat_handle_frames (GstMpegStat * self)
{
  GstMpegVideoInputFrame frame;
  GstFlowReturn ret = GST_FLOW_OK;
  Settings settings;

  gst_mpeg_stat_publish_framer_stats (self);
  while (ret == GST_FLOW_OK && gst_mpeg_video_input_pull (self->input, &frame)) {
    gst_mpeg_stat_get_settings (self, &settings);
    ret = gst_mpeg_stat_handle_frame (self, &settings, &frame);
    gst_mpeg_video_input_frame_clear (&frame);
  }
  return ret;
}

/* --- access units --------------------------------------------------------- */

/* Adds the number of errors in the latest access unit to the counters of the
 * element. The classifier parses the access units and has counters, too.
 * `before` contains the values that the classifier's counters had before this
 * access unit.
 *
 * The element needs counters of its own because of changes of the caps. When
 * the caps change, a new classifier replaces the old one and counts from 0. The
 * counters of the element must not be reset then. */
static void
gst_mpeg_stat_count_malformed (GstMpegStat * self,
    const guint64 before[IFD_MALFORMED_LAST])
{
  const IfdClassifier *classifier = mpegstat_units_get_classifier (self->units);
  guint i;

  for (i = 0; classifier && i < IFD_MALFORMED_LAST; i++)
    self->malformed[i] +=
        ifd_classifier_get_malformed (classifier, i) - before[i];
}

/* Passes the access unit in `buffer` to the parser of the codec, and fills in
 * `unit` with the result. Returns FALSE if the buffer cannot be mapped. */
static gboolean
gst_mpeg_stat_read_unit (GstMpegStat * self, GstBuffer * buffer,
    MpegStatUnit * unit)
{
  const IfdClassifier *classifier = mpegstat_units_get_classifier (self->units);
  const guint64 malformed = mpegstat_units_get_malformed (self->units);
  guint64 before[IFD_MALFORMED_LAST];
  SlotLayer layer;
  gboolean is_layered = gst_wireless_get_vp8_layer (buffer, &layer);
  GstMapInfo map;
  guint i;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  for (i = 0; classifier && i < IFD_MALFORMED_LAST; i++)
    before[i] = ifd_classifier_get_malformed (classifier, i);
  mpegstat_units_input (self->units, map.data, map.size,
      GST_BUFFER_PTS (buffer), GST_BUFFER_DTS (buffer),
      is_layered ? &layer : NULL, unit);
  gst_buffer_unmap (buffer, &map);

  GST_OBJECT_LOCK (self);
  gst_mpeg_stat_count_malformed (self, before);
  self->malformed_frames +=
      mpegstat_units_get_malformed (self->units) - malformed;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
gst_mpeg_stat_measure_unit (GstMpegStat * self, const Settings * settings,
    const MpegStatUnit * unit, gboolean complete)
{
  MpegStatEvent events[MPEGSTAT_MAX_EVENTS];
  guint n, i;

  GST_OBJECT_LOCK (self);
  n = mpegstat_core_input_unit (self->core, self->now.arrival, self->now.wall,
      unit, complete, events);
  GST_OBJECT_UNLOCK (self);

  for (i = 0; i < n; i++)
    gst_mpeg_stat_tell (self, settings, &events[i]);
}

/* Measures the access unit in `buffer`, and then pushes it downstream without
 * changing its data. If the buffer is corrupted and the property
 * discard-incomplete is TRUE, the buffer is discarded instead. Takes ownership
 * of `buffer`. */
static GstFlowReturn
gst_mpeg_stat_handle_unit (GstMpegStat * self, GstBuffer * buffer)
{
  gboolean complete = !GST_BUFFER_FLAG_IS_SET (buffer,
      GST_BUFFER_FLAG_CORRUPTED);
  MpegStatUnit unit;
  Settings settings;

  gst_mpeg_stat_get_settings (self, &settings);
  if (gst_mpeg_stat_read_unit (self, buffer, &unit))
    gst_mpeg_stat_measure_unit (self, &settings, &unit, complete);

  if (!complete && settings.discard) {
    GST_DEBUG_OBJECT (self, "corrupted, discarded: %" GST_PTR_FORMAT, buffer);
    gst_buffer_unref (buffer);
    self->discont = TRUE;
    return GST_FLOW_OK;
  }
  if (self->discont && !GST_BUFFER_IS_DISCONT (buffer)) {
    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  }
  self->discont = FALSE;
  return gst_pad_push (self->srcpad, buffer);
}

GstFlowReturn
gst_mpeg_stat_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstMpegStat *self = GST_MPEG_STAT (parent);

  gst_mpeg_stat_take_time (self);
  self->started = TRUE;

  if (self->units)
    return gst_mpeg_stat_handle_unit (self, buffer);
  if (!self->parsed && !gst_pull_reader_is_reading (pad))
    mpegstat_arrivals_input (self->arrivals, gst_buffer_get_size (buffer),
        &self->now);
  if (!gst_mpeg_video_input_push (self->input, buffer))
    return GST_FLOW_ERROR;
  return gst_mpeg_stat_handle_frames (self);
}

/* --- events --------------------------------------------------------------- */

/* Completes the frame whose bytes are stored, because the next bytes do not
 * belong to this frame. */
static void
gst_mpeg_stat_drain (GstMpegStat * self)
{
  Settings settings;

  if (!self->started || self->units)
    return;
  gst_mpeg_video_input_drain (self->input);
  gst_mpeg_stat_handle_frames (self);
  gst_mpeg_stat_get_settings (self, &settings);
  gst_mpeg_stat_measure_losses (self, &settings);
}

/* Discards the state of the stream before a different stream begins, or before
 * the same stream continues at a different position. */
static void
gst_mpeg_stat_restart (GstMpegStat * self)
{
  MpegVideoFramerStats stats;

  if (self->units)
    mpegstat_units_restart (self->units);
  gst_mpeg_video_input_reset (self->input);
  gst_mpeg_video_input_get_stats (self->input, &stats);
  mpegstat_arrivals_reset (self->arrivals, stats.junk_bytes);
  self->started = FALSE;
  self->discont = TRUE;

  GST_OBJECT_LOCK (self);
  mpegstat_core_restart (self->core);
  self->eos = FALSE;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_mpeg_stat_take_stream_start (GstMpegStat * self, GstEvent * event)
{
  if (self->have_stream && self->started) {
    gst_mpeg_stat_drain (self);
    gst_mpeg_stat_restart (self);
  }
  self->have_stream = TRUE;
  return gst_pad_push_event (self->srcpad, event);
}

static GstClockTime
gst_mpeg_stat_get_period (const GstCaps * caps)
{
  gint fps_n, fps_d;

  if (!gst_structure_get_fraction (gst_caps_get_structure (caps, 0),
          "framerate", &fps_n, &fps_d) || fps_n <= 0 || fps_d <= 0)
    return 0;
  return gst_util_uint64_scale (GST_SECOND, fps_d, fps_n);
}

/* Starts a new stream of access units, which `units` will parse. `event` is the
 * CAPS event of the stream, and `caps` are the caps in this event. Passes on
 * `event` unchanged. Takes ownership of `event` and `units`. */
static gboolean
gst_mpeg_stat_adopt_units (GstMpegStat * self, GstEvent * event,
    GstCaps * caps, MpegStatUnits * units)
{
  mpegstat_units_set_period (units, gst_mpeg_stat_get_period (caps));
  gst_mpeg_stat_drain (self);
  g_clear_pointer (&self->units, mpegstat_units_free);
  self->units = units;
  self->parsed = self->have_upstream_caps = self->have_caps = TRUE;
  gst_mpeg_stat_set_frame_wait (self, 0);
  gst_pad_push_event (self->srcpad, event);
  gst_mpeg_stat_send_held_events (self);
  return TRUE;
}

static gboolean
gst_mpeg_stat_take_unit_caps (GstMpegStat * self, GstEvent * event,
    GstCaps * caps, IfdCodec codec)
{
  MpegStatUnits *units = mpegstat_units_new (codec);

  if (!gst_h26x_caps_set_codec_data (caps,
          mpegstat_units_get_classifier (units))) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("%s can't read this %s stream: its codec_data is missing or "
            "malformed. Put %s upstream.", GST_OBJECT_NAME (self),
            codec == IFD_CODEC_H264 ? "H.264" : "H.265",
            codec == IFD_CODEC_H264 ? "h264parse" : "h265parse"),
        ("%" GST_PTR_FORMAT, caps));
    mpegstat_units_free (units);
    gst_event_unref (event);
    return FALSE;
  }
  return gst_mpeg_stat_adopt_units (self, event, caps, units);
}

static gboolean
gst_mpeg_stat_take_slot_caps (GstMpegStat * self, GstEvent * event,
    GstCaps * caps, SlotCodec codec)
{
  MpegStatUnits *units = mpegstat_units_new_slots (codec);

  gst_slot_caps_set_codec_data (caps, mpegstat_units_get_slots (units));
  return gst_mpeg_stat_adopt_units (self, event, caps, units);
}

static gboolean
gst_mpeg_stat_take_caps (GstMpegStat * self, GstEvent * event)
{
  gboolean parsed = FALSE;
  SlotCodec slot_codec;
  IfdCodec codec;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (gst_h26x_caps_get_codec (caps, &codec))
    return gst_mpeg_stat_take_unit_caps (self, event, caps, codec);
  if (gst_slot_caps_get_codec (caps, &slot_codec))
    return gst_mpeg_stat_take_slot_caps (self, event, caps, slot_codec);
  g_clear_pointer (&self->units, mpegstat_units_free);
  gst_structure_get_boolean (gst_caps_get_structure (caps, 0), "parsed",
      &parsed);
  GST_DEBUG_OBJECT (self, "%s input, %" GST_PTR_FORMAT,
      parsed ? "parsed" : "raw", caps);

  if (parsed != self->parsed) {
    MpegVideoFramerStats stats;

    gst_mpeg_stat_drain (self);
    self->parsed = parsed;
    gst_mpeg_stat_update_frame_wait (self, &self->sequence);
    gst_mpeg_video_input_set_caps (self->input, caps);
    gst_mpeg_video_input_get_stats (self->input, &stats);
    mpegstat_arrivals_reset (self->arrivals, stats.junk_bytes);
  } else {
    gst_mpeg_video_input_set_caps (self->input, caps);
  }
  self->have_upstream_caps = TRUE;
  self->update_caps = TRUE;
  gst_event_unref (event);
  return TRUE;
}

static gboolean
gst_mpeg_stat_take_segment (GstMpegStat * self, GstEvent * event)
{
  const GstSegment *segment;

  event = gst_mpeg_video_input_convert_segment (self->input, event);
  gst_event_parse_segment (event, &segment);
  /* The data that have not been processed yet belong to the previous segment.
   * They must be processed before the segment changes. */
  if (!self->parsed && !gst_segment_is_equal (&self->segment, segment))
    gst_mpeg_stat_drain (self);
  gst_segment_copy_into (segment, &self->segment);
  return gst_mpeg_stat_send_event (self, event);
}

/* Passes on a GAP event. No event is passed on before the caps are sent.
 * However, a sink that waits for preroll must receive a GAP event even before
 * the first frame. The caps are therefore sent first if upstream's caps are
 * known. */
static gboolean
gst_mpeg_stat_take_gap (GstMpegStat * self, GstEvent * event)
{
  if (!self->have_caps && self->have_upstream_caps)
    gst_mpeg_stat_update_caps (self, &self->sequence);
  return gst_mpeg_stat_send_event (self, event);
}

static gboolean
gst_mpeg_stat_take_eos (GstMpegStat * self, GstEvent * event)
{
  gboolean silent;

  gst_mpeg_stat_drain (self);

  GST_OBJECT_LOCK (self);
  self->eos = TRUE;
  silent = self->silent;
  GST_OBJECT_UNLOCK (self);

  if (!silent)
    gst_mpeg_stat_print_summary (self);
  gst_mpeg_stat_post_stats (self);
  /* for a stream without any frame */
  gst_mpeg_stat_send_held_events (self);
  return gst_pad_push_event (self->srcpad, event);
}

static gboolean
gst_mpeg_stat_take_flush_stop (GstMpegStat * self, GstEvent * event)
{
  gst_mpeg_stat_restart (self);
  gst_held_events_flush (&self->held_events);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  return gst_pad_push_event (self->srcpad, event);
}

gboolean
gst_mpeg_stat_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstMpegStat *self = GST_MPEG_STAT (parent);

  GST_LOG_OBJECT (self, "%" GST_PTR_FORMAT, event);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      return gst_mpeg_stat_take_stream_start (self, event);
    case GST_EVENT_CAPS:
      return gst_mpeg_stat_take_caps (self, event);
    case GST_EVENT_SEGMENT:
      return gst_mpeg_stat_take_segment (self, event);
    case GST_EVENT_GAP:
      return gst_mpeg_stat_take_gap (self, event);
    case GST_EVENT_EOS:
      return gst_mpeg_stat_take_eos (self, event);
    case GST_EVENT_FLUSH_STOP:
      return gst_mpeg_stat_take_flush_stop (self, event);
    default:
      if (GST_EVENT_IS_SERIALIZED (event))
        return gst_mpeg_stat_send_event (self, event);
      return gst_pad_event_default (pad, parent, event);
  }
}

/* --- queries ------------------------------------------------------------- */

/* Returns the caps that the sink pad accepts. They are the caps that downstream
 * accepts, but without the field `parsed`: the output is always parsed, and the
 * input may be parsed or unparsed. */
static GstCaps *
gst_mpeg_stat_get_sink_caps (GstMpegStat * self, GstCaps * filter)
{
  GstCaps *template = gst_pad_get_pad_template_caps (self->sinkpad);
  GstCaps *peer = gst_pad_peer_query_caps (self->srcpad, NULL);
  GstCaps *caps, *filtered;
  guint i;

  peer = gst_caps_make_writable (peer);
  for (i = 0; i < gst_caps_get_size (peer); i++)
    gst_structure_remove_field (gst_caps_get_structure (peer, i), "parsed");
  caps = gst_caps_intersect_full (peer, template, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (peer);
  gst_caps_unref (template);

  if (filter) {
    filtered = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (caps);
    caps = filtered;
  }
  return caps;
}

gboolean
gst_mpeg_stat_sink_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstMpegStat *self = GST_MPEG_STAT (parent);
  GstCaps *caps, *filter;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &filter);
      caps = gst_mpeg_stat_get_sink_caps (self, filter);
      gst_query_set_caps_result (query, caps);
      gst_caps_unref (caps);
      return TRUE;
    case GST_QUERY_ALLOCATION:
      /* Downstream's answer to an ALLOCATION query is useful only if the
       * buffers that upstream allocates are pushed downstream. For this, the
       * buffers must contain whole frames, and downstream must have received
       * their caps. Otherwise the query fails. */
      if (!self->parsed || !self->have_caps)
        return FALSE;
      return gst_pad_peer_query (self->srcpad, query);
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

static gboolean
gst_mpeg_stat_query_latency (GstMpegStat * self, GstQuery * query)
{
  GstClockTime min, max, wait;
  gboolean live;

  if (!gst_pad_peer_query (self->sinkpad, query))
    return FALSE;

  GST_OBJECT_LOCK (self);
  wait = self->frame_wait;
  GST_OBJECT_UNLOCK (self);

  gst_query_parse_latency (query, &live, &min, &max);
  /* The frames of a stored stream can be read before they are needed. If the
   * stream is not live, this element therefore adds no latency. */
  if (!live)
    return TRUE;
  min += wait;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += wait;
  gst_query_set_latency (query, live, min, max);
  return TRUE;
}

gboolean
gst_mpeg_stat_src_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return gst_mpeg_stat_query_latency (GST_MPEG_STAT (parent), query);
  return gst_pad_query_default (pad, parent, query);
}
