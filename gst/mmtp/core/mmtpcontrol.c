/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpcontrol.h: when each control message of the sender is
 * due, and what it contains. */

#include "mmtpcontrol.h"

#include <string.h>

#define MILLISECOND G_GUINT64_CONSTANT (1000000)
/* Size of a KEEPALIVE in bytes: 47 bytes and a trailer of 8 bytes
 * (docs/wire-mmtp.md, KEEPALIVE). */
#define KEEPALIVE_SIZE 55
/* KEEPALIVEs may use at most one percent of the path's rate, which is
 * 1/KEEPALIVE_SHARE. docs/wire-mmtp.md allows two percent. */
#define KEEPALIVE_SHARE 100
/* The sender requests REPORTs only so often that they use a limited share of
 * the path's rate. The share is 1/KNOWN_REPORT_SHARE (2 %) if the rate was
 * configured. Otherwise it is 1/REPORT_SHARE (3 %), because the congestion
 * window then depends on the REPORTs. REPORT_SIZE is the size in bytes of a
 * REPORT with one record, with IP and UDP headers. */
#define REPORT_SIZE 109
#define KNOWN_REPORT_SHARE 50
#define REPORT_SHARE 33
#define MIN_REPORT_PERIOD (50 * MILLISECOND)
#define MAX_REPORT_PERIOD (1000 * MILLISECOND)
/* Minimum interval between two answers to QUERYs on a path. docs/wire-mmtp.md,
 * section 3, allows one answer in 10 ms on each path. */
#define ANSWER_SPACING (10 * MILLISECOND)
/* A LEAVE is repeated until it is acknowledged. LEAVE_TRIES is the maximum
 * number of LEAVEs for one path, and LEAVE_WAIT is the interval between them
 * (docs/wire-mmtp.md, section 3, LEAVE). */
#define LEAVE_TRIES 5
#define LEAVE_WAIT (200 * MILLISECOND)
/* Interval at which the caps are repeated until they are acknowledged.
 * docs/wire-mmtp.md, section 3, allows at most five repetitions per second. */
#define CAPS_WAIT (200 * MILLISECOND)
/* Size in bytes of the part of a CAPS message that precedes the text. */
#define CAPS_HEADER 12
/* Interval at which END is repeated on all paths until an END-ACK arrives
 * (docs/wire-mmtp.md, section 3, END). */
#define END_WAIT (100 * MILLISECOND)
/* A path is silent if no messages arrive on it, according to the REPORTs.
 * PROBEs of maximum size then show whether the path delivers again. The
 * interval between two PROBEs is at least PROBE_PERIOD. It is also at least
 * PROBE_SHARE (10) times the transmission time of a PROBE. The path therefore
 * transmits PROBEs for at most a tenth of the time, so PROBEs use at most a
 * tenth of the path's rate. */
#define PROBE_PERIOD (300 * MILLISECOND)
#define PROBE_SHARE 10

/* A QUERY is sent if no REPORT has arrived for MISSED_PERIODS report periods.
 * In this rule, a report period counts as at least MIN_QUERY_PERIOD. */
#define MISSED_PERIODS 3
#define MIN_QUERY_PERIOD (100 * MILLISECOND)

/* --- life cycle ----------------------------------------------------------- */

void
mmtp_control_init (MmtpControl * self, MmtpPaths * paths,
    const MmtpSendQueue * queue, MmtpJoins * joins, guint64 keepalive_period,
    gboolean is_stored)
{
  guint i;

  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->queue = queue;
  self->joins = joins;
  self->keepalive_period = keepalive_period;
  self->is_stored = is_stored;
  for (i = 0; i < MMTP_MAX_PATHS; i++)
    self->all[i].query_at = MMTP_NEVER;
}

void
mmtp_control_clear (MmtpControl * self)
{
  g_free (self->caps);
}

