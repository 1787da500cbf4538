/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The control packets that wait to be sent on a DCCP connection. There is at
 * most one of each type. Only the type is stored, because the packet itself is
 * written when it is sent. Acks are not among these packets: whether an Ack is
 * sent also depends on the congestion control and on the feature negotiation.
 */

#pragma once

#include "dccppacket.h"

typedef struct
{
  guint types;                  /* for each type, the bit 1 << type */
  /* acknowledgement numbers of the Sync and of the SyncAck */
  guint64 sync_number, sync_ack_number;
  /* Maximum size of the Sync in bytes. A Sync that answers a packet must not be
   * longer than this packet. */
  gsize sync_room;
} DccpPending;

/* Adds a packet whose type is Request, Response, CloseReq or Close. */
void dccp_pending_add (DccpPending * pending, DccpType type);
void dccp_pending_add_sync (DccpPending * pending, guint64 number, gsize room);
void dccp_pending_add_sync_ack (DccpPending * pending, guint64 number);
void dccp_pending_remove (DccpPending * pending, DccpType type);
/* Removes the packet that must be sent next, and sets `type` to its type.
 * Returns FALSE if no packet waits. */
gboolean dccp_pending_take (DccpPending * pending, DccpType * type);
