/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A text file that an element writes, such as a log. The name "-" stands for
 * standard output. Each write is passed to the system at once, so that another
 * program can read the lines while the pipeline runs.
 *
 * The cores, which contain the protocols, do no I/O. They only format the
 * lines, and the elements write them with these functions.
 *
 * The code is not thread safe. The owner of a GstOutputFile protects it. */

#pragma once

#include <glib.h>

#define GST_OUTPUT_FILE_STDOUT "-" /* stands for standard output */

typedef struct
{
  gint fd;                      /* -1: no file is open */
} GstOutputFile;

/* Afterwards, no file is open. */
void gst_output_file_init (GstOutputFile * file);
/* Opens and overwrites the file `location`. Returns 0, or an errno value if the
 * file could not be opened. No file may be open before. */
gint gst_output_file_open (GstOutputFile * file, const gchar * location);
gboolean gst_output_file_is_open (const GstOutputFile * file);
/* Writes `size` bytes to the open file. Returns 0, or an errno value if the
 * file was closed because of an error. */
gint gst_output_file_write (GstOutputFile * file, const gchar * text,
    gsize size);
/* Closes the file, if one is open. Standard output itself stays open. */
void gst_output_file_close (GstOutputFile * file);
