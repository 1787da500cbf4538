/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Receives packets for udplitesrc and makes buffers from them.
 *
 * Packets are received in batches: each packet becomes a buffer, and the
 * buffers of a batch are pushed downstream together. The kernel writes into
 * memory that can hold a packet of any size. The bytes are then copied into
 * buffers of the right size. As a consequence, no packet is lost because it is
 * large, and a small packet does not occupy 64 KiB.
 *
 * All functions are called without OBJECT_LOCK. */

#pragma once

#include "gstnetworksrc.h"
#include "gstwarninglimit.h"
#include "udplitesocket.h"

/* Counters since the receiver was started. */
typedef struct
{
  guint64 packets, bytes, lists;
  /* number of received packets whose checksum covered only a part of their
   * bytes */
  guint64 partly_covered;
  /* number of packets that were dropped because they are shorter than the
   * property skip-first-bytes */
  guint64 too_short_to_skip;
  UdpliteSocketStats socket;
} GstUdpliteSrcCounters;

typedef struct
{
  GstNetworkSrc *src;           /* not owned; constant after initialization */

  /* --- protected by OBJECT_LOCK of the element --- */
  /* values of properties, which the table of properties of the element sets */
  gint skip_first_bytes;
  gboolean retrieve_sender_address;
  /* While the receiver is started, only the streaming thread changes the
   * counters. It therefore reads them without the lock. */
  GstUdpliteSrcCounters counters;

  /* --- used by the streaming thread, and while no streaming thread runs --- */
  UdpliteSocket *socket;        /* not owned; NULL = not started */
  guint8 *receive_buffers;      /* memory of all `memories`; owned */
  UdpliteMemory memories[DATAGRAM_BATCH];
  /* Packets that the last receive call returned and that were not copied to a
   * GstBuffer yet. The array belongs to `socket`. */
  const UdplitePacket *packets;
  guint n_packets;
  /* number of packets that the last receive call returned */
  guint last_batch;
  /* TRUE if more packets may be waiting in the socket */
  gboolean more;
  /* the socket's counters of discarded packets, as they were at the last
   * warning about discarded packets */
  UdpliteSocketStats reported;
  /* limits the warnings about discarded packets */
  GstWarningLimit warning_limit;
  /* allocator of memory blocks; all buffers of a batch are parts of such a
   * block; owned */
  GstAllocator *blocks;
  /* Size in bytes of the buffers in the buffer pool that GstBaseSrc uses. The
   * element sets it when it selects the pool. */
  gsize pool_size;
  /* sender of the previous packet, and the path on which this packet arrived;
   * `sender` is owned */
  GSocketAddress *sender;
  DatagramPath sender_path;
} GstUdpliteSrcReceiver;

/* Initializes the struct, whose fields are zero or were set by the table of
 * properties. */
void gst_udplite_src_receiver_init (GstUdpliteSrcReceiver * self,
    GstNetworkSrc * src);
void gst_udplite_src_receiver_finalize (GstUdpliteSrcReceiver * self);
/* Called after `socket` was opened. Allocates the memory into which packets are
 * received, and sets the counters to 0. `socket` must exist until the receiver
 * is stopped. */
void gst_udplite_src_receiver_start (GstUdpliteSrcReceiver * self,
    UdpliteSocket * socket);
/* Called before the socket is closed. Drops the packets that were received but
 * not output yet. The counters keep their values. Does nothing if the receiver
 * is not started. */
void gst_udplite_src_receiver_stop (GstUdpliteSrcReceiver * self);

/* Waits for packets, and makes a batch of buffers from them. Stores the buffers
 * (transfer full) in `buffers`, which has room for DATAGRAM_BATCH buffers, and
 * their number, which is at least 1, in `n_buffers`. Called only by the method
 * create of the element.
 *
 * Returns GST_FLOW_FLUSHING if the element is flushing. If the socket fails,
 * posts an error and returns GST_FLOW_ERROR. In both cases there are no
 * buffers. */
GstFlowReturn gst_udplite_src_receiver_receive (GstUdpliteSrcReceiver * self,
    GstBuffer ** buffers, guint * n_buffers);
