/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths of a sender, and what they are together: which one is the fastest,
 * how soon and how much they bring, and what each may be used for. Sizes are
 * bytes, rates bits per second, times ns.
 */

#pragma once

#include "mmtppath.h"

typedef struct
{
  guint64 now;                  /* the latest time that the sender was told: all
                                 * parts of it decide by this one */
  MmtpPath *all[MMTP_MAX_PATHS];        /* by their id */
  guint n;
  guint fastest;                /* MMTP_NO_PATH: unknown */
  gint64 offset;                /* ns, of the clocks */
  gboolean has_offset;
  gboolean is_ready;            /* one of them has started */
} MmtpPaths;

void mmtp_paths_init (MmtpPaths * paths);
void mmtp_paths_clear (MmtpPaths * paths);
/* The path of this name, or a new one; NULL: there are too many */
MmtpPath *mmtp_paths_add (MmtpPaths * paths, const gchar * name);
/* NULL: there is none */
MmtpPath *mmtp_paths_get (const MmtpPaths * paths, guint id);

/* --- what a path may do ---------------------------------------------------- */

/* It may carry packets of the stream, as far as the receiver is concerned. */
gboolean mmtp_path_is_usable (const MmtpPath * path);
/* The same, and its socket has room. */
gboolean mmtp_path_may_carry (const MmtpPath * path);
/* It may carry control messages. */
gboolean mmtp_path_may_speak (const MmtpPath * path);
/* It has joined, and is not silent. */
gboolean mmtp_path_is_watched (const MmtpPath * path);
/* When it counts as silent unless a report says that something has arrived;
 * MMTP_NEVER: nothing is expected there */
guint64 mmtp_path_get_silence_time (const MmtpPath * path);
/* Whether more than one path may carry packets */
gboolean mmtp_paths_have_choice (const MmtpPaths * paths);
/* The fastest one that delivers, but not the path `except`; then any; NULL */
MmtpPath *mmtp_paths_find_control_path (const MmtpPaths * paths, guint except);

/* --- how soon they bring a message ----------------------------------------- */

/* After a report, or after a path fell silent */
void mmtp_paths_find_fastest (MmtpPaths * paths);
/* The same, and the delays of all */
void mmtp_paths_update_delays (MmtpPaths * paths);
/* ns that a report takes on its way back, about */
guint64 mmtp_paths_get_return_time (const MmtpPaths * paths);
/* ns, expected delay of the quickest path; MMTP_NEVER: none delivers */
guint64 mmtp_paths_get_min_delay (const MmtpPaths * paths);
/* ns, the same when its queue is gone; 0: unknown */
guint64 mmtp_paths_get_best_delay (const MmtpPaths * paths);
/* Some path surely brings a packet in time with its next token; or none is
 * there, and one that comes back may. */
gboolean mmtp_paths_are_sure (const MmtpPaths * paths, guint64 deadline);
/* Where a message of `size` arrives first when it goes next, as far as one can
 * know; `arrival`: when it does, MMTP_NEVER: nowhere */
MmtpPath *mmtp_paths_find_quickest (const MmtpPaths * paths, gsize size,
    guint64 * arrival);
/* The minimum expected delay of the other paths that have room, if need be
 * beyond their window: this one has stalled. MMTP_NEVER: no path has room */
guint64 mmtp_paths_get_delay_elsewhere (const MmtpPaths * paths,
    const MmtpPath * except);

/* The maximum of what they need as D0, of those for which `max_delay` is
 * enough */
guint64 mmtp_paths_get_needed_delay (const MmtpPaths * paths,
    guint64 max_delay);

/* --- how much they carry --------------------------------------------------- */

/* Bytes, with all headers, that all paths together bring before a deadline,
 * behind what is in flight; at the rates of now or at the best ones */
guint64 mmtp_paths_get_capacity (const MmtpPaths * paths, guint64 deadline,
    gboolean at_best, guint percent);
/* The same for a buffer that is put; G_MAXUINT64: unknown, a path carries what
 * it is given until there is evidence against it */
guint64 mmtp_paths_get_put_capacity (const MmtpPaths * paths,
    guint64 deadline);
/* Whether that is known */
gboolean mmtp_paths_are_measurable (const MmtpPaths * paths);
/* Rate of the stream that fits. `is_app_limited`: at least, because no more was
 * asked of them */
guint64 mmtp_paths_get_estimated_rate (const MmtpPaths * paths,
    gboolean * is_app_limited);
/* Maximum size of a message that each path carries */
guint mmtp_paths_get_max_message (const MmtpPaths * paths);
/* A packet of the stream was put whose message has this size: how long a packet
 * takes on a path that never carried one is derived from it. */
void mmtp_paths_note_packet (MmtpPaths * paths, gsize size);
