/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts buffers to packets for a UDP-Lite socket: maps the bytes of each
 * buffer, and computes how many of these bytes the checksum has to cover.
 */

#pragma once

#include <gst/gst.h>

#include "udplitecoverage.h"
#include "udplitesocket.h"

typedef enum
{
  GST_UDPLITE_COVERAGE_FULL,    /* covers the whole packet */
  /* The checksum covers the same number of bytes in each packet. */
  GST_UDPLITE_COVERAGE_FIXED,
  /* The checksum covers the UDP-Lite, RTP and payload headers of each packet.
   * If it is not known where the headers of a packet end, the checksum covers
   * the whole packet. */
  GST_UDPLITE_COVERAGE_HEADERS
} GstUdpliteCoverageMode;

GType gst_udplite_coverage_mode_get_type (void);

typedef struct
{
  GstUdpliteCoverageMode mode;
  /* Number of bytes that the checksum covers, including the UDP-Lite header.
   * The value 0 means that the checksum covers the whole packet. The number is
   * used only in the mode GST_UDPLITE_COVERAGE_FIXED. */
  guint fixed;
  UdpliteFormat format;
} GstUdpliteCoverage;

typedef struct _GstUdplitePackets GstUdplitePackets;

GstUdplitePackets *gst_udplite_packets_new (void);
void gst_udplite_packets_free (GstUdplitePackets * packets);

/* Maps up to `n` buffers, but not more than DATAGRAM_BATCH. Stops at a buffer
 * that cannot be mapped. Returns the number of mapped buffers. The buffers stay
 * mapped until gst_udplite_packets_unmap () is called, and the caller must keep
 * them alive until then. */
guint gst_udplite_packets_map (GstUdplitePackets * packets,
    GstBuffer ** buffers, guint n, const GstUdpliteCoverage * coverage);
void gst_udplite_packets_unmap (GstUdplitePackets * packets);

/* Sets the receiver of all mapped packets to the remote end of `path`, and
 * returns the array of these packets. The array is valid until the buffers are
 * unmapped. */
const UdpliteOutput *gst_udplite_packets_address (GstUdplitePackets * packets,
    const DatagramPath * path);
