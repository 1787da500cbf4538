/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mpegstatformat.h. In CSV, values are never quoted, because
 * none of them can contain a comma.
 */

#include "mpegstatformat.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND 1e6

#define MEMBER(member) G_STRUCT_OFFSET (MpegStatEvent, member)

static const struct
{
  const gchar *name;
  MpegStatValueType type;
  /* Offset of the member of MpegStatEvent that contains the value of this
   * column, if this member has 64 bits. 0 if the value is computed in another
   * way. */
  gsize offset;
} columns[MPEGSTAT_N_COLUMNS] = {
  [MPEGSTAT_EVENT] = {"event", MPEGSTAT_VALUE_STRING},
  [MPEGSTAT_WALL_NS] = {"wall_ns", MPEGSTAT_VALUE_UINT, MEMBER (wall)},
  [MPEGSTAT_ARRIVAL_NS] = {"arrival_ns", MPEGSTAT_VALUE_UINT, MEMBER (arrival)},
  [MPEGSTAT_EXPECTED_NS] =
      {"expected_ns", MPEGSTAT_VALUE_UINT, MEMBER (expected)},
  [MPEGSTAT_LATENCY_NS] = {"latency_ns", MPEGSTAT_VALUE_INT, MEMBER (latency)},
  [MPEGSTAT_TYPE] = {"type", MPEGSTAT_VALUE_STRING},
  [MPEGSTAT_TEMPORAL_REFERENCE] = {"temporal_reference", MPEGSTAT_VALUE_UINT},
  [MPEGSTAT_CODING_NUMBER] =
      {"coding_number", MPEGSTAT_VALUE_INT, MEMBER (coding_number)},
  [MPEGSTAT_DISPLAY_NUMBER] =
      {"display_number", MPEGSTAT_VALUE_INT, MEMBER (display_number)},
  [MPEGSTAT_PTS_90KHZ] = {"pts_90khz", MPEGSTAT_VALUE_UINT, MEMBER (pts_90khz)},
  [MPEGSTAT_SIZE_BYTES] = {"size_bytes", MPEGSTAT_VALUE_UINT, MEMBER (size)},
  [MPEGSTAT_TIME_CODE] = {"time_code", MPEGSTAT_VALUE_STRING},
  [MPEGSTAT_CLOSED_GOP] = {"closed_gop", MPEGSTAT_VALUE_BOOLEAN},
  [MPEGSTAT_BROKEN_LINK] = {"broken_link", MPEGSTAT_VALUE_BOOLEAN},
  [MPEGSTAT_PICTURES] = {"pictures", MPEGSTAT_VALUE_UINT},
  [MPEGSTAT_HASH] = {"hash", MPEGSTAT_VALUE_STRING},
  [MPEGSTAT_LOST_FRAMES] = {"lost_frames", MPEGSTAT_VALUE_UINT},
};

static const gchar *const kind_names[] = {
  [MPEGSTAT_FRAME] = "frame",
  [MPEGSTAT_INCOMPLETE] = "incomplete",
  [MPEGSTAT_LOST] = "lost",
  [MPEGSTAT_GOP] = "gop",
};

static guint64
sum (const guint64 counts[MPEG_VIDEO_PICTURE_LAST])
{
  guint64 total = 0;
  guint i;

  for (i = 0; i < MPEG_VIDEO_PICTURE_LAST; i++)
    total += counts[i];
  return total;
}

const gchar *
mpegstat_column_name (MpegStatColumn column)
{
  return columns[column].name;
}

static void
G_GNUC_PRINTF (2, 3)
set_string (MpegStatValue * value, const gchar * format, ...)
{
  va_list args;

  va_start (args, format);
  g_vsnprintf (value->s, sizeof (value->s), format, args);
  va_end (args);
}

