/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The set of all paths of a sender. */

#include "mmtppaths.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define MILLISECOND G_GUINT64_CONSTANT (1000000)
/* Another path becomes the fastest path if its round trip is clearly shorter
 * than that of the present fastest path. The difference must be more than 1 ms
 * plus an eighth of the present fastest path's round trip. A change of the
 * fastest path is costly, because it decides which paths give the offset between
 * the clocks. */
#define FASTER(new, old) ((new) + (old) / 8 + MILLISECOND < (old))
/* If messages should have arrived on a path but nothing arrives for this time
 * (in ns), the path counts as silent. The time is longer than the usual
 * interruptions of a mobile network, which end without any action of the
 * sender. */
#define SILENT_TIME SECOND
/* If a path has delivered messages before, but no report arrives for this time
 * (in ns), the path counts as silent. The time is longer than SILENT_TIME,
 * because perhaps the path still works, and only the reports are lost or
 * delayed on the return path. */
#define UNREPORTED_TIME (3 * SECOND)
/* New packets of the stream may use only this percentage of the total rate of
 * the paths. Keep-alives and retransmissions use the rest. */
#define PUT_PERCENT 95
/* Percentage that replaces PUT_PERCENT if the rate of at least one path is not
 * configured. The queue may use this percentage of the total rate of the paths.
 *
 * A rate that is not configured is only an estimate, which may be too low. The
 * percentage is above 100, so that buffers are accepted despite a low estimate.
 * If too many buffers are accepted, the late ones are dropped later. */
#define LENIENT_PERCENT 400

void
mmtp_paths_init (MmtpPaths * paths)
{
  memset (paths, 0, sizeof (*paths));
  paths->fastest = MMTP_NO_PATH;
}

void
mmtp_paths_clear (MmtpPaths * paths)
{
  guint i;

  for (i = 0; i < paths->n; i++)
    mmtp_path_free (paths->all[i]);
}

MmtpPath *
mmtp_paths_add (MmtpPaths * paths, const gchar * name)
{
  guint i;

  for (i = 0; i < paths->n; i++)
    if (strcmp (paths->all[i]->name, name) == 0)
      return paths->all[i];
  if (paths->n == MMTP_MAX_PATHS)
    return NULL;
  paths->all[paths->n] = mmtp_path_new (paths->n, name);
  return paths->all[paths->n++];
}

MmtpPath *
mmtp_paths_get (const MmtpPaths * paths, guint id)
{
  return id < paths->n ? paths->all[id] : NULL;
}

/* --- what a path may do --------------------------------------------------- */

gboolean
mmtp_path_is_usable (const MmtpPath * path)
{
  return path->state == MMTP_PATH_ACTIVE;
}

gboolean
mmtp_path_may_carry (const MmtpPath * path)
{
  return mmtp_path_is_usable (path) && !path->blocked;
}

gboolean
mmtp_path_may_send_control (const MmtpPath * path)
{
  return path->joined && !path->blocked && path->state != MMTP_PATH_GONE;
}

static gboolean
delivers (const MmtpPath * path)
{
  return mmtp_path_may_send_control (path) && path->state != MMTP_PATH_SILENT;
}

/* Returns the number of paths for which `is_counted` returns TRUE. */
static guint
count (const MmtpPaths * paths, gboolean (*is_counted) (const MmtpPath *))
{
  guint n = 0, i;

  for (i = 0; i < paths->n; i++)
    n += is_counted (paths->all[i]);
  return n;
}

gboolean
mmtp_paths_have_choice (const MmtpPaths * paths)
{
  return count (paths, mmtp_path_may_carry) > 1;
}

gboolean
mmtp_paths_are_several (const MmtpPaths * paths)
{
  return count (paths, mmtp_path_is_usable) > 1;
}

gboolean
mmtp_paths_are_usable (const MmtpPaths * paths)
{
  return count (paths, mmtp_path_is_usable) > 0;
}

/* --- one-way delays of the paths (docs/wire-mmtp.md, section 6) ----------- */

