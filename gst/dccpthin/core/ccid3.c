/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CCID 3 (RFC 4342): congestion control of DCCP by means of TFRC (RFC 5348).
 * The algorithms are in tfrcsender.h and tfrcreceiver.h. The wire format of the
 * options is in ccid3options.h. Section numbers refer to RFC 4342, unless
 * another RFC is named. */

#include "dccpccid.h"

#include "ccid3options.h"
#include "dccpsequence.h"
#include "tfrcreceiver.h"
#include "tfrcsender.h"

/* Bits of the field DccpCcidContext.features. Each bit stands for one entry of
 * the array dccp_ccid_3.features, in the same order. */
#define SENDS_RTT_ESTIMATE (1 << 0)
#define SENDS_LOSS_EVENT_RATE (1 << 1)

/* --- sender: options that arrive ------------------------------------------ */

/* Values of the options of one received acknowledgement. The connection stores
 * the options in memory of the type DccpCcidHeard. A pointer to this memory is
 * cast to a pointer to this struct. */
typedef struct
{
  gboolean has_receive_rate, has_rate, has_intervals;
  guint32 receive_rate;
  /* loss event rate p, from the option Loss Event Rate */
  gdouble rate;
  gdouble rate_of_intervals;    /* p computed from the loss intervals */
  /* All intervals from the Loss Intervals options of the packet. If the packet
   * has no such option, intervals.n is 0. */
  TfrcIntervals intervals;
} Heard;

G_STATIC_ASSERT (sizeof (Heard) <= sizeof (DccpCcidHeard));

static gboolean
read_loss_event_rate (const DccpOption * option, Heard * heard)
{
  guint32 inverse;

  if (!ccid3_option_read_rate (option, &inverse) || inverse == 0)
    return FALSE;
  heard->has_rate = TRUE;
  heard->rate = inverse == G_MAXUINT32 ? 0 : 1. / inverse;
  return TRUE;
}

/* A packet may have several Loss Intervals options. Each further option
 * continues with older intervals. Its Skip Length must be 0 (section 8.6.1). */
static gboolean
add_loss_intervals (TfrcIntervals * intervals, const TfrcIntervals * more)
{
  guint i;

  if (intervals->n > 0 && more->skip != 0)
    return FALSE;
  if (intervals->n == 0)
    intervals->skip = more->skip;
  for (i = 0; i < more->n && intervals->n < TFRC_MAX_INTERVALS; i++)
    intervals->intervals[intervals->n++] = more->intervals[i];
  return TRUE;
}

static gboolean
read_loss_intervals (const DccpOption * option, Heard * heard)
{
  TfrcIntervals read;

  if (!ccid3_option_read_loss_intervals (option, &read)
      || !add_loss_intervals (&heard->intervals, &read))
    return FALSE;
  heard->has_intervals = tfrc_intervals_get_loss_event_rate (&heard->intervals,
      &heard->rate_of_intervals);
  return TRUE;
}

static gboolean
read_receive_rate (const DccpOption * option, Heard * heard)
{
  if (!ccid3_option_read_rate (option, &heard->receive_rate))
    return FALSE;
  heard->has_receive_rate = TRUE;
  return TRUE;
}

static gboolean
sender_read_option (DccpCcidHeard * space, const DccpOption * option)
{
  Heard *heard = (Heard *) space;

  switch (option->type) {
    case CCID3_OPTION_LOSS_EVENT_RATE:
      return read_loss_event_rate (option, heard);
    case CCID3_OPTION_LOSS_INTERVALS:
      return read_loss_intervals (option, heard);
    case CCID3_OPTION_RECEIVE_RATE:
      return read_receive_rate (option, heard);
    default:
      return FALSE;
  }
}

/* --- sender --------------------------------------------------------------- */

typedef struct
{
  TfrcSender *tfrc;
  /* greatest sequence number that the peer has reported as lost */
  guint64 told_lost;
  guint64 loss_events;
  guint64 packets_lost;         /* see DccpStats */
} Sender;

