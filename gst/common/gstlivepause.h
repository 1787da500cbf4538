/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A live source in PAUSED. From 1.26 on GstBaseSrc calls unlock when a live source
 * goes from PLAYING to PAUSED, and calls unlock_stop once the streaming thread has
 * seen that. If PLAYING follows before, the source is neither unlocked nor waits:
 * its task stops and never starts again. A source that ignores this one call waits
 * for packets in PAUSED as well, as with older versions.
 */

#ifndef __GST_LIVE_PAUSE_H__
#define __GST_LIVE_PAUSE_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

/* The thread that takes the source to PAUSED, or NULL; atomic */
typedef struct
{
  GThread *thread;
} GstLivePause;

/* Calls the parent's change_state. */
GST_WIRELESS_API
GstStateChangeReturn gst_live_pause_change_state (GstLivePause * pause,
    GstElementClass * parent_class, GstElement * element,
    GstStateChange transition);
/* In unlock: TRUE if the call is to be ignored. A flush comes from another thread
 * or at another time. */
GST_WIRELESS_API
gboolean gst_live_pause_ignores_unlock (GstLivePause * pause);

G_END_DECLS

#endif /* __GST_LIVE_PAUSE_H__ */
