/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When the receiver sends REPORT and QUERY, and on which path [4.5, 4.6 of the
 * paper; docs/wire-mmtp.md]. A REPORT with the records of all paths is sent on
 * the fastest path: regularly, and at once after an event that the sender's
 * rate control should know about, which is a gap, a loss, the first messages or
 * many messages. The other paths carry REPORTs regularly, so that the sender
 * sees that they work in both directions. */

#include "mmtpreceiverprivate.h"

/* Periods of the regular REPORTs (docs/wire-mmtp.md, REPORT). The sender may
 * ask for another period. RFC 3550, section 6.2, allows 5 % of the session's
 * rate for all feedback. Regular REPORTs take half of that, because the
 * sender's KEEPALIVEs and the REPORTs sent at once take some as well. */
#define REPORT_PERIOD (50 * MMTP_MSECOND)
#define MAX_PERIOD (300 * MMTP_MSECOND)
#define START_PERIOD (100 * MMTP_MSECOND)
#define REPORT_SHARE 40         /* 1/40 of the received rate, 2.5 % */
#define MIN_WANTED 10           /* in ms */
#define MAX_WANTED 2000         /* in ms */
/* If more channels than this have joined, all but the fastest carry only their
 * own record. */
#define CHANNELS_ON_ALL 4
/* A REPORT is sent at once for each of the first messages, as slow start needs
 * it, and after each number of messages that is a large share of a congestion
 * window. */
#define START_MESSAGES 32
#define MANY_MESSAGES 64
/* Minimum time between the last REPORT and the next one sent at once. */
#define MIN_DISTANCE (10 * MMTP_MSECOND)
#define MANY_DISTANCE (5 * MMTP_MSECOND)
/* On a path whose period is longer than this, REPORTs are sent at once only a
 * fourth of the period apart. */
#define LONG_PERIOD (200 * MMTP_MSECOND)
/* the time that mmtp_arrivals_get_rate() covers */
#define GAP_MEMORY MMTP_SECOND
/* A REPORT after a gap is repeated after this time, because it may be lost
 * while the link recovers. */
#define REPEAT_TIME (10 * MMTP_MSECOND)
/* docs/wire-mmtp.md, QUERY. */
#define QUERY_DISTANCE (10 * MMTP_MSECOND)
/* Number of periods without a KEEPALIVE after which the receiver sends a QUERY
 * [4.6]. A sender may send fewer KEEPALIVEs on a slow path, so the period has a
 * minimum. */
#define MISSED_PERIODS 2
#define MIN_QUERY_PERIOD (250 * MMTP_MSECOND)

#define REPORT_SIZE 39          /* size without records, in bytes */
#define RANGE_SIZE 3
#define LARGEST_REPORT 1200     /* maximum size in bytes, which fits any path */

/* --- choosing the path ---------------------------------------------------- */

static gboolean
is_usable (MmtpReceiver * self, const MmtpReceiverPath * path)
{
  return path && path->joined
      && !mmtp_arrivals_is_silent (&path->arrivals, self->paths.now);
}

/* An unknown round trip counts as the longest. */
static guint64
get_round_trip (const MmtpReceiverPath * path)
{
  return path->round_trip ? path->round_trip : MMTP_NEVER;
}

static MmtpReceiverPath *
find_next_fastest (MmtpReceiver * self)
{
  MmtpReceiverPath *best = NULL, *path;
  gboolean usable, best_usable = FALSE;
  guint i;

  for (i = 0; i < self->paths.n; i++) {
    path = mmtp_receiver_paths_nth (&self->paths, i);
    if (!path->joined)
      continue;
    usable = is_usable (self, path);
    if (best && (usable < best_usable || (usable == best_usable
                && get_round_trip (path) >= get_round_trip (best))))
      continue;
    best = path;
    best_usable = usable;
  }
  return best;
}

MmtpReceiverPath *
mmtp_receiver_get_fastest (MmtpReceiver * self)
{
  MmtpReceiverPath *fastest = self->paths.all[self->session.fastest];

  return is_usable (self, fastest) ? fastest : find_next_fastest (self);
}

/* --- report period -------------------------------------------------------- */

