/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of mmtpsink. The counters of the protocol core start from 0 in
 * each session, so this file adds up the counters of all sessions.
 */

#include "gstmmtpsinkprivate.h"

#include <string.h>

#include "gstwirelessstats.h"

#define STATS_STRUCT MmtpSenderStats

/* Fields of the statistics that are counters. Their values are summed over the
 * current session and all earlier sessions, so they never decrease. */
static const GstWirelessStatsField counters[] = {
  STATS_COUNTER ("buffers", buffers),
  STATS_COUNTER ("bytes", bytes),
  STATS_COUNTER ("packets", packets),
  STATS_COUNTER ("buffers-sent", sent_buffers),
  STATS_COUNTER ("discarded", discarded_buffers),
  STATS_COUNTER ("discarded-no-room", discarded_room),
  STATS_COUNTER ("discarded-incomplete", discarded_broken),
  STATS_COUNTER ("discarded-connection-lost", discarded_connection),
  STATS_COUNTER ("discarded-key-frames", discarded_keys),
  STATS_COUNTER ("discarded-droppable", discarded_droppable),
  STATS_COUNTER ("retransmitted", retransmitted),
  STATS_COUNTER ("repairs", repairs),
  STATS_COUNTER ("not-repaired", unrepaired),
  STATS_COUNTER ("padding", padding),
  STATS_COUNTER ("padding-bytes", padding_bytes),
};

static const GstWirelessStatsField gauges[] = {
  STATS_COUNTER ("queued-bytes", queued_bytes),
  STATS_COUNTER ("estimated-bitrate", estimated_rate),
  STATS_COUNTER ("initial-delay", initial_delay),
  STATS_COUNTER ("min-delay", min_delay),
};

#undef STATS_STRUCT
#define STATS_STRUCT MmtpSenderPathStats

static const GstWirelessStatsField path_counters[] = {
  STATS_COUNTER ("packets", packets),
  STATS_COUNTER ("bytes", bytes),
  STATS_COUNTER ("data-packets", data_packets),
  STATS_COUNTER ("retransmitted", retransmitted),
  STATS_COUNTER ("probes", probes),
  STATS_COUNTER ("reported", reported),
  STATS_COUNTER ("lost", lost),
  STATS_COUNTER ("late", late),
  STATS_COUNTER ("requeued", requeued),
  STATS_COUNTER ("silences", silences),
};

static const GstWirelessStatsField path_gauges[] = {
  STATS_COUNTER ("rate", rate),
  STATS_COUNTER ("window", window),
  STATS_COUNTER ("in-flight", in_flight),
  STATS_COUNTER ("delay", delay),
  STATS_COUNTER ("high-delay", high_delay),
  STATS_COUNTER ("queue-delay", queue_delay),
  STATS_COUNTER ("round-trip", round_trip),
  STATS_COUNTER ("jitter", jitter),
};

static void
add_stats (MmtpSenderStats * sum, const MmtpSenderStats * more)
{
  guint i;

  gst_wireless_stats_add (counters, G_N_ELEMENTS (counters), sum, more);
  for (i = 0; i < MMTP_LAST_REFUSAL; i++)
    sum->refused[i] += more->refused[i];
}

/* Call with `lock` held. Fills in the statistics of the path with the number
 * `path`. They are the sum over the current session and all earlier sessions.
 * Returns FALSE if the current session has no such path. */
static gboolean
get_path_stats (GstMmtpSink * self, guint path, MmtpSenderPathStats * stats)
{
  const MmtpSenderPathStats *past;

  if (!mmtp_sender_get_path_stats (self->sender, path, stats))
    return FALSE;
  past = g_hash_table_lookup (self->past_paths, stats->name);
  if (past)
    gst_wireless_stats_add (path_counters, G_N_ELEMENTS (path_counters),
        stats, past);
  return TRUE;
}

/* Stores the statistics of a path when the session ends. The name of the path
 * is copied, because the protocol core owns the string in `stats` and will free
 * it. */
static void
keep_path (GstMmtpSink * self, guint path)
{
  MmtpSenderPathStats stats, *kept;
  gchar *name;

  if (!get_path_stats (self, path, &stats))
    return;
  name = g_strdup (stats.name);
  kept = g_memdup2 (&stats, sizeof (stats));
  kept->name = name;
  kept->state = MMTP_PATH_GONE;
  kept->use = MMTP_USE_GONE;
  kept->share = 0;
  g_hash_table_replace (self->past_paths, name, kept);
}

void
gst_mmtp_sink_keep_stats (GstMmtpSink * self)
{
  MmtpSenderStats stats;
  guint i;

  mmtp_sender_get_stats (self->sender, &stats);
  add_stats (&self->past, &stats);
  for (i = 0; i < stats.n_paths; i++)
    keep_path (self, i);
}

void
gst_mmtp_sink_clear_stats (GstMmtpSink * self)
{
  memset (&self->past, 0, sizeof (self->past));
  g_hash_table_remove_all (self->past_paths);
  self->sessions = 0;
}

static void
append_path (GValue * array, const MmtpSenderPathStats * stats)
{
  gchar *reason = mmtp_path_stats_explain (stats);
  GstStructure *structure = gst_structure_new (GST_MMTP_PATH_STATS,
      "name", G_TYPE_STRING, stats->name, "state", G_TYPE_STRING,
      mmtp_path_state_get_name (stats->state),
      "unused-because", G_TYPE_STRING, reason,
      "share", G_TYPE_DOUBLE, stats->share,
      "loss", G_TYPE_DOUBLE, stats->loss, NULL);

  g_free (reason);

  gst_wireless_stats_fill (structure, path_gauges,
      G_N_ELEMENTS (path_gauges), stats);
  gst_wireless_stats_fill (structure, path_counters,
      G_N_ELEMENTS (path_counters), stats);
  gst_mmtp_append_path (array, structure);
}

/* Appends the statistics of all paths of the current session. If there is no
 * session, appends those of the paths of earlier sessions instead. Call with
 * `lock` held. */
static void
append_paths (GstMmtpSink * self, GValue * array, guint n_paths)
{
  MmtpSenderPathStats stats, *past;
  GHashTableIter iter;
  guint i;

  for (i = 0; self->sender && i < n_paths; i++) {
    if (get_path_stats (self, i, &stats))
      append_path (array, &stats);
  }
  if (self->sender)
    return;
  g_hash_table_iter_init (&iter, self->past_paths);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) & past))
    append_path (array, past);
}

void
gst_mmtp_sink_fill_stats (GstNetworkSink * sink, GstStructure * stats)
{
  GstMmtpSink *self = GST_MMTP_SINK (sink);
  MmtpSenderStats values = { 0 };
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  LOCK (self);
  if (self->sender)
    mmtp_sender_get_stats (self->sender, &values);
  append_paths (self, &array, values.n_paths);
  add_stats (&values, &self->past);
  UNLOCK (self);

  gst_wireless_stats_fill (stats, counters, G_N_ELEMENTS (counters), &values);
  gst_wireless_stats_fill (stats, gauges, G_N_ELEMENTS (gauges), &values);
  gst_structure_set (stats, "application-limited", G_TYPE_BOOLEAN,
      values.is_app_limited, NULL);
  gst_mmtp_add_refusals (stats, values.refused);
  gst_structure_take_value (stats, "channels", &array);
}
