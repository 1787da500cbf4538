/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the sender share: who is who, the stream's packets, and the
 * functions by which one part calls another. */

#ifndef __MMTP_SENDER_PRIVATE_H__
#define __MMTP_SENDER_PRIVATE_H__

#include "mmtpcontrol.h"
#include "mmtphandshake.h"
#include "mmtprepairer.h"
#include "mmtpretransmission.h"
#include "mmtpsender.h"

G_BEGIN_DECLS

#define MMTP_SECOND G_GUINT64_CONSTANT (1000000000)
#define MMTP_MILLISECOND G_GUINT64_CONSTANT (1000000)

struct _MmtpSender
{
  MmtpSenderConfig config;
  MmtpKey key;
  MmtpEntropy entropy;

  /* --- session; its phase is that of the handshake */
  MmtpHandshake handshake;
  MmtpJoins joins;
  MmtpControl control;
  MmtpDirection out, in;
  guint64 heard;                /* ns, the last valid message */

  MmtpPaths paths;
  MmtpPolicy policy;
  MmtpRetransmission retransmission;
  MmtpRepairer repairer;
  guint32 report;               /* number of the last */
  gboolean is_broken;           /* the application was told */

  /* --- stream */
  guint64 receiver_delay;       /* ns, least that it wants */
  MmtpSendQueue *queue;
  gboolean full;                /* has_room said no */

  /* --- events */
  GQueue events;
  guint64 told_rate, told_rate_time;
  guint64 too_slow_time;
  guint64 delay_time;           /* ns, when D0 was last raised */

  MmtpSenderStats stats;
};

/* --- mmtpsender.c -------------------------------------------------------- */

void mmtp_sender_advance (MmtpSender * sender, guint64 now);
void mmtp_sender_tell (MmtpSender * sender, const MmtpSenderEvent * event);
void mmtp_sender_tell_simply (MmtpSender * sender, MmtpSenderEventType type);
void mmtp_sender_set_state (MmtpSender * sender, MmtpPath * path,
    MmtpPathState state);
/* Numbers, seals and accounts for a message of the session; 0: no room */
gsize mmtp_sender_write (MmtpSender * sender, MmtpPath * path,
    MmtpMessage * message, MmtpOutput * output, guint64 stream_number);

void mmtp_sender_check_room (MmtpSender * sender);

/* --- mmtpsenderdata.c ---------------------------------------------------- */

gsize mmtp_sender_write_data (MmtpSender * sender, MmtpOutput * output);
gsize mmtp_sender_write_repair (MmtpSender * sender, MmtpOutput * output);
guint64 mmtp_sender_get_data_wakeup (const MmtpSender * sender);

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
