/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstoutputfile.h: a text file that an element writes. */

#include "gstoutputfile.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <glib/gstdio.h>

void
gst_output_file_init (GstOutputFile * file)
{
  file->fd = -1;
}

gint
gst_output_file_open (GstOutputFile * file, const gchar * location)
{
  if (g_str_equal (location, GST_OUTPUT_FILE_STDOUT))
    file->fd = STDOUT_FILENO;
  else
    file->fd =
        g_open (location, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file->fd < 0 ? errno : 0;
}

gboolean
gst_output_file_is_open (const GstOutputFile * file)
{
  return file->fd >= 0;
}

gint
gst_output_file_write (GstOutputFile * file, const gchar * text, gsize size)
{
  gssize written;
  gint error;

  while (size > 0) {
    written = write (file->fd, text, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0) {
      error = errno;
      gst_output_file_close (file);
      return error;
    }
    text += written;
    size -= written;
  }
  return 0;
}

void
gst_output_file_close (GstOutputFile * file)
{
  if (file->fd >= 0 && file->fd != STDOUT_FILENO)
    g_close (file->fd, NULL);
  file->fd = -1;
}
