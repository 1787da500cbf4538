/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MmtpReceiverPaths contains the paths of a session at the receiver. It also
 * contains the current time, because all parts of the receiver have access to
 * this struct. */

#pragma once

#include "mmtpaddress.h"
#include "mmtparrivals.h"
#include "mmtpkeys.h"

#define MMTP_MSECOND G_GUINT64_CONSTANT (1000000)
#define MMTP_SECOND G_GUINT64_CONSTANT (1000000000)

/* Counters of a path, summed over all earlier sessions. The statistics of the
 * path are the sum of these counters and those of the current session, so they
 * do not decrease when a new session begins. */
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
  /* maximum size in bytes of a message on this path, which the sender has
   * announced in OPEN or JOIN; the messages of the receiver do not exceed it
   * either */
  guint16 max_size;
  /* number of the next message that the receiver sends on this path */
  guint64 next_number;
  MmtpReplay replay;
  MmtpArrivals arrivals;
  guint64 duplicates;
  MmtpPathPast past;

  /* Sending time of the last message that arrived on this path, as the message
   * contains it: in units of MMTP_TICK us, on the sender's clock. The receiver
   * returns this time in its reports, so that the sender can measure the round
   * trip. */
  guint32 echo;
  /* time in ns at which the last message (the one whose sending time is `echo`)
   * arrived on this path, on the receiver's clock */
  guint64 echo_time;
  /* sending time in ns of the last message that arrived on this path, as
   * mmtp_clock_unwrap_sent() has reconstructed it from the low bits in the
   * message */
  gint64 latest_sent;
  guint64 round_trip;           /* in ns; 0 if unknown */
  /* The later of two times in ns: the time at which the last KEEPALIVE arrived,
   * and the time at which the receiver last asked for a KEEPALIVE by a QUERY.
   */
  guint64 keepalive_time;
  /* Maximum of the recent times between two KEEPALIVEs on this path, in ns. It
   * decreases slowly if the times become shorter. */
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
/* Resets all paths at the end of the session. Only the ids and the totals of
 * the paths are kept. */
void mmtp_receiver_paths_reset (MmtpReceiverPaths * self);
/* Adds the path `id` if it is not known yet. `number` is the channel number of
 * the first message that arrived on the path. The path counts as silent after
 * `silence` (ns) without a message. */
MmtpReceiverPath *mmtp_receiver_paths_add (MmtpReceiverPaths * self,
    guint8 id, guint64 number, guint64 silence);
/* Returns the path with the index `i` among all paths that were ever used. `i`
 * must be less than `n`, the number of these paths. */
MmtpReceiverPath *mmtp_receiver_paths_nth (const MmtpReceiverPaths * self,
    guint i);
/* Returns the path `id` if it was used in this session; otherwise NULL. */
MmtpReceiverPath *mmtp_receiver_paths_find (const MmtpReceiverPaths * self,
    guint8 id);
guint mmtp_receiver_paths_count_joined (const MmtpReceiverPaths * self);
