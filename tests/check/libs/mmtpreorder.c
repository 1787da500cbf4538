/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the reorder buffer of the receiver, which puts packets into the order
 * of the stream and reassembles media buffers from them. Times in the tests are
 * in ms, and payloads are text. */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "mmtpreorder.h"

#define MS(n) ((n) * G_GUINT64_CONSTANT (1000000))

#define FIRST MMTP_FLAG_FIRST
#define LAST MMTP_FLAG_LAST
#define WHOLE (MMTP_FLAG_FIRST | MMTP_FLAG_LAST)

/* Adds a packet with the due time `due` in us and the deadline `deadline` in
 * ms. The due time is the time at which the packet would be shown if the
 * network took no time. The function add () passes the same number for both
 * arguments: 200, for example, means a due time of 200 us and a deadline of 200
 * ms. */
static MmtpReorderResult
add_due (MmtpReorder * reorder, guint64 now, guint32 number, guint8 flags,
    const gchar * text, guint64 due, guint64 deadline)
{
  MmtpData data = {
    .stream_number = number & 0xffffff,
    .due = due,
    .flags = flags,
    .payload = (const guint8 *) text,
    .payload_size = strlen (text)
  };

  return mmtp_reorder_add (reorder, MS (now), &data, due, MS (deadline));
}

static MmtpReorderResult
add (MmtpReorder * reorder, guint64 now, guint32 number, guint8 flags,
    const gchar * text, guint64 deadline)
{
  return add_due (reorder, now, number, flags, text, deadline, deadline);
}

/* Fetches all output of the reorder buffer and compares it with the text
 * `expected`. In this text, a comma separates two buffers, and a ! precedes a
 * buffer that follows a gap. */
static void
check_output (MmtpReorder * reorder, const gchar * expected)
{
  GString *out = g_string_new (NULL);
  MmtpReorderedBuffer buffer;

  while (mmtp_reorder_poll (reorder, &buffer)) {
    if (out->len > 0)
      g_string_append_c (out, ',');
    if (buffer.discont)
      g_string_append_c (out, '!');
    g_string_append_len (out, (const gchar *) buffer.data.bytes,
        buffer.data.size);
    datagram_slice_clear (&buffer.data);
  }
  fail_unless_equals_string (out->str, expected);
  g_string_free (out, TRUE);
}

GST_START_TEST (packets_in_order_are_output_at_once)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  fail_unless_equals_int (add (reorder, 0, 0, WHOLE, "a", 100),
      MMTP_REORDER_TAKEN);
  check_output (reorder, "a");
  add (reorder, 1, 1, FIRST, "b1", 100);
  check_output (reorder, "");
  add (reorder, 2, 2, 0, "b2", 100);
  add (reorder, 3, 3, LAST, "b3", 100);
  check_output (reorder, "b1b2b3");
  fail_unless (mmtp_reorder_next_wakeup (reorder) == MMTP_NEVER);
  fail_unless_equals_uint64 (mmtp_reorder_get_next (reorder), 4);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

GST_START_TEST (a_gap_is_filled_or_skipped_at_the_deadline_behind_it)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  add (reorder, 0, 1, WHOLE, "b", 200);
  add (reorder, 0, 3, WHOLE, "d", 400);
  fail_unless_equals_uint64 (mmtp_reorder_next_wakeup (reorder), MS (200));
  add (reorder, 50, 0, WHOLE, "a", 100);
  check_output (reorder, "a,b");
  fail_unless_equals_uint64 (mmtp_reorder_next_wakeup (reorder), MS (400));
  mmtp_reorder_timeout (reorder, MS (400) - 1);
  check_output (reorder, "");
  mmtp_reorder_timeout (reorder, MS (400));
  check_output (reorder, "!d");
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->missing, 1);
  /* Packet 2 was missing and was skipped at the deadline of a later packet.
   * When packet 2 arrives now, it must be refused and counted as late. */
  fail_unless_equals_int (add (reorder, 401, 2, WHOLE, "c", 300),
      MMTP_REORDER_LATE);
  fail_unless_equals_int (add (reorder, 402, 3, WHOLE, "d", 400),
      MMTP_REORDER_DUPLICATE);
  check_output (reorder, "");
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* Packets 1 and 2 wait for the missing packet 0. The deadline of packet 2 is
 * earlier than that of packet 1, for example because packet 2 is a B-frame.
 * Both packets must be output in order at the deadline of packet 2. */
