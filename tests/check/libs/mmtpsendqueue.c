/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the send queue of MMTP on its own, without a network path. The tests
 * check in which order packets leave the queue, which packets it drops, and
 * what happens to a packet that was sent. */

#include <gst/check/gstcheck.h>

#include "mmtpsendqueue.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define DELAY (100 * MS)
#define MAX_BYTES 10000
#define KEY MMTP_FLAG_MARKER
#define DELTA (MMTP_FLAG_MARKER | MMTP_FLAG_DELTA)
#define DROPPABLE (DELTA | MMTP_FLAG_DROPPABLE)

static guint n_discarded;
static MmtpDiscard last_reason;

static void
note_discarded (gpointer user_data, const MmtpUnit * unit,
    MmtpDiscard reason, gboolean is_needed)
{
  n_discarded++;
  last_reason = reason;
}

static MmtpSendQueue *
new_queue (void)
{
  MmtpSendQueue *queue = mmtp_send_queue_new (MAX_BYTES, note_discarded, NULL);

  mmtp_send_queue_set_delay (queue, DELAY);
  n_discarded = 0;
  return queue;
}

static gboolean
put_with (MmtpSendQueue * queue, guint64 due, guint8 flags, gsize size,
    guint64 capacity)
{
  const MmtpPutLimits limits = { 1000, 0, capacity, 0 };
  MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (size), size), due, flags };
  gboolean is_taken = mmtp_send_queue_put (queue, 0, &buffer, &limits);

  g_bytes_unref (buffer.data);
  return is_taken;
}

static gboolean
put (MmtpSendQueue * queue, guint64 due, guint8 flags, gsize size)
{
  return put_with (queue, due, flags, size, G_MAXUINT64);
}

/* Marks the first packet of the queue, which is the most urgent one, as sent.
 * Returns the number of this packet. */
static guint64
send_head (MmtpSendQueue * queue)
{
  MmtpPacket *head = mmtp_send_queue_get_head (queue);

  fail_unless (head != NULL);
  fail_unless (mmtp_send_queue_note_sent (queue, head, 0, head->number));
  return head->number;
}

