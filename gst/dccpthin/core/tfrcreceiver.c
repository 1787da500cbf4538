/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of tfrcreceiver.h: the receiver of TFRC. */

#include "tfrcreceiver.h"

#include <math.h>
#include <string.h>

#include "dccpsequence.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define NEVER G_MAXUINT64

/* NDUPACK: a missing packet counts as lost when this number of packets with
 * greater sequence numbers has arrived (RFC 5348 section 5.1). It is also the
 * maximum of Skip Length (RFC 4342 section 8.6.1). */
#define NDUPACK 3
/* Number of the latest sequence numbers for which the receiver stores whether
 * the packet arrived. The information fits into one 64-bit word, with one bit
 * for each sequence number. */
#define NUMBERS_KNOWN 64
/* The sender writes a window counter of 4 bits into each packet. It increases
 * the counter by 1 after each quarter of a round trip. Feedback is due when the
 * counter has increased by 4. If the counter increases by more than 4 between
 * two losses, the losses belong to two loss events (RFC 4342 sections 8.1, 10.2
 * and 10.3).
 *
 * From one packet to the next, the counter increases by at most 5, even after a
 * longer pause of the sender. An increase of 5 therefore does not show how many
 * round trips have passed. */
#define COUNTER_MASK 15
#define QUARTERS 4
#define MAX_QUARTERS 5
/* Assumed round-trip time in ns, as long as none was measured (RFC 4340 section
 * 3.4). */
#define DEFAULT_ROUND_TRIP (SECOND / 5)
/* The measured round-trip time is used until this number of reports has been
 * sent since the last measurement. After that it is too old. No RFC has a value
 * for this number. */
#define ROUND_TRIP_REPORTS 16
/* Weight q of the old value in the moving average of the round-trip time. The
 * sender uses the same value (RFC 5348 section 4.3). */
#define ROUND_TRIP_FILTER 0.9
/* Number of the latest reports for which a Mark is stored. A Mark says how many
 * bytes had arrived when the report was sent, and when the last of these bytes
 * arrived. The receive rate is computed from the Mark of the latest report that
 * is at least one round trip old. At most four reports are sent per round trip,
 * so this Mark is always stored. */
#define MARKS 8
/* Number of round trips after which the window counter may have wrapped around.
 * The counter has 16 values and counts about 4 per round trip (RFC 4342 section
 * 8.1). */
#define COUNTER_ROUND_TRIPS 3
/* Maximum values of the fields in the option Loss Intervals. Loss Length has 23
 * bits; Lossless Length and Data Length have 24 bits (RFC 4342 section 8.6). */
#define MAX_LOSS ((1 << 23) - 1)
#define MAX_PACKETS ((1 << 24) - 1)
/* Weight of the old value in the moving average of the packet size. The sender
 * uses the same value (RFC 5348 section 4.1). */
#define SEGMENT_FILTER 0.9

/* A packet that arrived. */
typedef struct
{
  guint64 sequence, time;
  gboolean is_data;
  guint8 ccval;
  guint64 ndp;
} Arrival;

typedef struct
{
  /* A Mark belongs to a report that was sent. `time` is the arrival time in ns
   * of the last data packet that arrived before this report was sent. */
  guint64 time;
  /* total number of payload bytes that had arrived until `time` */
  guint64 bytes;
} Mark;

struct _TfrcReceiver
{
  TfrcReceiverConfig config;
  guint64 now;

  /* --- which packets arrived. For each packet up to the packet `last`, it is
   * known whether the packet arrived or was lost. After `last` there is a gap
   * in the sequence numbers, or nothing has arrived yet. */
  /* the latest packet before the first gap in the sequence numbers */
  Arrival last;
  /* CCVal (the sender's window counter) of the latest data packet before the
   * first gap in the sequence numbers */
  guint8 last_ccval;
  /* packets that arrived after the first gap, in the order of their sequence
   * numbers */
  Arrival pending[NDUPACK];
  guint n_pending;
  /* Bit i is set if the packet with the sequence number `last.sequence` - i has
   * arrived. */
  guint64 came;
  guint64 greatest, greatest_time;

