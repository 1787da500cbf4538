/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* List of the packets that arrived and that we dropped. Each packet stays in
 * the list until it was reported to the peer by the option Data Dropped (RFC
 * 4340 section 11.7).
 */

#pragma once

#include "dccpoptions.h"

/* Maximum length of the list. When it is full, the lowest sequence number is
 * removed. */
#define DCCP_MAX_DROPPED 256

typedef struct
{
  guint64 sequence;
  guint8 code;
  /* how many more times the packet has to be reported to the peer */
  guint8 reports;
} DccpDrop;

typedef struct
{
  /* packets in the order of decreasing sequence numbers */
  DccpDrop drops[DCCP_MAX_DROPPED];
  guint n;
} DccpDropped;

/* Adds the packet with the number `sequence`. Returns FALSE if the list already
 * contains this packet, or if the list is full and all of its packets have
 * higher numbers. */
gboolean dccp_dropped_add (DccpDropped * dropped, guint64 sequence,
    DccpDropCode code);
/* Writes the option Data Dropped. The option describes the packets in the order
 * of decreasing sequence numbers, and begins with the packet `acknowledgement`.
 * If there is not enough room for all dropped packets, the oldest ones are left
 * out. */
void dccp_dropped_write (DccpDropped * dropped, guint64 acknowledgement,
    DccpOptionWriter * writer);
