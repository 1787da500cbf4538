/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bitratebacklog.h"

#include <string.h>

#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* Ratio of the encoder's bytes to all bytes in a full packet: about 1260 of
 * 1300 bytes. The bytes in flight include headers, which do not come from the
 * encoder. */
#define PAYLOAD_SHARE 0.97
/* Upper limit for `queued_bytes` and `in_flight` in a report. A larger number
 * is not credible and is replaced by this limit. */
#define MAX_BYTES (G_GUINT64_CONSTANT (1) << 60)
/* While the encoder is idle, the transport still sends small messages. These
 * messages are included in the bytes in flight, although they contain no data
 * of the encoder. If the encoder is idle and less than FULL_PACKET bytes are in
 * flight, all of these bytes are assumed to belong to such messages. The
 * encoder counts as idle if it has produced no data for IDLE_TIME and for
 * AGE_FRAMES frame periods. */
#define FULL_PACKET 1300
#define IDLE_TIME (100 * MILLISECOND)
/* The backlog is the data that the encoder has made and the receiver has not
 * confirmed. It grows when a frame is made, and then shrinks until the next
 * frame. Therefore the age of its oldest byte varies during each frame period,
 * even if the network is not congested.
 *
 * The backlog is smallest just before the next frame is made. To measure the
 * age at this moment, the minimum age during the last AGE_TIME is used.
 * AGE_TIME is longer than a frame period at 25 frames per second. */
#define AGE_TIME (60 * MILLISECOND)
#define RATE_TIME (200 * MILLISECOND)
/* The age of the backlog is measured as a minimum over AGE_TIME or over
 * AGE_FRAMES frame periods, whichever is longer. */
#define AGE_FRAMES 1.5
/* The age of the backlog is the time since its oldest byte left the encoder.
 * Only a report of the receiver can reduce this age, because only a report
 * shows which bytes have arrived. Between two reports, the age therefore only
 * grows. The minimum age must be measured over a period that contains at least
 * one report. The necessary length of this period depends on the sink:
 * - dccpthinsink receives only one report in each round trip. dccpthinsink
 *   tells this module the round-trip time, so the period is at least one round
 *   trip.
 * - mmtpsink does not tell this module the round-trip time. mmtpsink receives
 *   reports more often, so a shorter period is enough. */
/* The reports of the receiver are rare if it sends only one in each round trip,
 * and the round trip is long. In this case, an outage of the network is assumed
 * when no report has confirmed new data for LATE_REPORT round trips. */
#define LATE_REPORT 1.5
/* Period in ns over which two values are measured: the mean time between two
 * frames of the encoder, and the rate at which data leave the encoder. */
#define PUT_TIME (1000 * MILLISECOND)
/* The backlog is the data that the receiver has not confirmed yet. The age of
 * the backlog is the time since its oldest byte left the encoder. Without a
 * queue in the network, the age is the round trip plus the time between two
 * reports of the receiver. This is the normal age. It is measured as the
 * minimum of the ages in a recent period. The period lasts between MIN_PERIOD
 * and 2 * MIN_PERIOD.
 *
 * A queue increases the age. If the stream has caused the queue, the bitrate is
 * kept below the rate of the network until the queue is empty. The queue is
 * empty before the period ends, so the minimum in the period is an age without
 * a queue. If the age is higher for longer than the period, the stream is not
 * the cause, and the higher age becomes the normal age. */
#define MIN_PERIOD (2000 * MILLISECOND)
/* A queue in the network counts as standing if it was never empty in the last
 * STANDING_TIME. This time is the INTERVAL of CoDel (RFC 8289, section 4.3). If
 * the round-trip time is longer than STANDING_TIME, the round-trip time is used
 * instead of STANDING_TIME, as the RFC recommends. */
#define STANDING_TIME (100 * MILLISECOND)
/* Padding is data without content that the sink sends to measure the capacity
 * of the path. It fills the network on purpose, and it is included in the bytes
 * in flight. The queues of the network then do not show whether the bitrate of
 * the stream is too high. They are therefore ignored for PADDING_TIME after the
 * last padding, because padding may remain in the network for this time.
 *
 * With padding, the bitrate estimate of mmtpsink shows the capacity of the
 * path. This is assumed until PADDED_TIME has passed since the last padding.
 * PADDED_TIME is longer than the interval at which mmtpsink sends padding,
 * which is about two seconds. */
#define PADDING_TIME (500 * MILLISECOND)
#define PADDED_TIME (3000 * MILLISECOND)

/* Returns a stored sample. `i` is the number of samples that were added after
 * it, so the latest sample has the index 0. */
