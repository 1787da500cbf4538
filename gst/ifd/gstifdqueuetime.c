/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pacing of ifdqueue: computes when a frame is due, waits until then, and
 * reports the resulting latency. The element waits as clocksync does, with two
 * exceptions: it uses the DTS of the frame, and it interrupts the wait when the
 * pipeline is paused.
 */

#include "gstifdqueueprivate.h"

#define GST_CAT_DEFAULT gst_ifd_queue_debug

/* --- time ---------------------------------------------------------------- */

GstClockTime
gst_ifd_queue_now (GstIfdQueue * self)
{
  GstElement *element = GST_ELEMENT_CAST (self);
  GstClockTime time, base_time;
  GstClock *clock;

  if (!self->playing)
    return self->paused_at;
  GST_OBJECT_LOCK (self);
  clock = element->clock ? gst_object_ref (element->clock) : NULL;
  base_time = element->base_time;
  GST_OBJECT_UNLOCK (self);
  if (!clock)
    return (g_get_monotonic_time () - self->started_at) * GST_USECOND;
  time = gst_clock_get_time (clock);
  gst_object_unref (clock);
  return time > base_time ? time - base_time : 0;
}

static gboolean
has_clock (GstIfdQueue * self)
{
  gboolean has;

  GST_OBJECT_LOCK (self);
  has = GST_ELEMENT_CLOCK (self) != NULL;
  GST_OBJECT_UNLOCK (self);
  return has;
}

/* Returns the running time of a timestamp. The running time of a DTS before the
 * start of the segment would be negative; 0 is returned instead. */
static GstClockTime
get_running_time (GstIfdQueue * self, GstClockTime time)
{
  guint64 running_time;

  if (gst_segment_to_running_time_full (&self->segment, GST_FORMAT_TIME, time,
          &running_time) != 1)
    return 0;
  return running_time;
}

static gboolean
has_time (GstIfdQueue * self, GstClockTime time)
{
  return GST_CLOCK_TIME_IS_VALID (time)
      && self->segment.format == GST_FORMAT_TIME;
}

/* Returns a clock entry with which a thread can wait until the running time
 * `due`. If the element has no clock, returns NULL, and the caller does not
 * wait. Called with the lock held. */
static GstClockID
create_wait_id (GstIfdQueue * self, GstClockTime due)
{
  GstElement *element = GST_ELEMENT_CAST (self);
  GstClockID id = NULL;

  GST_OBJECT_LOCK (self);
  if (element->clock)
    id = gst_clock_new_single_shot_id (element->clock,
        element->base_time + due);
  GST_OBJECT_UNLOCK (self);
  return id;
}

/* Waits until the running time `due`. Called with the lock held; the lock is
 * released while waiting. Returns TRUE if the time `due` has been reached, or
 * if there is no clock. Returns FALSE if the wait was ended early with
 * gst_clock_id_unschedule (). */
static gboolean
wait_for_clock (GstIfdQueue * self, GstClockTime due)
{
  GstClockID id = create_wait_id (self, due);
  GstClockReturn waited;

  if (!id)
    return TRUE;
  self->wait_id = id;
  g_mutex_unlock (&self->lock);
  waited = gst_clock_id_wait (id, NULL);
  g_mutex_lock (&self->lock);
  self->wait_id = NULL;
  gst_clock_id_unref (id);
  return waited != GST_CLOCK_UNSCHEDULED;
}

/* Sets `upstream_latency`: the time in ns from the running time of a frame
 * until the frame arrives from upstream. For a stream that is not live, it is
 * 0. Called with the lock held. */
static void
take_upstream_latency (GstIfdQueue * self, gboolean live, GstClockTime min)
{
  self->upstream_is_live = live;
  self->upstream_latency = 0;
  if (live)
    self->upstream_latency = min + (self->raw ? self->frame_duration : 0);
  self->latency_is_known = TRUE;
}

static void
learn_latency (GstIfdQueue * self)
{
  GstClockTime min = 0, max;
  gboolean live = FALSE, known;
  GstQuery *query;

  g_mutex_lock (&self->lock);
  known = self->latency_is_known;
  g_mutex_unlock (&self->lock);
  if (known)
    return;

  query = gst_query_new_latency ();
  if (gst_pad_peer_query (self->sinkpad, query))
    gst_query_parse_latency (query, &live, &min, &max);
  gst_query_unref (query);

  g_mutex_lock (&self->lock);
  take_upstream_latency (self, live, min);
  g_mutex_unlock (&self->lock);
  GST_DEBUG_OBJECT (self, "upstream is %slive, latency %" GST_TIME_FORMAT,
      live ? "" : "not ", GST_TIME_ARGS (min));
}

/* The caller holds the lock. */
static gboolean
waits_for_playing (GstIfdQueue * self)
{
  return self->flow == GST_FLOW_OK && self->paces && !self->playing;
}

gboolean
gst_ifd_queue_is_unqueued (GstIfdQueue * self)
{
  return self->may_be_unqueued && !self->paces && !self->upstream_is_live
      && self->passed;
}

