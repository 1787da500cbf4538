/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The set of all paths of a sender. It determines:
 * - which path is the fastest,
 * - the expected arrival time of a message,
 * - how many bytes all paths together can deliver,
 * - which messages each path may carry.
 *
 * Sizes are in bytes, rates in bit/s, times in ns.
 */

#pragma once

#include "mmtppath.h"

typedef struct
{
  /* The current time in ns: the latest time that a caller has passed to the
   * sender. All parts of the sender use it. */
  guint64 now;
  MmtpPath *all[MMTP_MAX_PATHS];        /* indexed by the path's id */
  guint n;
  /* id of the fastest path; MMTP_NO_PATH if unknown */
  guint fastest;
  /* estimate of the offset between the clocks in ns: time on the receiver's
   * clock minus time on the sender's clock */
  gint64 offset;
  gboolean has_offset;
  /* TRUE if at least one path has been set up, so that the stream may begin */
  gboolean is_ready;
} MmtpPaths;

void mmtp_paths_init (MmtpPaths * paths);
void mmtp_paths_clear (MmtpPaths * paths);
/* Returns the path whose name is `name`. If there is no such path, creates it.
 * Returns NULL if a path would have to be created, but the maximum number of
 * paths exists already. */
MmtpPath *mmtp_paths_add (MmtpPaths * paths, const gchar * name);
/* Returns the path with this id, or NULL if there is none. */
MmtpPath *mmtp_paths_get (const MmtpPaths * paths, guint id);

/* --- what a path may do --------------------------------------------------- */

/* Returns whether the path is active, which means that the receiver accepts
 * packets of the stream on this path. */
gboolean mmtp_path_is_usable (const MmtpPath * path);
/* Returns whether the path is usable and its socket is writable. */
gboolean mmtp_path_may_carry (const MmtpPath * path);
/* Returns whether the path may carry control messages: it has joined the
 * session, its socket is writable, and it has not been removed. */
gboolean mmtp_path_may_send_control (const MmtpPath * path);
/* Returns whether the path has joined and is not silent. */
gboolean mmtp_path_is_watched (const MmtpPath * path);
/* Returns the time at which the path begins to count as silent. Each report
 * that acknowledges a message postpones this time. Returns MMTP_NEVER if no
 * report is expected.
 */
guint64 mmtp_path_get_silence_time (const MmtpPath * path);
/* Returns whether at least one path is usable. */
gboolean mmtp_paths_are_usable (const MmtpPaths * paths);
/* Returns whether at least two paths can carry packets of the stream now: they
 * are active, and their sockets are writable. */
gboolean mmtp_paths_have_choice (const MmtpPaths * paths);
/* Returns whether at least two paths are usable, even if their sockets are full
 * at the moment. */
gboolean mmtp_paths_are_several (const MmtpPaths * paths);
/* Returns the path for a control message, in this order of preference:
 * - the fastest path, if it delivers messages and is not `except`,
 * - another path that delivers messages,
 * - any other path that may carry control messages.
 *
 * The path `except` is never returned. Returns NULL if there is no such path.
 */
MmtpPath *mmtp_paths_find_control_path (const MmtpPaths * paths, guint except);

/* --- how soon they bring a message ---------------------------------------- */

/* Updates the field `fastest`, the id of the fastest path. Call this function
 * after a report has arrived, and after a path has become silent. */
void mmtp_paths_find_fastest (MmtpPaths * paths);
/* Finds the fastest path and updates the delays of all paths. */
void mmtp_paths_update_delays (MmtpPaths * paths);
/* Returns the approximate time, in ns, from the sending of a report at the
 * receiver to its arrival at the sender. */
guint64 mmtp_paths_get_return_time (const MmtpPaths * paths);
/* Returns the shortest safe delay of all usable paths, in ns. The safe delay of
 * a path is its expected delay plus a safety margin. Returns MMTP_NEVER if no
 * path is usable. */
guint64 mmtp_paths_get_min_delay (const MmtpPaths * paths);
/* Returns the lowest of the minimum delays of the usable paths, in ns. The
 * minimum delay of a path is the delay that a packet would have if the queue of
 * the path were empty. Returns 0 if the delays are unknown. */
guint64 mmtp_paths_get_best_delay (const MmtpPaths * paths);
/* Returns whether at least one path almost certainly delivers a packet before
 * `deadline` if the packet is sent as soon as the pacing allows it. Also
 * returns TRUE if no path is usable, because a path may recover and deliver the
 * packet. */
