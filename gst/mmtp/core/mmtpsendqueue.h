/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queue of the packets of the stream that wait to be sent or may have to be
 * retransmitted [4.4 of the MMTP paper]. The waiting packets are in one list
 * for each MmtpRank (the importance of a buffer). Each list is ordered by
 * deadline. When a buffer is dropped, the rest of its frame is dropped as well,
 * and so are all frames that refer to this frame.
 *
 * The queue does not depend on the paths: the callers pass `arrival`, the time
 * at which a packet sent now would arrive. A packet is late if it arrives later
 * than its due time plus the queue's delay, which is the initial delay (D0).
 * Times are in ns.
 */

#pragma once

#include "mmtpplan.h"

/* Called for each buffer that the queue drops. `is_needed` is TRUE if a new key
 * frame would help. There are two such cases: other buffers refer to the
 * dropped buffer, or the buffer was dropped because it refers to another
 * dropped buffer. */
typedef void (*MmtpDiscardFunc) (gpointer user_data, const MmtpUnit * unit,
    MmtpDiscard reason, gboolean is_needed);

/* Counters of the queue. They never decrease. */
typedef struct
{
  /* `buffers` and `bytes` count all buffers that were passed to the queue,
   * including those that it dropped immediately. `packets` counts the packets
   * of the buffers that it accepted. */
  guint64 buffers, bytes, packets;
  guint64 sent_buffers;         /* buffers sent completely */
  guint64 discarded[MMTP_N_DISCARDS];
  /* `discarded_keys` is the number of dropped buffers that belong to key
   * frames. `discarded_droppable` is the number of dropped buffers to which no
   * other buffer refers. */
  guint64 discarded_keys, discarded_droppable;
  /* Number of packets that were examined while reports of the receiver were
   * processed. Tests check that the number per report stays bounded. */
  guint64 report_steps;
} MmtpSendQueueStats;

typedef struct
{
  guint message;                /* maximum size of a DATA message, in bytes */
  /* Number of bytes that must stay unused in each DATA message; 0 if no REPAIRs
   * are needed. A REPAIR is longer than the packets that it protects, and has
   * to fit into one message, too. */
  guint reserve;
  /* Number of bytes, with all headers, that the paths can deliver before the
   * deadline of the buffer; G_MAXUINT64 if unknown. */
  guint64 capacity;
  guint8 caps_version;
} MmtpPutLimits;

typedef struct _MmtpSendQueue MmtpSendQueue;

MmtpSendQueue *mmtp_send_queue_new (guint64 max_bytes,
    MmtpDiscardFunc discarded, gpointer user_data);
void mmtp_send_queue_free (MmtpSendQueue * queue);
void mmtp_send_queue_get_stats (const MmtpSendQueue * queue,
    MmtpSendQueueStats * stats);
/* The delay of the queue is the initial delay (D0) of the session: the time in
 * ns from the due time of a packet to its deadline. mmtp_send_queue_set_delay()
 * sets the delay, and mmtp_send_queue_get_delay() returns it. */
void mmtp_send_queue_set_delay (MmtpSendQueue * queue, guint64 delay);
guint64 mmtp_send_queue_get_delay (const MmtpSendQueue * queue);
/* Sets the maximum lateness in ns. A packet that arrives at most this much
 * after its deadline is still useful. The maximum lateness has two effects:
 * - A plan (mmtpplan.h), which chooses the waiting frames to be sent, may use
 *   the additional time.
 * - A waiting packet is dropped only when it would miss its deadline by more
 *   than the maximum lateness.
 *
 * A retransmission is not allowed any lateness: it has to meet the deadline
 * itself. The default is 0. */
void mmtp_send_queue_set_max_lateness (MmtpSendQueue * queue,
    guint64 max_lateness);
/* Returns the deadline of the packet in ns: the time by which it has to arrive
 * at the receiver. The deadline is the due time, at which the sender should
 * send the packet, plus the latency of the session (the initial delay D0). */
