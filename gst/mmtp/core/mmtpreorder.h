/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reorder buffer of the receiver. It puts the packets of all paths into the
 * order of the stream, removes duplicates, and reassembles the media buffers,
 * which may consist of several packets.
 *
 * Packets that arrive in order are passed on immediately. If a packet is
 * missing, the packets after it wait until their deadlines. The missing packet
 * is then skipped, and the whole media buffer to which it belongs is dropped.
 *
 * A packet that arrives a little after its deadline is still accepted, unless a
 * later packet of the stream has already been passed on. The late packet is
 * useful, because later pictures may refer to its picture.
 * mmtp_reorder_set_max_lateness() sets how late such a packet may be.
 */

#pragma once

#include "mmtppacket.h"

typedef enum
{
  MMTP_REORDER_TAKEN,
  MMTP_REORDER_DUPLICATE,
  /* The packet was refused: it arrived too long after its deadline, or later
   * packets of the stream had already been passed on. */
  MMTP_REORDER_LATE,
  MMTP_REORDER_NO_ROOM
} MmtpReorderResult;

typedef struct
{
  DatagramSlice data;
  /* Due time of the buffer in us, on the sender's clock. This is the time at
   * which the buffer would be shown if the network took no time. */
  guint64 due;
  guint64 deadline;             /* in ns */
  guint8 flags;                 /* flags of MMTP_FLAGS_OF_BUFFER */
  guint8 caps_version;
  MmtpPrelude prelude;
  /* TRUE if the buffer directly before this buffer in the stream is missing */
  gboolean discont;
} MmtpReorderedBuffer;

typedef struct
{
  guint64 packets;              /* accepted packets */
  guint64 duplicates;
  guint64 late;                 /* packets refused with MMTP_REORDER_LATE */
  guint64 missing;              /* number of skipped packets */
  guint64 incomplete;           /* number of dropped buffers */
  /* number of packets that were dropped because the reorder buffer would
   * otherwise have held more than max_bytes bytes */
  guint64 no_room;
  /* Number of packets that were dropped because the buffer to which they belong
   * would, on its own, need more than max_bytes. These packets are also counted
   * in `no_room`. */
  guint64 too_long;
  /* number of bytes that the reorder buffer holds at present: the payloads of
   * packets and buffers, and the memory for managing them */
  guint64 held_bytes;
  /* Number of steps that all loops of the reorder buffer have made, which is a
   * measure of its work. A step is, for example, a visited packet or a visited
   * word of a bitmap. Tests check that the work per packet is limited. */
  guint64 steps;
} MmtpReorderStats;

typedef struct _MmtpReorder MmtpReorder;

/* Creates a reorder buffer that holds at most `max_bytes` bytes. */
MmtpReorder *mmtp_reorder_new (guint64 max_bytes);
void mmtp_reorder_free (MmtpReorder * reorder);
/* Sets how long after its deadline a packet is still accepted, in ns. The
 * default is 0. The function may be called at any time, and the new value
 * applies to packets that arrive later. */
void mmtp_reorder_set_max_lateness (MmtpReorder * reorder,
    guint64 max_lateness);

/* Adds a packet that has arrived at the time `now`. `due` is its complete due
 * time in us. The packet itself contains only the low 32 bits of the due time
 * (data->due), and the caller has reconstructed the rest. `deadline` is in ns.
 *
 * If the packet contains a whole buffer that can be output immediately, this
 * buffer refers to the payload in data->block. Otherwise the payload is copied.
 */
MmtpReorderResult mmtp_reorder_add (MmtpReorder * reorder, guint64 now,
    const MmtpData * data, guint64 due, guint64 deadline);
/* Records that no packet with a stream number below `floor` will arrive any
 * more, so that the reorder buffer does not wait for such packets. `floor`
 * contains only the low 32 bits of the stream number. */
void mmtp_reorder_set_floor (MmtpReorder * reorder, guint32 floor);
/* Moves all deadlines by `shift` ns, because the initial delay (D0, the latency
 * of the session) has changed. If the deadlines become earlier, waiting packets
 * may become too late. A packet counts as late if its new deadline plus the
 * maximum lateness has passed. */
void mmtp_reorder_shift_deadlines (MmtpReorder * reorder, guint64 now,
    gint64 shift);
void mmtp_reorder_timeout (MmtpReorder * reorder, guint64 now);
/* Returns the time in ns at which mmtp_reorder_timeout() must be called next.
 * This is usually the earliest deadline of a waiting packet. At this time, the
 * reorder buffer stops waiting for the missing packets before that packet.
 * Returns MMTP_NEVER if no packet waits. */
guint64 mmtp_reorder_next_wakeup (MmtpReorder * reorder);

/* Returns the next complete buffer, but does not remove it. Returns NULL if
 * there is none. The buffer belongs to the MmtpReorder until mmtp_reorder_poll
 * () removes it. */
const MmtpReorderedBuffer *mmtp_reorder_peek (MmtpReorder * reorder);
/* Returns the earliest deadline of all complete buffers; MMTP_NEVER if there is
 * none. */
guint64 mmtp_reorder_get_output_deadline (MmtpReorder * reorder);
/* Removes the next complete buffer and stores it in `buffer`. The caller owns
 * the data of the buffer. Returns FALSE if there is no complete buffer. */
gboolean mmtp_reorder_poll (MmtpReorder * reorder,
    MmtpReorderedBuffer * buffer);
/* Drops the next complete buffer, for example because its caps have not
 * arrived. The statistics count it in `incomplete`. */
void mmtp_reorder_drop (MmtpReorder * reorder);

/* Returns the stream number of the packet that is expected next. All packets
 * with lower numbers have arrived or were skipped. */
guint64 mmtp_reorder_get_next (const MmtpReorder * reorder);
const MmtpReorderStats *mmtp_reorder_get_stats (const MmtpReorder * reorder);
