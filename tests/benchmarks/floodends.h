/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions for benchmarks that push packets into a sink. They start the source
 * in a separate process, and the sink in the process of the benchmark.
 *
 * Call flood_start_source before flood_open_sink. flood_start_source forks, and
 * GStreamer must not be initialized before this fork. */

#pragma once

#include <gst/gst.h>

#include <sys/types.h>

#define FLOOD_HEADER_SIZE 12    /* of RTP */
#define FLOOD_TIMESTAMP_OFFSET 4
#define FLOOD_SSRC_OFFSET 8
#define FLOOD_SSRC 2
#define FLOOD_FILLING 0x47      /* each byte after the header */

/* State that both processes share */
typedef struct
{
  gint is_listening;
  gint received;                /* number of packets that the source output */
  /* number of buffers and buffer lists that the source output; a list counts
   * once, however many packets it has */
  gint noted;
  gint64 received_at;           /* us, monotonic */
} FloodShared;

/* Prints an error and ends the program. */
G_GNUC_NORETURN void flood_fail (const gchar * what);
/* Starts the source in a new process and waits until the source is in the state
 * PLAYING. `description` is an element with its properties, as in a launch
 * line. If `start` is not NULL, the new process calls this function before it
 * does anything else. The new process is killed when the calling process
 * ends. */
FloodShared *flood_start_source (const gchar * description,
    void (*start) (void), pid_t * pid);
/* Starts the sink in this process. Returns a source pad that is linked to the
 * sink, so that RTP packets can be pushed into it. `description` is an element
 * with its properties. */
GstPad *flood_open_sink (const gchar * description);
/* Makes a buffer. If `list_size` is more than 1, makes a list of `list_size`
 * buffers. Each buffer is an RTP packet of `size` bytes. The RTP timestamp is
 * the number of the packet, counted from 0. */
GstMiniObject *flood_make (gsize size, guint list_size);
/* Pushes a buffer or a buffer list into the sink, and takes ownership of it. */
void flood_push (GstPad * pad, GstMiniObject * packets);
