/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths of a session at the receiver, and the time, which all parts of the
 * receiver share.
 */

#pragma once

#include "mmtpaddress.h"
#include "mmtparrivals.h"
#include "mmtpkeys.h"

/* Counters of earlier sessions, which are added so that the totals never go
 * back. */
typedef struct
{
  guint64 received, bytes, lost, late;
} MmtpPathPast;

typedef struct
{
  guint8 id;
  gboolean known;               /* The path has been used in this session. */
  gboolean joined;              /* `address` is validated. */
  MmtpAddress address;
  /* Time in ns at which a message other than JOIN, RESPONSE and OPEN last
   * arrived from `address`; 0 if never. */
  guint64 address_heard;
  /* Another validated address, which replaces `address` when that one is
   * silent. */
  MmtpAddress next_address;
  gboolean has_next_address;
  /* channel number and nonce of the last JOIN */
  guint64 join_number, join_nonce;
  /* arrival time of the last JOIN in ns; 0 if there was none */
  guint64 join_time;
  guint16 max_size;             /* maximum size of a message, in bytes */
  /* number of the next message that we send on this path */
  guint64 next_number;
  MmtpReplay replay;
  MmtpArrivals arrivals;
  guint64 duplicates;
  MmtpPathPast past;

  guint32 echo;                 /* sending time of the last message, in ticks */
  guint64 echo_time;            /* arrival time of that message, in ns */
  /* sending time of that message from mmtp_clock_unwrap_sent(), in ns */
  gint64 latest_sent;
  guint64 round_trip;           /* in ns; 0 if unknown */
  /* Time in ns at which the last KEEPALIVE arrived or was asked for. */
  guint64 keepalive_time;
  /* Longest recent time between KEEPALIVEs, in ns. */
  guint64 keepalive_gap;
  /* Time in ns at which a QUERY was last answered; 0 if never. */
  guint64 query_time;

  /* State of mmtpreceiverreports.c. */
  /* Period of the REPORTs that the sender wants, in ns; 0 if the receiver
   * chooses. */
  guint64 wanted_period;
  guint64 report_period;        /* in ns */
  /* times of the next and last REPORT on this path, in ns */
  guint64 next_report, last_report;
  gsize report_size;            /* size of the last REPORTs, in bytes */
  gboolean has_gap;             /* A gap has ended and is not reported yet. */
  guint64 gap_end;              /* end of the last gap, in ns */
  /* Time in ns at which the REPORT after a gap is repeated; MMTP_NEVER if it is
   * not. */
  guint64 repeat_time;
  /* Messages that the REPORTs on the fastest path have covered. */
  guint64 reported;
} MmtpReceiverPath;

typedef struct
{
  guint64 now;                  /* latest time seen, in ns */
  /* indexed by id; NULL if never used */
  MmtpReceiverPath *all[MMTP_MAX_PATHS];
  guint8 ids[MMTP_MAX_PATHS];   /* ids of the paths that are not NULL */
  guint n;
} MmtpReceiverPaths;

/* Frees all paths. */
void mmtp_receiver_paths_clear (MmtpReceiverPaths * self);
/* The session is over: every path becomes unknown, and keeps its totals. */
void mmtp_receiver_paths_reset (MmtpReceiverPaths * self);
/* Adds the path `id` unless it is known. `number` is the channel number of its
 * first message. The path counts as silent after `silence` (ns) without a
 * message. */
MmtpReceiverPath *mmtp_receiver_paths_add (MmtpReceiverPaths * self,
    guint8 id, guint64 number, guint64 silence);
/* Returns the i-th of the `n` paths. */
MmtpReceiverPath *mmtp_receiver_paths_nth (const MmtpReceiverPaths * self,
    guint i);
/* Returns the path if it was used in this session, otherwise NULL. */
MmtpReceiverPath *mmtp_receiver_paths_find (const MmtpReceiverPaths * self,
    guint8 id);
guint mmtp_receiver_paths_count_joined (const MmtpReceiverPaths * self);
