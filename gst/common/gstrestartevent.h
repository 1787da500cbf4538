/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An upstream event by which a sink tells that its receiver is a new one, which
 * has nothing of what was sent so far: what refers to it is of no use to that
 * one. Sent from the thread that renders, before the next buffer is taken.
 */

#ifndef __GST_RESTART_EVENT_H__
#define __GST_RESTART_EVENT_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

GST_WIRELESS_API
GstEvent *gst_event_new_restart (void);
GST_WIRELESS_API
gboolean gst_event_is_restart (GstEvent * event);

G_END_DECLS

#endif /* __GST_RESTART_EVENT_H__ */
