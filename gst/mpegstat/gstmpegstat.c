/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-mpegstat
 * @title: mpegstat
 * @short_description: Statistics of a video stream, frame by frame
 *
 * Passes an MPEG-1 or MPEG-2 video elementary stream through, one frame per
 * buffer with timestamps, and measures it: what arrived and when, how late each
 * frame is, which frames were lost and of what type. It takes parsed video and
 * raw bytes straight from filesrc, and never waits for a timestamp itself.
 *
 * H.264 and H.265 it takes as access units, as h264parse and h265parse make
 * them. Of these it can't tell what is lost, nor that a part is missing but
 * where upstream marked it as corrupted; the logs of both ends together do.
 *
 * Per frame it tells the time of arrival, the time at which the frame was due
 * in transport order, the difference of the two (the latency, 0 for the first
 * frame), type, temporal reference, presentation time in units of 90 kHz, and
 * size; per GOP header the time code, its pictures value, and the presentation
 * time of temporal reference 0; and each frame that never came, with its type,
 * from gaps in the temporal references and the learned GOP pattern. Frames of
 * which a part is missing are discarded and counted, as a decoder can't show
 * them.
 *
 * A frame arrives with the buffer that holds its last byte. Arrivals are
 * running times of the pipeline's clock while the element plays, so that a
 * pause doesn't count, and monotonic time without a clock.
 *
 * Output goes to standard output (#GstMpegStat:silent), to a log of comma-
 * separated values or JSON objects (#GstMpegStat:location), to the bus
 * (#GstMpegStat:post-messages, #GstMpegStat:stats-interval), and into
 * #GstMpegStat:stats, which also comes as element message
 * `application/x-mpegstat-stats` at the end of the stream.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! mpeg2enc ! mpegstat silent=false ! fakesink
 * ]| A line for each frame and GOP header, and a summary.
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! mpegstat ! clocksync ! mpegstat location=sent.csv ! rfc2250pay ! udpsink host=127.0.0.1 port=5004 sync=false
 * ]| Sends a file over RTP in real time, and logs when each frame leaves. The
 * first mpegstat gives the raw stream its timestamps.
 * |[
 * gst-launch-1.0 udpsrc port=5004 caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=MPV,payload=32" ! rtpjitterbuffer ! rfc2250depay ! mpegstat location=received.csv ! fakesink
 * ]| Logs when each frame arrives.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstmpegstat.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "gstifd.h"
#include "gstwirelessevents.h"
#include "gstmpegvideoinput.h"
#include "gststructmembers.h"
#include "gststatstimer.h"
#include "mpegstatarrivals.h"
#include "mpegstatclock.h"
#include "mpegstatcore.h"
#include "mpegstatformat.h"
#include "mpegstatunits.h"

GST_DEBUG_CATEGORY_STATIC (gst_mpeg_stat_debug);
#define GST_CAT_DEFAULT gst_mpeg_stat_debug

#define LOCATION_STDOUT "-"

#define DEFAULT_SILENT TRUE
#define DEFAULT_LOCATION NULL
#define DEFAULT_FORMAT GST_MPEG_STAT_FORMAT_CSV
#define DEFAULT_STATS_INTERVAL 0
#define DEFAULT_MAX_FRAME_SIZE MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE
#define DEFAULT_DISCARD_INCOMPLETE TRUE
#define DEFAULT_POST_MESSAGES FALSE

/* The lowest frame rate there is, 24000/1001 (13818-2 table 6-4): how long a
 * raw frame may wait for the start of the next one, until the rate is known */
#define LONGEST_FRAME (GST_SECOND * 1001 / 24000)

typedef enum
{
  GST_MPEG_STAT_FORMAT_CSV,
  GST_MPEG_STAT_FORMAT_JSON
} GstMpegStatFormat;

/* What to do with a frame and its events */
typedef struct
{
  gboolean print, post, discard;
} Wishes;

struct _GstMpegStat
{
  GstElement parent;

  GstPad *sinkpad, *srcpad;

  /* protected by OBJECT_LOCK */
  gboolean silent;
  gchar *location;
  GstMpegStatFormat format;
  guint max_frame_size;
  gboolean discard_incomplete;
  gboolean post_messages;
  MpegStatCore *core;           /* written by the streaming thread */
  MpegVideoFramerStats framer_stats;    /* same */
  guint64 malformed[IFD_MALFORMED_LAST];        /* same */
  MpegStatClock clock;
  gboolean eos;
  GstStatsTimer stats_timer;
  GstClockTime frame_wait;      /* that a frame waits here at most */

  /* streaming thread only; made and freed while no pad is active */
  GstMpegVideoInput *input;
  MpegStatUnits *units;         /* H.264 or H.265; NULL: MPEG-1/2, by input */
  MpegStatArrivals *arrivals;
  MpegStatTime now;             /* of the buffer at hand */
  gboolean parsed;              /* what upstream's caps say */
  gboolean have_upstream_caps;
  gboolean started;             /* a buffer came since start or flush */
  gboolean have_stream;         /* a STREAM_START came */
  GstSegment segment;           /* the latest one, as sent on */
  MpegVideoSequence sequence;   /* of the caps on the src pad */
  gboolean update_caps;
  gboolean have_caps;           /* caps were sent */
  GQueue held_events;           /* wait for the caps */
  gboolean discont;             /* the next frame follows a gap */
  gint log_fd;                  /* -1: none */
  GstMpegStatFormat log_format;
  GString *line;
};

enum
{
  PROP_0,
  PROP_SILENT,
  PROP_LOCATION,
  PROP_FORMAT,
  PROP_STATS_INTERVAL,
  PROP_STATS,
  PROP_MAX_FRAME_SIZE,
  PROP_DISCARD_INCOMPLETE,
  PROP_POST_MESSAGES,
  PROP_LAST
};

static GParamSpec *properties[PROP_LAST];

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_MPEG_VIDEO_INPUT_CAPS "; " GST_H26X_CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_MPEG_VIDEO_INPUT_CAPS
        ", parsed = (boolean) true; " GST_H26X_CAPS));

