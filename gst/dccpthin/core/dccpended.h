/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The latest connections of a DCCP endpoint that have ended. The endpoint keeps
 * an entry for each of them for some time. It can then recognise packets that
 * still arrive from the peer of such a connection, and it knows which addresses
 * and ports are in the state TIMEWAIT. Times are in ns.
 */

#pragma once

#include "dccpconnection.h"

#define DCCP_MAX_ENDED 16

/* one connection that has ended */
typedef struct
{
  DatagramPath path;
  guint16 local_port, remote_port;
  /* `gss` is the greatest sequence number that was sent in this connection, and
   * `gsr` the greatest that was received (GSS and GSR of RFC 4340). */
  guint64 gss, gsr;
  /* TRUE if the connection ended in the state TIMEWAIT. Its addresses and ports
   * must then not be used for a new connection before `until`. */
  gboolean in_time_wait;
  guint64 until;                /* ns */
} DccpEndedConnection;

/* All fields are 0 at first. */
typedef struct
{
  DccpEndedConnection connections[DCCP_MAX_ENDED];
  /* Number of ended connections that were stored in `connections` so far. Only
   * the latest DCCP_MAX_ENDED of them are still in it. */
  guint n;
} DccpEnded;

/* Stores the addresses, ports and sequence numbers of `connection`, which has
 * ended and may be in the state TIMEWAIT. The caller can then free it. The
 * entry is valid for `duration` ns. */
void dccp_ended_add (DccpEnded * ended, guint64 now,
    const DccpConnection * connection, guint64 duration);
/* Returns whether the connection that ended last is in the state TIMEWAIT. */
gboolean dccp_ended_is_last_in_time_wait (const DccpEnded * ended,
    guint64 now);
/* Returns whether the latest connection with the addresses of `path` and the
 * ports of `packet` is in the state TIMEWAIT. */
gboolean dccp_ended_is_in_time_wait (const DccpEnded * ended, guint64 now,
    const DatagramPath * path, const DccpPacket * packet);
/* Returns whether a packet seems to come from the peer of an earlier
 * connection, which has ended. The packet must have the addresses and ports of
 * that connection. An attacker can forge these. The packet must therefore also
 * have valid sequence and acknowledgement numbers, which an attacker does not
 * know. They may differ by at most `window` from the last numbers of the
 * connection.
 *
 * An acknowledgement number is valid only if we have sent a packet with this
 * number. This excludes certain Syncs: if an attacker sends forged packets to
 * the peer, the peer answers them with Syncs that it sends to us. These Syncs
 * acknowledge numbers that we never sent, so the result for them is FALSE. */
gboolean dccp_ended_is_from_peer (const DccpEnded * ended, guint64 now,
    const DatagramPath * path, const DccpPacket * packet, gint64 window);
