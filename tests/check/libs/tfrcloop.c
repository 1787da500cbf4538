/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a sender and a receiver of TFRC in virtual time over a simulated link
 * with a fixed rate, a delay and a queue. The test uses the two links of
 * Erixzon's thesis (sections 5.3.1 and 5.3.4) and the losses of section 5.3.5.
 * The sawtooth that figures 5.13 and 5.14 of the thesis show must not occur
 * here.
 */

#include <gst/check/gstcheck.h>

#include <math.h>

#include "dccpsequence.h"
#include "tfrcreceiver.h"
#include "tfrcsender.h"
#include "virtuallink.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MS G_GUINT64_CONSTANT (1000000)
#define NEVER G_MAXUINT64

/* Packet size in bytes, as in Erixzon's thesis. */
#define SIZE 512
/* Bytes of the IP header and of the DCCP header with long sequence numbers. */
#define HEADERS 40
/* First sequence number. It is so large that the sequence numbers wrap. */
#define FIRST (DCCP_SEQUENCE_MASK - 1000)
#define SECONDS 180
/* Duration of the warm-up phase at the beginning of a run, in s. Results of
 * this phase are ignored. */
#define WARM_UP 60
/* Rate of the return path in bytes per second. It is so high that feedback
 * never waits in a queue. */
#define ANSWER_RATE 12500000
#define ENDLESS (G_GUINT64_CONSTANT (1) << 40)  /* bytes of a queue */

typedef struct
{
  guint64 sent, sequence;
  guint8 ccval;
} Packet;

typedef struct
{
  /* Rate of the link in bytes per second, headers included. */
  guint64 rate;
  guint64 delay;                /* ns, each way */
  VirtualLink *link;
  /* If this is n, every n-th packet is lost. If it is 0, no packet is lost. */
  guint every;
  /* Rate in bytes per second at which the application passes data to the
   * sender; 0 means that it always has data to send. */
  gdouble application;
  /* Number of loss events that the receiver reported. */
  guint64 loss_events;
  guint32 max_received;         /* Maximum X_recv of all reports. */
  /* TRUE if the receiver behaves like the DCCP receiver of Linux, which sends
   * neither the option Loss Intervals nor the option Elapsed Time. */
  gboolean is_linux;

  TfrcSender *sender;
  TfrcReceiver *receiver;
  guint64 now, sequence, n_sent;
  guint64 next_data;

  /* --- results */
  guint64 received[SECONDS];    /* bytes */
  guint64 n_feedback;
  /* Maximum time in ns that a packet waited in the queue. Packets that were
   * sent during the warm-up phase (WARM_UP) are not counted. */
  guint64 max_wait;
  gdouble p_sum, relative_sum, p_min, p_max;
  guint n_judged;
} Loop;

/* Creates the link. `rate`, `queue` and `loss` apply to the direction from the
 * sender to the receiver, and `delay` applies to both directions. `queue` is
 * the size of the queue in bytes, including the packet in transmission. `loss`
 * is the probability of a random loss. */
static VirtualLink *
make_link (guint64 rate, guint64 delay, guint64 queue, gdouble loss)
{
  VirtualLinkConfig config = { 0, };
  VirtualLinkPath *forward = &config.path[VIRTUAL_LINK_FORWARD];
  VirtualLinkPath *back = &config.path[VIRTUAL_LINK_BACK];

  forward->rate = rate;
  forward->queue = queue - (SIZE + HEADERS);
  forward->loss = loss;
  back->rate = ANSWER_RATE;
  back->queue = ENDLESS;
  forward->delay = back->delay = delay;
  return virtual_link_new (&config, 2004, 0, g_free);
}

static Loop *
loop_new_lossy (guint64 rate, guint64 delay, guint64 queue, gdouble loss,
    gboolean oscillation)
{
  Loop *loop = g_new0 (Loop, 1);
  TfrcSenderConfig config;
  const TfrcReceiverConfig receiver = {
    TFRC_EQUATION_EXACT, FIRST
  };

  loop->rate = rate;
  loop->delay = delay;
  loop->link = make_link (rate, delay, queue, loss);
  loop->sequence = FIRST;
  loop->p_min = 1;
  tfrc_sender_config_init (&config);
  config.max_segment = SIZE;
  config.reduce_oscillation = oscillation;
  loop->sender = tfrc_sender_new (&config);
  loop->receiver = tfrc_receiver_new (&receiver);
  tfrc_sender_set_round_trip (loop->sender, 0, 2 * delay);
  tfrc_receiver_set_round_trip (loop->receiver, 2 * delay);
  return loop;
}