#define GST_TYPE_MPEG_STAT_FORMAT (gst_mpeg_stat_format_get_type ())
static GType
gst_mpeg_stat_format_get_type (void)
{
  static const GEnumValue values[] = {
    {GST_MPEG_STAT_FORMAT_CSV, "Comma-separated values with a header line",
        "csv"},
    {GST_MPEG_STAT_FORMAT_JSON, "One JSON object per line", "json"},
    {0, NULL, NULL}
  };
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    GType new_type = g_enum_register_static ("GstMpegStatFormat", values);

    g_once_init_leave (&type, new_type);
  }
  return type;
}

#define gst_mpeg_stat_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstMpegStat, gst_mpeg_stat, GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (gst_mpeg_stat_debug, "mpegstat", 0,
        "Statistics of MPEG video"));
GST_ELEMENT_REGISTER_DEFINE (mpegstat, "mpegstat", GST_RANK_NONE,
    GST_TYPE_MPEG_STAT);

/* --- time ---------------------------------------------------------------- */

static GstClockTime
monotonic_now (void)
{
  return g_get_monotonic_time () * GST_USECOND;
}

static GstClockTime
wall_now (void)
{
  return g_get_real_time () * GST_USECOND;
}

/* With OBJECT_LOCK */
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

static GstClockTime
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

static void
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
  guint64 frames, bytes, lost;
} Snapshot;

#define TOTAL(name, type, member) \
    { name, type, G_STRUCT_OFFSET (Snapshot, totals.member) }
#define BY_TYPE(name, member, letter) \
    TOTAL (name, G_TYPE_UINT64, member[MPEG_VIDEO_PICTURE_##letter])
#define FRAMER(name, member) \
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (Snapshot, framer.member) }
#define MALFORMED(name, reason) \
    { "malformed-" name, G_TYPE_UINT64, \
      G_STRUCT_OFFSET (Snapshot, malformed[IFD_MALFORMED_##reason]) }
#define SUM(name, member) \
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (Snapshot, member) }

static const GstStatsField stats_fields[] = {
  SUM ("frames", frames),
  BY_TYPE ("frames-i", frames, I),
  BY_TYPE ("frames-p", frames, P),
  BY_TYPE ("frames-b", frames, B),
  BY_TYPE ("frames-d", frames, D),
  SUM ("bytes", bytes),
  BY_TYPE ("bytes-i", bytes, I),
  BY_TYPE ("bytes-p", bytes, P),
  BY_TYPE ("bytes-b", bytes, B),
  BY_TYPE ("bytes-d", bytes, D),
  SUM ("lost", lost),
  BY_TYPE ("lost-i", lost, I),
  BY_TYPE ("lost-p", lost, P),
  BY_TYPE ("lost-b", lost, B),
  BY_TYPE ("lost-d", lost, D),
  BY_TYPE ("lost-unknown", lost, UNKNOWN),
  TOTAL ("incomplete", G_TYPE_UINT64, incomplete),
  TOTAL ("gops", G_TYPE_UINT64, gops),
  TOTAL ("duration", G_TYPE_UINT64, duration),
  TOTAL ("bitrate", G_TYPE_UINT64, bitrate),
  TOTAL ("average-bitrate", G_TYPE_UINT64, average_bitrate),
  TOTAL ("latency-min", G_TYPE_INT64, latency_min),
  TOTAL ("latency-median", G_TYPE_INT64, latency_median),
  TOTAL ("latency-p95", G_TYPE_INT64, latency_p95),
  TOTAL ("latency-p99", G_TYPE_INT64, latency_p99),
  TOTAL ("latency-max", G_TYPE_INT64, latency_max),
  TOTAL ("latency-mean", G_TYPE_INT64, latency_mean),
  TOTAL ("jitter", G_TYPE_UINT64, jitter),
  FRAMER ("junk-bytes", junk_bytes),
  FRAMER ("too-big", too_big),
  FRAMER ("truncated", truncated),
  FRAMER ("bad-headers", bad_headers),
  FRAMER ("before-sequence", before_sequence),
  FRAMER ("foreign-codes", foreign_codes),
  MALFORMED ("no-start-code", NO_START_CODE),
  MALFORMED ("length", LENGTH),
  MALFORMED ("header", HEADER),
  MALFORMED ("sei", SEI),
  MALFORMED ("sps", SPS),
};

#undef TOTAL
#undef BY_TYPE
#undef FRAMER
#undef MALFORMED
#undef SUM

static void
gst_mpeg_stat_snapshot (GstMpegStat * self, Snapshot * snapshot)
{
  GstClockTime reading, now;
  MpegStatClockKind kind;
  guint i;

  memset (snapshot, 0, sizeof (*snapshot));

  GST_OBJECT_LOCK (self);
  now = self->clock.arrival;
  /* While the stream lasts, the last second ends now: a stalled link shows. */
  if (!self->eos) {
    kind = gst_mpeg_stat_read_clock (self, &reading);
    now = mpegstat_clock_peek (&self->clock, kind, reading);
  }
  mpegstat_core_get_totals (self->core, now, &snapshot->totals);
  snapshot->framer = self->framer_stats;
  memcpy (snapshot->malformed, self->malformed, sizeof (self->malformed));
  GST_OBJECT_UNLOCK (self);

  for (i = 0; i < MPEG_VIDEO_PICTURE_LAST; i++) {
    snapshot->frames += snapshot->totals.frames[i];
    snapshot->bytes += snapshot->totals.bytes[i];
    snapshot->lost += snapshot->totals.lost[i];
  }
}

static GstStructure *
gst_mpeg_stat_create_stats (GstMpegStat * self)
{
  GstStructure *stats =
      gst_structure_new_empty ("application/x-mpegstat-stats");
  Snapshot snapshot;

  gst_mpeg_stat_snapshot (self, &snapshot);
  gst_structure_set_stats (stats, stats_fields, G_N_ELEMENTS (stats_fields),
      &snapshot);
  return stats;
}

static void
gst_mpeg_stat_post_stats (GstMpegStat * self)
{
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self),
          gst_mpeg_stat_create_stats (self)));
}

/* NULL: those of a stream that has ended were posted. */
static GstStructure *
gst_mpeg_stat_create_interval_stats (GstElement * element)
{
  GstMpegStat *self = GST_MPEG_STAT (element);
  gboolean eos;

  GST_OBJECT_LOCK (self);
  eos = self->eos;
  GST_OBJECT_UNLOCK (self);
  return eos ? NULL : gst_mpeg_stat_create_stats (self);
}

