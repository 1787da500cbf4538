/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpconnectionoptions.h: reads the options of a received
 * packet. Options that are unknown or invalid are ignored, or reset the
 * connection (section 5.8.2). Section numbers refer to RFC 4340, unless another
 * RFC is named. */

#include "dccpconnectionoptions.h"

#include <string.h>

#include "dccpconnectionprivate.h"

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
  dccp_connection_tell_event (connection, &event);
}

/* Reads a Data Dropped option of the received packet `packet`. The option
 * describes packets that we have sent, in descending order of their sequence
 * numbers. If `packet` has several of these options, each further option
 * continues where the option before has ended (section 11.7). Returns FALSE if
 * `packet` is neither a DCCP-Ack nor a DCCP-DataAck, because the option is not
 * valid on other packets. */
static gboolean
read_data_dropped (DccpConnection * connection, const DccpPacket * packet,
    const DccpOption * option, DccpHeard * heard)
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
    const DccpOption * option, DccpHeard * heard)
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
    DccpHeard * heard)
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
    const DccpOption * option, DccpHeard * heard)
{
  guint8 code;

  if (dccp_option_is_negotiation (option)) {
    code = dccp_features_input (connection->features, option, packet);
    return code == 0 || abort_for_option (connection, option, code);
  }
  if (option->type >= DCCP_FIRST_CCID_OPTION)
    return read_ccid_option (connection, option, heard);
  return read_option (connection, packet, option, heard)
      || refuse_option (connection, option);
}

gboolean
dccp_connection_read_options (DccpConnection * connection,
    const DccpPacket * packet, DccpHeard * heard)
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
