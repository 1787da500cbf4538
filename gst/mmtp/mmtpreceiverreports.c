/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the receiver tells of what it measured: REPORT, DECREASE, QUERY [4.5,
 * 4.6 of the paper; docs/wire-mmtp.md]. All of it on the fastest channel, a
 * channel's own on each: who reads one knows that the channel lives. */

#include "mmtpreceiverprivate.h"

/* docs/wire-mmtp.md, REPORT: what a channel may spend on keep-alives */
#define REPORT_SHARE 100        /* a hundredth: half of it, the other is the
                                 * sender's */
#define LONGEST_PERIOD MMTP_SECOND      /* of a channel too slow for that */
#define LONGEST_FASTEST (300 * MMTP_MSECOND)    /* of all reports */
#define CHANNELS_ON_ALL 4       /* so many may all be told of on all */
/* Losses are told at once, but no sooner after the last report than this, nor
 * than a fourth of the period up to that. */
#define LEAST_DISTANCE (10 * MMTP_MSECOND)
#define MOST_DISTANCE (100 * MMTP_MSECOND)
/* docs/wire-mmtp.md, QUERY */
#define QUERY_DISTANCE (10 * MMTP_MSECOND)
/* Periods without a KEEPALIVE until one is asked for [4.6] */
#define MISSED_PERIODS 2
/* Of keep-alives, as long as nothing says how slow the channel is */
#define UNKNOWN_PERIOD (250 * MMTP_MSECOND)

#define KEEPALIVE_SIZE 53
#define REPORT_SIZE 39          /* without records */
#define RANGE_SIZE 3
#define LARGEST_REPORT 1200     /* what any path carries */

/* --- which channel ------------------------------------------------------- */

static gboolean
is_usable (MmtpReceiver * self, const MmtpReceiverChannel * channel)
{
  return channel && channel->joined
      && !mmtp_arrivals_is_silent (&channel->arrivals, self->now);
}

/* Unknown is far away. */
static guint64
get_round_trip (const MmtpReceiverChannel * channel)
{
  return channel->round_trip ? channel->round_trip : MMTP_NEVER;
}

static MmtpReceiverChannel *
find_next_fastest (MmtpReceiver * self)
{
  MmtpReceiverChannel *best = NULL, *channel;
  gboolean usable, best_usable = FALSE;
  guint i;

  for (i = 0; i < self->n_ids; i++) {
    channel = self->channels[self->ids[i]];
    if (!channel->joined)
      continue;
    usable = is_usable (self, channel);
    if (best && (usable < best_usable || (usable == best_usable
                && get_round_trip (channel) >= get_round_trip (best))))
      continue;
    best = channel;
    best_usable = usable;
  }
  return best;
}

MmtpReceiverChannel *
mmtp_receiver_get_fastest (MmtpReceiver * self)
{
  MmtpReceiverChannel *told = self->channels[self->session.fastest];

  return is_usable (self, told) ? told : find_next_fastest (self);
}

static guint
count_joined (const MmtpReceiver * self)
{
  guint i, n = 0;

  for (i = 0; i < self->n_ids; i++)
    n += self->channels[self->ids[i]]->joined ? 1 : 0;
  return n;
}

/* --- REPORT -------------------------------------------------------------- */

static void
begin_report (MmtpReceiver * self, MmtpReceiverChannel * via,
    MmtpMessage * message)
{
  MmtpReport *report = &message->report;
  guint64 hold = (self->now - via->echo_time) / (MMTP_TICK * 1000);

  message->type = MMTP_REPORT;
  report->number = ++self->session.n_reports;
  report->next = mmtp_reorder_get_next (self->session.reorder) & G_MAXUINT32;
  report->echo_channel = via->id;
  report->echo = via->echo;
  report->hold = MIN (hold, 0xffffff);
  report->n_records = 0;
}

static gsize
get_room (const MmtpReceiverChannel * via)
{
  return MIN (via->longest, LARGEST_REPORT) - REPORT_SIZE;
}