GST_START_TEST (packets_leave_in_the_order_of_their_deadlines)
{
  MmtpSendQueue *queue = new_queue ();

  fail_unless (put (queue, 0, KEY, 500));
  fail_unless (put (queue, 40 * MS, DELTA, 500));
  fail_unless (put (queue, 20 * MS, DROPPABLE, 500));
  fail_unless_equals_uint64 (mmtp_send_queue_get_bytes (queue), 1500);
  fail_unless_equals_uint64 (mmtp_send_queue_get_tail (queue)->due, 40 * MS);
  fail_unless_equals_uint64 (send_head (queue), 0);
  fail_unless_equals_uint64 (send_head (queue), 2);
  fail_unless_equals_uint64 (send_head (queue), 1);
  fail_unless (mmtp_send_queue_is_empty (queue));
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (long_buffer_becomes_several_packets)
{
  MmtpSendQueue *queue = new_queue ();
  const gsize room = 1000 - MMTP_DATA_OVERHEAD;
  MmtpSendQueueStats stats;

  fail_unless (put (queue, 0, KEY, 2 * room + 1));
  mmtp_send_queue_get_stats (queue, &stats);
  fail_unless_equals_uint64 (stats.packets, 3);
  fail_unless_equals_uint64 (mmtp_send_queue_get_next_number (queue), 3);
  fail_unless_equals_uint64 (mmtp_send_queue_get_packet (queue, 0)->size, room);
  fail_unless_equals_uint64 (mmtp_send_queue_get_packet (queue, 2)->size, 1);
  fail_if (mmtp_send_queue_get_packet (queue, 3));
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (late_reference_takes_its_group_with_it)
{
  MmtpSendQueue *queue = new_queue ();
  MmtpSendQueueStats stats;

  fail_unless (put (queue, 0, KEY, 500));
  fail_unless (put (queue, 40 * MS, DELTA, 500));
  fail_unless (put (queue, 80 * MS, DROPPABLE, 500));
  fail_unless (put (queue, 120 * MS, KEY, 500));
  mmtp_send_queue_expire (queue, DELAY);
  fail_unless_equals_int (n_discarded, 0);
  mmtp_send_queue_expire (queue, DELAY + 1);
  fail_unless_equals_int (n_discarded, 3);
  mmtp_send_queue_get_stats (queue, &stats);
  fail_unless_equals_uint64 (stats.discarded[MMTP_DISCARD_LATE], 1);
  fail_unless_equals_uint64 (stats.discarded[MMTP_DISCARD_BROKEN], 2);
  fail_unless_equals_uint64 (send_head (queue), 3);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (full_queue_gives_up_what_is_less_important)
{
  MmtpSendQueue *queue = new_queue ();
  MmtpSendQueueStats stats;

  fail_unless (put (queue, 0, KEY, 4000));
  fail_unless (put (queue, 40 * MS, DROPPABLE, 4000));
  fail_if (put (queue, 60 * MS, DROPPABLE, 4000));
  fail_unless_equals_int (last_reason, MMTP_DISCARD_ROOM);
  fail_unless (put (queue, 80 * MS, DELTA, 4000));
  mmtp_send_queue_get_stats (queue, &stats);
  fail_unless_equals_uint64 (stats.discarded[MMTP_DISCARD_ROOM], 2);
  fail_unless_equals_uint64 (stats.discarded_droppable, 2);
  fail_unless_equals_uint64 (mmtp_send_queue_get_bytes (queue), 8000);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (buffer_beyond_the_capacity_is_refused)
{
  MmtpSendQueue *queue = new_queue ();

  fail_unless (put_with (queue, 0, KEY, 500, 1000));
  fail_if (put_with (queue, 40 * MS, DELTA, 500, 1000));
  fail_unless_equals_int (last_reason, MMTP_DISCARD_LATE);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (sent_packet_waits_again_until_it_would_be_late)
{
  MmtpSendQueue *queue = new_queue ();
  MmtpPacket *packet;

  fail_unless (put (queue, 0, KEY, 500));
  packet = mmtp_send_queue_get_head (queue);
  fail_if (mmtp_send_queue_requeue (queue, packet, 0));
  send_head (queue);
  fail_if (mmtp_send_queue_requeue (queue, packet, DELAY + 1));
  fail_unless (mmtp_send_queue_requeue (queue, packet, DELAY));
  fail_if (mmtp_send_queue_note_sent (queue, packet, 1, 7));
  fail_unless_equals_int (packet->path, 1);
  fail_unless_equals_uint64 (packet->path_number, 7);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (late_packet_waits_for_the_maximum_lateness)
{
  MmtpSendQueue *queue = new_queue ();
  MmtpPacket *packet;
  MmtpPlan plan;

  mmtp_send_queue_set_max_lateness (queue, 7);
  fail_unless (put (queue, 0, KEY, 500));
  fail_unless (put (queue, 0, KEY, 500));
  packet = mmtp_send_queue_get_head (queue);
  fail_unless_equals_uint64 (mmtp_send_queue_get_deadline (queue, packet),
      packet->due + DELAY);
  fail_unless_equals_uint64 (mmtp_send_queue_get_last_time (queue, packet),
      packet->due + DELAY + 7);
  mmtp_send_queue_fill_plan (queue, &plan, 0);
  fail_unless_equals_uint64 (plan.frames[0].deadline, packet->due + DELAY + 7);
  send_head (queue);
  /* The queue may keep a packet after its deadline, until the maximum lateness
   * has passed. However, a lost packet must not be sent again after its
   * deadline. */
  fail_if (mmtp_send_queue_requeue (queue, packet, DELAY + 1));
  mmtp_send_queue_expire (queue, DELAY + 7);
  fail_if (mmtp_send_queue_is_empty (queue));
  mmtp_send_queue_expire (queue, DELAY + 8);
  fail_unless (mmtp_send_queue_is_empty (queue));
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

/* Returns the stream number of the first packet in a plan that skips
 * independent frames whose deadlines are before `earliest` (in ns). Checks that
 * the plan has `n` frames. */
static guint64
get_first_planned (const MmtpSendQueue * queue, guint64 earliest, guint n)
{
  MmtpPlan plan;

  mmtp_send_queue_fill_plan (queue, &plan, earliest);
  fail_unless_equals_int (plan.n, n);
  return plan.frames[0].first;
}

GST_START_TEST (plan_skips_independent_frames_with_early_deadlines)
{
  MmtpSendQueue *queue = new_queue ();
  MmtpPacket *lost;
  guint i;

  for (i = 0; i < 4; i++)
    fail_unless (put (queue, i * 40 * MS, KEY, 500));
  fail_unless_equals_uint64 (get_first_planned (queue, 0, 4), 0);
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY, 4), 0);
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY + 1, 3), 1);
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY + 120 * MS, 1), 3);
  /* If all frames would be skipped, none is skipped. */
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY + 121 * MS, 4), 0);
  /* A lost packet is not skipped, because its frame was sent already. */
  lost = mmtp_send_queue_get_head (queue);
  send_head (queue);
  fail_unless (mmtp_send_queue_requeue (queue, lost, DELAY));
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY + 41 * MS, 3), 0);
  /* No frame is skipped if a frame refers to another one. */
  fail_unless (put (queue, 160 * MS, DELTA, 500));
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY + 41 * MS, 5), 0);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

