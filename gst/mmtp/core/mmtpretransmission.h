/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the receiver reports as lost is sent again: with the rest of the queue
 * where it is surely in time, or, where nothing else needs the rate, on the
 * chance that it is. What is in flight on a path that has stalled is sent on
 * another one. "Extra bandwidth on any of the channels may enable the
 * retransmission of select lost messages" (section 1 of the paper).
 */

#pragma once

#include "mmtppolicy.h"

typedef struct
{
  const MmtpPaths *paths;
  MmtpSendQueue *queue;
  const MmtpPolicy *policy;
  gboolean is_enabled;
  guint report_lookups;         /* losses that the REPORT being taken named */
  guint64 rescue_at[MMTP_MAX_PATHS];    /* ns, no rescue before */

  /* Counters */
  guint64 unrepaired;           /* losses known that were not sent again */
  guint64 loss_lookups;         /* numbers looked up, to bound the work of a
                                 * REPORT */
} MmtpRetransmission;

void mmtp_retransmission_init (MmtpRetransmission * self,
    const MmtpPaths * paths, MmtpSendQueue * queue, const MmtpPolicy * policy,
    gboolean is_enabled);

/* For each REPORT, then for each of its records */
void mmtp_retransmission_begin_report (MmtpRetransmission * self);
void mmtp_retransmission_take_losses (MmtpRetransmission * self,
    MmtpPath * path, const MmtpRecord * record);

/* All that is in flight on the path and not reported waits again. */
void mmtp_retransmission_requeue_path (MmtpRetransmission * self,
    MmtpPath * path);
/* So does what is in flight on a path that has stalled and could be in time
 * elsewhere only if it goes now. */
void mmtp_retransmission_rescue (MmtpRetransmission * self, MmtpPath * path);

/* The lost packet that goes before all others, and the path on which it is
 * likely to be in time; NULL: none */
MmtpPacket *mmtp_retransmission_get_speculative (const MmtpRetransmission *
    self, MmtpPath ** path);
/* Drops those that have no chance any more. */
void mmtp_retransmission_expire (MmtpRetransmission * self);
