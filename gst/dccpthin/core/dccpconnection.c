/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpconnection.h and dccpconnectionprivate.h: creates and
 * ends a connection, and reports its events to the application. The other files
 * of the connection call the functions of this file. Section numbers refer to
 * RFC 4340, unless another RFC is named. */

#include "dccpconnectionprivate.h"

#include <string.h>

/* A server in the state RESPOND waits for the client's Ack. If no Ack arrives,
 * the server sends a Sync. The backoff is the time in ns for which the server
 * waits before it sends this Sync. The initial value of the backoff is two
 * seconds. Each Response and each Sync doubles it. After the first Response,
 * the backoff is therefore four seconds, and the server sends its first Sync
 * after these four seconds.
 *
 * If the Response was lost, the client repeats its Request before the server
 * sends the first Sync. A client that runs on Linux repeats it after three
 * seconds, and other clients after one second. The client also doubles its
 * waiting time after each attempt. */
#define FIRST_RESPONSE_BACKOFF (2 * DCCP_SECOND)
/* Minimum time in ns before a Close or CloseReq is sent again. The round-trip
 * time may be shorter, but the peer may need some time to answer. */
#define MIN_BACKOFF DCCP_DEFAULT_ROUND_TRIP

/* --- life cycle ----------------------------------------------------------- */

void
dccp_connection_set_state (DccpConnection * connection, DccpState state)
{
  if (state != connection->state)
    dccp_common_trace (connection->common, "connection: %s to %s",
        dccp_state_get_name (connection->state), dccp_state_get_name (state));
  connection->state = state;
}

static DccpConnection *
new_connection (DccpCommon * common, guint64 now, const DatagramPath * path,
    guint64 iss, gboolean is_server)
{
  const DccpEndpointConfig *config = &common->config;
  const DccpFeaturesConfig features = {
    .is_server = is_server,
    .sequence_window = config->sequence_window,
    .min_coverage = config->min_coverage,
    .coverage = config->coverage,
    .initial_sequence = iss,
    .ccids = config->ccids,
  };
  DccpConnection *connection = g_new0 (DccpConnection, 1);

  connection->common = common;
  connection->now = now;
  dccp_timers_init (&connection->timers, now);
  connection->path = *path;
  connection->is_server = is_server;
  connection->mtu = config->mtu;
  connection->features = dccp_features_new (&features);
  dccp_half_connections_init (&connection->halves, config,
      connection->features);
  dccp_numbers_init (&connection->numbers, connection->features, iss);
  connection->service_code = config->service_code;
  return connection;
}

DccpConnection *
dccp_connection_new_client (DccpCommon * common, guint64 now,
    const DatagramPath * path, guint16 local_port, guint64 iss)
{
  DccpConnection *connection = new_connection (common, now, path, iss, FALSE);

  connection->local_port = local_port;
  connection->remote_port = common->config.remote_port;
  dccp_connection_set_state (connection, DCCP_STATE_REQUEST);
  dccp_pending_add (&connection->pending, DCCP_REQUEST);
  /* section 8.1.1 */
  dccp_timers_start (&connection->timers, now, DCCP_SECOND);
  return connection;
}

/* Makes the connection of a server when a Request has arrived (step 3 of RFC
 * 4340 section 8.5). The sequence number of the Request becomes the initial
 * sequence number of the peer. The Response is not sent here, but in step 11.
 */
DccpConnection *
dccp_connection_new_server (DccpCommon * common, guint64 now,
    const DatagramPath * path, const DccpPacket * request, guint64 iss)
{
  DccpConnection *connection = new_connection (common, now, path, iss, TRUE);

  connection->local_port = request->destination;
  connection->remote_port = request->source;
  dccp_connection_set_state (connection, DCCP_STATE_RESPOND);
  dccp_numbers_set_initial_received (&connection->numbers, request->sequence);
  dccp_numbers_add_received (&connection->numbers, now, request->sequence);
  dccp_timers_set_backoff (&connection->timers, FIRST_RESPONSE_BACKOFF);
  return connection;
}

void
dccp_connection_add_stats (DccpConnection * connection, DccpStats * stats)
{
  dccp_half_connections_add_stats (&connection->halves, stats);
}

void
dccp_connection_free (DccpConnection * connection)
{
  dccp_half_connections_clear (&connection->halves, &connection->common->stats);
  dccp_features_free (connection->features);
  g_free (connection);
}

gboolean
dccp_connection_matches (const DccpConnection * connection,
    const DatagramPath * path, const DccpPacket * packet)
{
  return connection->local_port == packet->destination
      && connection->remote_port == packet->source
      && datagram_path_equal (&connection->path, path);
}

gboolean
dccp_connection_is_over (const DccpConnection * connection)
{
  return connection->state == DCCP_STATE_CLOSED
      || connection->state == DCCP_STATE_TIME_WAIT;
}

gboolean
dccp_connection_is_open (const DccpConnection * connection)
{
  return connection->state == DCCP_STATE_PARTOPEN
      || connection->state == DCCP_STATE_OPEN;
}

/* --- events --------------------------------------------------------------- */

void
dccp_connection_tell_event (DccpConnection * connection,
    const DccpEvent * event)
{
  DccpEvent told = *event;

  told.path = connection->path;
  dccp_events_push (&connection->common->events, &told);
}