GST_START_TEST (the_earliest_deadline_behind_a_gap_skips_it)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  add (reorder, 0, 1, WHOLE, "p", 300);
  add (reorder, 0, 2, WHOLE, "b", 200);
  add (reorder, 0, 4, WHOLE, "q", 250);
  fail_unless_equals_uint64 (mmtp_reorder_next_wakeup (reorder), MS (200));
  mmtp_reorder_timeout (reorder, MS (200));
  check_output (reorder, "!p,b");
  fail_unless_equals_uint64 (mmtp_reorder_next_wakeup (reorder), MS (250));
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

GST_START_TEST (a_buffer_that_misses_a_packet_is_dropped_whole)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  add (reorder, 0, 0, FIRST, "a1", 100);
  add (reorder, 0, 2, LAST, "a3", 100);
  add (reorder, 0, 3, FIRST, "b1", 200);
  add (reorder, 0, 4, LAST, "b2", 200);
  mmtp_reorder_timeout (reorder, MS (100));
  check_output (reorder, "!b1b2");
  /* The first packet of a buffer is missing, so the whole buffer must be
   * dropped. */
  add (reorder, 100, 6, LAST, "c2", 300);
  add (reorder, 100, 7, WHOLE, "d", 400);
  mmtp_reorder_timeout (reorder, MS (300));
  check_output (reorder, "!d");
  /* The last packet of a buffer is missing, so the whole buffer must be
   * dropped. */
  add (reorder, 300, 8, FIRST, "e1", 500);
  add (reorder, 300, 9, WHOLE, "f", 600);
  check_output (reorder, "!f");
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->incomplete, 3);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->missing, 2);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

GST_START_TEST (packets_of_a_buffer_agree)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  add_due (reorder, 0, 0, FIRST, "a1", 1000, 100);
  add_due (reorder, 0, 1, LAST, "a2", 1001, 100);
  add_due (reorder, 0, 2, FIRST, "b1", 1000, 100);
  add_due (reorder, 0, 3, LAST | MMTP_FLAG_DELTA, "b2", 1000, 100);
  add_due (reorder, 0, 4, FIRST, "c1", 1000, 100);
  add_due (reorder, 0, 5, LAST, "c2", 1000, 100);
  check_output (reorder, "!c1c2");
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->incomplete, 2);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

GST_START_TEST (each_packet_counts_once)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  add (reorder, 0, 1, WHOLE, "b", 100);
  fail_unless_equals_int (add (reorder, 0, 1, WHOLE, "b", 100),
      MMTP_REORDER_DUPLICATE);
  add (reorder, 0, 0, WHOLE, "a", 100);
  fail_unless_equals_int (add (reorder, 0, 0, WHOLE, "a", 100),
      MMTP_REORDER_DUPLICATE);
  /* A duplicate must be recognised even long after its deadline, and must not
   * count as late. */
  fail_unless_equals_int (add (reorder, 500, 0, WHOLE, "a", 100),
      MMTP_REORDER_DUPLICATE);
  check_output (reorder, "a,b");
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->packets, 2);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->duplicates, 3);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* Buffer b waits for the missing packet a. Packet a arrives after its deadline,
 * so it must be dropped, and buffer b must be output without it. */
GST_START_TEST (a_late_packet_makes_no_one_wait)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  add (reorder, 0, 1, WHOLE, "b", 500);
  fail_unless_equals_int (add (reorder, 100, 0, WHOLE, "a", 100),
      MMTP_REORDER_LATE);
  check_output (reorder, "!b");
  add (reorder, 110, 4, WHOLE, "e", 500);
  fail_unless_equals_int (add (reorder, 120, 3, WHOLE, "d", 110),
      MMTP_REORDER_LATE);
  add (reorder, 130, 2, WHOLE, "c", 500);
  check_output (reorder, "c,!e");
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->late, 2);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->missing, 2);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* A packet is late if it arrives after its deadline. The maximum lateness is 50
 * ms, so a packet that is less than 50 ms late must be accepted. Two further
 * rules hold for a late packet:
 * - If an earlier packet is missing, the late packet must wait for it, but only
 *   until the late packet itself is 50 ms late.
 * - If a packet with a higher number was already output, the late packet must
 *   be refused. */
