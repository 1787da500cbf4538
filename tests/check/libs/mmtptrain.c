/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the estimate of a path's rate from a packet train. The expected
 * values were computed by hand. */

#include <gst/check/gstcheck.h>

#include "mmtptrain.h"

#define US G_GINT64_CONSTANT (1000)
#define MS (1000 * US)

/* Packets of 1250 bytes over a link of 4 Mbit/s: each takes 2.5 ms. */
GST_START_TEST (rate_is_size_by_time)
{
  static const struct
  {
    MmtpTrain train;
    guint64 rate;               /* bit/s */
  } cases[] = {
    /* Four packets are sent at once. The last one waits for three others. */
    {{4, 3750, 0, 7500 * US}, 4000000},
    /* Four packets are sent in 3 ms. The path increases this time by 4.5 ms, so
     * they arrive in 7.5 ms. */
    {{4, 3750, 3 * MS, 4500 * US}, 4000000},
    /* One of four packets is lost before the bottleneck. */
    {{3, 2500, 0, 5 * MS}, 4000000},
    /* Packets that were sent in 5 ms: the path must increase this time by at
     * least half of it, 2.5 ms. Otherwise no rate is estimated. */
    {{4, 3750, 5 * MS, 2500 * US}, 4000000},
    {{4, 3750, 5 * MS, 2500 * US - 1}, 0},
    /* The path is faster than the sender. */
    {{4, 3750, 20 * MS, 0}, 0},
    {{4, 3750, 0, 0}, 0},
    /* The newest packet was faster than the packets before it. */
    {{4, 3750, 0, -MS}, 0},
    /* The delay of a single packet may be jitter. */
    {{2, 1250, 0, 2500 * US}, 0},
    {{1, 0, 0, 2500 * US}, 0},
    {{0, 0, 0, 0}, 0},
    /* If all packets arrive in less than 1 ms, 1 ms is used as the time in
     * which they arrived. */
    {{4, 3750, 0, 10 * US}, 30000000},
    /* Values that only a faulty receiver reports. */
    {{4, 0, 0, 5 * MS}, 0},
    {{4, 3750, 0, 10 * US * G_MAXINT32}, 1},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const guint64 rate = mmtp_train_get_rate (&cases[i].train);

    fail_unless (rate == cases[i].rate, "case %u: %" G_GUINT64_FORMAT " bit/s",
        i, rate);
  }
}

GST_END_TEST;

static Suite *
mmtptrain_suite (void)
{
  Suite *s = suite_create ("mmtptrain");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, rate_is_size_by_time);
  return s;
}

GST_CHECK_MAIN (mmtptrain);
