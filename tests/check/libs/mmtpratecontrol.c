/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs each congestion control algorithm over a simulated path in virtual time.
 * The path is a link of the element wirelesslink with a drop-tail queue. The
 * receiver reports every 50 ms. The source either always has data or sends
 * frames. The figures of a run are logged at level INFO of the category
 * "check".
 */

#include <string.h>

#include <gst/check/gstcheck.h>

#include "mmtpratecontrol.h"
#include "virtuallink.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define SECONDS (1000 * MS)

#define PACKET 1250             /* bytes */
/* One-way delay in ns in each direction while the queue is empty. */
#define ONE_WAY (20 * MS)
#define REPORT_PERIOD (50 * MS)
#define REPORT 100              /* bytes */
/* Rate of the return path in bytes per second. It is so high that the reports
 * of the receiver never wait in a queue. */
#define REPORT_RATE 12500000
/* Size of the queue of the bottleneck in bytes, including the packet in
 * transmission. */
#define QUEUE_LIMIT 100000
#define FRAME_PERIOD (40 * MS)
#define RATE 4000000            /* bit/s of the bottleneck */
#define LOW_RATE 1500000
/* Rate of the link in bit/s during a gap. A gap is a second in which the link
 * delivers almost nothing: at this rate, the transmission of one packet takes
 * the whole second. The packets after it wait in the queue until the gap ends.
 */
#define GAP_RATE (PACKET * 8)
#define MAX_PACKETS 65536
#define MAX_REPORTS 16

typedef struct
{
  /* Times in ns: `sent` is the time at which the packet was sent, and `arrival`
   * the time at which it arrives. `arrival` is 0 if the packet was lost or is
   * in flight. */
  guint64 sent, arrival;
  /* number of bytes in flight directly after this packet was sent, including
   * the packet */
  guint64 in_flight;
  gboolean is_app_limited;
} Packet;

typedef struct
{
  /* time in ns at which the receiver wrote this report */
  guint64 made;
  /* Index of the first packet that is not reported yet. All packets before it
   * are covered by this report or by an earlier one. */
  guint next;
  /* Minimum and maximum one-way delay in ns of the packets that arrived since
   * the previous report. */
  guint64 low, high;
} Report;

typedef struct
{
  MmtpRateControl *control;
  MmtpRateLimits limits;
  guint64 now;

  VirtualLink *link;
  guint64 source_rate;          /* bit/s; 0: saturating */

  Packet packets[MAX_PACKETS];
  guint n_sent;
  /* Index of the next packet that can arrive. It follows the index of the last
   * packet that has arrived; earlier packets that have not arrived are lost. */
  guint first_pending;
  /* Number of packets that are covered by the reports that the receiver has
   * written so far. Some of these reports may still be on the way to the
   * sender. */
  guint n_seen;
  guint64 arrived;              /* bytes */
  gdouble queue_delay_sum;
  guint n_arrived;
  guint64 max_queue_delay;

  Report reports[MAX_REPORTS];  /* Report n is at index n % MAX_REPORTS. */
  guint n_reports;
  guint64 next_report, next_frame, next_send;
  /* number of bytes that the source has generated and that have not been sent
   * yet */
  guint64 backlog;
  guint64 in_flight;            /* bytes */
  guint64 delivered;            /* bytes, reported */
  guint n_reported;             /* packets */
  /* If the source has too little data to fill the path, `limited_until` is set
   * to the number of packets that were sent so far, plus one. As long as the
   * reports cover fewer packets than this number, new packets get the flag
   * is_app_limited. The measured rate of such packets does not show how much
   * the path can carry. The field limited_until of MmtpPath has the same
   * meaning. */
  guint limited_until;
  guint64 last_arrival, last_sent, base_delay, base_round_trip;
  guint64 min_window, max_window, max_backlog;
} Path;

static void
init_link (VirtualLinkConfig * config)
{
  VirtualLinkPath *forward = &config->path[VIRTUAL_LINK_FORWARD];
  VirtualLinkPath *back = &config->path[VIRTUAL_LINK_BACK];

  memset (config, 0, sizeof (*config));
  forward->rate = RATE / 8;
  forward->queue = QUEUE_LIMIT - PACKET;
  back->rate = REPORT_RATE;
  back->queue = QUEUE_LIMIT;
  forward->delay = back->delay = ONE_WAY;
}

/* Adds a change of the rate to `config`: from `time` on, the link has the rate
 * `rate` in bit/s. `time` is in ns and counts from the beginning of the run. */
static void
add_rate_step (VirtualLinkConfig * config, guint64 time, guint64 rate)
{
  virtual_link_config_add_step (config, time, rate / 8, 0);
}

/* The link calls this function to free a packet. In this test, a packet is only
 * a number, so there is nothing to free. */
static void
packet_free (gpointer item)
{
}

static Path *
path_new_over (const MmtpRateControlClass * klass, guint64 source_rate,
    const VirtualLinkConfig * config, guint64 seed)
{
  const MmtpRateControlStart start = { PACKET,
    config->path[VIRTUAL_LINK_FORWARD].delay +
        config->path[VIRTUAL_LINK_BACK].delay
  };
  Path *path = g_new0 (Path, 1);

  path->now = 10 * SECONDS;
  path->control = mmtp_rate_control_new (klass, path->now, &start);
  mmtp_rate_control_get_limits (path->control, &path->limits);
  path->link = virtual_link_new (config, seed, 0, packet_free);
  virtual_link_set_origin (path->link, path->now);
  path->source_rate = source_rate;
  path->next_report = path->now + REPORT_PERIOD;
  path->next_frame = path->now;
  path->base_delay = path->base_round_trip = G_MAXUINT64;
  return path;
}

