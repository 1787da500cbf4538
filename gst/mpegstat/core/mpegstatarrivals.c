/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mpegstatarrivals.h. The arrival time of a buffer is needed
 * as long as a frame may end in this buffer. When a frame that ends in a later
 * buffer is output, the arrival time is deleted. */

#include "mpegstatarrivals.h"

#include <string.h>

/* Maximum number of buffers whose arrival times are stored. If a frame consists
 * of more buffers, the last of these buffers share one arrival time, which is
 * that of the latest buffer. */
#define MAX_PIECES 4096

typedef struct
{
  /* number of bytes of the stream from the last reset to the end of this buffer
   */
  guint64 end;
  MpegStatTime time;
} Piece;

struct _MpegStatArrivals
{
  /* Ring buffer of the arrival times of buffers. Its oldest element has the
   * index `first`. */
  Piece pieces[MAX_PIECES];
  guint first, n_pieces;
  guint64 received;             /* in bytes */
  /* total size in bytes of all frames that the framer has output since this
   * struct was reset */
  guint64 framed;
  /* Value that the framer's counter of junk bytes (bytes that belong to no
   * frame) had when this struct was reset */
  guint64 junk;
  MpegStatTime last;
};

MpegStatArrivals *
mpegstat_arrivals_new (void)
{
  return g_new0 (MpegStatArrivals, 1);
}

void
mpegstat_arrivals_free (MpegStatArrivals * arrivals)
{
  g_free (arrivals);
}

void
mpegstat_arrivals_reset (MpegStatArrivals * arrivals, guint64 junk)
{
  arrivals->first = arrivals->n_pieces = 0;
  arrivals->received = arrivals->framed = 0;
  arrivals->junk = junk;
}

void
mpegstat_arrivals_input (MpegStatArrivals * arrivals, gsize bytes,
    const MpegStatTime * time)
{
  Piece *piece;

  arrivals->received += bytes;
  arrivals->last = *time;

  if (arrivals->n_pieces < MAX_PIECES)
    arrivals->n_pieces++;
  piece = &arrivals->pieces[(arrivals->first + arrivals->n_pieces - 1) %
      MAX_PIECES];
  piece->end = arrivals->received;
  piece->time = *time;
}

void
mpegstat_arrivals_take (MpegStatArrivals * arrivals, gsize size, guint64 junk,
    MpegStatTime * time)
{
  guint64 end;

  arrivals->framed += size;
  end = arrivals->framed + junk - arrivals->junk;

  /* The arrival time of the buffer that contains the last byte of the frame is
   * kept, because the next frame may end in the same buffer. */
  while (arrivals->n_pieces > 0 && arrivals->pieces[arrivals->first].end < end) {
    arrivals->first = (arrivals->first + 1) % MAX_PIECES;
    arrivals->n_pieces--;
  }

  *time = arrivals->n_pieces > 0 ?
      arrivals->pieces[arrivals->first].time : arrivals->last;
}
