/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the sender says besides the stream: KEEPALIVE, QUERY, LEAVE, CAPS, END
 * and PROBE; docs/wire-mmtp.md section 3. */

#include "mmtpsenderprivate.h"

#include <string.h>

/* docs/wire-mmtp.md, KEEPALIVE: 47 bytes and the trailer */
#define KEEPALIVE_SIZE 55
/* A hundredth of the path's rate: half of what docs/wire-mmtp.md allows a
 * KEEPALIVE */
#define KEEPALIVE_SHARE 100
/* A REPORT of one record with IP and UDP, and the part of the path's rate that
 * reports may take. Where the rate is unknown the window depends on them, and
 * they may take more: 3 instead of 2 %. */
#define REPORT_SIZE 109
#define KNOWN_REPORT_SHARE 50
#define REPORT_SHARE 33
#define LEAST_REPORT_PERIOD (50 * MMTP_MILLISECOND)
#define MOST_REPORT_PERIOD MMTP_SECOND
/* QUERY: "at most once in 10 ms for each channel" */
#define ANSWER_SPACING (10 * MMTP_MILLISECOND)
/* LEAVE: "up to five times with 200 ms between" */
#define LEAVE_TRIES 5
#define LEAVE_WAIT (200 * MMTP_MILLISECOND)
/* CAPS: "at most 5 times a second" */
#define CAPS_WAIT (200 * MMTP_MILLISECOND)
#define CAPS_HEADER 12          /* bytes before the piece of the text */
/* END: "on all channels each 100 ms" */
#define END_WAIT (100 * MMTP_MILLISECOND)
/* A silent path shows by a full-sized message that it delivers again; at a cost
 * of a tenth of its rate. */
#define PROBE_PERIOD (300 * MMTP_MILLISECOND)
#define PROBE_SHARE 10

/* --- one path --------------------------------------------------------- */

/* ns that a message takes at the rate that the path can afford. Where the
 * application limits it nobody knows that rate: what the window allows in a
 * round trip is nearest to it. */
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

/* Before a path has started nobody knows what it can afford. */
guint64
mmtp_path_get_keepalive_period (const MmtpSender * sender,
    const MmtpPath * path)
{
  if (!path->control)
    return sender->config.keepalive_period;
  return MAX (sender->config.keepalive_period, get_cost (path,
          KEEPALIVE_SIZE) * KEEPALIVE_SHARE);
}

guint64
mmtp_path_get_report_period (const MmtpPath * path)
{
  guint share = path->configured_rate ? KNOWN_REPORT_SHARE :
      REPORT_SHARE;

  if (!path->control)
    return path->report_period;
  return CLAMP (share * get_cost (path, REPORT_SIZE),
      LEAST_REPORT_PERIOD, MOST_REPORT_PERIOD);
}

static void
fill_keepalive (MmtpSender * sender, MmtpPath * path, MmtpKeepalive * keepalive)
{
  keepalive->number = path->next;
  keepalive->initial_delay = mmtp_send_queue_get_delay (sender->queue) / 1000;
  keepalive->next = mmtp_send_queue_get_next_number (sender->queue);
  keepalive->floor = mmtp_send_queue_get_floor (sender->queue);
  keepalive->round_trip = path->stats.round_trip / 1000;
  keepalive->fastest = sender->paths.fastest != MMTP_NO_PATH ?
      sender->paths.fastest : path->id;
  keepalive->caps_version = sender->caps ? sender->caps_version : 0;
  keepalive->stored = sender->config.stored;
  keepalive->has_offset = sender->paths.has_offset;
  keepalive->offset = sender->paths.offset / 1000;
  path->report_period = mmtp_path_get_report_period (path);
  keepalive->report_period = path->report_period / MMTP_MILLISECOND;
  keepalive->echo = path->last_report_time ? path->last_report_sent : 0;
  keepalive->hold = path->last_report_time ?
      mmtp_to_hold (path->last_report_time, sender->paths.now) : 0;
}

