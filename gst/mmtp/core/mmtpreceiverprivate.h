/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data structures and functions shared by the files of the receiver:
 * mmtpreceiver.c has the public functions, mmtpreceiverhandshake.c handles INIT
 * and OPEN, mmtpreceiversession.c handles all other messages,
 * mmtpreceivercaps.c assembles the caps, mmtpreceiverreports.c sends reports,
 * and mmtpreceiveroutput.c queues messages and events. Each file calls only
 * files that come later in this list.
 */

#pragma once

#include "mmtpanswerlimits.h"
#include "mmtparrivals.h"
#include "mmtpclock.h"
#include "mmtpkeys.h"
#include "mmtpparity.h"
#include "mmtpreceiver.h"
#include "mmtpreorder.h"

#define MMTP_MSECOND G_GUINT64_CONSTANT (1000000)
#define MMTP_SECOND G_GUINT64_CONSTANT (1000000000)

/* Number of caps versions that are remembered, because buffers of older
 * versions may still arrive. */
#define MMTP_CAPS_VERSIONS 4

typedef struct
{
  guint8 version;               /* 0 if the entry is free */
  guint16 length;
  guint16 n_bytes;              /* bytes of the text that have arrived */
  /* The text is complete and contains plain types only. */
  gboolean plain;
  /* one bit per byte of the text, set when the byte has arrived */
  guint8 come[MMTP_MAX_CAPS / 8];
  gchar text[MMTP_MAX_CAPS + 1];
} MmtpCapsText;

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
  MmtpDirection theirs, ours;

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

  MmtpCapsText *caps[MMTP_CAPS_VERSIONS];       /* NULL if never used */
  guint next_caps;              /* entry to be replaced next */
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
  guint64 now;                  /* latest time seen, in ns */
  MmtpAnswerLimits limits;
  /* The application was told that a sender came after the end. */
  gboolean told_over;
  /* One bit per protocol version, set when the application was told that a
   * sender with this version was refused.
   */
  guint told_versions;
  MmtpReceiverSession session;
  /* indexed by id; NULL if never used */
  MmtpReceiverPath *paths[MMTP_MAX_PATHS];
  guint8 ids[MMTP_MAX_PATHS];        /* ids of the paths that are not NULL */
  guint n_ids;
  GQueue output;                /* MmtpReceiverOutput messages */
  /* MmtpReceiverEvents, which come before any buffer */
  GQueue events;
  /* Totals of all sessions. The counters of the reorder buffer are added when a
   * session ends. */
  MmtpReceiverStats stats;
};

/* A message to be sent. */
typedef struct
{
  MmtpAddress address;
  gsize size;
  guint8 bytes[];
} MmtpReceiverOutput;

/* Functions of mmtpreceiveroutput.c. */
void mmtp_receiver_push_event (MmtpReceiver * self,
    MmtpReceiverEventType type, guint path);
/* Queues a handshake message. With a key, COOKIE is sealed, and so is REFUSE if
 * it answers an OPEN with a valid MAC. */
void mmtp_receiver_send_bare (MmtpReceiver * self, MmtpMessage * message,
    const MmtpAddress * address);
/* Fills in number, sending time and trailer of the message and queues it.
 * Returns its size in bytes, or 0 if it was not queued. */
gsize mmtp_receiver_send (MmtpReceiver * self, MmtpReceiverPath * path,
    MmtpMessage * message, const MmtpAddress * address);
/* Derives secret bytes from a secret of the receiver, the string `purpose` and
 * the `size` bytes at `more`. */
void mmtp_receiver_draw (MmtpReceiver * self, const gchar * purpose,
    gconstpointer more, gsize size, guint8 drawn[MMTP_KEY_SIZE]);

/* Functions of mmtpreceiverhandshake.c. */
MmtpRefusal mmtp_receiver_handshake (MmtpReceiver * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size);

/* Functions of mmtpreceiversession.c. */
void mmtp_receiver_begin_session (MmtpReceiver * self,
    const MmtpAddress * address, const MmtpMessage * open);
void mmtp_receiver_clear_session (MmtpReceiver * self);
/* The sender sends OPEN for the same session from another address or on another
 * path, which is used from now on. */
void mmtp_receiver_move_opener (MmtpReceiver * self,
    const MmtpAddress * address, const MmtpMessage * open);
MmtpReceiverPath *mmtp_receiver_make_path (MmtpReceiver * self,
    guint8 id, guint64 number);
void mmtp_receiver_note_message (MmtpReceiver * self,
    MmtpReceiverPath * path, guint64 number,
    const MmtpMessage * message, gsize size);
MmtpRefusal mmtp_receiver_session_input (MmtpReceiver * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size);
void mmtp_receiver_acknowledge_end (MmtpReceiver * self);
void mmtp_receiver_session_timeout (MmtpReceiver * self);
guint64 mmtp_receiver_session_next_wakeup (MmtpReceiver * self);

/* Functions of mmtpreceivercaps.c. */
MmtpRefusal mmtp_receiver_take_caps (MmtpReceiver * self,
    MmtpReceiverPath * path, const MmtpCaps * caps);
/* Returns NULL if the text is not complete. */
const MmtpCapsText *mmtp_receiver_find_caps (MmtpReceiver * self,
    guint8 version);

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
