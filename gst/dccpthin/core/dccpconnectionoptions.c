/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of a connection's packets: what those that come mean for it, and
 * which ones go out (docs/dccp-thin.md). */

#include "dccpconnection.h"

#include <string.h>

/* --- coming ------------------------------------------------------------------ */

/* Reset 5 and 6 name the option and the first two bytes of its value (section
 * 5.6). */
static gboolean
abort_for_option (DccpConnection * connection, const DccpOption * option,
    guint8 code)
{
  guint8 data[3] = { option->type };

  memcpy (data + 1, option->value, MIN (option->size, 2));
  connection->common->stats.refused[DCCP_REFUSED_OPTION]++;
  dccp_connection_abort (connection, DCCP_EVENT_ABORTED, code, data);
  return FALSE;
}

/* Packets of ours that are newly reported, for one reason */
typedef struct
{
  guint n;
  guint64 first, last;
} Dropped;

static void
tell_dropped (DccpConnection * connection, DccpDropCode code,
    const Dropped * dropped)
{
  DccpEvent event = { DCCP_EVENT_DROPPED };

  if (dropped->n == 0)
    return;
  connection->common->stats.dropped_received += dropped->n;
  event.dropped = dropped->n;
  event.drop_code = code;
  event.sequence = dropped->first;
  event.lost = dccp_sequence_difference (dropped->last, dropped->first) + 1;
  dccp_connection_tell (connection, &event);
}

/* Adds those of a run that had data of ours and were not reported before. The
 * runs of a packet go downwards. */
static void
add_dropped (DccpConnection * connection, guint64 last, guint run,
    Dropped * dropped)
{
  guint64 lowest, highest;
  const gint64 n = dccp_history_add_run (&connection->reported,
      &connection->sent_data, dccp_sequence_add (last, 1 - (gint64) run), run,
      &lowest, &highest);

  if (n == 0)
    return;
  if (dropped->n == 0)
    dropped->last = highest;
  dropped->first = lowest;
  dropped->n += n;
}

/* A second option begins where the first left off (section 11.7). */
static gboolean
read_data_dropped (DccpConnection * connection, const DccpPacket * packet,
    const DccpOption * option, DccpHeard * heard)
{
  Dropped dropped[DCCP_DROP_NONE] = { {0} };
  guint64 last = dccp_sequence_add (packet->acknowledgement,
      -(gint64) heard->drop_offset);
  guint offset = 0, run, i;
  DccpDropCode code;

  if (packet->type != DCCP_ACK && packet->type != DCCP_DATA_ACK)
    return FALSE;
  while (dccp_option_next_drop_block (option, &offset, &code, &run)) {
    if (code < DCCP_DROP_NONE)
      add_dropped (connection, last, run, &dropped[code]);
    last = dccp_sequence_add (last, -(gint64) run);
    heard->drop_offset += run;
  }
  heard->feedback.dropped += dropped[DCCP_DROP_RECEIVE_BUFFER].n;
  heard->feedback.dropped_others |= dropped[DCCP_DROP_PROTOCOL].n > 0
      || dropped[DCCP_DROP_NOT_LISTENING].n > 0;
  for (i = 0; i < DCCP_DROP_NONE; i++)
    tell_dropped (connection, i, &dropped[i]);
  return TRUE;
}

