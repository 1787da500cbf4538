/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data structures and functions shared by the files of the receiver:
 * mmtpreceiver.c has the public functions, mmtpreceiverhandshake.c handles INIT
 * and OPEN, and mmtpreceiversession.c handles all other messages. Each file
 * calls only files that come later in this list.
 */

#pragma once

#include "mmtpclock.h"
#include "mmtpparity.h"
#include "mmtpreceivedcaps.h"
#include "mmtpreceiver.h"
#include "mmtpreceiverjoins.h"

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
  MmtpReports reports;
  MmtpReceiverJoins joins;
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
void mmtp_receiver_report_timeout (MmtpReceiver * self);
void mmtp_receiver_session_timeout (MmtpReceiver * self);
guint64 mmtp_receiver_session_next_wakeup (MmtpReceiver * self);
