/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends batches of packets to all receivers of udplitesink. If a socket has no
 * room, the sending is interrupted. The next call continues where it stopped,
 * so that no receiver gets a packet twice.
 *
 * The code is not thread safe. The owner of a GstUdpliteSinkSender protects it,
 * the sockets and the list of receivers with one lock, and calls all functions
 * with this lock held. */

#pragma once

#include "gstnetworksink.h"
#include "gstudplitepackets.h"
#include "gstudplitesinksockets.h"
#include "gstwarninglimit.h"
#include "udpliteround.h"

typedef struct
{
  /* --- not owned, constant after the initialization --- */
  GstNetworkSink *sink;
  UdpliteClients *clients;
  GstUdpliteSinkSockets *sockets;

  /* --- protected by the lock of the owner --- */
  /* value of a property, which the table of properties of the element sets */
  gboolean send_duplicates;
  /* The table of properties sets the mode and the number of bytes. The element
   * sets the format of the packets when it gets caps. */
  GstUdpliteCoverage coverage;
  /* how many times the system has refused to send a packet to a receiver */
  guint64 send_errors;
  guint64 bytes_served;         /* bytes sent to all receivers */
  /* limits the warnings about packets that could not be sent */
  GstWarningLimit warning_limit;

  /* --- used by the streaming thread only, with the lock held --- */
  GstUdplitePackets *packets;   /* owned */
  /* The following fields store the position at which a batch of packets for
   * several receivers was interrupted, because a socket had no room. */
  /* first packet of the batch that was interrupted because a socket had no
   * room; NULL = no batch was interrupted */
  GstBuffer *resume_at;
  UdpliteRound round;           /* progress of the interrupted batch */
  /* Address family of the socket that had no room for further packets */
  GstUdpliteFamily full;
} GstUdpliteSinkSender;

/* Initializes the struct, whose fields are zero or were set by the table of
 * properties. */
void gst_udplite_sink_sender_init (GstUdpliteSinkSender * self,
    GstNetworkSink * sink, UdpliteClients * clients,
    GstUdpliteSinkSockets * sockets);
void gst_udplite_sink_sender_finalize (GstUdpliteSinkSender * self);
/* Called when a stream begins. Sets the counters to 0 and forgets the format of
 * the packets. */
void gst_udplite_sink_sender_reset (GstUdpliteSinkSender * self);

/* Sends up to `n` packets to all receivers. `blocking` is the value of the
 * property `blocking`; it is not used if `n` is 1. The other arguments and the
 * result are those of the virtual function send_packets of GstNetworkSink. */
GstNetworkSinkResult gst_udplite_sink_sender_send (GstUdpliteSinkSender * self,
    GstBuffer ** buffers, guint n, gboolean blocking, guint * sent,
    GError ** error);
/* Returns the socket that had no room for further packets (transfer none).
 * Returns NULL if this socket is not open any more. */
GSocket *gst_udplite_sink_sender_get_full_socket (GstUdpliteSinkSender * self);
