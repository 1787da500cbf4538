/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A connection's life: how it begins, what it measures, what it tells, how it
 * ends. What comes in is in dccpconnectionreceive.c, what goes out in
 * dccpconnectionoutput.c, and when in dccpconnectiontimers.c. */

#include "dccpconnection.h"

#include <string.h>

/* Doubled with each Response: then later than the next Request of a client that
 * had none, which comes after a second, of Linux after three, and is doubled
 * too */
#define FIRST_RESPONSE_BACKOFF (2 * DCCP_SECOND)

/* --- begin and end --------------------------------------------------------- */

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
  };
  DccpConnection *connection = g_new0 (DccpConnection, 1);

  connection->common = common;
  connection->now = connection->began = connection->heard = now;
  connection->path = *path;
  connection->is_server = is_server;
  connection->mtu = config->mtu;
  connection->features = dccp_features_new (&features);
  connection->iss = connection->gar = connection->told_lost = iss;
  connection->gss = dccp_sequence_add (iss, -1);
  connection->service_code = config->service_code;
  connection->retransmit_at = connection->probe_at = DCCP_NEVER;
  return connection;
}

DccpConnection *
dccp_connection_new_client (DccpCommon * common, guint64 now,
    const DatagramPath * path, guint16 local_port, guint64 iss)
{
  DccpConnection *connection = new_connection (common, now, path, iss, FALSE);

  connection->local_port = local_port;
  connection->remote_port = common->config.remote_port;
  connection->state = DCCP_STATE_REQUEST;
  connection->owes_request = TRUE;
  connection->backoff = DCCP_SECOND;    /* section 8.1.1 */
  connection->retransmit_at = now + connection->backoff;
  return connection;
}

/* Step 3: the numbers of the other end are those of its Request; the Response
 * follows in step 11. */
DccpConnection *
dccp_connection_new_server (DccpCommon * common, guint64 now,
    const DatagramPath * path, const DccpPacket * request, guint64 iss)
{
  DccpConnection *connection = new_connection (common, now, path, iss, TRUE);

  connection->local_port = request->destination;
  connection->remote_port = request->source;
  connection->state = DCCP_STATE_RESPOND;
  connection->isr = connection->gsr = request->sequence;
  connection->gsr_time = now;
  connection->backoff = FIRST_RESPONSE_BACKOFF;
  dccp_features_set_initial_received (connection->features, connection->isr);
  return connection;
}

void
dccp_connection_add_stats (DccpConnection * connection, DccpStats * stats)
{
  TfrcReceiverState receiver;
  TfrcSenderState sender;

  if (!connection->sender)
    return;
  tfrc_sender_get_state (connection->sender, &sender);
  stats->feedback_received += sender.feedbacks;
  stats->no_feedback += sender.no_feedbacks;
  tfrc_receiver_get_state (connection->receiver, &receiver);
  stats->lost += receiver.lost;
  stats->loss_events += receiver.loss_events;
  stats->reordered += receiver.reordered;
  stats->duplicates += receiver.duplicates;
}

void
dccp_connection_free (DccpConnection * connection)
{
  dccp_connection_add_stats (connection, &connection->common->stats);
  if (connection->sender) {
    tfrc_sender_free (connection->sender);
    tfrc_receiver_free (connection->receiver);
  }
  dccp_features_free (connection->features);
  g_free (connection);
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

void
dccp_connection_end (DccpConnection * connection, DccpState state,
    DccpEventType type, guint8 code, const guint8 * data)
{
  DccpEvent event = { type };

  connection->state = state;
  /* Of what never was a connection the application heard nothing. */
  if (connection->is_server && !connection->is_told)
    return;
  event.reset_code = code;
  if (data)
    memcpy (event.reset_data, data, sizeof (event.reset_data));
  dccp_connection_tell (connection, &event);
}

/* As long as nobody has acknowledged anything it goes to an address that anybody may
 * have forged: as an answer to a stranger it is limited. */
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

/* Its numbers are ours, but a client that has not heard of its server has none to
 * acknowledge. */
static void
send_reset (DccpConnection * connection, guint8 code, const guint8 * data)
{
  DccpPacket reset = {
    .source = connection->local_port,
    .destination = connection->remote_port,
    .type = DCCP_RESET,
    .extended = TRUE,
    .reset_code = code,
    .acknowledgement = connection->gsr,
  };

  connection->gss = dccp_sequence_add (connection->gss, 1);
  reset.sequence = connection->gss;
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

/* --- half-connections ------------------------------------------------------- */

guint64
dccp_connection_get_round_trip (DccpConnection * connection)
{
  TfrcSenderState state = { 0 };

  if (connection->sender)
    tfrc_sender_get_state (connection->sender, &state);
  if (state.round_trip > 0)
    return state.round_trip;
  return connection->round_trip ? connection->round_trip :
      DCCP_DEFAULT_ROUND_TRIP;
}

/* What the handshake measured; TFRC's own samples come after it. */
void
dccp_connection_set_round_trip (DccpConnection * connection, guint64 round_trip)
{
  connection->round_trip = MAX (round_trip, 1);
  dccp_features_set_round_trip (connection->features, connection->round_trip);
  if (connection->sender) {
    tfrc_sender_set_round_trip (connection->sender, connection->now,
        connection->round_trip);
    tfrc_receiver_set_round_trip (connection->receiver, connection->round_trip);
  }
}

void
dccp_connection_open (DccpConnection * connection, guint64 sequence)
{
  const DccpEndpointConfig *config = &connection->common->config;
  /* The one before it is as if it came: this one may have data. */
  TfrcReceiverConfig receiver = { config->equation,
    dccp_sequence_add (sequence, -1)
  };
  TfrcSenderConfig sender;

  tfrc_sender_config_init (&sender);
  sender.equation = config->equation;
  sender.segment_size = config->segment_size;
  sender.max_segment = dccp_connection_get_max_payload (&connection->path,
      connection->mtu);
  sender.reduce_oscillation = config->reduce_oscillation;
  sender.granularity = config->granularity;
  connection->sender = tfrc_sender_new (&sender);
  connection->receiver = tfrc_receiver_new (&receiver);
  connection->delivered = sequence;
  connection->began = connection->now;
  if (connection->round_trip > 0)
    dccp_connection_set_round_trip (connection, connection->round_trip);
}

/* --- events ------------------------------------------------------------------ */

void
dccp_connection_tell (DccpConnection * connection, const DccpEvent * event)
{
  DccpEvent told = *event;

  told.path = connection->path;
  dccp_events_push (&connection->common->events, &told);
}

void
dccp_connection_tell_connected (DccpConnection * connection)
{
  DccpEvent event = { DCCP_EVENT_CONNECTED };

  if (connection->is_told || !dccp_connection_is_open (connection)
      || !dccp_features_are_settled (connection->features))
    return;
  connection->is_told = TRUE;
  connection->common->stats.connections++;
  dccp_connection_tell (connection, &event);
  dccp_connection_tell_rate (connection);
}

void
dccp_connection_tell_rate (DccpConnection * connection)
{
  DccpEvent event = { DCCP_EVENT_RATE };
  TfrcSenderState state;

  if (!connection->is_told || !connection->sender)
    return;
  tfrc_sender_get_state (connection->sender, &state);
  event.rate = MIN (state.rate, 1e15) * 8;
  if (ABS ((gdouble) event.rate - (gdouble) connection->told_rate) * 10 <
      connection->told_rate || event.rate == connection->told_rate)
    return;
  connection->told_rate = event.rate;
  dccp_connection_tell (connection, &event);
}