/* --- the log ------------------------------------------------------------- */

static gboolean
gst_mpeg_stat_write (GstMpegStat * self, const gchar * text, gsize size)
{
  gssize written;

  while (size > 0) {
    written = write (self->log_fd, text, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return FALSE;
    text += written;
    size -= written;
  }
  return TRUE;
}

static void
gst_mpeg_stat_close_log (GstMpegStat * self)
{
  if (self->log_fd >= 0 && self->log_fd != STDOUT_FILENO)
    g_close (self->log_fd, NULL);
  self->log_fd = -1;
}

/* Writes self->line. After an error the stream goes on without a log. */
static void
gst_mpeg_stat_log_line (GstMpegStat * self)
{
  gchar *location;
  gint error;

  if (gst_mpeg_stat_write (self, self->line->str, self->line->len))
    return;

  error = errno;
  GST_OBJECT_LOCK (self);
  location = g_strdup (self->location);
  GST_OBJECT_UNLOCK (self);
  if (error == ENOSPC)
    GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
        ("No space left to write the log \"%s\"; it ends here.", location),
        ("%s", g_strerror (error)));
  else
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
        ("Could not write to the log \"%s\": %s; it ends here.", location,
            g_strerror (error)), ("errno %d", error));
  g_free (location);
  gst_mpeg_stat_close_log (self);
}

static gboolean
gst_mpeg_stat_open_log (GstMpegStat * self)
{
  gchar *location;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->location);
  self->log_format = self->format;
  GST_OBJECT_UNLOCK (self);

  if (!location)
    return TRUE;

  if (g_str_equal (location, LOCATION_STDOUT))
    self->log_fd = STDOUT_FILENO;
  else
    self->log_fd = g_open (location, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
        0666);
  if (self->log_fd < 0) {
    gint error = errno;

    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("Could not open the log \"%s\" for writing: %s.", location,
            g_strerror (error)), ("errno %d", error));
    g_free (location);
    return FALSE;
  }
  g_free (location);

  if (self->log_format == GST_MPEG_STAT_FORMAT_CSV) {
    g_string_truncate (self->line, 0);
    mpegstat_format_csv_header (self->line);
    gst_mpeg_stat_log_line (self);
  }
  return TRUE;
}

/* --- what is told of each event ------------------------------------------ */

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
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self), structure));
}

static void
gst_mpeg_stat_print_line (GstMpegStat * self)
{
  g_print ("%s", self->line->str);
}

static void
gst_mpeg_stat_tell (GstMpegStat * self, const Wishes * wishes,
    const MpegStatEvent * event)
{
  if (wishes->print) {
    g_string_truncate (self->line, 0);
    mpegstat_format_text (event, GST_OBJECT_NAME (self), self->line);
    gst_mpeg_stat_print_line (self);
  }
  if (self->log_fd >= 0) {
    g_string_truncate (self->line, 0);
    if (self->log_format == GST_MPEG_STAT_FORMAT_JSON)
      mpegstat_format_json (event, self->line);
    else
      mpegstat_format_csv (event, self->line);
    gst_mpeg_stat_log_line (self);
  }
  if (wishes->post)
    gst_mpeg_stat_post_event (self, event);
}

static void
gst_mpeg_stat_print_summary (GstMpegStat * self)
{
  Snapshot snapshot;

  gst_mpeg_stat_snapshot (self, &snapshot);
  g_string_truncate (self->line, 0);
  mpegstat_format_summary (&snapshot.totals, GST_OBJECT_NAME (self),
      self->line);
  gst_mpeg_stat_print_line (self);
}

/* --- what goes downstream ------------------------------------------------ */

static void
gst_mpeg_stat_send_held_events (GstMpegStat * self)
{
  GstEvent *event;

  while ((event = g_queue_pop_head (&self->held_events)))
    gst_pad_push_event (self->srcpad, event);
}

/* Caps come before the segment and what follows it, but what they say comes
 * with the first frame: until then serialized events wait here. */
static gboolean
gst_mpeg_stat_send_event (GstMpegStat * self, GstEvent * event)
{
  if (self->have_caps)
    return gst_pad_push_event (self->srcpad, event);

  g_queue_push_tail (&self->held_events, event);
  return TRUE;
}

/* How long a frame waits here for the buffer that shows its end */
static void
gst_mpeg_stat_set_frame_wait (GstMpegStat * self, GstClockTime wait)
{
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = self->frame_wait != wait;
  self->frame_wait = wait;
  GST_OBJECT_UNLOCK (self);

  if (changed)
    gst_element_post_message (GST_ELEMENT_CAST (self),
        gst_message_new_latency (GST_OBJECT_CAST (self)));
}

static void
gst_mpeg_stat_update_frame_wait (GstMpegStat * self,
    const MpegVideoSequence * sequence)
{
  GstClockTime wait = LONGEST_FRAME;

  if (self->parsed)
    wait = 0;
  else if (sequence->fps_n > 0)
    wait = gst_util_uint64_scale (GST_SECOND, sequence->fps_d, sequence->fps_n);
  gst_mpeg_stat_set_frame_wait (self, wait);
}

static void
gst_mpeg_stat_update_caps (GstMpegStat * self,
    const MpegVideoSequence * sequence)
{
  GstCaps *caps, *current;

  /* A frame before the sequence header, after a flush, has no news. */
  if (self->have_caps && !self->update_caps && (sequence->width == 0
          || memcmp (&self->sequence, sequence, sizeof (*sequence)) == 0))
    return;

  self->sequence = *sequence;
  self->update_caps = FALSE;
  gst_mpeg_stat_update_frame_wait (self, sequence);

  caps = gst_mpeg_video_input_make_caps (self->input, sequence);
  current = gst_pad_get_current_caps (self->srcpad);
  if (!current || !gst_caps_is_equal (caps, current))
    gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
  gst_clear_caps (&current);
  gst_caps_unref (caps);

  self->have_caps = TRUE;
  gst_mpeg_stat_send_held_events (self);
}

/* --- the way of a frame -------------------------------------------------- */