  /* --- the latest loss event */
  TfrcLosses losses;
  /* expected arrival time of the first lost packet of the loss event */
  guint64 event_time;
  /* CCVal (the sender's window counter) of the latest data packet before the
   * loss event */
  guint8 event_ccval;
  /* TRUE if the sender's window counter has shown that the latest loss event
   * has ended */
  gboolean event_is_over;

  /* --- the round trip, ns; 0: unknown */
  guint64 given;
  guint n_given;
  /* Value of the counter `reports` when tfrc_receiver_set_round_trip () was
   * last called. It shows how old the round-trip time is. */
  guint64 given_at;
  gdouble counted;
  guint64 counted_at;
  gboolean has_counter;
  guint8 counter, counter_from;
  guint64 counter_time;

  /* --- the receive rate */
  /* payload bytes of all data packets that arrived, without duplicates */
  guint64 bytes;
  guint64 data_time;            /* arrival time of the latest data packet */
  Mark marks[MARKS];
  guint n_marks, next_mark;
  gdouble receive_rate, max_receive_rate;
  gdouble mean_size;

  /* --- feedback */
  gboolean has_new_data, is_due;
  guint8 report_ccval;
  guint64 report_time;

  guint64 packets, lost, loss_events, reordered, duplicates, reports;
};

TfrcReceiver *
tfrc_receiver_new (const TfrcReceiverConfig * config)
{
  TfrcReceiver *receiver = g_new0 (TfrcReceiver, 1);

  receiver->config = *config;
  receiver->last.sequence = receiver->greatest =
      config->initial_sequence & DCCP_SEQUENCE_MASK;
  receiver->came = 1;
  tfrc_losses_init (&receiver->losses);
  /* This object is created when the first packet of the peer has arrived. This
   * packet is counted here. */
  tfrc_losses_add_lossless (&receiver->losses, 1, 0);
  return receiver;
}

void
tfrc_receiver_free (TfrcReceiver * receiver)
{
  g_free (receiver);
}

static guint64
advance (TfrcReceiver * receiver, guint64 now)
{
  receiver->now = MAX (receiver->now, now);
  return receiver->now;
}

/* --- the round trip */

void
tfrc_receiver_set_round_trip (TfrcReceiver * receiver, guint64 round_trip)
{
  if (round_trip == 0)
    return;
  receiver->given = round_trip;
  receiver->given_at = receiver->reports;
  receiver->n_given++;
}

/* Returns whether the sender sends RTT Estimates, and the latest one was
 * received recently. An RTT Estimate is passed to tfrc_receiver_set_round_trip
 * (), and so is the round-trip time of the handshake. If only one value was
 * passed, it may be that of the handshake. That value may be outdated, because
 * the round-trip time changes when a queue in the network grows. The function
 * therefore returns TRUE only if at least two values were passed. */
static gboolean
knows_round_trip (TfrcReceiver * receiver)
{
  return receiver->n_given > 1
      && receiver->reports - receiver->given_at < ROUND_TRIP_REPORTS;
}

static gboolean
has_counted_round_trip (TfrcReceiver * receiver)
{
  return receiver->counted > 0
      && receiver->reports - receiver->counted_at < ROUND_TRIP_REPORTS;
}

/* Returns the best known round-trip time in ns; 0 = unknown. There are three
 * sources, and the first one that is available is used:
 * - the RTT Estimates that the peer sends
 * - the round-trip time that the window counter shows
 * - the round-trip time of the handshake, which is less accurate */
static guint64
get_round_trip (TfrcReceiver * receiver)
{
  if (!knows_round_trip (receiver) && has_counted_round_trip (receiver))
    return receiver->counted;
  return receiver->given;
}

static guint64
guess_round_trip (TfrcReceiver * receiver)
{
  const guint64 round_trip = get_round_trip (receiver);

  return round_trip > 0 ? round_trip : DEFAULT_ROUND_TRIP;
}

