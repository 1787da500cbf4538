/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Output of the element mpegstat: statistics, messages, and lines on standard
 * output and in the log. The arrival times of buffers are determined here as
 * well.
 */

#include "gstmpegstatprivate.h"

#include <errno.h>
#include <string.h>

#include "gstwirelessstats.h"
#include "mpegstatformat.h"

/* --- time ---------------------------------------------------------------- */

static GstClockTime
monotonic_now (void)
{
  return g_get_monotonic_time () * GST_USECOND;
}

/* The caller holds OBJECT_LOCK. */
static MpegStatClockKind
gst_mpeg_stat_read_clock (GstMpegStat * self, GstClockTime * reading)
{
  GstElement *element = GST_ELEMENT_CAST (self);
  GstClockTime time;

  if (GST_STATE (self) != GST_STATE_PLAYING || !GST_ELEMENT_CLOCK (self)) {
    *reading = monotonic_now ();
    return MPEGSTAT_CLOCK_MONOTONIC;
  }
  time = gst_clock_get_time (GST_ELEMENT_CLOCK (self));
  *reading = time > element->base_time ? time - element->base_time : 0;
  return MPEGSTAT_CLOCK_RUNNING_TIME;
}

GstClockTime
gst_mpeg_stat_take_arrival (GstMpegStat * self)
{
  GstClockTime reading, arrival;
  MpegStatClockKind kind;

  GST_OBJECT_LOCK (self);
  kind = gst_mpeg_stat_read_clock (self, &reading);
  arrival = mpegstat_clock_take (&self->clock, kind, reading, monotonic_now ());
  GST_OBJECT_UNLOCK (self);

  return arrival;
}

void
gst_mpeg_stat_mark_switch (GstMpegStat * self)
{
  GST_OBJECT_LOCK (self);
  mpegstat_clock_mark_switch (&self->clock, monotonic_now ());
  GST_OBJECT_UNLOCK (self);
}

/* --- statistics, from any thread ----------------------------------------- */

typedef struct
{
  MpegStatTotals totals;
  MpegVideoFramerStats framer;
  guint64 malformed[IFD_MALFORMED_LAST];
  guint64 malformed_frames;
  guint64 frames, bytes, lost;
} Snapshot;