/* Each of the first two frames has two buffers, of which the first is sent. The
 * plan must contain the rest of both frames, and skip the third frame. */
GST_START_TEST (plan_does_not_skip_the_rest_of_a_frame)
{
  MmtpSendQueue *queue = new_queue ();
  MmtpPlan plan;
  guint i;

  for (i = 0; i < 8; i++)
    fail_unless (put (queue, i / 2 * 40 * MS, i % 2 ? KEY : 0, 500));
  for (i = 0; i < 2; i++)
    mmtp_send_queue_note_sent (queue, mmtp_send_queue_get_packet (queue, 2 * i),
        0, i);
  mmtp_send_queue_fill_plan (queue, &plan, DELAY + 81 * MS);
  fail_unless_equals_int (plan.n, 3);
  fail_unless_equals_uint64 (plan.frames[0].first, 1);
  fail_unless_equals_uint64 (plan.frames[1].first, 3);
  fail_unless_equals_uint64 (plan.frames[2].first, 6);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

/* With the maximum lateness, a packet is useful for some time after its
 * deadline. A plan must not wait for this time. */
GST_START_TEST (plan_skips_frames_by_their_deadlines)
{
  MmtpSendQueue *queue = new_queue ();

  mmtp_send_queue_set_max_lateness (queue, 7 * MS);
  fail_unless (put (queue, 0, KEY, 500));
  fail_unless (put (queue, 40 * MS, KEY, 500));
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY + 1, 1), 1);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

/* If very many frames have early deadlines, the plan goes on with the first
 * frame whose deadline is late enough. */
