/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the sender says besides the stream: KEEPALIVE, QUERY, LEAVE and PROBE of
 * each path, CAPS and END of the stream; docs/wire-mmtp.md section 3. It fills
 * messages, and the sender writes them. Times are ns.
 */

#pragma once

#include "mmtpjoins.h"
#include "mmtpsendqueue.h"

/* What is said on one path */
typedef struct
{
  guint64 probe_at;             /* of a path that is silent or not measured */
  guint64 keepalive_at, keepalive_sent;
  guint64 query_at;             /* MMTP_NEVER: none */
  guint leave_tries;            /* LEAVE for it still to send */
  guint64 leave_at;
  guint8 leave_reason;
  gboolean acknowledge_leave;
  guint32 last_report_sent;     /* ticks, of the last REPORT that came */
  guint64 last_report_time;     /* 0: none */
} MmtpPathControl;

typedef struct
{
  MmtpPaths *paths;
  const MmtpSendQueue *queue;
  MmtpJoins *joins;
  guint64 keepalive_period;
  gboolean is_stored;
  guint64 query_at;             /* of the reports that are missed */
  gchar *caps;
  gsize caps_length, caps_offset;
  guint8 caps_version;          /* 0: none ever */
  gboolean caps_acknowledged;
  guint64 caps_at;
  gboolean is_ending, has_ended;
  guint64 end_at;
  guint end_next;               /* path */
  MmtpPathControl all[MMTP_MAX_PATHS];  /* by the path's id */
} MmtpControl;

void mmtp_control_init (MmtpControl * self, MmtpPaths * paths,
    const MmtpSendQueue * queue, MmtpJoins * joins, guint64 keepalive_period,
    gboolean is_stored);
void mmtp_control_clear (MmtpControl * self);
/* The path is opened, perhaps once more. */
void mmtp_control_add_path (MmtpControl * self, const MmtpPath * path);
/* It is removed: where it had joined, the receiver is told. `joined` of the path
 * must still say so. */
void mmtp_control_remove_path (MmtpControl * self, const MmtpPath * path,
    MmtpLeaveReason reason);

/* The path on which the message goes now; NULL: none does */
MmtpPath *mmtp_control_poll (MmtpControl * self, MmtpMessage * message);
/* The same of PROBE, which goes where nothing else does */
MmtpPath *mmtp_control_poll_probe (MmtpControl * self, MmtpMessage * message);
guint64 mmtp_control_get_wakeup (const MmtpControl * self);

/* A KEEPALIVE goes at once; a PROBE, too. */
void mmtp_control_hasten (MmtpControl * self, const MmtpPath * path);
void mmtp_control_probe (MmtpControl * self, const MmtpPath * path);
/* A record of that path was taken: if it cannot afford as many reports as it was
 * asked for, the receiver is told at once. */
void mmtp_control_check_period (MmtpControl * self, const MmtpPath * path);
/* A REPORT came on that path, sent at that time (ticks). */
void mmtp_control_note_report (MmtpControl * self, const MmtpPath * path,
    guint32 sent);
/* It was newer than all before: the next ones are not missed yet. */
void mmtp_control_put_off_query (MmtpControl * self, const MmtpPath * path);
MmtpRefusal mmtp_control_take_query (MmtpControl * self,
    const MmtpQuery * query);
/* The receiver leaves the path, or has let it go. */
void mmtp_control_take_leave (MmtpControl * self, const MmtpPath * path,
    const MmtpLeave * leave);

/* NULL: none. Longer than MMTP_MAX_CAPS: FALSE, and none. */
gboolean mmtp_control_set_caps (MmtpControl * self, const gchar * caps);
/* 0: none now */
guint8 mmtp_control_get_caps_version (const MmtpControl * self);
MmtpRefusal mmtp_control_take_caps_ack (MmtpControl * self, guint8 version);
/* No more buffers will come. */
void mmtp_control_end (MmtpControl * self);
/* `has_ended` is TRUE when the receiver has all. */
MmtpRefusal mmtp_control_take_end_ack (MmtpControl * self,
    guint32 stream_number);