static Path *
path_new (const MmtpRateControlClass * klass, guint64 source_rate)
{
  VirtualLinkConfig config;

  init_link (&config);
  return path_new_over (klass, source_rate, &config, 1);
}

/* Returns a path over a link that is interrupted from 5 s to 6 s after the
 * start: in this second, it delivers nothing or a single packet. */
static Path *
path_new_with_gap (const MmtpRateControlClass * klass, guint64 source_rate)
{
  VirtualLinkConfig config;

  init_link (&config);
  add_rate_step (&config, 5 * SECONDS, GAP_RATE);
  add_rate_step (&config, 6 * SECONDS, RATE);
  return path_new_over (klass, source_rate, &config, 1);
}

static void
path_free (Path * path)
{
  mmtp_rate_control_free (path->control);
  virtual_link_free (path->link);
  g_free (path);
}

/* Resets the measured values, so that the next results describe only the time
 * from now on. */
static void
path_reset_figures (Path * path)
{
  path->arrived = path->max_queue_delay = path->n_arrived = 0;
  path->queue_delay_sum = 0;
  path->min_window = G_MAXUINT64;
  path->max_window = path->max_backlog = 0;
}

static void
path_send (Path * path)
{
  Packet *packet = &path->packets[path->n_sent];

  fail_unless (path->n_sent < MAX_PACKETS);
  path->n_sent++;
  if (path->source_rate > 0)
    path->backlog -= PACKET;
  path->in_flight += PACKET;
  packet->sent = path->now;
  packet->in_flight = path->in_flight;
  packet->is_app_limited = path->n_reported < path->limited_until;
  virtual_link_input (path->link, path->now, VIRTUAL_LINK_FORWARD, PACKET,
      GUINT_TO_POINTER (path->n_sent));
  mmtp_rate_control_sent (path->control, path->now, PACKET, path->in_flight);
}

static void
path_run_source (Path * path)
{
  gboolean is_paced = path->limits.pacing_rate > 0;

  while (path->source_rate > 0 && path->now >= path->next_frame) {
    path->backlog += path->source_rate / 8 * FRAME_PERIOD / SECONDS;
    path->next_frame += FRAME_PERIOD;
  }
  /* `next_send` is the time for the next packet of a paced source. If it stayed
   * in the past during an idle time, the source would send a burst afterwards.
   */
  if (path->next_send < path->now)
    path->next_send = path->now;
  while ((path->source_rate == 0 || path->backlog >= PACKET)
      && path->in_flight + PACKET <= path->limits.window
      && path->next_send < path->now + MS) {
    path_send (path);
    if (is_paced)
      path->next_send += PACKET * 8 * SECONDS / path->limits.pacing_rate;
  }
  if (path->source_rate > 0 && path->backlog < PACKET &&
      path->in_flight + PACKET <= path->limits.window)
    path->limited_until = path->n_sent + 1;
  path->max_backlog = MAX (path->max_backlog, path->backlog);
}

/* `number` counts from 1. */
static void
path_take_packet (Path * path, guint number)
{
  Packet *packet = &path->packets[number - 1];
  const guint64 delay = path->now - ONE_WAY - packet->sent;

  packet->arrival = path->now;
  path->first_pending = number;
  path->arrived += PACKET;
  path->n_arrived++;
  path->queue_delay_sum += delay;
  path->max_queue_delay = MAX (path->max_queue_delay, delay);
}

static void
path_run_receiver (Path * path)
{
  Report *report = &path->reports[path->n_reports % MAX_REPORTS];
  guint i;

  if (path->now < path->next_report)
    return;
  path->next_report += REPORT_PERIOD;
  path->n_reports++;
  report->made = path->now;
  report->low = G_MAXUINT64;
  report->high = 0;
  for (i = path->n_seen; i < path->first_pending; i++) {
    const Packet *packet = &path->packets[i];

    if (packet->arrival == 0)
      continue;
    report->low = MIN (report->low, packet->arrival - packet->sent);
    report->high = MAX (report->high, packet->arrival - packet->sent);
  }
  report->next = path->n_seen = path->first_pending;
  virtual_link_input (path->link, path->now, VIRTUAL_LINK_BACK, REPORT, report);
}

