/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers as packets for a UDP-Lite socket: their bytes, and how many of them
 * the checksum has to cover.
 */

#pragma once

#include <gst/gst.h>

#include "udplitecoverage.h"
#include "udplitesocket.h"

typedef enum
{
  GST_UDPLITE_COVERAGE_FULL,    /* all bytes */
  GST_UDPLITE_COVERAGE_FIXED,   /* as many in each packet */
  GST_UDPLITE_COVERAGE_HEADERS  /* what must arrive whole, packet by packet */
} GstUdpliteCoverageMode;

GType gst_udplite_coverage_mode_get_type (void);

typedef struct
{
  GstUdpliteCoverageMode mode;
  guint fixed;                  /* bytes, header included; 0: all */
  UdpliteFormat format;
} GstUdpliteCoverage;

typedef struct _GstUdplitePackets GstUdplitePackets;

GstUdplitePackets *gst_udplite_packets_new (void);
void gst_udplite_packets_free (GstUdplitePackets * packets);

/* Maps the buffers, at most DATAGRAM_BATCH: returns how many, up to one that
 * can't be read. Those stay mapped until unmap, and are not to be freed before
 * that. */
guint gst_udplite_packets_map (GstUdplitePackets * packets,
    GstBuffer ** buffers, guint n, const GstUdpliteCoverage * coverage);
void gst_udplite_packets_unmap (GstUdplitePackets * packets);

/* What was mapped, for this receiver */
const UdpliteOutput *gst_udplite_packets_address (GstUdplitePackets * packets,
    const DatagramPath * path);
