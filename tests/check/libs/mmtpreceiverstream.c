/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the stream of one session at the receiver. The test sets the time
 * itself, and the expected values were computed by hand. Both clocks run at the
 * same speed, and the sender's clock shows 0 at the time START. */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "mmtpreceiverstream.h"

#define MS(n) ((n) * MMTP_MSECOND)
#define START (10 * MMTP_SECOND)
#define D0 500                  /* ms */
#define LATENESS 50             /* ms */
#define SILENCE MS (200)
#define WHOLE (MMTP_FLAG_FIRST | MMTP_FLAG_LAST)
#define CAPS "video/mpeg, mpegversion=(int)2"

typedef struct
{
  MmtpReceiverPaths paths;
  MmtpKey key;
  MmtpReceiverOutput output;
  MmtpClock clock;
  MmtpInitialDelay delay;
  MmtpReceiverStream stream;
} Fixture;

static void
fixture_init (Fixture * self)
{
  guint i;

  memset (self, 0, sizeof (*self));
  self->paths.now = START;
  for (i = 0; i < 2; i++)
    mmtp_receiver_paths_add (&self->paths, i, 0, SILENCE)->joined = TRUE;
  mmtp_key_init (&self->key, NULL);
  mmtp_receiver_output_init (&self->output, &self->paths, &self->key);
  mmtp_clock_init (&self->clock, START, 0);
  mmtp_initial_delay_init (&self->delay, 0, 10 * MMTP_SECOND, D0 * 1000);
  mmtp_receiver_stream_init (&self->stream, &self->paths, &self->output,
      &self->clock, &self->delay, 1 << 20, MS (LATENESS));
}

static void
fixture_clear (Fixture * self)
{
  mmtp_receiver_stream_clear (&self->stream);
  mmtp_receiver_output_clear (&self->output);
  mmtp_receiver_paths_clear (&self->paths);
  mmtp_key_clear (&self->key);
}

static void
set_time (Fixture * self, guint ms)
{
  self->paths.now = START + MS (ms);
  mmtp_receiver_stream_timeout (&self->stream);
}

/* Returns the time of the next wake-up in ms after START. */
static guint64
get_wakeup (Fixture * self)
{
  return (mmtp_receiver_stream_next_wakeup (&self->stream) - START) / MS (1);
}

/* Returns a DATA message whose payload is one letter, a for the stream number
 * 0, and whose due time is 100 ms after START for each number. */
static MmtpMessage
make_data (guint number)
{
  static const gchar letters[] = "abcdefgh";
  MmtpMessage message = {.type = MMTP_DATA };

  message.data.stream_number = number;
  message.data.due = 100000 * number;
  message.data.flags = WHOLE;
  message.data.payload = (const guint8 *) letters + number;
  message.data.payload_size = 1;
  return message;
}

static void
give (Fixture * self, const MmtpMessage * message)
{
  guint8 bytes[256];
  gsize size = mmtp_packet_write (message, bytes, sizeof (bytes));

  fail_unless (size > 0);
  mmtp_receiver_stream_take_data (&self->stream, self->paths.all[0],
      &message->data, bytes, size);
}

static void
give_data (Fixture * self, guint number)
{
  const MmtpMessage message = make_data (number);

  give (self, &message);
}

/* Gives a REPAIR that covers the packets with the numbers 0 to `n` - 1. */
static void
give_repair (Fixture * self, guint n)
{
  MmtpBlock block = { 0 };
  MmtpRepair repair;
  guint8 bytes[256];
  guint i;

  for (i = 0; i < n; i++) {
    const MmtpMessage message = make_data (i);

    fail_unless (mmtp_block_add (&block, i, bytes, mmtp_packet_write (&message,
                bytes, sizeof (bytes))));
  }
  mmtp_block_get_repair (&block, &repair);
  mmtp_receiver_stream_take_repair (&self->stream, &repair);
  mmtp_block_clear (&block);
}

static void
give_end (Fixture * self, guint number)
{
  const MmtpEnd end = { number };

  mmtp_receiver_stream_take_end (&self->stream, self->paths.all[0], &end);
}

/* Fetches all events and compares them with the text `expected`. In this text,
 * a buffer is its letter, after a ! if the buffer before it is missing. C is
 * caps, R a presentation rate, and E the end. */
