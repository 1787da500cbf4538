/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receivers of udplitesink. The element adds and removes receivers at any
 * time. A receiver gets packets when its address is known and the socket of its
 * address family is open. This code therefore resolves the host names of the
 * receivers, opens the sockets, and joins the multicast groups.
 *
 * Resolving a name may take a long time. The lock is released meanwhile, so
 * that the streaming thread can send to the other receivers. */

#pragma once

#include "gstudplitesinksockets.h"
#include "udpliteclients.h"

typedef struct
{
  /* --- constant after the initialization --- */
  /* The element in whose name this code logs and posts warnings. Not owned. */
  GstElement *element;
  /* The lock of the element, which also protects `sockets`. */
  GMutex *lock;
  GstUdpliteSinkSockets *sockets;       /* not owned */

  /* --- protected by lock --- */
  UdpliteClients *clients;      /* owned */
  /* TRUE after gst_udplite_sink_receivers_connect () has succeeded, until
   * gst_udplite_sink_receivers_disconnect () is called */
  gboolean is_open;
} GstUdpliteSinkReceivers;

/* Initializes the list. `host` and `port` become its first receiver. */
void gst_udplite_sink_receivers_init (GstUdpliteSinkReceivers * self,
    GstElement * element, GMutex * lock, GstUdpliteSinkSockets * sockets,
    const gchar * host, guint16 port);
void gst_udplite_sink_receivers_finalize (GstUdpliteSinkReceivers * self);

/* All functions below are called without the lock. */

/* Adds the receiver `host`:`port`, which gets all packets from now on. Logs a
 * warning and returns FALSE if this is not a valid receiver. Posts a warning if
 * the receiver cannot be reached. */
gboolean gst_udplite_sink_receivers_add (GstUdpliteSinkReceivers * self,
    const gchar * host, gint port);
/* Removes the receiver `host`:`port`, and leaves its multicast group if no
 * other receiver is in it. Logs a warning and returns FALSE if there is no such
 * receiver. */
gboolean gst_udplite_sink_receivers_remove (GstUdpliteSinkReceivers * self,
    const gchar * host, gint port);
/* Stores host and port of the first receiver. Returns FALSE if there is no
 * receiver. The caller frees `host`. */
gboolean gst_udplite_sink_receivers_get_first (GstUdpliteSinkReceivers * self,
    gchar ** host, gint * port);
/* Returns the statistics of the receiver `host`:`port`, which may have been
 * removed meanwhile. The structure is empty if the receiver is unknown. */
GstStructure *gst_udplite_sink_receivers_create_stats (GstUdpliteSinkReceivers *
    self, const gchar * host, gint port);

/* Resolves all receivers and opens their sockets. May block for a long time.
 * Returns FALSE with `error` set if no receiver can be reached. If only some of
 * them cannot be reached, posts a warning. */
gboolean gst_udplite_sink_receivers_connect (GstUdpliteSinkReceivers * self,
    GCancellable * cancellable, GError ** error);
/* Tries again to resolve the receivers whose names could not be resolved. May
 * block for a long time. */
void gst_udplite_sink_receivers_resolve_again (GstUdpliteSinkReceivers * self,
    GCancellable * cancellable);
/* Leaves all multicast groups and closes the sockets. */
void gst_udplite_sink_receivers_disconnect (GstUdpliteSinkReceivers * self);
