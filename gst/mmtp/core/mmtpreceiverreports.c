/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When the receiver reports what it measured, and on which channel: REPORT and
 * QUERY [4.5, 4.6 of the paper; docs/wire-mmtp.md]. A REPORT with the records
 * of all channels goes regularly on the fastest channel, and at once when
 * something happens that the rate control of the sender should know: a gap or a
 * loss, the first messages, or many messages. The other channels carry REPORTs
 * regularly, so that the sender sees that they live in both directions. */

#include "mmtpreceiverprivate.h"

/* docs/wire-mmtp.md, REPORT: the regular REPORTs of a channel. The sender may
 * wish for another period. RFC 3550, section 6.2 allows 5 % of the session's
 * rate for all feedback: this is half of it, since the sender's KEEPALIVEs and
 * the REPORTs at once take some, too. */
#define REPORT_PERIOD (50 * MMTP_MSECOND)
#define LONGEST_PERIOD (300 * MMTP_MSECOND)
#define START_PERIOD (100 * MMTP_MSECOND)
#define REPORT_SHARE 40         /* a 40th of what comes, 2.5 % */
#define LEAST_WANTED 10         /* ms */
#define MOST_WANTED 2000        /* ms */
#define CHANNELS_ON_ALL 4       /* with more of them joined, all but the fastest
                                 * carry their own record only */
/* REPORTs at once: one for each of the first messages, as slow start needs it,
 * and one for each number of messages that is a large share of a window */
#define START_MESSAGES 32
#define MANY_MESSAGES 64
/* Between a REPORT and the next one at once */
#define LEAST_DISTANCE (10 * MMTP_MSECOND)
#define MANY_DISTANCE (5 * MMTP_MSECOND)
/* On a channel with a longer period than this REPORTs at once are a fourth of
 * the period apart. */
#define LONG_PERIOD (200 * MMTP_MSECOND)
#define GAP_MEMORY MMTP_SECOND  /* as mmtp_arrivals_get_rate */
/* A REPORT behind a gap may be lost, as the link has just come back. */
#define REPEAT_TIME (10 * MMTP_MSECOND)
/* docs/wire-mmtp.md, QUERY */
#define QUERY_DISTANCE (10 * MMTP_MSECOND)
/* Periods without a KEEPALIVE until one is asked for [4.6]. A sender may spare
 * them on a slow channel: their period is at least this one. */
#define MISSED_PERIODS 2
#define LEAST_QUERY_PERIOD (250 * MMTP_MSECOND)

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

/* --- the period of a channel --------------------------------------------- */

static guint64
get_period (MmtpReceiver * self, const MmtpReceiverChannel * channel)
{
  guint64 least = MIN (REPORT_PERIOD, self->session.period);
  guint64 rate;

  if (channel->wanted_period)
    return channel->wanted_period;
  if (channel->arrivals.received <= START_MESSAGES)
    return START_PERIOD;
  rate = mmtp_arrivals_get_rate (&channel->arrivals, self->now);
  if (rate == 0)
    return LONGEST_PERIOD;
  return CLAMP (channel->report_size * REPORT_SHARE * MMTP_SECOND / rate,
      least, LONGEST_PERIOD);
}

/* A gap says nothing of the rate: the period does not grow in it, nor until all
 * that the rate is measured of came behind it. */
static gboolean
may_grow (MmtpReceiver * self, const MmtpReceiverChannel * channel)
{
  return channel->wanted_period > 0
      || (self->now - channel->arrivals.last_arrival <= channel->report_period
      && self->now - channel->gap_end >= GAP_MEMORY);
}

/* A shorter period holds for the REPORT that is due next, a longer one for
 * those behind it. */
static void
update_period (MmtpReceiver * self, MmtpReceiverChannel * channel)
{
  guint64 period = get_period (self, channel);

  if (period < channel->report_period || may_grow (self, channel))
    channel->report_period = period;
  channel->next_report = MIN (channel->next_report,
      channel->last_report + channel->report_period);
}

void
mmtp_receiver_begin_reports (MmtpReceiver * self,
    MmtpReceiverChannel * channel)
{
  channel->last_report = self->now;
  channel->report_size = REPORT_SIZE + MMTP_RECORD_SIZE;
  channel->repeat_time = MMTP_NEVER;
  channel->has_gap = FALSE;
  channel->gap_end = 0;
  channel->report_period = get_period (self, channel);
  channel->next_report = self->now + channel->report_period;
}