void
mpegstat_event_get_value (const MpegStatEvent * event, MpegStatColumn column,
    MpegStatValue * value)
{
  value->type = MPEGSTAT_VALUE_NONE;
  if (!(event->present & 1 << column))
    return;

  value->type = columns[column].type;
  switch (column) {
    case MPEGSTAT_EVENT:
      set_string (value, "%s", kind_names[event->kind]);
      break;
    case MPEGSTAT_TYPE:
      set_string (value, "%c", mpeg_video_picture_type_char (event->type));
      break;
    case MPEGSTAT_TEMPORAL_REFERENCE:
      value->u = event->temporal_reference;
      break;
    case MPEGSTAT_TIME_CODE:
      set_string (value, "%02u:%02u:%02u:%02u", event->gop.hours,
          event->gop.minutes, event->gop.seconds, event->gop.pictures);
      break;
    case MPEGSTAT_CLOSED_GOP:
      value->i = event->gop.closed != FALSE;
      break;
    case MPEGSTAT_BROKEN_LINK:
      value->i = event->gop.broken_link != FALSE;
      break;
    case MPEGSTAT_PICTURES:
      value->u = event->gop.pictures;
      break;
    case MPEGSTAT_HASH:
      set_string (value, "%016" G_GINT64_MODIFIER "x", event->hash);
      break;
    case MPEGSTAT_LOST_FRAMES:
      value->u = sum (event->lost);
      break;
    default:
      value->u = G_STRUCT_MEMBER (guint64, event, columns[column].offset);
      value->i = value->u;
      break;
  }
}

/* --- CSV --- */

void
mpegstat_format_csv_header (GString * out)
{
  guint column;

  for (column = 0; column < MPEGSTAT_N_COLUMNS; column++) {
    g_string_append (out, columns[column].name);
    g_string_append_c (out, column + 1 < MPEGSTAT_N_COLUMNS ? ',' : '\n');
  }
}

static void
append_csv_value (GString * out, const MpegStatValue * value)
{
  switch (value->type) {
    case MPEGSTAT_VALUE_NONE:
      break;
    case MPEGSTAT_VALUE_STRING:
      g_string_append (out, value->s);
      break;
    case MPEGSTAT_VALUE_INT:
    case MPEGSTAT_VALUE_BOOLEAN:
      g_string_append_printf (out, "%" G_GINT64_FORMAT, value->i);
      break;
    case MPEGSTAT_VALUE_UINT:
      g_string_append_printf (out, "%" G_GUINT64_FORMAT, value->u);
      break;
  }
}

void
mpegstat_format_csv (const MpegStatEvent * event, GString * out)
{
  guint column;

  for (column = 0; column < MPEGSTAT_N_COLUMNS; column++) {
    MpegStatValue value;

    mpegstat_event_get_value (event, column, &value);
    append_csv_value (out, &value);
    g_string_append_c (out, column + 1 < MPEGSTAT_N_COLUMNS ? ',' : '\n');
  }
}

/* --- JSON --- */

static void
append_json_value (GString * out, const MpegStatValue * value)
{
  switch (value->type) {
    case MPEGSTAT_VALUE_NONE:
      g_string_append (out, "null");
      break;
    case MPEGSTAT_VALUE_STRING:
      /* No string of an event contains a character that has to be escaped in
       * JSON. */
      g_string_append_printf (out, "\"%s\"", value->s);
      break;
    case MPEGSTAT_VALUE_BOOLEAN:
      g_string_append (out, value->i ? "true" : "false");
      break;
    case MPEGSTAT_VALUE_INT:
    case MPEGSTAT_VALUE_UINT:
      append_csv_value (out, value);
      break;
  }
}

void
mpegstat_format_json (const MpegStatEvent * event, GString * out)
{
  guint column;

  for (column = 0; column < MPEGSTAT_N_COLUMNS; column++) {
    MpegStatValue value;

    mpegstat_event_get_value (event, column, &value);
    g_string_append_printf (out, "%s\"%s\":", column ? "," : "{",
        columns[column].name);
    append_json_value (out, &value);
  }
  g_string_append (out, "}\n");
}

/* --- for people --- */

static void
append_time (GString * out, guint64 time)
{
  guint64 seconds = time / SECOND;

  g_string_append_printf (out, "%u:%02u:%02u.%09u", (guint) (seconds / 3600),
      (guint) (seconds / 60 % 60), (guint) (seconds % 60),
      (guint) (time % SECOND));
}

static void
append_frame_text (const MpegStatEvent * event, GString * out)
{
  g_string_append_printf (out, "%s %c  ", kind_names[event->kind],
      mpeg_video_picture_type_char (event->type));
  if (event->present & 1 << MPEGSTAT_TEMPORAL_REFERENCE)
    g_string_append_printf (out, "tr %4u  ", event->temporal_reference);
  g_string_append (out, "now ");
  append_time (out, event->arrival);
  g_string_append (out, "  expected ");
  append_time (out, event->expected);
  if (event->present & 1 << MPEGSTAT_LATENCY_NS)
    g_string_append_printf (out, "  latency %+11.3f ms",
        event->latency / MILLISECOND);
  if (event->present & 1 << MPEGSTAT_PTS_90KHZ)
    g_string_append_printf (out, "  rtp %9" G_GUINT64_FORMAT, event->pts_90khz);
  g_string_append_printf (out, "  size %7" G_GUINT64_FORMAT, event->size);
}

