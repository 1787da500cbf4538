/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What GstBaseSrc does to a live source in PAUSED; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstlivepause.h"

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