static const BitrateBacklogSample *
get_sample (const BitrateBacklog * backlog, guint64 i)
{
  return &backlog->samples[(backlog->n_samples - 1 - i)
      % BITRATE_BACKLOG_SAMPLES];
}

static guint64
get_n_samples (const BitrateBacklog * backlog)
{
  return MIN (backlog->n_samples, BITRATE_BACKLOG_SAMPLES);
}

/* Returns the age of the backlog at `now`: the time since the encoder made the
 * oldest byte that is still in the backlog. `drained` is the number of bytes
 * that have left the backlog since the start. The oldest byte is found in the
 * stored samples, which say how many bytes the encoder had made at which time.
 * If this byte is older than all stored samples, the age is the time since the
 * oldest sample.
 */
static guint64
get_age (const BitrateBacklog * backlog, guint64 now, guint64 drained)
{
  guint64 i, oldest = now;

  for (i = 0; i < get_n_samples (backlog); i++) {
    if (get_sample (backlog, i)->put <= drained)
      break;
    oldest = get_sample (backlog, i)->time;
  }
  return now - oldest;
}

static void
note_min (BitrateMinimum * minimum, guint64 now, guint64 value)
{
  if (now >= minimum->period_end) {
    minimum->previous = minimum->period_end > 0 ? minimum->present : value;
    minimum->present = value;
    minimum->period_end = now + MIN_PERIOD;
  }
  minimum->present = MIN (minimum->present, value);
}

/* Time is divided into periods of MIN_PERIOD (2 s), and `minimum` contains the
 * minima of the present and the previous period. Returns by how much `value`
 * exceeds the lower one of these two minima. Returns 0 if `value` does not
 * exceed it. */
static guint64
get_excess (const BitrateMinimum * minimum, guint64 value)
{
  if (minimum->period_end == 0)
    return 0;
  return value - MIN (value, MIN (minimum->present, minimum->previous));
}

/* Compares sample `i` with sample `i` + 1. Sample 0 is the latest one, so
 * sample `i` + 1 is the older one of the two. Returns whether the receiver
 * confirmed new data between these samples. If there is no sample `i` + 1,
 * returns FALSE. */
static gboolean
is_confirming (const BitrateBacklog * backlog, guint64 i)
{
  return i + 1 < get_n_samples (backlog)
      && get_sample (backlog, i)->confirmed
      > get_sample (backlog, i + 1)->confirmed;
}

/* Returns whether the latest report shows that the receiver has confirmed new
 * data. The age of the backlog is the time since the oldest unconfirmed byte
 * left the encoder. Only a confirmation can reduce this age. Until the next
 * confirmation, the age grows simply because time passes. Ages are therefore
 * compared with each other only at reports that confirm new data. */
static gboolean
has_just_drained (const BitrateBacklog * backlog)
{
  return is_confirming (backlog, 0)
      && get_sample (backlog, 0)->drained > backlog->idle_put;
}

/* Returns how long, in ns, the network was busy since the previous sample. The
 * result is the whole time since the previous sample in two cases:
 * - The network has delivered data since that sample.
 * - The oldest unconfirmed data have waited for longer than they would wait
 *   without a queue.
 *
 * In all other cases, the result is 0.
 */
static guint64
get_busy_time (const BitrateBacklog * backlog)
{
  const BitrateBacklogSample *latest = get_sample (backlog, 0);

  if (backlog->n_samples < 2 || (!has_just_drained (backlog)
          && get_excess (&backlog->age, latest->age) == 0))
    return 0;
  return latest->time - get_sample (backlog, 1)->time;
}

/* Returns whether padding was sent in the last `time` ns. */
static gboolean
was_padded (const BitrateBacklog * backlog, guint64 now, guint64 time)
{
  return backlog->padded_at > 0 && now < backlog->padded_at + time;
}

static void
note_padding (BitrateBacklog * backlog, const BitrateReport * report)
{
  if (report->padding > backlog->padding)
    backlog->padded_at = report->now;
  backlog->padding = report->padding;
}

/* Notes the time at which data last left the encoder. */
static void
note_put (BitrateBacklog * backlog, const BitrateReport * report)
{
  if (report->put_bytes == backlog->put)
    return;
  backlog->put = report->put_bytes;
  backlog->put_at = report->now;
  backlog->is_idle = FALSE;
}

/* Notes whether the encoder is idle, and whether the backlog counts as empty.
 * The encoder is idle if it has made no data for a short time, at least
 * IDLE_TIME (100 ms). The backlog is the data that the encoder has made and the
 * receiver has not confirmed yet. While the encoder is idle, the backlog counts
 * as empty in two cases:
 * - Less than a full packet is queued or in flight.
 * - The pause of the encoder has lasted for PUT_TIME (1 s). If data still count
 *   as in flight then, they are assumed to be lost. For example, the receiver
 *   of dccpthinsink never reports the loss of the last packets before a pause.
 */
