/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is under way on a channel, its tokens, its delays, and its liveness; its
 * rate is in mmtpchannelrate.c. */

#include "mmtpchannel.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* Ranges of losses tell 16 bits of a number: twice as many as this. */
#define MAX_RING 32768
/* What it begins with, a power of two; it grows when it is full. */
#define LEAST_RING 64
/* "New tokens are not generated until old tokens are used" [4.4]; but one that
 * was used late because the caller's timer is coarse is not lost time. */
#define TOKEN_LAG MILLISECOND
/* What is added for safety is no more than leaves an eighth of D0: a channel
 * that carries nothing is of no use to anybody. */
#define MOST_SAFE_EIGHTHS 7
/* Before anything is known of a channel, an answer may take so long: RFC 6298's
 * first time-out is 1 s, two ways and a slow modem are three */
#define UNKNOWN_DELAY (3 * SECOND)
/* Scheduling of both ends; a late timer is not a silent channel. */
#define SILENCE_MARGIN (10 * MILLISECOND)
/* A spread that was calm before is believed so long: as the least transit is
 * remembered (mmtprecent.c) */
#define CALM_AGE (20 * SECOND)
/* So many lost messages in a row are no radio's accident: at 10 % of loss one
 * in ten thousand. */
#define NO_ACCIDENT 4
/* A channel of whose packets so many are lost doesn't deliver. At 10 % of loss
 * six of eight are lost once in forty thousand times. */
#define MISSED_PERCENT 75
#define LEAST_JUDGED 8
/* RETURN_PAIRS of mmtpchannelrate.c */
#define LEAST_JUDGED_PROBES 3
/* What is judged, and missed, is halved then. */
#define MOST_JUDGED 32
/* Probes are reported over at least this time before a channel that was silent
 * carries data again; doubled when it is silent again within PENANCE_MEMORY. */
#define PENANCE_LEAST (300 * MILLISECOND)
#define PENANCE_MOST (10 * SECOND)
#define PENANCE_MEMORY (10 * SECOND)

MmtpChannel *
mmtp_channel_new (guint id, const gchar * name)
{
  MmtpChannel *channel = g_new0 (MmtpChannel, 1);

  channel->id = id;
  channel->name = g_strdup (name);
  channel->state = MMTP_CHANNEL_GONE;
  channel->fell_silent = MMTP_NEVER;
  return channel;
}

void
mmtp_channel_free (MmtpChannel * channel)
{
  g_free (channel->name);
  g_free (channel->ring);
  g_free (channel);
}

static void
forget_measurements (MmtpChannel * channel)
{
  mmtp_recent_clear (&channel->transit);
  mmtp_recent_clear (&channel->round_trip);
  channel->delay = channel->high_delay = MMTP_NEVER;
  channel->progress_age = 0;
  channel->judged = channel->unjudged = channel->missed = 0;
  channel->judged_from = channel->next;
  channel->calm_time = 0;
  memset (channel->queues, 0, sizeof (channel->queues));
}

void
mmtp_channel_open (MmtpChannel * channel, guint64 now,
    const MmtpChannelConfig * config)
{
  channel->longest = config->longest;
  channel->overhead = config->overhead;
  channel->configured_rate = config->rate;
  channel->state = MMTP_CHANNEL_OPENING;
  channel->blocked = FALSE;
  channel->unreported = channel->next;
  channel->rate = config->rate;
  channel->capacity = 0;
  channel->token = channel->hold = now;
  channel->distrust = channel->next_drain = 0;
  mmtp_regulator_init (&channel->regulator, config->rate, TRUE);
  channel->overrun_time = now;
  channel->last_loss = 0;
  channel->is_rough = channel->is_lossy = FALSE;
  channel->rough_time = 0;
  channel->since_pair = 0;
  channel->last_pair = now;
  channel->pair_size = channel->data_size = config->longest;
  channel->penance = 0;
  channel->fell_silent = MMTP_NEVER;
  forget_measurements (channel);
  /* [4.6] What the framework knows, until it is measured */
  if (config->delay)
    channel->delay = channel->high_delay = config->delay;
}

/* --- the meter ----------------------------------------------------------- */