static void
gst_mpeg_stat_hash (GstMpegStat * self, const GstMpegVideoInputFrame * frame,
    MpegStatEvent * event)
{
  guint8 slices[MPEGSTAT_HASH_BYTES];
  gsize offset, size, n;

  if (!mpegstat_find_slices (&frame->frame, &offset, &size))
    return;
  /* copies these few bytes even where the buffer has many memories */
  n = gst_buffer_extract (frame->buffer, offset, slices,
      MIN (size, sizeof (slices)));
  mpegstat_event_set_hash (event, mpegstat_hash (slices, n, size));
}

static void
gst_mpeg_stat_frame_time (GstMpegStat * self,
    const GstMpegVideoInputFrame * frame, MpegStatTime * time)
{
  MpegVideoFramerStats stats;

  *time = self->now;
  if (self->parsed)
    return;
  gst_mpeg_video_input_get_stats (self->input, &stats);
  mpegstat_arrivals_take (self->arrivals, frame->frame.size, stats.junk_bytes,
      time);
}

static void
gst_mpeg_stat_measure_frame (GstMpegStat * self, const Wishes * wishes,
    const GstMpegVideoInputFrame * frame, gboolean complete)
{
  MpegStatEvent events[MPEGSTAT_MAX_EVENTS];
  MpegStatTime time;
  guint n, i;

  gst_mpeg_stat_frame_time (self, frame, &time);

  GST_OBJECT_LOCK (self);
  n = mpegstat_core_input_frame (self->core, time.arrival, time.wall,
      &frame->frame, &frame->position, complete, events);
  GST_OBJECT_UNLOCK (self);

  if (!wishes->print && !wishes->post && self->log_fd < 0)
    return;
  gst_mpeg_stat_hash (self, frame, &events[n - 1]);
  for (i = 0; i < n; i++)
    gst_mpeg_stat_tell (self, wishes, &events[i]);
}

static void
gst_mpeg_stat_measure_losses (GstMpegStat * self, const Wishes * wishes)
{
  MpegVideoLoss loss;
  MpegStatEvent event;

  while (gst_mpeg_video_input_pull_loss (self->input, &loss)) {
    GST_DEBUG_OBJECT (self, "%u frames of type %c lost, from number %"
        G_GINT64_FORMAT " in display order on", loss.frames,
        mpeg_video_picture_type_char (loss.type), loss.display_number);
    GST_OBJECT_LOCK (self);
    mpegstat_core_input_loss (self->core, self->now.arrival, self->now.wall,
        &loss, &event);
    GST_OBJECT_UNLOCK (self);
    gst_mpeg_stat_tell (self, wishes, &event);
  }
}

/* Takes the frame's buffer. */
static GstFlowReturn
gst_mpeg_stat_push_frame (GstMpegStat * self, GstMpegVideoInputFrame * frame,
    gboolean complete)
{
  GstBuffer *buffer = g_steal_pointer (&frame->buffer);

  gst_mpeg_stat_update_caps (self, &frame->frame.sequence);

  if (!complete || self->discont) {
    buffer = gst_buffer_make_writable (buffer);
    if (!complete)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_CORRUPTED);
    if (self->discont)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    self->discont = FALSE;
  }
  return gst_pad_push (self->srcpad, buffer);
}

static GstFlowReturn
gst_mpeg_stat_handle_frame (GstMpegStat * self, const Wishes * wishes,
    GstMpegVideoInputFrame * frame)
{
  gboolean complete = !(frame->frame.flags & MPEG_VIDEO_FRAME_INCOMPLETE)
      && !GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_BUFFER_FLAG_CORRUPTED);

  gst_mpeg_stat_measure_frame (self, wishes, frame, complete);
  gst_mpeg_stat_measure_losses (self, wishes);

  if (!complete && wishes->discard) {
    GST_DEBUG_OBJECT (self, "incomplete, discarded: %" GST_PTR_FORMAT,
        frame->buffer);
    self->discont = TRUE;
    return GST_FLOW_OK;
  }
  return gst_mpeg_stat_push_frame (self, frame, complete);
}

static void
gst_mpeg_stat_get_wishes (GstMpegStat * self, Wishes * wishes)
{
  GST_OBJECT_LOCK (self);
  wishes->print = !self->silent;
  wishes->post = self->post_messages;
  wishes->discard = self->discard_incomplete;
  GST_OBJECT_UNLOCK (self);
}

/* Most buffers of a raw stream end no frame: they must cost little. */
static void
gst_mpeg_stat_publish_framer_stats (GstMpegStat * self)
{
  MpegVideoFramerStats stats;

  gst_mpeg_video_input_get_stats (self->input, &stats);
  /* nobody else writes it */
  if (memcmp (&stats, &self->framer_stats, sizeof (stats)) == 0)
    return;
  GST_OBJECT_LOCK (self);
  self->framer_stats = stats;
  GST_OBJECT_UNLOCK (self);
}

/* All frames that are whole by now, and the losses that they show */
static GstFlowReturn
gst_mpeg_stat_handle_frames (GstMpegStat * self)
{
  GstMpegVideoInputFrame frame;
  GstFlowReturn ret = GST_FLOW_OK;
  Wishes wishes;

  gst_mpeg_stat_publish_framer_stats (self);
  while (ret == GST_FLOW_OK && gst_mpeg_video_input_pull (self->input, &frame)) {
    gst_mpeg_stat_get_wishes (self, &wishes);
    ret = gst_mpeg_stat_handle_frame (self, &wishes, &frame);
    gst_mpeg_video_input_frame_clear (&frame);
  }
  return ret;
}

/* --- the way of an access unit ------------------------------------------- */

/* Counts its faults, which the classifier only adds up. */
static void
gst_mpeg_stat_count_malformed (GstMpegStat * self,
    const guint64 before[IFD_MALFORMED_LAST])
{
  const IfdClassifier *classifier = mpegstat_units_get_classifier (self->units);
  guint i;

  for (i = 0; i < IFD_MALFORMED_LAST; i++)
    self->malformed[i] +=
        ifd_classifier_get_malformed (classifier, i) - before[i];
}

