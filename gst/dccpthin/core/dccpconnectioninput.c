/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpconnectioninput.h: processes a received packet. Each
 * function with the name step_N is one of the steps 4 to 16 of RFC 4340 section
 * 8.5. Steps 1 to 3 were already done by the functions that parse the packet
 * and by the endpoint. Section numbers refer to RFC 4340, unless another RFC is
 * named. */

#include "dccpconnectioninput.h"

#include "dccpconnectionoptions.h"
#include "dccpconnectionoutput.h"
#include "dccpconnectionprivate.h"

/* A received packet while its steps are taken. */
typedef struct
{
  const DccpPacket *packet;
  gsize size;                   /* bytes */
  gboolean is_duplicate;
  /* TRUE if the checksum covers at least as many bytes as we require */
  gboolean is_covered;
  /* TRUE if the packet has a greater sequence number than all packets that have
   * arrived before */
  gboolean is_latest;
  DccpHeard heard;
  DccpData *data;
  gboolean has_data;
} Arrival;

/* One step in the processing of a received packet. Returns FALSE if no further
 * step must be taken for this packet. */
typedef gboolean (*Step) (DccpConnection * connection, Arrival * arrival);

static gboolean
refuse (DccpConnection * connection, DccpRefusal refusal)
{
  dccp_common_refuse (connection->common, refusal);
  return FALSE;
}

/* Answers an unexpected packet with a Reset, which has the code Packet Error.
 * Anybody may have sent the packet, so our own sequence numbers must not
 * change. The numbers of the Reset are therefore derived from those of the
 * packet. */
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

/* Discards a DCCP-Listen packet. Such a packet opens no connection and has no
 * meaning for an existing connection. It is silently discarded, whatever its
 * sequence number is (RFC 5596 section 2.2.3). */
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
  if (!dccp_numbers_is_acknowledgement_valid (&connection->numbers, packet)) {
    refuse (connection, DCCP_REFUSED_ACKNOWLEDGEMENT);
    return answer_packet_error (connection, arrival);
  }
  dccp_numbers_set_initial_received (&connection->numbers, packet->sequence);
  return TRUE;
}

static void
input_to_receiver (DccpConnection * connection, const DccpPacket * packet,
    gboolean is_data, guint64 ndp)
{
  const DccpCcidPacket arrived = {
    .sequence = packet->sequence,
    .is_data = is_data,
    .ccval = packet->ccval,
    .size = is_data ? packet->payload_size : 0,
    .ndp = ndp,
  };

  dccp_half_connections_input (&connection->halves, connection->now, &arrived);
}

/* Returns whether the sequence number and the acknowledgement number of a Sync
 * or SyncAck are valid (section 7.5.3). A connection is active if a valid
 * packet has arrived within the last three round trips. On an active
 * connection, the sequence number must be in the sequence window. On a
 * connection that is not active, it may also be above the window.
 *
 * In the state RESPOND, the sequence number must always be in the window. The
 * reason is that the Request may have had a forged source address. The host
 * that really has this address then answers our Response with a Sync. This Sync
 * must not be accepted. */
static gboolean
is_sync_valid (DccpConnection * connection, const DccpPacket * packet)
{
  const guint64 active = 3 * dccp_connection_get_round_trip (connection);
  const gboolean in_window = connection->state == DCCP_STATE_RESPOND
      || connection->now - connection->timers.heard < active;

  return dccp_numbers_is_sync_valid (&connection->numbers, packet, in_window);
}

/* Refuses a Sync that has no valid acknowledgement number. Such Syncs arrive
 * during an attack: the attacker sends forged packets to the peer in our name.
 * The peer answers each forged packet with a Sync to us. The Sync acknowledges
 * the sequence number of the forged packet, which we have never sent.
 *
 * However, the Sync itself is a genuine packet of the peer and has a valid
 * sequence number. It is therefore reported to our congestion control as
 * received. Otherwise, our congestion control would report the Sync to the peer
 * as a lost packet, and the peer would reduce its sending rate because of this
 * loss. */
