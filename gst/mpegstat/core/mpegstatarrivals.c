/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Remembers which bytes came when, until a frame takes them; see the header. */

#include "mpegstatarrivals.h"

#include <string.h>

/* A frame in more pieces than this is late by its last ones together. */
#define MAX_PIECES 4096

typedef struct
{
  guint64 end;                  /* bytes of the stream up to here */
  MpegStatTime time;
} Piece;

struct _MpegStatArrivals
{
  Piece pieces[MAX_PIECES];     /* a ring, oldest at first */
  guint first, n_pieces;
  guint64 received;             /* bytes */
  guint64 framed;               /* bytes, in frames */
  guint64 junk;                 /* the framer's counter at reset */
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

  /* The piece with the frame's last byte stays: the next may begin there. */
  while (arrivals->n_pieces > 0 && arrivals->pieces[arrivals->first].end < end) {
    arrivals->first = (arrivals->first + 1) % MAX_PIECES;
    arrivals->n_pieces--;
  }

  *time = arrivals->n_pieces > 0 ?
      arrivals->pieces[arrivals->first].time : arrivals->last;
}