/* FALSE: its bytes can't be read. */
static gboolean
gst_mpeg_stat_read_unit (GstMpegStat * self, GstBuffer * buffer,
    MpegStatUnit * unit)
{
  const IfdClassifier *classifier = mpegstat_units_get_classifier (self->units);
  guint64 before[IFD_MALFORMED_LAST];
  GstMapInfo map;
  guint i;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  for (i = 0; i < IFD_MALFORMED_LAST; i++)
    before[i] = ifd_classifier_get_malformed (classifier, i);
  mpegstat_units_input (self->units, map.data, map.size,
      GST_BUFFER_PTS (buffer), GST_BUFFER_DTS (buffer), unit);
  gst_buffer_unmap (buffer, &map);

  GST_OBJECT_LOCK (self);
  gst_mpeg_stat_count_malformed (self, before);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
gst_mpeg_stat_measure_unit (GstMpegStat * self, const Wishes * wishes,
    const MpegStatUnit * unit, gboolean complete)
{
  MpegStatEvent events[MPEGSTAT_MAX_EVENTS];
  guint n, i;

  GST_OBJECT_LOCK (self);
  n = mpegstat_core_input_unit (self->core, self->now.arrival, self->now.wall,
      unit, complete, events);
  GST_OBJECT_UNLOCK (self);

  for (i = 0; i < n; i++)
    gst_mpeg_stat_tell (self, wishes, &events[i]);
}

/* Takes the buffer. It goes on as it came. */
static GstFlowReturn
gst_mpeg_stat_handle_unit (GstMpegStat * self, GstBuffer * buffer)
{
  gboolean complete = !GST_BUFFER_FLAG_IS_SET (buffer,
      GST_BUFFER_FLAG_CORRUPTED);
  MpegStatUnit unit;
  Wishes wishes;

  gst_mpeg_stat_get_wishes (self, &wishes);
  if (gst_mpeg_stat_read_unit (self, buffer, &unit))
    gst_mpeg_stat_measure_unit (self, &wishes, &unit, complete);

  if (!complete && wishes.discard) {
    GST_DEBUG_OBJECT (self, "corrupted, discarded: %" GST_PTR_FORMAT, buffer);
    gst_buffer_unref (buffer);
    self->discont = TRUE;
    return GST_FLOW_OK;
  }
  if (self->discont && !GST_BUFFER_IS_DISCONT (buffer)) {
    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  }
  self->discont = FALSE;
  return gst_pad_push (self->srcpad, buffer);
}

static GstFlowReturn
gst_mpeg_stat_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstMpegStat *self = GST_MPEG_STAT (parent);

  self->now.arrival = gst_mpeg_stat_take_arrival (self);
  self->now.wall = wall_now ();
  self->started = TRUE;

  if (self->units)
    return gst_mpeg_stat_handle_unit (self, buffer);
  if (!self->parsed)
    mpegstat_arrivals_input (self->arrivals, gst_buffer_get_size (buffer),
        &self->now);
  if (!gst_mpeg_video_input_push (self->input, buffer))
    return GST_FLOW_ERROR;
  return gst_mpeg_stat_handle_frames (self);
}

/* --- the way of an event ------------------------------------------------- */

/* No byte of what came so far belongs to what comes next. */
static void
gst_mpeg_stat_drain (GstMpegStat * self)
{
  Wishes wishes;

  if (!self->started || self->units)
    return;
  gst_mpeg_video_input_drain (self->input);
  gst_mpeg_stat_handle_frames (self);
  gst_mpeg_stat_get_wishes (self, &wishes);
  gst_mpeg_stat_measure_losses (self, &wishes);
}

/* Another stream, or the same from another place */
static void
gst_mpeg_stat_restart (GstMpegStat * self)
{
  MpegVideoFramerStats stats;

  if (self->units)
    mpegstat_units_restart (self->units);
  gst_mpeg_video_input_reset (self->input);
  gst_mpeg_video_input_get_stats (self->input, &stats);
  mpegstat_arrivals_reset (self->arrivals, stats.junk_bytes);
  self->started = FALSE;
  self->discont = TRUE;

  GST_OBJECT_LOCK (self);
  mpegstat_core_restart (self->core);
  self->eos = FALSE;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_mpeg_stat_take_stream_start (GstMpegStat * self, GstEvent * event)
{
  if (self->have_stream && self->started) {
    gst_mpeg_stat_drain (self);
    gst_mpeg_stat_restart (self);
  }
  self->have_stream = TRUE;
  return gst_pad_push_event (self->srcpad, event);
}

static GstClockTime
gst_mpeg_stat_get_period (const GstCaps * caps)
{
  gint fps_n, fps_d;

  if (!gst_structure_get_fraction (gst_caps_get_structure (caps, 0),
          "framerate", &fps_n, &fps_d) || fps_n <= 0 || fps_d <= 0)
    return 0;
  return gst_util_uint64_scale (GST_SECOND, fps_d, fps_n);
}

/* They go on as they came. */
static gboolean
gst_mpeg_stat_take_unit_caps (GstMpegStat * self, GstEvent * event,
    GstCaps * caps, IfdCodec codec)
{
  MpegStatUnits *units = mpegstat_units_new (codec);

  if (!gst_h26x_caps_set_codec_data (caps,
          mpegstat_units_get_classifier (units))) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("%s can't read this %s: its codec_data is missing or malformed; put "
            "%s before it.", GST_OBJECT_NAME (self),
            codec == IFD_CODEC_H264 ? "H.264" : "H.265",
            codec == IFD_CODEC_H264 ? "h264parse" : "h265parse"),
        ("%" GST_PTR_FORMAT, caps));
    mpegstat_units_free (units);
    gst_event_unref (event);
    return FALSE;
  }
  mpegstat_units_set_period (units, gst_mpeg_stat_get_period (caps));
  gst_mpeg_stat_drain (self);
  g_clear_pointer (&self->units, mpegstat_units_free);
  self->units = units;
  self->parsed = self->have_upstream_caps = self->have_caps = TRUE;
  gst_mpeg_stat_set_frame_wait (self, 0);
  gst_pad_push_event (self->srcpad, event);
  gst_mpeg_stat_send_held_events (self);
  return TRUE;
}

