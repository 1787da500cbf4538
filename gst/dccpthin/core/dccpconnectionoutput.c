/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpconnectionoutput.h: writes the packets of a connection.
 * Section numbers refer to RFC 4340, unless another RFC is named. */

#include "dccpconnectionoutput.h"

#include <string.h>

#include "dccpconnectionprivate.h"

/* Maximum size in bytes of the options of a data packet. These are NDP Count,
 * Timestamp Echo, an option of the congestion control (dccpccid.h) and Slow
 * Receiver. */
#define DATA_OPTIONS_SIZE 24
/* size of a word in bytes; the options of a packet are padded to whole words */
#define WORD 4

/* --- options -------------------------------------------------------------- */

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

/* --- packets -------------------------------------------------------------- */

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
  dccp_numbers_add_sent (&connection->numbers, packet->sequence);
  connection->common->stats.sent[packet->type]++;
  return dccp_packet_write (packet, &connection->path, bytes);
}

/* --- control packets ------------------------------------------------------ */

void
dccp_connection_request_sync (DccpConnection * connection, guint64 number,
    gsize size)
{
  if (size < DCCP_SYNC_SIZE
      || !dccp_limiter_take (&connection->common->syncs, connection->now)) {
    connection->common->stats.answers_suppressed++;
    return;
  }
  dccp_pending_add_sync (&connection->pending, number, size);
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
    default:                   /* CloseReq, Close */
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

/* --- data ----------------------------------------------------------------- */

guint
dccp_connection_get_max_payload (const DatagramPath * path, guint mtu)
{
  const guint ip = path->address_size == 16 ? 40 : 20;
  const guint udp = datagram_path_has_ports (path) ? 8 : 0;
  const guint header = dccp_type_get_header_size (DCCP_DATA_ACK, TRUE) +
      DATA_OPTIONS_SIZE;

  return mtu > ip + udp + header ? mtu - ip - udp - header : 0;
}

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
