/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which numbers of packets are valid (RFC 4340 section 7.5). */

#include "dccpconnection.h"

/* Section 7.5.1: of the packets that come. W: Sequence Window of the other end */
static guint64
get_swl (DccpConnection * connection)
{
  const guint64 w = dccp_features_get (connection->features,
      DCCP_FEATURE_SEQUENCE_WINDOW, FALSE);
  const guint64 swl = dccp_sequence_add (connection->gsr, 1 - (gint64) (w / 4));

  return dccp_sequence_difference (swl, connection->isr) < 0 ?
      connection->isr : swl;
}

static guint64
get_swh (DccpConnection * connection)
{
  const guint64 w = dccp_features_get (connection->features,
      DCCP_FEATURE_SEQUENCE_WINDOW, FALSE);

  return dccp_sequence_add (connection->gsr, (3 * w + 3) / 4);
}

/* Of what they acknowledge; AWH is GSS. */
static guint64
get_awl (DccpConnection * connection)
{
  const guint64 w = dccp_features_get (connection->features,
      DCCP_FEATURE_SEQUENCE_WINDOW, TRUE);
  const guint64 awl = dccp_sequence_add (connection->gss, 1 - (gint64) w);

  return dccp_sequence_difference (awl, connection->iss) < 0 ?
      connection->iss : awl;
}

/* They end a connection, and so must be new (section 7.5.3). */
static gboolean
ends_connection (DccpType type)
{
  return type == DCCP_CLOSE_REQ || type == DCCP_CLOSE || type == DCCP_RESET;
}

gboolean
dccp_connection_is_sequence_valid (DccpConnection * connection,
    const DccpPacket * packet)
{
  const guint64 low = ends_connection (packet->type) ?
      dccp_sequence_add (connection->gsr, 1) : get_swl (connection);

  return dccp_sequence_is_between (packet->sequence, low, get_swh (connection));
}

gboolean
dccp_connection_is_acknowledgement_valid (DccpConnection * connection,
    const DccpPacket * packet)
{
  const guint64 low = ends_connection (packet->type) ? connection->gar :
      get_awl (connection);

  if (!dccp_type_has_acknowledgement (packet->type))
    return TRUE;
  /* Nothing was sent yet. */
  if (dccp_sequence_add (connection->gss, 1) == connection->iss)
    return FALSE;
  return dccp_sequence_is_between (packet->acknowledgement, low,
      connection->gss);
}

/* Sync and SyncAck may jump ahead, but not while packets come: a connection is
 * active that had a valid one within three round trips (section 7.5.3). They never
 * do in RESPOND: a host answers our Response with a Sync if it has sent no such
 * Request, because the Request was forged in its name. */
gboolean
dccp_connection_is_sync_valid (DccpConnection * connection,
    const DccpPacket * packet)
{
  const guint64 active = 3 * dccp_connection_get_round_trip (connection);

  if (!dccp_connection_is_acknowledgement_valid (connection, packet))
    return FALSE;
  if (connection->state == DCCP_STATE_RESPOND
      || connection->now - connection->heard < active)
    return dccp_connection_is_sequence_valid (connection, packet);
  return dccp_sequence_difference (packet->sequence, get_swl (connection)) >= 0;
}

void
dccp_connection_set_gsr (DccpConnection * connection, guint64 sequence)
{
  if (dccp_sequence_difference (sequence, connection->gsr) <= 0)
    return;
  connection->gsr = sequence;
  connection->gsr_time = connection->now;
}

void
dccp_connection_set_gar (DccpConnection * connection, guint64 acknowledgement)
{
  if (dccp_sequence_difference (acknowledgement, connection->gar) > 0)
    connection->gar = acknowledgement;
}
