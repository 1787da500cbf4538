/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks which packets the sender puts on a lossy path. The sender has two paths.
 * The first one loses packets, and the congestion window of the second one is
 * full. Times are in ns. */

#include <gst/check/gstcheck.h>

#include "mmtppolicy.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define START (10000 * MS)
#define LATENCY (450 * MS)
/* bit/s of the second path */
#define RATE 10000000
/* one-way delay of both paths */
#define DELAY (20 * MS)

typedef struct
{
  MmtpPaths paths;
  MmtpSendQueue *queue;
  MmtpPolicy policy;
} Fixture;

static void
note_discarded (gpointer user_data, const MmtpUnit * unit,
    MmtpDiscard reason, gboolean is_needed)
{
}

/* Adds a path with the estimated rate `rate`, of whose last 1000 messages
 * `lost` are lost. */
static void
add_path (Fixture * fixture, const gchar * name, guint64 rate, guint lost)
{
  const MmtpPathConfig config = { (gchar *) name, 1472, 28, 0, 0 };
  MmtpPath *path = mmtp_paths_add (&fixture->paths, name);

  mmtp_path_open (path, START, &config);
  mmtp_path_add_round_trip (path, START, 2 * DELAY);
  mmtp_path_start (path, START, mmtp_rate_control_find (NULL), rate, FALSE);
  path->limits.delivery_rate = rate;
  path->limits.is_app_limited = FALSE;
  path->state = MMTP_PATH_ACTIVE;
  path->joined = path->confirmed = TRUE;
  path->deadline = LATENCY;
  mmtp_path_delay_add (&path->delays, START, DELAY, DELAY, DELAY, 1);
  mmtp_path_update_delay (path, START, 0);
  mmtp_fading_add (&path->came, START, MMTP_LOSS_PERIOD, 1000 - lost);
  mmtp_fading_add (&path->missing, START, MMTP_LOSS_PERIOD, lost);
}

static void
fixture_init (Fixture * fixture, guint64 rate, guint lost)
{
  memset (fixture, 0, sizeof (*fixture));
  mmtp_paths_init (&fixture->paths);
  fixture->paths.now = START;
  fixture->paths.is_ready = TRUE;
  fixture->paths.fastest = 0;
  add_path (fixture, "lossy", rate, lost);
  add_path (fixture, "full", RATE, 0);
  mmtp_path_sent (fixture->paths.all[1], START, 1000, 0, TRUE);
  fixture->paths.all[1]->limits.window = 1000;
  fixture->queue = mmtp_send_queue_new (G_MAXUINT32, note_discarded, NULL);
  mmtp_send_queue_set_delay (fixture->queue, LATENCY);
  mmtp_policy_init (&fixture->policy, &fixture->paths, fixture->queue,
      MMTP_SCHEDULER_ARRIVAL);
}

static void
fixture_clear (Fixture * fixture)
{
  mmtp_policy_clear (&fixture->policy);
  mmtp_send_queue_free (fixture->queue);
  mmtp_paths_clear (&fixture->paths);
}

/* Returns whether the lossy path, which has the estimated rate `rate` and has
 * lost `lost` of its last 1000 messages, carries a packet of a key frame whose
 * deadline is `left` ns from now. */
static gboolean
carries (guint64 rate, guint lost, guint64 left)
{
  const MmtpPutLimits limits = { 1000, 0, G_MAXUINT64, 0 };
  MmtpBuffer buffer = { g_bytes_new_take (g_malloc0 (500), 500),
    START + left - LATENCY, MMTP_FLAG_MARKER
  };
  MmtpPath *path = NULL;
  Fixture fixture;
  gboolean is_sent;

  fixture_init (&fixture, rate, lost);
  fail_unless (mmtp_send_queue_put (fixture.queue, START, &buffer, &limits));
  is_sent = mmtp_policy_choose (&fixture.policy, &path) != NULL;
  if (is_sent)
    fail_unless_equals_int (path->id, 0);
  fixture_clear (&fixture);
  g_bytes_unref (buffer.data);
  return is_sent;
}

/* A path with 10 % losses and a tenth of the rate. A report about a loss needs
 * DELAY and up to a report period, and the retransmission needs DELAY. This
 * time counts one and a half times. */
GST_START_TEST (lossy_path_carries_only_what_can_be_sent_again)
{
  fail_if (carries (RATE / 10, 100, 60 * MS));
  fail_unless (carries (RATE / 10, 100, 300 * MS));
  /* If the path loses nothing, there is no need to wait for a report. */
  fail_unless (carries (RATE / 10, 0, 60 * MS));
  fail_unless (carries (RATE / 10, 4, 60 * MS));
}

GST_END_TEST;

/* If the lossy path has more than two fifths of the rate of both paths, it is
 * used as if it lost nothing. */
GST_START_TEST (major_path_carries_everything)
{
  fail_if (carries (RATE * 0.6, 100, 60 * MS));
  fail_unless (carries (RATE * 0.7, 100, 60 * MS));
}

GST_END_TEST;

static Suite *
mmtppolicy_suite (void)
{
  Suite *s = suite_create ("mmtppolicy");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, lossy_path_carries_only_what_can_be_sent_again);
  tcase_add_test (tc, major_path_carries_everything);
  return s;
}

GST_CHECK_MAIN (mmtppolicy);
