/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of udplitesink share: the element with its properties
 * (gstudplitesink.c), and its receivers and sockets (gstudplitesinknetwork.c).
 */

#pragma once

#include <gst/gst.h>

#include "gstnetworksink.h"
#include "gstudplitecommon.h"
#include "gstudplitepackets.h"
#include "udpliteround.h"

#define GST_TYPE_UDPLITE_SINK (gst_udplite_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstUdpliteSink, gst_udplite_sink, GST, UDPLITE_SINK,
    GstNetworkSink);
GST_ELEMENT_REGISTER_DECLARE (udplitesink);

GST_DEBUG_CATEGORY_EXTERN (gst_udplite_sink_debug);

typedef enum
{
  FAMILY_V4,
  FAMILY_V6,
  FAMILY_LAST
} Family;

/* As the sockets are opened */
typedef struct
{
  UdpliteBackend backend;
  gchar *bind_address;          /* NULL: any */
  gint bind_port;
  guint buffer_size;            /* bytes; 0: the system's */
  gint ttl, ttl_mc;
  gboolean loop;
  gboolean auto_multicast;
  gchar *multicast_iface;       /* NULL: the system's choice */
  gint qos_dscp;                /* -1: the system's */
} SocketOptions;

struct _GstUdpliteSink
{
  GstNetworkSink parent;

  GMutex lock;                  /* never held while anything waits, resolves, or
                                 * tells others; OBJECT_LOCK is never taken
                                 * inside */

  /* --- protected by lock --- */
  UdpliteClients *clients;
  gchar *host;                  /* of the client that these two set */
  gint port;
  SocketOptions options;
  gboolean close_socket, send_duplicates;
  GSocket *given[FAMILY_LAST];  /* the application's; NULL: our own */
  GstUdpliteCoverage coverage;
  UdpliteSocket *sockets[FAMILY_LAST];  /* NULL: not open */
  gboolean is_open;             /* connected, as the base class calls it */
  guint64 send_errors;          /* packets that the system refused */
  guint64 bytes_served;         /* to all receivers */
  gint64 warned_at;             /* monotonic us; 0: not yet */

  /* --- streaming thread only, with lock --- */
  GstUdplitePackets *packets;
  /* What several receivers get that found no room: where to go on */
  GstBuffer *resume_at;         /* the first of these; NULL: at the beginning */
  UdpliteRound round;           /* of these packets */
  Family full;                  /* whose socket has no room */
};

#define LOCK(self) g_mutex_lock (&(self)->lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->lock)

/* Opens the sockets, finds the receivers' addresses; may take its time */
gboolean gst_udplite_sink_connect (GstNetworkSink * sink,
    GCancellable * cancellable, GError ** error);
void gst_udplite_sink_watch (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error);
void gst_udplite_sink_disconnect (GstNetworkSink * sink, gboolean reset);
GstNetworkSinkResult gst_udplite_sink_send_packets (GstNetworkSink * sink,
    GstBuffer ** buffers, guint n, guint * sent, GError ** error);
void gst_udplite_sink_wait (GstNetworkSink * sink, gint64 timeout,
    GCancellable * cancellable);

/* A receiver was added while the sockets are open, or not: finds its address in
 * time. Without the lock */
void gst_udplite_sink_prepare_client (GstUdpliteSink * self, guint64 id);
/* It goes; with the lock */
void gst_udplite_sink_leave_group (GstUdpliteSink * self,
    UdpliteClient * client);
/* ttl, qos-dscp, ... were changed; with the lock */
void gst_udplite_sink_apply_options (GstUdpliteSink * self);