GST_START_TEST (a_late_packet_in_order_is_passed_on)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  mmtp_reorder_set_max_lateness (reorder, MS (50));
  fail_unless_equals_int (add (reorder, 149, 0, WHOLE, "a", 100),
      MMTP_REORDER_TAKEN);
  check_output (reorder, "a");
  fail_unless_equals_int (add (reorder, 150, 1, WHOLE, "b", 100),
      MMTP_REORDER_LATE);
  fail_unless_equals_int (add (reorder, 160, 3, WHOLE, "d", 150),
      MMTP_REORDER_TAKEN);
  mmtp_reorder_timeout (reorder, MS (170));
  check_output (reorder, "");
  fail_unless_equals_int (add (reorder, 171, 2, WHOLE, "c", 140),
      MMTP_REORDER_TAKEN);
  check_output (reorder, "!c,d");
  fail_unless_equals_int (add (reorder, 172, 5, WHOLE, "f", 160),
      MMTP_REORDER_TAKEN);
  fail_unless_equals_uint64 (mmtp_reorder_next_wakeup (reorder), MS (210));
  mmtp_reorder_timeout (reorder, MS (210));
  check_output (reorder, "!f");
  fail_unless_equals_int (add (reorder, 211, 4, WHOLE, "e", 180),
      MMTP_REORDER_LATE);
  check_output (reorder, "");
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->late, 2);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->missing, 2);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* A packet must be dropped if it is late by more than the maximum lateness,
 * which is 50 ms here. At first, packet b has the deadline 200 ms, and packet d
 * has the deadline 251 ms. At the time 100 ms, a shift makes both deadlines
 * earlier by 151 ms:
 * - The new deadline of b is 49 ms. b is then 51 ms late, so it must be
 *   dropped.
 * - The new deadline of d is 100 ms. d is then not late, so it must be output.
 */
GST_START_TEST (a_shift_drops_what_is_too_late)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  mmtp_reorder_set_max_lateness (reorder, MS (50));
  add (reorder, 0, 1, WHOLE, "b", 200);
  add (reorder, 0, 3, WHOLE, "d", 251);
  mmtp_reorder_shift_deadlines (reorder, MS (100), -(gint64) MS (151));
  mmtp_reorder_timeout (reorder, MS (100));
  check_output (reorder, "!d");
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->late, 1);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

GST_START_TEST (below_the_floor_nothing_is_waited_for)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  add (reorder, 0, 2, WHOLE, "c", 500);
  add (reorder, 0, 5, WHOLE, "f", 500);
  mmtp_reorder_set_floor (reorder, 4);
  check_output (reorder, "!c");
  mmtp_reorder_set_floor (reorder, 3);
  fail_unless_equals_uint64 (mmtp_reorder_get_next (reorder), 4);
  mmtp_reorder_set_floor (reorder, 5);
  check_output (reorder, "!f");
  mmtp_reorder_set_floor (reorder, 3000000);
  fail_unless_equals_uint64 (mmtp_reorder_get_next (reorder), 3000000);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->missing,
      3000000 - 2);
  add (reorder, 0, 3000000, WHOLE, "x", 500);
  check_output (reorder, "!x");
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

GST_START_TEST (stream_numbers_wrap)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  mmtp_reorder_set_floor (reorder, 0xfffffe);
  add (reorder, 0, 0, WHOLE, "c", 500);
  add (reorder, 0, 0xffffff, WHOLE, "b", 500);
  add (reorder, 0, 0xfffffe, WHOLE, "a", 500);
  check_output (reorder, "!a,b,c");
  fail_unless_equals_uint64 (mmtp_reorder_get_next (reorder), 0x1000001);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* When the initial delay (D0) changes, the deadlines of all packets that
 * already wait must move, too: to a later time if D0 grows, and to an earlier
 * time if it shrinks. */