void
mmtp_control_add_path (MmtpControl * self, const MmtpPath * path)
{
  MmtpPathControl *control = &self->all[path->id];

  control->leave_tries = 0;
  control->query_at = MMTP_NEVER;
  control->last_report_time = 0;
}

void
mmtp_control_remove_path (MmtpControl * self, const MmtpPath * path,
    MmtpLeaveReason reason)
{
  MmtpPathControl *control = &self->all[path->id];

  control->query_at = MMTP_NEVER;
  if (!path->joined)
    return;
  control->leave_tries = LEAVE_TRIES;
  control->leave_at = self->paths->now;
  control->leave_reason = reason;
}

void
mmtp_control_hasten (MmtpControl * self, const MmtpPath * path)
{
  MmtpPathControl *control = &self->all[path->id];

  control->keepalive_at = MIN (control->keepalive_at, self->paths->now);
}

void
mmtp_control_probe (MmtpControl * self, const MmtpPath * path)
{
  MmtpPathControl *control = &self->all[path->id];

  control->keepalive_at = control->probe_at = self->paths->now;
}

/* --- one path ------------------------------------------------------------- */

/* Returns the time in ns that the path needs to transmit a message of `size`
 * bytes. If the stream does not fill the path, the measured rate is only a
 * lower bound of the path's rate, so the time that follows from it may be too
 * long. The congestion window divided by the round trip may be a better
 * estimate of the rate. The function therefore computes the time with both
 * rates, and returns the shorter time. */
static guint64
get_cost (const MmtpPath * path, gsize size)
{
  guint64 cost = mmtp_path_get_cost (path, size), by_window;

  if (!path->limits.is_app_limited || path->stats.round_trip == 0)
    return cost;
  by_window = (size + path->overhead) * path->stats.round_trip /
      MAX (path->limits.window, 1);
  return MIN (cost, by_window);
}

/* Returns the interval in ns between two KEEPALIVEs on a path. The interval is
 * at least `keepalive_period`. It is longer on a slow path. Before the rate
 * control of the path has started, the rate of the path is unknown, and the
 * interval is `keepalive_period`. */
static guint64
get_keepalive_period (const MmtpControl * self, const MmtpPath * path)
{
  if (!path->control)
    return self->keepalive_period;
  return MAX (self->keepalive_period, get_cost (path,
          KEEPALIVE_SIZE) * KEEPALIVE_SHARE);
}

static guint64
get_report_period (const MmtpPath * path)
{
  guint share = path->configured_rate ? KNOWN_REPORT_SHARE : REPORT_SHARE;

  if (!path->control)
    return path->report_period;
  return CLAMP (share * get_cost (path, REPORT_SIZE),
      MIN_REPORT_PERIOD, MAX_REPORT_PERIOD);
}

static void
fill_keepalive (MmtpControl * self, MmtpPath * path, MmtpKeepalive * keepalive)
{
  keepalive->number = path->sent.next;
  keepalive->initial_delay = mmtp_send_queue_get_delay (self->queue) / 1000;
  keepalive->next = mmtp_send_queue_get_next_number (self->queue);
  keepalive->floor = mmtp_send_queue_get_floor (self->queue);
  keepalive->round_trip = path->stats.round_trip / 1000;
  keepalive->fastest = self->paths->fastest != MMTP_NO_PATH ?
      self->paths->fastest : path->id;
  keepalive->caps_version = self->caps ? self->caps_version : 0;
  keepalive->stored = self->is_stored;
  keepalive->has_offset = self->paths->has_offset;
  keepalive->offset = self->paths->offset / 1000;
  path->report_period = get_report_period (path);
  keepalive->report_period = path->report_period / MILLISECOND;
  keepalive->echo = self->all[path->id].last_report_time ?
      self->all[path->id].last_report_sent : 0;
  keepalive->hold = self->all[path->id].last_report_time ?
      mmtp_to_hold (self->all[path->id].last_report_time, self->paths->now) : 0;
}

