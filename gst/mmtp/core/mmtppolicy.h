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
  /* State of the scheduler, owned by the policy; NULL if the scheduler has no
   * state. */
  gpointer scheduler_state;
  /* Time in ns of the sender's last attempt to find a packet to send. The
   * attempt may have found no packet. */
  guint64 tried;
  /* The latest plan, and the time in ns at which it was made. If the paths
   * cannot deliver all waiting frames in time, a plan chooses the frames that
   * are sent. */
  MmtpPlan plan;
  guint64 plan_time;
  /* Sequence number in the stream of the first packet that is added to the
   * queue after `plan` was made. */
  guint64 plan_next;
  gboolean is_plan_used;        /* TRUE if a packet of the plan was sent */
} MmtpPolicy;

void mmtp_policy_init (MmtpPolicy * policy, const MmtpPaths * paths,
    const MmtpSendQueue * queue, MmtpSchedulerType scheduler);
void mmtp_policy_clear (MmtpPolicy * policy);
/* Returns the packet to send now and sets `path`. Returns NULL if no packet can
 * be sent now. The queue must not be empty. */
MmtpPacket *mmtp_policy_choose (MmtpPolicy * policy, MmtpPath ** path);
/* Returns the earliest time in ns at which a path may send a packet, according
 * to its window and its pacing. Returns MMTP_NEVER if there is no such time. */
guint64 mmtp_policy_next_wakeup (const MmtpPolicy * policy);
/* Returns whether the window of `path` allows another packet now. */
gboolean mmtp_policy_has_room (const MmtpPolicy * policy,
    const MmtpPath * path);
/* Returns whether the paths can carry an additional packet of `size` bytes
 * without making a packet in the queue late. Let n be the number of bytes that
 * the paths can deliver before the deadline of the last packet in the queue.
 * The result is TRUE if the queue and the additional packet together have at
 * most n / `part` bytes. If the queue is empty, the result is TRUE, too. */
gboolean mmtp_policy_has_spare_rate (const MmtpPolicy * policy, gsize size,
    guint part);
/* Fills in `use`, `silence`, `share` and `loss` of the statistics. */
void mmtp_policy_fill_use (const MmtpPolicy * policy, const MmtpPath * path,
    MmtpSenderPathStats * stats);
