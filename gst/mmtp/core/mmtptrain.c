/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mmtptrain.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* Minimum number of messages of a train. The estimate from a pair depends on
 * the delay of a single message. */
#define MIN_MESSAGES 3
/* A packet train is a number of messages that were sent faster than the path
 * can deliver them. Let D be the time from the first to the newest message when
 * they were sent. The messages are a train only if the path has increased D by
 * at least D / MIN_SPREAD_PART. If the path is faster than the sender, D does
 * not increase, and the messages show only how fast they were sent. */
#define MIN_SPREAD_PART 2
/* Minimum time in ns between the arrivals of the first and the newest message.
 * If the time is shorter, it is replaced by this minimum. The reason is that a
 * network interface may deliver several packets at once. */
#define MIN_TIME MILLISECOND

guint64
mmtp_train_get_rate (const MmtpTrain * train)
{
  guint64 time;

  if (train->n_arrived < MIN_MESSAGES || train->spread <= 0 ||
      (guint64) train->spread < train->sent_time / MIN_SPREAD_PART)
    return 0;
  time = MAX (train->sent_time + (guint64) train->spread, MIN_TIME);
  return train->bytes * 8 * (SECOND / 1000) / (time / 1000);
}