void
mmtp_receiver_take_report_period (MmtpReceiver * self,
    MmtpReceiverChannel * channel, guint period)
{
  guint64 wanted = period ?
      CLAMP (period, LEAST_WANTED, MOST_WANTED) * MMTP_MSECOND : 0;

  if (wanted == channel->wanted_period)
    return;
  channel->wanted_period = wanted;
  channel->next_report = MMTP_NEVER;
  update_period (self, channel);
}

/* --- REPORT -------------------------------------------------------------- */

static void
begin_report (MmtpReceiver * self, MmtpReceiverChannel * via,
    MmtpMessage * message)
{
  MmtpReport *report = &message->report;

  message->type = MMTP_REPORT;
  report->number = ++self->session.n_reports;
  report->next = mmtp_reorder_get_next (self->session.reorder) & G_MAXUINT32;
  report->echo_channel = via->id;
  report->echo = via->echo;
  report->hold = mmtp_to_hold (via->echo_time, self->now);
  report->n_records = 0;
}

static gsize
get_room (const MmtpReceiverChannel * via)
{
  return MIN (via->longest, LARGEST_REPORT) - REPORT_SIZE;
}

/* What the fastest channel has told need not be told at once any more. */
static void
note_told (MmtpReceiver * self, MmtpReceiverChannel * channel)
{
  channel->told = channel->arrivals.received;
  if (!channel->has_gap)
    return;
  channel->has_gap = FALSE;
  channel->repeat_time = self->now + REPEAT_TIME;
}