static gpointer
sender_create (const DccpCcidConfig * config)
{
  Sender *sender = g_new0 (Sender, 1);
  TfrcSenderConfig tfrc;

  tfrc_sender_config_init (&tfrc);
  tfrc.equation = config->equation;
  tfrc.segment_size = config->segment_size;
  tfrc.max_segment = config->max_segment;
  tfrc.reduce_oscillation = config->reduce_oscillation;
  tfrc.granularity = config->granularity;
  sender->tfrc = tfrc_sender_new (&tfrc);
  sender->told_lost = config->sequence;
  return sender;
}

static void
sender_free (gpointer self)
{
  Sender *sender = self;

  tfrc_sender_free (sender->tfrc);
  g_free (sender);
}

static void
sender_set_round_trip (gpointer self, guint64 now, guint64 round_trip)
{
  Sender *sender = self;

  tfrc_sender_set_round_trip (sender->tfrc, now, round_trip);
}

static guint64
sender_next_send (gpointer self, guint64 now)
{
  Sender *sender = self;

  return tfrc_sender_next_send (sender->tfrc, now);
}

static guint8
sender_sent (gpointer self, guint64 now, guint64 sequence, guint32 size,
    gboolean more)
{
  Sender *sender = self;

  return tfrc_sender_sent (sender->tfrc, now, sequence, size, more);
}

static void
sender_sent_other (gpointer self, guint64 now, guint64 sequence)
{
  Sender *sender = self;

  tfrc_sender_sent_other (sender->tfrc, now, sequence);
}

static guint64
sender_get_round_trip (Sender * sender)
{
  TfrcSenderState state;

  tfrc_sender_get_state (sender->tfrc, &state);
  return state.round_trip;
}

/* Writes the option RTT Estimate if the peer has asked for it. If the
 * round-trip time is unknown, the value of the option is 0 (RFC 6323 section
 * 3.3). */
static void
sender_write_options (gpointer self, const DccpCcidContext * context,
    DccpOptionWriter * writer)
{
  Sender *sender = self;
  const guint64 round_trip = sender ? sender_get_round_trip (sender) : 0;

  if (context->features & SENDS_RTT_ESTIMATE)
    ccid3_option_write_rtt_estimate (writer, round_trip > 0 ? round_trip
        : context->round_trip);
}

/* Adds the lost packets of one loss interval to `news`, the list of losses that
 * were not reported before. `loss` is the number of these packets, and `last`
 * is the sequence number of the last of them. While a loss event continues,
 * each acknowledgement reports all lost packets of this event. Some of them
 * were therefore reported by an earlier acknowledgement. They are left out. */
static void
add_loss (Sender * sender, guint64 last, guint32 loss, DccpCcidNews * news)
{
  guint64 first = dccp_sequence_add (last, 1 - (gint64) loss);

  if (loss == 0 || dccp_sequence_difference (last, sender->told_lost) <= 0)
    return;
  if (dccp_sequence_difference (first, sender->told_lost) > 0)
    sender->loss_events++;
  else
    first = dccp_sequence_add (sender->told_lost, 1);
  sender->packets_lost += dccp_sequence_difference (last, first) + 1;
  sender->told_lost = last;
  news->losses[news->n_losses].first = first;
  news->losses[news->n_losses].last = last;
  news->n_losses++;
}

/* Finds the lost packets that the option Loss Intervals reports, and adds them
 * to `news`. The option begins with the latest interval, but `news` needs the
 * losses in increasing order of their sequence numbers. The intervals are
 * therefore visited twice. The first loop goes from the latest to the oldest
 * interval, and computes their sequence numbers. The second loop goes in the
 * opposite order. In each interval, the lossy part has the lower sequence
 * numbers, and the lossless part has the higher ones (section 8.6). */
static void
add_losses (Sender * sender, guint64 acknowledged,
    const TfrcIntervals * intervals, DccpCcidNews * news)
{
  guint64 ends[TFRC_MAX_INTERVALS];
  guint64 end = dccp_sequence_add (acknowledged, -(gint64) intervals->skip);
  guint i;

  for (i = 0; i < intervals->n; i++) {
    const TfrcInterval *interval = &intervals->intervals[i];

    ends[i] = dccp_sequence_add (end, -(gint64) interval->lossless);
    end = dccp_sequence_add (ends[i], -(gint64) interval->loss);
  }
  while (i-- > 0)
    add_loss (sender, ends[i], intervals->intervals[i].loss, news);
}