GST_START_TEST (deadlines_can_be_shifted)
{
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  add (reorder, 0, 1, WHOLE, "b", 200);
  add (reorder, 0, 2, WHOLE, "c", 300);
  add (reorder, 0, 4, WHOLE, "e", 300);
  mmtp_reorder_shift_deadlines (reorder, MS (0), MS (50));
  fail_unless_equals_uint64 (mmtp_reorder_next_wakeup (reorder), MS (250));
  mmtp_reorder_shift_deadlines (reorder, MS (140), -(gint64) MS (100));
  fail_unless_equals_uint64 (mmtp_reorder_next_wakeup (reorder), MS (150));
  /* At the time 141 ms, the next call moves the deadline of packet b from 150
   * to 140 ms, so b is late. It must be dropped, and only packet c must be
   * output. */
  mmtp_reorder_shift_deadlines (reorder, MS (141), -(gint64) MS (10));
  mmtp_reorder_timeout (reorder, MS (141));
  check_output (reorder, "!c");
  fail_unless_equals_uint64 (mmtp_reorder_next_wakeup (reorder), MS (240));
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->late, 1);
  /* Packet d is complete, and its deadline is 260 ms. At the time 261 ms, the
   * caller has not fetched d yet. The next call of the function
   * mmtp_reorder_shift_deadlines () moves the deadline to 259 ms. This time is
   * in the past, so d must be dropped. */
  add (reorder, 160, 3, WHOLE, "d", 260);
  mmtp_reorder_shift_deadlines (reorder, MS (261), -(gint64) MS (1));
  check_output (reorder, "");
  add (reorder, 270, 5, WHOLE, "f", 500);
  check_output (reorder, "!f");
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->incomplete, 2);
  fail_unless (mmtp_reorder_get_stats (reorder)->held_bytes == 0);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

#define MAX_BYTES 100000

/* One packet in 100 is missing, so the packets after it wait. When all output
 * has been fetched, the waiting packets must not occupy more than MAX_BYTES. */
GST_START_TEST (waiting_bytes_are_bounded)
{
  MmtpReorder *reorder = mmtp_reorder_new (MAX_BYTES);
  gchar payload[1001];
  MmtpReorderedBuffer buffer;
  guint i, n = 0, got = 0;

  memset (payload, 'x', sizeof (payload) - 1);
  payload[1000] = '\0';
  for (i = 0; i < 5000; i++) {
    if (i % 100 == 0)
      continue;
    add (reorder, i, i, WHOLE, payload, 1000000 + i);
    n++;
    fail_unless (mmtp_reorder_get_stats (reorder)->held_bytes <=
        3 * MAX_BYTES / 2);
    while (mmtp_reorder_poll (reorder, &buffer)) {
      datagram_slice_clear (&buffer.data);
      got++;
    }
    fail_unless (mmtp_reorder_get_stats (reorder)->held_bytes <= MAX_BYTES);
  }
  mmtp_reorder_timeout (reorder, MS (2000000));
  while (mmtp_reorder_poll (reorder, &buffer)) {
    datagram_slice_clear (&buffer.data);
    got++;
  }
  fail_unless_equals_int (got, n);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->missing, 50);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* A sender divides an application buffer into one or more packets. The reorder
 * buffer of the receiver holds at most a certain number of bytes (the limit),
 * and drops packets that would exceed the limit. There are two counters for the
 * dropped packets:
 * - `no_room` counts all dropped packets.
 * - `too_long` counts only some of them: those whose application buffer alone
 *   is larger than the limit. It does not matter whether this application
 *   buffer consists of one packet or of several.
 *
 * If an application buffer is smaller than the limit, but does not fit beside
 * the data that the reorder buffer holds already, only `no_room` must grow. */
GST_START_TEST (too_long_is_distinguished_from_no_room)
{
  MmtpReorder *reorder = mmtp_reorder_new (1000);
  gchar *text = g_strnfill (600, 'x');
  guint i;

  add (reorder, 0, 1, WHOLE, text, 100);
  add (reorder, 0, 2, WHOLE, text, 100);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->no_room, 1);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->too_long, 0);
  mmtp_reorder_free (reorder);

  reorder = mmtp_reorder_new (600);
  add (reorder, 0, 0, WHOLE, text, 100);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->too_long, 1);
  mmtp_reorder_free (reorder);

  reorder = mmtp_reorder_new (1000);
  for (i = 0; i < 3; i++)
    add (reorder, 0, i, i == 0 ? FIRST : i == 2 ? LAST : 0, text, 100);
  fail_unless (mmtp_reorder_get_stats (reorder)->too_long > 0);
  check_output (reorder, "");
  mmtp_reorder_free (reorder);
  g_free (text);
}