#define STATS_STRUCT Snapshot
#define BY_TYPE(name, member, letter) \
    STATS_COUNTER (name, totals.member[MPEG_VIDEO_PICTURE_##letter])

static const GstWirelessStatsField stats_fields[] = {
  STATS_COUNTER ("frames", frames),
  BY_TYPE ("frames-i", frames, I),
  BY_TYPE ("frames-p", frames, P),
  BY_TYPE ("frames-b", frames, B),
  BY_TYPE ("frames-d", frames, D),
  STATS_COUNTER ("frames-layer-0", totals.layers[0]),
  STATS_COUNTER ("frames-layer-1", totals.layers[1]),
  STATS_COUNTER ("frames-layer-2", totals.layers[2]),
  STATS_COUNTER ("frames-layer-3", totals.layers[3]),
  STATS_COUNTER ("frames-layer-4", totals.layers[4]),
  STATS_COUNTER ("frames-layer-5", totals.layers[5]),
  STATS_COUNTER ("frames-layer-6", totals.layers[6]),
  STATS_COUNTER ("frames-layer-7", totals.layers[7]),
  STATS_COUNTER ("bytes", bytes),
  BY_TYPE ("bytes-i", bytes, I),
  BY_TYPE ("bytes-p", bytes, P),
  BY_TYPE ("bytes-b", bytes, B),
  BY_TYPE ("bytes-d", bytes, D),
  STATS_COUNTER ("lost", lost),
  BY_TYPE ("lost-i", lost, I),
  BY_TYPE ("lost-p", lost, P),
  BY_TYPE ("lost-b", lost, B),
  BY_TYPE ("lost-d", lost, D),
  BY_TYPE ("lost-unknown", lost, UNKNOWN),
  STATS_COUNTER ("incomplete", totals.incomplete),
  STATS_COUNTER ("gops", totals.gops),
  STATS_COUNTER ("duration", totals.duration),
  STATS_COUNTER ("bitrate", totals.bitrate),
  STATS_COUNTER ("average-bitrate", totals.average_bitrate),
  STATS_FIELD ("latency-min", G_TYPE_INT64, totals.latency_min),
  STATS_FIELD ("latency-median", G_TYPE_INT64, totals.latency_median),
  STATS_FIELD ("latency-p95", G_TYPE_INT64, totals.latency_p95),
  STATS_FIELD ("latency-p99", G_TYPE_INT64, totals.latency_p99),
  STATS_FIELD ("latency-max", G_TYPE_INT64, totals.latency_max),
  STATS_FIELD ("latency-mean", G_TYPE_INT64, totals.latency_mean),
  STATS_COUNTER ("jitter", totals.jitter),
  STATS_COUNTER ("junk-bytes", framer.junk_bytes),
  STATS_COUNTER ("too-big", framer.too_big),
  STATS_COUNTER ("truncated", framer.truncated),
  STATS_COUNTER ("bad-headers", framer.bad_headers),
  STATS_COUNTER ("before-sequence", framer.before_sequence),
  STATS_COUNTER ("foreign-codes", framer.foreign_codes),
  STATS_COUNTER ("malformed-no-start-code",
      malformed[IFD_MALFORMED_NO_START_CODE]),
  STATS_COUNTER ("malformed-length", malformed[IFD_MALFORMED_LENGTH]),
  STATS_COUNTER ("malformed-header", malformed[IFD_MALFORMED_HEADER]),
  STATS_COUNTER ("malformed-sei", malformed[IFD_MALFORMED_SEI]),
  STATS_COUNTER ("malformed-sps", malformed[IFD_MALFORMED_SPS]),
  STATS_COUNTER ("malformed-frame", malformed_frames),
};

static void
gst_mpeg_stat_snapshot (GstMpegStat * self, Snapshot * snapshot)
{
  GstClockTime reading, now;
  MpegStatClockKind kind;
  guint i;

  memset (snapshot, 0, sizeof (*snapshot));

  GST_OBJECT_LOCK (self);
  now = self->clock.arrival;
  /* Before the end of the stream, the bitrate is computed over the last second
   * up to the present time. If the network stalls, the bitrate therefore
   * decreases. After the end of the stream, the bitrate is computed up to the
   * last arrival. */
  if (!self->eos) {
    kind = gst_mpeg_stat_read_clock (self, &reading);
    now = mpegstat_clock_peek (&self->clock, kind, reading);
  }
  mpegstat_core_get_totals (self->core, now, &snapshot->totals);
  snapshot->framer = self->framer_stats;
  memcpy (snapshot->malformed, self->malformed, sizeof (self->malformed));
  snapshot->malformed_frames = self->malformed_frames;
  GST_OBJECT_UNLOCK (self);

  for (i = 0; i < MPEG_VIDEO_PICTURE_LAST; i++) {
    snapshot->frames += snapshot->totals.frames[i];
    snapshot->bytes += snapshot->totals.bytes[i];
    snapshot->lost += snapshot->totals.lost[i];
  }
}

GstStructure *
gst_mpeg_stat_create_stats (GstElement * element)
{
  GstMpegStat *self = GST_MPEG_STAT (element);
  GstStructure *stats =
      gst_structure_new_empty ("application/x-mpegstat-stats");
  Snapshot snapshot;

  gst_mpeg_stat_snapshot (self, &snapshot);
  gst_wireless_stats_fill (stats, stats_fields, G_N_ELEMENTS (stats_fields),
      &snapshot);
  return stats;
}

void
gst_mpeg_stat_post_stats (GstMpegStat * self)
{
  gst_wireless_post (self, gst_mpeg_stat_create_stats (GST_ELEMENT (self)));
}

GstStructure *
gst_mpeg_stat_create_interval_stats (GstElement * element)
{
  GstMpegStat *self = GST_MPEG_STAT (element);
  gboolean eos;

  GST_OBJECT_LOCK (self);
  eos = self->eos;
  GST_OBJECT_UNLOCK (self);
  return eos ? NULL : gst_mpeg_stat_create_stats (element);
}

/* --- the log ------------------------------------------------------------- */

/* Writes self->line to the log. After an error, posts a warning, and the stream
 * continues without a log. */
static void
gst_mpeg_stat_write_line (GstMpegStat * self)
{
  gint error =
      gst_output_file_write (&self->log, self->line->str, self->line->len);
  gchar *location;

  if (error == 0)
    return;
  GST_OBJECT_LOCK (self);
  location = g_strdup (self->location);
  GST_OBJECT_UNLOCK (self);
  if (error == ENOSPC)
    GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
        ("No space is left to write the log \"%s\", which ends here. Free "
            "space and start again.", location), ("%s", g_strerror (error)));
  else
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
        ("Could not write to the log \"%s\", which ends here: %s. Check the "
            "disk, or set another location.", location, g_strerror (error)),
        ("errno %d", error));
  g_free (location);
}

