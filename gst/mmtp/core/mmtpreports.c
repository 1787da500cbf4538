/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides when the receiver sends REPORTs and QUERYs, and on which path. */

#include "mmtpreports.h"

#include <string.h>

/* The interval between two regular REPORTs on a path depends on the received
 * rate: the REPORTs use the fraction 1/REPORT_SHARE of this rate
 * (docs/wire-mmtp.md, REPORT). MAX_PERIOD is the maximum of the interval, in
 * ns. The minimum is REPORT_PERIOD (ns). If the keep-alive period is shorter
 * than REPORT_PERIOD, the keep-alive period is the minimum instead.
 *
 * There are two exceptions. As long as only a few messages have arrived on the
 * path, the interval is START_PERIOD (ns). If the sender has requested another
 * interval, the requested interval applies.
 *
 * RFC 3550, section 6.2, allows 5 % of the session's rate for all feedback.
 * Regular REPORTs use half of these 5 %. The other half is left for the
 * sender's KEEPALIVEs and for REPORTs outside the regular schedule. */
#define REPORT_PERIOD (50 * MMTP_MSECOND)
#define MAX_PERIOD (300 * MMTP_MSECOND)
#define START_PERIOD (100 * MMTP_MSECOND)
/* Regular REPORTs use the fraction 1/REPORT_SHARE of the received rate. This
 * fraction is 2.5 %. */
#define REPORT_SHARE 40
#define MIN_WANTED 10           /* in ms */
#define MAX_WANTED 2000         /* in ms */
/* A REPORT may contain the records (the measurements) of all paths. If at most
 * PATHS_ON_ALL paths have joined, every path carries such REPORTs. If more
 * paths have joined, only the fastest path carries them, and a REPORT on
 * another path contains only the record of that path. */
#define PATHS_ON_ALL 4
/* In two cases, a REPORT is sent before its regular time:
 * - One of the first START_MESSAGES messages of a path has arrived. The slow
 *   start of the sender needs this feedback.
 * - MANY_MESSAGES messages have arrived that have not been reported yet. These
 *   are a large part of the sender's congestion window. */
#define START_MESSAGES 32
#define MANY_MESSAGES 64
/* Minimum time in ns between the last REPORT and a REPORT outside the regular
 * schedule. MANY_DISTANCE applies if at least MANY_MESSAGES messages have not
 * been reported yet. Otherwise, MIN_DISTANCE applies. */
#define MIN_DISTANCE (10 * MMTP_MSECOND)
#define MANY_DISTANCE (5 * MMTP_MSECOND)
/* Report period in ns above which a path counts as slow. On a slow path, a
 * REPORT outside the regular schedule is sent only if a quarter of the period
 * has passed since the last REPORT. */
#define LONG_PERIOD (200 * MMTP_MSECOND)
/* A gap is a time in which no message arrived on a path. After a gap, the
 * measured rate of the path is too low for at most the time GAP_MEMORY (ns).
 * The reason is that mmtp_arrivals_get_rate() measures the mean rate over the
 * last 0.5 to 1 s. The mean is too low as long as a part of the gap lies within
 * this time. */
#define GAP_MEMORY MMTP_SECOND
/* Time in ns between the first and the second REPORT after a gap. A gap is a
 * time, longer than the report period, in which no message arrives on a path.
 * The second REPORT is sent because the first one may be lost while the link
 * recovers. */
#define REPEAT_TIME (10 * MMTP_MSECOND)
/* minimum time in ns between two answers to QUERYs on a path
 * (docs/wire-mmtp.md, QUERY) */
#define QUERY_DISTANCE (10 * MMTP_MSECOND)
/* If no KEEPALIVE arrives for this number of keep-alive periods, the receiver
 * asks for one with a QUERY (section 4.6 of the MMTP paper). A keep-alive
 * period here counts as at least MIN_QUERY_PERIOD (ns), because the sender may
 * send KEEPALIVEs less often on a slow path. */
#define MISSED_PERIODS 2
#define MIN_QUERY_PERIOD (250 * MMTP_MSECOND)