static gboolean
is_timed (const MmtpPath * path)
{
  return path->state != MMTP_PATH_GONE &&
      path->state != MMTP_PATH_SILENT &&
      path->delays.is_known && mmtp_recent_is_known (&path->round_trips);
}

void
mmtp_paths_find_fastest (MmtpPaths * paths)
{
  guint best = paths->fastest;
  guint i;

  if (best != MMTP_NO_PATH && !is_timed (paths->all[best]))
    best = MMTP_NO_PATH;
  for (i = 0; i < paths->n; i++) {
    if (!is_timed (paths->all[i]))
      continue;
    if (best == MMTP_NO_PATH ||
        FASTER (paths->all[i]->stats.round_trip,
            paths->all[best]->stats.round_trip))
      best = i;
  }
  paths->fastest = best;
}

/* Returns an estimate of the clock offset from one path, in ns: the base delay
 * of the path minus half of its round trip, as in NTP. The base delay and the
 * round trip must be minima over the same period. With different periods, a
 * queueing delay might be part of only one of the two minima. If it were part
 * of the base delay, the error of the offset would be the whole queueing delay.
 * If it were part of the round trip, the error would be half of the queueing
 * delay. */
static gint64
get_offset_of_path (const MmtpPath * path)
{
  return mmtp_path_delay_get_base (&path->delays) -
      mmtp_path_delay_get_base (&path->long_round_trips) / 2;
}

/* Returns the offset between the clocks of the endpoints in ns, estimated from
 * all paths that were measured. There must be at least one such path.
 *
 * The one-way delays of a path are at least 0 in both directions, so the offset
 * is at most the base delay, and at least the base delay minus the round trip.
 * The offset must be within these bounds for each path, as in the intersection
 * algorithm of NTP (RFC 5905, section 11.2.1). The path with the shortest round
 * trip has the narrowest bounds.
 *
 * Within the bounds, the paths give different estimates, because their measured
 * minima contain jitter. The function returns the lowest estimate of those
 * paths whose round trip is at most 1.5 times that of the fastest path. Of two
 * errors, this is the less harmful one:
 * - If the offset is too low, the deadlines at the receiver are too early, and
 *   the sender assumes that all paths are slower than they are. It therefore
 *   has a little less time for each frame.
 * - If the offset is too high, the sender assumes too short delays. It then uses
 *   the time after the deadline, too, and every frame may be output too late.
 *
 * The bounds contradict each other if the clocks have drifted, or if a queue is
 * part of only one of the two minima of a path. Only the fastest path counts
 * then. A path that is not used now may have old minima, so it does not count.
 */
static gint64
get_offset (const MmtpPaths * paths)
{
  const MmtpPath *fastest = paths->all[paths->fastest];
  const gint64 max_round_trip =
      mmtp_path_delay_get_base (&fastest->long_round_trips) / 2 * 3;
  gint64 low = G_MININT64, high = G_MAXINT64;
  gint64 offset = get_offset_of_path (fastest);
  guint i;

  for (i = 0; i < paths->n; i++) {
    const MmtpPath *path = paths->all[i];
    gint64 base, round_trip;

    if (!is_timed (path) || (path != fastest && !mmtp_path_is_usable (path)))
      continue;
    base = mmtp_path_delay_get_base (&path->delays);
    round_trip = mmtp_path_delay_get_base (&path->long_round_trips);
    low = MAX (low, base - round_trip);
    high = MIN (high, base);
    if (round_trip <= max_round_trip)
      offset = MIN (offset, get_offset_of_path (path));
  }
  return low <= high ? CLAMP (offset, low, high) : get_offset_of_path (fastest);
}

void
mmtp_paths_update_delays (MmtpPaths * paths)
{
  const gboolean are_several = mmtp_paths_are_several (paths);
  guint i;

  for (i = 0; i < paths->n; i++)
    paths->all[i]->has_other_paths = are_several;

  mmtp_paths_find_fastest (paths);
  if (paths->fastest != MMTP_NO_PATH) {
    paths->offset = get_offset (paths);
    paths->has_offset = TRUE;
  }
  if (!paths->has_offset)
    return;
  for (i = 0; i < paths->n; i++)
    mmtp_path_update_delay (paths->all[i], paths->now, paths->offset);
}

