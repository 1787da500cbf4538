/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the sender share: who is who, the stream's packets, and the
 * functions by which one part calls another. */

#ifndef __MMTP_SENDER_PRIVATE_H__
#define __MMTP_SENDER_PRIVATE_H__

#include "mmtprepairer.h"
#include "mmtpretransmission.h"
#include "mmtpsender.h"

G_BEGIN_DECLS

#define MMTP_SECOND G_GUINT64_CONSTANT (1000000000)
#define MMTP_MILLISECOND G_GUINT64_CONSTANT (1000000)

/* --- the session ---------------------------------------------------------- */

typedef enum
{
  MMTP_PHASE_IDLE,              /* no path yet */
  MMTP_PHASE_INIT,
  MMTP_PHASE_OPEN,
  MMTP_PHASE_SESSION,
  MMTP_PHASE_OVER               /* refused, lost or ended */
} MmtpPhase;

struct _MmtpSender
{
  MmtpSenderConfig config;
  MmtpKey key;
  guint8 entropy[MMTP_ENTROPY_SIZE];
  guint64 n_drawn;

  /* --- session */
  MmtpPhase phase;
  guint8 nonce_s[MMTP_NONCE_SIZE], nonce_r[MMTP_NONCE_SIZE];
  guint8 cookie[MMTP_COOKIE_SIZE];
  guint64 token_s;              /* that the receiver is to use */
  guint handshake_path;      /* that the cookie is for */
  guint handshake_next;         /* of the INITs of one try, the next path */
  guint handshake_tries;
  guint handshake_refusals;
  guint64 refused_at;           /* ns, for the first time */
  guint64 handshake_at, handshake_wait;
  guint cookies_left;           /* that this INIT's answers may still bring */
  gboolean is_contested;        /* several COOKIEs came */
  MmtpRefuseReason unverified;  /* the last reason without proof; 0: none */
  guint unverified_version;
  guint64 last_init;            /* ns */
  guint64 init_sent, init_round_trip;   /* ns; 0: unknown */
  gboolean is_ambiguous;        /* an INIT was sent again */
  MmtpDirection out, in;
  guint64 began;                /* ns, the session */
  guint64 heard;                /* ns, the last valid message */

  MmtpPaths paths;
  MmtpPolicy policy;
  MmtpRetransmission retransmission;
  MmtpRepairer repairer;
  guint32 report;               /* number of the last */
  guint64 report_time;          /* ns */
  guint64 query_at;             /* ns, of the reports that are missed */
  gboolean is_broken;           /* the application was told */

  /* --- stream */
  guint64 receiver_delay;       /* ns, least that it wants */
  MmtpSendQueue *queue;
  gboolean full;                /* has_room said no */

  /* --- caps, end */
  gchar *caps;
  gsize caps_length, caps_offset;
  guint8 caps_version;          /* 0: none ever */
  gboolean caps_acknowledged;
  guint64 caps_at;
  gboolean ending, ended;
  guint64 end_at;
  guint end_next;               /* path */

  /* --- events */
  GQueue events;
  guint64 told_rate, told_rate_time;
  guint64 too_slow_time;
  guint64 delay_time;           /* ns, when D0 was last raised */

  MmtpSenderStats stats;
};

/* Where a message is written to */
typedef struct
{
  guint8 *bytes;
  gsize room;
  guint path;
} MmtpOutput;

/* --- mmtpsender.c -------------------------------------------------------- */

void mmtp_sender_advance (MmtpSender * sender, guint64 now);
void mmtp_sender_tell (MmtpSender * sender, const MmtpSenderEvent * event);
void mmtp_sender_tell_simply (MmtpSender * sender, MmtpSenderEventType type);
void mmtp_sender_set_state (MmtpSender * sender, MmtpPath * path,
    MmtpPathState state);
void mmtp_sender_draw (MmtpSender * sender, guint8 * bytes, gsize size);
/* Numbers, seals and accounts for a message of the session; 0: no room */
gsize mmtp_sender_write (MmtpSender * sender, MmtpPath * path,
    MmtpMessage * message, MmtpOutput * output, guint64 stream_number);

void mmtp_sender_check_room (MmtpSender * sender);

/* --- mmtpsenderdata.c ---------------------------------------------------- */

gsize mmtp_sender_write_data (MmtpSender * sender, MmtpOutput * output);
gsize mmtp_sender_write_repair (MmtpSender * sender, MmtpOutput * output);
guint64 mmtp_sender_get_data_wakeup (const MmtpSender * sender);

/* --- mmtpsenderhandshake.c ----------------------------------------------- */

void mmtp_sender_begin_handshake (MmtpSender * sender);
void mmtp_sender_hasten_handshake (MmtpSender * sender);
void mmtp_sender_begin_join (MmtpSender * sender, MmtpPath * path);
void mmtp_sender_renew_join (MmtpSender * sender, MmtpPath * path,
    guint64 at);
gsize mmtp_sender_write_handshake (MmtpSender * sender, MmtpOutput * output);
gsize mmtp_sender_write_join (MmtpSender * sender, MmtpPath * path,
    MmtpOutput * output);
MmtpRefusal mmtp_sender_take_handshake (MmtpSender * sender, MmtpPath * path,
    const MmtpMessage * message, const guint8 * bytes, gsize size);
MmtpRefusal mmtp_sender_take_challenge (MmtpSender * sender, MmtpPath * path,
    const MmtpChallenge * challenge);

/* --- mmtpsendercontrol.c ------------------------------------------------- */

gsize mmtp_sender_write_control (MmtpSender * sender, MmtpOutput * output);
gsize mmtp_sender_write_probe (MmtpSender * sender, MmtpOutput * output);
guint64 mmtp_sender_get_control_wakeup (const MmtpSender * sender);
guint64 mmtp_path_get_keepalive_period (const MmtpSender * sender,
    const MmtpPath * path);
/* ns between reports that this path can afford */
guint64 mmtp_path_get_report_period (const MmtpPath * path);
void mmtp_sender_begin_leave (MmtpSender * sender, MmtpPath * path,
    MmtpLeaveReason reason);
MmtpRefusal mmtp_sender_take_query (MmtpSender * sender,
    const MmtpQuery * query);
MmtpRefusal mmtp_sender_take_leave (MmtpSender * sender,
    const MmtpLeave * leave);
MmtpRefusal mmtp_sender_take_caps_ack (MmtpSender * sender, guint8 version);
MmtpRefusal mmtp_sender_take_end_ack (MmtpSender * sender,
    guint32 stream_number);

/* --- mmtpsenderreports.c ------------------------------------------------- */

MmtpRefusal mmtp_sender_take_report (MmtpSender * sender, MmtpPath * path,
    const MmtpMessage * message);
/* Silence, return, what is measured, what the application is told */
void mmtp_sender_check_paths (MmtpSender * sender);
guint64 mmtp_sender_get_liveness_wakeup (const MmtpSender * sender);
/* The path may carry data from now on. `rate`: a first guess, 0: none */
void mmtp_sender_start_path (MmtpSender * sender, MmtpPath * path,
    guint64 rate);

G_END_DECLS

#endif /* __MMTP_SENDER_PRIVATE_H__ */
