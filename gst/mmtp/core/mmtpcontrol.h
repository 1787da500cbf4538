/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides when a control message of the sender is due, and fills it in. The
 * sender (mmtpsender.c) then writes and sends it. On each path, the control
 * messages are KEEPALIVE, QUERY, LEAVE and PROBE. For the stream, they are CAPS
 * and END (docs/wire-mmtp.md, section 3). Times are in ns. */

#pragma once

#include "mmtpjoins.h"
#include "mmtpsendqueue.h"

/* State of the control messages on one path. */
typedef struct
{
  /* Time in ns of the next PROBE. PROBEs are sent only in two cases: the path
   * is silent (according to the REPORTs, no messages arrive on it), or the
   * transmission time of a packet on the path is unknown. */
  guint64 probe_at;
  guint64 keepalive_at, keepalive_sent;
  /* Time of the next QUERY that asks for a REPORT about this path; MMTP_NEVER
   * if none is scheduled. */
  guint64 query_at;
  /* number of LEAVE messages that still have to be sent for this path */
  guint leave_tries;
  guint64 leave_at;
  guint8 leave_reason;
  gboolean acknowledge_leave;
  /* time at which the receiver sent the last REPORT that has arrived, in ticks
   * (MMTP_TICK us) of the receiver's clock */
  guint32 last_report_sent;
  /* time in ns at which the last REPORT arrived; 0 if none has arrived */
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
  /* Version number of the caps that were set last; 0 if the stream never had
   * caps. */
  guint8 caps_version;
  gboolean caps_acknowledged;
  guint64 caps_at;
  gboolean is_ending, has_ended;
  guint64 end_at;
  /* Index of the path on which the next END is sent. END is sent on all paths,
   * one after another. */
  guint end_next;
  MmtpPathControl all[MMTP_MAX_PATHS];  /* indexed by the path's id */
} MmtpControl;

void mmtp_control_init (MmtpControl * self, MmtpPaths * paths,
    const MmtpSendQueue * queue, MmtpJoins * joins, guint64 keepalive_period,
    gboolean is_stored);
void mmtp_control_clear (MmtpControl * self);
/* Resets the state of the control messages on `path`. Call this function when
 * the path is opened, for the first time or again. */
void mmtp_control_add_path (MmtpControl * self, const MmtpPath * path);
/* Records that `path` is removed. If the path had joined the session, a LEAVE
 * with the reason `reason` informs the receiver. Call this function before
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

/* Both functions make control messages on `path` due immediately.
 * mmtp_control_hasten() does this for a KEEPALIVE, and mmtp_control_probe() for
 * a KEEPALIVE and a PROBE. */
void mmtp_control_hasten (MmtpControl * self, const MmtpPath * path);
void mmtp_control_probe (MmtpControl * self, const MmtpPath * path);
/* Makes a KEEPALIVE due immediately if the path has become so slow that the
 * report period has to be at least doubled. The report period is the time
 * between two REPORTs. The KEEPALIVE announces the new period to the receiver.
 * Call this function each time the record of `path` in a REPORT (MmtpRecord)
 * has been processed. */
void mmtp_control_check_period (MmtpControl * self, const MmtpPath * path);
/* Records that a REPORT has just arrived on `path`. `sent` is the sending time
 * of the REPORT, in ticks (MMTP_TICK us) of the receiver's clock. */
void mmtp_control_note_report (MmtpControl * self, const MmtpPath * path,
    guint32 sent);
/* Postpones the QUERY that is sent if REPORTs are missing. Call this function
 * for each REPORT that arrives on `path` and has a higher number than all
 * earlier REPORTs. */
void mmtp_control_put_off_query (MmtpControl * self, const MmtpPath * path);
MmtpRefusal mmtp_control_take_query (MmtpControl * self,
    const MmtpQuery * query);
/* Processes a LEAVE from the receiver that refers to `path`. There are two
 * cases:
 * - The LEAVE acknowledges a LEAVE of the sender. The sender then stops
 *   repeating its own LEAVE.
 * - The LEAVE removes `path` from the session. The function then schedules an
 *   acknowledgement. */
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
/* Processes an END-ACK, with which the receiver confirms the end of the stream.
 * The packets of the stream are numbered. `stream_number` is a field of the
 * END-ACK. If it is one more than the number of the last packet, the receiver
 * does not wait for any more packets, and `has_ended` becomes TRUE. Otherwise
 * the END-ACK is refused. */
MmtpRefusal mmtp_control_take_end_ack (MmtpControl * self,
    guint32 stream_number);