static void
advance_meter (MmtpMeter * meter, guint64 now)
{
  guint64 second = now / SECOND;
  guint64 passed = second - meter->second;
  guint i;

  for (i = 1; i <= MIN (passed, MMTP_METER_SPANS); i++)
    meter->bytes[(meter->second + i) % MMTP_METER_SPANS] = 0;
  meter->second = second;
}

/* Of this second and the last */
guint64
mmtp_channel_get_sent_rate (MmtpChannel * channel, guint64 now)
{
  MmtpMeter *meter = &channel->meter;
  guint64 bytes;

  advance_meter (meter, now);
  bytes = meter->bytes[meter->second % MMTP_METER_SPANS];
  if (meter->second > 0)
    bytes += meter->bytes[(meter->second - 1) % MMTP_METER_SPANS];
  return bytes * 8 * SECOND / (SECOND + now % SECOND);
}

/* --- sending ------------------------------------------------------------- */

guint64
mmtp_channel_get_cost (const MmtpChannel * channel, gsize size)
{
  if (channel->rate == 0)
    return 0;
  return (size + channel->overhead) * 8 * SECOND / channel->rate;
}

static void
grow_ring (MmtpChannel * channel)
{
  guint size = channel->ring_size ? channel->ring_size * 2 : LEAST_RING;
  MmtpSent *ring = g_new (MmtpSent, size);
  guint64 number;

  for (number = channel->kept; number < channel->next; number++)
    ring[number & (size - 1)] = channel->ring[number &
        (channel->ring_size - 1)];
  g_free (channel->ring);
  channel->ring = ring;
  channel->ring_size = size;
}

static void
make_room (MmtpChannel * channel)
{
  if (channel->next - channel->kept < channel->ring_size)
    return;
  if (channel->ring_size < MAX_RING)
    grow_ring (channel);
  else
    channel->kept++;
}

static void
take_token (MmtpChannel * channel, guint64 now, gsize size)
{
  guint64 earliest = now > TOKEN_LAG ? now - TOKEN_LAG : 0;

  channel->token = MAX (channel->token, earliest) +
      mmtp_channel_get_cost (channel, size);
}

void
mmtp_channel_sent (MmtpChannel * channel, guint64 now, gsize size,
    guint64 stream_number, gboolean is_pair)
{
  MmtpSent *sent;

  make_room (channel);
  sent = &channel->ring[channel->next & (channel->ring_size - 1)];
  sent->stream_number = stream_number;
  sent->time = now;
  sent->is_pair = is_pair;
  sent->is_load = (is_pair || stream_number != MMTP_NO_STREAM) &&
      size * 2 >= channel->data_size;
  sent->is_missed = FALSE;
  channel->next++;
  take_token (channel, now, size);
  advance_meter (&channel->meter, now);
  channel->meter.bytes[channel->meter.second % MMTP_METER_SPANS] +=
      size + channel->overhead;
  channel->stats.packets++;
  channel->stats.bytes += size;
  if (stream_number != MMTP_NO_STREAM) {
    channel->stats.data_packets++;
    channel->since_pair++;
    channel->data_size = (channel->data_size * 15 + size) / 16;
  }
  if (is_pair)
    channel->pair_size = (channel->pair_size * 7 + size) / 8;
}

const MmtpSent *
mmtp_channel_get_sent (const MmtpChannel * channel, guint64 number)
{
  if (number < channel->kept || number >= channel->next)
    return NULL;
  return &channel->ring[number & (channel->ring_size - 1)];
}

const MmtpSent *
mmtp_channel_find_sent (const MmtpChannel * channel, guint16 low,
    guint64 * number)
{
  *number = mmtp_unwrap (low, 16, channel->unreported);
  return mmtp_channel_get_sent (channel, *number);
}

/* Short messages of control are no measure of whether it delivers; there are
 * more of them than of others before the stream begins. */
void
mmtp_channel_note_missed (MmtpChannel * channel, guint64 number)
{
  MmtpSent *sent;

  if (number < MAX (channel->kept, channel->judged_from) ||
      number >= channel->next)
    return;
  sent = &channel->ring[number & (channel->ring_size - 1)];
  if (sent->is_load && !sent->is_missed)
    channel->missed++;
  sent->is_missed = TRUE;
}

void
mmtp_channel_forget_sent (MmtpChannel * channel, guint64 time)
{
  while (channel->kept < channel->unreported) {
    const MmtpSent *sent = mmtp_channel_get_sent (channel, channel->kept);

    if (sent && sent->time >= time)
      return;
    channel->kept++;
  }
}

