/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccphalfconnections.h. Each congestion control is a table
 * of functions, and this file calls these functions. */

#include "dccphalfconnections.h"

#include <string.h>

/* --- begin and end -------------------------------------------------------- */

void
dccp_half_connections_init (DccpHalfConnections * halves,
    const DccpEndpointConfig * config, DccpFeatures * features)
{
  memset (halves, 0, sizeof (*halves));
  halves->ccids = config->ccids;
  halves->features = features;
  halves->config.segment_size = config->segment_size;
  halves->config.granularity = config->granularity;
  halves->config.equation = config->equation;
  halves->config.reduce_oscillation = config->reduce_oscillation;
}

/* Returns the congestion control that one of the two half-connections should
 * use. If `is_sender` is TRUE, the function is about the half-connection in
 * which we send data, otherwise about the half-connection in which we receive
 * data. If a congestion control was negotiated with the peer, the function
 * returns it. Otherwise the function returns the congestion control that we
 * prefer (RFC 4340 section 10). */
static const DccpCcid *
choose_ccid (DccpHalfConnections * halves, gboolean is_sender)
{
  const DccpCcid *agreed = dccp_ccid_find (halves->ccids,
      dccp_features_get (halves->features, DCCP_FEATURE_CCID, is_sender));

  return agreed ? agreed : halves->ccids[0];
}

/* Returns the congestion control that one of the two half-connections uses now.
 * If `is_sender` is TRUE, this is the half-connection in which we send data,
 * otherwise the one in which we receive data. If the half-connection has not
 * begun yet, returns the congestion control that it will use first.
 *
 * One option of a packet may select a new congestion control. Other options of
 * the same packet may still be meant for the previous congestion control. The
 * previous congestion control therefore stays in use until all options of the
 * packet have been read. */
static const DccpCcid *
get_ccid (DccpHalfConnections * halves, gboolean is_sender)
{
  const DccpCcid *ccid = is_sender ? halves->sender_ccid :
      halves->receiver_ccid;

  return ccid ? ccid : choose_ccid (halves, is_sender);
}

static void
set_sender_round_trip (DccpHalfConnections * halves, guint64 now)
{
  const DccpCcidSender *verbs = &halves->sender_ccid->sender;

  if (verbs->set_round_trip && halves->round_trip > 0)
    verbs->set_round_trip (halves->sender, now, halves->round_trip);
}

static void
set_receiver_round_trip (DccpHalfConnections * halves, guint64 round_trip)
{
  const DccpCcidReceiver *verbs = &halves->receiver_ccid->receiver;

  if (verbs->set_round_trip && round_trip > 0)
    verbs->set_round_trip (halves->receiver, round_trip);
}

void
dccp_half_connections_get_sender (DccpHalfConnections * halves,
    DccpCcidSenderState * state)
{
  memset (state, 0, sizeof (*state));
  if (halves->sender)
    halves->sender_ccid->sender.get_state (halves->sender, state);
}

static void
get_receiver (DccpHalfConnections * halves, DccpCcidReceiverState * state)
{
  memset (state, 0, sizeof (*state));
  if (halves->receiver)
    halves->receiver_ccid->receiver.get_state (halves->receiver, state);
}

static void
add_sender_stats (DccpHalfConnections * halves, DccpStats * stats)
{
  DccpCcidSenderState state;

  dccp_half_connections_get_sender (halves, &state);
  stats->feedback_received += state.feedbacks;
  stats->no_feedback += state.no_feedbacks;
  stats->loss_events_received += state.loss_events;
  stats->packets_lost += state.packets_lost;
}

static void
add_receiver_stats (DccpHalfConnections * halves, DccpStats * stats)
{
  DccpCcidReceiverState state;

  get_receiver (halves, &state);
  stats->lost += state.lost;
  stats->loss_events += state.loss_events;
  stats->reordered += state.reordered;
  stats->duplicates += state.duplicates;
}

void
dccp_half_connections_add_stats (DccpHalfConnections * halves,
    DccpStats * stats)
{
  add_sender_stats (halves, stats);
  add_receiver_stats (halves, stats);
}

static guint64
to_bits (gdouble bytes_per_second)
{
  return MIN (bytes_per_second, 1e15) * 8;
}

guint64
dccp_half_connections_get_rate (DccpHalfConnections * halves)
{
  DccpCcidSenderState state;

  dccp_half_connections_get_sender (halves, &state);
  return to_bits (state.rate);
}