GST_END_TEST;

GST_START_TEST (unfetched_output_is_bounded)
{
  MmtpReorder *reorder = mmtp_reorder_new (MAX_BYTES);
  gchar payload[1001];
  guint i;

  memset (payload, 'x', sizeof (payload) - 1);
  payload[1000] = '\0';
  for (i = 0; i < 1000; i++)
    add (reorder, i, i, WHOLE, payload, 1000000 + i);
  fail_unless (mmtp_reorder_get_stats (reorder)->held_bytes <= MAX_BYTES);
  fail_unless (mmtp_reorder_get_stats (reorder)->no_room > 800);
  mmtp_reorder_free (reorder);

  /* A buffer that never ends. */
  reorder = mmtp_reorder_new (MAX_BYTES);
  for (i = 0; i < 1000; i++)
    add (reorder, 0, i, i == 0 ? FIRST : 0, payload, 1000000);
  add (reorder, 0, 1000, WHOLE, "z", 1000000);
  check_output (reorder, "!z");
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->incomplete, 1);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* MAX_BYTES must limit the sum of the bytes that the reorder buffer holds.
 * These are the bytes of packets that wait, of buffers that are being
 * reassembled, and of complete buffers that the caller has not fetched yet. */
GST_START_TEST (never_more_is_held_than_may_be)
{
  static const guint8 flags[] = { WHOLE, FIRST, 0, MMTP_FLAG_LAST };
  MmtpReorder *reorder = mmtp_reorder_new (MAX_BYTES);
  GRand *rand = g_rand_new_with_seed (7);
  MmtpReorderedBuffer buffer;
  gchar payload[1001] = { 0, };
  guint i;

  memset (payload, 'x', sizeof (payload) - 1);
  for (i = 0; i < 20000; i++) {
    payload[g_rand_int_range (rand, 0, 1001)] = '\0';
    add (reorder, i, i + g_rand_int_range (rand, 0, 100),
        flags[g_rand_int_range (rand, 0, 4)], payload, 1000000);
    memset (payload, 'x', sizeof (payload) - 1);
    fail_unless (mmtp_reorder_get_stats (reorder)->held_bytes <= MAX_BYTES);
    if (g_rand_int_range (rand, 0, 500) == 0)
      while (mmtp_reorder_poll (reorder, &buffer))
        datagram_slice_clear (&buffer.data);
  }
  g_rand_free (rand);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* A stream number has 24 bits in a message. Here each packet exceeds the
 * previous number by 2^23 - 1, which is the largest difference that these bits
 * allow. The gaps between the numbers must need neither much memory nor much
 * time. */
GST_START_TEST (far_jumps_are_bounded)
{
  MmtpReorder *reorder = mmtp_reorder_new (MAX_BYTES);
  guint32 number = 0;
  guint i;

  for (i = 0; i < 100; i++) {
    number += 0x7fffff;
    add (reorder, i, number & 0xffffff, WHOLE, "x", 1000000);
    fail_unless (mmtp_reorder_get_stats (reorder)->held_bytes <= MAX_BYTES);
  }
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->packets, 100);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* Maximum number of steps that the reorder buffer may need when 2^20 - 1 packet
 * numbers are skipped. The buffer has a bitmap of the waiting packets, a
 * summary of this bitmap, and a history with one bit for each packet number. A
 * step is an access to one word of these bit arrays. */
#define MAX_JUMP_STEPS 2048
#define LARGE_MAX_BYTES (64 * 1024 * 1024)

GST_START_TEST (the_work_of_a_jump_is_bounded)
{
  MmtpReorder *reorder = mmtp_reorder_new (LARGE_MAX_BYTES);
  guint64 before;
  guint32 number = 0;
  guint i;

  add (reorder, 0, 0, WHOLE, "a", 1000000);
  for (i = 0; i < 20; i++) {
    number += (1 << 20) - 1;
    before = mmtp_reorder_get_stats (reorder)->steps;
    add (reorder, 0, number & 0xffffff, WHOLE, "x", 1000000);
    fail_unless (mmtp_reorder_get_stats (reorder)->steps - before <=
        MAX_JUMP_STEPS);
  }
  before = mmtp_reorder_get_stats (reorder)->steps;
  mmtp_reorder_timeout (reorder, MS (1000000));
  fail_unless (mmtp_reorder_get_stats (reorder)->steps - before <=
      MAX_JUMP_STEPS);
  fail_unless_equals_uint64 (mmtp_reorder_get_next (reorder), number + 1);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->missing,
      number - 20);
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* A change of the initial delay (D0) may make some of the waiting packets late.
 * The reorder buffer must process only these packets, and not all packets that
 * wait. Here 10,000 packets wait, and the changes are so small that no packet
 * becomes late. The reorder buffer counts the steps of its work. This counter
 * must therefore not change. */
GST_START_TEST (the_work_of_a_shift_is_bounded)
{
  MmtpReorder *reorder = mmtp_reorder_new (LARGE_MAX_BYTES);
  guint64 before;
  guint i;

  for (i = 1; i <= 10000; i++)
    add (reorder, 0, 2 * i, WHOLE, "x", 1000 + i);
  before = mmtp_reorder_get_stats (reorder)->steps;
  for (i = 0; i < 1000; i++)
    mmtp_reorder_shift_deadlines (reorder, 0, i % 2 ? 1000 : -1000);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->steps, before);
  fail_unless_equals_uint64 (mmtp_reorder_next_wakeup (reorder), MS (1001));
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

/* Complete buffers wait until the caller fetches them. A change of the initial
 * delay (D0, the latency of the session) may make some of them late. The
 * reorder buffer must find these late buffers without visiting the complete
 * buffers that are not late. It must not output the late buffers, and must flag
 * the next buffer that it outputs as following a gap. */
GST_START_TEST (only_late_output_is_visited)
{
  MmtpReorder *reorder = mmtp_reorder_new (LARGE_MAX_BYTES);
  guint64 before;
  guint i;

  for (i = 0; i < 10000; i++)
    add (reorder, 0, i, WHOLE, i == 9996 ? "a" : i == 9999 ? "b" : "x",
        i == 9996 || i == 9999 ? 2000 : 1000 + i % 10);
  before = mmtp_reorder_get_stats (reorder)->steps;
  mmtp_reorder_shift_deadlines (reorder, MS (500), -(gint64) MS (500));
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->steps, before);
  /* The previous call has moved the deadlines of 1000 buffers from 1000 ms to
   * 500 ms. Now the time is 501 ms, so only these 1000 buffers are late. The
   * search for late buffers must visit no other buffer. */
  mmtp_reorder_shift_deadlines (reorder, MS (501), 0);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->steps - before,
      1000);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->incomplete,
      1000);
  mmtp_reorder_shift_deadlines (reorder, MS (1000), 0);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (reorder)->steps - before,
      9998);
  check_output (reorder, "!a,!b");
  mmtp_reorder_free (reorder);
}

