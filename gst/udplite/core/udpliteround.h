/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A round sends a batch of packets to each receiver of a list, as many times as
 * the receiver was added. The round tells the caller what to send next, and the
 * caller reports what was sent. If a socket has no room, the round can be
 * resumed later, even if receivers were added or removed meanwhile. The code
 * uses no sockets.
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
  /* id of the current receiver; the list is sorted by id */
  guint64 id;
  /* last known index of the current receiver in the list of receivers */
  guint index;
  /* number of times that the current receiver got all packets of the batch */
  guint time;
  /* Index, within the batch, of the next packet for the current receiver. The
   * receiver may get the batch several times. The index then restarts at 0 each
   * time. */
  guint packet;
  /* for each packet of the batch, TRUE if at least one receiver got it */
  gboolean reached[UDPLITE_MAX_ROUND];
} UdpliteRound;

/* A range of packets that has to be sent to one receiver */
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
/* Records that packets were sent: the first `sent` packets of the range that
 * the last call of udplite_round_next () has returned. */
void udplite_round_note_sent (UdpliteRound * round, guint sent);
/* Records that the next packet will not be sent to the current receiver,
 * because sending it has failed. */
void udplite_round_skip (UdpliteRound * round);

/* Returns TRUE if there is only one receiver and it gets no duplicates. Each
 * packet is then sent exactly once. */
gboolean udplite_round_goes_once (const UdpliteClients * clients,
    gboolean has_duplicates);