static guint64
get_period (MmtpReceiver * self, const MmtpReceiverPath * path)
{
  guint64 min = MIN (REPORT_PERIOD, self->session.period);
  guint64 rate;

  if (path->wanted_period)
    return path->wanted_period;
  if (path->arrivals.received <= START_MESSAGES)
    return START_PERIOD;
  rate = mmtp_arrivals_get_rate (&path->arrivals, self->paths.now);
  if (rate == 0)
    return MAX_PERIOD;
  return CLAMP (path->report_size * REPORT_SHARE * MMTP_SECOND / rate,
      min, MAX_PERIOD);
}

/* A gap says nothing about the rate. The period therefore does not grow during
 * a gap, nor until the rate is measured from messages after the gap only. */
static gboolean
may_grow (MmtpReceiver * self, const MmtpReceiverPath * path)
{
  return path->wanted_period > 0
      || (self->paths.now - path->arrivals.last_arrival <= path->report_period
      && self->paths.now - path->gap_end >= GAP_MEMORY);
}

/* A shorter period applies to the next REPORT already, a longer one to those
 * after it. */
static void
update_period (MmtpReceiver * self, MmtpReceiverPath * path)
{
  guint64 period = get_period (self, path);

  if (period < path->report_period || may_grow (self, path))
    path->report_period = period;
  path->next_report = MIN (path->next_report,
      path->last_report + path->report_period);
}

void
mmtp_receiver_begin_reports (MmtpReceiver * self, MmtpReceiverPath * path)
{
  path->last_report = self->paths.now;
  path->report_size = REPORT_SIZE + MMTP_RECORD_SIZE;
  path->repeat_time = MMTP_NEVER;
  path->has_gap = FALSE;
  path->gap_end = 0;
  path->report_period = get_period (self, path);
  path->next_report = self->paths.now + path->report_period;
}

void
mmtp_receiver_take_report_period (MmtpReceiver * self,
    MmtpReceiverPath * path, guint period)
{
  guint64 wanted = period ?
      CLAMP (period, MIN_WANTED, MAX_WANTED) * MMTP_MSECOND : 0;

  if (wanted == path->wanted_period)
    return;
  path->wanted_period = wanted;
  path->next_report = MMTP_NEVER;
  update_period (self, path);
}

/* --- REPORT --------------------------------------------------------------- */

static void
begin_report (MmtpReceiver * self, MmtpReceiverPath * via,
    MmtpMessage * message)
{
  MmtpReport *report = &message->report;

  message->type = MMTP_REPORT;
  report->number = ++self->session.n_reports;
  report->next = mmtp_reorder_get_next (self->session.reorder) & G_MAXUINT32;
  report->echo_channel = via->id;
  report->echo = via->echo;
  report->hold = mmtp_to_hold (via->echo_time, self->paths.now);
  report->n_records = 0;
}

static gsize
get_room (const MmtpReceiverPath * via)
{
  return MIN (via->max_size, LARGEST_REPORT) - REPORT_SIZE;
}

/* Notes that the fastest path has reported on `path`, so that its losses and
 * messages need no further REPORT at once. */
static void
note_reported (MmtpReceiver * self, MmtpReceiverPath * path)
{
  path->reported = path->arrivals.received;
  if (!path->has_gap)
    return;
  path->has_gap = FALSE;
  path->repeat_time = self->paths.now + REPEAT_TIME;
}

/* Adds a record and returns its size in bytes. */
static gsize
add_record (MmtpReceiver * self, MmtpReport * report,
    MmtpReceiverPath * path, gsize room)
{
  gboolean surely = report->echo_channel == self->session.reporter;
  MmtpRecord *record = &report->records[report->n_records++];

  mmtp_arrivals_get_record (&path->arrivals, self->paths.now, surely,
      (room - MMTP_RECORD_SIZE) / RANGE_SIZE, record);
  record->channel = path->id;
  if (surely)
    note_reported (self, path);
  return MMTP_RECORD_SIZE + record->n_ranges * RANGE_SIZE;
}

static gsize
send_own (MmtpReceiver * self, MmtpReceiverPath * via, MmtpReceiverPath * about)
{
  MmtpMessage message;

  begin_report (self, via, &message);
  add_record (self, &message.report, about, get_room (via));
  self->stats.reports++;
  return mmtp_receiver_output_add (&self->output, via, &message, &via->address);
}