static void
restart_counting (TfrcReceiver * receiver, guint8 ccval)
{
  receiver->has_counter = TRUE;
  receiver->counter_from = ccval;
  receiver->counter_time = receiver->now;
}

/* Measures the round-trip time by the window counter. The sender increases the
 * counter by four in each round trip (RFC 4342 section 8.1). */
static void
count_round_trip (TfrcReceiver * receiver, guint8 ccval)
{
  const guint step = (ccval - receiver->counter) & COUNTER_MASK;
  const guint quarters = (ccval - receiver->counter_from) & COUNTER_MASK;
  gdouble sample;

  receiver->counter = ccval;
  if (!receiver->has_counter || step >= MAX_QUARTERS) {
    restart_counting (receiver, ccval);
    return;
  }
  if (quarters < QUARTERS)
    return;
  sample = (gdouble) (receiver->now - receiver->counter_time)
      * QUARTERS / quarters;
  if (receiver->counted > 0)
    sample = ROUND_TRIP_FILTER * receiver->counted
        + (1 - ROUND_TRIP_FILTER) * sample;
  receiver->counted = sample;
  receiver->counted_at = receiver->reports;
  restart_counting (receiver, ccval);
}

/* --- the receive rate */

/* Returns the receive rate in bytes per second (RFC 4342 errata 610 and 611).
 * Let the report R be the latest of our reports that is at least one round trip
 * old. The measurement starts at the arrival of the last data packet before R.
 * It ends at the arrival of the latest data packet.
 *
 * Erixzon (2004) counts the packets in an interval of fixed length instead
 * (section 5.3.4). That method is inaccurate if the interval is so short that
 * it contains at most two packets. */
static gdouble
measure_receive_rate (TfrcReceiver * receiver)
{
  const guint64 round_trip = guess_round_trip (receiver);
  const Mark *mark = NULL;
  guint i;

  for (i = 1; i <= receiver->n_marks; i++) {
    mark = &receiver->marks[(receiver->next_mark + MARKS - i) % MARKS];
    if (receiver->data_time - mark->time >= round_trip)
      break;
  }
  if (!mark)
    return 0;
  return (gdouble) (receiver->bytes - mark->bytes) * SECOND
      / MAX (receiver->data_time - mark->time, round_trip);
}

static void
add_mark (TfrcReceiver * receiver)
{
  Mark *mark = &receiver->marks[receiver->next_mark];

  mark->time = receiver->data_time;
  mark->bytes = receiver->bytes;
  receiver->next_mark = (receiver->next_mark + 1) % MARKS;
  receiver->n_marks = MIN (receiver->n_marks + 1, MARKS);
}

/* --- losses */

/* Returns the length of the first loss interval, which the first loss ends (RFC
 * 5348 section 6.3.1). The length is not counted. It is derived from the rate
 * X, which is the highest receive rate so far, but at least half a packet per
 * round trip. The throughput equation yields X for a certain loss event rate p,
 * and the length is 1 / p. */
static gdouble
get_first_length (TfrcReceiver * receiver)
{
  const gdouble round_trip = (gdouble) guess_round_trip (receiver) / SECOND;
  const gdouble size = MAX (receiver->mean_size, 1);
  gdouble rate = MAX (receiver->max_receive_rate,
      measure_receive_rate (receiver));

  rate = MAX (rate, size / round_trip / 2);
  return 1 / tfrc_equation_inverse (receiver->config.equation, size,
      round_trip, rate);
}

static void
begin_loss_event (TfrcReceiver * receiver, guint64 time, guint8 ccval)
{
  if (receiver->loss_events == 0)
    tfrc_losses_set_first (&receiver->losses, get_first_length (receiver));
  tfrc_losses_begin (&receiver->losses);
  receiver->loss_events++;
  receiver->event_time = time;
  receiver->event_ccval = ccval;
  receiver->event_is_over = FALSE;
  receiver->is_due = TRUE;
}

