/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the state that the sender keeps for a path: the bytes in flight, and
 * whether the path is stalled or drained. The expected values follow from
 * sections 4.4 to 4.6 of Magalhães and Kravets and sections 6 and 7 of
 * docs/wire-mmtp.md. The test acts as the receiver. */

#include <gst/check/gstcheck.h>

#include "mmtppath.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)
#define TICK (MMTP_TICK * G_GUINT64_CONSTANT (1000))

#define START (10 * SECOND)
#define MAX_SIZE 1372
#define OVERHEAD 28
#define PACKET (MAX_SIZE + OVERHEAD)    /* 40 ms at RATE */
#define RATE 280000
#define DELAY (20 * MS)         /* one-way delay; the same in both directions */
/* Difference in ns between the receiver's clock and the sender's clock. At
 * START, the receiver's clock shows 165 s. The times in the reports have 24
 * bits and wrap at 167.77 s, so they wrap 2.8 s after START. */
#define CLOCK (155 * SECOND)

typedef struct
{
  MmtpPath *path;
  MmtpRecord record;
  gint64 delay;                 /* ns, one way */
} Fixture;

static guint32
get_ticks (guint64 time)
{
  return (time + CLOCK) / TICK & ((1 << MMTP_TICKS_BITS) - 1);
}

/* Initializes the fixture with one path. `rate` is the configured rate of the
 * path, or 0 if no rate is configured. `first` is the first estimate of its
 * rate, or NULL. `has_other_paths` is TRUE if the session has another path when
 * this path starts. */
static void
fixture_init_full (Fixture * fixture, guint64 rate,
    const MmtpFirstRate * first, gboolean has_other_paths)
{
  MmtpPathConfig config = { "a", MAX_SIZE, OVERHEAD, rate, 0 };
  MmtpPath *path = mmtp_path_new (3, "a");

  memset (fixture, 0, sizeof (*fixture));
  fixture->delay = DELAY;
  fixture->path = path;
  mmtp_path_open (path, START, &config);
  mmtp_path_add_round_trip (path, START, 2 * DELAY);
  path->has_other_paths = has_other_paths;
  mmtp_path_start (path, START, mmtp_rate_control_find (NULL), first);
  path->deadline = SECOND;
  fixture->record.channel = 3;
  fixture->record.flags = MMTP_RECORD_UNMEASURED;
}

static void
fixture_init_path (Fixture * fixture, guint64 rate, gboolean has_other_paths)
{
  fixture_init_full (fixture, rate, NULL, has_other_paths);
}

static void
fixture_init (Fixture * fixture, guint64 rate)
{
  fixture_init_path (fixture, rate, FALSE);
}

static void
fixture_clear (Fixture * fixture)
{
  mmtp_path_free (fixture->path);
}

static void
send (Fixture * fixture, guint64 now, guint n)
{
  while (n--)
    mmtp_path_sent (fixture->path, now, MAX_SIZE,
        fixture->path->sent.next + 1000, TRUE);
}

static void
send_control (Fixture * fixture, guint64 now, guint n)
{
  while (n--)
    mmtp_path_sent (fixture->path, now, MAX_SIZE, MMTP_NO_STREAM, FALSE);
}

/* A message arrives. */
static void
arrive (Fixture * fixture, guint64 number)
{
  const MmtpSent *sent = mmtp_sent_log_get (&fixture->path->sent, number);
  MmtpRecord *record = &fixture->record;
  gint32 transit = fixture->delay / (gint64) TICK;

  record->highest = MAX (record->highest, number);
  record->received++;
  record->bytes += sent->size - OVERHEAD;
  record->arrival = get_ticks (sent->time + fixture->delay);
  record->min_transit = record->flags ? transit :
      MIN (record->min_transit, transit);
  record->high_transit = record->flags ? transit :
      MAX (record->high_transit, transit);
  record->transit = transit;
  record->flags = 0;
}

/* Passes a report to the path. The receiver has made this report at the time
 * `written`, and the report arrives at the time `now`.
 */
static gboolean
report_late (Fixture * fixture, guint64 written, guint64 now)
{
  gboolean more = mmtp_path_report (fixture->path, now, &fixture->record,
      get_ticks (written));

  fixture->record.flags = MMTP_RECORD_UNMEASURED;
  return more;
}

static gboolean
report (Fixture * fixture, guint64 written)
{
  return report_late (fixture, written, written + DELAY);
}

/* Simulates the arrival of all packets in flight. Then passes a report about
 * them to the path. The receiver has written this report at the time `written`.
 */
static void
report_all (Fixture * fixture, guint64 written)
{
  guint64 number;

  for (number = fixture->path->sent.unreported;
      number < fixture->path->sent.next; number++)
    arrive (fixture, number);
  report (fixture, written);
}

/* Simulates the time between `from` and `to`. The sender sends a packet every 5
 * ms, and the receiver sends a report every 50 ms. If `limited` is TRUE, no
 * further packets wait at the sender, so the application limits the rate. */
static void
run (Fixture * fixture, guint64 from, guint64 to, gboolean limited)
{
  guint64 now;

  for (now = from; now < to; now += 5 * MS) {
    if (limited)
      mmtp_path_note_idle (fixture->path);
    if (mmtp_path_has_window (fixture->path, MAX_SIZE, FALSE))
      send (fixture, now, 1);
    if ((now - from) % (50 * MS) == 45 * MS)
      report_all (fixture, now + fixture->delay);
  }
}

/* --- in flight ------------------------------------------------------------ */

GST_START_TEST (bytes_are_in_flight_until_they_are_reported)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 0);
  send (&fixture, START, 10);
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 10 * PACKET);
  for (i = 0; i < 10; i++)
    fail_unless_equals_uint64 (mmtp_sent_log_get (&fixture.path->sent,
            i)->in_flight, (i + 1) * PACKET);
  for (i = 0; i < 4; i++)
    arrive (&fixture, i);
  fail_unless (report (&fixture, START + 50 * MS));
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 6 * PACKET);
  fail_unless_equals_uint64 (fixture.path->delivered, 4 * PACKET);
  fail_unless_equals_uint64 (fixture.path->progress_time, START + 70 * MS);
  fail_if (report (&fixture, START + 100 * MS));
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 6 * PACKET);
  fail_unless_equals_uint64 (fixture.path->progress_time, START + 70 * MS);
  report_all (&fixture, START + 150 * MS);
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 0);
  fail_unless_equals_uint64 (fixture.path->delivered, 10 * PACKET);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (lost_messages_are_not_in_flight)
{
  Fixture fixture;

  fixture_init (&fixture, 0);
  send (&fixture, START, 10);
  arrive (&fixture, 0);
  arrive (&fixture, 5);
  fixture.record.lost = 4;
  fail_unless (report (&fixture, START + 50 * MS));
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 4 * PACKET);
  fail_unless_equals_uint64 (fixture.path->delivered, 2 * PACKET);
  fail_unless_equals_uint64 (fixture.path->stats.lost, 4);
  /* Two packets counted as missing, but one of them was only reordered. When
   * this packet arrives, it must count as delivered and must no longer be in
   * flight. */
  arrive (&fixture, 3);
  fail_unless (report (&fixture, START + 100 * MS));
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 4 * PACKET);
  fail_unless_equals_uint64 (fixture.path->delivered, 3 * PACKET);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The interval between reports is 50 ms at first. A report must count as
 * overdue if it has not arrived one and a half intervals after the previous
 * report. */
