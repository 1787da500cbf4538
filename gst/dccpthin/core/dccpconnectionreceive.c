/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a connection does with a packet: steps 4 to 16 of RFC 4340 section 8.5, a
 * function each. Steps 1 to 3 are the codec's and the endpoint's. */

#include "dccpconnection.h"

#include <string.h>

typedef struct
{
  const DccpPacket *packet;
  gsize size;                   /* bytes */
  gboolean is_duplicate;
  gboolean is_covered;          /* by its checksum, as much as we want */
  gboolean is_latest;           /* none later came */
  DccpHeard heard;
  DccpData *data;
  gboolean has_data;
} Arrival;

/* FALSE: the packet is dropped. */
typedef gboolean (*Step) (DccpConnection * connection, Arrival * arrival);

static gboolean
refuse (DccpConnection * connection, DccpRefusal refusal)
{
  connection->common->stats.refused[refusal]++;
  return FALSE;
}

/* The Reset that answers has the numbers that came: ours stay as they are,
 * whoever sent this. */
static gboolean
answer_packet_error (DccpConnection * connection, Arrival * arrival)
{
  DccpCommon *common = connection->common;
  DccpPacket reset;

  if (arrival->packet->type == DCCP_RESET)
    return FALSE;
  dccp_answers_make_reset (&reset, arrival->packet, DCCP_RESET_PACKET_ERROR);
  if (arrival->size < DCCP_RESET_SIZE
      || !dccp_limiter_take (&common->resets, connection->now)) {
    common->stats.answers_suppressed++;
    return FALSE;
  }
  dccp_answers_push (&common->answers, &connection->path, &reset);
  common->stats.sent[DCCP_RESET]++;
  return FALSE;
}

/* It opens no connection and means nothing to one: whatever its numbers, it is
 * silently discarded (RFC 5596 section 2.2.3). */
static gboolean
discard_listen (DccpConnection * connection, Arrival * arrival)
{
  return arrival->packet->type != DCCP_LISTEN
      || refuse (connection, DCCP_REFUSED_STATE);
}

static gboolean
step_4_prepare_request (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (connection->state != DCCP_STATE_REQUEST)
    return TRUE;
  if (packet->type != DCCP_RESPONSE && packet->type != DCCP_RESET) {
    refuse (connection, DCCP_REFUSED_STATE);
    return answer_packet_error (connection, arrival);
  }
  if (!dccp_connection_is_acknowledgement_valid (connection, packet)) {
    refuse (connection, DCCP_REFUSED_ACKNOWLEDGEMENT);
    return answer_packet_error (connection, arrival);
  }
  connection->isr = packet->sequence;
  /* so that it is new in step 6 */
  connection->gsr = dccp_sequence_add (packet->sequence, -1);
  dccp_features_set_initial_received (connection->features, connection->isr);
  return TRUE;
}

/* Who forges packets to the other end makes it send Syncs that acknowledge numbers
 * we never sent. They are refused, but were no loss: TFRC is not to slow down for
 * them. */
static gboolean
refuse_sync (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (!dccp_connection_is_sequence_valid (connection, packet))
    return refuse (connection, DCCP_REFUSED_SEQUENCE);
  if (connection->receiver)
    tfrc_receiver_input (connection->receiver, connection->now,
        packet->sequence, FALSE, packet->ccval, 0, 0);
  return refuse (connection, DCCP_REFUSED_ACKNOWLEDGEMENT);
}

static gboolean
step_5_prepare_sync (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (packet->type != DCCP_SYNC && packet->type != DCCP_SYNC_ACK)
    return TRUE;
  if (!dccp_connection_is_sync_valid (connection, packet))
    return refuse_sync (connection, arrival);
  arrival->is_latest = dccp_sequence_difference (packet->sequence,
      connection->gsr) > 0;
  dccp_connection_set_gsr (connection, packet->sequence);
  return TRUE;
}