static Loop *
loop_new (guint64 rate, guint64 delay, guint64 queue, gboolean oscillation)
{
  return loop_new_lossy (rate, delay, queue, 0, oscillation);
}

static void
loop_free (Loop * loop)
{
  tfrc_sender_free (loop->sender);
  tfrc_receiver_free (loop->receiver);
  virtual_link_free (loop->link);
  g_free (loop);
}

static void
send_packet (Loop * loop)
{
  Packet *packet = g_new (Packet, 1);

  loop->sequence = dccp_sequence_add (loop->sequence, 1);
  packet->sent = loop->now;
  packet->sequence = loop->sequence;
  packet->ccval = tfrc_sender_sent (loop->sender, loop->now, loop->sequence,
      SIZE, loop->application <= 0);
  loop->n_sent++;
  if (loop->application > 0)
    loop->next_data += SIZE / loop->application * SECOND;
  if (loop->every > 0 && loop->n_sent % loop->every == 0)
    g_free (packet);
  else
    virtual_link_input (loop->link, loop->now, VIRTUAL_LINK_FORWARD,
        SIZE + HEADERS, packet);
}

static void
answer (Loop * loop)
{
  TfrcFeedback *feedback;
  TfrcReceiverState state;
  TfrcReport report;

  if (!tfrc_receiver_wants_feedback (loop->receiver, loop->now))
    return;
  tfrc_receiver_take_report (loop->receiver, loop->now, &report);
  feedback = g_new0 (TfrcFeedback, 1);
  feedback->acknowledged = report.acknowledged;
  feedback->elapsed = report.elapsed;
  feedback->has_elapsed = !loop->is_linux;
  feedback->has_receive_rate = TRUE;
  feedback->receive_rate = report.receive_rate;
  loop->max_received = MAX (loop->max_received, report.receive_rate);
  tfrc_receiver_get_state (loop->receiver, &state);
  feedback->new_loss_event = state.loss_events > loop->loss_events;
  loop->loss_events = state.loss_events;
  if (!loop->is_linux)
    fail_unless (tfrc_intervals_get_loss_event_rate (&report.intervals,
            &feedback->loss_event_rate));
  else if (report.loss_event_rate < G_MAXUINT32)
    feedback->loss_event_rate = 1. / report.loss_event_rate;
  virtual_link_input (loop->link, loop->now, VIRTUAL_LINK_BACK, HEADERS,
      feedback);
  loop->n_feedback++;
}

static void
judge (Loop * loop)
{
  TfrcSenderState state;

  if (loop->now < WARM_UP * SECOND)
    return;
  tfrc_sender_get_state (loop->sender, &state);
  loop->p_sum += state.loss_event_rate;
  loop->p_min = MIN (loop->p_min, state.loss_event_rate);
  loop->p_max = MAX (loop->p_max, state.loss_event_rate);
  loop->relative_sum += state.rate / tfrc_equation_rate (TFRC_EQUATION_EXACT,
      SIZE, state.round_trip / (gdouble) SECOND, .1);
  loop->n_judged++;
}

static void
note_wait (Loop * loop, const Packet * packet)
{
  const guint64 transmission = (SIZE + HEADERS) * SECOND / loop->rate;

  if (packet->sent > WARM_UP * SECOND)
    loop->max_wait = MAX (loop->max_wait,
        loop->now - loop->delay - transmission - packet->sent);
}

static void
receive_packet (Loop * loop, const Packet * packet)
{
  note_wait (loop, packet);
  loop->received[loop->now / SECOND] += SIZE + HEADERS;
  tfrc_receiver_input (loop->receiver, loop->now, packet->sequence, TRUE,
      packet->ccval, SIZE, 0);
  answer (loop);
}

static void
receive_feedback (Loop * loop, const TfrcFeedback * feedback)
{
  tfrc_sender_feedback (loop->sender, loop->now, feedback);
  judge (loop);
}

static void
run_link (Loop * loop)
{
  VirtualLinkDirection direction;
  gpointer item;

  while ((item = virtual_link_output (loop->link, loop->now, &direction))) {
    if (direction == VIRTUAL_LINK_FORWARD)
      receive_packet (loop, item);
    else
      receive_feedback (loop, item);
    g_free (item);
  }
}

/* Runs the link until its queue is empty, so that the queueing delays of the
 * last packets are counted. */
