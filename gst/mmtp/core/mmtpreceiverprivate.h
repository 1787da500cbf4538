/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data structures and functions shared by the files of the receiver:
 * mmtpreceiver.c has the public functions, and mmtpreceiversession.c handles
 * the messages.
 */

#pragma once

#include "mmtpclock.h"
#include "mmtpparity.h"
#include "mmtpreceivedcaps.h"
#include "mmtpreceiver.h"
#include "mmtpreceiverhandshake.h"
#include "mmtpreceiverjoins.h"

typedef struct
{
  MmtpDirection theirs;

  guint64 period;               /* keep-alive period, in ns */
  guint64 initial_delay;        /* D0, in ns */
  guint64 wanted_delay;         /* D0 that the sender wants, in ns */
  /* begin of the current period for counting changes of D0, in ns */
  guint64 delay_changes_from;
  guint n_delay_changes;        /* changes of D0 in that period */
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
  /* secret for nonces, tokens and challenges */
  guint8 secret[MMTP_KEY_SIZE];
  MmtpReceiverPaths paths;
  MmtpReceiverOutput output;
  MmtpReports reports;
  MmtpReceiverJoins joins;
  MmtpLiveness liveness;
  /* handshake.phase is the phase of the session */
  MmtpReceiverHandshake handshake;
  MmtpReceiverSession session;
  /* MmtpReceiverEvents, which come before any buffer */
  GQueue events;
  /* Totals of all sessions. The counters of the reorder buffer are added when a
   * session ends. */
  MmtpReceiverStats stats;
};

/* Functions of mmtpreceiversession.c. */
void mmtp_receiver_push_event (MmtpReceiver * self,
    MmtpReceiverEventType type, guint path);
void mmtp_receiver_clear_session (MmtpReceiver * self);
MmtpRefusal mmtp_receiver_handshake (MmtpReceiver * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size);
MmtpRefusal mmtp_receiver_session_input (MmtpReceiver * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size);
void mmtp_receiver_acknowledge_end (MmtpReceiver * self);
void mmtp_receiver_report_timeout (MmtpReceiver * self);
void mmtp_receiver_session_timeout (MmtpReceiver * self);
guint64 mmtp_receiver_session_next_wakeup (MmtpReceiver * self);
