/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks when the sender sends padding on one path. Padding fills the path for
 * a short time, to measure how much the path can carry. The test bitratesteps.c
 * checks how padding and congestion control work together. */

#include <gst/check/gstcheck.h>

#include "mmtppadding.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)
#define START (10 * SECOND)
#define MAX_SIZE 1000
#define OVERHEAD 28
#define RATE 4000000            /* bit/s: of the path */
#define MAX_RATE 1000000        /* bit/s: of the padding */

typedef struct
{
  MmtpPaths paths;
  MmtpPath *path;
  MmtpSendQueue *queue;
  MmtpPolicy policy;
  MmtpPadding padding;
} Fixture;

static void
note_discarded (gpointer user_data, const MmtpUnit * unit,
    MmtpDiscard reason, gboolean is_needed)
{
}

/* Creates a path that carries stream data. Its congestion window is the number
 * of bytes that can be sent in one second at the rate RATE. Its measured
 * delivery rate is RATE, too. During the measurement, the application had no
 * further data to send, so the path may be faster. */
static void
fixture_init (Fixture * fixture, guint64 max_rate)
{
  MmtpPathConfig config = { "a", MAX_SIZE, OVERHEAD };

  memset (fixture, 0, sizeof (*fixture));
  mmtp_paths_init (&fixture->paths);
  fixture->paths.now = START;
  fixture->paths.is_ready = TRUE;
  fixture->path = mmtp_paths_add (&fixture->paths, "a");
  mmtp_path_open (fixture->path, START, &config);
  mmtp_path_add_round_trip (fixture->path, START, 40 * MS);
  mmtp_path_start (fixture->path, START, mmtp_rate_control_find (NULL), NULL);
  fixture->path->state = MMTP_PATH_ACTIVE;
  fixture->path->joined = TRUE;
  fixture->path->report_interval = 50 * MS;
  fixture->path->limits.window = RATE / 8;
  fixture->path->limits.delivery_rate = RATE;
  fixture->path->limits.is_app_limited = TRUE;
  fixture->queue = mmtp_send_queue_new (G_MAXUINT32, note_discarded, NULL);
  mmtp_policy_init (&fixture->policy, &fixture->paths, fixture->queue,
      MMTP_SCHEDULER_ARRIVAL);
  mmtp_padding_init (&fixture->padding, &fixture->paths, fixture->queue,
      &fixture->policy, max_rate);
}

static void
fixture_clear (Fixture * fixture)
{
  mmtp_policy_clear (&fixture->policy);
  mmtp_send_queue_free (fixture->queue);
  mmtp_paths_clear (&fixture->paths);
}

/* Advances the time by `duration` ns in steps of 1 ms. In each step, sends
 * stream data and the padding that is due. Returns the number of padding bits
 * that were sent, including headers. */
static guint64
run (Fixture * fixture, guint64 duration)
{
  const guint64 end = fixture->paths.now + duration;
  guint64 bits = 0;

  while (fixture->paths.now < end) {
    mmtp_fading_add (&fixture->path->data_bytes, fixture->paths.now,
        MMTP_SHARE_PERIOD, MAX_SIZE);
    while (mmtp_padding_poll (&fixture->padding)) {
      mmtp_padding_note_sent (&fixture->padding, fixture->path, MAX_SIZE);
      bits += 8 * (MAX_SIZE + OVERHEAD);
    }
    fixture->paths.now += MS;
  }
  return bits;
}

