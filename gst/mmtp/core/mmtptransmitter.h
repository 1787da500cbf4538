/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How messages of a session leave: each is numbered, sealed and accounted for on
 * its path. Tokens become DATA messages [4.4 of the paper]: first what has to
 * hurry, then a REPAIR that is due, then what the policy chooses.
 */

#pragma once

#include "mmtprepairer.h"
#include "mmtpretransmission.h"

/* Where a message is written to */
typedef struct
{
  guint8 *bytes;
  gsize room;
  guint path;                   /* that it goes on */
} MmtpOutput;

typedef struct
{
  const MmtpPaths *paths;
  MmtpSendQueue *queue;
  MmtpPolicy *policy;
  const MmtpRetransmission *retransmission;
  MmtpRepairer *repairer;
  MmtpDirection out;            /* of the session, once there is one */
  guint64 retransmitted, repairs;       /* counters */
} MmtpTransmitter;

void mmtp_transmitter_init (MmtpTransmitter * self, const MmtpPaths * paths,
    MmtpSendQueue * queue, MmtpPolicy * policy,
    const MmtpRetransmission * retransmission, MmtpRepairer * repairer);
/* All return the size of the message; 0: none goes now, or there is no room. */
gsize mmtp_transmitter_write (MmtpTransmitter * self, MmtpPath * path,
    MmtpMessage * message, MmtpOutput * output, guint64 stream_number);
gsize mmtp_transmitter_write_data (MmtpTransmitter * self,
    MmtpOutput * output);
gsize mmtp_transmitter_write_repair (MmtpTransmitter * self,
    MmtpOutput * output);
/* When DATA or a REPAIR may go next, or a packet is given up; ns, MMTP_NEVER */
guint64 mmtp_transmitter_get_wakeup (const MmtpTransmitter * self);
