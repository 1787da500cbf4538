/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccppending.h: the control packets that wait to be sent. */

#include "dccppending.h"

/* order in which waiting packets are sent */
static const DccpType order[] = {
  DCCP_REQUEST, DCCP_RESPONSE, DCCP_SYNC, DCCP_SYNC_ACK, DCCP_CLOSE_REQ,
  DCCP_CLOSE
};

void
dccp_pending_add (DccpPending * pending, DccpType type)
{
  pending->types |= 1U << type;
}

void
dccp_pending_add_sync (DccpPending * pending, guint64 number, gsize room)
{
  dccp_pending_add (pending, DCCP_SYNC);
  pending->sync_number = number;
  pending->sync_room = room;
}

void
dccp_pending_add_sync_ack (DccpPending * pending, guint64 number)
{
  dccp_pending_add (pending, DCCP_SYNC_ACK);
  pending->sync_ack_number = number;
}

void
dccp_pending_remove (DccpPending * pending, DccpType type)
{
  pending->types &= ~(1U << type);
}

gboolean
dccp_pending_take (DccpPending * pending, DccpType * type)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (order); i++) {
    if (!(pending->types & 1U << order[i]))
      continue;
    *type = order[i];
    dccp_pending_remove (pending, order[i]);
    return TRUE;
  }
  return FALSE;
}
