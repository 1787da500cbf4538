/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstlivesource.h. The first part handles the flushes of a
 * live source. The second part passes its buffers and buffer lists to
 * GstBaseSrc. */

#include "gstlivesource.h"

/* --- unlock and unlock_stop ----------------------------------------------- */

void
gst_live_flush_init (GstLiveFlush * flush, GstBaseSrc * src,
    GstLiveFlushFunc set_flushing)
{
  flush->src = src;
  flush->set_flushing = set_flushing;
  g_mutex_init (&flush->lock);
}

static void
forget_stand_in (gpointer flush, GstMiniObject * stand_in)
{
  ((GstLiveFlush *) flush)->stand_in = NULL;
}

void
gst_live_flush_clear (GstLiveFlush * flush)
{
  gst_clear_buffer (&flush->stand_in);
  g_mutex_clear (&flush->lock);
}

static void
set_pauser (GstLiveFlush * flush, GThread * pauser)
{
  g_mutex_lock (&flush->lock);
  flush->pauser = pauser;
  g_mutex_unlock (&flush->lock);
}

GstStateChangeReturn
gst_live_flush_change_state (GstLiveFlush * flush,
    GstElementClass * parent_class, GstStateChange transition)
{
  GstStateChangeReturn result;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    flush->has_output = flush->was_list = FALSE;
  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    set_pauser (flush, g_thread_self ());
  result = parent_class->change_state (GST_ELEMENT_CAST (flush->src),
      transition);
  set_pauser (flush, NULL);
  return result;
}

void
gst_live_flush_unlock (GstLiveFlush * flush)
{
  g_mutex_lock (&flush->lock);
  if (flush->pauser != g_thread_self ()) {
    flush->flusher = g_thread_self ();
    flush->stopper = NULL;
    flush->set_flushing (flush->src, TRUE);
  }
  g_mutex_unlock (&flush->lock);
}

/* The caller holds the lock. */
static void
stop_flush (GstLiveFlush * flush)
{
  flush->flusher = flush->stopper = NULL;
  flush->set_flushing (flush->src, FALSE);
}

/* Called in unlock_stop. Usually the thread that began the flush also calls
 * this function. The function then ends the flush.
 *
 * If another thread calls this function, there are two cases:
 * - An application has sent FLUSH_START and FLUSH_STOP from two threads. The
 *   flush has to end.
 * - The streaming thread calls unlock_stop because of a pause. The flush has to
 *   continue.
 *
 * This function cannot distinguish the two cases, so it only stores the calling
 * thread in `stopper`. gst_live_flush_begin_create (), which always runs in the
 * streaming thread, decides later. If `stopper` is not the streaming thread,
 * this is the first case, and gst_live_flush_begin_create () ends the flush. */
void
gst_live_flush_unlock_stop (GstLiveFlush * flush)
{
  g_mutex_lock (&flush->lock);
  if (flush->flusher == g_thread_self ())
    stop_flush (flush);
  else if (flush->flusher && !flush->stopper)
    flush->stopper = g_thread_self ();
  g_mutex_unlock (&flush->lock);
}

void
gst_live_flush_begin_create (GstLiveFlush * flush)
{
  g_mutex_lock (&flush->lock);
  if (flush->stopper && flush->stopper != g_thread_self ())
    stop_flush (flush);
  flush->stopper = NULL;
  g_mutex_unlock (&flush->lock);
}

static gboolean
is_flushing (GstLiveFlush * flush)
{
  gboolean is_flushing;

  g_mutex_lock (&flush->lock);
  is_flushing = flush->flusher != NULL;
  g_mutex_unlock (&flush->lock);
  return is_flushing;
}

/* --- buffers and buffer lists --------------------------------------------- */

static gboolean
can_submit (GstLiveFlush * flush)
{
  GstBaseSrc *src = flush->src;
  gboolean flushing;

  g_mutex_lock (&src->live_lock);
  while (!(flushing = is_flushing (flush)) && !src->live_running)
    g_cond_wait (&src->live_cond, &src->live_lock);
  g_mutex_unlock (&src->live_lock);
  return !flushing;
}