static void
note_counter (TfrcReceiver * receiver, guint8 ccval)
{
  receiver->last_ccval = ccval;
  if (((ccval - receiver->event_ccval) & COUNTER_MASK) > QUARTERS)
    receiver->event_is_over = TRUE;
}

/* A sequence of missing numbers. */
typedef struct
{
  guint64 n;
  /* Number of missing packets that had data. The packet after the gap has an
   * NDP Count, which is the number of packets without data directly before that
   * packet. The packets at the end of the gap therefore had no data. All
   * earlier packets of the gap are assumed to have had data, so this number is
   * `n` minus the NDP Count. */
  guint64 n_data;
  /* arrival time in ns of the packet before the gap */
  guint64 time;
  /* Time in ns between the expected arrivals of two consecutive missing
   * packets. These arrivals are assumed to be evenly spaced (RFC 5348 section
   * 5.2). */
  gdouble step;
} Gap;

/* The gap consists of missing packets. Returns how many of them, counted from
 * the first missing packet, belong to a loss event. This event began at the
 * time `time`, and it lasts for the time `round_trip` (both in ns). */
static guint64
count_within (const Gap * gap, guint64 time, guint64 round_trip)
{
  const gdouble end = (gdouble) time + round_trip - gap->time;

  if (end < gap->step)
    return 0;
  return gap->step * gap->n <= end ? gap->n : (guint64) (end / gap->step);
}

/* Takes the first `n` missing packets out of `gap`, a range of missing packets,
 * and adds them to the current loss event. */
static void
take_loss (TfrcReceiver * receiver, Gap * gap, guint64 n)
{
  const guint64 data = MIN (n, gap->n_data);

  tfrc_losses_add_loss (&receiver->losses, n, data);
  gap->n -= n;
  gap->n_data -= data;
  gap->time += n * gap->step;
}

/* A gap is a range of missing packets. A long gap consists of several loss
 * events that last one round trip each. Only the latest TFRC_LOSSES_KEPT loss
 * intervals are stored. If the gap has more loss events than that, this
 * function skips the oldest ones and adds their number to loss_events. `n` is
 * the number of lost packets in one loss event. */
static void
skip_forgotten (TfrcReceiver * receiver, Gap * gap, guint64 n)
{
  const guint64 events = (gap->n_data + n - 1) / n;

  if (events <= TFRC_LOSSES_KEPT)
    return;
  receiver->loss_events += events - TFRC_LOSSES_KEPT;
  gap->n -= (events - TFRC_LOSSES_KEPT) * n;
  gap->n_data -= (events - TFRC_LOSSES_KEPT) * n;
}

static void
split_gap (TfrcReceiver * receiver, Gap * gap, guint64 round_trip)
{
  while (gap->n_data > 0) {
    const guint64 time = gap->time + gap->step;
    const guint64 n = MAX (count_within (gap, time, round_trip), 1);
    const gboolean was_any = receiver->loss_events > 0;

    begin_loss_event (receiver, time, receiver->last_ccval);
    if (was_any)
      skip_forgotten (receiver, gap, n);
    take_loss (receiver, gap, n);
  }
  take_loss (receiver, gap, gap->n);
}

/* Returns whether the first lost packet of `gap` belongs to the current loss
 * event. This is the case if the event began less than one round trip before
 * the loss (RFC 5348 section 5.2).
 *
 * If the sender does not report its round-trip time, the window counter in its
 * packets is used. The sender increases this counter according to the
 * round-trip time that it has measured (RFC 4342 section 10.2). The result is
 * TRUE until the counter shows that the event has ended. From then on, the
 * function uses the receiver's own estimate of the round-trip time. */
static gboolean
is_of_event (TfrcReceiver * receiver, const Gap * gap)
{
  const guint64 round_trip = get_round_trip (receiver);

  if (receiver->loss_events == 0)
    return FALSE;
  if (!knows_round_trip (receiver) && !receiver->event_is_over)
    return TRUE;
  return round_trip > 0
      && count_within (gap, receiver->event_time, round_trip) > 0;
}

