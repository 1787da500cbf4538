/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log of mpegstat: a file, or standard output, to which each event is written
 * as it happens.
 */

#pragma once

#include "mpegstatcore.h"

#define MPEGSTAT_LOG_STDOUT "-" /* location of standard output */

typedef enum
{
  MPEGSTAT_LOG_CSV,             /* a header line, then one row for each event */
  MPEGSTAT_LOG_JSON             /* one object for each event, in a line */
} MpegStatLogFormat;

typedef struct
{
  gint fd;                      /* -1: there is no log. */
  MpegStatLogFormat format;
  GString *line;                /* memory for the line at hand */
} MpegStatLog;

void mpegstat_log_init (MpegStatLog * log);
void mpegstat_log_clear (MpegStatLog * log);

/* Overwrites the file. Returns 0, or errno, and then there is no log. */
gint mpegstat_log_open (MpegStatLog * log, const gchar * location,
    MpegStatLogFormat format);
gboolean mpegstat_log_is_open (const MpegStatLog * log);
/* The header line of CSV, and the line of an event. They return 0, or errno, and
 * then the log was closed. */
gint mpegstat_log_write_header (MpegStatLog * log);
gint mpegstat_log_write (MpegStatLog * log, const MpegStatEvent * event);
void mpegstat_log_close (MpegStatLog * log);
