/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data structures and functions shared by the files of the receiver:
 * mmtpreceiver.c has the public functions, mmtpreceiverhandshake.c handles INIT
 * and OPEN, mmtpreceiversession.c handles all other messages, and
 * mmtpreceiverreports.c sends reports. Each file calls only files that come
 * later in this list.
 */

#pragma once

#include "mmtpanswerlimits.h"
#include "mmtpclock.h"
#include "mmtpparity.h"
#include "mmtpreceivedcaps.h"
#include "mmtpreceiver.h"
#include "mmtpreceiveroutput.h"
#include "mmtpreorder.h"

#define MMTP_MSECOND G_GUINT64_CONSTANT (1000000)
#define MMTP_SECOND G_GUINT64_CONSTANT (1000000000)

typedef struct
{
  /* A session exists; its messages are accepted. */
  gboolean exists;
  /* The sender is alive, so no other session may begin. */
  gboolean alive;
  gboolean ended;
  guint8 nonce_s[MMTP_NONCE_SIZE], nonce_r[MMTP_NONCE_SIZE];
  guint64 token_r;
  guint8 opener;                /* path on which OPEN arrived */
  MmtpAddress opener_address;
  /* A later message shows that the sender has received ACCEPT. */
  gboolean confirmed;
  MmtpDirection theirs;

  guint64 period;               /* keep-alive period, in ns */
  guint64 initial_delay;        /* D0, in ns */
  guint64 wanted_delay;         /* D0 that the sender wants, in ns */
  /* begin of the current period for counting changes of D0, in ns */
  guint64 delay_changes_from;
  guint n_delay_changes;        /* changes of D0 in that period */
  /* Arrival time of the last valid message, in ns. */
  guint64 last_valid;
  /* Number of QUERYs sent since `last_valid` because another sender from the
   * same host wants a session (take-over). */
  guint n_queries;
  /* times of the first and last of these QUERYs, in ns */
  guint64 first_query, last_query;
  MmtpClock clock;
  MmtpReorder *reorder;
  MmtpStore *store;             /* packets and repairs for REPAIR messages */
  /* latest deadline of any packet so far, in ns */
  guint64 latest_deadline;

  /* sending time of the newest KEEPALIVE, in ns */
  gint64 keepalive_sent;
  guint8 fastest;               /* path on which the sender wants reports */
  /* path whose transits are used for the clock's skew; -1 if none */
  gint skew_path;
  /* `floor` is not applied yet, because packets sent before it may still
   * arrive. */
  gboolean floor_waits;
  guint32 floor;
  gint64 floor_sent;

  MmtpReceivedCaps caps;
  /* version announced to the application; 0 if none */
  guint8 caps_version;
  gboolean has_caps;            /* The application has got caps. */
  /* The presentation rate of the next buffer was announced. */
  gboolean rate_reported;
  gboolean has_reported_too_long;

  gboolean end_known;
  guint64 end_number;           /* stream number that follows the last packet */
  guint64 end_deadline;         /* in ns */

  guint32 n_reports;
  /* time of the last REPORT on the fastest path, in ns */
  guint64 last_report;
  guint8 reporter;              /* path on which that REPORT was sent */
} MmtpReceiverSession;

struct _MmtpReceiver
{
  MmtpReceiverConfig config;
  MmtpKey key;
  guint8 cookie_secret[MMTP_KEY_SIZE];
  /* secret for nonces, tokens and challenges */
  guint8 draw_secret[MMTP_KEY_SIZE];
  gboolean ends;                /* The application takes one session only. */
  MmtpReceiverPaths paths;
  MmtpReceiverOutput output;
  MmtpAnswerLimits limits;
  /* The application was told that a sender came after the end. */
  gboolean told_over;
  /* One bit per protocol version, set when the application was told that a
   * sender with this version was refused.
   */
  guint told_versions;
  MmtpReceiverSession session;
  /* MmtpReceiverEvents, which come before any buffer */
  GQueue events;
  /* Totals of all sessions. The counters of the reorder buffer are added when a
   * session ends. */
  MmtpReceiverStats stats;
};

/* Functions of mmtpreceiverhandshake.c. */
MmtpRefusal mmtp_receiver_handshake (MmtpReceiver * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size);

/* Functions of mmtpreceiversession.c. */
void mmtp_receiver_push_event (MmtpReceiver * self,
    MmtpReceiverEventType type, guint path);
void mmtp_receiver_begin_session (MmtpReceiver * self,
    const MmtpAddress * address, const MmtpMessage * open);
void mmtp_receiver_clear_session (MmtpReceiver * self);
/* The sender sends OPEN for the same session from another address or on another
 * path, which is used from now on. */
void mmtp_receiver_move_opener (MmtpReceiver * self,
    const MmtpAddress * address, const MmtpMessage * open);
void mmtp_receiver_note_message (MmtpReceiver * self,
    MmtpReceiverPath * path, guint64 number,
    const MmtpMessage * message, gsize size);
MmtpRefusal mmtp_receiver_session_input (MmtpReceiver * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size);
void mmtp_receiver_acknowledge_end (MmtpReceiver * self);
void mmtp_receiver_session_timeout (MmtpReceiver * self);
guint64 mmtp_receiver_session_next_wakeup (MmtpReceiver * self);

/* Functions of mmtpreceiverreports.c. */
/* Returns the path for reports; NULL if no path has joined. */
MmtpReceiverPath *mmtp_receiver_get_fastest (MmtpReceiver * self);
void mmtp_receiver_answer_query (MmtpReceiver * self,
    MmtpReceiverPath * path, guint8 about);
/* Call this function when a path has joined or has a new address. */
void mmtp_receiver_begin_reports (MmtpReceiver * self,
    MmtpReceiverPath * path);
/* Call this function for each message before the message is added to the
 * measurements of the path. */
void mmtp_receiver_note_gap (MmtpReceiver * self,
    MmtpReceiverPath * path);
/* `period` is that of a KEEPALIVE, in ms. */
void mmtp_receiver_take_report_period (MmtpReceiver * self,
    MmtpReceiverPath * path, guint period);
/* Sends a REPORT at once if the last message on `path` requires one. */
void mmtp_receiver_report_at_once (MmtpReceiver * self,
    MmtpReceiverPath * path);
void mmtp_receiver_report_timeout (MmtpReceiver * self);
guint64 mmtp_receiver_report_next_wakeup (MmtpReceiver * self);
