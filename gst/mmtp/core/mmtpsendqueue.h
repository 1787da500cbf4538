/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queue of the packets of the stream that wait to be sent or may have to be
 * retransmitted [4.4 of the MMTP paper]. It consists of one list for each
 * MmtpRank (the importance of a buffer). Each list is ordered by deadline. When
 * a buffer is dropped, the rest of its frame is dropped as well, and so are all
 * frames that refer to it.
 *
 * The queue does not depend on the paths: the callers pass `arrival`, the time
 * at which a packet sent now would arrive. A packet is late if it arrives later
 * than its due time plus the queue's delay, which is the initial delay (D0).
 * Times are in ns.
 */

#pragma once

#include "mmtpplan.h"

/* Called for each dropped buffer. If other buffers refer to the dropped buffer,
 * `is_needed` is TRUE, and a new key frame would help. */
typedef void (*MmtpDiscardFunc) (gpointer user_data, const MmtpUnit * unit,
    MmtpDiscard reason, gboolean is_needed);

/* Counters of the queue. They never decrease. */
typedef struct
{
  /* total numbers of buffers, bytes and packets that were put into the queue */
  guint64 buffers, bytes, packets;
  guint64 sent_buffers;         /* buffers sent completely */
  guint64 discarded[MMTP_N_DISCARDS];
  /* number of dropped buffers that belong to key frames, and number of dropped
   * buffers that are droppable */
  guint64 discarded_keys, discarded_droppable;
  /* Number of packets that were examined while reports were processed. Tests
   * check that this work stays bounded. */
  guint64 report_steps;
} MmtpSendQueueStats;