static gboolean
refuse_sync (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (!dccp_numbers_is_sequence_valid (&connection->numbers, packet))
    return refuse (connection, DCCP_REFUSED_SEQUENCE);
  input_to_receiver (connection, packet, FALSE, 0);
  return refuse (connection, DCCP_REFUSED_ACKNOWLEDGEMENT);
}

static gboolean
step_5_prepare_sync (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (packet->type != DCCP_SYNC && packet->type != DCCP_SYNC_ACK)
    return TRUE;
  if (!is_sync_valid (connection, packet))
    return refuse_sync (connection, arrival);
  arrival->is_latest = dccp_numbers_add_received (&connection->numbers,
      connection->now, packet->sequence);
  return TRUE;
}

static gboolean
step_6_check_numbers (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;
  DccpRefusal refusal = DCCP_ACCEPTED;

  /* We never agree to short sequence numbers (the feature Allow Short Seqnos is
   * always 0), so a packet with a short sequence number is refused
   * (docs/dccp-thin.md). */
  if (!packet->extended)
    return refuse (connection, DCCP_REFUSED_SHORT_SEQUENCE);
  if (!dccp_numbers_is_sequence_valid (&connection->numbers, packet))
    refusal = DCCP_REFUSED_SEQUENCE;
  else if (!dccp_numbers_is_acknowledgement_valid (&connection->numbers,
          packet))
    refusal = DCCP_REFUSED_ACKNOWLEDGEMENT;
  if (refusal != DCCP_ACCEPTED) {
    dccp_connection_request_sync (connection, packet->type == DCCP_RESET ?
        connection->numbers.gsr : packet->sequence, arrival->size);
    return refuse (connection, refusal);
  }
  arrival->is_latest |= dccp_numbers_add_received (&connection->numbers,
      connection->now, packet->sequence);
  if (dccp_type_has_acknowledgement (packet->type)
      && packet->type != DCCP_SYNC)
    dccp_numbers_add_acknowledged (&connection->numbers,
        packet->acknowledgement);
  dccp_timers_heard (&connection->timers, connection->now);
  return TRUE;
}

static gboolean
is_unexpected (DccpConnection * connection, const DccpPacket * packet)
{
  const gboolean is_new =
      dccp_sequence_difference (packet->sequence, connection->numbers.osr) >= 0;

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
    dccp_connection_request_sync (connection, packet->sequence, arrival->size);
    return refuse (connection, DCCP_REFUSED_STATE);
  }
  connection->common->stats.received[packet->type]++;
  return TRUE;
}

/* Returns whether the checksum covers as much of the packet as we require. If
 * the packet is encapsulated in UDP, the result is always TRUE: the UDP
 * checksum covers the whole packet and was already verified (RFC 6773 section
 * 3.3). */
static gboolean
is_covered (DccpConnection * connection, const DccpPacket * packet)
{
  const guint64 min = connection->common->config.min_coverage;

  return packet->coverage == 0 || datagram_path_has_ports (&connection->path)
      || (min > 0 && packet->coverage >= min);
}

static gboolean
step_8_process_options (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;
  gboolean is_fine = TRUE;

  arrival->is_duplicate = !dccp_received_add (&connection->received,
      packet->sequence);
  arrival->is_covered = is_covered (connection, packet);
  if (packet->type != DCCP_RESET)
    is_fine = dccp_connection_read_options (connection, packet,
        &arrival->heard);
  dccp_features_processed (connection->features, connection->numbers.gsr,
      connection->numbers.gss);
  if (is_fine
      && dccp_half_connections_follow (&connection->halves, connection->now,
          connection->numbers.gss, packet->sequence,
          &connection->common->stats))
    dccp_connection_tell_rate (connection);
  return is_fine;
}