/* The bytes that it took */
static gsize
add_record (MmtpReceiver * self, MmtpReport * report,
    MmtpReceiverChannel * channel, gsize room)
{
  MmtpRecord *record = &report->records[report->n_records++];

  mmtp_arrivals_get_record (&channel->arrivals, self->now,
      report->echo_channel == self->session.reporter,
      (room - MMTP_RECORD_SIZE) / RANGE_SIZE, record);
  record->channel = channel->id;
  return MMTP_RECORD_SIZE + record->n_ranges * RANGE_SIZE;
}

static gsize
send_own (MmtpReceiver * self, MmtpReceiverChannel * via,
    MmtpReceiverChannel * about)
{
  MmtpMessage message;

  begin_report (self, via, &message);
  add_record (self, &message.report, about, get_room (via));
  self->stats.reports++;
  return mmtp_receiver_send (self, via, &message, &via->address);
}

/* As many reports as it takes */
static gsize
send_all (MmtpReceiver * self, MmtpReceiverChannel * via)
{
  MmtpMessage message;
  guint i;
  gsize room = 0, sum = 0;

  message.report.n_records = 0;
  for (i = 0; i < self->n_ids; i++) {
    MmtpReceiverChannel *channel = self->channels[self->ids[i]];

    if (!channel->joined)
      continue;
    if (room < MMTP_RECORD_SIZE ||
        message.report.n_records == MMTP_MAX_RECORDS) {
      if (room > 0)
        sum += mmtp_receiver_send (self, via, &message, &via->address);
      begin_report (self, via, &message);
      self->stats.reports++;
      room = get_room (via);
    }
    room -= add_record (self, &message.report, channel, room);
  }
  if (room > 0)
    sum += mmtp_receiver_send (self, via, &message, &via->address);
  return sum;
}

/* ns in which a message of this size is the share of the channel; MMTP_NEVER:
 * unknown */
static guint64
get_time_of_share (const MmtpReceiverChannel * channel, gsize size)
{
  guint64 rate = MAX (channel->arrivals.rate, channel->arrivals.capacity);

  return rate ? size * REPORT_SHARE * MMTP_SECOND / rate : MMTP_NEVER;
}

static void
report_on_fastest (MmtpReceiver * self, MmtpReceiverChannel * via)
{
  guint64 period = self->session.period;
  gsize size = send_all (self, via);

  self->session.last_report = self->now;
  /* A stream of few bytes says nothing of what the channel carries. */
  if (via->arrivals.capacity)
    period = CLAMP (get_time_of_share (via, size), period,
        MAX (period, LONGEST_FASTEST));
  via->next_report = self->now + period;
}

static void
report_on_other (MmtpReceiver * self, MmtpReceiverChannel * via)
{
  guint64 period = self->session.period;
  guint n = count_joined (self);
  gsize size = REPORT_SIZE + n * MMTP_RECORD_SIZE;
  guint64 share;

  if (n <= CHANNELS_ON_ALL && get_time_of_share (via, size) <= period)
    size = send_all (self, via);
  else
    size = send_own (self, via, via);
  share = get_time_of_share (via, size);
  via->next_report = self->now
      + CLAMP (share, period, MAX (period, LONGEST_PERIOD));
}

/* --- at once ------------------------------------------------------------- */

static void
ask_for_less (MmtpReceiver * self, MmtpReceiverChannel * about)
{
  MmtpReceiverChannel *via;
  MmtpMessage message = {.type = MMTP_DECREASE };

  if (!mmtp_arrivals_take_decrease (&about->arrivals, self->now,
          about->round_trip, &message.decrease))
    return;
  message.decrease.channel = about->id;
  via = mmtp_receiver_get_fastest (self);
  if (via)
    mmtp_receiver_send (self, via, &message, &via->address);
}

/* When a loss may be told */
static guint64
get_loss_time (MmtpReceiver * self, const MmtpReceiverChannel * channel)
{
  guint64 distance = CLAMP (self->session.period / 4, LEAST_DISTANCE,
      MOST_DISTANCE);

  if (channel->arrivals.losses.n_unreported == 0)
    return MMTP_NEVER;
  if (channel->arrivals.losses.n_unreported >= MMTP_MAX_RANGES)
    distance = LEAST_DISTANCE;
  return self->session.last_report + distance;
}