static void
note_idle (BitrateBacklog * backlog, const BitrateReport * report,
    guint64 waiting)
{
  guint64 time;

  if (backlog->n_samples == 0 || report->is_blocked)
    return;
  time = AGE_FRAMES * bitrate_backlog_get_frame_period (backlog);
  if (report->now >= backlog->put_at + MAX (time, IDLE_TIME))
    backlog->is_idle = TRUE;
  if (backlog->is_idle && (waiting < FULL_PACKET
          || report->now >= backlog->put_at + PUT_TIME))
    backlog->idle_put = report->put_bytes;
}

void
bitrate_backlog_input (BitrateBacklog * backlog, const BitrateReport * report)
{
  BitrateBacklogSample *sample;
  guint64 waiting;

  /* There are samples, but the new report does not contain the number of bytes
   * in flight. This means that the sink was replaced by a sink of another type.
   * The samples of the previous sink cannot be compared with new samples, so
   * all of them are deleted. */
  if (report->in_flight == BITRATE_UNKNOWN && backlog->n_samples > 0)
    memset (backlog, 0, sizeof (*backlog));
  note_put (backlog, report);
  note_padding (backlog, report);
  backlog->round_trip = report->round_trip == BITRATE_UNKNOWN ? 0
      : report->round_trip;
  if (was_padded (backlog, report->now, PADDING_TIME)
      || report->put_bytes == BITRATE_UNKNOWN
      || report->queued_bytes == BITRATE_UNKNOWN
      || report->in_flight == BITRATE_UNKNOWN)
    return;
  waiting = MIN (report->queued_bytes, MAX_BYTES)
      + PAYLOAD_SHARE * MIN (report->in_flight, MAX_BYTES);
  note_idle (backlog, report, waiting);
  sample = &backlog->samples[backlog->n_samples % BITRATE_BACKLOG_SAMPLES];
  sample->time = report->now;
  sample->put = report->put_bytes;
  sample->queue = report->network_queue;
  sample->confirmed = report->put_bytes - report->queued_bytes
      - report->in_flight;
  sample->drained = MAX (report->put_bytes - MIN (report->put_bytes, waiting),
      backlog->idle_put);
  backlog->n_samples++;
  sample->age = get_age (backlog, report->now, sample->drained);
  sample->busy = get_busy_time (backlog);
  if (backlog->n_samples > 1)
    sample->busy += get_sample (backlog, 1)->busy;
  if (!has_just_drained (backlog)
      || sample->drained == report->put_bytes)
    return;
  note_min (&backlog->age, report->now, sample->age);
  if (report->network_queue == BITRATE_UNKNOWN)
    return;
  /* The transport remembers the minimum of all one-way delays that it has
   * measured. `network_queue` is the present one-way delay minus this minimum.
   * At first, `network_queue` is assumed to be the delay of a queue, and the
   * value 0 counts as no queue. If `network_queue` remains above 0 for some
   * seconds, the additional delay is assumed to have another cause. note_min ()
   * then uses the lowest recent value of `network_queue` as the value without a
   * queue. */
  if (backlog->network_queue.period_end == 0)
    note_min (&backlog->network_queue, report->now, 0);
  note_min (&backlog->network_queue, report->now, report->network_queue);
}

gboolean
bitrate_backlog_is_padded (const BitrateBacklog * backlog, guint64 now)
{
  return was_padded (backlog, now, PADDED_TIME);
}

gboolean
bitrate_backlog_is_known (const BitrateBacklog * backlog)
{
  return backlog->n_samples > 0;
}

guint64
bitrate_backlog_get_excess (const BitrateBacklog * backlog)
{
  const BitrateBacklogSample *latest = get_sample (backlog, 0), *sample;
  guint64 time = AGE_FRAMES * bitrate_backlog_get_frame_period (backlog);
  guint64 i, age = latest->age;

  time = MAX (time, MAX (AGE_TIME, backlog->round_trip));
  for (i = 1; i < get_n_samples (backlog); i++) {
    sample = get_sample (backlog, i);
    if (sample->time + time < latest->time)
      break;
    age = MIN (age, sample->age);
  }
  return get_excess (&backlog->age, age);
}

static gboolean
knows_queue (const BitrateBacklog * backlog, const BitrateReport * report)
{
  return report->network_queue != BITRATE_UNKNOWN
      && !was_padded (backlog, report->now, PADDING_TIME);
}

guint64
bitrate_backlog_get_queue_excess (const BitrateBacklog * backlog,
    const BitrateReport * report)
{
  if (!knows_queue (backlog, report))
    return 0;
  return get_excess (&backlog->network_queue, report->network_queue);
}

