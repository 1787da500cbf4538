/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A round is the sending of one batch of packets to all receivers of a list. A
 * receiver that was added several times gets the batch several times. This code
 * only keeps account, and uses no sockets: it tells the caller what to send
 * next, and the caller reports what was sent. If a socket has no room, the
 * caller can resume the round later, even if receivers were added or removed
 * meanwhile.
 *
 *   while (udplite_round_next (&round, clients, duplicates, n, &turn)) {
 *     udplite_round_note_sent (&round, number of sent packets);
 *     if the next packet failed: udplite_round_skip (&round);
 *     if there is no room: stop, and later resume here
 *   }
 *   udplite_round_clear (&round);
 */

#pragma once

#include "udpliteclients.h"

#define UDPLITE_MAX_ROUND 64    /* maximum number of packets */

/* State of a round, which sends a batch of packets to all receivers. All fields
 * are zero when the round begins. */
typedef struct
{
  /* id of the current receiver; the list of receivers is sorted by id */
  guint64 id;
  /* Index of the current receiver in the list of receivers. It may be outdated,
   * because receivers may have been added or removed since it was set. */
  guint index;
  /* number of times that the whole batch has been sent to the current receiver
   */
  guint time;
  /* Index, within the batch, of the next packet for the current receiver. The
   * receiver may get the batch several times. The index then restarts at 0 each
   * time. */
  guint packet;
  /* array with one element for each packet of the batch: TRUE if the packet was
   * sent to at least one receiver */
  gboolean reached[UDPLITE_MAX_ROUND];
} UdpliteRound;

/* Packets that have to be sent to the receiver `client` next: `n` packets of
 * the batch, beginning with the index `first` */
typedef struct
{
  UdpliteClient *client;
  guint first, n;
} UdpliteTurn;

void udplite_round_clear (UdpliteRound * round);

/* Stores in `turn` which packets are sent next, and to which receiver. `n` is
 * the number of packets in the batch. If `has_duplicates` is TRUE, a receiver
 * that was added k times gets each packet k times. Returns FALSE if nothing is
 * left to send. */
gboolean udplite_round_next (UdpliteRound * round,
    const UdpliteClients * clients, gboolean has_duplicates, guint n,
    UdpliteTurn * turn);
/* Records that the caller has sent packets: the first `sent` packets of the
 * range that udplite_round_next () has returned last. */
void udplite_round_note_sent (UdpliteRound * round, guint sent);
/* Records that the next packet will not be sent to the current receiver,
 * because sending it has failed. */
void udplite_round_skip (UdpliteRound * round);

/* Returns whether each packet is sent exactly once. This is so if there is only
 * one receiver and it gets no duplicates. */
gboolean udplite_round_goes_once (const UdpliteClients * clients,
    gboolean has_duplicates);
