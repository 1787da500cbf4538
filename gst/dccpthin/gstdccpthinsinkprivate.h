/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of dcctpthinsink share: the element with its properties in
 * gstdccpthinsink.c, a connection from the first packet to the last in
 * gstdccpthinsinknetwork.c, what is told of it in gstdccpthinsinktell.c.
 *
 * Two threads drive the core, each under the end's lock. The streaming thread
 * sends data when the rate allows it. The loop does all that comes later or from
 * the receiver; it runs in the base class's thread, and while the end of the
 * stream is drained in the streaming thread: never in both.
 */

#ifndef __GST_DCCP_THIN_SINK_PRIVATE_H__
#define __GST_DCCP_THIN_SINK_PRIVATE_H__

#include "dccphistory.h"
#include "dccpoptions.h"
#include "gstdccpthinend.h"
#include "gstdccpthinsink.h"
#include "gstwaker.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_dccp_thin_sink_debug);
#define GST_CAT_DEFAULT gst_dccp_thin_sink_debug

struct _GstDccpThinSink
{
  GstNetworkSink parent;

  GstDccpThinEnd end;           /* its lock is that of the fields below */

  /* --- protected by the lock --- */
  gboolean request_key_units;

  GstWaker room;                /* what `wait` waits for */
  guint64 waits_until;          /* ns at which the next packet may go, as far as
                                 * that was known; 0: nobody waits */
  gsize too_long;               /* bytes of a buffer that fits in no packet, to
                                 * be told; 0: none */
  guint longest;                /* bytes that would have fit */

  guint estimated_bitrate;      /* bits per second */
  gboolean rate_changed;        /* to be notified */
  gint64 rate_told_at;          /* monotonic us */
  guint dropped[DCCP_DROP_NONE];        /* by the receiver, by code, to be told */
  gint64 dropped_told_at;       /* monotonic us */
  gboolean wants_key_unit;      /* to be asked for upstream */
  gint64 key_unit_asked_at;     /* monotonic us; 0: not yet */
  gboolean has_delta_units;     /* so that others are key frames */
  DccpHistory key_packets;      /* those that have a part of one */

  /* --- streaming thread only --- */
  gboolean had_to_wait;         /* what is sent next: the rate, and not upstream,
                                 * is what limits us */
  GstClockTime frame_pts;       /* of the frame that is being sent, */
  gboolean frame_is_over;       /* unless it is */
  guint64 frame_until;          /* ns; its packets may wait for the pacing so
                                 * long with blocking=false */
  GstClockTime frame_period;    /* least between two frames; NONE: unknown */
};

#define LOCK(self) g_mutex_lock (&(self)->end.lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->end.lock)

/* --- gstdccpthinsinknetwork.c --------------------------------------------- */
/* In a change of state. FALSE: an error was posted. */
gboolean gst_dccp_thin_sink_listen (GstDccpThinSink * self);
gboolean gst_dccp_thin_sink_connect (GstNetworkSink * sink,
    GCancellable * cancellable, GError ** error);
void gst_dccp_thin_sink_watch (GstNetworkSink * sink,
    GCancellable * cancellable, GError ** error);
void gst_dccp_thin_sink_disconnect (GstNetworkSink * sink, gboolean reset);
GstNetworkSinkResult gst_dccp_thin_sink_send_packets (GstNetworkSink * sink,
    GstBuffer ** buffers, guint n, guint * sent, GError ** error);
void gst_dccp_thin_sink_wait (GstNetworkSink * sink, gint64 timeout,
    GCancellable * cancellable);
gboolean gst_dccp_thin_sink_drain (GstNetworkSink * sink, gint64 deadline,
    GCancellable * cancellable, GError ** error);

/* --- gstdccpthinsinktell.c ------------------------------------------------ */
/* Of the end */
void gst_dccp_thin_sink_take_event (gpointer element, const DccpEvent * event);
void gst_dccp_thin_sink_unlock_and_tell (gpointer element);
guint64 gst_dccp_thin_sink_get_wakeup (gpointer element);

/* gstdccpthinsink.c; notifies */
void gst_dccp_thin_sink_notify_bitrate (GstDccpThinSink * self);

G_END_DECLS

#endif /* __GST_DCCP_THIN_SINK_PRIVATE_H__ */
