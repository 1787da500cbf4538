/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The statistics of mmtpsrc. The functions are documented in gstmmtpsrcstats.h.
 */

#include "gstmmtpsrcstats.h"

#include <string.h>

#include "gstmmtpcommon.h"
#include "gstwirelessstats.h"

#define STATS_STRUCT MmtpReceiverStats

static const GstWirelessStatsField stats_fields[] = {
  STATS_COUNTER ("sessions", sessions),
  STATS_COUNTER ("packets", packets),
  STATS_COUNTER ("recovered", recovered),
  STATS_COUNTER ("late", late),
  STATS_COUNTER ("duplicates", duplicates),
  STATS_COUNTER ("missing", missing),
  STATS_COUNTER ("incomplete", incomplete),
  STATS_COUNTER ("no-room", no_room),
  STATS_COUNTER ("held-bytes", held_bytes),
  STATS_COUNTER ("initial-delay", initial_delay),
  STATS_FIELD ("skew", G_TYPE_INT64, skew),
  STATS_COUNTER ("reports", reports),
};

#undef STATS_STRUCT
#define STATS_STRUCT MmtpReceiverPathStats

static const GstWirelessStatsField path_fields[] = {
  STATS_COUNTER ("packets", received),
  STATS_COUNTER ("bytes", bytes),
  STATS_COUNTER ("lost", lost),
  STATS_COUNTER ("late", late),
  STATS_COUNTER ("duplicates", duplicates),
  STATS_COUNTER ("rate", rate),
  STATS_FIELD ("transit", G_TYPE_INT64, transit),
  STATS_COUNTER ("jitter", jitter),
};

#undef STATS_STRUCT
#define STATS_STRUCT GstMmtpSrcCounters

static const GstWirelessStatsField own_fields[] = {
  STATS_COUNTER ("buffers", buffers),
  STATS_COUNTER ("bytes", bytes),
  STATS_COUNTER ("dropped-full", dropped_full),
  STATS_COUNTER ("dropped-paused", dropped_paused),
};

static void
append_path (GValue * array, guint channel, const MmtpReceiverPathStats * stats)
{
  GstStructure *structure = gst_structure_new (GST_MMTP_PATH_STATS,
      "channel", G_TYPE_UINT, channel, "joined", G_TYPE_BOOLEAN, stats->joined,
      NULL);

  gst_wireless_stats_fill (structure, path_fields,
      G_N_ELEMENTS (path_fields), stats);
  gst_mmtp_append_path (array, structure);
}

static void
append_paths (MmtpReceiver * receiver, GValue * array)
{
  MmtpReceiverPathStats stats;
  guint i;

  for (i = 0; i < MMTP_MAX_PATHS; i++) {
    if (mmtp_receiver_get_path_stats (receiver, i, &stats))
      append_path (array, i, &stats);
  }
}

void
gst_mmtp_src_stats_read (GstMmtpSrcStats * self, MmtpReceiver * receiver,
    const GstMmtpSrcCounters * counters)
{
  memset (self, 0, sizeof (*self));
  g_value_init (&self->paths, GST_TYPE_ARRAY);
  self->counters = *counters;
  if (receiver) {
    mmtp_receiver_get_stats (receiver, &self->receiver);
    append_paths (receiver, &self->paths);
  }
}

GstStructure *
gst_mmtp_src_stats_to_structure (GstMmtpSrcStats * self)
{
  GstStructure *stats = gst_structure_new ("application/x-mmtpsrc-stats",
      "in-session", G_TYPE_BOOLEAN, self->receiver.in_session, NULL);

  gst_wireless_stats_fill (stats, own_fields, G_N_ELEMENTS (own_fields),
      &self->counters);
  gst_wireless_stats_fill (stats, stats_fields, G_N_ELEMENTS (stats_fields),
      &self->receiver);
  gst_mmtp_add_refusals (stats, self->receiver.refused);
  gst_structure_take_value (stats, "channels", &self->paths);
  return stats;
}