/* Sends the records of all paths, in several REPORTs if necessary. Returns the
 * total size in bytes. */
static gsize
send_all (MmtpReceiver * self, MmtpReceiverPath * via)
{
  MmtpMessage message;
  guint i;
  gsize room = 0, sum = 0;

  message.report.n_records = 0;
  for (i = 0; i < self->paths.n; i++) {
    MmtpReceiverPath *path = mmtp_receiver_paths_nth (&self->paths, i);

    if (!path->joined)
      continue;
    if (room < MMTP_RECORD_SIZE + RANGE_SIZE ||
        message.report.n_records == MMTP_MAX_RECORDS) {
      if (room > 0)
        sum +=
            mmtp_receiver_output_add (&self->output, via, &message,
            &via->address);
      begin_report (self, via, &message);
      self->stats.reports++;
      room = get_room (via);
    }
    room -= add_record (self, &message.report, path, room);
  }
  if (room > 0)
    sum +=
        mmtp_receiver_output_add (&self->output, via, &message, &via->address);
  return sum;
}

/* Sends the REPORT that the path carries regularly, whether it is due or sent
 * at once. */
static void
report_on (MmtpReceiver * self, MmtpReceiverPath * via)
{
  gboolean is_reporter = via->id == self->session.reporter;

  via->repeat_time = MMTP_NEVER;
  if (is_reporter
      || mmtp_receiver_paths_count_joined (&self->paths) <= CHANNELS_ON_ALL)
    via->report_size = send_all (self, via);
  else
    via->report_size = send_own (self, via, via);
  if (is_reporter)
    self->session.last_report = self->paths.now;
  via->last_report = self->paths.now;
  via->next_report = MMTP_NEVER;
  update_period (self, via);
}

/* If another path has become the fastest, it continues the schedule of the
 * previous one. */
static MmtpReceiverPath *
choose_reporter (MmtpReceiver * self)
{
  MmtpReceiverPath *fastest = mmtp_receiver_get_fastest (self);

  if (!fastest || fastest->id == self->session.reporter)
    return fastest;
  self->session.reporter = fastest->id;
  fastest->next_report = MIN (fastest->next_report,
      self->session.last_report + fastest->report_period);
  fastest->next_report = MAX (fastest->next_report,
      fastest->last_report + MIN_DISTANCE);
  return fastest;
}

/* --- reports at once ------------------------------------------------------ */

void
mmtp_receiver_note_gap (MmtpReceiver * self, MmtpReceiverPath * path)
{
  const MmtpArrivals *arrivals = &path->arrivals;
  guint64 period = path->report_period;

  if (arrivals->arrival_before > 0
      && arrivals->last_arrival - arrivals->arrival_before <= period
      && self->paths.now - arrivals->last_arrival > period) {
    path->has_gap = TRUE;
    path->gap_end = self->paths.now;
  }
}

static guint64
get_distance (const MmtpReceiverPath * via, guint64 min)
{
  if (via->report_period <= LONG_PERIOD)
    return min;
  return MAX (min, via->report_period / 4);
}

/* The first message of a path belongs to the handshake and needs no REPORT,
 * because ACCEPT or CHALLENGE has answered it. */
static gboolean
is_starting (const MmtpReceiverPath * path)
{
  return path->arrivals.received <= START_MESSAGES
      && path->arrivals.received > MAX (path->reported, 1);
}

/* Returns the earliest time at which a REPORT about `path` may be sent before
 * its regular time, on the fastest path; MMTP_NEVER if none is needed. */
static guint64
get_time_at_once (MmtpReceiver * self, const MmtpReceiverPath * path)
{
  const MmtpReceiverPath *via = self->paths.all[self->session.reporter];
  guint64 last = MAX (self->session.last_report, via->last_report);

  if (path->arrivals.received - path->reported >= MANY_MESSAGES)
    return last + get_distance (via, MANY_DISTANCE);
  if (path->has_gap || path->arrivals.losses.n_unreported > 0
      || is_starting (path))
    return last + get_distance (via, MIN_DISTANCE);
  return MMTP_NEVER;
}

/* Returns the time for repeating the REPORT after a gap. It is sent on the path
 * itself, because the sender accepts REPORTs on any path. */