static MmtpPath *
make_keepalive (MmtpControl * self, MmtpPath * path, MmtpMessage * message)
{
  MmtpPathControl *control = &self->all[path->id];

  control->keepalive_sent = self->paths->now;
  control->keepalive_at = self->paths->now + get_keepalive_period (self, path);
  if (path->state == MMTP_PATH_SILENT)
    control->query_at = self->paths->now;
  message->type = MMTP_KEEPALIVE;
  fill_keepalive (self, path, &message->keepalive);
  return path;
}

static MmtpPath *
make_query (MmtpControl * self, MmtpPath * path, MmtpMessage * message)
{
  self->all[path->id].query_at = MMTP_NEVER;
  message->type = MMTP_QUERY;
  message->query.channel = path->id;
  return path;
}

/* --- LEAVE ---------------------------------------------------------------- */

/* If a LEAVE is due, fills in `message` with it. A LEAVE is a message that
 * removes a path from the session. The LEAVE either removes the path `leaving`,
 * or acknowledges a LEAVE that the receiver has sent.
 *
 * Returns the path on which the LEAVE is to be sent. This is another path than
 * `leaving`, if possible. Returns NULL if no LEAVE is due or no path can send
 * it. */
static MmtpPath *
make_leave (MmtpControl * self, MmtpPath * leaving, MmtpMessage * message)
{
  MmtpPathControl *control = &self->all[leaving->id];
  gboolean is_ack = control->acknowledge_leave;
  MmtpPath *path;

  if (!is_ack && (control->leave_tries == 0 ||
          self->paths->now < control->leave_at))
    return NULL;
  path = mmtp_paths_find_control_path (self->paths, leaving->id);
  if (!path && is_ack && mmtp_path_may_send_control (leaving))
    path = leaving;
  control->acknowledge_leave = FALSE;
  if (!is_ack) {
    control->leave_tries--;
    control->leave_at = self->paths->now + LEAVE_WAIT;
  }
  message->type = MMTP_LEAVE;
  message->leave.channel = leaving->id;
  message->leave.is_ack = is_ack;
  message->leave.reason = control->leave_reason;
  message->leave.highest = leaving->replay.any ? leaving->replay.highest : 0;
  return path;
}

void
mmtp_control_take_leave (MmtpControl * self, const MmtpPath * path,
    const MmtpLeave * leave)
{
  MmtpPathControl *control = &self->all[path->id];

  if (leave->is_ack) {
    control->leave_tries = 0;
    return;
  }
  control->acknowledge_leave = TRUE;
  control->leave_reason = leave->reason;
}

/* --- QUERY ---------------------------------------------------------------- */

static void
answer_query (MmtpControl * self, MmtpPath * path)
{
  if (path->joined)
    self->all[path->id].keepalive_at = MIN (self->all[path->id].keepalive_at,
        MAX (self->paths->now, self->all[path->id].keepalive_sent +
            ANSWER_SPACING));
}

MmtpRefusal
mmtp_control_take_query (MmtpControl * self, const MmtpQuery * query)
{
  guint i;

  for (i = 0; i < self->paths->n; i++)
    if (query->channel == i || query->channel == MMTP_ALL_CHANNELS)
      answer_query (self, self->paths->all[i]);
  return MMTP_VALID;
}

/* If REPORTs are missing, fills in a QUERY that asks the receiver for REPORTs
 * about all paths. Returns the path on which the QUERY is sent, or NULL if no
 * QUERY is due. If possible, the QUERY is sent on the fastest path, because the
 * receiver sends its REPORTs on that path (section 4.6 of the MMTP paper). */
static MmtpPath *
make_missed_query (MmtpControl * self, MmtpMessage * message)
{
  if (self->paths->now < self->query_at)
    return NULL;
  self->query_at = self->paths->now + self->keepalive_period;
  message->type = MMTP_QUERY;
  message->query.channel = MMTP_ALL_CHANNELS;
  return mmtp_paths_find_control_path (self->paths, MMTP_NO_PATH);
}

