/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reorder buffer of the receiver. It puts the packets of all paths into the
 * order of the stream, removes duplicates, and reassembles the buffers. Packets
 * in order are passed on immediately. If a packet is missing, the packets after
 * it wait until their deadline, and the missing packet is then skipped. If a
 * packet of a buffer is skipped, the whole buffer is dropped.
 *
 * A packet that arrives a little after its deadline is accepted if no later
 * packet of the stream has been passed on yet. It is useful, because later
 * pictures may refer to its picture. mmtp_reorder_set_max_lateness() sets how
 * late such a packet may be.
 */

#pragma once

#include "mmtppacket.h"

typedef enum
{
  MMTP_REORDER_TAKEN,
  MMTP_REORDER_DUPLICATE,
  /* The packet arrived too long after its deadline, or later packets were
   * passed on already. */
  MMTP_REORDER_LATE,
  MMTP_REORDER_NO_ROOM
} MmtpReorderResult;

typedef struct
{
  DatagramSlice data;
  /* time at which the buffer would be shown if the network had no delay, on the
   * sender's clock, in us */
  guint64 due;
  guint64 deadline;             /* in ns */
  guint8 flags;                 /* flags of MMTP_FLAGS_OF_BUFFER */
  guint8 caps_version;
  MmtpPrelude prelude;
  /* TRUE if the buffer before this buffer is missing */
  gboolean discont;
} MmtpReorderedBuffer;

typedef struct
{
  guint64 packets;              /* accepted packets */
  guint64 duplicates;
  guint64 late;                 /* packets refused with MMTP_REORDER_LATE */
  guint64 missing;              /* number of skipped packets */
  guint64 incomplete;           /* number of dropped buffers */
  /* number of packets dropped because the receiver would have held more than
   * max_bytes bytes */
  guint64 no_room;
  /* Number of packets that were dropped because their buffer alone would be
   * larger than max_bytes. They are also counted in `no_room`. */
  guint64 too_long;
  /* number of bytes that the reorder buffer holds at present: the payloads of
   * the packets, and the memory that each packet needs in addition */
  guint64 held_bytes;
  /* Number of steps of all loops, for example the packets and the words of
   * bitmaps that were visited. Tests check with this counter that the work per
   * packet is limited. */
  guint64 steps;
} MmtpReorderStats;

typedef struct _MmtpReorder MmtpReorder;

/* Creates a reorder buffer that holds at most `max_bytes` bytes. */
MmtpReorder *mmtp_reorder_new (guint64 max_bytes);
void mmtp_reorder_free (MmtpReorder * reorder);
/* Sets how long after its deadline a packet is still accepted, in ns. The
 * default is 0. It may be changed at any time, and applies to later packets. */
void mmtp_reorder_set_max_lateness (MmtpReorder * reorder,
    guint64 max_lateness);

/* Adds a packet. The packet contains only the low 32 bits of its due time, in
 * data->due. The caller reconstructs the complete due time from them and passes
 * it as `due`, in us. `deadline` is in ns.
 *
 * If the packet contains a whole buffer that can be output immediately, the
 * output buffer is a slice of data->block. Otherwise the payload is copied. */
MmtpReorderResult mmtp_reorder_add (MmtpReorder * reorder, guint64 now,
    const MmtpData * data, guint64 due, guint64 deadline);
/* Records that no packet with a stream number below `floor` will arrive any
 * more. `floor` contains the low 32 bits of a stream number. */
void mmtp_reorder_set_floor (MmtpReorder * reorder, guint32 floor);
/* Moves all deadlines by `shift` ns, because the initial delay (D0) has
 * changed. A waiting packet counts as late if its new deadline passed more than
 * the maximum lateness ago. */
void mmtp_reorder_shift_deadlines (MmtpReorder * reorder, guint64 now,
    gint64 shift);
void mmtp_reorder_timeout (MmtpReorder * reorder, guint64 now);
/* Returns the time in ns at which the receiver stops waiting for the missing
 * packets before the waiting packet with the earliest deadline. Returns
 * MMTP_NEVER if no packet waits. */
guint64 mmtp_reorder_next_wakeup (MmtpReorder * reorder);

/* Returns the next complete buffer, or NULL if there is none. The buffer
 * belongs to the MmtpReorder until mmtp_reorder_poll () takes it. */
const MmtpReorderedBuffer *mmtp_reorder_peek (MmtpReorder * reorder);
/* Returns the earliest deadline of all complete buffers; MMTP_NEVER if there is
 * none. */
guint64 mmtp_reorder_get_output_deadline (MmtpReorder * reorder);
/* Removes the next complete buffer and stores it in `buffer`. The caller owns
 * the data of the buffer. Returns FALSE if there is no complete buffer. */
gboolean mmtp_reorder_poll (MmtpReorder * reorder,
    MmtpReorderedBuffer * buffer);
/* Drops the next complete buffer. The statistics count it as an incomplete
 * buffer. */
void mmtp_reorder_drop (MmtpReorder * reorder);

/* Returns the stream number of the packet that is expected next. All packets
 * with lower numbers have arrived or were skipped. */
guint64 mmtp_reorder_get_next (const MmtpReorder * reorder);
const MmtpReorderStats *mmtp_reorder_get_stats (const MmtpReorder * reorder);