static gsize
write_keepalive (MmtpSender * sender, MmtpPath * path, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_KEEPALIVE };

  path->keepalive_sent = sender->paths.now;
  path->keepalive_at = sender->paths.now +
      mmtp_path_get_keepalive_period (sender, path);
  if (path->state == MMTP_PATH_SILENT)
    path->query_at = sender->paths.now;
  fill_keepalive (sender, path, &message.keepalive);
  return mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
}

static gsize
write_query (MmtpSender * sender, MmtpPath * path, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_QUERY };

  path->query_at = MMTP_NEVER;
  message.query.channel = path->id;
  return mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
}

static gsize
write_probe_message (MmtpSender * sender, MmtpPath * path, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_PROBE };

  message.probe.size = path->longest;
  path->stats.probes++;
  return mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
}

/* --- LEAVE --------------------------------------------------------------- */

static gsize
write_leave_message (MmtpSender * sender, MmtpPath * leaving, MmtpPath * path,
    gboolean is_ack, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_LEAVE };

  message.leave.channel = leaving->id;
  message.leave.is_ack = is_ack;
  message.leave.reason = leaving->leave_reason;
  message.leave.highest = leaving->replay.any ? leaving->replay.highest : 0;
  return mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
}

static gsize
write_leave (MmtpSender * sender, MmtpPath * leaving, MmtpOutput * output)
{
  gboolean is_ack = leaving->acknowledge_leave;
  MmtpPath *path;

  if (!is_ack &&
      (leaving->leave_tries == 0 || sender->paths.now < leaving->leave_at))
    return 0;
  path = mmtp_paths_find_control_path (&sender->paths, leaving->id);
  if (!path && is_ack && mmtp_path_may_speak (leaving))
    path = leaving;
  leaving->acknowledge_leave = FALSE;
  if (!is_ack) {
    leaving->leave_tries--;
    leaving->leave_at = sender->paths.now + LEAVE_WAIT;
  }
  if (!path)
    return 0;
  return write_leave_message (sender, leaving, path, is_ack, output);
}

void
mmtp_sender_begin_leave (MmtpSender * sender, MmtpPath * path,
    MmtpLeaveReason reason)
{
  path->leave_tries = LEAVE_TRIES;
  path->leave_at = sender->paths.now;
  path->leave_reason = reason;
}

/* The receiver's side of a path goes away: it has to join anew. */
static void
let_leave (MmtpSender * sender, MmtpPath * path, const MmtpLeave * leave)
{
  guint64 highest = mmtp_unwrap (leave->highest, 32,
      path->unreported);

  if (highest >= path->unreported && highest < path->next)
    mmtp_path_settle (path, sender->paths.now, highest);
  path->acknowledge_leave = TRUE;
  path->leave_reason = leave->reason;
  if (!path->joined)
    return;
  mmtp_sender_set_state (sender, path, MMTP_PATH_OPENING);
  mmtp_retransmission_requeue_path (&sender->retransmission, path);
  mmtp_joins_begin (&sender->joins, path);
}

MmtpRefusal
mmtp_sender_take_leave (MmtpSender * sender, const MmtpLeave * leave)
{
  MmtpPath *path;

  if (leave->channel >= sender->paths.n)
    return MMTP_REFUSED_CHANNEL;
  path = sender->paths.all[leave->channel];
  if (leave->is_ack)
    path->leave_tries = 0;
  else
    let_leave (sender, path, leave);
  return MMTP_VALID;
}

/* --- QUERY --------------------------------------------------------------- */

static void
answer_query (MmtpSender * sender, MmtpPath * path)
{
  if (path->joined)
    path->keepalive_at = MIN (path->keepalive_at,
        MAX (sender->paths.now, path->keepalive_sent + ANSWER_SPACING));
}

