/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packets that a connection sends: one of each kind may wait until it is
 * polled, and is made then; data goes at once. */

#include "dccpconnection.h"

#include <string.h>

/* Bytes that data may have of NDP Count, Timestamp Echo, RTT Estimate and Slow
 * Receiver */
#define DATA_OPTIONS_SIZE 24
#define WORD 4                  /* options fill whole ones */

/* So that an endpoint whose answers are no longer than what they answer, as ours
 * (docs/dccp-thin.md), answers with a Reset what asks for one. */
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
  dccp_connection_write_options (connection, type, with_report, writer);
  if (connection->state == DCCP_STATE_PARTOPEN)
    dccp_features_write_again (connection->features, writer);
  dccp_features_write (connection->features, connection->now,
      dccp_sequence_add (connection->gss, 1), writer);
  pad (type, writer);
}

/* As far as there is room: negotiation can wait, NDP Count and RTT Estimate go
 * where what is answered was long enough. */
static void
write_sync_options (DccpConnection * connection, DccpOptionWriter * writer)
{
  dccp_connection_write_options (connection, DCCP_SYNC, FALSE, writer);
  if (DCCP_SYNC_SIZE + (writer->size + WORD - 1) / WORD * WORD >
      connection->sync_room)
    dccp_option_writer_init (writer);
  if (connection->sync_room >= DCCP_RESET_SIZE)
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
  packet->sequence = dccp_sequence_add (connection->gss, 1);
  packet->acknowledgement = connection->gsr;
}

/* The number is used up. */
static gsize
write_packet (DccpConnection * connection, DccpPacket * packet,
    const DccpOptionWriter * writer, guint8 bytes[DCCP_LONGEST_HEADER])
{
  packet->options = writer->bytes;
  packet->options_size = writer->size;
  connection->gss = packet->sequence;
  connection->common->stats.sent[packet->type]++;
  return dccp_packet_write (packet, &connection->path, bytes);
}

static gsize
write_control (DccpConnection * connection, DccpType type,
    guint64 acknowledgement, guint8 bytes[DCCP_LONGEST_CONTROL])
{
  const gboolean with_report = type == DCCP_ACK && connection->receiver
      && tfrc_receiver_wants_feedback (connection->receiver, connection->now);
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
  if (connection->sender)
    tfrc_sender_sent_other (connection->sender, connection->now,
        packet.sequence);
  return write_packet (connection, &packet, &writer, bytes);
}

/* Section 7.5.4; no longer than what it answers */
void
dccp_connection_owe_sync (DccpConnection * connection, guint64 number,
    gsize size)
{
  if (size < DCCP_SYNC_SIZE
      || !dccp_limiter_take (&connection->common->syncs, connection->now)) {
    connection->common->stats.answers_suppressed++;
    return;
  }
  connection->owes_sync = TRUE;
  connection->sync_number = number;
  connection->sync_room = size;
}

static gsize
write_request (DccpConnection * connection, guint8 bytes[DCCP_LONGEST_CONTROL])
{
  const guint64 n = dccp_sequence_difference (connection->gss,
      connection->iss) + 1;

  connection->owes_request = FALSE;
  connection->request_times[n % DCCP_MAX_REQUESTS] = connection->now;
  return write_control (connection, DCCP_REQUEST, 0, bytes);
}

static gsize
write_response (DccpConnection * connection, guint8 bytes[DCCP_LONGEST_CONTROL])
{
  gsize size;

  connection->owes_response = FALSE;
  size = write_control (connection, DCCP_RESPONSE, connection->gsr, bytes);
  connection->response = connection->gss;
  connection->response_time = connection->now;
  dccp_connection_back_off (connection);
  return size;
}

static gsize
write_sync (DccpConnection * connection, gboolean * owed, DccpType type,
    guint64 number, guint8 bytes[DCCP_LONGEST_CONTROL])
{
  *owed = FALSE;
  return write_control (connection, type, number, bytes);
}

