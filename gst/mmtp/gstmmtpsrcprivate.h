/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of mmtpsrc share: the element with its properties in
 * gstmmtpsrc.c, its network in gstmmtpsrcreceive.c, the way of a buffer
 * downstream in gstmmtpsrccreate.c.
 *
 * The network has a thread of its own: reports must go to the sender in time,
 * whatever downstream does with what came. A queue, bounded in bytes, leads
 * from there to the streaming thread.
 */

#pragma once

#include "driver.h"
#include "gstmmtpcommon.h"
#include "gstmmtpsrc.h"
#include "mmtpreceiver.h"

GST_DEBUG_CATEGORY_EXTERN (gst_mmtp_src_debug);
#define GST_CAT_DEFAULT gst_mmtp_src_debug

/* Of the properties; strings are its own */
typedef struct
{
  gchar *address, *interface, *key;
  gint port;
  gint buffer_size;             /* bytes, 0: the system's */
  guint latency, max_latency;   /* ms */
  guint max_bytes;
  gboolean reuse, eos_at_end;
} GstMmtpSrcSettings;

/* What the core's counters don't say */
typedef struct
{
  guint64 buffers, bytes;       /* that went downstream */
  guint64 dropped_full;         /* downstream took none of it in time */
  guint64 dropped_paused;       /* came while the pipeline was paused */
} GstMmtpSrcCounters;

struct _GstMmtpSrc
{
  GstNetworkSrc parent;

  /* protected by OBJECT_LOCK */
  GstMmtpSrcSettings settings;

  GMutex lock;                  /* never held while anything waits or tells
                                 * others; OBJECT_LOCK is never taken inside */
  GCond cond;                   /* the queue has something, or flushing */

  /* --- protected by lock --- */
  MmtpReceiver *receiver;       /* NULL: stopped */
  GQueue queue;                 /* of Item, for the streaming thread */
  guint64 queued_bytes, max_queued_bytes;
  gboolean queue_discont;       /* something before the next item is missing */
  GRefString *queue_caps;       /* of the next item; NULL: none */
  gboolean flushing, paused, stopping;
  gboolean eos_at_end;          /* as the property */
  gboolean is_over;             /* EOS is in the queue, or went downstream */
  guint64 delay;                /* ns; D0 */
  GQueue messages;              /* of GstMessage, to be posted */
  GstMmtpSrcCounters counters;
  Driver driver;                /* the socket, and the network's loop */

  /* --- made and freed while neither thread runs --- */
  GThread *thread;

  /* --- streaming thread only --- */
  GstMmtpClockMap clock_map;
  gint64 shift;                 /* ns, added to all times: none is negative */
  GRefString *caps_in_use;      /* the sender's; NULL: none of them */
};

#define LOCK(self) g_mutex_lock (&(self)->lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->lock)

/* --- gstmmtpsrcreceive.c -------------------------------------------------- */
extern const DriverFuncs gst_mmtp_src_driver_funcs;
/* In a change of state. FALSE: an error was posted. */
gboolean gst_mmtp_src_open (GstMmtpSrc * self);
void gst_mmtp_src_close (GstMmtpSrc * self);
void gst_mmtp_src_set_eos_at_end (GstMmtpSrc * self, gboolean eos_at_end);

/* --- gstmmtpsrccreate.c --------------------------------------------------- */
GstFlowReturn gst_mmtp_src_create (GstPushSrc * src, GstBuffer ** buffer);
/* The queue between the threads; all with lock. Takes the data */
void gst_mmtp_src_queue_buffer (GstMmtpSrc * self, MmtpReceiverEvent * event);
/* EOS, unless another sender may come */
void gst_mmtp_src_queue_end (GstMmtpSrc * self);
void gst_mmtp_src_set_queue_caps (GstMmtpSrc * self, const gchar * caps);
/* TRUE: the last thing in it was the end of the stream */
gboolean gst_mmtp_src_clear_queue (GstMmtpSrc * self);