guint64 mmtp_send_queue_get_deadline (const MmtpSendQueue * queue,
    const MmtpPacket * packet);
/* Returns the latest time in ns at which the packet may arrive and still be
 * useful. It is the deadline plus the maximum lateness, the time by which a
 * packet may miss its deadline. */
guint64 mmtp_send_queue_get_last_time (const MmtpSendQueue * queue,
    const MmtpPacket * packet);

/* --- putting buffers ------------------------------------------------------ */

/* Puts a buffer into the queue and returns TRUE. If the queue does not accept
 * the buffer, drops it and returns FALSE. A buffer without a due time is due at
 * `now`. */
gboolean mmtp_send_queue_put (MmtpSendQueue * queue, guint64 now,
    const MmtpBuffer * buffer, const MmtpPutLimits * limits);
/* Returns whether the queue has room for a buffer of `size` bytes. If no packet
 * waits, there is room for every buffer. */
gboolean mmtp_send_queue_fits (const MmtpSendQueue * queue, gsize size);
/* Drops `buffer` instead of putting it into the queue, and reports it as
 * dropped for the reason `reason`. The statistics `buffers` and `bytes` count
 * it like a buffer that was put into the queue. */
void mmtp_send_queue_refuse (MmtpSendQueue * queue, guint64 now,
    const MmtpBuffer * buffer, MmtpDiscard reason);
/* Drops all buffers that have a waiting packet. The buffers are counted and
 * reported as dropped. */
void mmtp_send_queue_give_up_all (MmtpSendQueue * queue, MmtpDiscard reason);
/* Removes all packets, for a flush. They are not counted or reported as
 * dropped, because the application itself does not want them any more. */
void mmtp_send_queue_flush (MmtpSendQueue * queue);

/* --- waiting packets ------------------------------------------------------ */

gboolean mmtp_send_queue_is_empty (const MmtpSendQueue * queue);
guint64 mmtp_send_queue_get_bytes (const MmtpSendQueue * queue);
/* Returns the size in bytes of all waiting packets, including all headers. */
guint64 mmtp_send_queue_get_work (const MmtpSendQueue * queue);
/* mmtp_send_queue_get_next_number() returns the stream number that the next new
 * packet will get. mmtp_send_queue_get_floor() returns the floor: no packet
 * with a stream number below the floor will be sent any more. */
guint64 mmtp_send_queue_get_next_number (const MmtpSendQueue * queue);
guint64 mmtp_send_queue_get_floor (const MmtpSendQueue * queue);
/* Returns the rate in bit/s at which buffers are put into the queue; 0 if this
 * rate is still unknown. */
guint64 mmtp_send_queue_get_bit_rate (const MmtpSendQueue * queue);
MmtpPacket *mmtp_send_queue_get_packet (const MmtpSendQueue * queue,
    guint64 number);
/* mmtp_send_queue_get_head() returns the waiting packet with the earliest due
 * time, and mmtp_send_queue_get_tail() the one with the latest due time. Both
 * return NULL if no packet waits.
 */
MmtpPacket *mmtp_send_queue_get_head (const MmtpSendQueue * queue);
MmtpPacket *mmtp_send_queue_get_tail (const MmtpSendQueue * queue);

/* --- which packet is sent next -------------------------------------------- */

/* Returns the number of the newest group of pictures (GOP) that has a late
 * reference picture; 0 if there is none. A waiting reference picture is late if
 * its deadline is before the time `arrival`. Pictures that refer to a late
 * picture should not be sent. */
guint64 mmtp_send_queue_get_late_group (const MmtpSendQueue * queue,
    guint64 arrival);
/* The rank of a packet is its importance. The waiting packets of each rank are
 * in a list of their own, in the order of their deadlines. Returns the first
 * packet in the list of `rank` that meets two conditions:
 * - The packet would be in time if it arrived at the time `arrival`.
 * - The picture of the packet does not refer to a late picture (a picture that
 *   would not be in time). A late reference picture makes the rest of its group
 *   of pictures useless. `late_group` is the number of the newest group that
 *   has a late picture, or 0 if no picture is late. The caller gets this number
 *   from mmtp_send_queue_get_late_group().
 *
 * Returns NULL if no packet meets both conditions. */
