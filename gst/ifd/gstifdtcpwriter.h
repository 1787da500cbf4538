/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The TCP half of ifdsink: writes each buffer, a whole frame, to a TCP
 * connection, and keeps next to nothing unsent in the kernel, so that render
 * waits while the network is full.
 */

#pragma once

#include "gstnetworksink.h"

#define GST_TYPE_IFD_TCP_WRITER (gst_ifd_tcp_writer_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdTcpWriter, gst_ifd_tcp_writer, GST, IFD_TCP_WRITER,
    GstNetworkSink)
