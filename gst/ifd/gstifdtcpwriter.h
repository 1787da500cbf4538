/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The TCP part of ifdsink. It writes each buffer, which is a whole frame, to a
 * TCP connection, and keeps almost no unsent data in the kernel. Its render
 * function therefore waits while the network is full. Meanwhile the frames wait
 * in the queue of ifdsink, where frames can be dropped.
 */

#pragma once

#include "gstnetworksink.h"

#define GST_TYPE_IFD_TCP_WRITER (gst_ifd_tcp_writer_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdTcpWriter, gst_ifd_tcp_writer, GST, IFD_TCP_WRITER,
    GstNetworkSink)
