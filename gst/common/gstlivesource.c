/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers, buffer lists and the pause of a live source; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstlivesource.h"

/* --- buffers and buffer lists --------------------------------------------- */

static gboolean
can_submit (GstBaseSrc * src, GstLiveListFunc is_unlocked)
{
  gboolean unlocked;

  g_mutex_lock (&src->live_lock);
  while (!(unlocked = is_unlocked (src)) && !src->live_running)
    g_cond_wait (&src->live_cond, &src->live_lock);
  g_mutex_unlock (&src->live_lock);
  return !unlocked;
}

GstFlowReturn
gst_live_list_submit (GstBaseSrc * src, GstBufferList * list,
    GstLiveListFunc is_unlocked)
{
  if (!can_submit (src, is_unlocked)) {
    gst_buffer_list_unref (list);
    return GST_FLOW_FLUSHING;
  }
  gst_base_src_submit_buffer_list (src, list);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_live_list_submit_buffer (GstBaseSrc * src, GstBuffer * buffer,
    GstLiveListFunc is_unlocked, GstBuffer ** out)
{
  if (!can_submit (src, is_unlocked)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_FLUSHING;
  }
  *out = buffer;
  return GST_FLOW_OK;
}

/* --- PAUSED --------------------------------------------------------------- */

GstStateChangeReturn
gst_live_pause_change_state (GstLivePause * pause,
    GstElementClass * parent_class, GstElement * element,
    GstStateChange transition)
{
  GstStateChangeReturn result;

  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    g_atomic_pointer_set (&pause->thread, g_thread_self ());
  result = parent_class->change_state (element, transition);
  g_atomic_pointer_set (&pause->thread, NULL);
  return result;
}

gboolean
gst_live_pause_ignores_unlock (GstLivePause * pause)
{
  return g_atomic_pointer_get (&pause->thread) == g_thread_self ();
}