GST_START_TEST (no_padding_by_default)
{
  Fixture fixture;

  fixture_init (&fixture, 0);
  g_assert_cmpuint (run (&fixture, 10 * SECOND), ==, 0);
  g_assert_cmpuint (mmtp_padding_next_wakeup (&fixture.padding), ==,
      MMTP_NEVER);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Padding is sent in episodes. An episode normally ends when the padding has
 * filled the path. In this test, the measured rate of the path doubles every
 * 100 ms, so the path never seems to be full. Only the upper limits of the
 * padding can end an episode. */
GST_START_TEST (mean_rate_is_bounded)
{
  Fixture fixture;
  guint64 bits = 0;
  guint i;

  fixture_init (&fixture, MAX_RATE);
  for (i = 0; i < 200; i++) {
    bits += run (&fixture, 100 * MS);
    fixture.path->limits.delivery_rate = RATE << MIN (i % 20, 8);
  }
  g_print ("%.2f Mbit/s\n", bits / 20e6);
  g_assert_cmpuint (bits, >, 5 * MAX_RATE);
  g_assert_cmpuint (bits, <=, 21 * MAX_RATE);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Padding is sent in rounds with growing rates. If the measured rate does not
 * grow in the first round, the path is full, and the sender must stop padding.
 * The first round lasts 190 ms: the minimum duration of a round (100 ms), and
 * the time for a round trip and a report interval (together 90 ms). */
GST_START_TEST (episode_ends_when_the_rate_does_not_grow)
{
  Fixture fixture;

  fixture_init (&fixture, 10 * MAX_RATE);
  run (&fixture, SECOND);
  g_assert_cmpuint (run (&fixture, 500 * MS), ==, 0);
  fixture_clear (&fixture);
  fixture_init (&fixture, 10 * MAX_RATE);
  fixture.paths.now += SECOND;
  g_assert_cmpuint (run (&fixture, 200 * MS), <=, RATE / 5);
  fail_if (mmtp_padding_is_active (&fixture.padding, fixture.path));
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Sends stream data until an episode of padding has begun. */
static void
begin_episode (Fixture * fixture)
{
  fixture_init (fixture, MAX_RATE);
  fixture->paths.now += SECOND;
  run (fixture, 20 * MS);
  fail_unless (mmtp_padding_is_active (&fixture->padding, fixture->path));
}

GST_START_TEST (episode_ends_at_a_queue)
{
  Fixture fixture;

  begin_episode (&fixture);
  mmtp_path_delay_add (&fixture.path->delays, START, 0, 0, 0, 10);
  mmtp_path_delay_add (&fixture.path->delays, fixture.paths.now, 30 * MS,
      30 * MS, 30 * MS, 10);
  run (&fixture, 2 * MS);
  fail_if (mmtp_padding_is_active (&fixture.padding, fixture.path));
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (episode_ends_when_the_path_cannot_carry)
{
  Fixture fixture;

  begin_episode (&fixture);
  fixture.path->blocked = TRUE;
  run (&fixture, 2 * MS);
  fail_if (mmtp_padding_is_active (&fixture.padding, fixture.path));
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (padding_never_goes_before_the_stream)
{
  const MmtpPutLimits limits = { MAX_SIZE, 0, G_MAXUINT64, 0 };
  MmtpBuffer buffer = { NULL };
  Fixture fixture;

  begin_episode (&fixture);
  buffer.data = g_bytes_new_take (g_malloc0 (100), 100);
  buffer.due = fixture.paths.now;
  fail_unless (mmtp_send_queue_put (fixture.queue, fixture.paths.now, &buffer,
          &limits));
  g_bytes_unref (buffer.data);
  g_assert_cmpuint (run (&fixture, 20 * MS), ==, 0);
  g_assert_cmpuint (mmtp_padding_next_wakeup (&fixture.padding), ==,
      MMTP_NEVER);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (padding_can_be_switched_off)
{
  Fixture fixture;

  begin_episode (&fixture);
  mmtp_padding_set_max_rate (&fixture.padding, 0);
  g_assert_cmpuint (run (&fixture, SECOND), ==, 0);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Padding measures how much a path can carry, so that an encoder can use it.
 * The path of this test carries no stream data, so no encoder uses the result,
 * and the sender must send no padding. */
GST_START_TEST (silent_stream_gets_no_padding)
{
  Fixture fixture;

  fixture_init (&fixture, MAX_RATE);
  fixture.paths.now += SECOND;
  fail_unless (mmtp_padding_poll (&fixture.padding) == NULL);
  fixture_clear (&fixture);
}

GST_END_TEST;

static Suite *
mmtp_padding_suite (void)
{
  Suite *s = suite_create ("mmtppadding");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, no_padding_by_default);
  tcase_add_test (tc, mean_rate_is_bounded);
  tcase_add_test (tc, episode_ends_when_the_rate_does_not_grow);
  tcase_add_test (tc, episode_ends_at_a_queue);
  tcase_add_test (tc, episode_ends_when_the_path_cannot_carry);
  tcase_add_test (tc, padding_never_goes_before_the_stream);
  tcase_add_test (tc, padding_can_be_switched_off);
  tcase_add_test (tc, silent_stream_gets_no_padding);
  return s;
}

GST_CHECK_MAIN (mmtp_padding);