static void
path_take_report (Path * path, const Report * report)
{
  MmtpRateSample sample = { 0, };
  const Packet *newest;

  sample.now = path->now;
  for (; path->n_reported < report->next; path->n_reported++) {
    const Packet *packet = &path->packets[path->n_reported];

    path->in_flight -= PACKET;
    if (packet->arrival == 0) {
      sample.n_lost++;
      continue;
    }
    sample.n_acked++;
    sample.acked += PACKET;
    path->last_arrival = packet->arrival;
    path->last_sent = packet->sent;
  }
  path->delivered += sample.acked;
  sample.arrival = path->last_arrival;
  sample.sent = path->last_sent;
  sample.delivered = path->delivered;
  sample.in_flight = path->in_flight;
  sample.report_period = REPORT_PERIOD;
  if (sample.acked > 0) {
    newest = &path->packets[report->next - 1];
    sample.sent_in_flight = newest->in_flight;
    sample.is_app_limited = newest->is_app_limited;
    sample.round_trip = path->now - newest->sent -
        (report->made - newest->arrival);
    path->base_round_trip = MIN (path->base_round_trip, sample.round_trip);
    path->base_delay = MIN (path->base_delay, report->low);
    sample.queue_delay = report->low - path->base_delay;
    sample.high_queue_delay = report->high - path->base_delay;
  }
  if (path->base_round_trip != G_MAXUINT64)
    sample.base_round_trip = path->base_round_trip;

  mmtp_rate_control_feedback (path->control, &sample);
  mmtp_rate_control_get_limits (path->control, &path->limits);
  GST_LOG ("%.2f s: acked %u lost %u delay %.0f-%.0f ms, window %.1f kB, "
      "pacing %.2f rate %.2f Mbit/s%s", path->now / 1e9 - 10, sample.n_acked,
      sample.n_lost, sample.queue_delay / 1e6, sample.high_queue_delay / 1e6,
      path->limits.window / 1e3, path->limits.pacing_rate / 1e6,
      path->limits.delivery_rate / 1e6,
      path->limits.is_app_limited ? " (limited)" : "");
  fail_unless (path->limits.window >= PACKET);
  path->min_window = MIN (path->min_window, path->limits.window);
  path->max_window = MAX (path->max_window, path->limits.window);
}

/* Advances the time and the link to `until`. Processes each packet and each
 * report at the time at which it arrives. */
static void
path_run_link (Path * path, guint64 until)
{
  VirtualLinkDirection direction;
  gpointer item;
  guint64 next;

  while ((next = virtual_link_next (path->link)) <= until) {
    path->now = MAX (path->now, next);
    while ((item = virtual_link_output (path->link, path->now, &direction))) {
      if (direction == VIRTUAL_LINK_FORWARD)
        path_take_packet (path, GPOINTER_TO_UINT (item));
      else
        path_take_report (path, item);
    }
  }
  path->now = until;
}

static void
path_run (Path * path, guint64 duration)
{
  guint64 end = path->now + duration;

  while (path->now < end) {
    path_run_link (path, path->now + MS);
    path_run_receiver (path);
    path_run_source (path);
  }
}

/* Runs the path for `duration` ns and returns the rate in bit/s at which
 * packets arrived in this time. */
static gdouble
path_measure (Path * path, guint64 duration)
{
  path_reset_figures (path);
  path_run (path, duration);
  GST_INFO ("%.1f s: %.2f Mbit/s, delay %.0f (max %.0f) ms, window %.0f-%.0f "
      "kB, rate %.2f Mbit/s, max backlog %.0f kB", path->now / 1e9 - 10,
      path->arrived * 8e3 / duration, path->queue_delay_sum / 1e6 /
      MAX (path->n_arrived, 1), path->max_queue_delay / 1e6,
      path->min_window / 1e3, path->max_window / 1e3,
      path->limits.delivery_rate / 1e6, path->max_backlog / 1e3);
  return path->arrived * 8e9 / duration;
}

static const MmtpRateControlClass *
get_class (guint i, const gchar * test)
{
  GST_INFO ("%s: %s", test, mmtp_rate_controls[i]->name);
  return mmtp_rate_controls[i];
}

static guint
count_classes (void)
{
  guint n = 0;

  while (mmtp_rate_controls[n])
    n++;
  return n;
}

GST_START_TEST (fills_a_constant_path)
{
  Path *path = path_new (get_class (__i__, "constant"), 0);

  path_measure (path, 3 * SECONDS);
  fail_unless (path_measure (path, 10 * SECONDS) >= 0.9 * RATE);
  fail_unless (path->max_queue_delay <= 150 * MS);
  fail_if (path->limits.is_app_limited);
  fail_unless (path->limits.delivery_rate >= 0.9 * RATE);
  fail_unless (path->limits.delivery_rate <= 1.1 * RATE);
  path_free (path);
}

GST_END_TEST;

GST_START_TEST (follows_rate_steps)
{
  VirtualLinkConfig config;
  Path *path;

  init_link (&config);
  add_rate_step (&config, 5 * SECONDS, LOW_RATE);
  add_rate_step (&config, 13 * SECONDS, RATE);
  path = path_new_over (get_class (__i__, "steps"), 0, &config, 1);
  path_run (path, 5 * SECONDS);
  path_measure (path, 400 * MS);
  fail_unless (path->limits.delivery_rate <= 1.1 * LOW_RATE);
  path_measure (path, 2600 * MS);
  fail_unless (path_measure (path, 5 * SECONDS) >= 0.9 * LOW_RATE);
  fail_unless (path->queue_delay_sum / path->n_arrived <= 150 * MS);
  path_measure (path, 3 * SECONDS);
  fail_unless (path_measure (path, 5 * SECONDS) >= 0.9 * RATE);
  path_free (path);
}

GST_END_TEST;

/* The source generates data at half of the rate of the path, so the algorithm
 * has no reason to hold the data back. The data that wait at the source must
 * always be less than two frames. */
