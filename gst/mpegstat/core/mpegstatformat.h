/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats an event as a row of a CSV file, as a JSON object, or as a line of
 * text for people. The code depends on GLib only and does no I/O.
 */

#pragma once

#include "mpegstatcore.h"

typedef enum
{
  MPEGSTAT_VALUE_NONE,          /* The event has no value in this column. */
  MPEGSTAT_VALUE_STRING,
  MPEGSTAT_VALUE_INT,
  MPEGSTAT_VALUE_UINT,
  MPEGSTAT_VALUE_BOOLEAN
} MpegStatValueType;

typedef struct
{
  MpegStatValueType type;
  gint64 i;                     /* INT, BOOLEAN */
  guint64 u;                    /* UINT */
  gchar s[24];                  /* STRING */
} MpegStatValue;

const gchar *mpegstat_column_name (MpegStatColumn column);
void mpegstat_event_get_value (const MpegStatEvent * event,
    MpegStatColumn column, MpegStatValue * value);

/* Each of these functions appends one or more complete lines to `out`. Each
 * line ends with a newline character. */
void mpegstat_format_csv_header (GString * out);
void mpegstat_format_csv (const MpegStatEvent * event, GString * out);
void mpegstat_format_json (const MpegStatEvent * event, GString * out);
void mpegstat_format_text (const MpegStatEvent * event, const gchar * name,
    GString * out);
/* If `knows_losses` is TRUE, the summary contains the number of lost frames.
 * `knows_losses` is FALSE for codecs other than MPEG-1/2, such as H.264,
 * because their losses cannot be detected. The summary then says that the
 * losses are not known. */
void mpegstat_format_summary (const MpegStatTotals * totals,
    gboolean knows_losses, const gchar * name, GString * out);
