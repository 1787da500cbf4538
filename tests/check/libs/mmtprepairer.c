/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A REPAIR is a parity message from which the receiver can compute a lost
 * packet. The sender can send REPAIRs before it knows about a loss. These tests
 * check for which packets it does so, on one path with losses. Times are in ms.
 */

#include <gst/check/gstcheck.h>

#include "mmtprepairer.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define START (10000 * MS)
#define MAX_SIZE 1472
#define PACKET 1000
/* LATENCY is the initial delay (D0), after which a packet is late. DELAY is the
 * one-way delay of the path. RATE is the rate of the path in bit/s.
 *
 * A retransmission of a lost packet arrives 475 ms after the packet was first
 * sent, so it is later than LATENCY. This time has three parts: 150 ms for the
 * packet, 175 ms until the sender gets the report of the loss (the one-way
 * delay and half of the report period of 50 ms), and 150 ms for the
 * retransmission. */
#define LATENCY (450 * MS)
#define DELAY (150 * MS)
#define RATE 1000000
/* Minimum number of packets that one REPAIR covers while other packets wait in
 * the queue. */
#define BLOCK 12

typedef struct
{
  MmtpPaths paths;
  MmtpPath *path;
  MmtpSendQueue *queue;
  MmtpPolicy policy;
  MmtpRepairer repairer;
  guint64 next;                 /* number of the next packet */
} Fixture;

static void
note_discarded (gpointer user_data, const MmtpUnit * unit,
    MmtpDiscard reason, gboolean is_needed)
{
}

static void
fixture_init (Fixture * fixture)
{
  MmtpPathConfig config = { "a", MAX_SIZE, 28, RATE, 0 };

  memset (fixture, 0, sizeof (*fixture));
  mmtp_paths_init (&fixture->paths);
  fixture->paths.now = START;
  fixture->path = mmtp_paths_add (&fixture->paths, "a");
  mmtp_path_open (fixture->path, START, &config);
  mmtp_path_add_round_trip (fixture->path, START, 2 * DELAY);
  mmtp_path_start (fixture->path, START, mmtp_rate_control_find (NULL), NULL);
  fixture->path->state = MMTP_PATH_ACTIVE;
  fixture->path->delay = fixture->path->high_delay = DELAY;
  fixture->path->report_period = 50 * MS;
  fixture->paths.fastest = 0;
  fixture->queue = mmtp_send_queue_new (G_MAXUINT32, note_discarded, NULL);
  mmtp_send_queue_set_delay (fixture->queue, LATENCY);
  mmtp_policy_init (&fixture->policy, &fixture->paths, fixture->queue,
      MMTP_SCHEDULER_ARRIVAL);
  mmtp_repairer_init (&fixture->repairer, &fixture->paths, fixture->queue,
      &fixture->policy, TRUE);
  mmtp_repairer_note_loss (&fixture->repairer, fixture->path);
}

static void
fixture_clear (Fixture * fixture)
{
  mmtp_repairer_clear (&fixture->repairer);
  mmtp_policy_clear (&fixture->policy);
  mmtp_send_queue_free (fixture->queue);
  mmtp_paths_clear (&fixture->paths);
}

/* Sends a packet whose due time was `age` ns before START, the time of sending.
 */
static void
send (Fixture * fixture, MmtpRank rank, guint64 age)
{
  MmtpUnit unit = { NULL };
  MmtpPacket packet = { &unit };
  guint8 bytes[PACKET] = { 0 };

  unit.rank = rank;
  unit.due = packet.due = START - age;
  packet.number = fixture->next++;
  packet.size = PACKET - MMTP_DATA_OVERHEAD;
  mmtp_repairer_cover (&fixture->repairer, fixture->path, &packet, bytes,
      PACKET);
}

static gboolean
plans_repair (const Fixture * fixture)
{
  return mmtp_repairer_next_wakeup (&fixture->repairer) != MMTP_NEVER;
}

static gboolean
sends_repair (const Fixture * fixture)
{
  MmtpRepair repair;

  return mmtp_repairer_poll (&fixture->repairer, &repair) == fixture->path;
}

/* Puts 100 packets into the sender's queue, more than the path can send in
 * time. */
static void
put_load (Fixture * fixture)
{
  const MmtpPutLimits limits = { MAX_SIZE, 0, G_MAXUINT64, 0 };
  guint i;

  for (i = 0; i < 100; i++) {
    MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (PACKET), PACKET), START,
      MMTP_FLAG_MARKER | MMTP_FLAG_DELTA
    };

    fail_unless (mmtp_send_queue_put (fixture->queue, START, &buffer, &limits));
    g_bytes_unref (buffer.data);
  }
}