static void
check_events (Fixture * self, const gchar * expected)
{
  static const gchar marks[] = {
    [MMTP_EVENT_CAPS] = 'C',
    [MMTP_EVENT_PRESENTATION_RATE] = 'R',
    [MMTP_EVENT_END] = 'E',
  };
  GString *out = g_string_new (NULL);
  MmtpReceiverEvent event;

  while (mmtp_receiver_stream_poll_event (&self->stream, &event)) {
    if (event.discont)
      g_string_append_c (out, '!');
    g_string_append_c (out, event.type == MMTP_EVENT_BUFFER ?
        event.data.bytes[0] : marks[event.type]);
    if (event.type == MMTP_EVENT_BUFFER)
      datagram_slice_clear (&event.data);
    g_free (event.caps);
  }
  fail_unless_equals_string (out->str, expected);
  g_string_free (out, TRUE);
}

/* Takes all messages from the queue. Returns their number, and checks that all
 * of them have the type `type`. */
static guint
count_answers (Fixture * self, MmtpType type)
{
  MmtpAddress address;
  MmtpMessage message;
  guint8 bytes[256];
  gsize size;
  guint n;

  for (n = 0; (size = mmtp_receiver_output_poll (&self->output, &address,
              bytes, sizeof (bytes))); n++) {
    fail_unless_equals_int (mmtp_packet_parse_header (&message, bytes, size,
            MMTP_RECEIVER), MMTP_VALID);
    fail_unless_equals_int (message.type, type);
  }
  return n;
}

/* --- deadlines ------------------------------------------------------------ */

/* Packet 1 is due at 100 ms and has its deadline at 600 ms. Packet 0 is missing
 * and is skipped at this time. */
GST_START_TEST (deadline_is_due_time_plus_initial_delay)
{
  Fixture self;

  fixture_init (&self);
  fail_unless_equals_uint64 (mmtp_receiver_stream_get_latest_deadline
      (&self.stream), START + MS (500));
  give_data (&self, 1);
  give_data (&self, 1);
  fail_unless_equals_uint64 (self.paths.all[0]->duplicates, 1);
  fail_unless_equals_uint64 (mmtp_receiver_stream_get_latest_deadline
      (&self.stream), START + MS (600));
  fail_unless_equals_uint64 (get_wakeup (&self), 600);
  set_time (&self, 599);
  check_events (&self, "");
  set_time (&self, 600);
  check_events (&self, "!b");
  fail_unless_equals_uint64 (self.paths.all[0]->arrivals.late, 0);
  /* A packet that is sent now may be due now. */
  fail_unless_equals_uint64 (mmtp_receiver_stream_get_latest_deadline
      (&self.stream), START + MS (1100));
  /* Packet 0 had its deadline at 500 ms. */
  give_data (&self, 0);
  fail_unless_equals_uint64 (self.paths.all[0]->arrivals.late, 1);
  check_events (&self, "");
  fixture_clear (&self);
}

GST_END_TEST;

GST_START_TEST (longer_delay_shifts_the_deadlines)
{
  Fixture self;

  fixture_init (&self);
  give_data (&self, 1);
  mmtp_receiver_stream_shift_deadlines (&self.stream,
      mmtp_initial_delay_request (&self.delay, START, 700000));
  fail_unless_equals_uint64 (get_wakeup (&self), 800);
  give_data (&self, 2);
  set_time (&self, 799);
  check_events (&self, "");
  set_time (&self, 800);
  check_events (&self, "!bc");
  fixture_clear (&self);
}

GST_END_TEST;

/* A timer may fire late by a thousandth of D0, which is 0.5 ms. The due time is
 * then corrected, so that the buffer does not count as late. */