static gboolean
read_round_trip (DccpConnection * connection, const DccpOption * option)
{
  guint64 round_trip;

  if (!dccp_option_read_rtt_estimate (option, &round_trip))
    return FALSE;
  if (round_trip > 0 && connection->receiver)
    tfrc_receiver_set_round_trip (connection->receiver, round_trip);
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

/* An echo of what we never sent; its size is looked at. */
static gboolean
read_timestamp_echo (const DccpOption * option)
{
  guint64 elapsed;
  guint32 stamp;

  return dccp_option_read_timestamp_echo (option, &stamp, &elapsed);
}

typedef struct
{
  gboolean has_rate, has_intervals;
  gdouble rate, intervals;      /* p */
} LossEventRates;

static gboolean
read_loss_event_rate (const DccpOption * option, LossEventRates * p)
{
  guint64 inverse;

  if (!dccp_option_read_number (option, &inverse) || option->size != 4
      || inverse == 0)
    return FALSE;
  p->has_rate = TRUE;
  p->rate = inverse == G_MAXUINT32 ? 0 : 1. / inverse;
  return TRUE;
}

/* A second option goes on with older ones, and skips none (RFC 4342 section
 * 8.6.1). */
static gboolean
add_loss_intervals (DccpLossIntervals * losses, const DccpLossIntervals * more)
{
  guint i;

  if (losses->n > 0 && more->skip != 0)
    return FALSE;
  if (losses->n == 0)
    losses->skip = more->skip;
  for (i = 0; i < more->n && losses->n < DCCP_MAX_LOSS_INTERVALS; i++)
    losses->intervals[losses->n++] = more->intervals[i];
  return TRUE;
}

static gboolean
read_loss_intervals (const DccpOption * option, LossEventRates * p,
    DccpHeard * heard)
{
  DccpLossIntervals read;

  if (!dccp_option_read_loss_intervals (option, &read)
      || !add_loss_intervals (&heard->losses, &read))
    return FALSE;
  p->has_intervals = tfrc_intervals_get_loss_event_rate (&heard->losses,
      &p->intervals);
  return TRUE;
}

static gboolean
read_receive_rate (const DccpOption * option, TfrcFeedback * feedback)
{
  guint64 rate;

  if (!dccp_option_read_number (option, &rate) || option->size != 4)
    return FALSE;
  feedback->has_receive_rate = TRUE;
  feedback->receive_rate = rate;
  return TRUE;
}

gboolean
dccp_connection_add_cookie (DccpConnection * connection, const guint8 * value,
    gsize size)
{
  guint8 *option = connection->cookies + connection->cookies_size;

  if (size + 2 > DCCP_MAX_COOKIES - connection->cookies_size)
    return FALSE;
  option[0] = DCCP_OPTION_INIT_COOKIE;
  option[1] = size + 2;
  if (size > 0)
    memcpy (option + 2, value, size);
  connection->cookies_size += size + 2;
  return TRUE;
}

/* Those of the first Response are the ones to return. It is processed in REQUEST,
 * a repeated one in PARTOPEN. */
static gboolean
read_cookie (DccpConnection * connection, const DccpPacket * packet,
    const DccpOption * option)
{
  return packet->type == DCCP_RESPONSE
      && connection->state == DCCP_STATE_REQUEST
      && dccp_connection_add_cookie (connection, option->value, option->size);
}

/* FALSE: it is not known, or can't be. */
static gboolean
read_option (DccpConnection * connection, const DccpPacket * packet,
    const DccpOption * option, DccpHeard * heard, LossEventRates * p)
{
  switch (option->type) {
    case DCCP_OPTION_SLOW_RECEIVER:
      heard->feedback.slow_receiver = TRUE;
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
      return heard->feedback.has_elapsed =
          dccp_option_read_elapsed_time (option, &heard->feedback.elapsed);
    case DCCP_OPTION_RTT_ESTIMATE:
      return read_round_trip (connection, option);
    case DCCP_OPTION_LOSS_EVENT_RATE:
      return read_loss_event_rate (option, p);
    case DCCP_OPTION_LOSS_INTERVALS:
      return read_loss_intervals (option, p, heard);
    case DCCP_OPTION_RECEIVE_RATE:
      return read_receive_rate (option, &heard->feedback);
    default:
      return FALSE;
  }
}

static gboolean
is_negotiation (guint8 type)
{
  return type >= DCCP_OPTION_CHANGE_L && type <= DCCP_OPTION_CONFIRM_R;
}

/* The profile has no use for them; that they come is no error. */
static gboolean
is_ignored (guint8 type)
{
  return type == DCCP_OPTION_INIT_COOKIE || type == DCCP_OPTION_ACK_VECTOR_0
      || type == DCCP_OPTION_ACK_VECTOR_1 || type == DCCP_OPTION_DATA_CHECKSUM;
}

/* RFC 6323 section 3.3: a wrong RTT Estimate ends the connection of who asked for
 * it, and the Reset has the beginning of the option itself. */
static gboolean
abort_for_round_trip (DccpConnection * connection, const DccpOption * option)
{
  const guint8 data[3] = { option->type, option->size + 2,
    option->size > 0 ? option->value[0] : 0
  };

  dccp_connection_abort (connection, DCCP_EVENT_ABORTED,
      DCCP_RESET_OPTION_ERROR, data);
  return FALSE;
}

/* Section 5.8.2; FALSE: the connection was reset. */
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
  if (option->type == DCCP_OPTION_RTT_ESTIMATE
      && dccp_features_get (connection->features,
          DCCP_FEATURE_SEND_RTT_ESTIMATE, FALSE))
    return abort_for_round_trip (connection, option);
  return TRUE;
}

