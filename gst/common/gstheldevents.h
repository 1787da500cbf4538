/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Serialized events that an element holds back until its caps are known. */

#ifndef __GST_HELD_EVENTS_H__
#define __GST_HELD_EVENTS_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

/* A flush takes all but what is said of the stream as a whole. events: a queue
 * of GstEvent, owned */
GST_WIRELESS_API
void gst_held_events_flush (GQueue * events);

G_END_DECLS

#endif /* __GST_HELD_EVENTS_H__ */