void
mmtp_control_note_report (MmtpControl * self, const MmtpPath * path,
    guint32 sent)
{
  self->all[path->id].last_report_sent = sent;
  self->all[path->id].last_report_time = self->paths->now;
}

void
mmtp_control_put_off_query (MmtpControl * self, const MmtpPath * path)
{
  self->query_at = self->paths->now + MISSED_PERIODS * MAX (MIN_QUERY_PERIOD,
      path->report_period);
}

void
mmtp_control_check_period (MmtpControl * self, const MmtpPath * path)
{
  if (get_report_period (path) >= 2 * path->report_period)
    mmtp_control_hasten (self, path);
}

/* --- CAPS ----------------------------------------------------------------- */

static MmtpPath *
make_caps (MmtpControl * self, MmtpMessage * message)
{
  MmtpPath *path;
  gsize room;

  if (!self->caps || self->caps_acknowledged ||
      self->paths->now < self->caps_at)
    return NULL;
  path = mmtp_paths_find_control_path (self->paths, MMTP_NO_PATH);
  self->caps_at = self->paths->now;
  if (!path) {
    self->caps_at += CAPS_WAIT;
    return NULL;
  }
  room = path->max_size - CAPS_HEADER - MMTP_TRAILER_SIZE;
  message->type = MMTP_CAPS;
  message->caps.version = self->caps_version;
  message->caps.length = self->caps_length;
  message->caps.offset = self->caps_offset;
  message->caps.piece = (const guint8 *) self->caps + self->caps_offset;
  message->caps.piece_size = MIN (room, self->caps_length - self->caps_offset);
  self->caps_offset += message->caps.piece_size;
  if (self->caps_offset == self->caps_length) {
    self->caps_offset = 0;
    self->caps_at = self->paths->now + CAPS_WAIT;
  }
  return path;
}

gboolean
mmtp_control_set_caps (MmtpControl * self, const gchar * caps)
{
  gboolean fits = !caps || (*caps && strlen (caps) <= MMTP_MAX_CAPS);

  if (fits && g_strcmp0 (caps, self->caps) == 0)
    return TRUE;
  g_free (self->caps);
  self->caps = fits ? g_strdup (caps) : NULL;
  if (!self->caps)
    return fits;
  self->caps_length = strlen (caps);
  self->caps_offset = 0;
  self->caps_version = self->caps_version % 255 + 1;
  self->caps_acknowledged = FALSE;
  self->caps_at = self->paths->now;
  return TRUE;
}

guint8
mmtp_control_get_caps_version (const MmtpControl * self)
{
  return self->caps ? self->caps_version : 0;
}

MmtpRefusal
mmtp_control_take_caps_ack (MmtpControl * self, guint8 version)
{
  if (version == self->caps_version)
    self->caps_acknowledged = TRUE;
  return MMTP_VALID;
}

/* --- END ------------------------------------------------------------------ */

static gboolean
may_end (const MmtpControl * self)
{
  return self->is_ending && !self->has_ended &&
      mmtp_send_queue_is_empty (self->queue);
}

static MmtpPath *
make_end (MmtpControl * self, MmtpMessage * message)
{
  if (!may_end (self) || self->paths->now < self->end_at)
    return NULL;
  message->type = MMTP_END;
  message->end.stream_number = mmtp_send_queue_get_next_number (self->queue);
  while (self->end_next < self->paths->n) {
    MmtpPath *path = self->paths->all[self->end_next++];

    if (mmtp_path_may_send_control (path))
      return path;
  }
  self->end_next = 0;
  self->end_at = self->paths->now + END_WAIT;
  return NULL;
}

void
mmtp_control_end (MmtpControl * self)
{
  self->is_ending = TRUE;
  self->end_at = self->paths->now;
}

MmtpRefusal
mmtp_control_take_end_ack (MmtpControl * self, guint32 stream_number)
{
  if (!may_end (self) || stream_number !=
      (guint32) mmtp_send_queue_get_next_number (self->queue))
    return MMTP_REFUSED_MALFORMED;
  self->has_ended = TRUE;
  return MMTP_VALID;
}