MmtpPacket *mmtp_send_queue_find (const MmtpSendQueue * queue, MmtpRank rank,
    guint64 arrival, guint64 late_group);
/* Returns whether a frame that was put into the queue since the last flush
 * refers to another frame. */
gboolean mmtp_send_queue_has_references (const MmtpSendQueue * queue);
/* Adds the frames that have waiting packets to `plan`, in the order of the
 * stream, until the plan is full. A plan chooses which of the waiting frames
 * are sent if the paths are too slow for all of them. The function sets all
 * fields of the added frames except `capacity`, `safe_capacity` and `is_kept`.
 * It does not add two kinds of frames: frames that refer to a lost picture
 * (rank MMTP_RANK_BROKEN), and pieces of a transport stream without video.
 *
 * If all waiting frames are key frames, the function skips frames whose
 * deadlines are before `earliest` (in ns). It usually does not skip a frame of
 * which a part was sent already. If no frame would remain, it skips none. */
void mmtp_send_queue_fill_plan (const MmtpSendQueue * queue, MmtpPlan * plan,
    guint64 earliest);
/* Returns the first packet of `frame` that waits to be sent, and stores the
 * stream number of this packet in the field `first` of `frame`. Returns NULL if
 * no packet of the frame waits any more. */
MmtpPacket *mmtp_send_queue_find_planned (const MmtpSendQueue * queue,
    MmtpPlanFrame * frame);

/* --- after sending -------------------------------------------------------- */

/* Notes that the packet was sent on `path`. `number` is the channel number of
 * the message that contained the packet (docs/wire-mmtp.md). Returns TRUE if
 * the packet was sent for the first time. */
gboolean mmtp_send_queue_note_sent (MmtpSendQueue * queue, MmtpPacket * packet,
    guint path, guint64 number);
/* Puts a packet that is in flight back into the queue. Returns FALSE if the
 * packet is not in flight, or if it would be late when it arrives at `arrival`.
 */
gboolean mmtp_send_queue_requeue (MmtpSendQueue * queue, MmtpPacket * packet,
    guint64 arrival);
/* Takes a packet that waits to be sent again out of the queue, because the
 * message in which it was last sent has arrived. The packet is then in flight
 * again until mmtp_send_queue_settle() is called. */
void mmtp_send_queue_withdraw (MmtpSendQueue * queue, MmtpPacket * packet);
/* Call this function for a lost packet that will not be retransmitted. Without
 * this packet, its picture cannot be decoded. Waiting pictures that refer to
 * the undecodable picture get the lowest rank. They are sent only when no other
 * packet waits. */
void mmtp_send_queue_note_lost (MmtpSendQueue * queue, MmtpPacket * packet);
/* Moves a lost packet to the list of speculative retransmissions: packets that
 * are sent again although they may arrive late. The packets of this list are
 * not part of the queue. */
void mmtp_send_queue_set_speculative (MmtpSendQueue * queue,
    MmtpPacket * packet);
const GQueue *mmtp_send_queue_get_speculative (const MmtpSendQueue * queue);
/* A REPORT of the receiver contains a limit: the receiver no longer needs
 * packets with lower stream numbers. Call this function for each REPORT. `low`
 * contains the low 32 bits of the limit. */
void mmtp_send_queue_settle (MmtpSendQueue * queue, guint32 low);
/* mmtp_send_queue_expire() drops waiting packets that would be late if they
 * arrived at the time `arrival`. mmtp_send_queue_forget_late() frees sent
 * packets whose deadline is before the time `now`, because it is too late to
 * retransmit them. */
void mmtp_send_queue_expire (MmtpSendQueue * queue, guint64 arrival);
void mmtp_send_queue_forget_late (MmtpSendQueue * queue, guint64 now);
