/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The REPORTs of the receiver, and its QUERYs [4.5, 4.6 of the paper;
 * docs/wire-mmtp.md]. A REPORT with the records of all paths is sent on the
 * fastest path: regularly, and at once after an event that the sender's rate
 * control should know about, which is a gap, a loss, the first messages or many
 * messages. The other paths carry REPORTs regularly, so that the sender sees
 * that they work in both directions. Times are in ns.
 */

#pragma once

#include "mmtpreceiveroutput.h"
#include "mmtpreorder.h"

/* State of the REPORTs on and about one path. */
typedef struct
{
  /* period that the sender wants; 0 if the receiver chooses */
  guint64 wanted_period;
  guint64 period;
  guint64 next, last;           /* times of the REPORTs on this path */
  gsize size;                   /* size of the last REPORTs, in bytes */
  gboolean has_gap;             /* A gap has ended and is not reported yet. */
  guint64 gap_end;              /* end of the last gap */
  /* Time at which the REPORT after a gap is repeated; MMTP_NEVER if it is not.
   */
  guint64 repeat_time;
  /* Messages that the REPORTs on the fastest path have covered. */
  guint64 reported;
  /* time at which a QUERY was last answered; 0 if never */
  guint64 query_time;
} MmtpPathReports;

typedef struct
{
  MmtpReceiverPaths *paths;
  MmtpReceiverOutput *output;
  const MmtpReorder *reorder;
  guint64 period;               /* keep-alive period */
  guint8 fastest;               /* path on which the sender wants reports */
  guint32 number;               /* number of the last REPORT */
  /* time of the last REPORT on the fastest path */
  guint64 last_report;
  guint8 reporter;              /* path on which that REPORT was sent */
  guint64 n_sent;               /* REPORTs of all sessions */
  MmtpPathReports all[MMTP_MAX_PATHS];  /* indexed by the path's id */
} MmtpReports;

void mmtp_reports_init (MmtpReports * self, MmtpReceiverPaths * paths,
    MmtpReceiverOutput * output);
/* `reorder` says which packets have arrived. `period` is the keep-alive period.
 */
void mmtp_reports_begin_session (MmtpReports * self,
    const MmtpReorder * reorder, guint64 period);
/* The sender uses this path for the handshake, and wants REPORTs there. */
void mmtp_reports_set_path (MmtpReports * self, const MmtpReceiverPath * path);
/* Call this function when a path has joined or has a new address. */
void mmtp_reports_begin_path (MmtpReports * self,
    const MmtpReceiverPath * path);
/* Call this function for each message before the message is added to the
 * measurements of the path. */
void mmtp_reports_note_gap (MmtpReports * self, const MmtpReceiverPath * path);
/* `period` is that of a KEEPALIVE, in ms. */
void mmtp_reports_set_period (MmtpReports * self,
    const MmtpReceiverPath * path, guint period);
/* Sends a REPORT at once if the last message on `path` requires one. */
void mmtp_reports_send_at_once (MmtpReports * self,
    const MmtpReceiverPath * path);
void mmtp_reports_answer_query (MmtpReports * self, MmtpReceiverPath * path,
    guint8 about);
/* Chooses the path for REPORTs about all paths, and returns it; NULL if no path
 * has joined. If another path has become the fastest, it continues the schedule
 * of the previous one. */
MmtpReceiverPath *mmtp_reports_choose_path (MmtpReports * self);
/* Sends what is due. Call mmtp_reports_choose_path() before. */
void mmtp_reports_timeout (MmtpReports * self);
guint64 mmtp_reports_next_wakeup (MmtpReports * self);