static gboolean
step_6_check_numbers (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;
  DccpRefusal refusal = DCCP_ACCEPTED;

  /* Allow Short Seqnos is 0 (docs/dccp-thin.md). */
  if (!packet->extended)
    return refuse (connection, DCCP_REFUSED_SHORT_SEQUENCE);
  if (!dccp_connection_is_sequence_valid (connection, packet))
    refusal = DCCP_REFUSED_SEQUENCE;
  else if (!dccp_connection_is_acknowledgement_valid (connection, packet))
    refusal = DCCP_REFUSED_ACKNOWLEDGEMENT;
  if (refusal != DCCP_ACCEPTED) {
    dccp_connection_owe_sync (connection, packet->type == DCCP_RESET ?
        connection->gsr : packet->sequence, arrival->size);
    return refuse (connection, refusal);
  }
  arrival->is_latest |= dccp_sequence_difference (packet->sequence,
      connection->gsr) > 0;
  dccp_connection_set_gsr (connection, packet->sequence);
  if (dccp_type_has_acknowledgement (packet->type)
      && packet->type != DCCP_SYNC)
    dccp_connection_set_gar (connection, packet->acknowledgement);
  connection->heard = connection->now;
  connection->probe_at = DCCP_NEVER;
  return TRUE;
}

static gboolean
is_unexpected (DccpConnection * connection, const DccpPacket * packet)
{
  const gboolean is_new =
      dccp_sequence_difference (packet->sequence, connection->osr) >= 0;

  switch (packet->type) {
    case DCCP_CLOSE_REQ:
      return connection->is_server;
    case DCCP_RESPONSE:
      return connection->is_server
          || (connection->state >= DCCP_STATE_OPEN && is_new);
    case DCCP_REQUEST:
      return !connection->is_server
          || (connection->state >= DCCP_STATE_OPEN && is_new);
    case DCCP_DATA:
      return connection->state == DCCP_STATE_RESPOND;
    default:
      return FALSE;
  }
}

static gboolean
step_7_check_type (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (is_unexpected (connection, packet)) {
    dccp_connection_owe_sync (connection, packet->sequence, arrival->size);
    return refuse (connection, DCCP_REFUSED_STATE);
  }
  connection->common->stats.received[packet->type]++;
  return TRUE;
}

/* In UDP a checksum of all was verified (RFC 6773 section 3.3). */
static gboolean
is_covered (DccpConnection * connection, const DccpPacket * packet)
{
  const guint64 least = connection->common->config.min_coverage;

  return packet->coverage == 0 || datagram_path_has_ports (&connection->path)
      || (least > 0 && packet->coverage >= least);
}

/* Only what is not too old to tell */
static gboolean
is_duplicate (DccpConnection * connection, guint64 sequence)
{
  DccpHistory *received = &connection->received;

  if (dccp_history_get (received, sequence))
    return TRUE;
  return !dccp_history_set (received, sequence);
}

static gboolean
step_8_process_options (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;
  gboolean is_fine = TRUE;

  arrival->is_duplicate = is_duplicate (connection, packet->sequence);
  arrival->is_covered = is_covered (connection, packet);
  if (packet->type != DCCP_RESET)
    is_fine = dccp_connection_read_options (connection, packet,
        &arrival->heard);
  dccp_features_processed (connection->features, connection->gsr,
      connection->gss);
  return is_fine;
}

/* A client in REQUEST answers everything but a Response or a Reset with such a
 * Reset and remains in REQUEST (section 8.5, step 4). It answers the Sync that we
 * send from RESPOND in this way if our Response was lost, and repeats its Request
 * later. */
static gboolean
is_still_requesting (DccpConnection * connection, const DccpPacket * packet)
{
  return connection->state == DCCP_STATE_RESPOND
      && packet->reset_code == DCCP_RESET_PACKET_ERROR;
}

