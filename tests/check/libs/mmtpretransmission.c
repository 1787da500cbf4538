/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks which packets in flight are sent again because the delay of their path
 * has grown, and which of them are not sent again because they have arrived in
 * the meantime. The sender has two paths. A packet is in flight on the first
 * one, and the second one is fast. Times are in ns. */

#include <gst/check/gstcheck.h>

#include "mmtpretransmission.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define START (10000 * MS)
#define LATENCY (450 * MS)
#define RATE 1000000            /* bit/s */
/* one-way delays of the two paths at first */
#define DELAY (100 * MS)
#define FAST (20 * MS)

typedef struct
{
  MmtpPaths paths;
  MmtpSendQueue *queue;
  MmtpPolicy policy;
  MmtpRetransmission retransmission;
} Fixture;

static void
note_discarded (gpointer user_data, const MmtpUnit * unit,
    MmtpDiscard reason, gboolean is_needed)
{
}

/* Adds a path. The first reported message took the time `delay`. */
static void
add_path (Fixture * fixture, const gchar * name, guint64 rate, guint64 delay)
{
  const MmtpPathConfig config = { (gchar *) name, 1472, 28, rate, 0 };
  const MmtpFirstRate first = { RATE };
  MmtpPath *path = mmtp_paths_add (&fixture->paths, name);

  mmtp_path_open (path, START, &config);
  mmtp_path_add_round_trip (path, START, 2 * delay);
  mmtp_path_start (path, START, mmtp_rate_control_find (NULL), &first);
  path->state = MMTP_PATH_ACTIVE;
  path->confirmed = TRUE;
  mmtp_path_delay_add (&path->delays, START, delay, delay, delay, 1);
  mmtp_path_update_delay (path, START, 0);
}

static void
fixture_init (Fixture * fixture, guint64 rate, MmtpSchedulerType scheduler)
{
  memset (fixture, 0, sizeof (*fixture));
  mmtp_paths_init (&fixture->paths);
  fixture->paths.now = START;
  add_path (fixture, "slow", rate, DELAY);
  add_path (fixture, "fast", 0, FAST);
  fixture->queue = mmtp_send_queue_new (G_MAXUINT32, note_discarded, NULL);
  mmtp_send_queue_set_delay (fixture->queue, LATENCY);
  mmtp_policy_init (&fixture->policy, &fixture->paths, fixture->queue,
      scheduler);
  mmtp_retransmission_init (&fixture->retransmission, &fixture->paths,
      fixture->queue, &fixture->policy, TRUE);
}

static void
fixture_clear (Fixture * fixture)
{
  mmtp_policy_clear (&fixture->policy);
  mmtp_send_queue_free (fixture->queue);
  mmtp_paths_clear (&fixture->paths);
}

/* Sends a frame of one packet on the slow path, at its due time. */
static void
send (Fixture * fixture, guint8 flags)
{
  MmtpPath *path = fixture->paths.all[0];
  const MmtpPutLimits limits = { 1000, 0, G_MAXUINT64, 0 };
  MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (500), 500),
    fixture->paths.now, flags | MMTP_FLAG_MARKER
  };
  MmtpPacket *packet;

  fail_unless (mmtp_send_queue_put (fixture->queue, fixture->paths.now,
          &buffer, &limits));
  g_bytes_unref (buffer.data);
  packet = mmtp_send_queue_get_head (fixture->queue);
  mmtp_path_sent (path, fixture->paths.now, 500, packet->number, TRUE);
  mmtp_path_note_slack (path, LATENCY, DELAY);
  mmtp_send_queue_note_sent (fixture->queue, packet, 0, path->sent.next - 1);
}

/* Initializes the fixture with the default scheduler and unknown rates. Sends a
 * key frame and a frame that refers to it. */
static void
init_with_two_frames (Fixture * fixture)
{
  fixture_init (fixture, 0, MMTP_SCHEDULER_ARRIVAL);
  send (fixture, 0);
  send (fixture, MMTP_FLAG_DELTA);
}

