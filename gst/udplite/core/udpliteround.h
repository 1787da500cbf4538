/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A round: packets that go to each receiver of a list, as often as it was added.
 * It says what to send next and is told what was sent, so that it goes on where
 * a socket had no room, although receivers come and go meanwhile. It has no
 * sockets.
 *
 *   while (udplite_round_next (&round, clients, duplicates, n, &turn)) {
 *     udplite_round_note_sent (&round, number that was sent);
 *     if the next packet failed: udplite_round_skip (&round);
 *     if there is no room: stop, and begin again here
 *   }
 *   udplite_round_clear (&round);
 */

#pragma once

#include "udpliteclients.h"

#define UDPLITE_MAX_ROUND 64    /* packets */

/* All zero is the beginning. */
typedef struct
{
  guint64 id;                   /* of the receiver whose turn it is; receivers
                                 * are in the order of their ids */
  guint index;                  /* where it was in the list last */
  guint time;                   /* how often it got all packets */
  guint packet;                 /* how many it got of the next time */
  gboolean reached[UDPLITE_MAX_ROUND];  /* some receiver got the packet. */
} UdpliteRound;

/* Packets to be sent to one receiver */
typedef struct
{
  UdpliteClient *client;
  guint first, n;
} UdpliteTurn;

void udplite_round_clear (UdpliteRound * round);

/* The next turn of a round of `n` packets. has_duplicates: who was added several
 * times gets each packet so often. FALSE: the round is over. */
gboolean udplite_round_next (UdpliteRound * round,
    const UdpliteClients * clients, gboolean has_duplicates, guint n,
    UdpliteTurn * turn);
/* The first packets of the turn were sent. */
void udplite_round_note_sent (UdpliteRound * round, guint sent);
/* The receiver does not get the next packet. */
void udplite_round_skip (UdpliteRound * round);

/* Whether a packet goes once in all */
gboolean udplite_round_goes_once (const UdpliteClients * clients,
    gboolean has_duplicates);