GST_START_TEST (leaves_room_for_a_limited_source)
{
  guint64 frame = RATE / 2 / 8 * FRAME_PERIOD / SECONDS;
  Path *path = path_new (get_class (__i__, "limited"), RATE / 2);

  path_measure (path, 3 * SECONDS);
  fail_unless (path_measure (path, 10 * SECONDS) >= 0.99 * RATE / 2);
  fail_unless (path->max_backlog < 2 * frame);
  path_measure (path, 40 * SECONDS);
  fail_unless (path->max_backlog < 2 * frame);
  fail_unless (path->max_window <= 200000);
  fail_unless (path->limits.is_app_limited);
  path_free (path);
}

GST_END_TEST;

/* 5 % of the packets are lost at random. The other packets must arrive at a
 * rate of at least `share` times the rate of the link. An algorithm that
 * reduces the rate after every loss, as some publications demand, may need a
 * lower `share`. */
GST_START_TEST (survives_random_losses)
{
  const gdouble share = 0.8;
  VirtualLinkConfig config;
  Path *path;

  init_link (&config);
  config.path[VIRTUAL_LINK_FORWARD].loss = 0.05;
  path = path_new_over (get_class (__i__, "losses"), 0, &config, 1);
  path_measure (path, 3 * SECONDS);
  fail_unless (path_measure (path, 20 * SECONDS) >= share * RATE);
  fail_unless (path->max_queue_delay <= 150 * MS);
  path_free (path);
}

GST_END_TEST;

/* The path has a round trip of 400 ms, and its queue holds only the packets of
 * 50 ms. In the start phase, this queue overflows. The sender must nevertheless
 * use at least 80 % of the rate from 4 s to 14 s. CUBIC alone would need these
 * ten seconds to recover from the overflow. */
GST_START_TEST (uses_a_long_path_with_a_short_queue)
{
  VirtualLinkConfig config;
  Path *path;

  init_link (&config);
  config.path[VIRTUAL_LINK_FORWARD].delay = 200 * MS;
  config.path[VIRTUAL_LINK_BACK].delay = 200 * MS;
  config.path[VIRTUAL_LINK_FORWARD].queue = RATE / 8 / 20;
  path = path_new_over (get_class (__i__, "short queue"), 0, &config, 1);
  path_measure (path, 4 * SECONDS);
  fail_unless (path_measure (path, 10 * SECONDS) >= 0.8 * RATE);
  path_free (path);
}

GST_END_TEST;

GST_START_TEST (resumes_after_a_gap)
{
  Path *path = path_new_with_gap (get_class (__i__, "gap"), 0);
  guint64 window;

  path_run (path, 5 * SECONDS);
  window = path->limits.window;
  path_measure (path, SECONDS);
  fail_unless (path->min_window >= window / 2);
  path_measure (path, 300 * MS);
  fail_unless (path_measure (path, SECONDS) >= 0.8 * RATE);
  path_free (path);
}

GST_END_TEST;

GST_START_TEST (resumes_a_limited_source_after_a_gap)
{
  guint64 frame = RATE / 2 / 8 * FRAME_PERIOD / SECONDS;
  Path *path = path_new_with_gap (get_class (__i__, "limited gap"), RATE / 2);

  path_run (path, 5 * SECONDS);
  path_measure (path, SECONDS);
  path_measure (path, 300 * MS);
  /* The gap is over. The packets that waited in the queue during the gap arrive
   * now, and so do new packets of the stream. Together they must arrive at a
   * rate of at least 80 % of the source rate. */
  fail_unless (path_measure (path, 700 * MS) >= 0.8 * RATE / 2);
  path_measure (path, 2 * SECONDS);
  path_measure (path, 2 * SECONDS);
  fail_unless (path->max_backlog < 2 * frame);
  path_free (path);
}

GST_END_TEST;

/* The path has a round trip of 200 ms. The algorithm gets a first estimate of
 * the rate that is a tenth of the real rate. With is_minimum=TRUE, the estimate
 * is only a lower bound. Two runs are compared:
 * - With is_minimum=FALSE, the start phase of the algorithm ends as soon as the
 *   measured rate confirms the estimate.
 * - With is_minimum=TRUE, the start phase must continue. In the first 2 s,
 *   packets must arrive at a rate that is at least 10 % higher than with
 *   is_minimum=FALSE. */
GST_START_TEST (cautious_estimate_does_not_end_the_start)
{
  const MmtpRateControlClass *klass = mmtp_rate_control_find ("delivery");
  VirtualLinkConfig config;
  gdouble rates[2];
  guint i;

  init_link (&config);
  config.path[VIRTUAL_LINK_FORWARD].delay = 100 * MS;
  config.path[VIRTUAL_LINK_BACK].delay = 100 * MS;
  for (i = 0; i < 2; i++) {
    const MmtpRateControlStart start = { PACKET, 200 * MS, RATE / 10, i == 1 };
    Path *path = path_new_over (klass, 0, &config, 1);

    mmtp_rate_control_free (path->control);
    path->control = mmtp_rate_control_new (klass, path->now, &start);
    mmtp_rate_control_get_limits (path->control, &path->limits);
    rates[i] = path_measure (path, 2 * SECONDS);
    path_free (path);
  }
  fail_unless (rates[1] >= 1.1 * rates[0], "%.0f and %.0f", rates[0], rates[1]);
}

GST_END_TEST;

