/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the backlog: the data that the encoder has made and that the
 * receiver has not confirmed yet. The backlog consists of the bytes that wait
 * at the sender and the bytes in flight. The bytes that left the backlog have
 * been delivered or dropped.
 *
 * The age of the backlog is the time since its oldest byte left the encoder.
 * If the network delivers nothing, the transport gets no reports from the
 * receiver, so it does not change its estimate of the capacity. The age,
 * however, grows from the beginning of such an outage.
 *
 *   bitrate_backlog_input (&backlog, &report);      for each report
 *   if (bitrate_backlog_get_excess (&backlog) > ...)
 *
 * A structure that is all zero is a backlog without reports. Times are in ns,
 * rates in bit/s.
 */

#pragma once

#include "bitraterule.h"

/* Number of reports that are stored. At 50 reports per second, these are the
 * reports of the last 2.5 s. */
#define BITRATE_BACKLOG_SAMPLES 128

typedef struct
{
  guint64 time;
  /* number of bytes that have left the encoder so far */
  guint64 put;
  /* Number of bytes that have left the backlog so far: bytes that the encoder
   * has made and that have been delivered or dropped
   */
  guint64 drained;
  /* Approximate number of bytes that have left the backlog so far: `put` minus
   * the queued bytes minus the bytes in flight. The bytes in flight include
   * headers and `put` does not, so the number is not exact and may be negative.
   */
  gint64 confirmed;
  guint64 age;
  guint64 queue;                /* queueing delay; BITRATE_UNKNOWN if unknown */
  /* Total time in ns, up to this sample, in which the network was busy. The
   * network is busy in two cases: it delivers data, or the oldest unconfirmed
   * data have already waited for longer than they would wait without a queue.
   */
  guint64 busy;
} BitrateBacklogSample;

/* Minimum of a value over the last 2 to 4 s. Time is divided into periods of 2
 * s. `present` is the minimum of the present period so far, and `previous` is
 * the minimum of the period before it. `period_end` is the time in ns at which
 * the present period ends; 0 before the first value. */
typedef struct
{
  guint64 present, previous, period_end;
} BitrateMinimum;

typedef struct
{
  BitrateBacklogSample samples[BITRATE_BACKLOG_SAMPLES];        /* ring buffer */
  guint64 n_samples;            /* number of samples so far */
  BitrateMinimum age;
  BitrateMinimum network_queue;
  /* latest round-trip time of the transport in ns; 0 = unknown */
  guint64 round_trip;
  /* number of bytes that left the encoder so far (`put_bytes` of the latest
   * report) */
  guint64 put;
  /* time in ns at which data last left the encoder */
  guint64 put_at;
  gboolean is_idle;             /* see bitrate_backlog_is_idle () */
  /* Number of bytes that had left the encoder when the backlog was last empty.
   * All of these bytes have also left the backlog. The backlog counts as empty
   * if the encoder is idle and almost nothing is queued or in flight, or if the
   * encoder has output nothing for 1 s. */
  guint64 idle_put;
  guint64 padding;              /* bytes in the latest report */
  /* time in ns at which padding was last sent; 0 = never */
  guint64 padded_at;
} BitrateBacklog;

/* Adds a sample with the numbers of `report` to the backlog. No sample is added
 * if `put_bytes`, `queued_bytes` or `in_flight` is unknown, or if padding (data
 * without content) was sent in the last 0.5 s, because padding would distort
 * the sample. If `in_flight` is unknown, all earlier samples are deleted. */
void bitrate_backlog_input (BitrateBacklog * backlog,
    const BitrateReport * report);
/* Returns whether padding has filled the path in the last 3 s. Padding is data
 * without content that the sink sends to measure the capacity of the path.
 * mmtpsink sends it about every two seconds. */
gboolean bitrate_backlog_is_padded (const BitrateBacklog * backlog,
    guint64 now);
/* Returns whether the size of the backlog is known. It is known if at least one
 * report contained all three numbers from which it is computed: the bytes that
 * left the encoder, the queued bytes and the bytes in flight. The following
 * functions may be called only if this function returns TRUE. */
gboolean bitrate_backlog_is_known (const BitrateBacklog * backlog);
/* Returns by how much the present age of the backlog exceeds its normal age, in
 * ns. The age is the time since the oldest byte of the backlog left the
 * encoder. The normal age is the minimum age in the last 2 to 4 s.
 *
 * The age varies during each frame period. The present age is therefore the
 * minimum in a short interval that ends now. The length of this interval is 60
 * ms, 1.5 frame periods or a round trip, whichever is longest.
 *
 * Returns 0 before the first report of the receiver. */
guint64 bitrate_backlog_get_excess (const BitrateBacklog * backlog);
/* Returns, in ns, by how much the present queueing delay in the network exceeds
 * the minimum queueing delay of the last few seconds.
 *
 * The minimum is subtracted because the reported queueing delay can be too high
 * by a constant amount. For example, a handover can increase the one-way delay
 * without any queue, and the increase then counts as queueing delay. The
 * present queueing delay and the minimum both contain the constant amount, so
 * the difference does not contain it.
 *
 * Returns 0 if the queueing delay is unknown, or if padding (data without
 * content) was sent in the last 0.5 s. */
guint64 bitrate_backlog_get_queue_excess (const BitrateBacklog * backlog,
    const BitrateReport * report);
/* Returns, in ns, the delay in the standing queue of the network, minus the
 * normal queueing delay. A standing queue is a queue that does not become
 * empty. The delay in the standing queue is the minimum queueing delay of the
 * last 100 ms. If a round trip takes longer than 100 ms, it is the minimum of
 * the last round trip. The normal queueing delay is the minimum of the last few
 * seconds.
 *
 * A burst of packets causes a queue that becomes empty within 100 ms or within
 * a round trip. The delay in such a queue therefore does not count, as in CoDel
 * (RFC 8289, section 3).
 *
 * Returns 0 if the queueing delay is unknown, or if padding (data without
 * content) was sent in the last 0.5 s. */
guint64 bitrate_backlog_get_standing_excess (const BitrateBacklog * backlog,
    const BitrateReport * report);
/* Returns the rate in bit/s at which data left the backlog, because they were
 * delivered or dropped. Only the time in which the network was busy counts. The
 * network is busy while it delivers data, and while data wait for longer than
 * normal.
 *
 * Usually, the rate is measured over the last 200 ms of busy time. If the
 * receiver sends only one report in each round trip and the round trip is long,
 * the last 200 ms may contain too few reports. The measurement then begins at a
 * report that confirmed new data, and ends at a later report that confirmed new
 * data. At least 200 ms of busy time lie between these two reports.
 *
 * Returns G_MAXDOUBLE if the network was not busy. */
gdouble bitrate_backlog_get_drain_rate (const BitrateBacklog * backlog);
/* Returns the rate in bit/s at which data left the encoder. The rate is
 * measured over the last second and over the last 200 ms, and the higher result
 * is returned. */
gdouble bitrate_backlog_get_put_rate (const BitrateBacklog * backlog);
/* Returns the mean time in ns between two frames in the last second; at most 1
 * s. */
guint64 bitrate_backlog_get_frame_period (const BitrateBacklog * backlog);
/* Returns whether the encoder has stopped making frames. The encoder has
 * stopped if it has output no data for at least 100 ms and at least 1.5 frame
 * periods. Returns FALSE if the backlog is unknown. */
gboolean bitrate_backlog_is_idle (const BitrateBacklog * backlog);
