/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forward error correction at the sender. A REPAIR message contains the XOR of
 * several packets. If one of these packets is lost, the receiver can compute it
 * from the REPAIR and the other packets. REPAIRs are sent before a loss is
 * known. They cover only packets whose retransmissions would arrive too late.
 *
 * REPAIRs usually use only the part of the rate that new packets leave unused.
 * There is one exception, because a lost reference frame makes many frames
 * useless. On a path with random losses, REPAIRs that protect reference frames
 * are sent even if the remaining rate is then too low for other frames.
 */

#pragma once

#include "mmtppadding.h"
#include "mmtpparity.h"

/* Number of bytes by which a REPAIR message is longer than a DATA message with
 * the same content. The content is the part of a DATA message that a REPAIR
 * protects (docs/wire-mmtp.md, REPAIR). */
#define MMTP_REPAIR_RESERVE 6

/* The packets of one path that the next REPAIR on this path will cover. The
 * REPAIR contains the XOR of these packets. */
typedef struct
{
  MmtpBlock block;
  /* due times in ns of the first and the last packet in `block` */
  guint64 due, last_due;
  /* time in ns at which a loss on this path was last reported; 0 if never */
  guint64 loss_time;
} MmtpCover;

typedef struct
{
  const MmtpPaths *paths;
  const MmtpSendQueue *queue;
  const MmtpPolicy *policy;
  gboolean is_enabled;
  /* The object that decides when padding is sent; NULL if no padding is sent.
   * Padding is messages that are sent only to measure a path. REPAIRs can be
   * sent as padding. */
  const MmtpPadding *padding;
  /* TRUE if the stream has frames that refer to other frames */
  gboolean has_references;
  MmtpCover covers[MMTP_MAX_PATHS];     /* indexed by the path's id */
} MmtpRepairer;

void mmtp_repairer_init (MmtpRepairer * self, const MmtpPaths * paths,
    const MmtpSendQueue * queue, const MmtpPolicy * policy,
    gboolean is_enabled);
/* Frees the memory of the repairer. Call this function before the paths are
 * freed, because it still uses them. */
void mmtp_repairer_clear (MmtpRepairer * self);
/* Notes that a loss was reported on `path`. For some time after that, REPAIRs
 * are sent on this path. */
void mmtp_repairer_note_loss (MmtpRepairer * self, const MmtpPath * path);
/* Returns the number of bytes by which new packets must be smaller than the
 * maximum size; 0 if no path needs REPAIRs. A REPAIR is a few bytes longer than
 * the packets that it covers, and it has to fit into one datagram, too. */
gsize mmtp_repairer_get_reserve (const MmtpRepairer * self);
/* Notes that `packet` was sent on `path` for the first time. The DATA message
 * that contained the packet has `size` bytes, which begin at `bytes`. If the
 * packet needs protection, the next REPAIR on this path will cover it. */
void mmtp_repairer_cover (MmtpRepairer * self, const MmtpPath * path,
    const MmtpPacket * packet, const guint8 * bytes, gsize size);
/* If a REPAIR is due now, stores it in `repair` and returns the path on which
 * it must be sent. Otherwise returns NULL. `repair` is valid until
 * mmtp_repairer_restart() is called. */
MmtpPath *mmtp_repairer_poll (const MmtpRepairer * self, MmtpRepair * repair);
/* Stores in `repair` a REPAIR that is sent as padding. Padding is messages that
 * are sent only to measure a path. The REPAIR covers the current block of
 * `path`: the packets that the next regular REPAIR would cover. It is valid
 * until mmtp_repairer_restart() is called. Returns FALSE if the block is empty.
 */
gboolean mmtp_repairer_fill_padding (const MmtpRepairer * self,
    const MmtpPath * path, MmtpRepair * repair);
/* Begins a new block for `path`. A block is the group of packets that the next
 * REPAIR on the path will cover. Call this function after a REPAIR was sent on
 * the path. */
void mmtp_repairer_restart (MmtpRepairer * self, const MmtpPath * path);
/* Returns the time of the next REPAIR in ns; MMTP_NEVER if none is planned. */
guint64 mmtp_repairer_next_wakeup (const MmtpRepairer * self);
/* Forgets, on all paths, the packets that the next REPAIR would have covered.
 */
void mmtp_repairer_flush (MmtpRepairer * self);
