/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forward error correction: one REPAIR message contains the XOR of several
 * packets and is sent before a loss is known. A REPAIR covers only packets
 * whose retransmissions would arrive too late.
 *
 * REPAIRs usually use only the part of the rate that new packets leave unused.
 * There is one exception: on a path with random losses, REPAIRs of reference
 * frames are sent even if the remaining rate is then too low for other frames.
 * The reason is that a lost reference frame makes many frames useless.
 */

#pragma once

#include "mmtppadding.h"
#include "mmtpparity.h"

/* Bytes by which a REPAIR message is longer than a DATA message with the same
 * content (docs/wire-mmtp.md). */
#define MMTP_REPAIR_RESERVE 6

/* The packets of one path whose XOR the next REPAIR on this path will contain.
 */
typedef struct
{
  MmtpBlock block;
  /* due times of the first and the last packet of the block, in ns */
  guint64 due, last_due;
  /* Time of the last reported loss, in ns; 0 if never. */
  guint64 loss_time;
} MmtpCover;

typedef struct
{
  const MmtpPaths *paths;
  const MmtpSendQueue *queue;
  const MmtpPolicy *policy;
  gboolean is_enabled;
  /* Padding (messages that are sent only to measure a path), which is sent as
   * REPAIR messages. NULL if there is no padding. */
  const MmtpPadding *padding;
  /* TRUE if the stream has frames that refer to other frames */
  gboolean has_references;
  MmtpCover covers[MMTP_MAX_PATHS];     /* indexed by the path's id */
} MmtpRepairer;

void mmtp_repairer_init (MmtpRepairer * self, const MmtpPaths * paths,
    const MmtpSendQueue * queue, const MmtpPolicy * policy,
    gboolean is_enabled);
/* Frees the memory of the repairer. Must be called before the paths are freed.
 */
void mmtp_repairer_clear (MmtpRepairer * self);
/* Notes that a loss was reported on `path`, so that REPAIRs are sent on this
 * path for some time. */
void mmtp_repairer_note_loss (MmtpRepairer * self, const MmtpPath * path);
/* Returns by how many bytes new packets must be shorter than the maximum; 0 if
 * no path needs REPAIRs. New packets must be shorter because a REPAIR is a few
 * bytes longer than the packets that it covers, and it has to fit into one
 * datagram. */
gsize mmtp_repairer_get_reserve (const MmtpRepairer * self);
/* Notes that `packet` was sent for the first time, as the DATA message in
 * `bytes`. */
void mmtp_repairer_cover (MmtpRepairer * self, const MmtpPath * path,
    const MmtpPacket * packet, const guint8 * bytes, gsize size);
/* If a REPAIR is due now, stores it in `repair` and returns the path on which
 * it must be sent. Otherwise returns NULL. `repair` is valid until
 * mmtp_repairer_restart() is called. */
MmtpPath *mmtp_repairer_poll (const MmtpRepairer * self, MmtpRepair * repair);
/* Stores in `repair` a REPAIR to be sent as padding, which is a message that is
 * sent only to measure the path. The REPAIR covers the packets of the current
 * block of `path`, and is valid until mmtp_repairer_restart() is called.
 * Returns FALSE if the block is empty. */
gboolean mmtp_repairer_fill_padding (const MmtpRepairer * self,
    const MmtpPath * path, MmtpRepair * repair);
/* Begins a new block, which is the group of packets that the next REPAIR of
 * `path` will cover. Call this function after a REPAIR of `path` was sent. */
void mmtp_repairer_restart (MmtpRepairer * self, const MmtpPath * path);
/* Returns the time of the next REPAIR in ns; MMTP_NEVER if none is planned. */
guint64 mmtp_repairer_next_wakeup (const MmtpRepairer * self);
/* Forgets all packets that the next REPAIRs of all paths would have covered. */
void mmtp_repairer_flush (MmtpRepairer * self);