G_STATIC_ASSERT (TFRC_MAX_INTERVALS <= DCCP_CCID_MAX_LOSSES);

/* Returns whether the acknowledgement contains feedback about congestion. If it
 * does not, the round-trip time must not be measured with it, because the
 * acknowledged packet may have arrived long before the Ack was sent. */
static gboolean
is_feedback (const TfrcFeedback * feedback)
{
  return feedback->has_receive_rate || feedback->has_elapsed
      || feedback->slow_receiver || feedback->dropped > 0
      || feedback->dropped_others;
}

/* Processes the feedback of one acknowledgement. The loss event rate p is
 * computed from the option Loss Intervals, if it is present. Otherwise the
 * option Loss Event Rate is used, which is less accurate (section 6.1).
 *
 * If the round-trip time could be measured with this acknowledgement, the
 * smoothed round-trip time is stored in `news`, because the half-connection in
 * which we receive data needs it, too. */
static gboolean
sender_feedback (gpointer self, guint64 now, const DccpCcidAck * ack,
    DccpCcidNews * news)
{
  Sender *sender = self;
  const Heard *heard = (const Heard *) ack->heard;
  const guint64 loss_events = sender->loss_events;
  TfrcFeedback feedback = {
    .acknowledged = ack->acknowledged,
    .elapsed = ack->elapsed,
    .has_elapsed = ack->has_elapsed,
    .has_receive_rate = heard->has_receive_rate,
    .receive_rate = heard->receive_rate,
    .slow_receiver = ack->slow_receiver,
    .dropped = ack->dropped,
    .dropped_others = ack->dropped_others,
  };

  if (heard->has_intervals)
    feedback.loss_event_rate = heard->rate_of_intervals;
  else if (heard->has_rate)
    feedback.loss_event_rate = heard->rate;
  add_losses (sender, ack->acknowledged, &heard->intervals, news);
  feedback.new_loss_event = sender->loss_events > loss_events;
  if (!is_feedback (&feedback))
    return FALSE;
  tfrc_sender_feedback (sender->tfrc, now, &feedback);
  if (feedback.has_receive_rate)
    news->round_trip = sender_get_round_trip (sender);
  return TRUE;
}

static guint64
sender_next_wakeup (gpointer self)
{
  Sender *sender = self;

  return tfrc_sender_next_wakeup (sender->tfrc);
}

static void
sender_timeout (gpointer self, guint64 now)
{
  Sender *sender = self;

  tfrc_sender_timeout (sender->tfrc, now);
}

static void
sender_get_state (gpointer self, DccpCcidSenderState * state)
{
  Sender *sender = self;
  TfrcSenderState tfrc;

  tfrc_sender_get_state (sender->tfrc, &tfrc);
  state->rate = tfrc.rate;
  state->instant_rate = tfrc.instant_rate;
  state->receive_rate = tfrc.receive_rate;
  state->loss_event_rate = tfrc.loss_event_rate;
  state->is_app_limited = tfrc.is_app_limited;
  state->round_trip = tfrc.round_trip;
  state->round_trip_variance = tfrc.round_trip_variance;
  state->queue_delay = tfrc.queue_delay;
  state->in_flight = tfrc.in_flight;
  state->feedbacks = tfrc.feedbacks;
  state->no_feedbacks = tfrc.no_feedbacks;
  state->loss_events = sender->loss_events;
  state->packets_lost = sender->packets_lost;
}

/* --- receiver: calls tfrcreceiver.h --------------------------------------- */

static gpointer
receiver_create (const DccpCcidConfig * config)
{
  const TfrcReceiverConfig tfrc = { config->equation, config->sequence };

  return tfrc_receiver_new (&tfrc);
}

static void
receiver_free (gpointer receiver)
{
  tfrc_receiver_free (receiver);
}

static void
receiver_set_round_trip (gpointer receiver, guint64 round_trip)
{
  tfrc_receiver_set_round_trip (receiver, round_trip);
}

/* If the option RTT Estimate is invalid and we have asked the peer to send it,
 * the connection must be reset (RFC 6323 section 3.3). */
