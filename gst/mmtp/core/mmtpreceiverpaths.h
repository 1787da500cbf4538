/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths of a session at the receiver. The struct MmtpReceiverPaths also
 * contains the current time, because all parts of the receiver can read this
 * struct. */

#pragma once

#include "mmtpaddress.h"
#include "mmtparrivals.h"
#include "mmtpkeys.h"

#define MMTP_MSECOND G_GUINT64_CONSTANT (1000000)
#define MMTP_SECOND G_GUINT64_CONSTANT (1000000000)

/* Counters of a path, summed over all earlier sessions. They are added to the
 * counters of the current session in the statistics of the path. The statistics
 * therefore do not decrease when a new session begins. */
typedef struct
{
  guint64 received, bytes, lost, late;
} MmtpPathPast;

typedef struct
{
  guint8 id;
  /* TRUE if the path has been used in this session */
  gboolean known;
  gboolean joined;              /* `address` is validated. */
  MmtpAddress address;
  /* Maximum size in bytes of a message on this path. The sender has announced
   * it in its OPEN or JOIN. The receiver's own messages on this path are not
   * longer either. */
  guint16 max_size;
  /* channel number (sequence number on the path) of the next message that the
   * receiver sends on this path */
  guint64 next_number;
  MmtpReplay replay;
  MmtpArrivals arrivals;
  guint64 duplicates;
  MmtpPathPast past;

  /* Sending time of the last message that arrived on this path. The value is
   * copied from the message: it is in units of MMTP_TICK us, on the sender's
   * clock. The receiver returns it in its reports, so that the sender can
   * measure the round trip. */
  guint32 echo;
  /* Time in ns, on the receiver's clock, at which the last message arrived on
   * this path. `echo` is the sending time of this message. */
  guint64 echo_time;
  /* Sending time in ns of the last message that arrived on this path. The
   * message contains only the low bits of this time. mmtp_clock_unwrap_sent()
   * has restored the other bits. */
  gint64 latest_sent;
  guint64 round_trip;           /* in ns; 0 if unknown */
  /* Time in ns from which the receiver waits for the next KEEPALIVE. It is the
   * time of the latest of three events: the last KEEPALIVE arrived, the
   * receiver asked for a KEEPALIVE with a QUERY, or the path joined. */
  guint64 keepalive_time;
  /* Maximum of the recent intervals between successive KEEPALIVEs on this path,
   * in ns. It decreases slowly when the intervals become shorter. */
  guint64 keepalive_gap;
} MmtpReceiverPath;

typedef struct
{
  guint64 now;                  /* latest time seen, in ns */
  /* the paths, indexed by path id; NULL for a path that was never used */
  MmtpReceiverPath *all[MMTP_MAX_PATHS];
  /* ids of all paths that were ever used, in the order of their first use */
  guint8 ids[MMTP_MAX_PATHS];
  guint n;
} MmtpReceiverPaths;

/* Frees the memory of all paths. */
void mmtp_receiver_paths_clear (MmtpReceiverPaths * self);
/* Resets all paths at the end of a session. Each path keeps only its id and its
 * counters of all sessions. */
void mmtp_receiver_paths_reset (MmtpReceiverPaths * self);
/* Adds the path with the id `id` to the session, if the session does not have
 * it yet, and returns the path. `number` is the channel number (the sequence
 * number on the path) of the first message that arrived on it. `silence` is the
 * time in ns without a message after which the path counts as silent. */
MmtpReceiverPath *mmtp_receiver_paths_add (MmtpReceiverPaths * self,
    guint8 id, guint64 number, guint64 silence);
/* Returns one of the paths that were ever used. They are ordered by their first
 * use, and `i` is the index in this order. `i` must be less than `self->n`, the
 * number of these paths. */
MmtpReceiverPath *mmtp_receiver_paths_nth (const MmtpReceiverPaths * self,
    guint i);
/* Returns the path with the id `id`; NULL if it was not used in this session.
 */
MmtpReceiverPath *mmtp_receiver_paths_find (const MmtpReceiverPaths * self,
    guint8 id);
guint mmtp_receiver_paths_count_joined (const MmtpReceiverPaths * self);
/* Returns the complete 64-bit channel number of a message. This is the sequence
 * number of the message among all messages that the sender sends on the path.
 *
 * A JOIN or a KEEPALIVE contains the complete number in the first 8 bytes of
 * its body. All other messages contain only the low 16 bits. The function then
 * returns the number with these low bits that is nearest to the highest number
 * accepted so far on `path`. `path` may be NULL if the message is a JOIN.
 * `bytes` is the whole message. */
guint64 mmtp_receiver_path_get_number (const MmtpReceiverPath * path,
    const MmtpMessage * message, const guint8 * bytes);
/* Updates the estimate of the time between two KEEPALIVEs. Call this function
 * when a KEEPALIVE has arrived on `path`. */
void mmtp_receiver_paths_note_keepalive (const MmtpReceiverPaths * self,
    MmtpReceiverPath * path);