void
dccp_half_connections_describe (DccpHalfConnections * halves, DccpStats * stats)
{
  DccpCcidReceiverState receiver;
  DccpCcidSenderState sender;

  stats->round_trip = halves->round_trip;
  dccp_half_connections_get_sender (halves, &sender);
  get_receiver (halves, &receiver);
  stats->rate = to_bits (sender.rate);
  stats->reported_rate = to_bits (sender.receive_rate);
  stats->loss_event_rate = sender.loss_event_rate;
  stats->is_app_limited = sender.is_app_limited;
  if (sender.round_trip > 0)
    stats->round_trip = sender.round_trip;
  stats->round_trip_variance = sender.round_trip_variance;
  stats->queue_delay = sender.queue_delay;
  stats->in_flight = sender.in_flight;
  stats->their_loss_event_rate = receiver.loss_event_rate;
  stats->receive_rate = to_bits (receiver.receive_rate);
}

/* Creates the sender of the congestion control `ccid`. `sequence` is a sequence
 * number that we have already used. All packets that the new sender sends have
 * greater numbers. */
static void
begin_sender (DccpHalfConnections * halves, const DccpCcid * ccid,
    guint64 now, guint64 sequence)
{
  halves->config.sequence = sequence;
  halves->sender_ccid = ccid;
  halves->sender = ccid->sender.create (&halves->config);
  set_sender_round_trip (halves, now);
}

/* Creates the receiver of the congestion control `ccid`. `sequence` is the
 * sequence number of the first packet that this receiver will process. The
 * packet counts as new only if its number is greater than the receiver's
 * initial sequence number. The initial sequence number is therefore set to
 * `sequence` - 1. */
static void
begin_receiver (DccpHalfConnections * halves, const DccpCcid * ccid,
    guint64 sequence)
{
  halves->config.sequence = dccp_sequence_add (sequence, -1);
  halves->receiver_ccid = ccid;
  halves->receiver = ccid->receiver.create (&halves->config);
  set_receiver_round_trip (halves, halves->round_trip);
}

static void
end_sender (DccpHalfConnections * halves, DccpStats * stats)
{
  add_sender_stats (halves, stats);
  halves->sender_ccid->sender.free (halves->sender);
}

static void
end_receiver (DccpHalfConnections * halves, DccpStats * stats)
{
  add_receiver_stats (halves, stats);
  halves->receiver_ccid->receiver.free (halves->receiver);
}

void
dccp_half_connections_begin (DccpHalfConnections * halves, guint64 now,
    guint max_segment, guint64 iss, guint64 sequence)
{
  halves->config.max_segment = max_segment;
  begin_sender (halves, choose_ccid (halves, TRUE), now, iss);
  begin_receiver (halves, choose_ccid (halves, FALSE), sequence);
}

gboolean
dccp_half_connections_follow (DccpHalfConnections * halves, guint64 now,
    guint64 gss, guint64 sequence, DccpStats * stats)
{
  const DccpCcid *sender = choose_ccid (halves, TRUE);
  const DccpCcid *receiver = choose_ccid (halves, FALSE);
  const gboolean is_other_sender = sender != halves->sender_ccid;

  if (!halves->sender)
    return FALSE;
  if (is_other_sender) {
    end_sender (halves, stats);
    begin_sender (halves, sender, now, gss);
  }
  if (receiver != halves->receiver_ccid) {
    end_receiver (halves, stats);
    begin_receiver (halves, receiver, sequence);
  }
  return is_other_sender;
}

void
dccp_half_connections_clear (DccpHalfConnections * halves, DccpStats * stats)
{
  if (!halves->sender)
    return;
  end_sender (halves, stats);
  end_receiver (halves, stats);
}

/* Sets the round-trip time in ns that the handshake measured. The congestion
 * control with which we send data uses this value only until it has measured
 * the round-trip time itself. */
void
dccp_half_connections_set_round_trip (DccpHalfConnections * halves,
    guint64 now, guint64 round_trip)
{
  halves->round_trip = MAX (round_trip, 1);
  if (!halves->sender)
    return;
  set_sender_round_trip (halves, now);
  set_receiver_round_trip (halves, halves->round_trip);
}

/* --- options: RFC 4340 section 10.3 --------------------------------------- */

/* Fills in `context`, the state of the connection that the functions of the
 * congestion control `ccid` need. The context also says which features of the
 * congestion control are switched on. Features 128 to 191 belong to the sender
 * of data, and features 192 to 255 to the receiver of data. */
static void
init_context (DccpHalfConnections * halves, const DccpCcid * ccid,
    gboolean is_sender, guint64 now, DccpCcidContext * context)
{
  guint i;

  context->now = now;
  context->round_trip = halves->round_trip;
  context->features = 0;
  for (i = 0; i < DCCP_CCID_MAX_FEATURES && ccid->features[i] != 0; i++) {
    const guint8 number = ccid->features[i];
    const gboolean is_of_sender = number < DCCP_FIRST_CCID_RECEIVER_OPTION;

    if (dccp_features_get (halves->features, number, is_of_sender == is_sender))
      context->features |= 1 << i;
  }
}

