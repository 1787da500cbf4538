/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* List of the packets that arrived here but whose data we dropped. Each packet
 * stays in the list until it was reported to the peer several times, in the
 * option Data Dropped (RFC 4340 section 11.7).
 */

#pragma once

#include "dccpoptions.h"

/* Maximum number of dropped packets in the list. If a packet is added to a full
 * list, the packet with the lowest sequence number is removed. */
#define DCCP_MAX_DROPPED 256

typedef struct
{
  guint64 sequence;
  guint8 code;
  /* Number of further times that this packet has to be reported to the peer. */
  guint8 reports;
} DccpDrop;

typedef struct
{
  /* The dropped packets that still have to be reported. They are sorted: the
   * packet with the highest sequence number is the first. */
  DccpDrop drops[DCCP_MAX_DROPPED];
  guint n;
} DccpDropped;

/* Adds the packet with the sequence number `sequence` to the list of dropped
 * packets. Returns FALSE in two cases: the list already contains this packet,
 * or the list is full and all packets in it have higher sequence numbers. */
gboolean dccp_dropped_add (DccpDropped * dropped, guint64 sequence,
    DccpDropCode code);
/* Writes the option Data Dropped. The option describes consecutive packets in
 * the order of decreasing sequence numbers. `acknowledgement` is the sequence
 * number of the first packet that is described. If there is not enough room to
 * report all dropped packets, those with the lowest sequence numbers are left
 * out. */
void dccp_dropped_write (DccpDropped * dropped, guint64 acknowledgement,
    DccpOptionWriter * writer);
