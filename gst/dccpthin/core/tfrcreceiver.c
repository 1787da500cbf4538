/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of tfrcreceiver.h: the receiver of TFRC, which detects losses
 * and reports them to the sender (RFC 5348 sections 5 and 6). */

#include "tfrcreceiver.h"

#include <math.h>
#include <string.h>

#include "dccpsequence.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define NEVER G_MAXUINT64

/* NDUPACK of RFC 5348 section 5.1: a missing packet counts as lost when NDUPACK
 * packets with greater sequence numbers have arrived. NDUPACK is also the
 * maximum value of the field Skip Length in the option Loss Intervals (RFC 4342
 * section 8.6.1). */
#define NDUPACK 3
/* The receiver stores which of the latest packets have arrived. It does so for
 * the latest NUMBERS_KNOWN sequence numbers. Each sequence number needs one
 * bit, so one 64-bit word is enough for all of them. */
#define NUMBERS_KNOWN 64
/* The sender writes a window counter of 4 bits into each packet. The sender
 * increases the counter by 1 after each quarter of a round trip. Feedback is
 * due when the counter has increased by 4 since the last feedback. If the
 * counter increases by more than 4 between two losses, they belong to two loss
 * events (RFC 4342 sections 8.1, 10.2 and 10.3).
 *
 * From one packet to the next, the counter increases by at most 5, even if the
 * sender has paused for a longer time. An increase of 5 therefore does not show
 * how many round trips have passed. */
#define COUNTER_MASK 15
#define QUARTERS 4
#define MAX_QUARTERS 5
/* Round-trip time in ns that is assumed until a first value was measured
 * (RFC 4340 section 3.4). */
#define DEFAULT_ROUND_TRIP (SECOND / 5)
/* A measured round-trip time is used until the receiver has sent this number of
 * further reports (feedback packets). After that, the measurement counts as too
 * old. No RFC specifies this number. */
#define ROUND_TRIP_REPORTS 16
/* Weight q of the old value in the moving average of the round-trip time. A
 * TFRC sender uses the same weight for its own round-trip time (RFC 5348
 * section 4.3). */
#define ROUND_TRIP_FILTER 0.9
/* When a report (feedback) is sent, the receiver stores a Mark. A Mark says how
 * many bytes had arrived until then, and when the last of them arrived. MARKS
 * is the number of Marks that are stored. The receive rate is computed from the
 * Mark of the latest report that is at least one round trip old. At most four
 * reports are sent per round trip, so this Mark is always among the stored
 * ones. */
#define MARKS 8
/* Number of round trips after which the sender's window counter may have
 * wrapped around. The counter has 16 values and increases by about 4 per round
 * trip (RFC 4342 section 8.1). */
#define COUNTER_ROUND_TRIPS 3
/* Maximum values of the fields in the option Loss Intervals. Loss Length has 23
 * bits; Lossless Length and Data Length have 24 bits (RFC 4342 section 8.6). */
#define MAX_LOSS ((1 << 23) - 1)
#define MAX_PACKETS ((1 << 24) - 1)
/* Weight of the old value in the moving average of the packet size. A TFRC
 * sender uses the same weight for the packets that it sends (RFC 5348 section
 * 4.1). */
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
  /* A Mark belongs to a report (feedback) that was sent. `time` is the arrival
   * time in ns of the last data packet that arrived before this report was
   * sent. */
  guint64 time;
  /* Total number of payload bytes that had arrived up to the time `time`. */
  guint64 bytes;
} Mark;

struct _TfrcReceiver
{
  TfrcReceiverConfig config;
  guint64 now;

  /* --- The following fields say which packets arrived. `last` is a packet. For
   * `last` and for each packet with a lower sequence number, it is known
   * whether the packet arrived or was lost. The packet directly after `last`
   * has not arrived. If a later packet has arrived, there is a gap after
   * `last`. Otherwise no packet after `last` has arrived yet. */
  /* Latest packet before the first gap in the received sequence numbers. If
   * there is no gap, this is the packet with the greatest sequence number. */
  Arrival last;
  /* CCVal of the latest data packet before the first gap in the sequence
   * numbers. CCVal is the header field that contains the sender's window
   * counter. */
  guint8 last_ccval;
  /* Packets that arrived after the first gap in the sequence numbers. They are
   * sorted by their sequence numbers. */
  Arrival pending[NDUPACK];
  guint n_pending;
  /* Shows which packets up to `last` have arrived. Bit i is set if the packet
   * with the sequence number `last.sequence` - i has arrived. */
  guint64 came;
  guint64 greatest, greatest_time;