GST_START_TEST (finds_algorithms_by_name)
{
  guint i;

  for (i = 0; mmtp_rate_controls[i]; i++)
    fail_unless (mmtp_rate_control_find (mmtp_rate_controls[i]->name) ==
        mmtp_rate_controls[i]);
  fail_unless (mmtp_rate_control_find (NULL) == mmtp_rate_controls[0]);
  fail_unless (mmtp_rate_control_find ("none") == NULL);
}

GST_END_TEST;

/* Passes 20 reports per second for 3 s to the rate control of a path whose rate
 * is configured. The queueing delays in the reports alternate between `first`
 * and `second`, both in ns. Returns the pacing rate at the end, as a fraction
 * of the configured rate. */
static gdouble
get_token_share (MmtpRateControl * control, guint64 * now, gint64 first,
    gint64 second)
{
  MmtpRateLimits limits;
  guint i;

  for (i = 0; i < 60; i++) {
    MmtpRateSample sample = { *now += REPORT_PERIOD };

    sample.acked = PACKET;
    sample.report_period = REPORT_PERIOD;
    sample.queue_delay = i % 2 ? second : first;
    sample.high_queue_delay = sample.queue_delay;
    mmtp_rate_control_feedback (control, &sample);
  }
  mmtp_rate_control_get_limits (control, &limits);
  fail_unless_equals_int (limits.delivery_rate, limits.pacing_rate);
  return limits.pacing_rate / (gdouble) RATE;
}

/* The rate of the path is configured. If every report shows a high queueing
 * delay, the pacing rate must fall, so that the queue becomes shorter. If every
 * second report shows a low queueing delay, the pacing rate must not fall. */
GST_START_TEST (configured_path_drains_a_standing_queue)
{
  const MmtpRateControlStart start = { PACKET, 2 * ONE_WAY, RATE };
  guint64 now = 10 * SECONDS;
  MmtpRateControl *control =
      mmtp_rate_control_new (&mmtp_token_control, now, &start);

  fail_unless_equals_float (get_token_share (control, &now, 0, 500 * MS), 0.97);
  fail_unless_equals_float (get_token_share (control, &now, 210 * MS,
          500 * MS), 0.85);
  fail_unless_equals_float (get_token_share (control, &now, 110 * MS,
          110 * MS), 0.85);
  fail_unless_equals_float (get_token_share (control, &now, 90 * MS, 150 * MS),
      0.97);
  /* The sender usually paces at 97 % of the configured rate. While every report
   * shows a long queueing delay, the sender paces at 85 % to drain the queue.
   * If the delay is still long after 5 s, perhaps the cause of the delay is not
   * a queue. The sender must then return to 97 % for a while. */
  fail_unless_equals_float (get_token_share (control, &now, 500 * MS,
          500 * MS), 0.97);
  get_token_share (control, &now, 500 * MS, 500 * MS);
  get_token_share (control, &now, 500 * MS, 500 * MS);
  fail_unless_equals_float (get_token_share (control, &now, 500 * MS,
          500 * MS), 0.85);
  get_token_share (control, &now, 500 * MS, 500 * MS);
  fail_unless_equals_float (get_token_share (control, &now, 500 * MS,
          500 * MS), 0.97);
  mmtp_rate_control_free (control);
}

GST_END_TEST;

/* The first window of the default algorithm depends on the round trip of the
 * handshake, on an estimate of the rate, and on whether another path carries
 * the stream. The expected values were computed by hand. */
GST_START_TEST (first_window_follows_the_round_trip)
{
  static const struct
  {
    MmtpRateControlStart start;
    guint64 window;
  } cases[] = {
    {{PACKET, 0, 0, FALSE, FALSE}, 10 * PACKET},
    {{PACKET, 100 * MS, 0, FALSE, FALSE}, 10 * PACKET},
    {{PACKET, 200 * MS, 0, FALSE, FALSE}, 5 * PACKET},
    {{PACKET, 1000 * MS, 0, FALSE, FALSE}, 3 * PACKET},
    {{PACKET, 100 * MS, 0, FALSE, TRUE}, 10 * PACKET},
    {{PACKET, 125 * MS, 0, FALSE, TRUE}, 8 * PACKET},
    {{PACKET, 1000 * MS, 0, FALSE, TRUE}, 6 * PACKET},
    /* The first report is expected after the round trip of 200 ms plus 100 ms.
     * In these 300 ms, 8 Mbit/s deliver 300 kB. */
    {{PACKET, 200 * MS, 8000000, FALSE, TRUE}, 300000},
    {{PACKET, 200 * MS, 8000, FALSE, TRUE}, 3 * PACKET},
    /* If jitter is the reason why the rate is unknown, a long round trip is no
     * sign of a low rate, and the window is larger. */
    {{PACKET, 0, 0, TRUE, FALSE}, 40 * PACKET},
    {{PACKET, 100 * MS, 0, TRUE, FALSE}, 40 * PACKET},
    {{PACKET, 160 * MS, 0, TRUE, FALSE}, 25 * PACKET},
    {{PACKET, 1000 * MS, 0, TRUE, FALSE}, 15 * PACKET},
    {{PACKET, 100 * MS, 0, TRUE, TRUE}, 10 * PACKET},
    {{PACKET, 1000 * MS, 0, TRUE, TRUE}, 10 * PACKET},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    MmtpRateControl *control = mmtp_rate_control_new (&mmtp_delivery_control,
        10 * SECONDS, &cases[i].start);
    MmtpRateLimits limits;

    mmtp_rate_control_get_limits (control, &limits);
    fail_unless (limits.window == cases[i].window,
        "case %u: %" G_GUINT64_FORMAT " bytes", i, limits.window);
    mmtp_rate_control_free (control);
  }
}