static gboolean
gst_mpeg_stat_take_caps (GstMpegStat * self, GstEvent * event)
{
  gboolean parsed = FALSE;
  IfdCodec codec;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (gst_h26x_caps_get_codec (caps, &codec))
    return gst_mpeg_stat_take_unit_caps (self, event, caps, codec);
  g_clear_pointer (&self->units, mpegstat_units_free);
  gst_structure_get_boolean (gst_caps_get_structure (caps, 0), "parsed",
      &parsed);
  GST_DEBUG_OBJECT (self, "%s input, %" GST_PTR_FORMAT,
      parsed ? "parsed" : "raw", caps);

  if (parsed != self->parsed) {
    MpegVideoFramerStats stats;

    gst_mpeg_stat_drain (self);
    self->parsed = parsed;
    gst_mpeg_stat_update_frame_wait (self, &self->sequence);
    gst_mpeg_video_input_set_caps (self->input, caps);
    gst_mpeg_video_input_get_stats (self->input, &stats);
    mpegstat_arrivals_reset (self->arrivals, stats.junk_bytes);
  } else {
    gst_mpeg_video_input_set_caps (self->input, caps);
  }
  self->have_upstream_caps = TRUE;
  self->update_caps = TRUE;
  gst_event_unref (event);
  return TRUE;
}

static gboolean
gst_mpeg_stat_take_segment (GstMpegStat * self, GstEvent * event)
{
  const GstSegment *segment;

  event = gst_mpeg_video_input_convert_segment (self->input, event);
  gst_event_parse_segment (event, &segment);
  /* What is pending belongs to the segment before. */
  if (!self->parsed && !gst_segment_is_equal (&self->segment, segment))
    gst_mpeg_stat_drain (self);
  gst_segment_copy_into (segment, &self->segment);
  return gst_mpeg_stat_send_event (self, event);
}

/* A gap before the first frame must reach a sink that waits for preroll. */
static gboolean
gst_mpeg_stat_take_gap (GstMpegStat * self, GstEvent * event)
{
  if (!self->have_caps && self->have_upstream_caps)
    gst_mpeg_stat_update_caps (self, &self->sequence);
  return gst_mpeg_stat_send_event (self, event);
}

static gboolean
gst_mpeg_stat_take_eos (GstMpegStat * self, GstEvent * event)
{
  gboolean silent;

  gst_mpeg_stat_drain (self);

  GST_OBJECT_LOCK (self);
  self->eos = TRUE;
  silent = self->silent;
  GST_OBJECT_UNLOCK (self);

  if (!silent)
    gst_mpeg_stat_print_summary (self);
  gst_mpeg_stat_post_stats (self);
  /* of a stream without a single frame */
  gst_mpeg_stat_send_held_events (self);
  return gst_pad_push_event (self->srcpad, event);
}

static gboolean
gst_mpeg_stat_take_flush_stop (GstMpegStat * self, GstEvent * event)
{
  gst_mpeg_stat_restart (self);
  gst_held_events_flush (&self->held_events);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  return gst_pad_push_event (self->srcpad, event);
}

static gboolean
gst_mpeg_stat_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstMpegStat *self = GST_MPEG_STAT (parent);

  GST_LOG_OBJECT (self, "%" GST_PTR_FORMAT, event);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      return gst_mpeg_stat_take_stream_start (self, event);
    case GST_EVENT_CAPS:
      return gst_mpeg_stat_take_caps (self, event);
    case GST_EVENT_SEGMENT:
      return gst_mpeg_stat_take_segment (self, event);
    case GST_EVENT_GAP:
      return gst_mpeg_stat_take_gap (self, event);
    case GST_EVENT_EOS:
      return gst_mpeg_stat_take_eos (self, event);
    case GST_EVENT_FLUSH_STOP:
      return gst_mpeg_stat_take_flush_stop (self, event);
    default:
      if (GST_EVENT_IS_SERIALIZED (event))
        return gst_mpeg_stat_send_event (self, event);
      return gst_pad_event_default (pad, parent, event);
  }
}

/* --- queries ------------------------------------------------------------- */

/* Downstream's wishes are ours, but for parsed, which we see to. */
static GstCaps *
gst_mpeg_stat_get_sink_caps (GstMpegStat * self, GstCaps * filter)
{
  GstCaps *template = gst_pad_get_pad_template_caps (self->sinkpad);
  GstCaps *peer = gst_pad_peer_query_caps (self->srcpad, NULL);
  GstCaps *caps, *filtered;
  guint i;

  peer = gst_caps_make_writable (peer);
  for (i = 0; i < gst_caps_get_size (peer); i++)
    gst_structure_remove_field (gst_caps_get_structure (peer, i), "parsed");
  caps = gst_caps_intersect_full (peer, template, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (peer);
  gst_caps_unref (template);

  if (filter) {
    filtered = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (caps);
    caps = filtered;
  }
  return caps;
}

static gboolean
gst_mpeg_stat_sink_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstMpegStat *self = GST_MPEG_STAT (parent);
  GstCaps *caps, *filter;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &filter);
      caps = gst_mpeg_stat_get_sink_caps (self, filter);
      gst_query_set_caps_result (query, caps);
      gst_caps_unref (caps);
      return TRUE;
    case GST_QUERY_ALLOCATION:
      /* Upstream's memory goes on downstream only where it holds whole frames
       * and downstream knows its caps. */
      if (!self->parsed || !self->have_caps)
        return FALSE;
      return gst_pad_peer_query (self->srcpad, query);
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

static gboolean
gst_mpeg_stat_query_latency (GstMpegStat * self, GstQuery * query)
{
  GstClockTime min, max, wait;
  gboolean live;

  if (!gst_pad_peer_query (self->sinkpad, query))
    return FALSE;

  GST_OBJECT_LOCK (self);
  wait = self->frame_wait;
  GST_OBJECT_UNLOCK (self);

  gst_query_parse_latency (query, &live, &min, &max);
  /* What isn't live is read ahead: who paces it need not start later. */
  if (!live)
    return TRUE;
  min += wait;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += wait;
  gst_query_set_latency (query, live, min, max);
  return TRUE;
}

static gboolean
gst_mpeg_stat_src_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return gst_mpeg_stat_query_latency (GST_MPEG_STAT (parent), query);
  return gst_pad_query_default (pad, parent, query);
}

/* --- life cycle ---------------------------------------------------------- */