/* --- next message and wakeup ---------------------------------------------- */

static MmtpPath *
make_of_path (MmtpControl * self, MmtpPath * path, MmtpMessage * message)
{
  MmtpPath *other = make_leave (self, path, message);

  if (other || path->blocked || path->state == MMTP_PATH_GONE)
    return other;
  if (mmtp_joins_poll (self->joins, path, message))
    return path;
  if (!path->joined)
    return NULL;
  if (self->paths->now >= self->all[path->id].keepalive_at)
    return make_keepalive (self, path, message);
  if (self->paths->now >= self->all[path->id].query_at)
    return make_query (self, path, message);
  return NULL;
}

MmtpPath *
mmtp_control_poll (MmtpControl * self, MmtpMessage * message)
{
  MmtpPath *path;
  guint i;

  for (i = 0; i < self->paths->n; i++)
    if ((path = make_of_path (self, self->paths->all[i], message)))
      return path;
  if ((path = make_missed_query (self, message)))
    return path;
  if ((path = make_caps (self, message)))
    return path;
  return make_end (self, message);
}

/* --- PROBE ---------------------------------------------------------------- */

/* Returns whether PROBEs, which have no content, should measure the
 * transmission time of a packet on this path. Three conditions must be met:
 * - The transmission time is unknown.
 * - The stream can use another path in the meantime, so that no packet of the
 *   stream is at risk.
 * - No packet of the stream is waiting. A PROBE must not delay the stream. */
static gboolean
is_to_be_measured (const MmtpControl * self, const MmtpPath * path)
{
  return self->paths->is_ready && !mmtp_path_is_measured (path) &&
      mmtp_path_is_usable (path) && mmtp_paths_have_choice (self->paths) &&
      mmtp_send_queue_is_empty (self->queue);
}

static guint64
get_probe_time (const MmtpControl * self, const MmtpPath * path)
{
  if (!mmtp_path_may_send_control (path) || (path->state != MMTP_PATH_SILENT &&
          !is_to_be_measured (self, path)))
    return MMTP_NEVER;
  return self->all[path->id].probe_at;
}

MmtpPath *
mmtp_control_poll_probe (MmtpControl * self, MmtpMessage * message)
{
  guint i;

  for (i = 0; i < self->paths->n; i++) {
    MmtpPath *path = self->paths->all[i];

    if (self->paths->now < get_probe_time (self, path))
      continue;
    self->all[path->id].probe_at = self->paths->now + MAX (PROBE_PERIOD,
        PROBE_SHARE * mmtp_path_get_cost (path, path->max_size));
    message->type = MMTP_PROBE;
    message->probe.size = path->max_size;
    path->stats.probes++;
    return path;
  }
  return NULL;
}


static guint64
get_path_wakeup (const MmtpControl * self, const MmtpPath * path)
{
  guint64 wakeup = get_probe_time (self, path);

  if (self->all[path->id].leave_tries)
    wakeup = MIN (wakeup, self->all[path->id].leave_at);
  if (path->blocked || path->state == MMTP_PATH_GONE)
    return wakeup;
  wakeup = MIN (wakeup, mmtp_joins_next_wakeup (self->joins, path));
  if (path->joined)
    wakeup = MIN (wakeup,
        MIN (self->all[path->id].keepalive_at, self->all[path->id].query_at));
  return wakeup;
}

guint64
mmtp_control_next_wakeup (const MmtpControl * self)
{
  guint64 wakeup = self->query_at;
  guint i;

  for (i = 0; i < self->paths->n; i++)
    wakeup = MIN (wakeup, get_path_wakeup (self, self->paths->all[i]));
  if (self->caps && !self->caps_acknowledged)
    wakeup = MIN (wakeup, self->caps_at);
  if (may_end (self))
    wakeup = MIN (wakeup, self->end_at);
  return wakeup;
}
