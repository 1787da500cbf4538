/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packets of all channels in the order of the stream, each once, and the
 * buffers put together from them. What is in order goes at once; a gap waits
 * until the deadline of what is behind it, and is skipped then. A buffer of
 * which something is missing is dropped whole.
 */

#pragma once

#include "mmtppacket.h"

typedef enum
{
  MMTP_REORDER_TAKEN,
  MMTP_REORDER_DUPLICATE,
  MMTP_REORDER_LATE,            /* its deadline or its turn is over */
  MMTP_REORDER_NO_ROOM
} MmtpReorderResult;

typedef struct
{
  GBytes *data;
  guint64 due;                  /* us, on the sender's clock */
  guint64 deadline;             /* ns */
  guint8 flags;                 /* of MMTP_FLAGS_OF_BUFFER */
  guint8 caps_version;
  MmtpPrelude prelude;
  gboolean discont;             /* something before it is missing */
} MmtpReorderedBuffer;

typedef struct
{
  guint64 packets;              /* taken */
  guint64 duplicates;
  guint64 late;
  guint64 missing;              /* skipped */
  guint64 incomplete;           /* buffers */
  guint64 no_room;              /* packets */
  guint64 too_long;             /* of these, those whose buffer alone is longer
                                 * than what may be held */
  guint64 held_bytes;           /* now, with what they cost beside the
                                 * payload */
  guint64 steps;                /* entries visited, to bound the work of a
                                 * packet */
} MmtpReorderStats;

typedef struct _MmtpReorder MmtpReorder;

/* `max_bytes`: that are held */
MmtpReorder *mmtp_reorder_new (guint64 max_bytes);
void mmtp_reorder_free (MmtpReorder * reorder);

/* `due`: whole, us; `deadline`: ns. The payload is copied. */
MmtpReorderResult mmtp_reorder_add (MmtpReorder * reorder, guint64 now,
    const MmtpData * data, guint64 due, guint64 deadline);
/* No more will come of what is below this stream number (low 32 bits). */
void mmtp_reorder_set_floor (MmtpReorder * reorder, guint32 floor);
/* All deadlines are so much later, ns, or earlier: what is over now is late. */
void mmtp_reorder_shift_deadlines (MmtpReorder * reorder, guint64 now,
    gint64 shift);
void mmtp_reorder_timeout (MmtpReorder * reorder, guint64 now);
/* MMTP_NEVER: no gap waits */
guint64 mmtp_reorder_next_wakeup (MmtpReorder * reorder);

/* The next buffer that may go out, the MmtpReorder's until polled; NULL:
 * none */
const MmtpReorderedBuffer *mmtp_reorder_peek (MmtpReorder * reorder);
/* The earliest deadline of all buffers that wait to be polled; MMTP_NEVER: none
 * waits */
guint64 mmtp_reorder_get_output_deadline (const MmtpReorder * reorder);
/* The caller owns the data. */
gboolean mmtp_reorder_poll (MmtpReorder * reorder,
    MmtpReorderedBuffer * buffer);
/* Drops the next buffer: it counts as incomplete. */
void mmtp_reorder_drop (MmtpReorder * reorder);

/* Stream number of the next packet that is missing */
guint64 mmtp_reorder_get_next (const MmtpReorder * reorder);
const MmtpReorderStats *mmtp_reorder_get_stats (const MmtpReorder * reorder);
