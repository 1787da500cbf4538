/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpconnectiontimeouts.h: the actions of a connection when
 * its timers expire. Section numbers refer to RFC 4340. */

#include "dccpconnectiontimeouts.h"

#include "dccpconnectionoutput.h"
#include "dccpconnectionprivate.h"

static guint64
get_deadline (DccpConnection * connection)
{
  return dccp_timers_get_deadline (&connection->timers,
      &connection->common->config, connection->state, connection->is_told);
}

static guint64
get_probe_time (DccpConnection * connection)
{
  /* A Sync is sent to find out whether the peer still answers. A client that
   * still has to return Init Cookies sends no Sync, because a server that has
   * stored no state would answer the Sync with a Reset. The client sends an Ack
   * with the Init Cookies instead, and the server has to answer this Ack, too.
   */
  if (!dccp_connection_is_open (connection)
      || !dccp_cookie_list_is_empty (&connection->cookies))
    return DCCP_NEVER;
  return dccp_timers_get_probe_time (&connection->timers,
      connection->common->config.idle_timeout);
}

guint64
dccp_connection_next_wakeup (DccpConnection * connection)
{
  guint64 next = MIN (connection->timers.retransmit_at,
      get_deadline (connection));

  if (!dccp_connection_is_open (connection))
    return next;
  next = MIN (next, get_probe_time (connection));
  next = MIN (next, dccp_half_connections_next_wakeup (&connection->halves));
  return MIN (next, dccp_features_next_wakeup (connection->features));
}

/* Called when an answer has not arrived in time. Sends the unanswered packet
 * again.
 *
 * A server in the state RESPOND waits for an Ack that answers its Response. It
 * should not repeat the Response (section 8.1.3), so it sends a Sync instead. A
 * client that has received the Response must answer the Sync. This answer
 * completes the handshake (section 8.5, step 11). The server cannot just wait
 * for another Ack: a client that only receives data need not repeat its Ack,
 * and a client on Linux does not repeat it. */
static void
retransmit (DccpConnection * connection)
{
  switch (connection->state) {
    case DCCP_STATE_REQUEST:
      dccp_pending_add (&connection->pending, DCCP_REQUEST);
      break;
    case DCCP_STATE_RESPOND:
      dccp_connection_request_sync (connection, connection->numbers.gsr,
          connection->answer_room);
      break;
    case DCCP_STATE_PARTOPEN:
      connection->owes_ack = TRUE;
      break;
    case DCCP_STATE_CLOSE_REQ:
      dccp_pending_add (&connection->pending, DCCP_CLOSE_REQ);
      break;
    case DCCP_STATE_CLOSING:
      dccp_pending_add (&connection->pending, DCCP_CLOSE);
      break;
    default:
      dccp_timers_stop (&connection->timers);
      return;
  }
  dccp_timers_back_off (&connection->timers, connection->now);
}

/* Called if the peer has not answered in time. Ends the connection with a
 * Reset, because the peer may still exist. If the feature negotiation is not
 * complete, the Reset has the code Option Error. */
static void
give_up (DccpConnection * connection)
{
  const gboolean is_unsettled = connection->state == DCCP_STATE_OPEN
      && !connection->is_told;

  if (is_unsettled)
    dccp_connection_abort (connection, DCCP_EVENT_ABORTED,
        DCCP_RESET_OPTION_ERROR, NULL);
  else
    dccp_connection_abort (connection, DCCP_EVENT_TIMED_OUT,
        DCCP_RESET_ABORTED, NULL);
}

/* Sends a Sync to find out whether the peer still exists. */
static void
probe (DccpConnection * connection)
{
  dccp_pending_add_sync (&connection->pending, connection->numbers.gsr,
      DCCP_MAX_CONTROL);
  dccp_timers_probed (&connection->timers, connection->now,
      connection->common->config.idle_timeout);
}

void
dccp_connection_timeout (DccpConnection * connection, guint64 now)
{
  connection->now = now;
  if (dccp_connection_is_over (connection))
    return;
  if (now >= get_deadline (connection)) {
    give_up (connection);
    return;
  }
  if (now >= connection->timers.retransmit_at)
    retransmit (connection);
  if (!dccp_connection_is_open (connection))
    return;
  if (now >= get_probe_time (connection))
    probe (connection);
  if (dccp_half_connections_timeout (&connection->halves, now))
    dccp_connection_tell_rate (connection);
}
