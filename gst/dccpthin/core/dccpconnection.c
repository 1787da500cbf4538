/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One DCCP connection. The parts of this file are, in this order: beginning and
 * end of the connection, valid sequence numbers, received options, sent
 * options, sent packets, received packets, data, and timers. Section numbers
 * refer to RFC 4340, unless another RFC is named. */

#include "dccpconnection.h"

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
/* Maximum size in bytes of the options of a data packet. These are NDP Count,
 * Timestamp Echo, an option of the congestion control (dccpccid.h) and Slow
 * Receiver. */
#define DATA_OPTIONS_SIZE 24
/* size of a word in bytes; the options of a packet are padded to whole words */
#define WORD 4

/* --- begin and end -------------------------------------------------------- */

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

static void
set_state (DccpConnection * connection, DccpState state)
{
  if (state != connection->state)
    dccp_common_trace (connection->common, "connection: %s to %s",
        dccp_state_get_name (connection->state), dccp_state_get_name (state));
  connection->state = state;
}

DccpConnection *
dccp_connection_new_client (DccpCommon * common, guint64 now,
    const DatagramPath * path, guint16 local_port, guint64 iss)
{
  DccpConnection *connection = new_connection (common, now, path, iss, FALSE);

  connection->local_port = local_port;
  connection->remote_port = common->config.remote_port;
  set_state (connection, DCCP_STATE_REQUEST);
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
  set_state (connection, DCCP_STATE_RESPOND);
  dccp_numbers_set_initial_received (&connection->numbers, request->sequence);
  dccp_numbers_add_received (&connection->numbers, now, request->sequence);
  connection->timers.backoff = FIRST_RESPONSE_BACKOFF;
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

static guint64
get_round_trip (DccpConnection * connection)
{
  DccpCcidSenderState state;

  dccp_half_connections_get_sender (&connection->halves, &state);
  if (state.round_trip > 0)
    return state.round_trip;
  return connection->halves.round_trip ? connection->halves.round_trip :
      DCCP_DEFAULT_ROUND_TRIP;
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
  connection->timers.began = connection->now;
}

static void
tell_event (DccpConnection * connection, const DccpEvent * event)
{
  DccpEvent told = *event;

  told.path = connection->path;
  dccp_events_push (&connection->common->events, &told);
}

static void
tell_rate (DccpConnection * connection)
{
  DccpEvent event = { DCCP_EVENT_RATE };
  DccpCcidSenderState state;

  if (!connection->is_told)
    return;
  dccp_half_connections_get_sender (&connection->halves, &state);
  event.rate = MIN (state.rate, 1e15) * 8;
  if (ABS ((gdouble) event.rate - (gdouble) connection->told_rate) * 10 <
      connection->told_rate || event.rate == connection->told_rate)
    return;
  dccp_common_trace (connection->common, "allowed rate: %" G_GUINT64_FORMAT
      " to %" G_GUINT64_FORMAT " bit/s", connection->told_rate, event.rate);
  connection->told_rate = event.rate;
  tell_event (connection, &event);
}

/* Reports the event CONNECTED to the application, but only if the connection is
 * open and the negotiation of its features is complete. */
static void
tell_connected (DccpConnection * connection)
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
  tell_event (connection, &event);
  tell_rate (connection);
}

