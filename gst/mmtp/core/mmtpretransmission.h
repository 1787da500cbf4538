/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Retransmission of packets at the sender. A packet is sent again in three
 * cases.
 *
 * The first case is a packet that the receiver has reported as lost. If its
 * retransmission almost certainly arrives in time, the packet is put back into
 * the send queue. If the retransmission might arrive late, it is called
 * speculative. It then takes place only if several pictures need the packet, or
 * if the paths have rate to spare.
 *
 * The second case is a packet in flight on a path that has stalled. It is sent
 * again on another path.
 *
 * The third case is a packet in flight on a path that has become so much slower
 * that the packet would be late. It is also sent again on another path.
 *
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
  /* Number of lost messages of the current REPORT that the sender has looked up
   * so far in its log of sent messages */
  guint report_lookups;
  /* For each path: the earliest time in ns at which packets in flight on this
   * path may be moved to another path. */
  guint64 rescue_at[MMTP_MAX_PATHS];
  /* For each path, the time in ns of the last search for packets in flight that
   * have become late. */
  guint64 searched[MMTP_MAX_PATHS];
  /* For each path: the number after the highest channel number of a message
   * whose packet was put back into the queue before a REPORT covered the
   * message; 0 if there was none. */
  guint64 requeued_end[MMTP_MAX_PATHS];

  /* Counters. */
  /* number of packets that were reported as lost, but were not retransmitted */
  guint64 unrepaired;
  /* Total number of lost messages that were looked up in the log of sent
   * messages. Tests use it to check that the number of lookups per REPORT is
   * bounded. */
  guint64 loss_lookups;
} MmtpRetransmission;

void mmtp_retransmission_init (MmtpRetransmission * self,
    const MmtpPaths * paths, MmtpSendQueue * queue, const MmtpPolicy * policy,
    gboolean is_enabled);

/* These two functions handle the losses in a REPORT. For each REPORT, call
 * mmtp_retransmission_begin_report() once. Then call
 * mmtp_retransmission_take_losses() for each record of the REPORT. A record is
 * the part of a REPORT about one path. */
void mmtp_retransmission_begin_report (MmtpRetransmission * self);
void mmtp_retransmission_take_losses (MmtpRetransmission * self,
    MmtpPath * path, const MmtpRecord * record);
/* Call this function after mmtp_retransmission_take_losses(), with the first
 * channel number that no earlier REPORT has covered. If a packet waits to be
 * sent again, and the REPORT says that it has arrived, the packet leaves the
 * send queue. */
void mmtp_retransmission_take_arrivals (MmtpRetransmission * self,
    MmtpPath * path, guint64 first);

/* Puts the packets that are in flight on `path` back into the send queue, so
 * that another path can send them. A packet is in flight if the receiver has
 * not reported about it yet. */
void mmtp_retransmission_requeue_path (MmtpRetransmission * self,
    MmtpPath * path);
/* Requeues packets that are in flight on `path`: they are put into the send queue
 * again, so that another path can send them. There are two reasons:
 *
 * - The path has stalled or seems to have stalled. The stall may end, and the
 *   packets may still arrive. A packet is therefore requeued only shortly before
 *   it would be too late to send the packet on another path.
 * - The path has become slower, and the packet would be late. */
void mmtp_retransmission_rescue (MmtpRetransmission * self, MmtpPath * path);

/* Returns the next packet for a speculative retransmission. This is a lost
 * packet that is sent again although it might arrive late. Sets `path` to the
 * path on which the packet would arrive first. Returns NULL if there is no such
 * packet, or if no path is usable. */
MmtpPacket *mmtp_retransmission_get_speculative (const MmtpRetransmission *
    self, MmtpPath ** path);
/* Drops the packets whose speculative retransmission (one that might arrive
 * late) can no longer arrive in time. */
void mmtp_retransmission_expire (MmtpRetransmission * self);
