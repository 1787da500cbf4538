/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy of a sender with several paths: which packet is sent next, on
 * which path, and what each path is used for. It decides from the measurements
 * of the paths and from the queue, and changes neither. mmtpscheduler.h has the
 * rules for choosing among paths; mmtpsendqueue.h has the order of the packets.
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
  gpointer scheduler_state;     /* owned; NULL if the scheduler has no state */
  /* Time in ns of the last call to choose a packet, or of the last opportunity
   * for one. */
  guint64 tried;
} MmtpPolicy;

void mmtp_policy_init (MmtpPolicy * policy, const MmtpPaths * paths,
    const MmtpSendQueue * queue, MmtpSchedulerType scheduler);
void mmtp_policy_clear (MmtpPolicy * policy);
/* Returns the packet to send now and sets `path`. Returns NULL if no packet can
 * be sent now. The queue must not be empty. */
MmtpPacket *mmtp_policy_choose (MmtpPolicy * policy, MmtpPath ** path);
/* Returns the time in ns at which a path gets room or a token; MMTP_NEVER if
 * there is none. */
guint64 mmtp_policy_next_wakeup (const MmtpPolicy * policy);
/* Returns whether the path may carry a packet now according to its window. */
gboolean mmtp_policy_has_room (const MmtpPolicy * policy,
    const MmtpPath * path);
/* Returns whether all waiting packets and `size` more bytes take no more than
 * 1/`part` of what the paths deliver in time, so that no new packet would be
 * late. */
gboolean mmtp_policy_has_spare_rate (const MmtpPolicy * policy, gsize size,
    guint part);
/* Fills in `use`, `silence`, `share` and `loss` of the statistics. */
void mmtp_policy_fill_use (const MmtpPolicy * policy, const MmtpPath * path,
    MmtpSenderPathStats * stats);