void
dccp_connection_end (DccpConnection * connection, DccpState state,
    DccpEventType type, guint8 code, const guint8 * data)
{
  DccpEvent event = { type };

  if (code)
    dccp_common_trace (connection->common, "connection ends with a Reset: %s",
        dccp_reset_code_get_name (code));
  set_state (connection, state);
  /* The application of a server does not learn of a connection before the
   * connection opens. If a connection ends and has never been open, the
   * application does not know this connection. The end is then not reported to
   * the application. */
  if (connection->is_server && !connection->is_told)
    return;
  event.reset_code = code;
  if (data)
    memcpy (event.reset_data, data, sizeof (event.reset_data));
  tell_event (connection, &event);
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

  connection->numbers.gss = dccp_numbers_get_next (&connection->numbers);
  reset.sequence = connection->numbers.gss;
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

/* --- options that arrive -------------------------------------------------- */

/* The options of a received packet. */
typedef struct
{
  guint64 ndp;
  DccpCcidAck ack;
  DccpHalfHeard own;            /* options of the congestion control */
  /* A received packet may have several Data Dropped options, which describe
   * packets that we have sent. Each further option describes the packets that
   * follow those of the previous option. This field is the number of packets
   * that are described by the options that have been read so far. */
  guint drop_offset;
} Heard;

/* Resets the connection because of the received option `option`. `code` is the
 * code of the Reset. With the codes 5 and 6, the Reset contains the type of the
 * option and the first two bytes of its value (section 5.6). Always returns
 * FALSE, so that a caller can return the result directly. */
static gboolean
abort_for_option (DccpConnection * connection, const DccpOption * option,
    guint8 code)
{
  guint8 data[3] = { option->type };

  memcpy (data + 1, option->value, MIN (option->size, 2));
  dccp_common_refuse (connection->common, DCCP_REFUSED_OPTION);
  dccp_connection_abort (connection, DCCP_EVENT_ABORTED, code, data);
  return FALSE;
}

static void
tell_dropped (DccpConnection * connection, DccpDropCode code,
    const DccpDropReport * dropped)
{
  DccpEvent event = { DCCP_EVENT_DROPPED };

  if (dropped->n == 0)
    return;
  connection->common->stats.dropped_received += dropped->n;
  event.dropped = dropped->n;
  event.drop_code = code;
  event.sequence = dropped->first;
  event.lost = dccp_sequence_difference (dropped->last, dropped->first) + 1;
  tell_event (connection, &event);
}

/* Reads a Data Dropped option of the received packet `packet`. The option
 * describes packets that we have sent, in descending order of their sequence
 * numbers. If `packet` has several of these options, each further option
 * continues where the option before has ended (section 11.7). Returns FALSE if
 * `packet` is neither a DCCP-Ack nor a DCCP-DataAck, because the option is not
 * valid on other packets. */
static gboolean
read_data_dropped (DccpConnection * connection, const DccpPacket * packet,
    const DccpOption * option, Heard * heard)
{
  DccpDropReport dropped[DCCP_DROP_NONE] = { {0} };
  const guint64 last = dccp_sequence_add (packet->acknowledgement,
      -(gint64) heard->drop_offset);
  guint i;

  if (packet->type != DCCP_ACK && packet->type != DCCP_DATA_ACK)
    return FALSE;
  heard->drop_offset += dccp_drop_reports_read (&connection->drop_reports,
      option, last, dropped);
  heard->ack.dropped += dropped[DCCP_DROP_RECEIVE_BUFFER].n;
  heard->ack.dropped_others |= dropped[DCCP_DROP_PROTOCOL].n > 0
      || dropped[DCCP_DROP_NOT_LISTENING].n > 0;
  for (i = 0; i < DCCP_DROP_NONE; i++)
    tell_dropped (connection, i, &dropped[i]);
  return TRUE;
}

static gboolean
read_timestamp (DccpConnection * connection, const DccpOption * option)
{
  if (!dccp_option_read_timestamp (option, &connection->stamp))
    return FALSE;
  connection->owes_echo = TRUE;
  connection->stamp_time = connection->now;
  return TRUE;
}

/* Returns whether a received Timestamp Echo has a valid size. Its contents are
 * not used, because we never send a Timestamp that could be echoed. */
static gboolean
read_timestamp_echo (const DccpOption * option)
{
  guint64 elapsed;
  guint32 stamp;

  return dccp_option_read_timestamp_echo (option, &stamp, &elapsed);
}

/* Stores an Init Cookie, which the client must return to the server. Only the
 * cookies of the first Response are stored. The client is still in the state
 * REQUEST when this Response arrives. When a repeated Response arrives, the
 * client is in PARTOPEN, and the cookies are ignored. */
static gboolean
read_cookie (DccpConnection * connection, const DccpPacket * packet,
    const DccpOption * option)
{
  return packet->type == DCCP_RESPONSE
      && connection->state == DCCP_STATE_REQUEST
      && dccp_cookie_list_add (&connection->cookies, option->value,
      option->size);
}

/* Reads one option of the received packet `packet`, except options of the
 * feature negotiation or of the congestion control. Returns FALSE if the option
 * is unknown or invalid. */
static gboolean
read_option (DccpConnection * connection, const DccpPacket * packet,
    const DccpOption * option, Heard * heard)
{
  switch (option->type) {
    case DCCP_OPTION_SLOW_RECEIVER:
      heard->ack.slow_receiver = TRUE;
      return TRUE;
    case DCCP_OPTION_INIT_COOKIE:
      return read_cookie (connection, packet, option);
    case DCCP_OPTION_NDP_COUNT:
      return dccp_option_read_number (option, &heard->ndp);
    case DCCP_OPTION_DATA_DROPPED:
      return read_data_dropped (connection, packet, option, heard);
    case DCCP_OPTION_TIMESTAMP:
      return read_timestamp (connection, option);
    case DCCP_OPTION_TIMESTAMP_ECHO:
      return read_timestamp_echo (option);
    case DCCP_OPTION_ELAPSED_TIME:
      return heard->ack.has_elapsed =
          dccp_option_read_elapsed_time (option, &heard->ack.elapsed);
    default:
      return FALSE;
  }
}

static gboolean
is_negotiation (guint8 type)
{
  return type >= DCCP_OPTION_CHANGE_L && type <= DCCP_OPTION_CONFIRM_R;
}

/* Returns whether options of this type are ignored without being counted as
 * errors. They are valid options of DCCP, but the subset of DCCP that is
 * implemented here (the Thin profile, docs/dccp-thin.md) does not use them. */
static gboolean
is_ignored (guint8 type)
{
  return type == DCCP_OPTION_INIT_COOKIE || type == DCCP_OPTION_ACK_VECTOR_0
      || type == DCCP_OPTION_ACK_VECTOR_1 || type == DCCP_OPTION_DATA_CHECKSUM;
}

/* Handles an option that is unknown or invalid (section 5.8.2). Returns FALSE
 * if the connection was reset because of it. */
static gboolean
refuse_option (DccpConnection * connection, const DccpOption * option)
{
  if (is_ignored (option->type) && !option->mandatory)
    return TRUE;
  connection->common->stats.option_errors++;
  if (option->type == DCCP_OPTION_MANDATORY)
    return abort_for_option (connection, option, DCCP_RESET_OPTION_ERROR);
  if (option->mandatory)
    return abort_for_option (connection, option, DCCP_RESET_MANDATORY_ERROR);
  return TRUE;
}

/* Resets the connection because its congestion control has rejected an option
 * (RFC 6323 section 3.3). The Reset contains the first three bytes of the
 * option. */
static gboolean
abort_for_ccid_option (DccpConnection * connection, const DccpOption * option)
{
  const guint8 data[3] = { option->type, option->size + 2,
    option->size > 0 ? option->value[0] : 0
  };

  dccp_connection_abort (connection, DCCP_EVENT_ABORTED,
      DCCP_RESET_OPTION_ERROR, data);
  return FALSE;
}

/* Passes an option to the congestion control of the half-connection to which it
 * belongs. Returns FALSE if the connection was reset because of the option. */
static gboolean
read_ccid_option (DccpConnection * connection, const DccpOption * option,
    Heard * heard)
{
  const DccpCcidOptionResult result =
      dccp_half_connections_read_option (&connection->halves, connection->now,
      option, &heard->own);

  if (result == DCCP_CCID_OPTION_READ)
    return TRUE;
  if (!refuse_option (connection, option))
    return FALSE;
  return result != DCCP_CCID_OPTION_FATAL
      || abort_for_ccid_option (connection, option);
}

/* Processes one option of the received packet `packet`. Returns FALSE if the
 * connection was reset because of the option. */
static gboolean
take_option (DccpConnection * connection, const DccpPacket * packet,
    const DccpOption * option, Heard * heard)
{
  guint8 code;

  if (is_negotiation (option->type)) {
    code = dccp_features_input (connection->features, option, packet);
    return code == 0 || abort_for_option (connection, option, code);
  }
  if (option->type >= DCCP_FIRST_CCID_OPTION)
    return read_ccid_option (connection, option, heard);
  return read_option (connection, packet, option, heard)
      || refuse_option (connection, option);
}

/* Processes all options of the received packet `packet`. Returns FALSE if the
 * connection was reset because of one of them. */
static gboolean
read_options (DccpConnection * connection, const DccpPacket * packet,
    Heard * heard)
{
  DccpOptionReader reader;
  DccpOption option;

  dccp_option_reader_init (&reader, packet);
  reader.ccids = connection->common->config.ccids;
  while (dccp_option_reader_next (&reader, &option))
    if (!(reader.broken ? refuse_option (connection, &option)
            : take_option (connection, packet, &option, heard)))
      return FALSE;
  if (reader.broken)
    connection->common->stats.option_errors++;
  return TRUE;
}

/* --- options that are sent ------------------------------------------------ */

/* Writes the option NDP Count, if the peer has asked for it. The option says
 * how many packets without data were sent directly before this packet. If there
 * were none, the packet does not carry the option (section 7.7). */
static void
write_ndp_count (DccpConnection * connection, DccpOptionWriter * writer)
{
  guint size = 1;

  if (connection->ndp == 0 || !dccp_features_get (connection->features,
          DCCP_FEATURE_SEND_NDP_COUNT, TRUE))
    return;
  while (size < 6 && connection->ndp >> (8 * size) != 0)
    size++;
  dccp_option_write_number (writer, DCCP_OPTION_NDP_COUNT, connection->ndp,
      size);
}

static void
write_timestamp_echo (DccpConnection * connection, DccpOptionWriter * writer)
{
  if (!connection->owes_echo)
    return;
  connection->owes_echo = FALSE;
  dccp_option_write_timestamp_echo (writer, connection->stamp,
      connection->now - connection->stamp_time);
}

/* Returns whether packets of this type carry the options of the congestion
 * control for the data that we send. Packets of all other types are sent
 * without these options, because they must be as short as possible, or because
 * they have to carry other options. */
static gboolean
has_sender_options (DccpType type)
{
  return type == DCCP_DATA || type == DCCP_DATA_ACK || type == DCCP_SYNC
      || type == DCCP_SYNC_ACK;
}

static void
write_slow_receiver (DccpConnection * connection, DccpOptionWriter * writer)
{
  connection->told_slow = connection->common->is_slow
      && dccp_option_write (writer, FALSE, DCCP_OPTION_SLOW_RECEIVER, NULL, 0);
  if (connection->told_slow)
    connection->common->stats.slow_receiver_sent++;
}

static void
write_acknowledgement_options (DccpConnection * connection,
    gboolean with_report, DccpOptionWriter * writer)
{
  dccp_option_write_elapsed_time (writer,
      connection->now - connection->numbers.gsr_time);
  write_slow_receiver (connection, writer);
  dccp_dropped_write (&connection->dropped, connection->numbers.gsr, writer);
  if (!with_report)
    return;
  dccp_half_connections_write_feedback (&connection->halves, connection->now,
      writer);
  connection->common->stats.feedback_sent++;
}

static void
write_own_options (DccpConnection * connection, DccpType type,
    gboolean with_report, DccpOptionWriter * writer)
{
  dccp_option_writer_init (writer);
  write_ndp_count (connection, writer);
  if (type != DCCP_SYNC)
    write_timestamp_echo (connection, writer);
  if (has_sender_options (type))
    dccp_half_connections_write_options (&connection->halves, connection->now,
        writer);
  if (type == DCCP_ACK || type == DCCP_RESPONSE)
    dccp_cookie_list_write (&connection->cookies, writer);
  if (type == DCCP_ACK)
    write_acknowledgement_options (connection, with_report, writer);
}

/* --- closing -------------------------------------------------------------- */

/* Begins to close the connection: enters `state`, which is CLOSEREQ or CLOSING.
 * In the state CLOSEREQ a CloseReq is sent, and in the state CLOSING a Close.
 * If the peer does not answer, the packet is repeated. The first repetition
 * follows after two round trips (section 8.3 of RFC 4340). */
static void
begin_closing (DccpConnection * connection, DccpState state)
{
  set_state (connection, state);
  connection->timers.began = connection->now;
  dccp_timers_start (&connection->timers, connection->now,
      CLAMP (2 * get_round_trip (connection), MIN_BACKOFF, DCCP_MAX_BACKOFF));
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

/* --- packets that are sent ------------------------------------------------ */

/* Pads a packet with options until it is as long as a Reset. Some endpoints,
 * also those of this project (docs/dccp-thin.md), never answer a packet with a
 * longer packet. If such an endpoint received a packet that is shorter than a
 * Reset, it could not answer the packet with a Reset. It can do so if the
 * packet is padded. */
static void
pad (DccpType type, DccpOptionWriter * writer)
{
  while (dccp_type_get_header_size (type, TRUE) + writer->size <
      DCCP_RESET_SIZE)
    if (!dccp_option_write (writer, FALSE, DCCP_OPTION_PADDING, NULL, 0))
      return;
}

static void
write_options (DccpConnection * connection, DccpType type, gboolean with_report,
    DccpOptionWriter * writer)
{
  write_own_options (connection, type, with_report, writer);
  if (connection->state == DCCP_STATE_PARTOPEN)
    dccp_features_write_again (connection->features, writer);
  dccp_features_write (connection->features, connection->now,
      dccp_numbers_get_next (&connection->numbers), writer);
  pad (type, writer);
}

/* Writes the options of a Sync. A Sync must not be longer than the packet that
 * it answers. It therefore carries no feature negotiation. NDP Count and RTT
 * Estimate are written only if the answered packet was long enough. */
static void
write_sync_options (DccpConnection * connection, DccpOptionWriter * writer)
{
  write_own_options (connection, DCCP_SYNC, FALSE, writer);
  if (DCCP_SYNC_SIZE + (writer->size + WORD - 1) / WORD * WORD >
      connection->pending.sync_room)
    dccp_option_writer_init (writer);
  if (connection->pending.sync_room >= DCCP_RESET_SIZE)
    pad (DCCP_SYNC, writer);
}

static void
init_packet (DccpConnection * connection, DccpPacket * packet, DccpType type)
{
  memset (packet, 0, sizeof (*packet));
  packet->source = connection->local_port;
  packet->destination = connection->remote_port;
  packet->type = type;
  packet->extended = TRUE;
  packet->service_code = connection->service_code;
  packet->sequence = dccp_numbers_get_next (&connection->numbers);
  packet->acknowledgement = connection->numbers.gsr;
}

/* Writes the header and the options of `packet` to `bytes`, and returns their
 * size in bytes. From now on, the sequence number of this packet is the
 * greatest sequence number sent (GSS). */
static gsize
write_packet (DccpConnection * connection, DccpPacket * packet,
    const DccpOptionWriter * writer, guint8 bytes[DCCP_MAX_HEADER])
{
  packet->options = writer->bytes;
  packet->options_size = writer->size;
  connection->numbers.gss = packet->sequence;
  connection->common->stats.sent[packet->type]++;
  return dccp_packet_write (packet, &connection->path, bytes);
}

static gsize
write_control (DccpConnection * connection, DccpType type,
    guint64 acknowledgement, guint8 bytes[DCCP_MAX_CONTROL])
{
  const gboolean with_report = type == DCCP_ACK
      && dccp_half_connections_want_feedback (&connection->halves,
      connection->now);
  DccpOptionWriter writer;
  DccpPacket packet;

  init_packet (connection, &packet, type);
  packet.acknowledgement = acknowledgement;
  if (type == DCCP_SYNC)
    write_sync_options (connection, &writer);
  else
    write_options (connection, type, with_report, &writer);
  if (dccp_type_has_data (type))
    connection->ndp = 0;
  else
    connection->ndp++;
  dccp_half_connections_sent_other (&connection->halves, connection->now,
      packet.sequence);
  return write_packet (connection, &packet, &writer, bytes);
}

/* Requests a Sync, which answers a received packet of `size` bytes. The Sync
 * must not be longer than this packet. `number` is the acknowledgement number
 * of the Sync. If the maximum number of Syncs per second is exceeded, no Sync
 * is sent (section 7.5.4). */
static void
owe_sync (DccpConnection * connection, guint64 number, gsize size)
{
  if (size < DCCP_SYNC_SIZE
      || !dccp_limiter_take (&connection->common->syncs, connection->now)) {
    connection->common->stats.answers_suppressed++;
    return;
  }
  dccp_pending_add_sync (&connection->pending, number, size);
}

static gsize
write_request (DccpConnection * connection, guint8 bytes[DCCP_MAX_CONTROL])
{
  dccp_handshake_times_add_request (&connection->handshake_times,
      connection->now, dccp_numbers_get_next (&connection->numbers));
  return write_control (connection, DCCP_REQUEST, 0, bytes);
}

static gsize
write_response (DccpConnection * connection, guint8 bytes[DCCP_MAX_CONTROL])
{
  const gsize size = write_control (connection, DCCP_RESPONSE,
      connection->numbers.gsr, bytes);

  dccp_handshake_times_add_response (&connection->handshake_times,
      connection->now, connection->numbers.gss);
  dccp_timers_back_off (&connection->timers, connection->now);
  return size;
}

/* Writes a packet of the type `type`, which has waited to be sent. */
static gsize
write_pending (DccpConnection * connection, DccpType type,
    guint8 bytes[DCCP_MAX_CONTROL])
{
  switch (type) {
    case DCCP_REQUEST:
      return write_request (connection, bytes);
    case DCCP_RESPONSE:
      return write_response (connection, bytes);
    case DCCP_SYNC:
      return write_control (connection, type, connection->pending.sync_number,
          bytes);
    case DCCP_SYNC_ACK:
      return write_control (connection, type,
          connection->pending.sync_ack_number, bytes);
    default:
      return write_control (connection, type, connection->numbers.gsr, bytes);
  }
}

static gboolean
wants_ack (DccpConnection * connection)
{
  if (!dccp_connection_is_open (connection))
    return FALSE;
  return connection->owes_ack
      || dccp_half_connections_want_feedback (&connection->halves,
      connection->now)
      || dccp_features_want_packet (connection->features, connection->now);
}

gsize
dccp_connection_poll_output (DccpConnection * connection, guint64 now,
    guint8 bytes[DCCP_MAX_CONTROL])
{
  DccpType type;

  connection->now = now;
  if (dccp_connection_is_over (connection))
    return 0;
  if (dccp_pending_take (&connection->pending, &type))
    return write_pending (connection, type, bytes);
  if (!wants_ack (connection))
    return 0;
  connection->owes_ack = FALSE;
  return write_control (connection, DCCP_ACK, connection->numbers.gsr, bytes);
}

/* --- packets that arrive -------------------------------------------------- */

/* The following functions process a received packet. Each function is one of
 * the steps 4 to 16 of RFC 4340 section 8.5. Steps 1 to 3 were already done by
 * the functions that parse the packet and by the endpoint. */

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
  Heard heard;
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
  const guint64 active = 3 * get_round_trip (connection);
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
    owe_sync (connection, packet->type == DCCP_RESET ?
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
    owe_sync (connection, packet->sequence, arrival->size);
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
    is_fine = read_options (connection, packet, &arrival->heard);
  dccp_features_processed (connection->features, connection->numbers.gsr,
      connection->numbers.gss);
  if (is_fine && dccp_half_connections_follow (&connection->halves,
          connection->now, connection->numbers.gss, packet->sequence,
          &connection->common->stats))
    tell_rate (connection);
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

static gboolean
step_10_process_request_state (DccpConnection * connection, Arrival * arrival)
{
  const DccpPacket *packet = arrival->packet;

  if (connection->state != DCCP_STATE_REQUEST)
    return TRUE;
  set_state (connection, DCCP_STATE_PARTOPEN);
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
  connection->numbers.osr = packet->sequence;
  set_state (connection, DCCP_STATE_OPEN);
  dccp_pending_remove (&connection->pending, DCCP_RESPONSE);
  dccp_timers_stop (&connection->timers);
  connection->numbers.first_open = dccp_numbers_get_next (&connection->numbers);
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
    connection->numbers.osr = packet->sequence;
    set_state (connection, DCCP_STATE_OPEN);
    dccp_timers_stop (&connection->timers);
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
    tell_event (connection, &event);
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
  tell_rate (connection);
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
  tell_event (connection, &event);
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
    tell_connected (connection);
  return arrival.has_data;
}

/* --- data ----------------------------------------------------------------- */

guint64
dccp_connection_next_send (DccpConnection * connection, guint64 now)
{
  connection->now = now;
  if (!connection->is_told || !dccp_connection_is_open (connection))
    return DCCP_NEVER;
  /* The client still has to return Init Cookies to the server, so no data may
   * be sent yet. A server that has stored no state needs the Ack with the
   * cookies first, and discards all data that arrive before this Ack. Data and
   * cookies cannot always be sent together, because they do not fit into one
   * packet of the maximum size. */
  if (!dccp_cookie_list_is_empty (&connection->cookies))
    return DCCP_NEVER;
  return dccp_half_connections_next_send (&connection->halves, now);
}

/* Returns the maximum payload size of a DataAck in bytes. This is `mtu` minus
 * the size of the headers and the maximum size of the options. */
guint
dccp_connection_get_max_payload (const DatagramPath * path, guint mtu)
{
  const guint ip = path->address_size == 16 ? 40 : 20;
  const guint udp = datagram_path_has_ports (path) ? 8 : 0;
  const guint header = dccp_type_get_header_size (DCCP_DATA_ACK, TRUE) +
      DATA_OPTIONS_SIZE;

  return mtu > ip + udp + header ? mtu - ip - udp - header : 0;
}

/* Returns the value of the field CsCov (checksum coverage) for a packet with
 * `size` bytes of payload. Usually this is the configured value. The value is
 * 0, which means that the checksum covers all bytes, in two cases: the peer
 * does not accept the configured value (section 9.2.1), or the configured value
 * covers more bytes than the payload has. */
static guint8
get_coverage (DccpConnection * connection, gsize size)
{
  const guint8 coverage = connection->common->config.coverage;
  const guint64 min = dccp_features_get (connection->features,
      DCCP_FEATURE_MIN_COVERAGE, FALSE);

  if (coverage == 0 || min == 0 || coverage < min)
    return 0;
  return (gsize) (coverage - 1) * 4 <= size ? coverage : 0;
}

/* Writes the Confirms again, which are our answers in the feature negotiation.
 * A client in PARTOPEN has already sent them with an Ack, but this Ack may be
 * lost. If data arrive before the Confirms, Linux resets the connection. Each
 * DataAck therefore repeats the Confirms. They are left out if the payload of
 * the packet leaves no room for them. */
static void
repeat_confirms (DccpConnection * connection, gsize size,
    DccpOptionWriter * writer)
{
  DccpOptionWriter with = *writer;

  dccp_features_write_again (connection->features, &with);
  if (size + with.size + WORD - 1 <= DATA_OPTIONS_SIZE +
      dccp_connection_get_max_payload (&connection->path, connection->mtu))
    *writer = with;
}

gsize
dccp_connection_send (DccpConnection * connection, guint64 now,
    const guint8 * payload, gsize size, gboolean more,
    guint8 header[DCCP_MAX_HEADER])
{
  DccpOptionWriter writer;
  DccpPacket packet;

  if (dccp_connection_next_send (connection, now) > now
      || size > dccp_connection_get_max_payload (&connection->path,
          connection->mtu))
    return 0;
  init_packet (connection, &packet, connection->state == DCCP_STATE_PARTOPEN ?
      DCCP_DATA_ACK : DCCP_DATA);
  write_own_options (connection, packet.type, FALSE, &writer);
  if (packet.type == DCCP_DATA_ACK)
    repeat_confirms (connection, size, &writer);
  packet.payload = payload;
  packet.payload_size = size;
  packet.coverage = get_coverage (connection, size);
  packet.ccval = dccp_half_connections_sent (&connection->halves, now,
      packet.sequence, size, more);
  dccp_drop_reports_add_sent (&connection->drop_reports, packet.sequence);
  connection->ndp = 0;
  connection->common->stats.bytes_sent += size;
  return write_packet (connection, &packet, &writer, header);
}

/* --- times ---------------------------------------------------------------- */

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

/* --- timers that expired -------------------------------------------------- */

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
      owe_sync (connection, connection->numbers.gsr, connection->answer_room);
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
    tell_rate (connection);
}