static guint64
get_repeat_time (const MmtpReceiverPath * path)
{
  if (path->repeat_time == MMTP_NEVER)
    return MMTP_NEVER;
  return MAX (path->repeat_time,
      path->last_report + get_distance (path, MIN_DISTANCE));
}

void
mmtp_receiver_report_at_once (MmtpReceiver * self, MmtpReceiverPath * path)
{
  MmtpReceiverPath *via;

  if (!self->session.alive || !path->joined)
    return;
  update_period (self, path);
  via = choose_reporter (self);
  if (via && get_time_at_once (self, path) <= self->paths.now)
    report_on (self, via);
}

void
mmtp_receiver_answer_query (MmtpReceiver * self,
    MmtpReceiverPath * path, guint8 about)
{
  MmtpReceiverPath *asked = self->paths.all[about];

  if (path->query_time && self->paths.now - path->query_time < QUERY_DISTANCE)
    return;
  path->query_time = path->last_report = self->paths.now;
  path->next_report = MAX (path->next_report, self->paths.now + MIN_DISTANCE);
  if (about == MMTP_ALL_CHANNELS || !asked || !asked->joined)
    send_all (self, path);
  else
    send_own (self, path, asked);
}

/* --- timeout -------------------------------------------------------------- */

static guint64
get_query_time (MmtpReceiver * self, const MmtpReceiverPath * path)
{
  guint64 period = MAX (self->session.period, path->keepalive_gap);

  return path->keepalive_time + MISSED_PERIODS * MAX (period, MIN_QUERY_PERIOD);
}

static void
ask_for_keepalive (MmtpReceiver * self, MmtpReceiverPath * path)
{
  MmtpMessage message = {.type = MMTP_QUERY };

  if (get_query_time (self, path) > self->paths.now)
    return;
  path->keepalive_time = self->paths.now;
  message.query.channel = path->id;
  mmtp_receiver_output_add (&self->output, path, &message, &path->address);
}

/* The skew is measured on the fastest path, whose transits fluctuate least. */
static void
note_skew (MmtpReceiver * self, const MmtpReceiverPath * reporter)
{
  MmtpReceiverSession *session = &self->session;
  gint64 min;

  if (session->skew_path != reporter->id)
    mmtp_clock_restart_skew (&session->clock);
  session->skew_path = reporter->id;
  if (mmtp_arrivals_get_min_transit (&reporter->arrivals, self->paths.now,
          &min))
    mmtp_clock_add_min (&session->clock, self->paths.now, min);
}

static void
path_timeout (MmtpReceiver * self, MmtpReceiverPath * path)
{
  mmtp_arrivals_timeout (&path->arrivals, self->paths.now);
  if (get_time_at_once (self, path) <= self->paths.now)
    report_on (self, self->paths.all[self->session.reporter]);
  if (MIN (path->next_report, get_repeat_time (path)) <= self->paths.now)
    report_on (self, path);
  ask_for_keepalive (self, path);
}

void
mmtp_receiver_report_timeout (MmtpReceiver * self)
{
  MmtpReceiverPath *reporter;
  guint i;

  reporter = self->session.alive ? choose_reporter (self) : NULL;
  if (!reporter)
    return;
  note_skew (self, reporter);
  for (i = 0; i < self->paths.n; i++)
    if (mmtp_receiver_paths_nth (&self->paths, i)->joined)
      path_timeout (self, mmtp_receiver_paths_nth (&self->paths, i));
}

static guint64
get_path_wakeup (MmtpReceiver * self, const MmtpReceiverPath * path)
{
  guint64 next = MIN (path->next_report, get_repeat_time (path));

  next = MIN (next, mmtp_arrivals_next_wakeup (&path->arrivals));
  next = MIN (next, get_time_at_once (self, path));
  return MIN (next, get_query_time (self, path));
}

guint64
mmtp_receiver_report_next_wakeup (MmtpReceiver * self)
{
  guint64 next = MMTP_NEVER;
  guint i;

  if (!self->session.alive)
    return MMTP_NEVER;
  for (i = 0; i < self->paths.n; i++)
    if (mmtp_receiver_paths_nth (&self->paths, i)->joined)
      next =
          MIN (next, get_path_wakeup (self,
              mmtp_receiver_paths_nth (&self->paths, i)));
  return next;
}
