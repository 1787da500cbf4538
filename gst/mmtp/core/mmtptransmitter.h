/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last step before a message is sent: the message is numbered, sealed with
 * a MAC or a token, and counted on its path. This module also decides what is
 * sent next for the stream (section 4.4 of the MMTP paper). It looks for a
 * message in this order:
 * - a lost packet whose retransmission might arrive late (a speculative
 *   retransmission),
 * - a REPAIR that is due,
 * - the packet that the policy (mmtppolicy.h) chooses.
 */

#pragma once

#include "mmtprepairer.h"
#include "mmtpretransmission.h"

/* Memory into which a message is written, and the path on which this message
 * has to be sent. */
typedef struct
{
  guint8 *bytes;
  gsize room;
  /* id of the path on which the message has to be sent */
  guint path;
} MmtpOutput;

typedef struct
{
  const MmtpPaths *paths;
  MmtpSendQueue *queue;
  MmtpPolicy *policy;
  const MmtpRetransmission *retransmission;
  MmtpRepairer *repairer;
  MmtpPadding *padding;
  /* Key for the MACs in the trailers of the messages to the receiver. If the
   * application has set no key, this field contains a token instead, which is
   * written into the trailers. The field is set when the session begins. */
  MmtpDirection out;
  guint64 retransmitted, repairs;       /* Counters. */
} MmtpTransmitter;

void mmtp_transmitter_init (MmtpTransmitter * self, const MmtpPaths * paths,
    MmtpSendQueue * queue, MmtpPolicy * policy,
    const MmtpRetransmission * retransmission, MmtpRepairer * repairer,
    MmtpPadding * padding);
/* mmtp_transmitter_write(), mmtp_transmitter_write_data() and
 * mmtp_transmitter_write_repair() return the size of the written message. They
 * return 0 if no message is due or if `output` has too little room. */
gsize mmtp_transmitter_write (MmtpTransmitter * self, MmtpPath * path,
    MmtpMessage * message, MmtpOutput * output, guint64 stream_number);
gsize mmtp_transmitter_write_data (MmtpTransmitter * self,
    MmtpOutput * output);
gsize mmtp_transmitter_write_repair (MmtpTransmitter * self,
    MmtpOutput * output);
/* Writes a padding message, which is sent only to measure a path. It is a
 * REPAIR, which protects the packets that were sent last on this path. If there
 * are no such packets, it is a PROBE without content. Returns the size of the
 * message in bytes; 0 if no padding is due. */
gsize mmtp_transmitter_write_padding (MmtpTransmitter * self,
    MmtpOutput * output);
/* Returns the time in ns at which the sender has to act next. At this time, the
 * sender may send a DATA, REPAIR or padding message, or it drops a waiting
 * packet because the packet is late. Returns MMTP_NEVER if there is no such
 * time. */
guint64 mmtp_transmitter_next_wakeup (const MmtpTransmitter * self);
