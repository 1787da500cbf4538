/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The control messages of a sender: KEEPALIVE, QUERY, LEAVE and PROBE on each
 * path, CAPS and END for the stream (docs/wire-mmtp.md, section 3). This module
 * decides when a control message is due and fills it in; the sender writes it.
 * Times are in ns.
 */

#pragma once

#include "mmtpjoins.h"
#include "mmtpsendqueue.h"

/* State of the control messages on one path. */
typedef struct
{
  /* Time of the next PROBE. It matters only while the path is silent, or while
   * the transmission time of a packet on the path is unknown. */
  guint64 probe_at;
  guint64 keepalive_at, keepalive_sent;
  /* Time of the next QUERY about this path; MMTP_NEVER if none is scheduled. */
  guint64 query_at;
  /* number of LEAVE messages that still have to be sent for this path */
  guint leave_tries;
  guint64 leave_at;
  guint8 leave_reason;
  gboolean acknowledge_leave;
  /* sending time of the last REPORT that arrived, in units of MMTP_TICK us */
  guint32 last_report_sent;
  /* arrival time of the last REPORT; 0 if none has arrived */
  guint64 last_report_time;
} MmtpPathControl;

typedef struct
{
  MmtpPaths *paths;
  const MmtpSendQueue *queue;
  MmtpJoins *joins;
  guint64 keepalive_period;
  gboolean is_stored;
  /* Time of the next QUERY that asks for REPORTs about all paths. Each new
   * REPORT postpones it. */
  guint64 query_at;
  gchar *caps;
  gsize caps_length, caps_offset;
  /* version of the current caps; 0 if the stream never had caps */
  guint8 caps_version;
  gboolean caps_acknowledged;
  guint64 caps_at;
  gboolean is_ending, has_ended;
  guint64 end_at;
  /* index of the next path on which END is sent */
  guint end_next;
  MmtpPathControl all[MMTP_MAX_PATHS];  /* indexed by the path's id */
} MmtpControl;

void mmtp_control_init (MmtpControl * self, MmtpPaths * paths,
    const MmtpSendQueue * queue, MmtpJoins * joins, guint64 keepalive_period,
    gboolean is_stored);
void mmtp_control_clear (MmtpControl * self);
/* Resets the state of the control messages on `path`, which is opened for the
 * first time or again. */
void mmtp_control_add_path (MmtpControl * self, const MmtpPath * path);
/* Notes that `path` is removed, for the reason `reason`. If the path had
 * joined, a LEAVE informs the receiver. Call this function before
 * `path->joined` is reset. */
void mmtp_control_remove_path (MmtpControl * self, const MmtpPath * path,
    MmtpLeaveReason reason);

/* Fills in the control message that is due now and returns its path. Returns
 * NULL if no control message is due. */
MmtpPath *mmtp_control_poll (MmtpControl * self, MmtpMessage * message);
/* Fills in a PROBE and returns its path; NULL if none is due. Call this
 * function only when nothing else has to be sent. */
MmtpPath *mmtp_control_poll_probe (MmtpControl * self, MmtpMessage * message);
guint64 mmtp_control_next_wakeup (const MmtpControl * self);

/* Schedule control messages on `path`, which are sent as soon as possible:
 * mmtp_control_hasten() a KEEPALIVE, and mmtp_control_probe() a KEEPALIVE and a
 * PROBE. */
void mmtp_control_hasten (MmtpControl * self, const MmtpPath * path);
void mmtp_control_probe (MmtpControl * self, const MmtpPath * path);
/* A record (MmtpRecord) is the part of a REPORT that describes one path. Call
 * this function after a record of `path` has been processed. If `path` has
 * become so slow that the report period has to be at least doubled, the
 * function schedules a KEEPALIVE. The KEEPALIVE announces the new report period
 * and is sent as soon as possible. */
void mmtp_control_check_period (MmtpControl * self, const MmtpPath * path);
/* Records that a REPORT has just arrived on `path`. `sent` is the sending time
 * of the REPORT, in ticks of MMTP_TICK us. */
void mmtp_control_note_report (MmtpControl * self, const MmtpPath * path,
    guint32 sent);
/* Postpones the QUERY that asks for missing REPORTs. Call this function when a
 * REPORT has arrived on `path` that is newer than all earlier REPORTs. */
void mmtp_control_put_off_query (MmtpControl * self, const MmtpPath * path);
MmtpRefusal mmtp_control_take_query (MmtpControl * self,
    const MmtpQuery * query);
/* Processes a LEAVE for `path` that the receiver has sent. If this LEAVE
 * acknowledges an earlier LEAVE of the sender, the sender stops repeating that
 * one. Otherwise, the receiver removes the path from the session, and an
 * acknowledgement is scheduled. */
void mmtp_control_take_leave (MmtpControl * self, const MmtpPath * path,
    const MmtpLeave * leave);

/* Sets the caps of the stream; NULL means no caps. If `caps` is empty or longer
 * than MMTP_MAX_CAPS, the stream has no caps, and the function returns FALSE.
 */
gboolean mmtp_control_set_caps (MmtpControl * self, const gchar * caps);
/* Returns the version of the current caps; 0 if there are no caps now. */
guint8 mmtp_control_get_caps_version (const MmtpControl * self);
MmtpRefusal mmtp_control_take_caps_ack (MmtpControl * self, guint8 version);
/* Starts sending END messages, which are repeated until the receiver answers.
 * Call this function after the last buffer of the stream. */
void mmtp_control_end (MmtpControl * self);
/* Handles an END-ACK. The packets of the stream are numbered, and
 * `stream_number` is the number in the END-ACK. If it is one more than the
 * number of the last packet of the stream, the receiver has the whole stream,
 * and `has_ended` becomes TRUE. */
MmtpRefusal mmtp_control_take_end_ack (MmtpControl * self,
    guint32 stream_number);