/* Returns the time in ns from the arrival of a message at the receiver until a
 * report about this message has reached the sender. It is the sum of three
 * times:
 * - half of the report period, because the receiver sends the next report after
 *   half a period on average;
 * - half of the round trip, which the report needs for the way to the sender;
 * - the jitter of the return path. This jitter is unknown, so it is assumed to
 *   equal the measured jitter of the path to the receiver. */
guint64
mmtp_paths_get_return_time (const MmtpPaths * paths)
{
  const MmtpPath *path;

  if (paths->fastest == MMTP_NO_PATH)
    return SECOND;
  path = paths->all[paths->fastest];
  return path->stats.round_trip / 2 + MAX (path->delays.jitter, 0) +
      path->report_period / 2;
}

/* Returns the initial delay (D0, the latency of the session) that a path needs,
 * in ns.
 *
 * If a rate is configured for the path, the result is `high_delay`, a one-way
 * delay that hardly any message exceeds. Nearly every packet is then in time.
 *
 * If no rate is configured, the result is the base delay of the path plus twice
 * its jitter. If a message takes longer, it has waited in a queue. D0 does not
 * have to include this wait. */
static guint64
get_wanted_delay (const MmtpPath * path)
{
  if (path->configured_rate)
    return path->high_delay;
  return path->delay + MAX (2 * path->delays.jitter, 0);
}

guint64
mmtp_paths_get_needed_delay (const MmtpPaths * paths, guint64 max_delay)
{
  guint64 needed = 0;
  guint i;

  for (i = 0; i < paths->n; i++) {
    const MmtpPath *path = paths->all[i];

    if (mmtp_path_is_watched (path) && path->delay != MMTP_NEVER &&
        get_wanted_delay (path) <= max_delay)
      needed = MAX (needed, get_wanted_delay (path));
  }
  return needed;
}

static guint64
get_delay_of_quickest (const MmtpPaths * paths,
    guint64 (*get_delay_of) (const MmtpPath *, guint64))
{
  guint64 min = MMTP_NEVER;
  guint i;

  for (i = 0; i < paths->n; i++)
    if (mmtp_path_is_usable (paths->all[i]))
      min = MIN (min, get_delay_of (paths->all[i], paths->now));
  return min;
}

guint64
mmtp_paths_get_min_delay (const MmtpPaths * paths)
{
  return get_delay_of_quickest (paths, mmtp_path_get_safe_delay);
}

/* Returns the minimum delay of the paths, in ns. If the paths have not been
 * measured yet, returns 0. With this delay of 0, the sender drops only packets
 * whose deadline has already passed. */
guint64
mmtp_paths_get_best_delay (const MmtpPaths * paths)
{
  guint64 min = get_delay_of_quickest (paths, mmtp_path_get_best_delay);

  return paths->is_ready && min != MMTP_NEVER ? min : 0;
}

gboolean
mmtp_paths_are_sure (const MmtpPaths * paths, guint64 deadline)
{
  guint i;

  if (!mmtp_paths_are_usable (paths))
    return TRUE;
  for (i = 0; i < paths->n; i++) {
    const MmtpPath *path = paths->all[i];

    if (mmtp_path_is_usable (paths->all[i]) &&
        MAX (path->token, paths->now) +
        mmtp_path_get_safe_delay (path, paths->now) <= deadline)
      return TRUE;
  }
  return FALSE;
}

MmtpPath *
mmtp_paths_find_quickest (const MmtpPaths * paths, gsize size,
    guint64 * arrival)
{
  MmtpPath *best = NULL;
  guint i;

  *arrival = MMTP_NEVER;
  for (i = 0; i < paths->n; i++) {
    const MmtpPath *path = paths->all[i];
    guint64 comes;

    if (!mmtp_path_may_carry (paths->all[i]) || size > path->max_size)
      continue;
    comes = MAX (path->token, paths->now)
        + mmtp_path_get_expected_delay (path, paths->now);
    if (comes >= *arrival)
      continue;
    *arrival = comes;
    best = paths->all[i];
  }
  return best;
}