void
dccp_connection_tell_rate (DccpConnection * connection)
{
  DccpEvent event = { DCCP_EVENT_RATE };

  if (!connection->is_told)
    return;
  event.rate = dccp_half_connections_get_rate (&connection->halves);
  if (ABS ((gdouble) event.rate - (gdouble) connection->told_rate) * 10 <
      connection->told_rate || event.rate == connection->told_rate)
    return;
  dccp_common_trace (connection->common, "allowed rate: %" G_GUINT64_FORMAT
      " to %" G_GUINT64_FORMAT " bit/s", connection->told_rate, event.rate);
  connection->told_rate = event.rate;
  dccp_connection_tell_event (connection, &event);
}

void
dccp_connection_tell_connected (DccpConnection * connection)
{
  DccpEvent event = { DCCP_EVENT_CONNECTED };

  if (connection->is_told || !dccp_connection_is_open (connection)
      || !dccp_features_are_settled (connection->features))
    return;
  connection->is_told = TRUE;
  dccp_common_trace (connection->common,
      "connected: sends by CCID %u, receives by CCID %u, round trip %.1f ms",
      connection->halves.sender_ccid->number,
      connection->halves.receiver_ccid->number,
      connection->halves.round_trip / 1e6);
  connection->common->stats.connections++;
  dccp_connection_tell_event (connection, &event);
  dccp_connection_tell_rate (connection);
}

/* --- end ------------------------------------------------------------------ */

void
dccp_connection_end (DccpConnection * connection, DccpState state,
    DccpEventType type, guint8 code, const guint8 * data)
{
  DccpEvent event = { type };

  if (code)
    dccp_common_trace (connection->common, "connection ends with a Reset: %s",
        dccp_reset_code_get_name (code));
  dccp_connection_set_state (connection, state);
  /* The application of a server does not learn of a connection before the
   * connection opens. If a connection ends and has never been open, the
   * application does not know this connection. The end is then not reported to
   * the application. */
  if (connection->is_server && !connection->is_told)
    return;
  event.reset_code = code;
  if (data)
    memcpy (event.reset_data, data, sizeof (event.reset_data));
  dccp_connection_tell_event (connection, &event);
}

/* Returns whether a Reset may be sent. In the state RESPOND, the peer has not
 * acknowledged any packet yet, so its address may be forged. A Reset to such a
 * peer must not be longer than the peer's packet. It also counts towards the
 * maximum number of Resets per second. */
static gboolean
may_reset (DccpConnection * connection)
{
  DccpCommon *common = connection->common;

  if (connection->state != DCCP_STATE_RESPOND
      || (connection->answer_room >= DCCP_RESET_SIZE
          && dccp_limiter_take (&common->resets, connection->now)))
    return TRUE;
  common->stats.answers_suppressed++;
  return FALSE;
}

/* Sends a Reset with our next sequence number. The Reset acknowledges the
 * received packet with the greatest sequence number (GSR). If a client has not
 * received any packet yet, the acknowledgement number is 0. */
static void
send_reset (DccpConnection * connection, guint8 code, const guint8 * data)
{
  DccpPacket reset = {
    .source = connection->local_port,
    .destination = connection->remote_port,
    .type = DCCP_RESET,
    .extended = TRUE,
    .reset_code = code,
    .acknowledgement = connection->numbers.gsr,
  };

  reset.sequence = dccp_numbers_get_next (&connection->numbers);
  dccp_numbers_add_sent (&connection->numbers, reset.sequence);
  if (data)
    memcpy (reset.reset_data, data, sizeof (reset.reset_data));
  dccp_answers_push (&connection->common->answers, &connection->path, &reset);
  connection->common->stats.sent[DCCP_RESET]++;
}

void
dccp_connection_abort (DccpConnection * connection, DccpEventType type,
    guint8 code, const guint8 * data)
{
  if (may_reset (connection))
    send_reset (connection, code, data);
  dccp_connection_end (connection, DCCP_STATE_CLOSED, type, code, data);
}

/* --- closing -------------------------------------------------------------- */

guint64
dccp_connection_get_round_trip (DccpConnection * connection)
{
  DccpCcidSenderState state;

  dccp_half_connections_get_sender (&connection->halves, &state);
  if (state.round_trip > 0)
    return state.round_trip;
  return connection->halves.round_trip ? connection->halves.round_trip :
      DCCP_DEFAULT_ROUND_TRIP;
}

/* Begins to close the connection: enters `state`, which is CLOSEREQ or CLOSING.
 * In the state CLOSEREQ a CloseReq is sent, and in the state CLOSING a Close.
 * If the peer does not answer, the packet is repeated. The first repetition
 * follows after two round trips (section 8.3 of RFC 4340). */
static void
begin_closing (DccpConnection * connection, DccpState state)
{
  dccp_connection_set_state (connection, state);
  dccp_timers_begin (&connection->timers, connection->now);
  dccp_timers_start (&connection->timers, connection->now,
      CLAMP (2 * dccp_connection_get_round_trip (connection), MIN_BACKOFF,
          DCCP_MAX_BACKOFF));
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
    dccp_pending_add (&connection->pending, DCCP_CLOSE_REQ);
    begin_closing (connection, DCCP_STATE_CLOSE_REQ);
  } else {
    dccp_pending_add (&connection->pending, DCCP_CLOSE);
    begin_closing (connection, DCCP_STATE_CLOSING);
  }
}