MmtpRefusal
mmtp_sender_take_query (MmtpSender * sender, const MmtpQuery * query)
{
  guint i;

  for (i = 0; i < sender->paths.n; i++)
    if (query->channel == i || query->channel == MMTP_ALL_CHANNELS)
      answer_query (sender, sender->paths.all[i]);
  return MMTP_VALID;
}

/* Reports are missed: ask for all of them, where they should come from
 * [4.6]. */
static gsize
write_missed_query (MmtpSender * sender, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_QUERY };
  MmtpPath *path = mmtp_paths_find_control_path (&sender->paths, MMTP_NO_PATH);

  if (sender->paths.now < sender->query_at)
    return 0;
  sender->query_at = sender->paths.now + sender->config.keepalive_period;
  if (!path)
    return 0;
  message.query.channel = MMTP_ALL_CHANNELS;
  return mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
}

/* --- CAPS ---------------------------------------------------------------- */

static gsize
write_caps (MmtpSender * sender, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_CAPS };
  MmtpPath *path;
  gsize room;

  if (!sender->caps || sender->caps_acknowledged ||
      sender->paths.now < sender->caps_at)
    return 0;
  path = mmtp_paths_find_control_path (&sender->paths, MMTP_NO_PATH);
  sender->caps_at = sender->paths.now;
  if (!path) {
    sender->caps_at += CAPS_WAIT;
    return 0;
  }
  room = path->longest - CAPS_HEADER - MMTP_TRAILER_SIZE;
  message.caps.version = sender->caps_version;
  message.caps.length = sender->caps_length;
  message.caps.offset = sender->caps_offset;
  message.caps.piece = (const guint8 *) sender->caps + sender->caps_offset;
  message.caps.piece_size = MIN (room, sender->caps_length -
      sender->caps_offset);
  sender->caps_offset += message.caps.piece_size;
  if (sender->caps_offset == sender->caps_length) {
    sender->caps_offset = 0;
    sender->caps_at = sender->paths.now + CAPS_WAIT;
  }
  return mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
}

gboolean
mmtp_sender_set_caps (MmtpSender * sender, guint64 now, const gchar * caps)
{
  gboolean fits = !caps || (*caps && strlen (caps) <= MMTP_MAX_CAPS);

  mmtp_sender_advance (sender, now);
  if (fits && g_strcmp0 (caps, sender->caps) == 0)
    return TRUE;
  g_free (sender->caps);
  sender->caps = fits ? g_strdup (caps) : NULL;
  if (!sender->caps)
    return fits;
  sender->caps_length = strlen (caps);
  sender->caps_offset = 0;
  sender->caps_version = sender->caps_version % 255 + 1;
  sender->caps_acknowledged = FALSE;
  sender->caps_at = sender->paths.now;
  return TRUE;
}

MmtpRefusal
mmtp_sender_take_caps_ack (MmtpSender * sender, guint8 version)
{
  if (version == sender->caps_version)
    sender->caps_acknowledged = TRUE;
  return MMTP_VALID;
}

/* --- END ----------------------------------------------------------------- */

static gboolean
may_end (const MmtpSender * sender)
{
  return sender->ending && !sender->ended &&
      mmtp_send_queue_is_empty (sender->queue);
}

static gsize
write_end (MmtpSender * sender, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_END };

  if (!may_end (sender) || sender->paths.now < sender->end_at)
    return 0;
  message.end.stream_number = mmtp_send_queue_get_next_number (sender->queue);
  while (sender->end_next < sender->paths.n) {
    MmtpPath *path = sender->paths.all[sender->end_next++];

    if (mmtp_path_may_speak (path))
      return mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
  }
  sender->end_next = 0;
  sender->end_at = sender->paths.now + END_WAIT;
  return 0;
}