guint64
mmtp_paths_get_delay_elsewhere (const MmtpPaths * paths,
    const MmtpPath * except)
{
  guint64 min = MMTP_NEVER;
  guint i;

  for (i = 0; i < paths->n; i++) {
    const MmtpPath *path = paths->all[i];

    if (path != except && mmtp_path_may_carry (path) && !path->is_stalled &&
        mmtp_path_has_window (path, path->max_size, TRUE))
      min = MIN (min, mmtp_path_get_safe_delay (path, paths->now));
  }
  return min;
}

MmtpPath *
mmtp_paths_find_control_path (const MmtpPaths * paths, guint except)
{
  MmtpPath *best = NULL;
  guint i;

  if (paths->fastest != MMTP_NO_PATH && paths->fastest != except &&
      delivers (paths->all[paths->fastest]))
    return paths->all[paths->fastest];
  for (i = 0; i < paths->n; i++) {
    MmtpPath *path = paths->all[i];

    if (i == except || !mmtp_path_may_send_control (path))
      continue;
    if (!best || (delivers (path) && !delivers (best)))
      best = path;
  }
  return best;
}

/* --- how much the paths carry --------------------------------------------- */

/* For each of the `n` deadlines, computes the number of bytes that `path` can
 * deliver before this deadline, and adds this number to the entry of
 * `capacities` with the same index. */
static void
add_capacities (const MmtpPath * path, guint64 now, const guint64 * deadlines,
    guint64 * capacities, guint n, gboolean at_best, guint percent)
{
  const guint64 rate = at_best ? mmtp_path_get_peak_rate (path) :
      mmtp_path_get_rate (path);
  const guint64 delay = at_best ? mmtp_path_get_best_delay (path, now) :
      mmtp_path_get_safe_delay (path, now);
  guint i;

  for (i = 0; i < n; i++)
    if (deadlines[i] >= now + delay)
      capacities[i] += (deadlines[i] - now - delay) / 1000 *
          (rate / 8) / 1000000 * percent / 100 + path->max_size +
          path->overhead;
}

static void
sum_capacities (const MmtpPaths * paths, const guint64 * deadlines,
    guint64 * capacities, guint n, gboolean at_best, guint percent)
{
  guint i;

  memset (capacities, 0, n * sizeof (*capacities));
  for (i = 0; i < paths->n; i++)
    if (mmtp_path_is_usable (paths->all[i]))
      add_capacities (paths->all[i], paths->now, deadlines, capacities, n,
          at_best, percent);
}

void
mmtp_paths_get_capacities (const MmtpPaths * paths, const guint64 * deadlines,
    guint64 * capacities, guint n, guint percent)
{
  sum_capacities (paths, deadlines, capacities, n, FALSE, percent);
}

guint64
mmtp_paths_get_capacity_of (const MmtpPaths * paths, const MmtpPath * path,
    guint64 deadline, guint percent)
{
  guint64 capacity = 0;

  add_capacities (path, paths->now, &deadline, &capacity, 1, FALSE, percent);
  return capacity;
}

guint64
mmtp_paths_get_capacity (const MmtpPaths * paths, guint64 deadline,
    gboolean at_best, guint percent)
{
  guint64 capacity;

  sum_capacities (paths, &deadline, &capacity, 1, at_best, percent);
  return capacity;
}

/* Returns whether it is known how many bytes all paths together can deliver
 * (their capacity). While the stream uses less than a path can carry, the
 * capacity of this path is unknown. If the capacity of one path is unknown, the
 * capacity of all paths together is unknown, and is treated as unlimited. */
gboolean
mmtp_paths_are_measurable (const MmtpPaths * paths)
{
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < paths->n; i++) {
    const MmtpPath *path = paths->all[i];

    if (!mmtp_path_is_usable (paths->all[i]))
      continue;
    any = TRUE;
    if (path->limits.is_app_limited)
      return FALSE;
  }
  return paths->is_ready && any;
}