GST_START_TEST (report_is_overdue_after_one_and_a_half_periods)
{
  Fixture fixture;

  fixture_init (&fixture, 0);
  send (&fixture, START, 1);
  report_all (&fixture, START + 50 * MS);
  fail_unless_equals_uint64 (mmtp_path_get_overdue (fixture.path),
      START + 50 * MS + DELAY + 75 * MS);
  send (&fixture, START + 60 * MS, 1);
  report_all (&fixture, START + 90 * MS);
  /* This report arrives 40 ms after the previous report. Nevertheless, the
   * report interval must not shrink from 50 ms to 40 ms at once: each report
   * may shorten it by at most one sixteenth. It must now be 50 ms minus one
   * sixteenth. */
  fail_unless_equals_uint64 (mmtp_path_get_overdue (fixture.path),
      START + 90 * MS + DELAY + (50 * MS - 50 * MS / 16) / 2 * 3);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (window_limits_what_is_in_flight)
{
  Fixture fixture;
  MmtpRateLimits *limits;

  fixture_init (&fixture, 0);
  limits = &fixture.path->limits;
  fail_unless (limits->window >= 3 * PACKET);
  limits->window = 3 * PACKET;
  limits->reserve = 2 * PACKET;
  send (&fixture, START, 2);
  fail_unless (mmtp_path_has_window (fixture.path, MAX_SIZE, FALSE));
  fail_if (mmtp_path_has_window (fixture.path, MAX_SIZE + 1, FALSE));
  send (&fixture, START, 1);
  fail_if (mmtp_path_has_window (fixture.path, MAX_SIZE, FALSE));
  /* The last argument of mmtp_path_has_window () is TRUE if no other path has
   * room. In this case, the path may exceed its congestion window by `reserve`
   * bytes.
   */
  fail_unless (mmtp_path_has_window (fixture.path, MAX_SIZE, TRUE));
  send (&fixture, START, 2);
  fail_if (mmtp_path_has_window (fixture.path, MAX_SIZE, TRUE));
  /* If nothing is in flight, a path may always carry one packet, even if its
   * congestion window is smaller than the packet. */
  report_all (&fixture, START + 50 * MS);
  fixture.path->limits.window = fixture.path->limits.reserve = 0;
  fail_unless (mmtp_path_has_window (fixture.path, MAX_SIZE, FALSE));
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (numbers_go_on_when_it_comes_back)
{
  MmtpPathConfig config = { "a", 500, 48, 0, 0 };
  Fixture fixture;

  fixture_init (&fixture, 0);
  send (&fixture, START, 100);
  fail_unless_equals_uint64 (mmtp_sent_log_get (&fixture.path->sent,
          99)->stream_number, 1099);
  fail_unless (mmtp_sent_log_get (&fixture.path->sent, 100) == NULL);
  mmtp_path_open (fixture.path, START + SECOND, &config);
  fail_unless_equals_uint64 (fixture.path->sent.next, 100);
  fail_unless_equals_uint64 (fixture.path->sent.unreported, 100);
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 0);
  fail_unless (fixture.path->control == NULL);
  fail_unless_equals_int (fixture.path->max_size, 500);
  fail_if (fixture.path->delays.is_known);
  mmtp_path_start (fixture.path, START + SECOND,
      mmtp_rate_control_find (NULL), NULL);
  fail_unless (fixture.path->limits.window >= 3 * 548);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- the ring ------------------------------------------------------------- */

GST_START_TEST (ring_grows_with_what_is_in_flight)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 0);
  /* The messages 0 to 49 are removed from the log of sent messages, so the ring
   * buffer of the log begins with message 50. The ring buffer must be able to
   * grow in this state, too. */
  send (&fixture, START, 50);
  report_all (&fixture, START + 50 * MS);
  mmtp_sent_log_forget (&fixture.path->sent, START + 1);
  fail_unless_equals_uint64 (fixture.path->sent.kept, 50);
  fail_unless_equals_int (fixture.path->sent.ring_size, 64);
  for (i = 0; i < 1000; i++)
    send (&fixture, START + i, 1);
  fail_unless_equals_int (fixture.path->sent.ring_size, 1024);
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 1000 * PACKET);
  for (i = 0; i < 1000; i++) {
    const MmtpSent *sent = mmtp_sent_log_get (&fixture.path->sent, 50 + i);

    fail_unless_equals_uint64 (sent->stream_number, 1050 + i);
    fail_unless_equals_uint64 (sent->time, START + i);
  }
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (remembers_no_more_than_ranges_can_tell)
{
  Fixture fixture;
  guint64 number;

  fixture_init (&fixture, 0);
  send (&fixture, START, 100000);
  fail_unless_equals_uint64 (fixture.path->sent.next -
      fixture.path->sent.kept, 32768);
  fail_unless_equals_int (fixture.path->sent.ring_size, 32768);
  fail_unless (mmtp_sent_log_get (&fixture.path->sent, 67231) == NULL);
  /* The log of sent packets keeps only the last 32768 packets. Older packets
   * must not count as in flight. */
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 32768 * PACKET);
  fail_unless (mmtp_sent_log_find (&fixture.path->sent, 70000 & 0xffff,
          &number));
  fail_unless_equals_uint64 (number, 70000);
  fixture.record.highest = 98999;
  fixture.record.received = 32000;
  fixture.record.bytes = 32000 * MAX_SIZE;
  fixture.record.flags = 0;
  fail_unless (report (&fixture, START + 50 * MS));
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 1000 * PACKET);
  fail_unless (mmtp_sent_log_find (&fixture.path->sent, 70000 & 0xffff,
          &number));
  fail_unless_equals_uint64 (number, 70000);
  mmtp_sent_log_forget (&fixture.path->sent, START + 1);
  fail_unless_equals_uint64 (fixture.path->sent.kept, 99000);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- reports -------------------------------------------------------------- */

GST_START_TEST (more_than_was_sent_is_impossible)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 0);
  fail_unless (mmtp_path_is_possible (fixture.path, &fixture.record));
  send (&fixture, START, 10);
  for (i = 0; i < 10; i++)
    arrive (&fixture, i);
  fail_unless (mmtp_path_is_possible (fixture.path, &fixture.record));
  fixture.record.highest = 10;
  fail_if (mmtp_path_is_possible (fixture.path, &fixture.record));
  fixture.record.highest = 9;
  fixture.record.received = 11;
  fail_if (mmtp_path_is_possible (fixture.path, &fixture.record));
  fixture.record.received = 10;
  fixture.record.bytes++;
  fail_if (mmtp_path_is_possible (fixture.path, &fixture.record));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* There are two reasons why a report may contain a lower counter value than the
 * report before it: reports that are sent on several paths may overtake each
 * other, and counters of 32 bits wrap. The statistics of the sender must not
 * decrease in either case. */