static void
drain_link (Loop * loop)
{
  VirtualLinkDirection direction;
  gpointer item;
  guint64 next;

  while ((next = virtual_link_next (loop->link)) != NEVER) {
    loop->now = next;
    while ((item = virtual_link_output (loop->link, next, &direction))) {
      if (direction == VIRTUAL_LINK_FORWARD)
        note_wait (loop, item);
      g_free (item);
    }
  }
}

static void
loop_run (Loop * loop)
{
  while (TRUE) {
    const guint64 send = MAX (loop->next_data,
        tfrc_sender_next_send (loop->sender, loop->now));
    const guint64 timer = tfrc_sender_next_wakeup (loop->sender);
    const guint64 arrival = virtual_link_next (loop->link);
    const guint64 due = tfrc_receiver_next_wakeup (loop->receiver);

    loop->now = MIN (MIN (send, timer), MIN (arrival, due));
    if (loop->now >= SECONDS * SECOND)
      break;
    if (arrival == loop->now)
      run_link (loop);
    else if (timer == loop->now)
      tfrc_sender_timeout (loop->sender, loop->now);
    else if (send == loop->now)
      send_packet (loop);
    else
      answer (loop);
  }
  drain_link (loop);
}

/* Returns the mean throughput after the warm-up, as a fraction of the link's
 * rate. Stores the coefficient of variation of the throughput, measured in
 * intervals of one second, in `variation`.
 */
static gdouble
get_use (Loop * loop, gdouble * variation)
{
  gdouble sum = 0, squares = 0, mean;
  guint i;

  for (i = WARM_UP; i < SECONDS; i++) {
    sum += loop->received[i];
    squares += (gdouble) loop->received[i] * loop->received[i];
  }
  mean = sum / (SECONDS - WARM_UP);
  *variation = sqrt (MAX (squares / (SECONDS - WARM_UP) - mean * mean, 0))
      / mean;
  return mean / loop->rate;
}

static void
log_use (Loop * loop, const gchar * what, gdouble * use, gdouble * variation)
{
  TfrcSenderState state;

  *use = get_use (loop, variation);
  tfrc_sender_get_state (loop->sender, &state);
  GST_INFO ("%s: use %.3f, variation %.3f, longest in queue %.0f ms, "
      "p %.4f, R %.0f ms, %" G_GUINT64_FORMAT " timeouts, %" G_GUINT64_FORMAT
      " feedbacks", what, *use, *variation, loop->max_wait / 1e6,
      state.loss_event_rate, state.round_trip / 1e6, state.no_feedbacks,
      loop->n_feedback);
}

/* Figure 5.2 ff.: 42 kbyte/s */
GST_START_TEST (one_flow_fills_its_link)
{
  const guint64 queues[] = { 4000, 8000, 20000, 64000 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (queues); i++) {
    Loop *loop = loop_new (42000, 11 * MS, queues[i], TRUE);
    gdouble use, variation;

    loop_run (loop);
    log_use (loop, "42 kbyte/s", &use, &variation);
    fail_unless (use >= .95, "%" G_GUINT64_FORMAT ": %g", queues[i], use);
    fail_unless (variation < .1, "%" G_GUINT64_FORMAT ": %g", queues[i],
        variation);
    loop_free (loop);
  }
}

GST_END_TEST;

/* Figures 5.13 and 5.14 of Erixzon's thesis: the link has a rate of
 * 20 kbyte/s, and excess packets wait in its queue. TFRC must use at least 95 %
 * of this rate, and the coefficient of variation of the throughput must be
 * below 0.1. */
GST_START_TEST (delaying_link_is_used_without_a_sawtooth)
{
  const guint64 queues[] = { 4000, 6000, 10000, 20000 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (queues); i++) {
    Loop *loop = loop_new (20000, 11 * MS, queues[i], TRUE);
    gdouble use, variation;

    loop_run (loop);
    log_use (loop, "20 kbyte/s", &use, &variation);
    fail_unless (use >= .95, "%" G_GUINT64_FORMAT ": %g", queues[i], use);
    fail_unless (variation < .1, "%" G_GUINT64_FORMAT ": %g", queues[i],
        variation);
    fail_unless (loop->max_wait <= queues[i] / 20000. * SECOND);
    loop_free (loop);
  }
}

GST_END_TEST;

GST_START_TEST (receiver_with_the_loss_event_rate_alone)
{
  Loop *loop = loop_new (42000, 11 * MS, 8000, TRUE);
  gdouble use, variation;

  loop->is_linux = TRUE;
  loop_run (loop);
  log_use (loop, "without intervals", &use, &variation);
  fail_unless (use >= .95, "%g", use);
  fail_unless (variation < .1, "%g", variation);
  loop_free (loop);
}

