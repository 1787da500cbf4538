/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy of a sender with several paths. It decides which packet is sent
 * next, on which path, and what each path is used for. The decisions depend on
 * the measurements of the paths and on the queue. The policy changes neither
 * the measurements nor the queue. mmtpscheduler.h has the rules for choosing
 * among paths, and mmtpsendqueue.h has the order of the packets.
 */

#pragma once

#include "mmtppaths.h"
#include "mmtpscheduler.h"
#include "mmtpsendqueue.h"

typedef struct
{
  const MmtpPaths *paths;
  const MmtpSendQueue *queue;
  const MmtpSchedulerClass *scheduler;
  /* Memory in which the scheduler keeps its state from one decision to the
   * next; NULL if the scheduler has no state. The policy frees it. */
  gpointer scheduler_state;
  /* Time in ns of the sender's last attempt to find a packet to send. The
   * attempt may have found no packet. */
  guint64 tried;
  /* The latest plan, and the time in ns at which it was made. If the paths
   * cannot deliver all waiting frames in time, a plan chooses the frames that
   * are sent. */
  MmtpPlan plan;
  guint64 plan_time;
  /* Stream number of the first packet that is added to the queue after `plan`
   * was made. */
  guint64 plan_next;
  /* TRUE if at least one packet of the current plan has been sent. If the paths
   * cannot deliver all waiting frames in time, a plan chooses the frames that
   * are sent. */
  gboolean is_plan_used;
} MmtpPolicy;

void mmtp_policy_init (MmtpPolicy * policy, const MmtpPaths * paths,
    const MmtpSendQueue * queue, MmtpSchedulerType scheduler);
void mmtp_policy_clear (MmtpPolicy * policy);
/* Returns the packet to send now and sets `path`. Returns NULL if no packet can
 * be sent now. The queue must not be empty. */
MmtpPacket *mmtp_policy_choose (MmtpPolicy * policy, MmtpPath ** path);
/* Returns the earliest time in ns at which the sender has to look again for a
 * packet to send. Two things can make it possible to send a packet at this
 * time:
 * - The pacing of a path allows the next packet.
 * - A report about a path becomes overdue. A path with an overdue report may
 *   exceed its congestion window.
 *
 * Returns MMTP_NEVER if there is no such time. */
guint64 mmtp_policy_next_wakeup (const MmtpPolicy * policy);
/* Returns whether another packet of the stream may be sent on `path` now
 * without exceeding its congestion window. */
gboolean mmtp_policy_has_room (const MmtpPolicy * policy,
    const MmtpPath * path);
/* Returns whether the paths have rate to spare. If so, they can carry an
 * additional packet of `size` bytes without making a packet in the queue late.
 *
 * The function compares two numbers:
 * - The capacity is the number of bytes that the paths can deliver before the
 *   deadline of the last packet in the queue.
 * - The work is the number of bytes of all packets in the queue and of the
 *   additional packet.
 *
 * The result is TRUE if the work is at most the capacity divided by `part`. For
 * example, with `part` = 2, the work may use half of the capacity. The result
 * is also TRUE if the queue is empty. */
gboolean mmtp_policy_has_spare_rate (const MmtpPolicy * policy, gsize size,
    guint part);
/* Fills in four fields of `stats` that describe how the stream uses `path`:
 * `use`, `silence`, `share` and `loss`. */
void mmtp_policy_fill_use (const MmtpPolicy * policy, const MmtpPath * path,
    MmtpSenderPathStats * stats);
