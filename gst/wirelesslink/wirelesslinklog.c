/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of wirelesslinklog.h: writes the log file and the pattern file
 * of wirelesslink. */

#include "wirelesslinklog.h"

#include "gstoutputfile.h"
#include "linkpattern.h"

#define FLUSH_BYTES 32768

#define LOG_HEAD \
    "# wirelesslink-log 1\n" \
    "# packet time_ns flow station index size_bytes fate attempts arrival_ns " \
    "departure_ns airtime_ns damaged_bytes\n" \
    "# quality time_ns station value\n" \
    "# call time_ns state\n"

typedef struct
{
  gchar *name;
  GstOutputFile file;           /* not open after an error */
  GString *text;                /* not written yet */
} Output;

struct _WirelessLinkLog
{
  Output fates, pattern;
  guint64 flushed;              /* link time in ns of the last flush */
};

static gboolean
output_open (Output * output, const gchar * name, const gchar * head,
    GError ** error)
{
  gint problem;

  if (!name)
    return TRUE;
  problem = gst_output_file_open (&output->file, name);
  if (problem != 0) {
    g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (problem),
        "could not open the log \"%s\" for writing: %s. Set a file in a "
        "directory that exists and may be written to", name,
        g_strerror (problem));
    return FALSE;
  }
  output->name = g_strdup (name);
  output->text = g_string_new (head);
  return TRUE;
}

static void
output_clear (Output * output)
{
  gst_output_file_close (&output->file);
  g_free (output->name);
  if (output->text)
    g_string_free (output->text, TRUE);
}

static gboolean
output_flush (Output * output, GError ** error)
{
  gint problem;

  if (!gst_output_file_is_open (&output->file))
    return TRUE;
  problem = gst_output_file_write (&output->file, output->text->str,
      output->text->len);
  g_string_truncate (output->text, 0);
  if (problem == 0)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (problem),
      "could not write to the log \"%s\", which ends here: %s. Check the disk, "
      "or set another location", output->name, g_strerror (problem));
  return FALSE;
}

WirelessLinkLog *
wireless_link_log_new (const gchar * location, const gchar * pattern,
    guint64 seed, GError ** error)
{
  WirelessLinkLog *log = g_new0 (WirelessLinkLog, 1);
  gchar *head = link_pattern_format_head (seed);

  gst_output_file_init (&log->fates.file);
  gst_output_file_init (&log->pattern.file);
  if (!output_open (&log->fates, location, LOG_HEAD, error)
      || !output_open (&log->pattern, pattern, head, error))
    g_clear_pointer (&log, wireless_link_log_free);
  g_free (head);
  return log;
}

void
wireless_link_log_free (WirelessLinkLog * log)
{
  wireless_link_log_flush (log, NULL);
  output_clear (&log->fates);
  output_clear (&log->pattern);
  g_free (log);
}

gboolean
wireless_link_log_flush (WirelessLinkLog * log, GError ** error)
{
  gboolean fates = output_flush (&log->fates, error);
  gboolean pattern = output_flush (&log->pattern, fates ? error : NULL);

  return fates && pattern;
}

static void
append_packet (GString * text, const LinkEvent * event)
{
  const LinkPacket *packet = &event->packet;

  g_string_append_printf (text, "packet %" G_GUINT64_FORMAT " %u %u %"
      G_GUINT64_FORMAT " %u %s %u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
      " %" G_GUINT64_FORMAT " %u\n", event->time, packet->flow,
      packet->station, packet->index, packet->size,
      link_fate_get_name (packet->fate), packet->attempts, packet->arrival,
      packet->departure, packet->airtime, packet->n_damage);
}

static void
append_event (GString * text, const LinkEvent * event)
{
  gchar value[G_ASCII_DTOSTR_BUF_SIZE];

  switch (event->type) {
    case LINK_EVENT_FATE:
      append_packet (text, event);
      break;
    case LINK_EVENT_QUALITY:
      /* independent of the locale */
      g_ascii_formatd (value, sizeof (value), "%.6f", event->quality);
      g_string_append_printf (text, "quality %" G_GUINT64_FORMAT " %u %s\n",
          event->time, event->station, value);
      break;
    case LINK_EVENT_CALL:
      g_string_append_printf (text, "call %" G_GUINT64_FORMAT " %s\n",
          event->time, link_call_get_name (event->call));
      break;
  }
}

static void
append_pattern (GString * text, const LinkPacket * packet)
{
  gchar *line = link_pattern_format_packet (packet);

  if (line)
    g_string_append (text, line);
  g_free (line);
}

static gboolean
is_full (const Output * output)
{
  return gst_output_file_is_open (&output->file)
      && output->text->len >= FLUSH_BYTES;
}

gboolean
wireless_link_log_event (WirelessLinkLog * log, const LinkEvent * event,
    GError ** error)
{
  if (gst_output_file_is_open (&log->fates.file))
    append_event (log->fates.text, event);
  if (gst_output_file_is_open (&log->pattern.file)
      && event->type == LINK_EVENT_FATE)
    append_pattern (log->pattern.text, &event->packet);
  if (event->time < log->flushed + LINK_SECOND && !is_full (&log->fates)
      && !is_full (&log->pattern))
    return TRUE;
  log->flushed = event->time;
  return wireless_link_log_flush (log, error);
}