typedef struct
{
  guint message;                /* maximum size of a DATA message, in bytes */
  /* number of bytes of each message that must stay unused, so that a REPAIR,
   * which is longer than the packets that it covers, fits into one message */
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
/* mmtp_send_queue_set_delay() and mmtp_send_queue_get_delay() set and return
 * the delay of the queue in ns, which is the initial delay (D0) of the session.
 */
void mmtp_send_queue_set_delay (MmtpSendQueue * queue, guint64 delay);
guint64 mmtp_send_queue_get_delay (const MmtpSendQueue * queue);
/* Sets the maximum lateness in ns. A packet that arrives at most this much
 * after its deadline is still useful. The maximum lateness has two effects:
 * plans may use the additional time, and a waiting packet is dropped only after
 * it. It has no effect on retransmissions. The default is 0. */
void mmtp_send_queue_set_max_lateness (MmtpSendQueue * queue,
    guint64 max_lateness);
/* Returns the deadline of the packet, which is the time by which it has to
 * arrive: its due time plus the delay. */
guint64 mmtp_send_queue_get_deadline (const MmtpSendQueue * queue,
    const MmtpPacket * packet);
/* Returns the latest time at which the packet may arrive and still be useful:
 * its deadline plus the maximum lateness. */
guint64 mmtp_send_queue_get_last_time (const MmtpSendQueue * queue,
    const MmtpPacket * packet);

/* --- putting buffers ------------------------------------------------------ */

/* Puts a buffer into the queue. Returns FALSE if the buffer was dropped. A
 * buffer without a due time is due at `now`. */
gboolean mmtp_send_queue_put (MmtpSendQueue * queue, guint64 now,
    const MmtpBuffer * buffer, const MmtpPutLimits * limits);
/* Returns whether the queue has room for a buffer of `size` bytes. If no packet
 * waits, there is room for every buffer. */
gboolean mmtp_send_queue_fits (const MmtpSendQueue * queue, gsize size);
/* Drops a buffer for `reason` instead of putting it into the queue, and reports
 * it as dropped. The counters `buffers` and `bytes` include it, too. */
void mmtp_send_queue_refuse (MmtpSendQueue * queue, guint64 now,
    const MmtpBuffer * buffer, MmtpDiscard reason);
/* Drops all buffers that have a waiting packet. The buffers are counted and
 * reported as dropped. */
void mmtp_send_queue_give_up_all (MmtpSendQueue * queue, MmtpDiscard reason);
/* Removes all packets without counting or reporting them, because the
 * application does not want them any more. */
void mmtp_send_queue_flush (MmtpSendQueue * queue);

/* --- waiting packets ------------------------------------------------------ */

gboolean mmtp_send_queue_is_empty (const MmtpSendQueue * queue);
guint64 mmtp_send_queue_get_bytes (const MmtpSendQueue * queue);
/* Returns the size in bytes of all waiting packets, including all headers. */
guint64 mmtp_send_queue_get_work (const MmtpSendQueue * queue);
/* mmtp_send_queue_get_next_number() returns the stream number of the next new
 * packet. mmtp_send_queue_get_floor() returns the floor: packets with a lower
 * stream number will not be sent again. */
guint64 mmtp_send_queue_get_next_number (const MmtpSendQueue * queue);
guint64 mmtp_send_queue_get_floor (const MmtpSendQueue * queue);
/* Returns the rate in bit/s at which buffers are put into the queue; 0 if this
 * rate is still unknown. */
guint64 mmtp_send_queue_get_bit_rate (const MmtpSendQueue * queue);
MmtpPacket *mmtp_send_queue_get_packet (const MmtpSendQueue * queue,
    guint64 number);
/* mmtp_send_queue_get_head() returns the most urgent waiting packet, and
 * mmtp_send_queue_get_tail() the least urgent one. Both return NULL if no
 * packet waits.
 */
MmtpPacket *mmtp_send_queue_get_head (const MmtpSendQueue * queue);
MmtpPacket *mmtp_send_queue_get_tail (const MmtpSendQueue * queue);

/* --- which packet is sent next -------------------------------------------- */

/* A waiting reference picture is late if its deadline is before the time
 * `arrival`. Pictures that refer to a late picture should not be sent. Returns
 * the number of the newest group of pictures (GOP) that has a late reference
 * picture. Returns 0 if there is none. */
guint64 mmtp_send_queue_get_late_group (const MmtpSendQueue * queue,
    guint64 arrival);
/* Searches the packets of the rank `rank` in the order of their deadlines.
 * Returns the first packet that meets two conditions: it would be in time if it
 * arrived at the time `arrival`, and its picture does not refer to the late
 * picture of the group `late_group`. Returns NULL if there is no such packet.
 */
MmtpPacket *mmtp_send_queue_find (const MmtpSendQueue * queue, MmtpRank rank,
    guint64 arrival, guint64 late_group);
/* Fills the plan, which later chooses the frames that are sent if the paths are
 * too slow for all of them. Adds the frames that have waiting packets, in the
 * order of the stream, until the plan is full. Sets all fields of these frames
 * except `capacity`, `safe_capacity` and `is_kept`. Frames of the rank
 * MMTP_RANK_BROKEN and pieces of a transport stream without video are not part
 * of a plan. */
void mmtp_send_queue_fill_plan (const MmtpSendQueue * queue, MmtpPlan * plan);
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
 * packet is not in flight or would be late. */
gboolean mmtp_send_queue_requeue (MmtpSendQueue * queue, MmtpPacket * packet,
    guint64 arrival);
/* Notes that a lost packet will not be retransmitted. Pictures that refer to
 * the picture of this packet get the lowest rank. */
void mmtp_send_queue_note_lost (MmtpSendQueue * queue, MmtpPacket * packet);
/* Moves a lost packet to the list of speculative retransmissions: packets that
 * are sent again only while there is rate to spare, because they may arrive
 * late. The packets of this list are not part of the queue. */
void mmtp_send_queue_set_speculative (MmtpSendQueue * queue,
    MmtpPacket * packet);
const GQueue *mmtp_send_queue_get_speculative (const MmtpSendQueue * queue);
void mmtp_send_queue_drop_speculative (MmtpSendQueue * queue,
    MmtpPacket * packet);
/* Call this function when the receiver reports a lower limit for stream
 * numbers. The receiver no longer needs packets with lower stream numbers.
 * `low` contains the low 32 bits of the limit. */
void mmtp_send_queue_settle (MmtpSendQueue * queue, guint32 low);
/* mmtp_send_queue_expire() drops waiting packets that would be late at
 * `arrival`. mmtp_send_queue_forget_late() frees packets that were sent and are
 * late at `now`. */
void mmtp_send_queue_expire (MmtpSendQueue * queue, guint64 arrival);
void mmtp_send_queue_forget_late (MmtpSendQueue * queue, guint64 now);