  /* --- the latest loss event */
  TfrcLosses losses;
  /* Beginning of the latest loss event: the time in ns at which its first lost
   * packet was expected to arrive. */
  guint64 event_time;
  /* CCVal of the latest data packet before the latest loss event. CCVal is the
   * header field that contains the sender's window counter. */
  guint8 event_ccval;
  /* TRUE if the latest loss event has ended. The receiver knows this from the
   * window counter in the sender's packets. */
  gboolean event_is_over;

  /* --- the round trip, ns; 0: unknown */
  guint64 given;
  guint n_given;
  /* Value of the counter `reports` when the round-trip time `given` was set by
   * tfrc_receiver_set_round_trip (). It shows how old that round-trip time is.
   */
  guint64 given_at;
  gdouble counted;
  guint64 counted_at;
  gboolean has_counter;
  guint8 counter, counter_from;
  guint64 counter_time;

  /* --- the receive rate */
  /* Total number of payload bytes in all data packets that arrived. Duplicates
   * are not counted. */
  guint64 bytes;
  /* Arrival time in ns of the latest data packet. */
  guint64 data_time;
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
  /* The packet with the initial sequence number counts as received. It is
   * counted here, as a packet without data. */
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

/* Returns whether the receiver has recently got a measured round-trip time.
 * tfrc_receiver_set_round_trip () is called with values from three sources: the
 * handshake, the peer's RTT Estimates, and our own sender. The handshake is the
 * earliest source. Its value may be outdated, because the round-trip time
 * changes when a queue in the network grows. If only one value was passed, it
 * may be that of the handshake. The function therefore returns TRUE only if at
 * least two values were passed and the last one is recent. */
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
 * - recent measurements of the peer (RTT Estimates) or of our own sender
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

/* Measures the round-trip time with the sender's window counter, whose value in
 * the received packet is `ccval`. The sender increases the counter by four in
 * each round trip (RFC 4342 section 8.1). */
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

/* Returns the rate in bytes per second at which data arrives (RFC 4342 errata
 * 610 and 611). The measurement ends with the arrival of the latest data
 * packet. Its beginning depends on our reports (feedback packets). Of the
 * reports that are at least one round trip old, the latest one is chosen. The
 * measurement begins with the arrival of the last data packet before this
 * report.
 *
 * The paper by Erixzon (2004, section 5.3.4) counts the packets in an interval
 * of fixed length instead. That method is inaccurate if the interval is so
 * short that it contains at most two packets. */
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

/* Returns the length in packets of the first loss interval, which ends with the
 * first loss (RFC 5348 section 6.3.1). The packets are not counted. Instead,
 * the length is derived from the highest receive rate so far, or from half a
 * packet per round trip if this is more. There is a loss event rate p for which
 * the throughput equation yields this rate. The length is 1 / p. */
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
  /* Estimated number of missing packets that had data. The gap contains `n`
   * missing packets. The packet that arrived after the gap has the option NDP
   * Count. This option says how many packets directly before that packet had no
   * data. The packets without data are thus the last packets of the gap. All
   * other packets of the gap are assumed to have had data. Their number is `n`
   * minus the NDP Count. */
  guint64 n_data;
  /* A gap is a sequence of missing packets. At first, this field is the arrival
   * time in ns of the last packet before the gap. Later, packets at the
   * beginning of the gap may be removed from the gap and added to a loss event.
   * This field is then the time at which the last removed packet should have
   * arrived. */
  guint64 time;
  /* A gap is a sequence of missing packets. The receiver assumes that they
   * would have arrived at equal intervals (RFC 5348 section 5.2). This is the
   * length of such an interval in ns. */
  gdouble step;
} Gap;

/* `gap` is a sequence of missing packets. A loss event began at the time
 * `time`, and it lasts for the time `round_trip` (both in ns). Returns how many
 * packets at the beginning of the gap belong to this loss event. */
static guint64
count_within (const Gap * gap, guint64 time, guint64 round_trip)
{
  const gdouble end = (gdouble) time + round_trip - gap->time;

  if (end < gap->step)
    return 0;
  return gap->step * gap->n <= end ? gap->n : (guint64) (end / gap->step);
}

/* A gap is a sequence of missing packets. Removes the first `n` packets from
 * `gap`, and adds them to the current loss event. */
