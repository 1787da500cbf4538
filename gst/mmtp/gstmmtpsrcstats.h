/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The statistics of mmtpsrc, which the property `stats` shows: the counters of
 * its queue, of the protocol core, and of each path. They are read with the
 * lock of the element held, and are converted to a structure afterwards. */

#pragma once

#include "gstmmtpsrcqueue.h"
#include "mmtpreceiver.h"

/* The values at one point in time. */
typedef struct
{
  GstMmtpSrcCounters counters;
  MmtpReceiverStats receiver;
  GValue paths;                 /* array of structures */
} GstMmtpSrcStats;

/* Reads the current values. `receiver` is the protocol core, or NULL while the
 * element is stopped. The counters of the core are then 0. Call this function
 * with the lock of the element held. */
void gst_mmtp_src_stats_read (GstMmtpSrcStats * self,
    MmtpReceiver * receiver, const GstMmtpSrcCounters * counters);
/* Returns the values as a structure, and frees what `self` owns. */
GstStructure *gst_mmtp_src_stats_to_structure (GstMmtpSrcStats * self);
