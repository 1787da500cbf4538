/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mmtptrain.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* Minimum number of messages from which a rate is estimated. An estimate from
 * only two messages would depend on the delay of a single message. */
#define MIN_MESSAGES 3
/* A packet train is a number of messages that were sent faster than the path
 * can deliver them. Let D be the time from the sending of the first message to
 * the sending of the newest one. Let R be the time between the arrivals of
 * these two messages. If the path is slower than the sender, R is longer than
 * D. If the path is faster than the sender, R is equal to D and shows only how
 * fast the messages were sent. The messages therefore count as a train only if
 * R - D is at least D / MIN_SPREAD_PART. */
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
