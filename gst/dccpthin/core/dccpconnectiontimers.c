/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a connection says something again, asks whether anybody is there, or gives
 * up (RFC 4340 section 8). */

#include "dccpconnection.h"

/* Half-open, or not agreed: 4 MSL (sections 8.1.1, 8.1.3, 8.1.5) */
#define PATIENCE (4 * DCCP_MSL)
/* A connection is asked after half of the idle timeout, and then in eighths. */
#define PROBE_FIRST 2
#define PROBE_AGAIN 8
/* Who answers may have other things to do first, however near it is. */
#define LEAST_BACKOFF DCCP_DEFAULT_ROUND_TRIP

/* --- closing ------------------------------------------------------------------ */

/* Section 8.3: first after two round trips */
static void
begin_closing (DccpConnection * connection, DccpState state)
{
  connection->state = state;
  connection->began = connection->now;
  connection->backoff = CLAMP (2 * dccp_connection_get_round_trip (connection),
      LEAST_BACKOFF, DCCP_MAX_BACKOFF);
  connection->retransmit_at = connection->now + connection->backoff;
}

void
dccp_connection_close (DccpConnection * connection, guint64 now)
{
  connection->now = now;
  if (connection->state == DCCP_STATE_REQUEST
      || connection->state == DCCP_STATE_RESPOND) {
    dccp_connection_abort (connection, DCCP_EVENT_CLOSED, DCCP_RESET_ABORTED,
        NULL);
    return;
  }
  if (!dccp_connection_is_open (connection))
    return;
  connection->owes_ack = FALSE;
  if (connection->is_server) {
    connection->owes_close_req = TRUE;
    begin_closing (connection, DCCP_STATE_CLOSE_REQ);
  } else {
    connection->owes_close = TRUE;
    begin_closing (connection, DCCP_STATE_CLOSING);
  }
}

/* --- the times ------------------------------------------------------------------ */

static guint64
after (guint64 time, guint64 duration)
{
  return duration == 0 || duration > DCCP_NEVER - time ? DCCP_NEVER :
      time + duration;
}

static guint64
get_deadline (DccpConnection * connection)
{
  const DccpEndpointConfig *config = &connection->common->config;
  guint64 deadline;

  switch (connection->state) {
    case DCCP_STATE_REQUEST:
      return after (connection->began, config->connect_timeout);
    case DCCP_STATE_RESPOND:
      return connection->began + PATIENCE;
    case DCCP_STATE_CLOSE_REQ:
    case DCCP_STATE_CLOSING:
      return after (connection->began, config->idle_timeout ?
          config->idle_timeout : PATIENCE);
    default:
      deadline = after (connection->heard, config->idle_timeout);
      if (connection->state == DCCP_STATE_PARTOPEN || !connection->is_told)
        deadline = MIN (deadline, connection->began + PATIENCE);
      return deadline;
  }
}

static guint64
get_probe_time (DccpConnection * connection)
{
  /* A server that knows nothing of us without its cookies would answer a Sync with
   * a Reset: the Ack that has them asks enough. */
  if (!dccp_connection_is_open (connection) || connection->cookies_size > 0)
    return DCCP_NEVER;
  if (connection->probe_at != DCCP_NEVER)
    return connection->probe_at;
  return after (connection->heard,
      connection->common->config.idle_timeout / PROBE_FIRST);
}

guint64
dccp_connection_next_wakeup (DccpConnection * connection)
{
  guint64 next = MIN (connection->retransmit_at, get_deadline (connection));

  if (!dccp_connection_is_open (connection))
    return next;
  next = MIN (next, get_probe_time (connection));
  next = MIN (next, tfrc_sender_next_wakeup (connection->sender));
  next = MIN (next, tfrc_receiver_next_wakeup (connection->receiver));
  return MIN (next, dccp_features_next_wakeup (connection->features));
}

/* --- when they have come ------------------------------------------------------- */

void
dccp_connection_back_off (DccpConnection * connection)
{
  connection->backoff = MIN (2 * connection->backoff, DCCP_MAX_BACKOFF);
  connection->retransmit_at = connection->now + connection->backoff;
}

/* A server should not repeat its Response (section 8.1.3), and a client that
 * only receives may not repeat its Ack, as Linux. A Sync must be answered, and
 * the answer of a client that had the Response completes the handshake (8.5, step
 * 11). */
static void
retransmit (DccpConnection * connection)
{
  switch (connection->state) {
    case DCCP_STATE_REQUEST:
      connection->owes_request = TRUE;
      break;
    case DCCP_STATE_RESPOND:
      dccp_connection_owe_sync (connection, connection->gsr,
          connection->answer_room);
      break;
    case DCCP_STATE_PARTOPEN:
      connection->owes_ack = TRUE;
      break;
    case DCCP_STATE_CLOSE_REQ:
      connection->owes_close_req = TRUE;
      break;
    case DCCP_STATE_CLOSING:
      connection->owes_close = TRUE;
      break;
    default:
      connection->retransmit_at = DCCP_NEVER;
      return;
  }
  dccp_connection_back_off (connection);
}

/* The other end may be there all the same, and hears it. Negotiation that does not
 * end is an error of the options. */
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

/* A Sync must be answered, whatever the other end's data: DCCP has no other
 * keep-alive. */
static void
probe (DccpConnection * connection)
{
  const guint64 again = connection->common->config.idle_timeout / PROBE_AGAIN;

  connection->owes_sync = TRUE;
  connection->sync_number = connection->gsr;
  connection->sync_room = DCCP_LONGEST_CONTROL;
  connection->probe_at = connection->now + MAX (again, DCCP_MILLISECOND);
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
  if (now >= connection->retransmit_at)
    retransmit (connection);
  if (!dccp_connection_is_open (connection))
    return;
  if (now >= get_probe_time (connection))
    probe (connection);
  if (now >= tfrc_sender_next_wakeup (connection->sender)) {
    tfrc_sender_timeout (connection->sender, now);
    dccp_connection_tell_rate (connection);
  }
}