static gboolean
wants_ack (DccpConnection * connection)
{
  if (!dccp_connection_is_open (connection))
    return FALSE;
  return connection->owes_ack
      || tfrc_receiver_wants_feedback (connection->receiver, connection->now)
      || dccp_features_want_packet (connection->features, connection->now);
}

gsize
dccp_connection_poll_output (DccpConnection * connection, guint64 now,
    guint8 bytes[DCCP_LONGEST_CONTROL])
{
  connection->now = now;
  if (dccp_connection_is_over (connection))
    return 0;
  if (connection->owes_request)
    return write_request (connection, bytes);
  if (connection->owes_response)
    return write_response (connection, bytes);
  if (connection->owes_sync)
    return write_sync (connection, &connection->owes_sync, DCCP_SYNC,
        connection->sync_number, bytes);
  if (connection->owes_sync_ack)
    return write_sync (connection, &connection->owes_sync_ack, DCCP_SYNC_ACK,
        connection->sync_ack_number, bytes);
  if (connection->owes_close_req)
    return write_sync (connection, &connection->owes_close_req,
        DCCP_CLOSE_REQ, connection->gsr, bytes);
  if (connection->owes_close)
    return write_sync (connection, &connection->owes_close, DCCP_CLOSE,
        connection->gsr, bytes);
  if (!wants_ack (connection))
    return 0;
  return write_sync (connection, &connection->owes_ack, DCCP_ACK,
      connection->gsr, bytes);
}

/* --- data ---------------------------------------------------------------------- */

guint64
dccp_connection_next_send (DccpConnection * connection, guint64 now)
{
  connection->now = now;
  if (!connection->is_told || !dccp_connection_is_open (connection))
    return DCCP_NEVER;
  /* A server that knows nothing of us without its cookies may not hear data before
   * the Ack that has them, and a full packet has no room for them. */
  if (connection->cookies_size > 0)
    return DCCP_NEVER;
  return tfrc_sender_next_send (connection->sender, now);
}

/* With a DataAck, and its options */
guint
dccp_connection_get_max_payload (const DatagramPath * path, guint mtu)
{
  const guint ip = path->address_size == 16 ? 40 : 20;
  const guint udp = datagram_path_has_ports (path) ? 8 : 0;
  const guint header = dccp_type_get_header_size (DCCP_DATA_ACK, TRUE) +
      DATA_OPTIONS_SIZE;

  return mtu > ip + udp + header ? mtu - ip - udp - header : 0;
}

/* Of whole words of the payload, if the other end takes less than all of it
 * (section 9.2.1) */
static guint8
get_coverage (DccpConnection * connection, gsize size)
{
  const guint8 coverage = connection->common->config.coverage;
  const guint64 least = dccp_features_get (connection->features,
      DCCP_FEATURE_MIN_COVERAGE, FALSE);

  if (coverage == 0 || least == 0 || coverage < least)
    return 0;
  return (gsize) (coverage - 1) * 4 <= size ? coverage : 0;
}

/* Until a client hears of the server again, that may not have its Confirms: it may
 * take no packet without them, as Linux, which resets the connection. Where the
 * payload leaves no room, the Ack before it must do. */
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
    guint8 header[DCCP_LONGEST_HEADER])
{
  DccpOptionWriter writer;
  DccpPacket packet;

  if (dccp_connection_next_send (connection, now) > now
      || size > dccp_connection_get_max_payload (&connection->path,
          connection->mtu))
    return 0;
  init_packet (connection, &packet, connection->state == DCCP_STATE_PARTOPEN ?
      DCCP_DATA_ACK : DCCP_DATA);
  dccp_connection_write_options (connection, packet.type, FALSE, &writer);
  if (packet.type == DCCP_DATA_ACK)
    repeat_confirms (connection, size, &writer);
  packet.payload = payload;
  packet.payload_size = size;
  packet.coverage = get_coverage (connection, size);
  packet.ccval = tfrc_sender_sent (connection->sender, now, packet.sequence,
      size, more);
  dccp_history_set (&connection->sent_data, packet.sequence);
  connection->ndp = 0;
  connection->common->stats.bytes_sent += size;
  return write_packet (connection, &packet, &writer, header);
}