/* Returns the percentage of the measured capacity that queued data may use. If
 * a new buffer would exceed this percentage, the buffer is refused. If the rate
 * of a path is not configured, the measured capacity is only an estimate. In
 * this case, the function returns LENIENT_PERCENT, which is higher than
 * PUT_PERCENT. */
static guint
get_put_percent (const MmtpPaths * paths)
{
  guint i;

  for (i = 0; i < paths->n; i++)
    if (mmtp_path_is_usable (paths->all[i]) && !paths->all[i]->configured_rate)
      return LENIENT_PERCENT;
  return PUT_PERCENT;
}

guint64
mmtp_paths_get_put_capacity (const MmtpPaths * paths, guint64 deadline)
{
  if (!mmtp_paths_are_measurable (paths))
    return G_MAXUINT64;
  return mmtp_paths_get_capacity (paths, deadline, TRUE,
      get_put_percent (paths));
}

static guint64
get_payload_rate (const MmtpPath * path)
{
  guint payload = path->data_size > MMTP_DATA_OVERHEAD ?
      path->data_size - MMTP_DATA_OVERHEAD : 1;

  return path->limits.delivery_rate / 1000 * (payload * 1000 /
      (path->data_size + path->overhead));
}

guint64
mmtp_paths_get_estimated_rate (const MmtpPaths * paths,
    gboolean * is_app_limited)
{
  guint64 sum = 0;
  guint i;

  *is_app_limited = FALSE;
  for (i = 0; i < paths->n; i++) {
    if (!mmtp_path_is_usable (paths->all[i]))
      continue;
    sum += get_payload_rate (paths->all[i]);
    *is_app_limited |= paths->all[i]->limits.is_app_limited;
  }
  return sum;
}

guint
mmtp_paths_get_max_message (const MmtpPaths * paths)
{
  guint size = G_MAXUINT16;
  guint i;

  for (i = 0; i < paths->n; i++)
    if (paths->all[i]->state != MMTP_PATH_GONE)
      size = MIN (size, paths->all[i]->max_size);
  return MIN (size, MMTP_MAX_MESSAGE);
}

void
mmtp_paths_note_packet (MmtpPaths * paths, gsize size)
{
  guint i;

  for (i = 0; i < paths->n; i++) {
    MmtpPath *path = paths->all[i];

    if (path->stats.data_packets == 0)
      path->data_size = size;
    path->large_size = MAX (path->large_size, size);
  }
}

/* --- liveness [4.6] ------------------------------------------------------- */

gboolean
mmtp_path_is_watched (const MmtpPath * path)
{
  MmtpPathState state = path->state;

  return state == MMTP_PATH_ACTIVE || state == MMTP_PATH_CONTROL;
}

/* Returns the time at which the path will count as silent, if no new message is
 * reported by then.
 *
 * The function computes when the report about the oldest unreported message
 * should have arrived. When this message was sent, a number of bytes were in
 * flight. The function takes into account how long the path needs to transmit
 * these bytes. It then adds one of these times:
 *
 * - SILENT_TIME, if a report shows that the path itself has stalled;
 * - SILENT_TIME, if no report about the path has arrived yet, because it is
 *   then unknown whether the path delivers at all;
 * - UNREPORTED_TIME otherwise, because perhaps only the return path has
 *   stalled. */
guint64
mmtp_path_get_silence_time (const MmtpPath * path)
{
  gboolean may_be_unreported = path->confirmed && !path->is_stalled;
  const MmtpSent *oldest = mmtp_sent_log_get (&path->sent,
      mmtp_sent_log_get_oldest (&path->sent));

  if (!mmtp_path_is_watched (path) || !oldest)
    return MMTP_NEVER;
  return MAX (oldest->time, path->progress_time) +
      (may_be_unreported ? UNREPORTED_TIME : SILENT_TIME) +
      path->stats.round_trip + 2 * path->report_period +
      mmtp_path_get_cost (path, oldest->in_flight);
}
