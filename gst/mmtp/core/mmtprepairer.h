/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several packets are sent again in one REPAIR message before a loss is known,
 * on a path on which a retransmission would mostly be too late, and only where
 * nothing new needs the rate.
 */

#pragma once

#include "mmtpparity.h"
#include "mmtppolicy.h"

/* Bytes that a REPAIR message is longer than a DATA message of the same content,
 * docs/wire-mmtp.md */
#define MMTP_REPAIR_RESERVE 6

/* The packets of one path that the next REPAIR has */
typedef struct
{
  MmtpBlock block;
  guint64 due, last_due;        /* ns, of the first and last of it */
  guint64 loss_time;            /* ns, when a loss was reported; 0: never */
} MmtpCover;

typedef struct
{
  const MmtpPaths *paths;
  const MmtpSendQueue *queue;
  const MmtpPolicy *policy;
  gboolean is_enabled;
  MmtpCover covers[MMTP_MAX_PATHS];     /* by the path's id */
} MmtpRepairer;

void mmtp_repairer_init (MmtpRepairer * self, const MmtpPaths * paths,
    const MmtpSendQueue * queue, const MmtpPolicy * policy,
    gboolean is_enabled);
/* Before the paths are freed */
void mmtp_repairer_clear (MmtpRepairer * self);
/* A loss was reported on the path. */
void mmtp_repairer_note_loss (MmtpRepairer * self, const MmtpPath * path);
/* Bytes that packets are shorter by, so that a REPAIR of them fits */
gsize mmtp_repairer_get_reserve (const MmtpRepairer * self);
/* A packet was sent for the first time, as this DATA message. */
void mmtp_repairer_cover (MmtpRepairer * self, const MmtpPath * path,
    const MmtpPacket * packet, const guint8 * bytes, gsize size);
/* The path on which a REPAIR goes now, and its content, which is valid until
 * mmtp_repairer_restart; NULL: none does */
MmtpPath *mmtp_repairer_poll (const MmtpRepairer * self, MmtpRepair * repair);
/* It was sent. */
void mmtp_repairer_restart (MmtpRepairer * self, const MmtpPath * path);
/* When the next one goes, ns; MMTP_NEVER: none does */
guint64 mmtp_repairer_get_wakeup (const MmtpRepairer * self);
/* Forgets all packets. */
void mmtp_repairer_flush (MmtpRepairer * self);