GST_START_TEST (late_timer_does_not_make_a_buffer_late)
{
  static const struct
  {
    guint64 delay, due;         /* ns */
  } cases[] = { {0, 0}, {500000, 500000}, {500001, 0} };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    MmtpReceiverEvent event;
    Fixture self;

    fixture_init (&self);
    give_data (&self, 1);
    self.paths.now = START + MS (600) + cases[i].delay;
    mmtp_receiver_stream_timeout (&self.stream);
    fail_unless (mmtp_receiver_stream_poll_event (&self.stream, &event));
    fail_unless_equals_int (event.type, MMTP_EVENT_BUFFER);
    fail_unless_equals_uint64 (event.due, START + MS (100) + cases[i].due);
    fail_unless_equals_uint64 (event.delay, MS (D0));
    datagram_slice_clear (&event.data);
    fail_unless_equals_uint64 (self.stream.buffers, 1);
    fail_unless_equals_uint64 (self.stream.bytes, 1);
    fixture_clear (&self);
  }
}

GST_END_TEST;

/* --- REPAIR --------------------------------------------------------------- */

GST_START_TEST (repair_restores_one_missing_packet)
{
  Fixture self;

  fixture_init (&self);
  give_data (&self, 0);
  give_data (&self, 2);
  check_events (&self, "a");
  give_repair (&self, 4);
  check_events (&self, "");
  fail_unless_equals_uint64 (self.stream.recovered, 0);
  give_data (&self, 3);
  check_events (&self, "bcd");
  fail_unless_equals_uint64 (self.stream.recovered, 1);
  fixture_clear (&self);
}

GST_END_TEST;

/* --- floor ---------------------------------------------------------------- */

/* The KEEPALIVE with the floor 4 was sent at 50 ms. On path 1, packets that
 * were sent before may still be in flight. */
GST_START_TEST (floor_waits_for_a_slower_path)
{
  Fixture self;

  fixture_init (&self);
  give_data (&self, 4);
  self.paths.all[0]->latest_sent = MS (50);
  self.paths.all[1]->latest_sent = MS (49);
  mmtp_receiver_stream_take_floor (&self.stream, 4, MS (50));
  check_events (&self, "");
  /* Floor 5 is not used yet, because floor 4 still waits. */
  self.paths.all[0]->latest_sent = MS (60);
  self.paths.all[1]->latest_sent = MS (50);
  mmtp_receiver_stream_take_floor (&self.stream, 5, MS (60));
  check_events (&self, "!e");
  fail_unless_equals_uint64 (mmtp_reorder_get_next (self.stream.reorder), 5);
  fixture_clear (&self);
}

GST_END_TEST;

static void
note_arrival (Fixture * self, guint path, guint64 number)
{
  const MmtpArrival arrival = {.number = number,.size = 100 };

  mmtp_arrivals_add (&self->paths.all[path]->arrivals, self->paths.now,
      &arrival);
}

/* The last message on path 1 arrived 201 ms ago, so the path is silent. */
GST_START_TEST (floor_does_not_wait_for_silent_paths)
{
  Fixture self;

  fixture_init (&self);
  give_data (&self, 4);
  note_arrival (&self, 0, 1);
  note_arrival (&self, 1, 1);
  set_time (&self, 200);
  self.paths.all[0]->latest_sent = MS (150);
  mmtp_receiver_stream_take_floor (&self.stream, 4, MS (150));
  check_events (&self, "");
  set_time (&self, 201);
  note_arrival (&self, 0, 2);
  mmtp_receiver_stream_take_floor (&self.stream, 4, MS (151));
  check_events (&self, "!e");
  fixture_clear (&self);
}

GST_END_TEST;

/* --- caps and presentation rate ------------------------------------------- */

static void
give_data_with_caps (Fixture * self, guint number)
{
  MmtpMessage message = make_data (number);

  message.data.caps_version = 1;
  give (self, &message);
}

GST_START_TEST (buffer_waits_for_its_caps)
{
  const MmtpCaps caps = { 1, strlen (CAPS), 0, (const guint8 *) CAPS,
    strlen (CAPS)
  };
  Fixture self;

  fixture_init (&self);
  give_data_with_caps (&self, 0);
  give_data_with_caps (&self, 1);
  check_events (&self, "");
  fail_unless_equals_uint64 (get_wakeup (&self), D0 + LATENESS);
  fail_unless_equals_int (mmtp_receiver_stream_take_caps (&self.stream,
          self.paths.all[0], &caps), MMTP_VALID);
  fail_unless_equals_int (count_answers (&self, MMTP_CAPS_ACK), 1);
  check_events (&self, "Cab");
  fixture_clear (&self);
}

GST_END_TEST;

