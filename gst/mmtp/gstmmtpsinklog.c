/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes log lines of mmtpsink about the stream and about each path once per
 * second, including the reason why a path is not used. The lines are written
 * only with GST_DEBUG=mmtpsink:4 or higher.
 */

#include "gstmmtpsinkprivate.h"

#define MEGABIT 1e6

static gboolean
is_read (void)
{
  return gst_debug_category_get_threshold (gst_mmtp_sink_debug)
      >= GST_LEVEL_INFO;
}

static gdouble
to_ms (guint64 time)
{
  return time / (gdouble) GST_MSECOND;
}

static void
append_path (GString * line, const MmtpSenderPathStats * stats)
{
  gchar *reason = mmtp_path_stats_explain (stats);

  g_string_append_printf (line, "; %s: ", stats->name);
  if (*reason)
    g_string_append_printf (line, "not used, %s", reason);
  else
    g_string_append_printf (line, "%.2f Mbit/s, %.1f to %.1f ms, "
        "%" G_GUINT64_FORMAT " bytes in flight, %.1f %% lost, %.0f %% of the "
        "stream", stats->rate / MEGABIT, to_ms (stats->delay),
        to_ms (stats->high_delay), stats->in_flight, 100 * stats->loss,
        100 * stats->share);
  g_free (reason);
}

/* Writes the log line about the stream and its paths. `seconds` is the time
 * since the previous line. */
static void
log_line (GstMmtpSink * self, gdouble seconds)
{
  MmtpSenderPathStats path;
  GString *line = g_string_new (NULL);
  MmtpSenderStats stats;
  guint i;

  mmtp_sender_get_stats (self->sender, &stats);
  g_string_append_printf (line,
      "%.2f Mbit/s come, %s%.2f fit, latency %.0f ms, %" G_GUINT64_FORMAT
      " bytes wait, %" G_GUINT64_FORMAT " buffers given up",
      8 * (stats.bytes - MIN (stats.bytes,
              self->logged_bytes)) / seconds / MEGABIT,
      stats.is_app_limited ? "at least " : "", stats.estimated_rate / MEGABIT,
      to_ms (stats.initial_delay), stats.queued_bytes,
      stats.discarded_buffers + stats.discarded_room + stats.discarded_broken
      + stats.discarded_connection);
  for (i = 0; i < stats.n_paths; i++)
    if (mmtp_sender_get_path_stats (self->sender, i, &path)
        && path.use != MMTP_USE_GONE)
      append_path (line, &path);
  self->logged_bytes = stats.bytes;
  GST_INFO_OBJECT (self, "%s", line->str);
  g_string_free (line, TRUE);
}

void
gst_mmtp_sink_log (GstMmtpSink * self)
{
  const guint64 now = gst_mmtp_now ();

  if (!is_read () || !self->is_ready)
    return;
  if (self->log_at == 0 || self->logged_session != self->sessions) {
    self->logged_session = self->sessions;
    self->logged_bytes = 0;
  } else if (now < self->log_at) {
    return;
  } else {
    log_line (self, (now - self->log_at + GST_SECOND) / (gdouble) GST_SECOND);
  }
  self->log_at = now + GST_SECOND;
}

guint64
gst_mmtp_sink_get_log_time (GstMmtpSink * self)
{
  return is_read () && self->is_ready ? self->log_at : G_MAXUINT64;
}