/* Returns the bytes that it took */
static gsize
add_record (MmtpReceiver * self, MmtpReport * report,
    MmtpReceiverChannel * channel, gsize room)
{
  gboolean surely = report->echo_channel == self->session.reporter;
  MmtpRecord *record = &report->records[report->n_records++];

  mmtp_arrivals_get_record (&channel->arrivals, self->now, surely,
      (room - MMTP_RECORD_SIZE) / RANGE_SIZE, record);
  record->channel = channel->id;
  if (surely)
    note_told (self, channel);
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
    if (room < MMTP_RECORD_SIZE + RANGE_SIZE ||
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

/* What goes regularly on the channel, whether it is due or goes at once */
static void
report_on (MmtpReceiver * self, MmtpReceiverChannel * via)
{
  gboolean is_reporter = via->id == self->session.reporter;

  via->repeat_time = MMTP_NEVER;
  if (is_reporter || count_joined (self) <= CHANNELS_ON_ALL)
    via->report_size = send_all (self, via);
  else
    via->report_size = send_own (self, via, via);
  if (is_reporter)
    self->session.last_report = self->now;
  via->last_report = self->now;
  via->next_report = MMTP_NEVER;
  update_period (self, via);
}

/* Another channel is the fastest one: it goes on from where the one before
 * was. */
static MmtpReceiverChannel *
choose_reporter (MmtpReceiver * self)
{
  MmtpReceiverChannel *fastest = mmtp_receiver_get_fastest (self);

  if (!fastest || fastest->id == self->session.reporter)
    return fastest;
  self->session.reporter = fastest->id;
  fastest->next_report = MIN (fastest->next_report,
      self->session.last_report + fastest->report_period);
  fastest->next_report = MAX (fastest->next_report,
      fastest->last_report + LEAST_DISTANCE);
  return fastest;
}

/* --- at once ------------------------------------------------------------- */

void
mmtp_receiver_note_gap (MmtpReceiver * self, MmtpReceiverChannel * channel)
{
  const MmtpArrivals *arrivals = &channel->arrivals;
  guint64 period = channel->report_period;

  if (arrivals->arrival_before > 0
      && arrivals->last_arrival - arrivals->arrival_before <= period
      && self->now - arrivals->last_arrival > period) {
    channel->has_gap = TRUE;
    channel->gap_end = self->now;
  }
}

static guint64
get_distance (const MmtpReceiverChannel * via, guint64 least)
{
  if (via->report_period <= LONG_PERIOD)
    return least;
  return MAX (least, via->report_period / 4);
}

/* The handshake's message is none of the first ones: ACCEPT or CHALLENGE has
 * answered it. */
static gboolean
is_starting (const MmtpReceiverChannel * channel)
{
  return channel->arrivals.received <= START_MESSAGES
      && channel->arrivals.received > MAX (channel->told, 1);
}

/* When what is known of the channel may be told at once, on the reporter */
static guint64
get_time_at_once (MmtpReceiver * self, const MmtpReceiverChannel * channel)
{
  const MmtpReceiverChannel *via = self->channels[self->session.reporter];
  guint64 last = MAX (self->session.last_report, via->last_report);

  if (channel->arrivals.received - channel->told >= MANY_MESSAGES)
    return last + get_distance (via, MANY_DISTANCE);
  if (channel->has_gap || channel->arrivals.losses.n_unreported > 0
      || is_starting (channel))
    return last + get_distance (via, LEAST_DISTANCE);
  return MMTP_NEVER;
}

/* Behind a gap: on the channel itself, as the sender takes REPORTs from any */
static guint64
get_repeat_time (const MmtpReceiverChannel * channel)
{
  if (channel->repeat_time == MMTP_NEVER)
    return MMTP_NEVER;
  return MAX (channel->repeat_time,
      channel->last_report + get_distance (channel, LEAST_DISTANCE));
}

void
mmtp_receiver_report_at_once (MmtpReceiver * self,
    MmtpReceiverChannel * channel)
{
  MmtpReceiverChannel *via;

  if (!self->session.alive || !channel->joined)
    return;
  update_period (self, channel);
  via = choose_reporter (self);
  if (via && get_time_at_once (self, channel) <= self->now)
    report_on (self, via);
}

void
mmtp_receiver_answer_query (MmtpReceiver * self,
    MmtpReceiverChannel * channel, guint8 about)
{
  MmtpReceiverChannel *asked = self->channels[about];

  if (channel->query_time && self->now - channel->query_time < QUERY_DISTANCE)
    return;
  channel->query_time = channel->last_report = self->now;
  channel->next_report = MAX (channel->next_report,
      self->now + LEAST_DISTANCE);
  if (about == MMTP_ALL_CHANNELS || !asked || !asked->joined)
    send_all (self, channel);
  else
    send_own (self, channel, asked);
}

/* --- time ---------------------------------------------------------------- */

static guint64
get_query_time (MmtpReceiver * self, const MmtpReceiverChannel * channel)
{
  guint64 period = MAX (self->session.period, channel->keepalive_gap);

  return channel->keepalive_time
      + MISSED_PERIODS * MAX (period, LEAST_QUERY_PERIOD);
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

/* Transits of the fastest channel fluctuate least. */
static void
note_skew (MmtpReceiver * self, const MmtpReceiverChannel * reporter)
{
  MmtpReceiverSession *session = &self->session;
  gint64 least;

  if (session->skew_channel != reporter->id)
    mmtp_clock_restart_skew (&session->clock);
  session->skew_channel = reporter->id;
  if (mmtp_arrivals_get_least_transit (&reporter->arrivals, self->now, &least))
    mmtp_clock_add_least (&session->clock, self->now, least);
}

static void
channel_timeout (MmtpReceiver * self, MmtpReceiverChannel * channel)
{
  mmtp_arrivals_timeout (&channel->arrivals, self->now);
  if (get_time_at_once (self, channel) <= self->now)
    report_on (self, self->channels[self->session.reporter]);
  if (MIN (channel->next_report, get_repeat_time (channel)) <= self->now)
    report_on (self, channel);
  ask_for_keepalive (self, channel);
}

void
mmtp_receiver_report_timeout (MmtpReceiver * self)
{
  MmtpReceiverChannel *reporter;
  guint i;

  reporter = self->session.alive ? choose_reporter (self) : NULL;
  if (!reporter)
    return;
  note_skew (self, reporter);
  for (i = 0; i < self->n_ids; i++)
    if (self->channels[self->ids[i]]->joined)
      channel_timeout (self, self->channels[self->ids[i]]);
}

static guint64
get_channel_wakeup (MmtpReceiver * self, const MmtpReceiverChannel * channel)
{
  guint64 next = MIN (channel->next_report, get_repeat_time (channel));

  next = MIN (next, mmtp_arrivals_next_wakeup (&channel->arrivals));
  next = MIN (next, get_time_at_once (self, channel));
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