#define REPORT_SIZE 39          /* size without records, in bytes */
#define RANGE_SIZE 3
/* Maximum size of a REPORT in bytes. If a path allows only shorter messages,
 * its own maximum applies. */
#define LARGEST_REPORT 1200

void
mmtp_reports_init (MmtpReports * self, MmtpReceiverPaths * paths,
    MmtpReceiverOutput * output)
{
  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->output = output;
}

void
mmtp_reports_begin_session (MmtpReports * self, const MmtpReorder * reorder,
    guint64 period)
{
  self->reorder = reorder;
  self->period = period;
  self->number = 0;
  self->last_report = self->paths->now;
  memset (self->all, 0, sizeof (self->all));
}

void
mmtp_reports_set_path (MmtpReports * self, const MmtpReceiverPath * path)
{
  self->fastest = self->reporter = path->id;
}

static MmtpPathReports *
get_reports (MmtpReports * self, const MmtpReceiverPath * path)
{
  return &self->all[path->id];
}

/* --- choosing the path ---------------------------------------------------- */

static gboolean
is_usable (MmtpReports * self, const MmtpReceiverPath * path)
{
  return path && path->joined
      && !mmtp_arrivals_is_silent (&path->arrivals, self->paths->now);
}

/* Returns the round-trip time of the path. If it is unknown, returns
 * MMTP_NEVER, so that the path counts as slower than paths with a known
 * round-trip time. */
static guint64
get_round_trip (const MmtpReceiverPath * path)
{
  return path->round_trip ? path->round_trip : MMTP_NEVER;
}