static gboolean
gst_mpeg_stat_start (GstMpegStat * self)
{
  if (!gst_mpeg_stat_open_log (self))
    return FALSE;

  self->input = gst_mpeg_video_input_new (GST_ELEMENT_CAST (self));
  self->arrivals = mpegstat_arrivals_new ();
  memset (&self->now, 0, sizeof (self->now));
  memset (&self->sequence, 0, sizeof (self->sequence));
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  self->parsed = self->have_upstream_caps = FALSE;
  self->started = self->have_stream = FALSE;
  self->have_caps = self->update_caps = FALSE;
  self->discont = TRUE;

  GST_OBJECT_LOCK (self);
  gst_mpeg_video_input_set_max_frame_size (self->input, self->max_frame_size);
  mpegstat_core_free (self->core);
  self->core = mpegstat_core_new ();
  memset (&self->framer_stats, 0, sizeof (self->framer_stats));
  memset (self->malformed, 0, sizeof (self->malformed));
  memset (&self->clock, 0, sizeof (self->clock));
  self->eos = FALSE;
  self->frame_wait = LONGEST_FRAME;
  GST_OBJECT_UNLOCK (self);

  return TRUE;
}

/* The statistics can be read until the next start. */
static void
gst_mpeg_stat_stop (GstMpegStat * self)
{
  GST_OBJECT_LOCK (self);
  self->eos = TRUE;
  GST_OBJECT_UNLOCK (self);

  g_clear_pointer (&self->input, gst_mpeg_video_input_free);
  g_clear_pointer (&self->units, mpegstat_units_free);
  g_clear_pointer (&self->arrivals, mpegstat_arrivals_free);
  g_queue_clear_full (&self->held_events, (GDestroyNotify) gst_event_unref);
  gst_mpeg_stat_close_log (self);
}