GST_END_TEST;

/* With an endless queue no packet is lost. The sender's rate X is then limited
 * only to twice the receive rate X_recv. X_recv is the rate of the link, so the
 * sender can send at twice the rate of the link. The queueing delay then grows
 * by up to a second in each second.
 *
 * With the oscillation reduction (RFC 5348 section 4.5), the sender slows down
 * as the round trip grows. The queueing delay must then grow less than without
 * the oscillation reduction. */
GST_START_TEST (endless_queue_grows_for_ever)
{
  guint64 queued[2];
  guint i;

  for (i = 0; i < 2; i++) {
    Loop *loop = loop_new (20000, 11 * MS, ENDLESS, i == 0);
    gdouble use, variation;

    loop_run (loop);
    log_use (loop, "endless", &use, &variation);
    fail_unless (use >= .95);
    queued[i] = loop->max_wait;
    loop_free (loop);
  }
  fail_unless (queued[0] > SECONDS / 5 * SECOND);
  fail_unless (queued[1] > SECONDS / 2 * SECOND);
  fail_unless (queued[0] < queued[1] * 3 / 4);
}

GST_END_TEST;

/* Figures 5.15 to 5.17 */
GST_START_TEST (every_tenth_packet_lost)
{
  Loop *loop = loop_new (1e7, 11 * MS, ENDLESS, TRUE);

  loop->every = 10;
  loop_run (loop);
  GST_INFO ("p %.4f to %.4f, mean %.4f; X is %.4f of s / (R * 0.565)",
      loop->p_min, loop->p_max, loop->p_sum / loop->n_judged,
      loop->relative_sum / loop->n_judged);
  fail_unless (loop->p_min >= .095 && loop->p_max <= .105,
      "%g to %g", loop->p_min, loop->p_max);
  fail_unless (fabs (loop->relative_sum / loop->n_judged - 1) <= .02,
      "%g", loop->relative_sum / loop->n_judged);
  loop_free (loop);
}

GST_END_TEST;

/* The application sends less than TFRC allows. The allowed rate X must then be
 * about twice the receive rate (Erixzon's thesis, section 5.3.5).
 *
 * The receive rates in the reports vary, because only few packets are sent in
 * each round trip. A data-limited sender uses the maximum of the recently
 * reported rates (RFC 5348 section 4.3). The allowed rate must therefore not
 * exceed twice this maximum. */
GST_START_TEST (application_is_given_twice_what_it_sends)
{
  Loop *loop = loop_new (1e7, 11 * MS, ENDLESS, TRUE);
  TfrcSenderState state;

  loop->every = 10;
  loop->application = 12800;
  loop_run (loop);
  tfrc_sender_get_state (loop->sender, &state);
  GST_INFO ("X %.0f, X_recv %u", state.rate, state.receive_rate);
  fail_unless (loop->max_received <= 12800 * 1.2, "%u", loop->max_received);
  fail_unless (state.rate <= 2.0 * loop->max_received + 1, "%g", state.rate);
  fail_unless (state.rate >= 12800, "%g", state.rate);
  loop_free (loop);
}

GST_END_TEST;

/* Figures 5.18, 5.19 */
GST_START_TEST (random_loss_is_survived)
{
  Loop *loop = loop_new_lossy (1e7, 11 * MS, ENDLESS, .1, TRUE);

  loop_run (loop);
  GST_INFO ("p %.4f to %.4f, mean %.4f", loop->p_min, loop->p_max,
      loop->p_sum / loop->n_judged);
  fail_unless (loop->p_sum / loop->n_judged > .06
      && loop->p_sum / loop->n_judged < .14);
  loop_free (loop);
}

GST_END_TEST;

static Suite *
tfrcloop_suite (void)
{
  Suite *s = suite_create ("tfrcloop");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 60);
  tcase_add_test (tc, one_flow_fills_its_link);
  tcase_add_test (tc, delaying_link_is_used_without_a_sawtooth);
  tcase_add_test (tc, receiver_with_the_loss_event_rate_alone);
  tcase_add_test (tc, endless_queue_grows_for_ever);
  tcase_add_test (tc, every_tenth_packet_lost);
  tcase_add_test (tc, application_is_given_twice_what_it_sends);
  tcase_add_test (tc, random_loss_is_survived);
  return s;
}

GST_CHECK_MAIN (tfrcloop);