MmtpRefusal
mmtp_sender_take_end_ack (MmtpSender * sender, guint32 stream_number)
{
  if (!may_end (sender) || stream_number !=
      (guint32) mmtp_send_queue_get_next_number (sender->queue))
    return MMTP_REFUSED_MALFORMED;
  sender->ended = TRUE;
  sender->handshake.phase = MMTP_PHASE_OVER;
  mmtp_sender_tell_simply (sender, MMTP_EVENT_ENDED);
  return MMTP_VALID;
}

/* --- all of them --------------------------------------------------------- */

static gsize
write_path (MmtpSender * sender, MmtpPath * path, MmtpOutput * output)
{
  gsize size = write_leave (sender, path, output);
  MmtpMessage message = { MMTP_JOIN };

  if (size || path->blocked ||
      path->state == MMTP_PATH_GONE)
    return size;
  if (mmtp_joins_poll (&sender->joins, path, &message))
    return mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
  if (!path->joined)
    return 0;
  if (sender->paths.now >= path->keepalive_at)
    return write_keepalive (sender, path, output);
  if (sender->paths.now >= path->query_at)
    return write_query (sender, path, output);
  return 0;
}

gsize
mmtp_sender_write_control (MmtpSender * sender, MmtpOutput * output)
{
  gsize size;
  guint i;

  for (i = 0; i < sender->paths.n; i++)
    if ((size = write_path (sender, sender->paths.all[i], output)))
      return size;
  if ((size = write_missed_query (sender, output)))
    return size;
  if ((size = write_caps (sender, output)))
    return size;
  return write_end (sender, output);
}

/* --- PROBE --------------------------------------------------------------- */

/* Where the stream has another path to take, a PROBE finds out how long a packet
 * takes here, and not a packet of the stream. While packets wait, they are the
 * better probes. */
static gboolean
is_to_be_measured (const MmtpSender * sender, const MmtpPath * path)
{
  return sender->paths.is_ready && mmtp_send_queue_is_empty (sender->queue) &&
      mmtp_path_is_usable (path) &&
      !mmtp_path_is_measured (path) &&
      mmtp_paths_have_choice (&sender->paths);
}

static guint64
get_probe_time (const MmtpSender * sender, const MmtpPath * path)
{
  if (!mmtp_path_may_speak (path) || (path->state != MMTP_PATH_SILENT &&
          !is_to_be_measured (sender, path)))
    return MMTP_NEVER;
  return path->probe_at;
}

gsize
mmtp_sender_write_probe (MmtpSender * sender, MmtpOutput * output)
{
  guint i;

  for (i = 0; i < sender->paths.n; i++) {
    MmtpPath *path = sender->paths.all[i];

    if (sender->paths.now < get_probe_time (sender, path))
      continue;
    path->probe_at = sender->paths.now + MAX (PROBE_PERIOD, PROBE_SHARE *
        mmtp_path_get_cost (path, path->longest));
    return write_probe_message (sender, path, output);
  }
  return 0;
}

/* --- when next ----------------------------------------------------------- */

static guint64
get_path_wakeup (const MmtpSender * sender, const MmtpPath * path)
{
  guint64 wakeup = get_probe_time (sender, path);

  if (path->leave_tries)
    wakeup = MIN (wakeup, path->leave_at);
  if (path->blocked || path->state == MMTP_PATH_GONE)
    return wakeup;
  wakeup = MIN (wakeup, mmtp_joins_get_wakeup (&sender->joins, path));
  if (path->joined)
    wakeup = MIN (wakeup, MIN (path->keepalive_at, path->query_at));
  return wakeup;
}

guint64
mmtp_sender_get_control_wakeup (const MmtpSender * sender)
{
  guint64 wakeup = sender->query_at;
  guint i;

  for (i = 0; i < sender->paths.n; i++)
    wakeup = MIN (wakeup, get_path_wakeup (sender, sender->paths.all[i]));
  if (sender->caps && !sender->caps_acknowledged)
    wakeup = MIN (wakeup, sender->caps_at);
  if (may_end (sender))
    wakeup = MIN (wakeup, sender->end_at);
  return wakeup;
}