gboolean mmtp_paths_are_sure (const MmtpPaths * paths, guint64 deadline);
/* Returns the path on which a message of `size` bytes is expected to arrive
 * first if it is sent next. Sets `arrival` to the expected arrival time. If no
 * path may carry the message, returns NULL and sets `arrival` to MMTP_NEVER. */
MmtpPath *mmtp_paths_find_quickest (const MmtpPaths * paths, gsize size,
    guint64 * arrival);
/* Returns the safe delay, in ns, of the best path that can replace the stalled
 * path `except`. The safe delay is the expected delay plus a safety margin. The
 * best path is the one with the shortest safe delay. Returns MMTP_NEVER if no
 * path can replace `except`.
 *
 * A path can replace `except` if it meets three conditions:
 * - It can carry packets of the stream now.
 * - It has not stalled.
 * - It has room: with one more message, its bytes in flight do not exceed its
 *   congestion window plus its reserve. The reserve is the number of bytes that
 *   may be in flight beyond the window in exceptional cases, such as the stall
 *   of another path. */
guint64 mmtp_paths_get_delay_elsewhere (const MmtpPaths * paths,
    const MmtpPath * except);

/* Returns the initial delay (D0, the latency of the session) that the paths
 * need, in ns. Each path needs a delay of its own, and the function returns the
 * longest of these delays. Paths that need more than `max_delay` are ignored.
 */
guint64 mmtp_paths_get_needed_delay (const MmtpPaths * paths,
    guint64 max_delay);

/* --- how much they carry -------------------------------------------------- */

/* Returns the number of bytes that all paths together can deliver before
 * `deadline`. This number includes headers, but not the bytes that are already
 * in flight. If `at_best` is TRUE, the function uses the highest recent rate
 * and the minimum delay of each path. Otherwise it uses the current rate and
 * the safe delay, which is the expected delay plus a safety margin. The
 * function assumes that only `percent` percent of each rate can be used. */
guint64 mmtp_paths_get_capacity (const MmtpPaths * paths, guint64 deadline,
    gboolean at_best, guint percent);
/* Returns the number of bytes that a single path can deliver before `deadline`,
 * with its current rate and safe delay. See mmtp_paths_get_capacity(). */
guint64 mmtp_paths_get_capacity_of (const MmtpPaths * paths,
    const MmtpPath * path, guint64 deadline, guint percent);
/* Computes for each of the `n` deadlines the number of bytes that all paths
 * together can deliver before this deadline. Stores the number for deadlines[i]
 * in capacities[i]. The number is based on the current rate and the safe delay
 * of each path. It is the number that mmtp_paths_get_capacity() returns for
 * this deadline with `at_best` = FALSE. */
void mmtp_paths_get_capacities (const MmtpPaths * paths,
    const guint64 * deadlines, guint64 * capacities, guint n, guint percent);
/* Returns the number of bytes that the send queue may contain so that the paths
 * can deliver all of them before `deadline`. `deadline` is the deadline of a
 * buffer that is about to be put into the queue. Returns G_MAXUINT64 if the
 * number is unknown. In this case every buffer may be put into the queue. */
guint64 mmtp_paths_get_put_capacity (const MmtpPaths * paths,
    guint64 deadline);
/* Returns whether it is known how many bytes all paths together can deliver.
 * Returns FALSE if this is unknown for at least one usable path. It is unknown
 * for a path while the stream uses less than this path can carry. */
gboolean mmtp_paths_are_measurable (const MmtpPaths * paths);
/* Returns the bitrate of the stream, in bit/s, that all paths together can
 * carry. Sets `is_app_limited` to TRUE if the application sent less than the
 * paths can carry. In this case the paths may carry more than the returned
 * rate. */
guint64 mmtp_paths_get_estimated_rate (const MmtpPaths * paths,
    gboolean * is_app_limited);
/* Returns the maximum size in bytes of a message that every path can carry. */
guint mmtp_paths_get_max_message (const MmtpPaths * paths);
/* Records the size of a DATA message, which carries a packet of the stream. On
 * a path that has not carried a DATA message yet, the transmission time of the
 * next packet is estimated from this size. */
void mmtp_paths_note_packet (MmtpPaths * paths, gsize size);
