/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log of the element mpegstat. It is a file or standard output. Each event
 * is written when it occurs.
 */

#pragma once

#include "mpegstatcore.h"

#define MPEGSTAT_LOG_STDOUT "-" /* stands for standard output */

typedef enum
{
  /* comma-separated values: a header line, then one line per event */
  MPEGSTAT_LOG_CSV,
  /* one line per event; each line is a JSON object */
  MPEGSTAT_LOG_JSON
} MpegStatLogFormat;

typedef struct
{
  gint fd;                      /* -1: no log is open */
  MpegStatLogFormat format;
  GString *line;                /* memory for formatting a line */
} MpegStatLog;

void mpegstat_log_init (MpegStatLog * log);
void mpegstat_log_clear (MpegStatLog * log);

/* Opens the log and overwrites the file. Returns 0 on success, or an errno
 * value if the log cannot be opened. */
gint mpegstat_log_open (MpegStatLog * log, const gchar * location,
    MpegStatLogFormat format);
gboolean mpegstat_log_is_open (const MpegStatLog * log);
/* mpegstat_log_write_header () writes the header line of a CSV log, and
 * mpegstat_log_write () writes the line of an event. Both return 0, or an errno
 * value if the log was closed because of an error. */
gint mpegstat_log_write_header (MpegStatLog * log);
gint mpegstat_log_write (MpegStatLog * log, const MpegStatEvent * event);
void mpegstat_log_close (MpegStatLog * log);