static guint
count_quarters (TfrcReceiver * receiver, const Arrival * after)
{
  return after->is_data ? (after->ccval - receiver->last_ccval) & COUNTER_MASK
      : 0;
}

/* Returns whether the window counter shows that all lost packets of `gap`
 * belong to one loss event. This is the case if the counter has advanced by at
 * most one round trip during the gap. In two cases the counter is not used, and
 * the result is FALSE:
 * - The gap is so long that the counter may have wrapped around.
 * - The sender reports the round-trip time, so the counter is not needed. */
static gboolean
is_one_event (TfrcReceiver * receiver, const Gap * gap, const Arrival * after)
{
  if (knows_round_trip (receiver)
      || count_quarters (receiver, after) > QUARTERS)
    return FALSE;
  return !has_counted_round_trip (receiver)
      || gap->n * gap->step < COUNTER_ROUND_TRIPS * receiver->counted;
}

/* A gap is a sequence of missing packets. It is divided into loss events: all
 * losses within one round-trip time belong to the same loss event. Returns the
 * round-trip time in ns for this division.
 *
 * If only the handshake has measured the round-trip time, this measurement may
 * be outdated and too short. In this case, a second value is computed from the
 * duration of the gap and the window counter. The window counter tells how many
 * quarters of a round trip have passed in the gap. The function then returns
 * the greater of the two values. */
static guint64
get_round_trip_of_gap (TfrcReceiver * receiver, const Gap * gap,
    const Arrival * after)
{
  const guint quarters = count_quarters (receiver, after);

  if (knows_round_trip (receiver) || has_counted_round_trip (receiver))
    return get_round_trip (receiver);
  return MAX (receiver->given, gap->n * gap->step * QUARTERS
      / MAX (quarters, 1));
}

static void
settle_gap (TfrcReceiver * receiver, const Arrival * after)
{
  guint64 round_trip;
  Gap gap;

  gap.n = ((after->sequence - receiver->last.sequence) & DCCP_SEQUENCE_MASK)
      - 1;
  gap.n_data = gap.n - MIN (gap.n, after->ndp);
  gap.time = receiver->last.time;
  gap.step = after->time > gap.time ?
      (gdouble) (after->time - gap.time) / (gap.n + 1) : 0;
  receiver->lost += gap.n;
  if (gap.n_data == 0) {
    tfrc_losses_add_lossless (&receiver->losses, gap.n, 0);
    return;
  }
  if (is_one_event (receiver, &gap, after)) {
    if (!is_of_event (receiver, &gap))
      begin_loss_event (receiver, gap.time + gap.step, receiver->last_ccval);
    take_loss (receiver, &gap, gap.n);
    return;
  }
  round_trip = get_round_trip_of_gap (receiver, &gap, after);
  if (is_of_event (receiver, &gap))
    take_loss (receiver, &gap, CLAMP (count_within (&gap,
                receiver->event_time, round_trip), 1, gap.n));
  split_gap (receiver, &gap, round_trip);
}

static void
settle_arrival (TfrcReceiver * receiver, const Arrival * arrival)
{
  const guint64 step =
      (arrival->sequence - receiver->last.sequence) & DCCP_SEQUENCE_MASK;

  receiver->came = step < NUMBERS_KNOWN ? receiver->came << step | 1 : 1;
  receiver->last = *arrival;
  tfrc_losses_add_lossless (&receiver->losses, 1, arrival->is_data);
  if (arrival->is_data)
    note_counter (receiver, arrival->ccval);
}

static gboolean
is_next (TfrcReceiver * receiver, const Arrival * arrival)
{
  return arrival->sequence == dccp_sequence_add (receiver->last.sequence, 1);
}

static void
settle (TfrcReceiver * receiver)
{
  while (receiver->n_pending > 0 && (receiver->n_pending == NDUPACK
          || is_next (receiver, &receiver->pending[0]))) {
    const Arrival first = receiver->pending[0];

    if (!is_next (receiver, &first))
      settle_gap (receiver, &first);
    settle_arrival (receiver, &first);
    receiver->n_pending--;
    memmove (&receiver->pending[0], &receiver->pending[1],
        receiver->n_pending * sizeof (Arrival));
  }
}