static gboolean
needs_stand_in (void)
{
  guint major, minor, micro, nano;

  gst_version (&major, &minor, &micro, &nano);
  return major == 1 && minor < 26;
}

/* Returns what create has to return for a list that begins with `first`: the
 * stand-in, or NULL if none is needed. The stand-in has the timestamps of
 * `first`, from which GstBaseSrc learns the position of the stream. */
static GstBuffer *
get_stand_in (GstLiveFlush * flush, GstBuffer * first)
{
  if (!needs_stand_in ())
    return NULL;
  if (!flush->stand_in) {
    flush->stand_in = gst_buffer_new ();
    gst_mini_object_weak_ref (GST_MINI_OBJECT_CAST (flush->stand_in),
        forget_stand_in, flush);
  }
  gst_buffer_copy_into (flush->stand_in, first, GST_BUFFER_COPY_FLAGS |
      GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  return flush->stand_in;
}

/* GstBaseSrc sets the flag DISCONT in the first buffer after the start. If this
 * buffer is in a list, GstBaseSrc would set the flag in the stand-in. If the
 * last list was dropped, the buffer after it gets the flag, too. */
static void
mark_first_buffer (GstLiveFlush * flush, GstBuffer * first, gboolean is_list)
{
  if (needs_stand_in () && flush->was_list && !flush->stand_in)
    flush->has_output = FALSE;
  if (!flush->has_output)
    GST_BUFFER_FLAG_SET (first, GST_BUFFER_FLAG_DISCONT);
  flush->has_output = TRUE;
  flush->was_list = is_list;
}

GstFlowReturn
gst_live_list_submit (GstLiveFlush * flush, GstBuffer ** buffers, guint n,
    GstBuffer ** out)
{
  GstBufferList *list;
  guint i;

  if (!can_submit (flush)) {
    for (i = 0; i < n; i++)
      gst_buffer_unref (buffers[i]);
    return GST_FLOW_FLUSHING;
  }
  mark_first_buffer (flush, buffers[0], n > 1);
  if (n == 1) {
    *out = buffers[0];
    return GST_FLOW_OK;
  }
  *out = get_stand_in (flush, buffers[0]);
  list = gst_buffer_list_new_sized (n);
  for (i = 0; i < n; i++)
    gst_buffer_list_add (list, buffers[i]);
  gst_base_src_submit_buffer_list (flush->src, list);
  return GST_FLOW_OK;
}

gboolean
gst_live_list_is_srtp (const gchar * caps)
{
  return g_str_has_prefix (caps, "application/x-srtp");
}

static gboolean
has_srtp_caps (GstBaseSrc * src)
{
  GstCaps *caps = gst_pad_get_current_caps (GST_BASE_SRC_PAD (src));
  gboolean is_srtp;

  if (!caps)
    return FALSE;
  is_srtp = gst_caps_get_size (caps) > 0
      && gst_live_list_is_srtp (gst_structure_get_name
      (gst_caps_get_structure (caps, 0)));
  gst_caps_unref (caps);
  return is_srtp;
}

guint
gst_live_list_get_max (GstBaseSrc * src, guint max)
{
  return src->num_buffers_left >= 0 || has_srtp_caps (src) ? 1 : max;
}

GstClockTime
gst_live_list_get_time (GstBaseSrc * src)
{
  GstElement *element = GST_ELEMENT_CAST (src);
  GstClock *clock = gst_base_src_get_do_timestamp (src) ?
      gst_element_get_clock (element) : NULL;
  GstClockTime now, base;

  if (!clock)
    return GST_CLOCK_TIME_NONE;
  now = gst_clock_get_time (clock);
  base = gst_element_get_base_time (element);
  gst_object_unref (clock);
  return now > base ? now - base : 0;
}
