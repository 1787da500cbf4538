/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpbottleneck.h: predicts how long the bottleneck of a
 * path is busy. */

#include "mmtpbottleneck.h"

/* If at most MAX_PREDICTED messages are in flight, the prediction takes the
 * size and the sending time of each message into account. If more messages are
 * in flight, the prediction only uses the sum of their sizes, to limit the work
 * that a report causes. */
#define MAX_PREDICTED 256

void
mmtp_bottleneck_clear (MmtpBottleneck * bottleneck)
{
  bottleneck->busy_until = 0;
  mmtp_recent_clear (&bottleneck->byte_times);
}

void
mmtp_bottleneck_set_base (MmtpBottleneck * bottleneck, gint64 base,
    guint64 packet)
{
  mmtp_recent_shift (&bottleneck->byte_times, (bottleneck->base - base) *
      1000 / (gint64) packet);
  bottleneck->base = base;
}

void
mmtp_bottleneck_measure (MmtpBottleneck * bottleneck, guint64 now, gint64 time,
    guint32 size)
{
  mmtp_recent_add (&bottleneck->byte_times, now, time * 1000 / size, 1);
}

gboolean
mmtp_bottleneck_is_measured (const MmtpBottleneck * bottleneck)
{
  return mmtp_recent_is_known (&bottleneck->byte_times);
}

gdouble
mmtp_bottleneck_get_byte_time (const MmtpBottleneck * bottleneck)
{
  return MAX (mmtp_recent_get (&bottleneck->byte_times), 0) / 1000.0;
}

/* The bottleneck transmits the messages in the order in which they were sent.
 * It begins to transmit this message as soon as it has transmitted the previous
 * one. */
void
mmtp_bottleneck_sent (MmtpBottleneck * bottleneck, guint64 now, guint64 time)
{
  bottleneck->busy_until = MAX (bottleneck->busy_until, now) + time;
}

/* The function begins with the time at which the bottleneck transmitted
 * `newest`: the sending time of `newest` plus `queued`. It then adds the
 * transmission times of all messages in flight. If the bottleneck was idle
 * before one of these messages was sent, the function also adds the idle time.
 * If many messages are in flight, idle times are ignored, except for the idle
 * time before the last message. */
guint
mmtp_bottleneck_correct (MmtpBottleneck * bottleneck, const MmtpSentLog * log,
    const MmtpSent * newest, guint64 queued, gdouble byte_time)
{
  guint64 number = mmtp_sent_log_get_oldest (log);
  guint64 finish = newest->time + queued;
  guint n = 0;

  if (log->next - number > MAX_PREDICTED) {
    number = log->next - 1;
    finish += (guint64) (byte_time * log->in_flight);
    finish -= MIN (finish, (guint64) (byte_time *
            mmtp_sent_log_get (log, number)->size));
  }
  for (; number < log->next; number++, n++) {
    const MmtpSent *sent = mmtp_sent_log_get (log, number);

    finish = MAX (finish, sent->time) + (guint64) (byte_time * sent->size);
  }
  bottleneck->busy_until = finish;
  return n;
}

guint64
mmtp_bottleneck_get_busy_time (const MmtpBottleneck * bottleneck, guint64 now)
{
  return bottleneck->busy_until - MIN (now, bottleneck->busy_until);
}