/* Who closes waits for it, whatever its code. */
static gboolean
step_9_process_reset (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;
  const gboolean is_closing = connection->state == DCCP_STATE_CLOSING
      || connection->state == DCCP_STATE_CLOSE_REQ;
  const gboolean is_close = packet->reset_code == DCCP_RESET_CLOSED
      || (is_closing && packet->reset_code == DCCP_RESET_NO_CONNECTION);

  if (packet->type != DCCP_RESET)
    return TRUE;
  if (is_still_requesting (connection, packet))
    return FALSE;
  dccp_connection_end (connection, DCCP_STATE_TIME_WAIT,
      is_close ? DCCP_EVENT_CLOSED : DCCP_EVENT_RESET, packet->reset_code,
      packet->reset_data);
  return FALSE;
}

static guint64
get_request_time (DccpConnection * connection, guint64 acknowledgement)
{
  const gint64 n = dccp_sequence_difference (acknowledgement, connection->iss);

  return connection->request_times[n % DCCP_MAX_REQUESTS];
}

static gboolean
step_10_process_request_state (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (connection->state != DCCP_STATE_REQUEST)
    return TRUE;
  connection->state = DCCP_STATE_PARTOPEN;
  dccp_connection_open (connection, packet->sequence);
  dccp_connection_set_round_trip (connection, connection->now -
      get_request_time (connection, packet->acknowledgement));
  connection->owes_request = FALSE;
  connection->backoff = DCCP_DEFAULT_ROUND_TRIP;        /* section 8.1.5 */
  connection->retransmit_at = connection->now + connection->backoff;
  return TRUE;
}

/* Its acknowledgement of the last Response, less what it was held back. */
static void
measure_response (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;
  const TfrcFeedback *feedback = &arrival->heard.feedback;
  guint64 sample = connection->now - connection->response_time;

  if (!dccp_type_has_acknowledgement (packet->type)
      || packet->acknowledgement != connection->response)
    return;
  if (feedback->has_elapsed)
    sample -= MIN (feedback->elapsed, sample);
  dccp_connection_set_round_trip (connection, sample);
}

static gboolean
step_11_process_respond_state (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (connection->state != DCCP_STATE_RESPOND)
    return TRUE;
  if (packet->type == DCCP_REQUEST) {
    if (dccp_limiter_take (&connection->responses, connection->now))
      connection->owes_response = TRUE;
    else
      connection->common->stats.answers_suppressed++;
    return TRUE;
  }
  connection->osr = packet->sequence;
  connection->state = DCCP_STATE_OPEN;
  connection->owes_response = FALSE;
  connection->retransmit_at = DCCP_NEVER;
  connection->first_open = dccp_sequence_add (connection->gss, 1);
  dccp_connection_open (connection, packet->sequence);
  measure_response (connection, arrival);
  return TRUE;
}

static gboolean
step_12_process_partopen_state (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (connection->state != DCCP_STATE_PARTOPEN)
    return TRUE;
  if (packet->type == DCCP_RESPONSE) {
    connection->owes_ack = TRUE;
  } else if (packet->type != DCCP_SYNC) {
    connection->osr = packet->sequence;
    connection->state = DCCP_STATE_OPEN;
    connection->retransmit_at = DCCP_NEVER;
    connection->cookies_size = 0;
  }
  return TRUE;
}

static gboolean
step_13_process_close_req (DccpConnection * connection, Arrival * arrival)
{
  if (arrival->packet->type == DCCP_CLOSE_REQ
      && connection->state < DCCP_STATE_CLOSE_REQ)
    dccp_connection_close (connection, connection->now);
  return TRUE;
}

static gboolean
step_14_process_close (DccpConnection * connection, Arrival * arrival)
{
  if (arrival->packet->type != DCCP_CLOSE)
    return TRUE;
  dccp_connection_abort (connection, DCCP_EVENT_CLOSED, DCCP_RESET_CLOSED,
      NULL);
  return FALSE;
}

static gboolean
step_15_process_sync (DccpConnection * connection, Arrival * arrival)
{
  if (arrival->packet->type != DCCP_SYNC)
    return TRUE;
  connection->owes_sync_ack = TRUE;
  connection->sync_ack_number = arrival->packet->sequence;
  return TRUE;
}