static void
take_loss (TfrcReceiver * receiver, Gap * gap, guint64 n)
{
  const guint64 data = MIN (n, gap->n_data);

  tfrc_losses_add_loss (&receiver->losses, n, data);
  gap->n -= n;
  gap->n_data -= data;
  gap->time += n * gap->step;
}

/* A gap is a sequence of missing packets. A long gap consists of several loss
 * events, which last one round trip each. `n` is the number of lost packets in
 * one loss event. Each loss event begins a loss interval, but only the latest
 * TFRC_LOSSES_KEPT intervals are stored. If the gap has more loss events than
 * that, this function removes the oldest ones from the gap and only adds their
 * number to loss_events. */
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

/* A gap is a sequence of missing packets. Returns whether the first lost packet
 * of `gap` belongs to the current loss event. This is the case if the event
 * began less than one round trip before the loss (RFC 5348 section 5.2).
 *
 * If the receiver has been told the round-trip time, the function uses this
 * time for the comparison. Otherwise the receiver has only its own estimate of
 * the round-trip time, and the window counter in the received packets. The
 * sender increases this counter four times per round trip (RFC 4342 section
 * 10.2). There are two cases:
 * - The counter does not show that the event has ended. The result is then
 *   TRUE.
 * - The counter shows that the event has ended. The function then uses the
 *   receiver's own estimate of the round-trip time for the comparison. */
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

/* A gap is a sequence of missing packets. Returns whether the sender's window
 * counter shows that all lost packets of `gap` belong to one loss event. This
 * is the case if the counter has advanced by at most one round trip during the
 * gap. In two cases the counter is not used, and the result is FALSE:
 * - The gap is so long that the counter may have wrapped around.
 * - The round-trip time is known from another source than the counter, so the
 *   counter is not needed. */
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
 * round-trip time in ns that is used for this division.
 *
 * If the round-trip time is known only from the handshake, this value may be
 * outdated and too short. A second value is then computed: the duration of the
 * gap, divided by the number of round trips during the gap. This number is
 * derived from the sender's window counter, which counts quarters of a round
 * trip. The function returns the greater of the two values. */
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

/* Handles a packet whose sequence number is not greater than that of `last`,
 * the latest packet before the first gap. `behind` is the difference between
 * the two numbers. Such a packet either is a duplicate, or was counted as lost
 * before. In the second case it remains counted as lost, which RFC 5348 section
 * 5.1 allows.
 *
 * Returns TRUE if the packet arrives for the first time. Returns FALSE if it is
 * a duplicate. Also returns FALSE if the packet is so old that the receiver no
 * longer knows whether it is a duplicate. */
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

/* Counts a received data packet. Feedback is due after the first data packet.
 * After that, it is due when the sender's window counter has advanced by four
 * since the last feedback (RFC 4342 section 10.3). */
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

/* Returns the time in ns at which feedback is due. Returns NEVER if no data
 * arrived since the last feedback. Otherwise the time is at most one round trip
 * after the last feedback (RFC 5348 section 6.2). */
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
   * Of the packets that have arrived, one has the greatest sequence number.
   * `open` is the number of sequence numbers from the one after `last` up to
   * this greatest one. It is not decided yet which packets with these sequence
   * numbers are lost. They are the undecided packets.
   *
   * The option Loss Intervals has a field Skip Length, which counts the
   * undecided packets up to a maximum of NDUPACK. `more` is the number of
   * undecided packets above this maximum: `open` minus NDUPACK, or 0 if `open`
   * is smaller. No loss has been detected among the undecided packets. The
   * number `more` is therefore added to the Lossless Length of the latest
   * interval. */
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
    /* The option Loss Intervals contains a field Data Length for each loss
     * interval. As long as no packet was lost, there is only one interval, and
     * its Data Length is written as 0 (RFC 4342 section 6.1.1). */
    to->data = receiver->loss_events == 0 ? 0 :
        MIN (from->data + 0.5, MAX_PACKETS);
    to->ecn_nonce = FALSE;
  }
}

/* Returns 1 / p, rounded up to an integer, where p is the loss event rate
 * (RFC 4342 section 8.5). Rounding errors can make the floating-point value of
 * 1 / p slightly too large. A value that should be 100, for example, would then
 * be rounded up to 101. The value is therefore multiplied by 1 - 10^-9 before
 * it is rounded up. */
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