/* Appends the sum of `counts` and, in parentheses, the count of each picture
 * type, for example "1500 (101 I, 400 P, 999 B)". Types with a count of 0 are
 * omitted. */
static void
append_by_type (GString * out, const guint64 counts[MPEG_VIDEO_PICTURE_LAST])
{
  static const MpegVideoPictureType order[] = {
    MPEG_VIDEO_PICTURE_I, MPEG_VIDEO_PICTURE_P, MPEG_VIDEO_PICTURE_B,
    MPEG_VIDEO_PICTURE_D, MPEG_VIDEO_PICTURE_UNKNOWN
  };
  const gchar *separator = " (";
  guint i;

  g_string_append_printf (out, "%" G_GUINT64_FORMAT, sum (counts));
  for (i = 0; i < G_N_ELEMENTS (order); i++) {
    if (counts[order[i]] == 0)
      continue;
    g_string_append_printf (out, "%s%" G_GUINT64_FORMAT " %c", separator,
        counts[order[i]], mpeg_video_picture_type_char (order[i]));
    separator = ", ";
  }
  if (sum (counts) > 0)
    g_string_append_c (out, ')');
}

static void
append_lost_text (const MpegStatEvent * event, GString * out)
{
  guint64 frames = sum (event->lost);

  if (frames == 1) {
    g_string_append_printf (out, "lost %c  number %" G_GINT64_FORMAT
        " in display order", mpeg_video_picture_type_char (event->type),
        event->display_number);
    return;
  }
  g_string_append (out, "lost ");
  append_by_type (out, event->lost);
  g_string_append_printf (out, "  numbers %" G_GINT64_FORMAT " to %"
      G_GINT64_FORMAT " in display order", event->display_number,
      event->display_number + (gint64) frames - 1);
}

static void
append_gop_text (const MpegStatEvent * event, GString * out)
{
  MpegStatValue time_code;

  mpegstat_event_get_value (event, MPEGSTAT_TIME_CODE, &time_code);
  g_string_append (out, "gop");
  if (time_code.type != MPEGSTAT_VALUE_NONE)
    g_string_append_printf (out, "  time code %s  pictures %u  "
        "rtp of tr 0 %9" G_GUINT64_FORMAT, time_code.s, event->gop.pictures,
        event->pts_90khz);
  g_string_append_printf (out, "%s%s", event->gop.closed ? "  closed" : "",
      event->gop.broken_link ? "  broken link" : "");
}

void
mpegstat_format_text (const MpegStatEvent * event, const gchar * name,
    GString * out)
{
  g_string_append_printf (out, "%s: ", name);

  switch (event->kind) {
    case MPEGSTAT_FRAME:
    case MPEGSTAT_INCOMPLETE:
      append_frame_text (event, out);
      break;
    case MPEGSTAT_LOST:
      append_lost_text (event, out);
      break;
    case MPEGSTAT_GOP:
      append_gop_text (event, out);
      break;
  }
  g_string_append_c (out, '\n');
}

void
mpegstat_format_summary (const MpegStatTotals * totals, gboolean knows_losses,
    const gchar * name, GString * out)
{
  g_string_append_printf (out, "%s: frames ", name);
  append_by_type (out, totals->frames);
  if (knows_losses) {
    g_string_append (out, ", lost ");
    append_by_type (out, totals->lost);
  } else {
    g_string_append (out, ", losses not known for H.264 and H.265");
  }
  g_string_append_printf (out, ", incomplete %" G_GUINT64_FORMAT ", GOPs %"
      G_GUINT64_FORMAT "\n", totals->incomplete, totals->gops);

  g_string_append_printf (out, "%s: %" G_GUINT64_FORMAT " bytes in ", name,
      sum (totals->bytes));
  append_time (out, totals->duration);
  g_string_append_printf (out, ", %.3f Mbit/s\n",
      totals->average_bitrate / 1e6);

  g_string_append_printf (out, "%s: latency ms min %.3f, median %.3f, "
      "95 %% %.3f, 99 %% %.3f, max %.3f, mean %.3f; jitter %.3f ms\n", name,
      totals->latency_min / MILLISECOND, totals->latency_median / MILLISECOND,
      totals->latency_p95 / MILLISECOND, totals->latency_p99 / MILLISECOND,
      totals->latency_max / MILLISECOND, totals->latency_mean / MILLISECOND,
      totals->jitter / MILLISECOND);
}
