/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Retransmission of lost packets. A packet that the receiver reports as lost is
 * put back into the queue if its retransmission is certainly in time. If the
 * retransmission is only likely to be in time, it is speculative: it is sent
 * while no other packet needs the rate.
 *
 * Packets in flight on a path that has stalled are sent again on another path.
 * "Extra bandwidth on any of the channels may enable the retransmission of
 * select lost messages" (section 1 of the MMTP paper).
 */

#pragma once

#include "mmtppolicy.h"

typedef struct
{
  const MmtpPaths *paths;
  MmtpSendQueue *queue;
  const MmtpPolicy *policy;
  gboolean is_enabled;
  /* Number of lookups for the current REPORT so far. Each lost message in the
   * REPORT is looked up in the log of sent packets. */
  guint report_lookups;
  /* for each path, the earliest time in ns at which its packets may be moved to
   * another path */
  guint64 rescue_at[MMTP_MAX_PATHS];

  /* Counters. */
  /* number of packets that were reported as lost, but were not retransmitted */
  guint64 unrepaired;
  /* Number of lookups of a message by its channel number. Tests check that the
   * number of lookups per REPORT is bounded. */
  guint64 loss_lookups;
} MmtpRetransmission;

void mmtp_retransmission_init (MmtpRetransmission * self,
    const MmtpPaths * paths, MmtpSendQueue * queue, const MmtpPolicy * policy,
    gboolean is_enabled);

/* Handles the losses that a REPORT contains. For each REPORT, call
 * mmtp_retransmission_begin_report() once, and then
 * mmtp_retransmission_take_losses() for each record of the REPORT. */
void mmtp_retransmission_begin_report (MmtpRetransmission * self);
void mmtp_retransmission_take_losses (MmtpRetransmission * self,
    MmtpPath * path, const MmtpRecord * record);

/* Puts packets in flight on `path` back into the queue: all packets about which
 * the receiver has not reported yet. */
void mmtp_retransmission_requeue_path (MmtpRetransmission * self,
    MmtpPath * path);
/* If `path` has stalled or may have stalled, puts packets in flight on `path`
 * back into the queue, so that another path can send them. A packet is put back
 * only shortly before it would be too late to send it on another path. */
void mmtp_retransmission_rescue (MmtpRetransmission * self, MmtpPath * path);

/* Returns the lost packet that should be retransmitted next although the
 * retransmission might arrive late (a speculative retransmission). Sets `path`
 * to the path on which this packet would arrive first. Returns NULL if there is
 * no such packet, or if no path is usable. */
MmtpPacket *mmtp_retransmission_get_speculative (const MmtpRetransmission *
    self, MmtpPath ** path);
/* Drops the lost packets whose retransmission is speculative (it might arrive
 * late) and can no longer be in time. */
void mmtp_retransmission_expire (MmtpRetransmission * self);
