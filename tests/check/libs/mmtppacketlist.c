/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the list of the sender's waiting packets: its order, the search for a
 * packet by its due time, and the list that remains after packets were removed
 * at any position.
 */

#include <gst/check/gstcheck.h>

#include "mmtppacketlist.h"

#define N 1000
#define SIZE 100
#define SEED 7

static MmtpPacket packets[N];

/* Packet i has the number i. */
static void
insert (MmtpPacketList * list, guint i, guint64 due)
{
  packets[i].number = i;
  packets[i].due = due;
  packets[i].size = SIZE;
  mmtp_packet_list_insert (list, &packets[i]);
}

static void
take (MmtpPacketList * list, MmtpPacket * packet)
{
  fail_unless_equals_int (packet->state, MMTP_PACKET_WAITING);
  mmtp_packet_list_remove (list, packet, MMTP_PACKET_DONE);
  fail_unless_equals_int (packet->state, MMTP_PACKET_DONE);
}

/* Checks that the list consists of `n` packets in the right order. The list is
 * read once from its beginning and once from its end. */
static void
check_order (const MmtpPacketList * list, guint n)
{
  const MmtpPacket *packet = mmtp_packet_list_get_first (list), *next;
  guint i;

  fail_unless_equals_int (list->n, n);
  fail_unless_equals_uint64 (list->bytes, n * SIZE);
  fail_unless_equals_uint64 (mmtp_packet_list_get_work (list),
      n * mmtp_send_packet_get_work (SIZE));
  fail_unless ((packet == NULL) == (n == 0));
  for (i = 1; i < n; i++) {
    next = mmtp_packet_list_get_next (list, packet);
    fail_unless (next != NULL);
    fail_unless (mmtp_send_packet_compare (packet, next) < 0);
    fail_unless (mmtp_packet_list_get_previous (list, next) == packet);
    packet = next;
  }
  fail_unless (mmtp_packet_list_get_last (list) == packet);
  if (packet)
    fail_unless (mmtp_packet_list_get_next (list, packet) == NULL);
}

GST_START_TEST (empty_list_has_no_packet)
{
  MmtpPacketList list = { NULL };

  check_order (&list, 0);
  fail_unless (mmtp_packet_list_find (&list, 0) == NULL);
  mmtp_packet_list_clear (&list);
}

GST_END_TEST;

GST_START_TEST (packets_leave_in_the_order_in_which_they_came)
{
  MmtpPacketList list = { NULL };
  guint i;

  for (i = 0; i < N; i++) {
    insert (&list, i, i);
    if (i % 3 == 2)
      take (&list, mmtp_packet_list_get_first (&list));
  }
  check_order (&list, N - N / 3);
  for (i = N / 3; i < N; i++) {
    fail_unless_equals_uint64 (mmtp_packet_list_get_first (&list)->number, i);
    take (&list, &packets[i]);
  }
  check_order (&list, 0);
  mmtp_packet_list_clear (&list);
}

GST_END_TEST;

GST_START_TEST (packets_are_sorted_by_due_time_and_number)
{
  MmtpPacketList list = { NULL };
  GRand *rand = g_rand_new_with_seed (SEED);
  guint i;

  for (i = 0; i < N; i++)
    insert (&list, i, g_rand_int_range (rand, 0, N / 4));
  check_order (&list, N);
  mmtp_packet_list_clear (&list);
  g_rand_free (rand);
}

GST_END_TEST;

GST_START_TEST (older_packets_go_before_the_first_one)
{
  MmtpPacketList list = { NULL };
  guint i;

  for (i = 0; i < N; i++)
    insert (&list, i, N - i);
  check_order (&list, N);
  mmtp_packet_list_clear (&list);
}

GST_END_TEST;

GST_START_TEST (finds_the_first_packet_that_is_due_later)
{
  MmtpPacketList list = { NULL };
  guint i;

  for (i = 0; i < N; i++)
    insert (&list, i, 10 * (i / 2));
  fail_unless (mmtp_packet_list_find (&list, 0) == &packets[0]);
  fail_unless (mmtp_packet_list_find (&list, 1) == &packets[2]);
  fail_unless (mmtp_packet_list_find (&list, 20) == &packets[4]);
  fail_unless (mmtp_packet_list_find (&list, 5 * N) == NULL);
  take (&list, &packets[4]);
  fail_unless (mmtp_packet_list_find (&list, 20) == &packets[5]);
  take (&list, &packets[5]);
  fail_unless (mmtp_packet_list_find (&list, 20) == &packets[6]);
  mmtp_packet_list_clear (&list);
}

GST_END_TEST;

/* Inserts and removes packets at random places. The result of each search in
 * the list must be the same as that of a linear search through all packets. */
GST_START_TEST (order_survives_removals_anywhere)
{
  MmtpPacketList list = { NULL };
  GRand *rand = g_rand_new_with_seed (SEED);
  gboolean is_in[N] = { FALSE };
  guint n = 0, i, k;

  for (k = 0; k < 20 * N; k++) {
    const guint64 due = g_rand_int_range (rand, 0, N);
    const MmtpPacket *best = NULL;

    i = g_rand_int_range (rand, 0, N);
    if (is_in[i])
      take (&list, &packets[i]);
    else
      insert (&list, i, g_rand_int_range (rand, 0, N));
    is_in[i] = !is_in[i];
    n += is_in[i] ? 1 : -1;
    if (k % 100)
      continue;
    check_order (&list, n);
    for (i = 0; i < N; i++)
      if (is_in[i] && packets[i].due >= due
          && (!best || mmtp_send_packet_compare (&packets[i], best) < 0))
        best = &packets[i];
    fail_unless (mmtp_packet_list_find (&list, due) == best);
  }
  mmtp_packet_list_clear (&list);
  g_rand_free (rand);
}

GST_END_TEST;

/* The list keeps its packets in a ring buffer. When packets have been removed,
 * their places must be used again. Otherwise the ring buffer would grow without
 * limit. */
GST_START_TEST (ring_does_not_grow_with_removed_packets)
{
  MmtpPacketList list = { NULL };
  guint i, k;

  insert (&list, 0, 0);
  for (k = 1; k < 100; k++) {
    for (i = 1; i < N; i++)
      insert (&list, i, k * N + i);
    for (i = 2; i < N; i++)
      take (&list, &packets[i]);
    take (&list, &packets[1]);
  }
  check_order (&list, 1);
  fail_unless (list.size <= 2048);
  mmtp_packet_list_clear (&list);
}

GST_END_TEST;

static Suite *
mmtp_packet_list_suite (void)
{
  Suite *s = suite_create ("mmtppacketlist");
  TCase *tc = tcase_create ("list");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, empty_list_has_no_packet);
  tcase_add_test (tc, packets_leave_in_the_order_in_which_they_came);
  tcase_add_test (tc, packets_are_sorted_by_due_time_and_number);
  tcase_add_test (tc, older_packets_go_before_the_first_one);
  tcase_add_test (tc, finds_the_first_packet_that_is_due_later);
  tcase_add_test (tc, order_survives_removals_anywhere);
  tcase_add_test (tc, ring_does_not_grow_with_removed_packets);
  return s;
}

GST_CHECK_MAIN (mmtp_packet_list);