/* Returns whether `packet` is a Reset that does not end the connection. We are
 * a server in the state RESPOND, and have sent a Response. If the Response was
 * lost, the client stays in the state REQUEST. After some time, we send a Sync.
 * The client answers the Sync with a Reset that has the code Packet Error. This
 * Reset must not end the connection, because the client will repeat its Request
 * later (section 8.5, step 4). */
static gboolean
is_still_requesting (DccpConnection * connection, const DccpPacket * packet)
{
  return connection->state == DCCP_STATE_RESPOND
      && packet->reset_code == DCCP_RESET_PACKET_ERROR;
}

/* Processes a Reset from the peer. A Reset with the code Closed is a regular
 * end of the connection. If we are already closing the connection, a Reset with
 * the code No Connection is a regular end as well. */
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

/* Stores `round_trip`, the round-trip time in ns that was measured in the
 * handshake. */
static void
set_round_trip (DccpConnection * connection, guint64 round_trip)
{
  dccp_half_connections_set_round_trip (&connection->halves, connection->now,
      round_trip);
  dccp_features_set_round_trip (connection->features,
      connection->halves.round_trip);
}

/* Begins both half-connections (one for each direction of the data). Called
 * when a packet of the peer opens the connection. `sequence` is the sequence
 * number of this packet. */
static void
begin_half_connections (DccpConnection * connection, guint64 sequence)
{
  dccp_half_connections_begin (&connection->halves, connection->now,
      dccp_connection_get_max_payload (&connection->path, connection->mtu),
      connection->numbers.iss, sequence);
  dccp_received_begin (&connection->received, sequence);
  dccp_timers_begin (&connection->timers, connection->now);
}

static gboolean
step_10_process_request_state (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (connection->state != DCCP_STATE_REQUEST)
    return TRUE;
  dccp_connection_set_state (connection, DCCP_STATE_PARTOPEN);
  begin_half_connections (connection, packet->sequence);
  set_round_trip (connection,
      dccp_handshake_times_measure_request (&connection->handshake_times,
          connection->now, packet->acknowledgement));
  dccp_pending_remove (&connection->pending, DCCP_REQUEST);
  /* section 8.1.5 */
  dccp_timers_start (&connection->timers, connection->now,
      DCCP_DEFAULT_ROUND_TRIP);
  return TRUE;
}

/* Measures the round-trip time of the handshake on a server. It is the time
 * from the last Response until its acknowledgement arrived, minus the Elapsed
 * Time that the client reports in its acknowledgement. */
static void
measure_response (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;
  const DccpCcidAck *ack = &arrival->heard.ack;
  const guint64 elapsed = ack->has_elapsed ? ack->elapsed : 0;
  guint64 round_trip;

  if (dccp_type_has_acknowledgement (packet->type)
      && dccp_handshake_times_measure_response (&connection->handshake_times,
          connection->now, packet->acknowledgement, elapsed, &round_trip))
    set_round_trip (connection, round_trip);
}

/* Enters the state OPEN. `sequence` is the number of the packet that opens the
 * connection. */
static void
open_connection (DccpConnection * connection, guint64 sequence)
{
  dccp_numbers_open (&connection->numbers, sequence);
  dccp_connection_set_state (connection, DCCP_STATE_OPEN);
  dccp_timers_stop (&connection->timers);
}

static gboolean
step_11_process_respond_state (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (connection->state != DCCP_STATE_RESPOND)
    return TRUE;
  if (packet->type == DCCP_REQUEST) {
    if (dccp_limiter_take (&connection->responses, connection->now))
      dccp_pending_add (&connection->pending, DCCP_RESPONSE);
    else
      connection->common->stats.answers_suppressed++;
    return TRUE;
  }
  open_connection (connection, packet->sequence);
  dccp_pending_remove (&connection->pending, DCCP_RESPONSE);
  begin_half_connections (connection, packet->sequence);
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
    open_connection (connection, packet->sequence);
    dccp_cookie_list_clear (&connection->cookies);
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
  dccp_pending_add_sync_ack (&connection->pending, arrival->packet->sequence);
  return TRUE;
}

