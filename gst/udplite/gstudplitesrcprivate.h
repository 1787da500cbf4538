/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of udplitesrc share: the element in gstudplitesrc.c, its socket
 * in gstudplitesrcsocket.c, the way of a packet in gstudplitesrcreceive.c.
 */

#pragma once

#include "gstudplitesrc.h"

#include "gstudplitecommon.h"

GST_DEBUG_CATEGORY_EXTERN (gst_udplite_src_debug);
#define GST_CAT_DEFAULT gst_udplite_src_debug

/* Of the properties; strings are its own */
typedef struct
{
  gchar *address, *multicast_iface, *multicast_source;
  gint port;
  gint buffer_size;
  gint backend;                 /* UdpliteBackend */
  gint min_coverage;
  gint skip_first_bytes;
  guint mtu;
  gboolean close_socket, auto_multicast, reuse, loop;
  gboolean retrieve_sender_address;
} GstUdpliteSrcSettings;

typedef struct
{
  guint64 packets, bytes, lists;
  guint64 partly_covered;       /* of the packets */
  guint64 too_short_to_skip;    /* dropped: no more than skip-first-bytes */
  UdpliteSocketStats socket;
  guint64 dropped;              /* by the kernel, as last seen */
} GstUdpliteSrcCounters;

struct _GstUdpliteSrc
{
  GstNetworkSrc parent;

  /* protected by OBJECT_LOCK */
  GstUdpliteSrcSettings settings;
  GSocket *socket;              /* somebody else's, or NULL */
  gboolean reopen;              /* what it was opened with has changed */
  UdpliteBackend backend;       /* in use; AUTO: none yet */
  GstUdpliteSrcCounters counters;       /* since it was opened */
  guint64 dropped_before;       /* it was opened */

  /* Made and freed while no streaming thread runs, its own otherwise */
  UdpliteSocket *udplite;
  GSocket *foreign;             /* it is around this one */
  GInetSocketAddress *group;    /* that was joined, with these: */
  gchar *group_interfaces, *group_sources;
  guint8 *rooms;                /* one for each of inputs */
  UdpliteInput inputs[DATAGRAM_BATCH];
  guint last_batch;             /* packets in it */
  gboolean more;                /* ... and it was not all that was there */
  UdpliteSocketStats reported;  /* as in the log */
  GstClockTime report_time;     /* of the last warning about refused packets */
  gsize pool_size;              /* bytes of the buffers of basesrc's pool */
  GSocketAddress *sender;       /* of the packet before, which came so: */
  DatagramPath sender_path;
};

/* In a change of state. FALSE: an error was posted. */
gboolean gst_udplite_src_open (GstUdpliteSrc * self);
/* again: it is opened at once */
void gst_udplite_src_close (GstUdpliteSrc * self, gboolean again);
/* Packets that the kernel dropped since it was opened go to the counters. */
void gst_udplite_src_update_dropped (GstUdpliteSrc * self);

GstFlowReturn gst_udplite_src_create (GstPushSrc * src, GstBuffer ** buffer);