/* The caps never arrive. Each buffer is dropped 50 ms after its deadline. */
GST_START_TEST (buffer_without_caps_is_dropped)
{
  Fixture self;

  fixture_init (&self);
  give_data_with_caps (&self, 0);
  give_data_with_caps (&self, 1);
  set_time (&self, D0 + LATENESS);
  check_events (&self, "");
  fail_unless_equals_uint64 (get_wakeup (&self), D0 + LATENESS + 100);
  set_time (&self, D0 + LATENESS + 100);
  check_events (&self, "");
  fail_unless (mmtp_receiver_stream_next_wakeup (&self.stream) == MMTP_NEVER);
  fail_unless_equals_uint64 (mmtp_reorder_get_stats (self.stream.reorder)
      ->incomplete, 2);
  fixture_clear (&self);
}

GST_END_TEST;

GST_START_TEST (presentation_rate_precedes_its_buffer)
{
  MmtpMessage message = make_data (1);
  Fixture self;

  fixture_init (&self);
  message.data.flags |= MMTP_FLAG_PRELUDE;
  message.data.prelude.mask = MMTP_PRELUDE_RATE;
  message.data.prelude.frame_rate = 25000;
  give_data (&self, 0);
  give (&self, &message);
  give_data (&self, 2);
  check_events (&self, "aRbc");
  fixture_clear (&self);
}

GST_END_TEST;

/* --- end ------------------------------------------------------------------ */

/* Packet 1, the last one, does not arrive. The receiver waits for it until 500
 * ms after END has arrived. It then sends three END-ACKs on each of the two
 * paths, and one more when END is repeated. */
GST_START_TEST (end_waits_for_missing_packets)
{
  Fixture self;

  fixture_init (&self);
  give_data (&self, 0);
  give_end (&self, 2);
  set_time (&self, 10);
  give_end (&self, 2);
  check_events (&self, "a");
  fail_unless_equals_uint64 (get_wakeup (&self), 500);
  set_time (&self, 499);
  check_events (&self, "");
  fail_unless_equals_int (count_answers (&self, MMTP_END_ACK), 0);
  set_time (&self, 500);
  check_events (&self, "E");
  fail_unless_equals_int (count_answers (&self, MMTP_END_ACK), 6);
  give_end (&self, 2);
  check_events (&self, "");
  fail_unless_equals_int (count_answers (&self, MMTP_END_ACK), 1);
  fail_unless (mmtp_receiver_stream_next_wakeup (&self.stream) == MMTP_NEVER);
  fixture_clear (&self);
}

GST_END_TEST;

GST_START_TEST (packets_after_the_end_are_ignored)
{
  const guint8 *bytes;
  Fixture self;
  gsize size;

  fixture_init (&self);
  give_data (&self, 0);
  give_end (&self, 1);
  check_events (&self, "aE");
  /* Packet 1 could be computed from the REPAIR and packet 0. */
  give_repair (&self, 2);
  fail_if (mmtp_store_poll (self.stream.store, &bytes, &size));
  give_data (&self, 0);
  give_data (&self, 1);
  check_events (&self, "");
  fail_unless_equals_uint64 (self.paths.all[0]->duplicates, 0);
  fixture_clear (&self);
}

GST_END_TEST;

static Suite *
mmtpreceiverstream_suite (void)
{
  Suite *s = suite_create ("mmtpreceiverstream");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, deadline_is_due_time_plus_initial_delay);
  tcase_add_test (tc, longer_delay_shifts_the_deadlines);
  tcase_add_test (tc, late_timer_does_not_make_a_buffer_late);
  tcase_add_test (tc, repair_restores_one_missing_packet);
  tcase_add_test (tc, floor_waits_for_a_slower_path);
  tcase_add_test (tc, floor_does_not_wait_for_silent_paths);
  tcase_add_test (tc, buffer_waits_for_its_caps);
  tcase_add_test (tc, buffer_without_caps_is_dropped);
  tcase_add_test (tc, presentation_rate_precedes_its_buffer);
  tcase_add_test (tc, end_waits_for_missing_packets);
  tcase_add_test (tc, packets_after_the_end_are_ignored);
  return s;
}

GST_CHECK_MAIN (mmtpreceiverstream);