/* --- reports ------------------------------------------------------------- */

gboolean
mmtp_channel_is_possible (const MmtpChannel * channel,
    const MmtpRecord * record)
{
  guint64 highest, received, bytes;

  if (record->received == 0)
    return TRUE;
  highest = mmtp_unwrap (record->highest, 32, channel->unreported);
  received = mmtp_unwrap (record->received, 32, channel->stats.reported);
  if (highest >= channel->next || received > channel->next)
    return FALSE;
  bytes = mmtp_unwrap (record->bytes, 32, channel->reported_bytes);
  return bytes <= channel->stats.bytes;
}

static void
note_reported (MmtpChannel * channel, guint64 now, guint64 until)
{
  guint64 number;

  for (number = MAX (channel->unreported, channel->kept); number < until;
      number++) {
    const MmtpSent *sent = mmtp_channel_get_sent (channel, number);

    channel->judged += sent->is_load;
    channel->unjudged += sent->is_load;
    if (sent->is_pair)
      mmtp_channel_pair_reported (channel, now, sent->time);
  }
}

static void
note_progress (MmtpChannel * channel, guint64 now, guint64 highest)
{
  const MmtpSent *sent = mmtp_channel_get_sent (channel, highest);

  note_reported (channel, now, highest + 1);
  channel->unreported = highest + 1;
  channel->progress_age = sent ? now - sent->time : 0;
}

static void
note_transit (MmtpChannel * channel, guint64 now, const MmtpRecord * record,
    guint64 received)
{
  if (record->flags & MMTP_RECORD_UNMEASURED ||
      record->high_transit < record->least_transit)
    return;
  mmtp_recent_add (&channel->transit, now,
      (gint64) record->least_transit * MMTP_TICK * 1000, received);
  channel->high_transit = (gint64) record->high_transit * MMTP_TICK * 1000;
}

/* By how much; reports of other channels come late, and counters don't go
 * back. */
static guint64
count_up (guint64 * counter, guint32 low)
{
  guint64 value = MAX (mmtp_unwrap (low, 32, *counter), *counter);
  guint64 more = value - *counter;

  *counter = value;
  return more;
}

/* Only of late: older ones weigh less. */
static void
forget_judged (MmtpChannel * channel)
{
  channel->unjudged = 0;
  if (channel->judged < MOST_JUDGED)
    return;
  channel->judged /= 2;
  channel->missed /= 2;
}

gboolean
mmtp_channel_report (MmtpChannel * channel, guint64 now,
    const MmtpRecord * record)
{
  guint64 highest, received;

  forget_judged (channel);
  count_up (&channel->stats.lost, record->lost);
  count_up (&channel->stats.late, record->late);
  channel->stats.jitter = MAX (record->jitter, 0) * (guint64) 1000;
  received = count_up (&channel->stats.reported, record->received);
  if (received == 0)
    return FALSE;
  channel->reported_bytes = mmtp_unwrap (record->bytes, 32,
      channel->reported_bytes);
  highest = mmtp_unwrap (record->highest, 32, channel->unreported);
  if (highest >= channel->unreported)
    note_progress (channel, now, highest);
  note_transit (channel, now, record, received);
  mmtp_channel_follow_record (channel, now, record);
  return TRUE;
}

void
mmtp_channel_add_round_trip (MmtpChannel * channel, guint64 now,
    guint64 round_trip)
{
  mmtp_recent_add (&channel->round_trip, now, round_trip, 1);
  channel->stats.round_trip = mmtp_recent_get (&channel->round_trip);
}

static void
set_delays (MmtpChannel * channel, gint64 least, gint64 highest)
{
  channel->delay = MAX (least, 0);
  channel->high_delay = MAX (highest, 0);
  channel->stats.delay = channel->delay;
  channel->stats.high_delay = channel->high_delay;
}

/* --- the queue ----------------------------------------------------------- */

/* ns, of the last ten seconds */
static gint64
get_longest_queue (const MmtpChannel * channel)
{
  gint64 longest = 0;
  guint i;

  for (i = 0; i < MMTP_METER_SPANS; i++)
    longest = MAX (longest, channel->queues[i]);
  return longest;
}

