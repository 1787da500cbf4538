/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy of a bond: which packet goes next, and on which path, and what a
 * path is used for. It decides by what is measured of the paths and by what
 * waits, and changes nothing of either. The rule by which one of several paths
 * is taken is mmtpscheduler.h's; the order of the packets is mmtpsendqueue.h's.
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
  gpointer scheduler_state;     /* owned; NULL: it has none */
  guint64 tried;                /* ns, when a packet was last chosen, or could
                                 * have been */
} MmtpPolicy;

void mmtp_policy_init (MmtpPolicy * policy, const MmtpPaths * paths,
    const MmtpSendQueue * queue, MmtpSchedulerType scheduler);
void mmtp_policy_clear (MmtpPolicy * policy);
/* The packet that goes next, and its path; NULL: none can go now. The queue is
 * not empty. */
MmtpPacket *mmtp_policy_choose (MmtpPolicy * policy, MmtpPath ** path);
/* ns at which a path gets room or a token; MMTP_NEVER: none does */
guint64 mmtp_policy_get_wakeup (const MmtpPolicy * policy);
/* The path may carry a packet now, as far as its window alone is concerned. */
gboolean mmtp_policy_has_room (const MmtpPolicy * policy,
    const MmtpPath * path);
/* What waits, and so many bytes more, are no more than this part of what the
 * paths bring in time: nothing new is late for it. */
gboolean mmtp_policy_has_spare_rate (const MmtpPolicy * policy, gsize size,
    guint part);
/* For a user: fills in `use`, `silence`, `share` and `loss`. */
void mmtp_policy_fill_use (const MmtpPolicy * policy, const MmtpPath * path,
    MmtpSenderPathStats * stats);