GST_END_TEST;

/* Passes `sample` to `control` as a report that acknowledges `acked` bytes,
 * which are all bytes that were in flight. Returns the window after this
 * report. */
static guint64
get_window_after (MmtpRateControl * control, MmtpRateSample * sample,
    guint64 acked)
{
  MmtpRateLimits limits = { 0 };

  sample->acked = sample->sent_in_flight = acked;
  sample->n_acked = acked / PACKET;
  if (sample->report_period == 0)
    sample->report_period = REPORT_PERIOD;
  sample->deadline = SECONDS;
  mmtp_rate_control_feedback (control, sample);
  mmtp_rate_control_get_limits (control, &limits);
  return limits.window;
}

/* Passes a report to `control` 50 ms after the previous one, and returns the
 * window. A packet train of 8 Mbit/s has arrived if `has_train` is TRUE. */
static guint64
get_start_window (MmtpRateControl * control, guint64 * now, guint64 acked,
    gboolean has_train)
{
  MmtpRateSample sample = { *now += REPORT_PERIOD };

  sample.base_round_trip = 350 * MS;
  sample.train_rate = has_train ? 8000000 : 0;
  return get_window_after (control, &sample, acked);
}

/* The path has 8 Mbit/s and a round trip of 350 ms, and the report period is 50
 * ms. The sum of the two times is 400 ms, in which the path delivers 400 kB.
 * After a packet train has shown the rate of the path, the window must grow as
 * follows:
 * - The target is 70 % of the 400 kB, which is 280 kB. The first reports may
 *   raise the window to this target in steps. With each report, the window may
 *   rise to at most eight times the bytes in flight.
 * - From 280 to 400 kB, the window grows by all bytes that arrive.
 * - Above 400 kB, the window grows only by a quarter of the bytes that arrive.
 */
GST_START_TEST (train_enlarges_the_first_window)
{
  const MmtpRateControlStart start = { PACKET, 350 * MS, 0, FALSE, TRUE };
  const MmtpRateControlStart alone = { PACKET, 350 * MS };
  guint64 now = 10 * SECONDS;
  MmtpRateControl *control =
      mmtp_rate_control_new (&mmtp_delivery_control, now, &start);

  fail_unless_equals_int (get_start_window (control, &now, 4 * PACKET, TRUE),
      32 * PACKET);
  fail_unless_equals_int (get_start_window (control, &now, 20 * PACKET, FALSE),
      160 * PACKET);
  fail_unless_equals_int (get_start_window (control, &now, 40 * PACKET, FALSE),
      280000);
  fail_unless_equals_int (get_start_window (control, &now, 112 * PACKET, FALSE),
      420000);
  fail_unless_equals_int (get_start_window (control, &now, 168 * PACKET, FALSE),
      420000 + 42 * PACKET);
  mmtp_rate_control_free (control);

  control = mmtp_rate_control_new (&mmtp_delivery_control, now, &alone);
  fail_unless_equals_int (get_start_window (control, &now, 1 * PACKET, TRUE),
      3 * PACKET);
  mmtp_rate_control_free (control);
}

GST_END_TEST;

/* Passes a report to `control` that arrives `silence` ns after the previous
 * one. Returns the reserve in bytes. */
static gdouble
get_reserve_after (MmtpRateControl * control, guint64 * now, guint64 silence,
    guint64 report_period, guint n_lost, gint64 high_queue)
{
  MmtpRateSample sample = { *now += silence };
  MmtpRateLimits limits = { 0 };

  sample.sent = sample.arrival = *now - ONE_WAY;
  sample.base_round_trip = 2 * ONE_WAY;
  sample.report_period = report_period;
  sample.n_lost = n_lost;
  sample.high_queue_delay = high_queue;
  sample.is_app_limited = TRUE;
  /* 4 Mbit/s, the rate at which the reserve lasts for 250 ms */
  sample.delivered = *now / 2000;
  get_window_after (control, &sample, silence / 2000);
  mmtp_rate_control_get_limits (control, &limits);
  return limits.reserve;
}

/* Checks the reserve, with a tolerance for errors of floating-point numbers. */
static void
check_reserve (MmtpRateControl * control, guint64 * now, guint64 silence,
    gint64 high_queue, gdouble reserve)
{
  const gdouble found = get_reserve_after (control, now, silence,
      REPORT_PERIOD, 0, high_queue);

  fail_unless (ABS (found - reserve) < 10, "%f instead of %f bytes", found,
      reserve);
}

static MmtpRateControl *
new_control_with_reports (guint64 * now, guint64 report_period)
{
  const MmtpRateControlStart start = { PACKET, 2 * ONE_WAY };
  MmtpRateControl *control =
      mmtp_rate_control_new (&mmtp_delivery_control, *now, &start);
  guint i;

  for (i = 0; i < 40; i++)
    get_reserve_after (control, now, report_period, report_period, 0, 0);
  return control;
}

/* The reserve normally lasts for 250 ms, which is 125 kB at 4 Mbit/s. After the
 * return path was silent for a second, it must last for two seconds. A long
 * delay on the path itself ends this. */
