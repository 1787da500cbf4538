/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sequence numbers of a DCCP connection (RFC 4340 section 7.1), and the
 * check whether the numbers of a received packet are valid (section 7.5). A
 * packet whose numbers are invalid may be old or forged. Section numbers in
 * this file refer to RFC 4340.
 */

#pragma once

#include "dccpfeatures.h"
#include "dccppacket.h"

typedef struct
{
  /* features of the connection; the Sequence Windows are among them */
  DccpFeatures *features;
  /* `iss` (ISS) is the first sequence number that we sent, and `isr` (ISR) is
   * the first that we received. */
  guint64 iss, isr;
  /* `gss` (GSS) is the greatest sequence number that we have sent, and `gsr`
   * (GSR) is the greatest that we have received. `gar` (GAR) is the greatest of
   * our own sequence numbers that the peer has acknowledged. */
  guint64 gss, gsr, gar;
  guint64 gsr_time;             /* arrival time in ns of the packet with GSR */
  guint64 osr;                  /* first sequence number received in OPEN */
  /* First sequence number that we send in the state OPEN. When the client has
   * acknowledged this number or a greater one, the server knows that the client
   * is in the state OPEN, too. */
  guint64 first_open;
} DccpNumbers;

/* Prepares the numbers of a connection that has sent and received nothing. All
 * fields must be 0. */
void dccp_numbers_init (DccpNumbers * numbers, DccpFeatures * features,
    guint64 iss);
/* Returns the sequence number of the next packet that we send. */
guint64 dccp_numbers_get_next (const DccpNumbers * numbers);
/* Called when the packet `sequence` is sent. This number is higher than those
 * of all packets that were sent before, usually by 1. */
void dccp_numbers_add_sent (DccpNumbers * numbers, guint64 sequence);
/* Sets ISR, the sequence number of the first packet from the peer. The caller
 * must then call dccp_numbers_add_received () for this packet, as for any other
 * packet. */
void dccp_numbers_set_initial_received (DccpNumbers * numbers,
    guint64 sequence);
/* Called when a valid packet has arrived. Returns TRUE if its sequence number
 * is greater than those of all packets that have arrived before. */
gboolean dccp_numbers_add_received (DccpNumbers * numbers, guint64 now,
    guint64 sequence);
/* Called when a valid packet has acknowledged the number `acknowledgement`. */
void dccp_numbers_add_acknowledged (DccpNumbers * numbers,
    guint64 acknowledgement);
/* Called when the packet `sequence` of the peer changes the state of the
 * connection to OPEN. */
void dccp_numbers_open (DccpNumbers * numbers, guint64 sequence);

gboolean dccp_numbers_is_sequence_valid (const DccpNumbers * numbers,
    const DccpPacket * packet);
/* Returns whether the acknowledgement number of `packet` is valid. If a packet
 * of this type has no acknowledgement number, the result is TRUE. */
gboolean dccp_numbers_is_acknowledgement_valid (const DccpNumbers * numbers,
    const DccpPacket * packet);
/* Returns whether both numbers of a Sync or SyncAck are valid. If `in_window`
 * is FALSE, the sequence number may also be above the sequence window. */
gboolean dccp_numbers_is_sync_valid (const DccpNumbers * numbers,
    const DccpPacket * packet, gboolean in_window);