static MmtpReceiverPath *
find_next_fastest (MmtpReports * self)
{
  MmtpReceiverPath *best = NULL, *path;
  gboolean usable, best_usable = FALSE;
  guint i;

  for (i = 0; i < self->paths->n; i++) {
    path = mmtp_receiver_paths_nth (self->paths, i);
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

static MmtpReceiverPath *
find_fastest (MmtpReports * self)
{
  MmtpReceiverPath *fastest = self->paths->all[self->fastest];

  return is_usable (self, fastest) ? fastest : find_next_fastest (self);
}

/* --- report period -------------------------------------------------------- */

static guint64
get_period (MmtpReports * self, const MmtpReceiverPath * path)
{
  const MmtpPathReports *reports = get_reports (self, path);
  guint64 min = MIN (REPORT_PERIOD, self->period);
  guint64 rate;

  if (reports->wanted_period)
    return reports->wanted_period;
  if (path->arrivals.received <= START_MESSAGES)
    return START_PERIOD;
  rate = mmtp_arrivals_get_rate (&path->arrivals, self->paths->now);
  if (rate == 0)
    return MAX_PERIOD;
  return CLAMP (reports->size * REPORT_SHARE * MMTP_SECOND / rate,
      min, MAX_PERIOD);
}

/* Returns whether the report period of the path may become longer now. Normally
 * the receiver computes the period from the measured rate of the path. A low
 * rate gives a long period.
 *
 * Sometimes no message arrives on the path for longer than the report period.
 * This time is called a gap. During a gap, and for the time GAP_MEMORY after
 * it, the measured rate is too low. The computed period would then be too long,
 * so the period must not become longer in this time.
 *
 * If the sender has requested a period, the receiver uses the requested period
 * and ignores the rate. The period may then always become longer. */
static gboolean
may_grow (MmtpReports * self, const MmtpReceiverPath * path)
{
  const MmtpPathReports *reports = get_reports (self, path);
  guint64 now = self->paths->now;

  return reports->wanted_period > 0
      || (now - path->arrivals.last_arrival <= reports->period
      && now - reports->gap_end >= GAP_MEMORY);
}

/* Computes the report period of the path again, because the received rate or
 * the requested period may have changed. A shorter period applies immediately,
 * so the next REPORT is sent earlier. A longer period applies only after the
 * next REPORT. */
static void
update_period (MmtpReports * self, const MmtpReceiverPath * path)
{
  MmtpPathReports *reports = get_reports (self, path);
  guint64 period = get_period (self, path);

  if (period < reports->period || may_grow (self, path))
    reports->period = period;
  reports->next = MIN (reports->next, reports->last + reports->period);
}

void
mmtp_reports_begin_path (MmtpReports * self, const MmtpReceiverPath * path)
{
  MmtpPathReports *reports = get_reports (self, path);

  reports->last = self->paths->now;
  reports->size = REPORT_SIZE + MMTP_RECORD_SIZE;
  reports->repeat_time = MMTP_NEVER;
  reports->has_gap = FALSE;
  reports->gap_end = 0;
  reports->period = get_period (self, path);
  reports->next = self->paths->now + reports->period;
}

void
mmtp_reports_set_period (MmtpReports * self, const MmtpReceiverPath * path,
    guint period)
{
  MmtpPathReports *reports = get_reports (self, path);
  guint64 wanted = period ?
      CLAMP (period, MIN_WANTED, MAX_WANTED) * MMTP_MSECOND : 0;

  if (wanted == reports->wanted_period)
    return;
  reports->wanted_period = wanted;
  reports->next = MMTP_NEVER;
  update_period (self, path);
}

/* --- REPORT --------------------------------------------------------------- */

static void
begin_report (MmtpReports * self, MmtpReceiverPath * via, MmtpMessage * message)
{
  MmtpReport *report = &message->report;

  message->type = MMTP_REPORT;
  report->number = ++self->number;
  report->next = mmtp_reorder_get_next (self->reorder) & G_MAXUINT32;
  report->echo_channel = via->id;
  report->echo = via->echo;
  report->hold = mmtp_to_hold (via->echo_time, self->paths->now);
  report->n_records = 0;
}

static gsize
get_room (const MmtpReceiverPath * via)
{
  return MIN (via->max_size, LARGEST_REPORT) - REPORT_SIZE;
}

/* Notes that a REPORT about `path` was sent on the fastest path. The REPORT
 * contains everything that has happened on `path` so far, so no other REPORT
 * about these events has to be sent outside the regular schedule.
 *
 * The exception is the first REPORT after a gap, a time in which no message
 * arrived on `path`. This REPORT may be lost, so the function schedules a
 * second REPORT, which is sent on `path` at least REPEAT_TIME later. */
static void
note_reported (MmtpReports * self, const MmtpReceiverPath * path)
{
  MmtpPathReports *reports = get_reports (self, path);

  reports->reported = path->arrivals.received;
  if (!reports->has_gap)
    return;
  reports->has_gap = FALSE;
  reports->repeat_time = self->paths->now + REPEAT_TIME;
}

/* Adds a record to `report`. The record contains the measurements of `path`.
 * The function returns the size of the record in bytes. This size is at most
 * `room`. */
static gsize
add_record (MmtpReports * self, MmtpReport * report,
    MmtpReceiverPath * path, gsize room)
{
  gboolean is_counted = report->echo_channel == self->reporter;
  MmtpRecord *record = &report->records[report->n_records++];

  mmtp_arrivals_get_record (&path->arrivals, self->paths->now, is_counted,
      (room - MMTP_RECORD_SIZE) / RANGE_SIZE, record);
  record->channel = path->id;
  if (is_counted)
    note_reported (self, path);
  return MMTP_RECORD_SIZE + record->n_ranges * RANGE_SIZE;
}

static gsize
send_own (MmtpReports * self, MmtpReceiverPath * via, MmtpReceiverPath * about)
{
  MmtpMessage message;

  begin_report (self, via, &message);
  add_record (self, &message.report, about, get_room (via));
  self->n_sent++;
  return mmtp_receiver_output_add (self->output, via, &message, &via->address);
}

/* Sends the records of all paths on the path `via`. If they do not fit into one
 * REPORT, sends several REPORTs. Returns the total size of the REPORTs in
 * bytes. */
static gsize
send_all (MmtpReports * self, MmtpReceiverPath * via)
{
  MmtpMessage message;
  guint i;
  gsize room = 0, sum = 0;

  message.report.n_records = 0;
  for (i = 0; i < self->paths->n; i++) {
    MmtpReceiverPath *path = mmtp_receiver_paths_nth (self->paths, i);

    if (!path->joined)
      continue;
    if (room < MMTP_RECORD_SIZE + RANGE_SIZE ||
        message.report.n_records == MMTP_MAX_RECORDS) {
      if (room > 0)
        sum +=
            mmtp_receiver_output_add (self->output, via, &message,
            &via->address);
      begin_report (self, via, &message);
      self->n_sent++;
      room = get_room (via);
    }
    room -= add_record (self, &message.report, path, room);
  }
  if (room > 0)
    sum +=
        mmtp_receiver_output_add (self->output, via, &message, &via->address);
  return sum;
}

/* Sends a REPORT on the path `via`, at a regular time or outside the regular
 * schedule. In two cases, the REPORT contains the records of all paths: `via`
 * is the path self->reporter, or at most PATHS_ON_ALL paths have joined.
 * Otherwise it contains only the record of `via`. */
static void
report_on (MmtpReports * self, MmtpReceiverPath * via)
{
  MmtpPathReports *reports = get_reports (self, via);
  gboolean is_reporter = via->id == self->reporter;

  reports->repeat_time = MMTP_NEVER;
  if (is_reporter
      || mmtp_receiver_paths_count_joined (self->paths) <= PATHS_ON_ALL)
    reports->size = send_all (self, via);
  else
    reports->size = send_own (self, via, via);
  if (is_reporter)
    self->last_report = self->paths->now;
  reports->last = self->paths->now;
  reports->next = MMTP_NEVER;
  update_period (self, via);
}

MmtpReceiverPath *
mmtp_reports_choose_path (MmtpReports * self)
{
  MmtpReceiverPath *fastest = find_fastest (self);
  MmtpPathReports *reports;

  if (!fastest || fastest->id == self->reporter)
    return fastest;
  self->reporter = fastest->id;
  reports = get_reports (self, fastest);
  reports->next = MIN (reports->next, self->last_report + reports->period);
  reports->next = MAX (reports->next, reports->last + MIN_DISTANCE);
  return fastest;
}

/* --- reports at once ------------------------------------------------------ */

void
mmtp_reports_note_gap (MmtpReports * self, const MmtpReceiverPath * path)
{
  MmtpPathReports *reports = get_reports (self, path);
  const MmtpArrivals *arrivals = &path->arrivals;

  if (arrivals->arrival_before > 0
      && arrivals->last_arrival - arrivals->arrival_before <= reports->period
      && self->paths->now - arrivals->last_arrival > reports->period) {
    reports->has_gap = TRUE;
    reports->gap_end = self->paths->now;
  }
}

static guint64
get_distance (const MmtpPathReports * via, guint64 min)
{
  if (via->period <= LONG_PERIOD)
    return min;
  return MAX (min, via->period / 4);
}

/* Returns whether a REPORT is needed because one of the first START_MESSAGES
 * messages on `path` has not been reported yet. The very first message is an
 * exception. It belongs to the handshake, and ACCEPT or CHALLENGE has answered
 * it. */
static gboolean
is_starting (MmtpReports * self, const MmtpReceiverPath * path)
{
  return path->arrivals.received <= START_MESSAGES
      && path->arrivals.received > MAX (get_reports (self, path)->reported, 1);
}

/* Returns the earliest time at which a REPORT about `path` should be sent
 * outside the regular schedule. Returns MMTP_NEVER if no such REPORT is needed.
 * A REPORT outside the regular schedule is sent on the fastest path. A minimum
 * time must pass between two REPORTs on the fastest path. The result is
 * therefore the time of the previous REPORT on the fastest path plus this
 * minimum time. */
static guint64
get_time_at_once (MmtpReports * self, const MmtpReceiverPath * path)
{
  const MmtpPathReports *reports = get_reports (self, path);
  const MmtpPathReports *via = &self->all[self->reporter];
  guint64 last = MAX (self->last_report, via->last);

  if (path->arrivals.received - reports->reported >= MANY_MESSAGES)
    return last + get_distance (via, MANY_DISTANCE);
  if (reports->has_gap || path->arrivals.losses.n_unreported > 0
      || is_starting (self, path))
    return last + get_distance (via, MIN_DISTANCE);
  return MMTP_NEVER;
}

/* Returns the time of the second REPORT after a gap; MMTP_NEVER if none is
 * planned. A gap is a time in which no message arrives on a path. The first
 * REPORT after the gap is sent on the fastest path. The second one is sent a
 * little later on the path that had the gap. This is possible because the
 * sender accepts REPORTs on any path. */
static guint64
get_repeat_time (const MmtpPathReports * reports)
{
  if (reports->repeat_time == MMTP_NEVER)
    return MMTP_NEVER;
  return MAX (reports->repeat_time,
      reports->last + get_distance (reports, MIN_DISTANCE));
}

void
mmtp_reports_send_at_once (MmtpReports * self, const MmtpReceiverPath * path)
{
  MmtpReceiverPath *via;

  if (!path->joined)
    return;
  update_period (self, path);
  via = mmtp_reports_choose_path (self);
  if (via && get_time_at_once (self, path) <= self->paths->now)
    report_on (self, via);
}

void
mmtp_reports_answer_query (MmtpReports * self, MmtpReceiverPath * path,
    guint8 about)
{
  MmtpPathReports *reports = get_reports (self, path);
  MmtpReceiverPath *asked = self->paths->all[about];
  guint64 now = self->paths->now;

  if (reports->query_time && now - reports->query_time < QUERY_DISTANCE)
    return;
  reports->query_time = reports->last = now;
  reports->next = MAX (reports->next, now + MIN_DISTANCE);
  if (about == MMTP_ALL_CHANNELS || !asked || !asked->joined)
    send_all (self, path);
  else
    send_own (self, path, asked);
}

/* --- timeout -------------------------------------------------------------- */

static guint64
get_query_time (MmtpReports * self, const MmtpReceiverPath * path)
{
  guint64 period = MAX (self->period, path->keepalive_gap);

  return path->keepalive_time + MISSED_PERIODS * MAX (period, MIN_QUERY_PERIOD);
}

static void
ask_for_keepalive (MmtpReports * self, MmtpReceiverPath * path)
{
  MmtpMessage message = {.type = MMTP_QUERY };

  if (get_query_time (self, path) > self->paths->now)
    return;
  path->keepalive_time = self->paths->now;
  message.query.channel = path->id;
  mmtp_receiver_output_add (self->output, path, &message, &path->address);
}

static void
path_timeout (MmtpReports * self, MmtpReceiverPath * path)
{
  const MmtpPathReports *reports = get_reports (self, path);

  mmtp_arrivals_timeout (&path->arrivals, self->paths->now);
  if (get_time_at_once (self, path) <= self->paths->now)
    report_on (self, self->paths->all[self->reporter]);
  if (MIN (reports->next, get_repeat_time (reports)) <= self->paths->now)
    report_on (self, path);
  ask_for_keepalive (self, path);
}

void
mmtp_reports_timeout (MmtpReports * self)
{
  guint i;

  for (i = 0; i < self->paths->n; i++) {
    MmtpReceiverPath *path = mmtp_receiver_paths_nth (self->paths, i);

    if (path->joined)
      path_timeout (self, path);
  }
}

static guint64
get_path_wakeup (MmtpReports * self, const MmtpReceiverPath * path)
{
  const MmtpPathReports *reports = get_reports (self, path);
  guint64 next = MIN (reports->next, get_repeat_time (reports));

  next = MIN (next, mmtp_arrivals_next_wakeup (&path->arrivals));
  next = MIN (next, get_time_at_once (self, path));
  return MIN (next, get_query_time (self, path));
}

guint64
mmtp_reports_next_wakeup (MmtpReports * self)
{
  guint64 next = MMTP_NEVER;
  guint i;

  for (i = 0; i < self->paths->n; i++) {
    const MmtpReceiverPath *path = mmtp_receiver_paths_nth (self->paths, i);

    if (path->joined)
      next = MIN (next, get_path_wakeup (self, path));
  }
  return next;
}
