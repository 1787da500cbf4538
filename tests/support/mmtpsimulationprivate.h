/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the loop of the simulation (mmtpsimulation.c) and its judge
 * (mmtpsimulationjudge.c).
 */

#ifndef __MMTPSIMULATIONPRIVATE_H__
#define __MMTPSIMULATIONPRIVATE_H__

#include "mmtpsimulation.h"
#include "tcpmodel.h"

typedef struct
{
  SimLink *link;
  gboolean is_up;               /* the interface is there */
  guint8 generation;            /* of its address */
} MmtpSimEnd;

typedef struct
{
  MmtpSim *sim;
  guint channel;
  gboolean has_begun;
  Tcp tcp;
} MmtpSimFlow;

struct _MmtpSim
{
  MmtpSimConfig config;
  const MmtpSimEnds *ends;
  gpointer sender, receiver;
  guint64 sender_clock;         /* at time 0 */
  guint64 now;                  /* ns, true time */
  guint64 origin;               /* of the source; MMTP_SIM_NEVER before */
  MmtpSimEnd channels[MMTP_SIM_MAX_CHANNELS];
  GPtrArray *flows;             /* of MmtpSimFlow */
  guint8 *scratch;              /* MMTP_MAX_MESSAGE bytes */
  guint n_acted;
  MmtpSimFrame *frames;
  guint n_put;
  guint64 last_put;
  guint64 next_watch;           /* ns */
  gboolean has_ended;           /* the sender says so */
  /* the judge's */
  MmtpSimResult result;
  guint next_frame;             /* all below may not come any more */
  guint n_errors;
};

guint64 mmtp_sim_to_sender (const MmtpSim * sim, guint64 now);
guint64 mmtp_sim_to_receiver (const MmtpSim * sim, guint64 now);

void mmtp_sim_judge_init (MmtpSim * sim);
void mmtp_sim_judge_clear (MmtpSim * sim);
void mmtp_sim_judge_sent (MmtpSim * sim, SimDirection direction,
    guint channel, const guint8 * bytes, gsize size);
void mmtp_sim_judge_packet (MmtpSim * sim, guint channel,
    const guint8 * bytes, gsize size);
void mmtp_sim_judge_tcp (MmtpSim * sim, guint channel, const Tcp * tcp);
void mmtp_sim_judge_sender_event (MmtpSim * sim, const MmtpSenderEvent * event);
/* Frees what the event owns */
void mmtp_sim_judge_receiver_event (MmtpSim * sim, MmtpReceiverEvent * event);
void mmtp_sim_judge_memory (MmtpSim * sim);
void mmtp_sim_judge_end (MmtpSim * sim);
/* The first few are kept */
void
mmtp_sim_error (MmtpSim * sim, const gchar * format, ...)
G_GNUC_PRINTF (2, 3);

#endif /* __MMTPSIMULATIONPRIVATE_H__ */