/* --- step 16 -------------------------------------------------------------- */

static void
tell_lost (DccpConnection * connection, const DccpCcidNews * news)
{
  DccpEvent event = { DCCP_EVENT_LOST };
  guint i;

  for (i = 0; i < news->n_losses; i++) {
    event.sequence = news->losses[i].first;
    event.lost = MIN (dccp_sequence_difference (news->losses[i].last,
            event.sequence) + 1, DCCP_HISTORY_SIZE);
    dccp_connection_tell_event (connection, &event);
  }
}

static void
hear_feedback (DccpConnection * connection, Arrival * arrival)
{
  DccpCcidAck *ack = &arrival->heard.ack;
  DccpCcidSenderState state;
  DccpCcidNews news;
  gboolean is_feedback;

  ack->acknowledged = arrival->packet->acknowledgement;
  is_feedback = dccp_half_connections_feedback (&connection->halves,
      connection->now, ack, &arrival->heard.own, &news);
  tell_lost (connection, &news);
  if (!is_feedback)
    return;
  dccp_half_connections_get_sender (&connection->halves, &state);
  if (state.round_trip > 0)
    dccp_features_set_round_trip (connection->features, state.round_trip);
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
  dccp_connection_tell_event (connection, &event);
}

static void
feed_congestion_control (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;
  const gboolean is_data = packet->type == DCCP_DATA
      || packet->type == DCCP_DATA_ACK;
  const gboolean is_ack = packet->type == DCCP_ACK
      || packet->type == DCCP_DATA_ACK;

  if (!connection->halves.receiver)
    return;
  input_to_receiver (connection, packet, is_data, arrival->heard.ndp);
  /* If a packet with a greater sequence number has arrived before this packet,
   * the feedback in this packet is outdated and is ignored. */
  if (!is_ack || !arrival->is_latest)
    return;
  hear_feedback (connection, arrival);
  hear_slow_receiver (connection, arrival->heard.ack.slow_receiver);
}

/* Helps a client to leave the state PARTOPEN. The client leaves it only when it
 * receives a packet that we have sent in the state OPEN. If we have no data to
 * send, there may be no such packet. If the client sends an Ack without data,
 * and has not acknowledged a packet from the state OPEN yet, we therefore
 * answer with an Ack. */
static void
help_partopen (DccpConnection * connection, const DccpPacket * packet)
{
  const DccpNumbers *numbers = &connection->numbers;

  if (connection->is_server && connection->state == DCCP_STATE_OPEN
      && packet->type == DCCP_ACK
      && dccp_sequence_difference (numbers->gar, numbers->first_open) < 0)
    connection->owes_ack = TRUE;
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
  data->discont = dccp_received_deliver (&connection->received,
      packet->sequence, arrival->heard.ndp);
  connection->common->stats.bytes_received += packet->payload_size;
  arrival->has_data = TRUE;
}

/* Records that the data of `packet` were dropped. A later Data Dropped option
 * reports this to the peer. Only the data are dropped: the header and the
 * options of the packet have already been processed. */
static gboolean
drop_data (DccpConnection * connection, const DccpPacket * packet)
{
  if (packet->payload_size > 0
      && dccp_dropped_add (&connection->dropped, packet->sequence,
          DCCP_DROP_PROTOCOL))
    connection->common->stats.dropped_sent++;
  return TRUE;
}

/* Delivers the data of the packet to the application. The data are not
 * delivered in three cases:
 * - The packet is a Request or a Response (docs/dccp-thin.md).
 * - The packet is a duplicate.
 * - The checksum covers less than we require.
 *
 * In the first and the last case, the data are reported to the peer as dropped.
 * For the last case, section 9.2.1 requires this report. */
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
