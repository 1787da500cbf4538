/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for sockets, or another thread: a poll that stays awake, once woken,
 * until that was taken note of. All under the element's lock, but waiting.
 */

#ifndef __GST_WAKER_H__
#define __GST_WAKER_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

typedef struct
{
  GstPoll *poll;                /* has its own lock */
  gboolean woken;
} GstWaker;

GST_WIRELESS_API
void gst_waker_init (GstWaker * waker);
GST_WIRELESS_API
void gst_waker_clear (GstWaker * waker);
GST_WIRELESS_API
void gst_waker_wake (GstWaker * waker);
GST_WIRELESS_API
void gst_waker_reset (GstWaker * waker);
/* Adds what is to be read to `fd` */
GST_WIRELESS_API
void gst_waker_add (GstWaker * waker, GstPollFD * fd, gint number);
GST_WIRELESS_API
void gst_waker_remove (GstWaker * waker, GstPollFD * fd);

G_END_DECLS

#endif /* __GST_WAKER_H__ */