/* --- packets that arrive */

/* Handles a packet whose sequence number is not greater than
 * `receiver->last.sequence`. `behind` is the difference. The packet was counted
 * as lost before, or it is a duplicate. If it was counted as lost, it remains
 * counted as lost, which RFC 5348 section 5.1 allows.
 *
 * Returns FALSE for a duplicate. Also returns FALSE for a very old packet,
 * because it is no longer known whether it is a duplicate. */
static gboolean
note_late (TfrcReceiver * receiver, guint64 behind)
{
  if (behind >= NUMBERS_KNOWN || receiver->came >> behind & 1) {
    receiver->duplicates++;
    return FALSE;
  }
  receiver->came |= G_GUINT64_CONSTANT (1) << behind;
  receiver->reordered++;
  return TRUE;
}

static gboolean
keep_pending (TfrcReceiver * receiver, const Arrival * arrival)
{
  guint i;

  for (i = receiver->n_pending; i > 0; i--) {
    const gint64 difference = dccp_sequence_difference (arrival->sequence,
        receiver->pending[i - 1].sequence);

    if (difference == 0) {
      receiver->duplicates++;
      return FALSE;
    }
    if (difference > 0)
      break;
  }
  if (i < receiver->n_pending)
    receiver->reordered++;
  memmove (&receiver->pending[i + 1], &receiver->pending[i],
      (receiver->n_pending - i) * sizeof (Arrival));
  receiver->pending[i] = *arrival;
  receiver->n_pending++;
  return TRUE;
}

static gboolean
note_number (TfrcReceiver * receiver, const Arrival * arrival)
{
  const gint64 ahead = dccp_sequence_difference (arrival->sequence,
      receiver->last.sequence);

  if (ahead <= 0)
    return note_late (receiver, -ahead);
  return keep_pending (receiver, arrival);
}

/* Counts a data packet. Feedback is due after the first data packet, and when
 * the window counter has advanced by four since the last feedback (RFC 4342
 * section 10.3). */
static void
note_data (TfrcReceiver * receiver, const Arrival * arrival, guint32 size,
    gboolean is_newest)
{
  receiver->packets++;
  receiver->bytes += size;
  receiver->data_time = receiver->now;
  receiver->has_new_data = TRUE;
  receiver->mean_size = receiver->mean_size > 0 ?
      SEGMENT_FILTER * receiver->mean_size + (1 - SEGMENT_FILTER) * size : size;
  if (!is_newest)
    return;
  count_round_trip (receiver, arrival->ccval);
  if (receiver->reports == 0
      || ((arrival->ccval - receiver->report_ccval) & COUNTER_MASK)
      >= QUARTERS)
    receiver->is_due = TRUE;
}

void
tfrc_receiver_input (TfrcReceiver * receiver, guint64 now, guint64 sequence,
    gboolean is_data, guint8 ccval, guint32 size, guint64 ndp)
{
  const Arrival arrival = { sequence & DCCP_SEQUENCE_MASK,
    advance (receiver, now), is_data, ccval & COUNTER_MASK, ndp
  };
  const gboolean is_newest = dccp_sequence_difference (arrival.sequence,
      receiver->greatest) > 0;

  if (!note_number (receiver, &arrival))
    return;
  if (is_newest) {
    receiver->greatest = arrival.sequence;
    receiver->greatest_time = arrival.time;
  }
  if (is_data)
    note_data (receiver, &arrival, size, is_newest);
  settle (receiver);
}

/* --- feedback */

gboolean
tfrc_receiver_wants_feedback (TfrcReceiver * receiver, guint64 now)
{
  advance (receiver, now);
  return receiver->has_new_data && (receiver->is_due
      || receiver->now >= tfrc_receiver_next_wakeup (receiver));
}

/* Returns the time at which feedback is due; NEVER if no data arrived since the
 * last feedback. This time is at most one round trip after the last feedback
 * (RFC 5348 section 6.2). */
