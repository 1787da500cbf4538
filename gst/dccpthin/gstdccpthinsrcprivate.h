/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of dcctpthinsrc share: the element with its properties in
 * gstdccpthinsrc.c, its network in gstdccpthinsrcnetwork.c, the way of a buffer
 * downstream in gstdccpthinsrccreate.c.
 *
 * The network has a thread of its own: feedback must go to the sender in time,
 * whatever downstream does with what came. A bounded queue leads from there to
 * the streaming thread; when it fills, the sender hears of it.
 */

#ifndef __GST_DCCP_THIN_SRC_PRIVATE_H__
#define __GST_DCCP_THIN_SRC_PRIVATE_H__

#include "gstdccpthinend.h"
#include "gstdccpthinsrc.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_dccp_thin_src_debug);
#define GST_CAT_DEFAULT gst_dccp_thin_src_debug

/* What the core's counters don't say */
typedef struct
{
  guint64 buffers, bytes;       /* that went downstream */
  guint64 dropped_full;         /* downstream was too slow */
  guint64 dropped_paused;       /* came while the pipeline was paused */
} GstDccpThinSrcCounters;

/* Of the properties */
typedef struct
{
  guint max_bytes, max_packets; /* of the queue */
  gboolean eos_at_end;
  guint64 connect_timeout;      /* ns, 0: none */
} GstDccpThinSrcSettings;

struct _GstDccpThinSrc
{
  GstNetworkSrc parent;

  GstDccpThinEnd end;           /* its lock is that of the fields below */
  GCond cond;                   /* the queue has something, or flushing */

  /* --- protected by the lock --- */
  GstDccpThinSrcSettings own;
  GQueue queue;                 /* of GstMiniObject: buffers, whose DTS is ns of
                                 * when they came; EOS; messages of errors */
  guint64 queued_bytes;
  gboolean queue_discont;       /* something before the next buffer is missing */
  gboolean is_slow;             /* the sender was told that downstream is */
  gboolean flushing, paused, stopping;
  GstDccpThinSrcCounters counters;

  /* --- made and freed while neither thread runs --- */
  GThread *thread;
  GCancellable *cancellable;    /* of the network's thread; has its own lock */
};

#define LOCK(self) g_mutex_lock (&(self)->end.lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->end.lock)

/* --- gstdccpthinsrcnetwork.c ---------------------------------------------- */
/* In a change of state. FALSE: an error was posted. */
gboolean gst_dccp_thin_src_open (GstDccpThinSrc * self);
void gst_dccp_thin_src_close (GstDccpThinSrc * self);
/* Of the end */
void gst_dccp_thin_src_take_event (gpointer element, const DccpEvent * event);
gboolean gst_dccp_thin_src_allows (gpointer element, const DatagramPath * path);

/* --- gstdccpthinsrccreate.c ----------------------------------------------- */
GstFlowReturn gst_dccp_thin_src_create (GstPushSrc * src, GstBuffer ** buffer);
/* The queue between the threads; all with lock. The last one takes the object,
 * which is EOS or an error. */
void gst_dccp_thin_src_queue_data (gpointer element, const DccpData * data,
    guint64 time);
void gst_dccp_thin_src_queue_end (GstDccpThinSrc * self,
    GstMiniObject * object);
/* What ends the stream stays. */
void gst_dccp_thin_src_drop_queued (GstDccpThinSrc * self);
void gst_dccp_thin_src_clear_queue (GstDccpThinSrc * self);

G_END_DECLS

#endif /* __GST_DCCP_THIN_SRC_PRIVATE_H__ */
