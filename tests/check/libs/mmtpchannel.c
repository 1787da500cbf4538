/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holds the sender's view of a channel to sections 4.4 to 4.6 of Magalhães and
 * Kravets and to docs/wire-mmtp.md sections 6 and 7. */

#include <gst/check/gstcheck.h>

#include "mmtpchannel.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)

/* 1372 + 28 bytes at 280 kbit/s are 40 ms: RangeLAN's 35 kbyte/s. */
#define SIZE 1372
#define RATE 280000
#define BYTES_PER_SECOND (RATE / 8 * SIZE / (SIZE + 28))

static MmtpChannel *
new_channel (guint64 rate)
{
  MmtpChannelConfig config = { "a", SIZE, 28, 0, 0 };
  MmtpChannel *channel = mmtp_channel_new (3, "a");

  mmtp_channel_open (channel, 0, &config);
  channel->rate = rate;
  mmtp_regulator_init (&channel->regulator, rate, FALSE);
  return channel;
}

static void
send (MmtpChannel * channel, guint64 now, guint n)
{
  while (n--)
    mmtp_channel_sent (channel, now, SIZE, channel->next + 1000, FALSE);
}

/* All that was sent has come. */
static void
fill_record (const MmtpChannel * channel, MmtpRecord * record)
{
  memset (record, 0, sizeof (*record));
  record->channel = channel->id;
  record->highest = channel->next - 1;
  record->received = channel->next;
  record->bytes = channel->stats.bytes;
  record->least_transit = 2000;
  record->high_transit = 3000;
}

static void
send_control (MmtpChannel * channel, guint64 now, guint n)
{
  while (n--)
    mmtp_channel_sent (channel, now, SIZE, MMTP_NO_STREAM, FALSE);
}

static void
note_missed (MmtpChannel * channel, guint64 number, guint n)
{
  while (n--)
    mmtp_channel_note_missed (channel, number++);
}

static void
send_pair (MmtpChannel * channel, guint64 now)
{
  mmtp_channel_sent (channel, now, SIZE, MMTP_NO_STREAM, FALSE);
  mmtp_channel_sent (channel, now, SIZE, MMTP_NO_STREAM, TRUE);
  mmtp_channel_pair_sent (channel, now);
}

/* --- tokens [4.4] -------------------------------------------------------- */