static DccpCcidOptionResult
receiver_read_option (gpointer receiver, const DccpCcidContext * context,
    const DccpOption * option)
{
  guint64 round_trip;

  if (option->type != CCID3_OPTION_RTT_ESTIMATE)
    return DCCP_CCID_OPTION_REFUSED;
  if (!ccid3_option_read_rtt_estimate (option, &round_trip))
    return context->features & SENDS_RTT_ESTIMATE ? DCCP_CCID_OPTION_FATAL
        : DCCP_CCID_OPTION_REFUSED;
  if (round_trip > 0 && receiver)
    tfrc_receiver_set_round_trip (receiver, round_trip);
  return DCCP_CCID_OPTION_READ;
}

static void
receiver_input (gpointer receiver, guint64 now, const DccpCcidPacket * packet)
{
  tfrc_receiver_input (receiver, now, packet->sequence, packet->is_data,
      packet->ccval, packet->size, packet->ndp);
}

static gboolean
receiver_wants_feedback (gpointer receiver, guint64 now)
{
  return tfrc_receiver_wants_feedback (receiver, now);
}

static guint64
receiver_next_wakeup (gpointer receiver)
{
  return tfrc_receiver_next_wakeup (receiver);
}

/* Writes the options of an Ack with feedback about congestion (RFC 4342 section
 * 8). The option Loss Event Rate is written only if the peer has asked for it
 * (section 8.4). */
static void
receiver_write_feedback (gpointer receiver, const DccpCcidContext * context,
    DccpOptionWriter * writer)
{
  TfrcReport report;

  tfrc_receiver_take_report (receiver, context->now, &report);
  dccp_option_write_number (writer, CCID3_OPTION_RECEIVE_RATE,
      report.receive_rate, 4);
  if (context->features & SENDS_LOSS_EVENT_RATE)
    dccp_option_write_number (writer, CCID3_OPTION_LOSS_EVENT_RATE,
        report.loss_event_rate, 4);
  ccid3_option_write_loss_intervals (writer, &report.intervals);
}

static void
receiver_get_state (gpointer receiver, DccpCcidReceiverState * state)
{
  TfrcReceiverState tfrc;

  tfrc_receiver_get_state (receiver, &tfrc);
  state->loss_event_rate = tfrc.loss_event_rate;
  state->receive_rate = tfrc.receive_rate;
  state->lost = tfrc.lost;
  state->loss_events = tfrc.loss_events;
  state->reordered = tfrc.reordered;
  state->duplicates = tfrc.duplicates;
}

/* --- the table ------------------------------------------------------------ */

/* Options of CCID 3 that have special rules. By default, an option of a
 * congestion control is ignored on Data packets, and needs no acknowledgement
 * number (RFC 4340 section 10.3). The fields of an entry are the type of the
 * option, whether the option is allowed on Data packets, and whether it needs
 * an acknowledgement number.
 *
 * RTT Estimate is allowed on Data packets (RFC 6323 section 3.2). Loss
 * Intervals needs an acknowledgement number, because its intervals are counted
 * backwards from this number (section 8.6.1). */
static const DccpCcidOption options[] = {
  {CCID3_OPTION_RTT_ESTIMATE, TRUE, FALSE},
  {CCID3_OPTION_LOSS_INTERVALS, FALSE, TRUE},
  {0}
};

const DccpCcid dccp_ccid_3 = {
  .number = 3,
  .name = "TFRC",
  .features = {CCID3_FEATURE_SEND_RTT_ESTIMATE,
      CCID3_FEATURE_SEND_LOSS_EVENT_RATE},
  .options = options,
  .sender = {
        .create = sender_create,
        .free = sender_free,
        .set_round_trip = sender_set_round_trip,
        .next_send = sender_next_send,
        .sent = sender_sent,
        .sent_other = sender_sent_other,
        .write_options = sender_write_options,
        .read_option = sender_read_option,
        .feedback = sender_feedback,
        .next_wakeup = sender_next_wakeup,
        .timeout = sender_timeout,
        .get_state = sender_get_state,
      },
  .receiver = {
        .create = receiver_create,
        .free = receiver_free,
        .set_round_trip = receiver_set_round_trip,
        .read_option = receiver_read_option,
        .input = receiver_input,
        .wants_feedback = receiver_wants_feedback,
        .next_wakeup = receiver_next_wakeup,
        .write_feedback = receiver_write_feedback,
        .get_state = receiver_get_state,
      },
};