static void
warn_of_times (GstIfdQueue * self)
{
  gboolean warned;

  g_mutex_lock (&self->lock);
  warned = self->warned_of_times || !self->paces || self->upstream_is_live;
  self->warned_of_times = TRUE;
  g_mutex_unlock (&self->lock);
  if (!warned)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The frames have no timestamps: %s sends them as fast as the network "
            "takes them. Put a parser or a demuxer that sets timestamps "
            "upstream.", GST_OBJECT_NAME (self)), (NULL));
}

/* Returns the timestamp at which a frame is due. It is the DTS of the frame's
 * buffer, or the PTS if there is no DTS. If the frame consists of two fields,
 * the buffer of the second field counts.
 *
 * A stored transport stream is an exception, because its buffers may have no
 * timestamps, or several pictures may have the same timestamp. For such a
 * stream, the due time is computed from the DTS in the packets of the picture.
 * In a live transport stream, the timestamp of a buffer is the time at which
 * the data arrived, so the timestamp is used as for other streams. */
static GstClockTime
get_time (GstIfdQueue * self, const IfdLineItem * item)
{
  GstBuffer *last = item->second ? item->second : item->object;

  if (item->has_media_time && !self->upstream_is_live)
    return item->media_time;
  return GST_BUFFER_DTS_OR_PTS (last);
}

gboolean
gst_ifd_queue_is_paced (GstIfdQueue * self, const IfdLineItem * item,
    GstClockTime * time)
{
  gboolean timed, paced;

  g_mutex_lock (&self->lock);
  while (waits_for_playing (self))
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);

  learn_latency (self);
  g_mutex_lock (&self->lock);
  *time = get_time (self, item);
  g_mutex_unlock (&self->lock);
  timed = has_time (self, *time);
  if (!timed)
    warn_of_times (self);

  g_mutex_lock (&self->lock);
  paced = self->paces && timed && has_clock (self);
  g_mutex_unlock (&self->lock);
  return paced;
}

GstClockTime
gst_ifd_queue_wait_until_due (GstIfdQueue * self, GstClockTime time)
{
  GstClockTime due = get_running_time (self, time) + self->upstream_latency;
  gboolean waits = TRUE;

  while (self->flow == GST_FLOW_OK && waits) {
    if (self->playing)
      waits = !wait_for_clock (self, due);
    else
      g_cond_wait (&self->changed, &self->lock);
  }
  return due;
}

void
gst_ifd_queue_unwait (GstIfdQueue * self)
{
  if (self->wait_id)
    gst_clock_id_unschedule (self->wait_id);
  g_cond_broadcast (&self->changed);
}

void
gst_ifd_queue_set_playing (GstIfdQueue * self, gboolean playing)
{
  g_mutex_lock (&self->lock);
  if (!playing)
    self->paused_at = gst_ifd_queue_now (self);
  self->playing = playing;
  self->latency_is_known = FALSE;
  gst_ifd_queue_unwait (self);
  g_mutex_unlock (&self->lock);
}

/* --- latency ------------------------------------------------------------- */

/* Returns the maximum time in ns for which a frame waits in the queue. Called
 * with the lock held. */
static GstClockTime
get_own_latency (GstIfdQueue * self)
{
  guint frames = self->config.algorithm == IFD_ALGORITHM_GOP ?
      self->config.max_frames : 1;

  return frames * self->frame_duration;
}

gboolean
gst_ifd_queue_query_latency (GstIfdQueue * self, GstQuery * query)
{
  GstClockTime min, max, here;
  gboolean live, sync;

  if (!gst_pad_peer_query (self->sinkpad, query))
    return FALSE;
  gst_query_parse_latency (query, &live, &min, &max);

  g_mutex_lock (&self->lock);
  take_upstream_latency (self, live, min);
  sync = self->paces;
  here = get_own_latency (self) + self->upstream_latency - (live ? min : 0);
  g_mutex_unlock (&self->lock);

  /* If the input is not live and sync=false, no frame has to be sent at a fixed
   * time. This element then adds no latency. */
  if (!live && !sync)
    return TRUE;
  /* If the input is not live, upstream can wait for any length of time, so the
   * maximum latency is unlimited. */
  if (!live)
    max = GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += here;
  gst_query_set_latency (query, TRUE, (live ? min : 0) + here, max);
  return TRUE;
}

static void
post_latency (GstIfdQueue * self)
{
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_latency (GST_OBJECT_CAST (self)));
}

void
gst_ifd_queue_set_config (GstIfdQueue * self, gint algorithm, guint max_frames)
{
  GstClockTime before;
  gboolean changed;

  g_mutex_lock (&self->lock);
  before = get_own_latency (self);
  if (algorithm >= 0)
    self->config.algorithm = algorithm;
  if (max_frames > 0)
    self->config.max_frames = max_frames;
  ifd_line_set_config (self->line, &self->config);
  changed = get_own_latency (self) != before;
  g_mutex_unlock (&self->lock);

  if (changed)
    post_latency (self);
}

void
gst_ifd_queue_set_frames (GstIfdQueue * self, GstClockTime duration,
    gboolean raw)
{
  gboolean changed;

  g_mutex_lock (&self->lock);
  changed = self->frame_duration != duration || self->raw != raw;
  self->frame_duration = duration;
  self->raw = raw;
  if (changed)
    self->latency_is_known = FALSE;
  g_mutex_unlock (&self->lock);

  if (changed)
    post_latency (self);
}
