/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the receiver share: mmtpreceiver.c has its verbs,
 * mmtpreceiverhandshake.c lets a sender in, mmtpreceiversession.c takes its
 * messages, mmtpreceivercaps.c takes its caps, mmtpreceiverreports.c reports
 * what was measured, and mmtpreceiveroutput.c keeps what is sent and told. Each
 * file calls only files that stand behind it in this list.
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

/* Versions of the caps that buffers under way may still have */
#define MMTP_CAPS_VERSIONS 4

typedef struct
{
  guint8 version;               /* 0: free */
  guint16 length;
  guint16 n_bytes;              /* of the text that have come */
  gboolean plain;               /* complete, and to be taken */
  guint8 come[MMTP_MAX_CAPS / 8];       /* bit of each byte */
  gchar text[MMTP_MAX_CAPS + 1];
} MmtpCapsText;

/* Counters of sessions before, so that they never go back */
typedef struct
{
  guint64 received, bytes, lost, late;
} MmtpPathPast;

typedef struct
{
  guint8 id;
  gboolean known;               /* in this session: it has numbers */
  gboolean joined;              /* `address` is validated */
  MmtpAddress address;
  guint64 address_heard;        /* ns, when a message other than JOIN, RESPONSE
                                 * and OPEN last came from there; 0: never */
  MmtpAddress next_address;     /* validated, and takes the place of `address`
                                 * when that is silent */
  gboolean has_next_address;
  guint64 join_number, join_nonce;      /* of the last JOIN */
  guint64 join_time;            /* ns, when it came; 0: never */
  guint16 max_size;             /* bytes of a message */
  guint64 next_number;          /* of ours on it */
  MmtpReplay replay;
  MmtpArrivals arrivals;
  guint64 duplicates;
  MmtpPathPast past;

  guint32 echo;                 /* ticks, of the last message */
  guint64 echo_time;            /* ns, when it came */
  gint64 latest_sent;           /* ns, as mmtp_clock_unwrap_sent has it */
  guint64 round_trip;           /* ns, 0: unknown */
  guint64 keepalive_time;       /* ns, when the last one came, or was asked
                                 * for */
  guint64 keepalive_gap;        /* ns between them, of late the longest */
  guint64 query_time;           /* ns, when one was answered; 0: never */

  /* mmtpreceiverreports.c */
  guint64 wanted_period;        /* ns, between REPORTs, as the sender asks; 0:
                                 * the receiver's choice */
  guint64 report_period;        /* ns */
  guint64 next_report, last_report;     /* ns, sent on this path */
  gsize report_size;            /* bytes, of the last ones */
  gboolean has_gap;             /* a gap ended, and is not yet reported */
  guint64 gap_end;              /* ns, of the last gap */
  guint64 repeat_time;          /* ns, when the REPORT behind a gap is repeated;
                                 * MMTP_NEVER: none was sent */
  guint64 told;                 /* messages that the fastest path's REPORTs
                                 * have counted */
} MmtpReceiverPath;

typedef struct
{
  gboolean exists;              /* its messages are taken */
  gboolean alive;               /* no other one is let in */
  gboolean ended;
  guint8 nonce_s[MMTP_NONCE_SIZE], nonce_r[MMTP_NONCE_SIZE];
  guint64 token_r;
  guint8 opener;                /* path of OPEN */
  MmtpAddress opener_address;
  gboolean confirmed;           /* the sender has got ACCEPT, and speaks */
  MmtpDirection theirs, ours;

  guint64 period;               /* ns, keep-alives */
  guint64 initial_delay;        /* ns, D0 */
  guint64 wanted_delay;         /* ns, the sender's */
  guint64 delay_changes_from;   /* ns, when the changes of D0 began to count */
  guint n_delay_changes;        /* asked for since then */
  guint64 last_valid;           /* ns, when a valid message came */
  guint doubts;                 /* times that it was asked since, as its host
                                 * wants another session */
  guint64 doubted_from, doubted_at;     /* ns, the first and the last of them */
  MmtpClock clock;
  MmtpReorder *reorder;
  MmtpStore *store;             /* for REPAIR */
  guint64 latest_deadline;      /* ns, of all packets */

  gint64 keepalive_sent;        /* of the newest KEEPALIVE */
  guint8 fastest;               /* path that the sender wants reports on */
  gint skew_path;            /* of the clock's points, -1: none */
  gboolean floor_waits;         /* for what was sent before it */
  guint32 floor;
  gint64 floor_sent;

  MmtpCapsText *caps[MMTP_CAPS_VERSIONS];       /* NULL: not yet used */
  guint next_caps;              /* to be used anew */
  guint8 caps_version;          /* that the application was told; 0: none */
  gboolean has_caps;            /* it was told a text */
  gboolean rate_told;           /* of the buffer that comes next */
  gboolean told_too_long;

  gboolean end_known;
  guint64 end_number;           /* of the stream */
  guint64 end_deadline;         /* ns */

  guint32 n_reports;
  guint64 last_report;          /* ns, on the fastest path */
  guint8 reporter;              /* path on which that went */
} MmtpReceiverSession;