GST_START_TEST (reserve_grows_when_only_the_return_path_is_interrupted)
{
  const gdouble usual = 125000, max = 1000000;
  guint64 now = 10 * SECONDS;
  MmtpRateControl *control = new_control_with_reports (&now, REPORT_PERIOD);

  check_reserve (control, &now, 300 * MS, 0, usual);
  check_reserve (control, &now, 400 * MS, 0, 400000);
  check_reserve (control, &now, SECONDS, 0, max);
  /* The maximum is two seconds. It remains until the path itself fails. */
  check_reserve (control, &now, 3 * SECONDS, 0, max);
  check_reserve (control, &now, REPORT_PERIOD, 0, max);
  check_reserve (control, &now, REPORT_PERIOD, 140 * MS, usual);
  /* A silence in which messages were delayed has another cause. */
  check_reserve (control, &now, SECONDS, 140 * MS, usual);
  check_reserve (control, &now, SECONDS, 0, max);
  mmtp_rate_control_free (control);
}

GST_END_TEST;

/* After a loss, the usual reserve applies again: a queue did not overflow. */
GST_START_TEST (reserve_is_the_usual_one_after_a_loss)
{
  guint64 now = 10 * SECONDS;
  MmtpRateControl *control = new_control_with_reports (&now, REPORT_PERIOD);

  check_reserve (control, &now, SECONDS, 0, 1000000);
  get_reserve_after (control, &now, REPORT_PERIOD, REPORT_PERIOD, 1, 0);
  check_reserve (control, &now, REPORT_PERIOD, 0, 125000);
  mmtp_rate_control_free (control);
}

GST_END_TEST;

/* On a slow path, reports are so rare that their usual interval is longer than
 * 300 ms. Such an interval is no silence. */
GST_START_TEST (rare_reports_are_no_silence)
{
  guint64 now = 10 * SECONDS;
  MmtpRateControl *control = new_control_with_reports (&now, 500 * MS);

  fail_unless (get_reserve_after (control, &now, 500 * MS, 500 * MS, 0, 0) <
      125010);
  fail_unless (get_reserve_after (control, &now, 1600 * MS, 500 * MS, 0, 0) >
      900000);
  mmtp_rate_control_free (control);
}

GST_END_TEST;

/* In the start phase, the window grows with each report. The growth is usually
 * the number of bytes that have arrived. It is three times this number if the
 * round trip is long (at least 100 ms) and the report shows only a short
 * queueing delay. */
GST_START_TEST (start_is_fast_on_a_long_round_trip)
{
  static const struct
  {
    guint64 round_trip;         /* ns */
    gint64 queue;               /* maximum queueing delay, ns */
    guint growth;
  } cases[] = {
    {100 * MS, 0, 3},
    {100 * MS, 12500 * MS / 1000, 3},
    {100 * MS, 12600 * MS / 1000, 1},
    {400 * MS, 16 * MS, 3},
    {400 * MS, 17 * MS, 1},
    {99 * MS, 0, 1},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const MmtpRateControlStart start = { PACKET, 100 * MS };
    MmtpRateControl *control = mmtp_rate_control_new (&mmtp_delivery_control,
        10 * SECONDS, &start);
    MmtpRateSample sample = { 10 * SECONDS + REPORT_PERIOD };
    guint64 window;

    sample.base_round_trip = cases[i].round_trip;
    sample.high_queue_delay = cases[i].queue;
    window = get_window_after (control, &sample, 8 * PACKET);
    fail_unless (window == (10 + 8 * cases[i].growth) * PACKET,
        "case %u: %" G_GUINT64_FORMAT " bytes", i, window);
    mmtp_rate_control_free (control);
  }
}

GST_END_TEST;

/* Passes ten reports to a new rate control, one in each 50 ms. They show a rate
 * of 8 Mbit/s. The last report shows an overflow: two lost messages and a
 * queueing delay. Stores the resulting limits in `limits`. */
static void
get_limits_after_overflow (guint64 round_trip, MmtpRateLimits * limits)
{
  const MmtpRateControlStart start = { PACKET, round_trip };
  MmtpRateControl *control = mmtp_rate_control_new (&mmtp_delivery_control,
      10 * SECONDS, &start);
  MmtpRateSample sample = { 10 * SECONDS };
  guint i;

  sample.base_round_trip = round_trip;
  sample.report_period = REPORT_PERIOD;
  sample.deadline = SECONDS;
  sample.acked = 50000;
  sample.n_acked = 40;
  sample.sent_in_flight = 100000;
  for (i = 1; i <= 10; i++) {
    sample.now += REPORT_PERIOD;
    sample.arrival = sample.now - round_trip / 2;
    sample.sent = sample.now - round_trip;
    sample.delivered += sample.acked;
    sample.n_lost = i < 10 ? 0 : 2;
    sample.high_queue_delay = i < 10 ? 0 : 50 * MS;
    mmtp_rate_control_feedback (control, &sample);
  }
  mmtp_rate_control_get_limits (control, limits);
  mmtp_rate_control_free (control);
}

/* An overflow ends the start phase. On a path with a round trip of 400 ms, the
 * window becomes 70 % of the bytes that 8 Mbit/s deliver in the round trip and
 * half of the report period: 0.7 * 1000 bytes/ms * 425 ms. The pacing rate
 * spreads 1.25 times this window over the round trip and the report period.
 *
 * On a path with a round trip of 99 ms, the window becomes 70 % of the bytes
 * that were in flight, and the pacing rate is twice the delivery rate. */