gboolean
dccp_connection_read_options (DccpConnection * connection,
    const DccpPacket * packet, DccpHeard * heard)
{
  LossEventRates p = { FALSE };
  DccpOptionReader reader;
  DccpOption option;
  guint8 code;

  dccp_option_reader_init (&reader, packet);
  while (dccp_option_reader_next (&reader, &option)) {
    if (!reader.broken && is_negotiation (option.type)) {
      code = dccp_features_input (connection->features, &option, packet);
      if (code != 0)
        return abort_for_option (connection, &option, code);
      continue;
    }
    if (!reader.broken && read_option (connection, packet, &option, heard, &p))
      continue;
    if (!refuse_option (connection, &option))
      return FALSE;
  }
  if (reader.broken)
    connection->common->stats.option_errors++;
  if (p.has_intervals)
    heard->feedback.loss_event_rate = p.intervals;
  else if (p.has_rate)
    heard->feedback.loss_event_rate = p.rate;
  return TRUE;
}

/* --- going ------------------------------------------------------------------- */

/* Section 7.7: on each packet whose last one had no data */
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

/* RFC 6323 section 3.3; 0 while it is not known */
static void
write_round_trip (DccpConnection * connection, DccpType type,
    DccpOptionWriter * writer)
{
  TfrcSenderState state = { 0 };

  if (type != DCCP_DATA && type != DCCP_DATA_ACK && type != DCCP_SYNC
      && type != DCCP_SYNC_ACK)
    return;
  if (!dccp_features_get (connection->features, DCCP_FEATURE_SEND_RTT_ESTIMATE,
          TRUE))
    return;
  if (connection->sender)
    tfrc_sender_get_state (connection->sender, &state);
  dccp_option_write_rtt_estimate (writer, state.round_trip > 0 ?
      state.round_trip : connection->round_trip);
}

/* RFC 4342 section 8; an Ack without it has the Elapsed Time all the same, as its
 * acknowledgement times the round trip. */
static void
write_report (DccpConnection * connection, DccpOptionWriter * writer)
{
  TfrcReport report;

  tfrc_receiver_take_report (connection->receiver, connection->now, &report);
  dccp_option_write_number (writer, DCCP_OPTION_RECEIVE_RATE,
      report.receive_rate, 4);
  if (dccp_features_get (connection->features,
          DCCP_FEATURE_SEND_LOSS_EVENT_RATE, TRUE))
    dccp_option_write_number (writer, DCCP_OPTION_LOSS_EVENT_RATE,
        report.loss_event_rate, 4);
  dccp_option_write_loss_intervals (writer, &report.intervals);
  connection->common->stats.feedback_sent++;
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
      connection->now - connection->gsr_time);
  write_slow_receiver (connection, writer);
  dccp_dropped_write (&connection->dropped, connection->gsr, writer);
  if (with_report)
    write_report (connection, writer);
}

/* Section 8.1.4, in their order */
static void
write_cookies (DccpConnection * connection, DccpOptionWriter * writer)
{
  gsize i;

  for (i = 0; i < connection->cookies_size; i += connection->cookies[i + 1])
    dccp_option_write (writer, FALSE, DCCP_OPTION_INIT_COOKIE,
        &connection->cookies[i + 2], connection->cookies[i + 1] - 2);
}

void
dccp_connection_write_options (DccpConnection * connection, DccpType type,
    gboolean with_report, DccpOptionWriter * writer)
{
  dccp_option_writer_init (writer);
  write_ndp_count (connection, writer);
  if (type != DCCP_SYNC)
    write_timestamp_echo (connection, writer);
  write_round_trip (connection, type, writer);
  if (type == DCCP_ACK || type == DCCP_RESPONSE)
    write_cookies (connection, writer);
  if (type == DCCP_ACK)
    write_acknowledgement_options (connection, with_report, writer);
}
