/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The TCP part of ifdsink. It writes each buffer, which is a whole frame, to a
 * TCP connection. It keeps almost no unsent data in the kernel. As a
 * consequence, its render function waits while the network is full, and the
 * queue of ifdsink can drop frames.
 */

#pragma once

#include "gstnetworksink.h"

#define GST_TYPE_IFD_TCP_WRITER (gst_ifd_tcp_writer_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdTcpWriter, gst_ifd_tcp_writer, GST, IFD_TCP_WRITER,
    GstNetworkSink)