GST_END_TEST;

static guint
drain (MmtpReorder * reorder, guint64 now, gint * last)
{
  MmtpReorderedBuffer buffer;
  guint n;

  for (n = 0; mmtp_reorder_poll (reorder, &buffer); n++) {
    fail_unless ((gint) buffer.due > *last);
    fail_unless (buffer.deadline >= now);
    *last = buffer.due;
    datagram_slice_clear (&buffer.data);
  }
  return n;
}

/* Packets arrive in random order, and some arrive after their deadlines. The
 * reorder buffer must output the packets in the order of the stream, and must
 * output exactly those that arrived in time. */
GST_START_TEST (any_order_comes_out_in_order_and_in_time)
{
  GRand *rand = g_rand_new_with_seed (6);
  guint round, i, j;

  for (round = 0; round < 50; round++) {
    MmtpReorder *reorder = mmtp_reorder_new (1000000);
    guint arrival[200], order[200], n = 200;
    gint last = -1;
    guint out = 0, in_time = 0;
    guint64 wakeup;

    for (i = 0; i < n; i++) {
      arrival[i] = i + g_rand_int_range (rand, 0, 60);
      order[i] = i;
    }
    for (i = 0; i < n; i++)
      for (j = 0; j + 1 < n; j++)
        if (arrival[order[j]] > arrival[order[j + 1]]) {
          guint swap = order[j];

          order[j] = order[j + 1];
          order[j + 1] = swap;
        }
    for (i = 0; i < n; i++) {
      guint number = order[i];
      guint64 now = arrival[number], deadline = number + 40;

      while ((wakeup = mmtp_reorder_next_wakeup (reorder)) <= MS (now)) {
        mmtp_reorder_timeout (reorder, wakeup);
        out += drain (reorder, wakeup, &last);
      }
      add (reorder, now, number, WHOLE, "x", deadline);
      in_time += now < deadline ? 1 : 0;
      out += drain (reorder, MS (now), &last);
    }
    while ((wakeup = mmtp_reorder_next_wakeup (reorder)) != MMTP_NEVER) {
      mmtp_reorder_timeout (reorder, wakeup);
      out += drain (reorder, wakeup, &last);
    }
    fail_unless_equals_int (out, in_time);
    mmtp_reorder_free (reorder);
  }
  g_rand_free (rand);
}