void
mmtp_receiver_report_at_once (MmtpReceiver * self,
    MmtpReceiverChannel * channel)
{
  MmtpReceiverChannel *via;

  if (!self->session.alive)
    return;
  ask_for_less (self, channel);
  if (get_loss_time (self, channel) > self->now)
    return;
  via = mmtp_receiver_get_fastest (self);
  if (via)
    report_on_fastest (self, via);
}

void
mmtp_receiver_answer_query (MmtpReceiver * self,
    MmtpReceiverChannel * channel, guint8 about)
{
  MmtpReceiverChannel *asked = self->channels[about];

  if (channel->query_time && self->now - channel->query_time < QUERY_DISTANCE)
    return;
  channel->query_time = self->now;
  if (about == MMTP_ALL_CHANNELS || !asked || !asked->joined)
    send_all (self, channel);
  else
    send_own (self, channel, asked);
}

/* --- time ---------------------------------------------------------------- */

static guint64
get_query_time (MmtpReceiver * self, const MmtpReceiverChannel * channel)
{
  guint64 period = UNKNOWN_PERIOD;

  if (channel->arrivals.capacity)
    period = MIN (get_time_of_share (channel, KEEPALIVE_SIZE), LONGEST_PERIOD);
  period = MAX (period, channel->keepalive_gap);
  return channel->keepalive_time + MISSED_PERIODS * MAX (self->session.period,
      period);
}

static void
ask_for_keepalive (MmtpReceiver * self, MmtpReceiverChannel * channel)
{
  MmtpMessage message = {.type = MMTP_QUERY };

  if (get_query_time (self, channel) > self->now)
    return;
  channel->keepalive_time = self->now;
  message.query.channel = channel->id;
  mmtp_receiver_send (self, channel, &message, &channel->address);
}

static void
note_skew (MmtpReceiver * self, MmtpReceiverChannel * fastest)
{
  MmtpReceiverSession *session = &self->session;
  gint64 least;

  if (session->skew_channel != fastest->id)
    mmtp_clock_restart_skew (&session->clock);
  session->skew_channel = fastest->id;
  if (mmtp_arrivals_get_least_transit (&fastest->arrivals, &least))
    mmtp_clock_add_least (&session->clock, self->now, least);
}

static void
channel_timeout (MmtpReceiver * self, MmtpReceiverChannel * channel)
{
  MmtpReceiverChannel *fastest = mmtp_receiver_get_fastest (self);

  mmtp_arrivals_timeout (&channel->arrivals, self->now);
  mmtp_receiver_report_at_once (self, channel);
  ask_for_keepalive (self, channel);
  if (channel->next_report > self->now)
    return;
  if (channel != fastest) {
    report_on_other (self, channel);
    return;
  }
  note_skew (self, channel);
  report_on_fastest (self, channel);
}

/* Another channel is the fastest one: it goes on from where that was. */
static void
note_fastest (MmtpReceiver * self)
{
  MmtpReceiverChannel *fastest = mmtp_receiver_get_fastest (self);

  if (!fastest || fastest->id == self->session.reporter)
    return;
  self->session.reporter = fastest->id;
  fastest->next_report = MIN (fastest->next_report,
      self->session.last_report + self->session.period);
}

void
mmtp_receiver_report_timeout (MmtpReceiver * self)
{
  guint i;

  if (!self->session.alive)
    return;
  note_fastest (self);
  for (i = 0; i < self->n_ids; i++)
    if (self->channels[self->ids[i]]->joined)
      channel_timeout (self, self->channels[self->ids[i]]);
}

static guint64
get_channel_wakeup (MmtpReceiver * self, const MmtpReceiverChannel * channel)
{
  guint64 next = MIN (channel->next_report,
      mmtp_arrivals_next_wakeup (&channel->arrivals));

  next = MIN (next, get_loss_time (self, channel));
  return MIN (next, get_query_time (self, channel));
}

guint64
mmtp_receiver_report_next_wakeup (MmtpReceiver * self)
{
  guint64 next = MMTP_NEVER;
  guint i;

  if (!self->session.alive)
    return MMTP_NEVER;
  for (i = 0; i < self->n_ids; i++)
    if (self->channels[self->ids[i]]->joined)
      next = MIN (next, get_channel_wakeup (self,
              self->channels[self->ids[i]]));
  return next;
}
