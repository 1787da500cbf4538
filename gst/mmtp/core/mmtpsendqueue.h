/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packets of the stream that wait to be sent, or may have to be sent again
 * [4.4 of the paper]: one queue for each rank of pictures, in the order of their
 * deadlines. What is given up is given up with the rest of its frame, and with
 * what needs it. The queue knows no path: callers say by when a packet would
 * arrive if it were sent now. Times are ns; `arrival` is such a time. A packet is
 * late if it arrives more than the queue's delay (D0) after it was due.
 */

#pragma once

#include "mmtpsendpacket.h"

/* `is_needed`: others need the unit, so that a key frame would help */
typedef void (*MmtpDiscardFunc) (gpointer user_data, guint8 flags, gsize size,
    MmtpDiscard reason, gboolean is_needed);

/* Counters never go back. */
typedef struct
{
  guint64 buffers, bytes, packets;      /* put */
  guint64 sent_buffers;         /* all of it sent */
  guint64 discarded[MMTP_N_DISCARDS];
  guint64 discarded_keys, discarded_droppable;  /* of these */
  guint64 report_steps;         /* packets visited, to bound the work of a
                                 * REPORT */
} MmtpSendQueueStats;

typedef struct
{
  guint message;                /* maximum bytes of a DATA message */
  guint reserve;                /* bytes of it that stay free */
  guint64 capacity;             /* bytes that the paths bring in time, with all
                                 * headers; G_MAXUINT64: unknown */
  guint8 caps_version;
} MmtpPutLimits;

typedef struct _MmtpSendQueue MmtpSendQueue;

MmtpSendQueue *mmtp_send_queue_new (guint64 max_bytes,
    MmtpDiscardFunc discarded, gpointer user_data);
void mmtp_send_queue_free (MmtpSendQueue * queue);
void mmtp_send_queue_get_stats (const MmtpSendQueue * queue,
    MmtpSendQueueStats * stats);
/* D0 */
void mmtp_send_queue_set_delay (MmtpSendQueue * queue, guint64 delay);
guint64 mmtp_send_queue_get_delay (const MmtpSendQueue * queue);
/* When the packet has to have arrived */
guint64 mmtp_send_queue_get_deadline (const MmtpSendQueue * queue,
    const MmtpPacket * packet);

/* --- buffers come ---------------------------------------------------------- */

/* FALSE: discarded. A buffer without a due time is due at `now`. */
gboolean mmtp_send_queue_put (MmtpSendQueue * queue, guint64 now,
    const MmtpBuffer * buffer, const MmtpPutLimits * limits);
/* Whether a buffer of so many bytes fits in. When nothing waits, each does. */
gboolean mmtp_send_queue_fits (const MmtpSendQueue * queue, gsize size);
void mmtp_send_queue_flush (MmtpSendQueue * queue);

/* --- what waits ------------------------------------------------------------ */

gboolean mmtp_send_queue_is_empty (const MmtpSendQueue * queue);
guint64 mmtp_send_queue_get_bytes (const MmtpSendQueue * queue);
/* The same with all headers */
guint64 mmtp_send_queue_get_work (const MmtpSendQueue * queue);
/* Number of the next new packet, and below which nothing will be sent */
guint64 mmtp_send_queue_get_next_number (const MmtpSendQueue * queue);
guint64 mmtp_send_queue_get_floor (const MmtpSendQueue * queue);
/* bits per second that are put; 0: unknown yet */
guint64 mmtp_send_queue_get_bit_rate (const MmtpSendQueue * queue);
MmtpPacket *mmtp_send_queue_get_packet (const MmtpSendQueue * queue,
    guint64 number);
/* The most urgent packet, and the least; NULL: none waits */
MmtpPacket *mmtp_send_queue_get_head (const MmtpSendQueue * queue);
MmtpPacket *mmtp_send_queue_get_tail (const MmtpSendQueue * queue);

/* --- which packet is sent next --------------------------------------------- */

/* The most urgent packet of a rank; the one after it; NULL: none */
MmtpPacket *mmtp_send_queue_get_first (const MmtpSendQueue * queue,
    MmtpRank rank);
MmtpPacket *mmtp_send_queue_get_next (const MmtpSendQueue * queue,
    const MmtpPacket * packet);
/* The newest group of pictures of which a reference waits that arrives too late
 * at `arrival`; 0: none. What needs it waits with it. */
guint64 mmtp_send_queue_get_late_group (const MmtpSendQueue * queue,
    guint64 arrival);
/* The first packet of a rank that is not late at `arrival` and does not need the
 * late group; NULL: none */
MmtpPacket *mmtp_send_queue_find (const MmtpSendQueue * queue, MmtpRank rank,
    guint64 arrival, guint64 late_group);
/* Bytes of the packet's frame that wait, from this packet on, with all headers */
guint64 mmtp_send_queue_get_frame_work (const MmtpSendQueue * queue,
    const MmtpPacket * packet);
/* The last packet that was sent belongs to the same frame. */
gboolean mmtp_send_queue_has_begun (const MmtpSendQueue * queue,
    const MmtpPacket * packet);

/* --- what becomes of a packet ---------------------------------------------- */

/* It was sent as message `number` of that path. TRUE: for the first time */
gboolean mmtp_send_queue_note_sent (MmtpSendQueue * queue, MmtpPacket * packet,
    guint path, guint64 number);
/* A packet in flight waits again. FALSE: it is not in flight, or too late. */
gboolean mmtp_send_queue_requeue (MmtpSendQueue * queue, MmtpPacket * packet,
    guint64 arrival);
/* A lost packet will not be sent again: what needs it is of little use. */
void mmtp_send_queue_note_lost (MmtpSendQueue * queue, MmtpPacket * packet);
/* A lost packet that is only likely to be in time waits outside the queue */
void mmtp_send_queue_set_speculative (MmtpSendQueue * queue,
    MmtpPacket * packet);
const GQueue *mmtp_send_queue_get_speculative (const MmtpSendQueue * queue);
void mmtp_send_queue_drop_speculative (MmtpSendQueue * queue,
    MmtpPacket * packet);
/* The receiver has, or does not want, all below a number: its low 32 bits */
void mmtp_send_queue_settle (MmtpSendQueue * queue, guint32 low);
/* Gives up what would be late, then forgets what was sent and is late */
void mmtp_send_queue_expire (MmtpSendQueue * queue, guint64 arrival);
void mmtp_send_queue_forget_late (MmtpSendQueue * queue, guint64 now);