static void
note_spread (MmtpChannel * channel, guint64 now)
{
  const MmtpRegulator *regulator = &channel->regulator;

  if (get_longest_queue (channel) > regulator->target +
      regulator->noise && channel->calm_time &&
      now < channel->calm_time + CALM_AGE)
    return;
  channel->calm_spread = channel->high_transit - regulator->usual;
  channel->calm_time = now;
}

void
mmtp_channel_note_queue (MmtpChannel * channel, guint64 now)
{
  guint64 second = now / SECOND;
  guint64 i, passed = second - channel->queue_second;

  for (i = 1; i <= MIN (passed, MMTP_METER_SPANS); i++)
    channel->queues[(channel->queue_second + i) % MMTP_METER_SPANS] = 0;
  channel->queue_second = second;
  i = second % MMTP_METER_SPANS;
  channel->queues[i] = MAX (channel->queues[i], channel->regulator.queue);
  note_spread (channel, now);
}

/* The slowest of the last 256 was perhaps slow for a queue that has gone: then
 * the spread is as it was before there was one. */
static gint64
get_high_transit (const MmtpChannel * channel)
{
  const MmtpRegulator *regulator = &channel->regulator;
  gint64 calm = regulator->usual + channel->calm_spread +
      MAX (0, regulator->queue);

  if (channel->calm_time == 0)
    return channel->high_transit;
  return MIN (channel->high_transit, calm);
}

void
mmtp_channel_update_delay (MmtpChannel * channel, gint64 offset)
{
  if (mmtp_recent_is_known (&channel->transit))
    set_delays (channel, mmtp_recent_get (&channel->transit) - offset,
        get_high_transit (channel) - offset);
}

/* One packet of 256 may take longer, and so does one while the queue grows to
 * what is left standing and another message is before it. */
guint64
mmtp_channel_get_safe_delay (const MmtpChannel * channel)
{
  gint64 grows = channel->regulator.target +
      mmtp_channel_get_cost (channel, channel->data_size) / 2;
  guint64 most = channel->deadline / 8 * MOST_SAFE_EIGHTHS;
  guint64 safe;

  if (channel->high_delay == MMTP_NEVER)
    return MMTP_NEVER;
  grows -= get_longest_queue (channel);
  safe = channel->high_delay + (channel->high_delay - channel->delay) / 4 +
      MAX (grows, 0);
  return most ? MIN (safe, MAX (channel->high_delay, most)) : safe;
}

/* --- liveness ------------------------------------------------------------ */

/* A queue that grows on the way makes what comes older and older: as long as
 * reports say that it comes it is not silent, so what the last one said counts
 * where it is more than the usual. */
guint64
mmtp_channel_get_overdue (const MmtpChannel * channel, guint64 round,
    guint64 period)
{
  const MmtpSent *oldest = mmtp_channel_get_sent (channel,
      MAX (channel->unreported, channel->kept));
  guint64 wait;

  if (!oldest)
    return MMTP_NEVER;
  /* Short messages say nothing of how long a pair of probes takes. */
  if (channel->high_delay == MMTP_NEVER || channel->rate == 0)
    wait = UNKNOWN_DELAY;
  else
    wait = MAX (channel->high_delay, channel->progress_age);
  if (channel->next - channel->unreported < NO_ACCIDENT)
    wait += period;
  return oldest->time + wait + round + SILENCE_MARGIN;
}

/* A path may pass the small messages of control, which measure beautifully, but
 * nothing of a packet's size. */
gboolean
mmtp_channel_delivers (const MmtpChannel * channel)
{
  guint least = channel->penance && channel->state == MMTP_CHANNEL_PROBING ?
      LEAST_JUDGED_PROBES : LEAST_JUDGED;

  return channel->judged < least ||
      channel->missed * 100 < channel->judged * MISSED_PERCENT;
}

void
mmtp_channel_fall_silent (MmtpChannel * channel, guint64 now)
{
  if (channel->fell_silent != MMTP_NEVER &&
      now - channel->fell_silent < PENANCE_MEMORY + channel->penance)
    channel->penance = MIN (channel->penance * 2, PENANCE_MOST);
  else
    channel->penance = PENANCE_LEAST;
  channel->fell_silent = now;
  channel->stats.silences++;
  forget_measurements (channel);
}