struct _MmtpReceiver
{
  MmtpReceiverConfig config;
  MmtpKey key;
  guint8 cookie_secret[MMTP_KEY_SIZE];
  guint8 draw_secret[MMTP_KEY_SIZE];    /* nonces, tokens, challenges */
  gboolean ends;                /* after one session */
  guint64 now;                  /* ns, the latest seen */
  MmtpAnswerLimits limits;
  gboolean told_over;           /* that a sender came behind the end */
  guint told_versions;          /* bit of each version that was refused and that
                                 * the application knows of */
  MmtpReceiverSession session;
  MmtpReceiverPath *paths[MMTP_MAX_PATHS];     /* NULL: never was */
  guint8 ids[MMTP_MAX_PATHS];        /* of those that are not NULL */
  guint n_ids;
  GQueue output;                /* of MmtpReceiverOutput */
  GQueue events;                /* of MmtpReceiverEvent, before any buffer */
  MmtpReceiverStats stats;      /* of sessions before, what reorder counts */
};

/* A message that waits to be sent */
typedef struct
{
  MmtpAddress address;
  gsize size;
  guint8 bytes[];
} MmtpReceiverOutput;

/* mmtpreceiveroutput.c */
void mmtp_receiver_push_event (MmtpReceiver * self,
    MmtpReceiverEventType type, guint path);
/* Outside of a session: with a key COOKIE is sealed, and REFUSE that answers an
 * OPEN with the right MAC. */
void mmtp_receiver_send_bare (MmtpReceiver * self, MmtpMessage * message,
    const MmtpAddress * address);
/* Fills in its number, time and trailer; its size, 0: not sent */
gsize mmtp_receiver_send (MmtpReceiver * self, MmtpReceiverPath * path,
    MmtpMessage * message, const MmtpAddress * address);
/* Bytes that nobody else can know, of what for, and what is put to it */
void mmtp_receiver_draw (MmtpReceiver * self, const gchar * purpose,
    gconstpointer more, gsize size, guint8 drawn[MMTP_KEY_SIZE]);

/* mmtpreceiverhandshake.c */
MmtpRefusal mmtp_receiver_handshake (MmtpReceiver * self,
    const MmtpAddress * address, MmtpMessage * message, const guint8 * bytes,
    gsize size);

/* mmtpreceiversession.c */
void mmtp_receiver_begin_session (MmtpReceiver * self,
    const MmtpAddress * address, const MmtpMessage * open);
void mmtp_receiver_clear_session (MmtpReceiver * self);
/* The sender opens the same session again, from another address or on another
 * path. */
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

/* mmtpreceivercaps.c */
MmtpRefusal mmtp_receiver_take_caps (MmtpReceiver * self,
    MmtpReceiverPath * path, const MmtpCaps * caps);
/* NULL: not all of it has come */
const MmtpCapsText *mmtp_receiver_find_caps (MmtpReceiver * self,
    guint8 version);

/* mmtpreceiverreports.c */
/* The one on which reports go now; NULL: none has joined */
MmtpReceiverPath *mmtp_receiver_get_fastest (MmtpReceiver * self);
void mmtp_receiver_answer_query (MmtpReceiver * self,
    MmtpReceiverPath * path, guint8 about);
/* The path has joined, or has another address. */
void mmtp_receiver_begin_reports (MmtpReceiver * self,
    MmtpReceiverPath * path);
/* A message comes on the path that has not been measured yet. */
void mmtp_receiver_note_gap (MmtpReceiver * self,
    MmtpReceiverPath * path);
/* `period`: ms, as KEEPALIVE has it */
void mmtp_receiver_take_report_period (MmtpReceiver * self,
    MmtpReceiverPath * path, guint period);
/* Reports what a message has shown that can't wait */
void mmtp_receiver_report_at_once (MmtpReceiver * self,
    MmtpReceiverPath * path);
void mmtp_receiver_report_timeout (MmtpReceiver * self);
guint64 mmtp_receiver_report_next_wakeup (MmtpReceiver * self);