guint64
tfrc_receiver_next_wakeup (TfrcReceiver * receiver)
{
  if (!receiver->has_new_data)
    return NEVER;
  return receiver->is_due ? receiver->now :
      receiver->report_time + guess_round_trip (receiver);
}

static void
copy_intervals (TfrcReceiver * receiver, TfrcIntervals * intervals)
{
  const TfrcLosses *losses = &receiver->losses;
  guint i;

  /* `last` is the latest packet before the first gap in the sequence numbers.
   * `open` is the number of sequence numbers after `last`, up to the greatest
   * one that arrived. It is not known yet which of these packets are lost.
   *
   * Skip Length is `open`, but at most NDUPACK. If `open` is greater, the
   * difference is `more`. These `more` packets are added to the Lossless Length
   * of the latest interval, because no loss has been detected among them yet.
   */
  const guint64 open = (receiver->greatest - receiver->last.sequence)
      & DCCP_SEQUENCE_MASK;
  const guint64 more = open - MIN (open, NDUPACK);

  intervals->skip = open - more;
  intervals->n = losses->n;
  for (i = 0; i < losses->n; i++) {
    TfrcInterval *to = &intervals->intervals[i];
    const TfrcLossInterval *from = &losses->intervals[i];

    to->lossless = MIN (from->lossless + (i == 0 ? more : 0), MAX_PACKETS);
    to->loss = MIN (from->loss, MAX_LOSS);
    /* In the option Loss Intervals, the Data Length of the first loss interval
     * is 0 until there is a loss (RFC 4342 section 6.1.1). */
    to->data = receiver->loss_events == 0 ? 0 :
        MIN (from->data + 0.5, MAX_PACKETS);
    to->ecn_nonce = FALSE;
  }
}

/* Returns 1 / p, rounded up to an integer, where p is the loss event rate (RFC
 * 4342 section 8.5). The floating-point value of 1 / p may be slightly too
 * large, so that 100, for example, would be rounded up to 101. Therefore it is
 * multiplied by 1 - 10^-9 before it is rounded. */
static guint32
get_inverse_rate (TfrcReceiver * receiver)
{
  const gdouble mean = tfrc_losses_get_mean (&receiver->losses);

  return mean > 0 ? MIN (ceil (mean * (1 - 1e-9)), G_MAXUINT32 - 1)
      : G_MAXUINT32;
}

void
tfrc_receiver_take_report (TfrcReceiver * receiver, guint64 now,
    TfrcReport * report)
{
  advance (receiver, now);
  if (receiver->has_new_data)
    receiver->receive_rate = measure_receive_rate (receiver);
  receiver->max_receive_rate = MAX (receiver->max_receive_rate,
      receiver->receive_rate);
  report->acknowledged = receiver->greatest;
  report->elapsed = receiver->now - receiver->greatest_time;
  report->receive_rate = MIN (receiver->receive_rate, G_MAXUINT32);
  report->loss_event_rate = get_inverse_rate (receiver);
  copy_intervals (receiver, &report->intervals);
  if (receiver->has_new_data)
    add_mark (receiver);
  receiver->reports++;
  receiver->report_time = receiver->now;
  receiver->report_ccval = receiver->counter;
  receiver->has_new_data = receiver->is_due = FALSE;
}

void
tfrc_receiver_get_state (TfrcReceiver * receiver, TfrcReceiverState * state)
{
  const gdouble mean = tfrc_losses_get_mean (&receiver->losses);

  state->loss_event_rate = mean > 0 ? 1 / mean : 0;
  state->round_trip = get_round_trip (receiver);
  state->receive_rate = MIN (receiver->receive_rate, G_MAXUINT32);
  state->packets = receiver->packets;
  state->bytes = receiver->bytes;
  state->lost = receiver->lost;
  state->loss_events = receiver->loss_events;
  state->reordered = receiver->reordered;
  state->duplicates = receiver->duplicates;
  state->reports = receiver->reports;
}