/* The newest message that arrived over the slow path took the time `delay`. */
static void
report (Fixture * fixture, guint64 delay)
{
  mmtp_path_delay_add (&fixture->paths.all[0]->delays, fixture->paths.now,
      delay, delay, delay, 1);
  fixture->paths.all[0]->measured_time = fixture->paths.now;
  mmtp_path_update_delay (fixture->paths.all[0], fixture->paths.now, 0);
}

/* Returns whether a packet is sent again on the fast path. */
static gboolean
sends_again (Fixture * fixture)
{
  mmtp_retransmission_rescue (&fixture->retransmission, fixture->paths.all[0]);
  return !mmtp_send_queue_is_empty (fixture->queue);
}

/* A key frame and a frame that refers to it are in flight. When the delay of
 * their path grows, they are sent again only if they would be late. */
GST_START_TEST (packets_that_have_become_late_are_sent_again)
{
  Fixture fixture;

  init_with_two_frames (&fixture);
  fixture.paths.now += 100 * MS;
  report (&fixture, 400 * MS);
  fail_if (sends_again (&fixture));
  fixture.paths.now += 100 * MS;
  report (&fixture, 451 * MS);
  fail_unless (sends_again (&fixture));
  fail_unless_equals_uint64 (mmtp_send_queue_get_head (fixture.queue)->number,
      0);
  fail_unless_equals_uint64 (mmtp_send_queue_get_tail (fixture.queue)->number,
      1);
  fail_unless_equals_uint64 (fixture.paths.all[0]->stats.requeued, 2);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Several reports that arrive within 10 ms cause only one search. */
GST_START_TEST (late_packets_are_searched_every_10_ms)
{
  Fixture fixture;

  init_with_two_frames (&fixture);
  fixture.paths.now += MS;
  report (&fixture, DELAY);
  fail_if (sends_again (&fixture));
  fixture.paths.now += 9 * MS;
  report (&fixture, 500 * MS);
  fail_if (sends_again (&fixture));
  fixture.paths.now += MS;
  fail_unless (sends_again (&fixture));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A packet that was sent after the newest report is not sent again because of
 * this report. */
GST_START_TEST (old_report_says_nothing_about_new_packets)
{
  Fixture fixture;

  fixture_init (&fixture, 0, MMTP_SCHEDULER_ARRIVAL);
  report (&fixture, 500 * MS);
  send (&fixture, 0);
  send (&fixture, MMTP_FLAG_DELTA);
  fixture.paths.now += 20 * MS;
  fail_if (sends_again (&fixture));
  fixture.paths.now += 10 * MS;
  report (&fixture, 500 * MS);
  fail_unless (sends_again (&fixture));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A packet that would be late on the other path, too, is not sent again. */
GST_START_TEST (packet_that_no_path_delivers_in_time_is_not_sent_again)
{
  Fixture fixture;

  init_with_two_frames (&fixture);
  fixture.paths.now += LATENCY - FAST + MS;
  report (&fixture, 500 * MS);
  fail_if (sends_again (&fixture));
  fixture_clear (&fixture);
}

GST_END_TEST;

static gboolean
sends_late_packet_again (guint64 rate, MmtpSchedulerType scheduler,
    guint8 second_flags)
{
  gboolean result;
  Fixture fixture;

  fixture_init (&fixture, rate, scheduler);
  send (&fixture, 0);
  send (&fixture, second_flags);
  fixture.paths.now += 100 * MS;
  report (&fixture, 500 * MS);
  result = sends_again (&fixture);
  fixture_clear (&fixture);
  return result;
}

/* Packets that have become late are not sent again in three cases: if no frame
 * refers to another frame, if the rate of the path is configured, and if the
 * scheduler ignores delays. */
GST_START_TEST (some_late_packets_are_not_sent_again)
{
  fail_unless (sends_late_packet_again (0, MMTP_SCHEDULER_ARRIVAL,
          MMTP_FLAG_DELTA));
  fail_unless (sends_late_packet_again (0, MMTP_SCHEDULER_MMTP,
          MMTP_FLAG_DELTA));
  fail_if (sends_late_packet_again (0, MMTP_SCHEDULER_ARRIVAL, 0));
  fail_if (sends_late_packet_again (RATE, MMTP_SCHEDULER_ARRIVAL,
          MMTP_FLAG_DELTA));
  fail_if (sends_late_packet_again (0, MMTP_SCHEDULER_EQUAL_TURNS,
          MMTP_FLAG_DELTA));
  fail_if (sends_late_packet_again (0, MMTP_SCHEDULER_LOWEST_DELAY,
          MMTP_FLAG_DELTA));
}

GST_END_TEST;

/* Does the same as init_with_two_frames (). Then the packets of both frames wait
 * to be sent again, because they would be late. */
static void
init_with_two_late_frames (Fixture * fixture)
{
  init_with_two_frames (fixture);
  fixture->paths.now += 100 * MS;
  report (fixture, 500 * MS);
  fail_unless (sends_again (fixture));
}

/* A REPORT covers all messages that were sent on the slow path. It says that all
 * of them have arrived, except those that were noted as missed before. */
static void
report_arrivals (Fixture * fixture)
{
  MmtpPath *path = fixture->paths.all[0];
  const guint64 first = path->sent.unreported;

  mmtp_path_settle (path, fixture->paths.now, path->sent.next - 1);
  mmtp_retransmission_take_arrivals (&fixture->retransmission, path, first);
}

/* Two packets wait to be sent again because they would be late. A REPORT then
 * says that they have arrived after all. */
GST_START_TEST (packet_that_has_arrived_is_not_sent_again)
{
  Fixture fixture;

  init_with_two_late_frames (&fixture);
  report_arrivals (&fixture);
  fail_unless (mmtp_send_queue_is_empty (fixture.queue));
  /* If the packets did not arrive after all, they can be put back again. */
  fail_unless (mmtp_send_queue_requeue (fixture.queue,
          mmtp_send_queue_get_packet (fixture.queue, 1), fixture.paths.now));
  fail_unless_equals_uint64 (mmtp_send_queue_get_head (fixture.queue)->number,
      1);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The same, but the REPORT says that the first packet was lost. Only this packet
 * is sent again. */
GST_START_TEST (lost_packet_still_waits_to_be_sent_again)
{
  Fixture fixture;

  init_with_two_late_frames (&fixture);
  mmtp_path_note_missed (fixture.paths.all[0], 0);
  report_arrivals (&fixture);
  fail_unless_equals_uint64 (mmtp_send_queue_get_head (fixture.queue)->number,
      0);
  fail_unless (mmtp_send_queue_get_head (fixture.queue) ==
      mmtp_send_queue_get_tail (fixture.queue));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A packet was sent again on the fast path and waits once more. A REPORT about
 * the slow path says nothing about the transmission on the fast path. */
GST_START_TEST (arrival_concerns_only_the_last_transmission)
{
  Fixture fixture;
  MmtpPacket *packet;

  init_with_two_late_frames (&fixture);
  packet = mmtp_send_queue_get_head (fixture.queue);
  mmtp_send_queue_note_sent (fixture.queue, packet, 1, 0);
  fail_unless (mmtp_send_queue_requeue (fixture.queue, packet,
          fixture.paths.now));
  report_arrivals (&fixture);
  fail_unless (mmtp_send_queue_get_head (fixture.queue) == packet);
  fail_unless (mmtp_send_queue_get_tail (fixture.queue) == packet);
  fixture_clear (&fixture);
}

GST_END_TEST;

static Suite *
mmtpretransmission_suite (void)
{
  Suite *s = suite_create ("mmtpretransmission");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, packets_that_have_become_late_are_sent_again);
  tcase_add_test (tc, late_packets_are_searched_every_10_ms);
  tcase_add_test (tc, old_report_says_nothing_about_new_packets);
  tcase_add_test (tc, packet_that_no_path_delivers_in_time_is_not_sent_again);
  tcase_add_test (tc, some_late_packets_are_not_sent_again);
  tcase_add_test (tc, packet_that_has_arrived_is_not_sent_again);
  tcase_add_test (tc, lost_packet_still_waits_to_be_sent_again);
  tcase_add_test (tc, arrival_concerns_only_the_last_transmission);
  return s;
}

GST_CHECK_MAIN (mmtpretransmission);