static GstStateChangeReturn
gst_mpeg_stat_change_state (GstElement * element, GstStateChange transition)
{
  GstMpegStat *self = GST_MPEG_STAT (element);
  GstStateChangeReturn ret;

  switch (transition) {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (!gst_mpeg_stat_start (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING:
      gst_mpeg_stat_mark_switch (self);
      gst_stats_timer_start (&self->stats_timer, element,
          gst_mpeg_stat_create_interval_stats);
      break;
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      gst_stats_timer_stop (&self->stats_timer, element);
      gst_mpeg_stat_mark_switch (self);
      break;
    default:
      break;
  }

  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    gst_mpeg_stat_stop (self);
  return ret;
}

/* --- object -------------------------------------------------------------- */

static void
gst_mpeg_stat_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstMpegStat *self = GST_MPEG_STAT (object);

  if (id == PROP_STATS_INTERVAL) {
    gst_stats_timer_set_interval (&self->stats_timer, GST_ELEMENT_CAST (self),
        g_value_get_uint64 (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_SILENT:
      self->silent = g_value_get_boolean (value);
      break;
    case PROP_LOCATION:
      g_free (self->location);
      self->location = g_value_dup_string (value);
      break;
    case PROP_FORMAT:
      self->format = g_value_get_enum (value);
      break;
    case PROP_MAX_FRAME_SIZE:
      self->max_frame_size = g_value_get_uint (value);
      break;
    case PROP_DISCARD_INCOMPLETE:
      self->discard_incomplete = g_value_get_boolean (value);
      break;
    case PROP_POST_MESSAGES:
      self->post_messages = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_mpeg_stat_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstMpegStat *self = GST_MPEG_STAT (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_mpeg_stat_create_stats (self));
    return;
  }

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_SILENT:
      g_value_set_boolean (value, self->silent);
      break;
    case PROP_LOCATION:
      g_value_set_string (value, self->location);
      break;
    case PROP_FORMAT:
      g_value_set_enum (value, self->format);
      break;
    case PROP_STATS_INTERVAL:
      g_value_set_uint64 (value, self->stats_timer.interval);
      break;
    case PROP_MAX_FRAME_SIZE:
      g_value_set_uint (value, self->max_frame_size);
      break;
    case PROP_DISCARD_INCOMPLETE:
      g_value_set_boolean (value, self->discard_incomplete);
      break;
    case PROP_POST_MESSAGES:
      g_value_set_boolean (value, self->post_messages);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_mpeg_stat_finalize (GObject * object)
{
  GstMpegStat *self = GST_MPEG_STAT (object);

  mpegstat_core_free (self->core);
  g_string_free (self->line, TRUE);
  g_free (self->location);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_mpeg_stat_init (GstMpegStat * self)
{
  self->silent = DEFAULT_SILENT;
  self->location = g_strdup (DEFAULT_LOCATION);
  self->format = DEFAULT_FORMAT;
  self->stats_timer.interval = DEFAULT_STATS_INTERVAL;
  self->max_frame_size = DEFAULT_MAX_FRAME_SIZE;
  self->discard_incomplete = DEFAULT_DISCARD_INCOMPLETE;
  self->post_messages = DEFAULT_POST_MESSAGES;
  self->core = mpegstat_core_new ();
  self->line = g_string_new (NULL);
  self->log_fd = -1;
  g_queue_init (&self->held_events);

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_mpeg_stat_chain);
  gst_pad_set_event_function (self->sinkpad, gst_mpeg_stat_sink_event);
  gst_pad_set_query_function (self->sinkpad, gst_mpeg_stat_sink_query);
  GST_PAD_SET_ACCEPT_INTERSECT (self->sinkpad);
  GST_PAD_SET_ACCEPT_TEMPLATE (self->sinkpad);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->sinkpad);

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_query_function (self->srcpad, gst_mpeg_stat_src_query);
  gst_pad_use_fixed_caps (self->srcpad);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->srcpad);
}

static void
gst_mpeg_stat_class_init (GstMpegStatClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      GST_PARAM_MUTABLE_PLAYING;

  object_class->set_property = gst_mpeg_stat_set_property;
  object_class->get_property = gst_mpeg_stat_get_property;
  object_class->finalize = gst_mpeg_stat_finalize;
  element_class->change_state = gst_mpeg_stat_change_state;

  /**
   * GstMpegStat:silent:
   *
   * Nothing on standard output. When %FALSE, a line for each frame, GOP header
   * and loss, and a summary at the end of the stream.
   */
  properties[PROP_SILENT] = g_param_spec_boolean ("silent", "Silent",
      "Print nothing; false: a line on standard output for each frame, GOP "
      "header and loss, and a summary at the end", DEFAULT_SILENT, playing);

  /**
   * GstMpegStat:location:
   *
   * File for the log, overwritten at start; `-` is standard output. One line
   * per event, written as it happens, with these columns:
   *
   * * `event`: `frame`, `incomplete`, `lost` or `gop`
   * * `wall_ns`: time of day at arrival
   * * `arrival_ns`: arrival since the first buffer's; of a `lost` line, when it
   *   became clear
   * * `expected_ns`: when it was due, in transport order, since the first frame
   * * `latency_ns`: how much later it came than that, if the first complete
   *   frame was in time; negative: earlier
   * * `type`: `I`, `P`, `B`, `D`, or `?` for a lost frame of unknown type and
   *   for a range of several types
   * * `temporal_reference`
   * * `coding_number`, `display_number`: place in transport and in display
   *   order, lost frames counted
   * * `pts_90khz`: presentation time in units of 90 kHz; of a GOP, that of
   *   temporal reference 0
   * * `size_bytes`
   * * `time_code`: hh:mm:ss:pp of the GOP or of the frame's GOP
   * * `closed_gop`, `broken_link`, `pictures`: of the GOP header
   * * `hash`: the same frame has the same one in any log
   * * `lost_frames`: number of frames that a `lost` line stands for, in a row
   *   in display order from `display_number` on. A gap of more than 64 frames
   *   is one line.
   */
  properties[PROP_LOCATION] = g_param_spec_string ("location", "Location",
      "File for the log, overwritten at start; '-': standard output; unset: "
      "no log", DEFAULT_LOCATION, ready);

  /**
   * GstMpegStat:format:
   *
   * How the log is written.
   */
  properties[PROP_FORMAT] = g_param_spec_enum ("format", "Format",
      "Format of the log", GST_TYPE_MPEG_STAT_FORMAT, DEFAULT_FORMAT, ready);

  /**
   * GstMpegStat:stats-interval:
   *
   * While playing, #GstMpegStat:stats comes as element message at this
   * interval of the pipeline's clock, whether frames arrive or not.
   */
  properties[PROP_STATS_INTERVAL] = g_param_spec_uint64 ("stats-interval",
      "Statistics interval",
      "Time between two element messages with the statistics, in ns; 0: only "
      "at the end of the stream", 0, G_MAXINT64, DEFAULT_STATS_INTERVAL,
      playing);

  /**
   * GstMpegStat:stats:
   *
   * A #GstStructure named `application/x-mpegstat-stats`. Counters begin at 0
   * when the element starts and never go back; they can be read until it
   * starts again. #guint64 but where it says otherwise:
   *
   * * `frames`, `frames-i`, `frames-p`, `frames-b`, `frames-d`: complete frames
   *   that arrived
   * * `bytes`, `bytes-i`, `bytes-p`, `bytes-b`, `bytes-d`: their sizes
   * * `lost`, `lost-i`, `lost-p`, `lost-b`, `lost-d`, `lost-unknown`: frames
   *   that never came
   * * `incomplete`: frames of which a part is missing; in none of the above
   * * `gops`: GOP headers
   * * `duration`: ns from the first to the last frame's arrival
   * * `bitrate`: bit/s in the last second; 0 when nothing comes any more
   * * `average-bitrate`: bit/s over `duration`
   * * `latency-min`, `latency-median`, `latency-p95`, `latency-p99`,
   *   `latency-max`, `latency-mean`: #gint64, ns, relative to the first frame,
   *   negative when frames come early; percentiles right to 1 part in 128
   * * `jitter`: ns, as in RFC 3550, in transport order
   * * `junk-bytes`: bytes that belonged to no frame
   * * `too-big`: frames given up because of #GstMpegStat:max-frame-size
   * * `truncated`: frames cut by a discontinuity
   * * `bad-headers`: headers that could not be read
   * * `before-sequence`: pictures before the first sequence header
   * * `foreign-codes`: start codes that no video elementary stream has
   * * `malformed-no-start-code`, `malformed-length`, `malformed-header`,
   *   `malformed-sei`, `malformed-sps`: access units of H.264 and H.265 that
   *   could not be read, by what was found first
   */
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Statistics since the element started: frames, bytes and losses by type, "
      "rates in bit/s, latency and jitter in ns", GST_TYPE_STRUCTURE,
      G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  /**
   * GstMpegStat:max-frame-size:
   *
   * A larger frame is dropped and counted as `too-big`, and the stream taken up
   * again at the next header: memory stays bounded on any input.
   */
  properties[PROP_MAX_FRAME_SIZE] = g_param_spec_uint ("max-frame-size",
      "Maximum frame size", "Largest frame that is accepted, in bytes",
      1024, G_MAXINT, DEFAULT_MAX_FRAME_SIZE, ready);

  /**
   * GstMpegStat:discard-incomplete:
   *
   * Frames of which a part is missing, or that upstream marked as corrupted,
   * don't go on. When %FALSE they do, marked as corrupted. They count as
   * `incomplete` either way.
   */
  properties[PROP_DISCARD_INCOMPLETE] =
      g_param_spec_boolean ("discard-incomplete", "Discard incomplete",
      "Discard frames of which a part is missing; false: pass them, marked as "
      "corrupted", DEFAULT_DISCARD_INCOMPLETE, playing);

  /**
   * GstMpegStat:post-messages:
   *
   * Element messages `application/x-mpegstat-frame`, `-incomplete`, `-lost` and
   * `-gop`, with the log's columns as fields; unused ones are absent.
   */
  properties[PROP_POST_MESSAGES] = g_param_spec_boolean ("post-messages",
      "Post messages",
      "Post an element message for each frame, GOP header and loss",
      DEFAULT_POST_MESSAGES, playing);

  g_object_class_install_properties (object_class, PROP_LAST, properties);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "MPEG video statistics", "Analyzer/Video",
      "Passes MPEG-1/2, H.264 and H.265 video through and measures "
      "latency, jitter, throughput and losses by frame type",
      "The gst-plugins-wireless authors");

  gst_type_mark_as_plugin_api (GST_TYPE_MPEG_STAT_FORMAT, 0);
}
