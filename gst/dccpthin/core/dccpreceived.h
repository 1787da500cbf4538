/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Record of the packets that have arrived on a DCCP connection. It tells which
 * packets are duplicates, and whether data are missing before a packet.
 */

#pragma once

#include "dccphistory.h"

typedef struct
{
  DccpHistory packets;
  /* Greatest sequence number of the packets whose data was delivered to the
   * application. */
  guint64 delivered;
} DccpReceived;

/* Called when the half-connections begin. Data that were sent before the packet
 * `sequence` do not count as missing. */
void dccp_received_begin (DccpReceived * received, guint64 sequence);
/* Records that a valid packet has arrived. Returns FALSE if a packet with this
 * sequence number has arrived before, or if it is too old for the record. */
gboolean dccp_received_add (DccpReceived * received, guint64 sequence);
/* Called when the data of the packet `sequence` are delivered to the
 * application. Returns TRUE if packets with data seem to be missing directly
 * before this packet. `ndp` is the value of its option NDP Count, or 0. */
gboolean dccp_received_deliver (DccpReceived * received, guint64 sequence,
    guint64 ndp);
