/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpended.h: a ring buffer of the connections that have
 * ended. */

#include "dccpended.h"

void
dccp_ended_add (DccpEnded * ended, guint64 now,
    const DccpConnection * connection, guint64 duration)
{
  DccpEndedConnection *entry = &ended->connections[ended->n++ % DCCP_MAX_ENDED];

  entry->path = connection->path;
  entry->local_port = connection->local_port;
  entry->remote_port = connection->remote_port;
  entry->gss = connection->numbers.gss;
  entry->gsr = connection->numbers.gsr;
  entry->in_time_wait = connection->state == DCCP_STATE_TIME_WAIT;
  entry->until = now + MIN (duration, DCCP_NEVER - now);
}

/* Returns one of the latest entries. The entry that was stored last has the
 * number 0. An entry that was never stored has only fields that are 0. */
static const DccpEndedConnection *
get (const DccpEnded * ended, guint i)
{
  return &ended->connections[(ended->n - 1 - i) % DCCP_MAX_ENDED];
}

gboolean
dccp_ended_is_last_in_time_wait (const DccpEnded * ended, guint64 now)
{
  const DccpEndedConnection *last = get (ended, 0);

  return last->in_time_wait && last->until > now;
}

/* Returns the latest ended connection with the addresses of `path` and the
 * ports of `packet`. Returns NULL if none is stored. */
static const DccpEndedConnection *
find (const DccpEnded * ended, guint64 now, const DatagramPath * path,
    const DccpPacket * packet)
{
  guint i;

  for (i = 0; i < MIN (ended->n, DCCP_MAX_ENDED); i++) {
    const DccpEndedConnection *entry = get (ended, i);

    if (entry->until > now && datagram_path_equal (&entry->path, path)
        && entry->local_port == packet->destination
        && entry->remote_port == packet->source)
      return entry;
  }
  return NULL;
}

gboolean
dccp_ended_is_in_time_wait (const DccpEnded * ended, guint64 now,
    const DatagramPath * path, const DccpPacket * packet)
{
  const DccpEndedConnection *entry = find (ended, now, path, packet);

  return entry && entry->in_time_wait;
}

gboolean
dccp_ended_is_from_peer (const DccpEnded * ended, guint64 now,
    const DatagramPath * path, const DccpPacket * packet, gint64 window)
{
  const DccpEndedConnection *entry = find (ended, now, path, packet);

  return entry && dccp_type_has_acknowledgement (packet->type)
      && dccp_sequence_is_between (packet->sequence, entry->gsr,
      dccp_sequence_add (entry->gsr, window))
      && dccp_sequence_is_between (packet->acknowledgement,
      dccp_sequence_add (entry->gss, -window), entry->gss);
}