/* Each congestion control stores the options of a received packet in a format
 * of its own. Returns the memory in which `ccid` stores them. If this memory
 * contains options of another congestion control, it is cleared first. */
static DccpCcidHeard *
get_own (DccpHalfHeard * heard, const DccpCcid * ccid)
{
  if (heard->ccid != ccid)
    memset (&heard->own, 0, sizeof (heard->own));
  heard->ccid = ccid;
  return &heard->own;
}

DccpCcidOptionResult
dccp_half_connections_read_option (DccpHalfConnections * halves, guint64 now,
    const DccpOption * option, DccpHalfHeard * heard)
{
  const gboolean is_to_sender = option->type >= DCCP_FIRST_CCID_RECEIVER_OPTION;
  const DccpCcid *ccid = get_ccid (halves, is_to_sender);
  DccpCcidContext context;

  if (is_to_sender)
    return ccid->sender.read_option
        && ccid->sender.read_option (get_own (heard, ccid), option) ?
        DCCP_CCID_OPTION_READ : DCCP_CCID_OPTION_REFUSED;
  if (!ccid->receiver.read_option)
    return DCCP_CCID_OPTION_REFUSED;
  init_context (halves, ccid, FALSE, now, &context);
  return ccid->receiver.read_option (halves->receiver, &context, option);
}

void
dccp_half_connections_write_options (DccpHalfConnections * halves, guint64 now,
    DccpOptionWriter * writer)
{
  const DccpCcid *ccid = get_ccid (halves, TRUE);
  DccpCcidContext context;

  if (!ccid->sender.write_options)
    return;
  init_context (halves, ccid, TRUE, now, &context);
  ccid->sender.write_options (halves->sender, &context, writer);
}

/* --- the receiver of data ------------------------------------------------- */

void
dccp_half_connections_input (DccpHalfConnections * halves, guint64 now,
    const DccpCcidPacket * packet)
{
  if (halves->receiver)
    halves->receiver_ccid->receiver.input (halves->receiver, now, packet);
}

gboolean
dccp_half_connections_want_feedback (DccpHalfConnections * halves, guint64 now)
{
  return halves->receiver
      && halves->receiver_ccid->receiver.wants_feedback (halves->receiver, now);
}

void
dccp_half_connections_write_feedback (DccpHalfConnections * halves, guint64 now,
    DccpOptionWriter * writer)
{
  DccpCcidContext context;

  init_context (halves, halves->receiver_ccid, FALSE, now, &context);
  halves->receiver_ccid->receiver.write_feedback (halves->receiver, &context,
      writer);
}

/* --- the sender of data --------------------------------------------------- */

void
dccp_half_connections_sent_other (DccpHalfConnections * halves, guint64 now,
    guint64 sequence)
{
  if (halves->sender && halves->sender_ccid->sender.sent_other)
    halves->sender_ccid->sender.sent_other (halves->sender, now, sequence);
}

gboolean
dccp_half_connections_feedback (DccpHalfConnections * halves, guint64 now,
    DccpCcidAck * ack, DccpHalfHeard * heard, DccpCcidNews * news)
{
  gboolean is_feedback;

  ack->heard = get_own (heard, halves->sender_ccid);
  news->round_trip = 0;
  news->n_losses = 0;
  is_feedback = halves->sender_ccid->sender.feedback (halves->sender, now, ack,
      news);
  set_receiver_round_trip (halves, news->round_trip);
  return is_feedback;
}

guint64
dccp_half_connections_next_send (DccpHalfConnections * halves, guint64 now)
{
  return halves->sender_ccid->sender.next_send (halves->sender, now);
}

guint8
dccp_half_connections_sent (DccpHalfConnections * halves, guint64 now,
    guint64 sequence, guint32 size, gboolean more)
{
  return halves->sender_ccid->sender.sent (halves->sender, now, sequence, size,
      more);
}

/* --- timers --------------------------------------------------------------- */

static guint64
get_sender_wakeup (DccpHalfConnections * halves)
{
  const DccpCcidSender *verbs = &halves->sender_ccid->sender;

  return verbs->next_wakeup ? verbs->next_wakeup (halves->sender) : G_MAXUINT64;
}

guint64
dccp_half_connections_next_wakeup (DccpHalfConnections * halves)
{
  return MIN (get_sender_wakeup (halves),
      halves->receiver_ccid->receiver.next_wakeup (halves->receiver));
}

gboolean
dccp_half_connections_timeout (DccpHalfConnections * halves, guint64 now)
{
  if (now < get_sender_wakeup (halves))
    return FALSE;
  halves->sender_ccid->sender.timeout (halves->sender, now);
  return TRUE;
}