GST_START_TEST (token_comes_when_the_packet_has_gone)
{
  MmtpChannel *channel = new_channel (RATE);

  send (channel, 100 * MS, 1);
  /* idle time saves no token; a coarse timer's millisecond is not lost */
  fail_unless_equals_uint64 (channel->token, 139 * MS);
  send (channel, 139 * MS, 1);
  fail_unless_equals_uint64 (channel->token, 179 * MS);
  send (channel, 179 * MS, 2);
  fail_unless_equals_uint64 (channel->token, 259 * MS);
  fail_unless_equals_uint64 (mmtp_channel_get_cost (channel, SIZE), 40 * MS);
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (numbers_go_on_when_it_comes_back)
{
  MmtpChannelConfig config = { "a", 500, 48, 0, 0 };
  MmtpChannel *channel = new_channel (RATE);

  send (channel, 0, 100);
  fail_unless_equals_uint64 (mmtp_channel_get_sent (channel,
          99)->stream_number, 1099);
  fail_unless (mmtp_channel_get_sent (channel, 100) == NULL);
  mmtp_channel_open (channel, SECOND, &config);
  fail_unless_equals_uint64 (channel->next, 100);
  fail_unless_equals_uint64 (channel->unreported, 100);
  fail_unless_equals_uint64 (channel->rate, 0);
  fail_unless_equals_int (channel->longest, 500);
  fail_unless_equals_uint64 (mmtp_channel_get_cost (channel, 500), 0);
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (remembers_no_more_than_ranges_can_tell)
{
  MmtpChannel *channel = new_channel (RATE);
  guint64 number;

  send (channel, 0, 100000);
  fail_unless_equals_uint64 (channel->next - channel->kept, 32768);
  fail_unless (mmtp_channel_get_sent (channel, 67231) == NULL);
  channel->unreported = 99000;
  fail_unless (mmtp_channel_find_sent (channel, 70000 & 0xffff, &number));
  fail_unless_equals_uint64 (number, 70000);
  mmtp_channel_forget_sent (channel, 1);
  fail_unless_equals_uint64 (channel->kept, 99000);
  mmtp_channel_free (channel);
}

GST_END_TEST;

/* --- reports ------------------------------------------------------------- */

GST_START_TEST (more_than_was_sent_is_impossible)
{
  MmtpChannel *channel = new_channel (RATE);
  MmtpRecord record;

  send (channel, 0, 10);
  fill_record (channel, &record);
  fail_unless (mmtp_channel_is_possible (channel, &record));
  record.highest = 10;
  fail_if (mmtp_channel_is_possible (channel, &record));
  record.highest = 9;
  record.received = 11;
  fail_if (mmtp_channel_is_possible (channel, &record));
  record.received = 10;
  record.bytes++;
  fail_if (mmtp_channel_is_possible (channel, &record));
  mmtp_channel_free (channel);
}

GST_END_TEST;

/* Reports on different channels overtake each other, and 32 bits wrap. */
GST_START_TEST (counters_do_not_go_back)
{
  MmtpChannel *channel = new_channel (RATE);
  MmtpRecord record;

  send (channel, 0, 10);
  fill_record (channel, &record);
  record.received = 8;
  record.lost = 2;
  record.late = 3;
  fail_unless (mmtp_channel_report (channel, SECOND, &record));
  record.received = 6;
  record.lost = record.late = 1;
  fail_if (mmtp_channel_report (channel, SECOND, &record));
  fail_unless_equals_uint64 (channel->stats.reported, 8);
  fail_unless_equals_uint64 (channel->stats.lost, 2);
  fail_unless_equals_uint64 (channel->stats.late, 3);

  channel->stats.reported = channel->stats.lost = G_MAXUINT32 - 1;
  record.received = 3;
  record.lost = 1;
  fail_unless (mmtp_channel_report (channel, SECOND, &record));
  fail_unless_equals_uint64 (channel->stats.reported,
      G_GUINT64_CONSTANT (0x100000003));
  fail_unless_equals_uint64 (channel->stats.lost,
      G_GUINT64_CONSTANT (0x100000001));
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (delays_are_transits_less_the_offset)
{
  MmtpChannel *channel = new_channel (RATE);
  MmtpRecord record;

  mmtp_channel_update_delay (channel, -5 * (gint64) MS);
  fail_unless_equals_uint64 (channel->delay, MMTP_NEVER);
  send (channel, 0, 10);
  fill_record (channel, &record);
  fail_unless (mmtp_channel_report (channel, SECOND, &record));
  fail_if (mmtp_channel_report (channel, SECOND, &record));
  mmtp_channel_update_delay (channel, -5 * (gint64) MS);
  fail_unless_equals_uint64 (channel->delay, 25 * MS);
  fail_unless_equals_uint64 (channel->high_delay, 35 * MS);
  mmtp_channel_update_delay (channel, 22 * MS);
  fail_unless_equals_uint64 (channel->delay, 0);
  fail_unless_equals_uint64 (channel->high_delay, 8 * MS);
  mmtp_channel_free (channel);
}

GST_END_TEST;

/* "a silent link's old, beautiful round-trip time must age" */
GST_START_TEST (least_delay_ages)
{
  MmtpRecent recent = { 0 };
  guint i;

  fail_if (mmtp_recent_is_known (&recent));
  mmtp_recent_add (&recent, 0, 10, 1);
  for (i = 1; i <= 210; i++) {
    mmtp_recent_add (&recent, i * 100 * MS, 300, 1);
    fail_unless_equals_int (mmtp_recent_get (&recent), i < 200 ? 10 : 300);
  }
  mmtp_recent_clear (&recent);
  fail_if (mmtp_recent_is_known (&recent));
}

GST_END_TEST;

/* --- measuring [4.6] ----------------------------------------------------- */

GST_START_TEST (eight_pairs_measure_a_channel)
{
  MmtpChannel *channel = new_channel (0);
  MmtpRecord record;
  guint64 now = 0;
  guint i;

  mmtp_channel_add_round_trip (channel, 0, 200 * MS);
  mmtp_channel_begin_probing (channel, 0);
  fail_unless_equals_uint64 (channel->next_pair, 0);
  send_pair (channel, 0);
  /* nothing known: one pair only, until it is told of or has been lost */
  fail_unless_equals_uint64 (channel->next_pair, 2300 * MS);
  now = 280 * MS;
  fill_record (channel, &record);
  mmtp_channel_report (channel, now, &record);
  fail_unless_equals_uint64 (channel->next_pair, now);
  for (i = 1; i < 8; i++) {
    send_pair (channel, now);
    /* a pair took 80 ms longer than a short message */
    fail_unless_equals_uint64 (channel->next_pair, now + 140 * MS);
    now = channel->next_pair;
    mmtp_channel_update_delay (channel, 0);
    fail_if (mmtp_channel_finish_probing (channel, now));
  }
  fill_record (channel, &record);
  record.capacity = BYTES_PER_SECOND;
  mmtp_channel_report (channel, now, &record);
  fail_unless (mmtp_channel_finish_probing (channel, now));
  fail_unless_equals_uint64 (channel->rate, RATE / 100 * 97);
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (slow_channel_is_measured_by_what_there_is)
{
  MmtpChannel *channel = new_channel (0);
  MmtpRecord record;

  mmtp_channel_add_round_trip (channel, 0, 200 * MS);
  mmtp_channel_begin_probing (channel, 0);
  send_pair (channel, 0);
  fill_record (channel, &record);
  mmtp_channel_report (channel, 2440 * MS, &record);
  mmtp_channel_update_delay (channel, 0);
  fail_if (mmtp_channel_finish_probing (channel, 4999 * MS));
  fail_unless (mmtp_channel_finish_probing (channel, 5000 * MS));
  /* 2800 bytes in 2240 ms */
  fail_unless_equals_uint64 (channel->rate, 10000);
  mmtp_channel_free (channel);
}

GST_END_TEST;

/* --- rate [4.5] ---------------------------------------------------------- */

static MmtpChannel *
new_active (void)
{
  MmtpChannel *channel = new_channel (RATE);

  channel->state = MMTP_CHANNEL_ACTIVE;
  return channel;
}

static void
report_capacity (MmtpChannel * channel, guint64 now, guint64 percent)
{
  MmtpRecord record;

  send (channel, now, 1);
  fill_record (channel, &record);
  record.capacity = BYTES_PER_SECOND * percent / 100;
  mmtp_channel_report (channel, now, &record);
}

/* The regulator leaves a short queue standing: one percent more. */
static gboolean
is_about (guint64 rate, guint64 expected)
{
  return ABS ((gint64) rate - (gint64) expected) <= (gint64) expected / 100;
}

GST_START_TEST (rises_to_what_pairs_say)
{
  MmtpChannel *channel = new_active ();

  report_capacity (channel, SECOND, 200);
  fail_unless_equals_uint64 (channel->rate, RATE / 100 * 110);
  report_capacity (channel, 2 * SECOND, 113);
  fail_unless (is_about (channel->rate, RATE * 113 / 100 * 985 / 1000));
  /* a tenth less is perhaps an accident; more is followed in steps */
  report_capacity (channel, 3 * SECOND, 105);
  fail_unless (is_about (channel->rate, RATE * 113 / 100 * 985 / 1000));
  report_capacity (channel, 4 * SECOND, 100);
  fail_unless (is_about (channel->rate, RATE * 113 / 100 * 985 / 1000
          * 95 / 100));
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (falls_to_what_came_when_asked)
{
  MmtpChannel *channel = new_active ();
  MmtpDecrease decrease = { 3, 1, 100000, BYTES_PER_SECOND * 6 / 10 };
  const guint64 expected = RATE * 6 / 10 * 95 / 100;
  guint64 now = 0;
  guint i;

  for (i = 0; i < 50; i++, now += 40 * MS)
    send (channel, now, 1);
  fail_unless (mmtp_channel_decrease (channel, now, &decrease));
  fail_unless (is_about (channel->rate, expected));
  /* the queue that has grown is let go first */
  fail_unless_equals_uint64 (channel->token, now + 100 * MS);
  /* once for each number */
  decrease.rate /= 2;
  fail_unless (mmtp_channel_decrease (channel, now, &decrease));
  fail_unless (is_about (channel->rate, expected));
  fail_unless_equals_uint64 (channel->stats.decreases, 1);
  /* no increase for a while */
  report_capacity (channel, now + 500 * MS, 100);
  fail_unless (is_about (channel->rate, expected));
  report_capacity (channel, now + 10 * SECOND, 100);
  fail_unless (is_about (channel->rate, expected * 110 / 100));
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (ignores_a_rate_that_was_never_sent)
{
  MmtpChannel *channel = new_active ();
  MmtpDecrease decrease = { 3, 1, 0, BYTES_PER_SECOND * 3 };

  send (channel, 0, 1);
  fail_if (mmtp_channel_decrease (channel, 0, &decrease));
  fail_unless_equals_uint64 (channel->rate, RATE);
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (does_not_back_off_for_what_others_did)
{
  MmtpChannel *channel = new_active ();
  MmtpDecrease decrease = { 3, 1, 100000, BYTES_PER_SECOND / 10 };

  send (channel, 2 * SECOND, 3);
  fail_unless (mmtp_channel_decrease (channel, 3 * SECOND - 1, &decrease));
  fail_unless_equals_uint64 (channel->rate, RATE);
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (pairs_are_each_eighth_packet_and_each_second)
{
  MmtpChannel *channel = new_active ();

  channel->capacity = RATE;
  send (channel, 0, 7);
  fail_if (mmtp_channel_wants_pair (channel, 2 * SECOND));
  send (channel, 0, 1);
  fail_if (mmtp_channel_wants_pair (channel, SECOND - 1));
  fail_unless (mmtp_channel_wants_pair (channel, SECOND));
  mmtp_channel_pair_sent (channel, SECOND);
  fail_if (mmtp_channel_wants_pair (channel, 3 * SECOND));
  mmtp_channel_free (channel);
}

GST_END_TEST;

/* --- silence [4.6] ------------------------------------------------------- */

GST_START_TEST (is_overdue_when_a_report_should_have_been_there)
{
  MmtpChannel *channel = new_active ();
  MmtpRecord record;

  fail_unless_equals_uint64 (mmtp_channel_get_overdue (channel, 0, 0),
      MMTP_NEVER);
  send (channel, 0, 1);
  fill_record (channel, &record);
  mmtp_channel_report (channel, 30 * MS, &record);
  mmtp_channel_update_delay (channel, 0);
  fail_unless_equals_uint64 (mmtp_channel_get_overdue (channel, 0, 0),
      MMTP_NEVER);
  send (channel, 50 * MS, 1);
  send (channel, 90 * MS, 1);
  /* high delay 30 ms, round 225 ms, margin 10 ms, and another keep-alive as
   * long as one loss could be all */
  fail_unless_equals_uint64 (mmtp_channel_get_overdue (channel, 225 * MS,
          100 * MS), 415 * MS);
  send (channel, 100 * MS, 2);
  fail_unless_equals_uint64 (mmtp_channel_get_overdue (channel, 225 * MS,
          100 * MS), 315 * MS);
  record.highest = 1;
  record.received = 2;
  record.bytes = 2 * SIZE;
  mmtp_channel_report (channel, 310 * MS, &record);
  /* what came last was 260 ms old: a queue grows, it is not silent */
  fail_unless_equals_uint64 (mmtp_channel_get_overdue (channel, 225 * MS,
          100 * MS), (90 + 260 + 225 + 10 + 100) * MS);
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (does_not_deliver_when_only_small_messages_come)
{
  MmtpChannel *channel = new_active ();
  MmtpRecord record;

  send (channel, 0, 7);
  fill_record (channel, &record);
  record.received = 1;
  record.lost = 6;
  mmtp_channel_report (channel, SECOND, &record);
  note_missed (channel, 0, 6);
  fail_unless (mmtp_channel_delivers (channel));
  send (channel, 0, 1);
  record.highest++;
  record.received++;
  mmtp_channel_report (channel, SECOND, &record);
  fail_if (mmtp_channel_delivers (channel));
  send (channel, 0, 20);
  record.highest += 20;
  record.received += 20;
  mmtp_channel_report (channel, SECOND, &record);
  fail_unless (mmtp_channel_delivers (channel));
  mmtp_channel_free (channel);
}

GST_END_TEST;

/* Before the stream begins nearly all that is sent is control, and of a tenth
 * of it that is lost there is soon more than of probes. */
GST_START_TEST (lost_control_messages_are_no_measure)
{
  MmtpChannel *channel = new_active ();
  MmtpRecord record;

  send_control (channel, 0, 100);
  send (channel, 0, 8);
  fill_record (channel, &record);
  record.received = 93;
  record.lost = 15;
  mmtp_channel_report (channel, SECOND, &record);
  note_missed (channel, 0, 14);
  note_missed (channel, 107, 1);
  fail_unless (mmtp_channel_delivers (channel));
  /* told once more, it is the same loss */
  note_missed (channel, 107, 1);
  note_missed (channel, 107, 1);
  fail_unless (mmtp_channel_delivers (channel));
  fail_unless_equals_int (channel->missed, 1);
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (penance_doubles_up_to_ten_seconds)
{
  MmtpChannel *channel = new_active ();
  guint64 now = 0, expected = 300 * MS;
  guint i;

  for (i = 0; i < 8; i++) {
    mmtp_channel_fall_silent (channel, now);
    fail_unless_equals_uint64 (channel->penance, MIN (expected, 10 * SECOND));
    fail_unless_equals_uint64 (channel->high_delay, MMTP_NEVER);
    expected *= 2;
    now += 9 * SECOND;
  }
  now += 30 * SECOND;
  mmtp_channel_fall_silent (channel, now);
  fail_unless_equals_uint64 (channel->penance, 300 * MS);
  fail_unless_equals_uint64 (channel->stats.silences, 9);
  mmtp_channel_free (channel);
}

GST_END_TEST;

GST_START_TEST (comes_back_after_three_pairs_and_its_time)
{
  MmtpChannel *channel = new_active ();
  MmtpRecord record;
  guint64 now = 10 * SECOND;
  guint i;

  mmtp_channel_fall_silent (channel, 5 * SECOND);
  mmtp_channel_begin_probing (channel, now);
  for (i = 0; i < 4; i++) {
    send_pair (channel, now);
    fill_record (channel, &record);
    now += 50 * MS;
    mmtp_channel_report (channel, now, &record);
    mmtp_channel_update_delay (channel, 0);
    fail_unless (mmtp_channel_finish_probing (channel, now) == (i == 3));
    now += 50 * MS;
  }
  fail_unless (mmtp_channel_finish_probing (channel, now));
  fail_unless_equals_uint64 (channel->rate, RATE);
  mmtp_channel_free (channel);
}

GST_END_TEST;

/* Infrared of the paper: what is added to be safe would leave nothing. */
GST_START_TEST (safety_leaves_an_eighth_of_the_time_for_waiting)
{
  MmtpChannel *channel = new_channel (RATE);

  channel->delay = 197 * MS;
  channel->high_delay = 746 * MS;
  fail_unless (mmtp_channel_get_safe_delay (channel) >=
      746 * MS + 549 * MS / 4);
  channel->deadline = SECOND;
  fail_unless_equals_uint64 (mmtp_channel_get_safe_delay (channel), 875 * MS);
  /* but what takes so long takes so long */
  channel->high_delay = 900 * MS;
  fail_unless_equals_uint64 (mmtp_channel_get_safe_delay (channel), 900 * MS);
  mmtp_channel_free (channel);
}

GST_END_TEST;

static Suite *
mmtpchannel_suite (void)
{
  Suite *s = suite_create ("mmtpchannel");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, token_comes_when_the_packet_has_gone);
  tcase_add_test (tc, numbers_go_on_when_it_comes_back);
  tcase_add_test (tc, remembers_no_more_than_ranges_can_tell);
  tcase_add_test (tc, more_than_was_sent_is_impossible);
  tcase_add_test (tc, counters_do_not_go_back);
  tcase_add_test (tc, delays_are_transits_less_the_offset);
  tcase_add_test (tc, least_delay_ages);
  tcase_add_test (tc, eight_pairs_measure_a_channel);
  tcase_add_test (tc, slow_channel_is_measured_by_what_there_is);
  tcase_add_test (tc, rises_to_what_pairs_say);
  tcase_add_test (tc, falls_to_what_came_when_asked);
  tcase_add_test (tc, ignores_a_rate_that_was_never_sent);
  tcase_add_test (tc, does_not_back_off_for_what_others_did);
  tcase_add_test (tc, pairs_are_each_eighth_packet_and_each_second);
  tcase_add_test (tc, is_overdue_when_a_report_should_have_been_there);
  tcase_add_test (tc, does_not_deliver_when_only_small_messages_come);
  tcase_add_test (tc, lost_control_messages_are_no_measure);
  tcase_add_test (tc, penance_doubles_up_to_ten_seconds);
  tcase_add_test (tc, comes_back_after_three_pairs_and_its_time);
  tcase_add_test (tc, safety_leaves_an_eighth_of_the_time_for_waiting);
  return s;
}

GST_CHECK_MAIN (mmtpchannel);