/* --- step 16 ------------------------------------------------------------------ */

/* An Ack that says nothing of the congestion may be of a packet that is long gone:
 * it times nothing. */
static gboolean
is_feedback (const TfrcFeedback * feedback)
{
  return feedback->has_receive_rate || feedback->has_elapsed
      || feedback->slow_receiver || feedback->dropped > 0
      || feedback->dropped_others;
}

static void
hear_feedback (DccpConnection * connection, Arrival * arrival)
{
  TfrcFeedback *feedback = &arrival->heard.feedback;
  TfrcSenderState state;

  feedback->acknowledged = arrival->packet->acknowledgement;
  tfrc_sender_feedback (connection->sender, connection->now, feedback);
  tfrc_sender_get_state (connection->sender, &state);
  if (state.round_trip > 0)
    dccp_features_set_round_trip (connection->features, state.round_trip);
  /* Where both send, it is as good for what comes. */
  if (state.round_trip > 0 && feedback->has_receive_rate)
    tfrc_receiver_set_round_trip (connection->receiver, state.round_trip);
  dccp_connection_tell_rate (connection);
}

static void
hear_slow_receiver (DccpConnection * connection, gboolean slow)
{
  DccpEvent event = { DCCP_EVENT_SLOW_RECEIVER };

  if (slow)
    connection->common->stats.slow_receiver_received++;
  if (slow == connection->they_are_slow)
    return;
  connection->they_are_slow = slow;
  event.slow = slow;
  dccp_connection_tell (connection, &event);
}

/* An event that goes on is told of again, but for what was told before. */
static void
hear_loss (DccpConnection * connection, guint64 last, guint32 loss)
{
  guint64 first = dccp_sequence_add (last, 1 - (gint64) loss);
  DccpEvent event = { DCCP_EVENT_LOST };

  if (loss == 0 || dccp_sequence_difference (last, connection->told_lost) <= 0)
    return;
  if (dccp_sequence_difference (first, connection->told_lost) > 0)
    connection->common->stats.loss_events_received++;
  else
    first = dccp_sequence_add (connection->told_lost, 1);
  connection->told_lost = last;
  event.sequence = first;
  event.lost = MIN (dccp_sequence_difference (last, first) + 1,
      DCCP_HISTORY_SIZE);
  dccp_connection_tell (connection, &event);
}

/* Each interval has its loss before what came since (RFC 4342 section 8.6), the
 * latest is the first; they are told of in their order. */
static void
hear_losses (DccpConnection * connection, Arrival * arrival)
{
  const DccpLossIntervals *losses = &arrival->heard.losses;
  guint64 ends[DCCP_MAX_LOSS_INTERVALS];
  guint64 end = dccp_sequence_add (arrival->packet->acknowledgement,
      -(gint64) losses->skip);
  guint i;

  for (i = 0; i < losses->n; i++) {
    ends[i] = dccp_sequence_add (end, -(gint64) losses->intervals[i].lossless);
    end = dccp_sequence_add (ends[i], -(gint64) losses->intervals[i].loss);
  }
  while (i-- > 0)
    hear_loss (connection, ends[i], losses->intervals[i].loss);
}

static void
feed_congestion_control (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;
  const gboolean is_data = packet->type == DCCP_DATA
      || packet->type == DCCP_DATA_ACK;
  const gboolean is_ack = packet->type == DCCP_ACK
      || packet->type == DCCP_DATA_ACK;
  guint64 loss_events;

  if (!connection->receiver)
    return;
  tfrc_receiver_input (connection->receiver, connection->now, packet->sequence,
      is_data, packet->ccval, is_data ? packet->payload_size : 0,
      arrival->heard.ndp);
  /* What was overtaken says nothing new. */
  if (!is_ack || !arrival->is_latest)
    return;
  loss_events = connection->common->stats.loss_events_received;
  hear_losses (connection, arrival);
  arrival->heard.feedback.new_loss_event =
      connection->common->stats.loss_events_received > loss_events;
  if (is_feedback (&arrival->heard.feedback))
    hear_feedback (connection, arrival);
  hear_slow_receiver (connection, arrival->heard.feedback.slow_receiver);
}