guint64
bitrate_backlog_get_standing_excess (const BitrateBacklog * backlog,
    const BitrateReport * report)
{
  const guint64 time = MAX (STANDING_TIME, backlog->round_trip);
  guint64 i, queue = report->network_queue;

  if (!knows_queue (backlog, report))
    return 0;
  for (i = 0; i < get_n_samples (backlog)
      && get_sample (backlog, i)->time + time >= report->now; i++)
    queue = MIN (queue, get_sample (backlog, i)->queue);
  return get_excess (&backlog->network_queue, queue);
}

/* Returns whether reports of the receiver are rare: an interval of RATE_TIME,
 * over which rates are measured, may contain fewer than two reports.
 * dccpthinsink receives only one report in each round trip, so its reports are
 * rare if the round-trip time is long. */
static gboolean
has_rare_reports (const BitrateBacklog * backlog)
{
  return backlog->round_trip > RATE_TIME / 2;
}

/* Returns the index of the sample at which the measurement of the drain rate
 * ends. The drain rate is the rate at which data leave the backlog, and it is
 * measured between two samples. A sample is stored for each report of the
 * transport. Index 0 is the latest sample.
 *
 * Usually the measurement ends at sample 0. If the receiver sends reports
 * rarely, many samples confirm no new data. The measurement then ends at the
 * latest sample that confirms new data, if this sample is not older than
 * LATE_REPORT round trips. If there is no such sample, an outage is assumed,
 * and the measurement ends at sample 0. */
static guint64
get_drain_end (const BitrateBacklog * backlog)
{
  const guint64 now = get_sample (backlog, 0)->time;
  guint64 i;

  if (!has_rare_reports (backlog))
    return 0;
  for (i = 0; i < get_n_samples (backlog)
      && now <= get_sample (backlog, i)->time
      + LATE_REPORT * backlog->round_trip; i++)
    if (is_confirming (backlog, i))
      return i;
  return 0;
}

gdouble
bitrate_backlog_get_drain_rate (const BitrateBacklog * backlog)
{
  const guint64 end = get_drain_end (backlog);
  const BitrateBacklogSample *latest = get_sample (backlog, end);
  const BitrateBacklogSample *sample = latest;
  guint64 i;

  for (i = end + 1; i < get_n_samples (backlog); i++) {
    sample = get_sample (backlog, i);
    if (sample->busy + RATE_TIME <= latest->busy
        && (!has_rare_reports (backlog) || is_confirming (backlog, i)))
      break;
  }
  if (sample->busy == latest->busy)
    return G_MAXDOUBLE;
  if (latest->drained <= sample->drained)
    return 0;
  return (latest->drained - sample->drained) * 8e9
      / (latest->busy - sample->busy);
}

/* Returns the oldest sample that was added in the last `time` ns. Sets
 * `n_frames` to the number of frames that the encoder has output since this
 * sample. A frame is counted for each later sample whose number of bytes from
 * the encoder (`put`) is larger than in the sample before it. */
static const BitrateBacklogSample *
get_oldest (const BitrateBacklog * backlog, guint64 time, guint * n_frames)
{
  const BitrateBacklogSample *latest = get_sample (backlog, 0);
  const BitrateBacklogSample *sample = latest, *before;
  guint64 i;

  *n_frames = 0;
  for (i = 1; i < get_n_samples (backlog); i++) {
    before = get_sample (backlog, i);
    if (before->time + time < latest->time)
      break;
    *n_frames += sample->put > before->put;
    sample = before;
  }
  return sample;
}

/* Returns the rate in bit/s at which data left the encoder in the last `time`
 * ns. */
static gdouble
get_put_rate (const BitrateBacklog * backlog, guint64 time)
{
  const BitrateBacklogSample *latest = get_sample (backlog, 0);
  const BitrateBacklogSample *sample;
  guint n_frames;

  sample = get_oldest (backlog, time, &n_frames);
  if (sample->time == latest->time)
    return 0;
  return (latest->put - sample->put) * 8e9 / (latest->time - sample->time);
}

gdouble
bitrate_backlog_get_put_rate (const BitrateBacklog * backlog)
{
  return MAX (get_put_rate (backlog, RATE_TIME), get_put_rate (backlog,
          PUT_TIME));
}

guint64
bitrate_backlog_get_frame_period (const BitrateBacklog * backlog)
{
  const BitrateBacklogSample *sample;
  guint n_frames;

  sample = get_oldest (backlog, PUT_TIME, &n_frames);
  return (get_sample (backlog, 0)->time - sample->time) / MAX (n_frames, 1);
}

gboolean
bitrate_backlog_is_idle (const BitrateBacklog * backlog)
{
  return backlog->is_idle;
}
