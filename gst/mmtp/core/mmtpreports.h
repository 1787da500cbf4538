/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The REPORTs and QUERYs of the receiver (sections 4.5 and 4.6 of the MMTP
 * paper; docs/wire-mmtp.md). A REPORT contains one or more records. Each record
 * contains the measurements of one path. With a QUERY, the receiver asks the
 * sender for a KEEPALIVE.
 *
 * REPORTs with the records of all paths are sent regularly on the fastest path.
 * Such a REPORT is also sent immediately after an event that the sender's rate
 * control should know about. These events are the end of a gap, a loss, the
 * arrival of one of the first messages of a path, and the arrival of a large
 * number of messages.
 *
 * The other paths carry REPORTs regularly as well. They show the sender that
 * these paths deliver in both directions. Times are in ns.
 */

#pragma once

#include "mmtpreceiveroutput.h"
#include "mmtpreorder.h"

/* State of the REPORTs for one path. Some fields describe the REPORTs that are
 * sent on this path. Others describe the REPORTs about this path, which may be
 * sent on another path. */
typedef struct
{
  /* Report period that the sender has requested for this path, in ns: the
   * interval between two REPORTs. 0 if the receiver chooses the interval. */
  guint64 wanted_period;
  guint64 period;
  /* `next` is the time at which the next regular REPORT is sent on this path.
   * `last` is the time at which the last REPORT was sent on this path. */
  guint64 next, last;
  /* Size in bytes of the last REPORT on this path. If the records of all paths
   * did not fit into one REPORT, several REPORTs were sent together. This field
   * is then their total size. */
  gsize size;
  /* TRUE if a gap on this path has ended, and no REPORT about this path has
   * been sent on the fastest path since then. A gap is a time, longer than the
   * report period, in which no message arrives on the path. */
  gboolean has_gap;
  guint64 gap_end;              /* end of the last gap */
  /* Time at which a second REPORT about the last gap is sent, because the first
   * one may be lost. MMTP_NEVER if no second REPORT is planned. */
  guint64 repeat_time;
  /* Number of messages that had arrived on this path when the last REPORT about
   * this path was sent on the fastest path. This REPORT has told the sender
   * about these messages. */
  guint64 reported;
  /* time at which the receiver last answered a QUERY on this path; 0 if never
   */
  guint64 query_time;
} MmtpPathReports;

typedef struct
{
  MmtpReceiverPaths *paths;
  MmtpReceiverOutput *output;
  const MmtpReorder *reorder;
  guint64 period;               /* keep-alive period */
  /* Id of the path on which the sender wants the REPORTs about all paths. The
   * sender considers this path the fastest. */
  guint8 fastest;
  guint32 number;               /* number of the last REPORT */
  /* time in ns at which the last REPORT was sent on the fastest path */
  guint64 last_report;
  /* id of the path that carries the regular REPORTs about all paths: the
   * fastest path that works at present */
  guint8 reporter;
  guint64 n_sent;               /* number of REPORTs sent in all sessions */
  MmtpPathReports all[MMTP_MAX_PATHS];  /* indexed by the path's id */
} MmtpReports;

void mmtp_reports_init (MmtpReports * self, MmtpReceiverPaths * paths,
    MmtpReceiverOutput * output);
/* Begins a session. `reorder` is the reorder buffer of the session, whose state
 * the REPORTs contain. `period` is the keep-alive period in ns. */
void mmtp_reports_begin_session (MmtpReports * self,
    const MmtpReorder * reorder, guint64 period);
/* Sets the path for the REPORTs at the beginning of the session, when the
 * sender has not named its fastest path yet. `path` is the path on which the
 * OPEN of the session arrived. */
void mmtp_reports_set_path (MmtpReports * self, const MmtpReceiverPath * path);
/* Starts the regular REPORTs on a path. Call this function when the path has
 * joined the session or has got a new address. */
void mmtp_reports_begin_path (MmtpReports * self,
    const MmtpReceiverPath * path);
/* Checks whether a message that has just arrived on `path` ends a gap. A gap is
 * a time, longer than the report period, in which no message arrives on the
 * path. Call this function for each message, before mmtp_arrivals_add() adds it
 * to the measurements of the path. */
void mmtp_reports_note_gap (MmtpReports * self, const MmtpReceiverPath * path);
/* Sets the report period of `path`, the interval between two REPORTs, to the
 * value that the sender has requested. `period` is this value from a KEEPALIVE,
 * in ms. 0 means that the receiver chooses the interval. */
void mmtp_reports_set_period (MmtpReports * self,
    const MmtpReceiverPath * path, guint period);
/* Call this function after a message has arrived on `path`. If the sender
 * should know about the message immediately, the function sends a REPORT
 * without waiting for the next regular one. */
void mmtp_reports_send_at_once (MmtpReports * self,
    const MmtpReceiverPath * path);
void mmtp_reports_answer_query (MmtpReports * self, MmtpReceiverPath * path,
    guint8 about);
/* Chooses the path that carries the REPORTs about all paths. This is the
 * fastest path that is not silent. Returns the path, or NULL if no path has
 * joined. If the choice has changed, the next REPORT on the new path is
 * scheduled earlier if necessary, so that no long pause occurs between REPORTs
 * about all paths. */
MmtpReceiverPath *mmtp_reports_choose_path (MmtpReports * self);
/* Sends the REPORTs and QUERYs that are due. The caller has to call
 * mmtp_reports_choose_path() before, so that the REPORTs about all paths are
 * sent on the fastest path. */
void mmtp_reports_timeout (MmtpReports * self);
guint64 mmtp_reports_next_wakeup (MmtpReports * self);
