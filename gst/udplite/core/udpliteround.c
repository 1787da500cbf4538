/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of udpliteround.h: keeps account of which packets of a batch
 * were sent to which receiver. */

#include "udpliteround.h"

#include <string.h>

void
udplite_round_clear (UdpliteRound * round)
{
  memset (round, 0, sizeof (*round));
}

static guint
count_times (const UdpliteClient * client, gboolean has_duplicates)
{
  return has_duplicates ? client->times : 1;
}

/* Returns the current receiver, whose id is in `round`. If this receiver was
 * removed, returns the next receiver in the list, or NULL if there is none. The
 * list changes little between two calls, so the search begins at the last known
 * index of the receiver. */
static UdpliteClient *
find_client (UdpliteRound * round, const UdpliteClients * clients)
{
  const guint n = udplite_clients_get_number (clients);
  guint i = MIN (round->index, n);

  while (i > 0 && udplite_clients_get (clients, i - 1)->id >= round->id)
    i--;
  while (i < n && udplite_clients_get (clients, i)->id < round->id)
    i++;
  round->index = i;
  return i < n ? udplite_clients_get (clients, i) : NULL;
}

static void
begin_turn (UdpliteRound * round, guint64 id)
{
  round->id = id;
  round->time = round->packet = 0;
}

gboolean
udplite_round_next (UdpliteRound * round, const UdpliteClients * clients,
    gboolean has_duplicates, guint n, UdpliteTurn * turn)
{
  UdpliteClient *client;

  while ((client = find_client (round, clients))) {
    if (client->id != round->id)
      begin_turn (round, client->id);
    if (round->packet >= n) {
      round->packet = 0;
      round->time++;
    }
    if (round->time < count_times (client, has_duplicates)) {
      turn->client = client;
      turn->first = round->packet;
      turn->n = n - round->packet;
      return TRUE;
    }
    begin_turn (round, client->id + 1);
  }
  return FALSE;
}

void
udplite_round_note_sent (UdpliteRound * round, guint sent)
{
  guint i;

  for (i = 0; i < sent; i++)
    round->reached[round->packet + i] = TRUE;
  round->packet += sent;
}

void
udplite_round_skip (UdpliteRound * round)
{
  round->packet++;
}

gboolean
udplite_round_goes_once (const UdpliteClients * clients,
    gboolean has_duplicates)
{
  return udplite_clients_get_number (clients) == 1
      && count_times (udplite_clients_get (clients, 0), has_duplicates) == 1;
}
