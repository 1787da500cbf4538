/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions for benchmarks that push packets into a sink. The sink runs in the
 * process of the benchmark, and the source runs in a process of its own.
 *
 * A benchmark has to call flood_start_source before flood_open_sink. The reason
 * is that flood_start_source forks, and GStreamer must not be initialized
 * before the fork. */

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
  /* number of packets that the source has output */
  gint received;
  /* Number of buffers and buffer lists that the source has output. A list
   * counts once, even if it has many packets. */
  gint noted;
  gint64 received_at;           /* us, monotonic */
} FloodShared;

/* Prints the error `what` and ends the program. */
G_GNUC_NORETURN void flood_fail (const gchar * what);
/* Starts the source in a new process, and waits until the source is in the
 * state PLAYING. `description` is the source element with its properties, as in
 * a launch line. If `start` is not NULL, the new process calls `start` first.
 * The new process is killed when the process of the benchmark ends. */
FloodShared *flood_start_source (const gchar * description,
    void (*start) (void), pid_t * pid);
/* Starts the sink in the calling process. Returns a source pad that is linked
 * to the sink. The caller pushes RTP packets into this pad. `description` is
 * the sink element with its properties, as in a launch line. */
GstPad *flood_open_sink (const gchar * description);
/* Makes the next RTP packet as a buffer of `size` bytes. If `list_size` is more
 * than 1, makes a buffer list of `list_size` such packets. The RTP timestamp of
 * a packet is its number, counted from 0. */
GstMiniObject *flood_make (gsize size, guint list_size);
/* Pushes a buffer or a buffer list into the sink. Takes ownership of `packets`.
 */
void flood_push (GstPad * pad, GstMiniObject * packets);