/* Until it acknowledges what we sent in OPEN, a client may be in PARTOPEN. */
static void
help_partopen (DccpConnection * connection, const DccpPacket * packet)
{
  if (connection->is_server && connection->state == DCCP_STATE_OPEN
      && packet->type == DCCP_ACK
      && dccp_sequence_difference (connection->gar, connection->first_open) < 0)
    connection->owes_ack = TRUE;
}

/* Are packets missing between the last one delivered and this one? As many as its
 * NDP Count says before it had no data. */
static gboolean
is_gap_before (DccpConnection * connection, Arrival * arrival)
{
  const guint64 sequence = arrival->packet->sequence;
  const guint64 ndp = MIN (arrival->heard.ndp, DCCP_HISTORY_SIZE);
  gint64 n = dccp_sequence_difference (sequence, connection->delivered);
  gint64 between;

  if (n <= 0 || n > DCCP_HISTORY_SIZE)
    return TRUE;
  between = MAX (n - 1 - (gint64) ndp, 0);
  return dccp_history_count (&connection->received,
      dccp_sequence_add (connection->delivered, 1), between) < between;
}

static void
deliver (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;
  DccpData *data = arrival->data;

  data->payload = packet->payload;
  data->size = packet->payload_size;
  data->sequence = packet->sequence;
  data->coverage = packet->coverage;
  data->discont = is_gap_before (connection, arrival);
  if (dccp_sequence_difference (packet->sequence, connection->delivered) > 0)
    connection->delivered = packet->sequence;
  connection->common->stats.bytes_received += packet->payload_size;
  arrival->has_data = TRUE;
}

/* Its header counted, its data does not. */
static gboolean
drop_data (DccpConnection * connection, const DccpPacket * packet)
{
  if (packet->payload_size > 0
      && dccp_dropped_add (&connection->dropped, packet->sequence,
          DCCP_DROP_PROTOCOL))
    connection->common->stats.dropped_sent++;
  return TRUE;
}

/* Not with the handshake (docs/dccp-thin.md), not twice, and not what may be
 * damaged more than we allow: section 9.2.1 wants the latter reported. */
static gboolean
step_16_process_data (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  feed_congestion_control (connection, arrival);
  help_partopen (connection, packet);
  if (arrival->is_duplicate || !dccp_type_has_data (packet->type))
    return TRUE;
  if (packet->type == DCCP_REQUEST || packet->type == DCCP_RESPONSE)
    return drop_data (connection, packet);
  if (!arrival->is_covered) {
    refuse (connection, DCCP_REFUSED_COVERAGE);
    return drop_data (connection, packet);
  }
  deliver (connection, arrival);
  return TRUE;
}

static const Step steps[] = {
  discard_listen,
  step_4_prepare_request,
  step_5_prepare_sync,
  step_6_check_numbers,
  step_7_check_type,
  step_8_process_options,
  step_9_process_reset,
  step_10_process_request_state,
  step_11_process_respond_state,
  step_12_process_partopen_state,
  step_13_process_close_req,
  step_14_process_close,
  step_15_process_sync,
  step_16_process_data,
};

gboolean
dccp_connection_input (DccpConnection * connection, guint64 now,
    const DccpPacket * packet, gsize size, DccpData * data)
{
  Arrival arrival = {.packet = packet,.size = size,.data = data };
  guint i;

  connection->now = now;
  connection->answer_room = size;
  for (i = 0; i < G_N_ELEMENTS (steps); i++)
    if (!steps[i] (connection, &arrival))
      break;
  if (!dccp_connection_is_over (connection))
    dccp_connection_tell_connected (connection);
  return arrival.has_data;
}
