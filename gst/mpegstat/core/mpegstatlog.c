/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mpegstatlog.h: the log file of the element mpegstat. */

#include "mpegstatlog.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "mpegstatformat.h"

void
mpegstat_log_init (MpegStatLog * log)
{
  log->fd = -1;
  log->format = MPEGSTAT_LOG_CSV;
  log->line = g_string_new (NULL);
}

void
mpegstat_log_clear (MpegStatLog * log)
{
  mpegstat_log_close (log);
  g_string_free (log->line, TRUE);
}

/* Writes log->line to the log. Returns 0 on success, or the errno value of an
 * error. After an error, the log is closed, and the stream continues without a
 * log.
 */
static gint
write_line (MpegStatLog * log)
{
  const gchar *text = log->line->str;
  gsize size = log->line->len;
  gssize written;
  gint error;

  while (size > 0) {
    written = write (log->fd, text, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0) {
      error = errno;
      mpegstat_log_close (log);
      return error;
    }
    text += written;
    size -= written;
  }
  return 0;
}

gint
mpegstat_log_open (MpegStatLog * log, const gchar * location,
    MpegStatLogFormat format)
{
  log->format = format;
  if (g_str_equal (location, MPEGSTAT_LOG_STDOUT))
    log->fd = STDOUT_FILENO;
  else
    log->fd = g_open (location, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return log->fd < 0 ? errno : 0;
}

gboolean
mpegstat_log_is_open (const MpegStatLog * log)
{
  return log->fd >= 0;
}

gint
mpegstat_log_write_header (MpegStatLog * log)
{
  if (log->format != MPEGSTAT_LOG_CSV)
    return 0;
  g_string_truncate (log->line, 0);
  mpegstat_format_csv_header (log->line);
  return write_line (log);
}

gint
mpegstat_log_write (MpegStatLog * log, const MpegStatEvent * event)
{
  g_string_truncate (log->line, 0);
  if (log->format == MPEGSTAT_LOG_JSON)
    mpegstat_format_json (event, log->line);
  else
    mpegstat_format_csv (event, log->line);
  return write_line (log);
}

void
mpegstat_log_close (MpegStatLog * log)
{
  if (log->fd >= 0 && log->fd != STDOUT_FILENO)
    g_close (log->fd, NULL);
  log->fd = -1;
}
