/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpdeliveryrate.h: measures the delivery rate and the
 * bursts of a path. */

#include "mmtpdeliveryrate.h"

#include <math.h>

#define SECOND 1e9
#define MILLISECOND 1e6

/* The rate is measured in intervals of LONG_SPAN (ns). The long rate is the
 * maximum of these rates. It decays to 1/e in LONG_MEMORY (ns), so that an old
 * maximum is forgotten. */
#define LONG_SPAN (250 * MILLISECOND)
#define LONG_MEMORY (30 * SECOND)
/* Maximum duration in ns of the measurement of a burst. The measurement counts
 * the bytes that arrive. Even without a burst, some bytes would have arrived in
 * the same time: the duration multiplied by the long rate, which is the maximum
 * rate over LONG_SPAN. The size of the burst is the number of bytes that
 * arrived minus these expected bytes. If the long rate is wrong, the number of
 * expected bytes is wrong, too. This error grows with the duration of the
 * measurement. The duration is therefore limited. */
#define EPOCH (500 * MILLISECOND)
/* The stored size of the largest burst decays to 1/e in EXTRA_MEMORY (ns). On a
 * path whose delay fluctuates, several bursts arrive per second, so the size
 * decays only a little before the next burst renews it. On a mobile link, a
 * single burst arrives after a gap without deliveries. The size of this burst
 * then decays until the next gap. */
#define EXTRA_MEMORY (400 * MILLISECOND)
/* The size of a burst is limited to the number of bytes that the path delivers
 * in MAX_EXTRA at its long rate. The long rate is the maximum rate that was
 * measured over LONG_SPAN. */
#define MAX_EXTRA (200 * MILLISECOND)
/* Reports count only whole packets, so the measured size of a burst has a
 * rounding error. To be on the safe side, this number of packets is subtracted
 * from the measured size. */
#define EXTRA_PACKETS 2

static const MmtpDeliveryPoint *
get_point (const MmtpDeliveryRate * rate, guint age)
{
  return &rate->points[(rate->next_point + MMTP_DELIVERY_POINTS - 1 - age) %
      MMTP_DELIVERY_POINTS];
}

static void
add_point (MmtpDeliveryRate * rate, const MmtpRateSample * sample)
{
  MmtpDeliveryPoint *point;

  /* A point describes the newest message that a report covers. If the newest
   * messages of two reports arrived at the same time, the later report replaces
   * the point of the earlier report. */
  if (rate->n_points > 0 && get_point (rate, 0)->arrival >= sample->arrival)
    rate->next_point = (rate->next_point + MMTP_DELIVERY_POINTS - 1) %
        MMTP_DELIVERY_POINTS;
  else
    rate->n_points = MIN (rate->n_points + 1, MMTP_DELIVERY_POINTS);
  point = &rate->points[rate->next_point];
  point->arrival = MAX (point->arrival, sample->arrival);
  point->sent = sample->sent;
  point->delivered = sample->delivered;
  rate->next_point = (rate->next_point + 1) % MMTP_DELIVERY_POINTS;
}

/* A point describes one report: when the newest message of the report arrived,
 * and how many bytes the path had delivered by then. Returns the newest point
 * that is at least `span` ns older than the last point; NULL if there is none.
 */
static const MmtpDeliveryPoint *
find_point (const MmtpDeliveryRate * rate, gdouble span)
{
  gdouble last = get_point (rate, 0)->arrival;
  guint i;

  for (i = 1; i < rate->n_points; i++)
    if (last - get_point (rate, i)->arrival >= span)
      return get_point (rate, i);
  return NULL;
}

/* Returns the delivery rate over the last `span` ns: the number of bytes that
 * arrived, divided by the time in which they arrived.
 *
 * A path may hold back some packets and then deliver them in a burst. The
 * packets of the burst arrive within a shorter time than that in which they
 * were sent. The result would then be higher than the rate at which they were
 * sent, although a path cannot carry more than is sent. If `by_sending` is
 * TRUE, the divisor is therefore at least the time in which the packets were
 * sent, as in draft-ietf-ccwg-bbr, "Delivery Rate Estimation". */
static gdouble
measure (const MmtpDeliveryRate * rate, gdouble span, gboolean by_sending)
{
  const MmtpDeliveryPoint *last = get_point (rate, 0);
  const MmtpDeliveryPoint *first = find_point (rate, span);
  gdouble passed;

  if (!first)
    return 0;
  passed = last->arrival - first->arrival;
  if (by_sending)
    passed = MAX (passed, last->sent - first->sent);
  return (last->delivered - first->delivered) / passed;
}

gdouble
mmtp_delivery_rate_get (const MmtpDeliveryRate * rate, gdouble span)
{
  return measure (rate, span, FALSE);
}

/* Measures the size of a burst, as BBR.extra_acked does in draft-ietf-ccwg-bbr.
 * The size is the number of bytes that arrived during the burst, minus the
 * number of bytes that the path delivers in the same time at its long rate. The
 * long rate is the maximum rate that was measured over LONG_SPAN.
 *
 * A burst is caused by jitter that delays some packets but keeps their order.
 * It is not caused by a queue. */
static void
follow_burst (MmtpDeliveryRate * rate, const MmtpRateSample * sample,
    guint packet)
{
  gdouble age = sample->arrival - rate->epoch, extra;

  rate->epoch_bytes += sample->acked;
  extra = rate->epoch_bytes - rate->long_rate * age;
  if (extra <= 0 || age > EPOCH) {
    rate->epoch = sample->arrival;
    rate->epoch_bytes = 0;
    return;
  }
  extra = MIN (extra - EXTRA_PACKETS * (gdouble) packet,
      rate->long_rate * MAX_EXTRA);
  rate->extra = MAX (rate->extra, extra);
}

void
mmtp_delivery_rate_add (MmtpDeliveryRate * rate,
    const MmtpRateSample * sample, guint packet)
{
  gdouble passed = sample->now - rate->time;

  add_point (rate, sample);
  rate->long_rate = MAX (rate->long_rate * exp (-passed / LONG_MEMORY),
      measure (rate, LONG_SPAN, TRUE));
  rate->extra *= exp (-passed / EXTRA_MEMORY);
  rate->time = sample->now;
  follow_burst (rate, sample, packet);
}

gdouble
mmtp_delivery_rate_get_long (const MmtpDeliveryRate * rate)
{
  return rate->long_rate;
}

gdouble
mmtp_delivery_rate_get_extra (const MmtpDeliveryRate * rate)
{
  return rate->extra;
}