GST_START_TEST (plan_skips_thousands_of_frames)
{
  MmtpSendQueue *queue = new_queue ();
  guint i;

  for (i = 0; i < 3000; i++)
    fail_unless (put (queue, i * 1000, KEY, 1));
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY + 255 * 1000,
          MMTP_PLAN_FRAMES), 255);
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY + 256 * 1000,
          MMTP_PLAN_FRAMES), 256);
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY + 2990 * 1000, 10),
      2990);
  fail_unless_equals_uint64 (get_first_planned (queue, DELAY + 3000 * 1000,
          MMTP_PLAN_FRAMES), 0);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (reported_packets_are_forgotten)
{
  MmtpSendQueue *queue = new_queue ();
  MmtpPacket *lost;

  fail_unless (put (queue, 0, KEY, 500));
  fail_unless (put (queue, 40 * MS, DELTA, 500));
  send_head (queue);
  send_head (queue);
  lost = mmtp_send_queue_get_packet (queue, 1);
  mmtp_send_queue_set_speculative (queue, lost);
  fail_unless_equals_int (mmtp_send_queue_get_speculative (queue)->length, 1);
  mmtp_send_queue_settle (queue, 1);
  fail_unless_equals_uint64 (mmtp_send_queue_get_floor (queue), 1);
  mmtp_send_queue_settle (queue, 2);
  fail_unless_equals_uint64 (mmtp_send_queue_get_floor (queue), 2);
  fail_unless_equals_int (mmtp_send_queue_get_speculative (queue)->length, 0);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (lost_reference_makes_what_needs_it_wait_for_the_rest)
{
  MmtpSendQueue *queue = new_queue ();

  fail_unless (put (queue, 0, KEY, 500));
  fail_unless (put (queue, 40 * MS, DELTA, 500));
  fail_unless (put (queue, 80 * MS, KEY, 500));
  send_head (queue);
  mmtp_send_queue_note_lost (queue, mmtp_send_queue_get_packet (queue, 0));
  fail_unless_equals_int (mmtp_send_queue_get_packet (queue, 1)->unit->rank,
      MMTP_RANK_BROKEN);
  fail_unless_equals_int (mmtp_send_queue_get_packet (queue, 2)->unit->rank,
      MMTP_RANK_KEY);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (late_group_is_passed_over)
{
  MmtpSendQueue *queue = new_queue ();
  const guint64 arrival = DELAY + 10 * MS;
  MmtpPacket *found;
  guint64 late;

  fail_unless (put (queue, 0, KEY, 500));
  fail_unless (put (queue, 40 * MS, DELTA, 500));
  fail_unless (put (queue, 2000 * MS, KEY, 500));
  fail_unless (put (queue, 2040 * MS, DELTA, 500));
  late = mmtp_send_queue_get_late_group (queue, arrival);
  fail_unless (late != 0);
  found = mmtp_send_queue_find (queue, MMTP_RANK_DELTA, arrival, late);
  fail_unless_equals_uint64 (found->number, 3);
  found = mmtp_send_queue_find (queue, MMTP_RANK_DELTA, arrival, 0);
  fail_unless_equals_uint64 (found->number, 1);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

/* Masks of slots. A slot is a place in which the decoder stores a reference
 * picture. BASE is updated by the pictures of the base layer. MIDDLE is updated
 * by the pictures of the layer above it. Pictures of the highest layer update
 * no slot, because no picture refers to them. */
#define BASE 1
#define MIDDLE 2

static gboolean
put_layer (MmtpSendQueue * queue, guint64 due, guint layer, gsize size)
{
  static const MmtpPicture pictures[] = {
    {PICTURE_KIND_REFERENCE, FALSE, FALSE, 0, TRUE, BASE, BASE},
    {PICTURE_KIND_REFERENCE, FALSE, FALSE, 1, TRUE, BASE, MIDDLE},
    {PICTURE_KIND_DROPPABLE, FALSE, FALSE, 2, TRUE, BASE | MIDDLE, 0},
    {PICTURE_KIND_KEY, FALSE, FALSE, 0, TRUE, 0, G_MAXUINT32},
  };
  const MmtpPutLimits limits = { 1000, 0, G_MAXUINT64, 0 };
  MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (size), size), due, DELTA };
  gboolean is_taken;

  buffer.picture = pictures[layer];
  is_taken = mmtp_send_queue_put (queue, 0, &buffer, &limits);
  g_bytes_unref (buffer.data);
  return is_taken;
}

static gboolean
is_given_up (MmtpSendQueue * queue, guint64 number)
{
  return mmtp_send_queue_get_packet (queue, number)->unit->given_up;
}

GST_START_TEST (highest_layer_is_given_up_first)
{
  MmtpSendQueue *queue = new_queue ();

  /* The stream has three temporal layers. A picture of the base layer (layer 0)
   * refers only to pictures of the base layer, and a picture of layer 2 may
   * refer to all layers. Packet 0 of the queue is the key frame. The packets 1
   * to 4 are pictures of the layers 1, 2, 0 and 1. */
  fail_unless (put_layer (queue, 0, 3, 900));
  fail_unless (put_layer (queue, 20 * MS, 1, 900));
  fail_unless (put_layer (queue, 40 * MS, 2, 900));
  fail_unless (put_layer (queue, 60 * MS, 0, 900));
  fail_unless (put_layer (queue, 80 * MS, 1, 900));
  fail_unless_equals_int (mmtp_send_queue_get_packet (queue, 1)->unit->rank,
      MMTP_RANK_LAYER);
  /* The queue contains 4500 bytes, and its maximum is 10,000 bytes. The next
   * picture of the base layer has 6000 bytes, so a packet must be dropped to
   * make room for it. This must be packet 2, which belongs to the highest
   * layer. */
  fail_unless (put_layer (queue, 100 * MS, 0, 6000));
  fail_unless_equals_int (n_discarded, 1);
  fail_unless (is_given_up (queue, 2));
  fail_unless (put_layer (queue, 120 * MS, 0, 1000));
  fail_unless_equals_int (n_discarded, 2);
  fail_unless (is_given_up (queue, 4));
  fail_if (is_given_up (queue, 1));
  fail_if (is_given_up (queue, 3));
  /* Packet 4, a picture of layer 1, was dropped. The next picture is in layer 2
   * and refers to packet 4, so this next picture must be dropped as well. */
  fail_if (put_layer (queue, 130 * MS, 2, 100));
  fail_unless_equals_int (last_reason, MMTP_DISCARD_BROKEN);
  fail_unless (put_layer (queue, 140 * MS, 1, 100));
  fail_unless (put_layer (queue, 150 * MS, 2, 100));
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (picture_of_a_layer_takes_only_what_refers_to_it)
{
  MmtpSendQueue *queue = new_queue ();

  fail_unless (put_layer (queue, 0, 3, 500));
  fail_unless (put_layer (queue, 20 * MS, 1, 500));
  fail_unless (put_layer (queue, 40 * MS, 2, 500));
  fail_unless (put_layer (queue, 60 * MS, 0, 500));
  fail_unless (put_layer (queue, 80 * MS, 1, 500));
  fail_unless (put_layer (queue, 100 * MS, 2, 500));
  send_head (queue);
  /* Packets 1 and 2 are pictures of the layers 1 and 2. Packet 1 is late, so it
   * must be dropped, and so must packet 2, which refers to it. All other
   * packets must be kept. */
  mmtp_send_queue_expire (queue, DELAY + 30 * MS);
  fail_unless (is_given_up (queue, 1));
  fail_unless (is_given_up (queue, 2));
  fail_if (is_given_up (queue, 3));
  fail_if (is_given_up (queue, 4));
  fail_if (is_given_up (queue, 5));
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (lost_picture_of_a_layer_breaks_only_what_refers_to_it)
{
  MmtpSendQueue *queue = new_queue ();

  fail_unless (put_layer (queue, 0, 1, 500));
  fail_unless (put_layer (queue, 40 * MS, 2, 500));
  fail_unless (put_layer (queue, 80 * MS, 0, 500));
  send_head (queue);
  mmtp_send_queue_note_lost (queue, mmtp_send_queue_get_packet (queue, 0));
  fail_unless_equals_int (mmtp_send_queue_get_packet (queue, 1)->unit->rank,
      MMTP_RANK_BROKEN);
  fail_unless_equals_int (mmtp_send_queue_get_packet (queue, 2)->unit->rank,
      MMTP_RANK_DELTA);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

GST_START_TEST (flush_empties_it)
{
  MmtpSendQueue *queue = new_queue ();

  fail_unless (put (queue, 0, KEY, 500));
  fail_unless (put (queue, 40 * MS, DELTA, 500));
  send_head (queue);
  mmtp_send_queue_flush (queue);
  fail_unless (mmtp_send_queue_is_empty (queue));
  fail_unless_equals_uint64 (mmtp_send_queue_get_floor (queue),
      mmtp_send_queue_get_next_number (queue));
  fail_unless_equals_int (n_discarded, 0);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

/* The first buffer was sent completely and may still arrive. The test then
 * drops the whole queue. The first buffer must not count as discarded. The
 * other two buffers must count, because some of their packets were not sent. */
GST_START_TEST (giving_up_everything_counts_what_waits)
{
  MmtpSendQueue *queue = new_queue ();
  MmtpSendQueueStats stats;

  fail_unless (put (queue, 0, KEY, 500));
  fail_unless (put (queue, 40 * MS, DELTA, 1500));
  fail_unless (put (queue, 80 * MS, DROPPABLE, 500));
  send_head (queue);
  send_head (queue);
  mmtp_send_queue_give_up_all (queue, MMTP_DISCARD_CONNECTION);
  fail_unless_equals_int (n_discarded, 2);
  fail_unless_equals_int (last_reason, MMTP_DISCARD_CONNECTION);
  mmtp_send_queue_get_stats (queue, &stats);
  fail_unless_equals_uint64 (stats.discarded[MMTP_DISCARD_CONNECTION], 2);
  fail_unless_equals_uint64 (stats.discarded_droppable, 1);
  fail_unless (mmtp_send_queue_is_empty (queue));
  mmtp_send_queue_give_up_all (queue, MMTP_DISCARD_CONNECTION);
  fail_unless_equals_int (n_discarded, 2);
  mmtp_send_queue_free (queue);
}

GST_END_TEST;

static Suite *
mmtpsendqueue_suite (void)
{
  Suite *s = suite_create ("mmtpsendqueue");
  TCase *tc = tcase_create ("queue");

  tcase_add_test (tc, packets_leave_in_the_order_of_their_deadlines);
  tcase_add_test (tc, long_buffer_becomes_several_packets);
  tcase_add_test (tc, late_reference_takes_its_group_with_it);
  tcase_add_test (tc, full_queue_gives_up_what_is_less_important);
  tcase_add_test (tc, buffer_beyond_the_capacity_is_refused);
  tcase_add_test (tc, sent_packet_waits_again_until_it_would_be_late);
  tcase_add_test (tc, late_packet_waits_for_the_maximum_lateness);
  tcase_add_test (tc, plan_skips_independent_frames_with_early_deadlines);
  tcase_add_test (tc, plan_does_not_skip_the_rest_of_a_frame);
  tcase_add_test (tc, plan_skips_frames_by_their_deadlines);
  tcase_add_test (tc, plan_skips_thousands_of_frames);
  tcase_add_test (tc, reported_packets_are_forgotten);
  tcase_add_test (tc, lost_reference_makes_what_needs_it_wait_for_the_rest);
  tcase_add_test (tc, late_group_is_passed_over);
  tcase_add_test (tc, highest_layer_is_given_up_first);
  tcase_add_test (tc, picture_of_a_layer_takes_only_what_refers_to_it);
  tcase_add_test (tc, lost_picture_of_a_layer_breaks_only_what_refers_to_it);
  tcase_add_test (tc, flush_empties_it);
  tcase_add_test (tc, giving_up_everything_counts_what_waits);
  suite_add_tcase (s, tc);
  return s;
}

GST_CHECK_MAIN (mmtpsendqueue);