static void
gst_mpeg_stat_write_header (GstMpegStat * self)
{
  if (self->log_format != MPEGSTAT_LOG_CSV)
    return;
  g_string_truncate (self->line, 0);
  mpegstat_format_csv_header (self->line);
  gst_mpeg_stat_write_line (self);
}

static void
gst_mpeg_stat_write_event (GstMpegStat * self, const MpegStatEvent * event)
{
  g_string_truncate (self->line, 0);
  if (self->log_format == MPEGSTAT_LOG_JSON)
    mpegstat_format_json (event, self->line);
  else
    mpegstat_format_csv (event, self->line);
  gst_mpeg_stat_write_line (self);
}

gboolean
gst_mpeg_stat_open_log (GstMpegStat * self)
{
  gchar *location;
  gint error;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->location);
  self->log_format = self->format;
  GST_OBJECT_UNLOCK (self);

  if (!location)
    return TRUE;
  error = gst_output_file_open (&self->log, location);
  if (error)
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("Could not open the log \"%s\" for writing: %s. Set location to a "
            "file in a directory that exists and may be written to.", location,
            g_strerror (error)), ("errno %d", error));
  else
    gst_mpeg_stat_write_header (self);
  g_free (location);
  return error == 0;
}

/* --- output of events ----------------------------------------------------- */

static void
gst_mpeg_stat_post_event (GstMpegStat * self, const MpegStatEvent * event)
{
  GstStructure *structure = NULL;
  MpegStatValue value;
  guint column;

  for (column = 0; column < MPEGSTAT_N_COLUMNS; column++) {
    const gchar *name = mpegstat_column_name (column);

    mpegstat_event_get_value (event, column, &value);
    if (column == MPEGSTAT_EVENT) {
      gchar *message = g_strconcat ("application/x-mpegstat-", value.s, NULL);

      structure = gst_structure_new_empty (message);
      g_free (message);
      continue;
    }
    switch (value.type) {
      case MPEGSTAT_VALUE_NONE:
        break;
      case MPEGSTAT_VALUE_STRING:
        gst_structure_set (structure, name, G_TYPE_STRING, value.s, NULL);
        break;
      case MPEGSTAT_VALUE_INT:
        gst_structure_set (structure, name, G_TYPE_INT64, value.i, NULL);
        break;
      case MPEGSTAT_VALUE_UINT:
        gst_structure_set (structure, name, G_TYPE_UINT64, value.u, NULL);
        break;
      case MPEGSTAT_VALUE_BOOLEAN:
        gst_structure_set (structure, name, G_TYPE_BOOLEAN, (gboolean) value.i,
            NULL);
        break;
    }
  }
  gst_wireless_post (self, structure);
}

static void
gst_mpeg_stat_print_line (GstMpegStat * self)
{
  g_print ("%s", self->line->str);
}

gboolean
gst_mpeg_stat_is_heard (GstMpegStat * self, const Settings * settings)
{
  return settings->print || settings->post
      || gst_output_file_is_open (&self->log);
}

void
gst_mpeg_stat_tell (GstMpegStat * self, const Settings * settings,
    const MpegStatEvent * event)
{
  if (settings->print) {
    g_string_truncate (self->line, 0);
    mpegstat_format_text (event, GST_OBJECT_NAME (self), self->line);
    gst_mpeg_stat_print_line (self);
  }
  if (gst_output_file_is_open (&self->log))
    gst_mpeg_stat_write_event (self, event);
  if (settings->post)
    gst_mpeg_stat_post_event (self, event);
}

void
gst_mpeg_stat_print_summary (GstMpegStat * self)
{
  Snapshot snapshot;

  gst_mpeg_stat_snapshot (self, &snapshot);
  g_string_truncate (self->line, 0);
  mpegstat_format_summary (&snapshot.totals, self->units == NULL,
      GST_OBJECT_NAME (self), self->line);
  gst_mpeg_stat_print_line (self);
}