GST_START_TEST (counters_do_not_go_back)
{
  Fixture fixture;
  MmtpRecord old;
  guint i;

  fixture_init (&fixture, 0);
  send (&fixture, START, 10);
  for (i = 0; i < 6; i++)
    arrive (&fixture, i);
  fixture.record.lost = fixture.record.late = 1;
  old = fixture.record;
  for (; i < 8; i++)
    arrive (&fixture, i);
  fixture.record.lost = 2;
  fixture.record.late = 3;
  fail_unless (report (&fixture, START + 50 * MS));
  fail_if (mmtp_path_report (fixture.path, START + 80 * MS, &old,
          get_ticks (START + 40 * MS)));
  fail_unless_equals_uint64 (fixture.path->stats.reported, 8);
  fail_unless_equals_uint64 (fixture.path->stats.lost, 2);
  fail_unless_equals_uint64 (fixture.path->stats.late, 3);
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 2 * PACKET);
  fail_unless_equals_uint64 (fixture.path->delivered, 8 * PACKET);

  fixture.path->stats.reported = fixture.path->stats.lost = G_MAXUINT32 - 1;
  fixture.record.received = 3;
  fixture.record.lost = 1;
  fail_unless (report (&fixture, START + 100 * MS));
  fail_unless_equals_uint64 (fixture.path->stats.reported,
      G_GUINT64_CONSTANT (0x100000003));
  fail_unless_equals_uint64 (fixture.path->stats.lost,
      G_GUINT64_CONSTANT (0x100000001));
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (delays_are_transits_less_the_offset)
{
  Fixture fixture;

  fixture_init (&fixture, 0);
  mmtp_path_update_delay (fixture.path, START, -5 * (gint64) MS);
  fail_unless_equals_uint64 (fixture.path->delay, MMTP_NEVER);
  send (&fixture, START, 2);
  arrive (&fixture, 0);
  fixture.delay = 30 * MS;
  arrive (&fixture, 1);
  fail_unless (report (&fixture, START + 50 * MS));
  mmtp_path_update_delay (fixture.path, START + 70 * MS, -5 * (gint64) MS);
  fail_unless_equals_uint64 (fixture.path->delay, 25 * MS);
  fail_unless_equals_uint64 (fixture.path->high_delay, 35 * MS);
  mmtp_path_update_delay (fixture.path, START + 70 * MS, 22 * MS);
  fail_unless_equals_uint64 (fixture.path->delay, 0);
  fail_unless_equals_uint64 (fixture.path->high_delay, 8 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* If no message has arrived on a path, a REPORT contains no transit times for
 * this path. Such a REPORT must not change the delays of the path. */
GST_START_TEST (unmeasured_records_change_no_delay)
{
  Fixture fixture;

  fixture_init (&fixture, 0);
  send (&fixture, START, 1);
  arrive (&fixture, 0);
  report (&fixture, START + 50 * MS);
  fail_unless_equals_int64 (fixture.path->delays.min, DELAY);
  fixture.record.transit = fixture.record.min_transit =
      fixture.record.high_transit = -1;
  fixture.record.jitter = 12345678;
  report (&fixture, START + 100 * MS);
  fail_unless_equals_int64 (fixture.path->delays.min, DELAY);
  fail_unless_equals_int64 (fixture.path->delays.jitter, 0);
  fail_unless_equals_int64 (mmtp_path_delay_get_base (&fixture.path->delays),
      DELAY);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A report may arrive after a newer report. The minimum delay in the older
 * report is still valid: if it is lower than the base delay, it must become the
 * base delay. If it is longer, the base delay must not change. A report without
 * a measured delay must not change the base delay either. */
GST_START_TEST (minimum_delay_of_a_late_report_counts)
{
  const guint64 tick = MMTP_TICK_TIME;
  Fixture fixture;

  fixture_init (&fixture, 0);
  send (&fixture, START, 1);
  arrive (&fixture, 0);
  report (&fixture, START + 50 * MS);
  fixture.record.min_transit = (DELAY + 5 * MS) / tick;
  mmtp_path_note_min_delay (fixture.path, START + 60 * MS, &fixture.record);
  fail_unless_equals_int64 (mmtp_path_delay_get_base (&fixture.path->delays),
      DELAY);
  fixture.record.min_transit = (DELAY - 5 * MS) / tick;
  fixture.record.flags = MMTP_RECORD_UNMEASURED;
  mmtp_path_note_min_delay (fixture.path, START + 60 * MS, &fixture.record);
  fail_unless_equals_int64 (mmtp_path_delay_get_base (&fixture.path->delays),
      DELAY);
  fixture.record.flags = 0;
  mmtp_path_note_min_delay (fixture.path, START + 60 * MS, &fixture.record);
  fail_unless_equals_int64 (mmtp_path_delay_get_base (&fixture.path->delays),
      DELAY - 5 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The moving minimum forgets each sample after 20 s. A low delay that was
 * measured earlier says nothing about the present state of the path, for
 * example if the path was silent in the meantime. */
GST_START_TEST (minimum_delay_ages)
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

/* If a report is lost, or if no report is sent because the stream pauses, the
 * time between two reports is longer than the report period that the sender
 * requested. In this case `report_interval` must be the requested period. */
GST_START_TEST (report_interval_is_the_recent_maximum)
{
  Fixture fixture;
  guint64 now = START;
  guint i;

  fixture_init (&fixture, 0);
  fixture.path->report_period = 200 * MS;
  for (i = 0; i < 10; i++, now += 120 * MS)
    report (&fixture, now);
  fail_unless_equals_uint64 (fixture.path->report_interval, 120 * MS);
  report (&fixture, now + 5 * SECOND);
  fail_unless_equals_uint64 (fixture.path->report_interval, 200 * MS);
  now += 5 * SECOND;
  for (i = 0; i < 100; i++) {
    now += 20 * MS;
    report (&fixture, now);
  }
  fail_unless_equals_uint64 (fixture.path->report_interval, 20 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- stalls --------------------------------------------------------------- */

static void
make_fast (Fixture * fixture)
{
  fixture->path->limits.delivery_rate = 1000000000;
  fixture->path->limits.is_app_limited = FALSE;
}

/* Initializes a fixture in which a message is missing. Two messages were sent,
 * the second one 40 ms after the first. A report says that the first message
 * has arrived, and the sender waits for a report about the second. Each message
 * takes `DELAY` to arrive. The transmission time of its bytes is negligible. */
static void
fixture_init_waiting (Fixture * fixture)
{
  fixture_init (fixture, 0);
  send (fixture, START, 1);
  arrive (fixture, 0);
  report (fixture, START + 50 * MS);
  make_fast (fixture);
  send (fixture, START + 40 * MS, 1);
}

GST_START_TEST (stall_is_what_should_have_arrived_by_the_receivers_clock)
{
  Fixture fixture;

  fixture_init_waiting (&fixture);
  report (&fixture, START + 40 * MS + DELAY + 100 * MS);
  fail_if (fixture.path->is_stalled);
  report (&fixture, START + 40 * MS + DELAY + 110 * MS);
  fail_unless (fixture.path->is_stalled);
  /* The missing message arrives, and no other message is overdue. The path must
   * no longer be marked as stalled. */
  arrive (&fixture, 1);
  report (&fixture, START + 40 * MS + DELAY + 120 * MS);
  fail_if (fixture.path->is_stalled);
  /* If nothing is sent on a path for a long time, no message is overdue. The
   * path must not be marked as stalled. */
  report (&fixture, START + 10 * SECOND);
  fail_if (fixture.path->is_stalled);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The return path stalls, so the first report arrives only 5 s after the start.
 * When the receiver sent this report, no message was overdue. The path to the
 * receiver must not be marked as stalled. */
GST_START_TEST (stalled_return_path_is_no_stall)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 0);
  for (i = 0; i < 100; i++)
    send (&fixture, START + i * 20 * MS, 1);
  for (i = 0; i < 20; i++)
    arrive (&fixture, i);
  report_late (&fixture, START + 20 * 20 * MS + DELAY, START + 5 * SECOND);
  fail_if (fixture.path->is_stalled);
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 80 * PACKET);
  /* Immediately after the first report, a second report arrives, which says
   * that all messages have arrived. The path must not be marked as stalled. */
  for (; i < 100; i++)
    arrive (&fixture, i);
  report_late (&fixture, START + 2 * SECOND + DELAY, START + 5 * SECOND);
  fail_if (fixture.path->is_stalled);
  fail_unless_equals_uint64 (fixture.path->sent.in_flight, 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (jitter_is_no_stall)
{
  Fixture fixture;

  fixture_init_waiting (&fixture);
  fixture.path->delays.jitter = 50 * MS;
  report (&fixture, START + 40 * MS + DELAY + 290 * MS);
  fail_if (fixture.path->is_stalled);
  report (&fixture, START + 40 * MS + DELAY + 310 * MS);
  fail_unless (fixture.path->is_stalled);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* At 10 kbit/s a packet takes 1.12 s. */
GST_START_TEST (slow_path_is_not_stalled)
{
  Fixture fixture;

  fixture_init_waiting (&fixture);
  fixture.path->limits.delivery_rate = 10000;
  report (&fixture, START + SECOND);
  fail_if (fixture.path->is_stalled);
  fixture.path->limits.delivery_rate = 10000;
  fixture.path->limits.is_app_limited = FALSE;
  report (&fixture, START + 40 * MS + DELAY + 1120 * MS + 110 * MS);
  fail_unless (fixture.path->is_stalled);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A message is overdue, and no message has arrived for 60 ms. Such a gap is
 * expected to last as long again, so it will last 120 ms in total. The expected
 * delay must therefore be at least the usual delay (20 ms) plus 120 ms. */
GST_START_TEST (gap_is_expected_to_last_as_long_again)
{
  const guint64 came = START + 40 * MS + DELAY;
  guint64 before, written;
  Fixture fixture;

  fixture_init_waiting (&fixture);
  mmtp_path_update_delay (fixture.path, START + 60 * MS, 0);
  written = came + 30 * MS;
  report (&fixture, written);
  fail_if (mmtp_path_is_overdue (fixture.path));
  before = mmtp_path_get_cautious_delay (fixture.path, written, FALSE);
  fail_unless (before < 2 * DELAY);
  written = came + 60 * MS;
  make_fast (&fixture);
  report (&fixture, written);
  fail_unless (mmtp_path_is_overdue (fixture.path));
  fail_if (fixture.path->is_stalled);
  fail_unless (mmtp_path_get_cautious_delay (fixture.path, written, FALSE) >=
      fixture.path->delay + 2 * fixture.path->gap);
  fail_unless (fixture.path->gap > 59 * MS && fixture.path->gap <= 60 * MS);
  /* The overdue message arrives and is reported. The path must then have no
   * overdue message. */
  arrive (&fixture, 1);
  report (&fixture, written + 10 * MS);
  fail_if (mmtp_path_is_overdue (fixture.path));
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (jitter_is_no_gap)
{
  const guint64 came = START + 40 * MS + DELAY;
  Fixture fixture;

  fixture_init_waiting (&fixture);
  fixture.path->delays.jitter = 40 * MS;
  report (&fixture, came + 110 * MS);
  fail_if (mmtp_path_is_overdue (fixture.path));
  fixture.path->delays.jitter = 40 * MS;
  make_fast (&fixture);
  report (&fixture, came + 112 * MS);
  fail_unless (mmtp_path_is_overdue (fixture.path));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* If the report about a message is overdue, the message must count as missing.
 * The sender cannot know whether the message was lost, or whether the message
 * arrived and only the return path has failed. */
GST_START_TEST (message_is_missing_when_its_report_is)
{
  const MmtpSent *sent;
  guint64 limit;
  Fixture fixture;

  fixture_init_waiting (&fixture);
  arrive (&fixture, 1);
  report (&fixture, START + 70 * MS);
  mmtp_path_update_delay (fixture.path, START + 80 * MS, 0);
  send (&fixture, START + 80 * MS, 1);
  sent = mmtp_sent_log_get (&fixture.path->sent, 2);
  fail_unless (sent->expected >= START + 80 * MS + DELAY);
  limit = sent->expected + DELAY + fixture.path->report_interval / 2 * 3 +
      30 * MS;
  fail_if (mmtp_path_is_missing (fixture.path, sent, limit));
  fail_unless (mmtp_path_is_missing (fixture.path, sent, limit + 1));
  fail_unless (mmtp_path_is_in_doubt (fixture.path, limit + 1));
  fail_if (mmtp_path_is_overdue (fixture.path));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* If the user has configured the rate of a path, the sender uses this rate
 * without measuring the path. A late message or a late report is then no reason
 * to suspect the path, so the sender must never suspect it. The MMTP paper also
 * uses configured rates. */
GST_START_TEST (known_path_is_never_in_doubt)
{
  Fixture fixture;

  fixture_init (&fixture, RATE);
  send (&fixture, START, 1);
  arrive (&fixture, 0);
  report (&fixture, START + 50 * MS);
  send (&fixture, START + 40 * MS, 1);
  report (&fixture, START + 10 * SECOND);
  fail_if (mmtp_path_is_overdue (fixture.path));
  fail_if (mmtp_path_is_in_doubt (fixture.path, START + 20 * SECOND));
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (nothing_is_stalled_before_anything_came)
{
  Fixture fixture;

  fixture_init (&fixture, 0);
  send (&fixture, START, 1);
  report (&fixture, START + SECOND);
  fail_if (fixture.path->is_stalled);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- application-limited -------------------------------------------------- */

GST_START_TEST (application_limited_packets_are_marked)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 0);
  send (&fixture, START, 4);
  mmtp_path_note_idle (fixture.path);
  send (&fixture, START + 10 * MS, 4);
  for (i = 0; i < 8; i++)
    fail_unless (mmtp_sent_log_get (&fixture.path->sent,
            i)->is_app_limited == (i >= 4));
  /* The sender has sent the packets 0 to 3 and has no more data, so the path is
   * not full. Packet 4 and the packets after it must therefore have the flag
   * is_app_limited. The sender must stop setting this flag when a report
   * acknowledges packet 4. A packet that is sent after this report must not
   * have the flag. */
  for (i = 0; i < 4; i++)
    arrive (&fixture, i);
  report (&fixture, START + 50 * MS);
  send (&fixture, START + 60 * MS, 1);
  fail_unless (mmtp_sent_log_get (&fixture.path->sent, 8)->is_app_limited);
  arrive (&fixture, 4);
  report (&fixture, START + 100 * MS);
  send (&fixture, START + 110 * MS, 1);
  fail_if (mmtp_sent_log_get (&fixture.path->sent, 9)->is_app_limited);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (limits_say_that_the_application_limits)
{
  Fixture fixture;

  fixture_init (&fixture, 0);
  run (&fixture, START, START + 2 * SECOND, TRUE);
  fail_unless (fixture.path->limits.is_app_limited);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- draining ------------------------------------------------------------- */

/* The application keeps the path busy all the time, so the queue of the path
 * never becomes empty. The base delay of the path therefore contains a queueing
 * delay. To measure the base delay without the queue, the sender must drain the
 * path every ten seconds: it sends less until the queue is empty.
 */
GST_START_TEST (busy_path_is_drained_each_ten_seconds)
{
  Fixture fixture;
  guint64 window, now;

  fixture_init (&fixture, 0);
  run (&fixture, START, START + 9 * SECOND, FALSE);
  fail_unless_equals_uint64 (fixture.path->drain.window, 0);
  for (now = START + 9 * SECOND; now < START + 11 * SECOND &&
      !fixture.path->drain.window; now += 50 * MS)
    run (&fixture, now, now + 50 * MS, FALSE);
  fail_unless (fixture.path->drain.window > 0);
  window = fixture.path->drain.window;
  fail_unless (window >= 2 * PACKET);
  fail_unless (window < fixture.path->limits.window);
  /* While the sender drains the path, the bytes in flight must not exceed
   * `drain.window`. The `reserve`, by which a path may exceed its congestion
   * window at other times, must not be used. */
  fixture.path->limits.reserve = 100 * PACKET;
  while (mmtp_path_has_window (fixture.path, MAX_SIZE, TRUE))
    send (&fixture, now, 1);
  fail_unless (fixture.path->sent.in_flight <= window);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (delay_of_a_drained_path_is_its_base)
{
  Fixture fixture;
  guint64 now, number;

  fixture_init (&fixture, 0);
  run (&fixture, START, START + SECOND, FALSE);
  /* The one-way delay of the path increases from DELAY to 80 ms. The sender
   * must begin to drain the path. The base delay must not change yet. */
  fixture.delay = 80 * MS;
  for (now = START + SECOND; !fixture.path->drain.window; now += 50 * MS)
    run (&fixture, now, now + 50 * MS, FALSE);
  fail_unless_equals_int64 (mmtp_path_delay_get_base (&fixture.path->delays),
      DELAY);
  /* The next packet is sent while earlier packets still wait in the queue of
   * the path. It has to wait behind them, so its delay contains a queueing
   * delay. This delay must not become the base delay. */
  send (&fixture, now, 1);
  fixture.delay = 70 * MS;
  report_all (&fixture, now + 50 * MS);
  fail_unless (fixture.path->drain.window > 0);
  number = fixture.path->drain.from;
  fail_unless_equals_uint64 (number, fixture.path->sent.next);
  fixture.delay = 60 * MS;
  send (&fixture, now + 80 * MS, 1);
  report_all (&fixture, now + 120 * MS);
  fail_unless_equals_uint64 (fixture.path->drain.window, 0);
  fail_unless_equals_int64 (mmtp_path_delay_get_base (&fixture.path->delays),
      60 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The sender drains a path: it sends less until the queue of the path is empty,
 * in order to measure the base delay again. A drain normally ends when a REPORT
 * covers a message that was sent during the drain. If no such REPORT arrives,
 * the drain ends after a time limit, and the base delay does not change. */
GST_START_TEST (drain_ends_by_itself)
{
  Fixture fixture;
  guint64 now;

  fixture_init (&fixture, 0);
  for (now = START; !fixture.path->drain.window; now += 50 * MS)
    run (&fixture, now, now + 50 * MS, FALSE);
  fixture.delay = 200 * MS;
  report (&fixture, now + 350 * MS);
  fail_unless (fixture.path->drain.window > 0);
  report (&fixture, now + 450 * MS);
  fail_unless_equals_uint64 (fixture.path->drain.window, 0);
  fail_unless_equals_int64 (mmtp_path_delay_get_base (&fixture.path->delays),
      DELAY);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (idle_and_configured_paths_are_not_drained)
{
  Fixture fixture;
  guint64 now;

  fixture_init (&fixture, 0);
  for (now = START; now < START + 60 * SECOND; now += 50 * MS) {
    run (&fixture, now, now + 50 * MS, TRUE);
    fail_unless_equals_uint64 (fixture.path->drain.window, 0);
  }
  fixture_clear (&fixture);
  fixture_init (&fixture, RATE);
  for (now = START; now < START + 60 * SECOND; now += 50 * MS) {
    run (&fixture, now, now + 50 * MS, FALSE);
    fail_unless_equals_uint64 (fixture.path->drain.window, 0);
  }
  fixture_clear (&fixture);
}

GST_END_TEST;

/* --- pacing, delays [4.4] ------------------------------------------------- */

/* A configured path is paced at 97 % of its rate. */
GST_START_TEST (token_comes_when_the_packet_has_gone)
{
  const guint64 time = 41237 * MS / 1000;
  Fixture fixture;

  fixture_init (&fixture, RATE);
  send (&fixture, START + 100 * MS, 1);
  /* The path was idle for 100 ms. It must nevertheless not send a large burst.
   * Pacing allows the bytes of at most 1 ms at once, because a timer may be up
   * to 1 ms late. */
  fail_unless (ABS ((gint64) (fixture.path->token - (START + 99 * MS + time)))
      < (gint64) MS / 5);
  send (&fixture, fixture.path->token, 1);
  send (&fixture, fixture.path->token, 2);
  fail_unless (ABS ((gint64) (fixture.path->token - (START + 99 * MS + 4 *
                  time))) < (gint64) MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The rate of a path with little traffic is not known, so its `pacing_rate` may
 * be too low. Packets may be sent on such a path at twice `pacing_rate`, so
 * that the stream can move to it at once when another path fails. */
GST_START_TEST (pacing_is_faster_while_the_application_limits)
{
  Fixture fixture;

  fixture_init (&fixture, 0);
  fixture.path->limits.pacing_rate = 1120000;
  fixture.path->limits.is_app_limited = FALSE;
  fixture.path->token = START;
  send (&fixture, START, 1);
  fail_unless_equals_uint64 (fixture.path->token, START + 10 * MS);
  fixture.path->limits.is_app_limited = TRUE;
  send (&fixture, START + 10 * MS, 1);
  fail_unless_equals_uint64 (fixture.path->token, START + 15 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Packets that are paced may still leave in a burst, if the caller sends them
 * late. The burst must not be larger than the bytes that the pacing allows in
 * one millisecond, plus one packet. The pacing allows `pacing_rate`, or twice
 * `pacing_rate` if the application sends less than the path can carry
 * (is_app_limited). */
GST_START_TEST (burst_is_what_the_pacing_allows_in_a_millisecond)
{
  static const guint64 rates[] = { 100000, 10000000, 400000000, 8000000000 };
  const guint gain = __i__ % 2 ? 2 : 1;
  const guint64 rate = rates[__i__ / 2];
  const guint64 limit = gain * rate / 8 / 1000 + PACKET;
  GRand *rand = g_rand_new_with_seed (26);
  guint64 now = START, burst, largest = 0;
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 0);
  fixture.path->limits.pacing_rate = rate;
  fixture.path->limits.is_app_limited = gain > 1;
  fixture.path->token = START;
  for (i = 0; i < 1000; i++) {
    now += g_rand_int_range (rand, 0, 20 * MS);
    for (burst = 0; fixture.path->token <= now; burst += PACKET)
      mmtp_path_sent (fixture.path, now, MAX_SIZE, i, TRUE);
    fail_unless (burst <= limit, "%" G_GUINT64_FORMAT " bytes at once", burst);
    largest = MAX (largest, burst);
  }
  fail_unless (largest + PACKET >= limit);
  fixture_clear (&fixture);
  g_rand_free (rand);
}

GST_END_TEST;

/* The safe delay of a path is a delay that hardly any packet exceeds. It is
 * `high_delay` plus a safety margin. A packet is late if its delay exceeds the
 * initial delay (D0), here 1 s. The margin must not raise the safe delay above
 * 7/8 of D0, so that a packet can wait at the sender for at least 1/8 of D0.
 *
 * The first case is the infrared link of the MMTP paper. Without the limit of
 * 7/8, its safe delay would be 883 ms: a `high_delay` of 746 ms and a margin of
 * 137 ms. It must be limited to 875 ms. */
GST_START_TEST (safety_leaves_an_eighth_of_the_time_for_waiting)
{
  Fixture fixture;

  fixture_init (&fixture, RATE);
  fixture.path->delay = 197 * MS;
  fixture.path->high_delay = 746 * MS;
  fail_unless_equals_uint64 (mmtp_path_get_safe_delay (fixture.path, START),
      875 * MS);
  fixture.path->deadline = 4 * SECOND;
  fail_unless_equals_uint64 (mmtp_path_get_safe_delay (fixture.path, START),
      746 * MS + 549 * MS / 4);
  /* The safe delay is `high_delay` plus a safety margin, limited to 7/8 of
   * `deadline` (the latency of the session). Here `high_delay` alone exceeds
   * this limit. The safe delay must then be `high_delay`, without a margin. */
  fixture.path->deadline = SECOND;
  fixture.path->high_delay = 900 * MS;
  fail_unless_equals_uint64 (mmtp_path_get_safe_delay (fixture.path, START),
      900 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* If the rate of a path is not configured, the safe delay must not depend on
 * `high_delay`, the highest recent delay. On such a path, the high delay of one
 * message does not predict the delay of the next message. */
GST_START_TEST (safety_of_measured_paths_is_the_jitter)
{
  Fixture fixture;
  guint64 expected;

  fixture_init (&fixture, 0);
  fixture.path->delay = 50 * MS;
  fixture.path->high_delay = 900 * MS;
  expected = mmtp_path_get_expected_delay (fixture.path, START);
  fail_unless (expected >= 50 * MS);
  fail_unless (expected < 100 * MS);
  fail_unless_equals_uint64 (mmtp_path_get_safe_delay (fixture.path, START),
      expected);
  fixture.path->delays.jitter = 10 * MS;
  fail_unless_equals_uint64 (mmtp_path_get_safe_delay (fixture.path, START),
      expected + 20 * MS);
  fixture.path->delays.jitter = 300 * MS;
  fail_unless_equals_uint64 (mmtp_path_get_safe_delay (fixture.path, START),
      expected + 125 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* If only a few control messages were sent on a path, its measured rate is very
 * low. The expected delay must not be computed from this rate. Otherwise, the
 * sender would expect each packet to arrive too late. */
GST_START_TEST (an_unused_path_takes_no_longer_than_a_message_of_control)
{
  guint64 expected;
  Fixture fixture;

  fixture_init (&fixture, 0);
  send_control (&fixture, START, 1);
  report_all (&fixture, START + DELAY);
  mmtp_path_update_delay (fixture.path, START + 2 * DELAY, 0);
  expected = mmtp_path_get_expected_delay (fixture.path, START + 2 * DELAY);
  fail_unless_equals_uint64 (expected, fixture.path->delay);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Sets the rate of the path to 1.12 Mbit/s. The transmission of a packet, which
 * has 1400 bytes with its headers, then takes 10 ms. */
static void
set_rate (Fixture * fixture, gboolean is_app_limited)
{
  MmtpRateLimits *limits = &fixture->path->limits;

  limits->delivery_rate = limits->peak_rate = 1120000;
  limits->is_app_limited = is_app_limited;
}

/* The expected delay of the next packet must include the time that the path
 * needs to transmit all packets before it. */
GST_START_TEST (expected_delay_counts_what_is_in_flight)
{
  Fixture fixture;
  guint64 before;

  fixture_init (&fixture, 0);
  fixture.path->delay = 50 * MS;
  set_rate (&fixture, FALSE);
  before = mmtp_path_get_expected_delay (fixture.path, START);
  fail_unless_equals_uint64 (before, 60 * MS);
  send (&fixture, START, 50);
  fail_unless_equals_uint64 (mmtp_path_get_expected_delay (fixture.path,
          START), before + 500 * MS);
  fail_unless_equals_uint64 (mmtp_path_get_expected_delay (fixture.path,
          START + 200 * MS), before + 300 * MS);
  /* If the application sends less than the path can carry, the rate of the path
   * is unknown. The bytes in flight must then not increase the expected delay.
   */
  set_rate (&fixture, TRUE);
  fail_unless (mmtp_path_get_expected_delay (fixture.path, START) <= before);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The path transmits one packet in 10 ms. A control message establishes the
 * base delay DELAY. The test then sends `n` packets at the same time. All times
 * below count from this moment. The sender expects that the path has
 * transmitted the first ten packets at 100 ms. But a report says that the delay
 * of the tenth packet was 200 ms longer than the base delay, so the path has
 * transmitted the tenth packet only at 200 ms.
 *
 * The sender must correct its prediction. At 200 ms, `n` - 10 packets are still
 * in the queue. The path needs 10 ms for each of them. The corrected prediction
 * must say that the path is busy until 200 ms + (`n` - 10) * 10 ms. */
static void
check_predicted (guint n)
{
  Fixture fixture;
  guint64 expected = START + SECOND + 200 * MS + (n - 10) * 10 * MS;

  fixture_init (&fixture, 0);
  send_control (&fixture, START, 1);
  arrive (&fixture, 0);
  report (&fixture, START + DELAY);
  set_rate (&fixture, FALSE);
  send (&fixture, START + SECOND, n);
  fixture.delay = DELAY + 200 * MS;
  arrive (&fixture, 10);
  report (&fixture, START + SECOND + fixture.delay);
  fail_unless (fixture.path->bottleneck.busy_until >= expected - MS &&
      fixture.path->bottleneck.busy_until <= expected + MS,
      "%u packets: %" G_GINT64_FORMAT " ns later than expected", n,
      (gint64) (fixture.path->bottleneck.busy_until - expected));
  fixture_clear (&fixture);
}

GST_START_TEST (report_corrects_the_predicted_queue)
{
  check_predicted (10);
  check_predicted (11);
  check_predicted (50);
  /* With 600 packets in flight, the sender uses only the sum of their sizes,
   * and ignores pauses between them. This burst has no pauses, so the
   * prediction must be as exact as with fewer packets. */
  check_predicted (600);
}

GST_END_TEST;

/* In the last report, the queueing delay was 100 ms. The predicted delay is
 * only 20 ms, because the sender has sent only two packets since then. If the
 * session has only one path, the predicted delay must be used. If it has
 * several paths, the longer of the two delays must be used. */
GST_START_TEST (several_paths_need_the_longer_queueing_delay)
{
  const guint64 now = START + SECOND;
  guint64 only, several;
  Fixture fixture;

  fixture_init (&fixture, 0);
  send_control (&fixture, START, 1);
  arrive (&fixture, 0);
  report (&fixture, START + DELAY);
  send (&fixture, START + 100 * MS, 1);
  fixture.delay = DELAY + 100 * MS;
  arrive (&fixture, 1);
  report_late (&fixture, now, now);
  set_rate (&fixture, FALSE);
  fixture.path->delay = DELAY;
  send (&fixture, now, 2);
  only = mmtp_path_get_expected_delay (fixture.path, now);
  fail_unless_equals_uint64 (only, DELAY + 30 * MS);
  fixture.path->has_other_paths = TRUE;
  several = mmtp_path_get_expected_delay (fixture.path, now);
  /* The reported queueing delay of 100 ms counts only up to a limit: the time
   * in which the path transmits the two packets in flight and three more
   * packets. */
  fail_unless_equals_uint64 (several, DELAY + 60 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* `busy_until` is the predicted time at which the path has transmitted all
 * packets. The fourth packet is sent while the path is still busy. The fifth
 * packet is sent after the path was idle for a long time. The path cannot begin
 * to transmit the fifth packet earlier, so `busy_until` must be computed from
 * the sending time of this packet. */
GST_START_TEST (prediction_counts_pauses)
{
  Fixture fixture;

  fixture_init (&fixture, 0);
  set_rate (&fixture, FALSE);
  send (&fixture, START, 3);
  fail_unless_equals_uint64 (fixture.path->bottleneck.busy_until,
      START + 30 * MS);
  send (&fixture, START + 25 * MS, 1);
  fail_unless_equals_uint64 (fixture.path->bottleneck.busy_until,
      START + 40 * MS);
  send (&fixture, START + 100 * MS, 1);
  fail_unless_equals_uint64 (fixture.path->bottleneck.busy_until,
      START + 110 * MS);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The field `long_round_trips` contains the round-trip times of about the last
 * minute. The minimum of these times is called the base.
 *
 * At the beginning, the path is idle, and the round-trip time is short. Then a
 * queue delays all messages, so all new round-trip times are long. For about a
 * minute, the base must still be the short round-trip time of the idle path.
 * When the minute is over, the base must be the long round-trip time. */
GST_START_TEST (round_trip_of_the_idle_path_is_kept_for_a_minute)
{
  const MmtpPathDelay *kept;
  Fixture fixture;
  guint64 now;

  fixture_init (&fixture, 0);
  kept = &fixture.path->long_round_trips;
  for (now = START; now < START + 50 * SECOND; now += 100 * MS)
    mmtp_path_add_round_trip (fixture.path, now, 10 * DELAY);
  fail_unless_equals_uint64 (fixture.path->stats.round_trip, 10 * DELAY);
  fail_unless_equals_uint64 (mmtp_path_delay_get_base (kept), 2 * DELAY);
  for (; now < START + 80 * SECOND; now += 100 * MS)
    mmtp_path_add_round_trip (fixture.path, now, 10 * DELAY);
  fail_unless_equals_uint64 (mmtp_path_delay_get_base (kept), 10 * DELAY);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A message takes 20 ms to the receiver. If the report about the message
 * returns on the same path, the report takes 20 ms, too, and the round-trip
 * time is 40 ms. Here the report takes only 5 ms, as if it returned on a faster
 * path of the session. The feedback time, from the sending of a message to the
 * arrival of its report, is therefore 25 ms.
 *
 * The test has two cases:
 * - The session has other paths. The sender must measure a feedback time of 25
 *   ms.
 * - The session has only this path. The sender must not measure a feedback
 *   time: the value stays 0, and the sender uses the round-trip time instead.
 *
 * The receiver writes each report 3 ms after the newest message has arrived.
 * The feedback time must not include these 3 ms. */
GST_START_TEST (reports_on_a_faster_path_shorten_the_feedback_time)
{
  guint i, k;

  for (i = 0; i < 2; i++) {
    guint64 now = START;
    Fixture fixture;

    fixture_init (&fixture, 0);
    fixture.path->has_other_paths = i == 1;
    for (k = 0; k < 40; k++, now += 50 * MS) {
      send (&fixture, now, 1);
      arrive (&fixture, fixture.path->sent.next - 1);
      report_late (&fixture, now + 23 * MS, now + 28 * MS);
    }
    fail_unless_equals_int (fixture.path->feedback.mean / MS, i == 1 ? 25 : 0);
    fixture_clear (&fixture);
  }
}

GST_END_TEST;

/* --- detection of paths that deliver nothing (MMTP paper, 4.6) ------------ */

static void
note_missed (Fixture * fixture, guint64 number, guint n)
{
  while (n--)
    mmtp_path_note_missed (fixture->path, number++);
}

/* A path counts as delivering nothing if two conditions hold: for at least
 * eight large messages, it is known whether they have arrived, and at least 75
 * % of these messages are lost.
 *
 * - The first six messages are lost, and the seventh arrives. Seven messages
 *   are too few to judge the path, so the path must still count as delivering.
 * - The eighth message arrives, too. There are now enough messages to judge the
 *   path, and 6 of 8 messages (75 %) are lost. The path must count as
 *   delivering nothing, although its last two messages have arrived.
 * - Then 20 more messages arrive. The share of lost messages becomes lower than
 *   75 %, and the path must count as delivering again. */
GST_START_TEST (does_not_deliver_after_many_losses)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 0);
  send (&fixture, START, 7);
  arrive (&fixture, 6);
  fixture.record.lost = 6;
  report (&fixture, START + 50 * MS);
  note_missed (&fixture, 0, 6);
  fail_unless (mmtp_large_losses_are_few (&fixture.path->large_losses));
  send (&fixture, START + 50 * MS, 1);
  arrive (&fixture, 7);
  report (&fixture, START + 100 * MS);
  fail_if (mmtp_large_losses_are_few (&fixture.path->large_losses));
  send (&fixture, START + 100 * MS, 20);
  for (i = 8; i < 28; i++)
    arrive (&fixture, i);
  report (&fixture, START + 150 * MS);
  fail_unless (mmtp_large_losses_are_few (&fixture.path->large_losses));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* All eight large messages are lost, and a control message arrives. The path
 * must immediately count as delivering nothing. */
GST_START_TEST (does_not_deliver_when_only_small_messages_come)
{
  Fixture fixture;

  fixture_init (&fixture, 0);
  send (&fixture, START, 8);
  send_control (&fixture, START, 1);
  arrive (&fixture, 8);
  fixture.record.lost = 8;
  report (&fixture, START + 50 * MS);
  note_missed (&fixture, 0, 8);
  fail_if (mmtp_large_losses_are_few (&fixture.path->large_losses));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Sends `n` bursts of ten messages, one burst every 50 ms. The first `lost`
 * messages of each burst are lost. The receiver reports after each burst.
 * Returns the time of the last report. */
static guint64
lose_some (Fixture * fixture, guint64 now, guint n, guint lost)
{
  guint i;

  for (; n > 0; n--) {
    guint64 first = fixture->path->sent.next;

    send (fixture, now, 10);
    for (i = lost; i < 10; i++)
      arrive (fixture, first + i);
    fixture->record.lost += lost;
    now += 50 * MS;
    report (fixture, now);
    note_missed (fixture, first, lost);
  }
  return now;
}

/* The path delivers 200 messages per second. Then its queue overflows: one
 * report shows 100 lost messages, and the message after them arrives. The path
 * must still count as delivering. If 90 % of the messages are lost for three
 * seconds, the path must count as delivering nothing. */
GST_START_TEST (delivers_although_its_queue_overflows)
{
  Fixture fixture;
  guint64 first, now;

  fixture_init (&fixture, 0);
  now = lose_some (&fixture, START, 45, 0);
  first = fixture.path->sent.next;
  send (&fixture, now, 101);
  arrive (&fixture, first + 100);
  fixture.record.lost += 100;
  report (&fixture, now + 50 * MS);
  note_missed (&fixture, first, 100);
  fail_unless (mmtp_large_losses_are_few (&fixture.path->large_losses));
  now = lose_some (&fixture, now + 50 * MS, 20, 0);
  fail_unless (mmtp_large_losses_are_few (&fixture.path->large_losses));
  lose_some (&fixture, now, 60, 9);
  fail_if (mmtp_large_losses_are_few (&fixture.path->large_losses));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* mmtp_large_losses_are_few () must judge a path only by its large messages.
 * Before the stream begins, nearly all messages are short control messages.
 * Their loss must not make the function return FALSE. */
GST_START_TEST (lost_control_messages_are_no_measure)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 0);
  send_control (&fixture, START, 100);
  send (&fixture, START, 8);
  for (i = 14; i < 107; i++)
    arrive (&fixture, i);
  arrive (&fixture, 107);
  fixture.record.lost = 15;
  report (&fixture, START + 50 * MS);
  note_missed (&fixture, 0, 14);
  note_missed (&fixture, 107, 1);
  fail_unless (mmtp_large_losses_are_few (&fixture.path->large_losses));
  /* A message may be reported as lost several times. Its loss must be counted
   * only once. */
  note_missed (&fixture, 107, 1);
  note_missed (&fixture, 107, 1);
  fail_unless (mmtp_large_losses_are_few (&fixture.path->large_losses));
  fail_unless_equals_int (fixture.path->large_losses.lost, 1);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A single data packet on an idle path takes 40 ms longer than a short control
 * message. The sender must conclude that the path needs 40 ms for the bytes of
 * each data packet, so each packet that is in flight delays the next packet by
 * 40 ms. The sender must reach this conclusion without a measurement at the
 * full rate of the path. */
GST_START_TEST (single_packets_tell_how_long_others_take)
{
  guint64 now = START + SECOND, delay;
  Fixture fixture;

  fixture_init (&fixture, 0);
  fail_if (mmtp_path_is_measured (fixture.path));
  send_control (&fixture, START, 1);
  arrive (&fixture, 0);
  report (&fixture, START + DELAY);
  fail_if (mmtp_path_is_measured (fixture.path));
  mmtp_path_note_idle (fixture.path);
  send (&fixture, START + 100 * MS, 1);
  fixture.delay = DELAY + 40 * MS;
  arrive (&fixture, 1);
  report (&fixture, START + 160 * MS);
  fail_unless (mmtp_path_is_measured (fixture.path));
  mmtp_path_update_delay (fixture.path, now, 0);
  delay = mmtp_path_get_cautious_delay (fixture.path, now, TRUE);
  fail_unless (delay >= 60 * MS - TICK
      && delay <= 65 * MS, "%" G_GUINT64_FORMAT, delay);
  send (&fixture, now, 2);
  delay = mmtp_path_get_cautious_delay (fixture.path, now, TRUE);
  fail_unless (delay >= 140 * MS - TICK
      && delay <= 145 * MS, "%" G_GUINT64_FORMAT, delay);
  /* The measured times must also be used if no other path has unused capacity.
   */
  fail_unless_equals_uint64 (mmtp_path_get_cautious_delay (fixture.path, now,
          FALSE), delay);
  delay = mmtp_path_get_cautious_delay (fixture.path, now + 80 * MS, TRUE);
  fail_unless (delay >= 60 * MS - TICK
      && delay <= 65 * MS, "%" G_GUINT64_FORMAT, delay);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* A short message arrives after DELAY. */
static void
deliver_short_message (Fixture * fixture)
{
  send_control (fixture, START, 1);
  report_all (fixture, START + DELAY);
}

/* A PROBE, which is as large as a packet, arrives `time` ns later than a short
 * message would. Returns the window in bytes, and clears the fixture. */
static guint64
get_window_after_probe (Fixture * fixture, guint64 time)
{
  guint64 window;

  mmtp_path_sent (fixture->path, START + 100 * MS, MAX_SIZE, MMTP_NO_STREAM,
      TRUE);
  fixture->delay = DELAY + time;
  report_all (fixture, START + 100 * MS + fixture->delay);
  window = fixture->path->limits.window;
  fixture_clear (fixture);
  return window;
}

/* A path has joined a session, and its PROBE took 40 ms longer than a short
 * message. Its rate is therefore 280 kbit/s. The window must become the bytes
 * that the path carries in the round trip of 40 ms and 100 ms more. */
GST_START_TEST (joined_path_begins_with_the_rate_of_its_probe)
{
  Fixture fixture;
  gint64 window;

  fixture_init_path (&fixture, 0, TRUE);
  deliver_short_message (&fixture);
  window = get_window_after_probe (&fixture, 40 * MS);
  fail_unless (ABS (window - 4900) <= 10, "%" G_GINT64_FORMAT, window);
  /* A difference below a millisecond is noise, so the rate is a packet in a
   * millisecond at most. */
  fixture_init_path (&fixture, 0, TRUE);
  deliver_short_message (&fixture);
  fail_unless_equals_uint64 (get_window_after_probe (&fixture, 0),
      140 * PACKET);
}

GST_END_TEST;

/* The PROBE changes the initial window of ten packets only on a path that has
 * joined, that was measured before, and that has not carried the stream. */
GST_START_TEST (some_probes_give_no_first_rate)
{
  Fixture fixture;

  fixture_init_path (&fixture, 0, FALSE);
  deliver_short_message (&fixture);
  fail_unless (get_window_after_probe (&fixture, 40 * MS) >= 10 * PACKET);
  fixture_init_path (&fixture, 0, TRUE);
  fail_unless (get_window_after_probe (&fixture, 40 * MS) >= 10 * PACKET);
  fixture_init_path (&fixture, 0, TRUE);
  deliver_short_message (&fixture);
  send (&fixture, START + 50 * MS, 1);
  fail_unless (get_window_after_probe (&fixture, 40 * MS) >= 10 * PACKET);
}

GST_END_TEST;

/* Initializes the fixture with a path that has a first estimate of its rate:
 * the OPEN took 40 ms longer than a short message. */
static void
fixture_init_estimated (Fixture * fixture, guint64 rate, gboolean is_minimum)
{
  const MmtpFirstRate first = { rate, is_minimum, 40 * MS };

  fixture_init_full (fixture, 0, &first, FALSE);
}

/* Sends `n` messages of `size` bytes without data at once, and reports them.
 * `transit` is their delay in ns minus that of the OPEN. */
static void
deliver_messages (Fixture * fixture, guint64 now, guint n, guint size,
    gint64 transit)
{
  while (n--)
    mmtp_path_sent (fixture->path, now, size, MMTP_NO_STREAM, FALSE);
  fixture->delay = transit;
  report_all (fixture, now + DELAY);
}

#define SHORT 55                /* size of a KEEPALIVE in bytes */
#define USUAL (-40 * (gint64) MS)       /* transit of a short message */

/* The first estimate of the rate is 240 kbit/s. Two short messages are sent at
 * once, so that the second one waits for the first one. `transit` is the delay
 * of the second one. Returns whether the estimate was dropped. */
static gboolean
is_dropped_after_waiting (gint64 transit)
{
  gboolean is_dropped;
  Fixture fixture;

  fixture_init_estimated (&fixture, 240000, FALSE);
  deliver_messages (&fixture, START, 2, SHORT, transit);
  is_dropped = fixture.path->limits.window >= 40 * PACKET;
  fixture_clear (&fixture);
  return is_dropped;
}

/* The first estimate of the rate is 240 kbit/s, and the window is the minimum
 * of three packets. Delivers two messages of `size` bytes. Returns whether the
 * path then has the window of a path whose rate is unknown. */
static gboolean
is_estimate_dropped (guint size, gint64 first, gint64 second)
{
  gboolean is_dropped;
  Fixture fixture;

  fixture_init_estimated (&fixture, 240000, FALSE);
  fail_unless (fixture.path->limits.window < 4 * PACKET);
  deliver_messages (&fixture, START, 1, size, first);
  deliver_messages (&fixture, START + 100 * MS, 1, size, second);
  is_dropped = fixture.path->limits.window >= 40 * PACKET;
  fixture_clear (&fixture);
  return is_dropped;
}

/* Jitter of at least a quarter of the time from which the rate was estimated
 * replaces the estimate. */
GST_START_TEST (jitter_replaces_the_first_estimate)
{
  fail_if (is_estimate_dropped (SHORT, USUAL, USUAL));
  fail_if (is_estimate_dropped (SHORT, USUAL, USUAL + 9 * MS));
  fail_unless (is_estimate_dropped (SHORT, USUAL, USUAL + 10 * MS));
  /* All messages are slower than the estimate says. */
  fail_if (is_estimate_dropped (SHORT, USUAL + 9 * MS, USUAL + 9 * MS));
  fail_unless (is_estimate_dropped (SHORT, USUAL + 10 * MS, USUAL + 10 * MS));
  /* One message is faster than the estimate says. */
  fail_unless (is_estimate_dropped (SHORT, USUAL - 10 * MS, USUAL));
  /* Caps may be long, so that their delay depends on the rate. */
  fail_if (is_estimate_dropped (300, USUAL + 10 * MS, USUAL + 10 * MS));
}

GST_END_TEST;

/* A message that waits for another one of 83 bytes waits for 2.77 ms if the
 * estimate of 240 kbit/s is right. On a path with a long round trip, other
 * messages are always in flight. Only what exceeds the waiting time is jitter. */
GST_START_TEST (waiting_is_no_jitter)
{
  fail_if (is_dropped_after_waiting (USUAL + 12 * MS));
  fail_unless (is_dropped_after_waiting (USUAL + 13 * MS));
}

GST_END_TEST;

/* In these cases, a long delay does not replace the estimate. */
GST_START_TEST (some_delays_keep_the_first_estimate)
{
  Fixture fixture;
  guint i;

  /* The estimate is a minimum anyway. */
  fixture_init_estimated (&fixture, 240000, TRUE);
  deliver_messages (&fixture, START, 1, SHORT, 0);
  fail_unless (fixture.path->limits.window < 10 * PACKET);
  fixture_clear (&fixture);
  /* The stream itself has shown the rate. */
  fixture_init_estimated (&fixture, 240000, FALSE);
  send (&fixture, START, 1);
  fixture.delay = 0;
  report_all (&fixture, START + DELAY);
  deliver_messages (&fixture, START + 100 * MS, 1, SHORT, 0);
  fail_unless (fixture.path->limits.window < 10 * PACKET);
  fixture_clear (&fixture);
  /* Only the first eight messages are checked. */
  fixture_init_estimated (&fixture, 240000, FALSE);
  for (i = 0; i < 8; i++)
    deliver_messages (&fixture, START + i * 100 * MS, 1, SHORT, USUAL);
  deliver_messages (&fixture, START + SECOND, 1, SHORT, 0);
  fail_unless (fixture.path->limits.window < 10 * PACKET);
  fixture_clear (&fixture);
  /* A window of 280 kB is more than that of a path whose rate is unknown. */
  fixture_init_estimated (&fixture, 16000000, FALSE);
  deliver_messages (&fixture, START, 1, SHORT, 0);
  fail_unless (fixture.path->limits.window >= 280000);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Starts a path. Then sends packets at the time START, without pauses, until
 * the pacing of the path requires a pause. Returns the number of these packets.
 */
static guint
start_with_a_train (Fixture * fixture, gboolean has_other_paths)
{
  guint n;

  fixture_init_path (fixture, 0, has_other_paths);
  for (n = 0; fixture->path->token <= START; n++)
    send (fixture, START, 1);
  return n;
}

/* The packets arrive over a link that takes `time` ns for each packet. The
 * receiver then reports. */
static void
report_train (Fixture * fixture, guint64 time)
{
  guint i, n = fixture->path->sent.next;

  for (i = 0; i < n; i++, fixture->delay += time)
    arrive (fixture, i);
  report (fixture, START + fixture->delay);
}

/* A second path joins a session whose first path carries the stream. The sender
 * sends the first four packets on the second path at once. They arrive 2.8 ms
 * apart. A packet has 1400 bytes, so the path carries 500 bytes per ms.
 *
 * The sender must compute the window from this rate. The round trip of 40 ms
 * and the report period of 50 ms are 90 ms together. The window must be 70 % of
 * the bytes that the path carries in 90 ms. */
GST_START_TEST (joined_path_measures_its_first_packets)
{
  Fixture fixture;

  fail_unless_equals_int (start_with_a_train (&fixture, TRUE), 4);
  fail_unless_equals_int (fixture.path->limits.window, 10 * PACKET);
  report_train (&fixture, 2800 * MS / 1000);
  /* The computation with doubles may round down. */
  fail_unless (ABS ((gint64) fixture.path->limits.window - 31500) <= 1);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* The four packets arrive within 0.3 ms, perhaps because the path delivers
 * packets in batches. The window must not grow to more than eight times the
 * bytes that were in flight. */
GST_START_TEST (batch_enlarges_the_window_only_eightfold)
{
  Fixture fixture;

  fail_unless_equals_int (start_with_a_train (&fixture, TRUE), 4);
  report_train (&fixture, MS / 10);
  fail_unless_equals_int (fixture.path->limits.window, 8 * 4 * PACKET);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* If a session has only one path, the sender must not begin with a burst,
 * because an overflow of the path's queue would harm the whole stream. The
 * sender must send only one packet at first. The test then sends three more
 * packets at the same time, although the sender would not send them yet. The
 * four packets together form a burst. The report about this burst must not
 * increase the congestion window of the path. */
GST_START_TEST (single_path_sends_no_train)
{
  Fixture fixture;

  fail_unless_equals_int (start_with_a_train (&fixture, FALSE), 1);
  send (&fixture, START, 3);
  report_train (&fixture, 2800 * MS / 1000);
  fail_unless (fixture.path->limits.window < 11 * PACKET);
  fixture_clear (&fixture);
}

GST_END_TEST;

static Suite *
mmtppath_suite (void)
{
  Suite *s = suite_create ("mmtppath");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, bytes_are_in_flight_until_they_are_reported);
  tcase_add_test (tc, lost_messages_are_not_in_flight);
  tcase_add_test (tc, report_is_overdue_after_one_and_a_half_periods);
  tcase_add_test (tc, window_limits_what_is_in_flight);
  tcase_add_test (tc, numbers_go_on_when_it_comes_back);
  tcase_add_test (tc, ring_grows_with_what_is_in_flight);
  tcase_add_test (tc, remembers_no_more_than_ranges_can_tell);
  tcase_add_test (tc, more_than_was_sent_is_impossible);
  tcase_add_test (tc, counters_do_not_go_back);
  tcase_add_test (tc, delays_are_transits_less_the_offset);
  tcase_add_test (tc, unmeasured_records_change_no_delay);
  tcase_add_test (tc, minimum_delay_of_a_late_report_counts);
  tcase_add_test (tc, minimum_delay_ages);
  tcase_add_test (tc, report_interval_is_the_recent_maximum);
  tcase_add_test (tc, stall_is_what_should_have_arrived_by_the_receivers_clock);
  tcase_add_test (tc, stalled_return_path_is_no_stall);
  tcase_add_test (tc, jitter_is_no_stall);
  tcase_add_test (tc, slow_path_is_not_stalled);
  tcase_add_test (tc, gap_is_expected_to_last_as_long_again);
  tcase_add_test (tc, jitter_is_no_gap);
  tcase_add_test (tc, message_is_missing_when_its_report_is);
  tcase_add_test (tc, known_path_is_never_in_doubt);
  tcase_add_test (tc, nothing_is_stalled_before_anything_came);
  tcase_add_test (tc, application_limited_packets_are_marked);
  tcase_add_test (tc, limits_say_that_the_application_limits);
  tcase_add_test (tc, busy_path_is_drained_each_ten_seconds);
  tcase_add_test (tc, delay_of_a_drained_path_is_its_base);
  tcase_add_test (tc, drain_ends_by_itself);
  tcase_add_test (tc, idle_and_configured_paths_are_not_drained);
  tcase_add_test (tc, token_comes_when_the_packet_has_gone);
  tcase_add_test (tc, pacing_is_faster_while_the_application_limits);
  tcase_add_loop_test (tc, burst_is_what_the_pacing_allows_in_a_millisecond, 0,
      8);
  tcase_add_test (tc, safety_leaves_an_eighth_of_the_time_for_waiting);
  tcase_add_test (tc, safety_of_measured_paths_is_the_jitter);
  tcase_add_test (tc, an_unused_path_takes_no_longer_than_a_message_of_control);
  tcase_add_test (tc, expected_delay_counts_what_is_in_flight);
  tcase_add_test (tc, report_corrects_the_predicted_queue);
  tcase_add_test (tc, reports_on_a_faster_path_shorten_the_feedback_time);
  tcase_add_test (tc, several_paths_need_the_longer_queueing_delay);
  tcase_add_test (tc, prediction_counts_pauses);
  tcase_add_test (tc, round_trip_of_the_idle_path_is_kept_for_a_minute);
  tcase_add_test (tc, does_not_deliver_after_many_losses);
  tcase_add_test (tc, does_not_deliver_when_only_small_messages_come);
  tcase_add_test (tc, delivers_although_its_queue_overflows);
  tcase_add_test (tc, lost_control_messages_are_no_measure);
  tcase_add_test (tc, single_packets_tell_how_long_others_take);
  tcase_add_test (tc, joined_path_begins_with_the_rate_of_its_probe);
  tcase_add_test (tc, some_probes_give_no_first_rate);
  tcase_add_test (tc, jitter_replaces_the_first_estimate);
  tcase_add_test (tc, waiting_is_no_jitter);
  tcase_add_test (tc, some_delays_keep_the_first_estimate);
  tcase_add_test (tc, joined_path_measures_its_first_packets);
  tcase_add_test (tc, batch_enlarges_the_window_only_eightfold);
  tcase_add_test (tc, single_path_sends_no_train);
  return s;
}

GST_CHECK_MAIN (mmtppath);
