/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The REPORTs and QUERYs of the receiver (sections 4.5 and 4.6 of the MMTP
 * paper; docs/wire-mmtp.md). A REPORT with the records of all paths is sent
 * regularly on the fastest path. It is also sent immediately after an event
 * that the sender's rate control should know about: a gap, a loss, one of the
 * first messages of a path, or a large number of messages. The other paths
 * carry REPORTs regularly as well, so that the sender sees that these paths
 * deliver in both directions. Times are in ns.
 */

#pragma once

#include "mmtpreceiveroutput.h"
#include "mmtpreorder.h"

/* State of the REPORTs that are sent on one path, and state of the REPORTs that
 * are about this path.
 */
typedef struct
{
  /* REPORT period that the sender wants; 0 if the receiver chooses it
   */
  guint64 wanted_period;
  guint64 period;
  /* times of the next and the last REPORT on this path */
  guint64 next, last;
  /* total size in bytes of the last group of REPORTs that were sent together on
   * this path */
  gsize size;
  /* TRUE if messages arrive again on this path after a gap, and no REPORT about
   * this path has been sent since the gap ended. A gap is a time, longer than
   * the report period, in which no message arrives on the path. */
  gboolean has_gap;
  guint64 gap_end;              /* end of the last gap */
  /* Time at which a second REPORT about the last gap is sent, because the first
   * one may be lost. MMTP_NEVER if no second REPORT is planned.
   */
  guint64 repeat_time;
  /* Number of messages that had arrived on this path when the last REPORT about
   * the path was sent on the fastest path. */
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
  /* id of the fastest path, on which the sender wants the REPORTs about all
   * paths */
  guint8 fastest;
  guint32 number;               /* number of the last REPORT */
  /* time in ns at which the last REPORT was sent on the fastest path */
  guint64 last_report;
  /* id of the path on which the last REPORT with the records of all paths was
   * sent */
  guint8 reporter;
  guint64 n_sent;               /* number of REPORTs sent in all sessions */
  MmtpPathReports all[MMTP_MAX_PATHS];  /* indexed by the path's id */
} MmtpReports;

void mmtp_reports_init (MmtpReports * self, MmtpReceiverPaths * paths,
    MmtpReceiverOutput * output);
/* Begins a session. `reorder` is the buffer in which the receiver reorders the
 * packets of the stream. `period` is the keep-alive period in ns. */
void mmtp_reports_begin_session (MmtpReports * self,
    const MmtpReorder * reorder, guint64 period);
/* Sets the path that the sender uses for the handshake. The sender wants
 * REPORTs on this path. */
void mmtp_reports_set_path (MmtpReports * self, const MmtpReceiverPath * path);
/* Starts the REPORTs about a path. Call this function when the path has joined
 * the session or has a new address. */
void mmtp_reports_begin_path (MmtpReports * self,
    const MmtpReceiverPath * path);
/* Checks whether the current message of `path` ends a gap. A gap is a time,
 * longer than the report period, in which no message arrives on the path. Call
 * this function for each message of the path before the message is added to the
 * measurements of the path. */
void mmtp_reports_note_gap (MmtpReports * self, const MmtpReceiverPath * path);
/* Sets the report period that the sender wants. `period` is the value in a
 * KEEPALIVE, in ms. */
void mmtp_reports_set_period (MmtpReports * self,
    const MmtpReceiverPath * path, guint period);
/* Call this function when a message has arrived on `path`. If a REPORT about
 * `path` is needed now, sends it without waiting for the next period. */
void mmtp_reports_send_at_once (MmtpReports * self,
    const MmtpReceiverPath * path);
void mmtp_reports_answer_query (MmtpReports * self, MmtpReceiverPath * path,
    guint8 about);
/* Chooses the path that carries the REPORTs about all paths: the fastest path.
 * Returns this path, or NULL if no path has joined. If the fastest path has
 * changed, the function schedules a REPORT on the new path, so that no REPORT
 * about all paths is missed. */
MmtpReceiverPath *mmtp_reports_choose_path (MmtpReports * self);
/* Sends the REPORTs and QUERYs that are due. Call mmtp_reports_choose_path()
 * before this function. */
void mmtp_reports_timeout (MmtpReports * self);
guint64 mmtp_reports_next_wakeup (MmtpReports * self);