GST_END_TEST;

/* Adds a buffer that consists of a single packet with one byte of payload. The
 * packet lies in a block of memory from `pool`, like a packet that was received
 * from a socket. */
static void
add_in_block (MmtpReorder * reorder, DatagramPool * pool, guint32 number,
    guint8 payload)
{
  DatagramBlock *block = datagram_pool_take (pool);
  MmtpData data = {
    .stream_number = number,
    .flags = WHOLE,
    .payload = block->bytes + 1000,
    .payload_size = 1,
    .block = block
  };

  block->bytes[1000] = payload;
  fail_unless_equals_int (mmtp_reorder_add (reorder, 0, &data, 0, MS (100)),
      MMTP_REORDER_TAKEN);
  datagram_block_release (block);
}

/* The kernel delivers each datagram into a large block of memory. A packet that
 * arrives out of order may have to wait for long until the missing packets
 * arrive. It must not keep its large block during this time. The reorder buffer
 * must therefore copy the packet to memory of exactly its size, and release the
 * block. The copy counts towards max_bytes. */
GST_START_TEST (only_packets_in_order_keep_their_block)
{
  DatagramPool *pool = datagram_pool_new (65536, 10);
  MmtpReorder *reorder = mmtp_reorder_new (10000);

  add_in_block (reorder, pool, 1, 'b');
  add_in_block (reorder, pool, 2, 'c');
  fail_unless_equals_int (datagram_pool_get_used (pool), 0);
  add_in_block (reorder, pool, 0, 'a');
  fail_unless_equals_int (datagram_pool_get_used (pool), 1);
  check_output (reorder, "a,b,c");
  fail_unless_equals_int (datagram_pool_get_used (pool), 0);
  mmtp_reorder_free (reorder);
  datagram_pool_free (pool);
}

GST_END_TEST;

static Suite *
mmtpreorder_suite (void)
{
  Suite *s = suite_create ("mmtpreorder");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, packets_in_order_are_output_at_once);
  tcase_add_test (tc, only_packets_in_order_keep_their_block);
  tcase_add_test (tc, a_gap_is_filled_or_skipped_at_the_deadline_behind_it);
  tcase_add_test (tc, the_earliest_deadline_behind_a_gap_skips_it);
  tcase_add_test (tc, a_buffer_that_misses_a_packet_is_dropped_whole);
  tcase_add_test (tc, packets_of_a_buffer_agree);
  tcase_add_test (tc, each_packet_counts_once);
  tcase_add_test (tc, a_late_packet_makes_no_one_wait);
  tcase_add_test (tc, a_late_packet_in_order_is_passed_on);
  tcase_add_test (tc, a_shift_drops_what_is_too_late);
  tcase_add_test (tc, below_the_floor_nothing_is_waited_for);
  tcase_add_test (tc, stream_numbers_wrap);
  tcase_add_test (tc, deadlines_can_be_shifted);
  tcase_add_test (tc, waiting_bytes_are_bounded);
  tcase_add_test (tc, too_long_is_distinguished_from_no_room);
  tcase_add_test (tc, unfetched_output_is_bounded);
  tcase_add_test (tc, never_more_is_held_than_may_be);
  tcase_add_test (tc, far_jumps_are_bounded);
  tcase_add_test (tc, the_work_of_a_jump_is_bounded);
  tcase_add_test (tc, the_work_of_a_shift_is_bounded);
  tcase_add_test (tc, only_late_output_is_visited);
  tcase_add_test (tc, any_order_comes_out_in_order_and_in_time);
  return s;
}

GST_CHECK_MAIN (mmtpreorder);