static void
send_block (Fixture * fixture, MmtpRank rank)
{
  guint i;

  for (i = 0; i < BLOCK; i++)
    send (fixture, rank, LATENCY / 4);
}

GST_START_TEST (packet_is_covered_if_its_retransmission_would_be_late)
{
  Fixture fixture;

  /* The packet is sent at its due time, so its deadline is 450 ms later. If it
   * were lost, a retransmission would arrive after 475 ms, which is 25 ms late.
   * A REPAIR must therefore be planned. */
  fixture_init (&fixture);
  send (&fixture, MMTP_RANK_DELTA, 0);
  fail_unless (plans_repair (&fixture));
  fixture_clear (&fixture);

  /* The packet is sent 50 ms before its due time. Its deadline is 450 ms after
   * the due time, which is 500 ms after the packet is sent. If the packet were
   * lost, a retransmission would arrive 475 ms after the packet was sent. The
   * retransmission would be in time, so the sender must not plan a REPAIR (a
   * message from which the receiver can compute a lost packet). */
  fixture_init (&fixture);
  send (&fixture, MMTP_RANK_DELTA, -50 * MS);
  fail_if (plans_repair (&fixture));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* If a packet has already waited for long in the queue of the sender, no time
 * is left for a retransmission. A REPAIR must then be planned before a loss is
 * known. */
GST_START_TEST (packet_is_covered_if_it_waited_for_long)
{
  Fixture fixture;

  fixture_init (&fixture);
  mmtp_send_queue_set_delay (fixture.queue, 2 * LATENCY);
  send (&fixture, MMTP_RANK_DELTA, LATENCY - 50 * MS);
  fail_if (plans_repair (&fixture));
  send (&fixture, MMTP_RANK_DELTA, LATENCY);
  fail_unless (plans_repair (&fixture));
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (no_packet_is_covered_without_losses)
{
  Fixture fixture;

  fixture_init (&fixture);
  fixture.repairer.covers[0].loss_time = 0;
  send_block (&fixture, MMTP_RANK_DELTA);
  fail_if (plans_repair (&fixture));
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (reference_frames_are_repaired_under_load)
{
  Fixture fixture;

  fixture_init (&fixture);
  put_load (&fixture);
  send_block (&fixture, MMTP_RANK_DELTA);
  fail_unless (sends_repair (&fixture));
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (droppable_frames_are_not_repaired_under_load)
{
  Fixture fixture;

  fixture_init (&fixture);
  put_load (&fixture);
  send (&fixture, MMTP_RANK_DELTA, -LATENCY);
  send_block (&fixture, MMTP_RANK_DROPPABLE);
  fail_if (plans_repair (&fixture));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* If all frames are key frames, no frame refers to another one. The loss of a
 * frame then makes no other frame useless. A REPAIR, a parity message that
 * protects such a frame, is not worth the delay that it causes for other
 * packets. The sender is therefore not allowed to send a REPAIR while other
 * packets wait. */
GST_START_TEST (key_frames_alone_are_not_repaired_under_load)
{
  Fixture fixture;

  fixture_init (&fixture);
  put_load (&fixture);
  send_block (&fixture, MMTP_RANK_KEY);
  fail_if (sends_repair (&fixture));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* If the queue of a path has overflowed, REPAIRs would make it longer. The
 * sender must therefore send none while other packets wait. */
GST_START_TEST (overflowing_queue_gets_no_repairs_under_load)
{
  Fixture fixture;

  fixture_init (&fixture);
  fixture.path->limits.has_queue_losses = TRUE;
  put_load (&fixture);
  send_block (&fixture, MMTP_RANK_DELTA);
  fail_if (sends_repair (&fixture));
  fixture_clear (&fixture);

  /* If no other packets wait in the queue, a REPAIR delays no other packet. It
   * must therefore be sent in spite of the overflow. */
  fixture_init (&fixture);
  fixture.path->limits.has_queue_losses = TRUE;
  send_block (&fixture, MMTP_RANK_DELTA);
  fail_unless (sends_repair (&fixture));
  fixture_clear (&fixture);
}

GST_END_TEST;

static Suite *
mmtprepairer_suite (void)
{
  Suite *suite = suite_create ("mmtprepairer");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, packet_is_covered_if_its_retransmission_would_be_late);
  tcase_add_test (tc, packet_is_covered_if_it_waited_for_long);
  tcase_add_test (tc, no_packet_is_covered_without_losses);
  tcase_add_test (tc, reference_frames_are_repaired_under_load);
  tcase_add_test (tc, droppable_frames_are_not_repaired_under_load);
  tcase_add_test (tc, key_frames_alone_are_not_repaired_under_load);
  tcase_add_test (tc, overflowing_queue_gets_no_repairs_under_load);
  return suite;
}

GST_CHECK_MAIN (mmtprepairer);