GST_START_TEST (overflow_keeps_the_rate_of_a_long_path)
{
  MmtpRateLimits limits = { 0 };

  get_limits_after_overflow (400 * MS, &limits);
  fail_unless (limits.has_queue_losses);
  fail_unless_equals_int (limits.window, 297500);
  fail_unless (ABS (limits.pacing_rate - 1.25 * 297500 * 8 / 0.45) < 10);

  get_limits_after_overflow (99 * MS, &limits);
  fail_unless_equals_int (limits.window, 70000);
  fail_unless (ABS (limits.pacing_rate - 16e6) < 10);
}

GST_END_TEST;

/* Passes reports to a new rate control, one in each 50 ms. At first they show the
 * rate `rate` in bit/s for a second, and then half of this rate. The window is in
 * use. Each message is delayed by 100 ms more than the base delay; the jitter is
 * `noise` (ns). Returns the window in bytes when `duration` (ns) has passed since
 * the rate fell. */
static guint64
get_window_after_fall (guint64 rate, gint64 noise, guint64 duration)
{
  const MmtpRateControlStart start = { PACKET, 2 * ONE_WAY };
  MmtpRateControl *control = mmtp_rate_control_new (&mmtp_delivery_control,
      10 * SECONDS, &start);
  MmtpRateSample sample = { 10 * SECONDS };
  MmtpRateLimits limits = { 0 };
  const guint n_fast = 20, n = n_fast + duration / REPORT_PERIOD;
  const guint64 full = rate / 8 * REPORT_PERIOD / SECONDS;
  guint i;

  sample.base_round_trip = 2 * ONE_WAY;
  sample.report_period = REPORT_PERIOD;
  sample.deadline = SECONDS;
  sample.queue_delay = sample.high_queue_delay = 100 * MS;
  sample.noise = noise;
  sample.n_acked = 20;
  sample.sent_in_flight = sample.in_flight = 4 * full;
  for (i = 0; i < n; i++) {
    sample.now += REPORT_PERIOD;
    sample.arrival = sample.now - ONE_WAY;
    sample.sent = sample.now - 2 * ONE_WAY;
    sample.acked = i < n_fast ? full : full / 2;
    sample.delivered += sample.acked;
    mmtp_rate_control_feedback (control, &sample);
  }
  mmtp_rate_control_get_limits (control, &limits);
  mmtp_rate_control_free (control);
  return limits.window;
}

/* The window is proportional to the maximum rate of the last 300 ms. If a queue
 * stands, a shorter time counts on a path below 8 Mbit/s: 200 ms at 5.34 Mbit/s,
 * and 100 ms at 2 Mbit/s. If the jitter is 50 ms, the delay of 100 ms may be
 * jitter, so the last 300 ms count. */
GST_START_TEST (window_falls_sooner_while_a_queue_stands)
{
  static const struct
  {
    guint64 rate, noise, filter;
  } cases[] = {
    {2000000, 0, 100 * MS}, {5340000, 0, 200 * MS}, {20000000, 0, 300 * MS},
    {2000000, 50 * MS, 300 * MS}
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const guint64 rate = cases[i].rate, noise = cases[i].noise;
    const guint64 full = get_window_after_fall (rate, noise, 0);

    fail_unless_equals_uint64 (get_window_after_fall (rate, noise,
            cases[i].filter), full);
    fail_unless (get_window_after_fall (rate, noise,
            cases[i].filter + REPORT_PERIOD) < 0.8 * full, "case %u", i);
  }
}

GST_END_TEST;

static Suite *
mmtpratecontrol_suite (void)
{
  Suite *s = suite_create ("mmtpratecontrol");
  TCase *tc = tcase_create ("general");
  guint n = count_classes ();

  suite_add_tcase (s, tc);
  tcase_add_test (tc, finds_algorithms_by_name);
  tcase_add_loop_test (tc, fills_a_constant_path, 0, n);
  tcase_add_loop_test (tc, follows_rate_steps, 0, n);
  tcase_add_loop_test (tc, leaves_room_for_a_limited_source, 0, n);
  tcase_add_loop_test (tc, survives_random_losses, 0, n);
  tcase_add_loop_test (tc, uses_a_long_path_with_a_short_queue, 0, n);
  tcase_add_loop_test (tc, resumes_after_a_gap, 0, n);
  tcase_add_loop_test (tc, resumes_a_limited_source_after_a_gap, 0, n);
  tcase_add_test (tc, cautious_estimate_does_not_end_the_start);
  tcase_add_test (tc, first_window_follows_the_round_trip);
  tcase_add_test (tc, train_enlarges_the_first_window);
  tcase_add_test (tc, start_is_fast_on_a_long_round_trip);
  tcase_add_test (tc, overflow_keeps_the_rate_of_a_long_path);
  tcase_add_test (tc, window_falls_sooner_while_a_queue_stands);
  tcase_add_test (tc, reserve_grows_when_only_the_return_path_is_interrupted);
  tcase_add_test (tc, reserve_is_the_usual_one_after_a_loss);
  tcase_add_test (tc, rare_reports_are_no_silence);
  tcase_add_test (tc, configured_path_drains_a_standing_queue);
  return s;
}

GST_CHECK_MAIN (mmtpratecontrol);
